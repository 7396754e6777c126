//! Sparse copies of tensors, expressions and results of operations.

use crate::compute::{Compute, Deferred};
use crate::dtype::SameBits;
use crate::error::{Error, Result};
use crate::expr::{Expr, Lazy};
use crate::storage::{Reader, Sparse, prune};
use crate::tensor::Tensor;

impl<E: Expr<Elem: SameBits>> Lazy<E> {
    /// Computes all elements and keeps those that differ from `fill`.
    ///
    /// An expression of sparse operands is computed from its entries. Any other is computed block by
    /// block, in the time of all elements and the memory of those that are kept.
    ///
    /// # Errors
    ///
    /// [`Error::WouldDensify`] if the expression is sparse with another fill value, as all elements would then be
    /// stored, and, see [`Self::densely`], for very many elements of one that is sparse in part; otherwise as
    /// [`Self::eval`].
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let t = Tensor::from_vec([2, 3], vec![0, 7, 0, 0, 0, 9])?;
    /// let double = (&t * 2).to_sparse(0)?;
    /// assert!(double.storage().iter().eq([(1, 14), (5, 18)]));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn to_sparse(&self, fill: E::Elem) -> Result<Tensor<Sparse<E::Elem>>> {
        if !self.is_sparse() {
            let mut out = Tensor::sparse(self.shape()?, fill)?;
            self.assign_to(&mut out)?;
            return Ok(out);
        }
        let (map, storage) = self.eval_sparse()?.into_parts();
        if !storage.fill().same_bits(fill) && storage.stored_len() < storage.len() {
            let (stored, dense) = (storage.stored_len(), storage.len());
            return Err(Error::WouldDensify { stored, dense });
        }
        let (len, _, mut addresses, mut values) = storage.into_parts();
        prune(&mut addresses, &mut values, fill);
        Ok(Tensor::from_parts(map, Sparse::of_sorted(len, fill, addresses, values)))
    }
}

impl<S: Reader<Elem: SameBits>> Tensor<S> {
    /// A sparse tensor of the elements of this view that differ from `fill`, in row-major order.
    ///
    /// # Errors
    ///
    /// As [`Lazy::to_sparse`].
    ///
    /// ```
    /// use lensor::Tensor;
    /// let t = Tensor::from_vec([2, 3], vec![0.0, 7.0, -0.0, 0.0, 0.0, 9.0])?;
    /// let turned = t.view().transpose([1, 0])?.to_sparse(0.0)?;
    /// assert_eq!(turned.storage().addresses(), [2, 4, 5]); // 7.0, -0.0 and 9.0
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn to_sparse(&self, fill: S::Elem) -> Result<Tensor<Sparse<S::Elem>>> {
        self.view().lazy().to_sparse(fill)
    }
}

impl<S: Reader> Tensor<S> {
    /// Whether the storage is sparse, so that [`Self::eval_sparse`] gives a result. Constants are.
    ///
    /// ```
    /// use lensor::Tensor;
    /// let t = Tensor::full([2, 3], 0)?;
    /// assert_eq!((t.is_sparse(), t.to_sparse(0)?.is_sparse()), (false, true));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn is_sparse(&self) -> bool {
        self.view().lazy().is_sparse()
    }
}

impl<C: Compute<Elem: SameBits>> Deferred<C> {
    /// Computes all results and keeps those that differ from `fill`. Folds of sparse operands have [`Self::eval_sparse`],
    /// which takes the time of their entries.
    ///
    /// # Errors
    ///
    /// As [`Self::eval`].
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[0.0, 7.0], [0.0, 2.0]])?;
    /// assert!(t.sum(0).to_sparse(0.0)?.storage().iter().eq([(1, 9.0)]));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn to_sparse(&self, fill: C::Elem) -> Result<Tensor<Sparse<C::Elem>>> {
        let mut out = Tensor::sparse(self.shape()?, fill)?;
        self.assign_to(&mut out)?;
        Ok(out)
    }
}
