//! Reducers made of others: of some elements only, or with one more step at the end.

use super::super::reducer::{step_columns, step_run};
use super::super::{Padding, Reducer, Undefined};
use super::taken::{FEW, Taken, fold_columns_taken, fold_taken};
use crate::dtype::Cast;

/// The methods of a reducer of elements `T` that are those of another one with the same states: all but `finish`,
/// `of_count` and `of_up_to`, which know the type of the results, and of `states` without `undefined`.
macro_rules! delegate {
    (states of $T:ty, $self:ident => $inner:expr) => {
        #[inline]
        fn empty(&$self) -> Option<Self::State> {
            $inner.empty()
        }

        #[inline(always)]
        fn first(&$self, x: $T) -> Self::State {
            $inner.first(x)
        }

        #[inline(always)]
        fn step(&$self, state: &mut Self::State, x: $T) {
            $inner.step(state, x);
        }

        #[inline(always)]
        fn combine(&$self, state: &mut Self::State, later: Self::State) {
            $inner.combine(state, later);
        }

        #[inline]
        fn neutral(&$self) -> Option<Self::State> {
            $inner.neutral()
        }

        #[inline]
        fn is_idempotent(&$self, x: $T) -> bool {
            $inner.is_idempotent(x)
        }

        #[inline]
        fn is_final(&$self, state: &Self::State) -> bool {
            $inner.is_final(state)
        }

        #[inline]
        fn takes(&$self, x: $T) -> bool {
            $inner.takes(x)
        }

        #[inline]
        fn is_of_none(&$self, state: &Self::State) -> bool {
            $inner.is_of_none(state)
        }

        #[inline(always)]
        fn unpad(&$self, state: &mut Self::State, count: usize) {
            $inner.unpad(state, count);
        }

        #[inline(always)]
        fn first_at(&$self, x: $T, position: usize) -> Self::State {
            $inner.first_at(x, position)
        }

        #[inline(always)]
        fn step_at(&$self, state: &mut Self::State, x: $T, position: usize) {
            $inner.step_at(state, x, position);
        }

        #[inline(always)]
        fn moved(&$self, state: Self::State, by: usize) -> Self::State {
            $inner.moved(state, by)
        }

        fn repeat(&$self, x: $T, position: usize, count: usize) -> Self::State {
            $inner.repeat(x, position, count)
        }

        fn step_copies(&$self, state: &mut Self::State, x: $T, position: usize, count: usize) {
            $inner.step_copies(state, x, position, count);
        }

        #[inline(always)]
        fn fold(&$self, run: &[$T], position: usize) -> Self::State {
            $inner.fold(run, position)
        }

        #[inline(always)]
        fn fold_few(&$self, run: &[$T; 8], count: usize) -> Self::State {
            $inner.fold_few(run, count)
        }

        #[inline(always)]
        fn fold_beside(&$self, rows: &[&[$T]], states: &mut Vec<Self::State>) {
            $inner.fold_beside(rows, states);
        }

        #[inline(always)]
        fn fold_columns(&$self, rows: &[&[$T]], position: usize, states: &mut Vec<Self::State>) {
            $inner.fold_columns(rows, position, states);
        }
    };
    ($T:ty, $self:ident => $inner:expr) => {
        delegate!(states of $T, $self => $inner);

        #[inline]
        fn undefined(&$self, state: &Self::State) -> Option<Undefined> {
            $inner.undefined(state)
        }
    };
}

pub(super) use delegate;

/// A reducer whose results go through a function.
#[derive(Debug, Clone, Copy)]
pub struct Mapped<R, F> {
    pub(in super::super) reducer: R,
    pub(in super::super) function: F,
}

