//! Folds: of whole rows, of fixed axes, and of items at the same place in several rows.

use super::deferred::{DeferredRagged, RaggedCompute};
use super::eval::{first_error, joined, of_items};
use super::explain::explain;
use super::expr::{Ahead, RaggedExpr};
use super::form::{Axis, Extent, Form, content_shape, placed, shape_of, unlisted, unravelled};
use super::groups::{Behind, Merged, bounds};
use super::joint::Joint;
use super::offsets::Offsets;
use super::{Ragged, Stretch, sealed};
use crate::error::{Error, Result};
use crate::expr::{Explanation, Expr, Lazy};
use crate::map::Select;
use crate::memory::list;
use crate::ops::reduce::Axes;
use smallvec::SmallVec;

/// What makes one result of each group of elements. Not for use.
#[doc(hidden)]
pub trait GroupFold<T>: Send + Sync {
    type Out: Copy + Send + Sync;

    /// Whether the order of elements is of no account, or all axes are one lane.
    const COMMUTATIVE: bool;

    /// Whether there is no result of a group without elements.
    fn needs_elements(&self) -> bool;

    /// Refuses what makes no such results.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// What it does over axes of these numbers, and what becomes of groups if there is more to say, in words. A group has
    /// so many elements on average.
    fn words(
        &self,
        axes: &[usize],
        mean: &dyn Fn() -> Result<usize>,
    ) -> Result<(String, Option<String>)>;

    /// The results over some axes of the content, in row-major order of the others.
    fn fold_axes<X: Expr<Elem = T>>(
        &self,
        content: &Lazy<X>,
        reduced: &[bool],
    ) -> Result<Vec<Self::Out>>;

    /// The results of rows of items, which lie along the first axis of the content, each at every index of the other axes.
    fn fold_rows<X: Expr<Elem = T>>(
        &self,
        content: &Lazy<X>,
        rows: &Offsets,
    ) -> Result<Vec<Self::Out>>;
}

/// How axes are folded.
enum Plan {
    /// Fixed axes after the last var axis: a dense fold of the content.
    Content,
    /// Whole rows: from this axis to the last var axis, and the fixed axes after it if that is said.
    Rows { from: usize, content: bool },
    /// Items at the same place in all items of a fixed axis in front of var axes.
    Merge { axis: usize },
}

impl Plan {
    fn of(kinds: &[Extent], reduced: &[bool]) -> Result<Self> {
        let Some(last) = kinds.iter().rposition(|&kind| kind == Extent::Var) else {
            return Ok(Self::Content);
        };
        let (front, behind) = reduced.split_at(last + 1);
        let Some(from) = front.iter().position(|&reduced| reduced) else {
            return Ok(Self::Content);
        };
        let rest = |all: bool| behind.iter().all(|&reduced| reduced == all);
        if front[from..].iter().all(|&reduced| reduced) {
            if rest(true) {
                return Ok(Self::Rows { from, content: true });
            }
            if from == last && rest(false) {
                return Ok(Self::Rows { from, content: false });
            }
        }
        let one = reduced.iter().filter(|&&reduced| reduced).count() == 1;
        if one && kinds[from] != Extent::Var {
            return Ok(Self::Merge { axis: from });
        }
        let is_var = |axis: &usize| kinds[*axis] == Extent::Var;
        let folded = (0..kinds.len()).filter(|&axis| reduced[axis]);
        let crossed = folded.clone().find(is_var).or_else(|| (from..kinds.len()).find(is_var));
        let kept = (from + 1..kinds.len()).find(|&axis| !reduced[axis]);
        Err(Error::RaggedAxes { axis: kept.unwrap_or(from), crossed: crossed.unwrap_or(last) })
    }
}

/// A fold of groups of elements along some axes, not computed yet.
#[derive(Debug, Clone)]
pub struct GroupedFold<E, G> {
    pub(super) e: E,
    pub(super) axes: Axes,
    pub(super) folder: G,
    pub(super) keepdims: bool,
}

