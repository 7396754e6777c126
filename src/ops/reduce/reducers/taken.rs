//! The elements of a run that count, brought together.

use super::super::Reducer;
use smallvec::SmallVec;

/// Elements of a short run.
pub(super) const FEW: usize = 16;
/// Elements of a longer run that are brought together at a time.
const PART: usize = 64;
/// Elements of a leaf, which lie on the stack if they have no more bytes than this.
const LEAF: usize = 512;
const SMALL_BYTES: usize = 16;

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
