//! Forms: what shapes are for tensors with rows that differ in length.

use super::offsets::Offsets;
use crate::error::{Error, Result};
use crate::memory::list;
use crate::shape::{Shape, first_difference};
use smallvec::SmallVec;
use std::fmt::{self, Display, Formatter};

/// What one axis is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Extent {
    /// The same number of items in every row.
    Fixed(usize),
    /// Rows of lengths of their own.
    Var,
}

impl Extent {
    /// The number of items, if it is the same in every row.
    pub fn fixed(self) -> Option<usize> {
        match self {
            Self::Fixed(extent) => Some(extent),
            Self::Var => None,
        }
    }
}

/// What every axis is. [`usize::MAX`] in the shapes of errors is [`Extent::Var`].
pub(super) type Extents = SmallVec<[Extent; 4]>;

/// An axis of a form.
#[derive(Debug, Clone)]
pub(super) enum Axis {
    Fixed(usize),
    /// Rows in row-major order of all axes in front, from 0 on without gaps.
    Var(Offsets),
}

impl Axis {
    pub(super) fn kind(&self) -> Extent {
        match self {
            Self::Fixed(extent) => Extent::Fixed(*extent),
            Self::Var(_) => Extent::Var,
        }
    }
}

/// The lengths of all rows: extents of fixed axes, tables for the others. Equal if all lengths are.
///
/// ```
/// use lensor::ragged::Ragged;
/// let r = Ragged::from_nested(vec![vec![1, 2], vec![], vec![3]])?;
/// assert_eq!(r.form()?.to_string(), "3 * var");
/// # Ok::<(), lensor::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Form {
    pub(super) axes: SmallVec<[Axis; 4]>,
}

impl PartialEq for Form {
    fn eq(&self, other: &Self) -> bool {
        let same = |(a, b): (&Axis, &Axis)| match (a, b) {
            (Axis::Fixed(a), Axis::Fixed(b)) => a == b,
            (Axis::Var(a), Axis::Var(b)) => a.has_lengths_of(b),
            _ => false,
        };
        self.kinds() == other.kinds() && self.axes.iter().zip(&other.axes).all(same)
    }
}

impl Eq for Form {}

/// `3 * var * 2`; nothing at all is a scalar.
impl Display for Form {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&in_words(&self.extents()))
    }
}

/// What the axes are, as `2 * var * 3`.
pub(super) fn in_words(extents: &[Extent]) -> String {
    let axis = |extent: &Extent| match extent {
        Extent::Fixed(extent) => extent.to_string(),
        Extent::Var => "var".into(),
    };
    let axes: Vec<String> = extents.iter().map(axis).collect();
    if axes.is_empty() { "scalar".into() } else { axes.join(" * ") }
}

impl Form {
    /// Without a var axis.
    pub(super) fn dense(shape: &[usize]) -> Self {
        Self { axes: shape.iter().map(|&extent| Axis::Fixed(extent)).collect() }
    }

    /// What every axis is.
    pub fn extents(&self) -> Vec<Extent> {
        self.kinds().into_vec()
    }

    pub(super) fn kinds(&self) -> Extents {
        self.axes.iter().map(Axis::kind).collect()
    }

    /// Number of axes.
    pub fn rank(&self) -> usize {
        self.axes.len()
    }

    /// Number of axes whose rows differ in length.
    pub fn var_axes(&self) -> usize {
        self.vars().count()
    }

    /// The var axes, and where rows of each begin and end.
    pub(super) fn vars(&self) -> impl DoubleEndedIterator<Item = (usize, &Offsets)> {
        self.axes.iter().enumerate().filter_map(|(axis, own)| match own {
            Axis::Fixed(_) => None,
            Axis::Var(rows) => Some((axis, rows)),
        })
    }

    /// The rows of the last var axis.
    pub(super) fn rows(&self) -> Option<&Offsets> {
        Some(self.vars().next_back()?.1)
    }

