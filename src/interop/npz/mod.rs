//! NumPy's `.npz` archives (feature `npz`): several named arrays in one file.
//!
//! | | copies into memory | copies nothing |
//! |---|---|---|
//! | an archive | [`open`], [`Archive::new`] | `map` (feature `mmap`) |
//! | an array of it | [`Archive::read`] | [`Archive::tensor`], where it is stored as it is |
//! | a sparse matrix of SciPy | [`Archive::read_sparse`] | |
//!
//! [`save`] and [`Writer`] write them, piece by piece, any expression; [`Writer::add_sparse`] as SciPy does. Names, types and
//! shapes are listed by [`Archive::entries`] before any data is read.
//!
//! An archive may come from a stranger. Whatever it holds, these functions return an error rather than panic or abort:
//! entries that overlap, names that come twice, sizes that are not those of the array, ciphers. Memory for an array
//! follows what arrives, and ends at what its header says; the list takes at most twice the bytes of the archive.
//!
//! ```
//! use lensor::Tensor;
//! use lensor::interop::npz;
//! let dir = tempfile::tempdir()?;
//! let path = dir.path().join("model.npz");
//! let weights = Tensor::from_nested([[1.0, 2.0], [3.0, 4.0]])?;
//! npz::save(&path, |archive| {
//!     archive.add("weights", weights.view().transpose([1, 0])?)?;
//!     archive.add("doubled", &weights * 2.0)
//! })?;
//!
//! let mut archive = npz::open(&path)?;
//! let names: Vec<&str> = archive.entries().iter().map(|entry| entry.name()).collect();
//! assert_eq!(names, ["weights", "doubled"]);
//! assert_eq!(archive.read::<f64>("weights")?.to_vec()?, [1.0, 3.0, 2.0, 4.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod directory;
#[cfg(feature = "mmap")]
mod map;
mod packed;
mod sink;
mod sparse;
mod write;

#[cfg(feature = "mmap")]
pub use map::map;
pub use write::{Writer, save};

use super::named::{self, Directory, Named};
use super::{file, npy};
use crate::dtype::{FileElement, MapElement};
use crate::error::{Error, Result};
use crate::memory::debug_of_fields;
use crate::storage::Encoded;
use crate::tensor::Tensor;
use packed::{Packed, Unpacked};
use rawzip::CompressionMethod;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::Path;

/// What names of arrays end with inside.
const ENDING: &str = ".npy";
/// What reading the header of no bytes reports.
const EMPTY: Error = Error::Truncated { expected: 10, found: 0 };

/// An array of an archive: its name, type and shape. Its data was not read.
#[derive(Debug, Clone)]
pub struct Entry {
    name: String,
    packed: Packed,
    /// What was read of its file, unless that is empty. An archive may have many that are.
    header: Option<Box<Result<npy::Header>>>,
}

impl Entry {
    /// Its name, without `.npy`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its type and shape.
    ///
    /// # Errors
    ///
    /// What [`npy::Header::parse`] reports; [`Error::Malformed`] for an entry that is in cipher or packed in an unknown
    /// way. Other entries can be read all the same.
    pub fn header(&self) -> Result<&npy::Header> {
        match self.header.as_deref() {
            Some(read) => read.as_ref().map_err(Clone::clone),
            None => Err(EMPTY),
        }
    }

    /// Whether its data is stored as it is, and can be mapped.
    pub fn is_stored(&self) -> bool {
        self.packed.method == Some(CompressionMethod::STORE)
    }

    /// Its header, if the file holds just what it says, of elements `T`.
    fn checked<T: FileElement>(&self) -> Result<&npy::Header> {
        let header = self.header()?;
        header.check_type::<T>()?;
        file::check_end(self.packed.bytes, header.file_bytes())?;
        Ok(header)
    }

    /// Its file, unpacked.
    fn open<'a>(&self, source: &'a mut (impl Read + Seek)) -> Result<Unpacked<'a>> {
        source.seek(SeekFrom::Start(self.packed.start))?;
        self.packed.unpack(source).map_err(|reason| malformed(Some(&self.name), &reason))
    }
}

impl Named for Entry {
    const FORMAT: &'static str = "npz archive";

    fn name(&self) -> &str {
        &self.name
    }
}

/// An archive of arrays.
pub struct Archive<R> {
    source: R,
    entries: Directory<Entry>,
}

debug_of_fields!([R] Archive<R> |own| entries: own.entries);

