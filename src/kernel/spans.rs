//! Rows of any lengths from one slice to another, which are written one after another.
//!
//! Rows are mostly short: a few elements are stored whatever the length, and those that are too many are overwritten by
//! the next row. A loop for each row would end in an unpredictable branch.

use super::{Kernel, dispatch, prefetch_span};

/// Elements that are stored at once where one is repeated, and where they are copied.
const REPEATED: usize = 8;
const COPIED: usize = 16;

/// Bytes of the largest element of which several are stored at once.
const SMALL: usize = 16;

/// Rows from the one that is copied to the one whose first elements are prefetched.
const AHEAD: usize = 16;

/// A number of a table of offsets, as an address.
pub(crate) trait Number: Copy + Send + Sync {
    fn address(self) -> usize;
}

/// Neighbouring rows of a table of offsets, and what is left out of the first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spans<'n, N> {
    /// One more than rows.
    pub(crate) numbers: &'n [N],
    pub(crate) skipped: usize,
}

/// The address at which a slice ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Beyond(pub(crate) usize);

impl<N: Number> Spans<'_, N> {
    /// Fills all of `out` with one element for each row, as often as it is long.
    pub(crate) fn repeat<T: Copy>(
        self,
        from: &[T],
        start: impl Fn(usize) -> usize,
        out: &mut [T],
    ) -> Result<(), Beyond> {
        dispatch(Repeated { spans: self, from, start, out })
    }

    /// Copies rows to all of `out`: those that begin where `start` says.
    pub(crate) fn copy<T: Copy>(
        self,
        from: &[T],
        start: impl Fn(usize) -> usize,
        out: &mut [T],
    ) -> Result<(), Beyond> {
        dispatch(Copied { spans: self, from, start, out })
    }

    /// Copies rows to all of `out` from the last element to the first: those that end with the one that `start` says.
    pub(crate) fn copy_back<T: Copy>(
        self,
        from: &[T],
        start: impl Fn(usize) -> usize,
        out: &mut [T],
    ) -> Result<(), Beyond> {
        dispatch(CopiedBack { spans: self, from, start, out })
    }

    /// Calls `row` with the number, the length and the elements left out of each row, until as many elements as there
    /// are to write are done; it returns how many it wrote.
    #[inline(always)]
    fn for_each(
        self,
        all: usize,
        mut row: impl FnMut(usize, usize, usize, usize) -> Result<usize, Beyond>,
    ) -> Result<(), Beyond> {
        let (mut skipped, mut done) = (self.skipped, 0);
        if all == 0 {
            return Ok(());
        }
        for (k, pair) in self.numbers.windows(2).enumerate() {
            let length = pair[1].address().saturating_sub(pair[0].address());
            done += row(k, length.saturating_sub(skipped), skipped, done)?;
            if done >= all {
                return Ok(());
            }
            skipped = 0;
        }
        Err(Beyond(usize::MAX))
    }
}

// The loops are types: as closures, padding rows took twice as long.

struct Repeated<'s, T, N, S> {
    spans: Spans<'s, N>,
    from: &'s [T],
    start: S,
    out: &'s mut [T],
}

impl<T: Copy, N: Number, S: Fn(usize) -> usize> Kernel for Repeated<'_, T, N, S> {
    type Out = Result<(), Beyond>;

    #[inline(always)]
    fn run(self) -> Self::Out {
        let Self { spans, from, start, out } = self;
        spans.for_each(out.len(), |row, count, _, done| {
            let (at, rest) = (start(row), &mut out[done..]);
            if size_of::<T>() <= SMALL
                && let (Some(chunk), Some(&x)) = (rest.first_chunk_mut::<REPEATED>(), from.get(at))
            {
                *chunk = [x; REPEATED];
                if count > REPEATED {
                    let count = count.min(rest.len());
                    rest[REPEATED..count].fill(x);
                }
                return Ok(count);
            }
            let count = count.min(rest.len());
            if count > 0 {
                rest[..count].fill(*from.get(at).ok_or(Beyond(at))?);
            }
            Ok(count)
        })
    }
}

