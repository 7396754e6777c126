//! Quantiles and histograms.

use super::support::{axis_of, bits, floats, map_lanes, sorted};
use lensor::arbitrary::Viewed;
use lensor::generate::linspace;
use lensor::lanes::{Bins, Edges, Interpolation, Lanes, SortOrder::Ascending, Uniform};
use lensor::prelude::*;
use lensor::reduce::Axes;
use lensor::tensor::stack;
use quickcheck::quickcheck;

const INTERPOLATIONS: [Interpolation; 5] = [
    Interpolation::Linear,
    Interpolation::Lower,
    Interpolation::Higher,
    Interpolation::Nearest,
    Interpolation::Midpoint,
];

/// Quantile of a lane by sorting it. `None` where the two elements around it and the rule leave more than
/// one rounding.
fn quantile(lane: &[f64], q: f64, interpolation: Interpolation) -> [f64; 2] {
    let lane = sorted(lane, Ascending);
    let rank = q * (lane.len() - 1) as f64;
    let (low, high) = (lane[rank.floor() as usize], lane[rank.ceil() as usize]);
    let part = rank - rank.floor();
    match interpolation {
        Interpolation::Lower => [low; 2],
        Interpolation::Higher => [high; 2],
        Interpolation::Nearest if part == 0.5 => {
            [if rank.floor() % 2.0 == 0.0 { low } else { high }; 2]
        }
        Interpolation::Nearest => [if part < 0.5 { low } else { high }; 2],
        _ if part == 0.0 => [low; 2],
        _ => [low, high],
    }
}

/// As many quantiles as elements, many of which are zeros of either sign: the sorted lane.
#[test]
fn all_quantiles_are_the_sorted_lane() {
    let lane: Vec<f64> =
        (0..5001).map(|k| [0.0, -0.0, f64::from(k * 37 % 101) - 50.0][k as usize % 3]).collect();
    let t = Tensor::from(lane);
    let all: Vec<f64> = (0..5001).map(|k| f64::from(k) / 5000.0).collect();
    let found = t.quantiles(0, &all, Interpolation::Nearest).to_vec().unwrap();
    assert_eq!(bits(&found), bits(&t.sort(0, Ascending).to_vec().unwrap()));
}

