// Products of the spectra of a row's signals: what is averaged over frames.
const KIND: u32 = 0u; // dspk:specialise 0..2
const VEC: u32 = (1u << KIND);

// KIND, beside the power of one signal
const CROSS: u32 = 1u; // conj(X) Y
const BOTH: u32 = 2u; // that, and both powers

alias Products = vec4<f32>; // dspk:vector VEC

// Of the values of both signals; that of one is both.
fn product(a: vec2<f32>, b: vec2<f32>) -> Products {
    var p = Products(fma(a.x, a.x, a.y * a.y));
    // dspk:fold
    if (KIND > 0u) {
        // dspk:fold
        if (KIND == BOTH) {
            p.z = p.x;
            p.w = fma(b.x, b.x, b.y * b.y);
        }
        p.x = fma(a.x, b.x, a.y * b.y);
        p.y = fma(a.x, b.y, -(a.y * b.x));
    }
    return p;
}

// A sum that keeps its rounding errors; see shared/sum.wgsl.
struct Tally {
    high: Products,
    low: Products,
}

// `one` is 1.0, known at run time only.
fn tallied(sum: Tally, v: Products, one: f32) -> Tally {
    let unit = Products(one);
    let t = fma(sum.high, unit, v);
    let b = fma(t, unit, -sum.high);
    return Tally(t, sum.low + ((sum.high - fma(t, unit, -b)) + (v - b)));
}

// Rounded; what is not finite, or nearly so, has no low part.
fn total(sum: Tally) -> Products {
    return select(sum.high, sum.high + sum.low, abs(sum.high) <= Products(3.4e38));
}
