//! A device that computes nothing, for tests: buffers live in host memory and are really written, read, copied and
//! cleared; launches are checked like on a real device and recorded; time follows a script; any call can be made to fail.
//!
//! ```
//! # #[cfg(feature = "gpu")] {
//! use dspk::runtime::{gpu::Gpu, null::NullGpu};
//! let gpu = NullGpu::new().with_binding_bytes(1 << 20);
//! assert_eq!(gpu.facts().limits.binding_bytes, 1 << 20);
//! # }
//! ```

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::check::{check_bindings, check_copy, check_range, usable_size};
use super::gpu::{Command, DeviceBuffer, DeviceClass, Facts, Gpu, Limits};
use crate::error::{Error, ErrorKind, Result};
use crate::kernel::Kernel;

static NEXT_ID: AtomicU64 = AtomicU64::new(1 << 48);

/// A launch that was asked for.
#[derive(Debug, Clone)]
pub struct Launch {
    /// What.
    pub kernel: Arc<Kernel>,
    /// Buffer id, offset and bytes of each binding.
    pub bindings: Vec<(u64, u64, u64)>,
    /// How many groups.
    pub groups: u64,
}

/// The calls that can be made to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Call {
    /// [`Gpu::allocate`].
    Allocate,
    /// A launch, submitted or timed.
    Launch,
}

/// What so many runs of a kernel read.
type Clock = Box<dyn FnMut(&Kernel, u32) -> f64 + Send>;

struct State {
    launches: Vec<Launch>,
    clock: Clock,
    calls: HashMap<Call, u64>,
    failures: Vec<(Call, u64, ErrorKind)>,
    lost: bool,
}

/// The scripted device.
pub struct NullGpu {
    facts: Facts,
    state: Mutex<State>,
}

struct Memory(Mutex<Vec<u8>>);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn memory(buffer: &DeviceBuffer) -> Result<&Mutex<Vec<u8>>> {
    buffer
        .inner
        .downcast_ref::<Memory>()
        .map(|m| &m.0)
        .ok_or_else(|| Error::invalid(format!("{buffer:?} belongs to another device; upload the array to this one")))
}

impl Default for NullGpu {
    fn default() -> Self {
        Self::new()
    }
}

impl NullGpu {
    /// A discrete card with wgpu's usual limits, on which every launch takes one millisecond.
    pub fn new() -> Self {
        let limits = Limits {
            binding_bytes: 128 << 20,
            buffer_bytes: 256 << 20,
            uniform_bytes: 64 << 10,
            groups_per_dimension: 65_535,
            group_size: 1024,
            group_bytes: 32 << 10,
            storage_alignment: 256,
        };
        NullGpu::with_facts(Facts {
            key: "null".into(),
            runtime: "null",
            vendor: String::new(),
            name: "scripted device".into(),
            driver: "1".into(),
            class: DeviceClass::Discrete,
            limits,
            subgroups: Some((32, 32)),
            timestamps: true,
            float16: false,
            float64: false,
            compensation: true,
        })
    }

    /// A device with these facts.
    pub fn with_facts(facts: Facts) -> Self {
        let state = State {
            launches: Vec::new(),
            clock: Box::new(|_, repeats| 1e-3 * f64::from(repeats)),
            calls: HashMap::new(),
            failures: Vec::new(),
            lost: false,
        };
        NullGpu { facts, state: Mutex::new(state) }
    }

    /// The same with another binding limit.
    pub fn with_binding_bytes(mut self, bytes: u64) -> Self {
        self.facts.limits.binding_bytes = bytes;
        self
    }

    /// Sets the seconds each launch takes: the clock is asked once per launch and call of [`Gpu::time`], and its answer,
    /// whatever it is, counts once per repeat.
    pub fn set_clock(&self, mut clock: impl FnMut(&Kernel) -> f64 + Send + 'static) {
        self.set_timer(move |kernel, repeats| clock(kernel) * f64::from(repeats));
    }

    /// Sets what each launch of a call of [`Gpu::time`] reads, all repeats together: a clock that ticks, stalls or stands
    /// still.
    pub fn set_timer(&self, timer: impl FnMut(&Kernel, u32) -> f64 + Send + 'static) {
        lock(&self.state).clock = Box::new(timer);
    }

    /// Sets the readings of each kernel, by hash, one per call of [`Gpu::time`]; the last one repeats, and kernels that
    /// are not listed take no time.
    pub fn set_readings(&self, readings: impl IntoIterator<Item = (u128, Vec<f64>)>) {
        let mut readings: HashMap<u128, VecDeque<f64>> =
            readings.into_iter().map(|(hash, list)| (hash, list.into())).collect();
        self.set_clock(move |kernel| match readings.get_mut(&kernel.hash) {
            Some(list) if list.len() > 1 => list.pop_front().unwrap_or(0.0),
            Some(list) => list.front().copied().unwrap_or(0.0),
            None => 0.0,
        });
    }

