//! What a call would take from host to host, from what has been measured at its own class and near ones.

use serde::Serialize;

use super::cache::{Entry, identity_text};
use super::{Tunable, Tuner};

/// How an estimate was come by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// This class of sizes was measured.
    Measured,
    /// Near classes were measured.
    Estimated,
}

impl Tuner {
    /// Seconds that a call of this size takes with its transfers; `None` = nothing near it has been measured. Reads the
    /// store; never measures.
    pub fn timing(&self, tunable: &dyn Tunable) -> Option<(f64, Basis)> {
        let own = self
            .store
            .peek(tunable.device(), tunable.operation(), tunable.class())
            .filter(|entry| entry.identity == identity_text(tunable.identity()));
        let basis = if own.as_ref().is_some_and(is_timed) { Basis::Measured } else { Basis::Estimated };
        let entries: Vec<Entry> = own.into_iter().chain(self.store.neighbours(tunable)).filter(is_timed).collect();
        let points: Vec<(f64, f64)> = entries.iter().map(|e| (e.work.values() as f64, e.end_to_end)).collect();
        Some((interpolate(&points, tunable.work().values() as f64)?, basis))
    }
}

fn is_timed(entry: &Entry) -> bool {
    entry.end_to_end > 0.0 && entry.work.values() > 0
}

/// The time at `size` of a curve through `(size, time)` points of positive numbers: straight between two on logarithmic
/// axes. A smaller size than any takes no less than the smallest (overheads do not shrink), a larger one in proportion.
fn interpolate(points: &[(f64, f64)], size: f64) -> Option<f64> {
    let mut sorted = points.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (first, last) = (*sorted.first()?, *sorted.last()?);
    if size <= first.0 {
        return Some(first.1);
    }
    if size >= last.0 {
        return Some(last.1 * size / last.0);
    }
    let after = sorted.iter().position(|point| point.0 >= size)?;
    let (low, high) = (sorted[after - 1], sorted[after]);
    if high.0 <= low.0 {
        return Some(high.1);
    }
    let weight = (size / low.0).ln() / (high.0 / low.0).ln();
    Some(low.1 * (high.1 / low.1).powf(weight))
}

#[cfg(test)]
mod tests {
    use super::super::fake::Fake;
    use super::*;
    use crate::tune::{Location, Policy, Settings, Work};

    #[test]
    fn between_points_and_beyond_them() {
        assert_eq!(interpolate(&[], 5.0), None);
        assert_eq!(interpolate(&[(10.0, 2.0)], 1.0), Some(2.0));
        assert_eq!(interpolate(&[(10.0, 2.0)], 30.0), Some(6.0));
        let points = [(100.0, 4.0), (1.0, 1.0)];
        assert!((interpolate(&points, 10.0).unwrap() - 2.0).abs() < 1e-12);
        assert_eq!(interpolate(&points, 100.0), Some(4.0));
        assert_eq!(interpolate(&[(5.0, 1.0), (5.0, 3.0), (9.0, 2.0)], 5.0), Some(1.0));
    }

    #[test]
    fn a_class_is_timed_with_its_transfers_and_lends_its_time() {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings { location: Location::At(folder.path().into()), ..Settings::default() };
        let mut fake = Fake::new(&[1e-4, 0.5e-4]).class("p--c7-s15");
        (fake.end_to_end, fake.work) = (Some(0.01), Work { channels: 128, samples: 1000, bytes: 1 });
        let tuner = Tuner::with_clock(settings, Box::new(fake.clock.clone()));
        assert_eq!(tuner.timing(&fake), None);
        tuner.choose(&fake, Policy::OnMiss);
        assert_eq!(tuner.timing(&fake), Some((0.01, Basis::Measured)));
        let mut near = Fake::new(&[1e-4, 0.5e-4]).class("p--c7-s16");
        near.work = Work { channels: 128, samples: 2000, bytes: 1 };
        assert_eq!(tuner.timing(&near), Some((0.02, Basis::Estimated)));
        let other = Fake::new(&[1e-4, 0.5e-4]).class("q--c7-s16");
        assert_eq!(tuner.timing(&other), None);
    }
}
