//! Cost, and what is computed when, where lengths or storage are out of the ordinary.

use crate::support::offline;
use lensor::gufunc::{Gufunc, inner1d, norm};
use lensor::prelude::*;
use lensor::ragged::{LanesRagged, Offsets, Ragged, ReduceRagged};
use lensor::reduce::Reducer;
use lensor::storage::Duplicates;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Optional axes stand in any place; extents of 1 stretch beside them.
#[test]
fn cores_stretch_beside_axes_that_are_missing() {
    let sum = |signature: &str| {
        Gufunc::<[f64; 2], [f64; 1], _>::each(signature, |[a, _], [mut out]| {
            out[0] = a.iter().sum::<f64>();
        })
        .unwrap()
    };
    let a = Tensor::from_nested([[1.0], [2.0]]).unwrap();
    let b = Tensor::from(vec![0.0; 4]);
    let f = sum("(m,n|1,p?),(n|1)->()");
    assert_eq!(f.call((&a, &b)).item().unwrap(), 12.0);
    assert_eq!(f.call_ragged((&a, &b)).eval().unwrap()[0].to_vec().unwrap(), [12.0]);
    let a = Tensor::from_nested([[1.0, 2.0, 3.0, 4.0, 5.0]]).unwrap();
    let f = sum("(n|1,m,p?),(n|1)->()");
    assert_eq!(f.call((&a, &b)).item().unwrap(), 60.0);
    assert_eq!(f.call_ragged((&a, &b)).eval().unwrap()[0].to_vec().unwrap(), [60.0]);
}

/// In time of the items: there would be 10^10 rows times places.
#[test]
fn one_long_row_does_not_cost_as_much_for_all() {
    let mut lengths = vec![3_usize; 100_000];
    lengths[7] = 100_000;
    let offsets = Offsets::from_lengths(lengths.iter().copied()).unwrap();
    let items = lengths.iter().sum::<usize>();
    let r = Ragged::new([100_000], offsets, Tensor::full([items], 1_i64).unwrap()).unwrap();
    let sums = r.sum(0).to_vec().unwrap();
    assert_eq!((sums.len(), &sums[..4]), (100_000, &[100_000, 100_000, 100_000, 1][..]));
}

#[test]
fn sparse_rows_are_not_read_one_by_one_in_silence() {
    let coordinates =
        || Tensor::from_coordinates([1_usize << 40], 0.0, &[[5]], vec![1.0], Duplicates::Refuse);
    let offsets = Offsets::new(vec![0_u64, 1 << 40]).unwrap();
    let r = Ragged::new([1], offsets, coordinates().unwrap()).unwrap();
    let error = Error::WouldDensify { stored: 1, dense: 1 << 40 };
    assert_eq!(r.sum(1).eval().unwrap_err(), error);
    assert_eq!(r.view().flip(1).unwrap().sum(1).eval().unwrap_err(), error);
    assert_eq!(r.view().flip(1).unwrap().get([0, 0]), Ok(0.0));
    assert_eq!(r.view().padded(1, None, 0.0).map(drop).unwrap_err(), error);
    // What is no item is not read.
    let few = r.view().clip(1, 4..7).unwrap();
    assert_eq!(few.view().padded(1, None, 9.0).unwrap().to_vec().unwrap(), [0.0, 1.0, 0.0]);
    assert!(few.padded(1, Some(1 << 40), 9.0).is_ok());
}

