//! `dspk op fftconvolve`, `dspk op oaconvolve`.

use super::{Convolve, Mode};
use crate::error::{Error, Result};
use crate::ops::command::{Array, Command, Outputs, Param, Request};

pub(crate) const FFTCONVOLVE: Command = Command {
    name: "fftconvolve",
    family: "filter",
    summary: "convolution along time with a response",
    inputs: &["x [C, N]", "response [M] for all channels, or [C, M]"],
    params: &[Param::optional("mode", "\"full\"", "full, same (as many results as samples) or valid")],
    run,
};

pub(crate) const OACONVOLVE: Command =
    Command { name: "oaconvolve", summary: "the same as fftconvolve, under scipy's other name", ..FFTCONVOLVE };

fn run(request: &Request) -> Result<Outputs> {
    let x = request.signal(0)?;
    let mode = request.params.choice("mode", &Mode::NAMES)?.map_or(Ok(Mode::Full), Mode::named)?;
    let response = request.input(1)?;
    let values: Vec<f64> = match response {
        Array::F32(a) => a.data().iter().map(|v| f64::from(*v)).collect(),
        Array::I16(a) => a.data().iter().map(|v| f64::from(*v)).collect(),
        _ => return Err(Error::invalid(format!("input 2: {} values are no response", response.dtype()))),
    };
    let mut plan = match *response.shape() {
        [_] => Convolve::new(&values, mode),
        // One row serves all channels, as in scipy.
        [1, _] => Convolve::new(&values, mode),
        [channels, taps] if channels > 1 && taps > 0 => {
            Convolve::per_channel(&values.chunks(taps).collect::<Vec<_>>(), mode)
        }
        _ => Err(Error::shape(format!(
            "shape {:?} is none of a response; pass [M] for all channels, or [C, M]",
            response.shape()
        ))),
    }
    .map_err(|e| e.context("input 2"))?;
    if let Some(runtime) = &request.runtime {
        plan = plan.on(runtime);
    }
    Ok(vec![("y", x.result(&plan.apply(x.source)?))])
}
