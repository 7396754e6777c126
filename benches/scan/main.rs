//! Running sums and rolling windows against memcpy, a plain loop and ndarray, interleaved in one run.
//!
//! `cargo bench --bench scan [-- --quick] [-- --json] [-- FILTER]`. Every result is checked before it is
//! timed. A ratio is the median over rounds of the time divided by the time in which memcpy moves as many
//! bytes as are read and written in the same round: lower is better.

use lensor::prelude::*;
use lensor::rolling::Rolling;
use lensor::scan::Scan;
use lensor::segments::Segments;
use ndarray::{ArrayView2, Axis};
use report::{Bench, Case, check};

fn main() {
    let mut bench = Bench::from_arguments();
    let n = bench.side();
    // Whole numbers, whose sums are exact in any order.
    let data: Vec<f64> = (0..n * n).map(|i| ((i * 7) % 1009) as f64).collect();
    for axis in 0..2 {
        running_sums(&mut bench, n, axis, &data);
    }
    one_lane(&mut bench, &data);
    fused(&mut bench, n, &data);
    let window = n.min(1000);
    rolling_mean(&mut bench, &data, window);
    rolling_maximum(&mut bench, &data, window);
    rolling_columns(&mut bench, n, &data, n.min(100));
    segments(&mut bench, n, &data);
    for extent in [4, 8, 32] {
        short_lanes(&mut bench, extent, &data);
    }
}

fn running_sums(bench: &mut Bench, n: usize, axis: usize, data: &[f64]) {
    let name = format!("cumsum/{axis}/f64");
    if !bench.wants(&name) {
        return;
    }
    let t = Tensor::from_vec([n, n], data.to_vec()).expect("an input");
    let mut ours = Tensor::full([n, n], 0.0).expect("an output");
    let source = ArrayView2::from_shape((n, n), data).expect("a view");
    let (mut naive, mut theirs) = (vec![0.0; n * n], source.to_owned());
    let loops = |out: &mut [f64]| {
        for i in 0..n {
            for j in 0..n {
                let (digit, step) = if axis == 0 { (i, n) } else { (j, 1) };
                let before = if digit > 0 { out[i * n + j - step] } else { 0.0 };
                out[i * n + j] = before + data[i * n + j];
            }
        }
    };
    t.cumsum(axis).assign_to(&mut ours).expect("sums");
    loops(&mut naive);
    check(&name, ours.storage(), &naive);
    bench.run(Case {
        name: &name,
        bytes: 16 * n * n,
        reach: 1.3,
        ours: &mut || t.cumsum(axis).assign_to(&mut ours).expect("sums"),
        naive: &mut || loops(&mut naive),
        ndarray: Some(&mut || {
            theirs.assign(&source);
            theirs.accumulate_axis_inplace(Axis(axis), |before, x| *x += before);
        }),
    });
}

fn one_lane(bench: &mut Bench, data: &[f64]) {
    let name = "cumsum/one lane/f64";
    if !bench.wants(name) {
        return;
    }
    let t = Tensor::from(data.to_vec());
    let mut ours = Tensor::full([data.len()], 0.0).expect("an output");
    let mut naive = vec![0.0; data.len()];
    let loops = |out: &mut [f64]| {
        let mut sum = 0.0;
        for (slot, x) in out.iter_mut().zip(data) {
            sum += x;
            *slot = sum;
        }
    };
    t.cumsum(0).assign_to(&mut ours).expect("sums");
    loops(&mut naive);
    check(name, ours.storage(), &naive);
    bench.run(Case {
        name,
        bytes: 16 * data.len(),
        reach: 1.3,
        ours: &mut || t.cumsum(0).assign_to(&mut ours).expect("sums"),
        naive: &mut || loops(&mut naive),
        ndarray: None,
    });
}

