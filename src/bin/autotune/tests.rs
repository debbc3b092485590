//! The program on a scripted backend: arguments, exit codes, streams.

use std::time::Duration;

use dspk::Error;
use dspk::tune::cache::Cleared;
use dspk::tune::{
    AutotuneOptions, Collection, DeviceFacts, DeviceResults, Explanation, ImportSummary, Origin, Policy, Progress,
    RuntimeSummary,
};

use crate::arguments::parse_budget;
use crate::backend::Backend;
use crate::{FAILED, OK, USAGE, run};

fn summary(runtime: &str, failed: &[&str]) -> RuntimeSummary {
    RuntimeSummary {
        runtime: runtime.into(),
        sizes: 16,
        seconds: 12.3,
        benchmark_launches: 4210,
        verification_runs: 80,
        tuned: 30,
        cached: 2,
        inconclusive: 0,
        skipped: 1,
        failed: failed.iter().map(|f| f.to_string()).collect(),
    }
}

/// A backend that answers as told and notes what it was asked.
struct Scripted {
    summaries: dspk::Result<Vec<RuntimeSummary>>,
    results: Vec<DeviceResults>,
    options: Option<AutotuneOptions>,
    calls: Vec<String>,
}

impl Scripted {
    fn new(summaries: dspk::Result<Vec<RuntimeSummary>>) -> Scripted {
        Scripted { summaries, results: Vec::new(), options: None, calls: Vec::new() }
    }

