//! Running a [`Problem`]: checks, choice of runtime and variant, transfer, and the fall back to the next variant when a
//! launch fails.

use crate::error::{Error, ErrorKind, Result};
use crate::ops::job::Job;
use crate::ops::problem::{Problem, Shape, State, Variant};
use crate::runtime::{self, Target};
use crate::signal::{Signal, Source, ViewMut};
use crate::tune;

/// Computes on host arrays, into a new array.
pub(crate) fn host(
    problem: &dyn Problem,
    x: Source<'_>,
    state: Option<&mut State>,
    runtime: Option<&str>,
) -> Result<Signal> {
    let input = shape_of(&x);
    problem.check(input)?;
    let output = problem.output(input);
    let mut y = Signal::dirty(output.channels, output.samples)?;
    host_into(problem, x, y.view_mut(), state, runtime)?;
    y.zero_padding();
    Ok(y)
}

/// Computes on host arrays, into `y`.
pub(crate) fn host_into(
    problem: &dyn Problem,
    x: Source<'_>,
    y: ViewMut<'_>,
    state: Option<&mut State>,
    runtime: Option<&str>,
) -> Result<()> {
    let input = shape_of(&x);
    problem.check(input)?;
    let output = problem.output(input);
    if (y.channels(), y.samples()) != (output.channels, output.samples) {
        return Err(Error::shape(format!(
            "the output is {} x {}, the result of {} is {} x {} (channels x samples); pass an output of that shape",
            y.channels(),
            y.samples(),
            problem.operation(),
            output.channels,
            output.samples
        )));
    }
    if let Some(state) = &state {
        state.check(problem.operation(), input.channels, problem.state_len())?;
    }
    let target = runtime::resolve(runtime)?;
    #[cfg(feature = "gpu")]
    let target = able(problem, target, runtime);
    if output.channels == 0 || output.samples == 0 {
        return Ok(());
    }
    run_on(&target, problem, x, y, state)
}

/// The CPU in place of a device that nobody named and that has no kernel for the problem.
#[cfg(feature = "gpu")]
fn able(problem: &dyn Problem, target: Target, runtime: Option<&str>) -> Target {
    match &target {
        Target::Gpu(gpu) if runtime::is_default(runtime) && problem.gpu_refusal(gpu.facts()).is_some() => {
            log::debug!("{} runs on the CPU: the default device has no kernel for it", problem.operation());
            Target::Cpu
        }
        _ => target,
    }
}

/// Computes on a target, into `y` of the output's shape.
pub(crate) fn run_on(
    target: &Target,
    problem: &dyn Problem,
    x: Source<'_>,
    mut y: ViewMut<'_>,
    mut state: Option<&mut State>,
) -> Result<()> {
    match target {
        Target::Cpu => {
            enough_memory(problem, shape_of(&x))?;
            let job = Job::cpu(problem, &x);
            with_variants(&job, |v| problem.run_cpu(v, x, y.reborrow(), state.as_deref_mut()))
        }
        #[cfg(feature = "gpu")]
        Target::Gpu(gpu) if problem.whole_channels() => {
            let (input, channels) = (shape_of(&x), x.channels());
            let at_once = channels_at_once(problem, input, &gpu.facts().limits)?;
            for first in (0..channels).step_by(at_once) {
                let part = y.reborrow().channel_range(first, at_once);
                let own = problem.of_channels(first, at_once.min(channels - first));
                let problem = own.as_deref().unwrap_or(problem);
                on_device_from_host(gpu, problem, x.channel_range(first, at_once), part, None)?;
            }
            Ok(())
        }
        #[cfg(feature = "gpu")]
        Target::Gpu(gpu) => on_device_from_host(gpu, problem, x, y, state),
    }
}

/// Less work space than this is not asked for in advance.
const LITTLE: usize = 64 << 20;

/// Whether the work space of a problem can be had.
fn enough_memory(problem: &dyn Problem, input: Shape) -> Result<()> {
    let threads = rayon::current_num_threads().min(input.channels);
    let bytes = problem.work_space(input).saturating_mul(threads);
    if bytes < LITTLE {
        return Ok(());
    }
    Vec::<u8>::new().try_reserve_exact(bytes).map_err(|e| {
        let operation = problem.operation();
        Error::new(
            ErrorKind::OutOfMemory,
            format!("there is no memory for the {bytes} bytes of work space of {operation}; use shorter transforms"),
        )
        .with_source(e)
    })
}

