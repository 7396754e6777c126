//! One view in two spellings.

use super::support::{addresses, alike, below, drawn, list};
use crate::model::all_indexes;
use lensor::{AddressMap, Align, Select, Shape};
use quickcheck::{TestResult, quickcheck};
#[cfg(feature = "roaring")]
use {quickcheck::Arbitrary, std::collections::BTreeSet};

quickcheck! {
    /// Selecting everything is the identity in all its spellings.
    fn selecting_all_is_the_identity(map: AddressMap, dropped: usize) -> bool {
        let shape = map.shape();
        let spell = |spelling: fn(usize) -> Select| -> Vec<Select> {
            shape.iter().map(|&extent| spelling(extent)).collect()
        };
        let mut all = spell(|_| Select::All);
        all.truncate(dropped % (shape.rank() + 1));
        [
            all,
            spell(|extent| Select::range(0..extent as isize)),
            spell(|_| Select::every(1)),
            spell(|extent| Select::List((0..extent).collect())),
        ]
        .into_iter()
        .all(|selectors| map.clone().select(selectors).unwrap() == map)
    }

    /// Selecting in two steps is selecting what the first step took at the second.
    fn selections_compose(map: AddressMap, seed: u64) -> TestResult {
        if map.rank() == 0 || map.count() == 0 {
            return TestResult::discard();
        }
        let (axis, first, second) = drawn(&map, seed, |g, shape| {
            let axis = below(g, shape.rank());
            let first = list(g, shape[axis]);
            let second = list(g, first.len());
            (axis, first, second)
        });
        let at = |list: &[usize]| {
            let mut selectors = vec![Select::All; axis];
            selectors.push(Select::List(list.to_vec()));
            selectors
        };
        let both: Vec<usize> = second.iter().map(|&k| first[k]).collect();
        let in_turn = map.clone().select(at(&first)).unwrap().select(at(&second)).unwrap();
        let at_once = map.select(at(&both)).unwrap();
        TestResult::from_bool(alike(&in_turn, &at_once))
    }

    /// An arithmetic list is the range, in any direction.
    fn arithmetic_lists_are_ranges(map: AddressMap, seed: u64, step: i8) -> TestResult {
        let step = step as isize % 4;
        if map.rank() == 0 || step == 0 || map.shape()[0] == 0 {
            return TestResult::discard();
        }
        let extent = map.shape()[0] as isize;
        let start = drawn(&map, seed, |g, shape| below(g, shape[0])) as isize;
        let mut list = Vec::new();
        let mut index = start;
        while (0..extent).contains(&index) {
            list.push(index as usize);
            index += step;
        }
        let range = Select::Range { start, stop: Some(index), step };
        TestResult::from_bool(
            map.clone().select([Select::List(list)]).unwrap() == map.select([range]).unwrap(),
        )
    }

    /// A slice is a range, and taking an index is taking a slice of one and dropping the axis.
    fn slices_are_selections(map: AddressMap, seed: u64) -> TestResult {
        if map.count() == 0 || map.rank() == 0 {
            return TestResult::discard();
        }
        let (axis, a, b) = drawn(&map, seed, |g, shape| {
            let axis = below(g, shape.rank());
            (axis, below(g, shape[axis] + 1), below(g, shape[axis]))
        });
        let at = |selector: Select| {
            let mut selectors = vec![Select::All; axis];
            selectors.push(selector);
            selectors
        };
        let ranged = map.clone().select(at(Select::range(b as isize..a as isize))).unwrap();
        let index = map.clone().select(at(Select::Index(b as isize))).unwrap();
        let one = map.clone().slice(axis, b..b + 1).unwrap().remove_axis(axis).unwrap();
        TestResult::from_bool(map.slice(axis, b..a).unwrap() == ranged && index == one)
    }

    /// Broadcasting in two steps is broadcasting at once.
    fn broadcasts_compose(map: AddressMap, seed: u64) -> bool {
        let (half, full) = drawn(&map, seed, |g, shape| {
            let half: Vec<usize> = shape.iter().map(|e| e * (1 + below(g, 3))).collect();
            let mut full: Vec<usize> = half.iter().map(|e| e * (1 + below(g, 3))).collect();
            full.insert(0, 1 + below(g, 2));
            (half, full)
        });
        let in_turn = map.clone().broadcast(half).unwrap().broadcast(full.clone()).unwrap();
        in_turn == map.broadcast(full).unwrap()
    }

    /// Broadcasting to one's own shape is the identity.
    fn broadcast_to_itself_is_the_identity(map: AddressMap) -> bool {
        map.clone().broadcast(map.shape()).unwrap() == map
            && map.clone().stretch(map.shape(), Align::Left).unwrap() == map
    }

    /// Where stretching is valid and keeps elements, it is repeating.
    fn stretching_is_repeating(map: AddressMap, seed: u64) -> bool {
        let to: Vec<usize> = drawn(&map, seed, |g, shape| {
            let free = [1].iter().chain(shape.iter());
            free.map(|&extent| if extent == 1 { 1 + below(g, 3) } else { extent }).collect()
        });
        let stretched = map.clone().stretch(Shape::from(to.as_slice()), Align::Right);
        stretched == map.broadcast(to)
    }

    /// Repeating a view repeats what any index reads.
    fn repeats_read_the_same_addresses(map: AddressMap, times: u8) -> TestResult {
        if map.rank() == 0 {
            return TestResult::discard();
        }
        let times = 1 + times as usize % 3;
        let mut to = map.shape().to_vec();
        to[0] *= times;
        let repeated = map.clone().broadcast(to).unwrap();
        TestResult::from_bool(addresses(&repeated) == addresses(&map).repeat(times))
    }

    /// A diagonal reads what two equal digits read, through no more links than there were.
    fn a_diagonal_reads_equal_digits(map: AddressMap) -> bool {
        let rank = map.rank();
        let pairs = (0..rank).flat_map(|a| (0..rank).map(move |b| (a, b))).filter(|(a, b)| a != b);
        pairs.into_iter().all(|(a, b)| {
            let diagonal = map.clone().diagonal(a, b).unwrap();
            diagonal.stages().len() <= map.stages().len()
                && all_indexes(&diagonal.shape()).iter().all(|index| {
                    let (&digit, others) = index.split_last().unwrap();
                    let mut others = others.iter().copied();
                    let digits = (0..rank).map(|axis| {
                        if axis == a || axis == b { digit } else { others.next().unwrap() }
                    });
                    diagonal.to_local(index) == map.to_local(digits.collect::<Vec<_>>())
                })
        })
    }

    /// A diagonal does not care which axis comes first.
    fn diagonals_are_symmetric(map: AddressMap, a: usize, b: usize) -> TestResult {
        let rank = map.rank();
        if rank < 2 || a % rank == b % rank {
            return TestResult::discard();
        }
        let (a, b) = (a % rank, b % rank);
        TestResult::from_bool(map.clone().diagonal(a, b) == map.diagonal(b, a))
    }

    /// Window `k` is the slice from `k` on; windows of one add an axis.
    fn a_window_is_a_slice(map: AddressMap, seed: u64) -> TestResult {
        if map.count() == 0 || map.rank() == 0 {
            return TestResult::discard();
        }
        let (axis, window, k) = drawn(&map, seed, |g, shape| {
            let axis = below(g, shape.rank());
            let window = 1 + below(g, shape[axis]);
            (axis, window, below(g, shape[axis] - window + 1))
        });
        let rank = map.rank();
        let windows = map.clone().windows(axis, window).unwrap();
        let one = windows.slice(axis, k..k + 1).unwrap().remove_axis(axis).unwrap();
        let slice = map.clone().slice(axis, k..k + window).unwrap().move_axis(axis, rank - 1).unwrap();
        let single = map.clone().windows(axis, 1).unwrap();
        let inserted = map.insert_axis(rank).unwrap();
        TestResult::from_bool(
            addresses(&one) == addresses(&slice) && addresses(&single) == addresses(&inserted),
        )
    }
}

#[cfg(feature = "roaring")]
quickcheck! {
    /// A bitmap selects what the ascending list of its members selects.
    fn sets_select_as_lists(map: AddressMap, seed: u64) -> TestResult {
        if map.rank() == 0 {
            return TestResult::discard();
        }
        let members = drawn(&map, seed, |g, shape| {
            (0..shape[0]).filter(|_| bool::arbitrary(g)).collect::<BTreeSet<usize>>()
        });
        let list: Vec<usize> = members.iter().copied().collect();
        let tree: roaring::RoaringTreemap = members.iter().map(|&i| i as u64).collect();
        let bitmap: roaring::RoaringBitmap = members.iter().map(|&i| i as u32).collect();
        let expected = map.clone().select([Select::List(list)]).unwrap();
        TestResult::from_bool(
            map.clone().select([Select::Set(tree.clone())]).unwrap() == expected
                && map.clone().select((tree,)).unwrap() == expected
                && map.select((bitmap,)).unwrap() == expected,
        )
    }
}
