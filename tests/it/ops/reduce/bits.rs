//! The same bits for every view and thread count.

use super::{SHAPES, axis_sets, disguises, floats};
use crate::support::{Random, pool};
use lensor::prelude::*;
use lensor::reduce::*;
use lensor::storage::{BlockMemory, Chunked, FromFn, Sparse};
use lensor::{Reader, Result};

/// The bits of results that rounding may change.
fn bits<S: Reader<Elem = f64>>(t: &Tensor<S>, axes: &[usize]) -> Vec<u64> {
    let mask = || t.view().greater(-500.0);
    let parts: Vec<Result<Vec<f64>>> = vec![
        t.sum(axes).eval().map(Tensor::into_storage),
        t.fold(axes, CompensatedSum).eval().map(Tensor::into_storage),
        t.mean(axes).eval().map(Tensor::into_storage),
        t.var(axes).ddof(1).eval().map(Tensor::into_storage),
        t.norm(axes).eval().map(Tensor::into_storage),
        t.nan_sum(axes).eval().map(Tensor::into_storage),
        t.sum(axes).filter(mask()).eval().map(Tensor::into_storage),
        t.mean(axes).filter(mask()).or(7.0).eval().map(Tensor::into_storage),
        t.var(axes).filter(mask()).eval().map(Tensor::into_storage),
        (t * 0.3 + 1.0).sum(axes).eval().map(Tensor::into_storage),
        t.covariance(t * t, axes).eval().map(Tensor::into_storage),
    ];
    parts.into_iter().flat_map(Result::unwrap).map(f64::to_bits).collect()
}

#[test]
fn views_have_the_same_bits() {
    for (seed, shape) in SHAPES.iter().enumerate() {
        if shape.contains(&0) {
            continue;
        }
        let data = floats(shape.iter().product(), seed as u64 + 77);
        for axes in axis_sets(shape.len()) {
            let mut all = disguises(shape, &data).into_iter();
            let expected = bits(&all.next().unwrap().1, &axes);
            for (disguise, t) in all {
                assert_eq!(bits(&t, &axes), expected, "{shape:?} {axes:?} {disguise}");
            }
            // What is not memory is always folded by a plan, however few elements there are.
            let far = FromFn::new(data.len(), |k| data[k]);
            let far = Tensor::new(shape.to_vec(), far).unwrap();
            assert_eq!(bits(&far, &axes), expected, "{shape:?} {axes:?} far");
        }
    }
}

/// A value for no elements changes no bit of other results.
#[test]
fn values_for_none_leave_the_bits_alone() {
    for (rows, columns) in [(8, 1), (8, 8), (3, 40), (130, 9), (700, 33)] {
        let data = match rows {
            8 => [1.0, 1e16, -1e16, 1.0, 0.0, 0.0, 0.0, 0.0]
                .into_iter()
                .flat_map(|x| vec![x; columns])
                .collect(),
            _ => floats(rows * columns, 3),
        };
        let t = Tensor::from_vec([rows, columns], data).unwrap();
        for axes in axis_sets(2) {
            macro_rules! same {
                ($($reducer:expr)*) => { $(
                    let plain = t.fold(&axes[..], $reducer).to_vec().unwrap();
                    let or = t.fold(&axes[..], $reducer).or(7.0).to_vec().unwrap();
                    let maybe = t.fold(&axes[..], Maybe($reducer)).to_vec().unwrap();
                    let bits = |all: Vec<f64>| all.into_iter().map(f64::to_bits).collect::<Vec<_>>();
                    let plain = bits(plain);
                    assert_eq!(bits(or), plain, "{rows} {columns} {axes:?} {}", stringify!($reducer));
                    let maybe = bits(maybe.into_iter().map(Option::unwrap).collect());
                    assert_eq!(maybe, plain, "{rows} {columns} {axes:?} {}", stringify!($reducer));
                )* };
            }
            same!(Sum Mean Variance::default() Norm SkipNan(Sum));
        }
    }
}

