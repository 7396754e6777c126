//! Sums of products of elements.

use crate::dtype::{Arithmetic, RoundTo};
use crate::kernel::Ring;

/// Sums of the terms that a function makes of two elements each.
#[derive(Clone, Copy)]
pub(crate) struct Terms<F>(pub(crate) F);

impl<T: Arithmetic, F: Fn(T, T) -> T::Wide + Copy + Send + Sync> Ring<T> for Terms<F> {
    type Sum = T::Wide;

    #[inline(always)]
    fn zero(self) -> T::Wide {
        T::Wide::one().minus(T::Wide::one())
    }

    #[inline(always)]
    fn step(self, sum: T::Wide, x: T, y: T) -> T::Wide {
        sum.plus((self.0)(x, y))
    }

    #[inline(always)]
    fn plus(self, a: T::Wide, b: T::Wide) -> T::Wide {
        a.plus(b)
    }

    #[inline(always)]
    fn round(self, sum: T::Wide) -> T {
        sum.rounded()
    }
}

/// The product.
#[inline(always)]
pub(crate) fn product<T: Arithmetic>(x: T, y: T) -> T::Wide {
    T::Wide::from(x).times(T::Wide::from(y))
}

/// The first element alone.
#[inline(always)]
pub(crate) fn first<T: Arithmetic>(x: T, _: T) -> T::Wide {
    T::Wide::from(x)
}

/// The second element alone.
#[inline(always)]
pub(crate) fn second<T: Arithmetic>(_: T, y: T) -> T::Wide {
    T::Wide::from(y)
}
