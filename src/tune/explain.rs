//! Why a variant is the current choice: what is stored of it, in words.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use super::cache::{Entry, Outcome};
use super::statistics::MIN_GAIN;
use super::tuner::{Origin, Tuner};
use super::{Policy, Tunable};

/// Which variant a call uses now, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// Registry name of the operation.
    pub operation: String,
    /// Parameters, element type and size class.
    pub class: String,
    /// Key of the device.
    pub device: String,
    /// The policy in force.
    #[serde(serialize_with = "policy_name")]
    pub policy: Policy,
    /// The variant that a call uses now.
    pub variant: String,
    /// Where that choice comes from.
    pub origin: Origin,
    /// The built-in default.
    pub default: String,
    /// How many variants are legal here.
    pub variants: usize,
    /// The file that holds, or would hold, the result.
    pub path: Option<PathBuf>,
    /// The stored result, if there is one of this recipe.
    pub entry: Option<Entry>,
    /// Bytes that a plain copy reads and writes in a second on this device, if measured.
    pub copy_bytes_per_second: Option<f64>,
}

fn policy_name<S: serde::Serializer>(policy: &Policy, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(policy.name())
}

impl Tuner {
    /// Which variant a call uses now, and why. Looks into the store; never measures.
    pub fn explain(&self, tunable: &dyn Tunable, policy: Policy) -> Explanation {
        let names = tunable.variants();
        let slot = self.slot(tunable);
        if policy != Policy::Off && names.len() > 1 {
            self.look_up(&slot, tunable);
            self.borrow(&slot, tunable);
        }
        let choice = slot.read().choice(tunable, policy);
        let name = |index: usize| names.get(index).cloned().unwrap_or_default();
        let stored = self.store.peek(tunable.device(), tunable.operation(), tunable.class());
        let identity = super::cache::identity_text(tunable.identity());
        Explanation {
            operation: tunable.operation().into(),
            class: tunable.class().into(),
            device: tunable.device().into(),
            policy,
            variant: name(choice.variant),
            origin: choice.origin,
            default: name(0),
            variants: names.len(),
            path: self.store.path(tunable),
            entry: stored.filter(|entry| entry.identity == identity),
            copy_bytes_per_second: self.copy_rate(tunable.device()),
        }
    }
}

impl Explanation {
    /// The reason in one sentence.
    pub fn reason(&self) -> String {
        if self.variants < 2 {
            return "it is the only variant that is legal here".into();
        }
        match (self.policy, self.origin, &self.entry) {
            (Policy::Off, ..) => "DSPK_AUTOTUNE=off: always the built-in default".into(),
            (_, Origin::Tuned, Some(entry)) => self.measured(entry),
            (_, Origin::Nearest, _) => format!("taken from the nearest class measured on this device; {}", self.next()),
            (_, Origin::Shipped, _) => {
                format!("taken from the results that come with dspk, verified here; {}", self.next())
            }
            _ => format!("the built-in default, this class has not been measured; {}", self.next()),
        }
    }

    fn next(&self) -> &'static str {
        match self.policy {
            Policy::Cached => "DSPK_AUTOTUNE=cached: it will not be",
            _ => "the next call that meets it measures it",
        }
    }

    fn measured(&self, entry: &Entry) -> String {
        let percent = |x: f64| format!("{:.1} %", 100.0 * x);
        let of = |name: &str| entry.candidates.iter().find(|c| c.variant == name);
        if self.variant != entry.winner {
            return match self.policy {
                Policy::Pinned => "DSPK_AUTOTUNE=pinned: the fastest that rounds like the default".into(),
                _ => format!("the winner {:?} may not be used here; this is the next best that may", entry.winner),
            };
        }
        match (entry.outcome, of(&entry.winner)) {
            (Outcome::Inconclusive, _) => format!("the default is kept: {}", entry.reason),
            (Outcome::Won, Some(won)) if entry.winner != entry.default => format!(
                "it takes {:.3} of the time of {:?}, which it had to beat; noise {}, needed: more than {} and twice the noise",
                won.ratio,
                entry.default,
                percent(won.spread),
                percent(MIN_GAIN)
            ),
            (Outcome::Won, _) => format!("the built-in default {:?} is not right or does not run here", self.default),
            (Outcome::DefaultKept, _) => {
                let best = entry.candidates.iter().find(|c| c.variant != entry.default);
                match best {
                    None => "the default is kept: nothing else is right and runs here".into(),
                    Some(best) if 1.0 - best.ratio > MIN_GAIN.max(2.0 * best.spread) => format!(
                        "the default is kept: {:?} seemed to take {:.3} of its time, noise {}, which the rounds that had to confirm it did not show",
                        best.variant,
                        best.ratio,
                        percent(best.spread)
                    ),
                    Some(best) => format!(
                        "the default is kept: the best other, {:?}, takes {:.3} of its time, noise {}; needed: more than {} less and twice the noise",
                        best.variant,
                        best.ratio,
                        percent(best.spread),
                        percent(MIN_GAIN)
                    ),
                }
            }
        }
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} {}", self.operation, self.class)?;
        writeln!(f, "  device    {}", self.device)?;
        writeln!(f, "  uses      {}", self.variant)?;
        writeln!(f, "  because   {}", self.reason())?;
        if let Some(entry) = &self.entry {
            self.write_evidence(f, entry)?;
        }
        match &self.path {
            Some(path) => writeln!(f, "  file      {}", path.display()),
            None => writeln!(f, "  file      none: results stay in memory"),
        }
    }
}

impl Explanation {
    fn write_evidence(&self, f: &mut fmt::Formatter<'_>, entry: &Entry) -> fmt::Result {
        let work = entry.work;
        write!(f, "  measured  {}, {} rounds on {} x {}", entry.date, entry.rounds, work.channels, work.samples)?;
        writeln!(f, "{}", if entry.imported { " (elsewhere, imported)" } else { "" })?;
        if let Some(seconds) = entry.seconds(&self.variant) {
            let rate = work.bytes as f64 / seconds;
            write!(f, "  moves     {:.1} GB/s", rate / 1e9)?;
            match self.copy_bytes_per_second {
                Some(copy) => writeln!(f, ", {:.0} % of a plain copy of large arrays", 100.0 * rate / copy)?,
                None => writeln!(f)?,
            }
        }
        if entry.end_to_end > 0.0 {
            writeln!(f, "  in all    {:.3} ms from host to host", 1e3 * entry.end_to_end)?;
        }
        writeln!(f, "  timed     {:>7}  {:>7}  {:>10}  variant", "ratio", "noise", "ms")?;
        for c in &entry.candidates {
            let (noise, ms) = (100.0 * c.spread, 1e3 * c.seconds);
            writeln!(f, "            {:>7.3}  {noise:>5.1} %  {ms:>10.4}  {}", c.ratio, c.variant)?;
        }
        for rejection in &entry.rejected {
            writeln!(f, "  rejected  {}: {}", rejection.variant, rejection.reason)?;
        }
        for name in &entry.untried {
            writeln!(f, "  untried   {name}: did not fit the budget of {:.1} s", entry.budget)?;
        }
        Ok(())
    }
}
