//! What kernels look up: roots of unity and chirps, computed in float64 and rounded once. Kept, as making them can take
//! longer than the transforms they are for.

use std::collections::HashMap;
use std::f64::consts::TAU;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use rustfft::{FftPlanner, num_complex::Complex};

/// Which table.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Table {
    /// For every radix but the first: roots `m k` of degree `before * radix`, m from 1, k below `before` fastest.
    Passes(Vec<usize>),
    /// The first `count` roots of this degree.
    Roots {
        /// Degree.
        degree: usize,
        /// How many.
        count: usize,
    },
    /// Roots of this degree as products: those from 0 to below `1 << low_bits`, then every `1 << low_bits`th.
    Products {
        /// Degree.
        degree: usize,
        /// Bits of the lower factor's index.
        low_bits: u32,
    },
    /// `exp(-i pi k^2 / n)`, k below n.
    Chirp(usize),
    /// The spectrum of the conjugate of that chirp, laid around in a circle of `inner` points, divided by their number.
    Spectrum {
        /// Length of the chirp.
        n: usize,
        /// Points of the circle.
        inner: usize,
    },
}

/// Bytes of tables that are kept.
const KEPT: usize = 64 << 20;

/// The table as pairs of little-endian floats; never empty.
pub(super) fn bytes(table: Table) -> Arc<Vec<u8>> {
    static TABLES: LazyLock<Mutex<HashMap<Table, Arc<Vec<u8>>>>> = LazyLock::new(Mutex::default);
    if let Some(found) = TABLES.lock().unwrap_or_else(PoisonError::into_inner).get(&table) {
        return found.clone();
    }
    let mut values = table.values();
    if values.is_empty() {
        values.push(Complex::new(1.0, 0.0));
    }
    let floats = values.iter().flat_map(|v| [v.re as f32, v.im as f32]);
    let made = Arc::new(floats.flat_map(f32::to_le_bytes).collect::<Vec<u8>>());
    let mut tables = TABLES.lock().unwrap_or_else(PoisonError::into_inner);
    if tables.values().map(|t| t.len()).sum::<usize>() + made.len() > KEPT {
        tables.clear();
    }
    if made.len() <= KEPT {
        tables.insert(table, made.clone());
    }
    made
}

/// `exp(-2 pi i k / degree)`.
fn root(k: usize, degree: usize) -> Complex<f64> {
    Complex::from_polar(1.0, -TAU * (k % degree) as f64 / degree as f64)
}

/// `exp(-i pi k^2 / n)`; the square is reduced as the integer it is.
fn chirp(k: usize, n: usize) -> Complex<f64> {
    let square = (k as u128 * k as u128 % (2 * n as u128)) as usize;
    root(square, 2 * n)
}

impl Table {
    fn values(&self) -> Vec<Complex<f64>> {
        match self {
            Table::Passes(radices) => {
                let mut values = Vec::new();
                let mut before = radices.first().copied().unwrap_or(1);
                // Those of the first radix are all 1, but keep their place.
                values.resize(before - 1, Complex::new(1.0, 0.0));
                for radix in radices.iter().skip(1) {
                    for m in 1..*radix {
                        values.extend((0..before).map(|k| root(m * k, before * radix)));
                    }
                    before *= radix;
                }
                values
            }
            Table::Roots { degree, count } => (0..*count).map(|k| root(k, *degree)).collect(),
            Table::Products { degree, low_bits } => {
                let low = 1usize << low_bits;
                let high = degree.div_ceil(low);
                (0..low).map(|k| root(k, *degree)).chain((0..high).map(|k| root(k * low, *degree))).collect()
            }
            Table::Chirp(n) => (0..*n).map(|k| chirp(k, *n)).collect(),
            Table::Spectrum { n, inner } => {
                let mut circle = vec![Complex::new(0.0, 0.0); *inner];
                for k in 0..*n {
                    let value = chirp(k, *n).conj() / *inner as f64;
                    circle[k] = value;
                    if k > 0 {
                        circle[inner - k] = value;
                    }
                }
                FftPlanner::new().plan_fft_forward(*inner).process(&mut circle);
                circle
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_hold_what_they_say() {
        let at = |table: Table, k: usize| {
            let bytes = bytes(table);
            let float = |i: usize| f32::from_le_bytes(bytes[i * 4..i * 4 + 4].try_into().unwrap());
            (float(2 * k), float(2 * k + 1))
        };
        let exact = |angle: f64| (angle.cos() as f32, angle.sin() as f32);
        let radices = vec![4, 3, 5];
        assert_eq!(at(Table::Passes(radices.clone()), 4 - 1 + 4 + 3), exact(-TAU * 6.0 / 12.0));
        assert_eq!(at(Table::Passes(radices), 12 - 1 + 3 * 12 + 7), exact(-TAU * 28.0 / 60.0));
        assert_eq!(at(Table::Roots { degree: 10, count: 5 }, 3), exact(-TAU * 0.3));
        assert_eq!(at(Table::Products { degree: 1000, low_bits: 5 }, 32 + 3), exact(-TAU * 0.096));
        // 46341^2 no longer fits 31 bits, 3_000_000_000 k^2 no longer 64.
        assert_eq!(at(Table::Chirp(65_537), 65_536), exact(-TAU * 65_538.0 / 131_074.0));
        assert_eq!(chirp(2_999_999_999, 3_000_000_000), chirp(1, 3_000_000_000));
        assert_eq!(bytes(Table::Roots { degree: 1, count: 0 }).len(), 8);
    }

    #[test]
    fn the_spectrum_undoes_itself() {
        let (n, inner) = (7, 16);
        let mut values = Table::Spectrum { n, inner }.values();
        FftPlanner::new().plan_fft_inverse(inner).process(&mut values);
        for (k, v) in values.iter().enumerate() {
            let distance = k.min(inner - k);
            let wanted = if distance < n { chirp(distance, n).conj() } else { Complex::new(0.0, 0.0) };
            assert!((v - wanted).norm() < 1e-14, "{k}");
        }
    }
}