impl<E: RaggedExpr, G: GroupFold<E::Elem>> DeferredRagged<GroupedFold<E, G>> {
    /// Of all elements along these axes.
    pub(super) fn of_groups(e: E, axes: Axes, folder: G) -> Self {
        Self::new(GroupedFold { e, axes, folder, keepdims: false })
    }

    /// Keeps the axes that go away, with extent 1, so that the result aligns with the operand.
    ///
    /// ```
    /// use lensor::ragged::{LanesRagged, Ragged};
    /// let r = Ragged::from_nested(vec![vec![1.0, 2.0, 9.0], vec![4.0]])?;
    /// assert_eq!((&r - r.median(1).keepdims()).to_vec()?, [-1.0, 0.0, 7.0, 0.0]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn keepdims(self) -> Self {
        Self::new(GroupedFold { keepdims: true, ..self.operation })
    }
}

impl<E, G> sealed::Operation for GroupedFold<E, G> {}

impl<E: RaggedExpr, G: GroupFold<E::Elem>> RaggedCompute for GroupedFold<E, G> {
    type Elem = G::Out;

    fn extents(&self) -> Result<Vec<Extent>> {
        let (kinds, reduced, _) = self.planned()?;
        let kept = kinds.iter().zip(&reduced).filter_map(|(&kind, &reduced)| match reduced {
            false => Some(kind),
            true => self.keepdims.then_some(Extent::Fixed(1)),
        });
        Ok(kept.collect())
    }

    fn knows_rows(&self) -> bool {
        self.e.ahead() < Ahead::Lengths
    }

    fn form(&self, stretch: Stretch) -> Result<Form> {
        let (_, reduced, plan) = self.planned()?;
        let Joint { form, .. } = self.e.outline(stretch)?;
        let merged = match plan {
            Plan::Merge { axis } => Some((axis, Merged::of(&form, axis)?.axes)),
            _ => None,
        };
        Ok(self.result(&form, &reduced, merged))
    }

    fn compute(&self, stretch: Stretch) -> Result<Ragged<Vec<G::Out>>> {
        let (extents, reduced, plan) = self.planned()?;
        self.check_order(&extents, &reduced)?;
        let joint = joined(&self.e, stretch)?;
        let Joint { form, .. } = &joint;
        let content = Lazy(self.e.flat(&joint)?).reshape(content_shape(form))?;
        let (depth, trailing) = (form.depth(), form.trailing());
        let failed =
            |error, place: &dyn Fn(Error) -> Error| first_error(&self.e, &joint, error, place);
        match plan {
            Plan::Content => {
                let skipped = usize::from(depth > 0);
                let mask: SmallVec<[bool; 8]> = std::iter::repeat_n(false, skipped)
                    .chain(reduced[depth..].iter().copied())
                    .collect();
                let result = self.result(form, &reduced, None);
                let kept = trailing.iter().zip(&reduced[depth..]).filter(|(_, folded)| !**folded);
                let behind: SmallVec<[usize; 4]> = kept.map(|(&extent, _)| extent).collect();
                let behind =
                    if skipped > 0 { &behind[..] } else { behind.get(1..).unwrap_or_default() };
                let place = |error| match error {
                    Error::EmptyReduction { axis, .. } => Error::EmptyReduction {
                        axis: axis + depth - skipped,
                        shape: shape_of(&extents),
                    },
                    error => placed(error, form, &result, behind),
                };
                let data = self.folder.fold_axes(&content, &mask);
                of_items(&result, data.map_err(|error| failed(error, &place))?)
            }
            Plan::Rows { from, content: folds_content } => {
                let result = self.result(form, &reduced, None);
                let (mut content, mut width) = (content, 1);
                let flat = folds_content && !trailing.is_empty();
                let behind = if folds_content { &[][..] } else { &trailing[..] };
                if flat {
                    width = trailing.iter().product();
                    content = content.reshape([form.count()?])?;
                }
                let bounds = bounds(form, from, width)?;
                let place = |error| {
                    let error = if flat { unravelled(error, form) } else { error };
                    placed(error, form, &result, behind)
                };
                let path = |row| form.path(from, row);
                let data = fold_rows(&self.folder, &content, &bounds, path, from);
                of_items(&result, data.map_err(|error| failed(error, &place))?)
            }
            Plan::Merge { axis } => {
                let Merged { axes, items, bounds } = Merged::of(form, axis)?;
                let result = self.result(form, &reduced, Some((axis, axes)));
                let order = list(items.iter().copied())?;
                let content = content.select([Select::List(items)])?;
                let bounds = Offsets::new(bounds)?;
                let path = |row| result.path(axis, row);
                let data = fold_rows(&self.folder, &content, &bounds, path, axis);
                let place = |error| placed(unlisted(error, &order), form, &result, &trailing);
                of_items(&result, data.map_err(|error| failed(error, &place))?)
            }
        }
    }

