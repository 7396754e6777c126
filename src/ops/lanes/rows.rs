//! Sorts of runs of any lengths, one after another.
//!
//! Neighbouring short runs are sorted together by a network, padded with keys that come last: no branch depends on an
//! element or on the length of such a run, which are unpredictable.

use super::SortOrder;
use super::network::{LANES, LONGEST, sort_arrays};
use super::operand::Batch;
use super::select::{Elements, Picked, Positions};
use super::sort::{Keys, Pairs, argsort_lanes, restore, sort_lanes};
use crate::dtype::{Radix, SortKey, Sortable};
use crate::error::Result;
use crate::kernel::{Kernel, dispatch};
use crate::memory::resize;
use bytemuck::Zeroable;
use std::marker::PhantomData;

/// The first elements of a slice.
#[derive(Debug, Clone, Copy)]
pub struct Run<'d, T> {
    /// From the first one on, and what lies after them.
    from: &'d [T],
    len: usize,
}

impl<'d, T> Run<'d, T> {
    /// As many elements as there are, at most `len`.
    #[inline(always)]
    pub(crate) fn new(from: &'d [T], len: usize) -> Self {
        Self { from, len: len.min(from.len()) }
    }

    #[inline(always)]
    pub(crate) fn elements(&self) -> &'d [T] {
        &self.from[..self.len]
    }
}

/// What is sorted row by row: the elements, or where they stand.
pub(crate) trait SortedRows<T: Sortable>: Picked<T> {
    /// The operation, in words.
    const WHAT: &'static str;
    /// What is put in order.
    type Item: Radix;
    /// Memory to sort long runs with.
    type Memory: Default;

    /// The item of an element at a position of a run.
    fn item(key: T::Key, position: usize) -> Self::Item;

    /// The result that an item stands for.
    fn result(item: Self::Item, descending: bool) -> Self::Elem;

    /// Whether the item of an element gives its result back.
    fn is_own(x: T) -> bool;

    /// Writes the results of a run again whose items do not give them back.
    fn restore(run: &[T], sorted: &[Self::Item], out: &mut [Self::Elem], descending: bool);

    /// All results of a run by itself.
    fn sort_run(
        memory: &mut Self::Memory,
        run: &[T],
        out: &mut [Self::Elem],
        order: SortOrder,
    ) -> Result<()>;
}

impl<T: Sortable> SortedRows<T> for Elements {
    const WHAT: &'static str = "sort";
    type Item = T::Key;
    type Memory = Keys<T::Key>;

    #[inline(always)]
    fn item(key: T::Key, _: usize) -> T::Key {
        key
    }

    #[inline(always)]
    fn result(item: T::Key, descending: bool) -> T {
        T::from_key(item, descending)
    }

    #[inline(always)]
    fn is_own(x: T) -> bool {
        x.is_own_key()
    }

    fn restore(run: &[T], sorted: &[T::Key], out: &mut [T], descending: bool) {
        restore(run, sorted, out, descending);
    }

    fn sort_run(
        memory: &mut Self::Memory,
        run: &[T],
        out: &mut [T],
        order: SortOrder,
    ) -> Result<()> {
        sort_lanes(memory, Batch::one(run), out, order)
    }
}

impl<T: Sortable> SortedRows<T> for Positions {
    const WHAT: &'static str = "positions of a sort";
    type Item = <T::Key as SortKey>::Pair;
    type Memory = Pairs<T::Key>;

    #[inline(always)]
    fn item(key: T::Key, position: usize) -> Self::Item {
        key.pair(position)
    }

    #[inline(always)]
    fn result(item: Self::Item, _: bool) -> usize {
        T::Key::position(item)
    }

    #[inline(always)]
    fn is_own(_: T) -> bool {
        true
    }

    fn restore(_: &[T], _: &[Self::Item], _: &mut [usize], _: bool) {}

    fn sort_run(
        memory: &mut Self::Memory,
        run: &[T],
        out: &mut [usize],
        order: SortOrder,
    ) -> Result<()> {
        argsort_lanes(memory, Batch::one(run), out, order.keys())
    }
}

/// The first in order of each of some runs, at most `limit`, one run after another.
pub(crate) fn sort_rows<'d, T: Sortable, P: SortedRows<T>>(
    rows: impl Iterator<Item = Run<'d, T>>,
    out: &mut [P::Elem],
    order: SortOrder,
    limit: usize,
) -> Result<()> {
    let mut sorter = Sorter::<T, P> { order, limit, memory: <_>::default(), all: Vec::new() };
    let (mut out, mut batch, mut count) = (out, [Run::new(&[], 0); LANES], 0);
    for run in rows {
        if run.len > LONGEST {
            out = sorter.together(&batch[..count], out);
            out = sorter.alone(run, out)?;
            count = 0;
            continue;
        }
        batch[count] = run;
        count += 1;
        if count == LANES {
            out = sorter.together(&batch, out);
            count = 0;
        }
    }
    sorter.together(&batch[..count], out);
    Ok(())
}