    /// Runs the program: exit code, stdout, stderr.
    fn run(&mut self, arguments: &[&str]) -> (u8, String, String) {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let all = std::iter::once("autotune").chain(arguments.iter().copied());
        let code = run(all, self, &mut out, &mut err);
        (code, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
    }
}

impl Backend for Scripted {
    fn tune(
        &mut self,
        options: &AutotuneOptions,
        progress: &mut dyn FnMut(&Progress<'_>),
    ) -> dspk::Result<Vec<RuntimeSummary>> {
        self.options = Some(options.clone());
        for waiting in [false, true, true] {
            let (left, size) = (Some(Duration::from_secs(61)), (32, 8192));
            progress(&Progress { runtime: "cpu", operation: "fir", size, done: 1, total: 4, left, waiting });
        }
        self.summaries.clone()
    }

    fn results(&mut self, runtimes: &[String]) -> dspk::Result<Vec<DeviceResults>> {
        self.calls.push(format!("results {runtimes:?}"));
        Ok(self.results.clone())
    }

    fn explain(&mut self, op: &str, size: (usize, usize), runtime: Option<&str>) -> dspk::Result<Vec<Explanation>> {
        self.calls.push(format!("explain {op} {} {} {runtime:?}", size.0, size.1));
        Ok(vec![Explanation {
            operation: op.into(),
            class: format!("c{}", size.0.min(100)),
            device: "card".into(),
            policy: Policy::Cached,
            variant: "direct".into(),
            origin: Origin::Default,
            default: "direct".into(),
            variants: 2,
            path: None,
            entry: None,
            copy_bytes_per_second: None,
        }])
    }

    fn import(&mut self, collection: &Collection, force: bool) -> dspk::Result<ImportSummary> {
        self.calls.push(format!("import {} {force}", collection.devices.len()));
        Ok(ImportSummary { imported: 2, kept: 1, ..ImportSummary::default() })
    }

    fn clear(&mut self, runtimes: &[String]) -> dspk::Result<Cleared> {
        self.calls.push(format!("clear {runtimes:?}"));
        Ok(Cleared { files: 3, bytes: 4096, left: 1 })
    }
}

/// Runs the program with this result of tuning: exit code, stdout, stderr, the options it got.
fn program(
    arguments: &[&str],
    answer: dspk::Result<Vec<RuntimeSummary>>,
) -> (u8, String, String, Option<AutotuneOptions>) {
    let mut backend = Scripted::new(answer);
    let (code, out, err) = backend.run(arguments);
    (code, out, err, backend.options)
}

/// Runs an action that must not tune: exit code, stdout, stderr, what was asked.
fn action(arguments: &[&str]) -> (u8, String, String, Vec<String>) {
    let mut backend = Scripted::new(Ok(vec![]));
    let (code, out, err) = backend.run(arguments);
    assert!(backend.options.is_none(), "{arguments:?} tuned");
    (code, out, err, backend.calls)
}

#[test]
fn defaults() {
    let (code, out, err, options) = program(&[], Ok(vec![summary("cpu", &[])]));
    assert_eq!(code, OK);
    assert_eq!(options.unwrap(), AutotuneOptions::default());
    assert!(out.starts_with("runtime") && out.contains("4210") && out.contains("skipped: "), "{out}");
    assert_eq!(err, "waiting: another process is tuning cpu\n");
}

#[test]
fn every_argument_arrives() {
    let arguments = "--runtime cpu --runtime wgpu:0 --channels 3,5 --samples 100 --ops fir,sosfilt --budget 2m --force";
    let (_, _, _, options) = program(&arguments.split(' ').collect::<Vec<_>>(), Ok(vec![]));
    let expected = AutotuneOptions {
        runtimes: vec!["cpu".into(), "wgpu:0".into()],
        channels: vec![3, 5],
        samples: vec![100],
        operations: vec!["fir".into(), "sosfilt".into()],
        budget: Duration::from_secs(120),
        force: true,
    };
    assert_eq!(options.unwrap(), expected);
}

#[test]
fn json_is_keyed_by_runtime() {
    let (code, out, _, _) = program(&["--json"], Ok(vec![summary("cpu", &[]), summary("wgpu", &[])]));
    assert_eq!(code, OK);
    let value: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(value["cpu"]["sizes"], 16);
    assert_eq!(value["cpu"]["seconds"], 12.3);
    assert_eq!(value["wgpu"]["benchmark_launches"], 4210);
    assert!(value["cpu"].get("runtime").is_none());
    let (_, nothing, _, _) = program(&["--json"], Ok(vec![]));
    assert_eq!(nothing.trim(), "{}");
}

#[test]
fn quiet_prints_nothing() {
    let (code, out, err, _) = program(&["--quiet"], Ok(vec![summary("cpu", &[])]));
    assert_eq!((code, out.as_str(), err.as_str()), (OK, "", ""));
}

#[test]
fn a_failed_operation_is_one_line_and_exit_1() {
    let failed = vec![summary("cpu", &["fir 32 x 8192: no variant\nis right"])];
    let (code, _, err, _) = program(&["--quiet"], Ok(failed));
    assert_eq!(code, FAILED);
    assert_eq!(err, "error: cpu: fir 32 x 8192: no variant is right\n");
}

#[test]
fn a_failed_runtime_is_one_line_and_exit_1() {
    let error = Error::from(std::io::Error::other("no\ndevice"));
    let (code, out, err, _) = program(&["--quiet"], Err(error));
    assert_eq!((code, out.as_str(), err.as_str()), (FAILED, "", "error: no device\n"));
}

#[test]
fn wrong_usage_is_one_line_and_exit_2() {
    for arguments in [["--budget", "soon"], ["--channels", "many"], ["--nonsense", "1"], ["--budget", "-5"]] {
        let (code, out, err, options) = program(&arguments, Ok(vec![]));
        assert_eq!(code, USAGE, "{arguments:?}");
        assert!(options.is_none() && out.is_empty());
        assert_eq!(err.lines().count(), 1, "{err}");
        assert!(err.starts_with("error: "), "{err}");
    }
    let (code, out, _, _) = program(&["--help"], Ok(vec![]));
    assert_eq!(code, OK);
    assert!(out.contains("--budget"));
}

#[test]
fn budgets() {
    let budget = |text| parse_budget(text).map(|b| b.as_secs_f64());
    assert_eq!(budget("90"), Ok(90.0));
    assert_eq!(budget("90s"), Ok(90.0));
    assert_eq!(budget(" 1.5 m "), Ok(90.0));
    assert_eq!(budget("2h"), Ok(7200.0));
    for wrong in ["", "s", "5x", "0", "-1", "nan", "inf", "1e300", "5m5"] {
        assert!(budget(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn inconclusive_classes_are_a_column_where_there_are_any() {
    let (_, without, _, _) = program(&[], Ok(vec![summary("cpu", &[])]));
    assert!(!without.contains("inconclusive"), "{without}");
    let some = RuntimeSummary { inconclusive: 7, ..summary("wgpu", &[]) };
    let (_, with, _, _) = program(&[], Ok(vec![summary("cpu", &[]), some]));
    let lines: Vec<Vec<&str>> = with.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!((lines[0][5], lines[1][5], lines[2][5]), ("inconclusive", "0", "7"), "{with}");
    assert!(with.contains("inconclusive: no evidence"), "{with}");
}

#[test]
fn every_combination_is_explained_once_a_class() {
    let (code, out, err, calls) = action(&["--explain", "fir"]);
    assert_eq!((code, err.as_str()), (OK, ""));
    assert_eq!(calls, ["explain fir 384 60000 None"]);
    assert!(out.contains("uses      direct") && out.contains("because   "), "{out}");

    let arguments = "--explain fir --channels 1,200,300 --samples 5 --runtime cpu,wgpu --json";
    let (_, out, _, calls) = action(&arguments.split(' ').collect::<Vec<_>>());
    assert_eq!(calls.len(), 6);
    assert_eq!(calls[5], "explain fir 300 5 Some(\"wgpu\")");
    let value: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(value.as_array().unwrap().len(), 2);
    assert!(value[0]["reason"].as_str().unwrap().contains("has not been measured"), "{value}");
    assert_eq!(value[1]["class"], "c100");
}

#[test]
fn results_are_exported_and_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.json");
    let file = path.to_str().unwrap();
    let (code, _, err, _) = action(&["--export", file]);
    assert_eq!((code, err.as_str()), (FAILED, "error: no tuning results are stored here; run autotune first\n"));
    assert!(!path.exists());

    let facts = DeviceFacts { schema: 1, device: "card".into(), ..DeviceFacts::default() };
    let mut backend = Scripted::new(Ok(vec![]));
    backend.results = vec![DeviceResults { facts, entries: vec![] }];
    let (code, out, _) = backend.run(&["--export", file, "--runtime", "wgpu"]);
    assert_eq!((code, backend.calls.remove(0)), (OK, "results [\"wgpu\"]".to_string()));
    assert!(out.starts_with("0 results of card written to"), "{out}");
    assert_eq!(backend.run(&["--export", file, "--quiet"]).1, "");
    let (_, out, _) = backend.run(&["--export", file, "--json"]);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&out).unwrap()["devices"][0], "card");
    let (_, stream, _) = backend.run(&["--export", "-"]);
    assert_eq!(stream, std::fs::read_to_string(&path).unwrap());

    let (code, out, _, calls) = action(&["--import", file, "--force"]);
    assert_eq!((code, calls), (OK, vec!["import 1 true".to_string()]));
    assert!(out.contains("imported    2 results") && out.contains("kept        1 class"), "{out}");
    let (_, out, _, _) = action(&["--import", file, "--json"]);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&out).unwrap()["kept"], 1);
}

#[test]
fn a_file_that_holds_no_results_is_wrong_usage() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |name: &str, content: Option<&[u8]>| {
        let path = folder.path().join(name);
        content.inspect(|bytes| std::fs::write(&path, bytes).unwrap());
        let (code, out, err, calls) = action(&["--import", path.to_str().unwrap()]);
        assert_eq!((code, out.as_str()), (USAGE, ""), "{err}");
        assert!(calls.is_empty() && err.starts_with("error: ") && err.lines().count() == 1, "{err}");
        assert!(err.contains(name), "{err}");
        err
    };
    refused("absent", None);
    assert!(refused("text", Some(b"hello\nworld")).contains("these are no tuning results"));
    assert!(refused("bytes", Some(&[0xff, 0xfe, 0])).contains("these are no tuning results"));
    refused("folder/", None);
}

