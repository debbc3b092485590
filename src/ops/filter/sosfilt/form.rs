//! Which arithmetic a cascade needs.
//!
//! Scaling every section to `b0 = 1` and applying the product of the gains once saves a multiplication a section. Zeros on
//! the unit circle then have `b2 = 1` (every low-pass, high-pass, notch, elliptic and Chebyshev II design), which saves
//! another. A band-pass of the Butterworth and Chebyshev I kinds has as many zeros at +1 as at -1: dealt out one of each to
//! every section, `b = [1, 0, -1]`, two multiply-adds a section instead of five. That changes what the sections hand each
//! other: in wide bands of high order the signal grows on the way and has to shrink again, which costs digits, so such
//! filters stay as they are. It also changes what the states mean, so it serves calls that neither bring nor want a state.

/// How far above its response a cascade may rise on the way: eight of the sixteen digits of float64.
const LARGEST_DETOUR: f64 = 1e8;

/// What a section computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::ops::filter) enum Form {
    /// `b0 b1 b2`.
    General,
    /// `1 b1 1`.
    UnitEnds,
    /// `1 0 -1`.
    BandPass,
}

impl Form {
    /// Its name, fit for a file name.
    pub(in crate::ops::filter) fn name(self) -> &'static str {
        match self {
            Form::General => "general",
            Form::UnitEnds => "unit-ends",
            Form::BandPass => "band-pass",
        }
    }
}

/// A cascade in one form.
#[derive(Debug, Clone)]
pub(in crate::ops::filter) struct Cascade {
    pub(in crate::ops::filter) form: Form,
    /// Applied to the input.
    pub(in crate::ops::filter) gain: f64,
    /// `b0 b1 b2 -a1 -a2` of each section.
    pub(in crate::ops::filter) sections: Vec<[f64; 5]>,
    /// scipy's state of a section over this one's.
    scale: Vec<f64>,
}

impl Cascade {
    /// The sections exactly as given.
    pub(in crate::ops::filter) fn general(sos: &[[f64; 6]]) -> Self {
        let sections = sos.iter().map(|s| [s[0], s[1], s[2], -s[4], -s[5]]).collect();
        Cascade { form: Form::General, gain: 1.0, sections, scale: vec![1.0; sos.len()] }
    }

    /// The cheapest form; one whose states convert to scipy's if `stateful`.
    pub(in crate::ops::filter) fn cheapest(sos: &[[f64; 6]], stateful: bool) -> Self {
        let gain: f64 = sos.iter().map(|s| s[0]).product();
        let general = Self::general(sos);
        // Gains that cannot be divided out (a delay, b0 = 0) or whose product leaves float64's comfortable range.
        if sos.is_empty() || !(1e-200..1e200).contains(&gain.abs()) || sos.iter().any(|s| s[0].abs() < 1e-100) {
            return general;
        }
        if !stateful && pairs_of_unit_zeros(sos) {
            let sections = sos.iter().map(|s| [1.0, 0.0, -1.0, -s[4], -s[5]]).collect();
            let band_pass = Cascade { form: Form::BandPass, gain, sections, ..general.clone() };
            if band_pass.detour() <= LARGEST_DETOUR {
                return band_pass;
            }
        }
        if sos.iter().all(|s| equal(s[0], s[2])) {
            let sections = sos.iter().map(|s| [1.0, s[1] / s[0], 1.0, -s[4], -s[5]]).collect();
            let mut so_far = 1.0;
            let scale = sos
                .iter()
                .map(|s| {
                    so_far *= s[0];
                    so_far / gain
                })
                .collect();
            return Cascade { form: Form::UnitEnds, gain, sections, scale };
        }
        general
    }

    /// By how much a rounding between two sections counts for more than one of the result: the largest product of the
    /// peak response up to a section and that of the rest, over the peak of the whole. Peaks are taken near the poles,
    /// where they are.
    fn detour(&self) -> f64 {
        let mut up_to = vec![0.0f64; self.sections.len() + 1];
        let mut rest = up_to.clone();
        for angle in self.sections.iter().flat_map(pole_angles) {
            let responses = self.sections.iter().map(|s| response(s, angle));
            let mut product = self.gain.abs();
            for (peak, h) in up_to[1..].iter_mut().zip(responses.clone()) {
                product *= h;
                *peak = peak.max(product);
            }
            let mut product = 1.0;
            for (peak, h) in rest[1..].iter_mut().zip(responses.rev()) {
                product *= h;
                *peak = peak.max(product);
            }
        }
        // Before the first section and after the last there is nothing that the general form does not have.
        let count = self.sections.len();
        (1..count).map(|k| up_to[k] * rest[count - k] / up_to[count]).fold(1.0, f64::max)
    }

    /// The states after an endless run of ones; not finite where a section has a pole at z = 1.
    pub(in crate::ops::filter) fn steady(&self) -> Vec<f64> {
        let mut input = self.gain;
        let mut states = Vec::with_capacity(2 * self.sections.len());
        for &[b0, b1, b2, na1, na2] in &self.sections {
            // In these orders the sums are exact for poles and zeros near 1.
            let gain = ((b0 + b1) + b2) / ((1.0 - na1) - na2);
            states.extend([(gain - b0) * input, (b2 + na2 * gain) * input]);
            input *= gain;
        }
        states
    }

    /// This cascade's state of `section` from scipy's.
    pub(in crate::ops::filter) fn import(&self, section: usize, scipy: f64) -> f64 {
        scipy / self.scale[section]
    }

    /// scipy's state of `section` from this cascade's.
    pub(in crate::ops::filter) fn export(&self, section: usize, own: f64) -> f64 {
        own * self.scale[section]
    }
}

