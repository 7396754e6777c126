//! Chains of views against lists in lists.

use super::chains::{View, chain};
use super::model::{Model, read};
use crate::support::Random;
use lensor::lanes::SortOrder::Ascending;
use lensor::prelude::*;
use lensor::ragged::{Extent, Offsets, Ragged, Stretch};
use lensor::storage::FromFn;
use quickcheck::quickcheck;
use std::sync::atomic::{AtomicUsize, Ordering};

quickcheck! {
    /// Chains of views show what they show of lists, and are refused with the same error.
    fn chains_show_the_lists(seed: u64) -> bool {
        let mut random = Random(seed);
        let model = Model::random(&mut random);
        let r = model.build(-1, &mut random);
        let (model, shown) = chain(&model, &r, 6, &mut random);
        let packed = (&shown + 0).eval().unwrap();
        assert_eq!(packed.form(), shown.form());
        read(&packed) == model
    }

    /// Views of expressions are those of their results.
    fn expressions_are_viewed_alike(seed: u64) -> bool {
        let mut random = Random(seed);
        let model = Model::random(&mut random);
        let r = model.build(-1, &mut random);
        let (model, shown) = chain(&model, &r, 2, &mut random);
        let view = View::random(&model, &mut random);
        let expected = model.map(|x| x * 2).view(&view);
        let found = view.of_lazy(&shown * 2, &mut random);
        match (expected, found) {
            (Ok(expected), Ok(found)) => {
                let found = (found - 0).eval().unwrap();
                assert_eq!(read(&found), expected, "{view:?}");
            }
            (Err(None), Err(_)) => {}
            (Err(Some(expected)), Err(found)) => assert_eq!(found, expected),
            (expected, found) => panic!("{model:?} {view:?} {expected:?} {}", found.is_ok()),
        }
        true
    }
}

/// Forms of operations and of their views are known without computing them, and a view of a view computes once.
#[test]
fn views_of_operations_compute_them_once() {
    let asked = AtomicUsize::new(0);
    let count = |k: usize| {
        asked.fetch_add(1, Ordering::Relaxed);
        (k * 7 % 5) as i64
    };
    let items = Tensor::new(6, FromFn::new(6, count)).unwrap();
    let r = Ragged::from_views([3], vec![0, 3, 3], vec![3, 0, 3], 1, items).unwrap();
    let sorted = r.sort(1, Ascending);
    assert_eq!(sorted.form().unwrap().to_string(), "3 * var");
    assert_eq!(r.sum(1).form().unwrap().to_string(), "3");
    assert_eq!(r.cumsum(1).form().unwrap().to_string(), "3 * var");
    let view = (sorted.lazy() + 10).flip(0).unwrap().select((1..,)).unwrap().flip(1).unwrap();
    assert_eq!(asked.load(Ordering::Relaxed), 0);
    assert_eq!(view.eval().unwrap().to_string(), "[[], [14, 12, 10]]");
    assert!(asked.load(Ordering::Relaxed) < 2 * 6);
}

/// Axes of extent 1 among fixed and var ones, and without them again.
#[test]
fn axes_are_inserted_and_removed() {
    let nested = [vec![vec![[1, 2]], vec![]], vec![vec![[3, 4], [5, 6]]]];
    let r = Ragged::from_nested(nested).unwrap().as_fixed(3).unwrap();
    let (turned, reversed) = (r.view().flip(0).unwrap(), r.view().flip(1).unwrap());
    for view in [r.view(), turned, reversed, r.view().clip(2, ..1).unwrap()] {
        for axis in 0..=4 {
            let mut extents = view.extents();
            extents.insert(axis, Extent::Fixed(1));
            let wide = view.clone().insert_axis(axis).unwrap();
            assert_eq!(wide.extents(), extents);
            assert_eq!(wide.to_vec().unwrap(), view.to_vec().unwrap());
            assert_eq!((&view + 0).insert_axis(axis).unwrap().eval().unwrap(), wide);
            assert_eq!(wide.remove_axis(axis).unwrap(), view);
        }
        let error = view.insert_axis(5).unwrap_err();
        assert_eq!(error, Error::Axis { axis: 5, rank: 4 });
    }
    for axis in [0, 3] {
        let error = r.view().remove_axis(axis).unwrap_err();
        assert_eq!(error, Error::Removed { axis, extent: 2 });
    }
    let error = r.view().remove_axis(1).unwrap_err();
    assert_eq!(error, Error::RowLength { row: vec![0], axis: 1, items: 2, expected: 1 });
    let single = r.view().slice(0, 1..).unwrap().remove_axis(1).unwrap();
    assert_eq!(single.to_string(), "[[[3, 4], [5, 6]]]");
    let most = Tensor::full([1; 64], 0).unwrap();
    let error = most.as_ragged().insert_axis(0).unwrap_err();
    assert_eq!(error, Error::RankLimit { rank: 65, limit: 64 });

    let same = r.view().select((.., .., .., 1..)).unwrap();
    assert_eq!(r.view().slice(3, 1..).unwrap(), same);
    let lacking = r.view().select((.., .., ..1)).unwrap_err();
    assert_eq!(r.view().slice(2, ..1).unwrap_err(), lacking);
}

