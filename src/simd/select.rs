//! The two middle values of 16 columns at once.
//!
//! A lane is a column (one sample of all channels), a row is one channel, so nothing needs transposing. A pass over the
//! rows counts the values below a pivot and takes the largest below and the smallest from it upwards. The pass whose
//! count is the wanted rank has both middle values; until then the two values found narrow a bracket of data values, so
//! that ties end at once. The next pivot comes from Newton steps on the column's mean and deviation until both sides of
//! the bracket are finite, then from the secant through it; after [`GUESSES`] passes from the middle of the bracket's
//! order-preserving integer keys, which ends after at most 32 more. The values returned are always data: exact.

use fearless_simd::{f32x16, i16x32, i32x16, mask32x16, prelude::*};

/// Columns of a block of floats.
pub(crate) const LANES: usize = 16;
/// Columns of a block of 16-bit integers.
pub(crate) const WIDE: usize = 32;
/// Passes with guessed pivots before bisection takes over.
const GUESSES: u32 = 8;
/// More passes than guesses and bisection can need.
const PASSES: u32 = GUESSES + 34;
/// Newton steps aim this many ranks too far, so that the other side of the bracket is found too.
const OVERSHOOT: f32 = 3.0;
/// Standard deviations per rank near the middle of a normal distribution, times the number of values: sqrt(2 pi).
const NORMAL_SPACING: f32 = 2.506_628_3;

/// Sums over the rows, the start of the search.
pub(crate) struct Moments<S: Simd> {
    /// Sum of the values: NaN wherever one of them is.
    pub sum: f32x16<S>,
    squares: f32x16<S>,
}

/// Sums of all rows.
#[inline(always)]
pub(crate) fn moments<S: Simd>(simd: S, rows: &[[f32; LANES]]) -> Moments<S> {
    let zero = f32x16::splat(simd, 0.0);
    let (mut sum, mut squares) = ([zero; 2], [zero; 2]);
    let mut pairs = rows.chunks_exact(2);
    for pair in &mut pairs {
        for i in 0..2 {
            let v = f32x16::load_array_ref(simd, &pair[i]);
            sum[i] += v;
            squares[i] = v.mul_add(v, squares[i]);
        }
    }
    for row in pairs.remainder() {
        let v = f32x16::load_array_ref(simd, row);
        sum[0] += v;
        squares[0] = v.mul_add(v, squares[0]);
    }
    Moments { sum: sum[0] + sum[1], squares: squares[0] + squares[1] }
}

/// What one pass finds.
struct Split<S: Simd> {
    below: i32x16<S>,
    max_below: f32x16<S>,
    min_above: f32x16<S>,
}

#[inline(always)]
fn split<S: Simd>(simd: S, rows: &[[f32; LANES]], pivot: f32x16<S>) -> Split<S> {
    let one = i32x16::splat(simd, 1);
    let mut below = [i32x16::splat(simd, 0); 2];
    let mut max_below = [f32x16::splat(simd, f32::NEG_INFINITY); 2];
    let mut min_above = [f32x16::splat(simd, f32::INFINITY); 2];
    macro_rules! take {
        ($i:expr, $row:expr) => {{
            let v = f32x16::load_array_ref(simd, $row);
            let k = v.simd_lt(pivot);
            below[$i] = k.select(below[$i] + one, below[$i]);
            max_below[$i] = k.select(max_below[$i].max(v), max_below[$i]);
            min_above[$i] = k.select(min_above[$i], min_above[$i].min(v));
        }};
    }
    let mut pairs = rows.chunks_exact(2);
    for pair in &mut pairs {
        take!(0, &pair[0]);
        take!(1, &pair[1]);
    }
    for row in pairs.remainder() {
        take!(0, row);
    }
    Split {
        below: below[0] + below[1],
        max_below: max_below[0].max(max_below[1]),
        min_above: min_above[0].min(min_above[1]),
    }
}

/// The bracket around the wanted rank: data values (or infinities) and the counts of values below them.
struct Bracket<S: Simd> {
    low: f32x16<S>,
    high: f32x16<S>,
    count_low: f32x16<S>,
    count_high: f32x16<S>,
}

