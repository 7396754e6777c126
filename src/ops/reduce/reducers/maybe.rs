//! Results that may be missing.

use super::super::{Reducer, Undefined};

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
#[derive(Debug, Clone, Copy)]
pub struct Maybe<R>(pub R);

impl<T: Copy, R: Reducer<T>> Reducer<T> for Maybe<R> {
    /// `None` of no elements, unless these have a state.
    type State = Option<R::State>;
    type Out = Option<R::Out>;
    const COMMUTATIVE: bool = R::COMMUTATIVE;
    const ASSOCIATIVE: bool = R::ASSOCIATIVE;
    const POSITIONS: bool = R::POSITIONS;

    fn empty(&self) -> Option<Self::State> {
        Some(self.0.empty())
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
        let state = state.filter(|state| self.0.undefined(state).is_none());
        state.map(|state| self.0.finish(state))
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
}
