//! Whole calls, from host to host, on several devices.

use super::frame::{Axis, Frame, Margins, Mark, legend, legend_height};
use super::{Drawn, Plot, Role, Root};
use crate::error::Result;
use crate::report::model::{amount, cut, round_time, time};

/// Devices drawn at most.
const MOST: usize = 8;
const AREA: u32 = 230;
const TOP: u32 = 12;

/// A device's times by size: (values, seconds).
pub struct Times {
    pub device: String,
    pub points: Vec<(f64, f64)>,
}

/// A curve for each device; `None` if there are none.
pub fn transfers(title: &str, devices: &[Times]) -> Result<Option<Plot>> {
    let drawn: Vec<&Times> = devices.iter().filter(|d| !d.points.is_empty()).take(MOST).collect();
    if drawn.is_empty() {
        return Ok(None);
    }
    let mut description = String::from("Time from host to host by channels times samples.");
    for device in &drawn {
        description.push_str(&format!(" {}:", device.device));
        for (values, seconds) in &device.points {
            description.push_str(&format!(" {} at {};", time(*seconds), amount(*values)));
        }
    }
    let height = TOP + AREA + 48 + legend_height(drawn.len(), 1);
    Plot::draw(height, title, &description, |root| paint(root, &drawn)).map(Some)
}

fn paint(root: &Root<'_>, devices: &[&Times]) -> Drawn {
    let points = || devices.iter().flat_map(|device| device.points.iter().copied());
    let x = Axis::logarithmic(points().map(|(values, _)| values), "channels × samples", amount);
    let y = Axis::logarithmic(points().map(|(_, seconds)| seconds), "time from host to host", round_time);
    let bottom = 48 + legend_height(devices.len(), 1);
    let mut frame = Frame::new(root, Margins { left: 86, right: 20, top: TOP, bottom }, x, y)?;
    let mut entries = Vec::new();
    for (n, device) in devices.iter().enumerate() {
        let mark = Mark { role: Role::Series(n), shape: n, filled: true };
        frame.curve(&device.points, mark.role, 2)?;
        for &(values, seconds) in &device.points {
            frame.mark(frame.pixel(values, seconds), mark)?;
        }
        entries.push((mark.role, mark, cut(&device.device, 80)));
    }
    legend(root, &entries, 1, frame.bottom() + 58)
}
