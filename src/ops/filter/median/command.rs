//! `dspk op median_filter` and `dspk op medfilt`.

use super::MedianFilter;
use crate::error::{Error, Result};
use crate::ops::command::{Command, Outputs, Param, Params, Request};
use crate::ops::filter::edge::Edge;

pub(crate) const MEDIAN_FILTER: Command = Command {
    name: "median_filter",
    family: "filter",
    summary: "Running median along time, scipy.ndimage's",
    inputs: &["x [C, N]"],
    params: &[
        Param::required("size", "samples of a window; of an even number the upper of the two middle values"),
        Param::optional(
            "mode",
            "\"reflect\"",
            "beyond the ends: \"reflect\", \"mirror\", \"nearest\", \"constant\", \"wrap\"",
        ),
        Param::optional("cval", "0", "the value beyond the ends in mode \"constant\""),
    ],
    run: median_filter,
};

pub(crate) const MEDFILT: Command = Command {
    name: "medfilt",
    family: "filter",
    summary: "Running median along time with zeros beyond the ends, scipy.signal's",
    inputs: &["x [C, N]"],
    params: &[Param::optional("kernel_size", "3", "samples of a window, odd")],
    run: medfilt,
};

/// The edge modes of `scipy.ndimage`.
pub(in crate::ops::filter) const EDGES: &[&str] = &["reflect", "mirror", "nearest", "constant", "wrap"];

/// The edge mode of parameters `mode`, one of `legal`, and `cval`; nothing where no edge mode is named.
pub(in crate::ops::filter) fn edge_of(params: &Params, legal: &[&'static str]) -> Result<Option<Edge>> {
    let cval = params.f64("cval")?;
    Ok(match params.choice("mode", legal)? {
        Some("reflect") => Some(Edge::Reflect),
        Some("mirror") => Some(Edge::Mirror),
        Some("nearest") => Some(Edge::Nearest),
        Some("constant") => Some(Edge::Constant(cval.unwrap_or(0.0))),
        Some("wrap") => Some(Edge::Wrap),
        _ => None,
    })
}

fn median_filter(request: &Request) -> Result<Outputs> {
    let size = request.params.required("size", Params::usize)?;
    run(request, MedianFilter::new(size, edge_of(&request.params, EDGES)?.unwrap_or_default())?)
}

fn medfilt(request: &Request) -> Result<Outputs> {
    let size = request.params.usize("kernel_size")?.unwrap_or(3);
    run(request, MedianFilter::medfilt(size).map_err(|e| Error::context(e, "parameter 'kernel_size'"))?)
}

fn run(request: &Request, mut filter: MedianFilter) -> Result<Outputs> {
    let x = request.signal(0)?;
    if let Some(runtime) = &request.runtime {
        filter = filter.on(runtime);
    }
    Ok(vec![("y", x.result(&filter.apply(x.source)?))])
}
