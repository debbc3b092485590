//! Inputs whose channels do not lie in rows, made so: for filters that read along time.

use fearless_simd::Simd;
use rayon::prelude::*;

use crate::error::Result;
use crate::signal::{Signal, Source};
use crate::simd::{
    self, Kernel,
    lanes::{Frame, LANES, Lanes, groups, unpack},
};

/// Frames that are packed and unpacked at once.
const TILE: usize = 256;

/// A copy whose channels are rows, or nothing where they are already.
pub(super) fn planar(x: Source<'_>) -> Result<Option<Signal>> {
    let rows = match x {
        Source::F32(v) => v.channels() == 0 || v.row(0).is_some(),
        Source::I16(v) => v.channels() == 0 || v.row(0).is_some(),
    };
    if rows {
        return Ok(None);
    }
    let mut y = Signal::dirty(x.channels(), x.samples())?;
    groups(y.view_mut(), x.samples()).into_par_iter().enumerate().for_each(|(g, mut rows)| {
        let lanes = Lanes::channels(x, g * LANES, rows.len());
        simd::level().run(Turned { lanes, len: x.samples(), rows: &mut rows });
    });
    Ok(Some(y))
}

struct Turned<'a, 'b> {
    lanes: Lanes<'a>,
    len: usize,
    rows: &'a mut [&'b mut [f32]],
}

impl Kernel for Turned<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let mut frames: Vec<Frame> = vec![[0.0; LANES]; TILE];
        for t in (0..self.len).step_by(TILE) {
            self.lanes.pack(simd, t, TILE, &mut frames);
            unpack(simd, t, &frames, self.rows, false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::View;

    #[test]
    fn rows_hold_what_the_input_does() {
        for (channels, samples) in [(2, 3), (17, 100), (5, 600)] {
            let x: Vec<i16> = (0..channels * samples).map(|i| i as i16).collect();
            assert!(planar(View::new(&x, channels, samples).unwrap().into()).unwrap().is_none());
            let source: Source<'_> = View::interleaved(&x, channels).unwrap().into();
            let y = planar(source).unwrap().unwrap();
            for (c, n) in (0..channels).flat_map(|c| (0..samples).map(move |n| (c, n))) {
                assert_eq!(y.row(c)[n], source.get(c, n));
            }
        }
    }
}
