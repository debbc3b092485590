//! A scripted choice and a scripted clock for tests.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use super::{Clock, DeviceFacts, Tunable, Work};
use crate::error::{Error, ErrorKind, Result};

/// A clock that moves only when told to.
#[derive(Debug, Clone, Default)]
pub(crate) struct FakeClock(Arc<AtomicU64>);

impl FakeClock {
    pub fn advance(&self, seconds: f64) {
        self.0.fetch_add((seconds * 1e9) as u64, Ordering::Relaxed);
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::Relaxed))
    }

    fn sleep(&self, time: Duration) {
        self.advance(time.as_secs_f64());
    }
}

/// What a sample of one variant reads: `(variant, repeats, how many samples of it came before)` to seconds.
type Script = Box<dyn Fn(usize, u32, usize) -> Result<f64> + Send + Sync>;

/// A choice whose readings follow a script.
pub(crate) struct Fake {
    pub operation: String,
    pub class: String,
    pub identity: u128,
    pub device: String,
    pub driver: String,
    pub names: Vec<String>,
    /// Variants that fail verification.
    pub wrong: Vec<usize>,
    pub verified: AtomicUsize,
    pub timed: Mutex<Vec<usize>>,
    pub clock: FakeClock,
    /// What `facts` says, if it is more than the key and the driver.
    pub facts: Option<DeviceFacts>,
    /// Rounding class of each variant; empty = each its own.
    pub roundings: Vec<&'static str>,
    pub work: Work,
    /// Seconds that making the problem takes.
    pub setup: f64,
    /// What a run with transfers takes.
    pub end_to_end: Option<f64>,
    script: Script,
}

impl Fake {
    /// Variants `v0`, `v1`, ... that take these seconds per run.
    pub fn new(seconds: &[f64]) -> Fake {
        let times = seconds.to_vec();
        Fake::scripted(seconds.len(), move |variant, repeats, _| Ok(times[variant] * f64::from(repeats)))
    }

    pub fn scripted(
        variants: usize,
        script: impl Fn(usize, u32, usize) -> Result<f64> + Send + Sync + 'static,
    ) -> Fake {
        Fake {
            operation: "sosfilt".into(),
            class: "sections5-f32--c7-s15".into(),
            identity: 7,
            device: "fake-device".into(),
            driver: "1.0".into(),
            names: (0..variants).map(|v| format!("v{v}")).collect(),
            wrong: Vec::new(),
            verified: AtomicUsize::new(0),
            timed: Mutex::new(vec![0; variants]),
            clock: FakeClock::default(),
            facts: None,
            roundings: Vec::new(),
            work: Work { channels: 128, samples: 32768, bytes: 1 << 25 },
            setup: 0.0,
            end_to_end: None,
            script: Box::new(script),
        }
    }

    pub fn class(mut self, class: &str) -> Fake {
        self.class = class.into();
        self
    }

    pub fn samples(&self) -> usize {
        self.timed.lock().unwrap().iter().sum()
    }
}

pub(crate) fn kernel_error(text: &str) -> Error {
    Error::new(ErrorKind::Kernel, text)
}

impl Tunable for Fake {
    fn operation(&self) -> &str {
        &self.operation
    }
    fn class(&self) -> &str {
        &self.class
    }
    fn identity(&self) -> u128 {
        self.identity
    }
    fn device(&self) -> &str {
        &self.device
    }
    fn driver(&self) -> &str {
        &self.driver
    }
    fn variants(&self) -> &[String] {
        &self.names
    }
    fn rounding(&self, variant: usize) -> &str {
        self.roundings.get(variant).copied().unwrap_or(&self.names[variant])
    }
    fn prepare(&self) -> Result<()> {
        self.clock.advance(self.setup);
        Ok(())
    }
    fn work(&self) -> Work {
        self.work
    }
    fn end_to_end(&self, _: usize) -> Result<Option<f64>> {
        Ok(self.end_to_end)
    }
    fn facts(&self) -> DeviceFacts {
        self.facts.clone().unwrap_or_else(|| DeviceFacts::bare(&self.device, &self.driver))
    }
    fn verify(&self, variant: usize) -> Result<()> {
        self.verified.fetch_add(1, Ordering::Relaxed);
        self.clock.advance(1e-4);
        if self.wrong.contains(&variant) { Err(kernel_error("returns zeros")) } else { Ok(()) }
    }
    fn time(&self, variant: usize, repeats: u32) -> Result<f64> {
        let before = {
            let mut timed = self.timed.lock().unwrap();
            timed[variant] += 1;
            timed[variant] - 1
        };
        let reading = (self.script)(variant, repeats, before)?;
        self.clock.advance(if reading.is_finite() { reading.clamp(1e-6, 1e3) } else { 1e-6 });
        Ok(reading)
    }
}
