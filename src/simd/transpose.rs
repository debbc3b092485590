//! Transposes of 16 x 16 `f32` blocks: between rows (one channel after another) and lanes (16 channels side by side).
//!
//! AVX-512 does a block in 64 shuffles of whole registers, AVX2 in four 8 x 8 blocks, the rest in sixteen 4 x 4 blocks.

use fearless_simd::{Simd, f32x4, prelude::*};

/// Side of a block.
pub(crate) const SIDE: usize = 16;

/// `dst[i][j] = src[j][i]`; `streamed` writes past the caches where `dst` is aligned (see [`super::stream::store`]).
#[inline(always)]
pub(crate) fn block<S: Simd>(simd: S, src: &[&[f32; 16]; 16], dst: &mut [&mut [f32; 16]; 16], streamed: bool) {
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(token) = simd.level().as_avx512() {
            return block_avx512(token, src, dst, streamed);
        }
        if let Some(token) = simd.level().as_avx2() {
            return block_avx2(token, src, dst, streamed);
        }
    }
    let _ = streamed;
    for i in (0..SIDE).step_by(4) {
        for j in (0..SIDE).step_by(4) {
            let row = |k: usize| f32x4::from_slice(simd, &src[j + k][i..i + 4]);
            let (a, b, c, d) = (row(0), row(1), row(2), row(3));
            let (ac, bd) = (a.interleave(c), b.interleave(d));
            let (low, high) = (ac.0.interleave(bd.0), ac.1.interleave(bd.1));
            for (k, v) in [low.0, low.1, high.0, high.1].into_iter().enumerate() {
                v.store_slice(&mut dst[i + k][j..j + 4]);
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
fearless_simd::kernel!(
    #[inline(always)]
    fn block_avx512(token: Avx512, src: &[&[f32; 16]; 16], dst: &mut [&mut [f32; 16]; 16], streamed: bool) {
        use fearless_simd::f32x16;
        use std::arch::x86_64::*;
        let load = |i: usize| -> __m512 { f32x16::load_array_ref(token, src[i]).into() };
        let mut t = [_mm512_setzero_ps(); 16];
        for i in 0..8 {
            let (a, b) = (load(2 * i), load(2 * i + 1));
            t[2 * i] = _mm512_unpacklo_ps(a, b);
            t[2 * i + 1] = _mm512_unpackhi_ps(a, b);
        }
        // u[4q + c]: columns c, c + 4, c + 8 and c + 12 of rows 4q .. 4q + 4, one column in each quarter.
        let mut u = [_mm512_setzero_ps(); 16];
        for q in 0..4 {
            let (a, b, c, d) = (t[4 * q], t[4 * q + 1], t[4 * q + 2], t[4 * q + 3]);
            u[4 * q] = _mm512_shuffle_ps::<0x44>(a, c);
            u[4 * q + 1] = _mm512_shuffle_ps::<0xEE>(a, c);
            u[4 * q + 2] = _mm512_shuffle_ps::<0x44>(b, d);
            u[4 * q + 3] = _mm512_shuffle_ps::<0xEE>(b, d);
        }
        for c in 0..4 {
            let even = |a, b| _mm512_shuffle_f32x4::<0x88>(a, b);
            let odd = |a, b| _mm512_shuffle_f32x4::<0xDD>(a, b);
            let (top, bottom) = (even(u[c], u[4 + c]), even(u[8 + c], u[12 + c]));
            let (top_odd, bottom_odd) = (odd(u[c], u[4 + c]), odd(u[8 + c], u[12 + c]));
            let rows = [
                (c, even(top, bottom)),
                (c + 4, even(top_odd, bottom_odd)),
                (c + 8, odd(top, bottom)),
                (c + 12, odd(top_odd, bottom_odd)),
            ];
            for (i, v) in rows {
                let v: f32x16<_> = v.simd_into(token);
                if streamed {
                    super::stream::store(token, v, dst[i]);
                } else {
                    v.store_array(dst[i]);
                }
            }
        }
    }
);

#[cfg(target_arch = "x86_64")]
fearless_simd::kernel!(
    #[inline(always)]
    fn block_avx2(token: Avx2, src: &[&[f32; 16]; 16], dst: &mut [&mut [f32; 16]; 16], streamed: bool) {
        use fearless_simd::f32x8;
        for i in [0, 8] {
            let left = eight_avx2(token, src, 0, i);
            let right = eight_avx2(token, src, 8, i);
            for k in 0..8 {
                let low: f32x8<_> = left[k].simd_into(token);
                let v = low.combine(right[k]);
                if streamed {
                    super::stream::store(token, v, dst[i + k]);
                } else {
                    v.store_array(dst[i + k]);
                }
            }
        }
    }
);

#[cfg(target_arch = "x86_64")]
fearless_simd::kernel!(
    /// The transposed 8 x 8 block whose first row is `row` and first column `column`.
    #[inline(always)]
    fn eight_avx2(token: Avx2, src: &[&[f32; 16]; 16], row: usize, column: usize) -> [std::arch::x86_64::__m256; 8] {
        use fearless_simd::f32x8;
        use std::arch::x86_64::*;
        let load = |i: usize| -> __m256 { f32x8::from_slice(token, &src[row + i][column..column + 8]).into() };
        let mut t = [_mm256_setzero_ps(); 8];
        for i in 0..4 {
            let (a, b) = (load(2 * i), load(2 * i + 1));
            t[2 * i] = _mm256_unpacklo_ps(a, b);
            t[2 * i + 1] = _mm256_unpackhi_ps(a, b);
        }
        let mut u = [_mm256_setzero_ps(); 8];
        for i in 0..2 {
            let (a, b, c, d) = (t[4 * i], t[4 * i + 1], t[4 * i + 2], t[4 * i + 3]);
            u[4 * i] = _mm256_shuffle_ps::<0x44>(a, c);
            u[4 * i + 1] = _mm256_shuffle_ps::<0xEE>(a, c);
            u[4 * i + 2] = _mm256_shuffle_ps::<0x44>(b, d);
            u[4 * i + 3] = _mm256_shuffle_ps::<0xEE>(b, d);
        }
        let mut r = [_mm256_setzero_ps(); 8];
        for i in 0..4 {
            r[i] = _mm256_permute2f128_ps::<0x20>(u[i], u[4 + i]);
            r[4 + i] = _mm256_permute2f128_ps::<0x31>(u[i], u[4 + i]);
        }
        r
    }
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Kernel, levels};

    struct Block<'a>(&'a [[f32; 16]], &'a mut [[f32; 16]], bool);
    impl Kernel for Block<'_> {
        type Output = ();
        #[inline(always)]
        fn run<S: Simd>(self, simd: S) {
            let src = std::array::from_fn(|i| &self.0[i]);
            let mut rows = self.1.iter_mut();
            let mut dst = std::array::from_fn(|_| rows.next().unwrap());
            block(simd, &src, &mut dst, self.2);
        }
    }

    #[test]
    fn every_level_transposes_exactly() {
        let x: Vec<[f32; 16]> = (0..16).map(|i| std::array::from_fn(|j| (100 * i + j) as f32)).collect();
        for level in levels() {
            for streamed in [false, true] {
                let mut y = vec![[f32::NAN; 16]; 16];
                level.run(Block(&x, &mut y, streamed));
                crate::simd::stream::fence();
                for (i, row) in y.iter().enumerate() {
                    assert_eq!(*row, std::array::from_fn(|j| x[j][i]), "{} row {i}", level.name());
                }
            }
        }
    }
}
