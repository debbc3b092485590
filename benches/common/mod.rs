//! What the benches share: a peer in Python that answers with its times, medians, and noise.

use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

pub type Result<T> = std::result::Result<T, Box<dyn Error>>;

pub struct Peer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// What it said of itself.
    pub hello: String,
}

impl Peer {
    /// Starts a script of this folder, in an environment with these packages.
    pub fn start(script: &str, packages: &[&str], arguments: &[String]) -> Result<Peer> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let python = environment(&root.join("target/bench-venv"), packages)?;
        let mut child = Command::new(python)
            .arg(root.join("benches").join(script))
            .args(arguments)
            .envs([("OMP_NUM_THREADS", "1"), ("OPENBLAS_NUM_THREADS", "1")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take().ok_or("no stdin")?;
        let mut output = BufReader::new(child.stdout.take().ok_or("no stdout")?);
        let mut hello = String::new();
        output.read_line(&mut hello)?;
        let hello = hello.trim().strip_prefix("ready ").ok_or("the peers did not start")?.to_string();
        Ok(Peer { child, input, output, hello })
    }

    /// Seconds of one run.
    pub fn run(&mut self, name: &str) -> Result<f64> {
        writeln!(self.input, "{name}")?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(line.trim().parse()?)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn environment(folder: &Path, packages: &[&str]) -> Result<PathBuf> {
    let python = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let imports = format!("import {}", packages.join(", "));
    let check = |p: &Path| Command::new(p).args(["-c", &imports]).status().is_ok_and(|s| s.success());
    if !check(&python) {
        eprintln!("making the Python environment {}", folder.display());
        let made = Command::new("python3").arg("-m").arg("venv").arg(folder).status()?.success()
            && Command::new(&python).args(["-m", "pip", "install", "-q"]).args(packages).status()?.success();
        if !made {
            return Err("the Python environment could not be made; is python3-venv installed?".into());
        }
    }
    Ok(python)
}

pub fn median(mut v: Vec<f64>) -> f64 {
    v.sort_by(f64::total_cmp);
    v[v.len() / 2]
}

/// Seconds of one run.
pub fn timed(f: impl FnOnce() -> dspk::Result<()>) -> Result<f64> {
    let start = Instant::now();
    f()?;
    Ok(start.elapsed().as_secs_f64())
}

pub fn noise(len: usize) -> Vec<f32> {
    let mut s = 1u32;
    let mut next = || {
        s = s.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (s >> 8) as f32 / 8_388_608.0 - 1.0
    };
    (0..len).map(|_| next() + next() + next()).collect()
}

/// The yardstick: a plain copy of the array.
#[cfg(feature = "gpu")]
pub fn copy_command(
    gpu: &std::sync::Arc<dyn dspk::runtime::gpu::Gpu>,
    x: &dspk::runtime::DeviceArray,
) -> Result<dspk::runtime::gpu::Command> {
    use dspk::kernel::{Settings, compose, source};
    let kernel = compose(source("device/copy")?, &Settings::new(), &Settings::new())?;
    let [segment] = x.segments() else { return Err("the yardstick copies one segment; use a smaller array".into()) };
    let y = gpu.allocate(segment.buffer.bytes)?;
    let count = (segment.buffer.bytes / 16) as u32;
    let arguments: Vec<u8> = [count, 0, 0, 0].iter().flat_map(|v| v.to_le_bytes()).collect();
    let bindings = vec![(&gpu.constant(&arguments)?).into(), (&segment.buffer).into(), (&y).into()];
    Ok(dspk::runtime::gpu::Command::Launch { kernel, bindings, groups: u64::from(count).div_ceil(256) })
}
