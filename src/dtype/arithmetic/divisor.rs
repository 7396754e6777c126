//! Division by one number many times.

use super::Arithmetic;

/// What a number can be divided by: a number, or a [`Divisor`] made of one.
#[diagnostic::on_unimplemented(
    message = "elements of type `{T}` are not divided by `{Self}`",
    note = "nothing is converted in silence, and integers have sums of `i64` or `u64` and means of `f64`: cast a tensor, `t.cast::<f64>()`, or a scalar, `k as f32`"
)]
pub trait DivideBy<T>: Copy + Send + Sync {
    /// `dividend / self`.
    fn divide(self, dividend: T) -> T;

    /// `dividend % self`.
    #[inline(always)]
    fn remainder(self, dividend: T) -> T
    where
        T: Arithmetic,
    {
        dividend.modulo(self.value())
    }

    /// The number.
    fn value(self) -> T;
}

impl<T: Arithmetic> DivideBy<T> for T {
    #[inline(always)]
    fn divide(self, dividend: T) -> T {
        dividend.over(self)
    }

    #[inline(always)]
    fn value(self) -> T {
        self
    }
}

/// A number that many are divided by: by multiplication where that gives the same bits.
#[derive(Debug, Clone, Copy)]
pub struct Divisor<T> {
    pub(super) value: T,
    /// What is multiplied by; of integers see `by_multiplication`.
    pub(super) reciprocal: Option<T>,
    pub(super) shifts: [u8; 2],
}

impl<T: Arithmetic> Divisor<T> {
    /// A divisor of this value.
    #[inline]
    pub fn new(value: T) -> Self {
        value.into_divisor()
    }
}

impl<T: Arithmetic> From<T> for Divisor<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: Arithmetic> DivideBy<T> for Divisor<T> {
    #[inline(always)]
    fn divide(self, dividend: T) -> T {
        dividend.over_divisor(self)
    }

    #[inline(always)]
    fn remainder(self, dividend: T) -> T {
        dividend.modulo_divisor(self)
    }

    #[inline(always)]
    fn value(self) -> T {
        self.value
    }
}

/// Methods of [`Arithmetic`] that divide integers by a multiplication of twice as many bits, after Granlund and Montgomery,
/// "Division by invariant integers using multiplication" (1994): exact for all numbers, without branches.
///
/// Let `d` be the divisor without its sign, of `N` bits, and `d <= 2^l < 2 d`. The factor is `2^N (2^l - d) / d`, rounded
/// down, and one more. A dividend `n` times that, over `2^N`, is `high`, and `(high + (n - high) / 2) / 2^(l - 1)` the
/// quotient; where `l` is 0, nothing is halved.
macro_rules! by_multiplication {
    ($magnitude:ident $type:ty, $unsigned:ty, $wide:ty) => {
        #[inline]
        fn into_divisor(self) -> Divisor<Self> {
            let by = (self.magnitude() as $unsigned).max(1) as $wide;
            let log = (by - 1).checked_ilog2().map_or(0, |log| log + 1);
            let factor = (((1 << log) - by) << <$unsigned>::BITS) / by + 1;
            let shifts = [log.min(1) as u8, log.saturating_sub(1) as u8];
            Divisor { value: self, reciprocal: Some(factor as $type), shifts }
        }

        #[inline(always)]
        fn over_divisor(self, divisor: Divisor<Self>) -> Self {
            let n = self.magnitude() as $unsigned;
            let factor = divisor.reciprocal.unwrap_or(0) as $unsigned;
            let [first, last] = divisor.shifts.map(u32::from);
            let high = ((n as $wide * factor as $wide) >> <$unsigned>::BITS) as $unsigned;
            let halved = n.wrapping_sub(high).wrapping_shr(first);
            let quotient = high.wrapping_add(halved).wrapping_shr(last) as $type;
            let sign = by_multiplication!(@$magnitude (self ^ divisor.value) $type);
            (quotient ^ sign).wrapping_sub(sign)
        }

        #[inline(always)]
        fn modulo_divisor(self, divisor: Divisor<Self>) -> Self {
            let whole = self.over_divisor(divisor).wrapping_mul(divisor.value);
            self.wrapping_sub(whole)
        }
    };
    // All bits of a negative number, none of others.
    (@signed $x:tt $type:ty) => { $x >> (<$type>::BITS - 1) };
    (@unsigned $x:tt $type:ty) => { 0 };
}
