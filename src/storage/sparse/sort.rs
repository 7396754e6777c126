//! Entries in ascending order of address: stable, and in time proportional to their number.

use crate::error::Result;
use crate::memory::{list, refill, sort_by, zeros};

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
#[inline(never)]
pub(crate) fn sorted_entries<T: Copy>(
    addresses: &[usize],
    values: &[T],
) -> Result<Vec<(usize, T)>> {
    let mut entries = list(addresses.iter().copied().zip(values.iter().copied()))?;
    sort_pairs(&mut entries, &mut Vec::new())?;
    Ok(entries)
}

/// Sorts addresses with what belongs to them; what has the same address keeps its order. `spare` is memory to be
/// used again.
pub(crate) fn sort_pairs<T: Copy>(
    entries: &mut Vec<(usize, T)>,
    spare: &mut Vec<(usize, T)>,
) -> Result<()> {
    if entries.is_sorted_by_key(|entry| entry.0) {
        return Ok(());
    }
    if entries.len() < FEW {
        return sort_by(entries, spare, |a, b| a.0.cmp(&b.0));
    }
    radix_sort(entries, spare)
}

#[inline(never)]
fn radix_sort<T: Copy>(entries: &mut Vec<(usize, T)>, other: &mut Vec<(usize, T)>) -> Result<()> {
    let lowest = entries.iter().map(|entry| entry.0).min().unwrap_or(0);
    let highest = entries.iter().map(|entry| entry.0).max().unwrap_or(0);
    let bits = usize::BITS - (highest - lowest).leading_zeros();
    let passes = bits.div_ceil(DIGIT_BITS).max(1);
    let digit_bits = bits.div_ceil(passes);
    let mask = (1_usize << digit_bits) - 1;

    let mut counts: Vec<usize> = zeros(passes as usize * (mask + 1))?;
    for entry in entries.iter() {
        let mut rest = entry.0 - lowest;
        for counts in counts.chunks_exact_mut(mask + 1) {
            counts[rest & mask] += 1;
            rest >>= digit_bits;
        }
    }
    refill(other, entries.iter().copied())?;
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
        std::mem::swap(entries, other);
    }
    Ok(())
}
