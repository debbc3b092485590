//! What a set of readings says: median, spread, and whether a candidate has really won.
//!
//! Readings on a shared machine have a long tail on one side and drift together, so nothing here is a mean. Candidates
//! are compared by the ratio to the default measured in the same round (drift cancels), the ratios by their median (one
//! stall or one lucky sample does not count), and the spread by the median absolute deviation.

/// A win below this relative gain is not worth leaving the default for.
pub const MIN_GAIN: f64 = 0.03;

/// A win above this, and far above the noise, is believed without confirmation.
const DECISIVE_GAIN: f64 = 0.15;

/// Ratios a candidate needs before it can win.
pub const MIN_READINGS: usize = 5;

/// Makes the median absolute deviation of a normal distribution its standard deviation.
const NORMAL: f64 = 1.4826;

/// Whether a reading carries no information: zero, negative, NaN or infinite.
pub fn is_void(reading: f64) -> bool {
    !(reading.is_finite() && reading > 0.0)
}

/// Middle value (mean of the two middle ones for an even count); `None` for no values. NaN sorts last.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[middle]),
        _ => Some(0.5 * (sorted[middle - 1] + sorted[middle])),
    }
}

/// Median absolute deviation from the median; `None` for no values.
pub fn mad(values: &[f64]) -> Option<f64> {
    let center = median(values)?;
    median(&values.iter().map(|v| (v - center).abs()).collect::<Vec<_>>())
}

/// A candidate's time relative to the default's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    /// Median of the rounds' ratios: 0.5 = twice as fast as the default.
    pub median: f64,
    /// Their spread relative to the median, as a standard deviation (scaled median absolute deviation).
    pub noise: f64,
    /// How many rounds gave one.
    pub readings: usize,
}

impl Ratio {
    /// Summarises the rounds' ratios, void ones left out; `None` if none is left.
    pub fn of(ratios: &[f64]) -> Option<Ratio> {
        let valid: Vec<f64> = ratios.iter().copied().filter(|&r| !is_void(r)).collect();
        let center = median(&valid)?;
        Some(Ratio { median: center, noise: NORMAL * mad(&valid)? / center, readings: valid.len() })
    }

    /// Whether this beats the default: by more than 3 % and by more than twice the noise, on enough readings.
    pub fn wins(&self) -> bool {
        self.readings >= MIN_READINGS && 1.0 - self.median > MIN_GAIN.max(2.0 * self.noise)
    }

    /// Whether a win is so far above the noise that it needs no second look. (The best of several equal candidates looks
    /// like a small win in up to one race of seven, hardly ever like one of this size.)
    pub fn is_decisive(&self) -> bool {
        self.wins() && 1.0 - self.median > DECISIVE_GAIN.max(8.0 * self.noise)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[9.0, 1.0]), Some(5.0));
        assert_eq!(median(&[5.0, 1.0, 100.0]), Some(5.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 1000.0]), Some(3.0));
        assert_eq!(mad(&[1.0, 2.0, 4.0, 8.0, 1000.0]), Some(3.0));
        assert_eq!(mad(&[]), None);
    }

    #[test]
    fn void_readings() {
        for reading in [0.0, -0.0, -1e-3, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(is_void(reading), "{reading}");
        }
        assert!(!is_void(1e-9));
        assert!(!is_void(f64::MIN_POSITIVE));
    }

    #[test]
    fn ratio_leaves_void_readings_out() {
        let ratio = Ratio::of(&[0.5, f64::NAN, 0.5, 0.0, -2.0, f64::INFINITY, 0.5]).unwrap();
        assert_eq!(ratio, Ratio { median: 0.5, noise: 0.0, readings: 3 });
        assert_eq!(Ratio::of(&[f64::NAN, 0.0]), None);
    }

    #[test]
    fn a_win_needs_three_percent() {
        assert!(Ratio::of(&[0.96; 5]).unwrap().wins());
        assert!(!Ratio::of(&[0.975; 5]).unwrap().wins());
        assert!(!Ratio::of(&[1.2; 5]).unwrap().wins());
    }

    #[test]
    fn a_win_needs_twice_the_noise() {
        // Median 0.9, deviations 0.1 0.04 0 0.04 0.1: MAD 0.04, noise 0.0659, twice that is above the gain of 0.1.
        let noisy = Ratio::of(&[0.8, 0.86, 0.9, 0.94, 1.0]).unwrap();
        assert!((noisy.noise - 0.06589).abs() < 1e-4);
        assert!(!noisy.wins());
        assert!(Ratio::of(&[0.88, 0.89, 0.9, 0.91, 0.92]).unwrap().wins());
    }

    #[test]
    fn a_decisive_win_is_large_and_far_above_the_noise() {
        assert!(Ratio::of(&[0.5; 5]).unwrap().is_decisive());
        assert!(!Ratio::of(&[0.9; 5]).unwrap().is_decisive());
        assert!(!Ratio::of(&[0.5; 4]).unwrap().is_decisive());
        assert!(!Ratio::of(&[0.7, 0.75, 0.8, 0.85, 0.9]).unwrap().is_decisive());
    }

    #[test]
    fn a_win_needs_five_readings() {
        assert!(!Ratio::of(&[0.5; 4]).unwrap().wins());
        assert!(Ratio::of(&[0.5; 5]).unwrap().wins());
    }

    #[test]
    fn one_lucky_or_stalled_reading_changes_nothing() {
        assert!(!Ratio::of(&[1.0, 0.01, 1.0, 1.01, 0.99]).unwrap().wins());
        assert!(Ratio::of(&[0.8, 0.8, 50.0, 0.81, 0.79]).unwrap().wins());
    }
}
