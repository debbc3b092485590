//! How an operation is called by name, as the command line does it, independent of files and argument parsing.
//!
//! A [`Command`] declares its inputs and parameters and has one function from a [`Request`] to named [`Array`]s.
//! [`Command::call`] checks what a caller can get wrong before anything is computed (number of inputs, unknown and
//! missing parameters); [`Params`] reads values with their types, and every error names the parameter, what was found
//! and what is accepted. `null` always counts as "not given"; where a command gives `null` a meaning of its own, it asks
//! [`Params::is_null`]. Every parameter given must be read: an ignored one would be a silent fault of the command.

mod array;
mod params;

pub use array::{Array, Channels, NdArray, Spectra};
pub use params::{Loader, Params};

use crate::error::{Error, Result};

/// Named results in their order; one is written as `.npy`, several as `.npz` under these names.
pub type Outputs = Vec<(&'static str, Array)>;

/// A parameter of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Param {
    /// Its name.
    pub name: &'static str,
    /// What holds when it is not given, as JSON; `None` if it must be given.
    pub default: Option<&'static str>,
    /// What it is: unit, legal values.
    pub help: &'static str,
}

impl Param {
    /// A parameter that must be given.
    pub const fn required(name: &'static str, help: &'static str) -> Self {
        Param { name, default: None, help }
    }

    /// A parameter with a default, written as JSON.
    pub const fn optional(name: &'static str, default: &'static str, help: &'static str) -> Self {
        Param { name, default: Some(default), help }
    }
}

/// An operation callable by name.
#[derive(Debug, Clone, Copy)]
pub struct Command {
    /// Its name, scipy's where scipy has the function.
    pub name: &'static str,
    /// The family it belongs to: `design`, `filter`, ...
    pub family: &'static str,
    /// One line saying what it does.
    pub summary: &'static str,
    /// Its inputs in order, each with its shape: `x [C, N]`.
    pub inputs: &'static [&'static str],
    /// Its parameters.
    pub params: &'static [Param],
    /// Computes. Called through [`Command::call`], which has checked the request against the fields above.
    pub run: fn(&Request) -> Result<Outputs>,
}

impl Command {
    /// Whether results always go to an archive: which ones there are depends on the parameters.
    pub fn archives(&self) -> bool {
        self.name == "find_peaks"
    }

    /// Checks the parameters' names; needs no input, so that a typing mistake is found before files are read.
    ///
    /// # Errors
    /// A parameter the command does not have, or one missing that it needs.
    pub fn check(&self, params: &Params) -> Result<()> {
        if let Some(unknown) = params.names().find(|n| !self.params.iter().any(|p| p.name == *n)) {
            let known: Vec<_> = self.params.iter().map(|p| p.name).collect();
            return Err(Error::invalid(match known.as_slice() {
                [] => format!("unknown parameter '{unknown}'; {} has no parameters", self.name),
                _ => format!("unknown parameter '{unknown}' of {}; it has {}", self.name, known.join(", ")),
            }));
        }
        match self.params.iter().find(|p| p.default.is_none() && !params.is_given(p.name)) {
            Some(missing) => {
                Err(Error::invalid(format!("{} needs the parameter '{}': {}", self.name, missing.name, missing.help)))
            }
            None => Ok(()),
        }
    }

    /// Runs the operation. float64 inputs are rounded to float32.
    ///
    /// # Errors
    /// All of [`Command::check`], a wrong number of inputs, and whatever the operation refuses.
    pub fn call(&self, mut request: Request) -> Result<Outputs> {
        self.check(&request.params)?;
        if request.inputs.len() != self.inputs.len() {
            return Err(Error::invalid(format!(
                "{} takes {}, {} given",
                self.name,
                match self.inputs {
                    [] => "no input".to_string(),
                    [one] => format!("one input ({one})"),
                    many => format!("{} inputs ({})", many.len(), many.join(", ")),
                },
                request.inputs.len()
            )));
        }
        request.inputs.iter_mut().for_each(Array::round_to_f32);
        let outputs = (self.run)(&request)?;
        match request.params.unread() {
            None => Ok(outputs),
            Some(name) => Err(Error::internal(format!("{} did not look at its parameter '{name}'", self.name))),
        }
    }
}

