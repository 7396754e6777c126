//! Entries of a nested layout in ascending order of row-major position, with as little sorting as its
//! strides ask for.

use super::Entries;
use super::decode::for_each_entry;
use crate::error::Result;
use crate::map::{Divider, Nested, NestedAxis};
use crate::memory::{list, try_reserve, try_with_capacity, zeros};
use crate::shape::Shape;
use crate::storage::sort_entries;

/// Keys an entry up to which a sort by counting has one counter a key.
const KEYS_PER_ENTRY: usize = 2;
/// Keys that are always few enough for that.
const FEW_KEYS: usize = 4096;
/// Bytes of entries that the caches hold, so that any number of keys can be written to at once.
const UNGROUPED: usize = 1 << 20;
/// Bytes of the entries of a group of keys, about.
const GROUP: usize = 1 << 16;
/// Groups that are written to at once, at the most: the translation cache keeps as many pages.
const MOST_GROUPS: usize = 512;

/// Positions and values of all entries that the layout reaches, ascending; of repeated axes the first
/// digits.
///
/// Entries come by falling stride: sorted by the axis of the largest stride, then by the next one. Those
/// of the last axes that are in row-major order already need no sorting, so a key of the axes before them
/// is enough; those of the first axes that are in order confine it to parts. They are `ways` at the most, see
/// [`ways`].
#[inline(never)]
pub(super) fn ordered<T: Copy>(
    nested: &Nested,
    shape: &Shape,
    entries: &Entries<'_, T>,
    ways: usize,
) -> Result<(Vec<usize>, Vec<T>)> {
    let order = SortPlan::of(nested, shape);
    if order.sorted {
        return decoded(nested, entries, ways);
    }
    let few = KEYS_PER_ENTRY.saturating_mul(entries.positions.len()).saturating_add(FEW_KEYS);
    let counts_fit = entries.positions.len() <= u32::MAX as usize;
    if order.keys <= few && counts_fit && !nested.levels.iter().any(NestedAxis::branches) {
        return counted(nested, &order, entries);
    }
    let (mut positions, mut values) = decoded(nested, entries, ways)?;
    let mut start = 0;
    while start < positions.len() {
        let end_position = (positions[start] / order.part + 1).saturating_mul(order.part);
        let beyond = positions[start..].iter().position(|position| *position >= end_position);
        let end = beyond.map_or(positions.len(), |count| start + count.max(1));
        sort_part(&mut positions[start..end], &mut values[start..end])?;
        start = end;
    }
    Ok((positions, values))
}

/// What is to be sorted.
struct SortPlan {
    sorted: bool,
    /// Row-major positions of one key: entries of the same key are in order.
    key: usize,
    /// Number of keys.
    keys: usize,
    /// Row-major positions of one part: entries of different parts are in order.
    part: usize,
}

impl SortPlan {
    fn of(nested: &Nested, shape: &Shape) -> Self {
        let levels = &nested.levels;
        let mut axes: Vec<_> = levels.iter().collect();
        axes.sort_by_key(|level| level.axis);
        let leading = axes.iter().zip(levels).take_while(|(a, b)| a.axis == b.axis && a.ascends());
        let leading = leading.count();
        // The fewest axes whose digits, sorted first, leave the others in order.
        let in_order = |first: usize| {
            let rest = levels.iter().filter(|level| level.axis >= axes[first].axis);
            rest.zip(&axes[first..]).all(|(a, b)| a.axis == b.axis && a.ascends())
        };
        let keyed = (0..axes.len()).find(|&first| in_order(first)).unwrap_or(axes.len());
        let Some(last) = keyed.checked_sub(1) else {
            return Self { sorted: true, key: 1, keys: 1, part: usize::MAX };
        };
        Self {
            sorted: false,
            key: axes[last].weight,
            keys: shape[..=axes[last].axis].iter().product(),
            part: leading.checked_sub(1).map_or(usize::MAX, |last| axes[last].weight),
        }
    }
}

/// How many positions show the addresses, at the most. Lists of indexes may show one very often.
pub(super) fn ways(nested: &Nested, addresses: &[usize]) -> usize {
    if !nested.levels.iter().any(NestedAxis::branches) {
        return addresses.len();
    }
    addresses.iter().fold(0, |ways, &address| ways.saturating_add(nested.most_ways(address)))
}

/// Positions and values in the order of the addresses. What has no room is refused before it is begun.
fn decoded<T: Copy>(
    nested: &Nested,
    entries: &Entries<'_, T>,
    ways: usize,
) -> Result<(Vec<usize>, Vec<T>)> {
    let (addresses, from) = (&*entries.positions, &*entries.values);
    let (mut positions, mut values) = (try_with_capacity(ways)?, try_with_capacity(ways)?);
    if ways == 0 {
        return Ok((positions, values));
    }
    let mut result = Ok(());
    for_each_entry(nested, 1, addresses, |ordinal, position, _| {
        if positions.len() == positions.capacity() && result.is_ok() {
            result = try_reserve(&mut positions, 1).and_then(|()| try_reserve(&mut values, 1));
        }
        if result.is_ok() {
            positions.push(position);
            values.push(from[ordinal]);
        }
    })?;
    result.map(|()| (positions, values))
}

