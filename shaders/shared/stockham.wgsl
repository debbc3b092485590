// Discrete Fourier transforms of POINTS points in work-group memory: Stockham's autosorting passes (Cooley and Tukey's
// factorisation with the transposition spread over the passes; Govindaraju et al., 2008).
//
// A pass of radix R works on butterflies j: it takes the points j + m * POINTS / R, turns them by roots of BEFORE * R
// (the product of the radices so far and this one), transforms them in registers and puts them where the next pass
// finds them in order. A radix is A * B, a butterfly of A points and one of B. T threads make a transform, S transforms
// a work group.
//
// The importing kernel has the roots as `roots` and says where results go: with KEPT_NEAR = 1 they stay in `memory`, with 2
// where they are, else it takes each by `deliver(group, slot, i, result)`. Where they are: of the butterflies of a thread in
// the last pass, the second half are the mirrors of the first, so that of results i and POINTS - i it has both.
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
const POWERS: u32 = 0u; // dspk:specialise 0 1
const PAD: u32 = 0u; // dspk:specialise 0 1

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
// The last pass.
const LAST: u32 = (2u * R1 - 2u) / R1 + (2u * R2 - 2u) / R2 + (2u * R3 - 2u) / R3 + (2u * R4 - 2u) / R4 + (2u * R5 - 2u) / R5;
const MEMORY: u32 = S * POINTS + PAD * (S * POINTS / 32u);

const_assert S * T <= 1024u;
const_assert S * POINTS <= 8192u;
const_assert POINTS <= 32u * T && T <= POINTS;
const_assert R0 <= 16u || R0 == 32u;
const_assert R1 <= 16u || R1 == 32u;
const_assert R2 <= 16u || R2 == 32u;
const_assert R3 <= 16u || R3 == 32u;
const_assert R4 <= 16u || R4 == 32u;
const_assert R5 <= 16u || R5 == 32u;
const_assert KEPT_NEAR < 2u || (LAST > 0u && TURNS[LAST] % 2u == 0u && TURNS[LAST] * T == HEAP[LAST]);
const_assert R0 > 1u || R1 == 1u;
const_assert R1 > 1u || R2 == 1u;
const_assert R2 > 1u || R3 == 1u;
const_assert R3 > 1u || R4 == 1u;
const_assert R4 > 1u || R5 == 1u;

alias Points = array<vec2<f32>, HELD>;

var<workgroup> memory: array<vec2<f32>, MEMORY>;

// Where point i of a slot stands.
fn place(slot: u32, i: u32) -> u32 {
    let at = select(slot * POINTS + i, i * S + slot, ACROSS > 0u);
    return at + PAD * (at / 32u);
}

fn conjugate(v: vec2<f32>) -> vec2<f32> {
    return vec2<f32>(v.x, -v.y);
}

// The values k and points - k of the spectrum of a real row, twice as large, from those of the spectrum Z of its even
// samples plus i times its odd ones, the second conjugated: with e and o the even and the odd part of Z in k they are
// e - i w o and the conjugate of e + i w o, w the root k of the row's own degree.
fn apart(a: vec2<f32>, b: vec2<f32>, w: vec2<f32>) -> vec4<f32> {
    let even = a + b;
    let odd = turned(times(a - b, w));
    return vec4<f32>(even + odd, conjugate(even - odd));
}

// Lays a slot and a thread of it over the lanes.
fn along(lane: u32) -> vec2<u32> {
    return vec2<u32>(lane / T, lane % T);
}

fn across(lane: u32) -> vec2<u32> {
    return vec2<u32>(lane % S, lane / S);
}

