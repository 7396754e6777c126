//! Operators take operands of every kind, on either side, dense and ragged.

use lensor::gufunc::{Elementary, Gufunc};
use lensor::prelude::*;
use lensor::ragged::{ElementwiseRagged, LanesRagged, Ragged, ReduceRagged};

const ELEMENTS: [i64; 5] = [1, 2, 5, 6, 7];

fn of(f: impl Fn(i64) -> i64) -> Vec<i64> {
    ELEMENTS.map(f).to_vec()
}

/// Every operator between an operand, of one or another kind, and a number.
macro_rules! operators {
    ($($x:expr),* $(,)?) => { $(
        assert_eq!(($x + 3).to_vec().unwrap(), of(|x| x + 3));
        assert_eq!((3 + $x).to_vec().unwrap(), of(|x| 3 + x));
        assert_eq!(($x - 3).to_vec().unwrap(), of(|x| x - 3));
        assert_eq!((3 - $x).to_vec().unwrap(), of(|x| 3 - x));
        assert_eq!(($x * 3).to_vec().unwrap(), of(|x| x * 3));
        assert_eq!((3 * $x).to_vec().unwrap(), of(|x| 3 * x));
        assert_eq!(($x / 3).to_vec().unwrap(), of(|x| x / 3));
        assert_eq!((30 / $x).to_vec().unwrap(), of(|x| 30 / x));
        assert_eq!(($x % 3).to_vec().unwrap(), of(|x| x % 3));
        assert_eq!((30 % $x).to_vec().unwrap(), of(|x| 30 % x));
        assert_eq!(($x & 3).to_vec().unwrap(), of(|x| x & 3));
        assert_eq!((3 & $x).to_vec().unwrap(), of(|x| 3 & x));
        assert_eq!(($x | 3).to_vec().unwrap(), of(|x| x | 3));
        assert_eq!((3 | $x).to_vec().unwrap(), of(|x| 3 | x));
        assert_eq!(($x ^ 3).to_vec().unwrap(), of(|x| x ^ 3));
        assert_eq!((3 ^ $x).to_vec().unwrap(), of(|x| 3 ^ x));
        assert_eq!((-$x).to_vec().unwrap(), of(|x| -x));
        assert_eq!((!$x).to_vec().unwrap(), of(|x| !x));
    )* };
}

/// The difference and quotient of operands of all kinds, two at a time.
macro_rules! pairs {
    ($($x:expr),+; $others:tt) => { $( pairs!(@ $x; $others); )+ };
    (@ $x:expr; [$($y:expr),+ $(,)?]) => { $(
        assert_eq!(($x - 2 * $y).to_vec().unwrap(), of(|x| -x));
        assert_eq!(($x / $y).to_vec().unwrap(), of(|_| 1));
    )+ };
}

fn ones() -> Gufunc<[i64; 1], [i64; 1], impl Elementary<[i64; 1], [i64; 1]>> {
    Gufunc::<[i64; 1], [i64; 1], _>::each("()->()", |[x], [mut y]| y[0] = x[0]).unwrap()
}

#[test]
fn of_dense_operands() {
    let t = Tensor::from(ELEMENTS.to_vec());
    let (same, lazy, deferred) = (ones(), &t + 0, t.sort(0, SortOrder::Ascending));
    let call = same.call([&t]);
    operators!(
        &t,
        t.clone(),
        t.view(),
        &lazy,
        lazy.clone(),
        &deferred,
        t.sort(0, SortOrder::Ascending),
        &call,
        same.call([&t]),
    );
    assert_eq!(
        [call.view().abs().to_vec(), call.view().sum(0).to_vec()],
        [Ok(ELEMENTS.to_vec()), Ok(vec![21])]
    );
    pairs!(&t, &lazy, &deferred, &call; [&t, t.view(), lazy.clone(), &deferred, &call, same.call([&t])]);
}

#[test]
fn of_ragged_operands() {
    let r = Ragged::from_nested(vec![ELEMENTS[..2].to_vec(), vec![], ELEMENTS[2..].to_vec()]);
    let r = r.unwrap();
    let (same, lazy, deferred) = (ones(), &r + 0, r.sort(1, SortOrder::Ascending));
    let call = same.call_ragged([&r]);
    operators!(
        &r,
        r.clone(),
        r.view(),
        &lazy,
        lazy.clone(),
        &deferred,
        r.sort(1, SortOrder::Ascending),
        &call,
        same.call_ragged([&r]),
    );
    pairs!(&r, &lazy, &deferred, &call; [&r, r.view(), lazy.clone(), &deferred, &call, same.call_ragged([&r])]);
    assert_eq!(
        [call.view().abs().to_vec(), call.view().sum(1).to_vec()],
        [Ok(ELEMENTS.to_vec()), Ok(vec![3, 0, 18])]
    );
    assert_eq!(r.powi(2).to_vec().unwrap(), of(|x| x * x));
    assert_eq!((&r + 255).cast_unchecked::<u8>().to_vec().unwrap(), [0, 1, 4, 5, 6]);
    let real = r.cast::<f64>().mul_add(2.0, 0.5).to_vec().unwrap();
    assert_eq!(real, [2.5, 4.5, 10.5, 12.5, 14.5]);
}

