//! The rules by which scipy chooses peaks, for one channel, in float64 and on the host.

use super::{PeakOptions, Peaks, Plateau, Prominence, Width};

/// Peaks of `x`, which begin at some of the samples that `rises` marks with another value than 0.
pub(super) fn peaks(x: &[f32], rises: &[f32], options: &PeakOptions) -> Peaks {
    let mut peaks = maxima(x, rises, options.plateau_size.is_some());
    if let (Some(interval), Some(plateaus)) = (options.plateau_size, &peaks.plateaus) {
        let keep: Vec<bool> = plateaus.iter().map(|p| interval.holds(p.size() as f64)).collect();
        peaks.retain(&keep);
    }
    let value = |n: usize| f64::from(x[n]);
    if let Some(interval) = options.height {
        peaks.heights = Some(peaks.indices.iter().map(|n| value(*n)).collect());
        let keep: Vec<bool> = peaks.indices.iter().map(|n| interval.holds(value(*n))).collect();
        peaks.retain(&keep);
    }
    if let Some(interval) = options.threshold {
        let steps = |n: &usize| [value(*n) - value(n - 1), value(*n) - value(n + 1)];
        let thresholds: Vec<[f64; 2]> = peaks.indices.iter().map(steps).collect();
        let holds = |[left, right]: &[f64; 2]| {
            interval.min.is_none_or(|min| left.min(*right) >= min)
                && interval.max.is_none_or(|max| left.max(*right) <= max)
        };
        let keep: Vec<bool> = thresholds.iter().map(holds).collect();
        peaks.thresholds = Some(thresholds);
        peaks.retain(&keep);
    }
    if let Some(distance) = options.distance {
        let keep = apart(&peaks.indices, distance.ceil(), value);
        peaks.retain(&keep);
    }
    if options.prominence.is_some() || options.width.is_some() {
        peaks.prominences = Some(prominences(x, &peaks.indices, options.window()));
    }
    if let (Some(interval), Some(prominences)) = (options.prominence, &peaks.prominences) {
        let keep: Vec<bool> = prominences.iter().map(|p| interval.holds(p.prominence)).collect();
        peaks.retain(&keep);
    }
    if let (Some(interval), Some(prominences)) = (options.width, &peaks.prominences) {
        let of = |(n, p): (&usize, &Prominence)| width(x, *n, p, options.rel_height);
        let widths: Vec<Width> = peaks.indices.iter().zip(prominences).map(of).collect();
        let keep: Vec<bool> = widths.iter().map(|w| interval.holds(w.width)).collect();
        peaks.widths = Some(widths);
        peaks.retain(&keep);
    }
    peaks
}

/// Local maxima; of a flat top, the middle, rounded down.
fn maxima(x: &[f32], rises: &[f32], plateaus: bool) -> Peaks {
    let (mut indices, mut tops) = (Vec::new(), Vec::new());
    for (block, flags) in rises.chunks(16).enumerate() {
        if flags.iter().all(|v| *v == 0.0) {
            continue;
        }
        for (i, _) in flags.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            let left = block * 16 + i;
            let level = x[left];
            let Some(behind) = x[left + 1..].iter().position(|v| *v != level) else { continue };
            let right = left + behind;
            if x[right + 1] < level {
                indices.push(left + (right - left) / 2);
                if plateaus {
                    tops.push(Plateau { left, right });
                }
            }
        }
    }
    Peaks { indices, plateaus: plateaus.then_some(tops), ..Peaks::default() }
}

/// Which peaks stay when those nearer than `distance` to a higher one go, the highest first. Of equal ones the last counts
/// as the highest.
fn apart(peaks: &[usize], distance: f64, value: impl Fn(usize) -> f64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..peaks.len()).collect();
    order.sort_by(|a, b| value(peaks[*a]).total_cmp(&value(peaks[*b])));
    let near = |a: usize, b: usize| ((peaks[b] - peaks[a]) as f64) < distance;
    let mut keep = vec![true; peaks.len()];
    for own in order.into_iter().rev() {
        if keep[own] {
            (0..own).rev().take_while(|k| near(*k, own)).for_each(|k| keep[k] = false);
            (own + 1..peaks.len()).take_while(|k| near(own, *k)).for_each(|k| keep[k] = false);
        }
    }
    keep
}

/// How far each peak stands above the higher of the lowest points on both sides, up to where the signal is above the peak,
/// NaN, or out of the window.
fn prominences(x: &[f32], peaks: &[usize], window: Option<usize>) -> Vec<Prominence> {
    let of = |peak: usize, left: usize, right: usize| Prominence {
        prominence: f64::from(x[peak]) - f64::from(x[left]).max(f64::from(x[right])),
        left_base: left,
        right_base: right,
    };
    let Some(window) = window else {
        let left = lowest(peaks.iter().copied(), 0..x.len(), x);
        let mut right = lowest(peaks.iter().rev().copied(), (0..x.len()).rev(), x);
        right.reverse();
        return peaks.iter().zip(left.iter().zip(&right)).map(|(p, (l, r))| of(*p, *l, *r)).collect();
    };
    let half = window / 2;
    let scan = |peak: usize, places: &mut dyn Iterator<Item = usize>| {
        let within = places.take_while(|n| x[*n] <= x[peak]);
        within.fold(peak, |base, n| if x[n] < x[base] { n } else { base })
    };
    let both = |peak: usize| {
        let left = scan(peak, &mut (peak.saturating_sub(half)..peak).rev());
        let right = scan(peak, &mut (peak + 1..x.len().min((peak + half).saturating_add(1))));
        of(peak, left, right)
    };
    peaks.iter().map(|peak| both(*peak)).collect()
}

/// For each of `peaks`, the place of the lowest value on the way back from it, the nearest of equal ones, up to where a value
/// is above it or NaN. `places` leads along the signal, and meets the peaks in their order.
///
/// A stack holds what can still end a way: values that no later one has reached, each with the lowest place between it and
/// the one below it on the stack. So the whole signal takes as many steps as it has samples, however high the peaks.
fn lowest(mut peaks: impl Iterator<Item = usize>, places: impl Iterator<Item = usize>, x: &[f32]) -> Vec<usize> {
    let mut bases = Vec::new();
    let mut stack: Vec<(f32, usize)> = Vec::new();
    let mut next = peaks.next();
    for n in places {
        let (value, mut base) = (x[n], n);
        if value.is_nan() {
            stack.clear();
            continue;
        }
        while let Some((_, lower)) = stack.pop_if(|(top, _)| *top <= value) {
            if x[lower] < x[base] {
                base = lower;
            }
        }
        stack.push((value, base));
        if next == Some(n) {
            bases.push(base);
            next = peaks.next();
        }
    }
    bases
}

/// The width of a peak at a share of its prominence below its top, ends interpolated.
fn width(x: &[f32], peak: usize, prominence: &Prominence, rel_height: f64) -> Width {
    let value = |n: usize| f64::from(x[n]);
    let height = value(peak) - prominence.prominence * rel_height;
    let (mut left, mut right) = (peak, peak);
    while prominence.left_base < left && height < value(left) {
        left -= 1;
    }
    while right < prominence.right_base && height < value(right) {
        right += 1;
    }
    let (mut from, mut to) = (left as f64, right as f64);
    if value(left) < height {
        from += (height - value(left)) / (value(left + 1) - value(left));
    }
    if value(right) < height {
        to -= (height - value(right)) / (value(right - 1) - value(right));
    }
    Width { width: to - from, height, left: from, right: to }
}