/// The values of rank `(count - 1) / 2` and `count / 2` among the `count` smallest values of each column. No value may be
/// NaN; lanes whose count is 0 give an arbitrary value.
#[inline(always)]
pub(crate) fn middles<S: Simd>(
    simd: S,
    rows: &[[f32; LANES]],
    count: i32x16<S>,
    moments: &Moments<S>,
) -> (f32x16<S>, f32x16<S>) {
    let zero = f32x16::splat(simd, 0.0);
    let rank = count >> 1;
    let odd = (count & 1).simd_eq(i32x16::splat(simd, 1));
    let rank_f: f32x16<S> = rank.to_float();
    let inverse = 1.0 / f32x16::splat(simd, rows.len() as f32);
    let mean = moments.sum * inverse;
    let spread = (moments.squares * inverse - mean * mean).max(zero).sqrt();
    let step = spread * inverse * NORMAL_SPACING;
    let mut bracket = Bracket {
        low: f32x16::splat(simd, f32::NEG_INFINITY),
        high: f32x16::splat(simd, f32::INFINITY),
        count_low: zero,
        count_high: f32x16::splat(simd, rows.len() as f32),
    };
    let (mut lower, mut upper) = (zero, zero);
    let mut done = count.simd_le(i32x16::splat(simd, 0));
    let mut pivot = mean.is_finite().select(mean, zero);
    for pass in 0..PASSES {
        let s = split(simd, rows, pivot);
        let exact = s.below.simd_eq(rank);
        let too_high = s.below.simd_gt(rank);
        let too_low = !(exact | too_high);
        let one_above = odd & s.below.simd_eq(rank + 1);
        let found = (exact | one_above) & !done;
        upper = found.select(exact.select(s.min_above, s.max_below), upper);
        lower = found.select((exact & !odd).select(s.max_below, upper), lower);
        done |= found;
        let below: f32x16<S> = s.below.to_float();
        bracket.high = too_high.select(s.max_below, bracket.high);
        bracket.count_high = too_high.select(below, bracket.count_high);
        bracket.low = too_low.select(s.min_above, bracket.low);
        bracket.count_low = too_low.select(below, bracket.count_low);
        let tie = bracket.low.simd_ge(bracket.high) & !done;
        (lower, upper) = (tie.select(bracket.high, lower), tie.select(bracket.high, upper));
        done |= tie;
        if done.all_true() {
            break;
        }
        let newton = {
            let ahead = too_high.select(f32x16::splat(simd, -OVERSHOOT), f32x16::splat(simd, OVERSHOOT));
            (rank_f - below + ahead).mul_add(step, pivot)
        };
        pivot = next_pivot(simd, &bracket, rank_f, newton, pass);
    }
    (lower, upper)
}

/// A pivot above the bracket's low end and at most its high end, so that every pass moves one of them.
#[inline(always)]
fn next_pivot<S: Simd>(simd: S, b: &Bracket<S>, rank: f32x16<S>, newton: f32x16<S>, pass: u32) -> f32x16<S> {
    let middle = bisect(simd, b.low, b.high);
    if pass >= GUESSES {
        return middle;
    }
    let bracketed: mask32x16<S> = b.low.is_finite() & b.high.is_finite();
    let inner = if pass % 4 == 3 {
        (b.low + b.high) * 0.5
    } else {
        let share = (rank - b.count_low) / (b.count_high - b.count_low);
        (b.high - b.low).mul_add(share, b.low)
    };
    let guess = bracketed.select(inner, newton);
    // False for a NaN, too.
    let legal = guess.simd_gt(b.low) & guess.simd_le(b.high);
    legal.select(guess, middle)
}

/// The value in the middle of the floats between `low` (not included) and `high`.
#[inline(always)]
fn bisect<S: Simd>(simd: S, low: f32x16<S>, high: f32x16<S>) -> f32x16<S> {
    // Flips the magnitude of negative values: signed integers in the order of the floats. It is its own inverse.
    let key = |bits: i32x16<S>| bits ^ ((bits >> 31) & i32::MAX);
    // Adding zero turns -0 into +0.
    let (low, high): (i32x16<S>, i32x16<S>) = (key((low + 0.0).bitcast()), key((high + 0.0).bitcast()));
    let gap: fearless_simd::u32x16<S> = (high - low + i32x16::splat(simd, 1)).bitcast();
    let half: i32x16<S> = (gap >> 1).bitcast();
    key(low + half).bitcast()
}

