use super::*;
use proptest::prelude::*;

/// One of each kind that has both forms.
fn windows() -> Vec<Window> {
    use Window::*;
    vec![
        Boxcar,
        Triang,
        Bartlett,
        Hann,
        Hamming,
        Blackman,
        BlackmanHarris,
        Nuttall,
        Flattop,
        Cosine,
        Parzen,
        Bohman,
        Barthann,
        Lanczos,
        Tukey { alpha: 0.25 },
        Tukey { alpha: -1.0 },
        Tukey { alpha: 1.5 },
        Kaiser { beta: 8.6 },
        Gaussian { std: 3.0 },
        GeneralGaussian { p: 1.5, sig: 2.0 },
        GeneralHamming { alpha: 0.6 },
        GeneralCosine(vec![0.4, 0.3, 0.2, 0.1]),
        Exponential { center: None, tau: 2.0 },
        Dpss { nw: 0.75 },
        Chebwin { at: 60.0 },
        Taylor { nbar: 5, sll: 40.0, norm: true },
    ]
}

#[test]
fn short_windows() {
    for window in windows() {
        for fftbins in [false, true] {
            assert!(get_window(&window, 0, fftbins).unwrap_err().to_string().contains("Nx of 1 or more"));
            assert_eq!(get_window(&window, 1, fftbins).unwrap(), [1.0], "{window:?}");
            for nx in 2..40 {
                let w = get_window(&window, nx, fftbins).unwrap();
                assert_eq!(w.len(), nx);
                assert!(w.iter().all(|v| v.is_finite() && *v < 1.2), "{window:?} {nx}: {w:?}");
            }
        }
    }
}

proptest! {
    #[test]
    fn symmetric_windows_are_symmetric_and_periodic_ones_their_beginning(nx in 2usize..300, which in 0usize..26) {
        let window = &windows()[which];
        let w = get_window(window, nx, false).unwrap();
        prop_assert!((0..nx).all(|i| w[i] == w[nx - 1 - i]));
        if !matches!(window, Window::Dpss { .. }) {
            let longer = get_window(window, nx + 1, false).unwrap();
            prop_assert_eq!(&get_window(window, nx, true).unwrap()[..], &longer[..nx]);
        }
    }

    #[test]
    fn any_parameters_give_a_finite_window_or_an_error(
        nx in 1usize..60,
        fftbins: bool,
        which in 0usize..11,
        params in proptest::collection::vec(proptest::option::of(proptest::num::f64::ANY), 0..4),
    ) {
        let names = ["tukey", "kaiser", "kbd", "gauss", "ggs", "general_hamming", "general_cosine", "poisson", "dpss",
            "cheb", "taylor"];
        if let Ok(window) = Window::named(names[which], &params) {
            if let Ok(w) = get_window(&window, nx, fftbins) {
                let sums = matches!(window, Window::GeneralHamming { .. } | Window::GeneralCosine(_));
                prop_assert!(sums || w.iter().all(|v| v.is_finite()), "{window:?}: {w:?}");
            }
        }
    }

    #[test]
    fn slepian_sequences_are_orthonormal_and_alternate(m in 1usize..200, nw in 0.05f64..0.99, kmax in 1usize..12) {
        let (kmax, nw) = (kmax.min(m), if m == 1 { 0.3 } else { nw * 0.5 * m as f64 });
        let (v, ratios) = dpss(m, nw, kmax).unwrap();
        for (k, a) in v.iter().enumerate() {
            let signs: Vec<bool> = a.iter().filter(|v| v.abs() > 1e-300).map(|v| *v > 0.0).collect();
            prop_assert_eq!(signs.windows(2).filter(|p| p[0] != p[1]).count(), k, "changes of sign");
            prop_assert!((-1e-13..1.0 + 1e-12).contains(&ratios[k]), "{ratios:?}");
            prop_assert!(k == 0 || ratios[k] <= ratios[k - 1] + 1e-12, "{ratios:?}");
            for (l, b) in v.iter().enumerate() {
                let product: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
                prop_assert!((product - f64::from(u8::from(k == l))).abs() < 1e-12, "{k} {l}: {product}");
            }
        }
    }
}

