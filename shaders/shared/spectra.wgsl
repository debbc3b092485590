// Spectra of frames in work-group memory, S at a time, T threads each, from samples that are read once: what a thread holds
// of its frame for the first pass of the transform is summed, so that the frame's line is known, then freed of it and
// weighted.
//
// The importing kernel has the cut, a run-time `one`, the factor of samples without weights as `scale` and what `line_of`
// needs as `line` in its arguments; `weights` for each point of the transform, zeros behind the frame; `roots` of the
// passes and `wide` ones, of the degree of the real row.
// dspk:import shared/frame.wgsl
// dspk:import shared/level.wgsl
// dspk:import shared/moments.wgsl
// dspk:import shared/stockham.wgsl

const SPLIT: u32 = 1u; // dspk:specialise 0 1
const WEIGHTED: u32 = 1u; // dspk:specialise 0 1
const FACING: u32 = 0u; // dspk:specialise 0 1

// SPLIT: real rows of even length are transformed as complex ones of half the length, others as they are.
// FACING: a thread has values i and POINTS - i of such a transform, whose halves are taken apart where they are; else they
// go through `memory`, and any thread may take any of them.

const KEPT_NEAR: u32 = 1u + FACING;
const LINEAR: u32 = DETREND / 2u;
// Threads of a frame that sum what all of it have summed.
const LEADS: u32 = 8u;
const LED: u32 = (T + LEADS - 1u) / LEADS;

// Pairs of values that a thread has with FACING: those of its butterflies, and one more of the first thread.
const HALF: u32 = HEAP[LAST] / (2u * T); // of the butterflies of a thread
const FACED: u32 = HALF * RADIX[LAST] + 1u;

const_assert ACROSS == 0u;
const_assert FACING == 0u || SPLIT == 1u;
const_assert LINEAR == 0u || 2u * T <= POINTS;

fn hold(at: u32, sum: vec4<f32>) {
    memory[at] = sum.xy;
    // dspk:fold
    if (LINEAR == 1u) {
        memory[S * T + at] = sum.zw;
    }
}

fn held(at: u32) -> vec4<f32> {
    // dspk:fold
    if (LINEAR == 1u) {
        return vec4<f32>(memory[at], memory[S * T + at]);
    } else {
        return vec4<f32>(memory[at], 0.0, 0.0);
    }
}

// The sum over the threads of a slot.
fn over_threads(sum: vec4<f32>, slot: u32, thread: u32) -> vec4<f32> {
    var all = sum;
    // dspk:fold
    if (T > 1u) {
        let first = slot * T;
        hold(first + thread, all);
        workgroupBarrier();
        // dspk:fold
        if (T > LEADS) {
            if (thread < LEADS) {
                // dspk:unroll
                for (var q = 1u; q < LED; q++) {
                    if (thread + q * LEADS < T) {
                        all = both(all, held(first + thread + q * LEADS));
                    }
                }
                hold(first + thread, all);
            }
            workgroupBarrier();
        }
        all = held(first);
        // dspk:unroll
        for (var q = 1u; q < LEADS; q++) {
            // dspk:fold
            if (q < T) {
                all = both(all, held(first + q));
            }
        }
        workgroupBarrier();
    }
    return all;
}

// What multiplies the points that a thread holds.
fn weigh(w: ptr<function, Points>, thread: u32) {
    // dspk:fold
    if (WEIGHTED == 1u) {
        // dspk:unroll
        for (var c = 0u; c < TURNS0; c++) {
            // dspk:unroll
            for (var m = 0u; m < R0; m++) {
                let i = min(thread + c * T, HEAP[0] - 1u) + m * HEAP[0];
                // dspk:fold
                if (SPLIT == 1u) {
                    (*w)[c * R0 + m] = vec2<f32>(weights[2u * i], weights[2u * i + 1u]);
                } else {
                    (*w)[c * R0 + m] = vec2<f32>(weights[i], 0.0);
                }
            }
        }
    }
}

// Sample i of a frame, or 0 behind it.
fn within(frame: Frame, i: u32) -> f32 {
    return select(0.0, sample(frame.signal, frame.start + i32(i)), i < args.cut.nperseg);
}

