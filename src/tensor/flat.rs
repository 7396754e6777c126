//! The elements of a view as storage.

mod lanes;
mod part;

use super::Tensor;
use crate::error::StorageError;
use crate::map::{AddressMap, Pattern};
use crate::memory::try_with_capacity;
use crate::storage::{
    Blocks, Reader, Section, Stored, check_address, read_steps, stepped, translate,
};
use part::Part;
pub(super) use part::align;

/// The elements of a tensor in row-major order, as storage for another one.
///
/// ```
/// use lensor::{Reader, Tensor};
/// let t = Tensor::from_nested([[1, 2], [3, 4]])?.transpose([1, 0])?;
/// assert_eq!(t.flat().read(1), 3);
/// # Ok::<(), lensor::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Flat<S> {
    /// On as few axes as strides allow.
    map: AddressMap,
    storage: S,
    /// Its blocks, if it is a view along those of storage.
    part: Option<Box<Part>>,
}

/// Rows shorter than this are read by a list of addresses.
const ROW: usize = 8;

impl<S: Reader> Tensor<S> {
    /// The elements of this view in row-major order, as storage. It is sparse if the storage is and the view is a part of it
    /// in order; more than 2^33 elements of any other view of a sparse tensor are refused as those of sparse operands, see
    /// [`Lazy::densely`](crate::Lazy::densely).
    ///
    /// ```
    /// use lensor::prelude::*;
    /// use lensor::storage::Indexed;
    /// let t = Tensor::from_nested([[1, 2, 3], [4, 5, 6]])?;
    /// let by_columns = t.transpose([1, 0])?.flat(); // 1, 4, 2, 5, 3, 6, where they lie
    /// assert_eq!(Tensor::new([2], Indexed::new(by_columns, vec![1_usize, 4])?)?.to_vec()?, [4, 3]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn flat(self) -> Flat<S> {
        let (map, storage) = self.into_parts();
        let part = Part::new(&map, &storage).map(Box::new);
        Flat { map: map.coalesced(), storage, part }
    }
}

impl<S: Reader> Flat<S> {
    /// Reads positions `step` after one another from `start` on: a run of the storage for what lies along the last axis
    /// without a gap.
    fn read_rows(
        &self,
        start: usize,
        step: isize,
        out: &mut [S::Elem],
    ) -> Result<(), StorageError> {
        let (mut position, mut rest) = (start, out);
        while !rest.is_empty() {
            let (address, along, left) = self.map.top().run_at(position);
            let left = if step == 1 { left } else { rest.len() };
            let (now, later) = rest.split_at_mut(left.min(rest.len()));
            let stride = along.wrapping_mul(step);
            let read = match stride {
                0 => self.storage.try_read(address).map(|element| now.fill(element)),
                _ => read_steps(&self.storage, address, stride, now),
            };
            read.map_err(|error| {
                let distance = error.address.wrapping_sub(address) as isize;
                let steps = distance.checked_div(stride).unwrap_or(0);
                error.at(position.wrapping_add_signed(steps.wrapping_mul(step)))
            })?;
            position = stepped(position, step, now.len());
            rest = later;
        }
        Ok(())
    }

    /// The entries of a part of sparse storage in order.
    fn section(&self) -> Option<Section<'_, S::Elem>> {
        let stored = self.storage.stored().filter(|_| self.map.is_contiguous())?;
        Some(Section { stored, range: self.map.span() })
    }

    /// Whether positions so far apart are read in runs of the storage.
    fn has_runs(&self, step: isize) -> bool {
        let top = self.map.top();
        let Some(last) = top.rank().checked_sub(1).filter(|_| self.map.rest().is_empty()) else {
            return false;
        };
        let extent = top.plain_axes()[last].extent;
        let pattern = top.pattern(last);
        if last == 0 && *pattern == Pattern::Linear {
            return true;
        }
        // Blocks that are not held for the next row are read by a list, which goes block by block.
        let held = self.storage.blocks().is_none_or(|blocks| {
            let across = blocks.extents().iter().zip(blocks.block()).next_back();
            across.is_none_or(|(extent, block)| extent.div_ceil((*block).max(1)) <= blocks.budget())
        });
        held && step == 1 && pattern.mean_run(extent) >= ROW
    }

    /// Reads a block: the element at `position(k)` to slot `k`.
    fn gather(
        &self,
        position: impl Fn(usize) -> usize,
        out: &mut [S::Elem],
    ) -> Result<(), StorageError> {
        let len = self.len();
        let positions = translate(out.len(), |k| check_address(position(k), len))?;
        let mut addresses =
            try_with_capacity(positions.len()).map_err(|error| StorageError::new(0, error))?;
        self.map.addresses_at(&positions, &mut addresses);
        self.storage.read_at(&addresses, out).map_err(|error| {
            let k = addresses.iter().position(|&address| address == error.address).unwrap_or(0);
            error.at(positions.get(k).copied().unwrap_or(0))
        })
    }
}

