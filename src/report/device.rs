//! One device: what it is, then every operation and kind of parameters.

use super::html::Html;
use super::model::{self, Class, gigabytes, ratio_text, short, size, time};
use super::plot;
use crate::error::Result;
use crate::tune::{DeviceFacts, DeviceResults, Entry};

/// Rows of a table of variants; a store that names more than this is not ours.
const MOST_VARIANTS: usize = 200;
/// Columns of a table of variants: the largest sizes.
const MOST_SIZES: usize = 24;
/// Rows of a table of sizes.
const MOST_ENTRIES: usize = 200;

/// Where a device's section is.
pub fn anchor(index: usize) -> String {
    format!("device-{index}")
}

/// Writes the section.
pub fn section(page: &mut Html, device: &DeviceResults, all: &[DeviceResults], index: usize) -> Result<()> {
    page.raw("<section>\n<h2 id=\"").text(anchor(index)).raw("\">");
    page.text(model::unique_label(&device.facts, all)).raw("</h2>\n");
    facts(page, &device.facts);
    for class in Class::all(device) {
        self::class(page, &class, &device.facts)?;
    }
    page.raw("</section>\n");
    Ok(())
}

fn facts(page: &mut Html, facts: &DeviceFacts) {
    let copy = match model::copy_rate(facts) {
        Some(rate) => format!("{} GB/s, reading and writing counted", gigabytes(rate)),
        None => "not measured: throughput is shown without it".into(),
    };
    let kind = if facts.software { "software adapter: it computes on the CPU" } else { "" };
    page.raw("<dl>\n");
    for (name, value) in [
        ("Name", facts.name.as_str()),
        ("Key", &facts.device),
        ("Runtime", &facts.runtime),
        ("Kind", kind),
        ("Vendor", &facts.vendor),
        ("Architecture", &facts.architecture),
        (if facts.runtime == "cpu" { "Compiler" } else { "Driver" }, &facts.driver),
        ("Plain copy", &copy),
        ("As of", &facts.date),
    ] {
        if !value.is_empty() {
            page.element("dt", name).element("dd", value).raw("\n");
        }
    }
    page.raw("</dl>\n");
}

fn class(page: &mut Html, class: &Class<'_>, facts: &DeviceFacts) -> Result<()> {
    page.raw("<h3>").text(class.operation).raw(" <small>").text(class.parameters).raw("</small></h3>\n");
    let Some(largest) = class.example() else { return Ok(()) };
    page.raw("<p>At ").text(size(largest)).raw(", <code>").text(&largest.winner).raw("</code> is used. ");
    page.text(model::reason(largest)).raw("</p>\n");
    let candidates = plot::candidates(largest)?;
    let throughput = plot::throughput(class, model::copy_rate(facts))?;
    page.raw("<div class=\"plots\">\n");
    if let Some(plot) = candidates {
        let caption = format!(
            "Candidates at {}: medians of {} rounds; bars are one standard deviation of the ratio",
            size(largest),
            largest.rounds
        );
        page.raw("<figure><figcaption>").text(caption).raw("</figcaption>").plot(&plot).raw("</figure>\n");
    }
    if let Some(plot) = throughput {
        page.raw("<figure><figcaption>Throughput by size: filled marks are the variants in use, hollow ones the ");
        page.raw("built-in default");
        if model::copy_rate(facts).is_some() {
            page.raw("; what fits the caches may exceed the plain copy");
        }
        page.raw("</figcaption>").plot(&plot).raw("</figure>\n");
    }
    page.raw("</div>\n");
    sizes(page, class, facts);
    variants(page, class);
    notes(page, class);
    Ok(())
}

