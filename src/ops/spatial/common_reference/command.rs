//! `dspk op common_reference`.

use super::{CommonReferenceOptions, NanPolicy, Operator, common_reference};
use crate::error::{Error, Result};
use crate::ops::command::{Command, Outputs, Param, Request};

pub(crate) const COMMAND: Command = Command {
    name: "common_reference",
    family: "spatial",
    summary: "Mean or median over channels, subtracted from the channels",
    inputs: &["x [C, N]"],
    params: &[
        Param::required("operator", "\"mean\" or \"median\""),
        Param::optional(
            "groups",
            "null",
            "lists of channels, each referenced within itself; channels in none stay as they are",
        ),
        Param::optional(
            "radius",
            "null",
            "[r0, r1]: channel k by the channels j with r0 <= |j - k| <= r1; not with groups",
        ),
        Param::optional("exclude", "[]", "channels left out of every reference, but referenced like the others"),
        Param::optional(
            "nan_policy",
            "\"propagate\"",
            "\"propagate\": a NaN makes its column NaN; \"omit\": it is left out",
        ),
    ],
    run,
};

fn run(request: &Request) -> Result<Outputs> {
    let (x, params) = (request.signal(0)?, &request.params);
    let operator = match params.choice("operator", &["mean", "median"])? {
        Some("mean") => Operator::Mean,
        _ => Operator::Median,
    };
    let nan_policy = match params.choice("nan_policy", &["propagate", "omit"])? {
        Some("omit") => NanPolicy::Omit,
        _ => NanPolicy::Propagate,
    };
    let radius = match params.indices("radius")?.as_deref() {
        None => None,
        Some(&[r0, r1]) => Some((r0, r1)),
        Some(other) => {
            return Err(Error::invalid(format!("parameter 'radius' has {} values; give [r0, r1]", other.len())));
        }
    };
    let y = common_reference(
        x.source,
        &CommonReferenceOptions {
            operator,
            groups: params.index_groups("groups")?,
            radius,
            exclude: params.indices("exclude")?.unwrap_or_default(),
            nan_policy,
            runtime: request.runtime.clone(),
        },
    )?;
    Ok(vec![("y", x.result(&y))])
}
