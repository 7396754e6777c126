//! Sorting of keys: by bytes where there are many, by comparison where there are few.

use crate::dtype::Radix;
use crate::error::Result;
use crate::storage::reserve;
use std::ops::Range;

/// Memory to sort with, kept from lane to lane.
#[derive(Debug)]
pub(super) struct Spare<R> {
    items: Vec<R>,
    counts: Vec<[u32; 256]>,
}

impl<R> Default for Spare<R> {
    fn default() -> Self {
        Self { items: Vec::new(), counts: Vec::new() }
    }
}

/// Fewest items for which counting the values of a byte is worth it, a byte of the key.
const MANY: usize = 128;

/// Sorts items whose order is that of some of their bytes: all others are equal, or ascend already.
///
/// From the lowest byte to the highest, items are dealt to 256 heaps by that byte, in the order in which
/// they come. All bytes are counted in one pass, and one that all items share costs nothing more.
///
/// # Errors
///
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
#[inline(always)]
pub(super) fn sort<R: Radix>(
    items: &mut Vec<R>,
    spare: &mut Spare<R>,
    bytes: Range<usize>,
) -> Result<()> {
    let len = items.len();
    if len < MANY * bytes.len() || u32::try_from(len).is_err() {
        items.sort_unstable();
        return Ok(());
    }
    let Some(&seed) = items.first() else { return Ok(()) };
    spare.counts.clear();
    spare.counts.resize(bytes.len(), [0; 256]);
    for item in items.iter() {
        for (counts, k) in spare.counts.iter_mut().zip(bytes.clone()) {
            counts[item.byte(k)] += 1;
        }
    }
    let more = len.saturating_sub(spare.items.len());
    reserve(&mut spare.items, more)?;
    spare.items.resize(spare.items.len() + more, seed);
    for (counts, k) in spare.counts.iter_mut().zip(bytes) {
        if counts[seed.byte(k)] as usize == len {
            continue;
        }
        let mut start = 0;
        for count in counts.iter_mut() {
            start += std::mem::replace(count, start);
        }
        let to = &mut spare.items[..len];
        for &item in items.iter() {
            let next = &mut counts[item.byte(k)];
            to[*next as usize] = item;
            *next += 1;
        }
        std::mem::swap(items, &mut spare.items);
    }
    items.truncate(len);
    Ok(())
}
