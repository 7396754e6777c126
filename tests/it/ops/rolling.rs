//! Rolling windows are folds of slices.

use super::along::{Compose, InOrder, Largest, Small, each_lane, result};
use crate::support::in_pools;
use lensor::arbitrary::Viewed;
use lensor::prelude::*;
use lensor::reduce::{ArgMax, Max, Mean, Min, Reducer, SkipNan, StandardDeviation, Sum};
use lensor::rolling::{Rolling, WindowEdge, Windows};
use quickcheck::{QuickCheck, TestResult};

pub(super) const EDGES: [WindowEdge; 5] =
    [WindowEdge::Full, WindowEdge::Cut, WindowEdge::Clamp, WindowEdge::Wrap, WindowEdge::Reflect];

/// How many elements of a window come before its own: trailing, centred, leading.
fn before(alignment: usize, window: usize) -> usize {
    [window - 1, window / 2, 0][alignment]
}

pub(super) fn aligned<E: Expr>(windows: Windows<E>, alignment: usize) -> Windows<E> {
    match alignment {
        0 => windows.trailing(),
        1 => windows.centred(),
        _ => windows.leading(),
    }
}

/// The elements of every window of a lane.
pub(super) fn windows<T: Copy>(
    lane: &[T],
    window: usize,
    alignment: usize,
    edge: WindowEdge,
) -> Vec<Vec<T>> {
    if edge == WindowEdge::Full {
        return lane.windows(window).map(<[T]>::to_vec).collect();
    }
    let n = lane.len() as isize;
    let element = |k: isize| match edge {
        WindowEdge::Cut => lane.get(usize::try_from(k).ok()?).copied(),
        WindowEdge::Clamp => Some(lane[k.clamp(0, n - 1) as usize]),
        WindowEdge::Wrap => Some(lane[k.rem_euclid(n) as usize]),
        _ => Some(
            lane[if k < 0 {
                -k
            } else if k >= n {
                2 * (n - 1) - k
            } else {
                k
            } as usize],
        ),
    };
    (0..n)
        .map(|k| {
            let start = k - before(alignment, window) as isize;
            (start..start + window as isize).filter_map(element).collect()
        })
        .collect()
}

/// Whether the windows along every axis fold as their elements do.
fn rolls_as_it_folds<R>(viewed: &Viewed<i32>, window: usize, reducer: R) -> bool
where
    R: Reducer<i32> + Copy,
    R::Out: PartialEq + std::fmt::Debug,
{
    let (t, (shape, data)) = (viewed.tensor(), viewed.model());
    for (axis, alignment, edge) in (0..shape.rank()).flat_map(|axis| {
        (0..3).flat_map(move |alignment| EDGES.map(|edge| (axis, alignment, edge)))
    }) {
        let rolling = aligned(t.rolling(axis, window).edge(edge), alignment).fold(reducer);
        let extent = shape[axis];
        if window > extent && edge != WindowEdge::Cut {
            assert_eq!(rolling.shape().unwrap_err(), Error::Window { axis, window, extent });
            assert_eq!(rolling.eval().unwrap_err(), Error::Window { axis, window, extent });
            continue;
        }
        let results = if edge == WindowEdge::Full { extent - window + 1 } else { extent };
        let lane = |lane: &[i32]| {
            windows(lane, window, alignment, edge).iter().map(|x| result(&reducer, x)).collect()
        };
        let (shape, expected) = each_lane(&shape, &data, axis, results, lane);
        let found = rolling.eval().unwrap();
        assert_eq!(found.storage(), &expected, "axis {axis}, {alignment}, {edge:?}");
        assert_eq!((found.shape(), rolling.shape().unwrap()), (shape.clone(), shape));
    }
    true
}

#[test]
fn every_window_folds_as_its_elements() {
    fn law(viewed: Viewed<i32>, window: usize) -> bool {
        let window = window % 20 + 1;
        rolls_as_it_folds(&viewed, window, Compose)
            && rolls_as_it_folds(&viewed, window, InOrder)
            && rolls_as_it_folds(&viewed, window, Largest)
    }
    QuickCheck::new().quickcheck(law as fn(Viewed<i32>, usize) -> bool);
}

