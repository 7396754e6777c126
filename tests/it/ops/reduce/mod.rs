//! Reductions against folds over copies: for every set of axes, under views, with special values, and
//! with the same bits however the operand lies in memory and however many threads there are.

mod agree;
mod bits;
mod copies;
mod ended;
mod masked;
mod modes;
mod moments;
mod short;
mod sparse;
mod turned;
mod values;

use lensor::prelude::*;

/// A small generator, so that data needs no dependency.
fn noise(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }
}

fn floats(count: usize, seed: u64) -> Vec<f64> {
    let mut next = noise(seed);
    (0..count).map(|_| (next() % 2_000_003) as f64 / 1000.0 - 1000.0).collect()
}

/// Every set of axes of a rank.
fn axis_sets(rank: usize) -> impl Iterator<Item = Vec<usize>> {
    (0..1_usize << rank).map(move |set| (0..rank).filter(|axis| set >> axis & 1 == 1).collect())
}

/// The elements of each result, in row-major order, by copying.
fn groups<T: Copy>(shape: &[usize], data: &[T], axes: &[usize]) -> Vec<Vec<T>> {
    let kept: Vec<usize> = (0..shape.len()).filter(|axis| !axes.contains(axis)).collect();
    let results: usize = kept.iter().map(|&axis| shape[axis]).product();
    let mut groups = vec![Vec::new(); results];
    for (position, &x) in data.iter().enumerate() {
        let mut rest = position;
        let mut digits = vec![0; shape.len()];
        for axis in (0..shape.len()).rev() {
            digits[axis] = rest % shape[axis];
            rest /= shape[axis];
        }
        let result = kept.iter().fold(0, |sum, &axis| sum * shape[axis] + digits[axis]);
        groups[result].push(x);
    }
    groups
}

/// One tensor under views that move its elements about in memory without changing any.
fn disguises(shape: &[usize], data: &[f64]) -> Vec<(&'static str, Tensor<Vec<f64>>)> {
    let plain = || Tensor::from_vec(shape, data.to_vec()).unwrap();
    let rank = shape.len();
    let turned: Vec<usize> = (0..rank).rev().collect();
    let copy = |t: Tensor<Vec<f64>>| t.eval().unwrap();
    let shifts: Vec<isize> = (0..rank as isize).map(|axis| 3 * axis + 1).collect();
    let back: Vec<isize> = shifts.iter().map(|shift| -shift).collect();
    let mut all = vec![
        ("plain", plain()),
        ("transposed", copy(plain().transpose(&turned).unwrap()).transpose(&turned).unwrap()),
        ("rotated", copy(plain().rotate(&shifts).unwrap()).rotate(&back).unwrap()),
    ];
    if let Some(&last) = shape.last() {
        all.push(("flipped", copy(plain().flip(rank - 1).unwrap()).flip(rank - 1).unwrap()));
        let mut doubled = vec![f64::NAN; 2 * data.len()];
        doubled.iter_mut().step_by(2).zip(data).for_each(|(slot, &x)| *slot = x);
        let mut wide = shape.to_vec();
        wide[rank - 1] = 2 * last;
        let spread = Tensor::from_vec(wide, doubled).unwrap();
        let mut every = vec![Select::All; rank - 1];
        every.push(Select::stepped(0, 2 * last as isize, 2));
        all.push(("spread", spread.select(every).unwrap()));
    }
    let mut linked: Vec<usize> = turned.iter().map(|&axis| shape[axis]).collect();
    linked.reverse();
    let through = copy(plain().transpose(&turned).unwrap()).transpose(&turned).unwrap();
    let flat = through.reshape([data.len()]).unwrap();
    all.push(("linked", flat.reshape(shape).unwrap()));
    all
}

const SHAPES: &[&[usize]] = &[
    &[],
    &[1],
    &[7],
    &[600],
    &[1, 1],
    &[3, 5],
    &[2, 700],
    &[700, 2],
    &[70, 90],
    &[9, 1, 40],
    &[4, 3, 2],
    &[33, 3, 65],
    &[5, 6, 7, 8],
    &[0],
    &[0, 3],
    &[3, 0],
    &[2, 0, 3],
];
