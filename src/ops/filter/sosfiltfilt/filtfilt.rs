//! Forward and backward for transfer functions: scipy's `filtfilt`.

use super::SosFiltFilt;
use super::extension::{Extension, Padding};
use crate::design::lfilter_zi;
use crate::error::Result;
use crate::ops::filter::{FirFilter, transfer};
use crate::signal::{Signal, Source};

/// Filters every channel forward and backward with a filter `b, a`, without any phase, on the current runtime.
///
/// `scipy.signal.filtfilt(b, a, x)` with its defaults: extended by odd symmetry, `padlen = 3 * max(len(a), len(b))`. A
/// recursive filter runs as second-order sections, which keep the accuracy that its polynomials lose.
///
/// # Errors
/// Coefficients that are no filter or have a pole at `z = 1`, a signal that is not longer than `padlen`, a runtime that
/// cannot be used, or no memory.
///
/// ```
/// use dspk::design::iirnotch;
/// use dspk::signal::View;
///
/// let notch = iirnotch(50.0, 30.0, 1000.0)?.to_tf()?;
/// let hum: Vec<f32> = (0..2000).map(|n| (2.0 * std::f32::consts::PI * 50.0 * n as f32 / 1000.0).sin()).collect();
/// let y = dspk::ops::filter::filtfilt(notch.b(), notch.a(), View::new(&hum, 1, 2000)?)?;
/// assert!(y.row(0)[1000].abs() < 0.01);
/// # Ok::<(), dspk::Error>(())
/// ```
pub fn filtfilt<'a>(b: &[f64], a: &[f64], x: impl Into<Source<'a>>) -> Result<Signal> {
    FiltFilt::new(b, a)?.apply(x)
}

/// A zero-phase filter of a transfer function, ready for any recording.
///
/// ```
/// use dspk::ops::filter::{FiltFilt, Padding};
/// use dspk::signal::View;
///
/// let smooth = FiltFilt::new(&[0.25, 0.5, 0.25], &[1.0])?.with_padding(Padding::Constant, Some(2)).on("cpu");
/// let y = smooth.apply(View::new(&[3.0f32; 8], 1, 8)?)?;
/// assert_eq!(y.row(0), [3.0; 8]);
/// # Ok::<(), dspk::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct FiltFilt {
    kind: Kind,
    edge: usize,
}

#[derive(Debug, Clone)]
enum Kind {
    Recursive(SosFiltFilt),
    Finite { filter: FirFilter, step: Vec<f64>, padding: Padding, edge: usize },
}

impl FiltFilt {
    /// A plan with scipy's defaults, for coefficients in the order of scipy's `b` and `a`.
    ///
    /// # Errors
    /// Empty or non-finite coefficients, `a[0]` = 0, or a pole at `z = 1`.
    pub fn new(b: &[f64], a: &[f64]) -> Result<Self> {
        let edge = 3 * a.len().max(b.len());
        let kind = match a {
            [a0] if *a0 != 0.0 => {
                let taps: Vec<f64> = b.iter().map(|v| v / a0).collect();
                let filter = FirFilter::new(&taps)?;
                Kind::Finite { filter, step: lfilter_zi(&taps, &[1.0])?, padding: Padding::Odd, edge }
            }
            _ => {
                let filter = SosFiltFilt::new(&transfer::sections(b, a)?)?.called("filtfilt");
                Kind::Recursive(filter.with_padding(Padding::Odd, Some(edge)))
            }
        };
        Ok(FiltFilt { kind, edge })
    }

    /// With another padding: scipy's `padtype` and `padlen` (`None`: scipy's default). [`Padding::None`] has no length.
    pub fn with_padding(mut self, padding: Padding, padlen: Option<usize>) -> Self {
        let length = padlen.unwrap_or(self.edge);
        self.kind = match self.kind {
            Kind::Recursive(filter) => Kind::Recursive(filter.with_padding(padding, Some(length))),
            Kind::Finite { filter, step, .. } => {
                Kind::Finite { filter, step, padding, edge: if padding == Padding::None { 0 } else { length } }
            }
        };
        self
    }

    /// Runs on the named runtime (see [`crate::runtime::set`] for the names) instead of the current one.
    pub fn on(mut self, runtime: &str) -> Self {
        self.kind = match self.kind {
            Kind::Recursive(filter) => Kind::Recursive(filter.on(runtime)),
            Kind::Finite { filter, step, padding, edge } => {
                Kind::Finite { filter: filter.on(runtime), step, padding, edge }
            }
        };
        self
    }

    /// Filters whole channels.
    pub fn apply<'a>(&self, x: impl Into<Source<'a>>) -> Result<Signal> {
        let x = x.into();
        match &self.kind {
            Kind::Recursive(filter) => filter.apply(x),
            Kind::Finite { filter, step, padding, edge } => {
                finite(filter, step, Extension { padding: *padding, edge: *edge }, x)
            }
        }
    }
}

/// Both ways with an FIR filter, over extended channels.
fn finite(filter: &FirFilter, step: &[f64], extension: Extension, x: Source<'_>) -> Result<Signal> {
    extension.check("filtfilt", x.samples())?;
    let (channels, samples, edge) = (x.channels(), x.samples(), extension.edge);
    if channels == 0 || samples == 0 {
        return Signal::zeros(channels, samples);
    }
    let mut values = Signal::zeros(channels, samples + 2 * edge)?;
    for c in 0..channels {
        let (head, rest) = values.row_mut(c).split_at_mut(edge);
        let (own, tail) = rest.split_at_mut(samples);
        head.iter_mut().zip(extension.head(&x, c)).for_each(|(to, v)| *to = v as f32);
        own.iter_mut().enumerate().for_each(|(n, to)| *to = x.get(c, n));
        tail.iter_mut().zip(extension.tail(&x, c)).for_each(|(to, v)| *to = v as f32);
    }
    for _ in 0..2 {
        let first = values.rows().flat_map(|row| step.iter().map(|z| z * f64::from(row[0])));
        let mut state = filter.state_from_zi(&first.collect::<Vec<_>>(), channels)?;
        values = filter.apply_with(&values, &mut state)?;
        (0..channels).for_each(|c| values.row_mut(c).reverse());
    }
    Signal::from_source(values.view().window(edge, samples).into())
}