/// Positions and values sorted by key: counted first, then put where the counts say.
///
/// Many keys are as many places to write to at once, more than the caches hold if entries are many. Then
/// entries are put into groups of neighbouring keys first, and each group, which the caches do hold, is sorted.
fn counted<T: Copy>(
    nested: &Nested,
    order: &SortPlan,
    entries: &Entries<'_, T>,
) -> Result<(Vec<usize>, Vec<T>)> {
    let (addresses, from) = (&*entries.positions, &*entries.values);
    let (mut slots, count) = starts_of_keys(nested, order, addresses)?;
    let mut values = try_with_capacity(count)?;
    let mut positions = zeros(count)?;
    if let Some(&seed) = from.first() {
        values.resize(count, seed);
    }
    let shift = group_shift(order.keys, count.saturating_mul(size_of::<(usize, T)>()));
    let mut starts: Vec<u32> = match shift {
        0 => Vec::new(),
        _ => list(slots.iter().step_by(1 << shift).copied())?,
    };
    let next = if shift > 0 { &mut starts[..] } else { &mut slots[..] };
    let (to_positions, to_values) = (&mut positions[..], &mut values[..]);
    for_each_entry(nested, order.key, addresses, |ordinal, position, key| {
        let slot = &mut next[key >> shift];
        let place = *slot as usize;
        *slot += 1;
        to_positions[place] = position;
        to_values[place] = from[ordinal];
    })?;
    if shift > 0 {
        let keys = Divider::new(order.key, order.keys.saturating_mul(order.key));
        sort_groups(&mut slots, shift, keys, &mut positions, &mut values)?;
    }
    Ok((positions, values))
}

/// How many positions have keys below each key, and how many there are.
fn starts_of_keys(
    nested: &Nested,
    order: &SortPlan,
    addresses: &[usize],
) -> Result<(Vec<u32>, usize)> {
    let mut counts: Vec<u32> = zeros(order.keys)?;
    let own = &mut counts[..];
    for_each_entry(nested, order.key, addresses, |_, _, key| own[key] += 1)?;
    let mut count = 0;
    for slot in &mut counts {
        count += std::mem::replace(slot, count);
    }
    Ok((counts, count as usize))
}

/// Keys of a group, as a power of two: 1 if entries of so many bytes are better not put into groups.
fn group_shift(keys: usize, bytes: usize) -> u32 {
    if bytes < UNGROUPED || keys <= MOST_GROUPS {
        return 0;
    }
    keys.div_ceil((bytes / GROUP).clamp(1, MOST_GROUPS)).next_power_of_two().ilog2()
}

/// Sorts groups of `1 << shift` keys each, that start where `slots` says.
fn sort_groups<T: Copy>(
    slots: &mut [u32],
    shift: u32,
    keys: Divider,
    positions: &mut [usize],
    values: &mut [T],
) -> Result<()> {
    let (mut sorted_positions, mut sorted_values) = (Vec::new(), Vec::new());
    let (mut rest, mut rest_values, mut start) = (positions, values, 0);
    let mut groups = slots.chunks_mut(1 << shift).peekable();
    while let Some(slots) = groups.next() {
        let end = groups.peek().and_then(|slots| slots.first().copied());
        let count = end.map_or(rest.len(), |end| end as usize - start);
        let (positions, later) = rest.split_at_mut(count);
        let (values, later_values) = rest_values.split_at_mut(count);
        (rest, rest_values) = (later, later_values);
        if let Some(&seed) = values.first().filter(|_| sorted_values.len() < count) {
            try_reserve(&mut sorted_positions, count)?;
            try_reserve(&mut sorted_values, count)?;
            sorted_positions.resize(count, 0);
            sorted_values.resize(count, seed);
        }
        for (&position, &value) in positions.iter().zip(&*values) {
            let slot = &mut slots[keys.divide(position).0 % (1 << shift)];
            let place = *slot as usize - start;
            *slot += 1;
            sorted_positions[place] = position;
            sorted_values[place] = value;
        }
        positions.copy_from_slice(&sorted_positions[..count]);
        values.copy_from_slice(&sorted_values[..count]);
        start += count;
    }
    Ok(())
}

/// Sorts a part, of which flips reverse and rotations exchange two runs.
fn sort_part<T: Copy>(positions: &mut [usize], values: &mut [T]) -> Result<()> {
    let Some(fall) = positions.windows(2).position(|pair| pair[0] >= pair[1]) else {
        return Ok(());
    };
    let (head, tail) = positions.split_at(fall + 1);
    if tail.is_sorted() && tail.last() < head.first() {
        positions.rotate_left(fall + 1);
        values.rotate_left(fall + 1);
        return Ok(());
    }
    if positions.is_sorted_by(|a, b| a > b) {
        positions.reverse();
        values.reverse();
        return Ok(());
    }
    sort_entries(positions, values)
}
