//! Every error that shapes and maps can give is reached here, with its exact values and text.
//!
//! Longer than 400 lines because it is one table of errors; each test stands alone.

use crate::support::fails;
use lensor::map::{AxisMap, Layout, Pattern, Table};
use lensor::prelude::*;
use lensor::{AddressMap, Align, Error, Select, Shape};

/// Half of the bits of a `usize`: two such extents are more than fit.
const HALF: usize = 1 << (usize::BITS / 2);

fn row_major<const N: usize>(extents: [usize; N]) -> AddressMap {
    AddressMap::row_major(extents).unwrap()
}

#[test]
fn broadcast_names_the_axis_that_does_not_fit() {
    fails(
        row_major([3, 4]).broadcast([2, 3, 5]),
        Error::Broadcast { from: vec![3, 4], to: vec![2, 3, 5], axis: 2 },
        "cannot broadcast [3, 4] to [2, 3, 5]: axis 2 has extent 4, and 5 is not a multiple of it",
    );
}

#[test]
fn broadcast_of_elements_to_none_is_refused() {
    fails(
        row_major([3]).broadcast([0]),
        Error::Broadcast { from: vec![3], to: vec![0], axis: 0 },
        "cannot broadcast [3] to [0]: axis 0 has extent 3, and only extent 0 goes to 0",
    );
}

#[test]
fn broadcast_to_lower_rank_names_the_ranks() {
    fails(
        row_major([3, 4]).broadcast([12]),
        Error::Broadcast { from: vec![3, 4], to: vec![12], axis: 0 },
        "cannot broadcast [3, 4] to [12]: the rank falls from 2 to 1",
    );
}

#[test]
fn broadcast_to_a_new_empty_axis_is_refused() {
    fails(
        row_major([3]).broadcast([0, 3]),
        Error::Broadcast { from: vec![3], to: vec![0, 3], axis: 0 },
        "cannot broadcast [3] to [0, 3]: axis 0 is new and empty",
    );
}

/// Extent 0 goes to 0 only, and nothing else goes to 0.
#[test]
fn broadcast_keeps_empty_and_nonempty_apart() {
    for (from, to) in [(0, 1), (0, 2), (1, 0), (2, 0), (2, 1), (2, 3), (4, 2)] {
        assert_eq!(
            row_major([from]).broadcast([to]),
            Err(Error::Broadcast { from: vec![from], to: vec![to], axis: 0 })
        );
    }
    assert_eq!(row_major([0]).broadcast([0]), Ok(row_major([0])));
    assert_eq!(row_major([0, 2]).broadcast([3, 0, 4]), Ok(row_major([3, 0, 4])));
}

#[test]
fn stretch_refuses_what_repeating_would_allow() {
    fails(
        row_major([2]).stretch(Shape::from([6]), Align::Right),
        Error::Stretch { from: vec![2], to: vec![6], axis: 0, left: false },
        "cannot stretch [2] to [6]: axis 0 has extent 2, and only extent 1 stretches to 6",
    );
    fails(
        row_major([3, 5]).stretch(Shape::from([3]), Align::Left),
        Error::Stretch { from: vec![3, 5], to: vec![3], axis: 0, left: true },
        "cannot stretch [3, 5] to [3]: the rank falls from 2 to 1",
    );
    fails(
        row_major([3, 5]).stretch(Shape::from([2, 3, 4]), Align::Right),
        Error::Stretch { from: vec![3, 5], to: vec![2, 3, 4], axis: 2, left: false },
        "cannot stretch [3, 5] to [2, 3, 4]: axis 2 has extent 5, and only extent 1 stretches to 4",
    );
    fails(
        row_major([3, 5]).stretch(Shape::from([3, 4, 2]), Align::Left),
        Error::Stretch { from: vec![3, 5], to: vec![3, 4, 2], axis: 1, left: true },
        "cannot stretch [3, 5] to [3, 4, 2]: axis 1 has extent 5, and only extent 1 stretches to 4",
    );
    fails(
        row_major([0]).stretch(Shape::from([1]), Align::Right),
        Error::Stretch { from: vec![0], to: vec![1], axis: 0, left: false },
        "cannot stretch [0] to [1]: axis 0 has extent 0, and only extent 1 stretches to 1",
    );
}

