//! Spectra of a real recording: Welch's power density of every channel, and the spectrogram of one.
//!
//! ```text
//! cargo run --release --example spectra [FOLDER]
//! ```
//!
//! Writes `spectra.png` to FOLDER (default `target/spectra`). Where it runs is dspk's choice; `DSPK_RUNTIME` overrides it.

use std::error::Error;
use std::ops::Range;
use std::path::{Path, PathBuf};

use dspk::ops::convert::{ConvertOptions, Scale, convert};
use dspk::ops::spectral::{PowerFrames, Spectra, SpectrogramOptions, WelchOptions, spectrogram, welch};
use dspk::signal::{Signal, View};
use plotters::prelude::*;

mod common;

use common::{recording, register_font};

/// The recording.
const RECORDING: &str = "eeg_32ch_1000hz.i16";
const CHANNELS: usize = 32;
const RATE: f64 = 1000.0;
const MICROVOLTS_PER_STEP: f64 = 0.5;

/// Whose spectrogram is drawn.
const CHANNEL: usize = 0;
/// Frequencies that are drawn, Hz.
const SHOWN: f64 = 120.0;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("target/spectra"), PathBuf::from);
    std::fs::create_dir_all(&folder)?;

    let raw = recording(RECORDING)?;
    let raw = View::interleaved(&raw, CHANNELS)?;
    let x = convert(raw, &ConvertOptions { gain: Scale::One(MICROVOLTS_PER_STEP), ..Default::default() })?;
    let density = welch(&x, &WelchOptions { fs: RATE, nperseg: Some(1024), ..Default::default() })?;
    let options = SpectrogramOptions {
        fs: RATE,
        nperseg: Some(512),
        noverlap: Some(480),
        nfft: Some(1024),
        ..Default::default()
    };
    let one = Signal::from_slice(x.row(CHANNEL), 1, x.samples())?;
    let local = spectrogram(&one, &options)?;

    let strongest = density.values.row(CHANNEL).iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
    let (bin, power) = strongest.ok_or("no frequencies")?;
    println!("{CHANNELS} channels, {} samples: {} frequencies", x.samples(), density.f.len());
    println!("channel 1 is strongest at {:.1} Hz, {power:.0} µV²/Hz", density.f[bin]);
    println!("its spectrogram: {} frequencies x {} frames", local.f.len(), local.t.len());
    draw(&folder.join("spectra.png"), &density, &local)?;
    println!("written to {}", folder.join("spectra.png").display());
    Ok(())
}

fn draw(path: &Path, density: &Spectra, local: &PowerFrames) -> Result<(), Box<dyn Error>> {
    let canvas = BitMapBackend::new(path, (1500, 620)).into_drawing_area();
    canvas.fill(&WHITE)?;
    let text = register_font();
    let (left, right) = canvas.split_horizontally(730);
    lines(&left, density, text)?;
    colours(&right, local, text)?;
    canvas.present()?;
    Ok(())
}

type Canvas<'a> = DrawingArea<BitMapBackend<'a>, plotters::coord::Shift>;
type Chart<'a, 'b> = ChartContext<
    'a,
    BitMapBackend<'b>,
    Cartesian2d<plotters::coord::types::RangedCoordf64, plotters::coord::types::RangedCoordf64>,
>;

/// A panel with axes; without a font it has no words.
fn panel<'a, 'b>(
    area: &'a Canvas<'b>,
    text: bool,
    title: &str,
    (x, y): (Range<f64>, Range<f64>),
    (x_name, y_name): (&str, &str),
) -> Result<Chart<'a, 'b>, Box<dyn Error>> {
    let mut builder = ChartBuilder::on(area);
    builder.margin(18);
    if text {
        builder.caption(title, ("sans-serif", 24)).x_label_area_size(48).y_label_area_size(72);
    }
    let mut chart = builder.build_cartesian_2d(x, y)?;
    if text {
        let mut mesh = chart.configure_mesh();
        mesh.x_desc(x_name).y_desc(y_name).label_style(("sans-serif", 17)).axis_desc_style(("sans-serif", 19));
        mesh.light_line_style(WHITE).draw()?;
    }
    Ok(chart)
}

fn decibels(power: f32) -> f64 {
    10.0 * f64::from(power.max(1e-9)).log10()
}

fn lines(area: &Canvas<'_>, density: &Spectra, text: bool) -> Result<(), Box<dyn Error>> {
    let title = "Power density of 32 channels (welch)";
    let mut chart = panel(area, text, title, (0.0..SHOWN, -50.0..35.0), ("Hz", "dB (µV²/Hz)"))?;
    for (channel, row) in density.values.rows().enumerate() {
        let colour = HSLColor(0.61 - 0.5 * channel as f64 / (CHANNELS - 1) as f64, 0.62, 0.4);
        let points = density.f.iter().zip(row).map(|(f, v)| (*f, decibels(*v)));
        chart.draw_series(LineSeries::new(points.take_while(|p| p.0 <= SHOWN), colour))?;
    }
    Ok(())
}

fn colours(area: &Canvas<'_>, local: &PowerFrames, text: bool) -> Result<(), Box<dyn Error>> {
    let (Some(first), Some(last)) = (local.t.first(), local.t.last()) else { return Ok(()) };
    let step = (last - first) / (local.t.len().max(2) - 1) as f64;
    let title = "Channel 1 over time (spectrogram)";
    let mut chart = panel(area, text, title, (*first..*last + step, 0.0..SHOWN), ("s", "Hz"))?;
    let high = local.f.get(1).copied().unwrap_or(1.0);
    let shown = local.f.iter().take_while(|f| **f < SHOWN).count();
    let cells = (0..shown).flat_map(|bin| {
        local.line(0, bin).iter().zip(&local.t).map(move |(power, t)| {
            let level = ((decibels(*power) + 40.0) / 70.0).clamp(0.0, 1.0);
            // From dark blue over green to yellow.
            let colour = HSLColor(0.72 - 0.56 * level, 0.75, 0.16 + 0.42 * level);
            let low = bin as f64 * high;
            Rectangle::new([(*t, low), (*t + step, low + high)], colour.filled())
        })
    });
    chart.draw_series(cells)?;
    Ok(())
}
