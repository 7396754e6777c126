//! Quantiles by selection, or from sorted lanes where these are short.

use super::before::Zeros;
use super::operand::Batch;
use super::operation::LaneOperation;
use super::sort::{Keys, sorted_whole};
use crate::dtype::{Measure, Radix, Real, Sortable};
use crate::error::{Error, Result};
use crate::expr::sealed::Sealed;
use crate::memory::{list, refill, try_reserve_exact};

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
pub(crate) enum Nan {
    /// The result is NaN, the first there is.
    Wins,
    /// It is left out. The result of nothing else is NaN.
    Skipped,
}

/// Quantiles of every lane, see [`Lanes::quantiles`](super::Lanes::quantiles).
#[derive(Debug, Clone)]
pub struct Quantiles {
    quantiles: Result<Vec<f64>>,
    interpolation: Interpolation,
    nan: Nan,
    /// Whether there is but one, which has no axis.
    single: bool,
}

impl Quantiles {
    pub(crate) fn one(quantile: f64, interpolation: Interpolation, nan: Nan) -> Self {
        Self { single: true, ..Self::several(&[quantile], interpolation, nan) }
    }

    pub(crate) fn several(quantiles: &[f64], interpolation: Interpolation, nan: Nan) -> Self {
        let quantiles = list(quantiles.iter().copied());
        Self { quantiles, interpolation, nan, single: false }
    }

    fn quantiles(&self) -> Result<&[f64]> {
        self.quantiles.as_deref().map_err(Error::copy)
    }
}

impl Sealed for Quantiles {}

impl<T: Measure + Sortable> LaneOperation<T> for Quantiles {
    type Elem = T::Float;
    type Before = Zeros;
    type Memory = Selection<T>;

    const NEEDS_ELEMENTS: bool = true;

    fn keeps_axis(&self) -> bool {
        !self.single
    }

    fn results(&self) -> Result<Option<usize>> {
        let quantiles = self.quantiles()?;
        match quantiles.iter().find(|q| !(0.0..=1.0).contains(*q)) {
            Some(&quantile) => Err(Error::Quantile { quantile }),
            None => Ok(Some(quantiles.len())),
        }
    }

    fn compute(
        &self,
        selection: &mut Selection<T>,
        lanes: Batch<'_, T>,
        out: &mut [T::Float],
    ) -> Result<()> {
        let quantiles = self.quantiles()?;
        let (length, each) = (lanes.length(), out.len() / lanes.count.max(1));
        let Some(algorithm) = sorted_whole::<T>(length, lanes.count).filter(|_| each > 0) else {
            return lanes.for_each(out, |lane, _, out| self.one_lane(selection, lane, out));
        };
        let together = algorithm.together::<T::Key>(lanes.count);
        let Selection { sorted, aim, shared, .. } = selection;
        for (lanes, out) in lanes.parts(together).zip(out.chunks_mut(together * each)) {
            let (keys, _) = sorted.sorted(lanes, algorithm, together, false)?;
            let mut keys = keys.chunks_exact(length);
            lanes.for_each(out, |lane, _, out| {
                // Those of NaN come last.
                let numbers = lane.iter().filter(|&&x| !is_nan(x)).count();
                let keys = keys.next().and_then(|keys| keys.get(..numbers)).unwrap_or_default();
                if let Some(nan) = self.nan_of(lane, numbers) {
                    out.fill(nan);
                    return Ok(());
                }
                aim.at(numbers, quantiles, self.interpolation)?;
                shared.quantiles(&aim.points, lane, keys, out)
            })?;
        }
        Ok(())
    }

    fn words(&self, extent: usize, lanes: usize) -> Result<[String; 2]> {
        let mut selection = Selection::<T>::default();
        selection.aim.at(extent, self.quantiles()?, self.interpolation)?;
        let ranks = selection.aim.ranks;
        let (what, rest) = match self.nan {
            Nan::Wins => ("quantiles", "unless it has NaN"),
            Nan::Skipped => ("quantiles but for NaN", "or such of those that are not NaN"),
        };
        let bytes = T::Key::BYTES;
        let how = match sorted_whole::<T>(extent, lanes) {
            Some(algorithm) => format!("sorted {algorithm}"),
            None => String::from("selected"),
        };
        Ok([what.into(), format!("ranks {ranks:?} of {bytes}-byte keys {how}, {rest}")])
    }
}

impl Quantiles {
    /// Those of one lane that is not empty.
    fn one_lane<T: Measure + Sortable>(
        &self,
        selection: &mut Selection<T>,
        lane: &[T],
        out: &mut [T::Float],
    ) -> Result<()> {
        let numbers = lane.iter().filter(|&&x| !is_nan(x)).count();
        if let Some(nan) = self.nan_of(lane, numbers) {
            out.fill(nan);
            return Ok(());
        }
        let Selection { keys, aim, shared, .. } = selection;
        aim.at(numbers, self.quantiles()?, self.interpolation)?;
        keys.clear();
        try_reserve_exact(keys, numbers)?;
        keys.extend(lane.iter().filter(|&&x| !is_nan(x)).map(|x| x.key(false)));
        select(keys, 0, &aim.ranks);
        shared.quantiles(&aim.points, lane, keys, out)
    }