#[test]
fn clearing_says_what_went() {
    let (code, out, _, calls) = action(&["--clear", "--runtime", "cpu"]);
    assert_eq!((code, calls), (OK, vec!["clear [\"cpu\"]".to_string()]));
    assert_eq!(out, "removed     3 files, 4.1 kB\nleft alone  1: in use, or not written by dspk\n");
    let (_, out, _, _) = action(&["--clear", "--json"]);
    let value: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&value["files"], &value["bytes"], &value["left"]), (&3.into(), &4096.into(), &1.into()));
}

#[test]
fn actions_that_contradict_each_other_are_wrong_usage() {
    for arguments in [
        "--clear --explain fir",
        "--export a --import b",
        "--report a --clear",
        "--clear --force",
        "--explain fir --budget 5s",
        "--import a --ops fir",
        "--import a --runtime cpu",
        "--clear --channels 3",
        "--export a --samples 3",
    ] {
        let (code, out, err, calls) = action(&arguments.split(' ').collect::<Vec<_>>());
        assert_eq!((code, out.as_str(), calls.len()), (USAGE, "", 0), "{arguments}");
        assert!(err.starts_with("error: ") && err.lines().count() == 1, "{arguments}: {err}");
    }
}

#[test]
fn a_report_is_written_after_tuning() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.html");
    let (code, out, _, options) = program(&["--report", path.to_str().unwrap()], Ok(vec![summary("cpu", &[])]));
    assert_eq!((code, options), (OK, Some(AutotuneOptions::default())));
    assert!(out.ends_with(&format!("report: {}\n", path.display())), "{out}");
    assert!(std::fs::read_to_string(&path).unwrap().starts_with("<!DOCTYPE html>"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let (code, _, err, _) = program(&["--report", "absent/folder/report.html"], Ok(vec![]));
    assert_eq!(code, USAGE);
    assert!(err.contains("does not exist"), "{err}");
}
