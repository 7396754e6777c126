//! Elements in memory that a map of several stages leads to.

use crate::error::Error;
use crate::kernel::{Cover, Place, Relocate, Steps, inner};
use crate::map::Layout;
use crate::memory::{list, refill};
use smallvec::SmallVec;
use std::ops::Range;

/// Maps positions through the lower stages of an address map.
#[derive(Debug)]
pub(crate) struct Stages<'a>(pub(crate) &'a [Layout]);

impl Relocate for Stages<'_> {
    fn relocate(&self, positions: &mut [usize]) {
        self.0.iter().rev().for_each(|stage| stage.relocate(positions));
    }

    fn for_each_run(
        &self,
        start: usize,
        count: usize,
        visit: &mut dyn FnMut(usize, isize, usize),
    ) -> bool {
        match self.0 {
            [stage] => stage.for_each_run(start, count, visit),
            _ => false,
        }
    }

    fn cover(&self, positions: Range<usize>) -> Option<Cover> {
        let [stage] = self.0 else { return None };
        let axes = stage.as_linear()?;
        let mut inner: usize = axes.iter().map(|axis| axis.extent).product();
        let (mut first, mut base) = (0, stage.offset() as isize);
        for (k, axis) in axes.iter().enumerate() {
            inner /= axis.extent.max(1);
            let digit = |position: usize| (position - first).checked_div(inner);
            let (low, high) = (digit(positions.start)?, digit(positions.end.checked_sub(1)?)?);
            if high >= axis.extent {
                return None;
            }
            first += low * inner;
            base += axis.stride * low as isize;
            if low < high {
                let inner = axes[k + 1..].iter().map(|axis| (axis.extent, axis.stride));
                let sides = std::iter::once((high - low + 1, axis.stride)).chain(inner).collect();
                return Some(Cover { first, base, sides });
            }
        }
        Some(Cover { first, base, sides: SmallVec::new() })
    }
}

/// Elements of a row that are worth being looked for in runs.
const LONG: usize = 64;

/// Whether neighbouring positions are those of neighbouring rows, and many enough to be gone along.
pub(super) fn lies_across(place: &Place<'_>, rows: usize) -> bool {
    let even = |steps: &Steps<'_>| steps.is(1) || steps.is(-1);
    rows >= LONG && even(&place.rows) && !even(&place.columns)
}

/// Reads a tile that [`lies_across`], column by column, to rows that are `stride` apart.
#[inline(never)]
pub(super) fn read_across<T: Copy>(
    slice: &[T],
    relocate: &dyn Relocate,
    place: &Place<'_>,
    [rows, columns, stride]: [usize; 3],
    addresses: &mut Vec<usize>,
    out: &mut [T],
) -> Result<(), Error> {
    let Some(&seed) = out.first() else { return Ok(()) };
    let mut column = list(std::iter::repeat_n(seed, rows))?;
    for k in 0..columns {
        let base = place.base.wrapping_add(place.columns.at(k));
        if !copy_runs(slice, relocate, base, place.rows, &mut column)? {
            let address = |row| base.wrapping_add(place.rows.at(row)) as usize;
            refill(addresses, (0..rows).map(address))?;
            relocate.relocate(addresses);
            gather(slice, addresses, &mut column)?;
        }
        let slots = out[k..].iter_mut().step_by(stride);
        slots.zip(&column).for_each(|(slot, &element)| *slot = element);
    }
    Ok(())
}

/// Copies a row of neighbouring positions run by run, forwards or backwards, if they lie in runs.
pub(super) fn copy_runs<T: Copy>(
    slice: &[T],
    relocate: &dyn Relocate,
    base: isize,
    steps: Steps<'_>,
    out: &mut [T],
) -> Result<bool, Error> {
    let count = out.len();
    let backwards = steps.is(-1);
    if count < LONG || !(backwards || steps.is(1)) {
        return Ok(false);
    }
    let start = if backwards { base.wrapping_sub(count as isize - 1) } else { base };
    let (mut done, mut outside) = (0, None);
    let whole = relocate.for_each_run(start as usize, count, &mut |address, stride, len| {
        let part = if backwards { count - done - len..count - done } else { done..done + len };
        done += len;
        let last = address.wrapping_add_signed(stride.wrapping_mul(len as isize - 1));
        let (first, stride) =
            if backwards { (last, stride.wrapping_neg()) } else { (address, stride) };
        let out = &mut out[part];
        match slice.get(first..).and_then(|slice| slice.get(..len)) {
            Some(run) if stride == 1 => out.copy_from_slice(run),
            _ if address.max(last) < slice.len() => {
                let mut next = first;
                for slot in out {
                    *slot = slice[next];
                    next = next.wrapping_add_signed(stride);
                }
            }
            _ => outside = Some((address.min(last), address.max(last))),
        }
    });
    match outside {
        None => Ok(whole),
        Some((low, high)) => Err(inner::out_of_span(low as i128, high as i128, slice.len())),
    }
}

/// Copies the elements at some addresses.
pub(super) fn gather<T: Copy>(
    slice: &[T],
    addresses: &[usize],
    out: &mut [T],
) -> Result<(), Error> {
    for (slot, &address) in out.iter_mut().zip(addresses) {
        match slice.get(address) {
            Some(&element) => *slot = element,
            None => return Err(inner::out_of_span(address as i128, address as i128, slice.len())),
        }
    }
    Ok(())
}
