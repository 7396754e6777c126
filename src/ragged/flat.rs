//! Operands as tensors of the items of a result.

use super::Ragged;
use super::form::Axis;
use super::joint::{ALL, Joint};
use super::levels::{Items, Resolved, RowItems, pick};
use super::offsets::Offsets;
use super::places::{Lengths, Places, places_at};
use super::rows::{ByRow, Kind, Repeats, Rows, Starts};
use crate::error::StorageError;
use crate::error::{Error, Result};
use crate::expr::check_copies;
use crate::map::AddressMap;
use crate::memory::{list, try_with_capacity};
use crate::shape::Shape;
use crate::storage::{Blocks, Reader, Stored, read_each};
use crate::tensor::{IntoTensor, Tensor};
use std::sync::Arc;

/// Items of sparse content that are listed where rows are not packed: 128 MiB. More are read row by row.
const LISTED: usize = 1 << 24;

impl<S> Ragged<S> {
    /// The items that rows show, in their order, as a view without the rows: `[items, fixed axes..]`, or all axes if no axis
    /// is var. [`Self::content`] may have others.
    ///
    /// # Errors
    ///
    /// As for [`Self::form`], and [`Error::OutOfSpan`] if the table of a foreign owner changed.
    ///
    /// ```
    /// use lensor::ragged::Ragged;
    /// let r = Ragged::from_nested(vec![vec![1, 2], vec![], vec![3, 4]])?.flip(1)?.select((1..,))?;
    /// assert_eq!(r.content().to_vec()?, [1, 2, 3, 4]);
    /// assert_eq!(r.into_items()?.to_vec()?, [4, 3]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn into_items(self) -> Result<Tensor<S>> {
        let Some(items) = self.resolved()?.form.rows().map(Offsets::last) else {
            return Ok(self.content);
        };
        let at = self.resolved()?.items()?;
        pick(self.content, at, items)
    }
}

impl<S: Reader> Ragged<S> {
    /// The items in the order of those of a joint form, the fixed axes of the tail after them.
    pub(super) fn flat(self, to: &Joint<'_>) -> Result<Tensor<Rows<S>>> {
        if to.is_empty() {
            // However many rows there are.
            let (_, storage) = self.content.into_parts();
            return Ok(direct(Tensor::from_parts(AddressMap::of_shape(&to.shape())?, storage)));
        }
        if to.tail == ALL {
            return Ok(direct(self.content));
        }
        let (axis, resolved) = (to.cut() - 1, self.resolved()?.clone());
        let (own, form) = (&resolved.form, &to.form);
        // Places of the rows of the last axis that is cut.
        let (places, items) = places_at(own, form, axis)?;
        let lengths = Lengths::of(&form.axes[axis], items);
        match own.axis_at(axis, form.rank()) {
            Some(Axis::Var(rows)) if own.rank() - own.depth() == to.tail => {
                last_rows(self.content, &resolved, rows, &places, lengths)
            }
            last => counted_items(self.packed_items(to.tail)?, last, places, lengths),
        }
    }

    /// The items in row-major order as one axis, and `tail` fixed axes after it, of extent 1 where there are not as
    /// many.
    pub(super) fn packed_items(self, tail: usize) -> Result<Tensor<S>> {
        let own = self.kinds().len();
        let content = self.into_items()?;
        let shape = content.shape();
        let kept = tail.min(own).min(shape.rank());
        let (front, back) = shape.extents().split_at(shape.rank() - kept);
        let items = Shape::from(front).count()?;
        let ones = std::iter::repeat_n(1, tail - kept);
        let to: Shape = std::iter::once(items).chain(ones).chain(back.iter().copied()).collect();
        if to == shape {
            return Ok(content);
        }
        content.rewrite(&mut |map| map.reshape(to.clone()))
    }
}