fn fused(bench: &mut Bench, n: usize, data: &[f64]) {
    let name = "cumsum/1/(a*2+b)/f64";
    if !bench.wants(name) {
        return;
    }
    let t = Tensor::from_vec([n, n], data.to_vec()).expect("an input");
    let row = Tensor::from_vec([n], data[..n].to_vec()).expect("an input");
    let mut ours = Tensor::full([n, n], 0.0).expect("an output");
    let mut naive = vec![0.0; n * n];
    let loops = |out: &mut [f64]| {
        for i in 0..n {
            let mut sum = 0.0;
            for j in 0..n {
                sum += data[i * n + j] * 2.0 + data[j];
                out[i * n + j] = sum;
            }
        }
    };
    (&t * 2.0 + &row).cumsum(1).assign_to(&mut ours).expect("sums");
    loops(&mut naive);
    check(name, ours.storage(), &naive);
    bench.run(Case {
        name,
        bytes: 16 * n * n,
        reach: 1.5,
        ours: &mut || (&t * 2.0 + &row).cumsum(1).assign_to(&mut ours).expect("sums"),
        naive: &mut || loops(&mut naive),
        ndarray: None,
    });
}

fn rolling_mean(bench: &mut Bench, data: &[f64], window: usize) {
    let name = "rolling mean/1000/f64";
    if !bench.wants(name) {
        return;
    }
    let t = Tensor::from(data.to_vec());
    let results = data.len() - window + 1;
    let mut ours = Tensor::full([results], 0.0).expect("an output");
    let mut naive = vec![0.0; results];
    // Adds what comes and subtracts what goes: exact for these numbers, not for others.
    let loops = |out: &mut [f64]| {
        let mut sum: f64 = data[..window - 1].iter().sum();
        for (k, slot) in out.iter_mut().enumerate() {
            sum += data[k + window - 1];
            *slot = sum / window as f64;
            sum -= data[k];
        }
    };
    t.rolling(0, window).mean().assign_to(&mut ours).expect("means");
    loops(&mut naive);
    for (found, expected) in ours.storage().iter().zip(&naive) {
        assert!(
            (found - expected).abs() <= 1e-12 * expected.abs(),
            "{name}: {found}, expected {expected}"
        );
    }
    bench.run(Case {
        name,
        bytes: 8 * (data.len() + results),
        reach: 1.5,
        ours: &mut || t.rolling(0, window).mean().assign_to(&mut ours).expect("means"),
        naive: &mut || loops(&mut naive),
        ndarray: None,
    });
}

fn rolling_maximum(bench: &mut Bench, data: &[f64], window: usize) {
    let name = "rolling max/1000/f64";
    if !bench.wants(name) {
        return;
    }
    let t = Tensor::from(data.to_vec());
    let results = data.len() - window + 1;
    let mut ours = Tensor::full([results], 0.0).expect("an output");
    let mut naive = vec![0.0; results];
    // A queue of the elements that may still become the largest.
    let loops = |out: &mut [f64]| {
        let mut queue = std::collections::VecDeque::new();
        for (k, x) in data.iter().enumerate() {
            while queue.back().is_some_and(|&last: &usize| data[last] <= *x) {
                queue.pop_back();
            }
            queue.push_back(k);
            if queue[0] + window <= k {
                queue.pop_front();
            }
            if k + 1 >= window {
                out[k + 1 - window] = data[queue[0]];
            }
        }
    };
    t.rolling(0, window).max().assign_to(&mut ours).expect("maxima");
    loops(&mut naive);
    check(name, ours.storage(), &naive);
    bench.run(Case {
        name,
        bytes: 8 * (data.len() + results),
        reach: 2.0,
        ours: &mut || t.rolling(0, window).max().assign_to(&mut ours).expect("maxima"),
        naive: &mut || loops(&mut naive),
        ndarray: None,
    });
}

fn rolling_columns(bench: &mut Bench, n: usize, data: &[f64], window: usize) {
    let name = "rolling sum/100/axis 0/f64";
    if !bench.wants(name) {
        return;
    }
    let t = Tensor::from_vec([n, n], data.to_vec()).expect("an input");
    let results = n - window + 1;
    let mut ours = Tensor::full([results, n], 0.0).expect("an output");
    let mut naive = vec![0.0; results * n];
    let loops = |out: &mut [f64]| {
        let mut sums = vec![0.0; n];
        for i in 0..n {
            for (sum, x) in sums.iter_mut().zip(&data[i * n..][..n]) {
                *sum += x;
            }
            if i + 1 >= window {
                let first = i + 1 - window;
                out[first * n..][..n].copy_from_slice(&sums);
                for (sum, x) in sums.iter_mut().zip(&data[first * n..][..n]) {
                    *sum -= x;
                }
            }
        }
    };
    t.rolling(0, window).sum().assign_to(&mut ours).expect("sums");
    loops(&mut naive);
    check(name, ours.storage(), &naive);
    bench.run(Case {
        name,
        bytes: 8 * n * (n + results),
        reach: 2.0,
        ours: &mut || t.rolling(0, window).sum().assign_to(&mut ours).expect("sums"),
        naive: &mut || loops(&mut naive),
        ndarray: None,
    });
}

