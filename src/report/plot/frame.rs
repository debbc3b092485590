//! Axes: ranges, ticks, grid, and the way from values to pixels.

use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::types::RangedCoordf64;
use plotters::element::{Circle, PathElement, Polygon, Rectangle};
use plotters::prelude::SVGBackend;
use plotters::series::LineSeries;
use plotters::style::Color;
use plotters::style::text_anchor::HPos;

use super::{Drawn, Label, Role, Root, WIDTH, stroke};

/// One direction of a plot.
#[derive(Debug, Clone)]
pub struct Axis {
    low: f64,
    high: f64,
    log: bool,
    title: String,
    ticks: Vec<(f64, String)>,
}

impl Axis {
    /// From `low` to `high`, with about five ticks; these are shown in units of `unit`.
    pub fn linear(low: f64, high: f64, title: &str, unit: f64) -> Axis {
        let high = if high > low { high } else { low + unit };
        let step = nice_step((high - low) / 5.0);
        let decimals = (-(step / unit).log10().floor()).clamp(0.0, 3.0) as usize;
        let show = |tick: f64| {
            let number = tick / unit;
            if number.abs() < 1e6 { format!("{number:.decimals$}") } else { format!("{number:.0e}") }
        };
        let first = (low / step).ceil() * step;
        let ticks = (0..12).map(|n| first + f64::from(n) * step).filter(|&tick| tick <= high * (1.0 + 1e-9));
        let ticks = ticks.map(|tick| (tick, show(tick))).collect();
        Axis { low, high, log: false, title: title.into(), ticks }
    }

    /// Without scale.
    pub fn bare() -> Axis {
        Axis { low: 0.0, high: 1.0, log: false, title: String::new(), ticks: Vec::new() }
    }

    /// Positive values on a logarithmic axis with some room at both ends.
    pub fn logarithmic(values: impl Iterator<Item = f64>, title: &str, show: impl Fn(f64) -> String) -> Axis {
        let (mut low, mut high) = (f64::INFINITY, 0.0f64);
        for value in values {
            (low, high) = (low.min(value), high.max(value));
        }
        if low > high {
            (low, high) = (1.0, 10.0);
        }
        let (low, high) = (low.log10() - 0.1, high.log10() + 0.1);
        let every = (((high - low) / 6.0).ceil() as i32).max(1);
        let steps: &[f64] = match high - low {
            span if span < 1.2 => &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0],
            span if span < 2.4 => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        let decades = (low.floor() as i32..=high.ceil() as i32).filter(|decade| decade % every == 0);
        let ticks = decades
            .flat_map(|decade| steps.iter().map(move |step| f64::from(decade) + step.log10()))
            .filter(|tick| (low..=high).contains(tick))
            .map(|tick| (tick, show(10f64.powf(tick))))
            .collect();
        Axis { low, high, log: true, title: title.into(), ticks }
    }

    fn at(&self, value: f64) -> f64 {
        let place = if self.log { value.log10() } else { value };
        place.clamp(self.low, self.high)
    }
}

/// 1, 2 or 5 times a power of ten, about as large as `step`.
fn nice_step(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * power >= step * 0.999).unwrap_or(10.0);
    let nice = factor * power;
    if nice.is_finite() && nice > 0.0 { nice } else { f64::MAX }
}

/// Space around the area of a plot.
#[derive(Debug, Clone, Copy)]
pub struct Margins {
    pub left: u32,
    pub right: u32,
    pub top: u32,
    pub bottom: u32,
}

/// What marks a point; curves differ in it, too, so that colour is not all there is.
#[derive(Debug, Clone, Copy)]
pub struct Mark {
    pub role: Role,
    pub shape: usize,
    pub filled: bool,
}

/// A plot's area with axes.
pub struct Frame<'a, 'r> {
    root: &'r Root<'a>,
    chart: ChartContext<'r, SVGBackend<'a>, Cartesian2d<RangedCoordf64, RangedCoordf64>>,
    x: Axis,
    y: Axis,
}

impl<'a, 'r> Frame<'a, 'r> {
    /// Draws grid, ticks and titles.
    pub fn new(root: &'r Root<'a>, margins: Margins, x: Axis, y: Axis) -> Drawn<Frame<'a, 'r>> {
        let chart = ChartBuilder::on(root)
            .margin_left(margins.left)
            .margin_right(margins.right)
            .margin_top(margins.top)
            .margin_bottom(margins.bottom)
            .build_cartesian_2d(x.low..x.high, y.low..y.high)?;
        let frame = Frame { root, chart, x, y };
        frame.draw_x()?;
        frame.draw_y()?;
        Ok(frame)
    }

    fn draw_x(&self) -> Drawn {
        let bottom = self.bottom();
        for (tick, text) in &self.x.ticks {
            let at = self.chart.backend_coord(&(*tick, self.y.low)).0;
            self.path(&[(at, self.top()), (at, bottom)], Role::Grid, 1)?;
            Label::new(text, Role::Soft).aligned(HPos::Center).draw(self.root, (at, bottom + 12))?;
        }
        let middle = (self.left() + self.right()) / 2;
        Label::new(&self.x.title, Role::Soft).aligned(HPos::Center).draw(self.root, (middle, bottom + 31))
    }

