//! Elements by index, and tensors as values.

use super::chains::{View, chain};
use super::model::{Item, Model, read};
use crate::support::Random;
use lensor::gufunc::{norm, sort};
use lensor::lanes::SortOrder::Ascending;
use lensor::prelude::*;
use lensor::ragged::{LanesRagged, Offsets, Ragged, ReduceRagged};
use lensor::storage::Duplicates;
use quickcheck::quickcheck;
use std::sync::atomic::{AtomicUsize, Ordering};

/// An index that no axis of a model has.
const OUTSIDE: i128 = 1 << 40;

/// The index and the value of every element.
fn elements(item: &Item<i64>, index: &mut Vec<usize>, all: &mut Vec<(Vec<usize>, i64)>) {
    match item {
        Item::One(x) => all.push((index.clone(), *x)),
        Item::List(list) => {
            for (k, item) in list.iter().enumerate() {
                index.push(k);
                elements(item, index, all);
                index.pop();
            }
        }
    }
}

quickcheck! {
    /// Elements of views are those of lists, and writing one changes that one.
    fn elements_are_those_of_lists(seed: u64) -> bool {
        let mut random = Random(seed);
        let model = Model::random(&mut random);
        let r = model.build(-1, &mut random);
        let (model, shown) = chain(&model, &r, 3, &mut random);
        let (mut all, mut packed) = (Vec::new(), shown.eval().unwrap());
        elements(&model.root, &mut Vec::new(), &mut all);
        assert_eq!(shown.len().unwrap(), all.len());
        assert_eq!(shown.is_empty().unwrap(), all.is_empty());
        let items = shown.view().into_items().unwrap().to_vec().unwrap();
        assert!(items.iter().eq(all.iter().map(|(_, x)| x)));
        assert_eq!(shown.item().ok(), (all.len() == 1).then(|| all[0].1));
        for (index, x) in all.iter().step_by(1 + all.len() / 8) {
            assert_eq!(shown.get(index), Ok(*x));
            packed.set(index, x + 1000).unwrap();
            assert_eq!(packed.get(index), Ok(x + 1000));
            packed.set(index, *x).unwrap();
        }
        packed == shown
    }

    /// An index outside is refused with its axis, and with its row if rows differ in length.
    fn elements_outside_are_named(seed: u64) -> bool {
        let mut random = Random(seed);
        let model = Model::random(&mut random);
        let r = model.build(-1, &mut random);
        let mut all = Vec::new();
        elements(&model.root, &mut Vec::new(), &mut all);
        for (index, _) in all.iter().take(5) {
            for axis in 0..index.len() {
                let mut outside = index.clone();
                outside[axis] = OUTSIDE as usize;
                match r.get(&outside).unwrap_err() {
                    Error::Index { axis: found, index: OUTSIDE, .. } => {
                        assert!(found == axis && model.kinds[axis].is_some());
                    }
                    Error::RowIndex { axis: found, index: OUTSIDE, row, .. } => {
                        assert!(found == axis && row == index[..axis] && model.kinds[axis].is_none());
                    }
                    error => panic!("{outside:?}: {error}"),
                }
            }
        }
        true
    }

    /// Tensors are equal if lists are, whatever shows them.
    fn equality_is_that_of_lists(seed: u64) -> bool {
        let mut random = Random(seed);
        let model = Model::random(&mut random);
        let (a, b) = (model.build(-1, &mut random), model.build(-2, &mut random));
        let (_, shown) = chain(&model, &a, 2, &mut random);
        let kept = shown.eval().unwrap();
        assert!(a == b && kept == shown && shown.try_equal(&kept).unwrap());
        let others = (&kept + 1).eval().unwrap();
        assert_eq!(others == kept, kept.is_empty().unwrap());
        assert_eq!(a == kept, read(&a.eval().unwrap()) == read(&kept));
        let mut filled = kept.clone();
        filled.fill(7).unwrap();
        (&kept * 0 + 7).eval().unwrap() == filled
    }

    /// Views of operations are those of their results.
    fn operations_are_viewed_alike(seed: u64) -> bool {
        let mut random = Random(seed);
        let model = Model::random(&mut random);
        let r = model.build(-1, &mut random);
        let Some(axis) = (0..r.rank()).next_back() else { return true };
        let (sorted, view) = (r.sort(axis, Ascending), View::random(&model, &mut random));
        let Ok(kept) = sorted.eval() else { return true };
        let (of_kept, of_lazy) = (view.of_lazy(kept.lazy(), &mut Random(seed)), view.of_lazy(sorted.view(), &mut Random(seed)));
        match (of_kept, of_lazy) {
            (Ok(a), Ok(b)) => a.eval().unwrap() == b.eval().unwrap(),
            (a, b) => a.is_err() && b.is_err(),
        }
    }
}

