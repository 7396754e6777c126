//! Where the extrema of windows are, and what adapters of their folds hand on.

use super::along::each_lane;
use super::rolling::{EDGES, aligned, windows};
use crate::support::{Random, in_pools};
use lensor::prelude::*;
use lensor::reduce::{ArgMax, ArgMin, Mean, Reducer};
use lensor::rolling::WindowEdge;
use std::collections::VecDeque;

/// Where the first of the best elements of a window is, or its first NaN, by looking at each.
fn place(window: &[f64], best: impl Fn(f64, f64) -> bool) -> usize {
    let nan = window.iter().position(|x| x.is_nan());
    nan.unwrap_or_else(|| {
        (1..window.len()).fold(0, |at, k| if best(window[k], window[at]) { k } else { at })
    })
}

/// A reducer of one's own whose positions can be moved: where the first of the largest elements is, or the first NaN.
struct Moving;

impl Reducer<f64> for Moving {
    type State = (usize, f64);
    type Out = usize;
    const POSITIONS: bool = true;
    const MOVES: bool = true;

    fn empty(&self) -> Option<(usize, f64)> {
        None
    }

    fn first(&self, x: f64) -> (usize, f64) {
        (0, x)
    }

    fn step(&self, state: &mut (usize, f64), x: f64) {
        self.combine(state, (0, x));
    }

    fn combine(&self, state: &mut (usize, f64), later: (usize, f64)) {
        if later.1 > state.1 || later.1.is_nan() && !state.1.is_nan() {
            *state = later;
        }
    }

    fn finish(&self, (position, _): (usize, f64)) -> usize {
        position
    }

    fn first_at(&self, x: f64, position: usize) -> (usize, f64) {
        (position, x)
    }

    fn step_at(&self, state: &mut (usize, f64), x: f64, position: usize) {
        self.combine(state, (position, x));
    }

    fn moved(&self, (position, x): (usize, f64), by: usize) -> (usize, f64) {
        (position - by, x)
    }
}

/// Of elements that are often equal, and of both zeros; NaN wins.
#[test]
fn places_of_extrema_count_from_the_start_of_their_window() {
    let mut random = Random(11);
    for (shape, axis) in [(vec![700], 0), (vec![2, 300], 1), (vec![300, 5], 0), (vec![2, 90, 3], 1)]
    {
        for (window, nans) in [(3, 9), (9, 0), (13, 40), (64, 90), (90, 0), (200, 500)] {
            let mut element = || match random.below(1000) {
                k if k < nans => f64::NAN,
                k => [0.0, -0.0, 1.0, 1.0, 2.0, -1.0][k % 6] + [-0.0, 7.0][usize::from(k < 700)],
            };
            let data: Vec<f64> = (0..shape.iter().product()).map(|_| element()).collect();
            let t = Tensor::from_vec(shape.clone(), data.clone()).unwrap();
            for (alignment, edge) in (0..3).flat_map(|k| EDGES.map(|edge| (k, edge))) {
                let extent = shape[axis];
                if window > extent && edge != WindowEdge::Cut {
                    continue;
                }
                let results = if edge == WindowEdge::Full { extent - window + 1 } else { extent };
                let each = |of: &dyn Fn(&[f64]) -> [usize; 4]| {
                    let of = |x: &Vec<f64>| of(x);
                    let lane = |lane: &[f64]| -> Vec<[usize; 4]> {
                        windows(lane, window, alignment, edge).iter().map(of).collect()
                    };
                    each_lane(&shape, &data, axis, results, lane).1
                };
                let expected = each(&|x| {
                    // Of a window without numbers there is no place.
                    let numbers: Vec<f64> = x.iter().copied().filter(|x| !x.is_nan()).collect();
                    let number =
                        (!numbers.is_empty()).then(|| numbers[place(&numbers, |a, b| a < b)]);
                    let skipping = number.map_or(9999, |n| x.iter().position(|&x| x == n).unwrap());
                    let high = place(x, |a, b| a > b);
                    let whole = if x.len() < window { 9999 } else { high };
                    [place(x, |a, b| a < b), high, skipping, whole]
                });
                let rolling = || aligned(t.rolling(axis, window).edge(edge), alignment);
                let both = rolling().fold((ArgMin, ArgMax)).eval().unwrap();
                let least = rolling().argmin().eval().unwrap();
                let skipping = rolling().nan_argmin().or(9999).eval().unwrap();
                let counted = rolling().argmax().at_least(window, 9999).eval().unwrap();
                let moving = rolling().fold(Moving).eval().unwrap();
                let beside = rolling().fold((Mean, ArgMax)).eval().unwrap();
                for (k, &[low, high, skipped, whole]) in expected.iter().enumerate() {
                    let what = format!("{k} of {shape:?}, {window}, {alignment}, {edge:?}");
                    assert_eq!(both.storage()[k], (low, high), "{what}");
                    assert_eq!(least.storage()[k], low, "{what}");
                    assert_eq!(skipping.storage()[k], skipped, "{what}");
                    assert_eq!([moving.storage()[k], beside.storage()[k].1], [high; 2], "{what}");
                    assert_eq!(counted.storage()[k], whole, "{what}");
                }
            }
        }
    }
}

