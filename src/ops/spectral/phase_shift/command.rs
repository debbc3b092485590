//! `dspk op phase_shift`.

use super::{PhaseShiftOptions, Shifts, phase_shift};
use crate::error::Error;
use crate::ops::command::{Command, Param, Params};

pub(crate) const COMMAND: Command = Command {
    name: "phase_shift",
    family: "spectral",
    summary: "channels delayed by parts of a sample, by Fourier's method",
    inputs: &["x [C, N]"],
    params: &[
        Param::required("shifts", "delays in samples, one number or one for each channel"),
        Param::optional(
            "padded",
            "false",
            "true: zeros stand around a channel, so that nothing comes in at its other end",
        ),
    ],
    run: |r| {
        let x = r.signal(0)?;
        let values = r.params.required("shifts", Params::array)?;
        let shifts = match (values.shape(), values.data()) {
            ([], [one]) => Shifts::One(*one),
            ([_], many) => Shifts::PerChannel(many.to_vec()),
            (shape, _) => {
                return Err(Error::shape(format!(
                    "parameter 'shifts' has shape {shape:?}; give one number or a list of one for each channel"
                )));
            }
        };
        let padded = r.params.bool("padded")?.unwrap_or(false);
        let y = phase_shift(x.source, &PhaseShiftOptions { shifts, padded, runtime: r.runtime.clone() })?;
        Ok(vec![("y", x.result(&y))])
    },
};
