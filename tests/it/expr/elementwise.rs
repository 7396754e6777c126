//! Every elementwise function over views is that function of the elements.

use crate::views::{Plain, bits, dense};
use lensor::arbitrary::{Aligned, Viewed};
use lensor::prelude::*;
use lensor::storage::Sparse;
use quickcheck::quickcheck;

/// What a law expects: the shape and the element function applied to the models.
fn pairwise<T: Copy + Send + Sync, U>(operands: &Aligned<T>, f: impl Fn(T, T) -> U) -> Vec<U> {
    let [a, b] = operands.models();
    a.into_iter().zip(b).map(|(a, b)| f(a, b)).collect()
}

macro_rules! unary_laws {
    ($($law:ident: $elem:ty, |$t:ident| $lazy:expr, |$x:ident| $element:expr;)*) => {
        quickcheck! { $(
            fn $law(viewed: Viewed<$elem>) -> bool {
                let ($t, model) = (viewed.tensor(), dense(&viewed));
                let found = $lazy.eval().unwrap();
                let expected: Vec<_> = model.data.iter().map(|&$x| key($element)).collect();
                let keys: Vec<_> = found.storage().iter().map(|&x| key(x)).collect();
                found.shape() == model.shape && keys == expected
            }
        )* }
    };
}

macro_rules! binary_laws {
    ($($law:ident: $elem:ty, |$a:ident, $b:ident| $lazy:expr, |$x:ident, $y:ident| $element:expr;)*) => {
        quickcheck! { $(
            fn $law(operands: Aligned<$elem>) -> bool {
                let [$a, $b] = operands.tensors();
                let found = $lazy.eval().unwrap();
                let expected = pairwise(&operands, |$x: $elem, $y: $elem| key($element));
                let keys: Vec<_> = found.storage().iter().map(|&x| key(x)).collect();
                found.shape() == *operands.joint() && keys == expected
            }
        )* }
    };
}

/// What tells elements apart: their bits.
trait Key: Copy {
    fn key(self) -> u64;
}

fn key<T: Key>(x: T) -> u64 {
    x.key()
}

impl Key for f64 {
    fn key(self) -> u64 {
        bits(self)
    }
}

macro_rules! keys {
    ($($type:ty)*) => { $(
        impl Key for $type {
            fn key(self) -> u64 {
                self as u64
            }
        }
    )* };
}
keys!(bool i8 u8 i16 i32 i64 u64);

