//! Special values, integers, masks, and errors.

use super::{floats, noise};
use lensor::prelude::*;
use lensor::reduce::*;

#[test]
fn special_values() {
    let t = |data: &[f64]| Tensor::from(data.to_vec());
    let sum = |data: &[f64]| t(data).sum(..).eval().unwrap().item().unwrap();
    assert!(sum(&[-0.0]).is_sign_negative());
    assert!(sum(&[]).is_sign_positive());
    assert!(sum(&[f64::INFINITY, f64::NEG_INFINITY]).is_nan());
    let compensated =
        |data: &[f64]| t(data).fold(.., CompensatedSum).eval().unwrap().item().unwrap();
    assert_eq!(compensated(&[1.0, 1e100, 1.0, -1e100]), 2.0);
    assert!(compensated(&[-0.0]).is_sign_negative());
    assert_eq!(compensated(&[f64::INFINITY, 1.0]), f64::INFINITY);
    assert!(compensated(&[f64::INFINITY, 1.0, f64::NEG_INFINITY]).is_nan());

    let with_nan = t(&[3.0, f64::NAN, 1.0, f64::NAN, 5.0]);
    assert!(with_nan.min(..).eval().unwrap().item().unwrap().is_nan());
    assert!(with_nan.max(..).eval().unwrap().item().unwrap().is_nan());
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
    assert_eq!(far.var(..).ddof(1).eval().unwrap().item(), Ok(30.0));
    // The square of the sum overflows, the squares do not.
    let mut many = vec![3e152; 1000];
    many[0] = 0.0;
    let variance = t(&many).var(..).eval().unwrap().item().unwrap();
    assert!((variance / (999.0 / 1e6 * 9e304) - 1.0).abs() < 1e-12, "{variance}");
    let column = t(&many).reshape([1000, 1]).unwrap().broadcast([1000, 9]).unwrap();
    for of_column in column.var(0).eval().unwrap().to_vec().unwrap() {
        assert!((of_column / variance - 1.0).abs() < 1e-12, "{of_column}");
    }
    // Squares overflow, whether the two lie along a row or in a column, and however they are joined.
    let wide = t(&[1e200, -1e200]);
    assert_eq!(wide.var(..).eval().unwrap().item(), Ok(f64::INFINITY));
    let columns = wide.view().reshape([2, 1]).unwrap().broadcast([2, 9]).unwrap();
    assert_eq!(columns.var(0).eval().unwrap().to_vec().unwrap(), [f64::INFINITY; 9]);
    let infinite = t(&[1.0, f64::INFINITY]);
    assert!(infinite.var(..).eval().unwrap().item().unwrap().is_nan());

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
    let wrapped = t.view().fold(1, WrappingSum).eval().unwrap();
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
    let error = t.max(1).filter(&none).eval().unwrap_err();
    assert_eq!(error, Error::NothingLeft { index: vec![1] });
    assert_eq!(
        error.to_string(),
        "there is no result at [1], as all elements were left out: `.or(..)`, or the reducer `Or`, gives one"
    );

    let data = floats(3000, 3);
    let mask: Vec<bool> = data.iter().map(|x| *x > 100.0).collect();
    let t = Tensor::from_vec([3, 1000], data.clone()).unwrap();
    let mask = Tensor::from_vec([3, 1000], mask).unwrap();
    for (row, found) in t.max(1).filter(&mask).eval().unwrap().storage().iter().enumerate() {
        let row = &data[1000 * row..][..1000];
        assert_eq!(*found, row.iter().copied().filter(|x| *x > 100.0).fold(0.0, f64::max));
    }
}

