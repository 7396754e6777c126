//! Laws of what maps show to the rest of the crate, against trying every index.

mod axes;

use super::*;
use crate::error::Error;
use crate::shape::Index;
use std::collections::BTreeMap;

/// Rising, falling, repeated, cyclic and listed axes, long and short.
fn axes() -> Vec<AxisMap> {
    let mut axes = vec![AxisMap::linear(1, 5), AxisMap::linear(2, 1)];
    for stride in [-3, 0, 1, 2, 12] {
        axes.push(AxisMap::linear(3, stride));
        for (extent, shift, step) in [(4, 3, 1), (5, 3, 1), (9, 3, 2), (9, 0, 1)] {
            axes.push(AxisMap {
                extent,
                stride,
                pattern: Pattern::Cyclic { period: 5, shift, step },
            });
        }
        for positions in [[0, 1, 1, 4], [2, 0, 2, 5], [5, 3, 1, 0]] {
            axes.push(AxisMap {
                extent: 4,
                stride,
                pattern: Pattern::Listed(Table::new(positions)),
            });
        }
    }
    axes
}

/// Layouts of such axes, empty ones, and ones of several stages.
fn maps() -> Vec<AddressMap> {
    let axes = axes();
    let layout = |axes: &[&AxisMap]| Layout::new(100, axes.iter().map(|&axis| axis.clone()));
    let mut layouts = vec![layout(&[]), layout(&[&AxisMap::linear(0, 1), &axes[2]])];
    for a in &axes {
        layouts.push(layout(&[a]));
        for b in &axes {
            layouts.push(layout(&[a, b]));
            layouts.push(layout(&[a, &AxisMap::linear(2, 3), b]));
        }
    }
    let mut maps: Vec<AddressMap> = layouts.into_iter().flatten().map(AddressMap::from).collect();
    let wide = AddressMap::row_major([4, 6]).unwrap();
    let turned = wide.clone().transpose([1, 0]).unwrap().reshape([8, 3]).unwrap();
    maps.push(turned.clone().rotate([1, 1]).unwrap().reshape([2, 12]).unwrap());
    maps.extend([wide, turned.clone().slice(0, 2..5).unwrap(), turned]);
    maps
}

fn addresses(map: &AddressMap) -> Vec<usize> {
    map.shape().indexes().unwrap().map(|index| map.to_local(&index).unwrap()).collect()
}

/// Addresses by row-major position are those of the indexes, in any order and after what was there before.
#[test]
fn positions_read_what_their_indexes_read() {
    for map in maps() {
        let expected = addresses(&map);
        let count = expected.len();
        let lists: [Vec<usize>; 6] = [
            (0..count).collect(),
            (0..count).rev().collect(),
            (0..count).step_by(3).collect(),
            (0..count).flat_map(|k| [k, k]).collect(),
            (0..count).map(|k| k * 7 % count).collect(),
            Vec::new(),
        ];
        for positions in lists {
            let mut found = vec![usize::MAX];
            map.addresses_at(&positions, &mut found);
            let there = positions.iter().map(|&k| expected[k]);
            assert!(found.into_iter().eq([usize::MAX].into_iter().chain(there)), "{map:?}");
        }
        for (position, &address) in expected.iter().enumerate() {
            assert_eq!(map.address_at(position), address, "{map:?}");
        }
    }
}

/// Runs of neighbouring positions, from and to any of them, are the addresses that these have.
#[test]
fn runs_are_what_positions_read() {
    let row_major = |shape: &[usize]| AddressMap::row_major(shape).unwrap();
    let own = [
        row_major(&[20]),
        row_major(&[3, 2, 10]).flip(2).unwrap(),
        row_major(&[3, 2, 10]).rotate([1, 1, 7]).unwrap(),
        row_major(&[10, 4]).transpose([1, 0]).unwrap(),
        row_major(&[2, 9]).broadcast([4, 2, 9]).unwrap(),
        row_major(&[3, 10]).select((vec![2, 0, 0, 1], 1..9)).unwrap(),
        row_major(&[2, 9]).broadcast([2, 27]).unwrap(),
    ];
    let mut visited = 0;
    for map in own.into_iter().chain(maps()).filter(|map| map.rest().is_empty()) {
        let expected = addresses(&map);
        for start in 0..expected.len() {
            for count in 1..=expected.len() - start {
                let mut found = Vec::new();
                let whole = map.top().for_each_run(start, count, &mut |first, stride, len| {
                    found.extend((0..len as isize).map(|k| first.wrapping_add_signed(stride * k)));
                });
                visited += usize::from(whole);
                assert!(!whole || found == expected[start..start + count], "{map:?}");
                assert!(whole || found.is_empty(), "{map:?}");
            }
        }
    }
    assert!(visited > 1000);
}