#[test]
fn operands_name_argument_shapes_and_axis() {
    fails(
        Shape::from([2, 4]).join(&Shape::from([3, 4]), Align::Right, 2),
        Error::Operands {
            argument: 2,
            shape: vec![3, 4],
            so_far: vec![2, 4],
            axis: 0,
            left: false,
        },
        "operands could not be broadcast: argument 2 has shape [3, 4], the result so far is [2, 4], axis 0: 3 vs 2",
    );
    fails(
        Shape::from([5, 2, 6]).join(&Shape::from([3, 6]), Align::Right, 4),
        Error::Operands {
            argument: 4,
            shape: vec![3, 6],
            so_far: vec![5, 2, 6],
            axis: 1,
            left: false,
        },
        "operands could not be broadcast: argument 4 has shape [3, 6], the result so far is [5, 2, 6], axis 1: 3 vs 2",
    );
    fails(
        Shape::from([3, 5]).join(&Shape::from([5]), Align::Left, 2),
        Error::Operands { argument: 2, shape: vec![5], so_far: vec![3, 5], axis: 0, left: true },
        "operands could not be broadcast: argument 2 has shape [5], the result so far is [3, 5], axis 0: 5 vs 3",
    );
}

#[test]
fn transpose_takes_true_permutations_only() {
    fails(
        row_major([2, 3, 4]).transpose([0, 1, 1]),
        Error::Permutation { order: vec![0, 1, 1], rank: 3 },
        "[0, 1, 1] is not a permutation of 3 axes",
    );
    for order in [&[0, 1][..], &[0, 1, 2, 3], &[0, 1, 3], &[1, 2, usize::MAX], &[]] {
        assert_eq!(
            row_major([2, 3, 4]).transpose(order),
            Err(Error::Permutation { order: order.to_vec(), rank: 3 })
        );
    }
    let wide = row_major([1; 64]);
    let mut order: Vec<usize> = (0..64).rev().collect();
    assert!(wide.clone().transpose(&order).is_ok());
    order[0] = 5;
    assert_eq!(wide.transpose(&order), Err(Error::Permutation { order, rank: 64 }));
}

/// A shape may be longer; what makes a map or a joint shape refuses the 65th axis, with elements or without.
#[test]
fn more_than_64_axes_are_refused() {
    let error = |rank| Error::RankLimit { rank, limit: 64 };
    fails(AddressMap::row_major([1; 65]), error(65), "a tensor has at most 64 axes, found 65");
    assert_eq!(Shape::MAX_RANK, 64);
    let long = Shape::from(vec![1; 100_000]);
    assert_eq!(long.count(), Ok(1));
    for extent in [0, 1] {
        let full = || row_major([extent; 64]);
        let longer = [extent; 65];
        assert_eq!(full().insert_axis(3), Err(error(65)));
        assert_eq!(full().broadcast(longer), Err(error(65)));
        assert_eq!(full().stretch(longer, Align::Left), Err(error(65)));
        assert_eq!(full().reshape(longer), Err(error(65)));
        assert_eq!(full().reshape_strided(longer), Err(error(65)));
        assert_eq!(full().merge_axes(0..0), Err(error(65)));
        let mut missing = [Some(1); 65];
        missing[0] = None;
        assert_eq!(row_major([1; 64]).reshape_infer(missing), Err(error(65)));
        assert_eq!(Layout::new(0, longer.map(|extent| AxisMap::linear(extent, 1))), Err(error(65)));
        let shape = Shape::from(longer);
        assert_eq!(shape.join(&shape, Align::Right, 2), Err(error(65)));
        assert_eq!(shape.join(&Shape::default(), Align::Right, 2), Err(error(65)));
        assert_eq!(Shape::default().join(&shape, Align::Left, 2), Err(error(65)));
    }
    assert_eq!(row_major([1; 64]).windows(0, 1), Err(error(65)));
    assert_eq!(row_major([1; 64]).split_axis(63, [1, 1]), Err(error(65)));
    assert_eq!(row_major([1]).reshape(long), Err(error(100_000)));
    // 64 axes are few enough.
    assert!(row_major([1; 63]).insert_axis(63).is_ok());
    assert!(row_major([2; 3]).broadcast([2; 62]).unwrap().windows(0, 2).is_ok());
    let diagonal = row_major([1; 64]).diagonal(0, 63).unwrap();
    assert_eq!(diagonal.rank(), 63);
}

