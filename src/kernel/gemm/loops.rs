//! Products by loops of our own: of small or narrow matrices, and of elements that no library knows.
//!
//! A tile of the product is summed up in registers, along rows of the second matrix: every element is the
//! sum of its products in order. Where there are hardly any columns, it is a dot product in lanes.

use super::{Matrix, is_plain};
use crate::error::{Error, Result};
use crate::kernel::{Filled, LARGE_BYTES, Ring, dispatch};
use crate::memory::{default_of_fields, resize};
use std::mem::MaybeUninit;

/// Rows of a product from which on it pays to bring a panel of the second matrix together.
const PACKED_ROWS: usize = 16;

/// Memory for a panel and for sums, kept from product to product.
#[derive(Debug)]
pub(crate) struct Scratch<T, S> {
    pub(super) elements: Vec<T>,
    pub(super) sums: Vec<S>,
}

default_of_fields!(Scratch<T, S> { elements, sums });

/// Makes room for so many of what `with` is one of.
pub(super) fn make_room<E: Copy>(memory: &mut Vec<E>, count: usize, with: E) -> Result<()> {
    if memory.len() < count { resize(memory, count, with) } else { Ok(()) }
}

/// Fewest rows of a tile, and columns of a panel.
pub(crate) const NARROW: usize = 4;

/// Rows that are too few for dot products side by side.
pub(super) const FEW_ROWS: usize = 16;

/// Products from which on a few sums are dot products.
pub(super) const LONG_SUM: usize = 512;

/// What a product of `m` rows and `n` columns, of sums of `k` products, is made of.
#[derive(Clone, Copy)]
enum Tiling {
    Dots,
    Rows,
    Tiles,
}

impl Tiling {
    #[inline(always)]
    fn of([m, k, n]: [usize; 3]) -> Self {
        match () {
            () if n < NARROW && (m >= NARROW || k >= LONG_SUM) => Self::Dots,
            () if m < NARROW && n >= 64 => Self::Rows,
            () => Self::Tiles,
        }
    }
}

/// Whether [`multiply`] takes the first (0) or second (1) matrix of a product of `m x k` and `k x n` with these strides.
/// Rows are contiguous; columns may be instead where the loops go along them.
#[inline]
pub(crate) fn takes<T>([m, k, n]: [usize; 3], argument: usize, strides: [isize; 2]) -> bool {
    let own = if argument == 0 { [m, k] } else { [k, n] };
    let along = match Tiling::of([m, k, n]) {
        Tiling::Dots => argument == 0,
        Tiling::Rows => argument == 1,
        Tiling::Tiles => false,
    };
    is_plain(own, strides) || (along && strides[0] == 1 && size_of::<T>() <= LARGE_BYTES)
}

/// Whether it pays to bring panels of the second matrix together for so many rows of the first.
#[inline(always)]
fn is_packed(m: usize) -> bool {
    m >= PACKED_ROWS
}

/// How [`multiply`] would go about matrices of these sides and strides, in words.
pub(crate) fn explain([m, k, n]: [usize; 3], strides: [[isize; 2]; 2]) -> &'static str {
    let plain = [is_plain([m, k], strides[0]), is_plain([k, n], strides[1])];
    match (Tiling::of([m, k, n]), plain, is_packed(m)) {
        (Tiling::Dots, [true, _], _) if strides[1][0] == 1 && k > 0 => {
            "dot products, with the second read as it is"
        }
        (Tiling::Dots, [true, _], _) => "dot products, with the second packed by columns",
        (Tiling::Dots, ..) if m <= FEW_ROWS => "dot products, with both brought together by lanes",
        (Tiling::Dots, ..) => "dot products side by side, along columns of the first",
        (Tiling::Rows, [_, true], _) => "rows of sums, with the second read as it is",
        (Tiling::Rows, ..) => "rows of sums, with the second packed by squares",
        (Tiling::Tiles, _, false) => "tiles of 4 x 8 sums, with the second read as it is",
        (Tiling::Tiles, _, true) => "tiles of 4 x 8 sums, with the second packed by panels",
    }
}

/// The product of two matrices, row-major.
///
/// # Errors
///
/// [`Error::OutOfSpan`] if the sides do not fit one another and `out`, or [`takes`] would not have the strides,
/// [`Error::OutOfMemory`].
#[inline]
pub(crate) fn multiply<T: Copy, R: Ring<T>>(
    a: &Matrix<'_, T>,
    b: &Matrix<'_, T>,
    out: &mut [MaybeUninit<T>],
    scratch: &mut Scratch<T, R::Sum>,
    ring: R,
) -> Result<Filled> {
    let ([m, k], [inner, n]) = (a.sides, b.sides);
    let fits = k == inner && m.checked_mul(n) == Some(out.len());
    let sides = [m, k, n];
    if !(fits && takes::<T>(sides, 0, a.strides) && takes::<T>(sides, 1, b.strides)) {
        return Err(Error::OutOfSpan { span: 0..m.saturating_mul(n), len: out.len() });
    }
    if out.is_empty() {
        return Ok(Filled::of(out));
    }
    let product = Product { a, b, ring };
    dispatch(
        #[inline(always)]
        || product.run(out, scratch),
    )?;
    Ok(Filled::of(out))
}

