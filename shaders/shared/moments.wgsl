// What the line of a frame is found from: the sums of its samples' differences from the first one and, for lines (LINEAR),
// of these times the distance from the frame's middle, in pairs of floats. The importing kernel has the cut and a run-time
// `one` in its arguments.
// dspk:import shared/double_single.wgsl

fn both(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    // dspk:fold
    if (LINEAR == 1u) {
        return vec4<f32>(pair_sum(a.xy, b.xy, args.one), pair_sum(a.zw, b.zw, args.one));
    } else {
        return vec4<f32>(pair_sum(a.xy, b.xy, args.one), 0.0, 0.0);
    }
}

// Difference and moment of a sample.
fn terms(v: f32, origin: f32, i: u32) -> vec4<f32> {
    let difference = pair_sum(vec2<f32>(v, 0.0), vec2<f32>(-origin, 0.0), args.one);
    // dspk:fold
    if (LINEAR == 1u) {
        let middle = 0.5 * f32(2 * i32(i) + 1 - i32(args.cut.nperseg));
        return vec4<f32>(difference, pair_product(difference, vec2<f32>(middle, 0.0), args.one));
    } else {
        return vec4<f32>(difference, 0.0, 0.0);
    }
}

// Mean and slope in pairs: `weights` are 1 / n and 1 / the sum of squared distances from the middle.
fn line_of(sums: vec4<f32>, origin: f32, weights: vec4<f32>) -> vec4<f32> {
    let mean = pair_product(sums.xy, weights.xy, args.one);
    let slope = pair_product(sums.zw, weights.zw, args.one);
    return vec4<f32>(pair_sum(vec2<f32>(origin, 0.0), mean, args.one), slope);
}
