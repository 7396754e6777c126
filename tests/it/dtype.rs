//! Elementary functions against sums of their series in rational numbers.

use lensor::dtype::Real;
use lensor::prelude::*;
use num_rational::BigRational;
use std::sync::LazyLock;

/// The nearest multiple of 2^-150, so that numbers stay short.
fn short(x: BigRational) -> BigRational {
    let unit = power_of_2(150);
    (x * &unit).round() / unit
}

fn number(x: f64) -> BigRational {
    BigRational::from_float(x).unwrap()
}

fn power_of_2(k: i32) -> BigRational {
    number(2.0).pow(k)
}

/// 2 atanh(s) for |s| below 0.4.
fn twice_atanh(s: &BigRational) -> BigRational {
    let square = short(s * s);
    let (mut term, mut sum) = (s.clone(), number(0.0));
    for k in 0..50 {
        sum += short(&term / number(f64::from(2 * k + 1)));
        term = short(term * &square);
    }
    number(2.0) * sum
}

static LN_2: LazyLock<BigRational> =
    LazyLock::new(|| twice_atanh(&short(number(1.0) / number(3.0))));

/// The logarithm of a positive number.
fn exact_ln(x: f64) -> BigRational {
    let scale = if x < f64::MIN_POSITIVE { 100 } else { 0 };
    let k = (x * 2_f64.powi(scale)).log2().round() as i32 - scale;
    let m = number(x) / power_of_2(k);
    twice_atanh(&short((&m - number(1.0)) / (m + number(1.0)))) + &*LN_2 * number(k.into())
}

/// `e^x` divided by a power of 2, and that power.
fn exact_exp(x: f64) -> (BigRational, i32) {
    exact_power(number(x), x)
}

/// The same of a number near `x`.
fn exact_power(exact: BigRational, x: f64) -> (BigRational, i32) {
    let k = (x * std::f64::consts::LOG2_E).round() as i32;
    let r = short(exact - &*LN_2 * number(k.into()));
    let (mut term, mut sum) = (number(1.0), number(0.0));
    for n in 1..36 {
        sum += &term;
        term = short(term * &r / number(n.into()));
    }
    (sum, k)
}

fn exact_tanh(x: f64) -> BigRational {
    let (e, k) = exact_exp(2.0 * x);
    let e = e * power_of_2(k);
    (&e - number(1.0)) / (e + number(1.0))
}

/// How far `found` is from `exact`, in steps between it and its neighbour.
fn ulps(found: f64, exact: &BigRational) -> f64 {
    let step = found.abs().next_up() - found.abs();
    let apart = (number(found) - exact) / number(step);
    let whole = (apart * number(1e6)).round().to_integer();
    whole.to_string().parse::<f64>().unwrap() / 1e6
}

/// Evenly spread numbers in a range.
fn spread(low: f64, high: f64, count: u32) -> impl Iterator<Item = f64> {
    (0..count).map(move |k| {
        let part = f64::from(k.wrapping_mul(2_654_435_769)) / f64::from(u32::MAX);
        low + (high - low) * part
    })
}

fn worst(
    points: impl Iterator<Item = f64>,
    f: fn(f64) -> f64,
    exact: fn(f64) -> BigRational,
) -> f64 {
    points.map(|x| ulps(f(x), &exact(x)).abs()).fold(0.0, f64::max)
}

#[test]
fn exponentials_are_within_a_step() {
    let exact = |x| {
        let (e, k) = exact_exp(x);
        e * power_of_2(k)
    };
    let near = [
        0.0,
        1e-300,
        -1e-17,
        1e-9,
        0.346_573,
        -0.346_574,
        0.347,
        1.0,
        709.78,
        -708.3,
        709.782_712_893_383_9,
    ];
    let error = worst(
        near.into_iter().chain(spread(-708.0, 709.7, 120)).chain(spread(-2.0, 2.0, 120)),
        Real::exp,
        exact,
    );
    assert!(error < 1.0, "{error}");
    // Steps of subnormal results are as wide as their errors.
    let error = worst(spread(-745.0, -708.4, 100), Real::exp, exact);
    assert!(error <= 1.0, "{error}");
    assert_eq!(Real::exp(-745.2_f64), 0.0);
    assert_eq!(Real::exp(709.782_712_893_384_1_f64), f64::INFINITY);
    for x in [f64::NAN, -f64::NAN] {
        assert!(Real::exp(x).is_nan() && Real::ln(x).is_nan() && Real::tanh(x).is_nan());
    }
    let limits = [f64::NEG_INFINITY, f64::MIN, 0.0, -0.0, f64::MAX, f64::INFINITY].map(Real::exp);
    assert_eq!(limits, [0.0, 0.0, 1.0, 1.0, f64::INFINITY, f64::INFINITY]);
}

