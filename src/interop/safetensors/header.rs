//! Headers: JSON that is read twice, to count tensors and to list them, and never held.

use super::{Entry, malformed};
use crate::error::{Error, Result};
use crate::memory::{push, try_with_capacity};
use crate::shape::{Index, Shape};
use crate::storage::Checked;
use ::safetensors::tensor::Dtype;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt::{self, Formatter};
use std::io::{self, BufReader, Read, Seek, SeekFrom};

/// The key of notes.
const NOTES: &str = "__metadata__";
/// What a list may hold besides twice the bytes of its file.
const SMALL_BYTES: u64 = 1 << 16;
/// What the parser holds of a text, in its bytes: a buffer that doubles, and the text of its own.
const OF_TEXT: usize = 4;

/// What a header lists.
#[derive(Default)]
pub(super) struct Listed {
    /// In the order of the file, their bytes counted from its start.
    pub(super) entries: Vec<Entry>,
    pub(super) notes: Vec<(String, String)>,
    /// Bytes that these hold, and may hold.
    held: u64,
    limit: u64,
    /// Why the list could not be made, as errors of the parser are texts.
    refused: Option<Error>,
}

/// Lists a header of `bytes` bytes from `start` on, of a file of `found` bytes.
pub(super) fn list(
    source: &mut (impl Read + Seek),
    [start, bytes, found]: [u64; 3],
) -> Result<Listed> {
    let limit = found.saturating_mul(2).saturating_add(SMALL_BYTES);
    let mut listed = Listed { limit, ..Listed::default() };
    source.seek(SeekFrom::Start(start))?;
    let mut texts = Texts { source: Checked(&mut *source).take(bytes), longest: 0, now: None };
    let count = parse(&mut texts, Count).map_err(of_json)?;
    // Names are compared in a list of their own.
    listed.hold(count.saturating_mul(size_of::<Entry>() + size_of::<&str>()))?;
    listed.hold(texts.longest.saturating_mul(OF_TEXT))?;
    listed.entries = try_with_capacity(count)?;
    source.seek(SeekFrom::Start(start))?;
    match parse(Checked(source).take(bytes), &mut listed) {
        Ok(()) => Ok(listed),
        Err(error) => Err(listed.refused.take().unwrap_or_else(|| of_json(error))),
    }
}

fn parse<V>(
    text: impl Read,
    seed: impl for<'de> DeserializeSeed<'de, Value = V>,
) -> serde_json::Result<V> {
    let mut parser = serde_json::Deserializer::from_reader(BufReader::new(text));
    let value = seed.deserialize(&mut parser)?;
    parser.end()?;
    Ok(value)
}

/// JSON whose texts are measured as it is read.
struct Texts<R> {
    source: R,
    /// Bytes of the longest one so far.
    longest: usize,
    /// Bytes so far of the one that is read, and whether an escape is.
    now: Option<(usize, bool)>,
}

impl<R: Read> Read for Texts<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let found = self.source.read(out)?;
        for &byte in &out[..found] {
            self.now = match (self.now, byte) {
                (None, b'"') => Some((0, false)),
                (None, _) | (Some((_, false)), b'"') => None,
                (Some((len, escape)), _) => Some((len + 1, !escape && byte == b'\\')),
            };
            self.longest = self.longest.max(self.now.map_or(0, |(len, _)| len));
        }
        Ok(found)
    }
}

fn of_json(error: serde_json::Error) -> Error {
    if error.is_io() {
        return io::Error::from(error).into();
    }
    malformed(None, &error.to_string())
}

impl Listed {
    /// Adds to the bytes that are held.
    fn hold(&mut self, bytes: usize) -> Result<()> {
        self.held = self.held.saturating_add(bytes as u64);
        if self.held <= self.limit {
            return Ok(());
        }
        Err(malformed(None, "its header takes more memory than twice its bytes"))
    }

    fn add(&mut self, name: String, info: Info) -> Result<()> {
        let (Extents { extents, rank }, [first, end]) = (info.shape, info.data_offsets);
        Shape::check_rank(rank)?;
        let spilled = if extents.spilled() { extents.capacity() } else { 0 };
        self.hold(name.capacity() + spilled * size_of::<usize>())?;
        let (stored, shape) = (info.dtype, Shape::from(extents));
        push(&mut self.entries, Entry { name, stored, shape, bytes: first..end })
    }

    fn note(&mut self, key: String, text: String) -> Result<()> {
        // A vector that grows is there twice for a moment.
        self.hold(3 * size_of::<(String, String)>() + key.capacity() + text.capacity())?;
        push(&mut self.notes, (key, text))
    }

    /// The result, which the parser takes for a text if it is an error.
    fn told<E: serde::de::Error>(&mut self, done: Result<()>) -> Result<(), E> {
        done.map_err(|error| {
            let text = E::custom(&error);
            self.refused = Some(error);
            text
        })
    }
}

/// Counts tensors.
struct Count;

impl<'de> DeserializeSeed<'de> for Count {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<usize, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Count {
    type Value = usize;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("tensors by name")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<usize, A::Error> {
        let mut count = 0;
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
            count += 1;
        }
        Ok(count)
    }
}

impl<'de> DeserializeSeed<'de> for &mut Listed {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &mut Listed {
    type Value = ();

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("tensors by name")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut noted = false;
        while let Some(name) = map.next_key::<String>()? {
            if name == NOTES {
                if std::mem::replace(&mut noted, true) {
                    return Err(serde::de::Error::duplicate_field(NOTES));
                }
                map.next_value_seed(Notes(self))?;
            } else {
                let added = self.add(name, map.next_value()?);
                self.told(added)?;
            }
        }
        Ok(())
    }
}

/// Texts by key, or null.
struct Notes<'l>(&'l mut Listed);

impl<'de> DeserializeSeed<'de> for Notes<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_option(self)
    }
}

impl<'de> Visitor<'de> for Notes<'_> {
    type Value = ();

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("texts by key")
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some((key, text)) = map.next_entry()? {
            let added = self.0.note(key, text);
            self.0.told(added)?;
        }
        Ok(())
    }
}

/// What a header says of a tensor.
#[derive(Deserialize)]
#[serde(expecting = "type, shape and place of a tensor")]
struct Info {
    dtype: Dtype,
    shape: Extents,
    /// Where its bytes begin and end.
    data_offsets: [u64; 2],
}

/// The shape of a tensor.
#[derive(Default)]
struct Extents {
    /// As many as a shape may have; `rank` counts them all.
    extents: Index,
    rank: usize,
}

impl<'de> Deserialize<'de> for Extents {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_seq(Self::default())
    }
}

impl<'de> Visitor<'de> for Extents {
    type Value = Self;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("the extents of a tensor")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut extents: A) -> Result<Self, A::Error> {
        while let Some(extent) = extents.next_element()? {
            self.rank += 1;
            if self.rank <= Shape::MAX_RANK {
                self.extents.push(extent);
            }
        }
        Ok(self)
    }
}
