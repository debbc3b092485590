//! dspk beside its peers, as ratios in one run: `cargo bench --bench compare [-- cpu|wgpu [CHANNELS SAMPLES]]`.
//!
//! `cpu` (default) alternates each operation with scipy or numpy, both on two threads with outputs reused; the Python
//! environment is made under `target/` on first use. `wgpu` runs device-resident and prints multiples of the copy kernel.
//! Absolute times depend on the machine and its neighbours: quote the ratios.

use dspk::design::{Band, butter};
use dspk::ops::convert::{Convert, ConvertOptions, Scale};
use dspk::ops::filter::{FirFilter, SosFiltFilt, SosFilter};
use dspk::ops::resample::{Decimate, DecimateOptions, ResamplePoly, ResamplePolyOptions};
use dspk::ops::spatial::{CommonReference, CommonReferenceOptions, Operator};
use dspk::signal::{Buffer, Signal, View};

mod common;

use common::{Peer, Result, median, noise, timed};

const ROUNDS: usize = 9;

/// Taps of the FIR filters.
const TAPS: [usize; 4] = [31, 63, 255, 1025];

struct Jobs {
    sosfilt: SosFilter,
    sosfiltfilt: SosFiltFilt,
    fir: Vec<FirFilter>,
    median: CommonReference,
    mean: CommonReference,
    convert: Convert,
    third: ResamplePoly,
    decimate: Decimate,
}

impl Jobs {
    fn new(runtime: &str) -> Result<Jobs> {
        let reference = |operator| {
            let runtime = Some(runtime.to_string());
            CommonReference::new(&CommonReferenceOptions { operator, runtime, ..Default::default() })
        };
        let sos = butter(5, Band::Pass(300.0, 6000.0), 30_000.0)?;
        // Any taps cost the same.
        let taps = |count: usize| (0..count).map(|k| (0.2 * k as f64).sin() / count as f64).collect::<Vec<_>>();
        Ok(Jobs {
            sosfilt: SosFilter::new(&sos)?.on(runtime),
            sosfiltfilt: SosFiltFilt::new(&sos)?.on(runtime),
            fir: TAPS.iter().map(|n| Ok(FirFilter::new(&taps(*n))?.on(runtime))).collect::<Result<_>>()?,
            median: reference(Operator::Median)?,
            mean: reference(Operator::Mean)?,
            convert: Convert::new(&ConvertOptions {
                gain: Scale::One(0.195),
                runtime: Some(runtime.to_string()),
                ..Default::default()
            })?,
            third: ResamplePoly::new(1, 3, &ResamplePolyOptions::default())?.on(runtime),
            decimate: Decimate::new(4, &DecimateOptions::default())?.on(runtime),
        })
    }
}

fn cpu(channels: usize, samples: usize) -> Result<()> {
    let jobs = Jobs::new("cpu")?;
    let x = Signal::from_slice(&noise(channels * samples), channels, samples)?;
    // Large pages, as numpy's arrays have them.
    let mut raw = Buffer::<i16>::dirty(channels * samples)?;
    raw.iter_mut().zip(noise(channels * samples)).for_each(|(raw, v)| *raw = (v * 1000.0) as i16);
    let raw = View::interleaved(&raw, channels)?;
    let mut y = Signal::zeros(channels, samples)?;
    let mut peer = Peer::start("peers.py", &["numpy", "scipy"], &[channels.to_string(), samples.to_string()])?;
    println!("peers: numpy, scipy {}", peer.hello);
    println!("cpu, {channels} x {samples}, {} threads", rayon::current_num_threads());
    println!(
        "{:<18} {:>9} {:>9} {:>9} {:>12} {:>12}",
        "operation", "peer ms", "dspk ms", "copy ms", "peer/dspk", "dspk/copy"
    );
    let firs = TAPS.map(|n| format!("fir{n}"));
    let mut third = Signal::zeros(channels, samples.div_ceil(3))?;
    let mut quarter = Signal::zeros(channels, samples.div_ceil(4))?;
    let fixed = [
        "sosfilt_f64",
        "sosfilt_f32",
        "sosfiltfilt_f64",
        "median_reference",
        "mean_reference",
        "convert_i16",
        "resample_poly_1_3",
        "decimate_4",
    ];
    for name in fixed.into_iter().chain(firs.iter().map(String::as_str)) {
        let mut run = || -> Result<f64> {
            match name {
                "sosfilt_f64" | "sosfilt_f32" => timed(|| jobs.sosfilt.apply_into(&x, y.view_mut())),
                "sosfiltfilt_f64" => timed(|| jobs.sosfiltfilt.apply_into(&x, y.view_mut())),
                name if name.starts_with("fir") => {
                    let fir = firs.iter().position(|f| f == name).map(|i| &jobs.fir[i]).ok_or("no such filter")?;
                    timed(|| fir.apply_into(&x, y.view_mut()))
                }
                "median_reference" => timed(|| jobs.median.apply_into(&x, y.view_mut())),
                "mean_reference" => timed(|| jobs.mean.apply_into(&x, y.view_mut())),
                "resample_poly_1_3" => timed(|| jobs.third.apply_into(&x, third.view_mut())),
                "decimate_4" => timed(|| jobs.decimate.apply_into(&x, quarter.view_mut())),
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

#[cfg(feature = "gpu")]
fn gpu(runtime: &str, channels: usize, samples: usize) -> Result<()> {
    use dspk::runtime::DeviceArray;
    let gpu = dspk::runtime::device(runtime)?;
    let jobs = Jobs::new(runtime)?;
    let x = DeviceArray::upload(&gpu, View::new(&noise(channels * samples), channels, samples)?.into())?;
    let raw: Vec<i16> = noise(channels * samples).iter().map(|v| (v * 1000.0) as i16).collect();
    let raw = DeviceArray::upload(&gpu, View::interleaved(&raw, channels)?.into())?;
    let copy = common::copy_command(&gpu, &x)?;
    println!("{}, {channels} x {samples}, device-resident", gpu.facts().name);
    println!("{:<18} {:>9} {:>9} {:>12}", "operation", "dspk ms", "copy ms", "dspk/copy");
    let firs = TAPS.map(|n| format!("fir{n}"));
    let fixed = [
        "sosfilt",
        "sosfiltfilt",
        "median_reference",
        "mean_reference",
        "convert_i16",
        "resample_poly_1_3",
        "decimate_4",
    ];
    for name in fixed.into_iter().chain(firs.iter().map(String::as_str)) {
        let run = || -> Result<f64> {
            timed(|| {
                let y = match name {
                    "sosfilt" => jobs.sosfilt.apply_device(&x),
                    "sosfiltfilt" => jobs.sosfiltfilt.apply_device(&x),
                    "median_reference" => jobs.median.apply_device(&x),
                    "mean_reference" => jobs.mean.apply_device(&x),
                    "convert_i16" => jobs.convert.apply_device(&raw),
                    "resample_poly_1_3" => jobs.third.apply_device(&x),
                    "decimate_4" => jobs.decimate.apply_device(&x),
                    name => jobs.fir[firs.iter().position(|f| f == name).unwrap_or(0)].apply_device(&x),
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
