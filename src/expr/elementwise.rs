//! Elementwise functions as methods of tensors and expressions.

use super::{Apply, IntoExpr, Lazy, Op, Pairs};
use super::{binary_methods, checked_table, elementwise_methods, elementwise_table, unary_methods};
use crate::dtype::{Arithmetic, Cast, Order, Real, Signed};
use crate::kernel::Fault;
use crate::memory::debug_of_fields;
use std::marker::PhantomData;

type Chosen<C, A, B> = Lazy<
    Apply<
        ChooseOp,
        (<C as IntoExpr>::Expr, <A as IntoExpr>::Expr, <<A as IntoExpr>::Elem as Pairs<B>>::Expr),
    >,
>;

macro_rules! unary_ops {
    ($(
        $(#[$doc:meta])* $method:ident $Op:ident $Bound:ident::$element:ident -> $Out:ty,
        [$($x:tt)*] => [$($y:tt)*];
    )*) => { $(
        #[doc = concat!("[`Elementwise::", stringify!($method), "`].")]
        #[derive(Debug, Clone, Copy, Default)]
        pub struct $Op;

        impl<T: $Bound> Op<(T,)> for $Op {
            type Out = $Out;

            #[inline(always)]
            fn call(&self, (x,): (T,)) -> $Out {
                $Bound::$element(x)
            }
        }
    )* };
}

macro_rules! binary_ops {
    ($(
        $(#[$doc:meta])* $method:ident $Op:ident [$($Bound:tt)+] |$a:ident, $b:ident| $body:expr => $Out:ty,
        [$($x:tt)*] $other:literal => [$($y:tt)*];
    )*) => { $(
        #[doc = concat!("[`Elementwise::", stringify!($method), "`].")]
        #[derive(Debug, Clone, Copy, Default)]
        pub struct $Op;

        impl<T: $($Bound)+ + Send + Sync + Copy> Op<(T, T)> for $Op {
            type Out = $Out;

            #[inline(always)]
            fn call(&self, ($a, $b): (T, T)) -> $Out {
                $body
            }
        }
    )* };
}

macro_rules! checked_ops {
    ($(
        $(#[$doc:meta])* $method:ident $Op:ident [$($Bound:tt)+] |$a:ident, $b:ident| $body:expr => $Trait:path,
        [$($x:tt)*] $other:literal => [$($y:tt)*];
    )*) => { $(
        #[doc = concat!("[`Elementwise::", stringify!($method), "`].")]
        #[derive(Debug, Clone, Copy, Default)]
        pub struct $Op;

        impl<T: $($Bound)+> Op<(T, T)> for $Op {
            type Out = T;
            const FAULTS: bool = true;

            #[inline(always)]
            fn call(&self, ($a, $b): (T, T)) -> T {
                $body
            }

            #[inline(always)]
            fn is_fault(&self, (a, b): &(T, T)) -> bool {
                <T as $Trait>::$method(a, b).is_none()
            }

            fn fault(&self, x: (T, T)) -> Option<Fault> {
                let target = std::any::type_name::<T>();
                self.is_fault(&x).then_some(Fault::Overflow { target })
            }
        }
    )* };
}

/// Elementwise functions. Each is lazy: it returns an expression to evaluate, view or combine further.
///
/// ```
/// use lensor::prelude::*;
/// let t = Tensor::from_vec([3], vec![1.0, 4.0, 9.0])?;
/// assert_eq!(t.sqrt().eval()?.to_vec()?, [1.0, 2.0, 3.0]);
/// assert_eq!(t.less(5.0).eval()?.to_vec()?, [true, true, false]);
/// assert_eq!(t.map(|x| x * 10.0).eval()?.to_vec()?, [10.0, 40.0, 90.0]);
/// let error = (&t * 100.0).cast::<u8>().eval().unwrap_err();
/// assert_eq!(error.to_string(), "cannot convert 400.0 at index [1] to u8");
/// assert_eq!((&t * 100.0).cast_unchecked::<u8>().eval()?.to_vec()?, [100, 255, 255]);
/// # Ok::<(), lensor::Error>(())
/// ```
///
/// Plain numbers have none of these methods, though they can stand as operands.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no elementwise functions",
    note = "`&Tensor`, views, `Lazy` expressions, deferred operations, calls with one output and references to these have them"
)]
pub trait Elementwise: IntoExpr + Sized {
    elementwise_methods!([Lazy Apply IntoExpr into_expr Pairs]);

    /// Boxed, see [`Lazy::boxed`].
    fn boxed<'a>(self) -> super::BoxExpr<'a, Self::Elem>
    where
        Self::Expr: 'a,
    {
        Lazy(self.into_expr()).boxed()
    }

    /// With sparse operands read element by element, see [`Lazy::densely`].
    fn densely(self) -> Lazy<super::Densely<Self::Expr>> {
        Lazy(self.into_expr()).densely()
    }
}

elementwise_table!(unary_ops binary_ops);
checked_table!(checked_ops);

/// `a` where the condition holds, `b` elsewhere; both are evaluated (NumPy's `where`).
///
/// ```
/// use lensor::prelude::*;
/// let t = Tensor::from_vec([3], vec![-1, 0, 5])?;
/// let e = choose(t.less(0), 0, &t);
/// # let e: lensor::expr::Lazy<_> = e;
/// assert_eq!(e.eval()?.to_vec()?, [0, 0, 5]);
/// # Ok::<(), lensor::Error>(())
/// ```
#[doc(alias = "where")]
pub fn choose<C, A, B>(condition: C, a: A, b: B) -> Chosen<C, A, B>
where
    C: IntoExpr<Elem = bool>,
    A: IntoExpr,
    A::Elem: Pairs<B>,
{
    Lazy(Apply::new(
        ChooseOp,
        (condition.into_expr(), a.into_expr(), <A::Elem as Pairs<B>>::pair(b)),
    ))
}

/// [`choose`].
#[derive(Debug, Clone, Copy, Default)]
pub struct ChooseOp;

impl<T: Copy + Send + Sync> Op<(bool, T, T)> for ChooseOp {
    type Out = T;

    #[inline(always)]
    fn call(&self, (condition, a, b): (bool, T, T)) -> T {
        if condition { a } else { b }
    }
}

/// [`Elementwise::map`].
#[derive(Clone)]
pub struct MapOp<F>(pub(crate) F);

debug_of_fields!([F] MapOp<F>);

impl<T, U: Copy + Send + Sync, F: Fn(T) -> U + Send + Sync> Op<(T,)> for MapOp<F> {
    type Out = U;

    #[inline(always)]
    fn call(&self, (x,): (T,)) -> U {
        (self.0)(x)
    }
}

/// [`Elementwise::clamp`].
#[derive(Debug, Clone, Copy, Default)]
pub struct ClampOp;

impl<T: Order> Op<(T, T, T)> for ClampOp {
    type Out = T;

    #[inline(always)]
    fn call(&self, (x, low, high): (T, T, T)) -> T {
        x.maximum(low).minimum(high)
    }
}

/// [`Elementwise::mul_add`].
#[derive(Debug, Clone, Copy, Default)]
pub struct MulAddOp;

impl<T: Real> Op<(T, T, T)> for MulAddOp {
    type Out = T;

    #[inline(always)]
    fn call(&self, (x, factor, summand): (T, T, T)) -> T {
        x.mul_add(factor, summand)
    }
}

/// [`Elementwise::powi`].
#[derive(Debug, Clone, Copy, Default)]
pub struct PowiOp;

impl<T: Arithmetic> Op<(T, i32)> for PowiOp {
    type Out = T;
    const FAULTS: bool = T::FAULTS;

    /// Constant exponents leave no loop, so that loops over elements become vector instructions.
    #[inline(always)]
    fn call(&self, (x, exponent): (T, i32)) -> T {
        match exponent {
            2 => by_squaring(x, 2),
            3 => by_squaring(x, 3),
            _ => by_squaring(x, exponent),
        }
    }

    #[inline(always)]
    fn is_fault(&self, (x, exponent): &(T, i32)) -> bool {
        *exponent < 0 && x.is_faulty_divisor()
    }

    fn fault(&self, operands: (T, i32)) -> Option<Fault> {
        self.is_fault(&operands).then_some(Fault::Division)
    }
}

/// `x` to the power of `exponent`, by as many squarings as it has binary digits. The inverse of
/// an integer is taken first, as its power may wrap around to 0.
#[inline(always)]
fn by_squaring<T: Arithmetic>(x: T, exponent: i32) -> T {
    // The types whose zero divisors are faults.
    let is_integer = T::FAULTS;
    let x = if is_integer && exponent < 0 { T::one().over(x) } else { x };
    let (mut power, mut square, mut rest) = (T::one(), x, exponent.unsigned_abs());
    while rest > 0 {
        if rest & 1 == 1 {
            power = power.times(square);
        }
        rest >>= 1;
        if rest > 0 {
            square = square.times(square);
        }
    }
    if exponent < 0 && !is_integer { T::one().over(power) } else { power }
}

/// [`Elementwise::cast`].
#[derive(Debug, Clone, Copy)]
pub struct CastOp<U>(pub(crate) PhantomData<fn() -> U>);

impl<T: Cast<U>, U: Copy + Send + Sync> Op<(T,)> for CastOp<U> {
    type Out = U;
    const FAULTS: bool = T::FAULTS;

    #[inline(always)]
    fn call(&self, (x,): (T,)) -> U {
        x.cast_unchecked()
    }

    #[inline(always)]
    fn is_fault(&self, (x,): &(T,)) -> bool {
        x.is_uncastable()
    }

    fn fault(&self, (x,): (T,)) -> Option<Fault> {
        x.is_uncastable()
            .then(|| Fault::Cast { value: format!("{x:?}"), target: std::any::type_name::<U>() })
    }
}

/// [`Elementwise::cast_unchecked`].
#[derive(Debug, Clone, Copy)]
pub struct CastUncheckedOp<U>(pub(crate) PhantomData<fn() -> U>);

impl<T: Cast<U>, U: Copy + Send + Sync> Op<(T,)> for CastUncheckedOp<U> {
    type Out = U;

    #[inline(always)]
    fn call(&self, (x,): (T,)) -> U {
        x.cast_unchecked()
    }
}
