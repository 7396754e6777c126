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
    for (start, x) in [
        (1e6_f32, -0.1),
        (-7.7, 0.3),
        (1.0, -1e-7),
        (-3e38, -2e31),
        (0.0, -0.0),
        (5.0, -5.0),
        (8_388_628.0, -1.4),
    ] {
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

/// Towards zero, where sums below a power of two are rounded to closer neighbours.
#[test]
fn naive_sums_towards_zero_have_the_bits_of_steps() {
    let mut state = 1_u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    for _ in 0..20_000 {
        let power = 1_u64 << (20 + random(6));
        let start = (power + random(40)) as f32 + random(8) as f32 / 8.0;
        let x = -(random(400) as f32 / 100.0);
        let mut sum = start;
        for count in 1..40 {
            sum += x;
            let mut copies = start;
            NaiveSum.step_copies(&mut copies, x, 1, count);
            assert_eq!(copies.to_bits(), sum.to_bits(), "{count} times {x} on {start}");
        }
    }
}
