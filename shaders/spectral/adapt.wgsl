// Power of frames from the spectra of their tapers, by Thomson's adaptive rule (1982): what leaks into a taper from outside
// of the band is at most its share of the frame's variance, and weighs as noise does. The weights depend on the power that
// is sought, which is found by iteration.
//
// A thread has one frequency of one frame.
// dspk:import shared/fold.wgsl

const WG: u32 = 64u; // dspk:specialise 64

struct AdaptArgs {
    rows: u32, // frames
    bins: u32,
    tapers: u32, // of a frame
    parts: u32, // of its variance
    steps: u32, // at most
    unused_a: u32,
    unused_b: u32,
    unused_c: u32,
}

@group(0) @binding(0) var<uniform> args: AdaptArgs;
@group(0) @binding(1) var<storage, read> spectra: array<vec2<f32>>;
@group(0) @binding(2) var<storage, read> variances: array<f32>;
// The share of its energy within the band and outside of it, and what its power is relative to.
@group(0) @binding(3) var<storage, read> tapers: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> estimates: array<f32>;

// Steps are over once they are so small against the estimate, and shrink no more.
const SMALL: f32 = 1e-6;

fn power(first: u32, taper: u32) -> f32 {
    let v = spectra[first + taper * args.bins];
    return fma(v.x, v.x, v.y * v.y);
}

// Sums of the weights times powers, times norms, and alone.
fn weighted(first: u32, estimate: f32, variance: f32) -> vec3<f32> {
    var sums = vec3<f32>(0.0);
    for (var k = 0u; k < args.tapers; k++) {
        let taper = tapers[k];
        let share = estimate / fma(taper.x, estimate, taper.y * variance);
        let weight = taper.x * share * share;
        sums += weight * vec3<f32>(power(first, k), taper.z, 1.0);
    }
    return sums;
}

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) size: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let thread = flat_group(id, size) * WG + lane;
    if (thread >= args.rows * args.bins) {
        return;
    }
    // Indices count values of bindings, below 2^30.
    let row = thread / args.bins;
    let first = row * args.tapers * args.bins + thread % args.bins;
    var variance = 0.0;
    for (var part = 0u; part < args.parts; part++) {
        variance += variances[row * args.parts + part];
    }
    var sums = vec3<f32>(0.0);
    var estimate = 0.5 * (power(first, 0u) + power(first, min(1u, args.tapers - 1u)));
    var last = 0.0;
    for (var step = 0u; step < args.steps && estimate > 0.0; step++) {
        sums = weighted(first, estimate, variance);
        let next = sums.x / sums.z;
        let change = abs(next - estimate);
        let small = change <= SMALL * estimate;
        estimate = next;
        if (change == 0.0 || (small && step > 0u && change >= last)) {
            break;
        }
        last = change;
    }
    // Without any power in the first tapers there is nothing to adapt to.
    if (!(sums.z > 0.0)) {
        sums = vec3<f32>(0.0);
        for (var k = 0u; k < args.tapers; k++) {
            let taper = tapers[k];
            sums += taper.x * vec3<f32>(power(first, k), taper.z, 1.0);
        }
    }
    estimates[thread] = sums.x / sums.y;
}
