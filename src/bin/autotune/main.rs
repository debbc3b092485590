//! `autotune`: tunes the operations of this machine's devices ahead of time, and shows, carries and removes the results.
//!
//! Argument parsing and printing only. Every class is stored, whole, when it is settled, so an interrupted run keeps what
//! it has done and the next one goes on from there.
//!
//! Exit status: 0 done; 2 the call or a file given to it is wrong; 1 anything else. Errors are one line each on stderr.

mod actions;
mod arguments;
mod backend;
mod print;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use arguments::Arguments;
use backend::{Backend, Library};
use dspk::{Error, ErrorKind};

fn main() -> ExitCode {
    env_logger::Builder::from_env(env_logger::Env::new().filter_or("DSPK_LOG", "error,dspk=warn")).init();
    let (mut out, mut err) = (std::io::stdout().lock(), std::io::stderr());
    ExitCode::from(run(std::env::args_os(), &mut Library, &mut out, &mut err))
}

const OK: u8 = 0;
const FAILED: u8 = 1;
const USAGE: u8 = 2;

/// The whole program; gives the exit code.
fn run(
    arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>,
    backend: &mut dyn Backend,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> u8 {
    let arguments = match Arguments::read(arguments) {
        Ok(arguments) => arguments,
        Err(error) if !error.use_stderr() => return finish(write!(out, "{error}"), OK),
        Err(error) => return finish(writeln!(err, "{}", one_line(&error.to_string())), USAGE),
    };
    let done = match actions::instead_of_tuning(&arguments, backend) {
        Some(text) => text.map(|text| (text, OK)),
        None => actions::tune(&arguments, backend, err),
    };
    match done {
        Ok((text, code)) => finish(write!(out, "{text}").and_then(|()| out.flush()), code),
        Err(Failure { status, message }) => finish(writeln!(err, "{}", one_line(&format!("error: {message}"))), status),
    }
}

/// A closed pipe on the other side is no reason to fail.
fn finish(written: std::io::Result<()>, code: u8) -> u8 {
    match written {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => code.max(FAILED),
        _ => code,
    }
}

/// Why the program ends without success.
struct Failure {
    status: u8,
    message: String,
}

impl Failure {
    fn new(status: u8, message: impl Into<String>) -> Failure {
        Failure { status, message: message.into() }
    }

    fn usage(message: impl Into<String>) -> Failure {
        Failure::new(USAGE, message)
    }
}

impl From<Error> for Failure {
    fn from(e: Error) -> Failure {
        let usage = e.kind().is_usage() || e.kind() == ErrorKind::UnknownRuntime;
        Failure::new(if usage { USAGE } else { FAILED }, e.to_string())
    }
}

/// The first paragraph of a message, on one line.
fn one_line(text: &str) -> String {
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    paragraph.split_whitespace().collect::<Vec<_>>().join(" ")
}
