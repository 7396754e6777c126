//! A reduction that is not computed yet.

use super::fold;
use super::{Axes, Filtered, Mapped, Reducer};
use crate::error::Result;
use crate::expr::{Apply, Boxed, Explanation, Expr, IntoExpr, Op, bytes_read, erased};
use crate::kernel::{PARALLEL, threads};
use crate::map::AddressMap;
use crate::ops::explain::report;
use crate::ops::sparse::reduce::{explain_stored, reduce_stored, reduce_to_dense};
use crate::shape::Shape;
use crate::storage::{Sparse, Writer};
use crate::tensor::Tensor;

/// Brings operands together as a tuple.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pair;

impl<X: Copy + Send + Sync> Op<X> for Pair {
    type Out = X;

    #[inline(always)]
    fn call(&self, x: X) -> X {
        x
    }
}

/// An expression and another operand, brought together.
pub type Paired<E, X> = Apply<Pair, (E, <X as IntoExpr>::Expr)>;

/// A fold of an expression along some axes, not yet computed.
///
/// It is no expression itself: its result is a new tensor, to which views and operators apply. What it
/// folds is computed block by block, so a reduction of an expression needs no memory for the operand.
#[derive(Debug, Clone)]
#[must_use = "nothing is computed before it is asked for"]
pub struct Reduction<E, R> {
    e: E,
    axes: Axes,
    reducer: R,
    keepdims: bool,
}

impl<E: Expr, R: Reducer<E::Elem>> Reduction<E, R> {
    pub(super) fn new(e: E, axes: Axes, reducer: R) -> Self {
        Self { e, axes, reducer, keepdims: false }
    }

    /// Keeps the reduced axes with extent 1, so that the result aligns with the operand.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[1_i64, 2], [3, 4]])?;
    /// assert_eq!(t.sum(1).keepdims().eval()?.shape(), [2, 1]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn keepdims(self) -> Self {
        Self { keepdims: true, ..self }
    }

    /// Takes only the elements beside which `mask` is true. The others are skipped, whatever they are.
    ///
    /// The mask is stretched as operators do.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[1_i64, 2], [3, 4]])?;
    /// let first_column = Tensor::from_vec([2], vec![true, false])?;
    /// assert_eq!(t.sum(..).filter(&first_column).eval()?.item()?, 4);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn filter<M: IntoExpr<Elem = bool>>(self, mask: M) -> Reduction<Paired<E, M>, Filtered<R>> {
        Reduction {
            e: Apply::new(Pair, (self.e, mask.into_expr())),
            axes: self.axes,
            reducer: Filtered(self.reducer),
            keepdims: self.keepdims,
        }
    }

    /// Sends every result through a function, in the same pass.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[3.0, 4.0], [6.0, 8.0]])?;
    /// let lengths = (&t * &t).sum(1).map(f64::sqrt);
    /// assert_eq!(lengths.eval()?.to_vec()?, [5.0, 10.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn map<U, F>(self, function: F) -> Reduction<E, Mapped<R, F>>
    where
        U: Copy + Send + Sync,
        F: Fn(R::Out) -> U + Send + Sync,
    {
        Reduction {
            e: self.e,
            axes: self.axes,
            reducer: Mapped { reducer: self.reducer, function },
            keepdims: self.keepdims,
        }
    }

    /// Shape of the result.
    ///
    /// # Errors
    ///
    /// [`Error::Axis`](crate::Error::Axis) and [`Error::RepeatedAxis`](crate::Error::RepeatedAxis) for
    /// axes that the operand has not, and the error that the operand carries.
    pub fn shape(&self) -> Result<Shape> {
        result_shape(&self.e.shape()?, &self.axes, self.keepdims)
    }

    /// Computes the results, in row-major order, into a new tensor.
    ///
    /// # Errors
    ///
    /// What [`Self::shape`] reports; [`Error::EmptyReduction`](crate::Error::EmptyReduction) if there is
    /// no result for no elements; [`Error::Order`](crate::Error::Order) for several axes of a reducer that
    /// is not commutative; [`Error::Overflow`](crate::Error::Overflow) for the first result that does not fit
    /// its type, [`Error::NothingLeft`](crate::Error::NothingLeft) for the first of elements that were all
    /// left out; and what evaluating the operand reports.
    pub fn eval(&self) -> Result<Tensor<Vec<R::Out>>> {
        evaluate(&erased(&self.e), &self.axes, self.keepdims, &self.reducer)
    }

    /// Computes the results of sparse operands into a new sparse tensor, in time and memory that grow with
    /// their entries, not with their elements.
    ///
    /// Entries stand where some reduced element is stored; the fill value is the result of fill values
    /// alone, each of which counts.
    ///
    /// # Errors
    ///
    /// [`Error::WouldDensify`](crate::Error::WouldDensify) if an operand is not sparse, and what
    /// [`Self::eval`] reports.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// use lensor::storage::Duplicates;
    /// let side = 1_usize << 20;
    /// let t = Tensor::from_coordinates(
    ///     [side, side],
    ///     1_i64,
    ///     &[[3, 5], [3, 8], [7, 0]],
    ///     vec![10, 20, 30],
    ///     Duplicates::Refuse,
    /// )?;
    /// let sums = t.sum(1).eval_sparse()?;
    /// assert_eq!(sums.storage().fill(), side as i64);
    /// assert_eq!(sums.get(&[3])?, side as i64 + 9 + 19);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn eval_sparse(&self) -> Result<Tensor<Sparse<R::Out>>> {
        evaluate_sparse(&erased(&self.e), &self.axes, self.keepdims, &self.reducer)
    }

    /// Computes the results into an existing tensor or view of any storage with a writer.
    ///
    /// # Errors
    ///
    /// What [`Self::eval`] reports, and what assigning the results reports.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[1.0, 2.0], [3.0, 4.0]])?;
    /// let mut out = Tensor::full([2, 2], 0.0)?;
    /// t.sum(0).assign_to(&mut out.view_mut().select((1,))?)?;
    /// assert_eq!(out.to_vec()?, [0.0, 0.0, 4.0, 6.0]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn assign_to<W: Writer<Elem = R::Out>>(&self, out: &mut Tensor<W>) -> Result<()> {
        out.assign(self.eval()?)
    }

    /// Says in a few lines how the reduction would be computed.
    ///
    /// # Errors
    ///
    /// What [`Self::shape`] reports.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let t = Tensor::full([64, 100], 1.0)?;
    /// let text = t.sum(0).explain()?.to_string();
    /// assert!(text.contains("across rows: 100 results of 64 rows"));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn explain(&self) -> Result<Explanation> {
        let (shape, results) = (self.e.shape()?, self.shape()?);
        let reduced = self.axes.mask(shape.rank())?;
        let axes: Vec<usize> = (0..shape.rank()).filter(|&axis| reduced[axis]).collect();
        let [element, out] = [std::any::type_name::<E::Elem>(), std::any::type_name::<R::Out>()];
        let count = shape.count()?;
        let e = erased(&self.e);
        let what = format!("{element} {shape:?} over axes {axes:?} to {out} {results:?}");
        let written = results.count()?.saturating_mul(size_of::<R::Out>());
        if fold::is_sparse(&e) {
            let (how, read) = explain_stored::<_, R>(&e, &reduced)?;
            return Ok(report(what, how, 1, [read, written]));
        }
        let threads = if count < PARALLEL { 1 } else { threads() };
        Ok(report(
            what,
            fold::explain(&e, &shape, &reduced, &self.reducer)?,
            threads,
            [bytes_read(&self.e), written],
        ))
    }
}

