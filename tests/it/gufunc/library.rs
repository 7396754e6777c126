//! Gufuncs that are ready made, against plain loops over copies of vectors, in numbers that are exact.

use super::operands::Source;
use crate::model::Model;
use crate::support::Random;
use lensor::gufunc::{
    argminmax, cdist, convolve_full, convolve_valid, cross, histogram, interp, matmul, minmax,
    norm, normalize, outer, pdist, polyval, trace,
};
use lensor::prelude::*;
use quickcheck::quickcheck;

/// The elements of the core of call `k`, of a shape whose last axes are the core.
fn core(model: &Model<i64>, axes: usize, k: usize) -> Vec<i64> {
    let len = model.shape[model.shape.len() - axes..].iter().product::<usize>();
    model.data[k * len..(k + 1) * len].to_vec()
}

/// Results of so many calls one after another.
fn all(calls: usize, f: impl Fn(usize) -> Vec<i64>) -> Vec<i64> {
    (0..calls).flat_map(f).collect()
}

quickcheck! {
    /// Products of vectors and sums of diagonals.
    fn products(seed: u64) -> bool {
        let mut random = Random(seed);
        let [calls, m, n] = [random.below(4), random.below(5), random.below(5)];
        let a = Source::random(&[calls, m], false, &mut random);
        let b = Source::random(&[calls, n], false, &mut random);
        let [found] = outer().call([&a.expr(), &b.expr()]).eval().unwrap();
        let expected = all(calls, |k| {
            let (a, b) = (core(&a.model, 1, k), core(&b.model, 1, k));
            a.iter().flat_map(|x| b.iter().map(move |y| x * y)).collect()
        });
        assert_eq!((found.shape().to_vec(), found.to_vec().unwrap()), (vec![calls, m, n], expected));

        let square = Source::random(&[calls, n, n], false, &mut random);
        let [found] = trace().call([&square.expr()]).eval().unwrap();
        let diagonal = |k| core(&square.model, 2, k).iter().step_by(n + 1).sum();
        assert_eq!(found.to_vec().unwrap(), all(calls, |k| vec![diagonal(k)]));

        let left = Source::random(&[calls, m, n], false, &mut random);
        let [found] = matmul().call([&left.expr(), &square.expr()]).eval().unwrap();
        let expected = all(calls, |k| {
            let (a, b) = (core(&left.model, 2, k), core(&square.model, 2, k));
            let one = |r: usize, c: usize| (0..n).map(|j| a[r * n + j] * b[j * n + c]).sum();
            (0..m * n).map(|p| one(p / n, p % n)).collect()
        });
        assert_eq!(found.to_vec().unwrap(), expected);

        let (a, b) = (Source::random(&[calls, 3], false, &mut random), Source::random(&[calls, 3], false, &mut random));
        let [found] = cross().call([&a.expr(), &b.expr()]).eval().unwrap();
        let expected = all(calls, |k| {
            let (a, b) = (core(&a.model, 1, k), core(&b.model, 1, k));
            vec![a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
        });
        found.to_vec().unwrap() == expected
    }

    /// Convolutions by their definition; empty where `m + n - 1` would be negative or either is empty.
    fn convolutions(seed: u64) -> bool {
        let mut random = Random(seed);
        let [calls, m, n] = [random.below(4), random.below(20), random.below(8)];
        let a = Source::random(&[calls, m], false, &mut random);
        let b = Source::random(&[1, n], false, &mut random);
        let at = |k: usize, p: usize| -> i64 {
            let (a, b) = (core(&a.model, 1, k), core(&b.model, 1, 0));
            (0..n).filter(|j| *j <= p && p - j < m).map(|j| a[p - j] * b[j]).sum()
        };
        let [full] = convolve_full().call([&a.expr(), &b.expr()]).eval().unwrap();
        let length = if m == 0 || n == 0 { 0 } else { m + n - 1 };
        assert_eq!(full.shape(), [calls, length]);
        assert_eq!(full.to_vec().unwrap(), all(calls, |k| (0..length).map(|p| at(k, p)).collect()));
        let valid = convolve_valid().call([&a.expr(), &b.expr()]).eval();
        if m == 0 || n == 0 {
            return valid.is_ok_and(|[t]| t.shape() == [calls, 0]);
        }
        if m + 1 < n {
            return matches!(valid, Err(Error::CoreComputed { value: Some(_), .. }));
        }
        let [valid] = valid.unwrap();
        valid.to_vec().unwrap() == all(calls, |k| (n - 1..m).map(|p| at(k, p)).collect())
    }

    /// Ends and their first positions, polynomials by Horner's rule, and counts of bins.
    fn vectors(seed: u64) -> bool {
        let mut random = Random(seed);
        let [calls, n] = [random.below(4), random.below(9)];
        let a = Source::random(&[calls, n], false, &mut random);
        let vector = |k| core(&a.model, 1, k);
        let ends = minmax().call([&a.expr()]).eval();
        let places = argminmax().call([&a.expr()]).eval();
        if n == 0 && calls > 0 {
            let first = |error: Error| matches!(error, Error::Elementary { index, .. } if index == [0]);
            assert!(first(ends.unwrap_err()) && first(places.unwrap_err()));
        } else {
            let ([least, most], [from, to]) = (ends.unwrap(), places.unwrap());
            let end = |k, most| if most { vector(k).into_iter().max() } else { vector(k).into_iter().min() };
            for (found, places, which) in [(least, from, false), (most, to, true)] {
                let expected = all(calls, |k| vec![end(k, which).unwrap()]);
                assert_eq!(found.to_vec().unwrap(), expected);
                let first = |k| vector(k).iter().position(|x| Some(*x) == end(k, which)).unwrap();
                assert_eq!(places.to_vec().unwrap(), (0..calls).map(first).collect::<Vec<_>>());
            }
        }
        let x = Source::random(&[5, 1], false, &mut random);
        let [found] = polyval().call([&a.expr(), &x.expr()]).axes([&[1][..], &[], &[]]).eval().unwrap();
        let value = |k: usize, x: i64| vector(k).iter().fold(0_i64, |sum, c| sum.wrapping_mul(x).wrapping_add(*c));
        assert_eq!(found.to_vec().unwrap(), all(5, |r| (0..calls).map(|k| value(k, x.model.data[r])).collect()));

        let mut edges: Vec<i64> = (0..1 + random.below(5)).map(|_| random.below(30) as i64 - 15).collect();
        edges.sort();
        edges.dedup();
        let bins = Tensor::from(edges.clone());
        let (found,) = histogram().call((&a.expr(), &bins)).eval().unwrap();
        // The last bin has its end.
        let inside = |x: i64, bin: usize| {
            edges[bin] <= x && (x < edges[bin + 1] || (bin + 2 == edges.len() && x == edges[bin + 1]))
        };
        let expected: Vec<usize> = (0..calls)
            .flat_map(|k| (0..edges.len() - 1).map(move |bin| (k, bin)))
            .map(|(k, bin)| vector(k).iter().filter(|x| inside(**x, bin)).count())
            .collect();
        found.to_vec().unwrap() == expected
    }

    /// Distances whose squares are exact, and interpolation at points and beyond the ends.
    fn distances(seed: u64) -> bool {
        let mut random = Random(seed);
        let [calls, m, n, d] = [random.below(3), random.below(20), random.below(20), random.below(4)];
        let points = |n: usize, random: &mut Random| {
            let source = Source::random(&[calls, n, d], false, random);
            let floats = source.model.data.iter().map(|x| *x as f64).collect::<Vec<_>>();
            (Tensor::from_vec([calls, n, d], floats).unwrap(), source.model)
        };
        let ((a, am), (b, bm)) = (points(m, &mut random), points(n, &mut random));
        let between = |p: &[i64], q: &[i64]| {
            p.iter().zip(q).map(|(x, y)| ((x - y) * (x - y)) as f64).sum::<f64>().sqrt()
        };
        let point = |model: &Model<i64>, k: usize, n: usize, i: usize| model.data[(k * n + i) * d..][..d].to_vec();
        let mut expected = Vec::new();
        let mut pairs = Vec::new();
        for k in 0..calls {
            for i in 0..m {
                expected.extend((0..n).map(|j| between(&point(&am, k, m, i), &point(&bm, k, n, j))));
                pairs.extend((i + 1..m).map(|j| between(&point(&am, k, m, i), &point(&am, k, m, j))));
            }
        }
        let [found] = cdist().call([&a, &b]).eval().unwrap();
        assert_eq!(found.to_vec().unwrap(), expected);
        let [found] = pdist().call([&a]).eval().unwrap();
        assert_eq!(found.shape(), [calls, m * m.saturating_sub(1) / 2]);
        found.to_vec().unwrap() == pairs
    }
}

#[test]
fn edges_of_the_library() {
    let floats = |x: &[f64]| Tensor::from(x.to_vec());
    let [none] = pdist().call([&Tensor::full([0, 3], 1.0).unwrap()]).eval().unwrap();
    assert_eq!(none.shape(), [0]);
    // No square overflows or vanishes.
    for scale in [1e200, 1e-200, 1.0] {
        let [length] = norm().call([&floats(&[3.0 * scale, 4.0 * scale])]).eval().unwrap();
        assert!((length.item().unwrap() / (5.0 * scale) - 1.0).abs() < 1e-15);
    }
    let [none] = norm().call([&floats(&[])]).eval().unwrap();
    assert_eq!(none.item().unwrap(), 0.0);
    let [zeros] = normalize().call([&floats(&[0.0, -0.0])]).eval().unwrap();
    assert!(zeros.to_vec().unwrap().iter().all(|x| *x == 0.0));
    let [unit] = normalize().call([&floats(&[3e-200, 4e-200])]).eval().unwrap();
    assert!((unit.to_vec().unwrap()[1] - 0.8).abs() < 1e-15);
    // Nor does a norm have too few digits.
    let [unit] = normalize().call([&floats(&[-5e-324, -5e-324])]).eval().unwrap();
    assert!(unit.to_vec().unwrap().iter().all(|x| (x + 0.5_f64.sqrt()).abs() < 1e-15));
    let (x, y) = (floats(&[1.0, 2.0, 4.0]), floats(&[10.0, 20.0, 0.0]));
    let at = floats(&[0.0, 1.0, 1.5, 2.0, 3.0, 4.0, 9.0, f64::INFINITY, f64::NEG_INFINITY]);
    let [found] = interp().call([&at, &x, &y]).eval().unwrap();
    assert_eq!(found.to_vec().unwrap(), [10.0, 10.0, 15.0, 20.0, 10.0, 0.0, 0.0, 0.0, 10.0]);
    let [nan] = interp().call([&floats(&[f64::NAN]), &x, &y]).eval().unwrap();
    assert!(nan.to_vec().unwrap()[0].is_nan());
}

/// Slopes beyond the range of narrow floats, and ones that vanish in it, lead to values that lie within.
#[test]
fn lines_between_narrow_floats_are_steep_and_flat() {
    macro_rules! check {
        ($T:ty: $($x:expr, $xs:expr, $ys:expr => $expected:expr;)*) => { $(
            let narrow = |x: &[f64]| Tensor::from(x.to_vec()).cast::<$T>().eval().unwrap();
            let operands = [narrow(&[$x]), narrow(&$xs), narrow(&$ys)];
            let [found] = interp().call(operands.each_ref()).eval().unwrap();
            assert_eq!(found, narrow(&[$expected]));
        )* };
    }
    check! { f32:
        5e-31, [0.0, 1e-30], [0.0, 1e10] => 5e9;
        2e30, [0.0, 4e30], [0.0, 2e-20] => 1e-20;
    }
    #[cfg(feature = "half")]
    {
        check! { half::f16:
            0.0005, [0.0, 0.001], [0.0, 100.0] => 50.0;
            30000.0, [0.0, 60000.0], [0.0, 0.001] => 0.0005;
            30000.0, [0.0, 60000.0], [0.0, 0.5] => 0.25;
        }
        check! { half::bf16: 1e-37, [0.0, 2e-37], [0.0, 1e10] => 5e9; }
    }
}
