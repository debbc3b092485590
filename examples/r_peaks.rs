//! Heart beats of a real 12-lead ECG: zero-phase band-pass, R-peaks of every lead, heart rate, and a picture.
//!
//! ```text
//! cargo run --release --example r_peaks [FOLDER]
//! ```
//!
//! Writes `r_peaks.png` to FOLDER (default `target/r_peaks`). Where it runs is dspk's choice; `DSPK_RUNTIME` overrides it.

use std::error::Error;
use std::path::{Path, PathBuf};

use dspk::design::{Band, butter};
use dspk::ops::convert::{ConvertOptions, Scale, convert};
use dspk::ops::detect::{Interval, PeakOptions, Peaks, find_peaks};
use dspk::ops::filter::sosfiltfilt;
use dspk::signal::{Signal, View};
use plotters::prelude::*;

mod common;

use common::{recording, register_font};

/// The recording.
const RECORDING: &str = "ecg_12ch_1000hz.i16";
const LEADS: [&str; 12] = ["I", "II", "III", "aVR", "aVL", "aVF", "V1", "V2", "V3", "V4", "V5", "V6"];
const RATE: f64 = 1000.0;
const MILLIVOLTS_PER_STEP: f64 = 1.0 / 2000.0;

/// The lead that is drawn, and its seconds.
const SHOWN: usize = 8;
const SECONDS: f64 = 10.0;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("target/r_peaks"), PathBuf::from);
    std::fs::create_dir_all(&folder)?;

    let raw = recording(RECORDING)?;
    let raw = View::interleaved(&raw, LEADS.len())?;
    let ecg = convert(raw, &ConvertOptions { gain: Scale::One(MILLIVOLTS_PER_STEP), ..Default::default() })?;
    let beats = r_peaks(&ecg)?;
    println!("{} leads, {:.1} s", ecg.channels(), ecg.samples() as f64 / RATE);
    for (lead, peaks) in LEADS.iter().zip(&beats) {
        println!("{lead:<4} {} beats, {:.1} per minute", peaks.indices.len(), rate(peaks));
    }
    draw(&folder.join("r_peaks.png"), &ecg, &beats)?;
    println!("written to {}", folder.join("r_peaks.png").display());
    Ok(())
}

/// The beats of each lead: QRS complexes are what is steep, whichever way they point.
fn r_peaks(ecg: &Signal) -> dspk::Result<Vec<Peaks>> {
    let mut steep = sosfiltfilt(&butter(3, Band::Pass(5.0, 25.0), RATE)?, ecg)?;
    let mut beats = Vec::new();
    for lead in 0..steep.channels() {
        let row = steep.row_mut(lead);
        row.iter_mut().for_each(|v| *v = v.abs());
        let mut sorted = row.to_vec();
        sorted.sort_by(f32::total_cmp);
        // Half of what the steepest two samples in a thousand reach; no heart beats faster than 200 a minute at rest.
        let strong = f64::from(sorted[sorted.len() * 998 / 1000]);
        let options = PeakOptions {
            distance: Some(0.3 * RATE),
            prominence: Some(Interval::at_least(0.5 * strong)),
            ..Default::default()
        };
        beats.extend(find_peaks(View::new(row, 1, row.len())?, &options)?);
    }
    Ok(beats)
}

/// Beats per minute: from the median interval.
fn rate(peaks: &Peaks) -> f64 {
    let mut intervals: Vec<usize> = peaks.indices.windows(2).map(|w| w[1] - w[0]).collect();
    intervals.sort_unstable();
    intervals.get(intervals.len() / 2).map_or(0.0, |n| 60.0 * RATE / *n as f64)
}

fn draw(path: &Path, ecg: &Signal, beats: &[Peaks]) -> Result<(), Box<dyn Error>> {
    let canvas = BitMapBackend::new(path, (1500, 480)).into_drawing_area();
    canvas.fill(&WHITE)?;
    let (row, shown) = (ecg.row(SHOWN), (SECONDS * RATE) as usize);
    let visible = &row[..shown.min(row.len())];
    let low = visible.iter().fold(f32::INFINITY, |m, v| m.min(*v)) - 0.1;
    let high = visible.iter().fold(f32::NEG_INFINITY, |m, v| m.max(*v)) + 0.15;
    let mut builder = ChartBuilder::on(&canvas);
    builder.margin(18);
    let text = register_font();
    if text {
        let title = format!("Lead {} with its R-peaks (find_peaks)", LEADS[SHOWN]);
        builder.caption(title, ("sans-serif", 24)).x_label_area_size(48).y_label_area_size(72);
    }
    let mut chart = builder.build_cartesian_2d(0.0..SECONDS, f64::from(low)..f64::from(high))?;
    if text {
        let mut mesh = chart.configure_mesh();
        mesh.x_desc("s").y_desc("mV").label_style(("sans-serif", 17)).axis_desc_style(("sans-serif", 19));
        mesh.light_line_style(WHITE).draw()?;
    }
    let at = |n: usize| (n as f64 / RATE, f64::from(row[n]));
    chart.draw_series(LineSeries::new((0..visible.len()).map(at), RGBColor(40, 70, 120)))?;
    let marks = beats[SHOWN].indices.iter().filter(|n| **n < visible.len());
    chart.draw_series(marks.map(|n| Circle::new(at(*n), 6, RGBColor(200, 50, 40).filled())))?;
    canvas.present()?;
    Ok(())
}
