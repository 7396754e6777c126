//! Filters of folds, scans, windows and segments, and what is given where none is left, against lists of what is kept.

use crate::support::Random;
use lensor::prelude::*;
use lensor::ragged::{Ragged, ReduceRagged};
use lensor::reduce::{Max, Maybe, Or, SkipNan, Sum, Variance};
use lensor::{Error, Tensor};
use quickcheck::quickcheck;

/// A result of the elements of `row` in a range that are kept; `None` of none.
fn kept<U>(
    row: &[(i64, bool)],
    range: std::ops::Range<usize>,
    fold: impl Fn(&[i64]) -> U,
) -> Option<U> {
    let kept: Vec<i64> = row[range].iter().filter(|(_, keep)| *keep).map(|(x, _)| *x).collect();
    (!kept.is_empty()).then(|| fold(&kept))
}

fn largest(kept: &[i64]) -> i64 {
    kept.iter().copied().max().unwrap()
}

/// Rows of parts of a leaf, and of several leaves.
#[test]
fn long_rows_are_filtered_as_lists_are() {
    let mut random = Random(7);
    for columns in [16, 17, 64, 65, 130, 511, 512, 513, 1500] {
        let item = |random: &mut Random| (random.below(50) as i64, random.below(3) == 0);
        let items: Vec<(i64, bool)> = (0..2 * columns).map(|_| item(&mut random)).collect();
        let shape = [2, columns];
        let t = Tensor::from_vec(shape, items.iter().map(|x| x.0).collect()).unwrap();
        let mask = Tensor::from_vec(shape, items.iter().map(|x| x.1).collect()).unwrap();
        let sums = t.sum(1).filter(&mask).to_vec().unwrap();
        let places = t.argmax(1).filter(&mask).to_vec().unwrap();
        for ((row, sum), place) in items.chunks(columns).zip(sums).zip(places) {
            assert_eq!(kept(row, 0..columns, |kept| kept.iter().sum()), Some(sum), "{columns}");
            let most = kept(row, 0..columns, largest).unwrap();
            assert_eq!(row.iter().position(|x| *x == (most, true)), Some(place), "{columns}");
        }
        let none = Tensor::full(shape, false).unwrap();
        assert_eq!(t.max(1).filter(&none).or(-1).to_vec().unwrap(), [-1, -1]);
    }
}

