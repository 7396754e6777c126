//! Products of two vectors.

use super::{Called, named};
use crate::dtype::{Arithmetic, RoundTo};
use crate::gufunc::elementary::one_by_one;
use crate::gufunc::{Args, Core, CoreMut, Elementary, ElementaryError, Gufunc};
use crate::kernel::{Kernel, LARGE_BYTES, dispatch, prefetch_span};
use crate::ops::products::product;

/// Sums that a product of vectors keeps at once, and terms of a part of a long one, as those of
/// [`Reduce::dot`](crate::Reduce::dot).
const LANES: usize = 32;
const PART: usize = 512;
/// Lanes that are added to at once.
const TOGETHER: usize = 8;

ready! {
    /// The sum of products of two vectors, `(n),(n)->()`, by lanes that are joined in pairs. Integers wrap; `f16` and
    /// `bf16` are summed up in `f32`.
    ///
    /// ```
    /// use lensor::gufunc::inner1d;
    /// use lensor::Tensor;
    /// let t = Tensor::from_nested([[1, 2], [3, 4]])?;
    /// assert_eq!(inner1d().call([&t, &t]).eval()?[0].to_vec()?, [5, 25]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    inner1d Inner[T: Arithmetic + Default + 'static] [T; 2] => [T; 1];
}

impl<T: Arithmetic + Default + 'static> Elementary<[T; 2], [T; 1]> for Inner {
    const FILLS: bool = true;

    #[inline(always)]
    fn call(&self, [a, b]: [Core<'_, T>; 2], [mut out]: [CoreMut<'_, T>; 1]) -> Called {
        out[0] = match a.len() {
            _ if size_of::<T>() > LARGE_BYTES => one_after_another(&a, &b),
            ..=PART => products(&a, &b).rounded(),
            _ => long(&a, &b).rounded(),
        };
        Ok(())
    }

    /// Vectors of neighbouring calls are read where they lie, unless they are long: each element may lie on a page of its
    /// own, and those are more than the TLB holds.
    fn fits(core: &[usize], _strides: &[isize], step: isize) -> bool {
        step == 1 && core.iter().all(|extent| *extent < PART) && size_of::<T>() <= LARGE_BYTES
    }

    fn run(&self, args: &mut Args<'_, [T; 2], [T; 1]>) -> Result<(), (usize, ElementaryError)> {
        match args.packed || size_of::<T>() > LARGE_BYTES {
            true => one_by_one(self, args),
            false => dispatch(SideBySide(args)),
        }
    }
}

/// Calls that are made side by side, where the elements of one call are far apart and those of the next call near.
const CALLS: usize = 64;

/// Products of vectors, those of neighbouring calls side by side: the same sums in the same order.
struct SideBySide<'s, 'a, T: Arithmetic + Default + 'static>(&'s mut Args<'a, [T; 2], [T; 1]>);

impl<T: Arithmetic + Default + 'static> Kernel for SideBySide<'_, '_, T> {
    type Out = Result<(), (usize, ElementaryError)>;

    #[inline(always)]
    fn run(self) -> Self::Out {
        let args = self.0;
        args.check().map_err(|error| (0, error.into()))?;
        let (&[count, n], &[a, b, _, a_n, b_n]) = (args.dimensions, args.steps) else {
            return Err((0, "cores of vectors".into()));
        };
        let (offsets, [first, second], [out]) =
            ([args.offset(0), args.offset(1)], args.inputs, &mut args.outputs);
        let at = |offset: usize, by: usize, step: isize| {
            offset.wrapping_add_signed(step.wrapping_mul(by as isize))
        };
        for start in (0..count).step_by(CALLS) {
            let calls = CALLS.min(count - start);
            let columns = Columns {
                slices: [first, second],
                starts: [at(offsets[0], start, a), at(offsets[1], start, b)],
                along: [a, b],
                down: [a_n, b_n],
                calls,
                len: n,
            };
            let sums = columns.sums(0, n);
            let slots = out[start..start + calls].iter_mut().zip(&sums);
            slots.for_each(|(slot, sum)| *slot = (*sum).rounded());
        }
        Ok(())
    }
}

/// The vectors of neighbouring calls, each a column.
struct Columns<'c, T> {
    slices: [&'c [T]; 2],
    starts: [usize; 2],
    /// Steps to the next call, and to the next element of a vector.
    along: [isize; 2],
    down: [isize; 2],
    calls: usize,
    /// Elements of a vector.
    len: usize,
}

/// Elements of vectors, each on a page of its own, that are prefetched before they are read.
const AHEAD: usize = 12;

