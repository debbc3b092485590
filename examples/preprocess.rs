//! Preprocesses a real recording: int16 to microvolts, 1 to 40 Hz, common median reference.
//!
//! ```text
//! cargo run --release --example preprocess [FOLDER]
//! ```
//!
//! Writes `preprocessed.npy` (`[channels, samples]`, float32, microvolts) and `preprocess.png`, two seconds of the signal
//! after each step, to FOLDER (default `target/preprocess`). Where it runs is dspk's choice; `DSPK_RUNTIME` overrides it.

use std::error::Error;
use std::path::{Path, PathBuf};

use dspk::design::{Band, butter};
use dspk::io::write_outputs;
use dspk::ops::command::{Array, NdArray};
use dspk::ops::convert::{ConvertOptions, Scale, convert};
use dspk::ops::filter::sosfilt;
use dspk::ops::spatial::{CommonReferenceOptions, Operator, common_reference};
use dspk::signal::{Signal, View};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

mod common;

use common::{recording, register_font};

/// The recording.
const RECORDING: &str = "eeg_32ch_1000hz.i16";
const CHANNELS: usize = 32;
const RATE: f64 = 1000.0;
const MICROVOLTS_PER_STEP: f64 = 0.5;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("target/preprocess"), PathBuf::from);
    std::fs::create_dir_all(&folder)?;

    let raw = recording(RECORDING)?;
    let raw = View::interleaved(&raw, CHANNELS)?;
    let recorded = convert(raw, &ConvertOptions { gain: Scale::One(MICROVOLTS_PER_STEP), ..Default::default() })?;
    let filtered = sosfilt(&butter(4, Band::Pass(1.0, 40.0), RATE)?, &recorded)?;
    let median = CommonReferenceOptions { operator: Operator::Median, ..Default::default() };
    let referenced = common_reference(&filtered, &median)?;

    let shape = vec![referenced.channels(), referenced.samples()];
    let result = Array::F32(NdArray::new(shape, referenced.to_vec())?);
    write_outputs(&folder.join("preprocessed.npy"), &[("preprocessed", result)], false)?;
    let panels = [
        Panel { title: "Recorded", signal: &recorded, microvolts_per_row: 60.0, bar: 50.0 },
        Panel { title: "1 to 40 Hz", signal: &filtered, microvolts_per_row: 60.0, bar: 50.0 },
        Panel { title: "Common median removed", signal: &referenced, microvolts_per_row: 2.0, bar: 2.0 },
    ];
    draw(&folder.join("preprocess.png"), &panels)?;
    for panel in &panels {
        println!(
            "{:<24} {:7.2} µV (median over channels of the standard deviation)",
            panel.title,
            spread(panel.signal)
        );
    }
    println!("written to {}", folder.display());
    Ok(())
}

/// How large a typical channel's signal is, once the filter has settled.
fn spread(x: &Signal) -> f64 {
    let mut deviations: Vec<f64> = x.rows().map(|row| deviation(&row[x.samples() / 4..])).collect();
    deviations.sort_by(f64::total_cmp);
    deviations.get(deviations.len() / 2).copied().unwrap_or(0.0)
}

fn deviation(x: &[f32]) -> f64 {
    let n = x.len() as f64;
    let mean = x.iter().map(|v| f64::from(*v)).sum::<f64>() / n;
    (x.iter().map(|v| (f64::from(*v) - mean).powi(2)).sum::<f64>() / n).sqrt()
}

// The picture.

type Canvas<'a> = DrawingArea<BitMapBackend<'a>, plotters::coord::Shift>;

const SIZE: (u32, u32) = (1500, 900);
const TOP: i32 = 92;
const BOTTOM: i32 = 836;
const PANEL: i32 = 448;
const INK: RGBColor = RGBColor(38, 44, 52);
const FAINT: RGBColor = RGBColor(222, 226, 231);
/// The two seconds shown.
const SHOWN: std::ops::Range<usize> = 3000..5000;

struct Panel<'a> {
    title: &'a str,
    signal: &'a Signal,
    /// Distance between two traces.
    microvolts_per_row: f64,
    /// Length of the scale bar.
    bar: f64,
}

