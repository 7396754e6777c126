//! Address maps: where an element of a view lies in storage, and back.
//!
//! An [`AddressMap`] sends a global index to a local address. It knows nothing of elements or
//! storage. View operations take a map and give a map; none but `reshape_strided` fails for
//! layout reasons.
//!
//! ```
//! use lensor::AddressMap;
//! let map = AddressMap::row_major([2, 3])?.transpose([1, 0])?;
//! assert_eq!(map.to_local([2, 1])?, 5);
//! assert_eq!(map.to_global(5).next().unwrap().as_slice(), [2, 1]);
//! # Ok::<(), lensor::Error>(())
//! ```

mod axis;
mod check;
mod divider;
mod facts;
mod indexing;
mod inverse;
mod layout;
mod lists;
mod mask;
mod nested;
mod numbers;
mod positions;
mod repeat;
mod reshape;
mod select;
mod table;
#[cfg(test)]
mod tests;
mod transform;
mod windows;

pub use axis::{AxisMap, Pattern};
pub(crate) use divider::{Divider, Multiplier};
pub use facts::Strided;
pub use indexing::Counts;
pub(crate) use inverse::Finder;
pub use inverse::Globals;
pub(crate) use layout::Axis;
pub use layout::Layout;
pub use lists::IntoNumbers;
pub use mask::{IntoMask, Mask};
pub(crate) use nested::{Digits, Nested, NestedAxis, Repeat};
pub use select::{IntoSelect, IntoSelectors, Select, Step};
pub use table::Table;

use crate::error::Result;
use crate::shape::Shape;
use std::fmt;
use std::sync::Arc;

/// One or more [`Layout`]s composed: global index in, local address out.
///
/// The address of one layout is a row-major position in the next; the last one gives the address in
/// storage. Layouts that strides can express together are merged, so most maps have one stage.
///
/// Equal maps are the same function. The reverse holds for maps of one stage; several stages can cut the same
/// function in different places, and such maps differ.
///
/// A view of an axis that is rotated, repeated or listed may take a table of positions, and is
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if that cannot be kept.
#[derive(PartialEq, Eq, Hash)]
pub struct AddressMap {
    top: Layout,
    /// Further stages, the one next to storage first. Never empty.
    rest: Option<Arc<Vec<Layout>>>,
}

impl Clone for AddressMap {
    #[inline]
    fn clone(&self) -> Self {
        Self { top: self.top.clone(), rest: self.rest.clone() }
    }
}

impl AddressMap {
    /// Row-major addresses `0..count` of a shape.
    ///
    /// # Errors
    ///
    /// [`Error::RankLimit`](crate::Error::RankLimit) for more than [`Shape::MAX_RANK`] axes,
    /// [`Error::ShapeOverflow`](crate::Error::ShapeOverflow) if the shape has too many elements.
    ///
    /// ```
    /// use lensor::AddressMap;
    /// assert_eq!(AddressMap::row_major([2, 3])?.to_local([1, 2])?, 5);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    #[inline]
    pub fn row_major(shape: impl Into<Shape>) -> Result<Self> {
        Self::of_shape(&shape.into())
    }

    /// [`Self::row_major`] of a shape that is borrowed.
    #[inline]
    pub(crate) fn of_shape(shape: &Shape) -> Result<Self> {
        Ok(Layout::of_shape(shape)?.into())
    }

    /// The map of an offset and strides, in elements, as other libraries describe arrays: negative where an axis runs
    /// backwards, 0 where it repeats one element.
    ///
    /// # Errors
    ///
    /// [`Error::Rank`](crate::Error::Rank) unless there is one stride for each axis, and those of [`Layout::new`]: nothing
    /// overflows, and no address is negative.
    ///
    /// ```
    /// use lensor::AddressMap;
    /// let map = AddressMap::from_strides([2, 3], 5, [-3, 1])?;
    /// assert_eq!((map.to_local([0, 0])?, map.to_local([1, 2])?), (5, 4));
    /// let strided = map.as_strided().unwrap();
    /// assert_eq!((strided.offset, &strided.strides[..]), (5, &[-3, 1][..]));
    /// assert!(AddressMap::from_strides([2, 3], 2, [-3, 1]).is_err());
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn from_strides(
        shape: impl Into<Shape>,
        offset: usize,
        strides: impl AsRef<[isize]>,
    ) -> Result<Self> {
        let (shape, strides) = (shape.into(), strides.as_ref());
        if strides.len() != shape.rank() {
            let (expected, found) = (shape.rank(), strides.len());
            return Err(crate::Error::Rank { what: "strides", expected, found });
        }
        let overflow =
            || crate::Error::AddressOverflow { address: offset as i128, shape: shape.to_vec() };
        // Without indexes there are no addresses.
        let first = if shape.contains(&0) { 0 } else { offset };
        let first = isize::try_from(first).map_err(|_| overflow())?;
        let axes = shape.iter().zip(strides);
        let axes = axes.map(|(&extent, &stride)| AxisMap::linear(extent, stride));
        Ok(Layout::new(first, axes)?.into())
    }

