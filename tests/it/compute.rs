//! Deferred operations as operands: what they mean, how often they are computed, and what they report.

use lensor::lanes::{Interpolation, Lanes, Side, SortOrder::Ascending};
use lensor::linalg::Linalg;
use lensor::prelude::*;
use lensor::product::PlusTimes;
use lensor::reduce::{CountNonzero, Reducer};
use lensor::rolling::{Rolling, WindowEdge};
use lensor::scan::Scan;
use lensor::segments::Segments;
use lensor::stencil::{Border, EdgeOrder, Mode, Stencil};
use lensor::storage::Duplicates;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A sum that counts how often it is asked for the result of no elements or one: once a result.
#[derive(Debug, Clone, Default)]
struct Counting(Arc<AtomicUsize>);

impl Counting {
    fn finished(&self) -> usize {
        self.0.swap(0, Ordering::Relaxed)
    }
}

impl Reducer<i64> for Counting {
    type State = i64;
    type Out = i64;

    fn empty(&self) -> Option<i64> {
        Some(0)
    }

    fn first(&self, x: i64) -> i64 {
        x
    }

    fn step(&self, state: &mut i64, x: i64) {
        *state += x;
    }

    fn combine(&self, state: &mut i64, other: i64) {
        *state += other;
    }

    fn finish(&self, state: i64) -> i64 {
        self.0.fetch_add(1, Ordering::Relaxed);
        state
    }
}

fn table() -> Tensor<Vec<i64>> {
    Tensor::from_vec([2, 3], vec![1, 2, 3, 4, 5, 6]).unwrap()
}

#[test]
fn an_operand_has_the_values_it_has_by_itself() {
    let t = Tensor::from_nested([[1.0_f64, 2.0, 6.0], [3.0, 5.0, 4.0]]).unwrap();
    let (mean, std) = (t.mean(0).eval().unwrap(), t.std(0).eval().unwrap());
    let whole = (&t - t.mean(0)) / t.std(0);
    assert_eq!(whole.to_vec(), ((&t - &mean) / &std).to_vec());
    let sorted = t.sum(0) + t.cumsum(0).select((1,)).unwrap();
    assert_eq!(sorted.to_vec().unwrap(), [8.0, 14.0, 20.0]);
    let parts = t.segments(1, [0, 1, 3]).fold(lensor::reduce::Sum);
    assert_eq!((10.0 * parts).to_vec().unwrap(), [10.0, 80.0, 30.0, 90.0]);
    assert_eq!((-t.rolling(1, 2).max()).to_vec().unwrap(), [-2.0, -6.0, -5.0, -5.0]);
    assert_eq!((2.0 - t.sum(1)).sqrt().abs().shape().unwrap(), [2]);
    // A view of it is a view of its result.
    let view = t.cumsum(1).transpose([1, 0]).unwrap().flip(0).unwrap();
    assert_eq!(view.to_vec().unwrap(), [9.0, 12.0, 3.0, 8.0, 1.0, 3.0]);
    let linked = t.cumsum(1).transpose([1, 0]).unwrap().reshape([2, 3]).unwrap() + 1.0;
    assert_eq!(linked.to_vec().unwrap(), [2.0, 4.0, 4.0, 9.0, 10.0, 13.0]);
}

