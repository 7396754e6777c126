//! Functions of neighbours: derivatives, convolution, and stencils of one's own.
//!
//! ```
//! use lensor::prelude::*;
//! use lensor::stencil::EdgeOrder;
//! let squares = Tensor::from(vec![0.0, 1.0, 4.0, 9.0, 16.0]);
//! let slope = squares.derivative(0, 1.0, EdgeOrder::Second);
//! assert_eq!(slope.to_vec()?, [0.0, 2.0, 4.0, 6.0, 8.0]);
//!
//! let sums = squares.stencil([[-1], [1]], |[left, right]| left + right);
//! assert_eq!(sums.eval()?.to_vec()?, [4.0, 10.0, 20.0]);
//! # Ok::<(), Error>(())
//! ```
//!
//! Derivatives and convolutions are deferred. An operand that is contiguous in memory is read where
//! it lies, any other is evaluated a block of its first axis at a time, but a vector at once; a vector is computed by one
//! thread. Results do not depend on either.

mod border;
mod convolve;
mod derivative;
mod field;
mod rule;
mod spacing;

pub use border::{Border, Mode};
pub use convolve::Correlation;
pub use derivative::Derivative;
pub use rule::EdgeOrder;
pub use spacing::{IntoSpacing, Spacing};

use crate::compute::Deferred;
use crate::dtype::{Arithmetic, Real};
use crate::error::{Error, Result};
use crate::expr::{Expr, IntoExpr, Lazy, zip_made};
use derivative::Kind;

