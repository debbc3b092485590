//! The plain float64 sums of `scipy.signal.upfirdn`, and what `resample_poly` does around them.

use super::Polyphase;
use super::bank::Stand;
use super::padtype::{Continued, level};
use crate::signal::Source;

/// `[channels, results]`, contiguous.
pub(super) fn run(problem: &Polyphase, x: Source<'_>) -> Vec<f64> {
    let (bank, padtype) = (&*problem.bank, problem.padtype);
    let count = problem.count(x.samples());
    let mut y = Vec::with_capacity(x.channels() * count);
    for channel in 0..x.channels() {
        let level = level(padtype, x, channel);
        let row = Continued::new(x, channel, padtype, level);
        let oldest = problem.stand(0).newest + 1 - bank.longest() as i64;
        let end = problem.stand(count.saturating_sub(1)).newest + 1;
        let values: Vec<f64> = (oldest..end).map(|n| row.get(n) - level).collect();
        y.extend((0..count).map(|m| {
            let Stand { newest, phase } = problem.stand(m);
            let at = (newest - oldest) as usize;
            let taps = &bank.phases[phase].taps;
            taps.iter().enumerate().map(|(j, h)| h * values[at - j]).sum::<f64>() + level
        }));
    }
    y
}
