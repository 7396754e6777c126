//! Scans and sorts of rows against those of dense tensors of their elements.

use super::chains::chain;
use super::model::{Item, Model, evaluated, random_kinds, read};
use crate::support::Random;
use lensor::lanes::{Interpolation, Lanes, SortOrder};
use lensor::ragged::{ElementwiseRagged, LanesRagged, Offsets, Ragged, ReduceRagged};
use lensor::reduce::{ArgMax, Or, SkipNan};
use lensor::scan::Scan;
use lensor::{Error, Reader, Tensor};
use quickcheck::quickcheck;

/// Something else of every column of items along the last var axis.
fn columns<T: Clone, U: Clone>(m: &Model<T>, axis: usize, f: impl Fn(&[T]) -> Vec<U>) -> Model<U> {
    columns_of(m, axis, None, f)
}

/// Something else of every column of items along the last var axis, or an axis behind it: so many if that is said.
pub(super) fn columns_of<T: Clone, U: Clone>(
    m: &Model<T>,
    axis: usize,
    results: Option<usize>,
    f: impl Fn(&[T]) -> Vec<U>,
) -> Model<U> {
    fn leaves<T: Clone>(item: &Item<T>, to: &mut Vec<T>) {
        match item {
            Item::One(x) => to.push(x.clone()),
            Item::List(list) => list.iter().for_each(|item| leaves(item, to)),
        }
    }
    fn walk<T: Clone, U: Clone>(
        item: &Item<T>,
        depth: usize,
        (behind, results): (&[usize], Option<usize>),
        f: &impl Fn(&[T]) -> Vec<U>,
    ) -> Item<U> {
        if depth > 0 {
            let inner = item.list().iter().map(|item| walk(item, depth - 1, (behind, results), f));
            return Item::List(inner.collect());
        }
        let (each, mut items): (usize, _) = (behind.iter().product(), Vec::new());
        item.list().iter().for_each(|item| leaves(item, &mut items));
        let column = |at: usize| items.iter().skip(at).step_by(each).cloned().collect::<Vec<_>>();
        let all: Vec<Vec<U>> = (0..each).map(|at| f(&column(at))).collect();
        let count = all.first().map_or(results.unwrap_or(item.list().len()), Vec::len);
        Item::List(
            (0..count)
                .map(|k| {
                    let flat: Vec<U> = all.iter().map(|column| column[k].clone()).collect();
                    if each == 0 {
                        Model::<U>::hollow(behind)
                    } else {
                        Model::dense(behind, &flat).root
                    }
                })
                .collect(),
        )
    }
    let behind: Vec<usize> = m.kinds[axis + 1..].iter().map(|kind| kind.unwrap()).collect();
    let mut kinds = m.kinds.clone();
    kinds[axis] = results.or(kinds[axis]);
    Model { kinds, root: walk(&m.root, axis, (&behind, results), &f) }
}

impl<T: Clone> Model<T> {
    /// Lists without an element.
    fn hollow(shape: &[usize]) -> Item<T> {
        match shape.split_first() {
            Some((&extent, rest)) => Item::List((0..extent).map(|_| Self::hollow(rest)).collect()),
            None => panic!("an element"),
        }
    }
}

#[track_caller]
fn same<S: Reader>(found: Ragged<S>, expected: Model<S::Elem>, of: &Model<i64>)
where
    S::Elem: PartialEq + std::fmt::Debug,
{
    assert!(read(&found) == expected, "{of:?}\n{:?}\n{expected:?}", read(&found));
}

