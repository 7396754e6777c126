//! Parts of one axis, and two layouts as one, against the positions of every digit.

use super::super::axis::Normal;
use super::super::reshape::compose;
use super::*;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

/// Axes in normal form: linear ones, cycles that close, wrap or repeat, and tables.
fn normal_axes() -> Vec<AxisMap> {
    let mut axes = Vec::new();
    for stride in [-2, 0, 1, 3] {
        axes.extend((1..5).map(|extent| AxisMap::linear(extent, stride)));
        for period in 2..6 {
            for (shift, step) in (0..period).flat_map(|shift| (1..period).map(move |s| (shift, s)))
            {
                let pattern = || Pattern::Cyclic { period, shift, step };
                axes.extend([3, 4, 5, 8, 10].map(|extent| AxisMap {
                    extent,
                    stride,
                    pattern: pattern(),
                }));
            }
        }
        for positions in [[0, 1, 3, 4], [2, 0, 2, 5], [5, 3, 1, 0]] {
            axes.push(AxisMap {
                extent: 4,
                stride,
                pattern: Pattern::Listed(Table::new(positions)),
            });
        }
    }
    axes.into_iter().map(|axis| axis.into_normal().unwrap().0).collect()
}

/// What the digits add to an address.
fn terms(axis: &AxisMap, constant: i128) -> Vec<i128> {
    let term = |digit| axis.stride as i128 * axis.position(digit) as i128 + constant;
    (0..axis.extent).map(term).collect()
}

#[track_caller]
fn assert_reads((axis, constant): Normal, expected: &[i128], of: &AxisMap) {
    assert_eq!(terms(&axis, constant), expected, "{of:?} became {axis:?}");
    let (again, nothing) = axis.clone().into_normal().unwrap();
    assert_eq!((&again, nothing), (&axis, 0), "{of:?} became an axis that is not normal");
}

/// Ranges and lists of digits read what those digits read.
#[test]
fn parts_of_an_axis_read_what_their_digits_read() {
    for axis in normal_axes() {
        let all = terms(&axis, 0);
        for (start, step) in (0..all.len()).flat_map(|k| [-3, -2, -1, 1, 2, 3].map(|s| (k, s))) {
            let mut digits: Vec<usize> = Vec::new();
            let mut next = Some(start);
            while let Some(digit) = next.filter(|&digit| digit < all.len()) {
                digits.push(digit);
                next = digit.checked_add_signed(step);
            }
            for count in 0..=digits.len() {
                let expected: Vec<i128> = digits[..count].iter().map(|&digit| all[digit]).collect();
                if let (Ok(taken), 1..) = (axis.range(start, step, count), count) {
                    assert_reads(taken, &expected, &axis);
                }
                assert_reads(axis.list(&digits[..count]).unwrap(), &expected, &axis);
            }
        }
        let last = all.len() - 1;
        let expected = [all[last], all[0], all[last]];
        assert_reads(axis.list(&[last, 0, last]).unwrap(), &expected, &axis);
    }
}

/// Rotated and repeated axes read the same digits in another order; only where the axis neither is linear
/// nor a cycle that leads back to its start, a table has to be made.
#[test]
fn rotated_and_repeated_axes_read_the_same_digits() {
    for axis in normal_axes() {
        let all = terms(&axis, 0);
        let simple = match axis.pattern {
            Pattern::Linear => true,
            Pattern::Cyclic { .. } => axis.position(axis.extent) == axis.position(0),
            Pattern::Listed(_) => false,
        };
        for shift in 0..all.len() {
            let mut expected = all.clone();
            expected.rotate_right(shift);
            match axis.rotated(shift) {
                Some(rotated) => assert_reads(rotated, &expected, &axis),
                None => assert!(!simple && shift > 0, "{axis:?}"),
            }
        }
        for times in 1..4 {
            match axis.repeated(times) {
                Some(repeated) => assert_reads(repeated, &all.repeat(times), &axis),
                None => assert!(!simple && times > 1, "{axis:?}"),
            }
        }
        for offset in [-7, 0, 9] {
            let moved: Vec<i128> = all.iter().map(|term| term + offset).collect();
            let made = AxisMap::of_contributions(moved.iter().copied()).unwrap();
            assert_reads(made, &moved, &axis);
        }
    }
}

/// A cycle of two positions has a positive stride, however it is given.
#[test]
fn cycles_of_two_rise() {
    for (stride, shift) in [(-3, 0), (-3, 1), (3, 0), (3, 1)] {
        let pattern = Pattern::Cyclic { period: 2, shift, step: 1 };
        let (axis, _) = AxisMap { extent: 5, stride, pattern }.into_normal().unwrap();
        assert_eq!(axis.stride, 3);
    }
}

