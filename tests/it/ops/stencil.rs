//! Derivatives where they are exact, convolutions against sums over copies, stencils against indexes.
//!
//! Longer than 400 lines because it is one family of laws.

use lensor::arbitrary::Viewed;
use lensor::prelude::*;
use lensor::stencil::{Border, EdgeOrder, Mode, Spacing, Stencil};
use quickcheck::{Arbitrary, Gen, TestResult, quickcheck};

const EDGES: [EdgeOrder; 2] = [EdgeOrder::First, EdgeOrder::Second];

fn close(found: &[f64], expected: &[f64]) -> bool {
    found.len() == expected.len()
        && found.iter().zip(expected).all(|(a, b)| (a - b).abs() <= 1e-9 * (1.0 + b.abs()))
}

/// One line at a time, by formulas written out for each index.
fn model(line: &[f64], x: &[f64], uniform: bool, edges: EdgeOrder) -> Vec<f64> {
    let n = line.len();
    let parabola = |k: usize, at: usize| {
        let (x, f) = (&x[k..k + 3], &line[k..k + 3]);
        let slope = |i: usize, j: usize| (f[j] - f[i]) / (x[j] - x[i]);
        let bend = (slope(1, 2) - slope(0, 1)) / (x[2] - x[0]);
        slope(0, 1) + bend * (2.0 * x[at] - x[0] - x[1])
    };
    (0..n)
        .map(|i| match (i == 0, i == n - 1, edges) {
            (true, _, EdgeOrder::First) => (line[1] - line[0]) / (x[1] - x[0]),
            (_, true, EdgeOrder::First) => (line[n - 1] - line[n - 2]) / (x[n - 1] - x[n - 2]),
            (true, _, EdgeOrder::Second) => parabola(0, 0),
            (_, true, EdgeOrder::Second) => parabola(n - 3, 2),
            _ if uniform => (line[i + 1] - line[i - 1]) / (x[i + 1] - x[i - 1]),
            _ => parabola(i - 1, 1),
        })
        .collect()
}

#[derive(Debug, Clone, Copy)]
struct AnyMode(Mode);

impl Arbitrary for AnyMode {
    fn arbitrary(g: &mut Gen) -> Self {
        let edges = [Border::Zero, Border::Clamp, Border::Wrap, Border::Reflect];
        let edge = *g.choose(&edges).unwrap();
        Self(*g.choose(&[Mode::Full(edge), Mode::Same(edge), Mode::Valid]).unwrap())
    }
}

/// Where an index beyond the border reads, by walking there one step at a time.
fn source(edge: Border, mut at: isize, n: usize) -> Option<usize> {
    let n = n as isize;
    while !(0..n).contains(&at) {
        at = match edge {
            Border::Zero => return None,
            Border::Clamp if at < 0 => at + 1,
            Border::Clamp => at - 1,
            Border::Wrap if at < 0 => at + n,
            Border::Wrap => at - n,
            Border::Reflect if n == 1 => 0,
            Border::Reflect if at < 0 => -at,
            Border::Reflect => 2 * (n - 1) - at,
        };
    }
    Some(at as usize)
}

/// Extent of the result and the place of the first element that its first index reads.
fn placed(mode: Mode, n: usize, k: usize) -> Option<(usize, isize, Border)> {
    match mode {
        Mode::Valid => (k <= n).then(|| (n - k + 1, 0, Border::Zero)),
        Mode::Same(edge) => Some((n, -((k / 2) as isize), edge)),
        Mode::Full(edge) => Some((if n == 0 { 0 } else { n + k - 1 }, 1 - k as isize, edge)),
    }
}

fn correlated(
    shape: &Shape,
    data: &[i32],
    sides: &Shape,
    weights: &[i32],
    mode: Mode,
) -> Option<(Shape, Vec<i32>)> {
    let places: Option<Vec<_>> =
        shape.iter().zip(sides.iter()).map(|(&n, &k)| placed(mode, n, k)).collect();
    let places = places?;
    let extents: Shape = places.iter().map(|place| place.0).collect();
    let sum = |index: &[usize]| {
        let mut sum = 0_i32;
        for (tap, &weight) in sides.indexes().unwrap().zip(weights) {
            let mut position = Some(0);
            for axis in 0..shape.rank() {
                let at = index[axis] as isize + places[axis].1 + tap[axis] as isize;
                let digit = source(places[axis].2, at, shape[axis]);
                position = position.zip(digit).map(|(p, d)| p * shape[axis] + d);
            }
            let element = position.map_or(0, |position| data[position]);
            sum = sum.wrapping_add(weight.wrapping_mul(element));
        }
        sum
    };
    let sums = extents.indexes().unwrap().map(|index| sum(&index)).collect();
    Some((extents, sums))
}

