//! Ragged values: read as inputs, and held against results.

use super::super::arrays::{Element, array};
use super::super::json::{Fault, Outcome, extent, extents, integer, items};
use super::super::results::{Tolerance, near};
use lensor::ragged::{ElementwiseRagged, Extent, Offsets, Ragged, Stretch};
use lensor::{Reader, Shape, Tensor};
use serde_json::Value;

/// How rows are laid out: all results are the same.
#[derive(Debug, Clone, Copy)]
pub(super) enum Layout {
    Usize,
    U32,
    U64,
    I32,
    I64,
    /// The innermost rows of inputs lie backwards, as views; other tables are as usual.
    Views,
}

impl Layout {
    pub(super) const ALL: [Self; 6] =
        [Self::Usize, Self::U32, Self::U64, Self::I32, Self::I64, Self::Views];

    /// A table of these numbers; a signed one of those that it cannot hold.
    pub(super) fn offsets(self, numbers: &[i64]) -> Outcome<Offsets> {
        fn cast<N: TryFrom<i64>>(numbers: &[i64]) -> Option<Vec<N>> {
            numbers.iter().map(|&number| N::try_from(number).ok()).collect()
        }
        let table = match self {
            Self::U32 => cast::<u32>(numbers).map(Offsets::new).transpose()?,
            Self::U64 => cast::<u64>(numbers).map(Offsets::new).transpose()?,
            Self::I32 => cast::<i32>(numbers).map(Offsets::new).transpose()?,
            Self::I64 => None,
            Self::Usize | Self::Views => cast::<usize>(numbers).map(Offsets::new).transpose()?,
        };
        match table {
            Some(table) => Ok(table),
            None => Ok(Offsets::new(numbers)?),
        }
    }

    /// A table that a vector lists.
    pub(super) fn listed(self, list: &Value) -> Outcome<Offsets> {
        let numbers = items(list)?.iter().map(|number| Ok(integer(number)? as i64));
        self.offsets(&numbers.collect::<Outcome<Vec<_>>>()?)
    }

    /// Rows of these lengths, with nothing in front and behind.
    fn of_lengths(self, lengths: &[usize]) -> Outcome<Offsets> {
        self.offsets(&ends(lengths))
    }
}

/// Where rows of these lengths begin, and where the last ends.
fn ends(lengths: &[usize]) -> Vec<i64> {
    let mut end = 0;
    let ends = lengths.iter().map(|&length| {
        end += length as i64;
        end
    });
    std::iter::once(0).chain(ends).collect()
}

/// A tensor, or a bare number.
pub(super) enum Operand<T> {
    Rows(Box<Ragged<Vec<T>>>),
    Number(T),
}

impl<T: Element> Operand<T> {
    pub(super) fn read(number: &Value) -> Outcome<Self> {
        T::of(number).map(Self::Number)
    }

    /// A number as a tensor without axes.
    pub(super) fn rows(self) -> Outcome<Ragged<Vec<T>>> {
        match self {
            Self::Rows(rows) => Ok(*rows),
            Self::Number(x) => {
                Ok(Tensor::from_vec(Shape::from(Vec::new()), vec![x])?.into_ragged())
            }
        }
    }
}

/// An operand of any element type.
pub(super) enum Typed {
    F64(Operand<f64>),
    I64(Operand<i64>),
    Bool(Operand<bool>),
}

/// Elements of operands.
pub(super) trait Held: Element {
    fn typed(operand: Operand<Self>) -> Typed;
    /// Assigns the number to all items.
    fn fill(self, destination: Ragged<&mut Vec<Self>>) -> lensor::Result<()>;
}

macro_rules! held {
    ($($type:ty: $Kind:ident)*) => { $(
        impl Held for $type {
            fn typed(operand: Operand<Self>) -> Typed {
                Typed::$Kind(operand)
            }

            fn fill(self, mut destination: Ragged<&mut Vec<Self>>) -> lensor::Result<()> {
                destination.assign(self)
            }
        }
    )* };
}
held!(f64: F64 i64: I64 bool: Bool);

/// A result as an operand.
pub(super) fn typed<T: Held>(rows: Ragged<Vec<T>>) -> Typed {
    T::typed(Operand::Rows(Box::new(rows)))
}

/// The same computation on the rows of an operand, whatever its elements are.
macro_rules! each {
    ($operand:expr, $x:ident => $result:expr) => {
        match $operand {
            Typed::F64(x) => {
                let $x = x.rows()?;
                $result
            }
            Typed::I64(x) => {
                let $x = x.rows()?;
                $result
            }
            Typed::Bool(x) => {
                let $x = x.rows()?;
                $result
            }
        }
    };
}
pub(super) use each;

impl Typed {
    pub(super) fn read(value: &Value, layout: Layout) -> Outcome<Self> {
        match value["dtype"].as_str() {
            Some("f64") => Ok(typed(read::<f64>(value, layout)?)),
            Some("i64") => Ok(typed(read::<i64>(value, layout)?)),
            Some("bool") => Ok(typed(read::<bool>(value, layout)?)),
            _ => Err(Fault::vector(format!("unknown dtype {}", value["dtype"]))),
        }
    }

    /// Holds it against the value that is expected, as it stands and copied row by row.
    pub(super) fn check(
        self,
        expected: &Value,
        tolerance: &Tolerance,
        stretch: Stretch,
    ) -> Outcome<()> {
        each!(self, x => {
            holds(&x, expected, tolerance)?;
            let copied = x.map(|element| element).eval_with(stretch)?;
            holds(&copied, expected, tolerance)
        })
    }
}

