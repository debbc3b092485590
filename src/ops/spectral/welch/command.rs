//! `dspk op welch`, `periodogram`, `csd`, `coherence`.

use super::{Average, PeriodogramOptions, WelchOptions, coherence, csd, periodogram, welch};
use crate::design::Window;
use crate::error::{Error, Result};
use crate::ops::command::{Command, Param, Request};
use crate::ops::spectral::frames::Detrend;
use crate::ops::spectral::frames::params::{self, axis};

const NOVERLAP: Param = params::noverlap("samples that two frames share; null: nperseg // 2");
const AVERAGE: Param = Param::optional("average", "\"mean\"", "over frames: mean or median");
const PARAMS: &[Param] = &[
    params::FS,
    params::window("\"hann\""),
    params::NPERSEG,
    NOVERLAP,
    params::NFFT,
    params::DETREND,
    params::SCALING,
    AVERAGE,
];

pub(crate) const WELCH: Command = Command {
    name: "welch",
    family: "spectral",
    summary: "power averaged over overlapping frames",
    inputs: &["x [C, N]"],
    params: PARAMS,
    run: |r| {
        let x = r.signal(0)?;
        let p = welch(x.source, &options(r, true)?)?;
        Ok(vec![("f", axis(&p.f)), ("Pxx", x.result(&p.values))])
    },
};

pub(crate) const CSD: Command = Command {
    name: "csd",
    family: "spectral",
    summary: "cross power of channels, conj(X) Y, averaged over overlapping frames",
    inputs: &["x [C, N]", "y [C, N]"],
    params: PARAMS,
    run: |r| {
        let (x, y) = (r.signal(0)?, r.signal(1)?);
        same_axes(x.flat, y.flat)?;
        let p = csd(x.source, y.source, &options(r, true)?)?;
        Ok(vec![("f", axis(&p.f)), ("Pxy", x.complex(&p.values))])
    },
};

pub(crate) const COHERENCE: Command = Command {
    name: "coherence",
    family: "spectral",
    summary: "how far two signals go along with each other, by frequency",
    inputs: &["x [C, N]", "y [C, N]"],
    params: &[params::FS, params::window("\"hann\""), params::NPERSEG, NOVERLAP, params::NFFT, params::DETREND],
    run: |r| {
        let (x, y) = (r.signal(0)?, r.signal(1)?);
        same_axes(x.flat, y.flat)?;
        let c = coherence(x.source, y.source, &options(r, false)?)?;
        Ok(vec![("f", axis(&c.f)), ("Cxy", x.result(&c.values))])
    },
};

pub(crate) const PERIODOGRAM: Command = Command {
    name: "periodogram",
    family: "spectral",
    summary: "power of whole channels",
    inputs: &["x [C, N]"],
    params: &[
        params::FS,
        params::window("\"boxcar\""),
        Param::optional(
            "nfft",
            "null",
            "points of the transform: the signal is cut or padded to it; null: as the signal",
        ),
        params::DETREND,
        params::SCALING,
    ],
    run: |r| {
        let p = &r.params;
        let options = PeriodogramOptions {
            fs: params::fs(p)?,
            window: params::taper(p, Window::Boxcar)?,
            nfft: p.usize("nfft")?,
            detrend: params::detrend(p, Detrend::Constant)?,
            scaling: params::scaling(p)?,
            runtime: r.runtime.clone(),
        };
        let x = r.signal(0)?;
        let p = periodogram(x.source, &options)?;
        Ok(vec![("f", axis(&p.f)), ("Pxx", x.result(&p.values))])
    },
};

/// A single channel and an array of one channel are not the same shape.
fn same_axes(x: bool, y: bool) -> Result<()> {
    match x == y {
        true => Ok(()),
        false => Err(Error::shape("one input has a channel axis and the other has none; pass two arrays of one shape")),
    }
}

fn options(r: &Request, scaled: bool) -> Result<WelchOptions> {
    let p = &r.params;
    let mut options = WelchOptions {
        fs: params::fs(p)?,
        window: params::taper(p, Window::Hann)?,
        nperseg: p.usize("nperseg")?,
        noverlap: p.usize("noverlap")?,
        nfft: p.usize("nfft")?,
        detrend: params::detrend(p, Detrend::Constant)?,
        runtime: r.runtime.clone(),
        ..Default::default()
    };
    if scaled {
        options.scaling = params::scaling(p)?;
        if p.choice("average", &["mean", "median"])? == Some("median") {
            options.average = Average::Median;
        }
    }
    Ok(options)
}