/// A position among elements that were all left out would look like an answer.
#[test]
fn there_is_no_position_among_nothing_but_nan() {
    use lensor::rolling::Rolling;
    use lensor::scan::Scan;
    use lensor::segments::Segments;

    fn nothing<T>(found: lensor::Result<T>, index: &[usize]) {
        assert_eq!(found.err(), Some(Error::NothingLeft { index: index.to_vec() }));
    }
    let nan = f64::NAN;
    let t = Tensor::from_nested([[1.0, nan, 3.0], [nan, nan, nan], [nan, nan, 2.0]]).unwrap();
    let (low, high) = (SkipNan(ArgMin), SkipNan(ArgMax));
    nothing(t.nan_argmin(1).eval(), &[1]);
    nothing(t.nan_argmax(1).keepdims().eval().map(drop), &[1, 0]);
    nothing((&t * 2.0).nan_argmax(1).keepdims().eval().map(drop), &[1, 0]);
    nothing(t.view().select((1,)).unwrap().nan_argmax(0).keepdims().item().map(drop), &[0]);
    nothing(t.nan_argmax(0).eval(), &[1]);
    nothing((&t * 2.0).nan_argmin(0).eval(), &[1]);
    nothing(t.nan_argmin([]).eval(), &[0, 1]);
    nothing(t.fold(1, (Sum, low)).eval(), &[1]);
    nothing(t.fold(1, SkipNan((Min, ArgMax))).eval(), &[1]);
    nothing(t.nan_argmin(1).map(|k| k + 1).eval(), &[1]);
    nothing(t.nan_argmin(1).filter(t.greater(2.5)).eval(), &[1]);
    nothing(t.nan_argmin(1).filter(true).eval(), &[1]);
    assert_eq!(t.nan_argmin(..).eval().unwrap().item(), Ok(0));
    assert_eq!(t.nan_argmax(..).eval().unwrap().item(), Ok(2));
    assert_eq!(t.argmin(1).eval().unwrap().into_storage(), [1, 0, 0]);

    // Values say themselves that there are none.
    assert!(t.nan_min(1).eval().unwrap().storage()[1].is_nan());
    assert!(t.nan_mean(1).eval().unwrap().storage()[1].is_nan());
    assert!(t.nan_var(1).eval().unwrap().storage()[1].is_nan());
    assert!(t.nan_std(1).ddof(1).eval().unwrap().storage()[1].is_nan());
    let (skipped, kept) = (t.nan_std(..).ddof(1), t.std(..).ddof(1).filter(!t.is_nan()));
    assert_eq!(skipped.item(), kept.item());
    assert_eq!(t.nan_sum(1).eval().unwrap().into_storage(), [4.0, 0.0, 2.0]);
    assert_eq!(t.nan_prod(1).eval().unwrap().into_storage(), [3.0, 1.0, 2.0]);

    // Segments, groups, windows and scans have the same elements to choose from.
    nothing(t.segments(1, [0, 1, 3]).fold(low).eval(), &[1, 0]);
    nothing(t.by_key(1, [1, 0, 1], 2).fold(high).eval(), &[0, 0]);
    nothing(t.rolling(1, 2).fold(low).eval(), &[1, 0]);
    nothing(t.rolling(0, 2).fold(high).eval(), &[0, 1]);
    let least = t.rolling(1, 2).fold(ArgMin).skip_nan(1, 9).eval().unwrap();
    assert_eq!(least.into_storage(), [0, 1, 9, 9, 9, 1]);
    nothing(t.scan(1, low).eval(), &[1, 0]);
    nothing(t.scan(0, high).eval(), &[0, 1]);

    // Sparse operands: entries, fill values, and both.
    let sparse = |fill: f64, addresses: Vec<usize>, values: Vec<f64>| {
        let storage = lensor::storage::Sparse::from_sorted(6, fill, addresses, values).unwrap();
        Tensor::new([3, 2], storage).unwrap()
    };
    nothing(sparse(0.0, vec![2, 3], vec![nan, nan]).nan_argmin(1).eval(), &[1]);
    nothing(sparse(nan, vec![0, 5], vec![1.0, 1.0]).nan_argmax(1).eval_sparse(), &[1]);
    nothing(sparse(nan, vec![0, 2], vec![1.0, nan]).nan_argmin(1).eval(), &[1]);
    let stored = sparse(nan, vec![0, 3, 4], vec![1.0; 3]).nan_argmin(1).eval().unwrap();
    assert_eq!(stored.into_storage(), [0, 1, 0]);
}

