//! Masks, repeats and lists of indexes, held against plain loops over dense copies.

mod model;

use lensor::arbitrary::{SparseViewed, Viewed};
use lensor::map::IntoMask;
use lensor::prelude::*;
use lensor::scan::Scan;
use model::Model;
use quickcheck::{QuickCheck, TestResult};

/// Numbers that follow from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % limit.max(1)
    }

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
            same(t.view().compress(axis, &mask).unwrap().to_tensor().unwrap())
                && same(t.view().select(&all).unwrap().to_tensor().unwrap())
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
    assert_eq!(many.get(&[0, (1 << 40) - 1]), Ok(1));
    assert_eq!(many.get(&[1, 1 << 40]), Ok(4));
    let error = t.view().repeat(0, usize::MAX).unwrap_err();
    assert_eq!(error, Error::ShapeOverflow { shape: vec![usize::MAX, 2] });
}

#[test]
fn deferred_operations_have_the_same_views() {
    let t = Tensor::from(vec![1_i64, 2, 3]);
    assert_eq!(t.cumsum(0).compress(0, [true, false, true]).unwrap().to_vec().unwrap(), [1, 6]);
    assert_eq!(t.cumsum(0).repeat(0, &[0, 2, 1]).unwrap().to_vec().unwrap(), [3, 3, 6]);
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
    let error = t.view().repeat(0, &[1, 2, 3]).unwrap_err();
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
