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

// SPLIT: real rows of even length are transformed as complex ones of half the length, others as they are.

const KEPT_NEAR: u32 = 1u;
const LINEAR: u32 = DETREND / 2u;
// Threads of a frame that sum what all of it have summed.
const LEADS: u32 = 8u;
const LED: u32 = (T + LEADS - 1u) / LEADS;

const_assert ACROSS == 0u;
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

// Values i and, of rows that were split, POINTS - i of the spectrum of a slot; the first and the last of these are real.
fn values(slot: u32, i: u32) -> vec4<f32> {
    let a = memory[place(slot, i)];
    // dspk:fold
    if (SPLIT == 1u) {
        let b = conjugate(memory[place(slot, select(POINTS - i, 0u, i == 0u))]);
        let pair = 0.5 * apart(a, b, wide[i]);
        return vec4<f32>(pair.x, select(pair.y, 0.0, i == 0u), pair.z, select(pair.w, 0.0, i == 0u));
    } else {
        return vec4<f32>(a.x, select(a.y, 0.0, i == 0u), 0.0, 0.0);
    }
}
