//! dspk beside its peers, as ratios in one run: `cargo bench --bench compare [-- cpu|wgpu [CHANNELS SAMPLES [NAME]]]`; a
//! `NAME` chooses the rows whose names contain it.
//!
//! `cpu` (default) alternates each operation with scipy, numpy or bottleneck, both on two threads with outputs reused; the Python
//! environment is made under `target/` on first use. `wgpu` runs device-resident and prints multiples of the copy kernel.
//! Absolute times depend on the machine and its neighbours: quote the ratios.

use std::rc::Rc;

use dspk::design::{Band, butter};
use dspk::ops::convert::{Convert, ConvertOptions, Scale};
use dspk::ops::filter::{Edge, FirFilter, MedianFilter, SosFiltFilt, SosFilter};
use dspk::ops::resample::{Decimate, DecimateOptions, ResamplePoly, ResamplePolyOptions};
use dspk::ops::spatial::{CommonReference, CommonReferenceOptions, Operator};
#[cfg(feature = "gpu")]
use dspk::runtime::DeviceArray;
use dspk::signal::{Buffer, Signal, View, ViewMut};

mod common;

use common::{Peer, Result, median, noise, timed};

const ROUNDS: usize = 9;

/// Taps of the FIR filters.
const TAPS: [usize; 4] = [31, 63, 255, 1025];
/// Widths of running medians.
const WIDTHS: [usize; 2] = [9, 31];

/// What operations read: samples in rows, and raw integers as an amplifier gives them.
struct Inputs<'a> {
    x: View<'a, f32>,
    raw: View<'a, i16>,
}

/// The same on a device.
#[cfg(feature = "gpu")]
struct Arrays {
    x: DeviceArray,
    raw: DeviceArray,
}

type OnHost = dyn Fn(&Inputs<'_>, ViewMut<'_>) -> dspk::Result<()>;
#[cfg(feature = "gpu")]
type OnDevice = dyn Fn(&Arrays) -> dspk::Result<DeviceArray>;

/// An operation, with the name that its peer has.
struct Row {
    name: String,
    /// Samples of the input for one of the result.
    every: usize,
    host: Box<OnHost>,
    #[cfg(feature = "gpu")]
    device: Box<OnDevice>,
}

/// A row for a plan and the input that it reads.
macro_rules! row {
    ($name:expr, $input:ident, $plan:expr) => {
        row!($name, $input, $plan, 1)
    };
    ($name:expr, $input:ident, $plan:expr, $every:expr) => {{
        let plan = Rc::new($plan);
        #[cfg(feature = "gpu")]
        let on_device = plan.clone();
        Row {
            name: $name.into(),
            every: $every,
            host: Box::new(move |inputs, y| plan.apply_into(inputs.$input, y)),
            #[cfg(feature = "gpu")]
            device: Box::new(move |arrays| on_device.apply_device(&arrays.$input)),
        }
    }};
}

fn rows(runtime: &str) -> Result<Vec<Row>> {
    let named = || Some(runtime.to_string());
    let reference =
        |operator| CommonReference::new(&CommonReferenceOptions { operator, runtime: named(), ..Default::default() });
    let sos = butter(5, Band::Pass(300.0, 6000.0), 30_000.0)?;
    let sosfilt = SosFilter::new(&sos)?.on(runtime);
    let gain = ConvertOptions { gain: Scale::One(0.195), runtime: named(), ..Default::default() };
    let mut rows = vec![
        row!("sosfilt_f64", x, sosfilt.clone()),
        row!("sosfilt_f32", x, sosfilt),
        row!("sosfiltfilt_f64", x, SosFiltFilt::new(&sos)?.on(runtime)),
        row!("median_reference", x, reference(Operator::Median)?),
        row!("mean_reference", x, reference(Operator::Mean)?),
        row!("convert_i16", raw, Convert::new(&gain)?),
        row!("resample_poly_1_3", x, ResamplePoly::new(1, 3, &ResamplePolyOptions::default())?.on(runtime), 3),
        row!("decimate_4", x, Decimate::new(4, &DecimateOptions::default())?.on(runtime), 4),
    ];
    for count in TAPS {
        // Any taps cost the same.
        let taps: Vec<f64> = (0..count).map(|k| (0.2 * k as f64).sin() / count as f64).collect();
        rows.push(row!(format!("fir{count}"), x, FirFilter::new(&taps)?.on(runtime)));
    }
    for width in WIDTHS {
        rows.push(row!(format!("median{width}"), x, MedianFilter::new(width, Edge::Nearest)?.on(runtime)));
    }
    Ok(rows)
}

