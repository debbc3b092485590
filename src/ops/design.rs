//! The designs as commands. They run on the host in float64 whatever runtime is asked for.

use super::command::{Array, Command, NdArray, Outputs, Param, Params};
use crate::design::{self, Band, Sos};
use crate::error::{Error, Result};

/// The commands of this family.
pub fn commands() -> Vec<Command> {
    vec![BUTTER, GET_WINDOW, SOSFILT_ZI]
}

const BUTTER: Command = Command {
    name: "butter",
    family: "design",
    summary: "Butterworth filter as second-order sections [S, 6]",
    inputs: &[],
    params: &[
        Param::required("N", "order of the filter, 1 or more"),
        Param::required("Wn", "cutoff frequency in the unit of fs, or [low, high] for bandpass and bandstop"),
        Param::optional("btype", "\"low\"", "low, high, bandpass or bandstop (scipy's other spellings work too)"),
        Param::optional("fs", "2", "sampling rate"),
        Param::optional("output", "\"sos\"", "sos"),
    ],
    run: |request| {
        let params = &request.params;
        let order = params.required("N", Params::usize)?;
        let (band, fs) = (band(params)?, params.f64("fs")?.unwrap_or(2.0));
        params.choice("output", &["sos"])?;
        sections(&design::butter(order, band, fs)?)
    },
};

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
        Ok(vec![("w", Array::F64(NdArray::flat(w)))])
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

fn sections(sos: &Sos) -> Result<Outputs> {
    Ok(vec![("sos", Array::F64(NdArray::new(vec![sos.len(), 6], sos.sections().concat())?))])
}

/// `Wn` and `btype`, with scipy's spellings.
fn band(params: &Params) -> Result<Band> {
    const SPELLINGS: [(&str, &[&str]); 4] = [
        ("low", &["low", "lowpass", "lp", "l"]),
        ("high", &["high", "highpass", "hp", "h"]),
        ("pass", &["bandpass", "band", "bp", "pass"]),
        ("stop", &["bandstop", "stop", "bs", "bands"]),
    ];
    let edges = params.required("Wn", Params::numbers)?;
    let all: Vec<&'static str> = SPELLINGS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    let btype = params.choice("btype", &all)?.unwrap_or("low");
    let kind = SPELLINGS.iter().find(|(_, names)| names.contains(&btype)).map_or("low", |(kind, _)| kind);
    match (kind, edges.as_slice()) {
        ("low", &[f]) => Ok(Band::Low(f)),
        ("high", &[f]) => Ok(Band::High(f)),
        ("pass", &[lo, hi]) => Ok(Band::Pass(lo, hi)),
        ("stop", &[lo, hi]) => Ok(Band::Stop(lo, hi)),
        ("low" | "high", _) => Err(wrong_edges(&edges, btype, "one frequency")),
        _ => Err(wrong_edges(&edges, btype, "[low, high]")),
    }
}

fn wrong_edges(edges: &[f64], btype: &str, expected: &str) -> Error {
    Error::invalid(format!("parameter 'Wn' is {edges:?}, but btype \"{btype}\" takes {expected}"))
}