quickcheck! {
    /// A derivative of any view is the derivative of every line of its copy.
    fn derivatives_of_views(viewed: Viewed<i16>, axis: usize, second: bool, uniform: bool) -> TestResult {
        let t = viewed.tensor();
        let edges = EDGES[usize::from(second)];
        if t.rank() == 0 {
            return TestResult::discard();
        }
        let axis = axis % t.rank();
        let n = t.shape()[axis];
        let x: Vec<f64> = (0..n).map(|k| {
            if uniform { 0.5 * k as f64 } else { (k * k) as f64 * 0.25 + k as f64 }
        }).collect();
        let spacing = if uniform { Spacing::Uniform(0.5) } else { Spacing::At(x.clone()) };
        let found = t.cast::<f64>().derivative(axis, spacing, edges).eval();
        let window = if second { 3 } else { 2 };
        if n < window {
            return TestResult::from_bool(found == Err(Error::Window { axis, window, extent: n }));
        }
        let lines = t.view().move_axis(axis, t.rank() - 1).unwrap();
        let data: Vec<f64> = lines.to_vec().unwrap().iter().map(|&x| x.into()).collect();
        let expected: Vec<f64> =
            data.chunks(n).flat_map(|line| model(line, &x, uniform, edges)).collect();
        let found = found.unwrap();
        let copied = t.eval().unwrap().cast::<f64>().eval().unwrap();
        let spacing = if uniform { Spacing::Uniform(0.5) } else { Spacing::At(x) };
        let of_copy = copied.derivative(axis, spacing, edges).eval().unwrap();
        let same = of_copy == found;
        let found = found.move_axis(axis, t.rank() - 1).unwrap().to_vec().unwrap();
        TestResult::from_bool(same && close(&found, &expected))
    }

    /// A gradient holds the derivatives along all axes.
    fn a_gradient_is_its_derivatives(viewed: Viewed<i16>, second: bool) -> TestResult {
        let t = viewed.tensor().lazy().cast::<f64>();
        let edges = EDGES[usize::from(second)];
        let shape = t.shape().unwrap();
        if shape.iter().any(|&extent| extent < 3) {
            return TestResult::discard();
        }
        let spacing: Vec<Spacing<f64>> = (0..shape.rank()).map(|k| (k as f64 + 0.5).into()).collect();
        let gradient = t.view().gradient(&spacing, edges).eval().unwrap();
        TestResult::from_bool((0..shape.rank()).all(|axis| {
            let component = gradient.view().move_axis(shape.rank(), 0).unwrap()
                .slice(0, axis..axis + 1).unwrap().remove_axis(0).unwrap();
            component == t.view().derivative(axis, spacing[axis].clone(), edges).eval().unwrap()
        }))
    }

    /// Of any polynomial of degree 2, gradient, hessian and laplacian are exact, ends included.
    fn parabolas_are_exact(a: i8, b: i8, c: i8, d: i8, uniform: bool) -> bool {
        let [a, b, c, d] = [a, b, c, d].map(f64::from);
        let at = |k: usize| if uniform { k as f64 } else { (k * k) as f64 };
        let f = Tensor::from_index([5, 4], |i| {
            let (x, y) = (at(i[0]), at(i[1]));
            a * x * x + b * x * y + c * y * y + d * x
        }).unwrap();
        let spacing = [5, 4].map(|n| match uniform {
            true => Spacing::Uniform(1.0),
            false => Spacing::At((0..n).map(at).collect()),
        });
        let gradient = f.view().gradient(&spacing, EdgeOrder::Second).eval().unwrap();
        let hessian = f.view().hessian(&spacing, EdgeOrder::Second).eval().unwrap();
        let slopes = Tensor::from_index([5, 4, 2], |i| {
            let (x, y) = (at(i[0]), at(i[1]));
            [2.0 * a * x + b * y + d, b * x + 2.0 * c * y][i[2]]
        }).unwrap();
        let bends = Tensor::from_index([5, 4, 2, 2], |i| {
            [[2.0 * a, b], [b, 2.0 * c]][i[2]][i[3]]
        }).unwrap();
        let sum = f.laplacian(&spacing).eval().unwrap();
        let tolerance = 1e-9;
        gradient.all_close(&slopes, tolerance, 1e-7).unwrap()
            && hessian.all_close(&bends, tolerance, 1e-7).unwrap()
            && sum.all_close(2.0 * a + 2.0 * c, tolerance, 1e-7).unwrap()
    }

    /// A correlation is the sum over the kernel at every index, whatever the mode and the view; a
    /// convolution is one with the kernel turned around.
    fn correlations_are_sums(viewed: Viewed<i32>, kernel: Vec<i32>, sides: Vec<u8>, mode: AnyMode) -> TestResult {
        let t = viewed.tensor();
        let sides: Shape = (0..t.rank())
            .map(|axis| sides.get(axis).map_or(1, |&side| usize::from(side % 5)))
            .collect();
        let count = sides.count().unwrap();
        if kernel.is_empty() || t.len() * count > 20_000 {
            return TestResult::discard();
        }
        let weights: Vec<i32> = kernel.iter().copied().cycle().take(count).collect();
        let kernel = Tensor::from_vec(&sides, weights.clone()).unwrap();
        let (shape, data) = viewed.model();
        let expected = (count > 0).then(|| correlated(&shape, &data, &sides, &weights, mode.0)).flatten();
        let found = t.correlate(&kernel, mode.0).eval();
        let mut turned = kernel;
        for axis in 0..t.rank() {
            turned = turned.flip(axis).unwrap();
        }
        let by_convolution = ((&t + 1) - 1).convolve(&turned, mode.0).eval();
        TestResult::from_bool(match (found, expected) {
            (Ok(found), Some((extents, sums))) => {
                by_convolution.unwrap() == found
                    && found.shape() == extents
                    && found.to_vec().unwrap() == sums
            }
            (Err(Error::Window { .. }), None) => by_convolution.is_err(),
            _ => false,
        })
    }

    /// A stencil hands over the elements at its offsets.
    fn stencils_hand_over_neighbours(viewed: Viewed<i32>, a: (i8, i8), b: (i8, i8)) -> TestResult {
        let t = viewed.tensor();
        if t.rank() != 2 {
            return TestResult::discard();
        }
        let offsets = [a, b, (0, 0)].map(|(i, j)| [isize::from(i % 4), isize::from(j % 4)]);
        let found = (&t * 3).stencil(offsets, |near| near).eval();
        let low = |axis: usize| offsets.iter().map(|o| o[axis]).min().unwrap().min(0);
        let high = |axis: usize| offsets.iter().map(|o| o[axis]).max().unwrap().max(0);
        let extent = |axis: usize| t.shape()[axis] as isize - high(axis) + low(axis);
        if extent(0) <= 0 || extent(1) <= 0 {
            return TestResult::from_bool(matches!(found, Err(Error::Window { .. })));
        }
        let expected = Tensor::from_index([extent(0) as usize, extent(1) as usize], |i| {
            offsets.map(|offset| {
                let at = |axis: usize| (i[axis] as isize - low(axis) + offset[axis]) as usize;
                t.get([at(0), at(1)]).unwrap().wrapping_mul(3)
            })
        }).unwrap();
        TestResult::from_bool(found.unwrap() == expected)
    }
}

