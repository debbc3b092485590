//! Measuring one choice: verify, warm up, batch, interleave, halve, decide.
//!
//! 1. Each candidate is verified, run once unread, and given enough repeats that one sample lasts a millisecond (longer
//!    where the clock turns out to be coarse).
//! 2. Rounds: every candidate still in the race is sampled once, in an order that turns around each round, and the
//!    default with them. What counts is the ratio to the default of the same round, so drift cancels.
//! 3. After three rounds clear losers leave; then the field is halved every other round.
//! 4. Evidence settles the result: five ratios and the rule of [`Ratio::wins`]. The best of several equal candidates is
//!    lucky by selection, so a win that is not decisive must win five more rounds against the default alone.
//! 5. The wall budget settles nothing: when it runs out before five rounds the result is inconclusive and the default
//!    stays. Three quarters of it are for the rounds, the last is for confirming a win. Candidates whose rounds would not
//!    fit are listed as untried; what a near class has shown ([`Prior`]) tells that before they are run.
//!
//! The time of a sample is the tunable's business; only the wall clock of the budget is read here, through [`Clock`], so
//! that tests can script both.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::Tunable;
use super::statistics::{MIN_GAIN, MIN_READINGS, Ratio, is_void, median};
use crate::error::Error;

static BENCHMARK_LAUNCHES: AtomicU64 = AtomicU64::new(0);
static VERIFICATION_RUNS: AtomicU64 = AtomicU64::new(0);

/// Runs this process has made to time variants: the repeats of every sample, warm-up included.
pub fn benchmark_launches() -> u64 {
    BENCHMARK_LAUNCHES.load(Ordering::Relaxed)
}

/// Verifications of a variant against the reference that this process has made.
pub fn verification_runs() -> u64 {
    VERIFICATION_RUNS.load(Ordering::Relaxed)
}

/// A monotonic wall clock.
pub trait Clock: Send + Sync {
    /// Time since an arbitrary fixed moment.
    fn now(&self) -> Duration;

    /// Lets that much time pass.
    fn sleep(&self, time: Duration) {
        std::thread::sleep(time);
    }
}

/// The operating system's monotonic clock.
#[derive(Debug, Clone, Copy)]
pub struct HostClock(Instant);

impl Default for HostClock {
    fn default() -> Self {
        HostClock(Instant::now())
    }
}

impl Clock for HostClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }
}

/// Shortest sample, in seconds.
const MIN_SAMPLE: f64 = 1e-3;
/// Longest sample asked for because of a coarse clock, in seconds.
const MAX_SAMPLE: f64 = 0.1;
/// A sample lasts at least this many steps of a clock that has shown itself to be coarse.
const TICKS: f64 = 20.0;
/// Most runs in one sample.
const MAX_REPEATS: u32 = 1 << 16;
/// Most samples spent on finding the number of repeats.
const MAX_CALIBRATIONS: u32 = 20;
/// A candidate this much slower than the default in two warm samples does not enter the race.
const HOPELESS: f64 = 1.5;
/// After three rounds, a candidate whose best ratio is this much above the leader's median leaves.
const CLEAR_LOSS: f64 = 1.03;
/// Rounds before anything is dropped.
const FIRST_CUT: u32 = 3;
/// Most rounds.
const MAX_ROUNDS: u32 = 11;

/// A candidate that was verified and timed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Timed {
    pub variant: usize,
    /// Median seconds of one run.
    pub seconds: f64,
    pub ratio: Ratio,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Verdict {
    /// This variant is the one to use; `false` = it is the default, which nothing beat.
    Settled { variant: usize, won: bool },
    /// Not enough evidence within the budget: the default stays.
    Inconclusive(String),
    /// Something that says nothing about the variants got in the way: the device went away, memory ran out.
    Abandoned(String),
    /// No variant is right and runs.
    Failed(String),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Measurement {
    pub verdict: Verdict,
    /// By increasing ratio.
    pub timed: Vec<Timed>,
    pub rejected: Vec<(usize, String)>,
    /// Variants the budget left no time for.
    pub untried: Vec<usize>,
    pub rounds: u32,
    /// The variant that the others had to beat.
    pub baseline: Option<usize>,
    /// Wall time of making the timed problem.
    pub setup: Duration,
}

/// What a near class leads to expect here.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Prior {
    /// Seconds to make the timed problem.
    pub setup: f64,
    /// Seconds of one run, by variant; `None` = not known.
    pub seconds: Vec<Option<f64>>,
}

