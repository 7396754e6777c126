//! Padded rows, masks, tensors one after another, and operands that meet at their first axes.

use super::chains::chain;
use super::expressions::{pairs, partner};
use super::model::{Item, Model, random_kinds, read};
use crate::support::Random;
use lensor::prelude::*;
use lensor::ragged::{Ragged, align, concat, repeat};
use quickcheck::quickcheck;

/// Lists of one axis made longer by items of one element.
fn padded(m: &Model<i64>, axis: usize, extent: usize, fill: i64) -> Model<i64> {
    let behind: Vec<usize> = m.kinds[axis + 1..].iter().map(|kind| kind.unwrap()).collect();
    let blank = Model::dense(&behind, &vec![fill; behind.iter().product()]).root;
    let longer = |_: &[usize], list: &[Item<i64>]| {
        let blanks = std::iter::repeat_n(blank.clone(), extent - list.len());
        Ok(Item::List(list.iter().cloned().chain(blanks).collect()))
    };
    m.with(axis, &[Some(extent)], longer).unwrap()
}

quickcheck! {
    /// Rows with items behind, and cut again: the same; masks say which are whose.
    fn padding_is_undone(seed: u64) -> bool {
        let mut random = Random(seed);
        let lead: Vec<Option<usize>> = (0..random.below(3)).map(|_| Some(1 + random.below(3))).collect();
        let tail: Vec<Option<usize>> = (0..random.below(3)).map(|_| Some(1 + random.below(3))).collect();
        let axis = lead.len();
        let model = Model::random_of(&[&lead[..], &[None], &tail[..]].concat(), &mut random);
        let own = model.build(-1, &mut random);
        let (a, r) = chain(&model, &own, 2, &mut random);
        if a.kinds.get(axis) != Some(&None) {
            for axis in 0..=a.rank() {
                let found = r.view().padded(axis, None, 0);
                let is_var = a.kinds.get(axis) == Some(&None);
                assert_eq!(found.is_ok(), is_var, "{a:?} {axis}");
            }
            return true;
        }
        let all = a.lists(axis);
        let longest = all.iter().map(|(_, list)| list.len()).max().unwrap_or(0);
        let extent = (random.below(2) == 0).then(|| (longest + random.below(3)).saturating_sub(random.below(2)));
        let found = r.view().padded(axis, extent, -7);
        let to = extent.unwrap_or(longest);
        if let Some((row, list)) = all.iter().find(|(_, list)| list.len() > to) {
            let (row, items) = (row.clone(), list.len());
            assert_eq!(found.err(), Some(Error::RowLength { row, axis, items, expected: to }));
            return true;
        }
        let found = found.unwrap();
        let expected = padded(&a, axis, to, -7);
        assert_eq!(found.shape().to_vec(), expected.shape().unwrap());
        assert_eq!(found.to_vec().unwrap(), expected.leaves());
        for k in 0..found.rank() {
            let (turned, flipped) = (found.view().flip(k).unwrap(), expected.view(&super::chains::View::Flip(k)).unwrap());
            assert_eq!(turned.to_vec().unwrap(), flipped.leaves());
        }
        let mask = r.mask(axis).unwrap();
        let exists: Vec<bool> = all.iter().flat_map(|(_, list)| (0..longest).map(|k| k < list.len()).collect::<Vec<_>>()).collect();
        assert_eq!(mask.to_vec().unwrap(), exists);
        let front: Vec<usize> = a.kinds[..axis].iter().map(|kind| kind.unwrap()).collect();
        let lens = Tensor::from_vec(front, all.iter().map(|(_, list)| list.len()).collect::<Vec<_>>()).unwrap();
        assert_eq!(read(&Ragged::from_padded(found, &lens).unwrap()), a);
        if extent.is_none() || extent == Some(longest) {
            let found = r.view().padded(axis, None, -7).unwrap();
            assert_eq!(read(&Ragged::from_masked(found, &mask).unwrap()), a);
        }
        true
    }

    /// Along any axis, and apart again.
    fn parts_are_joined(seed: u64) -> bool {
        let mut random = Random(seed);
        let mut kinds = random_kinds(&mut random);
        if kinds.is_empty() {
            kinds.push(None);
        }
        let axis = random.below(kinds.len());
        let a = Model::random_of(&kinds, &mut random);
        // Other lists along the axis, of the same rows in front and of any lengths; behind, fixed extents are the same.
        let mut own = kinds.clone();
        if own[axis].is_some() && random.below(2) == 0 {
            own[axis] = Some(random.below(4));
        }
        let mut other = |_: &[usize], _: &[Item<i64>]| {
            Ok(Model::random_of(&own[axis..], &mut random).root)
        };
        let b = a.with(axis, &[own[axis]], &mut other).unwrap();
        let mut rows = b.lists(axis).into_iter().map(|(_, list)| list.to_vec()).collect::<Vec<_>>().into_iter();
        let kind = own[axis].zip(kinds[axis]).map(|(x, y)| x + y);
        let joined = a.with(axis, &[kind], |_, list| Ok(Item::List([list.to_vec(), rows.next().unwrap()].concat()))).unwrap();
        let (x, y) = (a.build(-1, &mut random), b.build(-2, &mut random));
        let found = concat(axis, [x.view(), y.view()]).unwrap();
        assert!(read(&found) == joined, "{axis} {a:?}\n{b:?}\n{found}");
        assert!(read(&concat(axis, [&x, &y]).unwrap()) == joined, "{axis} {a:?}\n{b:?}");
        let three = concat(axis, [found, concat(axis, [x.view()]).unwrap()]);
        three.is_ok() && read(&(concat(axis, [x.view()]).unwrap())) == a
    }

    /// Aligned at the first axes: the one with fewer axes has extents of 1 behind.
    fn left_alignment_widens(seed: u64) -> bool {
        let mut random = Random(seed);
        let a = Model::random(&mut random);
        let mut b = partner(&a, &mut random);
        let drop = random.below(b.rank() + 1);
        for _ in 0..drop {
            let axis = b.rank() - 1;
            if b.kinds[axis].is_none() || b.kinds[axis] == Some(0) {
                break;
            }
            b = b.with(axis, &[], |_, list| Ok(list[0].clone())).unwrap();
        }
        let (x, y) = (a.build(-1, &mut random), b.build(-2, &mut random));
        let widen = |m: &Model<i64>, rank: usize| {
            let mut wide = m.map(|x| *x);
            fn ones(item: &Item<i64>, more: usize) -> Item<i64> {
                match item {
                    Item::List(list) => Item::List(list.iter().map(|item| ones(item, more)).collect()),
                    one => (0..more).fold(one.clone(), |item, _| Item::List(vec![item])),
                }
            }
            wide.root = ones(&wide.root, rank - wide.rank());
            wide.kinds.resize(rank, Some(1));
            wide
        };
        let rank = a.rank().max(b.rank());
        let expected = pairs(&widen(&a, rank), &widen(&b, rank), false, 2).map(|all| all.map(|(x, y)| x - y));
        let (left, right) = align(Align::Left, &x, &y).unwrap();
        assert_eq!((left - right).eval().map(|r| read(&r)), expected, "{a:?} {b:?}");
        true
    }
}