/// Opens an archive and lists it.
///
/// # Errors
///
/// As for [`Archive::new`]; [`Error::Io`] names the file.
///
/// ```
/// use lensor::{Tensor, interop::npz};
/// let dir = tempfile::tempdir()?;
/// let path = dir.path().join("two.npz");
/// npz::save(&path, |archive| archive.add("x", Tensor::full([2, 3], 1_u8)?))?;
/// let archive = npz::open(&path)?;
/// assert_eq!(archive.entries()[0].header()?.shape(), &[2, 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn open(path: impl AsRef<Path>) -> Result<Archive<BufReader<File>>> {
    file::open(path.as_ref(), |file| Archive::new(BufReader::new(file.try_clone()?)))
}

impl<R: Read + Seek> Archive<R> {
    /// Lists an archive: reads its directory and the header of each array.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`] for what is no archive, for entries that share bytes, and for a name that comes twice;
    /// [`Error::OutOfMemory`], [`Error::Io`].
    pub fn new(mut source: R) -> Result<Self> {
        let len = source.seek(SeekFrom::End(0))?;
        let mut entries = directory::entries(&mut source, len)?;
        directory::read_headers(&mut entries, &mut source, len)?;
        Ok(Self { source, entries: Directory::new(entries)? })
    }

    /// Reads an array into memory. Its checksum is verified.
    ///
    /// # Errors
    ///
    /// [`Error::NoArray`], what [`Entry::header`] and [`npy::read`] report, [`Error::Malformed`] if the data is not what its
    /// checksum or its packing says.
    ///
    /// ```
    /// use lensor::interop::npz::{Archive, Writer};
    /// use lensor::{Error, Tensor};
    /// use std::io::Cursor;
    /// let mut writer = Writer::new(Cursor::new(Vec::new())).deflated();
    /// writer.add("x", &Tensor::from(vec![7_u16, 8]))?;
    /// let mut archive = Archive::new(writer.finish()?)?;
    /// assert_eq!(archive.read::<u16>("x")?.to_vec()?, [7, 8]);
    /// assert!(matches!(archive.read::<f64>("x"), Err(Error::ElementType { .. }))); // no conversion
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn read<T: FileElement>(&mut self, name: &str) -> Result<Tensor<Vec<T>>> {
        let entry = self.entries.find(name)?;
        entry.checked::<T>()?;
        npy::read(entry.open(&mut self.source)?).map_err(|error| of_stream(Some(name), error))
    }
}

impl<B: AsRef<[u8]> + Clone + Send + Sync> Archive<Cursor<B>> {
    /// An array where it lies in the bytes. Nothing is read, so its checksum is not verified.
    ///
    /// NumPy does not align arrays in archives; those of [`Writer`] are. One that is not aligned is read all the same, a
    /// little slower, and is not a slice.
    ///
    /// # Errors
    ///
    /// [`Error::NoArray`], what [`Entry::header`] reports, [`Error::ElementType`] if the elements are not `T`,
    /// [`Error::Truncated`] and [`Error::TrailingData`] if the data ends elsewhere than its header says,
    /// [`Error::Malformed`] for an array that is deflated: [`Self::read`] inflates it.
    ///
    /// ```
    /// use lensor::Tensor;
    /// use lensor::interop::npz::{Archive, Writer};
    /// use std::io::Cursor;
    /// use std::sync::Arc;
    /// let mut archive = Writer::new(Cursor::new(Vec::new()));
    /// archive.add("x", &Tensor::from(vec![7_u16, 8]))?;
    /// let bytes: Arc<[u8]> = archive.finish()?.into_inner().into();
    /// let archive = Archive::new(Cursor::new(bytes))?;
    /// assert_eq!(archive.tensor::<u16>("x")?.flip(0)?.to_vec()?, [8, 7]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn tensor<T: MapElement>(&self, name: &str) -> Result<Tensor<Encoded<T, B>>> {
        let entry = self.entries.find(name)?;
        let header = entry.checked::<T>()?;
        if !entry.is_stored() {
            return Err(malformed(Some(name), "it is deflated: read it"));
        }
        let start = usize::try_from(entry.packed.start).unwrap_or(usize::MAX);
        let offset = start.saturating_add(header.data_offset());
        let bytes = self.source.get_ref().clone();
        header.tensor(Encoded::new(bytes, offset, header.count(), header.byte_order())?)
    }
}

impl<R> Archive<R> {
    /// The arrays, in the order of the archive.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }
}

fn malformed(name: Option<&str>, reason: &str) -> Error {
    named::malformed(Entry::FORMAT, name, reason)
}

/// Streams report as errors of input what is wrong with the bytes.
fn of_stream(name: Option<&str>, error: Error) -> Error {
    use io::ErrorKind::{InvalidData, InvalidInput, Other, UnexpectedEof, Unsupported};
    const OF_BYTES: [io::ErrorKind; 5] =
        [InvalidData, InvalidInput, Other, UnexpectedEof, Unsupported];
    match &error {
        Error::Io(found) if OF_BYTES.contains(&found.kind()) => malformed(name, &found.to_string()),
        _ => error,
    }
}
