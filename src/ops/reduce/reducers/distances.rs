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
    if run.len() < LANES {
        return distances_of_few(run, base);
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

/// The same of fewer elements than there are lanes, which would take longer to join.
#[inline(always)]
fn distances_of_few<T: Measure>(run: &[T], base: f64) -> [f64; 2] {
    let (mut sums, mut squares) = ([0.0; 4], [0.0; 4]);
    let (fours, rest) = run.as_chunks::<4>();
    for four in fours {
        for k in 0..4 {
            let apart = four[k].to_f64() - base;
            sums[k] += apart;
            squares[k] += apart * apart;
        }
    }
    let all = |[a, b, c, d]: [f64; 4]| (a + b) + (c + d);
    rest.iter().fold([all(sums), all(squares)], |[sum, square], x| {
        let apart = x.to_f64() - base;
        [sum + apart, square + apart * apart]
    })
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
