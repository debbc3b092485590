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
    "filter/reverse",
    "filter/sosfilt",
    "filter/steady",
    "resample/beyond",
    "resample/levels",
    "resample/lift",
    "resample/median",
    "resample/phases",
    "resample/pick",
    "resample/polyphase",
    "shared/butterflies",
    "shared/double_single",
    "shared/fold",
    "shared/frame",
    "shared/level",
    "shared/order",
    "shared/parts",
    "shared/products",
    "shared/roots",
    "shared/scale",
    "shared/sum",
    "spatial/mean_reference",
    "spatial/median_reference",
    "spectral/adapt",
    "spectral/analytic",
    "spectral/average",
    "spectral/fft",
    "spectral/finish",
    "spectral/frames",
    "spectral/median",
    "spectral/overlap",
    "spectral/scales",
    "spectral/spectrum",
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