#[test]
fn scalars_meet_first_axes_without_axes_of_their_own() {
    let r = Ragged::from_nested(vec![vec![1, 2], vec![3]]).unwrap();
    let (left, right) = align(Align::Left, &r, 10_i32).unwrap();
    assert_eq!((left + right).to_vec().unwrap(), [11, 12, 13]);
    let (left, right) = align(Align::Left, &r, Lazy::new(10_i32) + 1).unwrap();
    assert_eq!((left + right).to_vec().unwrap(), [12, 13, 14]);
}

/// What lengths and masks are computed of need not be a tensor.
#[test]
fn lengths_and_masks_are_operands() {
    let t = Tensor::from_nested([[5_i64, 7, 0], [6, 0, 0]]).unwrap();
    let lens = || t.count_nonzero(1).cast::<usize>();
    let cut = Ragged::from_padded(t.view(), lens()).unwrap();
    assert_eq!(cut.to_string(), "[[5, 7], [6]]");
    assert_eq!(Ragged::from_masked(t.view(), t.not_equal(0)).unwrap(), cut);
    assert_eq!(
        Ragged::from_masked(t.view(), t.cumsum(1).greater(5)).unwrap().to_string(),
        "[[7, 0], [6, 0, 0]]"
    );
    let error = Ragged::from_masked(t.view(), true).unwrap_err();
    assert_eq!(error, Error::ExpectedRank { expected: 1, shape: vec![] });
    let error = Ragged::from_padded(t.view(), lens() + 2).unwrap_err();
    assert_eq!(error, Error::RowLength { row: vec![0], axis: 1, items: 4, expected: 3 });
    assert_eq!(repeat(&t, 1, vec![2, 0, 1]).unwrap().to_vec().unwrap(), [5, 5, 0, 6, 6, 0]);
    assert_eq!(repeat(&t, 0, [0, 1]).unwrap().to_vec().unwrap(), [6, 0, 0]);
}

#[test]
fn lengths_of_axes_without_one_behind_are_refused() {
    for shape in [vec![], vec![2]] {
        let lens = Tensor::full(&shape[..], 1_usize).unwrap();
        let error = Ragged::from_padded(Tensor::full(&shape[..], 1).unwrap(), &lens).unwrap_err();
        let expected = Error::ExpectedRank { expected: shape.len() + 1, shape: shape.clone() };
        assert_eq!(error, expected);
    }
    let error = Ragged::from_padded(Tensor::full([2], 1).unwrap(), Tensor::full([2], 1).unwrap());
    let text = "expected a tensor of rank 2, found shape [2]";
    assert_eq!(error.unwrap_err().to_string(), text);
}
