//! Multitaper spectra in float64, plainly.

use num_complex::Complex;

use super::TaperWeights;
use super::problem::Tapered;
use crate::design::dpss;
use crate::error::Result;
use crate::ops::spectral::frames::reference::spectra;
use crate::ops::spectral::frames::{Scaling, Table, Taper};
use crate::signal::Source;

/// `[channels, frequencies]`, contiguous.
pub(super) fn run(problem: &Tapered, nw: f64, count: usize, x: Source<'_>) -> Result<Vec<f64>> {
    let g = problem.geometry(x.samples())?;
    let (tapers, ratios) = dpss(g.nperseg, nw, count)?;
    let ratios: Vec<f64> = ratios.iter().map(|r| r.max(0.0)).collect();
    let weights: Vec<f64> = ratios.iter().map(|r| if problem.rule == TaperWeights::Unity { 1.0 } else { *r }).collect();
    let norms: Vec<f64> = match problem.segments.scaling {
        Scaling::Density => vec![problem.segments.fs; count],
        Scaling::Spectrum => tapers.iter().map(|h| h.iter().sum::<f64>().powi(2)).collect(),
    };
    let ones = Table::new(&Taper::Values(vec![1.0; g.nperseg]), g.nperseg)?;
    let tables = tapers.into_iter().map(|h| Table::new(&Taper::Values(h), g.nperseg)).collect::<Result<Vec<_>>>()?;
    let mut out = Vec::new();
    for channel in 0..x.channels() {
        let all: Vec<Vec<Complex<f64>>> = tables.iter().map(|table| spectra(&x, channel, 0, &g, table)).collect();
        // Parseval: the power of a frame is that of its whole spectrum.
        let plain = spectra(&x, channel, 0, &g, &ones);
        for bin in 0..g.bins() {
            let mut sum = 0.0;
            for frame in 0..g.frames {
                let powers: Vec<f64> = all.iter().map(|z| z[frame * g.bins() + bin].norm_sqr()).collect();
                let spectrum = &plain[frame * g.bins()..(frame + 1) * g.bins()];
                let energy: f64 = spectrum.iter().enumerate().map(|(k, z)| g.sides(k) * z.norm_sqr()).sum();
                let variance = energy / g.nfft as f64 / g.nperseg as f64;
                let adapted = adaptive(&powers, &ratios, variance);
                let weights = if problem.rule == TaperWeights::Adaptive { &adapted } else { &weights };
                let of = |values: &[f64]| values.iter().zip(weights).map(|(v, w)| v * w).sum::<f64>();
                sum += of(&powers) / of(&norms);
            }
            let alone = bin == 0 || (g.nfft.is_multiple_of(2) && bin == g.nfft / 2);
            out.push(sum / g.frames as f64 * if alone { 1.0 } else { 2.0 });
        }
    }
    Ok(out)
}

/// The weights at the root of the equation that the adaptive rule ends at, by as many steps as it takes.
fn adaptive(powers: &[f64], ratios: &[f64], variance: f64) -> Vec<f64> {
    let mut s = powers.iter().take(2).sum::<f64>() / powers.len().min(2) as f64;
    let mut weights = ratios.to_vec();
    for _ in 0..10_000 {
        let d: Vec<f64> = ratios.iter().map(|r| r.sqrt() * s / (r * s + (1.0 - r).max(0.0) * variance)).collect();
        let total: f64 = d.iter().map(|d| d * d).sum();
        let next = powers.iter().zip(&d).map(|(p, d)| p * d * d).sum::<f64>() / total;
        if next.is_nan() {
            return ratios.to_vec();
        }
        weights = d.iter().map(|d| d * d).collect();
        if next == s {
            break;
        }
        s = next;
    }
    weights
}
