//! `dspk op convert`.

use super::{ConvertOptions, Scale, convert};
use crate::error::{Error, Result};
use crate::ops::command::{Command, Outputs, Param, Params, Request};
use crate::signal::{Sample, Source, View};

pub(crate) const COMMAND: Command = Command {
    name: "convert",
    family: "convert",
    summary: "int16 or float32 to float32 with gain and offset, interleaved to channel-major",
    inputs: &["x [C, N]"],
    params: &[
        Param::optional("gain", "1", "factor, one number or one for each channel"),
        Param::optional("offset", "0", "added after the gain, one number or one for each channel"),
        Param::optional("interleaved", "false", "true: the input is [samples, channels]"),
    ],
    run,
};

fn run(request: &Request) -> Result<Outputs> {
    let mut x = request.signal(0)?;
    if request.params.bool("interleaved")?.unwrap_or(false) && !x.flat {
        x.source = match x.source {
            Source::F32(v) => Source::F32(transposed(v)?),
            Source::I16(v) => Source::I16(transposed(v)?),
        };
    }
    let options = ConvertOptions {
        gain: scale(&request.params, "gain")?.unwrap_or_default(),
        offset: scale(&request.params, "offset")?,
        runtime: request.runtime.clone(),
    };
    Ok(vec![("y", x.result(&convert(x.source, &options)?))])
}

/// `[samples, channels]` seen as `[channels, samples]`.
fn transposed<T: Sample>(v: View<'_, T>) -> Result<View<'_, T>> {
    View::with_strides(v.data(), v.samples(), v.channels(), v.sample_stride(), v.channel_stride())
}

fn scale(params: &Params, name: &str) -> Result<Option<Scale>> {
    let Some(values) = params.array(name)? else { return Ok(None) };
    match (values.shape(), values.data()) {
        ([], [one]) => Ok(Some(Scale::One(*one))),
        ([_], many) => Ok(Some(Scale::PerChannel(many.to_vec()))),
        (shape, _) => Err(Error::shape(format!(
            "parameter '{name}' has shape {shape:?}; give one number or a list of one for each channel"
        ))),
    }
}
