//! Storage and tables that change: errors or wrong numbers, never a panic.

use super::chains::View;
use super::model::Model;
use crate::support::Random;
use lensor::lanes::{Edges, SortOrder};
use lensor::ragged::{ElementwiseRagged, LanesRagged, Offsets, Ragged, ReduceRagged, concat};
use lensor::{Reader, StorageError, Tensor};
use quickcheck::quickcheck;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// A table whose owner shows another one with time: what is looked at first is not always what is kept.
struct Changing<T> {
    tables: Vec<Vec<T>>,
    /// How many looks are granted to each.
    looks: usize,
    seen: AtomicUsize,
}

impl<T> AsRef<[T]> for Changing<T> {
    fn as_ref(&self) -> &[T] {
        let seen = self.seen.fetch_add(1, Relaxed);
        &self.tables[(seen / self.looks) % self.tables.len()]
    }
}

/// Storage that shrinks after some questions for its length.
#[derive(Debug)]
struct Shrinking {
    data: Vec<i64>,
    looks: AtomicUsize,
    left: usize,
}

impl Reader for Shrinking {
    type Elem = i64;

    fn len(&self) -> usize {
        match self.looks.fetch_add(1, Relaxed) {
            looks if looks < self.left => self.data.len(),
            _ => self.data.len() / 2,
        }
    }

    fn read(&self, address: usize) -> i64 {
        self.data[address]
    }

    fn try_read(&self, address: usize) -> Result<i64, StorageError> {
        match self.data.get(address) {
            Some(x) if address < self.len() => Ok(*x),
            _ => Err(StorageError::new(address, "gone")),
        }
    }
}

/// More items than there are.
const BIG: u32 = u32::MAX;

/// Whatever can be asked of a tensor: nothing may panic.
fn ask<S: Reader<Elem = i64>>(r: &Ragged<S>, random: &mut Random) {
    // Views of a model that has the right rank, with any numbers.
    let kinds: Vec<Option<usize>> = r.extents().iter().map(|_| Some(2)).collect();
    let model = Model::random_of(&kinds, random);
    let _ = r.form().map(|form| form.count());
    let _ = r.to_vec();
    let _ = (r.to_string(), format!("{r:?}"));
    for _ in 0..4 {
        let view = View::random(&model, random);
        if let Ok(shown) = view.of(r.view(), random) {
            let _ = shown.to_vec();
            let _ = (&shown + 1).eval();
            let next = View::random(&model, random);
            let _ = next.of(shown, random).map(|shown| shown.to_vec());
        }
        let _ = view.of_lazy(r + 1, random).map(|e| e.eval().map(|r| r.to_vec()));
    }
    let _ = (r + r * 2).eval().map(|r| r.to_string());
    let _ = r.minimum(3).explain();
    let column = Tensor::from_vec([3, 1], vec![1, 2, 3]).unwrap();
    let _ = (r + &column).eval().map(|r| r.to_string());
    let other = Ragged::from_nested(vec![vec![1_i64], vec![2, 3], vec![4]]).unwrap();
    let _ = (r + &other).eval().map(|r| r.to_string());
}

/// Whatever can be computed of whole rows.
fn ask_of_rows<S: Reader<Elem = i64>>(r: &Ragged<S>) {
    let bins = Edges::new([0, 3, 9]).unwrap();
    for axis in 0..r.rank() {
        let _ = r.sum(axis).eval().map(|r| r.to_string());
        let _ = r.max(axis).or(0).keepdims().eval().map(|r| r.to_string());
        let _ = r.cumsum(axis).eval().map(|r| r.to_string());
        let _ = r.top_k(axis, 2, SortOrder::Ascending).eval().map(|r| r.to_string());
        let _ = r.argsort(axis, SortOrder::Descending).eval().map(|r| r.to_string());
        let _ = r.partition(axis, 1, SortOrder::Descending).eval().map(|r| r.to_string());
        let _ = r.sort_by(axis, i64::cmp).eval().map(|r| r.to_string());
        let _ = r.median(axis).keepdims().eval().map(|r| r.to_string());
        let _ = r.quantiles(axis, [0.5, 1.0], <_>::default()).eval().map(|r| r.to_string());
        let _ = r.histogram_along(axis, &bins).eval().map(|r| r.to_string());
        let _ = r.view().padded(axis, None, 7).map(|t| t.to_vec());
        let _ = r.mask(axis).map(|t| t.to_vec());
        let _ = concat(axis, [r.view(), r.view()]).map(|r| r.to_string());
    }
    let mut to = Ragged::from_nested(vec![vec![1_i64], vec![2, 3], vec![4]]).unwrap();
    let _ = to.assign(r);
}

