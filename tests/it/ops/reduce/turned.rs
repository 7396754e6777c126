//! Folds of what lies in memory in another order: exact ones, which are computed in that order, and sums of floats, whose
//! lines are folded side by side. As those of a copy.

use lensor::prelude::*;
use lensor::reduce::{All, Any, CountNonzero, Max, Min, PeakToPeak, Product, Sum, WrappingSum};
use quickcheck::quickcheck;

/// So many elements that copying them would take longer.
const SHAPE: [usize; 3] = [16, 17, 18];

fn number(seed: u64, index: &[usize]) -> u64 {
    let mixed = index.iter().fold(seed, |all, &k| {
        (all ^ k as u64).wrapping_mul(6_364_136_223_846_793_005).rotate_left(29)
    });
    mixed ^ mixed >> 32
}

const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

/// Every choice of axes.
fn choices() -> Vec<Vec<usize>> {
    (1..8).map(|bits| (0..3).filter(|axis| bits >> axis & 1 == 1).collect()).collect()
}

quickcheck! {
    fn of_all_orders_and_axes(seed: u64, order: usize, flipped: bool) -> bool {
        let order = ORDERS[order % 6];
        let small = Tensor::from_index(SHAPE, |k| number(seed, k) as u8 % 3).unwrap();
        let wide = Tensor::from_index(SHAPE, |k| number(seed, k) as i32).unwrap();
        let (small, wide) = (small.transpose(order).unwrap(), wide.transpose(order).unwrap());
        let flip = |axis: usize| if flipped { axis } else { 3 };
        let small = if flipped { small.flip(flip(0)).unwrap() } else { small };
        let wide = if flipped { wide.flip(flip(1)).unwrap() } else { wide };
        let (copy, wide_copy) = (small.view().lazy().eval().unwrap(), wide.view().lazy().eval().unwrap());
        choices().into_iter().all(|axes| {
            macro_rules! agrees {
                ($t:ident $copy:ident: $($R:expr),*) => { true $(&& {
                    let (found, expected) = ($t.fold(&axes[..], $R), $copy.fold(&axes[..], $R));
                    found.eval().unwrap() == expected.eval().unwrap()
                        && found.keepdims().eval().unwrap() == expected.keepdims().eval().unwrap()
                })* };
            }
            let sum = (&wide % 7 + &wide).sum(&axes[..]).eval().unwrap();
            agrees!(small copy: Sum, Max, Min, PeakToPeak, Any, All, CountNonzero)
                && agrees!(wide wide_copy: Sum, Max, Min, WrappingSum, (Sum, Max), Any)
                && sum == (&wide_copy % 7 + &wide_copy).sum(&axes[..]).eval().unwrap()
        })
    }
}

/// Lines side by side: shorter than the lanes, of one leaf and of several, and more than are folded at once.
#[test]
fn sums_of_floats_have_the_bits_of_a_copy() {
    let shapes = [[150, 31], [130, 32], [256, 97], [40, 512], [129, 1300], [16, 700], [15, 700]];
    for [rows, columns] in shapes {
        let number = |k: &[usize]| (number(3, k) % 2_000_003) as f64 / 7.0 - 1e5;
        let wide = Tensor::from_index([columns, rows], number).unwrap();
        let narrow = wide.view().lazy().map(|x| x as f32).eval().unwrap();
        let cube = Tensor::from_index([columns, 3, rows], number).unwrap();
        let cube = cube.transpose([1, 2, 0]).unwrap();
        let (wide, narrow) = (wide.transpose([1, 0]).unwrap(), narrow.transpose([1, 0]).unwrap());
        macro_rules! agrees {
            ($t:ident $T:ident: $($axes:expr),*) => { {
                // Each closure would be a reducer of its own.
                let twice: fn($T) -> $T = |x| x * 2.0;
                let copy = $t.view().lazy().eval().unwrap();
                $(
                    assert_eq!($t.sum($axes).to_vec(), copy.sum($axes).to_vec());
                    assert_eq!($t.mean($axes).to_vec(), copy.mean($axes).to_vec());
                    assert_eq!($t.prod($axes).to_vec(), copy.prod($axes).to_vec());
                    let found = (&$t * &$t - 3.0).sum($axes).map(twice);
                    assert_eq!(found.to_vec(), (&copy * &copy - 3.0).sum($axes).map(twice).to_vec());
                )*
            } };
        }
        agrees!(wide f64: 1, 0, ..);
        agrees!(narrow f32: 1, ..);
        agrees!(cube f64: 2, 1, [0, 2], [1, 2], ..);
    }
}

/// Operands that lie in different orders, and repeated ones.
#[test]
fn of_operands_that_disagree() {
    let a = Tensor::from_index([80, 90], |k| (k[0] * 31 + k[1] * 7) as i64 % 100).unwrap();
    let (turned, copy) = (a.view().transpose([1, 0]).unwrap(), a.view().lazy().eval().unwrap());
    let copy = copy.transpose([1, 0]).unwrap().lazy().eval().unwrap();
    let square = Tensor::from_index([90, 80], |k| (k[0] + k[1]) as i64).unwrap();
    let column = Tensor::from_index([90, 1], |k| k[0] as i64).unwrap();
    for axis in 0..2 {
        let found = (&turned * &square - &column).sum(axis).to_vec().unwrap();
        assert_eq!(found, (&copy * &square - &column).sum(axis).to_vec().unwrap());
        let found = (&turned - &column).max(axis).to_vec().unwrap();
        assert_eq!(found, (&copy - &column).max(axis).to_vec().unwrap());
    }
    assert_eq!(turned.fold(.., Product).item(), copy.fold(.., Product).item());
}

/// Of several sums that do not fit, and elements that do not exist, the first in the order of the view.
#[test]
fn errors_are_those_of_the_view() {
    let mut t = Tensor::full([70, 80, 2], 1_i64).unwrap();
    for (row, column) in [(3, 60), (60, 3)] {
        t.set([row, column, 0], i64::MAX).unwrap();
    }
    let turned = t.view().transpose([1, 0, 2]).unwrap();
    let error = turned.sum(2).eval().unwrap_err();
    assert_eq!(error, Error::Overflow { index: vec![3, 60], target: "i64" });
    t.set([3, 60, 0], 0).unwrap();
    t.set([60, 3, 1], 0).unwrap();
    let turned = t.view().transpose([1, 0, 2]).unwrap();
    let error = (100 / &turned).sum([0, 2]).eval().unwrap_err();
    assert_eq!(error, Error::Arithmetic { index: vec![3, 60, 1] });
}

/// What is folded in another order is told.
#[test]
fn explanations_name_the_order() {
    let t = Tensor::full([80, 90], 1_u8).unwrap();
    let turned = t.view().transpose([1, 0]).unwrap();
    let told = turned.max(0).explain().unwrap().to_string();
    assert!(told.contains("in the order of memory: axes [1, 0]"), "{told}");
    assert!(!t.max(0).explain().unwrap().to_string().contains("in the order of memory"));
    let floats = t.lazy().cast::<f64>().eval().unwrap().transpose([1, 0]).unwrap();
    assert!(!floats.sum(0).explain().unwrap().to_string().contains("in the order of memory"));
    let told = floats.sum(1).explain().unwrap().to_string();
    assert!(told.contains("in leaves of 80, side by side"), "{told}");
}
