//! Functions of ragged operands.

use super::Stretch;
use super::expr::{Ahead, IntoRagged, LazyRagged, RaggedExpr, RaggedRows};
use super::form::{Extent, Extents, Form, join_kinds};
use super::joint::Joint;
use super::offsets::Offsets;
use crate::error::{Error, Result};
use crate::expr::machinery::Function;
use crate::expr::sealed::Sealed;
use crate::expr::{Apply, Op, Operands};
use crate::memory::for_tuples;
use smallvec::SmallVec;
use std::borrow::Borrow;
use std::fmt::{self, Formatter};
use std::marker::PhantomData;

/// A tuple of one to six ragged expressions. Sealed.
pub trait RaggedOperands: Send + Sync + super::sealed::Operands {
    /// Tuple of the element types.
    type Elems: Copy;
    /// The operands over the items of a form.
    #[doc(hidden)]
    type Flats<'a>: Operands<Elems = Self::Elems>
    where
        Self: 'a;
    /// The same operands, borrowed.
    type Ref<'a>: RaggedOperands<Elems = Self::Elems>
    where
        Self: 'a;

    /// Borrows every operand.
    fn by_ref(&self) -> Self::Ref<'_>;

    #[doc(hidden)]
    fn each(&self) -> SmallVec<[&dyn RaggedRows; 6]>;

    #[doc(hidden)]
    fn flats<'a>(&'a self, to: &Joint<'_>) -> Result<Self::Flats<'a>>;

    #[doc(hidden)]
    fn widened(self, ones: usize) -> Result<Self>
    where
        Self: Sized;
}

/// A tuple of what can stand as ragged operands.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no tuple of ragged operands",
    note = "give one tuple of one to six, `zip_ragged((&r, &s), |(r, s)| ..)`, `(&r,)` of one alone"
)]
pub trait IntoRaggedOperands {
    /// Tuple of the element types.
    type Elems: Copy;
    /// Tuple of expressions.
    type Operands: RaggedOperands<Elems = Self::Elems>;

    /// The tuple as expressions.
    fn into_ragged_operands(self) -> Self::Operands;
}

macro_rules! operand_tuples {
    ($count:literal: $($name:ident $part:ident $k:tt),*) => {
        impl<$($name: RaggedExpr),*> super::sealed::Operands for ($($name,)*) {}

        impl<$($name: RaggedExpr),*> RaggedOperands for ($($name,)*) {
            type Elems = ($($name::Elem,)*);
            type Flats<'a> = ($($name::Flat<'a>,)*) where $($name: 'a),*;
            type Ref<'a> = ($($name::Ref<'a>,)*) where $($name: 'a),*;

            fn by_ref(&self) -> Self::Ref<'_> {
                ($(self.$k.by_ref(),)*)
            }

            fn each(&self) -> SmallVec<[&dyn RaggedRows; 6]> {
                SmallVec::from_iter([$(&self.$k as &dyn RaggedRows),*])
            }

            fn flats<'a>(&'a self, to: &Joint<'_>) -> Result<Self::Flats<'a>> {
                Ok(($(self.$k.flat(to)?,)*))
            }

            fn widened(self, ones: usize) -> Result<Self> {
                Ok(($(self.$k.widened(ones)?,)*))
            }
        }

        impl<$($name: IntoRagged),*> IntoRaggedOperands for ($($name,)*) {
            type Elems = ($($name::Elem,)*);
            type Operands = ($($name::Expr,)*);

            fn into_ragged_operands(self) -> Self::Operands {
                ($(self.$k.into_ragged_expr(),)*)
            }
        }
    };
}

for_tuples!(operand_tuples 6);

/// A function applied to ragged operands, not yet computed, by itself or by reference as in [`Apply`].
pub struct ApplyRagged<F, A, H = F> {
    pub(super) function: H,
    pub(super) operands: A,
    /// Errors cannot be returned by operators, so they wait here.
    pub(super) extents: Result<Vec<Extent>>,
    own: PhantomData<fn() -> F>,
}

impl<F, A: RaggedOperands> ApplyRagged<F, A> {
    pub(super) fn new(function: F, operands: A) -> Self {
        Self::held(function, operands)
    }
}

impl<F, A: RaggedOperands, H> ApplyRagged<F, A, H> {
    fn held(function: H, operands: A) -> Self {
        let kinds = operands
            .each()
            .into_iter()
            .zip(1..)
            .try_fold(Extents::new(), |so_far, (e, k)| join_kinds(&so_far, &e.extents()?, k));
        Self { function, operands, extents: kinds.map(Extents::into_vec), own: PhantomData }
    }

