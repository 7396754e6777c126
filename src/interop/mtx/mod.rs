//! Matrix Market files: a matrix as text, its entries or all elements.
//!
//! | the file lists | read as | written by |
//! |---|---|---|
//! | entries (`coordinate`) | sparse: [`read`], [`open`] | [`write`](write()), [`write_as`], [`save`], [`save_as`] |
//! | elements (`array`) | dense: [`read_array`], [`open_array`]; sparse: [`read`], [`open`] | [`write_array`], [`save_array`] |
//!
//! Values may be real, integer, complex (with the feature of that name) or left out (`pattern`), and
//! symmetric, skew-symmetric and hermitian matrices come complete. Indexes count from 1 in files and from 0
//! here.
//!
//! Text has no width, so the caller names the element type: fractions are read as any float, rounded to
//! nearest, integers and patterns as any number whose range they are in, rounded where that is a float.
//! [`Header::dtype`] is the widest type of a file.
//!
//! A file may come from a stranger. Whatever it holds, these functions return an error that names the
//! line rather than panic, abort, or allocate more than what the lines present need.
//!
//! ```
//! use lensor::interop::mtx;
//! let file = b"%%MatrixMarket matrix coordinate real symmetric
//! % a comment
//! 3 3 2
//! 1 1 0.5
//! 3 1 2
//! ";
//! let matrix = mtx::read::<f64>(&file[..])?;
//! assert_eq!(matrix.storage().addresses(), [0, 2, 6]);
//! assert_eq!(matrix.to_vec()?, [0.5, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0]);
//! # Ok::<(), lensor::Error>(())
//! ```

mod body;
mod header;
mod write;

pub use header::{Field, Format, Header, Symmetry};
pub use write::{save, save_array, save_as, write, write_array, write_as};

use super::file;
use crate::dtype::FileElement;
use crate::error::{Error, Result};
use crate::interop::text::{Lines, sparse};
use crate::memory::{push, resize};
use crate::storage::Sparse;
use crate::tensor::Tensor;
use std::io::Read;
use std::path::Path;

use self::body::{array_places, with_image};

/// Reads a matrix of either format from a stream that holds nothing else.
///
/// Every entry of the file is stored, zeros too; [`Sparse::prune`] drops those. Of an array every element
/// is. Entries given twice are summed, integers wrapping; `bool`s are joined by `or`.
///
/// # Errors
///
/// What [`Header::parse`] reports; [`Error::ElementType`] if the values cannot be `T`, [`Error::Line`] for a
/// line that is malformed or longer than 4096 bytes, [`Error::LineIndex`] for an index outside the matrix,
/// [`Error::EntryCount`] for fewer or more entries than declared, [`Error::OutOfMemory`], [`Error::Io`].
///
/// ```
/// use lensor::interop::mtx;
/// let file = b"%%MatrixMarket matrix coordinate pattern general\n2 3 2\n1 3\n2 1\n";
/// assert_eq!(mtx::read::<bool>(&file[..])?.storage().addresses(), [2, 3]);
/// assert_eq!(mtx::read::<f32>(&file[..])?.to_vec()?, [0.0, 0.0, 1.0, 1.0, 0.0, 0.0]);
///
/// let error = mtx::read::<f64>(&b"%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 5\n"[..]);
/// assert_eq!(error.unwrap_err().to_string(), "line 3: index 3 of axis 0 is not in 1..=2");
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn read<T: FileElement>(source: impl Read) -> Result<Tensor<Sparse<T>>> {
    let mut lines = Lines::new(source, b'%');
    let header = Header::read(&mut lines)?;
    let (mut addresses, mut values) = (Vec::new(), Vec::new());
    let shape = header.shape();
    body::for_each::<T>(&header, &mut lines, &mut |index, value| {
        for (index, value) in with_image(header.symmetry(), index, value) {
            push(&mut addresses, shape.ravel(&index))?;
            push(&mut values, value)?;
        }
        Ok(())
    })?;
    sparse(shape, addresses, values)
}

/// Reads an array from a stream that holds nothing else.
///
/// As the file lists elements column by column, the result is a transposed view of them.
///
/// # Errors
///
/// As for [`read`], and [`Error::Line`] for a file that lists entries: those take memory as many as they
/// are, an array of the same shape may not fit.
///
/// ```
/// use lensor::interop::mtx;
/// let file = b"%%MatrixMarket matrix array integer general\n2 2\n1\n2\n3\n4\n";
/// assert_eq!(mtx::read_array::<u8>(&file[..])?.to_vec()?, [1, 3, 2, 4]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn read_array<T: FileElement>(source: impl Read) -> Result<Tensor<Vec<T>>> {
    let mut lines = Lines::new(source, b'%');
    let header = Header::read(&mut lines)?;
    if header.format() != Format::Array {
        let found = header.format().word().into();
        return Err(Error::Line { line: 1, expected: "array", found });
    }
    // The values first: once they are all there, the whole is at most about twice as large.
    let mut data = Vec::new();
    body::for_each::<T>(&header, &mut lines, &mut |_, value| push(&mut data, value))?;
    let [rows, columns] = [header.shape()[0], header.shape()[1]];
    if header.symmetry() != Symmetry::General {
        let given = std::mem::take(&mut data);
        resize(&mut data, rows * columns, T::ZERO)?;
        for (index, value) in array_places(&header).zip(given) {
            for ([row, column], value) in with_image(header.symmetry(), index, value) {
                data[column * rows + row] = value;
            }
        }
    }
    Tensor::from_vec([columns, rows], data)?.transpose([1, 0])
}

/// Reads the matrix of a file.
///
/// # Errors
///
/// As for [`read`].
///
/// ```
/// use lensor::interop::mtx;
/// let dir = tempfile::tempdir()?;
/// let path = dir.path().join("m.mtx");
/// std::fs::write(&path, "%%MatrixMarket matrix coordinate integer general\n1 2 1\n1 2 9\n")?;
/// assert_eq!(mtx::open::<i32>(&path)?.to_vec()?, [0, 9]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn open<T: FileElement>(path: impl AsRef<Path>) -> Result<Tensor<Sparse<T>>> {
    file::open(path.as_ref(), |file| read(file))
}

/// Reads the array of a file, as [`read_array`] does.
///
/// # Errors
///
/// As for [`read_array`].
///
/// ```
/// use lensor::interop::mtx;
/// let dir = tempfile::tempdir()?;
/// let path = dir.path().join("m.mtx");
/// std::fs::write(&path, "%%MatrixMarket matrix array integer general\n1 2\n8\n9\n")?;
/// assert_eq!(mtx::open_array::<i32>(&path)?.to_vec()?, [8, 9]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn open_array<T: FileElement>(path: impl AsRef<Path>) -> Result<Tensor<Vec<T>>> {
    file::open(path.as_ref(), |file| read_array(file))
}

/// Reads the header of a file, to learn kind and size before the entries are read.
///
/// # Errors
///
/// As for [`Header::parse`], and [`Error::Io`].
///
/// ```
/// use lensor::interop::mtx;
/// let dir = tempfile::tempdir()?;
/// let path = dir.path().join("m.mtx");
/// std::fs::write(&path, "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 2 0.5\n")?;
/// let header = mtx::open_header(&path)?;
/// assert_eq!((header.shape().extents(), header.entries()), (&[2, 3][..], 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn open_header(path: impl AsRef<Path>) -> Result<Header> {
    file::open(path.as_ref(), |file| Header::read(&mut Lines::new(file, b'%')))
}