#[test]
fn parameters_out_of_range_say_the_range() {
    let nan = f64::NAN;
    let cases = [
        (Window::Tukey { alpha: nan }, "alpha = NaN of the window tukey must be a finite number"),
        (Window::Kaiser { beta: f64::INFINITY }, "a finite number"),
        (Window::KaiserBesselDerived { beta: nan }, "a finite number"),
        (Window::KaiserBesselDerived { beta: 4.0 }, "pass fftbins = false and an even Nx"),
        (Window::Gaussian { std: -1.0 }, "above 0"),
        (Window::Gaussian { std: 0.0 }, "above 0"),
        (Window::GeneralGaussian { p: 0.0, sig: 1.0 }, "parameter p = 0"),
        (Window::GeneralGaussian { p: 1.0, sig: nan }, "parameter sig = NaN"),
        (Window::GeneralHamming { alpha: nan }, "alpha"),
        (Window::GeneralCosine(vec![]), "at least one"),
        (Window::GeneralCosine(vec![1.0, nan]), "finite"),
        (Window::Exponential { center: None, tau: 0.0 }, "tau"),
        (Window::Exponential { center: Some(nan), tau: 1.0 }, "center"),
        (Window::Dpss { nw: 32.0 }, "NW = 32 of the window dpss must be above 0 and below 32 (half the length)"),
        (Window::Dpss { nw: 0.0 }, "above 0"),
        (Window::Dpss { nw: nan }, "above 0"),
        (Window::Chebwin { at: nan }, "at most 6000 dB"),
        (Window::Chebwin { at: 6001.0 }, "at most 6000 dB"),
        (Window::Taylor { nbar: 0, sll: 30.0, norm: true }, "from 1 to 1000"),
        (Window::Taylor { nbar: 1001, sll: 30.0, norm: true }, "from 1 to 1000"),
        (Window::Taylor { nbar: 4, sll: -1.0, norm: true }, "from 0 to 6000 dB"),
    ];
    for (window, message) in cases {
        let e = get_window(&window, 64, true).unwrap_err();
        assert!(e.kind().is_usage() && e.to_string().contains(message), "{window:?}: {e}");
    }
    let e = get_window(&Window::Exponential { center: Some(3.0), tau: 1.0 }, 64, false).unwrap_err();
    assert!(e.to_string().contains("center = null"), "{e}");
    assert!(get_window(&Window::KaiserBesselDerived { beta: 4.0 }, 63, false).is_err());
    for (m, nw, kmax) in [(8, 2.0, 0), (8, 2.0, 9), (0, 0.1, 1), (8, 4.0, 1), (8, -1.0, 1), (8, nan, 1)] {
        assert!(dpss(m, nw, kmax).unwrap_err().kind().is_usage(), "{m} {nw} {kmax}");
    }
}

#[test]
fn lengths_beyond_memory_are_errors() {
    for window in windows() {
        for nx in [usize::MAX, usize::MAX / 2] {
            for fftbins in [false, true] {
                let e = get_window(&window, nx, fftbins).unwrap_err();
                assert_eq!(e.kind(), ErrorKind::OutOfMemory, "{window:?}");
            }
        }
    }
    assert_eq!(dpss(usize::MAX, 4.0, 4).unwrap_err().kind(), ErrorKind::OutOfMemory);
}

#[test]
fn a_derived_window_is_complementary_in_power() {
    let w = get_window(&Window::KaiserBesselDerived { beta: 12.0 }, 64, false).unwrap();
    for i in 0..32 {
        assert!((w[i] * w[i] + w[i + 32] * w[i + 32] - 1.0).abs() < 1e-14);
    }
}

#[test]
fn long_chebyshev_windows_keep_their_side_lobes() {
    // The spectrum is 10^(at/20) in the middle of the main lobe and 1 at half the sampling rate.
    for (m, at) in [(11, 60.0f64), (1001, 60.0), (100_001, 100.0)] {
        let w = get_window(&Window::Chebwin { at }, m, false).unwrap();
        let (sum, alternating) =
            w.iter().enumerate().fold((0.0, 0.0), |(s, a), (i, v)| (s + v, if i % 2 == 0 { a + v } else { a - v }));
        let ratio = (sum / alternating).abs() / 10f64.powf(at / 20.0);
        assert!((ratio - 1.0).abs() < 1e-7, "{m} {at}: {ratio}");
    }
}

#[test]
fn long_slepian_sequences_are_concentrated() {
    let (v, ratios) = dpss(100_000, 32.0, 4).unwrap();
    // As scipy.signal.windows.dpss(100000, 32, 4), to what its matrix can tell: 1e-11.
    for (k, v) in v.iter().enumerate() {
        assert!((ratios[k] - 1.0).abs() < 1e-12, "{ratios:?}");
        let sum: f64 = v.iter().sum();
        assert!(if k % 2 == 0 { sum > 1.0 } else { sum.abs() < 1e-9 }, "{k}: {sum}");
    }
}
