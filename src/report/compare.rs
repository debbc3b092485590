//! The devices beside each other: who is fastest from host to host, and what the stored facts say about why.

use super::device;
use super::html::Html;
use super::model::{self, Class, gigabytes, short, time};
use super::plot::{self, Times};
use crate::error::Result;
use crate::tune::{DeviceResults, Entry};

/// Rows of a table.
const MOST_SIZES: usize = 48;

/// A device's results for one operation and kind of parameters.
struct Side<'a> {
    device: &'a DeviceResults,
    label: String,
    class: Class<'a>,
}

/// A size, with the result of each device, in the order of the sides.
struct Row<'a> {
    channels: u64,
    samples: u64,
    entries: Vec<Option<&'a Entry>>,
}

impl Row<'_> {
    fn seconds(&self, side: usize) -> Option<f64> {
        self.entries.get(side).copied().flatten().map(|e| e.end_to_end).filter(|&s| s > 0.0)
    }

    /// The fastest from host to host, if at least two have been timed.
    fn fastest(&self) -> Option<usize> {
        let mut timed: Vec<(usize, f64)> =
            (0..self.entries.len()).filter_map(|side| Some((side, self.seconds(side)?))).collect();
        timed.sort_by(|a, b| a.1.total_cmp(&b.1));
        (timed.len() > 1).then(|| timed[0].0)
    }

    fn name(&self) -> String {
        format!("{} × {}", self.channels, self.samples)
    }
}

/// Writes the section, where there is anything to compare.
pub fn section(page: &mut Html, devices: &[DeviceResults]) -> Result<()> {
    if devices.len() < 2 {
        return Ok(());
    }
    page.raw("<section>\n<h2 id=\"compare\">Comparison of devices</h2>\n");
    introduce(page, devices);
    let all: Vec<(usize, Class<'_>)> =
        devices.iter().enumerate().flat_map(|(n, d)| Class::all(d).into_iter().map(move |class| (n, class))).collect();
    let mut names: Vec<(&str, &str)> = all.iter().map(|(_, c)| (c.operation, c.parameters)).collect();
    names.sort_unstable();
    names.dedup();
    let mut any = false;
    for name in names {
        let sides: Vec<Side<'_>> = devices
            .iter()
            .filter_map(|device| {
                let class = Class::all(device).into_iter().find(|c| (c.operation, c.parameters) == name)?;
                Some(Side { device, label: model::brief(&device.facts, devices), class })
            })
            .collect();
        let rows = rows(&sides);
        if sides.len() > 1 && !rows.is_empty() {
            any = true;
            group(page, name, &sides, &rows)?;
        }
    }
    if !any {
        page.raw("<p>No operation has been measured at the same size on two devices.</p>\n");
    }
    page.raw("</section>\n");
    Ok(())
}

/// What the devices are, and what may be compared.
fn introduce(page: &mut Html, devices: &[DeviceResults]) {
    page.raw("<dl>\n");
    for device in devices {
        let facts = &device.facts;
        let mut what = vec![facts.name.clone(), facts.architecture.clone()];
        what.extend(model::copy_rate(facts).map(|rate| format!("plain copy at {} GB/s", gigabytes(rate))));
        what.extend(facts.software.then(|| "software adapter: its arithmetic runs on the CPU".to_string()));
        what.retain(|part| !part.is_empty());
        page.element("dt", model::brief(facts, devices)).element("dd", what.join(", ")).raw("\n");
    }
    page.raw("</dl>\n");
    let is_cpu = |device: &DeviceResults| device.facts.runtime == "cpu";
    if devices.iter().any(is_cpu) && !devices.iter().all(is_cpu) {
        page.raw(
            "<p>A CPU's variants and a GPU's are different programs: their names do not compare, only their times. ",
        );
        page.raw(
            "A call from host to host pays a GPU's transfers and launches, too; for arrays that stay on the device ",
        );
        page.raw("only the throughput counts.</p>\n");
    }
}

/// The sizes that at least two devices have measured, smallest first.
fn rows<'a>(sides: &[Side<'a>]) -> Vec<Row<'a>> {
    let mut sizes: Vec<(u64, u64, u64)> = sides
        .iter()
        .flat_map(|side| side.class.entries.iter().map(|e| (e.work.values(), e.work.channels, e.work.samples)))
        .filter(|size| size.0 > 0)
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    let row = |(_, channels, samples)| Row {
        channels,
        samples,
        entries: sides.iter().map(|side| side.class.at(channels, samples)).collect(),
    };
    let mut rows: Vec<Row<'a>> =
        sizes.into_iter().map(row).filter(|row| row.entries.iter().flatten().count() > 1).collect();
    let left_out = rows.len().saturating_sub(MOST_SIZES);
    rows.split_off(left_out)
}

