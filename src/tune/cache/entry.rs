//! The text of one entry: the winner by name, and the evidence for it. Read as if a stranger had written it.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::tune::statistics::is_void;

/// What the `schema` field must say; the folder carries the same version.
pub(crate) const SCHEMA: u32 = 1;

/// Bounds on what is believed.
const MAX_TEXT: usize = 4096;
const MAX_REASON: usize = 1024;
const MAX_VARIANTS: usize = 4096;

/// One measured candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// Its name.
    pub variant: String,
    /// Median seconds of one run.
    pub seconds: f64,
    /// Spread of the ratios, relative to their median, as a standard deviation.
    pub spread: f64,
    /// Median time relative to the default in the same round.
    pub ratio: f64,
}

/// A candidate that may not be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejection {
    /// Its name.
    pub variant: String,
    /// What was wrong with it.
    pub reason: String,
}

impl Rejection {
    /// A rejection whose reason is cut to what an entry may hold: a compiler's message can be of any length.
    pub(crate) fn new(variant: &str, reason: &str) -> Rejection {
        let mut reason: String = reason.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        if reason.len() > MAX_REASON {
            let end = (0..=MAX_REASON).rev().find(|&at| reason.is_char_boundary(at)).unwrap_or(0);
            reason.truncate(end);
            reason.push_str(" ...");
        }
        Rejection { variant: variant.to_string(), reason }
    }
}

/// How a measurement ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The winner beats the default by more than the noise.
    Won,
    /// Nothing beats the default by more than the noise.
    DefaultKept,
    /// The budget ended before there was evidence; the default is used.
    Inconclusive,
}

/// The problem that was timed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// Channels of its input.
    pub channels: u64,
    /// Samples per channel of its input.
    pub samples: u64,
    /// Bytes that an ideal implementation moves.
    pub bytes: u64,
}

impl Work {
    /// Channels times samples.
    pub fn values(&self) -> u64 {
        self.channels.saturating_mul(self.samples)
    }
}

/// A stored result: the winner of one class on one device by name, and the evidence for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Version of this form.
    pub schema: u32,
    /// Key of the device it was measured on.
    pub device: String,
    /// Registry name of the operation.
    pub operation: String,
    /// Parameters, element type and size class.
    pub class: String,
    /// Identity of the recipe, 32 hexadecimal digits.
    pub identity: String,
    /// Driver it was measured under; empty = there is none.
    pub driver: String,
    /// How the measurement ended.
    pub outcome: Outcome,
    /// The variant to use.
    pub winner: String,
    /// The variant that the others had to beat.
    #[serde(default)]
    pub default: String,
    /// Interleaved rounds.
    pub rounds: u32,
    /// When it was measured, ISO 8601, UTC.
    pub date: String,
    /// What was timed, by increasing ratio to the default.
    pub candidates: Vec<Candidate>,
    /// What was wrong or did not run.
    pub rejected: Vec<Rejection>,
    /// Wall seconds the measurement was given.
    #[serde(default)]
    pub budget: f64,
    /// Variants that did not fit the budget; a larger one measures such an entry again.
    #[serde(default)]
    pub untried: Vec<String>,
    /// Why it is inconclusive; else empty.
    #[serde(default)]
    pub reason: String,
    /// The problem that was timed.
    #[serde(default)]
    pub work: Work,
    /// Seconds to make the timed problem, once.
    #[serde(default)]
    pub setup: f64,
    /// Seconds of one run of the winner with the transfers from and to the host; 0 = not measured.
    #[serde(default)]
    pub end_to_end: f64,
    /// It was measured by another machine or user with this device: verified here before it is used.
    #[serde(default)]
    pub imported: bool,
}

/// The identity as an entry holds it.
pub(crate) fn identity_text(identity: u128) -> String {
    format!("{identity:032x}")
}

