//! Views that undo themselves, and views that add up.

use super::support::{alike, below, drawn, order, other_shape, shifts, strides_of};
use lensor::{AddressMap, Error, Select, Shape};
use quickcheck::{TestResult, quickcheck};

quickcheck! {
    /// A permutation followed by its inverse is the identity.
    fn transpose_undoes_itself(map: AddressMap, seed: u64) -> bool {
        let order = drawn(&map, seed, order);
        let mut inverse = vec![0; order.len()];
        order.iter().enumerate().for_each(|(k, &axis)| inverse[axis] = k);
        map.clone().transpose(&order).unwrap().transpose(&inverse).unwrap() == map
    }

    /// Reversing the axes is a permutation.
    fn reversed_axes_are_transposed(map: AddressMap) -> bool {
        let order: Vec<usize> = (0..map.rank()).rev().collect();
        Ok(map.clone().reverse_axes()) == map.transpose(order)
    }

    /// Two permutations in turn are their composition.
    fn transposes_compose(map: AddressMap, seed: u64) -> bool {
        let (p, q) = drawn(&map, seed, |g, shape| (order(g, shape), order(g, shape)));
        let composed: Vec<usize> = q.iter().map(|&axis| p[axis]).collect();
        let in_turn = map.clone().transpose(&p).unwrap().transpose(&q).unwrap();
        in_turn == map.transpose(&composed).unwrap()
    }

    /// Exchanging and moving axes are permutations.
    fn swap_and_move_are_transposes(map: AddressMap, a: usize, b: usize) -> TestResult {
        let rank = map.rank();
        if rank == 0 {
            return TestResult::discard();
        }
        let (a, b) = (a % rank, b % rank);
        let axes = || (0..rank).collect::<Vec<_>>();
        let mut swapped = axes();
        swapped.swap(a, b);
        let mut moved: Vec<usize> = axes().into_iter().filter(|&axis| axis != a).collect();
        moved.insert(b, a);
        TestResult::from_bool(
            map.clone().swap_axes(a, b) == map.clone().transpose(&swapped)
                && map.clone().move_axis(a, b) == map.transpose(&moved),
        )
    }

    /// Rotating forth and back is the identity, as maps.
    fn rotate_undoes_itself(map: AddressMap, seed: u64) -> bool {
        let shifts = drawn(&map, seed, shifts);
        let back: Vec<isize> = shifts.iter().map(|shift| -shift).collect();
        map.clone().rotate(&shifts).unwrap().rotate(&back).unwrap() == map
    }

    /// Rotations add up.
    fn rotations_add_up(map: AddressMap, seed: u64) -> bool {
        let (s, t) = drawn(&map, seed, |g, shape| (shifts(g, shape), shifts(g, shape)));
        let sum: Vec<isize> = s.iter().zip(&t).map(|(a, b)| a + b).collect();
        map.clone().rotate(&s).unwrap().rotate(&t).unwrap() == map.rotate(&sum).unwrap()
    }

    /// A rotation by a multiple of the extent is the identity.
    fn full_turns_are_the_identity(map: AddressMap, turns: i8) -> bool {
        let shifts: Vec<isize> = map.shape().iter().map(|&e| e as isize * turns as isize).collect();
        map.clone().rotate(&shifts).unwrap() == map
    }

    /// Turning around twice is the identity, and a flip is a reversed selection.
    fn flip_undoes_itself(map: AddressMap, axis: usize) -> TestResult {
        if map.rank() == 0 {
            return TestResult::discard();
        }
        let axis = axis % map.rank();
        let flipped = map.clone().flip(axis).unwrap();
        let mut selectors = vec![Select::All; axis];
        selectors.push(Select::Reverse);
        TestResult::from_bool(
            flipped.clone().flip(axis).unwrap() == map
                && map.clone().select(&selectors).unwrap() == flipped,
        )
    }

    /// Rotating and turning around is turning around and rotating the other way.
    fn flip_turns_rotation_around(map: AddressMap, axis: usize, shift: i8) -> TestResult {
        if map.rank() == 0 {
            return TestResult::discard();
        }
        let axis = axis % map.rank();
        let mut shifts = vec![0; map.rank()];
        shifts[axis] = shift as isize;
        let first = map.clone().rotate(&shifts).unwrap().flip(axis).unwrap();
        shifts[axis] = -(shift as isize);
        let second = map.flip(axis).unwrap().rotate(&shifts).unwrap();
        TestResult::from_bool(first == second)
    }

    /// Reshaping there and back is the identity; as maps, if there is one link to begin with.
    fn reshape_undoes_itself(map: AddressMap, seed: u64) -> bool {
        let to = drawn(&map, seed, other_shape);
        let back = map.clone().reshape(to).unwrap().reshape(map.shape()).unwrap();
        alike(&back, &map)
    }

    /// Two reshapes in turn are the second alone.
    fn the_last_reshape_wins(map: AddressMap, seed: u64) -> bool {
        let (first, last) = drawn(&map, seed, |g, s| (other_shape(g, s), other_shape(g, s)));
        let in_turn = map.clone().reshape(first).unwrap().reshape(&last).unwrap();
        alike(&in_turn, &map.reshape(last).unwrap())
    }

    /// A strided reshape succeeds exactly if the reshape adds no link.
    fn strided_reshape_succeeds_when_no_link_is_added(map: AddressMap, seed: u64) -> bool {
        let to = drawn(&map, seed, other_shape);
        let reshaped = map.clone().reshape(&to).unwrap();
        match map.clone().reshape_strided(&to) {
            Ok(strided) => strided == reshaped && reshaped.stages().len() <= map.stages().len(),
            Err(Error::NeedsStage { from, to: refused, strides }) => {
                reshaped.stages().len() > map.stages().len()
                    && from == map.shape().to_vec()
                    && refused == to.to_vec()
                    && strides == map.as_strided().map(|s| s.strides).unwrap_or_default()
            }
            Err(_) => false,
        }
    }

    /// Where strides explain the reshaped addresses, no link is added.
    fn a_link_is_added_only_where_strides_fail(map: AddressMap, seed: u64) -> bool {
        let to = drawn(&map, seed, other_shape);
        let reshaped = map.clone().reshape(&to).unwrap();
        map.as_strided().is_none()
            || strides_of(&reshaped).is_none()
            || reshaped.as_strided().is_some()
    }

    /// An inferred extent gives the reshape with that extent.
    fn inferred_reshape_is_the_reshape(map: AddressMap, seed: u64, axis: usize) -> bool {
        let to = drawn(&map, seed, other_shape);
        let mut given: Vec<Option<usize>> = to.iter().map(|&extent| Some(extent)).collect();
        if given.is_empty() {
            return map.clone().reshape_infer(&given) == map.reshape(to);
        }
        let axis = axis % given.len();
        given[axis] = None;
        let known = to.iter().enumerate().filter(|(k, _)| *k != axis);
        if known.clone().any(|(_, &extent)| extent == 0) {
            let refused = Error::Infer {
                from: map.shape().to_vec(),
                to: known.map(|(_, &extent)| extent).collect(),
                missing: 1,
            };
            return map.reshape_infer(&given) == Err(refused);
        }
        map.clone().reshape_infer(&given) == map.reshape(to)
    }

    /// Splitting an axis and merging its parts is the identity.
    fn merge_undoes_split(map: AddressMap, seed: u64) -> TestResult {
        if map.rank() == 0 {
            return TestResult::discard();
        }
        let (axis, parts) = drawn(&map, seed, |g, shape| {
            let axis = below(g, shape.rank());
            (axis, other_shape(g, &Shape::from([shape[axis]])))
        });
        let split = map.clone().split_axis(axis, &parts).unwrap();
        let merged = split.merge_axes(axis..axis + parts.rank()).unwrap();
        TestResult::from_bool(alike(&merged, &map))
    }

    /// Inserting an axis and removing it is the identity; inserting is an empty merge.
    fn remove_undoes_insert(map: AddressMap, axis: usize) -> bool {
        let axis = axis % (map.rank() + 1);
        let inserted = map.clone().insert_axis(axis).unwrap();
        let shape = inserted.shape();
        inserted == map.clone().merge_axes(axis..axis).unwrap()
            && shape[axis] == 1
            && inserted.remove_axis(axis).unwrap() == map
    }
}