/// Functions of neighbours as methods of tensors and expressions.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no stencils",
    note = "`&Tensor`, views, `Lazy` expressions, deferred operations, calls with one output and references to these have them"
)]
pub trait Stencil: IntoExpr + Sized {
    /// The derivative along one axis, with the shape of the operand.
    ///
    /// Inside, it is `(x[i + 1] - x[i - 1]) / (2 h)`, and where coordinates are given whose distances differ the slope of
    /// the parabola through three neighbours; at the ends what `edges` says. Follows NumPy's `gradient`.
    ///
    /// # Errors
    ///
    /// When it is computed: [`Error::Axis`] if there is no such axis, [`Error::Window`] if it has less than two elements
    /// (three for [`EdgeOrder::Second`]), [`Error::ListLength`] unless there is one coordinate for each element,
    /// [`Error::RepeatedCoordinate`] if one equals either of the two before it or distances are 0,
    /// [`Error::OutOfMemory`], and what the evaluation of the operand reports.
    ///
    /// ```
    /// use lensor::stencil::{EdgeOrder, Stencil};
    /// use lensor::Tensor;
    /// let t = Tensor::from_nested([[1.0, 2.0, 4.0], [1.0, 3.0, 9.0]])?;
    /// let along = t.derivative(1, 1.0, EdgeOrder::First);
    /// assert_eq!(along.to_vec()?, [1.0, 1.5, 2.0, 2.0, 4.0, 6.0]);
    /// let across = t.derivative(0, [0.0, 2.0], EdgeOrder::First);
    /// assert_eq!(across.to_vec()?, [0.0, 0.5, 2.5, 0.0, 0.5, 2.5]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    fn derivative(
        self,
        axis: usize,
        spacing: impl IntoSpacing<Self::Elem>,
        edges: EdgeOrder,
    ) -> Deferred<Derivative<Self::Expr>>
    where
        Self::Elem: Real,
    {
        Derivative::deferred(self.into_expr(), Kind::First { axis, edges }, [spacing])
    }

    /// The second derivative along one axis, with the shape of the operand: the curvature of the parabola
    /// through three neighbours, those nearest to the ends there.
    ///
    /// # Errors
    ///
    /// When it is computed: as [`Self::derivative`]; three elements are needed.
    ///
    /// ```
    /// use lensor::stencil::Stencil;
    /// use lensor::Tensor;
    /// let t = Tensor::from(vec![0.0, 1.0, 8.0, 27.0]);
    /// assert_eq!(t.second_derivative(0, 1.0).to_vec()?, [6.0, 6.0, 12.0, 12.0]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    fn second_derivative(
        self,
        axis: usize,
        spacing: impl IntoSpacing<Self::Elem>,
    ) -> Deferred<Derivative<Self::Expr>>
    where
        Self::Elem: Real,
    {
        Derivative::deferred(self.into_expr(), Kind::Second { axis }, [spacing])
    }

    /// The derivatives along all axes, one spacing per axis: shape `(s0, .., sn)` becomes
    /// `(s0, .., sn, n + 1)`, with the component last.
    ///
    /// Each component lies contiguous in memory; the operand is read once. Follows NumPy's `gradient`.
    ///
    /// # Errors
    ///
    /// When it is computed: as [`Self::derivative`], [`Error::Rank`] unless there is one spacing per axis,
    /// [`Error::RankLimit`] and [`Error::ShapeOverflow`] for a result of too many axes or elements.
    ///
    /// ```
    /// use lensor::stencil::{EdgeOrder, Stencil};
    /// use lensor::Tensor;
    /// let plane = Tensor::from_nested([[0.0, 3.0], [2.0, 5.0]])?;
    /// let gradient = plane.gradient([1.0, 1.0], EdgeOrder::First);
    /// assert_eq!(gradient.shape()?, [2, 2, 2]);
    /// assert_eq!(gradient.to_vec()?, [2.0, 3.0, 2.0, 3.0, 2.0, 3.0, 2.0, 3.0]);
    /// let stretched = plane.gradient([[0.0, 1.0], [0.0, 2.0]], EdgeOrder::First);
    /// assert_eq!(stretched.to_vec()?, [2.0, 1.5, 2.0, 1.5, 2.0, 1.5, 2.0, 1.5]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    fn gradient(
        self,
        spacing: impl IntoIterator<Item: IntoSpacing<Self::Elem>>,
        edges: EdgeOrder,
    ) -> Deferred<Derivative<Self::Expr>>
    where
        Self::Elem: Real,
    {
        Derivative::deferred(self.into_expr(), Kind::Gradient(edges), spacing)
    }

    /// The second derivatives along all pairs of axes: shape `(s0, .., sn)` becomes
    /// `(s0, .., sn, n + 1, n + 1)`.
    ///
    /// On the diagonal stand those of [`Self::second_derivative`], beside it the differences across two
    /// axes, `(x[i+1, j+1] - x[i+1, j-1] - x[i-1, j+1] + x[i-1, j-1]) / (4 h k)` inside. They are the same
    /// on both sides of the diagonal.
    ///
    /// # Errors
    ///
    /// When it is computed: as [`Self::gradient`]; three elements are needed along each axis.
    ///
    /// ```
    /// use lensor::stencil::{EdgeOrder, Stencil};
    /// use lensor::Tensor;
    /// // x * x + 3 * x * y
    /// let t = Tensor::from_index([3, 3], |i| (i[0] * i[0] + 3 * i[0] * i[1]) as f64)?;
    /// let hessian = t.hessian([1.0, 1.0], EdgeOrder::First);
    /// assert_eq!(hessian.select((1, 1))?.to_vec()?, [2.0, 3.0, 3.0, 0.0]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    fn hessian(
        self,
        spacing: impl IntoIterator<Item: IntoSpacing<Self::Elem>>,
        edges: EdgeOrder,
    ) -> Deferred<Derivative<Self::Expr>>
    where
        Self::Elem: Real,
    {
        Derivative::deferred(self.into_expr(), Kind::Hessian(edges), spacing)
    }

    /// The sum of the second derivatives along all axes, with the shape of the operand.
    ///
    /// # Errors
    ///
    /// When it is computed: as [`Self::gradient`]; three elements are needed along each axis.
    ///
    /// ```
    /// use lensor::stencil::Stencil;
    /// use lensor::Tensor;
    /// let bowl = Tensor::from_index([3, 4], |i| (i[0] * i[0] + i[1] * i[1]) as f64)?;
    /// assert_eq!(bowl.laplacian([1.0, 1.0]).to_vec()?, [4.0; 12]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    fn laplacian(
        self,
        spacing: impl IntoIterator<Item: IntoSpacing<Self::Elem>>,
    ) -> Deferred<Derivative<Self::Expr>>
    where
        Self::Elem: Real,
    {
        Derivative::deferred(self.into_expr(), Kind::Laplacian, spacing)
    }

    /// Any function of neighbours: `f` of the elements at `offsets` from each index. Lazy.
    ///
    /// The result covers the indexes all of whose neighbours exist: an axis of extent `n` becomes one of
    /// `n - before - after`, where `before` and `after` are the farthest offsets along it. Neighbours are
    /// views of the operand, so nothing is copied and everything above and below is one loop. To have
    /// neighbours beyond the border, give the operand one, by [`pad`](crate::tensor::pad) for example.
    ///
    /// # Errors
    ///
    /// The shape, and with it the result, is [`Error::Rank`] unless offsets have one number per axis, and
    /// [`Error::Window`] if the offsets span more than an axis. Without any offset it is not compiled.
    ///
    /// ```
    /// use lensor::stencil::Stencil;
    /// use lensor::Tensor;
    /// let t = Tensor::from_nested([[1, 2, 3], [4, 5, 6], [7, 8, 9]])?;
    /// let cross = [[-1, 0], [0, -1], [0, 1], [1, 0]];
    /// let largest = t.stencil(cross, |near| near.into_iter().fold(i32::MIN, i32::max));
    /// assert_eq!(largest.eval()?.to_vec()?, [8]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    fn stencil<U, F, const N: usize, const R: usize>(
        self,
        offsets: [[isize; R]; N],
        f: F,
    ) -> Lazy<impl Expr<Elem = U>>
    where
        Self::Expr: Clone,
        U: Copy + Send + Sync,
        F: Fn([Self::Elem; N]) -> U + Send + Sync,
    {
        const { assert!(N > 0, "a stencil has one offset at least") }
        let operand = Lazy(self.into_expr());
        let mut views: [_; N] = std::array::from_fn(|_| operand.clone());
        let made = neighbours(&mut views, &operand, &offsets);
        zip_made(made, views, f)
    }

    /// The convolution with a kernel of the same rank: element `i` of the whole is the sum of
    /// `x[i - t] * kernel[t]` over all `t`. `mode` says which part of it, and what lies beyond the border.
    ///
    /// Sums run over the kernel in row-major order from its end; integers wrap. Follows SciPy's `convolve`, and
    /// NumPy's where the kernel is not longer than the operand; with [`Mode::Valid`] a longer one is refused, not
    /// exchanged. See [`Mode`] for shapes. Zeros beyond the border are elements, which infinite weights make NaN; NumPy
    /// has no products there. `f16` and `bf16` are summed up in `f32`, and rounded once.
    ///
    /// # Errors
    ///
    /// When it is computed: [`Error::Rank`] if the ranks differ, [`Error::Window`] if the kernel is empty or, with
    /// [`Mode::Valid`], longer than an axis, [`Error::ShapeOverflow`], [`Error::OutOfMemory`], and what the
    /// evaluation of an operand reports, see [`Deferred::eval`].
    ///
    /// ```
    /// use lensor::stencil::{Border, Mode, Stencil};
    /// use lensor::Tensor;
    /// let t = Tensor::from(vec![1, 2, 3]);
    /// let kernel = Tensor::from(vec![0, 1, 10]);
    /// let with = |mode| t.convolve(&kernel, mode).to_vec();
    /// assert_eq!(with(Mode::Full(Border::Zero))?, [0, 1, 12, 23, 30]);
    /// assert_eq!(with(Mode::Same(Border::Zero))?, [1, 12, 23]);
    /// assert_eq!(with(Mode::Same(Border::Clamp))?, [11, 12, 23]);
    /// assert_eq!(with(Mode::Valid)?, [12]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    fn convolve<K>(self, kernel: K, mode: Mode) -> Deferred<Correlation<Self::Expr, K::Expr>>
    where
        Self::Elem: Arithmetic,
        K: IntoExpr<Elem = Self::Elem>,
    {
        Correlation::deferred(self.into_expr(), kernel.into_expr(), mode, true)
    }

    /// The correlation with a kernel of the same rank: as [`Self::convolve`] with the kernel flipped along every
    /// axis. Element `i` is the sum of `x[i + t] * kernel[t]`, up to where `mode` starts. Complex kernels are not
    /// conjugated, as NumPy's and SciPy's are.
    ///
    /// # Errors
    ///
    /// As [`Self::convolve`].
    ///
    /// ```
    /// use lensor::stencil::{Mode, Stencil};
    /// use lensor::Tensor;
    /// let t = Tensor::from(vec![1, 2, 3, 4]);
    /// assert_eq!(t.correlate(&Tensor::from(vec![1, 10]), Mode::Valid).to_vec()?, [21, 32, 43]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    fn correlate<K>(self, kernel: K, mode: Mode) -> Deferred<Correlation<Self::Expr, K::Expr>>
    where
        Self::Elem: Arithmetic,
        K: IntoExpr<Elem = Self::Elem>,
    {
        Correlation::deferred(self.into_expr(), kernel.into_expr(), mode, false)
    }
}