/// Rows of the last var axis, which need not be packed and have the lengths `own`.
fn last_rows<S: Reader>(
    content: Tensor<S>,
    resolved: &Resolved,
    own: &Offsets,
    places: &Places,
    lengths: Lengths,
) -> Result<Tensor<Rows<S>>> {
    let same = match (places, &lengths) {
        (Places::Same, Lengths::Var(rows)) => rows.has_lengths_of(own),
        _ => false,
    };
    match &resolved.rows {
        RowItems::From(first) if same => {
            return Ok(direct(pick(content, Items::From(*first), lengths.len())?));
        }
        // A list is part of the map, and what is sparse stays so.
        RowItems::Starts { .. }
            if same && lengths.len() <= LISTED && content.storage().stored().is_some() =>
        {
            return Ok(direct(pick(content, resolved.items()?, lengths.len())?));
        }
        RowItems::Starts { starts, step } if same => {
            return by_row(content, lengths, Starts::List(starts.clone()), Repeats::None, *step);
        }
        _ => {}
    }
    let first = resolved.row(own, 0);
    if let (Places::First, Lengths::Fixed(_, length)) = (places, &lengths) {
        let repeats = if first.len == *length { Repeats::None } else { Repeats::All };
        return by_row(content, lengths, Starts::By(first.start, 0), repeats, first.step);
    }
    let rows = lengths.rows();
    let (mut starts, mut repeated) = (try_with_capacity(rows)?, try_with_capacity(rows)?);
    lengths.for_each(|row, length| {
        let run = resolved.row(own, places.at(row));
        starts.push(run.start);
        repeated.push(run.len != length);
    });
    let repeats = match repeated.contains(&true) {
        true => Repeats::Rows(Arc::new(repeated)),
        false => Repeats::None,
    };
    by_row(content, lengths, Starts::List(Arc::new(starts)), repeats, first.step)
}

/// Items of a fixed axis `last`, or of rows that are not the last: packed, and counted in their order.
fn counted_items<S: Reader>(
    content: Tensor<S>,
    last: Option<&Axis>,
    places: Places,
    lengths: Lengths,
) -> Result<Tensor<Rows<S>>> {
    let (extent, repeats) = match (last, &lengths, &places) {
        (Some(Axis::Fixed(own)), Lengths::Fixed(_, extent), Places::Same) if own == extent => {
            return Ok(direct(content));
        }
        (Some(Axis::Fixed(own)), Lengths::Fixed(_, extent), _) if own == extent => {
            (*own, Repeats::None)
        }
        // Rows of a destination that were held against the extent.
        (Some(&Axis::Fixed(own)), Lengths::Var(_), _) if own != 1 => (own, Repeats::None),
        _ => (1, Repeats::All),
    };
    let starts = match places {
        Places::Same => Starts::By(0, extent),
        Places::First => Starts::By(0, 0),
        Places::Each(count) => {
            let starts = (0..lengths.rows()).map(|row| row / count * extent);
            Starts::List(Arc::new(list(starts)?))
        }
        Places::List(mut places) => {
            places.iter_mut().for_each(|place| *place *= extent);
            Starts::List(Arc::new(places))
        }
    };
    by_row(content, lengths, starts, repeats, 1)
}

/// Every item of an axis as often in a row as it is counted: what [`Tensor::repeat`] gives, as storage that is read by
/// these rows. A list of indexes is never made.
///
/// # Errors
///
/// [`Error::Axis`], [`Error::ListLength`] unless there is one count for each item, [`Error::ShapeOverflow`] if the
/// result has too many elements, [`Error::WouldDensify`] for more than 2^33 elements of a sparse tensor, which are
/// read one by one, [`Error::OutOfMemory`].
///
/// ```
/// use lensor::Tensor;
/// use lensor::ragged::repeat;
/// let t = Tensor::from_nested([[1, 2], [3, 4]])?;
/// assert_eq!(repeat(&t, 0, [2, 1])?.to_vec()?, [1, 2, 1, 2, 3, 4]);
/// assert_eq!(repeat(&t, 1, vec![0, 3])?.to_vec()?, [2, 2, 2, 4, 4, 4]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn repeat<X: IntoTensor>(
    t: X,
    axis: usize,
    counts: impl AsRef<[usize]>,
) -> Result<Tensor<Rows<X::Storage>>> {
    let (content, counts) = (t.into_tensor(), counts.as_ref());
    let shape = content.shape();
    let extent = shape.extent(axis)?;
    if counts.len() != extent {
        let (what, found) = ("counts", counts.len());
        return Err(Error::ListLength { what, axis, extent, found });
    }
    let lengths = Lengths::Var(Offsets::from_lengths(counts.iter().copied())?);
    let content = content.rewrite(&mut |map| map.move_axis(axis, 0))?;
    let rows = by_row(content, lengths, Starts::By(0, 1), Repeats::All, 1)?;
    rows.rewrite(&mut |map| map.move_axis(0, axis))
}

