//! Functions of stored entries at their edges.

use lensor::expr::zip_stored;
use lensor::lanes::SortOrder;
use lensor::map::Select;
use lensor::prelude::*;
use lensor::storage::{Duplicates, Sparse};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Without elements there is a fill value, and whatever is made of it.
#[test]
fn functions_of_nothing_are_operands() {
    for (shape, joint) in [([0, 3], [0, 3]), ([1, 3], [0, 3]), ([0, 1], [0, 3])] {
        let a = Tensor::sparse(shape, 2.0).unwrap();
        let z = zip_stored((&a, &a), 5.0, |(x, y)| x * y);
        let b = Tensor::sparse(joint, 1.0).unwrap();
        let sum = (&z + &b).eval_sparse().unwrap();
        assert_eq!((sum.shape(), sum.storage().fill()), (joint.into(), 6.0));
        assert!((&z + &b).try_equal(&z + &b).unwrap());
        let mut out = Tensor::sparse(joint, 0.0).unwrap();
        out.assign(&z).unwrap();
        assert_eq!(out.storage().stored_len(), 0);
        assert_eq!((&z + &b).sum(0).to_vec().unwrap(), [0.0; 3]);
    }
}

/// Operands that do not decide are looked at where others have entries, however often their own would repeat.
#[test]
fn entries_of_others_are_not_repeated() {
    let (rows, columns) = (1_usize << 40, 100);
    let at = [[3, 0], [7, 99], [rows - 1, 50]];
    let x = Tensor::from_coordinates([rows, columns], 0, &at, vec![1, 2, 3], Duplicates::Refuse);
    let x = x.unwrap();
    let dense = Tensor::from_index([columns], |i| i[0] as i64).unwrap();
    let row = dense.map(|x| x + 1).to_sparse(0).unwrap();
    let expected = [0, 2 * 99 * 100, 3 * 50 * 51];
    let terms = zip_stored((&x, &dense * &row), 0, |(x, y)| x * y);
    assert_eq!(terms.eval_sparse().unwrap().storage().values(), expected);
    assert_eq!(terms.view().sum(..).item().unwrap(), expected.iter().sum::<i64>());
    let terms = zip_stored((&x, row.densely(), &dense), 0, |(x, y, z)| x * y * z);
    assert_eq!(terms.eval_sparse().unwrap().storage().values(), expected);
}

/// Entries of operands that decide are looked up where those of another one are, if their own would repeat too often.
#[test]
fn repeats_of_entries_are_looked_up() {
    let (rows, columns) = (1_usize << 40, 100);
    let at = [[3, 0], [7, 99], [9, 7], [rows - 1, 50]];
    let x = Tensor::from_coordinates([rows, columns], 0, &at, vec![1, 2, 3, 4], Duplicates::Refuse);
    let x = x.unwrap();
    let of = |fill: i64, columns: Vec<usize>| {
        let values = columns.iter().map(|&k| k as i64 * 10).collect();
        Tensor::new([100], Sparse::from_sorted(100, fill, columns, values).unwrap()).unwrap()
    };
    let row = of(5, (0..100).filter(|k| k % 10 != 0).collect());
    let other = of(1, vec![50]);
    let f = |(x, y): (i64, i64)| x * y;
    macro_rules! entries {
        ($z:expr) => {{
            let z = $z;
            let all = z.eval_sparse().unwrap();
            assert_eq!(z.sum(..).item(), Ok(all.storage().values().iter().sum::<i64>()));
            let entries = all.storage().iter();
            entries.map(|(k, value)| (k / columns, k % columns, value)).collect::<Vec<_>>()
        }};
    }
    let expected = [(7, 99, 1980), (9, 7, 210)];
    assert_eq!(entries!(zip_stored((&x, &row), 0, f)), expected);
    assert_eq!(entries!(zip_stored((&row, &x), 0, f)), expected);
    assert_eq!(entries!(zip_stored((&x, (&row * 1).boxed()), 0, f)), expected);
    let turned = row.view().flip(0).unwrap();
    let expected = [(3, 0, 990), (9, 7, 3 * 920), (rows - 1, 50, 4 * 490)];
    assert_eq!(entries!(zip_stored((&x, turned), 0, f)), expected);
    // An entry of either is one of both: 5 + 500 where the other one alone has it.
    let expected = [(7, 99, 2 * 991), (9, 7, 3 * 71), (rows - 1, 50, 4 * 505)];
    assert_eq!(entries!(zip_stored((&x, &row + &other), 0, f)), expected);
    let none = of(0, Vec::new());
    assert!(entries!(zip_stored((&none, &row, &x), 0, |(n, y, x)| n + x * y)).is_empty());
}

