//! Words of errors about rows.

/// A number of items.
pub(super) fn items(count: usize) -> String {
    if count == 1 { "1 item".into() } else { format!("{count} items") }
}

/// A shape in which the largest number stands for an axis whose rows differ in length.
pub(super) fn extents(shape: &[usize]) -> String {
    let extent = |&extent: &usize| match extent {
        usize::MAX => "var".into(),
        extent => extent.to_string(),
    };
    format!("[{}]", shape.iter().map(extent).collect::<Vec<_>>().join(", "))
}
