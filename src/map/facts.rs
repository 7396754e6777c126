//! Facts about maps: span, injectivity, strides.

use super::AddressMap;
use super::axis::{AxisMap, Pattern};
use super::layout::{Axis, Layout};
use super::numbers::inverse_modulo;
use crate::error::{Error, Result};
use crate::memory::list;
use std::ops::Range;

/// Most indexes that are tried one by one where no argument decides.
const TRIED: usize = 1 << 22;
/// Most steps of the search for two indexes that share an address.
const SEARCHED: usize = 1 << 22;

/// Offset and strides of a map that has nothing else, see [`AddressMap::as_strided`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Strided {
    /// Address of index 0, in elements.
    pub offset: usize,
    /// Stride of every axis, in elements; 0 where the extent is 1.
    pub strides: Vec<isize>,
}

impl AddressMap {
    /// Lowest address reached and one past the highest; `0..0` for an empty view.
    ///
    /// Exact for maps of one stage. With more stages it encloses what is reached.
    ///
    /// ```
    /// use lensor::AddressMap;
    /// let map = AddressMap::row_major([2, 3])?;
    /// assert_eq!(map.slice(1, 1..)?.span(), 1..6);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn span(&self) -> Range<usize> {
        if self.count() == 0 {
            return 0..0;
        }
        self.rest().first().unwrap_or(&self.top).span()
    }

    /// Whether the addresses are consecutive in row-major order: `start, start + 1, ..`.
    ///
    /// Always so where the answer is yes. A map of several stages may be so and the answer no.
    ///
    /// ```
    /// use lensor::AddressMap;
    /// let map = AddressMap::row_major([2, 3])?;
    /// assert!(map.is_contiguous() && !map.clone().flip(0)?.is_contiguous());
    /// # Ok::<(), lensor::Error>(())
    /// ```
    #[inline]
    pub fn is_contiguous(&self) -> bool {
        self.consecutive().is_some()
    }

    /// The addresses, if they are consecutive in row-major order.
    #[inline]
    pub(crate) fn consecutive(&self) -> Option<Range<usize>> {
        self.top.consecutive().filter(|_| self.rest.is_none())
    }

    /// The axes, if an offset and strides are all the map is.
    #[inline]
    pub(crate) fn linear_axes(&self) -> Option<&[Axis]> {
        self.top.as_linear().filter(|_| self.rest.is_none())
    }

    /// Offset and strides, if the map is nothing else.
    ///
    /// They always give the addresses of the map. A map of several stages has none, even where some
    /// would do.
    ///
    /// ```
    /// use lensor::AddressMap;
    /// let strided = AddressMap::row_major([2, 3])?.flip(1)?.as_strided().unwrap();
    /// assert_eq!((strided.offset, strided.strides), (2, vec![3, -1]));
    /// assert!(AddressMap::row_major([3])?.rotate([1])?.as_strided().is_none());
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn as_strided(&self) -> Option<Strided> {
        let axes = self.linear_axes()?;
        Some(Strided {
            offset: self.top.offset(),
            strides: axes.iter().map(|axis| axis.stride).collect(),
        })
    }

    /// [`Self::as_strided`], with the reason where it is `None`.
    ///
    /// # Errors
    ///
    /// [`Error::NotStrided`].
    ///
    /// ```
    /// use lensor::{AddressMap, Error};
    /// let map = AddressMap::row_major([2, 3])?.rotate([0, 1])?;
    /// let error = map.check_strided().unwrap_err();
    /// assert_eq!(error.to_string(), "no strides describe this view: axis 1 is rotated or repeated");
    /// # Ok::<(), Error>(())
    /// ```
    pub fn check_strided(&self) -> Result<Strided> {
        if let Some(strided) = self.as_strided() {
            return Ok(strided);
        }
        let stages = self.rest().len() + 1;
        let axis = self.top.axes().position(|axis| !matches!(axis.pattern, Pattern::Linear));
        let reason = match axis.map(|axis| self.top.pattern(axis)) {
            _ if stages > 1 => "its map has several stages",
            Some(Pattern::Listed(_)) => "is a list of positions",
            _ => "is rotated or repeated",
        };
        Err(Error::NotStrided { stages, axis: axis.filter(|_| stages == 1), reason })
    }

    /// Whether no two indexes share an address; `false` also where [`Self::check_injective`] cannot tell.
    ///
    /// ```
    /// use lensor::AddressMap;
    /// let map = AddressMap::row_major([2, 3])?;
    /// assert!(map.is_injective() && !map.broadcast([4, 3])?.is_injective());
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn is_injective(&self) -> bool {
        self.check_injective().is_ok()
    }

    /// Checks that no two indexes share an address, as writing requires.
    ///
    /// The answer is exact for all but contrived maps: those for which neither nested strides nor a
    /// search of four million steps decides count as not injective.
    ///
    /// # Errors
    ///
    /// [`Error::NotInjective`] with the first axis such that two indexes that differ up to that axis
    /// only share an address, and [`Error::OutOfMemory`] if what a search needs cannot be kept.
    ///
    /// ```
    /// use lensor::{AddressMap, Error};
    /// let map = AddressMap::row_major([2, 3])?;
    /// map.clone().transpose([1, 0])?.flip(1)?.check_injective()?;
    /// let repeated = map.broadcast([2, 6])?.check_injective();
    /// assert_eq!(repeated, Err(Error::NotInjective { axis: 1 }));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    #[inline]
    pub fn check_injective(&self) -> Result<()> {
        if self.is_contiguous() { Ok(()) } else { self.search_injective() }
    }

    fn search_injective(&self) -> Result<()> {
        if self.count() <= 1 {
            return Ok(());
        }
        let mut axes = self.stages().flat_map(Layout::axes);
        axes.try_for_each(|axis| if axis.is_rising_list() { Ok(()) } else { axis.invert() })?;
        if self.stages().any(|layout| layout.collides(layout.rank())) {
            // With an axis of extent 1 there are no more indexes than before.
            for rank in (1..=self.rank()).filter(|rank| self.top.axes[rank - 1].extent != 1) {
                let shared = match self.rest() {
                    [] => self.top.collides(rank),
                    _ => self.prefix_collides(rank)?,
                };
                if shared {
                    return Err(Error::NotInjective { axis: rank - 1 });
                }
            }
        }
        Ok(())
    }

    /// Whether two indexes that are 0 from axis `rank` on share an address: by trying them.
    fn prefix_collides(&self, rank: usize) -> Result<bool> {
        let shape = self.shape();
        let count: usize = shape[..rank].iter().product();
        if self.top.collides(rank) || count > TRIED {
            return Ok(true);
        }
        let inner: usize = shape[rank..].iter().product();
        let mut addresses = list((0..count).map(|k| self.address_at(k * inner)))?;
        addresses.sort_unstable();
        Ok(addresses.windows(2).any(|pair| pair[0] == pair[1]))
    }
}

