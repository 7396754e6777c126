//! Where results go, box by box.

use super::operand::{Arrangement, refill};
use crate::error::{Error, Result};
use crate::expr::{Gathered, assign_part, block_starts, finish, moved, selectors};
use crate::map::AddressMap;
use crate::memory::resize;
use crate::shape::Index;
use crate::storage::Writer;
use crate::tensor::Tensor;
use std::ops::Range;

/// Where the results of all calls go: the loop axes first, then those of a result.
pub trait Destination<T> {
    /// The memory of all results, if they lie there one after another.
    fn memory(&mut self) -> Option<&mut [T]>;

    /// Where parts of each axis begin such that no block of storage has elements of two boxes of such parts.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    fn block_starts(&self) -> Result<Option<Vec<Vec<usize>>>>;

    /// Brings what lies in a box of the loop to the start of a vector, or makes it as long as `least` if that is all.
    ///
    /// # Errors
    ///
    /// What reading reports.
    fn load(&self, ranges: &[Range<usize>], to: &mut Vec<T>, least: Option<usize>) -> Result<()>;

    /// Writes the results of a box of the loop, which stand at the start of `results`.
    ///
    /// # Errors
    ///
    /// What writing reports.
    fn store(&mut self, ranges: &[Range<usize>], results: &[T]) -> Result<()>;

    /// Ends the writing of boxes, `all` of them or those before an error.
    ///
    /// # Errors
    ///
    /// What writing reports.
    fn finish(&mut self, all: bool) -> Result<()>;
}

/// The memory of the elements under a map, if they lie there in row-major order.
pub(crate) fn memory_in_order<'o, W: Writer>(
    map: &AddressMap,
    storage: &'o mut W,
) -> Option<&'o mut [W::Elem]> {
    let run = map.consecutive()?;
    storage.as_mut_slice()?.get_mut(run)
}

/// A view as a destination.
pub(crate) struct Arranged<'w, W: Writer> {
    view: Tensor<&'w mut W>,
    /// The axes of the view as they were.
    order: &'w [usize],
    /// What stands for results before they are there; without it, some element of the view.
    any: Option<W::Elem>,
    /// Results for sparse storage, whose entries are replaced at the end.
    gathered: Gathered<W::Elem>,
}

impl<'w, W: Writer> Arranged<'w, W> {
    #[inline]
    pub(crate) fn new(
        out: &'w mut Tensor<W>,
        arrangement: &'w Arrangement,
        any: Option<W::Elem>,
    ) -> Result<Self> {
        out.address_map().check_injective()?;
        let order = &arrangement.order[..];
        let view = out.view_mut();
        let view = if arrangement.is_in_order() { view } else { view.transpose(order)? };
        Ok(Self { view, order, any, gathered: Gathered::default() })
    }

    /// An error of a box as one of the destination.
    fn restored(&self, error: Error, ranges: &[Range<usize>]) -> Error {
        let mut error = moved(error, ranges);
        if let Error::Storage { index: Some(index), .. } = &mut error
            && index.len() == self.order.len()
        {
            let arranged = index.clone();
            self.order.iter().zip(arranged).for_each(|(&axis, digit)| index[axis] = digit);
        }
        error
    }
}

impl<W: Writer> Destination<W::Elem> for Arranged<'_, W> {
    fn memory(&mut self) -> Option<&mut [W::Elem]> {
        let (map, storage) = self.view.parts_mut();
        memory_in_order(map, storage)
    }

    fn block_starts(&self) -> Result<Option<Vec<Vec<usize>>>> {
        block_starts(&self.view)
    }

    fn load(
        &self,
        ranges: &[Range<usize>],
        to: &mut Vec<W::Elem>,
        least: Option<usize>,
    ) -> Result<()> {
        if let Some(least) = least {
            if to.len() < least {
                let starts = (0..self.view.address_map().rank()).map(|axis| ranges.get(axis));
                let start = || starts.map(|range| range.map_or(0, |range| range.start));
                let any = self.any.map_or_else(|| self.view.get(start().collect::<Index>()), Ok);
                resize(to, least, any.map_err(|error| self.restored(error, &[]))?)?;
            }
            return Ok(());
        }
        let before = self.view.view().select(selectors(ranges))?.lazy();
        refill(to, &before).map_err(|error| self.restored(error, ranges))
    }

    fn store(&mut self, ranges: &[Range<usize>], results: &[W::Elem]) -> Result<()> {
        let mut part = self.view.view_mut().select(selectors(ranges))?;
        let results = results.get(..part.len()).unwrap_or_default();
        let (map, storage) = part.parts_mut();
        if self.gathered.add(map, storage, results)? {
            return Ok(());
        }
        let results = Tensor::new(map.shape(), results)?;
        assign_part(&results, map, storage).map_err(|error| self.restored(error, ranges))
    }

    fn finish(&mut self, all: bool) -> Result<()> {
        let (map, storage) = self.view.parts_mut();
        if all && std::mem::take(&mut self.gathered).replace(map, storage)? {
            return Ok(());
        }
        finish(map, storage).map_err(|error| self.restored(error, &[]))
    }
}
