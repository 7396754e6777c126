//! Elements in their order, as integers that sort fast.

use bytemuck::Zeroable;
use std::fmt::Debug;

/// Elements with one order: that of numbers, where `-0.0` equals `0.0` and NaN comes after all else. `false`
/// comes before `true`. Sealed.
///
/// Elements are sorted by unsigned integers in the same order, their keys. In descending order keys are
/// complemented, but NaN still comes last.
#[diagnostic::on_unimplemented(
    message = "elements of type `{Self}` have no order of their own",
    note = "integers, floats, `bool` and `char` have; sort others by a comparison with `sort_by`, or by a key with `sort_by_key`"
)]
pub trait Sortable: Copy + PartialEq + Send + Sync + Zeroable + sealed::Sealed + 'static {
    /// Type of the keys.
    type Key: SortKey;

    /// One element of every set of elements that differ and have the same key.
    const SHARED: &'static [Self];

    /// The key. Elements are equal if their keys are.
    fn key(self, descending: bool) -> Self::Key;

    /// The element with this key; one of them if several have it.
    fn from_key(key: Self::Key, descending: bool) -> Self;

    /// Whether the key gives this very element back.
    fn is_own_key(self) -> bool;
}

/// Unsigned integers to sort by. Sealed.
pub trait SortKey: Radix {
    /// A key and a position, in order of both.
    type Pair: Radix;

    /// The key that no other comes after.
    const LAST: Self;

    /// Lowest bytes of a pair, which hold the position.
    const POSITION_BYTES: usize;

    /// This key at `position`, which has no more bytes than that.
    fn pair(self, position: usize) -> Self::Pair;
    /// The position in a pair.
    fn position(pair: Self::Pair) -> usize;
}

/// What is sorted byte by byte. Sealed.
pub trait Radix:
    Copy + Ord + Default + Debug + Send + Sync + Zeroable + sealed::Sealed + 'static
{
    /// Number of bytes.
    const BYTES: usize;

    /// Byte `k`, the lowest one first.
    fn byte(self, k: usize) -> usize;

    /// How far it is above a lower one, if that is known.
    #[inline(always)]
    fn above(self, _low: Self) -> Option<usize> {
        None
    }

    /// The smaller and the larger of two.
    #[inline(always)]
    fn in_order(self, other: Self) -> (Self, Self) {
        (self.min(other), self.max(other))
    }

    /// Items that are words which processors sort.
    fn words(_items: &mut [Self]) -> Words<'_> {
        Words::Other
    }
}

