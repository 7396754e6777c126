//! Storage made of other storages: one after another, or at listed addresses.

mod joint;
mod stored;

use super::{Blocks, Reader, Stored, read_steps, stepped, translate};
use crate::error::{Error, StorageError};
use crate::memory::{list, try_with_capacity};
use joint::Joint;
use stored::entries_before;

/// Several storages one after another, sparse if all are, with one fill value that is a number, `bool` or `char`.
///
/// ```
/// use lensor::Reader;
/// use lensor::storage::Concat;
/// let all = Concat::new(vec![vec![1, 2], vec![], vec![3]])?;
/// assert_eq!((all.len(), all.read(2)), (3, 3));
/// # Ok::<(), lensor::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Concat<R> {
    parts: Vec<R>,
    /// One past the last element of every part in a row, as measured when this was made.
    ends: Vec<usize>,
    /// Rows of all parts: a row of each, then the next row of each.
    rows: usize,
    /// Their blocks as those of the whole.
    joint: Option<Box<Joint>>,
    /// Entries of all parts, if all are sparse, as counted when this was made.
    entries: Option<usize>,
    /// Those of the parts before each, and of all, if they have one fill value besides.
    before: Option<Vec<usize>>,
}

/// What one part gives to a row: addresses from `start` to `end`, the first of which is `first` in the part.
struct Stripe<'a, R> {
    part: &'a R,
    which: usize,
    row: usize,
    start: usize,
    end: usize,
    first: usize,
    /// Elements of the part in a row.
    width: usize,
}

impl<R: Reader> Concat<R> {
    /// The parts in this order. Parts of different types are boxed as [`BoxReader`](super::BoxReader).
    ///
    /// # Errors
    ///
    /// [`Error::ShapeOverflow`] if the lengths sum to more than `isize::MAX`, [`Error::OutOfMemory`].
    ///
    /// ```
    /// use lensor::Reader;
    /// use lensor::storage::{BoxReader, Concat, Constant};
    /// let measured = BoxReader::new(vec![1.5, 2.5]);
    /// let rest = BoxReader::new(Constant::new(3, f64::INFINITY)); // takes no memory
    /// let all = Concat::new(vec![measured, rest])?;
    /// assert_eq!((all.len(), all.read(1), all.read(4)), (5, 2.5, f64::INFINITY));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn new(parts: Vec<R>) -> Result<Self, Error> {
        Self::of_rows(parts, 1)
    }

    /// The first of `rows` rows of each part, in this order, then the second of each, and so on.
    pub(crate) fn of_rows(parts: Vec<R>, rows: usize) -> Result<Self, Error> {
        let rows = rows.max(1);
        let mut ends = try_with_capacity(parts.len())?;
        let mut end = 0_usize;
        for part in &parts {
            end = end
                .checked_add(part.len() / rows)
                .filter(|&end| end.checked_mul(rows).is_some_and(|len| len <= isize::MAX as usize))
                .ok_or_else(|| Error::ShapeOverflow {
                    shape: parts.iter().map(Reader::len).collect(),
                })?;
            ends.push(end);
        }
        let entries = parts.iter().map(Reader::entries_below);
        let entries = entries.reduce(|all, own| Some(all?.saturating_add(own?))).flatten();
        let before = entries_before(&parts)?;
        Ok(Self { parts, ends, rows, joint: None, entries, before })
    }

    /// Makes it storage of these extents, of which `axis` has that of one part after the other: in blocks, if all
    /// parts have blocks of one extent that meet where parts do.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub(crate) fn join_blocks(&mut self, extents: &[usize], axis: usize) -> Result<(), Error> {
        self.joint = Joint::new(&self.parts, extents, axis)?.map(Box::new);
        Ok(())
    }

    /// The parts.
    pub fn into_parts(self) -> Vec<R> {
        self.parts
    }

    /// The parts, none of which may come to another length.
    pub(crate) fn parts_mut(&mut self) -> &mut [R] {
        &mut self.parts
    }

    /// Elements of all parts in a row.
    fn width(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// An error of a part, at the address that its element has in the whole.
    fn error_in_whole(&self, part: usize, mut error: StorageError) -> StorageError {
        let end = self.ends.get(part).copied().unwrap_or(0);
        let start = part.checked_sub(1).map_or(0, |before| self.ends[before]);
        let width = (end - start).max(1);
        let (row, along) = (error.address / width, error.address % width);
        error.address = row.wrapping_mul(self.width()).wrapping_add(start + along);
        error
    }

    /// The part that holds `address`, in the row that does.
    fn stripe(&self, address: usize) -> Result<Stripe<'_, R>, StorageError> {
        let beyond = || StorageError::beyond(address, self.len());
        let width = self.width();
        let row =
            if address < width { 0 } else { address.checked_div(width).ok_or_else(beyond)? };
        let before = row * width;
        let which = self.ends.partition_point(|&end| end <= address - before);
        let start = if which == 0 { 0 } else { self.ends[which - 1] };
        match (self.parts.get(which), self.ends.get(which)) {
            (Some(part), Some(&end)) if row < self.rows => {
                let (width, start, end) = (end - start, before + start, before + end);
                Ok(Stripe { part, which, row, start, end, first: row * width, width })
            }
            _ => Err(beyond()),
        }
    }

    /// The part that holds `address`, found quickly if it is the next one in the row.
    fn next_stripe(
        &self,
        last: Option<Stripe<'_, R>>,
        address: usize,
    ) -> Result<Stripe<'_, R>, StorageError> {
        let next = last.filter(|last| last.end == address).and_then(|last| {
            let which = last.which + 1;
            let width = self.ends.get(which)? - self.ends[last.which];
            let (row, start, end) = (last.row, last.end, last.end + width);
            let first = row * width;
            Some(Stripe { part: self.parts.get(which)?, which, row, start, end, first, width })
        });
        match next.filter(|next| next.width > 0) {
            Some(next) => Ok(next),
            None => self.stripe(address),
        }
    }
}

