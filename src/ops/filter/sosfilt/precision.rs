//! How a cascade of sections is computed in float32, by predicted error.
//!
//! Two errors count. Rounded coefficients change the response; how much is evaluated on a grid of frequencies that is
//! dense where poles are. Rounding while computing adds noise: each rounding is white, of the size of what is rounded,
//! and reaches the output through the rest of the recursion; its power is integrated over the same grid, for white input.
//! Both are relative to the response's own maximum or power. What is predicted is an rms; the largest of many errors,
//! over the largest of many results, was measured at 1.2 to 5 times that on seven designs.

use std::f64::consts::PI;

use super::blocks::growth;

/// A section as a delta operator, mirrored where its poles lie left of the imaginary axis.
#[derive(Debug, Clone, Copy)]
pub(in crate::ops::filter) struct Delta {
    pub sign: f64,
    /// b0, d1, d2.
    pub forward: [f64; 3],
    /// e1, e2.
    pub back: [f64; 2],
}

impl Delta {
    /// Of `[b0, b1, b2, 1, a1, a2]`. The sums are exact for poles near the ends of the axis.
    pub fn new(s: &[f64; 6]) -> Self {
        let sign = if s[4] > 0.0 { -1.0 } else { 1.0 };
        let (b1, a1) = (sign * s[1], sign * s[4]);
        Delta { sign, forward: [s[0], 2.0 * s[0] + b1, (s[0] + b1) + s[2]], back: [2.0 + a1, (1.0 + a1) + s[5]] }
    }

    /// With coefficients in float32.
    pub fn rounded(&self) -> Self {
        let round = |v: f64| f64::from(v as f32);
        Delta { sign: self.sign, forward: self.forward.map(round), back: self.back.map(round) }
    }

    /// `b0 d1 d2 e1 e2` and the sign.
    pub fn operator(&self) -> [f64; 6] {
        let ([b0, d1, d2], [e1, e2]) = (self.forward, self.back);
        [b0, d1, d2, e1, e2, self.sign]
    }

    /// Scipy's state of the section as the delta operator's.
    pub fn delta_state(&self, zi: [f64; 2]) -> [f64; 2] {
        [zi[0], zi[0] + self.sign * zi[1]]
    }

    /// The delta operator's state as scipy's.
    pub fn scipy_state(&self, w: [f64; 2]) -> [f64; 2] {
        [w[0], self.sign * (w[1] - w[0])]
    }

    /// Transfers at an angle: to the output from the input, from a rounding of the output that is fed back, from one of
    /// the first state and from one of the second; and from the input to the second state.
    fn transfers(&self, angle: f64) -> [Complex; 5] {
        let delta = if self.sign > 0.0 {
            Complex(-2.0 * (angle / 2.0).sin().powi(2), angle.sin())
        } else {
            Complex(-2.0 * (angle / 2.0).cos().powi(2), -angle.sin())
        };
        let square = delta.times(delta);
        let [b0, d1, d2] = self.forward;
        let [e1, e2] = self.back;
        let pole = square.plus(delta.scaled(e1)).plus(Complex(e2, 0.0));
        let h = square.scaled(b0).plus(delta.scaled(d1)).plus(Complex(d2, 0.0)).over(pole);
        let second = Complex(d2, 0.0).plus(h.scaled(-e2)).over(delta);
        [h, square.over(pole), delta.over(pole), Complex(1.0, 0.0).over(pole), second]
    }
}

/// How accurate float32 would be.
#[derive(Debug, Clone, Copy)]
pub(in crate::ops::filter) struct Precision {
    /// Predicted relative error with states in plain float32.
    pub plain: f64,
    /// Predicted relative error with compensated states.
    pub compensated: f64,
    /// Predicted relative error of handing the signal from one launch to the next as float32.
    pub handing: f64,
    /// Response at DC over its maximum.
    pub dc: f64,
    /// Largest entry of the matrices that carry states from block to block.
    pub growth: f64,
}

/// Relative rms of a rounding to float32.
const ROUNDING: f64 = 2.4e-8;

/// Largest error of a rounding to float32, by the value's power of two.
const HALF_ULP: f64 = 1.0 / (1 << 25) as f64;

/// Squared distance of a pole from the end of the axis, below which its section counts as slow: 100 Hz at 30 kHz.
const SLOW: f64 = 4.4e-4;

