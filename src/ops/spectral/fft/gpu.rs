//! Transforms on devices.

use super::transform::Transform;
use crate::error::{Error, Result};
use crate::ops::problem::{Shape, Variant};
use crate::runtime::DeviceArray;
use crate::runtime::gpu::{Command, Facts, Gpu};

/// Variants, the default first.
pub(super) fn variants(_: &Transform, _: &Facts, _: Shape) -> Vec<Variant> {
    Vec::new()
}

/// Records the transform of all channels.
pub(super) fn record(
    _: &Transform,
    _: &dyn Gpu,
    variant: &Variant,
    _: &DeviceArray,
    _: &DeviceArray,
) -> Result<Vec<Command>> {
    Err(Error::internal(format!("{} is no variant of a transform", variant.name)))
}
