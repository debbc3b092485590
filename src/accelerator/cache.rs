//! Giving memory back.

use std::sync::{Arc, Mutex, PoisonError};

type Hook = Arc<dyn Fn() + Send + Sync>;

static HOOKS: Mutex<Vec<Hook>> = Mutex::new(Vec::new());

/// Registers what [`empty_cache`] does besides trimming the host pool; device runtimes trim their pools here.
pub fn on_empty_cache(hook: impl Fn() + Send + Sync + 'static) {
    HOOKS.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::new(hook));
}

/// Gives pooled memory, of the host and of open devices, back to the system. Arrays in use are not touched.
pub fn empty_cache() {
    crate::signal::trim_pool();
    // Copied out first: a hook may register another.
    let hooks: Vec<Hook> = HOOKS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    for hook in hooks {
        hook();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn hooks_run_each_time() {
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = calls.clone();
        on_empty_cache(move || {
            counted.fetch_add(1, Ordering::Relaxed);
        });
        empty_cache();
        empty_cache();
        assert!(calls.load(Ordering::Relaxed) >= 2, "another test may empty the cache too");
    }
}
