// Products of the spectra of a row's signals: what is averaged over frames. Spectra of a batch lie frame after frame, those
// of one signal together; the importing kernel has them as `spectra`.
const KIND: u32 = 0u; // dspk:specialise 0..2
const VEC: u32 = (1u << KIND);

// KIND, beside the power of one signal
const CROSS: u32 = 1u; // conj(X) Y
const BOTH: u32 = 2u; // that, and both powers

alias Products = vec4<f32>; // dspk:vector VEC

// Of a frequency of a frame: `row` is the frame's of the first signal, `next` rows lie between the signals.
fn products(row: u32, next: u32, bins: u32, bin: u32) -> Products {
    let a = spectra[row * bins + bin];
    var p = Products(fma(a.x, a.x, a.y * a.y));
    // dspk:fold
    if (KIND > 0u) {
        let b = spectra[(row + next) * bins + bin];
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
