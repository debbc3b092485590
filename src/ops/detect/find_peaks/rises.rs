//! Where channels have risen and do not rise on, on any runtime: the samples at which peaks begin.

use rayon::prelude::*;

use crate::error::Result;
#[cfg(feature = "gpu")]
use crate::ops::launch::{all, compose, is_software, launch, pairs, space, word};
use crate::ops::problem::{Locality, Problem, Shape, State, Tolerance, Variant};
#[cfg(feature = "gpu")]
use crate::runtime::{
    DeviceArray,
    gpu::{Command, Facts, Gpu},
};
use crate::signal::{Source, ViewMut};
use crate::simd::{self, Kernel};
use fearless_simd::Simd;

/// 1 at samples that are above the one before and at least as high as the next, 0 elsewhere, at both ends and beside NaN.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rises;

/// Samples that a thread looks at once.
const PIECE: usize = 1 << 15;

/// Without a way out in the middle, so that it vectorises.
#[inline(always)]
fn rises(before: f32, own: f32, after: f32) -> bool {
    (before < own) & (after <= own)
}

struct Piece<'a> {
    /// From the sample before the first flag to the one after the last.
    x: &'a [f32],
    flags: &'a mut [f32],
}

impl Kernel for Piece<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let _ = simd;
        let (before, own) = (self.x, &self.x[1..]);
        let after = &own[1..];
        for (((flag, before), own), after) in self.flags.iter_mut().zip(before).zip(own).zip(after) {
            *flag = f32::from(u8::from(rises(*before, *own, *after)));
        }
    }
}

impl Problem for Rises {
    fn operation(&self) -> &'static str {
        "find_peaks"
    }

    fn class(&self) -> String {
        "rises".into()
    }

    fn check(&self, _: Shape) -> Result<()> {
        Ok(())
    }

    fn reference(&self, x: Source<'_>, _: Option<&mut State>) -> Result<Vec<f64>> {
        let n = x.samples();
        let flag = |c: usize, i: usize| i > 0 && i + 1 < n && rises(x.get(c, i - 1), x.get(c, i), x.get(c, i + 1));
        Ok((0..x.channels()).flat_map(|c| (0..n).map(move |i| f64::from(u8::from(flag(c, i))))).collect())
    }

    fn locality(&self) -> Locality {
        Locality::Channel
    }

    fn whole_channels(&self) -> bool {
        true
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::default()
    }

    fn rounding(&self, _: &Variant) -> String {
        "exact".into()
    }

    fn cpu_variants(&self, _: Shape) -> Vec<Variant> {
        vec![Variant::new("compare", &[])]
    }

    fn run_cpu(&self, _: &Variant, x: Source<'_>, y: ViewMut<'_>, _: Option<&mut State>) -> Result<()> {
        let n = x.samples();
        if x.channels() == 0 || n == 0 {
            return Ok(());
        }
        let pitch = y.pitch().max(n);
        let rows = y.into_data().chunks_mut(pitch).take(x.channels()).enumerate();
        let pieces: Vec<(usize, usize, &mut [f32])> = rows
            .flat_map(|(c, row)| row[..n].chunks_mut(PIECE).enumerate().map(move |(i, out)| (c, i * PIECE, out)))
            .collect();
        pieces.into_par_iter().for_each(|(c, start, flags)| {
            // The ends have one neighbour only.
            let (first, end) = (start.max(1), (start + flags.len()).min(n - 1).max(start.max(1)));
            flags.fill(0.0);
            if end <= first {
                return;
            }
            let flags = &mut flags[first - start..end - start];
            let own = first - 1..end + 1;
            match x {
                Source::F32(v) if v.row(c).is_some() => {
                    let x = &v.row(c).unwrap_or_default()[own];
                    simd::level().run(Piece { x, flags });
                }
                _ => {
                    let x: Vec<f32> = own.map(|i| x.get(c, i)).collect();
                    simd::level().run(Piece { x: &x, flags });
                }
            }
        });
        Ok(())
    }

    #[cfg(feature = "gpu")]
    fn gpu_variants(&self, facts: &Facts, _: Shape) -> Vec<Variant> {
        let groups: &[u32] = if is_software(facts) { &[8, 64] } else { &[64, 128] };
        space("compare", &[("WG", 64)], &[("WG", groups)], |v| v[0].1 <= facts.limits.group_size)
    }

    #[cfg(feature = "gpu")]
    fn record(&self, gpu: &dyn Gpu, variant: &Variant, x: &DeviceArray, y: &DeviceArray) -> Result<Vec<Command>> {
        let pairs = pairs(x, y)?;
        let Some((from, to)) = pairs.first() else { return Ok(Vec::new()) };
        if pairs.len() > 1 {
            return Err(crate::Error::new(
                crate::ErrorKind::Limit,
                "find_peaks needs channels in one segment; look at fewer channels at once, from host memory, or on the cpu runtime",
            ));
        }
        let kernel = compose("detect/rises", variant, &[])?;
        let args = [word(x.channels())?, word(to.pitch / 4)?, word(from.samples)?, 0];
        let groups = (x.channels() * to.pitch / 4).div_ceil(kernel.group_size.max(1) as usize);
        Ok(vec![launch(gpu, &kernel, &args, &[all(from), all(to)], groups as u64)?])
    }
}
