//! Joint forms: how the rows of operands meet.

use super::Stretch;
use super::form::{Axis, Extent, Form, join_kinds, path};
use super::groups::counted;
use super::offsets::Offsets;
use super::places::{Lengths, Places, follow};
use crate::error::{Error, Result};
use crate::expr::Hold;
use crate::memory::try_with_capacity;
use crate::shape::Shape;
use smallvec::SmallVec;
use std::fmt::{self, Formatter};
use std::sync::Arc;

/// The rank that all leaves without a var axis leave to the tail.
pub(super) const ALL: usize = usize::MAX;

/// The form of an expression, and how many of its last axes are fixed in all of its leaves.
#[derive(Clone)]
pub struct Joint<'k> {
    pub(super) form: Form,
    pub(super) tail: usize,
    /// What was computed to know it, and is read by what evaluates.
    pub(super) kept: Vec<Arc<dyn Hold + 'k>>,
}

impl fmt::Debug for Joint<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Joint").field("form", &self.form).field("tail", &self.tail).finish()
    }
}

/// How many of the last axes of a leaf are fixed.
pub(super) fn tail_of(form: &Form) -> usize {
    match form.depth() {
        0 => ALL,
        depth => form.rank() - depth,
    }
}

impl Joint<'_> {
    /// Of one leaf.
    pub(super) fn of(form: Form) -> Self {
        let tail = tail_of(&form);
        Self { form, tail, kept: Vec::new() }
    }

    /// The axes that rows are of, before those that are fixed in all leaves.
    pub(super) fn cut(&self) -> usize {
        self.form.rank().saturating_sub(self.tail)
    }

    /// Whether there are no elements.
    pub(super) fn is_empty(&self) -> bool {
        self.form.count() == Ok(0)
    }

    /// The shape of the items: the axes that are cut as one axis, if there are any, and the tail.
    pub(super) fn shape(&self) -> Shape {
        let (front, tail) = self.form.axes.split_at(self.cut());
        let items = (!front.is_empty()).then(|| counted(front));
        items.into_iter().chain(tail.iter().filter_map(|axis| axis.kind().fixed())).collect()
    }

    /// Joins the next operand, the first of which has number 1.
    pub(super) fn join(self, next: Self, argument: usize, stretch: Stretch) -> Result<Self> {
        let tail = self.tail.min(next.tail);
        let mut kept = self.kept;
        kept.extend(next.kept);
        let form = if argument == 1 {
            next.form
        } else {
            join(&self.form, &next.form, argument, stretch)?
        };
        Ok(Self { form, tail, kept })
    }
}

/// The joint form of the operands so far and of the next one.
pub(super) fn join(a: &Form, b: &Form, argument: usize, stretch: Stretch) -> Result<Form> {
    let kinds = join_kinds(&a.kinds(), &b.kinds(), argument)?;
    let rank = kinds.len();
    let owns = |axis| [a, b].map(|form| form.axis_at(axis, rank));
    let is_var = |&axis: &usize| owns(axis).iter().any(|own| matches!(own, Some(Axis::Var(_))));
    let last = (0..rank).rev().find(is_var);
    let (mut places, mut items) = ([Places::Same, Places::Same], 1);
    let mut joined: SmallVec<[Axis; 4]> = SmallVec::new();
    for (axis, &kind) in kinds.iter().enumerate() {
        if last.is_none_or(|last| axis > last) {
            // No row is looked at from here on.
            joined.extend(kind.fixed().map(Axis::Fixed));
            continue;
        }
        let own = owns(axis);
        for (own, place) in own.iter().zip(&mut places) {
            if own.is_none() {
                *place = Places::First;
            }
        }
        let (front, places_of) = (&joined[..], places.each_ref());
        let meeting = Meeting { own, places: places_of, items, front, axis, argument, stretch };
        let next = meeting.join(kind)?;
        let lengths = Lengths::of(&next, items);
        items = lengths.total()?;
        if last != Some(axis) {
            let [of_a, of_b] = places;
            places = [follow(of_a, own[0], &lengths)?, follow(of_b, own[1], &lengths)?];
        }
        joined.push(next);
    }
    Ok(Form { axes: joined })
}

