// Another rate by small factors: a thread computes R turns of UP neighbouring results from a window of samples that it keeps
// in registers and moves K samples at a time, so that samples are read in vectors and few times over, and weights are
// uniform.
//
// Outside the segment the window holds zeros; what the halo has there is added afterwards, by the few threads that it reaches,
// in a loop that is none for the others: software devices run both ways of a branch.
//
// Weights are in the order of samples, with padding (-0.0) before and after the taps so that all phases have the same
// windows, which begin at multiples of four. With COMPENSATE a sum keeps its rounding error from step to step; `one` is 1.0,
// known at run time only, see shared/sum.wgsl.
// dspk:import shared/fold.wgsl

const WG: u32 = 64u; // dspk:tune 8 32 64 128
const R: u32 = 8u; // dspk:tune 4 8 16
const K: u32 = 8u; // dspk:tune 4 8 16
const UP: u32 = 1u; // dspk:specialise 1..4
const DOWN: u32 = 3u; // dspk:specialise 1..16
const CAPACITY: u32 = 32u; // dspk:specialise 32 128 512 1024
const COMPENSATE: u32 = 1u; // dspk:specialise 0 1
const Q: u32 = K / 4u;
const OUT: u32 = R * UP; // results of a thread
const SPAN: u32 = (R - 1u) * DOWN; // samples from the first window to the last one
const LEAD: u32 = (SPAN + K - 1u) / K; // steps before the first window is full

const PADDING: u32 = 0x80000000u; // -0.0

struct PolyphaseArgs {
    channels: u32,
    pitch4: u32, // of the samples
    samples: u32,
    tiles: u32,
    steps: u32, // of weights
    start: i32, // the first sample that step 0 of tile 0 adds to the window
    halo: u32, // samples around the segment for each channel
    left: u32, // of them before it
    out_pitch4: u32,
    out_first4: u32, // where this launch's results begin in a row
    results: u32, // of this launch
    vectors: u32, // of its results, with the row's padding
    one: f32,
    unused0: u32,
    unused1: u32,
    unused2: u32,
}

@group(0) @binding(0) var<uniform> args: PolyphaseArgs;
// Step by step, the weights of each phase.
@group(0) @binding(1) var<uniform> weights: array<vec4<f32>, CAPACITY>;
@group(0) @binding(2) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> halo: array<f32>;
@group(0) @binding(4) var<storage, read_write> y: array<vec4<f32>>;

// Sample n of a channel, with what lies around the segment. Beyond the halo only samples that meet padding are asked for.
fn sample(channel: u32, n: i32) -> f32 {
    if (n >= 0 && n < i32(args.samples)) {
        return x[channel * args.pitch4 + u32(n) / 4u][u32(n) % 4u];
    }
    let at = select(i32(args.left) + n - i32(args.samples), n + i32(args.left), n < 0);
    let inside = at >= 0 && at < i32(args.halo);
    return select(0.0, halo[channel * args.halo + u32(clamp(at, 0, i32(args.halo) - 1))], inside);
}

// Samples n .. n + 3 of a row, n a multiple of four; zeros outside the segment.
fn vector(row: u32, n: i32) -> vec4<f32> {
    let v = x[row + u32(clamp(n / 4, 0, i32(args.pitch4) - 1))];
    let each = vec4<i32>(n) + vec4<i32>(0, 1, 2, 3);
    return select(vec4<f32>(0.0), v, (each >= vec4<i32>(0)) & (each < vec4<i32>(i32(args.samples))));
}

// What a sample adds to a result: nothing if it meets no tap.
fn product(k: i32, p: u32, v: f32, sum: f32) -> f32 {
    let inside = k >= 0 && k < i32(args.steps * K);
    let at = u32(select(0, k, inside));
    let h = weights[(at / K * UP + p) * Q + at % K / 4u][at % 4u];
    return select(sum, fma(h, v, sum), inside && !is_padding(h));
}

