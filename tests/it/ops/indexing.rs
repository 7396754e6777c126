//! Masks, repeats, lists of indexes and evaluation in parts, held against plain loops over dense copies.
//!
//! Longer than 400 lines because all of it draws from the same generators; each test stands alone.

use crate::model::Model;
use crate::support::Random;
use lensor::arbitrary::{SparseViewed, Viewed};
use lensor::expr::Explanation;
use lensor::indexing::Indexing;
use lensor::map::IntoMask;
use lensor::prelude::*;
use lensor::reduce::{Max, Reducer, Sum, Undefined};
use lensor::scan::Scan;
use lensor::storage::Duplicates;
use lensor::{Reader, StorageError, Writer};
use quickcheck::{QuickCheck, TestResult};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

impl Random {
    fn mask(&mut self, len: usize) -> Vec<bool> {
        let kind = self.below(6);
        (0..len).map(|_| if kind < 2 { kind == 0 } else { self.below(3) > 0 }).collect()
    }
}

/// Selectors that take everything but a list of one axis.
fn listed(rank: usize, axis: usize, list: Vec<usize>) -> Vec<Select> {
    let mut selectors = vec![Select::All; rank];
    selectors[axis] = Select::List(list);
    selectors
}

fn indexes_of(mask: &[bool]) -> Vec<usize> {
    (0..mask.len()).filter(|&k| mask[k]).collect()
}

#[test]
fn a_mask_takes_what_the_list_of_its_indexes_takes() {
    fn law(viewed: Viewed<i32>, seed: u64) -> TestResult {
        let (shape, data) = viewed.model();
        if shape.rank() == 0 {
            return TestResult::discard();
        }
        let mut random = Random(seed);
        let axis = random.below(shape.rank());
        let mask = random.mask(shape[axis]);
        let selectors = listed(shape.rank(), axis, indexes_of(&mask));
        let expected = Model::new(&shape, data).select(&selectors).unwrap();
        let same = |found: Tensor<Vec<i32>>| {
            found.shape() == expected.shape[..] && found.to_vec().unwrap() == expected.data
        };
        let t = viewed.tensor();
        let mut all = vec![Select::All; axis];
        all.push(Select::mask(&mask));
        let bits = Tensor::from(mask.clone());
        TestResult::from_bool(
            same(t.view().compress(axis, &mask).unwrap().eval().unwrap())
                && same(t.view().select(&all).unwrap().eval().unwrap())
                && same((&t + 0).compress(axis, mask.as_slice()).unwrap().eval().unwrap())
                && same((&t + 0).compress(axis, !!&bits).unwrap().eval().unwrap())
                && t.view().compress(axis, &bits).unwrap().address_map()
                    == t.view().select(&selectors).unwrap().address_map(),
        )
    }
    QuickCheck::new().tests(200).quickcheck(law as fn(Viewed<i32>, u64) -> TestResult);
}

#[test]
fn what_a_mask_takes_can_be_written() {
    fn law(viewed: Viewed<i32>, seed: u64) -> TestResult {
        let mut t = viewed.tensor();
        let shape = t.shape();
        if shape.rank() == 0 || t.address_map().check_injective().is_err() {
            return TestResult::discard();
        }
        let mut random = Random(seed);
        let axis = random.below(shape.rank());
        let mask = random.mask(shape[axis]);
        let mut expected = t.to_vec().unwrap();
        for (index, element) in shape.indexes().unwrap().zip(&mut expected) {
            if mask[index[axis]] {
                *element = 7;
            }
        }
        t.view_mut().compress(axis, &mask).unwrap().fill(7).unwrap();
        TestResult::from_bool(t.to_vec().unwrap() == expected)
    }
    QuickCheck::new().tests(200).quickcheck(law as fn(Viewed<i32>, u64) -> TestResult);
}

#[test]
fn repeats_come_in_order_each_as_often_as_it_is_counted() {
    fn law(viewed: SparseViewed<i32>, seed: u64) -> TestResult {
        let (shape, data) = viewed.model();
        if shape.rank() == 0 {
            return TestResult::discard();
        }
        let mut random = Random(seed);
        let axis = random.below(shape.rank());
        let counts: Vec<usize> = (0..shape[axis]).map(|_| random.below(4)).collect();
        let times = random.below(4);
        let list = |count: &dyn Fn(usize) -> usize| {
            (0..shape[axis]).flat_map(|k| std::iter::repeat_n(k, count(k))).collect()
        };
        let model = Model::new(&shape, data);
        let expected = |list| model.select(&listed(shape.rank(), axis, list));
        let (Ok(each), Ok(all)) = (expected(list(&|k| counts[k])), expected(list(&|_| times)))
        else {
            return TestResult::discard();
        };
        let (t, dense) = (viewed.tensor(), viewed.dense());
        let repeated = t.view().repeat(axis, &counts).unwrap();
        TestResult::from_bool(
            repeated.shape() == each.shape[..]
                && repeated.to_vec().unwrap() == each.data
                && repeated.lazy().eval_sparse().unwrap().to_vec().unwrap() == each.data
                && dense.view().repeat(axis, times).unwrap().to_vec().unwrap() == all.data
                && (&dense + 0).repeat(axis, counts.clone()).unwrap().to_vec().unwrap()
                    == each.data,
        )
    }
    QuickCheck::new().tests(200).quickcheck(law as fn(SparseViewed<i32>, u64) -> TestResult);
}

