//! Filters of finite length.

use super::super::command::{Array, Command, NdArray, Param, Params};
use super::{list, rate};
use crate::design::{self, Firwin2Options, FirwinOptions, PassZero, SavgolCoeffsOptions, TapOrder, Window};
use crate::error::{Error, Result};

/// The commands of this file.
pub(super) const COMMANDS: [Command; 4] = [FIRWIN, FIRWIN2, KAISERORD, SAVGOL_COEFFS];

const NUMTAPS: Param = Param::required("numtaps", "number of coefficients, 1 or more");
const WINDOW: Param =
    Param::optional("window", "\"hamming\"", "name, [name, parameters...] or a number, Kaiser's beta");
const RATE: Param = Param::optional("fs", "2", "sampling rate");

const FIRWIN: Command = Command {
    name: "firwin",
    family: "design",
    summary: "Linear-phase filter by the window method, h [numtaps]",
    inputs: &[],
    params: &[
        NUMTAPS,
        Param::required("cutoff", "cutoff frequency in the unit of fs, or a rising list"),
        Param::optional("width", "null", "width of the transitions in the unit of fs; takes a Kaiser window"),
        WINDOW,
        Param::optional("pass_zero", "true", "true, false, lowpass, highpass, bandpass or bandstop"),
        Param::optional("scale", "true", "gain of exactly 1 in the first pass band"),
        RATE,
    ],
    run: |request| {
        let params = &request.params;
        let options = FirwinOptions {
            window: window(params)?,
            pass_zero: pass_zero(params)?,
            scale: params.bool("scale")?.unwrap_or(true),
            width: params.f64("width")?,
        };
        let cutoff = params.required("cutoff", Params::numbers)?;
        let numtaps = params.required("numtaps", Params::usize)?;
        Ok(list("h", design::firwin(numtaps, &cutoff, rate(params)?, &options)?))
    },
};

const FIRWIN2: Command = Command {
    name: "firwin2",
    family: "design",
    summary: "Linear-phase filter of any response, h [numtaps]",
    inputs: &[],
    params: &[
        NUMTAPS,
        Param::required("freq", "frequencies from 0 to half of fs, not falling"),
        Param::required("gain", "the gain at each of them"),
        Param::optional("nfreqs", "null", "how many frequencies the response is sampled at, more than numtaps"),
        WINDOW,
        Param::optional("antisymmetric", "false", "taps that change sign at their middle"),
        RATE,
    ],
    run: |request| {
        let params = &request.params;
        let (freq, gain) = (params.required("freq", Params::numbers)?, params.required("gain", Params::numbers)?);
        if freq.len() != gain.len() {
            return Err(Error::shape(format!(
                "parameter 'freq' has {} values and 'gain' {}; pass one gain for each frequency",
                freq.len(),
                gain.len()
            )));
        }
        let options = Firwin2Options {
            nfreqs: params.usize("nfreqs")?,
            window: if params.is_null("window") { None } else { Some(window(params)?) },
            antisymmetric: params.bool("antisymmetric")?.unwrap_or(false),
        };
        let points: Vec<_> = freq.into_iter().zip(gain).collect();
        let numtaps = params.required("numtaps", Params::usize)?;
        Ok(list("h", design::firwin2(numtaps, &points, rate(params)?, &options)?))
    },
};

const KAISERORD: Command = Command {
    name: "kaiserord",
    family: "design",
    summary: "Length and shape of a Kaiser window for a filter: numtaps, beta",
    inputs: &[],
    params: &[
        Param::required("ripple", "largest deviation of the response in dB, 8 or more"),
        Param::required("width", "width of the transition as a fraction of half the sampling rate"),
    ],
    run: |request| {
        let params = &request.params;
        let (ripple, width) = (params.required("ripple", Params::f64)?, params.required("width", Params::f64)?);
        let (numtaps, beta) = design::kaiserord(ripple, width)?;
        let numtaps = i64::try_from(numtaps).unwrap_or(i64::MAX);
        Ok(vec![
            ("numtaps", Array::I64(NdArray::new(vec![], vec![numtaps])?)),
            ("beta", Array::F64(NdArray::new(vec![], vec![beta])?)),
        ])
    },
};

const SAVGOL_COEFFS: Command = Command {
    name: "savgol_coeffs",
    family: "design",
    summary: "Savitzky-Golay coefficients, c [window_length]",
    inputs: &[],
    params: &[
        Param::required("window_length", "number of coefficients, 1 or more"),
        Param::required("polyorder", "order of the polynomial, below window_length"),
        Param::optional("deriv", "0", "order of the derivative"),
        Param::optional("delta", "1", "distance of the samples"),
        Param::optional("pos", "null", "where in the window the polynomial is evaluated; null: in the middle"),
        Param::optional("use", "\"conv\"", "conv or dot"),
    ],
    run: |request| {
        let params = &request.params;
        let options = SavgolCoeffsOptions {
            deriv: params.usize("deriv")?.unwrap_or(0),
            delta: params.f64("delta")?.unwrap_or(1.0),
            pos: params.f64("pos")?,
            order: if params.choice("use", &["conv", "dot"])? == Some("dot") { TapOrder::Dot } else { TapOrder::Conv },
        };
        let length = params.required("window_length", Params::usize)?;
        Ok(list("c", design::savgol_coeffs(length, params.required("polyorder", Params::usize)?, &options)?))
    },
};

/// The window, of which a filter takes the symmetric form.
fn window(params: &Params) -> Result<Window> {
    match params.window("window")? {
        None => Ok(Window::Hamming),
        Some((window, None | Some(false))) => Ok(window),
        Some((window, Some(true))) => Err(Error::invalid(format!(
            "parameter 'window' asks for a periodic window, which is for spectra; filters take \"{}\" in its symmetric form",
            window.name()
        ))),
    }
}

fn pass_zero(params: &Params) -> Result<PassZero> {
    if let Ok(given) = params.bool("pass_zero") {
        return Ok(PassZero::Is(given.unwrap_or(true)));
    }
    let names = ["lowpass", "highpass", "bandpass", "bandstop"];
    Ok(match params.choice("pass_zero", &names).map_err(|e| e.context("not true or false"))? {
        Some("highpass") => PassZero::Highpass,
        Some("bandpass") => PassZero::Bandpass,
        Some("bandstop") => PassZero::Bandstop,
        _ => PassZero::Lowpass,
    })
}