fn is_padding(h: f32) -> bool {
    return bitcast<u32>(h) == PADDING;
}

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) size: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    // Indices count samples of a segment, which a binding's size keeps below 2^30.
    let thread = flat_group(id, size) * WG + lane;
    if (thread >= args.channels * args.tiles) {
        return;
    }
    let channel = thread / args.tiles;
    let tile = thread % args.tiles;
    let row = channel * args.pitch4;
    let first = i32(tile * R * DOWN) + args.start;

    var total: array<f32, OUT>; // the compensated sums so far, results in their order
    var part: array<f32, OUT>; // what is not yet in them
    var window: array<f32, SPAN + K>;
    // dspk:unroll
    for (var i = 0u; i < OUT; i++) {
        total[i] = 0.0;
        part[i] = 0.0;
    }
    for (var b = 0u; b < args.steps + LEAD; b++) {
        let at = first + i32(b * K);
        // dspk:unroll
        for (var q = 0u; q < Q; q++) {
            let v = vector(row, at + i32(4u * q));
            // dspk:unroll
            for (var e = 0u; e < 4u; e++) {
                window[SPAN + 4u * q + e] = v[e];
            }
        }
        if (b >= LEAD) {
            // dspk:unroll
            for (var p = 0u; p < UP; p++) {
                // dspk:unroll
                for (var q = 0u; q < Q; q++) {
                    let h = weights[((b - LEAD) * UP + p) * Q + q];
                    // dspk:unroll
                    for (var e = 0u; e < 4u; e++) {
                        // dspk:unroll
                        for (var i = 0u; i < R; i++) {
                            part[i * UP + p] = fma(h[e], window[i * DOWN + 4u * q + e], part[i * UP + p]);
                        }
                    }
                }
            }
            // dspk:fold
            if (COMPENSATE == 1u) {
                // dspk:unroll
                for (var i = 0u; i < OUT; i++) {
                    let sum = fma(total[i], args.one, part[i]);
                    let error = part[i] - fma(sum, args.one, -total[i]);
                    // The error of an infinite sum would be NaN.
                    part[i] = select(0.0, error, abs(sum) <= 3.4e38);
                    total[i] = sum;
                }
            }
        }
        // dspk:unroll
        for (var i = 0u; i < SPAN; i++) {
            window[i] = window[i + K];
        }
    }
    // The windows of this thread begin at `oldest`. Of the halo they reach the places from `reached` to `end`.
    let oldest = first + i32(LEAD * K) - i32(SPAN);
    let newest = oldest + i32(SPAN + args.steps * K);
    let right = i32(args.halo - args.left);
    let reached = select(i32(args.left), max(0, i32(args.left) + oldest), oldest < 0);
    let end = select(i32(args.left), i32(args.left) + min(right, newest - i32(args.samples)), newest > i32(args.samples));
    for (var place = reached; place < end; place++) {
        let n = select(place - i32(args.left) + i32(args.samples), place - i32(args.left), place < i32(args.left));
        let v = halo[channel * args.halo + u32(place)];
        // dspk:unroll
        for (var p = 0u; p < UP; p++) {
            // dspk:unroll
            for (var i = 0u; i < R; i++) {
                part[i * UP + p] = product(n - oldest - i32(i * DOWN), p, v, part[i * UP + p]);
            }
        }
        // dspk:unroll
        for (var i = 0u; i < OUT; i++) {
            let sum = fma(total[i], args.one, part[i]);
            let error = part[i] - fma(sum, args.one, -total[i]);
            part[i] = select(0.0, error, abs(sum) <= 3.4e38);
            total[i] = sum;
        }
    }
    var spoiled = false;
    // dspk:unroll
    for (var i = 0u; i < OUT; i++) {
        total[i] += part[i];
        spoiled = spoiled || (bitcast<u32>(total[i]) & 0x7fffffffu) > 0x7f800000u;
        part[i] = 0.0;
    }
    // Padding turns an infinite sample into NaN: such results again, plainly.
    let again = select(0u, args.steps * K, spoiled);
    for (var k = 0u; k < again; k++) {
        // dspk:unroll
        for (var p = 0u; p < UP; p++) {
            let h = weights[(k / K * UP + p) * Q + k % K / 4u][k % 4u];
            if (!is_padding(h)) {
                // dspk:unroll
                for (var i = 0u; i < R; i++) {
                    let n = oldest + i32(k + i * DOWN);
                    part[i * UP + p] = fma(h, sample(channel, n), part[i * UP + p]);
                }
            }
        }
    }
    // dspk:unroll
    for (var q = 0u; q < OUT / 4u; q++) {
        let at = tile * (OUT / 4u) + q;
        if (at < args.vectors) {
            var v = vec4<f32>(total[4u * q], total[4u * q + 1u], total[4u * q + 2u], total[4u * q + 3u]);
            let w = vec4<f32>(part[4u * q], part[4u * q + 1u], part[4u * q + 2u], part[4u * q + 3u]);
            v = select(v, w, (bitcast<vec4<u32>>(v) & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u));
            let n = vec4<u32>(at * 4u) + vec4<u32>(0u, 1u, 2u, 3u);
            y[channel * args.out_pitch4 + args.out_first4 + at] = select(vec4<f32>(0.0), v, n < vec4<u32>(args.results));
        }
    }
}