impl Entry {
    /// Reads and checks; the error says what is wrong.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Entry, String> {
        if bytes.is_empty() {
            return Err("it is empty".into());
        }
        let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_string())?;
        let entry: Entry = serde_json::from_str(text).map_err(|e| e.to_string())?;
        entry.check()?;
        Ok(entry)
    }

    /// The budget that was too short to try every variant, if it was.
    pub(crate) fn incomplete_within(&self) -> Option<f64> {
        (!self.untried.is_empty() || self.outcome == Outcome::Inconclusive).then_some(self.budget)
    }

    /// Measured seconds of a variant's run.
    pub(crate) fn seconds(&self, variant: &str) -> Option<f64> {
        self.candidates.iter().find(|c| c.variant == variant).map(|c| c.seconds)
    }

    pub(crate) fn check(&self) -> Result<(), String> {
        if self.schema != SCHEMA {
            return Err(format!("it says schema {}, its folder says {SCHEMA}", self.schema));
        }
        let own = [&self.device, &self.operation, &self.class, &self.driver, &self.winner, &self.default, &self.date];
        let listed = self.candidates.iter().map(|c| &c.variant).chain(&self.untried);
        let rejected = self.rejected.iter().flat_map(|r| [&r.variant, &r.reason]);
        let mut texts = own.into_iter().chain([&self.reason]).chain(listed).chain(rejected);
        if texts.any(|text| text.len() > MAX_TEXT || text.contains(char::is_control)) {
            return Err("a text in it is too long or has control characters".into());
        }
        if self.identity.len() != 32 || !self.identity.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err("its identity is not 32 hexadecimal digits".into());
        }
        if self.candidates.len() > MAX_VARIANTS
            || self.rejected.len() > MAX_VARIANTS
            || self.untried.len() > MAX_VARIANTS
        {
            return Err("it lists too many variants".into());
        }
        for (name, time) in [("budget", self.budget), ("setup", self.setup), ("end_to_end", self.end_to_end)] {
            if !time.is_finite() || time < 0.0 {
                return Err(format!("its {name} is not a time"));
            }
        }
        for candidate in &self.candidates {
            let spread = candidate.spread;
            if is_void(candidate.seconds) || is_void(candidate.ratio) || !spread.is_finite() || spread < 0.0 {
                return Err(format!("the timing of {:?} is not a time", candidate.variant));
            }
        }
        Ok(())
    }

    /// The bytes to store. Every number in an entry is finite, so this is always what [`Entry::parse`] accepts.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, serde_json::Error> {
        let mut bytes = serde_json::to_vec_pretty(self)?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// The variants worth using, best first: the winner, then by measured time. Only variants with evidence count, and
    /// never a rejected one.
    pub(crate) fn merit(&self) -> Vec<String> {
        let rejected: HashSet<&str> = self.rejected.iter().map(|r| r.variant.as_str()).collect();
        let mut order: Vec<&Candidate> =
            self.candidates.iter().filter(|c| !rejected.contains(c.variant.as_str())).collect();
        order.sort_by(|a, b| {
            let loses = |c: &Candidate| c.variant != self.winner;
            loses(a).cmp(&loses(b)).then(a.ratio.total_cmp(&b.ratio))
        });
        let mut seen = HashSet::new();
        order.into_iter().map(|c| c.variant.clone()).filter(|name| seen.insert(name.clone())).collect()
    }

    /// Notes that a variant failed in use; the next best takes its place.
    pub(crate) fn reject(&mut self, variant: &str, reason: &str) {
        self.candidates.retain(|c| c.variant != variant);
        if self.rejected.iter().all(|r| r.variant != variant) {
            self.rejected.push(Rejection::new(variant, reason));
        }
        if self.winner == variant
            && let Some(next) = self.merit().into_iter().next()
        {
            self.winner = next;
        }
    }
}

