// Common average: every channel minus the mean of its part's sources.
//
// A thread owns Q vectors of four samples, WG apart, and walks the channels twice: once for the sum, kept with its
// rounding error, once for the result. Wide rows matter more than arithmetic: a group reads 16 * WG * Q bytes of each
// row before it goes to the next, far away row.
// dspk:import shared/fold.wgsl
// dspk:import shared/sum.wgsl
// dspk:import shared/parts.wgsl

const WG: u32 = 8u; // dspk:tune 8 32 64 128
const Q: u32 = 4u; // dspk:tune 1 2 4 8
const ROWS: u32 = 4u; // dspk:tune 2 4
const OMIT: u32 = 0u; // dspk:specialise 0 1

struct MeanArgs {
    parts: u32,
    tiles: u32,
    pitch4: u32,
    one: f32,
}

@group(0) @binding(0) var<uniform> args: MeanArgs;
@group(0) @binding(1) var<storage, read> parts: array<Part>;
@group(0) @binding(2) var<storage, read> list: array<u32>;
@group(0) @binding(3) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> y: array<vec4<f32>>;

fn is_nan(v: vec4<f32>) -> vec4<bool> {
    return (bitcast<vec4<u32>>(v) & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u);
}

// sum / count to the last bit but one: a quotient may be off by several, its remainder puts it right.
fn mean(sum: Sum, count: vec4<f32>) -> vec4<f32> {
    let q = sum.high / count;
    let refined = q + (fma(-q, count, sum.high) + sum.low) / count;
    let finite = abs(sum.high) <= vec4<f32>(3.4e38);
    return select(q, refined, finite);
}

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) size: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let group = flat_group(id, size);
    if (group >= args.parts * args.tiles) {
        return;
    }
    let part = parts[group / args.tiles];
    let first = (group % args.tiles) * (WG * Q) + lane;
    let one = vec4<f32>(args.one);
    // Row indices count vectors of a segment, which a binding's size keeps below 2^28.
    var column: array<u32, Q>;
    var sum: array<Sum, Q>;
    var count: array<vec4<f32>, Q>;
    // dspk:unroll
    for (var q = 0u; q < Q; q++) {
        column[q] = min(first + q * WG, args.pitch4 - 1u);
        sum[q] = Sum(vec4<f32>(0.0), vec4<f32>(0.0));
        count[q] = vec4<f32>(f32(part.sources));
    }
    for (var i = 0u; i < part.sources; i += ROWS) {
        // dspk:unroll
        for (var r = 0u; r < ROWS; r++) {
            let live = i + r < part.sources;
            let row = channel(part.source + min(i + r, part.sources - 1u)) * args.pitch4;
            // dspk:unroll
            for (var q = 0u; q < Q; q++) {
                let v = select(vec4<f32>(0.0), x[row + column[q]], live);
                if (OMIT == 1u) {
                    let nan = is_nan(v);
                    count[q] -= select(vec4<f32>(0.0), vec4<f32>(1.0), nan);
                    sum[q] = add(sum[q], select(v, vec4<f32>(0.0), nan), one);
                } else {
                    sum[q] = add(sum[q], v, one);
                }
            }
        }
    }
    var reference: array<vec4<f32>, Q>;
    // dspk:unroll
    for (var q = 0u; q < Q; q++) {
        reference[q] = select(vec4<f32>(0.0), mean(sum[q], count[q]), part.sources > 0u);
    }
    for (var i = 0u; i < part.members; i += ROWS) {
        // dspk:unroll
        for (var r = 0u; r < ROWS; r++) {
            // The last row may be written several times, each time with the same values.
            let row = channel(part.member + min(i + r, part.members - 1u)) * args.pitch4;
            // dspk:unroll
            for (var q = 0u; q < Q; q++) {
                y[row + column[q]] = x[row + column[q]] - reference[q];
            }
        }
    }
}