    /// The map of several stages, the one that takes the global index first: what [`Self::stages`] gives. Stages that
    /// strides can express together are merged.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfSpan`](crate::Error::OutOfSpan) if an address of a stage is no position of the next.
    ///
    /// ```
    /// use lensor::AddressMap;
    /// let map = AddressMap::row_major([2, 3])?.transpose([1, 0])?.reshape([6])?;
    /// let stages: Vec<_> = map.stages().cloned().collect();
    /// assert_eq!(AddressMap::from_stages(stages)?, map);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn from_stages(
        stages: impl IntoIterator<Item = Layout, IntoIter: DoubleEndedIterator>,
    ) -> Result<Self> {
        let mut map: Option<Self> = None;
        for stage in stages.into_iter().rev() {
            map = Some(match map {
                Some(below) if stage.count() > 0 => {
                    let (span, len) = (stage.span(), below.count());
                    if span.end > len {
                        return Err(crate::Error::OutOfSpan { span, len });
                    }
                    below.with_stage(stage)
                }
                _ => stage.into(),
            });
        }
        Ok(map.unwrap_or_default())
    }

    /// Addresses `0..len`, of a length that some memory has. Only elements without size can be more than
    /// fit in `isize`; those beyond are left out.
    pub(crate) fn of_length(len: usize) -> Self {
        let (extent, stride) = (len.min(isize::MAX as usize), isize::from(len > 1));
        let axes = smallvec::smallvec![Axis { extent, stride }];
        Layout { offset: 0, axes, patterns: None }.into()
    }

    /// The map with all addresses `by` lower.
    pub(crate) fn moved_down(mut self, by: usize) -> Result<Self> {
        let (shape, lowest) = (self.shape(), self.span().start);
        if self.count() == 0 {
            return Ok(self);
        }
        let last = match &mut self.rest {
            None => &mut self.top,
            Some(rest) => &mut Arc::make_mut(rest)[0],
        };
        last.offset -= by as isize;
        if lowest < by {
            return Err(crate::Error::NegativeAddress {
                lowest: lowest as isize - by as isize,
                offset: last.offset,
                shape: shape.to_vec(),
            });
        }
        Ok(self)
    }

    /// Number of axes.
    #[inline]
    pub fn rank(&self) -> usize {
        self.top.rank()
    }

    /// Extents of the view.
    #[inline]
    pub fn shape(&self) -> Shape {
        self.top.shape()
    }

    /// Number of elements of the view.
    #[inline]
    pub fn count(&self) -> usize {
        self.top.count()
    }

    /// The stages, the one that takes the global index first.
    pub fn stages(&self) -> impl ExactSizeIterator<Item = &Layout> {
        let rest = self.rest.as_deref().map_or(&[][..], Vec::as_slice);
        (0..rest.len() + 1).map(move |k| if k == 0 { &self.top } else { &rest[rest.len() - k] })
    }

    /// The stage that takes the global index.
    #[inline]
    pub(crate) fn top(&self) -> &Layout {
        &self.top
    }

    /// The stages below the top, the one next to storage first.
    #[inline]
    pub(crate) fn rest(&self) -> &[Layout] {
        self.rest.as_deref().map_or(&[], Vec::as_slice)
    }

    /// Address of `index`.
    ///
    /// # Errors
    ///
    /// [`Error::Rank`](crate::Error::Rank) unless `index` has one number per axis,
    /// [`Error::Index`](crate::Error::Index) if one lies outside.
    ///
    /// ```
    /// use lensor::AddressMap;
    /// let map = AddressMap::row_major([2, 3])?.transpose([1, 0])?.flip(0)?;
    /// assert_eq!((map.to_local([0, 0])?, map.to_local([0, 1])?), (2, 5));
    /// assert!(map.to_local([3, 0]).is_err());
    /// # Ok::<(), lensor::Error>(())
    /// ```
    #[inline]
    pub fn to_local(&self, index: impl AsRef<[usize]>) -> Result<usize> {
        let index = index.as_ref();
        self.top.check_index(index)?;
        let address = self.top.address(index);
        Ok(if self.rest.is_none() { address } else { self.descend(address) })
    }

    /// Address of the row-major position `position`, which lies inside.
    pub(crate) fn address_at(&self, position: usize) -> usize {
        self.descend(self.top.address_at(position))
    }

    /// Address in storage of an address of the top stage.
    #[inline]
    pub(crate) fn descend(&self, address: usize) -> usize {
        self.rest().iter().rev().fold(address, |position, stage| stage.address_at(position))
    }

    /// The same addresses in the same row-major order on as few axes as strides allow.
    pub(crate) fn coalesced(&self) -> Self {
        Self { top: self.top.coalesced(), rest: self.rest.clone() }
    }

    /// Addresses by row-major position, if strides along two axes give them.
    pub(crate) fn plane(&self) -> Option<Plane> {
        let top = Some(&self.top).filter(|top| top.patterns.is_none() && self.rest.is_none())?;
        let (across, columns, along, count) = match top.axes[..] {
            [] => (0, 1, 0, 1),
            [axis] => (0, axis.extent, axis.stride, axis.extent),
            [rows, columns] => {
                let count = rows.extent.saturating_mul(columns.extent);
                (rows.stride, columns.extent, columns.stride, count)
            }
            _ => return None,
        };
        Some(Plane { offset: top.offset, across, along, divider: Divider::new(columns, count) })
    }

    /// Every index of the view that reads `address`, ascending: none if the view skips it, several
    /// under broadcast or repeats.
    ///
    /// The memory taken is bounded, however many indexes there are. A few thousand are found faster
    /// than one by one; where more read one address through a stage that strides cannot express, the
    /// indexes of the view are tried in turn, as the iterator advances.
    ///
    /// ```
    /// use lensor::AddressMap;
    /// let map = AddressMap::row_major([2])?.broadcast([6])?;
    /// let all: Vec<_> = map.to_global(1).map(|index| index[0]).collect();
    /// assert_eq!(all, [1, 3, 5]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn to_global(&self, address: usize) -> Globals {
        Globals::new(self, address)
    }
}

