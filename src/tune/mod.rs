//! The tuner: proves a variant right, then measures it, then remembers the winner.
//!
//! It knows no operation, only the [`Tunable`] trait.

use crate::error::Result;

/// A choice between variants of one operation, on one device, at one class of problem.
pub trait Tunable {
    /// Registry name of the operation: names the folder.
    fn operation(&self) -> &str;
    /// Parameter class, element type and size class, fit for a file name: names the entry.
    fn class(&self) -> &str;
    /// Identity of the recipe: hash of the sources of all its kernels (or of the CPU source) and of the variants.
    fn identity(&self) -> u128;
    /// The device's key: names the folder above.
    fn device(&self) -> &str;
    /// Driver version recorded with the evidence; a change marks an entry stale.
    fn driver(&self) -> &str;
    /// Names of the variants that are legal for the actual problem; the first is the built-in default.
    fn variants(&self) -> &[String];
    /// Checks one variant against the float64 reference on small problems. `Err` = rejected, with the reason.
    fn verify(&self, variant: usize) -> Result<()>;
    /// Seconds that `repeats` runs of one variant take at the timed problem.
    fn time(&self, variant: usize, repeats: u32) -> Result<f64>;
}