    /// The result of a lane with so many numbers, if it is NaN.
    fn nan_of<T: Measure + Sortable>(&self, lane: &[T], numbers: usize) -> Option<T::Float> {
        let is_nan_left = numbers < lane.len() && (self.nan == Nan::Wins || numbers == 0);
        let mut all = lane.iter().copied().filter(|_| is_nan_left);
        all.find(|&x| is_nan(x)).map(float)
    }
}

/// Memory to select from lanes with.
#[derive(Debug)]
pub struct Selection<T: Sortable> {
    /// The keys of one lane, and of several.
    keys: Vec<T::Key>,
    sorted: Keys<T::Key>,
    aim: Aim,
    shared: Shared<T>,
}

/// The points of the quantiles of lanes of one length.
#[derive(Debug, Default)]
struct Aim {
    len: usize,
    points: Vec<Point>,
    /// The ranks of all points, ascending.
    ranks: Vec<usize>,
}

impl<T: Sortable> Default for Selection<T> {
    fn default() -> Self {
        let shared = Shared { key: None, elements: Vec::new(), before: 0 };
        Self { keys: Vec::new(), sorted: Keys::default(), aim: Aim::default(), shared }
    }
}

impl Aim {
    /// Finds the points of the quantiles of lanes of a length. Most lanes are as long as the one before.
    fn at(&mut self, len: usize, quantiles: &[f64], interpolation: Interpolation) -> Result<()> {
        if self.len == len && !self.points.is_empty() {
            return Ok(());
        }
        let points = quantiles.iter().map(|&quantile| Point::new(quantile, interpolation, len));
        refill(&mut self.points, points)?;
        self.ranks.clear();
        try_reserve_exact(&mut self.ranks, quantiles.len().saturating_mul(2))?;
        self.ranks.extend(self.points.iter().flat_map(|point| [point.low, point.high]));
        self.ranks.sort_unstable();
        self.ranks.dedup();
        self.len = len;
        Ok(())
    }
}

/// Brings the keys of ascending ranks where they would stand if all were sorted; the first key has the rank `first`.
fn select<K: Ord>(keys: &mut [K], first: usize, ranks: &[usize]) {
    let (below, above) = ranks.split_at(ranks.len() / 2);
    let Some((&rank, above)) = above.split_first() else { return };
    let (low, _, high) = keys.select_nth_unstable(rank - first);
    select(low, first, below);
    select(high, rank + 1, above);
}

/// The elements of a lane that share one key, in order.
#[derive(Debug)]
struct Shared<T: Sortable> {
    key: Option<T::Key>,
    elements: Vec<T>,
    /// How many have a lower key.
    before: usize,
}

impl<T: Sortable> Shared<T> {
    /// The quantiles of a lane, of whose numbers the keys of all ranks of the points stand where they would if all were
    /// sorted.
    fn quantiles(
        &mut self,
        points: &[Point],
        lane: &[T],
        keys: &[T::Key],
        out: &mut [T::Float],
    ) -> Result<()>
    where
        T: Measure,
    {
        self.key = None;
        for (slot, point) in out.iter_mut().zip(points) {
            let low = float(self.ranked(lane, keys, point.low)?);
            *slot = if point.high == point.low {
                low
            } else {
                between(low, float(self.ranked(lane, keys, point.high)?), point.part)
            };
        }
        Ok(())
    }

    /// The element of a rank, once its key stands where it would if all were sorted.
    fn ranked(&mut self, lane: &[T], keys: &[T::Key], rank: usize) -> Result<T> {
        let key = keys[rank];
        let element = T::from_key(key, false);
        if T::SHARED.iter().all(|shared| shared.key(false) != key) {
            return Ok(element);
        }
        if self.key != Some(key) {
            self.before = keys.iter().filter(|&&other| other < key).count();
            self.elements.clear();
            try_reserve_exact(&mut self.elements, lane.len())?;
            self.elements.extend(lane.iter().copied().filter(|x| x.key(false) == key));
            self.key = Some(key);
        }
        Ok(self.elements.get(rank - self.before).copied().unwrap_or(element))
    }
}

#[allow(clippy::eq_op, reason = "only NaN differs from itself")]
fn is_nan<T: PartialEq>(x: T) -> bool {
    x != x
}

fn float<T: Measure>(x: T) -> T::Float {
    T::of_f64(x.to_f64())
}

/// The number `part` of the way from `a` to `b`, exact at both ends; `a <= b`.
fn between<T: Real>(a: T, b: T, part: f64) -> T {
    let (is_middle, exact) = (part == 0.5, part);
    let (part, rest) = (T::of_f64(part), T::of_f64(1.0 - part));
    let (distance, sum) = (b.minus(a), a.plus(b));
    if a == b {
        a
    } else if is_middle && sum.is_finite() {
        sum.times(part)
    } else if !distance.is_finite() && [part, rest].contains(&T::of_f64(0.0)) {
        // A share that is rounded to 0 would make NaN of an infinite number.
        T::of_f64(a.to_f64() * (1.0 - exact) + b.to_f64() * exact)
    } else if !distance.is_finite() {
        a.times(rest).plus(b.times(part))
    } else if part < rest {
        a.plus(distance.times(part))
    } else {
        b.minus(distance.times(rest))
    }
}
