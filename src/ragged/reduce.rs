//! Folds: of whole rows, of fixed axes, and of items at the same place in several rows.

use super::apply::ApplyRagged;
use super::deferred::{DeferredRagged, RaggedCompute};
use super::eval::{first_error, joined, of_items};
use super::expr::{Before, IntoRagged, RaggedExpr};
use super::form::{
    Extent, Form, Joined, check_mask, content_shape, placed, shape_of, unlisted, unravelled,
};
use super::groups::{Behind, Merged, bounds};
use super::joint::Joint;
use super::{Ragged, Stretch, sealed};
use crate::error::{Error, Result};
use crate::expr::{Explanation, Expr, Lazy};
use crate::map::Select;
use crate::memory::list;
use crate::ops::reduce::{Axes, Filtered, Freedom, Or, Pair, Reducer, fold_dense};
use crate::ops::segments::{SegmentOffsets, fold_cuts};
use smallvec::SmallVec;

/// A fold that is not computed yet.
#[derive(Debug, Clone)]
pub struct RaggedFold<E, R> {
    pub(super) e: E,
    pub(super) axes: Axes,
    pub(super) reducer: R,
    pub(super) keepdims: bool,
}

/// A [`RaggedFold`] by a reducer, not yet computed.
pub type RaggedReduction<E, R> = DeferredRagged<RaggedFold<E, R>>;

/// A fold of those elements beside which a mask is true.
pub type FilteredRagged<E, M, R> = RaggedReduction<PairedRagged<E, M>, Filtered<R>>;

/// The elements that are folded, each beside a mask.
pub type PairedRagged<E, M> = ApplyRagged<Pair, (E, <M as IntoRagged>::Expr)>;

impl<E: RaggedExpr, R: Reducer<E::Elem>> RaggedReduction<E, R> {
    /// Keeps reduced axes, with extent 1.
    pub fn keepdims(self) -> Self {
        DeferredRagged::new(RaggedFold { keepdims: true, ..self.operation })
    }

    /// Gives `value` for rows without items, and for those of which none is left, as all were filtered or skipped.
    ///
    /// ```
    /// use lensor::ragged::{ElementwiseRagged, Ragged, ReduceRagged};
    /// let r = Ragged::from_nested(vec![vec![1, 5, 3], vec![], vec![4]])?;
    /// assert_eq!(r.max(1).filter(r.less(4)).or(0).eval()?.to_string(), "[3, 0, 0]");
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn or(self, value: R::Out) -> RaggedReduction<E, Or<R, R::Out>> {
        let RaggedFold { e, axes, reducer, keepdims } = self.operation;
        DeferredRagged::new(RaggedFold { e, axes, reducer: Or::new(reducer, value), keepdims })
    }

    /// Folds only elements where a mask is true; it stretches as an operand does. Fixed axes of the operand do not stretch to
    /// it: that is [`Error::Operands`]. Rows of one item are repeated for longer ones of the mask, as beside any operand.
    ///
    /// ```
    /// use lensor::ragged::{ElementwiseRagged, Ragged, ReduceRagged};
    /// let r = Ragged::from_nested(vec![vec![1, 5, 3], vec![4]])?;
    /// assert_eq!(r.sum(1).filter(r.less(5)).eval()?.to_string(), "[4, 4]");
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn filter<M: IntoRagged<Elem = bool>>(self, mask: M) -> FilteredRagged<E, M, R> {
        let RaggedFold { e, axes, reducer, keepdims } = self.operation;
        let mask = mask.into_ragged_expr();
        let fits = e.extents().and_then(|own| check_mask(&own, &mask.extents()?, 2, true));
        let mut e = ApplyRagged::new(Pair, (e, mask));
        if let Err(error) = fits {
            e.extents = Err(error);
        }
        DeferredRagged::new(RaggedFold { e, axes, reducer: Filtered(reducer), keepdims })
    }

    /// Divides by the number of elements less `ddof`.
    pub fn ddof(self, ddof: usize) -> Self
    where
        R: Freedom,
    {
        let operation = self.operation;
        let reducer = operation.reducer.with_ddof(ddof);
        DeferredRagged::new(RaggedFold { reducer, ..operation })
    }
}

/// How axes are folded.
pub(super) enum Plan {
    /// Fixed axes behind the last var axis: a dense fold of the content.
    Content,
    /// Whole rows: from this axis to the last var axis, and the fixed axes behind it if that is said.
    Rows { from: usize, content: bool },
    /// Items at the same place in all items of a fixed axis in front of var axes.
    Merge { axis: usize },
}

