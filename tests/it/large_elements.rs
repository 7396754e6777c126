//! Elements of 64 KiB: no operation keeps several on the stack, which a thread may have little of.

use lensor::dtype::{Arithmetic, Order, SameBits};
use lensor::expr::zip_stored;
use lensor::gufunc::{cumulative, inner1d, polyval};
use lensor::lanes::{Lanes, SortOrder};
use lensor::linalg::Linalg;
use lensor::prelude::*;
use lensor::product::PlusTimes;
use lensor::ragged::{LanesRagged, Offsets, Ragged};
use lensor::reduce::{Max, Min, Reducer};
use lensor::rolling::Rolling;
use lensor::scan::Scan;
use lensor::segments::Segments;
use lensor::stencil::{Border, Mode, Stencil};
use lensor::storage::Sparse;
use lensor::tensor::{concat, pad};
use std::cmp::Ordering;

const BYTES: usize = 1 << 16;

/// All bytes are one number.
#[derive(Clone, Copy, PartialEq)]
struct Large<const N: usize = BYTES>([u8; N]);

impl<const N: usize> std::fmt::Debug for Large<N> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Large({})", self.0[0])
    }
}

impl<const N: usize> PartialOrd for Large<N> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.0[0].partial_cmp(&other.0[0])
    }
}

impl<const N: usize> Order for Large<N> {}

impl<const N: usize> Default for Large<N> {
    fn default() -> Self {
        Self([0; N])
    }
}

impl<const N: usize> SameBits for Large<N> {
    fn same_bits(self, other: Self) -> bool {
        self == other
    }
}

impl<const N: usize> Large<N> {
    fn zip(mut self, other: &Self, f: impl Fn(u8, u8) -> u8) -> Self {
        let number = f(self.number(), other.number());
        self.0.fill(number);
        self
    }

    /// The number that all bytes are. Slices are compared and filled at once, also without optimisation.
    fn number(&self) -> u8 {
        assert!(self.0[1..] == self.0[..N - 1]);
        self.0[0]
    }
}

impl<const N: usize> Arithmetic for Large<N> {
    type Wide = Self;
    const FAULTS: bool = false;

    fn plus(self, other: Self) -> Self {
        self.zip(&other, u8::wrapping_add)
    }

    fn minus(self, other: Self) -> Self {
        self.zip(&other, u8::wrapping_sub)
    }

    fn times(self, other: Self) -> Self {
        self.zip(&other, u8::wrapping_mul)
    }

    fn over(self, other: Self) -> Self {
        self.zip(&other, |a, b| a / b.max(1))
    }

    fn modulo(self, other: Self) -> Self {
        self.zip(&other, |a, b| a % b.max(1))
    }

    fn is_faulty_divisor(self) -> bool {
        false
    }

    fn one() -> Self {
        Large([1; N])
    }
}

/// A sum whose state and result are as large as the elements.
struct Total;

impl<const N: usize> Reducer<Large<N>> for Total {
    type State = Large<N>;
    type Out = Large<N>;
    const COMMUTATIVE: bool = true;
    const ASSOCIATIVE: bool = true;

    fn empty(&self) -> Option<Large<N>> {
        Some(Large([0; N]))
    }

    fn first(&self, x: Large<N>) -> Large<N> {
        x
    }

    fn step(&self, state: &mut Large<N>, x: Large<N>) {
        *state = state.zip(&x, u8::wrapping_add);
    }

    fn combine(&self, state: &mut Large<N>, later: Large<N>) {
        *state = state.zip(&later, u8::wrapping_add);
    }

    fn finish(&self, state: Large<N>) -> Large<N> {
        state
    }
}

/// Runs `test` with the stack that threads have. Without optimisation every copy has a place of its own, and
/// what is never run takes part of the stack, too.
fn on_a_small_stack(test: impl FnOnce() + Send + 'static) {
    let stack = if cfg!(debug_assertions) { 512 << 20 } else { 2 << 20 };
    let thread = std::thread::Builder::new().stack_size(stack);
    thread.spawn(test).unwrap().join().unwrap();
}

fn numbers(count: usize) -> impl Iterator<Item = u8> {
    (0..count).map(|k| (k * 23 + 7) as u8 % 100)
}