// The points of a frame that a thread holds. Nothing may still be read from `memory`.
fn gather(v: ptr<function, Points>, w: ptr<function, Points>, frame: Frame, slot: u32, thread: u32) {
    // dspk:unroll
    for (var c = 0u; c < TURNS0; c++) {
        // dspk:unroll
        for (var m = 0u; m < R0; m++) {
            let i = min(thread + c * T, HEAP[0] - 1u) + m * HEAP[0];
            // dspk:fold
            if (SPLIT == 1u) {
                (*v)[c * R0 + m] = vec2<f32>(within(frame, 2u * i), within(frame, 2u * i + 1u));
            } else {
                (*v)[c * R0 + m] = vec2<f32>(within(frame, i), 0.0);
            }
        }
    }
    // dspk:fold
    if (DETREND > 0u) {
        let origin = sample(frame.signal, frame.start);
        var sum = vec4<f32>(0.0);
        // dspk:unroll
        for (var c = 0u; c < TURNS0; c++) {
            // dspk:unroll
            for (var m = 0u; m < R0; m++) {
                let i = thread + c * T + m * HEAP[0];
                let last = select(0u, args.cut.nperseg, TURNS0 * T == HEAP[0] || thread + c * T < HEAP[0]);
                let p = (*v)[c * R0 + m];
                // dspk:fold
                if (SPLIT == 1u) {
                    sum = both(sum, select(vec4<f32>(0.0), terms(p.x, origin, 2u * i), 2u * i < last));
                    sum = both(sum, select(vec4<f32>(0.0), terms(p.y, origin, 2u * i + 1u), 2u * i + 1u < last));
                } else {
                    sum = both(sum, select(vec4<f32>(0.0), terms(p.x, origin, i), i < last));
                }
            }
        }
        let line = line_of(over_threads(sum, slot, thread), origin, args.line);
        // dspk:unroll
        for (var c = 0u; c < TURNS0; c++) {
            // dspk:unroll
            for (var m = 0u; m < R0; m++) {
                let i = min(thread + c * T, HEAP[0] - 1u) + m * HEAP[0];
                let p = (*v)[c * R0 + m];
                // dspk:fold
                if (SPLIT == 1u) {
                    (*v)[c * R0 + m] = vec2<f32>(level(p.x, line, 2u * i), level(p.y, line, 2u * i + 1u));
                } else {
                    (*v)[c * R0 + m] = vec2<f32>(level(p.x, line, i), 0.0);
                }
            }
        }
    }
    // dspk:unroll
    for (var c = 0u; c < TURNS0; c++) {
        // dspk:unroll
        for (var m = 0u; m < R0; m++) {
            // dspk:fold
            if (WEIGHTED == 1u) {
                (*v)[c * R0 + m] *= (*w)[c * R0 + m];
            } else {
                (*v)[c * R0 + m] *= args.scale;
            }
        }
    }
}

// The root by which values i and POINTS - i are taken apart.
fn root(i: u32) -> vec2<f32> {
    // dspk:fold
    if (SPLIT == 1u) {
        return wide[i];
    } else {
        return vec2<f32>(0.0);
    }
}

// Values i and POINTS - i of the spectrum of a real row; the first and the last of these are real.
fn both_values(a: vec2<f32>, b: vec2<f32>, i: u32, w: vec2<f32>) -> vec4<f32> {
    let pair = 0.5 * apart(a, conjugate(b), w);
    return vec4<f32>(pair.x, select(pair.y, 0.0, i == 0u), pair.z, select(pair.w, 0.0, i == 0u));
}

// Values i, up to POINTS / 2, and, of rows that were split, POINTS - i of the spectrum of a slot.
fn values(slot: u32, i: u32, w: vec2<f32>) -> vec4<f32> {
    let a = memory[place(slot, i)];
    // dspk:fold
    if (SPLIT == 1u) {
        return both_values(a, memory[place(slot, select(POINTS - i, 0u, i == 0u))], i, w);
    } else {
        return vec4<f32>(a.x, select(a.y, 0.0, i == 0u), 0.0, 0.0);
    }
}

// The lower index of pair n of a thread; POINTS where it has none.
fn faced(n: u32, thread: u32) -> u32 {
    let radix = RADIX[LAST];
    let heap = HEAP[LAST];
    if (thread == 0u && (n < radix || n + 1u == FACED)) {
        // Of the first thread, butterflies 0 and heap / 2 each face themselves.
        let q = min(n, radix);
        return select(heap / 2u + (q - radix / 2u - 1u) * heap, q * heap, q <= radix / 2u);
    }
    return select(thread + n / radix * T + n % radix * heap, POINTS, n + 1u == FACED);
}

// Its values.
fn faced_values(v: ptr<function, Points>, n: u32, thread: u32, i: u32, w: vec2<f32>) -> vec4<f32> {
    let radix = RADIX[LAST];
    let c = n / radix % max(HALF, 1u);
    let q = min(n, radix);
    let low = q <= radix / 2u;
    let own = select(HALF, 0u, low);
    let m = select(q - radix / 2u - 1u, q, low);
    let opposite = select(radix - 1u - m, (radix - q) % radix, low);
    let first = thread == 0u && (n < radix || n + 1u == FACED);
    let a = select(result_of(v, c, n % radix), result_of(v, own, m), first);
    let b = select(result_of(v, c + HALF, radix - 1u - n % radix), result_of(v, own, opposite), first);
    return both_values(a, b, i, w);
}