#[cfg(feature = "complex")]
#[test]
fn signs_of_complex_numbers_are_directions() {
    let (tiny, inf, nan) = (f64::from_bits(1), f64::INFINITY, f64::NAN);
    let half = 0.5_f64.sqrt();
    for ([re, im], expected) in [
        ([3.0, -4.0], [0.6, -0.8]),
        ([0.0, -0.0], [0.0, -0.0]),
        ([-2.0, 0.0], [-1.0, 0.0]),
        ([1.7e308, 1.7e308], [half, half]),
        ([tiny, -tiny], [half, -half]),
        ([inf, 1.0], [1.0, 0.0]),
        ([-inf, inf], [-half, half]),
        ([nan, inf], [nan, inf]),
    ] {
        let number = num_complex::Complex::new(re, im);
        let sign = Tensor::full([], number).unwrap().signum().item().unwrap();
        let near = |a: f64, b: f64| (a.is_nan() && b.is_nan()) || a == b || (a - b).abs() < 1e-15;
        assert!(near(sign.re, expected[0]) && near(sign.im, expected[1]), "{number}: {sign}");
    }
}

/// Complex quotients of numbers whose squares overflow or vanish; the bits of others are those of the formula.
#[cfg(feature = "complex")]
#[test]
fn complex_quotients_of_any_size() {
    use num_complex::Complex;
    let quotient = |a: Complex<f64>, b: Complex<f64>| {
        (&Tensor::from(vec![a]) / &Tensor::from(vec![b])).eval().unwrap().storage()[0]
    };
    let real = |x: f64| Complex::new(x, 0.0);
    for x in [1e200, 1e-200, 5e-324, f64::MAX, f64::MIN_POSITIVE] {
        assert_eq!(quotient(real(x), real(x)), real(1.0), "{x}");
        assert_eq!(quotient(Complex::new(x, x), Complex::new(x, x)), real(1.0), "{x}");
        assert_eq!(quotient(real(0.0), real(x)), real(0.0), "{x}");
        assert_eq!(quotient(Complex::new(0.0, x), real(1.0)), Complex::new(0.0, x), "{x}");
    }
    assert_eq!(quotient(real(2f64.powi(900)), real(2f64.powi(600))), real(2f64.powi(300)));
    let tiny = f64::from_bits(1 << 14);
    assert_eq!(quotient(real(2f64.powi(-1000)), real(2f64.powi(60))), real(tiny));
    for large in [1e200, 1e307, 1.7e308] {
        let uneven = Complex::new(large, 1e-130);
        assert_eq!(quotient(uneven, real(1.0)), uneven);
        assert_eq!(
            quotient(Complex::new(1e-130, large), real(4.0)),
            Complex::new(1e-130 / 4.0, large / 4.0)
        );
    }
    assert_eq!(quotient(real(1.0), real(1e200)), real(1.0 / 1e200));
    let (a, b) = (Complex::new(1.0, 2.0), Complex::new(3.0, -0.7));
    assert_eq!(quotient(a, b), a / b);
    assert!(quotient(a, real(0.0)).is_nan());
    let uneven = Tensor::from(vec![Complex::new(1e19_f32, 1e-27)]);
    let ones = Tensor::from(vec![Complex::new(1.0_f32, 0.0)]);
    assert_eq!((&uneven / &ones).eval().unwrap().storage(), uneven.storage());
    let [a, b] = [1e200, 3e199].map(|x| Tensor::from(vec![real(x)]));
    let rest = (&a % &b).eval().unwrap().storage()[0];
    assert!((rest.re - 1e199).abs() < 1e186 && rest.im == 0.0, "{rest}");
    let narrow = Tensor::from(vec![Complex::new(1e20_f32, -1e20), Complex::new(1e-25, 1e-25)]);
    let found = (&narrow / &narrow).eval().unwrap().into_storage();
    assert_eq!(found, [Complex::new(1.0, 0.0); 2]);
}

/// By 0, and by what has an infinite part, complex quotients and remainders are NaN in both parts.
#[cfg(feature = "complex")]
#[test]
fn complex_quotients_by_zero_and_infinity() {
    use num_complex::Complex;
    let (inf, parts) = (f64::INFINITY, [0.0, -0.0, 5e-324, 1.0, -1e300, f64::INFINITY]);
    let numbers: Vec<Complex<f64>> =
        parts.iter().flat_map(|&re| parts.map(|im| Complex::new(re, im))).collect();
    let a = Tensor::from(numbers);
    for [re, im] in [[0.0, 0.0], [-0.0, 0.0], [inf, 1.0], [0.0, -inf], [-inf, inf]] {
        let b = Tensor::from(vec![Complex::new(re, im)]);
        for found in [(&a / &b).to_vec().unwrap(), (&a % &b).to_vec().unwrap()] {
            assert!(found.iter().all(|x| x.re.is_nan() && x.im.is_nan()), "{re} {im}");
        }
    }
}
