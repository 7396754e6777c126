//! An offset plus one axis map per axis: a sum of independent terms.

use super::axis::{AxisMap, Pattern};
use crate::error::{Error, Result};
use crate::shape::{Shape, collect_inline, copy_inline};
use smallvec::{SmallVec, smallvec};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Extent and stride of one axis whose pattern is kept elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Axis {
    pub(crate) extent: usize,
    pub(crate) stride: isize,
}

pub(crate) type Axes = SmallVec<[Axis; 4]>;

/// Address of an index as a sum: `offset + sum over axes of stride * position(index)`.
///
/// Always in normal form: an axis of extent 1 has stride 0, an empty layout has offset 0 and
/// strides 0, cycles and tables are written in their one canonical way. So two layouts are equal
/// exactly when they map every index to the same address.
///
/// ```
/// use lensor::map::{AxisMap, Layout};
/// let layout = Layout::new(1, [AxisMap::linear(2, 10), AxisMap::linear(3, 2)])?;
/// assert_eq!(layout.to_local([1, 2])?, 15);
/// assert_eq!(layout.span(), 1..16);
/// assert_eq!(Layout::row_major([2, 3])?.to_local([1, 0])?, 3);
/// # Ok::<(), lensor::Error>(())
/// ```
#[derive(PartialEq, Eq, Hash)]
pub struct Layout {
    pub(super) offset: isize,
    pub(super) axes: Axes,
    /// One pattern per axis, absent where all are linear.
    pub(super) patterns: Option<Arc<[Pattern]>>,
}

impl Clone for Layout {
    #[inline]
    fn clone(&self) -> Self {
        Self { offset: self.offset, axes: copy_inline(&self.axes), patterns: self.patterns.clone() }
    }
}

impl Layout {
    /// A layout of `axes`, outermost first, whose index 0 would lie at `offset` if all axes were linear.
    ///
    /// # Errors
    ///
    /// [`Error::RankLimit`] for more than [`Shape::MAX_RANK`] axes, [`Error::ShapeOverflow`] if there are too
    /// many elements, [`Error::ZeroPeriod`] for a cycle of period 0, [`Error::Length`] for a table of another length than its axis,
    /// [`Error::NegativeAddress`] if an index maps below 0, and [`Error::AddressOverflow`] if one maps to
    /// `isize::MAX` or beyond, or if the term of a single axis does not fit in `isize`: its stride times
    /// its last index, the last position of its cycle or the largest entry of its table, visited or not.
    /// An empty layout has no addresses and none of these two errors.
    pub fn new(offset: isize, axes: impl IntoIterator<Item = AxisMap>) -> Result<Self> {
        let axes: SmallVec<[AxisMap; 4]> = axes.into_iter().collect();
        Shape::check_rank(axes.len())?;
        for (k, axis) in axes.iter().enumerate() {
            match &axis.pattern {
                Pattern::Cyclic { period: 0, .. } => return Err(Error::ZeroPeriod { axis: k }),
                Pattern::Listed(table) if table.positions().len() != axis.extent => {
                    let (expected, found) = (axis.extent, table.positions().len());
                    return Err(Error::Length { shape: vec![expected], expected, found });
                }
                _ => {}
            }
        }
        let shape: Shape = axes.iter().map(|axis| axis.extent).collect();
        if shape.count()? == 0 {
            return Ok(Self::empty(&shape));
        }
        let mut constant = offset as i128;
        let mut normal: SmallVec<[AxisMap; 4]> = SmallVec::new();
        for axis in axes {
            let reach = axis.stride as i128 * raw_last_position(&axis) as i128;
            if isize::try_from(reach).is_err() {
                let (address, shape) = (constant.saturating_add(reach), shape.to_vec());
                return Err(Error::AddressOverflow { address, shape });
            }
            let (axis, extra) = axis.into_normal()?;
            constant += extra;
            normal.push(axis);
        }
        Self::from_normal(constant, normal)
    }

    /// The layout of axes in normal form. What is made of axes ends here; views that change a layout in place
    /// keep what was checked here.
    pub(super) fn from_normal(constant: i128, axes: SmallVec<[AxisMap; 4]>) -> Result<Self> {
        let shape: Shape = axes.iter().map(|axis| axis.extent).collect();
        if shape.count()? == 0 {
            return Ok(Self::empty(&shape));
        }
        let overflow = |address| Error::AddressOverflow { address, shape: shape.to_vec() };
        let (mut lowest, mut highest) = (constant, constant);
        for axis in &axes {
            let reach = axis.stride as i128 * axis.last_position() as i128;
            lowest += reach.min(0);
            highest += reach.max(0);
        }
        if highest >= isize::MAX as i128 {
            return Err(overflow(highest));
        }
        let lowest = isize::try_from(lowest).map_err(|_| overflow(lowest))?;
        let offset = isize::try_from(constant).map_err(|_| overflow(constant))?;
        if lowest < 0 {
            return Err(Error::NegativeAddress { lowest, offset, shape: shape.to_vec() });
        }
        let plain = axes.iter().map(|a| Axis { extent: a.extent, stride: a.stride }).collect();
        let patterns = unless_linear(axes.iter().map(|axis| &axis.pattern));
        Ok(Self { offset, axes: plain, patterns })
    }

