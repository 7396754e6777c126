//! Products of matrices, vectors and tensors.
//!
//! ```
//! use lensor::prelude::*;
//! let a = Tensor::from_nested([[1.0, 2.0], [3.0, 4.0]])?;
//! let x = Tensor::from(vec![10.0, 1.0]);
//! assert_eq!(a.matmul(&x).to_vec()?, [12.0, 34.0]);
//! let turned = a.view().transpose([1, 0])?;
//! assert_eq!(a.matmul(turned).to_vec()?, [5.0, 11.0, 11.0, 25.0]);
//! # Ok::<(), Error>(())
//! ```
//!
//! Sparse operands are read element by element, as dense ones. Products that cost their entries alone are methods of
//! [`product`](crate::product): [`Tensor::times_dense`], [`Tensor::times_sparse`] and [`Tensor::contract`].
//!
//! Determinants, inverses, solutions of linear equations and traces are gufuncs, of one matrix or of stacks:
//! [`det`](crate::gufunc::det), [`inv`](crate::gufunc::inv), [`solve`](crate::gufunc::solve),
//! [`trace`](crate::gufunc::trace). Norms are folds: [`Reduce::norm`](crate::Reduce::norm).
//!
//! ```
//! use lensor::gufunc::solve;
//! use lensor::prelude::*;
//! let a = Tensor::from_nested([[2.0, 0.0], [0.0, 4.0]])?;
//! let b = Tensor::from(vec![1.0, 1.0]);
//! let x = solve().call((&a, &b)).deferred().eval()?;
//! assert_eq!(x.to_vec()?, [0.5, 0.25]);
//! # Ok::<(), Error>(())
//! ```
//!
//! Operands that lie in memory under strides alone are multiplied where they lie; others are evaluated or copied first,
//! once. Integers wrap; `f16` and `bf16` are summed up in `f32`, and rounded once. Large products of floats and complex
//! numbers are those of the crate `matrixmultiply`, which rounds a product and its sum at once where the processor can:
//! they are the same for any view, any number of threads and any features, but not to the last bit on any processor.
//! All others are the same everywhere: those of at most 1728 (12 x 12 x 12) multiplications, those with fewer than 4
//! rows or columns, and those of other elements.

mod einsum;
mod stack;

pub use einsum::{Einsum, EinsumOperands, einsum};

use crate::compute::{Compute, Deferred, reads};
use crate::dtype::Arithmetic;
use crate::error::{Error, Result};
use crate::expr::sealed::Sealed;
use crate::expr::{
    Apply, Boxes, Explanation, Expr, IntoExpr, Lazy, MulOp, box_shape, bytes_read, erased,
    first_fault, selectors,
};
use crate::kernel::{Filled, inner};
use crate::map::Select;
use crate::memory::list;
use crate::ops::contraction::{Pairing, check};
use crate::ops::products::product;
use crate::shape::{Align, Shape};
use crate::tensor::Tensor;
pub(crate) use stack::multiply;
use std::mem::MaybeUninit;
use std::ops::Range;

type Outer<X, R> = Lazy<Apply<MulOp, (<X as IntoExpr>::Expr, <R as IntoExpr>::Expr)>>;