/// Values of NumPy 2 and SciPy.
#[test]
fn small_cases_are_those_of_numpy() {
    let t = Tensor::from(vec![1.0, 2.0, 4.0, 7.0, 11.0, 16.5]);
    let vec = |t: lensor::Result<Tensor<Vec<f64>>>| t.unwrap().to_vec().unwrap();
    assert_eq!(
        vec(t.view().derivative(0, 1.0, EdgeOrder::First).eval()),
        [1.0, 1.5, 2.5, 3.5, 4.75, 5.5]
    );
    let second = vec(t.view().derivative(0, 0.3, EdgeOrder::Second).eval());
    #[rustfmt::skip]
    let expected = [1.666666666666667, 5.0, 8.333333333333334, 11.666666666666668, 15.833333333333334,
        20.83333333333333];
    assert!(close(&second, &expected));
    let x = vec![0.0, 1.0, 1.5, 3.5, 4.0, 6.0];
    let first = vec(t.view().derivative(0, x.clone(), EdgeOrder::First).eval());
    assert!(close(&first, &[1.0, 3.0, 3.5, 6.7, 6.95, 2.75]));
    let second = vec(t.derivative(0, x, EdgeOrder::Second).eval());
    assert!(close(&second, &[-1.0, 3.0, 3.5, 6.7, 6.95, -1.45]));

    let f =
        Tensor::from_nested([[1.0, 2.0, 6.0], [3.0, 4.0, 5.0], [9.0, 7.0, 8.0], [2.0, 0.0, 1.0]]);
    let spacing = [Spacing::Uniform(2.0), Spacing::At(vec![0.0, 1.0, 3.0])];
    let gradient = f.unwrap().gradient(&spacing, EdgeOrder::Second).eval().unwrap();
    let rows = vec![0.0, 0.75, -1.5, 2.0, 1.25, 0.5, -0.25, -1.0, -1.0, -6.75, -6.0, -6.0];
    assert_eq!(gradient.view().select((.., .., 0)).unwrap().to_vec().unwrap(), rows);
    let columns =
        [4.0, 8.0, 16.0, 7.0, 5.0, 1.0, -17.0, -7.0, 13.0, -17.0, -7.0, 13.0].map(|x| x / 6.0);
    assert!(close(&gradient.select((.., .., 1)).unwrap().to_vec().unwrap(), &columns));

    let (a, k) = (Tensor::from(vec![1, 2, 3, 4, 5]), Tensor::from(vec![1, -2, 3, 5]));
    let convolved = |mode| a.view().convolve(&k, mode).eval().unwrap().to_vec().unwrap();
    let correlated = |mode| a.view().correlate(&k, mode).eval().unwrap().to_vec().unwrap();
    assert_eq!(convolved(Mode::Full(Border::Zero)), [1, 0, 2, 9, 16, 17, 35, 25]);
    assert_eq!(convolved(Mode::Same(Border::Zero)), [0, 2, 9, 16, 17]);
    assert_eq!(convolved(Mode::Valid), [9, 16]);
    assert_eq!(correlated(Mode::Full(Border::Zero)), [5, 13, 19, 26, 33, 10, -6, 5]);
    assert_eq!(correlated(Mode::Same(Border::Zero)), [13, 19, 26, 33, 10]);
    assert_eq!(convolved(Mode::Same(Border::Clamp)), [8, 7, 9, 16, 22]);
    assert_eq!(convolved(Mode::Same(Border::Wrap)), [35, 27, 9, 16, 18]);
    assert_eq!(convolved(Mode::Same(Border::Reflect)), [21, 12, 9, 16, 21]);
    let a = Tensor::from_index([3, 4], |i| ((i[0] * 4 + i[1]).pow(2) % 7) as i32).unwrap();
    let k = Tensor::from_nested([[1, 2], [3, 4], [5, -6]]).unwrap();
    let same = a.convolve(&k, Mode::Same(Border::Zero)).eval().unwrap();
    assert_eq!(same.to_vec().unwrap(), [2, 11, 25, 24, 7, 31, 43, -4, 13, 24, 3, 8]);
}