    /// Builds the inverses of all tables.
    pub(crate) fn invert(&self) -> Result<()> {
        match self.patterns {
            Some(_) => self.axes().try_for_each(|axis| axis.invert()),
            None => Ok(()),
        }
    }

    /// Row-major addresses `0..count` of a shape.
    ///
    /// # Errors
    ///
    /// [`Error::RankLimit`] for more than [`Shape::MAX_RANK`] axes, [`Error::ShapeOverflow`] if the shape has
    /// too many elements.
    #[inline]
    pub fn row_major(shape: impl Into<Shape>) -> Result<Self> {
        Self::of_shape(&shape.into())
    }

    /// [`Self::row_major`] of a shape that is borrowed.
    #[inline(always)]
    pub(crate) fn of_shape(shape: &Shape) -> Result<Self> {
        Shape::check_rank(shape.rank())?;
        let count = shape.count()?;
        if count == 0 {
            return Ok(Self::empty(shape));
        }
        let mut stride = 1;
        let mut axes: Axes = collect_inline(shape.rank(), Axis { extent: 0, stride: 0 }, |k| {
            Axis { extent: shape[k], stride: 0 }
        });
        for axis in axes.iter_mut().rev().filter(|axis| axis.extent > 1) {
            axis.stride = stride;
            stride *= axis.extent as isize;
        }
        Ok(Self { offset: 0, axes, patterns: None })
    }

    pub(super) fn empty(shape: &Shape) -> Self {
        let axes = shape.iter().map(|&extent| Axis { extent, stride: 0 }).collect();
        Self { offset: 0, axes, patterns: None }
    }

    /// Number of axes.
    #[inline]
    pub fn rank(&self) -> usize {
        self.axes.len()
    }

    /// Extents of the axes.
    #[inline]
    pub fn shape(&self) -> Shape {
        collect_inline(self.axes.len(), 0, |k| self.axes[k].extent).into()
    }

    /// Number of indexes.
    #[inline]
    pub fn count(&self) -> usize {
        self.axes.iter().map(|axis| axis.extent).product()
    }

    /// The constant term, an address if the layout is not empty.
    #[inline]
    pub fn offset(&self) -> usize {
        self.offset as usize
    }

    /// Axis `axis`, if there is one.
    pub fn axis(&self, axis: usize) -> Option<AxisMap> {
        (axis < self.rank()).then(|| self.axis_map(axis))
    }

    /// An axis that exists.
    pub(super) fn axis_map(&self, axis: usize) -> AxisMap {
        let Axis { extent, stride } = self.axes[axis];
        AxisMap { extent, stride, pattern: self.pattern(axis).clone() }
    }

