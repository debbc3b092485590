//! Minimum-phase filters from linear-phase ones: `scipy.signal.minimum_phase`, by the cepstrum (Oppenheim and Schafer,
//! *Discrete-Time Signal Processing*, 3rd ed., 13.5).
//!
//! The logarithm of a minimum-phase response has a causal transform, which its magnitude alone determines: fold the
//! even cepstrum of the magnitude to positive times and transform back.

use rustfft::FftPlanner;
use rustfft::num_complex::Complex64;

use crate::error::{Error, ErrorKind, Result};

/// How [`minimum_phase`] computes; the default is scipy's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MinimumPhaseOptions {
    /// Length of the transforms, at least that of the filter; longer ones are more accurate. Default: the power of two
    /// not below 200 times the filter's order.
    pub n_fft: Option<usize>,
    /// Whether the filter is half as long with the root of the magnitude, so that two of it in a row have the magnitude
    /// given; false keeps length and magnitude. Default: true.
    pub half: bool,
}

impl Default for MinimumPhaseOptions {
    fn default() -> Self {
        MinimumPhaseOptions { n_fft: None, half: true }
    }
}

/// The filter of least delay with the magnitude of `h`, a symmetric filter of odd length, or its root:
/// `scipy.signal.minimum_phase(h, "homomorphic", n_fft=, half=)`.
///
/// ```
/// use dspk::design::{FirwinOptions, MinimumPhaseOptions, firwin, minimum_phase};
/// let h = firwin(51, &[0.2], 1.0, &FirwinOptions::default())?;
/// let m = minimum_phase(&h, &MinimumPhaseOptions { half: false, ..Default::default() })?;
/// let early = |h: &[f64]| h[..10].iter().map(|v| v * v).sum::<f64>();
/// assert!(m.len() == 51 && early(&m) > 100.0 * early(&h));
/// # Ok::<(), dspk::Error>(())
/// ```
///
/// # Errors
/// Fewer than three coefficients, some that are not finite or only zeros, an `n_fft` below their number, or more memory
/// than there is.
pub fn minimum_phase(h: &[f64], options: &MinimumPhaseOptions) -> Result<Vec<f64>> {
    if h.len() < 3 || h.iter().any(|v| !v.is_finite()) || h.iter().all(|v| *v == 0.0) {
        return Err(Error::invalid(format!(
            "a filter of {} coefficients was given; pass 3 or more, finite and not all 0",
            h.len()
        )));
    }
    let too_long = || {
        let message = format!("there is no memory for transforms of a filter of {} coefficients", h.len());
        Error::new(ErrorKind::OutOfMemory, message)
    };
    let n_fft = match options.n_fft {
        Some(n_fft) if n_fft < h.len() => {
            return Err(Error::invalid(format!("n_fft is {n_fft}; pass at least the {} coefficients", h.len())));
        }
        Some(n_fft) => n_fft,
        None => (h.len() - 1).checked_mul(200).and_then(usize::checked_next_power_of_two).ok_or_else(too_long)?,
    };
    let mut buffer = Vec::new();
    buffer.try_reserve_exact(n_fft).map_err(|e| too_long().with_source(e))?;
    buffer.extend(h.iter().map(|v| Complex64::from(*v)));
    buffer.resize(n_fft, Complex64::default());

    let mut planner = FftPlanner::new();
    let (forward, inverse) = (planner.plan_fft_forward(n_fft), planner.plan_fft_inverse(n_fft));
    forward.process(&mut buffer);
    // The logarithm of a zero of the response stays finite.
    let least = buffer.iter().map(|v| v.norm()).filter(|v| *v > 0.0).fold(f64::INFINITY, f64::min);
    let exponent = if options.half { 0.5 } else { 1.0 };
    buffer.iter_mut().for_each(|v| *v = Complex64::from((v.norm() + 1e-7 * least).ln() * exponent));
    inverse.process(&mut buffer);
    let middle = n_fft / 2;
    for (n, v) in buffer.iter_mut().enumerate() {
        let fold = match n {
            0 => 1.0,
            n if n < middle => 2.0,
            n if n == middle && n_fft % 2 == 1 => 1.0,
            _ => 0.0,
        };
        *v = Complex64::from(v.re * fold / n_fft as f64);
    }
    forward.process(&mut buffer);
    buffer.iter_mut().for_each(|v| *v = v.exp());
    inverse.process(&mut buffer);
    let length = if options.half { h.len().div_ceil(2) } else { h.len() };
    Ok(buffer[..length].iter().map(|v| v.re / n_fft as f64).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_has_no_magnitude() {
        let plain = MinimumPhaseOptions::default();
        for h in [&[][..], &[1.0, 1.0], &[1.0, f64::NAN, 1.0], &[0.0; 5]] {
            assert!(minimum_phase(h, &plain).unwrap_err().to_string().contains("3 or more"), "{h:?}");
        }
        let short = MinimumPhaseOptions { n_fft: Some(4), ..plain };
        assert!(minimum_phase(&[1.0; 5], &short).unwrap_err().to_string().contains("at least the 5"));
        let long = MinimumPhaseOptions { n_fft: Some(usize::MAX), ..plain };
        assert_eq!(minimum_phase(&[1.0; 5], &long).unwrap_err().kind(), ErrorKind::OutOfMemory);
    }

    #[test]
    fn the_magnitude_is_kept() {
        // (1 + 2/z)(2 + 1/z): its minimum-phase form is (2 + 1/z)^2, its root 2 + 1/z.
        let h = [2.0, 5.0, 2.0];
        let whole = minimum_phase(&h, &MinimumPhaseOptions { half: false, n_fft: Some(4096) }).unwrap();
        let root = minimum_phase(&h, &MinimumPhaseOptions { half: true, n_fft: Some(4096) }).unwrap();
        assert_eq!((whole.len(), root.len()), (3, 2));
        whole.iter().zip([4.0, 4.0, 1.0]).for_each(|(h, want)| assert!((h - want).abs() < 1e-6, "{h} {want}"));
        root.iter().zip([2.0, 1.0]).for_each(|(h, want)| assert!((h - want).abs() < 1e-6, "{h} {want}"));
    }

    #[test]
    fn coefficients_are_those_of_scipy() {
        // scipy.signal.minimum_phase(firwin(31, 0.3), half=half, n_fft=n_fft)[[0, 1, 7]]
        let h = crate::design::firwin(31, &[0.3], 2.0, &crate::design::FirwinOptions::default()).unwrap();
        for (half, n_fft, expected) in [
            (true, None, [0.11269144873744297, 0.2299285913854858, -0.08906223446327696]),
            (false, None, [0.012699405562267342, 0.051822129145461325, 0.053498832393343326]),
            (true, Some(1001), [0.11208985798716394, 0.22901293148967022, -0.08976343517580472]),
            (false, Some(64), [0.01471230820007016, 0.0594301571362647, 0.040818973507658625]),
        ] {
            let m = minimum_phase(&h, &MinimumPhaseOptions { half, n_fft }).unwrap();
            for (i, want) in [0, 1, 7].into_iter().zip(expected) {
                assert!((m[i] - want).abs() < 1e-12, "{half} {n_fft:?} {i}: {}, scipy {want}", m[i]);
            }
        }
    }
}
