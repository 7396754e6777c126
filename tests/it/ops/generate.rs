//! Generators against the rules they state, and every way in which they refuse.

use lensor::generate::{
    eye, geomspace, identity, linspace, linspace_open, logspace, meshgrid, one_hot, range,
};
use lensor::prelude::*;
use quickcheck::quickcheck;

quickcheck! {
    /// A range of integers holds what stepping holds, wherever the bounds lie.
    fn integer_ranges_step(start: i8, stop: i8, step: i8) -> bool {
        if step == 0 {
            return range(start, stop, step).is_err();
        }
        let mut expected = Vec::new();
        let mut next = i32::from(start);
        while if step > 0 { next < stop.into() } else { next > stop.into() } {
            expected.push(next as i8);
            next += i32::from(step);
        }
        range(start, stop, step).unwrap().to_vec().unwrap() == expected
    }

    /// Unsigned ones too.
    fn unsigned_ranges_step(start: u8, stop: u8, step: u8) -> bool {
        match step {
            0 => range(start, stop, step).is_err(),
            _ => {
                let expected: Vec<u8> = (start..stop).step_by(step.into()).collect();
                range(start, stop, step).unwrap().to_vec().unwrap() == expected
            }
        }
    }

    /// `n` tenths up to `n / 10` are `n` elements, though few tenths are exact.
    fn a_quotient_near_an_integer_is_that_integer(n: u16) -> bool {
        let stop = f64::from(n) * 0.1;
        range(0.0, stop, 0.1).unwrap().len() == usize::from(n)
            && range(0.0_f32, f32::from(n) * 0.1, 0.1).unwrap().len() == usize::from(n)
    }

    /// Both ends are exact, neighbours are in order.
    fn linspace_runs_from_start_to_stop(start: f32, stop: f32, count: u8) -> bool {
        let Ok(t) = linspace(start, stop, count.into()) else {
            return !(stop - start).is_finite();
        };
        let all = t.to_vec().unwrap();
        let ends = match &all[..] {
            [] => count == 0,
            [only] => *only == start,
            [first, .., last] => *first == start && *last == stop,
        };
        ends && all.len() == usize::from(count)
    }

    /// `eye` is 1 where the column exceeds the row by the number of the diagonal.
    fn eye_is_one_on_its_diagonal(rows: u8, columns: u8, diagonal: i8) -> bool {
        let (rows, columns) = (usize::from(rows % 9), usize::from(columns % 9));
        let on = |index: &[usize]| index[1] as isize - index[0] as isize == isize::from(diagonal);
        let expected = Tensor::from_index([rows, columns], |index| i32::from(on(index))).unwrap();
        eye::<i32>(rows, columns, diagonal.into()).unwrap() == expected
    }

    /// Every tensor of a grid holds one coordinate of every point.
    fn meshgrid_holds_coordinates(extents: Vec<u8>) -> bool {
        let extents: Vec<usize> = extents.iter().take(4).map(|&n| usize::from(n % 5)).collect();
        let axes = extents.iter().map(|&n| Tensor::from((0..n).collect::<Vec<_>>()));
        let grid = meshgrid(axes).unwrap();
        let shape = Shape::from(&extents[..]);
        grid.len() == extents.len()
            && grid.iter().enumerate().all(|(k, t)| {
                *t == Tensor::from_index(&shape, |index| index[k]).unwrap()
            })
    }

    /// One mark a label, at the label.
    fn one_hot_marks_the_label(labels: Vec<u8>) -> bool {
        let expected = Tensor::from_index([labels.len(), 7], |index| {
            usize::from(labels[index[0]]) == index[1]
        });
        let labels = Tensor::from(labels.clone());
        one_hot(labels, 7).eval().unwrap() == expected.unwrap()
    }
}

#[test]
fn the_ends_of_types_are_in_reach() {
    assert_eq!(range(i8::MIN, i8::MAX, 1).unwrap().len(), 255);
    assert_eq!(
        range(u64::MAX - 2, u64::MAX, 1).unwrap().to_vec().unwrap(),
        [u64::MAX - 2, u64::MAX - 1]
    );
    assert_eq!(range(i128::MIN, i128::MAX, i128::MAX).unwrap().len(), 3);
    assert_eq!(range(i64::MAX, i64::MIN, i64::MIN).unwrap().to_vec().unwrap(), [i64::MAX, -1]);
    assert_eq!(range(-f64::MAX, 0.0, f64::MAX).unwrap().len(), 1);
    assert_eq!(range(0.0, 1.0, -0.5).unwrap().len(), 0);
    assert_eq!(range(0.0, 5e-324, 5e-324).unwrap().len(), 1);
    // 3 * 0.1 is just above 0.3, and 0.3 / 0.1 just below 3.
    assert_eq!(range(0.0, 0.3, 0.1).unwrap().to_vec().unwrap(), [0.0, 0.1, 0.2]);
    assert_eq!(range(1.0, 1.3, 0.1).unwrap().len(), 3);
}

