//! Views of ragged operands, and assignment through them.

use super::super::arrays::Element;
use super::super::json::{Fault, Outcome, extent, extents, integer};
use super::super::results::Tolerance;
use super::super::views::{View, selector};
use super::values::{Held, Operand, Typed, each, typed};
use super::{Program, operation};
use lensor::Reader;
use lensor::ragged::{ElementwiseRagged, Ragged};
use serde_json::Value;

/// The operand of a view operation and its other arguments, if it is one.
pub(super) fn operand<'v>(
    op: &str,
    arguments: &'v [Value],
) -> Outcome<Option<(&'v Value, &'v [Value])>> {
    let split = match op {
        "ragged" | "nest" | "from_views" => arguments.split_last(),
        "select" | "clip" | "take" | "keep" | "flip" | "rotate" | "transpose" | "flatten"
        | "as_fixed" | "from_padded" | "from_masked" | "broadcast" | "reshape" => {
            arguments.split_first()
        }
        _ => return Ok(None),
    };
    split.map(Some).ok_or_else(|| Fault::vector(format!("{op} lacks an operand")))
}

impl Typed {
    pub(super) fn view(self, run: &Program<'_>, op: &str, options: &[Value]) -> Outcome<Typed> {
        Ok(each!(self, x => typed(run.view(op, x, options)?)))
    }
}

impl Program<'_> {
    fn view<S: Reader>(&self, op: &str, x: Ragged<S>, options: &[Value]) -> Outcome<Ragged<S>> {
        Ok(match (op, options) {
            ("ragged", [lead, offsets]) => {
                Ragged::new(extents(lead)?, self.layout.listed(offsets)?, x.into_tensor()?)?
            }
            ("nest", [lead, offsets]) => x.nest(extents(lead)?, self.layout.listed(offsets)?)?,
            ("from_views", [lead, starts, lens, step]) => {
                let (starts, lens) = (extents(starts)?, extents(lens)?);
                let content = x.into_tensor()?;
                Ragged::from_views(extents(lead)?, starts, lens, integer(step)?, content)?
            }
            ("from_padded", [lens]) => {
                Ragged::from_padded(x.into_tensor()?, self.positions(lens)?.into_tensor()?)?
            }
            ("from_masked", [mask]) => {
                Ragged::from_masked(x.into_tensor()?, self.mask(mask)?.into_tensor()?)?
            }
            ("clip", [axis, range]) => x.clip(extent(axis)?, selector(range)?)?,
            ("take", [axis, picks]) => x.take(extent(axis)?, &self.positions(picks)?)?,
            ("keep", [axis, mask]) => x.keep(extent(axis)?, &self.mask(mask)?)?,
            ("flip", [axis]) => x.flip(extent(axis)?)?,
            ("flatten", [axis]) => x.flatten(extent(axis)?)?,
            ("as_fixed", [axis]) => x.as_fixed(extent(axis)?)?,
            _ => match View::of(op, options)? {
                Some(View::Transpose(order)) => x.transpose(&order)?,
                Some(View::Select(selectors)) => x.select(selectors)?,
                Some(View::Rotate(shifts)) => x.rotate(&shifts)?,
                Some(View::Broadcast(shape)) => x.into_tensor()?.broadcast(shape)?.into_ragged(),
                Some(View::Reshape(shape)) => x.into_tensor()?.reshape(shape)?.into_ragged(),
                None => {
                    let count = options.len() + 1;
                    return Err(Fault::vector(format!("{op} has {count} arguments")));
                }
            },
        })
    }

    /// Positions and lengths. Those below 0 are as far outside as the largest.
    fn positions(&self, program: &Value) -> Outcome<Ragged<Vec<usize>>> {
        match self.build(program)? {
            Typed::I64(x) => Ok(x.rows()?.map(|k| k as usize).eval()?),
            _ => Err(Fault::vector(format!("{program} is not i64"))),
        }
    }

    fn mask(&self, program: &Value) -> Outcome<Ragged<Vec<bool>>> {
        match self.build(program)? {
            Typed::Bool(x) => x.rows(),
            _ => Err(Fault::vector(format!("{program} is not bool"))),
        }
    }

    /// Assigns through the views that a destination is made of; the value is the whole input below them.
    pub(super) fn assign(&self, destination: &Value, source: &Value) -> Outcome<Typed> {
        let source = self.build(source)?;
        let (mut below, mut steps) = (destination, Vec::new());
        let name = loop {
            if let Some(name) = below.as_str() {
                break name;
            }
            let (op, arguments) = operation(below)?;
            let Some((x, options)) = operand(op, arguments)? else {
                return Err(Fault::vector(format!("{op} is not a view of a destination")));
            };
            steps.push((op, options));
            below = x;
        };
        steps.reverse();
        Ok(match (self.input(name)?, source) {
            (Typed::F64(x), Typed::F64(y)) => typed(self.written(x, &steps, y)?),
            (Typed::F64(x), y @ Typed::I64(_)) => typed(self.written(x, &steps, y.floats()?)?),
            (Typed::I64(x), Typed::I64(y)) => typed(self.written(x, &steps, y)?),
            (Typed::Bool(x), Typed::Bool(y)) => typed(self.written(x, &steps, y)?),
            _ => return Err(Fault::vector("the types of destination and source differ")),
        })
    }

    /// The whole destination after the assignment; after a refusal it must be what it was.
    fn written<T: Held>(
        &self,
        destination: Operand<T>,
        steps: &[(&str, &[Value])],
        source: Operand<T>,
    ) -> Outcome<Ragged<Vec<T>>> {
        let mut whole = destination.rows()?;
        let before = whole.to_vec()?;
        let (done, whole) = match whole.view().into_tensor() {
            Err(_) => (self.assigned(whole.view_mut(), steps, source), whole),
            Ok(_) => {
                let mut tensor = whole.into_tensor()?;
                (self.assigned(tensor.as_ragged_mut(), steps, source), tensor.into_ragged())
            }
        };
        if done.is_err() {
            unchanged(&before, &whole.to_vec()?)?;
        }
        done.map(|()| whole)
    }

    fn assigned<T: Held>(
        &self,
        destination: Ragged<&mut Vec<T>>,
        steps: &[(&str, &[Value])],
        source: Operand<T>,
    ) -> Outcome<()> {
        let mut view = destination;
        for (op, options) in steps {
            view = self.view(op, view, options)?;
        }
        match source {
            Operand::Number(x) => x.fill(view)?,
            Operand::Rows(y) => match y.as_tensor() {
                Ok(y) => view.assign(&y)?,
                Err(_) => view.assign(&*y)?,
            },
        }
        Ok(())
    }
}

fn unchanged<T: Element>(before: &[T], after: &[T]) -> Outcome<()> {
    let exact = Tolerance::of(&Value::Null);
    let same = before.iter().zip(after).all(|(x, y)| y.within(*x, &exact));
    let changed = || Fault::vector("refused, and the destination has changed");
    (same && before.len() == after.len()).then_some(()).ok_or_else(changed)
}
