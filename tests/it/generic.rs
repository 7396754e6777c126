//! Functions generic over elements and storage, under one bound each: whatever compiles here needs no other.
//! They run for few elements: each takes the compiler as long as a hundred tests. With `quickcheck` there are more.

use lensor::dtype::Measure as _;
use lensor::generate::linspace;
use lensor::interop::npy;
use lensor::lanes::{Edges, Interpolation, Lanes, Side, SortOrder, Uniform};
use lensor::linalg::Linalg;
use lensor::prelude::*;
use lensor::reduce::{Max, Sum, Variance};
use lensor::rolling::Rolling;
use lensor::scan::Scan;
use lensor::segments::Segments;
use lensor::stencil::{EdgeOrder, Mode, Stencil};
use lensor::{Reader, Result, Writer};

/// `[[1, 2], [3, 4]]` as storage of any kind gives it.
fn numbers<T: Number, S: Reader<Elem = T>>(a: &Tensor<S>) -> Result<()> {
    let of = |list: &[i8]| list.iter().map(|&x| T::of_i8(x)).collect::<Vec<_>>();
    let total = |list: &[i8]| list.iter().map(|&x| T::Sum::of_i8(x)).collect::<Vec<_>>();
    let [one, two, three] = [1, 2, 3].map(T::of_i8);

    // Operators of tensors, expressions and numbers, by value and by reference.
    let same = a.view() / one;
    let all = a + a * two - &same % three;
    assert_eq!(all.to_vec()?, of(&[2, 4, 9, 11]));
    assert_eq!((&all + &all - &all).to_vec()?, of(&[2, 4, 9, 11]));
    assert_eq!((Lazy::new(T::of_i8(9)) - a).to_vec()?, of(&[8, 7, 6, 5]));
    assert_eq!((-(-a)).abs().powi(2).to_vec()?, of(&[1, 4, 9, 16]));
    assert_eq!(a.map(|x| (x + x) * x - (x + x) / x).to_vec()?, of(&[0, 6, 16, 30]));

    // Comparisons and choices.
    let large = a.greater(two);
    assert_eq!(large.to_vec()?, [false, false, true, true]);
    assert_eq!(choose(&large, a, T::ZERO).to_vec()?, of(&[0, 0, 3, 4]));
    assert_eq!(a.clamp(two, three).minimum(a).maximum(one).to_vec()?, of(&[1, 2, 3, 3]));
    assert!(a.equal(a).all(..).item()? && *a == a.view());

    // Folds.
    assert_eq!(a.sum(..).to_vec()?, total(&[10]));
    assert_eq!(a.sum(0).filter(&large).to_vec()?, total(&[3, 4]));
    assert_eq!((a.sum(0).eval()? * T::Sum::of_i8(2)).to_vec()?, total(&[8, 12]));
    assert_eq!(a.prod(0).to_vec()?, total(&[3, 8]));
    assert_eq!(a.dot(a, 1).to_vec()?, total(&[5, 25]));
    assert_eq!(a.nan_sum(1).to_vec()?, total(&[3, 7]));
    assert_eq!(a.min(0).to_vec()?, of(&[1, 2]));
    assert_eq!(a.max(1).to_vec()?, of(&[2, 4]));
    assert_eq!(a.argmax(0).to_vec()?, [1, 1]);
    assert_eq!(a.count_nonzero(..).item()?, 4);
    assert_eq!(a.mean(0).to_vec()?, [2, 3].map(T::Mean::of_i8));
    assert_eq!(a.std(0).eval()?.sqrt().to_vec()?, [1, 1].map(T::Mean::of_i8));
    let both = a.fold(.., (Variance { ddof: 0 }, Max)).item()?;
    assert_eq!(both, (T::Mean::of_f64(1.25), T::of_i8(4)));

    // Scans, windows, segments.
    assert_eq!(a.cumsum(0).to_vec()?, total(&[1, 2, 4, 6]));
    assert_eq!(a.cumprod(1).to_vec()?, total(&[1, 2, 3, 12]));
    assert_eq!(a.cummax(0).to_vec()?, of(&[1, 2, 3, 4]));
    assert_eq!(a.rolling(1, 2).sum().to_vec()?, total(&[3, 7]));
    assert_eq!(a.segments(0, [0, 2]).fold(Sum).to_vec()?, total(&[4, 6]));

    // Lanes and products.
    assert_eq!(a.sort(1, SortOrder::Descending).to_vec()?, of(&[2, 1, 4, 3]));
    assert_eq!(a.argsort(0, SortOrder::Ascending).to_vec()?, [0, 0, 1, 1]);
    assert_eq!(Tensor::from(of(&[1, 3])).search_sorted(two, Side::Left).to_vec()?, [1]);
    assert_eq!(a.histogram(Edges::new(of(&[0, 3, 9]))?).to_vec()?, [2, 2]);
    assert_eq!(a.histogram(Uniform::new(0.0, 6.0, 2)?).to_vec()?, [2, 2]);
    assert_eq!(a.unique()?.values.to_vec()?, of(&[1, 2, 3, 4]));
    assert_eq!(a.matmul(a).to_vec()?, of(&[7, 10, 15, 22]));
    let kernel = Tensor::from_vec([1, 2], of(&[1, 1]))?;
    assert_eq!(a.convolve(&kernel, Mode::Valid).to_vec()?, of(&[3, 7]));

    // Assignment to any storage, casts, sparse storage, files.
    assigned(&mut Tensor::full([2, 2], T::ZERO)?, a)?;
    assert_eq!(a.cast::<f64>().sum(..).item()?, 10.0);
    assert_eq!(a.cast::<u8>().to_vec()?, [1, 2, 3, 4]);
    let sparse = (a * T::ZERO).to_sparse(T::ZERO)?;
    assert_eq!((sparse.storage().stored_len(), sparse.sum(0).to_vec()?), (0, total(&[0, 0])));
    let mut file = Vec::new();
    npy::write(&mut file, a)?;
    assert_eq!(npy::read::<T>(file.as_slice())?, *a);
    Ok(())
}

