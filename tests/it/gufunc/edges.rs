//! Numbers, extents and shapes at the edges of what ready-made functions and calls take.

use lensor::StorageError;
use lensor::expr::Explanation;
use lensor::gufunc::{
    Gufunc, cdist, cumulative, det, inner1d, inv, minmax, normalize, outer, solve, sort,
};
use lensor::lanes::{Side, SortOrder};
use lensor::linalg::einsum;
use lensor::prelude::*;
use lensor::reduce::Sum;
use lensor::stencil::{Border, Mode};
use lensor::storage::{Block, BlockMemory, Blocks, BlocksMut, Chunked, Duplicates};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

fn matrix(rows: [[f64; 2]; 2]) -> Tensor<Vec<f64>> {
    Tensor::from_nested(rows).unwrap()
}

fn near(found: &[f64], expected: &[f64]) {
    let close = |(x, y): (&f64, &f64)| x == y || ((x - y) / y).abs() < 1e-14;
    assert!(found.len() == expected.len() && found.iter().zip(expected).all(close), "{found:?}");
}

/// A column that is small in all rows is no column of zeros.
#[test]
fn columns_that_are_small_against_their_rows() {
    let a = matrix([[1e-20, 1e305], [1e-20, 2e305]]);
    let inverse = inv().call([&a]).eval().unwrap();
    near(inverse[0].storage(), &[2e20, -1e20, -1e-305, 1e-305]);
    near(det().call([&a]).eval().unwrap()[0].storage(), &[1e285]);
    let b = Tensor::from(vec![1e200, 3e200]);
    near(solve().call([&a, &b]).eval().unwrap()[0].storage(), &[-1e220, 2e-105]);
    let a = matrix([[1e-10, 1e300], [1e-10, 2e300]]);
    near(inv().call([&a]).eval().unwrap()[0].storage(), &[2e10, -1e10, -1e-300, 1e-300]);
    let zero = matrix([[0.0, 1e305], [0.0, 2e305]]);
    assert!(inv().call([&zero]).eval().is_err());
    assert_eq!(det().call([&zero]).eval().unwrap()[0].to_vec().unwrap(), [0.0]);
    // By elimination, with columns of all sizes.
    let sizes = [1e-200, 1e150, 1.0, 1e-300];
    let whole =
        |i: &[usize]| [[4, 1, 0, 2], [1, 5, 1, 0], [0, 2, 6, 1], [1, 0, 1, 7]][i[0]][i[1]] as f64;
    let plain = Tensor::from_index([4, 4], |i| whole(i)).unwrap();
    let scaled = Tensor::from_index([4, 4], |i| whole(i) * sizes[i[1]]).unwrap();
    let [of_plain] = inv().call([&plain]).eval().unwrap();
    let [of_scaled] = inv().call([&scaled]).eval().unwrap();
    let expected = Tensor::from_index([4, 4], |i| of_plain.get(i).unwrap() / sizes[i[0]]).unwrap();
    let close = |(x, y): (&f64, &f64)| (x - y).abs() <= 1e-13 * y.abs();
    let mut pairs = of_scaled.storage().iter().zip(expected.storage());
    assert!(pairs.all(close), "{of_scaled} {expected}");
}

/// A result that does not exist is told with its call and its place.
#[test]
fn running_results_that_do_not_fit() {
    let t = Tensor::from_nested([[1, 2, 3], [4, i64::MAX, 1], [i64::MAX, 1, 1]]).unwrap();
    for (t, text) in [
        (t.view(), "elementary function failed at [1]: result 1 does not fit its type"),
        (
            t.view().slice(0, 2..).unwrap(),
            "elementary function failed at [0]: result 1 does not fit its type",
        ),
    ] {
        let error = cumulative(Sum).call([&t]).eval().unwrap_err();
        assert_eq!(error.to_string(), text);
    }
    let (found,) = cumulative(Sum).call([&t.slice(1, ..1).unwrap()]).eval().unwrap();
    assert_eq!(found.to_vec().unwrap(), [1, 4, i64::MAX]);
    let none = Tensor::full([3, 0], 1_i64).unwrap();
    assert_eq!(cumulative(Sum).call([&none]).eval().unwrap().0.shape(), [3, 0]);
}

#[test]
fn vectors_with_an_infinity_are_normalized() {
    let t = Tensor::from(vec![1.0, f64::INFINITY, -2.0]);
    let found = normalize().call([&t]).eval().unwrap()[0].to_vec().unwrap();
    assert!(found[0] == 0.0 && found[1].is_nan() && found[2] == 0.0, "{found:?}");
}