impl<T: Copy, U: Copy + Send + Sync, R: Reducer<T>, F: Fn(R::Out) -> U + Send + Sync> Reducer<T>
    for Mapped<R, F>
{
    type State = R::State;
    type Out = U;
    const COMMUTATIVE: bool = R::COMMUTATIVE;
    const ASSOCIATIVE: bool = R::ASSOCIATIVE;
    const EXACT: bool = R::EXACT;
    const BESIDE: bool = R::BESIDE;
    const PADDING: Padding<T> = R::PADDING;
    const POSITIONS: bool = R::POSITIONS;
    const MOVES: bool = R::MOVES;

    const SEVERAL: bool = R::SEVERAL;

    delegate!(T, self => self.reducer);

    fn finish(&self, state: R::State) -> U {
        (self.function)(self.reducer.finish(state))
    }
}

/// A reducer whose results are [cast](Cast) to the type of the elements: sums of `i32` are `i32`, not `i64`. One that does
/// not fit is [`Error::Overflow`](crate::Error::Overflow).
///
/// ```
/// use lensor::Tensor;
/// use lensor::reduce::{SameType, Sum};
/// let mut counts = Tensor::full([3], 0_usize)?;
/// let at = Tensor::from(vec![2, 0, 2]);
/// counts.fold_at((&at,), 1, SameType(Sum))?;
/// assert_eq!(counts.to_vec()?, [1, 0, 2]);
/// # Ok::<(), lensor::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SameType<R>(pub R);

impl<T: Copy + Send + Sync, R: Reducer<T, Out: Cast<T>>> Reducer<T> for SameType<R> {
    type State = R::State;
    type Out = T;
    const COMMUTATIVE: bool = R::COMMUTATIVE;
    const ASSOCIATIVE: bool = R::ASSOCIATIVE;
    const EXACT: bool = R::EXACT;
    const BESIDE: bool = R::BESIDE;
    const PADDING: Padding<T> = R::PADDING;
    const POSITIONS: bool = R::POSITIONS;
    const MOVES: bool = R::MOVES;
    const SEVERAL: bool = R::SEVERAL;

    delegate!(states of T, self => self.0);

    fn undefined(&self, state: &R::State) -> Option<Undefined> {
        self.0.undefined(state).or_else(|| {
            let is_out = || Cast::<T>::is_uncastable(self.0.finish(state.clone()));
            (<R::Out as Cast<T>>::FAULTS && is_out()).then_some(Undefined::Overflow)
        })
    }

    fn finish(&self, state: R::State) -> T {
        self.0.finish(state).cast_unchecked()
    }
}

/// A reducer that takes the elements beside a `true` only; the others are skipped, not multiplied by 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Filtered<R>(pub R);

/// A reducer that skips NaN.
///
/// Where all elements are NaN, the result is that of no elements, if there is one (a sum is 0); otherwise that
/// of one NaN (a mean is NaN), or [`Error::NothingLeft`](crate::Error::NothingLeft) where positions matter, as
/// that of a NaN would look like an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SkipNan<R>(pub R);

/// Rows that are stepped through.
const FEW_ROWS: usize = 8;

