//! Joining states in pairs, in an order that depends on their number alone.
//!
//! A range of `n` leaves is split at the largest power of two below `n`. Both ways to walk this tree are
//! here: leaf by leaf on one thread, and in halves on several. They join the same states.

use crate::kernel;
use std::ops::Range;

/// Takes the states of leaves one after another and keeps one for every power of two.
#[derive(Debug)]
pub(crate) struct Pairwise<S> {
    /// States of complete subtrees and their heights, falling.
    stack: Vec<(u32, S)>,
}

impl<S> Default for Pairwise<S> {
    fn default() -> Self {
        Self { stack: Vec::new() }
    }
}

impl<S> Pairwise<S> {
    /// Adds the next leaf; `combine` joins a later state to an earlier one.
    #[inline]
    pub(crate) fn push(&mut self, mut state: S, combine: impl Fn(&mut S, S)) {
        let mut height = 0;
        while self.stack.last().is_some_and(|(top, _)| *top == height) {
            if let Some((_, mut earlier)) = self.stack.pop() {
                combine(&mut earlier, state);
                state = earlier;
                height += 1;
            }
        }
        self.stack.push((height, state));
    }

    /// The state of all leaves so far, which are forgotten; `None` if there were none.
    #[inline]
    pub(crate) fn finish(&mut self, combine: impl Fn(&mut S, S)) -> Option<S> {
        let (_, mut state) = self.stack.pop()?;
        while let Some((_, mut earlier)) = self.stack.pop() {
            combine(&mut earlier, state);
            state = earlier;
        }
        Some(state)
    }
}

/// The state of a range of leaves, in halves as long as they are larger than `grain`.
pub(crate) fn halves<S: Send, E: Send>(
    leaves: Range<usize>,
    grain: usize,
    fold: &(dyn Fn(Range<usize>) -> Result<S, E> + Sync),
    combine: &(dyn Fn(&mut S, S) + Sync),
) -> Result<S, E> {
    let count = leaves.len();
    if count <= grain.max(1) {
        return fold(leaves);
    }
    let middle = leaves.start + (1 << (count - 1).ilog2());
    let (low, high) = kernel::join(
        || halves(leaves.start..middle, grain, fold, combine),
        || halves(middle..leaves.end, grain, fold, combine),
    );
    let (mut state, later) = (low?, high?);
    combine(&mut state, later);
    Ok(state)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which leaves were joined with which, written down.
    fn serial(leaves: Range<usize>) -> String {
        let mut pairs = Pairwise::default();
        for leaf in leaves {
            pairs.push(leaf.to_string(), |a, b| *a = format!("({a} {b})"));
        }
        pairs.finish(|a, b| *a = format!("({a} {b})")).unwrap()
    }

    #[test]
    fn serial_and_parallel_join_the_same_states() {
        assert_eq!(serial(0..7), "(((0 1) (2 3)) ((4 5) 6))");
        for count in 1..200 {
            for grain in [0, 1, 3, 8, 50] {
                let tree = halves(
                    0..count,
                    grain,
                    &|leaves| Ok::<_, ()>(serial(leaves)),
                    &|a: &mut String, b| *a = format!("({a} {b})"),
                );
                assert_eq!(tree, Ok(serial(0..count)), "{count} {grain}");
            }
        }
    }
}