/// The values of rank `(count - 1) / 2` and `count / 2` of 32 columns of 16-bit integers, by bisection between each
/// column's smallest and largest value: one comparison and one count for 32 values. At most [`i16::MAX`] rows.
#[inline(always)]
pub(crate) fn middles_i16<S: Simd>(simd: S, rows: &[[i16; WIDE]]) -> (i16x32<S>, i16x32<S>) {
    let (zero, one) = (i16x32::splat(simd, 0), i16x32::splat(simd, 1));
    let rank = i16x32::splat(simd, (rows.len() / 2) as i16);
    let (mut low, mut high) = (i16x32::splat(simd, i16::MAX), i16x32::splat(simd, i16::MIN));
    for row in rows {
        let v = i16x32::load_array_ref(simd, row);
        (low, high) = (low.min(v), high.max(v));
    }
    // The upper middle is the largest p with at most `rank` values below p.
    while low.simd_lt(high).any_true() {
        // The average rounded upwards, without overflow.
        let pivot = (low | high) - ((low ^ high) >> 1);
        let mut below = [zero; 2];
        let mut pairs = rows.chunks_exact(2);
        for pair in &mut pairs {
            for i in 0..2 {
                let k = i16x32::load_array_ref(simd, &pair[i]).simd_lt(pivot);
                below[i] = k.select(below[i] + one, below[i]);
            }
        }
        for row in pairs.remainder() {
            let k = i16x32::load_array_ref(simd, row).simd_lt(pivot);
            below[0] = k.select(below[0] + one, below[0]);
        }
        let fits = (below[0] + below[1]).simd_le(rank);
        low = fits.select(pivot, low);
        high = fits.select(high, pivot - one);
    }
    let upper = low;
    if rows.len() % 2 == 1 {
        return (upper, upper);
    }
    let (mut below, mut max_below) = (zero, i16x32::splat(simd, i16::MIN));
    for row in rows {
        let v = i16x32::load_array_ref(simd, row);
        let k = v.simd_lt(upper);
        below = k.select(below + one, below);
        max_below = k.select(max_below.max(v), max_below);
    }
    (below.simd_eq(rank).select(max_below, upper), upper)
}

/// Batcher's odd-even merge sort for any number of rows, cut down to the comparators that the middle ranks depend on.
#[derive(Debug, Clone)]
pub(crate) struct Network {
    rows: usize,
    comparators: Vec<(u16, u16)>,
}

/// Most rows a network is worth having for.
pub(crate) const NETWORK_ROWS: usize = 32;

impl Network {
    /// The network for `rows` rows, 1 to [`NETWORK_ROWS`].
    pub fn new(rows: usize) -> Self {
        let mut comparators = Vec::new();
        let mut p = 1;
        while p < rows {
            let mut k = p;
            while k >= 1 {
                for j in (k % p..rows.saturating_sub(k)).step_by(2 * k) {
                    for i in (0..k.min(rows - j - k)).filter(|i| (i + j) / (2 * p) == (i + j + k) / (2 * p)) {
                        comparators.push(((i + j) as u16, (i + j + k) as u16));
                    }
                }
                k /= 2;
            }
            p *= 2;
        }
        let mut needed = vec![false; rows];
        needed[rows / 2] = true;
        needed[rows.saturating_sub(1) / 2] = true;
        comparators.reverse();
        comparators.retain(|&(a, b)| {
            let used = needed[a as usize] || needed[b as usize];
            if used {
                (needed[a as usize], needed[b as usize]) = (true, true);
            }
            used
        });
        comparators.reverse();
        Network { rows, comparators }
    }

    /// The two middle rows (the same one twice for an odd number); `rows` is left in the network's order.
    #[inline(always)]
    pub fn middles<S: Simd>(&self, simd: S, rows: &mut [[f32; LANES]]) -> (f32x16<S>, f32x16<S>) {
        for &(a, b) in &self.comparators {
            let low = f32x16::load_array_ref(simd, &rows[a as usize]);
            let high = f32x16::load_array_ref(simd, &rows[b as usize]);
            low.min(high).store_array(&mut rows[a as usize]);
            low.max(high).store_array(&mut rows[b as usize]);
        }
        let at = |i: usize| f32x16::load_array_ref(simd, &rows[i]);
        (at((self.rows - 1) / 2), at(self.rows / 2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Kernel, levels};

    /// A small generator of test values (splitmix64).
    struct Rng(u64);
    impl Rng {
        fn next(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            z ^ (z >> 31)
        }
        fn below(&mut self, n: u64) -> u64 {
            self.next() % n
        }
        fn normal(&mut self) -> f32 {
            (0..12).map(|_| (self.next() >> 40) as f32 / (1 << 24) as f32).sum::<f32>() - 6.0
        }
    }

    /// Values that have broken selections before: ties, two values, huge ranges, infinities, denormals, outliers.
    fn value(kind: u64, r: &mut Rng) -> f32 {
        let g = r.normal();
        match kind {
            0 => g,
            1 => 5.0,
            2 => f32::from(g > 0.0),
            3 => (g * 3.0).round(),
            4 => (g * 40.0).exp().min(1e38) * if r.below(2) == 0 { 1.0 } else { -1.0 },
            5 => 1e6 + g * 0.1,
            6 if r.below(5) == 0 => {
                if r.below(2) == 0 {
                    f32::INFINITY
                } else {
                    f32::NEG_INFINITY
                }
            }
            7 => g * 1e-40,
            8 if r.below(50) == 0 => 1e6,
            9 => {
                if r.below(3) == 0 {
                    -0.0
                } else {
                    0.0
                }
            }
            10 => f32::MAX * g.signum(),
            11 => {
                if r.below(4) == 0 {
                    f32::INFINITY
                } else {
                    f32::NEG_INFINITY
                }
            }
            12 => g * g * g,
            _ => g,
        }
    }
    const KINDS: u64 = 13;

    struct Middles<'a>(&'a [[f32; LANES]], [i32; LANES]);
    impl Kernel for Middles<'_> {
        type Output = ([f32; LANES], [f32; LANES]);
        #[inline(always)]
        fn run<S: Simd>(self, simd: S) -> Self::Output {
            let m = moments(simd, self.0);
            let (lower, upper) = middles(simd, self.0, i32x16::load_array(simd, self.1), &m);
            (lower.to_array(), upper.to_array())
        }
    }