#[test]
fn it_stands_wherever_a_tensor_may() {
    let t = table();
    let mut out = table();
    out += t.sum(1).keepdims();
    assert_eq!(out.to_vec().unwrap(), [7, 8, 9, 19, 20, 21]);
    out.assign(t.sum(0)).unwrap();
    assert_eq!(out.to_vec().unwrap(), [5, 7, 9, 5, 7, 9]);
    t.sum(0).assign_to(&mut out.view_mut().flip(1).unwrap()).unwrap();
    assert_eq!(out.to_vec().unwrap(), [9, 7, 5, 9, 7, 5]);
    out.update(|old| Ok((old - t.sum(0)).boxed())).unwrap();
    assert_eq!(out.to_vec().unwrap(), [4, 0, -4, 4, 0, -4]);
    let large = t.sum(lensor::reduce::Axes::All).filter(t.greater(t.mean_of_columns()));
    assert_eq!(large.item().unwrap(), 15);
    let chosen = choose(t.less(t.sum(0).lazy() - 4), t.sum(0), 0);
    assert_eq!(chosen.to_vec().unwrap(), [0, 7, 9, 0, 0, 0]);
    assert_eq!(zip_with((t.sum(0), &t), |(s, x)| s - x).to_vec().unwrap(), [4, 5, 6, 1, 2, 3]);
    let boxed: Vec<BoxExpr<i64>> =
        vec![t.sum(0).boxed(), (&t * t.sum(0)).boxed(), t.cumsum(0).boxed()];
    let all = boxed.into_iter().reduce(|a, b| (a + b).boxed()).unwrap();
    assert_eq!(all.to_vec().unwrap(), [11, 23, 39, 30, 49, 72]);
    assert_eq!(t.sum(0).sum(0).item().unwrap(), 21);
    assert_eq!(t.cumsum(0).cumsum(1).to_vec().unwrap(), [1, 3, 6, 5, 12, 21]);
    assert_eq!((&t - t.sum(0)).sort(1, Ascending).to_vec().unwrap(), [-6, -5, -4, -3, -2, -1]);
    assert_eq!((&t + t.sum(0)).cumsum(1).rolling(1, 2).sum().shape().unwrap(), [2, 2]);
}

trait Columns {
    fn mean_of_columns(&self) -> lensor::expr::Lazy<impl Expr<Elem = i64> + '_>;
}

impl Columns for Tensor<Vec<i64>> {
    fn mean_of_columns(&self) -> lensor::expr::Lazy<impl Expr<Elem = i64> + '_> {
        self.sum(0) / 2
    }
}

/// In one evaluation an operation, its clones and its references compute once, nested ones too; nothing is kept
/// for the next.
#[test]
fn it_is_computed_once_an_evaluation() {
    let (t, counting) = (table(), Counting::default());
    let sum = t.fold(0, counting.clone());
    assert_eq!(counting.finished(), 0);
    let e = (&t - &sum) * sum.clone() + &sum;
    assert_eq!(counting.finished(), 0);
    e.eval().unwrap();
    assert_eq!(counting.finished(), 3);
    e.eval().unwrap();
    assert_eq!(counting.finished(), 3);
    // Nested in another operation, which is computed first.
    let nested = (&t - &sum).sum(1).keepdims() * &sum + sum.clone();
    nested.eval().unwrap();
    assert_eq!(counting.finished(), 3);
    nested.boxed().eval().unwrap();
    assert_eq!(counting.finished(), 3);
    (&t * &sum).sum(0).eval().unwrap();
    assert_eq!(counting.finished(), 3);
    // A view that shows one element computes all, one that shows none nothing.
    sum.clone().select((0,)).unwrap().eval().unwrap();
    assert_eq!(counting.finished(), 3);
    (&t - &sum).slice(0, 0..0).unwrap().eval().unwrap();
    assert_eq!(counting.finished(), 0);
    // Nor does an expression that carries an error, nor an explanation.
    let other = Tensor::from(vec![1_i64, 2]);
    assert!(matches!((&other - &sum).eval(), Err(Error::Operands { .. })));
    let text = (&t - &sum).explain().unwrap().to_string();
    assert!(text.contains("2 operands"), "{text}");
    assert_eq!(counting.finished(), 0);
}

/// Errors of an operation come first, with the index in its own result; of several the leftmost is reported.
#[test]
fn errors_carry_the_index_in_the_result() {
    let t = Tensor::from_nested([[1_i64, i64::MAX], [1, 1]]).unwrap();
    let overflow = Error::Overflow { index: vec![1], target: "i64" };
    assert_eq!((&t / 0 - t.sum(0)).eval().map(drop), Err(overflow.clone()));
    let empty = Tensor::from_vec([0, 2], Vec::<i64>::new()).unwrap();
    let none = Error::EmptyReduction { axis: 0, shape: vec![0, 2] };
    assert_eq!((empty.max(0) + t.sum(0)).eval().map(drop), Err(none));
    assert_eq!((t.sum(0) + empty.max(0)).eval().map(drop), Err(overflow));
    let axis = Error::Axis { axis: 2, rank: 2 };
    assert_eq!((t.sum(2) + 1).shape(), Err(axis.clone()));
    assert_eq!((&t - t.cumsum(2)).eval().map(drop), Err(axis.clone()));
    assert_eq!(t.sum(2).flip(0).map(drop), Err(axis));
}

