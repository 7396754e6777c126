//! Sorts by closures, quantiles, modes and histograms of rows against the dense operations on the elements of each.

use super::chains::chain;
use super::folds::{gathered, is_legal, random_axes};
use super::lanes::columns_of;
use super::model::{Model, evaluated, random_kinds, read};
use crate::support::{Random, fails, pool};
use lensor::lanes::{Edges, Interpolation, Lanes, SortOrder, Uniform};
use lensor::ragged::{ElementwiseRagged, LanesRagged, Ragged, ReduceRagged};
use lensor::{Error, Reader, Result, Tensor};
use quickcheck::quickcheck;
use std::cmp::Ordering;

const RULES: [Interpolation; 5] = [
    Interpolation::Linear,
    Interpolation::Lower,
    Interpolation::Higher,
    Interpolation::Nearest,
    Interpolation::Midpoint,
];

/// Floats with many equal ones, both zeros and NaN.
fn float(x: i64) -> f64 {
    match x * 7919 % 11 {
        0 => f64::NAN,
        1 => -0.0,
        k => (k / 2 - 1) as f64,
    }
}

/// A comparison by which many elements are equal.
fn compare(a: &i64, b: &i64) -> Ordering {
    (b % 5).cmp(&(a % 5))
}

fn bits(all: Vec<f64>) -> Vec<u64> {
    all.into_iter().map(f64::to_bits).collect()
}

/// The error for the first row without items, or an axis without.
fn empty(m: &Model<i64>, axis: usize) -> Option<Error> {
    match m.kinds[axis] {
        Some(0) => {
            let shape = m.kinds.iter().map(|kind| kind.unwrap_or(usize::MAX)).collect();
            Some(Error::EmptyReduction { axis, shape })
        }
        Some(_) => None,
        None => {
            let mut lists = m.lists(axis).into_iter();
            let (row, _) = lists.find(|(_, list)| list.is_empty())?;
            Some(Error::EmptyRow { row, axis })
        }
    }
}

#[track_caller]
fn same<S: Reader, U>(
    found: Result<Ragged<S>>,
    expected: Result<Model<U>, Error>,
    key: impl Fn(&S::Elem) -> U,
    of: &Model<i64>,
) where
    S::Elem: Clone,
    U: PartialEq + std::fmt::Debug,
{
    let found = found.map(|found| read(&found).map(key));
    assert!(found == expected, "{of:?}\n{found:?}\n{expected:?}");
}

