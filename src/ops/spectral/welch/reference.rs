//! Averages over frames in float64, plainly.

use num_complex::Complex;

use super::median_bias;
use super::problem::{Average, Averaged, Kind};
use crate::error::Result;
use crate::ops::spectral::frames::Geometry;
use crate::ops::spectral::frames::reference::spectra;
use crate::signal::Source;

/// `[channels, frequencies]`, contiguous.
pub(super) fn run(p: &Averaged, x: Source<'_>) -> Result<Vec<f64>> {
    let g = p.geometry(x.samples())?;
    let table = p.segments.table(g.nperseg)?;
    let factor = p.segments.factor(&table)?;
    let half = x.samples() / 2;
    let mut out = Vec::new();
    for channel in 0..x.channels() {
        let first = spectra(&x, channel, 0, &g, &table);
        let second = if p.kind.paired() { spectra(&x, channel, half, &g, &table) } else { first.clone() };
        let average = |bin: usize, a: &[Complex<f64>], b: &[Complex<f64>]| {
            let products: Vec<_> =
                (0..g.frames).map(|k| a[k * g.bins() + bin].conj() * b[k * g.bins() + bin]).collect();
            average(&products, p.average)
        };
        for bin in 0..g.bins() {
            let both = average(bin, &first, &second);
            let scale = factor * sides(bin, &g);
            match p.kind {
                Kind::Welch | Kind::Periodogram => out.push(both.re * scale),
                Kind::Csd => out.extend([both.re * scale, both.im * scale]),
                Kind::Coherence => {
                    let (xx, yy) = (average(bin, &first, &first).re, average(bin, &second, &second).re);
                    out.push(both.norm_sqr() / xx / yy);
                }
            }
        }
    }
    Ok(out)
}

fn sides(bin: usize, g: &Geometry) -> f64 {
    let alone = bin == 0 || (g.nfft.is_multiple_of(2) && bin == g.nfft / 2);
    if alone { 1.0 } else { 2.0 }
}

fn average(values: &[Complex<f64>], how: Average) -> Complex<f64> {
    let n = values.len();
    match how {
        Average::Mean => values.iter().sum::<Complex<f64>>() / n as f64,
        Average::Median => {
            let median = |of: fn(&Complex<f64>) -> f64| {
                let mut sorted: Vec<f64> = values.iter().map(of).collect();
                if sorted.iter().any(|v| v.is_nan()) {
                    return f64::NAN;
                }
                sorted.sort_by(f64::total_cmp);
                (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0 / median_bias(n)
            };
            Complex::new(median(|v| v.re), median(|v| v.im))
        }
    }
}
