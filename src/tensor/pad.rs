//! A view with a border, as storage.

use super::Tensor;
use super::combine::{IntoTensor, inverse, storage_order};
use super::flat::Flat;
use crate::error::{Error, Result, StorageError};
use crate::grid::{Sides, sides_tell};
use crate::memory::{list, try_with_capacity};
use crate::shape::Shape;
use crate::storage::{
    Block, BlockIndex, Blocks, Reader, Reshaped, check_address, joined_starts, stepped,
};
use smallvec::SmallVec;
use std::ops::Range;

/// A tensor with a border of one value: `widths` holds how many to add before and after each axis.
/// Copies nothing.
///
/// Extent `n` becomes `before + n + after`. Elements are read in runs, and the border is filled in as it is read. Of
/// storage in blocks the result is in blocks where [`concat()`](super::concat) of several such views is, but for views without
/// some axis of the storage, with others for the border. It is not sparse: a sparse tensor is assigned to a part of a
/// [`Tensor::sparse`] instead, or [`Tensor::to_sparse`] reads all elements. Follows NumPy's `pad` with mode `constant`.
///
/// # Errors
///
/// [`Error::Rank`] if there is not one pair per axis, [`Error::ShapeOverflow`] if there are too many elements, and
/// [`Error::OutOfMemory`].
///
/// ```
/// use lensor::tensor::pad;
/// use lensor::Tensor;
/// let t = Tensor::from_vec([2], vec![1, 2])?;
/// assert_eq!(pad(&t, [(1, 2)], 0)?.to_vec()?, [0, 1, 2, 0, 0]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn pad<X: IntoTensor>(
    tensor: X,
    widths: impl AsRef<[(usize, usize)]>,
    value: <X::Storage as Reader>::Elem,
) -> Result<Tensor<Padded<X::Storage>>> {
    padded(tensor.into_tensor(), widths.as_ref(), value)
}

fn padded<S: Reader>(
    tensor: Tensor<S>,
    widths: &[(usize, usize)],
    value: S::Elem,
) -> Result<Tensor<Padded<S>>> {
    let rank = tensor.shape().rank();
    if widths.len() != rank {
        return Err(Error::Rank { what: "pairs of widths", expected: rank, found: widths.len() });
    }
    let extent = |(&n, &(before, after)): (&usize, &(usize, usize))| {
        n.saturating_add(before).saturating_add(after)
    };
    // An extent beyond all numbers is too many elements as well.
    let shape: Shape = tensor.shape().iter().zip(widths).map(extent).collect();
    let len = shape.count()?;
    // In the order in which storage has its axes.
    let order = storage_order(tensor.address_map());
    let widths: SmallVec<[(usize, usize); 4]> = order.iter().map(|&axis| widths[axis]).collect();
    let shape: Shape = order.iter().map(|&axis| shape[axis]).collect();
    let tensor = tensor.transpose(&order)?;
    let inner = tensor.shape();
    let last = widths.iter().rposition(|&width| width != (0, 0)).unwrap_or(0);
    let (within, first): (usize, usize) = match inner.get(last..) {
        Some([extent, behind @ ..]) => {
            let behind: usize = behind.iter().product();
            (extent * behind, widths[last].0 * behind)
        }
        _ => (1, 0),
    };
    let inner_storage = tensor.flat();
    let storage = Padded {
        within_blocks: Within::new(&inner_storage, &inner, &shape, &widths)?.map(Box::new),
        inner: inner_storage,
        row: shape.iter().skip(last).product(),
        within: first..first + within,
        inner_shape: inner,
        shape: shape.clone(),
        before: widths.iter().map(|&(before, _)| before).collect(),
        value,
        len,
    };
    Tensor::new(shape, storage)?.transpose(inverse(&order))
}

/// A tensor with a border, as storage in row-major order of its own axes as they lie in storage. See [`pad`].
#[derive(Debug, Clone)]
pub struct Padded<S: Reader> {
    inner: Flat<S>,
    inner_shape: Shape,
    shape: Shape,
    before: Vec<usize>,
    /// Elements from the last axis with a border to the end, and those of them within it.
    row: usize,
    within: Range<usize>,
    value: S::Elem,
    len: usize,
    within_blocks: Option<Box<Within>>,
}

