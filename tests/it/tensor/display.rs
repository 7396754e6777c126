//! What is printed: digits of floats, and expressions that say how to compute them.

use lensor::linalg::{Linalg, einsum};
use lensor::prelude::*;
use lensor::storage::{Duplicates, FromFn};

/// A number rounded to 8 digits behind the point by hand, from all of its digits: half goes to even.
fn by_hand(x: f64) -> String {
    let exact = format!("{:.1100}", x.abs());
    let (whole, fraction) = exact.split_once('.').unwrap();
    let (kept, rest) = fraction.split_at(8);
    let mut digits: Vec<u8> = format!("{whole}{kept}").bytes().map(|digit| digit - b'0').collect();
    let half = format!("5{}", "0".repeat(rest.len() - 1));
    if rest > half.as_str() || (rest == half && digits.last().unwrap() % 2 == 1) {
        let mut k = digits.len() - 1;
        while digits[k] == 9 {
            digits[k] = 0;
            k -= 1;
        }
        digits[k] += 1;
    }
    let text: String = digits.iter().map(|digit| char::from(digit + b'0')).collect();
    let (whole, fraction) = text.split_at(text.len() - 8);
    let sign = if x < 0.0 { "-" } else { "" };
    let all = format!("{sign}{whole}.{fraction}");
    all.trim_end_matches('0').trim_end_matches('.').to_string()
}