/// Large operands in blocks, on any number of threads, in place or evaluated: the same bits.
#[test]
fn blocks_and_threads_change_nothing() {
    let noise = |i: &[usize]| ((i[0] * 7919 + i[1] * 104_729) as f64).sin();
    for sides in [[900, 70], [70, 900], [4, 40_000], [400, 400]] {
        let t = Tensor::from_index(sides, noise).unwrap();
        let lazy = &t * 1.0;
        let kernel = Tensor::from_index([5, 3], noise).unwrap();
        let spacing = [Spacing::Uniform(0.5), Spacing::Uniform(0.3)];
        let gradient = t.view().gradient(&spacing, EdgeOrder::Second).eval().unwrap();
        let same = t.view().convolve(&kernel, Mode::Same(Border::Reflect)).eval().unwrap();
        let rows = gradient.view().select((.., .., 0)).unwrap();
        assert!(rows == lazy.view().derivative(0, 0.5, EdgeOrder::Second).eval().unwrap());
        for threads in [1, 2, 3, 16] {
            let pool = crate::support::pool(threads);
            pool.install(|| {
                assert!(
                    gradient == lazy.view().gradient(&spacing, EdgeOrder::Second).eval().unwrap()
                );
                assert!(gradient == t.view().gradient(&spacing, EdgeOrder::Second).eval().unwrap());
                assert!(
                    same == lazy
                        .view()
                        .convolve(&kernel, Mode::Same(Border::Reflect))
                        .eval()
                        .unwrap()
                );
            });
        }
    }
}

