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

/// An axis that cannot cross one whose rows differ in length, or is one where none may be.
pub(super) fn crossing(axis: usize, crossed: usize) -> String {
    match axis == crossed {
        // Nothing is in front of it, so there is one row.
        true if axis == 0 => {
            "axis 0 is one row of any length: `as_fixed(0)` makes it a fixed axis".into()
        }
        true => {
            format!(
                "axis {axis} has rows that differ in length: `padded` or `as_fixed` makes it a fixed axis"
            )
        }
        false => format!(
            "axis {axis} cannot cross axis {crossed}, whose rows differ in length: `padded` or `as_fixed` makes that \
             one a fixed axis"
        ),
    }
}
