//! `.safetensors` files (feature `safetensors`): several named tensors in one file, as models are kept.
//!
//! | | copies into memory | copies nothing |
//! |---|---|---|
//! | a file | [`open`], [`Archive::new`] | `map` (feature `mmap`) |
//! | a tensor of it | [`Archive::read`] | [`Archive::tensor`] |
//!
//! [`Writer`] writes them, one expression after another. Names, types and shapes are listed by [`Archive::entries`] before any
//! data is read. Headers end at 100 MB and files have no gaps, as the format asks.
//!
//! A file may come from a stranger. Whatever it holds, these functions return an error rather than panic or abort, and
//! memory for a tensor is asked for once its bytes are known to be there. The list takes at most twice the bytes of the file.
//!
//! ```
//! use lensor::Tensor;
//! use lensor::interop::safetensors::{self, Writer};
//! let dir = tempfile::tempdir()?;
//! let path = dir.path().join("model.safetensors");
//! let weights = Tensor::from_nested([[1.0_f32, 2.0], [3.0, 4.0]])?;
//! let mut writer = Writer::new();
//! writer.add("turned", weights.view().transpose([1, 0])?)?;
//! writer.add("doubled", &weights * 2.0)?;
//! writer.save(&path)?;
//!
//! let mut archive = safetensors::open(&path)?;
//! assert_eq!(archive.read::<f32>("turned")?.to_vec()?, [1.0, 3.0, 2.0, 4.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod header;
#[cfg(feature = "mmap")]
mod map;
mod write;

pub use ::safetensors;
#[cfg(feature = "mmap")]
pub use map::map;
pub use write::Writer;

use super::file;
use super::named::{self, Directory, Named};
use crate::dtype::{ByteOrder, DType, FileElement, MapElement};
use crate::error::{Error, Result};
use crate::shape::Shape;
use crate::storage::{Encoded, fill, read_elements};
use crate::tensor::Tensor;
use ::safetensors::tensor::Dtype;
use header::Listed;
use std::fs::File;
use std::io::{Cursor, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

/// Bytes of the number that a file begins with.
const PREFIX_BYTES: u64 = 8;
/// Longest header, in bytes: that of the format.
const LIMIT_BYTES: u64 = 100_000_000;

/// A tensor of a file: its name, type and shape. Its data was not read.
#[derive(Debug, Clone)]
pub struct Entry {
    name: String,
    stored: Dtype,
    shape: Shape,
    /// Its bytes, counted from the start of the file.
    bytes: Range<u64>,
}

impl Entry {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its shape.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The type of its elements, if it is one of ours: not for floats of 8 bits and fewer, whose bytes
    /// [`Archive::bytes`] gives.
    pub fn dtype(&self) -> Option<DType> {
        of_format(self.stored)
    }

    /// The type of its elements as the format names it.
    pub fn stored_type(&self) -> Dtype {
        self.stored
    }

    fn check_type<T: FileElement>(&self) -> Result<()> {
        if self.dtype() == Some(T::DTYPE) {
            return Ok(());
        }
        let found =
            self.dtype().map_or_else(|| format!("{:?}", self.stored), |dtype| dtype.name().into());
        Err(Error::ElementType { expected: T::DTYPE.name(), found })
    }
}

impl Named for Entry {
    const FORMAT: &'static str = "safetensors file";

    fn name(&self) -> &str {
        &self.name
    }
}

/// A file of tensors.
#[derive(Debug)]
pub struct Archive<R> {
    source: R,
    entries: Directory<Entry>,
    notes: Vec<(String, String)>,
}

/// Opens a file and lists its tensors.
///
/// # Errors
///
/// As for [`Archive::new`]; [`Error::Io`] names the file.
///
/// ```
/// use lensor::{Tensor, interop::safetensors};
/// let dir = tempfile::tempdir()?;
/// let path = dir.path().join("x.safetensors");
/// let mut writer = safetensors::Writer::new();
/// writer.add("x", Tensor::full([2, 3], 1_u8)?)?;
/// writer.save(&path)?;
/// assert_eq!(safetensors::open(&path)?.entries()[0].shape(), &[2, 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn open(path: impl AsRef<Path>) -> Result<Archive<File>> {
    file::open(path.as_ref(), |file| Archive::new(file.try_clone()?))
}

