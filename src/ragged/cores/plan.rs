//! Calls whose cores are rows: which extents each has, and where its cores and results lie.

use super::kinds::Kinds;
use crate::error::{Error, Result};
use crate::gufunc::{CoreRules, Fit, of_cores};
use crate::memory::{list, push, resize, try_with_capacity};
use crate::ops::cores::Arrangement;
use crate::ragged::Stretch;
use crate::ragged::form::{Axis, Form};
use crate::ragged::joint::Joint;
use crate::ragged::offsets::Offsets;
use crate::ragged::places::{Places, places_at};
use crate::ragged::views::numbered;
use crate::shape::Shape;
use smallvec::SmallVec;
use std::collections::HashMap;

/// Extents of rows.
type Key = SmallVec<[usize; 3]>;

/// The extents of rows that were met, and their numbers.
#[derive(Default)]
struct Known {
    all: HashMap<Key, usize>,
    /// Some that were met last, so that few are looked up among all.
    near: Vec<Option<(Key, usize)>>,
}

impl Known {
    /// Their number, which is `next` if they are new.
    fn group(&mut self, key: Key, next: usize) -> Result<usize> {
        const NEAR: usize = 256;
        if self.near.is_empty() {
            resize(&mut self.near, NEAR, None)?;
        }
        let slot = key.iter().fold(0, |sum: usize, &k| sum.wrapping_mul(31).wrapping_add(k)) % NEAR;
        match &self.near[slot] {
            Some((near, group)) if *near == key => return Ok(*group),
            _ => {}
        }
        self.all.try_reserve(1).map_err(|_| Error::OutOfMemory { bytes: size_of_val(&key) })?;
        let group = *self.all.entry(key.clone()).or_insert(next);
        self.near[slot] = Some((key, group));
        Ok(group)
    }
}

/// The cores of an operand, one for each call.
struct Cores {
    /// The row or the item of each call.
    items: Places,
    /// The rows of the first core axis, if it is var.
    rows: Option<Offsets>,
    /// Extents of the core axes that are not.
    fixed: SmallVec<[usize; 4]>,
}

impl Cores {
    /// Of an operand with so many core axes.
    fn new(form: &Form, core: usize, loops: &Form) -> Result<Self> {
        let own = &form.axes[form.rank() - core..];
        let rows = match own.first() {
            Some(Axis::Var(rows)) => Some(rows.clone()),
            _ => None,
        };
        let fixed = own.iter().filter_map(|axis| axis.kind().fixed()).collect();
        let (items, _) = places_at(&front(form, core), loops, loops.rank())?;
        Ok(Self { items, rows, fixed })
    }

    /// Extent of the first core axis, 1 if it is not var.
    fn length(&self, call: usize) -> usize {
        self.rows.as_ref().map_or(1, |rows| rows.length(self.items.at(call)))
    }

    fn shape(&self, call: usize) -> Shape {
        let length = self.rows.as_ref().map(|_| self.length(call));
        length.into_iter().chain(self.fixed.iter().copied()).collect()
    }

    /// The first item.
    fn first(&self, call: usize) -> usize {
        let item = self.items.at(call);
        self.rows.as_ref().map_or(item, |rows| rows.number(item))
    }
}

/// All calls of a loop.
pub(super) struct Plan {
    /// The forms of the operands, axes of the loop first.
    pub(super) operands: Vec<Form>,
    pub(super) loops: Form,
    /// The fits of cores of different extents, and which of them each call has.
    #[allow(clippy::vec_box, reason = "fits are large, and their list grows")]
    pub(super) fits: Vec<Box<Fit>>,
    pub(super) groups: Vec<usize>,
    /// The first element of the core of each call, of each operand.
    pub(super) starts: Vec<Vec<usize>>,
    /// Elements that operands are gathered from, where cores are stretched.
    pub(super) expanded: Vec<Option<Vec<usize>>>,
    /// For each output, where the results of each call begin, and at last where they end: one number more than calls.
    pub(super) result_offsets: Vec<Vec<usize>>,
    pub(super) elements: usize,
    /// Which calls are made, if not all are.
    pub(super) is_called: Option<Vec<bool>>,
}

