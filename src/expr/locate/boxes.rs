//! The first error of an evaluation, box by box: each box is read once more, in the order in which boxes are best
//! visited, unless it lies after an error that is known; one that fails in halves, for faults before that. What lies
//! in memory is one box. What has very many nests is planned part by part, until one has an error.

use super::{Suspect, Wrong};
use crate::error::{Error, Result};
use crate::expr::box_shape;
use crate::expr::node::Tree;
use crate::expr::prepared::Prepared;
use crate::kernel::plan::{MANY_NESTS, Plan, plan, plan_at_most};
use crate::kernel::{
    self, Cuts, Fault, Local, Nest, Operand, PerOperand, Place, Steps, Stop, Tile,
};
use crate::map::AddressMap;
use crate::shape::Shape;

/// The first error in row-major order, if there is one.
pub(super) fn first(
    e: &dyn Tree,
    suspect: &mut dyn Suspect,
    shape: &Shape,
) -> Result<Option<Error>> {
    let rows = AddressMap::row_major(shape)?;
    let prepared = Prepared::new(e, shape, &rows);
    let stages = prepared.stages();
    let operands = prepared.operands(&stages);
    let mut best: Best = None;
    let block = kernel::Blocking::SCRATCH;
    match plan_at_most(MANY_NESTS, &prepared.shape, &operands, block) {
        Ok(plan) => first_of_plan(e, suspect, plan, &operands, &mut best)?,
        Err(_) => {
            for ranges in prepared.boxes() {
                let extents = box_shape(&prepared.shape, &ranges);
                let operands: PerOperand<_> =
                    operands.iter().map(|operand| operand.within(&ranges)).collect();
                let plan = plan(&extents, &operands, block)?;
                first_of_plan(e, suspect, plan, &operands, &mut best)?;
                if best.is_some() {
                    break;
                }
            }
        }
    }
    Ok(best.map(|(position, wrong)| wrong.at(shape.unravel(position).to_vec())))
}

/// Position and reason of the first error that is known.
type Best = Option<(usize, Wrong)>;

/// Finds the first error of a plan, if it comes before the best so far.
fn first_of_plan<'p>(
    e: &dyn Tree,
    suspect: &mut dyn Suspect,
    mut plan: Plan<'p>,
    operands: &[Operand<'p>],
    best: &mut Best,
) -> Result<()> {
    for nest in std::mem::take(&mut plan.nests) {
        let mut parts = nest.parts().growing();
        while let Some(part) = parts.next_where(|part| {
            let lowest = || Local::new(part.clone(), &plan.tables, operands).lowest(0);
            best.as_ref().is_none_or(|(known, _)| lowest() < *known)
        }) {
            let cuts = Cuts::new(&part, operands, &mut plan.tables, kernel::plan::BOX)?;
            for number in 0..cuts.count() {
                let local = |nest| Local::new(nest, &plan.tables, operands);
                first_of_box(e, suspect, &local, cuts.box_at(number), best)?;
            }
        }
    }
    Ok(())
}

/// Finds the first error of a box, if it comes before the best so far. Where storage fails there may be faults before that:
/// in the halves that can be read.
fn first_of_box<'p>(
    e: &dyn Tree,
    suspect: &mut dyn Suspect,
    local: &dyn Fn(Nest) -> Local<'p>,
    nest: Nest,
    best: &mut Best,
) -> Result<()> {
    let mut loaded = local(nest.clone());
    let lowest = loaded.lowest(0);
    if best.as_ref().is_some_and(|(known, _)| *known <= lowest) {
        return Ok(());
    }
    let (found, failed) = match suspect.load(&mut loaded) {
        Ok(()) => {
            let fault = first_fault(suspect, &loaded)?;
            (fault.map(|(position, fault)| (position, Wrong::Fault(fault))), false)
        }
        Err(Stop::Error(error)) => return Err(*error),
        Err(_) => {
            let failure = suspect.first_failure(&local(nest.clone()))?;
            let fails = failure.is_some();
            (failure.map(|(position, error)| (position, Wrong::Storage(error))), fails)
        }
    };
    if let Some((position, wrong)) = found
        && best.as_ref().is_none_or(|(known, _)| position < *known)
    {
        *best = Some((position, wrong));
    }
    if failed
        && !e.is_leaf()
        && let Some((low, high)) = nest.halves()
    {
        first_of_box(e, suspect, local, low, best)?;
        first_of_box(e, suspect, local, high, best)?;
    }
    Ok(())
}

/// Position and reason of the first fault in a box that is loaded.
fn first_fault(suspect: &mut dyn Suspect, local: &Local<'_>) -> Result<Option<(usize, Fault)>> {
    let mut first: Option<(usize, Fault)> = None;
    let done = kernel::walk(&local.nest, &local.tables, &local.relocates, 0, &mut |tile| {
        let known = first.as_ref().map(|(known, _)| *known);
        if known.is_some_and(|known| known <= lowest(tile)) || !suspect.is_faulty(tile)? {
            return Ok(());
        }
        for element in 0..tile.rows * tile.columns {
            let (row, column) = (element / tile.columns, element % tile.columns);
            let position = tile.places[0].at(row, column) as usize;
            if first.as_ref().is_some_and(|(known, _)| *known <= position) {
                continue;
            }
            let still = Steps { stride: 0, table: None };
            let only = |place: &Place<'_>| place.at(row, column);
            let places: kernel::PerOperand<Place<'_>> = tile
                .places
                .iter()
                .map(|place| Place { base: only(place), rows: still, columns: still, ..*place })
                .collect();
            let tile = Tile { rows: 1, columns: 1, dense: false, places: &places };
            first = suspect.fault(&tile)?.map(|fault| (position, fault)).or(first.take());
        }
        Ok(())
    });
    match done {
        Err(Stop::Error(error)) => Err(*error),
        _ => Ok(first),
    }
}

/// The lowest position in a tile, whose rows and columns may follow tables.
fn lowest(tile: &Tile<'_>) -> usize {
    let place = &tile.places[0];
    let row = (0..tile.rows).map(|row| place.at(row, 0)).min().unwrap_or(0);
    let column = (0..tile.columns).map(|column| place.at(0, column)).min().unwrap_or(0);
    (row + column - place.at(0, 0)) as usize
}