    /// Number of axes up to the last var axis.
    pub(super) fn depth(&self) -> usize {
        self.vars().next_back().map_or(0, |(axis, _)| axis + 1)
    }

    /// Extents of the fixed axes after the last var axis.
    pub(super) fn trailing(&self) -> SmallVec<[usize; 4]> {
        self.axes[self.depth()..].iter().filter_map(|axis| axis.kind().fixed()).collect()
    }

    /// Number of elements.
    ///
    /// # Errors
    ///
    /// [`Error::ShapeOverflow`] if they cannot be counted.
    pub fn count(&self) -> Result<usize> {
        content_shape(self).count()
    }

    /// The offsets of the rows of a var axis, rows in row-major order; they begin at 0.
    ///
    /// # Errors
    ///
    /// [`Error::Axis`] if there is no such axis, [`Error::FixedAxis`] if it is fixed.
    ///
    /// ```
    /// use lensor::ragged::Ragged;
    /// let events = Ragged::from_nested(vec![vec![1.5, 2.0, 0.5], vec![], vec![4.0]])?;
    /// assert_eq!(events.form()?.offsets(1)?.row(2), 3..4);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn offsets(&self, axis: usize) -> Result<&Offsets> {
        match self.axes.get(axis) {
            None => Err(Error::Axis { axis, rank: self.rank() }),
            Some(Axis::Fixed(_)) => Err(Error::FixedAxis { axis }),
            Some(Axis::Var(rows)) => Ok(rows),
        }
    }

    /// How many items every row of a var axis has, rows in row-major order.
    ///
    /// # Errors
    ///
    /// As [`Self::offsets`], and [`Error::OutOfMemory`].
    ///
    /// ```
    /// use lensor::ragged::Ragged;
    /// let events = Ragged::from_nested(vec![vec![1.5, 2.0, 0.5], vec![], vec![4.0]])?;
    /// assert_eq!(events.form()?.lengths(1)?, [3, 0, 1]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn lengths(&self, axis: usize) -> Result<Vec<usize>> {
        let rows = self.offsets(axis)?;
        list((0..rows.rows()).map(|row| rows.length(row)))
    }

    /// One index for each of the first `depth` axes: of an item with this number, counted in row-major order.
    pub(super) fn path(&self, depth: usize, number: usize) -> Vec<usize> {
        path(&self.axes, depth, number)
    }

    /// An index of a tensor from one whose first number counts the items of the first `depth` axes, if these are any.
    pub(super) fn whole_path(&self, depth: usize, index: &[usize]) -> Vec<usize> {
        match index.split_first() {
            Some((&item, rest)) if depth > 0 => [&self.path(depth, item)[..], rest].concat(),
            _ => index.to_vec(),
        }
    }

    /// An index of a tensor from an index of its packed content.
    pub(super) fn content_path(&self, index: &[usize]) -> Vec<usize> {
        self.whole_path(self.depth(), index)
    }

    /// What stands at an axis of a form of so many axes that this one stretches to: nothing in front of its own axes.
    pub(super) fn axis_at(&self, axis: usize, rank: usize) -> Option<&Axis> {
        axis.checked_sub(rank - self.rank()).map(|k| &self.axes[k])
    }

    /// With axes of extent 1 after all others.
    pub(super) fn with_ones(mut self, ones: usize) -> Self {
        self.axes.extend(std::iter::repeat_n(Axis::Fixed(1), ones));
        self
    }
}

/// One index for each of the first `depth` axes, of an item with this number, counted in row-major order.
pub(super) fn path(axes: &[Axis], depth: usize, number: usize) -> Vec<usize> {
    let (mut path, mut number) = (vec![0; depth], number);
    for (axis, index) in axes.iter().zip(&mut path).rev() {
        match axis {
            Axis::Fixed(0) => {}
            Axis::Fixed(extent) => {
                *index = number % extent;
                number /= extent;
            }
            Axis::Var(rows) => {
                let row = rows.row_of(number);
                *index = number.saturating_sub(rows.number(row));
                number = row;
            }
        }
    }
    path
}

