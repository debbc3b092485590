//! `dspk op stft`, `spectrogram`.

use super::{Boundary, SpectrogramMode, SpectrogramOptions, StftOptions, spectrogram, stft};
use crate::design::Window;
use crate::error::Result;
use crate::ops::command::{Command, Outputs, Param, Request};
use crate::ops::spectral::frames::params::{self, axis};
use crate::ops::spectral::frames::{Detrend, Scaling};

pub(crate) const STFT: Command = Command {
    name: "stft",
    family: "spectral",
    summary: "Fourier transforms of overlapping frames",
    inputs: &["x [C, N]"],
    params: &[
        params::FS,
        params::window("\"hann\""),
        params::NPERSEG,
        params::noverlap("samples that two frames share; null: nperseg // 2"),
        params::NFFT,
        Param::optional("detrend", "false", "what is taken off each frame: constant, linear, false"),
        Param::optional("boundary", "\"zeros\"", "beyond the ends: zeros, even, odd, constant; null: no extension"),
        Param::optional("padded", "true", "add zeros until the last frame is whole"),
        Param::optional("scaling", "\"spectrum\"", "spectrum or psd"),
    ],
    run: |r| {
        let p = &r.params;
        let boundary = match (p.is_null("boundary"), p.choice("boundary", &["zeros", "even", "odd", "constant"])?) {
            (true, _) => Boundary::None,
            (_, Some("even")) => Boundary::Even,
            (_, Some("odd")) => Boundary::Odd,
            (_, Some("constant")) => Boundary::Constant,
            _ => Boundary::Zeros,
        };
        let options = StftOptions {
            fs: params::fs(p)?,
            window: params::taper(p, Window::Hann)?,
            nperseg: p.usize("nperseg")?,
            noverlap: p.usize("noverlap")?,
            nfft: p.usize("nfft")?,
            detrend: params::detrend(p, Detrend::None)?,
            boundary,
            padded: p.bool("padded")?.unwrap_or(true),
            scaling: match p.choice("scaling", &["spectrum", "psd"])? {
                Some("psd") => Scaling::Density,
                _ => Scaling::Spectrum,
            },
            runtime: r.runtime.clone(),
        };
        let x = r.signal(0)?;
        let z = stft(x.source, &options)?;
        let values = x.complex_lines(&z.values, z.f.len(), z.t.len())?;
        Ok(vec![("f", axis(&z.f)), ("t", axis(&z.t)), ("Zxx", values)])
    },
};

pub(crate) const SPECTROGRAM: Command = Command {
    name: "spectrogram",
    family: "spectral",
    summary: "power or magnitude of overlapping frames",
    inputs: &["x [C, N]"],
    params: &[
        params::FS,
        params::window("[\"tukey\", 0.25]"),
        params::NPERSEG,
        params::noverlap("samples that two frames share; null: nperseg // 8"),
        params::NFFT,
        params::DETREND,
        params::SCALING,
        Param::optional("mode", "\"psd\"", "psd or magnitude"),
    ],
    run,
};

fn run(r: &Request) -> Result<Outputs> {
    let p = &r.params;
    let options = SpectrogramOptions {
        fs: params::fs(p)?,
        window: params::taper(p, Window::Tukey { alpha: 0.25 })?,
        nperseg: p.usize("nperseg")?,
        noverlap: p.usize("noverlap")?,
        nfft: p.usize("nfft")?,
        detrend: params::detrend(p, Detrend::Constant)?,
        scaling: params::scaling(p)?,
        mode: match p.choice("mode", &["psd", "magnitude"])? {
            Some("magnitude") => SpectrogramMode::Magnitude,
            _ => SpectrogramMode::Psd,
        },
        runtime: r.runtime.clone(),
    };
    let x = r.signal(0)?;
    let s = spectrogram(x.source, &options)?;
    let values = x.lines(&s.values, s.f.len(), s.t.len())?;
    Ok(vec![("f", axis(&s.f)), ("t", axis(&s.t)), ("Sxx", values)])
}
