//! The page of `autotune --report`: what the tuner has measured, to look at.
//!
//! One HTML file that needs nothing else: plots are inline SVG, the style sheet is inside, there is no script. It is made
//! from stored results alone, so the same store gives the same page. Names, reasons and numbers come from files that
//! anybody may have written: all text is escaped in one place ([`html`]), and numbers that are not finite are not drawn.

mod compare;
mod device;
mod html;
mod model;
mod plot;
#[cfg(test)]
mod tests;

use html::Html;

use crate::error::Result;
use crate::tune::DeviceResults;

/// The page for these devices' results, as [`crate::runtime::tuning_results`] gives them.
///
/// # Errors
/// [`crate::ErrorKind::Internal`] if a plot cannot be drawn, which no input causes.
pub fn page(devices: &[DeviceResults]) -> Result<String> {
    let measured: Vec<DeviceResults> = devices.iter().filter(|device| !device.entries.is_empty()).cloned().collect();
    let mut page = Html::default();
    page.raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    page.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    page.raw("<meta name=\"color-scheme\" content=\"light dark\">\n<title>dspk: tuning report</title>\n<style>\n");
    page.raw(include_str!("style.css")).style(&plot::style()).raw("</style>\n</head>\n<body>\n<main>\n");
    page.raw("<h1>Tuning report</h1>\n");
    if measured.is_empty() {
        page.raw(EMPTY);
    } else {
        overview(&mut page, &measured);
        for (index, device) in measured.iter().enumerate() {
            device::section(&mut page, device, &measured, index)?;
        }
        compare::section(&mut page, &measured)?;
    }
    page.raw("</main>\n<footer>")
        .text(format!("dspk {}", env!("CARGO_PKG_VERSION")))
        .raw("</footer>\n</body>\n</html>\n");
    Ok(page.finish())
}

const EMPTY: &str = "<p>Nothing has been measured on this machine yet.</p>\n\
    <p>Run <code>autotune</code> (some minutes; <code>autotune --budget 60s</code> for a first look), then \
    <code>autotune --report FILE.html</code> again. Results are kept below <code>DSPK_CACHE_DIR</code>, by default the \
    user's cache folder.</p>\n";

/// How to read the page, and its contents.
fn overview(page: &mut Html, devices: &[DeviceResults]) {
    page.raw(
        "<p>Each operation has several variants. On each device and for each class of sizes, every variant is first \
         checked against a float64 reference, then timed in rounds with the built-in default. It is used in place of the \
         default if it takes at least 3&nbsp;% less time, and more than twice the noise less.</p>\n\
         <p>Throughput counts the bytes that an ideal implementation moves: inputs read once, outputs written once. The \
         rate of a plain copy, reading and writing counted, was measured on large arrays: it is what memory allows, and \
         arrays that fit the caches may exceed it.</p>\n<nav aria-label=\"Contents\">\n<ul>\n",
    );
    for (index, device) in devices.iter().enumerate() {
        page.raw("<li><a href=\"#").text(device::anchor(index)).raw("\">");
        page.text(model::unique_label(&device.facts, devices)).raw("</a> ");
        let count = device.entries.len();
        page.text(format!("({count} result{})", if count == 1 { "" } else { "s" })).raw("</li>\n");
    }
    if devices.len() > 1 {
        page.raw("<li><a href=\"#compare\">Comparison of devices</a></li>\n");
    }
    page.raw("</ul>\n</nav>\n");
}
