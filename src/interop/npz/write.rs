//! Writing archives.

use super::sink::{Handle, Sink};
use super::{ENDING, malformed};
use crate::dtype::{ByteOrder, Element, FileElement};
use crate::error::{Error, Result};
use crate::expr::{IntoExpr, Lazy};
use crate::interop::{file, npy};
use crate::memory::{debug_of_fields, try_reserve};
use ::zip::result::ZipError;
use ::zip::write::SimpleFileOptions;
use ::zip::{CompressionMethod, ZipWriter};
use std::fs::File;
use std::io::{Seek, Write};
use std::path::Path;

/// Alignment of data in archives, in bytes: that of headers of NumPy, so that mapped arrays are slices.
const ALIGN_BYTES: u16 = 64;
/// From this size on, an entry needs the fields of large archives.
const LARGE_BYTES: u64 = 1 << 31;

/// Writes an archive to a new file, which replaces one of the same name once it is whole, as
/// [`npy::save`](crate::interop::npy::save) does.
///
/// # Errors
///
/// What `write` reports, and [`Error::Io`], which names the file; an old file is as it was then.
///
/// ```
/// use lensor::{Tensor, interop::npz};
/// let dir = tempfile::tempdir()?;
/// let path = dir.path().join("x.npz");
/// npz::save(&path, |archive| {
///     archive.add("a", Tensor::full([2, 3], 0.5)?)?;
///     archive.add("b", &Tensor::from(vec![true, false]))
/// })?;
/// assert_eq!(npz::open(&path)?.read::<bool>("b")?.to_vec()?, [true, false]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn save(
    path: impl AsRef<Path>,
    write: impl FnOnce(&mut Writer<&File>) -> Result<()>,
) -> Result<()> {
    file::save(path.as_ref(), |file| {
        let mut archive = Writer::new(file);
        write(&mut archive)?;
        archive.finish().map(drop)
    })
}

/// An archive that arrays are added to. Without [`Self::finish`] it has no directory and cannot be read.
///
/// Where its sink fails between arrays, or something panics within one, nobody knows what the archive has of which array:
/// it refuses all that follows, `finish` too.
pub struct Writer<W: Write + Seek> {
    /// Closes the sink before the archive is dropped.
    handle: Handle,
    zip: ZipWriter<Sink<W>>,
    method: CompressionMethod,
    /// Whether it has a part of an array.
    broken: bool,
    /// Names of the arrays that it has.
    names: Vec<Box<str>>,
}

debug_of_fields!([W: Write + Seek] Writer<W> |own| method: own.method);

impl<W: Write + Seek> Writer<W> {
    /// An archive of arrays that are stored as they are, each aligned so that mapped it is a slice.
    pub fn new(sink: W) -> Self {
        let (sink, handle) = Sink::new(sink);
        let zip = ZipWriter::new(sink);
        let (method, names) = (CompressionMethod::Stored, Vec::new());
        Self { handle, zip, method, broken: false, names }
    }

    /// Deflates the arrays that follow.
    #[must_use]
    pub fn deflated(mut self) -> Self {
        self.method = CompressionMethod::Deflated;
        self
    }

    /// Adds a tensor, a view of any storage or an expression, computed and written piece by piece.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`] for a name that comes twice, and what [`npy::write`](crate::interop::npy::write()) reports; the
    /// archive is without this array then, and goes on. [`Error::Io`] if the sink fails between arrays, and
    /// [`Error::Malformed`] from then on.
    ///
    /// ```
    /// use lensor::Tensor;
    /// use lensor::interop::npz::{Archive, Writer};
    /// use std::io::Cursor;
    /// let mut archive = Writer::new(Cursor::new(Vec::new())).deflated();
    /// archive.add("zeros", &Tensor::full([1000], 0.0)?)?;
    /// let bytes = archive.finish()?.into_inner();
    /// assert!(bytes.len() < 400);
    /// assert_eq!(Archive::new(Cursor::new(bytes))?.read::<f64>("zeros")?.get([7])?, 0.0);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn add<X>(&mut self, name: &str, x: X) -> Result<()>
    where
        X: IntoExpr<Elem: FileElement>,
    {
        let x = Lazy(x.into_expr());
        let (dtype, shape) = (<X::Elem as Element>::DTYPE, x.shape()?);
        let header = npy::Header::new(dtype, ByteOrder::NATIVE, false, shape)?;
        self.entry(name, header.file_bytes(), |sink| npy::write(sink, x))
    }

    /// Adds a file of so many bytes.
    pub(super) fn entry(
        &mut self,
        name: &str,
        bytes: u64,
        write: impl FnOnce(&mut ZipWriter<Sink<W>>) -> Result<()>,
    ) -> Result<()> {
        self.check()?;
        try_reserve(&mut self.names, 1)?;
        let options = SimpleFileOptions::default()
            .compression_method(self.method)
            .with_alignment(ALIGN_BYTES)
            .large_file(bytes >= LARGE_BYTES);
        self.broken = true;
        if let Err(error) = self.zip.start_file(format!("{name}{ENDING}"), options) {
            // Of what is refused for its name nothing was written.
            self.broken = matches!(error, ZipError::Io(_));
            return Err(refused(Some(name), error));
        }
        let written = write(&mut self.zip);
        if written.is_err() {
            self.zip.abort_file().map_err(|error| refused(Some(name), error))?;
        }
        self.broken = false;
        written?;
        self.names.push(name.into());
        Ok(())
    }

    /// Refuses a name that would come twice.
    pub(super) fn check_new(&self, name: &str) -> Result<()> {
        match self.names.iter().any(|own| **own == *name) {
            true => Err(malformed(Some(name), "its name comes twice")),
            false => Ok(()),
        }
    }

    fn check(&self) -> Result<()> {
        match self.broken {
            true => Err(malformed(None, "it was given up, as writing it failed")),
            false => Ok(()),
        }
    }

    /// Writes the directory, without which there is no archive.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the sink fails, and [`Error::Malformed`] if it failed between arrays.
    ///
    /// ```
    /// use lensor::Tensor;
    /// use lensor::interop::npz::{Archive, Writer};
    /// use std::io::Cursor;
    /// let mut writer = Writer::new(Cursor::new(Vec::new()));
    /// writer.add("x", &Tensor::from(vec![1, 2]))?;
    /// let sink = writer.finish()?;
    /// assert_eq!(Archive::new(sink)?.entries()[0].name(), "x");
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn finish(self) -> Result<W> {
        self.check()?;
        self.handle.end();
        self.zip.finish().map(|sink| sink.inner).map_err(|error| refused(None, error))
    }
}

/// An error of the archive.
fn refused(name: Option<&str>, error: ZipError) -> Error {
    match error {
        ZipError::Io(error) => error.into(),
        other => malformed(name, &other.to_string()),
    }
}