/// Blocks, panels and jobs do not show.
#[test]
fn long_windows_fold_as_short_ones() {
    for (shape, window) in [
        (vec![3000], 1000),
        (vec![3000], 129),
        (vec![3000], 2999),
        (vec![300_000], 1000),
        (vec![40_000, 3], 700),
        (vec![3, 1000, 40], 33),
        (vec![400, 700], 100),
    ] {
        let count = shape.iter().product::<usize>();
        let data: Vec<i32> =
            (0..count as i32).map(|k| k.wrapping_mul(0x9e37_79b1_u32 as i32) >> 7).collect();
        let t = Tensor::from_vec(shape.clone(), data.clone()).unwrap();
        let axis = if shape.len() == 3 { 1 } else { 0 };
        for (alignment, edge) in [
            (0, WindowEdge::Full),
            (1, WindowEdge::Cut),
            (0, WindowEdge::Wrap),
            (1, WindowEdge::Reflect),
            (2, WindowEdge::Clamp),
        ] {
            let results =
                if edge == WindowEdge::Full { shape[axis] - window + 1 } else { shape[axis] };
            let lane = |lane: &[i32]| -> Vec<i64> {
                // A window at a time would take too long: differences of sums of prefixes.
                let n = lane.len() as isize;
                let start = if edge == WindowEdge::Full {
                    0
                } else {
                    -(before(alignment, window) as isize)
                };
                let element = |k: isize| match edge {
                    WindowEdge::Full | WindowEdge::Cut => usize::try_from(k)
                        .ok()
                        .and_then(|k| lane.get(k))
                        .map_or(0, |&x| i64::from(x)),
                    WindowEdge::Clamp => i64::from(lane[k.clamp(0, n - 1) as usize]),
                    WindowEdge::Wrap => i64::from(lane[k.rem_euclid(n) as usize]),
                    _ => i64::from(
                        lane[if k < 0 {
                            -k
                        } else if k >= n {
                            2 * (n - 1) - k
                        } else {
                            k
                        } as usize],
                    ),
                };
                let mut sums = vec![0];
                for k in start..start + (results + window) as isize {
                    sums.push(sums[sums.len() - 1] + element(k));
                }
                (0..results).map(|k| sums[k + window] - sums[k]).collect()
            };
            let (_, expected) = each_lane(&shape, &data, axis, results, lane);
            let rolling = aligned(t.rolling(axis, window).edge(edge), alignment);
            let found = in_pools(|| rolling.clone().sum().eval()?.to_vec());
            assert!(found == expected, "{shape:?} {window} {edge:?}");
        }
    }
}

#[test]
fn means_have_the_same_bits_and_do_not_drift() {
    let data: Vec<f64> =
        (0..200_000).map(|k| if k % 1999 == 0 { 1e12 } else { (k as f64).sin() }).collect();
    let t = Tensor::from(data.clone());
    let means = t.rolling(0, 500).mean();
    let bits =
        in_pools(|| Ok(means.eval()?.storage().iter().map(|x| x.to_bits()).collect::<Vec<_>>()));
    let fused = ((&t * 2.0) / 2.0).rolling(0, 500).mean().eval().unwrap().to_vec().unwrap();
    assert!(fused.iter().zip(&bits).all(|(x, bits)| x.to_bits() == *bits));
    for (k, window) in data.windows(500).enumerate().filter(|(k, _)| k % 97 == 0) {
        let size: f64 = window.iter().map(|x| x.abs()).sum();
        let exact: f64 = window.iter().sum::<f64>() / 500.0;
        assert!(
            (f64::from_bits(bits[k]) - exact).abs() <= 500.0 * f64::EPSILON * size / 500.0,
            "{k}"
        );
    }
}

