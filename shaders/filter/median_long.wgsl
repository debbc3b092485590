// Running median of long windows: the value of rank width / 2 of `width` samples. Exact.
//
// A thread computes RUN neighbouring outputs. It finds the first by halving the range of keys, integers in the order of
// the floats: the wanted one is the largest key with at most `rank` values below it. From one window to the next a sample
// goes and one comes: two counts tell whether the median stays, or is the next value above or below, which one pass over
// the window finds.
// dspk:import shared/fold.wgsl

const WG: u32 = 64u; // dspk:tune 8 32 64 128
const RUN: u32 = 16u; // dspk:tune 4 16 64
const STEP: u32 = 8u;

struct LongArgs {
    channels: u32,
    pitch: u32,
    tiles: u32, // runs of RUN outputs in a row
    samples: u32,
    halo: u32, // samples around the segment for each channel
    nan: u32,
    width: u32,
    left: u32, // samples of a window before its place
}

@group(0) @binding(0) var<uniform> args: LongArgs;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> halo: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;

// The key of sample n of a channel, with what lies around the segment.
fn sample(channel: u32, n: i32) -> i32 {
    var bits: i32;
    if (n >= 0 && n < i32(args.samples)) {
        bits = bitcast<i32>(x[channel * args.pitch + u32(n)]);
    } else {
        let at = select(i32(args.left) + n - i32(args.samples), n + i32(args.left), n < 0);
        bits = bitcast<i32>(halo[channel * args.halo + min(u32(max(at, 0)), args.halo - 1u)]);
    }
    return bits ^ ((bits >> 31u) & 0x7fffffff);
}

fn is_nan(key: i32) -> bool {
    return key > 0x7f800000 || key < bitcast<i32>(0x807fffffu);
}

fn one_if(condition: bool) -> u32 {
    return select(0u, 1u, condition);
}

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) size: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let thread = flat_group(id, size) * WG + lane;
    if (thread >= args.channels * args.tiles) {
        return;
    }
    let channel = thread / args.tiles;
    let start = thread % args.tiles * RUN;
    let end = min(start + RUN, args.pitch);
    let rank = args.width / 2u;
    let first = i32(start) - i32(args.left);

    var nans = 0u;
    for (var k = 0u; k < args.width; k += STEP) {
        // dspk:unroll
        for (var e = 0u; e < STEP; e++) {
            let v = sample(channel, first + i32(min(k + e, args.width - 1u)));
            nans += one_if(is_nan(v) && k + e < args.width);
        }
    }
    // Bit by bit, on keys moved into the unsigned range.
    var found = 0u;
    for (var bit = 0u; bit < 32u; bit++) {
        let trial = found | (0x80000000u >> bit);
        let pivot = bitcast<i32>(trial ^ 0x80000000u);
        var count = 0u;
        for (var k = 0u; k < args.width; k += STEP) {
            // dspk:unroll
            for (var e = 0u; e < STEP; e++) {
                let v = sample(channel, first + i32(min(k + e, args.width - 1u)));
                count += one_if(v < pivot && k + e < args.width);
            }
        }
        found = select(found, trial, count <= rank);
    }
    var median = bitcast<i32>(found ^ 0x80000000u);
    var below = 0u;
    var up_to = 0u;
    for (var k = 0u; k < args.width; k += STEP) {
        // dspk:unroll
        for (var e = 0u; e < STEP; e++) {
            let v = sample(channel, first + i32(min(k + e, args.width - 1u)));
            below += one_if(v < median && k + e < args.width);
            up_to += one_if(v <= median && k + e < args.width);
        }
    }
    for (var n = start; n < end; n++) {
        if (n > start) {
            let window = i32(n) - i32(args.left);
            let gone = sample(channel, window - 1);
            let came = sample(channel, window + i32(args.width) - 1);
            nans = nans + one_if(is_nan(came)) - one_if(is_nan(gone));
            below = below + one_if(came < median) - one_if(gone < median);
            up_to = up_to + one_if(came <= median) - one_if(gone <= median);
            if (below > rank || up_to <= rank) {
                let down = below > rank;
                var near = select(0x7fffffff, bitcast<i32>(0x80000000u), down);
                var count = 0u;
                for (var k = 0u; k < args.width; k += STEP) {
                    // dspk:unroll
                    for (var e = 0u; e < STEP; e++) {
                        let v = sample(channel, window + i32(min(k + e, args.width - 1u)));
                        let inside = k + e < args.width && select((v > median), (v < median), down);
                        let nearer = inside && select((v < near), (v > near), down);
                        count = select(count, 0u, nearer) + one_if(inside && (nearer || v == near));
                        near = select(near, v, nearer);
                    }
                }
                let old_below = below;
                below = select(up_to, below - count, down);
                up_to = select(up_to + count, old_below, down);
                median = near;
            }
        }
        // Whichever zero it is, the positive one is the result.
        let bits = select(median ^ ((median >> 31u) & 0x7fffffff), 0, median == -1);
        let value = select(bitcast<f32>(bits), bitcast<f32>(args.nan), nans > 0u);
        y[channel * args.pitch + n] = select(0.0, value, n < args.samples);
    }
}
