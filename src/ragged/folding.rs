//! Folds: of whole rows, of fixed axes, and of items at the same place in several rows.

use super::eval::{first_error, joined, of_items};
use super::expr::RaggedExpr;
use super::form::{Extent, Form, Joined, content_shape, placed, shape_of, unlisted, unravelled};
use super::groups::{Behind, Merged, bounds};
use super::joint::Joint;
use super::{Ragged, Stretch};
use crate::error::{Error, Result};
use crate::expr::{Expr, Lazy};
use crate::map::Select;
use crate::memory::list;
use crate::ops::reduce::Axes;
use crate::ops::segments::SegmentOffsets;
use smallvec::SmallVec;

/// What makes one result of each group of elements.
pub(super) trait GroupFold<T> {
    type Out: Copy + Send + Sync;

    /// Whether the order of elements is of no account, or all axes are one lane.
    const COMMUTATIVE: bool;

    /// Whether there is no result of a group without elements.
    fn needs_elements(&self) -> bool;

    /// The results over some axes of the content, in row-major order of the others.
    fn fold_axes<X: Expr<Elem = T>>(
        &self,
        content: &Lazy<X>,
        reduced: &[bool],
    ) -> Result<Vec<Self::Out>>;

    /// The results of the items of the first axis of the content between neighbouring bounds, each at every index of the
    /// other axes.
    fn fold_rows<X: Expr<Elem = T>>(
        &self,
        content: &Lazy<X>,
        bounds: SegmentOffsets<'_>,
    ) -> Result<Vec<Self::Out>>;
}

/// How axes are folded.
enum Plan {
    /// Fixed axes behind the last var axis: a dense fold of the content.
    Content,
    /// Whole rows: from this axis to the last var axis, and the fixed axes behind it if that is said.
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

/// What is folded over which axes.
pub(super) struct Folding<'f, E> {
    pub(super) e: &'f E,
    pub(super) axes: &'f Axes,
    pub(super) keepdims: bool,
}

