//! Joining states in pairs, in an order that depends on their number alone.
//!
//! A range of `n` leaves is split at the largest power of two below `n`. Several threads take parts of it, which begin
//! and end anywhere; the states that are joined are the same.

use crate::kernel;
use std::ops::Range;

/// Takes the states of leaves one after another and keeps those of the largest subtrees that are complete.
#[derive(Debug)]
pub(crate) struct Pairwise<S> {
    /// Number of the next leaf.
    next: usize,
    /// States of complete subtrees, side by side, and their heights.
    stack: Vec<(u32, S)>,
}

impl<S> Default for Pairwise<S> {
    fn default() -> Self {
        Self::starting_at(0)
    }
}

impl<S> Pairwise<S> {
    /// For the leaves from this number on.
    pub(crate) fn starting_at(leaf: usize) -> Self {
        Self { next: leaf, stack: Vec::new() }
    }

    /// Adds the next leaf; `combine` joins a later state to an earlier one.
    #[inline]
    pub(crate) fn push(&mut self, state: S, combine: impl Fn(&mut S, S)) {
        self.push_subtree(0, state, combine);
    }

    /// Adds the leaves of a complete subtree, which follow.
    #[inline]
    fn push_subtree(&mut self, mut height: u32, mut state: S, combine: impl Fn(&mut S, S)) {
        let number = self.next >> height;
        self.next += 1 << height;
        // Of each pair of subtrees, the later one has an odd number.
        let mut later = number.trailing_ones();
        while later > 0 && self.stack.last().is_some_and(|(top, _)| *top == height) {
            if let Some((_, mut earlier)) = self.stack.pop() {
                combine(&mut earlier, state);
                state = earlier;
                height += 1;
                later -= 1;
            }
        }
        self.stack.push((height, state));
    }

    /// Adds the leaves that another one took, which follow.
    fn append(&mut self, more: Self, combine: impl Fn(&mut S, S)) {
        for (height, state) in more.stack {
            self.push_subtree(height, state, &combine);
        }
    }

    /// The state of all leaves so far, which are forgotten; `None` if there were none.
    #[inline]
    pub(crate) fn finish(&mut self, combine: impl Fn(&mut S, S)) -> Option<S> {
        self.next = 0;
        let (_, mut state) = self.stack.pop()?;
        while let Some((_, mut earlier)) = self.stack.pop() {
            combine(&mut earlier, state);
            state = earlier;
        }
        Some(state)
    }
}

/// How leaves, or results, are shared out: where parts may begin, and how large they are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parts {
    /// A leaf that may begin a part, and how many leaves after it the next one is.
    pub(crate) first: usize,
    pub(crate) every: usize,
    /// Most leaves of a part, unless there is no place to part them.
    pub(crate) grain: usize,
}

impl Parts {
    /// Parts of at most so many that may begin anywhere.
    pub(crate) fn of(grain: usize) -> Self {
        Self { first: 0, every: 1, grain }
    }

    /// The same if there are as many parts as threads, otherwise parts that may begin anywhere: one for each thread, if
    /// all have to come to the same blocks.
    pub(super) fn for_threads(self, leaves: usize) -> Self {
        let threads = kernel::threads();
        match leaves / self.every.max(1) < threads {
            true if self.every > 1 => Self::of(self.grain.max(leaves.div_ceil(threads))),
            true => Self::of(self.grain),
            false => self,
        }
    }

    /// Where to part these leaves, near their middle.
    pub(super) fn middle(&self, leaves: &Range<usize>) -> Option<usize> {
        let (every, first) = (self.every.max(1), self.first % self.every.max(1));
        let middle = leaves.start + leaves.len() / 2;
        let below = middle.checked_sub(first).map_or(first, |past| past / every * every + first);
        let place = if below > leaves.start { below } else { below + every };
        (leaves.len() > self.grain.max(1) && leaves.contains(&place)).then_some(place)
    }
}

/// The states of a range of leaves, in parts.
pub(crate) fn in_parts<S: Send, E: Send>(
    leaves: Range<usize>,
    parts: Parts,
    fold: &(dyn Fn(Range<usize>) -> Result<Pairwise<S>, E> + Sync),
    combine: &(dyn Fn(&mut S, S) + Sync),
) -> Result<Pairwise<S>, E> {
    joined_halves(leaves, parts, fold, &|states: &mut Pairwise<S>, later| {
        states.append(later, combine);
        Ok(())
    })
}

/// What `run` makes of a range in parts, which `join` puts together.
#[inline(never)]
pub(super) fn joined_halves<A: Send, E: Send>(
    range: Range<usize>,
    parts: Parts,
    run: &(dyn Fn(Range<usize>) -> Result<A, E> + Sync),
    join: &(dyn Fn(&mut A, A) -> Result<(), E> + Sync),
) -> Result<A, E> {
    let Some(middle) = parts.middle(&range) else { return run(range) };
    let (low, high) = kernel::join(
        || joined_halves(range.start..middle, parts, run, join),
        || joined_halves(middle..range.end, parts, run, join),
    );
    let (mut all, later) = (low?, high?);
    join(&mut all, later)?;
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn join(a: &mut String, b: String) {
        *a = format!("({a} {b})");
    }

    /// Which leaves were joined with which, written down.
    fn pairs(leaves: Range<usize>) -> Pairwise<String> {
        let mut pairs = Pairwise::starting_at(leaves.start);
        leaves.for_each(|leaf| pairs.push(leaf.to_string(), join));
        pairs
    }

    /// Halves at powers of two, by the definition.
    fn halved(leaves: Range<usize>) -> String {
        match leaves.len() {
            1 => leaves.start.to_string(),
            count => {
                let middle = leaves.start + (1 << (count - 1).ilog2());
                format!("({} {})", halved(leaves.start..middle), halved(middle..leaves.end))
            }
        }
    }

    #[test]
    fn serial_and_parallel_join_the_same_states() {
        assert_eq!(pairs(0..7).finish(join).unwrap(), "(((0 1) (2 3)) ((4 5) 6))");
        for count in 1..200 {
            let expected = halved(0..count);
            assert_eq!(pairs(0..count).finish(join), Some(expected.clone()));
            for (grain, first, every) in [
                (0, 0, 1),
                (1, 0, 1),
                (3, 0, 5),
                (8, 3, 7),
                (50, 0, 1),
                (9, 100, 16),
                (4, 6, 0),
                (9, 60, 64),
            ] {
                let parts = Parts { first, every, grain };
                let states = in_parts(0..count, parts, &|part| Ok::<_, ()>(pairs(part)), &join);
                assert_eq!(states.unwrap().finish(join), Some(expected.clone()), "{count} {grain}");
            }
        }
    }

    #[test]
    fn parts_begin_where_they_may() {
        let begun = std::sync::Mutex::new(Vec::new());
        let parts = Parts { first: 3, every: 10, grain: 12 };
        let fold = |part: Range<usize>| {
            begun.lock().unwrap().push(part.start);
            Ok::<_, ()>(pairs(part))
        };
        in_parts(0..47, parts, &fold, &join).unwrap();
        let mut begun = begun.into_inner().unwrap();
        begun.sort_unstable();
        assert_eq!(begun, [0, 3, 13, 23, 33, 43]);
    }
}