quickcheck! {
    fn what_is_kept_is_folded(seed: u64) -> bool {
        let mut random = Random(seed);
        let (rows, columns) = (1 + random.below(5), 1 + random.below(40));
        let often = 1 + random.below(6);
        let item = |random: &mut Random| (random.below(100) as i64, random.below(often) == 0);
        let all: Vec<(i64, bool)> = (0..rows * columns).map(|_| item(&mut random)).collect();
        let lanes: Vec<&[(i64, bool)]> = all.chunks(columns).collect();
        let t = Tensor::from_vec([rows, columns], all.iter().map(|x| x.0).collect()).unwrap();
        let mask = Tensor::from_vec([rows, columns], all.iter().map(|x| x.1).collect()).unwrap();
        // Rows, and the same as columns.
        let columns_of = |t: &Tensor<Vec<i64>>| t.view().transpose([1, 0]).unwrap().eval().unwrap();
        let across = columns_of(&t);
        let mask_across = mask.view().transpose([1, 0]).unwrap().eval().unwrap();
        let untransposed = |found: Vec<i64>, length: usize| {
            Tensor::from_vec([length, rows], found).unwrap().transpose([1, 0]).unwrap().to_vec().unwrap()
        };
        let window = 1 + random.below(columns);
        let cut = random.below(columns + 1);
        let ranges: Vec<Vec<std::ops::Range<usize>>> = vec![
            vec![0..columns],
            (0..columns).map(|k| 0..k + 1).collect(),
            (0..=columns - window).map(|k| k..k + window).collect(),
            vec![0..cut, cut..columns],
        ];
        for (kind, ranges) in ranges.iter().enumerate() {
            let model = |fold: fn(&[i64]) -> i64, none: i64| -> Vec<i64> {
                let of_row = |row: &&[(i64, bool)]| -> Vec<i64> {
                    ranges.iter().map(|range| kept(row, range.clone(), fold).unwrap_or(none)).collect()
                };
                lanes.iter().flat_map(of_row).collect()
            };
            macro_rules! found {
                ($t:expr, $mask:expr, $axis:expr, $value:expr, $name:ident $reducer:expr) => {
                    match kind {
                        0 => $t.$name($axis).filter($mask).or($value).to_vec(),
                        1 => $t.scan($axis, $reducer).filter($mask).or($value).to_vec(),
                        2 => $t.rolling($axis, window).$name().filter($mask).or($value).to_vec(),
                        _ => $t.segments($axis, [0, cut, columns]).fold($reducer).filter($mask).or($value).to_vec(),
                    }.unwrap()
                };
            }
            let expected = model(largest, -1);
            assert_eq!(found!(t, &mask, 1, -1, max Max), expected, "{kind}");
            assert_eq!(untransposed(found!(across, &mask_across, 0, -1, max Max), ranges.len()), expected);
            // A sum of none is not 0 if that is said.
            let expected = model(|kept| kept.iter().sum(), -7);
            assert_eq!(found!(t, &mask, 1, -7, sum Sum), expected, "{kind}");
            assert_eq!(untransposed(found!(across, &mask_across, 0, -7, sum Sum), ranges.len()), expected);
        }
        // The other way round, and by reducers.
        let expected = t.max(1).filter(&mask).or(-1).to_vec().unwrap();
        assert_eq!(t.max(1).or(-1).filter(&mask).to_vec().unwrap(), expected);
        assert_eq!(t.fold(1, Or::new(Max, -1)).filter(&mask).to_vec().unwrap(), expected);
        let options = t.fold(1, Maybe(Max)).filter(&mask).to_vec().unwrap();
        assert_eq!(options.into_iter().map(|x| x.unwrap_or(-1)).collect::<Vec<_>>(), expected);
        // Ragged rows of what is kept give the same, and those that a filter empties.
        let lists = lanes.iter().map(|row| row.iter().filter(|x| x.1).map(|x| x.0).collect::<Vec<_>>());
        let r = Ragged::from_nested(lists.collect::<Vec<_>>()).unwrap();
        assert_eq!(r.max(1).or(-1).eval_dense().unwrap().to_vec().unwrap(), expected);
        let whole = || t.as_ragged();
        assert_eq!(whole().max(1).filter(mask.as_ragged()).or(-1).eval_dense().unwrap().to_vec().unwrap(), expected);
        let sums = r.sum(1).or(-7).eval_dense().unwrap().to_vec().unwrap();
        sums == whole().sum(1).filter(mask.as_ragged()).or(-7).eval_dense().unwrap().to_vec().unwrap()
    }
}

/// Nothing to fold, whether there was nothing or all was left out, is an error unless a value is given.
#[test]
fn nothing_is_given_a_value() {
    let nan = Tensor::from(vec![f64::NAN, 2.0, f64::NAN]);
    let none = Tensor::from_vec([2, 0], vec![0.0; 0]).unwrap();
    assert!(matches!(none.max(1).eval(), Err(Error::EmptyReduction { .. })));
    assert_eq!(none.max(1).or(5.0).to_vec().unwrap(), [5.0, 5.0]);
    assert_eq!(none.sum(1).or(5.0).to_vec().unwrap(), [5.0, 5.0]);
    assert_eq!(
        nan.segments(0, [0, 1, 3, 3]).fold(SkipNan(Sum)).or(-1.0).to_vec().unwrap(),
        [-1.0, 2.0, -1.0]
    );
    let several = nan.fold(0, (SkipNan(Max), SkipNan(Sum))).filter(false).or((-1.0, -2.0));
    assert_eq!(several.item(), Ok((-1.0, -2.0)));
    let none_left = nan.max(0).filter(false).item();
    assert_eq!(none_left.unwrap_err(), Error::NothingLeft { index: vec![] });
    assert!(matches!(
        nan.cummax(0).filter(nan.greater(0.0)).eval(),
        Err(Error::NothingLeft { .. })
    ));
    // What does not fit is an error all the same.
    let large = Tensor::from(vec![i64::MAX, 1]);
    assert!(matches!(large.sum(0).or(0).item(), Err(Error::Overflow { .. })));
    assert_eq!(large.cumsum(0).exclusive().or(-1).to_vec().unwrap(), [-1, i64::MAX]);
    let spread = nan.scan(0, SkipNan(Variance::default())).or(-1.0).ddof(0).map(|x| x + 1.0);
    assert_eq!(spread.to_vec().unwrap(), [0.0, 1.0, 1.0]);
    assert_eq!(large.scan(0, Variance::default()).ddof(0).to_vec().unwrap()[0], 0.0);
}