/// A plane is given for up to two axes that strides explain, and reads the same; its only row is given if
/// addresses are what positions leave when divided.
#[test]
fn planes_read_what_positions_read() {
    for map in maps() {
        let expected = addresses(&map);
        let strided = map.stages().len() == 1 && map.top().as_linear().is_some();
        let Some(plane) = map.plane() else {
            assert!(!strided || map.rank() > 2, "{map:?}");
            continue;
        };
        assert!(strided && map.rank() <= 2, "{map:?}");
        assert!(expected.iter().enumerate().all(|(k, &a)| plane.address(k) == a), "{map:?}");
        let columns = map.shape().last().copied().unwrap_or(1);
        let one_row = map.rank() * map.count() > 0
            && expected.iter().enumerate().all(|(k, &a)| a == k % columns);
        match plane.only_row() {
            Some(row) => {
                let rests = (0..expected.len()).map(|k| row.divide(k).1);
                assert!(rests.eq(expected.iter().copied()), "{map:?}");
            }
            None => assert!(!one_row || columns < 2, "{map:?}"),
        }
    }
    let row = |shape: &[usize]| AddressMap::row_major(shape).unwrap();
    assert!(row(&[7]).plane().unwrap().only_row().is_some());
    assert!(row(&[7]).broadcast([3, 7]).unwrap().plane().unwrap().only_row().is_some());
    assert!(row(&[3, 7]).plane().unwrap().only_row().is_none());
}

/// Coalescing keeps the addresses and their order; no two neighbouring axes are left that one could replace.
#[test]
fn coalescing_keeps_addresses_on_the_fewest_axes() {
    for map in maps() {
        let merged = map.coalesced();
        assert_eq!(addresses(&merged), addresses(&map), "{map:?}");
        assert!(merged.shape().iter().all(|&extent| extent != 1), "{map:?}");
        let axes: Vec<AxisMap> = merged.top().axes().collect();
        for pair in axes.windows(2) {
            let linear = pair.iter().all(|axis| axis.pattern == Pattern::Linear);
            assert!(
                !linear || pair[0].stride != pair[1].stride * pair[1].extent as isize,
                "{map:?}"
            );
        }
    }
}

/// A length is a row-major axis; moving a map down and making it there are the same.
#[test]
fn lengths_are_row_major_and_moves_are_exact() {
    for len in 0..4 {
        let map = AddressMap::row_major(len).unwrap();
        assert_eq!(AddressMap::of_length(len), map);
    }
    assert_eq!(AddressMap::of_length(usize::MAX).count(), isize::MAX as usize);
    for map in maps() {
        let lowest = addresses(&map).into_iter().min();
        for by in [0, 1, 37] {
            let moved = map.clone().moved_down(by);
            let stages: Vec<&Layout> = map.stages().collect();
            let last = stages[stages.len() - 1];
            let fits = map.count() == 0 || last.span().start >= by;
            let down = || addresses(&map).iter().map(|address| address - by).collect::<Vec<_>>();
            match moved {
                Ok(moved) => assert!(fits && addresses(&moved) == down(), "{map:?}"),
                Err(error) => {
                    let expected = Error::NegativeAddress {
                        lowest: last.span().start as isize - by as isize,
                        offset: last.offset() as isize - by as isize,
                        shape: map.shape().to_vec(),
                    };
                    assert!(!fits && lowest.is_some(), "{map:?}");
                    assert_eq!(error, expected);
                }
            }
        }
    }
}

/// Indexes, as row-major positions, that a nested layout tells for an address.
fn told(nested: &Nested, address: usize) -> Vec<usize> {
    let mut found = vec![0];
    let Some(mut rest) = address.checked_sub(nested.lowest) else { return Vec::new() };
    for level in &nested.levels {
        let position = rest / level.stride;
        rest %= level.stride;
        if position > level.last {
            return Vec::new();
        }
        let mut digits = Vec::new();
        level.for_each_digit(position, |digit| digits.push(digit * level.weight));
        assert!(digits.is_sorted() && digits.len() <= level.most_digits(position));
        found = digits.iter().flat_map(|d| found.iter().map(move |f| f + d)).collect();
    }
    if rest > 0 {
        return Vec::new();
    }
    for repeat in &nested.repeats {
        let all = |first: usize| {
            let start = first - first % repeat.block;
            (first..start + repeat.block).step_by(repeat.step)
        };
        found = found.into_iter().flat_map(all).collect();
    }
    found.sort_unstable();
    found
}

