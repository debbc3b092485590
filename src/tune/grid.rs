//! The sizes tuned ahead of time: `tuning/grid.json`, unless the caller names others.

use serde::Deserialize;

use crate::error::{Error, Result};

const DEFAULT: &str = include_str!("../../tuning/grid.json");

/// Values in an array beyond which no size is asked about: 4 TiB of float32.
pub(crate) const MAX_VALUES: u128 = 1 << 40;

/// Channel counts and lengths; every combination is one grid point.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// Channel counts.
    pub channels: Vec<usize>,
    /// Samples per channel.
    pub samples: Vec<usize>,
}

impl Grid {
    /// Channels 32, 64, 128, 384 by samples 8,192, 32,768, 131,072, 524,288.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Internal`] if the file built into the crate is damaged.
    pub fn standard() -> Result<Grid> {
        serde_json::from_str(DEFAULT)
            .map_err(|e| Error::internal("the built-in tuning/grid.json does not parse").with_source(e))
    }

    /// The standard grid, with the axes given here (where not empty) in place of its own.
    ///
    /// # Errors
    /// [`crate::ErrorKind::InvalidArgument`] for a size of 0, or one that no memory holds.
    pub fn with(channels: &[usize], samples: &[usize]) -> Result<Grid> {
        let mut grid = Grid::standard()?;
        for (axis, given, name) in [(&mut grid.channels, channels, "channels"), (&mut grid.samples, samples, "samples")]
        {
            if given.contains(&0) {
                return Err(Error::invalid(format!("{name} to tune for must be 1 or more, got 0")));
            }
            if !given.is_empty() {
                *axis = given.to_vec();
            }
        }
        let largest = |axis: &[usize]| axis.iter().copied().max().unwrap_or(0) as u128;
        let (channels, samples) = (largest(&grid.channels), largest(&grid.samples));
        if channels * samples > MAX_VALUES {
            return Err(Error::invalid(format!(
                "{channels} channels x {samples} samples do not fit in any memory; tune for sizes that you have"
            )));
        }
        Ok(grid)
    }

    /// All `(channels, samples)`, each once, smallest first.
    pub fn points(&self) -> Vec<(usize, usize)> {
        let mut points: Vec<(usize, usize)> =
            self.channels.iter().flat_map(|&c| self.samples.iter().map(move |&s| (c, s))).collect();
        points.sort_unstable_by_key(|&(c, s)| (c as u128 * s as u128, c));
        points.dedup();
        points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_grid() {
        let grid = Grid::standard().unwrap();
        assert_eq!(grid.channels, [32, 64, 128, 384]);
        assert_eq!(grid.samples, [8192, 32768, 131_072, 524_288]);
        let points = grid.points();
        assert_eq!(points.len(), 16);
        assert_eq!(points[0], (32, 8192));
        assert_eq!(points[15], (384, 524_288));
    }

    #[test]
    fn given_axes_replace_the_standard_ones() {
        let grid = Grid::with(&[4, 2, 4], &[]).unwrap();
        assert_eq!(grid.points().len(), 8);
        assert_eq!(Grid::with(&[], &[7]).unwrap().samples, [7]);
        assert!(Grid::with(&[0], &[]).unwrap_err().to_string().contains("channels"));
        assert!(Grid::with(&[], &[8, 0]).unwrap_err().to_string().contains("samples"));
        for (channels, samples) in [(vec![usize::MAX, 1], vec![usize::MAX]), (vec![1 << 32], vec![8192])] {
            assert!(Grid::with(&channels, &samples).unwrap_err().to_string().contains("memory"));
        }
    }
}
