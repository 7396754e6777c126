//! Determinants and inverses of small matrices by formulas, and of others by elimination.
//!
//! A formula is used only where its result is known to lie within `8 n^2` units in the last place
//! times the condition number of the matrix, see [`expand`] and [`invert`]. Whether it does is
//! decided from the elements of that matrix alone, so results do not depend on how many are
//! computed together. Solutions are by elimination always: the product of an inverse and the right
//! side may be less accurate.

use crate::dtype::Real;
use crate::kernel::prefetch_span;

pub(super) use super::lu::{Scratch, Singular, solve};
use super::lu::{det_by_lu, inv_by_lu, least_normal};

/// A sum of products and the sum of their magnitudes, which bounds its rounding errors.
#[derive(Clone, Copy)]
struct Sum<T> {
    value: T,
    size: T,
}

impl<T: Real> Sum<T> {
    /// A number without errors.
    #[inline(always)]
    fn exact(value: T) -> Self {
        Self { value, size: value.magnitude() }
    }

    /// A number times a sum.
    #[inline(always)]
    fn product(x: T, sum: Self) -> Self {
        Self { value: x.times(sum.value), size: x.magnitude().times(sum.size) }
    }

    /// Sum of sums.
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Self { value: self.value.plus(other.value), size: self.size.plus(other.size) }
    }

    /// Difference of sums.
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        Self { value: self.value.minus(other.value), size: self.size.plus(other.size) }
    }
}

/// `a * d - b * c`.
#[inline(always)]
fn minor<T: Real>(a: T, b: T, c: T, d: T) -> Sum<T> {
    let (p, q) = (a.times(d), b.times(c));
    Sum { value: p.minus(q), size: p.magnitude().plus(q.magnitude()) }
}

/// The minors that leave out the first row and one column, for each column.
#[inline(always)]
fn minors<T: Real, const N: usize>(a: &[[T; N]; N]) -> [Sum<T>; N] {
    let mut minors = [Sum::exact(T::one()); N];
    match N {
        2 => {
            minors[0] = Sum::exact(a[1][1]);
            minors[1] = Sum::exact(a[1][0]);
        }
        3 => {
            minors[0] = minor(a[1][1], a[1][2], a[2][1], a[2][2]);
            minors[1] = minor(a[1][0], a[1][2], a[2][0], a[2][2]);
            minors[2] = minor(a[1][0], a[1][1], a[2][0], a[2][1]);
        }
        4 => {
            let pair = |i: usize, j: usize| minor(a[2][i], a[2][j], a[3][i], a[3][j]);
            let (m01, m02, m03) = (pair(0, 1), pair(0, 2), pair(0, 3));
            let (m12, m13, m23) = (pair(1, 2), pair(1, 3), pair(2, 3));
            let three = |x, p, y, q, z, r| {
                Sum::product(x, p).minus(Sum::product(y, q)).plus(Sum::product(z, r))
            };
            minors[0] = three(a[1][1], m23, a[1][2], m13, a[1][3], m12);
            minors[1] = three(a[1][0], m23, a[1][2], m03, a[1][3], m02);
            minors[2] = three(a[1][0], m13, a[1][1], m03, a[1][3], m01);
            minors[3] = three(a[1][0], m12, a[1][1], m02, a[1][2], m01);
        }
        _ => {}
    }
    minors
}

/// The least that a minor is for sure: its magnitude less more than its rounding error.
#[inline(always)]
fn least_magnitude<T: Real>(minor: Sum<T>) -> T {
    minor.value.magnitude().minus(minor.size.times(epsilon::<T>().times(T::of_f64(4.0))))
}

/// The largest magnitude of an element.
#[inline(always)]
fn largest_element<T: Real, const N: usize>(a: &[[T; N]; N]) -> T {
    let mut largest = a[0][0].magnitude();
    for row in a {
        for x in row {
            largest = larger(largest, x.magnitude());
        }
    }
    largest
}

/// Expansion along the first row, of which these are the minors.
#[inline(always)]
fn expansion<T: Real, const N: usize>(row: &[T; N], minors: &[Sum<T>; N]) -> Sum<T> {
    let mut det = Sum::product(row[0], minors[0]);
    for c in 1..N {
        let term = Sum::product(row[c], minors[c]);
        det = if c % 2 == 1 { det.minus(term) } else { det.plus(term) };
    }
    det
}