#[test]
fn sparse_operands_may_stand_beside_it() {
    let t =
        Tensor::from_coordinates([2, 3], 0_i64, &[[0, 1], [1, 2]], vec![5, 7], Duplicates::Refuse)
            .unwrap();
    assert_eq!((&t - t.sum(0)).to_vec().unwrap(), [0, 0, -7, 0, -5, 0]);
    let stored = zip_stored_with(&t);
    assert_eq!(stored.to_vec().unwrap(), [0, 25, 0, 0, 0, 49]);
    let mut sparse = t.clone();
    sparse += t.sum(1).keepdims();
    assert_eq!(sparse.to_vec().unwrap(), [5, 10, 5, 7, 7, 14]);
}

fn zip_stored_with(
    t: &Tensor<lensor::storage::Sparse<i64>>,
) -> Tensor<lensor::storage::Sparse<i64>> {
    lensor::expr::zip_stored((t, t.sum(0)), 0, |(x, sum)| x * sum).eval_sparse().unwrap()
}

/// Threads may compute with clones of one operation at the same time.
#[test]
fn threads_share_an_operation() {
    let t = Tensor::from_fn([200, 300], |k| k as i64 % 7).unwrap().eval_now();
    let sum = t.sum(0);
    let expected = (&t - &sum).to_vec().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..20 {
                    assert_eq!((&t - &sum).to_vec().unwrap(), expected);
                }
            });
        }
    });
}

trait Now {
    fn eval_now(self) -> Tensor<Vec<i64>>;
}

impl<S: lensor::Reader<Elem = i64>> Now for Tensor<S> {
    fn eval_now(self) -> Tensor<Vec<i64>> {
        self.eval().unwrap()
    }
}

/// What is too large to be computed at once on its way to a view is computed box by box.
#[test]
fn results_go_to_views_box_by_box() {
    fn agree<C: lensor::Compute<Elem: PartialEq + std::fmt::Debug + Default>>(
        operation: Deferred<C>,
    ) {
        let expected = operation.eval().unwrap();
        assert!(expected.len() > 1 << 16, "{} results are computed at once", expected.len());
        let shape: Vec<usize> = expected.shape().iter().rev().copied().collect();
        let axes: Vec<usize> = (0..shape.len()).rev().collect();
        let mut out = Tensor::full(&shape[..], C::Elem::default()).unwrap();
        operation.assign_to(&mut out.view_mut().transpose(&axes).unwrap()).unwrap();
        assert_eq!(out.view().transpose(&axes).unwrap(), expected);
    }
    let t =
        Tensor::from_index([7, 300, 130], |i| ((i[0] * 31 + i[1] * 17 + i[2] * 7) % 257) as f64)
            .unwrap();
    let flat = t.view().reshape([7 * 300, 130]).unwrap();
    let spacing = [1.0, 0.5, 2.0];
    agree(t.view().insert_axis(3).unwrap().sum(3));
    agree((&t * 2.0).insert_axis(0).unwrap().max(0).keepdims());
    for axis in 0..3 {
        agree(t.cumsum(axis));
        agree(t.cumsum(axis).exclusive().reverse());
        agree(t.rolling(axis, 3).mean());
        agree(t.rolling(axis, 2).centred().edge(WindowEdge::Cut).max());
        let groups = [7, 100, 60][axis];
        let keys: Vec<usize> = (0..t.shape()[axis]).map(|k| k % groups).collect();
        agree(t.by_key(axis, &keys, groups).fold(CountNonzero));
        agree(t.sort(axis, Ascending));
        agree(t.argsort(axis, Ascending));
        agree(t.quantiles(axis, &vec![0.1; [2, 80, 40][axis]], Interpolation::Linear));
        agree(t.take_along(axis, t.argsort(axis, Ascending)));
        agree(t.derivative(axis, 0.5, EdgeOrder::Second));
    }
    agree(t.view().insert_axis(1).unwrap().median(1));
    agree(t.view().insert_axis(3).unwrap().mode(3));
    agree(t.search_sorted(&t, Side::Left));
    agree(t.gradient(&spacing, EdgeOrder::First));
    agree(t.laplacian(&spacing));
    agree(t.convolve(Tensor::full([2, 3, 1], 0.5).unwrap().lazy(), Mode::Same(Border::Reflect)));
    agree((&t + 1.0).correlate(Tensor::full([2, 3, 1], 0.5).unwrap().lazy(), Mode::Valid));
    agree(t.matmul(t.view().transpose([0, 2, 1]).unwrap()));
    agree(t.matmul(Tensor::full([130, 140], 0.5).unwrap().lazy()));
    agree(flat.tensordot(Tensor::full([130, 90], 0.5).unwrap().lazy(), &[(1, 0)]));
}