#[test]
fn axes_that_do_not_exist_are_named() {
    let map = || row_major([2, 3]);
    fails(map().flip(2), Error::Axis { axis: 2, rank: 2 }, "axis 2 does not exist: the rank is 2");
    let at = |axis| Error::Axis { axis, rank: 2 };
    assert_eq!(map().swap_axes(0, 2), Err(at(2)));
    assert_eq!(map().swap_axes(3, 2), Err(at(3)));
    assert_eq!(map().move_axis(2, 0), Err(at(2)));
    assert_eq!(map().move_axis(0, 2), Err(at(2)));
    assert_eq!(map().slice(2, 0..1), Err(at(2)));
    assert_eq!(map().insert_axis(3), Err(at(3)));
    assert_eq!(map().remove_axis(usize::MAX), Err(at(usize::MAX)));
    assert_eq!(map().diagonal(0, 2), Err(at(2)));
    assert_eq!(map().diagonal(2, 0), Err(at(2)));
    assert_eq!(map().windows(2, 1), Err(at(2)));
    assert_eq!(map().split_axis(2, [1]), Err(at(2)));
    let scalar = AddressMap::row_major(Shape::default()).unwrap();
    fails(scalar.flip(0), Error::Axis { axis: 0, rank: 0 }, "axis 0 does not exist: the rank is 0");
}

/// Axes 0 and 1 exist, the range of them does not.
#[test]
#[allow(clippy::reversed_empty_ranges, reason = "that is the case under test")]
fn a_range_of_axes_runs_forwards_within_the_rank() {
    let map = || row_major([2, 3, 4]);
    fails(
        map().merge_axes(2..1),
        Error::AxisRange { axes: 2..1, rank: 3 },
        "2..1 is not a range of axes: the rank is 3",
    );
    fails(
        map().merge_axes(1..4),
        Error::AxisRange { axes: 1..4, rank: 3 },
        "1..4 is not a range of axes: the rank is 3",
    );
    let far = 4..usize::MAX;
    assert_eq!(map().merge_axes(far.clone()), Err(Error::AxisRange { axes: far, rank: 3 }));
    assert_eq!(map().merge_axes(3..3), Ok(row_major([2, 3, 4, 1])));
}

#[test]
fn a_diagonal_needs_two_axes() {
    fails(
        row_major([2, 3]).diagonal(1, 1),
        Error::RepeatedAxis { axis: 1 },
        "axis 1 was given twice",
    );
}

#[test]
fn lists_with_one_item_an_axis_are_counted() {
    fails(
        row_major([2, 3]).rotate([1]),
        Error::Rank { what: "shifts", expected: 2, found: 1 },
        "expected 2 shifts, one per axis, found 1",
    );
    fails(
        row_major([2]).select((.., 1)),
        Error::Rank { what: "selectors", expected: 1, found: 2 },
        "expected 1 selectors, one per axis, found 2",
    );
    fails(
        row_major([2, 3]).to_local([1, 2, 0]),
        Error::Rank { what: "indexes", expected: 2, found: 3 },
        "expected 2 indexes, one per axis, found 3",
    );
}