/// Beyond the limit of tables a link repeats, in no memory.
#[test]
fn many_repeats_take_no_memory() {
    let t = Tensor::from_nested([[1, 2], [3, 4]]).unwrap();
    let many = t.view().repeat(1, 1 << 40).unwrap();
    assert_eq!(many.shape(), [2, 1 << 41]);
    assert_eq!(many.get([0, (1 << 40) - 1]), Ok(1));
    assert_eq!(many.get([1, 1 << 40]), Ok(4));
    let long = Tensor::from_fn([1 << 60], |k| k).unwrap();
    assert_eq!(long.repeat(0, 0).unwrap().shape(), [0]);
    let error = t.view().repeat(0, usize::MAX).unwrap_err();
    assert_eq!(error, Error::ShapeOverflow { shape: vec![usize::MAX, 2] });
}

#[test]
fn deferred_operations_have_the_same_views() {
    let t = Tensor::from(vec![1_i64, 2, 3]);
    assert_eq!(t.cumsum(0).compress(0, [true, false, true]).unwrap().to_vec().unwrap(), [1, 6]);
    assert_eq!(t.cumsum(0).repeat(0, [0, 2, 1]).unwrap().to_vec().unwrap(), [3, 3, 6]);
    assert_eq!(t.clone().compress(0, t.sum(0).equal(6_i64)).unwrap_err().to_string(), RANK);
}

const RANK: &str = "expected a tensor of rank 1, found shape []";

#[test]
fn masks_and_counts_are_as_long_as_the_axis() {
    let t = Tensor::from_nested([[1, 2, 3], [4, 5, 6]]).unwrap();
    let error = t.view().select((.., Select::mask([true; 2]))).unwrap_err();
    let what = "elements of the mask";
    assert_eq!(error, Error::ListLength { what, axis: 1, extent: 3, found: 2 });
    let text = "axis 1 has extent 3 and needs as many elements of the mask, found 2";
    assert_eq!(error.to_string(), text);
    assert_eq!(t.view().compress(1, vec![true; 2]).unwrap_err(), error);
    assert_eq!(t.view().compress(2, [true]).unwrap_err(), Error::Axis { axis: 2, rank: 2 });
    let error = t.view().repeat(0, [1, 2, 3]).unwrap_err();
    assert_eq!(error, Error::ListLength { what: "counts", axis: 0, extent: 2, found: 3 });
    let text = "axis 0 has extent 2 and needs as many counts, found 3";
    assert_eq!(error.to_string(), text);
    assert_eq!(t.view().repeat(2, 1).unwrap_err(), Error::Axis { axis: 2, rank: 2 });
    // An error of the mask itself is that of what selects by it.
    let zero = Tensor::from(vec![1_i32, 0]);
    let mask = Select::mask((1 / &zero).equal(1));
    assert_eq!(t.select((mask,)).unwrap_err(), Error::Arithmetic { index: vec![1] });
    assert_eq!(zero.equal(0).into_mask().unwrap().indexes(), [1]);
}

/// Indexes of a shape without extents of 0, as rows of one list of shape `front`.
fn random_list(random: &mut Random, front: &[usize], shape: &[usize]) -> Tensor<Vec<usize>> {
    let count: usize = front.iter().product();
    let data = (0..count).flat_map(|_| shape.iter().map(|&n| random.below(n)).collect::<Vec<_>>());
    Tensor::from_vec([front, &[shape.len()]].concat(), data.collect()).unwrap()
}

fn fronts(random: &mut Random) -> Vec<usize> {
    let rank = random.below(4);
    (0..rank).map(|_| random.below(4)).collect()
}

/// The indexes of a list, one after another.
fn rows(list: &Tensor<Vec<usize>>) -> Vec<Vec<usize>> {
    let (shape, data) = (list.shape(), list.to_vec().unwrap());
    let (rank, front) = shape.split_last().unwrap();
    let count: usize = front.iter().product();
    (0..count).map(|k| data[k * rank..][..*rank].to_vec()).collect()
}

#[test]
fn nonzero_finds_what_a_loop_finds() {
    fn law(viewed: SparseViewed<i8>) -> bool {
        let (shape, data) = viewed.model();
        let model = Model::new(&shape, data);
        let expected: Vec<Vec<usize>> = crate::model::all_indexes(&shape)
            .into_iter()
            .filter(|index| *model.get(index) != 0)
            .collect();
        let same = |found: Tensor<Vec<usize>>| {
            found.shape() == [expected.len(), shape.rank()]
                && found.to_vec().unwrap() == expected.concat()
        };
        let (sparse, dense) = (viewed.tensor(), viewed.dense());
        same(sparse.nonzero().unwrap())
            && same((&sparse * 3).nonzero().unwrap())
            && same(dense.view().nonzero().unwrap())
            && same(dense.not_equal(0).nonzero().unwrap())
    }
    QuickCheck::new().tests(300).quickcheck(law as fn(SparseViewed<i8>) -> bool);
}