/// Verifies once, counted.
pub(crate) fn verify(tunable: &dyn Tunable, variant: usize) -> Result<(), Error> {
    VERIFICATION_RUNS.fetch_add(1, Ordering::Relaxed);
    tunable.verify(variant)
}

/// Measures all variants of a choice; the first that is right and runs (normally the default) is what others must beat.
pub(crate) fn measure(tunable: &dyn Tunable, clock: &dyn Clock, budget: Duration, prior: &Prior) -> Measurement {
    let end = clock.now().saturating_add(budget);
    let mut race = Race {
        tunable,
        clock,
        prior,
        deadline: end.saturating_sub(budget / 4),
        end,
        setup: Duration::ZERO,
        winner: None,
        lanes: Vec::new(),
        rejected: Vec::new(),
        untried: Vec::new(),
        rounds: 0,
    };
    let verdict = match race.run() {
        Ok(()) => race.verdict(),
        Err(Stop::Late(reason)) => Verdict::Inconclusive(reason),
        Err(Stop::Passing(reason)) => Verdict::Abandoned(reason),
    };
    race.finish(verdict)
}

/// Samples that a race of this many challengers takes, if none leaves as a clear loser.
fn samples_needed(challengers: usize) -> u32 {
    let (mut field, mut samples) = (u32::try_from(challengers).unwrap_or(u32::MAX), 0u32);
    for round in 1..=MAX_ROUNDS {
        samples = samples.saturating_add(field).saturating_add(1);
        if round >= FIRST_CUT && round % 2 == 1 {
            field = field.div_ceil(2);
        }
        if round as usize >= MIN_READINGS && field <= 1 {
            break;
        }
    }
    samples
}

fn too_long(run: Duration) -> Refused {
    Refused::Stop(Stop::Late(format!("one run takes {run:.2?}: too long for a comparison within the budget")))
}

fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

/// The whole measurement ends without a result.
enum Stop {
    /// Time is up.
    Late(String),
    /// Not the variants' doing.
    Passing(String),
}

/// Why a candidate gets no lane.
enum Refused {
    /// It is wrong or does not run.
    Rejected(String),
    /// Time is up.
    Late,
    Stop(Stop),
}

/// A candidate in the race. Lane 0 is the baseline.
struct Lane {
    variant: usize,
    repeats: u32,
    /// Seconds per run.
    readings: Vec<f64>,
    ratios: Vec<f64>,
    alive: bool,
}

impl Lane {
    fn median_ratio(&self) -> f64 {
        median(&self.ratios).unwrap_or(f64::INFINITY)
    }
}

struct Race<'a> {
    tunable: &'a dyn Tunable,
    clock: &'a dyn Clock,
    prior: &'a Prior,
    /// When rounds end.
    deadline: Duration,
    /// When confirming a win ends.
    end: Duration,
    setup: Duration,
    /// The lane that has won.
    winner: Option<usize>,
    lanes: Vec<Lane>,
    rejected: Vec<(usize, String)>,
    untried: Vec<usize>,
    rounds: u32,
}

