//! What the integration tests share.

#[cfg(feature = "wgpu")]
use std::io::Write;

/// The runtimes this machine can test, `cpu` first. A missing wgpu device skips loudly, or fails where
/// `DSPK_REQUIRE_WGPU=1` says that it must be there.
pub fn runtimes() -> Vec<&'static str> {
    let mut found = vec!["cpu"];
    #[cfg(feature = "wgpu")]
    match dspk::runtime::device("wgpu") {
        Ok(_) => found.push("wgpu"),
        Err(e) if std::env::var("DSPK_REQUIRE_WGPU").is_ok_and(|v| v == "1") => panic!("wgpu is required here: {e}"),
        Err(e) => {
            static ONCE: std::sync::Once = std::sync::Once::new();
            // Not through `eprintln!`, which the test harness would swallow.
            ONCE.call_once(|| {
                let _ = writeln!(std::io::stderr(), "SKIPPED: the wgpu half of these tests: {e}");
            });
        }
    }
    found
}

/// `max |y - ref| <= tolerance * max(max |ref|, floor)` for each channel; NaN must meet NaN.
pub fn close(what: &str, y: &[f32], reference: &[f64], tolerance: f64, floor: f64) {
    assert_eq!(y.len(), reference.len(), "{what}: length");
    let scale = reference.iter().filter(|v| v.is_finite()).fold(floor, |m, v| m.max(v.abs()));
    for (n, (y, r)) in y.iter().zip(reference).enumerate() {
        let y = f64::from(*y);
        let good = (y.is_nan() && r.is_nan()) || y == *r || (y - r).abs() <= tolerance * scale;
        assert!(good, "{what}: sample {n} is {y}, expected {r}, error {:.2e} of {scale:.3e}", (y - r).abs() / scale);
    }
}

/// Deterministic noise in [-1, 1).
pub fn noise(len: usize, mut seed: u32) -> Vec<f32> {
    (0..len)
        .map(|_| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) as f32 / 8_388_608.0 - 1.0
        })
        .collect()
}
