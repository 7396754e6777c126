//! Lanes that are long, and so many that they are read in groups and shared among threads.

use super::support::{argsorted, bits, map_lanes, order_of, sorted, special};
use crate::support::{in_pools, pool};
use lensor::lanes::{
    Edges, Lanes,
    SortOrder::{Ascending, Descending},
};
use lensor::prelude::*;

/// Numbers without a pattern.
fn noise(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
}

/// Lanes around the lengths where one algorithm follows another.
#[test]
fn lanes_of_any_length_are_sorted() {
    let mut next = noise(5);
    for length in [0, 1, 2, 7, 20, 21, 32, 33, 127, 128, 129, 255, 511, 512, 1023, 1024, 1025, 3000]
    {
        for spread in [1, 7, 200, u64::MAX] {
            let numbers: Vec<f64> = (0..3 * length)
                .map(|_| match next() % spread {
                    x if spread == 7 => special(x as u8 * 2),
                    x => x as i64 as f64,
                })
                .collect();
            let t = Tensor::from_vec([length, 3], numbers.clone()).unwrap();
            for descending in [false, true] {
                let order = order_of(descending);
                let (_, expected) =
                    map_lanes(&[length, 3], 0, &numbers, length, |lane| sorted(lane, order));
                assert_eq!(bits(t.sort(0, order).eval().unwrap().storage()), bits(&expected));
                let (_, expected) =
                    map_lanes(&[length, 3], 0, &numbers, length, |lane| argsorted(lane, order));
                assert_eq!(t.argsort(0, order).eval().unwrap().storage(), &expected);
            }
        }
    }
}

/// Short lanes are sorted several at a time: any number of them, one after another or apart.
#[test]
fn short_lanes_are_sorted_as_if_alone() {
    let mut next = noise(7);
    for length in (1..=34).chain([64, 65]) {
        for count in [1, 15, 16, 17, 40] {
            let numbers: Vec<f64> = (0..count * length).map(|_| special(next() as u8)).collect();
            let t = Tensor::from_vec([count, length], numbers.clone()).unwrap();
            // The same lanes with something between them, and side by side.
            let mut apart = Tensor::full([count, length + 3], 5.0).unwrap();
            apart.view_mut().select((.., 2..length + 2)).unwrap().assign(&t).unwrap();
            let aside = t.view().transpose([1, 0]).unwrap().eval().unwrap();
            let shape = [count, length];
            for descending in [false, true] {
                let order = order_of(descending);
                let (_, expected) =
                    map_lanes(&shape, 1, &numbers, length, |lane| sorted(lane, order));
                let expected = bits(&expected);
                assert_eq!(bits(t.sort(1, order).eval().unwrap().storage()), expected);
                let view = apart.view().select((.., 2..length + 2)).unwrap();
                assert_eq!(bits(view.view().sort(1, order).eval().unwrap().storage()), expected);
                let turned = aside.sort(0, order).eval().unwrap().transpose([1, 0]).unwrap();
                assert_eq!(bits(&turned.to_vec().unwrap()), expected);
                let mut changed = apart.clone();
                let mut inner = changed.view_mut().select((.., 2..length + 2)).unwrap();
                inner.sort_in_place(1, order).unwrap();
                assert_eq!(bits(&inner.to_vec().unwrap()), expected);
                assert!(
                    changed.view().select((.., ..2)).unwrap().to_vec().unwrap()
                        == vec![5.0; 2 * count]
                );
                let by_key = t.sort_by_key(1, order, |x| x).eval().unwrap();
                assert_eq!(bits(by_key.storage()), expected);
                let (_, expected) =
                    map_lanes(&shape, 1, &numbers, length, |lane| argsorted(lane, order));
                assert_eq!(t.argsort(1, order).eval().unwrap().storage(), &expected);
                assert_eq!(view.argsort(1, order).eval().unwrap().storage(), &expected);
            }
        }
    }
}

