//! Linear-phase filters of any response: `scipy.signal.firwin2`, by sampling the response and a window (Oppenheim and
//! Schafer, *Discrete-Time Signal Processing*, 7.2).

use std::f64::consts::PI;

use rustfft::num_complex::Complex64;

use super::{Window, get_window};
use crate::error::{Error, ErrorKind, Result};

/// How [`firwin2`] designs; the default is scipy's.
#[derive(Debug, Clone, PartialEq)]
pub struct Firwin2Options {
    /// How many frequencies the response is sampled at; more than the taps. Default: the power of two not below the
    /// number of taps, plus one.
    pub nfreqs: Option<usize>,
    /// The window, symmetric; `None` for none. Default: Hamming.
    pub window: Option<Window>,
    /// Taps that change sign at their middle: differentiators, Hilbert transformers. Default: false.
    pub antisymmetric: bool,
}

impl Default for Firwin2Options {
    fn default() -> Self {
        Firwin2Options { nfreqs: None, window: Some(Window::Hamming), antisymmetric: false }
    }
}

/// `numtaps` coefficients of a filter whose gain goes through `(frequency, gain)` points by straight lines:
/// `scipy.signal.firwin2(numtaps, freq, gain, ..., fs=fs)`.
///
/// The first point's frequency is 0, the last one's half of `fs`; two points at one frequency make a step.
///
/// ```
/// use dspk::design::{Firwin2Options, firwin2};
/// let h = firwin2(151, &[(0.0, 1.0), (0.5, 1.0), (0.5, 0.0), (1.0, 0.0)], 2.0, &Firwin2Options::default())?;
/// assert!(h.iter().eq(h.iter().rev()));
/// assert!((h.iter().sum::<f64>() - 1.0).abs() < 1e-2);
/// # Ok::<(), dspk::Error>(())
/// ```
///
/// # Errors
/// No taps; not more frequencies sampled than taps; points that do not begin at 0, end at half of `fs`, rise, and are
/// finite, or of which more than two, or the first or last two, share a frequency; a gain other than 0 at an end where
/// such a filter has none (even numbers of taps at half of `fs`, antisymmetric ones at 0, those of odd number at both);
/// those of [`get_window`].
pub fn firwin2(numtaps: usize, points: &[(f64, f64)], fs: f64, options: &Firwin2Options) -> Result<Vec<f64>> {
    let nfreqs = match options.nfreqs {
        _ if numtaps == 0 => {
            return Err(Error::invalid("a filter of 0 taps was asked for; pass numtaps of 1 or more"));
        }
        Some(nfreqs) if nfreqs <= numtaps => {
            return Err(Error::invalid(format!(
                "the response is sampled at nfreqs = {nfreqs} frequencies; pass more than the {numtaps} taps"
            )));
        }
        Some(nfreqs) => nfreqs,
        None => numtaps.checked_next_power_of_two().ok_or_else(|| too_long(numtaps))? + 1,
    };
    let points = checked(points, fs)?;
    check_ends(numtaps, &points, options.antisymmetric)?;
    let mut h = sampled(numtaps, nfreqs, &points, options.antisymmetric)?;
    if let Some(window) = &options.window {
        h.iter_mut().zip(get_window(window, numtaps, false)?).for_each(|(h, w)| *h *= w);
    }
    Ok(h)
}

fn too_long(len: usize) -> Error {
    Error::new(ErrorKind::OutOfMemory, format!("there is no memory for a response of {len} frequencies; ask for less"))
}

/// The points with their frequencies as fractions of the Nyquist frequency, steps drawn apart by a rounding error.
fn checked(points: &[(f64, f64)], fs: f64) -> Result<Vec<(f64, f64)>> {
    if !(fs.is_finite() && fs > 0.0) {
        return Err(Error::invalid(format!("sampling rate fs = {fs} is not possible; pass a finite number above 0")));
    }
    let nyquist = 0.5 * fs;
    if let Some((f, gain)) = points.iter().find(|(f, gain)| !(f.is_finite() && gain.is_finite())) {
        return Err(Error::invalid(format!("the gain {gain} at frequency {f} is not possible; pass finite numbers")));
    }
    let ends = (points.first().map(|p| p.0), points.last().map(|p| p.0));
    if points.len() < 2 || ends != (Some(0.0), Some(nyquist)) {
        return Err(Error::invalid(format!(
            "the frequencies must begin with 0 and end with {nyquist}, half the sampling rate; add these points"
        )));
    }
    if let Some(w) = points.windows(2).find(|w| w[0].0 > w[1].0) {
        return Err(Error::invalid(format!("frequency {} follows {}; pass them from the lowest", w[1].0, w[0].0)));
    }
    if let Some(w) = points.windows(3).find(|w| w[0].0 == w[2].0) {
        return Err(Error::invalid(format!("frequency {} occurs more than twice; a step has two points", w[0].0)));
    }
    let n = points.len();
    if points[1].0 == 0.0 || points[n - 2].0 == nyquist {
        return Err(Error::invalid(format!("frequencies 0 and {nyquist} are repeated; a step lies between them")));
    }
    let mut scaled: Vec<(f64, f64)> = points.iter().map(|(f, gain)| (f / nyquist, *gain)).collect();
    for k in 0..n - 1 {
        if points[k].0 == points[k + 1].0 {
            scaled[k].0 -= f64::EPSILON;
            scaled[k + 1].0 += f64::EPSILON;
        }
    }
    if let Some(k) = (1..n).find(|k| scaled[k - 1].0 >= scaled[*k].0) {
        return Err(Error::invalid(format!(
            "frequencies {} and {} are too close to a step; keep them apart by more than a rounding error",
            points[k - 1].0,
            points[k].0
        )));
    }
    Ok(scaled)
}

