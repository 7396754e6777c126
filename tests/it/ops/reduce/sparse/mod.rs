//! Reductions of sparse tensors of many shapes and densities against folds of dense copies.

#[cfg(feature = "quickcheck")]
mod order;

use lensor::dtype::SameBits;
use lensor::prelude::*;
use lensor::reduce::{Mean, Min, Product, Reducer, Sum, Undefined, WrappingProduct, WrappingSum};
use lensor::storage::{Duplicates, Sparse};
use quickcheck::{Arbitrary, Gen, QuickCheck};

fn check<A: quickcheck::Testable>(property: A) {
    QuickCheck::new().tests(150).quickcheck(property);
}

/// The elements of a cell, sorted: nothing gets lost, nothing comes twice. Its state is on the heap.
struct Sorted;

impl Reducer<i64> for Sorted {
    type State = Vec<i64>;
    type Out = (i64, usize, u64);
    fn empty(&self) -> Option<Vec<i64>> {
        Some(Vec::new())
    }
    fn first(&self, x: i64) -> Vec<i64> {
        vec![x]
    }
    fn step(&self, state: &mut Vec<i64>, x: i64) {
        state.push(x);
    }
    fn combine(&self, state: &mut Vec<i64>, later: Vec<i64>) {
        state.extend(later);
    }
    fn undefined(&self, state: &Vec<i64>) -> Option<Undefined> {
        (state.len() == usize::MAX).then_some(Undefined::Overflow)
    }
    fn finish(&self, mut state: Vec<i64>) -> (i64, usize, u64) {
        state.sort_unstable();
        let mixed = state.iter().fold(7, |hash: u64, x| hash.wrapping_mul(31) ^ *x as u64);
        (state.first().copied().unwrap_or(-1), state.len(), mixed)
    }
}

/// A tensor of up to four axes whose rows have anything from no entry to all of them.
#[derive(Debug, Clone)]
struct Case {
    shape: Vec<usize>,
    addresses: Vec<usize>,
    mask: Vec<bool>,
    fill: usize,
}

impl Arbitrary for Case {
    fn arbitrary(g: &mut Gen) -> Self {
        let rank = usize::arbitrary(g) % 4 + 1;
        let mut shape: Vec<usize> =
            (0..rank).map(|_| *g.choose(&[1, 2, 3, 5, 9]).unwrap()).collect();
        // One long axis, so that blocks of entries end inside of rows, or have many rows.
        let long = usize::arbitrary(g) % rank;
        shape[long] = *g.choose(&[1, 7, 300, 1100]).unwrap();
        while shape.iter().product::<usize>() > 20_000 {
            *shape.iter_mut().filter(|extent| **extent <= 9).max().unwrap() /= 2;
        }
        let count: usize = shape.iter().product();
        let one_in = *g.choose(&[1, 2, 9, 40, 1000]).unwrap();
        let addresses = (0..count).filter(|_| u32::arbitrary(g) % one_in == 0).collect();
        let mask = (0..rank).map(|_| bool::arbitrary(g)).collect();
        Self { shape, addresses, mask, fill: usize::arbitrary(g) }
    }
}

impl Case {
    fn tensor<T: Copy + Send + Sync>(
        &self,
        fill: T,
        value: impl Fn(usize) -> T,
    ) -> Tensor<Sparse<T>> {
        let (count, addresses) = (self.shape.iter().product(), self.addresses.clone());
        let values = addresses.iter().map(|&k| value(k)).collect();
        let storage = Sparse::from_sorted(count, fill, addresses, values).unwrap();
        Tensor::new(self.shape.clone(), storage).unwrap()
    }

    fn axes(&self) -> Vec<usize> {
        (0..self.mask.len()).filter(|axis| self.mask[*axis]).collect()
    }

    /// Results cell by cell, from dense elements: in each cell those that are stored, then fill values.
    fn model<T: Copy, R: Reducer<T>>(
        &self,
        fill: T,
        value: impl Fn(usize) -> T,
        r: &R,
    ) -> Vec<R::Out> {
        let mut cells: std::collections::BTreeMap<Vec<usize>, [Vec<T>; 2]> = Default::default();
        for address in 0..self.shape.iter().product() {
            let (mut rest, mut kept) = (address, Vec::new());
            for (extent, reduced) in self.shape.iter().zip(&self.mask).rev() {
                kept.extend((!reduced).then_some(rest % extent));
                rest /= extent;
            }
            kept.reverse();
            let stored = self.addresses.binary_search(&address).is_ok();
            let element = if stored { value(address) } else { fill };
            cells.entry(kept).or_insert([Vec::new(), Vec::new()])[usize::from(!stored)]
                .push(element);
        }
        cells.into_values().map(|cell| r.finish(r.fold(&cell.concat(), 0))).collect()
    }
}

