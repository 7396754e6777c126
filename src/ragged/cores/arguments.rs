//! Operands and results of gufuncs.

use crate::error::{Error, Result};
use crate::gufunc::Inputs;
use crate::memory::{for_tuples, list, try_with_capacity};
use crate::ragged::Stretch;
use crate::ragged::assign::check;
use crate::ragged::eval::{evaluate_at, of_items};
use crate::ragged::expr::{IntoRagged, RaggedExpr, RaggedRows};
use crate::ragged::form::Form;
use crate::ragged::joint::Joint;
use smallvec::SmallVec;

/// Operands of a gufunc, some of them ragged: a tuple, or an array if they are of one type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` are no ragged operands of a gufunc of `{I}`",
    note = "give as many ragged or dense operands as it has inputs, with exactly its element types, in a tuple or an array"
)]
pub trait RaggedArguments<I: Inputs>: Send + Sync {
    #[doc(hidden)]
    fn operands(&self) -> Vec<&dyn RaggedRows>;

    /// Bytes of an element of each.
    #[doc(hidden)]
    fn sizes(&self) -> Vec<usize>;

    /// Computes the operands at their forms, into memory.
    #[doc(hidden)]
    fn held<'k>(&'k self, at: Held<'_, 'k>) -> Result<I::Buffers>;
}

/// How operands are computed: one of each for each of them. Not for use.
#[doc(hidden)]
#[derive(Debug)]
pub struct Held<'h, 'k> {
    /// Their lengths. What was computed for them stays as long as others may read it.
    pub(super) joints: &'h [Joint<'k>],
    /// The order of their axes.
    pub(super) orders: &'h [SmallVec<[usize; 4]>],
    /// Their elements as cores have them, if these are stretched.
    pub(super) expanded: &'h [Option<Vec<usize>>],
}

impl<'k> Held<'_, 'k> {
    fn compute<E: RaggedExpr>(&self, e: &'k E, operand: usize) -> Result<Vec<E::Elem>> {
        let (joint, order) = (&self.joints[operand], &self.orders[operand]);
        let result = evaluate_at(e, joint)?;
        let elements = match order.is_sorted() {
            true => result.content.into_storage(),
            false => result.transpose(order)?.to_vec()?,
        };
        let Some(all) = &self.expanded[operand] else { return Ok(elements) };
        let mut stretched = try_with_capacity(all.len())?;
        for &k in all {
            // Storage of lengths that breaks its promises has others by now.
            let missing = || Error::OutOfSpan { span: k..k + 1, len: elements.len() };
            stretched.push(*elements.get(k).ok_or_else(missing)?);
        }
        Ok(stretched)
    }
}

impl<E: RaggedExpr, const N: usize> RaggedArguments<[E::Elem; N]> for [E; N] {
    fn operands(&self) -> Vec<&dyn RaggedRows> {
        self.iter().map(|e| e as &dyn RaggedRows).collect()
    }

    fn sizes(&self) -> Vec<usize> {
        vec![size_of::<E::Elem>(); N]
    }

    fn held<'k>(&'k self, at: Held<'_, 'k>) -> Result<SmallVec<[Vec<E::Elem>; 2]>> {
        self.iter().enumerate().map(|(k, e)| at.compute(e, k)).collect()
    }
}

/// What can stand as the operands of a call.
pub trait IntoRaggedArguments<I: Inputs> {
    /// The operands as expressions.
    type Arguments: RaggedArguments<I>;

    #[doc(hidden)]
    fn into_arguments(self) -> Self::Arguments;
}

impl<X: IntoRagged, const N: usize> IntoRaggedArguments<[X::Elem; N]> for [X; N] {
    type Arguments = [X::Expr; N];

    fn into_arguments(self) -> Self::Arguments {
        self.map(IntoRagged::into_ragged_expr)
    }
}

macro_rules! tuples {
    ($count:literal: $($X:ident $name:ident $k:tt),*) => {
        impl<$($X: IntoRagged),*> IntoRaggedArguments<($($X::Elem,)*)> for ($($X,)*) {
            type Arguments = ($($X::Expr,)*);

            fn into_arguments(self) -> Self::Arguments {
                ($(self.$k.into_ragged_expr(),)*)
            }
        }

        impl<T: Copy + Send + Sync, $($X: IntoRagged<Elem = T>),*> IntoRaggedArguments<[T; $count]> for ($($X,)*) {
            type Arguments = ($($X::Expr,)*);

            fn into_arguments(self) -> Self::Arguments {
                ($(self.$k.into_ragged_expr(),)*)
            }
        }

        impl<$($X: RaggedExpr),*> RaggedArguments<($($X::Elem,)*)> for ($($X,)*) {
            fn operands(&self) -> Vec<&dyn RaggedRows> {
                vec![$(&self.$k),*]
            }

            fn sizes(&self) -> Vec<usize> {
                vec![$(size_of::<$X::Elem>()),*]
            }

            fn held<'k>(&'k self, at: Held<'_, 'k>) -> Result<($(Vec<$X::Elem>,)*)> {
                Ok(($(at.compute(&self.$k, $k)?,)*))
            }
        }

        impl<T: Copy + Send + Sync, $($X: RaggedExpr<Elem = T>),*> RaggedArguments<[T; $count]> for ($($X,)*) {
            fn operands(&self) -> Vec<&dyn RaggedRows> {
                vec![$(&self.$k),*]
            }

            fn sizes(&self) -> Vec<usize> {
                vec![size_of::<T>(); $count]
            }

            fn held<'k>(&'k self, at: Held<'_, 'k>) -> Result<SmallVec<[Vec<T>; 2]>> {
                Ok(SmallVec::from_iter([$(at.compute(&self.$k, $k)?),*]))
            }
        }
    };
}

for_tuples!(tuples 6);

/// Which calls are made, by a mask of any type.
pub(super) trait CallMask: RaggedRows {
    /// Holds the rows of the mask against those of a loop, which reads no element.
    fn check_rows(&self, loops: &Form) -> Result<()>;

    /// Whether each call of a loop is made.
    fn called(&self, loops: &Form) -> Result<Vec<bool>>;
}

impl<M: RaggedExpr<Elem = bool>> CallMask for M {
    fn check_rows(&self, loops: &Form) -> Result<()> {
        check(loops, &self.outline(Stretch::Rows)?.form, true)
    }

    fn called(&self, loops: &Form) -> Result<Vec<bool>> {
        let mut called = of_items(loops, list(std::iter::repeat_n(true, loops.count()?))?)?;
        called.assign_expr(self)?;
        Ok(called.content.into_storage())
    }
}
