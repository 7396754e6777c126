//! Products of a matrix and a few vectors, which take as long as the matrix is read: in the order in which it lies.

use super::Matrix;
use super::loops::{FEW_ROWS, NARROW, Product, make_room};
use crate::error::{Error, Result};
use crate::kernel::inner::{RowsMut, pack, slots};
use crate::kernel::{Place, Ring, Steps};
use std::mem::MaybeUninit;
use std::ops::Range;

/// Rows of the second matrix that are added to a row of sums at once, and most sums of such a row.
const TOGETHER: usize = 8;
const COLUMNS: usize = 2048;
/// Sums that a dot product keeps at once.
pub(super) const LANES: usize = 32;
/// Dot products that are summed up together along columns of the first matrix.
const LONG: usize = 1024;
/// Sides of the squares that are brought together where columns of the second matrix are contiguous.
const SQUARE: usize = 64;

impl<T: Copy, R: Ring<T>> Product<'_, T, R> {
    /// Row by row and column by column, in lanes that are joined at the end.
    #[inline(always)]
    pub(super) fn dots(&self, out: &mut [MaybeUninit<T>], scratch: &mut Vec<T>) -> Result<()> {
        let ([m, k], n) = (self.a.sides, self.b.sides[1]);
        // Columns whose elements are neighbours are read where they lie.
        let (mut columns, mut first, mut apart) = (self.b.data, self.b.base, self.b.strides[1]);
        if self.b.strides[0] != 1 || k == 0 {
            self.hold(scratch, k.saturating_mul(n))?;
            for p in 0..k {
                for (column, &element) in self.b.row(p).iter().enumerate() {
                    scratch[column * k + p] = element;
                }
            }
            (columns, first, apart) = (scratch, 0, k as isize);
        }
        for row in 0..m {
            let factors = self.a.row(row);
            for column in 0..n {
                let start = first.wrapping_add(apart.wrapping_mul(column as isize));
                let lane = &columns[start as usize..][..k];
                out[row * n + column].write(self.dot(factors, lane));
            }
        }
        Ok(())
    }

    /// Lanes without an element are zeros, of which one is as good as many.
    #[inline(always)]
    fn dot(&self, x: &[T], y: &[T]) -> T {
        let ring = self.ring;
        if x.len() < LANES {
            let terms = x.iter().zip(y).map(|(&x, &y)| ring.step(ring.zero(), x, y));
            return ring.round(terms.fold(ring.zero(), |sum, term| ring.plus(sum, term)));
        }
        let mut sums = [ring.zero(); LANES];
        let ((x, x_rest), (y, y_rest)) = (x.as_chunks::<LANES>(), y.as_chunks::<LANES>());
        for (x, y) in x.iter().zip(y) {
            sums = std::array::from_fn(|lane| ring.step(sums[lane], x[lane], y[lane]));
        }
        let mut rest = sums;
        for (sum, (&x, &y)) in rest.iter_mut().zip(x_rest.iter().zip(y_rest)) {
            *sum = ring.step(*sum, x, y);
        }
        let sum = rest.into_iter().reduce(|a, b| ring.plus(a, b));
        ring.round(sum.unwrap_or(ring.zero()))
    }

    /// The same sums of at most [`FEW_ROWS`] rows where columns are contiguous: the elements of all lanes are brought
    /// together.
    #[inline(always)]
    fn few_dots(&self, out: &mut [MaybeUninit<T>], scratch: &mut Vec<R::Sum>) -> Result<()> {
        let ([_, k], n, ring) = (self.a.sides, self.b.sides[1], self.ring);
        make_room(scratch, out.len() * LANES, ring.zero())?;
        let sums = &mut scratch.as_chunks_mut::<LANES>().0[..out.len()];
        sums.fill([ring.zero(); LANES]);
        let mut columns = [[ring.round(ring.zero()); LANES]; NARROW];
        for first in (0..k).step_by(LANES) {
            let lanes = LANES.min(k - first);
            for lane in 0..lanes {
                let row = self.b.row(first + lane);
                columns.iter_mut().zip(row).for_each(|(column, &y)| column[lane] = y);
            }
            for (row, sums) in sums.chunks_exact_mut(n).enumerate() {
                let mut x = [columns[0][0]; LANES];
                for (lane, x) in x[..lanes].iter_mut().enumerate() {
                    *x = self.a.column(first + lane)[row];
                }
                for (sums, y) in sums.iter_mut().zip(&columns) {
                    if lanes == LANES {
                        *sums = std::array::from_fn(|lane| ring.step(sums[lane], x[lane], y[lane]));
                    } else {
                        let terms = x[..lanes].iter().zip(y);
                        let each = sums.iter_mut().zip(terms);
                        each.for_each(|(sum, (&x, &y))| *sum = ring.step(*sum, x, y));
                    }
                }
            }
        }
        for (slot, sums) in out.iter_mut().zip(sums) {
            let sum = sums[..LANES.min(k)].iter().fold(ring.zero(), |a, b| ring.plus(a, *b));
            slot.write(ring.round(sum));
        }
        Ok(())
    }

    /// The same sums, of neighbouring rows at once where columns are contiguous: lane by lane.
    #[inline(always)]
    pub(super) fn dots_along(
        &self,
        out: &mut [MaybeUninit<T>],
        scratch: &mut Vec<R::Sum>,
    ) -> Result<()> {
        let ([m, k], n, ring) = (self.a.sides, self.b.sides[1], self.ring);
        if m <= FEW_ROWS {
            return self.few_dots(out, scratch);
        }
        let most = LONG.min(m);
        make_room(scratch, 2 * n * most, ring.zero())?;
        let (dots, sums) = scratch.split_at_mut(n * most);
        for first in (0..m).step_by(LONG) {
            let width = LONG.min(m - first);
            for lane in 0..LANES.min(k + 1) {
                let target = if lane == 0 { &mut *dots } else { &mut *sums };
                target[..n * most].fill(ring.zero());
                let place = |q: usize| lane + q * LANES;
                let count = k.saturating_sub(lane).div_ceil(LANES);
                for (column, target) in target.chunks_exact_mut(most).take(n).enumerate() {
                    add_rows(
                        &mut target[..width],
                        0..count,
                        |q| self.b.row(place(q))[column],
                        |q| &self.a.column(place(q))[first..][..width],
                        |sum, y, x| ring.step(sum, x, y),
                    );
                }
                if lane > 0 {
                    let pairs = dots.iter_mut().zip(&*sums);
                    pairs.for_each(|(dot, &sum)| *dot = ring.plus(*dot, sum));
                }
            }
            for (column, dots) in dots.chunks_exact(most).take(n).enumerate() {
                let out = out[first * n + column..].iter_mut().step_by(n);
                out.zip(&dots[..width]).for_each(|(slot, &dot)| {
                    slot.write(ring.round(dot));
                });
            }
        }
        Ok(())
    }

    /// A few rows of sums, to which rows of the second matrix are added as they lie, or after they were brought together.
    #[inline(always)]
    pub(super) fn rows(
        &self,
        out: &mut [MaybeUninit<T>],
        panel: &mut Vec<T>,
        sums: &mut Vec<R::Sum>,
    ) -> Result<()> {
        let ([m, k], n, ring) = (self.a.sides, self.b.sides[1], self.ring);
        let plain = self.b.has_plain_rows();
        let [most, deep] = if plain { [COLUMNS.min(n), k] } else { [n, k].map(|n| n.min(SQUARE)) };
        let packed = if plain { 0 } else { most * deep };
        self.hold(panel, packed)?;
        make_room(sums, m * most, ring.zero())?;
        let sums = &mut sums[..m * most];
        for first in (0..n).step_by(most) {
            let width = most.min(n - first);
            sums.fill(ring.zero());
            for start in (0..k).step_by(deep.max(1)) {
                let rows = start..k.min(start + deep);
                if plain {
                    self.add(sums, most, rows, |p| &self.b.row(p)[first..][..width]);
                } else {
                    self.b.bring(rows.clone(), first..first + width, &mut panel[..packed], most)?;
                    self.add(sums, most, rows, |p| &panel[(p - start) * most..][..width]);
                }
            }
            for (row, sums) in sums.chunks_exact(most).enumerate() {
                let out = &mut out[row * n + first..][..width];
                out.iter_mut().zip(sums).for_each(|(slot, &sum)| {
                    slot.write(ring.round(sum));
                });
            }
        }
        Ok(())
    }

    /// Adds some rows of the second matrix to sums, `most` apart, of each row of the first: so that is read in its order.
    #[inline(always)]
    fn add<'p>(
        &self,
        sums: &mut [R::Sum],
        most: usize,
        rows: Range<usize>,
        line: impl Fn(usize) -> &'p [T],
    ) where
        T: 'p,
    {
        for start in rows.clone().step_by(TOGETHER) {
            let rows = start..rows.end.min(start + TOGETHER);
            for (row, sums) in sums.chunks_exact_mut(most).enumerate() {
                let factors = self.a.row(row);
                let width = line(start).len();
                let step = |sum, x, y| self.ring.step(sum, x, y);
                add_rows(&mut sums[..width], rows.clone(), |p| factors[p], &line, step);
            }
        }
    }
}

