//! Entries of a nested layout in ascending order of row-major position, with as little sorting as its
//! strides ask for.

use super::Entries;
use super::decode::for_each_entry;
use crate::error::Result;
use crate::map::{Level, Nested};
use crate::shape::Shape;
use crate::storage::{grow, reserve, sort_entries, zeros};

/// Keys an entry up to which a sort by counting has one counter a key.
const KEYS_PER_ENTRY: usize = 2;
/// Keys that are always few enough for that.
const FEW_KEYS: usize = 4096;

/// Positions and values of all entries that the layout reaches, ascending; of repeated axes the first
/// digits.
///
/// Entries come by falling stride: sorted by the axis of the largest stride, then by the next one. Those
/// of the last axes that are in row-major order already need no sorting, so a key of the axes before them
/// is enough; those of the first axes that are in order confine it to parts. They are `ways` at the most, see
/// [`ways`].
pub(super) fn ordered<T: Copy>(
    nested: &Nested,
    shape: &Shape,
    entries: &Entries<'_, T>,
    ways: usize,
) -> Result<(Vec<usize>, Vec<T>)> {
    let order = Order::of(nested, shape);
    if order.sorted {
        return decoded(nested, entries, ways);
    }
    let few = KEYS_PER_ENTRY.saturating_mul(entries.positions.len()).saturating_add(FEW_KEYS);
    let counts_fit = entries.positions.len() <= u32::MAX as usize;
    if order.keys <= few && counts_fit && !nested.levels.iter().any(Level::branches) {
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
struct Order {
    sorted: bool,
    /// Row-major positions of one key: entries of the same key are in order.
    key: usize,
    /// Number of keys.
    keys: usize,
    /// Row-major positions of one part: entries of different parts are in order.
    part: usize,
}

impl Order {
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
    if !nested.levels.iter().any(Level::branches) {
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
    let (mut positions, mut values) = (Vec::new(), Vec::new());
    if ways == 0 {
        return Ok((positions, values));
    }
    reserve(&mut positions, ways)?;
    reserve(&mut values, ways)?;
    let mut result = Ok(());
    for_each_entry(nested, 1, addresses, |ordinal, position, _| {
        if positions.len() == positions.capacity() && result.is_ok() {
            result = grow(&mut positions, 1).and_then(|()| grow(&mut values, 1));
        }
        if result.is_ok() {
            positions.push(position);
            values.push(from[ordinal]);
        }
    })?;
    result.map(|()| (positions, values))
}

/// Positions and values sorted by key: counted first, then put where the counts say.
fn counted<T: Copy>(
    nested: &Nested,
    order: &Order,
    entries: &Entries<'_, T>,
) -> Result<(Vec<usize>, Vec<T>)> {
    let (addresses, from) = (&*entries.positions, &*entries.values);
    let mut slots = vec![0_u32; order.keys];
    for_each_entry(nested, order.key, addresses, |_, _, key| slots[key] += 1)?;
    let mut count = 0;
    for slot in &mut slots {
        count += std::mem::replace(slot, count);
    }
    let count = count as usize;
    let mut values = Vec::new();
    reserve(&mut values, count)?;
    let mut positions = zeros(count)?;
    if let Some(&seed) = from.first() {
        values.resize(count, seed);
    }
    for_each_entry(nested, order.key, addresses, |ordinal, position, key| {
        let place = slots[key] as usize;
        slots[key] += 1;
        positions[place] = position;
        values[place] = from[ordinal];
    })?;
    Ok((positions, values))
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
