//! `dspk op sosfiltfilt` and `dspk op filtfilt`.

use super::{FiltFilt, Padding, SosFiltFilt};
use crate::error::Result;
use crate::ops::command::{Command, Outputs, Param, Params, Request};

const PADTYPE: Param = Param::optional(
    "padtype",
    "\"odd\"",
    "how the signal goes on beyond its ends: odd, even, constant, or null for not at all",
);

pub(crate) const COMMAND: Command = Command {
    name: "sosfiltfilt",
    family: "filter",
    summary: "Cascade of second-order sections forward and backward in time, without phase",
    inputs: &["x [C, N]"],
    params: &[
        Param::required("sos", "second-order sections, [S, 6]"),
        PADTYPE,
        Param::optional("padlen", "null", "samples added at each end; null: scipy's choice for the sections"),
    ],
    run: |request| {
        let (padding, padlen) = padding(&request.params)?;
        let mut filter = SosFiltFilt::new(&request.params.required("sos", Params::sos)?)?.with_padding(padding, padlen);
        if let Some(runtime) = &request.runtime {
            filter = filter.on(runtime);
        }
        let x = request.signal(0)?;
        Ok(vec![("y", x.result(&filter.apply(x.source)?))])
    },
};

/// What runs as sections or as an FIR filter.
pub(crate) const FILTFILT: Command = Command {
    name: "filtfilt",
    family: "filter",
    summary: "Filter b, a forward and backward in time, without phase",
    inputs: &["x [C, N]"],
    params: &[
        Param::required("b", "numerator"),
        Param::required("a", "denominator"),
        PADTYPE,
        Param::optional("padlen", "null", "samples added at each end; null: 3 max(len a, len b)"),
    ],
    run: ba,
};

fn ba(request: &Request) -> Result<Outputs> {
    let (padding, padlen) = padding(&request.params)?;
    let b = request.params.required("b", Params::coefficients)?;
    let a = request.params.required("a", Params::coefficients)?;
    let mut filter = FiltFilt::new(&b, &a)?.with_padding(padding, padlen);
    if let Some(runtime) = &request.runtime {
        filter = filter.on(runtime);
    }
    let x = request.signal(0)?;
    Ok(vec![("y", x.result(&filter.apply(x.source)?))])
}

fn padding(params: &Params) -> Result<(Padding, Option<usize>)> {
    let padlen = params.usize("padlen")?;
    if params.is_null("padtype") {
        return Ok((Padding::None, padlen));
    }
    let all = [Padding::Odd, Padding::Even, Padding::Constant];
    let name = params.choice("padtype", &all.map(Padding::name))?;
    Ok((all.into_iter().find(|p| Some(p.name()) == name).unwrap_or_default(), padlen))
}
