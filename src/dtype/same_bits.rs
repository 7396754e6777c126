//! Equality of elements bit by bit, as sparse storage compares with its fill value.

use bytemuck::NoUninit;
use std::any::TypeId;

/// Equality that tells `-0.0` from `0.0` and takes any NaN for any other.
///
/// So an element that is the fill value of sparse storage by this rule can be left out of it and read
/// back: nothing is lost but the payload of a NaN.
///
/// ```
/// use lensor::dtype::SameBits;
/// assert!(f64::NAN.same_bits(-f64::NAN));
/// assert!(!0.0.same_bits(-0.0));
/// assert!(3.same_bits(3));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be compared with the fill value of sparse storage",
    note = "numbers, `bool` and `char` can; implement `lensor::dtype::SameBits` for a type of your own"
)]
pub trait SameBits: Copy {
    /// Whether the two are the same value, bit by bit but for NaN.
    fn same_bits(self, other: Self) -> bool;
}

/// An element as one of type `U`, if that is its own.
#[allow(unsafe_code, reason = "types are compared by id")]
fn as_type<T: Copy, U: NoUninit>(x: T) -> Option<U> {
    let same = typeid::of::<T>() == TypeId::of::<U>();
    // SAFETY: `T` is `U` but for lifetimes, of which a type without references (`NoUninit`) has none that matter.
    same.then(|| unsafe { std::mem::transmute_copy(&x) })
}

/// Whether two elements are the same by [`SameBits`]; not known, and so no, of other types than numbers, `bool` and `char`.
pub(crate) fn same_element<T: Copy>(a: T, b: T) -> bool {
    fn same<T: Copy, U: SameBits + NoUninit>(a: T, b: T) -> bool {
        as_type::<T, U>(a).zip(as_type::<T, U>(b)).is_some_and(|(a, b)| a.same_bits(b))
    }
    macro_rules! any {
        ($($type:ty)*) => { false $(|| same::<T, $type>(a, b))* };
    }
    #[cfg(feature = "half")]
    if any!(half::f16 half::bf16) {
        return true;
    }
    #[cfg(feature = "complex")]
    if any!(num_complex::Complex<f32> num_complex::Complex<f64>) {
        return true;
    }
    any!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize bool char f32 f64)
}

macro_rules! same_bits {
    ($($($type:ty)*: |$a:ident, $b:ident| $same:expr;)*) => { $($(
        impl SameBits for $type {
            #[inline(always)]
            fn same_bits(self, other: Self) -> bool {
                let ($a, $b) = (self, other);
                $same
            }
        }
    )*)* };
}
same_bits! {
    i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize bool char: |a, b| a == b;
    f32 f64: |a, b| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
}

#[cfg(feature = "half")]
same_bits! {
    half::f16 half::bf16: |a, b| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
}

#[cfg(feature = "complex")]
impl<T: SameBits> SameBits for num_complex::Complex<T> {
    #[inline(always)]
    fn same_bits(self, other: Self) -> bool {
        self.re.same_bits(other.re) && self.im.same_bits(other.im)
    }
}