struct Copied<'s, T, N, S> {
    spans: Spans<'s, N>,
    from: &'s [T],
    start: S,
    out: &'s mut [T],
}

impl<T: Copy, N: Number, S: Fn(usize) -> usize> Kernel for Copied<'_, T, N, S> {
    type Out = Result<(), Beyond>;

    #[inline(always)]
    fn run(self) -> Self::Out {
        let Self { spans, from, start, out } = self;
        spans.for_each(out.len(), |row, count, skipped, done| {
            if size_of::<T>() <= SMALL {
                prefetch_span(from, start(row + AHEAD), COPIED);
            }
            let (at, rest) = (start(row).wrapping_add(skipped), &mut out[done..]);
            let run = from.get(at..).unwrap_or(&[]);
            let count = count.min(rest.len());
            if size_of::<T>() <= SMALL
                && let (Some(chunk), Some(first)) =
                    (rest.first_chunk_mut::<COPIED>(), run.first_chunk::<COPIED>())
            {
                *chunk = *first;
                if count > COPIED {
                    let run = run.get(COPIED..count).ok_or(Beyond(at))?;
                    rest[COPIED..count].copy_from_slice(run);
                }
            } else {
                rest[..count].copy_from_slice(run.get(..count).ok_or(Beyond(at))?);
            }
            Ok(count)
        })
    }
}

struct CopiedBack<'s, T, N, S> {
    spans: Spans<'s, N>,
    from: &'s [T],
    start: S,
    out: &'s mut [T],
}

impl<T: Copy, N: Number, S: Fn(usize) -> usize> Kernel for CopiedBack<'_, T, N, S> {
    type Out = Result<(), Beyond>;

    #[inline(always)]
    fn run(self) -> Self::Out {
        let Self { spans, from, start, out } = self;
        spans.for_each(out.len(), |row, count, skipped, done| {
            let (last, rest) = (start(row).wrapping_sub(skipped), &mut out[done..]);
            let count = count.min(rest.len());
            if count == 0 {
                return Ok(0);
            }
            let run = from.get(..last.wrapping_add(1)).ok_or(Beyond(last))?;
            if size_of::<T>() <= SMALL
                && let (Some(chunk), Some(end)) =
                    (rest.first_chunk_mut::<COPIED>(), run.last_chunk::<COPIED>())
            {
                *chunk = *end;
                chunk.reverse();
            } else {
                let own = run.iter().rev().zip(&mut rest[..count.min(COPIED)]);
                own.for_each(|(&x, slot)| *slot = x);
            }
            if count > run.len() {
                return Err(Beyond(usize::MAX));
            }
            if count > COPIED {
                let own = run[run.len() - count..run.len() - COPIED].iter().rev();
                rest[COPIED..count].iter_mut().zip(own).for_each(|(slot, &x)| *slot = x);
            }
            Ok(count)
        })
    }
}

/// Copies rows to rows of `extent` elements each, and a value to what is left of them.
///
/// # Panics
///
/// Panics if there are fewer rows in `out` than lengths, or a row is longer than `extent`.
pub(crate) fn pad<T: Copy>(
    from: &[T],
    start: impl Fn(usize) -> usize,
    lens: &[usize],
    (extent, value): (usize, T),
    out: &mut [T],
) -> Result<(), Beyond> {
    dispatch(Padded { from, start, lens, extent, value, out })
}

struct Padded<'s, T, S> {
    from: &'s [T],
    start: S,
    lens: &'s [usize],
    extent: usize,
    value: T,
    out: &'s mut [T],
}

