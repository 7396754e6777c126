//! Sorting and partitioning, by std's stable sort of every lane.

use super::support::{argsorted, axis_of, bits, compare, floats, map_lanes, order_of, sorted};
use lensor::arbitrary::Viewed;
use lensor::lanes::{Lanes, SortOrder};
use lensor::prelude::*;
use quickcheck::quickcheck;

/// Lanes of a small copy of a view, and what `f` makes of them.
fn model<T: Copy + Send + Sync, U: Copy>(
    viewed: &Viewed<T>,
    axis: usize,
    length: usize,
    f: impl Fn(&[T]) -> Vec<U>,
) -> (Shape, Vec<U>) {
    let (shape, data) = viewed.model();
    let (shape, data) = map_lanes(&shape, axis, &data, length, f);
    (Shape::from(shape), data)
}

quickcheck! {
    fn sorting_is_std_s_stable_sort(viewed: Viewed<u8>, axis: usize, descending: bool) -> bool {
        let Some(axis) = axis_of(&viewed, axis) else { return true };
        let (viewed, order) = (floats(&viewed), order_of(descending));
        let found = viewed.tensor().sort(axis, order).eval().unwrap();
        let (shape, expected) = model(&viewed, axis, found.shape()[axis], |lane| sorted(lane, order));
        found.shape() == shape && bits(found.storage()) == bits(&expected)
    }

    fn sorting_in_place_is_sorting(viewed: Viewed<u8>, axis: usize, descending: bool) -> bool {
        let Some(axis) = axis_of(&viewed, axis) else { return true };
        let (viewed, order) = (floats(&viewed), order_of(descending));
        let mut t = viewed.tensor();
        let expected = t.view().sort(axis, order).eval().unwrap();
        match t.sort_in_place(axis, order) {
            Ok(()) => bits(&t.to_vec().unwrap()) == bits(expected.storage()),
            Err(error) => {
                matches!(error, Error::NotInjective { .. })
                    && bits(t.storage()) == bits(viewed.data())
            }
        }
    }

    fn positions_are_std_s(viewed: Viewed<u8>, axis: usize, descending: bool) -> bool {
        let Some(axis) = axis_of(&viewed, axis) else { return true };
        let (viewed, order) = (floats(&viewed), order_of(descending));
        let found = viewed.tensor().argsort(axis, order).eval().unwrap();
        let extent = found.shape()[axis];
        found.to_vec().unwrap() == model(&viewed, axis, extent, |lane| argsorted(lane, order)).1
    }

    fn expressions_are_sorted_as_their_elements(viewed: Viewed<u8>, axis: usize) -> bool {
        let Some(axis) = axis_of(&viewed, axis) else { return true };
        let t = viewed.tensor();
        let lazy = (&t % 7).sort(axis, SortOrder::Ascending).eval().unwrap();
        let (_, expected) = model(&viewed, axis, lazy.shape()[axis], |lane| {
            let mut lane: Vec<u8> = lane.iter().map(|x| x % 7).collect();
            lane.sort();
            lane
        });
        lazy.to_vec().unwrap() == expected
    }

    fn sorting_by_a_key_is_stable(viewed: Viewed<u8>, axis: usize, descending: bool) -> bool {
        let Some(axis) = axis_of(&viewed, axis) else { return true };
        let found = viewed.tensor().sort_by_key(axis, order_of(descending), |x| i16::from(x % 5)).eval().unwrap();
        let (_, expected) = model(&viewed, axis, found.shape()[axis], |lane| {
            let mut lane = lane.to_vec();
            lane.sort_by_key(|x| if descending { 5 - x % 5 } else { x % 5 });
            lane
        });
        found.to_vec().unwrap() == expected
    }

    fn sorting_by_a_comparison_is_std_s(viewed: Viewed<(u8, bool)>, axis: usize) -> bool {
        let Some(axis) = axis_of(&viewed, axis) else { return true };
        let by = |a: &(u8, bool), b: &(u8, bool)| (a.0 % 3).cmp(&(b.0 % 3));
        let t = viewed.tensor();
        let (found, positions) = (t.view().sort_by(axis, by).eval().unwrap(), t.argsort_by(axis, by).eval().unwrap());
        let extent = found.shape()[axis];
        let (_, expected) = model(&viewed, axis, extent, |lane| {
            let mut lane: Vec<_> = lane.iter().copied().enumerate().collect();
            lane.sort_by(|a, b| by(&a.1, &b.1));
            lane
        });
        let found = positions.to_vec().unwrap().into_iter().zip(found.to_vec().unwrap());
        found.eq(expected)
    }

    fn a_partition_keeps_the_order_on_both_sides(
        viewed: Viewed<u8>, axis: usize, k: usize, descending: bool
    ) -> bool {
        let Some(axis) = axis_of(&viewed, axis) else { return true };
        let (viewed, order) = (floats(&viewed), order_of(descending));
        let t = viewed.tensor();
        let extent = t.shape()[axis];
        let Some(k) = k.checked_rem(extent) else { return true };
        let positions = |lane: &[f64]| {
            let pivot = argsorted(lane, order)[k];
            let before = |a: usize, b: usize| {
                compare(order)(&lane[a], &lane[b]).then(a.cmp(&b)).is_lt()
            };
            let smaller = (0..lane.len()).filter(|&a| before(a, pivot));
            let larger = (0..lane.len()).filter(|&a| before(pivot, a));
            smaller.chain([pivot]).chain(larger).collect::<Vec<usize>>()
        };
        let values = |lane: &[f64]| positions(lane).into_iter().map(|k| lane[k]).collect();
        let mut changed = t.clone();
        let in_place = changed.partition_in_place(axis, k, order);
        let values = model(&viewed, axis, extent, values).1;
        bits(&t.view().partition(axis, k, order).to_vec().unwrap()) == bits(&values)
            && t.argpartition(axis, k, order).to_vec().unwrap()
                == model(&viewed, axis, extent, positions).1
            && (in_place.is_err() || bits(&changed.to_vec().unwrap()) == bits(&values))
    }

    fn top_k_is_the_start_of_the_sorted_lane(
        viewed: Viewed<u8>, axis: usize, k: usize, descending: bool
    ) -> bool {
        let Some(axis) = axis_of(&viewed, axis) else { return true };
        let (viewed, order) = (floats(&viewed), order_of(descending));
        let t = viewed.tensor();
        let k = k % (t.shape()[axis] + 1);
        let values = model(&viewed, axis, k, |lane| sorted(lane, order)[..k].to_vec());
        let positions = model(&viewed, axis, k, |lane| argsorted(lane, order)[..k].to_vec());
        let found = t.view().top_k(axis, k, order).eval().unwrap();
        found.shape() == values.0
            && bits(found.storage()) == bits(&values.1)
            && t.arg_top_k(axis, k, order).to_vec().unwrap() == positions.1
    }
}