impl Race<'_> {
    fn run(&mut self) -> Result<(), Stop> {
        self.prepare()?;
        if self.challengers() == 0 {
            return Ok(());
        }
        while self.rounds < MAX_ROUNDS {
            let mut order: Vec<usize> = (0..self.lanes.len()).filter(|&lane| self.lanes[lane].alive).collect();
            if self.rounds % 2 == 1 {
                order.reverse();
            }
            if !self.round(&order)? {
                break;
            }
            self.cut();
            if self.challengers() == 0 || (self.rounds as usize >= MIN_READINGS && self.is_clear()) {
                break;
            }
        }
        self.confirm()
    }

    /// Names the winner, if there is one that stands.
    fn confirm(&mut self) -> Result<(), Stop> {
        let wins = |lane: usize| Ratio::of(&self.lanes[lane].ratios).filter(Ratio::wins).map(|ratio| (lane, ratio));
        let best = (1..self.lanes.len())
            .filter(|&lane| !self.is_rejected(self.lanes[lane].variant))
            .filter_map(wins)
            .min_by(|a, b| a.1.median.total_cmp(&b.1.median));
        let Some((lane, ratio)) = best else { return Ok(()) };
        if !ratio.is_decisive() {
            self.deadline = self.end;
            let seen = self.lanes[lane].ratios.len();
            for step in 0..MIN_READINGS {
                let order = if step % 2 == 0 { [0, lane] } else { [lane, 0] };
                if !self.round(&order)? {
                    return Err(Stop::Late("the budget ended before a win was confirmed".into()));
                }
            }
            if !Ratio::of(&self.lanes[lane].ratios[seen..]).is_some_and(|fresh| fresh.wins()) {
                return Ok(());
            }
        }
        if !self.is_rejected(self.lanes[lane].variant) {
            self.winner = Some(lane);
        }
        Ok(())
    }

    /// Fills the lanes: the first variant that works becomes the baseline.
    fn prepare(&mut self) -> Result<(), Stop> {
        for variant in 0..self.tunable.variants().len() {
            if let Some(baseline) = self.lanes.first() {
                let sample = duration(baseline.readings[0] * f64::from(baseline.repeats));
                let first = self.expected(variant).map_or(Duration::ZERO, |run| run + self.setup / 2);
                if !self.leaves_time(first, sample, self.challengers() + 1) {
                    self.untried.push(variant);
                    continue;
                }
            }
            match self.enter(variant) {
                Ok(lane) => self.lanes.push(lane),
                Err(Refused::Rejected(reason)) => self.rejected.push((variant, reason)),
                Err(Refused::Late) if self.lanes.is_empty() => {
                    return Err(Stop::Late("the budget ended before the default had been timed".into()));
                }
                Err(Refused::Late) => self.untried.push(variant),
                Err(Refused::Stop(stop)) => return Err(stop),
            }
        }
        Ok(())
    }

    fn enter(&mut self, variant: usize) -> Result<Lane, Refused> {
        verify(self.tunable, variant).map_err(|e| self.refusal("verification", e))?;
        self.check_time()?;
        if self.lanes.is_empty() {
            self.set_up(variant)?;
        }
        // Its wall time is no measure: a tunable may compile, or check results, around its first run.
        let reading = self.launch(variant, 1).map_err(|e| self.refusal("launch", e))?;
        let once = if is_void(reading) { Duration::ZERO } else { duration(reading) };
        if self.lanes.is_empty() && !self.leaves_time(Duration::ZERO, once, 1) {
            return Err(too_long(once));
        }
        let (repeats, first) = self.calibrate(variant)?;
        let mut lane = Lane { variant, repeats, readings: vec![first], ratios: Vec::new(), alive: true };
        if let Some(baseline) = self.lanes.first() {
            lane.alive = !self.is_hopeless(&mut lane, baseline.readings[0])?;
        }
        Ok(lane)
    }

    /// Makes the timed problem, if what is known of its size leaves time for a race.
    fn set_up(&mut self, variant: usize) -> Result<(), Refused> {
        let run = self.expected(variant).unwrap_or_default();
        let first = duration(self.prior.setup) + run;
        if self.setup.is_zero() && !self.leaves_time(first, run, 1) {
            return Err(too_long(run));
        }
        let start = self.clock.now();
        self.tunable.prepare().map_err(|e| self.refusal("making the problem", e))?;
        self.setup = self.setup.max(self.clock.now().saturating_sub(start));
        Ok(())
    }

    /// What one run of a variant may take, as far as a near class tells.
    fn expected(&self, variant: usize) -> Option<Duration> {
        self.prior.seconds.get(variant).copied().flatten().map(duration)
    }

    /// Finds how many runs make a sample long enough, and the seconds per run it read.
    fn calibrate(&self, variant: usize) -> Result<(u32, f64), Refused> {
        let (mut repeats, mut target, mut zero_first, mut first) = (1u32, MIN_SAMPLE, false, true);
        for _ in 0..MAX_CALIBRATIONS {
            self.check_time()?;
            let reading = self.launch(variant, repeats).map_err(|e| self.refusal("launch", e))?;
            if is_void(reading) {
                zero_first |= reading == 0.0 && first;
                if repeats == MAX_REPEATS {
                    break;
                }
                repeats = repeats.saturating_mul(4).min(MAX_REPEATS);
                continue;
            }
            // A clock that first stands still is coarse, and what it then shows is about one tick.
            if first && zero_first {
                target = (TICKS * reading).clamp(MIN_SAMPLE, MAX_SAMPLE);
            }
            first = false;
            if reading >= target || repeats == MAX_REPEATS {
                return Ok((repeats, reading / f64::from(repeats)));
            }
            let growth = (1.2 * target / reading).clamp(2.0, 16.0);
            repeats = ((f64::from(repeats) * growth).ceil() as u32).min(MAX_REPEATS);
        }
        Err(Refused::Rejected(format!("the clock gave no usable reading for {repeats} runs")))
    }

    /// Two warm samples, both far slower than the default: no round is spent on it.
    fn is_hopeless(&self, lane: &mut Lane, baseline: f64) -> Result<bool, Refused> {
        let bound = HOPELESS * baseline;
        if lane.readings[0] <= bound {
            return Ok(false);
        }
        self.check_time()?;
        let again = self.launch(lane.variant, lane.repeats).map_err(|e| self.refusal("launch", e))?;
        if is_void(again) || again / f64::from(lane.repeats) <= bound {
            return Ok(false);
        }
        lane.readings.push(again / f64::from(lane.repeats));
        lane.ratios = lane.readings.iter().map(|r| r / baseline).collect();
        Ok(true)
    }

    /// One sample of each of these lanes, in this order. `Ok(false)` = the budget ended, but there is evidence enough to decide.
    fn round(&mut self, order: &[usize]) -> Result<bool, Stop> {
        let mut readings = vec![f64::NAN; self.lanes.len()];
        for &lane in order {
            if self.clock.now() >= self.deadline {
                if self.rounds as usize >= MIN_READINGS {
                    return Ok(false);
                }
                return Err(Stop::Late(format!("the budget ended in round {} of {MIN_READINGS}", self.rounds + 1)));
            }
            let Lane { variant, repeats, .. } = self.lanes[lane];
            match self.launch(variant, repeats) {
                Ok(reading) => readings[lane] = reading / f64::from(repeats),
                Err(error) if lane == 0 || error.kind().is_passing() => {
                    return Err(Stop::Passing(format!("{} failed while being timed: {error}", self.name(variant))));
                }
                Err(error) => {
                    self.lanes[lane].alive = false;
                    self.rejected.push((variant, format!("launch: {error}")));
                }
            }
        }
        self.rounds += 1;
        let baseline = readings[0];
        for (lane, reading) in self.lanes.iter_mut().zip(readings).filter(|(_, reading)| !is_void(*reading)) {
            lane.readings.push(reading);
            if !is_void(baseline) {
                lane.ratios.push(reading / baseline);
            }
        }
        Ok(true)
    }

    /// Drops clear losers, then every other round the slower half.
    fn cut(&mut self) {
        if self.rounds < FIRST_CUT {
            return;
        }
        let alive = |lanes: &[Lane]| (1..lanes.len()).filter(|&lane| lanes[lane].alive).collect::<Vec<_>>();
        let mut field = alive(&self.lanes);
        let leader = field.iter().map(|&lane| self.lanes[lane].median_ratio()).fold(1.0, f64::min);
        for &lane in &field {
            let best = self.lanes[lane].ratios.iter().copied().fold(f64::INFINITY, f64::min);
            // A lane without any ratio yet has shown nothing: it stays.
            self.lanes[lane].alive = best.is_infinite() || best <= leader * CLEAR_LOSS;
        }
        if self.rounds % 2 == 1 {
            field = alive(&self.lanes);
            field.sort_by(|&a, &b| self.lanes[a].median_ratio().total_cmp(&self.lanes[b].median_ratio()));
            for &lane in field.iter().skip(field.len().div_ceil(2)) {
                self.lanes[lane].alive = false;
            }
        }
    }

    fn challengers(&self) -> usize {
        self.lanes.iter().skip(1).filter(|lane| lane.alive).count()
    }

    /// Whether more rounds would not change the result: one challenger is left, and it has won or gains too little. A
    /// gain hidden by noise is given the rest of the rounds.
    fn is_clear(&self) -> bool {
        let mut alive = self.lanes.iter().skip(1).filter(|lane| lane.alive);
        match (alive.next(), alive.next()) {
            (Some(lane), None) => {
                Ratio::of(&lane.ratios).is_some_and(|ratio| ratio.wins() || ratio.median > 1.0 - MIN_GAIN)
            }
            _ => false,
        }
    }

    fn verdict(&self) -> Verdict {
        let Some(baseline) = self.lanes.first() else {
            let reasons: Vec<String> = self.rejected.iter().map(|(v, r)| format!("{}: {r}", self.name(*v))).collect();
            return Verdict::Failed(format!("no variant is right and runs ({})", reasons.join("; ")));
        };
        let raced = self.rounds > 0;
        if raced && baseline.ratios.is_empty() {
            return Verdict::Abandoned("the default gave no usable reading in any round".into());
        }
        match self.winner {
            Some(lane) => Verdict::Settled { variant: self.lanes[lane].variant, won: true },
            None => Verdict::Settled { variant: baseline.variant, won: baseline.variant != 0 },
        }
    }

    fn finish(self, verdict: Verdict) -> Measurement {
        let mut timed: Vec<Timed> = self
            .lanes
            .iter()
            .enumerate()
            .filter(|(_, lane)| !self.is_rejected(lane.variant))
            .filter_map(|(index, lane)| {
                let alone = Ratio { median: 1.0, noise: 0.0, readings: 0 };
                let ratio = Ratio::of(&lane.ratios).or((index == 0).then_some(alone))?;
                Some(Timed { variant: lane.variant, seconds: median(&lane.readings)?, ratio })
            })
            .collect();
        timed.sort_by(|a, b| a.ratio.median.total_cmp(&b.ratio.median));
        Measurement {
            verdict,
            timed,
            baseline: self.lanes.first().map(|lane| lane.variant),
            rejected: self.rejected,
            untried: self.untried,
            rounds: self.rounds,
            setup: self.setup,
        }
    }

    fn is_rejected(&self, variant: usize) -> bool {
        self.rejected.iter().any(|(rejected, _)| *rejected == variant)
    }

    fn name(&self, variant: usize) -> &str {
        self.tunable.variants().get(variant).map_or("?", String::as_str)
    }

    /// Whether, after `first`, the rounds with this many challengers and samples of this length would end in time.
    fn leaves_time(&self, first: Duration, sample: Duration, challengers: usize) -> bool {
        let needed = sample.saturating_mul(samples_needed(challengers)).saturating_add(first);
        self.clock.now().saturating_add(needed) <= self.deadline
    }

    fn check_time(&self) -> Result<(), Refused> {
        if self.clock.now() >= self.deadline { Err(Refused::Late) } else { Ok(()) }
    }

    fn launch(&self, variant: usize, repeats: u32) -> Result<f64, Error> {
        BENCHMARK_LAUNCHES.fetch_add(u64::from(repeats), Ordering::Relaxed);
        self.tunable.time(variant, repeats)
    }

    fn refusal(&self, step: &str, error: Error) -> Refused {
        if error.kind().is_passing() {
            return Refused::Stop(Stop::Passing(format!("{step}: {error}")));
        }
        Refused::Rejected(format!("{step}: {error}"))
    }
}

#[cfg(test)]
mod tests;
