//! Which error of a list of indexes, or of what is folded there, is told.

use lensor::indexing::Indexing;
use lensor::prelude::*;
use lensor::reduce::Sum;

#[test]
fn the_first_number_that_is_no_index_is_told() {
    let mut t = Tensor::full([2, 2], 1).unwrap();
    let signed = Tensor::from_nested([[0, -1], [-2, 0]]).unwrap();
    let error = t.put_at(signed.cast::<usize>(), 9).unwrap_err();
    assert!(matches!(&error, Error::Cast { index, .. } if *index == [0, 1]), "{error}");
    let error = t.take_at(signed.cast::<usize>()).eval().unwrap_err();
    assert!(matches!(&error, Error::Cast { index, .. } if *index == [0, 1]), "{error}");
    let apart = Tensor::from(vec![0, -2]);
    let error = t.take_at((apart.cast::<usize>(), 0)).eval().unwrap_err();
    assert!(matches!(&error, Error::Cast { index, .. } if *index == [1]), "{error}");
}

#[test]
fn the_first_element_without_a_result_is_told() {
    let at = Tensor::from(vec![1_usize, 0, 2]);
    for step in [1, -1] {
        let full = Tensor::from(vec![i64::MAX, i64::MAX, 0]);
        let mut t = full.select((Select::every(step),)).unwrap();
        let error = t.fold_at((&at,), 1, Sum).unwrap_err();
        let first = usize::from(step < 0);
        assert!(matches!(&error, Error::Overflow { index, .. } if *index == [first]), "{error}");
    }
    // However many elements are in front of it.
    let n = 1 << 30;
    let mut t = Tensor::sparse([n, n], 0_i64).unwrap();
    let at = Tensor::from_nested([[n - 1, 7], [n - 1, 7], [5, n - 1], [5, n - 1]]).unwrap();
    let error = t.fold_at(&at, i64::MAX, Sum).unwrap_err();
    assert!(matches!(&error, Error::Overflow { index, .. } if *index == [5, n - 1]), "{error}");
}

#[test]
fn scalars_alone_are_read() {
    let none = Tensor::full([3, 0], 0_usize).unwrap();
    assert_eq!(Lazy::new(7).take_at(&none).to_vec().unwrap(), [7, 7, 7]);
}

/// What is to be written is not computed for a list without indexes, but for its shape.
#[test]
fn nothing_is_written_at_no_indexes() {
    let none = Tensor::from_vec([0, 1], Vec::<usize>::new()).unwrap();
    let huge = Tensor::from(vec![i64::MAX, 1]);
    let mut t = Tensor::full([3], 0_i64).unwrap();
    t.put_at(&none, huge.sum(0)).unwrap();
    t.fold_at(&none, huge.sum(0), Sum).unwrap();
    assert_eq!(t.to_vec().unwrap(), [0; 3]);
    let error = t.put_at(&none, huge.cumsum(0)).unwrap_err();
    assert!(matches!(error, Error::Destination { .. }), "{error}");
}

/// One value for all indexes is computed once, and its error has the first of them.
#[test]
fn an_error_of_one_value_has_the_index_in_the_list() {
    let mut t = Tensor::full([4], 0).unwrap();
    let at = Tensor::from_nested([[0_usize, 1], [2, 3]]).unwrap();
    let (one, zero) = (Tensor::from(vec![1]), Tensor::from(vec![0]));
    for error in [
        t.put_at((&at,), &one / &zero).unwrap_err(),
        t.fold_at((&at,), &one / &zero, lensor::reduce::SameType(Sum)).unwrap_err(),
    ] {
        assert!(matches!(&error, Error::Arithmetic { index, .. } if *index == [0, 0]), "{error}");
    }
}