    /// All axes, outermost first.
    pub fn axes(&self) -> impl ExactSizeIterator<Item = AxisMap> + '_ {
        (0..self.rank()).map(|axis| self.axis_map(axis))
    }

    /// Pattern of an axis that exists.
    #[inline]
    pub(crate) fn pattern(&self, axis: usize) -> &Pattern {
        self.patterns.as_ref().map_or(&Pattern::Linear, |patterns| &patterns[axis])
    }

    /// Extents and strides, whatever the patterns.
    #[inline]
    pub(crate) fn plain_axes(&self) -> &[Axis] {
        &self.axes
    }

    /// Extents and strides, if every axis is linear.
    #[inline]
    pub(crate) fn as_linear(&self) -> Option<&[Axis]> {
        self.patterns.is_none().then_some(&self.axes)
    }

    /// Address of `index`.
    ///
    /// # Errors
    ///
    /// [`Error::Rank`] unless `index` has one number per axis, [`Error::Index`] if one lies outside.
    #[inline]
    pub fn to_local(&self, index: impl AsRef<[usize]>) -> Result<usize> {
        let index = index.as_ref();
        self.check_index(index)?;
        Ok(self.address(index))
    }

    #[inline]
    pub(super) fn check_index(&self, index: &[usize]) -> Result<()> {
        if index.len() == self.rank()
            && index.iter().zip(&self.axes).all(|(&i, axis)| i < axis.extent)
        {
            return Ok(());
        }
        Err(self.index_error(index))
    }

    #[cold]
    fn index_error(&self, index: &[usize]) -> Error {
        let outside = index.iter().zip(&self.axes).position(|(&digit, axis)| digit >= axis.extent);
        match outside {
            Some(axis) if index.len() == self.rank() => {
                Error::Index { axis, index: index[axis] as i128, extent: self.axes[axis].extent }
            }
            _ => Error::Rank { what: "indexes", expected: self.rank(), found: index.len() },
        }
    }

    /// Address of an index that lies inside. Partial sums are addresses of other indexes, so none overflows.
    #[inline]
    pub(super) fn address(&self, index: &[usize]) -> usize {
        let mut address = self.offset;
        match &self.patterns {
            None => {
                for (axis, &digit) in self.axes.iter().zip(index) {
                    address += axis.stride * digit as isize;
                }
            }
            Some(patterns) => {
                for ((axis, pattern), &digit) in self.axes.iter().zip(patterns.iter()).zip(index) {
                    address += axis.stride * pattern.position(digit) as isize;
                }
            }
        }
        address as usize
    }

    /// Address at a row-major position that lies inside.
    pub(crate) fn address_at(&self, mut position: usize) -> usize {
        let mut address = self.offset;
        for (k, axis) in self.axes.iter().enumerate().rev() {
            let digit = position % axis.extent;
            position /= axis.extent;
            address += axis.stride * self.pattern(k).position(digit) as isize;
        }
        address as usize
    }

    /// Address at a row-major position that lies inside, how far apart those after it along the last axis are, and how many
    /// that holds for, itself among them.
    pub(crate) fn run_at(&self, position: usize) -> (usize, isize, usize) {
        let Some((last, axis)) = self.axes.iter().enumerate().next_back() else {
            return (self.offset as usize, 0, 1);
        };
        let (step, left) = self.pattern(last).run(position % axis.extent);
        let left = left.min(axis.extent - position % axis.extent);
        (self.address_at(position), axis.stride * step as isize, left)
    }

    /// Lowest address reached and one past the highest; `0..0` if the layout is empty.
    pub fn span(&self) -> Range<usize> {
        if self.axes.iter().any(|axis| axis.extent == 0) {
            return 0..0;
        }
        let (mut lowest, mut highest) = (self.offset, self.offset);
        for (k, axis) in self.axes.iter().enumerate() {
            let last = match self.pattern(k) {
                Pattern::Linear => axis.extent - 1,
                _ => self.axis_map(k).last_position(),
            };
            let reach = axis.stride * last as isize;
            lowest += reach.min(0);
            highest += reach.max(0);
        }
        lowest as usize..highest as usize + 1
    }

    /// Whether the addresses are consecutive in row-major order: `offset, offset + 1, ..`.
    #[inline]
    pub fn is_contiguous(&self) -> bool {
        self.consecutive().is_some()
    }

    /// The addresses, if they are consecutive in row-major order.
    #[inline]
    pub(crate) fn consecutive(&self) -> Option<Range<usize>> {
        if self.patterns.is_some() {
            return None;
        }
        let mut count = 1;
        for axis in self.axes.iter().rev() {
            if axis.extent > 1 && axis.stride != count as isize {
                return self.axes.iter().any(|axis| axis.extent == 0).then_some(0..0);
            }
            count *= axis.extent;
        }
        Some(self.offset()..self.offset() + count)
    }

    /// The same addresses in the same row-major order on as few axes as strides allow.
    pub(crate) fn coalesced(&self) -> Self {
        if self.patterns.is_none() && self.count() > 1 && self.is_contiguous() {
            let axes = smallvec![Axis { extent: self.count(), stride: 1 }];
            return Self { offset: self.offset, axes, patterns: None };
        }
        let mut axes: SmallVec<[AxisMap; 4]> = SmallVec::new();
        for axis in self.axes().filter(|axis| axis.extent != 1) {
            match axes.last_mut() {
                Some(outer)
                    if outer.pattern == Pattern::Linear
                        && axis.pattern == Pattern::Linear
                        && outer.stride as i128 == axis.stride as i128 * axis.extent as i128 =>
                {
                    outer.extent *= axis.extent;
                    outer.stride = axis.stride;
                }
                _ => axes.push(axis),
            }
        }
        Self {
            offset: self.offset,
            axes: axes.iter().map(|a| Axis { extent: a.extent, stride: a.stride }).collect(),
            patterns: unless_linear(axes.iter().map(|axis| &axis.pattern)),
        }
    }
}

impl fmt::Debug for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Layout {{ offset: {}, axes: [", self.offset)?;
        for (k, axis) in self.axes.iter().enumerate() {
            let separator = if k == 0 { "" } else { ", " };
            write!(f, "{separator}{}*{}", axis.extent, axis.stride)?;
            match self.pattern(k) {
                Pattern::Linear => {}
                Pattern::Cyclic { period, shift, step } => {
                    write!(f, " cyclic({shift} + {step}i mod {period})")?
                }
                Pattern::Listed(table) => {
                    let shown = &table.positions()[..axis.extent.min(8)];
                    let rest = if shown.len() < axis.extent { ", .." } else { "" };
                    write!(f, " listed({shown:?}{rest})")?;
                }
            }
        }
        write!(f, "] }}")
    }
}

/// Patterns of all axes, where not all are linear.
pub(super) fn unless_linear<'p>(
    patterns: impl Iterator<Item = &'p Pattern> + Clone,
) -> Option<Arc<[Pattern]>> {
    let mut each = patterns.clone();
    each.any(|pattern| *pattern != Pattern::Linear).then(|| patterns.cloned().collect())
}

/// Largest position that an axis which is not yet in normal form can visit, as [`AxisMap::last_position`].
fn raw_last_position(axis: &AxisMap) -> usize {
    match &axis.pattern {
        _ if axis.extent == 0 => 0,
        Pattern::Linear => axis.extent - 1,
        Pattern::Cyclic { period, .. } => period - 1,
        Pattern::Listed(table) => table.last(),
    }
}