/// Items to sort, where they are words of a processor.
#[derive(Debug)]
pub enum Words<'a> {
    /// Bytes.
    U8(&'a mut [u8]),
    /// Words of 32 bits.
    U32(&'a mut [u32]),
    /// Words of 64 bits.
    U64(&'a mut [u64]),
    /// Something else.
    Other,
}

mod sealed {
    /// Keys are closed, and so are the elements that have them: they are what the algorithms know.
    #[allow(unnameable_types, reason = "this is what seals the traits")]
    pub trait Sealed {}
}

macro_rules! radixes {
    ($($type:ty $(=> $words:path)?;)*) => { $(
        impl Radix for $type {
            const BYTES: usize = size_of::<$type>();

            #[inline(always)]
            fn byte(self, k: usize) -> usize {
                (self >> (8 * k)) as usize & 0xff
            }

            #[inline(always)]
            fn above(self, low: Self) -> Option<usize> {
                usize::try_from(self.wrapping_sub(low)).ok()
            }

            #[inline(always)]
            fn in_order(self, other: Self) -> (Self, Self) {
                if size_of::<Self>() < 8 {
                    return (self.min(other), self.max(other));
                }
                // AVX2 has no minimum of 64 bits: without this loops would not be made of vectors.
                let exchanged = (self ^ other) & Self::from(other < self).wrapping_neg();
                (self ^ exchanged, other ^ exchanged)
            }
            $(
                fn words(items: &mut [Self]) -> Words<'_> {
                    $words(items)
                }
            )?
        }
    )* };
}
radixes! { u8 => Words::U8; u16; u32 => Words::U32; u64 => Words::U64; u128; }

macro_rules! keys {
    ($($type:ty => $Pair:ty, $position_bits:literal;)*) => { $(
        impl SortKey for $type {
            type Pair = $Pair;
            const LAST: Self = <$type>::MAX;
            const POSITION_BYTES: usize = $position_bits / 8;

            #[inline(always)]
            fn pair(self, position: usize) -> $Pair {
                (self as $Pair) << $position_bits | position as $Pair
            }
            #[inline(always)]
            fn position(pair: $Pair) -> usize {
                (pair & ((1 << $position_bits) - 1)) as usize
            }
        }
    )* };
}
keys! { u8 => u64, 32; u16 => u64, 32; u32 => u64, 32; u64 => u128, 64; }

impl sealed::Sealed for (u128, usize) {}

/// A key of 128 bits and a position.
impl Radix for (u128, usize) {
    const BYTES: usize = 24;

    #[inline(always)]
    fn byte(self, k: usize) -> usize {
        if k < 8 { (self.1 as u64).byte(k) } else { self.0.byte(k - 8) }
    }
}

impl SortKey for u128 {
    type Pair = (u128, usize);
    const LAST: Self = Self::MAX;
    const POSITION_BYTES: usize = 8;

    #[inline(always)]
    fn pair(self, position: usize) -> (u128, usize) {
        (self, position)
    }
    #[inline(always)]
    fn position(pair: (u128, usize)) -> usize {
        pair.1
    }
}

macro_rules! integers {
    ($($type:ty, $Key:ty, $least:expr, |$key:ident| $back:expr;)*) => { $(
        impl sealed::Sealed for $type {}
        impl Sortable for $type {
            type Key = $Key;
            const SHARED: &'static [Self] = &[];

            #[inline(always)]
            fn key(self, descending: bool) -> $Key {
                const LEAST: $Key = $least as $Key;
                (self as $Key ^ LEAST) ^ (descending as $Key).wrapping_neg()
            }
            #[inline(always)]
            fn from_key(key: $Key, descending: bool) -> Self {
                const LEAST: $Key = $least as $Key;
                let $key = (key ^ (descending as $Key).wrapping_neg()) ^ LEAST;
                $back
            }
            #[inline(always)]
            fn is_own_key(self) -> bool {
                true
            }
        }
    )* };
}
integers! {
    u8, u8, 0, |key| key;
    u16, u16, 0, |key| key;
    u32, u32, 0, |key| key;
    u64, u64, 0, |key| key;
    usize, u64, 0, |key| key as usize;
    u128, u128, 0, |key| key;
    i8, u8, i8::MIN, |key| key as i8;
    i16, u16, i16::MIN, |key| key as i16;
    i32, u32, i32::MIN, |key| key as i32;
    i64, u64, i64::MIN, |key| key as i64;
    isize, u64, isize::MIN, |key| key as isize;
    i128, u128, i128::MIN, |key| key as i128;
    bool, u8, 0, |key| key != 0;
    char, u32, 0, |key| char::from_u32(key).unwrap_or_default();
}

macro_rules! floats {
    ($($(#[$cfg:meta])? $type:ty, $Key:ty, $nan:expr, $zero:expr;)*) => { $(
        $(#[$cfg])?
        impl sealed::Sealed for $type {}
        $(#[$cfg])?
        impl Sortable for $type {
            type Key = $Key;
            const SHARED: &'static [Self] = &[$zero, $nan];

            /// The bits, where negative numbers are complemented and come below the others.
            #[inline(always)]
            fn key(self, descending: bool) -> $Key {
                const SIGN: $Key = 1 << (<$Key>::BITS - 1);
                let bits = if self.to_bits() == SIGN { 0 } else { self.to_bits() };
                let negative = (bits >> (<$Key>::BITS - 1)).wrapping_neg();
                let key = bits ^ (negative | SIGN) ^ (descending as $Key).wrapping_neg();
                if self.is_nan() { <$Key>::MAX } else { key }
            }
            #[inline(always)]
            fn from_key(key: $Key, descending: bool) -> Self {
                const SIGN: $Key = 1 << (<$Key>::BITS - 1);
                let number = key ^ (descending as $Key).wrapping_neg();
                let positive = (number >> (<$Key>::BITS - 1)).wrapping_neg();
                let bits = number ^ (!positive | SIGN);
                if key == <$Key>::MAX { $nan } else { Self::from_bits(bits) }
            }
            #[inline(always)]
            fn is_own_key(self) -> bool {
                const SIGN: $Key = 1 << (<$Key>::BITS - 1);
                !self.is_nan() & (self.to_bits() != SIGN)
            }
        }
    )* };
}
floats! {
    f32, u32, f32::NAN, 0.0;
    f64, u64, f64::NAN, 0.0;
    #[cfg(feature = "half")] half::f16, u16, half::f16::NAN, half::f16::ZERO;
    #[cfg(feature = "half")] half::bf16, u16, half::bf16::NAN, half::bf16::ZERO;
}

#[cfg(test)]
mod tests {
    use super::{SortKey, Sortable};

    /// Keys ascend as elements do, and give the elements back that have a key of their own.
    fn check<T: Sortable + PartialOrd>(ascending: &[T]) {
        for descending in [false, true] {
            for pair in ascending.windows(2) {
                let [a, b] = [pair[0].key(descending), pair[1].key(descending)];
                assert!(if pair[0] == pair[1] { a == b } else { (a < b) != descending });
            }
            for &x in ascending {
                assert!(T::from_key(x.key(descending), descending) == x);
            }
        }
    }

    #[test]
    fn keys_of_integers_ascend() {
        check(&(u8::MIN..=u8::MAX).collect::<Vec<_>>());
        check(&(i8::MIN..=i8::MAX).collect::<Vec<_>>());
        check(&(i16::MIN..=i16::MAX).collect::<Vec<_>>());
        check(&[i128::MIN, -1, 0, 1, i128::MAX]);
        check(&[false, true]);
        check(&['\0', 'a', '\u{d7ff}', '\u{e000}', char::MAX]);
    }

    #[test]
    fn keys_of_floats_ascend() {
        let tiny = f32::from_bits(1);
        check(&[f32::NEG_INFINITY, f32::MIN, -1.0, -tiny, -0.0, 0.0, tiny, 1.0, f32::MAX]);
        check(&[f64::MIN, -1.0, -0.0, 0.0, f64::MIN_POSITIVE, f64::MAX, f64::INFINITY]);
        for descending in [false, true] {
            for nan in [f32::NAN, -f32::NAN, f32::from_bits(0x7f80_0001)] {
                assert!(nan.key(descending) == u32::MAX && !nan.is_own_key());
            }
            assert!(
                f32::INFINITY.key(descending).max(f32::NEG_INFINITY.key(descending)) < u32::MAX
            );
        }
        assert!(0.0_f64.is_own_key() && !(-0.0_f64).is_own_key());
    }

    /// All there are, in order of `f32`.
    #[test]
    #[cfg(feature = "half")]
    fn keys_of_halves_ascend() {
        let mut all: Vec<half::f16> = (0..=u16::MAX).map(half::f16::from_bits).collect();
        all.retain(|x| !x.is_nan());
        all.sort_by(|a, b| a.to_f32().total_cmp(&b.to_f32()));
        check(&all);
    }

    #[test]
    fn pairs_are_in_order_of_key_and_position() {
        assert!(3_u8.pair(9) < 4_u8.pair(0) && 3_u32.pair(8) < 3_u32.pair(9));
        assert!(3_u64.pair(9) < 4_u64.pair(0) && 3_u128.pair(8) < 3_u128.pair(9));
        let last = u32::MAX as usize;
        assert_eq!((u32::position(7_u32.pair(last)), u64::position(7_u64.pair(5))), (last, 5));
        assert_eq!(u128::position(7_u128.pair(5)), 5);
    }
}
