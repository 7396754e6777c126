//! Words of errors about rows.

/// A number of items.
pub(super) fn items(count: usize) -> String {
    if count == 1 { "1 item".into() } else { format!("{count} items") }
}

/// An extent; the largest number stands for an axis whose rows differ in length.
pub(super) fn extent(extent: usize) -> String {
    if extent == usize::MAX { "var".into() } else { extent.to_string() }
}

/// A shape of such extents.
pub(super) fn extents(shape: &[usize]) -> String {
    let all: Vec<String> = shape.iter().map(|&own| extent(own)).collect();
    format!("[{}]", all.join(", "))
}
