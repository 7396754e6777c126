//! Weighted sums of neighbours along a row.

use super::{Filled, LARGE_BYTES, Ring, dispatch};
use std::mem::MaybeUninit;

/// Lines and the weights of neighbours in each: element `j` is the sum over all of them of
/// `weights[t] * line[j + t]`, in order.
pub(crate) struct Taps<'a, T, R> {
    /// Weights, and the line that they slide along.
    pub(crate) taps: &'a [(&'a [T], &'a [T])],
    pub(crate) ring: R,
}

impl<T: Copy, R: Ring<T>> Taps<'_, T, R> {
    /// The first elements of the row, as many as there are slots. A line has as many and those that its weights reach
    /// beyond the first; what is not there may be left out of the sums.
    ///
    /// # Panics
    ///
    /// May panic if a line is shorter than that.
    pub(crate) fn fill(&self, out: &mut [MaybeUninit<T>]) -> Filled {
        dispatch(
            #[inline(always)]
            || self.run(out),
        );
        Filled::of(out)
    }

    #[inline(always)]
    fn run(&self, out: &mut [MaybeUninit<T>]) {
        if size_of::<T>() > LARGE_BYTES {
            let slots = out.iter_mut().enumerate();
            return slots.for_each(|(k, slot)| self.part(k, std::array::from_mut(slot)));
        }
        let (wide, rest) = out.as_chunks_mut::<32>();
        let done = wide.len() * 32;
        for (k, slots) in wide.iter_mut().enumerate() {
            self.part(k * 32, slots);
        }
        let (narrow, rest) = rest.as_chunks_mut::<8>();
        let last = done + narrow.len() * 8;
        for (k, slots) in narrow.iter_mut().enumerate() {
            self.part(done + k * 8, slots);
        }
        for (k, slot) in rest.iter_mut().enumerate() {
            self.part(last + k, std::array::from_mut(slot));
        }
    }

    /// Sums of constant length, which pass by value and stay in registers.
    #[inline(always)]
    fn part<const W: usize>(&self, first: usize, slots: &mut [MaybeUninit<T>; W]) {
        let mut sums = [self.ring.zero(); W];
        for (weights, line) in self.taps {
            for (&weight, at) in weights.iter().zip(first..) {
                if let Some(elements) = line[at..].first_chunk::<W>() {
                    sums = std::array::from_fn(|k| self.ring.step(sums[k], weight, elements[k]));
                }
            }
        }
        *slots = sums.map(|sum| MaybeUninit::new(self.ring.round(sum)));
    }
}
