//! Smallest and largest elements, and where they are.

use super::super::reducer::step_columns;
use super::super::{Padding, Reducer, Undefined};
use super::adapters::delegate;
use super::distances::FEW;
use super::lanes::{Apart, LANES, apart, in_any_order, in_columns, in_pairs, in_registers};
use crate::dtype::{Arithmetic, Order};
use crate::kernel::{LARGE_BYTES, prefetch_row};
use std::array::from_fn;
use std::ops::BitOr;

/// The smallest element, NaN if there is one. Of nothing there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Min;

/// The largest element, NaN if there is one. Of nothing there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Max;

/// The largest element less the smallest ("peak to peak"), NaN if there is one; of nothing there is none. Integers wrap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct PeakToPeak;

/// Position of the first smallest element in row-major order, or of the first NaN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ArgMin;

/// Position of the first largest element in row-major order, or of the first NaN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ArgMax;

macro_rules! extremum {
    ($($Reducer:ident $better:ident $sign:tt;)*) => { $(
        impl<T: Order> Reducer<T> for $Reducer {
            type State = T;
            type Out = T;
            const EXACT: bool = T::EXACT;
            const PADDING: Padding<T> = Padding::Repeated;

            fn empty(&self) -> Option<T> {
                None
            }

            #[inline(always)]
            fn first(&self, x: T) -> T {
                x
            }

            #[inline(always)]
            fn combine(&self, state: &mut T, later: T) {
                *state = state.$better(later);
            }

            fn finish(&self, state: T) -> T {
                state
            }

            fn repeat(&self, x: T, _position: usize, _count: usize) -> T {
                x
            }

            #[inline(always)]
            fn fold(&self, run: &[T], _position: usize) -> T {
                best(run, |a, b| a $sign b)
            }

            #[inline(always)]
            fn fold_columns(&self, rows: &[&[T]], _position: usize, states: &mut Vec<T>) {
                in_columns(rows, states, |x| x, T::$better);
            }
        }
    )* };
}
extremum! { Min minimum <; Max maximum >; }

impl<T: Order + Arithmetic> Reducer<T> for PeakToPeak {
    /// The smallest and the largest element.
    type State = (T, T);
    type Out = T;
    const EXACT: bool = T::EXACT;
    const PADDING: Padding<T> = Padding::Repeated;

    delegate!(T, self => (Min, Max));

    fn finish(&self, (smallest, largest): (T, T)) -> T {
        largest.minus(smallest)
    }
}

/// The best element of a run, or its first NaN.
#[inline(always)]
fn best<T: Order>(run: &[T], better: impl Fn(T, T) -> bool) -> T {
    if T::EXACT && size_of::<T>() < 4 && run.len() >= LANES {
        return in_any_order(run, run[0], |best, x| if better(x, best) { x } else { best });
    }
    // Masks as wide as the elements are what comparisons give.
    let (best, unordered) = match size_of::<T>() {
        8 => best_by_mask::<T, u64>(run, better),
        4 => best_by_mask::<T, u32>(run, better),
        2 => best_by_mask::<T, u16>(run, better),
        _ => best_by_mask::<T, u8>(run, better),
    };
    let nan = if unordered { run.iter().find(|x| is_nan(**x)) } else { None };
    nan.copied().unwrap_or(best)
}