/// Indexes beyond 2^24 are no numbers of `f32`.
#[test]
fn narrow_floats_have_long_ranges() {
    let long = range(-16777216_f32, 16777216.0, 1.0).unwrap();
    let middle = long.view().slice(0, 16777215..16777220).unwrap();
    assert_eq!(middle.to_vec().unwrap(), [-1.0, 0.0, 1.0, 2.0, 3.0]);
}

#[test]
fn generators_take_no_memory() {
    let n = 1_usize << 40;
    assert_eq!(range(0_u64, n as u64, 1).unwrap().get([n - 1]).unwrap(), n as u64 - 1);
    assert_eq!(linspace(0.0, 1.0, n).unwrap().get([n - 1]).unwrap(), 1.0);
    let eye = identity::<u8>(1 << 30).unwrap();
    assert_eq!((eye.get([77, 77]).unwrap(), eye.get([77, 78]).unwrap()), (1, 0));
    let mark = eye.address_map().to_global((1 << 30) - 1).nth(5).unwrap();
    assert_eq!(mark.as_slice(), [5, 5]);
}

#[test]
fn spaces_are_those_of_numpy() {
    let close = |t: Vec<f64>, expected: &[f64]| {
        t.len() == expected.len() && t.iter().zip(expected).all(|(a, b)| (a - b).abs() <= 1e-12 * b)
    };
    assert!(close(logspace(1.0, 3.0, 3, 10.0).unwrap().to_vec().unwrap(), &[10.0, 100.0, 1000.0]));
    assert!(close(
        geomspace(1.0, 1000.0, 4).unwrap().to_vec().unwrap(),
        &[1.0, 10.0, 100.0, 1000.0]
    ));
    let falling = geomspace(-8.0, -1.0, 4).unwrap().to_vec().unwrap();
    assert!(close(falling.iter().map(|x| -x).collect(), &[8.0, 4.0, 2.0, 1.0]));
    assert_eq!(geomspace(5.0, 7.0, 1).unwrap().to_vec().unwrap(), [5.0]);
    assert_eq!(linspace_open(1.0, 2.0, 0).unwrap().len(), 0);
}

/// Powers of ten between powers of ten are the numbers of literals.
#[test]
fn geometric_tens_are_exact() {
    for (low, high) in [(0, 3), (-3, 3), (-7, 15), (-30, 19), (-160, 160), (-323, 308), (2, 51)] {
        let literal = |exponent: i32| format!("1e{exponent}").parse::<f64>().unwrap();
        let expected: Vec<f64> = (low..=high).map(literal).collect();
        let rising = geomspace(literal(low), literal(high), expected.len()).unwrap();
        assert_eq!(rising.to_vec().unwrap(), expected);
        let falling = geomspace(-literal(high), -literal(low), expected.len()).unwrap();
        let falling = falling.flip(0).unwrap().to_vec().unwrap();
        assert_eq!(falling, expected.iter().map(|x| -x).collect::<Vec<f64>>());
        // Every other one lies between two of them.
        let halves = geomspace(literal(low), literal(high), 2 * expected.len() - 1).unwrap();
        let halves = halves.to_vec().unwrap();
        assert_eq!(halves.iter().copied().step_by(2).collect::<Vec<f64>>(), expected);
        assert!(halves.is_sorted_by(|a, b| a < b), "{halves:?}");
    }
    assert_eq!(geomspace(2.0, 2000.0, 4).unwrap().to_vec().unwrap(), [2.0, 20.0, 200.0, 2000.0]);
    assert_eq!(geomspace(-700.0, -7.0, 3).unwrap().to_vec().unwrap(), [-700.0, -70.0, -7.0]);
    assert_eq!(geomspace(1.0, 16.0, 5).unwrap().to_vec().unwrap(), [1.0, 2.0, 4.0, 8.0, 16.0]);
    for same in [10.0, -1e-3, 7.0] {
        assert_eq!(geomspace(same, same, 5).unwrap().to_vec().unwrap(), [same; 5]);
    }
}

/// Those of narrow types are the nearest numbers of these, though they are no powers of ten as `f64`.
#[test]
fn geometric_tens_of_narrow_floats_are_exact() {
    let found = geomspace(1e-3_f32, 10.0, 5).unwrap().to_vec().unwrap();
    assert_eq!(found, [1e-3, 1e-2, 0.1, 1.0, 10.0]);
    for (low, high) in [(0, 6), (-3, 1), (-12, 7), (-45, 38), (-9, -2), (11, 20)] {
        let literal = |exponent: i32| format!("1e{exponent}").parse::<f32>().unwrap();
        let expected: Vec<f32> = (low..=high).map(literal).collect();
        let rising = geomspace(literal(low), literal(high), expected.len()).unwrap();
        assert_eq!(rising.to_vec().unwrap(), expected);
        let falling = geomspace(-literal(high), -literal(low), expected.len()).unwrap();
        let falling = falling.flip(0).unwrap().to_vec().unwrap();
        assert_eq!(falling, expected.iter().map(|x| -x).collect::<Vec<f32>>());
    }
}

