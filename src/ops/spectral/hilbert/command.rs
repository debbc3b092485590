//! `dspk op hilbert`, `envelope`.

use super::{HilbertOptions, envelope, hilbert, instantaneous_phase};
use crate::ops::command::{Command, Param};

pub(crate) const HILBERT: Command = Command {
    name: "hilbert",
    family: "spectral",
    summary: "analytic signal",
    inputs: &["x [C, N]"],
    params: &[],
    run: |r| {
        let x = r.signal(0)?;
        let z = hilbert(x.source, &HilbertOptions { runtime: r.runtime.clone() })?;
        Ok(vec![("xa", x.complex(&z))])
    },
};

pub(crate) const ENVELOPE: Command = Command {
    name: "envelope",
    family: "spectral",
    summary: "magnitude of the analytic signal",
    inputs: &["x [C, N]"],
    params: &[Param::optional(
        "phase",
        "false",
        "give the unwrapped angle as well (always computed on the CPU); outputs envelope and phase",
    )],
    run: |r| {
        let x = r.signal(0)?;
        let magnitude = envelope(x.source, &HilbertOptions { runtime: r.runtime.clone() })?;
        let mut outputs = vec![("envelope", x.result(&magnitude))];
        if r.params.bool("phase")?.unwrap_or(false) {
            outputs.push(("phase", x.result(&instantaneous_phase(x.source)?)));
        }
        Ok(outputs)
    },
};
