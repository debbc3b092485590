// Sections of a cascade as delta operators, and what a run of samples makes of their states. The importing kernel has a
// run-time `one` in its arguments and the sections in `sections`.
//
// Sections are delta operators: with w1 = s1 and w2 = s1 + s2 for scipy's states s,
//     y = b0 x + w1,  w1 += w2 + d1 x - e1 y,  w2 += d2 x - e2 y,
// where d1 = 2 b0 + b1, d2 = b0 + b1 + b2, e1 = 2 + a1, e2 = 1 + a1 + a2. Poles near z = 1 make e1 and e2 small, and
// small numbers are what float32 is good at. A section whose poles lie left of the imaginary axis is mirrored: modulating
// by (-1)^n moves them there. Its states change sign each sample (w2 = s1 - s2, d1 = 2 b0 - b1, ...), which `sign` does
// for it: -1 for a mirrored section, 1 for others. COMPENSATED keeps the rounding error of each state.
//
// WIDE computes everything in pairs of floats, for poles that are far from both ends of the axis and close to the circle.
// dspk:import shared/double_single.wgsl

const SECTIONS: u32 = 2u; // dspk:specialise 1..16
const COMPENSATED: u32 = 1u; // dspk:specialise 0 1
const MIRROR: u32 = 0u; // dspk:specialise 0 1
const WIDE: u32 = 0u; // dspk:specialise 0 1

struct Section {
    forward: vec4<f32>, // b0, d1, d2, sign
    forward_low: vec4<f32>,
    back: vec4<f32>, // e1, low part, e2, low part
}

struct Step {
    signal: vec2<f32>,
    state: vec4<f32>, // w1, its low part, w2, its low part
}

fn advance(k: Section, signal: vec2<f32>, s: vec4<f32>) -> Step {
    let v = signal.x;
    let sign = k.forward.w;
    if (WIDE == 1u) {
        let one = args.one;
        let out = pair_sum(pair_product(vec2<f32>(k.forward.x, k.forward_low.x), signal, one), s.xy, one);
        let a = pair_product(vec2<f32>(k.forward.y, k.forward_low.y), signal, one);
        let b = pair_product(vec2<f32>(k.forward.z, k.forward_low.z), signal, one);
        let c = pair_sum(a, pair_product(-k.back.xy, out, one), one);
        let d = pair_sum(b, pair_product(-k.back.zw, out, one), one);
        let first = pair_sum(s.xy, pair_sum(s.zw, c, one), one) * sign;
        return Step(out, vec4<f32>(first, pair_sum(s.zw, d, one) * sign));
    }
    if (COMPENSATED == 0u) {
        let out = fma(k.forward.x, v, s.x);
        let first = s.x + fma(-k.back.x, out, fma(k.forward.y, v, s.z));
        let second = s.z + fma(-k.back.z, out, k.forward.z * v);
        return Step(vec2<f32>(out, 0.0), vec4<f32>(first * sign, 0.0, second * sign, 0.0));
    }
    let out = fma(k.forward.x, v, s.x + s.y);
    var e = fma(-k.back.x, out, fma(k.forward.y, v, s.z + (s.y + s.w)));
    var f = fma(-k.back.z, out, fma(k.forward.z, v, s.w));
    var held = s.xz;
    if (MIRROR == 1u) {
        e *= sign;
        f *= sign;
        held *= sign;
    }
    // Fast two-sums; `one` stops compilers from simplifying what is left over to zero.
    let first = fma(held.x, args.one, e);
    let second = fma(held.y, args.one, f);
    let first_low = e - fma(first, args.one, -held.x);
    let second_low = f - fma(second, args.one, -held.y);
    return Step(vec2<f32>(out, 0.0), vec4<f32>(first, first_low, second, second_low));
}

// The input without its offset, in WIDE with what rounding takes away.
fn entering(v: f32, offset: f32) -> vec2<f32> {
    if (WIDE == 1u) {
        return pair_sum(vec2<f32>(v, 0.0), vec2<f32>(-offset, 0.0), args.one);
    }
    return vec2<f32>(v - offset, 0.0);
}

// What a sample comes out as; the states are those after it.
fn filtered(v: f32, offset: f32, state: ptr<function, array<vec4<f32>, SECTIONS>>) -> f32 {
    var signal = entering(v, offset);
    // dspk:unroll
    for (var s = 0u; s < SECTIONS; s++) {
        let next = advance(sections[s], signal, (*state)[s]);
        signal = next.signal;
        (*state)[s] = next.state;
    }
    return signal.x;
}
