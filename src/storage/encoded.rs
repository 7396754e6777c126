//! Elements in the bytes of a file: any offset, either byte order.

use super::stream::check_present;
use super::{Reader, Writer, stepped};
use crate::dtype::{ByteOrder, FileElement, MapElement};
use crate::error::{Error, Result, StorageError};
use crate::memory::debug_of_fields;
use std::marker::PhantomData;

/// Elements `T` encoded in the bytes `B`: from any offset on, aligned or not, in either byte order.
///
/// `B` is anything that gives bytes: a `Vec<u8>`, a `&'static [u8]` from `include_bytes!`, a shared
/// `Arc<[u8]>`, a memory map. Nothing is copied or decoded before it is read. The elements form a
/// slice where they are aligned and in the machine's byte order; elsewhere they are read unaligned
/// and swapped.
///
/// Every bit pattern of `T` must be a value, which [`MapElement`] asserts. `bool` has bytes that
/// are no value, so it is not read in place but copied, with a check:
///
/// ```compile_fail
/// use lensor::{Reader, dtype::ByteOrder, storage::Encoded};
/// let answers = Encoded::<bool, _>::new(vec![0, 1, 2], 0, 3, ByteOrder::NATIVE)?;
/// answers.read(2);
/// # Ok::<(), lensor::Error>(())
/// ```
///
/// ```
/// use lensor::dtype::ByteOrder;
/// use lensor::storage::{Encoded, read_elements};
/// use lensor::{Error, Tensor};
///
/// let packet = [7, 0, 1, 0, 2]; // one byte of something else, two numbers
/// let numbers = Encoded::<u16, _>::new(packet, 1, 2, ByteOrder::Big)?;
/// assert_eq!(Tensor::new([2], numbers)?.to_vec()?, [1, 2]);
///
/// let answers = read_elements::<bool>(&[0, 1, 2][..], 3, ByteOrder::NATIVE);
/// assert_eq!(answers, Err(Error::InvalidValue { index: 2, byte: 2 }));
/// # Ok::<(), lensor::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Encoded<T, B> {
    bytes: B,
    /// Position of the first element in `bytes`.
    start_bytes: usize,
    len: usize,
    order: ByteOrder,
    elements: PhantomData<T>,
}

impl<T: FileElement, B: AsRef<[u8]>> Encoded<T, B> {
    /// `len` elements from `offset_bytes` on.
    ///
    /// # Errors
    ///
    /// [`Error::Truncated`] if they reach beyond the bytes.
    ///
    /// ```
    /// use lensor::{Error, Tensor, dtype::ByteOrder, storage::Encoded};
    /// let bytes = [1, 0, 2, 0, 3];
    /// let pair = Encoded::<u16, _>::new(&bytes, 0, 2, ByteOrder::Little)?;
    /// assert_eq!(Tensor::new([2], pair)?.to_vec()?, [1, 2]);
    /// let error = Encoded::<u16, _>::new(&bytes, 1, 3, ByteOrder::Little).unwrap_err();
    /// assert_eq!(error, Error::Truncated { expected: 7, found: 5 });
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn new(bytes: B, offset_bytes: usize, len: usize, order: ByteOrder) -> Result<Self> {
        let found = bytes.as_ref().len() as u64;
        check_present::<T>(offset_bytes as u64, len, found)?;
        Ok(Self { bytes, start_bytes: offset_bytes, len, order, elements: PhantomData })
    }
}

impl<T, B> Encoded<T, B> {
    /// Byte order of the elements.
    pub fn byte_order(&self) -> ByteOrder {
        self.order
    }

    /// What holds the bytes, also those before and after the elements.
    pub fn bytes(&self) -> &B {
        &self.bytes
    }

    /// What holds the bytes, to write or flush them.
    pub fn bytes_mut(&mut self) -> &mut B {
        &mut self.bytes
    }

    /// What held the bytes.
    pub fn into_bytes(self) -> B {
        self.bytes
    }
}

debug_of_fields!([T, B] Encoded<T, B> |own|
    type: std::any::type_name::<T>(), start_bytes: own.start_bytes, len: own.len, order: own.order);

impl<T: MapElement, B: AsRef<[u8]>> Encoded<T, B> {
    /// All elements as one slice, with the reason where that is impossible.
    ///
    /// # Errors
    ///
    /// [`Error::Misaligned`] if the first element is not aligned in memory (`offset` counts from the
    /// last aligned byte; a memory map is aligned as its file offset is), [`Error::ElementType`] if
    /// the byte order is foreign, [`Error::Truncated`] if `B` gives fewer bytes than it did.
    ///
    /// ```
    /// use lensor::{Error, dtype::ByteOrder, storage::Encoded};
    /// let words = [0_u64, 1];
    /// let bytes: &[u8] = bytemuck::cast_slice(&words);
    /// let aligned = Encoded::<u64, _>::new(bytes, 8, 1, ByteOrder::NATIVE)?;
    /// assert_eq!(aligned.try_slice()?, [1]);
    /// let shifted = Encoded::<u64, _>::new(bytes, 3, 1, ByteOrder::NATIVE)?;
    /// assert_eq!(shifted.try_slice(), Err(Error::Misaligned { align: 8, offset: 3 }));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn try_slice(&self) -> Result<&[T]> {
        let window = self.window().ok_or_else(|| self.shrunk())?;
        check_native::<T>(self.order)?;
        bytemuck::try_cast_slice(window).map_err(|_| misaligned::<T>(window))
    }

    /// The bytes of all elements. `None` if `B` gives fewer bytes than when it was checked.
    #[inline]
    fn window(&self) -> Option<&[u8]> {
        self.bytes.as_ref().get(self.start_bytes..)?.get(..self.len * size_of::<T>())
    }

    fn shrunk(&self) -> Error {
        let expected = self.start_bytes + self.len * size_of::<T>();
        Error::Truncated { expected: expected as u64, found: self.bytes.as_ref().len() as u64 }
    }

    #[inline]
    fn element(&self, window: Option<&[u8]>, address: usize) -> Result<T, StorageError> {
        window
            .filter(|_| address < self.len)
            .and_then(|bytes| bytes.get(address * size_of::<T>()..)?.get(..size_of::<T>()))
            .map(|bytes| self.order.convert::<T>(bytemuck::pod_read_unaligned(bytes)))
            .ok_or_else(|| StorageError::beyond(address, self.len))
    }
}

