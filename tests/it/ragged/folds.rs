//! Folds against lists in lists, and against dense folds of the elements of each row, bit for bit.

use super::chains::chain;
use super::expressions::{joint_kinds, pairs, partner};
use super::model::{Item, Model, Refused, evaluated, random_kinds, read};
use crate::support::Random;
use lensor::Reduce as _;
use lensor::ragged::{ElementwiseRagged, Ragged, ReduceRagged};
use lensor::reduce::{ArgMax, Max, Maybe, Min, Product, Sum};
use lensor::{Error, Reader, Tensor};
use quickcheck::quickcheck;

/// The elements that are folded to each result, in order.
pub(super) fn gathered<T: Clone>(m: &Model<T>, axes: &[usize], keepdims: bool) -> Model<Vec<T>> {
    /// Puts items at the same place together, as long as the longest.
    fn merge<T: Clone>(kinds: &[Option<usize>], all: Vec<Item<Vec<T>>>) -> Item<Vec<T>> {
        let Some((kind, rest)) = kinds.split_first() else {
            return Item::One(
                all.iter()
                    .flat_map(|item| match item {
                        Item::One(list) => list.clone(),
                        Item::List(_) => panic!(),
                    })
                    .collect(),
            );
        };
        let longest = all.iter().map(|item| item.list().len()).max();
        let count = kind.or(longest).unwrap_or(0);
        let place = |k: usize| all.iter().filter_map(|item| item.list().get(k).cloned()).collect();
        Item::List((0..count).map(|k| merge(rest, place(k))).collect())
    }
    fn fold<T: Clone>(
        item: &Item<T>,
        axis: usize,
        kinds: &[Option<usize>],
        axes: &[usize],
        keepdims: bool,
    ) -> Item<Vec<T>> {
        let list = match item {
            Item::One(x) => return Item::One(vec![x.clone()]),
            Item::List(list) => list,
        };
        let all: Vec<_> =
            list.iter().map(|item| fold(item, axis + 1, kinds, axes, keepdims)).collect();
        if !axes.contains(&axis) {
            return Item::List(all);
        }
        let kept: Vec<Option<usize>> = (axis + 1..kinds.len())
            .filter(|k| keepdims || !axes.contains(k))
            .map(|k| if axes.contains(&k) { Some(1) } else { kinds[k] })
            .collect();
        let merged = merge(&kept, all);
        if keepdims { Item::List(vec![merged]) } else { merged }
    }
    let root = fold(&m.root, 0, &m.kinds, axes, keepdims);
    let kinds = (0..m.rank())
        .filter(|axis| keepdims || !axes.contains(axis))
        .map(|axis| if axes.contains(&axis) { Some(1) } else { m.kinds[axis] });
    Model { kinds: kinds.collect(), root }
}

/// Whether these axes can be folded together.
pub(super) fn is_legal(kinds: &[Option<usize>], axes: &[usize]) -> bool {
    let Some(last) = kinds.iter().rposition(Option::is_none) else { return true };
    let Some(from) = axes.iter().copied().min().filter(|&from| from <= last) else { return true };
    let ends = (from..kinds.len()).all(|axis| axes.contains(&axis));
    ends || axes == [last] || axes.len() == 1 && kinds[from].is_some()
}

pub(super) fn random_axes(rank: usize, random: &mut Random) -> Vec<usize> {
    match random.below(3) {
        0 => (random.below(rank + 1)..rank).collect(),
        1 if rank > 0 => vec![random.below(rank)],
        _ => (0..rank).filter(|_| random.below(2) == 0).collect(),
    }
}

/// A fold of what is gathered, or why there is none: the first row without items.
fn folded<U: Clone>(all: &Model<Vec<i64>>, f: impl Fn(&[i64]) -> Option<U>) -> Option<Model<U>> {
    let missing = all.leaves().iter().any(|list| f(list).is_none());
    (!missing).then(|| all.map(|list| f(list).unwrap()))
}

#[track_caller]
fn same<S: Reader>(
    found: lensor::Result<Ragged<S>>,
    expected: Option<Model<S::Elem>>,
    of: (&Model<i64>, &[usize]),
) where
    S::Elem: PartialEq + std::fmt::Debug,
{
    match (found, expected) {
        (Ok(found), Some(expected)) => {
            assert!(read(&found) == expected, "{of:?}\n{:?}\n{expected:?}", read(&found))
        }
        (Err(Error::EmptyRow { .. } | Error::EmptyReduction { .. }), None) => {}
        // A row without items is refused, whether its items would have elements or not.
        (Err(Error::EmptyRow { .. } | Error::EmptyReduction { .. }), Some(_))
            if of.0.kinds.contains(&Some(0)) => {}
        (found, expected) => panic!("{of:?}\n{:?}\n{expected:?}", found.map(|found| found.form())),
    }
}

