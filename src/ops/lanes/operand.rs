//! Operands that are read lane by lane.

use super::extents::without;
use crate::error::{Error, Result};
use crate::expr::{Expr, Lazy, first_error, selectors};
use crate::map::{AddressMap, Pattern};
use crate::shape::Shape;
use crate::tensor::Tensor;
use std::ops::Range;

/// An operand that is read lane by lane.
pub(super) struct Operand<'e, E: Expr + 'e> {
    whole: &'e Lazy<E>,
    /// The same with the axis of the lanes last.
    moved: Lazy<E::Ref<'e>>,
    pub(super) length: usize,
    buffer: Vec<E::Elem>,
}

impl<'e, E: Expr> Operand<'e, E> {
    pub(super) fn new(whole: &'e Lazy<E>, axis: usize, kept: &Shape) -> Result<Self> {
        let shape = whole.shape()?;
        let own = without(&shape, axis)?;
        if own != *kept {
            return Err(Error::Destination { expected: kept.to_vec(), found: own.to_vec() });
        }
        let moved = Lazy(whole.0.by_ref()).move_axis(axis, shape.rank() - 1)?;
        Ok(Self { whole, moved, length: shape[axis], buffer: Vec::new() })
    }

    /// Memory and map, if each lane lies there from its first element to its last.
    fn in_memory(&self) -> Option<(&[E::Elem], &AddressMap)> {
        self.moved.in_memory().filter(|(_, map)| {
            let (top, last) = (map.top(), map.rank().saturating_sub(1));
            let stride = top.plain_axes().last().map(|axis| axis.stride);
            let follows = stride == Some(1) && matches!(top.pattern(last), Pattern::Linear);
            map.rest().is_empty() && (follows || self.length == 1)
        })
    }

    /// How lanes are had, in words, if there are any.
    pub(super) fn explain(&self) -> Option<&'static str> {
        match self.is_direct() {
            _ if self.length == 0 => None,
            true => Some("read where it lies"),
            false => Some("evaluated to scratch memory"),
        }
    }

    /// Whether lanes are handed out where they are.
    pub(super) fn is_direct(&self) -> bool {
        self.length == 0 || self.in_memory().is_some()
    }

    /// The lanes from number `first` on, which are those of a box of the other axes.
    pub(super) fn read(
        &mut self,
        first: usize,
        ranges: &[Range<usize>],
    ) -> Result<LaneSlices<'_, E::Elem>> {
        let length = self.length;
        if !self.is_direct() {
            let part = Lazy(self.moved.0.by_ref()).select(selectors(ranges))?;
            refill(&mut self.buffer, &part).map_err(|error| first_error(self.whole, error))?;
        }
        let (elements, starts) = match self.in_memory() {
            Some((elements, map)) if map.is_contiguous() => {
                (elements, Starts::Regular(map.top().offset() + first * length))
            }
            Some((elements, map)) => (elements, Starts::Mapped { map, first }),
            None => (self.buffer.as_slice(), Starts::Regular(0)),
        };
        Ok(LaneSlices { elements, length, starts })
    }
}

/// Lanes of two operands that go together.
pub(super) type Both<'a, 'g, T, U> = (&'a LaneSlices<'g, T>, &'a LaneSlices<'g, U>);

/// Neighbouring lanes of one operand in memory.
#[derive(Debug, Clone, Copy)]
pub struct LaneSlices<'g, T> {
    elements: &'g [T],
    pub(super) length: usize,
    starts: Starts<'g>,
}

#[derive(Debug, Clone, Copy)]
enum Starts<'g> {
    /// One lane follows another, from this address on.
    Regular(usize),
    /// The lanes start where a map says, from the lane of this number on.
    Mapped { map: &'g AddressMap, first: usize },
}

impl<'g, T> LaneSlices<'g, T> {
    /// Lanes of `length` elements, one after another.
    pub(super) fn new(elements: &'g [T], length: usize) -> Self {
        Self { elements, length, starts: Starts::Regular(0) }
    }

    /// Several lanes, if they follow one another.
    #[inline]
    pub(super) fn several(&self, lanes: Range<usize>) -> Option<&'g [T]> {
        match self.starts {
            Starts::Regular(start) => self
                .elements
                .get(start + lanes.start * self.length..start + lanes.end * self.length),
            Starts::Mapped { .. } => None,
        }
    }

    #[inline]
    pub(super) fn lane(&self, k: usize) -> Result<&'g [T]> {
        if self.length == 0 {
            return Ok(&[]);
        }
        let start = match self.starts {
            Starts::Regular(start) => start + k * self.length,
            Starts::Mapped { map, first } => map.address_at((first + k) * self.length),
        };
        let span = start..start + self.length;
        let lane = self.elements.get(span.clone());
        lane.ok_or_else(|| Error::OutOfSpan { span, len: self.elements.len() })
    }
}

/// Evaluates `e` to the start of a buffer, which grows if it must.
pub(super) fn refill<E: Expr>(buffer: &mut Vec<E::Elem>, e: &Lazy<E>) -> Result<()> {
    let shape = e.shape()?;
    if buffer.len() < shape.count()? {
        *buffer = e.to_vec()?;
        return Ok(());
    }
    e.assign_to(&mut Tensor::new(shape, buffer)?)
}
