//! A scripted choice, a log that remembers, and a walk over a store: shared by the tuner's tests.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use dspk::Result;
use dspk::tune::cache::Location;
use dspk::tune::{Settings, Tunable, Tuner};

/// Three variants; the second takes half the default's time.
pub struct Scripted {
    pub operation: String,
    pub class: String,
    pub variants: Vec<String>,
    pub samples: AtomicUsize,
}

impl Scripted {
    pub fn new(operation: &str) -> Scripted {
        Scripted {
            operation: operation.into(),
            class: "taps64-f32--c7-s15".into(),
            variants: ["direct", "tiled R=4", "tiled R=8"].map(String::from).to_vec(),
            samples: AtomicUsize::new(0),
        }
    }

    pub fn timed(&self) -> usize {
        self.samples.load(Ordering::Relaxed)
    }
}

impl Tunable for Scripted {
    fn operation(&self) -> &str {
        &self.operation
    }
    fn class(&self) -> &str {
        &self.class
    }
    fn identity(&self) -> u128 {
        0x5eed
    }
    fn device(&self) -> &str {
        "scripted"
    }
    fn driver(&self) -> &str {
        "1"
    }
    fn variants(&self) -> &[String] {
        &self.variants
    }
    fn verify(&self, _: usize) -> Result<()> {
        Ok(())
    }
    fn time(&self, variant: usize, repeats: u32) -> Result<f64> {
        self.samples.fetch_add(1, Ordering::Relaxed);
        Ok([1e-4, 0.5e-4, 0.8e-4][variant] * f64::from(repeats))
    }
}

/// What a process is: a tuner that knows nothing but its store.
pub fn process(cache: &Path) -> Tuner {
    Tuner::new(Settings { location: Location::At(cache.to_path_buf()), ..Settings::default() })
}

struct Recorder;

static WARNINGS: Mutex<Vec<String>> = Mutex::new(Vec::new());

impl log::Log for Recorder {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.level() <= log::Level::Warn
    }
    fn log(&self, record: &log::Record<'_>) {
        if self.enabled(record.metadata()) {
            WARNINGS.lock().unwrap().push(record.args().to_string());
        }
    }
    fn flush(&self) {}
}

/// Takes the warnings so far that name something below `folder`; each test has a folder of its own.
pub fn warnings(folder: &Path) -> Vec<String> {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        log::set_logger(&Recorder).unwrap();
        log::set_max_level(log::LevelFilter::Warn);
    });
    let name = folder.display().to_string();
    let mut all = WARNINGS.lock().unwrap();
    let (ours, others) = all.drain(..).partition(|text: &String| text.contains(&name));
    *all = others;
    ours
}

/// Every file below a folder.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for item in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = item.path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}