fn segments(bench: &mut Bench, n: usize, data: &[f64]) {
    let name = "segments of 37/axis 1/f64";
    if !bench.wants(name) {
        return;
    }
    let t = Tensor::from_vec([n, n], data.to_vec()).expect("an input");
    let offsets: Vec<usize> = (0..=n / 37).map(|k| k * 37).collect();
    let parts = offsets.len() - 1;
    let mut ours = Tensor::full([n, parts], 0.0).expect("an output");
    let mut naive = vec![0.0; n * parts];
    let loops = |out: &mut [f64]| {
        for (row, out) in data.chunks(n).zip(out.chunks_mut(parts)) {
            for (slot, part) in out.iter_mut().zip(row.chunks(37)) {
                *slot = part.iter().sum();
            }
        }
    };
    let sums = || t.segments(1, &offsets).fold(lensor::reduce::Sum);
    sums().assign_to(&mut ours).expect("sums");
    loops(&mut naive);
    check(name, ours.storage(), &naive);
    bench.run(Case {
        name,
        bytes: 8 * n * n,
        reach: 1.5,
        ours: &mut || sums().assign_to(&mut ours).expect("sums"),
        naive: &mut || loops(&mut naive),
        ndarray: None,
    });
}

/// Sums so far, of windows of three and of halves, along many short rows.
fn short_lanes(bench: &mut Bench, extent: usize, data: &[f64]) {
    let rows = data.len() / extent;
    let t = Tensor::from_vec([rows, extent], data.to_vec()).expect("an input");
    let offsets = [0, extent / 2, extent];
    let so_far = |row: &[f64], out: &mut [f64]| {
        let mut sum = 0.0;
        for (slot, x) in out.iter_mut().zip(row) {
            sum += x;
            *slot = sum;
        }
    };
    let windows = |row: &[f64], out: &mut [f64]| {
        out.iter_mut().zip(row.windows(3)).for_each(|(slot, window)| *slot = window.iter().sum());
    };
    let halves = |row: &[f64], out: &mut [f64]| {
        out.iter_mut()
            .zip(row.chunks(extent / 2))
            .for_each(|(slot, half)| *slot = half.iter().sum());
    };
    type Sums<'a> = &'a (dyn Fn(&mut Tensor<Vec<f64>>) + Sync);
    type Each<'a> = &'a (dyn Fn(&[f64], &mut [f64]) + Sync);
    let cases: [(&str, usize, Sums<'_>, Each<'_>); 3] = [
        ("cumsum", extent, &|out| t.cumsum(1).assign_to(out).expect("sums"), &so_far),
        (
            "windows of 3",
            extent - 2,
            &|out| t.rolling(1, 3).sum().assign_to(out).expect("sums"),
            &windows,
        ),
        ("halves", 2, &|out| t.segments(1, offsets).sum().assign_to(out).expect("sums"), &halves),
    ];
    for (what, results, sums, each) in cases {
        let name = format!("{what}/rows of {extent}/f64");
        if !bench.wants(&name) {
            continue;
        }
        let mut ours = Tensor::full([rows, results], 0.0).expect("an output");
        let mut naive = vec![0.0; rows * results];
        let loops = |out: &mut [f64]| {
            data.chunks(extent).zip(out.chunks_mut(results)).for_each(|(row, out)| each(row, out));
        };
        sums(&mut ours);
        loops(&mut naive);
        check(&name, ours.storage(), &naive);
        bench.run(Case {
            name: &name,
            bytes: 8 * rows * (extent + results),
            reach: 1.5,
            ours: &mut || sums(&mut ours),
            naive: &mut || loops(&mut naive),
            ndarray: None,
        });
    }
}