impl<R: Read + Seek> Archive<R> {
    /// Lists the tensors of a file: reads its header.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`] for a header that is none, and for tensors that overlap, leave gaps or are not as large as
    /// their shapes; [`Error::HeaderTooLarge`], [`Error::Truncated`], [`Error::TrailingData`], [`Error::ShapeOverflow`],
    /// [`Error::RankLimit`], [`Error::OutOfMemory`], [`Error::Io`].
    pub fn new(mut source: R) -> Result<Self> {
        let found = source.seek(SeekFrom::End(0))?;
        source.seek(SeekFrom::Start(0))?;
        let mut prefix = [0; PREFIX_BYTES as usize];
        if fill(&mut source, &mut prefix)? < prefix.len() {
            return Err(Error::Truncated { expected: PREFIX_BYTES, found });
        }
        let claimed = u64::from_le_bytes(prefix);
        if claimed > LIMIT_BYTES {
            return Err(Error::HeaderTooLarge { claimed, limit: LIMIT_BYTES });
        }
        let start = PREFIX_BYTES + claimed;
        if start > found {
            return Err(Error::Truncated { expected: start, found });
        }
        let Listed { mut entries, mut notes, .. } =
            header::list(&mut source, [PREFIX_BYTES, claimed, found])?;
        let end = start.saturating_add(places(&mut entries, start)?);
        file::check_end(found, end)?;
        notes.sort_unstable();
        Ok(Self { source, entries: Directory::new(entries)?, notes })
    }

    /// Reads a tensor into memory.
    ///
    /// # Errors
    ///
    /// [`Error::NoArray`], [`Error::ElementType`], [`Error::InvalidValue`] for a `bool` that is neither 0 nor 1,
    /// [`Error::RankLimit`], [`Error::Truncated`] if the source became shorter, [`Error::OutOfMemory`], [`Error::Io`].
    ///
    /// ```
    /// use lensor::interop::safetensors::{Archive, Writer};
    /// use lensor::{Error, Tensor};
    /// use std::io::Cursor;
    /// let mut writer = Writer::new();
    /// writer.add("x", Tensor::from(vec![7_i32, 8]))?;
    /// let mut file = Vec::new();
    /// writer.write(&mut file)?;
    /// let mut archive = Archive::new(Cursor::new(file))?;
    /// assert_eq!(archive.read::<i32>("x")?.to_vec()?, [7, 8]);
    /// assert!(matches!(archive.read::<f32>("x"), Err(Error::ElementType { .. }))); // no conversion
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn read<T: FileElement>(&mut self, name: &str) -> Result<Tensor<Vec<T>>> {
        let entry = self.entries.find(name)?;
        entry.check_type::<T>()?;
        self.source.seek(SeekFrom::Start(entry.bytes.start))?;
        let data = read_elements(&mut self.source, entry.shape.count()?, ByteOrder::Little)?;
        Tensor::new(entry.shape.clone(), data)
    }
}

impl<R> Archive<R> {
    /// The tensors, in the order of the file.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The keys and texts of the file itself, sorted.
    pub fn notes(&self) -> &[(String, String)] {
        &self.notes
    }
}

