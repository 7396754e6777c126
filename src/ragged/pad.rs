//! Rows as a fixed axis, with a value where there is no item; and which items there are.

use super::Ragged;
use super::form::Extent;
use super::levels::Bounds;
use super::places::Lengths;
use super::rows::{ByRow, Repeats, Starts};
use crate::error::{Error, Result, StorageError};
use crate::expr::check_copies;
use crate::memory::list;
use crate::shape::Shape;
use crate::storage::{Reader, read_each};
use crate::tensor::Tensor;
use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

/// Rows as a fixed axis, see [`Ragged::padded`].
#[derive(Clone)]
pub struct PaddedRows<S: Reader> {
    rows: ByRow<S>,
    lens: Arc<Vec<usize>>,
    extent: usize,
    fill: S::Elem,
}

impl<S: Reader> Debug for PaddedRows<S> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "PaddedRows({} to {})", self.lens.len(), self.extent)
    }
}

/// Whether rows have an item, see [`Ragged::mask`].
#[derive(Debug, Clone)]
pub struct RowMask {
    lens: Arc<Vec<usize>>,
    extent: usize,
}

impl<S: Reader> Ragged<S> {
    /// The only var axis as a fixed one, of this extent or that of the longest row, with `fill` where a row has no item.
    /// Nothing is copied.
    ///
    /// # Errors
    ///
    /// [`Error::RowLength`] for a row that is longer: [`Self::clip`] it first. [`Error::Axis`] and
    /// [`Error::FixedAxis`] for another axis, [`Error::RaggedAxes`] if there is another var axis,
    /// [`Error::ShapeOverflow`] for an extent that makes too many elements, [`Error::WouldDensify`] for more than
    /// 2^33 elements of sparse content, which are read one by one, [`Error::OutOfMemory`].
    ///
    /// ```
    /// use lensor::ragged::Ragged;
    /// let r = Ragged::from_nested(vec![vec![1, 2, 3], vec![], vec![4]])?;
    /// assert_eq!(r.view().padded(1, None, 0)?.to_vec()?, [1, 2, 3, 0, 0, 0, 4, 0, 0]);
    /// assert_eq!(r.clip(1, ..2)?.padded(1, Some(2), 0)?.to_vec()?, [1, 2, 0, 0, 4, 0]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn padded(
        self,
        axis: usize,
        extent: Option<usize>,
        fill: S::Elem,
    ) -> Result<Tensor<PaddedRows<S>>> {
        let (lens, extent) = self.lengths_up_to(axis, extent)?;
        let kinds = self.kinds();
        let rows = self.by_rows(extent, &lens)?;
        let shape: Shape = kinds.iter().map(|kind| kind.fixed().unwrap_or(extent)).collect();
        Tensor::new(shape, PaddedRows { rows, lens: Arc::new(lens), extent, fill })
    }

    /// Which items the rows of the only var axis have, up to this axis and as long as the longest row.
    ///
    /// # Errors
    ///
    /// As [`Self::padded`].
    ///
    /// ```
    /// use lensor::ragged::Ragged;
    /// let r = Ragged::from_nested(vec![vec![1, 2], vec![3]])?;
    /// assert_eq!(r.mask(1)?.to_vec()?, [true, true, true, false]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn mask(&self, axis: usize) -> Result<Tensor<RowMask>> {
        let (lens, extent) = self.lengths_up_to(axis, None)?;
        let kinds = self.kinds();
        let front = kinds.iter().take(axis).map(|kind| kind.fixed().unwrap_or(extent));
        let shape: Shape = front.chain([extent]).collect();
        Tensor::new(shape, RowMask { lens: Arc::new(lens), extent })
    }

    /// Lengths of the rows of the only var axis, and the extent that they are brought to.
    fn lengths_up_to(&self, axis: usize, extent: Option<usize>) -> Result<(Vec<usize>, usize)> {
        let form = self.form()?;
        let lens = form.lengths(axis)?;
        let kinds = self.kinds();
        let other = (0..kinds.len()).find(|&k| k != axis && kinds[k] == Extent::Var);
        if let Some(crossed) = other {
            return Err(Error::RaggedAxes { axis, crossed });
        }
        let longest = extent.unwrap_or_else(|| lens.iter().copied().max().unwrap_or(0));
        match lens.iter().position(|&items| items > longest) {
            Some(row) => Err(Error::RowLength {
                row: form.path(axis, row),
                axis,
                items: lens[row],
                expected: longest,
            }),
            None => Ok((lens, longest)),
        }
    }
}

