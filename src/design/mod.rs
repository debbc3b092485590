//! Filter design, on the host, in float64 from end to end.
//!
//! The route is scipy's: an analogue prototype as zeros, poles and gain, a frequency transform, the bilinear transform,
//! second-order sections. Coefficients never pass through a high-order polynomial, and roots are kept as real values
//! and *one* of each conjugate pair, so that conjugates are exact by construction and nothing has to be matched up
//! within a tolerance afterwards.
//!
//! Names, defaults and the order of sections are those of `scipy.signal` (`output="sos"`); frequencies are in the unit
//! of the sampling rate given.

mod butter;
mod complex;
mod response;
mod sos;
mod state;
mod window;
mod zpk;

pub use butter::{Band, butter};
pub use complex::Complex;
pub use response::freqz_sos;
pub use sos::Sos;
pub use state::{lfilter_zi, sosfilt_zi};
pub use window::{Window, dpss, get_window};
