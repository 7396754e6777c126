//! Products of matrices in memory: large ones of floats by `matrixmultiply`, all others by loops of our
//! own.
#![allow(
    unsafe_code,
    reason = "matrixmultiply takes pointers; vector loops need a detected feature"
)]

mod each;
mod loops;
mod vectors;

pub(crate) use each::{multiply_each, takes_each};
pub(crate) use loops::{NARROW, Scratch, explain, multiply, takes};

use super::Filled;
use super::inner::out_of_span;
use crate::error::{Error, Result};
use std::any::TypeId;
use std::mem::MaybeUninit;

/// A matrix in a slice.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Matrix<'a, T> {
    data: &'a [T],
    base: isize,
    sides: [usize; 2],
    strides: [isize; 2],
}

/// Whether rows of a matrix of these sides and strides are contiguous, if there are any.
#[inline]
fn is_plain([rows, columns]: [usize; 2], strides: [isize; 2]) -> bool {
    rows == 0 || columns <= 1 || strides[1] == 1
}

impl<'a, T> Matrix<'a, T> {
    /// The elements `base + row * strides[0] + column * strides[1]` of `data`.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfSpan`] if one lies outside.
    pub(crate) fn new(
        data: &'a [T],
        base: isize,
        sides: [usize; 2],
        strides: [isize; 2],
    ) -> Result<Self> {
        let matrix = Self { data, base, sides, strides };
        matrix.check()?;
        Ok(matrix)
    }

    /// Makes it begin elsewhere: in place, as a load of what was stored by parts just before waits for all stores between.
    ///
    /// # Errors
    ///
    /// As [`Self::new`].
    #[inline(always)]
    pub(crate) fn move_to(&mut self, base: isize) -> Result<()> {
        self.base = base;
        if self.sides.contains(&0) || self.fits() == Some(true) {
            return Ok(());
        }
        self.check()
    }

    /// Rows and columns.
    pub(crate) fn sides(&self) -> [usize; 2] {
        self.sides
    }

    /// Steps to the next row and to the next column.
    pub(crate) fn strides(&self) -> [isize; 2] {
        self.strides
    }

    /// Holds the addresses of all elements against the slice.
    fn check(&self) -> Result<()> {
        if self.sides.contains(&0) || self.fits() == Some(true) {
            return Ok(());
        }
        let (mut low, mut high) = (self.base as i128, self.base as i128);
        for (side, stride) in self.sides.into_iter().zip(self.strides) {
            let reach = (side as i128 - 1) * stride as i128;
            (low, high) = (low + reach.min(0), high + reach.max(0));
        }
        if low < 0 || high >= self.data.len() as i128 {
            return Err(out_of_span(low, high, self.data.len()));
        }
        Ok(())
    }

    /// Whether all addresses lie in the slice, if that can be told in words: quick, as there may be a
    /// great many small matrices.
    #[inline(always)]
    fn fits(&self) -> Option<bool> {
        let (mut low, mut high) = (self.base, self.base);
        for (side, stride) in self.sides.into_iter().zip(self.strides) {
            let reach = isize::try_from(side - 1).ok()?.checked_mul(stride)?;
            low = low.checked_add(reach.min(0))?;
            high = high.checked_add(reach.max(0))?;
        }
        Some(low >= 0 && (high as usize) < self.data.len())
    }

    /// Whether rows are contiguous, if there are any.
    fn has_plain_rows(&self) -> bool {
        is_plain(self.sides, self.strides)
    }

    /// The rows from `first` to `end`, which are rows of this matrix.
    pub(crate) fn rows(self, first: usize, end: usize) -> Self {
        let base = self.base.wrapping_add(self.strides[0].wrapping_mul(first as isize));
        Self { base, sides: [end - first, self.sides[1]], ..self }
    }

    /// The columns from `first` to `end`, which are columns of this matrix.
    pub(crate) fn columns(self, first: usize, end: usize) -> Self {
        let base = self.base.wrapping_add(self.strides[1].wrapping_mul(first as isize));
        Self { base, sides: [self.sides[0], end - first], ..self }
    }

    fn pointer(&self) -> *const T {
        self.data.as_ptr().wrapping_offset(self.base)
    }
}

