//! Writing arrays.

use super::Header;
use crate::dtype::{ByteOrder, Element, FileElement};
use crate::error::Result;
use crate::expr::{Expr, IntoExpr, Lazy, for_each_piece};
use crate::interop::file;
use crate::memory::try_with_capacity;
use crate::storage::Checked;
use std::io::Write;
use std::path::Path;

/// Bytes that are evaluated at once: enough for all threads to have work.
const PIECE_BYTES: usize = 1 << 22;
/// Bytes that are written at once.
const BLOCK_BYTES: usize = 1 << 16;

/// Writes a tensor, a view of any storage or an expression, in row-major order and the machine's byte
/// order.
///
/// The bytes are those that NumPy's `save` writes for the same array. Elements are computed and written piece by
/// piece, in a few megabytes of memory however many there are; storage in blocks takes what
/// [`Pieces`](crate::Pieces) says, and results of deferred operands are held whole.
///
/// # Errors
///
/// The error that an expression carries and what [`Header::new`] reports, before anything is written; what its
/// evaluation reports, see [`Pieces::for_each_box`](crate::Pieces::for_each_box);
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory), and [`Error::Io`](crate::Error::Io) if the sink fails. It
/// then holds a part.
///
/// ```
/// use lensor::prelude::*;
/// use lensor::interop::npy;
/// let t = Tensor::from_vec([2], vec![1.5, 2.5])?;
/// let mut file = Vec::new();
/// npy::write(&mut file, &t * 2.0)?;
/// assert_eq!(npy::read::<f64>(&file[..])?.to_vec()?, [3.0, 5.0]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn write<X>(sink: impl Write, array: X) -> Result<()>
where
    X: IntoExpr<Elem: FileElement>,
{
    let array = Lazy(array.into_expr());
    let header = header(&array)?;
    write_with(&header, sink, &array)
}

/// Writes a tensor, a view of any storage or an expression to a new file, which replaces one of the same name.
///
/// The new file is written beside the old one, brought to disk and then moved to its name, so that at any time
/// one of them is there as a whole. It has the permissions of the old file; a symbolic link goes on leading to
/// it, a second hard link to the old one. Storage mapped from the old file keeps its elements, so the
/// expression may read them; what is written to it from then on is in no file that has a name. A process that
/// is killed may leave a hidden file named `.*.tmp`. What is no regular file, such as a pipe or `/dev/stdout`,
/// is written as it is.
///
/// # Errors
///
/// As for [`write`](write()); an old file is as it was then. [`Error::Io`](crate::Error::Io) names the file, and
/// is also what there is if no file can be made in its directory: [`write`](write()) takes one that is open.
///
/// ```
/// use lensor::{Tensor, interop::npy};
/// let dir = tempfile::tempdir()?;
/// let path = dir.path().join("t.npy");
/// npy::save(&path, &Tensor::from_vec([2, 1], vec![1_u8, 2])?)?;
/// assert_eq!(npy::open_header(&path)?.shape(), &[2, 1][..]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn save<X>(path: impl AsRef<Path>, array: X) -> Result<()>
where
    X: IntoExpr<Elem: FileElement>,
{
    let array = Lazy(array.into_expr());
    let header = header(&array)?;
    file::save(path.as_ref(), |file| write_with(&header, file, &array))
}

fn header<E: Expr<Elem: FileElement>>(array: &Lazy<E>) -> Result<Header> {
    Header::new(E::Elem::DTYPE, ByteOrder::NATIVE, false, array.shape()?)
}

fn write_with<E>(header: &Header, sink: impl Write, array: &Lazy<E>) -> Result<()>
where
    E: Expr<Elem: FileElement>,
{
    let mut sink = Checked(sink);
    sink.write_all(&header.to_bytes())?;
    write_elements(&mut sink, array, header.byte_order())?;
    // What the sink keeps for later may fail, which would be lost.
    Ok(sink.flush()?)
}

/// Writes all elements in row-major order, computed and written piece by piece.
pub(crate) fn write_elements<E>(
    sink: &mut dyn Write,
    array: &Lazy<E>,
    order: ByteOrder,
) -> Result<()>
where
    E: Expr<Elem: FileElement>,
{
    let element_bytes = size_of::<E::Elem>();
    let mut block = try_with_capacity(BLOCK_BYTES / element_bytes)?;
    for_each_piece(array, PIECE_BYTES / element_bytes, |piece| {
        for elements in piece.chunks(BLOCK_BYTES / element_bytes) {
            block.clear();
            let bytes = elements.iter().map(|element| element.into_bytes());
            block.extend(bytes.map(|bytes| order.convert::<E::Elem>(bytes)));
            sink.write_all(bytemuck::cast_slice(&block))?;
        }
        Ok(())
    })
}
