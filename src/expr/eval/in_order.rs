//! Evaluations by one thread whose operands lie in the order of the output: no plan, no tiles.

use crate::error::Result;
use crate::expr::locate;
use crate::expr::node::Node;
use crate::kernel::inner::{self, slots};
use crate::kernel::{self, Fill, PARALLEL, Stop};
use crate::map::AddressMap;
use crate::storage::Writer;

/// Calls `work` with what evaluates all elements of `e` at the shape of `map`, in order; tells whether that can be.
#[inline(always)]
pub(super) fn in_order<T>(
    e: &dyn Node<T>,
    map: &AddressMap,
    work: &mut dyn FnMut(&dyn Fill<T>),
) -> bool {
    whole(map).is_some_and(|len| e.in_order(len, work))
}

/// How many slots, the first ones in order, a map is, if one thread writes them.
#[inline(always)]
pub(in crate::expr) fn whole(map: &AddressMap) -> Option<usize> {
    let in_order = map.is_contiguous() && map.top().offset() == 0;
    in_order.then(|| map.count()).filter(|len| (1..PARALLEL).contains(len))
}

/// All elements.
#[inline(always)]
pub(super) fn elements_in_order<T: Copy + Send + Sync>(
    e: &dyn Node<T>,
    map: &AddressMap,
) -> Option<Result<Vec<T>>> {
    let (len, mut data) = (map.count(), None);
    in_order(e, map, &mut |cursor| {
        data = Some(inner::collect(len, |out| kernel::fill_tile(cursor, 0, [1, len], out)));
    });
    data.map(|data| located(e, map, data))
}

/// All elements to a destination that has just so many.
#[inline(always)]
pub(super) fn assign_in_order<T: Copy + Send + Sync>(
    e: &dyn Node<T>,
    map: &AddressMap,
    storage: &mut dyn Writer<Elem = T>,
) -> Option<Result<()>> {
    let (len, mut done) = (whole(map)?, None);
    let out = storage.as_mut_slice().filter(|out| out.len() == len)?;
    e.in_order(len, &mut |cursor| {
        if e.is_shaped(&map.shape()) {
            done = Some(kernel::fill_tile(cursor, 0, [1, len], slots(out)).map(drop));
        }
    });
    done.map(|done| located(e, map, done))
}

/// The error of a stop.
fn located<T: Copy + Send + Sync, U>(
    e: &dyn Node<T>,
    map: &AddressMap,
    done: Result<U, Stop>,
) -> Result<U> {
    done.map_err(|stop| locate::explain_stop(e, &map.shape(), map, stop, None))
}
