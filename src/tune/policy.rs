//! When to tune: the environment variable `DSPK_AUTOTUNE`.

use std::ffi::OsStr;
use std::str::FromStr;

use crate::error::{Error, Result};

/// Name of the environment variable read by [`Policy::from_env`].
pub const POLICY_VARIABLE: &str = "DSPK_AUTOTUNE";

/// What a call does that meets a device and size class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Policy {
    /// Use what is stored; a class met for the first time is tuned then, within about a second.
    #[default]
    OnMiss,
    /// Use what is stored, or the nearest class stored, or the built-in default; never measure.
    Cached,
    /// Always the built-in default. No file is read or written.
    Off,
    /// Tune each class again at its first meeting in this process, whatever is stored.
    Force,
    /// Like [`Policy::OnMiss`], but only variants that round identically to the built-in default may be chosen: the same
    /// bits come in every run, tuned or not.
    Pinned,
}

impl Policy {
    /// Every legal value of the variable.
    pub const NAMES: [&'static str; 5] = ["on-miss", "cached", "off", "force", "pinned"];

    /// Reads `DSPK_AUTOTUNE`; unset or empty means [`Policy::OnMiss`]. Case and surrounding blanks do not matter.
    ///
    /// # Errors
    /// [`crate::ErrorKind::InvalidArgument`], listing the legal values, for anything else.
    pub fn from_env() -> Result<Policy> {
        match std::env::var_os(POLICY_VARIABLE) {
            None => Ok(Policy::default()),
            Some(value) => Policy::from_os(&value),
        }
    }

    fn from_os(value: &OsStr) -> Result<Policy> {
        value.to_str().map_or_else(|| Err(unknown(&value.to_string_lossy())), str::parse)
    }

    /// The value of the variable that means this policy.
    pub fn name(self) -> &'static str {
        match self {
            Policy::OnMiss => Self::NAMES[0],
            Policy::Cached => Self::NAMES[1],
            Policy::Off => Self::NAMES[2],
            Policy::Force => Self::NAMES[3],
            Policy::Pinned => Self::NAMES[4],
        }
    }
}

impl FromStr for Policy {
    type Err = Error;

    fn from_str(value: &str) -> Result<Policy> {
        let name = value.trim();
        if name.is_empty() {
            return Ok(Policy::default());
        }
        [Policy::OnMiss, Policy::Cached, Policy::Off, Policy::Force, Policy::Pinned]
            .into_iter()
            .find(|policy| policy.name().eq_ignore_ascii_case(name))
            .ok_or_else(|| unknown(value))
    }
}

fn unknown(value: &str) -> Error {
    let legal = Policy::NAMES.join(", ");
    Error::invalid(format!("{POLICY_VARIABLE}={value:?} is not a tuning policy; set it to one of: {legal}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn every_name_is_read_back() {
        for name in Policy::NAMES {
            assert_eq!(name.parse::<Policy>().unwrap().name(), name);
        }
        assert_eq!(" Cached ".parse::<Policy>().unwrap(), Policy::Cached);
        assert_eq!("".parse::<Policy>().unwrap(), Policy::OnMiss);
        assert_eq!("  ".parse::<Policy>().unwrap(), Policy::OnMiss);
    }

    #[test]
    fn an_unknown_name_lists_the_legal_ones() {
        let error = "always".parse::<Policy>().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        let text = error.to_string();
        assert!(text.contains("\"always\"") && text.contains("on-miss, cached, off, force, pinned"), "{text}");
    }

    #[cfg(unix)]
    #[test]
    fn bytes_that_are_no_text_are_an_error() {
        use std::os::unix::ffi::OsStrExt;
        assert!(Policy::from_os(OsStr::from_bytes(b"of\xff")).is_err());
    }
}