#[test]
fn an_index_outside_names_axis_and_extent() {
    let map = || row_major([2, 3]);
    let outside = |axis, index, extent| Error::Index { axis, index, extent };
    fails(
        map().to_local([1, 3]),
        outside(1, 3, 3),
        "index 3 is out of bounds: axis 1 has extent 3",
    );
    fails(
        map().select((0, -1)),
        outside(1, -1, 3),
        "index -1 is out of bounds: axis 1 has extent 3, and negative indexes do not wrap: extent - 1 is 2",
    );
    fails(
        map().select((.., -3..)),
        outside(1, -3, 3),
        "index -3 is out of bounds: axis 1 has extent 3, and negative indexes do not wrap: extent - 3 is 0",
    );
    fails(
        map().select((-3,)),
        outside(0, -3, 2),
        "index -3 is out of bounds: axis 0 has extent 2, and negative indexes do not wrap",
    );
    // Numbers that no view gives, but a caller may.
    for index in [i128::MIN, i128::MAX] {
        assert!(outside(0, index, usize::MAX).to_string().starts_with("index "));
    }
    // Ranges that include their end: empty ones select nothing, others visit what they start with.
    assert_eq!(map().select((0..=1, 1..=2)).unwrap().shape(), [2, 2]);
    assert_eq!(map().select((.., ..=0)).unwrap().shape(), [2, 1]);
    let empty = std::ops::RangeInclusive::new(2, 1);
    assert_eq!(map().select((.., empty)).unwrap().shape(), [2, 0]);
    assert_eq!(map().select((.., 7..=7)), Err(outside(1, 7, 3)));
    let most = isize::MAX as i128 - 1;
    assert_eq!(map().select((.., usize::MAX..=usize::MAX)), Err(outside(1, most, 3)));
    assert_eq!(map().select((.., isize::MAX..=isize::MAX)), Err(outside(1, most, 3)));
    assert!(map().select((.., 0..=usize::MAX)).is_err());
    assert_eq!(map().select([Select::Index(isize::MIN)]), Err(outside(0, isize::MIN as i128, 2)));
    assert_eq!(map().select((usize::MAX,)), Err(outside(0, isize::MAX as i128, 2)));
    assert_eq!(map().select((.., 1..4)), Err(outside(1, 3, 3)));
    assert_eq!(map().select((.., -1..2)), Err(outside(1, -1, 3)));
    let from_below = Select::Range { start: -1, stop: None, step: 1 };
    assert_eq!(map().select((.., from_below)), Err(outside(1, -1, 3)));
    assert_eq!(map().select((.., Select::stepped(2, -2, -1))), Err(outside(1, -1, 3)));
    assert_eq!(map().select((.., Select::stepped(3, -1, -1))), Err(outside(1, 3, 3)));
    assert_eq!(
        map().select((.., Select::stepped(0, isize::MAX, 2))).unwrap_err(),
        outside(1, 4, 3)
    );
    assert_eq!(map().select((.., [0, 3, 7])), Err(outside(1, 3, 3)));
    // The first index that is visited outside is told, of ranges as of lists.
    assert_eq!(map().slice(1, 2..9), Err(outside(1, 3, 3)));
    assert_eq!(map().slice(1, 0..usize::MAX), Err(outside(1, 3, 3)));
    assert_eq!(map().slice(1, 5..7), Err(outside(1, 5, 3)));
    assert_eq!(map().select((.., 2..9)), Err(outside(1, 3, 3)));
    assert_eq!(map().select((.., 5..7)), Err(outside(1, 5, 3)));
    assert_eq!(map().select((.., Select::stepped(1, 9, 3))), Err(outside(1, 4, 3)));
    assert_eq!(map().select((.., Select::stepped(2, -9, -2))), Err(outside(1, -2, 3)));
    assert_eq!(map().select((.., Select::stepped(1, isize::MIN, -5))), Err(outside(1, -4, 3)));
    let from_last = Select::FromLast { stop: -9, step: -1 };
    assert_eq!(map().select((.., from_last)), Err(outside(1, -1, 3)));
    assert_eq!(map().select((Select::last(), Select::from_last(2))), map().select((1, 0)));
    assert_eq!(map().select((.., Select::from_last(3))), Err(outside(1, -1, 3)));
    assert_eq!(row_major([0]).select((Select::last(),)), Err(outside(0, -1, 0)));
    assert_eq!(row_major([0]).select((0,)), Err(outside(0, 0, 0)));
    assert_eq!(row_major([0]).to_local([0]), Err(outside(0, 0, 0)));
}

