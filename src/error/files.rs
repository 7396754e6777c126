//! Words of errors about files of several arrays.

use super::Foreign;

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
