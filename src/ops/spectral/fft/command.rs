//! `dspk op fft`, `ifft`, `rfft`, `irfft`.

use super::{Fft, FftOptions, Norm};
use crate::error::Result;
use crate::ops::command::{Command, Outputs, Param, Request};

const PARAMS: &[Param] = &[
    Param::optional("n", "null", "points of the transform: the input is cut or padded to it; null: as the input"),
    Param::optional("norm", "\"backward\"", "where the factor 1/n goes: backward, ortho, forward"),
];

const fn command(
    name: &'static str,
    summary: &'static str,
    inputs: &'static [&'static str],
    run: fn(&Request) -> Result<Outputs>,
) -> Command {
    Command { name, family: "spectral", summary, inputs, params: PARAMS, run }
}

pub(crate) const FFT: Command = command("fft", "discrete Fourier transform", &["z [C, N], complex64"], |r| {
    let z = r.spectra(0)?;
    Ok(vec![("X", z.complex(&plan(r)?.forward(z.view()?)?))])
});

pub(crate) const IFFT: Command = command("ifft", "inverse discrete Fourier transform", &["z [C, N], complex64"], |r| {
    let z = r.spectra(0)?;
    Ok(vec![("x", z.complex(&plan(r)?.inverse(z.view()?)?))])
});

pub(crate) const RFFT: Command =
    command("rfft", "Fourier transform of real channels, n // 2 + 1 bins", &["x [C, N]"], |r| {
        let x = r.signal(0)?;
        Ok(vec![("X", x.complex(&plan(r)?.real_forward(x.source)?))])
    });

pub(crate) const IRFFT: Command =
    command("irfft", "real channels of one-sided spectra", &["z [C, F], complex64"], |r| {
        let z = r.spectra(0)?;
        Ok(vec![("x", z.real(&plan(r)?.real_inverse(z.view()?)?))])
    });

fn plan(request: &Request) -> Result<Fft> {
    let norm = request.params.choice("norm", &Norm::NAMES)?.map_or(Ok(Norm::default()), str::parse)?;
    Fft::new(&FftOptions { n: request.params.usize("n")?, norm, runtime: request.runtime.clone() })
}
