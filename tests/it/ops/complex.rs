//! Complex elements where all that is asked is whether they are 0.

use lensor::dtype::Truth;
use lensor::prelude::*;
use lensor::ragged::Ragged;
use lensor::storage::Duplicates;
use num_complex::{Complex32, Complex64};

/// Two rows: a zero of both signs, an imaginary number, NaN; zeros alone.
fn numbers() -> Tensor<Vec<Complex64>> {
    let of = Complex64::new;
    let first = [of(0.0, -0.0), of(0.0, 2.0), of(f64::NAN, 0.0)];
    Tensor::from_nested([first, [of(0.0, 0.0); 3]]).unwrap()
}

#[test]
fn zeros_are_false_and_all_else_is_true() {
    let z = numbers();
    assert_eq!(z.any(1).to_vec().unwrap(), [true, false]);
    assert_eq!(z.all(0).to_vec().unwrap(), [false; 3]);
    assert_eq!(z.count_nonzero(1).to_vec().unwrap(), [2, 0]);
    assert_eq!(z.count_nonzero(0).to_vec().unwrap(), [0, 1, 1]);
    assert_eq!(z.nonzero().unwrap().to_vec().unwrap(), [0, 1, 0, 2]);
    let singles = Tensor::from(vec![Complex32::new(0.0, 1e-45), Complex32::new(-0.0, 0.0)]);
    assert_eq!(singles.nonzero().unwrap().to_vec().unwrap(), [0]);
    assert!(!singles.all(..).item().unwrap());

    let r = Ragged::from_nested(vec![vec![Complex64::I], vec![], vec![Complex64::ZERO]]).unwrap();
    assert_eq!(r.any(1).to_vec().unwrap(), [true, false, false]);
}

#[test]
fn they_are_what_casts_to_bool_are() {
    let z = numbers();
    let mask = z.not_equal(Complex64::ZERO);
    assert_eq!(z.cast::<bool>().to_vec().unwrap(), mask.to_vec().unwrap());
    assert_eq!(z.extract(&mask).unwrap().len(), 2);
    let back = Tensor::from(vec![true, false]).lazy().cast::<Complex64>();
    assert_eq!(back.to_vec().unwrap(), [Complex64::ONE, Complex64::ZERO]);
}

#[test]
fn entries_alone_are_visited() {
    let (at, values) = ([[7, 0], [1_usize << 40, 3]], vec![Complex64::I, Complex64::ONE]);
    let shape = [1 << 41, 4];
    let z = Tensor::from_coordinates(shape, Complex64::ZERO, &at, values, Duplicates::Refuse);
    let z = z.unwrap();
    assert_eq!(z.nonzero().unwrap().to_vec().unwrap(), [7, 0, 1 << 40, 3]);
    assert_eq!(z.count_nonzero(..).item().unwrap(), 2);
}

/// A type of one's own says what is nonzero, and needs no more for that.
#[test]
fn elements_of_others_may_be_true() {
    #[derive(Clone, Copy)]
    struct Pixel([u8; 3]);

    impl Truth for Pixel {
        fn is_nonzero(self) -> bool {
            self.0 != [0; 3]
        }
    }
    let image = Tensor::from(vec![Pixel([0, 0, 0]), Pixel([0, 9, 0])]);
    assert_eq!(image.nonzero().unwrap().to_vec().unwrap(), [1]);
    assert!(image.any(..).item().unwrap());
}
