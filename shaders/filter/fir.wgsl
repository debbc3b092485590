// FIR filter: y[n] = sum of h[k] x[n - k], with samples before the segment in a history and an addend for the first
// outputs (scipy's zi).
//
// A thread computes R neighbouring outputs. Taps go in blocks of R: a block needs a window of 2 R samples, and the next
// block's window is the same moved by R, so each step loads R samples and R taps for R * R products. Taps are uniform,
// which every device reads once for all threads. With COMPENSATE the sum keeps its rounding error from block to block;
// `one` is 1.0, known at run time only, see shared/sum.wgsl.
//
// With WINDOW results are those of another part of the convolution: ahead of the samples by `shift` tiles, the taps having
// `skip` zeros before them; samples are zeros beyond both ends of a channel, and so are results behind the last one.
//
// More taps than a uniform binding holds go in passes: `first` is the pass's first block, ACCUMULATE adds to the output.
// dspk:import shared/fold.wgsl

const WG: u32 = 64u; // dspk:tune 8 32 64 128
const R: u32 = 16u; // dspk:tune 8 16 32
const CAPACITY: u32 = 32u; // dspk:specialise 32 64 128 256 512 1024 2048 4096
const HISTORY: u32 = 0u; // dspk:specialise 0 1
const ADDEND: u32 = 0u; // dspk:specialise 0 1
const ACCUMULATE: u32 = 0u; // dspk:specialise 0 1
const COMPENSATE: u32 = 1u; // dspk:specialise 0 1
const WINDOW: u32 = 0u; // dspk:specialise 0 1
const Q: u32 = R / 4u;

struct FirArgs {
    channels: u32,
    pitch4: u32,
    tiles: u32, // runs of R outputs in a row
    first: u32, // first block of this pass
    blocks: u32, // blocks of this pass
    taps: u32, // taps of this pass, the last block's padding left out
    history: u32, // samples of history for each channel
    addend4: u32, // vectors of addend for each channel
    start4: u32, // where the segment starts in the addend
    one: f32,
    from4: u32, // vectors between rows of samples
    samples: u32,
    shift: u32,
    skip: u32,
    first_channel: u32,
    results: u32, // of a channel, zeros behind them
}

@group(0) @binding(0) var<uniform> args: FirArgs;
@group(0) @binding(1) var<uniform> taps: array<vec4<f32>, CAPACITY>;
@group(0) @binding(2) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> history: array<f32>;
@group(0) @binding(4) var<storage, read> addend: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> y: array<vec4<f32>>;

// Tap k of this pass; 0 beyond its blocks.
fn tap(k: u32) -> f32 {
    let inside = min(k, args.blocks * R - 1u);
    return select(0.0, taps[inside / 4u][inside % 4u], k < args.blocks * R);
}

// Sample n of the channel, from the history if n is negative.
fn sample(channel: u32, n: i32) -> f32 {
    if (n >= 0) {
        let at = min(u32(n), args.from4 * 4u - 1u);
        let v = x[(args.first_channel + channel) * args.from4 + at / 4u][at % 4u];
        return select(v, 0.0, WINDOW == 1u && u32(n) >= args.samples);
    }
    if (HISTORY == 1u) {
        return history[channel * args.history + u32(i32(args.history) + n)];
    }
    return 0.0;
}

// Samples 4 at .. 4 at + 3 of a row, zeros beyond both ends of it.
fn vector(row: u32, at: i32) -> vec4<f32> {
    let v = x[row + u32(clamp(at, 0, i32(args.from4) - 1))];
    let n = vec4<i32>(4 * at) + vec4<i32>(0, 1, 2, 3);
    return select(vec4<f32>(0.0), v, (n >= vec4<i32>(0)) & (n < vec4<i32>(i32(args.samples))));
}

