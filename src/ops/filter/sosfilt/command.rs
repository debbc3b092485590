//! `dspk op sosfilt`.

use super::SosFilter;
use crate::error::{Error, Result};
use crate::ops::command::{Array, Command, NdArray, Outputs, Param, Params, Request};

pub(crate) const COMMAND: Command = Command {
    name: "sosfilt",
    family: "filter",
    summary: "Cascade of second-order sections along time",
    inputs: &["x [C, N]"],
    params: &[
        Param::required("sos", "second-order sections, [S, 6]"),
        Param::optional("zi", "null", "initial state, [S, C, 2] ([S, 2] for a 1-D input); gives outputs y and zf"),
    ],
    run,
};

fn run(request: &Request) -> Result<Outputs> {
    let x = request.signal(0)?;
    let mut filter = SosFilter::new(&request.params.required("sos", Params::sos)?)?;
    if let Some(runtime) = &request.runtime {
        filter = filter.on(runtime);
    }
    let Some(zi) = request.params.array("zi")? else {
        return Ok(vec![("y", x.result(&filter.apply(x.source)?))]);
    };
    let (sections, channels) = (filter.sos().len(), x.source.channels());
    let shape = if x.flat { vec![sections, 2] } else { vec![sections, channels, 2] };
    if zi.shape() != shape {
        return Err(Error::shape(format!(
            "parameter 'zi' has shape {:?}, the state of {sections} sections on this input has shape {shape:?}",
            zi.shape()
        )));
    }
    let mut state = filter.state_from_zi(zi.data(), channels)?;
    let y = filter.apply_with(x.source, &mut state)?;
    Ok(vec![("y", x.result(&y)), ("zf", Array::F64(NdArray::new(shape, filter.zi(&state))?))])
}