impl<T: Arithmetic + Default> Columns<'_, T> {
    /// Prefetches what is read [`AHEAD`] elements after element `k`, of the next calls at the end.
    #[inline(always)]
    fn prefetch(&self, k: usize) {
        let (later, calls) = match k + AHEAD {
            later if later < self.len => (later, 0),
            later => (later - self.len, self.calls),
        };
        for operand in 0..2 {
            if self.along[operand] == 1 {
                let moved = self.down[operand].wrapping_mul(later as isize);
                let start = self.starts[operand].wrapping_add_signed(moved).wrapping_add(calls);
                prefetch_span(self.slices[operand], start, self.calls);
            }
        }
    }

    /// Element `k` of the vectors of an operand: where it lies, or copied.
    #[inline(always)]
    fn row<'r>(&'r self, operand: usize, k: usize, copy: &'r mut [T; CALLS]) -> &'r [T; CALLS] {
        let (slice, along) = (self.slices[operand], self.along[operand]);
        let moved = self.down[operand].wrapping_mul(k as isize);
        let start = self.starts[operand].wrapping_add_signed(moved);
        let whole = slice.get(start..).and_then(|rest| rest.first_chunk());
        if let Some(row) = whole.filter(|_| along == 1) {
            return row;
        }
        for (call, x) in copy[..self.calls].iter_mut().enumerate() {
            *x = slice[start.wrapping_add_signed(along.wrapping_mul(call as isize))];
        }
        copy
    }

    /// The sums of the products of `n` elements from number `first` on.
    #[inline(always)]
    fn part(&self, first: usize, n: usize) -> [T::Wide; CALLS] {
        let zero = [T::Wide::from(T::default()); CALLS];
        let lanes = if n < LANES { 1 } else { LANES };
        let mut sums = [zero; LANES];
        let mut copies = [[T::default(); CALLS]; 2];
        for k in 0..n {
            self.prefetch(first + k);
            let [x, y] = &mut copies;
            let (x, y) = (self.row(0, first + k, x), self.row(1, first + k, y));
            let lane = &mut sums[k % lanes];
            if k < lanes {
                for call in 0..CALLS {
                    lane[call] = product(x[call], y[call]);
                }
            } else {
                for call in 0..CALLS {
                    lane[call] = lane[call].plus(product(x[call], y[call]));
                }
            }
        }
        let mut width = lanes / 2;
        while width > 0 {
            let (low, high) = sums.split_at_mut(width);
            for (low, high) in low.iter_mut().zip(high) {
                low.iter_mut().zip(high).for_each(|(low, high)| *low = low.plus(*high));
            }
            width /= 2;
        }
        sums[0]
    }

    /// The same of long vectors: of parts, joined in pairs as those of [`long`] are.
    fn sums(&self, first: usize, n: usize) -> [T::Wide; CALLS] {
        if n <= PART {
            return self.part(first, n);
        }
        let middle = half(n);
        let (mut low, high) = (self.sums(first, middle), self.sums(first + middle, n - middle));
        low.iter_mut().zip(&high).for_each(|(low, high)| *low = low.plus(*high));
        low
    }
}

/// Elements of the first half of a long vector.
fn half(n: usize) -> usize {
    (1 << (n.div_ceil(PART) - 1).ilog2()) * PART
}

/// The sum of products of two short vectors.
#[inline(always)]
fn products<T: Arithmetic + Default>(a: &[T], b: &[T]) -> T::Wide {
    let b = &b[..a.len()];
    let Some((head, rest)) = a.split_first_chunk::<LANES>() else {
        let Some((first, rest)) = a.split_first() else { return T::default().into() };
        let terms = rest.iter().zip(&b[1..]);
        return terms.fold(product(*first, b[0]), |sum, (x, y)| sum.plus(product(*x, *y)));
    };
    let (other, later) = b.split_at(LANES);
    let ((chunks, tail), (others, ends)) = (rest.as_chunks::<LANES>(), later.as_chunks::<LANES>());
    let mut lanes = [T::Wide::from(T::default()); LANES];
    // Some lanes after the others, which stay in registers: all at once are more than there are.
    for (group, own) in lanes.as_chunks_mut::<TOGETHER>().0.iter_mut().enumerate() {
        let none = [T::default(); TOGETHER];
        let part = |of: &[T]| of[group * TOGETHER..].first_chunk().copied().unwrap_or(none);
        let (x, y) = (part(head), part(other));
        let mut sums = *own;
        for k in 0..TOGETHER {
            sums[k] = product(x[k], y[k]);
        }
        for (x, y) in chunks.iter().zip(others) {
            let (x, y) = (part(x), part(y));
            for k in 0..TOGETHER {
                sums[k] = sums[k].plus(product(x[k], y[k]));
            }
        }
        *own = sums;
    }
    for (lane, (x, y)) in lanes.iter_mut().zip(tail.iter().zip(ends)) {
        *lane = lane.plus(product(*x, *y));
    }
    let mut width = LANES / 2;
    while width > 0 {
        for k in 0..width {
            lanes[k] = lanes[k].plus(lanes[k + width]);
        }
        width /= 2;
    }
    lanes[0]
}

/// The sum of products of elements of which few are to lie on the stack.
#[inline(never)]
fn one_after_another<T: Arithmetic + Default>(a: &[T], b: &[T]) -> T {
    let products = a.iter().zip(b).map(|(x, y)| product(*x, *y));
    products.reduce(T::Wide::plus).map_or_else(T::default, RoundTo::rounded)
}

/// The sum of products of two long vectors: of parts, joined in pairs.
#[inline(never)]
fn long<T: Arithmetic + Default>(a: &[T], b: &[T]) -> T::Wide {
    if a.len() <= PART {
        return products(a, b);
    }
    let middle = half(a.len());
    long(&a[..middle], &b[..middle]).plus(long(&a[middle..], &b[middle..]))
}