/// Rows of memory that begin anywhere, in steps either way, are copied one by one.
#[test]
fn rows_in_steps_are_copied() {
    fn check<T: Copy + PartialEq + std::fmt::Debug + Send + Sync>(
        width: usize,
        of: fn(usize) -> T,
    ) {
        let (mut rows, mut items) = (Vec::new(), 0);
        for len in [0, 1, 9, 40, 3, 0, 16, 17, 15, 2, 33, 0, 8] {
            rows.push((items..items + len).collect::<Vec<_>>());
            items += len;
        }
        let content = Tensor::from_vec([items, width], (0..items * width).map(of).collect());
        let content = match width {
            1 => content.unwrap().remove_axis(1).unwrap(),
            _ => content.unwrap(),
        };
        let offsets = Offsets::from_lengths(rows.iter().map(Vec::len)).unwrap();
        let r = Ragged::new([rows.len()], offsets, content).unwrap();
        let same = |found: &Ragged<&Vec<T>>, rows: &[Vec<usize>]| {
            let items = rows.iter().flatten();
            let expected: Vec<T> =
                items.flat_map(|item| (0..width).map(move |x| of(item * width + x))).collect();
            assert_eq!(found.to_vec().unwrap(), expected);
            assert_eq!(found.eval().unwrap().content().to_vec().unwrap(), expected);
        };
        let order = [12_usize, 3, 0, 3, 10, 11, 7, 6, 8, 1, 2, 4, 9];
        let picked = order.iter().map(|&row| rows[row].clone()).collect();
        let turned = r.view().select((&order[..],)).unwrap();
        for (view, rows) in [(r.view(), rows), (turned, picked)] {
            for range in [Select::Reverse, (1..).into(), (..3).into()] {
                let change = |row: &Vec<usize>| match range {
                    Select::Reverse => row.iter().rev().copied().collect(),
                    Select::Range { start: 1, .. } => row.iter().skip(1).copied().collect(),
                    _ => row.iter().take(3).copied().collect::<Vec<_>>(),
                };
                let rows: Vec<_> = rows.iter().map(change).collect();
                let cut = view.clone().clip(1, range.clone()).unwrap();
                same(&cut, &rows);
                let each = |row: &Vec<usize>| row.iter().step_by(2).copied().collect();
                let every = cut.clone().clip(1, Select::every(2)).unwrap();
                same(&every, &rows.iter().map(each).collect::<Vec<_>>());
                let back = |row: &Vec<usize>| row.iter().rev().copied().collect();
                same(&cut.flip(1).unwrap(), &rows.iter().map(back).collect::<Vec<_>>());
            }
        }
    }
    check(1, |k| k as u8);
    check(3, |k| k as i64);
    check(1, |k| [k; 5]);
}

/// Rows that have no items may lie beyond all that there is.
#[test]
fn empty_rows_start_anywhere() {
    let content = Tensor::from_vec([2, 3], vec![1, 2, 3, 4, 5, 6]).unwrap();
    let starts = vec![usize::MAX, 1];
    let r = Ragged::from_views([2], starts, vec![0, 1], 1, content).unwrap();
    assert_eq!(r.flatten(2).unwrap().to_string(), "[[], [4, 5, 6]]");
}

