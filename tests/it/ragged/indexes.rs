//! Where in a ragged tensor something failed.

use crate::support::offline;
use lensor::Select;
use lensor::gufunc::{ElementaryError, Gufunc};
use lensor::prelude::*;
use lensor::ragged::{Offsets, Ragged};

fn rows(front: &[usize], lens: &[usize], content: Tensor<Vec<i64>>) -> Ragged<Vec<i64>> {
    let offsets = Offsets::from_lengths(lens.iter().copied()).unwrap();
    Ragged::new(front, offsets, content).unwrap()
}

/// Of folds without a var axis left, with the axes that are kept.
#[test]
fn results_that_do_not_fit_have_their_index() {
    let content = Tensor::from(vec![1, 1, 1, i64::MAX, 1]);
    let r = rows(&[2, 2], &[1, 1, 1, 2], content);
    let at = |index: &[usize]| Error::Overflow { index: index.to_vec(), target: "i64" };
    assert_eq!(r.sum(2).eval().unwrap_err(), at(&[1, 1]));
    assert_eq!(r.sum(2).keepdims().eval().unwrap_err(), at(&[1, 1, 0]));
    assert_eq!(r.sum(..).eval().unwrap_err(), at(&[]));
    let beside = Tensor::from_vec([5, 2], vec![1, 1, 1, 1, 1, 1, 1, i64::MAX, 1, 1]).unwrap();
    let r = rows(&[2, 2], &[1, 1, 1, 2], beside);
    assert_eq!(r.sum(2).eval().unwrap_err(), at(&[1, 1, 1]));
    assert_eq!(r.sum(2).keepdims().eval().unwrap_err(), at(&[1, 1, 0, 1]));
    assert_eq!(r.sum(3).eval().map(drop).unwrap_err(), at(&[1, 1, 0]));
    let wide = rows(&[2], &[1, 1], Tensor::from_vec([2, 2], vec![1, 1, i64::MAX, 1]).unwrap());
    assert_eq!(wide.sum(2).eval().unwrap_err(), at(&[1, 0]));
    assert_eq!(wide.sum(2).keepdims().eval().unwrap_err(), at(&[1, 0, 0]));
    assert_eq!(wide.sum([1, 2]).eval().unwrap_err(), at(&[1]));
    let none = wide.view().max(1).filter(wide.less(0)).eval().unwrap_err();
    assert_eq!(none, Error::NothingLeft { index: vec![0, 0] });
}

/// Of folds of rows together with the axes behind them.
#[test]
fn elements_behind_rows_have_their_index() {
    let content = Tensor::from_vec([3, 1, 2], vec![1, 2, 3, 4, 5, -6]).unwrap();
    let r = rows(&[2], &[1, 2], content);
    let Error::Cast { index, .. } = r.cast::<u8>().sum(..).eval().unwrap_err() else { panic!() };
    assert_eq!(index, [1, 1, 0, 1]);
}

/// The first in row-major order, also where rows are read in another.
#[test]
fn the_first_element_that_fails_is_told() {
    let index = |error: Error| match error {
        Error::Cast { index, .. } => index,
        error => panic!("{error}"),
    };
    // The first two items of the rows are folded before the third of the first row.
    let r = rows(&[2], &[3, 2], Tensor::from(vec![0, 0, -1, -1, 0]));
    assert_eq!(index(r.cast::<u8>().sum(0).eval().unwrap_err()), [0, 2]);
    // Lanes along a fixed axis behind rows are evaluated for the last axis of all.
    let content = Tensor::from_vec([2, 2, 2], vec![0, -1, 0, 0, 0, 0, 0, 0]).unwrap();
    let other = Tensor::from_vec([2, 2, 2], vec![0, 0, -1, 0, 0, 0, 0, 0]).unwrap();
    let (one, other) = (rows(&[1], &[2], content), rows(&[1], &[2], other));
    let sum = one.cast::<u8>() + other.cast::<u8>();
    let sorted = sum.sort(2, lensor::lanes::SortOrder::Ascending);
    assert_eq!(index(sorted.eval().unwrap_err()), [0, 0, 0, 1]);
}

/// Destinations that hold an element twice within an item.
#[test]
fn axes_that_share_elements_are_those_of_the_rows() {
    let mut r = rows(&[2], &[1, 2], Tensor::from_vec([3, 2], vec![0; 6]).unwrap());
    let twice: Vec<Select> = vec![Select::All, Select::All, Select::List(vec![0, 0])];
    let mut view = r.view_mut().select(twice).unwrap();
    assert_eq!(view.assign(1).unwrap_err(), Error::NotInjective { axis: 2 });
}

/// Storage of rows names its own addresses.
#[test]
fn storage_of_rows_names_its_own_addresses() {
    let broken = || Tensor::new([4], offline(4, 1..2)).unwrap();
    let offsets = || Offsets::from_lengths([1, 2, 1]).unwrap();
    let padded = Ragged::new([3], offsets(), broken()).unwrap().padded(1, Some(3), 0).unwrap();
    assert_eq!(padded.storage().try_read(3).unwrap_err().address, 3);
    let flipped = Ragged::new([3], offsets(), broken()).unwrap().flip(1).unwrap();
    let padded = flipped.padded(1, Some(3), 0).unwrap();
    assert_eq!(padded.storage().try_read(4).unwrap_err().address, 4);
    let mut all = [0; 9];
    assert_eq!(padded.storage().read_run(0, 1, &mut all).unwrap_err().address, 4);
    let repeated = lensor::ragged::repeat(broken(), 0, [2, 1, 1, 1]).unwrap();
    assert_eq!(repeated.storage().try_read(2).unwrap_err().address, 2);
    let mut two = [0; 2];
    assert_eq!(repeated.storage().read_at(&[4, 2], &mut two).unwrap_err().address, 2);
}

/// Results have at most 64 axes, and names that no input has need an extent, also where nothing is called.
#[test]
fn calls_of_rows_are_checked_as_dense_ones() {
    let three =
        Gufunc::<[i64; 1], [i64; 1], _>::each("(n)->(n,n,n)", |_, _| Ok::<_, ElementaryError>(()));
    let r = rows(&[1; 62], &[1], Tensor::from(vec![1]));
    let refused = three.unwrap().call_ragged([&r]).eval().map(drop).unwrap_err();
    assert!(matches!(refused, Error::RankLimit { .. }), "{refused}");
    let other =
        Gufunc::<[i64; 1], [i64; 1], _>::each("(n)->(p)", |_, _| Ok::<_, ElementaryError>(()))
            .unwrap();
    let none = rows(&[0], &[], Tensor::from(Vec::new()));
    let unknown = Error::CoreUnknown { dim: "p".into() };
    assert_eq!(other.call_ragged([&none]).eval().map(drop).unwrap_err(), unknown);
}

/// What a reader sees of axes whose rows differ in length, and of what is not computed.
#[test]
fn texts_of_rows() {
    let r = rows(&[2], &[1, 2], Tensor::from(vec![1, 2, 3]));
    let mask = Tensor::from(vec![true, false]);
    let text = r.view().keep(1, &mask).map(drop).unwrap_err().to_string();
    assert!(text.contains("var") && !text.contains(&usize::MAX.to_string()), "{text}");
    let text = r.sort(1, lensor::lanes::SortOrder::Ascending).to_string();
    assert!(text.starts_with("sort along axis 1, row by row, not computed yet"), "{text}");
}
