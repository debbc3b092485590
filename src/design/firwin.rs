//! Linear-phase filters by the window method: `scipy.signal.firwin` (Oppenheim and Schafer, *Discrete-Time Signal
//! Processing*, 7.2).
//!
//! The ideal response of every pass band is a difference of two sincs; a window bounds their length and their ripples.

use std::f64::consts::PI;

use super::{Window, get_window, kaiser_atten, kaiser_beta};
use crate::error::{Error, Result};

/// Whether the band that begins at frequency 0 passes: `pass_zero` of `scipy.signal.firwin`. The names also fix how many
/// cutoffs there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PassZero {
    /// It passes (`true`) or not (`false`), with any number of cutoffs.
    Is(bool),
    /// It passes; one cutoff.
    Lowpass,
    /// It does not; one cutoff.
    Highpass,
    /// It does not; two cutoffs or more.
    Bandpass,
    /// It passes; two cutoffs or more.
    Bandstop,
}

/// How [`firwin`] designs; the default is scipy's.
///
/// ```
/// use dspk::design::{FirwinOptions, PassZero, Window};
/// let options = FirwinOptions::default();
/// assert_eq!((options.window, options.pass_zero, options.scale), (Window::Hamming, PassZero::Is(true), true));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct FirwinOptions {
    /// The window, symmetric. Default: Hamming.
    pub window: Window,
    /// Whether the band that begins at 0 passes. Default: it does.
    pub pass_zero: PassZero,
    /// Whether the gain is exactly 1 at one frequency: 0 if it passes, else half the sampling rate if that passes, else
    /// the middle of the first pass band. Default: true.
    pub scale: bool,
    /// Width of the transitions, in the unit of the sampling rate: takes the Kaiser window that reaches it in place of
    /// `window`. Default: none.
    pub width: Option<f64>,
}

impl Default for FirwinOptions {
    fn default() -> Self {
        FirwinOptions { window: Window::Hamming, pass_zero: PassZero::Is(true), scale: true, width: None }
    }
}

/// `numtaps` coefficients of a symmetric filter with the given cutoffs (-6 dB), rising, in the unit of `fs`:
/// `scipy.signal.firwin(numtaps, cutoff, ..., fs=fs)`.
///
/// ```
/// use dspk::design::{FirwinOptions, PassZero, firwin};
/// let h = firwin(101, &[300.0, 3000.0], 30_000.0, &FirwinOptions { pass_zero: PassZero::Bandpass, ..Default::default() })?;
/// assert!(h.iter().eq(h.iter().rev()), "symmetric: linear phase");
/// let low = firwin(31, &[0.1], 1.0, &FirwinOptions::default())?;
/// assert!((low.iter().sum::<f64>() - 1.0).abs() < 1e-15, "constants pass unchanged");
/// # Ok::<(), dspk::Error>(())
/// ```
///
/// # Errors
/// No taps; no cutoff, one that is not above 0 and below half of `fs`, or cutoffs that do not rise; a number of cutoffs
/// that `pass_zero` does not have; an even number of taps where half of `fs` passes (such a filter is 0 there); those of
/// [`get_window`]; a design whose gain cannot be scaled to 1.
pub fn firwin(numtaps: usize, cutoff: &[f64], fs: f64, options: &FirwinOptions) -> Result<Vec<f64>> {
    let bands = bands(numtaps, cutoff, fs, options.pass_zero)?;
    let window = match options.width {
        None => options.window.clone(),
        Some(width) if width > 0.0 && width < 0.5 * fs => {
            Window::Kaiser { beta: kaiser_beta(kaiser_atten(numtaps, 2.0 * width / fs)) }
        }
        Some(width) => {
            return Err(Error::invalid(format!(
                "transition width {width} is not possible at sampling rate {fs}; it must be above 0 and below {}",
                0.5 * fs
            )));
        }
    };
    let mut h = get_window(&window, numtaps, false)?;
    let middle = 0.5 * (numtaps - 1) as f64;
    for (n, h) in h.iter_mut().enumerate() {
        let m = n as f64 - middle;
        *h *= bands.iter().map(|&(left, right)| right * sinc(right * m) - left * sinc(left * m)).sum::<f64>();
    }
    if options.scale {
        let at = match bands[0] {
            (0.0, _) => 0.0,
            (_, 1.0) => 1.0,
            (left, right) => 0.5 * (left + right),
        };
        let gain: f64 = h.iter().enumerate().map(|(n, h)| h * (PI * (n as f64 - middle) * at).cos()).sum();
        h.iter_mut().for_each(|h| *h /= gain);
    }
    match h.iter().all(|h| h.is_finite()) {
        true => Ok(h),
        false => Err(Error::invalid(format!(
            "{numtaps} taps of this window have no gain in the pass band to scale to 1; pass more taps or scale = false"
        ))),
    }
}

