//! Transforms and spectra beside their peers, as ratios in one run: `cargo bench --bench spectra [-- cpu|wgpu [LENGTH ...]]`.
//!
//! `cpu` (default) alternates each line with scipy, pyfftw, ducc0, torch and mkl_fft, whichever are installed in the Python
//! environment under `target/` (scipy always is), on two threads each with outputs reused. `wgpu` runs device-resident and
//! prints multiples of the copy kernel. Absolute times depend on the machine and its neighbours: quote the ratios.

use dspk::ops::spectral::{Fft, FftOptions, HilbertOptions, Stft, StftOptions, Welch, WelchOptions};
use dspk::signal::Signal;

mod common;

use common::{Peer, Result, median, noise, timed};

/// Samples of all rows together, as of 384 channels x 60000.
const TOTAL: usize = 384 * 60_000;
const LENGTHS: [usize; 6] = [1024, 4096, 60_000, 65_536, 131_072, 1_000_003];
const PEERS: [&str; 5] = ["scipy", "pyfftw", "ducc0", "torch", "mkl_fft"];
const ROUNDS: usize = 7;
/// Of the recording whose frames are transformed.
const CHANNELS: usize = 384;
const SAMPLES: usize = 60_000;
const FRAME: usize = 1024;

/// Alternates one line with its peers.
fn line(peer: &mut Peer, name: &str, n: usize, peers: &[&str], mut run: impl FnMut() -> Result<f64>) -> Result<()> {
    run()?;
    let mut theirs: Vec<(&str, Vec<f64>)> = Vec::new();
    for library in peers {
        if !peer.run(&format!("{name} {n} {library}"))?.is_nan() {
            theirs.push((library, Vec::new()));
        }
    }
    let mut ours = Vec::new();
    for _ in 0..ROUNDS {
        ours.push(run()?);
        for (library, times) in &mut theirs {
            times.push(peer.run(&format!("{name} {n} {library}"))?);
        }
    }
    let mut ratios: Vec<(f64, &str)> = theirs
        .iter()
        .map(|(library, times)| (median(times.iter().zip(&ours).map(|(t, o)| t / o).collect()), *library))
        .collect();
    ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
    let all: Vec<String> = ratios.iter().map(|(ratio, library)| format!("{library} {ratio:.2}x")).collect();
    println!("{name:<8} {n:>8} {:>9.2} ms   {}", median(ours) * 1e3, all.join("  "));
    Ok(())
}

fn cpu(lengths: &[usize]) -> Result<()> {
    let arguments = [TOTAL, CHANNELS, SAMPLES].map(|n| n.to_string());
    let mut peer = Peer::start("spectra_peers.py", &["numpy", "scipy"], &arguments)?;
    println!("peers: {}", peer.hello);
    println!("cpu, {} threads; how many times as long a peer takes, the best peer first", rayon::current_num_threads());
    let values = noise(TOTAL);
    for &n in lengths {
        let rows = (TOTAL / n).max(1);
        let x = Signal::from_slice(&values[..rows * n], rows, n)?;
        let plan = Fft::new(&FftOptions { n: Some(n), runtime: Some("cpu".into()), ..Default::default() })?;
        line(&mut peer, "rfft", n, &PEERS, || timed(|| plan.real_forward(&x).map(drop)))?;
    }
    awkward()?;
    let x = Signal::from_slice(&values[..CHANNELS * SAMPLES], CHANNELS, SAMPLES)?;
    let stft = Stft::new(&StftOptions { nperseg: Some(FRAME), ..Default::default() })?.on("cpu");
    line(&mut peer, "stft", FRAME, &["scipy", "torch"], || timed(|| stft.apply(&x).map(drop)))?;
    let welch = Welch::new(&WelchOptions { nperseg: Some(FRAME), ..Default::default() })?.on("cpu");
    line(&mut peer, "welch", FRAME, &["scipy"], || timed(|| welch.apply(&x).map(drop)))?;
    let hilbert = HilbertOptions { runtime: Some("cpu".into()) };
    line(&mut peer, "hilbert", SAMPLES, &["scipy"], || timed(|| dspk::ops::spectral::hilbert(&x, &hilbert).map(drop)))
}

