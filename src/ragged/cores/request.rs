//! A call as it is computed, whatever the types of its function, operands and mask.

use super::arguments::{CallMask, Held, RaggedArguments};
use super::destinations::Made;
use super::kinds::Kinds;
use super::places::{Places, RaggedResults};
use super::plan::Plan;
use super::work::Work;
use crate::error::{Error, Result};
use crate::expr::Explanation;
use crate::gufunc::{CoreRules, Function, Inputs, Outputs, core_calls};
use crate::kernel::{self, GRAIN, PARALLEL};
use crate::map::AddressMap;
use crate::memory::{list, try_with_capacity};
use crate::ops::cores;
use crate::ragged::Stretch;
use crate::ragged::eval::joined;
use crate::ragged::explain::LATER;
use crate::ragged::expr::{Ahead, RaggedRows};
use crate::ragged::form::{Extent, Form, check_mask};
use std::iter::repeat_n;

/// What was asked for by a call.
pub(super) struct Request<'c, I: Inputs, O: Outputs> {
    pub(super) rules: CoreRules<'c>,
    pub(super) function: &'c dyn Function<I, O>,
    pub(super) operands: &'c dyn RaggedArguments<I>,
    pub(super) mask: Option<&'c dyn CallMask>,
    pub(super) or: Option<O::Elems>,
}

/// The results of a call.
type Results<O> = <<O as Outputs>::Tensors as RaggedResults>::Ragged;

impl<'c, I: Inputs, O: Outputs> Request<'c, I, O> {
    /// What the axes of operands and results are, for destinations of these axes.
    pub(super) fn kinds(&self, outs: &[Vec<Extent>]) -> Result<Kinds> {
        Kinds::new(self.rules, &self.operands.operands(), outs)
    }

    /// The same for results of its own.
    pub(super) fn own_kinds(&self) -> Result<Kinds> {
        let kinds = self.kinds(&[])?;
        self.check_mask(&kinds)?;
        Ok(kinds)
    }

    /// The same for all results.
    fn all_kinds(&self) -> Result<Kinds> {
        let kinds = self.own_kinds()?;
        match self.or.is_none() && self.mask.is_some() {
            true => Err(Error::MaskedOutput),
            false => Ok(kinds),
        }
    }

    /// Refuses a mask whose axes do not stretch to those of the loop.
    fn check_mask(&self, kinds: &Kinds) -> Result<()> {
        let Some(mask) = self.mask else { return Ok(()) };
        let argument = <I as cores::Inputs>::COUNT + 1;
        check_mask(&kinds.loops, &mask.extents()?, argument, false)
    }

    pub(super) fn eval(&self, stretch: Stretch) -> Result<Results<O>>
    where
        O: Outputs<Tensors: RaggedResults>,
    {
        let (vectors, places) = self.results(stretch)?;
        Self::placed(vectors, &places)
    }

    /// The elements of all results, and where they go.
    pub(super) fn results(
        &self,
        stretch: Stretch,
    ) -> Result<(<O as cores::Outputs>::Vectors, Places)> {
        let (vectors, _, places) = self.computed(&self.all_kinds()?, stretch, &mut |_| Ok(()))?;
        Ok((vectors, places))
    }

    /// The results for destinations, and which of their elements are those of calls that were made, if others keep what
    /// they have.
    pub(super) fn assigned(
        &self,
        kinds: &Kinds,
        accept: &mut dyn FnMut(&Places) -> Result<()>,
    ) -> Result<(Results<O>, Vec<Option<Made>>)>
    where
        O: Outputs<Tensors: RaggedResults>,
    {
        let (vectors, plan, places) = self.computed(kinds, Stretch::Rows, &mut |places| {
            accept(places)?;
            self.check_mask(kinds)
        })?;
        let results = Self::placed(vectors, &places)?;
        let called = plan.is_called.as_ref().filter(|_| self.or.is_none());
        let made = plan.result_offsets.iter().enumerate().map(|(output, offsets)| {
            let Some(called) = called else { return Ok(None) };
            let lengths = offsets.windows(2).map(|ends| ends[1] - ends[0]);
            let all = called.iter().zip(lengths).flat_map(|(&made, len)| repeat_n(made, len));
            let mut elements = try_with_capacity(places.count(output)?)?;
            elements.extend(all);
            places.place(output, elements).map(Some)
        });
        Ok((results, made.collect::<Result<_>>()?))
    }

    fn placed(vectors: <O as cores::Outputs>::Vectors, places: &Places) -> Result<Results<O>>
    where
        O: Outputs<Tensors: RaggedResults>,
    {
        let flat = |k: usize| AddressMap::row_major([places.count(k)?]);
        O::tensors(vectors, &mut |k| flat(k))?.placed(places)
    }

