//! Plots as inline SVG: plotters draws, the page's style sheet colours.
//!
//! Every line and text is drawn in the colour of a [`Role`]; the style sheet of [`style`] finds them by that colour and
//! gives them dashes, and other colours in the dark. No text is measured (there are no fonts here), so each has a place
//! with room enough. Numbers may be absurd: what is not finite is left out before it comes here.

mod candidates;
mod frame;
mod throughput;
mod transfers;

use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};
use plotters::prelude::SVGBackend;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontStyle, IntoFont, RGBColor, TextStyle};

pub use candidates::candidates;
pub use throughput::throughput;
pub use transfers::{Times, transfers};

use super::html::{escape, printable};
use crate::error::{Error, Result};

/// Width of every plot, in units of which a letter is about 6 wide.
const WIDTH: u32 = 560;

type Root<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn<T = ()> = std::result::Result<T, DrawingAreaErrorKind<std::io::Error>>;

/// What a line or text stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Ink,
    Soft,
    Grid,
    /// The rate of a plain copy.
    Copy,
    /// The gain that a win needs.
    Margin,
    /// The variant in use.
    Best,
    /// One of several curves.
    Series(usize),
    /// The same of the default variant.
    Default(usize),
}

type Rgb = (u8, u8, u8);

/// Colours on white and on black, apart for every kind of colour vision, all of them with contrast enough for text.
const SERIES: [(Rgb, Rgb); 6] = [
    ((0x00, 0x66, 0xa8), (0x5c, 0xb8, 0xf0)),
    ((0xb8, 0x4a, 0x00), (0xff, 0xa0, 0x57)),
    ((0x00, 0x73, 0x55), (0x35, 0xd0, 0xa5)),
    ((0x9c, 0x3f, 0x7e), (0xeb, 0xa1, 0xcf)),
    ((0x5a, 0x4f, 0xb5), (0xb9, 0xae, 0xf8)),
    ((0x6e, 0x62, 0x00), (0xe4, 0xd1, 0x4c)),
];

impl Role {
    /// On white, on black, dashes.
    fn look(self) -> (Rgb, Rgb, &'static str) {
        match self {
            Role::Ink => ((0x1f, 0x23, 0x28), (0xe6, 0xed, 0xf3), ""),
            Role::Soft => ((0x57, 0x60, 0x6a), (0xa5, 0xaf, 0xba), ""),
            Role::Grid => ((0xdd, 0xe1, 0xe6), (0x33, 0x3b, 0x45), ""),
            Role::Copy => ((0x57, 0x60, 0x6b), (0xa5, 0xaf, 0xbb), "8 4"),
            Role::Margin => ((0x57, 0x60, 0x6c), (0xa5, 0xaf, 0xbc), "2 3"),
            Role::Best => (SERIES[0].0, SERIES[0].1, ""),
            Role::Series(n) => (SERIES[n % SERIES.len()].0, SERIES[n % SERIES.len()].1, ""),
            // One step of blue apart from the series: the same to the eye, another to the style sheet.
            Role::Default(n) => {
                let ((r, g, b), dark) = SERIES[n % SERIES.len()];
                ((r, g, b ^ 1), dark, "4 4")
            }
        }
    }

    fn color(self) -> RGBColor {
        let ((r, g, b), ..) = self.look();
        RGBColor(r, g, b)
    }
}

/// The part of the style sheet that dresses the plots.
#[derive(Debug)]
pub struct Style(String);

impl Style {
    pub fn rules(&self) -> &str {
        &self.0
    }
}

/// See [`Style`].
pub fn style() -> Style {
    let plain = [Role::Ink, Role::Soft, Role::Grid, Role::Copy, Role::Margin];
    let curves = (0..SERIES.len()).flat_map(|n| [Role::Series(n), Role::Default(n)]);
    let (mut dashes, mut dark) = (String::new(), String::new());
    for role in plain.into_iter().chain(curves) {
        let ((r, g, b), (dr, dg, db), dash) = role.look();
        let name = format!("#{r:02X}{g:02X}{b:02X}");
        if !dash.is_empty() {
            dashes.push_str(&format!("svg [stroke=\"{name}\"]{{stroke-dasharray:{dash}}}\n"));
        }
        for attribute in ["stroke", "fill"] {
            dark.push_str(&format!("svg [{attribute}=\"{name}\"]{{{attribute}:#{dr:02x}{dg:02x}{db:02x}}}\n"));
        }
    }
    Style(format!("{dashes}@media screen and (prefers-color-scheme:dark){{\n{dark}}}\n"))
}

/// A finished plot.
#[derive(Debug)]
pub struct Plot(String);

impl Plot {
    /// `<svg>...</svg>`.
    pub fn markup(&self) -> &str {
        &self.0
    }

    /// Draws one; `title` and `description` are for those who cannot see it.
    fn draw(height: u32, title: &str, description: &str, paint: impl FnOnce(&Root<'_>) -> Drawn) -> Result<Plot> {
        let mut markup = String::new();
        {
            let root = SVGBackend::with_string(&mut markup, (WIDTH, height)).into_drawing_area();
            let drawn = paint(&root).and_then(|()| root.present());
            drawn.map_err(|e| Error::internal(format!("a plot could not be drawn: {e}")))?;
        }
        // Its first tag says a size in pixels; the page gives it the width there is.
        let content = markup.split_once('>').map_or("", |(_, content)| content);
        let (title, description) = (escape(title), escape(description));
        Ok(Plot(format!(
            "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{title}\"><title>{title}</title>\
             <desc>{description}</desc>{content}"
        )))
    }
}

/// A text at a pixel.
struct Label<'a> {
    text: &'a str,
    role: Role,
    size: i32,
    bold: bool,
    align: HPos,
    turned: bool,
}

impl Label<'_> {
    fn new(text: &str, role: Role) -> Label<'_> {
        Label { text, role, size: 12, bold: false, align: HPos::Left, turned: false }
    }

    fn aligned(self, align: HPos) -> Self {
        Label { align, ..self }
    }

    fn bold(self, bold: bool) -> Self {
        Label { bold, ..self }
    }

    /// Reading upwards.
    fn turned(self) -> Self {
        Label { turned: true, align: HPos::Center, ..self }
    }

    /// Draws it, its middle at the height of `at`.
    fn draw(&self, root: &Root<'_>, at: (i32, i32)) -> Drawn {
        // The backend divides by 1.24.
        let font = ("sans-serif", f64::from(self.size) * 1.24).into_font();
        let font = if self.bold { font.style(FontStyle::Bold) } else { font };
        let font = if self.turned { font.transform(plotters::style::FontTransform::Rotate270) } else { font };
        let color = self.role.color();
        let style = TextStyle::from(font).color(&color).pos(Pos::new(self.align, VPos::Center));
        // plotters escapes markup itself.
        root.draw_text(&self.text.chars().map(printable).collect::<String>(), &style, at)
    }
}

fn stroke(role: Role, width: u32) -> plotters::style::ShapeStyle {
    role.color().stroke_width(width)
}
