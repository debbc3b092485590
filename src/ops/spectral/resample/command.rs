//! `dspk op resample`.

use super::{ResampleOptions, resample};
use crate::error::Error;
use crate::ops::command::{Command, Param, Params};

pub(crate) const COMMAND: Command = Command {
    name: "resample",
    family: "spectral",
    summary: "another number of samples for the same stretch of time, by Fourier's method",
    inputs: &["x [C, N]"],
    params: &[
        Param::required("num", "number of samples of the result, 1 or more"),
        Param::optional(
            "window",
            "null",
            "weights of the spectrum: a window's name, or a list of its name and parameters; null: none",
        ),
    ],
    run: |r| {
        let x = r.signal(0)?;
        let num = r.params.required("num", Params::usize)?;
        let window = match r.params.window("window")? {
            Some((_, Some(false))) => {
                return Err(Error::invalid("the window of a spectrum is periodic; leave out \"_symmetric\""));
            }
            other => other.map(|(window, _)| window),
        };
        let y = resample(x.source, num, &ResampleOptions { window, runtime: r.runtime.clone() })?;
        Ok(vec![("y", x.result(&y))])
    },
};
