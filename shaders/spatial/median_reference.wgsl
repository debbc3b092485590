// Common median: every channel minus the median of its part's sources. Exact.
//
// A thread owns VEC neighbouring samples and reads the source channels again for each pass. A pass counts the values
// below a pivot and finds their largest and the smallest of the others; once the count is half, those two are the middle
// values. Pivots come from the mean and spread first, then from a secant between the bounds. Bounds are always values of
// the data, so ties end a search at once; after BISECT passes pivots halve the bounds' order keys, which ends within 32.
// dspk:import shared/fold.wgsl
// dspk:import shared/parts.wgsl
// dspk:import shared/order.wgsl

const WG: u32 = 32u; // dspk:tune 8 32 64 128
const VEC: u32 = 2u; // dspk:tune 1 2 4
const ROWS: u32 = 4u; // dspk:tune 4 8 16
const OMIT: u32 = 0u; // dspk:specialise 0 1
const BISECT: u32 = 9u;
const PASSES: u32 = 44u;

struct MedianArgs {
    parts: u32,
    tiles: u32,
    pitch: u32, // in vectors of VEC samples
    infinity: f32,
}

@group(0) @binding(0) var<uniform> args: MedianArgs;
@group(0) @binding(1) var<storage, read> parts: array<Part>;
@group(0) @binding(2) var<storage, read> list: array<u32>;
@group(0) @binding(3) var<storage, read> x: array<Lanes>;
@group(0) @binding(4) var<storage, read_write> y: array<Lanes>;

struct Moments {
    sum: Lanes,
    squares: Lanes,
    nans: Counts,
}

struct Tally {
    count: Counts,
    below: Lanes,
    above: Lanes,
}

// A value of the segment, in whose binding indices stay below 2^30. With OMIT a NaN counts as larger than all.
fn load(place: u32, column: u32) -> Lanes {
    let v = x[channel(place) * args.pitch + column];
    if (OMIT == 1u) {
        return select(v, Lanes(args.infinity), is_nan(v));
    }
    return v;
}

fn measure(m: Moments, place: u32, column: u32) -> Moments {
    let v = x[channel(place) * args.pitch + column];
    let nan = is_nan(v);
    var w = v;
    if (OMIT == 1u) {
        w = select(v, Lanes(0.0), nan);
    }
    return Moments(m.sum + w, fma(w, w, m.squares), m.nans + select(Counts(0u), Counts(1u), nan));
}

fn tally(t: Tally, v: Lanes, pivot: Lanes) -> Tally {
    let less = v < pivot;
    return Tally(
        t.count + select(Counts(0u), Counts(1u), less),
        select(t.below, v, less & (v > t.below)),
        select(t.above, v, (v < t.above) & !less),
    );
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
    let column = (group % args.tiles) * WG + lane;
    if (column >= args.pitch) {
        return;
    }
    let infinity = Lanes(args.infinity);
    let whole = part.sources / ROWS * ROWS;

    var moments = Moments(Lanes(0.0), Lanes(0.0), Counts(0u));
    for (var i = 0u; i < whole; i += ROWS) {
        // dspk:unroll
        for (var r = 0u; r < ROWS; r++) {
            moments = measure(moments, part.source + i + r, column);
        }
    }
    for (var i = whole; i < part.sources; i++) {
        moments = measure(moments, part.source + i, column);
    }
    var n = Counts(part.sources);
    var hopeless = moments.nans > Counts(0u);
    if (OMIT == 1u) {
        n -= moments.nans;
        hopeless = n == Counts(0u);
    }
    let middle = n / Counts(2u);
    let total = Lanes(n);
    let average = moments.sum / total;
    // One value in so many lies within this distance of the median of a normal distribution.
    let spacing = sqrt(max(moments.squares / total - average * average, Lanes(0.0))) * (Lanes(2.75) / total);

    var low = -infinity;
    var high = infinity;
    var low_count = Lanes(0.0);
    var high_count = total;
    var low_known = Flags(false);
    var high_known = Flags(false);
    var pivot = average;
    var median = Lanes(0.0);
    var done = hopeless | Flags(part.sources == 0u);
    for (var pass_index = 0u; pass_index < PASSES; pass_index++) {
        if (all(done)) {
            break;
        }
        let usable = (pivot > low) & (pivot <= high);
        let low_key = key(low);
        pivot = select(unkey(low_key + (key(high) - low_key + Counts(1u)) / Counts(2u)), pivot, usable);
        var t = Tally(Counts(0u), -infinity, infinity);
        for (var i = 0u; i < whole; i += ROWS) {
            // dspk:unroll
            for (var r = 0u; r < ROWS; r++) {
                t = tally(t, load(part.source + i + r, column), pivot);
            }
        }
        for (var i = whole; i < part.sources; i++) {
            t = tally(t, load(part.source + i, column), pivot);
        }
        let hit = (t.count == middle) & !done;
        let over = (t.count > middle) & !done;
        let under = (t.count < middle) & !done;
        let even = (n & Counts(1u)) == Counts(0u);
        median = select(median, select(t.above, 0.5 * t.below + 0.5 * t.above, even), hit);
        high = select(high, t.below, over);
        high_count = select(high_count, Lanes(t.count), over);
        high_known = high_known | over;
        low = select(low, t.above, under);
        low_count = select(low_count, Lanes(t.count), under);
        low_known = low_known | under;
        done = done | hit;
        let met = (low >= high) & !done;
        median = select(median, low, met);
        done = done | met;
        let target_count = Lanes(middle);
        let secant = low + (target_count - low_count) / (high_count - low_count) * (high - low);
        let step = pivot - (Lanes(t.count) - target_count) * spacing;
        pivot = select(step, secant, low_known & high_known);
        if (pass_index >= BISECT) {
            // Out of bounds, so that the next pivot halves the keys.
            pivot = -infinity;
        }
    }
    let nan = bitcast<Lanes>(bitcast<Counts>(infinity) | Counts(0x400000u));
    median = select(median, nan, hopeless & Flags(part.sources > 0u));

    let members = part.members / ROWS * ROWS;
    for (var i = 0u; i < members; i += ROWS) {
        // dspk:unroll
        for (var r = 0u; r < ROWS; r++) {
            let at = channel(part.member + i + r) * args.pitch + column;
            y[at] = x[at] - median;
        }
    }
    for (var i = members; i < part.members; i++) {
        let at = channel(part.member + i) * args.pitch + column;
        y[at] = x[at] - median;
    }
}
