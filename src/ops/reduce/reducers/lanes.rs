//! Loops that many reducers share: a run in lanes, columns a few rows at a time.

use super::by_element::Choice;
use crate::kernel::{LARGE_BYTES, prefetch_row};
use std::array::from_fn;

/// Accumulators that a run is dealt out to, element by element: enough for the latency of an addition.
pub(super) const LANES: usize = 32;

/// Folds a run of at least one element in [`LANES`] lanes, which are joined in pairs.
#[inline(always)]
pub(super) fn in_lanes<T: Copy, A: Copy>(
    run: &[T],
    first: impl Fn(T) -> A,
    step: impl Fn(A, T) -> A,
    join: impl Fn(A, A) -> A,
) -> A {
    let head = run.split_first_chunk::<LANES>();
    let Some((head, rest)) = head.filter(|_| size_of::<A>() <= LARGE_BYTES) else {
        let start = first(run[0]);
        return run[1..].iter().fold(start, |state, &x| step(state, x));
    };
    let mut lanes = [first(head[0]); LANES];
    prefetch_row(head);
    for (lane, &x) in lanes.iter_mut().zip(head) {
        *lane = first(x);
    }
    let (chunks, tail) = rest.as_chunks::<LANES>();
    for chunk in chunks {
        prefetch_row(chunk);
        for (lane, &x) in lanes.iter_mut().zip(chunk) {
            *lane = step(*lane, x);
        }
    }
    if tail.is_empty() {
        return in_registers(from_fn(|k| join(lanes[k], lanes[k + LANES / 2])), join);
    }
    let Apart(mut lanes) = apart(lanes);
    for (lane, &x) in lanes.iter_mut().zip(tail) {
        *lane = step(*lane, x);
    }
    after_tail(&mut lanes, tail.len(), join)
}

/// [`in_lanes`] of runs side by side, element `k` of each in row `k`: with the same bits.
#[inline(always)]
pub(super) fn in_lanes_beside<T: Copy, A: Copy>(
    rows: &[&[T]],
    out: &mut Vec<A>,
    first: impl Fn(T) -> A,
    step: impl Fn(A, T) -> A,
    join: impl Fn(A, A) -> A,
) {
    let lanes = if rows.len() < LANES || size_of::<A>() > LARGE_BYTES { 1 } else { LANES };
    let width = rows[0].len();
    let (heads, rest) = rows.split_at(lanes);
    out.clear();
    heads.iter().for_each(|row| out.extend(row.iter().map(|&x| first(x))));
    for (k, row) in rest.iter().enumerate() {
        let lane = &mut out[k % lanes * width..][..width];
        lane.iter_mut().zip(*row).for_each(|(lane, &x)| *lane = step(*lane, x));
    }
    let mut half = lanes / 2 * width;
    while half >= width.max(1) && lanes > 1 {
        let (near, far) = out[..2 * half].split_at_mut(half);
        near.iter_mut().zip(far).for_each(|(near, far)| *near = join(*near, *far));
        half /= 2;
    }
    out.truncate(width);
}

/// Folds a run where any order of the elements gives the same state: without lanes, as the compiler finds the vectors.
/// Of fewer elements than lanes it takes longer.
#[inline(always)]
pub(super) fn in_any_order<T: Copy, A: Copy>(run: &[T], start: A, step: impl Fn(A, T) -> A) -> A {
    // Of as many bytes as one call asks for.
    let part = 512_usize.div_ceil(size_of::<T>().max(1));
    run.chunks(part).fold(start, |state, part| {
        prefetch_row(part);
        part.iter().fold(state, |state, &x| step(state, x))
    })
}

/// Whether `is_it` holds for any element of a run.
#[inline(always)]
pub(super) fn any<T: Copy>(run: &[T], is_it: impl Fn(T) -> bool) -> bool {
    // Masks as wide as the elements are what comparisons give.
    match size_of::<T>() {
        8 => in_any_order(run, 0, |any, x| any | u64::from(is_it(x))) != 0,
        4 => in_any_order(run, 0, |any, x| any | u32::from(is_it(x))) != 0,
        2 => in_any_order(run, 0, |any, x| any | u16::from(is_it(x))) != 0,
        _ => in_any_order(run, 0, |any, x| any | u8::from(is_it(x))) != 0,
    }
}

/// Whether `is_it` holds for all elements of a run.
#[inline(always)]
pub(super) fn all<T: Copy>(run: &[T], is_it: impl Fn(T) -> bool) -> bool {
    !any(run, |x| !is_it(x))
}