/// Where blocks of a storage lie among those of a border.
#[derive(Debug, Clone)]
struct Within {
    inner: Reshaped,
    whole: Sides,
    /// Blocks of the border before each axis.
    before: SmallVec<[usize; 4]>,
}

impl Within {
    /// `None` of storage without blocks.
    fn new<S: Reader>(
        storage: &Flat<S>,
        inner: &[usize],
        shape: &[usize],
        widths: &[(usize, usize)],
    ) -> Result<Option<Self>> {
        let inner = storage.blocks().and_then(|blocks| Reshaped::new(blocks, inner));
        let Some(inner) = inner else { return Ok(None) };
        let sides = &inner.sides;
        let mut starts = SmallVec::new();
        let mut before = SmallVec::new();
        for (axis, &(front, back)) in widths.iter().enumerate() {
            let (extent, block) = (sides.extents[axis], sides.block[axis]);
            let own = sides.starts[axis].as_ref();
            let parts = [(front, None), (extent, own), (back, None)];
            let Some(joined) = joined_starts(&parts, block)? else { return Ok(None) };
            starts.push(joined);
            before.push(front.div_ceil(block));
        }
        let whole = Sides::new(shape, &sides.block, starts).ok();
        Ok(whole.map(|whole| Self { inner, whole, before }))
    }

    /// The index of a block that exists in the storage within; `None` of the border.
    fn own(&self, index: &[usize]) -> Option<BlockIndex> {
        let counts = self.before.iter().zip(&self.inner.sides.counts);
        let mut own = BlockIndex::from(index);
        for (digit, (before, &count)) in own.iter_mut().zip(counts) {
            *digit = digit.checked_sub(*before).filter(|&digit| digit < count)?;
        }
        Some(self.inner.own(&own))
    }
}

impl<S: Reader> Padded<S> {
    /// An error of what lies within, at the address that its element has in the whole.
    fn error_in_whole(&self, error: StorageError) -> StorageError {
        if error.address >= self.inner.len() {
            return error;
        }
        let mut index = self.inner_shape.unravel(error.address);
        index.iter_mut().zip(&self.before).for_each(|(digit, before)| *digit += before);
        error.at(self.shape.ravel(&index))
    }

    /// Row-major position within the border, if `address` lies there.
    fn inside(&self, mut address: usize) -> Option<usize> {
        let (mut position, mut scale) = (0, 1);
        let axes = self.shape.iter().zip(&self.before).zip(self.inner_shape.iter());
        for ((&extent, before), &inner) in axes.rev() {
            let digit = (address % extent.max(1)).checked_sub(*before)?;
            if digit >= inner {
                return None;
            }
            address /= extent.max(1);
            position += digit * scale;
            scale *= inner;
        }
        Some(position)
    }

    /// Reads a block: the element at `address(k)` to slot `k`.
    fn gather(
        &self,
        address: impl Fn(usize) -> usize,
        out: &mut [S::Elem],
    ) -> Result<(), StorageError> {
        let lacking = |error| StorageError::new(0, error);
        let mut slots = try_with_capacity(out.len()).map_err(lacking)?;
        let mut positions = try_with_capacity(out.len()).map_err(lacking)?;
        for (slot, element) in out.iter_mut().enumerate() {
            *element = self.value;
            if let Some(position) = self.inside(check_address(address(slot), self.len)?) {
                slots.push(slot);
                positions.push(position);
            }
        }
        let same = list(std::iter::repeat_n(self.value, positions.len()));
        let mut found = same.map_err(lacking)?;
        self.inner.read_at(&positions, &mut found).map_err(|error| {
            let at = positions.iter().position(|&position| position == error.address);
            error.at(at.map_or(0, |at| address(slots[at])))
        })?;
        slots.iter().zip(&found).for_each(|(&slot, &element)| out[slot] = element);
        Ok(())
    }
}

