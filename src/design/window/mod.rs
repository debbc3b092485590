//! Window functions in float64: `scipy.signal.get_window` with scipy's names, parameters and defaults.
//!
//! Every window but one is symmetric, so one half is computed and mirrored: symmetry is exact, whatever the rounding. A
//! *periodic* window (`fftbins`, for spectra) is the symmetric one of one sample more without its last, which is what
//! makes its shifted copies sum evenly. Where scipy's route loses digits, another one is taken here: Kaiser by scaled
//! Bessel functions (any `beta`), Dolph-Chebyshev without the cancellation next to its main lobe (any length), the
//! Slepian sequences by a factorisation that sees only small numbers ([`dpss`]).

mod bessel;
mod chebwin;
mod dpss;
mod names;
mod shapes;

pub use dpss::dpss;

use crate::error::{Error, ErrorKind, Result};

/// A window function with its parameters.
///
/// ```
/// use dspk::design::Window;
/// assert_eq!(Window::default(), Window::Hann);
/// assert_eq!("blackman".parse::<Window>()?, Window::Blackman);
/// assert_eq!(Window::named("kaiser", &[Some(8.6)])?, Window::from(8.6));
/// # Ok::<(), dspk::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub enum Window {
    /// Ones.
    Boxcar,
    /// Triangle that does not reach zero.
    Triang,
    /// Triangle with zeros at its ends.
    Bartlett,
    /// Raised cosine.
    #[default]
    Hann,
    /// Raised cosine on a pedestal, 0.54 and 0.46.
    Hamming,
    /// Cosine sum of three terms.
    Blackman,
    /// Cosine sum of four terms, least side lobes.
    BlackmanHarris,
    /// Cosine sum of four terms, Nuttall's.
    Nuttall,
    /// Cosine sum of five terms for exact amplitudes.
    Flattop,
    /// Half a period of a sine.
    Cosine,
    /// Four boxcars convolved.
    Parzen,
    /// Two half cosines convolved.
    Bohman,
    /// Bartlett and Hann combined.
    Barthann,
    /// Main lobe of a sinc.
    Lanczos,
    /// Ones between the halves of a Hann window.
    Tukey {
        /// Share of the window that tapers; at 0 and below a boxcar, at 1 and above Hann. scipy's default is 0.5.
        alpha: f64,
    },
    /// Kaiser's approximation of the Slepian window.
    Kaiser {
        /// Shape: 0 is a boxcar, 8.6 close to Blackman.
        beta: f64,
    },
    /// For the modified discrete cosine transform; an even number of samples, symmetric only.
    KaiserBesselDerived {
        /// Shape of the Kaiser window summed up.
        beta: f64,
    },
    /// Bell curve.
    Gaussian {
        /// Standard deviation in samples, above 0.
        std: f64,
    },
    /// `exp(-|n / sig|^(2p) / 2)`.
    GeneralGaussian {
        /// Shape, above 0: 1 is Gaussian, 0.5 Laplacian.
        p: f64,
        /// Width in samples, above 0.
        sig: f64,
    },
    /// `alpha + (1 - alpha) cos`.
    GeneralHamming {
        /// Weight of the constant.
        alpha: f64,
    },
    /// Cosine sum of any weights, the constant's first.
    GeneralCosine(Vec<f64>),
    /// `exp(-|n - center| / tau)`.
    Exponential {
        /// Sample of the peak, the middle if `None`. Periodic windows only.
        center: Option<f64>,
        /// Decay in samples, above 0. scipy's default is 1.
        tau: f64,
    },
    /// First Slepian sequence: the most energy in a band.
    Dpss {
        /// Half the bandwidth times the length; above 0 and below half the length.
        nw: f64,
    },
    /// Dolph-Chebyshev: the narrowest main lobe for side lobes of one height.
    Chebwin {
        /// Attenuation of the side lobes in dB; the sign does not matter. Below 45, unfit for spectral analysis.
        at: f64,
    },
    /// Side lobes nearly of one height next to the main lobe, falling beyond.
    Taylor {
        /// Number of those side lobes, 1 to 1000. scipy's default is 4.
        nbar: usize,
        /// Their suppression in dB, 0 or more. scipy's default is 30.
        sll: f64,
        /// Scale to a maximum of 1 in the middle. scipy's default is true.
        norm: bool,
    },
}

/// Beyond this many dB an amplitude leaves float64's range.
const MAX_DB: f64 = 6000.0;
const MAX_NBAR: usize = 1000;