unary_laws! {
    negation_wraps: i8, |t| -&t, |x| x.wrapping_neg();
    complement_turns_all_bits: u8, |t| !&t, |x| !x;
    logical_complement_is_not: bool, |t| !t, |x| !x;
    magnitude_wraps_at_the_least: i8, |t| t.abs(), |x| x.wrapping_abs();
    magnitude_of_floats_clears_the_sign: f64, |t| t.abs(), |x| x.abs();
    square_root_is_exact: f64, |t| t.sqrt(), |x| x.sqrt();
    floor_is_that_of_the_element: f64, |t| t.floor(), |x| x.floor();
    ceil_is_that_of_the_element: f64, |t| t.ceil(), |x| x.ceil();
    round_is_away_from_zero: f64, |t| t.round(), |x| x.round();
    trunc_is_toward_zero: f64, |t| t.trunc(), |x| x.trunc();
    is_nan_finds_nan: f64, |t| t.is_nan(), |x| x.is_nan();
    is_finite_finds_numbers: f64, |t| t.is_finite(), |x| x.is_finite();
    map_is_the_function: i32, |t| t.map(|x| i64::from(x) * 3), |x| i64::from(x) * 3;
    a_third_power_wraps: i8, |t| t.powi(3), |x| x.wrapping_pow(3);
    a_negative_power_of_integers_is_that_of_the_inverse: i8, |t| t.view().map(|x| x | 1).powi(-3), |x| match x | 1 { 1 => 1, -1 => -1, _ => 0_i8 };
    inverses_do_not_wrap: u8, |t| t.view().map(|x| x | 1).powi(-64), |x| u8::from(x | 1 == 1);
    a_zeroth_power_is_one: i32, |t| t.powi(0), |_x| 1_i32;
    a_negative_power_is_one_over: f64, |t| t.powi(-2), |x| 1.0 / (x * x);
    a_scalar_adds_on_the_right: i32, |t| &t + 7, |x| x.wrapping_add(7);
    a_scalar_subtracts_on_the_left: i32, |t| 7 - &t, |x| 7_i32.wrapping_sub(x);
    scalars_on_both_sides_wrap: i8, |t| 100 * (&t + 100) - 3, |x| x.wrapping_add(100).wrapping_mul(100).wrapping_sub(3);
    a_scalar_divides: i32, |t| &t / 3, |x| x / 3;
    the_least_integer_divided_by_minus_one_wraps: i8, |t| &t / -1, |x| x.wrapping_div(-1);
    a_remainder_has_the_sign_of_the_left: i32, |t| &t % -3, |x| x.wrapping_rem(-3);
    a_float_divides_by_zero: f64, |t| &t / 0.0, |x| x / 0.0;
    scalars_mask_bits: u8, |t| 12 & (&t | 5) ^ 3, |x| 12 & (x | 5) ^ 3;
    clamping_holds_between: i32, |t| t.clamp(-5, 9), |x| Ord::clamp(x, -5, 9);
    comparing_with_a_scalar: f64, |t| t.less(0.5), |x| x < 0.5;
    widening_casts_keep_values: i8, |t| t.cast::<i64>(), |x| i64::from(x);
    unchecked_casts_are_as: i32, |t| t.cast_unchecked::<u8>(), |x| x as u8;
    unchecked_casts_from_floats_saturate: f64, |t| t.cast_unchecked::<i8>(), |x| x as i8;
    a_bool_casts_to_zero_or_one: bool, |t| t.cast::<f64>(), |x| f64::from(u8::from(x));
    a_sign_is_one_of_three: i8, |t| t.signum(), |x| x.signum();
    an_unsigned_sign_is_0_or_1: u8, |t| t.signum(), |x| u8::from(x > 0);
    a_sign_of_floats_keeps_zeros_and_nan: f64, |t| t.signum(), |x| if x > 0.0 { 1.0 } else if x < 0.0 { -1.0 } else { x };
    halves_round_to_even: f64, |t| (&t * 0.5).round_ties_even(), |x| (x * 0.5).round_ties_even();
    infinity_is_infinite: f64, |t| (1.0 / &t).is_infinite(), |x| (1.0 / x).abs() == f64::INFINITY;
    logarithms_beside_1_undo_exponentials_beside_0: f64, |t| (&t * 1e-9).exp_m1().ln_1p().minimum(1e99),
        |x| if (x * 1e-9).is_nan() { f64::NAN } else { libm::log1p(libm::expm1(x * 1e-9)).min(1e99) };
    inverse_hyperbolic_cosines_begin_at_1: f64, |t| t.acosh(), |x| if x < 1.0 { f64::NAN } else { libm::acosh(x) };
    far_below_1_there_is_none: u8, |t| t.cast::<f64>().map(|x| -(x + 10.0).exp2()).acosh(), |_x| f64::NAN;
    cube_roots_are_those_of_libm: f64, |t| t.cbrt(), |x| libm::cbrt(x);
    inverse_hyperbolic_functions_are_those_of_libm: f64, |t| t.asinh() + t.atanh(), |x| libm::asinh(x) + libm::atanh(x);
    nonzero_is_true: i16, |t| t.cast::<bool>(), |x| x != 0;
}

