//! The list of operations: one line each. The test matrix, the tuner, the benches, `dspk op --list` and the README's
//! table follow from it.

use std::sync::OnceLock;

use crate::error::Result;
use crate::ops::command::Command;
use crate::ops::problem::{Problem, Shape};
use crate::signal::Dtype;

/// A representative problem of an operation: tuned ahead of time, tested on every runtime, benchmarked.
pub struct Representative {
    /// The problem.
    pub problem: Box<dyn Problem>,
    /// Element type of its input.
    pub dtype: Dtype,
    /// The input is `[samples, channels]`.
    pub interleaved: bool,
}

impl Representative {
    /// On channel-major `f32`.
    pub fn planar(problem: impl Problem + 'static) -> Self {
        Representative { problem: Box::new(problem), dtype: Dtype::F32, interleaved: false }
    }
}

/// One operation.
pub struct Entry {
    /// Its name, family, parameters, and how it is called by name.
    pub command: Command,
    /// Its WGSL kernels, by name below `shaders/`.
    pub kernels: &'static [&'static str],
    /// Text of its CPU kernel: part of the identity of its tuning results on the CPU.
    pub cpu_source: &'static str,
    /// Text of the code that launches its kernels: part of the identity of its tuning results on devices.
    pub gpu_source: &'static str,
    /// Problems that stand for all uses.
    pub representatives: fn() -> Result<Vec<Representative>>,
    /// Bytes an ideal implementation moves: inputs read once, outputs written once.
    pub ideal_bytes: fn(&dyn Problem, Dtype, Shape) -> u64,
}

/// What all CPU kernels are made of.
const SHARED_CPU: &str = concat!(
    include_str!("columns.rs"),
    include_str!("../simd/mod.rs"),
    include_str!("../simd/lanes.rs"),
    include_str!("../simd/select.rs"),
    include_str!("../simd/stream.rs"),
    include_str!("../simd/transpose.rs")
);

/// What all launches are made with.
#[cfg(feature = "gpu")]
const SHARED_GPU: &str = concat!(include_str!("launch.rs"), include_str!("../kernel/unroll.rs"));

fn text_identity(parts: &[&str]) -> u128 {
    let mut hash = xxhash_rust::xxh3::Xxh3Default::new();
    for part in parts {
        hash.update(&(part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hash.digest128()
}

impl Entry {
    /// Identity of the recipe behind its variants: changes when a kernel, or the code that composes and launches them,
    /// changes.
    pub fn identity(&self, on_gpu: bool) -> u128 {
        static IDENTITIES: OnceLock<Vec<(&'static str, u128, u128)>> = OnceLock::new();
        let all = IDENTITIES.get_or_init(|| {
            registry()
                .iter()
                .map(|e| (e.command.name, text_identity(&[e.cpu_source, SHARED_CPU]), e.gpu_identity()))
                .collect()
        });
        all.iter()
            .find(|(name, ..)| *name == self.command.name)
            .map_or(0, |(_, cpu, gpu)| if on_gpu { *gpu } else { *cpu })
    }

    #[cfg(feature = "gpu")]
    fn gpu_identity(&self) -> u128 {
        let sources: Vec<_> = self.kernels.iter().filter_map(|name| crate::kernel::source(name).ok()).collect();
        let kernels = crate::kernel::space_identity(&sources);
        text_identity(&[self.gpu_source, SHARED_GPU, &format!("{kernels:032x}")])
    }

    #[cfg(not(feature = "gpu"))]
    fn gpu_identity(&self) -> u128 {
        0
    }
}

/// Reads the input once and writes the output once.
pub(crate) fn once_each(problem: &dyn Problem, dtype: Dtype, shape: Shape) -> u64 {
    let out = problem.output(shape);
    (shape.channels * shape.samples * dtype.size() + out.channels * out.samples * 4) as u64
}

/// All operations.
pub fn registry() -> &'static [Entry] {
    static REGISTRY: [Entry; 33] = [
        crate::ops::convert::ENTRY,
        crate::ops::filter::sosfilt::ENTRY,
        crate::ops::filter::sosfiltfilt::ENTRY,
        crate::ops::filter::lfilter::ENTRY,
        crate::ops::filter::convolve::ENTRY,
        crate::ops::filter::median::MEDIAN_FILTER,
        crate::ops::filter::median::MEDFILT,
        crate::ops::filter::savgol::ENTRY,
        crate::ops::filter::gaussian::ENTRY,
        crate::ops::filter::detrend::ENTRY,
        crate::ops::filter::teager_kaiser::ENTRY,
        crate::ops::resample::resample_poly::ENTRY,
        crate::ops::resample::upfirdn::ENTRY,
        crate::ops::resample::decimate::ENTRY,
        crate::ops::spatial::common_reference::ENTRY,
        crate::ops::spectral::fft::FFT,
        crate::ops::spectral::fft::IFFT,
        crate::ops::spectral::fft::RFFT,
        crate::ops::spectral::fft::IRFFT,
        crate::ops::spectral::stft::STFT,
        crate::ops::spectral::istft::ENTRY,
        crate::ops::spectral::stft::SPECTROGRAM,
        crate::ops::spectral::welch::PERIODOGRAM,
        crate::ops::spectral::welch::WELCH,
        crate::ops::spectral::welch::CSD,
        crate::ops::spectral::welch::COHERENCE,
        crate::ops::spectral::hilbert::HILBERT,
        crate::ops::spectral::hilbert::ENVELOPE,
        crate::ops::spectral::resample::ENTRY,
        crate::ops::spectral::phase_shift::ENTRY,
        crate::ops::spectral::multitaper::ENTRY,
        crate::ops::spectral::cwt::ENTRY,
        crate::ops::detect::find_peaks::ENTRY,
    ];
    &REGISTRY
}

/// The operation of a name.
pub fn entry(name: &str) -> Option<&'static Entry> {
    registry().iter().find(|e| e.command.name == name)
}
