//! The elements of runs and columns that count: the others become padding where there is some that changes nothing, else those
//! that count are brought together.

use super::super::{Padding, Reducer};
use smallvec::SmallVec;

/// The state of the elements that were taken, or of one that was not while none was.
#[derive(Debug, Clone)]
pub enum Taken<S> {
    /// Of those that were taken.
    Some(S),
    /// Of the first, which was skipped.
    None(S),
}

impl<S> Taken<S> {
    /// The state of an element, or copies of it, if that counts.
    #[inline(always)]
    pub(super) fn of(state: S, counts: bool) -> Self {
        if counts { Self::Some(state) } else { Self::None(state) }
    }
}

/// Elements of a short run.
pub(super) const FEW: usize = 16;
/// Elements of a longer run that are brought together at a time.
const PART: usize = 64;
/// Elements of a leaf, which lie on the stack if they have no more bytes than this.
const LEAF: usize = 512;
const SMALL_BYTES: usize = 16;

/// Rows and columns of which the elements that count are brought together at a time.
const ROWS: usize = 64;
const COLUMNS: usize = 16;
/// Rows and columns that are padded at a time, and bytes of them.
const MOST_ROWS: usize = u8::MAX as usize;
const MOST_COLUMNS: usize = 512;
const PADDED_BYTES: usize = 1 << 15;

/// Puts an element behind the `count` that are kept, and says how many these are if it counts: without a branch, which no
/// processor would predict.
#[inline(always)]
pub(super) fn keep<T>((x, counts): (T, bool), kept: &mut [T], count: usize) -> usize {
    kept[count] = x;
    count + usize::from(counts)
}

/// The state of the elements of a run that count, side by side as one run, if there are any: `take` gives an element and
/// whether it counts.
#[inline(always)]
pub(super) fn fold_taken<X: Copy, T: Copy, R: Reducer<T>>(
    reducer: &R,
    run: &[X],
    position: usize,
    take: impl Fn(X) -> (T, bool),
) -> Option<R::State> {
    if run.len() > FEW {
        return if const { size_of::<T>() <= SMALL_BYTES } {
            fold_many::<PART, LEAF, _, _, _>(reducer, run, position, take)
        } else {
            fold_many::<1, 1, _, _, _>(reducer, run, position, take)
        };
    }
    let (mut few, mut count) = ([take(run[0]).0; FEW], 0);
    for &x in run {
        count = keep(take(x), &mut few, count);
    }
    (count > 0).then(|| reducer.fold(&few[..count], position))
}

/// The same of more elements: `P` at a time, and `N` of those that count, lie on the stack.
fn fold_many<const P: usize, const N: usize, X: Copy, T: Copy, R: Reducer<T>>(
    reducer: &R,
    run: &[X],
    position: usize,
    take: impl Fn(X) -> (T, bool),
) -> Option<R::State> {
    let in_order = R::POSITIONS || !R::ASSOCIATIVE;
    let (mut state, mut all) = (None, SmallVec::<[T; N]>::new());
    let (mut part, mut places) = ([take(run[0]).0; P], [position; P]);
    for (items, first) in run.chunks(P).zip((position..).step_by(P)) {
        let mut count = 0;
        for (k, &x) in items.iter().enumerate() {
            if in_order {
                places[count] = first + k;
            }
            count = keep(take(x), &mut part, count);
        }
        if !in_order {
            all.extend_from_slice(&part[..count]);
            continue;
        }
        let mut taken = part.iter().zip(&places[..count]);
        if state.is_none() {
            state = taken.next().map(|(&x, &at)| reducer.first_at(x, at));
        }
        if let Some(state) = &mut state {
            taken.for_each(|(&x, &at)| reducer.step_at(state, x, at));
        }
    }
    if all.is_empty() { state } else { Some(reducer.fold(&all, position)) }
}

