//! `dspk op lfilter`.

use super::FirFilter;
use crate::error::{Error, Result};
use crate::ops::command::{Array, Command, NdArray, Outputs, Param, Params, Request};
use crate::ops::filter::SosFilter;

pub(crate) const COMMAND: Command = Command {
    name: "lfilter",
    family: "filter",
    summary: "Filter b, a along time: FIR (a = [1]), or recursive as second-order sections",
    inputs: &["x [C, N]"],
    params: &[
        Param::required("b", "numerator: the taps of an FIR filter"),
        Param::optional("a", "[1]", "denominator; one value divides the taps"),
        Param::optional(
            "zi",
            "null",
            "initial state of an FIR filter, [C, taps - 1] ([taps - 1] for a 1-D input); gives outputs y and zf",
        ),
    ],
    run,
};

fn run(request: &Request) -> Result<Outputs> {
    let x = request.signal(0)?;
    let b = request.params.required("b", Params::coefficients)?;
    let a = request.params.coefficients("a")?.unwrap_or_else(|| vec![1.0]);
    let zi = request.params.array("zi")?;
    let [a0] = a[..] else { return recursive(request, &b, &a, zi.is_some()) };
    if a0 == 0.0 || !a0.is_finite() {
        return Err(Error::invalid(format!("parameter 'a' is [{a0}]; its first value must be finite and not 0")));
    }
    let taps: Vec<f64> = b.iter().map(|t| t / a0).collect();
    let mut filter = FirFilter::new(&taps)?;
    if let Some(runtime) = &request.runtime {
        filter = filter.on(runtime);
    }
    let Some(zi) = zi else {
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

/// A recursive filter, as sections.
fn recursive(request: &Request, b: &[f64], a: &[f64], stateful: bool) -> Result<Outputs> {
    if a.is_empty() {
        return Err(Error::invalid("parameter 'a' is empty; give [1], or leave it out"));
    }
    if stateful {
        return Err(Error::invalid(
            "parameter 'zi' is given, but a recursive lfilter runs as second-order sections, whose state is another one; use sosfilt with the sections of tf2sos to carry a state",
        ));
    }
    let mut filter = SosFilter::from_ba(b, a)?;
    if let Some(runtime) = &request.runtime {
        filter = filter.on(runtime);
    }
    let x = request.signal(0)?;
    Ok(vec![("y", x.result(&filter.apply(x.source)?))])
}