/// Joins the first `count` of eight states, at least one, in order: those after them are neutral, so that no branch
/// depends on their number.
#[inline(always)]
pub(super) fn few<A: Choice>(
    mut states: [A; 8],
    count: usize,
    neutral: A,
    join: impl Fn(A, A) -> A,
) -> A {
    for (state, &mask) in states.iter_mut().zip(&MASKS[count.min(8)]) {
        *state = state.or(neutral, mask);
    }
    let [first, rest @ ..] = states;
    let joined = rest.into_iter().fold(first, join);
    // An element by itself keeps its bits.
    joined.or(first, MASKS[count.min(8)][1])
}

/// Of eight states, the first ones. In memory: a comparison would become a branch.
static MASKS: [[u64; 8]; 9] = {
    let mut masks = [[0; 8]; 9];
    let mut count = 0;
    while count < 9 {
        let mut k = 0;
        while k < count {
            masks[count][k] = u64::MAX;
            k += 1;
        }
        count += 1;
    }
    masks
};

/// Lanes that begin where a line of the caches does. A load that crosses two lines cannot take its value from a store that
/// is still on its way to the caches, but waits for it: folds of runs of 37 took 1.4 times as long.
#[repr(align(64))]
pub(super) struct Apart<A, const N: usize>(pub(super) [A; N]);

/// The lanes in memory of their own, which is indexed by variables from here on: the loop before keeps
/// them in registers only if its own are not.
#[inline(always)]
pub(super) fn apart<A, const N: usize>(lanes: [A; N]) -> Apart<A, N> {
    std::hint::black_box(Apart(lanes))
}

/// Joins half as many lanes in pairs, the far half to the near one: in registers as far as whole vectors are joined, and then
/// from memory of its own, so that how the rest is joined does not decide how the loop before is vectorised.
#[inline(always)]
pub(super) fn in_registers<A: Copy>(half: [A; LANES / 2], join: impl Fn(A, A) -> A) -> A {
    let quarter: [A; LANES / 4] = from_fn(|k| join(half[k], half[k + LANES / 4]));
    let Apart(quarter) = apart(quarter);
    let four: [A; LANES / 8] = from_fn(|k| join(quarter[k], quarter[k + LANES / 8]));
    let two: [A; LANES / 16] = from_fn(|k| join(four[k], four[k + LANES / 16]));
    join(two[0], two[1])
}

/// Joins lanes in memory after a tail of so many elements was folded into them: in registers unless a vector of long numbers
/// would wait for one that was written by itself.
#[inline(always)]
fn after_tail<A: Copy>(lanes: &mut [A; LANES], tail: usize, join: impl Fn(A, A) -> A) -> A {
    if align_of::<A>() < 8 || tail.is_multiple_of(8) {
        let Apart(lanes) = apart(*lanes);
        return in_registers(from_fn(|k| join(lanes[k], lanes[k + LANES / 2])), join);
    }
    in_pairs(lanes, join)
}

/// Joins lanes in pairs, a power of two of them. Not inlined: how lanes are joined would decide how the
/// loop before is vectorised, for the worse.
#[inline(never)]
pub(super) fn in_pairs<A: Copy, const N: usize>(lanes: &mut [A; N], join: impl Fn(A, A) -> A) -> A {
    let mut width = N / 2;
    while width > 0 {
        for k in 0..width {
            lanes[k] = join(lanes[k], lanes[k + width]);
        }
        width /= 2;
    }
    lanes[0]
}