fn assigned<T: Number, W: Writer<Elem = T>, S: Reader<Elem = T>>(
    out: &mut Tensor<W>,
    a: &Tensor<S>,
) -> Result<()> {
    out.assign(a)?;
    *out += a;
    *out *= T::of_i8(2);
    out.try_sub_assign(a * T::of_i8(3))?;
    out.view_mut().select((0,))?.sort_in_place(0, SortOrder::Descending)?;
    out.update(|old| Ok((old + T::ONE).boxed()))?;
    assert_eq!(out.to_vec()?, [3, 2, 4, 5].map(T::of_i8));
    Ok(())
}

/// Every column with mean 0 and standard deviation 1.
fn standardise<T: Float, S: Reader<Elem = T>>(t: &Tensor<S>) -> Result<Tensor<Vec<T>>> {
    let centred = t - t.mean(0).eval()?;
    (&centred / t.std(0).eval()?.maximum(T::of_f64(1e-9))).eval()
}

/// What floats have besides: `[[1, 4], [9, 16]]`.
fn floats<T: Float, S: Reader<Elem = T>>(a: &Tensor<S>) -> Result<()> {
    let of = |list: &[f64]| list.iter().map(|&x| T::of_f64(x)).collect::<Vec<_>>();
    assert_eq!(a.sqrt().to_vec()?, of(&[1.0, 2.0, 3.0, 4.0]));
    assert_eq!(a.log(T::of_f64(2.0)).round().to_vec()?, of(&[0.0, 2.0, 3.0, 4.0]));
    assert_eq!(a.powf(T::of_f64(0.5)).mul_add(a, T::ONE).to_vec()?, of(&[2., 9., 28., 65.]));
    assert_eq!(a.is_nan().any(..).to_vec()?, [false]);
    assert_eq!((a - a.mean(1).keepdims().eval()?).to_vec()?, of(&[-1.5, 1.5, -3.5, 3.5]));
    assert_eq!(a.map(|x| -x.floor()).sum(0).to_vec()?, of(&[-10.0, -20.0]));
    assert_eq!(a.median(0).to_vec()?, of(&[5.0, 10.0]));
    assert_eq!(a.quantile(1, 1.0, Interpolation::Linear).to_vec()?, of(&[4.0, 16.0]));
    assert_eq!(a.derivative(1, T::ONE, EdgeOrder::First).to_vec()?, of(&[3.0, 3.0, 7.0, 7.0]));
    assert!(a.all_close(a + T::of_f64(1e-6), T::of_f64(1e-3), T::ZERO)?);
    assert_eq!(linspace(T::ZERO, T::ONE, 3)?.to_vec()?, of(&[0.0, 0.5, 1.0]));
    assert_eq!(standardise(a)?.to_vec()?, of(&[-1.0, -1.0, 1.0, 1.0]));
    Ok(())
}

/// `numbers` of elements `T` in memory.
fn number<T: Number>() -> Result<()> {
    numbers(&Tensor::from_vec([2, 2], [1, 2, 3, 4].map(T::of_i8).to_vec())?)
}

#[test]
fn one_bound_for_numbers() -> Result<()> {
    number::<u8>()?;
    #[cfg(feature = "quickcheck")]
    {
        number::<f32>()?;
        number::<i32>()?;
    }
    let columns = [1.0, 3.0, 2.0, 4.0];
    numbers(&Tensor::new([2, 2], &columns)?.transpose([1, 0])?.erase())
}

#[test]
fn one_bound_for_floats() -> Result<()> {
    let squares = [1.0, 4.0, 9.0, 16.0];
    #[cfg(feature = "quickcheck")]
    floats(&Tensor::from_vec([2, 2], squares.map(|x| x as f32).to_vec())?)?;
    floats(&Tensor::new([2, 2], &squares)?.flip(0)?.flip(0)?)
}