impl<S: Reader> Reader for Flat<S> {
    type Elem = S::Elem;

    fn len(&self) -> usize {
        self.map.count()
    }

    /// # Panics
    ///
    /// May panic if `address >= self.len()`.
    fn read(&self, address: usize) -> S::Elem {
        self.storage.read(self.map.address_at(address))
    }

    fn try_read(&self, address: usize) -> Result<S::Elem, StorageError> {
        check_address(address, self.len())?;
        self.storage.try_read(self.map.address_at(address)).map_err(|e| e.at(address))
    }

    fn as_slice(&self) -> Option<&[S::Elem]> {
        if !self.map.is_contiguous() {
            return None;
        }
        let span = self.map.span();
        self.storage.as_slice()?.get(span)
    }

    fn read_run(&self, start: usize, step: isize, out: &mut [S::Elem]) -> Result<(), StorageError> {
        let inside =
            |all: &[S::Elem]| start.checked_add(out.len()).is_some_and(|end| end <= all.len());
        if step == 1 && self.as_slice().is_some_and(inside) {
            let first = self.map.span().start;
            let read = self.storage.read_run(first + start, 1, out);
            return read.map_err(|e| {
                let address = e.address.wrapping_sub(first);
                e.at(address)
            });
        }
        if out.is_empty() || !self.has_runs(step) {
            return self.gather(|k| stepped(start, step, k), out);
        }
        let last = start as i128 + step as i128 * (out.len() as i128 - 1);
        check_address(start, self.len())?;
        check_address(usize::try_from(last).unwrap_or(usize::MAX), self.len())?;
        self.read_rows(start, step, out)
    }

    fn read_at(&self, addresses: &[usize], out: &mut [S::Elem]) -> Result<(), StorageError> {
        let count = addresses.len().min(out.len());
        self.gather(|k| addresses[k], &mut out[..count])
    }

    fn stored(&self) -> Option<&dyn Stored<Elem = S::Elem>> {
        self.section().map(|_| self as &dyn Stored<Elem = S::Elem>)
    }

    fn blocks(&self) -> Option<&dyn Blocks<Elem = S::Elem>> {
        let part = self.part.as_ref().map(|_| self as &dyn Blocks<Elem = S::Elem>);
        let whole = || self.map.consecutive() == Some(0..self.storage.len());
        part.or_else(|| self.storage.blocks().filter(|_| whole()))
    }

    fn entries_below(&self) -> Option<usize> {
        self.storage.entries_below()
    }

    fn box_depth(&self) -> usize {
        self.storage.box_depth()
    }
}

/// Of a view that is not a part of sparse storage there are no entries to ask for.
impl<S: Reader> Stored for Flat<S> {
    type Elem = S::Elem;

    fn fill(&self) -> S::Elem {
        self.section().map_or_else(|| self.read(0), |section| section.stored.fill())
    }

    fn count(&self) -> usize {
        self.rank(self.len())
    }

    fn rank(&self, address: usize) -> usize {
        self.section().map_or(0, |section| section.rank(address))
    }

    fn entries(&self, from: usize, addresses: &mut [usize], values: &mut [S::Elem]) -> usize {
        self.section().map_or(0, |section| section.entries(from, addresses, values))
    }

    fn as_slices(&self) -> Option<(&[usize], &[S::Elem])> {
        self.section()?.as_slices()
    }
}