/// Predicts the errors of a cascade that is computed in passes of `pass` sections.
pub(in crate::ops::filter) fn predict(sections: &[Delta], pass: usize) -> Precision {
    let angles = grid(sections);
    let mut largest = 0.0f64;
    let mut shift = 0.0f64;
    let mut power = 0.0;
    let mut levels = vec![[0.0f64; 4]; sections.len()];
    let mut gains = vec![[0.0f64; 4]; sections.len()];
    for (i, &angle) in angles.iter().enumerate() {
        let below = angles[i.saturating_sub(1)];
        let above = angles[(i + 1).min(angles.len() - 1)];
        let weight = (above - below) / (2.0 * PI);
        let exact: Vec<_> = sections.iter().map(|s| s.transfers(angle)).collect();
        let total = exact.iter().fold(Complex(1.0, 0.0), |h, t| h.times(t[0]));
        let rounded = sections.iter().fold(Complex(1.0, 0.0), |h, s| h.times(s.rounded().transfers(angle)[0]));
        largest = largest.max(total.norm());
        shift = shift.max(total.plus(rounded.scaled(-1.0)).norm());
        power += weight * total.square();
        let mut before = Complex(1.0, 0.0);
        for (s, t) in exact.iter().enumerate() {
            let after = exact[s + 1..].iter().fold(Complex(1.0, 0.0), |h, t| h.times(t[0]));
            let out = before.times(t[0]);
            let first = out.plus(before.scaled(-sections[s].forward[0]));
            let second = before.times(t[4]);
            for (level, v) in levels[s].iter_mut().zip([out, first, second, before]) {
                *level += weight * v.square();
            }
            for (gain, v) in gains[s].iter_mut().zip([t[1], t[2], t[3], Complex(1.0, 0.0)]) {
                *gain += weight * v.times(after).square();
            }
            before = out;
        }
    }
    let mut kept = 0.0;
    let mut lost = 0.0;
    let mut handed = 0.0;
    for (s, ((section, level), gain)) in sections.iter().zip(&levels).zip(&gains).enumerate() {
        let [out, first, second, input] = *level;
        let [d1, d2] = [section.forward[1].powi(2), section.forward[2].powi(2)];
        let [e1, e2] = section.back.map(|e| e * e);
        kept += out * gain[0] + (second + e1 * out + d1 * input) * gain[1] + (e2 * out + d2 * input) * gain[2];
        lost += first * gain[1] + second * gain[2];
        if (s + 1) % pass == 0 && s + 1 < sections.len() {
            handed += out * gain[3];
        }
    }
    let noise = |power_of_noise: f64| ROUNDING * (power_of_noise / power).sqrt();
    let dc = sections.iter().fold(Complex(1.0, 0.0), |h, s| h.times(s.transfers(1e-9)[0])).norm();
    let shift = shift / largest;
    // Slow poles hold offsets and drifts that the noise model's white input does not have.
    let slow = sections.iter().any(|s| s.back[1].abs() < SLOW);
    let plain = if slow { f64::INFINITY } else { shift + noise(kept + lost) + stall(sections) / largest };
    Precision {
        plain,
        compensated: shift + noise(kept),
        handing: noise(handed),
        dc: dc / largest,
        growth: growth(sections, pass),
    }
}

/// What plain states get wrong while the input is 1: a second state that stands still is rounded the same way each time,
/// until its section's output is off by enough to make up for it.
fn stall(sections: &[Delta]) -> f64 {
    let (mut input, mut wrong) = (1.0, 0.0);
    for s in sections {
        let (gain, second) = if s.sign > 0.0 {
            let gain = s.forward[2] / s.back[1];
            (gain, HALF_ULP * (s.back[0] * gain - s.forward[1]) / s.back[1])
        } else {
            // The states of a mirrored section change sign with every sample, and so do their roundings.
            (s.transfers(1e-9)[0].norm(), 0.0)
        };
        wrong = (wrong * gain).abs() + (second * input).abs();
        input *= gain;
    }
    wrong
}

/// Angles from 0 to pi, excluded, dense at both ends and around poles.
fn grid(sections: &[Delta]) -> Vec<f64> {
    let mut angles: Vec<f64> = (0..96).map(|i| PI * (f64::from(i) + 0.5) / 96.0).collect();
    for i in 0..48 {
        let small = PI * 10f64.powf(-f64::from(i) / 6.0);
        angles.extend([small, PI - small]);
    }
    for s in sections {
        // Poles of z^2 + a1 z + a2.
        let a1 = s.sign * (s.back[0] - 2.0);
        let a2 = s.back[1] - s.back[0] + 1.0;
        if a1 * a1 < 4.0 * a2 {
            let radius = a2.sqrt();
            let angle = (-a1 / (2.0 * radius)).clamp(-1.0, 1.0).acos();
            let width = (1.0 - radius).abs().max(1e-12);
            angles.push(angle);
            for i in -6..12 {
                let away = width * 1.6f64.powi(i);
                angles.extend([angle - away, angle + away]);
            }
        }
    }
    angles.retain(|a| *a > 1e-12 && *a < PI - 1e-12);
    angles.sort_by(f64::total_cmp);
    angles
}

#[derive(Debug, Clone, Copy)]
struct Complex(f64, f64);

impl Complex {
    fn plus(self, o: Complex) -> Complex {
        Complex(self.0 + o.0, self.1 + o.1)
    }

    fn scaled(self, f: f64) -> Complex {
        Complex(self.0 * f, self.1 * f)
    }

    fn times(self, o: Complex) -> Complex {
        Complex(self.0 * o.0 - self.1 * o.1, self.0 * o.1 + self.1 * o.0)
    }

    fn over(self, o: Complex) -> Complex {
        self.times(Complex(o.0, -o.1)).scaled(1.0 / o.square())
    }

    fn square(self) -> f64 {
        self.0 * self.0 + self.1 * self.1
    }

    fn norm(self) -> f64 {
        self.0.hypot(self.1)
    }
}
