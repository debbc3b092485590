//! How a transform is laid out on a device: a row as passes over memory, a pass as radices within a work group.

use crate::runtime::gpu::Limits;

/// Most radices of a pass that the kernel is written for.
pub(super) const RADICES: usize = 6;
/// Most points that its registers hold for a thread, and widest radix.
const WIDEST: usize = 32;
/// Points of all transforms of a work group that the kernel allows.
const MOST_POINTS: usize = 8192;
/// Fewest neighbouring columns that should share a work group: 32 bytes of memory in a row.
const FEWEST_COLUMNS: usize = 4;

/// A radix as the points of its two butterflies, those of the second 1 where one does.
pub(super) fn parts(radix: usize) -> (u32, u32) {
    match radix {
        6 => (3, 2),
        9 => (3, 3),
        10 => (5, 2),
        12 => (4, 3),
        14 => (7, 2),
        15 => (5, 3),
        16 => (4, 4),
        32 => (8, 4),
        simple => (simple as u32, 1),
    }
}

/// What a plan is made for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Taste {
    /// Widest radix.
    pub widest: usize,
    /// Threads that a work group should have at least.
    pub threads: usize,
    /// Neighbouring columns that should share a work group.
    pub columns: usize,
    /// One slot of memory in 32 is left empty, so that strides of powers of two meet different banks.
    pub padded: bool,
}

/// One pass over memory: transforms of `points` points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pass {
    pub points: usize,
    pub radices: Vec<usize>,
    /// Threads of a transform.
    pub threads: usize,
    /// Transforms of a work group.
    pub slots: usize,
}

/// The passes of a row of `points`, a product of small primes; `None` if the device's work groups are too small.
pub(super) fn passes(points: usize, taste: Taste, limits: &Limits) -> Option<Vec<Pass>> {
    let most = group_points(taste, limits);
    if let Some(pass) = pass(points, 1, taste, limits) {
        return Some(vec![pass]);
    }
    for cap in [most / FEWEST_COLUMNS, most / 2] {
        for count in 2..=4 {
            if let Some(lengths) = split(points, count, cap) {
                return lengths.iter().map(|&length| pass(length, taste.columns, taste, limits)).collect();
            }
        }
    }
    None
}

/// Points of all transforms of a work group.
fn group_points(taste: Taste, limits: &Limits) -> usize {
    let slots = (limits.group_bytes / 8) as usize;
    (if taste.padded { slots * 32 / 33 } else { slots }).min(MOST_POINTS)
}

/// `points` as a product of `count` factors of at most `cap`, the largest as small as it can be.
fn split(points: usize, count: usize, cap: usize) -> Option<Vec<usize>> {
    if count == 1 {
        return (points <= cap).then(|| vec![points]);
    }
    let root = (points as f64).powf(1.0 / count as f64).floor().max(1.0) as usize;
    (root..=cap.min(points)).filter(|factor| points.is_multiple_of(*factor)).find_map(|factor| {
        let mut rest = split(points / factor, count - 1, factor)?;
        rest.insert(0, factor);
        Some(rest)
    })
}

/// The only pass of rows of `points`, a product of small primes, with so many rows in a work group at least.
pub(super) fn single(points: usize, slots: usize, taste: Taste, limits: &Limits) -> Option<Pass> {
    pass(points, slots, taste, limits).filter(|pass| pass.slots >= slots)
}

/// The pass with threads that have mirrored pairs of butterflies of its last radix, where registers hold them.
pub(super) fn facing(pass: Pass, taste: Taste, limits: &Limits) -> Option<Pass> {
    let last = pass.points / pass.radices.last()?;
    let held = |threads: usize| pass.radices.iter().map(|r| (pass.points / r).div_ceil(threads) * r).max();
    let fits = |t: &usize| *t > 0 && last.is_multiple_of(2 * t) && held(*t).is_some_and(|most| most <= WIDEST);
    let threads = [pass.threads, pass.threads / 2].into_iter().find(fits)?;
    let few = pass.slots * threads < taste.threads && 2 * pass.slots * pass.points <= group_points(taste, limits);
    let slots = if few && pass.slots < 256 { 2 * pass.slots } else { pass.slots };
    (pass.radices.len() > 1).then_some(Pass { threads, slots, ..pass })
}

/// One pass, with so many rows or neighbouring columns in a work group where they fit.
fn pass(points: usize, side_by_side: usize, taste: Taste, limits: &Limits) -> Option<Pass> {
    let most = group_points(taste, limits);
    let threads_allowed = limits.group_size.min(1024) as usize;
    if points > most {
        return None;
    }
    let radices = radices(points, taste.widest)?;
    let threads = threads(points, &radices, threads_allowed)?;
    let wanted = taste.threads.div_ceil(threads).max(side_by_side);
    let allowed = (most / points).min(threads_allowed / threads).min(256);
    // Even, so that columns can come with their mirrors.
    let slots = wanted.next_power_of_two().min(if allowed > 0 { 1 << allowed.ilog2() } else { 0 });
    (slots > 0).then_some(Pass { points, radices, threads, slots })
}

