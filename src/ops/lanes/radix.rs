//! Sorting of keys: several lanes at once by a network where these are short, in registers where the processor
//! can, by bytes where there are many, by comparison where there are few.

mod halves;

use super::network::{self, Network};
use crate::dtype::{Radix, Words};
use crate::error::Result;
use crate::kernel::{Kernel, SPARE, dispatch, sort_u32, sort_u64};
use crate::memory::make_room;
use std::fmt;
use std::ops::Range;
use std::sync::LazyLock;

/// Memory to sort with, kept from lane to lane.
#[derive(Debug, Default)]
pub(super) struct Spare<R> {
    items: Vec<R>,
    counts: Vec<[u32; 256]>,
    network: Network<R>,
}

/// Fewest items for which it is worth counting the values of a byte, for every byte that is sorted by.
const MANY: usize = 32;
/// As [`MANY`], where items could be sorted in registers: by part of their bytes, as by all it never is.
const MANY_OF_A_PART: usize = 256;

/// What sorts items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Algorithm {
    /// A network, for several lanes at once.
    Network,
    /// A quicksort in registers.
    Registers,
    /// Counting of bytes.
    Bytes,
    /// `sort_unstable` of the standard library.
    Comparisons,
}

impl Algorithm {
    /// For `lanes` lanes of `len` items each in the order of `bytes` of their bytes.
    #[inline(always)]
    pub(super) fn of<R: Radix>(len: usize, bytes: usize, lanes: usize) -> Self {
        let few_bytes = bytes < R::BYTES && len >= MANY_OF_A_PART * bytes;
        // One lane would take the network as long as all that it has room for.
        if len <= network::LONGEST && R::BYTES <= 8 && lanes > 1 {
            Self::Network
        } else if u32::try_from(len).is_err() {
            Self::Comparisons
        } else if !few_bytes && sorts_in_registers::<R>() {
            Self::Registers
        } else if len >= MANY * bytes {
            Self::Bytes
        } else {
            Self::Comparisons
        }
    }

    /// How many lanes of so many are sorted at once.
    #[inline(always)]
    pub(super) fn together<R: Radix>(self, lanes: usize) -> usize {
        if self == Self::Network { network::together::<R>(lanes) } else { 1 }
    }

    /// In how many parts a lane of `len` items is sorted in the order of so many bytes, `alone` by several threads. Two bytes
    /// are sorted by in fewer passes than their items are dealt in.
    #[inline(always)]
    pub(super) fn parts(self, len: usize, bytes: usize, alone: bool) -> usize {
        match self {
            Self::Registers | Self::Bytes if alone && bytes > 2 => halves::parts(len),
            _ => 1,
        }
    }

    /// Items that memory for lanes of `len` items has room for: the lanes that are sorted at once and, to sort in
    /// registers, [`SPARE`] more for each part.
    #[inline(always)]
    pub(super) fn room(self, len: usize, together: usize, parts: usize) -> usize {
        (together * len).saturating_add(parts * self.spare())
    }

    /// Items that come after those of a part.
    #[inline(always)]
    pub(super) fn spare(self) -> usize {
        if self == Self::Registers { SPARE } else { 0 }
    }

    /// Sorts lanes of `len` items whose order is that of some of their bytes: below these all others ascend
    /// already, and above them they are equal. Items that are equal in all bytes are the same.
    ///
    /// There are as many lanes as are sorted [together](Self::together), one after another, or as many [parts](Self::parts)
    /// of one. Items behind them are lost, for which there is [room](Self::room).
    #[inline(always)]
    pub(super) fn sort<R: Radix>(
        self,
        items: &mut Vec<R>,
        len: usize,
        [together, parts]: [usize; 2],
        spare: &mut Spare<R>,
        bytes: Range<usize>,
    ) -> Result<()> {
        match self {
            Self::Network => return spare.network.sort(items, len, together),
            Self::Comparisons => {
                items[..len].sort_unstable();
                return Ok(());
            }
            Self::Registers | Self::Bytes => {}
        }
        let own = &mut items[..len];
        let [rise, fall] = first_order(own);
        if rise && dispatch(Ordered { items: own, falling: false }) {
            return Ok(());
        }
        if fall && dispatch(Ordered { items: own, falling: true }) {
            own.reverse();
            return Ok(());
        }
        if let (Words::U8(bytes), COUNTED..) = (R::words(own), len) {
            count_bytes(bytes);
            return Ok(());
        }
        make_room(&mut spare.items, items.len())?;
        if parts > 1 {
            halves::sort(self, (items, &mut spare.items), len, parts, &bytes);
        } else if self.sort_part((items, &mut spare.items), len, &mut spare.counts, bytes) {
            std::mem::swap(items, &mut spare.items);
        }
        Ok(())
    }

    /// Sorts the first `len` items, in memory of which there is as much to spare; returns whether they are there afterwards.
    #[inline(always)]
    pub(super) fn sort_part<R: Radix>(
        self,
        (items, spare): (&mut [R], &mut [R]),
        len: usize,
        counts: &mut Vec<[u32; 256]>,
        bytes: Range<usize>,
    ) -> bool {
        self.in_registers(items, len, spare, &mut []).is_none()
            && sort_by_bytes(&mut items[..len], &mut spare[..len], counts, bytes)
    }