/// The best element but for NaN, and whether there is a NaN: elements are loaded once for both, and one
/// comparison looks at two of them for NaN.
#[inline(always)]
fn best_by_mask<T: Order, M: Copy + From<bool> + BitOr<Output = M> + PartialEq>(
    run: &[T],
    better: impl Fn(T, T) -> bool,
) -> (T, bool) {
    let pick = |best, x| if better(x, best) { x } else { best };
    let head = run.split_first_chunk::<LANES>();
    let Some((head, rest)) = head.filter(|_| size_of::<T>() <= LARGE_BYTES) else {
        let best = run[1..].iter().fold(run[0], |best, &x| pick(best, x));
        return (best, run.iter().fold(false, |any, &x| any | is_nan(x)));
    };
    let nan =
        |chunk: &[T; LANES], k: usize| M::from(is_nan(chunk[k]) | is_nan(chunk[k + LANES / 2]));
    prefetch_row(head);
    let mut lanes = *head;
    let mut nans: [M; LANES / 2] = from_fn(|k| nan(head, k));
    let (chunks, tail) = rest.as_chunks::<LANES>();
    for chunk in chunks {
        prefetch_row(chunk);
        for (lane, &x) in lanes.iter_mut().zip(chunk) {
            *lane = pick(*lane, x);
        }
        for (k, slot) in nans.iter_mut().enumerate() {
            *slot = *slot | nan(chunk, k);
        }
    }
    let nans = apart(nans).0.into_iter().fold(M::from(false), |any, nan| any | nan);
    let unordered = nans != M::from(false);
    if tail.is_empty() {
        let half = from_fn(|k| pick(lanes[k], lanes[k + LANES / 2]));
        return (in_registers(half, pick), unordered);
    }
    let Apart(mut lanes) = apart(lanes);
    for (lane, &x) in lanes.iter_mut().zip(tail) {
        *lane = pick(*lane, x);
    }
    let unordered = tail.iter().fold(unordered, |any, &x| any | is_nan(x));
    (in_pairs(&mut lanes, pick), unordered)
}

/// The position of the first element for which `is_it` holds, or the length of the run.
#[inline(always)]
fn first<T: Copy>(run: &[T], is_it: impl Fn(T) -> bool) -> usize {
    let mut at = 0;
    for part in run.chunks(64) {
        // A bit an element, without a branch before the last part.
        let bits = part.iter().enumerate();
        let bits = bits.fold(0, |bits, (k, &x)| bits | u64::from(is_it(x)) << k);
        if bits != 0 {
            return at + bits.trailing_zeros() as usize;
        }
        at += part.len();
    }
    at
}

/// An element and where it stands.
#[derive(Debug, Clone, Copy)]
pub struct Found<T> {
    value: T,
    position: usize,
}

#[inline(always)]
#[allow(clippy::eq_op, reason = "only NaN differs from itself")]
fn is_nan<T: PartialOrd>(x: T) -> bool {
    x != x
}

/// Rows that numbers of 8 bits tell apart.
const MOST_ROWS: usize = 1 << 8;

/// The first best element of each column, or its first NaN.
#[inline(always)]
fn best_in_columns<T: Order, N: Copy + From<u8> + Into<u64>>(
    rows: &[&[T]],
    position: usize,
    states: &mut Vec<Found<T>>,
    is_better: impl Fn(T, T) -> bool,
) {
    let (mut values, mut numbers) = (Vec::new(), Vec::new());
    values.extend_from_slice(rows[0]);
    numbers.resize(values.len(), N::from(0));
    let (fours, rest) = rows[1..].as_chunks::<4>();
    for (k, rows) in fours.iter().enumerate() {
        take_rows(*rows, 4 * k + 1, &mut values, &mut numbers, &is_better);
    }
    for (k, row) in rest.iter().enumerate() {
        take_rows([*row], 4 * fours.len() + k + 1, &mut values, &mut numbers, &is_better);
    }
    states.clear();
    let found = values.into_iter().zip(numbers);
    states.extend(
        found.map(|(value, number)| Found { value, position: position + number.into() as usize }),
    );
}

/// Takes a few rows, the first of this number. Numbers are as wide as the elements, so that one comparison chooses among
/// vectors of both.
#[inline(always)]
fn take_rows<T: Order, N: Copy + From<u8>, const ROWS: usize>(
    rows: [&[T]; ROWS],
    first: usize,
    values: &mut [T],
    numbers: &mut [N],
    is_better: impl Fn(T, T) -> bool,
) {
    let rows = rows.map(|row| &row[..values.len()]);
    let own: [N; ROWS] = from_fn(|row| N::from((first + row) as u8));
    for (k, (value, number)) in values.iter_mut().zip(numbers).enumerate() {
        let mut best = (*value, *number);
        for (row, &own) in rows.iter().zip(&own) {
            let wins = (is_better(row[k], best.0) | is_nan(row[k])) & !is_nan(best.0);
            best = if wins { (row[k], own) } else { best };
        }
        (*value, *number) = best;
    }
}

