//! Filter design, on the host, in float64 from end to end.
//!
//! The route is scipy's: an analogue prototype as zeros, poles and gain, a frequency transform, the bilinear transform,
//! second-order sections. Coefficients never pass through a high-order polynomial, and roots are kept as real values
//! and *one* of each conjugate pair, so that conjugates are exact by construction and nothing has to be matched up
//! within a tolerance afterwards.
//!
//! Names, defaults and the order of sections are those of `scipy.signal` (`output="sos"`); frequencies are in the unit
//! of the sampling rate given.

mod band;
mod complex;
mod firwin;
mod firwin2;
mod iir;
mod kaiser;
mod lags;
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
