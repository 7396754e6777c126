//! Products of single rows and single columns, a great many: those of neighbours side by side.

use super::Matrix;
use super::loops::LONG_SUM;
use super::vectors::LANES;
use crate::error::{Error, Result};
use crate::kernel::{Filled, Ring, dispatch};
use std::mem::MaybeUninit;

/// Products at once, where their elements lie side by side, there are some of them, and where they are gathered, each from a
/// cache line of its own.
const NEAR: usize = 64;
const FEW: usize = 16;
const FAR: usize = 8;
/// Largest elements, in bytes: [`LANES`] times [`NEAR`] lie on the stack.
const MOST_BYTES: usize = 16;

/// Whether [`multiply_each`] takes products of `1 x k` and `k x 1`, elements of which are so far apart: not those of
/// contiguous vectors that are so long that each by itself is added up in lanes.
#[inline]
pub(crate) fn takes_each<T>(k: usize, strides: [isize; 2]) -> bool {
    size_of::<T>() <= MOST_BYTES && (k < LONG_SUM || strides != [1; 2])
}

/// The products of every row of `a` and the same row of `b`, which are columns there: the same sums in the same order as
/// [`multiply`](super::multiply) has.
///
/// # Errors
///
/// [`Error::OutOfSpan`] if the sides do not fit one another and `out`.
pub(crate) fn multiply_each<T: Copy, R: Ring<T>>(
    a: &Matrix<'_, T>,
    b: &Matrix<'_, T>,
    out: &mut [MaybeUninit<T>],
    ring: R,
) -> Result<Filled> {
    let ([count, k], len) = (a.sides, out.len());
    if b.sides != [count, k] || count != len {
        return Err(Error::OutOfSpan { span: 0..count, len });
    }
    let near = a.strides[0] == 1 && b.strides[0] == 1;
    let each = Each { a, b, ring };
    dispatch(
        #[inline(always)]
        || match len {
            _ if !near || len <= FAR => each.run::<FAR>(out),
            _ if len <= 2 * FEW => each.run::<FEW>(out),
            _ => each.run::<NEAR>(out),
        },
    );
    Ok(Filled::of(out))
}

struct Each<'a, T, R> {
    a: &'a Matrix<'a, T>,
    b: &'a Matrix<'a, T>,
    ring: R,
}

impl<T: Copy, R: Ring<T>> Each<'_, T, R> {
    #[inline(always)]
    fn run<const N: usize>(&self, out: &mut [MaybeUninit<T>]) {
        for (group, out) in out.chunks_mut(N).enumerate() {
            let a = Group::<T, N>::new(self.a, group * N, out.len());
            let b = Group::<T, N>::new(self.b, group * N, out.len());
            let sums = self.sums(&a, &b);
            out.iter_mut().zip(sums).for_each(|(slot, sum)| {
                slot.write(self.ring.round(sum));
            });
        }
    }

    #[inline(always)]
    fn sums<const N: usize>(&self, a: &Group<'_, T, N>, b: &Group<'_, T, N>) -> [R::Sum; N] {
        let (k, ring) = (self.a.sides[1], self.ring);
        let mut sums = [ring.zero(); N];
        if k < LONG_SUM {
            for p in 0..k {
                sums = self.step(sums, a.column(p), b.column(p));
            }
            return sums;
        }
        let mut lanes = [sums; LANES];
        for p in 0..k {
            let lane = &mut lanes[p % LANES];
            *lane = self.step(*lane, a.column(p), b.column(p));
        }
        for lane in &lanes {
            sums = std::array::from_fn(|n| ring.plus(sums[n], lane[n]));
        }
        sums
    }

    #[inline(always)]
    fn step<const N: usize>(&self, sums: [R::Sum; N], x: [T; N], y: [T; N]) -> [R::Sum; N] {
        std::array::from_fn(|n| self.ring.step(sums[n], x[n], y[n]))
    }
}

/// Some neighbouring rows of a matrix, of which there are some.
struct Group<'a, T, const N: usize> {
    matrix: &'a Matrix<'a, T>,
    /// Where each begins; beyond the last as that one does.
    starts: [isize; N],
}

impl<'a, T: Copy, const N: usize> Group<'a, T, N> {
    #[inline(always)]
    fn new(matrix: &'a Matrix<'a, T>, first: usize, rows: usize) -> Self {
        let starts = std::array::from_fn(|n| {
            let row = (first + n.min(rows - 1)) as isize;
            matrix.base.wrapping_add(matrix.strides[0].wrapping_mul(row))
        });
        Self { matrix, starts }
    }

    /// Their elements of a column: where they lie, or gathered.
    #[inline(always)]
    fn column(&self, column: usize) -> [T; N] {
        let Matrix { data, strides: [across, along], .. } = *self.matrix;
        let moved = along.wrapping_mul(column as isize);
        let at = |n: usize| self.starts[n].wrapping_add(moved) as usize;
        let rest = data.get(at(0)..).filter(|_| across == 1);
        if let Some(whole) = rest.and_then(|rest| rest.first_chunk()) {
            return *whole;
        }
        let mut elements = [data[at(0)]; N];
        for (n, element) in elements.iter_mut().enumerate() {
            *element = data[at(n)];
        }
        elements
    }
}
