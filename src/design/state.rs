//! Initial states of the step response: what a filter's memory holds after a constant input has gone on for ever.

use super::sos::{Sos, sum_at_one};
use crate::error::{Error, Result};

/// The state of each section for a constant input of 1, `scipy.signal.sosfilt_zi`: multiply by the first sample and
/// filtering starts without a transient.
///
/// # Errors
/// A section with a pole at `z = 1` (an integrator), whose step response never settles.
///
/// ```
/// use dspk::design::{Band, butter, sosfilt_zi};
/// let zi = sosfilt_zi(&butter(1, Band::Low(0.5), 2.0)?)?;
/// assert!((zi[0][0] - 0.5).abs() < 1e-15 && zi[0][1] == 0.0);
/// # Ok::<(), dspk::Error>(())
/// ```
pub fn sosfilt_zi(sos: &Sos) -> Result<Vec<[f64; 2]>> {
    let mut input = 1.0;
    let mut zi = Vec::with_capacity(sos.len());
    for (i, &[b0, b1, b2, _, a1, a2]) in sos.sections().iter().enumerate() {
        let gain = sum_at_one(b0, b1, b2) / sum_at_one(1.0, a1, a2);
        if !gain.is_finite() {
            return Err(Error::invalid(format!(
                "sos section {i} has a pole at z = 1 (1 + a1 + a2 = 0), so its step response never settles and it has no steady state; use a zero initial state"
            )));
        }
        // The output is constant, so what is left to be added after each delay is the rest of the sum.
        zi.push([(gain - b0) * input, (b2 - a2 * gain) * input]);
        input *= gain;
    }
    Ok(zi)
}

/// The state of a transposed direct-form filter for a constant input of 1, `scipy.signal.lfilter_zi`:
/// `max(len b, len a) - 1` values.
///
/// # Errors
/// Empty or non-finite coefficients, `a` without a value other than zero, or a pole at `z = 1`.
pub fn lfilter_zi(b: &[f64], a: &[f64]) -> Result<Vec<f64>> {
    for (name, c) in [("b", b), ("a", a)] {
        if c.is_empty() || c.iter().any(|v| !v.is_finite()) {
            return Err(Error::invalid(format!("{name} must hold at least one coefficient, and only finite ones")));
        }
    }
    // As in scipy: zeros that lead `a` are a delay of the whole, dropped.
    let a = &a[a.iter().take_while(|v| **v == 0.0).count()..];
    let Some(&a0) = a.first() else {
        return Err(Error::invalid("a holds only zeros; its first coefficient other than zero scales the filter"));
    };
    let at = |c: &[f64], i: usize| c.get(i).map_or(0.0, |v| v / a0);
    let n = a.len().max(b.len());
    let total = |c: &[f64]| (0..n).map(|i| at(c, i)).sum::<f64>();
    let gain = total(b) / total(a);
    if !gain.is_finite() {
        return Err(Error::invalid(
            "the filter has a pole at z = 1 (its a coefficients sum to 0), so it has no steady state; use a zero initial state",
        ));
    }
    let mut zi = vec![0.0; n - 1];
    let mut rest = 0.0;
    for i in (1..n).rev() {
        rest += at(b, i) - at(a, i) * gain;
        zi[i - 1] = rest;
    }
    Ok(zi)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::{Band, butter};

    #[test]
    fn a_constant_goes_through_without_a_transient() {
        for band in [Band::Low(300.0), Band::High(1.0), Band::Pass(1.0, 40.0), Band::Stop(48.0, 52.0)] {
            let sos = butter(4, band, 1000.0).unwrap();
            let mut x = 1.0;
            for (s, z) in sos.sections().iter().zip(sosfilt_zi(&sos).unwrap()) {
                let y = s[0] * x + z[0];
                let next = [s[1] * x - s[4] * y + z[1], s[2] * x - s[5] * y];
                next.iter().zip(&z).for_each(|(a, b)| assert!((a - b).abs() < 1e-9, "{band:?}: {next:?} {z:?}"));
                x = y;
            }
        }
    }

    #[test]
    fn an_integrator_has_no_steady_state() {
        for a in [[-1.0, 0.0], [-2.0, 1.0]] {
            let sos = Sos::new(vec![[1.0, 0.0, 0.0, 1.0, a[0], a[1]]]).unwrap();
            assert!(sosfilt_zi(&sos).unwrap_err().to_string().contains("pole at z = 1"));
        }
        // 0 / 0: a pole at z = 1 cancelled by a zero has no defined state either.
        assert!(sosfilt_zi(&Sos::new(vec![[1.0, -1.0, 0.0, 1.0, -1.0, 0.0]]).unwrap()).is_err());
        assert!(lfilter_zi(&[1.0], &[1.0, -1.0]).unwrap_err().to_string().contains("pole at z = 1"));
    }

    #[test]
    fn lfilter_states_are_those_of_scipy() {
        // scipy.signal.lfilter_zi([1, 2, 3], [1]); ([2, 1], [2, -1, .5]); ([1, 2, 3], [0, 2, .5])
        assert_eq!(lfilter_zi(&[1.0, 2.0, 3.0], &[1.0]).unwrap(), [5.0, 3.0]);
        let zi = lfilter_zi(&[2.0, 1.0], &[2.0, -1.0, 0.5]).unwrap();
        assert!((zi[0] - 1.0).abs() < 1e-15 && (zi[1] + 0.5).abs() < 1e-15, "{zi:?}");
        let zi = lfilter_zi(&[1.0, 2.0, 3.0], &[0.0, 2.0, 0.5]).unwrap();
        assert!((zi[0] - 1.9).abs() < 1e-15 && (zi[1] - 1.5).abs() < 1e-15, "{zi:?}");
        assert!(lfilter_zi(&[2.0], &[1.0]).unwrap().is_empty());
    }

    #[test]
    fn lfilter_refuses_what_is_not_a_filter() {
        for (b, a) in [(&[][..], &[1.0][..]), (&[1.0], &[]), (&[f64::NAN], &[1.0]), (&[1.0], &[0.0, 0.0])] {
            assert!(lfilter_zi(b, a).is_err(), "{b:?} {a:?}");
        }
    }
}