    /// Makes the `nth` call from now (0 = the next one) fail with this kind; `DeviceLost` makes all later ones fail too.
    pub fn fail(&self, call: Call, nth: u64, kind: ErrorKind) {
        let mut state = lock(&self.state);
        let at = state.calls.get(&call).copied().unwrap_or(0).saturating_add(nth);
        state.failures.push((call, at, kind));
    }

    /// The launches so far, oldest first; the record starts anew.
    pub fn take_launches(&self) -> Vec<Launch> {
        std::mem::take(&mut lock(&self.state).launches)
    }

    fn check_alive(&self) -> Result<()> {
        if lock(&self.state).lost {
            return Err(Error::new(ErrorKind::DeviceLost, "the scripted device was lost; open a fresh one"));
        }
        Ok(())
    }

    fn count(&self, call: Call) -> Result<()> {
        self.check_alive()?;
        let mut state = lock(&self.state);
        let counter = state.calls.entry(call).or_default();
        let now = *counter;
        *counter += 1;
        let Some(found) = state.failures.iter().position(|(c, at, _)| *c == call && *at == now) else { return Ok(()) };
        let (_, _, kind) = state.failures.swap_remove(found);
        state.lost |= kind == ErrorKind::DeviceLost;
        Err(Error::new(kind, format!("scripted failure of {call:?} {now}")))
    }

    fn launch(&self, command: &Command) -> Result<()> {
        match command {
            Command::Launch { groups: 0, .. } | Command::Copy { bytes: 0, .. } => Ok(()),
            Command::Launch { kernel, bindings, groups } => {
                check_bindings(kernel, bindings, &self.facts.limits)?;
                bindings.iter().try_for_each(|s| memory(&s.buffer).map(drop))?;
                self.count(Call::Launch)?;
                let bindings = bindings.iter().map(|s| (s.buffer.id, s.offset, s.bytes)).collect();
                lock(&self.state).launches.push(Launch { kernel: kernel.clone(), bindings, groups: *groups });
                Ok(())
            }
            Command::Copy { from, from_offset, to, to_offset, bytes } => {
                check_copy(from, *from_offset, to, *to_offset, *bytes)?;
                let (start, len) = (*from_offset as usize, *bytes as usize);
                let copied = lock(memory(from)?)[start..start + len].to_vec();
                lock(memory(to)?)[*to_offset as usize..*to_offset as usize + len].copy_from_slice(&copied);
                Ok(())
            }
            Command::Clear(buffer) => {
                lock(memory(buffer)?).fill(0);
                Ok(())
            }
        }
    }
}

impl Gpu for NullGpu {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn allocate(&self, bytes: u64) -> Result<DeviceBuffer> {
        let bytes = usable_size(bytes, &self.facts.limits)?;
        self.count(Call::Allocate)?;
        // All ones is NaN: what is never written shows.
        let memory = Memory(Mutex::new(vec![0xff; bytes as usize]));
        Ok(DeviceBuffer { id: NEXT_ID.fetch_add(1, Ordering::Relaxed), bytes, inner: Arc::new(memory) })
    }

    fn constant(&self, bytes: &[u8]) -> Result<DeviceBuffer> {
        self.check_alive()?;
        let size = usable_size(bytes.len() as u64, &self.facts.limits)?;
        let mut content = bytes.to_vec();
        content.resize(size as usize, 0);
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        Ok(DeviceBuffer { id, bytes: size, inner: Arc::new(Memory(Mutex::new(content))) })
    }

    fn write(&self, to: &DeviceBuffer, offset: u64, bytes: u64, fill: &mut dyn FnMut(u64, &mut [u8])) -> Result<()> {
        self.check_alive()?;
        check_range(to, offset, bytes)?;
        let mut memory = lock(memory(to)?);
        // Parts of an awkward size, so that nobody relies on whole rows.
        memory[offset as usize..(offset + bytes) as usize]
            .chunks_mut(PART_BYTES)
            .enumerate()
            .for_each(|(i, part)| fill((i * PART_BYTES) as u64, part));
        Ok(())
    }

    fn read(&self, from: &DeviceBuffer, offset: u64, bytes: u64, take: &mut dyn FnMut(u64, &[u8])) -> Result<()> {
        self.check_alive()?;
        check_range(from, offset, bytes)?;
        lock(memory(from)?)[offset as usize..(offset + bytes) as usize]
            .chunks(PART_BYTES)
            .enumerate()
            .for_each(|(i, part)| take((i * PART_BYTES) as u64, part));
        Ok(())
    }

    fn prepare(&self, _kernel: &Arc<Kernel>) -> Result<()> {
        self.check_alive()
    }

    fn submit(&self, commands: &[Command]) -> Result<()> {
        self.check_alive()?;
        commands.iter().try_for_each(|command| self.launch(command))
    }

    fn wait(&self) -> Result<()> {
        self.check_alive()
    }

    fn time(&self, commands: &[Command], repeats: u32) -> Result<f64> {
        self.submit(commands)?;
        let clock = &mut lock(&self.state).clock;
        let readings = commands.iter().map(|command| match command {
            Command::Launch { kernel, groups: 1.., .. } => clock(kernel, repeats),
            _ => 0.0,
        });
        Ok(readings.sum())
    }
}

