//! Elements in memory that something else owns.

use super::dense::slices;
use super::{Reader, Writer};
use crate::error::StorageError;
use crate::memory::debug_of_fields;
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

debug_of_fields!([T, O: AsRef<[T]>] Held<T, O> |own| type: std::any::type_name::<T>(), len: own.owner.as_ref().len());

slices! {
    [T: Copy + Send + Sync, O: AsRef<[T]> + Send + Sync] [O: AsMut<[T]>] Held<T, O>,
    self => self.owner.as_ref(), self.owner.as_mut();
}