/// The first in row-major order of the result, however the work is cut.
#[cfg(feature = "rayon")]
#[test]
fn the_first_lane_of_nothing_but_nan_is_named() {
    for (shape, axis, lanes) in
        [([700, 400], 0, [37, 350]), ([700, 400], 1, [99, 611]), ([3, 90_000], 1, [1, 2])]
    {
        let mut t = Tensor::full(shape, 1.0).unwrap();
        for lane in lanes {
            let mut part = t.view_mut().slice(1 - axis, lane..lane + 1).unwrap();
            part.fill(f64::NAN).unwrap();
        }
        for threads in [1, 2, 3, 16] {
            let pool = crate::support::pool(threads);
            let found = pool.install(|| t.nan_argmin(axis).eval().unwrap_err());
            assert_eq!(found, Error::NothingLeft { index: vec![lanes[0]] }, "{shape:?} {threads}");
        }
    }
}

#[test]
fn errors_say_what_was_asked() {
    let t = Tensor::from_vec([2, 0, 3], Vec::<f64>::new()).unwrap();
    let error = t.view().max([0, 1]).eval().unwrap_err();
    assert_eq!(error, Error::EmptyReduction { axis: 1, shape: vec![2, 0, 3] });
    assert_eq!(
        error.to_string(),
        "there is no result for no elements: axis 1 of shape [2, 0, 3] is reduced and has extent 0"
    );
    assert_eq!(t.view().max(0).eval().unwrap().shape(), [0, 3]);
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

#[test]
fn more_elements_than_can_be_counted_are_refused() {
    let a = Tensor::constant([1 << 40, 1], 1_i64).unwrap();
    let b = Tensor::constant([1, 1 << 40], 1_i64).unwrap();
    let sum = (&a + &b).sum(..).eval().unwrap_err();
    assert_eq!(sum, Error::ShapeOverflow { shape: vec![1 << 40, 1 << 40] });
    assert!(matches!((&a + &b).max(0).eval(), Err(Error::ShapeOverflow { .. })));
    // A result for every pair of elements does not fit in memory.
    let many = Tensor::<lensor::storage::Progression<i64>>::iota([1_usize << 40, 2]).unwrap();
    assert!(matches!(many.sum(1).eval(), Err(Error::OutOfMemory { .. })));
    assert!(matches!(
        many.view().transpose([1, 0]).unwrap().sum(0).eval(),
        Err(Error::OutOfMemory { .. })
    ));
}

/// The first of the best elements, or the first NaN, one element after another.
fn best<T: Copy + PartialOrd>(data: &[T], better: impl Fn(T, T) -> bool) -> usize {
    let is_nan = |k: usize| data[k].partial_cmp(&data[k]).is_none();
    (0..data.len()).find(|&k| is_nan(k)).unwrap_or_else(|| {
        (0..data.len()).fold(0, |best, k| if better(data[k], data[best]) { k } else { best })
    })
}

/// Extrema and their positions of every beginning of `data`, and with `nan` at some place in it.
fn extrema_are_the_first<T>(mut data: Vec<T>, nan: Option<T>)
where
    T: lensor::dtype::Order + std::fmt::Debug,
{
    for count in (1..=140).chain([400, 511, 512, 513, 1100]) {
        for at in [None, Some(0), Some(count / 3), Some(count - 1)] {
            let kept = data[at.unwrap_or(0)];
            if let (Some(at), Some(nan)) = (at, nan) {
                data[at] = nan;
            }
            let run = &data[..count];
            let t = Tensor::new([count], run).unwrap();
            let (least, most) = (best(run, |a, b| a < b), best(run, |a, b| a > b));
            let found = t.fold(.., (ArgMin, ArgMax)).eval().unwrap().item();
            assert_eq!(found, Ok((least, most)), "{count} {at:?}");
            let found = t.fold(.., (Min, Max)).eval().unwrap().item().unwrap();
            let same =
                |a: T, b: T| a == b || (a.partial_cmp(&a), b.partial_cmp(&b)) == (None, None);
            assert!(same(found.0, run[least]) && same(found.1, run[most]), "{count} {at:?}");
            data[at.unwrap_or(0)] = kept;
        }
    }
}

#[test]
fn extrema_of_all_widths_and_lengths() {
    let mut next = noise(3);
    let data: Vec<i16> = (0..1100).map(|_| (next() % 801) as i16 - 400).collect();
    // Each type takes the compiler seconds: the others are for the run with all features.
    #[cfg(feature = "quickcheck")]
    {
        extrema_are_the_first(data.iter().map(|&x| f64::from(x)).collect(), Some(f64::NAN));
        extrema_are_the_first(data.iter().map(|&x| i64::from(x)).collect(), None);
        extrema_are_the_first(data.iter().map(|&x| x as u8).collect(), None);
        extrema_are_the_first((0..1100).map(|k| k % 640 == 639).collect(), None);
    }
    extrema_are_the_first(data.iter().map(|&x| f32::from(x)).collect(), Some(f32::NAN));
    extrema_are_the_first(data, None);
}

/// Elements of which many would not fit the stack.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Huge([u8; 16_000]);

impl PartialOrd for Huge {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        self.0[0].partial_cmp(&other.0[0])
    }
}

