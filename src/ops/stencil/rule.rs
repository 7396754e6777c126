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
    /// `(x[high] - x[low]) / by`, see [`difference`].
    Difference { high: usize, low: usize, by: By<T> },
    /// `((x[start + 2] - x[start + 1]) - (x[start + 1] - x[start])) / by`, see [`curvature`].
    Curvature { start: usize, by: By<T> },
    /// The sum of three elements from `start` on, each times its weight.
    Weighted { start: usize, weights: [T; 3] },
}

/// What differences are divided by: a number, or two numbers whose product is none.
#[derive(Debug, Clone, Copy)]
pub(super) enum By<T> {
    One(T),
    Both([T; 2]),
}

impl<T: Real> By<T> {
    /// Twice a distance.
    fn twice(distance: T) -> Self {
        match distance.plus(distance) {
            both if both.is_finite() => Self::One(both),
            _ => Self::Both([distance, T::one().plus(T::one())]),
        }
    }

    /// The square of a distance.
    fn square(distance: T) -> Self {
        match distance.times(distance) {
            square if square.is_normal() => Self::One(square),
            _ => Self::Both([distance; 2]),
        }
    }

    /// The distance of two coordinates.
    fn between(low: T, high: T) -> Self {
        match high.minus(low) {
            distance if distance.is_finite() => Self::One(distance),
            _ => {
                let two = T::one().plus(T::one());
                Self::Both([high.over(two).minus(low.over(two)), two])
            }
        }
    }

    /// The quotient.
    #[inline(always)]
    pub(super) fn divide(self, x: T) -> T {
        match self {
            Self::One(by) => x.over(by),
            Self::Both(_) => self.divide_wide(x.to_f64()),
        }
    }

    /// The quotient of a number that may be none of the type.
    fn divide_wide(self, x: f64) -> T {
        T::of_f64(match self {
            Self::One(by) => x / by.to_f64(),
            Self::Both([a, b]) => x / a.to_f64() / b.to_f64(),
        })
    }
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
        Checked { spacing, coordinates, repeated }: &'s Checked<T>,
    ) -> Result<Self> {
        let window = if order == DerivativeOrder::First(EdgeOrder::First) { 2 } else { 3 };
        if extent < window {
            return Err(Error::Window { axis, window, extent });
        }
        if let Some(found) = coordinates.filter(|&found| found != extent) {
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
                Tap::Difference { high: index + 1, low: index - 1, by: By::twice(*h) }
            }
            (Spacing::Uniform(h), DerivativeOrder::First(EdgeOrder::First)) => {
                let low = index.min(last - 1);
                Tap::Difference { high: low + 1, low, by: By::One(*h) }
            }
            (Spacing::At(x), DerivativeOrder::First(EdgeOrder::First)) if !inside => {
                let low = index.min(last - 1);
                Tap::Difference { high: low + 1, low, by: By::between(x[low], x[low + 1]) }
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
                Tap::Curvature { start, by: By::square(*h) }
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
        if ![low, middle, high].into_iter().all(T::is_normal) {
            return self.quotients_at(x, index).map(T::of_f64);
        }
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

    /// The same weights, without products of distances, which are no numbers or have few digits.
    #[cold]
    fn quotients_at(&self, x: &[T], index: usize) -> [f64; 3] {
        let start = index.saturating_sub(1).min(self.extent - 3);
        let [a, b] = [start, start + 1].map(|at| x[at + 1].to_f64() - x[at].to_f64());
        let (short, long) = if a.abs() < b.abs() { (a, b) } else { (b, a) };
        let both = a + b;
        let share =
            |x: f64| if both.is_finite() { x / both } else { x / 2.0 / (a / 2.0 + b / 2.0) };
        match (self.order, index - start) {
            (DerivativeOrder::Second, _) => [2.0 / both / a, -2.0 / long / short, 2.0 / both / b],
            (_, 0) => [-(1.0 + share(a)) / a, (1.0 + short / long) / short, -share(a) / b],
            (_, 1) => [-share(b) / a, (b - a) / long / short, share(a) / b],
            _ => [share(b) / a, -(1.0 + short / long) / short, (1.0 + share(b)) / b],
        }
    }
}

impl<T: Real> fmt::Display for Rule<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, by) = match self.tap(1) {
            Tap::Difference { by, .. } => ("differences", by),
            Tap::Curvature { by, .. } => ("second differences", by),
            Tap::Weighted { .. } => return f.write_str("three elements, weighted"),
        };
        let how = match by {
            By::One(by) if by.exact_reciprocal().is_some() => "times a reciprocal",
            By::One(_) => "divided",
            By::Both(_) => "divided twice",
        };
        write!(f, "{what}, {how}")
    }
}

impl<T: Real> Tap<T> {
    /// The value, of elements that `x` gives.
    #[inline(always)]
    pub(super) fn of(&self, x: impl Fn(usize) -> T) -> T {
        match *self {
            Self::Difference { high, low, by } => {
                quotient([x(high), x(low)], difference, difference, by, |x| by.divide(x))
            }
            Self::Curvature { start, by } => {
                let x = [x(start), x(start + 1), x(start + 2)];
                quotient(x, curvature, curvature, by, |x| by.divide(x))
            }
            Self::Weighted { start, weights } => {
                weighted([x(start), x(start + 1), x(start + 2)], weights)
            }
        }
    }
}

/// What `divide` makes of `f` of some elements, a quotient by `by`. Of halves, whose differences are soon beyond the largest
/// one, `f` is then `wide`; of other types looking would take time for each element.
#[inline(always)]
pub(super) fn quotient<T: Real, const N: usize>(
    x: [T; N],
    f: impl Fn([T; N]) -> T,
    wide: impl Fn([f64; N]) -> f64,
    by: By<T>,
    divide: impl Fn(T) -> T,
) -> T {
    let apart = f(x);
    if size_of::<T>() < size_of::<f32>() && !apart.is_finite() {
        return by.divide_wide(wide(x.map(|x| x.to_f64())));
    }
    divide(apart)
}

#[inline(always)]
pub(super) fn difference<T: Real>([high, low]: [T; 2]) -> T {
    high.minus(low)
}

#[inline(always)]
pub(super) fn curvature<T: Real>([low, middle, high]: [T; 3]) -> T {
    high.minus(middle).minus(middle.minus(low))
}

#[inline(always)]
pub(super) fn weighted<T: Real>([a, b, c]: [T; 3], [u, v, w]: [T; 3]) -> T {
    u.times(a).plus(v.times(b)).plus(w.times(c))
}
