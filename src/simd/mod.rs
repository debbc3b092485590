//! The vector layer under the CPU kernels: one level, found once, and kernels written once for every level.
//!
//! A kernel is a [`Kernel`]: a struct of arguments whose `run` is generic over [`fearless_simd::Simd`]. [`Level::run`]
//! compiles it for AVX-512, for AVX2 and for what the architecture guarantees (SSE2, NEON), and calls the one this machine
//! has. Everything `run` calls on the hot path must be `#[inline(always)]`: a function that is not inlined is compiled
//! without the instruction set, and costs up to fifty times as much. Hot loops use explicit lane types
//! (`S::f32s`, `S::f64s`), never arrays left to the optimiser.
//!
//! The environment variable `DSPK_SIMD` (`scalar`, `avx2`, `avx512`) asks for a lower level than the machine has; `scalar`
//! is the architecture's guaranteed minimum.

pub(crate) mod lanes;
pub(crate) mod select;
pub(crate) mod stream;
pub(crate) mod transpose;

use std::sync::OnceLock;

use fearless_simd::{Level as Isa, Simd};

/// A computation compiled for every level.
pub(crate) trait Kernel {
    /// What it returns.
    type Output;
    /// The computation; mark the implementation `#[inline(always)]`.
    fn run<S: Simd>(self, simd: S) -> Self::Output;
}

/// A level this machine can run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Level(Isa);

impl Level {
    /// Runs a kernel at this level.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        if let Some(simd) = self.0.as_avx512() {
            enter(simd, kernel)
        } else if let Some(simd) = self.0.as_avx2() {
            enter(simd, kernel)
        } else if let Some(simd) = self.0.as_sse2() {
            enter(simd, kernel)
        } else {
            unreachable!("every x86-64 machine has SSE2")
        }
    }

    /// Runs a kernel at this level.
    #[cfg(not(target_arch = "x86_64"))]
    pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        fearless_simd::dispatch!(self.0, simd => kernel.run(simd))
    }

    /// Its name: `avx512`, `avx2`, `sse2`, `neon`, `wasm128` or `scalar`.
    pub(crate) fn name(self) -> &'static str {
        #[cfg(target_arch = "x86_64")]
        if self.0.as_avx512().is_some() {
            return "avx512";
        } else if self.0.as_avx2().is_some() {
            return "avx2";
        }
        if self.0.is_fallback() {
            "scalar"
        } else if cfg!(target_arch = "x86_64") {
            "sse2"
        } else if cfg!(target_arch = "wasm32") {
            "wasm128"
        } else {
            "neon"
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn enter<S: Simd, K: Kernel>(simd: S, kernel: K) -> K::Output {
    simd.vectorize(
        #[inline(always)]
        || kernel.run(simd),
    )
}

/// Every level this machine can run, the best first.
pub(crate) fn levels() -> Vec<Level> {
    let best = Isa::new();
    #[cfg(target_arch = "x86_64")]
    let lower = [
        best.as_avx2().filter(|_| best.as_avx512().is_some()).map(Isa::Avx2),
        best.as_sse2().filter(|_| best.as_avx2().is_some()).map(Isa::Sse2),
    ];
    #[cfg(not(target_arch = "x86_64"))]
    let lower: [Option<Isa>; 0] = [];
    std::iter::once(best).chain(lower.into_iter().flatten()).map(Level).collect()
}

/// The level in use: the best of this machine, or a lower one asked for by `DSPK_SIMD`.
pub(crate) fn level() -> Level {
    static LEVEL: OnceLock<Level> = OnceLock::new();
    *LEVEL.get_or_init(|| {
        let wanted = std::env::var("DSPK_SIMD").unwrap_or_default();
        choose(&wanted, &levels()).unwrap_or_else(|best| {
            log::warn!(
                "DSPK_SIMD={wanted} is not a level of this machine; using {}. Known: scalar, avx2, avx512",
                best.name()
            );
            best
        })
    })
}

/// `Err` carries the best level when `wanted` names none of `levels`.
fn choose(wanted: &str, levels: &[Level]) -> Result<Level, Level> {
    let (best, least) = (levels[0], levels[levels.len() - 1]);
    match wanted.trim().to_ascii_lowercase().as_str() {
        "" => Ok(best),
        "scalar" => Ok(least),
        name => levels.iter().copied().find(|l| l.name() == name).ok_or(best),
    }
}

/// Name of the vector instruction set the CPU runtime uses: `avx512`, `avx2`, `sse2`, `neon`, `wasm128` or `scalar`.
pub fn level_name() -> &'static str {
    level().name()
}

/// Asks for the cache line that holds `data[index]`; an index outside `data` is ignored.
#[inline(always)]
pub(crate) fn prefetch<T>(data: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if index < data.len() {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the address lies inside `data`; a prefetch reads nothing the program can see.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(data.as_ptr().add(index).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (data, index);
}

#[cfg(test)]
mod tests {
    use super::*;
    use fearless_simd::prelude::*;

    struct Lanes;
    impl Kernel for Lanes {
        type Output = usize;
        #[inline(always)]
        fn run<S: Simd>(self, _: S) -> usize {
            S::f32s::LEN
        }
    }

    #[test]
    fn levels_run_at_their_own_width() {
        for level in levels() {
            let expected = match level.name() {
                "avx512" => 16,
                "avx2" => 8,
                _ => 4,
            };
            assert_eq!(level.run(Lanes), expected, "{}", level.name());
        }
    }

    #[test]
    fn a_level_is_chosen_by_name_and_never_above_the_machine() {
        let all = levels();
        assert_eq!(choose("", &all).unwrap().name(), all[0].name());
        assert_eq!(choose("scalar", &all).unwrap().name(), all[all.len() - 1].name());
        for level in &all {
            assert_eq!(choose(level.name(), &all).unwrap().name(), level.name());
            let shouted = format!(" {} ", level.name().to_uppercase());
            assert_eq!(choose(&shouted, &all).unwrap().name(), level.name());
        }
        assert_eq!(choose("AVX1024", &all).unwrap_err().name(), all[0].name());
        assert_eq!(choose("avx512", &all[all.len() - 1..]).unwrap_err().name(), all[all.len() - 1].name());
    }

    #[test]
    fn prefetching_past_the_end_is_harmless() {
        prefetch(&[1.0f32; 4], 3);
        prefetch(&[1.0f32; 4], usize::MAX);
        prefetch::<f32>(&[], 0);
    }
}
