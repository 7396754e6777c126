//! Operands and results of gufuncs.

use crate::error::{Error, Result};
use crate::gufunc::Inputs;
use crate::memory::list;
use crate::ragged::Ragged;
use crate::ragged::Stretch;
use crate::ragged::eval::evaluate;
use crate::ragged::eval::of_items;
use crate::ragged::expr::{IntoRagged, RaggedExpr};
use crate::ragged::form::{Extent, Form};
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// Operands of a gufunc, some of them ragged: a tuple, or an array if they are of one type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` are no ragged operands of a gufunc of `{I}`",
    note = "give as many ragged or dense operands as it has inputs, with exactly its element types, in a tuple or an array"
)]
pub trait RaggedArguments<I: Inputs> {
    /// The operands in memory.
    #[doc(hidden)]
    type Held: HeldRows<I>;

    #[doc(hidden)]
    fn extents(&self) -> Result<Vec<Vec<Extent>>>;

    #[doc(hidden)]
    fn held(&self) -> Result<Self::Held>;
}

/// Operands that are computed.
#[doc(hidden)]
pub trait HeldRows<I: Inputs>: Sync {
    fn forms(&self) -> Result<Vec<Form>>;
    fn slices(&self) -> I::Slices<'_>;
    /// Replaces the elements of an operand by these of it.
    fn gather(&mut self, operand: usize, elements: &[usize]) -> Result<()>;
}

/// An operand in memory.
#[derive(Debug, Clone)]
pub struct HeldOperand<T> {
    pub(super) form: Form,
    pub(super) elements: Vec<T>,
}

impl<T: Copy + Send + Sync> HeldOperand<T> {
    pub(super) fn of<E: RaggedExpr<Elem = T>>(e: &E) -> Result<Self> {
        let result = evaluate(e, Stretch::Rows)?;
        Ok(Self { form: result.form()?, elements: result.to_vec()? })
    }

    pub(super) fn gather(&mut self, elements: &[usize]) -> Result<()> {
        self.elements = list(elements.iter().map(|&k| self.elements[k]))?;
        Ok(())
    }
}

impl<E: RaggedExpr, const N: usize> RaggedArguments<[E::Elem; N]> for HeldExprs<[E; N]> {
    type Held = [HeldOperand<E::Elem>; N];

    fn extents(&self) -> Result<Vec<Vec<Extent>>> {
        self.0.iter().map(RaggedExpr::extents).collect()
    }

    fn held(&self) -> Result<Self::Held> {
        let held = self.0.iter().map(HeldOperand::of).collect::<Result<SmallVec<[_; N]>>>()?;
        let found = held.len();
        held.into_inner().map_err(|_| Error::Rank { what: "operands", expected: N, found })
    }
}

impl<T: Copy + Send + Sync, const N: usize> HeldRows<[T; N]> for [HeldOperand<T>; N] {
    fn forms(&self) -> Result<Vec<Form>> {
        Ok(self.iter().map(|operand| operand.form.clone()).collect())
    }

    fn slices(&self) -> [&[T]; N] {
        self.each_ref().map(|operand| &operand.elements[..])
    }

    fn gather(&mut self, operand: usize, elements: &[usize]) -> Result<()> {
        self[operand].gather(elements)
    }
}

/// Operands as expressions.
#[derive(Debug, Clone)]
pub struct HeldExprs<X>(X);

/// What can stand as the operands of a call.
pub trait IntoRaggedArguments<I: Inputs> {
    /// The operands as expressions.
    type Arguments: RaggedArguments<I>;

    #[doc(hidden)]
    fn into_arguments(self) -> Self::Arguments;
}

impl<X: IntoRagged, const N: usize> IntoRaggedArguments<[X::Elem; N]> for [X; N] {
    type Arguments = HeldExprs<[X::Expr; N]>;

    fn into_arguments(self) -> Self::Arguments {
        HeldExprs(self.map(IntoRagged::into_ragged_expr))
    }
}