/// The fewest radices up to `widest` whose product is `points`, the most even of those, widest first.
pub(super) fn radices(points: usize, widest: usize) -> Option<Vec<usize>> {
    fn best(points: usize, widest: usize, count: usize) -> Option<Vec<usize>> {
        if points == 1 || count == 0 {
            return (points == 1).then(Vec::new);
        }
        let all = [32, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2];
        all.into_iter()
            .filter(|r| *r <= widest && points.is_multiple_of(*r))
            .filter_map(|r| Some([&[r], &best(points / r, r, count - 1)?[..]].concat()))
            .min_by_key(|found| (found.len(), found.iter().sum::<usize>()))
    }
    if points == 1 {
        return Some(vec![1]);
    }
    (1..=RADICES).find_map(|count| best(points, widest, count))
}

/// Threads of a transform: the number that leaves the fewest idle, and of those the smallest.
fn threads(points: usize, radices: &[usize], allowed: usize) -> Option<usize> {
    let held = |threads: usize| radices.iter().map(move |r| (points / r).div_ceil(threads) * r);
    radices
        .iter()
        .map(|radix| points / radix)
        .filter(|&t| t <= allowed && held(t).max().is_some_and(|most| most <= WIDEST))
        .min_by_key(|&t| (t * held(t).sum::<usize>(), t))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::spectral::fft::recipe::small_factors;

    fn limits(group_bytes: u32) -> Limits {
        Limits {
            binding_bytes: 1 << 27,
            buffer_bytes: 1 << 28,
            uniform_bytes: 1 << 16,
            groups_per_dimension: 65_535,
            group_size: if group_bytes < 32_768 { 256 } else { 1024 },
            group_bytes,
            storage_alignment: 256,
        }
    }

    fn check(points: usize, taste: Taste, limits: &Limits) -> Vec<Pass> {
        let found = passes(points, taste, limits).unwrap_or_else(|| panic!("{points} {taste:?} {limits:?}"));
        assert_eq!(found.iter().map(|p| p.points).product::<usize>(), points);
        for pass in &found {
            let slots = pass.slots * pass.points;
            let slots = if taste.padded { slots + slots / 32 } else { slots };
            assert_eq!(pass.radices.iter().product::<usize>(), pass.points);
            assert!(pass.radices.len() <= RADICES && pass.radices.iter().all(|r| *r <= taste.widest.max(13)));
            assert!(slots * 8 <= limits.group_bytes as usize && slots <= MOST_POINTS + MOST_POINTS / 32, "{pass:?}");
            assert!(pass.slots * pass.threads <= limits.group_size as usize && pass.slots <= 256);
            let held = pass.radices.iter().map(|r| (pass.points / r).div_ceil(pass.threads) * r).max();
            assert!(held.is_some_and(|held| held <= WIDEST), "{pass:?}");
            assert!(found.len() == 1 || pass.slots.is_multiple_of(2), "{pass:?}");
        }
        found
    }

    #[test]
    fn every_length_has_passes_that_fit() {
        for group_bytes in [16_384, 32_768, 49_152] {
            let limits = limits(group_bytes);
            for (widest, threads, columns, padded) in [(32, 8, 8, false), (16, 64, 16, true), (13, 256, 16, false)] {
                let taste = Taste { widest, threads, columns, padded };
                let most = group_points(taste, &limits);
                for points in (1..=most).chain([12_288, 60_000, 65_536, 131_072, 1 << 20, 1 << 24, 11usize.pow(6)]) {
                    if small_factors(points).is_some() {
                        check(points, taste, &limits);
                    }
                }
            }
        }
    }

    #[test]
    fn single_passes_hold_the_rows_that_are_wanted() {
        let taste = Taste { widest: 16, threads: 64, columns: 16, padded: false };
        let slots = |points, slots| single(points, slots, taste, &limits(16_384)).map(|pass| pass.slots);
        assert_eq!([slots(2048, 1), slots(2048, 2), slots(1024, 2), slots(4096, 1)], [Some(1), None, Some(2), None]);
    }

    #[test]
    fn threads_that_face_have_pairs_of_butterflies() {
        let facing = |points, widest, threads| {
            let taste = Taste { widest, threads, columns: 16, padded: false };
            let limits = limits(32_768);
            let pass = super::facing(pass(points, 1, taste, &limits)?, taste, &limits)?;
            Some((pass.radices, pass.threads, pass.slots))
        };
        assert_eq!(facing(512, 32, 8), Some((vec![32, 16], 16, 1)));
        assert_eq!(facing(512, 8, 64), Some((vec![8, 8, 8], 32, 2)));
        assert_eq!(facing(256, 16, 8), Some((vec![16, 16], 8, 1)));
        assert_eq!([facing(1024, 32, 8), facing(16, 16, 8), facing(15, 5, 8)], [None, None, None]);
    }

    #[test]
    fn plans_by_length() {
        let taste = Taste { widest: 16, threads: 64, columns: 16, padded: false };
        let radices = |points| -> Vec<Vec<usize>> {
            check(points, taste, &limits(32_768)).into_iter().map(|pass| pass.radices).collect()
        };
        assert_eq!(radices(1), [[1]]);
        assert_eq!(radices(4096), [[16, 16, 16]]);
        assert_eq!(radices(1001), [[13, 11, 7]]);
        assert_eq!(radices(1 << 16), [[16, 16], [16, 16]]);
        assert_eq!(radices(60_000), [vec![10, 5, 5], vec![16, 15]]);
        let passes = check(1 << 24, taste, &limits(32_768));
        assert_eq!(passes.iter().map(|p| (p.points, p.slots)).collect::<Vec<_>>(), [(256, 16); 3]);
        assert_eq!(passes[0].threads, 16);
    }
}
