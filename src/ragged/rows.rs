//! Operands of an evaluation as storage: their items in the order of the items of the result.

use super::places::Lengths;
use super::table::with_slice;
use crate::error::{Result, StorageError};
use crate::kernel::spans::{self, Beyond, Number, Spans};
use crate::memory::try_with_capacity;
use crate::shape::Shape;
use crate::storage::Reader;
use crate::tensor::Tensor;
use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

/// Items that are read at once where storage is not memory.
pub(super) const PART: usize = 1 << 12;

/// Items of an operand as an evaluation reads them: where they lie, or row by row. What fails below is
/// around its own error, which an evaluation reports.
#[derive(Clone)]
pub struct Rows<S>(pub(super) Kind<S>);

#[derive(Clone)]
pub(super) enum Kind<S> {
    /// One after another in the storage.
    Direct(S),
    ByRow(Box<ByRow<S>>),
}

/// Items that are copied or repeated row by row.
#[derive(Clone)]
pub(super) struct ByRow<S> {
    /// `[items, fixed axes..]`.
    pub(super) content: Tensor<S>,
    /// Address of the first element of the content, if it lies in row-major order.
    pub(super) plain: Option<usize>,
    /// Elements of an item.
    pub(super) width: usize,
    pub(super) lengths: Lengths,
    pub(super) starts: Starts,
    pub(super) repeats: Repeats,
    pub(super) step: isize,
}

/// The first item of each row.
#[derive(Clone)]
pub(super) enum Starts {
    /// The first, and the distance of rows.
    By(usize, usize),
    List(Arc<Vec<usize>>),
}

/// Which rows are one item, repeated.
#[derive(Clone)]
pub(super) enum Repeats {
    All,
    None,
    Rows(Arc<Vec<bool>>),
}

impl<S> Debug for Rows<S> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.0 {
            Kind::Direct(_) => "Rows(where they lie)",
            Kind::ByRow(_) => "Rows(by row)",
        })
    }
}

/// A row, an item, counted in all rows, and an element of that.
type Place = (usize, usize, usize);

/// Items of a row on average from which on rows are read one by one.
const LONG: usize = 16;

impl<S: Reader> ByRow<S> {
    /// Of content `[items, fixed axes..]`.
    pub(super) fn new(
        content: Tensor<S>,
        lengths: Lengths,
        starts: Starts,
        repeats: Repeats,
        step: isize,
    ) -> Result<Self> {
        let width = Shape::from(&content.shape().extents()[1..]).count()?;
        let own = content.address_map();
        let plain = own.consecutive().map(|run| run.start);
        Ok(Self { plain, width, lengths, starts, repeats, step, content })
    }

    /// Copies rows of `extent` elements, of which each has as many as `lens` says, and a value after them; `None` if the
    /// content is not memory.
    pub(super) fn pad_rows(
        &self,
        first: usize,
        lens: &[usize],
        padding: (usize, S::Elem),
        out: &mut [S::Elem],
    ) -> Option<()> {
        let slice = self.plain_slice()?;
        if self.width != 1 || self.step != 1 {
            return None;
        }
        spans::pad(slice, |row| self.start(first + row), lens, padding, out).ok()
    }

    /// The elements of the content, if they lie in memory in row-major order.
    fn plain_slice(&self) -> Option<&[S::Elem]> {
        self.content.storage().as_slice()?.get(self.plain?..)?.get(..self.content.len())
    }

    pub(super) fn box_depth(&self) -> usize {
        self.content.storage().box_depth()
    }

    fn start(&self, row: usize) -> usize {
        match &self.starts {
            Starts::By(first, by) => first.wrapping_add(by.wrapping_mul(row)),
            Starts::List(starts) => starts.get(row).copied().unwrap_or(usize::MAX),
        }
    }

    fn is_repeated(&self, row: usize) -> bool {
        match &self.repeats {
            Repeats::All => true,
            Repeats::None => false,
            Repeats::Rows(rows) => rows.get(row).copied().unwrap_or(true),
        }
    }

    /// The item of the content in the place of item `k` of a row.
    fn item(&self, row: usize, k: usize) -> usize {
        let start = self.start(row);
        if self.is_repeated(row) {
            return start;
        }
        start.wrapping_add_signed(self.step.wrapping_mul(k as isize))
    }

    /// Where an element of the result stands.
    fn place(&self, address: usize) -> Place {
        let (item, rest) = (address / self.width.max(1), address % self.width.max(1));
        (self.lengths.row_of(item), item, rest)
    }