#[test]
fn every_element_counts_once() {
    fn property(case: Case) -> bool {
        let (fill, value) = (-2_i64, |k: usize| (k * 31 % 101) as i64 - 50);
        let t = case.tensor(fill, value);
        let expected = case.model(fill, value, &Sorted);
        let result = t.fold(case.axes(), Sorted).eval().unwrap().to_vec().unwrap();
        let sparse = t.fold(case.axes(), Sorted).eval_sparse().unwrap();
        assert!(sparse.storage().addresses().windows(2).all(|pair| pair[0] < pair[1]));
        let sums = t.fold(case.axes(), WrappingSum).eval().unwrap().to_vec().unwrap();
        result == expected
            && sparse.to_vec().unwrap() == expected
            && sums == case.model(fill, value, &WrappingSum)
    }
    check(property as fn(Case) -> bool);
}

#[test]
fn results_of_floats_have_the_bits_of_folds() {
    fn property(case: Case) -> bool {
        let fill = [0.0, -0.0, 1.0, f64::NAN, f64::INFINITY][case.fill % 5];
        // Small integers, whose sums are exact; and many zeros of either sign.
        let value = |k: usize| match k * 7919 % 11 {
            0..4 => -0.0,
            4 => 0.0,
            x => x as f64 - 8.0,
        };
        let t = case.tensor(fill, value);
        let same = |found: Vec<f64>, expected: Vec<f64>| {
            let mut pairs = found.iter().zip(&expected);
            found.len() == expected.len() && pairs.all(|(a, b)| a.same_bits(*b))
        };
        let sums = t.sum(case.axes()).eval().unwrap().to_vec().unwrap();
        let lowest = t.fold(case.axes(), Min).eval().unwrap().to_vec().unwrap();
        // Of zeros of both signs either is the smallest.
        let plain = |all: Vec<f64>| all.into_iter().map(|x| x + 0.0).collect::<Vec<_>>();
        same(sums, case.model(fill, value, &Sum))
            && same(plain(lowest), plain(case.model(fill, value, &Min)))
    }
    check(property as fn(Case) -> bool);
}

