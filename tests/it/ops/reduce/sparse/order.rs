//! Sparse reductions by reducers to which the order matters, and what has no result.

use super::{Case, check};
use crate::ops::along::{Compose, InOrder};
use crate::ops::scan_lazy::LastGood;
use lensor::prelude::*;
use lensor::reduce::{ArgMax, Reducer, WrappingSum};
use lensor::storage::{Duplicates, Sparse};

/// Reducers to which positions or the order matter, also of views that turn rows to columns.
#[test]
fn positions_and_order_are_those_of_dense_copies() {
    fn agree<R: Reducer<i32, Out: PartialEq> + Copy>(
        t: &Tensor<impl Reader<Elem = i32>>,
        axes: &[usize],
        reducer: R,
    ) -> bool {
        let expected = t.eval().unwrap().fold(axes, reducer).to_vec().unwrap();
        let sparse = t.fold(axes, reducer).eval_sparse().unwrap();
        sparse.to_vec().unwrap() == expected && t.fold(axes, reducer).to_vec().unwrap() == expected
    }
    fn property(case: Case) -> bool {
        let t = case.tensor(case.fill as i32 % 9 - 4, |k| (k * 31 % 11) as i32 - 5);
        let order: Vec<usize> = (0..t.rank()).rev().collect();
        [t.view(), t.view().transpose(&order).unwrap()].iter().all(|t| {
            let each = |axis| agree(t, &[axis], Compose) && agree(t, &[axis], InOrder);
            agree(t, &case.axes(), ArgMax)
                && (0..t.rank()).all(|axis| each(axis) && agree(t, &[axis], ArgMax))
        })
    }
    check(property as fn(Case) -> bool);
}

/// Rows of more entries than are taken at once, and of none.
#[test]
fn places_in_long_rows() {
    for (columns, every) in [(700, 1), (700, 3), (2000, 1), (40, 7)] {
        let addresses: Vec<usize> =
            (0..6 * columns).filter(|k| k % every == 0 && k / columns != 2).collect();
        let values = addresses.iter().map(|k| (k * 7919 % 103) as i32 - 90).collect();
        let storage = Sparse::from_sorted(6 * columns, 11, addresses, values).unwrap();
        let t = Tensor::new([2, 3, columns], storage).unwrap();
        let dense = t.eval().unwrap();
        for axes in [&[2][..], &[1, 2], &[0, 1, 2], &[1], &[0]] {
            let expected = dense.fold(axes, ArgMax).to_vec().unwrap();
            assert_eq!(t.fold(axes, ArgMax).to_vec().unwrap(), expected);
            let found = t.fold(axes, ArgMax).eval_sparse().unwrap().to_vec().unwrap();
            assert_eq!(found, expected);
        }
        let in_order = t.fold(2, InOrder).to_vec().unwrap();
        assert!(in_order == dense.fold(2, InOrder).to_vec().unwrap());
    }
}

#[test]
fn axes_of_sparse_results_may_be_kept() {
    let storage = Sparse::from_sorted(6, 1_i64, vec![1, 5], vec![7, 9]).unwrap();
    let t = Tensor::new([2, 3], storage).unwrap();
    let sums = t.fold(1, WrappingSum).keepdims().eval_sparse().unwrap();
    assert_eq!((&sums.shape()[..], sums.to_vec().unwrap()), (&[2, 1][..], vec![9, 11]));
    let same = t.fold(&[][..], WrappingSum).eval_sparse().unwrap();
    assert_eq!(same.to_vec().unwrap(), [1, 7, 1, 1, 1, 9]);
    assert_eq!(same.storage().stored_len(), 2);
}

#[test]
fn states_without_a_result_are_not_finished() {
    let of = |shape: [usize; 2], addresses: Vec<usize>, values| {
        let storage = Sparse::from_sorted(shape[0] * shape[1], -1_i64, addresses, values);
        Tensor::new(shape, storage.unwrap()).unwrap()
    };
    let found = of([2, 2], vec![1, 2], vec![5, 6]).fold(1, LastGood).eval_sparse().unwrap();
    assert_eq!(found.to_vec().unwrap(), [5, 6]);
    let left = Error::NothingLeft { index: vec![0] };
    for t in [of([2, 2], vec![3], vec![5]), of([2, 0], vec![], vec![])] {
        assert_eq!(t.fold(1, LastGood).eval_sparse().unwrap_err(), left);
        assert_eq!(t.fold(1, LastGood).eval().unwrap_err(), left);
        assert_eq!(t.eval().unwrap().fold(1, LastGood).eval().unwrap_err(), left);
    }
}

#[test]
fn errors_name_the_axis_and_the_first_cell() {
    let none = Tensor::new([2, 0], Sparse::new(0, 1_i64)).unwrap();
    let error = none.argmax(1).eval_sparse().unwrap_err();
    assert_eq!(error, Error::EmptyReduction { axis: 1, shape: vec![2, 0] });
    assert_eq!(none.sum(1).eval_sparse().unwrap().to_vec().unwrap(), [0, 0]);
    assert_eq!(none.argmax(0).eval_sparse().unwrap().shape(), [0]);

    // Two fill values are too much: in cells without entries, or in a cell before or after one with entries.
    let half = 1_i64 << 62;
    for (addresses, values, index) in
        [(vec![0, 1], vec![1, 2], 1), (vec![2, 5], vec![7, 8], 0), (vec![4], vec![half], 0)]
    {
        let storage = Sparse::from_sorted(6, half, addresses, values).unwrap();
        let t = Tensor::new([3, 2], storage).unwrap();
        let overflow = Error::Overflow { index: vec![index], target: "i64" };
        assert_eq!(t.sum(1).eval_sparse().unwrap_err(), overflow);
        assert_eq!(t.sum(1).eval().unwrap_err(), overflow);
    }
    let dense = Tensor::from(vec![1_i64]);
    let error = dense.sum(0).eval_sparse().unwrap_err();
    assert_eq!(error, Error::WouldDensify { stored: 0, dense: 1 });
    let error = Tensor::full([0, 3], 1.0).unwrap().sum(0).eval_sparse().unwrap_err();
    assert_eq!(error, Error::WouldDensify { stored: 0, dense: 0 });
}

/// Of a million million million elements three are stored, whichever axis is left and whatever the order matters.
#[test]
fn results_without_entries_are_not_visited() {
    let side = 1_usize << 30;
    let indexes = [[5, 7], [5, 9], [side - 1, 7]];
    let t =
        Tensor::from_coordinates([side, side], 2, &indexes, vec![10, 20, 30], Duplicates::Refuse);
    let t = t.unwrap();
    let empty = 2 * side as i64;
    let rows = t.fold(1, WrappingSum).eval_sparse().unwrap();
    assert_eq!(rows.storage().fill(), empty);
    assert!(rows.storage().iter().eq([(5, empty + 26), (side - 1, empty + 28)]));
    let columns = t.fold(0, WrappingSum).eval_sparse().unwrap();
    assert!(columns.storage().iter().eq([(7, empty + 36), (9, empty + 18)]));
    let composed = t.view().transpose([1, 0]).unwrap().fold(0, Compose).eval_sparse().unwrap();
    assert_eq!(composed.storage().addresses(), [5, side - 1]);
}
