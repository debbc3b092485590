//! Which channels are referenced by which: parameters, their checks, and the lists the kernels work from.

use crate::error::{Error, ErrorKind, Result};

/// What the reference of a channel is, across its source channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Operator {
    /// numpy's `mean`.
    Mean,
    /// numpy's `median`: the average of the two middle values for an even number of channels.
    #[default]
    Median,
}

impl Operator {
    /// numpy's name.
    pub fn name(self) -> &'static str {
        match self {
            Operator::Mean => "mean",
            Operator::Median => "median",
        }
    }
}

/// What a NaN does to the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum NanPolicy {
    /// A NaN among the sources makes the reference NaN at that sample.
    #[default]
    Propagate,
    /// The reference is taken over the other sources (`nanmean`, `nanmedian`); NaN if there is none.
    Omit,
}

/// How channels are put together.
#[derive(Debug, Clone, PartialEq)]
enum Form {
    All,
    Groups(Vec<Vec<usize>>),
    Radius(usize, usize),
}

/// A checked set of parameters of the common reference.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    operator: Operator,
    form: Form,
    exclude: Vec<usize>,
    nan_policy: NanPolicy,
}

/// Channels that share one reference.
///
/// Together the parts of a plan name every channel exactly once as a member. A part without sources is copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The channels the reference is subtracted from, ascending.
    pub members: Vec<u32>,
    /// The channels the reference is taken from, ascending; empty: the members stay as they are.
    pub source: Vec<u32>,
}

/// Most entries the source lists of a local reference may have together (1 GiB).
const MAX_ENTRIES: usize = 1 << 28;

impl Plan {
    /// Checks the parameters.
    ///
    /// - `groups`: lists of channels, each referenced within itself; channels in none stay as they are. `None`: all
    ///   channels are one group.
    /// - `radius` `(r0, r1)`: channel `k` is referenced by the channels `j` with `r0 <= |j - k| <= r1`, as far as they
    ///   exist. Cannot be combined with `groups`.
    /// - `exclude`: channels left out of every reference, but referenced like the others.
    pub fn new(
        operator: Operator,
        groups: Option<Vec<Vec<usize>>>,
        radius: Option<(usize, usize)>,
        mut exclude: Vec<usize>,
        nan_policy: NanPolicy,
    ) -> Result<Self> {
        exclude.sort_unstable();
        exclude.dedup();
        let form = match (groups, radius) {
            (Some(_), Some(_)) => {
                return Err(Error::invalid(
                    "groups and radius cannot be combined: a channel is referenced either within its group or by its neighbours; give one of the two",
                ));
            }
            (Some(groups), None) => Form::Groups(check_groups(groups, &exclude)?),
            (None, Some((r0, r1))) if r0 > r1 => {
                return Err(Error::invalid(format!(
                    "radius ({r0}, {r1}) is empty: the inner radius must not exceed the outer one; did you mean ({r1}, {r0})?"
                )));
            }
            (None, Some((r0, r1))) => Form::Radius(r0, r1),
            (None, None) => Form::All,
        };
        Ok(Plan { operator, form, exclude, nan_policy })
    }

    /// Mean or median.
    pub fn operator(&self) -> Operator {
        self.operator
    }

    /// What a NaN does.
    pub fn nan_policy(&self) -> NanPolicy {
        self.nan_policy
    }

    /// What of the parameters decides which variant is best, fit for a file name.
    pub(crate) fn class(&self) -> String {
        let omit = if self.nan_policy == NanPolicy::Omit { "-omit" } else { "" };
        let form = match &self.form {
            Form::All if self.exclude.is_empty() => String::new(),
            Form::All => "-exclude".into(),
            Form::Groups(groups) => format!("-groups{}", groups.len().next_power_of_two()),
            Form::Radius(_, outer) => {
                format!("-radius{}", outer.saturating_add(1).checked_next_power_of_two().unwrap_or(0))
            }
        };
        format!("{}{omit}{form}", self.operator.name())
    }

