//! Windows by name, with scipy's names and the order of its parameters.

use std::str::FromStr;

use super::Window;
use crate::error::{Error, Result};

/// How a window is called.
struct Named {
    /// The name used in messages, then the others.
    names: &'static [&'static str],
    /// Parameters in order; `general_cosine` takes any number of its one.
    params: &'static [&'static str],
    /// How many of them must be given.
    needed: usize,
    make: fn(&Given) -> Result<Window>,
}

/// The parameters given, checked for their number.
struct Given<'a>(&'a [Option<f64>]);

impl Given<'_> {
    fn get(&self, index: usize) -> Option<f64> {
        self.0.get(index).copied().flatten()
    }

    fn or(&self, index: usize, default: f64) -> f64 {
        self.get(index).unwrap_or(default)
    }

    /// One that must be given, and has been checked to be.
    fn needed(&self, index: usize) -> f64 {
        self.or(index, f64::NAN)
    }
}

const fn plain(names: &'static [&'static str], make: fn(&Given) -> Result<Window>) -> Named {
    Named { names, params: &[], needed: 0, make }
}

const fn needing(
    names: &'static [&'static str],
    params: &'static [&'static str],
    make: fn(&Given) -> Result<Window>,
) -> Named {
    Named { names, params, needed: params.len(), make }
}

static NAMED: [Named; 25] = [
    plain(&["boxcar", "box", "ones", "rect", "rectangular"], |_| Ok(Window::Boxcar)),
    plain(&["triang", "triangle", "tri"], |_| Ok(Window::Triang)),
    plain(&["bartlett", "bart", "brt"], |_| Ok(Window::Bartlett)),
    plain(&["hann", "han"], |_| Ok(Window::Hann)),
    plain(&["hamming", "hamm", "ham"], |_| Ok(Window::Hamming)),
    plain(&["blackman", "black", "blk"], |_| Ok(Window::Blackman)),
    plain(&["blackmanharris", "blackharr", "bkh"], |_| Ok(Window::BlackmanHarris)),
    plain(&["nuttall", "nutl", "nut"], |_| Ok(Window::Nuttall)),
    plain(&["flattop", "flat", "flt"], |_| Ok(Window::Flattop)),
    plain(&["cosine", "halfcosine"], |_| Ok(Window::Cosine)),
    plain(&["parzen", "parz", "par"], |_| Ok(Window::Parzen)),
    plain(&["bohman", "bman", "bmn"], |_| Ok(Window::Bohman)),
    plain(&["barthann", "brthan", "bth"], |_| Ok(Window::Barthann)),
    plain(&["lanczos", "sinc"], |_| Ok(Window::Lanczos)),
    needing(&["kaiser", "ksr"], &["beta"], |p| Ok(Window::Kaiser { beta: p.needed(0) })),
    needing(&["kaiser_bessel_derived", "kaiser bessel derived", "kbd"], &["beta"], |p| {
        Ok(Window::KaiserBesselDerived { beta: p.needed(0) })
    }),
    needing(&["gaussian", "gauss", "gss"], &["std"], |p| Ok(Window::Gaussian { std: p.needed(0) })),
    needing(&["general_gaussian", "general gaussian", "general_gauss", "general gauss", "ggs"], &["p", "sig"], |p| {
        Ok(Window::GeneralGaussian { p: p.needed(0), sig: p.needed(1) })
    }),
    needing(&["general_hamming", "general hamming"], &["alpha"], |p| Ok(Window::GeneralHamming { alpha: p.needed(0) })),
    needing(&["general_cosine", "general cosine"], &["weights"], |p| {
        Ok(Window::GeneralCosine((0..p.0.len()).map(|i| p.needed(i)).collect()))
    }),
    needing(&["dpss"], &["NW"], |p| Ok(Window::Dpss { nw: p.needed(0) })),
    needing(&["chebwin", "cheb"], &["at"], |p| Ok(Window::Chebwin { at: p.needed(0) })),
    Named {
        names: &["tukey", "tuk"],
        params: &["alpha"],
        needed: 0,
        make: |p| Ok(Window::Tukey { alpha: p.or(0, 0.5) }),
    },
    Named {
        names: &["exponential", "poisson"],
        params: &["center", "tau"],
        needed: 0,
        make: |p| Ok(Window::Exponential { center: p.get(0), tau: p.or(1, 1.0) }),
    },
    Named {
        names: &["taylor", "taylorwin"],
        params: &["nbar", "sll", "norm"],
        needed: 0,
        make: |p| {
            let nbar = p.or(0, 4.0);
            if nbar.fract() != 0.0 || nbar < 0.0 {
                return Err(Error::invalid(format!(
                    "parameter nbar = {nbar} of the window taylor must be a whole number from 1 to 1000"
                )));
            }
            Ok(Window::Taylor { nbar: nbar as usize, sll: p.or(1, 30.0), norm: p.or(2, 1.0) != 0.0 })
        },
    },
];

