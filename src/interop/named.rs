//! Files of several arrays, which have names.

use crate::error::{Error, Result};
use crate::memory::list;

/// Names that an error tells.
const TOLD: usize = 8;

/// The array of a name.
pub(super) fn entry<'e, E>(
    format: &'static str,
    entries: &'e [E],
    name_of: fn(&E) -> &str,
    name: &str,
) -> Result<&'e E> {
    let found = entries.iter().find(|entry| name_of(entry) == name);
    found.ok_or_else(|| {
        let names = entries.iter().map(|entry| name_of(entry).to_string());
        let (count, found) = (entries.len(), names.take(TOLD).collect());
        Error::NoArray { format, name: name.into(), found, count }
    })
}

/// What is not as the format says, of a file or of an array of it.
pub(super) fn malformed(format: &'static str, name: Option<&str>, reason: &str) -> Error {
    Error::Malformed { format, name: name.map(Into::into), reason: reason.into() }
}

/// Refuses a name that comes twice.
pub(super) fn check_unique<E>(
    format: &'static str,
    entries: &[E],
    name_of: fn(&E) -> &str,
) -> Result<()> {
    let mut names = list(entries.iter().map(name_of))?;
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(malformed(format, Some(pair[0]), "its name comes twice")),
        None => Ok(()),
    }
}
