//! Pages of hand-made stores: everything that can be stored, and everything that nobody should have.

use super::page;
use crate::tune::{Candidate, DeviceFacts, DeviceResults, Entry, Outcome, Rejection, Work};

fn facts(device: &str, runtime: &str, copy: Option<f64>) -> DeviceFacts {
    DeviceFacts {
        runtime: runtime.into(),
        architecture: format!("{runtime}-kind"),
        name: format!("Maker's {device}"),
        copy_bytes_per_second: copy,
        date: "2026-11-30T12:00:00Z".into(),
        ..DeviceFacts::bare(device, "1.0")
    }
}

fn candidate(variant: &str, ratio: f64) -> Candidate {
    Candidate { variant: variant.into(), seconds: 1e-3 * ratio, spread: 0.02, ratio }
}

/// A result that the variant `tiled` has won.
fn won(device: &str, channels: u64, samples: u64) -> Entry {
    Entry {
        schema: 1,
        device: device.into(),
        operation: "fir".into(),
        class: format!("taps64-f32--c{channels}-s{samples}"),
        identity: "0".repeat(32),
        driver: "1.0".into(),
        outcome: Outcome::Won,
        winner: "tiled".into(),
        default: "direct".into(),
        rounds: 7,
        date: "2026-11-30T12:00:00Z".into(),
        candidates: vec![candidate("tiled", 0.5), candidate("direct", 1.0), candidate("slow", 7.5)],
        rejected: vec![],
        budget: 25.0,
        untried: vec![],
        reason: String::new(),
        work: Work { channels, samples, bytes: 8 * channels * samples },
        setup: 0.01,
        end_to_end: 2e-3,
        imported: false,
    }
}

fn store(device: &str, runtime: &str, entries: Vec<Entry>) -> DeviceResults {
    DeviceResults { facts: facts(device, runtime, Some(1e10)), entries }
}

/// Every tag is closed, in order, and no attribute or text holds a bare `<`. Gives the names of the tags.
fn tags(page: &str) -> Vec<String> {
    const VOID: [&str; 3] = ["meta", "!DOCTYPE", "br"];
    let (mut open, mut all): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    // The style sheet may hold `>`.
    let (head, rest) = page.split_once("<style>").unwrap();
    let (_, rest) = rest.split_once("</style>").unwrap();
    for piece in format!("{head}{rest}").split('<').skip(1) {
        let (tag, text) = piece.split_once('>').unwrap_or_else(|| panic!("an open tag: {piece}"));
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        assert!(!text.contains('>'), "{text}");
        for (at, _) in text.match_indices('&') {
            let end = text[at..].find(';').unwrap_or_else(|| panic!("{text}"));
            assert!(["amp", "lt", "gt", "quot", "apos", "#39", "nbsp"].contains(&&text[at + 1..at + end]), "{text}");
        }
        let name: String = tag.chars().take_while(|c| !c.is_whitespace() && *c != '>').collect();
        if let Some(closed) = name.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(closed), "{tag}");
        } else {
            all.push(name.clone());
            if !tag.ends_with('/') && !VOID.contains(&name.as_str()) {
                open.push(name);
            }
        }
    }
    assert!(open.is_empty(), "{open:?}");
    all
}

/// The page, which must be sound and need nothing else.
fn checked(devices: &[DeviceResults]) -> String {
    let page = page(devices).unwrap();
    let tags = tags(&page);
    assert!(!tags.iter().any(|tag| ["script", "link", "img", "iframe", "object"].contains(&tag.as_str())));
    assert!(!page.contains("http") && !page.contains("url(") && !page.contains("@import"));
    assert!(page.contains("<meta name=\"viewport\"") && page.contains("prefers-color-scheme:dark"));
    assert_eq!(page.matches("<svg ").count(), page.matches("</title><desc>").count());
    page
}

#[test]
fn an_empty_store_says_what_to_do() {
    let empty = DeviceResults { facts: facts("card", "wgpu", None), entries: vec![] };
    for devices in [&[][..], &[empty]] {
        let page = checked(devices);
        assert!(page.contains("Nothing has been measured") && page.contains("<code>autotune</code>"), "{page}");
        assert!(!page.contains("<svg") && !page.contains("<h2"));
    }
}

