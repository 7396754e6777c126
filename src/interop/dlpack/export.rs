//! Tensors for others.
#![allow(
    unsafe_code,
    reason = "hands out pointers to memory that the receiver's descriptor keeps alive"
)]

use super::{described, malformed};
use crate::dtype::FileElement;
use crate::error::Result;
use crate::interop::memory::{Window, elements, elements_mut};
use crate::map::AddressMap;
use crate::memory::list;
use crate::storage::Reader;
use crate::tensor::Tensor;
use ::dlpark::ffi::{DLDevice, DLManagedTensorVersioned};
use ::dlpark::metadata::Dynamic;
use ::dlpark::{DlpackFlags, Managed, OpaqueContext};
use std::sync::Arc;

/// A tensor on its way to others, in the interface with versions and flags.
pub type Dlpack = Managed<DLManagedTensorVersioned>;

/// A tensor in memory, of any storage and under any strides, to be read by others: it moves into the descriptor, which
/// is marked as read-only. Nothing is copied. A tensor of shared storage, such as `Arc<Vec<T>>`, can be kept besides.
///
/// # Errors
///
/// [`Error::NotStrided`](crate::Error::NotStrided) if the storage is not memory, or the map is more than strides.
///
/// ```
/// use lensor::Tensor;
/// use lensor::interop::dlpack::export;
/// use std::sync::Arc;
/// let t = Tensor::new([2, 2], Arc::new(vec![1_i32, 2, 3, 4]))?;
/// let exported = export(t.clone().broadcast([5, 2, 2])?)?;
/// let described = exported.validate().unwrap();
/// assert_eq!((described.shape(), described.strides()), (&[5, 2, 2][..], Some(&[0, 2, 1][..])));
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn export<S>(t: Tensor<S>) -> Result<Dlpack>
where
    S: Reader<Elem: FileElement> + 'static,
{
    // Shared, so that what lies inside of the storage itself has an address, too.
    let t = Arc::new(t);
    let owner = t.clone();
    let (window, elements) = elements(&owner)?;
    let first = elements.as_ptr().cast_mut().wrapping_add(first_of(t.address_map(), &window));
    describe(t.address_map(), &window, first, DlpackFlags::READ_ONLY, t.clone())
}

/// A tensor of its own memory, to be read and written by others. If several of its indexes share an element it is marked
/// as read-only.
///
/// # Errors
///
/// As for [`export`].
///
/// ```
/// use lensor::Tensor;
/// use lensor::interop::dlpack::{dlpark::DlpackFlags, export_owned};
/// let t = Tensor::from_vec([2, 2], vec![1_i32, 2, 3, 4])?.transpose([1, 0])?;
/// assert!(!export_owned(t)?.flags().contains(DlpackFlags::READ_ONLY));
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn export_owned<T: FileElement>(mut t: Tensor<Vec<T>>) -> Result<Dlpack> {
    let map = t.address_map().clone();
    let (window, lowest, flags) = match elements_mut(&mut t) {
        Ok((window, elements)) => (window, elements.as_mut_ptr(), DlpackFlags::empty()),
        Err(_) => {
            let (window, elements) = elements(&t)?;
            (window, elements.as_ptr().cast_mut(), DlpackFlags::READ_ONLY)
        }
    };
    let first = lowest.wrapping_add(first_of(&map, &window));
    describe(&map, &window, first, flags, Box::new(t.into_storage()))
}

/// The element at index 0 among those of a window.
fn first_of(map: &AddressMap, window: &Window) -> usize {
    map.top().offset() - window.span.start
}

/// A descriptor of what a window shows from its first element on, which lies in `owner`.
fn describe<T: FileElement>(
    map: &AddressMap,
    window: &Window,
    first: *mut T,
    flags: DlpackFlags,
    owner: impl OpaqueContext,
) -> Result<Dlpack> {
    let shape = list(map.shape().iter().copied())?;
    let strides = list(window.strides.iter().copied())?;
    let prepared = Dynamic::new(shape, strides).prepare_as::<DLManagedTensorVersioned>();
    let mut made = prepared.map_err(malformed)?.initialize(owner);
    made.set_data(if window.span.is_empty() { std::ptr::null_mut() } else { first.cast() });
    made.set_dtype(described(T::DTYPE)).set_device(DLDevice::CPU);
    made.set_flags(flags).map_err(malformed)?;
    // SAFETY: `owner` holds the memory and lives until the descriptor is dropped; `window` is of a slice of that memory,
    // and all addresses of the map lie in its span. The strides are written. Memory of an `Arc` is marked as
    // read-only, that of a `Vec` belongs to nobody else.
    Ok(unsafe { made.finish() })
}