crate::compute::for_operands!(Stencil);

/// Moves each of some views by its offset, to the indexes all of whose neighbours exist.
///
/// ```
/// use lensor::{Tensor, stencil::Stencil};
/// let _ = Tensor::full([3, 3], 1)?.stencil([[0_isize; 2]; 1], |[x]| x).shape();
/// # Ok::<(), lensor::Error>(())
/// ```
///
/// ```compile_fail,E0080
/// use lensor::{Tensor, stencil::Stencil};
/// let _ = Tensor::full([3, 3], 1)?.stencil([[0_isize; 2]; 0], |[]| 1).shape();
/// # Ok::<(), lensor::Error>(())
/// ```
fn neighbours<E: Expr + Clone, const R: usize>(
    views: &mut [Lazy<E>],
    operand: &Lazy<E>,
    offsets: &[[isize; R]],
) -> Result<()> {
    let shape = operand.shape()?;
    if shape.rank() != R {
        return Err(Error::Rank { what: "offsets", expected: shape.rank(), found: R });
    }
    for (axis, &extent) in shape.iter().enumerate() {
        let along = || offsets.iter().map(|offset| offset[axis]);
        let before = along().fold(0, |least, o| o.min(least)).unsigned_abs();
        let after = along().fold(0, |most, o| o.max(most)).unsigned_abs();
        let window = before.saturating_add(after).saturating_add(1);
        let count = match extent.checked_sub(window) {
            Some(rest) => rest + 1,
            None => return Err(Error::Window { axis, window, extent }),
        };
        for (view, offset) in views.iter_mut().zip(along()) {
            let start = before.saturating_add_signed(offset);
            view.change(&mut |map| map.slice(axis, start..start + count))?;
        }
    }
    Ok(())
}
