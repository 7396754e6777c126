//! Dense results of sparse expressions: filled, then written where there are entries.

use super::densely::MOST;
use super::{all_stored, evaluate};
use crate::error::Result;
use crate::expr::elements::write_part;
use crate::expr::node::{Node, Tree};
use crate::expr::{Scalar, eval};
use crate::map::{AddressMap, Layout};
use crate::memory::try_with_capacity;
use crate::shape::Shape;
use crate::storage::Writer;
use std::borrow::Cow;

/// Elements an entry from which on it pays to collect entries instead of reading tiles.
const ELEMENTS_PER_ENTRY: usize = 8;
/// The same where entries are looked for one by one, as their addresses do not tell an index.
const ELEMENTS_PER_SEARCH: usize = 64;

/// All elements of an expression of sparse leaves, if that is quicker by its entries.
#[inline(never)]
pub(in crate::expr) fn eval_sparsely<T: Copy + Send + Sync>(
    e: &dyn Node<T>,
    shape: &Shape,
    map: &AddressMap,
) -> Option<Result<Vec<T>>> {
    let len = map.count();
    worthwhile(e, len).then(|| {
        let storage = evaluate(e, shape, len)?;
        let mut data = eval::elements(&Scalar(storage.fill()), shape, map)?;
        for (address, value) in storage.iter() {
            if let Some(element) = data.get_mut(address) {
                *element = value;
            }
        }
        Ok(data)
    })
}

/// All elements of an expression of sparse leaves into storage that is not sparse, if that is quicker by
/// its entries.
#[inline(never)]
pub(in crate::expr) fn assign_sparsely<T: Copy + Send + Sync>(
    e: &dyn Node<T>,
    shape: &Shape,
    map: &AddressMap,
    writer: &mut dyn Writer<Elem = T>,
) -> Option<Result<()>> {
    let len = map.count();
    worthwhile(e, len).then(|| {
        let storage = evaluate(e, shape, len)?;
        eval::assign_blocks(&Scalar(storage.fill()), shape, map, writer)?;
        let straight = map.consecutive().is_some_and(|run| run.start == 0);
        let mut addresses = Cow::Borrowed(storage.addresses());
        if !straight {
            let mut found = try_with_capacity(storage.stored_len())?;
            map.addresses_at(storage.addresses(), &mut found);
            addresses = Cow::Owned(found);
        }
        write_part(map, writer, &addresses, storage.values())
    })
}

/// Whether there are sparse leaves and no others, and their views have few entries among many elements.
pub(in crate::expr) fn worthwhile(e: &dyn Tree, len: usize) -> bool {
    if len <= eval::UNPLANNED_ELEMENTS || !all_stored(e) {
        return false;
    }
    let (mut leaves, mut least) = (0, 0_usize);
    e.leaves(&mut |leaf| {
        let entries = leaf.stored_in(len);
        let each = match is_cheap(entries, leaf.map, len) {
            true => ELEMENTS_PER_ENTRY,
            false => ELEMENTS_PER_SEARCH,
        };
        least = least.saturating_add(entries.saturating_mul(each));
        leaves += 1;
    });
    leaves > 0 && least <= len
}

/// Whether what goes through all elements takes those with an entry, and one for all others: all leaves are sparse, and
/// of none so many entries are repeated, or looked for one by one, that elements are read sooner. A function of stored
/// entries is computed so anyway. Without elements nothing is evaluated, the fill value neither.
#[inline(never)]
pub(crate) fn goes_by_entries<T: Copy + Send + Sync>(e: &dyn Node<T>, shape: &Shape) -> bool {
    if e.stored_only().is_some() {
        return true;
    }
    let len = shape.count().unwrap_or(usize::MAX);
    let mut by_entries = len > 0 && all_stored(e);
    if by_entries {
        e.leaves(&mut |leaf| {
            let (stored, entries) = (leaf.stored(), leaf.stored_in(len));
            let repeated =
                entries > stored && len <= MOST && entries.saturating_mul(ELEMENTS_PER_ENTRY) > len;
            by_entries &= !repeated && is_cheap(stored, leaf.map, len);
        });
    }
    by_entries
}

/// Whether entries are few, elements too many to be read, or an address tells the index that it has in every stage.
fn is_cheap(entries: usize, map: &AddressMap, len: usize) -> bool {
    let is_nested =
        |stage: &Layout| stage.is_contiguous() || matches!(stage.coalesced().nested(), Ok(Some(_)));
    len > MOST
        || entries.saturating_mul(ELEMENTS_PER_SEARCH) <= len
        || std::iter::once(map.top()).chain(map.rest()).all(is_nested)
}