#[cfg(feature = "roaring")]
#[test]
fn a_set_with_a_member_outside_is_refused() {
    let set: roaring::RoaringTreemap = [0, 1 << 40, 1 << 41].into_iter().collect();
    fails(
        row_major([3]).select((set,)),
        Error::Index { axis: 0, index: 1 << 40, extent: 3 },
        "index 1099511627776 is out of bounds: axis 0 has extent 3",
    );
}

/// A range that visits nothing is empty wherever it starts.
#[test]
#[allow(clippy::reversed_empty_ranges, reason = "that is the case under test")]
fn empty_ranges_start_anywhere() {
    for range in [
        Select::range(9..9),
        Select::range(9..2),
        Select::range(-5..-5),
        Select::stepped(-7, 3, -1),
        Select::stepped(isize::MAX, isize::MIN, 1),
        Select::stepped(isize::MIN, isize::MAX, -1),
        Select::Range { start: 3, stop: None, step: 1 },
        Select::Range { start: isize::MAX, stop: None, step: isize::MAX },
        Select::Range { start: -2, stop: None, step: -1 },
        Select::List(Vec::new()),
    ] {
        let taken = row_major([3, 2]).select([range.clone()]);
        assert_eq!(taken, Ok(row_major([0, 2])), "{range:?}");
    }
    assert_eq!(row_major([3]).slice(0, 9..9), Ok(row_major([0])));
    assert_eq!(row_major([3]).slice(0, 9..2), Ok(row_major([0])));
}

#[test]
fn a_range_needs_a_step() {
    fails(
        row_major([2, 3]).select((.., Select::stepped(0, 2, 0))),
        Error::ZeroStep { axis: 1 },
        "a range on axis 1 has step 0",
    );
    assert_eq!(row_major([0]).select([Select::every(0)]), Err(Error::ZeroStep { axis: 0 }));
}

#[test]
fn a_cycle_needs_a_period() {
    let cycle =
        AxisMap { extent: 0, stride: 1, pattern: Pattern::Cyclic { period: 0, shift: 0, step: 1 } };
    fails(
        Layout::new(0, [AxisMap::linear(2, 1), cycle]),
        Error::ZeroPeriod { axis: 1 },
        "axis 1 has period 0",
    );
}

#[test]
fn a_table_has_one_position_a_digit() {
    let walk = Pattern::Listed(Table::new(vec![0, 1]));
    fails(
        Layout::new(0, [AxisMap { extent: 3, stride: 1, pattern: walk }]),
        Error::Length { shape: vec![3], expected: 3, found: 2 },
        "shape [3] needs 3 elements, found 2",
    );
}

#[test]
fn a_window_fits_its_axis() {
    fails(
        row_major([2, 3]).windows(1, 4),
        Error::Window { axis: 1, window: 4, extent: 3 },
        "a window of 4 does not fit axis 1 of extent 3",
    );
    assert_eq!(row_major([2]).windows(0, 0), Err(Error::Window { axis: 0, window: 0, extent: 2 }));
    assert_eq!(row_major([0]).windows(0, 1), Err(Error::Window { axis: 0, window: 1, extent: 0 }));
}

#[test]
fn a_reshape_keeps_the_count() {
    fails(
        row_major([2, 3]).reshape([4, 2]),
        Error::Reshape { from: vec![2, 3], to: vec![4, 2] },
        "cannot reshape [2, 3] to [4, 2]: 6 elements vs 8",
    );
    fails(
        row_major([2, 3]).remove_axis(0),
        Error::Removed { axis: 0, extent: 2 },
        "axis 0 has extent 2: only an axis of extent 1 can be removed",
    );
    fails(
        row_major([2, 6]).split_axis(1, [4, 2]),
        Error::Reshape { from: vec![2, 6], to: vec![2, 4, 2] },
        "cannot reshape [2, 6] to [2, 4, 2]: 12 elements vs 16",
    );
    assert!(row_major([0]).reshape([1]).is_err());
    assert!(row_major([1]).reshape([0]).is_err());
    assert!(row_major([2]).reshape(Shape::default()).is_err());
    assert_eq!(row_major([1, 1]).reshape(Shape::default()).map(|m| m.rank()), Ok(0));
}

