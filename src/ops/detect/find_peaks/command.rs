//! `dspk op find_peaks`.

use super::{Interval, PeakOptions, Peaks, Plateau, find_peaks};
use crate::error::{Error, Result};
use crate::ops::command::{Array, Command, NdArray, Outputs, Param, Params, Request};

const INTERVAL: &str = "a least value, or [least, largest], either may be null";

pub(crate) const COMMAND: Command = Command {
    name: "find_peaks",
    family: "detect",
    summary: "Peaks of one channel, with scipy's conditions and properties",
    inputs: &["x [N]"],
    params: &[
        Param::optional("height", "null", INTERVAL),
        Param::optional("threshold", "null", INTERVAL),
        Param::optional("distance", "null", "least number of samples between peaks, 1 or more"),
        Param::optional("prominence", "null", INTERVAL),
        Param::optional("width", "null", INTERVAL),
        Param::optional("wlen", "null", "samples of the window for prominences, above 1"),
        Param::optional("rel_height", "0.5", "share of the prominence at which widths are measured"),
        Param::optional("plateau_size", "null", INTERVAL),
    ],
    run,
};

fn run(request: &Request) -> Result<Outputs> {
    let params = &request.params;
    let options = PeakOptions {
        height: interval(params, "height")?,
        threshold: interval(params, "threshold")?,
        distance: params.f64("distance")?,
        prominence: interval(params, "prominence")?,
        width: interval(params, "width")?,
        wlen: params.f64("wlen")?,
        rel_height: params.f64("rel_height")?.unwrap_or(PeakOptions::default().rel_height),
        plateau_size: interval(params, "plateau_size")?,
        runtime: request.runtime.clone(),
    };
    let x = request.signal(0)?;
    if x.source.channels() != 1 {
        return Err(Error::shape(format!(
            "find_peaks takes one channel, the input has {}; pass one row",
            x.source.channels()
        )));
    }
    let peaks = find_peaks(x.source, &options)?.into_iter().next().unwrap_or_default();
    Ok(outputs(&peaks))
}

fn interval(params: &Params, name: &str) -> Result<Option<Interval>> {
    let ends = params.open_interval(name)?;
    Ok(ends.map(|[min, max]| Interval { min, max }))
}

fn outputs(peaks: &Peaks) -> Outputs {
    let places = |values: Vec<usize>| Array::I64(NdArray::flat(values.into_iter().map(|n| n as i64).collect()));
    let numbers = |values: Vec<f64>| Array::F64(NdArray::flat(values));
    let mut outputs = vec![("peaks", places(peaks.indices.clone()))];
    if let Some(all) = &peaks.plateaus {
        outputs.push(("plateau_sizes", places(all.iter().map(Plateau::size).collect())));
        outputs.push(("left_edges", places(all.iter().map(|p| p.left).collect())));
        outputs.push(("right_edges", places(all.iter().map(|p| p.right).collect())));
    }
    if let Some(all) = &peaks.heights {
        outputs.push(("peak_heights", numbers(all.clone())));
    }
    if let Some(all) = &peaks.thresholds {
        outputs.push(("left_thresholds", numbers(all.iter().map(|t| t[0]).collect())));
        outputs.push(("right_thresholds", numbers(all.iter().map(|t| t[1]).collect())));
    }
    if let Some(all) = &peaks.prominences {
        outputs.push(("prominences", numbers(all.iter().map(|p| p.prominence).collect())));
        outputs.push(("left_bases", places(all.iter().map(|p| p.left_base).collect())));
        outputs.push(("right_bases", places(all.iter().map(|p| p.right_base).collect())));
    }
    if let Some(all) = &peaks.widths {
        outputs.push(("widths", numbers(all.iter().map(|w| w.width).collect())));
        outputs.push(("width_heights", numbers(all.iter().map(|w| w.height).collect())));
        outputs.push(("left_ips", numbers(all.iter().map(|w| w.left).collect())));
        outputs.push(("right_ips", numbers(all.iter().map(|w| w.right).collect())));
    }
    outputs
}
