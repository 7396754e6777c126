//! Tensors of others.
#![allow(unsafe_code, reason = "reads memory that only the caller knows to be there")]

use super::{described, in_words, malformed};
use crate::dtype::{ByteOrder, FileElement, MapElement};
use crate::error::{Error, Result};
use crate::map::AddressMap;
use crate::memory::debug_of_fields;
use crate::shape::Shape;
use crate::storage::{Held, read_elements};
use crate::tensor::Tensor;
use ::dlpark::ffi::DLDeviceType;
use ::dlpark::{DlpackFlags, Managed, ManagedTensorBase};
use std::ptr::NonNull;

/// Memory of somebody else, who is told when it is no more needed. Of [`import`].
pub struct Imported<T, M: ManagedTensorBase> {
    start: NonNull<T>,
    len: usize,
    managed: Managed<M>,
}

// SAFETY: it is a `&[T]`, and a descriptor that may be dropped by any thread.
unsafe impl<T: Sync, M: ManagedTensorBase> Send for Imported<T, M> {}
// SAFETY: it is a `&[T]`, and a descriptor that may be dropped by any thread.
unsafe impl<T: Sync, M: ManagedTensorBase> Sync for Imported<T, M> {}

impl<T, M: ManagedTensorBase> Imported<T, M> {
    /// What describes the memory.
    pub fn managed(&self) -> &Managed<M> {
        &self.managed
    }
}