#[test]
fn logarithms_are_within_a_step() {
    let near = [
        1.0_f64.next_up(),
        1.0_f64.next_down(),
        0.99,
        1.01,
        0.707,
        0.7075,
        1.414,
        1.4145,
        2.0,
        5e-324,
        3e-310,
    ];
    let ranges = spread(0.5, 2.0, 120).chain(spread(-1070.0, 1023.9, 120).map(f64::exp2));
    let error = worst(
        near.into_iter().chain(ranges).chain([f64::MAX, f64::MIN_POSITIVE]),
        Real::ln,
        exact_ln,
    );
    assert!(error < 1.0, "{error}");
    let limits = [0.0, -0.0, 1.0, f64::INFINITY].map(Real::ln);
    assert_eq!(limits, [f64::NEG_INFINITY, f64::NEG_INFINITY, 0.0, f64::INFINITY]);
    for x in [-5e-324, -1.0, f64::MIN, f64::NEG_INFINITY] {
        assert!(Real::ln(x).is_nan(), "{x}");
    }
}

#[test]
fn tangents_are_within_three_steps() {
    let small = spread(-50.0, -2.0, 60).map(f64::exp2);
    let error = worst(
        small.chain(spread(-1.0, 1.0, 120)).chain(spread(1.0, 25.0, 100)),
        Real::tanh,
        exact_tanh,
    );
    assert!(error < 2.5, "{error}");
    for (x, expected) in
        [(0.0, 0.0), (5e-324, 5e-324), (23.0, 1.0), (f64::MAX, 1.0), (f64::INFINITY, 1.0)]
    {
        assert_eq!((Real::tanh(x), Real::tanh(-x)), (expected, -expected));
    }
    assert!(Real::tanh(-0.0_f64).is_sign_negative() && Real::tanh(0.0_f64).is_sign_positive());
}

/// What is computed in `f64` and rounded is what `f64` functions give, rounded, but where that lies between two.
#[test]
fn narrow_floats_are_rounded_once() {
    let numbers = || spread(-110.0, 95.0, 2000).chain(spread(-3.0, 3.0, 2000)).map(|x| x as f32);
    for x in numbers() {
        let wide = f64::from(x);
        let close = |found: f32, exact: f64| {
            let step = f64::from(found.abs().next_up() - found.abs());
            assert!(
                f64::from(found) == exact || (f64::from(found) - exact).abs() < 0.51 * step,
                "{x} {found} {exact}"
            );
        };
        let exp = Real::exp(wide);
        if exp < f64::from(f32::MAX) {
            close(Real::exp(x), exp);
        } else {
            assert_eq!(Real::exp(x), f32::INFINITY);
        }
        let power = wide.exp2() as f32;
        if power > 0.0 {
            close(Real::ln(power), Real::ln(f64::from(power)));
        }
        close(Real::tanh(x), Real::tanh(wide));
    }
    let limits = [f32::NEG_INFINITY, f32::MIN, -0.0, f32::MAX, f32::INFINITY].map(Real::exp);
    assert_eq!(limits, [0.0, 0.0, 1.0, f32::INFINITY, f32::INFINITY]);
    assert_eq!([0.0, 1.0, f32::INFINITY].map(Real::ln), [f32::NEG_INFINITY, 0.0, f32::INFINITY]);
    assert!(
        Real::ln(-1.0_f32).is_nan() && Real::ln(f32::NAN).is_nan() && Real::exp(f32::NAN).is_nan()
    );
}

