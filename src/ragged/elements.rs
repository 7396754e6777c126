//! Elements as values: one of them, all, and how many there are.

use super::Ragged;
use super::form::content_shape;
use super::levels::RowItems;
use crate::error::{Error, Result};
use crate::expr::Scalar;
use crate::map::Select;
use crate::storage::{Reader, Writer};
use smallvec::SmallVec;

/// The selectors of one element.
fn at(index: &[usize], rank: usize) -> Result<SmallVec<[Select; 4]>> {
    if index.len() != rank {
        return Err(Error::Rank { what: "indexes", expected: rank, found: index.len() });
    }
    Ok(index.iter().map(|&digit| Select::from(digit)).collect())
}

/// An error of the only element of a view as one of its index.
fn of_element(mut error: Error, at: &[usize]) -> Error {
    match &mut error {
        Error::Storage { index, .. } => *index = Some(at.to_vec()),
        Error::RowIndex { index, row, axis, .. } => {
            (*index, *row) = (at[*axis] as i128, at[..*axis].to_vec());
        }
        Error::Index { index, axis, .. } => *index = at[*axis] as i128,
        _ => {}
    }
    error
}

impl<S> Ragged<S> {
    /// Number of elements of all rows.
    ///
    /// # Errors
    ///
    /// As for [`Self::form`].
    ///
    /// ```
    /// use lensor::ragged::Ragged;
    /// let r = Ragged::from_nested(vec![vec![1, 2, 3], vec![], vec![4]])?;
    /// assert_eq!((r.len()?, r.view().select((1,))?.is_empty()?), (4, true));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn len(&self) -> Result<usize> {
        self.form()?.count()
    }

    /// Whether there are no elements.
    ///
    /// # Errors
    ///
    /// As for [`Self::form`].
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }
}

impl<S: Reader> Ragged<S> {
    /// The element at an index.
    ///
    /// # Errors
    ///
    /// [`Error::Rank`] unless `index` has one number per axis, [`Error::Index`] and [`Error::RowIndex`] if one lies
    /// outside its axis or row, [`Error::Storage`] if the storage fails, [`Error::OutOfSpan`] if it shrank.
    ///
    /// ```
    /// use lensor::ragged::Ragged;
    /// let r = Ragged::from_nested(vec![vec![1, 2, 3], vec![], vec![4]])?;
    /// assert_eq!((r.get([0, 2])?, r.get([2, 0])?), (3, 4));
    /// assert_eq!(r.get([1, 0]).unwrap_err().to_string(), "index 0 is out of bounds: row [1] of axis 1 has 0 items");
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn get(&self, index: impl AsRef<[usize]>) -> Result<S::Elem> {
        let index = index.as_ref();
        let one = self.view().select(&at(index, self.rank())?[..]);
        let element = one.and_then(|one| one.into_tensor()?.item());
        element.map_err(|error| of_element(error, index))
    }

    /// The only element of a tensor that has one.
    ///
    /// # Errors
    ///
    /// [`Error::NotSingle`] if there are more or none, and as [`Self::get`].
    ///
    /// ```
    /// use lensor::ragged::Ragged;
    /// let r = Ragged::from_nested(vec![vec![], vec![7_u8]])?;
    /// assert_eq!(r.item()?, 7);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn item(&self) -> Result<S::Elem> {
        let form = self.form()?;
        content_shape(&form).check_single()?;
        let path = form.path(self.rank(), 0);
        self.get(&path[..])
    }

    /// All elements in row-major order.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`] if the storage fails, [`Error::OutOfSpan`] if it shrank, [`Error::OutOfMemory`].
    pub fn to_vec(&self) -> Result<Vec<S::Elem>> {
        if self.has_rows_in_memory()? {
            return Ok(self.eval()?.content.into_storage());
        }
        let elements = self.view().into_items()?.to_vec();
        elements.map_err(|error| self.of_content(error))
    }

    /// Whether rows are anywhere in content that lies in memory in row-major order: they are copied one by one, as in
    /// expressions.
    fn has_rows_in_memory(&self) -> Result<bool> {
        let resolved = self.resolved()?;
        let (RowItems::Starts { .. }, Some(own)) = (&resolved.rows, resolved.form.rows()) else {
            return Ok(false);
        };
        let (map, shape) = (self.content.address_map(), self.content.shape());
        let extent = shape.first().copied().unwrap_or(0);
        let inside = |row| {
            let run = resolved.row(own, row);
            run.len == 0 || run.item(0).max(run.item(run.len - 1)) < extent
        };
        let found = map.consecutive().zip(self.content.storage().as_slice());
        Ok(found.is_some_and(|(run, all)| all.get(run).is_some()) && (0..own.rows()).all(inside))
    }

    /// An error at an index of the packed content as one of the tensor.
    fn of_content(&self, mut error: Error) -> Error {
        if let Some(index) = error.element_index()
            && let Ok(form) = self.form()
        {
            *index = form.content_path(index);
        }
        error
    }

    /// Computes a copy into another tensor or view, as [`Ragged::assign`] of that one does.
    ///
    /// # Errors
    ///
    /// As [`Ragged::assign`].
    ///
    /// ```
    /// use lensor::ragged::Ragged;
    /// let r = Ragged::from_nested(vec![vec![1, 2, 3], vec![4]])?;
    /// let mut out = Ragged::from_nested(vec![vec![0, 0, 0], vec![0]])?;
    /// r.view().flip(1)?.assign_to(&mut out)?;
    /// assert_eq!(out.to_string(), "[[3, 2, 1], [4]]");
    /// assert!(r.view().flip(0)?.assign_to(&mut out).is_err()); // a row of 3 does not fit one of 1
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn assign_to<W: Writer<Elem = S::Elem>>(&self, out: &mut Ragged<W>) -> Result<()> {
        out.assign_expr(&self.view())
    }
}

impl<W: Writer> Ragged<W> {
    /// Writes one element.
    ///
    /// # Errors
    ///
    /// As [`Self::get`].
    ///
    /// ```
    /// use lensor::ragged::Ragged;
    /// let mut r = Ragged::from_nested(vec![vec![1, 2, 3], vec![4]])?;
    /// r.set([1, 0], 9)?;
    /// assert_eq!(r.to_string(), "[[1, 2, 3], [9]]");
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn set(&mut self, index: impl AsRef<[usize]>, value: W::Elem) -> Result<()> {
        let index = index.as_ref();
        let selectors = at(index, self.rank())?;
        let one = self.view_mut().select(&selectors[..]);
        let done = one.and_then(|one| one.into_tensor()?.set([], value));
        done.map_err(|error| of_element(error, index))
    }

    /// Writes `value` to every element.
    ///
    /// # Errors
    ///
    /// As [`Self::assign`].
    ///
    /// ```
    /// use lensor::ragged::Ragged;
    /// let mut r = Ragged::from_nested(vec![vec![1, 2, 3], vec![4]])?;
    /// r.view_mut().clip(1, 1..)?.fill(0)?;
    /// assert_eq!(r.to_string(), "[[1, 0, 0], [4]]");
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn fill(&mut self, value: W::Elem) -> Result<()> {
        self.assign_expr(&Scalar(value))
    }
}
