//! Copies out of tensors and assignments into them.

use crate::error::{Error, Result};
use crate::expr::{BoxExpr, Lazy, Pairs, check_operand};
use crate::map::AddressMap;
use crate::storage::{Reader, Sparse, Writer};
use crate::tensor::Tensor;
use itertools::Either;

impl<S: Reader> Tensor<S> {
    /// A new tensor with copies of the elements of this view, in row-major order.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`] if the storage fails, [`Error::OutOfMemory`] if the copies cannot be kept.
    ///
    /// ```
    /// use lensor::Tensor;
    /// let t = Tensor::from_nested([[1, 2], [3, 4]])?;
    /// let turned = t.view().transpose([1, 0])?.eval()?;
    /// assert_eq!(turned.storage(), &[1, 3, 2, 4]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    #[doc(alias = "copy")]
    #[doc(alias = "to_owned")]
    pub fn eval(&self) -> Result<Tensor<Vec<S::Elem>>> {
        self.view().lazy().eval()
    }

    /// A new sparse tensor of the entries of this view, whose storage is sparse. Nothing else is visited.
    ///
    /// # Errors
    ///
    /// As [`Lazy::eval_sparse`].
    ///
    /// ```
    /// use lensor::Tensor;
    /// use lensor::storage::Duplicates;
    /// let t = Tensor::from_coordinates([1 << 20, 9], 0, &[[5, 7]], vec![1], Duplicates::Refuse)?;
    /// let turned = t.view().transpose([1, 0])?.eval_sparse()?;
    /// assert_eq!((turned.get([7, 5])?, turned.storage().stored_len()), (1, 1));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn eval_sparse(&self) -> Result<Tensor<Sparse<S::Elem>>> {
        self.view().lazy().eval_sparse()
    }

    /// Copies of the elements of this view, in row-major order.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`] if the storage fails, [`Error::OutOfMemory`] if the copies cannot be kept.
    ///
    /// ```
    /// use lensor::Tensor;
    /// let t = Tensor::from_vec([2, 2], vec![1, 2, 3, 4])?;
    /// assert_eq!(t.view().flip(0)?.to_vec()?, [3, 4, 1, 2]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn to_vec(&self) -> Result<Vec<S::Elem>> {
        Ok(self.eval()?.into_storage())
    }

    /// Copies the elements of this view into a view of any storage with a writer.
    ///
    /// # Errors
    ///
    /// As [`Lazy::assign_to`].
    ///
    /// ```
    /// use lensor::Tensor;
    /// let t = Tensor::from(vec![1, 2]);
    /// let mut out = Tensor::full([2, 2], 0)?;
    /// t.assign_to(&mut out.view_mut().diagonal(0, 1)?)?;
    /// assert_eq!(out.to_vec()?, [1, 0, 0, 2]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn assign_to<W: Writer<Elem = S::Elem>>(&self, out: &mut Tensor<W>) -> Result<()> {
        self.view().lazy().assign_to(out)
    }
}

impl<T: Copy + Send + Sync> Tensor<Vec<T>> {
    /// The same elements in memory in row-major order: as they are if they lie so, copied otherwise.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] if copies cannot be kept.
    ///
    /// ```
    /// use lensor::Tensor;
    /// let turned = Tensor::from_nested([[1, 2], [3, 4]])?.transpose([1, 0])?;
    /// assert_eq!(turned.into_contiguous()?.storage(), &[1, 3, 2, 4]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn into_contiguous(self) -> Result<Self> {
        let run = self.address_map().consecutive();
        if run.is_some_and(|run| run.len() == self.storage().len()) {
            Ok(self)
        } else {
            self.eval()
        }
    }
}