/// Layouts whose addresses are few, some of them turned around, rotated or listed.
fn lower_layouts() -> Vec<Layout> {
    let cycle = |period, step| Pattern::Cyclic { period, shift: 1, step };
    let patterns = [
        Pattern::Linear,
        cycle(6, 1),
        cycle(7, 2),
        Pattern::Listed(Table::new([4, 0, 1, 4, 6, 2])),
    ];
    let mut layouts = Vec::new();
    for pattern in patterns {
        for stride in [-1, 4] {
            let axis = || AxisMap { extent: 6, stride, pattern: pattern.clone() };
            let others = [AxisMap::linear(4, 30), AxisMap::linear(4, -30)];
            layouts.extend(others.iter().map(|other| Layout::new(200, [axis(), other.clone()])));
            layouts.extend(others.map(|other| Layout::new(200, [other, axis()])));
        }
    }
    layouts.into_iter().flatten().collect()
}

/// Layouts of one or two axes whose addresses lie below 24.
fn upper_layouts() -> Vec<Layout> {
    let cycle =
        |extent| Pattern::Cyclic { period: 3, shift: 2, step: if extent > 3 { 2 } else { 1 } };
    let mut axes = Vec::new();
    for stride in [-12, -8, -6, -4, -2, -1, 1, 2, 3, 4, 5, 6, 7] {
        axes.extend([AxisMap::linear(2, stride), AxisMap::linear(4, stride)]);
        axes.extend([3, 4].map(|extent| AxisMap { extent, stride, pattern: cycle(extent) }));
        axes.push(AxisMap { extent: 3, stride, pattern: Pattern::Listed(Table::new([0, 2, 2])) });
    }
    let mut layouts = Vec::new();
    for offset in [0, 1, 6, 15, 23] {
        layouts.extend(axes.iter().map(|axis| Layout::new(offset, [axis.clone()])));
        for inner in [AxisMap::linear(2, 1), AxisMap::linear(3, -1), AxisMap::linear(2, 6)] {
            layouts
                .extend(axes.iter().map(|axis| Layout::new(offset, [axis.clone(), inner.clone()])));
        }
    }
    layouts.into_iter().flatten().filter(|layout| layout.span().end <= 24).collect()
}

/// Two layouts as one read what they read in turn, and are one wherever each axis steps along one linear axis
/// below, or along one of any pattern, and stays inside.
#[test]
fn composed_layouts_read_what_they_read_in_turn() {
    let uppers = upper_layouts();
    for below in lower_layouts() {
        let stage = AddressMap::from(below.clone());
        for top in &uppers {
            let positions = addresses(&top.clone().into());
            let expected: Vec<usize> = positions.iter().map(|&k| stage.address_at(k)).collect();
            if let Some(both) = compose(top, &below) {
                assert_eq!(addresses(&both.clone().into()), expected, "{top:?} {below:?}");
                let again = Layout::new(both.offset() as isize, both.axes());
                assert_eq!(again.as_ref(), Ok(&both), "{top:?} {below:?}");
                continue;
            }
            // The digits below, if they were to follow the axes of `top` one by one.
            let shape = below.shape();
            let start = shape.unravel(top.offset());
            let inner = shape[1];
            let stays = positions.iter().all(|&k| k / inner == start[0])
                || positions.iter().all(|&k| k % inner == start[1]);
            assert!(!stays || top.rank() > 1, "{top:?} {below:?}");
        }
    }
}

/// Steps along several linear axes at once need no stage: a diagonal through a transposed matrix.
#[test]
fn steps_along_several_linear_axes_merge() {
    let flat = AddressMap::row_major([4, 6]).unwrap();
    let flat = flat.transpose([1, 0]).unwrap().reshape([24]).unwrap();
    let diagonal = flat.select((Select::stepped(0, 20, 5),)).unwrap();
    assert_eq!(diagonal, Layout::new(0, [AxisMap::linear(4, 7)]).unwrap().into());
}

/// A layout gives its axes one by one, with or without their patterns; tables that differ have other hashes.
#[test]
fn layouts_give_their_axes() {
    for layout in lower_layouts() {
        let all: Vec<AxisMap> = layout.axes().collect();
        let one_by_one: Vec<Option<AxisMap>> = (0..3).map(|axis| layout.axis(axis)).collect();
        assert_eq!(one_by_one, [Some(all[0].clone()), Some(all[1].clone()), None]);
        assert_eq!(layout.axis(usize::MAX), None);
        let plain = layout.plain_axes().iter().map(|axis| (axis.extent, axis.stride));
        assert!(plain.eq(all.iter().map(|axis| (axis.extent, axis.stride))));
        let linear = all.iter().all(|axis| axis.pattern == Pattern::Linear);
        assert_eq!(layout.as_linear(), linear.then_some(layout.plain_axes()));
    }
    let hash = |positions: &[usize]| {
        BuildHasherDefault::<DefaultHasher>::default().hash_one(Table::new(positions))
    };
    assert_ne!(hash(&[0, 2, 3]), hash(&[0, 2, 1]));
    assert_eq!(hash(&[0, 2, 3]), hash(&[0, 2, 3]));
}
