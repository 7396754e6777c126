//! Operands that are listed or rotated, or have more than two axes, and outputs that are parts of memory: rows and columns of
//! the tile follow strides or tables.

use crate::expr::Access;
use crate::expr::eval::{SMALL_BYTES, UNPLANNED_ELEMENTS};
use crate::expr::node::Tree;
use crate::kernel::{PerOperand, Place, Steps, Tile};
use crate::map::{AddressMap, Axis, Layout, Pattern};
use smallvec::smallvec;
use std::borrow::Cow;

/// Most rows of several axes, which are listed one by one.
const MOST_ROWS: usize = 64;
/// Most elements where columns are rotated, whose two runs a plan copies, or do not lie side by side in the output, where a plan
/// goes along others.
const MOST_UNEVEN: usize = 512;

/// Addresses of an operand along one side of the tile.
struct Side<'a> {
    stride: isize,
    table: Option<Cow<'a, [usize]>>,
}

impl<'a> Side<'a> {
    fn strided(stride: isize) -> Self {
        Self { stride, table: None }
    }

    /// Along an axis of this extent, counted from the last one: all at one place if the operand lacks or repeats that.
    fn of(layout: &'a Layout, back: usize, extent: usize) -> Self {
        let axes = layout.plain_axes();
        let own = axes.len().checked_sub(back + 1).filter(|&axis| axes[axis].extent == extent);
        let Some(axis) = own else { return Self::strided(0) };
        let pattern = layout.pattern(axis);
        let table = match pattern {
            Pattern::Linear => None,
            Pattern::Listed(list) => Some(Cow::Borrowed(list.positions())),
            Pattern::Cyclic { .. } => {
                Some((0..extent).map(|digit| pattern.position(digit)).collect())
            }
        };
        Self { stride: axes[axis].stride, table }
    }

    /// Along all of some axes, the last of which has so many behind it: a base, and where rows begin from there.
    fn of_rows(layout: &'a Layout, axes: &[Axis], behind: usize) -> (isize, Self) {
        let base = layout.offset() as isize;
        if let [axis] = axes {
            return (base, Self::of(layout, behind, axis.extent));
        }
        let (mut starts, mut rows) = ([base; MOST_ROWS], 1);
        for (k, axis) in axes.iter().enumerate() {
            let side = Self::of(layout, behind + axes.len() - 1 - k, axis.extent);
            let steps = side.steps();
            // From the last one on, so that none is overwritten before it is read.
            for row in (0..rows).rev() {
                let start = starts[row];
                for (digit, slot) in
                    starts[row * axis.extent..][..axis.extent].iter_mut().enumerate()
                {
                    *slot = start.wrapping_add(steps.at(digit));
                }
            }
            rows *= axis.extent;
        }
        let starts = &starts[..rows];
        let stride = starts.get(1).map_or(0, |next| next.wrapping_sub(starts[0]));
        if starts.windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) == stride) {
            return (starts[0], Self::strided(stride));
        }
        let base = starts.iter().copied().min().unwrap_or(base);
        let table = starts.iter().map(|start| start.wrapping_sub(base) as usize).collect();
        (base, Self { stride: 1, table: Some(Cow::Owned(table)) })
    }

    fn steps(&self) -> Steps<'_> {
        Steps { stride: self.stride, table: self.table.as_deref() }
    }
}

/// Calls `fill` with the tile, if it has few elements, all operands are memory and it is worth it; returns whether.
#[inline(never)]
pub(in crate::expr::eval) fn tabled_tile(
    e: &dyn Tree,
    map: &AddressMap,
    fill: &mut dyn FnMut(&Tile<'_>),
) -> bool {
    let (axes, count) = (map.top().plain_axes(), map.count());
    let inner = axes.iter().rev().position(|axis| axis.extent > 1).unwrap_or(0);
    let extent = axes.len().checked_sub(inner + 1).map_or(1, |axis| axes[axis].extent);
    let even = count <= MOST_UNEVEN || linear(map.top(), inner, extent) == Some(1);
    let mut fits = (1..=UNPLANNED_ELEMENTS).contains(&count) && map.rest().is_empty() && even;
    if !fits {
        return false;
    }
    let mut layouts: PerOperand<&Layout> = smallvec![map.top()];
    e.leaves(&mut |leaf| {
        fits &= matches!(leaf.access, Access::Slice) && leaf.map.rest().is_empty();
        fits &= count.saturating_mul(leaf.elem_bytes) <= SMALL_BYTES;
        if fits {
            layouts.push(leaf.map.top());
        }
    });
    if !fits {
        return false;
    }
    let (behind, columns) = columns(axes, &layouts);
    let (outer, rows) = (&axes[..axes.len() - behind], count / columns);
    let rotated = |layout: &&Layout| {
        let last = layout.rank().checked_sub(1);
        last.is_some_and(|axis| matches!(layout.pattern(axis), Pattern::Cyclic { .. }))
    };
    if (outer.len() > 1 && rows > MOST_ROWS) || (count > MOST_UNEVEN && layouts.iter().any(rotated))
    {
        return false;
    }
    let whole = map.consecutive();
    let sides: PerOperand<(isize, [Side<'_>; 2])> = layouts
        .iter()
        .enumerate()
        .map(|(number, layout)| match &whole {
            Some(run) if number == 0 => {
                (run.start as isize, [columns as isize, 1].map(Side::strided))
            }
            _ => {
                let (base, across) = Side::of_rows(layout, outer, behind);
                (base, [across, Side::of(layout, inner, extent)])
            }
        })
        .collect();
    let places: PerOperand<Place<'_>> = sides
        .iter()
        .map(|(base, [across, along])| Place {
            base: *base,
            rows: across.steps(),
            columns: along.steps(),
            relocate: None,
        })
        .collect();
    fill(&Tile { rows, columns, dense: rows > 1 && columns < 64, places: &places });
    true
}

/// Of how many axes, the last ones, columns are: of all that every operand steps through as if they were one, else of one. How
/// many columns there are.
fn columns(axes: &[Axis], layouts: &[&Layout]) -> (usize, usize) {
    let (mut behind, mut columns) = (0, 1);
    let mut strides: PerOperand<isize> = smallvec![0; layouts.len()];
    for axis in axes.iter().rev() {
        let mut follows = true;
        for (layout, stride) in layouts.iter().zip(&mut strides) {
            let own = linear(layout, behind, axis.extent);
            if columns == 1 {
                *stride = own.unwrap_or(isize::MIN);
            }
            follows &= own.is_some() && stride.checked_mul(columns as isize) == own;
        }
        if !(follows || axis.extent == 1 || columns == 1) {
            break;
        }
        (behind, columns) = (behind + 1, columns * axis.extent);
    }
    (behind, columns)
}

/// The stride along an axis, as of [`Side::of`], unless positions are listed or rotated.
fn linear(layout: &Layout, back: usize, extent: usize) -> Option<isize> {
    let axes = layout.plain_axes();
    match axes.len().checked_sub(back + 1).filter(|&axis| axes[axis].extent == extent) {
        Some(axis) => matches!(layout.pattern(axis), Pattern::Linear).then(|| axes[axis].stride),
        None => Some(0),
    }
}