/// The shape in an error: the largest number for var axes.
pub(super) fn shape_of(extents: &[Extent]) -> Vec<usize> {
    extents.iter().map(|extent| extent.fixed().unwrap_or(usize::MAX)).collect()
}

/// What the axes of the result are, joined as kinds and fixed extents alone tell.
pub(super) fn join_kinds(so_far: &[Extent], next: &[Extent], argument: usize) -> Result<Extents> {
    let rank = so_far.len().max(next.len());
    crate::shape::Shape::check_rank(rank)?;
    let mut joint = Extents::new();
    for axis in 0..rank {
        let of = |extents: &[Extent]| {
            let missing = rank - extents.len();
            axis.checked_sub(missing).map_or(Extent::Fixed(1), |k| extents[k])
        };
        joint.push(match (of(so_far), of(next)) {
            (Extent::Var, Extent::Var | Extent::Fixed(1)) | (Extent::Fixed(1), Extent::Var) => {
                Extent::Var
            }
            (Extent::Var, fixed) | (fixed, Extent::Var) => fixed,
            (Extent::Fixed(a), Extent::Fixed(b)) if a == b || b == 1 => Extent::Fixed(a),
            (Extent::Fixed(1), fixed) => fixed,
            _ => {
                return Err(Error::Operands {
                    argument,
                    shape: shape_of(next),
                    so_far: shape_of(so_far),
                    axis,
                    left: false,
                });
            }
        });
    }
    Ok(joint)
}

/// Refuses the axes of a mask, argument `argument`, that do not stretch to these. Rows may turn out to be as long as a fixed
/// axis of the mask if `may_fix` says so.
pub(super) fn check_mask(
    own: &[Extent],
    mask: &[Extent],
    argument: usize,
    may_fix: bool,
) -> Result<()> {
    let mut joint = join_kinds(own, mask, argument)?;
    let axes = joint.iter_mut().rev().zip(own.iter().rev());
    axes.filter(|(_, own)| may_fix && **own == Extent::Var).for_each(|(joint, own)| *joint = *own);
    match first_difference(&joint, own) {
        None => Ok(()),
        Some(axis) => {
            let (shape, so_far) = (shape_of(mask), shape_of(own));
            Err(Error::Operands { argument, axis, shape, so_far, left: false })
        }
    }
}

/// The shape of the content of a packed tensor.
pub(super) fn content_shape(form: &Form) -> Shape {
    form.rows().map(Offsets::last).into_iter().chain(form.trailing()).collect()
}

/// An error at an item that was listed, as one at the item.
pub(super) fn unlisted(mut error: Error, order: &[usize]) -> Error {
    if let Some(item) = error.element_index().and_then(|index| index.first_mut()) {
        *item = order.get(*item).copied().unwrap_or(*item);
    }
    error
}

/// An error at a position among the elements of the content as one at its index.
pub(super) fn unravelled(mut error: Error, form: &Form) -> Error {
    if let Some(index) = error.element_index()
        && let [position] = index[..]
    {
        *index = content_shape(form).unravel(position).to_vec();
    }
    error
}

/// An error at an index of the content, or of the results of a fold, which have axes of extents `behind` after the first
/// one, as one of ragged tensors.
pub(super) fn placed(mut error: Error, form: &Form, result: &Form, behind: &[usize]) -> Error {
    if let Error::Overflow { index, .. } | Error::NothingLeft { index } = &mut error {
        let (&first, inner) = index.split_first().unwrap_or((&0, &[]));
        let position = inner.iter().zip(behind).fold(first, |at, (&k, &extent)| at * extent + k);
        *index = result.content_path(&content_shape(result).unravel(position));
    } else if let Some(index) = error.element_index() {
        *index = form.content_path(index);
    }
    error
}
