//! Reductions against folds over copies: for every set of axes, under views, with special values, and
//! with the same bits however the operand lies in memory and however many threads there are.

use lensor::prelude::*;
use lensor::reduce::*;
use lensor::{Reader, Result};

/// A small generator, so that data needs no dependency.
fn noise(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }
}

fn floats(count: usize, seed: u64) -> Vec<f64> {
    let mut next = noise(seed);
    (0..count).map(|_| (next() % 2_000_003) as f64 / 1000.0 - 1000.0).collect()
}

/// Every set of axes of a rank.
fn axis_sets(rank: usize) -> impl Iterator<Item = Vec<usize>> {
    (0..1_usize << rank).map(move |set| (0..rank).filter(|axis| set >> axis & 1 == 1).collect())
}

/// The elements of each result, in row-major order, by copying.
fn groups<T: Copy>(shape: &[usize], data: &[T], axes: &[usize]) -> Vec<Vec<T>> {
    let kept: Vec<usize> = (0..shape.len()).filter(|axis| !axes.contains(axis)).collect();
    let results: usize = kept.iter().map(|&axis| shape[axis]).product();
    let mut groups = vec![Vec::new(); results];
    for (position, &x) in data.iter().enumerate() {
        let mut rest = position;
        let mut digits = vec![0; shape.len()];
        for axis in (0..shape.len()).rev() {
            digits[axis] = rest % shape[axis];
            rest /= shape[axis];
        }
        let result = kept.iter().fold(0, |sum, &axis| sum * shape[axis] + digits[axis]);
        groups[result].push(x);
    }
    groups
}

/// One tensor under views that move its elements about in memory without changing any.
fn disguises(shape: &[usize], data: &[f64]) -> Vec<(&'static str, Tensor<Vec<f64>>)> {
    let plain = || Tensor::from_vec(shape, data.to_vec()).unwrap();
    let rank = shape.len();
    let turned: Vec<usize> = (0..rank).rev().collect();
    let copy = |t: Tensor<Vec<f64>>| t.to_tensor().unwrap();
    let shifts: Vec<isize> = (0..rank as isize).map(|axis| 3 * axis + 1).collect();
    let back: Vec<isize> = shifts.iter().map(|shift| -shift).collect();
    let mut all = vec![
        ("plain", plain()),
        ("transposed", copy(plain().transpose(&turned).unwrap()).transpose(&turned).unwrap()),
        ("rotated", copy(plain().rotate(&shifts).unwrap()).rotate(&back).unwrap()),
    ];
    if let Some(&last) = shape.last() {
        all.push(("flipped", copy(plain().flip(rank - 1).unwrap()).flip(rank - 1).unwrap()));
        let mut doubled = vec![f64::NAN; 2 * data.len()];
        doubled.iter_mut().step_by(2).zip(data).for_each(|(slot, &x)| *slot = x);
        let mut wide = shape.to_vec();
        wide[rank - 1] = 2 * last;
        let spread = Tensor::from_vec(wide, doubled).unwrap();
        let mut every = vec![Select::All; rank - 1];
        every.push(Select::stepped(0, 2 * last as isize, 2));
        all.push(("spread", spread.select(every).unwrap()));
    }
    let mut linked: Vec<usize> = turned.iter().map(|&axis| shape[axis]).collect();
    linked.reverse();
    let through = copy(plain().transpose(&turned).unwrap()).transpose(&turned).unwrap();
    let flat = through.reshape([data.len()]).unwrap();
    all.push(("linked", flat.reshape(shape).unwrap()));
    all
}

const SHAPES: &[&[usize]] = &[
    &[],
    &[1],
    &[7],
    &[600],
    &[1, 1],
    &[3, 5],
    &[2, 700],
    &[700, 2],
    &[70, 90],
    &[9, 1, 40],
    &[4, 3, 2],
    &[33, 3, 65],
    &[5, 6, 7, 8],
    &[0],
    &[0, 3],
    &[3, 0],
    &[2, 0, 3],
];