quickcheck! {
    fn quantiles_are_elements_of_the_sorted_lane(
        viewed: Viewed<u8>, axis: usize, q: u8, rule: usize, skip: bool
    ) -> bool {
        let Some(axis) = axis_of(&viewed, axis) else { return true };
        let viewed = floats(&viewed);
        let (shape, data) = viewed.model();
        if shape[axis] == 0 {
            return true;
        }
        let (q, rule) = (f64::from(q) / 255.0, INTERPOLATIONS[rule % 5]);
        let t = viewed.tensor();
        let found = if skip { t.nan_quantile(axis, q, rule) } else { t.quantile(axis, q, rule) };
        let found = found.eval().unwrap();
        let (_, expected) = map_lanes(&shape, axis, &data, 1, |lane| {
            let numbers: Vec<f64> = lane.iter().copied().filter(|x| !x.is_nan()).collect();
            let nan = lane.iter().copied().find(|x| x.is_nan());
            match nan {
                Some(nan) if !skip || numbers.is_empty() => vec![[nan; 2]],
                _ => vec![quantile(&numbers, q, rule)],
            }
        });
        let mut rest = shape.to_vec();
        rest.remove(axis);
        found.shape() == rest
            && found.to_vec().unwrap().iter().zip(expected).all(|(x, [low, high])| {
                let exact = low.to_bits() == high.to_bits();
                // Infinities of both signs have no middle.
                if exact {
                    x.to_bits() == low.to_bits()
                } else {
                    (low <= *x && *x <= high) || (low.is_infinite() && high.is_infinite())
                }
            })
    }

    fn the_median_is_half_way(numbers: Vec<i32>, axis: bool) -> bool {
        if numbers.is_empty() {
            return true;
        }
        let data: Vec<f64> = numbers.iter().map(|&x| f64::from(x)).collect();
        let mut order = numbers.clone();
        order.sort();
        let n = order.len();
        let twice = i64::from(order[(n - 1) / 2]) + i64::from(order[n / 2]);
        let shape = if axis { [n, 1] } else { [1, n] };
        let t = Tensor::from_vec(shape, data).unwrap();
        let integers = Tensor::from_vec(shape, numbers).unwrap();
        t.median(usize::from(!axis)).item().unwrap() == twice as f64 / 2.0
            && integers.median(usize::from(!axis)).item().unwrap() == twice as f64 / 2.0
    }

    fn several_quantiles_are_each_by_itself(viewed: Viewed<u8>, axis: usize, list: Vec<u8>) -> bool {
        let Some(axis) = axis_of(&viewed, axis) else { return true };
        let t = floats(&viewed).tensor();
        if t.shape()[axis] == 0 {
            return true;
        }
        let list: Vec<f64> = list.iter().map(|&q| f64::from(q) / 255.0).collect();
        let found = t.quantiles(axis, &list, Interpolation::Linear).eval().unwrap();
        list.iter().enumerate().all(|(k, &q)| {
            let one = t.quantile(axis, q, Interpolation::Linear).to_vec().unwrap();
            let own = found.view().slice(axis, k..k + 1).unwrap().to_vec().unwrap();
            bits(&one) == bits(&own)
        })
    }

    fn histograms_count_between_edges(viewed: Viewed<u8>, axis: usize, edges: Vec<u8>) -> bool {
        let Some(axis) = axis_of(&viewed, axis) else { return true };
        let mut edges = edges;
        edges.sort();
        let Ok(bins) = Edges::new(edges.clone()) else { return edges.len() < 2 };
        let count = edges.len() - 1;
        let tally = |lane: &[u8]| {
            let inside = |k: usize, x: u8| {
                edges[k] <= x && x < edges[k + 1]
                    || k + 1 == count && x == edges[count]
            };
            let counts = |k: usize| lane.iter().filter(|&&x| inside(k, x)).count() as u64;
            (0..count).map(counts).collect::<Vec<u64>>()
        };
        let (t, (shape, data)) = (viewed.tensor(), viewed.model());
        let sparse = t.view().to_sparse(edges[0]).unwrap();
        t.view().histogram(&bins).to_vec().unwrap() == tally(&data)
            && sparse.histogram(&bins as &dyn Bins<u8>).to_vec().unwrap() == tally(&data)
            && t.histogram_along(axis, bins).to_vec().unwrap()
                == map_lanes(&shape, axis, &data, count, tally).1
    }

    fn uniform_bins_are_bins_between_their_edges(data: Vec<i16>, count: u8, low: i8, width: u8) -> bool {
        let (count, low, high) =
            (usize::from(count) + 1, f64::from(low), f64::from(low) + f64::from(width) + 0.5);
        let (low, high) = (low / 10.0, high / 10.0);
        let ends = linspace(low, high, count + 1).unwrap().to_vec().unwrap();
        let edges = Edges::new(ends.clone()).unwrap();
        let uniform = Uniform::new(low, high, count).unwrap();
        assert_eq!(uniform.edges(), ends);
        let elements = data.iter().map(|&x| f64::from(x) / 640.0).chain(ends);
        elements.into_iter().all(|x| uniform.bin(x) == edges.bin(x))
    }
}

#[test]
fn quantiles_between_extremes_do_not_overflow() {
    let t = Tensor::from_vec([2], vec![f64::MIN, f64::MAX]).unwrap();
    assert_eq!(t.median(0).item(), Ok(0.0));
    let t = Tensor::from_vec([2], vec![1.0, f64::INFINITY]).unwrap();
    assert_eq!(t.quantile(0, 0.5, Interpolation::Linear).item(), Ok(f64::INFINITY));
    assert_eq!(t.quantile(0, 0.0, Interpolation::Linear).item(), Ok(1.0));
}

/// Steps of few digits do not lead beyond the last edge.
#[test]
fn bins_of_the_smallest_numbers_are_in_order() {
    let tiny = |k: u64| f64::from_bits(k);
    let bins = Uniform::new(0.0, tiny(5), 9).unwrap();
    let found: Vec<_> = (0..=5).map(|k| bins.bin(tiny(k))).collect();
    assert!(found.is_sorted() && found[5] == Some(8) && bins.bin(tiny(6)).is_none(), "{found:?}");
}

