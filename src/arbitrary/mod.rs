//! Random shapes, layouts, maps, chains of view operations and tensors under them, for property tests
//! here and elsewhere: [`Viewed`] is a tensor with its dense copy, [`SparseViewed`] a sparse one, [`Aligned`] are tensors that broadcast
//! together with theirs.
//!
//! Ugly cases come often: extents 0 and 1, rank 0, strides 0 and below, repeated and empty lists,
//! overlapping windows, cycles of any step. No generated view has more than [`MAX_COUNT`] elements,
//! so a law may visit every index.
//!
//! ```
//! use lensor::arbitrary::Chain;
//! use quickcheck::{Arbitrary, Gen};
//! let chain = Chain::arbitrary(&mut Gen::new(10));
//! let map = chain.map();
//! for index in map.shape().indexes()? {
//!     let address = map.to_local(&index)?;
//!     assert!(map.to_global(address).any(|found| found == index));
//! }
//! # Ok::<(), lensor::Error>(())
//! ```

mod backward;
mod chain;
mod copy;
mod operation;
mod sparse;
mod viewed;

pub use chain::Chain;
pub use copy::copy_under;
pub use operation::ViewOp;
pub use sparse::SparseViewed;
pub use viewed::{Aligned, Viewed};

use crate::error::Result;
use crate::map::{AddressMap, AxisMap, Layout, Pattern, Table};
use crate::shape::Shape;
use quickcheck::{Arbitrary, Gen, empty_shrinker};

/// Most elements of a generated view.
pub const MAX_COUNT: usize = 288;
/// Most axes of a generated view.
pub const MAX_RANK: usize = 6;

/// A number below `limit`, 0 if that is 0.
fn below(g: &mut Gen, limit: usize) -> usize {
    usize::arbitrary(g) % limit.max(1)
}

/// True once in `n` times.
fn one_in(g: &mut Gen, n: usize) -> bool {
    below(g, n) == 0
}

/// One of `choices`.
fn pick<T: Copy + Default>(g: &mut Gen, choices: &[T]) -> T {
    g.choose(choices).copied().unwrap_or_default()
}

/// Product of the nonzero extents: what the bound on generated views applies to.
fn volume(extents: &[usize]) -> usize {
    extents.iter().fold(1, |product, &extent| product.saturating_mul(extent.max(1)))
}

impl Arbitrary for Shape {
    /// At most 5 axes and [`MAX_COUNT`] elements; extents 1 and 2 are the most frequent.
    fn arbitrary(g: &mut Gen) -> Self {
        let rank = pick(g, &[0, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5]).min(g.size());
        let mut extents = Vec::with_capacity(rank);
        for _ in 0..rank {
            let room = MAX_COUNT / volume(&extents);
            let extent = match below(g, 40) {
                0 => 0,
                1..=2 => below(g, 40),
                _ => pick(g, &[1, 1, 2, 2, 2, 3, 3, 4, 5, 6, 7]),
            };
            extents.push(extent.min(room));
        }
        Self::from(extents)
    }

    /// One axis fewer, or one extent smaller.
    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        let extents = self.to_vec();
        let fewer = (0..extents.len()).map({
            let extents = extents.clone();
            move |k| extents.iter().enumerate().filter(|(j, _)| *j != k).map(|(_, e)| *e).collect()
        });
        let smaller = (0..extents.len()).flat_map(move |k| {
            let extents = extents.clone();
            extents[k].shrink().map(move |extent| {
                extents.iter().enumerate().map(|(j, &e)| if j == k { extent } else { e }).collect()
            })
        });
        Box::new(fewer.chain(smaller))
    }
}