/// What a command computes from.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The inputs, in the command's order.
    pub inputs: Vec<Array>,
    /// The parameters.
    pub params: Params,
    /// The runtime asked for; `None` leaves the choice to dspk.
    pub runtime: Option<String>,
}

impl Request {
    /// Input `index` as it is.
    ///
    /// # Errors
    /// If there is no such input.
    pub fn input(&self, index: usize) -> Result<&Array> {
        let missing = || Error::invalid(format!("input {} is missing, {} given", index + 1, self.inputs.len()));
        self.inputs.get(index).ok_or_else(missing)
    }

    /// Input `index` as a signal; a one-dimensional array is one channel.
    ///
    /// # Errors
    /// An element type or number of dimensions that signals do not have.
    pub fn signal(&self, index: usize) -> Result<Channels<'_>> {
        self.input(index)?.channels().map_err(|e| e.context(format!("input {}", index + 1)))
    }

    /// Input `index` as complex values; a one-dimensional array is one channel.
    ///
    /// # Errors
    /// An element type or number of dimensions that spectra do not have.
    pub fn spectra(&self, index: usize) -> Result<Spectra<'_>> {
        self.input(index)?.spectra().map_err(|e| e.context(format!("input {}", index + 1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEGATE: Command = Command {
        name: "negate",
        family: "test",
        summary: "Changes the sign",
        inputs: &["x [C, N]"],
        params: &[Param::required("really", "true or false"), Param::optional("twice", "false", "do it again")],
        run: |request| {
            let really = request.params.bool("really")?.unwrap_or(false);
            let x = request.signal(0)?;
            let mut y = crate::signal::Signal::from_source(x.source)?;
            let sign = if really { -1.0 } else { 1.0 };
            (0..y.channels()).for_each(|c| y.row_mut(c).iter_mut().for_each(|v| *v *= sign));
            Ok(vec![("y", x.result(&y))])
        },
    };

    fn call(params: &str, inputs: Vec<Array>) -> Result<Outputs> {
        NEGATE.call(Request { inputs, params: Params::parse(params)?, runtime: None })
    }

    fn x() -> Array {
        Array::F64(NdArray::new(vec![3], vec![1.0, 2.0, 3.0]).unwrap())
    }

    #[test]
    fn a_flat_float64_input_is_rounded_and_gives_a_flat_result() {
        let y = call(r#"{"really": true}"#, vec![x()]).unwrap();
        assert_eq!(y, [("y", Array::F32(NdArray::new(vec![3], vec![-1.0, -2.0, -3.0]).unwrap()))]);
    }

    #[test]
    fn what_a_caller_gets_wrong_is_named() {
        let message = |params: &str, inputs| call(params, inputs).unwrap_err().to_string();
        assert_eq!(message(r#"{"realy": 1}"#, vec![x()]), "unknown parameter 'realy' of negate; it has really, twice");
        assert_eq!(message("{}", vec![x()]), "negate needs the parameter 'really': true or false");
        assert_eq!(message(r#"{"really": null}"#, vec![x()]), "negate needs the parameter 'really': true or false");
        assert_eq!(message(r#"{"really": true}"#, vec![]), "negate takes one input (x [C, N]), 0 given");
        assert!(message(r#"{"really": 1}"#, vec![x()]).contains("true or false"));
    }

    #[test]
    fn a_parameter_the_command_ignores_is_its_own_fault() {
        let e = call(r#"{"really": true, "twice": true}"#, vec![x()]).unwrap_err();
        assert_eq!(e.kind(), crate::ErrorKind::Internal);
    }
}
