//! Discrete prolate spheroidal (Slepian) sequences.
//!
//! They are the eigenvectors of a tridiagonal matrix that commutes with the concentration problem (Slepian 1978). Its
//! entries grow as the square of the length, while its wanted eigenvalues lie next to each other at the top: taken as it
//! is, 10^5 samples cost eight digits. Subtracted from `(m^2 - 1) / 4`, it falls apart into
//!
//! - a chain of springs `e[i] = i (m - i) / 2` between neighbours, whose rows sum to zero, and
//! - a small potential `V[i] = 2 sin^2(pi W) (i - (m - 1) / 2)^2`,
//!
//! and the pivots of its factorisation are `e[i+1] + t[i]` with `t[i] = V[i] - s + e[i] t[i-1] / (e[i] + t[i-1])`: a
//! recurrence in which the large part never meets the small one. Eigenvalue `k` lies between those of the springs,
//! `k (k + 1) / 2`, and that plus the greatest potential; counting negative pivots bisects to one eigenvalue, and
//! Rayleigh quotients with the twisted factorisation (Dhillon and Parlett) take it to the last digit, each step giving
//! the vector too. The sequences are even and odd in turn, so half the length is enough for each.

use std::f64::consts::PI;

use super::{buffer, range};
use crate::design::Window;
use crate::error::{Error, Result};

/// The first `kmax` Slepian sequences of `m` samples for the half bandwidth `nw / m`, and the share of each one's energy
/// within it: `scipy.signal.windows.dpss(m, nw, kmax, return_ratios=True)`, for multitaper spectra.
///
/// Sequences have unit energy and scipy's signs: the sum of even ones is positive, and so is of odd ones the first sample
/// that holds more than a share of `1 / m` of the energy.
///
/// ```
/// use dspk::design::dpss;
/// let (tapers, ratios) = dpss(256, 4.0, 7)?;
/// assert_eq!((tapers.len(), tapers[0].len()), (7, 256));
/// assert!(ratios[0] > 0.999_999_999 && ratios[6] > 0.7);
/// # Ok::<(), dspk::Error>(())
/// ```
///
/// # Errors
/// `nw` not above 0 and below `m / 2`, `kmax` outside 1 to `m`, or no memory for `kmax * m` values.
pub fn dpss(m: usize, nw: f64, kmax: usize) -> Result<(Vec<Vec<f64>>, Vec<f64>)> {
    if !(1..=m).contains(&kmax) {
        return Err(Error::invalid(format!(
            "{kmax} Slepian sequences of {m} samples were asked for; pass Kmax from 1 to the length, 2 NW - 1 is usual"
        )));
    }
    if m == 1 {
        return Ok((vec![vec![1.0]], vec![1.0]));
    }
    check_bandwidth(nw, m)?;
    let w = nw / m as f64;
    let mut kernel = buffer(m, 2.0 * w)?;
    for (d, value) in kernel.iter_mut().enumerate().skip(1) {
        *value = (2.0 * PI * w * d as f64).sin() / (PI * d as f64);
    }
    let (mut sequences, mut ratios) = (Vec::new(), Vec::new());
    let mut halves = [Half::new(m, w, true)?, Half::new(m, w, false)?];
    for k in 0..kmax {
        let sequence = halves[k % 2].sequence(k)?;
        ratios.push(concentration(&sequence, &kernel));
        sequences.push(sequence);
    }
    Ok((sequences, ratios))
}

/// The first sequence as a window: its maximum is 1 in the middle, whether or not a sample lies there.
pub(super) fn window(m: usize, nw: f64) -> Result<Vec<f64>> {
    let mut w = Half::new(m, nw / m as f64, true)?.sequence(0)?;
    let peak = w.iter().fold(0.0f64, |p, v| p.max(*v));
    let square = (m as f64).powi(2);
    // scipy's "approximate" norm.
    let correction = if m.is_multiple_of(2) { square / (square + nw) } else { 1.0 };
    w.iter_mut().for_each(|v| *v *= correction / peak);
    Ok(w)
}