    /// The position among the elements of the content of an element of the result.
    pub(super) fn position(&self, address: usize) -> usize {
        let (row, item, rest) = self.place(address);
        let k = item.wrapping_sub(self.lengths.row(row).start);
        self.item(row, k).wrapping_mul(self.width).wrapping_add(rest)
    }

    fn checked(&self, position: usize) -> Result<usize, StorageError> {
        if position < self.content.len() {
            return Ok(position);
        }
        Err(StorageError::beyond(position, self.content.len()))
    }

    pub(super) fn element(&self, address: usize) -> Result<S::Elem, StorageError> {
        let position = self.checked(self.position(address))?;
        let at = self.content.address_map().address_at(position);
        match self.content.storage().as_slice() {
            Some(slice) => {
                slice.get(at).copied().ok_or_else(|| StorageError::beyond(at, slice.len()))
            }
            None => {
                let read = self.content.storage().try_read(at);
                read.map_err(|error| error.around(address))
            }
        }
    }

    /// Elements of the content with these positions; `address` tells that of each here, for errors.
    pub(super) fn gather(
        &self,
        positions: &[usize],
        address: impl Fn(usize) -> usize,
        out: &mut [S::Elem],
    ) -> Result<(), StorageError> {
        positions.iter().try_for_each(|&position| self.checked(position).map(drop))?;
        let lacking = |error| StorageError::new(0, error);
        let mut addresses = try_with_capacity(positions.len()).map_err(lacking)?;
        self.content.address_map().addresses_at(positions, &mut addresses);
        if let Some(slice) = self.content.storage().as_slice() {
            for (slot, &at) in out.iter_mut().zip(&addresses) {
                *slot = *slice.get(at).ok_or_else(|| StorageError::beyond(at, slice.len()))?;
            }
            return Ok(());
        }
        self.content.storage().read_at(&addresses, out).map_err(|error| {
            let at = addresses.iter().position(|&at| at == error.address);
            error.around(address(at.unwrap_or(0)))
        })
    }

    /// Elements from `address` on, one after another.
    pub(super) fn run(&self, address: usize, out: &mut [S::Elem]) -> Result<(), StorageError> {
        if out.is_empty() {
            return Ok(());
        }
        self.checked_end(address, out.len())?;
        let place = self.place(address);
        if let Some(slice) = self.plain_slice() {
            return self.copy(slice, place, out);
        }
        if let Some(first) = self.plain
            && self.step == 1
            && (self.width == 1 || matches!(self.repeats, Repeats::None))
            && self.lengths.len() >= self.lengths.rows().saturating_mul(LONG)
        {
            return self.each(place, out.len(), |from, count, at| {
                self.read_plain(first, from, &mut out[at..at + count])
                    .map_err(|(error, k)| error.around(address + at + k))
            });
        }
        let mut positions: Vec<usize> =
            try_with_capacity(out.len().min(PART)).map_err(|error| StorageError::new(0, error))?;
        let mut done = 0;
        for part in out.chunks_mut(PART) {
            positions.clear();
            self.each(self.place(address + done), part.len(), |from, count, _| {
                match from {
                    From::One(position) => positions.extend(std::iter::repeat_n(position, count)),
                    From::Run(position) => {
                        positions.extend((0..count).map(|k| position.wrapping_add(k)));
                    }
                }
                Ok(())
            })?;
            self.gather(&positions, |k| address + done + k, part)?;
            done += part.len();
        }
        Ok(())
    }

    /// Copies elements from a place on, of content that lies in memory in row-major order.
    fn copy(
        &self,
        slice: &[S::Elem],
        place: Place,
        out: &mut [S::Elem],
    ) -> Result<(), StorageError> {
        let (row, item, _) = place;
        if let (1, Lengths::Var(offsets)) = (self.width, &self.lengths) {
            let k = item.wrapping_sub(offsets.number(row));
            let (table, first, _) = offsets.raw();
            let done = with_slice!(table, all => {
                let numbers = all.get(first + row..=first + offsets.rows()).unwrap_or(&[]);
                self.spans(slice, numbers, (row, k), out)
            });
            if let Some(done) = done {
                return done;
            }
        }
        self.each(place, out.len(), |from, count, at| {
            let (From::One(position) | From::Run(position)) = from;
            let (end, out) = (position.saturating_add(count), &mut out[at..at + count]);
            let missing = || StorageError::beyond(position, slice.len());
            match from {
                From::One(_) => out.fill(*slice.get(position).ok_or_else(missing)?),
                From::Run(_) => out.copy_from_slice(slice.get(position..end).ok_or_else(missing)?),
            }
            Ok(())
        })
    }