/// An error does not depend on the box in which it is found.
#[test]
fn the_first_error_of_all_boxes_is_reported() {
    let t =
        Tensor::from_index([300, 400], |i| i64::from(i != [250, 0] && i != [200, 350])).unwrap();
    let quotients = &t / &t;
    let mut out = Tensor::full([400, 300], 0_i64).unwrap();
    let mut out = out.view_mut().transpose([1, 0]).unwrap();
    let error = Error::Arithmetic { index: vec![200, 350] };
    for axis in 0..2 {
        let sorted = quotients.view().sort(axis, Ascending);
        assert_eq!(sorted.eval().unwrap_err(), error);
        assert_eq!(sorted.assign_to(&mut out), Err(error.clone()));
        assert_eq!(quotients.view().cumsum(axis).assign_to(&mut out), Err(error.clone()));
    }
}

/// A function of stored entries as an operand is computed once in each evaluation, and kept for none that follows.
#[test]
fn zip_stored_is_computed_once_an_evaluation() {
    let s = lensor::storage::Sparse::from_sorted(6, 0, vec![1, 4], vec![2, 3]).unwrap();
    let (t, ones) = (Tensor::new([6], s).unwrap(), Tensor::full([6], 1).unwrap());
    let calls = AtomicUsize::new(0);
    let counted = |(x, y)| {
        calls.fetch_add(1, Ordering::Relaxed);
        x * y
    };
    let z = lensor::expr::zip_stored((&t, 10), 0, counted);
    let sum = &z + (&z + &ones).select((lensor::Select::every(-1),)).unwrap();
    assert_eq!(sum.eval().unwrap().to_vec().unwrap(), [1, 51, 1, 1, 51, 1]);
    let both = (&z + z.clone()).eval_sparse().unwrap();
    assert!(both.storage().iter().eq([(1, 40), (4, 60)]));
    assert_eq!(calls.load(Ordering::Relaxed), 6);
}

/// Boxes around deferred operations around boxes, and so on, are as many as boxes alone may be.
#[test]
fn chains_of_boxed_operations_end() {
    type Boxed = BoxExpr<'static, i64>;
    let t = Tensor::full([200], 1_i64).unwrap();
    let chain = |links: usize, step: fn(Boxed) -> Boxed| {
        (0..links).fold(t.clone().lazy().boxed(), |e, _| step(e))
    };
    let steps: [fn(Boxed) -> Boxed; 3] = [
        |e| (e.view().max(0) + e * 0).boxed(),
        |e| e.cummax(0).lazy().boxed(),
        |e| e.sort(0, SortOrder::Ascending).lazy().boxed(),
    ];
    for step in steps {
        assert_eq!(chain(90, step).to_vec().unwrap(), [1; 200]);
        let error = chain(20_000, step).eval().unwrap_err();
        assert_eq!(error, Error::TooDeep { depth: 101, limit: 100 });
    }
    let deep = (0..20_000).fold(t.clone().lazy().boxed(), |e, _| e.diff(0, 6));
    assert!(matches!(deep.eval(), Err(Error::TooDeep { .. })));
    let some = (0..20).fold(t.lazy().boxed(), |e, _| e.diff(0, 6));
    assert_eq!(some.to_vec().unwrap(), [0; 80]);
}

