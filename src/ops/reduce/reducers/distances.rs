//! Sums of distances from an element, and of their squares: what variances are made of.

use super::lanes::{Apart, LANES, apart, in_pairs, in_registers};
use crate::dtype::Measure;
use crate::kernel::prefetch_row;
use std::array::from_fn;

/// Columns below this number are measured one by one.
pub(super) const NARROW: usize = 8;

/// Elements up to which columns are, as it takes longer to have memory for sums of all.
pub(super) const FEW: usize = 128;

/// The sums of the distances from `base` and of their squares.
#[inline(always)]
pub(super) fn distances<T: Measure>(run: &[T], base: f64) -> [f64; 2] {
    match run.len() {
        0..=4 => return distances_of_few::<T, 4>(run, base),
        5..=8 => return distances_of_few::<T, 8>(run, base),
        9..=16 => return distances_of_some(run, base),
        _ => {}
    }
    let add = |a: f64, b: f64| a + b;
    let (mut sums, mut squares) = ([0.0; LANES], [0.0; LANES]);
    let (chunks, tail) = run.as_chunks::<LANES>();
    for chunk in chunks {
        prefetch_row(chunk);
        for k in 0..LANES {
            let apart = chunk[k].to_f64() - base;
            sums[k] += apart;
            squares[k] += apart * apart;
        }
    }
    if tail.is_empty() {
        let sum = in_registers(from_fn(|k| sums[k] + sums[k + LANES / 2]), add);
        let square = in_registers(from_fn(|k| squares[k] + squares[k + LANES / 2]), add);
        return [sum, square];
    }
    let (Apart(mut sums), Apart(mut squares)) = (apart(sums), apart(squares));
    for ((sum, square), x) in sums.iter_mut().zip(&mut squares).zip(tail) {
        let apart = x.to_f64() - base;
        *sum += apart;
        *square += apart * apart;
    }
    [in_pairs(&mut sums, add), in_pairs(&mut squares, add)]
}

/// The same of at most `N` elements, with the bits that lanes of which most are 0 have. Distances are not written to memory
/// one by one, as vectors that were read from there would wait for them.
#[inline(always)]
fn distances_of_few<T: Measure, const N: usize>(run: &[T], base: f64) -> [f64; 2] {
    let apart: [f64; N] = from_fn(|k| if k < run.len() { run[k].to_f64() - base } else { 0.0 });
    // A sum that starts at 0 is never -0.
    joined(apart.map(|x| 0.0 + x), apart.map(|x| x * x))
}

/// The same of at most 16 elements, which are more than there are registers for.
#[inline(always)]
fn distances_of_some<T: Measure>(run: &[T], base: f64) -> [f64; 2] {
    let (mut sums, mut squares) = ([0.0; 16], [0.0; 16]);
    for ((sum, square), x) in sums.iter_mut().zip(&mut squares).zip(run) {
        let apart = x.to_f64() - base;
        *sum += apart;
        *square += apart * apart;
    }
    joined(sums, squares)
}

/// Joins lanes in pairs, the far half to the near one.
#[inline(always)]
fn joined<const N: usize>(mut sums: [f64; N], mut squares: [f64; N]) -> [f64; 2] {
    let mut width = N / 2;
    while width > 0 {
        for k in 0..width {
            sums[k] += sums[k + width];
            squares[k] += squares[k + width];
        }
        width /= 2;
    }
    [sums[0], squares[0]]
}

/// The same of one column, with the bits that columns side by side have.
#[inline(always)]
pub(super) fn distances_in_column<T: Measure>(rows: &[&[T]], k: usize, base: f64) -> [f64; 2] {
    let (mut sum, mut square) = (0.0, 0.0);
    let (fours, rest) = rows.as_chunks::<4>();
    for rows in fours {
        let [a, b, c, d] = rows.map(|row| row[k].to_f64() - base);
        sum += (a + b) + (c + d);
        square += (a * a + b * b) + (c * c + d * d);
    }
    for row in rest {
        let apart = row[k].to_f64() - base;
        sum += apart;
        square += apart * apart;
    }
    [sum, square]
}
