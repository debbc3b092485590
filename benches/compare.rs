//! dspk beside its peers, as ratios in one run: `cargo bench --bench compare [-- cpu|wgpu [CHANNELS SAMPLES]]`.
//!
//! `cpu` (default) alternates each operation with scipy or numpy, both on two threads with outputs reused; the Python
//! environment is made under `target/` on first use. `wgpu` runs device-resident and prints multiples of the copy kernel.
//! Absolute times depend on the machine and its neighbours: quote the ratios.

use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use dspk::design::{Band, butter};
use dspk::ops::convert::{Convert, ConvertOptions, Scale};
use dspk::ops::filter::{FirFilter, SosFilter};
use dspk::ops::spatial::{CommonReference, CommonReferenceOptions, Operator};
use dspk::signal::{Buffer, Signal, View};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const ROUNDS: usize = 9;

struct Peer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Peer {
    fn start(channels: usize, samples: usize) -> Result<Peer> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let python = environment(&root.join("target/bench-venv"))?;
        let mut child = Command::new(python)
            .arg(root.join("benches/peers.py"))
            .args([channels.to_string(), samples.to_string()])
            .envs([("OMP_NUM_THREADS", "1"), ("OPENBLAS_NUM_THREADS", "1")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take().ok_or("no stdin")?;
        let mut output = BufReader::new(child.stdout.take().ok_or("no stdout")?);
        let mut hello = String::new();
        output.read_line(&mut hello)?;
        println!("peers: numpy, scipy {}", hello.trim().trim_start_matches("ready "));
        Ok(Peer { child, input, output })
    }

    fn run(&mut self, name: &str) -> Result<f64> {
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

fn environment(folder: &Path) -> Result<PathBuf> {
    let python = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let check = |p: &Path| Command::new(p).args(["-c", "import numpy, scipy"]).status().is_ok_and(|s| s.success());
    if !check(&python) {
        eprintln!("making the Python environment {}", folder.display());
        let made = Command::new("python3").arg("-m").arg("venv").arg(folder).status()?.success()
            && Command::new(&python).args(["-m", "pip", "install", "-q", "numpy", "scipy"]).status()?.success();
        if !made {
            return Err("the Python environment could not be made; is python3-venv installed?".into());
        }
    }
    Ok(python)
}

fn median(mut v: Vec<f64>) -> f64 {
    v.sort_by(f64::total_cmp);
    v[v.len() / 2]
}

fn timed(f: impl FnOnce() -> dspk::Result<()>) -> Result<f64> {
    let start = Instant::now();
    f()?;
    Ok(start.elapsed().as_secs_f64())
}

struct Jobs {
    sosfilt: SosFilter,
    fir: FirFilter,
    median: CommonReference,
    mean: CommonReference,
    convert: Convert,
}

impl Jobs {
    fn new(runtime: &str) -> Result<Jobs> {
        let reference = |operator| {
            let runtime = Some(runtime.to_string());
            CommonReference::new(&CommonReferenceOptions { operator, runtime, ..Default::default() })
        };
        // Any 63 taps cost the same.
        let taps: Vec<f64> = (0..63).map(|k| (0.2 * f64::from(k)).sin() / 63.0).collect();
        Ok(Jobs {
            sosfilt: SosFilter::new(&butter(5, Band::Pass(300.0, 6000.0), 30_000.0)?)?.on(runtime),
            fir: FirFilter::new(&taps)?.on(runtime),
            median: reference(Operator::Median)?,
            mean: reference(Operator::Mean)?,
            convert: Convert::new(&ConvertOptions {
                gain: Scale::One(0.195),
                runtime: Some(runtime.to_string()),
                ..Default::default()
            })?,
        })
    }
}

fn noise(len: usize) -> Vec<f32> {
    let mut s = 1u32;
    let mut next = || {
        s = s.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (s >> 8) as f32 / 8_388_608.0 - 1.0
    };
    (0..len).map(|_| (next() + next() + next()) * 1.0).collect()
}

fn cpu(channels: usize, samples: usize) -> Result<()> {
    let jobs = Jobs::new("cpu")?;
    let x = Signal::from_slice(&noise(channels * samples), channels, samples)?;
    // Large pages, as numpy's arrays have them.
    let mut raw = Buffer::<i16>::dirty(channels * samples)?;
    raw.iter_mut().zip(noise(channels * samples)).for_each(|(raw, v)| *raw = (v * 1000.0) as i16);
    let raw = View::interleaved(&raw, channels)?;
    let mut y = Signal::zeros(channels, samples)?;
    let mut peer = Peer::start(channels, samples)?;
    println!("cpu, {channels} x {samples}, {} threads", rayon::current_num_threads());
    println!(
        "{:<18} {:>9} {:>9} {:>9} {:>12} {:>12}",
        "operation", "peer ms", "dspk ms", "copy ms", "peer/dspk", "dspk/copy"
    );
    for name in ["sosfilt_f64", "sosfilt_f32", "fir63", "median_reference", "mean_reference", "convert_i16"] {
        let mut run = || -> Result<f64> {
            match name {
                "sosfilt_f64" | "sosfilt_f32" => timed(|| jobs.sosfilt.apply_into(&x, y.view_mut())),
                "fir63" => timed(|| jobs.fir.apply_into(&x, y.view_mut())),
                "median_reference" => timed(|| jobs.median.apply_into(&x, y.view_mut())),
                "mean_reference" => timed(|| jobs.mean.apply_into(&x, y.view_mut())),
                _ => timed(|| jobs.convert.apply_into(raw, y.view_mut())),
            }
        };
        run()?;
        peer.run(name)?;
        let (mut ours, mut theirs, mut copy) = (vec![], vec![], vec![]);
        for _ in 0..ROUNDS {
            theirs.push(peer.run(name)?);
            ours.push(run()?);
            copy.push(peer.run("copy")?);
        }
        let ratio = median(theirs.iter().zip(&ours).map(|(t, o)| t / o).collect());
        let to_copy = median(ours.iter().zip(&copy).map(|(o, c)| o / c).collect());
        let ms = |v: Vec<f64>| median(v) * 1e3;
        println!("{name:<18} {:>9.2} {:>9.2} {:>9.2} {ratio:>11.1}x {to_copy:>11.2}x", ms(theirs), ms(ours), ms(copy));
    }
    Ok(())
}

/// The yardstick: a plain copy of the array.
#[cfg(feature = "gpu")]
fn copy_command(
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

#[cfg(feature = "gpu")]
fn gpu(runtime: &str, channels: usize, samples: usize) -> Result<()> {
    use dspk::runtime::DeviceArray;
    let gpu = dspk::runtime::device(runtime)?;
    let jobs = Jobs::new(runtime)?;
    let x = DeviceArray::upload(&gpu, View::new(&noise(channels * samples), channels, samples)?.into())?;
    let raw: Vec<i16> = noise(channels * samples).iter().map(|v| (v * 1000.0) as i16).collect();
    let raw = DeviceArray::upload(&gpu, View::interleaved(&raw, channels)?.into())?;
    let copy = copy_command(&gpu, &x)?;
    println!("{}, {channels} x {samples}, device-resident", gpu.facts().name);
    println!("{:<18} {:>9} {:>9} {:>12}", "operation", "dspk ms", "copy ms", "dspk/copy");
    for name in ["sosfilt", "fir63", "median_reference", "mean_reference", "convert_i16"] {
        let run = || -> Result<f64> {
            timed(|| {
                let y = match name {
                    "sosfilt" => jobs.sosfilt.apply_device(&x),
                    "fir63" => jobs.fir.apply_device(&x),
                    "median_reference" => jobs.median.apply_device(&x),
                    "mean_reference" => jobs.mean.apply_device(&x),
                    _ => jobs.convert.apply_device(&raw),
                }?;
                gpu.wait()?;
                drop(y);
                Ok(())
            })
        };
        let copied = || -> Result<f64> {
            timed(|| {
                gpu.submit(std::slice::from_ref(&copy))?;
                gpu.wait()
            })
        };
        run()?;
        copied()?;
        let (mut ours, mut base) = (vec![], vec![]);
        for _ in 0..ROUNDS {
            ours.push(run()?);
            base.push(copied()?);
        }
        let ratio = median(ours.iter().zip(&base).map(|(o, b)| o / b).collect());
        println!("{name:<18} {:>9.2} {:>9.2} {ratio:>11.2}x", median(ours) * 1e3, median(base) * 1e3);
    }
    Ok(())
}

#[cfg(not(feature = "gpu"))]
fn gpu(runtime: &str, _: usize, _: usize) -> Result<()> {
    Err(format!("this build has no GPU runtime, so no '{runtime}'").into())
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let size = |i: usize, default| args.get(i).map_or(Ok(default), |a| a.parse::<usize>());
    let (channels, samples) = (size(1, 384)?, size(2, 60_000)?);
    match args.first().map(String::as_str) {
        None | Some("cpu") => cpu(channels, samples),
        Some(runtime) => gpu(runtime, channels, samples),
    }
}