fn first_max(list: &[i64]) -> Option<usize> {
    let most = list.iter().max()?;
    list.iter().position(|x| x == most)
}

quickcheck! {
    /// Every set of axes that can be folded, of views and of expressions; the others are refused.
    fn folds_are_those_of_what_is_gathered(seed: u64) -> bool {
        let mut random = Random(seed);
        let model = Model::random(&mut random).map(|x| x * 7919 % 101 - 50);
        let own = model.build(-1, &mut random);
        let (a, r) = chain(&model, &own, 2, &mut random);
        let axes = random_axes(a.rank(), &mut random);
        let list = &axes[..];
        if !is_legal(&a.kinds, list) {
            let refused = r.view().sum(list).eval().err().unwrap();
            let Error::RaggedAxes { crossed, .. } = refused else { panic!("{a:?} {list:?} {refused:?}") };
            assert_eq!(a.kinds[crossed], None);
            assert_eq!(r.view().sum(list).extents().err(), Some(refused));
            return true;
        }
        let all = gathered(&a, list, false);
        let of = (&a, list);
        let sum = |list: &[i64]| Some(list.iter().sum::<i64>());
        same(evaluated(r.view().sum(list)), folded(&all, sum), of);
        same(evaluated((&r * 2 - 1).sum(list)), folded(&all, |list| Some(list.iter().map(|x| 2 * x - 1).sum())), of);
        let kept = gathered(&a, list, true);
        same(evaluated(r.view().sum(list).keepdims()), folded(&kept, sum), of);
        same(evaluated(r.view().max(list)), folded(&all, |list| list.iter().max().copied()), of);
        same(evaluated(r.view().max(list).or(-99).keepdims()), folded(&kept, |list| Some(list.iter().max().copied().unwrap_or(-99))), of);
        same(evaluated(r.view().fold(list, Maybe(Max))), folded(&all, |list| Some(list.iter().max().copied())), of);
        let filtered = |list: &[i64]| Some(list.iter().filter(|x| **x % 3 == 0).max().copied());
        same(evaluated(r.view().fold(list, Maybe(Max)).filter((&r % 3).equal(0))), folded(&all, filtered), of);
        same(evaluated(r.view().argmax(list)), folded(&all, first_max), of);
        same(evaluated(r.view().argmax(list).or(7)), folded(&all, |list| Some(first_max(list).unwrap_or(7))), of);
        let three = |list: &[i64]| Some((list.iter().sum::<i64>(), list.iter().min().copied()?, first_max(list)?));
        same(evaluated(r.view().fold(list, (Sum, Min, ArgMax))), folded(&all, three), of);
        let some = |list: &[i64]| Some(list.iter().filter(|x| **x % 3 == 0).sum::<i64>());
        same(evaluated(r.view().sum(list).filter((&r % 3).equal(0))), folded(&all, some), of);
        same(evaluated(r.view().count_nonzero(list)), folded(&all, |list| Some(list.iter().filter(|x| **x != 0).count() as u64)), of);
        if let Ok(form) = r.view().sum(list).form() {
            assert_eq!(form.extents(), r.view().sum(list).extents().unwrap());
            let dense = r.view().sum(list).eval_dense();
            assert_eq!(dense.is_ok(), all.shape().is_some());
            if let Ok(dense) = dense {
                assert_eq!(dense.shape().to_vec(), all.shape().unwrap());
            }
        }
        assert!(r.view().sum(list).explain().is_ok());
        true
    }

    /// A mask that stretches, or is refused; sums that take part in expressions.
    fn folds_stand_in_expressions(seed: u64) -> bool {
        let mut random = Random(seed);
        let mut kinds = random_kinds(&mut random);
        kinds.push(None);
        let a = Model::random_of(&kinds, &mut random).map(|x| x * 31 % 17);
        let r = a.build(-1, &mut random);
        let last = a.rank() - 1;
        let sums = gathered(&a, &[last], true).map(|list| list.iter().sum::<i64>());
        let expected = pairs(&a, &sums, false, 2).map(|all| all.map(|(x, y)| x * 100 - y)).map_err(Some);
        let found = (&r * 100 - r.view().sum(last).keepdims()).eval().map(|found| read(&found)).map_err(Some);
        assert_eq!(found, expected as Refused<_>);
        let turned = pairs(&a, &sums, false, 2).map(|all| all.map(|(x, y)| (7 - y) * x)).map_err(Some);
        let found = (&r * (7 - r.view().sum(last).keepdims())).eval().map(|found| read(&found)).map_err(Some);
        assert_eq!(found, turned as Refused<_>);
        let other = partner(&a, &mut random);
        let mask = other.map(|x| x % 2000 == 0);
        let built = mask.build(true, &mut random);
        let found = r.view().sum(last).filter(&built).eval();
        // The elements are not repeated for a mask.
        let kinds = joint_kinds(&a.kinds, &mask.kinds, 2);
        let stays = |kinds: &Vec<Option<usize>>| {
            let own = a.kinds.iter().zip(kinds);
            kinds.len() == a.rank() && { own }.all(|(own, joint)| own.is_none() || own == joint)
        };
        if kinds.is_ok_and(|kinds| !stays(&kinds)) {
            return matches!(found, Err(Error::Operands { argument: 2, .. }));
        }
        match (found, pairs(&a, &mask, false, 2)) {
            (Ok(found), Ok(both)) if is_legal(&both.kinds, &[last]) => {
                let all = gathered(&both, &[last], false);
                let sum = all.map(|list| list.iter().filter(|(_, keeps)| *keeps).map(|(x, _)| x).sum::<i64>());
                assert!(read(&found) == sum);
            }
            (Err(found), Err(expected)) => assert_eq!(found, expected),
            (found, expected) => panic!("{a:?} {mask:?} {:?} {expected:?}", found.map(|found| found.to_string())),
        }
        true
    }
}

