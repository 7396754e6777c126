//! Scans are folds of all prefixes of a lane.
//!
//! Longer than 400 lines because it is one family of laws.

use super::along::{Compose, InOrder, Largest, Small, Total, each_lane};
use crate::support::in_pools;
use lensor::arbitrary::Viewed;
use lensor::diff::Diff;
use lensor::prelude::*;
use lensor::reduce::{CompensatedSum, Min, Reducer, SkipNan, Sum, Undefined, WrappingSum};
use lensor::scan::{LazyScan, Scan};
use quickcheck::QuickCheck;

/// Results of a scan of one lane, one fold for each.
fn scanned<T: Copy, R: Reducer<T>>(
    reducer: &R,
    lane: &[T],
    exclusive: bool,
    reverse: bool,
) -> Vec<R::Out> {
    let n = lane.len();
    let part = |k: usize| match (exclusive, reverse) {
        (false, false) => 0..k + 1,
        (true, false) => 0..k,
        (false, true) => k..n,
        (true, true) => k + 1..n,
    };
    (0..n)
        .map(|k| {
            let mut states: Vec<(usize, T)> = part(k).map(|k| (k, lane[k])).collect();
            if reverse {
                states.reverse();
            }
            let mut state = None;
            for (position, x) in states {
                match &mut state {
                    None => state = Some(reducer.first_at(x, position)),
                    Some(state) => reducer.step_at(state, x, position),
                }
            }
            reducer.finish(state.or_else(|| reducer.empty()).unwrap())
        })
        .collect()
}

fn options<E: Expr, R: Reducer<E::Elem>>(
    scan: LazyScan<E, R>,
    exclusive: bool,
    reverse: bool,
) -> LazyScan<E, R> {
    let scan = if exclusive { scan.exclusive() } else { scan };
    if reverse { scan.reverse() } else { scan }
}

/// Whether a reducer scans as its folds say, in all directions, along every axis of a view.
fn scans_as_it_folds<R>(viewed: &Viewed<i32>, reducer: R) -> bool
where
    R: Reducer<i32> + Copy,
    R::Out: PartialEq + std::fmt::Debug,
{
    let (t, (shape, data)) = (viewed.tensor(), viewed.model());
    (0..shape.rank()).all(|axis| {
        [(false, false), (false, true), (true, false), (true, true)].into_iter().all(
            |(exclusive, reverse)| {
                if exclusive && reducer.empty().is_none() {
                    return options(t.scan(axis, reducer), true, reverse).eval().is_err();
                }
                let lane = |lane: &[i32]| scanned(&reducer, lane, exclusive, reverse);
                let (shape, expected) = each_lane(&shape, &data, axis, shape[axis], lane);
                let found = options(t.scan(axis, reducer), exclusive, reverse).eval().unwrap();
                assert_eq!(found.storage(), &expected, "{axis} {exclusive} {reverse}");
                found.shape() == shape
            },
        )
    })
}

#[test]
fn every_scan_is_a_fold_of_each_beginning() {
    fn law(viewed: Viewed<i32>) -> bool {
        scans_as_it_folds(&viewed, Compose)
            && scans_as_it_folds(&viewed, InOrder)
            && scans_as_it_folds(&viewed, Largest)
    }
    QuickCheck::new().quickcheck(law as fn(Viewed<i32>) -> bool);
}

/// Lanes and rows long enough for several blocks, groups and jobs.
#[test]
fn long_lanes_are_scanned_as_short_ones() {
    for shape in [
        vec![5000],
        vec![3, 2500],
        vec![2500, 3],
        vec![70_000],
        vec![35_000, 2],
        vec![2, 70, 1000],
        vec![30, 5000],
    ] {
        let count = shape.iter().product::<usize>();
        let data: Vec<i32> =
            (0..count as i32).map(|k| k.wrapping_mul(0x9e37_79b1_u32 as i32) >> 7).collect();
        let t = Tensor::from_vec(shape.clone(), data.clone()).unwrap();
        for axis in 0..shape.len() {
            for (exclusive, reverse) in [(false, false), (false, true), (true, false), (true, true)]
            {
                let running = |lane: &[i32]| {
                    let n = lane.len();
                    let order: Vec<usize> =
                        if reverse { (0..n).rev().collect() } else { (0..n).collect() };
                    let mut results = vec![0; n];
                    let mut state = (1, 0);
                    for k in order {
                        let before = state;
                        Compose.step(&mut state, lane[k]);
                        results[k] = Compose.finish(if exclusive { before } else { state });
                    }
                    results
                };
                let (_, expected) = each_lane(&shape, &data, axis, shape[axis], running);
                let found = in_pools(|| {
                    options(t.scan(axis, Compose), exclusive, reverse).eval()?.to_vec()
                });
                assert!(found == expected, "{shape:?} {axis} {exclusive} {reverse}");
            }
        }
    }
}