/// Only entries are visited: there are 2^60 elements.
#[test]
fn nonzero_of_sparse_tensors_visits_entries() {
    let (at, values) = ([[5, 1 << 29], [7, 3]], vec![2.5, 0.0]);
    let t = Tensor::from_coordinates([1 << 30; 2], 0.0, &at, values, Duplicates::Refuse).unwrap();
    assert_eq!(t.nonzero().unwrap().to_vec().unwrap(), [5, 1 << 29]);
    let scalar = Tensor::full([], f64::NAN).unwrap();
    assert_eq!(scalar.nonzero().unwrap().shape(), [1, 0]);
    assert_eq!(t.take_at(t.nonzero().unwrap()).to_vec().unwrap(), [2.5]);
}

#[test]
fn a_list_takes_one_element_for_each_index() {
    fn law(viewed: SparseViewed<i32>, seed: u64) -> TestResult {
        let (shape, data) = viewed.model();
        if data.is_empty() {
            return TestResult::discard();
        }
        let mut random = Random(seed);
        let front = fronts(&mut random);
        let list = random_list(&mut random, &front, &shape);
        let model = Model::new(&shape, data);
        let expected: Vec<i32> = rows(&list).iter().map(|index| *model.get(index)).collect();
        let (sparse, dense) = (viewed.tensor(), viewed.dense());
        let taken = dense.take_at(&list);
        let mut out = Tensor::full(&front[..], 0).unwrap();
        taken.assign_to(&mut out).unwrap();
        TestResult::from_bool(
            taken.shape().unwrap() == front[..]
                && taken.to_vec().unwrap() == expected
                && out.to_vec().unwrap() == expected
                && sparse.take_at(&list).to_vec().unwrap() == expected
                && (&dense + 0).take_at(&list + 0).to_vec().unwrap() == expected
                && (dense.take_at(list.clone()) - &out).to_vec().unwrap().iter().all(|&x| x == 0),
        )
    }
    QuickCheck::new().tests(300).quickcheck(law as fn(SparseViewed<i32>, u64) -> TestResult);
}

/// A list longer than one part, over expressions and an operand that is computed once.
#[test]
fn long_lists_are_taken_part_by_part() {
    let t = Tensor::from_vec([300, 7], (0..2100_i64).collect()).unwrap();
    let list = random_list(&mut Random(1), &[3, 50_000], &[300, 7]);
    let expected: Vec<i64> = rows(&list).iter().map(|at| (at[0] * 7 + at[1]) as i64).collect();
    assert_eq!(t.take_at(&list).to_vec().unwrap(), expected);
    let turned = (t.view().transpose([1, 0]).unwrap() + 1) - 1;
    let swapped = list.view().flip(2).unwrap();
    assert_eq!(turned.take_at(swapped).to_vec().unwrap(), expected);
    let same = t.cumsum(0) - t.cumsum(0) + &t;
    assert_eq!(same.take_at(&list).to_vec().unwrap(), expected);
    let error = (1 / (&t - 2099)).take_at(&list).eval().unwrap_err();
    let first = expected.iter().position(|&x| x == 2099).unwrap();
    assert_eq!(error, Error::Arithmetic { index: vec![first / 50_000, first % 50_000] });
    assert!(t.take_at(&list).explain().unwrap().to_string().contains("list: 150000 indexes"));
}

/// Several tasks read parts of a list, and the first wrong index is the error.
#[test]
fn long_lists_are_shared_among_threads() {
    let t = Tensor::from_vec([300, 7], (0..2100_i64).collect()).unwrap();
    for front in [&[140_000][..], &[3, 2, 25_000]] {
        let mut list = random_list(&mut Random(2), front, &[300, 7]);
        let expected: Vec<i64> = rows(&list).iter().map(|at| (at[0] * 7 + at[1]) as i64).collect();
        let read = |list: &Tensor<Vec<usize>>, threads| {
            crate::support::pool(threads).install(|| t.take_at(list).to_vec())
        };
        for threads in [1, 2, 3] {
            assert!(read(&list, threads).unwrap() == expected);
        }
        for (place, axis) in [(130_000, 1), (100_000, 0)] {
            let (mut at, mut rest) = (Vec::new(), place);
            for extent in front.iter().rev() {
                at.insert(0, rest % extent);
                rest /= extent;
            }
            list.set([&at[..], &[axis]].concat(), 300).unwrap();
            let error = Error::IndexAt { at, axis, index: 300, extent: [300, 7][axis] };
            for threads in [1, 2, 3] {
                assert_eq!(read(&list, threads).unwrap_err(), error);
            }
        }
    }
}