/// Numbers whose sum depends on the order.
fn cancelling(random: &mut Random) -> f64 {
    (random.below(1 << 20) as f64 - 5e5) * [1.0, 1e-9, 1e9, -0.0][random.below(4)]
}

/// The fold of each row has the bits of the dense fold of its elements.
#[test]
fn rows_have_the_bits_of_dense_folds() {
    let mut random = Random(9);
    for round in 0..30 {
        let rows = 1 + random.below(40);
        let lens: Vec<usize> = (0..rows)
            .map(|_| match random.below(if round % 5 == 0 { 12 } else { 10 }) {
                10 => 5000,
                11 => 1 + random.below(3000),
                k if k < 6 => random.below(20),
                _ => random.below(200),
            })
            .collect();
        let data: Vec<Vec<f64>> =
            lens.iter().map(|&len| (0..len).map(|_| cancelling(&mut random)).collect()).collect();
        let model = Model {
            kinds: vec![Some(rows), None],
            root: Item::List(
                data.iter()
                    .map(|row| Item::List(row.iter().copied().map(Item::One).collect()))
                    .collect(),
            ),
        };
        let wide = model.build(f64::NAN, &mut random);
        let narrow = model.map(|x| *x as f32).build(f32::NAN, &mut random);
        let dense: Vec<Tensor<Vec<f64>>> = data.into_iter().map(Tensor::from).collect();
        macro_rules! equal {
            ($($r:ident $method:ident $cast:ty;)*) => { $(
                let found = (&$r).$method(1).eval_dense().unwrap().to_vec().unwrap();
                for (row, t) in dense.iter().enumerate() {
                    let t = Tensor::from(t.to_vec().unwrap().iter().map(|x| *x as $cast).collect::<Vec<_>>());
                    let own = t.$method(0).eval().unwrap().to_vec().unwrap()[0];
                    assert_eq!(found[row].to_bits(), own.to_bits(), "{} of {} items", stringify!($method), t.shape()[0]);
                }
            )* };
        }
        equal! {
            wide sum f64; narrow sum f32; wide prod f64; narrow prod f32; wide norm f64; narrow norm f32;
        }
        if lens.iter().all(|&len| len > 0) {
            equal! { wide mean f64; narrow mean f32; wide max f64; narrow min f32; wide var f64; }
        }
        let squares = (&wide * &wide).sum(1).eval_dense().unwrap().to_vec().unwrap();
        let pair = wide.view().fold(1, (Sum, Product)).eval_dense().unwrap().to_vec().unwrap();
        for (row, t) in dense.iter().enumerate() {
            assert_eq!(
                squares[row].to_bits(),
                (t * t).sum(0).eval().unwrap().to_vec().unwrap()[0].to_bits()
            );
            let own = t.fold(0, (Sum, Product)).eval().unwrap().to_vec().unwrap()[0];
            assert_eq!(
                (pair[row].0.to_bits(), pair[row].1.to_bits()),
                (own.0.to_bits(), own.1.to_bits())
            );
        }
    }
}

