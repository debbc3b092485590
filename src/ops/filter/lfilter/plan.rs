//! In which order to add the products, so that float32 sums stay exact enough.
//!
//! Adding in float32 is twice as fast as in float64, and each addition errs by at most `u = 2^-24` of the partial sum it
//! makes. The taps are taken in blocks of up to eight, the blocks in order of size, small ones first, so that partial sums
//! stay small for long; whenever the partial sums would let a block err by more than [`LIMIT`] `u` of its own share of
//! `sum |h|`, what has been added so far goes to a float64 total first. The error of the whole is then proven to stay below
//! `(LIMIT + 3) u sum |h| max |x|`, 9e-7: one `u` for rounding the taps, one for rounding the result, one for adding `zi`.

/// Largest error of the additions, in units of `2^-24 sum |h| max |x|`.
const LIMIT: f64 = 12.0;

/// Taps in a whole block.
pub(in crate::ops) const WIDTH: usize = 8;

/// Neighbouring taps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::ops) struct Block {
    /// The first one's index.
    pub(in crate::ops) first: usize,
    /// How many: 8, 4, 2 or 1.
    pub(in crate::ops) len: usize,
    /// Their values; the last one is added first.
    pub(in crate::ops) taps: [f32; WIDTH],
    /// Move the float32 sums to the float64 totals before this block.
    pub(in crate::ops) flush: bool,
}

/// The blocks in order.
pub(in crate::ops) fn plan(taps: &[f64]) -> Vec<Block> {
    order(cut(taps))
}

/// Blocks of these taps, not in order. Never pads: a zero tap times infinity is not zero.
pub(in crate::ops) fn cut(taps: &[f64]) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut first = 0;
    for len in [WIDTH, 4, 2, 1] {
        while taps.len() - first >= len {
            let mut block = Block { first, len, taps: [0.0; WIDTH], flush: false };
            block.taps.iter_mut().zip(&taps[first..first + len]).for_each(|(b, t)| *b = *t as f32);
            blocks.push(block);
            first += len;
        }
    }
    blocks
}

/// The order in which blocks are added, and where totals are taken.
pub(in crate::ops) fn order(mut blocks: Vec<Block>) -> Vec<Block> {
    let share = |b: &Block| b.taps.iter().map(|t| f64::from(t.abs())).sum::<f64>();
    blocks.sort_by(|a, b| share(a).total_cmp(&share(b)));
    let mut carried = 0.0;
    for (i, block) in blocks.iter_mut().enumerate() {
        if i > 0 && partial_sums(block, carried) > LIMIT * share(block) {
            block.flush = true;
            carried = 0.0;
        }
        carried += share(block);
    }
    blocks
}

/// The magnitudes a block's additions can reach, together.
fn partial_sums(block: &Block, carried: f64) -> f64 {
    let (mut sum, mut total) = (carried, 0.0);
    for tap in block.taps[..block.len].iter().rev() {
        sum += f64::from(tap.abs());
        total += sum;
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tap_is_taken_once_and_the_proven_error_holds() {
        let sinc = |n: usize| -> Vec<f64> {
            let t = |i| (i as f64 - (n - 1) as f64 / 2.0) * 0.3;
            (0..n).map(|i| if t(i) == 0.0 { 1.0 } else { t(i).sin() / t(i) }).collect()
        };
        let mut cases: Vec<Vec<f64>> = [1, 2, 7, 8, 9, 31, 63, 64, 1025].iter().map(|n| vec![0.125; *n]).collect();
        cases.extend([31, 63, 255, 1025].map(sinc));
        cases.push((0..200).map(|i| 0.5f64.powi(i)).collect());
        cases.push(vec![0.0; 20]);
        for taps in cases {
            let blocks = plan(&taps);
            let mut seen = vec![0; taps.len()];
            let (mut carried, mut error) = (0.0, 0.0);
            for b in &blocks {
                (b.first..b.first + b.len).for_each(|k| seen[k] += 1);
                (0..b.len).for_each(|k| assert_eq!(b.taps[k], taps[b.first + k] as f32));
                if b.flush {
                    carried = 0.0;
                }
                error += partial_sums(b, carried);
                carried += b.taps.iter().map(|t| f64::from(t.abs())).sum::<f64>();
            }
            assert!(seen.iter().all(|n| *n == 1));
            let sum: f64 = taps.iter().map(|t| t.abs()).sum();
            assert!(error <= LIMIT * sum * (1.0 + 1e-6), "{} taps: {}", taps.len(), error / sum);
        }
    }

    #[test]
    fn short_and_peaked_responses_need_few_totals() {
        assert!(plan(&[0.25; 8]).iter().all(|b| !b.flush));
        let peaked: Vec<f64> = (0..64).map(|i| (-((i as f64 - 32.0) / 6.0).powi(2)).exp()).collect();
        assert!(plan(&peaked).iter().filter(|b| b.flush).count() <= 2);
    }
}
