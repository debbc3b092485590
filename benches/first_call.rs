//! What the tuner costs a process that finds its results stored: `cargo bench --bench first_call [-- RUNTIME...]`.
//!
//! Each operation is tuned once into an empty cache ("cold": what a first meeting takes in all). Then fresh processes, in turn with the tuner off and with stored
//! results, time their first call, from before the runtime is resolved, and count benchmark launches. The difference of
//! the medians is what a warm tuner adds (reading one small file, and the winner's compilation in place of the default's).

use std::error::Error;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use dspk::design::{Band, butter};
use dspk::ops::convert::{ConvertOptions, Scale, convert};
use dspk::ops::filter::{lfilter, sosfilt};
use dspk::ops::spatial::{CommonReferenceOptions, common_reference};
use dspk::signal::View;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const JOB: &str = "DSPK_BENCH_FIRST_CALL";
const OPERATIONS: [&str; 4] = ["convert", "sosfilt", "lfilter", "common_reference"];
const ROUNDS: usize = 9;
const SIZE: (usize, usize) = (64, 30_000);

fn main() -> Result<()> {
    if let Ok(operation) = std::env::var(JOB) {
        return child(&operation);
    }
    let mut runtimes: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    if runtimes.is_empty() {
        runtimes = vec!["cpu".into(), "wgpu".into()];
    }
    println!("first call on {} x {} in a fresh process, medians of {ROUNDS}", SIZE.0, SIZE.1);
    println!(
        "{:<8} {:<18} {:>9} {:>9} {:>9} {:>10} {:>9}",
        "runtime", "operation", "cold ms", "off ms", "warm ms", "added ms", "launches"
    );
    for runtime in &runtimes {
        for operation in OPERATIONS {
            let cache = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/first-call");
            let _ = std::fs::remove_dir_all(&cache);
            let cold = match start(operation, runtime, "on-miss", &cache) {
                Ok((seconds, _)) => 1e3 * seconds,
                Err(e) => {
                    println!("{runtime:<8} {operation:<18} {e}");
                    continue;
                }
            };
            let (mut off, mut warm, mut launches) = (vec![], vec![], 0);
            for _ in 0..ROUNDS {
                off.push(start(operation, runtime, "off", &cache)?.0);
                let (seconds, measured) = start(operation, runtime, "on-miss", &cache)?;
                warm.push(seconds);
                launches += measured;
            }
            let (off, warm) = (1e3 * median(off), 1e3 * median(warm));
            let added = warm - off;
            println!("{runtime:<8} {operation:<18} {cold:>9.1} {off:>9.1} {warm:>9.1} {added:>10.1} {launches:>9}");
        }
    }
    Ok(())
}

fn median(mut v: Vec<f64>) -> f64 {
    v.sort_by(f64::total_cmp);
    v[v.len() / 2]
}

/// Seconds of the first call and benchmark launches of a fresh process.
fn start(operation: &str, runtime: &str, policy: &str, cache: &Path) -> Result<(f64, u64)> {
    let output = Command::new(std::env::current_exe()?)
        .env(JOB, operation)
        .env("DSPK_RUNTIME", runtime)
        .env("DSPK_AUTOTUNE", policy)
        .env("DSPK_CACHE_DIR", cache)
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).lines().last().unwrap_or("failed").into());
    }
    let text = String::from_utf8(output.stdout)?;
    let (seconds, launches) = text.trim().split_once(' ').ok_or("no reading")?;
    Ok((seconds.parse()?, launches.parse()?))
}

fn child(operation: &str) -> Result<()> {
    let (channels, samples) = SIZE;
    let x: Vec<f32> = (0..channels * samples).map(|i| ((i * 7919) % 1000) as f32 - 500.0).collect();
    let raw: Vec<i16> = x.iter().map(|v| *v as i16).collect();
    let planar = View::new(&x, channels, samples)?;
    let start = Instant::now();
    match operation {
        "convert" => {
            convert(
                View::interleaved(&raw, channels)?,
                &ConvertOptions { gain: Scale::One(0.195), ..Default::default() },
            )?;
        }
        "sosfilt" => {
            sosfilt(&butter(5, Band::Pass(300.0, 6000.0), 30_000.0)?, planar)?;
        }
        "lfilter" => {
            lfilter(&[1.0 / 64.0; 64], planar)?;
        }
        _ => {
            common_reference(planar, &CommonReferenceOptions::default())?;
        }
    }
    println!("{} {}", start.elapsed().as_secs_f64(), dspk::tune::benchmark_launches());
    Ok(())
}