/// Gains that the symmetry of the taps does not allow.
fn check_ends(numtaps: usize, points: &[(f64, f64)], antisymmetric: bool) -> Result<()> {
    let even = numtaps.is_multiple_of(2);
    let (zero, nyquist) = (points[0].1 == 0.0, points[points.len() - 1].1 == 0.0);
    let fault = match (antisymmetric, even) {
        (false, true) if !nyquist => "an even number of taps has no gain at half the sampling rate",
        (true, false) if !(zero && nyquist) => {
            "an antisymmetric filter of an odd number of taps has no gain at 0 and at half the sampling rate"
        }
        (true, true) if !zero => "an antisymmetric filter has no gain at 0",
        _ => return Ok(()),
    };
    Err(Error::invalid(format!("{fault}; pass gain 0 there, or another number of taps than {numtaps}")))
}

/// The response sampled at `nfreqs` frequencies, transformed: its first `numtaps` samples, delayed by half of them.
fn sampled(numtaps: usize, nfreqs: usize, points: &[(f64, f64)], antisymmetric: bool) -> Result<Vec<f64>> {
    let intervals = nfreqs - 1;
    let period = intervals.checked_mul(2).ok_or_else(|| too_long(nfreqs))?;
    let mut spectrum = Vec::new();
    spectrum.try_reserve_exact(period).map_err(|e| too_long(nfreqs).with_source(e))?;
    let mut next = 1;
    for k in 0..nfreqs {
        let f = k as f64 / intervals as f64;
        while next + 1 < points.len() && points[next].0 < f {
            next += 1;
        }
        let ((f0, g0), (f1, g1)) = (points[next - 1], points[next]);
        let gain = if f >= f1 { g1 } else { g0 + (g1 - g0) / (f1 - f0) * (f - f0) };
        // Half of the taps' length as an angle, pi k (numtaps - 1) / period, reduced before it is rounded.
        let turns = (k as u128 * (numtaps as u128 - 1)) % (2 * period as u128);
        let (sin, cos) = (PI * turns as f64 / period as f64).sin_cos();
        spectrum.push(if antisymmetric { Complex64::new(sin, cos) } else { Complex64::new(cos, -sin) } * gain);
    }
    // What makes the taps real: the other half is the conjugate, and the two ends are real.
    for end in [0, intervals] {
        spectrum[end].im = 0.0;
    }
    for k in (1..intervals).rev() {
        spectrum.push(spectrum[k].conj());
    }
    rustfft::FftPlanner::new().plan_fft_inverse(period).process(&mut spectrum);
    let mut h: Vec<f64> = spectrum[..numtaps].iter().map(|v| v.re / period as f64).collect();
    // Exactly symmetric, where the transform is so only to rounding.
    for n in 0..numtaps / 2 {
        h[numtaps - 1 - n] = if antisymmetric { -h[n] } else { h[n] };
    }
    if antisymmetric && numtaps % 2 == 1 {
        h[numtaps / 2] = 0.0;
    }
    Ok(h)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_is_no_response() {
        let message = |numtaps, points: &[(f64, f64)], options: &Firwin2Options| {
            firwin2(numtaps, points, 2.0, options).unwrap_err().to_string()
        };
        let plain = Firwin2Options::default();
        let flat = [(0.0, 1.0), (1.0, 1.0)];
        assert!(message(0, &flat, &plain).contains("1 or more"));
        assert!(message(8, &flat, &plain).contains("even number of taps"));
        let few = Firwin2Options { nfreqs: Some(9), ..Default::default() };
        assert!(message(9, &flat, &few).contains("more than the 9 taps"));
        for points in [&[][..], &[(0.0, 1.0)], &[(0.1, 1.0), (1.0, 1.0)], &[(0.0, 1.0), (0.9, 1.0)]] {
            assert!(message(9, points, &plain).contains("begin with 0 and end with 1"));
        }
        assert!(message(9, &[(0.0, 1.0), (0.5, 1.0), (0.4, 1.0), (1.0, 1.0)], &plain).contains("from the lowest"));
        assert!(message(9, &[(0.0, 1.0), (0.5, 1.0), (0.5, 1.0), (0.5, 0.0), (1.0, 1.0)], &plain).contains("twice"));
        assert!(message(9, &[(0.0, 1.0), (0.0, 0.5), (1.0, 1.0)], &plain).contains("are repeated"));
        assert!(message(9, &[(0.0, 1.0), (0.5, f64::NAN), (1.0, 1.0)], &plain).contains("finite"));
        let close = [(0.0, 1.0), (0.5, 1.0), (0.5, 0.0), (0.5f64.next_up(), 0.0), (1.0, 0.0)];
        assert!(message(9, &close, &plain).contains("too close"));
        let anti = Firwin2Options { antisymmetric: true, ..Default::default() };
        assert!(message(9, &[(0.0, 0.0), (1.0, 1.0)], &anti).contains("at 0 and at half"));
        assert!(message(8, &flat, &anti).contains("has no gain at 0;"));
        assert!(firwin2(9, &flat, f64::NAN, &plain).is_err());
        let e = firwin2(usize::MAX / 2, &flat, 2.0, &plain).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::OutOfMemory);
    }

    #[test]
    fn a_flat_response_is_an_impulse() {
        let h =
            firwin2(9, &[(0.0, 1.0), (1.0, 1.0)], 2.0, &Firwin2Options { window: None, ..Default::default() }).unwrap();
        h.iter().enumerate().for_each(|(n, h)| assert!((h - f64::from(u8::from(n == 4))).abs() < 1e-15, "{n}: {h}"));
        assert_eq!(firwin2(1, &[(0.0, 1.0), (1.0, 1.0)], 2.0, &Firwin2Options::default()).unwrap(), [1.0]);
    }
}