macro_rules! position {
    ($($Reducer:ident $sign:tt;)*) => { $(
        impl<T: Order> Reducer<T> for $Reducer {
            type State = Found<T>;
            type Out = usize;
            const POSITIONS: bool = true;
            const MOVES: bool = true;

            fn empty(&self) -> Option<Found<T>> {
                None
            }

            #[inline(always)]
            fn first(&self, value: T) -> Found<T> {
                Found { value, position: 0 }
            }

            #[inline(always)]
            fn step(&self, state: &mut Found<T>, x: T) {
                self.step_at(state, x, state.position + 1);
            }

            #[inline(always)]
            fn combine(&self, state: &mut Found<T>, later: Found<T>) {
                let wins = later.value $sign state.value || is_nan(later.value);
                if wins && !is_nan(state.value) {
                    *state = later;
                }
            }

            fn finish(&self, state: Found<T>) -> usize {
                state.position
            }

            #[inline(always)]
            fn first_at(&self, value: T, position: usize) -> Found<T> {
                Found { value, position }
            }

            #[inline(always)]
            fn step_at(&self, state: &mut Found<T>, value: T, position: usize) {
                self.combine(state, Found { value, position });
            }

            fn repeat(&self, value: T, position: usize, _count: usize) -> Found<T> {
                Found { value, position }
            }

            #[inline(always)]
            fn moved(&self, Found { value, position }: Found<T>, by: usize) -> Found<T> {
                Found { value, position: position.wrapping_sub(by) }
            }

            /// The value first, then where it is: passes over what lies in the cache.
            #[inline(always)]
            fn fold(&self, run: &[T], position: usize) -> Found<T> {
                let value = best(run, |a, b| a $sign b);
                let at = if is_nan(value) { first(run, is_nan) } else { first(run, |x| x == value) };
                Found { value, position: position + at }
            }

            #[inline(always)]
            fn fold_columns(&self, rows: &[&[T]], position: usize, states: &mut Vec<Found<T>>) {
                let is_better = |x, best| x $sign best;
                let few = rows.len() * rows[0].len() <= FEW || rows.len() > MOST_ROWS;
                match size_of::<T>() {
                    8 if !few => best_in_columns::<T, u64>(rows, position, states, is_better),
                    4 if !few => best_in_columns::<T, u32>(rows, position, states, is_better),
                    2 if !few => best_in_columns::<T, u16>(rows, position, states, is_better),
                    1 if !few => best_in_columns::<T, u8>(rows, position, states, is_better),
                    _ => step_columns(self, rows, position, states),
                }
            }
        }
    )* };
}
position! { ArgMin <; ArgMax >; }

#[cfg(test)]
mod tests {
    use super::{ArgMax, ArgMin, Found, LANES, Max, Min, Order, Reducer, step_columns};

    /// Element `k` goes to lane `k % LANES`, and lanes are joined in pairs, the far half to the near one; a NaN wins.
    fn plain<T: Order>(run: &[T], better: fn(&T, &T) -> bool) -> T {
        let pick = |best, x| if better(&x, &best) { x } else { best };
        #[allow(clippy::eq_op, reason = "only NaN differs from itself")]
        if let Some(&nan) = run.iter().find(|&x| x != x) {
            return nan;
        }
        if run.len() < LANES {
            return run[1..].iter().copied().fold(run[0], pick);
        }
        let lane = |k: usize| run[k..].iter().step_by(LANES).copied().reduce(pick);
        let mut lanes: Vec<T> = (0..LANES).filter_map(lane).collect();
        while lanes.len() > 1 {
            let far = lanes.split_off(lanes.len() / 2);
            lanes.iter_mut().zip(far).for_each(|(near, far)| *near = pick(*near, far));
        }
        lanes[0]
    }