/// The mean of the two elements in the middle is rounded once.
#[test]
fn medians_are_exact_where_signs_differ() {
    let t = Tensor::from(vec![-1e16, 1e16 + 2.0]);
    assert_eq!(t.median(0).item(), Ok(1.0));
    assert_eq!(Tensor::from(vec![-0.1, 0.3]).median(0).item(), Ok((0.3 - 0.1) / 2.0));
    let large = Tensor::from(vec![i64::MIN, i64::MAX]);
    assert_eq!(large.median(0).item(), Ok(0.0));
}

#[test]
fn nearest_prefers_even_ranks() {
    let t = Tensor::from_vec([4], vec![0.0, 10.0, 20.0, 30.0]).unwrap();
    let nearest = |q| t.quantile(0, q, Interpolation::Nearest).item().unwrap();
    assert_eq!([nearest(0.5), nearest(0.4), nearest(0.6)], [20.0, 10.0, 20.0]);
}

/// Quantiles of integers and of truth values are those of the floats that they are.
#[test]
fn quantiles_of_integers_are_floats() {
    let t = Tensor::from_nested([[9_u8, 250, 8, 255], [3, 1, 2, 0]]).unwrap();
    let floats = t.cast::<f64>().eval().unwrap();
    for rule in INTERPOLATIONS {
        for q in [0.0, 0.3, 0.5, 0.9, 1.0] {
            let found = t.quantile(1, q, rule).eval().unwrap();
            assert_eq!(found, floats.quantile(1, q, rule).eval().unwrap());
            assert_eq!(t.nan_quantile(1, q, rule).eval().unwrap(), found);
        }
    }
    let several = t.quantiles(1, [0.5, 1.0], Interpolation::Linear).to_vec();
    assert_eq!(several, Ok(vec![129.5, 255.0, 1.5, 3.0]));
    let ends = Tensor::from(vec![i64::MIN, i64::MAX]);
    assert_eq!(ends.median(..).item(), Ok(0.0));
    assert_eq!(Tensor::from(vec![true, false]).median(..).item(), Ok(0.5));
    assert_eq!(t.nan_median(..).item(), Ok(5.5));
    let text = t.median(1).explain().unwrap().to_string();
    assert!(text.starts_with("quantiles of u8 [2, 4] along axis 1 to f64 [2]"), "{text}");
}

/// An axis that goes away may stay with extent 1; one that stays is as it was.
#[test]
fn axes_that_go_away_may_stay() {
    let t = Tensor::from_index([3, 4, 5], |index| {
        f64::from((index[0] * 7 + index[1] * 3 + index[2] * 11) as u32 % 13)
    })
    .unwrap();
    for axis in 0..3 {
        let (median, mode) = (t.median(axis), t.mode(axis));
        let expected =
            [median.eval(), mode.eval()].map(|found| found.unwrap().insert_axis(axis).unwrap());
        let kept = [median.keepdims().eval().unwrap(), mode.keepdims().eval().unwrap()];
        assert_eq!(kept, expected);
        let mut out = Tensor::full(expected[0].shape(), 0.0).unwrap();
        t.median(axis).keepdims().assign_to(&mut out.view_mut().flip(axis).unwrap()).unwrap();
        assert_eq!(out, expected[0]);
        let sorted = t.sort(axis, SortOrder::Ascending);
        assert_eq!(sorted.eval().unwrap(), sorted.keepdims().eval().unwrap());
    }
    assert_eq!((&t - t.median(1).keepdims()).shape().unwrap(), [3, 4, 5]);
}

