//! Operands and results of gufuncs.

use crate::error::{Error, Result};
use crate::gufunc::{Filter, Inputs, Unmasked};
use crate::memory::{list, push};
use crate::ragged::Stretch;
use crate::ragged::assign::check;
use crate::ragged::eval::{evaluate_at, joined, of_items};
use crate::ragged::expr::{Ahead, IntoRagged, RaggedExpr};
use crate::ragged::form::{Extent, Form};
use crate::ragged::joint::Joint;
use crate::ragged::views::numbered;
use smallvec::SmallVec;

/// Operands of a gufunc, some of them ragged: a tuple, or an array if they are of one type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` are no ragged operands of a gufunc of `{I}`",
    note = "give as many ragged or dense operands as it has inputs, with exactly its element types, in a tuple or an array"
)]
pub trait RaggedArguments<I: Inputs>: Send + Sync {
    /// The operands in memory.
    #[doc(hidden)]
    type Held: HeldRows<I>;

    #[doc(hidden)]
    fn operands(&self) -> Vec<&dyn RowOperand>;

    #[doc(hidden)]
    fn held<'k>(
        &'k self,
        orders: &[Order],
        stretch: Stretch,
        kept: &mut Vec<Joint<'k>>,
    ) -> Result<Self::Held>;
}

/// What is known of an operand before it is computed. Not for use.
#[doc(hidden)]
pub trait RowOperand {
    fn extents(&self) -> Result<Vec<Extent>>;
    fn ahead(&self) -> Ahead;
    /// Its form with the axes in an order, without computing elements that no length depends on.
    fn form(&self, order: &[usize], stretch: Stretch) -> Result<Form>;
    /// Bytes of an element.
    fn size(&self) -> usize;
}

impl<E: RaggedExpr> RowOperand for E {
    fn extents(&self) -> Result<Vec<Extent>> {
        RaggedExpr::extents(self)
    }

    fn ahead(&self) -> Ahead {
        RaggedExpr::ahead(self)
    }

    fn form(&self, order: &[usize], stretch: Stretch) -> Result<Form> {
        let Joint { form, .. } = self.outline(stretch)?;
        if order.is_sorted() { Ok(form) } else { numbered(&form)?.transposed(order)?.form() }
    }

    fn size(&self) -> usize {
        size_of::<E::Elem>()
    }
}

/// The axes of an operand, in an order.
type Order = SmallVec<[usize; 4]>;

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
    form: Form,
    elements: Vec<T>,
}

impl<T: Copy + Send + Sync> HeldOperand<T> {
    /// `kept` keeps what is computed for it, which others may read.
    fn of<'k, E: RaggedExpr<Elem = T>>(
        e: &'k E,
        order: &[usize],
        stretch: Stretch,
        kept: &mut Vec<Joint<'k>>,
    ) -> Result<Self> {
        let joint = joined(e, stretch)?;
        let result = evaluate_at(e, &joint)?;
        push(kept, joint)?;
        if order.is_sorted() {
            return Ok(Self { form: result.form()?, elements: result.content.into_storage() });
        }
        let result = result.transpose(order)?;
        Ok(Self { form: result.form()?, elements: result.to_vec()? })
    }

    fn gather(&mut self, elements: &[usize]) -> Result<()> {
        self.elements = list(elements.iter().map(|&k| self.elements[k]))?;
        Ok(())
    }
}

impl<E: RaggedExpr, const N: usize> RaggedArguments<[E::Elem; N]> for HeldExprs<[E; N]> {
    type Held = [HeldOperand<E::Elem>; N];

    fn operands(&self) -> Vec<&dyn RowOperand> {
        self.0.iter().map(|e| e as &dyn RowOperand).collect()
    }

    fn held<'k>(
        &'k self,
        orders: &[Order],
        stretch: Stretch,
        kept: &mut Vec<Joint<'k>>,
    ) -> Result<Self::Held> {
        let each = self.0.iter().zip(orders);
        let held = each.map(|(e, order)| HeldOperand::of(e, order, stretch, kept));
        let held = held.collect::<Result<SmallVec<[_; N]>>>()?;
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

            fn operands(&self) -> Vec<&dyn RowOperand> {
                vec![$(&self.0.$k),*]
            }

            fn held<'k>(&'k self, orders: &[Order], stretch: Stretch, kept: &mut Vec<Joint<'k>>) -> Result<Self::Held> {
                Ok(($(HeldOperand::of(&self.0.$k, &orders[$k], stretch, kept)?,)*))
            }
        }

        impl<T: Copy + Send + Sync, $($X: RaggedExpr<Elem = T>),*> RaggedArguments<[T; $count]> for HeldExprs<($($X,)*)> {
            type Held = [HeldOperand<T>; $count];

            fn operands(&self) -> Vec<&dyn RowOperand> {
                vec![$(&self.0.$k),*]
            }

            fn held<'k>(&'k self, orders: &[Order], stretch: Stretch, kept: &mut Vec<Joint<'k>>) -> Result<Self::Held> {
                Ok([$(HeldOperand::of(&self.0.$k, &orders[$k], stretch, kept)?),*])
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

/// Which calls are made. Sealed.
pub trait RaggedMask: Send + Sync {
    /// What the axes of the mask are, if there is one.
    #[doc(hidden)]
    fn extents(&self) -> Result<Option<Vec<Extent>>>;

    /// Holds the rows of the mask against those of a loop, which reads no element.
    #[doc(hidden)]
    fn check(&self, loops: &Form) -> Result<()>;

    /// Whether each call of a loop is made, if not all are.
    #[doc(hidden)]
    fn made(&self, loops: &Form) -> Result<Option<Vec<bool>>>;
}

impl RaggedMask for Unmasked {
    fn extents(&self) -> Result<Option<Vec<Extent>>> {
        Ok(None)
    }

    fn check(&self, _loops: &Form) -> Result<()> {
        Ok(())
    }

    fn made(&self, _loops: &Form) -> Result<Option<Vec<bool>>> {
        Ok(None)
    }
}

impl<E: RaggedExpr<Elem = bool>> RaggedMask for Filter<E> {
    fn extents(&self) -> Result<Option<Vec<Extent>>> {
        self.0.extents().map(Some)
    }

    fn check(&self, loops: &Form) -> Result<()> {
        check(loops, &self.0.outline(Stretch::Rows)?.form, true)
    }

    fn made(&self, loops: &Form) -> Result<Option<Vec<bool>>> {
        let mut made = of_items(loops, list(std::iter::repeat_n(true, loops.count()?))?)?;
        made.assign_expr(&self.0)?;
        Ok(Some(made.content.into_storage()))
    }
}
