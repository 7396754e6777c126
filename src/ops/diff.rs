//! Differences of neighbours along an axis.

use crate::dtype::Arithmetic;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::expr::{BoxExpr, Expr, IntoExpr, Lazy, zip_with};
use crate::tensor::Tensor;
use std::sync::Arc;

/// Most orders of one expression: it has one operand more.
const DEEPEST: usize = 5;

/// Differences as a method of tensors and expressions. A tensor is borrowed; `t.lazy()` gives it away.
pub trait Diff: IntoExpr + Sized {
    /// Differences of order `n` along `axis`: of neighbours for order 1, of the differences of order
    /// `n - 1` otherwise. Order 0 is the operand.
    ///
    /// Extent `k` becomes `k - n`, or 0. Lazy: an expression of views of the operand, shifted by one
    /// element each. Beyond order 5 the fifth differences are computed to memory first, and so on.
    /// Integers wrap around. Follows NumPy's `diff`.
    ///
    /// # Errors
    ///
    /// [`Error::Axis`] if there is no such axis, the error that the operand carries, and beyond order 5
    /// what evaluating it reports.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// use lensor::diff::Diff;
    /// let t = Tensor::from(vec![1, 2, 4, 8]);
    /// assert_eq!(t.diff(0, 1)?.eval()?.to_vec()?, [1, 2, 4]);
    /// assert_eq!(t.diff(0, 2)?.eval()?.to_vec()?, [1, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn diff<'a>(self, axis: usize, n: usize) -> Result<BoxExpr<'a, Self::Elem>>
    where
        Self::Expr: Clone + 'a,
        Self::Elem: Arithmetic + 'a,
    {
        let e = Lazy(self.into_expr());
        let shape = e.shape()?;
        let extent = shape.extent(axis)?;
        let length = extent.saturating_sub(n);
        if length == 0 || shape.count()? == 0 {
            return Ok(e.slice(axis, 0..length)?.boxed());
        }
        differences(e, axis, extent, n)
    }
}

crate::compute::for_operands!(Diff);

fn differences<'a, E>(
    e: Lazy<E>,
    axis: usize,
    extent: usize,
    n: usize,
) -> Result<BoxExpr<'a, E::Elem>>
where
    E: Expr<Elem: Arithmetic + 'a> + Clone + 'a,
{
    if n <= DEEPEST {
        return few(e, axis, extent, n);
    }
    let mut left = n - DEEPEST;
    let mut evaluated = few(e, axis, extent, DEEPEST)?.eval()?;
    while left > DEEPEST {
        let extent = evaluated.shape()[axis];
        let next = few(evaluated.view().lazy(), axis, extent, DEEPEST)?.eval()?;
        evaluated = next;
        left -= DEEPEST;
    }
    let extent = evaluated.shape()[axis];
    // Its operands share the elements.
    let (map, elements) = evaluated.into_parts();
    let shared = Tensor::with_map(map, Arc::new(elements))?;
    few(shared.lazy(), axis, extent, left)
}

/// Differences of an order that is computed in one pass.
#[inline(never)]
fn few<'a, E>(e: Lazy<E>, axis: usize, extent: usize, n: usize) -> Result<BoxExpr<'a, E::Elem>>
where
    E: Expr<Elem: Arithmetic + 'a> + Clone + 'a,
{
    let length = extent - n;
    let part = |k: usize| e.clone().slice(axis, k..k + length);
    macro_rules! of {
        ($($x:ident $k:literal)*) => {
            zip_with(($(part($k)?,)*), |($($x,)*)| difference([$($x),*])).boxed()
        };
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
