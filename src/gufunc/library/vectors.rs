//! Functions of one vector.

use super::named;
use crate::dtype::{Order, Real, Sortable};
use crate::error::ElementaryError;
use crate::gufunc::signature::Signature;
use crate::gufunc::{Args, Core, CoreMut, Elementary, Gufunc};
use crate::ops::lanes::{SortOrder, sort_runs};
use crate::ops::reduce::{ArgMax, ArgMin, Max, Min, Norm, Reducer, Undefined};
use crate::ops::scan::scan_run;

/// The Euclidean norm, `(n)->()`, without overflow or underflow on the way.
///
/// ```
/// use lensor::gufunc::norm;
/// use lensor::Tensor;
/// let t = Tensor::from_nested([[3.0, 4.0], [0.0, 1e200]])?;
/// assert_eq!(norm().call([&t]).eval()?[0].to_vec()?, [5.0, 1e200]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn norm<T: Real + Default + 'static>() -> Gufunc<[T; 1], [T; 1], VectorNorm> {
    named("norm", VectorNorm)
}

/// See [`norm`].
#[derive(Debug, Clone, Copy)]
pub struct VectorNorm;

impl<T: Real + Default + 'static> Elementary<[T; 1], [T; 1]> for VectorNorm {
    const FILLS: bool = true;

    #[inline(always)]
    fn call<'c>(
        &self,
        [a]: [Core<'c, T>; 1],
        [mut out]: [CoreMut<'c, T>; 1],
    ) -> Result<(), ElementaryError> {
        out[0] = euclidean(&a);
        Ok(())
    }
}

#[inline(always)]
fn euclidean<T: Real>(a: &[T]) -> T {
    match a.is_empty() {
        true => T::of_f64(0.0),
        false => <Norm as Reducer<T>>::finish(&Norm, <Norm as Reducer<T>>::fold(&Norm, a, 0)),
    }
}

/// A vector divided by its norm, `(n)->(n)`; zeros stay.
///
/// ```
/// use lensor::gufunc::normalize;
/// use lensor::Tensor;
/// let t = Tensor::from_nested([[3.0, 4.0], [0.0, 0.0]])?;
/// assert_eq!(normalize().call([&t]).eval()?[0].to_vec()?, [0.6, 0.8, 0.0, 0.0]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn normalize<T: Real + Default + 'static>() -> Gufunc<[T; 1], [T; 1], Normalize> {
    named("normalize", Normalize)
}

/// See [`normalize`].
#[derive(Debug, Clone, Copy)]
pub struct Normalize;

impl<T: Real + Default + 'static> Elementary<[T; 1], [T; 1]> for Normalize {
    const FILLS: bool = true;

    #[inline(always)]
    fn call<'c>(
        &self,
        [a]: [Core<'c, T>; 1],
        [mut out]: [CoreMut<'c, T>; 1],
    ) -> Result<(), ElementaryError> {
        let norm = euclidean(&a);
        let largest = a.iter().fold(T::of_f64(0.0), |most, x| most.maximum(x.magnitude()));
        let zero = T::of_f64(0.0);
        if norm.is_finite() && (norm.over(largest).is_finite() || largest == zero) {
            let divided = |x: &T| if norm == zero { *x } else { x.over(norm) };
            out.iter_mut().zip(a.iter()).for_each(|(slot, x)| *slot = divided(x));
            return Ok(());
        }
        // The norm is beyond the numbers of the type, and its elements are not.
        out.iter_mut().zip(a.iter()).for_each(|(slot, x)| *slot = x.over(largest));
        let norm = euclidean(&out);
        out.iter_mut().for_each(|x| *x = x.over(norm));
        Ok(())
    }
}

/// The smallest and the largest element, `(n)->(),()`; NaN if there is one.
///
/// ```
/// use lensor::gufunc::minmax;
/// use lensor::Tensor;
/// let t = Tensor::from(vec![3, 1, 2]);
/// let [least, most] = minmax().call([&t]).eval()?;
/// assert_eq!((least.item()?, most.item()?), (1, 3));
/// # Ok::<(), lensor::Error>(())
/// ```
///
/// The call fails at its index if there are no elements.
pub fn minmax<T: Order + Default + 'static>() -> Gufunc<[T; 1], [T; 2], MinMax> {
    named("minmax", MinMax)
}

/// See [`minmax`].
#[derive(Debug, Clone, Copy)]
pub struct MinMax;

impl<T: Order + Default + 'static> Elementary<[T; 1], [T; 2]> for MinMax {
    const FILLS: bool = true;

    #[inline(always)]
    fn call<'c>(
        &self,
        [a]: [Core<'c, T>; 1],
        [mut least, mut most]: [CoreMut<'c, T>; 2],
    ) -> Result<(), ElementaryError> {
        if a.is_empty() {
            return Err("there is no smallest of no elements".into());
        }
        least[0] = Min.finish(Min.fold(&a, 0));
        most[0] = Max.finish(Max.fold(&a, 0));
        Ok(())
    }
}

/// Where the smallest and the largest element first are, `(n)->(),()`, or the first NaN.
///
/// ```
/// use lensor::gufunc::argminmax;
/// use lensor::Tensor;
/// let t = Tensor::from(vec![3, 1, 3]);
/// let [least, most] = argminmax().call([&t]).eval()?;
/// assert_eq!((least.item()?, most.item()?), (1, 0));
/// # Ok::<(), lensor::Error>(())
/// ```
///
/// The call fails at its index if there are no elements.
pub fn argminmax<T: Order>() -> Gufunc<[T; 1], [usize; 2], ArgMinMax>
where
    ArgMin: Reducer<T, Out = usize>,
    ArgMax: Reducer<T, Out = usize>,
{
    named("argminmax", ArgMinMax)
}