/// 16 times an element times a minor, and whether that bounds `size` and nothing comes near
/// overflow or underflow, see [`expand`].
#[inline(always)]
fn limit<T: Real>(size: T, element: T, minor: T) -> (T, bool) {
    let product = element.times(minor);
    let limit = product.times(T::of_f64(16.0));
    let tiny = T::of_f64(64.0 * least_normal::<T>());
    let holds = (size <= limit)
        & (limit < T::of_f64(f64::INFINITY))
        & (product >= tiny)
        & (minor >= tiny)
        & (minor >= element.times(tiny));
    (limit, holds)
}

/// Determinant by expansion along the first row, for N from 2 to 4, and whether it is accurate.
///
/// With `u` half a unit in the last place of 1 and `size` the sum of the magnitudes of all
/// products, rounding errors are at most `2 u size`, `5 u size` and `9 u size` for N = 2, 3, 4,
/// to first order, and `16 N^2 u cond |det|` is allowed. As the inverse is the adjugate over the
/// determinant, `cond |det|` is at least the largest element times the largest minor; of that only
/// what exceeds the error of the minor, at most `5 u` times its size, is counted. So
/// `size <= 16 * element * minor` is enough, with a factor of more than 1.7 to spare. The other
/// tests refuse what is not finite, and products whose underflow, by less than the smallest normal
/// number times `u` each, is not negligible against the same bound.
#[inline(always)]
fn expand<T: Real, const N: usize>(a: &[[T; N]; N]) -> (Sum<T>, bool) {
    let minors = minors(a);
    let det = expansion(&a[0], &minors);
    let mut largest_minor = least_magnitude(minors[0]);
    for minor in minors {
        largest_minor = larger(largest_minor, least_magnitude(minor));
    }
    (det, limit(det.size, largest_element(a), largest_minor).1)
}

/// Inverse as the adjugate over the determinant, for N from 2 to 4, and whether it is accurate.
///
/// Relative to the largest element of the inverse, the error of the determinant counts as in
/// [`expand`], at most `144 u cond` for N = 4 and `80 u cond` for N = 3, and that of the largest
/// minor, at most `5 u size` and `2 u size`, is `80 u` and `32 u` if `size <= 16 * minor`. That is
/// less than the `256 u cond` and `144 u cond` allowed, also if all grows by a tenth because the
/// determinant is not known better than that, which the last test makes sure of.
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "`r` counts both rows and columns")]
fn invert<T: Real, const N: usize>(a: &[[T; N]; N]) -> ([[T; N]; N], bool) {
    let first = minors(a);
    let det = expansion(&a[0], &first);
    let mut inverse = *a;
    let (mut largest_minor, mut largest_size) = (least_magnitude(first[0]), first[0].size);
    let mut sizes = first[0].size;
    for r in 0..N {
        // The row to be left out goes first; the others keep their order.
        let mut turned = *a;
        turned[0] = a[r];
        turned[1..=r].copy_from_slice(&a[..r]);
        let minors = minors(&turned);
        for c in 0..N {
            let minor = minors[c];
            largest_minor = larger(largest_minor, least_magnitude(minor));
            largest_size = larger(largest_size, minor.size);
            sizes = sizes.plus(minor.size);
            let quotient = minor.value.over(det.value);
            inverse[c][r] = if (r + c) % 2 == 1 { quotient.negated() } else { quotient };
        }
    }
    let (limit, holds) = limit(det.size, largest_element(a), largest_minor);
    let known = limit.times(epsilon::<T>().times(T::of_f64(72.0))) < det.value.magnitude();
    let finite = sizes < T::of_f64(f64::INFINITY); // `larger` may forget a NaN
    (inverse, holds & known & finite & (largest_size <= largest_minor.times(T::of_f64(16.0))))
}

/// The larger of two numbers, any of them if one is NaN.
#[inline(always)]
fn larger<T: Real>(x: T, y: T) -> T {
    if x > y { x } else { y }
}

/// The distance from 1 to the next number.
#[inline(always)]
fn epsilon<T: Real>() -> T {
    let three = T::of_f64(3.0);
    T::of_f64(4.0).over(three).minus(T::one()).times(three).minus(T::one()).magnitude()
}

/// The rows of an N x N matrix.
#[inline(always)]
fn square<T: Real, const N: usize>(a: &[T]) -> [[T; N]; N] {
    let a = &a[..N * N];
    std::array::from_fn(|r| std::array::from_fn(|c| a[r * N + c]))
}

