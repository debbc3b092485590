//! The analytic signal on the CPU: the imaginary part by two real transforms, half the work of complex ones; the real part
//! is the signal itself, to the bit.

use std::f64::consts::{PI, TAU};

use num_complex::Complex;
use rayon::prelude::*;
use rustfft::FftNum;

use super::problem::Analytic;
use crate::error::Result;
use crate::ops::problem::Variant;
use crate::ops::spectral::between::cpu::{Pair, Space};
use crate::ops::spectral::frames::planar;
use crate::signal::{Signal, Source, ViewMut};

/// Variants, the default first.
pub(super) fn variants() -> Vec<Variant> {
    vec![Variant::new("rows", &[])]
}

/// The spectrum of the Hilbert transform of a row of `n` samples, from that of the row.
fn turn<T: FftNum>(n: usize, spectrum: &mut [Complex<T>]) {
    let factor = T::one() / T::from_usize(n).unwrap_or_else(T::one);
    for z in spectrum.iter_mut() {
        *z = Complex::new(z.im * factor, -z.re * factor);
    }
    // What has no counterpart of the other sign does not turn; times zero, so that NaN stays.
    spectrum[0] = Complex::new(spectrum[0].im * T::zero(), T::zero());
    if n.is_multiple_of(2) {
        spectrum[n / 2] = Complex::new(spectrum[n / 2].im * T::zero(), T::zero());
    }
}

/// Computes all channels.
pub(super) fn run(kept: Analytic, variant: &Variant, x: Source<'_>, y: ViewMut<'_>) -> Result<()> {
    debug_assert_eq!(variant.method, "rows");
    let n = x.samples();
    let write = |row: &[f32], quadrature: &[f32], out: &mut [f32]| write(kept, row, quadrature, out);
    Pair::kept(n, n).rows(x, y, |_, spectrum| turn(n, spectrum), write)
}

fn write(kept: Analytic, row: &[f32], quadrature: &[f32], out: &mut [f32]) {
    // A value that is not finite reaches all others through the transforms, and so the real parts, as in scipy.
    if quadrature.first().is_some_and(|v| v.is_nan()) {
        out.fill(f32::NAN);
        return;
    }
    let both = row.iter().zip(quadrature);
    match kept {
        Analytic::Signal => {
            out.as_chunks_mut::<2>().0.iter_mut().zip(both).for_each(|(out, (re, im))| *out = [*re, *im]);
        }
        Analytic::Envelope => out.iter_mut().zip(both).for_each(|(out, (re, im))| {
            let (re, im) = (f64::from(*re), f64::from(*im));
            *out = (re * re + im * im).sqrt() as f32;
        }),
    }
}

/// The unwrapped phase of each channel, all in float64: whether a step goes across half a turn is a matter of the last
/// digits. `write` makes `length` values of it.
pub(super) fn phases(x: Source<'_>, length: usize, write: impl Fn(&[f64], &mut [f32]) + Sync) -> Result<Signal> {
    let n = x.samples();
    let mut y = Signal::dirty(x.channels(), length)?;
    if n == 0 {
        return Ok(y);
    }
    let pair = Pair::<f64>::new(n, n);
    planar(x, |x| {
        let pitch = y.pitch().max(1);
        y.view_mut().into_data().par_chunks_mut(pitch).take(x.channels()).enumerate().try_for_each_init(
            Space::new,
            |space, (channel, out)| {
                let row = x.row(channel).unwrap_or(&[]);
                pair.run(row, space, |spectrum| turn(n, spectrum))?;
                let angles = &mut space.samples;
                angles.iter_mut().zip(row).for_each(|(im, re)| *im = im.atan2(f64::from(*re)));
                unwrap(angles);
                write(angles, &mut out[..length]);
                Ok(())
            },
        )
    })?;
    y.zero_padding();
    Ok(y)
}

/// `numpy.unwrap`: steps of more than half a turn are taken the other way round.
fn unwrap(angles: &mut [f64]) {
    let (mut last, mut turns) = (angles.first().copied().unwrap_or(0.0), 0.0);
    for angle in angles.iter_mut().skip(1) {
        let step = *angle - last;
        last = *angle;
        if step.abs() > PI {
            turns -= (step / TAU).round();
        } else if step.is_nan() {
            turns = f64::NAN;
        }
        *angle += TAU * turns;
    }
}
