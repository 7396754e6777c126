//! The order in which listed positions ascend.

use crate::error::Result;
use crate::memory::{list, try_with_capacity, zeros};

/// Ascending sequences that are merged; what is made of more is sorted.
const MERGED: usize = 8;

/// The numbers of positions by ascending position; those of one position in order.
pub(super) fn ascending(positions: &[usize]) -> Result<Vec<usize>> {
    if let Some(order) = merged(positions)? {
        return Ok(order);
    }
    let mut order = list(0..positions.len())?;
    order.sort_unstable_by_key(|&number| (positions[number], number));
    Ok(order)
}

/// The same of a few ascending sequences that alternate, as the items of rows do that are joined of several parts;
/// `None` of many.
fn merged(positions: &[usize]) -> Result<Option<Vec<usize>>> {
    let mut of: Vec<u8> = zeros(positions.len())?;
    // Each position goes to the sequence with the highest end that it is not below, so that ends fall.
    let (mut ends, mut counts, mut count) = ([0; MERGED], [0; MERGED], 0);
    for (&position, of) in positions.iter().zip(&mut of) {
        let which = ends[..count].iter().position(|&end| end <= position).unwrap_or(count);
        if which == MERGED {
            return Ok(None);
        }
        count = count.max(which + 1);
        (ends[which], *of) = (position, which as u8);
        counts[which] += 1;
    }
    let (mut next, mut start) = ([0; MERGED], 0);
    for (next, count) in next.iter_mut().zip(counts) {
        *next = start;
        start += count;
    }
    let mut heads = next;
    let mut numbers: Vec<usize> = zeros(positions.len())?;
    for (number, &which) in of.iter().enumerate() {
        let slot = &mut next[usize::from(which)];
        numbers[*slot] = number;
        *slot += 1;
    }
    // Of equal positions the later ones are in later sequences.
    let ends = next;
    let at = |heads: &[usize; MERGED], which: usize| match heads[which] < ends[which] {
        true => positions[numbers[heads[which]]],
        false => usize::MAX,
    };
    let mut lowest: [usize; MERGED] = std::array::from_fn(|which| at(&heads, which));
    let mut order = try_with_capacity(positions.len())?;
    for _ in positions {
        let mut first = 0;
        for which in 1..count {
            first = if lowest[which] < lowest[first] { which } else { first };
        }
        order.push(numbers[heads[first]]);
        heads[first] += 1;
        lowest[first] = at(&heads, first);
    }
    Ok(Some(order))
}

#[cfg(test)]
mod tests {
    use super::ascending;

    #[test]
    fn the_order_is_that_of_a_stable_sort() {
        let rows = |parts: usize| {
            let row = move |row: usize| (0..parts).map(move |part| 100 * part + 2 * row);
            (0..20).flat_map(row).flat_map(|first| [first, first + 1, first + 1]).collect()
        };
        let falling: Vec<usize> = (0..40).rev().collect();
        let mixed: Vec<usize> = (0..200).map(|k| (k * 37) % 64).collect();
        let same = vec![5, 9, 5, 5, 9, 2, 5, 9, 2];
        let lists = [vec![], vec![3], rows(1), rows(2), rows(3), rows(8), rows(9)];
        for list in lists.into_iter().chain([falling, mixed, same]) {
            let mut expected: Vec<usize> = (0..list.len()).collect();
            expected.sort_by_key(|&number| list[number]);
            assert_eq!(ascending(&list).unwrap(), expected, "{list:?}");
        }
    }
}