impl<W: Writer> Tensor<W> {
    /// Writes `value` to every element of this view.
    ///
    /// # Errors
    ///
    /// [`Error::NotInjective`] if two indexes of this view share an address, [`Error::Storage`] if the storage
    /// fails, [`Error::OutOfMemory`] if it is sparse and cannot keep the entries.
    ///
    /// ```
    /// use lensor::Tensor;
    /// let mut t = Tensor::full([2, 3], 0)?;
    /// t.view_mut().select((.., 1))?.fill(7)?;
    /// assert_eq!(t.to_vec()?, [0, 7, 0, 0, 7, 0]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn fill(&mut self, value: W::Elem) -> Result<()> {
        Lazy(crate::expr::Scalar(value)).assign_to(self)
    }

    /// Computes `source` into this view, stretched to its shape where an extent is 1 or missing. The
    /// destination never stretches.
    ///
    /// # Errors
    ///
    /// [`Error::Destination`] if the shapes do not fit, [`Error::NotInjective`] if two indexes of this view share
    /// an address, [`Error::WouldDensify`] for a source with entries whose fill value is not that of the sparse
    /// storage of which this is a part, and, see [`Lazy::densely`], for very many elements of a source that is
    /// sparse in part, if this storage is sparse; and what the evaluation of `source` reports. After an error this
    /// view may be partly written.
    ///
    /// ```
    /// use lensor::Tensor;
    /// let mut t = Tensor::full([2, 2], 0)?;
    /// let row = Tensor::from_vec([2], vec![1, 2])?;
    /// t.view_mut().transpose([1, 0])?.assign(&row)?;
    /// assert_eq!(t.to_vec()?, [1, 1, 2, 2]);
    ///
    /// // A literal takes the element type of this view.
    /// let mut halves = Tensor::full([2], 0.5_f32)?;
    /// halves.assign(1.5)?;
    /// assert_eq!(halves.to_vec()?, [1.5, 1.5]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn assign<X>(&mut self, source: X) -> Result<()>
    where
        W::Elem: Pairs<X>,
    {
        Lazy(<W::Elem as Pairs<X>>::pair(source)).assign_to(self)
    }

    /// Replaces the elements of this view by an expression of the old ones, as if those had been
    /// copied first. The expression may borrow other tensors too.
    ///
    /// `old` is a view, so `old.clone()` copies no elements; what `old.view()` gives cannot leave the closure. An expression
    /// is returned as one type by [`boxed`](crate::Elementwise::boxed).
    ///
    /// # Errors
    ///
    /// What `f` returns, and as [`Self::assign`]; this view is unchanged if computing fails. New elements that are not
    /// sparse are all in memory before they take the place of old ones: [`Error::OutOfMemory`].
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let mut t = Tensor::from_nested([[1, 2], [3, 4]])?;
    /// t.update(|old| Ok((old.clone().transpose([1, 0])? + old).boxed()))?;
    /// assert_eq!(t.to_vec()?, [2, 5, 5, 8]);
    ///
    /// let mask = t.view().greater(4).eval()?;
    /// t.update(|old| Ok(choose(&mask, 0, old).boxed()))?;
    /// assert_eq!(t.to_vec()?, [2, 0, 0, 0]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn update<'s, F>(&'s mut self, f: F) -> Result<()>
    where
        // The borrow of `self` bounds `'a`: what `f` captures need not live longer than that.
        F: for<'a> FnOnce(Tensor<&'a &'s mut W>) -> Result<BoxExpr<'a, W::Elem>>,
    {
        let mut out = self.view_mut();
        let new = {
            let new = f(out.view())?;
            let sparse = out.storage().stored().is_some();
            if sparse && new.is_sparse() {
                Either::Left(new.eval_sparse()?)
            } else {
                if sparse {
                    check_operand(&new)?;
                }
                Either::Right(new.eval()?)
            }
        };
        match new {
            Either::Left(sparse) => out.assign(sparse),
            Either::Right(dense) => out.assign(dense),
        }
    }

    /// Copies the elements that `from` reaches to the addresses that `to` reaches, both in the storage
    /// of this tensor, with the result of copying first.
    ///
    /// No memory is taken where one ends before the other begins, the storage lies in memory and both maps have one stage.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfSpan`] if a map reaches beyond the storage, and as [`Self::assign`].
    ///
    /// ```
    /// use lensor::Tensor;
    /// let mut t = Tensor::from_vec([4], vec![1, 2, 3, 4])?;
    /// let (from, to) = (t.address_map().clone().slice(0, 0..3)?, t.address_map().clone().slice(0, 1..4)?);
    /// t.copy_within(&from, &to)?;
    /// assert_eq!(t.to_vec()?, [1, 1, 2, 3]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn copy_within(&mut self, from: &AddressMap, to: &AddressMap) -> Result<()> {
        let (_, storage) = self.parts_mut();
        let (source, dest) = (from.span(), to.span());
        let len = storage.len();
        if let Some(span) = [&source, &dest].into_iter().find(|span| span.end > len) {
            return Err(Error::OutOfSpan { span: span.clone(), len });
        }
        let apart = source.end <= dest.start || dest.end <= source.start;
        if let Some(slice) = storage
            .as_mut_slice()
            .filter(|_| apart && !source.is_empty() && !dest.is_empty())
            .filter(|_| from.rest().is_empty() && to.rest().is_empty())
        {
            let cut = source.start.max(dest.start).min(slice.len());
            let (low, high) = slice.split_at_mut(cut);
            let (source_part, dest_part) =
                if source.start < dest.start { (&*low, high) } else { (&*high, low) };
            let start = |span: &std::ops::Range<usize>| if span.start >= cut { cut } else { 0 };
            let source_map = from.clone().moved_down(start(&source))?;
            let dest_map = to.clone().moved_down(start(&dest))?;
            return Tensor::with_map(dest_map, dest_part)?
                .assign(Tensor::with_map(source_map, source_part)?);
        }
        let copy = Tensor::with_map(from.clone(), &*storage)?.lazy();
        if copy.is_sparse() {
            let copy = copy.eval_sparse()?;
            return Tensor::with_map(to.clone(), storage)?.assign(copy);
        }
        let copy = copy.eval()?;
        Tensor::with_map(to.clone(), storage)?.assign(copy)
    }
}
