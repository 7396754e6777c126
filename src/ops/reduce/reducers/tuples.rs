//! Several reducers in one pass: a tuple of reducers is a reducer.

use super::super::{Reducer, Undefined};
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::memory::list;
use crate::tensor::Tensor;

macro_rules! tuples {
    ($($R:ident $S:ident $k:tt),*) => {
        impl<T: Copy, $($R: Reducer<T>),*> Reducer<T> for ($($R,)*) {
            type State = ($($R::State,)*);
            type Out = ($($R::Out,)*);
            const COMMUTATIVE: bool = $($R::COMMUTATIVE &&)* true;
            const ASSOCIATIVE: bool = $($R::ASSOCIATIVE &&)* true;
            const EXACT: bool = $($R::EXACT &&)* true;
            const POSITIONS: bool = $($R::POSITIONS ||)* false;
            // Others keep the bits of windows that are folded one by one.
            const MOVES: bool = !Self::POSITIONS || $($R::POSITIONS && $R::MOVES &&)* true;
            const SEVERAL: bool = [$($k),*].len() > 3;

            fn empty(&self) -> Option<Self::State> {
                Some(($(self.$k.empty()?,)*))
            }

            #[inline(always)]
            fn first(&self, x: T) -> Self::State {
                ($(self.$k.first(x),)*)
            }

            #[inline(always)]
            fn step(&self, state: &mut Self::State, x: T) {
                $(self.$k.step(&mut state.$k, x);)*
            }

            #[inline(always)]
            fn combine(&self, state: &mut Self::State, later: Self::State) {
                $(self.$k.combine(&mut state.$k, later.$k);)*
            }

            fn finish(&self, state: Self::State) -> Self::Out {
                ($(self.$k.finish(state.$k),)*)
            }

            fn undefined(&self, state: &Self::State) -> Option<Undefined> {
                None$(.or_else(|| self.$k.undefined(&state.$k)))*
            }

            fn is_final(&self, state: &Self::State) -> bool {
                true $(&& self.$k.is_final(&state.$k))*
            }

            fn takes(&self, x: T) -> bool {
                false $(|| self.$k.takes(x))*
            }

            fn is_of_none(&self, state: &Self::State) -> bool {
                true $(&& self.$k.is_of_none(&state.$k))*
            }

            #[inline(always)]
            fn first_at(&self, x: T, position: usize) -> Self::State {
                ($(self.$k.first_at(x, position),)*)
            }

            #[inline(always)]
            fn step_at(&self, state: &mut Self::State, x: T, position: usize) {
                $(self.$k.step_at(&mut state.$k, x, position);)*
            }

            #[inline(always)]
            fn moved(&self, state: Self::State, by: usize) -> Self::State {
                ($(self.$k.moved(state.$k, by),)*)
            }

            fn repeat(&self, x: T, position: usize, count: usize) -> Self::State {
                ($(self.$k.repeat(x, position, count),)*)
            }

            fn step_copies(&self, state: &mut Self::State, x: T, position: usize, count: usize) {
                $(self.$k.step_copies(&mut state.$k, x, position, count);)*
            }

            /// Each reducer in its own loop over what lies in the cache.
            #[inline(always)]
            fn fold(&self, run: &[T], position: usize) -> Self::State {
                ($(self.$k.fold(run, position),)*)
            }

            #[inline(always)]
            fn fold_columns(&self, rows: &[&[T]], position: usize, states: &mut Vec<Self::State>) {
                $(let mut $S = Vec::new(); self.$k.fold_columns(rows, position, &mut $S);)*
                $(let mut $S = $S.into_iter();)*
                states.clear();
                states.extend((0..rows[0].len()).map_while(|_| Some(($($S.next()?,)*))));
            }
        }

        impl<$($R: Copy + Send + Sync),*> Separate for Tensor<Vec<($($R,)*)>> {
            type Tensors = ($(Tensor<Vec<$R>>,)*);

            fn separate(self) -> Result<Self::Tensors> {
                let own = self.into_contiguous()?;
                let (shape, all) = (own.shape(), own.into_storage());
                Ok(($(Tensor::from_vec(shape.clone(), list(all.iter().map(|each| each.$k))?)?,)*))
            }
        }
    };
}
tuples!(A a 0, B b 1);
tuples!(A a 0, B b 1, C c 2);
tuples!(A a 0, B b 1, C c 2, D d 3);
tuples!(A a 0, B b 1, C c 2, D d 3, E e 4);
tuples!(A a 0, B b 1, C c 2, D d 3, E e 4, F f 5);

/// A tensor of tuples of two to six, taken apart.
pub trait Separate {
    /// One tensor for each part.
    type Tensors;

    /// One tensor for each part of the tuples.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    ///
    /// ```
    /// use lensor::prelude::*;
    /// use lensor::reduce::{ArgMax, Mean};
    /// let t = Tensor::from_nested([[1.0, 5.0], [4.0, 2.0]])?;
    /// let (means, positions) = t.fold(1, (Mean, ArgMax)).eval()?.separate()?;
    /// assert_eq!(means.to_vec()?, [3.0, 3.0]);
    /// assert_eq!(positions.to_vec()?, [1, 0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn separate(self) -> Result<Self::Tensors>;
}