/// What is not there, and what has several elements.
#[test]
fn elements_that_are_not_there() {
    let mut r = Ragged::from_nested(vec![vec![1, 2, 3], vec![], vec![4]]).unwrap();
    let text = |found: lensor::Result<i32>| found.unwrap_err().to_string();
    assert_eq!(text(r.get([0])), "expected 2 indexes, one per axis, found 1");
    assert_eq!(text(r.get([3, 0])), "index 3 is out of bounds: axis 0 has extent 3");
    assert_eq!(text(r.item()), "shape [4] has 4 elements, and the only one was asked for");
    assert_eq!(text((&r + 1).item()), text(r.item()));
    let sums = r.sum(1).eval().unwrap();
    assert_eq!(sums.item().unwrap_err(), r.sum(1).item().unwrap_err());
    assert_eq!(text(r.max(0).item()), "shape [3] has 3 elements, and the only one was asked for");
    let beyond = Error::RowIndex { axis: 1, row: vec![1], index: 0, items: 0 };
    assert_eq!(r.get([1, 0]), Err(beyond));
    assert_eq!(r.set([1, 0], 5).unwrap_err(), r.get([1, 0]).unwrap_err());
    assert_eq!(r.sum(..).item(), Ok(10));
}

/// Every kind of operand is computed into rows that are there.
#[test]
fn all_operands_are_assigned() {
    let r = Ragged::from_nested(vec![vec![3, 1, 2], vec![], vec![4]]).unwrap();
    let mut out = (&r * 0).eval().unwrap();
    r.assign_to(&mut out).unwrap();
    assert_eq!(out, r);
    r.sort(1, Ascending).assign_to(&mut out).unwrap();
    assert_eq!(out.to_string(), "[[1, 2, 3], [], [4]]");
    (&r + 10).assign_to(&mut out.view_mut().flip(1).unwrap()).unwrap();
    assert_eq!(out.to_string(), "[[12, 11, 13], [], [14]]");
    let other = Ragged::from_nested(vec![vec![1, 2], vec![2], vec![3]]).unwrap();
    assert!(matches!(other.assign_to(&mut out), Err(Error::RowLength { .. })));
    let close = (&r.view().lazy().cast::<f64>() + 0.25).eval().unwrap();
    assert!(close.all_close(r.cast::<f64>(), 0.0, 0.25).unwrap());
    assert!(!close.all_close(r.cast::<f64>(), 0.0, 0.125).unwrap());
}

/// Every kind of operand is compared with every other.
#[test]
fn all_operands_are_compared() {
    let r = Ragged::from_nested(vec![vec![3_i64, 1, 2], vec![], vec![4]]).unwrap();
    let (sorted, call) = (r.sort(1, Ascending), || sort().call_ragged([&r]));
    assert!(sorted.try_equal(call()).unwrap() && call().try_equal(&sorted).unwrap());
    assert!((&sorted + 1).try_equal(call() + 1).unwrap());
    assert!(!r.try_equal(&sorted).unwrap() && !sorted.try_equal(&r + 0).unwrap());
    let t = Tensor::from_nested([[1_i64, 2], [3, 4]]).unwrap();
    assert!(t.as_ragged().try_equal(&t * 1).unwrap());
    // Rows that may differ in length are no fixed axis.
    let rows = Ragged::from_nested(vec![vec![1_i64, 2], vec![3, 4]]).unwrap();
    assert!(
        !rows.try_equal(&t).unwrap()
            && rows.cast::<f64>().all_close(t.cast::<f64>(), 0.0, 0.0).unwrap()
    );

    // Where lengths tell that they differ, nothing is computed.
    let overflows = Ragged::from_nested(vec![vec![i64::MAX, 1]]).unwrap();
    assert!(!overflows.cumsum(1).try_equal(&r).unwrap());
    assert!(matches!(overflows.cumsum(1).try_equal(&overflows), Err(Error::Overflow { .. })));
    let error = r.cast::<f64>().all_close(overflows.cast::<f64>() * 0.0, 0.0, 0.0).unwrap_err();
    assert!(matches!(error, Error::RaggedOperands { .. } | Error::Operands { .. }), "{error}");

    let asked = AtomicUsize::new(0);
    let counted = r.view().lazy().map(|x: i64| {
        asked.fetch_add(1, Ordering::Relaxed);
        x
    });
    let sums = counted.cumsum(1);
    assert!(sums.try_equal(&sums).unwrap());
    assert!(asked.load(Ordering::Relaxed) < 2 * 4, "computed twice");
}

