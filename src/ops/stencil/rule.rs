//! Differences along one axis: which elements, and with which weights.

use super::spacing::{Checked, Spacing};
use crate::dtype::Real;
use crate::error::{Error, Result};
use crate::memory::push;
use std::fmt;

/// How exact first derivatives are at the two ends of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum EdgeOrder {
    /// The difference to the only neighbour: exact for polynomials of degree 1.
    #[default]
    First,
    /// Weights of the nearest three elements: exact for degree 2, as it is elsewhere.
    Second,
}

/// One value of a derivative, in terms of the elements along the axis.
#[derive(Debug, Clone, Copy)]
pub(super) enum Tap<T> {
    /// `(x[high] - x[low]) / by`.
    Difference { high: usize, low: usize, by: T },
    /// `((x[start + 2] - x[start + 1]) - (x[start + 1] - x[start])) / by`, see [`curvature`].
    Curvature { start: usize, by: T },
    /// The sum of three elements from `start` on, each times its weight.
    Weighted { start: usize, weights: [T; 3] },
}

/// A derivative along one axis.
#[derive(Debug, Clone)]
pub(super) struct Rule<'s, T> {
    extent: usize,
    order: DerivativeOrder,
    spacing: &'s Spacing<T>,
}

/// Which derivative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DerivativeOrder {
    First(EdgeOrder),
    Second,
}

impl<'s, T: Real> Rule<'s, T> {
    pub(super) fn new(
        axis: usize,
        extent: usize,
        order: DerivativeOrder,
        Checked { spacing, repeated }: &'s Checked<T>,
    ) -> Result<Self> {
        let window = if order == DerivativeOrder::First(EdgeOrder::First) { 2 } else { 3 };
        if extent < window {
            return Err(Error::Window { axis, window, extent });
        }
        if let Spacing::At(coordinates) = spacing
            && coordinates.len() != extent
        {
            let found = coordinates.len();
            return Err(Error::ListLength { what: "coordinates", axis, extent, found });
        }
        match *repeated {
            Some(at) => Err(Error::RepeatedCoordinate { axis, at }),
            None => Ok(Self { extent, order, spacing }),
        }
    }

    /// Weights of every index but the ends, where distances differ.
    pub(super) fn weights(&self) -> Result<[Vec<T>; 3]> {
        let mut weights: [Vec<T>; 3] = Default::default();
        if let Spacing::At(coordinates) = self.spacing {
            for index in 1..self.extent - 1 {
                for (all, weight) in weights.iter_mut().zip(self.weights_at(coordinates, index)) {
                    push(all, weight)?;
                }
            }
        }
        Ok(weights)
    }

    /// How far from an index its elements lie, at the most.
    pub(super) const REACH: usize = 2;

    pub(super) fn extent(&self) -> usize {
        self.extent
    }

    /// The value at `index`.
    #[inline]
    pub(super) fn tap(&self, index: usize) -> Tap<T> {
        let last = self.extent - 1;
        let inside = index > 0 && index < last;
        let start = index.saturating_sub(1).min(self.extent.saturating_sub(3));
        match (self.spacing, self.order) {
            (Spacing::Uniform(h), DerivativeOrder::First(_)) if inside => {
                Tap::Difference { high: index + 1, low: index - 1, by: h.plus(*h) }
            }
            (Spacing::Uniform(h), DerivativeOrder::First(EdgeOrder::First)) => {
                let low = index.min(last - 1);
                Tap::Difference { high: low + 1, low, by: *h }
            }
            (Spacing::At(x), DerivativeOrder::First(EdgeOrder::First)) if !inside => {
                let low = index.min(last - 1);
                Tap::Difference { high: low + 1, low, by: x[low + 1].minus(x[low]) }
            }
            (Spacing::Uniform(h), DerivativeOrder::First(EdgeOrder::Second)) => {
                let one = T::one();
                let (two, half) = (one.plus(one), one.over(one.plus(one)));
                let near = one.plus(half).over(*h);
                let (middle, far) = (two.over(*h), half.over(*h));
                let weights = if index == 0 {
                    [near.negated(), middle, far.negated()]
                } else {
                    [far, middle.negated(), near]
                };
                Tap::Weighted { start, weights }
            }
            (Spacing::Uniform(h), DerivativeOrder::Second) => {
                Tap::Curvature { start, by: h.times(*h) }
            }
            (Spacing::At(x), _) => Tap::Weighted { start, weights: self.weights_at(x, index) },
        }
    }

    /// Weights of three neighbours, the distances between which are `a` and `b`: the derivative at one of
    /// them of the parabola through all.
    fn weights_at(&self, x: &[T], index: usize) -> [T; 3] {
        let start = index.saturating_sub(1).min(self.extent - 3);
        let (a, b) = (x[start + 1].minus(x[start]), x[start + 2].minus(x[start + 1]));
        let both = a.plus(b);
        let (low, middle, high) = (a.times(both), a.times(b), b.times(both));
        let [low_part, middle_part, high_part] = match (self.order, index - start) {
            (DerivativeOrder::Second, _) => {
                let two = T::one().plus(T::one());
                [two, two.negated(), two]
            }
            (_, 0) => [a.plus(both).negated(), both, a.negated()],
            (_, 1) => [b.negated(), b.minus(a), a],
            _ => [b, both.negated(), b.plus(both)],
        };
        [low_part.over(low), middle_part.over(middle), high_part.over(high)]
    }
}

impl<T: Real> fmt::Display for Rule<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, by) = match self.tap(1) {
            Tap::Difference { by, .. } => ("differences", by),
            Tap::Curvature { by, .. } => ("second differences", by),
            Tap::Weighted { .. } => return f.write_str("three elements, weighted"),
        };
        let how = if by.exact_reciprocal().is_some() { "times a reciprocal" } else { "divided" };
        write!(f, "{what}, {how}")
    }
}

impl<T: Real> Tap<T> {
    /// The value, of elements that `x` gives.
    #[inline(always)]
    pub(super) fn of(&self, x: impl Fn(usize) -> T) -> T {
        match *self {
            Self::Difference { high, low, by } => x(high).minus(x(low)).over(by),
            Self::Curvature { start, by } => {
                curvature([x(start), x(start + 1), x(start + 2)]).over(by)
            }
            Self::Weighted { start, weights } => {
                weighted([x(start), x(start + 1), x(start + 2)], weights)
            }
        }
    }
}

#[inline(always)]
pub(super) fn curvature<T: Real>([low, middle, high]: [T; 3]) -> T {
    high.minus(middle).minus(middle.minus(low))
}

#[inline(always)]
pub(super) fn weighted<T: Real>([a, b, c]: [T; 3], [u, v, w]: [T; 3]) -> T {
    u.times(a).plus(v.times(b)).plus(w.times(c))
}
