//! Ragged tensors against memcpy and plain loops, interleaved in one run.
//!
//! `cargo bench --bench ragged [-- --quick] [-- --json] [-- FILTER]`. Every result is checked before it is timed. A
//! ratio is the median over rounds of the time divided by the time in which memcpy moves as many bytes as values,
//! offsets, columns and results have, once each: lower is better. Sorts are timed against dense rows of the mean length.
//! `ragged.py` times the same rows in awkward-array, numba and NumPy.

use lensor::lanes::SortOrder;
use lensor::prelude::*;
use lensor::ragged::{LanesRagged, Offsets, Ragged, ReduceRagged, repeat};
use report::{Bench, Case};
use std::hint::black_box;

fn main() {
    let mut bench = Bench::from_arguments();
    let part = |count: usize| if bench.quick { count / 100 } else { count };
    let (million, some) = (part(1_000_000), part(100_000));
    for (name, rows, mean, reach) in [
        ("[1e6, 0..8] + [1e6, 1]", million, 0, 2.0),
        ("mean 3 + column", million, 3, 2.2),
        ("mean 100 + column", some, 100, 1.2),
    ] {
        columns(&mut bench, name, lengths(rows, mean), reach);
    }
    expressions(&mut bench, lengths(million, 4));
    views(&mut bench, lengths(million / 2, 8));
    for (name, rows, mean, reach) in
        [("row sums, mean 4", million, 4, 2.5), ("row sums, mean 100", some, 100, 1.0)]
    {
        sums(&mut bench, name, lengths(rows, mean), reach);
    }
    for (name, rows, mean) in
        [("sort f32, mean 4", million, 4), ("sort f32, mean 100", some / 2, 100)]
    {
        sorts(&mut bench, name, lengths(rows, mean), mean);
    }
    padding(&mut bench, lengths(million, 8));
    repeats(&mut bench, lengths(million, 4));
}

/// Lengths that vary around a mean: from 0 to twice as much, or to 7 for 0.
fn lengths(rows: usize, mean: usize) -> Vec<usize> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let limit = if mean == 0 { 8 } else { 2 * mean + 1 };
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as usize % limit
    };
    (0..rows).map(|_| next()).collect()
}

fn values(count: usize, seed: usize) -> Vec<f64> {
    (0..count).map(|i| ((i * 7 + seed) % 1009) as f64 * 0.25).collect()
}

fn ragged(lengths: &[usize], seed: usize) -> Ragged<Vec<f64>> {
    let offsets = Offsets::from_lengths(lengths.iter().copied()).expect("offsets");
    let items = lengths.iter().sum();
    Ragged::new([lengths.len()], offsets, Tensor::from(values(items, seed))).expect("rows")
}

/// Checks ours against the naive loop, then times both. They write to outputs of their own.
fn row(
    bench: &mut Bench,
    (name, bytes, reach): (&str, usize, f64),
    count: usize,
    mut ours: impl FnMut(&mut Vec<f64>) + Send,
    mut naive: impl FnMut(&mut Vec<f64>) + Send,
) {
    if !bench.wants(name) {
        return;
    }
    let (mut out, mut plain) = (vec![f64::NAN; count], vec![f64::NAN; count]);
    ours(&mut out);
    naive(&mut plain);
    assert_eq!(out, plain, "{name}");
    bench.run(Case {
        name,
        bytes,
        reach,
        ours: &mut || ours(black_box(&mut out)),
        naive: &mut || naive(black_box(&mut plain)),
        ndarray: None,
    });
}

/// Rows of `like`, over other memory.
fn over<'o>(like: &[usize], out: &'o mut Vec<f64>, offsets: &Offsets) -> Ragged<&'o mut Vec<f64>> {
    let items = out.len();
    Ragged::new([like.len()], offsets.clone(), Tensor::new([items], out).expect("items"))
        .expect("rows")
}