binary_laws! {
    addition_wraps: i8, |a, b| &a + &b, |x, y| x.wrapping_add(y);
    addition_of_owned_operands: i32, |a, b| a + b, |x, y| x.wrapping_add(y);
    subtraction_wraps: u8, |a, b| &a - &b, |x, y| x.wrapping_sub(y);
    multiplication_wraps: i16, |a, b| &a * &b, |x, y| x.wrapping_mul(y);
    float_sums_are_those_of_the_elements: f64, |a, b| &a + &b, |x, y| x + y;
    float_quotients_are_those_of_the_elements: f64, |a, b| &a / b, |x, y| x / y;
    float_remainders_are_those_of_the_elements: f64, |a, b| a % &b, |x, y| x % y;
    conjunction_is_bitwise: u8, |a, b| &a & &b, |x, y| x & y;
    disjunction_is_bitwise: u8, |a, b| &a | &b, |x, y| x | y;
    exclusion_is_bitwise: u8, |a, b| &a ^ &b, |x, y| x ^ y;
    logical_operators_are_pointwise: bool, |a, b| (&a & &b) ^ (&a | &b), |x, y| (x & y) ^ (x | y);
    minimum_propagates_nan: f64, |a, b| a.minimum(&b), |x, y| if x.is_nan() || y.is_nan() { f64::NAN } else if x < y { x } else { y };
    maximum_propagates_nan: f64, |a, b| a.maximum(&b), |x, y| if x.is_nan() || y.is_nan() { f64::NAN } else if x > y { x } else { y };
    minimum_of_integers: i32, |a, b| a.minimum(&b), |x, y| Ord::min(x, y);
    maximum_of_integers: u8, |a, b| a.maximum(b), |x, y| Ord::max(x, y);
    equality_is_pointwise: i8, |a, b| a.equal(&b), |x, y| x == y;
    inequality_is_pointwise: f64, |a, b| a.not_equal(&b), |x, y| x != y;
    less_is_false_for_nan: f64, |a, b| a.less(&b), |x, y| x < y;
    less_or_equal_is_false_for_nan: f64, |a, b| a.less_equal(&b), |x, y| x <= y;
    greater_is_false_for_nan: f64, |a, b| a.greater(&b), |x, y| x > y;
    greater_or_equal_is_false_for_nan: f64, |a, b| a.greater_equal(&b), |x, y| x >= y;
    a_hypotenuse_is_that_of_libm: f64, |a, b| a.hypot(&b), |x, y| libm::hypot(x, y);
    a_sign_is_copied_bit_by_bit: f64, |a, b| a.copysign(&b), |x, y| x.copysign(y);
    mul_add_rounds_once: f64, |a, b| a.mul_add(&b, &a), |x, y| x.mul_add(y, x);
    a_closure_sees_both: i32, |a, b| zip_with((&a, &b), |(a, b)| a < b), |x, y| x < y;
}

quickcheck! {
    /// Choosing takes the first where the condition holds and the second elsewhere.
    fn choosing_is_pointwise(operands: Aligned<i32, 3>) -> bool {
        let [c, a, b] = operands.tensors();
        let [x, y, z] = operands.models();
        let found = choose(c.greater(0), &a, &b).eval().unwrap();
        let expected = x.iter().zip(y.iter().zip(&z)).map(|(&c, (&a, &b))| if c > 0 { a } else { b });
        found.shape() == *operands.joint() && found.storage().iter().copied().eq(expected)
    }

    /// Bounds may be views as well, and NaN in any of the three is NaN.
    fn clamping_by_views_propagates_nan(operands: Aligned<f64, 3>) -> bool {
        let [t, low, high] = operands.tensors();
        let [x, y, z] = operands.models();
        let found = t.clamp(&low, &high).eval().unwrap();
        let clamp = |x: f64, low: f64, high: f64| match () {
            _ if x.is_nan() || low.is_nan() || high.is_nan() => f64::NAN,
            _ => { let raised = if x > low { x } else { low }; if raised < high { raised } else { high } }
        };
        let expected = x.iter().zip(y.iter().zip(&z)).map(|(&x, (&y, &z))| bits(clamp(x, y, z)));
        found.storage().iter().map(|&x| bits(x)).eq(expected)
    }

    /// Storage that is read block by block stands beside memory on either side.
    fn read_operands_are_as_good_as_memory(operands: Aligned<i32>) -> bool {
        let [a, b] = operands.operands();
        let read = |viewed: &Viewed<i32>| {
            Tensor::with_map(viewed.chain().map(), Plain(viewed.data().to_vec())).unwrap()
        };
        let expected = pairwise(&operands, |x: i32, y: i32| x.wrapping_mul(3).wrapping_sub(y));
        (read(a) * 3 - b.tensor()).to_vec().unwrap() == expected
            && (a.tensor() * 3 - read(b)).to_vec().unwrap() == expected
            && (read(a) * 3 - read(b)).to_vec().unwrap() == expected
    }
}

