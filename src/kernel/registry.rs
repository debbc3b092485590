//! All kernels, by name.

use super::Source;
use crate::error::{Error, ErrorKind, Result};

macro_rules! sources {
    ($($name:literal),* $(,)?) => {
        &[$(Source { name: $name, text: include_str!(concat!("../../shaders/", $name, ".wgsl")) }),*]
    };
}

static SOURCES: &[Source] = sources![
    "convert/interleaved",
    "convert/interleaved_any",
    "convert/planar",
    "detect/rises",
    "device/copy",
    "filter/centred",
    "filter/detrend",
    "filter/edges",
    "filter/ends",
    "filter/fir",
    "filter/fir_history",
    "filter/first_samples",
    "filter/halo",
    "filter/median",
    "filter/median_long",
    "filter/overlap_load",
    "filter/overlap_multiply",
    "filter/overlap_store",
    "filter/reverse",
    "filter/sosfilt",
    "filter/sosfilt_blocks",
    "filter/sosfilt_carry",
    "filter/steady",
    "filter/teager_kaiser",
    "resample/beyond",
    "resample/levels",
    "resample/lift",
    "resample/median",
    "resample/phases",
    "resample/pick",
    "resample/polyphase",
    "shared/butterflies",
    "shared/cascade",
    "shared/double_single",
    "shared/fold",
    "shared/frame",
    "shared/kept",
    "shared/level",
    "shared/moments",
    "shared/order",
    "shared/parts",
    "shared/products",
    "shared/roots",
    "shared/rows",
    "shared/scale",
    "shared/spectra",
    "shared/stockham",
    "shared/sum",
    "spatial/mean_reference",
    "spatial/median_reference",
    "spectral/adapt",
    "spectral/analytic",
    "spectral/average",
    "spectral/fft",
    "spectral/finish",
    "spectral/frames",
    "spectral/local",
    "spectral/median",
    "spectral/overlap",
    "spectral/scales",
    "spectral/spectrum",
    "spectral/sums",
    "spectral/trend",
    "spectral/turn",
    "spectral/variance",
    "spectral/wavelets",
];

/// Every file of `shaders/`; those below `shared/` can only be imported.
pub fn sources() -> &'static [Source] {
    SOURCES
}

/// The kernel of this name.
pub fn source(name: &str) -> Result<&'static Source> {
    SOURCES.iter().find(|s| s.name == name).ok_or_else(|| {
        let names: Vec<_> = SOURCES.iter().map(|s| s.name).collect();
        Error::new(ErrorKind::Kernel, format!("no kernel is called `{name}`; there are: {}", names.join(", ")))
    })
}