/// How many channels of a problem that needs them whole fit the bindings of a device.
#[cfg(feature = "gpu")]
fn channels_at_once(problem: &dyn Problem, input: Shape, limits: &crate::runtime::gpu::Limits) -> Result<usize> {
    let longest = input.samples.max(problem.output(Shape { channels: 1, ..input }).samples);
    let bytes = 4 * crate::signal::pitch(longest) as u64;
    let allowed = limits.binding_bytes.min(limits.buffer_bytes);
    match usize::try_from(allowed / bytes.max(1)).unwrap_or(usize::MAX) {
        0 => Err(Error::new(
            ErrorKind::Limit,
            format!(
                "{} needs a channel in one piece: {bytes} bytes, the device binds {allowed}; use the cpu runtime or shorter channels",
                problem.operation()
            ),
        )),
        channels => Ok(channels.min(input.channels).max(1)),
    }
}

#[cfg(feature = "gpu")]
fn on_device_from_host(
    gpu: &std::sync::Arc<dyn crate::runtime::gpu::Gpu>,
    problem: &dyn Problem,
    x: Source<'_>,
    y: ViewMut<'_>,
    state: Option<&mut State>,
) -> Result<()> {
    use crate::runtime::DeviceArray;
    let x = match problem.accepts(x.dtype()) {
        true => DeviceArray::upload(gpu, x)?,
        false => DeviceArray::upload_f32(gpu, x)?,
    };
    // The state moves on only once its results have arrived.
    let mut carried = state.as_deref().cloned();
    on_device(problem, &x, carried.as_mut())?.download_into(y)?;
    if let (Some(state), Some(carried)) = (state, carried) {
        *state = carried;
    }
    Ok(())
}

/// Computes on a device array; the result stays on the device.
#[cfg(feature = "gpu")]
pub(crate) fn device(
    problem: &dyn Problem,
    x: &crate::runtime::DeviceArray,
    state: Option<&mut State>,
) -> Result<crate::runtime::DeviceArray> {
    let input = Shape { channels: x.channels(), samples: x.samples() };
    problem.check(input)?;
    if !problem.accepts(x.dtype()) {
        return Err(Error::new(
            ErrorKind::Unsupported,
            format!(
                "{} takes float32 arrays on a device, this one is {}; convert it first (ops::convert::Convert::apply_device)",
                problem.operation(),
                x.dtype().name()
            ),
        ));
    }
    if let Some(state) = &state {
        state.check(problem.operation(), input.channels, problem.state_len())?;
    }
    on_device(problem, x, state)
}

#[cfg(feature = "gpu")]
fn on_device(
    problem: &dyn Problem,
    x: &crate::runtime::DeviceArray,
    mut state: Option<&mut State>,
) -> Result<crate::runtime::DeviceArray> {
    use crate::runtime::{DeviceArray, Layout};
    use crate::signal::Dtype;
    let output = problem.output(Shape { channels: x.channels(), samples: x.samples() });
    let gpu = x.gpu();
    let y = DeviceArray::empty(gpu, output.channels, output.samples, Dtype::F32, Layout::Planar)?;
    if output.channels > 0 && output.samples > 0 {
        let job = Job::gpu(problem, x);
        with_variants(&job, |v| problem.run_gpu(gpu.as_ref(), v, x, &y, state.as_deref_mut()))?;
    }
    Ok(y)
}

/// Runs the tuner's choice; if it cannot be launched here, that is remembered and the next best runs. The state is only
/// written by a run that succeeds, so a retry starts from the same one.
fn with_variants(job: &Job<'_>, run: impl FnMut(&Variant) -> Result<()>) -> Result<()> {
    with_tuner(tune::shared(), tune::Policy::from_env()?, job, run)
}

/// [`with_variants`], by another tuner than the process's.
pub(crate) fn with_tuner(
    tuner: &tune::Tuner,
    policy: tune::Policy,
    job: &Job<'_>,
    mut run: impl FnMut(&Variant) -> Result<()>,
) -> Result<()> {
    let mut choice = tuner.choose(job, policy).variant;
    loop {
        match run(job.variant(choice)?) {
            Err(e) if matches!(e.kind(), ErrorKind::Kernel | ErrorKind::Limit | ErrorKind::Unsupported) => {
                match tuner.report_failure(job, choice, &e, policy) {
                    Some(next) => choice = next,
                    None => return Err(e),
                }
            }
            other => return other,
        }
    }
}

pub(crate) fn shape_of(x: &Source<'_>) -> Shape {
    Shape { channels: x.channels(), samples: x.samples() }
}

impl State {
    /// Checks that the state is that of an operation with so many values for each of these channels.
    pub(crate) fn check(&self, operation: &str, channels: usize, per_channel: usize) -> Result<()> {
        let expected = channels * per_channel;
        if self.channels != channels || self.values.len() != expected {
            return Err(Error::shape(format!(
                "the state belongs to {} channels with {} values in all, {operation} on {channels} channels carries {expected}; use the state of this filter and recording",
                self.channels,
                self.values.len()
            )));
        }
        Ok(())
    }
}