impl<E: RaggedExpr> Folding<'_, E> {
    pub(super) fn extents(&self) -> Result<Vec<Extent>> {
        let kinds = self.e.extents()?;
        let reduced = self.axes.mask(kinds.len())?;
        Plan::of(&kinds, &reduced)?;
        let kept = kinds.iter().zip(&reduced).filter_map(|(&kind, &reduced)| match reduced {
            false => Some(kind),
            true => self.keepdims.then_some(Extent::Fixed(1)),
        });
        Ok(kept.collect())
    }

    pub(super) fn form(&self, stretch: Stretch) -> Result<Form> {
        let extents = self.e.extents()?;
        let reduced = self.axes.mask(extents.len())?;
        let Joint { form, .. } = self.e.outline(stretch)?;
        let (mut merged, depth) = (None, form.rank() - form.trailing.len());
        if let Plan::Merge { axis } = Plan::of(&extents, &reduced)? {
            merged = Some((axis, Merged::of(&form, axis, depth)?.axes));
        }
        Ok(self.result(&form, &reduced, merged))
    }

    pub(super) fn compute<F: GroupFold<E::Elem>>(
        &self,
        stretch: Stretch,
        folder: &F,
    ) -> Result<Ragged<Vec<F::Out>>> {
        let extents = self.e.extents()?;
        let reduced = self.axes.mask(extents.len())?;
        let plan = Plan::of(&extents, &reduced)?;
        self.check_order(&extents, &reduced, F::COMMUTATIVE)?;
        let joint = joined(self.e, stretch)?;
        let Joint { form, .. } = &joint;
        let content = Lazy(self.e.flat(&joint)?).reshape(content_shape(form))?;
        let depth = form.rank() - form.trailing.len();
        let (result, data) = match plan {
            Plan::Content => {
                let skipped = usize::from(depth > 0);
                let mask: SmallVec<[bool; 8]> = std::iter::repeat_n(false, skipped)
                    .chain(reduced[depth..].iter().copied())
                    .collect();
                let result = self.result(form, &reduced, None);
                let kept =
                    form.trailing.iter().zip(&reduced[depth..]).filter(|(_, folded)| !**folded);
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
                let data = folder.fold_axes(&content, &mask);
                let data = data.map_err(|error| first_error(self.e, &joint, error, place))?;
                (result, data)
            }
            Plan::Rows { from, content: folds_content } => {
                let result = self.result(form, &reduced, None);
                let (mut content, mut width) = (content, 1);
                let flat = folds_content && !form.trailing.is_empty();
                let behind = if folds_content { &[][..] } else { &form.trailing[..] };
                if flat {
                    width = form.trailing.iter().product();
                    content = content.reshape([form.count()?])?;
                }
                let bounds = bounds(form, from, depth, width)?;
                let place = |error| {
                    let error = if flat { unravelled(error, form) } else { error };
                    placed(error, form, &result, behind)
                };
                let path = |row| form.path(from, row);
                let data = fold_rows(folder, &content, bounds.offsets(), path, from);
                let data = data.map_err(|error| first_error(self.e, &joint, error, place))?;
                (result, data)
            }
            Plan::Merge { axis } => {
                let Merged { axes, items, bounds } = Merged::of(form, axis, depth)?;
                let result = self.result(form, &reduced, Some((axis, axes)));
                let order = list(items.iter().copied())?;
                let content = content.select([Select::List(items)])?;
                let bounds = SegmentOffsets::Wide(&bounds);
                let path = |row| result.path(axis, row);
                let data = fold_rows(folder, &content, bounds, path, axis);
                let place = |error| placed(unlisted(error, &order), form, &result, &form.trailing);
                let data = data.map_err(|error| first_error(self.e, &joint, error, place))?;
                (result, data)
            }
        };
        of_items(&result, data)
    }

    /// Refuses several axes where the result depends on the order of the elements.
    fn check_order(&self, extents: &[Extent], reduced: &[bool], commutative: bool) -> Result<()> {
        let is_long = |&axis: &usize| reduced[axis] && extents[axis] != Extent::Fixed(1);
        let axes: Vec<usize> = (0..extents.len()).filter(is_long).collect();
        if commutative || axes.len() < 2 { Ok(()) } else { Err(Error::Order { axes }) }
    }

    /// The numbers of the axes.
    pub(super) fn numbers(&self) -> Result<Vec<usize>> {
        let mask = self.axes.mask(self.e.extents()?.len())?;
        Ok((0..mask.len()).filter(|&axis| mask[axis]).collect())
    }

    /// The form of the result, with the axes behind a merged one if there is one.
    fn result(&self, form: &Form, reduced: &[bool], merged: Option<(usize, Behind)>) -> Form {
        let mut axes = Behind::new();
        let (behind, merged) = match merged {
            Some((axis, axes)) => (axis, Some(axes)),
            None => (usize::MAX, None),
        };
        let depth = form.rank() - form.trailing.len();
        for (axis, own) in form.axes().into_iter().enumerate() {
            if reduced[axis] {
                axes.extend(self.keepdims.then_some(Joined::Fixed(1)));
            } else if axis < behind || axis >= depth {
                axes.push(own.into());
            }
            if axis == behind {
                axes.extend(merged.iter().flatten().cloned());
            }
        }
        Form::of(axes)
    }
}

/// Folds rows of the first axis of the content, which lie between neighbouring bounds.
fn fold_rows<T, X: Expr<Elem = T>, F: GroupFold<T>>(
    folder: &F,
    content: &Lazy<X>,
    bounds: SegmentOffsets<'_>,
    path: impl Fn(usize) -> Vec<usize>,
    axis: usize,
) -> Result<Vec<F::Out>> {
    match folder.needs_elements().then(|| bounds.first_empty()).flatten() {
        Some(first) => Err(Error::EmptyRow { row: path(first), axis }),
        None => folder.fold_rows(content, bounds),
    }
}