/// The states of the elements of columns that count, or of the first ones. `take` gives an element and whether it counts.
#[inline(always)]
pub(super) fn fold_columns_taken<X: Copy, T: Copy, R: Reducer<T>>(
    reducer: &R,
    rows: &[&[X]],
    states: &mut Vec<Taken<R::State>>,
    take: impl Fn(X) -> (T, bool),
) {
    states.clear();
    let Some(&first) = rows[0].first() else { return };
    let first = take(first).0;
    if const { R::PADDING.is_some() } && rows.len() <= MOST_ROWS {
        pad_columns(reducer, rows, first, states, take);
    } else {
        gather_columns(reducer, rows, first, states, take);
    }
}

/// With padding for those that do not count, of as many columns at a time as the nearest cache holds.
#[inline(always)]
fn pad_columns<X: Copy, T: Copy, R: Reducer<T>>(
    reducer: &R,
    rows: &[&[X]],
    first: T,
    states: &mut Vec<Taken<R::State>>,
    take: impl Fn(X) -> (T, bool),
) {
    let (height, width) = (rows.len(), rows[0].len());
    let most = (PADDED_BYTES / (height * size_of::<T>().max(1))).clamp(COLUMNS, MOST_COLUMNS);
    let mut padded = vec![first; height * most.min(width)];
    let (mut paddings, mut own) = ([first; MOST_COLUMNS], Vec::new());
    if let Padding::Value(padding) = R::PADDING {
        paddings.fill(padding);
    }
    for start in (0..width).step_by(most) {
        let width = most.min(width - start);
        let (paddings, counts) = (&mut paddings[..width], &mut [0_u8; MOST_COLUMNS][..width]);
        if let Padding::Repeated = R::PADDING {
            for (k, padding) in paddings.iter_mut().enumerate() {
                let mut column = rows.iter().map(|row| take(row[start + k]));
                *padding = column.find(|(_, counts)| *counts).map_or(first, |(x, _)| x);
            }
        }
        for (row, padded) in rows.iter().zip(padded.chunks_exact_mut(width)) {
            let columns = row[start..][..width].iter().zip(padded).zip(&*paddings);
            for (((&x, padded), &padding), count) in columns.zip(&mut *counts) {
                let (x, counts) = take(x);
                *padded = if counts { x } else { padding };
                *count += u8::from(counts);
            }
        }
        let padded: SmallVec<[&[T]; ROWS]> = padded.chunks_exact(width).take(height).collect();
        reducer.fold_columns(&padded, 0, &mut own);
        let firsts = rows[0][start..].iter().zip(&*counts);
        states.extend(own.drain(..).zip(firsts).map(|(mut state, (&x, &count))| {
            if count == 0 {
                return Taken::None(reducer.first(take(x).0));
            }
            reducer.unpad(&mut state, height - usize::from(count));
            Taken::Some(state)
        }));
    }
}

/// Brought together, of some columns and rows at a time.
#[inline(always)]
fn gather_columns<X: Copy, T: Copy, R: Reducer<T>>(
    reducer: &R,
    rows: &[&[X]],
    first: T,
    states: &mut Vec<Taken<R::State>>,
    take: impl Fn(X) -> (T, bool),
) {
    states.extend(rows[0].iter().map(|&x| Taken::None(reducer.first(take(x).0))));
    let height = rows.len().min(ROWS);
    let mut taken = vec![first; height * COLUMNS.min(states.len())];
    for rows in rows.chunks(ROWS) {
        for (k, states) in states.chunks_mut(COLUMNS).enumerate() {
            let mut counts = [0; COLUMNS];
            for row in rows {
                let columns = &row[k * COLUMNS..][..states.len()];
                let places = taken.chunks_exact_mut(height).zip(&mut counts);
                for (&x, (taken, count)) in columns.iter().zip(places) {
                    *count = keep(take(x), taken, *count);
                }
            }
            let columns = taken.chunks_exact(height).zip(counts);
            for (state, (taken, count)) in
                states.iter_mut().zip(columns).filter(|(_, (_, count))| *count > 0)
            {
                let taken = &taken[..count];
                match state {
                    Taken::None(_) => *state = Taken::Some(reducer.fold(taken, 0)),
                    Taken::Some(state) if R::ASSOCIATIVE => {
                        reducer.combine(state, reducer.fold(taken, 0))
                    }
                    Taken::Some(state) => taken.iter().for_each(|&x| reducer.step(state, x)),
                }
            }
        }
    }
}