/// Several axes are one lane, whose elements come in row-major order.
#[test]
fn several_axes_are_one_lane() {
    let t = Tensor::from_index([3, 4, 5], |index| {
        f64::from((index[0] * 7 + index[1] * 3 + index[2] * 11) as u32 % 13)
    })
    .unwrap();
    let merged = |order: [usize; 3], extents: &[usize]| {
        t.view().transpose(order).unwrap().reshape(extents).unwrap()
    };
    /// Axes, the order in which they are last, extents with them as one, its number, and extents that are kept.
    type Case<'c> = (&'c [usize], [usize; 3], &'c [usize], usize, &'c [usize]);
    let cases: [Case<'_>; 6] = [
        (&[0, 1], [2, 0, 1], &[5, 12], 1, &[1, 1, 5]),
        (&[2, 0], [1, 0, 2], &[4, 15], 1, &[1, 4, 1]),
        (&[1, 2], [0, 1, 2], &[3, 20], 1, &[3, 1, 1]),
        (&[0, 1, 2], [0, 1, 2], &[60], 0, &[1, 1, 1]),
        (&[1], [0, 2, 1], &[3, 5, 4], 2, &[3, 1, 5]),
        (&[], [0, 1, 2], &[3, 4, 5, 1], 3, &[3, 4, 5]),
    ];
    for (axes, order, extents, axis, kept) in cases {
        let lanes = merged(order, extents);
        let (q, rule) = (0.3, Interpolation::Linear);
        let expected = lanes.view().quantile(axis, q, rule).eval().unwrap();
        let found = t.quantile(axes, q, rule);
        assert_eq!(found.eval().unwrap(), expected, "{axes:?}");
        assert_eq!(t.mode(axes).eval().unwrap(), lanes.view().mode(axis).eval().unwrap());
        let several = t.quantiles(axes, [0.3, 1.0, 0.0], rule);
        match axes {
            [axis] => {
                assert!(several.try_equal(t.quantiles(*axis, [0.3, 1.0, 0.0], rule)).unwrap())
            }
            _ => assert!(several.try_equal(lanes.quantiles(axis, [0.3, 1.0, 0.0], rule)).unwrap()),
        }
        let (values, several) = (several.to_vec().unwrap(), several.keepdims());
        let mut shape = kept.to_vec();
        match axes {
            [axis] => shape[*axis] = 3,
            _ => shape.push(3),
        }
        assert_eq!(several.shape().unwrap(), shape);
        assert_eq!(several.to_vec().unwrap(), values);
        let mut out = Tensor::full(&shape, 0.0).unwrap();
        several.assign_to(&mut out.view_mut().flip(1).unwrap()).unwrap();
        assert_eq!(out.flip(1).unwrap().to_vec().unwrap(), values);
        let found = found.keepdims();
        assert_eq!(found.shape().unwrap(), *kept);
        assert_eq!(found.to_vec().unwrap(), expected.to_vec().unwrap());
        let mut out = Tensor::full(kept, 0.0).unwrap();
        found.assign_to(&mut out.view_mut().flip(0).unwrap()).unwrap();
        assert_eq!(out.flip(0).unwrap().to_vec().unwrap(), expected.to_vec().unwrap());
    }
    assert_eq!(t.median(..).item(), t.median([2, 1, 0]).item());
    let half = |axes: Axes| t.quantiles(axes, [0.5, 0.75], Interpolation::Linear);
    assert!(half(Axes::From(2)).try_equal(half(Axes::One(2))).unwrap());
    let mut out = Tensor::full([3, 2], 0.0).unwrap();
    half(Axes::From(1)).assign_to(&mut out.view_mut().flip(1).unwrap()).unwrap();
    assert_eq!(out.flip(1).unwrap().eval().unwrap(), half(Axes::From(1)).eval().unwrap());
    assert_eq!(half(Axes::One(3)).eval().unwrap_err(), Error::Axis { axis: 3, rank: 3 });
    let twice = Axes::Listed(vec![1, 1]);
    assert_eq!(half(twice).shape().unwrap_err(), Error::RepeatedAxis { axis: 1 });
    assert_eq!(t.median([0, 3]).eval().unwrap_err(), Error::Axis { axis: 3, rank: 3 });
    assert_eq!(t.median([1, 1]).shape().unwrap_err(), Error::RepeatedAxis { axis: 1 });
    assert_eq!(t.median([1, 1]).explain().unwrap_err(), Error::RepeatedAxis { axis: 1 });
    let text = t.median([2, 0]).explain().unwrap().to_string();
    assert!(text.starts_with("quantiles of f64 [3, 4, 5] along axes [0, 2] to f64 [4]"), "{text}");
    let none = Tensor::full([0, 3], 1.0).unwrap();
    let empty = Error::EmptyReduction { axis: 0, shape: vec![0, 3] };
    assert_eq!(none.median(0).eval().unwrap_err(), empty);
    assert_eq!(none.median([0]).eval().unwrap_err(), empty);
    assert_eq!(none.median(..).eval().unwrap_err(), empty);
    let one = Tensor::full([], 1.0).unwrap();
    assert_eq!(one.median(..).item(), Ok(1.0));
    for error in [one.median([3]).eval().map(drop), one.median([3]).explain().map(drop)] {
        assert_eq!(error, Err(Error::Axis { axis: 3, rank: 0 }));
    }
}