    fn explain(&self) -> Result<Explanation> {
        let reduced = self.axes.mask(self.e.extents()?.len())?;
        let axes: Vec<usize> = (0..reduced.len()).filter(|&axis| reduced[axis]).collect();
        let mean = || {
            if !self.knows_rows() {
                return Ok(0);
            }
            let all = self.e.outline(Stretch::Rows)?.form.count()?;
            Ok(all.div_ceil(self.form(Stretch::Rows)?.count()?.max(1)))
        };
        let (what, each) = self.folder.words(&axes, &mean)?;
        Ok(explain(&self.e)?.below([what]).above(each))
    }
}

impl<E: RaggedExpr, G: GroupFold<E::Elem>> GroupedFold<E, G> {
    /// What the axes are, which of them are folded, and how.
    fn planned(&self) -> Result<(Vec<Extent>, SmallVec<[bool; 8]>, Plan)> {
        let kinds = self.e.extents()?;
        let reduced = self.axes.mask(kinds.len())?;
        let plan = Plan::of(&kinds, &reduced)?;
        self.folder.check()?;
        Ok((kinds, reduced, plan))
    }

    /// Refuses several axes where the result depends on the order of the elements.
    fn check_order(&self, extents: &[Extent], reduced: &[bool]) -> Result<()> {
        let is_long = |&axis: &usize| reduced[axis] && extents[axis] != Extent::Fixed(1);
        let axes: Vec<usize> = (0..extents.len()).filter(is_long).collect();
        if G::COMMUTATIVE || axes.len() < 2 { Ok(()) } else { Err(Error::Order { axes }) }
    }

    /// The form of the result, with the axes after a merged one if there is one.
    fn result(&self, form: &Form, reduced: &[bool], merged: Option<(usize, Behind)>) -> Form {
        let (mut axes, depth) = (Behind::new(), form.depth());
        let (behind, merged) = merged.unwrap_or((usize::MAX, Behind::new()));
        for (axis, own) in form.axes.iter().enumerate() {
            if reduced[axis] {
                axes.extend(self.keepdims.then_some(Axis::Fixed(1)));
            } else if axis < behind || axis >= depth {
                axes.push(own.clone());
            }
            if axis == behind {
                axes.extend(merged.iter().cloned());
            }
        }
        Form { axes }
    }
}

/// Folds rows of the first axis of the content.
fn fold_rows<T, X: Expr<Elem = T>, F: GroupFold<T>>(
    folder: &F,
    content: &Lazy<X>,
    rows: &Offsets,
    path: impl Fn(usize) -> Vec<usize>,
    axis: usize,
) -> Result<Vec<F::Out>> {
    match folder.needs_elements().then(|| rows.first_empty()).flatten() {
        Some(first) => Err(Error::EmptyRow { row: path(first), axis }),
        None => folder.fold_rows(content, rows),
    }
}
