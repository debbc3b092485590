//! Filter design, on the host, in float64 from end to end.
//!
//! The route is scipy's: an analogue prototype as zeros, poles and gain, a frequency transform, the bilinear transform,
//! second-order sections. Coefficients never pass through a high-order polynomial, and roots are kept as real values
//! and *one* of each conjugate pair, so that conjugates are exact by construction and nothing has to be matched up
//! within a tolerance afterwards.
//!
//! Names, defaults and the order of sections are those of `scipy.signal` (`output="sos"`); frequencies are in the unit
//! of the sampling rate given.
//!
//! A recursive filter has three forms: [`Zpk`] (zeros, poles and gain), [`Sos`] (second-order sections: what is run) and
//! [`Tf`] (coefficients `b`, `a`); each is made of the others by its methods, under scipy's names as search aliases
//! (`zpk2sos`, `sos2tf`, ...). [`iirfilter`] designs any [`Prototype`]; [`butter`], [`cheby1`], [`cheby2`], [`ellip`] and
//! [`bessel`] go on to sections. Filters of finite length are plain lists of coefficients ([`firwin`], [`firwin2`],
//! [`savgol_coeffs`]).
//!
//! ```
//! use dspk::design::{Band, Prototype, freqz_sos, iirfilter};
//! // 60 dB from 500 Hz on, 0.1 dB up to 400: an elliptic filter of order 7 at 2 kHz.
//! let zpk = iirfilter(7, Prototype::Ellip { rp: 0.1, rs: 60.0 }, Band::Low(400.0), 2000.0)?;
//! let at = |f: f64| 2.0 * std::f64::consts::PI * f / 2000.0;
//! let h = freqz_sos(&zpk.to_sos()?, &[at(400.0), at(500.0)]);
//! assert!((20.0 * h[0].abs().log10() + 0.1).abs() < 1e-9);
//! assert!(20.0 * h[1].abs().log10() < -59.9);
//! # Ok::<(), dspk::Error>(())
//! ```

mod band;
mod complex;
mod firwin;
mod firwin2;
mod iir;
mod kaiser;
mod lags;
mod minimum_phase;
mod notch;
mod pairing;
mod polynomial;
mod prototype;
mod response;
mod roots;
mod savgol;
mod sos;
mod state;
mod transfer;
mod transform;
mod window;
mod zpk;

pub use band::Band;
pub use complex::Complex;
pub use firwin::{FirwinOptions, PassZero, firwin};
pub use firwin2::{Firwin2Options, firwin2};
pub use iir::{bessel, butter, cheby1, cheby2, ellip, iirfilter};
pub use kaiser::{kaiser_atten, kaiser_beta, kaiserord};
pub use lags::{LagMode, correlation_lags};
pub use minimum_phase::{MinimumPhaseOptions, minimum_phase};
pub use notch::{iirnotch, iirpeak};
pub use pairing::Pairing;
pub use prototype::{BesselNorm, Prototype};
pub use response::{freqz, freqz_sos};
pub use savgol::{SavgolCoeffsOptions, TapOrder, savgol_coeffs};
pub use sos::Sos;
pub use state::{lfilter_zi, sosfilt_zi};
pub use transfer::{Tf, tf2sos, tf2zpk};
pub use window::{Window, dpss, get_window};
pub use zpk::Zpk;
