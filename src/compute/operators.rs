//! Operators of deferred operations, and methods of all operands.

use super::{Compute, Deferred, Pending};
use crate::dtype::{Arithmetic, Bits, Signed};
use crate::expr::*;

operators! {
    [Lazy Apply Expr Pairs]
    [C: Compute] Deferred<C> => Pending<C>, |x| x.into_expr();
    ['a, C: Compute] &'a Deferred<C> => Pending<&'a C>, |x| x.into_expr();
}

pairs! {
    [Pairs IntoExpr into_expr]
    [] [C: Compute<Elem = T>] Deferred<C>;
    ['a] [C: Compute<Elem = T>] &'a Deferred<C>;
}

/// Gives a trait of operations to all that they are called on: tensors by reference, views of them,
/// expressions and deferred operations by value or by reference.
macro_rules! for_operands {
    ($Trait:ident $(where Elem: $($bound:tt)+)?) => {
        impl<S: $crate::Reader> $Trait for &$crate::Tensor<S> $(where S::Elem: $($bound)+)? {}
        impl<S: $crate::Reader> $Trait for $crate::Tensor<&S> $(where S::Elem: $($bound)+)? {}
        impl<E: $crate::Expr> $Trait for $crate::Lazy<E> $(where E::Elem: $($bound)+)? {}
        impl<E: $crate::Expr> $Trait for &$crate::Lazy<E> $(where E::Elem: $($bound)+)? {}
        impl<C: $crate::Compute> $Trait for $crate::Deferred<C> $(where C::Elem: $($bound)+)? {}
        impl<C: $crate::Compute> $Trait for &$crate::Deferred<C> $(where C::Elem: $($bound)+)? {}
    };
}
pub(crate) use for_operands;

/// What a [`Compute`] reads: all elements of these fields, one by one. After `deferred:`, what is deferred in them.
macro_rules! reads {
    ($($field:ident),+) => {
        $crate::compute::reads!(deferred: $($field),+);

        fn check_reads(&self) -> $crate::error::Result<()> {
            $($crate::expr::check_operand(&self.$field)?;)+
            Ok(())
        }
    };
    (deferred: $first:ident $(, $other:ident)*) => {
        fn deferred<'a>(&'a self, visit: &mut dyn FnMut(&'a dyn $crate::expr::Prepare)) {
            $crate::expr::deferred_of(&self.$first, visit);
            $($crate::expr::deferred_of(&self.$other, visit);)*
        }

        fn depth(&self) -> usize {
            self.$first.depth()$(.max(self.$other.depth()))*
        }
    };
}
pub(crate) use reads;

for_operands!(Elementwise);
for_operands!(Pieces);