/// Blocks depend on the axis alone: neither threads nor views nor neighbours show in a sum of floats.
#[test]
fn sums_of_floats_have_the_same_bits() {
    let (rows, columns) = (1500, 700);
    let t = Tensor::from_index([rows, columns], |index| {
        ((index[0] * 37 + index[1] * 101) as f64).sin()
    })
    .unwrap();
    let bits =
        |t: Tensor<Vec<f64>>| -> Vec<u64> { t.storage().iter().map(|x| x.to_bits()).collect() };
    for axis in 0..2 {
        let found = in_pools(|| Ok(bits(t.scan(axis, Total).eval()?)));
        let turned = t.view().transpose([1, 0]).unwrap();
        let across = turned.scan(1 - axis, Total).eval().unwrap();
        assert!(found == bits(across.transpose([1, 0]).unwrap().eval().unwrap()), "a view shows");
        let fused = ((&t * 2.0) / 2.0).scan(axis, Total).eval().unwrap();
        assert!(found == bits(fused), "an expression shows");
        let column = t.view().slice(1 - axis, 5..6).unwrap().scan(axis, Total).eval().unwrap();
        let (_, all) =
            each_lane(&[rows, columns], &found, axis, 1, |lane| vec![lane[lane.len() - 1]]);
        assert_eq!(all[5], column.to_vec().unwrap().last().unwrap().to_bits());
    }
    let lane = Tensor::from_index([1_000_000], |index| (index[0] as f64).cos()).unwrap();
    let one = in_pools(|| Ok(bits(lane.scan(0, Total).eval()?)));
    let exact: f64 = lane.storage().iter().sum();
    assert!((f64::from_bits(one[999_999]) - exact).abs() < 1e-9);
}

/// Sums of all prefixes in the order that is promised: groups of four in blocks of 128.
fn sums_in_order(lane: &[f64]) -> Vec<f64> {
    let join = |a: Option<f64>, b: Option<f64>| match (a, b) {
        (Some(a), Some(b)) => Some(a + b),
        (a, b) => a.or(b),
    };
    let (mut blocks, mut sums) = (None, Vec::new());
    for block in lane.chunks(128) {
        let mut groups = None;
        for four in block.chunks(4) {
            let before = join(blocks, groups);
            let mut state = 0.0;
            for k in 0..four.len() {
                state = match k {
                    0 => four[0],
                    1 => four[0] + four[1],
                    2 => (four[0] + four[1]) + four[2],
                    _ => (four[0] + four[1]) + (four[2] + four[3]),
                };
                sums.extend(join(before, Some(state)));
            }
            groups = join(groups, Some(state));
        }
        blocks = join(blocks, groups);
    }
    sums
}

/// Tables of any width, of which the last two are written past the caches: rows that begin at one place of
/// a cache line, and rows that do not.
#[test]
fn columns_are_summed_in_the_order_of_lanes() {
    for (rows, columns) in [(1, 3), (4, 40), (7, 33), (261, 70), (2100, 1000), (2100, 1001)] {
        let t = Tensor::from_index([rows, columns], |index| {
            ((index[0] * 37 + index[1] * 101) as f64).sin() * 1e3
        })
        .unwrap();
        let sums = || {
            let found = t.scan(0, Sum).eval()?;
            Ok(found.storage().iter().map(|x| x.to_bits()).collect::<Vec<_>>())
        };
        let large = rows * columns > 1 << 20;
        let found = if large { sums().unwrap() } else { in_pools(sums) };
        for column in (0..columns).step_by(if large { 7 } else { 1 }) {
            let lane: Vec<f64> = (0..rows).map(|row| t.storage()[row * columns + column]).collect();
            for (row, sum) in sums_in_order(&lane).into_iter().enumerate() {
                assert_eq!(found[row * columns + column], sum.to_bits(), "{row} {column}");
            }
        }
    }
}