impl Plan {
    pub(super) fn new(
        rules: CoreRules<'_>,
        operands: &[Joint<'_>],
        Kinds { ranks, given, .. }: &Kinds,
        stretch: Stretch,
    ) -> Result<Self> {
        let ordered = operands.iter().zip(&ranks.orders).map(|(Joint { form, .. }, order)| {
            if order.is_sorted() {
                Ok(form.clone())
            } else {
                numbered(form)?.transposed(order)?.form()
            }
        });
        let forms = ordered.collect::<Result<Vec<_>>>()?;
        let parts = || forms.iter().zip(&ranks.inputs);
        let mut joint = Joint::of(Form::dense(&[]));
        for (k, (form, &core)) in parts().enumerate() {
            joint = joint.join(Joint::of(front(form, core)), k + 1, stretch)?;
        }
        let loops = joint.form;
        let count = loops.count()?;
        let cores = parts().map(|(form, &core)| Cores::new(form, core, &loops));
        let cores = cores.collect::<Result<Vec<_>>>()?;
        let ragged: Vec<&Cores> = cores.iter().filter(|cores| cores.rows.is_some()).collect();
        let (mut fits, mut groups) = (Vec::new(), try_with_capacity(count)?);
        let mut known = Known::default();
        for call in 0..count {
            let next = fits.len();
            let lengths = ragged.iter().map(|cores| cores.length(call)).collect();
            let group = known.group(lengths, next)?;
            if group == next {
                let shapes: Vec<Shape> = cores.iter().map(|cores| cores.shape(call)).collect();
                let fitted = rules.fit_cores(&shapes, given).map_err(|error| {
                    let error = ranks.in_operands(error);
                    let row = || loops.path(loops.rank(), call);
                    if ragged.is_empty() { error } else { of_cores(error, row) }
                })?;
                push(&mut fits, fitted)?;
            }
            groups.push(group);
        }
        let mut plan = Self {
            fits,
            groups,
            starts: Vec::new(),
            expanded: Vec::new(),
            result_offsets: Vec::new(),
            elements: 0,
            is_called: None,
            loops,
            operands: forms,
        };
        for (operand, cores) in cores.iter().enumerate() {
            plan.place(operand, cores)?;
        }
        plan.place_results(ranks.outputs.len())?;
        Ok(plan)
    }

    /// Where the cores of an operand begin; stretched ones are gathered.
    fn place(&mut self, operand: usize, cores: &Cores) -> Result<()> {
        let width = Shape::count_of(&cores.fixed)?;
        let start = |call: usize| cores.first(call) * width;
        let mut sizes = try_with_capacity(self.fits.len())?;
        for fit in &self.fits {
            sizes.push(fit.inputs[operand].elements()?);
        }
        let stretched = |call: usize| cores.length(call) * width != sizes[self.groups[call]];
        let count = self.groups.len();
        let mut elements = 0_usize;
        let mut starts = try_with_capacity(count)?;
        let expanded = if (0..count).any(stretched) {
            let mut all = Vec::new();
            for call in 0..count {
                starts.push(all.len());
                let own = cores.shape(call);
                let full: Shape = self.fits[self.groups[call]].inputs[operand].present().collect();
                for index in full.indexes()? {
                    let mut at = 0;
                    for (&extent, &k) in own.iter().zip(&index) {
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
                elements = elements.saturating_add(sizes[self.groups[call]]);
            }
            None
        };
        self.elements = self.elements.saturating_add(elements);
        self.starts.push(starts);
        self.expanded.push(expanded);
        Ok(())
    }

    /// Where the results of calls go.
    fn place_results(&mut self, outputs: usize) -> Result<()> {
        let sizes = self.fits.iter().map(|fit| fit.outputs.iter().map(Arrangement::elements));
        let sizes: Vec<Vec<usize>> = sizes.map(|sizes| sizes.collect()).collect::<Result<_>>()?;
        for output in 0..outputs {
            let size = |&group: &usize| sizes[group].get(output).copied().unwrap_or(0);
            let lengths = self.groups.iter().map(size);
            let offsets = Offsets::from_lengths(lengths)?;
            self.elements = self.elements.saturating_add(offsets.last());
            self.result_offsets.push(offsets.numbers()?);
        }
        Ok(())
    }

    /// Elements of each output.
    pub(super) fn totals(&self) -> Result<Vec<usize>> {
        list(self.result_offsets.iter().map(|offsets| offsets.last().copied().unwrap_or(0)))
    }

    /// Index of a call in the loop.
    pub(super) fn path(&self, call: usize) -> Vec<usize> {
        self.loops.path(self.loops.rank(), call)
    }

    /// The forms of the results, with the axes of the loop first.
    pub(super) fn forms(&self, kinds: &Kinds) -> Result<Vec<Form>> {
        let mut forms = Vec::new();
        for (output, core) in kinds.outputs.iter().enumerate() {
            let extents: Vec<SmallVec<[usize; 4]>> =
                self.fits.iter().map(|fit| fit.outputs[output].present().collect()).collect();
            let mut axes = self.loops.axes.clone();
            for (axis, extent) in core.iter().enumerate() {
                axes.push(match extent {
                    Some(extent) => Axis::Fixed(*extent),
                    None => {
                        let rows = |group: usize| extents[group][..axis].iter().product::<usize>();
                        let of =
                            |&group: &usize| std::iter::repeat_n(extents[group][axis], rows(group));
                        Axis::Var(Offsets::from_lengths(self.groups.iter().flat_map(of))?)
                    }
                });
            }
            forms.push(Form { axes });
        }
        Ok(forms)
    }

    pub(super) fn explain(&self) -> String {
        let (calls, loops, extents) = (self.groups.len(), &self.loops, self.fits.len());
        format!("loop: {calls} calls over {loops}, cores of {extents} different extents")
    }
}

/// The axes in front of the last ones.
fn front(form: &Form, behind: usize) -> Form {
    Form { axes: form.axes[..form.rank() - behind].into() }
}
