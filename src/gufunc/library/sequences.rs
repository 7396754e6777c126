//! Sequences: convolutions, polynomials, interpolation, histograms.

use super::{Called, named};
use crate::dtype::{Arithmetic, Real, RoundTo, Sortable};
use crate::gufunc::elementary::one_by_one;
use crate::gufunc::{Args, Core, CoreMut, Elementary, ElementaryError, Gufunc};
use crate::kernel::{Kernel, LARGE_BYTES, dispatch};
use crate::ops::products::product;

/// Values of a polynomial that are computed side by side.
const TOGETHER: usize = 32;

/// The convolution of two sequences at all positions where they overlap, `(m),(n)->(m+n-1)`. Integers wrap. Empty if
/// either is.
///
/// ```
/// use lensor::gufunc::convolve_full;
/// use lensor::Tensor;
/// let (a, b) = (Tensor::from(vec![1, 2, 3]), Tensor::from(vec![1, 1]));
/// assert_eq!(convolve_full().call([&a, &b]).eval()?[0].to_vec()?, [1, 3, 5, 3]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn convolve_full<T>() -> Gufunc<[T; 2], [T; 1], Convolve>
where
    T: Arithmetic + Default + 'static,
{
    named("convolve_full", true, Convolve { valid: false })
}

/// The convolution of two sequences where the second lies inside the first, `(m),(n)->(m-n+1)`. Integers wrap. Empty
/// if either is.
///
/// ```
/// use lensor::gufunc::convolve_valid;
/// use lensor::Tensor;
/// let (a, b) = (Tensor::from(vec![1, 2, 3]), Tensor::from(vec![1, 1]));
/// assert_eq!(convolve_valid().call([&a, &b]).eval()?[0].to_vec()?, [3, 5]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn convolve_valid<T>() -> Gufunc<[T; 2], [T; 1], Convolve>
where
    T: Arithmetic + Default + 'static,
{
    named("convolve_valid", true, Convolve { valid: true })
}

/// See [`convolve_full`] and [`convolve_valid`].
#[derive(Debug, Clone, Copy)]
pub struct Convolve {
    valid: bool,
}

impl<T: Arithmetic + Default + 'static> Elementary<[T; 2], [T; 1]> for Convolve {
    #[inline(always)]
    fn call(&self, [a, b]: [Core<'_, T>; 2], [mut out]: [CoreMut<'_, T>; 1]) -> Called {
        if a.is_empty() || b.is_empty() {
            return Ok(());
        }
        if size_of::<T>() < size_of::<T::Wide>() {
            // Sums one after another, so that each is rounded once.
            let before = if self.valid { b.len() - 1 } else { 0 };
            for (at, slot) in (before..).zip(out.iter_mut()) {
                let terms = (at + 1).saturating_sub(a.len())..b.len().min(at + 1);
                let add = |sum: T::Wide, k: usize| sum.plus(product(a[at - k], b[k]));
                *slot = terms.fold(T::default().into(), add).rounded();
            }
            return Ok(());
        }
        if self.valid {
            // Terms in the order of the second sequence, from its end.
            for (k, y) in b.iter().rev().enumerate() {
                let terms = out.iter_mut().zip(&a[k..]);
                terms.for_each(|(slot, x)| *slot = slot.plus(x.times(*y)));
            }
            return Ok(());
        }
        for (k, y) in b.iter().enumerate() {
            let terms = out[k..].iter_mut().zip(a.iter());
            terms.for_each(|(slot, x)| *slot = slot.plus(x.times(*y)));
        }
        Ok(())
    }
}

ready! {
    /// Values of a polynomial, `(c),()->()`: coefficients, that of the highest power first, and the argument. By Horner's
    /// rule; without coefficients 0. Integers wrap.
    ///
    /// ```
    /// use lensor::gufunc::polyval;
    /// use lensor::Tensor;
    /// let (coefficients, x) = (Tensor::from(vec![1, 0, -2]), Tensor::from(vec![0, 1, 2, 3]));
    /// assert_eq!(polyval().call([&coefficients, &x]).eval()?[0].to_vec()?, [-2, -1, 2, 7]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    polyval PolyVal[T: Arithmetic + Default + 'static] [T; 2] => [T; 1];

    /// Linear interpolation, `(),(n),(n)->()`: the argument, ascending points, and the values there. Holds the values at
    /// both ends; NaN gives NaN, of a single point too, where NumPy gives the value there. Follows NumPy's `interp`, and
    /// computes in `f64` as it does.
    ///
    /// ```
    /// use lensor::gufunc::interp;
    /// use lensor::Tensor;
    /// let x = Tensor::from(vec![-1.0, 0.5, 1.0, 9.0]);
    /// let (xs, ys) = (Tensor::from(vec![0.0, 1.0, 2.0]), Tensor::from(vec![10.0, 20.0, 40.0]));
    /// assert_eq!(interp().call([&x, &xs, &ys]).eval()?[0].to_vec()?, [10.0, 15.0, 20.0, 40.0]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    ///
    /// The call fails at its index if there are no points.
    interp Interp[T: Real + Default + 'static] [T; 3] => [T; 1];

    /// Numbers of elements between neighbouring edges, `(n),(b)->(b-1)`: each bin holds its lower edge, the last its upper
    /// one too. What lies outside is not counted.
    ///
    /// ```
    /// use lensor::gufunc::histogram;
    /// use lensor::Tensor;
    /// let (t, edges) = (Tensor::from(vec![1, 5, 2, 3]), Tensor::from(vec![0, 2, 5]));
    /// let (counts,) = histogram().call([&t, &edges]).eval()?;
    /// assert_eq!(counts.to_vec()?, [1, 3]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    ///
    /// The call fails at its index if edges do not ascend.
    histogram Histogram[T: Sortable + PartialOrd] [T; 2] => (usize,);
}

impl<T: Arithmetic + Default + 'static> Elementary<[T; 2], [T; 1]> for PolyVal {
    const FILLS: bool = true;

    #[inline(always)]
    fn call(&self, [coefficients, x]: [Core<'_, T>; 2], [mut out]: [CoreMut<'_, T>; 1]) -> Called {
        out[0] = horner(&coefficients, x[0]);
        Ok(())
    }

    fn run(&self, args: &mut Args<'_, [T; 2], [T; 1]>) -> Result<(), (usize, ElementaryError)> {
        dispatch(Values(args))
    }
}

