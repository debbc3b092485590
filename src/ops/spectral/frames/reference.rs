//! Frames in float64, as `scipy.signal` cuts them: what results are held against.

use num_complex::Complex;
use rustfft::FftPlanner;

use super::{Boundary, Detrend, Geometry, Table};
use crate::signal::Source;

/// One-sided spectra of the frames of one channel, each `bins` long, frame after frame.
pub(crate) fn spectra(x: &Source<'_>, channel: usize, from: usize, g: &Geometry, table: &Table) -> Vec<Complex<f64>> {
    let row: Vec<f64> = (from..from + g.samples).map(|k| f64::from(x.get(channel, k))).collect();
    let mut extended = extend(&row, g);
    extended.resize(extended.len().max((g.frames - 1) * g.step + g.nperseg), 0.0);
    let plan = FftPlanner::new().plan_fft_forward(g.nfft);
    let mut out = Vec::new();
    for frame in 0..g.frames {
        let mut part = extended[frame * g.step..frame * g.step + g.nperseg].to_vec();
        detrend(&mut part, g.detrend);
        let mut z: Vec<Complex<f64>> =
            part.iter().enumerate().map(|(i, v)| Complex::new(v * table.weight(i), 0.0)).collect();
        z.resize(g.nfft, Complex::default());
        plan.process(&mut z);
        out.extend_from_slice(&z[..g.bins()]);
    }
    out
}

fn extend(x: &[f64], g: &Geometry) -> Vec<f64> {
    let (n, last) = (g.edge, x.len() - 1);
    let before = |k: usize| match g.boundary {
        Boundary::Even => x[n - k],
        Boundary::Odd => 2.0 * x[0] - x[n - k],
        Boundary::Constant => x[0],
        Boundary::Zeros | Boundary::None => 0.0,
    };
    let after = |k: usize| match g.boundary {
        Boundary::Even => x[last - 1 - k],
        Boundary::Odd => 2.0 * x[last] - x[last - 1 - k],
        Boundary::Constant => x[last],
        Boundary::Zeros | Boundary::None => 0.0,
    };
    (0..n).map(before).chain(x.iter().copied()).chain((0..n).map(after)).collect()
}

fn detrend(x: &mut [f64], how: Detrend) {
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    let middle = (n - 1.0) / 2.0;
    let off = |i: usize| i as f64 - middle;
    let slope = match how {
        Detrend::Linear if x.len() > 1 => {
            let moment: f64 = x.iter().enumerate().map(|(i, v)| off(i) * (v - mean)).sum();
            moment / (0..x.len()).map(|i| off(i) * off(i)).sum::<f64>()
        }
        _ => 0.0,
    };
    if how != Detrend::None {
        x.iter_mut().enumerate().for_each(|(i, v)| *v = *v - mean - slope * off(i));
    }
}
