//! Source and destination in one buffer: always the result of copying first (failure mode 14).

use crate::views::Slots;
use lensor::arbitrary::{Chain, Viewed};
use lensor::prelude::*;
use lensor::{AddressMap, Result};
use quickcheck::{Arbitrary, Gen, quickcheck};

/// Addresses of a map in row-major order.
fn addresses(map: &AddressMap) -> Vec<usize> {
    map.shape().indexes().unwrap().map(|index| map.to_local(&index).unwrap()).collect()
}

/// A buffer after its elements at `from` were copied out and then written to `to`.
fn copied_first(data: &[i32], from: &AddressMap, to: &AddressMap) -> Vec<i32> {
    let copy: Vec<i32> = addresses(from).into_iter().map(|address| data[address]).collect();
    let mut result = data.to_vec();
    for (address, value) in addresses(to).into_iter().zip(copy) {
        result[address] = value;
    }
    result
}

/// Whether `copy_within` and `update` agree with copying first, or refuse a destination that repeats.
fn agrees(data: &[i32], from: &AddressMap, to: &AddressMap) -> bool {
    let expected = copied_first(data, from, to);
    let mut memory = Tensor::from(data.to_vec());
    let mut writer = Tensor::new([data.len()], Slots::new(data)).unwrap();
    let results = [memory.copy_within(from, to), writer.copy_within(from, to)];
    if !to.is_injective() {
        return results.iter().all(|r| matches!(r, Err(Error::NotInjective { .. })))
            && memory.storage() == data
            && writer.storage().data == data;
    }
    results == [Ok(()), Ok(())]
        && *memory.storage() == expected
        && writer.storage().data == expected
}

/// Two maps of one shape into a buffer.
#[derive(Debug, Clone)]
struct TwoViews {
    from: AddressMap,
    to: AddressMap,
    len: usize,
}

impl Arbitrary for TwoViews {
    fn arbitrary(g: &mut Gen) -> Self {
        let shape = Shape::arbitrary(g);
        let (from, to) =
            (Chain::arbitrary_to(g, &shape).map(), Chain::arbitrary_to(g, &shape).map());
        let len = Ord::max(from.span().end, to.span().end) + usize::arbitrary(g) % 3;
        Self { from, to, len }
    }
}

quickcheck! {
    /// Copying between any two views of one buffer is copying first.
    fn copy_within_is_copying_first(views: TwoViews) -> bool {
        let data: Vec<i32> = (0..views.len as i32).map(|k| k * k + 1).collect();
        agrees(&data, &views.from, &views.to) && agrees(&data, &views.to, &views.from)
    }

    /// An update by any view of the old elements is computed from a copy of them.
    fn update_is_computing_from_a_copy(viewed: Viewed<i32>, seed: u64) -> bool {
        let t = viewed.tensor();
        let mut g = Gen::from_size_and_seed(20, seed);
        let order: Vec<usize> = (0..t.rank()).rev().collect();
        let turns = t.rank() > 0 && t.shape().iter().all(|&extent| extent == t.shape()[0]);
        let shifts: Vec<isize> = t.shape().iter().map(|_| isize::arbitrary(&mut g) % 5).collect();
        let change = |old: Tensor<Vec<i32>>| -> Result<Vec<i32>> {
            let turned = if turns { old.view().transpose(&order)? } else { old.view() };
            (turned.rotate(&shifts)? * 2 - &old).to_vec()
        };
        let expected = change(t.eval().unwrap()).unwrap();
        let mut updated = viewed.tensor();
        let result = updated.update(|old| {
            let turned = if turns { old.clone().transpose(&order)? } else { old.clone() };
            Ok((turned.rotate(&shifts)? * 2 - old).boxed())
        });
        if !t.address_map().is_injective() {
            return matches!(result, Err(Error::NotInjective { .. })) && updated.storage() == t.storage();
        }
        let untouched = |address: &usize| t.address_map().to_global(*address).next().is_none();
        result == Ok(())
            && updated.to_vec().unwrap() == expected
            && (0..t.storage().len()).filter(untouched).all(|k| updated.storage()[k] == t.storage()[k])
    }

    /// An update that fails leaves all elements as they were.
    fn a_failing_update_changes_nothing(viewed: Viewed<i32>) -> bool {
        let mut t = viewed.tensor();
        let refused = t.update(|old| Ok((old / 0).boxed()));
        let failed = refused.is_err() || t.is_empty() || !t.address_map().is_injective();
        failed && t.storage() == viewed.data()
    }
}