/// Sums of windows in the order that is promised for lanes side by side: the axis is cut into blocks as
/// long as a window, which is the end of one, summed from its last element on, and the beginning of the next.
fn sums_in_order(lane: &[f64], window: usize) -> Vec<f64> {
    let sum = |k: usize| {
        let cut = k.next_multiple_of(window).min(k + window);
        let end = lane[k..cut].iter().rev().copied().reduce(|later, x| x + later);
        let beginning = lane[cut..k + window].iter().copied().reduce(|before, x| before + x);
        match (end, beginning) {
            (Some(end), Some(beginning)) => end + beginning,
            (end, beginning) => end.or(beginning).unwrap(),
        }
    };
    (0..lane.len() + 1 - window).map(sum).collect()
}

/// Tables of any width, of which the last two are written past the caches: rows that begin at one place of
/// a cache line, and rows that do not.
#[test]
fn windows_of_columns_are_summed_in_order() {
    let cases =
        [(9, 3, 9), (40, 40, 9), (61, 70, 13), (300, 530, 100), (2200, 1000, 20), (2200, 1001, 20)];
    for (rows, columns, window) in cases {
        let t = Tensor::from_index([rows, columns], |index| {
            ((index[0] * 37 + index[1] * 101) as f64).sin() * 1e3
        })
        .unwrap();
        let bits =
            |t: Tensor<Vec<f64>>| -> Vec<u64> { t.storage().iter().map(|x| x.to_bits()).collect() };
        let sums = || Ok(bits(t.rolling(0, window).sum().eval()?));
        let means = || Ok(bits(t.rolling(0, window).mean().eval()?));
        let large = rows * columns > 1 << 20;
        let [sums, means] = match large {
            true => [sums().unwrap(), means().unwrap()],
            false => [in_pools(sums), in_pools(means)],
        };
        for column in (0..columns).step_by(if large { 7 } else { 1 }) {
            let lane: Vec<f64> = (0..rows).map(|row| t.storage()[row * columns + column]).collect();
            for (row, sum) in sums_in_order(&lane, window).into_iter().enumerate() {
                let at = row * columns + column;
                assert_eq!(sums[at], sum.to_bits(), "{row} {column}");
                assert_eq!(means[at], (sum / window as f64).to_bits(), "{row} {column}");
            }
        }
    }
}

/// With several threads a task may begin with windows that are cut on both sides of a block.
#[test]
fn cut_windows_of_columns_begin_anywhere() {
    let [rows, columns] = [1050, 256];
    let t =
        Tensor::from_index([rows, columns], |index| (index[0] * 256 + index[1]) as i64).unwrap();
    for (alignment, window) in [(0, 100), (1, 97), (2, 100)] {
        let rolling = aligned(t.rolling(0, window), alignment).edge(WindowEdge::Cut);
        let found = in_pools(|| rolling.clone().sum().eval()?.to_vec());
        for column in [0, 1, 100, 255] {
            let lane: Vec<i64> = (0..rows).map(|row| (row * 256 + column) as i64).collect();
            let sums = windows(&lane, window, alignment, WindowEdge::Cut);
            for (row, own) in sums.into_iter().enumerate() {
                let sum: i64 = own.into_iter().sum();
                assert_eq!(found[row * columns + column], sum, "{alignment} {row} {column}");
            }
        }
    }
}

/// That no window is cut is known beforehand, and does not show.
#[test]
fn means_of_whole_windows_are_means() {
    let law = |data: Vec<i32>, window: usize| {
        let window = window % 40 + 1;
        if data.len() < window {
            return TestResult::discard();
        }
        let t = Tensor::from(data.iter().map(|&x| f64::from(x) / 7.0).collect::<Vec<_>>());
        let whole = t.rolling(0, window).mean().eval().unwrap().to_vec().unwrap();
        let cut =
            t.rolling(0, window).edge(WindowEdge::Cut).mean().eval().unwrap().to_vec().unwrap();
        TestResult::from_bool(whole == cut[window - 1..])
    };
    QuickCheck::new().quickcheck(law as fn(Vec<i32>, usize) -> TestResult);
}

