//! Windows that reach beyond the axis.

use crate::error::{Error, Result};
use std::ops::Range;

/// What becomes of windows that reach beyond the axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum WindowEdge {
    /// There are none: `n` elements have `n - window + 1` windows, however they are aligned.
    #[default]
    Full,
    /// They are cut: the elements inside are all they have. Those of too few can
    /// be given a result of their own, see [`LazyRolling::at_least`](super::LazyRolling::at_least).
    Cut,
    /// The first and the last element repeat: `a a | a b c | c c`.
    Clamp,
    /// The axis repeats: `b c | a b c | a b`.
    Wrap,
    /// The axis is mirrored at its first and last element, which do not repeat: `c b | a b c | b a`.
    Reflect,
}

/// Windows along an axis.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    pub(super) axis: usize,
    pub(super) window: usize,
    /// How many elements of a window come before its own.
    pub(super) before: usize,
    pub(super) edge: WindowEdge,
}

impl Extent {
    /// How many windows an axis of `extent` elements has.
    pub(super) fn results(&self, extent: usize) -> Result<usize> {
        let fits = self.edge == WindowEdge::Cut || self.window <= extent;
        if self.window == 0 || !fits {
            return Err(Error::Window { axis: self.axis, window: self.window, extent });
        }
        Ok(if self.edge == WindowEdge::Full { extent - self.window + 1 } else { extent })
    }
}

/// Neighbours of an axis, one after another, or one of them several times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReadingOrder {
    Forward,
    Backward,
    Repeat(usize),
}

/// The elements of an axis that is extended by `before` elements, as runs of the axis itself.
pub(super) fn runs(
    edge: WindowEdge,
    extent: usize,
    before: usize,
    range: Range<usize>,
) -> [(Range<usize>, ReadingOrder); 3] {
    let end = before + extent;
    let left = range.start.min(before)..range.end.min(before);
    let inside = range.start.clamp(before, end)..range.end.clamp(before, end);
    let right = range.start.max(end)..range.end.max(end);
    let (first, last) = match edge {
        WindowEdge::Wrap => (
            (extent + left.start - before..extent + left.end - before, ReadingOrder::Forward),
            (right.start - end..right.end - end, ReadingOrder::Forward),
        ),
        WindowEdge::Reflect => (
            (before - left.end + 1..before - left.start + 1, ReadingOrder::Backward),
            (
                (end + extent - 1) - right.end..(end + extent - 1) - right.start,
                ReadingOrder::Backward,
            ),
        ),
        WindowEdge::Full | WindowEdge::Cut | WindowEdge::Clamp => (
            (0..1, ReadingOrder::Repeat(left.len())),
            (extent.saturating_sub(1)..extent, ReadingOrder::Repeat(right.len())),
        ),
    };
    [first, (inside.start - before..inside.end - before, ReadingOrder::Forward), last]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extended_axes_are_read_in_runs() {
        let read = |edge, range| -> String {
            let run = |(range, order): (Range<usize>, ReadingOrder)| -> String {
                let letters = "abc".get(range).unwrap_or_default();
                match order {
                    ReadingOrder::Forward => letters.to_owned(),
                    ReadingOrder::Backward => letters.chars().rev().collect(),
                    ReadingOrder::Repeat(count) => letters.repeat(count),
                }
            };
            runs(edge, 3, 2, range).map(run).concat()
        };
        for (edge, all) in [
            (WindowEdge::Clamp, "aaabccc"),
            (WindowEdge::Wrap, "bcabcab"),
            (WindowEdge::Reflect, "cbabcba"),
        ] {
            for start in 0..7 {
                for end in start..=7 {
                    assert_eq!(read(edge, start..end), all[start..end], "{edge:?} {start} {end}");
                }
            }
        }
    }
}