quickcheck! {
    /// Along the last var axis and the fixed axes behind it, of views and of expressions.
    fn rows_are_computed_as_dense_lanes(seed: u64) -> bool {
        let mut random = Random(seed);
        let kinds = random_kinds(&mut random);
        let own = Model::random_of(&kinds, &mut random);
        let built = own.build(-1, &mut random);
        let (a, r) = chain(&own, &built, 2, &mut random);
        let Some(first) = a.vars().pop().or((a.rank() > 0).then_some(0)) else { return true };
        let axis = first + random.below(a.rank() - first);
        let order = [SortOrder::Ascending, SortOrder::Descending][random.below(2)];
        let dense = |row: &[i64]| Tensor::from(row.to_vec());
        let of = |f: &dyn Fn(&[i64]) -> Vec<i64>| Ok(columns_of(&a, axis, None, f));
        let key = |x: i64| x % 7;
        same(
            evaluated(r.view().sort_by_key(axis, order, key)),
            of(&|row| dense(row).sort_by_key(0, order, key).to_vec().unwrap()), |x| *x, &a,
        );
        same(
            evaluated(r.view().sort_by(axis, compare)),
            of(&|row| dense(row).sort_by(0, compare).to_vec().unwrap()), |x| *x, &a,
        );
        same(
            evaluated(r.view().argsort_by(axis, compare)),
            Ok(columns_of(&a, axis, None, |row| dense(row).argsort_by(0, compare).to_vec().unwrap())), |x| *x, &a,
        );
        let bins = Uniform::new(0.0, 40.0, 1 + random.below(4)).unwrap();
        let counts = |row: &[i64]| (&dense(row) * 2).histogram_along(0, &bins).to_vec().unwrap();
        same(
            evaluated((&r * 2).histogram_along(axis, &bins)),
            Ok(columns_of(&a, axis, Some(counts(&[]).len()), counts)), |x| *x, &a,
        );
        let floats = |row: &[i64]| Tensor::from(row.iter().map(|&x| float(x)).collect::<Vec<_>>());
        let list: Vec<f64> = (0..random.below(4)).map(|_| random.below(9) as f64 / 8.0).collect();
        let rule = RULES[random.below(5)];
        for skips in [false, true] {
            let e = r.view().map(float);
            let found = if skips { e.nan_quantiles(axis, &list, rule) } else { e.quantiles(axis, &list, rule) };
            let several = |row: &[i64]| {
                let t = floats(row);
                let found = if skips { t.nan_quantiles(0, &list, rule) } else { t.quantiles(0, &list, rule) };
                bits(found.to_vec().unwrap())
            };
            let expected = match empty(&a, axis) {
                Some(error) => Err(error),
                None => Ok(columns_of(&a, axis, Some(list.len()), several)),
            };
            same(evaluated(found), expected, |x| x.to_bits(), &a);
        }
        true
    }

    /// Over every set of axes that can be folded; the others are refused.
    fn ranks_are_those_of_what_is_gathered(seed: u64) -> bool {
        let mut random = Random(seed);
        let own = Model::random(&mut random);
        let built = own.build(-1, &mut random);
        let (a, r) = chain(&own, &built, 2, &mut random);
        let axes = random_axes(a.rank(), &mut random);
        let list = &axes[..];
        if !is_legal(&a.kinds, list) {
            let refused = r.view().sum(list).extents().err();
            assert!(matches!(refused, Some(Error::RaggedAxes { .. })));
            assert_eq!(r.view().median(list).extents().err(), refused);
            assert_eq!(r.view().mode(list).eval().err(), refused);
            return true;
        }
        let keepdims = random.below(2) == 0;
        let all = gathered(&a, list, keepdims);
        // A row without items is refused, whether its items would have elements or not.
        let refused = r.view().max(list).eval().err();
        let rule = RULES[random.below(5)];
        let q = random.below(9) as f64 / 8.0;
        let check = |found: Result<Ragged<Vec<f64>>>, f: &dyn Fn(Tensor<Vec<f64>>) -> f64| {
            let expected = match &refused {
                Some(error) => Err(error.clone()),
                None => Ok(all.map(|lane| {
                    f(Tensor::from(lane.iter().map(|&x| float(x)).collect::<Vec<_>>())).to_bits()
                })),
            };
            same(found, expected, |x| x.to_bits(), &a);
        };
        macro_rules! check {
            ($($method:ident($($argument:expr),*);)*) => { $({
                let operation = r.view().map(float).$method(list $(, $argument)*);
                assert!(operation.explain().is_ok());
                let found = if keepdims { evaluated(operation.keepdims()) } else { evaluated(operation) };
                check(found, &|t| t.$method(0 $(, $argument)*).item().unwrap());
            })* };
        }
        check! {
            quantile(q, rule); nan_quantile(q, rule); median(); nan_median(); mode();
        }
        true
    }
}

fn rows() -> Ragged<Vec<i64>> {
    Ragged::from_nested(vec![vec![1_i64, 2, 3], vec![], vec![4]]).unwrap()
}

/// `2 * var * var`.
fn deep() -> Ragged<Vec<i64>> {
    Ragged::from_nested(vec![vec![vec![1_i64, 2], vec![3]], vec![vec![], vec![4, 5, 6], vec![7]]])
        .unwrap()
}