#[cfg(feature = "half")]
#[test]
fn distances_of_narrow_floats() {
    use half::f16;
    let points = |x: f64| Tensor::from_vec([1, 1], vec![f16::from_f64(x)]).unwrap();
    let found = cdist().call([&points(0.0), &points(300.0)]).eval().unwrap();
    assert_eq!(found[0].to_vec().unwrap(), [f16::from_f64(300.0)]);
}

/// However many calls there are of cores without elements, those of other operands being one.
#[test]
fn calls_of_nothing_and_something() {
    let none = Tensor::full([1 << 40, 0, 3], 1.0).unwrap();
    let points = Tensor::full([5, 3], 1.0).unwrap();
    let found = cdist().call([&none, &points]).eval().unwrap();
    assert_eq!(found[0].shape(), [1 << 40, 0, 5]);
    let empty = Tensor::full([1 << 40, 0], 1.0).unwrap();
    let all = Tensor::full([], true).unwrap();
    let sorted = sort().call([&empty]).filter(&all).or([0.0]);
    assert_eq!(sorted.eval().unwrap()[0].shape(), [1 << 40, 0]);
}

/// Extents that differ from those that a result was laid out by.
#[test]
fn extents_that_change_are_an_error_of_deferred_calls() {
    let next = AtomicUsize::new(1);
    let made = Gufunc::<[i64; 1], [i64; 1], _>::each("(n)->(p)", |[x], [mut out]| {
        out.iter_mut().for_each(|slot| *slot = x[0]);
    });
    let gufunc = made.unwrap().with_extents(move |dims| dims.set("p", next.fetch_add(1, Relaxed)));
    let t = Tensor::from_nested([[3_i64, 4], [5, 6]]).unwrap();
    let found = gufunc.call([&t]).deferred().eval().map(drop);
    assert!(matches!(found, Err(Error::OutOfSpan { .. })), "{found:?}");
    let mut out = Tensor::full([2, 3], 0).unwrap();
    let found = gufunc.call([&t]).deferred().assign_to(&mut out);
    assert!(matches!(found, Err(Error::OutOfSpan { .. })), "{found:?}");
}

/// Matrices that lie far apart have the determinants of those that do not.
#[test]
fn determinants_of_matrices_far_apart() {
    let t = Tensor::from_index([40, 100, 3, 3], |i| {
        ((i[0] * 7 + i[1] * 5 + i[2] * 3 + i[3]) * 2_654_435_761 % 1009) as f64
    });
    let far = t.unwrap().select((.., 0)).unwrap();
    let near = far.view().eval().unwrap();
    let [found, expected] = [far.boxed(), near.boxed()].map(|t| det().call([t]).eval().unwrap());
    assert_eq!(found[0].to_vec(), expected[0].to_vec());
}

/// So they are of calls of rows, whose forms and elements ask for them apart.
#[test]
fn extents_that_change_are_an_error_of_ragged_calls() {
    let next = AtomicUsize::new(1);
    let made = Gufunc::<[i64; 1], [i64; 1], _>::each("(n)->(p)", |[x], [mut out]| {
        out.iter_mut().for_each(|slot| *slot = x[0]);
    });
    let gufunc = made.unwrap().with_extents(move |dims| dims.set("p", next.fetch_add(1, Relaxed)));
    let t = Tensor::from_nested([[1_i64, 9], [2, 9], [3, 9]]).unwrap();
    let found = gufunc.call_ragged([t.as_ragged()]).eval().map(drop);
    assert!(matches!(found, Err(Error::OutOfSpan { .. })), "{found:?}");
}

/// The operand that is sparse is named, not which of its own operands.
#[test]
fn sparse_operands_are_named_by_their_numbers() {
    let dense = Tensor::full([2, 3], 1.0).unwrap();
    let entries = (&[[0, 1]], vec![2.0]);
    let sparse =
        Tensor::from_coordinates([2, 3], 0.0, entries.0, entries.1, Duplicates::Refuse).unwrap();
    let text = |call: lensor::Result<Explanation>| call.unwrap().to_string();
    let first = text(inner1d().call((&dense * &sparse, &dense)).explain());
    assert!(first.contains("operand 1 is sparse") && !first.contains("operand 2 is sparse"));
    let second = text(inner1d().call((&dense, &dense * &sparse)).explain());
    assert!(second.contains("operand 2 is sparse") && !second.contains("operand 1 is sparse"));
    let numbers = "operand 2 is sparse and read densely: 6.0e0 elements for 1.0e0 entries";
    assert!(second.contains(numbers), "{second}");
}

