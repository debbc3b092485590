//! The tapers of one length of frame, what their spectra are multiplied by, and how those are put together.

use super::TaperWeights;
use crate::design::dpss;
use crate::error::Result;
use crate::ops::spectral::frames::{Scaling, Segments};

/// Tapers and their factors.
#[derive(Debug)]
pub(super) struct Tapers {
    /// Each of unit energy.
    pub values: Vec<Vec<f32>>,
    /// Share of their energy within the band.
    ratios: Vec<f64>,
    rule: TaperWeights,
    /// Weight of each, where it does not depend on the spectrum.
    weights: Vec<f64>,
    /// What the power by each is relative to.
    norms: Vec<f64>,
}

/// Most steps of the adaptive rule. It shrinks the distance to where it ends by a constant factor each.
pub(super) const STEPS: usize = 150;
/// Change at which the adaptive rule has ended.
const SETTLED: f64 = 1e-9;

impl Tapers {
    pub fn new(segments: &Segments, n: usize, nw: f64, count: usize, rule: TaperWeights) -> Result<Tapers> {
        let (values, mut ratios) = dpss(n, nw, count)?;
        // Where they are 0 but for rounding they can come out below.
        ratios.iter_mut().for_each(|ratio| *ratio = ratio.max(0.0));
        let weights = if rule == TaperWeights::Unity { vec![1.0; count] } else { ratios.clone() };
        let norms = match segments.scaling {
            Scaling::Density => vec![segments.fs; count],
            Scaling::Spectrum => values.iter().map(|h| h.iter().sum::<f64>().powi(2)).collect(),
        };
        let values = values.iter().map(|h| h.iter().map(|v| *v as f32).collect()).collect();
        Ok(Tapers { values, ratios, rule, weights, norms })
    }

    /// One estimate from those of all tapers; `variance` is that of the frame.
    pub fn combine(&self, powers: impl Iterator<Item = f64> + Clone, variance: f64) -> f64 {
        let linear = || relative(self.weighted(powers.clone(), self.weights.iter().copied()));
        match self.rule {
            TaperWeights::Adaptive => {
                let adapted = self.adapted(powers.clone(), variance);
                // Without any power in the first tapers there is nothing to adapt to.
                if adapted.is_nan() { linear() } else { adapted }
            }
            _ => linear(),
        }
    }

    /// Whether the weights depend on the spectrum.
    #[cfg(feature = "gpu")]
    pub fn adaptive(&self) -> bool {
        self.rule == TaperWeights::Adaptive
    }

    /// What power is multiplied by so that the norms become 1 on average, by weight.
    #[cfg(feature = "gpu")]
    pub fn unit(&self) -> f64 {
        self.weights.iter().sum::<f64>() / self.weights.iter().zip(&self.norms).map(|(w, n)| w * n).sum::<f64>()
    }

    /// Factors of the tapers, by which power comes out in the unit, and, where the weights are fixed, weighted so that the
    /// sum of all is the estimate.
    #[cfg(feature = "gpu")]
    pub fn factors(&self) -> Vec<f64> {
        let total: f64 = self.weights.iter().sum();
        let share = |weight: &f64| if self.adaptive() { 1.0 } else { weight / total };
        self.weights.iter().map(|weight| (share(weight) * self.unit()).sqrt()).collect()
    }

    /// The share of the energy of each within the band and outside of it, and its norm in the unit.
    #[cfg(feature = "gpu")]
    pub fn shares(&self) -> Vec<[f64; 4]> {
        let of = |(ratio, norm): (&f64, &f64)| [*ratio, (1.0 - ratio).max(0.0), norm * self.unit(), 0.0];
        self.ratios.iter().zip(&self.norms).map(of).collect()
    }

    /// Sums of the weights times powers, times norms, and alone.
    fn weighted(&self, powers: impl Iterator<Item = f64>, weights: impl Iterator<Item = f64>) -> [f64; 3] {
        powers
            .zip(weights)
            .zip(&self.norms)
            .fold([0.0; 3], |[power, norm, total], ((p, w), n)| [power + w * p, norm + w * n, total + w])
    }

    /// Thomson's rule: what leaks into a taper from outside of the band is at most its share of all power, and weighs as
    /// noise does.
    fn adapted(&self, powers: impl Iterator<Item = f64> + Clone, variance: f64) -> f64 {
        let mut estimate = powers.clone().take(2).sum::<f64>() / self.ratios.len().min(2) as f64;
        let mut sums = [0.0; 3];
        for _ in 0..STEPS {
            let weight =
                |ratio: &f64| ratio * (estimate / (ratio * estimate + (1.0 - ratio).max(0.0) * variance)).powi(2);
            sums = self.weighted(powers.clone(), self.ratios.iter().map(weight));
            let next = sums[0] / sums[2];
            let change = (next - estimate).abs();
            estimate = next;
            // Also where it is not a number.
            if change.is_nan() || change <= SETTLED * estimate {
                break;
            }
        }
        relative(sums)
    }
}

/// Power by the norm of what it was found with.
fn relative([power, norm, _]: [f64; 3]) -> f64 {
    power / norm
}
