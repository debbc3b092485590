//! Transfer functions `b, a` as what runs: sections.

use crate::design::{Sos, Tf};
use crate::error::{Error, ErrorKind, Result};

/// How far the polynomials of the sections may be from those given, by their largest coefficients.
const FAITHFUL: f64 = 1e-10;

/// Second-order sections of the recursion `a[0] y[n] = b[0] x[n] + b[1] x[n-1] + ... - a[1] y[n-1] - ...`. Zeros that lead `b`
/// become sections that delay by a sample.
pub(super) fn sections(b: &[f64], a: &[f64]) -> Result<Sos> {
    if b.is_empty() || a.is_empty() {
        return Tf::new(b, a)?.to_sos();
    }
    // In powers of 1/z: the shorter polynomial has roots at 0.
    let length = b.len().max(a.len());
    let padded = |c: &[f64], length: usize| {
        let mut padded = c.to_vec();
        padded.resize(length.max(c.len()), 0.0);
        padded
    };
    let delay = b.iter().take_while(|v| **v == 0.0).count();
    if delay == b.len() {
        // Nothing passes, but what the poles do is kept.
        let mut silent = sections(&[1.0], a)?.sections().to_vec();
        silent[0][..3].fill(0.0);
        return Sos::new(silent);
    }
    if delay == 0 {
        return faithful(&Tf::new(&padded(b, length), &padded(a, length))?);
    }
    let length = (b.len() - delay).max(a.len());
    let rest = faithful(&Tf::new(&padded(&b[delay..], length), &padded(a, length))?)?;
    let delays = std::iter::repeat_n([0.0, 1.0, 0.0, 1.0, 0.0, 0.0], delay);
    Sos::new(delays.chain(rest.sections().iter().copied()).collect())
}

/// Sections whose polynomials are those given.
fn faithful(tf: &Tf) -> Result<Sos> {
    let sos = tf.to_sos()?;
    let again = sos.to_tf()?;
    for (name, own, other) in [("b", tf.b(), again.b()), ("a", tf.a(), again.a())] {
        let size = own.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        // Roots at 0 may have been left out at the end.
        let at = |c: &[f64], i: usize| c.get(i).copied().unwrap_or(0.0);
        let worst = (0..own.len().max(other.len())).map(|i| (at(own, i) - at(other, i)).abs()).fold(0.0, f64::max);
        if worst.is_nan() || worst > FAITHFUL * size {
            return Err(Error::new(
                ErrorKind::Precision,
                format!(
                    "the roots of {name} cannot be told apart in float64: second-order sections would change its coefficients by {:.0e} of the largest; design the filter as sections and use sosfilt",
                    worst / size
                ),
            ));
        }
    }
    Ok(sos)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::filter::sosfilt::reference;
    use crate::signal::View;

    #[test]
    fn sections_filter_as_the_recursion_does() {
        let x: Vec<f32> = (0..40).map(|n| ((n * 7) % 11) as f32 - 5.0).collect();
        for (b, a) in [
            (&[0.2, 0.3][..], &[1.0, -0.5, 0.25][..]),
            (&[1.0, 0.5, 0.25, 0.125], &[2.0, -0.6]),
            (&[0.0, 0.0, 1.0, 0.5], &[1.0, 0.4, 0.1]),
            (&[0.0, 3.0], &[1.0, -0.9]),
            (&[1.0], &[1.0]),
            (&[0.0, 0.0], &[1.0, -0.5]),
        ] {
            let sos = sections(b, a).unwrap();
            let y = reference::run(sos.sections(), View::new(&x, 1, x.len()).unwrap().into(), None);
            let mut expected = vec![0.0f64; x.len()];
            for n in 0..x.len() {
                let past = |k: usize, of: &dyn Fn(usize) -> f64| n.checked_sub(k).map_or(0.0, of);
                let forward: f64 = b.iter().enumerate().map(|(k, v)| v * past(k, &|i| f64::from(x[i]))).sum();
                let back: f64 = a.iter().enumerate().skip(1).map(|(k, v)| v * past(k, &|i| expected[i])).sum();
                expected[n] = (forward - back) / a[0];
            }
            y.iter().zip(&expected).for_each(|(y, e)| assert!((y - e).abs() < 1e-12, "{b:?} {a:?}: {y} {e}"));
        }
    }

    #[test]
    fn band_stops_of_high_order_keep_their_digits() {
        use crate::design::{Band, butter};
        let x: Vec<f32> = (0..400).map(|n| ((n * 7919) % 101) as f32 / 50.0 - 1.0).collect();
        let view = View::new(&x, 1, x.len()).unwrap();
        for (order, lo, hi) in [(8, 0.106, 0.607), (7, 0.064, 0.363)] {
            let sos = butter(order, Band::Stop(lo, hi), 2.0).unwrap();
            let tf = sos.to_tf().unwrap();
            let y = reference::run(sections(tf.b(), tf.a()).unwrap().sections(), view.into(), None);
            let expected = reference::run(sos.sections(), view.into(), None);
            let error = y.iter().zip(&expected).fold(0.0f64, |m, (y, e)| m.max((y - e).abs()));
            assert!(error < 1e-7, "{order}: {error:.1e}");
        }
    }

    #[test]
    fn what_is_no_filter_is_refused() {
        for (b, a) in [(&[][..], &[1.0][..]), (&[1.0], &[]), (&[1.0], &[0.0, 1.0]), (&[f64::NAN], &[1.0])] {
            assert!(sections(b, a).is_err(), "{b:?} {a:?}");
        }
    }
}
