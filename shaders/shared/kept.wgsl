// What is kept of values of spectra. The importing kernel has the result as `y` and the points of the transform in its
// arguments.
const KEPT: u32 = 0u; // dspk:specialise 0..3

// KEPT, beside complex values
const POWER: u32 = 1u;
const MAGNITUDE: u32 = 2u;
const BACK: u32 = 3u; // lines into frames

const WIDTH: u32 = 2u - (KEPT % 3u + 1u) / 2u; // 1 for real values

alias Out = vec2<f32>; // dspk:vector WIDTH

fn put(at: u32, v: vec2<f32>) {
    // dspk:fold
    if (WIDTH == 1u) {
        y[at] = Out(v.x);
    } else {
        y[at] = v;
    }
}

fn kept(v: vec2<f32>, bin: u32) -> vec2<f32> {
    // dspk:fold
    if (KEPT == POWER) {
        let sides = select(2.0, 1.0, bin == 0u || 2u * bin == args.nfft);
        return vec2<f32>(fma(v.x, v.x, v.y * v.y) * sides, 0.0);
    } else {
        // dspk:fold
        if (KEPT == MAGNITUDE) {
            // Squares would leave the range of floats where magnitudes do not.
            let a = abs(v);
            let large = max(a.x, a.y);
            let ratio = select(min(a.x, a.y) / large, large, large == 0.0);
            return vec2<f32>(large * sqrt(fma(ratio, ratio, 1.0)), 0.0);
        } else {
            return v;
        }
    }
}