/// Two matrices that are multiplied, and how.
pub(super) struct Product<'a, T, R> {
    pub(super) a: &'a Matrix<'a, T>,
    pub(super) b: &'a Matrix<'a, T>,
    pub(super) ring: R,
}

impl<T: Copy, R: Ring<T>> Product<'_, T, R> {
    /// Tiles as wide as a cache line, or wider where there are too few rows to do at once; where there are
    /// hardly any columns, each by itself.
    #[inline(always)]
    fn run(
        &self,
        out: &mut [MaybeUninit<T>],
        Scratch { elements, sums }: &mut Scratch<T, R::Sum>,
    ) -> Result<()> {
        let ([m, k], n) = (self.a.sides, self.b.sides[1]);
        match Tiling::of([m, k, n]) {
            _ if size_of::<T>() > LARGE_BYTES => self.panels::<1, 1>(out, elements),
            Tiling::Dots if self.a.has_plain_rows() => self.dots(out, elements),
            Tiling::Dots => self.dots_along(out, sums),
            Tiling::Rows => self.rows(out, elements, sums),
            Tiling::Tiles => self.panels::<NARROW, 8>(out, elements),
        }
    }

    /// Panel after panel of `W` columns, tile after tile of `H` rows in each.
    #[inline(always)]
    fn panels<const H: usize, const W: usize>(
        &self,
        out: &mut [MaybeUninit<T>],
        scratch: &mut Vec<T>,
    ) -> Result<()> {
        let ([m, k], n) = (self.a.sides, self.b.sides[1]);
        let stride = self.b.strides[0] as usize;
        for first in (0..n).step_by(W) {
            let width = W.min(n - first);
            if width == W && !is_packed(m) && self.b.strides[0] > 0 {
                let start = self.b.base as usize + first;
                let line = |p: usize| &self.b.data[start + p * stride..][..W].as_chunks().0[0];
                self.tiles::<H, W>(line, out, first, width);
            } else {
                self.pack::<W>(scratch, first, width)?;
                let panel = &scratch.as_chunks::<W>().0[..k];
                self.tiles::<H, W>(|p| &panel[p], out, first, width);
            }
        }
        Ok(())
    }

    /// Makes room for so many elements.
    pub(super) fn hold(&self, scratch: &mut Vec<T>, count: usize) -> Result<()> {
        make_room(scratch, count, self.ring.round(self.ring.zero()))
    }

    /// Brings a panel together. What lies beyond its width is never looked at.
    #[inline(always)]
    fn pack<const W: usize>(&self, scratch: &mut Vec<T>, first: usize, width: usize) -> Result<()> {
        self.hold(scratch, self.b.sides[0].saturating_mul(W))?;
        for (row, line) in scratch.as_chunks_mut::<W>().0[..self.b.sides[0]].iter_mut().enumerate()
        {
            line[..width].copy_from_slice(&self.b.row(row)[first..][..width]);
        }
        Ok(())
    }

    /// All tiles of the panel whose lines `line` gives.
    #[inline(always)]
    fn tiles<'p, const H: usize, const W: usize>(
        &self,
        line: impl Fn(usize) -> &'p [T; W],
        out: &mut [MaybeUninit<T>],
        first: usize,
        width: usize,
    ) where
        T: 'p,
    {
        let (m, n) = (self.a.sides[0], self.b.sides[1]);
        let whole = m - m % H;
        for row in (0..whole).step_by(H) {
            self.tile::<H, W>(&line, row, &mut out[row * n + first..], width);
        }
        for row in whole..m {
            self.tile::<1, W>(&line, row, &mut out[row * n + first..], width);
        }
    }

    /// One tile: `H` rows from `row` on. The sums pass by value, as in memory they would stay there.
    #[inline(always)]
    #[allow(clippy::needless_range_loop, reason = "every row has an element `p`")]
    fn tile<'p, const H: usize, const W: usize>(
        &self,
        line: impl Fn(usize) -> &'p [T; W],
        row: usize,
        out: &mut [MaybeUninit<T>],
        width: usize,
    ) where
        T: 'p,
    {
        let (k, n, ring) = (self.a.sides[1], self.b.sides[1], self.ring);
        let factors: [&[T]; H] = std::array::from_fn(|r| &self.a.row(row + r)[..k]);
        let mut sums = [[ring.zero(); W]; H];
        for p in 0..k {
            let line = *line(p);
            sums = std::array::from_fn(|r| {
                let (sums, factor) = (sums[r], factors[r][p]);
                std::array::from_fn(|w| ring.step(sums[w], factor, line[w]))
            });
        }
        for (r, sums) in sums.into_iter().enumerate() {
            let sums = sums.map(|sum| MaybeUninit::new(ring.round(sum)));
            match out[r * n..].first_chunk_mut::<W>() {
                Some(whole) if width == W => *whole = sums,
                _ => out[r * n..][..width].copy_from_slice(&sums[..width]),
            }
        }
    }
}

impl<'a, T> Matrix<'a, T> {
    /// One row, of contiguous elements.
    #[inline(always)]
    pub(super) fn row(&self, row: usize) -> &'a [T] {
        let start = self.base.wrapping_add(self.strides[0].wrapping_mul(row as isize));
        &self.data[start as usize..][..self.sides[1]]
    }
}