/// The quotient of the ends need not be a number of their type, nor one of full precision.
#[test]
fn far_ends_have_numbers_between_them() {
    let narrow = |start: f32, stop: f32| geomspace(start, stop, 3).unwrap().to_vec().unwrap();
    assert_eq!(narrow(1e20, 1e-24), [1e20, 0.01, 1e-24]);
    assert_eq!(narrow(1e-24, 1e20), [1e-24, 0.01, 1e20]);
    for (start, stop) in [(1e160, 1e-160), (1e-160, 1e160), (-1e-200, -1e200), (5e-324, 1e308)] {
        let found = geomspace::<f64>(start, stop, 5).unwrap().to_vec().unwrap();
        assert_eq!((found[0], found[4]), (start, stop));
        let quotients: Vec<f64> = found.windows(2).map(|pair| pair[1] / pair[0]).collect();
        let even = |quotient: &f64| (quotient / quotients[1] - 1.0).abs() < 1e-12;
        assert!(quotients[1..].iter().all(even), "{quotients:?}");
    }
    let ends = [(1.0, f64::INFINITY), (f64::INFINITY, f64::INFINITY), (-1.0, 1.0), (1.0, -0.0)];
    assert!(ends.iter().all(|&(start, stop)| geomspace(start, stop, 3).is_err()));
}

#[test]
fn what_has_no_count_is_refused() {
    let text = |e: Result<usize, Error>| e.unwrap_err().to_string();
    let floats = |a: f64, b: f64, c: f64| text(range(a, b, c).map(|t| t.len()));
    assert_eq!(floats(0.0, 1.0, 0.0), "a range from 0.0 to 1.0 by 0.0 has step 0");
    assert_eq!(floats(0.0, 1.0, f64::NAN), "a range from 0.0 to 1.0 by NaN is not finite");
    assert_eq!(floats(0.0, f64::INFINITY, 1.0), "a range from 0.0 to inf by 1.0 is not finite");
    // The elements would be, as multiples of the step are not.
    assert_eq!(
        floats(-1.7e308, 1.7e308, 1e307),
        format!("a range from {:?} to {:?} by {:?} is not finite", -1.7e308, 1.7e308, 1e307)
    );
    assert!(range(-3e38_f32, 3e38, 1e37).is_err() && range(3e38_f32, -3e38, -1e37).is_err());
    let long = "has more elements than fit in isize";
    assert_eq!(floats(0.0, 1e300, 1.0), format!("a range from 0.0 to 1e300 by 1.0 {long}"));
    let wide = text(range(i128::MIN, i128::MAX, 1).map(|t| t.len()));
    assert_eq!(wide, format!("a range from {} to {} by 1 {long}", i128::MIN, i128::MAX));
    let error = linspace(-f64::MAX, f64::MAX, 3).err();
    assert!(matches!(error, Some(Error::Range { what: "is not finite", .. })), "{error:?}");
    assert!(geomspace(0.0, 1.0, 3).is_err() && geomspace(f64::NAN, 1.0, 3).is_err());
    assert!(matches!(linspace(0.0, 1.0, usize::MAX).err(), Some(Error::ShapeOverflow { .. })));
    let error = identity::<i32>(1 << 40).err();
    assert_eq!(error, Some(Error::ShapeOverflow { shape: vec![1 << 40, 1 << 40] }));
    let labels = Tensor::from(vec![0, -1]);
    let error = one_hot(&labels, 2).eval().unwrap_err();
    assert_eq!(error.to_string(), "cannot convert -1 at index [1, 0] to usize");
}

#[cfg(feature = "half")]
#[test]
fn small_types_have_long_ranges() {
    use half::f16;
    let halves = linspace(f16::ZERO, f16::from_f64(512.0), (1 << 18) + 1).unwrap();
    let at = |k: usize| halves.get([k]).unwrap().to_f64();
    assert_eq!([at(0), at(1 << 17), at(3 << 16), at(1 << 18)], [0.0, 256.0, 384.0, 512.0]);
}

#[cfg(feature = "half")]
#[test]
fn geometric_tens_of_halves_are_exact() {
    use half::{bf16, f16};
    let literal = |exponent: i32| format!("1e{exponent}").parse::<f64>().unwrap();
    let tens = |low: i32, high: i32| (low..=high).map(literal);
    for (low, high) in [(-3, 0), (-4, 4), (-2, 3), (0, 4)] {
        let expected: Vec<f16> = tens(low, high).map(f16::from_f64).collect();
        let found = geomspace(expected[0], expected[expected.len() - 1], expected.len()).unwrap();
        assert_eq!(found.to_vec().unwrap(), expected);
    }
    for (low, high) in [(-3, 0), (-30, 30), (2, 9)] {
        let expected: Vec<bf16> = tens(low, high).map(bf16::from_f64).collect();
        let found = geomspace(expected[0], expected[expected.len() - 1], expected.len()).unwrap();
        assert_eq!(found.to_vec().unwrap(), expected);
    }
}