/// A window of `nx` samples, `scipy.signal.get_window(window, nx, fftbins)`: periodic with `fftbins`, as spectra need
/// it, else symmetric, as filters do.
///
/// One deviation from scipy: parameters that it turns into NaN, or into something that is not a window, are errors.
///
/// ```
/// use dspk::design::{Window, get_window};
/// let w = get_window(&Window::Hann, 4, true)?;
/// assert!(w.iter().zip([0.0, 0.5, 1.0, 0.5]).all(|(a, b)| (a - b).abs() < 1e-15));
/// let w = get_window(&Window::Kaiser { beta: 8.6 }, 65, false)?;
/// assert_eq!((w[32], w[0]), (1.0, w[64]));
/// # Ok::<(), dspk::Error>(())
/// ```
///
/// # Errors
/// No samples, more than memory holds, a parameter outside the range stated at [`Window`], or a form that the window does
/// not have (a periodic Kaiser-Bessel derived one, a symmetric exponential one with a center).
pub fn get_window(window: &Window, nx: usize, fftbins: bool) -> Result<Vec<f64>> {
    window.check(nx, fftbins)?;
    if nx == 1 {
        return Ok(vec![1.0]);
    }
    let m = nx.checked_add(usize::from(fftbins)).ok_or_else(|| too_long(nx))?;
    let mut w = window.symmetric(m)?;
    w.truncate(nx);
    Ok(w)
}

impl Window {
    /// What holds for the parameters whatever the window's computation.
    fn check(&self, nx: usize, fftbins: bool) -> Result<()> {
        if nx == 0 {
            return Err(Error::invalid("a window of 0 samples was asked for; pass Nx of 1 or more"));
        }
        let finite = |name, v: f64| range(self, name, v, v.is_finite(), "a finite number");
        let positive = |name, v: f64| range(self, name, v, v.is_finite() && v > 0.0, "a finite number above 0");
        match *self {
            Window::Tukey { alpha } | Window::GeneralHamming { alpha } => finite("alpha", alpha),
            Window::Kaiser { beta } => finite("beta", beta),
            Window::KaiserBesselDerived { beta } if fftbins || nx % 2 == 1 => finite("beta", beta).and_then(|()| {
                Err(Error::invalid(format!(
                    "the Kaiser-Bessel derived window is symmetric and has an even number of samples, not {} of {nx}; pass fftbins = false and an even Nx",
                    if fftbins { "the periodic form" } else { "the symmetric form" }
                )))
            }),
            Window::KaiserBesselDerived { beta } => finite("beta", beta),
            Window::Gaussian { std } => positive("std", std),
            Window::GeneralGaussian { p, sig } => positive("p", p).and_then(|()| positive("sig", sig)),
            Window::GeneralCosine(ref weights) if weights.is_empty() => {
                Err(Error::invalid("the general cosine window has no weights; pass at least one"))
            }
            Window::GeneralCosine(ref weights) => weights.iter().try_for_each(|a| finite("a", *a)),
            Window::Exponential { center: Some(_), .. } if !fftbins => Err(Error::invalid(
                "a symmetric exponential window has its center in the middle; pass center = null, or fftbins = true",
            )),
            Window::Exponential { center, tau } => {
                finite("center", center.unwrap_or(0.0)).and_then(|()| positive("tau", tau))
            }
            Window::Dpss { nw } if nx > 1 => dpss::check_bandwidth(nw, nx),
            Window::Dpss { nw } => positive("NW", nw),
            Window::Chebwin { at } => range(self, "at", at, at.abs() <= MAX_DB, "at most 6000 dB"),
            Window::Taylor { nbar, sll, .. } => range(
                self,
                "nbar",
                nbar as f64,
                (1..=MAX_NBAR).contains(&nbar),
                "a whole number from 1 to 1000",
            )
            .and_then(|()| range(self, "sll", sll, (0.0..=MAX_DB).contains(&sll), "from 0 to 6000 dB")),
            _ => Ok(()),
        }
    }
}

fn range(window: &Window, name: &str, value: f64, legal: bool, expected: &str) -> Result<()> {
    if legal {
        return Ok(());
    }
    Err(Error::invalid(format!("parameter {name} = {value} of the window {} must be {expected}", window.name())))
}

fn too_long(len: usize) -> Error {
    Error::new(
        ErrorKind::OutOfMemory,
        format!("there is no memory for a window of {len} samples; ask for a shorter one"),
    )
}

/// As many of `value`, or an error where memory ends.
fn buffer<T: Clone>(len: usize, value: T) -> Result<Vec<T>> {
    let mut values = Vec::new();
    values.try_reserve_exact(len).map_err(|e| too_long(len).with_source(e))?;
    values.resize(len, value);
    Ok(values)
}

#[cfg(test)]
mod tests;
