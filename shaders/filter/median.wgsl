// Running median of short windows: the value of rank WIDTH / 2 of WIDTH samples. Exact.
//
// A thread computes R neighbouring outputs. SHARE of them have the samples in the middle of their windows in common: these
// are put in order once, each output adds its own. A list in registers keeps only values that can still be the wanted
// one: once more than RANK are in it, every further sample pushes the lowest out, and the highest never enters.
// Values are compared as integers of the same order, so that zeros, subnormals and infinities are what they are.
// dspk:import shared/fold.wgsl

const WG: u32 = 64u; // dspk:tune 8 32 64 128
const R: u32 = 4u; // dspk:tune 4 8
const WIDTH: u32 = 9u; // dspk:specialise 1..33
const RANK: u32 = WIDTH / 2u;
const LEFT: u32 = WIDTH / 2u;
const Q: u32 = R / 4u;
// Whether a window has 2, 4 and 8 samples: 1 or 0.
const TWO: u32 = (WIDTH / 2u + 16u) / 17u;
const FOUR: u32 = (WIDTH / 4u + 16u) / 17u;
const EIGHT: u32 = (WIDTH / 8u + 16u) / 17u;
// The largest power of two up to WIDTH and R.
const SHARE: u32 = 1u + TWO + 2u * FOUR + 4u * EIGHT * (R / 8u);
const CORE: u32 = WIDTH - SHARE + 1u;
// Vectors of samples: before those of the outputs, and in all.
const BEFORE: u32 = (LEFT + 3u) / 4u;
const SPAN: u32 = BEFORE + (R + WIDTH - 1u - LEFT + 3u) / 4u;
const SHIFT: u32 = BEFORE * 4u - LEFT;

struct MedianArgs {
    channels: u32,
    pitch4: u32,
    tiles: u32, // runs of R outputs in a row
    samples: u32,
    halo: u32, // samples around the segment for each channel
    nan: u32,
    unused_a: u32,
    unused_b: u32,
}

@group(0) @binding(0) var<uniform> args: MedianArgs;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> halo: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<vec4<f32>>;

// Sample n of a channel, with what lies around the segment.
fn sample(channel: u32, n: i32) -> f32 {
    if (n >= 0 && n < i32(args.samples)) {
        return x[channel * args.pitch4 + u32(n) / 4u][u32(n) % 4u];
    }
    let at = select(i32(LEFT) + n - i32(args.samples), n + i32(LEFT), n < 0);
    return halo[channel * args.halo + min(u32(max(at, 0)), args.halo - 1u)];
}

// Integers in the order of the floats; its own inverse.
fn key(bits: i32) -> i32 {
    return bits ^ ((bits >> 31u) & 0x7fffffff);
}

fn is_nan(key_of: i32) -> bool {
    return key_of > 0x7f800000 || key_of < bitcast<i32>(0x807fffffu);
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
    let first = i32(tile * R) - i32(BEFORE * 4u);

    var w: array<i32, SPAN * 4u>;
    if (first >= 0 && u32(first) + SPAN * 4u <= args.samples) {
        let at = channel * args.pitch4 + u32(first) / 4u;
        // dspk:unroll
        for (var q = 0u; q < SPAN; q++) {
            let v = bitcast<vec4<i32>>(x[at + q]);
            // dspk:unroll
            for (var e = 0u; e < 4u; e++) {
                w[4u * q + e] = key(v[e]);
            }
        }
    } else {
        // dspk:unroll
        for (var k = 0u; k < SPAN * 4u; k++) {
            w[k] = key(bitcast<i32>(sample(channel, first + i32(k))));
        }
    }
    var spoiled = false;
    // dspk:unroll
    for (var k = SHIFT; k < SHIFT + R + WIDTH - 1u; k++) {
        spoiled = spoiled || is_nan(w[k]);
    }

    var out: array<f32, R>;
    // dspk:unroll
    for (var g = 0u; g < R / SHARE; g++) {
        var middle: array<i32, RANK + 2u>;
        // dspk:unroll
        for (var c = 0u; c < CORE; c++) {
            var v = w[SHIFT + g * SHARE + SHARE - 1u + c];
            // dspk:fold
            if (c <= RANK) {
                // dspk:unroll
                for (var j = 0u; j < c; j++) {
                    let low = min(middle[j], v);
                    v = max(middle[j], v);
                    middle[j] = low;
                }
                middle[c] = v;
            } else {
                // dspk:unroll
                for (var j = 0u; j < 2u * RANK + 1u - c; j++) {
                    middle[j] = max(middle[j], min(middle[j + 1u], v));
                }
            }
        }
        // dspk:unroll
        for (var o = 0u; o < SHARE; o++) {
            var own = middle;
            // dspk:unroll
            for (var c = CORE; c < WIDTH; c++) {
                var v: i32;
                // Samples before the common ones, then those after.
                // dspk:fold
                if (c - CORE + o + 1u < SHARE) {
                    v = w[SHIFT + g * SHARE + c - CORE + o];
                } else {
                    v = w[SHIFT + g * SHARE + c + o];
                }
                // dspk:fold
                if (c <= RANK) {
                    // dspk:unroll
                    for (var j = 0u; j < c; j++) {
                        let low = min(own[j], v);
                        v = max(own[j], v);
                        own[j] = low;
                    }
                    own[c] = v;
                } else {
                    // dspk:unroll
                    for (var j = 0u; j < 2u * RANK + 1u - c; j++) {
                        own[j] = max(own[j], min(own[j + 1u], v));
                    }
                }
            }
            // Of an even number of samples one more is left below the wanted one.
            let found = own[1u - WIDTH % 2u];
            // Whichever zero it is, the positive one is the result.
            out[g * SHARE + o] = bitcast<f32>(select(key(found), 0, found == -1));
        }
    }
    if (spoiled) {
        // dspk:unroll
        for (var o = 0u; o < R; o++) {
            for (var k = 0u; k < WIDTH; k++) {
                let v = bitcast<i32>(sample(channel, i32(tile * R + o + k) - i32(LEFT)));
                out[o] = select(out[o], bitcast<f32>(args.nan), is_nan(key(v)));
            }
        }
    }
    // dspk:unroll
    for (var q = 0u; q < Q; q++) {
        let at = tile * Q + q;
        if (at < args.pitch4) {
            let v = vec4<f32>(out[4u * q], out[4u * q + 1u], out[4u * q + 2u], out[4u * q + 3u]);
            let n = vec4<u32>(at * 4u) + vec4<u32>(0u, 1u, 2u, 3u);
            y[channel * args.pitch4 + at] = select(vec4<f32>(0.0), v, n < vec4<u32>(args.samples));
        }
    }
}
