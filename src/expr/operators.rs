//! Operators: `+ - * / %`, `& | ^ !`, negation, and the compound assignments.

use super::update::update_with;
use super::{Apply, Expr, Lazy, Op, Pairs, Scalar};
use super::{assignment_operators, binary_operators, operators, scalar_operators, unary_operators};
use super::{for_assignments, for_binary, for_scalars, for_unary};
use crate::dtype::{Arithmetic, Bits, DivideBy, Signed};
use crate::error::Result;
use crate::kernel::Fault;
use crate::storage::{Reader, Writer};
use crate::tensor::Tensor;

macro_rules! total_ops {
    ($($(#[$doc:meta])* $Op:ident $Bound:ident $element:ident;)*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default)]
        pub struct $Op;

        impl<T: $Bound> Op<(T, T)> for $Op {
            type Out = T;

            #[inline(always)]
            fn call(&self, (a, b): (T, T)) -> T {
                a.$element(b)
            }
        }
    )* };
}
total_ops! {
    /// `a + b`; integers wrap.
    AddOp Arithmetic plus;
    /// `a - b`; integers wrap.
    SubOp Arithmetic minus;
    /// `a * b`; integers wrap.
    MulOp Arithmetic times;
    /// `a & b`, bitwise or logical.
    AndOp Bits and;
    /// `a | b`, bitwise or logical.
    OrOp Bits or;
    /// `a ^ b`, bitwise or logical.
    XorOp Bits xor;
}

/// `a / b`, of integers rounded toward 0; an integer zero on the right is
/// [`Error::Arithmetic`](crate::Error::Arithmetic) with its index, when it is computed.
#[derive(Debug, Clone, Copy, Default)]
pub struct DivOp;

impl<T: Arithmetic, D: DivideBy<T>> Op<(T, D)> for DivOp {
    type Out = T;
    const FAULTS: bool = T::FAULTS;

    #[inline(always)]
    fn call(&self, (a, b): (T, D)) -> T {
        b.divide(a)
    }

    #[inline(always)]
    fn is_fault(&self, (_, b): &(T, D)) -> bool {
        b.value().is_faulty_divisor()
    }

    fn fault(&self, x: (T, D)) -> Option<Fault> {
        self.is_fault(&x).then_some(Fault::Division)
    }
}

/// `a % b`, with the sign of `a`; an integer zero on the right is [`Error::Arithmetic`](crate::Error::Arithmetic)
/// with its index, when it is computed.
#[derive(Debug, Clone, Copy, Default)]
pub struct RemOp;

impl<T: Arithmetic, D: DivideBy<T>> Op<(T, D)> for RemOp {
    type Out = T;
    const FAULTS: bool = T::FAULTS;

    #[inline(always)]
    fn call(&self, (a, b): (T, D)) -> T {
        b.remainder(a)
    }

    #[inline(always)]
    fn is_fault(&self, (_, b): &(T, D)) -> bool {
        b.value().is_faulty_divisor()
    }

    fn fault(&self, x: (T, D)) -> Option<Fault> {
        self.is_fault(&x).then_some(Fault::Division)
    }
}

macro_rules! unary {
    ($($(#[$doc:meta])* $Op:ident: $Trait:ident $method:ident, $Bound:ident $element:ident;)*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default)]
        pub struct $Op;

        impl<T: $Bound> Op<(T,)> for $Op {
            type Out = T;

            #[inline(always)]
            fn call(&self, (a,): (T,)) -> T {
                a.$element()
            }
        }
    )* };
}
for_unary!(unary);

operators! {
    [Lazy Apply Expr Pairs]
    [S: Reader] Tensor<S> => Tensor<S>, |x| x;
    ['a, S: Reader] &'a Tensor<S> => Tensor<&'a S>, |x| x.view();
    [E: Expr] Lazy<E> => E, |x| x.0;
    ['a, E: Expr] &'a Lazy<E> => E::Ref<'a>, |x| x.0.by_ref();
}

macro_rules! assignments {
    ($($Op:ident: $Trait:ident $method:ident $try_method:ident, $Bound:ident $sign:literal;)*) => { $(
        impl<W: Writer> Tensor<W> {
            #[doc = concat!("Replaces every element `a` by `a ", $sign, " b`, in place, `b` stretched to this shape.")]
            ///
            /// # Errors
            ///
            /// [`Error::Destination`](crate::Error::Destination) if `b` does not stretch to this shape,
            /// [`Error::Arithmetic`](crate::Error::Arithmetic) for an integer division by zero, what evaluating
            /// `b` reports, and otherwise as [`Tensor::zip_in_place`]. After an error this tensor may be partly
            /// written.
            ///
            /// An example is in the [root](crate#assignment).
            pub fn $try_method<R>(&mut self, b: R) -> Result<()>
            where
                W::Elem: $Bound + Pairs<R>,
            {
                update_with($Op, self, W::Elem::pair(b), &|b| $Op.fault((b, b)))
            }
        }
    )* };
}
for_assignments!(assignments);
for_assignments!(assignment_operators [Tensor Pairs]);