/// Elements in memory are folded where they lie, others by a plan: of several leaves a result, too.
#[test]
fn memory_and_storage_have_the_same_bits() {
    for shape in [
        vec![513],
        vec![5000],
        vec![3, 700],
        vec![700, 3],
        vec![700, 9],
        vec![1, 2000],
        vec![2000, 1],
        vec![2, 130, 50],
        vec![40, 9, 33],
        vec![2, 5, 30, 41],
        vec![2, 600, 2],
        vec![1, 64, 1, 70],
    ] {
        let mut data = floats(shape.iter().product(), 7);
        // Of equal elements the first position counts.
        let most = data.iter().copied().fold(0.0, f64::max);
        data.iter_mut().step_by(97).for_each(|x| *x = most);
        let near = Tensor::from_vec(shape.clone(), data.clone()).unwrap();
        let far = FromFn::new(data.len(), |k| data[k]);
        let far = Tensor::new(shape.clone(), far).unwrap();
        for axes in axis_sets(shape.len()) {
            assert_eq!(bits(&near, &axes), bits(&far, &axes), "{shape:?} {axes:?}");
            let positions = [near.argmax(&axes[..]).eval(), far.argmax(&axes[..]).eval()];
            let [near, far] = positions.map(|all| all.map(Tensor::into_storage));
            assert_eq!(near, far, "{shape:?} {axes:?}");
        }
    }
}

#[cfg(feature = "rayon")]
#[test]
fn threads_leave_the_bits_alone() {
    for shape in [vec![140_000], vec![3, 50_001], vec![50_001, 3], vec![397, 401]] {
        let data = floats(shape.iter().product(), 5);
        let plain = Tensor::from_vec(shape.clone(), data.clone()).unwrap();
        let turned: Vec<usize> = (0..shape.len()).rev().collect();
        let t = plain.view().transpose(&turned).unwrap().eval().unwrap();
        let t = t.transpose(&turned).unwrap();
        for axes in axis_sets(shape.len()).skip(1) {
            let run = |threads: usize| {
                let pool = crate::support::pool(threads);
                pool.install(|| (bits(&plain, &axes), bits(&t, &axes)))
            };
            let (expected, turned) = run(1);
            assert_eq!(expected, turned, "{shape:?} {axes:?}");
            for threads in [3, 16] {
                assert_eq!(run(threads), (expected.clone(), turned.clone()), "{shape:?} {axes:?}");
            }
        }
    }
}

/// A run of one leaf dealt out to 32 lanes, which are joined in pairs.
fn in_lanes(run: &[f64], start: Option<f64>, join: impl Fn(f64, f64) -> f64) -> f64 {
    let mut lanes: Vec<Option<f64>> = vec![start; 32];
    for (k, &x) in run.iter().enumerate() {
        let lane = if start.is_none() && run.len() < 32 { 0 } else { k % 32 };
        lanes[lane] = Some(lanes[lane].map_or(x, |state| join(state, x)));
    }
    while lanes.len() > 1 {
        let later = lanes.split_off(lanes.len() / 2);
        for (state, later) in lanes.iter_mut().zip(later) {
            *state = match (*state, later) {
                (Some(a), Some(b)) => Some(join(a, b)),
                (a, b) => a.or(b),
            };
        }
    }
    lanes[0].unwrap()
}

#[test]
fn runs_are_dealt_out_to_lanes() {
    for count in (1..=130).chain([255, 256, 300, 511, 512]) {
        let data = floats(count, count as u64);
        let t = Tensor::from(data.clone());
        let sum = t.sum(..).eval().unwrap().item().unwrap();
        assert_eq!(sum.to_bits(), in_lanes(&data, None, |a, b| a + b).to_bits(), "{count}");

        let apart: Vec<f64> = data.iter().map(|x| x - data[0]).collect();
        let squares: Vec<f64> = apart.iter().map(|x| x * x).collect();
        let [sum, square] = [apart, squares].map(|all| in_lanes(&all, Some(0.0), |a, b| a + b));
        let n = count as f64;
        let expected = (square - sum * (sum / n)) / n;
        let variance = t.var(..).eval().unwrap().item().unwrap();
        assert_eq!(variance.to_bits(), expected.to_bits(), "{count}");

        // Zeros of both signs are equal, and which of them is found depends on the lanes.
        let zeros: Vec<f64> = data.iter().map(|x| 0.0_f64.copysign(*x)).collect();
        let least = in_lanes(&zeros, None, |a, b| if b < a { b } else { a });
        let found = Tensor::from(zeros).fold(.., Min).eval().unwrap().item().unwrap();
        assert_eq!(found.to_bits(), least.to_bits(), "{count}");
    }
}

