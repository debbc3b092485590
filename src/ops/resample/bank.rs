//! A filter between two rates, taken apart into its phases (Vaidyanathan, *Multirate Systems and Filter Banks*, 4.3).
//!
//! Between `up - 1` zeros after each sample, filtering and keeping every `down`-th value, no product with a zero and no value
//! that is dropped needs to be computed: result `m` stands at time `t = m * down + offset` of the raised rate, its newest
//! sample is `t / up`, and its taps are every `up`-th one from `t % up` on, a phase of the filter.

use crate::error::{Error, Result};
use crate::ops::filter::lfilter::plan::{Block, cut, order};

/// More taps than this are no filter between rates but a mistake.
pub(super) const MOST_TAPS: usize = 1 << 25;

/// Taps in a block from which sharing loads pays.
const SHARED: usize = 4;

/// The taps and the rates.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bank {
    pub(super) up: usize,
    pub(super) down: usize,
    /// How many taps there are.
    pub(super) len: usize,
    /// How far the taps of a block are apart: 1, or `down`.
    pub(super) spread: usize,
    /// `up` of them; those beyond the taps are empty.
    pub(super) phases: Vec<Phase>,
}

/// Every `up`-th tap.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Phase {
    pub(super) taps: Vec<f64>,
    /// The order in which the CPU adds them; neighbours in a block are [`Bank::spread`] taps apart, and `first` counts taps.
    pub(super) blocks: Vec<Block>,
    /// Taps that are in no block, since they are nothing beside the others: those that a sinc has at its zeros.
    pub(super) dropped: Vec<usize>,
}

/// Taps below this share of a phase do not show in float32, however many there are.
const NOTHING: f64 = 1e-15;

impl Phase {
    fn new(taps: Vec<f64>, spread: usize) -> Self {
        let all: f64 = taps.iter().map(|t| t.abs()).sum();
        let (mut blocks, mut dropped) = (Vec::new(), Vec::new());
        for class in 0..spread.min(taps.len()) {
            let places: Vec<usize> = (class..taps.len()).step_by(spread).collect();
            let is_nothing = |j: &usize| taps[*j].abs() <= NOTHING * all;
            for run in places.chunk_by(|a, b| is_nothing(a) == is_nothing(b)) {
                // Single ones are not worth cutting a block in two.
                if is_nothing(&run[0]) && (run.len() > 1 || places.len() == 1) {
                    dropped.extend_from_slice(run);
                }
            }
            for run in places.chunk_by(|a, b| dropped.contains(a) == dropped.contains(b)) {
                if !dropped.contains(&run[0]) {
                    let own: Vec<f64> = run.iter().map(|j| taps[*j]).collect();
                    blocks.extend(cut(&own).into_iter().map(|b| Block { first: run[b.first], ..b }));
                }
            }
        }
        Phase { blocks: order(blocks), dropped, taps }
    }

    /// What a constant of 1 becomes.
    pub(super) fn gain(&self) -> f64 {
        self.taps.iter().sum()
    }

    fn magnitude(&self) -> f64 {
        self.taps.iter().map(|t| t.abs()).sum()
    }
}

/// Where a result stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stand {
    /// Its newest sample, which may lie behind the last one.
    pub(super) newest: i64,
    pub(super) phase: usize,
}

impl Bank {
    /// A bank of at least one tap, all finite in float32.
    pub(super) fn new(taps: &[f64], up: usize, down: usize) -> Result<Self> {
        rates(up, down)?;
        if taps.is_empty() {
            return Err(Error::invalid(
                "a filter between two rates needs at least one tap, got none; pass the impulse response",
            ));
        }
        if taps.len() > MOST_TAPS || up > MOST_TAPS {
            return Err(Error::invalid(format!(
                "{} taps for a rate raised {up} times are more than the {MOST_TAPS} that are possible; use rates with smaller factors",
                taps.len()
            )));
        }
        if let Some(k) = taps.iter().position(|t| !(*t as f32).is_finite()) {
            return Err(Error::invalid(format!("tap {k} is {}; every tap must be finite in float32", taps[k])));
        }
        // Blocks of taps that are as far apart as the windows of two results share their loads, if they are long enough.
        let spread = if down * SHARED <= taps.len().div_ceil(up) { down } else { 1 };
        let phases = (0..up).map(|phase| Phase::new(taps.iter().skip(phase).step_by(up).copied().collect(), spread));
        Ok(Bank { up, down, len: taps.len(), spread, phases: phases.collect() })
    }