impl<T: Copy, S: Fn(usize) -> usize> Kernel for Padded<'_, T, S> {
    type Out = Result<(), Beyond>;

    #[inline(always)]
    fn run(self) -> Self::Out {
        let Self { from, start, lens, extent, value, out } = self;
        for (row, &len) in lens.iter().enumerate() {
            let (at, out) = (start(row), &mut out[row * extent..][..extent]);
            let run = from.get(at..).unwrap_or(&[]);
            if let Some(wide) = run.get(..extent) {
                for (k, (slot, &x)) in out.iter_mut().zip(wide).enumerate() {
                    *slot = if k < len { x } else { value };
                }
                continue;
            }
            let (own, rest) = out.split_at_mut(len);
            own.copy_from_slice(run.get(..len).ok_or(Beyond(at))?);
            rest.fill(value);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Number for u8 {
        fn address(self) -> usize {
            self.into()
        }
    }

    /// Lengths 0, 1, 9, 3, 0, 8, 20, 2.
    const NUMBERS: [u8; 9] = [0, 0, 1, 10, 13, 13, 21, 41, 43];

    /// Reads every part of the rows from elements that are made of numbers.
    fn check<T: Copy + PartialEq>(element: fn(usize) -> T) {
        let from: Vec<T> = (100..200).map(element).collect();
        let start = |row: usize| (row * 37) % 60;
        for begin in 0..43 {
            let row = NUMBERS.partition_point(|&end| usize::from(end) <= begin) - 1;
            let spans =
                Spans { numbers: &NUMBERS[row..], skipped: begin - usize::from(NUMBERS[row]) };
            for end in begin..=43 {
                let place = |item: usize| {
                    let row = NUMBERS.partition_point(|&end| usize::from(end) <= item) - 1;
                    (row, item - usize::from(NUMBERS[row]))
                };
                let mut out = vec![element(0); end - begin];
                spans.repeat(&from, |k| start(row + k), &mut out).unwrap();
                let all = begin..end;
                assert!(out.iter().zip(all.clone()).all(|(x, k)| *x == from[start(place(k).0)]));
                spans.copy(&from, |k| start(row + k), &mut out).unwrap();
                let expected = |k| from[start(place(k).0) + place(k).1];
                assert!(out.iter().zip(all.clone()).all(|(x, k)| *x == expected(k)));
                let last = |row: usize| 30 + (row * 37) % 60;
                spans.copy_back(&from, |k| last(row + k), &mut out).unwrap();
                let expected = |k| from[last(place(k).0) - place(k).1];
                assert!(out.iter().zip(all).all(|(x, k)| *x == expected(k)));
            }
        }
    }

    #[test]
    fn every_part_of_every_row() {
        check(|k| k);
        check(|k| k as u8);
        check(|k| [k; 100]);
    }

    #[test]
    fn what_does_not_lie_there_is_told() {
        let spans = Spans { numbers: &[0_u8, 3], skipped: 0 };
        let mut out = [0; 3];
        assert_eq!(spans.copy(&[1, 2], |_| 0, &mut out), Err(Beyond(0)));
        assert_eq!(spans.copy_back(&[1, 2], |_| 1, &mut out), Err(Beyond(usize::MAX)));
        assert_eq!(spans.copy_back(&[1, 2], |_| 2, &mut out), Err(Beyond(2)));
        assert_eq!(spans.repeat(&[1, 2], |_| 2, &mut out), Err(Beyond(2)));
        assert_eq!(spans.repeat(&[1, 2], |_| 1, &mut [0; 4]), Err(Beyond(usize::MAX)));
    }

    #[test]
    fn rows_are_padded() {
        let (lens, starts, mut out) = ([2, 0, 4, 1], [0, 3, 1, 4], [0; 16]);
        pad(&[1, 2, 3, 4, 5], |row| starts[row], &lens, (4, 9), &mut out).unwrap();
        assert_eq!(out, [1, 2, 9, 9, 9, 9, 9, 9, 2, 3, 4, 5, 5, 9, 9, 9]);
        assert_eq!(pad(&[1, 2], |_| 1, &[1, 2], (4, 9), &mut out), Err(Beyond(1)));
    }
}
