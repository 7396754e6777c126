//! Folds of the elements of columns that count.

use lensor::dtype::Measure;
use lensor::prelude::*;
use lensor::reduce::*;

/// Bits of element `k`, in no order.
fn bits(k: usize) -> u64 {
    (k as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 17
}

/// What a fold gives, of the elements of each column that count and by the library.
fn check<T: Measure + PartialOrd, R: Reducer<T> + Copy>(
    t: &Tensor<Vec<T>>,
    mask: &Tensor<Vec<bool>>,
    reducer: R,
    same: impl Fn(&R::Out, &R::Out) -> bool,
) {
    let [height, width] = t.shape()[..] else { panic!("no matrix") };
    let found = t.fold(0, reducer).filter(mask);
    let kept: Vec<Option<R::Out>> = (0..width)
        .map(|column| {
            let counts = (0..height).map(|row| row * width + column);
            let mut counts = counts.filter(|&k| mask.storage()[k]).map(|k| t.storage()[k]);
            let state = match counts.next() {
                Some(x) => {
                    let mut state = reducer.first(x);
                    counts.for_each(|x| reducer.step(&mut state, x));
                    Some(state)
                }
                None => reducer.empty(),
            };
            state.map(|state| reducer.finish(state))
        })
        .collect();
    if let Some(none) = kept.iter().position(Option::is_none) {
        let error = found.eval().map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(&format!("[{none}]")), "{height} x {width}: {error}");
        return;
    }
    let found = found.to_vec().unwrap();
    for (k, (found, kept)) in found.iter().zip(kept.iter().flatten()).enumerate() {
        assert!(same(found, kept), "{height} x {width}, column {k}");
    }
}

#[test]
fn columns_are_folded_as_if_the_others_were_not_there() {
    let close = |a: &f64, b: &f64| {
        (a - b).abs() <= 1e-11 * a.abs().max(b.abs()).max(1.0) || a.is_nan() && b.is_nan()
    };
    for height in [1, 8, 9, 63, 64, 65, 200] {
        for width in [1, 16, 17, 65, 513, 1100] {
            for share in [0, 1, 32, 64] {
                let all = 0..height * width;
                // Of one column in three nothing counts, where some do not.
                let counts = |k: usize| {
                    bits(k + 7) % 64 < share && (share == 64 || k % width % 3 != 1 || share == 32)
                };
                let mask =
                    Tensor::from_vec([height, width], all.clone().map(counts).collect()).unwrap();
                let bytes = all.clone().map(|k| bits(k) as u8).collect();
                let bytes = Tensor::from_vec([height, width], bytes).unwrap();
                check(&bytes, &mask, Sum, |a, b| a == b);
                check(&bytes, &mask, Max, |a, b| a == b);
                check(&bytes, &mask, PeakToPeak, |a, b| a == b);
                check(&bytes, &mask, Any, |a, b| a == b);
                check(&bytes, &mask, All, |a, b| a == b);
                check(&bytes, &mask, Mean, close);
                check(&bytes, &mask, Variance { ddof: 1 }, close);
                let long = all.clone().map(|k| (bits(k) as i64) << 8 | 1).collect();
                let long = Tensor::from_vec([height, width], long).unwrap();
                check(&long, &mask, Sum, |a, b| a == b);
                check(&long, &mask, Min, |a, b| a == b);
                // What does not count is no number.
                let number = |k: usize| {
                    if counts(k) { bits(k) as i32 as f64 / 4096.0 } else { f64::NAN }
                };
                let floats = Tensor::from_vec([height, width], all.map(number).collect()).unwrap();
                check(&floats, &mask, Sum, close);
                check(&floats, &mask, Min, |a, b| a == b);
                check(&floats, &mask, Mean, close);
                check(&floats, &mask, StandardDeviation { ddof: 0 }, close);
                check(&floats, &mask, Norm, close);
                check(&floats, &mask, NaiveSum, |a, b| a.to_bits() == b.to_bits());
                let skipped = floats.nan_sum(0).to_vec().unwrap();
                let kept = floats.sum(0).filter(&mask).to_vec().unwrap();
                assert!(skipped.iter().zip(&kept).all(|(a, b)| a.to_bits() == b.to_bits()));
            }
        }
    }
}

#[test]
fn zeros_keep_their_sign_beside_what_does_not_count() {
    let zeros = Tensor::from_vec([20, 40], vec![-0.0_f64; 800]).unwrap();
    let mask = Tensor::from_vec([20, 40], (0..800).map(|k| k % 3 == 0 && k % 40 != 5).collect());
    let mask = mask.unwrap();
    let sums = zeros.sum(0).filter(&mask).to_vec().unwrap();
    let means = zeros.mean(0).filter(&mask).or(1.0).to_vec().unwrap();
    for (k, (sum, mean)) in sums.into_iter().zip(means).enumerate() {
        // The sum of nothing is 0.
        assert_eq!(sum.to_bits(), if k == 5 { 0.0_f64 } else { -0.0 }.to_bits(), "{k}");
        assert_eq!(mean.to_bits(), if k == 5 { 1.0_f64 } else { -0.0 }.to_bits(), "{k}");
    }
}
