//! Tensors made of a rule: ranges, grids, identity matrices. All are computed as they are read and take
//! no memory.
//!
//! ```
//! use lensor::generate::{linspace, meshgrid};
//! use lensor::prelude::*;
//! let axis = linspace(-1.0, 1.0, 3)?;
//! let grid = meshgrid([axis.view(), axis.view()])?;
//! let squared_radius = &grid[0] * &grid[0] + &grid[1] * &grid[1];
//! assert_eq!(squared_radius.eval()?.to_vec()?, [2.0, 1.0, 2.0, 1.0, 0.0, 1.0, 2.0, 1.0, 2.0]);
//! # Ok::<(), Error>(())
//! ```

use crate::dtype::{Arithmetic, Cast, Ranged, Real, range_error};
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::expr::{Elementwise, Expr, IntoExpr, Lazy, zip_made};
use crate::map::{AddressMap, AxisMap, Layout};
use crate::shape::{Align, Shape};
use crate::storage::{FromFn, Impulse, Progression, Reader};
use crate::tensor::{IntoTensor, Tensor};
use std::fmt::Debug;

/// `start, start + step, ..` up to `stop`, which is not among them; rank 1.
///
/// There are `ceil((stop - start) / step)` elements, none if that is negative. For floats a quotient within
/// 4 units in the last place of an integer counts as that integer, so `range(0.0, 0.3, 0.1)` has 3 elements
/// though 0.3 / 0.1 is more than 2. Element `i` is `start + i * step`. Follows NumPy's `arange`.
///
/// # Errors
///
/// [`Error::Range`] if the step is 0, if a number or the distance of the bounds is not finite, or if there are more
/// than `isize::MAX` elements.
///
/// ```
/// use lensor::generate::range;
/// assert_eq!(range(0.0, 1.0, 0.25)?.to_vec()?, [0.0, 0.25, 0.5, 0.75]);
/// assert_eq!(range(10, 0, -4)?.to_vec()?, [10, 6, 2]);
/// assert_eq!(range(1, 5, 0).unwrap_err().to_string(), "a range from 1 to 5 by 0 has step 0");
/// # Ok::<(), lensor::Error>(())
/// ```
#[doc(alias = "arange")]
pub fn range<T: Ranged>(start: T, stop: T, step: T) -> Result<Tensor<Progression<T>>>
where
    usize: Cast<T>,
{
    let count = T::count_range(start, stop, step)?;
    Tensor::new(count, Progression::new(count, start, step))
}

/// `count` numbers from `start` to `stop` at equal distances, both included; rank 1.
///
/// Element `i` is `start + i * step` with `step = (stop - start) / (count - 1)`, the last one `stop` itself.
/// A single element is `start`. Follows NumPy's `linspace`.
///
/// # Errors
///
/// [`Error::Range`] if a bound or their distance is not finite, [`Error::ShapeOverflow`] if there are too
/// many elements.
///
/// ```
/// use lensor::generate::linspace;
/// assert_eq!(linspace(0.0, 1.0, 5)?.to_vec()?, [0.0, 0.25, 0.5, 0.75, 1.0]);
/// assert_eq!(linspace(3.0, 4.0, 1)?.to_vec()?, [3.0]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn linspace<T>(start: T, stop: T, count: usize) -> Result<Tensor<FromFn<impl Rule<T>>>>
where
    T: Real + Debug,
{
    let at = spaced(start, stop, count.saturating_sub(1))?;
    let last = count.saturating_sub(1).max(1);
    Tensor::from_fn(count, move |k| if k == last { stop } else { at(k) })
}

/// As [`linspace`], without `stop`: the step is `(stop - start) / count`.
///
/// # Errors
///
/// As [`linspace`].
///
/// ```
/// use lensor::generate::linspace_open;
/// assert_eq!(linspace_open(0.0, 1.0, 4)?.to_vec()?, [0.0, 0.25, 0.5, 0.75]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn linspace_open<T>(start: T, stop: T, count: usize) -> Result<Tensor<FromFn<impl Rule<T>>>>
where
    T: Real + Debug,
{
    Tensor::from_fn(count, spaced(start, stop, count)?)
}

/// `base` to the power of each of `count` exponents from `start` to `stop`, both included; rank 1.
///
/// The exponents are those of [`linspace`]. Follows NumPy's `logspace`.
///
/// # Errors
///
/// As [`linspace`].
///
/// ```
/// use lensor::generate::logspace;
/// assert_eq!(logspace(0.0, 3.0, 4, 2.0)?.to_vec()?, [1.0, 2.0, 4.0, 8.0]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn logspace<T>(start: T, stop: T, count: usize, base: T) -> Result<Tensor<FromFn<impl Rule<T>>>>
where
    T: Real + Debug,
{
    let exponents = linspace(start, stop, count)?.into_storage();
    Tensor::from_fn(count, move |k| base.powf(exponents.read(k)))
}