/// Every place of a group of rows, in the middle and at the end of a few columns.
#[test]
fn an_overflow_in_a_table_names_the_first_result() {
    for row in 4..13 {
        for column in [0, 31, 32, 40, 69] {
            let mut t = Tensor::full([13, 70], 0).unwrap();
            for (row, column) in [(row, column), (row + 1, 3), (row, column + 1)] {
                if row < 13 && column < 70 {
                    t.set([row, column], 200).unwrap();
                }
            }
            let error = t.scan(0, Small).eval().unwrap_err();
            assert_eq!(error, Error::Overflow { index: vec![row, column], target: "i8" });
        }
    }
}

#[test]
fn special_values_run_on() {
    let t = Tensor::from_vec([4], vec![-0.0, f64::INFINITY, f64::NEG_INFINITY, 1.0]).unwrap();
    let found = t.scan(0, Total).eval().unwrap().to_vec().unwrap();
    assert!(found[0].to_bits() == (-0.0_f64).to_bits() && found[1] == f64::INFINITY);
    assert!(found[2].is_nan() && found[3].is_nan());
}

#[test]
fn results_go_to_views_of_any_storage() {
    let t = Tensor::from_nested([[1.0, 2.0], [3.0, 4.0]]).unwrap();
    let mut out = Tensor::full([2, 4], 0.0).unwrap();
    let mut every_other = out.view_mut().select((.., lensor::Select::every(2_usize))).unwrap();
    t.scan(0, Total).assign_to(&mut every_other).unwrap();
    assert_eq!(out.to_vec().unwrap(), [1.0, 0.0, 2.0, 0.0, 4.0, 0.0, 6.0, 0.0]);
    let mut wrong = Tensor::full([2, 3], 0.0).unwrap();
    assert!(matches!(t.scan(0, Total).assign_to(&mut wrong), Err(Error::Destination { .. })));
}

#[test]
fn an_overflow_names_the_first_result() {
    let mut data = vec![0; 3000];
    (data[1500], data[1501], data[2999]) = (100, 100, -100);
    let t = Tensor::from_vec([3000], data).unwrap();
    let expected = |index: &[usize]| Error::Overflow { index: index.to_vec(), target: "i8" };
    assert_eq!(t.scan(0, Small).eval().unwrap_err(), expected(&[1501]));
    assert_eq!(t.scan(0, Small).exclusive().eval().unwrap_err(), expected(&[1502]));
    assert!(t.scan(0, Small).reverse().eval().is_ok());
    let table = Tensor::from_nested([[1, 100, 100], [1, 1, 100], [1, 100, 100]]).unwrap();
    let error = table.scan(0, Small).eval().unwrap_err();
    assert_eq!(error, expected(&[1, 2]));
    assert_eq!(error.to_string(), "the result at [1, 2] does not fit i8");
}

/// The last positive element.
struct Positive;

impl Reducer<i32> for Positive {
    type State = Option<i32>;
    type Out = i32;

    fn empty(&self) -> Option<Option<i32>> {
        Some(None)
    }

    fn first(&self, x: i32) -> Option<i32> {
        (x > 0).then_some(x)
    }

    fn step(&self, state: &mut Option<i32>, x: i32) {
        self.combine(state, self.first(x));
    }

    fn combine(&self, state: &mut Option<i32>, later: Option<i32>) {
        *state = later.or(*state);
    }

    fn undefined(&self, state: &Option<i32>) -> Option<Undefined> {
        state.is_none().then_some(Undefined::Empty)
    }

    fn finish(&self, state: Option<i32>) -> i32 {
        state.unwrap_or_default()
    }
}

