//! Operands that are listed or rotated, or have more than two axes: rows and columns of the tile follow tables.

use crate::expr::Access;
use crate::expr::node::Tree;
use crate::kernel::{PerOperand, Place, Steps, Tile};
use crate::map::{AddressMap, Layout, Pattern};
use smallvec::SmallVec;
use std::borrow::Cow;

/// Most rows of several axes, which are listed one by one.
const MOST_ROWS: usize = 64;
/// Most elements where columns are rotated: the two runs of each row are copied at once by a plan.
const MOST_ROTATED: usize = 512;

/// Addresses along one side of the tile.
struct Side<'a> {
    stride: isize,
    table: Option<Cow<'a, [usize]>>,
}

impl Side<'_> {
    const REPEATED: Self = Self { stride: 0, table: None };

    fn steps(&self) -> Steps<'_> {
        Steps { stride: self.stride, table: self.table.as_deref() }
    }
}

/// Calls `fill` with the tile, if all operands are memory and it is worth it; returns whether.
#[inline(never)]
pub(super) fn tile(e: &dyn Tree, map: &AddressMap, fill: &mut dyn FnMut(&Tile<'_>)) -> bool {
    let Some((last, outer)) = map.top().plain_axes().split_last() else { return false };
    let (columns, rows) = (last.extent, map.count() / last.extent.max(1));
    if outer.len() > 1 && rows > MOST_ROWS {
        return false;
    }
    let mut fits = true;
    let mut leaves: SmallVec<[(isize, [Side<'_>; 2]); 4]> = SmallVec::new();
    e.leaves(&mut |leaf| {
        let top = leaf.map.top();
        fits = fits && matches!(leaf.access, Access::Slice) && leaf.map.rest().is_empty();
        if !fits {
            return;
        }
        // Axes from the last one on, as those in front may be missing.
        let side = |back: usize, extent| side(top, back, extent);
        let along = side(0, columns);
        fits = !(matches!(along.table, Some(Cow::Owned(_))) && rows * columns > MOST_ROTATED);
        let base = top.offset() as isize;
        leaves.push(match outer {
            [] => (base, [Side::REPEATED, along]),
            [rows] => (base, [side(1, rows.extent), along]),
            _ => {
                let mut sums: SmallVec<[isize; MOST_ROWS]> = SmallVec::from_slice(&[base]);
                for (back, axis) in (1..=outer.len()).rev().zip(outer) {
                    let own = side(back, axis.extent);
                    let steps = own.steps();
                    let digits =
                        |&sum: &isize| (0..axis.extent).map(move |k| sum.wrapping_add(steps.at(k)));
                    sums = sums.iter().flat_map(digits).collect();
                }
                let (base, across) = rows_at(&sums);
                (base, [across, along])
            }
        });
    });
    if !fits {
        return false;
    }
    let place = |base, rows, columns| Place { base, rows, columns, relocate: None };
    let straight = |stride| Steps { stride, table: None };
    let mut places: PerOperand<Place<'_>> = PerOperand::new();
    places.push(place(0, straight(columns as isize), straight(1)));
    places.extend(
        leaves.iter().map(|(base, [across, along])| place(*base, across.steps(), along.steps())),
    );
    fill(&Tile { rows, columns, dense: rows > 1 && columns < 64, places: &places });
    true
}

/// Where rows begin: at a stride if they do, else in a table from the first one in memory on.
fn rows_at<'a>(starts: &[isize]) -> (isize, Side<'a>) {
    let stride = starts.get(1).map_or(0, |next| next.wrapping_sub(starts[0]));
    if starts.windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) == stride) {
        return (starts[0], Side { stride, table: None });
    }
    let base = starts.iter().copied().min().unwrap_or_default();
    let table = starts.iter().map(|start| start.wrapping_sub(base) as usize).collect();
    (base, Side { stride: 1, table: Some(Cow::Owned(table)) })
}

/// How an operand moves along an axis of this extent, counted from the last one: not at all if it lacks or repeats that.
fn side(layout: &Layout, back: usize, extent: usize) -> Side<'_> {
    let axes = layout.plain_axes();
    let own = axes.len().checked_sub(back + 1).filter(|&axis| axes[axis].extent == extent);
    let Some(axis) = own else { return Side::REPEATED };
    let pattern = layout.pattern(axis);
    let table = match pattern {
        Pattern::Linear => None,
        Pattern::Listed(list) => Some(Cow::Borrowed(list.positions())),
        Pattern::Cyclic { .. } => Some((0..extent).map(|digit| pattern.position(digit)).collect()),
    };
    Side { stride: axes[axis].stride, table }
}
