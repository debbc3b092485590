// Samples of frames less what spectral/trend.wgsl has found. The importing kernel has the cut and a run-time `one` in its
// arguments.
// dspk:import shared/double_single.wgsl
const DETREND: u32 = 0u; // dspk:specialise 0..2

// What is left of a sample: mean and slope are pairs of floats.
fn level(v: f32, line: vec4<f32>, i: u32) -> f32 {
    var at = line.xy;
    // dspk:fold
    if (DETREND == 2u) {
        let middle = 0.5 * f32(2 * i32(i) + 1 - i32(args.cut.nperseg));
        at = pair_sum(at, pair_product(line.zw, vec2<f32>(middle, 0.0), args.one), args.one);
    }
    return fma(v, args.one, -at.x) - at.y;
}
