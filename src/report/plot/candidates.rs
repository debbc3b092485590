//! The candidates of one class: times relative to the default.

use plotters::style::text_anchor::HPos;

use super::frame::{Axis, Frame, Margins, Mark};
use super::{Drawn, Label, Plot, Role, Root};
use crate::error::Result;
use crate::report::model::{cut, ratio_text, size};
use crate::tune::statistics::MIN_GAIN;
use crate::tune::{Candidate, Entry};

/// Candidates drawn; the table has all of them.
const MOST: usize = 24;
/// Height of one: a line of text and its track.
const ROW: u32 = 34;
/// Slower ones are drawn at the edge.
const EDGE: f64 = 2.0;
/// Letters of a name that fit beside its numbers.
const NAME: usize = 58;

/// A dot for each candidate, with its spread; `None` if nothing was timed.
pub fn candidates(entry: &Entry) -> Result<Option<Plot>> {
    let drawn = chosen(entry);
    if drawn.is_empty() {
        return Ok(None);
    }
    let rows = drawn.len() as u32;
    let title = format!("Candidates of {} at {}", entry.operation, size(entry));
    let mut description = String::from("Time relative to the default, less is faster.");
    for c in &drawn {
        description.push_str(&format!(" {}: {}.", cut(&c.variant, NAME), ratio_text(c.ratio)));
    }
    Plot::draw(rows * ROW + 76, &title, &description, |root| paint(root, entry, &drawn)).map(Some)
}

/// The fastest, and the default wherever it comes.
fn chosen(entry: &Entry) -> Vec<&Candidate> {
    let mut sorted: Vec<&Candidate> = entry.candidates.iter().collect();
    sorted.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
    let (first, rest) = sorted.split_at(sorted.len().min(MOST));
    let mut drawn = first.to_vec();
    if let Some(default) = rest.iter().find(|c| c.variant == entry.default) {
        drawn.pop();
        drawn.push(default);
    }
    drawn
}

fn paint(root: &Root<'_>, entry: &Entry, drawn: &[&Candidate]) -> Drawn {
    let lowest = drawn.iter().map(|c| c.ratio * (1.0 - c.spread)).fold(0.82, f64::min).max(0.0);
    let highest = drawn.iter().map(|c| c.ratio * (1.0 + c.spread)).fold(1.1, f64::max).min(EDGE);
    let title = "time relative to the default (less is faster)";
    let x = Axis::linear((lowest - 0.05).max(0.0), highest + 0.05, title, 1.0);
    let margins = Margins { left: 16, right: 20, top: 24, bottom: 48 };
    let frame = Frame::new(root, margins, x, Axis::bare())?;
    let (one, needed) = (frame.pixel(1.0, 0.0).0, frame.pixel(1.0 - MIN_GAIN, 0.0).0);
    for row in 0..drawn.len() as i32 {
        // Beside the tracks only: names stay readable.
        let track = frame.top() + row * ROW as i32 + 16;
        frame.path(&[(one, track), (one, track + 15)], Role::Ink, 1)?;
        frame.path(&[(needed, track), (needed, track + 15)], Role::Margin, 1)?;
    }
    frame.label(Label::new("default", Role::Ink), (one + 4, 12))?;
    let least = format!("a win: {:.0} % less", 100.0 * MIN_GAIN);
    frame.label(Label::new(&least, Role::Soft).aligned(HPos::Right), (needed - 4, 12))?;
    for (row, candidate) in drawn.iter().enumerate() {
        paint_row(&frame, entry, candidate, frame.top() + row as i32 * ROW as i32)?;
    }
    Ok(())
}

fn paint_row(frame: &Frame<'_, '_>, entry: &Entry, c: &Candidate, top: i32) -> Drawn {
    let is_best = c.variant == entry.winner;
    let is_rejected = entry.rejected.iter().any(|r| r.variant == c.variant);
    let is_default = c.variant == entry.default;
    let role = if is_best { Role::Best } else { Role::Ink };
    let name = cut(&c.variant, if is_best || is_rejected { NAME - 10 } else { NAME });
    let name = match (is_best, is_rejected) {
        (true, _) => format!("{name} (in use)"),
        (_, true) => format!("{name} (rejected)"),
        _ => name,
    };
    frame.label(Label::new(&name, role).bold(is_best), (frame.left(), top + 9))?;
    let numbers = if is_default {
        ratio_text(c.ratio)
    } else {
        format!("{} ± {} %", ratio_text(c.ratio), super::super::model::short(100.0 * c.spread))
    };
    frame.label(Label::new(&numbers, role).bold(is_best).aligned(HPos::Right), (frame.right(), top + 9))?;
    let track = top + 23;
    let beyond = c.ratio > EDGE;
    let at = frame.pixel(c.ratio, 0.0).0;
    let (low, high) = (frame.pixel(c.ratio * (1.0 - c.spread), 0.0).0, frame.pixel(c.ratio * (1.0 + c.spread), 0.0).0);
    if !beyond {
        frame.path(&[(low, track), (high, track)], role, 2)?;
        for end in [low, high] {
            frame.path(&[(end, track - 4), (end, track + 4)], role, 1)?;
        }
        return frame.mark((at, track), Mark { role, shape: usize::from(is_default), filled: is_best || is_default });
    }
    let edge = frame.right();
    frame.path(&[(edge - 9, track - 5), (edge - 1, track), (edge - 9, track + 5)], role, 2)
}
