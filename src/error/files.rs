//! Words of errors about files of several arrays.

use super::{Error, Foreign};

/// Names that are told.
const TOLD: usize = 8;

impl Error {
    /// [`Error::NoArray`], of a file with these names.
    pub(crate) fn no_array<'n>(
        format: &'static str,
        name: &str,
        found: impl ExactSizeIterator<Item = &'n str>,
    ) -> Self {
        let count = found.len();
        let found = found.take(TOLD).map(String::from).collect();
        Self::NoArray { format, name: name.into(), found, count }
    }
}

/// What is malformed.
pub(super) fn part(format: &str, name: Option<&str>) -> String {
    match name {
        Some(name) => format!("array `{}` of this {format}", Foreign(name)),
        None => format!("this {format}"),
    }
}

/// The names that there are.
pub(super) fn names(found: &[String], count: usize) -> String {
    let mut text = match found {
        [] => "none".into(),
        found => found.iter().map(|name| Foreign(name).to_string()).collect::<Vec<_>>().join(", "),
    };
    if count > found.len() {
        text.push_str(&format!(" and {} others", count - found.len()));
    }
    text
}
