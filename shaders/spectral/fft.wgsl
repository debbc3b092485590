// Discrete Fourier transforms of POINTS points, one read and one write: the passes of shared/stockham.wgsl.
//
// The step of a pass, once more on the outside, makes long transforms: with `columns` > 1 this is one pass, of radix POINTS,
// over rows of POINTS * columns points, `before` the product of the passes so far. Neighbouring columns then share a
// work group (ACROSS), and its threads lie across them where that makes them neighbours in memory.
//
// What comes in (LOAD) and goes out (STORE) differs by problem: complex rows; real rows of even length as complex ones of
// half the length, taken apart at the end (separate); other real rows; and, for lengths with large prime factors,
// Bluestein's convolution with a chirp, whose products are part of the first load and of both last stores.
// dspk:import shared/fold.wgsl
// dspk:import shared/stockham.wgsl

const LOAD: u32 = 1u; // dspk:specialise 0..4
const STORE: u32 = 1u; // dspk:specialise 0..4
const SWAP_IN: u32 = 0u; // dspk:specialise 0 1
const SWAP_OUT: u32 = 0u; // dspk:specialise 0 1
const CHIRP_IN: u32 = 0u; // dspk:specialise 0 1
const CHIRP_OUT: u32 = 0u; // dspk:specialise 0..2
const TURN: u32 = 0u; // dspk:specialise 0 1
const WIDE: u32 = 0u; // dspk:specialise 0..2
const WIDTH: u32 = 2u; // dspk:specialise 1 2

// LOAD
const PLAIN: u32 = 0u;
const COMPLEX: u32 = 1u; // cut or padded with zeros
const REAL: u32 = 2u; // one real value a point
const HALF: u32 = 3u; // a one-sided spectrum, to be a complex row of half the length
const SIDED: u32 = 4u; // a one-sided spectrum, to be a row of the full length
// STORE: also PLAIN and, scaled, COMPLEX
const LOWER: u32 = 2u; // the lower half, middle included
const SEPARATED: u32 = 3u; // the spectrum of the real row that came as a complex one of half the length
const SINGLE: u32 = 4u; // real parts
// CHIRP_OUT
const CHIRP: u32 = 1u; // a chirp on the result
const SPECTRUM: u32 = 2u; // the chirp's spectrum, in the middle of the convolution

// Results of the last pass stay near to be taken apart.
const KEPT_NEAR: u32 = (STORE / SEPARATED) * (1u - STORE / SINGLE);
const MIRRORED: u32 = KEPT_NEAR * ((ACROSS + 1u) / 2u);
const SHARE: u32 = S / (1u + MIRRORED); // columns of a group, mirrored ones not counted
const LATEST: u32 = POINTS / 2u + MIRRORED * (POINTS - 1u - POINTS / 2u); // of a column, to be separated from a mirrored one

const_assert SHARE * (1u + MIRRORED) == S;
const_assert STORE != SINGLE || WIDTH == 1u;
const_assert STORE == SINGLE || WIDTH == 2u;

alias Out = vec2<f32>; // dspk:vector WIDTH

struct FftArgs {
    count: u32, // transforms; mirrored ones count together
    units: u32, // of them in a row
    columns: u32, // of a row
    before: u32, // product of the radices of earlier passes over a row
    points: u32, // of a row
    n: u32, // length of the transform that was asked for
    samples: u32, // floats of an input row that count
    in_pitch: u32, // pairs of floats between input rows
    out_pitch: u32, // values between output rows
    length: u32, // values of an output row
    turn: u32, // by which the degree of the wide roots exceeds that of this pass's
    low_bits: u32, // of an index of the wide roots
    scale: f32,
    first_in: u32, // row
    first_out: u32, // row
    unused: u32,
}

@group(0) @binding(0) var<uniform> args: FftArgs;
@group(0) @binding(1) var<storage, read> roots: array<vec2<f32>>;
@group(0) @binding(2) var<storage, read> wide: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read> chirp: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read> spectrum: array<vec2<f32>>;
@group(0) @binding(5) var<storage, read> x: array<vec2<f32>>;
@group(0) @binding(6) var<storage, read_write> y: array<Out>;

// A root of the whole row's degree.
fn wide_root(m: u32) -> vec2<f32> {
    // dspk:fold
    if (WIDE == 2u) {
        let low = m & ((1u << args.low_bits) - 1u);
        return times(wide[low], wide[(1u << args.low_bits) + (m >> args.low_bits)]);
    } else {
        return wide[m];
    }
}

// Complex value k of an input row; zero where the row has ended.
fn value(row: u32, k: u32) -> vec2<f32> {
    let v = x[(args.first_in + row) * args.in_pitch + min(k, args.in_pitch - 1u)];
    return select(vec2<f32>(0.0), v, vec2<u32>(2u * k, 2u * k + 1u) < vec2<u32>(args.samples));
}

// Point k of a row.
fn load(row: u32, k: u32) -> vec2<f32> {
    var v = vec2<f32>(0.0);
    // dspk:fold
    if (LOAD == PLAIN) {
        v = x[(args.first_in + row) * args.in_pitch + k];
    }
    // dspk:fold
    if (LOAD == COMPLEX) {
        v = value(row, k);
    }
    // dspk:fold
    if (LOAD == REAL) {
        let pair = x[(args.first_in + row) * args.in_pitch + min(k / 2u, args.in_pitch - 1u)];
        v.x = select(0.0, select(pair.x, pair.y, k % 2u == 1u), k < args.samples);
    }
    // dspk:fold
    if (LOAD == HALF) {
        var a = value(row, k);
        var b = conjugate(value(row, args.points - k));
        if (k == 0u) {
            a.y = 0.0;
            b.y = 0.0;
        }
        // a + b are the even samples, (a - b) turned back the odd ones.
        v = a + b - turned(times(a - b, conjugate(wide_root(k))));
    }
    // dspk:fold
    if (LOAD == SIDED) {
        let upper = k > args.n / 2u;
        let bin = select(k, args.n - min(k, args.n), upper);
        v = value(row, bin);
        if (bin == 0u || 2u * bin == args.n) {
            v.y = 0.0;
        }
        v = select(v, conjugate(v), upper);
    }
    return v;
}