/// What is computed before an evaluation is viewed by its boxes: the function is called once for each entry.
#[test]
fn parts_of_evaluations_view_what_was_computed() {
    let (rows, columns) = (300, 400);
    let at: Vec<[usize; 2]> = (0..rows).map(|i| [i, i * 7 % columns]).collect();
    let values = (0..rows as i64).collect();
    let a = Tensor::from_coordinates([rows, columns], 0, &at, values, Duplicates::Refuse).unwrap();
    let dense = Tensor::from_index([rows, columns], |i| (i[0] * i[1]) as i64).unwrap();
    let calls = AtomicUsize::new(0);
    let squares = zip_stored((&a, &a), 0, |(x, y)| {
        calls.fetch_add(1, Ordering::Relaxed);
        x * y
    });
    let both = &dense + &squares;
    let expected = (&dense + &a * &a).eval().unwrap();
    macro_rules! same {
        ($($name:literal: |$t:ident| $operation:expr;)*) => { $(
            let wanted = { let $t = expected.view().lazy(); $operation.eval().unwrap() };
            let found = { let $t = both.view(); $operation };
            let mut shape = wanted.shape().to_vec();
            shape.push(2);
            let mut last = vec![Select::All; shape.len() - 1];
            last.push(1.into());
            for sparse in [false, true] {
                calls.store(0, Ordering::Relaxed);
                let out = if sparse {
                    let mut out = Tensor::sparse(wanted.shape(), 0_i64).unwrap();
                    found.assign_to(&mut out).unwrap();
                    out.eval().unwrap()
                } else {
                    let mut wide = Tensor::full(shape.clone(), 0_i64).unwrap();
                    let mut part = wide.view_mut().select(last.clone()).unwrap();
                    found.assign_to(&mut part).unwrap();
                    part.view().eval().unwrap()
                };
                assert_eq!(out, wanted, "{}", $name);
                assert_eq!(calls.load(Ordering::Relaxed), rows, "{}", $name);
            }
        )* };
    }
    same! {
        "sum": |t| t.sum(1);
        "cumsum": |t| t.cumsum(0);
        "rolling": |t| t.rolling(1, 3).sum();
        "segments": |t| t.segments(0, [0, 5, 200, 300]).sum();
        "sort": |t| t.sort(0, SortOrder::Ascending);
    }
}

/// Views that repeat a result do not compute it again for each repeat, nor list the entries of their operands so often.
#[test]
fn repeats_of_results_are_not_computed() {
    let n = 1 << 15;
    let all = (0..n).map(|k| [k]).collect::<Vec<_>>();
    let a = Tensor::from_coordinates([n], 0, &all, vec![3_i64; n], Duplicates::Refuse).unwrap();
    let calls = AtomicUsize::new(0);
    let z = zip_stored((&a, &a), 0, |(x, y)| {
        calls.fetch_add(1, Ordering::Relaxed);
        x * y
    });
    let d = Tensor::full([n], 1_i64).unwrap().broadcast([n, n]).unwrap();
    let both = (&z + &d).transpose([1, 0]).unwrap().slice(0, 5..9).unwrap();
    assert_eq!(both.view().sum(..).item().unwrap(), 10 * 4 * n as i64);
    assert_eq!(calls.swap(0, Ordering::Relaxed), n);
    let wide = z.view().broadcast([2, n]).unwrap();
    assert_eq!(wide.shape().unwrap(), [2, n]);
    assert_eq!((wide.view() + 1).slice(1, 0..7).unwrap().sum(1).to_vec().unwrap(), [70, 70]);
    assert_eq!(wide.rotate([0, 1]).unwrap().sum(0).to_vec().unwrap(), vec![18; n]);
    // Views that repeat nothing compute what they show.
    calls.store(0, Ordering::Relaxed);
    assert_eq!(z.view().slice(0, 2..7).unwrap().sum(..).item().unwrap(), 45);
    assert_eq!(calls.load(Ordering::Relaxed), 5);
}

/// Views that are made while the result is held are views of that, in boxes too.
#[test]
fn views_made_in_an_evaluation_show_what_they_should() {
    let values = (0..9).collect::<Vec<i64>>();
    let a = Tensor::from_vec([3, 3], values).unwrap().to_sparse(0).unwrap();
    let z = zip_stored((&a, &a), 0, |(x, y)| x + y);
    let rows = z.view().sum(1).to_vec().unwrap();
    let none = Tensor::full([3, 3], 0_i64).unwrap();
    let held = (&z + &none).map(|x| {
        let turned = z.view().transpose([1, 0]).unwrap();
        assert_eq!(turned.view().sum(0).to_vec().unwrap(), rows);
        let boxed = turned.boxed().transpose([1, 0]).unwrap();
        assert_eq!(boxed.sum(1).to_vec().unwrap(), rows);
        x
    });
    assert_eq!(held.sum(1).to_vec().unwrap(), rows);
}

/// Without a sparse operand there is nowhere to evaluate, and nothing that such a function is part of is sparse.
#[test]
fn functions_of_dense_operands_are_not_sparse() {
    let dense = Tensor::full([3], 1_i64).unwrap();
    let sparse = Tensor::sparse([3], 0_i64).unwrap();
    let z = zip_stored((&dense, &dense), 0, |(x, y)| x * y);
    let both = || &z + &sparse;
    assert!(!z.is_sparse() && !both().is_sparse());
    assert!(zip_stored((&dense, &sparse), 0, |(x, y)| x * y).is_sparse());
    let nowhere = Error::WouldDensify { stored: 0, dense: 3 };
    assert_eq!(z.eval_sparse().unwrap_err(), nowhere);
    assert_eq!(both().eval_sparse().unwrap_err(), nowhere);
    assert_eq!(z.to_sparse(0).unwrap_err(), nowhere);
    assert_eq!(z.view().nonzero().unwrap_err(), nowhere);
    assert_eq!(z.view().sum(..).item(), Err(nowhere.clone()));
    assert_eq!(both().sum(..).item(), Err(nowhere));
}
