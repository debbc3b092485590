//! `dspk op multitaper`.

use super::{MultitaperOptions, TaperWeights, multitaper};
use crate::ops::command::{Command, Param};
use crate::ops::spectral::frames::Detrend;
use crate::ops::spectral::frames::params::{self, axis};

pub(crate) const COMMAND: Command = Command {
    name: "multitaper",
    family: "spectral",
    summary: "power by several Slepian tapers",
    inputs: &["x [C, N]"],
    params: &[
        params::FS,
        Param::optional("NW", "4", "half the bandwidth times the length of a frame"),
        Param::optional("Kmax", "null", "number of tapers; null: 2 NW - 1"),
        Param::optional("weights", "\"eigen\"", "of the tapers: eigen, unity or adaptive"),
        Param::optional("nperseg", "null", "samples of a frame, shorter where the signal is; null: all"),
        params::noverlap("samples that two frames share; null: nperseg // 2"),
        params::NFFT,
        params::DETREND,
        params::SCALING,
    ],
    run: |r| {
        let p = &r.params;
        let options = MultitaperOptions {
            fs: params::fs(p)?,
            nw: p.f64("NW")?.unwrap_or(4.0),
            tapers: p.usize("Kmax")?,
            weights: match p.choice("weights", &["eigen", "unity", "adaptive"])? {
                Some("unity") => TaperWeights::Unity,
                Some("adaptive") => TaperWeights::Adaptive,
                _ => TaperWeights::Eigen,
            },
            nperseg: p.usize("nperseg")?,
            noverlap: p.usize("noverlap")?,
            nfft: p.usize("nfft")?,
            detrend: params::detrend(p, Detrend::Constant)?,
            scaling: params::scaling(p)?,
            runtime: r.runtime.clone(),
        };
        let x = r.signal(0)?;
        let p = multitaper(x.source, &options)?;
        Ok(vec![("f", axis(&p.f)), ("Pxx", x.result(&p.values))])
    },
};
