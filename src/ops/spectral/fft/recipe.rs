//! How a length is transformed: a plain value, made of the length alone.

use std::fmt;

/// Primes whose butterflies are written out.
const RADICES: [usize; 6] = [2, 3, 5, 7, 11, 13];

/// The plan of a transform.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Recipe {
    /// A product of small primes, by passes of these radices.
    Mixed(Vec<usize>),
    /// Any other length: as a convolution with a chirp, by transforms of a convenient length of at least `2 n - 1`.
    Bluestein {
        /// Length of the transform.
        n: usize,
        /// Length of the inner transforms, a product of small primes.
        inner: usize,
    },
}

impl Recipe {
    /// The plan for `n` points, `n >= 1`.
    pub fn new(n: usize) -> Recipe {
        match small_factors(n) {
            Some(factors) => Recipe::Mixed(factors),
            None => Recipe::Bluestein { n, inner: convenient(2 * n - 1) },
        }
    }
}

/// Bytes that the plan and the work space of a transform of `points` take, about.
pub(crate) fn work_space(points: usize) -> usize {
    let inner = match Recipe::new(points.max(1)) {
        Recipe::Mixed(_) => points,
        Recipe::Bluestein { inner, .. } => inner.saturating_mul(2),
    };
    inner.saturating_mul(5 * size_of::<crate::signal::Complex32>())
}

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Recipe::Mixed(factors) if factors.is_empty() => write!(f, "1"),
            Recipe::Mixed(factors) => {
                let text: Vec<String> = factors.iter().map(usize::to_string).collect();
                write!(f, "{}", text.join("x"))
            }
            Recipe::Bluestein { n, inner } => write!(f, "bluestein({n} by {inner} = {})", Recipe::new(*inner)),
        }
    }
}

/// Prime factors, smallest first, if all are small; powers of two come as fours and at most one two.
pub(crate) fn small_factors(n: usize) -> Option<Vec<usize>> {
    let (mut left, mut factors) = (n.max(1), Vec::new());
    while left.is_multiple_of(4) {
        factors.push(4);
        left /= 4;
    }
    for radix in RADICES {
        while left.is_multiple_of(radix) {
            factors.push(radix);
            left /= radix;
        }
    }
    (left == 1).then_some(factors)
}

/// The smallest length of at least `n` with prime factors 2, 3 and 5 only.
pub(crate) fn convenient(n: usize) -> usize {
    let mut best = n.next_power_of_two();
    let mut fives = 1;
    while fives < best {
        let mut threes = fives;
        while threes < best {
            let rest = n.div_ceil(threes).next_power_of_two();
            best = best.min(threes * rest);
            threes *= 3;
        }
        fives *= 5;
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_by_length() {
        assert_eq!(Recipe::new(1).to_string(), "1");
        assert_eq!(Recipe::new(1024).to_string(), "4x4x4x4x4");
        assert_eq!(Recipe::new(60_000).to_string(), "4x4x2x3x5x5x5x5");
        assert_eq!(Recipe::new(1001).to_string(), "7x11x13");
        assert_eq!(Recipe::new(17), Recipe::Bluestein { n: 17, inner: 36 });
    }

    #[test]
    fn factors_multiply_to_the_length_and_convenient_lengths_are_the_smallest() {
        let smooth = |mut n: usize| {
            for p in [2, 3, 5] {
                while n.is_multiple_of(p) {
                    n /= p;
                }
            }
            n == 1
        };
        for n in 1..3000 {
            if let Some(factors) = small_factors(n) {
                assert_eq!(factors.iter().product::<usize>(), n);
            }
            assert_eq!(convenient(n), (n..).find(|&m| smooth(m)).unwrap());
        }
    }
}