/// Strides nest if each exceeds what the smaller ones reach together; then division tells all indexes.
#[test]
fn nested_strides_tell_all_indexes() {
    for layout in maps().into_iter().filter(|map| map.stages().len() == 1).map(|map| map.top) {
        let mut terms: Vec<(usize, usize)> = layout
            .axes()
            .filter(|axis| axis.extent > 1 && axis.stride != 0)
            .map(|axis| {
                let last = (0..axis.extent).map(|digit| axis.position(digit)).max().unwrap_or(0);
                (axis.stride.unsigned_abs(), last)
            })
            .collect();
        terms.sort_unstable();
        let below = |k: usize| terms[..k].iter().map(|(stride, last)| stride * last).sum::<usize>();
        let nests = (0..terms.len()).all(|k| terms[k].0 > below(k)) && layout.count() > 0;
        let Some(nested) = layout.nested().unwrap() else {
            assert!(!nests, "{layout:?}");
            continue;
        };
        assert!(nests, "{layout:?}");
        assert!(nested.repeats.iter().all(|repeat| repeat.step < repeat.block), "{layout:?}");
        let map = AddressMap::from(layout.clone());
        let expected = addresses(&map);
        for address in 0..map.span().end + 3 {
            let indexes: Vec<usize> =
                (0..expected.len()).filter(|&k| expected[k] == address).collect();
            assert_eq!(told(&nested, address), indexes, "{layout:?} {address}");
            let known: Vec<Index> = map.to_global(address).collect();
            assert_eq!(known.len(), indexes.len(), "{layout:?} {address}");
            let ways = nested.most_ways(address);
            let repeats: usize = indexes.len().div_ceil(ways.max(1));
            assert!(indexes.is_empty() || ways > 0 && (repeats == 1 || !nested.repeats.is_empty()));
        }
        for level in &nested.levels {
            let axis = layout.axis_map(level.axis);
            let along: Vec<isize> =
                (0..axis.extent).map(|digit| axis.stride * axis.position(digit) as isize).collect();
            let cyclic = matches!(axis.pattern, Pattern::Cyclic { .. });
            let repeats = (1..along.len()).any(|k| along[..k].contains(&along[k]));
            let firsts: BTreeMap<isize, usize> =
                along.iter().enumerate().rev().map(|(digit, &term)| (term, digit)).collect();
            let rises = firsts.values().is_sorted() && (cyclic || !repeats);
            assert_eq!(level.ascends(), rises, "{layout:?}");
            assert_eq!(level.branches(), repeats && !cyclic, "{layout:?}");
        }
    }
}

/// Where an address cannot be reached by the strides, there are no ways to it.
#[test]
fn ways_are_counted_without_repeats() {
    let table = Pattern::Listed(Table::new([3, 0, 3, 1]));
    let layout = Layout::new(
        10,
        [
            AxisMap { extent: 4, stride: 10, pattern: table },
            AxisMap::linear(4, 0),
            AxisMap::linear(3, 2),
        ],
    );
    let nested = layout.unwrap().nested().unwrap().unwrap();
    let ways: Vec<usize> = (8..48).map(|address| nested.most_ways(address)).collect();
    let mut expected = vec![0; 40];
    for (row, count) in [(10, 1), (20, 1), (40, 2)] {
        for column in [0, 2, 4] {
            expected[row + column - 8] = count;
        }
    }
    assert_eq!(ways, expected);
}

/// A map of one stage prints as its layout, others as their first eight stages.
#[test]
fn maps_print_their_stages() {
    let one = AddressMap::row_major([4, 6]).unwrap();
    assert_eq!(format!("{one:?}"), "Layout { offset: 0, axes: [4*6, 6*1] }");
    let mut several = one.transpose([1, 0]).unwrap().reshape([8, 3]).unwrap();
    assert_eq!(
        format!("{several:?}"),
        "AddressMap { stages: [Layout { offset: 0, axes: [8*3, 3*1] }, \
         Layout { offset: 0, axes: [6*1, 4*6] }] }"
    );
    for k in 0..20 {
        let to = if k % 2 == 0 { [3, 8] } else { [8, 3] };
        several = several.rotate([1, 1]).unwrap().reshape(to).unwrap();
    }
    assert!(several.stages().len() > 8);
    assert_eq!(format!("{several:?}").matches("Layout").count(), 8);
    let listed = |positions: Vec<usize>| {
        let pattern = Pattern::Listed(Table::new(positions.clone()));
        format!(
            "{:?}",
            Layout::new(0, [AxisMap { extent: positions.len(), stride: 2, pattern }]).unwrap()
        )
    };
    let four = listed(vec![0, 3, 1, 1]);
    assert_eq!(four, "Layout { offset: 0, axes: [4*2 listed([0, 3, 1, 1])] }");
    let eight = listed(vec![0, 3, 1, 0, 0, 0, 0, 1]);
    assert_eq!(eight, "Layout { offset: 0, axes: [8*2 listed([0, 3, 1, 0, 0, 0, 0, 1])] }");
    let nine = listed(vec![0, 3, 1, 0, 0, 0, 0, 1, 1]);
    assert_eq!(nine, "Layout { offset: 0, axes: [9*2 listed([0, 3, 1, 0, 0, 0, 0, 1], ..)] }");
    let cyclic =
        AxisMap { extent: 4, stride: 3, pattern: Pattern::Cyclic { period: 5, shift: 2, step: 1 } };
    let cyclic = format!("{:?}", Layout::new(1, [cyclic]).unwrap());
    assert_eq!(cyclic, "Layout { offset: 1, axes: [4*3 cyclic(2 + 1i mod 5)] }");
}