impl<S: Reader> PaddedRows<S> {
    /// Calls `visit` with parts of a run: items of rows, or none.
    fn parts(
        &self,
        start: usize,
        count: usize,
        mut visit: impl FnMut(bool, usize, usize) -> Result<(), StorageError>,
    ) -> Result<(), StorageError> {
        let (width, row) = (self.rows.width, self.rows.width * self.extent);
        if start.checked_add(count).is_none_or(|end| end > self.len()) {
            return Err(StorageError::beyond(start, self.len()));
        }
        let (mut at, end) = (start, start + count);
        while at < end {
            let (number, inside) = (at / row, at % row);
            let existing = self.lens.get(number).copied().unwrap_or(0) * width;
            let limit = if inside < existing { existing } else { row };
            let now = (limit - inside).min(end - at);
            visit(inside < existing, at, now)?;
            at += now;
        }
        Ok(())
    }
}

impl<S: Reader> Reader for PaddedRows<S> {
    type Elem = S::Elem;

    fn len(&self) -> usize {
        self.lens.len() * self.extent * self.rows.width
    }

    /// # Panics
    ///
    /// Panics where [`Reader::try_read`] fails.
    fn read(&self, address: usize) -> S::Elem {
        self.try_read(address).unwrap_or_else(|error| panic!("{error}"))
    }

    fn try_read(&self, address: usize) -> Result<S::Elem, StorageError> {
        let mut element = self.fill;
        self.parts(address, 1, |exists, at, _| {
            if exists {
                element = self.rows.element(at).map_err(StorageError::here)?;
            }
            Ok(())
        })?;
        Ok(element)
    }

    fn read_run(&self, start: usize, step: isize, out: &mut [S::Elem]) -> Result<(), StorageError> {
        if step != 1 {
            return read_each(self, start, step, out);
        }
        let extent = self.extent.max(1);
        let (head, first) = ((extent - start % extent) % extent, start.div_ceil(extent));
        let rows = out.len().saturating_sub(head) / extent;
        let mut done = 0;
        if let (1.., Some(lens)) = (rows, self.lens.get(first..first.saturating_add(rows))) {
            let whole = head..head + rows * extent;
            let padding = (self.extent, self.fill);
            if self.rows.pad_rows(first, lens, padding, &mut out[whole.clone()]).is_some() {
                self.read_parts(start, &mut out[..head])?;
                done = whole.end;
            }
        }
        self.read_parts(start + done, &mut out[done..])
    }

    fn box_depth(&self) -> usize {
        self.rows.box_depth()
    }
}

impl<S: Reader> PaddedRows<S> {
    /// Reads a run, row by row.
    fn read_parts(&self, start: usize, out: &mut [S::Elem]) -> Result<(), StorageError> {
        let mut rest = out;
        let count = rest.len();
        self.parts(start, count, |exists, at, count| {
            let (now, later) = std::mem::take(&mut rest).split_at_mut(count);
            rest = later;
            if exists {
                self.rows.run(at, now).map_err(StorageError::here)
            } else {
                now.fill(self.fill);
                Ok(())
            }
        })
    }
}

impl Reader for RowMask {
    type Elem = bool;

    fn len(&self) -> usize {
        self.lens.len() * self.extent
    }

    fn read(&self, address: usize) -> bool {
        address % self.extent < self.lens[address / self.extent]
    }
}

impl<S: Reader> Ragged<S> {
    /// The rows of the only var axis, each as if it had `extent` items.
    fn by_rows(self, extent: usize, lens: &[usize]) -> Result<ByRow<S>> {
        let (shown, rows) = (self.settled(0)?, lens.len());
        let Some(level) = shown.levels.first() else { return Err(Error::FixedAxis { axis: 0 }) };
        let (starts, step) = match &level.bounds {
            Bounds::Offsets(offsets) => (list((0..rows).map(|row| offsets.number(row)))?, 1),
            bounds => (list((0..rows).map(|row| bounds.row(row).start))?, bounds.step()),
        };
        let (lengths, starts) = (Lengths::Fixed(rows, extent), Starts::List(Arc::new(starts)));
        let rows = ByRow::new(shown.content, lengths, starts, Repeats::None, step)?;
        // Rows read one by one are not known to be sparse.
        let items: usize = lens.iter().sum();
        check_copies(&rows.content.view(), items.saturating_mul(rows.width))?;
        Ok(rows)
    }
}
