//! From subscripts and shapes to products of pairs.

use super::subscripts::{Named, Subscripts};
use crate::error::{Error, Result, SubscriptsFlaw};
use crate::memory::list;
use crate::ops::contraction::check;
use crate::shape::{Align, Shape};

/// Names of axes: letters, and below them the axes of ellipses, from the first.
pub(super) type Labels = Vec<u8>;

/// How an operand is viewed, so that each of its axes has a name of its own.
#[derive(Debug, Clone, Copy)]
pub(super) enum View {
    Diagonal(usize, usize),
    /// An axis of extent 1 that others stretch.
    Remove(usize),
}

/// What is done next. Terms are operands, and results after them.
#[derive(Debug, Clone)]
pub(super) enum Step {
    /// Axes of one term are summed over.
    Sum { term: usize, kept: Labels, summed: Labels },
    /// Two terms, the lower first, become one.
    Pair { terms: [usize; 2], parts: Parts },
}

/// The axes of two terms.
#[derive(Debug, Clone)]
pub(super) struct Parts {
    /// Of both, kept.
    pub(super) batch: Labels,
    /// Of both, summed over.
    pub(super) summed: Labels,
    pub(super) left: Labels,
    pub(super) right: Labels,
}

impl Step {
    /// Axes of its result.
    pub(super) fn result(&self) -> Labels {
        match self {
            Self::Sum { kept, .. } => kept.clone(),
            Self::Pair { parts: Parts { batch, left, right, .. }, .. } => {
                batch.iter().chain(left).chain(right).copied().collect::<Labels>()
            }
        }
    }

