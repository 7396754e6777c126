//! Quotients and remainders by one number are those of divisions.

use crate::support::Random;
use lensor::prelude::*;
use quickcheck::quickcheck;

/// Asserts that numbers are divided as by themselves, by each of some divisors.
macro_rules! divides {
    ($type:ty: $numbers:expr, $divisors:expr) => {{
        let numbers: Vec<$type> = $numbers;
        let t = Tensor::from(numbers.clone());
        for by in $divisors {
            let by: $type = by;
            if by == 0 {
                let fault = Error::Arithmetic { index: vec![0] };
                assert_eq!((&t / by).to_vec().unwrap_err(), fault);
                assert_eq!((&t % by).to_vec().unwrap_err(), fault);
                continue;
            }
            let of = |f: fn($type, $type) -> $type| numbers.iter().map(|x| f(*x, by)).collect();
            let [quotients, remainders]: [Vec<$type>; 2] =
                [of(<$type>::wrapping_div), of(<$type>::wrapping_rem)];
            assert_eq!((&t / by).to_vec().unwrap(), quotients, "{}: / {by}", stringify!($type));
            assert_eq!((&t % by).to_vec().unwrap(), remainders, "{}: % {by}", stringify!($type));
        }
    }};
}

/// Numbers of all lengths, powers of two and what lies around them, of both signs.
macro_rules! numbers {
    ($type:ty) => {{
        let (mut random, mut numbers) = (Random(1), Vec::new());
        for k in 0..<$type>::BITS {
            let any = (random.below(1 << 30) as u128)
                .wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)
                as $type;
            let power = (1 as $type) << k;
            let some = [power.wrapping_sub(1), power, power.wrapping_add(1), any >> k];
            numbers.extend(some.into_iter().flat_map(|x| [x, (0 as $type).wrapping_sub(x)]));
        }
        numbers
    }};
}

/// Numbers by some of them, and multiples of these and their neighbours.
macro_rules! of_all_lengths {
    ($($name:ident $type:ty;)*) => { $(
        #[test]
        fn $name() {
            let numbers = numbers!($type);
            for &by in numbers.iter().step_by(11).chain([0, 1, 3, 7, 10, 641].iter()) {
                let most = if by == 0 { 0 } else { <$type>::MAX.wrapping_div(by) };
                let multiples = [1, 2, most / 2, most].map(|k| by.wrapping_mul(k));
                let near = multiples.iter().flat_map(|x| {
                    [x.wrapping_sub(1), *x, x.wrapping_add(1)]
                });
                divides!($type: numbers.iter().copied().chain(near).collect(), [by]);
            }
        }
    )* };
}

of_all_lengths! {
    i16s_by_numbers_of_all_lengths i16;
    u16s_by_numbers_of_all_lengths u16;
    i32s_by_numbers_of_all_lengths i32;
    u32s_by_numbers_of_all_lengths u32;
    i64s_by_numbers_of_all_lengths i64;
    u64s_by_numbers_of_all_lengths u64;
    isizes_by_numbers_of_all_lengths isize;
    usizes_by_numbers_of_all_lengths usize;
    i128s_by_numbers_of_all_lengths i128;
    u128s_by_numbers_of_all_lengths u128;
}

#[test]
fn all_bytes_by_all_bytes() {
    divides!(u8: (0..=255).collect(), 0..=255);
    divides!(i8: (-128..=127).collect(), -128..=127);
}

#[test]
fn floats_have_the_remainders_of_rust() {
    let numbers = [0.0, -0.0, 7.5, -7.5, f64::INFINITY, 1e300, 5e-324];
    let t = Tensor::from(numbers.to_vec());
    for by in [2.0, -0.7, 0.0, f64::INFINITY, 5e-324] {
        let bits = |x: f64| x.to_bits() << u32::from(x.is_nan());
        let found: Vec<u64> = (&t % by).to_vec().unwrap().into_iter().map(bits).collect();
        assert_eq!(found, numbers.map(|x| bits(x % by)), "{by}");
    }
}

quickcheck! {
    fn any_i64s_by_any(numbers: Vec<i64>, by: i64) -> bool {
        divides!(i64: [vec![1], numbers].concat(), [by]);
        true
    }

    fn any_u64s_by_any(numbers: Vec<u64>, by: u64) -> bool {
        divides!(u64: [vec![1], numbers].concat(), [by]);
        true
    }

    fn any_i32s_by_any(numbers: Vec<i32>, by: i32) -> bool {
        divides!(i32: [vec![1], numbers].concat(), [by]);
        true
    }

    fn any_u32s_by_any(numbers: Vec<u32>, by: u32) -> bool {
        divides!(u32: [vec![1], numbers].concat(), [by]);
        true
    }
}