/// Several axes at the end, with fixed ones behind: the bits of the dense fold of all elements of the row.
#[test]
fn several_axes_have_the_bits_of_dense_folds() {
    let mut random = Random(10);
    for _ in 0..60 {
        let mut kinds = vec![Some(1 + random.below(4)), None];
        kinds.extend((0..random.below(2)).map(|_| None));
        kinds.extend((0..random.below(3)).map(|_| Some(1 + random.below(4))));
        let model = Model::random_of(&kinds, &mut random).map(|_| cancelling(&mut random));
        let r = model.build(f64::NAN, &mut random);
        let axes: Vec<usize> = (1..model.rank()).collect();
        let found = r.view().sum(&axes[..]).eval_dense().unwrap().to_vec().unwrap();
        for (row, list) in gathered(&model, &axes, false).leaves().into_iter().enumerate() {
            let own = Tensor::from(list).sum(0).eval().unwrap().to_vec().unwrap()[0];
            assert_eq!(found[row].to_bits(), own.to_bits(), "{kinds:?} row {row}");
        }
        // Items of fixed axes, as dense rows of the same items.
        let axis = model.vars().pop().unwrap();
        let trailing: Vec<usize> = kinds[axis + 1..].iter().map(|kind| kind.unwrap()).collect();
        let found = r.view().sum(axis).eval().unwrap().to_vec().unwrap();
        let each: usize = trailing.iter().product();
        for (row, (_, list)) in model.lists(axis).into_iter().enumerate() {
            let items =
                Model { kinds: kinds[axis..].to_vec(), root: Item::List(list.to_vec()) }.leaves();
            let dense = Tensor::from_vec([&[list.len()], &trailing[..]].concat(), items).unwrap();
            let own = dense.sum(0).eval().unwrap().to_vec().unwrap();
            let bits = |all: &[f64]| all.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(
                bits(&found[row * each..(row + 1) * each]),
                bits(&own),
                "{kinds:?} row {row}"
            );
        }
    }
}

/// Folds that leave out NaN have the bits of dense ones too.
#[test]
fn folds_that_skip_nan_are_those_of_rows() {
    let mut random = Random(11);
    let rows: Vec<Vec<f64>> = (0..200)
        .map(|_| {
            let items = 1 + random.below(30);
            (0..items)
                .map(|_| if random.below(4) == 0 { f64::NAN } else { cancelling(&mut random) })
                .collect()
        })
        .collect();
    let r = Ragged::from_nested(rows.clone()).unwrap();
    macro_rules! equal {
        ($($method:ident)*) => { $(
            let found = r.$method(1).to_vec().unwrap();
            for (row, found) in rows.iter().zip(found) {
                let own = Tensor::from(&row[..]).$method(0).item().unwrap();
                assert_eq!(found.to_bits(), own.to_bits(), "{} of {row:?}", stringify!($method));
            }
        )* };
    }
    equal!(nan_sum nan_prod nan_mean nan_min nan_max nan_var nan_std logsumexp);
    let sample = r.nan_var(1).ddof(1).to_vec().unwrap();
    assert_eq!(
        sample[0].to_bits(),
        Tensor::from(&rows[0][..]).nan_var(0).ddof(1).item().unwrap().to_bits()
    );
    let holes = Ragged::from_nested(vec![vec![f64::NAN, 2.0, 1.0], vec![3.0]]).unwrap();
    assert_eq!(holes.nan_argmin(1).to_vec().unwrap(), [2, 0]);
    assert_eq!(holes.nan_argmax(1).to_vec().unwrap(), [1, 0]);
    let none = Ragged::from_nested(vec![vec![1.0], vec![f64::NAN]]).unwrap();
    assert_eq!(none.nan_argmin(1).eval().unwrap_err(), Error::NothingLeft { index: vec![1] });
}