impl<R: Reader> Reader for Concat<R> {
    type Elem = R::Elem;

    fn len(&self) -> usize {
        self.width() * self.rows
    }

    /// # Panics
    ///
    /// Panics if `address >= self.len()`.
    fn read(&self, address: usize) -> R::Elem {
        match self.stripe(address) {
            Ok(s) => s.part.read(s.first + (address - s.start)),
            Err(_) => panic!("address {address} is beyond the {} elements", self.len()),
        }
    }

    fn try_read(&self, address: usize) -> Result<R::Elem, StorageError> {
        let s = self.stripe(address)?;
        s.part.try_read(s.first + (address - s.start)).map_err(|e| self.error_in_whole(s.which, e))
    }

    fn as_slice(&self) -> Option<&[R::Elem]> {
        match &self.parts[..] {
            [only] => only.as_slice(),
            _ => None,
        }
    }

    /// What lies in one part is one run there, down all rows as well.
    fn read_run(&self, start: usize, step: isize, out: &mut [R::Elem]) -> Result<(), StorageError> {
        let width = self.width();
        let mut rest = out;
        let (mut address, mut last) = (start, None);
        while !rest.is_empty() {
            let s = self.next_stripe(last, address)?;
            let down =
                (step.unsigned_abs().checked_rem(width) == Some(0)).then(|| step / width as isize);
            let (steps_left, own_step) = match (down, step) {
                (Some(0), _) => (usize::MAX, 0),
                (Some(down), 1..) => {
                    ((self.len() - 1 - address) / step as usize, down * s.width as isize)
                }
                (Some(down), _) => (address / step.unsigned_abs(), down * s.width as isize),
                (None, 1..) => ((s.end - 1 - address) / step as usize, step),
                (None, _) => ((address - s.start) / step.unsigned_abs(), step),
            };
            let count = rest.len().min(steps_left.saturating_add(1));
            let (now, later) = rest.split_at_mut(count);
            let within = s.first + (address - s.start);
            read_steps(s.part, within, own_step, now)
                .map_err(|e| self.error_in_whole(s.which, e))?;
            address = stepped(address, step, count);
            (rest, last) = (later, Some(s));
        }
        Ok(())
    }

    /// Neighbours in the list that lie in one part are one list there.
    fn read_at(&self, addresses: &[usize], out: &mut [R::Elem]) -> Result<(), StorageError> {
        let mut within = translate(addresses.len().min(out.len()), |k| Ok(addresses[k]))?;
        let (mut addresses, mut rest) = (&mut within[..], out);
        while let Some(&mut first) = addresses.first_mut() {
            let s = self.stripe(first)?;
            let own = s.start..s.end;
            let count = addresses.iter().take_while(|address| own.contains(address)).count();
            let ((these, others), (now, later)) =
                (addresses.split_at_mut(count), rest.split_at_mut(count));
            these.iter_mut().for_each(|address| *address = *address - s.start + s.first);
            s.part.read_at(these, now).map_err(|e| self.error_in_whole(s.which, e))?;
            (addresses, rest) = (others, later);
        }
        Ok(())
    }

