//! Any number of threads gives the same bits, and so does any table.

use super::model::{Item, Model};
use crate::support::{Random, pool};
use lensor::Tensor;
use lensor::gufunc::minmax;
use lensor::lanes::SortOrder;
use lensor::ragged::{ElementwiseRagged, LanesRagged, Ragged, ReduceRagged, Stretch};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bits of everything that is computed in parallel.
fn all(r: &Ragged<Vec<f64>>) -> Vec<Vec<u64>> {
    let axis = r.rank() - 1;
    let rows = r.form().unwrap().offsets(1).unwrap().rows();
    let numbers = (0..rows).map(|row| row as f64).collect::<Vec<_>>();
    let column = Tensor::from_vec([rows, 1], numbers).unwrap();
    let bits = |all: Vec<f64>| all.into_iter().map(f64::to_bits).collect::<Vec<_>>();
    vec![
        bits((r * 3.0 - &column).eval().unwrap().to_vec().unwrap()),
        bits(r.sum(axis).eval().unwrap().to_vec().unwrap()),
        bits((r * r).sum(axis).eval().unwrap().to_vec().unwrap()),
        bits(r.sum(..).eval().unwrap().to_vec().unwrap()),
        bits(r.sum(0).eval().unwrap().to_vec().unwrap()),
        bits(r.cumsum(axis).eval().unwrap().to_vec().unwrap()),
        bits(r.sort(axis, SortOrder::Descending).eval().unwrap().to_vec().unwrap()),
        r.argsort(axis, SortOrder::Ascending)
            .eval()
            .unwrap()
            .to_vec()
            .unwrap()
            .into_iter()
            .map(|k| k as u64)
            .collect(),
        bits(r.view().flip(axis).unwrap().to_vec().unwrap()),
    ]
}

#[test]
fn threads_and_tables_give_the_same_bits() {
    let mut random = Random(5);
    let rows: Vec<Item<f64>> = (0..1000)
        .map(|k| {
            let len = match k % 100 {
                0 => 5000,
                1 => 0,
                _ => random.below(70),
            };
            let number = |_| {
                Item::One((random.below(1 << 20) as f64 - 5e5) * [1.0, 1e-9, 1e9][random.below(3)])
            };
            Item::List((0..len).map(number).collect())
        })
        .collect();
    let model = Model { kinds: vec![Some(1000), None], root: Item::List(rows) };
    let expected = pool(1).install(|| all(&model.build(0.5, &mut random)));
    for threads in [2, 3] {
        for _ in 0..2 {
            let r = model.build(-0.5, &mut random);
            assert!(pool(threads).install(|| all(&r)) == expected, "{threads} threads");
        }
    }
}

/// An evaluation that stretches rows holds its results while another one, which may not stretch them, asks for them.
#[test]
fn results_that_were_stretched_are_not_given_to_strict_evaluations() {
    let rows = Ragged::from_nested(vec![vec![3, 1], vec![2]]).unwrap();
    let ones = Ragged::from_nested(vec![vec![10], vec![20]]).unwrap();
    let refused = AtomicUsize::new(0);
    let sums = (&rows + &ones).sort(1, SortOrder::Ascending);
    let nested = |x: i32| {
        let strict = (&sums + 0).eval_with(Stretch::Strict);
        refused.fetch_add(usize::from(strict.is_err()), Ordering::Relaxed);
        x
    };
    assert_eq!(sums.view().map(nested).eval().unwrap().to_string(), "[[11, 13], [22]]");
    assert_eq!(refused.swap(0, Ordering::Relaxed), 3);

    let [least, most] = minmax().call_ragged([&rows + &ones]).outputs();
    let nested = |x: i32| {
        let strict = (&most + 0).eval_with(Stretch::Strict);
        refused.fetch_add(usize::from(strict.is_err()), Ordering::Relaxed);
        x
    };
    assert_eq!(least.view().map(nested).eval().unwrap().to_string(), "[11, 22]");
    assert_eq!(refused.load(Ordering::Relaxed), 2);
}
