// Sums over frames, a part of a channel's frames at a time: a thread has one frequency. Parts and their frames depend on
// the length of a channel alone; where a batch ends within a part, the next one goes on.
// dspk:import shared/fold.wgsl
// dspk:import shared/rows.wgsl

const WG: u32 = 64u; // dspk:specialise 64
const READY: u32 = 0u; // dspk:specialise 0 1

struct AverageArgs {
    channels: u32,
    signals: u32, // of a channel
    frames: u32, // of a signal in this batch
    bins: u32,
    first_frame: u32,
    first_part: u32, // of this batch
    parts: u32, // of this batch
    all_parts: u32,
    length: u32, // frames of a part
    one: f32,
    unused_a: u32,
    unused_b: u32,
}

@group(0) @binding(0) var<uniform> args: AverageArgs;
@group(0) @binding(1) var<storage, read> spectra: array<vec2<f32>>;
@group(0) @binding(2) var<storage, read_write> sums: array<Products>;

// What is summed of a frame: made from spectra, or, where it is ready, a float for each frequency.
fn term(row: u32, bin: u32) -> Products {
    // dspk:fold
    if (READY == 1u) {
        let at = row * args.bins + bin;
        let pair = spectra[at / 2u];
        return Products(select(pair.x, pair.y, at % 2u == 1u));
    } else {
        return products(row, args.frames, args.bins, bin);
    }
}

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) size: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let thread = flat_group(id, size) * WG + lane;
    if (thread >= args.channels * args.parts * args.bins) {
        return;
    }
    // Indices count values of bindings, below 2^30.
    let bin = thread % args.bins;
    let part = args.first_part + thread / args.bins % args.parts;
    let channel = thread / args.bins / args.parts;
    let begin = max(part * args.length, args.first_frame);
    let end = min((part + 1u) * args.length, args.first_frame + args.frames);
    let place = (channel * args.all_parts + part) * args.bins + bin;
    let row = channel * args.signals * args.frames;
    var sum = Tally(Products(0.0), Products(0.0));
    if (begin > part * args.length) {
        sum.high = sums[place];
    }
    for (var frame = begin; frame < end; frame++) {
        sum = tallied(sum, term(row + frame - args.first_frame, bin), args.one);
    }
    sums[place] = total(sum);
}