#[test]
fn lanes_without_elements_have_no_rank() {
    let empty = |row: &[usize], axis| Error::EmptyRow { row: row.to_vec(), axis };
    let text = "row [1] of axis 1 has no items, and there is no result for none";
    fails(rows().median(1).eval(), empty(&[1], 1), text);
    fails(rows().nan_median(1).eval(), empty(&[1], 1), text);
    fails(rows().mode(1).keepdims().eval(), empty(&[1], 1), text);
    fails(rows().quantile(1, 0.5, Interpolation::Linear).eval(), empty(&[1], 1), text);
    fails(rows().quantiles(1, [0.5, 1.0], Interpolation::Linear).eval(), empty(&[1], 1), text);
    fails(rows().nan_quantiles(1, [0.0; 0], Interpolation::Linear).eval(), empty(&[1], 1), text);
    let text = "row [1, 0] of axis 2 has no items, and there is no result for none";
    fails(deep().median(2).eval(), empty(&[1, 0], 2), text);
    assert_eq!(deep().median([1, 2]).to_vec().unwrap(), [2.0, 5.5]);
    assert_eq!(rows().median(0).to_vec().unwrap(), [2.5, 2.0, 3.0]);
    let content = Tensor::from_vec([2, 0], Vec::<i64>::new()).unwrap();
    let offsets = lensor::ragged::Offsets::from_lengths([2, 0]).unwrap();
    let hollow = Ragged::new([2], offsets, content).unwrap();
    let none = Error::EmptyReduction { axis: 2, shape: vec![2, usize::MAX, 0] };
    fails(hollow.median(2).eval(), none.clone(), &hollow.max(2).eval().unwrap_err().to_string());
    fails(
        hollow.quantiles(2, [0.5], Interpolation::Linear).eval(),
        none.clone(),
        &none.to_string(),
    );
    fails(
        hollow.median(1).eval(),
        empty(&[1], 1),
        "row [1] of axis 1 has no items, and there is no result for none",
    );
    let counts = hollow.histogram_along(2, Edges::new([0, 1, 2]).unwrap()).eval().unwrap();
    assert_eq!(
        (counts.form().unwrap().to_string(), counts.to_vec().unwrap()),
        ("2 * var * 2".into(), vec![0; 4])
    );
    let counts = hollow.histogram_along(1, Edges::new([0, 1, 2]).unwrap()).eval().unwrap();
    assert_eq!(counts.form().unwrap().to_string(), "2 * 2 * 0");
}

#[test]
fn axes_and_quantiles_that_are_refused() {
    let crosses = |axis, crossed| Error::RaggedAxes { axis, crossed };
    let text = "axis 0 cannot cross axis 1, whose rows differ in length: `padded` or `as_fixed` makes that one a fixed axis";
    fails(rows().sort_by(0, compare).eval(), crosses(0, 1), text);
    fails(rows().argsort_by(0, compare).eval(), crosses(0, 1), text);
    fails(rows().sort_by_key(0, SortOrder::Ascending, |x| x).eval(), crosses(0, 1), text);
    fails(rows().histogram_along(0, Edges::new([0, 1]).unwrap()).eval(), crosses(0, 1), text);
    fails(rows().quantiles(0, [0.5], Interpolation::Linear).eval(), crosses(0, 1), text);
    assert_eq!(deep().median(1).eval().err(), deep().max(1).eval().err());
    let axis = Error::Axis { axis: 2, rank: 2 };
    let text = "axis 2 does not exist: the rank is 2";
    fails(rows().sort_by(2, compare).eval(), axis.clone(), text);
    fails(rows().quantiles(2, [0.5], Interpolation::Linear).eval(), axis.clone(), text);
    fails(rows().median(2).eval(), axis.clone(), text);
    fails(rows().mode([2]).explain(), axis, text);
    assert_eq!(rows().median([1, 1]).form().err(), Some(Error::RepeatedAxis { axis: 1 }));
    let wrong = Error::Quantile { quantile: 1.5 };
    let text = wrong.to_string();
    fails(rows().quantile(1, 1.5, Interpolation::Linear).extents(), wrong.clone(), &text);
    fails(rows().quantile(1, 1.5, Interpolation::Linear).form(), wrong.clone(), &text);
    fails(rows().quantile(1, 1.5, Interpolation::Linear).eval(), wrong.clone(), &text);
    fails(rows().quantiles(1, [0.5, 1.5], Interpolation::Linear).extents(), wrong.clone(), &text);
    fails(rows().quantiles(1, [0.5, 1.5], Interpolation::Linear).explain(), wrong, &text);
}