    /// The channel lists for a recording of `channels` channels.
    pub fn resolve(&self, channels: usize) -> Result<Vec<Part>> {
        if u32::try_from(channels).is_err() {
            return Err(Error::new(
                ErrorKind::Limit,
                format!("{channels} channels are too many for a common reference; at most {} are possible", u32::MAX),
            ));
        }
        if let Some(&c) = self.exclude.last()
            && c >= channels
        {
            return Err(out_of_range("exclude", c, channels));
        }
        if channels == 0 && !matches!(self.form, Form::Groups(_)) {
            return Ok(Vec::new());
        }
        match &self.form {
            Form::All => {
                let source = self.without_excluded(0..channels);
                if source.is_empty() {
                    return Err(Error::invalid(format!(
                        "all {channels} channels are excluded, so nothing is left to take the reference from; exclude fewer"
                    )));
                }
                Ok(vec![Part { members: (0..channels as u32).collect(), source }])
            }
            Form::Groups(groups) => self.resolve_groups(groups, channels),
            Form::Radius(r0, r1) => self.resolve_radius(*r0, *r1, channels),
        }
    }

    fn without_excluded(&self, channels: impl Iterator<Item = usize>) -> Vec<u32> {
        channels.filter(|c| self.exclude.binary_search(c).is_err()).map(|c| c as u32).collect()
    }

    fn resolve_groups(&self, groups: &[Vec<usize>], channels: usize) -> Result<Vec<Part>> {
        let mut free = vec![true; channels];
        let mut parts = Vec::with_capacity(groups.len() + 1);
        for (g, group) in groups.iter().enumerate() {
            for &c in group {
                *free.get_mut(c).ok_or_else(|| out_of_range(&format!("group {g}"), c, channels))? = false;
            }
            parts.push(Part {
                members: group.iter().map(|&c| c as u32).collect(),
                source: self.without_excluded(group.iter().copied()),
            });
        }
        let members: Vec<u32> = (0..channels as u32).filter(|&c| free[c as usize]).collect();
        if !members.is_empty() {
            parts.push(Part { members, source: Vec::new() });
        }
        Ok(parts)
    }

    fn resolve_radius(&self, r0: usize, r1: usize, channels: usize) -> Result<Vec<Part>> {
        let entries = r1.saturating_mul(2).saturating_add(1).min(channels).saturating_mul(channels);
        if entries > MAX_ENTRIES {
            return Err(Error::new(
                ErrorKind::Limit,
                format!(
                    "a radius of {r1} over {channels} channels needs up to {entries} channel indices, more than the {MAX_ENTRIES} possible; use a smaller radius or groups"
                ),
            ));
        }
        (0..channels)
            .map(|k| {
                let below = k.saturating_sub(r1)..(k + 1).saturating_sub(r0);
                let above = k.saturating_add(r0.max(1))..k.saturating_add(r1).saturating_add(1).min(channels);
                let source = self.without_excluded(below.chain(above));
                if source.is_empty() {
                    return Err(Error::invalid(format!(
                        "channel {k} has no channel at a distance of {r0} to {r1} that is not excluded, so it has no reference; widen the radius or exclude fewer"
                    )));
                }
                Ok(Part { members: vec![k as u32], source })
            })
            .collect()
    }
}

/// Each group sorted; disjoint, none empty, none wholly excluded.
fn check_groups(groups: Vec<Vec<usize>>, exclude: &[usize]) -> Result<Vec<Vec<usize>>> {
    if groups.is_empty() {
        return Err(Error::invalid("groups is an empty list; give at least one group, or none to use all channels"));
    }
    let mut all = Vec::new();
    let mut sorted = Vec::with_capacity(groups.len());
    for (g, mut group) in groups.into_iter().enumerate() {
        if group.is_empty() {
            return Err(Error::invalid(format!("group {g} is empty; every group needs at least one channel")));
        }
        if group.iter().all(|c| exclude.binary_search(c).is_ok()) {
            return Err(Error::invalid(format!(
                "all channels of group {g} are excluded, so nothing is left to take its reference from; exclude fewer or drop the group"
            )));
        }
        group.sort_unstable();
        all.extend(group.iter().map(|&c| (c, g)));
        sorted.push(group);
    }
    all.sort_unstable();
    match all.windows(2).find(|w| w[0].0 == w[1].0) {
        Some(w) if w[0].1 == w[1].1 => {
            Err(Error::invalid(format!("group {} names channel {} twice; name it once", w[0].1, w[0].0)))
        }
        Some(w) => Err(Error::invalid(format!(
            "channel {} is in group {} and in group {}; groups must not share channels",
            w[0].0, w[0].1, w[1].1
        ))),
        None => Ok(sorted),
    }
}