    /// Elements of content that lies in row-major order from an address on; an error with the place among them.
    fn read_plain(
        &self,
        first: usize,
        from: From,
        out: &mut [S::Elem],
    ) -> Result<(), (StorageError, usize)> {
        let (storage, count) = (self.content.storage(), out.len());
        let checked = |position: usize, count: usize| {
            let end = position.checked_add(count).filter(|&end| end <= self.content.len());
            end.map(|_| first + position)
                .ok_or_else(|| (StorageError::beyond(position, self.content.len()), 0))
        };
        match from {
            From::One(position) => {
                let x = storage.try_read(checked(position, 1)?).map_err(|error| (error, 0))?;
                out.fill(x);
                Ok(())
            }
            From::Run(position) => {
                let start = checked(position, count)?;
                storage.read_run(start, 1, out).map_err(|error| {
                    let k = error.address.wrapping_sub(start);
                    (error, if k < count { k } else { 0 })
                })
            }
        }
    }

    pub(super) fn checked_end(&self, address: usize, count: usize) -> Result<(), StorageError> {
        let len = self.lengths.len().saturating_mul(self.width);
        match address.checked_add(count).filter(|&end| end <= len) {
            Some(_) => Ok(()),
            None => Err(StorageError::beyond(address.max(len), len)),
        }
    }

    /// Calls `visit` with where elements come from, how many, and how many came before, for `count` elements from a place
    /// on.
    fn each(
        &self,
        (mut row, mut item, mut rest): Place,
        count: usize,
        mut visit: impl FnMut(From, usize, usize) -> Result<(), StorageError>,
    ) -> Result<(), StorageError> {
        let mut done = 0;
        while done < count {
            if row >= self.lengths.rows() {
                return Err(StorageError::beyond(item, self.lengths.len()));
            }
            let range = self.lengths.row(row);
            let inside = range.end.saturating_sub(item);
            if inside == 0 {
                row += 1;
                continue;
            }
            let elements = (inside * self.width - rest).min(count - done);
            let k = item.wrapping_sub(range.start);
            let repeated = self.is_repeated(row);
            let first = self.item(row, k).wrapping_mul(self.width).wrapping_add(rest);
            if self.width == 1 && repeated {
                visit(From::One(first), elements, done)?;
            } else if !repeated && self.step == 1 {
                visit(From::Run(first), elements, done)?;
            } else {
                // Item by item.
                let (mut left, mut k, mut rest) = (elements, k, rest);
                while left > 0 {
                    let now = (self.width - rest).min(left);
                    let first = self.item(row, k).wrapping_mul(self.width).wrapping_add(rest);
                    visit(From::Run(first), now, done + elements - left)?;
                    (left, k, rest) = (left - now, k + 1, 0);
                }
            }
            done += elements;
            let passed = rest + elements;
            (item, rest) = (item + passed / self.width, passed % self.width);
        }
        Ok(())
    }

    /// Rows of memory, of items of one element: from item `k` of a row on.
    fn spans<N: Number>(
        &self,
        slice: &[S::Elem],
        numbers: &[N],
        (row, k): (usize, usize),
        out: &mut [S::Elem],
    ) -> Option<Result<(), StorageError>> {
        let spans = Spans { numbers, skipped: k };
        let done = match (&self.starts, &self.repeats) {
            (Starts::By(first, by), Repeats::All) => {
                spans.repeat(slice, |k| first.wrapping_add(by.wrapping_mul(row + k)), out)
            }
            (Starts::List(_), Repeats::All) => spans.repeat(slice, |k| self.start(row + k), out),
            (Starts::List(_), Repeats::None) if self.step == 1 => {
                spans.copy(slice, |k| self.start(row + k), out)
            }
            (Starts::List(_), Repeats::None) if self.step == -1 => {
                spans.copy_back(slice, |k| self.start(row + k), out)
            }
            _ => return None,
        };
        Some(done.map_err(|Beyond(at)| StorageError::beyond(at, slice.len())))
    }
}

/// Where elements come from.
enum From {
    One(usize),
    Run(usize),
}
