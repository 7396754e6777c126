//! Weighted sums of neighbours along a row.

use crate::kernel::Filled;
use crate::kernel::simd::{Level, level};
use std::mem::MaybeUninit;

/// Lines and the weights of neighbours in each: element `j` is the sum over all of them of
/// `weights[t] * line[j + t]`, in order.
pub(crate) struct Taps<'a, T, F> {
    /// Weights, and the line that they slide along.
    pub(crate) taps: &'a [(&'a [T], &'a [T])],
    pub(crate) zero: T,
    /// `sum + weight * element` of `(sum, weight, element)`.
    pub(crate) step: F,
}

impl<T: Copy, F: Fn(T, T, T) -> T + Copy> Taps<'_, T, F> {
    /// The first elements of the row, as many as there are slots.
    ///
    /// # Panics
    ///
    /// Panics if a line is too short.
    pub(crate) fn fill(&self, out: &mut [MaybeUninit<T>]) -> Filled {
        match level() {
            Level::Baseline => self.run(out),
            // SAFETY: the level says that AVX2 and FMA were detected.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => unsafe { avx2(self, out) },
            // SAFETY: the level says that these parts of AVX-512 were detected.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => unsafe { avx512(self, out) },
        }
        Filled(())
    }

    #[inline(always)]
    fn run(&self, out: &mut [MaybeUninit<T>]) {
        let (wide, rest) = out.as_chunks_mut::<64>();
        let done = wide.len() * 64;
        for (k, slots) in wide.iter_mut().enumerate() {
            self.part(k * 64, slots);
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

    /// Sums of constant length, which stay in registers.
    #[inline(always)]
    fn part<const W: usize>(&self, first: usize, slots: &mut [MaybeUninit<T>; W]) {
        let mut sums = [self.zero; W];
        for (weights, line) in self.taps {
            for (&weight, at) in weights.iter().zip(first..) {
                for (sum, &element) in sums.iter_mut().zip(&line[at..at + W]) {
                    *sum = (self.step)(*sum, weight, element);
                }
            }
        }
        *slots = sums.map(MaybeUninit::new);
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2<T: Copy, F: Fn(T, T, T) -> T + Copy>(taps: &Taps<'_, T, F>, out: &mut [MaybeUninit<T>]) {
    taps.run(out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
fn avx512<T: Copy, F: Fn(T, T, T) -> T + Copy>(taps: &Taps<'_, T, F>, out: &mut [MaybeUninit<T>]) {
    taps.run(out);
}