/// A deferred operation is computed once, wherever it stands in an evaluation.
#[test]
fn deferred_operands_are_computed_once() {
    let reads = AtomicUsize::new(0);
    let t = Tensor::from(vec![1_i64, 2]);
    let counted = t.view().lazy().map(|x: i64| {
        reads.fetch_add(1, Ordering::Relaxed);
        x
    });
    let once = |run: &dyn Fn()| {
        reads.store(0, Ordering::Relaxed);
        run();
        assert_eq!(reads.load(Ordering::Relaxed), 2);
    };
    let r = Ragged::from_nested(vec![vec![1_i64, 2], vec![3]]).unwrap();
    let d = counted.cumsum(0);
    let column = d.view().insert_axis(1).unwrap();
    once(&|| {
        let sum = (&r * &column + &column).eval().unwrap();
        assert_eq!(sum.to_string(), "[[2, 3], [12]]");
    });
    let add = Gufunc::<[i64; 2], [i64; 1], _>::each("(),()->()", |[a, b], [mut out]| {
        out[0] = a[0] + b[0];
    })
    .unwrap();
    once(&|| {
        let twice = add.call_ragged((&column, &column)).deferred();
        let fourfold = add.call_ragged((&twice, &twice)).deferred();
        let [sum] = add.call_ragged((&fourfold, &r)).eval().unwrap();
        assert_eq!(sum.to_string(), "[[5, 6], [15]]");
    });
    once(&|| {
        let twice = add.call_ragged((&column, &column)).deferred();
        assert_eq!(add.call_ragged((&column, &twice)).to_vec().unwrap(), [3, 9]);
    });
    let entries = t.to_sparse(0).unwrap();
    once(&|| {
        let zipped = lensor::expr::zip_stored((&entries, &d), 0, |(a, b)| a * b);
        assert_eq!((zipped + &d).to_vec().unwrap(), [2, 9]);
    });
    let minmax = Gufunc::<[i64; 1], [i64; 2], _>::each("(n)->(),()", |[a], [mut low, mut high]| {
        low[0] = *a.iter().min().unwrap();
        high[0] = *a.iter().max().unwrap();
    })
    .unwrap();
    once(&|| {
        let [low, _] = minmax.call([&d]).outputs();
        assert_eq!((low - &d).to_vec().unwrap(), [0, -2]);
    });
}

/// Nothing is computed for rows that do not align, or where there is nothing.
#[test]
fn what_is_not_needed_is_not_computed() {
    let t = Tensor::from(vec![i64::MAX, 1]);
    let overflows = t.sum(0);
    let none = Ragged::from_nested(vec![Vec::<i64>::new()]).unwrap();
    assert_eq!((&none + &overflows).eval().unwrap().to_string(), "[[]]");
    let a = Ragged::from_nested(vec![vec![1_i64, 2]]).unwrap();
    let b = Ragged::from_nested(vec![vec![i64::MAX, 1, 1]]).unwrap();
    let error = (&a + b.cumsum(1)).eval().unwrap_err();
    assert!(matches!(error, Error::RaggedOperands { .. }), "{error}");
    assert!((&a + b.view().select((.., ..2)).unwrap().cumsum(1)).eval().is_err());
    // A call finds destinations of other rows before its operands are computed.
    let (mut short, mut sums) = (Tensor::full([2], 0.0).unwrap(), Tensor::full([1], 0.0).unwrap());
    let lengths = norm().call_ragged([b.cumsum(1).cast::<f64>()]);
    let error = Error::Destination { expected: vec![2], found: vec![1] };
    assert_eq!(lengths.assign_to(&mut short).unwrap_err(), error);
    let error = lengths.assign_to(&mut sums).unwrap_err();
    assert!(matches!(error, Error::Overflow { .. }), "{error}");
    // So do assignments, and masks of other rows.
    let (mut out, scanned) = (a.clone(), b.cumsum(1));
    let longer = Error::RowLength { row: vec![0], axis: 1, items: 3, expected: 2 };
    assert_eq!(out.assign(&scanned).unwrap_err(), longer);
    assert_eq!(out.try_add_assign(&scanned).unwrap_err(), longer);
    let dense = Tensor::from_nested([[i64::MAX, 1, 1]]).unwrap();
    assert_eq!(out.assign(&dense.cumsum(1)).unwrap_err(), longer);
    let copy = Gufunc::<[i64; 1], [i64; 1], _>::each("()->()", |[x], [mut out]| out[0] = x[0]);
    let mask = Ragged::from_nested(vec![vec![true, true]]).unwrap();
    let error = copy.unwrap().call_ragged([&scanned]).filter(&mask).or([0]).eval().err();
    let shorter = Error::RowLength { row: vec![0], axis: 1, items: 2, expected: 3 };
    assert_eq!(error, Some(shorter));
    // Operands fail by what is deferred in them first, of any of them, and only then by elements.
    let wrong = || Ragged::from_nested(vec![vec![300_i64, 0, 0]]).unwrap().lazy().cast::<u8>();
    let call = inner1d().call_ragged((wrong().cast::<i64>(), b.cumsum(1)));
    let error = call.to_vec().unwrap_err();
    assert!(matches!(error, Error::Overflow { .. }), "{error}");
    let error = inner1d().call_ragged((wrong().cast::<i64>(), &b)).to_vec().unwrap_err();
    assert!(matches!(error, Error::Cast { .. }), "{error}");
}