/// A table that scrolls where it is wider than the page.
pub fn table(page: &mut Html, kind: &'static str, caption: &str, fill: impl FnOnce(&mut Html)) {
    page.raw("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"")
        .text(caption)
        .raw("\">\n<table class=\"")
        .raw(kind)
        .raw("\">");
    page.element("caption", caption).raw("\n");
    fill(page);
    page.raw("</table>\n</div>\n");
}

/// What is used at each size, how fast it is, and why.
fn sizes(page: &mut Html, class: &Class<'_>, facts: &DeviceFacts) {
    let columns =
        ["Size", "In use", "Of the default's time", "GB/s", "Default GB/s", "% of copy", "Host to host", "Measured"];
    let left_out = class.entries.len().saturating_sub(MOST_ENTRIES);
    table(page, "sizes", "By size (channels × samples)", |page| {
        page.raw("<thead><tr>");
        for name in columns {
            page.raw("<th scope=\"col\">").text(name).raw("</th>");
        }
        page.raw("</tr></thead>\n<tbody>\n");
        for entry in &class.entries[left_out..] {
            size_row(page, entry, facts);
        }
        page.raw("</tbody>\n");
    });
    if left_out > 0 {
        page.paragraph(format!("{left_out} smaller ones are left out."));
    }
}

fn size_row(page: &mut Html, entry: &Entry, facts: &DeviceFacts) {
    let or_none = |text: Option<String>| text.unwrap_or_else(|| "–".into());
    let used = model::rate(entry, &entry.winner);
    let percent = used.zip(model::copy_rate(facts)).map(|(rate, copy)| short(100.0 * rate / copy));
    let ratio = model::ratio(entry, &entry.winner).map(|(ratio, spread)| {
        if entry.winner == entry.default {
            "1".into()
        } else {
            format!("{} ± {} %", ratio_text(ratio), short(100.0 * spread))
        }
    });
    let total = (entry.end_to_end > 0.0).then(|| time(entry.end_to_end));
    let date = entry.date.split('T').next().unwrap_or_default();
    page.raw("<tr class=\"main\"><th scope=\"row\">").text(size(entry)).raw("</th><td class=\"name\">");
    page.text(&entry.winner).raw("</td>");
    for text in [
        or_none(ratio),
        or_none(used.map(gigabytes)),
        or_none(model::rate(entry, &entry.default).map(gigabytes)),
        or_none(percent),
        or_none(total),
        if entry.imported { format!("{date}, imported") } else { date.to_string() },
    ] {
        page.element("td", text);
    }
    page.raw("</tr>\n<tr><td class=\"why\" colspan=\"8\"><span>").text(model::reason(entry)).raw("</span></td></tr>\n");
}

/// Every variant at every size, relative to the default.
fn variants(page: &mut Html, class: &Class<'_>) {
    let entries = &class.entries[class.entries.len().saturating_sub(MOST_SIZES)..];
    let mut names: Vec<&str> = Vec::new();
    // One size orders the rows: its candidates are sorted by time.
    for entry in class.example().iter().chain(entries.iter().rev()) {
        let timed = entry.candidates.iter().map(|c| c.variant.as_str());
        for name in timed
            .chain(entry.rejected.iter().map(|r| r.variant.as_str()))
            .chain(entry.untried.iter().map(String::as_str))
        {
            if names.len() < MOST_VARIANTS && !names.contains(&name) {
                names.push(name);
            }
        }
    }
    if names.len() < 2 {
        return;
    }
    table(
        page,
        "matrix",
        "Time relative to the default, by variant and size; ● is in use, × was rejected, … was not tried",
        |page| {
            page.raw("<thead><tr><th scope=\"col\">Variant</th>");
            for entry in entries {
                page.raw("<th scope=\"col\">").text(size(entry)).raw("</th>");
            }
            page.raw("</tr></thead>\n<tbody>\n");
            for name in names {
                page.raw("<tr><th scope=\"row\">").text(name).raw("</th>");
                entries.iter().for_each(|entry| cell(page, entry, name));
                page.raw("</tr>\n");
            }
            page.raw("</tbody>\n");
        },
    );
}

fn cell(page: &mut Html, entry: &Entry, name: &str) {
    if entry.rejected.iter().any(|r| r.variant == name) {
        page.raw("<td>×</td>");
    } else if let Some((ratio, _)) = model::ratio(entry, name) {
        if name == entry.winner {
            page.raw("<td class=\"best\">● ").text(ratio_text(ratio)).raw("</td>");
        } else {
            page.element("td", ratio_text(ratio));
        }
    } else if entry.untried.iter().any(|untried| untried == name) {
        page.raw("<td>…</td>");
    } else {
        page.raw("<td>–</td>");
    }
}

/// What was rejected and why; what found no time.
fn notes(page: &mut Html, class: &Class<'_>) {
    let mut rejected: Vec<(&str, &str, Vec<String>)> = Vec::new();
    for (entry, r) in class.entries.iter().flat_map(|entry| entry.rejected.iter().map(move |r| (entry, r))) {
        let known = rejected.iter().position(|(name, reason, _)| (*name, *reason) == (&r.variant, &r.reason));
        match known {
            Some(at) => rejected[at].2.push(size(entry)),
            None if rejected.len() < MOST_VARIANTS => rejected.push((&r.variant, &r.reason, vec![size(entry)])),
            None => {}
        }
    }
    if !rejected.is_empty() {
        page.raw("<h4>Rejected</h4>\n<ul class=\"notes\">\n");
        for (name, reason, sizes) in rejected {
            page.raw("<li><code>")
                .text(name)
                .raw("</code> at ")
                .text(list(&sizes))
                .raw(": ")
                .text(reason)
                .raw("</li>\n");
        }
        page.raw("</ul>\n");
    }
    let untried: Vec<&&Entry> = class.entries.iter().filter(|e| !e.untried.is_empty()).collect();
    if !untried.is_empty() {
        page.raw("<h4>Not tried</h4>\n<ul class=\"notes\">\n");
        for entry in untried.into_iter().rev().take(MOST_SIZES) {
            let (count, budget) = (entry.untried.len(), short(entry.budget));
            let variants = if count == 1 { "1 variant".into() } else { format!("{count} variants") };
            page.raw("<li>")
                .text(size(entry))
                .text(format!(": {variants} did not fit the {budget} s that the class was given: "));
            page.text(list(&entry.untried)).raw("</li>\n");
        }
        page.raw("</ul>\n");
    }
}

/// `a, b, c and 5 more`.
fn list(names: &[String]) -> String {
    const MOST: usize = 12;
    let shown = names[..names.len().min(MOST)].join(", ");
    if names.len() > MOST { format!("{shown} and {} more", names.len() - MOST) } else { shown }
}