/// Folds columns: `first` of the first row, then eight rows a pass, joined in pairs by `join`.
#[inline(always)]
pub(super) fn in_columns<T: Copy, A: Copy>(
    rows: &[&[T]],
    out: &mut Vec<A>,
    first: impl Fn(T) -> A,
    join: impl Fn(A, A) -> A,
) {
    let width = rows[0].len();
    out.clear();
    let (eights, rest) = rows.as_chunks::<8>();
    for rows in eights {
        let [a, b, c, d, e, f, g, h] = rows.map(|row| &row[..width]);
        let eight = |k: usize| {
            let low = join(join(first(a[k]), first(b[k])), join(first(c[k]), first(d[k])));
            let high = join(join(first(e[k]), first(f[k])), join(first(g[k]), first(h[k])));
            join(low, high)
        };
        if out.is_empty() {
            out.extend((0..width).map(eight));
        } else {
            for (k, slot) in out[..width].iter_mut().enumerate() {
                *slot = join(*slot, eight(k));
            }
        }
    }
    for row in rest {
        if out.is_empty() {
            out.extend(row.iter().map(|&x| first(x)));
        } else {
            for (slot, &x) in out.iter_mut().zip(*row) {
                *slot = join(*slot, first(x));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LANES, all, any, in_lanes};
    use crate::ops::reduce::{Mean, Product, Reducer, Sum, WrappingProduct, WrappingSum};

    /// Element `k` goes to lane `k % LANES`, and lanes are joined in pairs, the far half to the near one.
    fn plain(run: &[f64]) -> f64 {
        if run.len() < LANES {
            return run[1..].iter().fold(run[0], |sum, x| sum + x);
        }
        let lane = |k: usize| run[k..].iter().step_by(LANES).copied().reduce(|a, b| a + b);
        let mut lanes: Vec<f64> = (0..LANES).filter_map(lane).collect();
        while lanes.len() > 1 {
            let far = lanes.split_off(lanes.len() / 2);
            lanes.iter_mut().zip(far).for_each(|(near, far)| *near += far);
        }
        lanes[0]
    }

    /// The bits of [`Reducer::fold`], whatever lies after the elements.
    #[test]
    fn a_few_elements_fold_as_a_run() {
        fn same<T: Copy, R: Reducer<T>>(reducer: &R, runs: &[[T; 8]], bits: fn(R::Out) -> u128) {
            for run in runs {
                for count in 1..=8 {
                    let [few, all] = [reducer.fold_few(run, count), reducer.fold(&run[..count], 0)];
                    let [few, all] = [few, all].map(|state| bits(reducer.finish(state)));
                    assert_eq!(few, all, "{count}");
                }
            }
        }
        let (nan, large) = (f64::NAN, f64::MAX);
        let floats = [
            [-0.0; 8],
            [0.1, 0.2, -0.3, large, large, nan, 1.0, f64::INFINITY],
            [1e300, -1e300, 1.0, 1e-300, -0.0, 0.0, -1.0, 7.0],
            [nan; 8],
        ];
        // Sign and payload of a NaN are whatever the compiler makes of an addition.
        let wide = |x: f64| if x.is_nan() { u128::MAX } else { x.to_bits().into() };
        same(&Sum, &floats, wide);
        same(&Product, &floats, wide);
        same(&Mean, &floats, wide);
        let short = |x: f32| if x.is_nan() { u128::MAX } else { x.to_bits().into() };
        let narrow = floats.map(|run| run.map(|x| x as f32));
        same(&Sum, &narrow, short);
        same(&Mean, &narrow, short);
        let numbers = [[i64::MIN, -1, 5, 0, 7, i64::MAX, i64::MAX, 3], [-4; 8]];
        same(&WrappingSum, &numbers, |x: i64| x as u128);
        same(&WrappingProduct, &numbers, |x: i64| x as u128);
        let small = [[-5_i8, 7, 100, 127, -128, 0, 1, 2]];
        same(&Sum, &small, |x: i64| x as u128);
        same(&Mean, &small, |x: f64| x.to_bits().into());
        let state = Reducer::<i64>::fold_few(&Sum, &numbers[0], 7);
        assert_eq!(state, numbers[0][..7].iter().map(|&x| i128::from(x)).sum::<i128>());
    }

    #[test]
    fn lanes_are_joined_in_pairs_wherever_runs_end() {
        let all: Vec<f64> = (1..300).map(|k| (k * 7919 % 1013) as f64 / 7.0 - 70.0).collect();
        for end in 1..all.len() {
            let sum = in_lanes(&all[..end], |x| x, |sum, x| sum + x, |a, b| a + b);
            assert_eq!(sum.to_bits(), plain(&all[..end]).to_bits(), "{end}");
            let zeros = vec![-0.0_f64; end];
            let sum = in_lanes(&zeros, |x| x, |sum, x| sum + x, |a, b| a + b);
            assert_eq!(sum.to_bits(), (-0.0_f64).to_bits(), "{end}");
        }
    }

    /// One element that differs from the others, anywhere in a run.
    #[test]
    fn any_and_all_look_at_each_element() {
        fn holds<T: Copy + PartialEq>(usual: T, other: T) {
            for length in [1, 2, 3, 31, 65, 511, 513, 700] {
                let mut run = vec![usual; length];
                assert!(!any(&run, |x| x == other) && all(&run, |x| x == usual), "{length}");
                for k in (0..length).filter(|k| length < 99 || k % 64 > 61 || k + 1 == length) {
                    run[k] = other;
                    assert!(
                        any(&run, |x| x == other) && !all(&run, |x| x == usual),
                        "{length} {k}"
                    );
                    run[k] = usual;
                }
            }
        }
        holds(false, true);
        holds(0_u8, 128);
        holds(0_i16, -1);
        holds(0.0_f32, 1.0);
        holds(0_i64, 1 << 32);
        holds(0_u128, 1 << 64);
        holds([0_u8; 600], [1; 600]);
    }
}