/// Rows of a slab are counted as wide as the operand has them, and products by those of a result.
#[test]
fn blocks_follow_what_is_read_and_computed() {
    let wide = Tensor::constant([20_000, 20_000], 1.0).unwrap();
    let row = Tensor::constant([1, 20_000], 1.0).unwrap();
    let plan = (&wide + 1.0).correlate(&row, Mode::Valid).explain().unwrap().to_string();
    assert!(plan.contains("with its border, 4 indexes of axis 0 at a time"), "{plan}");
    let square = |side| Tensor::from_index([side; 2], |i| (i[0] * i[1]) as f64).unwrap();
    let (image, kernel) = (square(200), square(50));
    crate::support::pool(2).install(|| {
        for mode in [Mode::Valid, Mode::Same(Border::Zero)] {
            assert_eq!(image.correlate(&kernel, mode).explain().unwrap().threads(), 2, "{mode:?}");
        }
    });
}

/// Of a last axis with coordinates, its weights are had box by box too.
#[test]
fn derivatives_are_assigned_to_any_view() {
    let t = Tensor::from_index([3000, 70], |i| ((i[0] * 31 + i[1]) % 17) as f64).unwrap();
    let spacing = [3000, 70].map(|n| (0..n).map(|k| (k * k) as f64).collect::<Vec<_>>());
    let slopes = t.gradient(&spacing, EdgeOrder::Second);
    let mut out = Tensor::full([3000, 70, 2], 0.0).unwrap();
    slopes.assign_to(&mut out.view_mut().flip(0).unwrap()).unwrap();
    assert!(out.flip(0).unwrap() == slopes.eval().unwrap());
}

/// A fault is reported at its index, in whichever block it lies, and the first of several.
#[test]
fn faults_keep_their_index() {
    let mut values = Tensor::full([900, 70], 1).unwrap();
    for row in [700, 800] {
        values.set([row, 3], -1).unwrap();
    }
    let fault = Err(Error::Cast { index: vec![700, 3], value: "-1".into(), target: "u8" });
    let lazy = || values.cast::<u8>();
    let slope = lazy().cast::<f64>().derivative(0, 1.0, EdgeOrder::First).eval();
    assert_eq!(slope.map(drop), fault);
    let kernel = Tensor::full([3, 3], 1_u8).unwrap();
    for mode in [Mode::Valid, Mode::Same(Border::Clamp), Mode::Full(Border::Zero)] {
        assert_eq!(lazy().convolve(&kernel, mode).eval().map(drop), fault);
    }
    // Of rank 1, and of the kernel, which a convolution turns around.
    let divided = |list: Vec<i32>| Tensor::full([list.len()], 6).unwrap() / Tensor::from(list);
    let faulty = divided(vec![1, 1, 0, 0]);
    let found = faulty.correlate(&Tensor::from(vec![1, 1]), Mode::Valid).eval();
    assert_eq!(found.map(drop), Err(Error::Arithmetic { index: vec![2] }));
    let found = Tensor::full([5], 1).unwrap().convolve(divided(vec![0, 1, 0]), Mode::Valid).eval();
    assert_eq!(found.map(drop), Err(Error::Arithmetic { index: vec![0] }));
}

#[test]
fn what_has_no_neighbours_is_refused() {
    let t = |shape: &[usize]| Tensor::full(shape, 1.0).unwrap();
    let text = |e: Result<Tensor<Vec<f64>>, Error>| e.unwrap_err().to_string();
    let first = EdgeOrder::First;
    assert_eq!(
        text(t(&[3, 1]).derivative(1, 1.0, first).eval()),
        "a window of 2 does not fit axis 1 of extent 1"
    );
    assert_eq!(
        text(t(&[2]).second_derivative(0, 1.0).eval()),
        "a window of 3 does not fit axis 0 of extent 2"
    );
    assert_eq!(
        text(t(&[2]).derivative(1, 1.0, first).eval()),
        "axis 1 does not exist: the rank is 1"
    );
    assert_eq!(
        text(t(&[3]).derivative(0, vec![1.0], first).eval()),
        "axis 0 has extent 3 and needs as many coordinates, found 1"
    );
    assert_eq!(
        text(t(&[3, 3]).gradient([1.0], first).eval()),
        "expected 2 spacings, one per axis, found 1"
    );
    let kernel = t(&[0]);
    assert_eq!(
        text(t(&[3]).convolve(&kernel, Mode::Valid).eval()),
        "a window of 0 does not fit axis 0 of extent 3"
    );
    assert_eq!(
        text(t(&[3]).convolve(&t(&[1, 1]), Mode::Valid).eval()),
        "expected 1 extents of the kernel, one per axis, found 2"
    );
    assert_eq!(
        t(&[3, 3]).stencil([[0]], |[x]| x).shape().unwrap_err().to_string(),
        "expected 2 offsets, one per axis, found 1"
    );
    assert!(t(&[3]).stencil([[isize::MIN], [isize::MAX]], |[x, _]| x).shape().is_err());
    assert_eq!(t(&[]).gradient([0.0; 0], first).eval().unwrap().shape(), [0]);
    assert_eq!(t(&[]).convolve(&t(&[]), Mode::Valid).eval().unwrap().item().unwrap(), 1.0);
    assert_eq!(t(&[0, 3]).derivative(1, 1.0, first).eval().unwrap().shape(), [0, 3]);
    let wide = Tensor::constant([1 << 62], 1.0).unwrap();
    assert!(matches!(wide.derivative(0, 1.0, first).eval(), Err(Error::OutOfMemory { .. })));
    let most = Tensor::constant([isize::MAX as usize], 1.0).unwrap();
    let whole = Mode::Full(Border::Zero);
    assert!(matches!(most.convolve(&most, whole).eval(), Err(Error::ShapeOverflow { .. })));
}