// Transforms what the threads hold for the first pass: point j + m * POINTS / R in `c * R + m`, j the thread's butterfly c.
// Before, no thread may still read `memory`; where results stay there, all have been written afterwards.
fn transform(v: ptr<function, Points>, group: u32, lane: u32) {
    // dspk:unroll
    for (var p = 0u; p < 6u; p++) {
        // dspk:fold
        if (p == 0u || RADIX[p] > 1u) {
            let lies = select(along(lane), across(lane), ACROSS == 2u || (ACROSS == 1u && p == 0u));
            let slot = lies.x;
            // dspk:unroll
            for (var c = 0u; c < TURNS[p]; c++) {
                var j = min(lies.y + c * T, HEAP[p] - 1u);
                // dspk:fold
                if (KEPT_NEAR == 2u && p == LAST && 2u * c >= TURNS[p]) {
                    let mirrored = lies.y + c * T - HEAP[p] / 2u;
                    j = select(HEAP[p] - mirrored, HEAP[p] / 2u, mirrored == 0u);
                }
                // dspk:fold
                if (p > 0u) {
                    // dspk:unroll
                    for (var m = 0u; m < RADIX[p]; m++) {
                        (*v)[c * RADIX[p] + m] = memory[place(slot, j + m * HEAP[p])];
                    }
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
                        (*v)[c * RADIX[p] + m] = times((*v)[c * RADIX[p] + m], w[m]);
                    }
                }
                // The radix: butterflies of A points, roots between, butterflies of B points.
                // dspk:unroll
                for (var part = 0u; part < SECOND[p]; part++) {
                    // dspk:fold
                    if (FIRST[p] == 2u) {
                        dft2(v, c * RADIX[p] + part, SECOND[p]);
                    }
                    // dspk:fold
                    if (FIRST[p] == 3u) {
                        dft3(v, c * RADIX[p] + part, SECOND[p]);
                    }
                    // dspk:fold
                    if (FIRST[p] == 4u) {
                        dft4(v, c * RADIX[p] + part, SECOND[p]);
                    }
                    // dspk:fold
                    if (FIRST[p] == 5u) {
                        dft5(v, c * RADIX[p] + part, SECOND[p]);
                    }
                    // dspk:fold
                    if (FIRST[p] == 7u) {
                        dft7(v, c * RADIX[p] + part, SECOND[p]);
                    }
                    // dspk:fold
                    if (FIRST[p] == 8u) {
                        dft8(v, c * RADIX[p] + part, SECOND[p]);
                    }
                    // dspk:fold
                    if (FIRST[p] == 11u) {
                        dft11(v, c * RADIX[p] + part, SECOND[p]);
                    }
                    // dspk:fold
                    if (FIRST[p] == 13u) {
                        dft13(v, c * RADIX[p] + part, SECOND[p]);
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
                                    (*v)[c * RADIX[p] + SECOND[p] * k + b] =
                                        times((*v)[c * RADIX[p] + SECOND[p] * k + b], ROOTS[136u + b * k]);
                                } else {
                                    (*v)[c * RADIX[p] + SECOND[p] * k + b] =
                                        times((*v)[c * RADIX[p] + SECOND[p] * k + b], ROOTS[RADIX[p] * (RADIX[p] - 1u) / 2u + b * k]);
                                }
                            }
                        }
                        // dspk:fold
                        if (SECOND[p] == 2u) {
                            dft2(v, c * RADIX[p] + SECOND[p] * k, 1u);
                        }
                        // dspk:fold
                        if (SECOND[p] == 3u) {
                            dft3(v, c * RADIX[p] + SECOND[p] * k, 1u);
                        }
                        // dspk:fold
                        if (SECOND[p] == 4u) {
                            dft4(v, c * RADIX[p] + SECOND[p] * k, 1u);
                        }
                        // dspk:fold
                        if (SECOND[p] == 5u) {
                            dft5(v, c * RADIX[p] + SECOND[p] * k, 1u);
                        }
                    }
                }
            }
            // dspk:fold
            if (p > 0u && (RADIX[p + 1u] > 1u || KEPT_NEAR == 1u)) {
                // All have read before any writes.
                workgroupBarrier();
            }
            // dspk:fold
            if (KEPT_NEAR < 2u || p < LAST) {
                // dspk:unroll
                for (var c = 0u; c < TURNS[p]; c++) {
                    let j = lies.y + c * T;
                    let target_of = (j / BEFORE[p]) * (BEFORE[p] * RADIX[p]) + j % BEFORE[p];
                    if (TURNS[p] * T == HEAP[p] || j < HEAP[p]) {
                        // dspk:unroll
                        for (var m = 0u; m < RADIX[p]; m++) {
                            let i = target_of + m * BEFORE[p];
                            let result = (*v)[c * RADIX[p] + SECOND[p] * (m % FIRST[p]) + m / FIRST[p]];
                            // dspk:fold
                            if (RADIX[p + 1u] > 1u || KEPT_NEAR == 1u) {
                                memory[place(slot, i)] = result;
                            } else {
                                deliver(group, slot, i, result);
                            }
                        }
                    }
                }
            }
            // dspk:fold
            if (RADIX[p + 1u] > 1u || KEPT_NEAR == 1u) {
                workgroupBarrier();
            }
        }
    }
}

// Result m of butterfly c of the last pass, where it is.
fn result_of(v: ptr<function, Points>, c: u32, m: u32) -> vec2<f32> {
    return (*v)[c * RADIX[LAST] + SECOND[LAST] * (m % FIRST[LAST]) + m / FIRST[LAST]];
}
