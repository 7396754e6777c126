//! Assignment: rows of a destination keep their lengths, those of the source have them or are stretched.

use super::eval::at_path;
use super::expr::{Ahead, PairsRagged, RaggedExpr};
use super::form::{Axis, Extent, Form, path, shape_of};
use super::joint::{ALL, Joint, tail_of};
use super::places::{Lengths, Places, follow};
use super::{Ragged, Stretch};
use crate::dtype::{Arithmetic, Bits};
use crate::error::{Error, Result};
use crate::expr::*;
use crate::memory::try_with_capacity;
use crate::storage::Writer;
use crate::tensor::Tensor;

impl<W: Writer> Ragged<W> {
    /// Computes `source` into this tensor or view. The destination keeps its rows and never stretches: rows of the
    /// source have its lengths, or one item that stretches.
    ///
    /// # Errors
    ///
    /// Before anything is written: [`Error::Destination`] for fixed extents that do not fit and for a source with more
    /// axes, [`Error::RowLength`] for rows that do not fit, [`Error::OverlappingRows`] and [`Error::NotInjective`] if
    /// an item would be written twice, and what joining the operands of `source` reports. Then what its evaluation
    /// reports; this tensor is partly written.
    ///
    /// ```
    /// use lensor::Tensor;
    /// use lensor::ragged::Ragged;
    /// let mut t = Tensor::from_nested([[5, 6, 7], [8, 9, 10]])?;
    /// t.as_ragged_mut().assign(&Ragged::from_nested(vec![vec![1, 2, 3], vec![4]])?)?;
    /// assert_eq!(t.to_vec()?, [1, 2, 3, 4, 4, 4]);
    ///
    /// let mut r = Ragged::from_nested(vec![vec![1, 2, 3], vec![], vec![4]])?;
    /// r.view_mut().clip(1, ..2)?.assign(0)?;
    /// assert_eq!(r.to_string(), "[[0, 0, 3], [], [0]]");
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn assign<R>(&mut self, source: R) -> Result<()>
    where
        W::Elem: PairsRagged<R>,
    {
        self.assign_expr(&<W::Elem as PairsRagged<R>>::pair(source))
    }

    pub(super) fn assign_expr<E: RaggedExpr<Elem = W::Elem>>(&mut self, e: &E) -> Result<()> {
        let joint = self.target(e, Stretch::Rows)?;
        let flat = e.flat(&joint)?;
        let mut out = self.destination(&joint)?;
        let done = out.assign(Lazy(flat));
        done.map_err(|error| self.overlapping(at_path(error, &joint)))
    }

    /// Holds the destination against the rows of a source which does not stretch.
    pub(super) fn check_destination<E: RaggedExpr>(&mut self, e: &E) -> Result<()> {
        let joint = self.target(e, Stretch::Strict)?;
        let checked = self.destination(&joint)?.address_map().check_injective();
        checked.map_err(|error| self.overlapping(error))
    }

    /// The destination's form as that to which the leaves of an expression are brought.
    fn target<'e, E: RaggedExpr>(&self, e: &'e E, stretch: Stretch) -> Result<Joint<'e>> {
        let (own, source) = (self.kinds(), e.extents()?);
        let refused = || Error::Destination { expected: shape_of(&own), found: shape_of(&source) };
        let Some(missing) = own.len().checked_sub(source.len()) else { return Err(refused()) };
        let stretches = stretch == Stretch::Rows;
        if missing > 0 && !stretches {
            return Err(refused());
        }
        let fits = |(&own, &source): (&Extent, &Extent)| match (own, source) {
            (Extent::Fixed(own), Extent::Fixed(source)) => {
                source == own || (stretches && source == 1)
            }
            _ => true,
        };
        if !own[missing..].iter().zip(&source).all(fits) {
            return Err(refused());
        }
        let form = self.form()?;
        let (some, ahead) = (!matches!(form.count(), Ok(0)), e.ahead());
        // Nothing is computed for no items, nor for rows that are known not to fit.
        let mut source = match some && ahead != Ahead::Items {
            true => e.joint(stretch)?,
            false => e.outline(stretch)?,
        };
        check(&form, &source.form, stretches)?;
        if some && ahead == Ahead::Items {
            source = e.joint(stretch)?;
        }
        let tail = tail_of(&form).min(source.tail);
        Ok(Joint { form, tail, kept: source.kept })
    }

    /// The items in row-major order, to be written.
    fn destination(&mut self, joint: &Joint<'_>) -> Result<Tensor<&mut W>> {
        match joint.tail {
            ALL => Ok(self.content.view_mut()),
            tail => self.view_mut().packed_items(tail),
        }
    }

    /// Items that lie twice in the content as rows that share them.
    fn overlapping(&self, error: Error) -> Error {
        let shared = || {
            let rows = &self.form().ok()?.rows()?.clone();
            let content = self.view().into_items().ok()?;
            let width = content.len().checked_div(rows.last())?;
            let map = content.address_map();
            let mut items = try_with_capacity(rows.last()).ok()?;
            items.extend((0..rows.last()).map(|item| (map.address_at(item * width), item)));
            items.sort_unstable();
            let twice = items.windows(2).filter(|pair| pair[0].0 == pair[1].0);
            twice.map(|pair| [pair[1].1, pair[0].1].map(|item| rows.row_of(item))).min()
        };
        match error {
            Error::NotInjective { axis } => match shared() {
                Some([second, first]) => Error::OverlappingRows { rows: [first, second] },
                None => match self.content.address_map().check_injective() {
                    Err(Error::NotInjective { axis }) => {
                        let front = self.form().map_or(0, |form| form.depth().saturating_sub(1));
                        Error::NotInjective { axis: axis + front }
                    }
                    _ => Error::NotInjective { axis },
                },
            },
            error => error,
        }
    }
}

