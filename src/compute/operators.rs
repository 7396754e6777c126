//! Operators with a deferred operation on the left, or a scalar there and one on the right.

use super::{Compute, Deferred, Pending};
use crate::dtype::{Arithmetic, Bits, Signed};
use crate::expr::*;
use std::ops;

macro_rules! binary {
    ($($Op:ident: $Trait:ident $method:ident, $Bound:ident, $Right:ident $pair:ident;)*) => { $(
        impl<C: Compute, R> ops::$Trait<R> for Deferred<C>
        where
            C::Elem: $Bound + Pairs<R>,
        {
            type Output = Lazy<Apply<$Op, (Pending<C>, <C::Elem as Pairs<R>>::$Right)>>;

            fn $method(self, right: R) -> Self::Output {
                self.lazy().$method(right)
            }
        }

        impl<'a, C: Compute, R> ops::$Trait<R> for &'a Deferred<C>
        where
            C::Elem: $Bound + Pairs<R>,
        {
            type Output = Lazy<Apply<$Op, (Pending<&'a C>, <C::Elem as Pairs<R>>::$Right)>>;

            fn $method(self, right: R) -> Self::Output {
                Lazy(self.into_expr()).$method(right)
            }
        }

        for_scalars!($Bound on_the_left $Op $Trait $method);
    )* };
}

macro_rules! on_the_left {
    ($Op:ident $Trait:ident $method:ident $($(#[$cfg:meta])? $type:ty)*) => { $(
        $(#[$cfg])?
        impl<C: Compute<Elem = $type>> ops::$Trait<Deferred<C>> for $type {
            type Output = Lazy<Apply<$Op, (Scalar<$type>, Pending<C>)>>;

            fn $method(self, right: Deferred<C>) -> Self::Output {
                self.$method(right.lazy())
            }
        }

        $(#[$cfg])?
        impl<'a, C: Compute<Elem = $type>> ops::$Trait<&'a Deferred<C>> for $type {
            type Output = Lazy<Apply<$Op, (Scalar<$type>, Pending<&'a C>)>>;

            fn $method(self, right: &'a Deferred<C>) -> Self::Output {
                self.$method(Lazy(right.into_expr()))
            }
        }
    )* };
}

for_binary!(binary);

macro_rules! unary {
    ($($(#[$doc:meta])* $Op:ident: $Trait:ident $method:ident, $Bound:ident $element:ident;)*) => { $(
        impl<C: Compute> ops::$Trait for Deferred<C>
        where
            C::Elem: $Bound,
        {
            type Output = Lazy<Apply<$Op, (Pending<C>,)>>;

            fn $method(self) -> Self::Output {
                self.lazy().$method()
            }
        }

        impl<'a, C: Compute> ops::$Trait for &'a Deferred<C>
        where
            C::Elem: $Bound,
        {
            type Output = Lazy<Apply<$Op, (Pending<&'a C>,)>>;

            fn $method(self) -> Self::Output {
                Lazy(self.into_expr()).$method()
            }
        }
    )* };
}
for_unary!(unary);
