//! A tensor is one address map and one storage. A view changes the map and leaves the storage alone.

mod build;
mod combine;
mod flat;
pub(crate) mod fmt;
mod iter;
mod pad;
mod sparse;
pub(crate) mod stored;
pub(crate) mod views;

pub use build::Nested;
pub(crate) use combine::inverse;
pub use combine::{IntoTensor, concat, stack};
pub use flat::Flat;
pub use iter::AxisIter;
pub use pad::{Padded, pad};

use crate::error::{Error, Result};
use crate::map::AddressMap;
use crate::shape::Shape;
use crate::storage::{BoxReader, Reader, Writer};

/// Elements of a storage under an address map.
///
/// `S` is any [`Reader`]: owned (`Vec<T>`), borrowed (`&[T]`, `&Vec<T>`, `&mut S`), mapped or computed.
/// View operations take the tensor by value and keep the storage, so call them on [`Tensor::view`] to
/// keep the original.
///
/// [`concat()`], [`stack`] and [`pad`] make one view of several tensors, or of one with a border;
/// [`Tensor::split`] and [`Tensor::split_at`] take one apart.
///
/// ```
/// use lensor::Tensor;
/// let t = Tensor::from_vec([2, 3], vec![0, 1, 2, 3, 4, 5])?;
/// let v = t.view().transpose([1, 0])?.flip(0)?;
/// assert_eq!(v.shape(), [3, 2]);
/// assert_eq!(v.to_vec()?, [2, 5, 1, 4, 0, 3]);
/// # Ok::<(), lensor::Error>(())
/// ```
#[derive(Clone)]
pub struct Tensor<S> {
    map: AddressMap,
    storage: S,
}

impl<S: Reader> Tensor<S> {
    /// The first elements of `storage` in row-major order.
    ///
    /// # Errors
    ///
    /// [`Error::Length`] if `storage` has fewer elements than `shape` (more are fine),
    /// [`Error::ShapeOverflow`] and [`Error::RankLimit`] for a shape of too many elements or axes.
    ///
    /// ```
    /// use lensor::Tensor;
    /// let bytes = [1_u8, 2, 3, 4, 5, 6];
    /// let t = Tensor::new([2, 3], &bytes)?;
    /// assert_eq!(t.get([1, 0])?, 4);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    #[inline]
    pub fn new(shape: impl Into<Shape>, storage: S) -> Result<Self> {
        let shape = shape.into();
        let map = AddressMap::of_shape(&shape)?;
        let (expected, found) = (map.count(), storage.len());
        if expected > found {
            return Err(Error::Length { shape: shape.to_vec(), expected, found });
        }
        Ok(Self { map, storage })
    }

    /// `storage` under any map.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfSpan`] if the map reaches beyond the storage.
    ///
    /// ```
    /// use lensor::{AddressMap, Tensor};
    /// let every_other = AddressMap::row_major([3, 2])?.slice(1, 1..2)?;
    /// assert_eq!(Tensor::with_map(every_other, vec![1, 2, 3, 4, 5, 6])?.to_vec()?, [2, 4, 6]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn with_map(map: AddressMap, storage: S) -> Result<Self> {
        let (span, len) = (map.span(), storage.len());
        if span.end > len {
            return Err(Error::OutOfSpan { span, len });
        }
        Ok(Self { map, storage })
    }

    /// The element at `index`.
    ///
    /// # Errors
    ///
    /// [`Error::Rank`] unless `index` has one number per axis, [`Error::Index`] if one lies outside,
    /// [`Error::Storage`] if the storage fails, [`Error::OutOfSpan`] if it has fewer elements than it said.
    ///
    /// ```
    /// use lensor::{Error, Tensor};
    /// let t = Tensor::from_vec([2, 2], vec![1, 2, 3, 4])?;
    /// assert_eq!(t.get([1, 0])?, 3);
    /// let error = t.get([0, 2]).unwrap_err();
    /// assert_eq!(error, Error::Index { axis: 1, index: 2, extent: 2 });
    /// # Ok::<(), lensor::Error>(())
    /// ```
    #[inline]
    pub fn get(&self, index: impl AsRef<[usize]>) -> Result<S::Elem> {
        let index = index.as_ref();
        let address = self.map.to_local(index)?;
        match self.storage.as_slice() {
            Some(slice) => match slice.get(address) {
                Some(&element) => Ok(element),
                None => Err(Error::OutOfSpan { span: address..address + 1, len: slice.len() }),
            },
            None => self
                .storage
                .try_read(address)
                .map_err(|source| Error::Storage { index: Some(index.to_vec()), source }),
        }
    }

    /// The only element of a tensor that has one.
    ///
    /// # Errors
    ///
    /// [`Error::NotSingle`] if there are more or none, and as [`Self::get`].
    ///
    /// ```
    /// use lensor::Tensor;
    /// assert_eq!(Tensor::full([1, 1], 7)?.item()?, 7);
    /// assert!(Tensor::full([2], 7)?.item().is_err());
    /// # Ok::<(), lensor::Error>(())
    /// ```
    #[inline(never)]
    pub fn item(&self) -> Result<S::Elem> {
        self.shape().check_single()?;
        self.get(self.shape().unravel(0))
    }

    /// Boxes the storage, so that tensors of different storage have one type. The box clones; a box of a box is
    /// one box. Boxes of other storage made of boxes nest up to 256 deep, see [`BoxReader::new`]. The counterpart
    /// for expressions is [`Lazy::boxed`](crate::Lazy::boxed).
    ///
    /// ```
    /// use lensor::{Tensor, storage::Constant};
    /// let (a, b) = (Tensor::from(vec![1, 2]), Tensor::new([2], Constant::new(2, 7))?);
    /// let both = [a.erase(), b.erase()];
    /// assert_eq!(both[1].to_vec()?, [7, 7]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    #[doc(alias = "boxed")]
    pub fn erase<'a>(self) -> Tensor<BoxReader<'a, S::Elem>>
    where
        S: Clone + 'a,
    {
        Tensor { map: self.map, storage: BoxReader::new(self.storage) }
    }
}

