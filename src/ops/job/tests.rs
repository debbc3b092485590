use super::*;
use crate::design::{Band, butter};
use crate::ops::filter::SosFilter;
use crate::signal::{Dtype, View};

fn job(filter: &SosFilter, channels: usize, samples: usize) -> Job<'_> {
    let input = Input { dtype: Dtype::F32, interleaved: false };
    Job::new(filter, Target::Cpu, Shape { channels, samples }, input)
}

#[test]
fn what_is_proven_of_one_filter_is_not_taken_for_another_of_its_class() {
    let wide = SosFilter::new(&butter(3, Band::Pass(300.0, 6000.0), 30_000.0).unwrap()).unwrap();
    let narrow = SosFilter::new(&butter(3, Band::Pass(8.0, 12.0), 30_000.0).unwrap()).unwrap();
    let (a, b, again) = (job(&wide, 4, 5000), job(&narrow, 4, 5000), job(&wide, 4, 6000));
    assert_eq!(a.class(), b.class());
    assert_eq!(a.shared().unwrap().content, again.shared().unwrap().content);
    assert_ne!(a.shared().unwrap().content, b.shared().unwrap().content);
}

#[test]
fn problems_with_other_choices_are_other_classes() {
    let names = |list: &[&str]| list.iter().map(|n| n.to_string()).collect::<Vec<_>>();
    assert_eq!(choice(&names(&["a", "b"])), choice(&names(&["b", "a"])));
    assert_ne!(choice(&names(&["a", "b"])), choice(&names(&["a"])));
    let filter = SosFilter::new(&butter(2, Band::Low(100.0), 1000.0).unwrap()).unwrap();
    // The same powers of two, but pieces of a channel cannot be as short.
    assert_ne!(job(&filter, 4, 1100).class(), job(&filter, 4, 2048).class());
}

#[test]
fn a_first_meeting_is_timed_on_no_more_than_it_needs() {
    let filter = SosFilter::new(&butter(2, Band::Low(100.0), 1000.0).unwrap()).unwrap();
    let one = [1.0f32];
    let large = View::with_strides(&one, 384, 524_288, 0, 0).unwrap();
    let met = Job::cpu(&filter, &large.into());
    assert_eq!(met.timed_shape.channels, 384);
    assert!(met.timed_shape.channels * met.timed_shape.samples <= FIRST_MEETING);
    assert_eq!(met.shape.samples, 524_288);
    let input = Input { dtype: Dtype::F32, interleaved: true };
    let whole = Job::new(&filter, Target::Cpu, met.shape, input);
    assert_eq!((met.class(), whole.timed_shape), (whole.class(), whole.shape));
    let small = View::with_strides(&one, 32, 1024, 0, 0).unwrap();
    assert_eq!(Job::cpu(&filter, &small.into()).timed_shape, Shape { channels: 32, samples: 1024 });
}

#[test]
fn long_responses_are_compared_in_windows() {
    let taps: Vec<f64> = (0..1500).map(|k| 1.0 / f64::from(k + 1)).collect();
    let filter = crate::ops::filter::FirFilter::new(&taps).unwrap();
    let input = Input { dtype: Dtype::F32, interleaved: false };
    let job = Job::new(&filter, Target::Cpu, Shape { channels: 1, samples: 50_000 }, input);
    let parts = &job.timed().unwrap().expected;
    let places: Vec<_> = parts.iter().map(|p| (p.start, p.values.len())).collect();
    assert_eq!(places, [(0, 1024), (24_488, 1024), (48_976, 1024)]);
    for variant in 0..job.variants().len() {
        job.time(variant, 1).unwrap();
    }
}