#[test]
fn a_win_is_shown_with_its_evidence() {
    let page = checked(&[store("card", "wgpu", vec![won("card", 32, 8192), won("card", 64, 8192)])]);
    for expected in [
        "wgpu: Maker&#39;s card",
        "10.0 GB/s",
        "At 64 × 8192, <code>tiled</code> is used. It takes 0.500 of the time of &quot;direct&quot;",
        "0.500 ± 2.00 %",
        "tiled (in use)",
        // 64 x 8192 x 8 bytes in half a millisecond, on a device that copies 10 GB/s.
        "<td>8.39</td><td>4.19</td><td>83.9</td><td>2.00 ms</td><td>2026-11-30</td>",
        "<td class=\"best\">● 0.500</td>",
        "plain copy of large arrays",
        "64 channels, built-in default",
    ] {
        assert!(page.contains(expected), "{expected}");
    }
    assert_eq!(page.matches("<svg ").count(), 2);
    assert!(!page.contains("id=\"compare\"") && !page.contains("Rejected</h4>"));
}

#[test]
fn every_other_outcome_is_shown_with_its_reason() {
    let kept = Entry {
        outcome: Outcome::DefaultKept,
        winner: "direct".into(),
        candidates: vec![candidate("direct", 1.0), candidate("tiled", 1.01)],
        rejected: vec![Rejection { variant: "bad".into(), reason: "differs by 1 > 1e-6".into() }],
        untried: vec!["large".into()],
        imported: true,
        ..won("card", 32, 8192)
    };
    let inconclusive = Entry {
        outcome: Outcome::Inconclusive,
        winner: "direct".into(),
        candidates: vec![],
        reason: "one run takes 3 s".into(),
        end_to_end: 0.0,
        ..won("card", 384, 524_288)
    };
    let alone = Entry {
        outcome: Outcome::DefaultKept,
        winner: "only".into(),
        default: "only".into(),
        candidates: vec![candidate("only", 1.0)],
        ..won("card", 64, 8192)
    };
    let mut device = store("card", "wgpu", vec![kept, inconclusive, alone]);
    device.facts.copy_bytes_per_second = None;
    let page = checked(&[device]);
    for expected in [
        "At 32 × 8192, <code>direct</code> is used. The default is kept: the best other, &quot;tiled&quot;, takes 1.010",
        "Inconclusive. The default is kept: one run takes 3 s.",
        "It is the only variant that is legal here.",
        "<code>bad</code> at 32 × 8192: differs by 1 &gt; 1e-6",
        "32 × 8192: 1 variant did not fit the 25.0 s that the class was given: large",
        "2026-11-30, imported",
        "not measured: throughput is shown without it",
        "<td>×</td>",
        "<td>…</td>",
    ] {
        assert!(page.contains(expected), "{expected}");
    }
    assert!(!page.contains("plain copy of large arrays"));
}

#[test]
fn one_size_without_a_known_problem_is_a_page() {
    let bare = Entry { work: Work::default(), end_to_end: 0.0, date: String::new(), ..won("card", 32, 8192) };
    let page = checked(&[store("card", "wgpu", vec![bare])]);
    // The size class stands for the size; there is no rate to draw.
    assert!(page.contains("At c32-s8192, <code>tiled</code> is used"));
    assert_eq!(page.matches("<svg ").count(), 1);
    let page = checked(&[store("card", "wgpu", vec![won("card", 1, 1)])]);
    assert_eq!(page.matches("<svg ").count(), 2);
}

#[test]
fn devices_are_compared_where_both_were_measured() {
    let slower = |e: Entry, end_to_end| Entry { end_to_end, ..e };
    let cpu = store(
        "cpu-key",
        "cpu",
        vec![slower(won("cpu-key", 32, 8192), 1e-3), slower(won("cpu-key", 32, 32_768), 9e-3), won("cpu-key", 7, 7)],
    );
    let mut card = store("card", "wgpu", vec![won("card", 32, 8192), won("card", 32, 32_768)]);
    card.facts.software = true;
    let page = checked(&[cpu.clone(), card]);
    let compared = page.split_once("id=\"compare\"").unwrap().1;
    for expected in [
        "The fastest from host to host is cpu at 1 of 2 sizes, wgpu at 1 of 2 sizes. At 32 × 32768 wgpu is 4.50 times as",
        "transfers, launches and their waiting take on wgpu 75 % at 32 × 8192 and 75 % at 32 × 32768",
        "different programs",
        "software adapter",
        "<td class=\"best\">● 1.00 ms</td>",
        "<td class=\"best\">● 2.00 ms</td>",
    ] {
        assert!(compared.contains(expected), "{expected}");
    }
    assert!(!compared.contains("7 × 7"));
    assert_eq!(compared.matches("<svg ").count(), 1);

    let other = Entry { winner: "direct".into(), outcome: Outcome::DefaultKept, ..won("card-2", 32, 8192) };
    let twins = [store("card", "wgpu", vec![won("card", 32, 8192)]), store("card-2", "wgpu", vec![other])];
    let page = checked(&twins);
    assert!(page.contains("Different variants are in use at 1 of 1 sizes"), "{page}");
    let apart = [store("card", "wgpu", vec![won("card", 1, 2)]), store("cpu", "cpu", vec![won("cpu", 1, 3)])];
    assert!(checked(&apart).contains("No operation has been measured at the same size on two devices."));
}

