//! Products of integers that have to fit.

use super::super::reducer::{step_columns, step_run};
use super::super::{Reducer, Undefined};
use super::by_element::ProductOf;
use super::distances::FEW;
use super::lanes::in_columns;

/// A product of integers: its size without the sign, as long as that is known to have 64 bits.
#[derive(Debug, Clone, Copy)]
pub struct CheckedProduct {
    /// 0 only where a factor is.
    size: u64,
    negative: bool,
    beyond: bool,
}

impl CheckedProduct {
    /// A number of at most 64 bits.
    #[inline(always)]
    fn of(x: i128) -> Self {
        Self { size: x.unsigned_abs() as u64, negative: x < 0, beyond: false }
    }

    /// What is beyond 64 bits stays there, whatever follows, unless that is 0.
    #[inline(always)]
    fn times(self, later: Self) -> Self {
        let (size, over) = self.size.overflowing_mul(later.size);
        let size = size | u64::from(over);
        let beyond = (self.beyond | later.beyond | over) & (size != 0);
        Self { size, negative: self.negative ^ later.negative, beyond }
    }

    fn value(self) -> i128 {
        if self.negative { -i128::from(self.size) } else { self.size.into() }
    }
}

/// Runs and columns are multiplied in 64 bits, and once more, as states, where that overflows.
macro_rules! exact_products {
    ($($element:ty => $total:ty;)*) => { $(
        impl Reducer<$element> for ProductOf {
            type State = CheckedProduct;
            type Out = $total;

            fn empty(&self) -> Option<CheckedProduct> {
                Some(CheckedProduct::of(1))
            }

            #[inline(always)]
            fn first(&self, x: $element) -> CheckedProduct {
                CheckedProduct::of(x as i128)
            }

            #[inline(always)]
            fn combine(&self, state: &mut CheckedProduct, later: CheckedProduct) {
                *state = state.times(later);
            }

            fn undefined(&self, state: &CheckedProduct) -> Option<Undefined> {
                let fits = !state.beyond && <$total>::try_from(state.value()).is_ok();
                (!fits).then_some(Undefined::Overflow)
            }

            fn finish(&self, state: CheckedProduct) -> $total {
                state.value() as $total
            }

            /// In four lanes, as each product waits for the one before.
            #[inline(always)]
            fn fold(&self, run: &[$element], position: usize) -> CheckedProduct {
                if run.len() < 8 {
                    return step_run(self, run, position);
                }
                let (mut lanes, mut over) = ([1 as $total; 4], false);
                let (fours, tail) = run.as_chunks::<4>();
                for four in fours {
                    for (lane, &x) in lanes.iter_mut().zip(four) {
                        let (product, beyond) = lane.overflowing_mul(x as $total);
                        *lane = product;
                        over |= beyond;
                    }
                }
                if over {
                    return step_run(self, run, position);
                }
                let [first, rest @ ..] = lanes.map(|lane| CheckedProduct::of(lane as i128));
                let tail = tail.iter().map(|&x| CheckedProduct::of(x as i128));
                rest.into_iter().chain(tail).fold(first, CheckedProduct::times)
            }

            #[inline(always)]
            fn fold_columns(&self, rows: &[&[$element]], position: usize, states: &mut Vec<CheckedProduct>) {
                if rows.len() * rows[0].len() <= FEW {
                    return step_columns(self, rows, position, states);
                }
                let mut products = Vec::new();
                in_columns(rows, &mut products, |x| (x as $total, false), |(a, over), (b, more)| {
                    let (product, beyond) = a.overflowing_mul(b);
                    (product, over | more | beyond)
                });
                states.clear();
                states.extend(products.into_iter().enumerate().map(|(k, (product, over))| match over {
                    true => rows.iter().fold(CheckedProduct::of(1), |state, row| {
                        state.times(CheckedProduct::of(row[k] as i128))
                    }),
                    false => CheckedProduct::of(product as i128),
                }));
            }
        }
    )* };
}
exact_products! {
    i8 => i64; i16 => i64; i32 => i64; i64 => i64;
    u8 => u64; u16 => u64; u32 => u64; u64 => u64;
    isize => i64; usize => u64; bool => u64;
}

