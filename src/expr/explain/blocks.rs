//! How often the blocks of an operand would be loaded, in words.

use crate::error::Result;
use crate::kernel::plan::{Nest, Plan};
use crate::kernel::{Area, Cuts, Grid, Operand, PerOperand, Supply};
use crate::memory::list;
use itertools::Itertools;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Boxes beyond this number are not followed.
const MOST_BOXES: usize = 1 << 14;
/// Blocks that are looked at to find how many would have to be held, about.
const MOST_VISITS: usize = 1 << 21;
/// Small blocks that take as long to look at as a box.
const SMALL_BLOCKS: usize = 64;

/// What is said of operand `k`, which comes in blocks.
pub(super) fn in_words(
    plan: &Plan<'_>,
    operands: &[Operand<'_>],
    k: usize,
    grid: &Grid,
) -> Result<String> {
    let sides = grid.sides.block.iter().format(" x ");
    if most_boxes(plan, operands) > MOST_BOXES {
        return Ok(format!("read in blocks of {sides}, in more boxes than are followed here"));
    }
    let Some([blocks, loads, visits]) = loads(plan, operands, k, grid)? else {
        return Ok(format!("read by its storage in blocks of {sides}, across their axes"));
    };
    let what = format!("{blocks} blocks of {sides}");
    if loads <= blocks {
        return Ok(format!("{what}, each loaded once"));
    }
    let (mut held, mut left) = (grid.held.max(1), MOST_VISITS);
    let mut each_once = false;
    while held < blocks && !each_once && left > 0 {
        held *= 2;
        left = left.saturating_sub(visits);
        let mut more = grid.clone();
        more.held = held;
        let loads = self::loads(plan, operands, k, &more)?;
        each_once = loads.is_none_or(|[blocks, loads, _]| loads <= blocks);
    }
    let more = if each_once || held >= blocks { "" } else { "more than " };
    Ok(format!(
        "{what}, loaded {:.1} times each; once if {more}{held} of them were held",
        loads as f64 / blocks as f64
    ))
}

/// Boxes that blocks of some size alone make of the nests, or more.
fn most_boxes(plan: &Plan<'_>, operands: &[Operand<'_>]) -> usize {
    let of_nest = |nest: &Nest| {
        operands.iter().enumerate().fold(1_usize, |all, (k, operand)| match operand.supply {
            Supply::Blocks(grid) if operand.relocate.is_none() => {
                let parts = Area::new(grid, nest, k, &plan.tables)
                    .map_or(1, |area| area.most_parts(grid, nest));
                // Of small blocks a box has many, but each is looked at.
                all.max(if grid.is_coarse() { parts } else { parts / SMALL_BLOCKS })
            }
            _ => all,
        })
    };
    plan.nests.iter().fold(0, |all, nest| all.saturating_add(of_nest(nest)))
}

/// Blocks that operand `k` has elements in, how often they are loaded where so many of them are held, and how often they
/// are looked at; `None` if it does not follow their axes, or if there are too many boxes.
fn loads(
    plan: &Plan<'_>,
    operands: &[Operand<'_>],
    k: usize,
    grid: &Grid,
) -> Result<Option<[usize; 3]>> {
    let supply =
        |other: usize| if other == k { Supply::Blocks(grid) } else { operands[other].supply };
    let own: PerOperand<Operand<'_>> =
        (0..operands.len()).map(|other| operands[other].with_supply(supply(other))).collect();
    let mut tables = list(plan.tables.iter().map(|table| Cow::Borrowed(&table[..])))?;
    // When each block was used last, and those times of the blocks that are held.
    let (mut used, mut held) = (BTreeMap::<SmallVec<[usize; 4]>, usize>::new(), BTreeSet::new());
    let (mut loads, mut now) = (0, 0);
    for nest in &plan.nests {
        let Some(cuts) = Cuts::where_better(nest, &own, &mut tables)? else { return Ok(None) };
        if cuts.count() > MOST_BOXES {
            return Ok(None);
        }
        for number in 0..cuts.count() {
            let Some(area) = Area::new(grid, &cuts.box_at(number), k, &tables) else {
                return Ok(None);
            };
            area.for_each_block(grid, &mut |index| {
                now += 1;
                let last = used.insert(index.into(), now);
                if !last.is_some_and(|last| held.remove(&last)) {
                    loads += 1;
                }
                held.insert(now);
                if held.len() > grid.held.max(1) {
                    held.pop_first();
                }
                Ok::<(), crate::Error>(())
            })?;
        }
    }
    Ok(Some([used.len(), loads, now]))
}