#[test]
fn hostile_names_come_out_as_text() {
    let evil = "<script>alert(\"1\")</script>'&\u{202e}\0";
    let entry = Entry {
        operation: evil.into(),
        class: format!("{evil}--{evil}"),
        winner: evil.into(),
        default: evil.into(),
        date: evil.into(),
        reason: evil.into(),
        outcome: Outcome::Inconclusive,
        candidates: vec![candidate(evil, 1.0), candidate("b]]>", 0.9)],
        rejected: vec![Rejection { variant: format!("{evil}2"), reason: evil.into() }],
        untried: vec![format!("{evil}3"); 40],
        ..won("x", 32, 8192)
    };
    let facts = DeviceFacts {
        runtime: evil.into(),
        vendor: evil.into(),
        architecture: evil.into(),
        name: evil.into(),
        ..DeviceFacts::bare(evil, evil)
    };
    let device = DeviceResults { facts, entries: vec![entry] };
    let page = checked(&[device.clone(), device]);
    assert!(!page.contains("<script") && !page.contains('\u{202e}') && !page.contains('\0'));
    assert!(page.contains("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&#39;&amp;\u{fffd}"));
}

#[test]
fn absurd_numbers_and_crowds_make_a_page() {
    let mut entries = Vec::new();
    for (n, (seconds, ratio, spread)) in
        [(5e-324, 5e-324, 0.0), (1e308, 1e308, 1e308), (1e-300, 1.0, f64::MAX), (1.0, 1e300, 5e-324)]
            .into_iter()
            .enumerate()
    {
        let mut entry = won("card", 1 << (4 * n), 1 << (10 * n));
        entry.candidates = vec![
            Candidate { variant: "tiled".into(), seconds, spread, ratio },
            Candidate { variant: "direct".into(), seconds: ratio, spread, ratio: seconds },
        ];
        (entry.budget, entry.end_to_end, entry.setup) = (1e308, seconds, 1e308);
        entries.push(entry);
    }
    let most = Work { channels: u64::MAX, samples: u64::MAX, bytes: u64::MAX };
    entries.push(Entry { work: most, ..won("card", 3, 3) });
    let mut device = store("card", "wgpu", entries);
    for copy in [Some(5e-324), Some(f64::MAX), Some(1e9), None] {
        device.facts.copy_bytes_per_second = copy;
        checked(std::slice::from_ref(&device));
    }

    let mut crowd = won("card", 32, 8192);
    crowd.candidates = (0..4000).map(|n| candidate(&"v".repeat(100 + n % 7), 1.0 + f64::from(n as u32))).collect();
    crowd.rejected = (0..4000).map(|n| Rejection { variant: format!("r{n}"), reason: "wrong ".repeat(100) }).collect();
    crowd.untried = (0..4000).map(|n| format!("u{n}")).collect();
    let page = checked(&[store("card", "wgpu", vec![crowd; 30])]);
    assert!(page.len() < 2 << 20, "{} bytes", page.len());
}

#[test]
fn the_full_grid_stays_small_and_the_same() {
    let entries = |device: &str| {
        let mut all = Vec::new();
        for operation in ["a", "b", "c", "d", "e"] {
            for channels in [32, 64, 128, 384] {
                for samples in [8192, 32_768, 131_072, 524_288] {
                    let mut entry = won(device, channels, samples);
                    entry.operation = operation.into();
                    entry.candidates.extend((0..30).map(|n| candidate(&format!("tiled R={n} WG=64"), 1.1)));
                    all.push(entry);
                }
            }
        }
        all
    };
    let devices = [store("cpu-key", "cpu", entries("cpu-key")), store("card", "wgpu", entries("card"))];
    let page = checked(&devices);
    assert!(page.len() < 2 << 20, "{} bytes", page.len());
    assert_eq!(page, super::page(&devices).unwrap());
}