/// A mask never repeats the elements.
#[test]
fn masks_are_stretched_to_operands_alone() {
    let t = Tensor::from(vec![1, 2, 3]);
    let wide = Tensor::full([2, 3], true).unwrap();
    let text = "operands could not be broadcast: argument 2 has shape (2, 3), the result so far is (3,), axis 0: 2 vs 1";
    for error in [
        t.sum(..).filter(&wide).eval().unwrap_err(),
        t.cumsum(0).filter(&wide).eval().unwrap_err(),
        t.rolling(0, 2).sum().filter(&wide).eval().unwrap_err(),
        t.segments(0, [0, 3]).fold(Sum).filter(&wide).eval().unwrap_err(),
    ] {
        assert_eq!(
            error.to_string().replace('[', "(").replace("(3]", "(3,)").replace(']', ")"),
            text
        );
    }
    let one = Tensor::from_vec([1, 3], vec![1, 2, 3]).unwrap();
    let error = one.sum(1).filter(&wide).eval().unwrap_err();
    assert!(matches!(error, Error::Operands { argument: 2, axis: 0, .. }), "{error}");
    assert!(matches!(
        t.sum(0).filter(Tensor::full([2], true).unwrap()).eval(),
        Err(Error::Operands { axis: 0, .. })
    ));
    let r = one.as_ragged();
    let error = r.sum(1).filter(wide.as_ragged()).eval().unwrap_err();
    assert!(matches!(error, Error::Operands { argument: 2, axis: 0, .. }), "{error}");
    assert_eq!(one.sum(1).filter(Tensor::from(vec![true, false, true])).to_vec().unwrap(), [4_i64]);
}

/// A function of results sees results alone.
#[test]
fn functions_see_results_alone() {
    let index = |i: &[usize]| i64::from(i[0] != 4 || i[1] != 0);
    let t = Tensor::from_index([8, 16], |i| index(i)).unwrap();
    let inverse = |s: i64| 60 / s;
    assert_eq!(t.cumsum(0).map(inverse).to_vec().unwrap()[4 * 16..][..2], [15, 12]);
    assert_eq!(t.rolling(0, 6).sum().map(inverse).to_vec().unwrap()[..2], [12, 10]);
    let (u, mask) = (Tensor::from(vec![0_i64, 5]), Tensor::from(vec![false, true]));
    let maxima = u.segments(0, [0, 1, 2]).max().filter(&mask).map(inverse);
    assert!(matches!(maxima.eval(), Err(Error::NothingLeft { .. })));
}

/// What is kept of a run is folded as a run of its own, and of columns where it is: the same bits.
#[test]
fn floats_that_are_kept_are_added_in_order() {
    let mut random = Random(7);
    let (rows, columns) = (130, 37);
    let t = Tensor::from_index([rows, columns], |_| random.below(1000) as f64 / 7.0).unwrap();
    for often in [1, 2, 9, 5000] {
        let mask = Tensor::from_index([rows, columns], |_| random.below(often) == 0).unwrap();
        let nan = choose(&mask, &t, f64::NAN).eval().unwrap();
        let bits = |sums: &[f64]| sums.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        let along: Vec<f64> = (0..rows)
            .map(|row| {
                let kept = (0..columns).filter(|&column| mask.get([row, column]).unwrap());
                let kept: Vec<f64> = kept.map(|column| t.get([row, column]).unwrap()).collect();
                Tensor::from(kept).sum(0).item().unwrap()
            })
            .collect();
        assert_eq!(bits(&t.sum(1).filter(&mask).to_vec().unwrap()), bits(&along));
        assert_eq!(bits(&nan.nan_sum(1).to_vec().unwrap()), bits(&along));
        // What is left out of columns is as -0.0; of nothing the sum is 0.
        let across = choose(&mask, &t, -0.0).sum(0).to_vec().unwrap();
        let across: Vec<f64> = across.into_iter().map(|sum| sum + 0.0).collect();
        assert_eq!(bits(&t.sum(0).filter(&mask).to_vec().unwrap()), bits(&across));
        assert_eq!(bits(&nan.nan_sum(0).to_vec().unwrap()), bits(&across));
        // Positions are those among all.
        let first = |column: usize| {
            let kept = (0..rows).filter(|&row| mask.get([row, column]).unwrap());
            kept.map(|row| (t.get([row, column]).unwrap(), row))
                .reduce(|a, b| if b.0 > a.0 { b } else { a })
        };
        let largest: Vec<usize> =
            (0..columns).map(|column| first(column).map_or(rows, |(_, row)| row)).collect();
        assert_eq!(t.argmax(0).filter(&mask).or(rows).to_vec().unwrap(), largest);
    }
}
