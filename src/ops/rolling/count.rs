//! Windows with too few elements.

use crate::expr::sealed::Sealed;
use crate::memory::debug_of_fields;
use crate::ops::reduce::{Freedom, Maybe, Reducer, Undefined};
use std::fmt::Debug;

/// A fold of those elements that count, or a given result if there are too few.
///
/// [`LazyRolling::at_least`](super::LazyRolling::at_least) and
/// [`LazyRolling::skip_nan`](super::LazyRolling::skip_nan) make it.
#[derive(Clone)]
pub struct AtLeast<R, T, U> {
    reducer: Maybe<R>,
    least: usize,
    otherwise: U,
    counts: fn(T) -> bool,
}

impl<R, T, U> AtLeast<R, T, U> {
    pub(super) fn new(reducer: R, least: usize, otherwise: U, counts: fn(T) -> bool) -> Self {
        Self { reducer: Maybe(reducer), least, otherwise, counts }
    }
}

impl<R: Freedom, T, U> Sealed for AtLeast<R, T, U> {}

impl<R: Freedom, T, U> Freedom for AtLeast<R, T, U> {
    fn with_ddof(self, ddof: usize) -> Self {
        Self { reducer: self.reducer.with_ddof(ddof), ..self }
    }
}

debug_of_fields!([R: Debug, T, U: Debug] AtLeast<R, T, U> |own| reducer: own.reducer.0, least: own.least, otherwise: own.otherwise);

/// How many elements counted, and the state of those.
#[derive(Debug, Clone)]
pub struct Counted<S> {
    count: usize,
    state: Option<S>,
}

impl<T: Copy, R: Reducer<T>> Reducer<T> for AtLeast<R, T, R::Out> {
    type State = Counted<R::State>;
    type Out = R::Out;
    const COMMUTATIVE: bool = R::COMMUTATIVE;
    const ASSOCIATIVE: bool = R::ASSOCIATIVE;
    const POSITIONS: bool = R::POSITIONS;
    const MOVES: bool = R::MOVES;

    fn empty(&self) -> Option<Self::State> {
        Some(Counted { count: 0, state: None })
    }

    fn first(&self, x: T) -> Self::State {
        self.first_at(x, 0)
    }

    fn step(&self, state: &mut Self::State, x: T) {
        let position = state.count;
        self.step_at(state, x, position);
    }

    fn first_at(&self, x: T, position: usize) -> Self::State {
        let mut state = Counted { count: 0, state: None };
        self.step_at(&mut state, x, position);
        state
    }

    fn step_at(&self, state: &mut Self::State, x: T, position: usize) {
        if self.takes(x) {
            state.count += 1;
            self.reducer.step_at(&mut state.state, x, position);
        }
    }

    fn combine(&self, state: &mut Self::State, later: Self::State) {
        state.count += later.count;
        self.reducer.combine(&mut state.state, later.state);
    }

    fn moved(&self, state: Self::State, by: usize) -> Self::State {
        Counted { state: self.reducer.moved(state.state, by), ..state }
    }

    fn takes(&self, x: T) -> bool {
        (self.counts)(x) && self.reducer.takes(x)
    }

    fn is_of_none(&self, state: &Self::State) -> bool {
        self.reducer.is_of_none(&state.state)
    }

    fn undefined(&self, state: &Self::State) -> Option<Undefined> {
        let enough = state.count >= self.least;
        state.state.as_ref().filter(|_| enough).and_then(|state| self.reducer.0.undefined(state))
    }

    fn finish(&self, state: Self::State) -> R::Out {
        let enough = Some(state).filter(|state| state.count >= self.least);
        enough.and_then(|state| self.reducer.finish(state.state)).unwrap_or(self.otherwise)
    }
}
