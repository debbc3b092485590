//! Transforms of real rows in one pass that are part of another kernel, which has the row from elsewhere and keeps its
//! spectrum in work-group memory (`shared/spectra.wgsl`).

use super::plan::{self, Pass};
use super::tables::{self, Table};
use super::{Form, name, radices, taste};
use crate::error::Result;
use crate::ops::launch::{constant, is_software};
use crate::ops::problem::Variant;
use crate::ops::spectral::Norm;
use crate::ops::spectral::fft::{Kind, Transform};
use crate::runtime::gpu::{Facts, Gpu, Slice};

/// How rows of `n` points are transformed within a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::ops::spectral) struct Near {
    n: usize,
    pass: Pass,
    /// As complex rows of half the length.
    halved: bool,
}

impl Near {
    /// The plan by the settings of a variant, with so many rows in a work group at least; `None` where work groups are too
    /// small, or `n` has large prime factors.
    pub fn new(n: usize, slots: usize, variant: &Variant, facts: &Facts) -> Option<Near> {
        let form = Form::new(&Transform { kind: Kind::Rfft, n: Some(n), norm: Norm::Backward }, n);
        if form.chirp {
            return None;
        }
        let halved = form.store == super::SEPARATED;
        let taste = taste(variant, is_software(facts));
        let mut pass = plan::single(form.points, slots, taste, &facts.limits)?;
        if variant.get("FACING") == 1 {
            pass = plan::facing(pass, taste, &facts.limits).filter(|_| halved)?;
        }
        Some(Near { n, pass, halved })
    }

    /// Points of the transform.
    pub fn points(&self) -> usize {
        self.pass.points
    }

    /// Threads of a row.
    pub fn threads(&self) -> usize {
        self.pass.threads
    }

    /// Rows of a work group.
    pub fn slots(&self) -> usize {
        self.pass.slots
    }

    /// As [`super::variants`] have it.
    pub fn name(&self, method: &str, variant: &Variant) -> String {
        name(method, std::slice::from_ref(&self.pass), variant)
    }

    /// Settings of `shared/stockham.wgsl`, `SPLIT` and `FACING`.
    pub fn settings(&self, variant: &Variant) -> Vec<(&'static str, u32)> {
        let mut settings = radices(&self.pass);
        settings.extend([
            ("T", self.pass.threads as u32),
            ("S", self.pass.slots as u32),
            ("POWERS", variant.get("POWERS")),
            ("PAD", variant.get("PAD")),
            ("SPLIT", u32::from(self.halved)),
            ("FACING", variant.get("FACING")),
        ]);
        settings
    }

    /// Roots of the passes, and those of the row's own degree.
    pub fn tables(&self, gpu: &dyn Gpu) -> Result<[Slice; 2]> {
        let degree = if self.halved { self.n } else { 1 };
        let roots = tables::bytes(Table::Passes(self.pass.radices.clone()));
        let wide = tables::bytes(Table::Roots { degree, count: degree });
        Ok([constant(gpu, &roots)?, constant(gpu, &wide)?])
    }
}
