//! Segments and groups are folds of the elements they consist of.

use super::along::{Compose, InOrder, Largest, Small, Total, each_lane, result};
use crate::support::{fails, in_pools};
use lensor::arbitrary::Viewed;
use lensor::prelude::*;
use lensor::ragged::Offsets;
use lensor::reduce::{Max, Mean, Reducer, Sum};
use lensor::segments::Segments;
use lensor::storage::Sparse;
use quickcheck::QuickCheck;
use std::collections::BTreeMap;

/// Keys that are less than any other.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Least(usize);

impl PartialOrd for Least {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Least {
    fn cmp(&self, _other: &Self) -> std::cmp::Ordering {
        std::cmp::Ordering::Less
    }
}

/// An order that is none gives some groups.
#[test]
fn keys_without_an_order_are_grouped() {
    let keys: Vec<Least> = (0..1000).map(|k| Least(k * 7919 % 10)).collect();
    let t = Tensor::full([1000], 1_u32).unwrap();
    let (found, groups) = t.group_by(0, &keys).unwrap();
    let counts = groups.sum();
    assert_eq!(found.len(), counts.to_vec().unwrap().len());
    assert_eq!(counts.to_vec().unwrap().iter().sum::<u64>(), 1000);
}

/// Few kinds are looked up, many are sorted: the same groups.
#[test]
fn kinds_of_keys_are_those_of_an_ordered_map() {
    for kinds in [1, 3, 1023, 1024, 1025, 2000] {
        let keys: Vec<String> = (0..4000).map(|k| (k * 7919 % kinds).to_string()).collect();
        let t = Tensor::from((0..4000_i64).map(|k| k * k % 1013).collect::<Vec<_>>());
        let mut expected = BTreeMap::new();
        for (key, x) in keys.iter().zip(t.storage()) {
            *expected.entry(key).or_insert(0) += x;
        }
        let (found, groups) = t.group_by(0, &keys).unwrap();
        assert!(found.iter().eq(expected.keys().copied()), "{kinds}");
        assert!(groups.sum().to_vec().unwrap().iter().eq(expected.values()), "{kinds}");
    }
}

/// Lanes in pieces of a few elements, of memory and of storage that is none.
#[test]
fn segments_of_torn_lanes_are_those_of_a_copy() {
    let data: Vec<f64> = (0..1 << 16).map(|k| f64::from(k * 37 % 1009) / 7.0).collect();
    let sparse = Sparse::from_dense(&data, data[0]).unwrap();
    for axis in 0..4 {
        let shifts = [1, 3, 5, 2, 1, 1];
        let dense = Tensor::from_vec([4, 8, 16, 8, 4, 4], data.clone()).unwrap();
        let dense = dense.rotate(shifts).unwrap();
        let sparse = Tensor::new([4, 8, 16, 8, 4, 4], sparse.clone()).unwrap();
        let sparse = sparse.rotate(shifts).unwrap();
        let copy = dense.eval().unwrap();
        let offsets = [0, 1, 1, 4];
        let expected = copy.segments(axis, offsets).fold(Sum).to_vec().unwrap();
        assert_eq!(dense.segments(axis, offsets).fold(Sum).to_vec().unwrap(), expected);
        assert_eq!(sparse.segments(axis, offsets).fold(Sum).to_vec().unwrap(), expected);
        let keys: Vec<usize> = (0..copy.shape()[axis]).map(|k| k * 7 % 3).collect();
        let expected = copy.by_key(axis, &keys, 3).fold(Sum).to_vec().unwrap();
        assert_eq!(dense.by_key(axis, &keys, 3).fold(Sum).to_vec().unwrap(), expected);
        assert_eq!(sparse.by_key(axis, &keys, 3).fold(Sum).to_vec().unwrap(), expected);
    }
}

/// Numbers below or at `limit`, ascending.
fn ascending(numbers: &[usize], limit: usize) -> Vec<usize> {
    let mut numbers: Vec<usize> = numbers.iter().map(|k| k % (limit + 1)).collect();
    numbers.sort_unstable();
    numbers
}

fn segments_fold<R>(viewed: &Viewed<i32>, numbers: &[usize], reducer: R) -> bool
where
    R: Reducer<i32> + Copy,
    R::Out: PartialEq + std::fmt::Debug,
{
    let (t, (shape, data)) = (viewed.tensor(), viewed.model());
    for axis in 0..shape.rank() {
        let offsets = ascending(numbers, shape[axis]);
        let lazy = t.segments(axis, &offsets).fold(reducer);
        let empty = offsets.windows(2).position(|pair| pair[0] == pair[1]);
        if let (Some(segment), None) = (empty, reducer.empty()) {
            assert_eq!(lazy.eval().unwrap_err(), Error::EmptySegment { segment, axis });
            continue;
        }
        let results = offsets.len().saturating_sub(1);
        let lane = |lane: &[i32]| {
            offsets.windows(2).map(|pair| result(&reducer, &lane[pair[0]..pair[1]])).collect()
        };
        let (shape, expected) = each_lane(&shape, &data, axis, results, lane);
        let found = lazy.eval().unwrap();
        assert_eq!(found.storage(), &expected);
        assert_eq!((found.shape(), lazy.shape().unwrap()), (shape.clone(), shape));
    }
    true
}

#[test]
fn every_segment_folds_as_its_elements() {
    fn law(viewed: Viewed<i32>, numbers: Vec<usize>) -> bool {
        segments_fold(&viewed, &numbers, Compose)
            && segments_fold(&viewed, &numbers, InOrder)
            && segments_fold(&viewed, &numbers, Largest)
    }
    QuickCheck::new().quickcheck(law as fn(Viewed<i32>, Vec<usize>) -> bool);
}

#[test]
fn every_group_folds_as_its_elements() {
    fn law(viewed: Viewed<i32>, numbers: Vec<u8>, groups: usize) -> bool {
        let (t, (shape, data)) = (viewed.tensor(), viewed.model());
        let groups = groups % 7 + 1;
        (0..shape.rank()).all(|axis| {
            let number = |k: usize| numbers.get(k % numbers.len().max(1)).copied().unwrap_or(3);
            let keys: Vec<usize> =
                (0..shape[axis]).map(|k| usize::from(number(k)) % groups).collect();
            let lane = |lane: &[i32]| {
                let of = |group| -> Vec<i32> {
                    keys.iter()
                        .zip(lane)
                        .filter(|(key, _)| **key == group)
                        .map(|(_, &x)| x)
                        .collect()
                };
                (0..groups).map(|group| result(&Compose, &of(group))).collect()
            };
            let (shape, expected) = each_lane(&shape, &data, axis, groups, lane);
            let found = t.by_key(axis, &keys, groups).fold(Compose).eval().unwrap();
            let (unique, groups) = t.group_by(axis, &keys).unwrap();
            let some = groups.fold(Compose);
            let kept = lensor::Select::List(unique.clone());
            let mut selectors = vec![lensor::Select::All; axis];
            selectors.push(kept);
            let same =
                found.view().select(selectors).unwrap().eval().unwrap() == some.eval().unwrap();
            found.storage() == &expected && found.shape() == shape && same
        })
    }
    QuickCheck::new().quickcheck(law as fn(Viewed<i32>, Vec<u8>, usize) -> bool);
}

#[test]
fn long_segments_fold_as_short_ones() {
    for shape in [vec![300_000], vec![3, 50_000], vec![50_000, 3], vec![900, 1100]] {
        let count = shape.iter().product::<usize>();
        let data: Vec<i32> =
            (0..count as i32).map(|k| k.wrapping_mul(0x9e37_79b1_u32 as i32) >> 7).collect();
        let t = Tensor::from_vec(shape.clone(), data.clone()).unwrap();
        for axis in 0..shape.len() {
            let n = shape[axis];
            let offsets = ascending(&[0, 0, 1, n / 10, n / 3, n / 3, n - n / 50, n], n);
            let lane = |lane: &[i32]| {
                offsets.windows(2).map(|pair| result(&Compose, &lane[pair[0]..pair[1]])).collect()
            };
            let (_, expected) = each_lane(&shape, &data, axis, offsets.len() - 1, lane);
            let found = in_pools(|| t.segments(axis, &offsets).fold(Compose).eval()?.to_vec());
            assert!(found == expected, "{shape:?} {axis}");
            let keys: Vec<usize> = (0..n).map(|k| k * k % 13).collect();
            let lane = |lane: &[i32]| {
                let mut states = [(1, 0); 13];
                for (&key, &x) in keys.iter().zip(lane) {
                    Compose.step(&mut states[key], x);
                }
                states.iter().map(|&state| Compose.finish(state)).collect()
            };
            let (_, expected) = each_lane(&shape, &data, axis, 13, lane);
            let found = in_pools(|| t.by_key(axis, &keys, 13).fold(Compose).eval()?.to_vec());
            assert!(found == expected, "keys {shape:?} {axis}");
        }
    }
}

#[test]
fn sums_of_floats_have_the_same_bits() {
    let t =
        Tensor::from_index([40_000, 9], |index| ((index[0] * 37 + index[1]) as f64).sin()).unwrap();
    for axis in 0..2 {
        let offsets = [0, 3, 9];
        let sums = |t: &Tensor<Vec<f64>>| -> lensor::Result<Vec<u64>> {
            let sums = t.segments(axis, offsets).fold(Total).eval()?;
            Ok(sums.storage().iter().map(|x| x.to_bits()).collect())
        };
        let found = in_pools(|| sums(&t));
        let turned = t.view().transpose([1, 0]).unwrap().eval().unwrap();
        let back = turned.view().transpose([1, 0]).unwrap();
        let seen = back.segments(axis, offsets).fold(Total).eval().unwrap();
        assert!(seen.storage().iter().map(|x| x.to_bits()).eq(found));
    }
}

/// Of lanes and of rows, of tensors and expressions.
#[test]
fn sums_of_groups_have_the_bits_of_segments_of_a_sorted_copy() {
    for (shape, axis, groups) in [
        (vec![200_000], 0, 7),
        (vec![70_000, 1], 0, 900),
        (vec![1, 30_000], 1, 40_000),
        (vec![50, 900], 1, 5),
        (vec![900, 5], 0, 70),
        (vec![4000, 2], 0, 30),
        (vec![3000, 2, 2], 0, 11),
        (vec![3, 900, 4], 1, 20),
    ] {
        let element = |index: &[usize]| (index.iter().fold(7, |k, i| k * 37 + i) as f64).sin();
        let t = Tensor::from_index(&shape[..], element).unwrap();
        let keys: Vec<usize> = (0..shape[axis]).map(|k| k * k % 8191 % groups).collect();
        let mut order: Vec<usize> = (0..shape[axis]).collect();
        order.sort_by_key(|&k| keys[k]);
        let offsets: Vec<usize> =
            (0..=groups).map(|group| order.partition_point(|&k| keys[k] < group)).collect();
        let mut selectors = vec![lensor::Select::All; axis];
        selectors.push(lensor::Select::List(order));
        let sorted = t.view().select(selectors).unwrap().eval().unwrap();
        let expected = sorted.segments(axis, &offsets).sum().eval().unwrap().to_vec().unwrap();
        let bits = |sums: Vec<f64>| sums.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        let expected = bits(expected);
        let found = in_pools(|| Ok(bits(t.by_key(axis, &keys, groups).sum().to_vec()?)));
        assert!(found == expected, "{shape:?}");
        let doubled = (&t * 1.0).by_key(axis, &keys, groups).sum().to_vec().unwrap();
        assert!(bits(doubled) == expected, "{shape:?}");
    }
}

#[test]
fn expressions_are_folded_without_memory_for_them() {
    let t = Tensor::from_nested([[1.0, 2.0], [3.0, 5.0], [5.0, 8.0]]).unwrap();
    let means = (&t * 2.0).by_key(0, [0, 1, 0], 2).fold(Mean);
    assert_eq!(means.eval().unwrap().to_vec().unwrap(), [6.0, 10.0, 6.0, 10.0]);
    let mut out = Tensor::full([2, 2], 0.0).unwrap();
    means.assign_to(&mut out.view_mut().flip(1).unwrap()).unwrap();
    assert_eq!(out.to_vec().unwrap(), [10.0, 6.0, 10.0, 6.0]);
}

#[test]
fn errors_name_what_is_wrong() {
    let t = Tensor::from(vec![1, 2, 3, 0]);
    fails(
        t.segments(0, [0, 3, 2]).fold(Sum).eval(),
        Error::InvalidOffsets { at: 2, offset: 2, least: 3, axis: 0, extent: 4 },
        "offset 2 of axis 0 is 2, expected 3 to 4",
    );
    fails(
        t.segments(0, [0, 5]).fold(Sum).eval(),
        Error::InvalidOffsets { at: 1, offset: 5, least: 0, axis: 0, extent: 4 },
        "offset 1 of axis 0 is 5, expected 0 to 4",
    );
    let row = t.view().insert_axis(0).unwrap();
    let negative = Offsets::new(vec![0_i64, -1, 2]).unwrap();
    fails(
        row.segments(1, &negative).fold(Sum).eval(),
        Error::InvalidOffsets { at: 1, offset: -1, least: 0, axis: 1, extent: 4 },
        "offset 1 of axis 1 is -1, expected 0 to 4",
    );
    fails(
        t.segments(0, [0, 1, 1]).fold(Max).eval(),
        Error::EmptySegment { segment: 1, axis: 0 },
        "segment 1 of axis 0 has no elements, and there is no result for none: `.or(..)` gives one",
    );
    fails(
        t.by_key(0, [0, 1, 2], 3).fold(Sum).eval(),
        Error::ListLength { what: "keys", axis: 0, extent: 4, found: 3 },
        "axis 0 has extent 4 and needs as many keys, found 3",
    );
    fails(
        t.by_key(0, [0, 1, 7, 9], 3).fold(Sum).eval(),
        Error::Key { at: 2, key: 7, groups: 3 },
        "key 7 at 2 is of no group: there are 3",
    );
    fails(
        t.segments(1, [0]).fold(Sum).eval(),
        Error::Axis { axis: 1, rank: 1 },
        "axis 1 does not exist: the rank is 1",
    );
    let shares = Lazy::new(1_i32 / &t).by_key(0, [1, 0, 1, 0], 2).fold(Sum).eval();
    assert_eq!(shares.unwrap_err(), Error::Arithmetic { index: vec![3] });
    let sums = (&t * 100).segments(0, [0, 1, 2]).fold(Small).eval();
    assert_eq!(sums.unwrap_err(), Error::Overflow { index: vec![1], target: "i8" });
    assert_eq!(t.segments(0, []).fold(Sum).eval().unwrap().shape(), [0]);
    let error = t.by_key(0, [0, 0, 0, 0], usize::MAX).fold(Sum).eval().unwrap_err();
    assert_eq!(error, Error::ShapeOverflow { shape: vec![usize::MAX] });
    let error = t.by_key(0, [0, 0, 0, 0], isize::MAX as usize / 8).fold(Sum).eval().unwrap_err();
    assert!(matches!(error, Error::OutOfMemory { .. }), "{error}");
}

/// The sum of a segment: leaves of 512 elements, dealt out to 32 lanes that are joined in halves, and joined in pairs.
fn summed(x: &[f64]) -> f64 {
    if x.len() > 512 {
        let leaves = x.len().div_ceil(512);
        let (low, high) = x.split_at(512 << (leaves - 1).ilog2());
        return summed(low) + summed(high);
    }
    if x.len() < 32 {
        return x.iter().copied().reduce(|a, b| a + b).unwrap_or(0.0);
    }
    let mut lanes: Vec<f64> = x[..32].to_vec();
    (32..x.len()).for_each(|k| lanes[k % 32] += x[k]);
    while lanes.len() > 1 {
        let high = lanes.split_off(lanes.len() / 2);
        lanes.iter_mut().zip(high).for_each(|(a, b)| *a += b);
    }
    lanes[0]
}

/// Segments of all lengths beside one another are summed in the order that depends on their own length alone.
#[test]
fn short_and_long_segments_keep_their_order() {
    fn law(numbers: Vec<u16>, lazy: bool) -> bool {
        let extent = 20_000;
        let numbers: Vec<usize> = numbers.iter().map(|&k| usize::from(k)).collect();
        let mut offsets = ascending(&numbers, extent);
        // Many short ones in a row, more than are taken at once.
        let first = offsets.last().copied().unwrap_or(0);
        offsets.extend((first..extent).step_by(37));
        let data: Vec<f64> = (0..extent).map(|k| ((k * 7919) % 1013) as f64 / 7.0).collect();
        let expected: Vec<u64> =
            offsets.windows(2).map(|pair| summed(&data[pair[0]..pair[1]]).to_bits()).collect();
        let t = Tensor::from(data);
        let found = in_pools(|| match lazy {
            true => (&t * 1.0).segments(0, &offsets).fold(Sum).eval()?.to_vec(),
            false => t.segments(0, &offsets).fold(Sum).eval()?.to_vec(),
        });
        found.into_iter().map(f64::to_bits).eq(expected)
    }
    QuickCheck::new().tests(40).quickcheck(law as fn(Vec<u16>, bool) -> bool);
}

#[test]
fn an_overflow_among_short_segments_names_the_first() {
    let mut data = vec![1_i64; 1000];
    data[500..502].fill(i64::MAX);
    data[700..702].fill(i64::MAX);
    let offsets: Vec<usize> = (0..=100).map(|k| k * 10).collect();
    let t = Tensor::from_vec([1, 1000], data).unwrap();
    let error = t.segments(1, &offsets).fold(Sum).eval().unwrap_err();
    assert_eq!(error, Error::Overflow { index: vec![0, 50], target: "i64" });
}

/// Folds that have names are those of the dense elements of each part.
#[test]
fn named_folds_are_those_of_parts() {
    let t = Tensor::from(vec![2.0, f64::NAN, 3.0, 1.0, 4.0, 4.0, 0.0]);
    let (first, second) = (
        t.view().slice(0, ..3).unwrap().eval().unwrap(),
        t.view().slice(0, 3..).unwrap().eval().unwrap(),
    );
    macro_rules! equal {
        ($t:ident $first:ident $second:ident: $($name:ident)*) => { $(
            let found = $t.segments(0, [0, 3, 7]).$name().to_vec().unwrap();
            let expected = [$first.$name(0).item().unwrap(), $second.$name(0).item().unwrap()];
            // NaN is NaN.
            assert_eq!(format!("{found:?}"), format!("{expected:?}"), stringify!($name));
        )* };
    }
    equal! { t first second: sum prod mean min max ptp argmin argmax count_nonzero norm logsumexp var std nan_sum }
    equal! { t first second: nan_prod nan_mean nan_min nan_max nan_argmin nan_argmax nan_var nan_std }
    let (t, a, b) = (t.greater(2.5), first.greater(2.5), second.greater(5.0));
    let t = t.eval().unwrap();
    assert_eq!(t.segments(0, [0, 3, 7]).any().to_vec().unwrap(), [a.any(0).item().unwrap(), true]);
    assert_eq!(t.segments(0, [0, 3, 7]).all().to_vec().unwrap(), [false, b.all(0).item().unwrap()]);
}