/// Bytes of a part handed to [`Gpu::write`] and [`Gpu::read`].
const PART_BYTES: usize = 1012;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Access, Binding};
    use crate::runtime::gpu::Slice;

    fn kernel(hash: u128) -> Arc<Kernel> {
        Arc::new(Kernel {
            name: "test/null",
            text: String::new(),
            hash,
            group_size: 64,
            group_bytes: 0,
            bindings: vec![Binding { index: 0, name: "y".into(), access: Access::ReadWrite, min_bytes: 4 }],
            subgroups: false,
        })
    }

    fn launch(gpu: &NullGpu, hash: u128) -> Command {
        let y = gpu.allocate(64).unwrap();
        Command::Launch { kernel: kernel(hash), bindings: vec![Slice::from(&y)], groups: 3 }
    }

    #[test]
    fn memory_works() {
        let gpu = NullGpu::new();
        let (a, b) = (gpu.allocate(4000).unwrap(), gpu.allocate(4001).unwrap());
        assert_eq!((a.bytes, b.bytes), (4000, 4016));
        gpu.write(&a, 8, 3992, &mut |at, part| {
            part.iter_mut().enumerate().for_each(|(i, v)| *v = (at as usize + i) as u8)
        })
        .unwrap();
        let copy = Command::Copy { from: a, from_offset: 8, to: b.clone(), to_offset: 0, bytes: 3992 };
        gpu.submit(&[Command::Clear(b.clone()), copy]).unwrap();
        let mut seen = Vec::new();
        gpu.read(&b, 0, 4016, &mut |_, part| seen.extend_from_slice(part)).unwrap();
        assert!(seen[..3992].iter().enumerate().all(|(i, v)| *v == i as u8) && seen[3992..].iter().all(|v| *v == 0));
        assert_eq!(gpu.allocate(1 << 30).unwrap_err().kind(), ErrorKind::Limit);
        assert_eq!(gpu.read(&b, 2, 4, &mut |_, _| ()).unwrap_err().kind(), ErrorKind::Internal);
    }

    #[test]
    fn the_clock_follows_its_script() {
        let gpu = NullGpu::new();
        gpu.set_readings([(1, vec![0.5, 0.25]), (2, vec![-1.0])]);
        let (one, two) = (launch(&gpu, 1), launch(&gpu, 2));
        assert_eq!(gpu.time(std::slice::from_ref(&one), 4).unwrap(), 2.0);
        assert_eq!(gpu.time(&[one.clone(), two], 1).unwrap(), -0.75);
        assert_eq!(gpu.time(&[one, launch(&gpu, 3)], 2).unwrap(), 0.5);
        assert_eq!(gpu.take_launches().len(), 5);
        assert!(gpu.take_launches().is_empty());
    }

    #[test]
    fn calls_fail_as_scripted() {
        let gpu = NullGpu::new();
        let command = launch(&gpu, 1);
        gpu.fail(Call::Launch, 1, ErrorKind::Limit);
        gpu.fail(Call::Allocate, 0, ErrorKind::OutOfMemory);
        assert_eq!(gpu.allocate(16).unwrap_err().kind(), ErrorKind::OutOfMemory);
        assert!(gpu.allocate(16).is_ok() && gpu.submit(std::slice::from_ref(&command)).is_ok());
        assert_eq!(gpu.submit(std::slice::from_ref(&command)).unwrap_err().kind(), ErrorKind::Limit);
        gpu.fail(Call::Launch, 0, ErrorKind::DeviceLost);
        assert_eq!(gpu.submit(&[command]).unwrap_err().kind(), ErrorKind::DeviceLost);
        assert_eq!(gpu.wait().unwrap_err().kind(), ErrorKind::DeviceLost);
        assert_eq!(gpu.constant(&[1]).unwrap_err().kind(), ErrorKind::DeviceLost);
    }

    #[test]
    fn launches_are_checked() {
        let gpu = NullGpu::new();
        let y = gpu.allocate(64).unwrap();
        let kernel = kernel(1);
        let bad = |slices: Vec<Slice>| {
            gpu.submit(&[Command::Launch { kernel: kernel.clone(), bindings: slices, groups: 1 }])
                .unwrap_err()
                .to_string()
        };
        assert!(bad(vec![]).contains("0 buffers bound, it has 1"));
        assert!(bad(vec![Slice { buffer: y.clone(), offset: 0, bytes: 68 }]).contains("0 + 68"));
        assert!(bad(vec![Slice { buffer: y.clone(), offset: 4, bytes: 8 }]).contains("multiple of 256"));
        let small = NullGpu::new().with_binding_bytes(32);
        let command = Command::Launch { kernel, bindings: vec![Slice::from(&y)], groups: 1 };
        let e = small.submit(&[command]).unwrap_err();
        assert!(e.kind() == ErrorKind::Limit && e.to_string().contains("needs 64 bytes, the device allows 32"), "{e}");
    }
}