impl lensor::dtype::Order for Huge {}

#[test]
fn extrema_of_huge_elements() {
    // Without optimisation what is never run takes part of the stack, too.
    let stack = if cfg!(debug_assertions) { 128 << 20 } else { 1 << 20 };
    let test = || {
        let first = |k: usize| (k * 23 + 7) as u8 % 100;
        let t = Tensor::from((0..40).map(|k| Huge([first(k); 16_000])).collect::<Vec<_>>());
        let (least, most) = (t.fold(.., Min).eval().unwrap(), t.fold(.., Max).eval().unwrap());
        assert_eq!(least.storage()[0].0[0], (0..40).map(first).min().unwrap());
        assert_eq!(most.storage()[0].0[0], (0..40).map(first).max().unwrap());
    };
    std::thread::Builder::new().stack_size(stack).spawn(test).unwrap().join().unwrap();
}

/// All ways to name the same axes give the same fold.
#[test]
fn axes_are_named_in_any_way() {
    struct Places;
    impl IntoAxes for Places {
        fn into_axes(self) -> Axes {
            Axes::Listed(vec![1, 2])
        }
    }
    let t = Tensor::from_index([2, 3, 4], |i| (i[0] * 100 + i[1] * 10 + i[2]) as i64).unwrap();
    let several = t.sum([1, 2]).to_vec().unwrap();
    assert_eq!(several, [138, 1338]);
    assert_eq!(t.sum(Places).to_vec().unwrap(), several);
    assert_eq!(t.sum(vec![1, 2]).to_vec().unwrap(), several);
    assert_eq!(t.sum(1..).to_vec().unwrap(), several);
    assert_eq!(t.sum(1..=2).to_vec().unwrap(), several);
    assert_eq!(t.sum(..2).to_vec().unwrap(), t.sum([0, 1]).to_vec().unwrap());
    assert_eq!(t.sum(..=1).to_vec().unwrap(), t.sum([0, 1]).to_vec().unwrap());
    assert_eq!(t.sum(3..).to_vec().unwrap(), t.to_vec().unwrap());
    assert_eq!(t.sum(..0).to_vec().unwrap(), t.to_vec().unwrap());
    let beyond = |axis| Some(Error::Axis { axis, rank: 3 });
    assert_eq!(t.sum(2..4).eval().err(), beyond(3));
    assert_eq!(t.sum(..4).eval().err(), beyond(3));
    assert_eq!(t.sum(..=usize::MAX).eval().err(), beyond(3));
    assert_eq!(t.sum(5..=usize::MAX).eval().err(), beyond(5));
    assert_eq!(t.sum(4..).eval().err(), beyond(4));
    assert_eq!(t.max(usize::MAX..).eval().err(), beyond(usize::MAX));
    assert_eq!(t.sum(&[2, 1][..]).to_vec().unwrap(), several);
    assert_eq!(t.sum(Axes::Listed(vec![1, 2])).to_vec().unwrap(), several);
    assert_eq!(t.sum(1).to_vec().unwrap(), t.sum(Axes::One(1)).to_vec().unwrap());
    assert_eq!(t.sum(..).item().unwrap(), t.sum([0, 1, 2]).item().unwrap());
    let rows = t.as_ragged().sum(Places).eval().unwrap();
    assert_eq!(rows.to_string(), "[138, 1338]");
    assert_eq!(t.as_ragged().sum(1..).eval().unwrap().to_string(), "[138, 1338]");
}

