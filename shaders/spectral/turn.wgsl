// Spectra of frames, frame after frame, turned into lines of one frequency with the frames side by side, or back.
//
// A thread has eight frequencies of one frame, its neighbours have those of the next frames: one side is read or written
// in whole lines of the caches by a thread, the other by neighbours.
// dspk:import shared/fold.wgsl
// dspk:import shared/kept.wgsl

const WG: u32 = 64u; // dspk:specialise 64
const BINS: u32 = 8u;

struct TurnArgs {
    channels: u32,
    frames: u32, // of a channel in this batch
    bins: u32, // of a frame
    first_channel: u32,
    first_frame: u32,
    all_frames: u32, // of a line
    pitch: u32, // values between channels of lines
    length: u32, // values of a channel of lines
    nfft: u32,
    unused_a: u32,
    unused_b: u32,
    unused_c: u32,
}

@group(0) @binding(0) var<uniform> args: TurnArgs;
@group(0) @binding(1) var<storage, read> x: array<vec2<f32>>;
@group(0) @binding(2) var<storage, read_write> y: array<Out>;

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) size: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let thread = flat_group(id, size) * WG + lane;
    let blocks = (args.bins + BINS - 1u) / BINS;
    if (thread >= args.channels * blocks * args.frames) {
        return;
    }
    // Indices count values of bindings, below 2^30.
    let frame = thread % args.frames;
    let block = thread / args.frames % blocks;
    let channel = thread / args.frames / blocks;
    let row = (channel * args.frames + frame) * args.bins;
    let lines = (args.first_channel + channel) * args.pitch;
    for (var bin = block * BINS; bin < min((block + 1u) * BINS, args.bins); bin++) {
        let at = lines + bin * args.all_frames + args.first_frame + frame;
        // dspk:fold
        if (KEPT == BACK) {
            put(row + bin, x[at]);
        } else {
            put(at, kept(x[row + bin], bin));
        }
    }
    // dspk:fold
    if (KEPT != BACK) {
        // Padding is finite.
        if (block + 1u == blocks && args.first_frame + frame + 1u == args.all_frames) {
            for (var at = args.length; at < args.pitch; at++) {
                put(lines + at, vec2<f32>(0.0));
            }
        }
    }
}
