//! `dspk op lfilter`.

use super::FirFilter;
use crate::error::{Error, Result};
use crate::ops::command::{Array, Command, NdArray, Outputs, Param, Params, Request};

pub(crate) const COMMAND: Command = Command {
    name: "lfilter",
    family: "filter",
    summary: "FIR filter along time (a = [1])",
    inputs: &["x [C, N]"],
    params: &[
        Param::required("b", "taps of the filter"),
        Param::optional("a", "[1]", "denominator; one value, by which the taps are divided"),
        Param::optional(
            "zi",
            "null",
            "initial state, [C, taps - 1] ([taps - 1] for a 1-D input); gives outputs y and zf",
        ),
    ],
    run,
};

fn run(request: &Request) -> Result<Outputs> {
    let x = request.signal(0)?;
    let mut taps = request.params.required("b", Params::coefficients)?;
    let a = request.params.coefficients("a")?.unwrap_or_else(|| vec![1.0]);
    match a.as_slice() {
        [first] if *first != 0.0 && first.is_finite() => taps.iter_mut().for_each(|t| *t /= first),
        [first] => {
            return Err(Error::invalid(format!(
                "parameter 'a' is [{first}]; its first value must be finite and not 0"
            )));
        }
        [] => return Err(Error::invalid("parameter 'a' is empty; give [1], or leave it out")),
        _ => {
            return Err(Error::invalid(format!(
                "parameter 'a' has {} values, but only FIR filters (a = [1]) run as lfilter; a recursive filter keeps its accuracy as second-order sections: use sosfilt",
                a.len()
            )));
        }
    }
    let mut filter = FirFilter::new(&taps)?;
    if let Some(runtime) = &request.runtime {
        filter = filter.on(runtime);
    }
    let Some(zi) = request.params.array("zi")? else {
        return Ok(vec![("y", x.result(&filter.apply(x.source)?))]);
    };
    let (channels, length) = (x.source.channels(), taps.len() - 1);
    let shape = if x.flat { vec![length] } else { vec![channels, length] };
    if zi.shape() != shape {
        return Err(Error::shape(format!(
            "parameter 'zi' has shape {:?}, the state of {} taps on this input has shape {shape:?}",
            zi.shape(),
            taps.len()
        )));
    }
    let mut state = filter.state_from_zi(zi.data(), channels)?;
    let y = filter.apply_with(x.source, &mut state)?;
    Ok(vec![("y", x.result(&y)), ("zf", Array::F64(NdArray::new(shape, filter.zi(&state).to_vec())?))])
}