/// The same where results or destinations depend on no element.
#[test]
fn nothing_is_computed_for_nothing() {
    let t = Tensor::from(vec![i64::MAX, 1]);
    let rows = Ragged::from_nested(vec![vec![i64::MAX, 1]]).unwrap();
    let (overflows, sums) = (t.sum(0), rows.cumsum(1).sum(1).keepdims());
    let none = Ragged::from_nested(vec![Vec::<i64>::new()]).unwrap();
    let both = || &none + &overflows + &sums;
    assert_eq!(both().eval().unwrap().to_string(), "[[]]");
    assert_eq!(both().sum(1).to_vec().unwrap(), [0]);
    assert_eq!(both().cumsum(1).eval().unwrap().to_string(), "[[]]");
    assert_eq!(both().sort(1, SortOrder::Ascending).eval().unwrap().to_string(), "[[]]");
    let shown = rows.cumsum(1).select((.., ..0)).unwrap();
    assert_eq!(shown.sum(1).to_vec().unwrap(), [0]);
    let offsets = Offsets::new(vec![0_u32, 1, 3]).unwrap();
    let hollow = Ragged::new([2], offsets, Tensor::full([3, 0], 0_i64).unwrap()).unwrap();
    assert_eq!((&hollow + &overflows).sum(2).to_vec().unwrap(), [0; 3]);

    let mut out = none.clone();
    out.assign(&overflows).unwrap();
    out.assign(&sums).unwrap();
    out.try_add_assign(&overflows).unwrap();
    let (one, zero) = (Tensor::from(vec![1_i64]), Tensor::from(vec![0_i64]));
    out.assign(&one / &zero).unwrap();
    let error = out.assign(&one / &Tensor::from(vec![0_i64, 0])).unwrap_err();
    assert_eq!(error, Error::RowLength { row: vec![0], axis: 1, items: 2, expected: 0 });
}

/// To explain and to print reads only what is shown.
#[test]
fn printing_computes_nothing() {
    let never = |x: i64| -> i64 { panic!("{x} was read") };
    let r = Ragged::from_nested(vec![vec![1_i64, 2], vec![], vec![3]]).unwrap();
    let row = Tensor::from(vec![1_i64, 2, 3]).insert_axis(1).unwrap();
    let e = r.view().lazy().map(never).cumsum(1).sum(1);
    assert!(e.to_string().contains("not computed yet"), "{e}");
    let dense = (&r * row.view().lazy().map(never)).sum(1);
    let text = dense.explain().unwrap().to_string();
    assert!(text.contains("operand 2: evaluated first"), "{text}");

    let rows = r.view().lazy().map(|x| -> f64 { panic!("{x} was read") });
    let call = norm().call_ragged([&rows]).filter(r.sum(1).lazy().map(|x| never(x) > 0)).or([0.0]);
    let text = call.explain().unwrap().to_string();
    assert!(text.contains("operand 1: 3 * var, 1 core axes, evaluated first"), "{text}");
    assert!(text.ends_with("bytes: 24 read, 24 written"), "{text}");
    let call = call.keepdims().deferred();
    let text = "gufunc (n)->(), not computed yet: `.eval()?` computes it";
    assert_eq!((call.to_string(), call.form().unwrap().to_string()), (text.into(), "3 * 1".into()));
    let text = norm().call_ragged([&call]).explain().unwrap().to_string();
    assert!(text.contains("as long as operands that are evaluated first make them"), "{text}");

    // Offsets are those of an operand, or of none.
    let others = Ragged::from_nested(vec![vec![1_i64], vec![], vec![1, 2]]).unwrap();
    let text = (&r + 1).explain().unwrap().to_string();
    assert!(text.contains("3 rows of 1.0 items on average, offsets shared"), "{text}");
    let text = (&r + &others).explain().unwrap().to_string();
    assert!(text.contains("3 rows of 1.3 items on average, offsets joined"), "{text}");

    let constant = Tensor::constant([1_usize << 40], 7_u8).unwrap();
    let views = Ragged::from_views([1], vec![0], vec![1 << 40], 1, constant).unwrap();
    assert_eq!(views.to_string(), "[[7, 7, 7, .., 7, 7, 7]]");
    let text = views.view().flip(1).unwrap().to_string();
    assert_eq!(text, "[[7, 7, 7, .., 7, 7, 7]]");
}