#[test]
fn powers_are_within_a_step() {
    let pairs = spread(0.5, 2.0, 60).zip(spread(-700.0, 700.0, 60));
    let pairs = pairs.chain(spread(0.01, 9.0, 60).zip(spread(-5.0, 5.0, 60)));
    let pairs = pairs.chain(spread(-900.0, 900.0, 60).map(f64::exp2).zip(spread(-1.1, 1.1, 60)));
    let near_one = (1..30).map(|k| (1.0 + f64::from(k) * f64::EPSILON, 1e17 / f64::from(k)));
    let pairs =
        pairs.chain(near_one).chain([(3.0, 40.0), (0.1, 17.0), (1.4, 2000.0), (0.71, -2000.0)]);
    for (x, y) in pairs {
        let product = exact_ln(x) * number(y);
        let (e, k) = exact_power(product, y * x.ln());
        let exact = e * power_of_2(k);
        let found = Real::powf(x, y);
        if found.is_normal() {
            let error = ulps(found, &exact).abs();
            assert!(error < 1.0, "{x} {y} {error}");
        } else {
            assert!((found - x.powf(y)).abs() <= 5e-324 || found == x.powf(y), "{x} {y} {found}");
        }
    }
    for (x, y) in [(2.0, 10.0), (-3.0, 3.0), (10.0, 22.0), (0.5, -4.0), (2.0, -1074.0), (1.5, 1.0)]
    {
        assert_eq!(Real::powf(x, y), f64::powf(x, y));
    }
    let infinite = f64::INFINITY;
    let special = [
        0.0,
        5e-324,
        0.5,
        1.0,
        2.0,
        3.0,
        4.5,
        1e30,
        9_007_199_254_740_993.0,
        f64::MAX,
        infinite,
        f64::NAN,
    ];
    let special = special.into_iter().flat_map(|x| [x, -x]);
    for x in special.clone() {
        for y in special.clone() {
            // The standard library's are those of C, which has the same special cases.
            let (found, expected) = (Real::powf(x, y), x.powf(y));
            let same = found.is_nan() && expected.is_nan();
            let near = (found - expected).abs() <= expected.abs() * 2.0 * f64::EPSILON;
            let signs = found.is_sign_negative() == expected.is_sign_negative();
            assert!(same || (found == expected || near) && signs, "{x} {y} {found} {expected}");
        }
    }
}

/// Powers of `f32` against those of `f64`, and the special cases of IEEE 754.
#[test]
fn powers_of_narrow_floats_are_rounded_once() {
    let numbers = || spread(-20.0, 20.0, 97).chain(spread(0.0, 3.0, 97)).map(|x| x as f32);
    for x in numbers() {
        for y in numbers().chain((-9..9).map(|y| y as f32)) {
            let (found, exact) = (Real::powf(x, y), f64::from(x).powf(f64::from(y)));
            let step = f64::from(found.abs().next_up() - found.abs());
            let close = (f64::from(found) - exact).abs() < 0.51 * step;
            let fits = exact.abs() <= f64::from(f32::MAX);
            let same = found.is_nan() && exact.is_nan() || !fits && found == exact as f32;
            assert!(close || same, "{x} {y} {found} {exact}");
        }
    }
    let infinite = f32::INFINITY;
    let special =
        [0.0, 0.5, 1.0, 2.0, 3.0, 4.5, 1e30, infinite, f32::NAN].into_iter().flat_map(|x| [x, -x]);
    for x in special.clone() {
        for y in special.clone() {
            // The standard library's are those of C, which has the same special cases.
            let (found, expected) = (Real::powf(x, y), x.powf(y));
            let same = found.is_nan() && expected.is_nan();
            let near = (found - expected).abs() <= expected.abs() * f32::EPSILON;
            let signs = found.is_sign_negative() == expected.is_sign_negative();
            assert!(same || (found == expected || near) && signs, "{x} {y} {found} {expected}");
        }
    }
}

/// Vector instructions give the bits of single calls, at every length and under every view.
#[test]
fn loops_give_the_bits_of_calls() -> Result<(), Error> {
    let special = [0.0, -0.0, 1.0, f64::INFINITY, f64::NEG_INFINITY, 5e-324, -1e300, 1e300];
    let x: Vec<f64> = spread(-800.0, 800.0, 150).chain(special).collect();
    let check = |found: Vec<f64>, x: &mut dyn Iterator<Item = f64>, f: fn(f64) -> f64| {
        let same = |(found, x): (&f64, f64)| {
            found.to_bits() == f(x).to_bits() || found.is_nan() && f(x).is_nan()
        };
        assert!(found.iter().zip(x).all(same));
    };
    for start in 0..x.len() {
        let t = Tensor::from(&x[start..]);
        check(t.exp().to_vec()?, &mut x[start..].iter().copied(), Real::exp);
        check(t.ln().to_vec()?, &mut x[start..].iter().copied(), Real::ln);
        check(t.tanh().to_vec()?, &mut x[start..].iter().copied(), Real::tanh);
        check(t.flip(0)?.exp().to_vec()?, &mut x[start..].iter().rev().copied(), Real::exp);
    }
    Ok(())
}