#[inline(always)]
fn horner<T: Arithmetic + Default>(coefficients: &[T], x: T) -> T {
    let Some((first, rest)) = coefficients.split_first() else { return T::default() };
    rest.iter().fold(*first, |value, c| value.times(x).plus(*c))
}

/// Values of polynomials, side by side where they are of one.
struct Values<'v, 'a, T: Arithmetic + Default + 'static>(&'v mut Args<'a, [T; 2], [T; 1]>);

impl<T: Arithmetic + Default + 'static> Kernel for Values<'_, '_, T> {
    type Out = Result<(), (usize, ElementaryError)>;

    #[inline(always)]
    fn run(self) -> Self::Out {
        let args = self.0;
        let (count, start, offset) = (args.len(), args.offset(1), args.offset(0));
        let (n, steps) = (args.dimensions[1], args.steps);
        let [coefficients, x] = args.inputs;
        if let (Some(x), Some(coefficients)) =
            (x.get(start..start + count), coefficients.get(offset..offset + n))
            && steps[0] == 0
            && steps[1] == 1
            && size_of::<T>() <= LARGE_BYTES
        {
            let Some((&first, rest)) = coefficients.split_first() else {
                args.outputs[0].fill(T::default());
                return Ok(());
            };
            let ((chunks, tail), (outs, end)) =
                (x.as_chunks::<TOGETHER>(), args.outputs[0].as_chunks_mut::<TOGETHER>());
            for (x, out) in chunks.iter().zip(outs) {
                let mut values = [first; TOGETHER];
                for c in rest {
                    for k in 0..TOGETHER {
                        values[k] = values[k].times(x[k]).plus(*c);
                    }
                }
                *out = values;
            }
            end.iter_mut().zip(tail).for_each(|(slot, x)| *slot = horner(coefficients, *x));
            return Ok(());
        }
        one_by_one(&PolyVal, args)
    }
}

impl<T: Real + Default + 'static> Elementary<[T; 3], [T; 1]> for Interp {
    const FILLS: bool = true;

    #[inline(always)]
    fn call(&self, [x, xs, ys]: [Core<'_, T>; 3], [mut out]: [CoreMut<'_, T>; 1]) -> Called {
        let x = x[0];
        let (Some(&first), Some(&last)) = (ys.first(), ys.last()) else {
            return Err("there are no points to interpolate between".into());
        };
        // Points up to the argument.
        let before = xs.partition_point(|point| *point <= x);
        out[0] = if x.is_nan() {
            x
        } else if before == 0 {
            first
        } else if before == xs.len() {
            last
        } else {
            // Slopes of narrow floats overflow and vanish where results do neither.
            let [low, high] = [before - 1, before].map(|k| [xs[k].to_f64(), ys[k].to_f64()]);
            T::of_f64(between(low, high, x.to_f64()))
        };
        Ok(())
    }
}

/// The value at `x` of the line through two points, the first of which is not above `x`.
#[inline(always)]
fn between([low, from]: [f64; 2], [high, to]: [f64; 2], x: f64) -> f64 {
    if x == low {
        return from;
    }
    let slope = (to - from) / (high - low);
    let value = slope * (x - low) + from;
    if !value.is_nan() {
        return value;
    }
    let value = slope * (x - high) + to;
    if value.is_nan() && from == to { from } else { value }
}

impl<T: Sortable + PartialOrd> Elementary<[T; 2], (usize,)> for Histogram {
    #[inline(always)]
    fn call(&self, [a, edges]: [Core<'_, T>; 2], (mut out,): (CoreMut<'_, usize>,)) -> Called {
        let ascends = |pair: &[T]| pair[0] <= pair[1];
        if !edges.windows(2).all(ascends) {
            return Err("edges do not ascend".into());
        }
        let Some(&last) = edges.last().filter(|_| !out.is_empty()) else { return Ok(()) };
        for &x in a.iter() {
            let bin = match x == last {
                true => out.len(),
                false => edges.partition_point(|edge| *edge <= x),
            };
            if bin > 0 && bin <= out.len() && x <= last {
                out[bin - 1] += 1;
            }
        }
        Ok(())
    }
}
