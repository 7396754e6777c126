//! Which axes to reduce.

use crate::error::{Error, Result};
use crate::shape::Shape;
use smallvec::SmallVec;
use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

/// Whether each axis is meant.
pub(crate) type Mask = SmallVec<[bool; 8]>;

/// Axes of a reduction: `..` for all, `1` for one, `[0, 2]` or `1..` for several, `[]` for none.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum Axes {
    /// Every axis.
    #[default]
    All,
    /// This one.
    One(usize),
    /// These.
    Listed(Vec<usize>),
    /// This one and all after it, none if it is the rank.
    From(usize),
}

impl Axes {
    /// Whether each axis of a tensor of this rank is among them.
    pub(crate) fn mask(&self, rank: usize) -> Result<Mask> {
        let axes = match self {
            Self::All => return Ok(uniform(true, rank)),
            Self::One(axis) => std::slice::from_ref(axis),
            Self::Listed(axes) => axes,
            &Self::From(axis) if axis > rank => return Err(Error::Axis { axis, rank }),
            &Self::From(first) => return Ok((0..rank).map(|axis| axis >= first).collect()),
        };
        let mut mask = uniform(false, rank);
        for &axis in axes {
            match mask.get_mut(axis) {
                None => return Err(Error::Axis { axis, rank }),
                Some(true) => return Err(Error::RepeatedAxis { axis }),
                Some(slot) => *slot = true,
            }
        }
        Ok(mask)
    }
}

/// The same for every axis. A buffer is copied, while elements are pushed one by one by `from_elem`.
fn uniform(is_meant: bool, rank: usize) -> Mask {
    match rank {
        0..=8 => Mask::from_buf_and_len([is_meant; 8], rank),
        _ => Mask::from_elem(is_meant, rank),
    }
}

/// What names the axes of a fold: `..`, an axis, a range, an array, a slice or a vector of them, or [`Axes`]; or a type of
/// your own.
///
/// ```
/// use lensor::prelude::*;
/// use lensor::reduce::{Axes, IntoAxes};
/// enum Grid {
///     Time,
///     Place,
/// }
/// impl IntoAxes for Grid {
///     fn into_axes(self) -> Axes {
///         match self {
///             Grid::Time => 0.into_axes(),
///             Grid::Place => [1, 2].into_axes(),
///         }
///     }
/// }
/// let rain = Tensor::from_vec([2, 1, 3], vec![1.0, 2.0, 3.0, 5.0, 6.0, 7.0])?;
/// assert_eq!(rain.mean(Grid::Time).to_vec()?, [3.0, 4.0, 5.0]);
/// assert_eq!(rain.max(Grid::Place).to_vec()?, [3.0, 7.0]);
/// # Ok::<(), Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` names no axes to fold",
    label = "an axis, a list of axes or `..` is expected",
    note = "axes are `..` for all, `1` for one, `[0, 2]`, `0..2`, `1..` or a `Vec<usize>` for several",
    note = "`max` and `min` fold: the larger and the smaller of two elements are `a.maximum(b)` and `a.minimum(b)`"
)]
pub trait IntoAxes {
    /// The axes.
    fn into_axes(self) -> Axes;
}

// Not of the macro, since the compiler's message on what names no axes shows this one.
impl IntoAxes for usize {
    fn into_axes(self) -> Axes {
        Axes::One(self)
    }
}

macro_rules! axes {
    ($([$($generics:tt)*] $type:ty: |$given:ident| $axes:expr;)*) => { $(
        impl<$($generics)*> IntoAxes for $type {
            fn into_axes(self) -> Axes {
                let $given = self;
                $axes
            }
        }
    )* };
}
axes! {
    [] Axes: |axes| axes;
    [] RangeFull: |_all| Axes::All;
    [] Range<usize>: |range| listed(range);
    [] RangeInclusive<usize>: |range| listed(range);
    [] RangeTo<usize>: |range| listed(0..range.end);
    [] RangeToInclusive<usize>: |range| listed(0..=range.end);
    [] RangeFrom<usize>: |range| Axes::From(range.start);
    [] Vec<usize>: |axes| Axes::Listed(axes);
    [] &[usize]: |axes| Axes::Listed(axes.to_vec());
    [] &Vec<usize>: |axes| axes.as_slice().into_axes();
    [const N: usize] [usize; N]: |axes| axes.as_slice().into_axes();
    [const N: usize] &[usize; N]: |axes| axes.as_slice().into_axes();
}

/// One beyond the highest rank is refused like any other. A range without axes folds nothing, as `[]` does.
fn listed(axes: impl Iterator<Item = usize>) -> Axes {
    Axes::Listed(axes.take(Shape::MAX_RANK + 1).collect())
}