fn cpu(channels: usize, samples: usize, only: &str) -> Result<()> {
    let x = Signal::from_slice(&noise(channels * samples), channels, samples)?;
    // Large pages, as numpy's arrays have them.
    let mut raw = Buffer::<i16>::dirty(channels * samples)?;
    raw.iter_mut().zip(noise(channels * samples)).for_each(|(raw, v)| *raw = (v * 1000.0) as i16);
    let inputs = Inputs { x: x.view(), raw: View::interleaved(&raw, channels)? };
    let packages = ["numpy", "scipy", "bottleneck"];
    let mut peer = Peer::start("peers.py", &packages, &[channels.to_string(), samples.to_string()])?;
    println!("peers: numpy, scipy, bottleneck {}", peer.hello);
    println!("cpu, {channels} x {samples}, {} threads", rayon::current_num_threads());
    println!(
        "{:<18} {:>9} {:>9} {:>9} {:>12} {:>12}",
        "operation", "peer ms", "dspk ms", "copy ms", "peer/dspk", "dspk/copy"
    );
    for row in rows("cpu")?.iter().filter(|row| row.name.contains(only)) {
        let name = &row.name;
        let mut y = Signal::zeros(channels, samples.div_ceil(row.every))?;
        let mut run = || timed(|| (row.host)(&inputs, y.view_mut()));
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
fn gpu(runtime: &str, channels: usize, samples: usize, only: &str) -> Result<()> {
    let gpu = dspk::runtime::device(runtime)?;
    let raw: Vec<i16> = noise(channels * samples).iter().map(|v| (v * 1000.0) as i16).collect();
    let arrays = Arrays {
        x: DeviceArray::upload(&gpu, View::new(&noise(channels * samples), channels, samples)?.into())?,
        raw: DeviceArray::upload(&gpu, View::interleaved(&raw, channels)?.into())?,
    };
    let copy = common::copy_command(&gpu, &arrays.x)?;
    println!("{}, {channels} x {samples}, device-resident", gpu.facts().name);
    println!("{:<18} {:>9} {:>9} {:>12}", "operation", "dspk ms", "copy ms", "dspk/copy");
    // The float64 peer's rows stand for both.
    let own = |row: &&Row| row.name.contains(only) && !row.name.ends_with("_f32");
    for row in rows(runtime)?.iter().filter(own) {
        let run = || {
            timed(|| {
                let y = (row.device)(&arrays)?;
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
        let name = row.name.trim_end_matches("_f64");
        println!("{name:<18} {:>9.2} {:>9.2} {ratio:>11.2}x", median(ours) * 1e3, median(base) * 1e3);
    }
    Ok(())
}

#[cfg(not(feature = "gpu"))]
fn gpu(runtime: &str, _: usize, _: usize, _: &str) -> Result<()> {
    Err(format!("this build has no GPU runtime, so no '{runtime}'").into())
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let size = |i: usize, default| args.get(i).map_or(Ok(default), |a| a.parse::<usize>());
    let (channels, samples) = (size(1, 384)?, size(2, 60_000)?);
    let only = args.get(3).map_or("", String::as_str);
    match args.first().map(String::as_str) {
        None | Some("cpu") => cpu(channels, samples, only),
        Some(runtime) => gpu(runtime, channels, samples, only),
    }
}
