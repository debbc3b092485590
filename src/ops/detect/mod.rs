//! Events in recordings.

pub mod find_peaks;

pub use find_peaks::{FindPeaks, Interval, PeakOptions, Peaks, Plateau, Prominence, Width, find_peaks};