/// Of an expression each element once, for a list of as many indexes; what a deferred operation made is read there.
#[test]
fn long_lists_have_operands_computed_once() {
    let calls = AtomicUsize::new(0);
    let counting = |x: i64| {
        calls.fetch_add(1, Ordering::Relaxed);
        x
    };
    let t = Tensor::from((0..10_i64).collect::<Vec<_>>());
    let list = Tensor::from((0..30).map(|k| k * 7 % 9).collect::<Vec<usize>>());
    let expected: Vec<i64> = list.storage().iter().map(|&k| k as i64).collect();
    assert_eq!(t.map(counting).take_at((&list,)).to_vec().unwrap(), expected);
    assert_eq!(calls.swap(0, Ordering::Relaxed), 10);
    let sums = t.map(counting).cumsum(0);
    let differences = (&sums).take_at((&list,)) - sums.view().slice(0, ..1).unwrap();
    let sums: Vec<i64> = expected.iter().map(|x| x * (x + 1) / 2).collect();
    assert_eq!(differences.to_vec().unwrap(), sums);
    assert_eq!(calls.swap(0, Ordering::Relaxed), 10);
    // Few indexes: only what they mean.
    let few = Tensor::from(vec![3_usize, 5]);
    assert_eq!(t.map(counting).take_at((&few,)).to_vec().unwrap(), [3, 5]);
    assert_eq!(calls.load(Ordering::Relaxed), 2);
    // The last element is not in the list, the first is.
    let quotients = (72_i64 / (9_i64 - &t)).take_at((&list,));
    assert_eq!(quotients.to_vec().unwrap()[1], 36);
    let error = (72_i64 / &t).take_at((&list,)).eval().unwrap_err();
    assert_eq!(error, Error::Arithmetic { index: vec![0] });
    let how = |e: Explanation| e.lines()[2].clone();
    assert_eq!(how(quotients.explain().unwrap()), "operand: evaluated first");
    let parts = (72_i64 / &t).take_at((&few,)).explain().unwrap();
    assert_eq!(how(parts), "operand: evaluated at each part of the list");
    let scanned = t.cumsum(0).take_at((&few,)).explain().unwrap();
    assert_eq!(how(scanned), "operand: computed first");
}

#[test]
fn a_tuple_has_one_list_an_axis_and_they_stretch() {
    let t = Tensor::from_vec([2, 3, 4], (0..24).collect::<Vec<i32>>()).unwrap();
    let (i, k) = (Tensor::from_nested([[1_usize], [0]]).unwrap(), Tensor::from(vec![3_usize, 0]));
    let taken = t.take_at((&i, 2, &k));
    assert_eq!(taken.shape().unwrap(), [2, 2]);
    assert_eq!(taken.to_vec().unwrap(), [23, 20, 11, 8]);
    assert_eq!(t.take_at((1, 1, 1)).item().unwrap(), 17);
    let first = t.count_nonzero(0).cast::<usize>().select((0, 1..2)).unwrap() - 2;
    assert_eq!(t.take_at((&i, 2, first)).to_vec().unwrap(), [20, 8]);
}

#[test]
fn put_writes_what_take_reads() {
    fn law(viewed: SparseViewed<i32>, seed: u64) -> TestResult {
        let (mut sparse, mut dense) = (viewed.tensor(), viewed.dense());
        let shape = dense.shape();
        if dense.is_empty() || dense.address_map().check_injective().is_err() {
            return TestResult::discard();
        }
        let mut random = Random(seed);
        let all: Vec<Vec<usize>> = crate::model::all_indexes(&shape)
            .into_iter()
            .filter(|_| random.below(3) == 0)
            .collect();
        let list = Tensor::from_vec([all.len(), shape.rank()], all.concat()).unwrap();
        let list = list.flip(0).unwrap().eval().unwrap();
        let values: Vec<i32> = (0..all.len()).map(|_| random.below(5) as i32 - 1).collect();
        let values = Tensor::from(values);
        let mut expected = Model::new(&shape, dense.to_vec().unwrap());
        for (index, value) in rows(&list).iter().zip(values.storage()) {
            *expected.get_mut(index) = *value;
        }
        dense.put_at(&list, &values).unwrap();
        sparse.put_at(&list + 0, &values * 1).unwrap();
        let mut slow = Tensor::with_map(viewed.chain().map(), Slow(viewed.dense().into_storage()));
        let slow = slow.as_mut().unwrap();
        slow.put_at(&list, &values).unwrap();
        TestResult::from_bool(
            dense.to_vec().unwrap() == expected.data
                && sparse.to_vec().unwrap() == expected.data
                && slow.to_vec().unwrap() == expected.data
                && dense.take_at(&list).to_vec().unwrap() == values.to_vec().unwrap(),
        )
    }
    QuickCheck::new().tests(300).quickcheck(law as fn(SparseViewed<i32>, u64) -> TestResult);
}

/// Elements that do not lie in memory, as far as anyone can see.
struct Slow(Vec<i32>);

impl Reader for Slow {
    type Elem = i32;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn read(&self, address: usize) -> i32 {
        self.0[address]
    }