    /// Sorts the first `len` items in registers, or deals them to both sides of a pivot if there is one, as [`sort_u64`] does.
    #[inline(always)]
    fn in_registers<R: Radix>(
        self,
        items: &mut [R],
        len: usize,
        spare: &mut [R],
        pivot: &mut [R],
    ) -> Option<usize> {
        if self != Self::Registers {
            return None;
        }
        match (R::words(items), R::words(spare), R::words(pivot)) {
            (Words::U32(items), Words::U32(spare), Words::U32(pivot)) => {
                sort_u32(items, len, spare, pivot.first().copied())
            }
            (Words::U64(items), Words::U64(spare), Words::U64(pivot)) => {
                sort_u64(items, len, spare, pivot.first().copied())
            }
            _ => None,
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Network => "by a network that takes up to sixteen lanes at once",
            Self::Registers => "in registers of 512 bits",
            Self::Bytes => "byte by byte",
            Self::Comparisons => "by comparisons",
        })
    }
}

/// Whether this machine sorts words in registers: if so, it does with none of them.
static SORTS_WORDS: LazyLock<bool> =
    LazyLock::new(|| sort_u32(&mut [0; SPARE], 0, &mut [0; SPARE], None).is_some());

/// Whether this machine sorts such items in registers.
#[inline(always)]
fn sorts_in_registers<R: Radix>() -> bool {
    matches!(R::words(&mut []), Words::U32(_) | Words::U64(_)) && *SORTS_WORDS
}

/// Fewest items whose sorting takes so long that a look at the first ones does not count.
const LONG: usize = 256;
/// Items that are looked at first, without a branch for each: of items in any order hardly any more are.
const FIRST: usize = 8;

/// Whether the first items ascend, and whether they fall. Equal ones may stand either way.
#[inline(always)]
fn first_order<R: Radix>(items: &[R]) -> [bool; 2] {
    let Some(first) = items.first_chunk::<FIRST>().filter(|_| items.len() >= LONG) else {
        return [false; 2];
    };
    let (mut rise, mut fall) = (true, true);
    for k in 1..FIRST {
        rise &= first[k - 1] <= first[k];
        fall &= first[k - 1] >= first[k];
    }
    [rise, fall]
}

/// Tells whether items ascend, or fall.
struct Ordered<'i, R> {
    items: &'i [R],
    falling: bool,
}

impl<R: Radix> Kernel for Ordered<'_, R> {
    type Out = bool;

    #[inline(always)]
    fn run(self) -> bool {
        /// Neighbours that are compared without a look at the result.
        const STEP: usize = 128;
        let mut rest = self.items;
        while let Some(next) = rest.get(..=STEP) {
            if !neighbours(next, self.falling) {
                return false;
            }
            rest = &rest[STEP..];
        }
        neighbours(rest, self.falling)
    }
}

/// Whether each item is in order with the next.
#[inline(always)]
fn neighbours<R: Radix>(items: &[R], falling: bool) -> bool {
    let pairs = items.iter().zip(items.get(1..).unwrap_or_default());
    match falling {
        false => pairs.fold(true, |all, (a, b)| all & (a <= b)),
        true => pairs.fold(true, |all, (a, b)| all & (a >= b)),
    }
}

/// Bytes from which on it is quicker to write each value as often as it occurs than to move them.
const COUNTED: usize = 1024;

/// Sorts bytes by how often each value occurs. Neighbours are counted in tables of their own: a count of the same
/// value would wait for the one before.
fn count_bytes(bytes: &mut [u8]) {
    let mut counts = [[0_u32; 256]; 4];
    let (fours, rest) = bytes.as_chunks::<4>();
    for four in fours {
        for (counts, &byte) in counts.iter_mut().zip(four) {
            counts[usize::from(byte)] += 1;
        }
    }
    for &byte in rest {
        counts[0][usize::from(byte)] += 1;
    }
    let mut rest = bytes;
    for value in 0..=u8::MAX {
        let count = counts.iter().map(|counts| counts[usize::from(value)] as usize).sum();
        let (own, others) = rest.split_at_mut(count);
        own.fill(value);
        rest = others;
    }
}

/// LSD radix sort: items go to 256 buckets by one byte after another, from the lowest to the highest, in the
/// order in which they come. All bytes are counted in one pass, and one that all items share costs nothing more. Returns
/// whether the last byte brought them to `spare`.
#[inline(always)]
fn sort_by_bytes<R: Radix>(
    items: &mut [R],
    spare: &mut [R],
    counts: &mut Vec<[u32; 256]>,
    bytes: Range<usize>,
) -> bool {
    counts.clear();
    counts.resize(bytes.len(), [0; 256]);
    for item in &*items {
        for (counts, k) in counts.iter_mut().zip(bytes.clone()) {
            counts[item.byte(k)] += 1;
        }
    }
    let (mut from, mut to, mut away) = (items, spare, false);
    for (counts, k) in counts.iter_mut().zip(bytes) {
        if from.first().is_none_or(|item| counts[item.byte(k)] as usize == from.len()) {
            continue;
        }
        let mut start = 0;
        for count in counts.iter_mut() {
            start += std::mem::replace(count, start);
        }
        for &item in &*from {
            let next = &mut counts[item.byte(k)];
            to[*next as usize] = item;
            *next += 1;
        }
        std::mem::swap(&mut from, &mut to);
        away = !away;
    }
    away
}
