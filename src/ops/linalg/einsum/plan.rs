//! From subscripts and shapes to products of pairs.

use super::subscripts::{Named, Subscripts};
use crate::error::{Error, Result, SubscriptsFlaw};
use crate::memory::list;
use crate::ops::contraction::check;
use crate::shape::{Align, Shape};

/// Names of axes: letters, and below them the axes of ellipses, from the first.
pub(super) type Labels = Vec<u8>;

/// How many labels there may be.
const LABELS: usize = 128;

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
    /// Whether an axis that is summed over has no elements: there are no products, and no steps.
    pub(super) is_empty_sum: bool,
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
            is_empty_sum: false,
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
        let mut summed = plan.labels.iter().flatten().filter(|label| !plan.result.contains(label));
        if summed.any(|&label| plan.extents[usize::from(label)] == 0) {
            plan.is_empty_sum = true;
            plan.steps.clear();
        }
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
        let uses = self.uses(terms);
        for (term, axes) in terms.iter_mut().enumerate() {
            let (kept, summed): (Labels, Labels) =
                axes.iter().partition(|label| uses[usize::from(**label)] > 1);
            if !summed.is_empty() {
                *axes = kept.clone();
                self.steps.push(Step::Sum { term, kept, summed });
            }
        }
    }

    /// How many terms have each label, the result counted among them.
    fn uses(&self, terms: &[Labels]) -> [usize; LABELS] {
        let mut uses = [0; LABELS];
        for &label in terms.iter().chain([&self.result]).flatten() {
            uses[usize::from(label)] += 1;
        }
        uses
    }

    /// Multiplies the two terms that give the smallest result; of several the first ones.
    fn pair(&mut self, terms: &mut Vec<Labels>) -> Result<()> {
        let uses = self.uses(terms);
        let sets = list(terms.iter().map(|axes| set_of(axes)))?;
        // What no other term has is summed over.
        let ends =
            set_of(&(0..LABELS as u8).filter(|l| uses[usize::from(*l)] == 2).collect::<Labels>());
        let mut best: Option<(usize, [usize; 2])> = None;
        for (i, left) in terms.iter().enumerate() {
            for (j, right) in terms.iter().enumerate().skip(i + 1) {
                let gone = sets[i] & sets[j] & ends;
                let all = left.iter().chain(right.iter().filter(|l| sets[i] >> **l & 1 == 0));
                let size = self.count(all.filter(|label| gone >> **label & 1 == 0));
                if best.is_none_or(|(least, _)| size < least) {
                    best = Some((size, [i, j]));
                }
            }
        }
        if let Some((_, [i, j])) = best {
            let (right, left) = (terms.remove(j), terms.remove(i));
            let (shared, only_left): (Labels, Labels) =
                left.iter().partition(|label| right.contains(label));
            let (summed, batch) = shared.iter().partition(|label| uses[usize::from(**label)] == 2);
            let only_right = right.iter().copied().filter(|label| !left.contains(label));
            let parts = Parts { batch, summed, left: only_left, right: only_right.collect() };
            if !parts.summed.is_empty() {
                // A stack of matrices.
                Shape::check_rank(parts.batch.len() + 2)?;
            }
            let step = Step::Pair { terms: [i, j], parts };
            self.shape(&step.result())?.count()?;
            terms.push(step.result());
            self.steps.push(step);
        }
        Ok(())
    }
}

/// Labels as bits.
fn set_of(labels: &[u8]) -> u128 {
    labels.iter().fold(0, |set, label| set | 1 << label)
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
    let mut extents = list((0..LABELS).map(|axis| ellipsis.get(axis).copied().unwrap_or(0)))?;
    // The operand and the axis where each letter stands first.
    let mut first = [None; LABELS];
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
