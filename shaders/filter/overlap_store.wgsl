// Results of blocks put where they belong.
//
// A value that is not finite leaves no value of its block's spectrum with two finite parts, nor does one that overflows on
// the way; times the response's spectrum both parts are not finite, and so is all that is transformed back from them. Such
// results are summed up plainly, which gives what the plain sum gives: a NaN where there is one, and numbers elsewhere.
//
// A work group writes WG * STEPS results of one row.
// dspk:import shared/fold.wgsl
// dspk:import shared/double_single.wgsl

const WG: u32 = 64u;
const STEPS: u32 = 4u;

struct StoreArgs {
    rows: u32,
    groups: u32, // of a row
    pitch: u32, // of the rows
    blocks: u32, // of a channel
    step: u32, // results of a block
    first_row: u32, // of these among all
    first: u32, // result of the full convolution with which a channel begins
    taps: u32,
    response: u32, // taps between the responses of two channels; 0 = one for all
    samples: u32,
    pitch_x: u32,
    results: u32,
    pitch_y: u32,
    one: f32, // 1, known at run time only
    unused_a: u32,
    unused_b: u32,
}

@group(0) @binding(0) var<uniform> args: StoreArgs;
@group(0) @binding(1) var<storage, read> z: array<f32>;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read> taps: array<f32>;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;

fn finite(v: f32) -> bool {
    return (bitcast<u32>(v) & 0x7f800000u) != 0x7f800000u;
}

// Result n of the full convolution.
fn sum(channel: u32, n: u32) -> f32 {
    var first = 0u;
    if (n >= args.samples) {
        first = n + 1u - args.samples;
    }
    var plain = 0.0;
    var exact = vec2<f32>(0.0);
    for (var k = first; k < min(args.taps, n + 1u); k++) {
        let product = taps[channel * args.response + k] * x[channel * args.pitch_x + n - k];
        plain += product;
        exact = pair_sum(exact, vec2<f32>(product, 0.0), args.one);
    }
    // Differences of infinities are no rounding errors.
    if (finite(plain)) {
        return exact.x;
    }
    return plain;
}

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) size: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let group = flat_group(id, size);
    let row = group / args.groups;
    if (row >= args.rows) {
        return;
    }
    let all = args.first_row + row;
    let channel = all / args.blocks;
    let block = all - channel * args.blocks;
    // The last block also has what lies behind the results, which must be finite.
    var count = args.step;
    if (block + 1u == args.blocks) {
        count = args.pitch_y - block * args.step;
    }
    let start = (group - row * args.groups) * (WG * STEPS) + lane;
    for (var step = 0u; step < STEPS; step++) {
        let j = start + step * WG;
        if (j < count) {
            let at = block * args.step + j;
            var v = 0.0;
            if (at < args.results) {
                v = z[row * args.pitch + args.taps - 1u + j];
                if (!finite(v)) {
                    v = sum(channel, args.first + at);
                }
            }
            y[channel * args.pitch_y + at] = v;
        }
    }
}