impl<S> Tensor<S> {
    /// Extents.
    #[inline]
    pub fn shape(&self) -> Shape {
        self.map.shape()
    }

    /// Number of axes.
    #[inline]
    pub fn rank(&self) -> usize {
        self.map.rank()
    }

    /// Number of elements of the view.
    #[inline]
    pub fn len(&self) -> usize {
        self.map.count()
    }

    /// Whether the view has no elements.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The address map.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let turned = Tensor::from_nested([[1, 2, 3], [4, 5, 6]])?.transpose([1, 0])?;
    /// assert_eq!(turned.address_map().to_local([2, 0])?, 2); // the third element of the storage
    /// assert!(!turned.address_map().is_contiguous());
    /// # Ok::<(), Error>(())
    /// ```
    #[inline]
    pub fn address_map(&self) -> &AddressMap {
        &self.map
    }

    /// The storage, which may hold more than the view shows.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let row = Tensor::from_nested([[1, 2, 3], [4, 5, 6]])?.select((1,))?;
    /// assert_eq!((row.to_vec()?, &row.storage()[..]), (vec![4, 5, 6], &[1, 2, 3, 4, 5, 6][..]));
    /// # Ok::<(), Error>(())
    /// ```
    #[inline]
    pub fn storage(&self) -> &S {
        &self.storage
    }

    /// The storage, without the view.
    pub fn into_storage(self) -> S {
        self.storage
    }

    /// The map and the storage.
    pub fn into_parts(self) -> (AddressMap, S) {
        (self.map, self.storage)
    }

    /// The same view of borrowed storage. Copies no element.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let t = Tensor::from_nested([[1, 2], [3, 4]])?;
    /// let column = t.view().select((.., 0))?; // `t.select` would take `t`
    /// assert!(std::ptr::eq(*column.storage(), t.storage()));
    /// assert_eq!((column.to_vec()?, t.to_vec()?), (vec![1, 3], vec![1, 2, 3, 4]));
    /// # Ok::<(), Error>(())
    /// ```
    #[inline]
    pub fn view(&self) -> Tensor<&S> {
        Tensor { map: self.map.clone(), storage: &self.storage }
    }

    /// The same view of mutably borrowed storage.
    ///
    /// ```
    /// use lensor::Tensor;
    /// let mut t = Tensor::from_vec([2, 2], vec![1, 2, 3, 4])?;
    /// t.view_mut().select((.., 0))?.fill(0)?;
    /// assert_eq!(t.to_vec()?, [0, 2, 0, 4]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    #[inline]
    pub fn view_mut(&mut self) -> Tensor<&mut S> {
        Tensor { map: self.map.clone(), storage: &mut self.storage }
    }

    /// A tensor whose map is known to fit its storage.
    #[inline]
    pub(crate) fn from_parts(map: AddressMap, storage: S) -> Self {
        Self { map, storage }
    }

    /// Map and mutable storage at once.
    pub(crate) fn parts_mut(&mut self) -> (&AddressMap, &mut S) {
        (&self.map, &mut self.storage)
    }

    #[inline]
    pub(crate) fn rewrite(
        self,
        f: &mut dyn FnMut(AddressMap) -> Result<AddressMap>,
    ) -> Result<Self> {
        Ok(Self { map: f(self.map)?, storage: self.storage })
    }

    /// The same in place. After an error the map is another.
    pub(crate) fn change_map(
        &mut self,
        f: &mut dyn FnMut(AddressMap) -> Result<AddressMap>,
    ) -> Result<()> {
        self.map = f(std::mem::take(&mut self.map))?;
        Ok(())
    }
}

impl<S: Writer> Tensor<S> {
    /// Writes one element. Where the view repeats an address, all its indexes change.
    ///
    /// # Errors
    ///
    /// [`Error::Rank`] unless `index` has one number per axis, [`Error::Index`] if one lies outside,
    /// [`Error::Storage`] if the storage fails, or has fewer elements than it said.
    ///
    /// ```
    /// use lensor::Tensor;
    /// let mut t = Tensor::full([2, 2], 0)?;
    /// t.view_mut().transpose([1, 0])?.set([1, 0], 5)?;
    /// assert_eq!(t.to_vec()?, [0, 5, 0, 0]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn set(&mut self, index: impl AsRef<[usize]>, value: S::Elem) -> Result<()> {
        let index = index.as_ref();
        let address = self.map.to_local(index)?;
        self.storage
            .try_write(address, value)
            .map_err(|source| Error::Storage { index: Some(index.to_vec()), source })
    }
}
