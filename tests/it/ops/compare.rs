//! Equality and closeness of tensors under any views.

use crate::views::{Plain, dense};
use lensor::Stored;
use lensor::arbitrary::{Aligned, Viewed};
use lensor::prelude::*;
use quickcheck::{TestResult, quickcheck};

quickcheck! {
    /// A tensor equals its dense copy, in memory and not, whichever stands on the left.
    fn a_tensor_equals_its_copy(viewed: Viewed<i32>) -> bool {
        let (t, model) = (viewed.tensor(), dense(&viewed));
        let copy = Tensor::from_vec(model.shape.clone(), model.data.clone()).unwrap();
        let read = Tensor::new(model.shape, Plain(model.data)).unwrap();
        let found = [t == copy, copy == t, t == read, read == t, t.try_equal(&read).unwrap()];
        found == [true; 5]
    }

    /// One element that differs makes tensors differ.
    fn one_element_makes_the_difference(viewed: Viewed<i32>, which: usize) -> TestResult {
        let (t, model) = (viewed.tensor(), dense(&viewed));
        if model.data.is_empty() {
            return TestResult::discard();
        }
        let mut data = model.data.clone();
        let which = which % data.len();
        data[which] ^= 1;
        let other = Tensor::from_vec(model.shape, data).unwrap();
        let found = [t == other, other == t, t.try_equal(&other).unwrap()];
        TestResult::from_bool(found == [false; 3])
    }

    /// Equality does not stretch: another shape is another tensor.
    fn another_shape_is_another_tensor(viewed: Viewed<i32>) -> bool {
        let t = viewed.tensor();
        let longer = t.view().insert_axis(0).unwrap();
        [t == longer, longer == t] == [false; 2]
    }

    /// Tensors are equal exactly if shapes and elements are; NaN differs from itself.
    fn equality_is_that_of_elements(a: Viewed<f64>, b: Viewed<f64>) -> bool {
        let (x, y) = (dense(&a), dense(&b));
        let same = |x: &crate::model::Model<f64>, y: &crate::model::Model<f64>| {
            x.shape == y.shape && x.data.iter().zip(&y.data).all(|(x, y)| x == y)
        };
        (a.tensor() == b.tensor()) == same(&x, &y) && (a.tensor() == a.tensor()) == same(&x, &x)
    }

    /// Closeness is decided element by element at the joint shape.
    fn closeness_is_that_of_elements(operands: Aligned<f64>, relative: u8, absolute: u8) -> bool {
        let [a, b] = operands.tensors();
        let [x, y] = operands.models();
        let (relative, absolute) = (f64::from(relative) / 64.0, f64::from(absolute));
        let close = |x: f64, y: f64| {
            x == y || (y.is_finite() && (x - y).abs() <= absolute + relative * y.abs())
        };
        let expected = x.iter().zip(&y).all(|(&x, &y)| close(x, y));
        a.all_close(&b, relative, absolute) == Ok(expected)
    }
}

#[test]
fn nan_is_close_to_nothing_and_infinity_to_itself() {
    let t = |x: f64| Tensor::from_vec([1], vec![x]).unwrap();
    for (a, b, close) in [
        (f64::NAN, f64::NAN, false),
        (f64::NAN, 1.0, false),
        (1.0, f64::NAN, false),
        (f64::INFINITY, f64::INFINITY, true),
        (f64::INFINITY, f64::NEG_INFINITY, false),
        (1.0, f64::INFINITY, false),
        (f64::INFINITY, 1.0, false),
        (0.0, -0.0, true),
    ] {
        assert_eq!(t(a).all_close(&t(b), 1.0, 1.0), Ok(close), "{a} {b}");
    }
}

/// Neither the operands nor tables of where their elements lie are as long as the views.
#[test]
fn repeated_views_are_compared_part_by_part() {
    let repeated = |data: Vec<i32>| {
        let whole = 6_000_000_000_usize.next_multiple_of(data.len());
        let t = Tensor::from(data).broadcast([whole]).unwrap();
        t.select((..6_000_000_000_usize,)).unwrap()
    };
    let (pairs, threes) = (repeated(vec![1, 2]), repeated(vec![1, 2, 3]));
    assert_eq!(pairs.try_equal(&threes), Ok(false));
    // Periods that have no short one in common.
    let long = |len: usize| {
        let mut data = vec![7; len];
        data[5] = 8;
        repeated(data)
    };
    assert_eq!(long(100_003).try_equal(long(100_019)), Ok(false));
    let (left, right) = (long(10_007), long(10_009));
    let [left, right] = [left, right].map(|t| t.select((..20_000_000,)).unwrap());
    let first = left.view().select((10_012..10_020,)).unwrap();
    assert_ne!(first, right.view().select((10_012..10_020,)).unwrap());
    assert_eq!(left.try_equal(&left), Ok(true));
    assert_eq!(left.try_equal(&right), Ok(false));
    let error = (1 / (left - 8)).try_equal(right).unwrap_err();
    assert_eq!(error, Error::Arithmetic { index: vec![5] });
}

/// Sparse storage whose entries, all elements, cannot be listed.
struct Unlisted(Vec<i64>);

impl Reader for Unlisted {
    type Elem = i64;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn read(&self, address: usize) -> i64 {
        self.0[address]
    }

    fn stored(&self) -> Option<&dyn Stored<Elem = i64>> {
        Some(self)
    }
}

impl Stored for Unlisted {
    type Elem = i64;

    fn fill(&self) -> i64 {
        0
    }

    fn count(&self) -> usize {
        self.0.len()
    }

    fn rank(&self, address: usize) -> usize {
        address.min(self.0.len())
    }

    fn entries(&self, _: usize, _: &mut [usize], _: &mut [i64]) -> usize {
        panic!("entries are listed");
    }
}

/// Where entries are repeated so often that it takes less to read the elements, no list of the repeats is made.
#[test]
fn repeats_of_entries_are_not_listed() {
    let rows = 2000;
    let repeated = |data: Vec<i64>| {
        let len = data.len();
        Tensor::new([len], Unlisted(data)).unwrap().broadcast([rows, len]).unwrap()
    };
    let (t, other) = (repeated(vec![1, 0, 3]), repeated(vec![1, 0, 4]));
    assert_eq!(t.try_equal(&t), Ok(true));
    assert_eq!(t.try_equal(&other), Ok(false));
    assert_eq!(t.view().nonzero().unwrap().shape(), [2 * rows, 2]);
    assert_eq!((&t + &other).sum(0).to_vec().unwrap(), [4000, 0, 14_000]);
}