/// The angles of a section's poles, and those where the response has fallen by 3 dB.
fn pole_angles(section: &[f64; 5]) -> impl Iterator<Item = f64> + use<> {
    use std::f64::consts::PI;
    let (a1, a2) = (-section[3], -section[4]);
    let discriminant = a1 * a1 - 4.0 * a2;
    let angles = if discriminant < 0.0 {
        let radius = a2.sqrt();
        let angle = (-a1 / (2.0 * radius)).clamp(-1.0, 1.0).acos();
        [angle - (1.0 - radius), angle, angle + (1.0 - radius)]
    } else {
        // Of a real pole near +1 or -1; in the middle of the axis a pole is no resonance.
        let real = |pole: f64| if pole > 0.0 { 1.0 - pole } else { PI - 1.0 - pole };
        let root = discriminant.sqrt();
        [real((-a1 - root) / 2.0), PI / 2.0, real((-a1 + root) / 2.0)]
    };
    angles.into_iter().filter(|a| *a > 0.0 && *a < PI)
}

/// The magnitude of a section's response.
fn response(&[b0, b1, b2, na1, na2]: &[f64; 5], angle: f64) -> f64 {
    let ((s1, c1), (s2, c2)) = (angle.sin_cos(), (2.0 * angle).sin_cos());
    let numerator = (b0 + b1 * c1 + b2 * c2).hypot(b1 * s1 + b2 * s2);
    numerator / (1.0 - na1 * c1 - na2 * c2).hypot(na1 * s1 + na2 * s2)
}

/// Whether the zeros of the whole cascade are `sections` times +1 and `sections` times -1.
fn pairs_of_unit_zeros(sos: &[[f64; 6]]) -> bool {
    let mut balance = 0i64;
    for s in sos {
        let (b1, b2) = (s[1] / s[0], s[2] / s[0]);
        balance += if equal(b1, 2.0) && equal(b2, 1.0) {
            -1
        } else if equal(b1, -2.0) && equal(b2, 1.0) {
            1
        } else if b1 == 0.0 && equal(b2, -1.0) {
            0
        } else {
            return false;
        };
    }
    balance == 0
}

/// The same but for the rounding of a filter design.
fn equal(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-14 * b.abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(b: [f64; 3]) -> [f64; 6] {
        [b[0], b[1], b[2], 1.0, -0.5, 0.25]
    }

    #[test]
    fn the_form_follows_the_zeros() {
        let of = |rows: &[[f64; 3]], stateful| {
            let sos: Vec<_> = rows.iter().map(|b| section(*b)).collect();
            Cascade::cheapest(&sos, stateful).form
        };
        let band = [[0.3, 0.6, 0.3], [1.0, 0.0, -1.0], [1.0, -2.0, 1.0]];
        assert_eq!(of(&band, false), Form::BandPass);
        assert_eq!(of(&band, true), Form::General);
        assert_eq!(of(&band[1..], false), Form::General);
        assert_eq!(of(&[[0.2, -0.4, 0.2], [1.0, -1.7, 1.0 + 4e-16]], true), Form::UnitEnds);
        assert_eq!(of(&[[1.0, 0.1, 0.9]], false), Form::General);
        assert_eq!(of(&[[0.0, 1.0, 0.0]], false), Form::General);
        assert_eq!(of(&[[f64::NAN, 1.0, 0.0]], false), Form::General);
        assert_eq!(of(&[], false), Form::General);
    }

    #[test]
    fn wide_bands_of_high_order_keep_their_zeros() {
        use crate::design::{Band, butter};
        let form = |order, low, high, fs| {
            let sos = butter(order, Band::Pass(low, high), fs).unwrap();
            Cascade::cheapest(sos.sections(), false).form
        };
        for (order, low, high, fs) in
            [(4, 0.1, 40.0, 1000.0), (4, 1.0, 40.0, 1000.0), (5, 300.0, 6000.0, 30_000.0), (8, 49.0, 51.0, 1000.0)]
        {
            assert_eq!(form(order, low, high, fs), Form::BandPass, "{order} {low} {high}");
        }
        for (order, low, high, fs) in
            [(8, 0.1, 40.0, 1000.0), (4, 0.01, 10_000.0, 30_000.0), (20, 1.0, 40.0, 1000.0), (8, 1.0, 300.0, 30_000.0)]
        {
            assert_ne!(form(order, low, high, fs), Form::BandPass, "{order} {low} {high}");
        }
    }

    #[test]
    fn steady_states_stay() {
        let sos = [section([0.3, 0.6, 0.3]), section([1.0, 0.0, -1.0]), section([1.0, -2.0, 1.0])];
        for cascade in [Cascade::general(&sos), Cascade::cheapest(&sos, true), Cascade::cheapest(&sos, false)] {
            let mut x = cascade.gain;
            for (&[b0, b1, b2, na1, na2], s) in cascade.sections.iter().zip(cascade.steady().chunks_exact(2)) {
                let y = b0 * x + s[0];
                assert!((b1 * x + na1 * y + s[1] - s[0]).abs() < 1e-15 && (b2 * x + na2 * y - s[1]).abs() < 1e-15);
                x = y;
            }
        }
    }

    #[test]
    fn states_convert_both_ways() {
        let sos = [section([0.25, 0.5, 0.25]), section([3.0, -6.0, 3.0]), section([2.0, 4.0, 2.0])];
        let cascade = Cascade::cheapest(&sos, true);
        assert_eq!((cascade.form, cascade.gain), (Form::UnitEnds, 1.5));
        // The state of a section scales with its own output: the gains of the sections after it are still to come.
        assert_eq!(cascade.export(0, 6.0), 1.0);
        assert_eq!(cascade.export(2, 6.0), 6.0);
        for k in 0..3 {
            assert_eq!(cascade.import(k, cascade.export(k, 0.75)), 0.75);
        }
    }
}