#[test]
fn floats_have_at_most_eight_digits_behind_the_point() {
    let mut state = 7_u64;
    for _ in 0..2000 {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let scale = [1e-3, 1.0, 100.0, 8e6][(state >> 20) as usize % 4];
        let x = ((state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0) * scale;
        if x.abs() < 1e-4 {
            continue;
        }
        let text = Tensor::full([], x).unwrap().to_string();
        assert_eq!(text, by_hand(x), "{x:?}");
        // Numbers that have few digits show all of them, and no more.
        let few = (x * 4096.0).round() / 4096.0;
        let short = (few * 256.0).round() / 256.0;
        assert_eq!(Tensor::full([], short).unwrap().to_string(), short.to_string());
    }
    let shown = |x: f64| Tensor::full([], x).unwrap().to_string();
    assert_eq!(shown(0.1 + 0.2), "0.3");
    assert_eq!(shown(2.0 / 3.0), "0.66666667");
    assert_eq!(shown(0.999999999), "1");
    assert_eq!(shown(-0.0), "-0");
    assert_eq!(shown(123456789.125), "123456789.125");
    let single = Tensor::from(vec![1.0_f32 / 3.0, 0.1, 16777216.0]);
    assert_eq!(single.to_string(), "[0.33333334,        0.1,   16777216]");
    let odd = Tensor::from(vec![f64::NAN, f64::INFINITY, -1.5]);
    assert_eq!(odd.to_string(), "[ NaN,  inf, -1.5]");
}

#[test]
fn small_and_large_numbers_have_exponents_together() {
    let t = Tensor::from(vec![1e-5, 1.0, 0.0, f64::NAN]);
    assert_eq!(t.to_string(), "[1e-5,  1e0,  0e0,  NaN]");
    assert_eq!(Tensor::from(vec![1e-4, 9e15]).to_string(), "[          0.0001, 9000000000000000]");
    let thirds = Tensor::from(vec![1e16 / 3.0, 1e20 / 3.0]);
    assert_eq!(thirds.to_string(), "[3.33333333e15, 3.33333333e19]");
    assert_eq!(format!("{thirds:.1}"), "[    3333333333333333.5, 33333333333333331968.0]");
    // Only what is shown decides.
    let long = Tensor::from_fn([1000], |k| if k == 500 { 1e-9 } else { 1.0 }).unwrap();
    assert_eq!(long.to_string(), "[1, 1, 1, .., 1, 1, 1]");
}

#[test]
fn a_precision_is_taken_as_it_is_and_debug_shows_all() {
    let t = Tensor::from_nested([[1.0 / 3.0, 20.0], [0.5, -1e-9]]).unwrap();
    assert_eq!(format!("{t:.3}"), "[[ 0.333, 20.000],\n [ 0.500, -0.000]]");
    assert_eq!(
        format!("{t:.10}"),
        "[[ 0.3333333333, 20.0000000000],\n [ 0.5000000000, -0.0000000010]]"
    );
    assert!(format!("{t:?}").contains("0.3333333333333333"), "{t:?}");
    let ints = Tensor::from(vec![1, 1_000_000_000]);
    assert_eq!(ints.to_string(), "[         1, 1000000000]");
}

/// Parts of complex numbers are printed as floats are.
#[cfg(feature = "complex")]
#[test]
fn parts_of_complex_numbers_are_floats() {
    use num_complex::{Complex32, Complex64};
    let noise = Tensor::from(vec![Complex64::new(1e-17, 1.0), Complex64::new(2.0, -1e-300)]);
    assert_eq!(noise.to_string(), "[ 1e-17+1e0i, 2e0-1e-300i]");
    let thirds =
        Tensor::from(vec![Complex64::new(1.0 / 3.0, -2.0 / 3.0), Complex64::new(0.5, 0.0)]);
    assert_eq!(thirds.to_string(), format!("[0.33333333-0.66666667i, {:>22}]", "0.5+0i"));
    assert_eq!(format!("{thirds:.1}"), "[0.3-0.7i, 0.5+0.0i]");
    let shown = |re: f64, im: f64| Tensor::full([], Complex64::new(re, im)).unwrap().to_string();
    assert_eq!(shown(-1.5, -2.25), "-1.5-2.25i");
    assert_eq!(shown(-1.5, -0.0), "-1.5-0i");
    assert_eq!(shown(f64::NAN, f64::INFINITY), "NaN+infi");
    assert_eq!(shown(f64::NEG_INFINITY, 1e20), "-inf+1e20i");
    assert_eq!(shown(0.1 + 0.2, 123456789.125), "0.3+123456789.125i");
    let single = Tensor::from(vec![Complex32::new(0.1, 1.0 / 3.0)]);
    assert_eq!(single.to_string(), "[0.1+0.33333334i]");
    let small =
        Tensor::from(vec![Complex64::new(-1.0 / 3.0, 2e-9 / 3.0), Complex64::new(1.0, -7.0)]);
    assert_eq!(
        format!("{small:e}"),
        format!("[-3.33333333e-1+6.66666667e-10i, {:>30}]", "1e0-7e0i")
    );
    // With a precision too, a part of -0 has one sign.
    let zero = Tensor::from(vec![Complex64::new(-1.5, -0.0), Complex64::new(-0.0, 2.0)]);
    assert_eq!(format!("{zero:.1}"), "[-1.5-0.0i, -0.0+2.0i]");
    assert_eq!(format!("{zero:.1e}"), "[-1.5e0-0.0e0i, -0.0e0+2.0e0i]");
    let rows = lensor::ragged::Ragged::from_nested(vec![vec![Complex32::new(1.0, -0.0)], vec![]]);
    assert_eq!(format!("{:.2}", rows.unwrap()), "[[1.00-0.00i], []]");
    let whole = Tensor::from(vec![num_complex::Complex::new(1_i32, -2)]);
    assert_eq!(whole.to_string(), "[1-2i]");
}

/// Halves have no more digits than tell them apart.
#[cfg(feature = "half")]
#[test]
fn halves_have_the_digits_of_halves() {
    use half::{bf16, f16};
    let t = |data: &[f64]| Tensor::from(data.iter().map(|&x| f16::from_f64(x)).collect::<Vec<_>>());
    assert_eq!(t(&[0.1, 0.3]).to_string(), "[0.1, 0.3]");
    assert_eq!(t(&[1.0 / 3.0, 2.0, -65504.0]).to_string(), "[0.3333,      2, -65500]");
    assert_eq!(t(&[6e-8, 1.0, 0.0]).to_string(), "[6e-8,  1e0,  0e0]");
    assert_eq!(t(&[f64::NAN, f64::INFINITY, -0.0]).to_string(), "[NaN, inf,  -0]");
    // A power of two whose neighbours are equally far on both sides.
    assert_eq!(t(&[2_f64.powi(-23)]).to_string(), "[1e-7]");
    assert_eq!(format!("{:e}", t(&[0.1, 1500.0])), "[ 1e-1, 1.5e3]");
    assert_eq!(format!("{:.3}", t(&[0.5])), "[0.500]");
    let brain = |x: f64| Tensor::full([], bf16::from_f64(x)).unwrap().to_string();
    assert_eq!([brain(0.1), brain(0.2), brain(3e38)], ["0.1", "0.2", "3e38"]);
    let digits = |text: &str| {
        let number = text.split('e').next().unwrap().trim_start_matches(['-', '0', '.']);
        number.trim_end_matches('0').chars().filter(char::is_ascii_digit).count()
    };
    for bits in (0..u16::MAX).step_by(131) {
        let (x, y) = (f16::from_bits(bits), bf16::from_bits(bits));
        if x.is_finite() {
            let text = Tensor::full([], x).unwrap().to_string();
            assert_eq!(f16::from_f64(text.parse().unwrap()), x, "{text}");
            assert!(digits(&text) <= 5, "{text}");
        }
        if y.is_finite() {
            let text = Tensor::full([], y).unwrap().to_string();
            assert_eq!(bf16::from_f64(text.parse().unwrap()), y, "{text}");
            assert!(digits(&text) <= 4, "{text}");
        }
    }
}

/// Texts longer than the 16 bits of a width.
#[test]
fn long_texts_are_shown_whole() {
    let text = format!("{:?}", Tensor::full([1], [0_u8; 30_000]).unwrap());
    assert_eq!(text, format!("Tensor [1]\n[{:?}]", [0_u8; 30_000]));
    let text = format!("{:.65535}", Tensor::from(vec![1.0]));
    assert_eq!(text, format!("[1.{}]", "0".repeat(65_535)));
}

#[test]
fn exponents_on_demand() {
    let t = Tensor::from(vec![1.0 / 3.0, 1500.0]);
    assert_eq!(format!("{t:e}"), "[3.33333333e-1,         1.5e3]");
    assert_eq!(format!("{t:.3e}"), "[3.333e-1,  1.500e3]");
    assert_eq!(format!("{:e}", Tensor::from(vec![1200_i64])), "[1.2e3]");
    let lazy = Tensor::new([3], FromFn::new(3, |k| k as f64 * 1e9)).unwrap();
    assert_eq!(format!("{:e}", lazy.flip(0).unwrap()), "[2e9, 1e9, 0e0]");
}

#[test]
fn expressions_say_what_they_are_and_how_to_compute_them() {
    let (t, ends) =
        (Tensor::full([2, 3], 1_i32).unwrap(), "not computed yet: `.eval()?` computes it");
    let text = (&t + 1).to_string();
    assert_eq!(text, format!("elementwise expression of i32 [2, 3], {ends}"));
    assert_eq!((&t * 2).boxed().to_string(), text);
    assert_eq!(t.view().lazy().to_string(), format!("view of i32 [2, 3], {ends}"));
    assert_eq!(
        t.sum(0).to_string(),
        format!("reduction of i32 [2, 3] over axes [0] to i64 [3], {ends}")
    );
    let product = t.matmul(t.view().transpose([1, 0]).unwrap()).to_string();
    assert_eq!(product, format!("product of i32 [2, 3] and [3, 2] to [2, 2], {ends}"));
    let sum = einsum("ij->j", [&t]).to_string();
    assert_eq!(sum, format!("sum of products of i32 [[2, 3]] to [3], {ends}"));
    // Nothing is computed, not even what would fail.
    assert!((1 / (&t - 1)).to_string().ends_with(ends));
    let huge = Tensor::from_coordinates([1 << 30; 2], 0, &[[0; 2]; 0], vec![], Duplicates::Refuse);
    assert!((huge.unwrap() + 1).to_string().ends_with(ends));
}

#[test]
fn expressions_without_a_result_say_why() {
    let (a, b) = (Tensor::full([2], 1).unwrap(), Tensor::full([3], 1).unwrap());
    let why = "operands could not be broadcast: argument 2 has shape [3], the result so far is [2], \
               axis 0: 2 vs 3";
    let why = why.replace("2 vs 3", "3 vs 2");
    let text = (&a + &b).to_string();
    assert_eq!(text, format!("elementwise expression of i32 without a result: {why}"));
    let text = a.matmul(&b).to_string();
    let why = a.matmul(&b).shape().unwrap_err();
    assert_eq!(text, format!("operation of i32 without a result: {why}"));
}