    fn try_read(&self, address: usize) -> Result<i32, StorageError> {
        if self.0[address] == -77_777 {
            return Err(StorageError::new(address, "offline"));
        }
        Ok(self.0[address])
    }
}

impl Writer for Slow {
    fn write(&mut self, address: usize, value: i32) {
        self.0[address] = value;
    }

    fn try_write(&mut self, address: usize, value: i32) -> Result<(), StorageError> {
        if self.0[address] == 77_777 {
            return Err(StorageError::new(address, "read-only"));
        }
        self.write(address, value);
        Ok(())
    }
}

#[test]
fn repeated_indexes_accumulate_in_the_order_of_the_list() {
    fn law(viewed: SparseViewed<f64>, seed: u64) -> TestResult {
        let (mut sparse, mut dense) = (viewed.tensor(), viewed.dense());
        let shape = dense.shape();
        if dense.is_empty() || dense.address_map().check_injective().is_err() {
            return TestResult::discard();
        }
        let mut random = Random(seed);
        let front = fronts(&mut random);
        let list = random_list(&mut random, &front, &shape);
        let value = |_| f64::from_bits((random.below(1 << 31) as u64) << 32);
        let values: Vec<f64> = (0..front.iter().product()).map(value).collect();
        let values = Tensor::from_vec(&front[..], values).unwrap();
        let mut expected = Model::new(&shape, dense.to_vec().unwrap());
        for (index, value) in rows(&list).iter().zip(values.storage()) {
            *expected.get_mut(index) += *value;
        }
        dense.fold_at(&list, &values, Sum).unwrap();
        sparse.fold_at(&list, &values, Sum).unwrap();
        let bits = |data: Vec<f64>| {
            let of = |x: &f64| if x.is_nan() { 1 } else { x.to_bits() };
            data.iter().map(of).collect::<Vec<_>>()
        };
        let expected = bits(expected.data);
        TestResult::from_bool(
            bits(dense.to_vec().unwrap()) == expected && bits(sparse.to_vec().unwrap()) == expected,
        )
    }
    QuickCheck::new().tests(300).quickcheck(law as fn(SparseViewed<f64>, u64) -> TestResult);
}

#[test]
fn an_index_that_comes_again_is_refused_at_its_first_repeat() {
    fn law(viewed: SparseViewed<i32>, seed: u64) -> TestResult {
        let mut t = viewed.dense();
        let shape = t.shape();
        if t.is_empty() || t.address_map().check_injective().is_err() {
            return TestResult::discard();
        }
        let mut random = Random(seed);
        let front = fronts(&mut random);
        let list = random_list(&mut random, &front, &shape);
        let all = rows(&list);
        let pairs = (0..all.len()).flat_map(|second| (0..second).map(move |first| (first, second)));
        let repeat = pairs.into_iter().find(|&(first, second)| all[first] == all[second]);
        let mut expected = Model::new(&shape, t.to_vec().unwrap());
        let written = match repeat {
            Some((first, second)) => {
                let place = |k: usize| crate::model::all_indexes(&front)[k].clone();
                let (index, first, second) = (all[second].clone(), place(first), place(second));
                Err(Error::RepeatedIndex { index, first, second })
            }
            None => {
                all.iter().for_each(|index| *expected.get_mut(index) = 5);
                Ok(())
            }
        };
        TestResult::from_bool(t.put_at(&list, 5) == written && t.to_vec().unwrap() == expected.data)
    }
    QuickCheck::new().tests(300).quickcheck(law as fn(SparseViewed<i32>, u64) -> TestResult);
}

/// A few elements of many, and many of few.
#[test]
fn long_lists_repeat_where_a_loop_sees_it() {
    for (extent, count) in [(1 << 30, 500), (1000, 1000), (1 << 17, 1000)] {
        let mut random = Random(5);
        let mut list: Vec<usize> = (0..count).map(|k| k * (extent / count)).collect();
        (1..count).for_each(|k| list.swap(k, random.below(k + 1)));
        let mut t = Tensor::sparse([extent], 0).unwrap();
        t.put_at((&Tensor::from(list.clone()),), 1).unwrap();
        assert_eq!(t.storage().stored_len(), count);
        list[count - 3] = list[7];
        list[count - 2] = list[3];
        let error = t.put_at((&Tensor::from(list.clone()),), 1).unwrap_err();
        let (first, second) = (vec![7], vec![count - 3]);
        assert_eq!(error, Error::RepeatedIndex { index: vec![list[7]], first, second });
    }
}

/// A fold in which the order and the positions of elements matter, and some of which have no result.
struct Digits;

impl Reducer<i32> for Digits {
    type State = i32;
    type Out = i32;
    const COMMUTATIVE: bool = false;
    const ASSOCIATIVE: bool = false;
    const POSITIONS: bool = true;

    fn empty(&self) -> Option<i32> {
        None
    }

    fn first(&self, x: i32) -> i32 {
        x
    }

    fn step(&self, state: &mut i32, x: i32) {
        *state = state.wrapping_mul(10).wrapping_add(x);
    }

