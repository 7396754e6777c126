//! Elements where a mask is true, held against a loop over dense copies.

use crate::support::Random;
use lensor::arbitrary::SparseViewed;
use lensor::indexing::Indexing;
use lensor::prelude::*;
use lensor::storage::Duplicates;
use quickcheck::QuickCheck;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn a_mask_extracts_what_a_loop_keeps() {
    fn law(viewed: SparseViewed<i32>, seed: u64) -> bool {
        let (shape, data) = viewed.model();
        let mut random = Random(seed);
        // A mask with some axes stretched, or missing in front.
        let missing = random.below(shape.rank() + 1);
        let of_mask: Vec<usize> =
            shape[missing..].iter().map(|&n| if random.below(3) == 0 { 1 } else { n }).collect();
        let share = random.below(4);
        let count = of_mask.iter().product::<usize>();
        let mask = (0..count).map(|_| random.below(4) < share).collect();
        let mask = Tensor::from_vec(&of_mask, mask).unwrap();
        let stretched =
            mask.view().stretch(&shape, lensor::Align::Right).unwrap().to_vec().unwrap();
        let expected: Vec<i32> =
            data.iter().zip(&stretched).filter(|(_, keep)| **keep).map(|(x, _)| *x).collect();
        let same = |found: Tensor<Vec<i32>>| {
            found.shape() == [expected.len()] && *found.storage() == expected
        };
        let (sparse, dense) = (viewed.tensor(), viewed.dense());
        let entries = mask.to_sparse(false).unwrap();
        same(dense.extract(&mask).unwrap())
            && same((&dense + 0).extract(!!&mask).unwrap())
            && same(sparse.extract(&mask).unwrap())
            && same(sparse.extract(&entries).unwrap())
            && same(dense.view().extract(!&!&entries).unwrap())
    }
    QuickCheck::new().tests(300).quickcheck(law as fn(SparseViewed<i32>, u64) -> bool);
}

/// Longer than one part; the operand is computed once, and a fault is named by its index in the operand.
#[test]
fn long_masks_are_taken_part_by_part() {
    let t = Tensor::from_vec([500, 400], (0..200_000_i64).collect()).unwrap();
    let expected: Vec<i64> = (0..200_000).filter(|x| x % 1000 < 7).collect();
    let mask = (&t % 1000).less(7).eval().unwrap();
    assert_eq!(*t.extract(&mask).unwrap().storage(), expected);
    let (columns, of_columns) =
        (t.view().transpose([1, 0]).unwrap(), mask.view().transpose([1, 0]));
    let mut sorted = columns.extract(of_columns.unwrap()).unwrap().into_storage();
    sorted.sort_unstable();
    assert_eq!(sorted, expected);
    let same = t.cumsum(0) - t.cumsum(0) + &t;
    assert_eq!(*same.extract(&mask).unwrap().storage(), expected);
    // 150_003 is at [375, 3].
    let error = (1 / (&t - 150_003)).extract(&mask).unwrap_err();
    assert_eq!(error, Error::Arithmetic { index: vec![375, 3] });
    // Elements elsewhere are not computed.
    assert!((1 / (&t - 150_007)).extract(&mask).is_ok());
}

/// Only entries of a sparse mask are visited: there are 2^60 elements.
#[test]
fn sparse_masks_extract_in_time_of_their_entries() {
    let (at, values) = ([[5, 1 << 29], [7, 3]], vec![true, false]);
    let mask =
        Tensor::from_coordinates([1 << 30; 2], false, &at, values, Duplicates::Refuse).unwrap();
    let t = Tensor::constant([1 << 30; 2], 7).unwrap();
    assert_eq!(*t.extract(&mask).unwrap().storage(), [7]);
}

#[test]
fn masks_do_not_repeat_what_they_extract_from() {
    let t = Tensor::from(vec![1, 2, 3]);
    let mask = Tensor::full([2, 3], true).unwrap();
    let error = t.extract(&mask).unwrap_err();
    assert_eq!(error, t.sum(..).filter(&mask).eval().unwrap_err());
    let error = t.extract(Tensor::full([2], true).unwrap()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "operands could not be broadcast: argument 2 has shape [2], the result so far is [3], axis 0: 2 vs 3"
    );
    assert!(t.extract(mask.select((..0,)).unwrap()).is_err());
    let nothing = Tensor::from(Vec::<i32>::new());
    assert_eq!(nothing.extract(nothing.equal(0)).unwrap().shape(), [0]);
    let scalar = Tensor::full([], 4).unwrap();
    assert_eq!(*scalar.extract(scalar.greater(3)).unwrap().storage(), [4]);
}

/// A mask without axes is stretched to all elements, or to none.
#[test]
fn masks_of_rank_0_take_all_or_nothing() {
    let t = Tensor::from_nested([[1, 2, 3], [4, 5, 6]]).unwrap();
    let turned = t.view().transpose([1, 0]).unwrap();
    assert_eq!(turned.extract(true).unwrap().to_vec().unwrap(), [1, 4, 2, 5, 3, 6]);
    assert_eq!((&t + 1).extract(Tensor::full([], true).unwrap()).unwrap().len(), 6);
    assert_eq!((1_i32 / (&t - 1)).extract(false).unwrap().shape(), [0]);
    assert_eq!(Tensor::<Vec<i32>>::from(vec![]).extract(true).unwrap().shape(), [0]);
    assert_eq!(Lazy::new(7).extract(true).unwrap().to_vec().unwrap(), [7]);
}

/// A deferred operand that the mask reads too is computed once, and its error is told whatever the mask.
#[test]
fn scalar_masks_leave_operands_computed_once() {
    let calls = AtomicUsize::new(0);
    let counting = |x: i64| {
        calls.fetch_add(1, Ordering::Relaxed);
        x
    };
    let t = Tensor::from(vec![3_i64, 4]);
    let sum = t.map(counting).sum(..);
    assert_eq!(*(&sum).extract((&sum).greater(0_i64)).unwrap().storage(), [7]);
    assert_eq!(calls.swap(0, Ordering::Relaxed), 2);
    let sums = t.map(counting).cumsum(0);
    let large = sums.view().select((1,)).unwrap().greater(5_i64);
    assert_eq!(*(&sums).extract(large).unwrap().storage(), [3, 7]);
    assert_eq!(calls.load(Ordering::Relaxed), 2);
    let huge = Tensor::from(vec![i64::MAX, 1]);
    assert!(matches!(huge.sum(0).extract(false), Err(Error::Overflow { .. })));
}