fn group(page: &mut Html, name: (&str, &str), sides: &[Side<'_>], rows: &[Row<'_>]) -> Result<()> {
    page.raw("<h3>").text(name.0).raw(" <small>").text(name.1).raw("</small></h3>\n");
    page.raw("<ul class=\"notes\">\n");
    for sentence in [fastest(sides, rows), transfers(sides, rows), choices(sides, rows)].into_iter().flatten() {
        page.element("li", sentence).raw("\n");
    }
    page.raw("</ul>\n");
    if let Some(plot) = drawn(name, sides, rows)? {
        page.raw("<div class=\"plots\"><figure><figcaption>").text(plot.0).raw("</figcaption>").plot(&plot.1);
        page.raw("</figure></div>\n");
    }
    table(page, name, sides, rows);
    Ok(())
}

/// Times of the channel count that most sizes compare, the largest of several.
fn drawn(name: (&str, &str), sides: &[Side<'_>], rows: &[Row<'_>]) -> Result<Option<(String, plot::Plot)>> {
    let compared: Vec<u64> = rows.iter().filter(|row| row.fastest().is_some()).map(|row| row.channels).collect();
    let sizes = |channels: u64| compared.iter().filter(|&&c| c == channels).count();
    let Some(channels) = compared.iter().copied().max_by_key(|&channels| (sizes(channels), channels)) else {
        return Ok(None);
    };
    let times: Vec<Times> = sides
        .iter()
        .enumerate()
        .map(|(n, side)| Times {
            device: side.label.clone(),
            points: rows
                .iter()
                .filter(|row| row.channels == channels)
                .filter_map(|row| Some((channels.saturating_mul(row.samples) as f64, row.seconds(n)?)))
                .collect(),
        })
        .collect();
    let caption = format!("{channels} channels, from host array to host array with transfers");
    Ok(plot::transfers(&format!("{} {} on several devices", name.0, name.1), &times)?.map(|plot| (caption, plot)))
}

fn table(page: &mut Html, name: (&str, &str), sides: &[Side<'_>], rows: &[Row<'_>]) {
    let caption = format!(
        "{} {}: host to host, GB/s on the device, percent of its plain copy; ● is the fastest from host to host",
        name.0, name.1
    );
    device::table(page, "devices", &caption, |page| {
        page.raw("<thead><tr><th scope=\"col\" rowspan=\"2\">Size</th>");
        for side in sides {
            page.raw("<th class=\"group\" scope=\"colgroup\" colspan=\"4\">").text(&side.label).raw("</th>");
        }
        page.raw("</tr>\n<tr>");
        for _ in sides {
            page.raw("<th scope=\"col\">Host to host</th><th scope=\"col\">GB/s</th><th scope=\"col\">% of copy</th>");
            page.raw("<th class=\"name\" scope=\"col\">In use</th>");
        }
        page.raw("</tr></thead>\n<tbody>\n");
        for row in rows {
            page.raw("<tr><th scope=\"row\">").text(row.name()).raw("</th>");
            for (n, side) in sides.iter().enumerate() {
                cells(page, side, row.entries.get(n).copied().flatten(), row.fastest() == Some(n));
            }
            page.raw("</tr>\n");
        }
        page.raw("</tbody>\n");
    });
}

