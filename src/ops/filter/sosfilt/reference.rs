//! The plain float64 recursion, as scipy writes it (direct form II transposed, one section after another).

use crate::signal::Source;

/// `[channels, samples]`, contiguous. `sos` rows are `b0 b1 b2 a0 a1 a2` with `a0 = 1`; `zi` is `[channels][sections][2]`,
/// updated in place.
pub fn run(sos: &[[f64; 6]], x: Source<'_>, zi: Option<&mut [f64]>) -> Vec<f64> {
    let (channels, samples) = (x.channels(), x.samples());
    let mut zero = vec![0.0; if zi.is_some() { 0 } else { channels * sos.len() * 2 }];
    let state = zi.unwrap_or(&mut zero);
    let mut y = Vec::with_capacity(channels * samples);
    for c in 0..channels {
        let state = &mut state[c * sos.len() * 2..(c + 1) * sos.len() * 2];
        for n in 0..samples {
            y.push(advance(sos, state, f64::from(x.get(c, n))));
        }
    }
    y
}

/// One sample of one channel.
pub fn advance(sos: &[[f64; 6]], state: &mut [f64], x: f64) -> f64 {
    let mut v = x;
    for (s, z) in sos.iter().zip(state.chunks_exact_mut(2)) {
        let out = s[0] * v + z[0];
        z[0] = s[1] * v - s[4] * out + z[1];
        z[1] = s[2] * v - s[5] * out;
        v = out;
    }
    v
}
