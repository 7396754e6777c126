//! States of fill values, which entries are joined with.

use super::super::reducer::Reducer;
use super::cells::Cells;
use crate::error::Result;
use crate::memory::list;

/// Numbers of fill values whose states are remembered.
const KNOWN: usize = 256;

/// What is known of the entries of a cell; if there are none, the neutral state or any other.
#[derive(Clone)]
pub(super) struct Folded<S> {
    pub(super) count: usize,
    pub(super) state: S,
}

/// States of fill values, by their number.
pub(super) struct Fills<'r, T, R, S> {
    reducer: &'r R,
    fill: T,
    /// Elements of a cell.
    size: usize,
    /// Cells often lack equally many elements.
    known: Vec<Option<(usize, S)>>,
}

impl<'r, T: Copy, R: Reducer<T>> Fills<'r, T, R, R::State> {
    pub(super) fn new(cells: &Cells, reducer: &'r R, fill: T) -> Result<Self> {
        let known = list(std::iter::repeat_n(None, KNOWN))?;
        Ok(Self { reducer, fill, size: cells.size, known })
    }

    /// The state of so many fill values, one at least.
    #[inline(always)]
    pub(super) fn of(&mut self, count: usize) -> R::State {
        let known = &mut self.known[count % KNOWN];
        match known {
            Some((other, state)) if *other == count => state.clone(),
            _ => known.insert((count, self.reducer.repeat(self.fill, 0, count))).1.clone(),
        }
    }

    /// The state of a cell: its entries, and all fill values that it has besides.
    #[inline(always)]
    pub(super) fn join(&mut self, Folded { count, mut state }: Folded<R::State>) -> R::State {
        let missing = self.size.saturating_sub(count);
        if missing > 0 {
            self.reducer.combine(&mut state, self.of(missing));
        }
        state
    }
}
