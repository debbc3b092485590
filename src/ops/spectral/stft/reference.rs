//! Spectra of frames in float64, plainly.

use super::problem::{Kept, Local};
use crate::error::Result;
use crate::ops::spectral::frames::reference::spectra;
use crate::signal::Source;

/// `[channels, frequencies, frames]`, contiguous.
pub(super) fn run(local: &Local, x: Source<'_>) -> Result<Vec<f64>> {
    let g = local.segments.geometry(x.samples())?;
    let table = local.segments.table(g.nperseg)?;
    let factor = local.segments.factor(&table)?;
    let mut out = Vec::new();
    for channel in 0..x.channels() {
        let z = spectra(&x, channel, 0, &g, &table);
        for bin in 0..g.bins() {
            for frame in 0..g.frames {
                let z = z[frame * g.bins() + bin];
                match local.kept {
                    Kept::Complex => out.extend([z.re * factor.sqrt(), z.im * factor.sqrt()]),
                    Kept::Power => out.push(z.norm_sqr() * factor * g.sides(bin)),
                    Kept::Magnitude => out.push(z.norm() * factor.sqrt()),
                }
            }
        }
    }
    Ok(out)
}