    /// The joint rows of all operands, of each as `rows` gives them.
    fn joined<'e, 'k>(
        &'e self,
        stretch: Stretch,
        rows: impl Fn(&'e dyn RaggedRows) -> Result<Joint<'k>>,
    ) -> Result<Joint<'k>> {
        self.extents.as_ref().map_err(Error::copy)?;
        let mut each = self.operands.each().into_iter().zip(1..);
        let none = Joint::of(Form::dense(&[]));
        each.try_fold(none, |so_far, (e, k)| so_far.join(rows(e)?, k, stretch))
    }
}

impl<F, A: Clone, H: Clone> Clone for ApplyRagged<F, A, H> {
    fn clone(&self) -> Self {
        let (function, operands) = (self.function.clone(), self.operands.clone());
        Self { function, operands, extents: self.extents.clone(), own: PhantomData }
    }
}

impl<F, A: fmt::Debug, H> fmt::Debug for ApplyRagged<F, A, H> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let name = std::any::type_name::<F>().rsplit("::").next().unwrap_or_default();
        f.debug_struct("ApplyRagged")
            .field("function", &name)
            .field("operands", &self.operands)
            .finish()
    }
}

impl<F, A, H> Sealed for ApplyRagged<F, A, H> {}

impl<A, F, H> RaggedExpr for ApplyRagged<F, A, H>
where
    A: RaggedOperands,
    F: Op<A::Elems>,
    H: Borrow<F> + Send + Sync,
{
    type Elem = F::Out;
    type Flat<'a>
        = Apply<F, A::Flats<'a>, &'a F>
    where
        Self: 'a;
    type Ref<'a>
        = ApplyRagged<F, A::Ref<'a>, &'a F>
    where
        Self: 'a;

    fn by_ref(&self) -> Self::Ref<'_> {
        ApplyRagged {
            function: self.function.borrow(),
            operands: self.operands.by_ref(),
            extents: self.extents.clone(),
            own: PhantomData,
        }
    }

    fn flat<'a>(&'a self, to: &Joint<'_>) -> Result<Self::Flat<'a>> {
        Ok(Apply::borrowing(self.function.borrow(), self.operands.flats(to)?))
    }

    fn widened(self, ones: usize) -> Result<Self> {
        self.extents?;
        Ok(Self::held(self.function, self.operands.widened(ones)?))
    }
}

impl<A, F, H> RaggedRows for ApplyRagged<F, A, H>
where
    A: RaggedOperands,
    F: Op<A::Elems>,
    H: Borrow<F> + Send + Sync,
{
    fn extents(&self) -> Result<Vec<Extent>> {
        self.extents.clone()
    }

    fn joint(&self, stretch: Stretch) -> Result<Joint<'_>> {
        self.joined(stretch, |e| e.joint(stretch))
    }

    fn outline(&self, stretch: Stretch) -> Result<Joint<'static>> {
        self.joined(stretch, |e| e.outline(stretch))
    }

    fn has_lengths(&self, rows: &Offsets) -> Result<bool> {
        let operands = self.operands.each();
        operands.iter().try_fold(false, |some, e| Ok(some || e.has_lengths(rows)?))
    }

    fn ahead(&self) -> Ahead {
        self.operands.each().iter().map(|e| e.ahead()).max().unwrap_or(Ahead::Nothing)
    }

    fn words(&self, to: &Joint<'_>, visit: &mut dyn FnMut(&'static str)) -> Result<()> {
        self.operands.each().iter().try_for_each(|e| e.words(to, visit))
    }
}

/// Any function of one to six operands, elementwise, some of them ragged; the closure takes one tuple.
///
/// ```
/// use lensor::prelude::*;
/// use lensor::ragged::{Ragged, zip_ragged};
/// let r = Ragged::from_nested(vec![vec![1, 2], vec![3]])?;
/// let limits = Tensor::from_vec([2, 1], vec![1, 5])?;
/// let e = zip_ragged((&r, &limits), |(x, limit)| x > limit);
/// assert_eq!(e.eval()?.to_string(), "[[false, true], [false]]");
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn zip_ragged<A, U, F>(operands: A, f: F) -> LazyRagged<ApplyRagged<Function<F>, A::Operands>>
where
    A: IntoRaggedOperands,
    U: Copy + Send + Sync,
    F: Fn(A::Elems) -> U + Send + Sync,
{
    LazyRagged(ApplyRagged::new(Function::new(f), operands.into_ragged_operands()))
}