quickcheck! {
    /// Of views, with fixed axes behind, along the last var axis.
    fn rows_are_sorted_and_scanned(seed: u64) -> bool {
        let mut random = Random(seed);
        let mut kinds = random_kinds(&mut random);
        if kinds.iter().all(|kind| kind.is_some()) {
            kinds.push(None);
        }
        // Few values, so that many are equal.
        let model = Model::random_of(&kinds, &mut random).map(|x| x * 7919 % 13);
        let own = model.build(-1, &mut random);
        let (a, r) = chain(&model, &own, 2, &mut random);
        let Some(axis) = a.vars().pop() else { return true };
        let k = random.below(5);
        for order in [SortOrder::Ascending, SortOrder::Descending] {
            let sorted = |row: &[i64]| {
                let mut at: Vec<usize> = (0..row.len()).collect();
                match order {
                    SortOrder::Ascending => at.sort_by_key(|&k| row[k]),
                    _ => at.sort_by_key(|&k| std::cmp::Reverse(row[k])),
                }
                at
            };
            let values = |row: &[i64]| sorted(row).into_iter().map(|k| row[k]).collect::<Vec<_>>();
            let first = |mut all: Vec<i64>| { all.truncate(k); all };
            same(evaluated(r.view().argsort(axis, order)).unwrap(), columns(&a, axis, sorted), &a);
            same(evaluated(r.view().sort(axis, order)).unwrap(), columns(&a, axis, values), &a);
            let around = |row: &[i64]| {
                let all = sorted(row);
                let Some(&middle) = all.get(k) else { return (0..row.len()).collect() };
                let (mut before, mut after) = (all[..k].to_vec(), all[k + 1..].to_vec());
                before.sort_unstable();
                after.sort_unstable();
                [before, vec![middle], after].concat()
            };
            let parted = |row: &[i64]| around(row).into_iter().map(|k| row[k]).collect::<Vec<_>>();
            same(evaluated(r.view().argpartition(axis, k, order)).unwrap(), columns(&a, axis, around), &a);
            same(evaluated(r.view().partition(axis, k, order)).unwrap(), columns(&a, axis, parted), &a);
            // Empty items have rows all the same.
            if a.kinds[axis + 1..].iter().all(|kind| *kind != Some(0)) {
                same(evaluated(r.view().top_k(axis, k, order)).unwrap(), columns(&a, axis, |row| first(values(row))), &a);
                let found = r.view().arg_top_k(axis, k, order).eval().unwrap();
                same(found, columns(&a, axis, |row| { let mut all = sorted(row); all.truncate(k); all }), &a);
            }
        }
        let running = |f: fn(i64, i64) -> i64| move |row: &[i64]| {
            row.iter().scan(None, |so_far, x| { *so_far = Some(so_far.map_or(*x, |y| f(y, *x))); *so_far }).collect::<Vec<_>>()
        };
        same(evaluated(r.view().cumsum(axis)).unwrap(), columns(&a, axis, running(|x, y| x + y)), &a);
        same(evaluated((&r * 2).cummax(axis)).unwrap(), columns(&a.map(|x| 2 * x), axis, running(i64::max)), &a);
        same(evaluated(r.view().cummin(axis)).unwrap(), columns(&a, axis, running(i64::min)), &a);
        for other in 0..=a.rank() {
            let result = r.view().cumsum(other).eval();
            match result {
                Ok(_) => assert!(other >= axis),
                Err(error) if other == a.rank() => assert_eq!(error, Error::Axis { axis: other, rank: other }),
                Err(error) => assert!(other < axis && matches!(error, Error::RaggedAxes { .. }), "{error:?}"),
            }
        }
        true
    }
}