// Point k of a row, ready for this pass, in which it has this index.
fn ready(row: u32, k: u32, column: u32, index: u32) -> vec2<f32> {
    var v = load(row, k);
    // dspk:fold
    if (SWAP_IN == 1u) {
        v = v.yx;
    }
    // dspk:fold
    if (CHIRP_IN == 1u) {
        v = select(vec2<f32>(0.0), times(v, chirp[min(k, args.n - 1u)]), k < args.n);
    }
    // dspk:fold
    if (TURN == 1u) {
        v = times(v, wide_root(index * (column % args.before) * args.turn));
    }
    return v;
}

fn put(at: u32, v: vec2<f32>) {
    // dspk:fold
    if (WIDTH == 1u) {
        y[at] = Out(v.x);
    } else {
        y[at] = v;
    }
}

// Value k of an output row.
fn store(row: u32, k: u32, result: vec2<f32>) {
    var v = result;
    // dspk:fold
    if (CHIRP_OUT == SPECTRUM) {
        // The inverse transform that follows is a forward one between two exchanges of real and imaginary parts.
        v = times(v, spectrum[k]).yx;
    }
    // dspk:fold
    if (CHIRP_OUT == CHIRP) {
        v = times(v.yx, chirp[min(k, args.n - 1u)]);
    }
    // dspk:fold
    if (SWAP_OUT == 1u) {
        v = v.yx;
    }
    // dspk:fold
    if (STORE == PLAIN) {
        put((args.first_out + row) * args.out_pitch + k, v);
    } else {
        // dspk:fold
        if (STORE == LOWER) {
            v.y = select(v.y, 0.0, k == 0u || 2u * k == args.n);
        }
        if (k < args.length) {
            put((args.first_out + row) * args.out_pitch + k, v * args.scale);
        }
    }
}

// Row and column of a slot of a group.
fn whereabouts(group: u32, slot: u32) -> vec2<u32> {
    let unit = min(group * SHARE + slot % SHARE, args.count - 1u);
    let column = unit % args.units;
    return vec2<u32>(unit / args.units, select(column, (args.columns - column) % args.columns, slot >= SHARE));
}

// Where result i of a column belongs in its row.
fn outside(column: u32, i: u32) -> u32 {
    let k = column % args.before;
    return (column - k) * POINTS + k + i * args.before;
}

// Result i of a slot.
fn deliver(group: u32, slot: u32, i: u32, result: vec2<f32>) {
    let place_of = whereabouts(group, slot);
    if (group * SHARE + slot % SHARE < args.count) {
        store(place_of.x, outside(place_of.y, i), result);
    }
}

// The spectra of real rows from those of their halves.
fn separate(group: u32, lane: u32) {
    let slot = select(lane / T, lane % SHARE, MIRRORED == 1u);
    let thread = select(lane % T, lane / SHARE, MIRRORED == 1u);
    let place_of = whereabouts(group, slot);
    if (group * SHARE + slot >= args.count) {
        return;
    }
    let own = (args.columns - place_of.y) % args.columns == place_of.y; // its own mirror
    for (var i = thread; i <= LATEST; i += T * (1u + MIRRORED)) {
        let k = place_of.y + i * args.before;
        if (!own || 2u * k <= args.points) {
            let opposite = select(POINTS - 1u - i, (POINTS - i) % POINTS, place_of.y == 0u);
            let a = memory[place(slot, i)];
            let b = conjugate(memory[place(select(slot, slot + SHARE, MIRRORED == 1u), opposite)]);
            let both = apart(a, b, wide_root(k)) * args.scale;
            let row = (args.first_out + place_of.x) * args.out_pitch;
            // The first and the last value are real, even of rows that are not finite.
            let whole = vec2<bool>(true, k > 0u);
            put(row + k, select(vec2<f32>(0.0), both.xy, whole));
            put(row + args.points - k, select(vec2<f32>(0.0), both.zw, whole));
        }
    }
}

// Padding is finite.
fn finish(group: u32, lane: u32) {
    let lies = along(lane);
    let place_of = whereabouts(group, lies.x);
    if (place_of.y == 0u && lies.x < SHARE) {
        for (var k = args.length + lies.y; k < args.out_pitch; k += T) {
            put((args.first_out + place_of.x) * args.out_pitch + k, vec2<f32>(0.0));
        }
    }
}

@compute @workgroup_size(S * T)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) size: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    // Indices count pairs of floats of a binding, below 2^30; indices of roots stay below a row's points.
    let group = flat_group(id, size);
    if (group * SHARE >= args.count) {
        return;
    }
    var v: Points;
    let lies = select(along(lane), across(lane), ACROSS > 0u);
    let place_of = whereabouts(group, lies.x);
    // dspk:unroll
    for (var c = 0u; c < TURNS0; c++) {
        let j = min(lies.y + c * T, HEAP[0] - 1u);
        // dspk:unroll
        for (var m = 0u; m < R0; m++) {
            let i = j + m * HEAP[0];
            v[c * R0 + m] = ready(place_of.x, place_of.y + i * args.columns, place_of.y, i);
        }
    }
    transform(&v, group, lane);
    // dspk:fold
    if (STORE == SEPARATED) {
        separate(group, lane);
    }
    // dspk:fold
    if (STORE != PLAIN) {
        finish(group, lane);
    }
}