impl Window {
    /// A window by any of scipy's names, with its parameters in scipy's order; `None`, or nothing, where the default is
    /// meant. `general_cosine` takes its weights one by one; `norm` of `taylor` is a number, 0 for false.
    ///
    /// ```
    /// use dspk::design::Window;
    /// assert_eq!(Window::named("tukey", &[])?, Window::Tukey { alpha: 0.5 });
    /// assert_eq!(Window::named("poisson", &[None, Some(3.0)])?, Window::Exponential { center: None, tau: 3.0 });
    /// # Ok::<(), dspk::Error>(())
    /// ```
    ///
    /// # Errors
    /// A name that no window has, and parameters too few, too many, or not given where there is no default.
    pub fn named(name: &str, params: &[Option<f64>]) -> Result<Self> {
        let Some(named) = NAMED.iter().find(|n| n.names.contains(&name)) else {
            let known: Vec<_> = NAMED.iter().map(|n| n.names[0]).collect();
            return Err(Error::invalid(format!("no window is called '{name}'; pass one of {}", known.join(", "))));
        };
        let any_number = named.params == ["weights"];
        let missing = params.len() < named.needed
            || params.iter().enumerate().any(|(i, p)| p.is_none() && (i < named.needed || any_number));
        if missing || (params.len() > named.params.len() && !any_number) {
            return Err(Error::invalid(format!(
                "the window {name} takes {}, {} given; pass for instance {}",
                match named.params {
                    [] => "no parameters".to_string(),
                    names if named.needed == 0 => format!("up to {} ({})", names.len(), names.join(", ")),
                    names => names.join(" and "),
                },
                params.iter().flatten().count(),
                example(named)
            )));
        }
        (named.make)(&Given(params))
    }

    /// scipy's name.
    pub fn name(&self) -> &'static str {
        match self {
            Window::Boxcar => "boxcar",
            Window::Triang => "triang",
            Window::Bartlett => "bartlett",
            Window::Hann => "hann",
            Window::Hamming => "hamming",
            Window::Blackman => "blackman",
            Window::BlackmanHarris => "blackmanharris",
            Window::Nuttall => "nuttall",
            Window::Flattop => "flattop",
            Window::Cosine => "cosine",
            Window::Parzen => "parzen",
            Window::Bohman => "bohman",
            Window::Barthann => "barthann",
            Window::Lanczos => "lanczos",
            Window::Tukey { .. } => "tukey",
            Window::Kaiser { .. } => "kaiser",
            Window::KaiserBesselDerived { .. } => "kaiser_bessel_derived",
            Window::Gaussian { .. } => "gaussian",
            Window::GeneralGaussian { .. } => "general_gaussian",
            Window::GeneralHamming { .. } => "general_hamming",
            Window::GeneralCosine(_) => "general_cosine",
            Window::Exponential { .. } => "exponential",
            Window::Dpss { .. } => "dpss",
            Window::Chebwin { .. } => "chebwin",
            Window::Taylor { .. } => "taylor",
        }
    }

    /// Splits off scipy's endings of names that overrule `fftbins`: `hann_symmetric`, `hann_periodic`.
    ///
    /// ```
    /// use dspk::design::Window;
    /// assert_eq!(Window::split_form("hann_periodic"), ("hann", Some(true)));
    /// assert_eq!(Window::split_form("hann"), ("hann", None));
    /// ```
    pub fn split_form(name: &str) -> (&str, Option<bool>) {
        match (name.strip_suffix("_symmetric"), name.strip_suffix("_periodic")) {
            (Some(name), _) => (name, Some(false)),
            (_, Some(name)) => (name, Some(true)),
            _ => (name, None),
        }
    }
}