#[test]
fn a_result_of_nothing_is_named() {
    let t = Tensor::from_nested([[1, 0, 2], [0, 0, 3]]).unwrap();
    let error = t.scan(1, Positive).eval().unwrap_err();
    assert_eq!(error, Error::NothingLeft { index: vec![1, 0] });
    assert_eq!(t.scan(0, Positive).eval().unwrap_err(), Error::NothingLeft { index: vec![0, 1] });
    assert_eq!(
        t.scan(1, Positive).exclusive().eval().unwrap_err(),
        Error::NothingLeft { index: vec![0, 0] }
    );
    let right = t.view().slice(1, 2..3).unwrap();
    assert_eq!(right.scan(0, Positive).eval().unwrap().to_vec().unwrap(), [2, 3]);
}

#[test]
fn errors_name_what_is_wrong() {
    let t = Tensor::from_vec([2, 2], vec![1, 2, 3, 0]).unwrap();
    assert_eq!(t.scan(2, Compose).eval().unwrap_err(), Error::Axis { axis: 2, rank: 2 });
    let error = t.scan(1, Largest).exclusive().eval().unwrap_err();
    assert_eq!(error, Error::NoIdentity { axis: 1 });
    assert_eq!(
        error.to_string(),
        "an exclusive scan of axis 1 begins with the result of no elements, and there is none: `.or(..)`, or the reducer \
         `Or`, gives one"
    );
    let error = (1 / &t).scan(0, Compose).eval().unwrap_err();
    assert_eq!(error, Error::Arithmetic { index: vec![1, 1] });
}

#[test]
fn differences_are_those_of_neighbours() {
    fn law(viewed: Viewed<i32>, order: usize) -> bool {
        let order = order % 13;
        let (t, (shape, data)) = (viewed.tensor(), viewed.model());
        (0..shape.rank()).all(|axis| {
            let results = shape[axis].saturating_sub(order);
            let lane = |lane: &[i32]| {
                let once = |lane: Vec<i32>, _| -> Vec<i32> {
                    lane.windows(2).map(|pair| pair[1].wrapping_sub(pair[0])).collect()
                };
                (0..order).fold(lane.to_vec(), once)
            };
            let (shape, expected) = each_lane(&shape, &data, axis, results, lane);
            let found = t.diff(axis, order).eval().unwrap();
            found.shape() == shape && found.storage() == &expected
        })
    }
    QuickCheck::new().quickcheck(law as fn(Viewed<i32>, usize) -> bool);
    let t = Tensor::from(vec![1, 2]);
    // What is computed before tells the first of its own results that reads the element.
    let (ones, mut zeros) = (Tensor::full([20], 1).unwrap(), Tensor::full([20], 1).unwrap());
    zeros.set([19], 0).unwrap();
    for (order, own) in [(1, 1), (5, 5), (6, 5), (11, 10), (16, 15)] {
        let error = (&ones / &zeros).diff(0, order).eval().unwrap_err();
        assert_eq!(error, Error::Arithmetic { index: vec![19 - own] }, "{order}");
    }
    assert!(!t.diff(1, 1).is_sparse());
    assert_eq!(t.diff(1, 1).shape().unwrap_err(), Error::Axis { axis: 1, rank: 1 });
    assert_eq!(t.diff(0, usize::MAX).shape().unwrap(), [0]);
    let empty = Tensor::constant([isize::MAX as usize, 0], 1).unwrap();
    assert_eq!(empty.diff(0, 1 << 60).shape().unwrap(), [(1 << 63) - 1 - (1 << 60), 0]);
}

#[test]
fn named_scans() {
    let t = Tensor::from_nested([[3, 1, 2], [-4, 5, 1]]).unwrap();
    assert_eq!(t.cumsum(1).eval().unwrap().to_vec().unwrap(), [3_i64, 4, 6, -4, 1, 2]);
    assert_eq!(t.cumprod(0).eval().unwrap().to_vec().unwrap(), [3_i64, 1, 2, -12, 5, 2]);
    assert_eq!(t.cummin(1).eval().unwrap().to_vec().unwrap(), [3, 1, 1, -4, -4, -4]);
    assert_eq!(t.cummax(1).reverse().eval().unwrap().to_vec().unwrap(), [3, 2, 2, 5, 5, 1]);
    let large = Tensor::from(vec![i64::MAX, -1, 1, 1]);
    let error = large.cumsum(0).eval().unwrap_err();
    assert_eq!(error, Error::Overflow { index: vec![3], target: "i64" });
    let wrapped = large.scan(0, WrappingSum).eval().unwrap();
    assert_eq!(wrapped.storage()[3], i64::MIN);
    let t = Tensor::from(vec![1.0, 1e100, 1.0, -1e100]);
    let sums = t.scan(0, CompensatedSum).eval().unwrap();
    assert_eq!(sums.to_vec().unwrap(), [1.0, 1e100, 1e100, 2.0]);
    let t = Tensor::from(vec![2.0, f64::NAN, 1.0]);
    assert_eq!(t.scan(0, SkipNan(Min)).eval().unwrap().to_vec().unwrap(), [2.0, 2.0, 1.0]);
}

