//! Recursive filters.

use super::super::command::{Array, Command, NdArray, Outputs, Param, Params, Request};
use super::rate;
use crate::design::{self, Band, BesselNorm, Prototype, Sos};
use crate::error::{Error, Result};

/// The commands of this file.
pub(super) const COMMANDS: [Command; 7] = [BUTTER, CHEBY1, CHEBY2, ELLIP, BESSEL, IIRNOTCH, IIRPEAK];

const N: Param = Param::required("N", "order of the filter, 1 to 500");
const WN: Param = Param::required("Wn", "edge frequency in the unit of fs, or [low, high] for bandpass and bandstop");
const BTYPE: Param =
    Param::optional("btype", "\"low\"", "low, high, bandpass or bandstop (scipy's other spellings work too)");
const RATE: Param = Param::optional("fs", "2", "sampling rate");
const OUTPUT: Param = Param::optional("output", "\"sos\"", "sos");
const RP: Param = Param::required("rp", "ripple of the pass band in dB, above 0");

const BUTTER: Command = Command {
    name: "butter",
    family: "design",
    summary: "Butterworth filter as second-order sections [S, 6]",
    inputs: &[],
    params: &[N, WN, BTYPE, RATE, OUTPUT],
    run: |request| filter(request, |_| Ok(Prototype::Butter)),
};

const CHEBY1: Command = Command {
    name: "cheby1",
    family: "design",
    summary: "Chebyshev filter with ripple in the pass band as second-order sections [S, 6]",
    inputs: &[],
    params: &[N, RP, WN, BTYPE, RATE, OUTPUT],
    run: |request| filter(request, |p| Ok(Prototype::Cheby1 { rp: p.required("rp", Params::f64)? })),
};

const CHEBY2: Command = Command {
    name: "cheby2",
    family: "design",
    summary: "Chebyshev filter with ripple in the stop band as second-order sections [S, 6]",
    inputs: &[],
    params: &[N, Param::required("rs", "attenuation of the stop band in dB, above 0"), WN, BTYPE, RATE, OUTPUT],
    run: |request| filter(request, |p| Ok(Prototype::Cheby2 { rs: p.required("rs", Params::f64)? })),
};

const ELLIP: Command = Command {
    name: "ellip",
    family: "design",
    summary: "Elliptic filter, ripple in both bands, as second-order sections [S, 6]",
    inputs: &[],
    params: &[N, RP, Param::required("rs", "attenuation of the stop band in dB, above rp"), WN, BTYPE, RATE, OUTPUT],
    run: |request| {
        filter(request, |p| {
            Ok(Prototype::Ellip { rp: p.required("rp", Params::f64)?, rs: p.required("rs", Params::f64)? })
        })
    },
};

const BESSEL: Command = Command {
    name: "bessel",
    family: "design",
    summary: "Bessel filter, constant delay, as second-order sections [S, 6]",
    inputs: &[],
    params: &[
        N,
        WN,
        BTYPE,
        RATE,
        Param::optional(
            "norm",
            "\"phase\"",
            "what lies at the edge: phase (its middle), delay (1 / delay), mag (-3 dB)",
        ),
        OUTPUT,
    ],
    run: |request| {
        filter(request, |p| {
            Ok(Prototype::Bessel(match p.choice("norm", &["phase", "delay", "mag"])? {
                Some("delay") => BesselNorm::Delay,
                Some("mag") => BesselNorm::Mag,
                _ => BesselNorm::Phase,
            }))
        })
    },
};

const W0: Param = Param::required("w0", "frequency in the unit of fs");
const Q: Param = Param::required("Q", "quality: w0 over the width at -3 dB");

const IIRNOTCH: Command = Command {
    name: "iirnotch",
    family: "design",
    summary: "Filter that stops one frequency: b [3], a [3]",
    inputs: &[],
    params: &[W0, Q, RATE],
    run: |request| resonance(request, design::iirnotch),
};

const IIRPEAK: Command = Command {
    name: "iirpeak",
    family: "design",
    summary: "Filter that passes one frequency: b [3], a [3]",
    inputs: &[],
    params: &[W0, Q, RATE],
    run: |request| resonance(request, design::iirpeak),
};

fn filter(request: &Request, prototype: fn(&Params) -> Result<Prototype>) -> Result<Outputs> {
    let params = &request.params;
    let order = params.required("N", Params::usize)?;
    let (prototype, band, fs) = (prototype(params)?, band(params)?, rate(params)?);
    params.choice("output", &["sos"])?;
    sections(&design::iirfilter(order, prototype, band, fs)?.to_sos()?)
}

fn resonance(request: &Request, design: fn(f64, f64, f64) -> Result<Sos>) -> Result<Outputs> {
    let params = &request.params;
    let (w0, q) = (params.required("w0", Params::f64)?, params.required("Q", Params::f64)?);
    let sos = design(w0, q, rate(params)?)?;
    let [b0, b1, b2, a0, a1, a2] = sos.sections()[0];
    let part = |values: [f64; 3]| Array::F64(NdArray::flat(values.to_vec()));
    Ok(vec![("b", part([b0, b1, b2])), ("a", part([a0, a1, a2]))])
}

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
