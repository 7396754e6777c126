//! FROSTT's `.tns` files: a sparse tensor of any rank as text, an entry a line.
//!
//! A line holds an index, one number per axis, and a value; `#` begins a comment. Indexes count from 1 in
//! files and from 0 here. The files do not say how large the tensor is: [`read`] takes the largest index of
//! every axis, [`read_shaped`] a shape.
//!
//! A file may come from a stranger: as for [`mtx`](super::mtx), what it holds leads to an error that names
//! the line, or to a tensor in memory proportional to the lines present.
//!
//! ```
//! use lensor::interop::tns;
//! let tensor = tns::read::<f64>(&b"# rank 3\n1 1 2 0.5\n2 3 1 4\n"[..])?;
//! assert_eq!(tensor.shape(), [2, 3, 2]);
//! assert_eq!(tensor.get([1, 2, 0])?, 4.0);
//! # Ok::<(), lensor::Error>(())
//! ```

use super::file;
use crate::dtype::{FileElement, TextElement};
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::interop::text::{Lines, TextWriter, entries, sparse};
use crate::memory::{list, push};
use crate::shape::Shape;
use crate::storage::{Reader, Sparse};
use crate::tensor::Tensor;
use std::io::{Read, Write};
use std::path::Path;

/// Reads a tensor whose shape follows from its entries: the largest index of every axis.
///
/// Entries given twice are summed, integers wrapping; `bool`s, which are 0 or 1, are joined by `or`.
///
/// # Errors
///
/// [`Error::Line`] for a line that is malformed, longer than 4096 bytes or of another rank than the first, and for
/// a file without entries; [`Error::LineIndex`] for index 0, [`Error::ShapeOverflow`] for more elements than fit
/// in `isize`, [`Error::RankLimit`], [`Error::OutOfMemory`], [`Error::Io`].
///
/// ```
/// use lensor::interop::tns;
/// let error = tns::read::<i64>(&b"1 1 2 7\n1 2 7\n"[..]).unwrap_err();
/// assert_eq!(error.to_string(), "line 2: expected as many words as in the first line, found \"1 2 7\"");
/// ```
pub fn read<T: FileElement>(source: impl Read) -> Result<Tensor<Sparse<T>>> {
    let (mut digits, mut values) = (Vec::new(), Vec::new());
    let mut extents: Vec<usize> = Vec::new();
    for_each::<T>(source, None, &mut |index, value| {
        Shape::check_rank(index.len())?;
        extents.resize(index.len(), 0);
        for (extent, &digit) in extents.iter_mut().zip(index) {
            *extent = (*extent).max(digit + 1);
            push(&mut digits, digit)?;
        }
        push(&mut values, value)
    })?;
    let shape = Shape::from(extents);
    // No index exceeds the shape, so all addresses fit if the count does.
    shape.count()?;
    let rank = shape.rank();
    // Addresses take the place of the digits: entry `k` has read its own when it is written.
    for k in 0..values.len() {
        digits[k] = shape.ravel(&digits[k * rank..][..rank]);
    }
    // The room of all digits goes.
    let addresses = list(digits[..values.len()].iter().copied())?;
    drop(digits);
    sparse(&shape, addresses, values)
}

/// Reads a tensor of a known shape.
///
/// # Errors
///
/// As for [`read`], but a file without entries is one; and [`Error::LineIndex`] for an index outside the
/// shape.
///
/// ```
/// use lensor::interop::tns;
/// let tensor = tns::read_shaped::<u8>(&b"2 1 7\n"[..], [1000, 1000])?;
/// assert_eq!(tensor.get([1, 0])?, 7);
/// let error = tns::read_shaped::<u8>(&b"2 1 7\n"[..], [1, 1]).unwrap_err();
/// assert_eq!(error.to_string(), "line 1: index 2 of axis 0 is not in 1..=1");
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn read_shaped<T: FileElement>(
    source: impl Read,
    shape: impl Into<Shape>,
) -> Result<Tensor<Sparse<T>>> {
    let shape = shape.into();
    Shape::check_rank(shape.rank())?;
    shape.count()?;
    let (mut addresses, mut values) = (Vec::new(), Vec::new());
    for_each::<T>(source, Some(&shape), &mut |index, value| {
        push(&mut addresses, shape.ravel(index))?;
        push(&mut values, value)
    })?;
    sparse(&shape, addresses, values)
}

/// Reads the tensor of a file, as [`read`] does.
///
/// # Errors
///
/// As for [`read`].
///
/// ```
/// use lensor::interop::tns;
/// let dir = tempfile::tempdir()?;
/// let path = dir.path().join("t.tns");
/// std::fs::write(&path, "1 2 9\n")?;
/// assert_eq!(tns::open::<i32>(&path)?.to_vec()?, [0, 9]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn open<T: FileElement>(path: impl AsRef<Path>) -> Result<Tensor<Sparse<T>>> {
    file::open(path.as_ref(), |file| read(file))
}