fn numbers(random: &mut Random, rows: usize, most: usize) -> Vec<u32> {
    let mut all: Vec<u32> = (0..=rows).map(|_| random.below(most + 1) as u32).collect();
    match random.below(7) {
        0..4 => all.sort(),
        4 => all.truncate(random.below(rows + 1)),
        5 => all.extend([0, 1, 2]),
        _ => all[random.below(rows + 1)] = BIG,
    }
    all
}

quickcheck! {
    /// Tables that change after construction, at one level or two.
    fn views_of_changing_tables_do_not_panic(seed: u64) -> bool {
        let mut random = Random(seed);
        changing(&mut random).ask(|r| ask(r, &mut random));
        true
    }

    /// Folds, lanes, padding and assignment.
    fn rows_of_changing_tables_do_not_panic(seed: u64) -> bool {
        changing(&mut Random(seed)).ask(ask_of_rows);
        true
    }

    /// Storage that shrinks, whenever.
    fn shrinking_storage_does_not_panic(seed: u64) -> bool {
        let mut random = Random(seed);
        let data: Vec<i64> = (0..8).collect();
        let storage = Shrinking { data, looks: AtomicUsize::new(0), left: random.below(40) };
        let Ok(content) = Tensor::new([8], storage) else { return true };
        let r = match random.below(2) {
            0 => Ragged::new([3], Offsets::new(vec![1_u32, 3, 3, 8]).unwrap(), content),
            _ => Ragged::from_views([3], vec![7, 2, 3], vec![3, 1, 0], -2, content),
        };
        if let Ok(r) = r {
            ask(&r, &mut random);
            ask_of_rows(&r);
        }
        true
    }
}

/// A tensor whose tables change, if they were what they should be for long enough.
struct Made(Option<Ragged<Vec<i64>>>);

impl Made {
    fn ask(&self, ask: impl FnOnce(&Ragged<Vec<i64>>)) {
        if let Some(r) = &self.0 {
            ask(r);
        }
    }
}

fn changing(random: &mut Random) -> Made {
    let sorted = |rows: usize, most: usize, random: &mut Random| {
        let mut all: Vec<u32> = (0..=rows).map(|_| random.below(most + 1) as u32).collect();
        all.sort();
        all
    };
    let changing = |rows: usize, most: usize, random: &mut Random| {
        let first = sorted(rows, most, random);
        let others = (0..1 + random.below(3)).map(|_| numbers(random, rows, most));
        let tables = std::iter::once(first).chain(others).collect();
        let looks = [1, 2, 30][random.below(3)];
        Offsets::shared(Changing { tables, looks, seen: AtomicUsize::new(0) }).unwrap()
    };
    let (rows, items) = (3, random.below(9));
    let shape = if random.below(2) == 0 { vec![items] } else { vec![items, 2] };
    let data = (0..shape.iter().product::<usize>() as i64).collect::<Vec<_>>();
    let content = Tensor::from_vec(shape, data).unwrap();
    let inner = changing(rows, items, random);
    let r = Ragged::new([rows], inner, content).ok();
    Made(match random.below(3) {
        0 => r,
        1 => r.and_then(|r| r.nest([2], changing(2, rows, random)).ok()),
        _ => r.and_then(|r| r.nest([2], Offsets::new(vec![0_u32, 1, 3]).unwrap()).ok()),
    })
}