impl<T, M: ManagedTensorBase> AsRef<[T]> for Imported<T, M> {
    #[inline]
    fn as_ref(&self) -> &[T] {
        // SAFETY: `window` checked that the range is aligned, not null and not longer than memory can be; that it is
        // initialized and nobody writes it is what the caller of `import` promised.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

debug_of_fields!([T, M: ManagedTensorBase] Imported<T, M> |own| len: own.len);

/// As [`Imported`], of memory that nobody else reads or writes. Of [`import_mut`].
#[derive(Debug)]
pub struct ImportedMut<T, M: ManagedTensorBase>(Imported<T, M>);

impl<T, M: ManagedTensorBase> ImportedMut<T, M> {
    /// What describes the memory.
    pub fn managed(&self) -> &Managed<M> {
        &self.0.managed
    }
}

impl<T, M: ManagedTensorBase> AsRef<[T]> for ImportedMut<T, M> {
    #[inline]
    fn as_ref(&self) -> &[T] {
        self.0.as_ref()
    }
}

impl<T, M: ManagedTensorBase> AsMut<[T]> for ImportedMut<T, M> {
    #[inline]
    fn as_mut(&mut self) -> &mut [T] {
        // SAFETY: as for `Imported::as_ref`; that it may be written and nobody else has it is what the caller of
        // `import_mut` promised.
        unsafe { std::slice::from_raw_parts_mut(self.0.start.as_ptr(), self.0.len) }
    }
}

/// A tensor of the memory that a descriptor shows, read where it lies. `M` is the version of the interface.
///
/// # Errors
///
/// [`Error::ElementType`] for another type, [`Error::Misaligned`], [`Error::RankLimit`], and [`Error::Malformed`] for
/// memory of another device, a null pointer, and what overflows.
///
/// # Safety
///
/// The descriptor is true: its pointers to shape and strides are valid, and for as long as the tensor lives the memory
/// from the lowest to the highest address that they span is there, initialized, and written by nobody. Any thread may drop
/// it.
///
/// ```
/// use lensor::Tensor;
/// use lensor::interop::dlpack::{export, import};
/// use std::sync::Arc;
/// let memory = Arc::new(vec![1.5, 2.5, 3.5]);
/// let exported = export(Tensor::new([3], memory.clone())?.flip(0)?)?; // by another library, say
/// // SAFETY: it was exported a line before, and nobody writes it.
/// let t = unsafe { import::<f64, _>(exported) }?;
/// assert_eq!(t.to_vec()?, [3.5, 2.5, 1.5]);
/// drop(t); // tells the other library
/// assert_eq!(Arc::strong_count(&memory), 1);
/// # Ok::<(), lensor::Error>(())
/// ```
pub unsafe fn import<T, M>(managed: Managed<M>) -> Result<Tensor<Held<T, Imported<T, M>>>>
where
    T: MapElement,
    M: ManagedTensorBase,
{
    let (map, imported) = window::<T, T, M>(managed)?;
    Tensor::with_map(map, Held::new(imported))
}

/// As [`import`], to be written.
///
/// # Errors
///
/// As for [`import`], and [`Error::Malformed`] for what is marked as read-only.
///
/// # Safety
///
/// As for [`import`], and nobody else reads the memory. The descriptor does not hide that it must not be written.
///
/// ```
/// use lensor::Tensor;
/// use lensor::interop::dlpack::{export_owned, import_mut};
/// let exported = export_owned(Tensor::from_vec([2, 2], vec![1, 2, 3, 4])?)?;
/// // SAFETY: it was exported a line before, and nobody else has it.
/// let mut t = unsafe { import_mut::<i32, _>(exported) }?;
/// t.view_mut().select((0,))?.fill(7)?;
/// assert_eq!(t.to_vec()?, [7, 7, 3, 4]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub unsafe fn import_mut<T, M>(managed: Managed<M>) -> Result<Tensor<Held<T, ImportedMut<T, M>>>>
where
    T: MapElement,
    M: ManagedTensorBase,
{
    if managed.flags().contains(DlpackFlags::READ_ONLY) {
        return Err(malformed("it is marked as read-only"));
    }
    let (map, imported) = window::<T, T, M>(managed)?;
    Tensor::with_map(map, Held::new(ImportedMut(imported)))
}

/// A copy of what a descriptor shows, of any type: bytes of `bool` are checked.
///
/// # Errors
///
/// As for [`import`], [`Error::InvalidValue`] for a byte that is no `bool`, [`Error::OutOfMemory`].
///
/// # Safety
///
/// As for [`import`], while this runs.
///
/// ```
/// use lensor::Tensor;
/// use lensor::interop::dlpack::{export, to_tensor};
/// let exported = export(Tensor::from(vec![true, false]))?;
/// // SAFETY: it was exported a line before.
/// assert_eq!(unsafe { to_tensor::<bool, _>(exported) }?.to_vec()?, [true, false]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub unsafe fn to_tensor<T, M>(managed: Managed<M>) -> Result<Tensor<Vec<T>>>
where
    T: FileElement,
    M: ManagedTensorBase,
{
    let (map, imported) = window::<T, T::Bytes, M>(managed)?;
    let shape = map.shape().clone();
    let bytes = Tensor::with_map(map, Held::new(imported))?.to_vec()?;
    let bytes: &[u8] = bytemuck::cast_slice(&bytes);
    Tensor::from_vec(shape, read_elements(bytes, bytes.len() / size_of::<T>(), ByteOrder::NATIVE)?)
}

/// The memory of a descriptor of elements `T`, as elements `E` of the same size, and the map of the indexes.
fn window<T, E, M>(managed: Managed<M>) -> Result<(AddressMap, Imported<E, M>)>
where
    T: FileElement,
    M: ManagedTensorBase,
{
    let found = managed.validate().map_err(malformed)?;
    Shape::check_rank(found.ndim())?;
    // Whatever its number: some count several devices in the memory of the processor.
    let device = found.device().device_type;
    if device != DLDeviceType::CPU {
        return Err(malformed(format!("it lies on a device of type {}", device.0)));
    }
    if found.dtype() != described(T::DTYPE) {
        let found = in_words(found.dtype());
        return Err(Error::ElementType { expected: T::DTYPE.name(), found });
    }
    let strides = found.strides_or_compact().map_err(malformed)?;
    let overflow = || malformed("its addresses overflow");
    let shape: Shape = found.shape().iter().map(|&extent| extent as usize).collect();
    let strides = strides.iter().map(|&stride| isize::try_from(stride).map_err(|_| overflow()));
    let strides = strides.collect::<Result<smallvec::SmallVec<[isize; 8]>>>()?;
    if shape.contains(&0) {
        let map = AddressMap::row_major(&shape)?;
        return Ok((map, Imported { start: NonNull::dangling(), len: 0, managed }));
    }
    // There are fewer than 2^64 elements, so these sums stay below 2^127.
    let (mut low, mut high) = (0_i128, 0_i128);
    for (&extent, &stride) in shape.iter().zip(&strides) {
        let reach = (extent as i128 - 1) * stride as i128;
        low += reach.min(0);
        high += reach.max(0);
    }
    let size = size_of::<E>() as i128;
    let len = usize::try_from(high - low + 1).map_err(|_| overflow())?;
    isize::try_from(len as i128 * size).map_err(|_| overflow())?;
    let before = usize::try_from(-low).map_err(|_| overflow())?;
    let map = AddressMap::from_strides(shape, before, &strides)?;
    let data = found.data_ptr().cast_mut().cast::<E>();
    let first = data.addr() as i128 + i128::from(found.byte_offset());
    let (start, end) = (first + low * size, first + (high + 1) * size);
    let (Ok(start), Ok(_)) = (usize::try_from(start), usize::try_from(end)) else {
        return Err(overflow());
    };
    let start = NonNull::new(data.with_addr(start)).filter(|_| !data.is_null());
    let start = start.ok_or_else(|| malformed("its address is null"))?;
    if !start.is_aligned() {
        let align = align_of::<E>();
        return Err(Error::Misaligned { align, offset: start.addr().get() % align });
    }
    Ok((map, Imported { start, len, managed }))
}
