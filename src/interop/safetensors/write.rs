//! Writing files of tensors.

use super::{malformed, to_format};
use crate::dtype::{ByteOrder, Element, FileElement};
use crate::error::{Error, Result};
use crate::expr::{IntoExpr, Lazy};
use crate::interop::{file, npy};
use crate::memory::push;
use crate::shape::Shape;
use crate::storage::Checked;
use ::safetensors::tensor::{Dtype, Metadata, TensorInfo};
use std::collections::{BTreeMap, HashSet};
use std::fmt::{self, Debug, Formatter};
use std::io::Write;
use std::path::Path;

/// Headers are padded to a multiple of this, so that mapped data is aligned.
const ALIGN_BYTES: usize = 8;

/// Writes the elements of a tensor.
type WriteElements<'a> = Box<dyn FnOnce(&mut dyn Write) -> Result<()> + Send + Sync + 'a>;

/// A tensor to be written.
struct Part<'a> {
    name: String,
    stored: Dtype,
    shape: Shape,
    bytes: usize,
    write: WriteElements<'a>,
}

/// What a file begins with. The format's own library has notes in no order, so that files would differ from run to run.
#[derive(::serde::Serialize)]
struct Header<'a> {
    #[serde(rename = "__metadata__", skip_serializing_if = "BTreeMap::is_empty")]
    notes: BTreeMap<&'a str, &'a str>,
    #[serde(flatten)]
    tensors: Metadata,
}

/// Tensors for a file. They are computed when it is written, one after another and piece by piece.
///
/// They stand in the order in which the format's own library writes them: of large elements first, then by name, so that
/// all are aligned.
#[derive(Default)]
pub struct Writer<'a> {
    parts: Vec<Part<'a>>,
    names: HashSet<String>,
    notes: Vec<(String, String)>,
}

impl Debug for Writer<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.parts.iter().map(|part| &part.name)).finish()
    }
}

impl<'a> Writer<'a> {
    /// Of no tensors yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tensor, a view of any storage or an expression, which may borrow what it reads.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`] for a name that comes twice or that the format keeps for itself, [`Error::ElementType`] for
    /// complex numbers of two `f64`, [`Error::ShapeOverflow`], [`Error::OutOfMemory`], and the error that an expression
    /// carries.
    ///
    /// ```
    /// use lensor::interop::safetensors::{Archive, Writer};
    /// use lensor::prelude::*;
    /// use std::io::Cursor;
    /// let t = Tensor::from(vec![1.0_f32, 2.0, 3.0]);
    /// let mut writer = Writer::new();
    /// writer.add("x", &t)?;
    /// writer.add("squares", &t * &t)?; // computed when it is written
    /// assert!(writer.add("x", &t).is_err());
    /// let mut file = Vec::new();
    /// writer.write(&mut file)?;
    /// assert_eq!(Archive::new(Cursor::new(file))?.read::<f32>("squares")?.to_vec()?, [1.0, 4.0, 9.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn add<X>(&mut self, name: &str, x: X) -> Result<()>
    where
        X: IntoExpr<Elem: FileElement, Expr: 'a>,
    {
        if name == "__metadata__" {
            return Err(malformed(Some(name), "the format keeps this name for itself"));
        }
        if self.names.contains(name) {
            return Err(malformed(Some(name), "its name comes twice"));
        }
        let x = Lazy(x.into_expr());
        let (dtype, shape) = (<X::Elem as Element>::DTYPE, x.shape()?);
        let bytes = shape.count()?.checked_mul(dtype.size_bytes());
        let bytes = bytes.ok_or_else(|| Error::ShapeOverflow { shape: shape.to_vec() })?;
        let write =
            Box::new(move |sink: &mut dyn Write| npy::write_elements(sink, &x, ByteOrder::Little));
        let part = Part { name: name.into(), stored: to_format(dtype)?, shape, bytes, write };
        let unlisted = |_| Error::OutOfMemory { bytes: size_of::<String>() };
        self.names.try_reserve(1).map_err(unlisted)?;
        push(&mut self.parts, part)?;
        self.names.insert(name.into());
        Ok(())
    }

