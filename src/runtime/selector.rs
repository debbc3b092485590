//! The grammar of runtime names.

use std::fmt;

use crate::error::{Error, ErrorKind, Result};

/// Which device of a runtime.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Pick {
    /// The best one.
    Best,
    /// The one with this number in the listing; digits alone are always a number, never part of a name.
    Index(usize),
    /// The best one whose identity is this, or whose name contains it (lower case).
    Named(String),
}

/// A runtime name, understood.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Selector {
    /// The default.
    Auto,
    /// The best hardware GPU of any runtime.
    Gpu,
    /// The CPU.
    Cpu,
    /// A device of one GPU runtime.
    Device {
        /// `cuda`, `hip` or `wgpu`.
        runtime: &'static str,
        /// Only devices of this interface: `vulkan`, `metal` or `dx12`.
        backend: Option<&'static str>,
        /// Which of them.
        pick: Pick,
    },
}

impl Selector {
    /// Reads a name; case and surrounding blanks do not matter. `compiled` is for the message only.
    pub(super) fn parse(name: &str, compiled: &[&str]) -> Result<Selector> {
        let lower = name.trim().to_lowercase();
        let unknown = |why: &str| {
            Error::new(
                ErrorKind::UnknownRuntime,
                format!(
                    "there is no runtime '{}'{why}; known: cuda, hip (rocm), wgpu, cpu, vulkan, metal, dx12, gpu, auto, or \
                     one device such as cuda:0, wgpu:1, wgpu:<part of its name>; compiled in: {}",
                    shorten(name.trim()),
                    compiled.join(", ")
                ),
            )
        };
        let (head, pick) = match lower.split_once(':') {
            None => (lower.as_str(), Pick::Best),
            Some((head, which)) => {
                (head.trim(), Pick::parse(which.trim()).ok_or_else(|| unknown(": nothing follows the ':'"))?)
            }
        };
        let device = |runtime, backend| Selector::Device { runtime, backend, pick: pick.clone() };
        let selector = match head {
            "cuda" => device("cuda", None),
            "hip" | "rocm" => device("hip", None),
            "wgpu" => device("wgpu", None),
            "vulkan" => device("wgpu", Some("vulkan")),
            "metal" => device("wgpu", Some("metal")),
            "dx12" => device("wgpu", Some("dx12")),
            "cpu" => Selector::Cpu,
            "gpu" => Selector::Gpu,
            "auto" | "" => Selector::Auto,
            _ => return Err(unknown("")),
        };
        let takes_pick = matches!(selector, Selector::Device { backend: None, .. });
        if pick != Pick::Best && !takes_pick {
            return Err(unknown(": only cuda, hip and wgpu take a device"));
        }
        Ok(selector)
    }

    /// The runtime it names, if it names one.
    pub fn runtime(&self) -> Option<&'static str> {
        match self {
            Selector::Auto | Selector::Gpu => None,
            Selector::Cpu => Some("cpu"),
            Selector::Device { runtime, .. } => Some(runtime),
        }
    }
}

impl Pick {
    fn parse(text: &str) -> Option<Pick> {
        if text.is_empty() {
            return None;
        }
        // A number too large for an index is part of a name, found nowhere.
        let number = text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten();
        Some(number.map_or_else(|| Pick::Named(text.to_owned()), Pick::Index))
    }
}

impl fmt::Display for Selector {
    /// The canonical name, which reads back as the same selector.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Selector::Auto => f.write_str("auto"),
            Selector::Gpu => f.write_str("gpu"),
            Selector::Cpu => f.write_str("cpu"),
            Selector::Device { runtime, backend, pick } => {
                f.write_str(backend.unwrap_or(runtime))?;
                match pick {
                    Pick::Best => Ok(()),
                    Pick::Index(index) => write!(f, ":{index}"),
                    Pick::Named(name) => write!(f, ":{name}"),
                }
            }
        }
    }
}

/// At most 60 characters of what was asked for, for a message.
fn shorten(name: &str) -> String {
    match name.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(name: &str) -> Result<Selector> {
        Selector::parse(name, &["wgpu", "cpu"])
    }

    fn device(runtime: &'static str, backend: Option<&'static str>, pick: Pick) -> Selector {
        Selector::Device { runtime, backend, pick }
    }

    #[test]
    fn every_name_of_the_table() {
        let cases = [
            ("", Selector::Auto),
            ("  ", Selector::Auto),
            ("AUTO", Selector::Auto),
            (" Gpu\n", Selector::Gpu),
            ("cpu", Selector::Cpu),
            ("cuda", device("cuda", None, Pick::Best)),
            ("HIP", device("hip", None, Pick::Best)),
            ("rocm", device("hip", None, Pick::Best)),
            ("wgpu", device("wgpu", None, Pick::Best)),
            ("Vulkan", device("wgpu", Some("vulkan"), Pick::Best)),
            ("metal", device("wgpu", Some("metal"), Pick::Best)),
            ("dx12", device("wgpu", Some("dx12"), Pick::Best)),
            ("cuda:1", device("cuda", None, Pick::Index(1))),
            ("ROCm : 2", device("hip", None, Pick::Index(2))),
            ("wgpu:RTX 4090", device("wgpu", None, Pick::Named("rtx 4090".into()))),
            ("wgpu:0000:01:00.0", device("wgpu", None, Pick::Named("0000:01:00.0".into()))),
        ];
        for (name, expected) in cases {
            assert_eq!(parse(name).unwrap(), expected, "{name:?}");
        }
    }

    #[test]
    fn unknown_names_list_what_there_is() {
        for name in ["cuuda", "cuda:", "wgpu: ", "cpu:0", "gpu:1", "auto:x", "vulkan:0", "cuda 1", "ｃｐｕ", ":", ":0"]
        {
            let e = parse(name).unwrap_err();
            assert_eq!(e.kind(), ErrorKind::UnknownRuntime, "{name}");
            assert!(e.to_string().contains("compiled in: wgpu, cpu"), "{e}");
        }
        assert!(parse(&"x".repeat(100_000)).unwrap_err().to_string().len() < 500);
    }

    proptest! {
        #[test]
        fn never_panics_and_the_canonical_name_reads_back(name in "\\PC{0,12}|(cuda|wgpu|rocm|gpu)? ?:? ?\\PC{0,9}") {
            if let Ok(selector) = parse(&name) {
                prop_assert_eq!(parse(&selector.to_string()).unwrap(), selector);
            }
        }
    }
}
