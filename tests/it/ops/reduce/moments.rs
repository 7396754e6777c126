//! Variances and covariances where sums of squares lose digits or are no numbers.

use lensor::prelude::*;
use lensor::reduce::Variance;

const FAR: f64 = 1.7e308;

/// The variance of elements as every way to fold them gives it.
fn variances(data: &[f64]) -> Vec<f64> {
    let n = data.len();
    let t = Tensor::from(data.to_vec());
    let column = t.view().insert_axis(1).unwrap();
    let mut all = vec![t.var(..).item().unwrap(), t.rolling(0, n).var().item().unwrap()];
    all.push(*t.scan(0, Variance { ddof: 0 }).to_vec().unwrap().last().unwrap());
    for columns in [3, 9] {
        let columns = column.view().broadcast([n, columns]).unwrap().eval().unwrap();
        all.extend(columns.var(0).to_vec().unwrap());
        all.extend(columns.nan_var(0).to_vec().unwrap());
        all.extend(columns.std(0).to_vec().unwrap().into_iter().map(|x| x * x));
    }
    all
}

#[test]
fn variances_too_large_are_infinite_in_every_way() {
    let halves = [vec![FAR; 600], vec![-FAR; 600]].concat();
    let around: Vec<f64> = (0..70).map(|k| [0.0, FAR, FAR, -FAR, -FAR][k % 5]).collect();
    for data in [vec![FAR, -FAR], vec![0.0, FAR, FAR, -FAR], around, halves] {
        assert!(variances(&data).into_iter().all(|x| x == f64::INFINITY), "{:?}", variances(&data));
    }
}

#[test]
fn infinite_elements_have_no_variance() {
    for at in [0, 1, 40, 69] {
        let mut data = vec![1.0; 70];
        data[at] = f64::INFINITY;
        assert!(variances(&data).into_iter().all(f64::is_nan), "{at}");
        data[69 - at] = f64::NEG_INFINITY;
        assert!(variances(&data).into_iter().all(f64::is_nan), "{at}");
    }
}

/// The covariance of pairs along a row and down each of some columns.
fn covariances(x: &[f64], y: &[f64]) -> Vec<f64> {
    let [x, y] = [x, y].map(|data| Tensor::from(data.to_vec()));
    let mut all = vec![x.covariance(&y, ..).item().unwrap()];
    let columns = |t: &Tensor<Vec<f64>>| {
        t.view().insert_axis(1).unwrap().broadcast([t.len(), 9]).unwrap().eval().unwrap()
    };
    all.extend(columns(&x).covariance(&columns(&y), 0).to_vec().unwrap());
    all
}

/// Far from 0, of small differences, which a model takes alone.
#[test]
fn covariances_lose_no_digits() {
    let small = |seed: usize| move |k: usize| (k * seed % 101) as f64 / 262_144.0;
    for n in [2, 64, 100, 300] {
        let [x, y] = [37, 53].map(|seed| (0..n).map(small(seed)).collect::<Vec<f64>>());
        let mean = |data: &[f64]| data.iter().sum::<f64>() / n as f64;
        let apart = |data: &[f64]| -> Vec<f64> { data.iter().map(|x| x - mean(data)).collect() };
        let product = |(x, y): (f64, f64)| x * y;
        let expected = apart(&x).into_iter().zip(apart(&y)).map(product).sum::<f64>() / n as f64;
        let [x, y] =
            [x, y].map(|data| data.iter().map(|x| x + 8_589_934_592.0).collect::<Vec<f64>>());
        let found = covariances(&x, &y)[0];
        assert!((found - expected).abs() <= 1e-14, "{n}: {found} for {expected}");
    }
}

#[test]
fn covariances_of_extremes_are_the_same_in_every_way() {
    assert_eq!(covariances(&[1e308; 3], &[1.0, 2.0, 3.0]), [0.0; 10]);
    let wide = [1e200, -1e200];
    assert_eq!(covariances(&wide, &wide), [f64::INFINITY; 10]);
    let narrow: Vec<f64> = (0..64).map(|k| 1e15 + f64::from(k % 2)).collect();
    assert_eq!(covariances(&narrow, &narrow), [0.25; 10]);
}

/// In either operand, beside whatever other one.
#[test]
fn infinite_elements_have_no_covariance() {
    let beside = [vec![0.0, 1.0], vec![1.0, 0.0], vec![2.0, 2.0], vec![0.0, 1.0, -5.0]];
    let long: Vec<f64> = (0..70).map(|k| f64::from(k % 7) - 2.0).collect();
    for y in beside.into_iter().chain([long]) {
        for at in [0, 1, y.len() / 2, y.len() - 1] {
            for infinity in [f64::INFINITY, f64::NEG_INFINITY] {
                let mut x = vec![1.0; y.len()];
                x[at] = infinity;
                for found in [covariances(&x, &y), covariances(&y, &x), covariances(&x, &x)] {
                    assert!(found.iter().all(|x| x.is_nan()), "{x:?} {y:?}: {found:?}");
                }
            }
        }
    }
}