/// Reducers of a selection of elements: `take` gives an element and whether it counts, `lone` says whether one
/// that does not has a result where none does.
macro_rules! selecting {
    ($Reducer:ident [$($generics:tt)*] $item:ty => $element:ty, $take:expr, $lone:expr) => {
        impl<$($generics)*, R: Reducer<$element>> Reducer<$item> for $Reducer<R> {
            type State = Taken<R::State>;
            type Out = R::Out;
            const COMMUTATIVE: bool = R::COMMUTATIVE;
            const ASSOCIATIVE: bool = R::ASSOCIATIVE;
            const EXACT: bool = R::EXACT;
            const POSITIONS: bool = R::POSITIONS;
            const MOVES: bool = R::MOVES;

            fn empty(&self) -> Option<Self::State> {
                self.0.empty().map(Taken::Some)
            }

            #[inline(always)]
            fn first(&self, x: $item) -> Self::State {
                self.first_at(x, 0)
            }

            #[inline(always)]
            fn step(&self, state: &mut Self::State, x: $item) {
                match ($take(x), &mut *state) {
                    ((x, true), Taken::Some(state)) => self.0.step(state, x),
                    ((x, true), Taken::None(_)) => *state = Taken::Some(self.0.first(x)),
                    _ => {}
                }
            }

            fn combine(&self, state: &mut Self::State, later: Self::State) {
                match (&mut *state, later) {
                    (Taken::Some(state), Taken::Some(later)) => self.0.combine(state, later),
                    (Taken::None(_), later @ Taken::Some(_)) => *state = later,
                    (_, Taken::None(_)) => {}
                }
            }

            fn undefined(&self, state: &Self::State) -> Option<Undefined> {
                match state {
                    Taken::Some(state) => self.0.undefined(state),
                    Taken::None(_) => (self.0.empty().is_none() && !$lone).then_some(Undefined::Empty),
                }
            }

            #[inline]
            fn is_final(&self, state: &Self::State) -> bool {
                matches!(state, Taken::Some(state) if self.0.is_final(state))
            }

            #[inline]
            fn takes(&self, x: $item) -> bool {
                let (x, counts) = $take(x);
                counts && self.0.takes(x)
            }

            fn is_of_none(&self, state: &Self::State) -> bool {
                match state {
                    Taken::Some(state) => self.0.is_of_none(state),
                    Taken::None(_) => true,
                }
            }

            fn finish(&self, state: Self::State) -> R::Out {
                self.0.finish(match state {
                    Taken::Some(state) => state,
                    Taken::None(state) => self.0.empty().unwrap_or(state),
                })
            }

            #[inline(always)]
            fn first_at(&self, x: $item, position: usize) -> Self::State {
                let (x, counts) = $take(x);
                Taken::of(self.0.first_at(x, position), counts)
            }

            #[inline(always)]
            fn step_at(&self, state: &mut Self::State, x: $item, position: usize) {
                match ($take(x), &mut *state) {
                    ((x, true), Taken::Some(state)) => self.0.step_at(state, x, position),
                    ((x, true), Taken::None(_)) => *state = Taken::Some(self.0.first_at(x, position)),
                    _ => {}
                }
            }

            #[inline(always)]
            fn moved(&self, state: Self::State, by: usize) -> Self::State {
                match state {
                    Taken::Some(state) => Taken::Some(self.0.moved(state, by)),
                    Taken::None(state) => Taken::None(self.0.moved(state, by)),
                }
            }

            fn repeat(&self, x: $item, position: usize, count: usize) -> Self::State {
                let (x, counts) = $take(x);
                Taken::of(self.0.repeat(x, position, count), counts)
            }

            fn step_copies(&self, state: &mut Self::State, x: $item, position: usize, count: usize) {
                match ($take(x), &mut *state) {
                    ((x, true), Taken::Some(state)) => self.0.step_copies(state, x, position, count),
                    ((x, true), Taken::None(_)) => *state = Taken::Some(self.0.repeat(x, position, count)),
                    _ => {}
                }
            }

            /// The elements that count, side by side, as one run: which ones they are is the same however
            /// the operand lies in memory.
            fn fold(&self, run: &[$item], position: usize) -> Self::State {
                if (R::POSITIONS || !R::ASSOCIATIVE) && run.len() <= FEW {
                    return step_run(self, run, position);
                }
                let taken = fold_taken(&self.0, run, position, $take);
                taken.map_or_else(|| self.first_at(run[0], position), Taken::Some)
            }

            #[inline(always)]
            fn fold_columns(&self, rows: &[&[$item]], position: usize, states: &mut Vec<Self::State>) {
                if R::POSITIONS || rows.len() <= FEW_ROWS {
                    return step_columns(self, rows, position, states);
                }
                fold_columns_taken(&self.0, rows, states, $take);
            }
        }
    };
}

selecting!(Filtered[T: Copy] (T, bool) => T, |(x, counts): (T, bool)| (x, counts), false);
selecting!(SkipNan[T: Copy + PartialOrd] T => T, |x: T| (x, x.partial_cmp(&x).is_some()), !R::POSITIONS);
