//! Elements in memory that something else owns.

use super::{Reader, Writer};
use crate::error::StorageError;
use crate::memory::opaque;
use std::marker::PhantomData;

/// Elements `T` that lie in memory and belong to `O`: anything that lends them as a slice, such as a buffer of another
/// library, which lives as long as this does. Nothing is copied.
///
/// ```
/// use lensor::{Reader, Tensor, storage::Held};
/// use std::sync::Arc;
///
/// /// A buffer that several parts of a program share.
/// struct Samples(Arc<Vec<f32>>);
/// impl AsRef<[f32]> for Samples {
///     fn as_ref(&self) -> &[f32] {
///         &self.0
///     }
/// }
/// let samples = Arc::new(vec![1.0, 2.0, 3.0, 4.0]);
/// let t = Tensor::new([2, 2], Held::new(Samples(samples.clone())))?;
/// assert_eq!(t.view().transpose([1, 0])?.to_vec()?, [1.0, 3.0, 2.0, 4.0]);
/// assert_eq!(t.storage().as_slice().unwrap().as_ptr(), samples.as_ptr());
/// # Ok::<(), lensor::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Held<T, O> {
    owner: O,
    elements: PhantomData<fn() -> T>,
}

impl<T, O: AsRef<[T]>> Held<T, O> {
    /// The elements that `owner` lends.
    pub fn new(owner: O) -> Self {
        Self { owner, elements: PhantomData }
    }

    /// What owns the elements.
    pub fn owner(&self) -> &O {
        &self.owner
    }
}

opaque!([T, O: AsRef<[T]>] Held<T, O> |own| type: std::any::type_name::<T>(), len: own.owner.as_ref().len());

impl<T, O> Reader for Held<T, O>
where
    T: Copy + Send + Sync,
    O: AsRef<[T]> + Send + Sync,
{
    type Elem = T;

    #[inline]
    fn len(&self) -> usize {
        self.owner.as_ref().len()
    }

    #[inline]
    fn read(&self, address: usize) -> T {
        self.owner.as_ref()[address]
    }

    #[inline]
    fn try_read(&self, address: usize) -> Result<T, StorageError> {
        self.owner.as_ref().try_read(address)
    }

    #[inline]
    fn as_slice(&self) -> Option<&[T]> {
        Some(self.owner.as_ref())
    }
}

impl<T, O> Writer for Held<T, O>
where
    T: Copy + Send + Sync,
    O: AsRef<[T]> + AsMut<[T]> + Send + Sync,
{
    #[inline]
    fn write(&mut self, address: usize, value: T) {
        self.owner.as_mut()[address] = value;
    }

    #[inline]
    fn try_write(&mut self, address: usize, value: T) -> Result<(), StorageError> {
        self.owner.as_mut().try_write(address, value)
    }

    #[inline]
    fn as_mut_slice(&mut self) -> Option<&mut [T]> {
        Some(self.owner.as_mut())
    }
}
