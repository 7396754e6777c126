//! Sparse reductions against folds of dense copies.

use super::reduce_stored;
use crate::error::{Error, Result};
use crate::expr::{Expr, IntoExpr, erased};
use crate::ops::reduce::{Reduce, Reducer, Undefined};
use crate::storage::Sparse;
use crate::tensor::Tensor;

/// The wrapping sum.
struct Sum;

impl Reducer<i64> for Sum {
    type State = i64;
    type Out = i64;
    fn empty(&self) -> Option<i64> {
        Some(0)
    }
    fn first(&self, x: i64) -> i64 {
        x
    }
    fn step(&self, state: &mut i64, x: i64) {
        *state = state.wrapping_add(x);
    }
    fn combine(&self, state: &mut i64, later: i64) {
        *state = state.wrapping_add(later);
    }
    fn finish(&self, state: i64) -> i64 {
        state
    }
    fn undefined(&self, state: &i64) -> Option<Undefined> {
        (*state == 1000).then_some(Undefined::Overflow)
    }
}

/// The position of the first of the largest elements.
struct ArgMax;

impl Reducer<i64> for ArgMax {
    type State = (i64, usize);
    type Out = usize;
    const POSITIONS: bool = true;
    fn empty(&self) -> Option<(i64, usize)> {
        None
    }
    fn first(&self, x: i64) -> (i64, usize) {
        (x, 0)
    }
    fn step(&self, _state: &mut (i64, usize), _x: i64) {}
    fn combine(&self, state: &mut (i64, usize), later: (i64, usize)) {
        if later.0 > state.0 {
            *state = later;
        }
    }
    fn finish(&self, state: (i64, usize)) -> usize {
        state.1
    }
    fn first_at(&self, x: i64, position: usize) -> (i64, usize) {
        (x, position)
    }
    fn step_at(&self, state: &mut (i64, usize), x: i64, position: usize) {
        self.combine(state, (x, position));
    }
}

/// A number that depends on the order; runs cannot be joined unless `JOINED`.
struct Chain<const JOINED: bool>;

impl<const JOINED: bool> Reducer<i64> for Chain<JOINED> {
    /// The number so far, and 3 to the power of the elements.
    type State = (i64, i64);
    type Out = i64;
    const COMMUTATIVE: bool = false;
    const ASSOCIATIVE: bool = JOINED;
    fn empty(&self) -> Option<(i64, i64)> {
        Some((0, 1))
    }
    fn first(&self, x: i64) -> (i64, i64) {
        (x, 3)
    }
    fn step(&self, state: &mut (i64, i64), x: i64) {
        *state = (state.0.wrapping_mul(3).wrapping_add(x), state.1.wrapping_mul(3));
    }
    fn combine(&self, state: &mut (i64, i64), later: (i64, i64)) {
        assert!(JOINED);
        let number = state.0.wrapping_mul(later.1).wrapping_add(later.0);
        *state = (number, state.1.wrapping_mul(later.1));
    }
    fn finish(&self, state: (i64, i64)) -> i64 {
        state.0
    }
}

/// Results cell by cell, from a dense copy of the elements.
fn model<R: Reducer<i64>>(t: &Tensor<Sparse<i64>>, mask: &[bool], reducer: &R) -> Vec<R::Out> {
    let shape = t.shape();
    let kept = |index: &[usize]| -> Vec<usize> {
        index.iter().zip(mask).filter(|(_, reduced)| !**reduced).map(|(digit, _)| *digit).collect()
    };
    let mut cells: std::collections::BTreeMap<Vec<usize>, Vec<i64>> = Default::default();
    for index in shape.indexes().unwrap() {
        cells.entry(kept(&index)).or_default().push(t.get(&index).unwrap());
    }
    cells.into_values().map(|cell| reducer.finish(reducer.fold(&cell, 0))).collect()
}

fn reduced<X: IntoExpr<Elem = i64>, R: Reducer<i64>>(
    t: X,
    mask: &[bool],
    reducer: &R,
) -> Result<Tensor<Sparse<R::Out>>> {
    let e = t.into_expr();
    assert!(e.shape().is_ok());
    reduce_stored(&erased(&e), mask, false, reducer)
}

fn tensors() -> Vec<Tensor<Sparse<i64>>> {
    let mut tensors = Vec::new();
    for shape in [vec![], vec![1], vec![7], vec![3, 4], vec![2, 3, 4], vec![3, 1, 2, 5]] {
        let count: usize = shape.iter().product();
        for (every, fill) in [(1, 0), (2, 1), (3, -2), (100, 5)] {
            let addresses: Vec<usize> = (0..count).filter(|k| k * 7 % every == 0).collect();
            let values = addresses.iter().map(|k| (*k as i64 * 31) % 11 - 5).collect();
            let storage = Sparse::from_sorted(count, fill, addresses, values).unwrap();
            let t = Tensor::new(shape.clone(), storage).unwrap();
            let order: Vec<usize> = (0..shape.len()).rev().collect();
            tensors.push(t.clone().transpose(&order).unwrap());
            tensors.push(t);
        }
    }
    tensors
}

#[test]
fn sparse_reductions_are_folds_of_dense_copies() {
    fn agree<R: Reducer<i64, Out: PartialEq + std::fmt::Debug>>(reducer: R) {
        for t in tensors() {
            for axes in 0..1_u32 << t.rank() {
                let mask: Vec<bool> = (0..t.rank()).map(|axis| axes >> axis & 1 == 1).collect();
                let result = reduced(&t, &mask, &reducer).unwrap();
                assert_eq!(result.to_vec().unwrap(), model(&t, &mask, &reducer), "{t:?} {mask:?}");
            }
        }
    }
    agree(Sum);
    agree(ArgMax);
    agree(Chain::<true>);
    agree(Chain::<false>);
}