/// Determinant of an N x N matrix, for N from 2 to 4.
#[inline(never)]
fn det_of<T: Real, const N: usize>(a: &[T], scratch: &mut Scratch<T>) -> T {
    let a = &a[..N * N];
    let (det, accurate) = expand::<T, N>(&square(a));
    // Among integers all operations are exact while they are small.
    let exact = || det.size < T::of_f64(2.0).over(epsilon()) && a.iter().all(|&x| x.floor() == x);
    if accurate || exact() { det.value } else { det_by_lu(N, a, scratch) }
}

/// How many matrices are computed side by side.
const GROUP: usize = 16;
/// Matrices between those and the ones that are prefetched, as no memory is read while a group is computed.
const AHEAD: usize = 4 * GROUP;

/// Determinants of N x N matrices, for N from 2 to 4, a group of them side by side.
#[inline(always)]
fn det_side_by_side<T: Real, const N: usize>(
    a: &[T],
    step: usize,
    out: &mut [T],
    scratch: &mut Scratch<T>,
) {
    let zero = T::of_f64(0.0);
    // Elements by their place in the matrix, so that a vector instruction takes those of several.
    let mut elements = [[[zero; GROUP]; N]; N];
    let (mut dets, mut refused) = ([zero; GROUP], [zero; GROUP]);
    for (group, out) in out.chunks_mut(GROUP).enumerate() {
        let a = &a[group * GROUP * step..];
        if step <= 2 * N * N {
            prefetch_span(a, AHEAD * step, GROUP * step);
        } else {
            (0..GROUP).for_each(|l| prefetch_span(a, (AHEAD + l) * step, N * N));
        }
        for l in 0..out.len() {
            let matrix = &a[l * step..][..N * N];
            for r in 0..N {
                for c in 0..N {
                    elements[r][c][l] = matrix[r * N + c];
                }
            }
        }
        // A short last group computes some of the group before once more.
        for l in 0..GROUP {
            let matrix = std::array::from_fn(|r| std::array::from_fn(|c| elements[r][c][l]));
            let (det, accurate) = expand::<T, N>(&matrix);
            dets[l] = det.value;
            refused[l] = if accurate { zero } else { T::one() };
        }
        let any = refused.iter().fold(zero, |any, &x| larger(any, x));
        let count = out.len();
        out.copy_from_slice(&dets[..count]);
        if any != zero {
            for (l, out) in out.iter_mut().enumerate().filter(|&(l, _)| refused[l] != zero) {
                *out = det_of::<T, N>(&a[l * step..], scratch);
            }
        }
    }
}

/// Determinants of row-major n x n matrices, of which matrix `k` starts at `a[k * step]`: the same
/// bits as one by one. That of 0 x 0 is 1.
///
/// NaN, or infinity, if elements are NaN or infinite.
#[inline(always)]
pub(super) fn det_several<T: Real>(
    n: usize,
    a: &[T],
    step: usize,
    out: &mut [T],
    scratch: &mut Scratch<T>,
) {
    match n {
        2 => det_side_by_side::<T, 2>(a, step, out, scratch),
        3 => det_side_by_side::<T, 3>(a, step, out, scratch),
        4 => det_side_by_side::<T, 4>(a, step, out, scratch),
        _ => {
            for (k, out) in out.iter_mut().enumerate() {
                let a = &a[k * step..];
                *out = match n {
                    0 => T::one(),
                    1 => a[0],
                    _ => det_by_lu(n, a, scratch),
                };
            }
        }
    }
}

/// Inverse of an N x N matrix, for N from 2 to 4.
#[inline(never)]
fn inv_of<T: Real, const N: usize>(
    a: &[T],
    out: &mut [T],
    scratch: &mut Scratch<T>,
) -> Result<(), Singular> {
    let (inverse, accurate) = invert::<T, N>(&square(a));
    if !accurate {
        return inv_by_lu(N, a, out, scratch);
    }
    out[..N * N].copy_from_slice(inverse.as_flattened());
    Ok(())
}

/// Inverse of a row-major n x n matrix.
///
/// A matrix with NaN or infinities gives NaNs or zeros, not an error.
#[inline(always)]
pub(super) fn inv<T: Real>(
    n: usize,
    a: &[T],
    out: &mut [T],
    scratch: &mut Scratch<T>,
) -> Result<(), Singular> {
    match n {
        0 => Ok(()),
        1 if a[0] == T::of_f64(0.0) => Err(Singular),
        1 => {
            out[0] = T::one().over(a[0]);
            Ok(())
        }
        2 => inv_of::<T, 2>(a, out, scratch),
        3 => inv_of::<T, 3>(a, out, scratch),
        4 => inv_of::<T, 4>(a, out, scratch),
        _ => inv_by_lu(n, a, out, scratch),
    }
}
