//! What each action does, and the text it prints.

use std::io::Write;
use std::path::Path;

use dspk::io::{check_text, write_text};
use dspk::tune::{Collection, Explanation};
use serde_json::{Value, json};

use crate::arguments::Arguments;
use crate::backend::Backend;
use crate::print::{self, Bar};
use crate::{FAILED, Failure, OK, finish, one_line};

/// The action asked for in place of tuning, done: what it prints. `None` = tuning is asked for.
pub fn instead_of_tuning(arguments: &Arguments, backend: &mut dyn Backend) -> Option<Result<String, Failure>> {
    if let Some(op) = &arguments.explain {
        Some(explain(op, arguments, backend))
    } else if let Some(path) = &arguments.export {
        Some(export(path, arguments, backend))
    } else if let Some(path) = &arguments.import {
        Some(import(path, arguments, backend))
    } else {
        arguments.clear.then(|| clear(arguments, backend))
    }
}

/// Tunes, and writes the page if one is asked for: what to print, and the exit code.
pub fn tune(arguments: &Arguments, backend: &mut dyn Backend, err: &mut dyn Write) -> Result<(String, u8), Failure> {
    if let Some(path) = &arguments.report {
        check_text(path)?;
    }
    let bar = Bar::new(!arguments.quiet && !arguments.json);
    let mut waiting = false;
    let result = backend.tune(&arguments.options(), &mut |progress| {
        bar.show(progress);
        if progress.waiting && !std::mem::replace(&mut waiting, true) && !arguments.quiet {
            bar.pause(|| finish(writeln!(err, "waiting: another process is tuning {}", progress.runtime), OK));
        }
    });
    bar.clear();
    let summaries = result?;
    for (runtime, failure) in summaries.iter().flat_map(|s| s.failed.iter().map(move |f| (&s.runtime, f))) {
        finish(writeln!(err, "{}", one_line(&format!("error: {runtime}: {failure}"))), OK);
    }
    let code = if summaries.iter().any(|summary| !summary.failed.is_empty()) { FAILED } else { OK };
    if let Some(path) = &arguments.report {
        write_text(path, &dspk::report::page(&backend.results(&arguments.runtimes)?)?)?;
    }
    let text = match (arguments.json, arguments.quiet) {
        (true, _) => format!("{}\n", print::summaries_json(&summaries)),
        (false, true) => String::new(),
        (false, false) => {
            let report = arguments.report.as_ref().map(|path| format!("report: {}\n", path.display()));
            print::table(&summaries) + report.as_deref().unwrap_or_default()
        }
    };
    Ok((text, code))
}

fn explain(op: &str, arguments: &Arguments, backend: &mut dyn Backend) -> Result<String, Failure> {
    let mut all: Vec<Explanation> = Vec::new();
    for (channels, samples, runtime) in arguments.explained() {
        for explanation in backend.explain(op, (channels, samples), runtime)? {
            // Sizes of one class have one explanation.
            if !all.contains(&explanation) {
                all.push(explanation);
            }
        }
    }
    if arguments.json {
        let all: Vec<Value> = all.iter().map(with_reason).collect();
        return Ok(format!("{:#}\n", Value::Array(all)));
    }
    Ok(all.iter().map(Explanation::to_string).collect::<Vec<_>>().join("\n"))
}

fn with_reason(explanation: &Explanation) -> Value {
    let mut value = json!(explanation);
    value["reason"] = explanation.reason().into();
    value
}

fn export(path: &Path, arguments: &Arguments, backend: &mut dyn Backend) -> Result<String, Failure> {
    let results = backend.results(&arguments.runtimes)?;
    if results.is_empty() {
        return Err(Failure::new(FAILED, "no tuning results are stored here; run autotune first"));
    }
    let count: usize = results.iter().map(|device| device.entries.len()).sum();
    let devices: Vec<&str> = results.iter().map(|device| device.facts.device.as_str()).collect();
    let said = if arguments.json {
        format!("{:#}\n", json!({ "file": path, "devices": devices, "results": count }))
    } else {
        format!("{} of {} written to {}\n", print::results(count), devices.join(", "), path.display())
    };
    let text = Collection::new(results).to_text()?;
    if is_stream(path) {
        return Ok(text);
    }
    write_text(path, &text)?;
    Ok(if arguments.quiet { String::new() } else { said })
}

fn import(path: &Path, arguments: &Arguments, backend: &mut dyn Backend) -> Result<String, Failure> {
    let summary = backend.import(&read(path)?, arguments.force)?;
    if arguments.json {
        return Ok(format!("{:#}\n", json!(summary)));
    }
    Ok(if arguments.quiet { String::new() } else { print::imported(&summary) })
}

fn clear(arguments: &Arguments, backend: &mut dyn Backend) -> Result<String, Failure> {
    let cleared = backend.clear(&arguments.runtimes)?;
    if arguments.json {
        let (files, bytes, left) = (cleared.files, cleared.bytes, cleared.left);
        return Ok(format!("{:#}\n", json!({ "files": files, "bytes": bytes, "left": left })));
    }
    Ok(if arguments.quiet { String::new() } else { print::cleared(&cleared) })
}

fn is_stream(path: &Path) -> bool {
    path == Path::new("-")
}

/// The results in a file, or on stdin.
fn read(path: &Path) -> Result<Collection, Failure> {
    if is_stream(path) {
        return Ok(Collection::read(std::io::stdin().lock())?);
    }
    let wrong = |e: &dyn std::fmt::Display| Failure::usage(format!("{}: {e}", path.display()));
    let file = std::fs::File::open(path).map_err(|e| wrong(&e))?;
    Collection::read(file).map_err(|e| wrong(&e))
}
