//! The lags of a cross-correlation.

use crate::error::{Error, ErrorKind, Result};

/// Which part of a cross-correlation is meant, as `scipy.signal.correlate` names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LagMode {
    /// Wherever the signals overlap.
    #[default]
    Full,
    /// As long as the first signal, from the middle of `Full`.
    Same,
    /// Where the shorter signal overlaps entirely.
    Valid,
}

/// The lag of each sample of a cross-correlation: `scipy.signal.correlation_lags(in1_len, in2_len, mode)`.
///
/// ```
/// use dspk::design::{LagMode, correlation_lags};
/// assert_eq!(correlation_lags(3, 2, LagMode::Full)?, [-1, 0, 1, 2]);
/// assert_eq!(correlation_lags(3, 2, LagMode::Valid)?, [0, 1]);
/// # Ok::<(), dspk::Error>(())
/// ```
///
/// # Errors
/// A length of 0, or more lags than memory holds.
pub fn correlation_lags(in1_len: usize, in2_len: usize, mode: LagMode) -> Result<Vec<i64>> {
    let too_long = || {
        let message = format!("there is no memory for the lags of signals of {in1_len} and {in2_len} samples");
        Error::new(ErrorKind::OutOfMemory, message)
    };
    let (Ok(n1), Ok(n2)) = (i64::try_from(in1_len), i64::try_from(in2_len)) else { return Err(too_long()) };
    if n1 == 0 || n2 == 0 {
        return Err(Error::invalid(format!(
            "in1_len is {in1_len} and in2_len {in2_len}; signals to correlate have 1 sample or more"
        )));
    }
    let full = n1.checked_add(n2 - 1).ok_or_else(too_long)?;
    let (first, count) = match mode {
        LagMode::Full => (1 - n2, full),
        LagMode::Same => (1 - n2 + full / 2 - n1 / 2, n1),
        LagMode::Valid if n1 >= n2 => (0, n1 - n2 + 1),
        LagMode::Valid => (n1 - n2, n2 - n1 + 1),
    };
    let mut lags = Vec::new();
    let room = usize::try_from(count).ok().map(|count| lags.try_reserve_exact(count));
    if !matches!(room, Some(Ok(()))) {
        return Err(too_long());
    }
    lags.extend(first..first + count);
    Ok(lags)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lags_are_those_of_scipy() {
        // scipy.signal.correlation_lags(in1_len, in2_len, mode): first, last and number of lags.
        for (n1, n2, mode, first, last) in [
            (5, 3, LagMode::Full, -2, 4),
            (5, 3, LagMode::Same, -1, 3),
            (6, 3, LagMode::Same, -1, 4),
            (6, 4, LagMode::Same, -2, 3),
            (3, 6, LagMode::Same, -2, 0),
            (5, 3, LagMode::Valid, 0, 2),
            (3, 5, LagMode::Valid, -2, 0),
            (1, 1, LagMode::Full, 0, 0),
        ] {
            let lags = correlation_lags(n1, n2, mode).unwrap();
            assert_eq!(lags, (first..=last).collect::<Vec<i64>>(), "{n1} {n2} {mode:?}");
        }
    }

    #[test]
    fn lengths_without_lags_are_errors() {
        assert!(correlation_lags(0, 3, LagMode::Full).unwrap_err().to_string().contains("1 sample or more"));
        assert!(correlation_lags(3, 0, LagMode::Same).is_err());
        for n in [usize::MAX, i64::MAX as usize, 1 << 60] {
            let e = correlation_lags(n, n, LagMode::Full).unwrap_err();
            assert_eq!(e.kind(), ErrorKind::OutOfMemory);
        }
    }
}