/// Whether [`foreign`] knows elements of this type.
pub(crate) fn is_foreign<T: 'static>() -> bool {
    let one = TypeId::of::<T>();
    #[cfg(feature = "complex")]
    let complex = one == TypeId::of::<num_complex::Complex32>()
        || one == TypeId::of::<num_complex::Complex64>();
    #[cfg(not(feature = "complex"))]
    let complex = false;
    one == TypeId::of::<f32>() || one == TypeId::of::<f64>() || complex
}

/// The product of two matrices by `matrixmultiply`, row-major, if it knows such elements.
///
/// # Errors
///
/// [`Error::OutOfSpan`] if a matrix does not lie inside its slice, or the product is not just `out`.
pub(crate) fn foreign<T: Copy + 'static>(
    a: &Matrix<'_, T>,
    b: &Matrix<'_, T>,
    out: &mut [MaybeUninit<T>],
) -> Result<Option<Filled>> {
    let ([m, k], [inner, n]) = (a.sides, b.sides);
    a.check()?;
    b.check()?;
    if k != inner || m.checked_mul(n) != Some(out.len()) {
        return Err(Error::OutOfSpan { span: 0..m.saturating_mul(n), len: out.len() });
    }
    if m == 0 || k == 0 || n == 0 {
        return Ok(None);
    }
    let one = TypeId::of::<T>();
    /// One routine for one type of elements, given what it calls 1 and 0.
    macro_rules! routine {
        ($type:ty, $element:ty, $one:expr, $zero:expr, $gemm:path $(, $option:expr)*) => {
            if one == TypeId::of::<$type>() {
                // SAFETY: `T` is this type, whose layout is that of the elements of the routine. Every
                // address of `a` and `b` lies in its slice, as was checked above; neither is empty. `out` is
                // borrowed mutably and has `m * n` elements: rows of `n`, one after another. With the last
                // factor 0 the routine writes all of them and reads none.
                unsafe {
                    $gemm(
                        $($option, $option,)* m, k, n, $one,
                        a.pointer().cast::<$element>(), a.strides[0], a.strides[1],
                        b.pointer().cast::<$element>(), b.strides[0], b.strides[1], $zero,
                        out.as_mut_ptr().cast::<$element>(), n as isize, 1,
                    );
                }
                return Ok(Some(Filled::of(out)));
            }
        };
    }
    routine!(f32, f32, 1.0, 0.0, matrixmultiply::sgemm);
    routine!(f64, f64, 1.0, 0.0, matrixmultiply::dgemm);
    #[cfg(feature = "complex")]
    {
        use matrixmultiply::CGemmOption::Standard;
        use num_complex::{Complex32, Complex64};
        let (one_and_zero, long) = (([1.0, 0.0], [0.0; 2]), ([1.0, 0.0], [0.0; 2]));
        routine!(
            Complex32,
            [f32; 2],
            one_and_zero.0,
            one_and_zero.1,
            matrixmultiply::cgemm,
            Standard
        );
        routine!(Complex64, [f64; 2], long.0, long.1, matrixmultiply::zgemm, Standard);
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A matrix is one if all its elements lie in the slice; otherwise the span of its addresses is told.
    #[test]
    fn a_matrix_lies_inside_its_slice() {
        let data = [0_u8; 12];
        let strides = [-4, -1, 0, 1, 3];
        for (rows, columns) in [(0, 3), (3, 0), (1, 1), (1, 3), (3, 1), (4, 3)] {
            for base in -2..14 {
                for step in strides.into_iter().flat_map(|a| strides.map(|b| [a, b])) {
                    let found = Matrix::new(&data, base, [rows, columns], step).map(drop);
                    let addresses: Vec<isize> = (0..rows as isize)
                        .flat_map(|r| {
                            (0..columns as isize).map(move |c| base + r * step[0] + c * step[1])
                        })
                        .collect();
                    let (Some(&low), Some(&high)) =
                        (addresses.iter().min(), addresses.iter().max())
                    else {
                        assert_eq!(found, Ok(()));
                        continue;
                    };
                    let inside = low >= 0 && high < 12;
                    let expected = out_of_span(low as i128, high as i128, 12);
                    assert_eq!(found, if inside { Ok(()) } else { Err(expected) });
                }
            }
        }
        let far = Matrix::new(&data, 0, [3, 1], [isize::MAX, 1]).map(drop);
        assert_eq!(far, Err(out_of_span(0, 2 * isize::MAX as i128, 12)));
    }
}
