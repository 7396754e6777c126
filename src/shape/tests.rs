//! Shapes by themselves.

use super::*;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

/// Shapes are their extents: in comparisons, hashes and print, and however they are made.
#[test]
fn shapes_are_their_extents() {
    let hash = |shape: &Shape| BuildHasherDefault::<DefaultHasher>::default().hash_one(shape);
    let lists: [&[usize]; 7] = [&[], &[0], &[1], &[2], &[2, 3], &[3, 2], &[1, 2, 3, 4, 5]];
    for a in lists {
        let shape = Shape::from(a);
        assert_eq!((format!("{shape:?}"), shape.to_string()), (format!("{a:?}"), format!("{a:?}")));
        assert_eq!(shape, Shape::from(a.to_vec()));
        assert_eq!(shape, a.iter().copied().collect::<Shape>());
        for b in lists {
            assert_eq!((shape == *b, shape == b), (a == b, a == b));
            let other = Shape::from(b);
            assert_eq!(shape == other, a == b);
            assert_eq!(hash(&shape) == hash(&Shape::from(b)), a == b);
        }
        assert_eq!(shape == [2, 3], *a == [2, 3]);
    }
    assert_eq!(Shape::from(7), [7]);
}

/// Positions are the digits of indexes in mixed radix; axes of extent 0 have digit 0.
#[test]
fn unravel_undoes_ravel() -> Result<()> {
    for shape in [Shape::default(), Shape::from([4]), Shape::from([2, 1, 3]), Shape::from([2; 5])] {
        for (position, index) in shape.indexes()?.enumerate() {
            assert_eq!(shape.unravel(position), index);
            assert_eq!(shape.index_at(position).as_ref(), Some(&index));
            assert_eq!(shape.position_of(&index), Ok(position));
            assert_eq!(shape.ravel(&index), position);
        }
    }
    assert_eq!(Shape::from([2, 0, 3]).unravel(0).as_slice(), [0, 0, 0]);
    assert_eq!(Shape::from([2, 0, 3]).unravel(4).as_slice(), [1, 0, 1]);
    Ok(())
}

/// Those that are left are stepped in place, in the same order.
#[test]
fn indexes_are_visited_in_order() -> Result<()> {
    for shape in [
        Shape::default(),
        Shape::from([4]),
        Shape::from([2, 1, 3]),
        Shape::from([2; 5]),
        Shape::from([2, 0, 3]),
        Shape::from([3, 0]),
    ] {
        let all: Vec<Index> = shape.indexes()?.collect();
        for passed in 0..=all.len() {
            let (mut indexes, mut visited) = (shape.indexes()?, Vec::new());
            indexes.by_ref().take(passed).for_each(drop);
            indexes.visit(|index| visited.push(Index::from_slice(index)));
            assert_eq!(visited, all[passed..]);
        }
    }
    Ok(())
}

/// Indexes in between are not made where they are passed over.
#[test]
fn indexes_are_passed_over_as_numbers_are() -> Result<()> {
    let shape = Shape::from([2, 1, 3]);
    let all: Vec<Index> = shape.indexes()?.collect();
    for (n, more) in (0..8).flat_map(|n| (0..8).map(move |more| (n, more))) {
        let (mut found, mut expected) = (shape.indexes()?, all.iter().cloned());
        assert_eq!(found.nth(n), expected.nth(n));
        assert_eq!(found.clone().count(), expected.clone().count());
        assert_eq!(found.clone().last(), expected.clone().next_back());
        assert_eq!(found.nth(more), expected.nth(more));
        assert_eq!(found.next(), expected.next());
    }
    let far = Shape::from([1 << 20, 1 << 20]);
    assert_eq!(far.indexes()?.nth(3 << 20), Some(Index::from_slice(&[3, 0])));
    assert_eq!(far.indexes()?.last(), Some(Index::from_slice(&[(1 << 20) - 1; 2])));
    assert_eq!(far.indexes()?.count(), 1 << 40);
    assert_eq!(Shape::from([2, 0]).indexes()?.last(), None);
    Ok(())
}

/// Indexes that do not exist have no position.
#[test]
fn positions_are_those_of_indexes_inside() {
    let shape = Shape::from([2, 3]);
    let rank = |found| Err(Error::Rank { what: "indexes", expected: 2, found });
    assert_eq!(shape.position_of([]), rank(0));
    assert_eq!(shape.position_of([9]), rank(1));
    assert_eq!(shape.position_of([1, 3]), Err(Error::Index { axis: 1, index: 3, extent: 3 }));
    assert_eq!(shape.position_of(vec![2, 3]), Err(Error::Index { axis: 0, index: 2, extent: 2 }));
    let none = Err(Error::Index { axis: 1, index: 0, extent: 0 });
    assert_eq!(Shape::from([2, 0]).position_of([1, 0]), none);
    assert_eq!(Shape::default().position_of([]), Ok(0));
    let huge = [usize::MAX; 2];
    let overflow = Err(Error::ShapeOverflow { shape: huge.to_vec() });
    assert_eq!(Shape::from(huge).position_of([5, 5]), overflow);
}
