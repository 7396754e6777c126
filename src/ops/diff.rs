//! Differences of neighbours along an axis.

use crate::compute::{Compute, Deferred, reads};
use crate::dtype::Arithmetic;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::expr::sealed::Sealed;
use crate::expr::{BoxExpr, Boxed, Explanation, Expr, IntoExpr, Lazy, zip_with};
use crate::kernel::{self, Filled};
use crate::shape::Shape;
use std::mem::MaybeUninit;

/// Most orders of one expression: it has one operand more.
const DEEPEST: usize = 5;

/// Differences as a method of tensors and expressions.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no differences",
    note = "`&Tensor`, views, `Lazy` expressions, deferred operations, calls with one output and references to these have them"
)]
pub trait Diff: IntoExpr + Sized {
    /// Differences of order `n` along `axis`: of neighbours for order 1, of the differences of order
    /// `n - 1` otherwise. Order 0 is the operand.
    ///
    /// Extent `k` becomes `k - n`, or 0. Lazy: an expression of views of the operand, shifted by one
    /// element each. Beyond order 5 all but the last few are computed to memory before it, five orders at a time.
    /// Integers wrap around. Follows NumPy's `diff`.
    ///
    /// # Errors
    ///
    /// The shape, and with it the result, is [`Error::Axis`] if there is no such axis.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let t = Tensor::from(vec![1, 2, 4, 8]);
    /// assert_eq!(t.diff(0, 1).eval()?.to_vec()?, [1, 2, 4]);
    /// assert_eq!(t.diff(0, 2).eval()?.to_vec()?, [1, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn diff<'a>(self, axis: usize, n: usize) -> BoxExpr<'a, Self::Elem>
    where
        Self::Expr: Clone + 'a,
        Self::Elem: Arithmetic + 'a,
    {
        let made = differences(Lazy(self.into_expr()), axis, n);
        made.unwrap_or_else(|error| Lazy(Boxed::refused(error)))
    }
}

crate::compute::for_operands!(Diff);

#[inline(never)]
fn differences<'a, E>(e: Lazy<E>, axis: usize, n: usize) -> Result<BoxExpr<'a, E::Elem>>
where
    E: Expr<Elem: Arithmetic + 'a> + Clone + 'a,
{
    let shape = e.shape()?;
    let extent = shape.extent(axis)?;
    let length = extent.saturating_sub(n);
    if length == 0 || shape.count()? == 0 {
        return Ok(e.slice(axis, 0..length)?.boxed());
    }
    if n <= DEEPEST {
        return few(e, axis, extent, n);
    }
    let last = (n - 1) % DEEPEST + 1;
    let before = Differences { e: e.boxed(), axis, n: n - last };
    few(Deferred::new(before).lazy(), axis, length + last, last)
}

/// Differences of an order that is computed in several passes.
#[derive(Debug, Clone)]
struct Differences<'a, T> {
    e: BoxExpr<'a, T>,
    axis: usize,
    /// A multiple of [`DEEPEST`].
    n: usize,
}

impl<T> Sealed for Differences<'_, T> {}

impl<T: Arithmetic> Compute for Differences<'_, T> {
    type Elem = T;

    fn shape(&self) -> Result<Shape> {
        let extent = self.e.shape()?.extent(self.axis)?;
        self.e.view().slice(self.axis, self.n.min(extent)..)?.shape()
    }

    reads!(deferred: e);

    fn fill(&self, out: &mut [MaybeUninit<T>]) -> Result<Filled> {
        kernel::copy(&self.collect(out.len())?, out)
    }

    fn collect(&self, _count: usize) -> Result<Vec<T>> {
        let mut evaluated = self.first_pass()?.eval().map_err(|mut error| {
            // The first result that reads the element.
            if let Some(digit) = error.element_index().and_then(|index| index.get_mut(self.axis)) {
                *digit = digit.saturating_sub(self.n - DEEPEST);
            }
            error
        })?;
        for _ in 1..self.n / DEEPEST {
            let extent = evaluated.shape()[self.axis];
            let next = few(evaluated.view().lazy(), self.axis, extent, DEEPEST)?.eval()?;
            evaluated = next;
        }
        Ok(evaluated.into_storage())
    }

    fn explain(&self) -> Result<Explanation> {
        let what = format!("differences of order {}, {DEEPEST} orders at a time, first:", self.n);
        Ok(self.first_pass()?.explain()?.below([what]))
    }
}

impl<T: Arithmetic> Differences<'_, T> {
    fn first_pass(&self) -> Result<BoxExpr<'_, T>> {
        let extent = self.e.shape()?.extent(self.axis)?;
        few(self.e.view(), self.axis, extent, DEEPEST)
    }
}

/// Differences of an order that is computed in one pass.
#[inline(never)]
fn few<'a, E>(e: Lazy<E>, axis: usize, extent: usize, n: usize) -> Result<BoxExpr<'a, E::Elem>>
where
    E: Expr<Elem: Arithmetic + 'a> + Clone + 'a,
{
    let length = extent - n;
    let part = |k: usize| e.clone().slice(axis, k..k + length);
    // Closures would be of types that name the operand.
    macro_rules! of {
        ($($x:ident $k:literal)*) => {{
            #[inline(always)]
            fn of<T: Arithmetic>(($($x,)*): ($(of!(T $x),)*)) -> T {
                difference([$($x),*])
            }
            zip_with(($(part($k)?,)*), of).boxed()
        }};
        ($T:ident $x:ident) => { $T };
    }
    Ok(match n {
        0 => e.boxed(),
        1 => of!(a 0 b 1),
        2 => of!(a 0 b 1 c 2),
        3 => of!(a 0 b 1 c 2 d 3),
        4 => of!(a 0 b 1 c 2 d 3 e 4),
        _ => of!(a 0 b 1 c 2 d 3 e 4 f 5),
    })
}

/// The difference of the highest order of a few neighbours.
#[inline(always)]
fn difference<T: Arithmetic, const N: usize>(mut parts: [T; N]) -> T {
    for order in 1..N {
        for k in 0..N - order {
            parts[k] = parts[k + 1].minus(parts[k]);
        }
    }
    parts[0]
}
