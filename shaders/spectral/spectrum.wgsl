// What is done to one-sided spectra between a forward and an inverse transform, in place.
//
// A work group takes WG * STEPS bins of one row, side by side.
// dspk:import shared/fold.wgsl

const KIND: u32 = 0u; // dspk:specialise 0..2

// A quarter turn back, for the Hilbert transform. What has no counterpart of the other sign does not turn.
const QUARTER: u32 = 0u;
// A weight for each bin, the same in all rows.
const WEIGHT: u32 = 1u;
// A root of unity for each bin, as the product of two of a short table: of one for all rows or of one for each.
const ROOT: u32 = 2u;

const WG: u32 = 64u;
const STEPS: u32 = 4u;

struct SpectrumArgs {
    rows: u32,
    groups: u32, // of a row
    first: u32, // bin
    bins: u32, // from there on
    pitch: u32, // pairs of floats between rows
    alone: u32, // the bin, besides 0, that has no counterpart; beyond all bins if there is none
    first_row: u32, // of the tables
    table: u32, // pairs of floats between the tables of two rows; 0 = one table for all
    low_bits: u32, // of a bin, the index into the first part of a table
    zero: f32, // 0.0
    unused_a: u32,
    unused_b: u32,
}

@group(0) @binding(0) var<uniform> args: SpectrumArgs;
@group(0) @binding(1) var<storage, read> factors: array<vec2<f32>>;
@group(0) @binding(2) var<storage, read_write> z: array<vec2<f32>>;

fn times(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
    return vec2<f32>(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// Value v of bin k of a row.
fn changed(v: vec2<f32>, k: u32, row: u32) -> vec2<f32> {
    // dspk:fold
    if (KIND == QUARTER) {
        // Times a zero that only the run knows, so that what is not finite stays.
        return select(vec2<f32>(v.y, -v.x), vec2<f32>((v.x + v.y) * args.zero, 0.0), k == 0u || k == args.alone);
    } else {
        // dspk:fold
        if (KIND == WEIGHT) {
            return v * factors[k - args.first];
        } else {
            let table = (args.first_row + row) * args.table;
            let low = factors[table + (k & ((1u << args.low_bits) - 1u))];
            return times(v, times(low, factors[table + (1u << args.low_bits) + (k >> args.low_bits)]));
        }
    }
}

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
    let start = (group % args.groups) * (WG * STEPS) + lane;
    // dspk:unroll
    for (var step = 0u; step < STEPS; step++) {
        let at = start + step * WG;
        if (at < args.bins) {
            let k = args.first + at;
            z[row * args.pitch + k] = changed(z[row * args.pitch + k], k, row);
        }
    }
}
