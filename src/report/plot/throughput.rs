//! Throughput against size, beside the rate of a plain copy.

use plotters::style::text_anchor::HPos;

use super::frame::{Axis, Frame, Margins, Mark, legend, legend_height};
use super::{Drawn, Label, Plot, Role, Root};
use crate::error::Result;
use crate::report::model::{Class, amount, gigabytes, rate};
use crate::tune::Entry;

/// Curves drawn at most, one for each channel count.
const MOST: usize = 8;
const AREA: u32 = 250;
const TOP: u32 = 22;
/// Columns of the legend.
const COLUMNS: usize = 2;

/// One channel count: (values, bytes a second) of the variants in use and of the defaults.
struct Curve {
    channels: u64,
    used: Vec<(f64, f64)>,
    default: Vec<(f64, f64)>,
}

/// Throughput of the variants in use and of the defaults; `None` if no size with a rate is stored.
pub fn throughput(class: &Class<'_>, copy: Option<f64>) -> Result<Option<Plot>> {
    let curves = curves(class);
    if curves.is_empty() {
        return Ok(None);
    }
    let mut description = String::from("Gigabytes a second by channels times samples.");
    for curve in &curves {
        description.push_str(&format!(" {} channels:", curve.channels));
        for (values, rate) in &curve.used {
            description.push_str(&format!(" {} at {};", gigabytes(*rate), amount(*values)));
        }
    }
    let height = TOP + AREA + 48 + legend_height(2 * curves.len(), COLUMNS);
    let title = format!("Throughput of {} {}", class.operation, class.parameters);
    Plot::draw(height, &title, &description, |root| paint(root, &curves, copy)).map(Some)
}

fn curves(class: &Class<'_>) -> Vec<Curve> {
    let point = |e: &Entry, variant: &str| Some((e.work.values() as f64, rate(e, variant)?));
    let curve = |channels: u64| {
        let entries: Vec<&Entry> = class
            .entries
            .iter()
            .filter(|e| e.work.channels == channels && e.work.values() > 0)
            .filter(|e| class.at(channels, e.work.samples).is_some_and(|newest| newest.class == e.class))
            .copied()
            .collect();
        let of = |name: fn(&Entry) -> &str| entries.iter().filter_map(|e| point(e, name(e))).collect();
        Curve { channels, used: of(|e| &e.winner), default: of(|e| &e.default) }
    };
    class.channels().into_iter().map(curve).filter(|curve| !curve.used.is_empty()).take(MOST).collect()
}

fn paint(root: &Root<'_>, curves: &[Curve], copy: Option<f64>) -> Drawn {
    let points = || curves.iter().flat_map(|c| c.used.iter().chain(&c.default).copied());
    let highest = points().map(|(_, rate)| rate).chain(copy).fold(0.0, f64::max) * 1.08;
    let x = Axis::logarithmic(points().map(|(values, _)| values), "channels × samples", amount);
    let y = Axis::linear(0.0, highest, "GB/s", 1e9);
    let bottom = 48 + legend_height(2 * curves.len(), COLUMNS);
    let mut frame = Frame::new(root, Margins { left: 58, right: 58, top: TOP, bottom }, x, y)?;
    if let Some(copy) = copy {
        let percent = Axis::linear(0.0, 100.0 * highest / copy, "percent of a plain copy", 1.0);
        frame.right_scale(&percent, copy / 100.0)?;
        let at = frame.pixel(0.0, copy).1;
        frame.path(&[(frame.left(), at), (frame.right(), at)], Role::Copy, 2)?;
    }
    let mut entries = Vec::new();
    for (n, curve) in curves.iter().enumerate() {
        for (points, role, filled, what) in [
            (&curve.default, Role::Default(n), false, "built-in default"),
            (&curve.used, Role::Series(n), true, "in use"),
        ] {
            // A hollow mark is not dashed.
            let mark = Mark { role: Role::Series(n), shape: n, filled };
            frame.curve(points, role, if filled { 2 } else { 1 })?;
            for &(values, rate) in points {
                frame.mark(frame.pixel(values, rate), mark)?;
            }
            entries.push((role, mark, format!("{} channels, {what}", curve.channels)));
        }
    }
    if let Some(copy) = copy {
        let label = Label::new("plain copy of large arrays", Role::Soft).aligned(HPos::Right);
        frame.label(label, (frame.right() - 6, frame.pixel(0.0, copy).1 - 10))?;
    }
    let top = frame.bottom() + 58;
    entries.chunks_mut(2).for_each(<[_]>::reverse);
    legend(root, &entries, COLUMNS, top)
}