/// Elements without any spread have a spread of 0.0, whatever their sign, stored or not.
#[test]
fn no_spread_is_positive_zero() {
    let bits = |found: lensor::Result<f64>| found.unwrap().to_bits();
    let (stored, dense) = (Tensor::sparse([4], -1.0).unwrap(), Tensor::full([4], -1.0).unwrap());
    for spread in [Variance::default(), Variance { ddof: 1 }] {
        assert_eq!(bits(stored.fold(.., spread).item()), 0);
        assert_eq!(bits(dense.fold(.., spread).item()), 0);
    }
    assert_eq!(bits(dense.scan(0, Variance::default()).eval().unwrap().get([0])), 0);
    let twice = || zip_with((&dense, &dense), |pair| pair);
    assert_eq!(bits(twice().fold(.., Covariance::default()).item()), 0);
}

/// Numbers as large as addresses are summed as those of 64 bits are.
#[test]
fn addresses_have_sums() {
    let t = Tensor::from_nested([[1_usize, 2, 3], [4, 5, usize::MAX]]).unwrap();
    assert_eq!(t.sum(1).eval().err(), Some(Error::Overflow { index: vec![1], target: "u64" }));
    assert_eq!(t.view().slice(1, 0..2).unwrap().sum(0).to_vec(), Ok(vec![5_u64, 7]));
    assert_eq!(t.fold(1, WrappingSum).to_vec(), Ok(vec![6_u64, 8]));
    assert_eq!(t.view().slice(1, 0..2).unwrap().prod(..).item(), Ok(40_u64));
    assert_eq!(t.view().select((0,)).unwrap().cumsum(0).to_vec(), Ok(vec![1_u64, 3, 6]));
    let signed = Tensor::from(vec![isize::MIN, isize::MAX, -1]);
    assert_eq!(signed.sum(..).item(), Ok(-2_i64));
    let many = Tensor::from((0..5000_usize).collect::<Vec<_>>());
    assert_eq!(many.sum(..).item(), Ok(4999 * 2500_u64));
}

/// Results of the type of the elements, or an error where one does not fit.
#[test]
fn results_keep_the_type_of_elements() {
    let t = Tensor::from_nested([[100_i8, 27], [100, 28]]).unwrap();
    let overflow = |index: &[usize]| Error::Overflow { index: index.to_vec(), target: "i8" };
    assert_eq!(t.view().slice(0, ..1).unwrap().fold(1, SameType(Sum)).to_vec(), Ok(vec![127_i8]));
    assert_eq!(t.fold(1, SameType(Sum)).eval().err(), Some(overflow(&[1])));
    assert_eq!(t.fold(0, SameType(Mean)).to_vec(), Ok(vec![100_i8, 27]));
    let empty = Tensor::from_vec([2, 0], vec![0_i8; 0]).unwrap();
    assert_eq!(empty.fold(1, SameType(Sum)).to_vec(), Ok(vec![0_i8, 0]));

    let mut counts = Tensor::full([3], 200_u8).unwrap();
    let at = Tensor::from(vec![2_usize, 0, 2]);
    counts.fold_at((&at,), 10, SameType(Sum)).unwrap();
    let error = counts.fold_at((&at,), 20, SameType(Sum)).unwrap_err();
    assert_eq!(error, Error::Overflow { index: vec![2], target: "u8" });
    assert_eq!(counts.to_vec(), Ok(vec![210, 200, 220]));
}