/// A matrix that is worked on by several threads, row by row and column by column.
fn matrix([rows, columns]: [usize; 2]) -> Tensor<Vec<Large>> {
    let mut elements = Vec::new();
    elements.extend(numbers(rows * columns).map(|x| Large([x; BYTES])));
    Tensor::from_vec([rows, columns], elements).unwrap()
}

/// The same matrix of numbers.
fn small([rows, columns]: [usize; 2]) -> Tensor<Vec<u8>> {
    Tensor::from_vec([rows, columns], numbers(rows * columns).collect()).unwrap()
}

/// Whether all bytes of large elements are those numbers.
fn check(large: &Tensor<Vec<Large>>, expected: impl IntoIterator<Item = u8>, what: &str) {
    let expected: Vec<u8> = expected.into_iter().collect();
    assert_eq!(large.len(), expected.len(), "{what}");
    for (k, (large, number)) in large.storage().iter().zip(expected).enumerate() {
        assert_eq!(large.number(), number, "{what}: {k}");
    }
}

const SIDES: [usize; 2] = [37, 5];

#[test]
fn scans() {
    on_a_small_stack(|| {
        for (sides, axis) in [(SIDES, 0), (SIDES, 1), ([1, 300], 1), ([300, 1], 0), ([9, 40], 0)] {
            let (t, numbers) = (matrix(sides), small(sides));
            let sums = || numbers.scan(axis, lensor::reduce::WrappingSum);
            let of = |t: Tensor<Vec<u64>>| t.into_storage().into_iter().map(|x| x as u8);
            check(&t.scan(axis, Total).eval().unwrap(), of(sums().eval().unwrap()), "scan");
            let (found, expected) = (t.scan(axis, Total).reverse(), sums().reverse());
            check(&found.eval().unwrap(), of(expected.eval().unwrap()), "reverse");
            let (found, expected) = (t.scan(axis, Total).exclusive(), sums().exclusive());
            check(&found.eval().unwrap(), of(expected.eval().unwrap()), "exclusive");
            let found = t.view().flip(axis).unwrap().lazy().scan(axis, Max).eval().unwrap();
            let expected = numbers.view().flip(axis).unwrap().lazy().scan(axis, Max);
            check(&found, expected.eval().unwrap().into_storage(), "expression");
        }
    });
}

/// A small operand, whose lanes are scanned without a plan.
#[test]
fn scans_of_a_few_larger_elements() {
    on_a_small_stack(|| {
        const MORE: usize = 1 << 18;
        let mut elements: Vec<Large<MORE>> = Vec::new();
        (1..9).for_each(|number| elements.push(Large([number; MORE])));
        let t = Tensor::from_vec([1, 8], elements).unwrap();
        let numbers = |t: &Tensor<Vec<Large<MORE>>>| -> Vec<u8> {
            t.storage().iter().map(Large::number).collect()
        };
        let sums = [1, 3, 6, 10, 15, 21, 28, 36];
        assert_eq!(numbers(&t.scan(1, Total).eval().unwrap()), sums);
        let (found,) = cumulative(Total).call([&t]).eval().unwrap();
        assert_eq!(numbers(&found), sums);
        let offsets = Offsets::from_lengths([8]).unwrap();
        let rows = Ragged::new([1], offsets, t.reshape([8]).unwrap()).unwrap();
        let found = rows.scan(1, Total).eval().unwrap().into_content();
        assert_eq!(numbers(&found), sums);
        let found = rows.scan(1, Total).reverse().exclusive().eval().unwrap().into_content();
        assert_eq!(numbers(&found), [35, 33, 30, 26, 21, 15, 8, 0]);
    });
}

#[test]
fn windows_and_segments() {
    on_a_small_stack(|| {
        for (sides, axis) in [(SIDES, 0), (SIDES, 1), ([1, 100], 1)] {
            let (t, numbers) = (matrix(sides), small(sides));
            for window in [1, 2, 3, 5] {
                let found = t.rolling(axis, window).fold(Max).eval().unwrap();
                let expected = numbers.rolling(axis, window).fold(Max).eval().unwrap();
                check(&found, expected.into_storage(), "rolling maximum");
                let found = t.rolling(axis, window).edge(lensor::rolling::WindowEdge::Wrap);
                let expected =
                    numbers.rolling(axis, window).edge(lensor::rolling::WindowEdge::Wrap);
                let found = found.fold(Min).eval().unwrap();
                check(&found, expected.fold(Min).eval().unwrap().into_storage(), "wrapped");
            }
            let offsets = [0, 1, 1, sides[axis]];
            let found = t.segments(axis, offsets).fold(Total).eval().unwrap();
            let sums = numbers.segments(axis, offsets).fold(lensor::reduce::WrappingSum);
            let expected = sums.eval().unwrap().into_storage();
            check(&found, expected.into_iter().map(|x| x as u8), "segments");
        }
    });
}

