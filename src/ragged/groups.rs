//! Which items are folded to one result.

use super::form::{Axis, Form};
use super::offsets::Offsets;
use super::places::total;
use crate::error::Result;
use crate::memory::{append, list, push, try_reserve, try_reserve_exact};
use smallvec::SmallVec;

/// Axes after one that is merged.
pub(super) type Behind = SmallVec<[Axis; 4]>;

/// Items of some axes together.
pub(super) fn counted(axes: &[Axis]) -> usize {
    axes.iter().fold(1, |count, axis| match axis {
        Axis::Fixed(extent) => count * extent,
        Axis::Var(rows) => rows.last(),
    })
}

/// Where the rows begin and end, among the elements, that belong to each item of the axes in front of one; items have
/// `width` elements. A table that says so already is shared.
pub(super) fn bounds(form: &Form, from: usize, width: usize) -> Result<Offsets> {
    let (axes, depth) = (&form.axes, form.depth());
    if let (Axis::Var(rows), true) = (&axes[from], from + 1 == depth && width == 1) {
        return Ok(rows.clone());
    }
    let mut bounds = list(0..counted(&axes[..from]) + 1)?;
    for bound in &mut bounds {
        let item = axes[from..depth].iter().fold(*bound, |item, axis| match axis {
            Axis::Fixed(extent) => item * extent,
            Axis::Var(rows) => rows.number(item),
        });
        *bound = item * width;
    }
    Offsets::new(bounds)
}

/// The items of a fixed axis put together: those at the same place, in order.
#[derive(Default)]
pub(super) struct Merged {
    /// The axes after it, up to the last var axis.
    pub(super) axes: Behind,
    pub(super) items: Vec<usize>,
    /// Where those begin and end that are put together.
    pub(super) bounds: Vec<usize>,
}

impl Merged {
    pub(super) fn of(form: &Form, axis: usize) -> Result<Self> {
        let (axes, depth) = (&form.axes, form.depth());
        let count = counted(&axes[..axis]);
        let extent = match axes[axis] {
            Axis::Fixed(extent) => extent,
            Axis::Var(_) => 1,
        };
        let behind = &axes[axis + 1..depth];
        let mut lengths: Vec<Vec<usize>> = behind.iter().map(|_| Vec::new()).collect();
        let mut merged = Self { bounds: vec![0], ..Self::default() };
        let mut sets = vec![Vec::new(); behind.len() + 1];
        // Rows of the first var axis are known to be so many, however few items they have.
        let first = behind.iter().take_while(|axis| matches!(axis, Axis::Fixed(_))).count();
        let rows = total(count, counted(&behind[..first]))?;
        if let Some(lengths) = lengths.get_mut(first) {
            try_reserve_exact(lengths, rows)?;
        }
        // Items in front of no rows, of which there may be any number, are not visited.
        if rows > 0 {
            if !behind.iter().any(|axis| matches!(axis, Axis::Fixed(0))) {
                try_reserve_exact(&mut merged.items, counted(&axes[..depth]))?;
            }
            try_reserve_exact(&mut sets[0], extent)?;
            for item in 0..count {
                sets[0].clear();
                sets[0].extend(item * extent..(item + 1) * extent);
                merged.put(behind, &mut lengths, &mut sets)?;
            }
        }
        for (axis, lengths) in behind.iter().zip(lengths) {
            merged.axes.push(match axis {
                Axis::Fixed(extent) => Axis::Fixed(*extent),
                Axis::Var(_) => Axis::Var(Offsets::from_lengths(lengths)?),
            });
        }
        Ok(merged)
    }

    /// Puts together the items of a set, which is the first of the lists and is used up; the others are memory.
    pub(super) fn put(
        &mut self,
        axes: &[Axis],
        lengths: &mut [Vec<usize>],
        sets: &mut [Vec<usize>],
    ) -> Result<()> {
        let Some((set, inner)) = sets.split_first_mut() else { return Ok(()) };
        let (Some((axis, axes)), Some((own, lengths))) =
            (axes.split_first(), lengths.split_first_mut())
        else {
            append(&mut self.items, set)?;
            return push(&mut self.bounds, self.items.len());
        };
        let longest = match axis {
            Axis::Fixed(extent) => *extent,
            Axis::Var(rows) => {
                let longest = set.iter().map(|&row| rows.length(row)).max().unwrap_or(0);
                push(own, longest)?;
                longest
            }
        };
        // Nor are those visited that stand in front of no rows further inside.
        if axes.iter().map_while(|axis| axis.kind().fixed()).any(|extent| extent == 0) {
            return Ok(());
        }
        for place in 0..longest {
            if let Axis::Var(rows) = axis {
                // Rows that have ended are not looked at again, however long others are.
                set.retain(|&row| rows.length(row) > place);
            }
            inner[0].clear();
            try_reserve(&mut inner[0], set.len())?;
            inner[0].extend(set.iter().map(|&row| match axis {
                Axis::Fixed(extent) => row * extent + place,
                Axis::Var(rows) => rows.number(row) + place,
            }));
            self.put(axes, lengths, inner)?;
        }
        Ok(())
    }
}
