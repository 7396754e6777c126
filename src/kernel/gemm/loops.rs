//! Products by loops of our own: of small or narrow matrices, and of elements that no library knows.
//!
//! A tile of the product is summed up in registers, along rows of the second matrix. Every element is the
//! sum of its products in order, whatever the tile it falls into.

use super::Matrix;
use crate::error::{Error, Result};
use crate::kernel::Filled;
use crate::kernel::simd::{Level, level};
use std::mem::MaybeUninit;

/// Rows of a product from which on it pays to bring a panel of the second matrix together.
const PACKED_ROWS: usize = 16;

/// Memory for a panel, kept from product to product.
pub(crate) type Scratch<T> = Vec<T>;

/// The product of two matrices whose rows are contiguous, row-major; `step(sum, x, y)` is `sum + x * y`.
///
/// # Errors
///
/// [`Error::OutOfSpan`] if the sides do not fit one another and `out`, [`Error::OutOfMemory`].
#[inline]
pub(crate) fn multiply<T: Copy>(
    a: &Matrix<'_, T>,
    b: &Matrix<'_, T>,
    out: &mut [MaybeUninit<T>],
    scratch: &mut Scratch<T>,
    zero: T,
    step: impl Fn(T, T, T) -> T + Copy,
) -> Result<Filled> {
    let ([m, k], [inner, n]) = (a.sides, b.sides);
    let fits = k == inner && m.checked_mul(n) == Some(out.len());
    if !(fits && a.has_plain_rows() && b.has_plain_rows()) {
        return Err(Error::OutOfSpan { span: 0..m.saturating_mul(n), len: out.len() });
    }
    if out.is_empty() {
        return Ok(Filled(()));
    }
    let product = Product { a, b, zero, step };
    match level() {
        Level::Baseline => product.by_width::<4>(out, scratch)?,
        // SAFETY: the level says that AVX2 and FMA were detected.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { avx2(&product, out, scratch)? },
        // SAFETY: the level says that these parts of AVX-512 were detected.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { avx512(&product, out, scratch)? },
    }
    Ok(Filled(()))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2<T: Copy, F: Fn(T, T, T) -> T + Copy>(
    product: &Product<'_, T, F>,
    out: &mut [MaybeUninit<T>],
    scratch: &mut Scratch<T>,
) -> Result<()> {
    product.by_width::<4>(out, scratch)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
fn avx512<T: Copy, F: Fn(T, T, T) -> T + Copy>(
    product: &Product<'_, T, F>,
    out: &mut [MaybeUninit<T>],
    scratch: &mut Scratch<T>,
) -> Result<()> {
    product.by_width::<8>(out, scratch)
}

struct Product<'a, T, F> {
    a: &'a Matrix<'a, T>,
    b: &'a Matrix<'a, T>,
    zero: T,
    step: F,
}

impl<T: Copy, F: Fn(T, T, T) -> T + Copy> Product<'_, T, F> {
    /// Tiles as wide as a cache line, or wider where there are too few rows to do at once.
    #[inline(always)]
    fn by_width<const R: usize>(
        &self,
        out: &mut [MaybeUninit<T>],
        scratch: &mut Scratch<T>,
    ) -> Result<()> {
        if self.a.sides[0] < R && self.b.sides[1] >= 64 {
            return self.panels::<1, 64>(out, scratch);
        }
        match size_of::<T>() {
            ..4 => self.panels::<R, 32>(out, scratch),
            4 => self.panels::<R, 16>(out, scratch),
            _ => self.panels::<R, 8>(out, scratch),
        }
    }

    /// Panel after panel of `W` columns, tile after tile of `R` rows in each.
    #[inline(always)]
    fn panels<const R: usize, const W: usize>(
        &self,
        out: &mut [MaybeUninit<T>],
        scratch: &mut Scratch<T>,
    ) -> Result<()> {
        let ([m, k], n) = (self.a.sides, self.b.sides[1]);
        let stride = self.b.strides[0];
        for first in (0..n).step_by(W) {
            let width = W.min(n - first);
            let in_place = width == W && m < PACKED_ROWS && stride >= W as isize;
            if in_place {
                let start = self.b.base as usize + first;
                let lines = || {
                    let rows = self.b.data[start..].chunks(stride as usize);
                    rows.filter_map(|row| row.first_chunk::<W>())
                };
                self.tiles::<R, W, _>(lines, out, first, width);
            } else {
                self.pack(scratch, first, width, W, k)?;
                self.tiles::<R, W, _>(|| scratch.as_chunks::<W>().0.iter(), out, first, width);
            }
        }
        Ok(())
    }

    /// Brings a panel together, filled up to its full width.
    fn pack(
        &self,
        scratch: &mut Scratch<T>,
        first: usize,
        width: usize,
        full: usize,
        rows: usize,
    ) -> Result<()> {
        scratch.clear();
        let count = rows.saturating_mul(full);
        let bytes = count.saturating_mul(size_of::<T>());
        scratch.try_reserve(count).map_err(|_| Error::OutOfMemory { bytes })?;
        for row in 0..rows {
            scratch.extend_from_slice(&self.b.row(row)[first..][..width]);
            scratch.resize((row + 1) * full, self.zero);
        }
        Ok(())
    }

    /// All tiles of one panel, whose lines the iterator gives anew for each.
    #[inline(always)]
    fn tiles<'p, const R: usize, const W: usize, I: Iterator<Item = &'p [T; W]>>(
        &self,
        lines: impl Fn() -> I,
        out: &mut [MaybeUninit<T>],
        first: usize,
        width: usize,
    ) where
        T: 'p,
    {
        let (m, n) = (self.a.sides[0], self.b.sides[1]);
        let whole = m - m % R;
        for row in (0..whole).step_by(R) {
            self.tile::<R, W>(lines(), row, &mut out[row * n + first..], width);
        }
        for row in whole..m {
            self.tile::<1, W>(lines(), row, &mut out[row * n + first..], width);
        }
    }

    /// One tile: `R` rows from `row` on.
    #[inline(always)]
    fn tile<'p, const R: usize, const W: usize>(
        &self,
        lines: impl Iterator<Item = &'p [T; W]>,
        row: usize,
        out: &mut [MaybeUninit<T>],
        width: usize,
    ) where
        T: 'p,
    {
        let (k, n) = (self.a.sides[1], self.b.sides[1]);
        let factors: [&[T]; R] = std::array::from_fn(|r| &self.a.row(row + r)[..k]);
        let mut sums = [[self.zero; W]; R];
        for (p, line) in (0..k).zip(lines) {
            for (sums, factors) in sums.iter_mut().zip(&factors) {
                let factor = factors[p];
                for (sum, &element) in sums.iter_mut().zip(line) {
                    *sum = (self.step)(*sum, factor, element);
                }
            }
        }
        for (r, sums) in sums.iter().enumerate() {
            for (slot, &sum) in out[r * n..][..width].iter_mut().zip(sums) {
                slot.write(sum);
            }
        }
    }
}

impl<'a, T> Matrix<'a, T> {
    /// One row, of contiguous elements.
    #[inline(always)]
    fn row(&self, row: usize) -> &'a [T] {
        let start = self.base.wrapping_add(self.strides[0].wrapping_mul(row as isize));
        &self.data[start as usize..][..self.sides[1]]
    }
}
