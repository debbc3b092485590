//! The common reference in plain float64, sample by sample: what every kernel is checked against.

use super::plan::{NanPolicy, Operator, Plan};
use crate::error::Result;
use crate::signal::Source;

/// The referenced recording, `[channels, samples]`, contiguous.
pub fn run(plan: &Plan, x: Source<'_>) -> Result<Vec<f64>> {
    let (channels, samples) = (x.channels(), x.samples());
    let mut y = vec![0.0; channels * samples];
    for part in plan.resolve(channels)? {
        for n in 0..samples {
            let at = |c: u32| f64::from(x.get(c as usize, n));
            let reference = match part.source.is_empty() {
                true => 0.0,
                false => of_column(plan, part.source.iter().map(|&c| at(c)).collect()),
            };
            part.members.iter().for_each(|&c| y[c as usize * samples + n] = at(c) - reference);
        }
    }
    Ok(y)
}

fn of_column(plan: &Plan, mut column: Vec<f64>) -> f64 {
    match plan.nan_policy() {
        NanPolicy::Omit => column.retain(|v| !v.is_nan()),
        NanPolicy::Propagate if column.iter().any(|v| v.is_nan()) => return f64::NAN,
        NanPolicy::Propagate => {}
    }
    if column.is_empty() {
        return f64::NAN;
    }
    match plan.operator() {
        Operator::Mean => column.iter().sum::<f64>() / column.len() as f64,
        Operator::Median => {
            column.sort_unstable_by(f64::total_cmp);
            let upper = column[column.len() / 2];
            if column.len() % 2 == 1 { upper } else { (column[column.len() / 2 - 1] + upper) / 2.0 }
        }
    }
}
