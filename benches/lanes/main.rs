//! Sorting lanes against std's sorts over ndarray's lanes, and memcpy, interleaved in one run.
//!
//! `cargo bench --bench lanes [-- --quick] [-- --json] [-- FILTER]`. Every result is checked before it is
//! timed. A ratio is the median over rounds of the time divided by the time in which memcpy moves as many
//! bytes (half read, half written) in the same round: lower is better. The naive loop is std's stable sort
//! of copied lanes.

use lensor::Tensor;
use lensor::lanes::{Lanes, SortOrder::Ascending};
use ndarray::{Array2, ArrayD, Axis, IxDyn};
use report::{Bench, Case, check};
use std::cmp::Ordering;

fn main() {
    let mut bench = Bench::from_arguments();
    sorts(&mut bench);
    argsorts(&mut bench);
}

/// Numbers without a pattern, from a generator that is the same everywhere.
fn noise(count: usize) -> Vec<f32> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    std::iter::repeat_with(next).take(count).collect()
}

fn order(a: &f32, b: &f32) -> Ordering {
    a.partial_cmp(b).expect("no NaN")
}

/// Sorts every lane with std's stable sort.
fn sort_each(mut array: ArrayD<f32>, axis: usize) -> ArrayD<f32> {
    for mut lane in array.lanes_mut(Axis(axis)) {
        let mut copy = lane.to_vec();
        copy.sort_by(order);
        lane.iter_mut().zip(copy).for_each(|(slot, x)| *slot = x);
    }
    array
}

fn sorts(bench: &mut Bench) {
    let n = bench.side();
    for (name, shape, axis) in [
        ("sort/last/f32/4096x4096", [n, n], 1),
        ("sort/first/f32/4096x4096", [n, n], 0),
        ("sort/last/f32/262144x64", [n * n / 64, 64], 1),
        ("sort/last/f32/4194304x4", [n * n / 4, 4], 1),
    ] {
        if !bench.wants(name) {
            continue;
        }
        let data = noise(n * n);
        let t = Tensor::from_vec(shape, data.clone()).expect("an input");
        let nd = ArrayD::from_shape_vec(IxDyn(&shape), data).expect("an input");
        let ours = t.view().sort(axis, Ascending).eval().expect("a sort");
        let theirs = sort_each(nd.clone(), axis);
        check(name, ours.storage(), theirs.as_slice().expect("contiguous"));
        bench.run(Case {
            name,
            bytes: 8 * n * n,
            reach: 8.0,
            ours: &mut || drop(t.view().sort(axis, Ascending).eval().expect("a sort")),
            naive: &mut || {
                let mut copy = nd.clone();
                for mut lane in copy.lanes_mut(Axis(axis)) {
                    let mut keys = lane.to_vec();
                    keys.sort_unstable_by(f32::total_cmp);
                    lane.iter_mut().zip(keys).for_each(|(slot, x)| *slot = x);
                }
            },
            ndarray: Some(&mut || drop(sort_each(nd.clone(), axis))),
        });
    }
}

/// The positions that sort every column, by std's stable sort.
fn argsort_each(array: &Array2<f32>) -> Array2<usize> {
    let mut out = Array2::zeros(array.raw_dim());
    for (lane, mut to) in array.lanes(Axis(0)).into_iter().zip(out.lanes_mut(Axis(0))) {
        let lane = lane.to_vec();
        let mut positions: Vec<usize> = (0..lane.len()).collect();
        positions.sort_by(|&a, &b| order(&lane[a], &lane[b]));
        to.iter_mut().zip(positions).for_each(|(slot, position)| *slot = position);
    }
    out
}

fn argsorts(bench: &mut Bench) {
    let n = bench.side();
    let name = "argsort/first/f32/4096x4096";
    if !bench.wants(name) {
        return;
    }
    let t = Tensor::from_vec([n, n], noise(n * n)).expect("an input");
    let nd = Array2::from_shape_vec((n, n), noise(n * n)).expect("an input");
    let ours = t.view().argsort(0, Ascending).eval().expect("a sort");
    check(name, ours.storage(), argsort_each(&nd).as_slice().expect("contiguous"));
    bench.run(Case {
        name,
        bytes: 12 * n * n,
        reach: 14.0,
        ours: &mut || drop(t.view().argsort(0, Ascending).eval().expect("a sort")),
        naive: &mut || drop(argsort_each(&nd)),
        ndarray: Some(&mut || drop(argsort_each(&nd))),
    });
}
