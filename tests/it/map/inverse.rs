//! Index to address and back.

use super::support::{addresses, inverts, oracle};
use crate::model::{Model, all_indexes};
use lensor::arbitrary::{Chain, ViewOp};
use lensor::map::Layout;
use lensor::{AddressMap, Error, Shape};
use quickcheck::{Gen, quickcheck};

quickcheck! {
    /// `to_local` of every index is what copying says, through any chain of views.
    fn to_local_agrees_with_the_model(chain: Chain) -> bool {
        let (map, model) = (chain.map(), oracle(&chain));
        map.shape().to_vec() == model.shape
            && map.count() == model.data.len()
            && addresses(&map) == model.data
    }

    /// Each of many operations on one view, or on any layout, reads what copying says.
    fn operations_read_what_copying_says(map: AddressMap, layout: Layout, seed: u64) -> bool {
        let g = &mut Gen::from_size_and_seed(20, seed);
        [map, layout.into()].into_iter().all(|map| {
            let shape = map.shape();
            let copied = |map: &AddressMap| Model { shape: map.shape().to_vec(), data: addresses(map) };
            let before = copied(&map);
            (0..30).all(|_| {
                let operation = ViewOp::arbitrary_for(g, &shape);
                let found = operation.apply(map.clone()).unwrap();
                before.apply(&operation) == Ok(copied(&found))
            })
        })
    }

    /// A digit outside, a digit too many or too few is an error that says so.
    fn to_local_refuses_what_lies_outside(map: AddressMap, axis: usize, beyond: usize) -> bool {
        let shape = map.shape();
        let long = vec![0; shape.rank() + 1];
        let rank = |found| Error::Rank { what: "indexes", expected: shape.rank(), found };
        let mut refused = map.to_local(&long) == Err(rank(long.len()));
        if shape.rank() > 0 {
            refused &= map.to_local(&long[2..]) == Err(rank(shape.rank() - 1));
            let axis = axis % shape.rank();
            let first_outside = shape[..axis].iter().position(|&e| e == 0).unwrap_or(axis);
            let mut index = vec![0; shape.rank()];
            index[axis] = shape[axis].saturating_add(beyond);
            refused &= map.to_local(&index) == Err(Error::Index {
                axis: first_outside,
                index: index[first_outside] as i128,
                extent: shape[first_outside],
            });
        }
        refused
    }

    /// `to_global` is the inverse image of `to_local`: nothing missing, nothing extra, ascending.
    fn to_global_is_the_inverse_image(chain: Chain) -> bool {
        inverts(&chain.map())
    }

    /// The same for layouts of any strides and walks.
    fn to_global_is_the_inverse_image_of_any_layout(layout: Layout) -> bool {
        inverts(&layout.into())
    }

    /// `indexes` is every index in row-major order.
    fn indexes_are_row_major(shape: Shape) -> bool {
        let indexes = shape.indexes().unwrap();
        indexes.len() == shape.count().unwrap()
            && indexes.map(|i| i.to_vec()).eq(all_indexes(&shape))
    }
}

/// Where many positions of one link lead to one address of the next, all of them are found.
#[test]
fn an_address_behind_many_positions_of_a_link_has_all_its_indexes() {
    for repeats in [1000, 1024, 1025, 1500] {
        let map = AddressMap::row_major([3]).unwrap().broadcast([repeats, 3]).unwrap();
        let map = map.transpose([1, 0]).unwrap().reshape([repeats, 3]).unwrap();
        assert!(map.stages().len() > 1);
        assert!(inverts(&map), "{repeats}");
    }
}

/// Axes that are rotated, repeated or listed are not searched digit by digit, however long they are and wherever they stand.
#[test]
fn many_indexes_of_rotated_and_listed_axes_are_found() {
    let n = 1 << 40;
    let long = AddressMap::row_major([n]).unwrap().windows(0, 2049).unwrap();
    let rotated = long.rotate([1, 0]).unwrap();
    let found: Vec<_> = rotated.to_global(n / 2).collect();
    // The index of a window is one more after the rotation, and the place in it falls.
    assert!(found.iter().enumerate().all(|(k, index)| **index == [n / 2 - 2047 + k, 2048 - k]));
    assert_eq!(found.len(), 2049);

    // Nor are those tried that other strides exclude.
    let (far, few) = (1 << 51, 1 << 11);
    let rotated =
        AddressMap::from_strides([far, few], 0, [1, 1 << 40]).unwrap().rotate([1, 0]).unwrap();
    let found: Vec<_> = rotated.to_global(far + 5).take(3).collect();
    let expected = [1_usize, 2, 3].map(|k| [(k << 40) + 6, few - k]);
    assert!(found.iter().map(|index| [index[0], index[1]]).eq(expected), "{found:?}");

    let n = 5000;
    let shift = |k: usize| (k * 3571 + 17) % n;
    let list: Vec<usize> = (0..n).map(shift).collect();
    let square = AddressMap::from_strides([n, n], n - 1, [-1, 1]).unwrap();
    for (map, expected) in [
        (square.clone().rotate([0, 1]).unwrap(), (0..n).map(|i| [i, (i + 1) % n]).collect()),
        (square.clone().rotate([1, 0]).unwrap(), (0..n).map(|i| [i, (i + n - 1) % n]).collect()),
        (
            square.clone().select((list.clone(), ..)).unwrap(),
            (0..n).map(|i| [i, shift(i)]).collect(),
        ),
        (square.clone().select((list.clone(), ..)).unwrap().transpose([1, 0]).unwrap(), {
            let mut turned: Vec<_> = (0..n).map(|i| [shift(i), i]).collect();
            turned.sort();
            turned
        }),
    ] {
        let expected: Vec<[usize; 2]> = expected;
        assert!(map.to_global(n - 1).map(|index| [index[0], index[1]]).eq(expected), "{map:?}");
    }
}
