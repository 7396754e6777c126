//! Entries of repeated axes: whole blocks of positions are copied.

use crate::error::Result;
use crate::map::Repeat;
use crate::memory::{try_reserve, try_with_capacity};
use std::ops::Range;

/// Adds the other digits of a repeated axis: ascending entries with first digits on this axis become
/// ascending entries with all of them. Of positions outside `window` those may be left out that stay
/// outside when up to `later` is added. Tells whether they are `most` or fewer; if not, none are added.
#[inline(never)]
pub(super) fn repeat<T: Copy>(
    Repeat { block, step }: Repeat,
    later: usize,
    window: &Range<usize>,
    most: usize,
    positions: &mut Vec<usize>,
    values: &mut Vec<T>,
) -> Result<bool> {
    let low = window.start.saturating_sub(later);
    // First and last copy of an entry that are of use, if any is.
    let copies = |position: usize| {
        let most = (block - 1 - position % block) / step;
        let room = window.end.checked_sub(position + 1)?;
        let first = low.saturating_sub(position).div_ceil(step);
        (first <= most.min(room / step)).then(|| first..most.min(room / step) + 1)
    };
    let counts = positions.iter().filter_map(|&position| copies(position)).map(|c| c.len());
    let count = counts.fold(0, usize::saturating_add);
    if count > most {
        return Ok(false);
    }
    let (mut all_positions, mut all_values) =
        (try_with_capacity(count)?, try_with_capacity(count)?);
    let mut start = 0;
    while start < positions.len() {
        let end_position = (positions[start] / block + 1) * block;
        let count = positions[start..].iter().take_while(|p| **p < end_position).count();
        let end = start + count.max(1);
        let (group, group_values) = (&positions[start..end], &values[start..end]);
        let range = group.iter().filter_map(|&position| copies(position));
        let range = range.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end)).unwrap_or(0..0);
        for copy in range {
            let offset = copy * step;
            // Positions ascend: those that are wanted follow one another.
            let wanted = |position: usize| {
                position + offset >= low && position + offset < end_position.min(window.end)
            };
            let first = group.iter().position(|&position| wanted(position));
            let Some(first) = first else { continue };
            let last = group.iter().rposition(|&position| wanted(position)).unwrap_or(first);
            try_reserve(&mut all_positions, last - first + 1)?;
            try_reserve(&mut all_values, last - first + 1)?;
            all_positions.extend(group[first..=last].iter().map(|position| position + offset));
            all_values.extend_from_slice(&group_values[first..=last]);
        }
        start = end;
    }
    (*positions, *values) = (all_positions, all_values);
    Ok(true)
}