    pub(super) fn explain(&self) -> Result<Explanation> {
        let (kinds, title) = (self.own_kinds()?, format!("gufunc {}", self.rules.signature()?));
        let operands = self.operands.operands();
        if operands.iter().any(|operand| operand.ahead() == Ahead::Lengths) {
            return Ok(Explanation::new(vec![title, LATER.into()], kernel::threads()));
        }
        let plan = self.outlined(&kinds, Stretch::Rows)?;
        let (mut lines, mut read) = (vec![plan.explain()], 0_usize);
        let sizes = self.operands.sizes();
        for (k, form) in plan.operands.iter().enumerate() {
            let (how, count) = match &plan.expanded[k] {
                Some(all) => ("evaluated first, and stretched to the cores of others", all.len()),
                None => ("evaluated first, and read where its rows lie", form.count()?),
            };
            read = read.saturating_add(count.saturating_mul(sizes[k]));
            lines.push(format!(
                "operand {}: {form}, {} core axes, {how}",
                k + 1,
                kinds.ranks.inputs[k]
            ));
        }
        for (k, form) in plan.forms(&kinds)?.iter().enumerate() {
            lines.push(format!("output {}: {form}", k + 1));
        }
        let threads = if plan.elements < PARALLEL { 1 } else { kernel::threads() };
        Ok(Explanation::report(title, lines, threads, [read, O::bytes(&plan.totals()?)]))
    }

    /// All calls, before anything is computed.
    fn outlined(&self, kinds: &Kinds, stretch: Stretch) -> Result<Plan> {
        let operands = self.operands.operands();
        let joints = operands.iter().map(|e| e.outline(stretch)).collect::<Result<Vec<_>>>()?;
        let plan = Plan::new(self.rules, &joints, kinds, stretch)?;
        if let Some(mask) = self.mask {
            mask.check_rows(&plan.loops)?;
        }
        Ok(plan)
    }

    /// The form of a result, which calls nothing.
    pub(super) fn form_of(&self, output: usize, stretch: Stretch) -> Result<Form> {
        let kinds = self.all_kinds()?;
        Places::new(&kinds, &self.outlined(&kinds, stretch)?)?.blank(output)?.form()
    }

    /// The elements of all results, all calls, and where results go. These places `accept` holds against destinations,
    /// before the rows of the mask are looked at, and both come before operands are computed if no length of a row
    /// depends on one.
    fn computed(
        &self,
        kinds: &Kinds,
        stretch: Stretch,
        accept: &mut dyn FnMut(&Places) -> Result<()>,
    ) -> Result<(<O as cores::Outputs>::Vectors, Plan, Places)> {
        let operands = self.operands.operands();
        let most = operands.iter().map(|e| e.ahead()).max();
        let joint = |e: &&'c dyn RaggedRows| match most {
            Some(Ahead::Items) => e.outline(stretch),
            _ => joined(*e, stretch),
        };
        let mut joints = operands.iter().map(joint).collect::<Result<Vec<_>>>()?;
        let mut plan = Plan::new(self.rules, &joints, kinds, stretch)?;
        let places = Places::new(kinds, &plan)?;
        accept(&places)?;
        if let Some(mask) = self.mask
            && mask.ahead() < Ahead::Lengths
        {
            mask.check_rows(&plan.loops)?;
        }
        // What is deferred is computed before elements.
        if most == Some(Ahead::Items) {
            let deferred = joints.iter_mut().zip(&operands);
            for (joint, e) in deferred.filter(|(_, e)| e.ahead() == Ahead::Items) {
                *joint = joined(*e, stretch)?;
            }
        }
        let (orders, expanded) = (&kinds.ranks.orders[..], &plan.expanded[..]);
        let held = self.operands.held(Held { joints: &joints, orders, expanded })?;
        plan.is_called = self.mask.map(|mask| mask.called(&plan.loops)).transpose()?;
        drop(joints);
        Ok((self.run(&held, &plan)?, plan, places))
    }

    /// The elements of all results; those of calls that are not made are defaults without other values.
    fn run(&self, held: &I::Buffers, plan: &Plan) -> Result<<O as cores::Outputs>::Vectors> {
        let mut vectors = O::vectors(&plan.totals()?)?;
        let each = kernel::task_size(plan.elements, PARALLEL, GRAIN);
        let calls = list(plan.fits.iter().map(|fit| core_calls(self.function, fit)))?;
        let work = Work::<I, O> { plan, calls: &calls, or: self.or.as_ref(), operands: held, each };
        work.run(0..plan.groups.len(), O::slices(&mut vectors)).map_err(|error| match error {
            Error::Elementary { index, source } => {
                let number = index.first().copied().unwrap_or(0);
                Error::Elementary { index: plan.path(number), source }
            }
            error => error,
        })?;
        Ok(vectors)
    }
}