/// The bits of sums do not depend on where they go, whatever remains for the last box.
#[test]
fn results_that_go_to_views_have_the_same_bits() {
    fn agree<C: lensor::Compute<Elem = f64>>(operation: Deferred<C>) {
        let expected = operation.eval().unwrap();
        let (rows, columns) = (expected.shape()[0], expected.len() / expected.shape()[0]);
        assert!(expected.len() > 1 << 16, "{} results are computed at once", expected.len());
        let mut out = Tensor::full([columns, rows], 0.0).unwrap();
        let turned = out.view_mut().transpose([1, 0]).unwrap();
        let mut turned = turned.reshape(expected.shape().extents()).unwrap();
        operation.assign_to(&mut turned).unwrap();
        let found = turned.to_vec().unwrap();
        let differ =
            found.iter().zip(expected.storage()).position(|(a, b)| a.to_bits() != b.to_bits());
        assert_eq!(differ, None, "{rows} x {columns}");
    }
    let sines = |shape: &[usize]| {
        Tensor::from_index(shape, |i| i.iter().fold(0.1, |x, &k| (x + k as f64) * 1.7).sin())
    };
    for width in [17, 23] {
        let t = sines(&[5008, width]).unwrap();
        agree(t.rolling(0, 9).sum());
        agree(t.rolling(0, 9).mean());
        agree(t.cumsum(0));
    }
    let offsets: Vec<usize> = (0..=4000).map(|k| k * 8).collect();
    agree(sines(&[32_000, 17]).unwrap().segments(0, &offsets).sum());
    for width in [65_537, 65_543, 65_544] {
        agree(sines(&[9, width]).unwrap().sum(0).keepdims());
    }
    agree(sines(&[66, 65_543]).unwrap().var(0).keepdims());
}

/// Nothing is computed for what has no elements, whatever reads it.
#[test]
fn nothing_is_computed_for_no_elements() -> lensor::Result<()> {
    let t = Tensor::from(vec![i64::MAX, 1]);
    let mut none = Tensor::from_vec([0, 2], Vec::<i64>::new())?;
    assert!(t.sum(..).eval().is_err());
    let sum = || &none + t.sum(..);
    assert_eq!(sum().eval()?.shape(), [0, 2]);
    assert_eq!(sum().sum(0).to_vec()?, [0, 0]);
    assert_eq!(sum().cumsum(0).eval()?.shape(), [0, 2]);
    assert_eq!(sum().sort(1, SortOrder::Ascending).eval()?.shape(), [0, 2]);
    assert_eq!(sum().rolling(1, 2).sum().eval()?.shape(), [0, 1]);
    assert_eq!(sum().matmul(Tensor::full([2, 3], 1)?).eval()?.shape(), [0, 3]);
    assert_eq!(sum().count_nonzero(0).to_vec()?, [0, 0]);
    assert_eq!(none.matmul(t.cumsum(0).reshape([2, 1])?).eval()?.shape(), [0, 1]);
    let sparse = Tensor::sparse([0, 2], 0_i64)?;
    let column = t.cumsum(0).reshape([2, 1])?;
    assert_eq!(sparse.times_dense(column, PlusTimes).eval()?.shape(), [0, 1]);
    let no_indexes = Tensor::from(Vec::<usize>::new());
    assert_eq!(t.cumsum(0).take_at((&no_indexes,)).eval()?.shape(), [0]);
    none.view_mut().try_add_assign(t.sum(..))?;
    none.assign(t.sum(..))
}

/// Results are kept sparse by the fill value that is given, with the errors of the operation.
#[test]
fn results_become_sparse() -> lensor::Result<()> {
    let t = Tensor::from_nested([[0.0, 2.0, -1.0], [0.0, 3.0, 1.0]])?;
    let sums = t.sum(0).to_sparse(0.0)?;
    assert!(sums.is_sparse() && sums.view().flip(0)?.is_sparse() && !t.is_sparse());
    assert!(sums.storage().iter().eq([(1, 5.0)]));
    assert_eq!(t.sort(1, Ascending).to_sparse(0.0)?.storage().addresses(), [0, 2, 4, 5]);
    assert_eq!(sums.sum(0).to_sparse(5.0)?.storage().stored_len(), 0);
    assert_eq!(t.sum(2).to_sparse(0.0).unwrap_err(), Error::Axis { axis: 2, rank: 2 });
    Ok(())
}
