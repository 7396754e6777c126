//! Evaluation to storage: box by box to memory, which a sink then writes.

use super::evaluate::{AHEAD, Local, Source, evaluate_plan};
use super::inner::{self, Output};
use super::plan::{Area, BOX, Blocking, Cuts, Nest, Operand, PerOperand, Plan, Supply, plan};
use super::{PARALLEL, Stop, join};
use std::borrow::Cow;
use std::ops::Range;

/// Storage that results are written to.
pub(crate) trait Sink<T> {
    /// Gives operand 0 of a box a place in memory, with the old elements if `old`.
    fn open(
        &mut self,
        local: &mut Local<'_>,
        old: bool,
        memory: &mut Vec<T>,
    ) -> Result<usize, Stop>;

    /// Tells storage in blocks which boxes with old elements come next.
    fn expect(&mut self, next: &mut dyn Iterator<Item = Local<'_>>);

    /// Writes the elements of the box that was opened last.
    fn close(&mut self, elements: &[T]) -> Result<(), Stop>;
}

/// How results are written: by one thread, or by several at once.
pub(crate) enum Sinks<'s, T> {
    One(&'s mut dyn Sink<T>),
    Many(&'s (dyn Fn() -> Box<dyn Sink<T> + 's> + Sync)),
}

/// Evaluates `source` box by box to storage, which operand 0 is; with `old`, on top of the elements it has.
///
/// # Errors
///
/// What source and storage report; [`Stop::Done`] before anything is written if operand 0 does not follow the axes
/// of its blocks.
#[inline(never)]
pub(crate) fn evaluate_to<T: Copy + Send>(
    source: &dyn Source<T>,
    extents: &[usize],
    operands: &[Operand<'_>],
    old: bool,
    sinks: &mut Sinks<'_, T>,
) -> Result<(), Stop> {
    let mut plan = plan(extents, operands, Blocking::SCRATCH)?;
    let nests = std::mem::take(&mut plan.nests);
    let grid = match operands[0].supply {
        Supply::Blocks(grid) => Some(grid),
        _ => None,
    };
    if let Some(grid) = grid {
        let follows = |nest| {
            operands[0].relocate.is_none() && Area::new(grid, nest, 0, &plan.tables).is_some()
        };
        if !nests.iter().all(follows) {
            return Err(Stop::Done);
        }
    }
    // Elements that are updated are read and written: both while a cache may hold them.
    let most = if old { BOX / 2 } else { BOX };
    for part in nests.into_iter().flat_map(Nest::parts) {
        // A block is written by one thread: no two boxes may share one.
        let apart = grid.filter(|grid| grid.is_coarse()).is_some_and(|grid| {
            Area::new(grid, &part, 0, &plan.tables).is_some_and(|area| area.has_own_axes())
        });
        let cuts = Cuts::new(&part, operands, &mut plan.tables, most)?;
        let storing = Storing { source, operands, tables: &plan.tables, cuts: &cuts, old };
        let all = 0..cuts.count();
        match sinks {
            Sinks::One(sink) => storing.boxes(all, &mut **sink)?,
            Sinks::Many(open) if apart => storing.halves(all, *open)?,
            Sinks::Many(open) => storing.boxes(all, &mut *open())?,
        }
    }
    Ok(())
}

/// An evaluation to storage under way.
struct Storing<'r, 'o, T> {
    source: &'r dyn Source<T>,
    operands: &'r [Operand<'o>],
    tables: &'r [Cow<'o, [usize]>],
    cuts: &'r Cuts,
    old: bool,
}

impl<T: Copy + Send> Storing<'_, '_, T> {
    #[inline(never)]
    fn halves<'s>(
        &self,
        numbers: Range<usize>,
        open: &(dyn Fn() -> Box<dyn Sink<T> + 's> + Sync),
    ) -> Result<(), Stop> {
        if numbers.len() > 1 && numbers.len().saturating_mul(self.cuts.average()) > PARALLEL {
            let middle = numbers.start + numbers.len() / 2;
            let (a, b) = join::join(
                || self.halves(numbers.start..middle, open),
                || self.halves(middle..numbers.end, open),
            );
            return a.and(b);
        }
        self.boxes(numbers, &mut *open())
    }

    #[inline(never)]
    fn boxes(&self, numbers: Range<usize>, sink: &mut (dyn Sink<T> + '_)) -> Result<(), Stop> {
        let (mut memory, mut tiles): (Vec<T>, _) = (Vec::new(), self.source.open());
        for number in numbers.clone() {
            let local = |number| Local::new(self.cuts.box_at(number), self.tables, self.operands);
            if (number - numbers.start).is_multiple_of(AHEAD / 2) {
                let next = number..numbers.end.min(number + AHEAD);
                tiles.expect(&mut next.clone().map(local));
                if self.old {
                    sink.expect(&mut next.map(local));
                }
            }
            let mut local = local(number);
            let held = sink.open(&mut local, self.old, &mut memory)?;
            let mut operands: PerOperand<Operand<'_>> = self.operands.into();
            operands[0] = Operand { relocate: None, supply: Supply::Memory, ..operands[0].clone() };
            let fresh = !self.old && memory.len() < held;
            let injective = match fresh {
                true => local.is_injective(0, held)?,
                false => local.nest.is_nested(0, &local.tables),
            };
            let plan = Plan { nests: vec![local.nest], tables: local.tables };
            let run = |out: Output<'_, T>| {
                evaluate_plan(self.source, &plan, &operands, [injective, false], out)
            };
            if !fresh {
                let (len, all) = (memory.len(), &mut memory[..]);
                let part =
                    all.get_mut(..held).ok_or_else(|| inner::out_of_span(0, held as i128, len))?;
                let out =
                    if self.old { Output::held(part) } else { Output::new(inner::slots(part)) };
                run(out)?;
            } else {
                memory = inner::collect(held, |out| {
                    let len = out.len();
                    let filled = run(Output::new(out))?;
                    filled.ok_or_else(|| Stop::from(inner::out_of_span(0, held as i128, len)))
                })?;
            }
            sink.close(&memory[..held])?;
        }
        Ok(())
    }
}
