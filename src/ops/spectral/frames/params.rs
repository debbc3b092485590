//! The parameters of commands on frames.

use super::{Detrend, Scaling, Taper};
use crate::design::Window;
use crate::error::Result;
use crate::ops::command::{Array, NdArray, Param, Params};

pub(in super::super) const FS: Param = Param::optional("fs", "1", "sampling rate");
pub(in super::super) const NPERSEG: Param =
    Param::optional("nperseg", "256", "samples of a frame; shorter where the signal is");
pub(in super::super) const NFFT: Param = Param::optional("nfft", "null", "points of the transforms; null: nperseg");
pub(in super::super) const DETREND: Param =
    Param::optional("detrend", "\"constant\"", "what is taken off each frame: constant, linear, false");
pub(in super::super) const SCALING: Param =
    Param::optional("scaling", "\"density\"", "density (units squared per Hz) or spectrum (units squared)");

pub(in super::super) const fn window(default: &'static str) -> Param {
    Param::optional("window", default, "a window's name, a list of its name and parameters, or the weights themselves")
}

pub(in super::super) const fn noverlap(help: &'static str) -> Param {
    Param::optional("noverlap", "null", help)
}

pub(in super::super) fn fs(params: &Params) -> Result<f64> {
    Ok(params.f64("fs")?.unwrap_or(1.0))
}

pub(in super::super) fn taper(params: &Params, default: Window) -> Result<Taper> {
    if params.is_array("window") {
        let weights = params.coefficients("window")?.unwrap_or_default();
        return Ok(Taper::Values(weights));
    }
    Ok(match params.window("window")? {
        None => default.into(),
        Some((window, Some(false))) => Taper::Symmetric(window),
        Some((window, _)) => Taper::Periodic(window),
    })
}

/// `null` counts as not given.
pub(in super::super) fn detrend(params: &Params, default: Detrend) -> Result<Detrend> {
    if params.is_false("detrend") {
        return Ok(Detrend::None);
    }
    Ok(match params.choice("detrend", &["constant", "linear"])? {
        None => default,
        Some("linear") => Detrend::Linear,
        Some(_) => Detrend::Constant,
    })
}

pub(in super::super) fn scaling(params: &Params) -> Result<Scaling> {
    Ok(match params.choice("scaling", &["density", "spectrum"])? {
        Some("spectrum") => Scaling::Spectrum,
        _ => Scaling::Density,
    })
}

/// An axis.
pub(in super::super) fn axis(values: &[f64]) -> Array {
    Array::F64(NdArray::flat(values.to_vec()))
}