#[cfg(test)]
mod tests {
    use super::{ProductOf, Reducer};

    /// Runs and columns of these factors against products in 128 bits, which only grow where no factor is 0.
    macro_rules! holds {
        ($element:ty => $total:ty: $factors:expr) => {
            let factors: &[$element] = $factors;
            let result = |state| {
                let undefined = Reducer::<$element>::undefined(&ProductOf, &state);
                undefined
                    .map_or_else(|| Some(Reducer::<$element>::finish(&ProductOf, state)), |_| None)
            };
            for (length, seed) in (1..40).flat_map(|length| (1..6).map(move |seed| (length, seed)))
            {
                let factor = |row: usize, k: usize| {
                    factors[(row * row * seed + row + k * 7) % factors.len()]
                };
                let column = |k: usize| (0..length).map(|row| factor(row, k)).collect::<Vec<_>>();
                let expected = |k: usize| match column(k) {
                    column if column.contains(&0) => Some(0),
                    column => {
                        let exact =
                            column.iter().try_fold(1_i128, |all, &x| all.checked_mul(x as i128));
                        exact.and_then(|all| <$total>::try_from(all).ok())
                    }
                };
                let rows: Vec<Vec<$element>> =
                    (0..length).map(|row| (0..9).map(|k| factor(row, k)).collect()).collect();
                let rows: Vec<&[$element]> = rows.iter().map(Vec::as_slice).collect();
                let mut states = Vec::new();
                ProductOf.fold_columns(&rows, 0, &mut states);
                for (k, state) in states.into_iter().enumerate() {
                    assert_eq!(result(state), expected(k), "column {:?}", column(k));
                    assert_eq!(
                        result(Reducer::<$element>::fold(&ProductOf, &column(k), 0)),
                        expected(k),
                        "run {:?}",
                        column(k)
                    );
                    // All joins at once, and the rest joined to a part.
                    let (part, rest) = rows.split_at(length / 2);
                    let of = |rows: &[&[$element]]| {
                        let product = rows.iter().map(|row| ProductOf.first(row[k]));
                        product.reduce(|mut all, x| {
                            Reducer::<$element>::combine(&ProductOf, &mut all, x);
                            all
                        })
                    };
                    let joined = of(part).into_iter().chain(of(rest)).reduce(|mut all, x| {
                        Reducer::<$element>::combine(&ProductOf, &mut all, x);
                        all
                    });
                    assert_eq!(joined.and_then(result), expected(k), "joined {:?}", column(k));
                }
            }
        };
    }

    #[test]
    fn products_fit_or_are_refused() {
        holds!(i64 => i64: &[1, -1, 2, -1, 1, 1 << 31, 1, 1, -3, 1, 1]);
        holds!(i64 => i64: &[-1, 1, 1 << 32, -(1 << 31), 1, -1, 1]);
        holds!(i64 => i64: &[i64::MIN, 1, -1, 1, 1, 0, i64::MAX, 5, 1, 1, -1, 1, 1]);
        holds!(i64 => i64: &[1, 1, 1, i64::MIN, 1, -1, 1, 1, 1, 1, 1, -1, 1, 1, 1, 1, 1]);
        holds!(u64 => u64: &[1, 1 << 32, 1, 1, 1, 1 << 31, 1, 1, 1, 2, 1]);
        holds!(u64 => u64: &[u64::MAX, 1, 1, 1, 1, 1, 0, 1 << 63, 1, 2, 1, 1, 1]);
        holds!(i8 => i64: &[-128, 2, 1, -1, 1]);
        holds!(i8 => i64: &[-2, 2, 1, 1, 1, 0, -1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
        holds!(u8 => u64: &[255, 1, 2, 1, 1]);
    }
}