impl<S: Reader> Reader for Padded<S> {
    type Elem = S::Elem;

    fn len(&self) -> usize {
        self.len
    }

    fn read(&self, address: usize) -> S::Elem {
        self.inside(address).map_or(self.value, |position| self.inner.read(position))
    }

    fn try_read(&self, address: usize) -> Result<S::Elem, StorageError> {
        check_address(address, self.len)?;
        match self.inside(address) {
            Some(position) => self.inner.try_read(position).map_err(|e| e.at(address)),
            None => Ok(self.value),
        }
    }

    fn read_run(&self, start: usize, step: isize, out: &mut [S::Elem]) -> Result<(), StorageError> {
        if step != 1 {
            return self.gather(|k| stepped(start, step, k), out);
        }
        let (mut address, mut rest) = (start, out);
        while !rest.is_empty() {
            check_address(address, self.len)?;
            let mut along = address % self.row;
            let inner = || self.inside(address - along + self.within.start);
            let inner = (!self.within.is_empty()).then(inner).flatten();
            let within = inner.map_or(0..0, |_| self.within.clone());
            // A row is border, what is inside, and border again.
            for (end, inside) in [(within.start, None), (within.end, inner), (self.row, None)] {
                let count = rest.len().min(end.saturating_sub(along));
                let (now, later) = std::mem::take(&mut rest).split_at_mut(count);
                match inside {
                    Some(first) if count > 0 => {
                        let position = first + (along - within.start);
                        self.inner.read_run(position, 1, now).map_err(|error| {
                            let steps = error.address.wrapping_sub(position);
                            error.at(address.wrapping_add(steps))
                        })?;
                    }
                    _ => now.fill(self.value),
                }
                (address, along, rest) = (address + count, along + count, later);
            }
        }
        Ok(())
    }

    fn read_at(&self, addresses: &[usize], out: &mut [S::Elem]) -> Result<(), StorageError> {
        let count = addresses.len().min(out.len());
        self.gather(|k| addresses[k], &mut out[..count])
    }

    fn blocks(&self) -> Option<&dyn Blocks<Elem = S::Elem>> {
        self.within_blocks.as_ref().map(|_| self as &dyn Blocks<Elem = S::Elem>)
    }

    fn entries_below(&self) -> Option<usize> {
        self.inner.entries_below()
    }

    fn box_depth(&self) -> usize {
        self.inner.box_depth()
    }
}

/// Of storage in blocks, as [`Reader::blocks`] tells: its own, and blocks of the border around them.
impl<S: Reader> Blocks for Padded<S> {
    type Elem = S::Elem;

    sides_tell!(self => self.within_blocks.as_ref().map(|within| &within.whole));

    fn load(&self, index: &[usize]) -> Result<Block<'_, S::Elem>, StorageError> {
        let within = self.within_blocks.as_ref().filter(|own| own.whole.number(index).is_some());
        let (Some(within), Some(blocks)) = (within, self.inner.blocks()) else {
            return Err(StorageError::new(0, format!("there is no block {index:?}")));
        };
        match within.own(index) {
            Some(own) => blocks.load(&own).map_err(|error| self.error_in_whole(error)),
            None => Ok(Block::Fill(self.value)),
        }
    }

    fn budget(&self) -> usize {
        self.inner.blocks().map_or(0, Blocks::budget)
    }

    fn ahead(&self) -> usize {
        self.inner.blocks().map_or(0, Blocks::ahead)
    }

    fn expect(&self, next: &[BlockIndex]) {
        let (Some(within), Some(blocks)) = (&self.within_blocks, self.inner.blocks()) else {
            return;
        };
        let Ok(mut own) = try_with_capacity(next.len()) else { return };
        let exist = next.iter().filter(|index| within.whole.number(index).is_some());
        own.extend(exist.filter_map(|index| within.own(index)));
        blocks.expect(&own);
    }

    fn share(&self, elements: Vec<S::Elem>) -> Option<Block<'_, S::Elem>> {
        self.inner.blocks()?.share(elements)
    }
}