/// The first window without numbers is named, whatever the block it ends in.
#[test]
fn windows_of_nothing_but_nan_have_no_place() {
    for (shape, index) in [(vec![500], vec![330]), (vec![250, 2], vec![155, 0])] {
        let inner = shape.iter().skip(1).product::<usize>();
        let nan = |k: usize| {
            (330..345).contains(&(k / inner)) || (155..170).contains(&(k / inner)) && inner > 1
        };
        let data = (0..500).map(|k| if nan(k) { f64::NAN } else { 1.0 }).collect();
        let t = Tensor::from_vec(shape, data).unwrap();
        assert_eq!(t.rolling(0, 15).nan_argmax().eval(), Err(Error::NothingLeft { index }));
        assert!(t.rolling(0, 16).nan_argmax().eval().is_ok());
    }
}

/// As many elements as tasks are made of.
#[test]
fn places_in_long_windows_are_those_of_a_queue() {
    let mut random = Random(12);
    for (shape, window) in [(vec![300_000], 1000), (vec![50_000, 3], 700)] {
        let data: Vec<f64> =
            (0..shape.iter().product()).map(|_| random.below(2000) as f64).collect();
        let t = Tensor::from_vec(shape.clone(), data.clone()).unwrap();
        let lane = |lane: &[f64]| -> Vec<usize> {
            let (mut queue, mut places) = (VecDeque::<usize>::new(), Vec::new());
            for (k, x) in lane.iter().enumerate() {
                while queue.back().is_some_and(|&last| *x < lane[last]) {
                    queue.pop_back();
                }
                queue.push_back(k);
                if let Some(start) = (k + 1).checked_sub(window) {
                    while queue[0] < start {
                        queue.pop_front();
                    }
                    places.push(queue[0] - start);
                }
            }
            places
        };
        let (_, expected) = each_lane(&shape, &data, 0, shape[0] - window + 1, lane);
        assert!(in_pools(|| t.rolling(0, window).argmin().eval()?.to_vec()) == expected);
    }
}

/// What adapts a reducer hands on the degrees of freedom, in either order.
#[test]
fn degrees_of_freedom_pass_through_adapters() {
    let t = Tensor::from(vec![1.0, 3.0, f64::NAN, 8.0, 2.0]);
    let bits = |found: lensor::Result<Vec<f64>>| -> Vec<u64> {
        found.unwrap().into_iter().map(f64::to_bits).collect()
    };
    let expected = bits(t.rolling(0, 3).var().ddof(1).at_least(2, -1.0).to_vec());
    assert_eq!(bits(t.rolling(0, 3).var().at_least(2, -1.0).ddof(1).to_vec()), expected);
    let expected = bits(t.rolling(0, 3).std().ddof(1).skip_nan(2, -1.0).to_vec());
    assert_eq!(bits(t.rolling(0, 3).std().skip_nan(2, -1.0).ddof(1).to_vec()), expected);
    assert_ne!(bits(t.rolling(0, 3).std().skip_nan(2, -1.0).to_vec()), expected);
    let expected = bits(t.view().slice(0, ..2).unwrap().var(..).ddof(1).map(f64::sqrt).to_vec());
    assert_eq!(
        bits(t.view().slice(0, ..2).unwrap().var(..).map(f64::sqrt).ddof(1).to_vec()),
        expected
    );
    assert_eq!(expected, [2_f64.sqrt().to_bits()]);
    let some = t.fold(.., lensor::reduce::Maybe(lensor::reduce::Variance { ddof: 0 }));
    assert!(some.ddof(1).item().unwrap().is_some_and(f64::is_nan));
}
