//! The model for everything along an axis: lanes are copied out, and what becomes of them copied back. And
//! the reducers of these tests.

use lensor::Shape;
use lensor::reduce::{Reducer, Undefined};

/// What `f` makes of every lane along `axis`, at its place.
pub(crate) fn each_lane<T: Copy, U: Copy>(
    shape: &[usize],
    data: &[T],
    axis: usize,
    results: usize,
    f: impl Fn(&[T]) -> Vec<U>,
) -> (Shape, Vec<U>) {
    let (n, inner) = (shape[axis], shape[axis + 1..].iter().product::<usize>());
    let outer: usize = shape[..axis].iter().product();
    let mut found = vec![None; outer * results * inner];
    for (o, i) in (0..outer).flat_map(|o| (0..inner).map(move |i| (o, i))) {
        let lane: Vec<T> = (0..n).map(|k| data[(o * n + k) * inner + i]).collect();
        let lane = f(&lane);
        assert_eq!(lane.len(), results);
        for (k, result) in lane.into_iter().enumerate() {
            found[(o * results + k) * inner + i] = Some(result);
        }
    }
    let mut extents = shape.to_vec();
    extents[axis] = results;
    (Shape::from(extents), found.into_iter().map(Option::unwrap).collect())
}

/// The state of a fold over all of `lane`, step by step.
pub(crate) fn folded<T: Copy, R: Reducer<T>>(reducer: &R, lane: &[T]) -> Option<R::State> {
    let mut state = None;
    for (k, &x) in lane.iter().enumerate() {
        match &mut state {
            None => state = Some(reducer.first_at(x, k)),
            Some(state) => reducer.step_at(state, x, k),
        }
    }
    state.or_else(|| reducer.empty())
}

/// The result of a fold over all of `lane`, step by step.
pub(crate) fn result<T: Copy, R: Reducer<T>>(reducer: &R, lane: &[T]) -> R::Out {
    reducer.finish(folded(reducer, lane).unwrap())
}

/// Composes the functions `y -> 3 y + x`: the order matters, how it is grouped does not.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Compose;

impl Reducer<i32> for Compose {
    type State = (u64, u64);
    type Out = u64;
    const COMMUTATIVE: bool = false;

    fn empty(&self) -> Option<(u64, u64)> {
        Some((1, 0))
    }

    fn first(&self, x: i32) -> (u64, u64) {
        (3, x as u64)
    }

    fn step(&self, state: &mut (u64, u64), x: i32) {
        self.combine(state, self.first(x));
    }

    fn combine(&self, state: &mut (u64, u64), later: (u64, u64)) {
        *state =
            (state.0.wrapping_mul(later.0), state.1.wrapping_mul(later.0).wrapping_add(later.1));
    }

    fn finish(&self, state: (u64, u64)) -> u64 {
        state.0 ^ state.1.rotate_left(7)
    }
}

/// The same numbers, which this reducer cannot join.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InOrder;

impl Reducer<i32> for InOrder {
    type State = u64;
    type Out = u64;
    const COMMUTATIVE: bool = false;
    const ASSOCIATIVE: bool = false;

    fn empty(&self) -> Option<u64> {
        Some(7)
    }

    fn first(&self, x: i32) -> u64 {
        x as u64 ^ 5
    }

    fn step(&self, state: &mut u64, x: i32) {
        *state = state.rotate_left(9).wrapping_mul(3) ^ x as u64;
    }

    fn combine(&self, _state: &mut u64, _later: u64) {
        panic!("states of this reducer are not joined");
    }

    fn finish(&self, state: u64) -> u64 {
        state
    }
}

/// Position and value of the first of the largest elements.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Largest;

impl Reducer<i32> for Largest {
    type State = (usize, i32);
    type Out = (usize, i32);
    const POSITIONS: bool = true;

    fn empty(&self) -> Option<(usize, i32)> {
        None
    }

    fn first(&self, x: i32) -> (usize, i32) {
        (0, x)
    }

    fn step(&self, state: &mut (usize, i32), x: i32) {
        self.combine(state, (0, x));
    }

    fn combine(&self, state: &mut (usize, i32), later: (usize, i32)) {
        let (a, b) = (*state, later);
        *state = if b.1 > a.1 || (b.1 == a.1 && b.0 < a.0) { b } else { a };
    }

    fn finish(&self, state: (usize, i32)) -> (usize, i32) {
        state
    }

    fn first_at(&self, x: i32, position: usize) -> (usize, i32) {
        (position, x)
    }

    fn step_at(&self, state: &mut (usize, i32), x: i32, position: usize) {
        self.combine(state, (position, x));
    }
}

/// A sum of `f64`, as plain as can be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Total;

impl Reducer<f64> for Total {
    type State = f64;
    type Out = f64;

    fn empty(&self) -> Option<f64> {
        Some(0.0)
    }

    fn first(&self, x: f64) -> f64 {
        x
    }

    fn step(&self, state: &mut f64, x: f64) {
        *state += x;
    }

    fn combine(&self, state: &mut f64, later: f64) {
        *state += later;
    }

    fn finish(&self, state: f64) -> f64 {
        state
    }
}

/// A sum that has to fit `i8`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Small;

impl Reducer<i32> for Small {
    type State = i64;
    type Out = i8;

    fn empty(&self) -> Option<i64> {
        Some(0)
    }

    fn first(&self, x: i32) -> i64 {
        i64::from(x)
    }

    fn step(&self, state: &mut i64, x: i32) {
        *state += i64::from(x);
    }

    fn combine(&self, state: &mut i64, later: i64) {
        *state += later;
    }

    fn finish(&self, state: i64) -> i8 {
        state as i8
    }

    fn undefined(&self, state: &i64) -> Option<Undefined> {
        i8::try_from(*state).is_err().then_some(Undefined::Overflow)
    }
}
