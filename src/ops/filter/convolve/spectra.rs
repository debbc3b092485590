//! Spectra of responses: computed in float64, rounded once, kept with the plan.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use num_complex::Complex;
use rustfft::FftPlanner;

use crate::ops::spectral::fft::lanes::Plan;

/// Most values that are kept: 64 MiB.
const MOST_KEPT: usize = 1 << 23;

/// Real and imaginary parts.
pub(in crate::ops::filter) type Values = Arc<Vec<[f32; 2]>>;

/// Spectra that have been asked for.
#[derive(Debug, Default)]
pub(in crate::ops::filter) struct Kept(Mutex<Held>);

#[derive(Debug, Default)]
struct Held {
    /// By row of taps, number of points, and whether they are in the order of the lanes.
    spectra: HashMap<(usize, usize, bool), Values>,
    values: usize,
}

impl Kept {
    /// The spectrum of taps, those of row `row`, over the number of points, in the order in which `plan` leaves its own.
    pub fn in_lanes(&self, row: usize, taps: &[f64], points: usize, plan: &Plan) -> Values {
        self.get((row, points, true), || plan.in_own_order(&spectrum(taps, points)))
    }

    /// The first half of it, for real transforms.
    pub fn half(&self, row: usize, taps: &[f64], points: usize) -> Values {
        self.get((row, points, false), || spectrum(taps, points)[..points / 2 + 1].to_vec())
    }

    fn get(&self, key: (usize, usize, bool), make: impl FnOnce() -> Vec<[f32; 2]>) -> Values {
        let held = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(values) = held().spectra.get(&key) {
            return values.clone();
        }
        let values = Arc::new(make());
        let mut held = held();
        if held.values + values.len() > MOST_KEPT {
            *held = Held::default();
        }
        // What does not fit alone is not kept.
        if values.len() <= MOST_KEPT && held.spectra.insert(key, values.clone()).is_none() {
            held.values += values.len();
        }
        values
    }
}

/// The transform of taps and zeros behind them, over the number of points.
fn spectrum(taps: &[f64], points: usize) -> Vec<[f32; 2]> {
    let mut values: Vec<Complex<f64>> = taps.iter().map(|t| Complex::new(*t, 0.0)).collect();
    values.resize(points, Complex::default());
    FftPlanner::new().plan_fft_forward(points).process(&mut values);
    let factor = 1.0 / points as f64;
    values.iter().map(|v| [(v.re * factor) as f32, (v.im * factor) as f32]).collect()
}
