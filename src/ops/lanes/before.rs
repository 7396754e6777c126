//! What memory of results holds before they are computed.

use crate::error::Result;
use crate::expr::{Expr, Lazy};
use crate::map::Select;
use crate::memory::{list, make_room};
use bytemuck::Zeroable;
use std::iter::repeat_n;

/// What memory of results `R` holds before they are computed from lanes of elements `T` and `U`.
pub trait Before<T, U, R> {
    /// One element, where there are results.
    #[doc(hidden)]
    fn one<A: Expr<Elem = T>, B: Expr<Elem = U>>(
        a: &Lazy<A>,
        b: &Lazy<B>,
        axis: usize,
    ) -> Result<R>;

    /// So many.
    #[doc(hidden)]
    fn many(one: R, count: usize) -> Result<Vec<R>>;
}

/// Zeros, in new memory.
#[derive(Debug, Clone, Copy)]
pub struct Zeros;

impl<T, U, R: Zeroable> Before<T, U, R> for Zeros {
    fn one<A, B>(_a: &Lazy<A>, _b: &Lazy<B>, _axis: usize) -> Result<R> {
        Ok(R::zeroed())
    }

    fn many(_one: R, count: usize) -> Result<Vec<R>> {
        let mut out = Vec::new();
        make_room(&mut out, count)?;
        Ok(out)
    }
}

/// The first element of the operand.
#[derive(Debug, Clone, Copy)]
pub struct First;

impl<T: Copy, U> Before<T, U, T> for First {
    fn one<A: Expr<Elem = T>, B>(a: &Lazy<A>, _b: &Lazy<B>, _axis: usize) -> Result<T> {
        first(a)
    }

    fn many(one: T, count: usize) -> Result<Vec<T>> {
        list(repeat_n(one, count))
    }
}

/// The first element.
pub(super) fn first<E: Expr>(e: &Lazy<E>) -> Result<E::Elem> {
    if let Some((elements, map)) = e.0.in_memory()
        && let Some(&element) = elements.get(map.address_at(0))
    {
        return Ok(element);
    }
    Lazy(e.0.by_ref()).select(vec![Select::range(0..1); e.shape()?.rank()])?.eval()?.item()
}
