//! What the states of a cascade become when it runs on without input.
//!
//! The transition over `n` samples is the `n`-th power of a small matrix. In direct-form states that power is a difference
//! of large numbers when poles lie near the unit circle at +1 or -1 (a high-pass of 0.1 Hz at 30 kHz loses everything), so
//! a section's second state is replaced by `s1 + s2` (`s1 - s2` for poles with negative real part): the delta operator's
//! integrators, in which the powers keep their relative accuracy.

use super::form::Cascade;

/// Square matrix over the states of all sections, two each.
#[derive(Debug, Clone)]
pub(super) struct Transition {
    size: usize,
    rows: Vec<f64>,
    /// +1 or -1 of each section.
    sides: Vec<f64>,
}

impl Transition {
    /// One step.
    pub(super) fn one(cascade: &Cascade) -> Self {
        let operators = cascade.sections.iter().map(|&[b0, b1, b2, na1, na2]| {
            let side = if na1 >= 0.0 { 1.0 } else { -1.0 };
            [b0, 2.0 * b0 + side * b1, b0 + side * b1 + b2, 2.0 - side * na1, 1.0 - side * na1 - na2, side]
        });
        Self::of_operators(&operators.collect::<Vec<_>>())
    }

    /// One step of delta operators `b0 d1 d2 e1 e2 side`: `b0`, `2 b0 + side b1`, `b0 + side b1 + b2`, `2 + side a1`,
    /// `1 + side a1 + a2`, and +1, or -1 where poles have negative real part.
    pub(super) fn of_operators(operators: &[[f64; 6]]) -> Self {
        let size = operators.len() * 2;
        let sides: Vec<f64> = operators.iter().map(|s| s[5]).collect();
        let mut rows = vec![0.0; size * size];
        // The input of a section as a combination of all states; the cascade itself has none.
        let mut input = vec![0.0; size];
        for (k, &[b0, d1, d2, e1, e2, side]) in operators.iter().enumerate() {
            let first = side * (d1 - e1 * b0);
            let second = side * (d2 - e2 * b0);
            let (i, j) = (2 * k, 2 * k + 1);
            for c in 0..size {
                rows[i * size + c] = first * input[c];
                rows[j * size + c] = second * input[c];
                input[c] *= b0;
            }
            rows[i * size + i] += side * (1.0 - e1);
            rows[i * size + j] += side;
            rows[j * size + i] -= side * e2;
            rows[j * size + j] += side;
            input[i] += 1.0;
        }
        Transition { size, rows, sides }
    }

    fn identity(&self) -> Self {
        let mut one = Transition { rows: vec![0.0; self.size * self.size], ..self.clone() };
        (0..self.size).for_each(|i| one.rows[i * self.size + i] = 1.0);
        one
    }

    fn times(&self, other: &Self) -> Self {
        let n = self.size;
        let mut rows = vec![0.0; n * n];
        for i in 0..n {
            for k in 0..n {
                let v = self.rows[i * n + k];
                // No section depends on those after it; and where a power overflows they stay out of it.
                if v == 0.0 {
                    continue;
                }
                (0..n).for_each(|j| rows[i * n + j] += v * other.rows[k * n + j]);
            }
        }
        Transition { rows, ..self.clone() }
    }

    /// The entries, row after row.
    #[cfg(feature = "gpu")]
    pub(super) fn entries(&self) -> &[f64] {
        &self.rows
    }

    pub(super) fn largest(&self) -> f64 {
        self.rows.iter().fold(0.0, |m, v| if v.is_nan() { f64::INFINITY } else { v.abs().max(m) })
    }

    /// `steps` steps.
    pub(super) fn power(&self, steps: usize) -> Self {
        let (mut result, mut square, mut left) = (self.identity(), self.clone(), steps);
        while left > 0 {
            if left & 1 == 1 {
                result = square.times(&result);
            }
            left >>= 1;
            if left > 0 {
                square = square.times(&square);
            }
        }
        result
    }

    /// The number of steps after which no state matters (every entry below `limit`), if it is below 2^`bits`.
    pub(super) fn settling(&self, limit: f64, bits: usize) -> Option<usize> {
        let mut squares = vec![self.clone()];
        while squares.last()?.largest() > limit {
            if squares.len() > bits {
                return None;
            }
            let last = squares.last()?;
            squares.push(last.times(last));
        }
        let (mut steps, mut sum) = (0, self.identity());
        for (bit, square) in squares.iter().enumerate().rev().skip(1) {
            let longer = square.times(&sum);
            if longer.largest() > limit {
                (steps, sum) = (steps + (1 << bit), longer);
            }
        }
        Some(steps + 1)
    }

    /// The cascade's states this many steps later, for states `s1 s2` of each section, plus `added`.
    pub(super) fn apply(&self, states: &mut [f64], added: &[f64]) {
        let mut own: Vec<f64> = states.to_vec();
        for (pair, side) in own.chunks_exact_mut(2).zip(&self.sides) {
            pair[1] = pair[0] + side * pair[1];
        }
        for (k, side) in self.sides.iter().enumerate() {
            let product = |row: usize| -> f64 {
                self.rows[row * self.size..(row + 1) * self.size].iter().zip(&own).map(|(a, s)| a * s).sum()
            };
            let (w1, w2) = (product(2 * k), product(2 * k + 1));
            states[2 * k] = w1 + added[2 * k];
            states[2 * k + 1] = side * (w2 - w1) + added[2 * k + 1];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // scipy.signal.butter(2, 300, 'highpass', fs=30000, output='sos'); and a section with poles of negative real part.
    const HIGH: [f64; 6] =
        [0.9565432255568767, -1.9130864511137533, 0.9565432255568767, 1.0, -1.911197067426073, 0.9149758348014336];
    const MIRROR: [f64; 6] = [0.7, 1.4, 0.7, 1.0, 1.4, 0.52];

    /// Runs the recursion itself.
    fn step(cascade: &Cascade, states: &mut [f64]) {
        let mut x = 0.0;
        for (s, z) in cascade.sections.iter().zip(states.chunks_exact_mut(2)) {
            let y = s[0] * x + z[0];
            z[0] = s[1] * x + s[3] * y + z[1];
            z[1] = s[2] * x + s[4] * y;
            x = y;
        }
    }

    #[test]
    fn powers_agree_with_running_on() {
        let cascade = Cascade::general(&[HIGH, MIRROR, HIGH]);
        let one = Transition::one(&cascade);
        for steps in [0, 1, 2, 7, 300] {
            let mut want = [0.3, -0.2, 1.0, 0.7, -0.4, 0.1];
            let mut got = want;
            (0..steps).for_each(|_| step(&cascade, &mut want));
            one.power(steps).apply(&mut got, &[0.0; 6]);
            for (g, w) in got.iter().zip(&want) {
                assert!((g - w).abs() < 1e-13, "{steps}: {got:?} {want:?}");
            }
        }
    }

    #[test]
    fn settling_is_the_first_quiet_step() {
        let one = Transition::one(&Cascade::general(&[HIGH]));
        let steps = one.settling(1e-12, 20).unwrap();
        assert!(one.power(steps).largest() <= 1e-12 && one.power(steps - 1).largest() > 1e-12);
        assert!((300..1000).contains(&steps), "{steps}");
        let unstable = Transition::one(&Cascade::general(&[[1.0, 0.0, 0.0, 1.0, -2.5, 1.2]]));
        assert_eq!(unstable.settling(1e-12, 40), None);
        assert_eq!(one.settling(1e-12, 3), None);
    }
}
