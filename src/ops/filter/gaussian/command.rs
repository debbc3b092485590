//! `dspk op gaussian_filter1d`.

use super::{GaussianFilter, GaussianOptions};
use crate::error::Result;
use crate::ops::command::{Command, Outputs, Param, Params, Request};
use crate::ops::filter::median::command::{EDGES, edge_of};

pub(crate) const COMMAND: Command = Command {
    name: "gaussian_filter1d",
    family: "filter",
    summary: "Gaussian smoothing and derivatives along time",
    inputs: &["x [C, N]"],
    params: &[
        Param::required("sigma", "standard deviation, in samples"),
        Param::optional("order", "0", "order of the derivative"),
        Param::optional(
            "mode",
            "\"reflect\"",
            "beyond the ends: \"reflect\", \"mirror\", \"nearest\", \"constant\", \"wrap\"",
        ),
        Param::optional("cval", "0", "the value beyond the ends in mode \"constant\""),
        Param::optional("truncate", "4", "where the response is cut, in standard deviations"),
        Param::optional("radius", "null", "samples to both sides, instead of truncate"),
    ],
    run,
};

fn run(request: &Request) -> Result<Outputs> {
    let (x, params) = (request.signal(0)?, &request.params);
    let defaults = GaussianOptions::default();
    let options = GaussianOptions {
        order: params.usize("order")?.unwrap_or(defaults.order),
        edge: edge_of(params, EDGES)?.unwrap_or(defaults.edge),
        truncate: params.f64("truncate")?.unwrap_or(defaults.truncate),
        radius: params.usize("radius")?,
    };
    let mut filter = GaussianFilter::new(params.required("sigma", Params::f64)?, &options)?;
    if let Some(runtime) = &request.runtime {
        filter = filter.on(runtime);
    }
    Ok(vec![("y", x.result(&filter.apply(x.source)?))])
}