    /// Adds a key and a text about the file itself; the last text of a key is kept.
    pub fn note(&mut self, key: &str, text: &str) {
        self.notes.push((key.into(), text.into()));
    }

    /// Writes the file.
    ///
    /// # Errors
    ///
    /// What evaluating reports, [`Error::ShapeOverflow`] for more than `usize::MAX` bytes, [`Error::HeaderTooLarge`],
    /// [`Error::Io`] if the sink fails: it then holds a part.
    ///
    /// ```
    /// use lensor::Tensor;
    /// use lensor::interop::safetensors::{Archive, Writer};
    /// use std::io::Cursor;
    /// let mut writer = Writer::new();
    /// writer.add("a", Tensor::full([3], 1_u8)?)?;
    /// writer.add("b", Tensor::full([3], 1.0)?)?;
    /// let mut file = Vec::new();
    /// writer.write(&mut file)?;
    /// assert_eq!(Archive::new(Cursor::new(file))?.entries()[0].name(), "b"); // of larger elements
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn write(mut self, sink: impl Write) -> Result<()> {
        self.parts.sort_by(|a, b| (b.stored, &a.name).cmp(&(a.stored, &b.name)));
        let mut sink = Checked(sink);
        sink.write_all(&self.header()?)?;
        for part in self.parts {
            (part.write)(&mut sink)?;
        }
        Ok(sink.flush()?)
    }

    /// Writes the file, which replaces one of the same name once it is whole, as
    /// [`npy::save`](crate::interop::npy::save) does.
    ///
    /// # Errors
    ///
    /// As for [`Self::write`]; an old file is as it was then. [`Error::Io`] names the file.
    ///
    /// ```
    /// use lensor::Tensor;
    /// use lensor::interop::safetensors::{self, Writer};
    /// let dir = tempfile::tempdir()?;
    /// let path = dir.path().join("x.safetensors");
    /// for step in [1_i64, 2] {
    ///     let mut writer = Writer::new();
    ///     writer.add("step", Tensor::full([], step)?)?;
    ///     writer.save(&path)?; // the second one replaces the first
    /// }
    /// assert_eq!(safetensors::open(&path)?.read::<i64>("step")?.item()?, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save(self, path: impl AsRef<Path>) -> Result<()> {
        file::save(path.as_ref(), |file| self.write(file))
    }

    fn header(&self) -> Result<Vec<u8>> {
        let (mut tensors, mut end) = (Vec::new(), 0_usize);
        for part in &self.parts {
            let start = end;
            let overflow = || Error::ShapeOverflow { shape: part.shape.to_vec() };
            end = end.checked_add(part.bytes).ok_or_else(overflow)?;
            let (dtype, shape) = (part.stored, part.shape.to_vec());
            let info = TensorInfo { dtype, shape, data_offsets: (start, end) };
            push(&mut tensors, (part.name.clone(), info))?;
        }
        let refused = |error: &dyn std::error::Error| malformed(None, &error.to_string());
        let tensors = Metadata::new(None, tensors).map_err(|error| refused(&error))?;
        let notes = self.notes.iter().map(|(key, text)| (&key[..], &text[..])).collect();
        let header = Header { notes, tensors };
        let mut text = serde_json::to_vec(&header).map_err(|error| refused(&error))?;
        text.resize(text.len().next_multiple_of(ALIGN_BYTES), b' ');
        let (claimed, limit) = (text.len() as u64, super::LIMIT_BYTES);
        if claimed > limit {
            return Err(Error::HeaderTooLarge { claimed, limit });
        }
        Ok([&claimed.to_le_bytes()[..], &text].concat())
    }
}
