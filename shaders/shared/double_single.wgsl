// Numbers as unevaluated sums of two floats: about 47 bits. `one` is 1.0, known at run time only; see shared/sum.wgsl.
fn pair_sum(a: vec2<f32>, b: vec2<f32>, one: f32) -> vec2<f32> {
    let t = fma(a.x, one, b.x);
    let v = fma(t, one, -a.x);
    let e = (a.x - fma(t, one, -v)) + (b.x - v) + (a.y + b.y);
    let high = fma(t, one, e);
    return vec2<f32>(high, e - fma(high, one, -t));
}

// The upper 12 bits of the significand: products of such halves are exact, also where `fma` rounds twice.
fn upper_half(v: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(v) & 0xfffff000u);
}

fn pair_product(a: vec2<f32>, b: vec2<f32>, one: f32) -> vec2<f32> {
    let p = a.x * b.x;
    let ah = upper_half(a.x);
    let bh = upper_half(b.x);
    let al = a.x - ah;
    let bl = b.x - bh;
    let e = (((ah * bh - fma(p, one, 0.0)) + ah * bl) + al * bh) + al * bl + (a.x * b.y + a.y * b.x);
    let high = fma(p, one, e);
    return vec2<f32>(high, e - fma(high, one, -p));
}