/// Printing is bounded by what is shown, not by rows without items.
#[test]
fn rows_without_items_are_elided() {
    let empty = Tensor::full([12; 7].into_iter().chain([0]).collect::<Shape>(), 0_u8).unwrap();
    let text = empty.as_ragged().to_string();
    assert!(text.len() < 30_000 && text.contains(".."), "{}", text.len());
    let rows = Ragged::from_rows(vec![[0_u8; 0]; 100_000]).unwrap();
    assert_eq!(rows.to_string(), "[[], [], [], .., [], [], []]");
}

/// Dense tensors have as many axes as there may be among ragged ones too.
#[test]
fn dense_tensors_of_most_axes_are_viewed() {
    let mut shape = [1; 64];
    shape[62..].copy_from_slice(&[2, 3]);
    let t = Tensor::from_vec(shape, vec![1, 2, 3, 4, 5, 6]).unwrap();
    let r = t.as_ragged();
    assert_eq!(r.view().flip(63).unwrap().to_vec().unwrap(), [3, 2, 1, 6, 5, 4]);
    assert_eq!(r.view().swap_axes(62, 63).unwrap().to_vec().unwrap(), [1, 4, 2, 5, 3, 6]);
    assert_eq!(r.view().flatten(63).unwrap().to_vec().unwrap(), [1, 2, 3, 4, 5, 6]);
    let mut shifts = [0; 64];
    shifts[63] = 1;
    assert_eq!(r.view().rotate(shifts).unwrap().to_vec().unwrap(), [3, 1, 2, 6, 4, 5]);
    let mut index = [0; 64];
    index[62..].copy_from_slice(&[1, 2]);
    assert_eq!(r.get(index).unwrap(), 6);
}

/// What a view of an expression shows has no say in which lengths may stretch.
#[test]
fn views_without_elements_do_not_stretch_rows_either() {
    let r = Ragged::from_nested(vec![vec![1, 2], vec![3]]).unwrap();
    let one = Ragged::from_nested(vec![vec![10], vec![20]]).unwrap();
    let refused = (&r + &one).eval_with(Stretch::Strict).unwrap_err();
    assert!(matches!(refused, Error::RaggedOperands { .. }), "{refused}");
    for shown in [..0, ..1] {
        let view = (&r + &one).clip(1, shown).unwrap();
        assert_eq!(view.eval_with(Stretch::Strict).unwrap_err(), refused);
        assert_eq!(view.eval().unwrap().len().unwrap(), shown.end as usize * 2);
    }
}

/// Selectors that begin at the last item do so in each row, whatever their step.
#[test]
fn ranges_from_the_last_item() {
    let r = Ragged::from_nested(vec![vec![1, 2, 3], vec![4]]).unwrap();
    let first = r.view().select((..1,)).unwrap();
    let up = first.view().select((.., Select::FromLast { stop: 3, step: 1 })).unwrap();
    assert_eq!(up.to_string(), "[[3]]");
    let down = first.view().select((.., Select::FromLast { stop: 0, step: -1 })).unwrap();
    assert_eq!(down.to_string(), "[[3, 2]]");
    let beyond = first.view().select((.., Select::FromLast { stop: 9, step: 1 })).map(drop);
    assert_eq!(beyond, Err(Error::RowIndex { index: 3, row: vec![0], axis: 1, items: 3 }));
    assert_eq!(r.view().select((.., Select::last())).unwrap().to_vec(), Ok(vec![3, 4]));
    assert_eq!(r.view().select((Select::last(),)).unwrap().to_vec(), Ok(vec![4]));
    let before = r.view().select((.., Select::from_last(1))).map(drop);
    assert_eq!(before, Err(Error::RowIndex { index: -1, row: vec![1], axis: 1, items: 1 }));
}

/// What is evaluated lies in row-major order, wherever a call has its core axes.
#[test]
fn evaluated_calls_lie_in_order() {
    let content = Tensor::from_index([3, 3, 2], |i| (i[0] * 7 + i[1] * 5 + i[2] * 3) % 11).unwrap();
    let r = Ragged::new([2], Offsets::from_lengths([2, 1]).unwrap(), content).unwrap();
    let call = || lensor::gufunc::sort().call_ragged([&r]).axes([[2], [2]]);
    let [sorted] = call().eval().unwrap();
    let in_order = call().deferred().eval().unwrap();
    assert!(in_order.is_packed().unwrap());
    assert_eq!(in_order, sorted);
}
