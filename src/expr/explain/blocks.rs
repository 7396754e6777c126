//! How often the blocks of an operand would be loaded, in words.

use super::planned;
use crate::error::Result;
use crate::expr::{Access, Boxed, Expr, Lazy, erased};
use crate::kernel::plan::{Nest, Plan};
use crate::kernel::{Area, Cuts, Grid, Operand, PerOperand, Supply};
use crate::map::Select;
use crate::memory::list;
use itertools::Itertools;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::iter::once;
use std::sync::Arc;

/// Boxes beyond this number are not followed.
const MOST_BOXES: usize = 1 << 14;
/// Blocks that are looked at to find how many would have to be held, about.
const MOST_VISITS: usize = 1 << 21;
/// Small blocks that take as long to look at as a box.
const SMALL_BLOCKS: usize = 64;
/// Parts of an operand beyond this number are not followed.
const MOST_PARTS: usize = 1 << 10;

/// Selectors of the parts of an operand that are evaluated one after another.
pub(crate) type Parts<'p> = &'p mut dyn Iterator<Item = Result<Vec<Select>>>;

/// What is said of the operands of an expression that come in blocks, after `name` or the number of the operand, where
/// these `parts` of it are evaluated. Of parts that are not known, or too many, it is said `how` they are read, and that a
/// cache of all blocks loads each once, as is so in any order.
#[inline(never)]
pub(crate) fn blocks_in_words<T: Copy + Send + Sync>(
    e: &Boxed<'_, T>,
    name: Option<&str>,
    parts: Option<Parts<'_>>,
    how: &str,
) -> Result<Vec<String>> {
    let (mut grids, mut number) = (Vec::new(), 0);
    e.leaves(&mut |leaf| {
        number += 1;
        if let Access::Blocks(grid) = leaf.access {
            grids.push((number, grid));
        }
    });
    if grids.is_empty() {
        return Ok(Vec::new());
    }
    let known = parts.map(|parts| follow_all(e, &grids, parts)).transpose()?;
    let is_lost = known.as_ref().is_none_or(|known| known.iter().any(|loads| loads.is_lost));
    let whole = match is_lost {
        true => follow_all(e, &grids, &mut once(Ok(Vec::new())))?,
        false => Vec::new(),
    };
    let mut lines = Vec::new();
    for (k, (number, grid)) in grids.iter().enumerate() {
        let known = known.as_ref().map(|known| &known[k]).filter(|known| !known.is_lost);
        let all = known.unwrap_or_else(|| &whole[k]);
        let (blocks, sides) = (all.used.len(), grid.sides.block.iter().format(" x "));
        let said = match known {
            _ if all.is_lost => format!("blocks of {sides}, {how}"),
            _ if blocks == 0 => continue,
            Some(all) if all.loads > blocks => format!(
                "{blocks} blocks of {sides}, loaded {:.1} times each; once if {blocks} of them were held, or fewer",
                all.loads as f64 / blocks as f64
            ),
            None if blocks > grid.held => format!(
                "{blocks} blocks of {sides}, {how}; each loaded once if {blocks} of them were held, or fewer"
            ),
            _ => format!("{blocks} blocks of {sides}, each loaded once"),
        };
        lines.push(match name {
            Some(name) => format!("{name}: {said}"),
            None => format!("operand {number}: {said}"),
        });
    }
    Ok(lines)
}

/// [`blocks_in_words`] of an expression that is evaluated at once.
pub(crate) fn blocks_at_once<E: Expr>(e: &Lazy<E>, name: Option<&str>) -> Result<Vec<String>> {
    let whole = &mut once(Ok(Vec::new()));
    blocks_in_words(&erased(&e.0), name, Some(whole), "evaluated to memory")
}

/// Loads of the blocks of each of these operands while parts of an expression are evaluated.
fn follow_all<T: Copy + Send + Sync>(
    e: &Boxed<'_, T>,
    grids: &[(usize, Arc<Grid>)],
    parts: Parts<'_>,
) -> Result<Vec<Loads>> {
    let mut loads = list(grids.iter().map(|_| Loads::default()))?;
    for (number, part) in parts.enumerate() {
        let part = Lazy(e.clone()).select(part?)?;
        planned(&part.0, &mut |plan, operands| {
            let is_long = number >= MOST_PARTS || most_boxes(plan, operands) > MOST_BOXES;
            for ((k, grid), loads) in grids.iter().zip(&mut loads) {
                loads.is_lost |= is_long || loads.now > MOST_VISITS;
                loads.follow(plan, operands, *k, grid)?;
            }
            Ok(())
        })?;
        if loads.iter().all(|loads| loads.is_lost) {
            break;
        }
    }
    Ok(loads)
}

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
    let mut loads = Loads::default();
    loads.follow(plan, operands, k, grid)?;
    Ok((!loads.is_lost).then_some([loads.used.len(), loads.loads, loads.now]))
}

/// Loads of the blocks of one operand, while one evaluation follows the other.
#[derive(Default)]
struct Loads {
    /// When each block was used last, and those times of the blocks that are held.
    used: BTreeMap<SmallVec<[usize; 4]>, usize>,
    held: BTreeSet<usize>,
    loads: usize,
    now: usize,
    boxes: usize,
    /// Whether an evaluation does not follow the axes of blocks, or has too many boxes.
    is_lost: bool,
}

impl Loads {
    /// Follows an evaluation whose operand `k` comes in these blocks.
    fn follow(
        &mut self,
        plan: &Plan<'_>,
        operands: &[Operand<'_>],
        k: usize,
        grid: &Grid,
    ) -> Result<()> {
        let supply = |other: usize| match other == k {
            true => Supply::Blocks(grid),
            false => operands[other].supply,
        };
        let own: PerOperand<Operand<'_>> =
            (0..operands.len()).map(|other| operands[other].with_supply(supply(other))).collect();
        // Below a stage, what are addresses here are positions.
        self.is_lost |= operands[k].relocate.is_some();
        let mut tables = list(plan.tables.iter().map(|table| Cow::Borrowed(&table[..])))?;
        for nest in &plan.nests {
            if self.is_lost {
                break;
            }
            let cuts = Cuts::where_better(nest, &own, &mut tables)?;
            self.boxes = self.boxes.saturating_add(cuts.as_ref().map_or(0, Cuts::count));
            let Some(cuts) = cuts.filter(|_| self.boxes <= MOST_BOXES) else {
                self.is_lost = true;
                break;
            };
            for number in 0..cuts.count() {
                let Some(area) = Area::new(grid, &cuts.box_at(number), k, &tables) else {
                    self.is_lost = true;
                    break;
                };
                area.for_each_block(grid, &mut |index| {
                    self.visit(index, grid.held.max(1));
                    Ok::<(), crate::Error>(())
                })?;
            }
        }
        Ok(())
    }

    /// A block is used, where so many are held.
    fn visit(&mut self, index: &[usize], most: usize) {
        self.now += 1;
        let last = self.used.insert(index.into(), self.now);
        if !last.is_some_and(|last| self.held.remove(&last)) {
            self.loads += 1;
        }
        self.held.insert(self.now);
        if self.held.len() > most {
            self.held.pop_first();
        }
    }
}
