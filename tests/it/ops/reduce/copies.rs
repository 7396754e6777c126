//! Sums of many copies of one element, by a few steps.

use lensor::Tensor;
use lensor::reduce::{NaiveSum, Reduce, Reducer};
use lensor::storage::Duplicates;

/// Of many copies, without a step for each.
#[test]
fn naive_sums_of_copies_have_the_bits_of_steps() {
    for x in
        [0.1_f32, -0.3, 1.0, 1.5, 0.75, 3.0e38, 1.0e-45, 7.7e-39, f32::INFINITY, -0.0, 16_777_215.0]
    {
        let (mut sum, mut next) = (x, 1);
        for count in 2..3_000_000 {
            sum += x;
            if count == next + next / 3 + 1 {
                let copies: f32 = NaiveSum.repeat(x, 0, count);
                assert_eq!(copies.to_bits(), sum.to_bits(), "{count} times {x}");
                next = count;
            }
        }
    }
    // After elements of their own, of either sign.
    for (start, x) in
        [(1e6_f32, -0.1), (-7.7, 0.3), (1.0, -1e-7), (-3e38, -2e31), (0.0, -0.0), (5.0, -5.0)]
    {
        let (mut sum, mut next) = (start, 1);
        for count in 1..2_000_000 {
            sum += x;
            if count == next + next / 3 + 1 {
                let mut copies = start;
                NaiveSum.step_copies(&mut copies, x, 1, count);
                assert_eq!(copies.to_bits(), sum.to_bits(), "{count} times {x} on {start}");
                next = count;
            }
        }
    }
    let one = Tensor::from_coordinates([1 << 50], 0.5, &[[0]], vec![1.0], Duplicates::Refuse);
    let sums = one.unwrap().fold(.., (NaiveSum, NaiveSum)).item().unwrap();
    assert_eq!(sums.0, sums.1);
    assert!(Reducer::<f32>::repeat(&NaiveSum, f32::NAN, 0, 1 << 40).is_nan());
    let large = Tensor::sparse([1 << 50], 0.1).unwrap();
    let sum: f64 = large.fold(.., NaiveSum).item().unwrap();
    assert!((sum / 112_589_990_684_262.4 - 1.0).abs() < 0.05, "{sum}");
}
