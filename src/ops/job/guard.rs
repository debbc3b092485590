//! Outputs of runs that are checked: full of NaN, between guards.

use super::wrong;
use crate::error::Result;
use crate::ops::problem::Shape;
use crate::signal::{Signal, View, ViewMut, pitch};

/// Values before and after a host output.
const GUARD: usize = 64;
const GUARD_WORD: f32 = 12345.675;

/// A host output between guard words, filled with NaN. What lies between its rows may be zeroed, as [`ViewMut`] says, and
/// nothing else.
pub(super) struct Guarded {
    data: Vec<f32>,
    shape: Shape,
    pitch: usize,
}

impl Guarded {
    pub(super) fn new(shape: Shape) -> Result<Self> {
        let pitch = pitch(shape.samples);
        let len = shape.channels.saturating_mul(pitch).saturating_add(2 * GUARD);
        let mut data = vec![GUARD_WORD; len];
        for row in data[GUARD..len - GUARD].chunks_exact_mut(pitch.max(1)) {
            row[..shape.samples].fill(f32::NAN);
        }
        Ok(Guarded { data, shape, pitch })
    }

    pub(super) fn view(&mut self) -> Result<ViewMut<'_>> {
        let end = self.data.len() - GUARD;
        ViewMut::with_pitch(&mut self.data[GUARD..end], self.shape.channels, self.shape.samples, self.pitch)
    }

    /// What was written, if nothing was written beside it.
    pub(super) fn check(self) -> Result<Signal> {
        let end = self.data.len() - GUARD;
        let inner = &self.data[GUARD..end];
        let mut between = inner.chunks_exact(self.pitch.max(1)).flat_map(|row| &row[self.shape.samples..]);
        if self.data[..GUARD].iter().chain(&self.data[end..]).any(|v| *v != GUARD_WORD)
            || between.any(|v| *v != GUARD_WORD && *v != 0.0)
        {
            return Err(wrong("values were written outside the output".into()));
        }
        Signal::from_source(View::with_strides(inner, self.shape.channels, self.shape.samples, self.pitch, 1)?.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(at: usize, value: f32) -> Result<Signal> {
        let mut y = Guarded::new(Shape { channels: 2, samples: 20 }).unwrap();
        let inside = |i: usize| (GUARD..GUARD + 20).contains(&i) || (GUARD + 32..GUARD + 52).contains(&i);
        y.data.iter_mut().enumerate().filter(|(i, _)| inside(*i)).for_each(|(_, v)| *v = 1.0);
        y.data[at] = value;
        y.check()
    }

    #[test]
    fn what_is_written_beside_the_output_is_found() {
        for outside in [0, GUARD - 1, GUARD + 20, GUARD + 31, GUARD + 52, GUARD + 64, GUARD + 127] {
            assert!(written(outside, 1.0).is_err(), "{outside}");
        }
        // Padding may be zeroed; guards may not.
        assert!(written(GUARD + 20, 0.0).is_ok() && written(GUARD + 64, 0.0).is_err());
        let y = written(GUARD + 32, 7.0).unwrap();
        assert_eq!((y.row(1)[0], y.row(1)[1], y.samples()), (7.0, 1.0, 20));
        let empty = Guarded::new(Shape { channels: 0, samples: 0 }).unwrap();
        assert_eq!(empty.check().unwrap().channels(), 0);
    }
}
