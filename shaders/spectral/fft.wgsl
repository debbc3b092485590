// Discrete Fourier transforms of POINTS points, one read and one write: Stockham's autosorting passes in work-group
// memory (Cooley and Tukey's factorisation with the transposition spread over the passes; Govindaraju et al., 2008).
//
// A pass of radix R works on butterflies j: it takes the points j + m * POINTS / R, turns them by roots of BEFORE * R
// (the product of the radices so far and this one), transforms them in registers and puts them where the next pass
// finds them in order. A radix is A * B, a butterfly of A points and one of B. T threads make a transform, S transforms
// a work group.
//
// The same step, once more on the outside, makes long transforms: with `columns` > 1 this is one pass, of radix POINTS,
// over rows of POINTS * columns points, `before` the product of the passes so far. Neighbouring columns then share a
// work group (ACROSS), and its threads lie across them where that makes them neighbours in memory.
//
// What comes in (LOAD) and goes out (STORE) differs by problem: complex rows; real rows of even length as complex ones of
// half the length, taken apart at the end (separate); other real rows; and, for lengths with large prime factors,
// Bluestein's convolution with a chirp, whose products are part of the first load and of both last stores.
// dspk:import shared/fold.wgsl
// dspk:import shared/butterflies.wgsl

const A0: u32 = 4u; // dspk:specialise 1 2 3 4 5 7 8 11 13
const B0: u32 = 4u; // dspk:specialise 1 2 3 4 5
const A1: u32 = 4u; // dspk:specialise 1 2 3 4 5 7 8 11 13
const B1: u32 = 1u; // dspk:specialise 1 2 3 4 5
const A2: u32 = 1u; // dspk:specialise 1 2 3 4 5 7 8 11 13
const B2: u32 = 1u; // dspk:specialise 1 2 3 4 5
const A3: u32 = 1u; // dspk:specialise 1 2 3 4 5 7 8 11 13
const B3: u32 = 1u; // dspk:specialise 1 2 3 4 5
const A4: u32 = 1u; // dspk:specialise 1 2 3 4 5 7 8 11 13
const B4: u32 = 1u; // dspk:specialise 1 2 3 4 5
const A5: u32 = 1u; // dspk:specialise 1 2 3 4 5 7 8 11 13
const B5: u32 = 1u; // dspk:specialise 1 2 3 4 5
const T: u32 = 4u; // dspk:specialise 1..1024
const S: u32 = 4u; // dspk:specialise 1..256
const ACROSS: u32 = 0u; // dspk:specialise 0..2
const LOAD: u32 = 1u; // dspk:specialise 0..4
const STORE: u32 = 1u; // dspk:specialise 0..4
const SWAP_IN: u32 = 0u; // dspk:specialise 0 1
const SWAP_OUT: u32 = 0u; // dspk:specialise 0 1
const CHIRP_IN: u32 = 0u; // dspk:specialise 0 1
const CHIRP_OUT: u32 = 0u; // dspk:specialise 0..2
const TURN: u32 = 0u; // dspk:specialise 0 1
const WIDE: u32 = 0u; // dspk:specialise 0..2
const POWERS: u32 = 0u; // dspk:specialise 0 1
const PAD: u32 = 0u; // dspk:specialise 0 1
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

const R0: u32 = A0 * B0;
const R1: u32 = A1 * B1;
const R2: u32 = A2 * B2;
const R3: u32 = A3 * B3;
const R4: u32 = A4 * B4;
const R5: u32 = A5 * B5;
const POINTS: u32 = R0 * R1 * R2 * R3 * R4 * R5;
const FIRST = array<u32, 6>(A0, A1, A2, A3, A4, A5);
const SECOND = array<u32, 6>(B0, B1, B2, B3, B4, B5);
const RADIX = array<u32, 7>(R0, R1, R2, R3, R4, R5, 1u);
const BEFORE = array<u32, 6>(1u, R0, R0 * R1, R0 * R1 * R2, R0 * R1 * R2 * R3, R0 * R1 * R2 * R3 * R4);
const HEAP = array<u32, 6>(POINTS / R0, POINTS / R1, POINTS / R2, POINTS / R3, POINTS / R4, POINTS / R5);
// Butterflies of a pass, and how many of them a thread makes.
const TURNS0: u32 = (POINTS / R0 + T - 1u) / T;
const TURNS1: u32 = (POINTS / R1 + T - 1u) / T;
const TURNS2: u32 = (POINTS / R2 + T - 1u) / T;
const TURNS3: u32 = (POINTS / R3 + T - 1u) / T;
const TURNS4: u32 = (POINTS / R4 + T - 1u) / T;
const TURNS5: u32 = (POINTS / R5 + T - 1u) / T;
const TURNS = array<u32, 6>(TURNS0, TURNS1, TURNS2, TURNS3, TURNS4, TURNS5);
const HELD: u32 = max(max(max(TURNS0 * R0, TURNS1 * R1), max(TURNS2 * R2, TURNS3 * R3)), max(TURNS4 * R4, TURNS5 * R5));
const MEMORY: u32 = S * POINTS + PAD * (S * POINTS / 32u);
const MIRRORED: u32 = (STORE / SEPARATED) * (1u - STORE / SINGLE) * ((ACROSS + 1u) / 2u);
const SHARE: u32 = S / (1u + MIRRORED); // columns of a group, mirrored ones not counted
const LATEST: u32 = POINTS / 2u + MIRRORED * (POINTS - 1u - POINTS / 2u); // of a column, to be separated from a mirrored one

