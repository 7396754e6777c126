//! What the axes of a call are, as those of its operands tell.

use crate::error::{Error, Result};
use crate::gufunc::{CoreExtents, CoreRanks, CoreRules, Given};
use crate::ragged::expr::RaggedRows;
use crate::ragged::form::{Extent, Extents, join_kinds, shape_of};
use crate::ragged::views::nothing_crosses;
use crate::shape::Shape;
use crate::tensor::inverse;

/// What the axes of a call are.
pub(super) struct Kinds {
    pub(super) ranks: CoreRanks,
    pub(super) loops: Extents,
    /// Extents by name that destinations give.
    pub(super) given: Given,
    /// Core extents of the results, none where they are var.
    pub(super) outputs: Vec<CoreExtents>,
    pub(super) results: Vec<Vec<Extent>>,
}

impl Kinds {
    /// What the axes of operands and results are, for destinations of these axes.
    pub(super) fn new(
        rules: CoreRules<'_>,
        operands: &[&dyn RaggedRows],
        outs: &[Vec<Extent>],
    ) -> Result<Self> {
        let operands: Vec<_> = operands.iter().map(|e| e.extents()).collect::<Result<_>>()?;
        let shapes: Vec<Shape> = operands.iter().map(|kinds| shape_of(kinds).into()).collect();
        let ranks = rules.core_ranks(&shapes)?;
        let (mut fronts, mut cores) = (Vec::new(), Vec::new());
        for (kinds, (order, &core)) in operands.iter().zip(ranks.orders.iter().zip(&ranks.inputs)) {
            let (front, own) = order.split_at(order.len() - core);
            let inner = |axis: &&usize| kinds[**axis] == Extent::Var;
            if let Some(&crossed) = own.iter().skip(1).find(inner) {
                return Err(Error::RaggedAxes { axis: own[0], crossed });
            }
            nothing_crosses(kinds, order)?;
            fronts.push(front.iter().map(|&axis| kinds[axis]).collect::<Extents>());
            cores.push(own.iter().map(|&axis| kinds[axis].fixed()).collect::<CoreExtents>());
        }
        let refused = |error| ranks.in_operands(error);
        rules.check_cores(&cores).map_err(refused)?;
        let mut loops = Extents::new();
        for (k, front) in fronts.iter().enumerate() {
            loops = if k == 0 { front.clone() } else { join_kinds(&loops, front, k + 1)? };
        }
        let outs = outs.iter().zip(&ranks.outputs);
        let outs = outs.map(|(out, order)| core_of(out, order, &loops));
        let given = rules.given(&cores, outs)?;
        let outputs = rules.core_results(&cores, &given).map_err(refused)?;
        let mut results = Vec::new();
        for (core, order) in outputs.iter().zip(&ranks.outputs) {
            let core = core.iter().map(|extent| extent.map_or(Extent::Var, Extent::Fixed));
            let mut kinds: Extents = loops.iter().copied().chain(core).collect();
            kinds.resize(order.len(), Extent::Fixed(1));
            Shape::check_rank(kinds.len())?;
            let order = inverse(order);
            nothing_crosses(&kinds, &order)?;
            results.push(order.iter().map(|&axis| kinds[axis]).collect());
        }
        Ok(Self { ranks, loops, given, outputs, results })
    }
}

/// Extents of the core axes of a destination whose axes go in an order after those of the loop; none if it has others.
fn core_of(out: &[Extent], order: &[usize], loops: &[Extent]) -> CoreExtents {
    let core = order.get(loops.len()..).filter(|_| order.len() == out.len());
    core.unwrap_or_default().iter().map(|&axis| out[axis].fixed()).collect()
}
