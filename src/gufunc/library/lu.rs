//! LU factorization with partial pivots, on rows scaled by powers of two.
//!
//! Scaling every row so that its largest element lies near 1 is exact and makes the elimination
//! immune to overflow and to harmful underflow: multipliers are at most 1, and what underflows is
//! negligible against the largest element of its row. The error made in a row is small against
//! that row, so the bound for matrices whose rows differ in scale is at least that of the plain
//! algorithm. Columns that would all but vanish so are scaled as well.

use crate::dtype::Real;
use smallvec::SmallVec;

/// Memory for an elimination: on the stack up to 8 x 8.
pub(super) type Scratch<T> = SmallVec<[T; 80]>;

/// A matrix without an inverse: elimination met a pivot of exactly 0.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("matrix is singular")]
pub(super) struct Singular;

/// The smallest positive normal number of the type.
#[inline(always)]
pub(super) fn least_normal<T: Real>() -> f64 {
    let zero = T::of_f64(0.0);
    if T::of_f64(f64::MIN_POSITIVE) != zero {
        f64::MIN_POSITIVE
    } else if T::of_f64(f32::MIN_POSITIVE.into()) != zero {
        f32::MIN_POSITIVE.into()
    } else {
        power_of_two(-14) // half precision
    }
}

/// `2^exponent`, for exponents from -1022 to 1023.
#[inline(always)]
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// `e` such that `2^e <= |x| < 2^(e + 1)`, for finite `x` other than 0.
#[inline(always)]
fn exponent(x: f64) -> i32 {
    let biased = |x: f64| (x.to_bits() >> 52 & 0x7ff) as i32;
    match biased(x) {
        0 => biased(x * power_of_two(64)) - 64 - 1023, // subnormal
        normal => normal - 1023,
    }
}

/// `x * 2^exponent`, rounded once unless `x` itself is tiny.
fn scaled(mut x: f64, exponent: i64) -> f64 {
    let mut left = exponent.clamp(-4000, 4000) as i32;
    while left > 1023 {
        x *= power_of_two(1023);
        left -= 1023;
    }
    while left < -1022 {
        x *= power_of_two(-969); // leaves 53 bits of room above the subnormal numbers
        left += 969;
    }
    x * power_of_two(left)
}

/// Copies a matrix, each row times a power of two that brings its largest element near 1.
///
/// Afterwards `scratch` holds the n x n scaled elements, then the n factors, then the exponents of the powers of two that
/// columns are scaled by as well, if some are.
#[inline(always)]
fn load_scaled<T: Real>(n: usize, a: &[T], scratch: &mut Scratch<T>) {
    scratch.clear();
    scratch.extend_from_slice(&a[..n * n]);
    scratch.resize(n * n + n, T::one());
    let (rows, factors) = scratch.split_at_mut(n * n);
    let limit = -exponent(least_normal::<T>());
    for (row, factor) in rows.chunks_exact_mut(n).zip(factors) {
        let mut largest = T::of_f64(0.0);
        for x in row.iter() {
            largest = if x.magnitude() > largest { x.magnitude() } else { largest };
        }
        let largest = largest.to_f64();
        if largest > 0.0 && largest < f64::INFINITY {
            let shift = (-exponent(largest)).clamp(-limit, limit);
            *factor = T::of_f64(power_of_two(shift));
            for x in row {
                *x = x.times(*factor);
            }
        }
    }
    let small = T::of_f64(power_of_two(-limit / 2));
    let is_kept = |c: usize| (0..n).any(|r| rows[r * n + c].magnitude() >= small);
    if !(0..n).all(is_kept) {
        scale_columns(n, a, limit, scratch);
    }
}

/// Scales columns of which the row factors leave too little: both factors at once, from the elements as they were.
#[cold]
fn scale_columns<T: Real>(n: usize, a: &[T], limit: i32, scratch: &mut Scratch<T>) {
    if !a[..n * n].iter().all(|x| x.is_finite()) {
        return;
    }
    scratch.resize(n * n + 2 * n, T::of_f64(0.0));
    let (rows, factors) = scratch.split_at_mut(n * n);
    let (factors, exponents) = factors.split_at_mut(n);
    for (c, own) in exponents.iter_mut().enumerate() {
        let elements = (0..n).map(|r| (a[r * n + c].to_f64(), exponent(factors[r].to_f64())));
        let sizes = elements.filter(|(x, _)| *x != 0.0).map(|(x, factor)| exponent(x) + factor);
        let Some(largest) = sizes.max().filter(|largest| *largest < -limit / 2) else { continue };
        // A multiple of four, so that any type holds it.
        let by = -largest / 4 * 4;
        *own = T::of_f64(by.into());
        for r in 0..n {
            let all = i64::from(by + exponent(factors[r].to_f64()));
            rows[r * n + c] = T::of_f64(scaled(a[r * n + c].to_f64(), all));
        }
    }
}

