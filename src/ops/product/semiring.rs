//! Semirings: what to add and multiply by.

use crate::dtype::{Arithmetic, Order};
use num_traits::{Bounded, SaturatingAdd};

/// An addition and a multiplication, and the zero of both.
///
/// Products over a semiring look at stored entries only: whatever is not stored is [`zero`](Self::zero),
/// adds nothing and multiplies to zero. Terms are added to zero in ascending order of the index summed over.
///
/// # Required of implementations
///
/// `add(zero, x)` is `x`, and `multiply(zero, x)` may stand for `zero`.
///
/// ```
/// use lensor::product::Semiring;
/// use lensor::{Tensor, storage::Sparse};
///
/// /// The most reliable way: probabilities multiply, and the best one counts.
/// struct MaxTimes;
/// impl Semiring<f64> for MaxTimes {
///     fn zero(&self) -> f64 {
///         0.0
///     }
///     fn add(&self, a: f64, b: f64) -> f64 {
///         a.max(b)
///     }
///     fn multiply(&self, a: f64, b: f64) -> f64 {
///         a * b
///     }
/// }
/// let links = Tensor::new([2, 2], Sparse::from_dense(&[0.0, 0.5, 0.25, 0.75], 0.0)?)?;
/// let reach = links.times_dense(Tensor::from(vec![1.0, 0.5]).lazy(), MaxTimes);
/// assert_eq!(reach.to_vec()?, [0.25, 0.375]);
/// # Ok::<(), lensor::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not add and multiply elements of type `{T}`",
    note = "implement `lensor::product::Semiring`: three methods"
)]
pub trait Semiring<T: Copy>: Send + Sync {
    /// What is not stored.
    fn zero(&self) -> T;

    /// The sum of two terms.
    fn add(&self, a: T, b: T) -> T;

    /// A term: an element of the first operand times one of the second.
    fn multiply(&self, a: T, b: T) -> T;
}

/// Numbers as they are: sums of products. Integers wrap. Every product and every sum is rounded to the type of the
/// elements: sums of `f16` and `bf16` lose less if they are cast to `f32` first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct PlusTimes;

impl<T: Arithmetic> Semiring<T> for PlusTimes {
    #[inline(always)]
    fn zero(&self) -> T {
        T::one().minus(T::one())
    }

    #[inline(always)]
    fn add(&self, a: T, b: T) -> T {
        a.plus(b)
    }

    #[inline(always)]
    fn multiply(&self, a: T, b: T) -> T {
        a.times(b)
    }
}

/// Lengths of ways: they add up along a way, and the shortest counts. Zero is infinity; for integers their
/// largest value, which sums do not exceed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct MinPlus;

macro_rules! min_plus {
    ($($type:ty)*: $zero:ident, |$a:ident, $b:ident| $sum:expr) => { $(
        impl Semiring<$type> for MinPlus {
            #[inline(always)]
            fn zero(&self) -> $type {
                <$type>::$zero
            }

            #[inline(always)]
            fn add(&self, a: $type, b: $type) -> $type {
                Order::minimum(a, b)
            }

            #[inline(always)]
            fn multiply(&self, $a: $type, $b: $type) -> $type {
                $sum
            }
        }
    )* };
}
min_plus!(f32 f64: INFINITY, |a, b| a + b);
min_plus!(u8 u16 u32 u64 usize: MAX, |a, b| a.saturating_add(b));
min_plus!(i8 i16 i32 i64 isize: MAX, |a, b| length(a, b));

/// The sum of two lengths, of which one may be infinite and the other negative.
#[inline(always)]
fn length<T: Bounded + PartialEq + SaturatingAdd>(a: T, b: T) -> T {
    let infinity = T::max_value();
    if a == infinity || b == infinity { infinity } else { a.saturating_add(&b) }
}

/// Whether there is a way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct OrAnd;

impl Semiring<bool> for OrAnd {
    #[inline(always)]
    fn zero(&self) -> bool {
        false
    }

    #[inline(always)]
    fn add(&self, a: bool, b: bool) -> bool {
        a | b
    }

    #[inline(always)]
    fn multiply(&self, a: bool, b: bool) -> bool {
        a & b
    }
}