    fn step_at(&self, state: &mut i32, x: i32, position: usize) {
        *state = state.wrapping_mul(10).wrapping_add(x ^ position as i32);
    }

    fn combine(&self, _: &mut i32, _: i32) {}

    fn finish(&self, state: i32) -> i32 {
        state.wrapping_add(1)
    }

    fn undefined(&self, state: &i32) -> Option<Undefined> {
        (state % 64 == 5).then_some(Undefined::Empty)
    }
}

#[test]
fn elements_are_followed_by_their_values_in_order_in_any_storage() {
    fn law(viewed: SparseViewed<i32>, seed: u64) -> TestResult {
        let mut dense = viewed.dense();
        let shape = dense.shape();
        if dense.is_empty() || dense.address_map().check_injective().is_err() {
            return TestResult::discard();
        }
        let mut random = Random(seed);
        let front = fronts(&mut random);
        let list = random_list(&mut random, &front, &shape);
        let values: Vec<i32> = rows(&list).iter().map(|_| random.below(9) as i32).collect();
        let values = Tensor::from_vec(&front[..], values).unwrap();
        let before = dense.to_vec().unwrap();
        // By address: all values of each, the element first.
        let mut found = BTreeMap::<usize, (Vec<usize>, Vec<i32>)>::new();
        let model = Model::new(&shape, before.clone());
        for (index, &value) in rows(&list).iter().zip(values.storage()) {
            let address = dense.address_map().to_local(index).unwrap();
            let new = || (index.clone(), vec![*model.get(index)]);
            found.entry(address).or_insert_with(new).1.push(value);
        }
        let (mut expected, mut refused) = (Model::new(&shape, before.clone()), None::<Vec<usize>>);
        for (index, values) in found.into_values() {
            let digits = values.iter().zip(0..).skip(1);
            let state = digits.fold(values[0], |state, (&x, position)| {
                state.wrapping_mul(10).wrapping_add(x ^ position)
            });
            *expected.get_mut(&index) = state.wrapping_add(1);
            refused = refused.into_iter().chain((state % 64 == 5).then_some(index)).min();
        }
        let after = if refused.is_some() { &before } else { &expected.data };
        let is_expected = |done: lensor::Result<()>| match &refused {
            Some(index) => done == Err(Error::NothingLeft { index: index.clone() }),
            None => done == Ok(()),
        };
        let (mut sparse, slow) = (viewed.tensor(), Slow(viewed.dense().into_storage()));
        let mut slow = Tensor::with_map(viewed.chain().map(), slow).unwrap();
        TestResult::from_bool(
            is_expected(dense.fold_at(&list, &values, Digits))
                && is_expected(sparse.fold_at(&list, &values, Digits))
                && is_expected(slow.fold_at(&list, &values, Digits))
                && dense.to_vec().unwrap() == *after
                && sparse.to_vec().unwrap() == *after
                && slow.to_vec().unwrap() == *after,
        )
    }
    QuickCheck::new().tests(300).quickcheck(law as fn(SparseViewed<i32>, u64) -> TestResult);
}

/// As many elements as tasks are made of, in pools of one thread and of three.
#[test]
fn folds_have_the_same_bits_in_any_number_of_threads() {
    let mut random = Random(3);
    let list = random_list(&mut random, &[200_000], &[50, 3]);
    let values: Vec<f64> = (0..200_000).map(|_| random.below(1 << 30) as f64 / 7.0).collect();
    let values = Tensor::from(values);
    let mut expected = vec![0.5; 150];
    for (at, value) in rows(&list).iter().zip(values.storage()) {
        expected[at[0] * 3 + at[1]] += value;
    }
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut t = Tensor::full([50, 3], 0.5).unwrap();
        pool.install(|| t.fold_at(&list, &values + 0.0, Sum)).unwrap();
        assert_eq!(t.storage(), &expected);
    }
}

#[test]
fn empty_lists_change_nothing_and_rank_0_has_one_element() {
    let mut t = Tensor::from_nested([[1, 2], [3, 4]]).unwrap();
    let none = Tensor::from_vec([0, 2], vec![]).unwrap();
    assert_eq!(t.take_at(&none).eval().unwrap().shape(), [0]);
    t.put_at(&none, 5).unwrap();
    t.fold_at(&none, 5, Max).unwrap();
    assert_eq!(t.to_vec().unwrap(), [1, 2, 3, 4]);
    let empty = Tensor::from_vec([0, 2], Vec::<i32>::new()).unwrap();
    assert!(empty.take_at(&none).to_vec().unwrap().is_empty());
    let mut scalar = Tensor::full([], 7).unwrap();
    let thrice = Tensor::from_vec([3, 0], vec![]).unwrap();
    assert_eq!(scalar.take_at(&thrice).to_vec().unwrap(), [7, 7, 7]);
    scalar.put_at(Tensor::from_vec([0], vec![]).unwrap(), 8).unwrap();
    scalar.fold_at(&thrice, &Tensor::from(vec![9, 12, 10]), Max).unwrap();
    assert_eq!(scalar.item().unwrap(), 12);
}

