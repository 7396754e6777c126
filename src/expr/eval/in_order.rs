//! Evaluations by one thread whose operands lie in the order of the output, or are one tile of memory: no plan.

use super::one_tile;
use crate::error::{Error, Result};
use crate::expr::locate;
use crate::expr::node::Node;
use crate::kernel::inner::{self, slots};
use crate::kernel::{self, FillRow, PARALLEL, Stop};
use crate::map::AddressMap;
use crate::storage::Writer;

/// Calls `work` with what evaluates all elements of `e` at the shape of `map`, in order; returns whether that can be.
#[inline(always)]
pub(super) fn in_order<T>(
    e: &dyn Node<T>,
    map: &AddressMap,
    work: &mut dyn FnMut(&dyn FillRow<T>),
) -> bool {
    whole(map).is_some_and(|len| e.in_order(len, work))
}

/// How many slots, the first ones in order, a map is, if one thread writes them.
#[inline(always)]
pub(in crate::expr) fn whole(map: &AddressMap) -> Option<usize> {
    let whole = map.consecutive().filter(|run| run.start == 0)?.end;
    (1..PARALLEL).contains(&whole).then_some(whole)
}

/// All elements, if operands lie in order or are one tile of memory.
#[inline(always)]
pub(super) fn elements_without_plan<T: Copy + Send + Sync>(
    e: &dyn Node<T>,
    map: &AddressMap,
) -> Option<Result<Vec<T>, Stop>> {
    let (len, mut data) = (map.count(), None);
    let done = in_order(e, map, &mut |row| {
        data = Some(inner::collect(len, |out| kernel::fill_row(row, out)));
    });
    if !done {
        one_tile(e, map, true, &mut |tile| {
            data = Some(inner::collect(len, |out| e.fill_tile(tile, out)));
        });
    }
    data
}

/// The same to a destination that has just so many.
#[inline(always)]
pub(super) fn assign_without_plan<T: Copy + Send + Sync>(
    e: &dyn Node<T>,
    map: &AddressMap,
    storage: &mut dyn Writer<Elem = T>,
) -> Option<Result<(), Stop>> {
    let (len, mut done) = (whole(map)?, None);
    let out = slots(storage.as_mut_slice().filter(|out| out.len() == len)?);
    if !e.fits(&map.shape()) {
        return None;
    }
    let in_order = e.in_order(len, &mut |row| {
        done = Some(kernel::fill_row(row, out).map(drop));
    });
    if !in_order {
        one_tile(e, map, true, &mut |tile| done = Some(e.fill_tile(tile, out).map(drop)));
    }
    done
}

/// The error of a stop.
#[cold]
pub(super) fn located<T: Copy + Send + Sync>(
    e: &dyn Node<T>,
    map: &AddressMap,
    stop: Stop,
) -> Error {
    locate::explain_stop(e, &map.shape(), map, stop, None)
}