/// Reads the tensor of a file as one of this shape, as [`read_shaped`] does.
///
/// # Errors
///
/// As for [`read_shaped`].
///
/// ```
/// use lensor::interop::tns;
/// let dir = tempfile::tempdir()?;
/// let path = dir.path().join("t.tns");
/// std::fs::write(&path, "1 2 9\n")?;
/// assert_eq!(tns::open_shaped::<i32>(&path, [2, 2])?.to_vec()?, [0, 9, 0, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn open_shaped<T: FileElement>(
    path: impl AsRef<Path>,
    shape: impl Into<Shape>,
) -> Result<Tensor<Sparse<T>>> {
    file::open(path.as_ref(), |file| read_shaped(file, shape))
}

/// Writes the entries of a sparse tensor, or of any view of one, in row-major order.
///
/// Floats are written in the fewest digits that read as the same number. The file does not say how large the
/// tensor is: [`read_shaped`] gives the same back, [`read`] the smallest tensor with these entries.
///
/// # Errors
///
/// [`Error::NotSparse`] for dense storage, [`Error::FillNotZero`], [`Error::OutOfMemory`], and [`Error::Io`] if
/// the sink fails: it then holds a part.
///
/// ```
/// use lensor::interop::tns;
/// use lensor::{Tensor, storage::Sparse};
/// let t = Tensor::new([2, 1, 3], Sparse::from_sorted(6, 0.0, vec![1, 3], vec![0.5, 2.0])?)?;
/// let mut file = Vec::new();
/// tns::write(&mut file, &t.view().transpose([2, 1, 0])?)?;
/// assert_eq!(String::from_utf8_lossy(&file), "1 1 2 2.0\n2 1 1 0.5\n");
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn write<S>(sink: impl Write, tensor: &Tensor<S>) -> Result<()>
where
    S: Reader<Elem: FileElement>,
{
    let shape = tensor.shape();
    let entries = entries(tensor, "a .tns file", S::Elem::ZERO)?;
    let mut text = TextWriter::new(sink)?;
    for (&position, &value) in entries.positions.iter().zip(&*entries.values) {
        for digit in shape.unravel(position) {
            text.push(format_args!("{} ", digit + 1));
        }
        text.push_value(value);
        text.end_line()?;
    }
    text.finish()
}

/// Writes a sparse tensor to a new file, which replaces one of the same name as [`npy::save`] does.
///
/// # Errors
///
/// As for [`write`](write()); an old file is as it was then.
///
/// [`npy::save`]: super::npy::save
///
/// ```
/// use lensor::interop::tns;
/// use lensor::{Tensor, storage::Sparse};
/// let dir = tempfile::tempdir()?;
/// let t = Tensor::new([2, 2], Sparse::from_dense(&[0, 0, 0, 7], 0)?)?;
/// tns::save(dir.path().join("t.tns"), &t)?;
/// assert_eq!(tns::open::<i32>(dir.path().join("t.tns"))?.to_vec()?, [0, 0, 0, 7]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn save<S>(path: impl AsRef<Path>, tensor: &Tensor<S>) -> Result<()>
where
    S: Reader<Elem: FileElement>,
{
    file::save(path.as_ref(), |file| write(file, tensor))
}

/// Calls `visit` with index and value of every entry, in the order of the file.
fn for_each<T: FileElement>(
    source: impl Read,
    shape: Option<&Shape>,
    visit: &mut dyn FnMut(&[usize], T) -> Result<()>,
) -> Result<()> {
    let mut lines = Lines::new(source, b'#');
    let mut rank = shape.map(|shape| shape.rank());
    let mut index = Vec::new();
    while let Some(line) = lines.next_content()? {
        let count = line.text.split_ascii_whitespace().count();
        let indexes = count.checked_sub(T::WORDS).filter(|&found| found > 0 || shape.is_some());
        let Some(found) = indexes.filter(|&found| found == *rank.get_or_insert(found)) else {
            return Err(line.error(if shape.is_some() {
                "one index per axis and a value"
            } else if rank.is_some() {
                "as many words as in the first line"
            } else {
                "an index and a value"
            }));
        };
        let mut words = line.text.split_ascii_whitespace();
        index.clear();
        for (axis, word) in words.by_ref().take(found).enumerate() {
            // Indexes fit in `isize`, as extents do.
            let extent = shape.map_or(isize::MAX as usize, |shape| shape[axis]);
            index.push(line.index(word, axis, extent)?);
        }
        let value = T::from_words(&mut words);
        visit(
            &index,
            value.ok_or_else(|| line.error("a value that fits the type after the index"))?,
        )?;
    }
    if rank.is_none() { Err(lines.end("an entry")) } else { Ok(()) }
}