/// Whatever states are made of, and only of elements that the list names.
#[test]
fn folds_at_lists_begin_with_what_they_name() {
    /// Decimal digits one after another, kept in the first of some numbers. 13 cannot be one.
    struct Joined<S>(fn(i64) -> S);
    impl<S: Clone + Send + Sync + AsMut<[i64]>> Reducer<i64> for Joined<S> {
        type State = S;
        type Out = i64;
        const COMMUTATIVE: bool = false;
        const ASSOCIATIVE: bool = false;

        fn empty(&self) -> Option<S> {
            None
        }

        fn first(&self, x: i64) -> S {
            assert_ne!(x, 13);
            self.0(x)
        }

        fn step(&self, state: &mut S, x: i64) {
            let number = &mut state.as_mut()[0];
            *number = *number * 10 + x;
        }

        fn combine(&self, _state: &mut S, _later: S) {
            panic!("states of this reducer are not joined");
        }

        fn finish(&self, mut state: S) -> i64 {
            state.as_mut()[0]
        }
    }
    let list = Tensor::from_vec([4, 1], vec![3_usize, 1, 3, 3]).unwrap();
    let values = Tensor::from(vec![5_i64, 6, 7, 8]);
    let old = Tensor::from(vec![13_i64, 1, 13, 2, 13]);
    let mut all = [old.clone(), old.clone(), old];
    all[0].fold_at(&list, &values, Joined(|x| [x; 1])).unwrap();
    all[1].fold_at(&list, &values, Joined(|x| [x; 300])).unwrap();
    all[2].fold_at(&list, &values, Joined(|x| vec![x])).unwrap();
    all.iter().for_each(|t| assert_eq!(t.to_vec().unwrap(), [13, 16, 13, 2578, 13]));
}

#[test]
fn lists_that_do_not_fit_say_why_and_write_nothing() {
    let before = vec![1, 2, 3, 4, 5, 6];
    let mut t = Tensor::from_vec([2, 3], before.clone()).unwrap();
    let at = Tensor::from_vec([2, 2, 2], vec![0, 1, 1, 2, 1, 3, 2, 0]).unwrap();
    let error = Error::IndexAt { at: vec![1, 0], axis: 1, index: 3, extent: 3 };
    let text = "index 3 for axis 1, at [1, 0] of the list, is out of bounds: the extent is 3";
    assert_eq!(error.to_string(), text);
    assert_eq!(t.take_at(&at).eval().unwrap_err(), error);
    assert_eq!(t.put_at(&at, 9).unwrap_err(), error);
    assert_eq!(t.fold_at(&at, 9, Max).unwrap_err(), error);
    let error = t.take_at((&at, 7)).eval().unwrap_err();
    assert_eq!(error, Error::IndexAt { at: vec![0, 0, 0], axis: 1, index: 7, extent: 3 });

    let twice = Tensor::from_nested([[1_usize, 1], [0, 0], [1, 1], [0, 0]]).unwrap();
    let error = t.put_at(&twice, 9).unwrap_err();
    let (first, second) = (vec![0], vec![2]);
    assert_eq!(error, Error::RepeatedIndex { index: vec![1, 1], first, second });
    let text = "index [1, 1] stands at [0] and at [2] of the list, and can be written once: \
                `fold_at` takes both";
    assert_eq!(error.to_string(), text);

    let three = Tensor::from_vec([1, 3], vec![0, 0, 0]).unwrap();
    let what = "numbers in each index";
    let error = Error::Rank { what, expected: 2, found: 3 };
    assert_eq!(error.to_string(), "expected 2 numbers in each index, one per axis, found 3");
    assert_eq!(t.take_at(&three).shape().unwrap_err(), error);
    assert_eq!(t.put_at((0,), 1).unwrap_err(), Error::Rank { what, expected: 2, found: 1 });
    let scalar = Tensor::full([], 0_usize).unwrap();
    let error = Error::ExpectedRank { expected: 1, shape: vec![] };
    assert_eq!(t.take_at(&scalar).shape().unwrap_err(), error);
    assert_eq!(t.put_at(&scalar, 1).unwrap_err(), error);
    let (a, b) = (Tensor::from(vec![0; 2]), Tensor::from(vec![0; 3]));
    let error = t.take_at((&a, &b)).shape().unwrap_err();
    assert!(matches!(error, Error::Operands { argument: 2, .. }), "{error}");
    let error = t.put_at((&a, 0), &Tensor::from(vec![1, 2, 3])).unwrap_err();
    assert_eq!(error, Error::Destination { expected: vec![2], found: vec![3] });
    let signed = Tensor::from_nested([[0, 1], [1, -1]]).unwrap();
    let error = t.put_at(signed.cast::<usize>(), 9).unwrap_err();
    let (value, target) = ("-1".into(), "usize");
    assert_eq!(error, Error::Cast { index: vec![1, 1], value, target });
    assert_eq!(t.storage(), &before);

    let mut twins = Tensor::from(vec![1, 2]).broadcast([4]).unwrap();
    assert_eq!(twins.put_at((0,), 1).unwrap_err(), Error::NotInjective { axis: 0 });
    assert_eq!(t.fold_at((0, &a), &t.clone().select((0, ..2)).unwrap(), Max), Ok(()));
}