fn draw(path: &Path, panels: &[Panel]) -> Result<(), Box<dyn Error>> {
    let canvas = BitMapBackend::new(path, SIZE).into_drawing_area();
    canvas.fill(&WHITE)?;
    let pen = Pen { canvas: &canvas, text: register_font() };
    pen.write("32 channels, 1000 Hz, two seconds", (56, 20), 25.0, HPos::Left)?;
    for (i, panel) in panels.iter().enumerate() {
        pen.panel(panel, 56 + i as i32 * (PANEL + 36))?;
    }
    for channel in [1, 8, 16, 24, 32] {
        pen.write(&channel.to_string(), (46, row(channel - 1) - 5), 18.0, HPos::Right)?;
    }
    canvas.present()?;
    Ok(())
}

/// Height of a channel's base line.
fn row(channel: usize) -> i32 {
    TOP + (row_height() * (channel as f64 + 0.5)).round() as i32
}

fn row_height() -> f64 {
    f64::from(BOTTOM - TOP) / CHANNELS as f64
}

struct Pen<'a, 'b> {
    canvas: &'a Canvas<'b>,
    /// Whether there is a font to write with.
    text: bool,
}

impl Pen<'_, '_> {
    fn panel(&self, panel: &Panel, left: i32) -> Result<(), Box<dyn Error>> {
        let samples = SHOWN.len().max(2) as f64 - 1.0;
        let x = |n: f64| left + (f64::from(PANEL) * n / samples).round() as i32;
        for (tick, label) in ["0", "0.5", "1", "1.5", "2 s"].into_iter().enumerate() {
            let at = x(samples * tick as f64 / 4.0);
            self.line(vec![(at, TOP), (at, BOTTOM)], FAINT)?;
            self.write(label, (at, BOTTOM + 8), 17.0, HPos::Center)?;
        }
        let pixels_per_microvolt = row_height() / panel.microvolts_per_row;
        for (channel, trace) in panel.signal.rows().enumerate() {
            let trace = &trace[SHOWN];
            let level = trace.iter().map(|v| f64::from(*v)).sum::<f64>() / trace.len() as f64;
            let point = |(n, v): (usize, &f32)| {
                let y = f64::from(row(channel)) - (f64::from(*v) - level) * pixels_per_microvolt;
                (x(n as f64), (y.round() as i32).clamp(TOP - 8, BOTTOM + 4))
            };
            self.line(trace.iter().enumerate().map(point).collect(), shade(channel))?;
        }
        self.write(panel.title, (left, TOP - 36), 21.0, HPos::Left)?;
        self.scale_bar(left + PANEL - 2, panel.bar, pixels_per_microvolt)
    }

    /// A vertical bar with its length, above the panel's right end.
    fn scale_bar(&self, right: i32, microvolts: f64, pixels_per_microvolt: f64) -> Result<(), Box<dyn Error>> {
        let (bottom, height) = (TOP - 14, (microvolts * pixels_per_microvolt).round() as i32);
        let corners = [(right - 2, bottom - height), (right, bottom)];
        self.canvas.draw(&Rectangle::new(corners, INK.filled()))?;
        self.write(&format!("{microvolts} µV"), (right - 8, bottom - height / 2 - 9), 18.0, HPos::Right)
    }

    fn line(&self, points: Vec<(i32, i32)>, color: RGBColor) -> Result<(), Box<dyn Error>> {
        Ok(self.canvas.draw(&PathElement::new(points, color.stroke_width(1)))?)
    }

    fn write(&self, text: &str, at: (i32, i32), size: f64, align: HPos) -> Result<(), Box<dyn Error>> {
        if self.text {
            let style = ("sans-serif", size).into_font().color(&INK).pos(Pos::new(align, VPos::Top));
            self.canvas.draw(&Text::new(text, at, style))?;
        }
        Ok(())
    }
}

/// From blue over green to ochre, dark enough for thin lines.
fn shade(channel: usize) -> RGBColor {
    let t = channel as f64 / (CHANNELS - 1) as f64;
    let (r, g, b) = HSLColor(0.61 - 0.5 * t, 0.62, 0.36).rgb();
    RGBColor(r, g, b)
}
