//! Windows, states, lags.

use super::super::command::{Array, Command, NdArray, Param, Params};
use super::list;
use crate::design::{self, LagMode};

/// The commands of this file.
pub(super) const COMMANDS: [Command; 3] = [GET_WINDOW, SOSFILT_ZI, CORRELATION_LAGS];

const GET_WINDOW: Command = Command {
    name: "get_window",
    family: "design",
    summary: "Window function [Nx], periodic or symmetric",
    inputs: &[],
    params: &[
        Param::required("window", "name, [name, parameters...] such as [\"kaiser\", 8.6], or a number, Kaiser's beta"),
        Param::required("Nx", "number of samples, 1 or more"),
        Param::optional("fftbins", "true", "periodic, for spectra; false: symmetric, for filters"),
    ],
    run: |request| {
        let params = &request.params;
        let (window, form) = params.required("window", Params::window)?;
        let (nx, fftbins) = (params.required("Nx", Params::usize)?, params.bool("fftbins")?.unwrap_or(true));
        let w = design::get_window(&window, nx, form.unwrap_or(fftbins))?;
        Ok(list("w", w))
    },
};

const SOSFILT_ZI: Command = Command {
    name: "sosfilt_zi",
    family: "design",
    summary: "State of second-order sections after a constant input of 1, [S, 2]",
    inputs: &[],
    params: &[Param::required("sos", "second-order sections, [S, 6]")],
    run: |request| {
        let sos = request.params.required("sos", Params::sos)?;
        let zi = design::sosfilt_zi(&sos)?;
        Ok(vec![("zi", Array::F64(NdArray::new(vec![zi.len(), 2], zi.concat())?))])
    },
};

const CORRELATION_LAGS: Command = Command {
    name: "correlation_lags",
    family: "design",
    summary: "Lag of each sample of a cross-correlation",
    inputs: &[],
    params: &[
        Param::required("in1_len", "samples of the first signal, 1 or more"),
        Param::required("in2_len", "samples of the second signal, 1 or more"),
        Param::optional("mode", "\"full\"", "full, same or valid"),
    ],
    run: |request| {
        let params = &request.params;
        let mode = match params.choice("mode", &["full", "same", "valid"])? {
            Some("same") => LagMode::Same,
            Some("valid") => LagMode::Valid,
            _ => LagMode::Full,
        };
        let (n1, n2) = (params.required("in1_len", Params::usize)?, params.required("in2_len", Params::usize)?);
        Ok(vec![("lags", Array::I64(NdArray::flat(design::correlation_lags(n1, n2, mode)?)))])
    },
};
