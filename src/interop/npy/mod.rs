//! NumPy's `.npy` files: one array, any shape, both memory orders, both byte orders.
//!
//! Formats 1.0, 2.0 and 3.0 are read; 1.0 is written, byte for byte as NumPy writes it. The element
//! types are those of [`DType`](crate::dtype::DType); text, objects and structures are refused.
//!
//! | | copies into memory | copies nothing |
//! |---|---|---|
//! | from bytes or a stream | [`read`], [`read_next`] | [`from_bytes`] |
//! | from a path | [`open`] | `map`, `map_mut` (feature `mmap`) |
//!
//! A file may come from a stranger. Whatever it holds, these functions return an error rather than
//! panic, abort, or allocate more than twice the bytes that are there and 64 KiB.
//!
//! ```
//! use lensor::Tensor;
//! use lensor::interop::npy;
//!
//! let t = Tensor::from_vec([2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
//! let mut file = Vec::new();
//! npy::write(&mut file, &t.view().transpose([1, 0])?)?;
//!
//! let back = npy::read::<f64>(&file[..])?;
//! assert_eq!(back.shape(), [3, 2]);
//! assert_eq!(back.to_vec()?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
//! # Ok::<(), lensor::Error>(())
//! ```

mod header;
#[cfg(feature = "mmap")]
mod map;
mod parse;
mod write;

pub use header::Header;
#[cfg(feature = "mmap")]
pub use map::{create_mut, map, map_mut};
#[cfg(feature = "safetensors")]
pub(crate) use write::write_elements;
pub use write::{save, write};

use super::file;
use crate::dtype::FileElement;
use crate::error::{Error, Result};
use crate::storage::{Encoded, Reader, fill, read_elements, read_elements_at};
use crate::tensor::Tensor;
use std::io::Read;
use std::path::Path;

/// Reads an array from a stream that holds nothing else.
///
/// A file in Fortran order becomes a transposed view of its elements. Memory grows with what
/// arrives, so a header that promises too much costs nothing.
///
/// # Errors
///
/// What [`Header::parse`] reports; [`Error::ElementType`] if the elements are not `T`,
/// [`Error::Truncated`] and [`Error::TrailingData`] if the stream ends too early or goes on,
/// [`Error::InvalidValue`] for a `bool` that is neither 0 nor 1, [`Error::OutOfMemory`],
/// [`Error::Io`].
///
/// ```
/// use lensor::{Tensor, interop::npy};
/// let mut file = Vec::new();
/// npy::write(&mut file, Tensor::from(vec![1.5, 2.5]))?;
/// assert_eq!(npy::read::<f64>(&file[..])?.to_vec()?, [1.5, 2.5]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn read<T: FileElement>(mut source: impl Read) -> Result<Tensor<Vec<T>>> {
    let (header, tensor) = read_one(&mut source)?;
    let trailing = fill(&mut source, &mut [0])?;
    file::check_end(header.file_bytes() + trailing as u64, header.file_bytes())?;
    Ok(tensor)
}

/// Reads an array from a stream and leaves what follows it alone, another array for example.
///
/// # Errors
///
/// As for [`read`], but for [`Error::TrailingData`].
///
/// ```
/// use lensor::{Tensor, interop::npy};
/// let mut file = Vec::new();
/// npy::write(&mut file, &Tensor::from_vec([1], vec![7_u8])?)?;
/// npy::write(&mut file, &Tensor::from_vec([2], vec![0.5, 1.5])?)?;
///
/// let mut stream = &file[..];
/// assert_eq!(npy::read_next::<u8>(&mut stream)?.to_vec()?, [7]);
/// assert_eq!(npy::read_next::<f64>(&mut stream)?.to_vec()?, [0.5, 1.5]);
/// assert!(stream.is_empty());
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn read_next<T: FileElement>(source: impl Read) -> Result<Tensor<Vec<T>>> {
    Ok(read_one(source)?.1)
}

#[inline(never)]
fn read_one<T: FileElement>(mut source: impl Read) -> Result<(Header, Tensor<Vec<T>>)> {
    let header = Header::read(&mut source)?;
    header.check_type::<T>()?;
    let data = read_elements(source, header.count(), header.byte_order());
    let data = data.map_err(|error| match error {
        Error::Truncated { found, .. } => Error::Truncated {
            expected: header.file_bytes(),
            found: header.data_offset() as u64 + found,
        },
        other => other,
    })?;
    let tensor = header.tensor(data)?;
    Ok((header, tensor))
}

/// Reads the array of a file into memory.
///
/// # Errors
///
/// As for [`read`]; truncated and trailing data are found before anything is allocated.
///
/// ```
/// use lensor::{Tensor, interop::npy};
/// let dir = tempfile::tempdir()?;
/// let path = dir.path().join("t.npy");
/// npy::save(&path, &Tensor::from_vec([2], vec![true, false])?)?;
/// assert_eq!(npy::open::<bool>(&path)?.to_vec()?, [true, false]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn open<T: FileElement>(path: impl AsRef<Path>) -> Result<Tensor<Vec<T>>> {
    file::open(path.as_ref(), |file| {
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            // A pipe does not know its length.
            return read(file);
        }
        let header = Header::read(file)?;
        header.check_type::<T>()?;
        file::check_end(metadata.len(), header.file_bytes())?;
        header.tensor(read_elements_at(
            file,
            header.data_offset() as u64,
            header.count(),
            header.byte_order(),
        )?)
    })
}

/// Reads the header of a file, to learn type and shape before the elements are touched.
///
/// # Errors
///
/// As for [`Header::read`].
///
/// ```
/// use lensor::{Tensor, interop::npy};
/// let dir = tempfile::tempdir()?;
/// let path = dir.path().join("t.npy");
/// npy::save(&path, Tensor::full([2, 3], 1_u8)?)?;
/// assert_eq!(npy::open_header(&path)?.shape(), &[2, 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn open_header(path: impl AsRef<Path>) -> Result<Header> {
    file::open(path.as_ref(), |file| Header::read(file))
}

/// The array in the bytes of a file: nothing is copied, elements are decoded as they are read.
///
/// # Errors
///
/// As for [`read`], of which [`Error::InvalidValue`] and [`Error::OutOfMemory`] cannot happen.
///
/// ```
/// use lensor::interop::npy;
/// # let mut FILE = Vec::new();
/// # npy::write(&mut FILE, &lensor::Tensor::from_vec([2], vec![1_i32, 2])?)?;
/// // FILE might be include_bytes!("table.npy")
/// let table = npy::from_bytes::<i32, _>(&FILE)?;
/// assert_eq!(table.get([1])?, 2);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn from_bytes<T, B>(bytes: B) -> Result<Tensor<Encoded<T, B>>>
where
    T: FileElement,
    B: AsRef<[u8]>,
    Encoded<T, B>: Reader,
{
    let header = Header::parse(bytes.as_ref())?;
    header.check_type::<T>()?;
    file::check_end(bytes.as_ref().len() as u64, header.file_bytes())?;
    header.tensor(Encoded::new(bytes, header.data_offset(), header.count(), header.byte_order())?)
}
