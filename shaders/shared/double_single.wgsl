// Numbers as unevaluated sums of two floats: about 47 bits. `one` is 1.0, known at run time only; see shared/sum.wgsl.
fn pair_sum(a: vec2<f32>, b: vec2<f32>, one: f32) -> vec2<f32> {
    let t = fma(a.x, one, b.x);
    let v = fma(t, one, -a.x);
    let e = (a.x - fma(t, one, -v)) + (b.x - v) + (a.y + b.y);
    let high = fma(t, one, e);
    return vec2<f32>(high, e - fma(high, one, -t));
}

fn pair_product(a: vec2<f32>, b: vec2<f32>, one: f32) -> vec2<f32> {
    let p = a.x * b.x;
    let e = fma(a.x, b.x, -p) + fma(a.x, b.y, a.y * b.x);
    let high = fma(p, one, e);
    return vec2<f32>(high, e - fma(high, one, -p));
}