/// ISO 8601 date and time in UTC of a count of seconds since 1970.
pub(crate) fn iso_date(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Years begin in March, so that the leap day is the last; eras of 400 years have 146,097 days.
    let shifted = days + 719_468;
    let (era, day) = (shifted / 146_097, shifted % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = era * 400 + year + carry;
    format!("{year:04}-{month:02}-{date:02}T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> Entry {
        let candidate = |variant: &str, ratio: f64| Candidate {
            variant: variant.into(),
            seconds: 1e-4 * ratio,
            spread: 0.01,
            ratio,
        };
        Entry {
            schema: SCHEMA,
            device: "cpu".into(),
            operation: "sosfilt".into(),
            class: "sections5-f32--c7-s15".into(),
            identity: identity_text(0xabc),
            driver: String::new(),
            outcome: Outcome::Won,
            winner: "b".into(),
            rounds: 5,
            date: iso_date(0),
            candidates: vec![candidate("a", 1.0), candidate("c", 0.7), candidate("b", 0.6), candidate("wrong", 0.1)],
            rejected: vec![Rejection { variant: "wrong".into(), reason: "differs from the reference".into() }],
            default: "a".into(),
            budget: 1.0,
            untried: vec![],
            reason: String::new(),
            work: Work { channels: 128, samples: 32768, bytes: 1 << 25 },
            setup: 0.01,
            end_to_end: 2e-4,
            imported: false,
        }
    }

    #[test]
    fn dates() {
        assert_eq!(iso_date(0), "1970-01-01T00:00:00Z");
        assert_eq!(iso_date(951_827_696), "2000-02-29T12:34:56Z");
        assert_eq!(iso_date(1_740_787_199), "2025-02-28T23:59:59Z");
        assert_eq!(iso_date(1_740_787_200), "2025-03-01T00:00:00Z");
        assert_eq!(iso_date(4_102_444_799), "2099-12-31T23:59:59Z");
    }

    #[test]
    fn a_stored_entry_is_read_back() {
        let entry = entry();
        assert_eq!(Entry::parse(&entry.to_bytes().unwrap()).unwrap(), entry);
    }

    #[test]
    fn merit_is_winner_then_time_and_never_a_rejected_one() {
        assert_eq!(entry().merit(), ["b", "c", "a"]);
        let mut unknown = entry();
        unknown.winner = "no such kernel".into();
        assert_eq!(unknown.merit(), ["b", "c", "a"]);
        unknown.winner = "wrong".into();
        assert_eq!(unknown.merit(), ["b", "c", "a"]);
    }

    #[test]
    fn a_failure_in_use_hands_over_to_the_next() {
        let mut entry = entry();
        entry.reject("b", "launch failed");
        assert_eq!(entry.winner, "c");
        assert_eq!(entry.merit(), ["c", "a"]);
        entry.reject("b", &"againµ".repeat(5000));
        Entry::parse(&entry.to_bytes().unwrap()).unwrap();
        assert_eq!(entry.rejected.len(), 2);
    }

    #[test]
    fn what_is_not_a_time_is_refused() {
        for (seconds, ratio, spread) in [
            (-1.0, 1.0, 0.0),
            (0.0, 1.0, 0.0),
            (1.0, f64::INFINITY, 0.0),
            (f64::NAN, 1.0, 0.0),
            (1.0, 1.0, -0.1),
            (1.0, 1.0, f64::NAN),
        ] {
            let mut bad = entry();
            bad.candidates[0] = Candidate { variant: "a".into(), seconds, spread, ratio };
            assert!(bad.check().is_err(), "{seconds} {ratio} {spread}");
            assert!(Entry::parse(&bad.to_bytes().unwrap()).is_err());
        }
    }

    #[test]
    fn other_damage_is_refused_with_a_reason() {
        let text = String::from_utf8(entry().to_bytes().unwrap()).unwrap();
        assert!(Entry::parse(b"").unwrap_err().contains("empty"));
        assert!(Entry::parse(&text.as_bytes()[..text.len() / 2]).is_err());
        assert!(Entry::parse(&[0xff; 64]).unwrap_err().contains("UTF-8"));
        let other = text.replace("\"schema\": 1", "\"schema\": 2");
        assert!(Entry::parse(other.as_bytes()).unwrap_err().contains("schema 2"));
        assert!(Entry::parse(text.replace("abc", "xyz").as_bytes()).unwrap_err().contains("identity"));
        assert!(Entry::parse(text.replace("0.7", "NaN").as_bytes()).is_err());
        assert!(Entry::parse(text.replace("0.7", "1e999").as_bytes()).is_err());
        assert!(Entry::parse(text.replace("\"won\"", "\"lost\"").as_bytes()).is_err());
        assert!(Entry::parse("[".repeat(100_000).as_bytes()).is_err());
    }
}