/// Whether the bandwidth fits the length.
pub(super) fn check_bandwidth(nw: f64, m: usize) -> Result<()> {
    let half = 0.5 * m as f64;
    range(&Window::Dpss { nw }, "NW", nw, nw > 0.0 && nw < half, &format!("above 0 and below {half} (half the length)"))
}

/// The eigenvalue of the concentration problem: its row at the sequence's largest sample.
fn concentration(sequence: &[f64], kernel: &[f64]) -> f64 {
    let (at, peak) = sequence
        .iter()
        .enumerate()
        .fold((0, 0.0f64), |best, (i, v)| if v.abs() > best.1.abs() { (i, *v) } else { best });
    let sum: f64 = sequence.iter().enumerate().map(|(i, v)| v * kernel[i.abs_diff(at)]).sum();
    sum / peak
}

/// The outer half of the even or the odd sequences.
struct Half {
    m: usize,
    even: bool,
    /// `e[i]` holds samples `i - 1` and `i` together; `e[0]` is not used and 0.
    springs: Vec<f64>,
    potential: Vec<f64>,
    /// Share of the last sample: one half where it is the middle, which both halves have.
    last: f64,
    /// What the other half adds to the last pivot.
    end: f64,
    /// From the outside, from the middle, and the vector.
    forward: Vec<f64>,
    backward: Vec<f64>,
    vector: Vec<f64>,
}

/// What one factorisation says of a shift.
struct Step {
    /// Eigenvalues below the shift.
    below: usize,
    /// Where the eigenvalue is, from the shift.
    correction: f64,
    /// Squared length of the half vector.
    energy: f64,
}

impl Half {
    fn new(m: usize, w: f64, even: bool) -> Result<Self> {
        let len = if even { m.div_ceil(2) } else { m / 2 };
        let spring = |i: usize| 0.5 * i as f64 * (m - i) as f64;
        let (mut springs, mut potential) = (buffer(len, 0.0)?, buffer(len, 0.0)?);
        let depth = 2.0 * (PI * w).sin().powi(2);
        for i in 0..len {
            springs[i] = spring(i);
            potential[i] = depth * (0.5 * (m - 1 - 2 * i) as f64).powi(2);
        }
        let end = match (even, m % 2) {
            (true, _) => 0.0,
            // Samples on both sides of the middle, of opposite sign.
            (false, 0) => 2.0 * spring(len),
            // A zero in the middle.
            (false, _) => spring(len),
        };
        Ok(Half {
            m,
            even,
            springs,
            potential,
            last: if even && m % 2 == 1 { 0.5 } else { 1.0 },
            end,
            forward: buffer(len, 0.0)?,
            backward: buffer(len, 0.0)?,
            vector: buffer(len, 0.0)?,
        })
    }

    /// Sequence `k`, counted among the even and the odd ones, at unit energy.
    fn sequence(&mut self, k: usize) -> Result<Vec<f64>> {
        let energy = self.converge(k);
        let scale = (2.0 * energy).sqrt().recip();
        let scale = scale.copysign(self.sign(scale));
        let mut sequence = buffer(self.m, 0.0)?;
        for (i, v) in self.vector.iter().enumerate() {
            sequence[i] = v * scale;
            sequence[self.m - 1 - i] = if self.even { v * scale } else { -v * scale };
        }
        Ok(sequence)
    }

    /// A sample whose sign becomes positive. Even sequences have a sum of the sign of their first lobe; of odd ones scipy
    /// takes the first sample that holds more than an even share of the energy.
    fn sign(&self, scale: f64) -> f64 {
        let share = if self.even { 0.0 } else { (1.0 / self.m as f64).max(1e-7) };
        let samples = || self.vector.iter().copied();
        samples().find(|v| (v * scale).powi(2) > share).or_else(|| samples().find(|v| *v != 0.0)).unwrap_or(1.0)
    }

