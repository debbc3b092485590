//! `dspk op savgol_filter`.

use super::{SavgolFilter, SavgolOptions};
use crate::error::Result;
use crate::ops::command::{Command, Outputs, Param, Params, Request};
use crate::ops::filter::median::command::edge_of;

pub(crate) const COMMAND: Command = Command {
    name: "savgol_filter",
    family: "filter",
    summary: "Savitzky-Golay smoothing and derivatives along time",
    inputs: &["x [C, N]"],
    params: &[
        Param::required("window_length", "samples of a window"),
        Param::required("polyorder", "order of the polynomial, below window_length"),
        Param::optional("deriv", "0", "order of the derivative"),
        Param::optional("delta", "1", "distance of the samples, which scales derivatives"),
        Param::optional(
            "mode",
            "\"interp\"",
            "beyond the ends: \"interp\" (by the first and last fit), \"mirror\", \"nearest\", \"constant\", \"wrap\", \"reflect\"",
        ),
        Param::optional("cval", "0", "the value beyond the ends in mode \"constant\""),
    ],
    run,
};

fn run(request: &Request) -> Result<Outputs> {
    let (x, params) = (request.signal(0)?, &request.params);
    let defaults = SavgolOptions::default();
    let options = SavgolOptions {
        deriv: params.usize("deriv")?.unwrap_or(defaults.deriv),
        delta: params.f64("delta")?.unwrap_or(defaults.delta),
        edge: edge_of(params, &["interp", "mirror", "nearest", "constant", "wrap", "reflect"])?,
    };
    let window = params.required("window_length", Params::usize)?;
    let mut filter = SavgolFilter::new(window, params.required("polyorder", Params::usize)?, &options)?;
    if let Some(runtime) = &request.runtime {
        filter = filter.on(runtime);
    }
    Ok(vec![("y", x.result(&filter.apply(x.source)?))])
}
