//! Whatever the arguments: a result that follows the rules, or an error, never a panic.

use super::support::{addresses, contribution, oracle};
use super::wild::{AnyAxis, AnyOp};
use crate::model::{Refusal, all_indexes, elements, shape_fits};
use lensor::arbitrary::Chain;
use lensor::map::{AxisMap, Layout, Pattern};
use lensor::{AddressMap, Align, Error, Shape};
use quickcheck::quickcheck;
use std::ops::Bound;

quickcheck! {
    /// Any operation with any arguments is refused exactly where the rules refuse it, and never panics.
    fn any_operation_is_valid_exactly_by_the_rules(chain: Chain, operation: AnyOp) -> bool {
        let AnyOp(operation) = operation;
        let found = operation.apply(chain.map());
        match oracle(&chain).apply(&operation) {
            Ok(model) => {
                let map = found.unwrap();
                map.shape().to_vec() == model.shape && addresses(&map) == model.data
            }
            Err(Refusal::Invalid) => found.is_err_and(|error| !error.to_string().is_empty()),
            Err(Refusal::TooLarge) => {
                let map = found.unwrap();
                let last: Vec<usize> = map.shape().iter().map(|extent| extent - 1).collect();
                let reached = map.to_local(&last).unwrap();
                map.span().contains(&reached) && !format!("{map:?}").is_empty()
            }
        }
    }

    /// A failing operation on what any chain of operations left fails alike: errors carry no state.
    fn errors_compare_equal(map: AddressMap, operation: AnyOp) -> bool {
        operation.0.apply(map.clone()) == operation.0.apply(map)
    }

    /// Any axes at all make a layout exactly if every index has an address, and never panic.
    fn any_layout_is_valid_exactly_if_its_addresses_are(offset: isize, small: bool, axes: Vec<AnyAxis>) -> bool {
        let offset = if small { offset % 64 } else { offset };
        let axes: Vec<AxisMap> = axes.into_iter().take(3).map(|axis| axis.0).collect();
        let malformed = |axis: &AxisMap| match &axis.pattern {
            Pattern::Cyclic { period, .. } => *period == 0,
            Pattern::Listed(table) => table.positions().len() != axis.extent,
            Pattern::Linear => false,
        };
        let layout = Layout::new(offset, axes.clone());
        if axes.iter().any(malformed) {
            return layout.is_err();
        }
        let shape: Vec<usize> = axes.iter().map(|axis| axis.extent).collect();
        let expected: Vec<i128> = all_indexes(&shape)
            .iter()
            .map(|i| offset as i128 + axes.iter().zip(i).map(|(a, &d)| bounded(a, d)).sum::<i128>())
            .collect();
        let valid = expected.iter().all(|&address| (0..isize::MAX as i128).contains(&address));
        match layout {
            Ok(layout) => valid && addresses(&layout.into()).iter().map(|&a| a as i128).eq(expected),
            Err(_) => !valid || (!expected.is_empty() && axes.iter().any(reaches_far)),
        }
    }

    /// A shape counts its elements in 128 bits and refuses more than `isize::MAX` nonzero ones.
    fn count_is_that_of_wide_arithmetic(extents: Vec<usize>, shifts: Vec<u8>) -> bool {
        let shape: Vec<usize> =
            extents.iter().zip(&shifts).take(6).map(|(e, s)| e >> (u32::from(*s) % usize::BITS)).collect();
        match Shape::from(shape.clone()).count() {
            Ok(count) => shape_fits(&shape) && count as u128 == elements(&shape),
            Err(error) => !shape_fits(&shape) && error == Error::ShapeOverflow { shape },
        }
    }

    /// Joint shapes follow NumPy's rule, whichever ends meet.
    fn join_is_numpys_rule(a: Shape, b: Shape, left: bool) -> bool {
        let rank = a.rank().max(b.rank());
        let padded = |shape: &Shape| {
            let ones = vec![1; rank - shape.rank()];
            if left { [shape.to_vec(), ones].concat() } else { [ones, shape.to_vec()].concat() }
        };
        let (wide_a, wide_b) = (padded(&a), padded(&b));
        let clash = (0..rank).find(|&k| wide_a[k] != wide_b[k] && wide_a[k] != 1 && wide_b[k] != 1);
        let align = if left { Align::Left } else { Align::Right };
        let expected = match clash {
            Some(axis) => Err(Error::Operands {
                argument: 3, shape: b.to_vec(), so_far: a.to_vec(), axis, left,
            }),
            None => Ok((0..rank)
                .map(|k| if wide_a[k] == 1 { wide_b[k] } else { wide_a[k] })
                .collect::<Shape>()),
        };
        a.join(&b, align, 3) == expected
    }
}

/// A contribution held within what three of them can sum to; one beyond it is refused by itself.
fn bounded(axis: &AxisMap, digit: usize) -> i128 {
    contribution(axis, digit).clamp(-(1 << 120), 1 << 120)
}

/// Whether a position times the stride does not fit in `isize`: refused although the offset might
/// bring all addresses back, and for a cycle although no digit may visit that position.
fn reaches_far(axis: &AxisMap) -> bool {
    let position = match &axis.pattern {
        Pattern::Linear => axis.extent - 1,
        Pattern::Cyclic { period, .. } => period - 1,
        Pattern::Listed(table) => table.positions().iter().copied().max().unwrap_or(0),
    };
    isize::try_from(axis.stride as i128 * position as i128).is_err()
}

#[test]
fn the_rank_that_was_asked_for_is_told() {
    let found = AddressMap::row_major([1]).unwrap().stretch(vec![1; 70], Align::Right);
    assert_eq!(found.unwrap_err(), Error::RankLimit { rank: 70, limit: 64 });
}

/// Where there are no indexes there are no addresses to overflow.
#[test]
fn maps_of_no_indexes_begin_anywhere() {
    assert_eq!(AddressMap::from_strides([0, 3], usize::MAX, [3, 1]).unwrap().count(), 0);
    let refused = AddressMap::from_strides([1, 3], usize::MAX, [3, 1]);
    assert!(matches!(refused, Err(Error::AddressOverflow { .. })));
}

/// A range that is not empty reaches what it starts with, however far that is.
#[test]
fn ranges_beyond_all_indexes_are_refused() {
    let map = || AddressMap::row_major([3]).unwrap();
    let far = 1 << (usize::BITS - 1);
    assert!(matches!(map().select((far..far + 1,)), Err(Error::Index { axis: 0, .. })));
    assert!(matches!(map().select((far..=far,)), Err(Error::Index { axis: 0, .. })));
    assert!(matches!(map().slice(0, far..far + 1), Err(Error::Index { axis: 0, .. })));
    let (last, before) = (usize::MAX, Bound::Excluded(usize::MAX - 1));
    assert!(matches!(map().slice(0, last..=last), Err(Error::Index { axis: 0, .. })));
    let found = map().slice(0, (before, Bound::Included(last)));
    assert!(matches!(found, Err(Error::Index { axis: 0, .. })));
    assert_eq!(map().select((far..far,)).unwrap().shape(), [0]);
    assert_eq!(map().select((far..2,)).unwrap().shape(), [0]);
}