/// A length with a large prime factor beside one without.
fn awkward() -> Result<()> {
    let rows = 64;
    let plan = Fft::new(&FftOptions { runtime: Some("cpu".into()), ..Default::default() })?;
    let x = [49_999, 50_000].map(|n| Signal::from_slice(&noise(rows * n), rows, n));
    let [prime, smooth] = x;
    let (prime, smooth) = (prime?, smooth?);
    let mut ratios = Vec::new();
    for _ in 0..=ROUNDS {
        let times = [&prime, &smooth].map(|x| timed(|| plan.real_forward(x).map(drop)));
        let [prime, smooth] = times;
        ratios.push(prime? / smooth?);
    }
    // The first round makes the plans.
    println!("rfft of 49,999 points takes {:.1} times as long as one of 50,000", median(ratios.split_off(1)));
    Ok(())
}

#[cfg(feature = "gpu")]
fn gpu(runtime: &str, lengths: &[usize]) -> Result<()> {
    use dspk::runtime::DeviceArray;
    let gpu = dspk::runtime::device(runtime)?;
    let values = noise(TOTAL);
    println!("{}, device-resident, multiples of a copy of the same array", gpu.facts().name);
    for &n in lengths {
        let rows = (TOTAL / n).max(1);
        let x = Signal::from_slice(&values[..rows * n], rows, n)?;
        let x = DeviceArray::upload(&gpu, (&x).into())?;
        let plan = Fft::new(&FftOptions { n: Some(n), ..Default::default() })?;
        multiple(&gpu, &x, &format!("rfft {n}"), || plan.real_forward_device(&x))?;
    }
    // Fewer channels, since the spectra of all frames have to fit one binding.
    let x = Signal::from_slice(&values[..CHANNELS / 4 * SAMPLES], CHANNELS / 4, SAMPLES)?;
    let x = DeviceArray::upload(&gpu, (&x).into())?;
    let stft = Stft::new(&StftOptions { nperseg: Some(FRAME), ..Default::default() })?;
    multiple(&gpu, &x, "stft", || stft.apply_device(&x))?;
    let welch = Welch::new(&WelchOptions { nperseg: Some(FRAME), ..Default::default() })?;
    multiple(&gpu, &x, "welch", || welch.apply_device(&x))
}

/// One line: an operation as a multiple of a copy of its input.
#[cfg(feature = "gpu")]
fn multiple(
    gpu: &std::sync::Arc<dyn dspk::runtime::gpu::Gpu>,
    x: &dspk::runtime::DeviceArray,
    name: &str,
    run: impl Fn() -> dspk::Result<dspk::runtime::DeviceArray>,
) -> Result<()> {
    let copy = common::copy_command(gpu, x)?;
    let run = || {
        timed(|| {
            let y = run()?;
            gpu.wait()?;
            drop(y);
            Ok(())
        })
    };
    let copied = || {
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
    println!("{name:<13} {:>9.2} ms  {ratio:>6.2}x", median(ours) * 1e3);
    Ok(())
}

#[cfg(not(feature = "gpu"))]
fn gpu(runtime: &str, _: &[usize]) -> Result<()> {
    Err(format!("this build has no GPU runtime, so no '{runtime}'").into())
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let lengths: Vec<usize> = args.iter().skip(1).map(|a| a.parse()).collect::<std::result::Result<_, _>>()?;
    let lengths = if lengths.is_empty() { &LENGTHS[..] } else { &lengths };
    match args.first().map(String::as_str) {
        None | Some("cpu") => cpu(lengths),
        Some(runtime) => gpu(runtime, lengths),
    }
}
