//! How stencils would be computed, in words.

#[cfg(doc)]
use super::Stencil;
use super::field::Derivatives;
use super::rule::Order;
use super::{EdgeOrder, Mode, Spacing, convolve};
use crate::dtype::{Arithmetic, Real};
use crate::error::Result;
use crate::expr::{Explanation, Expr, IntoExpr, Lazy, bytes_read};
use crate::ops::explain::{Explained, report};
use crate::shape::Shape;
use std::any::type_name;
use std::borrow::Borrow;

/// Derivatives and convolutions of [`Stencil`]. Errors are those that they report before they read an element.
impl<E: Expr> Explained<E> {
    /// How [`Stencil::derivative`] would go about it.
    ///
    /// # Errors
    ///
    /// As `derivative`, but for those of elements.
    ///
    /// ```
    /// use lensor::{Tensor, explain::Explain, stencil::EdgeOrder};
    /// let t = Tensor::full([100, 100], 1.0)?;
    /// let text = t.explained().derivative(1, 2.0, EdgeOrder::First)?.to_string();
    /// assert!(text.contains("operand: read where it lies"));
    /// assert!(text.contains("along axis 1: differences, times a reciprocal"));
    /// let text = t.explained().derivative(1, 0.3, EdgeOrder::First)?.to_string();
    /// assert!(text.contains("along axis 1: differences, divided"));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn derivative(
        &self,
        axis: usize,
        spacing: impl Into<Spacing<E::Elem>>,
        edges: EdgeOrder,
    ) -> Result<Explanation>
    where
        E::Elem: Real,
    {
        self.along("derivative", axis, &spacing.into(), Order::First(edges))
    }

    /// How [`Stencil::second_derivative`] would go about it.
    ///
    /// # Errors
    ///
    /// As `second_derivative`, but for those of elements.
    ///
    /// ```
    /// use lensor::{Tensor, explain::Explain};
    /// let t = Tensor::full([10, 10], 1.0)?;
    /// let text = t.explained().second_derivative(0, 0.5)?.to_string();
    /// assert!(text.contains("along axis 0: second differences, times a reciprocal"));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn second_derivative(
        &self,
        axis: usize,
        spacing: impl Into<Spacing<E::Elem>>,
    ) -> Result<Explanation>
    where
        E::Elem: Real,
    {
        self.along("second derivative", axis, &spacing.into(), Order::Second)
    }

    /// How [`Stencil::gradient`] would go about it.
    ///
    /// # Errors
    ///
    /// As `gradient`, but for those of elements.
    ///
    /// ```
    /// use lensor::{Tensor, explain::Explain, stencil::EdgeOrder};
    /// let t = Tensor::full([100, 100], 1.0)?;
    /// let spacing = [1.0.into(), 1.0.into()];
    /// let text = (&t * 2.0).explained().gradient(&spacing, EdgeOrder::First)?.to_string();
    /// assert!(text.starts_with("gradient of f64 [100, 100] to [100, 100, 2]"));
    /// assert!(text.contains("evaluated 100 indexes of axis 0 at a time, with 2 on either side"));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn gradient(&self, spacing: &[Spacing<E::Elem>], edges: EdgeOrder) -> Result<Explanation>
    where
        E::Elem: Real,
    {
        let rank = self.0.shape()?.rank();
        let (lines, threads) = self.derivatives(&all(rank, Order::First(edges)), spacing)?;
        self.stencil("gradient", &[rank], lines, threads, [1, 0, rank])
    }

    /// How [`Stencil::hessian`] would go about it: the diagonal at once, then the derivatives along all axes
    /// but the last, and of these along the axes that follow.
    ///
    /// # Errors
    ///
    /// As `hessian`, but for those of elements.
    ///
    /// ```
    /// use lensor::{Tensor, explain::Explain, stencil::EdgeOrder};
    /// let t = Tensor::full([10, 10], 1.0)?;
    /// let spacing = [1.0.into(), 1.0.into()];
    /// let text = t.explained().hessian(&spacing, EdgeOrder::First)?.to_string();
    /// assert!(text.contains("beside the diagonal: derivatives of derivatives, 1 in all"));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn hessian(&self, spacing: &[Spacing<E::Elem>], edges: EdgeOrder) -> Result<Explanation>
    where
        E::Elem: Real,
    {
        let rank = self.0.shape()?.rank();
        let (mut lines, threads) = self.derivatives(&all(rank, Order::Second), spacing)?;
        let slopes = rank.saturating_sub(1);
        let mixed = rank * slopes / 2;
        let (more, _) = self.derivatives(&all(slopes, Order::First(edges)), spacing)?;
        lines.push(format!("beside the diagonal: derivatives of derivatives, {mixed} in all"));
        lines.extend(more.into_iter().skip(1));
        // All are computed to memory of their own, and then assigned: to both sides, off the diagonal.
        let read = rank + 3 * mixed;
        let written = rank * rank + 2 * rank + slopes + 3 * mixed;
        self.stencil("hessian", &[rank, rank], lines, threads, [1 + slopes, read, written])
    }

    /// How [`Stencil::laplacian`] would go about it: the second derivatives are computed one after another,
    /// and added up.
    ///
    /// # Errors
    ///
    /// As `laplacian`, but for those of elements.
    ///
    /// ```
    /// use lensor::{Tensor, explain::Explain};
    /// let t = Tensor::full([10, 10], 1.0)?;
    /// let text = t.explained().laplacian(&[1.0.into(), 0.3.into()])?.to_string();
    /// assert!(text.contains("along axis 0: second differences, times a reciprocal"));
    /// assert!(text.contains("along axis 1: second differences, divided"));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn laplacian(&self, spacing: &[Spacing<E::Elem>]) -> Result<Explanation>
    where
        E::Elem: Real,
    {
        let rank = self.0.shape()?.rank();
        let (mut lines, threads) = self.derivatives(&all(rank, Order::Second), spacing)?;
        lines.push("terms: computed one after another, and added up".into());
        self.stencil("laplacian", &[], lines, threads, [rank, 2 * rank, 1 + 2 * rank])
    }

    /// How [`Stencil::convolve`] would go about it.
    ///
    /// # Errors
    ///
    /// As `convolve`, but for those of elements.
    ///
    /// ```
    /// use lensor::stencil::{Edge, Mode};
    /// use lensor::{Tensor, explain::Explain};
    /// let (t, kernel) = (Tensor::full([8, 9], 1.0)?, Tensor::full([3, 3], 1.0)?);
    /// let text = t.explained().convolve(&kernel, Mode::Valid)?.to_string();
    /// assert!(text.starts_with("convolution of f64 [8, 9] with [3, 3] to [6, 7]"));
    /// assert!(text.contains("operand: read where it lies"));
    /// assert!(text.contains("sums: 9 products each, in lines of 7"));
    /// let text = t.explained().convolve(&kernel, Mode::Same(Edge::Zero))?.to_string();
    /// assert!(text.contains("operand: evaluated with its border, 10 indexes of axis 0 at a time"));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn convolve<K>(&self, kernel: K, mode: Mode) -> Result<Explanation>
    where
        E::Elem: Arithmetic,
        K: IntoExpr<Elem = E::Elem>,
    {
        self.sums("convolution", &Lazy(kernel.into_expr()), mode)
    }

    /// How [`Stencil::correlate`] would go about it.
    ///
    /// # Errors
    ///
    /// As `correlate`, but for those of elements.
    ///
    /// ```
    /// use lensor::{Tensor, explain::Explain, stencil::Mode};
    /// let (t, kernel) = (Tensor::full([9], 1)?, Tensor::full([3], 1)?);
    /// let text = t.explained().correlate(&kernel, Mode::Valid)?.to_string();
    /// assert!(text.starts_with("correlation of i32 [9] with [3] to [7]"));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn correlate<K>(&self, kernel: K, mode: Mode) -> Result<Explanation>
    where
        E::Elem: Arithmetic,
        K: IntoExpr<Elem = E::Elem>,
    {
        self.sums("correlation", &Lazy(kernel.into_expr()), mode)
    }

    fn sums<K: Expr>(&self, what: &str, kernel: &Lazy<K>, mode: Mode) -> Result<Explanation>
    where
        E::Elem: Arithmetic,
    {
        let (element, shape, sides) = (type_name::<E::Elem>(), self.0.shape()?, kernel.shape()?);
        let (result, how, threads) = convolve::explain(Lazy(self.0.0.by_ref()), kernel, mode)?;
        Ok(report(
            format!("{what} of {element} {shape:?} with {sides:?} to {result:?}"),
            how,
            threads,
            [
                bytes_read(&self.0.0).saturating_add(bytes_read(&kernel.0)),
                result.count()?.saturating_mul(size_of::<E::Elem>()),
            ],
        ))
    }

    fn along(
        &self,
        what: &str,
        axis: usize,
        spacing: &Spacing<E::Elem>,
        order: Order,
    ) -> Result<Explanation>
    where
        E::Elem: Real,
    {
        let spacing = vec![spacing; self.0.shape()?.rank()];
        let (lines, threads) = self.derivatives(&[(axis, order)], &spacing)?;
        self.stencil(what, &[], lines, threads, [1, 0, 1])
    }

    fn derivatives(
        &self,
        planes: &[(usize, Order)],
        spacing: &[impl Borrow<Spacing<E::Elem>>],
    ) -> Result<(Vec<String>, usize)>
    where
        E::Elem: Real,
    {
        Derivatives::new(&self.0, planes, spacing)?.explain()
    }

    /// `passes` says how often the operand is read, and how many tensors of its shape are read and written.
    fn stencil(
        &self,
        what: &str,
        components: &[usize],
        lines: Vec<String>,
        threads: usize,
        passes: [usize; 3],
    ) -> Result<Explanation> {
        let (element, shape) = (type_name::<E::Elem>(), self.0.shape()?);
        let out: Shape = shape.iter().chain(components).copied().collect();
        let plane = shape.count()?.saturating_mul(size_of::<E::Elem>());
        let operand = bytes_read(&self.0.0).saturating_mul(passes[0]);
        let read = operand.saturating_add(plane.saturating_mul(passes[1]));
        let what = format!("{what} of {element} {shape:?} to {out:?}");
        Ok(report(what, lines, threads, [read, plane.saturating_mul(passes[2])]))
    }
}

/// One derivative along each of the first axes.
fn all(rank: usize, order: Order) -> Vec<(usize, Order)> {
    (0..rank).map(|axis| (axis, order)).collect()
}