/// See [`argminmax`].
#[derive(Debug, Clone, Copy)]
pub struct ArgMinMax;

impl<T: Order> Elementary<[T; 1], [usize; 2]> for ArgMinMax
where
    ArgMin: Reducer<T, Out = usize>,
    ArgMax: Reducer<T, Out = usize>,
{
    const FILLS: bool = true;

    #[inline(always)]
    fn call<'c>(
        &self,
        [a]: [Core<'c, T>; 1],
        [mut least, mut most]: [CoreMut<'c, usize>; 2],
    ) -> Result<(), ElementaryError> {
        if a.is_empty() {
            return Err("there is no smallest of no elements".into());
        }
        least[0] = ArgMin.finish(ArgMin.fold(&a, 0));
        most[0] = ArgMax.finish(ArgMax.fold(&a, 0));
        Ok(())
    }
}

/// Running results of a reducer, `(n)->(n)`: those of the [scan](crate::scan).
///
/// ```
/// use lensor::gufunc::cumulative;
/// use lensor::reduce::Sum;
/// use lensor::Tensor;
/// let t = Tensor::from(vec![1_i64, 2, 3]);
/// assert_eq!(cumulative(Sum).call([&t]).eval()?.0.to_vec()?, [1, 3, 6]);
/// # Ok::<(), lensor::Error>(())
/// ```
///
/// The call fails at its index if a result does not exist, as a sum of integers that does not fit.
pub fn cumulative<T, R>(reducer: R) -> Gufunc<[T; 1], (R::Out,), Cumulative<R>>
where
    T: Copy + Send + Sync,
    R: Reducer<T, Out: Default + 'static>,
{
    Gufunc::of_signature(Signature::parse("(n)->(n)"), Cumulative(reducer))
}

/// See [`cumulative`].
#[derive(Debug, Clone, Copy)]
pub struct Cumulative<R>(R);

impl<T, R> Elementary<[T; 1], (R::Out,)> for Cumulative<R>
where
    T: Copy + Send + Sync,
    R: Reducer<T, Out: Default + 'static>,
{
    const FILLS: bool = true;

    fn call<'c>(
        &self,
        [a]: [Core<'c, T>; 1],
        (mut out,): (CoreMut<'c, R::Out>,),
    ) -> Result<(), ElementaryError> {
        match scan_run(&self.0, &a, &mut out)? {
            None => Ok(()),
            Some((k, Undefined::Overflow)) => {
                Err(format!("result {k} does not fit its type").into())
            }
            Some((k, Undefined::Empty)) => Err(format!("there is no result {k}").into()),
        }
    }
}

/// The elements in ascending order, `(n)->(n)`, NaN last: those of [`Lanes::sort`](crate::lanes::Lanes::sort).
///
/// ```
/// use lensor::gufunc::sort;
/// use lensor::Tensor;
/// let t = Tensor::from_nested([[3, 1, 2], [6, 5, 4]])?;
/// assert_eq!(sort().call([&t]).eval()?[0].to_vec()?, [1, 2, 3, 4, 5, 6]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn sort<T: Sortable + Default + 'static>() -> Gufunc<[T; 1], [T; 1], Sorted> {
    named("sort", Sorted)
}

/// See [`sort`].
#[derive(Debug, Clone, Copy)]
pub struct Sorted;

impl<T: Sortable + Default + 'static> Elementary<[T; 1], [T; 1]> for Sorted {
    const FILLS: bool = true;

    fn call<'c>(
        &self,
        [a]: [Core<'c, T>; 1],
        [mut out]: [CoreMut<'c, T>; 1],
    ) -> Result<(), ElementaryError> {
        Ok(sort_runs(&a, [0, 0], a.len(), &mut out, SortOrder::Ascending)?)
    }

    fn run(&self, args: &mut Args<'_, [T; 1], [T; 1]>) -> Result<(), (usize, ElementaryError)> {
        let (length, [run]) = (args.dimensions[1], args.inputs);
        let place = [args.offset(0) as isize, args.steps[0]];
        let [out] = &mut args.outputs;
        sort_runs(run, place, length, out, SortOrder::Ascending).map_err(|error| (0, error.into()))
    }
}

/// The positions of the elements in ascending order, `(n)->(n)`: those of
/// [`Lanes::argsort`](crate::lanes::Lanes::argsort).
///
/// ```
/// use lensor::gufunc::argsort;
/// use lensor::Tensor;
/// let t = Tensor::from(vec![3, 1, 2]);
/// assert_eq!(argsort().call([&t]).eval()?.0.to_vec()?, [1, 2, 0]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn argsort<T: Sortable>() -> Gufunc<[T; 1], (usize,), ArgSorted> {
    named("argsort", ArgSorted)
}

/// See [`argsort`].
#[derive(Debug, Clone, Copy)]
pub struct ArgSorted;

impl<T: Sortable> Elementary<[T; 1], (usize,)> for ArgSorted {
    const FILLS: bool = true;

    fn call<'c>(
        &self,
        [a]: [Core<'c, T>; 1],
        (mut out,): (CoreMut<'c, usize>,),
    ) -> Result<(), ElementaryError> {
        Ok(crate::ops::lanes::argsort_runs(&a, [0, 0], a.len(), &mut out)?)
    }

    fn run(&self, args: &mut Args<'_, [T; 1], (usize,)>) -> Result<(), (usize, ElementaryError)> {
        let (length, [run]) = (args.dimensions[1], args.inputs);
        let place = [args.offset(0) as isize, args.steps[0]];
        let (out,) = &mut args.outputs;
        crate::ops::lanes::argsort_runs(run, place, length, out).map_err(|error| (0, error.into()))
    }
}