#[test]
fn an_overflow_in_a_table_names_the_first_window() {
    for row in 12..30 {
        for column in [0, 31, 32, 40, 69] {
            let mut t = Tensor::full([30, 70], 0).unwrap();
            t.set([row, column], 200).unwrap();
            let error = t.rolling(0, 12).fold(Small).eval().unwrap_err();
            let index = vec![row - 11, column];
            assert_eq!(error, Error::Overflow { index, target: "i8" }, "{row} {column}");
        }
    }
}

/// Equal, or both NaN.
fn same(a: f64, b: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan())
}

#[test]
fn special_values_stay_in_their_windows() {
    for n in [30_usize, 400] {
        for window in [3_usize, 20] {
            let mut data: Vec<f64> = (0..n).map(|k| k as f64).collect();
            (data[5], data[12], data[13]) = (f64::NAN, f64::INFINITY, f64::NEG_INFINITY);
            let t = Tensor::from(data.clone());
            let found = t.rolling(0, window).sum().eval().unwrap().to_vec().unwrap();
            let (low, high) = (
                t.rolling(0, window).min().eval().unwrap(),
                t.rolling(0, window).max().eval().unwrap(),
            );
            for (k, window) in data.windows(window).enumerate() {
                assert!(same(found[k], window.iter().sum()), "{k}");
                let nan = window.iter().any(|x| x.is_nan());
                let extremum = |f: fn(f64, f64) -> f64| window.iter().copied().reduce(f).unwrap();
                let expected = |f| if nan { f64::NAN } else { extremum(f) };
                assert!(same(low.storage()[k], expected(f64::min)), "{k}");
                assert!(same(high.storage()[k], expected(f64::max)), "{k}");
            }
        }
    }
}

#[test]
fn nan_is_skipped_where_enough_is_left() {
    fn law(lane: Vec<Option<i16>>, window: usize, least: usize) -> TestResult {
        let (window, least) = (window % 12 + 1, least % 6);
        let lane: Vec<f64> = lane.into_iter().map(|x| x.map_or(f64::NAN, f64::from)).collect();
        let t = Tensor::from(lane.clone());
        let cut = t.rolling(0, window).centred().edge(WindowEdge::Cut);
        let found = cut.clone().sum().skip_nan(least, -0.5).eval().unwrap().to_vec().unwrap();
        let counted = cut.fold(Sum).at_least(least, -0.5).eval().unwrap().to_vec().unwrap();
        let all = windows(&lane, window, 1, WindowEdge::Cut);
        TestResult::from_bool(all.iter().enumerate().all(|(k, window)| {
            let numbers: Vec<f64> = window.iter().copied().filter(|x| !x.is_nan()).collect();
            let expected = |xs: &[f64]| if xs.len() < least { -0.5 } else { xs.iter().sum() };
            same(found[k], expected(&numbers)) && same(counted[k], expected(window))
        }))
    }
    QuickCheck::new().quickcheck(law as fn(Vec<Option<i16>>, usize, usize) -> TestResult);
}