impl Layout {
    /// Decides whether two indexes that are 0 from axis `rank` on share an address.
    ///
    /// Axes whose strides nest (each exceeds what all smaller ones reach together) cannot collide.
    /// Otherwise two such indexes differ by digits whose contributions cancel: a search over the
    /// differences of positions, by falling stride, within what the remaining axes can still cancel.
    fn collides(&self, rank: usize) -> bool {
        let mut axes: Vec<AxisMap> =
            self.axes().take(rank).filter(|axis| axis.extent != 1).collect();
        if axes.iter().any(|axis| axis.extent == 0) {
            return false;
        }
        if axes.iter().any(|axis| axis.stride == 0 || axis.repeats()) {
            return true;
        }
        axes.sort_by_key(|axis| axis.stride.unsigned_abs());
        let mut reach = vec![0_i128];
        for axis in &axes {
            let term = axis.stride.unsigned_abs() as i128 * axis.last_position() as i128;
            reach.push(reach[reach.len() - 1] + term);
        }
        let nested =
            axes.iter().zip(&reach).all(|(a, &below)| a.stride.unsigned_abs() as i128 > below);
        let mut steps = SEARCHED;
        !nested && cancels(&axes, &reach, 0, false, &mut steps)
    }
}

/// Whether differences of positions along `axes` can bring `rest` to 0, not all of them 0.
fn cancels(axes: &[AxisMap], reach: &[i128], rest: i128, moved: bool, steps: &mut usize) -> bool {
    let Some((axis, axes)) = axes.split_last() else {
        return rest == 0 && moved;
    };
    let below = reach[axes.len()];
    let stride = axis.stride.unsigned_abs() as i128;
    let last = axis.last_position() as i128;
    // Differences d with |rest + stride * d| <= below. By symmetry the first one is not negative.
    let low =
        (-below - rest).div_euclid(stride) + i128::from((-below - rest).rem_euclid(stride) != 0);
    let high = (below - rest).div_euclid(stride);
    let low = low.max(if moved { -last } else { 0 });
    for difference in low..=high.min(last) {
        *steps = steps.saturating_sub(1);
        if *steps == 0 {
            return true;
        }
        if difference != 0 && !matches!(axis.pattern, Pattern::Linear) {
            *steps = steps.saturating_sub(axis.extent);
            if *steps == 0 {
                return true;
            }
        }
        let possible = difference == 0 || differs_by(axis, difference.unsigned_abs() as usize);
        let moved = moved || difference != 0;
        if possible && cancels(axes, reach, rest + stride * difference, moved, steps) {
            return true;
        }
    }
    false
}

/// Whether two positions along an axis without repeats differ by `difference`.
fn differs_by(axis: &AxisMap, difference: usize) -> bool {
    match &axis.pattern {
        Pattern::Linear => true,
        Pattern::Cyclic { period, .. } if axis.extent == *period => true,
        Pattern::Cyclic { period, step, .. } => {
            let ahead = difference as u128 * inverse_modulo(*step, *period) as u128;
            let ahead = (ahead % *period as u128) as usize;
            let has = |digit| axis.position(digit) + difference < *period;
            (0..axis.extent).any(|digit| (digit + ahead) % period < axis.extent && has(digit))
        }
        Pattern::Listed(table) if axis.is_rising_list() => {
            let mut positions = table.positions().iter();
            positions.any(|at| table.positions().binary_search(&(at + difference)).is_ok())
        }
        Pattern::Listed(table) => {
            let pairs = table.inverse();
            pairs.iter().any(|&(position, _)| {
                !table.entries(position + difference, position + difference).is_empty()
            })
        }
    }
}
