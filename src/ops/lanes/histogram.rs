//! Counting elements in bins.

use super::before::Zeros;
use super::operand::Batch;
use super::operation::LaneOperation;
use super::search::{self, Side};
use crate::compute::Compute;
use crate::dtype::{Cast, Order, Sortable};
use crate::error::{Error, Result};
use crate::expr::sealed::Sealed;
use crate::expr::{
    Explanation, Expr, Lazy, Prepare, blocks_in_words, boxes_of, bytes_read, check_operand,
    deferred_of_stored, erased, for_each_piece, for_each_stored, goes_by_entries, row_major,
    selectors,
};
use crate::kernel::{Filled, inner, join, threads};
use crate::memory::{try_with_capacity, zeros};
use crate::shape::Shape;
use std::any::type_name;
use std::cmp::Ordering;
use std::mem::MaybeUninit;

/// Elements evaluated at once.
const PIECE: usize = 1 << 20;
/// Fewest elements that a task counts.
const GRAIN: usize = 1 << 16;

/// Most edges that an element is compared with one after another.
const FEW_EDGES: usize = 16;

/// What sorts elements into bins, for [`Lanes::histogram`](super::Lanes::histogram).
///
/// [`Edges`] and [`Uniform`] do, and references to them; two methods make bins of your own.
///
/// ```
/// use lensor::lanes::Bins;
/// use lensor::prelude::*;
///
/// /// Even numbers and odd ones.
/// struct Parity;
/// impl Bins<u32> for Parity {
///     fn count(&self) -> usize {
///         2
///     }
///     fn bin(&self, x: u32) -> Option<usize> {
///         Some(x as usize % 2)
///     }
/// }
/// let t = Tensor::from_vec([5], vec![1, 2, 3, 5, 8])?;
/// assert_eq!(t.histogram(Parity).to_vec()?, [2, 3]);
/// # Ok::<(), Error>(())
/// ```
pub trait Bins<T>: Send + Sync {
    /// Number of bins.
    fn count(&self) -> usize;

    /// The bin of an element, `None` if it is to be left out. A bin that does not exist counts nothing.
    fn bin(&self, x: T) -> Option<usize>;
}

impl<T, B: Bins<T> + ?Sized> Bins<T> for &B {
    fn count(&self) -> usize {
        B::count(self)
    }

    #[inline(always)]
    fn bin(&self, x: T) -> Option<usize> {
        B::bin(self, x)
    }
}

/// Bins between neighbours of an ascending list. Each holds its lower edge, the last its upper one too.
#[derive(Debug, Clone, PartialEq)]
pub struct Edges<T>(Vec<T>);

impl<T: Sortable> Edges<T> {
    /// Bins between these edges, one less than there are edges.
    ///
    /// # Errors
    ///
    /// [`Error::Edges`] if there are fewer than two, if one is less than the one before, or if one is NaN.
    ///
    /// ```
    /// use lensor::lanes::Edges;
    /// use lensor::prelude::*;
    /// let t = Tensor::from_vec([5], vec![1, 9, 10, 99, 100])?;
    /// assert_eq!(t.histogram(Edges::new([0, 10, 100])?).to_vec()?, [2, 3]);
    /// # Ok::<(), Error>(())
    /// ```
    #[allow(clippy::eq_op, reason = "only NaN differs from itself")]
    pub fn new(edges: impl Into<Vec<T>>) -> Result<Self> {
        let edges = edges.into();
        let rises = |k: usize| k == 0 || edges[k - 1].key(false) <= edges[k].key(false);
        let wrong = (0..edges.len()).find(|&k| !rises(k) || edges[k] != edges[k]);
        if edges.len() < 2 || wrong.is_some() {
            return Err(Error::Edges { count: edges.len(), wrong });
        }
        Ok(Self(edges))
    }
}

impl<T: Sortable> Bins<T> for Edges<T> {
    fn count(&self) -> usize {
        self.0.len() - 1
    }

    #[inline]
    fn bin(&self, x: T) -> Option<usize> {
        let (key, last) = (x.key(false), self.0[self.count()].key(false));
        match key.cmp(&last) {
            // Without a branch, as none of these would be predictable.
            Ordering::Less if self.0.len() <= FEW_EDGES => {
                let below = self.0.iter().map(|edge| usize::from(edge.key(false) <= key));
                below.sum::<usize>().checked_sub(1)
            }
            Ordering::Less => search::position(&self.0, x, Side::Right).checked_sub(1),
            Ordering::Equal => Some(self.count() - 1),
            Ordering::Greater => None,
        }
    }
}