/// The first in row-major order, however lanes lie.
#[test]
fn the_first_element_that_fails_is_told() {
    let content = Tensor::from_vec([3, 2], vec![1, 2, 3, -4, -5, 6]).unwrap();
    let offsets = lensor::ragged::Offsets::from_lengths([1, 2]).unwrap();
    let r = Ragged::new([2], offsets, content).unwrap();
    let index = |error: Error| match error {
        Error::Cast { index, .. } => index,
        error => panic!("{error}"),
    };
    for axes in [vec![0], vec![1], vec![2], vec![1, 2], vec![0, 1, 2]] {
        let found = r.cast::<u8>().median(&axes).eval().map(drop).unwrap_err();
        assert_eq!(index(found), [1, 0, 1], "{axes:?}");
    }
    for axis in [1, 2] {
        let found = r.cast::<u8>().sort_by(axis, u8::cmp).eval().map(drop).unwrap_err();
        assert_eq!(index(found), [1, 0, 1]);
    }
}

/// Comparisons that are no order, and keys that are all the same.
#[test]
fn closures_may_be_anything() {
    let mut random = Random(3);
    let model = Model::random_of(&[Some(300), None], &mut random);
    let r = model.build(-1, &mut random);
    let rotten = [Ordering::Less, Ordering::Greater, Ordering::Equal];
    let sorted =
        r.sort_by(1, |a, b| rotten[((a * 31) ^ b) as usize % 3]).sort(1, SortOrder::Ascending);
    assert_eq!(sorted.eval().unwrap(), r.sort(1, SortOrder::Ascending).eval().unwrap());
    let same = r.sort_by_key(1, SortOrder::Descending, |_| 7_u8).eval().unwrap();
    assert_eq!(same, r);
}

#[test]
fn operations_say_what_they_do() {
    let text = rows().sort_by(1, compare).explain().unwrap().to_string();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("sort by comparison along axis 1, row by row, of:"), "{text}");
    assert_eq!(lines.last(), Some("rows of 2 items: sorted as it is, by comparisons"), "{text}");
    let text = deep().median([1, 2]).explain().unwrap().to_string();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("quantiles over axes [1, 2], of:"), "{text}");
    let last = "lanes of 4 elements: ranks [1, 2] of 8-byte keys selected, unless it has NaN";
    assert_eq!(lines.last(), Some(last), "{text}");
    let text = rows().partition(1, 1, SortOrder::Descending).to_string();
    assert!(
        text.starts_with("descending partition along axis 1, row by row, not computed yet"),
        "{text}"
    );
    let text = rows().mode(1).to_string();
    assert!(text.starts_with("mode over axes [1], not computed yet"), "{text}");
}

#[test]
fn threads_give_the_same_bits() {
    let mut random = Random(8);
    let lens: Vec<usize> =
        (0..3000).map(|k| if k % 500 == 7 { 4000 } else { 1 + random.below(40) }).collect();
    let items: usize = lens.iter().sum();
    let data: Vec<f64> = (0..items).map(|_| float(random.below(1 << 20) as i64) * 1.5).collect();
    let offsets = lensor::ragged::Offsets::from_lengths(lens).unwrap();
    let r = Ragged::new([3000], offsets, Tensor::from(data)).unwrap();
    let bins = Uniform::new(0.0, 6.0, 7).unwrap();
    let all = || {
        [
            bits(r.median(1).to_vec().unwrap()),
            bits(r.nan_quantile(0, 0.3, Interpolation::Linear).to_vec().unwrap()),
            bits(r.mode(1).to_vec().unwrap()),
            bits(r.nan_quantiles(1, [0.1, 0.9], Interpolation::Linear).to_vec().unwrap()),
            bits(r.sort_by(1, |a, b| b.total_cmp(a)).to_vec().unwrap()),
            bits(r.sort_by_key(1, SortOrder::Ascending, |x| -x).to_vec().unwrap()),
            bits(r.partition(1, 5, SortOrder::Ascending).to_vec().unwrap()),
            r.histogram_along(1, &bins).to_vec().unwrap(),
        ]
    };
    let expected = pool(1).install(all);
    for threads in [2, 3] {
        assert!(pool(threads).install(all) == expected, "{threads} threads");
    }
}