/// Checks a reducer against a fold of each group, for all shapes, axes and disguises.
fn check<R, F>(reducer: R, name: &str, empty: bool, agrees: F)
where
    R: Reducer<f64> + Copy,
    R::Out: std::fmt::Debug,
    F: Fn(&[f64], R::Out) -> bool,
{
    for (seed, shape) in SHAPES.iter().enumerate() {
        let data = floats(shape.iter().product(), seed as u64 + 1);
        for axes in axis_sets(shape.len()) {
            let groups = groups(shape, &data, &axes);
            for (disguise, t) in disguises(shape, &data) {
                let case = format!("{name} of {shape:?} along {axes:?}, {disguise}");
                let found = t.view().reduce(axes.clone(), reducer).eval();
                let nothing = axes.iter().any(|&axis| shape[axis] == 0);
                if nothing && !empty {
                    assert!(matches!(found, Err(Error::EmptyReduction { .. })), "{case}");
                    continue;
                }
                let found = found.unwrap_or_else(|e| panic!("{case}: {e}"));
                assert_eq!(found.len(), groups.len(), "{case}");
                for (result, group) in found.storage().iter().zip(&groups) {
                    assert!(agrees(group, *result), "{case}: {result:?} of {group:?}");
                }
                let kept = t.reduce(axes.clone(), reducer).keepdims();
                let expected: Vec<usize> = (0..shape.len())
                    .map(|axis| if axes.contains(&axis) { 1 } else { shape[axis] })
                    .collect();
                assert_eq!(kept.shape().unwrap().to_vec(), expected, "{case}");
            }
        }
    }
}

/// The exact sum in double-double arithmetic, and the sum of absolute values.
fn exact(group: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let (mut high, mut low, mut size) = (0.0_f64, 0.0_f64, 0.0_f64);
    for x in group {
        let sum = high + x;
        let added = sum - high;
        low += (high - (sum - added)) + (x - added);
        high = sum;
        size += x.abs();
    }
    (high + low, size)
}

#[test]
fn sums_are_within_their_bounds() {
    let within = |bound: f64| {
        move |group: &[f64], sum: f64| {
            let (exact, size) = exact(group.iter().copied());
            (sum - exact).abs() <= bound * f64::EPSILON * size + f64::MIN_POSITIVE
        }
    };
    // Pairs: one rounding for each level of the tree, lanes included. Compensated: one at the end.
    check(Sum, "sum", true, within(32.0));
    check(CompensatedSum, "compensated", true, within(1.0));
    check(NaiveSum, "naive", true, |group, sum| {
        let naive = group.iter().copied().reduce(|a, b| a + b).unwrap_or(0.0);
        naive.to_bits() == sum.to_bits()
    });
}

#[test]
fn means_and_variances_agree_with_two_passes() {
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-11 * a.abs().max(b.abs()).max(1.0);
    let mean = |group: &[f64]| exact(group.iter().copied()).0 / group.len() as f64;
    let squares = move |group: &[f64]| {
        let mean = mean(group);
        exact(group.iter().map(|x| (x - mean) * (x - mean))).0
    };
    check(Mean, "mean", false, |group, found| close(mean(group), found));
    check(Variance { ddof: 1 }, "variance", true, |group, found| match group.len() {
        0 | 1 => found.is_nan(),
        n => close(squares(group) / (n - 1) as f64, found),
    });
    check(StandardDeviation { ddof: 0 }, "std", true, |group, found| match group.len() {
        0 => found.is_nan(),
        n => close((squares(group) / n as f64).sqrt(), found),
    });
}

#[test]
fn extrema_and_their_positions_agree() {
    let first = |group: &[f64], best: f64| group.iter().position(|&x| x == best);
    let least = |group: &[f64]| group.iter().copied().fold(f64::INFINITY, f64::min);
    let most = |group: &[f64]| group.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    check(Min, "min", false, |group, found| found == least(group));
    check(Max, "max", false, |group, found| found == most(group));
    check(ArgMin, "argmin", false, |group, found| Some(found) == first(group, least(group)));
    check(ArgMax, "argmax", false, |group, found| Some(found) == first(group, most(group)));
}