fn columns(bench: &mut Bench, name: &str, lengths: Vec<usize>, reach: f64) {
    let (r, rows) = (ragged(&lengths, 1), lengths.len());
    let offsets = r.form().expect("a form").offsets(1).expect("rows").clone();
    let column = Tensor::from_vec([rows, 1], values(rows, 3)).expect("a column");
    let (items, x, c) = (r.content().len(), r.content().storage(), column.storage());
    let bytes = 2 * 8 * items + 4 * rows + 8 * rows;
    let naive = |out: &mut Vec<f64>| {
        let mut at = 0;
        for (&length, c) in lengths.iter().zip(c) {
            for k in at..at + length {
                out[k] = x[k] + c;
            }
            at += length;
        }
    };
    let ours =
        |out: &mut Vec<f64>| over(&lengths, out, &offsets).assign(&r + &column).expect("results");
    row(bench, (name, bytes, reach), items, ours, naive);
}

fn expressions(bench: &mut Bench, lengths: Vec<usize>) {
    let (r, r2, d, rows) =
        (ragged(&lengths, 1), ragged(&lengths, 2), ragged(&lengths, 5), lengths.len());
    let offsets = r.form().expect("a form").offsets(1).expect("rows").clone();
    let items = r.content().len();
    let shared = |of: &Ragged<Vec<f64>>| {
        Ragged::new([rows], offsets.clone(), of.content().clone()).expect("rows")
    };
    let (s2, sd) = (shared(&r2), shared(&d));
    let column = Tensor::from_vec([rows, 1], values(rows, 3)).expect("a column");
    let [x, y, z] = [&r, &r2, &d].map(|r| r.content().storage());
    let c = column.storage();
    let bytes = 4 * 8 * items + 4 * rows + 8 * rows;
    let naive = |out: &mut Vec<f64>| {
        let mut at = 0;
        for (&length, c) in lengths.iter().zip(c) {
            for k in at..at + length {
                out[k] = (x[k] * 2.0 + y[k]) * c - z[k];
            }
            at += length;
        }
    };
    let ours = |out: &mut Vec<f64>| {
        let e = (&r * 2.0 + &s2) * &column - &sd;
        over(&lengths, out, &offsets).assign(e).expect("results");
    };
    row(bench, ("(r*2+r2)*c - d, offsets shared", bytes, 1.8), items, ours, naive);
    let bytes = 3 * 8 * items + 2 * 4 * rows;
    let naive = |out: &mut Vec<f64>| {
        for ((out, x), y) in out.iter_mut().zip(x).zip(y) {
            *out = x + y;
        }
    };
    let ours =
        |out: &mut Vec<f64>| over(&lengths, out, &offsets).assign(&r + &r2).expect("results");
    row(bench, ("r + r2, equal tables compared", bytes, 1.3), items, ours, naive);
}

fn views(bench: &mut Bench, lengths: Vec<usize>) {
    let (rows, items) = (lengths.len(), lengths.iter().sum::<usize>());
    let ends: Vec<usize> = lengths
        .iter()
        .scan(0, |end, n| {
            *end += n;
            Some(*end)
        })
        .collect();
    // A permutation: a step that has no factor in common with the number of rows.
    let order: Vec<usize> = (0..rows).map(|k| k * 7919 % rows).collect();
    let mut seen = vec![false; rows];
    order.iter().for_each(|&k| seen[k] = true);
    assert!(seen.iter().all(|&seen| seen), "a permutation");
    let starts: Vec<usize> = order.iter().map(|&k| ends[k] - lengths[k]).collect();
    let lens: Vec<usize> = order.iter().map(|&k| lengths[k]).collect();
    let x = values(items, 1);
    let content = Tensor::new([items], &x).expect("items");
    let r = Ragged::from_views([rows], starts.clone(), lens.clone(), 1, content).expect("rows");
    let offsets = Offsets::from_lengths(lens.iter().copied()).expect("offsets");
    let naive = |out: &mut Vec<f64>| {
        let mut at = 0;
        for (&start, &len) in starts.iter().zip(&lens) {
            out[at..at + len].copy_from_slice(&x[start..start + len]);
            at += len;
        }
    };
    let bytes = 2 * 8 * items + 2 * 8 * rows;
    let ours = |out: &mut Vec<f64>| over(&lens, out, &offsets).assign(&r).expect("results");
    row(bench, ("views in random order, mean 8", bytes, 3.0), items, ours, naive);
}

