//! The two precisions in which frames are transformed, with the plans and the work space of a thread for each.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use fearless_simd::Simd;
use num_complex::Complex;
use realfft::{RealFftPlanner, RealToComplex};
use rustfft::FftNum;

use super::load::{Line, weigh_f32, weigh_f64};
use super::{Loader, Table};
use crate::error::{Error, Result};
use crate::ops::spectral::fft;

/// float32, or float64 where results may be small against what they are made of.
pub(crate) trait Real: FftNum + Default {
    /// The plan of a real transform; plans are kept.
    fn plan(n: usize) -> Arc<dyn RealToComplex<Self>>;

    /// Runs with the work space of this thread. Must not be nested.
    fn with_space<R>(run: impl FnOnce(&mut Space<Self>) -> R) -> R;

    /// The frame less the line, times the window.
    fn weigh<S: Simd>(simd: S, x: &[f32], line: Option<Line>, table: &Table, out: &mut [Self]);
}

/// Work space of a thread.
pub(crate) struct Space<T> {
    input: Vec<T>,
    copy: Vec<f32>,
    scratch: Vec<Complex<T>>,
    /// For the spectra of frames; as long as was asked for last, or longer.
    pub spectra: Vec<Complex<T>>,
}

impl<T: Real> Space<T> {
    const fn new() -> Self {
        Space { input: Vec::new(), copy: Vec::new(), scratch: Vec::new(), spectra: Vec::new() }
    }

    /// Room for so many values in `spectra`.
    pub fn reserve(&mut self, values: usize) {
        grow(&mut self.spectra, values);
    }

    /// The spectrum of one frame, into `spectra` from `at` on.
    pub fn transform(
        &mut self,
        plan: &dyn RealToComplex<T>,
        loader: &Loader<'_>,
        frame: usize,
        at: usize,
    ) -> Result<()> {
        let (n, bins) = (plan.len(), plan.len() / 2 + 1);
        grow(&mut self.input, n);
        grow(&mut self.scratch, plan.get_scratch_len());
        loader.frame(frame, &mut self.copy, &mut self.input[..n]);
        plan.process_with_scratch(&mut self.input[..n], &mut self.spectra[at..at + bins], &mut self.scratch)
            .map_err(|e| Error::internal("a frame does not have the length of its transform").with_source(e))
    }
}

fn grow<T: Clone + Default>(space: &mut Vec<T>, len: usize) {
    if space.len() < len {
        space.resize(len, T::default());
    }
}

thread_local! {
    static SINGLE: RefCell<Space<f32>> = const { RefCell::new(Space::new()) };
    static DOUBLE: RefCell<Space<f64>> = const { RefCell::new(Space::new()) };
}

impl Real for f32 {
    fn plan(n: usize) -> Arc<dyn RealToComplex<f32>> {
        fft::real_forward_plan(n)
    }

    fn with_space<R>(run: impl FnOnce(&mut Space<f32>) -> R) -> R {
        SINGLE.with_borrow_mut(run)
    }

    #[inline(always)]
    fn weigh<S: Simd>(simd: S, x: &[f32], line: Option<Line>, table: &Table, out: &mut [f32]) {
        weigh_f32(simd, x, line, table, out);
    }
}

/// Plans in float64 that are kept.
const MAX_PLANS: usize = 16;

type Plans<T> = HashMap<usize, Arc<dyn RealToComplex<T>>>;

static PLANS: LazyLock<Mutex<Plans<f64>>> = LazyLock::new(Mutex::default);

impl Real for f64 {
    fn plan(n: usize) -> Arc<dyn RealToComplex<f64>> {
        let mut plans = PLANS.lock().unwrap_or_else(PoisonError::into_inner);
        if plans.len() >= MAX_PLANS && !plans.contains_key(&n) {
            plans.clear();
        }
        plans.entry(n).or_insert_with(|| RealFftPlanner::new().plan_fft_forward(n)).clone()
    }

    fn with_space<R>(run: impl FnOnce(&mut Space<f64>) -> R) -> R {
        DOUBLE.with_borrow_mut(run)
    }

    #[inline(always)]
    fn weigh<S: Simd>(_: S, x: &[f32], line: Option<Line>, table: &Table, out: &mut [f64]) {
        weigh_f64(x, line, table, out);
    }
}