/// The shape of a reduction of operands of this shape.
fn result_shape(shape: &Shape, axes: &Axes, keepdims: bool) -> Result<Shape> {
    let reduced = axes.mask(shape.rank())?;
    let axes = shape.iter().zip(&reduced);
    Ok(if keepdims {
        axes.map(|(&extent, &reduced)| if reduced { 1 } else { extent }).collect()
    } else {
        axes.filter(|(_, reduced)| !**reduced).map(|(&extent, _)| extent).collect()
    })
}

/// The shape of the operand, and which axes of it are reduced.
fn checked<T, R>(e: &Boxed<'_, T>, axes: &Axes) -> Result<(Shape, Vec<bool>)>
where
    T: Copy + Send + Sync,
    R: Reducer<T>,
{
    let shape = e.shape()?;
    // Operands that are stretched may have more elements together than can be counted.
    shape.count()?;
    let reduced = axes.mask(shape.rank())?;
    fold::check_order::<T, R>(&shape, &reduced)?;
    Ok((shape, reduced))
}

/// [`Reduction::eval`], compiled once for all operands of one element type.
fn evaluate<T, R>(
    e: &Boxed<'_, T>,
    axes: &Axes,
    keepdims: bool,
    reducer: &R,
) -> Result<Tensor<Vec<R::Out>>>
where
    T: Copy + Send + Sync,
    R: Reducer<T>,
{
    let (shape, reduced) = checked::<T, R>(e, axes)?;
    if fold::is_sparse(e) {
        return reduce_to_dense(e, &reduced, keepdims, reducer);
    }
    let results = fold::fold(e, &shape, &reduced, reducer)?;
    Ok(Tensor::of_parts(AddressMap::row_major(&result_shape(&shape, axes, keepdims)?)?, results))
}

/// [`Reduction::eval_sparse`], as [`evaluate`].
fn evaluate_sparse<T, R>(
    e: &Boxed<'_, T>,
    axes: &Axes,
    keepdims: bool,
    reducer: &R,
) -> Result<Tensor<Sparse<R::Out>>>
where
    T: Copy + Send + Sync,
    R: Reducer<T>,
{
    let (_, reduced) = checked::<T, R>(e, axes)?;
    reduce_stored(e, &reduced, keepdims, reducer)
}
