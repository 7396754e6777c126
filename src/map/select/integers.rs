//! Integers and ranges of them as selectors.

use super::Select;
use std::ops::{Range, RangeFrom, RangeInclusive, RangeTo, RangeToInclusive};

/// An integer that can be the step of a range: `i32`, `isize` or `usize`.
pub trait Step {
    /// The step; one beyond `isize` is the largest, which takes no second index either.
    fn step(self) -> isize;
}

macro_rules! from_integers {
    ($($integer:ty)*) => { $(
        impl Step for $integer {
            fn step(self) -> isize {
                clamp(self as i128)
            }
        }
        impl From<$integer> for Select {
            /// An integer beyond `isize` selects nothing valid and is reported as out of bounds.
            fn from(index: $integer) -> Self {
                Self::Index(clamp(index as i128))
            }
        }
        impl From<Range<$integer>> for Select {
            fn from(range: Range<$integer>) -> Self {
                reaching(range.start as i128, range.end as i128)
            }
        }
        impl From<RangeFrom<$integer>> for Select {
            fn from(range: RangeFrom<$integer>) -> Self {
                Self::Range { start: clamp(range.start as i128), stop: None, step: 1 }
            }
        }
        impl From<RangeInclusive<$integer>> for Select {
            fn from(range: RangeInclusive<$integer>) -> Self {
                if range.is_empty() {
                    return Self::range(0..0);
                }
                reaching(*range.start() as i128, *range.end() as i128 + 1)
            }
        }
        impl From<RangeToInclusive<$integer>> for Select {
            fn from(range: RangeToInclusive<$integer>) -> Self {
                Self::from(0..=range.end)
            }
        }
        impl From<RangeTo<$integer>> for Select {
            fn from(range: RangeTo<$integer>) -> Self {
                Self::range(0..clamp(range.end as i128))
            }
        }
    )* };
}
from_integers!(i32 isize usize);

/// The range of these ends. An end beyond `isize` is cut, but what is not empty still reaches what it starts with.
fn reaching(start: i128, end: i128) -> Select {
    let start = if start < end { start.min(isize::MAX as i128 - 1) } else { start };
    Select::range(clamp(start)..clamp(end))
}

fn clamp(index: i128) -> isize {
    index.clamp(isize::MIN as i128, isize::MAX as i128) as isize
}