/// Adds lines of these numbers, each times its factor, to sums: in order, [`TOGETHER`] a pass.
#[inline(always)]
fn add_rows<'p, T: Copy + 'p, S: Copy>(
    sums: &mut [S],
    numbers: Range<usize>,
    factor: impl Fn(usize) -> T,
    line: impl Fn(usize) -> &'p [T],
    step: impl Fn(S, T, T) -> S,
) {
    let mut start = numbers.start;
    while numbers.end - start >= TOGETHER {
        let factors: [T; TOGETHER] = std::array::from_fn(|q| factor(start + q));
        let lines: [&[T]; TOGETHER] = std::array::from_fn(|q| &line(start + q)[..sums.len()]);
        for (k, sum) in sums.iter_mut().enumerate() {
            *sum = (0..TOGETHER).fold(*sum, |sum, q| step(sum, factors[q], lines[q][k]));
        }
        start += TOGETHER;
    }
    for number in start..numbers.end {
        let factor = factor(number);
        sums.iter_mut().zip(line(number)).for_each(|(sum, &x)| *sum = step(*sum, factor, x));
    }
}

impl<'a, T> Matrix<'a, T> {
    /// One column, of contiguous elements.
    #[inline(always)]
    fn column(&self, column: usize) -> &'a [T] {
        let start = self.base.wrapping_add(self.strides[1].wrapping_mul(column as isize));
        &self.data[start as usize..][..self.sides[0]]
    }

    /// Copies some rows of some columns to rows of `to`, `step` apart.
    fn bring(
        &self,
        rows: Range<usize>,
        columns: Range<usize>,
        to: &mut [T],
        step: usize,
    ) -> Result<()>
    where
        T: Copy,
    {
        let [across, along] = self.strides.map(|stride| Steps { stride, table: None });
        let first = across.stride.wrapping_mul(rows.start as isize);
        let first = first.wrapping_add(along.stride.wrapping_mul(columns.start as isize));
        let base = self.base.wrapping_add(first);
        let place = Place { base, rows: across, columns: along, relocate: None };
        let len = to.len();
        match RowsMut::new(slots(to), rows.len(), columns.len(), step) {
            Some(mut to) => pack(self.data, &place, &mut to),
            None => Err(Error::OutOfSpan { span: 0..rows.len() * step, len }),
        }
    }
}
