// Medians over frames, exact: a thread has one frequency. The bits of the lower middle value are found two at a time, from
// the top, by counting the values below three pivots; a last look finds its upper neighbour, and NaN.
//
// A launch makes some of these passes; what is known of the value is kept in between. Values are made anew from the
// spectra each time: they lie in the caches, and hold half of what would be read otherwise.
// dspk:import shared/fold.wgsl
// dspk:import shared/rows.wgsl
// dspk:import shared/order.wgsl

const WG: u32 = 64u; // dspk:specialise 64

struct MedianArgs {
    channels: u32,
    signals: u32, // of a channel
    frames: u32, // of a signal
    bins: u32,
    first_pass: u32,
    passes: u32, // of this launch; there are 16
    infinity: f32,
    unused: u32,
}

@group(0) @binding(0) var<uniform> args: MedianArgs;
@group(0) @binding(1) var<storage, read> spectra: array<vec2<f32>>;
@group(0) @binding(2) var<storage, read_write> medians: array<Counts>; // or what is known of their keys

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) size: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let thread = flat_group(id, size) * WG + lane;
    if (thread >= args.channels * args.bins) {
        return;
    }
    // Indices count values of bindings, below 2^30.
    let bin = thread % args.bins;
    let row = thread / args.bins * args.signals * args.frames;
    let zero = Counts(0u);
    let unit = Counts(1u);
    let rank = Counts((args.frames - 1u) / 2u);
    var found = zero;
    if (args.first_pass > 0u) {
        found = medians[thread];
    }
    for (var step = args.first_pass; step < min(args.first_pass + args.passes, 16u); step++) {
        let shift = Counts(30u - 2u * step);
        let first = found | (unit << shift);
        let second = found | (Counts(2u) << shift);
        let third = found | (Counts(3u) << shift);
        var below_first = zero;
        var below_second = zero;
        var below_third = zero;
        for (var frame = 0u; frame < args.frames; frame++) {
            let k = key(products(row + frame, args.frames, args.bins, bin));
            below_first += select(zero, unit, k < first);
            below_second += select(zero, unit, k < second);
            below_third += select(zero, unit, k < third);
        }
        let digit = select(zero, unit, below_first <= rank) + select(zero, unit, below_second <= rank)
            + select(zero, unit, below_third <= rank);
        found |= digit << shift;
    }
    if (args.first_pass + args.passes <= 16u) {
        medians[thread] = found;
        return;
    }
    var most = zero; // values up to the one found
    var above = Counts(0xffffffffu);
    var nans = zero;
    for (var frame = 0u; frame < args.frames; frame++) {
        let v = products(row + frame, args.frames, args.bins, bin);
        let k = key(v);
        most += select(zero, unit, k <= found);
        above = min(above, select(k, Counts(0xffffffffu), k <= found));
        nans += select(zero, unit, is_nan(v));
    }
    let upper = select(above, found, most > Counts(args.frames / 2u));
    let median = 0.5 * unkey(found) + 0.5 * unkey(upper);
    let nan = bitcast<Lanes>(bitcast<Counts>(Lanes(args.infinity)) | Counts(0x400000u));
    medians[thread] = bitcast<Counts>(select(median, nan, nans > zero));
}
