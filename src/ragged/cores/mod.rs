//! Gufuncs of ragged operands: loops over rows, and cores that are rows.

mod arguments;

pub use arguments::{
    HeldExprs, HeldOperand, HeldRows, IntoRaggedArguments, RaggedArguments, RaggedResults,
};

use super::Stretch;
use super::form::{Axis, Extent, Form, Joined, shape_of};
use super::joint::Joint;
use super::offsets::Offsets;
use super::places::{Places, places_at};

use crate::error::{Error, Result};
use crate::gufunc::{CoreFit, CoreRanks, Elementary, Gufunc, Inputs, Outputs, RowCalls, of_cores};
use crate::kernel::{self, GRAIN, PARALLEL};
use crate::memory::{list, push, try_with_capacity};
use crate::ops::cores;
use crate::shape::Shape;
use smallvec::SmallVec;
use std::collections::HashMap;
use std::ops::Range;

impl<I: Inputs, O: Outputs, F: Elementary<I, O>> Gufunc<I, O, F>
where
    O::Tensors: RaggedResults,
{
    /// Calls it with ragged operands, and computes all results.
    ///
    /// Axes in front of the core axes are those of a loop, which join as those of any ragged operands. The first core axis
    /// of an operand may be its last var axis: each call then has the extents of its row, and results whose core
    /// dimensions follow from it are var.
    ///
    /// # Errors
    ///
    /// [`Error::CoreRank`], [`Error::RaggedAxes`] for a var axis among the others, [`Error::CoreExtent`] with the first row
    /// where extents differ, [`Error::Operands`] and [`Error::RaggedOperands`] for loops that do not join,
    /// [`Error::CoreUnknown`], [`Error::CoreComputed`]; what computing the operands reports; [`Error::Elementary`] with
    /// the first index of the loop at which the function failed; [`Error::OutOfMemory`].
    ///
    /// ```
    /// use lensor::prelude::*;
    /// use lensor::gufunc::{convolve_full, minmax};
    /// use lensor::ragged::Ragged;
    /// let r = Ragged::from_nested(vec![vec![1.0, 2.0], vec![3.0]])?;
    /// let [smoothed] = convolve_full().call_ragged((&r, Tensor::from(vec![1.0, 1.0])))?;
    /// assert_eq!(smoothed.to_string(), "[[1, 3, 2], [3, 3]]");
    /// let [least, most] = minmax().call_ragged([&r])?;
    /// assert_eq!((least.to_string(), most.to_string()), ("[1, 3]".into(), "[2, 3]".into()));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn call_ragged<X: IntoRaggedArguments<I>>(
        &self,
        operands: X,
    ) -> Result<<O::Tensors as RaggedResults>::Ragged> {
        let operands = operands.into_arguments();
        let kinds = operands.extents()?;
        let shapes: Vec<Shape> = kinds.iter().map(|kinds| Shape::from(shape_of(kinds))).collect();
        let ranks = self.core_ranks(&shapes)?;
        for (kinds, &core) in kinds.iter().zip(&ranks.inputs) {
            let loops = kinds.len() - core;
            let inner = kinds.iter().skip(loops + 1).position(|&kind| kind == Extent::Var);
            if let Some(k) = inner {
                return Err(Error::RaggedAxes { axis: loops, crossed: loops + 1 + k });
            }
        }
        let mut held = operands.held()?;
        let calls = Plan::new(self, &held.forms()?, &ranks)?;
        for (operand, expanded) in calls.expanded.iter().enumerate() {
            if let Some(elements) = expanded {
                held.gather(operand, elements)?;
            }
        }
        let mut vectors = O::vectors(&calls.totals()?)?;
        let each = kernel::task_size(calls.elements, PARALLEL, GRAIN);
        let work = Work { gufunc: self, calls: &calls, operands: &held, each };
        let all = 0..calls.groups.len();
        work.run(all, O::slices(&mut vectors)).map_err(|error| match error {
            Error::Elementary { index, source } => {
                let number = index.first().copied().unwrap_or(0);
                Error::Elementary { index: calls.path(number), source }
            }
            error => error,
        })?;
        let forms = calls.forms()?;
        let flat = |k: usize| crate::map::AddressMap::row_major(&Shape::from([forms[k].count()?]));
        O::tensors(vectors, &mut |k| flat(k))?.with_forms(&forms)
    }
}