/// Addresses of rows and columns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plane {
    offset: isize,
    /// Strides from row to row and along a row.
    across: isize,
    along: isize,
    /// By the extent of a row.
    divider: Divider,
}

impl Plane {
    /// If all rows are one, whose elements are the first ones in order: how positions are divided, so that the
    /// remainder is the address.
    pub(crate) fn only_row(&self) -> Option<Multiplier> {
        let is_row = (self.offset, self.across, self.along) == (0, 0, 1);
        self.divider.multiplier().filter(|_| is_row)
    }

    /// Address of a position that lies inside, and some number for any other.
    #[inline(always)]
    pub(crate) fn address(&self, position: usize) -> usize {
        let (row, column) = self.divider.divide(position);
        let across = self.across.wrapping_mul(row as isize);
        let along = self.along.wrapping_mul(column as isize);
        self.offset.wrapping_add(across).wrapping_add(along) as usize
    }
}

/// The map of rank 0 whose only index has address 0.
impl Default for AddressMap {
    fn default() -> Self {
        Layout::empty(&Shape::default()).into()
    }
}

impl From<Layout> for AddressMap {
    #[inline]
    fn from(top: Layout) -> Self {
        Self { top, rest: None }
    }
}

impl fmt::Debug for AddressMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stages: Vec<_> = self.stages().take(8).collect();
        match stages[..] {
            [only] => fmt::Debug::fmt(only, f),
            _ => f.debug_struct("AddressMap").field("stages", &stages).finish(),
        }
    }
}
