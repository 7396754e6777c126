//! Where the rows of an axis begin and end.

use super::table::{Numbers, OffsetTable, Unsigned, with_slice};
use crate::error::{Error, Result};
use crate::kernel::spans::Number;
use crate::map::IntoNumbers;
use crate::memory::{list, push, try_with_capacity};
use std::fmt::{self, Debug, Formatter};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Items from one entry of the index of rows to the next.
const INDEX: usize = 2048;

/// Integers that offsets can be: `u32`, `u64`, `usize`, `i32` and `i64`.
pub trait OffsetInteger: Copy + sealed::Sealed {
    #[doc(hidden)]
    fn number(self) -> i128;
}

/// Integers of tables that others own: `u32`, `u64`, `i32` and `i64`.
pub trait SharedInteger: OffsetInteger {
    #[doc(hidden)]
    fn table<O: AsRef<[Self]> + Send + Sync + 'static>(owner: O) -> SharedTable;
}

/// A table that an owner lends.
#[derive(Debug)]
pub struct SharedTable(OffsetTable);

mod sealed {
    /// Kinds of integers are closed.
    #[allow(unnameable_types, reason = "this is what seals the trait")]
    pub trait Sealed {}
}

macro_rules! integers {
    ($($type:ty)*) => { $(
        impl sealed::Sealed for $type {}

        impl OffsetInteger for $type {
            fn number(self) -> i128 {
                self as i128
            }
        }
    )* };
}
integers!(u32 u64 usize i32 i64);

macro_rules! shared {
    ($($type:ty: $owner:ident => $Width:ident($lent:expr);)*) => { $(
        impl SharedInteger for $type {
            fn table<O: AsRef<[Self]> + Send + Sync + 'static>($owner: O) -> SharedTable {
                SharedTable(OffsetTable::$Width(Numbers::lent($lent)))
            }
        }
    )* };
}
shared! {
    u32: owner => U32(owner);
    i32: owner => U32(Unsigned(owner));
    u64: owner => U64(owner);
    i64: owner => U64(Unsigned(owner));
}

/// Where rows begin: `n + 1` numbers that do not fall, row `r` from number `r` to number `r + 1`.
///
/// The numbers are copied once, or stay with [their owner](Self::shared), and are shared by clones, views and threads. The
/// first may exceed 0, the last may lie before the end of the content. New tables are of `u32` while that holds the numbers.
///
/// ```
/// use lensor::ragged::Offsets;
/// let offsets = Offsets::new(vec![0_usize, 2, 2, 5])?;
/// assert_eq!((offsets.rows(), offsets.row(2)), (3, 2..5));
/// assert_eq!(Offsets::from_lengths([2, 0, 3])?, offsets);
/// # Ok::<(), lensor::Error>(())
/// ```
#[derive(Clone)]
pub struct Offsets {
    table: OffsetTable,
    /// The rows of the table that are meant.
    rows: Range<usize>,
    /// What is taken from every number.
    base: usize,
    /// The row of each item whose number is a multiple of [`INDEX`].
    index: Arc<OnceLock<Vec<usize>>>,
}

impl IntoNumbers for &Offsets {
    fn into_numbers(self) -> Result<Vec<usize>> {
        // Addresses do not tell which number is none.
        if let OffsetTable::Negative(all) = &self.table {
            ascending(&all[..], self.base, usize::MAX)?;
        }
        self.numbers()
    }
}