impl<B: AsRef<[u8]> + Clone + Send + Sync> Archive<Cursor<B>> {
    /// A tensor where it lies in the bytes. Nothing is read.
    ///
    /// Old files, and those with an odd number of bytes before it, do not align a tensor: it is read all the same, a
    /// little slower, and is not a slice ([`Encoded::try_slice`] says so).
    ///
    /// # Errors
    ///
    /// [`Error::NoArray`], [`Error::ElementType`], [`Error::RankLimit`].
    ///
    /// ```
    /// use lensor::Tensor;
    /// use lensor::interop::safetensors::{Archive, Writer};
    /// use std::io::Cursor;
    /// use std::sync::Arc;
    /// let mut writer = Writer::new();
    /// writer.add("x", Tensor::from(vec![7_i32, 8]))?;
    /// let mut file = Vec::new();
    /// writer.write(&mut file)?;
    /// let archive = Archive::new(Cursor::new(Arc::<[u8]>::from(file)))?;
    /// assert_eq!(archive.tensor::<i32>("x")?.flip(0)?.to_vec()?, [8, 7]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn tensor<T: MapElement>(&self, name: &str) -> Result<Tensor<Encoded<T, B>>> {
        let entry = self.entries.find(name)?;
        entry.check_type::<T>()?;
        Tensor::new(entry.shape.clone(), self.encoded(entry, entry.shape.count()?)?)
    }

    /// The bytes of a tensor of any type, as one axis.
    ///
    /// # Errors
    ///
    /// [`Error::NoArray`].
    pub fn bytes(&self, name: &str) -> Result<Tensor<Encoded<u8, B>>> {
        let entry = self.entries.find(name)?;
        let count = (entry.bytes.end - entry.bytes.start) as usize;
        Tensor::new([count], self.encoded(entry, count)?)
    }

    fn encoded<T: MapElement>(&self, entry: &Entry, count: usize) -> Result<Encoded<T, B>> {
        let start = usize::try_from(entry.bytes.start).unwrap_or(usize::MAX);
        Encoded::new(self.source.get_ref().clone(), start, count, ByteOrder::Little)
    }
}

/// Sorts tensors by where they lie, each after the one before and as large as its shape, counts their bytes from the start of
/// the file, and returns how many there are.
fn places(entries: &mut [Entry], start: u64) -> Result<u64> {
    entries.sort_unstable_by_key(|entry| (entry.bytes.start, entry.bytes.end));
    let mut next = 0;
    for entry in &mut *entries {
        let Range { start: first, end } = entry.bytes;
        let wrong = |reason| malformed(Some(&entry.name), reason);
        if first != next || end < first {
            return Err(wrong("it does not begin where the one before it ends"));
        }
        next = end;
        let count = entry.shape.iter().try_fold(1_u64, |n, &extent| n.checked_mul(extent as u64));
        let bits = count.and_then(|count| count.checked_mul(entry.stored.bitsize() as u64));
        if bits.is_none_or(|bits| bits % 8 != 0 || bits / 8 != end - first) {
            return Err(wrong("it has another number of bytes than its shape"));
        }
        entry.shape.count()?;
        entry.bytes = start.saturating_add(first)..start.saturating_add(end);
    }
    Ok(next)
}

fn malformed(name: Option<&str>, reason: &str) -> Error {
    named::malformed(Entry::FORMAT, name, reason)
}

/// Types of the format that are types of ours.
const TYPES: [(Dtype, char, usize); 14] = [
    (Dtype::BOOL, 'b', 1),
    (Dtype::U8, 'u', 1),
    (Dtype::I8, 'i', 1),
    (Dtype::U16, 'u', 2),
    (Dtype::I16, 'i', 2),
    (Dtype::F16, 'f', 2),
    (Dtype::BF16, 'V', 2),
    (Dtype::U32, 'u', 4),
    (Dtype::I32, 'i', 4),
    (Dtype::F32, 'f', 4),
    (Dtype::U64, 'u', 8),
    (Dtype::I64, 'i', 8),
    (Dtype::F64, 'f', 8),
    (Dtype::C64, 'c', 8),
];

fn of_format(stored: Dtype) -> Option<DType> {
    let &(_, kind, bytes) = TYPES.iter().find(|(known, ..)| *known == stored)?;
    DType::from_kind(kind, bytes)
}

fn to_format(dtype: DType) -> Result<Dtype> {
    let mut types = TYPES.iter().map(|(stored, ..)| *stored);
    types.find(|stored| of_format(*stored) == Some(dtype)).ok_or_else(|| Error::ElementType {
        expected: "bool, integer, float or C64",
        found: dtype.name().into(),
    })
}