    /// Whether it sums, so that it is a product of matrices; otherwise it is elementwise.
    pub(super) fn is_product(&self) -> bool {
        match self {
            Self::Sum { .. } => true,
            Self::Pair { parts, .. } => !parts.summed.is_empty(),
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Plan {
    /// How each operand is viewed.
    pub(super) views: Vec<Vec<View>>,
    /// The axes of each operand as it is viewed.
    pub(super) labels: Vec<Labels>,
    pub(super) steps: Vec<Step>,
    /// Axes of the result.
    pub(super) result: Labels,
    /// Extents by label.
    extents: Vec<usize>,
}

impl Plan {
    pub(super) fn new(text: &str, shapes: &[Shape]) -> Result<Self> {
        let flawed = |flaw| Error::Subscripts { subscripts: text.into(), flaw };
        let Subscripts { operands, result } = Subscripts::parse(text)?;
        if operands.len() != shapes.len() {
            let (terms, operands) = (operands.len(), shapes.len());
            return Err(flawed(SubscriptsFlaw::Operands { terms, operands }));
        }
        let mut ellipsis = Shape::default();
        for (k, (named, shape)) in operands.iter().zip(shapes).enumerate() {
            let axes = ellipsis_of(named, shape).ok_or_else(|| {
                let (operand, letters) = (k + 1, named.letters().count());
                let (ellipsis, shape) = (named.ellipsis, shape.to_vec());
                flawed(SubscriptsFlaw::Rank { operand, letters, ellipsis, shape })
            })?;
            ellipsis = ellipsis.join(&axes, Align::Right, k + 1)?;
        }
        let mut labels = list(operands.iter().zip(shapes).map(|(named, shape)| {
            let count = shape.rank() - named.letters().count();
            labels_of(named, ellipsis.rank() - count..ellipsis.rank())
        }))?;
        let result = match &result {
            None => implicit(&operands, ellipsis.rank()),
            Some(named) => {
                if !named.ellipsis && ellipsis.rank() > 0 {
                    return Err(flawed(SubscriptsFlaw::NoEllipsis { axes: ellipsis.rank() }));
                }
                for (k, letter) in named.letters().enumerate() {
                    let label = char::from(letter);
                    if !labels.iter().any(|axes| axes.contains(&letter)) {
                        return Err(flawed(SubscriptsFlaw::Unknown { label }));
                    }
                    if named.letters().take(k).any(|before| before == letter) {
                        return Err(flawed(SubscriptsFlaw::Repeated { label }));
                    }
                }
                labels_of(named, 0..ellipsis.rank())
            }
        };
        let mut plan = Self {
            views: Vec::new(),
            labels: Vec::new(),
            steps: Vec::new(),
            result,
            extents: extents(&labels, shapes, &ellipsis)?,
        };
        for (axes, shape) in labels.iter_mut().zip(shapes) {
            plan.views.push(views(axes, shape, &plan.extents));
        }
        plan.labels = labels.clone();
        plan.sum_alone(&mut labels);
        while labels.len() > 1 {
            plan.pair(&mut labels)?;
        }
        plan.shape(&plan.result)?.count()?;
        Ok(plan)
    }

    pub(super) fn shape(&self, labels: &[u8]) -> Result<Shape> {
        Shape::check_rank(labels.len())?;
        Ok(labels.iter().map(|&label| self.extents[usize::from(label)]).collect())
    }

    /// Number of elements over some axes, or the largest number.
    pub(super) fn count<'l>(&self, labels: impl IntoIterator<Item = &'l u8>) -> usize {
        let extents = labels.into_iter().map(|&label| self.extents[usize::from(label)]);
        extents.fold(1, usize::saturating_mul)
    }

    /// Sums over the axes that one term alone has, and the result has not.
    fn sum_alone(&mut self, terms: &mut [Labels]) {
        for term in 0..terms.len() {
            let is_kept = |label: &u8| {
                let others = terms.iter().enumerate().filter(|(k, _)| *k != term);
                self.result.contains(label) || { others }.any(|(_, axes)| axes.contains(label))
            };
            let (kept, summed): (Labels, Labels) = terms[term].iter().partition(|l| is_kept(l));
            if !summed.is_empty() {
                terms[term] = kept.clone();
                self.steps.push(Step::Sum { term, kept, summed });
            }
        }
    }

    /// Multiplies the two terms that give the smallest result; of several the first ones.
    fn pair(&mut self, terms: &mut Vec<Labels>) -> Result<()> {
        let mut best: Option<(usize, Step)> = None;
        for (i, left) in terms.iter().enumerate() {
            for (j, right) in terms.iter().enumerate().skip(i + 1) {
                let others = terms.iter().enumerate().filter(|(k, _)| *k != i && *k != j);
                let is_kept = |label: &u8| {
                    self.result.contains(label) || { others.clone() }
                        .any(|(_, axes)| axes.contains(label))
                };
                let (shared, only_left): (Labels, Labels) =
                    left.iter().partition(|label| right.contains(label));
                let (batch, summed) = shared.iter().partition(|label| is_kept(label));
                let only_right = right.iter().copied().filter(|label| !left.contains(label));
                let parts = Parts { batch, summed, left: only_left, right: only_right.collect() };
                let step = Step::Pair { terms: [i, j], parts };
                let size = self.count(&step.result());
                if best.as_ref().is_none_or(|(least, _)| size < *least) {
                    best = Some((size, step));
                }
            }
        }
        if let Some((_, step)) = best {
            if let Step::Pair { terms: [i, j], .. } = step {
                terms.remove(j);
                terms.remove(i);
            }
            self.shape(&step.result())?.count()?;
            terms.push(step.result());
            self.steps.push(step);
        }
        Ok(())
    }
}

/// The axes that the ellipsis of an operand stands for; `None` if its letters are not as many as its other axes.
fn ellipsis_of(named: &Named, shape: &Shape) -> Option<Shape> {
    let (start, letters) = (named.before.len(), named.letters().count());
    let count = shape.rank().checked_sub(letters).filter(|&count| named.ellipsis || count == 0)?;
    Some(Shape::from(&shape[start..start + count]))
}

fn labels_of(named: &Named, ellipsis: std::ops::Range<usize>) -> Labels {
    let axes = ellipsis.filter(|_| named.ellipsis).map(|axis| axis as u8);
    named.before.iter().copied().chain(axes).chain(named.after.iter().copied()).collect::<Labels>()
}

/// The axes of a result that is not given: those of ellipses, and the letters that stand once, in order.
fn implicit(operands: &[Named], ellipsis: usize) -> Labels {
    let count = |letter| operands.iter().flat_map(Named::letters).filter(|l| *l == letter).count();
    let letters = (b'A'..=b'z').filter(|&letter| count(letter) == 1);
    (0..ellipsis).map(|axis| axis as u8).chain(letters).collect::<Labels>()
}

/// Extents by label.
fn extents(labels: &[Labels], shapes: &[Shape], ellipsis: &Shape) -> Result<Vec<usize>> {
    let mut extents = list((0..128_usize).map(|axis| ellipsis.get(axis).copied().unwrap_or(0)))?;
    // The operand and the axis where each letter stands first.
    let mut first = [None; 128];
    for (axes, shape) in labels.iter().zip(shapes) {
        for (axis, &label) in axes.iter().enumerate().filter(|(_, label)| **label >= b'A') {
            let (other, at) = *first[usize::from(label)].get_or_insert((shape, axis));
            check(other, shape, (at, axis))?;
            extents[usize::from(label)] = shape[axis];
        }
    }
    Ok(extents)
}

/// How an operand is viewed so that names differ, and axes of 1 that others stretch are gone.
fn views(axes: &mut Labels, shape: &Shape, extents: &[usize]) -> Vec<View> {
    let mut views = Vec::new();
    let mut own = shape.to_vec();
    while let Some((a, b)) = (0..axes.len()).find_map(|b| {
        let a = axes[..b].iter().position(|label| *label == axes[b])?;
        Some((a, b))
    }) {
        // The diagonal becomes the last axis.
        views.push(View::Diagonal(a, b));
        let (label, extent) = (axes[b], own[b]);
        for axis in [b, a] {
            axes.remove(axis);
            own.remove(axis);
        }
        axes.push(label);
        own.push(extent);
    }
    for axis in (0..axes.len()).rev() {
        if own[axis] != extents[usize::from(axes[axis])] {
            views.push(View::Remove(axis));
            axes.remove(axis);
        }
    }
    views
}
