//! What is evaluated as one tile, without a plan: few elements of operands in memory.

mod tables;

pub(super) use tables::tabled_tile;

use super::UNPLANNED_ELEMENTS;
use crate::expr::node::Tree;
use crate::expr::{Access, defers};
use crate::kernel::{PerOperand, Place, Steps, Tile};
use crate::map::AddressMap;

/// The short way for small evaluations: one tile, straight from the strides; one row, if boxes, results of deferred
/// operations or storage that is not memory lie in order. Calls `fill` with it, if there is one, and returns whether.
/// `near` refuses all operands but memory, which nothing needs to be computed for.
pub(in crate::expr) fn one_tile(
    e: &dyn Tree,
    map: &AddressMap,
    near: bool,
    fill: &mut dyn FnMut(&Tile<'_>),
) -> bool {
    let count = map.count();
    if count == 0 || count > UNPLANNED_ELEMENTS || map.consecutive() != Some(0..count) {
        return false;
    }
    if near && defers(e) {
        return false;
    }
    let straight = |stride| Steps { stride, table: None };
    let place = |base, rows, columns| Place {
        base,
        rows: straight(rows),
        columns: straight(columns),
        relocate: None,
    };
    let sides = match *map.top().plain_axes() {
        [] => Some([1, 1]),
        [columns] => Some([1, columns.extent]),
        [rows, columns] => Some([rows.extent, columns.extent]),
        _ if near => return tabled_tile(e, map, fill),
        _ => None,
    };
    let mut places: PerOperand<Place<'_>> = PerOperand::new();
    places.push(place(0, sides.map_or(0, |[_, columns]| columns as isize), 1));
    let (mut in_order, mut far, mut in_blocks, mut linear) = (true, false, false, true);
    e.leaves(&mut |leaf| {
        in_order = in_order && leaf.map.consecutive().is_some_and(|run| run.len() == count);
        far |= !matches!(leaf.access, Access::Slice);
        in_blocks |= matches!(leaf.access, Access::Blocks(_));
        let axes = leaf.map.linear_axes();
        linear &= axes.is_some();
        let [across, along] = match axes.unwrap_or_default() {
            [] => [0, 0],
            [along] => [0, along.stride],
            [across, along, ..] => [across.stride, along.stride],
        };
        places.push(place(leaf.map.top().offset() as isize, across, along));
    });
    let [rows, columns] = match sides {
        // Rows come back to blocks that may not be held any more.
        _ if in_blocks || (near && far) => return false,
        _ if in_order => {
            places.iter_mut().for_each(|at| *at = place(at.base, 0, 1));
            [1, count]
        }
        Some(sides) if linear && !far => sides,
        _ => return tabled_tile(e, map, fill),
    };
    fill(&Tile { rows, columns, dense: rows > 1 && columns < 64, places: &places });
    true
}