/// Rows that are not packed are compared by entries, however many elements there are.
#[test]
fn sparse_rows_are_compared_by_entries() {
    const COLUMNS: usize = 1 << 40;
    let rows = |indexes: [[usize; 2]; 2], values: [i64; 2]| {
        let values = values.to_vec();
        let content =
            Tensor::from_coordinates([4, COLUMNS], 0, &indexes, values, Duplicates::Refuse);
        Ragged::new([2], Offsets::from_lengths([1, 3]).unwrap(), content.unwrap()).unwrap()
    };
    let r = rows([[1, 5], [2, 9]], [7, 8]);
    let turned = r.view().flip(1).unwrap();
    let packed = rows([[2, 9], [3, 5]], [8, 7]);
    assert!(turned == packed && turned == r.view().flip(1).unwrap());
    assert_eq!(packed.try_equal(&turned), Ok(true));
    assert!(turned != r && turned != rows([[2, 9], [3, 5]], [8, 6]));
    assert_eq!(turned.try_equal(&turned), Ok(true));
    assert_eq!(turned.try_equal(&r), Ok(false));
    assert_eq!((&turned * 2).try_equal(&packed + &packed), Ok(true));
    assert_eq!((&turned * 2).try_equal(&r + &r), Ok(false));
    let swapped = r.view().select((vec![1_usize, 0],)).unwrap();
    assert!(swapped == r.view().flip(0).unwrap() && swapped != r);
    assert!(swapped.select((vec![1_usize, 0],)).unwrap() == r);
    // Constants have no entries.
    let constant = |x: u8| {
        let content = Tensor::constant([9, COLUMNS], x).unwrap();
        Ragged::from_views([2], vec![8, 3], vec![4, 2], -2, content).unwrap()
    };
    assert!(constant(7) == constant(7) && constant(7) != constant(8));
}

/// Four rows anywhere in nine items, some of which are in several.
fn anywhere<S: Reader>(content: Tensor<S>, step: isize) -> Ragged<S> {
    let starts = [8, 4, 5, 7].map(|start| if step < 0 { start } else { 8 - start });
    Ragged::from_views([4], starts.to_vec(), vec![3, 0, 2, 4], step, content).unwrap()
}

/// Whatever is computed of rows of sparse content, it is that of dense content.
#[test]
fn sparse_rows_have_the_elements_of_dense_ones() {
    let dense = Tensor::from_index([9, 2], |i| ((3 * i[0] + i[1]) % 4) as i64).unwrap();
    let sparse = dense.to_sparse(0).unwrap();
    for step in [-2, -1, 1, 2] {
        let (a, b) = (anywhere(dense.view(), step), anywhere(sparse.view(), step));
        let kept = a.eval().unwrap();
        assert_eq!(b.eval().unwrap().to_string(), kept.to_string());
        assert!(a == b && b == kept && b == anywhere(sparse.view(), step));
        assert!(!(&b + 1).try_equal(&a).unwrap() && (&b * &a).try_equal(&kept * &kept).unwrap());
        assert!(b.view().sum(1).try_equal(kept.sum(1)).unwrap());
        assert!(b.view().cumsum(1).try_equal(kept.cumsum(1)).unwrap());
        assert!(b.view().sort(1, Ascending).try_equal(kept.sort(1, Ascending)).unwrap());
    }
}

/// A call of one output has what other results have.
#[test]
fn calls_are_results() {
    let r = Ragged::from_nested(vec![vec![4.0, 3.0], vec![], vec![2.0]]).unwrap();
    let call = || norm().call_ragged([&r]);
    assert_eq!(call().to_string(), "gufunc (n)->(), not computed yet: `.eval()?` computes it");
    assert_eq!(call().form().unwrap().to_string(), "3");
    assert_eq!(call().select((0,)).unwrap().item(), Ok(5.0));
    assert_eq!(call().select((..1,)).unwrap().item(), Ok(5.0));
    assert_eq!(call().item().unwrap_err(), call().deferred().item().unwrap_err());
    assert_eq!(call().flip(0).unwrap().to_vec().unwrap(), [2.0, 0.0, 5.0]);
    assert!(call().all_close(Tensor::from(vec![5.0, 1e-9, 2.0]), 0.0, 1e-6).unwrap());
    let sorted = sort().call_ragged([&r]);
    assert_eq!(sorted.form().unwrap().lengths(1).unwrap(), [2, 0, 1]);
    assert_eq!(sorted.clip(1, ..1).unwrap().eval().unwrap().to_string(), "[[3], [], [2]]");
}
