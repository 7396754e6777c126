//! Entries in ascending order of address: stable, and in time proportional to their number.

use crate::error::Result;
use crate::memory::room;

/// Most bits of an address that one pass of the sort looks at: it writes to as many places at once as the
/// translation cache keeps pages.
const DIGIT_BITS: u32 = 9;
/// Fewer entries than this are sorted by comparing them.
const FEW: usize = 192;

/// Whether numbers ascend, none of them twice.
pub(crate) fn is_ascending(numbers: &[usize]) -> bool {
    numbers.windows(2).all(|pair| pair[0] < pair[1])
}

/// Sorts entries by address; those of one address keep their order.
///
/// # Errors
///
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if there is no room for a copy of the entries.
pub(crate) fn sort_entries<T: Copy>(addresses: &mut [usize], values: &mut [T]) -> Result<()> {
    if addresses.is_sorted() {
        return Ok(());
    }
    let entries = sorted_entries(addresses, values)?;
    for ((address, value), entry) in addresses.iter_mut().zip(values).zip(&entries) {
        (*address, *value) = *entry;
    }
    Ok(())
}

/// Copies of entries, sorted by address; those of one address keep their order.
///
/// Addresses are sorted digit by digit from the lowest on, over the bits in which they differ.
///
/// # Errors
///
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if there is no room for two copies.
pub(crate) fn sorted_entries<T: Copy>(
    addresses: &[usize],
    values: &[T],
) -> Result<Vec<(usize, T)>> {
    let mut entries: Vec<(usize, T)> = room(addresses.len())?;
    entries.extend(addresses.iter().copied().zip(values.iter().copied()));
    if entries.len() < FEW {
        entries.sort_by_key(|entry| entry.0);
    } else {
        radix_sort(&mut entries)?;
    }
    Ok(entries)
}

fn radix_sort<T: Copy>(entries: &mut Vec<(usize, T)>) -> Result<()> {
    let lowest = entries.iter().map(|entry| entry.0).min().unwrap_or(0);
    let highest = entries.iter().map(|entry| entry.0).max().unwrap_or(0);
    let bits = usize::BITS - (highest - lowest).leading_zeros();
    let passes = bits.div_ceil(DIGIT_BITS).max(1);
    let digit_bits = bits.div_ceil(passes);
    let mask = (1_usize << digit_bits) - 1;

    let mut counts = vec![0_usize; passes as usize * (mask + 1)];
    for entry in entries.iter() {
        let mut rest = entry.0 - lowest;
        for counts in counts.chunks_exact_mut(mask + 1) {
            counts[rest & mask] += 1;
            rest >>= digit_bits;
        }
    }
    let mut other: Vec<(usize, T)> = room(entries.len())?;
    other.extend_from_slice(entries);
    for (pass, counts) in counts.chunks_exact_mut(mask + 1).enumerate() {
        if counts.contains(&entries.len()) {
            continue;
        }
        let mut start = 0;
        for count in &mut *counts {
            start += std::mem::replace(count, start);
        }
        let shift = pass as u32 * digit_bits;
        for &entry in entries.iter() {
            let slot = &mut counts[(entry.0 - lowest) >> shift & mask];
            other[*slot] = entry;
            *slot += 1;
        }
        std::mem::swap(entries, &mut other);
    }
    Ok(())
}