#[test]
fn kept_axes_keep_extent_1() {
    let t =
        Tensor::new([2, 3], Sparse::from_sorted(6, 1, vec![1, 5], vec![7, 9]).unwrap()).unwrap();
    let result = reduce_stored(&erased(&t.view()), &[false, true], true, &Sum).unwrap();
    assert_eq!(result.shape(), [2, 1]);
    assert_eq!(result.to_vec().unwrap(), [9, 11]);
    let identity = reduce_stored(&erased(&t.view()), &[false, false], false, &Sum).unwrap();
    assert_eq!(identity.to_vec().unwrap(), [1, 7, 1, 1, 1, 9]);
    assert_eq!(identity.storage().stored_len(), 2);
}

#[test]
fn cells_without_entries_are_not_visited() {
    let side = 1 << (usize::BITS / 2 - 2);
    let indexes = [[5, 7], [5, 9], [side - 1, 7]];
    let values = vec![10, 20, 30];
    let refuse = crate::storage::Duplicates::Refuse;
    let t = Tensor::from_coordinates([side, side], 2, &indexes, values, refuse).unwrap();
    let rows = reduced(&t, &[false, true], &Sum).unwrap();
    let empty = 2 * side as i64;
    assert_eq!(rows.storage().fill(), empty);
    assert!(rows.storage().iter().eq([(5, empty + 26), (side - 1, empty + 28)]));
    let columns = reduced(&t, &[true, false], &Sum).unwrap();
    assert!(columns.storage().iter().eq([(7, empty + 36), (9, empty + 18)]));
    let chained = reduced(t.view().transpose([1, 0]).unwrap(), &[true, false], &Chain::<true>);
    assert_eq!(chained.unwrap().storage().addresses(), [5, side - 1]);
    let all = reduced(&t, &[true, true], &Sum).unwrap();
    assert_eq!(all.item().unwrap(), (empty as i128 * side as i128 + 54) as i64);
}

/// The last element that is not negative; asked for none, it would panic.
struct LastGood;

impl Reducer<i64> for LastGood {
    type State = Option<i64>;
    type Out = i64;

    fn empty(&self) -> Option<Option<i64>> {
        Some(None)
    }

    fn first(&self, x: i64) -> Option<i64> {
        (x >= 0).then_some(x)
    }

    fn step(&self, state: &mut Option<i64>, x: i64) {
        *state = self.first(x).or(*state);
    }

    fn combine(&self, state: &mut Option<i64>, later: Option<i64>) {
        *state = later.or(*state);
    }

    fn finish(&self, state: Option<i64>) -> i64 {
        state.expect("a result")
    }

    fn undefined(&self, state: &Option<i64>) -> Option<Undefined> {
        state.is_none().then_some(Undefined::Empty)
    }
}

#[test]
fn states_without_a_result_are_not_finished() {
    let storage = Sparse::from_sorted(4, -1, vec![1, 2], vec![5, 6]).unwrap();
    let t = Tensor::new([2, 2], storage).unwrap();
    assert_eq!(reduced(&t, &[false, true], &LastGood).unwrap().to_vec().unwrap(), [5, 6]);
    let storage = Sparse::from_sorted(4, -1, vec![3], vec![5]).unwrap();
    let t = Tensor::new([2, 2], storage).unwrap();
    let error = reduced(&t, &[false, true], &LastGood).unwrap_err();
    assert_eq!(error, Error::NothingLeft { index: vec![0] });
    let none = Tensor::new([2, 0], Sparse::new(0, -1_i64)).unwrap();
    let error = reduced(&none, &[false, true], &LastGood).unwrap_err();
    assert_eq!(error, Error::NothingLeft { index: vec![0] });
    let dense = Tensor::from_vec([2, 0], Vec::<i64>::new()).unwrap();
    assert_eq!(dense.fold(1, LastGood).eval().unwrap_err(), error);
}

#[test]
fn errors_name_the_axis_and_the_cell() {
    let t = Tensor::new([2, 0], Sparse::new(0, 1_i64)).unwrap();
    let error = reduced(&t, &[false, true], &ArgMax).unwrap_err();
    assert_eq!(error, Error::EmptyReduction { axis: 1, shape: vec![2, 0] });
    assert_eq!(reduced(&t, &[false, true], &Sum).unwrap().to_vec().unwrap(), [0, 0]);
    assert_eq!(reduced(&t, &[true, false], &ArgMax).unwrap().shape(), [0]);

    // A sum of 1000 does not fit, of entries or of fill values.
    let storage = Sparse::from_sorted(6, 500, vec![0, 1], vec![1, 2]).unwrap();
    let t = Tensor::new([3, 2], storage).unwrap();
    let error = reduced(&t, &[false, true], &Sum).unwrap_err();
    assert_eq!(error, Error::Overflow { index: vec![1], target: "i64" });
    let storage = Sparse::from_sorted(6, 500, vec![2, 5], vec![7, 8]).unwrap();
    let t = Tensor::new([3, 2], storage).unwrap();
    let error = reduced(&t, &[false, true], &Sum).unwrap_err();
    assert_eq!(error, Error::Overflow { index: vec![0], target: "i64" });
    // Of entries in the last cell, of fill values in the first.
    let storage = Sparse::from_sorted(6, 500, vec![4], vec![500]).unwrap();
    let t = Tensor::new([3, 2], storage).unwrap();
    let error = reduced(&t, &[false, true], &Sum).unwrap_err();
    assert_eq!(error, Error::Overflow { index: vec![0], target: "i64" });
    let dense = Tensor::from(vec![1_i64]);
    let error = reduced(&dense, &[true], &Sum).unwrap_err();
    assert_eq!(error, Error::WouldDensify { stored: 0, dense: 1 });
}
