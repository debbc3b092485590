//! Analogue low-pass filters with their edge at 1 rad/s: what every design starts from.

mod bessel;
mod chebyshev;
mod elliptic;
mod theta;

use std::f64::consts::PI;

use super::zpk::Roots;
use super::{Complex, Zpk};
use crate::error::{Error, Result};

/// Orders above this are refused: no filter of use has one, and gains run out of float64's range.
pub(super) const MAX_ORDER: usize = 500;
/// Beyond this many dB an amplitude's square leaves float64's range.
const MAX_DB: f64 = 3000.0;

/// The kind of an IIR filter: `ftype` of `scipy.signal.iirfilter`, with what it needs.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Prototype {
    /// Maximally flat; the edges are the -3 dB points.
    Butter,
    /// Chebyshev's first kind: ripple in the pass band, whose end is the edge.
    Cheby1 {
        /// Ripple of the pass band in dB, above 0.
        rp: f64,
    },
    /// Chebyshev's second kind: ripple in the stop band, whose beginning is the edge.
    Cheby2 {
        /// Attenuation of the stop band in dB, above 0.
        rs: f64,
    },
    /// Cauer's: ripple in both bands, the steepest of an order; the end of the pass band is the edge.
    Ellip {
        /// Ripple of the pass band in dB, above 0.
        rp: f64,
        /// Attenuation of the stop band in dB, above `rp`.
        rs: f64,
    },
    /// Thomson's: constant delay in the pass band.
    Bessel(BesselNorm),
}

/// What the edge of a Bessel filter is: `norm` of `scipy.signal.bessel`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BesselNorm {
    /// The middle of the phase's range; the asymptotes are those of Butterworth.
    #[default]
    Phase,
    /// The reciprocal of the delay at low frequencies, in radians per second.
    Delay,
    /// The -3 dB point.
    Mag,
}

impl Prototype {
    /// The analogue low-pass of this order with its edge at 1 rad/s.
    pub(super) fn analogue(self, order: usize) -> Result<Zpk> {
        if !(1..=MAX_ORDER).contains(&order) {
            return Err(Error::invalid(format!(
                "filter order {order} is not possible; pass 1 to {MAX_ORDER} (2 to 8 is usual)"
            )));
        }
        match self {
            Prototype::Butter => Ok(butterworth(order)),
            Prototype::Cheby1 { rp } => {
                decibels("the pass band's ripple rp", rp, 0.0)?;
                Ok(chebyshev::first(order, rp))
            }
            Prototype::Cheby2 { rs } => {
                decibels("the stop band's attenuation rs", rs, 0.0)?;
                Ok(chebyshev::second(order, rs))
            }
            Prototype::Ellip { rp, rs } => {
                decibels("the pass band's ripple rp", rp, 0.0)?;
                decibels("the stop band's attenuation rs", rs, rp)?;
                Ok(elliptic::elliptic(order, rp, rs))
            }
            Prototype::Bessel(norm) => bessel::bessel(order, norm),
        }
    }
}

fn decibels(what: &str, value: f64, above: f64) -> Result<()> {
    if value > above && value <= MAX_DB {
        return Ok(());
    }
    let lowest = if above == 0.0 { "0".to_string() } else { format!("rp = {above}") };
    Err(Error::invalid(format!(
        "{what} = {value:?} dB is not possible; pass a value above {lowest} and at most {MAX_DB}"
    )))
}

/// `sqrt(10^(db / 10) - 1)`, how far a level lies beyond the flat part.
fn excess(db: f64) -> f64 {
    (std::f64::consts::LN_10 * 0.1 * db).exp_m1().sqrt()
}

/// The poles divide the left half of the unit circle (S. Butterworth, *On the theory of filter amplifiers*, 1930).
fn butterworth(order: usize) -> Zpk {
    let mut poles = Roots::default();
    for k in 0..order / 2 {
        // Half the angle between the pole and the imaginary axis's end, 2k + 1 of 2 * order steps.
        let angle = PI * (2 * k + 1) as f64 / (2 * order) as f64;
        poles.pairs.push(Complex::new(-angle.sin(), angle.cos()));
    }
    if order % 2 == 1 {
        poles.real.push(-1.0);
    }
    Zpk { zeros: Roots::default(), poles, gain: 1.0 }
}
