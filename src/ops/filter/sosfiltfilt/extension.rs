//! How a signal goes on beyond its ends: scipy's `odd_ext`, `even_ext` and `const_ext`, in float64.

use crate::design::Sos;
use crate::error::{Error, Result};
use crate::signal::Source;

/// What a signal is extended with before it is filtered forward and backward: scipy's `padtype`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Padding {
    /// Turned by 180 degrees about its end: `2 x[0] - x[k]`.
    #[default]
    Odd,
    /// Mirrored at its end: `x[k]`.
    Even,
    /// Its end value.
    Constant,
    /// Nothing: `padtype=None`.
    None,
}

impl Padding {
    /// scipy's name, and what `None` is called here.
    pub fn name(self) -> &'static str {
        match self {
            Padding::Odd => "odd",
            Padding::Even => "even",
            Padding::Constant => "constant",
            Padding::None => "none",
        }
    }

    /// A value beyond an end that holds `end`, mirrored from `inner`.
    fn beyond(self, end: f64, inner: f64) -> f64 {
        match self {
            Padding::Odd => 2.0 * end - inner,
            Padding::Even => inner,
            Padding::Constant | Padding::None => end,
        }
    }
}

/// So many samples of a padding at each end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Extension {
    pub(super) padding: Padding,
    pub(super) edge: usize,
}

impl Extension {
    /// What goes before a channel, in order.
    pub(super) fn head(self, x: &Source<'_>, channel: usize) -> impl DoubleEndedIterator<Item = f64> {
        let first = f64::from(x.get(channel, 0));
        (1..=self.edge).rev().map(move |k| self.padding.beyond(first, f64::from(x.get(channel, k))))
    }

    /// What goes after it.
    pub(super) fn tail(self, x: &Source<'_>, channel: usize) -> impl DoubleEndedIterator<Item = f64> {
        let end = x.samples() - 1;
        let last = f64::from(x.get(channel, end));
        (1..=self.edge).map(move |k| self.padding.beyond(last, f64::from(x.get(channel, end - k))))
    }

    /// Refuses signals that are not longer than the extension, as scipy does.
    pub(super) fn check(self, operation: &str, samples: usize) -> Result<()> {
        if samples > 0 && samples <= self.edge {
            return Err(Error::shape(format!(
                "{operation} extends each end by padlen = {} samples and needs more than that, the input has {samples}; pass a longer signal, a smaller padlen, or padtype None (null)",
                self.edge
            )));
        }
        Ok(())
    }
}

/// scipy's `padlen` for a cascade where none is given.
pub(super) fn default_edge(sos: &Sos) -> usize {
    let zeros = |at: usize| sos.sections().iter().filter(|s| s[at] == 0.0).count();
    3 * (2 * sos.len() + 1 - zeros(2).min(zeros(5)))
}