/// A share of an infinite number that narrow floats round to 0 is none of 0.
#[cfg(feature = "half")]
#[test]
fn narrow_quantiles_beside_infinities() {
    use half::f16;
    let low = (0..101).map(|k| if k < 57 { f16::NEG_INFINITY } else { f16::ONE }).collect();
    let low: Tensor<Vec<f16>> = Tensor::from_vec([101], low).unwrap();
    let found = low.quantile(0, 0.57, Interpolation::Linear).item().unwrap();
    assert_eq!(found, f16::NEG_INFINITY);
    let high = low.map(|x| -x).eval().unwrap();
    assert_eq!(high.quantile(0, 1.0 - 0.57, Interpolation::Linear).item().unwrap(), f16::INFINITY);
}

/// Bins of one width are of all that has an order, so no imaginary part is lost in them.
#[cfg(feature = "complex")]
#[test]
fn complex_numbers_have_no_uniform_bins() {
    use num_complex::{Complex32, Complex64};
    use std::marker::PhantomData;
    struct Of<T>(PhantomData<T>);
    trait Otherwise {
        const BINS: bool = false;
    }
    impl<T> Otherwise for Of<T> {}
    // Where its bound holds, this is meant by the name.
    impl<T> Of<T>
    where
        Uniform: Bins<T>,
    {
        const BINS: bool = true;
    }
    assert_eq!([Of::<bool>::BINS, Of::<u128>::BINS, Of::<f32>::BINS], [true; 3]);
    assert_eq!([Of::<Complex32>::BINS, Of::<Complex64>::BINS], [false; 2]);
}

/// Of no axes each element is a lane, for which there is room at the limit of the rank too.
#[test]
fn lanes_of_no_axes_are_the_elements() {
    let mut shape = [1; 64];
    shape[3] = 2;
    let t = Tensor::from_vec(shape, vec![1.0, 2.0]).unwrap();
    let median = t.median([]);
    assert_eq!(median.shape().unwrap(), shape);
    assert_eq!(median.to_vec().unwrap(), [1.0, 2.0]);
    assert_eq!(median.keepdims().shape().unwrap(), shape);
    let mut out = Tensor::full(shape, 0.0).unwrap();
    t.mode([]).assign_to(&mut out.view_mut().flip(3).unwrap()).unwrap();
    assert_eq!(out.to_vec().unwrap(), [2.0, 1.0]);
    let refused = t.quantiles([], [0.5], Interpolation::Linear).shape();
    assert_eq!(refused, Err(Error::RankLimit { rank: 65, limit: 64 }));
}

/// Quantiles of several axes that are kept come box by box too, and have no more axes than there is room for.
#[test]
fn quantiles_of_axes_that_stay() {
    let t = Tensor::from_vec([2, 33_000, 2], (0..132_000).map(|k| f64::from(k % 101)).collect());
    let (t, rule) = (t.unwrap(), Interpolation::Lower);
    let kept = t.quantiles([0, 2], [0.0, 1.0], rule).keepdims();
    let ends = [t.min([0, 2]).keepdims().eval().unwrap(), t.max([0, 2]).keepdims().eval().unwrap()];
    let expected = stack(3, &ends).unwrap().eval().unwrap();
    assert_eq!(kept.eval().unwrap(), expected);
    let mut out = Tensor::full([1, 33_000, 1, 2], 0.0).unwrap();
    kept.assign_to(&mut out.view_mut().flip(1).unwrap()).unwrap();
    assert_eq!(out.flip(1).unwrap().eval().unwrap(), expected);
    let most = Tensor::full([1; 64], 1.0).unwrap();
    assert_eq!(most.quantiles([0, 5], [0.5], rule).shape().unwrap().rank(), 63);
    let refused = most.quantiles([0, 5], [0.5], rule).keepdims();
    assert_eq!(refused.shape(), Err(Error::RankLimit { rank: 65, limit: 64 }));
    assert_eq!(refused.eval().unwrap_err(), Error::RankLimit { rank: 65, limit: 64 });
}