/// Holds the rows of a source against those of a destination.
pub(super) fn check(form: &Form, source: &Form, stretches: bool) -> Result<()> {
    let own = &form.axes;
    let source = |axis: usize| source.axis_at(axis, own.len());
    let is_var = |axis: usize| {
        matches!(own[axis], Axis::Var(_)) || matches!(source(axis), Some(Axis::Var(_)))
    };
    let Some(last) = (0..own.len()).rev().find(|&axis| is_var(axis)) else { return Ok(()) };
    let (mut places, mut items) = (Places::Same, 1);
    for axis in 0..=last {
        let from = source(axis);
        if from.is_none() {
            places = Places::First;
        }
        let lengths = Lengths::of(&own[axis], items);
        let same = match (&own[axis], from, &places) {
            (Axis::Var(own), Some(Axis::Var(from)), Places::Same) => own.has_lengths_of(from),
            _ => false,
        };
        if let (Some(from), true) = (from, is_var(axis) && !same) {
            let mut wrong = None;
            let (differing, alike) = match &lengths {
                Lengths::Fixed(rows, length) => {
                    let alike = places.neighbours(*rows);
                    (Lengths::Fixed(rows.div_ceil(alike), *length), alike)
                }
                lengths => (lengths.clone(), 1),
            };
            differing.for_each(|number, expected| {
                let row = number * alike;
                let found = match from {
                    Axis::Fixed(extent) => *extent,
                    Axis::Var(rows) => rows.length(places.at(row)),
                };
                if found != expected && !(stretches && found == 1) && wrong.is_none() {
                    wrong = Some((row, found, expected));
                }
            });
            if let Some((row, items, expected)) = wrong {
                let row = path(&own[..axis], axis, row);
                return Err(Error::RowLength { row, axis, items, expected });
            }
        }
        if axis < last {
            places = follow(places, from, &lengths)?;
            items = lengths.total()?;
        }
    }
    Ok(())
}

macro_rules! assignments {
    ($($Op:ident: $Trait:ident $method:ident $try_method:ident, $Bound:ident $sign:literal;)*) => { $(
        impl<W: Writer> Ragged<W> {
            #[doc = concat!("Replaces every element `a` by `a ", $sign, " b`, in place, `b` stretched to these rows.")]
            ///
            /// # Errors
            ///
            /// As [`Self::assign`], which has an example, and [`Error::Arithmetic`] for an integer division by zero.
            pub fn $try_method<R>(&mut self, b: R) -> Result<()>
            where
                W::Elem: $Bound + PairsRagged<R>,
            {
                let e = <W::Elem as PairsRagged<R>>::pair(b);
                let joint = self.target(&e, Stretch::Rows)?;
                let flat = e.flat(&joint)?;
                let mut out = self.destination(&joint)?;
                let done = update_with($Op, &mut out, flat, &|b| $Op.fault((b, b)));
                done.map_err(|error| self.overlapping(at_path(error, &joint)))
            }
        }
    )* };
}
for_assignments!(assignments);
for_assignments!(assignment_operators [Ragged PairsRagged]);