/// Products as methods of tensors and expressions.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no products",
    note = "`&Tensor`, views, `Lazy` expressions, deferred operations, calls with one output and references to these have them"
)]
pub trait Linalg: IntoExpr + Sized
where
    Self::Elem: Arithmetic + 'static,
{
    /// The matrix product over the last axis of this operand and the last but one of `other`.
    ///
    /// Shapes `(.., m, k)` and `(.., k, n)` give `(.., m, n)`; the axes in front stretch to one another as
    /// operands of operators do. An operand of rank 1 is a row on the left, a column on the right, and its
    /// axis is not in the result: two of them give a tensor of rank 0. Follows NumPy's `matmul`.
    ///
    /// Sparse operands are read as dense ones, up to 2^33 elements, see [`Lazy::densely`]; [`Tensor::times_dense`]
    /// and [`Tensor::times_sparse`] multiply entries.
    ///
    /// # Errors
    ///
    /// The shape, and with it the result, is [`Error::Contraction`] if the axes to be summed over differ,
    /// [`Error::Operands`] if those in front do not align, and [`Error::ExpectedRank`] for an operand of rank 0.
    /// The result is [`Error::ShapeOverflow`] if it has too many elements.
    ///
    /// ```
    /// use lensor::linalg::Linalg;
    /// use lensor::Tensor;
    /// let a = Tensor::from_nested([[1, 2, 3], [4, 5, 6]])?;
    /// let b = Tensor::from_nested([[1, 0], [0, 1], [1, 1]])?;
    /// assert_eq!(a.matmul(&b).to_vec()?, [4, 5, 10, 11]);
    ///
    /// let stack = Tensor::from_vec([2, 1, 2], vec![1, 0, 0, 1])?;
    /// let rows = stack.matmul(&a).eval()?;
    /// assert_eq!(rows.shape(), [2, 1, 3]);
    /// assert_eq!(rows.to_vec()?, [1, 2, 3, 4, 5, 6]);
    ///
    /// assert_eq!(
    ///     a.matmul(&a).shape().unwrap_err().to_string(),
    ///     "cannot multiply shapes [2, 3] and [2, 3]: axis 1 of the first has extent 3, axis 0 of the \
    ///      second 2"
    /// );
    /// # Ok::<(), lensor::Error>(())
    /// ```
    #[doc(alias = "dot")]
    fn matmul<R: IntoExpr<Elem = Self::Elem>>(
        self,
        other: R,
    ) -> Deferred<MatMul<Self::Expr, R::Expr>> {
        Deferred::new(MatMul { a: Lazy(self.into_expr()), b: Lazy(other.into_expr()), pairs: None })
    }

    /// The sum of products over pairs of axes, one of this operand and one of `other`.
    ///
    /// The result has the remaining axes of this operand, then those of `other`. Without pairs it is the
    /// outer product. Follows NumPy's `tensordot`.
    ///
    /// Sparse operands are read as dense ones, as by [`Self::matmul`]; [`Tensor::contract`] multiplies entries.
    ///
    /// # Errors
    ///
    /// The shape, and with it the result, is [`Error::Contraction`] with the first pair of axes that differ in
    /// extent, [`Error::Axis`] for one that does not exist, [`Error::RepeatedAxis`] for one given twice, and
    /// [`Error::RankLimit`] for a product of too many axes. The result is [`Error::ShapeOverflow`] if it has too
    /// many elements.
    ///
    /// ```
    /// use lensor::linalg::Linalg;
    /// use lensor::Tensor;
    /// let a = Tensor::from_nested([[1, 2], [3, 4]])?;
    /// // Over the first axis of both: the products of columns.
    /// assert_eq!(a.tensordot(&a, [(0, 0)]).to_vec()?, [10, 14, 14, 20]);
    /// // Over both axes.
    /// assert_eq!(a.tensordot(&a, [(0, 0), (1, 1)]).to_vec()?, [30]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    fn tensordot<R: IntoExpr<Elem = Self::Elem>>(
        self,
        other: R,
        pairs: impl AsRef<[(usize, usize)]>,
    ) -> Deferred<MatMul<Self::Expr, R::Expr>> {
        let pairs = Some(list(pairs.as_ref().iter().copied()));
        Deferred::new(MatMul { a: Lazy(self.into_expr()), b: Lazy(other.into_expr()), pairs })
    }

    /// Every element of this operand times every element of `other`. Lazy, as any operator is.
    ///
    /// The result has the axes of this operand, then those of `other`.
    ///
    /// # Errors
    ///
    /// The shape, and with it the result, is [`Error::RankLimit`] if there are too many axes. The result is
    /// [`Error::ShapeOverflow`] if there are too many elements.
    ///
    /// ```
    /// use lensor::linalg::Linalg;
    /// use lensor::Tensor;
    /// let (a, b) = (Tensor::from(vec![1, 2]), Tensor::from(vec![10, 20, 30]));
    /// assert_eq!(a.outer(&b).eval()?.to_vec()?, [10, 20, 30, 20, 40, 60]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    fn outer<R: IntoExpr<Elem = Self::Elem>>(self, other: R) -> Outer<Self, R> {
        let (mut a, b) = (Lazy(self.into_expr()), Lazy(other.into_expr()));
        let shapes = a.shape().and_then(|_| b.shape());
        let made = shapes.and_then(|shape| a.add_axes(shape.rank()));
        Lazy(Apply::made(made, MulOp, (a.0, b.0)))
    }
}

crate::compute::for_operands!(Linalg where Elem: Arithmetic + 'static);

/// A product of two operands: of stacks of matrices, or over pairs of axes.
#[derive(Debug, Clone)]
pub struct MatMul<A, B> {
    a: Lazy<A>,
    b: Lazy<B>,
    /// The axes that are summed over, for [`Linalg::tensordot`].
    pairs: Option<Result<Vec<(usize, usize)>>>,
}

impl<A: Expr, B: Expr> MatMul<A, B> {
    /// The operands as stacks of matrices, and the shape of the product.
    #[inline(never)]
    fn stacks(&self) -> Result<Stacks<'_, A, B>> {
        let (a, b) = (Lazy(self.a.0.by_ref()), Lazy(self.b.0.by_ref()));
        match &self.pairs {
            None => chained(a, b),
            Some(pairs) => paired(a, b, pairs.as_ref().map_err(Error::copy)?),
        }
    }

    /// An error of an element of a view of an operand as that of the operand. Of which one is not known, if no element
    /// fails again, nor where it stands there, unless the operands are `whole`.
    #[cold]
    fn of_operands(&self, error: Error, whole: bool) -> Error {
        first_fault(&Lazy(erased(&self.a.0)), &error)
            .or_else(|| first_fault(&Lazy(erased(&self.b.0)), &error))
            .unwrap_or_else(|| if whole { error } else { error.without_index() })
    }
}

type Stacks<'a, A, B> = (Lazy<<A as Expr>::Ref<'a>>, Lazy<<B as Expr>::Ref<'a>>, Shape);