fn out_of_range(what: &str, channel: usize, channels: usize) -> Error {
    let legal = match channels {
        0 => "it has no channels".to_string(),
        n => format!("its channels are 0 to {}", n - 1),
    };
    Error::invalid(format!("{what} names channel {channel}, which the recording does not have; {legal}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(groups: Option<Vec<Vec<usize>>>, radius: Option<(usize, usize)>, exclude: &[usize]) -> Result<Plan> {
        Plan::new(Operator::Mean, groups, radius, exclude.to_vec(), NanPolicy::Propagate)
    }

    fn message(result: Result<impl std::fmt::Debug>) -> String {
        let error = result.expect_err("must be refused");
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        error.to_string()
    }

    #[test]
    fn all_channels_are_one_part() {
        let parts = plan(None, None, &[1]).unwrap().resolve(3).unwrap();
        assert_eq!(parts, [Part { members: vec![0, 1, 2], source: vec![0, 2] }]);
        assert_eq!(plan(None, None, &[]).unwrap().resolve(0).unwrap(), []);
    }

    #[test]
    fn channels_in_no_group_are_copied() {
        let parts = plan(Some(vec![vec![4, 0], vec![2, 1]]), None, &[4]).unwrap().resolve(6).unwrap();
        let want = [(vec![0, 4], vec![0]), (vec![1, 2], vec![1, 2]), (vec![3, 5], vec![])];
        assert_eq!(parts, want.map(|(members, source)| Part { members, source }));
    }

    #[test]
    fn radius_is_cut_at_the_ends() {
        let sources = |radius, exclude: &[usize], n| -> Vec<Vec<u32>> {
            plan(None, Some(radius), exclude).unwrap().resolve(n).unwrap().into_iter().map(|p| p.source).collect()
        };
        assert_eq!(sources((1, 2), &[], 4), [vec![1, 2], vec![0, 2, 3], vec![0, 1, 3], vec![1, 2]]);
        assert_eq!(sources((0, 1), &[1], 3), [vec![0], vec![0, 2], vec![2]]);
        assert_eq!(sources((0, 0), &[], 2), [vec![0], vec![1]]);
        assert_eq!(sources((2, usize::MAX), &[], 4), [vec![2, 3], vec![3], vec![0], vec![0, 1]]);
    }

    #[test]
    fn contradictions_are_refused_with_the_reason() {
        assert!(message(plan(Some(vec![vec![0]]), Some((0, 1)), &[])).contains("cannot be combined"));
        assert!(message(plan(None, Some((3, 1)), &[])).contains("did you mean (1, 3)"));
        assert!(message(plan(Some(vec![]), None, &[])).contains("empty list"));
        assert!(message(plan(Some(vec![vec![0], vec![]]), None, &[])).contains("group 1 is empty"));
        assert!(
            message(plan(Some(vec![vec![0, 5], vec![5]]), None, &[]))
                .contains("channel 5 is in group 0 and in group 1")
        );
        assert!(message(plan(Some(vec![vec![3, 3]]), None, &[])).contains("channel 3 twice"));
        assert!(
            message(plan(Some(vec![vec![0], vec![1, 2]]), None, &[1, 2]))
                .contains("all channels of group 1 are excluded")
        );
    }

    #[test]
    fn what_does_not_fit_the_recording_is_named() {
        let text = message(plan(Some(vec![vec![0, 7]]), None, &[]).unwrap().resolve(4));
        assert!(text.contains("group 0 names channel 7") && text.contains("0 to 3"), "{text}");
        assert!(message(plan(None, None, &[4]).unwrap().resolve(4)).contains("exclude names channel 4"));
        assert!(message(plan(Some(vec![vec![0]]), None, &[]).unwrap().resolve(0)).contains("no channels"));
        assert!(message(plan(None, None, &[0, 1]).unwrap().resolve(2)).contains("all 2 channels are excluded"));
        assert!(message(plan(None, Some((2, 3)), &[]).unwrap().resolve(3)).contains("channel 1 has no channel"));
        let many = plan(None, Some((0, 40_000)), &[]).unwrap().resolve(70_000);
        assert_eq!(many.expect_err("too many entries").kind(), ErrorKind::Limit);
    }
}