#[test]
fn coordinates_that_repeat_are_refused() {
    let t = Tensor::from_nested([[1.0, 2.0, 4.0, 8.0], [3.0, 5.0, 7.0, 9.0]]).unwrap();
    let repeated = |axis, at| Some(Error::RepeatedCoordinate { axis, at });
    let along = |x: &[f64]| t.derivative(1, x.to_vec(), EdgeOrder::First).eval().err();
    assert_eq!(along(&[0.0, 1.0, 1.0, 2.0]), repeated(1, 2));
    assert_eq!(along(&[0.0, -0.0, 1.0, 1.0]), repeated(1, 1));
    // Three neighbours are used together.
    assert_eq!(along(&[0.0, 1.0, 2.0, 1.0]), repeated(1, 3));
    assert_eq!(along(&[0.0, 1.0, 2.0, 0.0]), None);
    assert_eq!(
        along(&[0.0, 1.0, 2.0, 2.0]).unwrap().to_string(),
        "coordinate 3 of axis 1 is that of a neighbour: derivatives divide by their distance"
    );
    assert_eq!(along(&[f64::INFINITY, f64::INFINITY, 0.0, 1.0]), repeated(1, 1));
    // What is not finite is not equal to another coordinate, and its results are NaN or 0.
    let slopes = |x: [f64; 4]| t.derivative(1, x.to_vec(), EdgeOrder::First).eval().unwrap();
    let found = slopes([0.0, 1.0, 2.0, f64::INFINITY]);
    assert_eq!(found.storage()[..2], [1.0, 1.5]);
    assert!(found.storage()[2].is_nan() && found.storage()[3] == 0.0);
    assert!(slopes([f64::NAN, 1.0, 2.0, 3.0]).storage()[0].is_nan());

    // Every derivative, and equal distances of 0.
    assert_eq!(t.derivative(0, vec![2.0, 2.0], EdgeOrder::First).eval().err(), repeated(0, 1));
    assert_eq!(t.derivative(1, 0.0, EdgeOrder::Second).eval().err(), repeated(1, 1));
    assert_eq!(t.second_derivative(1, vec![0.0, 1.0, 2.0, 2.0]).eval().err(), repeated(1, 3));
    assert_eq!(t.second_derivative(1, -0.0).eval().err(), repeated(1, 1));
    let spacing: [Spacing<f64>; 2] = [1.0.into(), vec![0.0, 1.0, 1.0, 2.0].into()];
    assert_eq!(t.gradient(&spacing, EdgeOrder::First).eval().err(), repeated(1, 2));
    let mut out = Tensor::full([2, 4, 2], 0.0).unwrap();
    assert_eq!(t.gradient(&spacing, EdgeOrder::First).assign_to(&mut out).err(), repeated(1, 2));
    let square = Tensor::full([4, 4], 1.0).unwrap();
    let spacing = [spacing[1].clone(), 1.0.into()];
    assert_eq!(square.hessian(&spacing, EdgeOrder::First).eval().err(), repeated(0, 2));
    assert_eq!(square.laplacian(&spacing).eval().err(), repeated(0, 2));
}