/// Bins of one width. Each holds its lower end, the last its upper one too. Elements are compared as `f64`. Complex
/// ones have no order: bin what they are made of, `t.map(|z| z.re)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Uniform {
    /// Ends of the bins, one more than there are bins.
    edges: Vec<f64>,
    /// Bins for each unit, as near as makes no difference.
    scale: f64,
}

impl Uniform {
    /// `count` bins from `low` to `high`, with the edges that [`linspace`](crate::generate::linspace) gives.
    ///
    /// # Errors
    ///
    /// [`Error::BinRange`] if there are none, or if `high - low` is not a positive number,
    /// [`Error::OutOfMemory`] if their ends cannot be kept.
    ///
    /// ```
    /// use lensor::lanes::Uniform;
    /// use lensor::prelude::*;
    /// let t = Tensor::from_vec([5], vec![0.0, 0.4, 0.5, 1.0, 1.1])?;
    /// assert_eq!(t.histogram(Uniform::new(0.0, 1.0, 2)?).to_vec()?, [2, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn new(low: f64, high: f64, count: usize) -> Result<Self> {
        let width = high - low;
        if count == 0 || !(width > 0.0 && width.is_finite()) {
            return Err(Error::BinRange { low, high, count });
        }
        let mut edges = try_with_capacity(count.saturating_add(1))?;
        let step = width / count as f64;
        // A step of few digits may be too large.
        edges.extend((0..count).map(|bin| (low + step * bin as f64).min(high)));
        edges.push(high);
        Ok(Self { edges, scale: count as f64 / width })
    }

    /// The ends of the bins, one more than there are bins: what NumPy's `histogram` gives beside the counts.
    ///
    /// ```
    /// use lensor::lanes::Uniform;
    /// use lensor::prelude::*;
    /// let bins = Uniform::new(0.0, 1.0, 4)?;
    /// assert_eq!(bins.edges(), [0.0, 0.25, 0.5, 0.75, 1.0]);
    /// assert_eq!(Tensor::from(vec![0.1, 0.2, 0.9]).histogram(&bins).to_vec()?, [2, 0, 0, 1]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn edges(&self) -> &[f64] {
        &self.edges
    }
}

impl<T: Cast<f64> + Order> Bins<T> for Uniform {
    fn count(&self) -> usize {
        self.edges.len() - 1
    }

    #[inline(always)]
    fn bin(&self, x: T) -> Option<usize> {
        let (x, edges) = (x.cast_unchecked(), &self.edges[..]);
        let (first, last) = (edges[0], edges.len() - 2);
        if !(first <= x && x <= edges[last + 1]) {
            return None;
        }
        // Near the bin whose ends enclose the element, which decide: signed, as processors convert these.
        let bin = (((x - first) * self.scale) as isize as usize).min(last);
        let inside = edges[bin] <= x && (x < edges[bin + 1] || bin == last);
        Some(if inside { bin } else { self.bin_among_all(x) })
    }
}

impl Uniform {
    /// The bin of an element between the first edge and the last: of those that are as near as rounding errors, or narrower
    /// than numbers are apart.
    #[cold]
    fn bin_among_all(&self, x: f64) -> usize {
        let last = self.edges.len() - 2;
        self.edges.partition_point(|edge| *edge <= x).saturating_sub(1).min(last)
    }
}

/// How many elements of every lane fall into each bin, see
/// [`Lanes::histogram_along`](super::Lanes::histogram_along).
#[derive(Debug, Clone, Copy)]
pub struct Counts<B>(pub(crate) B);

impl<B> Sealed for Counts<B> {}

impl<T: Copy + Send + Sync, B: Bins<T>> LaneOperation<T> for Counts<B> {
    type Elem = u64;
    type Before = Zeros;
    type Memory = ();

    fn results(&self) -> Result<Option<usize>> {
        Ok(Some(self.0.count()))
    }

    fn compute(&self, (): &mut (), lanes: Batch<'_, T>, out: &mut [u64]) -> Result<()> {
        lanes.for_each(out, |lane, _, out| {
            out.fill(0);
            count_lane(out, lane, &self.0);
            Ok(())
        })
    }

    fn words(&self, _extent: usize, _lanes: usize) -> Result<[String; 2]> {
        Ok(["histogram".into(), "counted in the bins".into()])
    }
}

/// How many elements of an operand fall into each bin, see [`Lanes::histogram`](super::Lanes::histogram).
#[derive(Debug, Clone)]
pub struct Histogram<E, B> {
    pub(super) e: Lazy<E>,
    pub(super) bins: B,
}