/// The pass bands as fractions of the Nyquist frequency, at least one.
fn bands(numtaps: usize, cutoff: &[f64], fs: f64, pass_zero: PassZero) -> Result<Vec<(f64, f64)>> {
    if numtaps == 0 {
        return Err(Error::invalid("a filter of 0 taps was asked for; pass numtaps of 1 or more"));
    }
    if !(fs.is_finite() && fs > 0.0) {
        return Err(Error::invalid(format!("sampling rate fs = {fs} is not possible; pass a finite number above 0")));
    }
    let mut edges: Vec<f64> = cutoff.iter().map(|f| f / (0.5 * fs)).collect();
    if let Some(i) = edges.iter().position(|f| !(*f > 0.0 && *f < 1.0)) {
        return Err(Error::invalid(format!(
            "cutoff frequency {} is not possible at sampling rate {fs}; it must be above 0 and below {} (half of it)",
            cutoff[i],
            0.5 * fs
        )));
    }
    if edges.windows(2).any(|w| w[0] >= w[1]) {
        return Err(Error::invalid(format!(
            "cutoff frequencies {cutoff:?} do not rise; pass each one once, from the lowest"
        )));
    }
    let (zero, legal, expected) = match pass_zero {
        PassZero::Is(zero) => (zero, !edges.is_empty(), "one cutoff frequency or more"),
        PassZero::Lowpass => (true, edges.len() == 1, "one cutoff frequency for a low-pass"),
        PassZero::Highpass => (false, edges.len() == 1, "one cutoff frequency for a high-pass"),
        PassZero::Bandpass => (false, edges.len() > 1, "two cutoff frequencies or more for a band-pass"),
        PassZero::Bandstop => (true, edges.len() > 1, "two cutoff frequencies or more for a band-stop"),
    };
    if !legal {
        return Err(Error::invalid(format!("{} cutoff frequencies are given; pass {expected}", edges.len())));
    }
    let nyquist = edges.len().is_multiple_of(2) == zero;
    if nyquist && numtaps.is_multiple_of(2) {
        return Err(Error::invalid(format!(
            "{numtaps} taps, an even number, give no response at half the sampling rate, which this filter passes; pass an odd number such as {}",
            numtaps + 1
        )));
    }
    if zero {
        edges.insert(0, 0.0);
    }
    if nyquist {
        edges.push(1.0);
    }
    Ok(edges.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect())
}

/// `sin(pi x) / (pi x)`.
fn sinc(x: f64) -> f64 {
    let angle = PI * x;
    if angle == 0.0 { 1.0 } else { angle.sin() / angle }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::{Tf, freqz};
    use proptest::prelude::*;

    fn with(pass_zero: PassZero) -> FirwinOptions {
        FirwinOptions { pass_zero, ..Default::default() }
    }

    #[test]
    fn refuses_what_is_no_filter() {
        let message = |numtaps, cutoff: &[f64], fs, pass_zero| {
            firwin(numtaps, cutoff, fs, &with(pass_zero)).unwrap_err().to_string()
        };
        let zero = PassZero::Is(true);
        assert!(message(0, &[0.1], 1.0, zero).contains("1 or more"));
        for f in [0.0, -0.1, 0.5, 0.6, f64::NAN, f64::INFINITY] {
            assert!(message(11, &[f], 1.0, zero).contains("above 0 and below 0.5"), "{f}");
        }
        for fs in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(message(11, &[0.1], fs, zero).contains("finite number above 0"));
        }
        assert!(message(11, &[0.2, 0.1], 1.0, zero).contains("do not rise"));
        assert!(message(11, &[0.2, 0.2], 1.0, zero).contains("do not rise"));
        assert!(message(11, &[], 1.0, zero).contains("one cutoff frequency or more"));
        assert!(message(11, &[0.1, 0.2], 1.0, PassZero::Lowpass).contains("for a low-pass"));
        assert!(message(11, &[], 1.0, PassZero::Highpass).contains("for a high-pass"));
        assert!(message(11, &[0.1], 1.0, PassZero::Bandpass).contains("for a band-pass"));
        assert!(message(11, &[0.1], 1.0, PassZero::Bandstop).contains("for a band-stop"));
        // Type II.
        assert!(message(12, &[0.1], 1.0, PassZero::Highpass).contains("odd number such as 13"));
        assert!(message(12, &[0.1, 0.2], 1.0, zero).contains("odd number"));
        for width in [0.0, -1.0, 0.5, f64::NAN] {
            let options = FirwinOptions { width: Some(width), ..Default::default() };
            assert!(firwin(11, &[0.1], 1.0, &options).unwrap_err().to_string().contains("transition width"));
        }
        // Two taps of a Hann window are zeros.
        let options = FirwinOptions { window: Window::Hann, ..Default::default() };
        assert!(firwin(2, &[0.1], 1.0, &options).unwrap_err().to_string().contains("more taps"));
    }

    #[test]
    fn one_tap_is_the_identity() {
        assert_eq!(firwin(1, &[0.1], 1.0, &FirwinOptions::default()).unwrap(), [1.0]);
    }

    #[test]
    fn a_width_is_reached() {
        let options = FirwinOptions { width: Some(0.05), ..Default::default() };
        let tf = Tf::new(&firwin(101, &[0.2], 1.0, &options).unwrap(), &[1.0]).unwrap();
        let gain = |f: f64| freqz(&tf, &[2.0 * PI * f])[0].abs();
        let ripple = 10f64.powf(-kaiser_atten(101, 0.1) / 20.0);
        assert!((gain(0.175) - 1.0).abs() < 1.1 * ripple && gain(0.225) < 1.1 * ripple, "{ripple}");
    }

    proptest! {
        #[test]
        fn taps_are_symmetric_and_pass_what_they_should(
            half in 10usize..100, low in 0.05..0.2_f64, high in 0.3..0.45_f64, kind in 0..4,
        ) {
            let pass = [PassZero::Lowpass, PassZero::Highpass, PassZero::Bandpass, PassZero::Bandstop][kind as usize];
            let cutoff = if kind < 2 { vec![low] } else { vec![low, high] };
            let h = firwin(2 * half + 1, &cutoff, 1.0, &with(pass)).unwrap();
            prop_assert!(h.iter().eq(h.iter().rev()));
            let at = [0.0, 0.5, 0.5 * (low + high), 0.0][kind as usize];
            let gain = freqz(&Tf::new(&h, &[1.0]).unwrap(), &[2.0 * PI * at])[0].abs();
            prop_assert!((gain - 1.0).abs() < 1e-12, "{}", gain);
        }
    }
}