/// Keys of every width, long enough to be sorted by bytes.
#[test]
fn long_lanes_of_every_width_are_sorted() {
    macro_rules! check {
        ($($type:ty)*) => { $(
            let mut next = noise(9);
            let data: Vec<$type> = (0..4000).map(|_| (next() as i128 * 0x1_0000_0001_0000) as $type).collect();
            let mut expected = data.clone();
            expected.sort();
            let t = Tensor::from(data.clone());
            assert_eq!(t.sort(0, Ascending).eval().unwrap().storage(), &expected);
            let mut positions: Vec<usize> = (0..data.len()).collect();
            positions.sort_by_key(|&k| data[k]);
            assert_eq!(t.argsort(0, Ascending).eval().unwrap().storage(), &positions);
        )* };
    }
    check!(u8 i8 u16 i16 u32 i32 u64 i64 usize isize u128 i128);
}

/// Lanes that ascend or fall already, with equal elements too, and such with two elements exchanged.
#[test]
fn lanes_in_order_are_told_from_those_that_nearly_are() {
    macro_rules! check_integers {
        ($lane:expr, $($type:ty)*) => { $(
            let lane: Vec<$type> = $lane.iter().map(|&x| x as $type).collect();
            let mut expected = lane.clone();
            expected.sort();
            let found = Tensor::from(lane).sort(0, Ascending).eval().unwrap();
            assert_eq!(found.storage(), &expected);
        )* };
    }
    for length in [9_usize, 33, 129, 130, 257, 1100] {
        for spread in [3, 5000] {
            let rising = (0..length).map(|k| match (k * spread / length) as f64 - 1.0 {
                0.0 if k % 2 == 0 => -0.0,
                x => x,
            });
            let mut rising: Vec<f64> = rising.collect();
            rising[length - 1] = f64::NAN;
            let falling: Vec<f64> = rising.iter().copied().rev().collect();
            let mut all = vec![rising.clone(), falling];
            for place in [0, length / 3, length - 4] {
                let mut lane = rising.clone();
                lane.swap(place, length - 2);
                all.push(lane);
            }
            for lane in all {
                check_integers!(lane, u8 i16 u32 u64);
                let t = Tensor::from(lane.clone());
                for descending in [false, true] {
                    let order = order_of(descending);
                    let found = t.sort(0, order).eval().unwrap();
                    assert_eq!(bits(found.storage()), bits(&sorted(&lane, order)));
                    let found = t.argsort(0, order).eval().unwrap();
                    assert_eq!(found.storage(), &argsorted(&lane, order));
                }
            }
        }
    }
}

/// More lanes than one group holds, along every axis, of views that are read in different ways.
#[test]
fn groups_make_up_the_whole() {
    let shape = [130, 90, 110];
    let mut next = noise(3);
    let data: Vec<u16> = (0..130 * 90 * 110).map(|_| (next() % 1000) as u16).collect();
    let t = Tensor::from_vec(shape, data.clone()).unwrap();
    let turned = t.view().transpose([2, 0, 1]).unwrap().eval().unwrap();
    let turned = turned.view().transpose([1, 2, 0]).unwrap();
    for axis in 0..3 {
        let (_, expected) = map_lanes(&shape, axis, &data, shape[axis], |lane| {
            let mut lane = lane.to_vec();
            lane.sort();
            lane
        });
        assert!(t.sort(axis, Ascending).eval().unwrap().storage() == &expected);
        assert!(turned.view().sort(axis, Ascending).eval().unwrap().storage() == &expected);
        assert!((&t + 0).sort(axis, Ascending).eval().unwrap().storage() == &expected);
        let mut in_place = turned.eval().unwrap();
        in_place.view_mut().flip(axis).unwrap().sort_in_place(axis, Ascending).unwrap();
        assert!(in_place.flip(axis).unwrap().to_vec().unwrap() == expected);
    }
}

/// The same bits on one thread and on several.
#[test]
fn threads_change_nothing() {
    let mut next = noise(11);
    let data: Vec<f64> = (0..600 * 500).map(|_| special(next() as u8)).collect();
    let t = Tensor::from_vec([600, 500], data).unwrap();
    let all = || {
        let sorted = t.sort(0, Ascending).eval().unwrap();
        let positions = t.argsort(1, Ascending).eval().unwrap();
        let medians = t.nan_median(0).eval().unwrap();
        let counts = t.histogram(Edges::new([-1.0, 0.0, 1.0, 2.0]).unwrap()).eval().unwrap();
        (bits(sorted.storage()), positions, bits(medians.storage()), counts)
    };
    let [one, three, sixteen] =
        [1, 3, 16].map(|threads| crate::support::pool(threads).install(all));
    assert!(one == three && one == sixteen);
}