#[test]
fn norms_and_counts_agree() {
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-12 * a.abs().max(b.abs());
    check(Norm, "norm", true, |group, found| {
        close(exact(group.iter().map(|x| x * x)).0.sqrt(), found)
    });
    check(NormL1, "l1", true, |group, found| close(exact(group.iter().map(|x| x.abs())).0, found));
    check(NormMax, "max norm", true, |group, found| {
        found == group.iter().fold(0.0, |a: f64, x| a.max(x.abs()))
    });
    check(CountNonzero, "count", true, |group, found| {
        found == group.iter().filter(|x| **x != 0.0).count() as u64
    });
    check(Any, "any", true, |group, found| found == group.iter().any(|x| *x != 0.0));
    check(All, "all", true, |group, found| found == group.iter().all(|x| *x != 0.0));
    check(LogSumExp, "logsumexp", true, |group, found| {
        let most = group.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = group.iter().map(|x| (x - most).exp()).sum();
        if group.is_empty() { found == f64::NEG_INFINITY } else { close(most + sum.ln(), found) }
    });
}

/// A fold that depends on order: the elements as digits of a hash.
#[derive(Clone, Copy)]
struct Digest;

impl Reducer<f64> for Digest {
    type State = (u64, u64);
    type Out = u64;
    const COMMUTATIVE: bool = false;

    fn empty(&self) -> Option<(u64, u64)> {
        Some((0, 1))
    }

    fn first(&self, x: f64) -> (u64, u64) {
        (x.to_bits() >> 7, 31)
    }

    fn step(&self, state: &mut (u64, u64), x: f64) {
        self.combine(state, self.first(x));
    }

    fn combine(&self, state: &mut (u64, u64), later: (u64, u64)) {
        *state =
            (state.0.wrapping_mul(later.1).wrapping_add(later.0), state.1.wrapping_mul(later.1));
    }

    fn finish(&self, state: (u64, u64)) -> u64 {
        state.0
    }
}

/// The same, one element after another.
#[derive(Clone, Copy)]
struct InOrder;

impl Reducer<f64> for InOrder {
    type State = u64;
    type Out = u64;
    const ASSOCIATIVE: bool = false;

    fn empty(&self) -> Option<u64> {
        Some(0)
    }

    fn first(&self, x: f64) -> u64 {
        x.to_bits() >> 7
    }

    fn step(&self, state: &mut u64, x: f64) {
        *state = state.wrapping_mul(31).wrapping_add(x.to_bits() >> 7);
    }

    fn combine(&self, _state: &mut u64, _later: u64) {
        panic!("never joined");
    }

    fn finish(&self, state: u64) -> u64 {
        state
    }
}

