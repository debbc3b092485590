//! Which arithmetic a cascade needs.
//!
//! Scaling every section to `b0 = 1` and applying the product of the gains once saves a multiplication a section. Zeros on
//! the unit circle then have `b2 = 1` (every low-pass, high-pass, notch, elliptic and Chebyshev II design), which saves
//! another. A band-pass of the Butterworth and Chebyshev I kinds has as many zeros at +1 as at -1: dealt out one of each to
//! every section, `b = [1, 0, -1]`, two multiply-adds a section instead of five. In float64 the change of order costs
//! nothing measurable. It does change what the states mean, so it serves calls that neither bring nor want a state.

/// What a section computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `b0 b1 b2`.
    General,
    /// `1 b1 1`.
    UnitEnds,
    /// `1 0 -1`.
    BandPass,
}

impl Form {
    /// Its name, fit for a file name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Form::General => "general",
            Form::UnitEnds => "unit-ends",
            Form::BandPass => "band-pass",
        }
    }
}

/// A cascade in one form.
#[derive(Debug, Clone)]
pub(super) struct Cascade {
    pub(super) form: Form,
    /// Applied to the input.
    pub(super) gain: f64,
    /// `b0 b1 b2 -a1 -a2` of each section.
    pub(super) sections: Vec<[f64; 5]>,
    /// scipy's state of a section over this one's.
    scale: Vec<f64>,
}

impl Cascade {
    /// The sections exactly as given.
    pub(super) fn general(sos: &[[f64; 6]]) -> Self {
        let sections = sos.iter().map(|s| [s[0], s[1], s[2], -s[4], -s[5]]).collect();
        Cascade { form: Form::General, gain: 1.0, sections, scale: vec![1.0; sos.len()] }
    }

    /// The cheapest form; one whose states convert to scipy's if `stateful`.
    pub(super) fn cheapest(sos: &[[f64; 6]], stateful: bool) -> Self {
        let gain: f64 = sos.iter().map(|s| s[0]).product();
        let general = Self::general(sos);
        // Gains that cannot be divided out (a delay, b0 = 0) or whose product leaves float64's comfortable range.
        if sos.is_empty() || !(1e-200..1e200).contains(&gain.abs()) || sos.iter().any(|s| s[0].abs() < 1e-100) {
            return general;
        }
        if !stateful && pairs_of_unit_zeros(sos) {
            let sections = sos.iter().map(|s| [1.0, 0.0, -1.0, -s[4], -s[5]]).collect();
            return Cascade { form: Form::BandPass, gain, sections, ..general };
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

    /// This cascade's state of `section` from scipy's.
    pub(super) fn import(&self, section: usize, scipy: f64) -> f64 {
        scipy / self.scale[section]
    }

    /// scipy's state of `section` from this cascade's.
    pub(super) fn export(&self, section: usize, own: f64) -> f64 {
        own * self.scale[section]
    }
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
