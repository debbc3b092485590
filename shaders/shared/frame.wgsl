// Frames of signals: pieces of `nperseg` samples, `step` apart, of signals that go on beyond their ends by a rule.
//
// A row of the array holds one signal or several, `share` apart. Rows of a batch are the frames of its signals, those of
// one signal together. The importing kernel has the cut in its arguments and the array as `x`.
const BOUNDARY: u32 = 0u; // dspk:specialise 0..3

// BOUNDARY, beside zeros
const EVEN: u32 = 1u;
const ODD: u32 = 2u;
const CONSTANT: u32 = 3u;

struct Cut {
    rows: u32,
    frames: u32, // of a signal in this batch
    first_signal: u32,
    first_frame: u32,
    signals: u32, // of a row of the array
    share: u32,
    pitch: u32, // of the array
    samples: u32, // of a signal
    nperseg: u32,
    step: u32,
    edge: u32, // samples before the first and after the last
    unused: u32,
}

struct Frame {
    signal: u32, // its first sample
    start: i32,
}

fn frame_of(row: u32) -> Frame {
    // Indices of a binding's floats stay below 2^30, and with them places in a signal.
    let signal = args.cut.first_signal + row / args.cut.frames;
    let frame = args.cut.first_frame + row % args.cut.frames;
    let first = signal / args.cut.signals * args.cut.pitch + signal % args.cut.signals * args.cut.share;
    return Frame(first, i32(frame * args.cut.step) - i32(args.cut.edge));
}

// The sample at `at` of a signal, or what goes on there.
fn sample(signal: u32, at: i32) -> f32 {
    let last = i32(args.cut.samples) - 1;
    let nearest = clamp(at, 0, last);
    let inside = at == nearest;
    var v = x[signal + u32(nearest)];
    // dspk:fold
    if (BOUNDARY == EVEN || BOUNDARY == ODD) {
        let end = v;
        v = x[signal + u32(clamp(2 * nearest - at, 0, last))];
        // dspk:fold
        if (BOUNDARY == ODD) {
            v = select(2.0 * end - v, end, inside);
        }
    }
    // What pads the last frame lies beyond the extension.
    // dspk:fold
    if (BOUNDARY == 0u) {
        return select(0.0, v, inside);
    } else {
        return select(0.0, v, at <= last + i32(args.cut.edge));
    }
}
