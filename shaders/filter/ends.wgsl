// Results near the ends of a channel that have weights of their own, on the samples of the first or the last window.
//
// A thread computes one result. The sum keeps its rounding error; `one` is 1.0, known at run time only, see
// shared/sum.wgsl.
// dspk:import shared/fold.wgsl

const WG: u32 = 64u;

struct EndsArgs {
    channels: u32,
    pitch: u32,
    results: u32, // of a channel, in this segment
    taps: u32,
    first: u32, // row of weights of the first result
    to: u32, // its place in the segment
    window: u32, // first sample of the window in the gathered ones
    gathered: u32, // samples gathered for each channel
    one: f32,
    unused_a: u32,
    unused_b: u32,
    unused_c: u32,
}

@group(0) @binding(0) var<uniform> args: EndsArgs;
@group(0) @binding(1) var<storage, read> weights: array<f32>;
@group(0) @binding(2) var<storage, read> samples: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) size: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let thread = flat_group(id, size) * WG + lane;
    if (thread >= args.channels * args.results) {
        return;
    }
    let channel = thread / args.results;
    let result = thread % args.results;
    let row = (args.first + result) * args.taps;
    let start = channel * args.gathered + args.window;
    var high = 0.0;
    var low = 0.0;
    for (var k = 0u; k < args.taps; k++) {
        let term = weights[row + k] * samples[start + k];
        let sum = fma(high, args.one, term);
        let back = fma(sum, args.one, -high);
        let error = (high - fma(sum, args.one, -back)) + (term - back);
        low += select(0.0, error, abs(sum) <= 3.4e38);
        high = sum;
    }
    y[channel * args.pitch + args.to + result] = high + low;
}