/// A scan of what does not fit, or has no result to begin with, names the first such result.
#[test]
fn scans_either_way_name_what_is_not_there() {
    let r = Ragged::from_nested(vec![vec![1], vec![i64::MAX, 1, 2, 3], vec![]]).unwrap();
    let t = Tensor::from(vec![i64::MAX, 1, 2, 3]);
    let of = |error: Error| match error {
        Error::Overflow { index, .. } => index,
        error => panic!("{error}"),
    };
    for (exclusive, reverse) in [(false, false), (false, true), (true, false), (true, true)] {
        let (mut ragged, mut dense) = (r.cumsum(1), t.cumsum(0));
        if exclusive {
            (ragged, dense) = (ragged.exclusive(), dense.exclusive());
        }
        if reverse {
            (ragged, dense) = (ragged.reverse(), dense.reverse());
        }
        match (ragged.eval(), dense.eval()) {
            (Ok(ragged), Ok(dense)) => {
                assert_eq!(ragged.to_vec().unwrap()[1..], dense.to_vec().unwrap());
            }
            (Err(ragged), Err(dense)) => {
                assert_eq!(of(ragged), [vec![1], of(dense)].concat(), "{exclusive} {reverse}");
            }
            (ragged, dense) => panic!("{ragged:?} {dense:?}"),
        }
    }
    let error = r.cummax(1).exclusive().eval().unwrap_err();
    assert_eq!(error, Error::NoIdentity { axis: 1 });
}

/// Results lie in row-major order, also those along an axis in front of others.
#[test]
fn results_lie_in_order() {
    let pairs = Tensor::from_nested([[3_i64, 2], [1, 4], [5, 6]]).unwrap();
    let m = Ragged::new([2], Offsets::from_lengths([2, 1]).unwrap(), pairs).unwrap();
    let sorted = m.sort(1, SortOrder::Ascending).eval().unwrap();
    assert_eq!(sorted.to_string(), "[[[1, 2], [3, 4]], [[5, 6]]]");
    assert_eq!(sorted.into_content().into_storage(), [1, 2, 3, 4, 5, 6]);
    let ends = m.quantiles(1, [0.0, 1.0], Interpolation::Linear).eval_dense().unwrap();
    assert_eq!(ends.into_storage(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 5.0, 6.0]);
}

/// Floats of all kinds: the bits of the dense operations.
#[test]
fn rows_have_the_bits_of_dense_lanes() {
    let mut random = Random(4);
    for round in 0..53 {
        // Many rows, or one of each of the lengths up to 40.
        let count = if round < 12 { 60 } else { 1 };
        let rows: Vec<Vec<f32>> = (0..count)
            .map(|_| {
                let len = match round {
                    12.. => round - 12,
                    _ if random.below(40) == 0 => 5000,
                    _ => random.below([4, 9, 41, 200][round % 4]),
                };
                let value = |random: &mut Random| match random.below(12) {
                    0 => f32::NAN,
                    1 => -0.0,
                    2 => 0.0,
                    3 => f32::INFINITY,
                    _ => (random.below(2000) as f32 - 1e3) * [1.0, 1e-6, 1e6][random.below(3)],
                };
                (0..len).map(|_| value(&mut random)).collect()
            })
            .collect();
        let nested = rows
            .iter()
            .map(|row| Item::List(row.iter().copied().map(Item::One).collect()))
            .collect();
        let kinds = vec![Some(count), None];
        let r = Model { kinds, root: Item::List(nested) }.build(7.0, &mut random);
        let rows: Vec<Tensor<Vec<f32>>> = rows.into_iter().map(Tensor::from).collect();
        let bits = |all: Vec<f32>| all.into_iter().map(f32::to_bits).collect::<Vec<_>>();
        macro_rules! equal {
            ($($method:ident($($argument:expr),*);)*) => { $(
                let found = (&r).$method(1 $(, $argument)*).eval().unwrap();
                let dense = rows.iter().flat_map(|t| t.$method(0 $(, $argument)*).eval().unwrap().to_vec().unwrap());
                assert_eq!(bits(found.to_vec().unwrap()), bits(dense.collect()), stringify!($method));
            )* };
        }
        equal! {
            cumsum(); cumprod(); cummax(); cummin();
            sort(SortOrder::Ascending); sort(SortOrder::Descending);
        }
        macro_rules! ways {
            ($($method:ident $($way:ident)*;)*) => { $(
                let found = (&r).$method(1)$(.$way())*.eval().unwrap();
                let dense = rows.iter().flat_map(|t| t.$method(0)$(.$way())*.to_vec().unwrap());
                let way = stringify!($method $($way)*);
                assert_eq!(bits(found.to_vec().unwrap()), bits(dense.collect()), "{way}");
            )* };
        }
        ways! {
            cumsum reverse; cumsum exclusive; cumsum exclusive reverse; cumprod exclusive; cummax reverse;
        }
        let found = r
            .view()
            .scan(1, Or::new(SkipNan(ArgMax), 9))
            .reverse()
            .eval()
            .unwrap()
            .to_vec()
            .unwrap();
        let dense = rows
            .iter()
            .flat_map(|t| t.scan(0, Or::new(SkipNan(ArgMax), 9)).reverse().to_vec().unwrap());
        assert_eq!(found, dense.collect::<Vec<_>>());
        for order in [SortOrder::Ascending, SortOrder::Descending] {
            let orders: Vec<Vec<usize>> =
                rows.iter().map(|t| t.argsort(0, order).to_vec().unwrap()).collect();
            let found = r.view().argsort(1, order).eval().unwrap().to_vec().unwrap();
            assert_eq!(found, orders.concat());
            for k in [0, 1, 3, 5, 12] {
                let first = |order: &[usize]| order[..k.min(order.len())].to_vec();
                let places: Vec<Vec<usize>> = orders.iter().map(|order| first(order)).collect();
                let found = r.view().arg_top_k(1, k, order).eval().unwrap().to_vec().unwrap();
                assert_eq!(found, places.concat());
                let items = rows.iter().zip(&places).flat_map(|(t, places)| {
                    places.iter().map(|&place| t.storage()[place]).collect::<Vec<_>>()
                });
                let found = r.view().top_k(1, k, order).eval().unwrap().to_vec().unwrap();
                assert_eq!(bits(found), bits(items.collect()));
            }
        }
    }
}

