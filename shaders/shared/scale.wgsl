// dspk:import shared/double_single.wgsl

// 0: values as they are. 1: one scale for all channels, in the arguments, where reading it costs nothing. 2: one for each.
const MODE: u32 = 2u; // dspk:specialise 0..2

// An offset may cancel most of the product, and `fma` may round twice: then product and sum are taken in pairs.
const OFFSET: u32 = 1u; // dspk:specialise 0 1

// Gain and offset as sums of two floats.
struct Scale {
    gain: f32,
    gain_low: f32,
    offset: f32,
    offset_low: f32,
}

fn with_offset(v: f32, s: Scale, one: f32) -> f32 {
    let product = pair_product(vec2<f32>(v, 0.0), vec2<f32>(s.gain, s.gain_low), one);
    return pair_sum(product, vec2<f32>(s.offset, s.offset_low), one).x;
}

// value * gain + offset; `one` is 1.0, known at run time only.
fn scaled(v: vec4<f32>, s: Scale, one: f32) -> vec4<f32> {
    if (MODE == 0u) {
        return v;
    }
    let plain = fma(v, vec4<f32>(s.gain), vec4<f32>(s.offset));
    // What is not finite, or nearly so, has no low part.
    let exact = abs(plain) <= vec4<f32>(1e37);
    if (OFFSET == 0u) {
        return select(plain, fma(v, vec4<f32>(s.gain_low), plain), exact);
    }
    let sums = vec4<f32>(with_offset(v.x, s, one), with_offset(v.y, s, one), with_offset(v.z, s, one), with_offset(v.w, s, one));
    return select(plain, sums, exact & (abs(v) <= vec4<f32>(1e37)));
}

// The lower and the upper halves of four words as signed numbers.
fn lower(words: vec4<u32>) -> vec4<f32> {
    return vec4<f32>(bitcast<vec4<i32>>(words << vec4<u32>(16u)) >> vec4<u32>(16u));
}

fn upper(words: vec4<u32>) -> vec4<f32> {
    return vec4<f32>(bitcast<vec4<i32>>(words) >> vec4<u32>(16u));
}
