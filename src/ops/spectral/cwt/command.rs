//! `dspk op cwt`.

use super::{CwtOptions, cwt};
use crate::ops::command::{Command, Param, Params};
use crate::ops::spectral::frames::params::{self, axis};

pub(crate) const COMMAND: Command = Command {
    name: "cwt",
    family: "spectral",
    summary: "continuous transform by Morlet wavelets",
    inputs: &["x [C, N]"],
    params: &[
        Param::required("frequencies", "of the wavelets, in the unit of fs, above 0 and up to fs / 2"),
        params::FS,
        Param::optional("w", "5", "angle by which a wavelet turns within a standard deviation of its bell curve"),
    ],
    run: |r| {
        let p = &r.params;
        let frequencies = p.required("frequencies", Params::numbers)?;
        let w = p.f64("w")?.unwrap_or(CwtOptions::default().w);
        let options = CwtOptions { fs: params::fs(p)?, w, runtime: r.runtime.clone() };
        let x = r.signal(0)?;
        let z = cwt(x.source, &frequencies, &options)?;
        let values = x.complex_lines(&z.values, z.f.len(), z.t.len())?;
        Ok(vec![("f", axis(&z.f)), ("t", axis(&z.t)), ("cwt", values)])
    },
};
