//! Any number of threads gives the same bits, and so does any table.

use super::model::{Item, Model};
use crate::support::{Random, pool};
use lensor::Tensor;
use lensor::lanes::SortOrder;
use lensor::ragged::{LanesRagged, Ragged, ReduceRagged};

/// Bits of everything that is computed in parallel.
fn all(r: &Ragged<Vec<f64>>) -> Vec<Vec<u64>> {
    let axis = r.rank() - 1;
    let rows = r.form().unwrap().offsets(0).unwrap().rows();
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