    struct Sorted<'a>(&'a Network, &'a mut [[f32; LANES]]);
    impl Kernel for Sorted<'_> {
        type Output = ([f32; LANES], [f32; LANES]);
        #[inline(always)]
        fn run<S: Simd>(self, simd: S) -> Self::Output {
            let (lower, upper) = self.0.middles(simd, self.1);
            (lower.to_array(), upper.to_array())
        }
    }

    struct Integers<'a>(&'a [[i16; WIDE]]);
    impl Kernel for Integers<'_> {
        type Output = ([i16; WIDE], [i16; WIDE]);
        #[inline(always)]
        fn run<S: Simd>(self, simd: S) -> Self::Output {
            let (lower, upper) = middles_i16(simd, self.0);
            (lower.to_array(), upper.to_array())
        }
    }

    fn sorted<T: Copy + PartialOrd, const N: usize>(rows: &[[T; N]], lane: usize) -> Vec<T> {
        let mut column: Vec<T> = rows.iter().map(|r| r[lane]).collect();
        column.sort_by(|a, b| a.partial_cmp(b).unwrap());
        column
    }

    #[test]
    fn middles_equal_a_sort() {
        let mut r = Rng(1);
        for level in levels() {
            for round in 0..40 * KINDS {
                let n = if round % 5 == 0 { 384 } else { 1 + r.below(400) as usize };
                let rows: Vec<[f32; LANES]> =
                    (0..n).map(|_| std::array::from_fn(|_| value(round % KINDS, &mut r))).collect();
                // Lanes count all values, fewer (the largest stand for left-out ones), or none.
                let counts = std::array::from_fn(|lane| if lane < 8 { n as i32 } else { r.below(n as u64 + 1) as i32 });
                let (lower, upper) = level.run(Middles(&rows, counts));
                for lane in (0..LANES).filter(|&lane| counts[lane] > 0) {
                    let (column, count) = (sorted(&rows, lane), counts[lane] as usize);
                    let want = (column[(count - 1) / 2], column[count / 2]);
                    assert_eq!(
                        (lower[lane], upper[lane]),
                        want,
                        "{} kind {} n {n} count {count}",
                        level.name(),
                        round % KINDS
                    );
                }
            }
        }
    }

    #[test]
    fn networks_equal_a_sort() {
        let mut r = Rng(2);
        for n in 1..=NETWORK_ROWS {
            let network = Network::new(n);
            for kind in 0..KINDS {
                let rows: Vec<[f32; LANES]> = (0..n).map(|_| std::array::from_fn(|_| value(kind, &mut r))).collect();
                for level in levels() {
                    let (lower, upper) = level.run(Sorted(&network, &mut rows.clone()));
                    for lane in 0..LANES {
                        let column = sorted(&rows, lane);
                        assert_eq!(
                            (lower[lane], upper[lane]),
                            (column[(n - 1) / 2], column[n / 2]),
                            "n {n} kind {kind}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn integer_middles_equal_a_sort() {
        let mut r = Rng(3);
        for level in levels() {
            for round in 0..200 {
                let n = 1 + r.below(400) as usize;
                let spread = [1, 2, 7, 1000, 65536][round % 5];
                let rows: Vec<[i16; WIDE]> = (0..n)
                    .map(|_| std::array::from_fn(|_| (r.below(spread) as i64 - spread as i64 / 2) as i16))
                    .collect();
                let (lower, upper) = level.run(Integers(&rows));
                for lane in 0..WIDE {
                    let column = sorted(&rows, lane);
                    assert_eq!((lower[lane], upper[lane]), (column[(n - 1) / 2], column[n / 2]), "n {n}");
                }
            }
        }
    }

    #[test]
    fn integer_middles_of_the_extremes() {
        for n in [1, 2, 3, 32_767] {
            let rows: Vec<[i16; WIDE]> = (0..n).map(|i| [if i % 2 == 0 { i16::MIN } else { i16::MAX }; WIDE]).collect();
            let (lower, upper) = crate::simd::level().run(Integers(&rows));
            assert_eq!(lower, [i16::MIN; WIDE]);
            assert_eq!(upper, [if n % 2 == 0 { i16::MAX } else { i16::MIN }; WIDE]);
        }
    }
}