/// All ways to give the same distances are the same.
#[test]
fn distances_are_given_in_any_way() {
    let t = Tensor::from_nested([[1.0_f64, 2.0, 4.0], [3.0, 5.0, 9.0], [8.0, 6.0, 7.0]]).unwrap();
    let edges = EdgeOrder::Second;
    let places = [0.0, 1.0, 2.5];
    let along = t.derivative(1, Spacing::At(places.to_vec()), edges).eval().unwrap();
    assert_eq!(t.derivative(1, places, edges).eval().unwrap(), along);
    assert_eq!(t.derivative(1, &places, edges).eval().unwrap(), along);
    assert_eq!(t.derivative(1, &places[..], edges).eval().unwrap(), along);
    assert_eq!(t.derivative(1, &places.to_vec(), edges).eval().unwrap(), along);
    assert_eq!(t.derivative(1, &Spacing::At(places.to_vec()), edges).eval().unwrap(), along);
    assert_eq!(t.second_derivative(0, &2.0).to_vec(), t.second_derivative(0, 2.0).to_vec());

    let even = [2.0, 0.5];
    let gradient = t.gradient(even, edges).eval().unwrap();
    assert_eq!(t.gradient(&even, edges).eval().unwrap(), gradient);
    assert_eq!(t.gradient(even.to_vec(), edges).eval().unwrap(), gradient);
    assert_eq!(t.gradient(even.map(Spacing::Uniform), edges).eval().unwrap(), gradient);
    assert_eq!(t.gradient((0..2).map(|axis| even[axis]), edges).eval().unwrap(), gradient);
    let uneven = [vec![0.0, 2.0, 5.0], places.to_vec()];
    let gradient = t.gradient(&uneven, edges).eval().unwrap();
    assert_eq!(t.gradient([[0.0, 2.0, 5.0], places], edges).eval().unwrap(), gradient);
    assert_eq!(t.gradient(uneven.each_ref().map(|x| &x[..]), edges).eval().unwrap(), gradient);
    assert_eq!(t.hessian(&uneven, edges).eval(), t.hessian(uneven.clone(), edges).eval());
    assert_eq!(t.laplacian(&uneven).eval(), t.laplacian(uneven).eval());
}

/// Coordinates at equal distances are that distance, bit by bit, whichever way the derivative is computed.
#[test]
fn coordinates_at_equal_distances_are_a_distance() {
    let same = |found: &[f64], expected: &[f64]| {
        let bits = |all: &[f64]| all.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        let nan =
            |all: &[f64]| all.iter().map(|&x| if x.is_nan() { f64::NAN } else { x }).collect();
        let [found, expected]: [Vec<f64>; 2] = [nan(found), nan(expected)];
        assert_eq!(bits(&found), bits(&expected));
    };
    let line = Tensor::from(vec![1.0, f64::NAN, 3.0, 5.0, 6.0]);
    let places = [0.0, 1.0, 2.0, 3.0, 4.0];
    let found = line.derivative(0, places, EdgeOrder::First).to_vec().unwrap();
    same(&found, &[f64::NAN, 1.0, f64::NAN, 1.5, 1.0]);

    let t = Tensor::from_index([40, 33], |i| ((i[0] * 37 + i[1] * 11) as f64).sin()).unwrap();
    let at = |n: usize, h: f64| Spacing::At((0..n).map(|k| 2.0 - k as f64 * h).collect());
    let places = [at(40, 0.375), at(33, -3.0)];
    let even = [Spacing::Uniform(-0.375), Spacing::Uniform(3.0)];
    let lazy = &t * 1.0;
    for edges in EDGES {
        let expected = t.gradient(&even, edges).eval().unwrap();
        let vec = expected.to_vec().unwrap();
        same(&t.gradient(&places, edges).to_vec().unwrap(), &vec);
        same(&lazy.view().gradient(&places, edges).to_vec().unwrap(), &vec);
        let mut out = Tensor::full([40, 33, 2], 0.0).unwrap();
        t.gradient(&places, edges).assign_to(&mut out.view_mut().flip(0).unwrap()).unwrap();
        same(&out.flip(0).unwrap().to_vec().unwrap(), &vec);
        for axis in [0, 1] {
            let found = t.derivative(axis, &places[axis], edges).to_vec().unwrap();
            same(&found, &t.derivative(axis, &even[axis], edges).to_vec().unwrap());
            same(&found, &expected.view().select((.., .., axis)).unwrap().to_vec().unwrap());
        }
        let hessian = t.hessian(&even, edges).to_vec().unwrap();
        same(&t.hessian(&places, edges).to_vec().unwrap(), &hessian);
    }
    same(&t.laplacian(&places).to_vec().unwrap(), &t.laplacian(&even).to_vec().unwrap());
    // As many are needed as there are indexes all the same.
    let missing = t.derivative(0, [0.0, 1.0, 2.0], EdgeOrder::First).shape().unwrap_err();
    let expected = Error::ListLength { what: "coordinates", axis: 0, extent: 40, found: 3 };
    assert_eq!(missing, expected);
    // A distance that is no number is none.
    let ends = Tensor::from(vec![0.0_f64, 3.0]);
    let slopes = ends.derivative(0, [-1.5e308, 1.5e308], EdgeOrder::First).to_vec().unwrap();
    assert!(slopes.iter().all(|slope| (slope / 1e-308 - 1.0).abs() < 1e-14), "{slopes:?}");
}

