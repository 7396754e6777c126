//! Operations on rows one by one, not computed yet.

use super::runs::{Lanes, RowOperation, RowResults};
use crate::error::{Error, Result};
use crate::expr::{self, Explanation, Lazy};
use crate::ragged::deferred::RaggedCompute;
use crate::ragged::eval::{first_error, joined};
use crate::ragged::explain::explain;
use crate::ragged::expr::{Ahead, RaggedExpr};
use crate::ragged::form::{Axis, Extent, Form, content_shape, shape_of};
use crate::ragged::joint::Joint;
use crate::ragged::levels::levels_of;
use crate::ragged::places::Lengths;
use crate::ragged::{Ragged, Stretch, sealed};
use crate::shape::Shape;
use smallvec::SmallVec;

/// An operation on rows.
#[derive(Debug, Clone)]
pub struct RowWise<E, P> {
    pub(super) e: E,
    pub(super) axis: usize,
    pub(super) operation: P,
}

/// Rows of items, or of a fixed axis after them.
enum Along {
    Rows,
    /// The position among the fixed axes after the rows.
    Fixed(usize),
}

fn along(kinds: &[Extent], axis: usize) -> Result<Along> {
    let rank = kinds.len();
    let Some(&kind) = kinds.get(axis) else { return Err(Error::Axis { axis, rank }) };
    let last = kinds.iter().rposition(|&kind| kind == Extent::Var);
    match (kind, last) {
        (Extent::Var, Some(last)) if axis == last => Ok(Along::Rows),
        (Extent::Fixed(_), None) => Ok(Along::Fixed(axis)),
        (Extent::Fixed(_), Some(last)) if axis > last => Ok(Along::Fixed(axis - last - 1)),
        (_, last) => {
            let crossed = kinds[axis + 1..].iter().position(|&kind| kind == Extent::Var);
            Err(Error::RaggedAxes {
                axis,
                crossed: crossed.map_or(last.unwrap_or(axis), |k| axis + 1 + k),
            })
        }
    }
}

impl<E, P> sealed::Operation for RowWise<E, P> {}

impl<E: RaggedExpr, P: RowOperation<E::Elem>> RaggedCompute for RowWise<E, P> {
    type Elem = P::Elem;

    fn extents(&self) -> Result<Vec<Extent>> {
        let mut kinds = self.e.extents()?;
        along(&kinds, self.axis)?;
        kinds[self.axis] = match (kinds[self.axis], self.operation.results()?) {
            (Extent::Fixed(extent), results) => Extent::Fixed(results.of(extent)),
            (Extent::Var, RowResults::Fixed(results)) => Extent::Fixed(results),
            (Extent::Var, _) => Extent::Var,
        };
        Ok(kinds)
    }

    fn knows_rows(&self) -> bool {
        self.e.ahead() < Ahead::Lengths
    }

    fn form(&self, stretch: Stretch) -> Result<Form> {
        let along = along(&self.e.extents()?, self.axis)?;
        let results = self.operation.results()?;
        let Joint { form, .. } = self.e.outline(stretch)?;
        Ok(self.result(&form, &self.lanes(&form, &along, results)?.1))
    }

    fn compute(&self, stretch: Stretch) -> Result<Ragged<Vec<P::Elem>>> {
        let kinds = self.e.extents()?;
        let along = along(&kinds, self.axis)?;
        self.operation.check(self.axis)?;
        let results = self.operation.results()?;
        let joint = joined(&self.e, stretch)?;
        let Joint { form, .. } = &joint;
        let content = Lazy(self.e.flat(&joint)?).reshape(content_shape(form))?;
        let last = content.shape()?.rank() - 1;
        let (from, lanes) = self.lanes(form, &along, results)?;
        if P::NEEDS_ITEMS {
            match &lanes.items {
                Lengths::Var(items) => {
                    if let Some(row) = items.first_empty() {
                        let (axis, row) = (self.axis, form.path(self.axis, row));
                        return Err(Error::EmptyRow { row, axis });
                    }
                }
                Lengths::Fixed(_, 0) => {
                    return Err(Error::EmptyReduction { axis: self.axis, shape: shape_of(&kinds) });
                }
                Lengths::Fixed(..) => {}
            }
        }
        let content = content.move_axis(from, last)?;
        let place = |error| placed(error, form, from);
        let data = expr::elements(&content);
        let data = &data.map_err(|error| first_error(&self.e, &joint, error, place))?[..];
        let others: SmallVec<[usize; 4]> = content.shape()?[..last].into();
        let out = lanes.compute(&self.operation, &others, data).map_err(&place)?;
        let result = self.result(form, &lanes);
        let out = out.move_axis(last, from)?.into_contiguous()?;
        let content = out.reshape(content_shape(&result))?;
        Ok(Ragged::of(levels_of(&result), content))
    }

    fn explain(&self) -> Result<Explanation> {
        let (along, mut mean) = (along(&self.e.extents()?, self.axis)?, 0);
        if self.knows_rows() {
            let Joint { form, .. } = self.e.outline(Stretch::Rows)?;
            mean = self.lanes(&form, &along, self.operation.results()?)?.1.items.mean();
        }
        let (what, each) = self.operation.words(mean)?;
        let what = format!("{what} along axis {}, row by row, of:", self.axis);
        let each = each.map(|each| format!("rows of {mean} items: {each}"));
        Ok(explain(&self.e)?.below([what]).above(each))
    }
}

impl<E: RaggedExpr, P: RowOperation<E::Elem>> RowWise<E, P> {
    /// The axis of the content that rows lie along, and the rows.
    fn lanes(&self, form: &Form, along: &Along, results: RowResults) -> Result<(usize, Lanes)> {
        let skipped = usize::from(form.depth() > 0);
        match (along, form.rows()) {
            (Along::Rows, Some(rows)) => Ok((0, Lanes::of(Lengths::Var(rows.clone()), results)?)),
            (Along::Rows, None) => Err(Error::Axis { axis: self.axis, rank: form.rank() }),
            (Along::Fixed(axis), _) => {
                let extent = Lengths::Fixed(1, form.trailing()[*axis]);
                Ok((axis + skipped, Lanes::of(extent, results)?))
            }
        }
    }

    /// The form with the results of the rows in their place.
    fn result(&self, form: &Form, lanes: &Lanes) -> Form {
        let mut axes = form.axes.clone();
        axes[self.axis] = match &lanes.results {
            Lengths::Var(results) => Axis::Var(results.clone()),
            Lengths::Fixed(_, length) => Axis::Fixed(*length),
        };
        Form { axes }
    }
}

/// An error at an index of the content with the axis last, or at the number of a result, as one of the whole.
fn placed(mut error: Error, form: &Form, from: usize) -> Error {
    let moved = |mut index: Vec<usize>| {
        if let Some(last) = index.pop() {
            index.insert(from, last);
        }
        form.content_path(&index)
    };
    if let Error::Overflow { index, .. } | Error::NothingLeft { index } = &mut error {
        // Results that may not exist are as many as items.
        let mut shape: Vec<usize> = content_shape(form).to_vec();
        let axis = shape.remove(from);
        shape.push(axis);
        let number = index.first().copied().unwrap_or(0);
        *index = moved(Shape::from(shape).unravel(number).to_vec());
    } else if let Some(index) = error.element_index() {
        *index = moved(std::mem::take(index));
    }
    error
}
