//! Results that may be missing.

use super::super::{Reducer, Undefined};
use super::Freedom;
use super::adapters::{Mapped, delegate};
use crate::expr::sealed::Sealed;

/// A reducer that gives `None` where there is no result, as for the maximum of no elements, instead of an error.
///
/// ```
/// use lensor::Tensor;
/// use lensor::ragged::{Ragged, ReduceRagged};
/// use lensor::reduce::{Max, Maybe, Reduce};
/// let r = Ragged::from_nested(vec![vec![3, 7], vec![]])?;
/// assert_eq!(r.fold(1, Maybe(Max)).eval()?.to_vec()?, [Some(7), None]);
/// let none = Tensor::from_vec([2, 0], vec![0_u8; 0])?;
/// assert_eq!(none.fold(1, Maybe(Max)).eval()?.to_vec()?, [None, None]);
/// # Ok::<(), lensor::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Maybe<R>(pub R);

impl<T: Copy, R: Reducer<T>> Reducer<T> for Maybe<R> {
    /// `None` of no elements.
    type State = Option<R::State>;
    type Out = Option<R::Out>;
    const COMMUTATIVE: bool = R::COMMUTATIVE;
    const ASSOCIATIVE: bool = R::ASSOCIATIVE;
    const EXACT: bool = R::EXACT;
    const POSITIONS: bool = R::POSITIONS;
    const MOVES: bool = R::MOVES;
    const SEVERAL: bool = R::SEVERAL;

    fn empty(&self) -> Option<Self::State> {
        Some(None)
    }

    #[inline(always)]
    fn first(&self, x: T) -> Self::State {
        Some(self.0.first(x))
    }

    #[inline(always)]
    fn step(&self, state: &mut Self::State, x: T) {
        match state {
            Some(state) => self.0.step(state, x),
            None => *state = Some(self.0.first(x)),
        }
    }

    #[inline(always)]
    fn combine(&self, state: &mut Self::State, later: Self::State) {
        match (&mut *state, later) {
            (Some(state), Some(later)) => self.0.combine(state, later),
            (None, later) => *state = later,
            (Some(_), None) => {}
        }
    }

    fn neutral(&self) -> Option<Self::State> {
        Some(None)
    }

    fn undefined(&self, state: &Self::State) -> Option<Undefined> {
        let why = self.0.undefined(state.as_ref()?);
        why.filter(|why| *why != Undefined::Empty)
    }

    #[inline(always)]
    fn finish(&self, state: Self::State) -> Self::Out {
        let state = state.or_else(|| self.0.empty());
        let state = state.filter(|state| self.0.undefined(state).is_none());
        state.map(|state| self.0.finish(state))
    }

    #[inline]
    fn is_final(&self, state: &Self::State) -> bool {
        state.as_ref().is_some_and(|state| self.0.is_final(state))
    }

    #[inline]
    fn takes(&self, x: T) -> bool {
        self.0.takes(x)
    }

    fn is_of_none(&self, state: &Self::State) -> bool {
        state.as_ref().is_none_or(|state| self.0.is_of_none(state))
    }

    #[inline(always)]
    fn first_at(&self, x: T, position: usize) -> Self::State {
        Some(self.0.first_at(x, position))
    }

    #[inline(always)]
    fn step_at(&self, state: &mut Self::State, x: T, position: usize) {
        match state {
            Some(state) => self.0.step_at(state, x, position),
            None => *state = Some(self.0.first_at(x, position)),
        }
    }

    #[inline(always)]
    fn moved(&self, state: Self::State, by: usize) -> Self::State {
        state.map(|state| self.0.moved(state, by))
    }

    fn repeat(&self, x: T, position: usize, count: usize) -> Self::State {
        Some(self.0.repeat(x, position, count))
    }

    fn step_copies(&self, state: &mut Self::State, x: T, position: usize, count: usize) {
        match state {
            Some(state) => self.0.step_copies(state, x, position, count),
            None => *state = Some(self.0.repeat(x, position, count)),
        }
    }

    #[inline(always)]
    fn fold(&self, run: &[T], position: usize) -> Self::State {
        Some(self.0.fold(run, position))
    }

    #[inline(always)]
    fn fold_few(&self, run: &[T; 8], count: usize) -> Self::State {
        Some(self.0.fold_few(run, count))
    }

    #[inline(always)]
    fn fold_columns(&self, rows: &[&[T]], position: usize, states: &mut Vec<Self::State>) {
        let mut own = Vec::new();
        self.0.fold_columns(rows, position, &mut own);
        states.clear();
        states.extend(own.into_iter().map(Some));
    }
}

/// A reducer that gives a value where there are no elements, or none is left.
///
/// ```
/// use lensor::Tensor;
/// use lensor::reduce::{Max, Or, Reduce};
/// let none = Tensor::from_vec([2, 0], vec![0_u8; 0])?;
/// assert_eq!(none.fold(1, Or::new(Max, 7)).eval()?.to_vec()?, [7, 7]);
/// # Ok::<(), lensor::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Or<R, U> {
    reducer: Maybe<R>,
    value: U,
}

impl<R, U> Or<R, U> {
    /// `value` where `reducer` folds no elements.
    pub fn new(reducer: R, value: U) -> Self {
        Self { reducer: Maybe(reducer), value }
    }
}

impl<R: Freedom, F> Sealed for Mapped<R, F> {}

impl<R: Freedom, F> Freedom for Mapped<R, F> {
    fn with_ddof(self, ddof: usize) -> Self {
        Self { reducer: self.reducer.with_ddof(ddof), ..self }
    }
}

impl<R: Freedom, U> Sealed for Or<R, U> {}

impl<R: Freedom, U> Freedom for Or<R, U> {
    fn with_ddof(self, ddof: usize) -> Self {
        Self::new(self.reducer.0.with_ddof(ddof), self.value)
    }
}

impl<T: Copy, U: Copy + Send + Sync, R: Reducer<T, Out = U>> Reducer<T> for Or<R, U> {
    type State = Option<R::State>;
    type Out = U;
    const COMMUTATIVE: bool = R::COMMUTATIVE;
    const ASSOCIATIVE: bool = R::ASSOCIATIVE;
    const EXACT: bool = R::EXACT;
    const POSITIONS: bool = R::POSITIONS;
    const MOVES: bool = R::MOVES;
    const SEVERAL: bool = R::SEVERAL;

    delegate!(T, self => self.reducer);

    fn finish(&self, state: Self::State) -> U {
        let state = Some(state).filter(|state| !self.reducer.is_of_none(state));
        state.and_then(|state| self.reducer.finish(state)).unwrap_or(self.value)
    }
}