    /// Leaves the vector of sequence `k` in place and gives its squared length.
    fn converge(&mut self, k: usize) -> f64 {
        let index = k / 2;
        let springs = 0.5 * k as f64 * (k + 1) as f64;
        let (mut low, mut high) = (springs, (springs + self.potential[0]) * (1.0 + 1e-12));
        // The bracket holds this eigenvalue and no other.
        let (mut below_low, mut below_high) = (self.below(low), self.below(high));
        while (below_low, below_high) != (index, index + 1) && high - low > f64::EPSILON * high {
            let middle = 0.5 * (low + high);
            match self.below(middle) {
                below if below <= index => (low, below_low) = (middle, below),
                below => (high, below_high) = (middle, below),
            }
        }
        let mut shift = 0.5 * (low + high);
        loop {
            let step = self.step(shift);
            if step.below <= index {
                low = shift
            } else {
                high = shift
            }
            let done = step.correction.abs() <= 2.0 * f64::EPSILON * shift || high - low <= 2.0 * f64::EPSILON * high;
            if done {
                return step.energy;
            }
            let next = shift + step.correction;
            shift = if next > low && next < high { next } else { 0.5 * (low + high) };
        }
    }

    /// Potential above the shift.
    fn level(&self, i: usize, shift: f64) -> f64 {
        let level = self.potential[i] - shift;
        if i + 1 == self.potential.len() { self.last * level } else { level }
    }

    /// Number of eigenvalues below a shift: that of negative pivots.
    fn below(&self, shift: f64) -> usize {
        let last = self.potential.len() - 1;
        let (mut t, mut below) = (self.level(0, shift), 0);
        for i in 1..=last {
            let pivot = nonzero(self.springs[i] + t, self.springs[i]);
            below += usize::from(pivot < 0.0);
            t = self.level(i, shift) + self.springs[i] * t / pivot;
        }
        below + usize::from(t + self.end < 0.0)
    }

    /// Factorises from both sides, joins where they fit best, and solves for the vector from there.
    fn step(&mut self, shift: f64) -> Step {
        let last = self.potential.len() - 1;
        let mut below = 0;
        let mut t = self.level(0, shift);
        self.forward[0] = t;
        for i in 1..=last {
            let pivot = nonzero(self.springs[i] + t, self.springs[i]);
            below += usize::from(pivot < 0.0);
            t = self.level(i, shift) + self.springs[i] * t / pivot;
            self.forward[i] = t;
        }
        below += usize::from(t + self.end < 0.0);
        let mut s = self.level(last, shift) + self.end;
        self.backward[last] = s;
        let (mut twist, mut least) = (last, t + self.end);
        for i in (0..last).rev() {
            let spring = self.springs[i + 1];
            let level = self.level(i, shift);
            s = level + spring * s / nonzero(spring + s, spring);
            self.backward[i] = s;
            let gamma = self.forward[i] + s - level;
            if gamma.abs() < least.abs() {
                (twist, least) = (i, gamma);
            }
        }
        let energy = self.solve(twist);
        Step { below, correction: least / energy, energy }
    }

    /// The vector that is 1 at `twist` and solves every other row; its squared length.
    fn solve(&mut self, twist: usize) -> f64 {
        let last = self.potential.len() - 1;
        let z = &mut self.vector;
        z[twist] = 1.0;
        for i in (0..twist).rev() {
            let spring = self.springs[i + 1];
            z[i] = z[i + 1] * (spring / nonzero(spring + self.forward[i], spring));
        }
        for i in twist + 1..=last {
            let spring = self.springs[i];
            z[i] = z[i - 1] * (spring / nonzero(spring + self.backward[i], spring));
        }
        z[..last].iter().map(|v| v * v).sum::<f64>() + self.last * z[last] * z[last]
    }
}

/// A pivot that is zero, replaced by one too small to matter.
fn nonzero(pivot: f64, spring: f64) -> f64 {
    if pivot == 0.0 { 1e-40 * spring } else { pivot }
}