/// The new shape of a split does not fit, though the extents of the split alone do.
#[test]
fn an_enormous_split_is_refused() {
    let map = row_major([HALF << 8, 2]);
    assert!(map.clone().split_axis(0, [HALF / 4, HALF / 4]).is_err());
    assert_eq!(
        map.split_axis(0, [HALF, HALF]),
        Err(Error::ShapeOverflow { shape: vec![HALF, HALF] })
    );
}

#[test]
fn an_extent_is_inferred_where_it_is_determined() {
    let map = || row_major([2, 6]);
    assert_eq!(map().reshape_infer([Some(4), None]).map(|m| m.shape()), Ok(Shape::from([4, 3])));
    fails(
        map().reshape_infer([None, Some(4), None]),
        Error::Infer { from: vec![2, 6], to: vec![4], missing: 2 },
        "cannot infer one extent of a reshape of [2, 6]: 2 are left to infer",
    );
    fails(
        map().reshape_infer([Some(5), None]),
        Error::Infer { from: vec![2, 6], to: vec![5], missing: 1 },
        "cannot infer one extent of a reshape of [2, 6]: 12 elements are not a multiple of the 5 of [5]",
    );
    fails(
        row_major([0, 3]).reshape_infer([Some(0), None]),
        Error::Infer { from: vec![0, 3], to: vec![0], missing: 1 },
        "cannot infer one extent of a reshape of [0, 3]: nothing follows from [0], which has no elements",
    );
    assert_eq!(
        row_major([0, 3]).reshape_infer([None, Some(3)]).map(|m| m.shape()),
        Ok(Shape::from([0, 3]))
    );
    assert_eq!(
        map().reshape_infer([Some(usize::MAX), None]),
        Err(Error::ShapeOverflow { shape: vec![usize::MAX] })
    );
}

#[test]
fn a_strided_reshape_says_which_strides_stood_in_the_way() {
    let turned = row_major([2, 3]).transpose([1, 0]).unwrap();
    fails(
        turned.reshape_strided([6]),
        Error::NeedsStage { from: vec![3, 2], to: vec![6], strides: vec![1, 3] },
        "cannot reshape [3, 2] to [6] by strides alone: strides [1, 3]",
    );
    let rotated = row_major([4]).rotate([1]).unwrap();
    fails(
        rotated.reshape_strided([2, 2]),
        Error::NeedsStage { from: vec![4], to: vec![2, 2], strides: vec![] },
        "cannot reshape [4] to [2, 2] by strides alone: strides []",
    );
}

/// A list may be longer than the axis that it reads.
#[test]
fn a_list_that_makes_too_many_elements_is_refused() {
    let wide = row_major([1]).broadcast([1, 1 << 62]).unwrap();
    let error = || Error::ShapeOverflow { shape: vec![4, 1 << 62] };
    assert_eq!(wide.clone().select((vec![0; 4],)).map(|map| map.shape()), Err(error()));
    assert!(wide.select((vec![0],)).is_ok());
}

#[test]
fn scalars_alone_have_no_axes() {
    let text = "cannot view scalars alone as shape [3]: make a tensor of them, by \
                `Tensor::constant`, or box them, by `.boxed()`";
    fails(Lazy::new(2.0).broadcast([3]), Error::ScalarView { to: vec![3] }, text);
    let chosen = || choose(true, 1.0, 2.0);
    assert_eq!(chosen().insert_axis(0).unwrap_err(), Error::ScalarView { to: vec![1] });
    assert!(chosen().transpose([7]).is_err() && chosen().select((0,)).is_err());
    assert!(chosen().transpose([]).is_ok());
    let boxed = chosen().boxed().broadcast([3]).unwrap();
    assert_eq!(boxed.to_vec().unwrap(), [1.0; 3]);
}