/// All calls of a loop.
struct Plan {
    loops: Form,
    /// The fits of cores of different extents, and which of them each call has.
    fits: Vec<CoreFit>,
    groups: Vec<usize>,
    /// The first element of the core of each call, of each operand.
    starts: Vec<Vec<usize>>,
    /// Elements that operands are gathered from, where cores are stretched.
    expanded: Vec<Option<Vec<usize>>>,
    /// Whether each core axis of each output is var.
    vars: Vec<Vec<bool>>,
    /// Elements in front of the results of each call, of each output.
    ends: Vec<Vec<usize>>,
    elements: usize,
}

impl Plan {
    fn new<I: Inputs, O: Outputs, F: Elementary<I, O>>(
        gufunc: &Gufunc<I, O, F>,
        forms: &[Form],
        ranks: &CoreRanks,
    ) -> Result<Self> {
        let parts = || forms.iter().zip(&ranks.inputs);
        let mut joint = Joint::of(Form::dense(&[]));
        for (k, (form, &core)) in parts().enumerate() {
            joint = joint.join(Joint::of(front(form, core)), k + 1, Stretch::Rows)?;
        }
        let loops = joint.form;
        let count = loops.count()?;
        // The row or the item of each operand for each call, and its core extents.
        let mut items: Vec<Places> = Vec::new();
        let mut cores: Vec<(Option<Offsets>, SmallVec<[usize; 4]>)> = Vec::new();
        for (form, &core) in parts() {
            items.push(places_at(&front(form, core), &loops, loops.rank())?.0);
            let axes = form.axes();
            let own = &axes[axes.len() - core..];
            let rows = match own.first() {
                Some(Axis::Var(rows)) => Some((*rows).clone()),
                _ => None,
            };
            let fixed = own.iter().filter_map(|axis| match axis {
                Axis::Fixed(extent) => Some(*extent),
                Axis::Var(_) => None,
            });
            cores.push((rows, fixed.collect()));
        }
        let shape = |operand: usize, call: usize| -> Shape {
            let (rows, fixed) = &cores[operand];
            let row = rows.as_ref().map(|rows| rows.length(items[operand].at(call)));
            row.into_iter().chain(fixed.iter().copied()).collect()
        };
        let ragged: Vec<usize> = (0..forms.len()).filter(|&k| cores[k].0.is_some()).collect();
        let (mut fits, mut groups) = (Vec::new(), try_with_capacity(count)?);
        let mut known: HashMap<SmallVec<[usize; 3]>, usize> = HashMap::new();
        let fit = |shape: &dyn Fn(usize) -> Shape| {
            let shapes: Vec<Shape> = (0..forms.len()).map(shape).collect();
            gufunc.fit_cores(&shapes)
        };
        for call in 0..count {
            let key: SmallVec<[usize; 3]> = ragged.iter().map(|&k| shape(k, call)[0]).collect();
            let next = fits.len();
            known.try_reserve(1).map_err(|_| Error::OutOfMemory { bytes: size_of_val(&key) })?;
            let group = *known.entry(key).or_insert(next);
            if group == next {
                let row = || loops.path(loops.rank(), call);
                let fitted = fit(&|k| shape(k, call)).map_err(|error| {
                    let error = with_axes(error, forms, ranks);
                    if ragged.is_empty() { error } else { of_cores(error, row) }
                })?;
                push(&mut fits, fitted)?;
            }
            groups.push(group);
        }
        if count == 0 {
            // For the fixed extents of results, as if rows had no items.
            let empty = |k: usize| -> Shape {
                let (rows, fixed) = &cores[k];
                rows.as_ref().map(|_| 0).into_iter().chain(fixed.iter().copied()).collect()
            };
            match fit(&empty) {
                Ok(fitted) => fits.push(fitted),
                Err(error) if ragged.is_empty() => return Err(with_axes(error, forms, ranks)),
                Err(_) => {}
            }
        }
        let mut plan = Self {
            fits,
            groups,
            starts: Vec::new(),
            expanded: Vec::new(),
            vars: vars(ranks, &ragged),
            ends: Vec::new(),
            elements: 0,
            loops,
        };
        for operand in 0..forms.len() {
            let (rows, fixed) = &cores[operand];
            let width: usize = fixed.iter().product();
            let start = |call: usize| {
                let item = items[operand].at(call);
                rows.as_ref().map_or(item, |rows| rows.number(item)) * width
            };
            plan.place(operand, &start, &|call| shape(operand, call))?;
        }
        plan.place_results(ranks.outputs.len())?;
        Ok(plan)
    }