/// Half precision has the nearest number, of ties the even one, whatever is converted.
#[cfg(feature = "half")]
#[test]
fn casts_to_half_precision_round_once() {
    use crate::support::Random;
    use num_traits::{FromPrimitive, Signed};
    macro_rules! nearest {
        ($Half:ty, $exact:expr, $found:expr) => {{
            let (exact, found): (BigRational, $Half) = ($exact, $found);
            let away = |bits: u16| {
                let own = <$Half>::from_bits(bits).to_f64();
                own.is_finite().then(|| (number(own) - &exact).abs())
            };
            let bits = found.to_bits();
            if let Some(own) = away(bits) {
                for other in [bits.wrapping_add(1), bits.wrapping_sub(1)] {
                    if let Some(other) = away(other).filter(|_| bits & 0x7fff != 0) {
                        assert!(own < other || own == other && bits & 1 == 0, "{exact} {found}");
                    }
                }
            }
        }};
    }
    let mut random = Random(3);
    for _ in 0..3000 {
        let scale = 2_f64.powi(random.below(40) as i32 - 26);
        let coarse = (random.below(4096) as f64 + 2048.0) / 2048.0;
        let near = [0.0, 1.0, -1.0][random.below(3)] * 2_f64.powi(-(random.below(30) as i32) - 20);
        let x = scale * (coarse + near);
        nearest!(half::f16, number(x), Tensor::from(vec![x]).cast::<half::f16>().item().unwrap());
        nearest!(
            half::bf16,
            number(x),
            Tensor::from(vec![-x]).cast::<half::bf16>().item().unwrap() * -half::bf16::ONE
        );
        let integer =
            ((random.below(512) as i64 + 256) << random.below(52)) + random.below(3) as i64 - 1;
        let exact = BigRational::from_i64(integer).unwrap();
        nearest!(
            half::bf16,
            exact,
            Tensor::from(vec![integer]).cast::<half::bf16>().item().unwrap()
        );
        let wide = i128::from(integer) << 20;
        let exact = BigRational::from_i128(wide).unwrap();
        nearest!(half::bf16, exact, Tensor::from(vec![wide]).cast::<half::bf16>().item().unwrap());
    }
    let halves = [1.0 + 2_f64.powi(-11) + 2_f64.powi(-40), 2049.000001, 1e300, -1e300, f64::NAN];
    let found = Tensor::from(halves.to_vec()).cast::<half::f16>().to_vec().unwrap();
    assert_eq!(found[..2], [half::f16::from_f32(1.000_976_6), half::f16::from_f32(2050.0)]);
    assert!(found[2].is_infinite() && found[3].is_infinite() && found[4].is_nan());
    let largest = Tensor::from(vec![u128::MAX]).cast::<half::bf16>().item().unwrap();
    assert!(largest.is_infinite());
}

/// Cube roots in half precision are the nearest numbers: exact cubes of what is half way to their neighbours lie around.
#[cfg(feature = "half")]
#[test]
fn cube_roots_in_half_precision_round_once() {
    macro_rules! nearest {
        ($Half:ty) => {{
            let infinite = <$Half>::INFINITY.to_bits();
            for bits in 1..infinite {
                let x = <$Half>::from_bits(bits);
                let root = Real::cbrt(x);
                let cube = |neighbour: u16| {
                    let middle = (root.to_f64() + <$Half>::from_bits(neighbour).to_f64()) / 2.0;
                    middle * middle * middle
                };
                let (low, high) = (cube(root.to_bits() - 1), cube(root.to_bits() + 1));
                assert!(low < x.to_f64() && x.to_f64() < high, "{x} {root}");
                assert_eq!(Real::cbrt(-x), -root);
            }
            let ends = [<$Half>::ZERO, <$Half>::INFINITY];
            assert_eq!(ends.map(Real::cbrt), ends);
            assert!(Real::is_nan(Real::cbrt(<$Half>::NAN)));
        }};
    }
    nearest!(half::f16);
    nearest!(half::bf16);
}