/// Sums of integers against those in 128 bits, of numbers around all limits, along every axis.
#[test]
fn integer_sums_are_exact() {
    macro_rules! exact {
        ($($T:ident $Wide:ident $Sum:ident)*) => { $(
            let mut random = Random(7);
            for (rows, columns) in [(1, 1), (3, 40), (9, 7), (70, 33), (600, 5), (5, 600), (130, 130)] {
                let steep = random.below(3);
                let data: Vec<$T> = (0..rows * columns)
                    .map(|_| match random.below(4).min(steep + 1) {
                        0 => $T::MIN,
                        1 => random.below(5) as $T,
                        2 => $T::MAX.wrapping_sub(random.below(9) as $T),
                        _ => ((random.below(1 << 32) << 32) ^ random.below(1 << 32)) as $T,
                    })
                    .collect();
                let t = Tensor::from_vec([rows, columns], data.clone()).unwrap();
                let fits = |of: &mut dyn Iterator<Item = &$T>| {
                    $Sum::try_from(of.map(|&x| x as $Wide).sum::<$Wide>()).ok()
                };
                let column = |k: usize| fits(&mut data.iter().skip(k).step_by(columns));
                let sums: [(_, Option<Vec<_>>); 3] = [
                    (t.sum(0).to_vec().ok(), (0..columns).map(column).collect()),
                    (t.sum(1).to_vec().ok(), data.chunks(columns).map(|row| fits(&mut row.iter())).collect()),
                    (t.sum(..).item().ok().map(|sum| vec![sum]), fits(&mut data.iter()).map(|sum| vec![sum])),
                ];
                for (found, expected) in sums {
                    assert_eq!(found, expected, "{} {rows} {columns}", stringify!($T));
                }
            }
        )* };
    }
    exact! {
        i8 i128 i64 i16 i128 i64 i32 i128 i64 i64 i128 i64 isize i128 i64
        u8 u128 u64 u16 u128 u64 u32 u128 u64 u64 u128 u64 usize u128 u64
    }
}

/// Windows and segments add in one order, whatever boxes end where blocks do.
#[test]
fn windows_of_blocks_have_the_same_bits_in_boxes() {
    let (rows, columns) = (5008, 17);
    let t = Tensor::from_index([rows, columns], |i| ((i[0] * 31 + i[1] * 7) % 101) as f64 / 3.0);
    let blocks = BlockMemory::new([rows, columns], [rows, 16], 0.0).unwrap();
    let mut held =
        Tensor::new([rows, columns], Chunked::new(blocks).unwrap().with_blocks(1)).unwrap();
    held.assign(&t.unwrap()).unwrap();
    let offsets: Vec<usize> = (0..=rows / 16).map(|k| 16 * k).collect();
    for threads in 1..3 {
        let windows = held.view().rolling(0, 9).sum();
        let segments = held.view().segments(0, &offsets).sum();
        let mut sums = Tensor::full([columns, rows - 8], 0.0).unwrap();
        let mut parts = Tensor::full([columns, rows / 16], 0.0).unwrap();
        pool(threads).install(|| {
            windows.assign_to(&mut sums.view_mut().transpose([1, 0]).unwrap()).unwrap();
            segments.assign_to(&mut parts.view_mut().transpose([1, 0]).unwrap()).unwrap();
        });
        for (found, expected) in [(sums, windows.eval()), (parts, segments.eval())] {
            let found = found.transpose([1, 0]).unwrap().to_vec().unwrap();
            let bits = |x: &f64| x.to_bits();
            let expected = expected.unwrap();
            assert!(found.iter().map(bits).eq(expected.storage().iter().map(bits)), "{threads}");
        }
    }
}

/// Whether entries or elements are folded is decided for the whole, whatever boxes it is assigned in.
#[test]
fn folds_of_sparse_views_have_the_same_bits_in_boxes() {
    let (rows, columns) = (1 << 16, 23);
    let step = rows * columns / (1 << 18);
    let addresses: Vec<usize> = (0..1 << 18).map(|k| k * step + columns).collect();
    let values = addresses.iter().map(|&k| (k % 7) as f64 / 3.0).collect();
    let s = Sparse::from_sorted(rows * columns, 0.1, addresses, values).unwrap();
    let t = Tensor::new([rows, columns], s).unwrap();
    let v = t.view().windows(1, 8).unwrap().transpose([1, 0, 2]).unwrap();
    let whole = v.view().sum(2).to_vec().unwrap();
    for threads in [1, 3] {
        let mut out = Tensor::full([rows, 16], 0.0).unwrap();
        let mut turned = out.view_mut().transpose([1, 0]).unwrap();
        pool(threads).install(|| v.view().sum(2).assign_to(&mut turned)).unwrap();
        let turned = turned.view().to_vec().unwrap();
        let same = turned.iter().zip(&whole).all(|(x, y)| x.to_bits() == y.to_bits());
        assert!(same, "{threads}");
    }
}
