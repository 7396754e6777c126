//! The same bits for every view and thread count.

use crate::{SHAPES, axis_sets, disguises, floats};
use lensor::prelude::*;
use lensor::reduce::*;
use lensor::{Reader, Result};

/// The bits of results that rounding may change.
fn bits<S: Reader<Elem = f64>>(t: &Tensor<S>, axes: &[usize]) -> Vec<u64> {
    let mask = || t.view().greater(-500.0);
    let parts: Vec<Result<Vec<f64>>> = vec![
        t.sum(axes).eval().map(Tensor::into_storage),
        t.reduce(axes, CompensatedSum).eval().map(Tensor::into_storage),
        t.mean(axes).eval().map(Tensor::into_storage),
        t.variance(axes, 1).eval().map(Tensor::into_storage),
        t.norm(axes).eval().map(Tensor::into_storage),
        t.nan_sum(axes).eval().map(Tensor::into_storage),
        t.sum(axes).filter(mask()).eval().map(Tensor::into_storage),
        (t * 0.3 + 1.0).sum(axes).eval().map(Tensor::into_storage),
        t.covariance(t * t, axes, 0).eval().map(Tensor::into_storage),
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
        let t = plain.view().transpose(&turned).unwrap().to_tensor().unwrap();
        let t = t.transpose(&turned).unwrap();
        for axes in axis_sets(shape.len()).skip(1) {
            let run = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| (bits(&plain, &axes), bits(&t, &axes)))
            };
            let (expected, turned) = run(1);
            assert_eq!(expected, turned, "{shape:?} {axes:?}");
            for threads in [2, 3, 16] {
                assert_eq!(run(threads), (expected.clone(), turned.clone()), "{shape:?} {axes:?}");
            }
        }
    }
}
