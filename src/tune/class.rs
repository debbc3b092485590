//! Size classes: which problems share a tuned result.
//!
//! A class is a parameter part and a size part, `taps64-f32--c7-s15-a4`: channels and samples as powers of two (rounded
//! up, so that 65 to 128 channels are `c7`) and the divisibility facts that variants' constraints depend on. Legality is
//! still checked on the actual problem at every call.

/// Separates the parameter part of a class from its size part.
const SEPARATOR: &str = "--";

/// Beyond a total distance of four doublings a result says little about another size.
const MAX_DISTANCE: u32 = 2 * 4;

/// Name of a size class: `c7-s15`, followed by the facts (`-a4`), for `channels` in 65..=128 and `samples` in
/// 16385..=32768. 0 counts as 1.
pub fn size_class(channels: usize, samples: usize, facts: &[&str]) -> String {
    let mut name = format!("c{}-s{}", doublings(channels), doublings(samples));
    for fact in facts {
        name.push('-');
        name.push_str(fact);
    }
    name
}

/// Name of an entry's class: `parameters` (what of the operation's arguments can change which variant is best, with the
/// element type) joined to a [`size_class`].
pub fn class_name(parameters: &str, size: &str) -> String {
    format!("{parameters}{SEPARATOR}{size}")
}

fn doublings(n: usize) -> u32 {
    n.max(1).checked_next_power_of_two().map_or(usize::BITS, usize::trailing_zeros)
}

/// How far apart two classes are, in half doublings (a difference in facts counts one); `None` if their parameters
/// differ, a name is not of this form, or they are too far apart to learn from.
pub(crate) fn distance(a: &str, b: &str) -> Option<u32> {
    let (a, b) = (parse(a)?, parse(b)?);
    if a.parameters != b.parameters {
        return None;
    }
    let size = a.channels.abs_diff(b.channels).saturating_add(a.samples.abs_diff(b.samples));
    let total = size.saturating_mul(2).saturating_add(u32::from(a.facts != b.facts));
    (total <= MAX_DISTANCE).then_some(total)
}

struct Parsed<'a> {
    parameters: &'a str,
    channels: u32,
    samples: u32,
    facts: &'a str,
}

fn parse(class: &str) -> Option<Parsed<'_>> {
    let (parameters, size) = class.rsplit_once(SEPARATOR)?;
    let (channels, rest) = size.strip_prefix('c')?.split_once("-s")?;
    let (samples, facts) = rest.split_once('-').unwrap_or((rest, ""));
    Some(Parsed { parameters, channels: channels.parse().ok()?, samples: samples.parse().ok()?, facts })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        assert_eq!(size_class(128, 32768, &["a4"]), "c7-s15-a4");
        assert_eq!(size_class(65, 16385, &[]), "c7-s15");
        assert_eq!(size_class(129, 32769, &[]), "c8-s16");
        assert_eq!(size_class(0, 1, &[]), "c0-s0");
        assert_eq!(size_class(usize::MAX, 2, &["x", "y"]), format!("c{}-s1-x-y", usize::BITS));
        assert_eq!(class_name("taps64-f32", "c7-s15"), "taps64-f32--c7-s15");
    }

    #[test]
    fn distances() {
        assert_eq!(distance("p--c7-s15", "p--c7-s15"), Some(0));
        assert_eq!(distance("p--c7-s15", "p--c6-s16"), Some(4));
        assert_eq!(distance("p--c7-s15-a4", "p--c7-s15-a1"), Some(1));
        assert_eq!(distance("p--c7-s15", "q--c7-s15"), None);
        assert_eq!(distance("p--c7-s15", "p--c7-s20"), None);
        assert_eq!(distance("p--c7-s15", "nonsense"), None);
        assert_eq!(distance("p--c7-s15", "p--c99999999999-s15"), None);
        assert_eq!(distance("p--c0-s0", "p--c4294967295-s4294967295"), None);
        assert_eq!(distance("a--b--c1-s1", "a--b--c1-s2"), Some(2));
    }
}