impl Arbitrary for Layout {
    /// Axes of random strides and patterns, not necessarily of normal form or injective, placed so that
    /// the lowest address is small.
    fn arbitrary(g: &mut Gen) -> Self {
        loop {
            let shape = Shape::arbitrary(g);
            let mut axes = Vec::with_capacity(shape.rank());
            let mut nested = 1;
            for &extent in shape.iter().rev() {
                let sign = pick(g, &[1, 1, -1]);
                let stride: isize = match below(g, 8) {
                    0 => 0,
                    1..=3 => sign * pick(g, &[1, 1, 2, 3, 4, 5, 6, 10]),
                    _ => sign * nested,
                };
                nested = nested.max(stride.abs() * extent.max(1) as isize);
                axes.push(AxisMap { extent, stride, pattern: arbitrary_pattern(g, extent) });
            }
            axes.reverse();
            if bool::arbitrary(g) {
                let (a, b) = (below(g, axes.len()), below(g, axes.len()));
                if a < axes.len() {
                    axes.swap(a, b);
                }
            }
            let lowest = pick(g, &[0, 0, 1, 7]);
            if let Ok(layout) = placed(lowest, axes) {
                return layout;
            }
        }
    }

    /// One axis fewer, shorter, linear or of a smaller stride, or a lower offset.
    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        let axes: Vec<AxisMap> = self.axes().collect();
        let lowest = self.span().start;
        let mut smaller = Vec::new();
        for k in 0..axes.len() {
            let mut fewer = axes.clone();
            fewer.remove(k);
            smaller.push(placed(lowest, fewer));
            for simpler in simpler_axes(&axes[k]) {
                let mut changed = axes.clone();
                changed[k] = simpler;
                smaller.push(placed(lowest, changed));
            }
        }
        smaller.extend(lowest.shrink().map(|lowest| placed(lowest, axes.clone())));
        Box::new(smaller.into_iter().flatten())
    }
}

impl Arbitrary for AddressMap {
    /// Row-major addresses of a random shape under a random [`Chain`].
    fn arbitrary(g: &mut Gen) -> Self {
        Chain::arbitrary(g).map()
    }

    /// The top stage alone, one axis fewer, or one axis shorter.
    ///
    /// The operations that led here are lost; shrink a [`Chain`] where they matter.
    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        let mut smaller = Vec::new();
        if self.stages().len() > 1 {
            smaller.extend(self.stages().map(|stage| Self::from(stage.clone())));
        }
        for (axis, &extent) in self.shape().iter().enumerate() {
            if extent == 1 {
                smaller.extend(self.clone().remove_axis(axis));
            } else if extent > 1 {
                let ranges = [0..extent / 2, extent / 2..extent, 0..extent - 1, 1..extent];
                smaller.extend(ranges.into_iter().filter_map(|r| self.clone().slice(axis, r).ok()));
            }
        }
        if smaller.is_empty() { empty_shrinker() } else { Box::new(smaller.into_iter()) }
    }
}

fn arbitrary_pattern(g: &mut Gen, extent: usize) -> Pattern {
    match below(g, 6) {
        0 | 1 => {
            let period = 1 + below(g, 2 * extent + 2);
            Pattern::Cyclic { period, shift: below(g, 2 * period), step: below(g, 2 * period) }
        }
        2 => {
            let positions = 1 + below(g, 2 * extent);
            Pattern::Listed(Table::new(
                (0..extent).map(|_| below(g, positions)).collect::<Vec<_>>(),
            ))
        }
        _ => Pattern::Linear,
    }
}

/// The layout of `axes` whose lowest address is `lowest`.
fn placed(lowest: usize, axes: Vec<AxisMap>) -> Result<Layout> {
    let least = |axis: &AxisMap| {
        let contribution = |digit| axis.stride.saturating_mul(axis.position(digit) as isize);
        (0..axis.extent).map(contribution).min().unwrap_or(0)
    };
    let below_zero = axes.iter().fold(0_isize, |sum, axis| sum.saturating_add(least(axis)));
    Layout::new((lowest as isize).saturating_sub(below_zero), axes)
}

/// The same axis shorter, linear, or of a smaller stride.
fn simpler_axes(axis: &AxisMap) -> Vec<AxisMap> {
    let mut simpler = Vec::new();
    for extent in axis.extent.shrink() {
        let pattern = match &axis.pattern {
            Pattern::Listed(table) => Pattern::Listed(Table::new(&table.positions()[..extent])),
            other => other.clone(),
        };
        simpler.push(AxisMap { extent, stride: axis.stride, pattern });
    }
    if axis.pattern != Pattern::Linear {
        simpler.push(AxisMap::linear(axis.extent, axis.stride));
    }
    simpler.extend(axis.stride.shrink().map(|stride| AxisMap { stride, ..axis.clone() }));
    simpler
}
