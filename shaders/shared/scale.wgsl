// value * gain + offset, with gain and offset as sums of two floats.
struct Scale {
    gain: f32,
    gain_low: f32,
    offset: f32,
    offset_low: f32,
}

fn scaled(v: vec4<f32>, s: Scale) -> vec4<f32> {
    let main_part = fma(v, vec4<f32>(s.gain), vec4<f32>(s.offset));
    let rest = fma(v, vec4<f32>(s.gain_low), vec4<f32>(s.offset_low));
    // Infinity times a low part of zero would be NaN.
    return select(main_part, main_part + rest, abs(main_part) <= vec4<f32>(3.4e38));
}

// The lower and the upper halves of four words as signed numbers.
fn lower(words: vec4<u32>) -> vec4<f32> {
    return vec4<f32>(bitcast<vec4<i32>>(words << vec4<u32>(16u)) >> vec4<u32>(16u));
}

fn upper(words: vec4<u32>) -> vec4<f32> {
    return vec4<f32>(bitcast<vec4<i32>>(words) >> vec4<u32>(16u));
}
