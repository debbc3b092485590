// Sums over frames of products of their spectra, straight from samples: frames are freed of their lines, weighted and
// transformed in work-group memory (shared/spectra.wgsl), and each thread sums its frequencies in registers. A unit is a part
// of a channel's frames, one after the other; that of a pair has two slots, one for each signal.
//
// Only sums leave the work group. They are those that spectral/average.wgsl makes of spectra in scratch.
// dspk:import shared/fold.wgsl
// dspk:import shared/products.wgsl
// dspk:import shared/spectra.wgsl

const SIGNALS: u32 = 1u + (KIND + 1u) / 2u;
const UNIT: u32 = SIGNALS * T; // threads of a unit
const UNITS: u32 = S / SIGNALS; // of a work group
const BINS: u32 = (1u - FACING) * ((POINTS / 2u + UNIT) / UNIT) + FACING * FACED; // of a thread, each with its mirror

const_assert S % SIGNALS == 0u;
const_assert FACING == 0u || SIGNALS == 1u;

struct SumsArgs {
    cut: Cut,
    scale: f32,
    one: f32,
    units: u32,
    parts: u32, // of a channel
    length: u32, // frames of a part
    bins: u32,
    unused_a: u32,
    unused_b: u32,
    line: vec4<f32>,
}

@group(0) @binding(0) var<uniform> args: SumsArgs;
@group(0) @binding(1) var<storage, read> roots: array<vec2<f32>>;
@group(0) @binding(2) var<storage, read> wide: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read> weights: array<f32>;
@group(0) @binding(4) var<storage, read> x: array<f32>;
@group(0) @binding(5) var<storage, read_write> sums: array<Products>;

// Index of pair b of a thread; beyond POINTS / 2 without FACING, or POINTS with it, where there is none.
fn index(b: u32, member: u32) -> u32 {
    // dspk:fold
    if (FACING == 1u) {
        return faced(b, member);
    } else {
        return member + b * UNIT;
    }
}

@compute @workgroup_size(S * T)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) size: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let group = flat_group(id, size);
    if (group * UNITS >= args.units) {
        return;
    }
    // Indices count values of bindings, below 2^30.
    let lies = along(lane);
    let unit = min(group * UNITS + lane / UNIT, args.units - 1u);
    let first = lane / UNIT * SIGNALS; // slot
    let member = lane % UNIT;
    let row = (unit / args.parts * SIGNALS + lies.x % SIGNALS) * args.cut.frames;
    let begin = unit % args.parts * args.length;
    let end = min(begin + args.length, args.cut.frames);
    var v: Points;
    var w: Points;
    weigh(&w, lies.y);
    var turns: array<vec2<f32>, BINS>;
    var tallies: array<Tally, 2u * BINS>;
    // dspk:unroll
    for (var b = 0u; b < BINS; b++) {
        turns[b] = root(min(index(b, member), POINTS - 1u));
        tallies[2u * b] = Tally(Products(0.0), Products(0.0));
        tallies[2u * b + 1u] = Tally(Products(0.0), Products(0.0));
    }
    for (var n = 0u; n < args.length; n++) {
        let counts = begin + n < end;
        // What was there has been read.
        workgroupBarrier();
        gather(&v, &w, frame_of(row + min(begin + n, end - 1u)), lies.x, lies.y);
        transform(&v, group, lane);
        // dspk:unroll
        for (var b = 0u; b < BINS; b++) {
            var one: vec4<f32>;
            var other: vec4<f32>;
            // dspk:fold
            if (FACING == 1u) {
                one = faced_values(&v, b, member, index(b, member), turns[b]);
                other = one;
            } else {
                let i = min(index(b, member), POINTS / 2u);
                one = values(first, i, turns[b]);
                other = values(first + SIGNALS - 1u, i, turns[b]);
            }
            let low = select(Products(0.0), product(one.xy, other.xy), counts);
            tallies[2u * b] = tallied(tallies[2u * b], low, args.one);
            // dspk:fold
            if (SPLIT == 1u) {
                let high = select(Products(0.0), product(one.zw, other.zw), counts);
                tallies[2u * b + 1u] = tallied(tallies[2u * b + 1u], high, args.one);
            }
        }
    }
    if (group * UNITS + lane / UNIT < args.units) {
        // dspk:unroll
        for (var b = 0u; b < BINS; b++) {
            let i = index(b, member);
            if (i < select(POINTS / 2u + 1u, POINTS, FACING == 1u)) {
                sums[unit * args.bins + i] = total(tallies[2u * b]);
                // dspk:fold
                if (SPLIT == 1u) {
                    sums[unit * args.bins + POINTS - i] = total(tallies[2u * b + 1u]);
                }
            }
        }
    }
}