    fn stored(&self) -> Option<&dyn Stored<Elem = R::Elem>> {
        self.before.as_ref().map(|_| self as &dyn Stored<Elem = R::Elem>)
    }

    fn blocks(&self) -> Option<&dyn Blocks<Elem = R::Elem>> {
        self.joint.as_ref().map(|_| self as &dyn Blocks<Elem = R::Elem>)
    }

    fn entries_below(&self) -> Option<usize> {
        self.entries
    }

    fn box_depth(&self) -> usize {
        self.parts.iter().map(Reader::box_depth).max().unwrap_or(0)
    }
}

/// Addresses that are read and checked at once.
const CHECKED: usize = 1 << 14;

/// The elements of another storage at listed addresses.
///
/// ```
/// use lensor::Reader;
/// use lensor::storage::Indexed;
/// let picked = Indexed::new(vec!['a', 'b', 'c'], vec![2_usize, 0])?;
/// assert_eq!(picked.read(0), 'c');
/// # Ok::<(), lensor::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Indexed<S, I> {
    storage: S,
    addresses: I,
}

impl<S: Reader, I: Reader<Elem = usize>> Indexed<S, I> {
    /// `storage` at every address that `addresses` holds.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfSpan`] if one lies outside, [`Error::Storage`] if one cannot be read.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// use lensor::storage::Indexed;
    /// let prices = vec![2.5, 7.0, 1.0];
    /// let basket = Tensor::new([2, 2], Indexed::new(&prices, vec![1_usize, 2, 1, 0])?)?;
    /// assert_eq!(basket.sum(1).to_vec()?, [8.0, 9.5]);
    /// let error = Indexed::new(&prices, vec![0_usize, 3]).unwrap_err();
    /// assert_eq!(error, Error::OutOfSpan { span: 3..4, len: 3 });
    /// # Ok::<(), Error>(())
    /// ```
    pub fn new(storage: S, addresses: I) -> Result<Self, Error> {
        let (len, count) = (storage.len(), addresses.len());
        let check = |address: usize| match address < len {
            true => Ok(()),
            false => Err(Error::OutOfSpan { span: address..address.saturating_add(1), len }),
        };
        let mut run = list(std::iter::repeat_n(0, count.min(CHECKED)))?;
        for start in (0..count).step_by(CHECKED) {
            let part = &mut run[..CHECKED.min(count - start)];
            match addresses.read_run(start, 1, part) {
                Ok(()) => part.iter().try_for_each(|&address| check(address))?,
                // The first one that is none, or cannot be read, is told.
                Err(_) => (start..start + part.len())
                    .try_for_each(|k| addresses.try_read(k).map_err(Error::from).and_then(check))?,
            }
        }
        Ok(Self { storage, addresses })
    }
}

impl<S: Reader, I: Reader<Elem = usize>> Reader for Indexed<S, I> {
    type Elem = S::Elem;

    fn len(&self) -> usize {
        self.addresses.len()
    }

    fn read(&self, address: usize) -> S::Elem {
        self.storage.read(self.addresses.read(address))
    }

    fn try_read(&self, address: usize) -> Result<S::Elem, StorageError> {
        let inner = self.addresses.try_read(address)?;
        self.storage.try_read(inner).map_err(|e| e.at(address))
    }

    fn read_run(&self, start: usize, step: isize, out: &mut [S::Elem]) -> Result<(), StorageError> {
        let mut inner = translate(out.len(), |_| Ok(0))?;
        self.addresses.read_run(start, step, &mut inner)?;
        self.storage.read_at(&inner, out).map_err(|e| {
            let at = inner.iter().position(|&address| address == e.address).unwrap_or(0);
            e.at(stepped(start, step, at))
        })
    }

    fn read_at(&self, addresses: &[usize], out: &mut [S::Elem]) -> Result<(), StorageError> {
        let mut inner = translate(addresses.len(), |_| Ok(0))?;
        self.addresses.read_at(addresses, &mut inner)?;
        self.storage.read_at(&inner, out).map_err(|e| {
            let at = inner.iter().position(|&address| address == e.address).unwrap_or(0);
            e.at(addresses.get(at).copied().unwrap_or(0))
        })
    }

    fn box_depth(&self) -> usize {
        self.storage.box_depth().max(self.addresses.box_depth())
    }
}