/// In any order of the calls: of `at_least` and `or`, the later one counts where nothing is left.
#[test]
fn elements_that_are_filtered_do_not_count() {
    let t = Tensor::from(vec![1.0, 2.0, 3.0, 4.0, f64::NAN, 5.0]);
    let mask = Tensor::from(vec![true, true, false, false, false, true]);
    let sums = || t.rolling(0, 2).sum();
    let few = [3.0, 9.0, 9.0, 9.0, 9.0];
    assert_eq!(sums().filter(&mask).at_least(2, 9.0).to_vec().unwrap(), few);
    assert_eq!(sums().at_least(2, 9.0).filter(&mask).to_vec().unwrap(), few);
    assert_eq!(sums().or(-1.0).filter(&mask).at_least(2, 9.0).to_vec().unwrap(), few);
    assert_eq!(sums().or(-1.0).at_least(2, 9.0).filter(&mask).to_vec().unwrap(), few);
    assert_eq!(sums().filter(&mask).or(-1.0).at_least(2, 9.0).to_vec().unwrap(), few);
    let none = [3.0, 9.0, -1.0, -1.0, 9.0];
    assert_eq!(sums().filter(&mask).at_least(2, 9.0).or(-1.0).to_vec().unwrap(), none);
    assert_eq!(sums().at_least(2, 9.0).filter(&mask).or(-1.0).to_vec().unwrap(), none);
    assert_eq!(sums().at_least(2, 9.0).or(-1.0).filter(&mask).to_vec().unwrap(), none);

    let skipped = [3.0, 5.0, 7.0, 9.0, 9.0];
    assert_eq!(t.rolling(0, 2).nan_sum().at_least(2, 9.0).to_vec().unwrap(), skipped);
    assert_eq!(sums().skip_nan(0, 0.5).at_least(2, 9.0).to_vec().unwrap(), skipped);
    let both = t.rolling(0, 2).fold((SkipNan(Sum), SkipNan(Mean)));
    assert_eq!(
        both.at_least(2, (9.0, 0.0)).to_vec().unwrap()[2..],
        [(7.0, 3.5), (9.0, 0.0), (9.0, 0.0)]
    );
    let places = t.rolling(0, 2).fold(ArgMax).filter(&mask).at_least(1, 7);
    assert_eq!(places.to_vec().unwrap(), [1, 0, 7, 7, 1]);
}

#[test]
fn several_reducers_share_the_windows() {
    let t = Tensor::from(vec![1.0, 5.0, 2.0, 4.0]);
    let found = t.rolling(0, 2).fold((Min, Max, Mean)).eval().unwrap().to_vec().unwrap();
    assert_eq!(found, [(1.0, 5.0, 3.0), (2.0, 5.0, 3.5), (2.0, 4.0, 3.0)]);
    let spread =
        t.rolling(0, 2).fold(StandardDeviation { ddof: 0 }).eval().unwrap().to_vec().unwrap();
    assert_eq!(spread, [2.0, 1.5, 1.0]);
}

#[test]
fn results_go_to_views_of_any_storage() {
    let t = Tensor::from_nested([[1, 2], [3, 4], [5, 6]]).unwrap();
    let mut out = Tensor::full([2, 2], 0_i64).unwrap();
    t.rolling(0, 2).sum().assign_to(&mut out.view_mut().transpose([1, 0]).unwrap()).unwrap();
    assert_eq!(out.to_vec().unwrap(), [4, 8, 6, 10]);
}

#[test]
fn errors_name_what_is_wrong() {
    let t = Tensor::from(vec![100, 1, 100, 100]);
    assert_eq!(t.rolling(1, 2).sum().eval().unwrap_err(), Error::Axis { axis: 1, rank: 1 });
    let error = t.rolling(0, 0).edge(WindowEdge::Cut).sum().eval().unwrap_err();
    assert_eq!(error, Error::Window { axis: 0, window: 0, extent: 4 });
    assert_eq!(error.to_string(), "a window of 0 does not fit axis 0 of extent 4");
    let error = t.rolling(0, 2).fold(Small).eval().unwrap_err();
    assert_eq!(error, Error::Overflow { index: vec![2], target: "i8" });
    let long = Tensor::from((0..64).map(|k| if k < 40 { 1 } else { 9 }).collect::<Vec<_>>());
    let error = long.rolling(0, 20).fold(Small).eval().unwrap_err();
    assert_eq!(error, Error::Overflow { index: vec![34], target: "i8" });
    let huge = t.rolling(0, usize::MAX).leading().edge(WindowEdge::Cut).sum().eval().unwrap();
    assert_eq!(huge.to_vec().unwrap(), [301, 201, 200, 100]);
    let error = (1 / (&t - 1)).rolling(0, 2).sum().eval().unwrap_err();
    assert_eq!(error, Error::Arithmetic { index: vec![1] });
}