/// `count` numbers from `start` to `stop` with equal quotients, both included; rank 1.
///
/// Element `i` is `start * (stop / start)^(i / (count - 1))`, the last one `stop` itself. Between powers of ten,
/// elements that are powers of ten are the numbers of literals, such as `1e-2`. Follows NumPy's `geomspace`.
///
/// # Errors
///
/// [`Error::Range`] unless both are finite, not 0 and of one sign, [`Error::ShapeOverflow`] if there are too many
/// elements.
///
/// ```
/// use lensor::generate::geomspace;
/// assert_eq!(geomspace(1.0, 16.0, 5)?.to_vec()?, [1.0, 2.0, 4.0, 8.0, 16.0]);
/// assert_eq!(geomspace(1e-3, 10.0, 5)?.to_vec()?, [1e-3, 1e-2, 0.1, 1.0, 10.0]);
/// assert_eq!(
///     geomspace(1.0, -1.0, 5).unwrap_err().to_string(),
///     "a range from 1.0 to -1.0 by -1.0 is not geometric: the quotient must be positive and finite"
/// );
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn geomspace<T>(start: T, stop: T, count: usize) -> Result<Tensor<FromFn<impl Rule<T>>>>
where
    T: Real + Debug,
{
    let [first, end] = [start.to_f64(), stop.to_f64()];
    let exist = [first, end].iter().all(|x| x.is_finite() && *x != 0.0);
    if !exist || first.is_sign_negative() != end.is_sign_negative() {
        let what = "is not geometric: the quotient must be positive and finite";
        return Err(range_error(start, stop, stop.over(start), what));
    }
    let last = count.saturating_sub(1).max(1);
    let tens = Tens::of(start, stop);
    Tensor::from_fn(count, move |k| match k {
        0 => start,
        _ if k == last || start == stop => stop,
        _ => {
            let ten = tens.and_then(|tens| tens.between(first, k as f64, last as f64));
            T::of_f64(ten.unwrap_or_else(|| between(first, end, k as f64 / last as f64)))
        }
    })
}

/// Ends whose quotient is a power of ten.
#[derive(Clone, Copy)]
struct Tens {
    /// The exponent of the first end, if both are powers of ten.
    first: Option<i32>,
    quotient: i32,
}

impl Tens {
    fn of<T: Real>(start: T, stop: T) -> Option<Self> {
        if let Some((first, end)) = exponent_of_ten(start).zip(exponent_of_ten(stop)) {
            return Some(Self { first: Some(first), quotient: end - first });
        }
        let quotient = stop.to_f64() / start.to_f64();
        let exponent = exponent_of_ten(quotient).filter(|_| quotient.is_normal())?;
        Some(Self { first: None, quotient: exponent })
    }

    /// Element `k` of those from the first, which is element 0, if their quotient is a power of ten.
    fn between(self, first: f64, k: f64, last: f64) -> Option<f64> {
        let exponent = f64::from(self.quotient) * k / last;
        if exponent.fract() != 0.0 {
            return None;
        }
        let exponent = exponent as i32;
        Some(match self.first {
            Some(own) => power_of_ten(own + exponent).copysign(first),
            None if exponent < 0 => first / power_of_ten(-exponent),
            None => first * power_of_ten(exponent),
        })
    }
}

/// The exponent of the power of ten that a number other than 0 is nearest to, if no number of its type is nearer.
fn exponent_of_ten<T: Real>(x: T) -> Option<i32> {
    let size = x.magnitude();
    let exponent = Real::log10(size.to_f64()).round() as i32;
    (size.is_finite() && T::of_f64(power_of_ten(exponent)) == size).then_some(exponent)
}

/// The number that is nearest to a power of ten.
fn power_of_ten(exponent: i32) -> f64 {
    format!("1e{exponent}").parse().unwrap_or(f64::NAN)
}

/// `first * (end / first)^part`, of numbers of one sign, computed as `f64` as small types have few quotients.
fn between(first: f64, end: f64, part: f64) -> f64 {
    let quotient = end / first;
    if quotient.is_normal() {
        return first * Real::powf(quotient, part);
    }
    // Both factors, and their product, lie between 1, the first and the end.
    let power = |x: f64, part| Real::powf(x.abs(), part);
    (power(first, 1.0 - part) * power(end, part)).copysign(first)
}