fn sums(bench: &mut Bench, name: &str, lengths: Vec<usize>, reach: f64) {
    let r = ragged(&lengths, 1);
    let (rows, x) = (lengths.len(), r.content().storage());
    let naive = |out: &mut Vec<f64>| {
        let mut at = 0;
        for (&length, out) in lengths.iter().zip(out) {
            *out = x[at..at + length].iter().sum::<f64>() + 0.0;
            at += length;
        }
    };
    let ours = |out: &mut Vec<f64>| {
        *out = r.sum(1).eval_dense().expect("sums").into_storage();
    };
    row(bench, (name, 8 * x.len() + 4 * rows + 8 * rows, reach), rows, ours, naive);
}

fn sorts(bench: &mut Bench, name: &str, lengths: Vec<usize>, mean: usize) {
    if !bench.wants(name) {
        return;
    }
    let items = lengths.iter().sum::<usize>();
    let data: Vec<f32> = values(items, 1).iter().map(|&x| (x * 7.0 % 13.0) as f32).collect();
    let offsets = Offsets::from_lengths(lengths.iter().copied()).expect("offsets");
    let r = Ragged::new([lengths.len()], offsets, Tensor::new([items], &data).expect("items"))
        .expect("rows");
    let found =
        r.view().sort(1, SortOrder::Ascending).eval().expect("rows").to_vec().expect("items");
    let mut at = 0;
    for &length in &lengths {
        let mut row = data[at..at + length].to_vec();
        row.sort_by(f32::total_cmp);
        assert_eq!(found[at..at + length], row, "{name}");
        at += length;
    }
    let dense = Tensor::new([items / mean, mean], &data).expect("rows");
    bench.run(Case {
        name,
        bytes: 2 * 4 * items + 4 * lengths.len(),
        reach: 1.5,
        ours: &mut || {
            black_box(r.view().sort(1, SortOrder::Ascending).eval().expect("rows"));
        },
        naive: &mut || {
            black_box(dense.view().sort(1, SortOrder::Ascending).eval().expect("rows"));
        },
        ndarray: None,
    });
}

fn padding(bench: &mut Bench, lengths: Vec<usize>) {
    let (r, rows) = (ragged(&lengths, 1), lengths.len());
    let padded = r.view().padded(1, Some(16), 0.0).expect("rows");
    let x = r.content().storage();
    let naive = |out: &mut Vec<f64>| {
        let mut at = 0;
        for (&length, out) in lengths.iter().zip(out.chunks_exact_mut(16)) {
            out[..length].copy_from_slice(&x[at..at + length]);
            out[length..].fill(0.0);
            at += length;
        }
    };
    let ours = |out: &mut Vec<f64>| {
        Tensor::new([rows, 16], out).expect("rows").assign(&padded).expect("results");
    };
    let bytes = 8 * x.len() + 4 * rows + 8 * 16 * rows;
    row(bench, ("padded to dense, 8 of 16", bytes, 1.6), 16 * rows, ours, naive);
}

fn repeats(bench: &mut Bench, counts: Vec<usize>) {
    let x = values(counts.len(), 1);
    let t = Tensor::from(x.clone());
    let items = counts.iter().sum::<usize>();
    let repeated = repeat(t, 0, &counts).expect("a view");
    let naive = |out: &mut Vec<f64>| {
        let mut at = 0;
        for (&count, x) in counts.iter().zip(&x) {
            out[at..at + count].fill(*x);
            at += count;
        }
    };
    let ours = |out: &mut Vec<f64>| {
        Tensor::new([items], out).expect("items").assign(&repeated).expect("results");
    };
    let bytes = 8 * items + (4 + 8) * counts.len();
    row(bench, ("repeat by counts, mean 4", bytes, 1.1), items, ours, naive);
}
