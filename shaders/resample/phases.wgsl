// Another rate by any factors: a thread computes R results of one phase, `up` apart in the row and `down` samples apart in
// their windows. The host has found each phase's first sample, so nothing here counts at the raised rate.
//
// Sums of long phases keep their rounding error from step to step; `one` is 1.0, known at run time only, see
// shared/sum.wgsl.
// dspk:import shared/fold.wgsl

const WG: u32 = 64u; // dspk:tune 8 32 64 128
const R: u32 = 4u; // dspk:tune 1 4
const STEP: u32 = 16u; // taps from one settling of the sums to the next

struct PhasesArgs {
    channels: u32,
    pitch: u32, // of the samples
    samples: u32,
    tiles: u32, // of R turns of the phases
    up: u32,
    down: u32,
    halo: u32, // samples around the segment for each channel
    left: u32, // of them before it
    out_pitch: u32,
    out_first: u32, // where this launch's results begin in a row
    results: u32, // of this launch
    places: u32, // of its results, with the row's padding
    one: f32,
    unused0: u32,
    unused1: u32,
    unused2: u32,
}

@group(0) @binding(0) var<uniform> args: PhasesArgs;
@group(0) @binding(1) var<storage, read> taps: array<f32>;
// For each result of a turn: its newest sample, its first tap, and how many it has.
@group(0) @binding(2) var<storage, read> stands: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> x: array<f32>;
@group(0) @binding(4) var<storage, read> halo: array<f32>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;

// Sample n of a channel, with what lies around the segment.
fn sample(channel: u32, n: i32) -> f32 {
    if (n >= 0 && n < i32(args.samples)) {
        return x[channel * args.pitch + u32(n)];
    }
    let at = select(i32(args.left) + n - i32(args.samples), n + i32(args.left), n < 0);
    let inside = at >= 0 && at < i32(args.halo);
    return select(0.0, halo[channel * args.halo + u32(clamp(at, 0, i32(args.halo) - 1))], inside);
}

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) size: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    // Indices count samples of a segment, which a binding's size keeps below 2^30.
    let thread = flat_group(id, size) * WG + lane;
    let threads = args.tiles * args.up;
    if (thread >= args.channels * threads) {
        return;
    }
    let channel = thread / threads;
    let tile = thread % threads / args.up;
    let slot = thread % args.up;
    let stand = stands[slot];
    let newest = i32(tile * R * args.down + stand.x);

    var total: array<f32, R>; // the compensated sums so far
    var part: array<f32, R>; // what is not yet in them
    // dspk:unroll
    for (var i = 0u; i < R; i++) {
        total[i] = 0.0;
        part[i] = 0.0;
    }
    for (var start = 0u; start < stand.z; start += STEP) {
        for (var j = start; j < min(start + STEP, stand.z); j++) {
            let h = taps[stand.y + j];
            // dspk:unroll
            for (var i = 0u; i < R; i++) {
                part[i] = fma(h, sample(channel, newest + i32(i * args.down) - i32(j)), part[i]);
            }
        }
        // dspk:unroll
        for (var i = 0u; i < R; i++) {
            let sum = fma(total[i], args.one, part[i]);
            let error = part[i] - fma(sum, args.one, -total[i]);
            // The error of an infinite sum would be NaN.
            part[i] = select(0.0, error, abs(sum) <= 3.4e38);
            total[i] = sum;
        }
    }
    // dspk:unroll
    for (var i = 0u; i < R; i++) {
        let m = (tile * R + i) * args.up + slot;
        if (m < args.places) {
            y[channel * args.out_pitch + args.out_first + m] = select(0.0, total[i] + part[i], m < args.results);
        }
    }
}