/// Elements of a core by index, whatever lies in memory; beyond a side there are none.
#[test]
fn cores_have_sides() {
    let t = Tensor::from_index([3, 2], |i| (10 * i[0] + i[1]) as i64).unwrap();
    let turned = || t.view().transpose([1, 0]).unwrap();
    let turn = Gufunc::<[i64; 1], [i64; 1], _>::each("(m,n)->(n,m)", |[a], [mut out]| {
        assert_eq!((a.shape(), out.shape()), (&[2, 3][..], &[3, 2][..]));
        assert_eq!(a[..], [0, 10, 20, 1, 11, 21]);
        for (i, j) in (0..2).flat_map(|i| (0..3).map(move |j| (i, j))) {
            *out.at([j, i]) = a.at([i, j]);
        }
    });
    assert_eq!(turn.unwrap().call([turned()]).eval().unwrap()[0], t);
    for bad in [[2, 0], [0, 3]] {
        let at = Gufunc::<[i64; 1], [i64; 1], _>::each("(m,n)->()", move |[a], [mut out]| {
            out[0] = a.at(bad);
        });
        let at = at.unwrap();
        let call = || at.call([turned()]).eval().map(drop);
        assert!(catch_unwind(AssertUnwindSafe(call)).is_err(), "{bad:?}");
    }
}

/// Deferred operands of loops without an index are not computed; nor is anything read for them.
#[test]
fn empty_loops_compute_nothing() {
    let failing = || Tensor::full([3], 1).unwrap() / Tensor::from(vec![1, 0, 1]);
    assert!(failing().sum(0).eval().is_err());
    let empty = Tensor::full([0, 3], 1).unwrap();
    let fails = || failing().cumsum(0);
    let empty = empty.cast::<i64>().eval().unwrap();
    let found = inner1d().call((&empty, fails())).eval().unwrap();
    assert_eq!(found[0].shape(), [0]);
    assert_eq!(inner1d().call((&empty, fails())).deferred().eval().unwrap().shape(), [0]);
    let mut out = Tensor::full([0], 0_i64).unwrap();
    inner1d().call((&empty, fails())).assign_to(&mut out).unwrap();
    let step = Gufunc::<[i64; 2], [i64; 1], _>::each("(n),(n)->(n)", |[a, b], [mut out]| {
        out.iter_mut().zip(a.iter().zip(b.iter())).for_each(|(out, (a, b))| *out = a + b);
    });
    let mut rows = empty.clone();
    step.unwrap().update(&mut rows, (fails(),)).unwrap();
    let [least, _] =
        minmax().call([fails().insert_axis(0).unwrap().slice(0, 0..0).unwrap()]).outputs();
    assert_eq!(least.eval().unwrap().shape(), [0]);
}

/// A call is compared as other operands are.
#[test]
fn calls_are_compared() {
    let call = inv().call([matrix([[2.0, 0.0], [1.0, 4.0]])]);
    let inverse = call.eval().unwrap().into_iter().next().unwrap();
    assert!(call.try_equal(&inverse).unwrap());
    assert!(call.all_close(&inverse + 1e-9, 0.0, 1e-6).unwrap());
    assert!(!call.all_close(&inverse + 1.0, 0.0, 1e-6).unwrap());
}

/// Nor do other operations whose results have none.
#[test]
fn results_without_elements_compute_nothing() {
    let fails = || (Tensor::full([3], 1_i64).unwrap() / Tensor::from(vec![1, 0, 1])).cumsum(0);
    let none = Tensor::full([0], 1_i64).unwrap();
    assert_eq!(none.convolve(fails(), Mode::Same(Border::Zero)).eval().unwrap().shape(), [0]);
    assert_eq!(fails().segments(0, [0]).sum().eval().unwrap().shape(), [0]);
    assert_eq!(fails().search_sorted(&none, Side::Left).eval().unwrap().shape(), [0]);
    assert!(fails().search_sorted(&none, Side::Left).to_vec().unwrap().is_empty());
    let (failing, none) = (fails().insert_axis(1).unwrap(), none);
    assert_eq!(einsum("ij,k->jk", (failing, &none)).eval().unwrap().shape(), [1, 0]);
    let stack = Tensor::full([5, 0, 3], 1_i64).unwrap();
    let columns = || fails().insert_axis(1).unwrap();
    assert_eq!(stack.matmul(columns()).eval().unwrap().shape(), [5, 0, 1]);
}