impl<A, B> Sealed for MatMul<A, B> {}

impl<A, B> Compute for MatMul<A, B>
where
    A: Expr<Elem: Arithmetic + 'static>,
    B: Expr<Elem = A::Elem>,
{
    type Elem = A::Elem;

    fn shape(&self) -> Result<Shape> {
        match &self.pairs {
            None => chained_shape(&self.a.shape()?, &self.b.shape()?),
            Some(_) => Ok(self.stacks()?.2),
        }
    }

    reads!(a, b);

    fn fill(&self, out: &mut [MaybeUninit<A::Elem>]) -> Result<Filled> {
        let (a, b, _) = self.stacks()?;
        stack::fill(&a, &b, out, product).map_err(|error| {
            let is_matrices = |shape: Result<Shape>| shape.is_ok_and(|shape| shape.rank() > 1);
            let both = is_matrices(self.a.shape()) && is_matrices(self.b.shape());
            self.of_operands(error, both && self.pairs.is_none())
        })
    }

    /// Matrices of a stack, each whole.
    fn boxes(&self, limit: usize) -> Result<Boxes> {
        let (a, b, shape) = self.stacks()?;
        let stack = a.shape()?.rank().max(b.shape()?.rank()) - 2;
        Ok(Boxes::around(&shape, limit, |axis| axis >= stack))
    }

    fn eval_box(&self, ranges: &[Range<usize>]) -> Result<Tensor<Vec<A::Elem>>> {
        let (a, b, shape) = self.stacks()?;
        let (left, right) = (a.shape()?, b.shape()?);
        let stack = left.rank().max(right.rank()) - 2;
        let ranges = &ranges[..stack.min(ranges.len())];
        // The axes in front stretch to one another from the right.
        let part = |rank: usize, shape: &Shape| -> Vec<Select> {
            let axes = ranges.iter().skip(stack + 2 - rank).zip(shape.iter());
            let whole = |(range, &extent): (&Range<usize>, &usize)| {
                if extent == 1 { 0..1 } else { range.clone() }
            };
            selectors(&axes.map(whole).collect::<Vec<_>>())
        };
        let (a, b) = (a.select(part(left.rank(), &left))?, b.select(part(right.rank(), &right))?);
        let shape = box_shape(&shape, ranges);
        let data = inner::collect(shape.count()?, |out| stack::fill(&a, &b, out, product));
        Tensor::new(shape, data.map_err(|error| self.of_operands(error, false))?)
    }

    fn explain(&self) -> Result<Explanation> {
        let (a, b, shape) = self.stacks()?;
        let (how, threads) = stack::explain(&a, &b)?;
        let (left, right) = (self.a.shape()?, self.b.shape()?);
        let element = std::any::type_name::<A::Elem>();
        Ok(Explanation::report(
            format!("product of {element} {left:?} and {right:?} to {shape:?}"),
            how,
            threads,
            [
                bytes_read(&self.a.0).saturating_add(bytes_read(&self.b.0)),
                shape.count()?.saturating_mul(size_of::<A::Elem>()),
            ],
        ))
    }
}

/// The shape of a product of `matmul`.
fn chained_shape(left: &Shape, right: &Shape) -> Result<Shape> {
    if left.rank() == 0 || right.rank() == 0 {
        return Err(Error::ExpectedRank { expected: 1, shape: Vec::new() });
    }
    let (left_axis, right_axis) = (left.rank() - 1, right.rank().saturating_sub(2));
    check(left, right, (left_axis, right_axis))?;
    let front = |shape: &Shape| Shape::from(&shape[..shape.rank().saturating_sub(2)]);
    let joint = front(left).join(&front(right), Align::Right, 2)?;
    let rows = left.rank().checked_sub(2).map(|axis| left[axis]);
    let columns = right.last().filter(|_| right.rank() > 1);
    let axes = joint.iter().copied().chain(rows).chain(columns.copied());
    Ok(Shape::from_iter(axes))
}

/// Operands of `matmul` as stacks of matrices, and the shape of their product.
fn chained<A: Expr, B: Expr>(a: Lazy<A>, b: Lazy<B>) -> Result<(Lazy<A>, Lazy<B>, Shape)> {
    let (left, right) = (a.shape()?, b.shape()?);
    let shape = chained_shape(&left, &right)?;
    let a = if left.rank() == 1 { a.insert_axis(0)? } else { a };
    let b = if right.rank() == 1 { b.insert_axis(1)? } else { b };
    Ok((a, b, shape))
}

/// Operands of `tensordot` as two matrices, and the shape of their product.
fn paired<A: Expr, B: Expr>(
    a: Lazy<A>,
    b: Lazy<B>,
    pairs: &[(usize, usize)],
) -> Result<(Lazy<A>, Lazy<B>, Shape)> {
    let (left, right) = (a.shape()?, b.shape()?);
    let Pairing { orders, extents: [m, k, n], shape } = Pairing::new(&left, &right, pairs)?;
    let a = a.transpose(&orders[0])?.reshape([m, k])?;
    let b = b.transpose(&orders[1])?.reshape([k, n])?;
    Ok((a, b, shape))
}