    /// Where the cores of an operand begin; stretched ones are gathered.
    fn place(
        &mut self,
        operand: usize,
        start: &dyn Fn(usize) -> usize,
        shape: &dyn Fn(usize) -> Shape,
    ) -> Result<()> {
        let core = |group: usize| self.fits[group].inputs().nth(operand).unwrap_or(&[]);
        let stretched = |call: usize| {
            let (own, core) = (shape(call), core(self.groups[call]));
            own.iter().product::<usize>() != core.iter().product::<usize>()
        };
        let count = self.groups.len();
        let mut elements = 0_usize;
        let mut starts = try_with_capacity(count)?;
        let expanded = if (0..count).any(stretched) {
            let mut all = Vec::new();
            for call in 0..count {
                starts.push(all.len());
                let own = shape(call);
                let full = Shape::from(core(self.groups[call]));
                let missing = full.rank() - own.rank();
                for index in full.indexes()? {
                    let mut at = 0;
                    for (&extent, &k) in own.iter().zip(&index[missing..]) {
                        at = at * extent + if extent == 1 { 0 } else { k };
                    }
                    push(&mut all, start(call) + at)?;
                }
            }
            elements = all.len();
            Some(all)
        } else {
            for call in 0..count {
                starts.push(start(call));
                elements += core(self.groups[call]).iter().product::<usize>();
            }
            None
        };
        self.elements = self.elements.saturating_add(elements);
        self.starts.push(starts);
        self.expanded.push(expanded);
        Ok(())
    }

    fn place_results(&mut self, outputs: usize) -> Result<()> {
        let sizes: Vec<Vec<usize>> = self
            .fits
            .iter()
            .map(|fit| fit.outputs().map(|extents| extents.iter().product()).collect())
            .collect();
        for output in 0..outputs {
            let size = |&group: &usize| sizes[group].get(output).copied().unwrap_or(0);
            let lengths = self.groups.iter().map(size);
            let offsets = Offsets::from_lengths(lengths)?;
            self.elements = self.elements.saturating_add(offsets.last());
            self.ends.push(offsets.numbers()?);
        }
        Ok(())
    }

    fn totals(&self) -> Result<Vec<usize>> {
        list(self.ends.iter().map(|ends| ends.last().copied().unwrap_or(0)))
    }

    fn path(&self, call: usize) -> Vec<usize> {
        self.loops.path(self.loops.rank(), call)
    }

    /// The forms of the results.
    fn forms(&self) -> Result<Vec<Form>> {
        let mut forms = Vec::new();
        for (output, vars) in self.vars.iter().enumerate() {
            let extents: Vec<SmallVec<[usize; 4]>> =
                self.fits.iter().map(|fit| fit.outputs().nth(output).unwrap_or_default()).collect();
            let mut axes: SmallVec<[Joined; 4]> =
                self.loops.axes().into_iter().map(Joined::from).collect();
            for (axis, &var) in vars.iter().enumerate() {
                let extent = |group: usize| extents[group].get(axis).copied().unwrap_or(0);
                if !var {
                    axes.push(Joined::Fixed(if extents.is_empty() { 0 } else { extent(0) }));
                    continue;
                }
                let rows = |group: usize| extents[group][..axis].iter().product::<usize>();
                let lengths = self
                    .groups
                    .iter()
                    .flat_map(|&group| std::iter::repeat_n(extent(group), rows(group)));
                axes.push(Joined::Var(Offsets::from_lengths(lengths)?));
            }
            forms.push(Form::of(axes));
        }
        Ok(forms)
    }
}