const_assert S * T <= 1024u;
const_assert S * POINTS <= 8192u;
const_assert POINTS <= 32u * T && T <= POINTS;
const_assert R0 <= 16u || R0 == 32u;
const_assert R1 <= 16u || R1 == 32u;
const_assert R2 <= 16u || R2 == 32u;
const_assert R3 <= 16u || R3 == 32u;
const_assert R4 <= 16u || R4 == 32u;
const_assert R5 <= 16u || R5 == 32u;
const_assert R0 > 1u || R1 == 1u;
const_assert R1 > 1u || R2 == 1u;
const_assert R2 > 1u || R3 == 1u;
const_assert R3 > 1u || R4 == 1u;
const_assert R4 > 1u || R5 == 1u;
const_assert SHARE * (1u + MIRRORED) == S;
const_assert STORE != SINGLE || WIDTH == 1u;
const_assert STORE == SINGLE || WIDTH == 2u;

alias Points = array<vec2<f32>, HELD>;
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

var<workgroup> memory: array<vec2<f32>, MEMORY>;

// Where point i of a slot stands.
fn place(slot: u32, i: u32) -> u32 {
    let at = select(slot * POINTS + i, i * S + slot, ACROSS > 0u);
    return at + PAD * (at / 32u);
}

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

fn conjugate(v: vec2<f32>) -> vec2<f32> {
    return vec2<f32>(v.x, -v.y);
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

// Lays a slot and a thread of it over the lanes.
fn along(lane: u32) -> vec2<u32> {
    return vec2<u32>(lane / T, lane % T);
}

fn across(lane: u32) -> vec2<u32> {
    return vec2<u32>(lane % S, lane / S);
}

// The spectrum X of a real row from the one Z of its even samples plus i times its odd ones: with e and o the even and the
// odd part of Z in k, X[k] = e - i w o and X[points - k] the conjugate of e + i w o, w a root of the row's own degree.
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
            let even = a + b;
            let odd = turned(times(a - b, wide_root(k)));
            let row = (args.first_out + place_of.x) * args.out_pitch;
            // The first and the last value are real, even of rows that are not finite.
            let whole = vec2<bool>(true, k > 0u);
            put(row + k, select(vec2<f32>(0.0), (even + odd) * args.scale, whole));
            put(row + args.points - k, select(vec2<f32>(0.0), conjugate(even - odd) * args.scale, whole));
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
    // dspk:unroll
    for (var p = 0u; p < 6u; p++) {
        // dspk:fold
        if (p == 0u || RADIX[p] > 1u) {
            let lies = select(along(lane), across(lane), ACROSS == 2u || (ACROSS == 1u && p == 0u));
            let slot = lies.x;
            let place_of = whereabouts(group, slot);
            let live = group * SHARE + slot % SHARE < args.count;
            // dspk:unroll
            for (var c = 0u; c < TURNS[p]; c++) {
                let j = min(lies.y + c * T, HEAP[p] - 1u);
                // dspk:unroll
                for (var m = 0u; m < RADIX[p]; m++) {
                    // dspk:fold
                    if (p == 0u) {
                        let i = j + m * HEAP[p];
                        v[c * RADIX[p] + m] = ready(place_of.x, place_of.y + i * args.columns, place_of.y, i);
                    } else {
                        v[c * RADIX[p] + m] = memory[place(slot, j + m * HEAP[p])];
                    }
                }
                // dspk:fold
                if (p > 0u) {
                    let base = BEFORE[p] - 1u + j % BEFORE[p];
                    var w: array<vec2<f32>, 32>;
                    // dspk:unroll
                    for (var m = 1u; m < RADIX[p]; m++) {
                        // dspk:fold
                        if (POWERS == 0u || m == 1u || m == 2u || m == 4u || m == 8u || m == 16u) {
                            w[m] = roots[base + (m - 1u) * BEFORE[p]];
                        } else {
                            // dspk:fold
                            if (m > 16u) {
                                w[m] = times(w[16], w[m - 16u]);
                            } else {
                                // dspk:fold
                                if (m > 8u) {
                                    w[m] = times(w[8], w[m - 8u]);
                                } else {
                                    // dspk:fold
                                    if (m > 4u) {
                                        w[m] = times(w[4], w[m - 4u]);
                                    } else {
                                        w[m] = times(w[2], w[1]);
                                    }
                                }
                            }
                        }
                        v[c * RADIX[p] + m] = times(v[c * RADIX[p] + m], w[m]);
                    }
                }
                // The radix: butterflies of A points, roots between, butterflies of B points.
                // dspk:unroll
                for (var part = 0u; part < SECOND[p]; part++) {
                    // dspk:fold
                    if (FIRST[p] == 2u) {
                        dft2(&v, c * RADIX[p] + part, SECOND[p]);
                    }
                    // dspk:fold
                    if (FIRST[p] == 3u) {
                        dft3(&v, c * RADIX[p] + part, SECOND[p]);
                    }
                    // dspk:fold
                    if (FIRST[p] == 4u) {
                        dft4(&v, c * RADIX[p] + part, SECOND[p]);
                    }
                    // dspk:fold
                    if (FIRST[p] == 5u) {
                        dft5(&v, c * RADIX[p] + part, SECOND[p]);
                    }
                    // dspk:fold
                    if (FIRST[p] == 7u) {
                        dft7(&v, c * RADIX[p] + part, SECOND[p]);
                    }
                    // dspk:fold
                    if (FIRST[p] == 8u) {
                        dft8(&v, c * RADIX[p] + part, SECOND[p]);
                    }
                    // dspk:fold
                    if (FIRST[p] == 11u) {
                        dft11(&v, c * RADIX[p] + part, SECOND[p]);
                    }
                    // dspk:fold
                    if (FIRST[p] == 13u) {
                        dft13(&v, c * RADIX[p] + part, SECOND[p]);
                    }
                }
                // dspk:fold
                if (SECOND[p] > 1u) {
                    // dspk:unroll
                    for (var k = 0u; k < FIRST[p]; k++) {
                        // dspk:unroll
                        for (var b = 1u; b < SECOND[p]; b++) {
                            // dspk:fold
                            if (k > 0u) {
                                // dspk:fold
                                if (RADIX[p] == 32u) {
                                    v[c * RADIX[p] + SECOND[p] * k + b] =
                                        times(v[c * RADIX[p] + SECOND[p] * k + b], ROOTS[136u + b * k]);
                                } else {
                                    v[c * RADIX[p] + SECOND[p] * k + b] =
                                        times(v[c * RADIX[p] + SECOND[p] * k + b], ROOTS[RADIX[p] * (RADIX[p] - 1u) / 2u + b * k]);
                                }
                            }
                        }
                        // dspk:fold
                        if (SECOND[p] == 2u) {
                            dft2(&v, c * RADIX[p] + SECOND[p] * k, 1u);
                        }
                        // dspk:fold
                        if (SECOND[p] == 3u) {
                            dft3(&v, c * RADIX[p] + SECOND[p] * k, 1u);
                        }
                        // dspk:fold
                        if (SECOND[p] == 4u) {
                            dft4(&v, c * RADIX[p] + SECOND[p] * k, 1u);
                        }
                        // dspk:fold
                        if (SECOND[p] == 5u) {
                            dft5(&v, c * RADIX[p] + SECOND[p] * k, 1u);
                        }
                    }
                }
            }
            // dspk:fold
            if (p > 0u && (RADIX[p + 1u] > 1u || STORE == SEPARATED)) {
                // All have read before any writes.
                workgroupBarrier();
            }
            // dspk:unroll
            for (var c = 0u; c < TURNS[p]; c++) {
                let j = lies.y + c * T;
                let target_of = (j / BEFORE[p]) * (BEFORE[p] * RADIX[p]) + j % BEFORE[p];
                if (TURNS[p] * T == HEAP[p] || j < HEAP[p]) {
                    // dspk:unroll
                    for (var m = 0u; m < RADIX[p]; m++) {
                        let i = target_of + m * BEFORE[p];
                        let result = v[c * RADIX[p] + SECOND[p] * (m % FIRST[p]) + m / FIRST[p]];
                        // dspk:fold
                        if (RADIX[p + 1u] > 1u || STORE == SEPARATED) {
                            memory[place(slot, i)] = result;
                        } else {
                            if (live) {
                                store(place_of.x, outside(place_of.y, i), result);
                            }
                        }
                    }
                }
            }
            // dspk:fold
            if (RADIX[p + 1u] > 1u || STORE == SEPARATED) {
                workgroupBarrier();
            }
        }
    }
    // dspk:fold
    if (STORE == SEPARATED) {
        separate(group, lane);
    }
    // dspk:fold
    if (STORE != PLAIN) {
        finish(group, lane);
    }
}