    /// Most taps of a phase.
    pub(super) fn longest(&self) -> usize {
        self.len.div_ceil(self.up)
    }

    /// The largest factor by which a magnitude can grow.
    pub(super) fn magnitude(&self) -> f64 {
        self.phases.iter().map(Phase::magnitude).fold(0.0, f64::max)
    }

    /// Where result `m` stands, if the first one stands at `offset` of the raised rate.
    pub(super) fn stand(&self, m: usize, offset: u64) -> Stand {
        let t = m as u128 * self.down as u128 + u128::from(offset);
        Stand { newest: (t / self.up as u128) as i64, phase: (t % self.up as u128) as usize }
    }

    /// The first result whose newest sample is `sample` or a later one.
    pub(super) fn first_at(&self, sample: usize, offset: u64) -> usize {
        let t = (sample as u128 * self.up as u128).saturating_sub(u128::from(offset));
        t.div_ceil(self.down as u128).min(usize::MAX as u128) as usize
    }
}

/// Refuses rates of 0.
pub(super) fn rates(up: usize, down: usize) -> Result<()> {
    if up == 0 || down == 0 {
        return Err(Error::invalid(format!("up is {up} and down is {down}; both must be 1 or more")));
    }
    Ok(())
}

/// `ceil(samples * up / down)`, exactly; the largest number where it is beyond that.
pub(super) fn resampled(samples: usize, up: usize, down: usize) -> usize {
    (samples as u128 * up as u128).div_ceil(down as u128).min(usize::MAX as u128) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_exact() {
        let cases = [
            (44_117, 48_000, 44_117, 48_000),
            (10, 3, 7, 5),
            (1, 1, 3, 1),
            (30_001, 1, 30, 1001),
            (6_600_000, 400, 1333, 1_980_496),
            (0, 3, 2, 0),
            (usize::MAX, usize::MAX, 1, usize::MAX),
        ];
        for (samples, up, down, want) in cases {
            assert_eq!(resampled(samples, up, down), want, "{samples} {up}/{down}");
        }
    }

    #[test]
    fn phases_hold_every_tap_once_and_results_stand_where_they_should() {
        let taps: Vec<f64> = (0..11).map(f64::from).collect();
        for (up, down, offset) in [(1, 3, 5), (3, 2, 0), (4, 7, 9), (20, 3, 1), (5, 1, 4)] {
            let bank = Bank::new(&taps, up, down).unwrap();
            for m in 0..50 {
                let Stand { newest, phase } = bank.stand(m, offset);
                let own: Vec<f64> = (0..taps.len())
                    .filter(|k| (m * down + offset as usize).checked_sub(*k).is_some_and(|t| t % up == 0))
                    .map(|k| taps[k])
                    .collect();
                let reach = (m * down + offset as usize).min(10);
                let here: Vec<f64> = bank.phases[phase].taps.iter().copied().filter(|k| *k as usize <= reach).collect();
                assert_eq!(here, own, "{up}/{down} {m}");
                assert_eq!(newest as usize, (m * down + offset as usize) / up);
                let first = bank.first_at(newest as usize, offset);
                assert!(first <= m && bank.stand(first, offset).newest == newest);
                assert!(first == 0 || bank.stand(first - 1, offset).newest < newest);
            }
        }
    }

    #[test]
    fn what_cannot_be_a_filter_is_refused() {
        let message = |taps: &[f64], up, down| Bank::new(taps, up, down).unwrap_err().to_string();
        assert!(message(&[1.0], 0, 1).contains("up is 0"));
        assert!(message(&[1.0], 1, 0).contains("down is 0"));
        assert!(message(&[], 1, 1).contains("at least one tap"));
        assert!(message(&[1.0, f64::NAN], 1, 1).contains("tap 1 is NaN"));
        assert!(message(&[1e300], 1, 1).contains("finite in float32"));
        assert!(message(&[1.0], usize::MAX, 1).contains("smaller factors"));
    }
}
