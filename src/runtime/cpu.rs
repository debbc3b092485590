//! The processor as a runtime: what it is, and the key under which the tuner keeps what it measured on it.

use std::sync::OnceLock;

use crate::accelerator::{CpuFacts, Roots};

/// Facts about this machine's processor, read once.
pub fn facts() -> &'static CpuFacts {
    static FACTS: OnceLock<CpuFacts> = OnceLock::new();
    FACTS.get_or_init(|| CpuFacts::read(&Roots::system()))
}

/// The tuner's device key: silicon, threads of the current rayon pool, build profile. It is fit for a folder's name:
/// `cpu-genuineintel-6-143-avx512-t8-release`.
pub fn device_key() -> String {
    key(facts(), rayon::current_num_threads(), cfg!(debug_assertions))
}

fn key(facts: &CpuFacts, threads: usize, debug: bool) -> String {
    format!("cpu-{}-t{threads}-{}", facts.silicon(), if debug { "dev" } else { "release" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_follows_the_pool_and_is_a_folder_name() {
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap().install(device_key);
        let two = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap().install(device_key);
        assert_ne!(one, two);
        assert!(one.starts_with("cpu-") && one.contains("-t1-"), "{one}");
        assert!(one.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'), "{one}");
    }

    #[test]
    fn profiles_do_not_share_results() {
        assert_ne!(key(facts(), 1, true), key(facts(), 1, false));
    }
}
