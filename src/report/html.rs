//! Building markup so that nothing from a file can become markup.
//!
//! A [`Html`] takes literals of this program as they are and everything else through [`Html::text`], which escapes. There
//! are no other ways in but [`Html::plot`] and [`Html::style`], for what the plots' own writer has made.

use std::fmt::Display;

use super::plot::{Plot, Style};

/// Text as HTML and SVG show it, in elements and in quoted attributes.
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => safe.push(printable(c)),
        }
    }
    safe
}

/// The character, or a sign in its place where neither HTML nor SVG can hold it, or where it would turn the direction of
/// text and let a name disguise itself.
pub fn printable(c: char) -> char {
    let unfit = (c.is_control() && !matches!(c, '\n' | '\t'))
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}');
    if unfit { '\u{fffd}' } else { c }
}

/// A growing page.
#[derive(Debug, Default)]
pub struct Html(String);

impl Html {
    /// Markup of this program.
    pub fn raw(&mut self, markup: &'static str) -> &mut Html {
        self.0.push_str(markup);
        self
    }

    /// Anything else.
    pub fn text(&mut self, text: impl Display) -> &mut Html {
        self.0.push_str(&escape(&text.to_string()));
        self
    }

    /// `<tag>text</tag>`.
    pub fn element(&mut self, tag: &'static str, text: impl Display) -> &mut Html {
        self.raw("<").raw(tag).raw(">").text(text).raw("</").raw(tag).raw(">")
    }

    /// A paragraph.
    pub fn paragraph(&mut self, text: impl Display) -> &mut Html {
        self.element("p", text).raw("\n")
    }

    /// A plot.
    pub fn plot(&mut self, plot: &Plot) -> &mut Html {
        self.0.push_str(plot.markup());
        self
    }

    /// Rules of the style sheet that this program has computed.
    pub fn style(&mut self, rules: &Style) -> &mut Html {
        self.0.push_str(rules.rules());
        self
    }

    /// The markup.
    pub fn finish(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_markup() {
        assert_eq!(escape("<script>alert('x' & \"y\")</script>"), {
            "&lt;script&gt;alert(&#39;x&#39; &amp; &quot;y&quot;)&lt;/script&gt;"
        });
        assert_eq!(escape("&lt;"), "&amp;lt;");
        assert_eq!(escape("a\0b\x1b[31mc\u{202e}d\u{85}\u{ffff}"), "a\u{fffd}b\u{fffd}[31mc\u{fffd}d\u{fffd}\u{fffd}");
        assert_eq!(escape("384 × 60000, µs\n"), "384 × 60000, µs\n");
        let mut html = Html::default();
        html.raw("<b>").text("<i>").raw("</b>").element("td", "</td>").paragraph(1.5);
        assert_eq!(html.finish(), "<b>&lt;i&gt;</b><td>&lt;/td&gt;</td><p>1.5</p>\n");
    }
}
