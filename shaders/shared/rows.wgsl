// Products of spectra that lie in rows, frame after frame, those of one signal together. The importing kernel has them as
// `spectra`.
// dspk:import shared/products.wgsl

// Of a frequency of a frame: `row` is the frame's of the first signal, `next` rows lie between the signals.
fn products(row: u32, next: u32, bins: u32, bin: u32) -> Products {
    let a = spectra[row * bins + bin];
    // dspk:fold
    if (KIND > 0u) {
        return product(a, spectra[(row + next) * bins + bin]);
    } else {
        return product(a, a);
    }
}