macro_rules! checked_laws {
    ($($law:ident: $elem:ty, $lazy:ident, $wrapped:ident, $checked:ident;)*) => {
        quickcheck! { $(
            /// The wrapped results if all fit, and otherwise the first index whose result does not.
            fn $law(operands: Aligned<$elem>) -> bool {
                let [a, b] = operands.tensors();
                let found = a.$lazy(b).eval();
                let all = pairwise(&operands, <$elem>::$checked);
                match all.iter().position(Option::is_none) {
                    None => found.unwrap().storage() == &pairwise(&operands, <$elem>::$wrapped),
                    Some(first) => {
                        let index = operands.joint().index_at(first).unwrap().to_vec();
                        let target = std::any::type_name::<$elem>();
                        found.unwrap_err() == Error::ElementOverflow { index, target }
                    }
                }
            }
        )* }
    };
}
checked_laws! {
    sums_that_fit: i8, checked_add, wrapping_add, checked_add;
    sums_of_bytes_that_fit: u8, checked_add, wrapping_add, checked_add;
    differences_that_fit: i16, checked_sub, wrapping_sub, checked_sub;
    differences_of_counts_that_fit: usize, checked_sub, wrapping_sub, checked_sub;
    products_that_fit: i32, checked_mul, wrapping_mul, checked_mul;
    products_of_bytes_that_fit: u8, checked_mul, wrapping_mul, checked_mul;
}

#[test]
fn results_that_do_not_fit_are_told() {
    let t = Tensor::from_nested([[100_i8, 27], [28, -128]]).unwrap();
    assert_eq!(t.checked_add(27).slice(1, 1..).unwrap().to_vec().unwrap(), [54, -101]);
    let error = t.checked_add(100).eval().unwrap_err();
    assert_eq!(error.to_string(), "the element at [0, 0] does not fit i8");
    assert!(t.checked_sub(1).eval().is_err() && t.checked_mul(2).eval().is_err());
    assert_eq!(t.checked_mul(1).eval().unwrap(), t);
    // Folds and ragged rows meet it as they meet other faults.
    assert_eq!(t.checked_add(100).max(1).eval().unwrap_err(), error);
    let r = lensor::ragged::Ragged::from_nested(vec![vec![1_u8, 255], vec![], vec![7]]).unwrap();
    assert_eq!(r.checked_sub(1).eval().unwrap().to_string(), "[[0, 254], [], [6]]");
    let second = Error::ElementOverflow { index: vec![0, 1], target: "u8" };
    assert_eq!(r.checked_add(1).eval().unwrap_err(), second);
    assert_eq!(r.checked_add(1).sum(1).eval().unwrap_err(), second);
    // Pieces, lists and threads tell the index in the whole.
    let t = Tensor::from(vec![0_i8, 0, 0, 127]);
    let last = Error::ElementOverflow { index: vec![3], target: "i8" };
    assert_eq!(t.checked_add(1).for_each_piece(2, |_| Ok::<_, Error>(())).unwrap_err(), last);
    let list = Tensor::from_vec([2, 2, 1], vec![0, 1, 2, 3]).unwrap();
    let listed = t.checked_add(1).take_at(&list).eval().unwrap_err();
    assert_eq!(listed, Error::ElementOverflow { index: vec![1, 1], target: "i8" });
    let x = Tensor::full([2, 1 << 17], i64::MAX).unwrap();
    let y = x.map(|_| 0).eval().unwrap().into_storage();
    let mut y = Tensor::from_vec([2, 1 << 17], y).unwrap();
    y.set([1, 0], 1).unwrap();
    let expected = Error::ElementOverflow { index: vec![1, 0], target: "i64" };
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let found = pool.install(|| x.checked_add(&y).sum(1).eval());
        assert_eq!(found.unwrap_err(), expected, "{threads}");
    }
}

#[test]
fn results_of_sparse_operands_that_do_not_fit_are_told() {
    let s = Sparse::from_sorted(3, 0_u8, vec![1], vec![200]).unwrap();
    let s = Tensor::new([3], s).unwrap();
    let told = "the element at [1] does not fit u8";
    assert_eq!(s.checked_add(55).to_vec().unwrap(), [55, 255, 55]);
    assert_eq!(s.checked_add(&s).eval().unwrap_err().to_string(), told);
    assert_eq!(s.checked_add(56).eval_sparse().unwrap_err().to_string(), told);
    let first = s.checked_sub(1).eval_sparse().unwrap_err();
    assert_eq!(first.to_string(), "the element at [0] does not fit u8");
    assert_eq!(s.checked_sub(1).eval().unwrap_err(), first);
    assert_eq!(s.checked_mul(1).eval_sparse().unwrap().storage().addresses(), [1]);
}