#[test]
fn errors_of_storage_and_reducers_carry_the_index() {
    let mut slow = Tensor::new([2, 2], Slow(vec![1, -77_777, 3, 77_777])).unwrap();
    let at = Tensor::from(vec![0_usize, 1]);
    let failed = |index: [usize; 2], address, why| Error::Storage {
        index: Some(index.to_vec()),
        source: StorageError::new(address, why),
    };
    assert_eq!(slow.fold_at((0, &at), 5, Max).unwrap_err(), failed([0, 1], 1, "offline"));
    assert_eq!(slow.put_at((1, &at), 5).unwrap_err(), failed([1, 1], 3, "read-only"));
    let taken = slow.take_at((&at, 1)).eval().unwrap_err();
    assert!(matches!(taken, Error::Storage { index: Some(index), .. } if index == [0]));
    let mut t = Tensor::from(vec![1_i64, i64::MAX]);
    let error = t.fold_at((&at,), 1, Sum).unwrap_err();
    assert_eq!(error, Error::Overflow { index: vec![1], target: "i64" });
    assert_eq!(t.to_vec().unwrap(), [1, i64::MAX]);
}

/// What is called with a box and its elements.
type Visit<'v> = &'v mut dyn FnMut(&[std::ops::Range<usize>], &[i32]);

#[test]
fn boxes_are_all_elements_in_order() {
    fn law(viewed: SparseViewed<i32>, most: usize) -> bool {
        let (shape, data) = viewed.model();
        let most = most % 40;
        let check = |each: &dyn Fn(Visit<'_>)| {
            let (mut next, mut good) = (0, true);
            each(&mut |ranges, elements| {
                good &= ranges.len() == shape.rank() && (1..=most.max(1)).contains(&elements.len());
                let extents: Vec<usize> = ranges.iter().map(|range| range.len()).collect();
                let inside = crate::model::all_indexes(&extents).into_iter().map(|index| {
                    index.iter().zip(ranges).map(|(k, range)| range.start + k).collect::<Vec<_>>()
                });
                let all = crate::model::all_indexes(&shape);
                good &= inside.eq(all[next..][..elements.len()].iter().cloned());
                good &= elements == &data[next..][..elements.len()];
                next += elements.len();
            });
            good && next == data.len()
        };
        let (sparse, dense) = (viewed.tensor(), viewed.dense());
        let ok = |ranges: &[_], elements: &[i32], f: &mut dyn FnMut(&[_], &[i32])| {
            f(ranges, elements);
            Ok::<(), Error>(())
        };
        check(&|f| dense.for_each_box(most, |r, e| ok(r, e, f)).unwrap())
            && check(&|f| sparse.for_each_box(most, |r, e| ok(r, e, f)).unwrap())
            && check(&|f| (&dense * 1).for_each_box(most, |r, e| ok(r, e, f)).unwrap())
    }
    QuickCheck::new().tests(200).quickcheck(law as fn(SparseViewed<i32>, usize) -> bool);
}

#[test]
fn parts_end_with_the_first_error() {
    #[derive(Debug, PartialEq)]
    enum Own {
        Enough,
        Of(Error),
    }
    impl From<Error> for Own {
        fn from(error: Error) -> Self {
            Self::Of(error)
        }
    }
    let t = Tensor::from_vec([4, 3], (0..12_i64).collect()).unwrap();
    let mut seen = Vec::new();
    let mut visit = |piece: &[i64]| {
        seen.push(piece.to_vec());
        if piece.contains(&7) { Err(Own::Enough) } else { Ok(()) }
    };
    assert_eq!(t.for_each_piece(4, &mut visit), Err(Own::Enough));
    assert_eq!((12 / (&t - 7)).for_each_piece(6, &mut visit), {
        Err(Own::Of(Error::Arithmetic { index: vec![2, 1] }))
    });
    assert_eq!(seen.len(), 4);
    let (a, b) = (Tensor::from(vec![1]), Tensor::full([2, 2], 1_i64).unwrap());
    let mut sum = 0_i64;
    let add = |piece: &[i64]| {
        sum += piece[0];
        Ok::<_, Error>(())
    };
    b.cumsum(0).for_each_piece(1, add).unwrap();
    assert_eq!(sum, 6);
    let wrong = Tensor::from(vec![1, 2]) + Tensor::from(vec![1, 2, 3]);
    let error = wrong.for_each_piece(4, |_| Ok::<_, Error>(())).unwrap_err();
    assert!(matches!(error, Error::Operands { .. }));
    a.for_each_piece(
        0,
        |piece| if piece == [1] { Ok(()) } else { Err(Error::ZeroStep { axis: 0 }) },
    )
    .unwrap();
}