    /// Runs and columns of these elements, which are repeated in no order, have the bits that they have one by one.
    fn holds<T: Order>(elements: &[T], bits: fn(T) -> u128) {
        let element = |k: usize| elements[(k * 7919 % 1013) * (k % 7 + 1) % elements.len()];
        for (start, length) in (1..140).chain([256, 257, 512, 600]).enumerate() {
            let run: Vec<T> = (start..start + length).map(element).collect();
            let extrema = [Reducer::fold(&Min, &run, 0), Reducer::fold(&Max, &run, 0)].map(bits);
            let expected = [plain(&run, T::lt), plain(&run, T::gt)].map(bits);
            assert_eq!(extrema, expected, "{length}");
        }
        fn same<T: Order, R: Reducer<T, State = Found<T>>>(
            reducer: &R,
            rows: &[&[T]],
            bits: fn(T) -> u128,
        ) {
            let (mut all, mut each) = (Vec::new(), Vec::new());
            reducer.fold_columns(rows, 5, &mut all);
            step_columns(reducer, rows, 5, &mut each);
            let [all, each] =
                [all, each].map(|states| states.into_iter().map(|x| (bits(x.value), x.position)));
            assert!(all.eq(each), "{} rows of {}", rows.len(), rows[0].len());
        }
        for (height, width) in [(1, 3), (2, 70), (6, 33), (9, 40), (64, 5), (256, 3), (300, 3)] {
            let data: Vec<T> = (0..height * width).map(element).collect();
            let rows: Vec<&[T]> = data.chunks(width).collect();
            same(&ArgMin, &rows, bits);
            same(&ArgMax, &rows, bits);
        }
    }

    /// Of elements that do not compare the first one stays.
    #[test]
    fn columns_of_what_is_partly_ordered() {
        #[derive(Clone, Copy, PartialEq)]
        struct Apart(i64);
        impl PartialOrd for Apart {
            fn partial_cmp(&self, _: &Self) -> Option<std::cmp::Ordering> {
                None
            }
        }
        impl Order for Apart {}
        let (data, mut states) = (Vec::from_iter((0..256).map(Apart)), Vec::new());
        ArgMin.fold_columns(&Vec::from_iter(data.chunks(16)), 0, &mut states);
        assert!(states.iter().all(|found| found.position == 0));
    }

    #[test]
    fn extrema_have_the_bits_of_lanes() {
        let other = f64::from_bits(f64::NAN.to_bits() | 1);
        let floats: [&[f64]; 5] = [
            &[0.0, -0.0, 0.0, -0.0, -0.0],
            &[1.0, -0.0, 0.0, 2.0, -0.0, 0.5],
            &[-1.0, 0.0, -0.0, -0.0, -7.0, -0.0, 0.0],
            &[f64::INFINITY, f64::NEG_INFINITY, -0.0, 1.0],
            &[1.0, 2.0, 3.0, -1.0, f64::NAN, 3.0, 0.0, 1.0, 3.0, other, -1.0, 2.0, 1.5],
        ];
        for elements in floats {
            holds(elements, |x| x.to_bits().into());
            let narrow: Vec<f32> = elements.iter().map(|&x| x as f32).collect();
            holds(&narrow, |x| x.to_bits().into());
        }
        let numbers = [3, -128, 0, 127, 5, -1, 127, -128, 3, 3, -7_i8];
        holds(&numbers, |x| x as u128);
        holds(&numbers.map(|x| x as u8), |x| x.into());
        holds(&numbers.map(i16::from), |x| x as u128);
        holds(&numbers.map(i32::from), |x| x as u128);
        holds(&numbers.map(i64::from), |x| x as u128);
        holds(&numbers.map(i128::from), |x| x as u128);
        holds(&[false, false, true], |x| x.into());
        holds(&[false], |x| x.into());
    }
}
