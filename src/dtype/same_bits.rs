//! Equality of elements bit by bit, as sparse storage compares with its fill value.

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
