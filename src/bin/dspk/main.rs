//! `dspk`: operations on `.npy` files and the report of devices, from the command line.
//!
//! Exit status: 0 done; 2 the call or its input is wrong; 1 anything else. Errors are one line on stderr.

mod fastest;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use dspk::io::{check_output, npy, write_outputs};
use dspk::ops::command::{Command, Params, Request};
use dspk::{Error, ErrorKind};
use serde_json::{Value, json};

/// Multi-channel signal processing on any GPU or CPU.
#[derive(Parser)]
#[command(name = "dspk", version)]
struct Cli {
    #[command(subcommand)]
    command: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Run one operation on .npy files, or list the operations
    Op(Op),
    /// Show the devices of this machine: what is found, what can be used, and what to do about the rest
    Devices {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Args)]
struct Op {
    /// Operation, as `dspk op --list` names it
    #[arg(required_unless_present = "list")]
    name: Option<String>,
    /// Input array; once for each input, in order
    #[arg(long, value_name = "FILE.npy")]
    input: Vec<PathBuf>,
    /// Parameters as a JSON object, or @FILE holding one
    #[arg(long, value_name = "JSON|@FILE", default_value = "{}")]
    params: String,
    /// Where to write: .npy for one result, .npz for several, or a folder
    #[arg(long, value_name = "PATH", required_unless_present = "list")]
    output: Option<PathBuf>,
    /// Where to compute: cuda, hip, wgpu, cpu, ...; chosen by dspk if not given
    #[arg(long)]
    runtime: Option<String>,
    /// List the operations with their parameters
    #[arg(long)]
    list: bool,
    /// List as JSON
    #[arg(long, requires = "list")]
    json: bool,
}

/// Why the program ends without success.
struct Failure {
    status: u8,
    message: String,
}

impl Failure {
    fn usage(message: impl ToString) -> Self {
        Failure { status: 2, message: message.to_string() }
    }
}

impl From<Error> for Failure {
    fn from(e: Error) -> Self {
        let usage = e.kind().is_usage() || e.kind() == ErrorKind::UnknownRuntime;
        Failure { status: if usage { 2 } else { 1 }, message: e.to_string() }
    }
}

fn main() -> ExitCode {
    let done = match Cli::try_parse() {
        Ok(cli) => {
            start_log();
            run(cli.command).and_then(|text| print(&text))
        }
        Err(e) if !e.use_stderr() => print(&e.render().to_string()),
        Err(e) => Err(Failure::usage(in_one_line(&e))),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure { status, message }) => {
            let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
            // With stderr gone too there is nobody left to tell.
            let _ = writeln!(io::stderr(), "error: {line}");
            ExitCode::from(status)
        }
    }
}

/// Log lines go to stderr; `DSPK_LOG` chooses which, by default the warnings of dspk itself.
fn start_log() {
    let env = env_logger::Env::new().filter_or("DSPK_LOG", "error,dspk=warn");
    // Fails only where a logger is already set, which is as good.
    let _ = env_logger::Builder::from_env(env).target(env_logger::Target::Stderr).try_init();
}

/// clap's message without its usage block.
fn in_one_line(e: &clap::Error) -> String {
    if e.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        // The rendered text is the whole help, which says nothing of what is missing.
        return "a command is needed: op or devices; see dspk --help".into();
    }
    let text = e.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let end = ["\n\nUsage:", "\n\nFor more information"].iter().filter_map(|s| text.find(s)).min();
    format!("{}; see dspk --help", text[..end.unwrap_or(text.len())].trim())
}

fn run(task: Task) -> Result<String, Failure> {
    match task {
        Task::Op(op) if op.list => Ok(if op.json { list_json() } else { list_text() }),
        Task::Op(op) => operate(op).map(|()| String::new()),
        Task::Devices { json } => Ok(devices(json)),
    }
}

fn devices(as_json: bool) -> String {
    let report = dspk::accelerator::report(false);
    if !as_json {
        return report.text() + &fastest::text();
    }
    let mut all = report.json(&dspk::accelerator::operations());
    all["recommendations"] = fastest::json();
    format!("{all:#}\n")
}

/// A reader that has gone away (`dspk op --list | head -1`) is no error.
fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure { status: 1, message: format!("writing to stdout: {e}") })
        }
        _ => Ok(()),
    }
}

/// Everything that can be wrong without computing is checked first, the cheapest first.
fn operate(op: Op) -> Result<(), Failure> {
    let (Some(name), Some(output)) = (op.name, op.output) else {
        return Err(Failure::usage("an operation and --output are needed; see dspk op --help"));
    };
    let unknown = || Failure::usage(format!("unknown operation '{name}'; dspk op --list names those there are"));
    let command = dspk::ops::commands().into_iter().find(|c| c.name == name).ok_or_else(unknown)?;
    let params = Params::parse(&params_text(&op.params)?)?.with_loader(npy::read);
    command.check(&params)?;
    check_output(&output)?;
    if let Some(name) = &op.runtime {
        // A named runtime is strict, also where the operation turns out not to need it.
        dspk::runtime::resolve(Some(name))?;
    }
    let inputs = op.input.iter().map(|path| npy::read(path)).collect::<Result<_, _>>()?;
    let outputs = command.call(Request { inputs, params, runtime: op.runtime })?;
    Ok(write_outputs(&output, &outputs, command.archives())?)
}

/// `--params` itself, or the file it names with `@`.
fn params_text(given: &str) -> Result<String, Failure> {
    let Some(path) = given.strip_prefix('@') else { return Ok(given.to_string()) };
    let refused = |e| Failure::usage(format!("parameter file {path}: {e}; pass @FILE with a JSON object in it"));
    std::fs::read_to_string(Path::new(path)).map_err(refused)
}

/// `N, Wn, btype="low"`.
fn signature(command: &Command) -> String {
    let show = |p: &dspk::ops::command::Param| match p.default {
        Some(default) => format!("{}={default}", p.name),
        None => p.name.to_string(),
    };
    command.params.iter().map(show).collect::<Vec<_>>().join(", ")
}

fn list_text() -> String {
    let mut out = String::new();
    let mut family = "";
    for c in dspk::ops::commands() {
        if c.family != family {
            family = c.family;
            out.push_str(&format!("{}{family}\n", if out.is_empty() { "" } else { "\n" }));
        }
        out.push_str(&format!("  {:<18} {}\n", c.name, c.summary));
        for (what, text) in [("inputs", c.inputs.join(", ")), ("parameters", signature(&c))] {
            if !text.is_empty() {
                out.push_str(&format!("  {:<18}   {what}: {text}\n", ""));
            }
        }
    }
    out
}

fn list_json() -> String {
    let param = |p: &dspk::ops::command::Param| {
        let default = p.default.map(|d| serde_json::from_str(d).unwrap_or(Value::String(d.to_string())));
        json!({ "name": p.name, "required": p.default.is_none(), "default": default, "help": p.help })
    };
    let commands: Vec<Value> = dspk::ops::commands()
        .iter()
        .map(|c| {
            json!({
                "name": c.name,
                "family": c.family,
                "summary": c.summary,
                "inputs": c.inputs,
                "parameters": c.params.iter().map(param).collect::<Vec<_>>(),
            })
        })
        .collect();
    format!("{:#}\n", Value::Array(commands))
}
