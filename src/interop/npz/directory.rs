//! The directory of an archive, read record by record without a copy of it.

use super::packed::Packed;
use super::{ENDING, Entry, malformed, of_stream};
use crate::error::{Error, Result};
use crate::interop::npy;
use crate::memory::{push, text, try_with_capacity, zeros};
use crate::storage::Checked;
use rawzip::{ErrorKind, MAX_CENTRAL_DIRECTORY_RECORD_SIZE, ReaderAt, ZipLocator};
use std::cell::RefCell;
use std::io::{self, Read, Seek, SeekFrom};

/// Fewest bytes of an entry: a header of its own and one in the directory.
const ENTRY_BYTES: u64 = 30 + 46;
/// Fewest bytes of memory to look for the directory in.
const BUFFER_BYTES: u64 = 1 << 10;
/// What entries may hold besides twice the bytes of their archive.
const SMALL_BYTES: u64 = 1 << 14;

/// A source that is read anywhere.
struct Anywhere<'a, R>(RefCell<&'a mut R>);

impl<R: Read + Seek> ReaderAt for Anywhere<'_, R> {
    fn read_at(&self, out: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut source = self.0.borrow_mut();
        source.seek(SeekFrom::Start(offset))?;
        let mut source = Checked(&mut **source);
        loop {
            match source.read(out) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                done => return done,
            }
        }
    }
}

/// Lists a source of `len` bytes; headers are not read.
pub(super) fn entries(source: &mut (impl Read + Seek), len: u64) -> Result<Vec<Entry>> {
    let longest = MAX_CENTRAL_DIRECTORY_RECORD_SIZE as u64;
    let mut buffer: Vec<u8> = zeros(len.clamp(BUFFER_BYTES, longest) as usize)?;
    let source = Anywhere(RefCell::new(source));
    let archive = ZipLocator::new().locate_in_reader(source, &mut buffer, len);
    let archive = archive.map_err(|(_, error)| refused(None, error))?;
    let claimed = archive.entries_hint();
    if claimed.saturating_mul(ENTRY_BYTES) > len {
        return Err(malformed(None, "it claims more entries than there is room for"));
    }
    let mut entries = try_with_capacity(claimed as usize)?;
    let mut taken = try_with_capacity(claimed as usize + 1)?;
    push(&mut taken, archive.directory_offset()..u64::MAX)?;
    let mut records = archive.entries(&mut buffer);
    while let Some(record) = records.next_entry().map_err(|error| refused(None, error))? {
        if entries.len() as u64 == claimed {
            return Err(malformed(None, "it has more entries than it claims"));
        }
        let name = name(record.file_path().as_ref())?;
        let file = archive.get_entry(record.wayfinder());
        let file = file.map_err(|error| refused(Some(&name), error))?;
        let (start, end) = file.compressed_data_range();
        push(&mut taken, record.local_header_offset()..end)?;
        let packed = Packed {
            start,
            packed_bytes: end - start,
            bytes: record.uncompressed_size_hint(),
            crc: record.crc32(),
            method: (!record.flags().is_encrypted()).then_some(record.compression_method()),
        };
        let entry = Entry { name, packed, header: None };
        if entry.is_stored() && packed.packed_bytes != packed.bytes {
            return Err(malformed(
                Some(entry.name()),
                "it is stored in more or fewer bytes than it has",
            ));
        }
        push(&mut entries, entry)?;
    }
    if (entries.len() as u64) < claimed {
        return Err(malformed(None, "it has fewer entries than it claims"));
    }
    taken.sort_unstable_by_key(|range| range.start);
    if taken.windows(2).any(|pair| pair[0].end > pair[1].start) {
        return Err(malformed(None, "entries share bytes"));
    }
    Ok(entries)
}

/// The name of an array, from that of its file.
fn name(file: &[u8]) -> Result<String> {
    let file = std::str::from_utf8(file).map_err(|_| malformed(None, "a name is not UTF-8"))?;
    let name = file.strip_suffix(ENDING).unwrap_or(file);
    let mut owned = text(name.len())?;
    owned.push_str(name);
    Ok(owned)
}

/// Reads the headers of files in a source of `len` bytes. Few bytes inflate to many, of which a header or an error may
/// keep some.
pub(super) fn read_headers(
    entries: &mut [Entry],
    source: &mut (impl Read + Seek),
    len: u64,
) -> Result<()> {
    let listed = entries.iter().map(|entry| size_of_val(entry) + entry.name.capacity());
    let mut held: usize = listed.sum();
    for entry in entries.iter_mut().filter(|entry| entry.packed.bytes > 0) {
        let header = entry.open(source).and_then(npy::Header::read);
        let header = header.map_err(|error| of_stream(Some(&entry.name), error));
        held += size_of_val(&header) + held_by(&header);
        if held as u64 > len.saturating_mul(2).saturating_add(SMALL_BYTES) {
            return Err(malformed(None, "its headers take more memory than twice its bytes"));
        }
        entry.header = Some(Box::new(header));
    }
    Ok(())
}

/// Bytes that a header or an error keeps elsewhere.
fn held_by(header: &Result<npy::Header>) -> usize {
    match header {
        Ok(header) => size_of_val(header.shape().extents()),
        Err(Error::ElementType { found, .. }) => found.capacity(),
        Err(Error::ShapeOverflow { shape }) => size_of_val(&shape[..]),
        Err(Error::Malformed { name, reason, .. }) => {
            name.as_ref().map_or(0, String::len) + reason.capacity()
        }
        Err(_) => 0,
    }
}

/// An error of the archive.
fn refused(name: Option<&str>, error: rawzip::Error) -> Error {
    match error.into_kind() {
        ErrorKind::IO(error) => of_stream(name, error.into()),
        other => malformed(name, &other.to_string()),
    }
}
