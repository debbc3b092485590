//! `dspk op teager_kaiser`.

use super::TeagerKaiser;
use crate::ops::command::{Command, Param};

pub(crate) const COMMAND: Command = Command {
    name: "teager_kaiser",
    family: "filter",
    summary: "Teager-Kaiser energy: x[n]^2 - x[n - lag] x[n + lag]",
    inputs: &["x [C, N]"],
    params: &[Param::optional("lag", "1", "distance to both neighbours, in samples")],
    run: |request| {
        let (x, lag) = (request.signal(0)?, request.params.usize("lag")?.unwrap_or(1));
        let mut energy = TeagerKaiser::new(lag)?;
        if let Some(runtime) = &request.runtime {
            energy = energy.on(runtime);
        }
        Ok(vec![("y", x.result(&energy.apply(x.source)?))])
    },
};