struct Sorter<T: Sortable, P: SortedRows<T>> {
    order: SortOrder,
    limit: usize,
    /// For long runs, and for all results where not all are wanted.
    memory: P::Memory,
    all: Vec<P::Elem>,
}

impl<T: Sortable, P: SortedRows<T>> Sorter<T, P> {
    /// Writes the results of a run by itself, returns the slots after them.
    fn alone<'o>(&mut self, run: Run<'_, T>, out: &'o mut [P::Elem]) -> Result<&'o mut [P::Elem]> {
        let (now, later) = out.split_at_mut(run.len.min(self.limit).min(out.len()));
        if now.len() == run.len {
            P::sort_run(&mut self.memory, run.elements(), now, self.order)?;
        } else if !now.is_empty() {
            resize(&mut self.all, run.len, P::Elem::zeroed())?;
            P::sort_run(&mut self.memory, run.elements(), &mut self.all[..run.len], self.order)?;
            now.copy_from_slice(&self.all[..now.len()]);
        }
        Ok(later)
    }

    /// Writes the results of up to [`LANES`] short runs, returns the slots after them.
    fn together<'o>(&self, runs: &[Run<'_, T>], out: &'o mut [P::Elem]) -> &'o mut [P::Elem] {
        match runs.iter().map(|run| run.len).max().unwrap_or(0) {
            0 => out,
            1..=8 => self.padded::<8>(runs, out),
            9..=16 => self.padded::<16>(runs, out),
            _ => self.padded::<LONGEST>(runs, out),
        }
    }

    /// [`Self::together`] of runs of at most `N` elements.
    fn padded<'o, const N: usize>(
        &self,
        runs: &[Run<'_, T>],
        out: &'o mut [P::Elem],
    ) -> &'o mut [P::Elem] {
        let (limit, descending) = (self.limit, self.order.is_descending());
        let by = PhantomData;
        let written = dispatch(Padded::<N, _, P> { runs, out, limit, descending, by });
        &mut out[written..]
    }
}

/// Sorts up to [`LANES`] runs of at most `N` elements, padded with items that come last; returns how many results there are.
struct Padded<'s, 'd, const N: usize, T, P: Picked<T>> {
    runs: &'s [Run<'d, T>],
    out: &'s mut [P::Elem],
    limit: usize,
    descending: bool,
    by: PhantomData<P>,
}

impl<const N: usize, T: Sortable, P: SortedRows<T>> Kernel for Padded<'_, '_, N, T, P> {
    type Out = usize;

    #[inline(always)]
    fn run(self) -> usize {
        let Self { runs, out, limit, descending, .. } = self;
        // Arrays of one size, so that every loop over all of them becomes vector instructions.
        let mut elements = [[T::zeroed(); N]; LANES];
        for (elements, run) in elements.iter_mut().zip(runs) {
            match run.from.first_chunk() {
                Some(few) => *elements = *few,
                None => copy(run.elements(), &mut elements[..run.len]),
            }
        }
        let (mut rows, mut own) = ([[P::Item::default(); N]; LANES], true);
        for (row, elements) in rows.iter_mut().zip(&elements) {
            for (k, (item, &x)) in row.iter_mut().zip(elements).enumerate() {
                *item = P::item(x.key(descending), k);
                own &= P::is_own(x);
            }
        }
        // A window that begins so far before the last items as a run is long: nothing comes before the first ones.
        let mut least = [P::Item::default(); 2 * LONGEST];
        least[N..].fill(P::item(T::Key::LAST, N));
        for (row, run) in rows.iter_mut().zip(runs) {
            let least = &least[N - run.len.min(N)..][..N];
            row.iter_mut().zip(least).for_each(|(item, &least)| *item = (*item).max(least));
        }
        sort_arrays(&mut rows);
        let mut results = [[P::Elem::zeroed(); N]; LANES];
        for (result, &item) in results.as_flattened_mut().iter_mut().zip(rows.as_flattened()) {
            *result = P::result(item, descending);
        }
        let mut written = 0;
        for (run, (items, results)) in runs.iter().zip(rows.iter().zip(&results)) {
            let slots = &mut out[written..];
            let count = run.len.min(limit).min(slots.len());
            match slots.first_chunk_mut() {
                Some(slots) => *slots = *results,
                None => copy(&results[..count], &mut slots[..count]),
            }
            if !own {
                P::restore(run.elements(), &items[..run.len], &mut slots[..count], descending);
            }
            written += count;
        }
        written
    }
}

/// Apart, as the compiler would make one copy of unknown length of this and the one of a whole array.
#[cold]
#[inline(never)]
fn copy<T: Copy>(from: &[T], to: &mut [T]) {
    to.copy_from_slice(from);
}