/// A scalar has no derivatives, and the sum of none is zero.
#[test]
fn a_scalar_has_a_laplacian_of_zero() {
    let scalar = Tensor::full([], 3.0).unwrap();
    assert_eq!(scalar.laplacian([0.0; 0]).eval().unwrap().to_vec().unwrap(), [0.0]);
    assert_eq!((&scalar * 2.0).laplacian([0.0; 0]).eval().unwrap().to_vec().unwrap(), [0.0]);
}

/// Also of a rank of one, whose boxes would be parts of a line.
#[test]
fn convolutions_are_assigned_to_any_view() {
    let n = 70_000;
    let line = Tensor::from_index([n], |index| (index[0] % 17) as f64).unwrap();
    let kernel = Tensor::from(vec![1.0, 2.0, 3.0]);
    let sums = line.convolve(&kernel, Mode::Same(Border::Zero));
    let mut out = Tensor::full([n], 0.0).unwrap();
    sums.assign_to(&mut out.view_mut().flip(0).unwrap()).unwrap();
    assert_eq!(out.flip(0).unwrap().to_vec().unwrap(), sums.to_vec().unwrap());
    let rows = line.reshape([100, 700]).unwrap();
    let sums = rows.convolve(Tensor::full([2, 2], 1.0).unwrap(), Mode::Full(Border::Wrap));
    let mut out = Tensor::full([701, 101], 0.0).unwrap().transpose([1, 0]).unwrap();
    sums.assign_to(&mut out).unwrap();
    assert_eq!(out.to_vec().unwrap(), sums.to_vec().unwrap());
}

/// Distances times a power of two whose square is no number divide slopes by that power.
#[test]
fn derivatives_keep_their_digits_at_any_distance() {
    let y = [3.0, 1.0, 4.0, 1.5, 9.0, 2.5];
    let x = [0.0, 1.0, 1.5, 3.5, 4.0, 6.0];
    for power in [-530, -520, 505, 515] {
        let scale = 2f64.powi(power);
        let agrees = |near: Vec<f64>, far: Vec<f64>, unit: f64| {
            assert_eq!(near.len(), far.len());
            for (near, far) in near.into_iter().zip(far) {
                assert!((far * unit - near).abs() <= 1e-13 * (1.0 + near.abs()), "{far} {near}");
            }
        };
        let (t, values) = (Tensor::from(y.to_vec()), Tensor::from(y.map(|y| y * scale).to_vec()));
        let far = x.map(|x| x * scale);
        for edges in EDGES {
            agrees(
                t.derivative(0, x, edges).to_vec().unwrap(),
                t.derivative(0, far, edges).to_vec().unwrap(),
                scale,
            );
            let uniform = t.derivative(0, 0.3, edges).to_vec().unwrap();
            agrees(uniform, t.derivative(0, 0.3 * scale, edges).to_vec().unwrap(), scale);
        }
        let second = t.second_derivative(0, 0.3).to_vec().unwrap();
        agrees(second, values.second_derivative(0, 0.3 * scale).to_vec().unwrap(), scale);
    }
    let t = Tensor::from(vec![0.0_f32, 1.0, 2.0]);
    let slopes = t.derivative(0, [0.0, 1e20, 2e20], EdgeOrder::First).to_vec().unwrap();
    assert!(slopes.iter().all(|slope| (slope / 1e-20 - 1.0).abs() <= 1e-6), "{slopes:?}");
    // Twice the distance is no number.
    let t = Tensor::from(vec![0.0_f64, 1.0, 3.0]);
    let slopes = t.derivative(0, 1e308, EdgeOrder::First).to_vec().unwrap();
    assert!((slopes[1] / 1.5e-308 - 1.0).abs() < 1e-14, "{slopes:?}");
    let far = t.derivative(0, [-1e308, 0.0, 1e308], EdgeOrder::Second).to_vec().unwrap();
    assert!((far[1] / 1.5e-308 - 1.0).abs() < 1e-14, "{far:?}");
    let ends = t.derivative(0, [-1.5e308, 1.5e308, 1.6e308], EdgeOrder::First).to_vec().unwrap();
    assert!((ends[0] * 1e308 * 3.0 - 1.0).abs() < 1e-6, "{ends:?}");
}