/// What a neutral state takes is as if nothing had been before.
#[test]
fn neutral_states_leave_no_trace() {
    fn holds<T: Copy, R: Reducer<T>>(reducer: R, elements: &[T]) -> bool
    where
        R::Out: SameBits,
    {
        let neutral = || reducer.neutral().unwrap();
        elements.iter().all(|&x| {
            let (mut stepped, mut joined) = (neutral(), neutral());
            reducer.step(&mut stepped, x);
            reducer.combine(&mut joined, reducer.first(x));
            [stepped, joined]
                .into_iter()
                .all(|state| reducer.finish(state).same_bits(reducer.finish(reducer.first(x))))
        })
    }
    let floats =
        [0.0, -0.0, 1.5, -3.0, 5e-324, f64::MAX, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    let singles = floats.map(|x| x as f32);
    assert!(holds(Sum, &floats) && holds(Product, &floats));
    assert!(holds(Sum, &singles) && holds(Product, &singles));
    let integers = [0, 1, -1, i64::MIN, i64::MAX];
    assert!(holds(Sum, &integers) && holds(WrappingSum, &integers));
    assert!(holds(WrappingProduct, &integers) && holds(Sum, &[false, true]));
    assert!(holds(Sum, &[0, 1, u64::MAX]) && holds(Sum, &[0, i8::MIN, i8::MAX]));
    #[cfg(feature = "complex")]
    {
        let pairs =
            floats.iter().flat_map(|&re| floats.map(|im| num_complex::Complex::new(re, im)));
        let parts = |x: num_complex::Complex<f64>| [x.re, x.im];
        for x in pairs {
            let mut state = Reducer::<num_complex::Complex<f64>>::neutral(&Sum).unwrap();
            Sum.step(&mut state, x);
            assert!(parts(state).iter().zip(parts(x)).all(|(a, b)| a.same_bits(b)));
        }
    }
}

/// Any number of copies of an idempotent element are as one.
#[test]
fn idempotent_elements_need_not_be_counted() {
    fn holds<T: Copy, R: Reducer<T>>(reducer: R, elements: &[T]) -> usize
    where
        R::Out: SameBits,
    {
        let idempotent = elements.iter().filter(|x| reducer.is_idempotent(**x));
        let checked = idempotent.map(|&x| {
            let one = || reducer.finish(reducer.first(x));
            for count in [1, 2, 3, 7, 100, 9_999, 1 << 40] {
                let state = reducer.repeat(x, 0, count);
                assert!(reducer.undefined(&state).is_none());
                assert!(reducer.finish(state).same_bits(one()));
                let (mut earlier, later) = (reducer.first(x), reducer.repeat(x, 0, count));
                reducer.combine(&mut earlier, later);
                assert!(reducer.finish(earlier).same_bits(one()));
            }
        });
        checked.count()
    }
    let floats =
        [0.0, -0.0, 1.0, -1.0, 1.5, 5e-324, f64::MAX, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    let singles = [0.0, -0.0, 1.5, 1.0, f32::MAX, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
    assert_eq!((holds(Sum, &floats), holds(Sum, &singles)), (5, 5));
    assert_eq!((holds(Product, &floats), holds(Product, &singles)), (4, 4));
    let integers = [0, 1, -1, 2, i64::MIN, i64::MAX];
    assert_eq!((holds(Sum, &integers), holds(WrappingSum, &integers)), (1, 1));
    assert_eq!((holds(WrappingProduct, &integers), holds(Sum, &[false, true])), (2, 1));
    assert_eq!((holds(Min, &floats), holds(Mean, &floats)), (0, 0));
}

/// Rows and columns that are stored to the last element have no fill value, which may be seen in the sign of a
/// zero.
#[test]
fn cells_that_lack_nothing_take_no_fill_value() {
    fn property(seed: u64, tall: bool, shift: usize) -> bool {
        let mut state = seed | 1;
        let mut below = |limit: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(99991);
            (state >> 33) as usize % limit
        };
        let many = [40, 700, 1030, 2500][below(4)] + shift % 3;
        let (rows, columns) = if tall { (many, 2 + below(5)) } else { (2 + below(5), many) };
        let mut entries = std::collections::BTreeMap::new();
        for _ in 0..below(60) {
            entries.insert((below(rows), below(columns)), [-0.0, 0.0, 3.0, -5.0][below(4)]);
        }
        for _ in 0..below(4) {
            let (row, column) = (below(rows), below(columns));
            let gap = if below(3) == 0 { below(many) } else { many };
            let value = [-0.0, 1.0][below(2)];
            let (along, across) = (0..columns, 0..rows);
            if below(2) == 0 {
                entries.extend(along.filter(|k| *k != gap).map(|k| ((row, k), value)));
            } else {
                entries.extend(across.filter(|k| *k != gap).map(|k| ((k, column), value)));
            }
        }
        let indexes: Vec<[usize; 2]> = entries.keys().map(|&(row, column)| [row, column]).collect();
        let values: Vec<f64> = entries.values().copied().collect();
        let t =
            Tensor::from_coordinates([rows, columns], 0.0, &indexes, values, Duplicates::Refuse)
                .unwrap();
        (0..2).all(|axis| {
            let mut sums = vec![(0, -0.0); if axis == 0 { columns } else { rows }];
            for (&(row, column), value) in &entries {
                let sum = &mut sums[if axis == 0 { column } else { row }];
                *sum = (sum.0 + 1, sum.1 + value);
            }
            let size = if axis == 0 { rows } else { columns };
            let expected = sums.iter().map(|&(n, sum)| if n < size { sum + 0.0 } else { sum });
            let found = t.sum(axis).eval().unwrap().to_vec().unwrap();
            found.into_iter().zip(expected).all(|(a, b)| a.same_bits(b))
        })
    }
    QuickCheck::new().tests(400).quickcheck(property as fn(u64, bool, usize) -> bool);
}

/// Reducers with a neutral state, without one and with states on the heap; rows that are cells, columns that
/// are, and more cells than entries: results for all cells are those of the sparse result.
#[test]
fn all_results_at_once_are_the_sparse_ones() {
    fn property(case: Case) -> bool {
        let value = |k: usize| (k * 7919 % 101) as f64 / 7.0 - 6.0;
        let t = case.tensor([0.0, -0.0, 1.0, f64::NAN][case.fill % 4], value);
        fn agree<R: Reducer<f64, Out: SameBits> + Copy>(
            t: &Tensor<Sparse<f64>>,
            axes: Vec<usize>,
            reducer: R,
        ) -> bool {
            let all = t.fold(axes.clone(), reducer).eval().unwrap().to_vec().unwrap();
            let sparse = t.fold(axes, reducer).eval_sparse().unwrap().to_vec().unwrap();
            all.len() == sparse.len() && all.iter().zip(sparse).all(|(a, b)| a.same_bits(b))
        }
        agree(&t, case.axes(), Sum)
            && agree(&t, case.axes(), Product)
            && agree(&t, case.axes(), Mean)
            && agree(&t, case.axes(), Min)
    }
    check(property as fn(Case) -> bool);
}

#[test]
fn cells_lie_beyond_32_bits() {
    let (side, many) = (1_usize << 33, 1 << 13);
    let indexes: Vec<[usize; 2]> = (0..many).map(|k| [k % 7, side / many * k]).collect();
    let values = (0..many as i64).collect();
    let t =
        Tensor::from_coordinates([8, side], 1_i64, &indexes, values, Duplicates::Refuse).unwrap();
    let rows = t.sum(1).eval().unwrap().to_vec().unwrap();
    for (row, sum) in rows.into_iter().enumerate() {
        let own = (0..many).filter(|k| k % 7 == row);
        let missing = side as i64 - own.clone().count() as i64;
        assert_eq!(sum, own.sum::<usize>() as i64 + missing);
    }
    let columns = t.sum(0).eval_sparse().unwrap();
    assert_eq!(columns.storage().fill(), 8);
    let expected = (0..many).map(|k| (side / many * k, k as i64 + 7));
    assert!(columns.storage().iter().eq(expected));
}

/// Adds as a user would: `step` overflows wherever elements are added up that nobody asked for.
struct Plain;

impl Reducer<i32> for Plain {
    type State = i32;
    type Out = i32;
    fn empty(&self) -> Option<i32> {
        Some(0)
    }
    fn first(&self, x: i32) -> i32 {
        x
    }
    fn step(&self, state: &mut i32, x: i32) {
        *state = state.checked_add(x).expect("no such fold");
    }
    fn combine(&self, state: &mut i32, later: i32) {
        self.step(state, later);
    }
    fn finish(&self, state: i32) -> i32 {
        state
    }
}

#[test]
fn no_fold_is_made_that_nobody_asked_for() {
    let indexes: Vec<[usize; 2]> = (0..40).map(|k| [k, k * 7 % 40]).collect();
    let values = (0..40).map(|k| if k % 2 == 0 { i32::MAX } else { 1 }).collect();
    let t = Tensor::from_coordinates([40, 40], 0, &indexes, values, Duplicates::Refuse).unwrap();
    for axis in [0, 1] {
        let sums = t.fold(axis, Plain).eval().unwrap().to_vec().unwrap();
        assert_eq!(sums.iter().filter(|sum| **sum == i32::MAX).count(), 20);
        assert_eq!(sums.iter().filter(|sum| **sum == 1).count(), 20);
    }
}

/// Without elements nothing is evaluated, not even for the fill value.
#[test]
fn functions_are_not_called_without_elements() {
    let none = Tensor::sparse([0, 3], 9_usize).unwrap();
    let looked_up = || none.map(|k| [10_i64, 20][k]);
    assert_eq!(looked_up().sum(1).to_vec(), Ok(Vec::new()));
    assert_eq!(looked_up().sum(0).to_vec(), Ok(vec![0; 3]));
    assert_eq!(looked_up().try_equal(looked_up()), Ok(true));
    assert_eq!(looked_up().nonzero().unwrap().shape(), [0, 2]);
}

/// Entries are taken again only where a row may be without a fill value.
#[test]
fn entries_are_taken_once() {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    for (extents, entries) in [([200, 5000], 20_480), ([200, 5000], 20_481), ([2000, 500], 20_000)]
    {
        let len = extents[0] * extents[1];
        let addresses: Vec<usize> = (0..entries).map(|k| k * (len / entries)).collect();
        let storage = Sparse::from_sorted(len, 0, addresses, vec![1_i64; entries]).unwrap();
        let t = Tensor::new(extents, storage).unwrap();
        let calls = AtomicUsize::new(0);
        let counted = t.map(|x| {
            calls.fetch_add(1, Relaxed);
            x
        });
        for axis in [0, 1] {
            calls.store(0, Relaxed);
            let sums = counted.view().sum(axis).eval().unwrap().to_vec().unwrap();
            assert_eq!(sums.iter().sum::<i64>(), entries as i64);
            let calls = calls.load(Relaxed);
            assert!(calls < entries + entries / 10, "{calls} calls for {entries} entries");
        }
    }
}
