// Sums that keep their rounding error. `one` is 1.0, known at run time only: written with plain additions, compilers
// simplify the error to zero, and the fused form stops them.
struct Sum {
    high: vec4<f32>,
    low: vec4<f32>,
}

fn add(sum: Sum, v: vec4<f32>, one: vec4<f32>) -> Sum {
    let t = fma(sum.high, one, v);
    let b = fma(t, one, -sum.high);
    let error = (sum.high - fma(t, one, -b)) + (v - b);
    return Sum(t, sum.low + error);
}