/// Where two operands meet along an axis.
struct Meeting<'m> {
    own: [Option<&'m Axis>; 2],
    places: [&'m Places; 2],
    /// Rows of the result.
    items: usize,
    /// The axes of the result in front.
    front: &'m [Axis],
    axis: usize,
    argument: usize,
    stretch: Stretch,
}

impl Meeting<'_> {
    fn join(&self, kind: Extent) -> Result<Axis> {
        let [a, b] = self.own;
        if let Extent::Fixed(extent) = kind {
            self.check(extent)?;
            return Ok(Axis::Fixed(extent));
        }
        let (rows, places) = match [a, b] {
            [Some(Axis::Var(a)), Some(Axis::Var(b))] => {
                return self.lengths(a, b).map(Axis::Var);
            }
            [Some(Axis::Var(a)), _] => (a, self.places[0]),
            [_, Some(Axis::Var(b))] => (b, self.places[1]),
            _ => return Ok(Axis::Fixed(1)),
        };
        Ok(Axis::Var(match places {
            Places::Same if rows.rows() == self.items => rows.clone(),
            places => {
                Offsets::from_lengths((0..self.items).map(|row| rows.length(places.at(row))))?
            }
        }))
    }

    fn refused(&self, row: usize, found: [usize; 2]) -> Error {
        Error::RaggedOperands {
            argument: self.argument,
            items: found[1],
            so_far: found[0],
            row: path(self.front, self.front.len(), row),
            axis: self.axis,
        }
    }

    /// Rows that meet an extent have it, or are stretched.
    fn check(&self, extent: usize) -> Result<()> {
        let length = |own: Option<&Axis>, places: &Places, row| match own {
            Some(Axis::Var(rows)) => rows.length(places.at(row)),
            _ => extent,
        };
        // One of the two is fixed, or both.
        let alike = |k: usize| match self.own[k] {
            Some(Axis::Var(_)) => self.places[k].neighbours(self.items),
            _ => self.items.max(1),
        };
        for row in (0..self.items).step_by(alike(0).min(alike(1))) {
            let found = [0, 1].map(|k: usize| length(self.own[k], self.places[k], row));
            let fits =
                |&length: &usize| length == extent || length == 1 && self.stretch == Stretch::Rows;
            if !found.iter().all(fits) {
                return Err(self.refused(row, found));
            }
        }
        Ok(())
    }

    /// Joint lengths of rows.
    fn lengths(&self, a: &Offsets, b: &Offsets) -> Result<Offsets> {
        let [in_a, in_b] = self.places;
        let straight = matches!((in_a, in_b), (Places::Same, Places::Same));
        if straight && a.has_lengths_of(b) {
            return Ok(a.clone());
        }
        let mut lengths = try_with_capacity(self.items)?;
        let mut as_a = matches!(in_a, Places::Same) && a.rows() == self.items;
        let mut as_b = matches!(in_b, Places::Same) && b.rows() == self.items;
        for row in 0..self.items {
            let (of_a, of_b) = (a.length(in_a.at(row)), b.length(in_b.at(row)));
            let stretches = self.stretch == Stretch::Rows;
            let length = match (of_a, of_b) {
                (x, y) if x == y => x,
                (1, y) if stretches => y,
                (x, 1) if stretches => x,
                found => return Err(self.refused(row, found.into())),
            };
            as_a &= length == of_a;
            as_b &= length == of_b;
            lengths.push(length);
        }
        match (as_a, as_b) {
            (true, _) => Ok(a.clone()),
            (_, true) => Ok(b.clone()),
            _ => Offsets::from_lengths(lengths),
        }
    }
}
