//! `dspk op istft`.

use super::{IstftOptions, istft};
use crate::design::Window;
use crate::error::{Error, Result};
use crate::ops::command::{Array, Command, NdArray, Outputs, Param, Request};
use crate::ops::spectral::frames::Scaling;
use crate::ops::spectral::frames::params::{self, axis};
use crate::signal::{Complex32, ComplexView};

pub(crate) const COMMAND: Command = Command {
    name: "istft",
    family: "spectral",
    summary: "signal of the Fourier transforms of overlapping frames",
    inputs: &["Zxx [C, F, T], complex64"],
    params: &[
        params::FS,
        params::window("\"hann\""),
        Param::optional("nperseg", "null", "samples of a frame; null: 2 (F - 1)"),
        params::noverlap("samples that two frames share; null: nperseg // 2"),
        Param::optional("nfft", "null", "points of the transforms; null: 2 (F - 1), or an nperseg of one more"),
        Param::optional("boundary", "true", "half a frame goes off at both ends"),
        Param::optional("scaling", "\"spectrum\"", "spectrum or psd"),
    ],
    run,
};

fn run(r: &Request) -> Result<Outputs> {
    let p = &r.params;
    let options = IstftOptions {
        fs: params::fs(p)?,
        window: params::taper(p, Window::Hann)?,
        nperseg: p.usize("nperseg")?,
        noverlap: p.usize("noverlap")?,
        nfft: p.usize("nfft")?,
        boundary: p.bool("boundary")?.unwrap_or(true),
        scaling: match p.choice("scaling", &["spectrum", "psd"])? {
            Some("psd") => Scaling::Density,
            _ => Scaling::Spectrum,
        },
        runtime: r.runtime.clone(),
    };
    let z = r.input(0)?;
    let (channels, frequencies, frames) = match *z.shape() {
        [frequencies, frames] => (None, frequencies, frames),
        [channels, frequencies, frames] => (Some(channels), frequencies, frames),
        _ => {
            return Err(Error::shape(format!(
                "input 1 has shape {:?}; pass [channels, frequencies, frames], or [frequencies, frames] for one channel",
                z.shape()
            )));
        }
    };
    let Array::C64(z) = z else {
        return Err(Error::invalid(format!(
            "input 1 has {} values; pass complex64 (in numpy: z.astype(\"complex64\"))",
            z.dtype()
        )));
    };
    let values: &[Complex32] = bytemuck::cast_slice(z.data());
    let x = istft(ComplexView::new(values, channels.unwrap_or(1), frequencies * frames)?, frequencies, &options)?;
    let t: Vec<f64> = (0..x.samples()).map(|n| n as f64 / options.fs).collect();
    let shape = channels.into_iter().chain([x.samples()]).collect();
    Ok(vec![("t", axis(&t)), ("x", Array::F32(NdArray::new(shape, x.to_vec())?))])
}
