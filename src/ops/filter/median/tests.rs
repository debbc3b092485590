use super::*;
use crate::signal::View;

fn single(filter: MedianFilter) -> f32 {
    filter.on("cpu").apply(View::new(&[99.0f32], 1, 1).unwrap()).unwrap().row(0)[0]
}

#[test]
fn one_sample_follows_the_edge_rule() {
    assert_eq!(single(MedianFilter::medfilt(3).unwrap()), 0.0);
    for edge in [Edge::Nearest, Edge::Reflect, Edge::Mirror, Edge::Wrap] {
        assert_eq!(single(MedianFilter::new(3, edge).unwrap()), 99.0);
        assert_eq!(single(MedianFilter::new(1000, edge).unwrap()), 99.0);
    }
    assert_eq!(single(MedianFilter::new(3, Edge::Constant(-4.0)).unwrap()), -4.0);
}

#[test]
fn what_cannot_be_is_refused() {
    for (result, words) in [
        (MedianFilter::medfilt(4), "odd number"),
        (MedianFilter::medfilt(0), "odd number"),
        (MedianFilter::new(0, Edge::Reflect), "window of 1"),
        (MedianFilter::new(WIDEST + 1, Edge::Reflect), "window of 1"),
        (MedianFilter::new(3, Edge::Constant(f64::INFINITY)), "finite"),
        (MedianFilter::new(3, Edge::Constant(1e300)), "finite"),
    ] {
        let e = result.unwrap_err();
        assert!(e.kind().is_usage() && e.to_string().contains(words), "{e}");
    }
}

#[test]
fn empty_arrays_stay_empty() {
    for (channels, samples) in [(0, 5), (3, 0)] {
        let y = MedianFilter::new(9, Edge::Mirror).unwrap().on("cpu");
        let y = y.apply(View::new(&[0f32; 0], channels, samples).unwrap()).unwrap();
        assert_eq!((y.channels(), y.samples()), (channels, samples));
    }
}
