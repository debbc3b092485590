//! What does the work: the library, or a scripted stand-in in tests.

use dspk::Result;
use dspk::runtime;
use dspk::tune::cache::Cleared;
use dspk::tune::{AutotuneOptions, Collection, DeviceResults, Explanation, ImportSummary, Progress, RuntimeSummary};

/// Everything the program asks of dspk.
pub trait Backend {
    /// Tunes.
    fn tune(
        &mut self,
        options: &AutotuneOptions,
        progress: &mut dyn FnMut(&Progress<'_>),
    ) -> Result<Vec<RuntimeSummary>>;
    /// All stored results, or those of the devices of these runtimes.
    fn results(&mut self, runtimes: &[String]) -> Result<Vec<DeviceResults>>;
    /// Why calls of this size use what they use.
    fn explain(&mut self, op: &str, size: (usize, usize), runtime: Option<&str>) -> Result<Vec<Explanation>>;
    /// Takes over results.
    fn import(&mut self, collection: &Collection, force: bool) -> Result<ImportSummary>;
    /// Removes results and compiled kernels.
    fn clear(&mut self, runtimes: &[String]) -> Result<Cleared>;
}

/// dspk itself.
pub struct Library;

impl Backend for Library {
    fn tune(
        &mut self,
        options: &AutotuneOptions,
        progress: &mut dyn FnMut(&Progress<'_>),
    ) -> Result<Vec<RuntimeSummary>> {
        runtime::autotune_with(options, progress)
    }

    fn results(&mut self, runtimes: &[String]) -> Result<Vec<DeviceResults>> {
        let keys: Vec<String> =
            runtimes.iter().map(|name| Ok(runtime::resolve(Some(name))?.key())).collect::<Result<_>>()?;
        let mut results = runtime::tuning_results();
        results.retain(|device| keys.is_empty() || keys.contains(&device.facts.device));
        Ok(results)
    }

    fn explain(&mut self, op: &str, size: (usize, usize), runtime: Option<&str>) -> Result<Vec<Explanation>> {
        runtime::explain(op, size.0, size.1, runtime)
    }

    fn import(&mut self, collection: &Collection, force: bool) -> Result<ImportSummary> {
        runtime::import_tuning(collection, force)
    }

    fn clear(&mut self, runtimes: &[String]) -> Result<Cleared> {
        runtime::clear_cache(runtimes)
    }
}