/// A call as it is written in JSON.
fn example(named: &Named) -> String {
    let value = |param: &&str| match *param {
        "beta" => "8.6",
        "std" | "sig" => "5",
        "p" => "1.5",
        "alpha" => "0.5",
        "weights" => "[0.5, 0.5]",
        "center" => "null",
        "tau" => "3",
        "NW" => "2.5",
        "at" => "60",
        "nbar" => "4",
        "sll" => "30",
        _ => "true",
    };
    match named.params {
        [] => format!("\"{}\"", named.names[0]),
        params => {
            format!("[\"{}\", {}]", named.names[0], params.iter().map(value).collect::<Vec<_>>().join(", "))
        }
    }
}

impl FromStr for Window {
    type Err = Error;

    /// A window with its defaults: [`Window::named`] without parameters.
    fn from_str(name: &str) -> Result<Self> {
        Window::named(name, &[])
    }
}

impl From<f64> for Window {
    /// A number alone is Kaiser's `beta`, as in scipy.
    fn from(beta: f64) -> Self {
        Window::Kaiser { beta }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_of_one_window_and_the_first_is_its_own() {
        let mut all: Vec<_> = NAMED.iter().flat_map(|n| n.names).collect();
        for named in &NAMED {
            let params = vec![Some(1.0); named.needed];
            for name in named.names {
                assert_eq!(Window::named(name, &params).unwrap().name(), named.names[0], "{name}");
            }
        }
        let count = all.len();
        all.sort();
        all.dedup();
        // As many as scipy.signal.windows._windows._WIN_FUNCS has.
        assert_eq!((all.len(), count), (67, 67));
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        for name in ["hanning", "", "Hann", "hann_periodic"] {
            let e = Window::named(name, &[]).unwrap_err();
            assert!(e.kind().is_usage());
            assert!(e.to_string().contains("pass one of boxcar, triang"), "{e}");
            assert!(e.to_string().contains("taylor"), "{e}");
        }
    }

    #[test]
    fn parameters_are_counted() {
        let message = |name, params: &[Option<f64>]| Window::named(name, params).unwrap_err().to_string();
        assert_eq!(
            message("hann", &[Some(1.0)]),
            "the window hann takes no parameters, 1 given; pass for instance \"hann\""
        );
        assert_eq!(message("ksr", &[]), "the window ksr takes beta, 0 given; pass for instance [\"kaiser\", 8.6]");
        assert!(message("general_gaussian", &[Some(1.0)]).contains("takes p and sig, 1 given"));
        assert!(message("taylor", &[Some(4.0); 4]).contains("up to 3 (nbar, sll, norm), 4 given"));
        assert!(message("kaiser", &[None]).contains("takes beta"));
        assert!(message("general_cosine", &[]).contains("takes weights"));
        assert!(message("general_cosine", &[Some(1.0), None]).contains("takes weights"));
        assert!(message("taylor", &[Some(2.5)]).contains("whole number from 1 to 1000"));
        assert!(message("taylor", &[Some(f64::NAN)]).contains("whole number"));
        assert!(message("taylor", &[Some(-1.0)]).contains("whole number"));
    }

    #[test]
    fn defaults_are_those_of_scipy() {
        assert_eq!("tuk".parse::<Window>().unwrap(), Window::Tukey { alpha: 0.5 });
        assert_eq!("poisson".parse::<Window>().unwrap(), Window::Exponential { center: None, tau: 1.0 });
        let taylor = Window::Taylor { nbar: 4, sll: 30.0, norm: true };
        assert_eq!("taylorwin".parse::<Window>().unwrap(), taylor);
        assert_eq!(Window::named("taylor", &[None, None, Some(1.0)]).unwrap(), taylor);
        let weights = [0.25, 0.5, 0.25];
        assert_eq!(
            Window::named("general cosine", &weights.map(Some)).unwrap(),
            Window::GeneralCosine(weights.to_vec())
        );
        assert_eq!(Window::split_form("a_symmetric"), ("a", Some(false)));
    }
}
