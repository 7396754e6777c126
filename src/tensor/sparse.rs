//! Sparse tensors from coordinates.

use super::Tensor;
use crate::error::{Error, Result, SparseFlaw};
use crate::memory::try_with_capacity;
use crate::shape::Shape;
use crate::storage::{Duplicates, Sparse};

impl<T: Copy + Send + Sync> Tensor<Sparse<T>> {
    /// A sparse tensor without entries: `fill` at every index. Takes no memory.
    ///
    /// An entry that is added moves all after it: for many in any order there is [`Self::from_coordinates`].
    ///
    /// # Errors
    ///
    /// [`Error::ShapeOverflow`] and [`Error::RankLimit`] for a shape of too many elements or axes.
    ///
    /// ```
    /// use lensor::Tensor;
    /// let mut t = Tensor::sparse([1 << 20, 1 << 20], 0.0)?;
    /// t.set([5, 7], 1.5)?;
    /// assert_eq!((t.get([5, 7])?, t.storage().stored_len()), (1.5, 1));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn sparse(shape: impl Into<Shape>, fill: T) -> Result<Self> {
        let shape = shape.into();
        let count = shape.count()?;
        Self::new(shape, Sparse::new(count, fill))
    }

    /// A sparse tensor of `values` at `indexes`, in any order, and `fill` elsewhere.
    ///
    /// # Errors
    ///
    /// [`Error::Rank`] for an index without one number per axis, [`Error::InvalidSparse`] for one that
    /// lies outside, for another number of values than indexes and, if duplicates are refused, for the
    /// second entry of an index; [`Error::ShapeOverflow`], [`Error::RankLimit`] and [`Error::OutOfMemory`].
    ///
    /// ```
    /// use lensor::{Tensor, storage::Duplicates};
    /// let indexes = [[1, 2], [0, 0], [1, 2]];
    /// let t = Tensor::from_coordinates([2, 3], 0, &indexes, vec![5, 6, 7], Duplicates::sum())?;
    /// assert_eq!(t.to_vec()?, [6, 0, 0, 0, 0, 12]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn from_coordinates(
        shape: impl Into<Shape>,
        fill: T,
        indexes: &[impl AsRef<[usize]>],
        values: Vec<T>,
        duplicates: Duplicates<T>,
    ) -> Result<Self> {
        let shape = shape.into();
        shape.count()?;
        let mut addresses = try_with_capacity(indexes.len())?;
        for (at, index) in indexes.iter().enumerate() {
            let (index, expected) = (index.as_ref(), shape.rank());
            if index.len() != expected {
                let (what, found) = ("indexes", index.len());
                return Err(Error::Rank { what, expected, found });
            }
            let mut address = 0;
            for (axis, (&index, &extent)) in index.iter().zip(shape.iter()).enumerate() {
                if index >= extent {
                    let what = SparseFlaw::Index { axis, index, extent };
                    return Err(Error::InvalidSparse { at, what });
                }
                address = address * extent + index;
            }
            addresses.push(address);
        }
        Self::from_entries(shape, fill, addresses, values, duplicates)
    }

    /// [`Self::from_coordinates`] from one list per axis, such as rows and columns: entry `k` has index
    /// `[lists[0][k], lists[1][k], ..]`.
    ///
    /// # Errors
    ///
    /// [`Error::Rank`] unless there is one list per axis, [`Error::InvalidSparse`] if one is not as long as
    /// `values`, and otherwise as [`Self::from_coordinates`].
    ///
    /// ```
    /// use lensor::{Tensor, storage::Duplicates};
    /// let (rows, columns) = ([1, 0], [2, 0]);
    /// let lists = [&rows[..], &columns];
    /// let t = Tensor::from_coordinate_lists([2, 3], 0, &lists, vec![5, 6], Duplicates::Refuse)?;
    /// assert_eq!(t.to_vec()?, [6, 0, 0, 0, 0, 5]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    #[doc(alias = "coo")]
    pub fn from_coordinate_lists(
        shape: impl Into<Shape>,
        fill: T,
        lists: &[&[usize]],
        values: Vec<T>,
        duplicates: Duplicates<T>,
    ) -> Result<Self> {
        let shape = shape.into();
        shape.count()?;
        let expected = shape.rank();
        if lists.len() != expected {
            return Err(Error::Rank { what: "coordinate lists", expected, found: lists.len() });
        }
        let mut addresses: Vec<usize> = try_with_capacity(values.len())?;
        addresses.resize(values.len(), 0);
        if let Some(list) = lists.iter().find(|list| list.len() != values.len()) {
            let what = SparseFlaw::Counts { addresses: list.len(), values: values.len() };
            return Err(Error::InvalidSparse { at: list.len().min(values.len()), what });
        }
        let mut outside = None;
        for (axis, (list, &extent)) in lists.iter().zip(shape.iter()).enumerate() {
            let at = list.iter().position(|&index| index >= extent);
            let first = at.map(|at| (at, axis, list[at], extent));
            outside = outside.into_iter().chain(first).min();
            for (address, &index) in addresses.iter_mut().zip(*list) {
                *address = address.wrapping_mul(extent).wrapping_add(index);
            }
        }
        if let Some((at, axis, index, extent)) = outside {
            let what = SparseFlaw::Index { axis, index, extent };
            return Err(Error::InvalidSparse { at, what });
        }
        Self::from_entries(shape, fill, addresses, values, duplicates)
    }

    fn from_entries(
        shape: Shape,
        fill: T,
        addresses: Vec<usize>,
        values: Vec<T>,
        duplicates: Duplicates<T>,
    ) -> Result<Self> {
        match Sparse::from_coordinates(shape.count()?, fill, addresses, values, duplicates) {
            Ok(storage) => Self::new(shape, storage),
            Err(Error::InvalidSparse { at, what: SparseFlaw::Duplicate { address } }) => {
                let index = shape.unravel(address).to_vec();
                Err(Error::InvalidSparse { at, what: SparseFlaw::Repeated { index } })
            }
            Err(error) => Err(error),
        }
    }
}
