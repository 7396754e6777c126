//! Writing arrays.

use super::Header;
use crate::dtype::{ByteOrder, Element, FileElement};
use crate::error::Result;
use crate::storage::{Reader, reserve};
use crate::tensor::Tensor;
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// Bytes that are written at once.
const BLOCK_BYTES: usize = 1 << 16;

/// Writes a tensor, or a view of any storage, in row-major order and the machine's byte order.
///
/// The bytes are those that NumPy's `save` writes for the same array.
///
/// # Errors
///
/// [`Error::Storage`](crate::Error::Storage) if the storage fails,
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Io`](crate::Error::Io) if the sink
/// does; it then holds a part.
pub fn write<S>(mut sink: impl Write, tensor: &Tensor<S>) -> Result<()>
where
    S: Reader,
    S::Elem: FileElement,
{
    let header = Header::new(S::Elem::DTYPE, ByteOrder::NATIVE, false, tensor.shape())?;
    let elements = tensor.to_vec()?;
    sink.write_all(&header.to_bytes()?)?;
    let block_len = BLOCK_BYTES / size_of::<S::Elem>();
    let mut block = Vec::new();
    reserve(&mut block, elements.len().min(block_len))?;
    for elements in elements.chunks(block_len) {
        block.clear();
        block.extend(elements.iter().map(|element| element.into_bytes()));
        sink.write_all(bytemuck::cast_slice(&block))?;
    }
    Ok(())
}

/// Writes a tensor to a new file, replacing one of the same name.
///
/// # Errors
///
/// As for [`write`](write()).
///
/// ```
/// use lensor::{Tensor, interop::npy};
/// let dir = tempfile::tempdir()?;
/// let path = dir.path().join("t.npy");
/// npy::save(&path, &Tensor::from_vec([2, 1], vec![1_u8, 2])?)?;
/// assert_eq!(npy::open_header(&path)?.shape(), &[2, 1][..]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn save<S>(path: impl AsRef<Path>, tensor: &Tensor<S>) -> Result<()>
where
    S: Reader,
    S::Elem: FileElement,
{
    write(File::create(path)?, tensor)
}