/// The lengths that nested lists have, and what they hold.
struct Nested<'v> {
    /// Extents of the axes; none of a var axis.
    axes: Vec<Option<usize>>,
    /// Of each var axis the lengths of all rows.
    lengths: Vec<Vec<usize>>,
    leaves: Vec<&'v Value>,
}

impl<'v> Nested<'v> {
    fn of(value: &'v Value) -> Outcome<Self> {
        let kind = |kind: &Value| (kind != "var").then(|| extent(kind)).transpose();
        let axes = items(&value["form"])?.iter().map(kind).collect::<Outcome<Vec<_>>>()?;
        let (mut all, mut leaves) = (Vec::new(), vec![&value["rows"]]);
        for axis in &axes {
            let rows = leaves.into_iter().map(items).collect::<Outcome<Vec<_>>>()?;
            let lengths: Vec<usize> = rows.iter().map(|row| row.len()).collect();
            match axis {
                None => all.push(lengths),
                Some(extent) => {
                    if let Some(other) = lengths.iter().find(|&length| length != extent) {
                        let why = format!("a list of {other} items where {extent} are the extent");
                        return Err(Fault::vector(why));
                    }
                }
            }
            leaves = rows.into_iter().flatten().collect();
        }
        Ok(Self { axes, lengths: all, leaves })
    }

    /// Levels from the innermost out, each around the one before.
    fn build<T: Element>(&self, layout: Layout) -> Outcome<Ragged<Vec<T>>> {
        let elements = self.leaves.iter().map(|leaf| T::of(leaf)).collect::<Outcome<Vec<_>>>()?;
        let mut blocks = vec![Vec::new()];
        for axis in &self.axes {
            match (axis, blocks.last_mut()) {
                (Some(extent), Some(block)) => block.push(*extent),
                _ => blocks.push(Vec::new()),
            }
        }
        let trailing = blocks.pop().unwrap_or_default();
        let mut inner = None;
        for (level, lengths) in self.lengths.iter().enumerate().rev() {
            let above = level.checked_sub(1).map(|above| self.lengths[above].iter().sum());
            let lead: Vec<usize> = above.into_iter().chain(blocks[level].iter().copied()).collect();
            inner = Some(match inner.take() {
                None => innermost(lead, lengths, &trailing, &elements, layout)?,
                Some(rows) => Ragged::nest(rows, lead, layout.of_lengths(lengths)?)?,
            });
        }
        inner.ok_or_else(|| Fault::vector("a form without a var axis"))
    }
}

fn innermost<T: Element>(
    lead: Vec<usize>,
    lengths: &[usize],
    trailing: &[usize],
    elements: &[T],
    layout: Layout,
) -> Outcome<Ragged<Vec<T>>> {
    let (ends, width) = (ends(lengths), trailing.iter().product::<usize>().max(1));
    let count = lengths.iter().sum::<usize>();
    let shape: Vec<usize> = std::iter::once(count).chain(trailing.iter().copied()).collect();
    let Layout::Views = layout else {
        let content = Tensor::from_vec(shape, elements.to_vec())?;
        return Ok(Ragged::new(lead, layout.offsets(&ends)?, content)?);
    };
    let backwards = elements.chunks(width).rev().flatten().copied().collect();
    let content = Tensor::from_vec(shape, backwards)?;
    let starts = ends[..lengths.len()].iter().map(|&end| count.saturating_sub(end as usize + 1));
    Ok(Ragged::from_views(lead, starts.collect(), lengths.to_vec(), -1, content)?)
}

fn read<T: Element>(value: &Value, layout: Layout) -> Outcome<Ragged<Vec<T>>> {
    match value.get("form") {
        Some(_) => Nested::of(value)?.build(layout),
        None => dense(array(value)?),
    }
}

/// The elements of a tensor as a value.
pub(super) fn dense<S: Reader>(tensor: Tensor<S>) -> Outcome<Ragged<Vec<S::Elem>>> {
    Ok(Tensor::from_vec(tensor.shape(), tensor.to_vec()?)?.into_ragged())
}

/// Holds a result against the value that is expected.
fn holds<T: Element>(
    found: &Ragged<Vec<T>>,
    expected: &Value,
    tolerance: &Tolerance,
) -> Outcome<()> {
    if expected["dtype"] != T::DTYPE {
        return Err(Fault::vector(format!("dtype {}, expected {}", T::DTYPE, expected["dtype"])));
    }
    let about = |fault| Fault::vector(format!("the value that is expected: {fault}"));
    let nested = match expected.get("form") {
        Some(_) => Nested::of(expected).map_err(about)?,
        None => {
            let axes = extents(&expected["shape"])?.into_iter().map(Some).collect();
            let leaves = items(&expected["data"])?.iter().collect();
            Nested { axes, lengths: Vec::new(), leaves }
        }
    };
    let form = found.form()?;
    let kinds: Vec<Extent> =
        nested.axes.iter().map(|axis| axis.map_or(Extent::Var, Extent::Fixed)).collect();
    if found.extents() != kinds || form.extents() != kinds {
        let wanted = expected.get("form").unwrap_or(&expected["shape"]);
        return Err(Fault::vector(format!("form {form}, expected {wanted}")));
    }
    let var_axes = (0..kinds.len()).filter(|&axis| kinds[axis] == Extent::Var);
    for (axis, lengths) in var_axes.zip(&nested.lengths) {
        let found = form.lengths(axis)?;
        if found != *lengths {
            let what = format!("lengths {found:?} of axis {axis}, expected {lengths:?}");
            return Err(Fault::vector(what));
        }
    }
    near(&found.to_vec()?, nested.leaves, tolerance)
}