/// The exponent of the power of two that a column was scaled by, of those after the factors.
#[inline(always)]
fn column_exponent<T: Real>(factors: &[T], n: usize, c: usize) -> i64 {
    factors.get(n + c).map_or(0, |exponent| exponent.to_f64() as i64)
}

/// `y - factor * x` in place of `y`.
#[inline(always)]
fn subtract<T: Real>(y: &mut [T], factor: T, x: &[T]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y = y.minus(factor.times(x));
    }
}

/// Swaps rows `i < j` of a matrix of the given width, from column `from` on.
#[inline(always)]
fn swap_rows<T>(rows: &mut [T], width: usize, i: usize, j: usize, from: usize) {
    let (above, below) = rows.split_at_mut(j * width);
    above[i * width + from..(i + 1) * width].swap_with_slice(&mut below[from..width]);
}

/// Eliminates below the diagonal of `rows` (n x n), doing the same to `right` (n x k).
///
/// Returns whether the number of swaps is odd. The elements below the diagonal are left undefined.
#[inline(always)]
fn eliminate<T: Real>(
    n: usize,
    k: usize,
    rows: &mut [T],
    right: &mut [T],
) -> Result<bool, Singular> {
    let mut odd = false;
    for c in 0..n {
        let mut pivot_row = c;
        let mut largest = rows[c * n + c].magnitude();
        for r in c + 1..n {
            let x = rows[r * n + c].magnitude();
            if x > largest || x.is_nan() {
                (largest, pivot_row) = (x, r);
            }
        }
        if largest == T::of_f64(0.0) {
            return Err(Singular);
        }
        if pivot_row != c {
            swap_rows(rows, n, c, pivot_row, c);
            swap_rows(right, k, c, pivot_row, 0);
            odd = !odd;
        }
        let (above, below) = rows.split_at_mut((c + 1) * n);
        let (right_above, right_below) = right.split_at_mut((c + 1) * k);
        let (pivots, right_pivots) = (&above[c * n + c..], &right_above[c * k..]);
        for r in 0..n - c - 1 {
            let row = &mut below[r * n + c..(r + 1) * n];
            let factor = row[0].over(pivots[0]);
            subtract(&mut row[1..], factor, &pivots[1..]);
            subtract(&mut right_below[r * k..(r + 1) * k], factor, right_pivots);
        }
    }
    Ok(odd)
}

/// Solves the upper triangular system that [`eliminate`] leaves, in place of `right`.
#[inline(always)]
fn substitute_back<T: Real>(n: usize, k: usize, rows: &[T], right: &mut [T]) {
    for r in (0..n).rev() {
        let (above, below) = right.split_at_mut((r + 1) * k);
        let solution = &mut above[r * k..];
        for c in r + 1..n {
            subtract(solution, rows[r * n + c], &below[(c - r - 1) * k..(c - r) * k]);
        }
        for x in solution {
            *x = x.over(rows[r * n + r]);
        }
    }
}

/// Replaces `right` (n x k) by the solution of the system `rows` (n x n).
#[inline(always)]
fn solve_scaled<T: Real>(
    n: usize,
    k: usize,
    rows: &mut [T],
    right: &mut [T],
) -> Result<(), Singular> {
    eliminate(n, k, rows, right)?;
    substitute_back(n, k, rows, right);
    Ok(())
}

/// What to return for a pivot of 0: a matrix with NaN or infinity has NaN as result, not an error.
#[cold]
fn singular<T: Real>(a: &[T], out: &mut [T]) -> Result<(), Singular> {
    if a.iter().all(|x| x.is_finite()) {
        return Err(Singular);
    }
    out.fill(T::of_f64(f64::NAN));
    Ok(())
}

/// Determinant by elimination, for `n` of at least 1. The product of pivots keeps its exponent
/// apart, so that only the result itself overflows or underflows.
#[inline(always)]
pub(super) fn det_by_lu<T: Real>(n: usize, a: &[T], scratch: &mut Scratch<T>) -> T {
    load_scaled(n, a, scratch);
    let (rows, factors) = scratch.split_at_mut(n * n);
    let (mut product, mut shift) = (0.0, 0);
    if let Ok(odd) = eliminate(n, 0, rows, &mut []) {
        product = if odd { -1.0 } else { 1.0 };
        shift -= (0..n).map(|c| column_exponent(factors, n, c)).sum::<i64>();
        for (pivot, factor) in rows.iter().step_by(n + 1).zip(&factors[..n]) {
            product *= pivot.to_f64();
            if product.is_finite() {
                let e = exponent(product);
                product = scaled(product, -i64::from(e));
                shift += i64::from(e);
            }
            shift -= i64::from(exponent(factor.to_f64()));
        }
    }
    let finite = a[..n * n].iter().all(|x| x.is_finite());
    // One NaN for all, whose bits depend on no order of operations.
    let odd = product.is_nan() || product.is_finite() && !finite;
    T::of_f64(if odd { f64::NAN } else { scaled(product, shift) })
}