fn cells(page: &mut Html, side: &Side<'_>, entry: Option<&Entry>, is_fastest: bool) {
    let Some(entry) = entry else {
        page.raw("<td>–</td><td>–</td><td>–</td><td class=\"name\">–</td>");
        return;
    };
    let or_none = |text: Option<String>| text.unwrap_or_else(|| "–".into());
    let total = or_none((entry.end_to_end > 0.0).then(|| time(entry.end_to_end)));
    if is_fastest {
        page.raw("<td class=\"best\">● ").text(total).raw("</td>");
    } else {
        page.element("td", total);
    }
    let rate = model::rate(entry, &entry.winner);
    let percent = rate.zip(model::copy_rate(&side.device.facts)).map(|(rate, copy)| short(100.0 * rate / copy));
    page.element("td", or_none(rate.map(gigabytes))).element("td", or_none(percent));
    page.raw("<td class=\"name\">").text(&entry.winner).raw("</td>");
}

/// Who is fastest where.
fn fastest(sides: &[Side<'_>], rows: &[Row<'_>]) -> Option<String> {
    let judged: Vec<(&Row<'_>, usize)> = rows.iter().filter_map(|row| Some((row, row.fastest()?))).collect();
    let (last, winner) = judged.last()?;
    let others = (0..sides.len()).filter(|n| n != winner).filter_map(|n| last.seconds(n)).fold(f64::INFINITY, f64::min);
    let lead = short(others / last.seconds(*winner)?);
    let label = |n: usize| sides.get(n).map_or("", |side| side.label.as_str());
    let count = |n: usize| judged.iter().filter(|(_, winner)| *winner == n).count();
    let at_largest = format!("At {} {} is {lead} times as fast as the next", last.name(), label(*winner));
    if count(*winner) == judged.len() {
        return Some(format!("{} is the fastest from host to host at every size. {at_largest}.", label(*winner)));
    }
    let shares: Vec<String> = (0..sides.len())
        .filter(|&n| count(n) > 0)
        .map(|n| format!("{} at {} of {} sizes", label(n), count(n), judged.len()))
        .collect();
    Some(format!("The fastest from host to host is {}. {at_largest}.", shares.join(", ")))
}

/// What of a call is not the computation: transfers, launches, memory.
fn transfers(sides: &[Side<'_>], rows: &[Row<'_>]) -> Option<String> {
    let share = |row: &Row<'_>, n: usize| {
        let entry = row.entries.get(n).copied().flatten()?;
        let (own, total) = (entry.seconds(&entry.winner)?, row.seconds(n)?);
        (own <= total).then(|| 100.0 * (1.0 - own / total))
    };
    let said: Vec<String> = sides
        .iter()
        .enumerate()
        .filter(|(_, side)| side.device.facts.runtime != "cpu")
        .filter_map(|(n, side)| {
            let shares: Vec<(String, f64)> = rows.iter().filter_map(|row| Some((row.name(), share(row, n)?))).collect();
            let (first, last) = (shares.first()?, shares.last()?);
            Some(format!("on {} {:.0} % at {} and {:.0} % at {}", side.label, first.1, first.0, last.1, last.0))
        })
        .collect();
    (!said.is_empty()).then(|| {
        format!("Of the time from host to host, transfers, launches and their waiting take {}.", said.join("; "))
    })
}

/// Where the choices of devices of one runtime differ.
fn choices(sides: &[Side<'_>], rows: &[Row<'_>]) -> Option<String> {
    let first = &sides.first()?.device.facts.runtime;
    if sides.iter().any(|side| side.device.facts.runtime != *first) {
        return None;
    }
    let differ = |row: &&Row<'_>| {
        let mut winners = row.entries.iter().flatten().map(|e| &e.winner);
        winners.next().is_some_and(|first| winners.any(|other| other != first))
    };
    let differing: Vec<&Row<'_>> = rows.iter().filter(differ).collect();
    let Some(row) = differing.last() else {
        return Some(format!("The same variants are in use at all {} sizes.", rows.len()));
    };
    let used =
        sides.iter().zip(&row.entries).filter_map(|(side, e)| Some(format!("{} on {}", (*e)?.winner, side.label)));
    let used: Vec<String> = used.collect();
    let count = format!("{} of {} sizes", differing.len(), rows.len());
    Some(format!("Different variants are in use at {count}: at {} {}.", row.name(), used.join(", ")))
}