macro_rules! tuples {
    ($count:literal: $($X:ident $T:ident $k:tt),*) => {
        impl<$($X: IntoRagged),*> IntoRaggedArguments<($($X::Elem,)*)> for ($($X,)*) {
            type Arguments = HeldExprs<($($X::Expr,)*)>;

            fn into_arguments(self) -> Self::Arguments {
                HeldExprs(($(self.$k.into_ragged_expr(),)*))
            }
        }

        impl<T: Copy + Send + Sync, $($X: IntoRagged<Elem = T>),*> IntoRaggedArguments<[T; $count]> for ($($X,)*) {
            type Arguments = HeldExprs<($($X::Expr,)*)>;

            fn into_arguments(self) -> Self::Arguments {
                HeldExprs(($(self.$k.into_ragged_expr(),)*))
            }
        }

        impl<$($X: RaggedExpr),*> RaggedArguments<($($X::Elem,)*)> for HeldExprs<($($X,)*)> {
            type Held = ($(HeldOperand<$X::Elem>,)*);

            fn extents(&self) -> Result<Vec<Vec<Extent>>> {
                Ok(vec![$(self.0.$k.extents()?),*])
            }

            fn held(&self) -> Result<Self::Held> {
                Ok(($(HeldOperand::of(&self.0.$k)?,)*))
            }
        }

        impl<T: Copy + Send + Sync, $($X: RaggedExpr<Elem = T>),*> RaggedArguments<[T; $count]> for HeldExprs<($($X,)*)> {
            type Held = [HeldOperand<T>; $count];

            fn extents(&self) -> Result<Vec<Vec<Extent>>> {
                Ok(vec![$(self.0.$k.extents()?),*])
            }

            fn held(&self) -> Result<Self::Held> {
                Ok([$(HeldOperand::of(&self.0.$k)?),*])
            }
        }

        impl<$($T: Copy + Send + Sync),*> HeldRows<($($T,)*)> for ($(HeldOperand<$T>,)*) {
            fn forms(&self) -> Result<Vec<Form>> {
                Ok(vec![$(self.$k.form.clone()),*])
            }

            fn slices(&self) -> ($(&[$T],)*) {
                ($(&self.$k.elements[..],)*)
            }

            fn gather(&mut self, operand: usize, elements: &[usize]) -> Result<()> {
                $(if operand == $k {
                    return self.$k.gather(elements);
                })*
                Ok(())
            }
        }
    };
}

tuples!(1: A TA 0);

tuples!(2: A TA 0, B TB 1);

tuples!(3: A TA 0, B TB 1, C TC 2);

tuples!(4: A TA 0, B TB 1, C TC 2, D TD 3);

tuples!(5: A TA 0, B TB 1, C TC 2, D TD 3, E TE 4);

tuples!(6: A TA 0, B TB 1, C TC 2, D TD 3, E TE 4, G TG 5);

/// Results of a call, one for each output.
pub trait RaggedResults {
    /// An array or a tuple of ragged tensors.
    type Ragged;

    #[doc(hidden)]
    fn with_forms(self, forms: &[Form]) -> Result<Self::Ragged>;
}

impl<T: Copy + Send + Sync, const N: usize> RaggedResults for [Tensor<Vec<T>>; N] {
    type Ragged = [Ragged<Vec<T>>; N];

    fn with_forms(self, forms: &[Form]) -> Result<Self::Ragged> {
        let all =
            self.into_iter().zip(forms).map(|(data, form)| of_items(form, data.into_storage()));
        let all = all.collect::<Result<SmallVec<[_; N]>>>()?;
        let found = all.len();
        all.into_inner().map_err(|_| Error::Rank { what: "outputs", expected: N, found })
    }
}

macro_rules! results {
    ($($T:ident $k:tt),*) => {
        impl<$($T: Copy + Send + Sync),*> RaggedResults for ($(Tensor<Vec<$T>>,)*) {
            type Ragged = ($(Ragged<Vec<$T>>,)*);

            fn with_forms(self, forms: &[Form]) -> Result<Self::Ragged> {
                Ok(($(of_items(&forms[$k], self.$k.into_storage())?,)*))
            }
        }
    };
}

results!(A 0);

results!(A 0, B 1);

results!(A 0, B 1, C 2);

results!(A 0, B 1, C 2, D 3);