#[test]
fn reductions() {
    on_a_small_stack(|| {
        let (t, numbers) = (matrix(SIDES), small(SIDES));
        for axes in [&[0][..], &[1], &[0, 1]] {
            let found = t.fold(axes, Total).eval().unwrap();
            let expected = numbers.fold(axes, lensor::reduce::WrappingSum).eval().unwrap();
            check(&found, expected.into_storage().into_iter().map(|x| x as u8), "sums");
            let found = t.fold(axes, Min).eval().unwrap();
            check(&found, numbers.fold(axes, Min).eval().unwrap().into_storage(), "minima");
        }
    });
}

#[test]
fn evaluation() {
    on_a_small_stack(|| {
        let (t, numbers) = (matrix(SIDES), small(SIDES));
        let turned = |k: usize| numbers.storage()[k % SIDES[0] * SIDES[1] + k / SIDES[0]];
        let all = SIDES[0] * SIDES[1];
        let crossed = t.view().transpose([1, 0]).unwrap();
        check(&crossed.eval().unwrap(), (0..all).map(turned), "transposed");
        let sum = (&t + &t).map(|x| x.plus(Large::one())).eval().unwrap();
        check(&sum, numbers.storage().iter().map(|x| 2 * x + 1), "expression");
        let sum = crossed.lazy().boxed().map(|x| x.plus(Large::one())).boxed().eval().unwrap();
        check(&sum, (0..all).map(|k| turned(k) + 1), "boxed");
        let mut out = matrix([SIDES[1], SIDES[0]]);
        out.view_mut().transpose([1, 0]).unwrap().assign(&t).unwrap();
        check(&out, (0..all).map(turned), "assigned");
        out.view_mut().transpose([1, 0]).unwrap().try_add_assign(&t).unwrap();
        check(&out, (0..all).map(|k| 2 * turned(k)), "added");
        out.update(|old| Ok(old.flip(0)?.flip(0)?.boxed())).unwrap();
        out.map_in_place(|x| x.minus(Large::one())).unwrap();
        check(&out, (0..all).map(|k| (2 * turned(k)).wrapping_sub(1)), "in place");
        out.fill(Large::one()).unwrap();
        check(&out, (0..all).map(|_| 1), "filled");
        let twice = concat(0, [t.view(), t.view()]).unwrap().eval().unwrap();
        check(&twice, numbers.storage().iter().chain(numbers.storage()).copied(), "concat");
        let padded = pad(t.view(), [(0, 0), (0, 1)], Large([0; BYTES])).unwrap();
        assert_eq!(padded.get([0, SIDES[1]]).unwrap().0[0], 0);
        let rotated = t.view().rotate([3, 1]).unwrap().eval().unwrap();
        assert_eq!(rotated.get([3, 1]).unwrap().0[BYTES - 1], 7);
        assert!(t == t.view().erase().eval().unwrap());
    });
}

#[test]
fn lanes() {
    on_a_small_stack(|| {
        let compare = |a: &Large, b: &Large| a.0[0].cmp(&b.0[0]);
        for (sides, axis) in [(SIDES, 0), (SIDES, 1), ([1, 300], 1)] {
            let (mut t, numbers) = (matrix(sides), small(sides));
            let order = numbers.argsort(axis, SortOrder::Ascending).eval().unwrap();
            let sorted = numbers.sort(axis, SortOrder::Ascending).eval().unwrap().into_storage();
            assert!(t.argsort_by(axis, compare).eval().unwrap() == order);
            check(
                &t.take_along(axis, &order).eval().unwrap(),
                sorted.iter().copied(),
                "take_along",
            );
            check(&t.sort_by(axis, compare).eval().unwrap(), sorted.iter().copied(), "sort_by");
            t.sort_by_key_in_place(axis, SortOrder::Ascending, |x| x.0[0]).unwrap();
            check(&t, sorted.iter().copied(), "sort_by_key_in_place");
            t.sort_by_in_place(axis, |a, b| compare(b, a)).unwrap();
            check(
                &t,
                numbers.sort(axis, SortOrder::Descending).eval().unwrap().into_storage(),
                "falling",
            );
        }
    });
}

