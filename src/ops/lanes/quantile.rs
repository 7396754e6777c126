//! Quantiles by selection.

use super::driver::{map_lanes, with_extent};
use super::zeroed;
use crate::dtype::{Real, Sortable};
use crate::error::{Error, Result};
use crate::expr::{Expr, Lazy};
use crate::memory::{refill, reserve};
use crate::shape::Shape;
use crate::tensor::Tensor;

/// What a quantile is that falls between two elements of a sorted lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Interpolation {
    /// On the line between the two.
    #[default]
    Linear,
    /// The element before.
    Lower,
    /// The element after.
    Higher,
    /// The nearer one, and of two as near the one of even rank.
    Nearest,
    /// Half way between the two.
    Midpoint,
}

/// A quantile of lanes of one length: two ranks, and where between the two.
#[derive(Debug, Clone, Copy)]
struct Point {
    low: usize,
    high: usize,
    /// From 0 at the lower rank to 1 at the higher.
    part: f64,
}

impl Point {
    fn new(quantile: f64, interpolation: Interpolation, len: usize) -> Self {
        let last = len.saturating_sub(1);
        let exact = quantile * last as f64;
        let at = |rank: f64| (rank as usize).min(last);
        let (low, high) = (at(exact.floor()), at(exact.ceil()));
        let one = |rank| Self { low: rank, high: rank, part: 0.0 };
        match interpolation {
            Interpolation::Lower => one(low),
            Interpolation::Higher => one(high),
            Interpolation::Nearest => one(at(exact.round_ties_even())),
            _ if low == high => one(low),
            Interpolation::Linear => Self { low, high, part: exact - exact.floor() },
            Interpolation::Midpoint => Self { low, high, part: 0.5 },
        }
    }
}

/// What a quantile makes of NaN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nan {
    /// The result is NaN, the first there is.
    Wins,
    /// It is left out. The result of nothing else is NaN.
    Skipped,
}

/// Quantiles of every lane along `axis`, along the same axis.
pub(super) fn quantiles<E: Expr>(
    source: &Lazy<E>,
    axis: usize,
    quantiles: &[f64],
    interpolation: Interpolation,
    nan: Nan,
) -> Result<Tensor<Vec<E::Elem>>>
where
    E::Elem: Real + Sortable,
{
    let mut out = zeroed(checked(&source.shape()?, axis, quantiles)?)?;
    let select = |selection: &mut Selection<E::Elem>, lane: &[E::Elem], out: &mut [E::Elem]| {
        let Some(&first) = lane.iter().find(|x| x.is_nan()) else {
            return selection.quantiles(lane, out, quantiles, interpolation);
        };
        let mut numbers = std::mem::take(&mut selection.numbers);
        refill(&mut numbers, lane.iter().copied())?;
        numbers.retain(|x| !x.is_nan());
        if nan == Nan::Wins || numbers.is_empty() {
            out.fill(first);
        } else {
            selection.quantiles(&numbers, out, quantiles, interpolation)?;
        }
        selection.numbers = numbers;
        Ok(())
    };
    map_lanes(source, axis, &mut out, select)?;
    Ok(out)
}

/// The shape of quantiles along `axis` of an operand of this shape.
///
/// # Errors
///
/// [`Error::Axis`], [`Error::Quantile`] and [`Error::EmptyReduction`].
pub(super) fn checked(shape: &Shape, axis: usize, quantiles: &[f64]) -> Result<Shape> {
    let results = with_extent(shape, axis, quantiles.len())?;
    if let Some(&quantile) = quantiles.iter().find(|q| !(0.0..=1.0).contains(*q)) {
        return Err(Error::Quantile { quantile });
    }
    if shape[axis] == 0 {
        return Err(Error::EmptyReduction { axis, shape: shape.to_vec() });
    }
    Ok(results)
}

/// The ranks, ascending, of the elements that quantiles of a lane lie at or between.
pub(super) fn ranks(
    ranks: &mut Vec<usize>,
    quantiles: &[f64],
    interpolation: Interpolation,
    len: usize,
) -> Result<()> {
    let points = quantiles.iter().map(|&quantile| Point::new(quantile, interpolation, len));
    ranks.clear();
    reserve(ranks, quantiles.len().saturating_mul(2))?;
    ranks.extend(points.flat_map(|point| [point.low, point.high]));
    ranks.sort_unstable();
    ranks.dedup();
    Ok(())
}

/// Memory to select from a lane with.
#[derive(Debug)]
struct Selection<T: Sortable> {
    /// The elements that are not NaN.
    numbers: Vec<T>,
    keys: Vec<T::Key>,
    ranks: Vec<usize>,
}

impl<T: Sortable> Default for Selection<T> {
    fn default() -> Self {
        Self { numbers: Vec::new(), keys: Vec::new(), ranks: Vec::new() }
    }
}

impl<T: Real + Sortable> Selection<T> {
    /// Quantiles of a lane without NaN that is not empty.
    fn quantiles(
        &mut self,
        lane: &[T],
        out: &mut [T],
        quantiles: &[f64],
        interpolation: Interpolation,
    ) -> Result<()> {
        let Self { keys, ranks, .. } = self;
        self::ranks(ranks, quantiles, interpolation, lane.len())?;
        refill(keys, lane.iter().map(|x| x.key(false)))?;
        let mut start = 0;
        for &rank in ranks.iter() {
            keys[start..].select_nth_unstable(rank - start);
            start = rank + 1;
        }
        for (slot, &quantile) in out.iter_mut().zip(quantiles) {
            let point = Point::new(quantile, interpolation, lane.len());
            let low = ranked(lane, keys, point.low);
            *slot = if point.high == point.low {
                low
            } else {
                between(low, ranked(lane, keys, point.high), point.part)
            };
        }
        Ok(())
    }
}

/// The element of a rank, once its key stands where it would if all were sorted.
fn ranked<T: Sortable>(lane: &[T], keys: &[T::Key], rank: usize) -> T {
    let key = keys[rank];
    let element = T::from_key(key, false);
    if T::SHARED.iter().all(|shared| shared.key(false) != key) {
        return element;
    }
    let before = keys.iter().filter(|&&other| other < key).count();
    let mut sharing = lane.iter().filter(|x| x.key(false) == key);
    sharing.nth(rank - before).copied().unwrap_or(element)
}

/// The number `part` of the way from `a` to `b`, exact at both ends; `a <= b`.
fn between<T: Real>(a: T, b: T, part: f64) -> T {
    let (part, rest) = (T::of_f64(part), T::of_f64(1.0 - part));
    let distance = b.minus(a);
    if a == b {
        a
    } else if !distance.is_finite() {
        a.times(rest).plus(b.times(part))
    } else if part < rest {
        a.plus(distance.times(part))
    } else {
        b.minus(distance.times(rest))
    }
}
