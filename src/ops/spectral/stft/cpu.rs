//! Spectra of frames on the CPU: some frames at a time, transformed in the caches and written frequency by frequency.
//!
//! The result has the frames of one frequency side by side, a transform gives the frequencies of one frame. So a few
//! frames are transformed into work space, and each frequency gets its values of all of them at once. Channels run in
//! parallel; where there are few, their frames do.

use num_complex::Complex;
use rayon::prelude::*;
use realfft::RealToComplex;

use super::problem::{Kept, Local};
use crate::error::Result;
use crate::ops::problem::{Shape, Variant};
use crate::ops::spectral::frames::{Geometry, Loader, Real, Space, planar};
use crate::signal::{Source, View, ViewMut};

/// Variants, the default first: how many frames are transformed before they are written.
pub(super) fn variants(_: &Local, _: Shape) -> Vec<Variant> {
    [16, 8, 32].map(|frames| Variant::new("tiles", &[("FRAMES", frames)])).into()
}

/// Frames of a piece of a channel where frames run in parallel, a multiple of all tiles.
const PIECE: usize = 64;

/// Computes all channels.
pub(super) fn run(local: &Local, variant: &Variant, x: Source<'_>, y: ViewMut<'_>) -> Result<()> {
    debug_assert_eq!(variant.method, "tiles");
    planar(x, |x| channels(local, variant.get("FRAMES").max(1) as usize, x, y))
}

fn channels(local: &Local, tile: usize, x: View<'_, f32>, y: ViewMut<'_>) -> Result<()> {
    let g = local.segments.geometry(x.samples())?;
    let table = local.segments.table(g.nperseg)?;
    let plan = f32::plan(g.nfft);
    let (samples, pitch, width) = (y.samples(), y.pitch(), local.width());
    // Values do not depend on where a channel is cut.
    let piece = if x.channels() >= 2 * rayon::current_num_threads() { g.frames } else { PIECE };
    y.into_data().par_chunks_mut(pitch.max(1)).take(x.channels()).enumerate().try_for_each(|(channel, row)| {
        let loader = Loader::new(x.row(channel).unwrap_or(&[]), &g, &table);
        let part = Part { kept: local.kept, geometry: &g, loader: &loader, plan: plan.as_ref(), tile };
        pieces(&mut row[..samples], g.frames, piece, width)
            .into_par_iter()
            .enumerate()
            .try_for_each(|(index, lines)| part.run(index * piece, lines))
    })
}

/// Cuts the lines of a row, one for each frequency, into pieces of so many frames.
fn pieces(row: &mut [f32], frames: usize, piece: usize, width: usize) -> Vec<Vec<&mut [f32]>> {
    let mut pieces: Vec<Vec<&mut [f32]>> = (0..frames.div_ceil(piece)).map(|_| Vec::new()).collect();
    for line in row.chunks_exact_mut(frames * width) {
        for (piece, part) in pieces.iter_mut().zip(line.chunks_mut(piece * width)) {
            piece.push(part);
        }
    }
    pieces
}

/// Some frames of a channel.
struct Part<'a> {
    kept: Kept,
    geometry: &'a Geometry,
    loader: &'a Loader<'a>,
    plan: &'a dyn RealToComplex<f32>,
    tile: usize,
}

impl Part<'_> {
    /// Computes the frames from `first` on, as many as the lines hold.
    fn run(&self, first: usize, mut lines: Vec<&mut [f32]>) -> Result<()> {
        let width = if self.kept == Kept::Complex { 2 } else { 1 };
        let frames = lines.first().map_or(0, |line| line.len() / width);
        f32::with_space(|space| {
            for start in (0..frames).step_by(self.tile) {
                let count = self.tile.min(frames - start);
                self.transform(space, first + start, count)?;
                let bins = self.geometry.bins();
                for (bin, line) in lines.iter_mut().enumerate() {
                    let values = (0..count).map(|k| space.spectra[k * bins + bin]);
                    self.write(values, self.geometry.sides(bin), &mut line[start * width..(start + count) * width]);
                }
            }
            Ok(())
        })
    }

    fn transform(&self, space: &mut Space<f32>, first: usize, count: usize) -> Result<()> {
        let bins = self.geometry.bins();
        space.reserve(self.tile * bins);
        (0..count).try_for_each(|k| space.transform(self.plan, self.loader, first + k, k * bins))
    }

    #[inline(always)]
    fn write(&self, values: impl Iterator<Item = Complex<f32>>, sides: f64, line: &mut [f32]) {
        let square = |z: Complex<f32>| f64::from(z.re) * f64::from(z.re) + f64::from(z.im) * f64::from(z.im);
        match self.kept {
            Kept::Complex => {
                let line: &mut [Complex<f32>] = bytemuck::cast_slice_mut(line);
                line.iter_mut().zip(values).for_each(|(y, z)| *y = z);
            }
            Kept::Power => line.iter_mut().zip(values).for_each(|(y, z)| *y = (square(z) * sides) as f32),
            Kept::Magnitude => line.iter_mut().zip(values).for_each(|(y, z)| *y = square(z).sqrt() as f32),
        }
    }
}