#[test]
fn products_and_stencils() {
    on_a_small_stack(|| {
        let (t, numbers) = (matrix([9, 9]), small([9, 9]));
        let expected = numbers.matmul(&numbers).eval().unwrap();
        check(&t.matmul(&t).eval().unwrap(), expected.storage().iter().copied(), "matmul");
        let at = |row: usize, column: usize| numbers.get([row, column]).unwrap();
        let turned = t.view().transpose([1, 0]).unwrap();
        let [found] = inner1d().call([turned.view(), turned.view()]).eval().unwrap();
        let squares = |column: usize| {
            let all = (0..9).map(|row| at(row, column));
            all.fold(0_u8, |sum, x| sum.wrapping_add(x.wrapping_mul(x)))
        };
        check(&found, (0..9).map(squares), "inner1d");
        let coefficients = t.view().select((0,)).unwrap();
        let [found] = polyval().call([coefficients.boxed(), t.boxed()]).eval().unwrap();
        let value =
            |&x: &u8| (0..9).fold(0_u8, |value, k| value.wrapping_mul(x).wrapping_add(at(0, k)));
        check(&found, numbers.storage().iter().map(value), "polyval");
        let kernel = [2, 3];
        let found = t.convolve(&matrix(kernel), Mode::Same(Border::Clamp)).eval().unwrap();
        let expected = numbers.convolve(&small(kernel), Mode::Same(Border::Clamp)).eval().unwrap();
        check(&found, expected.into_storage(), "convolve");
        let found = t.stencil([[0, 0], [0, 1]], |[a, b]| a.plus(b)).eval().unwrap();
        let expected = numbers.stencil([[0, 0], [0, 1]], |[a, b]| a.wrapping_add(b));
        check(&found, expected.eval().unwrap().into_storage(), "stencil");

        let (zero, none) = (Large([0; BYTES]), 0);
        let keep = |t: &Tensor<Vec<Large>>| t.view().lazy().map(|x| x).to_sparse(zero);
        let (sparse, few) = (keep(&t).unwrap(), numbers.to_sparse(none).unwrap());
        let expected = few.times_dense(&numbers, PlusTimes).eval().unwrap();
        let found = sparse.times_dense(&t, PlusTimes).eval().unwrap();
        check(&found, expected.storage().iter().copied(), "times_dense");
        let found = sparse.times_sparse(&sparse, PlusTimes).unwrap().eval().unwrap();
        check(&found, expected.storage().iter().copied(), "times_sparse");
        let both = (&sparse + sparse.view().transpose([1, 0]).unwrap()).eval_sparse().unwrap();
        let expected = &numbers + numbers.view().transpose([1, 0]).unwrap();
        check(&both.eval().unwrap(), expected.eval().unwrap().into_storage(), "sparse sum");
        let sums = sparse.fold(0, Total).eval_sparse().unwrap().eval().unwrap();
        let expected = numbers.fold(0, lensor::reduce::WrappingSum).eval().unwrap();
        check(&sums, expected.into_storage().into_iter().map(|x| x as u8), "sparse fold");
        let (table, own) = (matrix([9, 17]), small([9, 17]));
        let entries = few.view().insert_axis(2).unwrap();
        let expected = zip_stored((entries, &own), none, |(x, y)| u8::wrapping_mul(x, y));
        let expected = expected.fold(1, lensor::reduce::WrappingSum).eval().unwrap();
        let entries = sparse.view().insert_axis(2).unwrap();
        let fibers = zip_stored((entries, &table), zero, |(x, y)| x.times(y));
        let sums = fibers.fold(1, Total).eval().unwrap();
        check(&sums, expected.into_storage().into_iter().map(|x| x as u8), "fibers");
        let mut out = Tensor::new([9, 9], Sparse::new(81, zero)).unwrap();
        out.view_mut().transpose([1, 0]).unwrap().assign(&t).unwrap();
        out.set([0, 0], zero).unwrap();
        assert_eq!(out.get([3, 2]).unwrap().0[9], numbers.get([2, 3]).unwrap());
    });
}