impl Offsets {
    /// Of a list of numbers: `u32`, `u64`, `usize`, or `i32` and `i64` as Arrow has them. That they do not fall is checked
    /// where rows are made of them.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub fn new<T: OffsetInteger>(offsets: impl AsRef<[T]>) -> Result<Self> {
        let offsets = offsets.as_ref();
        let table = if offsets.iter().all(|x| u32::try_from(x.number()).is_ok()) {
            OffsetTable::U32(list(offsets.iter().map(|x| x.number() as u32))?.into())
        } else if offsets.iter().all(|x| x.number() >= 0) {
            OffsetTable::U64(list(offsets.iter().map(|x| x.number() as u64))?.into())
        } else {
            OffsetTable::Negative(list(offsets.iter().map(|x| x.number() as i64))?.into())
        };
        Ok(Self::of(table))
    }

    /// Of a table that another owner lends, without a copy: an `Arc<[u32]>`, a buffer of Arrow, a file in memory. Signed
    /// numbers are those of Arrow; a table with a negative one is copied, for the error that tells it.
    ///
    /// The owner is asked here and never again: tables do not change.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    ///
    /// ```
    /// use lensor::ragged::Offsets;
    /// use std::sync::Arc;
    /// let owner: Arc<[i32]> = Arc::from([0, 3, 4]);
    /// let offsets = Offsets::shared(owner.clone())?;
    /// assert_eq!(offsets.row(1), 3..4);
    /// assert_eq!(Arc::strong_count(&owner), 2);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn shared<T: SharedInteger>(
        owner: impl AsRef<[T]> + Send + Sync + 'static,
    ) -> Result<Self> {
        let is_negative = owner.as_ref().iter().any(|x| x.number() < 0);
        if is_negative { Self::new(owner) } else { Ok(Self::of(T::table(owner).0)) }
    }

    fn of(table: OffsetTable) -> Self {
        let rows = 0..with_slice!(&table, offsets => offsets.len()).saturating_sub(1);
        Self { table, rows, base: 0, index: Arc::default() }
    }

    /// Of the lengths of rows.
    ///
    /// # Errors
    ///
    /// [`Error::ShapeOverflow`] if they sum to more than `isize::MAX`, [`Error::OutOfMemory`].
    pub fn from_lengths(lengths: impl IntoIterator<Item = usize>) -> Result<Self> {
        let lengths = lengths.into_iter();
        let count = lengths.size_hint().0.saturating_add(1);
        let (mut short, mut long, mut end) = (try_with_capacity(count)?, Vec::new(), 0_usize);
        short.push(0);
        for length in lengths {
            let before = end;
            end = end.checked_add(length).filter(|&end| isize::try_from(end).is_ok()).ok_or_else(
                || Error::ShapeOverflow { shape: vec![before.saturating_add(length)] },
            )?;
            match u32::try_from(end) {
                Ok(end) => push(&mut short, end)?,
                Err(_) => {
                    if long.is_empty() {
                        long = try_with_capacity(count)?;
                        long.extend(short.iter().map(|&end| u64::from(end)));
                    }
                    push(&mut long, end as u64)?;
                }
            }
        }
        Ok(Self::of(match long.is_empty() {
            true => OffsetTable::U32(short.into()),
            false => OffsetTable::U64(long.into()),
        }))
    }

    /// `rows` rows of `length` items each.
    pub(super) fn every(length: usize, rows: usize) -> Result<Self> {
        Self::from_lengths(std::iter::repeat_n(length, rows))
    }

    /// Holds the numbers against the rows that they are for, and the items that there are.
    pub(super) fn check(&self, rows: usize, extent: usize) -> Result<()> {
        with_slice!(&self.table, offsets => {
            if offsets.is_empty() || self.rows() != rows {
                return Err(Error::OffsetCount { rows, found: self.rows() + usize::from(!offsets.is_empty()) });
            }
            let meant = offsets.get(self.rows.start..self.rows.end + 1).unwrap_or(&[]);
            ascending(meant, self.base, extent)
        })
    }

    /// The offsets, where they are 32-bit numbers that are meant as they stand.
    ///
    /// ```
    /// use lensor::ragged::Offsets;
    /// assert_eq!(Offsets::from_lengths([2, 0, 1])?.as_u32(), Some(&[0, 2, 2, 3][..]));
    /// assert_eq!(Offsets::from_lengths([2, 1 << 40])?.as_u64(), Some(&[0, 2, 2 + (1 << 40)][..]));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn as_u32(&self) -> Option<&[u32]> {
        match &self.table {
            OffsetTable::U32(table) if self.base == 0 => table.get(self.rows.start..=self.rows.end),
            _ => None,
        }
    }

    /// As [`Self::as_u32`], of 64-bit numbers.
    pub fn as_u64(&self) -> Option<&[u64]> {
        match &self.table {
            OffsetTable::U64(table) if self.base == 0 => table.get(self.rows.start..=self.rows.end),
            _ => None,
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// The items of row `row`.
    ///
    /// # Panics
    ///
    /// Panics if `row >= self.rows()`.
    pub fn row(&self, row: usize) -> Range<usize> {
        assert!(row < self.rows(), "row {row} of {}", self.rows());
        self.number(row)..self.number(row + 1)
    }

    /// Number `k`, of those that are one more than the rows.
    #[inline]
    pub(super) fn number(&self, k: usize) -> usize {
        let at = self.rows.start.wrapping_add(k);
        let number = with_slice!(&self.table, all => all.get(at).map_or(0, |x| x.address()));
        number.saturating_sub(self.base)
    }

    /// Items of row `row`.
    pub(super) fn length(&self, row: usize) -> usize {
        self.number(row + 1).saturating_sub(self.number(row))
    }

    /// The first number.
    pub(super) fn first(&self) -> usize {
        self.number(0)
    }

    /// The last number.
    pub(super) fn last(&self) -> usize {
        self.number(self.rows())
    }

    /// All numbers.
    pub(super) fn numbers(&self) -> Result<Vec<usize>> {
        let (rows, base) = (self.rows.start..self.rows.end + 1, self.base);
        with_slice!(&self.table, all => {
            let all = all.get(rows).unwrap_or(&[]);
            list(all.iter().map(|x| x.address().saturating_sub(base)))
        })
    }

    /// Calls `visit` with the number and the length of each of some rows.
    pub(super) fn for_each(&self, rows: Range<usize>, mut visit: impl FnMut(usize, usize)) {
        let all = self.rows.start + rows.start..self.rows.start + rows.end + 1;
        with_slice!(&self.table, table => {
            let pairs = table.get(all).unwrap_or(&[]).windows(2);
            for (row, pair) in rows.zip(pairs) {
                visit(row, pair[1].address().saturating_sub(pair[0].address()));
            }
        });
    }

    /// The first row without items.
    pub(super) fn first_empty(&self) -> Option<usize> {
        let meant = self.rows.start..self.rows.end + 1;
        with_slice!(&self.table, all => all.get(meant)?.windows(2).position(|pair| pair[0] == pair[1]))
    }

    /// The same rows with the first number 0.
    pub(super) fn rebased(&self) -> Self {
        let first = self.first();
        // The index is of the same numbers.
        let index = if first == 0 { self.index.clone() } else { Arc::default() };
        Self { base: self.base + first, index, ..self.clone() }
    }

    /// Some of the rows.
    pub(super) fn part(&self, rows: Range<usize>) -> Self {
        if rows == (0..self.rows()) {
            return self.clone();
        }
        let rows = self.rows.start + rows.start..self.rows.start + rows.end;
        Self { rows, index: Arc::default(), ..self.clone() }
    }

    /// The table that is behind, the place of the first number in it, and what is taken from every number.
    pub(super) fn raw(&self) -> (&OffsetTable, usize, usize) {
        (&self.table, self.rows.start, self.base)
    }

    /// Whether all rows have the same lengths.
    pub(super) fn has_lengths_of(&self, other: &Self) -> bool {
        // Of the same table it is known without a look at the numbers.
        self.table.same(&other.table) && self.rows == other.rows
            || self.rows() == other.rows()
                && with_slice!(&self.table, a => {
                    let a = a.get(self.rows.start..self.rows.end + 1).unwrap_or(&[]);
                    with_slice!(&other.table, b => {
                        let b = b.get(other.rows.start..other.rows.end + 1).unwrap_or(&[]);
                        same_differences(a, b)
                    })
                })
    }

    /// The row that holds an item, which lies between the first number and the last.
    pub(super) fn row_of(&self, item: usize) -> usize {
        let index = self.index.get_or_init(|| self.indexed());
        let at = item / INDEX;
        let (low, high) = match (index.get(at), index.get(at + 1)) {
            (Some(&low), Some(&high)) => (low, high + 1),
            (Some(&low), None) => (low, self.rows()),
            _ => (0, self.rows()),
        };
        let (low, high) = (low.min(self.rows()), high.min(self.rows()));
        let (start, base) = (self.rows.start, self.base);
        with_slice!(&self.table, all => {
            // The last row that begins at or before the item, and is not empty.
            let ends = all.get(start + low + 1..start + high + 1).unwrap_or(&[]);
            low + ends.partition_point(|end| end.address().saturating_sub(base) <= item)
        })
    }

    /// The row of every [`INDEX`]th item; nothing if rows are fewer, or if there is no memory for it.
    fn indexed(&self) -> Vec<usize> {
        let count = self.last() / INDEX + 1;
        if self.rows() < count {
            return Vec::new();
        }
        let Ok(mut index) = try_with_capacity(count) else { return Vec::new() };
        let (mut next, base) = (0, self.base);
        with_slice!(&self.table, all => {
            let ends = all.get(self.rows.start + 1..self.rows.end + 1).unwrap_or(&[]);
            for (row, end) in ends.iter().enumerate() {
                let end = end.address().saturating_sub(base);
                while next < end && index.len() < count {
                    index.push(row);
                    next += INDEX;
                }
            }
        });
        index
    }
}

fn ascending<T: OffsetInteger>(offsets: &[T], base: usize, extent: usize) -> Result<()> {
    let mut least = 0;
    for (at, offset) in offsets.iter().enumerate() {
        let exact = offset.number() - base as i128;
        if exact < least as i128 || exact > extent as i128 {
            return Err(Error::InvalidOffsets { at, offset: exact, least, axis: 0, extent });
        }
        least = exact as usize;
    }
    Ok(())
}

fn same_differences<A: Number, B: Number>(a: &[A], b: &[B]) -> bool {
    let (Some(first), Some(other)) = (a.first(), b.first()) else { return a.len() == b.len() };
    let apart = first.address().wrapping_sub(other.address());
    // Chunks are compared without a branch an element.
    a.len() == b.len()
        && a.chunks(1024).zip(b.chunks(1024)).all(|(a, b)| {
            let differ = |(a, b): (&A, &B)| a.address().wrapping_sub(b.address()) ^ apart;
            a.iter().zip(b).map(differ).fold(0, |all, one| all | one) == 0
        })
}

/// Rows of the same lengths from the same first number.
impl PartialEq for Offsets {
    fn eq(&self, other: &Self) -> bool {
        self.first() == other.first() && self.has_lengths_of(other)
    }
}

impl Eq for Offsets {}

impl Debug for Offsets {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_list().entries((0..=self.rows()).map(|k| self.number(k))).finish()
    }
}
