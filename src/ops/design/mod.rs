//! The designs as commands. They run on the host in float64 whatever runtime is asked for.

mod fir;
mod iir;
mod other;

use super::command::{Array, Command, NdArray, Outputs, Params};
use crate::error::Result;

/// The commands of this family.
pub fn commands() -> Vec<Command> {
    [&iir::COMMANDS[..], &fir::COMMANDS, &other::COMMANDS].concat()
}

/// scipy's default.
const FS: f64 = 2.0;

fn rate(params: &Params) -> Result<f64> {
    Ok(params.f64("fs")?.unwrap_or(FS))
}

/// One list of float64 values.
fn list(name: &'static str, values: Vec<f64>) -> Outputs {
    vec![(name, Array::F64(NdArray::flat(values)))]
}
