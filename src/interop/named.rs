//! Files of several arrays, which have names.

use crate::error::{Error, Result};
use crate::memory::list;
use std::fmt::{self, Debug, Formatter};
use std::ops::Deref;

/// Names that an error tells.
const TOLD: usize = 8;

/// What a directory says of an array.
pub(super) trait Named {
    /// The format of the file.
    const FORMAT: &'static str;

    fn name(&self) -> &str;
}

/// The arrays of a file, in its order, which are found by name.
pub(super) struct Directory<E> {
    entries: Vec<E>,
    /// Their numbers, ascending by name.
    sorted: Vec<usize>,
}

impl<E: Named> Directory<E> {
    /// Refuses a name that comes twice.
    pub(super) fn new(entries: Vec<E>) -> Result<Self> {
        let name = |number: usize| entries[number].name();
        let mut sorted = list(0..entries.len())?;
        sorted.sort_unstable_by(|a, b| name(*a).cmp(name(*b)));
        match sorted.windows(2).find(|pair| name(pair[0]) == name(pair[1])) {
            Some(pair) => Err(malformed(E::FORMAT, Some(name(pair[0])), "its name comes twice")),
            None => Ok(Self { entries, sorted }),
        }
    }

    /// The array of a name.
    pub(super) fn find(&self, name: &str) -> Result<&E> {
        let found = self.sorted.binary_search_by(|&number| self.entries[number].name().cmp(name));
        found.map(|at| &self.entries[self.sorted[at]]).map_err(|_| {
            let names = self.entries.iter().map(|entry| entry.name().to_string());
            let (count, found) = (self.entries.len(), names.take(TOLD).collect());
            Error::NoArray { format: E::FORMAT, name: name.into(), found, count }
        })
    }
}

impl<E> Deref for Directory<E> {
    type Target = [E];

    fn deref(&self) -> &[E] {
        &self.entries
    }
}

impl<E: Debug> Debug for Directory<E> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.entries.fmt(f)
    }
}

/// What is not as the format says, of a file or of an array of it.
pub(super) fn malformed(format: &'static str, name: Option<&str>, reason: &str) -> Error {
    Error::Malformed { format, name: name.map(Into::into), reason: reason.into() }
}
