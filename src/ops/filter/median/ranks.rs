//! Running medians of long windows: sort a piece once, then slide over its ranks.
//!
//! A piece of a channel, with all samples its windows reach, is sorted by value; from then on a sample is its rank, and the
//! window a set of bits, one for each rank. When the window moves by a sample one bit goes and one comes, so the median
//! stays or moves to the next bit up or down, which is a few words away (Suomela, *Median filtering is equivalent to
//! sorting*, 2014).

use crate::error::{Error, ErrorKind, Result};
use crate::ops::filter::edge::Extended;

/// Windows of a piece, in multiples of the width: the more, the less is sorted twice.
const WIDTHS: usize = 3;
/// A piece has at least this many windows.
const SHORTEST: usize = 8192;

/// Windows of a piece.
pub(super) fn piece(width: usize) -> usize {
    width.saturating_mul(WIDTHS).max(SHORTEST)
}

/// Bytes for one piece.
pub(super) fn work_space(width: usize, samples: usize) -> usize {
    piece(width).min(samples).saturating_add(width).saturating_mul(17)
}

/// The medians of the windows of `width` samples that start at `first`, `first + 1` ...
pub(super) fn run(row: Extended<'_>, first: i64, width: usize, out: &mut [f32]) -> Result<()> {
    let len = out.len() + width - 1;
    let mut window = reserved(len)?;
    window.resize(len, 0f32);
    row.fill(first, &mut window);
    let mut sorted: Vec<u64> = reserved(len)?;
    // Ties differ in their place.
    sorted.extend(window.iter().enumerate().map(|(i, v)| u64::from(key(*v)) << 32 | i as u64));
    sorted.sort_unstable();
    let mut ranks: Vec<u32> = reserved(len)?;
    ranks.resize(len, 0);
    for (rank, k) in sorted.iter().enumerate() {
        ranks[(k & u64::from(u32::MAX)) as usize] = rank as u32;
    }
    let mut set = Set::new(&ranks[..width], len, width / 2)?;
    for (i, out) in out.iter_mut().enumerate() {
        if i > 0 {
            set.exchange(ranks[i - 1] as usize, ranks[i + width - 1] as usize);
        }
        *out = value((sorted[set.middle] >> 32) as u32);
    }
    super::cpu::spoil(&window, width, out);
    Ok(())
}

fn reserved<T>(len: usize) -> Result<Vec<T>> {
    let mut v = Vec::new();
    v.try_reserve_exact(len).map_err(|e| {
        let text = format!("there is no memory for windows over {len} samples; use a narrower median filter");
        Error::new(ErrorKind::OutOfMemory, text).with_source(e)
    })?;
    Ok(v)
}

/// Unsigned integers in the order of floats; NaN above all, and one zero.
fn key(v: f32) -> u32 {
    if v.is_nan() {
        return u32::MAX;
    }
    let bits = (v + 0.0).to_bits();
    if bits >> 31 == 1 { !bits } else { bits | 1 << 31 }
}

fn value(key: u32) -> f32 {
    f32::from_bits(if key >> 31 == 1 { key & !(1 << 31) } else { !key })
}

/// A set of ranks with its element of one place in the order.
struct Set {
    words: Vec<u64>,
    /// The element.
    middle: usize,
    /// Elements below it.
    below: usize,
    /// How many there have to be.
    rank: usize,
}

impl Set {
    /// Of these ranks, all below `len`; `rank` is below their number.
    fn new(ranks: &[u32], len: usize, rank: usize) -> Result<Self> {
        let mut words = reserved(len.div_ceil(64))?;
        words.resize(len.div_ceil(64), 0u64);
        ranks.iter().for_each(|r| words[*r as usize / 64] |= 1 << (r % 64));
        let mut set = Set { words, middle: 0, below: 0, rank };
        if !set.has(0) {
            set.middle = set.next();
        }
        while set.below < rank {
            set.middle = set.next();
            set.below += 1;
        }
        Ok(set)
    }

    fn has(&self, rank: usize) -> bool {
        self.words[rank / 64] >> (rank % 64) & 1 == 1
    }

    /// The element after `middle`; there is one.
    fn next(&self) -> usize {
        let (mut word, bit) = (self.middle / 64, self.middle % 64);
        // In two steps, since shifting by 64 is not defined.
        let mut rest = self.words[word] & (u64::MAX << bit << 1);
        while rest == 0 && word + 1 < self.words.len() {
            word += 1;
            rest = self.words[word];
        }
        word * 64 + rest.trailing_zeros() as usize
    }

    /// The element before `middle`; there is one.
    fn previous(&self) -> usize {
        let (mut word, bit) = (self.middle / 64, self.middle % 64);
        let mut rest = self.words[word] & !(u64::MAX << bit);
        while rest == 0 && word > 0 {
            word -= 1;
            rest = self.words[word];
        }
        word * 64 + 63 - rest.leading_zeros() as usize
    }

    /// Takes one element out and another in.
    fn exchange(&mut self, out: usize, into: usize) {
        self.words[out / 64] &= !(1 << (out % 64));
        self.words[into / 64] |= 1 << (into % 64);
        self.below = self.below + usize::from(into < self.middle) - usize::from(out < self.middle);
        if self.below > self.rank {
            self.middle = self.previous();
            self.below -= 1;
        } else if !self.has(self.middle) {
            self.middle = self.next();
        } else if self.below < self.rank {
            self.middle = self.next();
            self.below += 1;
        }
    }
}