/// Wide tables are cut by columns and by rows, both passes alike, however many threads there are.
#[test]
fn many_threads_cut_both_passes_alike() {
    let pool = crate::support::pool(9);
    let t = Tensor::from_vec([256, 73_764], vec![1_u8; 256 * 73_764]).unwrap();
    let sums = pool.install(|| t.cumsum(0).eval()).unwrap();
    assert_eq!(sums.get([255, 73_763]), Ok(256));
    assert_eq!(sums.get([100, 40_000]), Ok(101));
}

/// An order of thousands takes a loop, not as many calls within calls.
#[test]
fn differences_of_a_high_order_vanish() {
    let squares: Vec<i64> = (0..3000).map(|k| k * k).collect();
    let t = Tensor::from(squares);
    assert_eq!(t.diff(0, 2).eval().unwrap().into_storage(), vec![2; 2998]);
    assert_eq!(t.diff(0, 2999).eval().unwrap().into_storage(), [0]);
}

/// Sums one by one.
struct Steps;

impl Reducer<i64> for Steps {
    type State = i128;
    type Out = i64;
    const ASSOCIATIVE: bool = false;

    fn empty(&self) -> Option<i128> {
        Some(0)
    }

    fn first(&self, x: i64) -> i128 {
        x.into()
    }

    fn step(&self, state: &mut i128, x: i64) {
        *state += i128::from(x);
    }

    fn combine(&self, state: &mut i128, later: i128) {
        *state += later;
    }

    fn undefined(&self, state: &i128) -> Option<Undefined> {
        i64::try_from(*state).is_err().then_some(Undefined::Overflow)
    }

    fn finish(&self, state: i128) -> i64 {
        state as i64
    }
}

/// From the end too, whatever holds the elements and however many blocks they are.
#[test]
fn an_overflow_in_a_reversed_scan_names_the_first_result() {
    fn check<S: lensor::Reader<Elem = i64>>(t: &Tensor<S>, axis: usize, index: &[usize]) {
        let error = Error::Overflow { index: index.to_vec(), target: "i64" };
        assert_eq!(t.cumsum(axis).reverse().eval().unwrap_err(), error);
        assert_eq!(t.cumsum(axis).reverse().exclusive().eval().unwrap_err(), error);
        assert_eq!(t.scan(axis, Steps).reverse().eval().unwrap_err(), error);
    }
    for n in [3, 4, 5, 63, 64, 65, 100, 1000, 10_000] {
        let t = Tensor::full([n], i64::MAX).unwrap();
        check(&t, 0, &[0]);
        check(&Tensor::from_fn([n], |_: usize| i64::MAX).unwrap(), 0, &[0]);
        check(&t.view().rotate([1]).unwrap(), 0, &[0]);
        check(&t.view().insert_axis(1).unwrap().broadcast([n, 2]).unwrap(), 0, &[0, 0]);
        // Sums that fit again below 2: of those that do not, the one at the lowest index counts.
        if n > 4 {
            let mut mixed = Tensor::full([n], 0).unwrap();
            for (k, x) in [(n - 1, i64::MAX), (n - 2, 1), (1, -5)] {
                mixed.set([k], x).unwrap();
            }
            let error = mixed.cumsum(0).reverse().eval().unwrap_err();
            assert_eq!(error, Error::Overflow { index: vec![2], target: "i64" });
            let error = mixed.cumsum(0).reverse().exclusive().eval().unwrap_err();
            assert_eq!(error, Error::Overflow { index: vec![1], target: "i64" });
        }
    }
}
