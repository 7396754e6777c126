//! Products of integers that have to fit.

use super::super::{Reducer, Undefined};
use super::by_element::ProductOf;

/// A product of integers: its value, as long as that is known to fit.
#[derive(Debug, Clone, Copy)]
pub struct CheckedProduct<T>(Option<T>);

macro_rules! exact_products {
    ($($element:ty => $total:ty, $wide:ty;)*) => { $(
        impl Reducer<$element> for ProductOf {
            type State = CheckedProduct<$wide>;
            type Out = $total;

            fn empty(&self) -> Option<Self::State> {
                Some(CheckedProduct(Some(1)))
            }

            #[inline(always)]
            fn first(&self, x: $element) -> Self::State {
                CheckedProduct(Some(x as $wide))
            }

            /// What is beyond 64 bits stays there, whatever follows, unless that is 0.
            #[inline(always)]
            fn combine(&self, state: &mut Self::State, later: Self::State) {
                let fits = |x: &$wide| {
                    <$total>::try_from(*x).is_ok() || x.checked_neg().is_some_and(|x| <$total>::try_from(x).is_ok())
                };
                state.0 = match (state.0, later.0) {
                    (Some(a), Some(b)) => a.checked_mul(b).filter(fits),
                    (Some(0), None) | (None, Some(0)) => Some(0),
                    _ => None,
                };
            }

            fn undefined(&self, state: &Self::State) -> Option<Undefined> {
                let fits = state.0.is_some_and(|x| <$total>::try_from(x).is_ok());
                (!fits).then_some(Undefined::Overflow)
            }

            fn finish(&self, state: Self::State) -> $total {
                state.0.unwrap_or_default() as $total
            }
        }
    )* };
}
exact_products! {
    i8 => i64, i128; i16 => i64, i128; i32 => i64, i128; i64 => i64, i128;
    u8 => u64, u128; u16 => u64, u128; u32 => u64, u128; u64 => u64, u128;
    isize => i64, i128; usize => u64, u128; bool => u64, u128;
}