#[test]
fn a_shape_that_overflows_is_refused_everywhere() {
    let huge = || Shape::from([HALF, HALF]);
    let error = || Error::ShapeOverflow { shape: vec![HALF, HALF] };
    fails(
        huge().count(),
        error(),
        &format!("shape [{HALF}, {HALF}] has more elements than fit in isize"),
    );
    // There are no elements, but strides are products of the other extents.
    let empty = || Shape::from([0, HALF, HALF]);
    fails(
        empty().count(),
        Error::ShapeOverflow { shape: empty().to_vec() },
        &format!(
            "shape [0, {HALF}, {HALF}] has extents other than 0 that do not fit in isize together"
        ),
    );
    assert_eq!(huge().indexes().map(drop), Err(error()));
    assert_eq!(AddressMap::row_major(huge()), Err(error()));
    assert_eq!(Layout::row_major(huge()), Err(error()));
    assert_eq!(row_major([1, 1]).broadcast(huge()), Err(error()));
    assert_eq!(row_major([1, 1]).stretch(huge(), Align::Right), Err(error()));
    assert_eq!(row_major([1]).reshape(huge()), Err(error()));
    assert_eq!(
        row_major([HALF << 8]).windows(0, HALF << 7),
        Err(Error::ShapeOverflow { shape: vec![(HALF << 7) + 1, HALF << 7] })
    );
    let axes = [AxisMap::linear(HALF, 0), AxisMap::linear(HALF, 0)];
    assert_eq!(Layout::new(0, axes), Err(error()));
}

#[test]
fn an_address_that_overflows_is_refused() {
    fails(
        Layout::new(1, [AxisMap::linear(2, isize::MAX)]),
        Error::AddressOverflow { address: 1 + isize::MAX as i128, shape: vec![2] },
        &format!("address {} does not fit: shape [2]", 1 + isize::MAX as i128),
    );
    fails(
        Layout::new(0, [AxisMap::linear(3, isize::MIN)]),
        Error::AddressOverflow { address: 2 * isize::MIN as i128, shape: vec![3] },
        &format!("address {} does not fit: shape [3]", 2 * isize::MIN as i128),
    );
    // With words of 64 bits the sum of the terms does not even fit in 128 bits.
    let far = |position| AxisMap {
        extent: 1,
        stride: isize::MIN,
        pattern: Pattern::Listed(Table::new(vec![position])),
    };
    assert_eq!(
        Layout::new(isize::MIN, [far(1), far(1), far(usize::MAX)]),
        Err(Error::AddressOverflow {
            address: (isize::MIN as i128 * usize::MAX as i128)
                .saturating_add(3 * isize::MIN as i128),
            shape: vec![1, 1, 1]
        })
    );
}

#[test]
fn a_negative_address_is_refused() {
    fails(
        Layout::new(4, [AxisMap::linear(2, 1), AxisMap::linear(3, -3)]),
        Error::NegativeAddress { lowest: -2, offset: 4, shape: vec![2, 3] },
        "lowest address -2 is negative: offset 4, shape [2, 3]",
    );
    fails(
        Layout::new(-1, []),
        Error::NegativeAddress { lowest: -1, offset: -1, shape: vec![] },
        "lowest address -1 is negative: offset -1, shape []",
    );
}

#[test]
fn writing_twice_to_one_address_is_refused() {
    fails(
        row_major([4]).windows(0, 2).and_then(|map| map.check_injective()),
        Error::NotInjective { axis: 1 },
        "cannot write through this view, as axis 1 repeats elements: a copy by `.eval()?` can be written",
    );
    let repeated = row_major([3, 1, 2]).broadcast([3, 4, 2]).unwrap();
    assert_eq!(repeated.check_injective(), Err(Error::NotInjective { axis: 1 }));
    let outer = row_major([3]).broadcast([2, 3]).unwrap();
    assert_eq!(outer.check_injective(), Err(Error::NotInjective { axis: 0 }));
}