/// Holds copies from each view to each of its shape against copying first.
fn all_agree(data: &[i32], views: &[AddressMap]) {
    let mut pairs = 0;
    for from in views {
        for to in views.iter().filter(|to| to.shape() == from.shape()) {
            pairs += 1;
            assert!(agrees(data, from, to), "{from:?} to {to:?}");
        }
    }
    assert!(pairs > 1000, "{pairs}");
}

/// Every pair of ranges of a buffer of six, of every step and direction.
#[test]
fn every_pair_of_ranges_copies_as_if_first() {
    let data: Vec<i32> = (10..16).collect();
    let whole = || AddressMap::row_major([6]).unwrap();
    let mut views = Vec::new();
    for start in 0..6_isize {
        for step in [-2, -1, 1, 2, 3] {
            for count in 0..=4 {
                let range = Select::stepped(start, start + step * count, step);
                views.extend(whole().select([range]));
            }
        }
    }
    all_agree(&data, &views);
}

/// Every pair of blocks of a square of three, transposed and turned around in all ways.
#[test]
fn every_pair_of_blocks_copies_as_if_first() {
    let data: Vec<i32> = (1..10).collect();
    let whole = || AddressMap::row_major([3, 3]).unwrap();
    let mut views = Vec::new();
    for (top, height) in [(0, 1), (0, 2), (1, 2), (0, 3)] {
        for (left, width) in [(0, 2), (1, 1), (1, 2), (0, 3)] {
            let block = whole().slice(0, top..top + height).unwrap();
            let block = block.slice(1, left..left + width).unwrap();
            for (flips, turned) in (0..8).map(|k| (k % 4, k >= 4)) {
                let mut view = block.clone();
                for axis in (0..2).filter(|axis| flips >> axis & 1 == 1) {
                    view = view.flip(axis).unwrap();
                }
                views.push(if turned { view.transpose([1, 0]).unwrap() } else { view });
            }
        }
    }
    all_agree(&data, &views);
}

/// The operators read what they update: `t += &old` through borrowed storage does not compile, so the
/// case comes through `update` only. A matrix plus its transpose:
#[test]
fn a_matrix_plus_its_transpose_is_symmetric() {
    let n = 100;
    let mut t = Tensor::from_index([n, n], |index| (index[0] * n + index[1]) as i64).unwrap();
    t.update(|old| Ok((old.clone().transpose([1, 0])? + old).boxed())).unwrap();
    let turned = t.view().transpose([1, 0]).unwrap();
    assert_eq!(t, turned);
    assert_eq!(t.get([3, 5]), Ok((3 * n + 5 + 5 * n + 3) as i64));
}

/// A map that reaches beyond the storage is refused before anything is written.
#[test]
fn copy_within_keeps_to_the_storage() {
    let mut t = Tensor::from(vec![1, 2, 3]);
    let far = AddressMap::row_major([4]).unwrap().slice(0, 2..4).unwrap();
    let near = t.address_map().clone().slice(0, 0..2).unwrap();
    let refused = Err(Error::OutOfSpan { span: 2..4, len: 3 });
    assert_eq!(t.copy_within(&far, &near), refused);
    assert_eq!(t.copy_within(&near, &far), refused);
    let one = near.clone().slice(0, 0..1).unwrap();
    assert_eq!(
        t.copy_within(&near, &one),
        Err(Error::Destination { expected: vec![1], found: vec![2] })
    );
    assert_eq!(t.storage(), &[1, 2, 3]);
    assert_eq!(t.storage().len(), 3);
}

#[test]
fn nothing_is_not_copied_to_something() {
    let mut t = Tensor::from_vec([4], vec![1, 2, 3, 4]).unwrap();
    let map = t.address_map().clone();
    let (none, some) = (map.clone().slice(0, 0..0).unwrap(), map.slice(0, 0..3).unwrap());
    let error = t.copy_within(&none, &some).unwrap_err();
    assert_eq!(error, Error::Destination { expected: vec![3], found: vec![0] });
    t.copy_within(&none, &none).unwrap();
    assert!(t.copy_within(&some, &none).is_err());
    assert_eq!(*t.storage(), [1, 2, 3, 4]);
}
