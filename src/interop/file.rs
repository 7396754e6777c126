//! Files by their names, which errors tell.

use crate::error::Result;
use std::fs::{File, OpenOptions};
use std::path::Path;

/// Opens a file to read it.
pub(super) fn open(path: impl AsRef<Path>) -> Result<File> {
    open_with(File::options().read(true), path)
}

/// Opens a new file to write it, in the place of one of the same name.
pub(super) fn create(path: impl AsRef<Path>) -> Result<File> {
    open_with(File::options().write(true).create(true).truncate(true), path)
}

/// Opens a file.
///
/// # Errors
///
/// [`Error::Io`](crate::Error::Io) with the name of the file and what the operating system says.
pub(super) fn open_with(options: &OpenOptions, path: impl AsRef<Path>) -> Result<File> {
    let path = path.as_ref();
    let named = |error: std::io::Error| {
        let text = format!("cannot open {}: {error}", path.display());
        std::io::Error::new(error.kind(), text)
    };
    Ok(options.open(path).map_err(named)?)
}