impl Plan {
    pub(super) fn of(kinds: &[Extent], reduced: &[bool]) -> Result<Self> {
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

impl<E, R> sealed::Operation for RaggedFold<E, R> {}

impl<E, R> RaggedCompute for RaggedFold<E, R>
where
    E: RaggedExpr,
    R: Reducer<E::Elem>,
{
    type Elem = R::Out;

    fn extents(&self) -> Result<Vec<Extent>> {
        let kinds = self.e.extents()?;
        let reduced = self.axes.mask(kinds.len())?;
        Plan::of(&kinds, &reduced)?;
        let kept = kinds.iter().zip(&reduced).filter_map(|(&kind, &reduced)| match reduced {
            false => Some(kind),
            true => self.keepdims.then_some(Extent::Fixed(1)),
        });
        Ok(kept.collect())
    }

    fn knows_rows(&self) -> bool {
        self.e.before() < Before::Rows
    }

    fn form(&self, stretch: Stretch) -> Result<Form> {
        let extents = self.e.extents()?;
        let reduced = self.axes.mask(extents.len())?;
        let Joint { form, .. } = self.e.outline(stretch)?;
        let (mut merged, depth) = (None, form.rank() - form.trailing.len());
        if let Plan::Merge { axis } = Plan::of(&extents, &reduced)? {
            merged = Some((axis, Merged::of(&form, axis, depth)?.axes));
        }
        Ok(self.result(&form, &reduced, merged))
    }

    fn compute(&self, stretch: Stretch) -> Result<Ragged<Vec<R::Out>>> {
        let extents = self.e.extents()?;
        let reduced = self.axes.mask(extents.len())?;
        let plan = Plan::of(&extents, &reduced)?;
        self.check_order(&extents, &reduced)?;
        let joint = joined(&self.e, stretch)?;
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
                let data =
                    fold_dense(&content.0, &mask, &self.reducer).map_err(|error| match error {
                        Error::EmptyReduction { axis, .. } => Error::EmptyReduction {
                            axis: axis + depth - skipped,
                            shape: shape_of(&extents),
                        },
                        error => placed(error, form, &result, behind),
                    })?;
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
                let data = self
                    .rows(&content, bounds.offsets(), |row| form.path(from, row), from)
                    .map_err(|error| {
                        let error = if flat { unravelled(error, form) } else { error };
                        placed(error, form, &result, behind)
                    })?;
                (result, data)
            }
            Plan::Merge { axis } => {
                let Merged { axes, items, bounds } = Merged::of(form, axis, depth)?;
                let result = self.result(form, &reduced, Some((axis, axes)));
                let order = list(items.iter().copied())?;
                let content = content.select([Select::List(items)])?;
                let bounds = SegmentOffsets::Wide(&bounds);
                let data = self.rows(&content, bounds, |row| result.path(axis, row), axis);
                let place = |error| placed(unlisted(error, &order), form, &result, &form.trailing);
                let data = data.map_err(|error| first_error(&self.e, &joint, error, place))?;
                (result, data)
            }
        };
        of_items(&result, data)
    }

    fn explain(&self) -> Result<Explanation> {
        let axes: Vec<usize> = {
            let mask = self.axes.mask(self.e.extents()?.len())?;
            (0..mask.len()).filter(|&axis| mask[axis]).collect()
        };
        let out = std::any::type_name::<R::Out>();
        let what = format!("fold over axes {axes:?} to {out}, of:");
        Ok(super::explain::explain(&self.e)?.below([what]))
    }
}

impl<E, R> RaggedFold<E, R>
where
    E: RaggedExpr,
    R: Reducer<E::Elem>,
{
    /// Refuses several axes of a reducer that depends on the order of the elements.
    fn check_order(&self, extents: &[Extent], reduced: &[bool]) -> Result<()> {
        let is_long = |&axis: &usize| reduced[axis] && extents[axis] != Extent::Fixed(1);
        let axes: Vec<usize> = (0..extents.len()).filter(is_long).collect();
        if R::COMMUTATIVE || axes.len() < 2 { Ok(()) } else { Err(Error::Order { axes }) }
    }

    /// The form of the result, with the axes behind a merged one if there is one.
    pub(super) fn result(
        &self,
        form: &Form,
        reduced: &[bool],
        merged: Option<(usize, Behind)>,
    ) -> Form {
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

    /// Folds rows of the first axis of the content, which lie between neighbouring bounds.
    pub(super) fn rows<X: Expr<Elem = E::Elem>>(
        &self,
        content: &Lazy<X>,
        bounds: SegmentOffsets<'_>,
        path: impl Fn(usize) -> Vec<usize>,
        axis: usize,
    ) -> Result<Vec<R::Out>> {
        let has_none = self.reducer.empty().is_none();
        match has_none.then(|| bounds.first_empty()).flatten() {
            Some(first) => Err(Error::EmptyRow { row: path(first), axis }),
            None => fold_cuts(content, 0, bounds, &self.reducer),
        }
    }
}