// A sum and what rounding leaves over.
fn settle(total: f32, part: f32) -> vec2<f32> {
    let t = fma(total, args.one, part);
    let error = part - fma(t, args.one, -total);
    // The error of an infinite sum would be NaN.
    return vec2<f32>(t, select(0.0, error, abs(t) <= 3.4e38));
}

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) size: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    // Indices count vectors or tiles of a segment, which a binding's size keeps below 2^28.
    let thread = flat_group(id, size) * WG + lane;
    if (thread >= args.channels * args.tiles) {
        return;
    }
    let channel = thread / args.tiles;
    let tile = thread % args.tiles;
    let row = (args.first_channel + channel) * args.pitch4;
    let from_row = (args.first_channel + channel) * args.from4;

    var total: array<f32, R>; // the compensated sum so far
    var part: array<f32, R>; // what is not yet in it
    var window: array<f32, 2u * R>; // the later tile of the window in the upper half
    // dspk:unroll
    for (var i = 0u; i < R; i++) {
        total[i] = 0.0;
        part[i] = 0.0;
    }
    let newest = i32(tile + args.shift) - i32(args.first);
    // dspk:unroll
    for (var q = 0u; q < Q; q++) {
        var v: vec4<f32>;
        // dspk:fold
        if (WINDOW == 1u) {
            v = vector(from_row, newest * i32(Q) + i32(q));
        } else {
            v = select(vec4<f32>(0.0), x[row + min(u32(max(newest, 0)) * Q + q, args.pitch4 - 1u)], newest >= 0);
        }
        // dspk:unroll
        for (var e = 0u; e < 4u; e++) {
            window[R + 4u * q + e] = v[e];
        }
    }
    let reached = u32(clamp(newest + 1, 0, i32(args.blocks)));
    for (var b = 0u; b < reached; b++) {
        let older = newest - i32(b) - 1;
        // dspk:unroll
        for (var q = 0u; q < Q; q++) {
            var v: vec4<f32>;
            // dspk:fold
            if (WINDOW == 1u) {
                v = vector(from_row, older * i32(Q) + i32(q));
            } else {
                v = select(vec4<f32>(0.0), x[row + u32(max(older, 0)) * Q + q], older >= 0);
            }
            // dspk:unroll
            for (var e = 0u; e < 4u; e++) {
                window[4u * q + e] = v[e];
            }
        }
        // dspk:unroll
        for (var q = 0u; q < Q; q++) {
            let h = taps[b * Q + q];
            // dspk:unroll
            for (var e = 0u; e < 4u; e++) {
                // dspk:unroll
                for (var i = 0u; i < R; i++) {
                    part[i] = fma(h[e], window[R + i - (4u * q + e)], part[i]);
                }
            }
        }
        // dspk:unroll
        for (var i = 0u; i < R; i++) {
            if (COMPENSATE == 1u) {
                let settled = settle(total[i], part[i]);
                total[i] = settled.x;
                part[i] = settled.y;
            }
            window[R + i] = window[i];
        }
    }
    if (HISTORY == 1u) {
        // Only threads near the start have samples before the segment. Sample -m meets output i at tap offset + m + i.
        let offset = newest * i32(R);
        let nearest = max(1, 1 - i32(R) - offset);
        let farthest = min(i32(args.blocks * R) - 1 - offset, i32(args.history));
        for (var m = nearest; m <= farthest; m++) {
            let v = history[channel * args.history + args.history - u32(m)];
            // dspk:unroll
            for (var i = 0u; i < R; i++) {
                let k = offset + m + i32(i);
                let meets = k >= 0 && u32(k) < args.taps;
                part[i] = fma(select(0.0, tap(u32(max(k, 0))), meets), select(0.0, v, meets), part[i]);
                if (COMPENSATE == 1u) {
                    let settled = settle(total[i], part[i]);
                    total[i] = settled.x;
                    part[i] = settled.y;
                }
            }
        }
    }
    var out: array<f32, R>;
    var spoiled = false;
    // dspk:unroll
    for (var i = 0u; i < R; i++) {
        out[i] = total[i] + part[i];
        spoiled = spoiled || (bitcast<u32>(out[i]) & 0x7fffffffu) > 0x7f800000u;
    }
    // The padding of the last block turns an infinite sample into NaN where no tap meets it: such outputs again, plainly.
    var plain: array<f32, R>;
    // dspk:unroll
    for (var i = 0u; i < R; i++) {
        plain[i] = 0.0;
    }
    let again = select(0u, args.taps, spoiled);
    for (var k = args.skip; k < again; k++) {
        let h = tap(k);
        // dspk:unroll
        for (var i = 0u; i < R; i++) {
            plain[i] = fma(h, sample(channel, newest * i32(R) + i32(i) - i32(k)), plain[i]);
        }
    }
    // dspk:unroll
    for (var q = 0u; q < Q; q++) {
        let at = tile * Q + q;
        if (at < args.pitch4) {
            var v = vec4<f32>(out[4u * q], out[4u * q + 1u], out[4u * q + 2u], out[4u * q + 3u]);
            let w = vec4<f32>(plain[4u * q], plain[4u * q + 1u], plain[4u * q + 2u], plain[4u * q + 3u]);
            v = select(v, w, (bitcast<vec4<u32>>(v) & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u));
            if (ACCUMULATE == 1u) {
                v += y[row + at];
            }
            if (ADDEND == 1u) {
                let place = args.start4 + at;
                if (place < args.addend4) {
                    v += addend[channel * args.addend4 + place];
                }
            }
            // dspk:fold
            if (WINDOW == 1u) {
                v = select(vec4<f32>(0.0), v, vec4<u32>(4u * at) + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(args.results));
            }
            y[row + at] = v;
        }
    }
}