    fn draw_y(&self) -> Drawn {
        for (tick, text) in &self.y.ticks {
            let at = self.chart.backend_coord(&(self.x.low, *tick)).1;
            self.path(&[(self.left(), at), (self.right(), at)], Role::Grid, 1)?;
            Label::new(text, Role::Soft).aligned(HPos::Right).draw(self.root, (self.left() - 6, at))?;
        }
        if self.y.title.is_empty() {
            return Ok(());
        }
        Label::new(&self.y.title, Role::Soft).turned().draw(self.root, (10, (self.top() + self.bottom()) / 2))
    }

    /// A second scale for the same heights, at the right.
    pub fn right_scale(&self, scale: &Axis, unit: f64) -> Drawn {
        for (tick, text) in &scale.ticks {
            let at = self.pixel(0.0, tick * unit).1;
            self.path(&[(self.right(), at), (self.right() + 4, at)], Role::Soft, 1)?;
            Label::new(text, Role::Soft).draw(self.root, (self.right() + 7, at))?;
        }
        let middle = (self.top() + self.bottom()) / 2;
        Label::new(&scale.title, Role::Soft).turned().draw(self.root, (WIDTH as i32 - 10, middle))
    }

    /// Where a value is drawn; beyond the axes' ends it is at their ends.
    pub fn pixel(&self, x: f64, y: f64) -> (i32, i32) {
        self.chart.backend_coord(&(self.x.at(x), self.y.at(y)))
    }

    fn edges(&self) -> (std::ops::Range<i32>, std::ops::Range<i32>) {
        self.chart.plotting_area().get_pixel_range()
    }

    pub fn left(&self) -> i32 {
        self.edges().0.start
    }

    pub fn right(&self) -> i32 {
        self.edges().0.end
    }

    pub fn top(&self) -> i32 {
        self.edges().1.start
    }

    pub fn bottom(&self) -> i32 {
        self.edges().1.end
    }

    /// A line through pixels.
    pub fn path(&self, pixels: &[(i32, i32)], role: Role, width: u32) -> Drawn {
        self.root.draw(&PathElement::new(pixels.to_vec(), stroke(role, width)))
    }

    /// A curve through values.
    pub fn curve(&mut self, points: &[(f64, f64)], role: Role, width: u32) -> Drawn {
        let places: Vec<(f64, f64)> = points.iter().map(|&(x, y)| (self.x.at(x), self.y.at(y))).collect();
        self.chart.draw_series(LineSeries::new(places, stroke(role, width))).map(drop)
    }

    pub fn mark(&self, pixel: (i32, i32), mark: Mark) -> Drawn {
        draw_mark(self.root, pixel, mark)
    }

    pub fn label(&self, label: Label<'_>, pixel: (i32, i32)) -> Drawn {
        label.draw(self.root, pixel)
    }
}

/// A circle, square, triangle or diamond.
pub fn draw_mark(root: &Root<'_>, (x, y): (i32, i32), mark: Mark) -> Drawn {
    let corners = match mark.shape % 4 {
        0 => {
            let style = if mark.filled { mark.role.color().filled() } else { stroke(mark.role, 2) };
            return root.draw(&Circle::new((x, y), if mark.filled { 5 } else { 4 }, style));
        }
        1 if mark.filled => {
            return root.draw(&Rectangle::new([(x - 4, y - 4), (x + 4, y + 4)], mark.role.color().filled()));
        }
        1 => vec![(x - 4, y - 4), (x + 4, y - 4), (x + 4, y + 4), (x - 4, y + 4), (x - 4, y - 4)],
        2 => vec![(x - 5, y + 4), (x, y - 5), (x + 5, y + 4), (x - 5, y + 4)],
        _ => vec![(x - 5, y), (x, y - 5), (x + 5, y), (x, y + 5), (x - 5, y)],
    };
    if mark.filled {
        root.draw(&Polygon::new(corners, mark.role.color().filled()))
    } else {
        root.draw(&PathElement::new(corners, stroke(mark.role, 1)))
    }
}

/// What the marks mean, in columns below a plot; `top` is its first line.
pub fn legend(root: &Root<'_>, entries: &[(Role, Mark, String)], columns: usize, top: i32) -> Drawn {
    let width = (WIDTH as usize - 20) / columns.max(1);
    for (index, (line, mark, text)) in entries.iter().enumerate() {
        let (column, row) = (index % columns.max(1), index / columns.max(1));
        let at = (20 + (column * width) as i32, top + 18 * row as i32);
        root.draw(&PathElement::new(vec![(at.0 - 10, at.1), (at.0 + 10, at.1)], stroke(*line, 2)))?;
        draw_mark(root, at, *mark)?;
        Label::new(text, Role::Ink).draw(root, (at.0 + 16, at.1))?;
    }
    Ok(())
}

/// Height of a legend.
pub fn legend_height(entries: usize, columns: usize) -> u32 {
    18 * entries.div_ceil(columns.max(1)) as u32 + 10
}
