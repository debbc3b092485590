// Centred response: y[n] = sum of weights[j] x[n - left + j], with the samples around the segment in a halo.
//
// A thread computes R neighbouring outputs. Weights go in blocks of R, with zeros put before them so that blocks of samples
// lie on multiples of R: a block needs a window of 2 R samples, and the next one is the same moved by R. With COMPENSATE
// the sum keeps its rounding error from block to block; `one` is 1.0, known at run time only, see shared/sum.wgsl.
// dspk:import shared/fold.wgsl

const WG: u32 = 64u; // dspk:tune 8 32 64 128
const R: u32 = 8u; // dspk:tune 4 8 16
const COMPENSATE: u32 = 1u; // dspk:specialise 0 1
const Q: u32 = R / 4u;

struct CentredArgs {
    channels: u32,
    pitch4: u32,
    tiles: u32, // runs of R outputs in a row
    samples: u32,
    blocks: u32, // blocks of weights
    before: u32, // blocks of samples before an output's own
    zeros: u32, // put before the weights
    taps: u32,
    halo: u32, // samples around the segment for each channel
    left: u32, // of them before it
    one: f32,
    unused: u32,
}

@group(0) @binding(0) var<uniform> args: CentredArgs;
@group(0) @binding(1) var<storage, read> weights: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> halo: array<f32>;
@group(0) @binding(4) var<storage, read_write> y: array<vec4<f32>>;

// Sample n of a channel, with what lies around the segment. Beyond the halo only samples that meet zeros are asked for.
fn sample(channel: u32, n: i32) -> f32 {
    if (n >= 0 && n < i32(args.samples)) {
        return x[channel * args.pitch4 + u32(n) / 4u][u32(n) % 4u];
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
    if (thread >= args.channels * args.tiles) {
        return;
    }
    let channel = thread / args.tiles;
    let tile = thread % args.tiles;
    let row = channel * args.pitch4;
    let first = i32(tile) - i32(args.before);

    var total: array<f32, R>; // the compensated sum so far
    var part: array<f32, R>; // what is not yet in it
    var window: array<f32, 2u * R>;
    // dspk:unroll
    for (var i = 0u; i < R; i++) {
        total[i] = 0.0;
        part[i] = 0.0;
    }
    for (var b = 0u; b <= args.blocks; b++) {
        // The block of samples b - 1 is in the lower half; the next one goes into the upper half.
        let start = (first + i32(b)) * i32(R);
        if (start >= 0 && u32(start) + R <= args.samples) {
            // dspk:unroll
            for (var q = 0u; q < Q; q++) {
                let v = x[row + u32(start) / 4u + q];
                // dspk:unroll
                for (var e = 0u; e < 4u; e++) {
                    window[R + 4u * q + e] = v[e];
                }
            }
        } else {
            // dspk:unroll
            for (var i = 0u; i < R; i++) {
                window[R + i] = sample(channel, start + i32(i));
            }
        }
        if (b > 0u) {
            // dspk:unroll
            for (var q = 0u; q < Q; q++) {
                let h = weights[(b - 1u) * Q + q];
                // dspk:unroll
                for (var e = 0u; e < 4u; e++) {
                    // dspk:unroll
                    for (var i = 0u; i < R; i++) {
                        part[i] = fma(h[e], window[4u * q + e + i], part[i]);
                    }
                }
            }
            // dspk:fold
            if (COMPENSATE == 1u) {
                // dspk:unroll
                for (var i = 0u; i < R; i++) {
                    let sum = fma(total[i], args.one, part[i]);
                    let error = part[i] - fma(sum, args.one, -total[i]);
                    // The error of an infinite sum would be NaN.
                    part[i] = select(0.0, error, abs(sum) <= 3.4e38);
                    total[i] = sum;
                }
            }
        }
        // dspk:unroll
        for (var i = 0u; i < R; i++) {
            window[i] = window[R + i];
        }
    }
    var out: array<f32, R>;
    var spoiled = false;
    // dspk:unroll
    for (var i = 0u; i < R; i++) {
        out[i] = total[i] + part[i];
        spoiled = spoiled || (bitcast<u32>(out[i]) & 0x7fffffffu) > 0x7f800000u;
    }
    // Zeros put beside the weights turn an infinite sample into NaN: such outputs again, plainly.
    var plain: array<f32, R>;
    // dspk:unroll
    for (var i = 0u; i < R; i++) {
        plain[i] = 0.0;
    }
    let again = select(0u, args.taps, spoiled);
    for (var k = 0u; k < again; k++) {
        let place = k + args.zeros;
        let h = weights[place / 4u][place % 4u];
        // dspk:unroll
        for (var i = 0u; i < R; i++) {
            plain[i] = fma(h, sample(channel, first * i32(R) + i32(place + i)), plain[i]);
        }
    }
    // dspk:unroll
    for (var q = 0u; q < Q; q++) {
        let at = tile * Q + q;
        if (at < args.pitch4) {
            var v = vec4<f32>(out[4u * q], out[4u * q + 1u], out[4u * q + 2u], out[4u * q + 3u]);
            let w = vec4<f32>(plain[4u * q], plain[4u * q + 1u], plain[4u * q + 2u], plain[4u * q + 3u]);
            v = select(v, w, (bitcast<vec4<u32>>(v) & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u));
            let n = vec4<u32>(at * 4u) + vec4<u32>(0u, 1u, 2u, 3u);
            y[row + at] = select(vec4<f32>(0.0), v, n < vec4<u32>(args.samples));
        }
    }
}
