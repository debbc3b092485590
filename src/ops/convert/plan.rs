//! Gains and offsets.

use crate::error::{Error, Result};

/// A factor or summand: one for all channels, or one for each.
#[derive(Debug, Clone, PartialEq)]
pub enum Scale {
    /// The same for every channel.
    One(f64),
    /// By channel.
    PerChannel(Vec<f64>),
}

/// A factor of 1 for all channels.
impl Default for Scale {
    fn default() -> Self {
        Scale::One(1.0)
    }
}

impl Scale {
    /// Whether every value is finite; `name` is the parameter's.
    pub fn check_finite(&self, name: &str) -> Result<()> {
        let values = match self {
            Scale::One(value) => std::slice::from_ref(value),
            Scale::PerChannel(values) => values,
        };
        match values.iter().position(|v| !v.is_finite()) {
            Some(i) => Err(Error::invalid(format!("{name}[{i}] is {}; every value must be finite", values[i]))),
            None => Ok(()),
        }
    }

    /// Whether there is a value for each of `channels` channels; `name` is the parameter's.
    pub fn check(&self, name: &str, channels: usize) -> Result<()> {
        match self {
            Scale::PerChannel(values) if values.len() != channels => Err(Error::shape(format!(
                "{name} has {} values for {channels} channels; give one number, or one for each channel",
                values.len()
            ))),
            _ => Ok(()),
        }
    }

    /// The value for a channel (0 past the end of a list that [`Scale::check`] refuses).
    pub fn at(&self, channel: usize) -> f64 {
        match self {
            Scale::One(value) => *value,
            Scale::PerChannel(values) => values.get(channel).copied().unwrap_or(0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_need_one_value_for_each_channel() {
        assert!(Scale::One(2.0).check("gain", 5).is_ok());
        let list = Scale::PerChannel(vec![1.0, 2.0]);
        assert!(list.check("gain", 2).is_ok());
        let error = list.check("gain", 3).expect_err("too few");
        assert_eq!(error.kind(), crate::ErrorKind::Shape);
        assert!(error.to_string().contains("gain has 2 values for 3 channels"), "{error}");
        assert_eq!((list.at(1), Scale::One(2.0).at(9)), (2.0, 2.0));
    }
}