#[test]
fn order_is_kept() {
    let digest = |group: &[f64]| {
        group.iter().fold(0_u64, |sum, x| sum.wrapping_mul(31).wrapping_add(x.to_bits() >> 7))
    };
    check(InOrder, "in order", true, |group, found| found == digest(group));
    for (seed, shape) in SHAPES.iter().enumerate() {
        let data = floats(shape.iter().product(), seed as u64 + 9);
        for axis in 0..shape.len() {
            for (_, t) in disguises(shape, &data) {
                let expected: Vec<u64> =
                    groups(shape, &data, &[axis]).iter().map(|group| digest(group)).collect();
                assert_eq!(t.reduce(axis, Digest).eval().unwrap().into_storage(), expected);
            }
        }
    }
    let t = Tensor::from_vec([2, 3], floats(6, 1)).unwrap();
    let error = t.view().reduce(.., Digest).eval().unwrap_err();
    assert_eq!(
        error.to_string(),
        "axes [0, 1] cannot be reduced at once: the result depends on the order of the elements"
    );
    assert!(t.reshape([1, 6]).unwrap().reduce(.., Digest).eval().is_ok());
}

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
    for shape in
        [vec![300_000], vec![3, 100_001], vec![100_001, 3], vec![517, 601], vec![40, 70, 110]]
    {
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

#[test]
fn special_values() {
    let t = |data: &[f64]| Tensor::from(data.to_vec());
    let sum = |data: &[f64]| t(data).sum(..).eval().unwrap().item().unwrap();
    assert!(sum(&[-0.0]).is_sign_negative());
    assert!(sum(&[]).is_sign_positive());
    assert!(sum(&[f64::INFINITY, f64::NEG_INFINITY]).is_nan());
    let compensated =
        |data: &[f64]| t(data).reduce(.., CompensatedSum).eval().unwrap().item().unwrap();
    assert_eq!(compensated(&[1.0, 1e100, 1.0, -1e100]), 2.0);
    assert!(compensated(&[-0.0]).is_sign_negative());
    assert_eq!(compensated(&[f64::INFINITY, 1.0]), f64::INFINITY);
    assert!(compensated(&[f64::INFINITY, 1.0, f64::NEG_INFINITY]).is_nan());

    let with_nan = t(&[3.0, f64::NAN, 1.0, f64::NAN, 5.0]);
    assert!(with_nan.min_over(..).eval().unwrap().item().unwrap().is_nan());
    assert!(with_nan.max_over(..).eval().unwrap().item().unwrap().is_nan());
    assert_eq!(with_nan.argmin(..).eval().unwrap().item(), Ok(1));
    assert_eq!(with_nan.argmax(..).eval().unwrap().item(), Ok(1));
    assert_eq!(with_nan.nan_argmax(..).eval().unwrap().item(), Ok(4));
    assert_eq!(with_nan.nan_min(..).eval().unwrap().item(), Ok(1.0));
    let only_nan = t(&[f64::NAN, f64::NAN]);
    assert_eq!(only_nan.nan_sum(..).eval().unwrap().item(), Ok(0.0));
    assert!(only_nan.nan_max(..).eval().unwrap().item().unwrap().is_nan());
    assert!(only_nan.nan_mean(..).eval().unwrap().item().unwrap().is_nan());

    let huge = t(&[1e200, 1e200]);
    assert_eq!(huge.norm(..).eval().unwrap().item(), Ok(1e200 * 2f64.sqrt()));
    let tiny = t(&[3e-200, 4e-200]);
    assert!((tiny.norm(..).eval().unwrap().item().unwrap() / 5e-200 - 1.0).abs() < 1e-15);
    let far = t(&[1e9 + 4.0, 1e9 + 7.0, 1e9 + 13.0, 1e9 + 16.0]);
    assert_eq!(far.variance(.., 1).eval().unwrap().item(), Ok(30.0));

    // Every first of equal elements, wherever it stands, also beyond the first leaf and lane.
    for at in [0, 1, 31, 32, 511, 512, 700, 1999] {
        let mut data = vec![0.0; 2000];
        data[at] = -1.0;
        data[1999] = -1.0;
        let found = t(&data).argmin(..).eval().unwrap().item();
        assert_eq!(found, Ok(at));
        data[at] = f64::NAN;
        assert_eq!(t(&data).argmax(..).eval().unwrap().item(), Ok(at));
    }
}

#[test]
fn integers_are_exact_or_refused() {
    let t = Tensor::from_nested([[i64::MAX, 1, -1], [i64::MAX, 1, 0]]).unwrap();
    let error = t.view().sum(1).eval().unwrap_err();
    assert_eq!(error, Error::Overflow { index: vec![1], target: "i64" });
    assert_eq!(error.to_string(), "the result at [1] does not fit i64");
    let wrapped = t.view().reduce(1, WrappingSum).eval().unwrap();
    assert_eq!(wrapped.into_storage(), [i64::MAX, i64::MIN]);
    let first = t.view().select((0,)).unwrap().sum(0).eval().unwrap().item();
    assert_eq!(first, Ok(i64::MAX), "what overflows on the way only is no error");
    assert!(matches!(t.view().prod(1).eval(), Err(Error::Overflow { .. }) | Ok(_)));

    let mut many = vec![i64::MAX; 3000];
    many.extend(vec![i64::MIN; 3000]);
    assert_eq!(Tensor::from(many).sum(..).eval().unwrap().item(), Ok(-3000));
    let bytes = vec![u8::MAX; 100_000];
    assert_eq!(Tensor::from(bytes).sum(..).eval().unwrap().item(), Ok(25_500_000_u64));
    let ones = Tensor::from(vec![true; 77]);
    assert_eq!(ones.sum(..).eval().unwrap().item(), Ok(77_u64));

    let big = Tensor::from(vec![1_i64 << 40, 1 << 40, 0]);
    assert_eq!(big.view().prod(..).eval().unwrap().item(), Ok(0));
    assert!(big.slice(0, 0..2).unwrap().prod(..).eval().is_err());
    let least = Tensor::from(vec![1_i64 << 62, -2]);
    assert_eq!(least.prod(..).eval().unwrap().item(), Ok(i64::MIN));
    let least = Tensor::from(vec![1_i64 << 62, 2, -1]);
    assert_eq!(least.prod(..).eval().unwrap().item(), Ok(i64::MIN));
}

#[test]
fn masks_skip_and_never_multiply() {
    let t = Tensor::from_nested([[1.0, f64::NAN, 3.0], [f64::INFINITY, 5.0, 6.0]]).unwrap();
    let mask = Tensor::from_nested([[true, false, true], [false, true, true]]).unwrap();
    assert_eq!(t.sum(1).filter(&mask).eval().unwrap().into_storage(), [4.0, 11.0]);
    assert_eq!(t.argmin(1).filter(&mask).eval().unwrap().into_storage(), [0, 1]);
    let none = Tensor::from_vec([2, 1], vec![true, false]).unwrap();
    assert_eq!(t.view().nan_sum(1).filter(&none).eval().unwrap().into_storage(), [4.0, 0.0]);
    let error = t.max_over(1).filter(&none).eval().unwrap_err();
    assert_eq!(error, Error::NothingLeft { index: vec![1] });
    assert_eq!(error.to_string(), "there is no result at [1]: all elements were left out");

    let data = floats(3000, 3);
    let mask: Vec<bool> = data.iter().map(|x| *x > 100.0).collect();
    let t = Tensor::from_vec([3, 1000], data.clone()).unwrap();
    let mask = Tensor::from_vec([3, 1000], mask).unwrap();
    for (row, found) in t.max_over(1).filter(&mask).eval().unwrap().storage().iter().enumerate() {
        let row = &data[1000 * row..][..1000];
        assert_eq!(*found, row.iter().copied().filter(|x| *x > 100.0).fold(0.0, f64::max));
    }
}

#[test]
fn several_reducers_and_functions_of_results() {
    let t = Tensor::from_vec([40, 50], floats(2000, 8)).unwrap();
    for axes in axis_sets(2) {
        let together =
            t.reduce(axes.clone(), (Sum, Min, ArgMax, Variance { ddof: 0 })).eval().unwrap();
        let (sums, least, positions, spread) = together.separate().unwrap();
        assert_eq!(sums, t.sum(axes.clone()).eval().unwrap());
        assert_eq!(least, t.min_over(axes.clone()).eval().unwrap());
        assert_eq!(positions, t.argmax(axes.clone()).eval().unwrap());
        assert_eq!(spread.len(), sums.len());
        let halves = t.sum(axes.clone()).map(|x: f64| x / 2.0).eval().unwrap();
        assert_eq!(halves, (&sums / 2.0).eval().unwrap());
    }
}

#[test]
fn errors_say_what_was_asked() {
    let t = Tensor::from_vec([2, 0, 3], Vec::<f64>::new()).unwrap();
    let error = t.view().max_over([0, 1]).eval().unwrap_err();
    assert_eq!(error, Error::EmptyReduction { axis: 1, shape: vec![2, 0, 3] });
    assert_eq!(
        error.to_string(),
        "there is no result for no elements: axis 1 of shape [2, 0, 3] is reduced and has extent 0"
    );
    assert_eq!(t.view().max_over(0).eval().unwrap().shape(), [0, 3]);
    assert_eq!(t.view().sum(1).eval().unwrap().into_storage(), [0.0; 6]);
    let axis = t.view().sum([0, 3]).eval().unwrap_err();
    assert_eq!(axis, Error::Axis { axis: 3, rank: 3 });
    assert_eq!(t.view().sum([1, 1]).shape().unwrap_err(), Error::RepeatedAxis { axis: 1 });
    let ints = Tensor::from_vec([2, 2], vec![1_i32, 2, 3, 0]).unwrap();
    let fault = (12_i32 / ints.view()).sum(0).eval().unwrap_err();
    assert_eq!(fault, Error::Arithmetic { index: vec![1, 1] });
    let misfit = (ints.view() + Tensor::from(vec![1_i32, 2, 3])).sum(0).eval();
    assert!(matches!(misfit, Err(Error::Operands { .. })));
}