pub(super) fn direct<S: Reader>(content: Tensor<S>) -> Tensor<Rows<S>> {
    let (map, storage) = content.into_parts();
    Tensor::from_parts(map, Rows(Kind::Direct(storage)))
}

pub(super) fn by_row<S: Reader>(
    content: Tensor<S>,
    lengths: Lengths,
    starts: Starts,
    repeats: Repeats,
    step: isize,
) -> Result<Tensor<Rows<S>>> {
    let shape = content.shape();
    let extents = std::iter::once(lengths.len()).chain(shape.iter().skip(1).copied());
    let map = AddressMap::of_shape(&extents.collect())?;
    // Rows read one by one are not known to be sparse.
    check_copies(&content.view(), map.count())?;
    let rows = ByRow::new(content, lengths, starts, repeats, step)?;
    Ok(Tensor::from_parts(map, Rows(Kind::ByRow(Box::new(rows)))))
}

impl<S: Reader> Reader for Rows<S> {
    type Elem = S::Elem;

    fn len(&self) -> usize {
        match &self.0 {
            Kind::Direct(storage) => storage.len(),
            Kind::ByRow(rows) => rows.lengths.len().saturating_mul(rows.width),
        }
    }

    /// # Panics
    ///
    /// Panics where [`Reader::try_read`] fails.
    fn read(&self, address: usize) -> S::Elem {
        self.try_read(address).unwrap_or_else(|error| panic!("{error}"))
    }

    fn try_read(&self, address: usize) -> Result<S::Elem, StorageError> {
        match &self.0 {
            Kind::Direct(storage) => storage.try_read(address),
            Kind::ByRow(rows) => {
                rows.checked_end(address, 1)?;
                rows.element(address)
            }
        }
    }

    fn as_slice(&self) -> Option<&[S::Elem]> {
        self.direct()?.as_slice()
    }

    fn read_run(&self, start: usize, step: isize, out: &mut [S::Elem]) -> Result<(), StorageError> {
        match &self.0 {
            Kind::Direct(storage) => storage.read_run(start, step, out),
            Kind::ByRow(rows) if step == 1 => rows.run(start, out),
            // The run the other way.
            Kind::ByRow(rows) if step == -1 && start.checked_add(1) >= Some(out.len()) => {
                rows.run(start + 1 - out.len(), out)?;
                out.reverse();
                Ok(())
            }
            Kind::ByRow(_) => read_each(self, start, step, out),
        }
    }

    fn read_at(&self, addresses: &[usize], out: &mut [S::Elem]) -> Result<(), StorageError> {
        match &self.0 {
            Kind::Direct(storage) => storage.read_at(addresses, out),
            Kind::ByRow(rows) => {
                let lacking = |error| StorageError::new(0, error);
                let mut positions = try_with_capacity(addresses.len()).map_err(lacking)?;
                for &address in addresses {
                    rows.checked_end(address, 1)?;
                    positions.push(rows.position(address));
                }
                rows.gather(&positions, |k| addresses[k], out)
            }
        }
    }

    fn stored(&self) -> Option<&dyn Stored<Elem = S::Elem>> {
        self.direct()?.stored()
    }

    fn blocks(&self) -> Option<&dyn Blocks<Elem = S::Elem>> {
        self.direct()?.blocks()
    }

    fn entries_below(&self) -> Option<usize> {
        self.direct()?.entries_below()
    }

    fn box_depth(&self) -> usize {
        match &self.0 {
            Kind::Direct(storage) => storage.box_depth(),
            Kind::ByRow(rows) => rows.box_depth(),
        }
    }
}

impl<S> Rows<S> {
    /// The storage of an operand that is read where it lies.
    fn direct(&self) -> Option<&S> {
        match &self.0 {
            Kind::Direct(storage) => Some(storage),
            Kind::ByRow(_) => None,
        }
    }

    /// How an operand is read, in words.
    pub(super) fn words(&self) -> &'static str {
        match &self.0 {
            Kind::Direct(_) => "where it lies",
            Kind::ByRow(rows) => match rows.repeats {
                Repeats::All => "repeated",
                _ => "copied by row",
            },
        }
    }
}
