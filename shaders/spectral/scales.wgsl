// Lines of scales: what of a channel's convolution with a wavelet belongs to its samples, and the share of the mean, which
// was taken off the channel, in it.
//
// The convolution of a wavelet with ones, as many as a channel has samples, is a difference of two of its sums. A work
// group writes WG * STEPS values of one line, side by side.
// dspk:import shared/fold.wgsl

const WG: u32 = 64u;
const STEPS: u32 = 4u;

struct ScalesArgs {
    rows: u32,
    groups: u32, // of a row
    points: u32, // of a row
    samples: u32, // of a channel
    wavelets: u32, // of these rows
    first: u32, // of these rows among all of a batch
    first_channel: u32, // of the batch
    first_wavelet: u32,
    all_wavelets: u32,
    pitch: u32, // pairs of floats between channels of the result
    unused_a: u32,
    unused_b: u32,
}

@group(0) @binding(0) var<uniform> args: ScalesArgs;
// Of each wavelet: where its samples begin, how many there are, how many of them lie before its middle, and where its sums
// begin.
@group(0) @binding(1) var<storage, read> places: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> sums: array<vec2<f32>>; // of none of its samples, of the first, of the first two, ...
@group(0) @binding(3) var<storage, read> lines: array<vec4<f32>>; // of the channels of the batch, their means first
@group(0) @binding(4) var<storage, read> z: array<vec2<f32>>;
@group(0) @binding(5) var<storage, read_write> y: array<vec2<f32>>;

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) size: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    // Indices count pairs of floats of a binding, below 2^30.
    let group = flat_group(id, size);
    let row = group / args.groups;
    if (row >= args.rows) {
        return;
    }
    let channel = (args.first + row) / args.wavelets;
    let wavelet = (args.first + row) % args.wavelets;
    let place = places[wavelet];
    let mean = lines[channel].xy;
    let begin = (args.first_wavelet + wavelet) * args.samples;
    let target_row = (args.first_channel + channel) * args.pitch;
    let start = (group % args.groups) * (WG * STEPS) + lane;
    // dspk:unroll
    for (var step = 0u; step < STEPS; step++) {
        let k = start + step * WG;
        if (k < args.samples) {
            let at = k + place.z;
            let ones = sums[place.w + min(at + 1u, place.y)] - sums[place.w + max(at + 1u, args.samples) - args.samples];
            let v = fma(vec2<f32>(mean.y), ones, z[row * args.points + at]);
            y[target_row + begin + k] = fma(vec2<f32>(mean.x), ones, v);
        } else {
            // Padding, which follows the last line, is finite.
            if (args.first_wavelet + wavelet + 1u == args.all_wavelets && begin + k < args.pitch) {
                y[target_row + begin + k] = vec2<f32>(0.0);
            }
        }
    }
}
