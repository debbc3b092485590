//! Stores that pass by the caches.
//!
//! An output much larger than the cache gains half again in speed when its lines are written without being read first.
//! Such stores need aligned addresses and are weakly ordered: call [`fence`] before another thread may read the result.

use std::sync::OnceLock;

use fearless_simd::{Simd, f32x16, prelude::*};

/// Writes one cache line past the caches where the machine can and `dst` is aligned to 64 bytes; plainly otherwise.
#[inline(always)]
pub(crate) fn store<S: Simd>(simd: S, v: f32x16<S>, dst: &mut [f32; 16]) {
    #[cfg(target_arch = "x86_64")]
    if dst.as_ptr().addr().is_multiple_of(64) {
        if let Some(token) = simd.level().as_avx512() {
            return line_avx512(token, v.to_array(), dst);
        }
        if let Some(token) = simd.level().as_avx2() {
            return line_avx2(token, v.to_array(), dst);
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = simd;
    v.store_array(dst);
}

#[cfg(target_arch = "x86_64")]
fearless_simd::kernel!(
    #[inline(always)]
    fn line_avx512(token: Avx512, v: [f32; 16], dst: &mut [f32; 16]) {
        use std::arch::x86_64::_mm512_stream_ps;
        let v = f32x16::load_array(token, v);
        debug_assert!(dst.as_ptr().addr().is_multiple_of(64));
        // SAFETY: the caller checked the alignment; `dst` is 64 bytes, exclusively borrowed.
        unsafe { _mm512_stream_ps(dst.as_mut_ptr(), v.into()) };
    }
);

#[cfg(target_arch = "x86_64")]
fearless_simd::kernel!(
    #[inline(always)]
    fn line_avx2(token: Avx2, v: [f32; 16], dst: &mut [f32; 16]) {
        use std::arch::x86_64::_mm256_stream_ps;
        let (low, high) = f32x16::load_array(token, v).split();
        debug_assert!(dst.as_ptr().addr().is_multiple_of(32));
        let (a, b) = dst.split_at_mut(8);
        // SAFETY: the caller checked the alignment; each half is 32 bytes, exclusively borrowed.
        unsafe {
            _mm256_stream_ps(a.as_mut_ptr(), low.into());
            _mm256_stream_ps(b.as_mut_ptr(), high.into());
        }
    }
);

/// Copies past the caches, as far as `to` is aligned; [`fence`] has to follow.
#[inline(always)]
pub(crate) fn copy<S: Simd>(simd: S, from: &[f32], to: &mut [f32]) {
    let ((lines, rest), (to_lines, to_rest)) = (from.as_chunks::<16>(), to.as_chunks_mut::<16>());
    for (line, to) in lines.iter().zip(to_lines) {
        store(simd, f32x16::load_array_ref(simd, line), to);
    }
    to_rest.iter_mut().zip(rest).for_each(|(to, v)| *to = *v);
}

/// Orders the streamed stores of this thread before everything it does next.
#[inline]
pub(crate) fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of x86-64.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

/// Whether an output of `bytes` bytes is large enough to be written past the caches.
pub(crate) fn pays(bytes: usize) -> bool {
    bytes > threshold()
}

/// Half of the last-level cache, at most [`MAX_THRESHOLD`].
fn threshold() -> usize {
    static BYTES: OnceLock<usize> = OnceLock::new();
    *BYTES.get_or_init(|| last_level_cache().map_or(DEFAULT_THRESHOLD, |l3| (l3 / 2).min(MAX_THRESHOLD)))
}

const DEFAULT_THRESHOLD: usize = 16 << 20;
/// A virtual machine reports the cache of the whole host, of which it owns a share.
const MAX_THRESHOLD: usize = 32 << 20;

fn last_level_cache() -> Option<usize> {
    parse_size(&std::fs::read_to_string("/sys/devices/system/cpu/cpu0/cache/index3/size").ok()?)
}

/// `32768K` in bytes.
fn parse_size(text: &str) -> Option<usize> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        _ => return None,
    };
    digits.parse::<usize>().ok()?.checked_mul(unit).filter(|b| *b > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Kernel, levels};

    struct Copy<'a>(&'a [f32; 16], &'a mut [f32; 16]);
    impl Kernel for Copy<'_> {
        type Output = ();
        #[inline(always)]
        fn run<S: Simd>(self, simd: S) {
            store(simd, f32x16::load_array_ref(simd, self.0), self.1);
        }
    }

    #[test]
    fn stores_are_exact_at_every_alignment_and_level() {
        let x: [f32; 16] = std::array::from_fn(|i| i as f32 + 0.5);
        for level in levels() {
            for offset in 0..17 {
                let mut y = crate::signal::Buffer::<f32>::dirty(48).unwrap();
                y.fill(-1.0);
                level.run(Copy(&x, (&mut y[offset..offset + 16]).try_into().unwrap()));
                fence();
                assert_eq!(y[offset..offset + 16], x);
                assert!(y[..offset].iter().chain(&y[offset + 16..]).all(|v| *v == -1.0));
            }
        }
    }

    #[test]
    fn cache_sizes_are_read_as_the_kernel_writes_them() {
        assert_eq!(parse_size("32768K\n"), Some(32 << 20));
        assert_eq!(parse_size("2M"), Some(2 << 20));
        assert_eq!(parse_size("512"), Some(512));
        for bad in ["", "K", "0K", "12Q", "99999999999999999999K"] {
            assert_eq!(parse_size(bad), None, "{bad}");
        }
        assert!(threshold() > 0 && threshold() <= MAX_THRESHOLD);
        assert!(!pays(4096) && pays(usize::MAX));
    }
}
