// Cascade of second-order sections, one thread for each channel.
//
// Sections are delta operators: with w1 = s1 and w2 = s1 + s2 for scipy's states s,
//     y = b0 x + w1,  w1 += w2 + d1 x - e1 y,  w2 += d2 x - e2 y,
// where d1 = 2 b0 + b1, d2 = b0 + b1 + b2, e1 = 2 + a1, e2 = 1 + a1 + a2. Poles near z = 1 make e1 and e2 small, and
// small numbers are what float32 is good at. A section whose poles lie left of the imaginary axis is mirrored: modulating
// by (-1)^n moves them there. Its states change sign each sample (w2 = s1 - s2, d1 = 2 b0 - b1, ...), which `sign` does
// for it: -1 for a mirrored section, 1 for others. COMPENSATED keeps the rounding error of each state.
//
// WIDE computes everything in pairs of floats, for poles that are far from both ends of the axis and close to the circle.
// dspk:import shared/fold.wgsl
// dspk:import shared/double_single.wgsl

const WG: u32 = 32u; // dspk:tune 8 32 64
const SECTIONS: u32 = 2u; // dspk:specialise 1..16
const COMPENSATED: u32 = 1u; // dspk:specialise 0 1
const MIRROR: u32 = 0u; // dspk:specialise 0 1
const WIDE: u32 = 0u; // dspk:specialise 0 1
const IN_PLACE: u32 = 0u; // dspk:specialise 0 1

struct Section {
    forward: vec4<f32>, // b0, d1, d2, sign
    forward_low: vec4<f32>,
    back: vec4<f32>, // e1, low part, e2, low part
}

struct SosArgs {
    channels: u32,
    pitch4: u32,
    start4: u32, // of this window, in vectors
    steps: u32, // whole vectors; drivers stop loops at 65,535 rounds
    tail: u32, // samples after them
    subtracts: f32, // 1 where the offset is removed from the input
    gain: f32, // what a removed offset comes out as
    one: f32, // 1, known at run time only
    rest4: u32, // vectors between the last sample and the end of the row, in the last window
    unused_a: u32,
    unused_b: u32,
    unused_c: u32,
}

@group(0) @binding(0) var<uniform> args: SosArgs;
@group(0) @binding(1) var<uniform> sections: array<Section, SECTIONS>;
@group(0) @binding(2) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> offsets: array<f32>;
@group(0) @binding(4) var<storage, read_write> states: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> y: array<vec4<f32>>;

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

fn input(at: u32) -> vec4<f32> {
    if (IN_PLACE == 1u) {
        return y[at];
    }
    return x[at];
}

// The input without its offset, in WIDE with what rounding takes away.
fn entering(v: f32, offset: f32) -> vec2<f32> {
    if (WIDE == 1u) {
        return pair_sum(vec2<f32>(v, 0.0), vec2<f32>(-offset, 0.0), args.one);
    }
    return vec2<f32>(v - offset, 0.0);
}

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) size: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let channel = flat_group(id, size) * WG + lane;
    if (channel >= args.channels) {
        return;
    }
    let removed = offsets[channel];
    let offset = removed * args.subtracts;
    var state: array<vec4<f32>, SECTIONS>;
    // dspk:unroll
    for (var s = 0u; s < SECTIONS; s++) {
        state[s] = states[s * args.channels + channel];
    }
    // Indices count vectors of a segment, which a binding's size keeps below 2^28.
    var at = channel * args.pitch4 + args.start4;
    for (var i = 0u; i < args.steps; i++) {
        let v = input(at);
        var result: vec4<f32>;
        // dspk:unroll
        for (var j = 0u; j < 4u; j++) {
            var signal = entering(v[j], offset);
            // dspk:unroll
            for (var s = 0u; s < SECTIONS; s++) {
                let next = advance(sections[s], signal, state[s]);
                signal = next.signal;
                state[s] = next.state;
            }
            result[j] = signal.x;
        }
        y[at] = fma(vec4<f32>(args.gain), vec4<f32>(removed), result);
        at++;
    }
    if (args.tail > 0u) {
        let v = input(at);
        var result = vec4<f32>(0.0);
        for (var j = 0u; j < args.tail; j++) {
            var signal = entering(v[j], offset);
            // dspk:unroll
            for (var s = 0u; s < SECTIONS; s++) {
                let next = advance(sections[s], signal, state[s]);
                signal = next.signal;
                state[s] = next.state;
            }
            let out = fma(args.gain, removed, signal.x);
            result = select(result, vec4<f32>(out), vec4<u32>(0u, 1u, 2u, 3u) == vec4<u32>(j));
        }
        y[at] = result;
        at++;
    }
    // What lies after the last sample must be finite.
    for (var i = 0u; i < args.rest4; i++) {
        y[at + i] = vec4<f32>(0.0);
    }
    // dspk:unroll
    for (var s = 0u; s < SECTIONS; s++) {
        states[s * args.channels + channel] = state[s];
    }
}
