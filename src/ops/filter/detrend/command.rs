//! `dspk op detrend`.

use super::{Detrend, Trend};
use crate::error::{Error, Result};
use crate::ops::command::{Command, Outputs, Param, Request};

pub(crate) const COMMAND: Command = Command {
    name: "detrend",
    family: "filter",
    summary: "Straight lines or means taken off channels",
    inputs: &["x [C, N]"],
    params: &[
        Param::optional("type", "\"linear\"", "\"linear\": the line of least squares; \"constant\": the mean"),
        Param::optional("bp", "0", "samples, one or a list, at which a piece with a line of its own begins"),
    ],
    run,
};

/// Largest whole number that JSON holds exactly.
const MOST: f64 = 9_007_199_254_740_992.0;

fn run(request: &Request) -> Result<Outputs> {
    let (x, params) = (request.signal(0)?, &request.params);
    let trend = match params.choice("type", &["linear", "constant"])? {
        Some("constant") => Trend::Constant,
        _ => Trend::Linear,
    };
    let mut breakpoints = Vec::new();
    for b in params.numbers("bp")?.unwrap_or_default() {
        if b.fract() != 0.0 || !(0.0..=MOST).contains(&b) {
            return Err(Error::invalid(format!("parameter 'bp' holds {b:?}; pass whole numbers, not negative")));
        }
        breakpoints.push(b as usize);
    }
    let mut detrend = Detrend::new(trend, &breakpoints);
    if let Some(runtime) = &request.runtime {
        detrend = detrend.on(runtime);
    }
    Ok(vec![("y", x.result(&detrend.apply(x.source)?))])
}