/// Scans that are made of others share no result with them.
#[test]
fn scans_of_one_operand_are_computed_apart() {
    let r = Ragged::from_nested(vec![vec![1_i64, 2], vec![3]]).unwrap();
    let all = r.cumsum(1);
    let (before, back) = (all.clone().exclusive(), all.clone().reverse());
    let sum = (&all + &before + &back).eval().unwrap();
    assert_eq!(sum.to_string(), "[[4, 6], [6]]");
}

/// Scans of some items, in either direction, and where none is left.
#[test]
fn scans_leave_items_out() {
    let r = Ragged::from_nested(vec![vec![3_i64, 1, 2], vec![], vec![5, 4]]).unwrap();
    let (sums, maxima) = (r.cumsum(1).filter(r.greater(1)), r.cummax(1).filter(r.less(3)));
    let text = |found: Result<Ragged<Vec<i64>>, Error>| found.unwrap().to_string();
    assert_eq!(text(sums.eval()), "[[3, 3, 5], [], [5, 9]]");
    assert_eq!(text(sums.clone().reverse().eval()), "[[5, 2, 2], [], [9, 4]]");
    assert_eq!(text(sums.exclusive().eval()), "[[0, 3, 3], [], [0, 5]]");
    assert_eq!(maxima.eval().unwrap_err(), Error::NothingLeft { index: vec![0, 0] });
    assert_eq!(text(maxima.or(0).eval()), "[[0, 1, 2], [], [0, 0]]");
    let rows = Tensor::from_vec([3, 1], vec![true, true, false]).unwrap();
    assert_eq!(text(r.cumsum(1).filter(&rows).eval()), "[[3, 4, 6], [], [0, 0]]");
    let wide = Tensor::full([2, 3, 1], true).unwrap();
    let (scan, fold) = (r.cumsum(1).filter(&wide).eval(), r.sum(1).filter(&wide).eval());
    assert!(matches!(scan, Err(Error::Operands { .. })));
    assert_eq!(scan.unwrap_err(), fold.unwrap_err());
}
