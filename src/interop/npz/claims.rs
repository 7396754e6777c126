//! How many entries an archive claims to have, held against its length before memory is asked for them: `zip` asks for
//! the list at once.

use super::malformed;
use crate::error::Result;
use crate::memory::zeros;
use std::io::{Read, Seek, SeekFrom};

/// Signatures of the end of the directory, of where its 64-bit form lies, and of that.
const END: &[u8] = b"PK\x05\x06";
const LOCATOR: &[u8] = b"PK\x06\x07";
const RECORD: &[u8] = b"PK\x06\x06";
/// Bytes of the first two without a comment, of the longest comment, and of the third up to its counts.
const END_BYTES: usize = 22;
const LOCATOR_BYTES: usize = 20;
const COMMENT: u64 = 1 << 16;
const COUNTS: usize = 40;
/// Fewest bytes of an entry: a header of its own and one in the directory.
const ENTRY: u64 = 30 + 46;

/// Refuses an archive that cannot hold what it claims; afterwards the source is at its beginning.
///
/// # Errors
///
/// [`Error::Malformed`](crate::Error::Malformed), [`Error::Io`](crate::Error::Io).
pub(super) fn check(source: &mut (impl Read + Seek)) -> Result<()> {
    let len = source.seek(SeekFrom::End(0))?;
    let start = len.saturating_sub(COMMENT + (END_BYTES + END.len() + LOCATOR_BYTES) as u64);
    source.seek(SeekFrom::Start(start))?;
    let mut tail: Vec<u8> = zeros((len - start) as usize)?;
    source.read_exact(&mut tail)?;
    // Whatever looks like an end may be taken for it.
    for at in 0..tail.len().saturating_sub(END_BYTES - 1) {
        if tail[at..].starts_with(END) && claimed(source, &tail, at)?.saturating_mul(ENTRY) > len {
            return Err(malformed(None, "it claims more entries than there is room for"));
        }
    }
    source.rewind()?;
    Ok(())
}

/// The number of entries that an end of the directory claims.
fn claimed(source: &mut (impl Read + Seek), tail: &[u8], at: usize) -> Result<u64> {
    let number = |from: &[u8], start: usize, bytes: usize| {
        from[start..start + bytes].iter().rev().fold(0, |n, &byte| n << 8 | u64::from(byte))
    };
    let end = &tail[at..at + END_BYTES];
    let claims = number(end, 8, 2).max(number(end, 10, 2));
    let wide = number(end, 10, 2) == u64::from(u16::MAX)
        || number(end, 12, 4) == u64::from(u32::MAX)
        || number(end, 16, 4) == u64::from(u32::MAX);
    let locator = at.checked_sub(LOCATOR_BYTES).map(|start| &tail[start..at]);
    let Some(locator) = locator.filter(|locator| wide && locator.starts_with(LOCATOR)) else {
        return Ok(claims);
    };
    source.seek(SeekFrom::Start(number(locator, 8, 8)))?;
    let mut record = [0; COUNTS];
    match source.read_exact(&mut record) {
        Ok(()) if record.starts_with(RECORD) => {
            Ok(number(&record, 24, 8).max(number(&record, 32, 8)))
        }
        // It is searched for, and found only where there is room for as many entries as it claims.
        _ => Ok(0),
    }
}