/// Calls that give no elements are made all the same, and what they read is computed once.
#[test]
fn operands_of_calls_without_results_are_computed_once() {
    let count = AtomicUsize::new(0);
    let counted = Tensor::full([20_000, 3], 1.0).unwrap().lazy().map(|x| {
        count.fetch_add(1, Relaxed);
        x
    });
    let sums = counted.cumsum(1);
    let none = Tensor::<Vec<f64>>::from_vec([20_000, 0], vec![]).unwrap();
    let call = outer().call((&none, &sums));
    let computed = || count.swap(0, Relaxed);
    assert_eq!(call.eval().unwrap()[0].shape(), [20_000, 0, 3]);
    assert_eq!(computed(), 60_000);
    let call = outer().call((&none, &sums)).deferred();
    assert_eq!(call.eval().unwrap().shape(), [20_000, 0, 3]);
    assert_eq!(computed(), 60_000);
    let mut out = Tensor::full([20_000, 0, 3], 0.0).unwrap();
    call.assign_to(&mut out).unwrap();
    assert_eq!(computed(), 60_000);
}

/// Blocks that can be stored, and loaded only to the end of the test.
struct Unread(BlockMemory<i32>);

impl Blocks for Unread {
    type Elem = i32;

    fn extents(&self) -> &[usize] {
        self.0.extents()
    }

    fn block(&self) -> &[usize] {
        self.0.block()
    }

    fn load(&self, _index: &[usize]) -> Result<Block<'_, i32>, StorageError> {
        Err(StorageError::new(0, "lost"))
    }
}

impl BlocksMut for Unread {
    fn store(&self, index: &[usize], from: &[i32]) -> Result<(), StorageError> {
        self.0.store(index, from)
    }
}

/// What is overwritten whole is not read: no element of it, nor what a mask leaves out where other values take its place.
#[test]
fn destinations_that_are_overwritten_are_not_read() {
    let t = Tensor::from_index([4, 6], |i| (i[0] * 7 + i[1] * 5) as i32 % 11).unwrap();
    let sorted = t.view().lazy().sort(0, SortOrder::Ascending).eval().unwrap();
    let columns = Tensor::from_vec([6], vec![true, false, true, true, false, false]).unwrap();
    let expected = lensor::expr::choose(&columns, &sorted, 8).eval().unwrap();
    for masked in [false, true] {
        let blocks = Unread(BlockMemory::new([4, 6], [2, 3], 0).unwrap());
        let mut out = Tensor::new([4, 6], Chunked::new(blocks).unwrap()).unwrap();
        let call = sort().call([&t]).axis(0);
        match masked {
            true => call.filter(&columns).or([8]).assign_to(&mut out).unwrap(),
            false => call.assign_to(&mut out).unwrap(),
        }
        let found = Chunked::new(out.into_storage().into_inner().ok().unwrap().0).unwrap();
        let expected = if masked { &expected } else { &sorted };
        assert_eq!(&Tensor::new([4, 6], found).unwrap(), expected);
    }
}

/// Sparse destinations have the results of all boxes, and none of those of a call that failed.
#[test]
fn results_of_many_boxes_replace_entries() {
    let (rows, columns) = (3, 1 << 19);
    let dense = Tensor::from_index([rows, columns], |i| (i[0] * 3 + i[1]) as i32 % 5).unwrap();
    let sorted = dense.view().lazy().sort(0, SortOrder::Ascending).eval().unwrap();
    let mut out = Tensor::sparse([rows, columns], 2_i32).unwrap();
    out.set([1, 3], 9).unwrap();
    sort().call([&dense]).axis(0).assign_to(&mut out).unwrap();
    assert!(out.try_equal(&sorted).unwrap());
    let mut part = out.view_mut().slice(1, 5..columns).unwrap();
    let lower = dense.view().slice(1, 5..columns).unwrap();
    let minus = Gufunc::<[i32; 1], [i32; 1], _>::each("(n)->(n)", |[x], [mut y]| {
        x.iter().zip(y.iter_mut()).for_each(|(x, y)| *y = -x);
    });
    minus.unwrap().call([&lower]).axis(0).assign_to(&mut part).unwrap();
    assert_eq!(out.view().slice(1, 0..5).unwrap(), sorted.view().slice(1, 0..5).unwrap());
    let rest = out.view().slice(1, 5..columns).unwrap();
    assert!(rest.try_equal(-lower).unwrap());
}