impl<E, B> Sealed for Histogram<E, B> {}

impl<E: Expr, B: Bins<E::Elem>> Compute for Histogram<E, B> {
    type Elem = u64;

    fn shape(&self) -> Result<Shape> {
        self.e.shape()?;
        Ok([self.bins.count()].into())
    }

    fn deferred<'a>(&'a self, visit: &mut dyn FnMut(&'a dyn Prepare)) {
        deferred_of_stored(&self.e.0, visit);
    }

    fn check_reads(&self) -> Result<()> {
        if self.goes_by_entries() { Ok(()) } else { check_operand(&self.e) }
    }

    fn depth(&self) -> usize {
        self.e.depth()
    }

    fn fill(&self, out: &mut [MaybeUninit<u64>]) -> Result<Filled> {
        inner::overwrite(out, Some(0), |counts| match row_major(&self.e) {
            Some(elements) => tally(counts, elements, &self.bins),
            None if self.goes_by_entries() => self.tally_stored(counts),
            None => for_each_piece(&self.e, PIECE, |elements| tally(counts, elements, &self.bins)),
        })
    }

    fn explain(&self) -> Result<Explanation> {
        let (shape, bins) = (self.e.shape()?, self.bins.count());
        let (piece, how) = match row_major(&self.e) {
            Some(elements) => (elements.len(), "read where it lies".into()),
            None if self.goes_by_entries() => {
                (0, "its entries, and how many elements have none".into())
            }
            None => (
                shape.count()?.min(PIECE),
                format!("evaluated piece by piece, up to {PIECE} elements at a time"),
            ),
        };
        let boxes = boxes_of(&self.e.0, &shape, PIECE)?;
        let mut parts = boxes.map(|ranges| Ok(selectors(&ranges)));
        let blocks =
            blocks_in_words(&erased(&self.e.0), None, Some(&mut parts), "read in many parts")?;
        Ok(Explanation::report(
            format!("histogram of {} {shape:?} in {bins} bins", type_name::<E::Elem>()),
            std::iter::once(format!("operand: {how}")).chain(blocks),
            if piece < shared(bins) { 1 } else { threads() },
            [bytes_read(&self.e.0), bins.saturating_mul(size_of::<u64>())],
        ))
    }
}

impl<E: Expr, B: Bins<E::Elem>> Histogram<E, B> {
    /// Whether entries are counted, and how many elements have none.
    fn goes_by_entries(&self) -> bool {
        self.e.shape().is_ok_and(|shape| goes_by_entries(&self.e.0, &shape))
    }

    /// Counts the entries of a sparse operand, and its other elements at once.
    fn tally_stored(&self, counts: &mut [u64]) -> Result<()> {
        let shape = self.e.shape()?;
        let mut others = shape.count()?;
        let fill = for_each_stored(&self.e.0, &shape, &mut |_, _, values| {
            others = others.saturating_sub(values.len());
            count_lane(counts, values, &self.bins);
            Ok(())
        })?;
        if others > 0
            && let Some(count) = self.bins.bin(fill).and_then(|bin| counts.get_mut(bin))
        {
            *count += others as u64;
        }
        Ok(())
    }
}

/// Fewest elements that several tasks count, in `bins` bins each.
fn shared(bins: usize) -> usize {
    GRAIN.max(bins.saturating_mul(4)).saturating_mul(2)
}

/// Adds the numbers of elements in every bin to `counts`.
fn tally<T: Copy + Sync, B: Bins<T>>(counts: &mut [u64], elements: &[T], bins: &B) -> Result<()> {
    // A task has counts of its own, which should be fewer than its elements.
    if elements.len() < shared(counts.len()) {
        count_lane(counts, elements, bins);
        return Ok(());
    }
    let mut others = zeros(counts.len())?;
    let (low, high) = elements.split_at(elements.len() / 2);
    let (low, high) = join(|| tally(counts, low, bins), || tally(&mut others, high, bins));
    counts.iter_mut().zip(others).for_each(|(count, other)| *count += other);
    low.and(high)
}

/// Adds the numbers of elements of a lane in every bin to `counts`.
fn count_lane<T: Copy, B: Bins<T>>(counts: &mut [u64], lane: &[T], bins: &B) {
    for &x in lane {
        if let Some(count) = bins.bin(x).and_then(|bin| counts.get_mut(bin)) {
            *count += 1;
        }
    }
}
