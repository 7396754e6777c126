//! What is done to a view against copying the view and doing it to the copy, interleaved in one run.
//!
//! `cargo bench --bench views [-- --quick] [-- --json] [-- FILTER]`. Rows are named by the view and the operation. A ratio
//! above 1 says that a user was right to copy. Results are checked.

use lensor::lanes::SortOrder;
use lensor::prelude::*;
use report::{Bench, Match, check};

/// Ratio to the copy that is to be reached.
const REACH: f64 = 1.1;

type View<'v> = Tensor<&'v Vec<f64>>;

/// An operation on a view, whose results are told as one vector.
type Operation = fn(&View<'_>) -> Result<Vec<f64>, Error>;

fn main() {
    let mut bench = Bench::from_arguments();
    let n = if bench.quick { 64 } else { 1024 };
    let data: Vec<f64> = (0..n * n).map(|i| ((i * 7919) % 4093) as f64).collect();
    let t = Tensor::from_vec([n, n], data).expect("an input");
    for (name, view) in views(&t, n).expect("views") {
        for (operation, run) in OPERATIONS {
            row(&mut bench, &format!("{name}/{operation}"), &view, run);
        }
    }
}

/// Views of a square, whose elements are those of the square or some of them.
fn views(t: &Tensor<Vec<f64>>, n: usize) -> Result<Vec<(&'static str, View<'_>)>, Error> {
    let turned = || t.view().transpose([1, 0]);
    let shape = [2 * n, n / 2];
    let list: Vec<usize> = (0..n).map(|k| k * 379 % n).collect();
    let cube = || t.view().reshape([n / 16, n / 8, 128]);
    let few = || t.view().reshape([n * n])?.select((0..n * 6,))?.reshape([n, 2, 3]);
    let rank = (n * n).ilog2() as usize;
    let order: Vec<usize> = (0..rank).map(|k| k * 7 % rank).collect();
    let twos = || t.view().reshape(vec![2; rank])?.transpose(&order);
    Ok(vec![
        ("plain", t.view()),
        ("transposed", turned()?),
        ("flipped", t.view().flip(1)?),
        ("rotated", t.view().rotate([100, 33])?),
        ("steps of 2", t.view().select((.., (0..n).step_by(2).collect::<Vec<_>>()))?),
        ("rows by list", t.view().select((list, ..))?),
        ("transposed, reshaped", turned()?.reshape(shape)?),
        (
            "rotated, transposed, reshaped",
            t.view().rotate([100, 33])?.transpose([1, 0])?.reshape(shape)?,
        ),
        (
            "windows of 9",
            t.view().select((0..n / 4, ..))?.windows(1, 9)?.reshape([n / 4 * (n - 8), 9])?,
        ),
        ("turned cube", cube()?.transpose([2, 0, 1])?),
        ("mirrored cube", cube()?.transpose([2, 1, 0])?.flip(0)?),
        ("thin", t.view().reshape([n * n / 2, 2])?),
        ("short axes", few()?),
        ("short axes, rotated", few()?.rotate([5, 1, 1])?),
        ("axes of 2, turned", twos()?),
        ("planes, rotated", t.view().reshape([n / 8, 8, n / 8, 8])?.rotate([1, 3, 2, 5])?),
        ("half of the planes", cube()?.select((.., (0..n / 8).step_by(2).collect::<Vec<_>>()))?),
    ])
}

const OPERATIONS: [(&str, Operation); 14] = [
    ("sum 0", |t| t.sum(0).to_vec()),
    ("sum 1", |t| t.sum(1).to_vec()),
    ("sum", |t| t.sum(..).to_vec()),
    ("variance 0", |t| t.var(0).to_vec()),
    ("argmax 1", |t| Ok(t.argmax(1).to_vec()?.into_iter().map(|k| k as f64).collect())),
    ("cumsum 0", |t| t.cumsum(0).to_vec()),
    ("cumsum 1", |t| t.cumsum(1).to_vec()),
    ("rolling 0", |t| t.rolling(0, 2).sum().to_vec()),
    ("rolling 1", |t| t.rolling(1, 2).sum().to_vec()),
    ("sort 0", |t| t.sort(0, SortOrder::Ascending).to_vec()),
    ("sort 1", |t| t.sort(1, SortOrder::Ascending).to_vec()),
    ("fused", |t| (t * 2.0 + 1.0).to_vec()),
    ("sum of fused", |t| (t * 2.0 + 1.0).sum(0).to_vec()),
    ("iterated", |t| Ok(vec![t.try_iter().try_fold(0.0, |sum, x| Ok::<_, Error>(sum + x?))?])),
];

fn row(bench: &mut Bench, name: &str, view: &View<'_>, run: Operation) {
    if !bench.wants(name) {
        return;
    }
    let copied = || run(&view.eval()?.view());
    check(name, &run(view).expect("results"), &copied().expect("results"));
    bench.run_match(Match {
        name,
        reach: REACH,
        ours: &mut || drop(run(view).expect("results")),
        peer: ("copied", &mut || drop(copied().expect("results"))),
        naive: None,
    });
}