/// Inverse by elimination, for `n` of at least 1.
#[inline(always)]
pub(super) fn inv_by_lu<T: Real>(
    n: usize,
    a: &[T],
    out: &mut [T],
    scratch: &mut Scratch<T>,
) -> Result<(), Singular> {
    load_scaled(n, a, scratch);
    let (rows, factors) = scratch.split_at_mut(n * n);
    let out = &mut out[..n * n];
    out.fill(T::of_f64(0.0));
    for diagonal in out.iter_mut().step_by(n + 1) {
        *diagonal = T::one();
    }
    if solve_scaled(n, n, rows, out).is_err() {
        return singular(&a[..n * n], out);
    }
    for (c, row) in out.chunks_exact_mut(n).enumerate() {
        let by = column_exponent(factors, n, c);
        for (x, &factor) in row.iter_mut().zip(&factors[..n]) {
            *x = match by {
                0 => x.times(factor),
                by => T::of_f64(scaled(x.to_f64(), by + i64::from(exponent(factor.to_f64())))),
            };
        }
    }
    Ok(())
}

/// `e` such that column `c` of the scaled right side is to be solved times `2^e`: 0 unless it
/// would come near overflow or underflow.
#[inline(always)]
fn column_shift<T: Real>(c: usize, k: usize, b: &[T], factors: &[T]) -> i64 {
    let mut largest = i32::MIN;
    for (&x, factor) in b.iter().skip(c).step_by(k).zip(factors) {
        let x = x.to_f64();
        if !x.is_finite() {
            return 0;
        }
        if x != 0.0 {
            largest = largest.max(exponent(x) + exponent(factor.to_f64()));
        }
    }
    let middle = -exponent(least_normal::<T>()) / 2;
    let fits = largest == i32::MIN || (-middle..=middle).contains(&largest);
    if fits { 0 } else { -i64::from(largest) }
}

/// Solution X of A X = B, for row-major A (n x n) and B (n x k).
///
/// A matrix A with NaN or infinities gives NaNs or zeros, not an error.
#[inline(always)]
pub(super) fn solve<T: Real>(
    n: usize,
    k: usize,
    a: &[T],
    b: &[T],
    out: &mut [T],
    scratch: &mut Scratch<T>,
) -> Result<(), Singular> {
    match (n, k) {
        (0, _) => Ok(()),
        // Loops of known length.
        (2, 1) => solve_sized(2, 1, a, b, out, scratch),
        (3, 1) => solve_sized(3, 1, a, b, out, scratch),
        (4, 1) => solve_sized(4, 1, a, b, out, scratch),
        _ => solve_sized(n, k, a, b, out, scratch),
    }
}

/// [`solve`] for `n` of at least 1.
#[inline(always)]
fn solve_sized<T: Real>(
    n: usize,
    k: usize,
    a: &[T],
    b: &[T],
    out: &mut [T],
    scratch: &mut Scratch<T>,
) -> Result<(), Singular> {
    load_scaled(n, a, scratch);
    let (rows, all) = scratch.split_at_mut(n * n);
    let factors = &all[..n];
    let (b, out) = (&b[..n * k], &mut out[..n * k]);
    for (r, &factor) in factors.iter().enumerate() {
        for (x, &b) in out[r * k..(r + 1) * k].iter_mut().zip(&b[r * k..]) {
            *x = b.times(factor);
        }
    }
    let mut shifted = false;
    for c in 0..k {
        let shift = column_shift(c, k, b, factors);
        if shift != 0 {
            shifted = true;
            for (r, factor) in factors.iter().enumerate() {
                let shift = shift + i64::from(exponent(factor.to_f64()));
                out[r * k + c] = T::of_f64(scaled(b[r * k + c].to_f64(), shift));
            }
        }
    }
    if solve_scaled(n, k, rows, out).is_err() {
        return singular(&a[..n * n], out);
    }
    for c in (0..k).take_while(|_| shifted || all.len() > n) {
        let shift = column_shift(c, k, b, factors);
        for (r, x) in out.iter_mut().skip(c).step_by(k).enumerate() {
            let by = column_exponent(all, n, r) - shift;
            if by != 0 {
                *x = T::of_f64(scaled(x.to_f64(), by));
            }
        }
    }
    Ok(())
}