/// Every element type in its order, both ways, with the extremes.
#[test]
fn all_element_types_are_sorted() {
    macro_rules! check {
        ($($type:ty: $($element:expr),+;)*) => { $(
            let ascending: Vec<$type> = vec![$($element),+];
            let mut mixed = ascending.clone();
            mixed.reverse();
            mixed.rotate_left(1);
            let t = Tensor::from(mixed);
            assert_eq!(t.sort(0, SortOrder::Ascending).to_vec().unwrap(), ascending);
            let descending: Vec<$type> = ascending.into_iter().rev().collect();
            assert_eq!(t.sort(0, SortOrder::Descending).to_vec().unwrap(), descending);
            let order = t.argsort(0, SortOrder::Descending).eval().unwrap();
            assert_eq!(t.take_along(0, &order).to_vec().unwrap(), descending);
        )* };
    }
    check! {
        bool: false, true;
        char: '\0', 'a', 'b', char::MAX;
        u8: 0, 1, 255;
        u16: 0, 1, 256, u16::MAX;
        u32: 0, 1, 1 << 16, u32::MAX;
        u64: 0, 1, 1 << 33, u64::MAX;
        usize: 0, 1, usize::MAX;
        u128: 0, 1, 1 << 70, u128::MAX;
        i8: i8::MIN, -1, 0, 1, i8::MAX;
        i16: i16::MIN, -256, -1, 0, 1, i16::MAX;
        i32: i32::MIN, -1, 0, 1, i32::MAX;
        i64: i64::MIN, -1, 0, 1, i64::MAX;
        isize: isize::MIN, -1, 0, 1, isize::MAX;
        i128: i128::MIN, -1, 0, 1, i128::MAX;
        f32: f32::NEG_INFINITY, f32::MIN, -1.0, -1e-40, 0.0, 1e-40, 1.0, f32::MAX, f32::INFINITY;
        f64: f64::NEG_INFINITY, f64::MIN, -1.0, -1e-310, 0.0, 1e-310, 1.0, f64::MAX, f64::INFINITY;
    }
}