/// Whether the extents of the core axes of outputs follow from rows.
fn vars(ranks: &CoreRanks, ragged: &[usize]) -> Vec<Vec<bool>> {
    let names: Vec<usize> =
        ragged.iter().filter_map(|&k| ranks.names[k].first().copied()).collect();
    let is_var = |axis: &Vec<usize>| axis.iter().any(|name| names.contains(name));
    ranks.outputs.iter().map(|axes| axes.iter().map(is_var).collect()).collect()
}

/// An error of cores alone as one of whole operands.
fn with_axes(mut error: Error, forms: &[Form], ranks: &CoreRanks) -> Error {
    if let Error::CoreExtent { argument, axis, .. } = &mut error
        && let Some(k) = argument.checked_sub(1)
    {
        *axis += forms[k].rank() - ranks.inputs[k];
    }
    error
}

/// The axes in front of the last ones.
fn front(form: &Form, behind: usize) -> Form {
    let axes = form.axes();
    Form::of(axes[..axes.len() - behind].iter().map(|&axis| Joined::from(axis)).collect())
}

/// Calls at work.
struct Work<'w, I, O, F, H> {
    gufunc: &'w Gufunc<I, O, F>,
    calls: &'w Plan,
    operands: &'w H,
    /// Elements of a task.
    each: usize,
}

impl<I: Inputs, O: Outputs, F: Elementary<I, O>, H: HeldRows<I>> Work<'_, I, O, F, H> {
    /// Makes some calls. The error is that of the first that fails, however they are shared among threads.
    fn run(&self, calls: Range<usize>, outputs: <O as cores::Outputs>::Slices<'_>) -> Result<()> {
        let plan = self.calls;
        let results =
            |from: usize, to: usize| move |k: usize| plan.ends[k][to] - plan.ends[k][from];
        let share = plan.elements / plan.groups.len().max(1) * calls.len();
        if share > self.each && calls.len() > 1 {
            let middle = calls.start + calls.len() / 2;
            let (low, high) = <O as cores::Outputs>::split(outputs, results(calls.start, middle));
            let (low, high) = kernel::join(
                || self.run(calls.start..middle, low),
                || self.run(middle..calls.end, high),
            );
            return low.and(high);
        }
        let (mut start, mut outputs, inputs) = (calls.start, outputs, self.operands.slices());
        let step =
            |starts: &Vec<usize>, call: usize| starts[call + 1] as isize - starts[call] as isize;
        while start < calls.end {
            let follows = |&next: &usize| {
                let same = |starts: &Vec<usize>| step(starts, next - 1) == step(starts, start);
                plan.groups[next] == plan.groups[start] && plan.starts.iter().all(same)
            };
            let count = 1 + (start + 1..calls.end).take_while(follows).count();
            let offsets = plan.starts.iter().map(|starts| starts[start] as isize);
            let steps =
                plan.starts.iter().map(|starts| if count > 1 { step(starts, start) } else { 0 });
            let [offsets, steps]: [SmallVec<[isize; 6]>; 2] = [offsets.collect(), steps.collect()];
            let (now, later) = <O as cores::Outputs>::split(outputs, results(start, start + count));
            outputs = later;
            let rows = RowCalls { count, first: start, offsets: &offsets, steps: &steps };
            self.gufunc.call_rows(&plan.fits[plan.groups[start]], &rows, inputs, now)?;
            start += count;
        }
        Ok(())
    }
}
