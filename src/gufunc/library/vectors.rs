//! Functions of one vector.

use super::{Called, named};
use crate::dtype::{Order, Real, Sortable};
use crate::error::Error;
use crate::gufunc::{Args, Core, CoreMut, Elementary, ElementaryError, Gufunc};
use crate::kernel::inner;
use crate::ops::lanes::{SortOrder, sort_runs};
use crate::ops::reduce::{ArgMax, ArgMin, Max, Min, Norm, Reducer};
use crate::ops::scan::{Way, scan_rows};

ready! {
    /// The Euclidean norm, `(n)->()`, without overflow or underflow on the way.
    ///
    /// ```
    /// use lensor::gufunc::norm;
    /// use lensor::Tensor;
    /// let t = Tensor::from_nested([[3.0, 4.0], [0.0, 1e200]])?;
    /// assert_eq!(norm().call([&t]).eval()?[0].to_vec()?, [5.0, 1e200]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    norm VectorNorm[T: Real + Default + 'static] [T; 1] => [T; 1];

    /// A vector divided by its norm, `(n)->(n)`; zeros stay.
    ///
    /// ```
    /// use lensor::gufunc::normalize;
    /// use lensor::Tensor;
    /// let t = Tensor::from_nested([[3.0, 4.0], [0.0, 0.0]])?;
    /// assert_eq!(normalize().call([&t]).eval()?[0].to_vec()?, [0.6, 0.8, 0.0, 0.0]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    normalize Normalize[T: Real + Default + 'static] [T; 1] => [T; 1];

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
    minmax MinMax[T: Order + Default + 'static] [T; 1] => [T; 2];

    /// The elements in ascending order, `(n)->(n)`, NaN last: those of [`Lanes::sort`](crate::lanes::Lanes::sort).
    ///
    /// ```
    /// use lensor::gufunc::sort;
    /// use lensor::Tensor;
    /// let t = Tensor::from_nested([[3, 1, 2], [6, 5, 4]])?;
    /// assert_eq!(sort().call([&t]).eval()?[0].to_vec()?, [1, 2, 3, 4, 5, 6]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    sort Sorted[T: Sortable + Default + 'static] [T; 1] => [T; 1];

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
    argsort ArgSorted[T: Sortable] [T; 1] => (usize,);
}

impl<T: Real + Default + 'static> Elementary<[T; 1], [T; 1]> for VectorNorm {
    const FILLS: bool = true;

    #[inline(always)]
    fn call(&self, [a]: [Core<'_, T>; 1], [mut out]: [CoreMut<'_, T>; 1]) -> Called {
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

impl<T: Real + Default + 'static> Elementary<[T; 1], [T; 1]> for Normalize {
    const FILLS: bool = true;

    #[inline(always)]
    fn call(&self, [a]: [Core<'_, T>; 1], [mut out]: [CoreMut<'_, T>; 1]) -> Called {
        let norm = euclidean(&a);
        let largest = a.iter().fold(T::of_f64(0.0), |most, x| most.maximum(x.magnitude()));
        let (zero, some) = (T::of_f64(0.0), T::of_f64(16.0));
        let infinite = !largest.is_finite() && !largest.is_nan();
        // A norm that is subnormal has few digits, and then this quotient overflows.
        if infinite || norm.is_finite() && (some.over(largest).is_finite() || largest == zero) {
            let divided = |x: &T| if norm == zero { *x } else { x.over(norm) };
            out.iter_mut().zip(a.iter()).for_each(|(slot, x)| *slot = divided(x));
            return Ok(());
        }
        // The norm is not a normal number of the type, though elements are numbers.
        out.iter_mut().zip(a.iter()).for_each(|(slot, x)| *slot = x.over(largest));
        let norm = euclidean(&out);
        out.iter_mut().for_each(|x| *x = x.over(norm));
        Ok(())
    }
}

impl<T: Order + Default + 'static> Elementary<[T; 1], [T; 2]> for MinMax {
    const FILLS: bool = true;

    #[inline(always)]
    fn call(&self, [a]: [Core<'_, T>; 1], [mut least, mut most]: [CoreMut<'_, T>; 2]) -> Called {
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
    named("argminmax", false, ArgMinMax)
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
    fn call(
        &self,
        [a]: [Core<'_, T>; 1],
        [mut least, mut most]: [CoreMut<'_, usize>; 2],
    ) -> Called {
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
    named("cumulative", false, Cumulative(reducer))
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

    fn call(&self, [a]: [Core<'_, T>; 1], (mut out,): (CoreMut<'_, R::Out>,)) -> Called {
        self.scan(a.len(), [&a[..]].into_iter(), &mut out).map_err(|(_, error)| error)
    }

    fn run(&self, args: &mut Args<'_, [T; 1], (R::Out,)>) -> Result<(), (usize, ElementaryError)> {
        let (&[count, len], [a]) = (args.dimensions, args.inputs) else {
            return Err((0, "cores of vectors".into()));
        };
        args.check().map_err(|error| (0, error.into()))?;
        let (start, step) = (args.offset(0), args.steps[0]);
        let first = |call: usize| start.wrapping_add_signed(step.wrapping_mul(call as isize));
        let runs = (0..count).map(|call| a.get(first(call)..).and_then(|run| run.get(..len)));
        let (out,) = &mut args.outputs;
        let out = out.get_mut(..count * len).unwrap_or_default();
        self.scan(len, runs.map(Option::unwrap_or_default), out)
    }
}

impl<R> Cumulative<R> {
    /// Scans runs of this length, whose results lie one after another.
    fn scan<'d, T: Copy + Send + Sync + 'd>(
        &self,
        len: usize,
        runs: impl Iterator<Item = &'d [T]>,
        out: &mut [R::Out],
    ) -> Result<(), (usize, ElementaryError)>
    where
        R: Reducer<T>,
    {
        let scanned = scan_rows(&self.0, Way::default(), runs, inner::slots(out));
        scanned.map(drop).map_err(|error| match error {
            Error::Overflow { index, .. } => {
                let (call, result) = (index[0] / len, index[0] % len);
                (call, format!("result {result} does not fit its type").into())
            }
            Error::NothingLeft { index } => {
                let (call, result) = (index[0] / len, index[0] % len);
                (call, format!("there is no result {result}").into())
            }
            error => (0, error.into()),
        })
    }
}

impl<T: Sortable + Default + 'static> Elementary<[T; 1], [T; 1]> for Sorted {
    const FILLS: bool = true;

    fn call(&self, [a]: [Core<'_, T>; 1], [mut out]: [CoreMut<'_, T>; 1]) -> Called {
        Ok(sort_runs(&a, [0, 0], a.len(), &mut out, SortOrder::Ascending)?)
    }

    fn run(&self, args: &mut Args<'_, [T; 1], [T; 1]>) -> Result<(), (usize, ElementaryError)> {
        let (length, [run]) = (args.dimensions[1], args.inputs);
        let place = [args.offset(0) as isize, args.steps[0]];
        let [out] = &mut args.outputs;
        sort_runs(run, place, length, out, SortOrder::Ascending).map_err(|error| (0, error.into()))
    }
}

impl<T: Sortable> Elementary<[T; 1], (usize,)> for ArgSorted {
    const FILLS: bool = true;

    fn call(&self, [a]: [Core<'_, T>; 1], (mut out,): (CoreMut<'_, usize>,)) -> Called {
        Ok(crate::ops::lanes::argsort_runs(&a, [0, 0], a.len(), &mut out)?)
    }

    fn run(&self, args: &mut Args<'_, [T; 1], (usize,)>) -> Result<(), (usize, ElementaryError)> {
        let (length, [run]) = (args.dimensions[1], args.inputs);
        let place = [args.offset(0) as isize, args.steps[0]];
        let (out,) = &mut args.outputs;
        crate::ops::lanes::argsort_runs(run, place, length, out).map_err(|error| (0, error.into()))
    }
}