/// A histogram that several tasks count, of elements in memory and of others.
#[test]
fn large_histograms_count_everything() {
    let t = Tensor::from_fn([1 << 10, 1 << 9], |k| (k % 100) as u8).unwrap();
    let edges = Edges::new([0, 10, 99]).unwrap();
    let count = |low: usize, high: usize| {
        (0..1_usize << 19).filter(|k| (low..high).contains(&(k % 100))).count() as u64
    };
    let expected = [count(0, 10), count(10, 100)];
    assert_eq!(t.histogram(&edges).to_vec().unwrap(), expected);
    assert_eq!(t.eval().unwrap().histogram(&edges).to_vec().unwrap(), expected);
}

/// One lane, so long that its sides of a pivot are sorted by threads of their own.
#[test]
fn a_long_lane_is_shared_among_threads() {
    const LENGTH: usize = 600_001;
    let mut next = noise(11);
    let spreads = [(3, Ascending), (200, Descending), (u64::MAX, Ascending)];
    for (spread, order) in spreads {
        let numbers: Vec<f64> = (0..LENGTH)
            .map(|_| match next() % spread {
                x if spread == 200 => special(x as u8),
                x => x as i64 as f64,
            })
            .collect();
        let t = Tensor::from_vec([LENGTH], numbers.clone()).unwrap();
        let (expected, positions) = (bits(&sorted(&numbers, order)), argsorted(&numbers, order));
        assert!(in_pools(|| Ok(bits(t.sort(0, order).eval()?.storage()))) == expected);
        assert!(in_pools(|| t.argsort(0, order).eval()?.to_vec()) == positions);
        let by_key = in_pools(|| {
            let mut own = t.eval()?;
            own.sort_by_key_in_place(0, order, |x| x)?;
            Ok(bits(own.storage()))
        });
        assert!(by_key == expected);
        let words: Vec<u16> = numbers.iter().map(|&x| x as u16).collect();
        let mut in_order = words.clone();
        in_order.sort();
        let words = Tensor::from_vec([LENGTH], words).unwrap();
        assert!(in_pools(|| words.sort(0, Ascending).eval()?.to_vec()) == in_order);
    }
    let threads = |length: usize| {
        let t = Tensor::from_index([length], |index| index[0] as f64).unwrap();
        pool(2).install(|| t.argsort(0, Ascending).explain().unwrap().threads())
    };
    assert_eq!([threads(1000), threads(LENGTH)], [1, 2]);
}

/// The first few of a long lane, most of whose elements are passed over, and elements on both sides of a rank: among many
/// equal ones those that come first.
#[test]
fn ranks_of_long_lanes_are_those_of_sorted_ones() {
    let mut next = noise(13);
    for length in [4095, 4096, 9000] {
        let patterns: [Vec<f64>; 4] = [
            (0..length).map(|_| (next() % 5) as f64).collect(),
            (0..length).map(|_| special(next() as u8)).collect(),
            (0..length).map(|k| k as f64).collect(),
            (0..length).map(|k| -(k as f64)).collect(),
        ];
        for numbers in patterns {
            let t = Tensor::from_vec([length], numbers.clone()).unwrap();
            for order in [Ascending, Descending] {
                let (expected, places) = (sorted(&numbers, order), argsorted(&numbers, order));
                for k in [0, 1, 5, 64, 65, 600, length] {
                    let found = t.top_k(0, k, order).eval().unwrap();
                    assert_eq!(bits(found.storage()), bits(&expected[..k]), "{k} of {length}");
                    assert_eq!(t.arg_top_k(0, k, order).to_vec().unwrap(), places[..k]);
                }
                for k in [0, 1, length / 2, length - 1] {
                    let found = t.argpartition(0, k, order).to_vec().unwrap();
                    let side = |places: &[usize]| {
                        let mut places = places.to_vec();
                        places.sort();
                        places
                    };
                    let (lower, upper) = (side(&places[..k]), side(&places[k + 1..]));
                    assert!(found == [lower, vec![places[k]], upper].concat(), "{k} of {length}");
                }
            }
        }
    }
}
