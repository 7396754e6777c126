//! Files inside archives, unpacked as they are read.

use crate::storage::Checked;
use flate2::CrcReader;
use flate2::read::DeflateDecoder;
use rawzip::CompressionMethod;
use std::io::{self, Read};

/// Where a file lies in its archive, and what the directory says of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Packed {
    pub(super) start: u64,
    pub(super) packed_bytes: u64,
    /// Size of the file once unpacked.
    pub(super) bytes: u64,
    pub(super) crc: u32,
    /// `None` in cipher.
    pub(super) method: Option<CompressionMethod>,
}

impl Packed {
    /// Unpacks the file from a source that is at its start.
    pub(super) fn unpack<'a>(&self, source: impl Read + 'a) -> Result<Unpacked<'a>, String> {
        let source = Checked(source).take(self.packed_bytes);
        let source: Box<dyn Read + 'a> = match self.method {
            Some(CompressionMethod::STORE) => Box::new(source),
            Some(CompressionMethod::DEFLATE) => Box::new(DeflateDecoder::new(source)),
            Some(other) => return Err(format!("it is packed in the unknown way {other}")),
            None => return Err("it is in cipher".into()),
        };
        Ok(Unpacked { source: CrcReader::new(source), left: self.bytes, crc: self.crc })
    }
}

/// The bytes of a file. It ends where the directory says, with the checksum that it says, or with an error.
pub(super) struct Unpacked<'a> {
    source: CrcReader<Box<dyn Read + 'a>>,
    left: u64,
    crc: u32,
}

impl Read for Unpacked<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let invalid = |text| Err(io::Error::new(io::ErrorKind::InvalidData, text));
        let found = self.source.read(out)?;
        match self.left.checked_sub(found as u64) {
            Some(left) => self.left = left,
            None => return invalid("it has more bytes than the directory says"),
        }
        if found == 0 && !out.is_empty() {
            if self.left > 0 {
                return invalid("it has fewer bytes than the directory says");
            }
            if self.source.crc().sum() != self.crc {
                return invalid("its checksum is not that of the directory");
            }
        }
        Ok(found)
    }
}
