//! Evaluation: the items of an expression, computed as a dense one.

use super::expr::{Ahead, LazyRagged, RaggedExpr, RaggedRows};
use super::form::{Extent, Form, content_shape};
use super::joint::Joint;
use super::levels::levels_of;
use super::{Ragged, Stretch};
use crate::error::{Error, Result};
use crate::expr::{Explanation, Lazy, first_fault};
use crate::storage::Reader;
use crate::tensor::Tensor;

/// The joint form of an expression, with what is computed before it: nothing, if rows are known not to align, or to have
/// no elements.
pub(super) fn joined(e: &dyn RaggedRows, stretch: Stretch) -> Result<Joint<'_>> {
    if e.ahead() == Ahead::Items {
        let outline = e.outline(stretch)?;
        if outline.form.count()? == 0 {
            return Ok(outline);
        }
    }
    e.joint(stretch)
}

/// Computes the items of an expression at its joint form.
pub(super) fn evaluate<E: RaggedExpr>(e: &E, stretch: Stretch) -> Result<Ragged<Vec<E::Elem>>> {
    evaluate_at(e, &joined(e, stretch)?)
}

/// The same, at a form that is known.
pub(super) fn evaluate_at<E: RaggedExpr>(e: &E, joint: &Joint<'_>) -> Result<Ragged<Vec<E::Elem>>> {
    let flat = Lazy(e.flat(joint)?);
    let result = flat.eval().map_err(|error| at_path(error, joint))?;
    of_items(&joint.form, result.into_storage())
}

/// All items in row-major order as a tensor of a form.
pub(super) fn of_items<T: Copy + Send + Sync>(
    form: &Form,
    items: Vec<T>,
) -> Result<Ragged<Vec<T>>> {
    Ok(Ragged::of(levels_of(form), Tensor::new(content_shape(form), items)?))
}

/// An error at an index of the flat items as one of the result.
pub(super) fn at_path(mut error: Error, joint: &Joint<'_>) -> Error {
    let index = match &mut error {
        Error::Overflow { index, .. } | Error::NothingLeft { index } => Some(index),
        error => error.element_index(),
    };
    if let Some(index) = index {
        *index = joint.form.whole_path(joint.cut(), index);
    }
    error
}

/// The first error of an expression in row-major order, for one that was met where it is read in another, and is brought
/// to an index of the expression by `place`.
#[cold]
pub(super) fn first_error<E: RaggedExpr>(
    e: &E,
    joint: &Joint<'_>,
    error: Error,
    place: impl FnOnce(Error) -> Error,
) -> Error {
    match e.flat(joint).ok().and_then(|flat| first_fault(&Lazy(flat), &error)) {
        Some(first) => at_path(first, joint),
        None => place(error),
    }
}

impl<S: Reader> Ragged<S> {
    /// Copies of all elements, packed: without gaps, in row-major order.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`] if the storage fails, [`Error::OutOfSpan`] if it shrank, [`Error::OutOfMemory`], and
    /// [`Error::WouldDensify`] for more than 2^33 elements of sparse content in rows that are not packed, which
    /// are read one by one if there are more than 2^24 items.
    ///
    /// ```
    /// use lensor::ragged::Ragged;
    /// let r = Ragged::from_nested(vec![vec![1, 2, 3], vec![], vec![4, 5]])?;
    /// let packed = r.view().select((.., 1..))?.eval()?;
    /// assert_eq!(packed.content().to_vec()?, [2, 3, 5]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn eval(&self) -> Result<Ragged<Vec<S::Elem>>> {
        evaluate(&self.view(), Stretch::Rows)
    }

    /// This tensor as an expression.
    pub fn lazy(self) -> LazyRagged<Self> {
        LazyRagged(self)
    }

    /// Says in a few lines how a copy would be made.
    ///
    /// # Errors
    ///
    /// As [`Self::form`].
    pub fn explain(&self) -> Result<Explanation> {
        super::explain::explain(&self.view())
    }
}

/// Refuses var axes.
pub(super) fn dense_only(extents: &[Extent]) -> Result<()> {
    match extents.iter().position(|&extent| extent == Extent::Var) {
        Some(axis) => Err(Error::RaggedAxes { axis, crossed: axis }),
        None => Ok(()),
    }
}