impl<T, B> Reader for Encoded<T, B>
where
    T: MapElement,
    B: AsRef<[u8]> + Send + Sync,
{
    type Elem = T;

    #[inline]
    fn len(&self) -> usize {
        self.len
    }

    /// # Panics
    ///
    /// Panics if `address >= self.len()`.
    #[inline]
    fn read(&self, address: usize) -> T {
        self.try_read(address).unwrap_or_else(|error| panic!("{error}"))
    }

    #[inline]
    fn try_read(&self, address: usize) -> Result<T, StorageError> {
        self.element(self.window(), address)
    }

    #[inline]
    fn as_slice(&self) -> Option<&[T]> {
        self.try_slice().ok()
    }

    fn read_run(&self, start: usize, step: isize, out: &mut [T]) -> Result<(), StorageError> {
        let window = self.window();
        if step == 1 && start.checked_add(out.len()).is_some_and(|end| end <= self.len) {
            let run = window.and_then(|bytes| bytes.get(start * size_of::<T>()..));
            let encoded = run
                .ok_or_else(|| StorageError::beyond(start, self.len))?
                .chunks_exact(size_of::<T>());
            for (slot, bytes) in out.iter_mut().zip(encoded) {
                *slot = self.order.convert::<T>(bytemuck::pod_read_unaligned(bytes));
            }
            return Ok(());
        }
        for (k, slot) in out.iter_mut().enumerate() {
            *slot = self.element(window, stepped(start, step, k))?;
        }
        Ok(())
    }

    fn read_at(&self, addresses: &[usize], out: &mut [T]) -> Result<(), StorageError> {
        let window = self.window();
        for (slot, &address) in out.iter_mut().zip(addresses) {
            *slot = self.element(window, address)?;
        }
        Ok(())
    }
}

impl<T, B> Encoded<T, B>
where
    T: MapElement,
    B: AsRef<[u8]> + AsMut<[u8]>,
{
    /// All elements as one slice to write to, with the reason where that is impossible.
    ///
    /// # Errors
    ///
    /// As for [`Self::try_slice`].
    pub fn try_mut_slice(&mut self) -> Result<&mut [T]> {
        check_native::<T>(self.order)?;
        let shrunk = self.shrunk();
        let window = self.window_mut().ok_or(shrunk)?;
        let misaligned = misaligned::<T>(window);
        bytemuck::try_cast_slice_mut(window).map_err(|_| misaligned)
    }

    #[inline]
    fn window_mut(&mut self) -> Option<&mut [u8]> {
        let len_bytes = self.len * size_of::<T>();
        self.bytes.as_mut().get_mut(self.start_bytes..)?.get_mut(..len_bytes)
    }
}

impl<T, B> Writer for Encoded<T, B>
where
    T: MapElement,
    B: AsRef<[u8]> + AsMut<[u8]> + Send + Sync,
{
    /// # Panics
    ///
    /// Panics if `address >= self.len()`.
    #[inline]
    fn write(&mut self, address: usize, value: T) {
        self.try_write(address, value).unwrap_or_else(|error| panic!("{error}"));
    }

    #[inline]
    fn try_write(&mut self, address: usize, value: T) -> Result<(), StorageError> {
        let (order, len) = (self.order, self.len);
        let slot = self
            .window_mut()
            .filter(|_| address < len)
            .and_then(|bytes| bytes.get_mut(address * size_of::<T>()..)?.get_mut(..size_of::<T>()))
            .ok_or_else(|| StorageError::beyond(address, len))?;
        slot.copy_from_slice(bytemuck::bytes_of(&order.convert::<T>(value)));
        Ok(())
    }

    #[inline]
    fn as_mut_slice(&mut self) -> Option<&mut [T]> {
        self.try_mut_slice().ok()
    }
}

fn check_native<T: FileElement>(order: ByteOrder) -> Result<()> {
    if order.is_native() || size_of::<T>() == 1 {
        return Ok(());
    }
    let expected = T::DTYPE.name();
    Err(Error::ElementType { expected, found: format!("{expected} of {order:?} byte order") })
}

fn misaligned<T>(window: &[u8]) -> Error {
    let align = align_of::<T>();
    Error::Misaligned { align, offset: window.as_ptr().addr() % align }
}