#[test]
fn rows_beside_huge_extents_are_refused() {
    let huge = Tensor::constant([1_usize << 62], 1_u8).unwrap();
    for rows in [4, 5] {
        let r = Ragged::from_nested(vec![vec![1_u8]; rows]).unwrap();
        let error = (&r + &huge).eval().unwrap_err();
        assert!(matches!(error, Error::ShapeOverflow { .. }), "{error}");
    }
}

/// The first element: it depends on the order.
#[derive(Debug, Clone, Copy)]
struct First;

impl Reducer<i64> for First {
    type State = i64;
    type Out = i64;
    const COMMUTATIVE: bool = false;

    fn empty(&self) -> Option<i64> {
        None
    }

    fn first(&self, x: i64) -> i64 {
        x
    }

    fn step(&self, _state: &mut i64, _x: i64) {}

    fn combine(&self, _state: &mut i64, _later: i64) {}

    fn finish(&self, state: i64) -> i64 {
        state
    }
}

#[test]
fn reducers_that_depend_on_the_order_take_one_axis() {
    let t = Tensor::from_nested([[1_i64, 2], [3, 4]]).unwrap();
    let r = Ragged::from_nested(vec![vec![1_i64, 2], vec![3, 4]]).unwrap();
    let error = Error::Order { axes: vec![0, 1] };
    assert_eq!(t.fold([0, 1], First).eval().unwrap_err(), error);
    assert_eq!(r.fold([0, 1], First).eval().unwrap_err(), error);
    assert_eq!(r.fold(1, First).to_vec().unwrap(), [1, 3]);
}

/// Long rows of storage that is not memory are read row by row; an element that fails is named by its index.
#[test]
fn long_rows_of_storage_are_read_in_runs() {
    let offsets = Offsets::new(vec![0_u64, 40, 40, 100, 130]).unwrap();
    let r = |bad| {
        let content = Tensor::new([130], offline(130, bad)).unwrap();
        Ragged::new([4], offsets.clone(), content).unwrap()
    };
    let whole = r(0..0);
    let picked = whole.view().select((vec![3, 0, 2, 1],)).unwrap();
    let items = (100..130).chain(0..40).chain(40..100).collect::<Vec<i32>>();
    assert_eq!(picked.to_vec().unwrap(), items);
    let sums = picked.clone().sum(1).to_vec().unwrap();
    let rows = [&items[..30], &items[30..70], &items[70..], &[]];
    assert_eq!(sums, rows.map(|row| i64::from(row.iter().sum::<i32>())));
    let column = Tensor::from_vec([4, 1], vec![1, 2, 3, 4]).unwrap();
    let first = (&picked * &column).eval().unwrap().get([1, 3]).unwrap();
    assert_eq!(first, 6);
    let broken = r(57..58);
    let broken = broken.view().select((vec![3, 0, 2, 1],)).unwrap();
    let error = (&broken * &column).eval().unwrap_err();
    assert!(
        matches!(&error, Error::Storage { index: Some(index), .. } if index[..] == [2, 17]),
        "{error}"
    );

    let other = r(0..0);
    let both = lensor::ragged::concat(0, [whole.view(), other.view()]);
    assert_eq!(both.unwrap().sum(1).to_vec().unwrap().len(), 8);
}
