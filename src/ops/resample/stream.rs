//! Another rate for a recording that comes in chunks: the same results as for the whole, however it is cut.

use super::bank::Stand;
use super::padtype::PadType;
use super::problem::{Count, Polyphase};
use super::resample_poly::{ResamplePoly, ResamplePolyOptions};
use crate::error::{Error, Result};
use crate::ops::execute;
use crate::signal::{Signal, Source};

/// [`super::resample_poly`] for chunks of a recording, with a state that is carried from one to the next.
///
/// A result is given once all samples that it depends on have come, so that chunks give more results or fewer, or none at
/// all; [`Resampler::finish`] gives what is left at the end. On the CPU the results together have the same bits as those of
/// the whole recording where zeros stand beyond its ends, else they are as close to scipy.
///
/// ```
/// use dspk::ops::resample::{ResamplePolyOptions, Resampler, resample_poly};
/// use dspk::signal::View;
///
/// let x: Vec<f32> = (0..1000).map(|n| (n as f32 * 0.05).sin()).collect();
/// let options = ResamplePolyOptions { runtime: Some("cpu".into()), ..Default::default() };
/// let resampler = Resampler::new(3, 4, &options)?;
/// let mut state = resampler.state(1);
/// let mut y = Vec::new();
/// for chunk in x.chunks(270) {
///     y.extend_from_slice(resampler.apply_with(View::new(chunk, 1, chunk.len())?, &mut state)?.row(0));
/// }
/// y.extend_from_slice(resampler.finish(&mut state)?.row(0));
/// assert_eq!(y, resample_poly(View::new(&x, 1, 1000)?, 3, 4, &options)?.row(0));
/// # Ok::<(), dspk::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Resampler {
    plan: ResamplePoly,
}

/// What a [`Resampler`] carries from one chunk to the next.
#[derive(Debug, Clone, PartialEq)]
pub struct ResampleState {
    /// The last samples of each channel, as many as are still needed.
    recent: Vec<Vec<f32>>,
    /// Samples so far.
    seen: usize,
    /// Results so far.
    given: usize,
}

impl ResampleState {
    /// Samples that have come so far.
    pub fn samples(&self) -> usize {
        self.seen
    }

    /// Results that have been given so far.
    pub fn results(&self) -> usize {
        self.given
    }
}

impl Resampler {
    /// To `up / down` of the rate, see [`super::resample_poly`].
    ///
    /// # Errors
    /// Those of [`ResamplePoly::new`], and a padding that needs the whole recording: all but `Constant` and `Edge`.
    pub fn new(up: usize, down: usize, options: &ResamplePolyOptions) -> Result<Self> {
        if !matches!(options.padtype, PadType::Constant(_) | PadType::Edge) {
            return Err(Error::invalid(format!(
                "padtype {} needs the whole recording; in chunks use constant or edge, or resample the whole",
                options.padtype.name()
            )));
        }
        Ok(Resampler { plan: ResamplePoly::new(up, down, options)? })
    }

    /// The plan for whole recordings.
    pub fn plan(&self) -> &ResamplePoly {
        &self.plan
    }

    /// The state before the first sample.
    pub fn state(&self, channels: usize) -> ResampleState {
        ResampleState { recent: vec![Vec::new(); channels], seen: 0, given: 0 }
    }

    /// Takes a chunk, `[channels, samples]`, and gives the results that are complete with it.
    ///
    /// # Errors
    /// A chunk of another number of channels than the state has, a runtime that cannot be used, or no memory; the state is
    /// then as it was.
    pub fn apply_with<'a>(&self, x: impl Into<Source<'a>>, state: &mut ResampleState) -> Result<Signal> {
        let x = x.into();
        let problem = self.plan.problem();
        if x.channels() != state.recent.len() {
            return Err(Error::shape(format!(
                "the chunk has {} channels, the state {}; use one state for each recording",
                x.channels(),
                state.recent.len()
            )));
        }
        if x.samples() == 0 {
            return Signal::zeros(x.channels(), 0);
        }
        // What stands before the first sample is made to be the past.
        let before = match problem.padtype {
            padtype if state.seen > 0 || padtype.is_zero() => 0,
            _ => problem.bank.longest() - 1,
        };
        let kept = state.recent.first().map_or(0, Vec::len);
        let mut all = Signal::zeros(x.channels(), before + kept + x.samples())?;
        for (channel, recent) in state.recent.iter().enumerate() {
            let row = all.row_mut(channel);
            let first = match problem.padtype {
                PadType::Constant(v) => v as f32,
                _ => x.get(channel, 0),
            };
            row[..before].fill(first);
            row[before..before + kept].copy_from_slice(recent);
            row[before + kept..].iter_mut().enumerate().for_each(|(n, v)| *v = x.get(channel, n));
        }
        let seen = state.seen + x.samples();
        let oldest = state.seen as i64 - (before + kept) as i64;
        let y = self.ready(&all, oldest, state.given)?;
        state.given += y.samples();
        state.seen = seen;
        // From the oldest sample of the next result on.
        let next = problem.stand(state.given).newest + 1 - problem.bank.longest() as i64;
        let keep = usize::try_from(next.max(oldest) - oldest).unwrap_or(0).min(all.samples());
        for (channel, recent) in state.recent.iter_mut().enumerate() {
            recent.clear();
            recent.extend_from_slice(&all.row(channel)[keep..]);
        }
        Ok(y)
    }

    /// Gives the results that were still waiting for samples, as if the recording went on with its padding, and sets the state
    /// back to the beginning.
    ///
    /// # Errors
    /// A runtime that cannot be used, or no memory; the state is then as it was.
    pub fn finish(&self, state: &mut ResampleState) -> Result<Signal> {
        let problem = self.plan.problem();
        let channels = state.recent.len();
        let left = problem.count(state.seen).saturating_sub(state.given);
        let mut y = Signal::zeros(channels, left)?;
        if left > 0 && channels > 0 {
            let Stand { newest, .. } = problem.stand(state.given + left - 1);
            let kept = state.recent[0].len();
            let more = usize::try_from(newest + 1 - state.seen as i64).unwrap_or(0);
            let mut all = Signal::zeros(channels, kept + more)?;
            for (channel, recent) in state.recent.iter().enumerate() {
                let row = all.row_mut(channel);
                row[..kept].copy_from_slice(recent);
                row[kept..].fill(match problem.padtype {
                    PadType::Constant(v) => v as f32,
                    _ => recent.last().copied().unwrap_or(0.0),
                });
            }
            let last = self.ready(&all, state.seen as i64 - kept as i64, state.given)?;
            (0..channels).for_each(|c| y.row_mut(c).copy_from_slice(&last.row(c)[..left]));
        }
        *state = self.state(channels);
        Ok(y)
    }

    /// The results from `given` on whose newest sample is in `x`, whose first sample is number `oldest` of the recording.
    fn ready(&self, x: &Signal, oldest: i64, given: usize) -> Result<Signal> {
        let whole = self.plan.problem();
        let (up, down) = (whole.bank.up as i128, whole.bank.down as i128);
        let stand = given as i128 * down + i128::from(whole.offset) - i128::from(oldest) * up;
        let offset = u64::try_from(stand).map_err(|_| Error::internal("a result lies before its samples"))?;
        let problem = Polyphase { offset, count: Count::Ready, padtype: PadType::default(), ..whole.clone() };
        execute::host(&problem, x.into(), None, self.plan.runtime())
    }
}