/// Coordinates of a grid: tensor `k` holds, at every point, its coordinate along axis `k`. Copies nothing.
///
/// Lengths `n0, .., nk` give as many tensors of shape `(n0, .., nk)`, each a view of one of the arguments
/// that repeats it along the other axes; arguments of other rank are taken in row-major order. Those of
/// different storage are first made of one type, by [`Tensor::erase`]. Follows NumPy's `meshgrid` with
/// `indexing='ij'`; for its default, `'xy'`, exchange axes 0 and 1 of the results.
///
/// # Errors
///
/// [`Error::ShapeOverflow`] and [`Error::RankLimit`] if the grid has too many points or axes.
///
/// ```
/// use lensor::Tensor;
/// use lensor::generate::meshgrid;
/// let (rows, columns) = (Tensor::from(vec![1, 2]), Tensor::from(vec![5, 6, 7]));
/// let grid = meshgrid([&rows, &columns])?;
/// assert_eq!(grid[0].to_vec()?, [1, 1, 1, 2, 2, 2]);
/// assert_eq!(grid[1].to_vec()?, [5, 6, 7, 5, 6, 7]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn meshgrid<X: IntoTensor>(
    axes: impl IntoIterator<Item = X>,
) -> Result<Vec<Tensor<X::Storage>>> {
    let axes: Vec<_> = axes.into_iter().map(X::into_tensor).collect();
    let grid: Shape = axes.iter().map(Tensor::len).collect();
    let along = |(axis, tensor): (usize, Tensor<X::Storage>)| {
        let own: Shape = (0..grid.rank()).map(|k| if k == axis { grid[k] } else { 1 }).collect();
        tensor.rewrite(&mut |map| map.reshape(own.clone())?.stretched(&grid, Align::Right))
    };
    axes.into_iter().enumerate().map(along).collect()
}

/// The identity matrix of shape `(n, n)`: 1 on the diagonal, 0 elsewhere.
///
/// # Errors
///
/// [`Error::ShapeOverflow`] if there are too many elements.
///
/// ```
/// use lensor::generate::identity;
/// assert_eq!(identity::<i32>(2)?.to_vec()?, [1, 0, 0, 1]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn identity<T: Arithmetic>(n: usize) -> Result<Tensor<Impulse<T>>> {
    eye(n, n, 0)
}

/// 1 on one diagonal of a matrix of shape `(rows, columns)`, 0 elsewhere.
///
/// Diagonal 0 starts in the corner, positive ones lie above it, negative ones below; one that misses the
/// matrix leaves it 0. Follows NumPy's `eye`.
///
/// # Errors
///
/// [`Error::ShapeOverflow`] if there are too many elements.
///
/// ```
/// use lensor::generate::eye;
/// assert_eq!(eye::<f64>(2, 3, 1)?.to_vec()?, [0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn eye<T: Arithmetic>(
    rows: usize,
    columns: usize,
    diagonal: isize,
) -> Result<Tensor<Impulse<T>>> {
    let count = Shape::from([rows, columns]).count()?;
    // Every diagonal is one address: a step down goes back by one, a step to the right forward.
    let len = if count == 0 { 0 } else { rows + columns - 1 };
    let corner = rows.saturating_sub(1);
    let at = corner.checked_add_signed(diagonal).unwrap_or(len);
    let axes = [AxisMap::linear(rows, -1), AxisMap::linear(columns, 1)];
    let map = Layout::new(corner as isize, axes)?;
    let one = T::one();
    Tensor::with_map(map.into(), Impulse::new(len, one.minus(one), at, one))
}

/// Marks the class of every label: `true` at index `(.., label)` of a new last axis of extent `classes`,
/// `false` elsewhere. Lazy; `.cast::<f64>()` makes numbers of it.
///
/// A label of `classes` or more marks nothing.
///
/// # Errors
///
/// The shape, and with it the result, is [`Error::RankLimit`] or [`Error::ShapeOverflow`] if there is one axis or class
/// too many. Evaluation reports a negative label as [`Error::Cast`], with its index.
///
/// ```
/// use lensor::prelude::*;
/// use lensor::generate::one_hot;
/// let labels = Tensor::from(vec![2_u8, 0]);
/// let marks = one_hot(&labels, 3);
/// assert_eq!(marks.cast::<i32>().eval()?.to_vec()?, [0, 0, 1, 1, 0, 0]);
/// # Ok::<(), Error>(())
/// ```
pub fn one_hot<X: IntoExpr>(labels: X, classes: usize) -> Lazy<impl Expr<Elem = bool>>
where
    X::Elem: Cast<usize>,
{
    let mut labels = Lazy(labels.into_expr());
    let made = labels.add_axes(1);
    let (made, class) = match Tensor::<Progression<usize>>::iota(classes) {
        Ok(class) => (made, class),
        Err(error) => {
            let none = Tensor::from_parts(AddressMap::default(), Progression::new(1, 0, 1));
            (made.and(Err(error)), none)
        }
    };
    zip_made(made, (labels.cast::<usize>(), class), |(label, class)| label == class)
}

/// A function of the position that can be shared and copied.
pub trait Rule<T>: Fn(usize) -> T + Copy + Send + Sync {}

impl<T, F: Fn(usize) -> T + Copy + Send + Sync> Rule<T> for F {}

/// `start + k * step`, where `intervals` steps lead to `stop`; computed as `f64`, as small types hold no large `k`.
fn spaced<T>(start: T, stop: T, intervals: usize) -> Result<impl Rule<T>>
where
    T: Real + Debug,
{
    let distance = stop.to_f64() - start.to_f64();
    let step = distance / intervals.max(1) as f64;
    if !distance.is_finite() {
        return Err(range_error(start, stop, T::of_f64(distance), "is not finite"));
    }
    Ok(move |k: usize| T::of_f64(start.to_f64() + step * k as f64))
}
