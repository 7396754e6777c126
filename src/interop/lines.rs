//! Storage that is made of lines with gaps between them.

use crate::error::StorageError;
use crate::storage::{Reader, read_each};

/// Reads a run. `copy` fills a part of it from an address on, as far as the line of that address goes, and says how far.
pub(super) fn read_run<R: Reader>(
    storage: &R,
    start: usize,
    step: isize,
    out: &mut [R::Elem],
    copy: impl Fn(usize, &mut [R::Elem]) -> Result<usize, StorageError>,
) -> Result<(), StorageError> {
    if step != 1 {
        return read_each(storage, start, step, out);
    }
    let mut done = 0;
    while done < out.len() {
        done += copy(start + done, &mut out[done..])?;
    }
    Ok(())
}
