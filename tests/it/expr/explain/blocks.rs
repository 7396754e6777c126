//! What is said of the blocks of an operand, held against how often they are loaded.

use crate::support::pool;
use lensor::expr::Explanation;
use lensor::gufunc::{Gufunc, inner1d};
use lensor::lanes::SortOrder::{Ascending, Descending};
use lensor::lanes::{Lanes, Uniform};
use lensor::linalg::Linalg;
use lensor::prelude::*;
use lensor::stencil::{Border, EdgeOrder, Mode, Stencil};
use lensor::storage::{BlockMemory, Blocks, BlocksMut, Chunked};
use std::sync::Arc;

const N: usize = 128;

type Memory<T> = Arc<BlockMemory<T>>;
type View<'t, T> = Tensor<&'t Chunked<Memory<T>>>;

/// A view of blocks.
type Viewed<T> = for<'t> fn(View<'t, T>) -> View<'t, T>;

/// Explains an operation on a view, or computes it.
type Operation<T> = for<'t> fn(View<'t, T>, bool) -> Option<Explanation>;

/// Operations on `t` by name.
macro_rules! operations {
    ($t:ident: $T:ty; $($name:literal => $operation:expr,)*) => {
        [$(($name, {
            let operation: Operation<$T> = |$t: View<'_, $T>, runs: bool| {
                let operation = $operation;
                if !runs {
                    return Some(operation.explain().unwrap());
                }
                operation.eval().unwrap();
                None
            };
            operation
        })),*]
    };
}

/// Blocks of different elements.
fn blocks<T>(extents: [usize; 2], block: [usize; 2], element: impl Fn(usize) -> T) -> Memory<T>
where
    T: Copy + Send + Sync + 'static,
{
    let memory = BlockMemory::new(extents, block, element(0)).unwrap();
    let [rows, columns] = [0, 1].map(|axis| extents[axis].div_ceil(block[axis]));
    for number in 0..rows * columns {
        let elements = vec![element(number + 1); block[0] * block[1]];
        memory.store(&[number / columns, number % columns], &elements).unwrap();
    }
    Arc::new(memory)
}

/// Runs an operation on a view of blocks of which so many are held; returns what is said of them, how many there are and
/// how often they were loaded.
fn said<T>(
    (memory, held): (&Memory<T>, usize),
    view: Viewed<T>,
    operation: Operation<T>,
) -> (String, usize, usize)
where
    T: Copy + Send + Sync + 'static,
{
    let chunked = Chunked::new(memory.clone()).unwrap().with_blocks(held);
    let extents = [0, 1].map(|axis| Blocks::extents(&chunked)[axis]);
    let t = Tensor::new(extents, chunked).unwrap();
    let explained = pool(1).install(|| operation(view(t.view()), false)).unwrap();
    assert_eq!(t.storage().stats().loads, 0, "{explained}");
    pool(1).install(|| operation(view(t.view()), true));
    let block = Blocks::block(t.storage());
    let of = format!(" blocks of {} x {}, ", block[0], block[1]);
    let lines: Vec<&String> = explained.lines().iter().filter(|l| l.contains(&of)).collect();
    assert_eq!(lines.len(), 1, "{explained}");
    let (_, line) = lines[0].split_once(": ").unwrap();
    let (count, how) = line.split_once(&of).unwrap();
    let count = count.parse().unwrap();
    assert_eq!(count, view(t.view()).touched_blocks().unwrap().unwrap().len(), "{explained}");
    (how.to_string(), count, t.storage().stats().loads)
}

/// Holds what is said of operations on views against loads, where few blocks are held and where all are.
fn hold<T>(memory: &Memory<T>, few: usize, operations: &[(&str, Operation<T>)])
where
    T: Copy + Send + Sync + 'static,
{
    let views: [(&str, Viewed<T>); 4] = [
        ("plain", |t| t),
        ("transposed", |t| t.transpose([1, 0]).unwrap()),
        ("rotated", |t| t.rotate([100, 33]).unwrap()),
        ("listed", |t| t.select(([100, 3, 70, 7, 64, 65], ..)).unwrap()),
    ];
    for (name, operation) in operations {
        for (view_name, view) in views {
            let (how, count, loads) = said((memory, few), view, *operation);
            let what = format!("{name}, {view_name}: {count} blocks, {loads} loads, {how}");
            let last = format!("once if {count} of them were held, or fewer");
            if how == "each loaded once" {
                assert_eq!(loads, count, "{what}");
            } else if let Some(times) = how.strip_prefix("loaded ") {
                let times: f64 = times.split(' ').next().unwrap().parse().unwrap();
                let found = loads as f64 / count as f64;
                assert!((found - times).abs() <= times / 10.0 + 0.05, "{what}");
                assert!(loads > count && how.ends_with(&last), "{what}");
            } else {
                assert!(how.starts_with("read ") && how.ends_with(&last), "{what}");
                assert!(loads >= count, "{what}");
            }
            let (how, count, loads) = said((memory, count), view, *operation);
            assert_eq!((&how[..], loads), ("each loaded once", count), "{name}, {view_name}");
        }
    }
}

#[test]
fn folds_and_sweeps_say_how_blocks_are_read() {
    let operations = operations! { t: f64;
        "sum" => t.sum(..),
        "sum over rows" => t.sum(0),
        "sum along rows" => (&t * 2.0).sum(1),
        "running sum over rows" => t.cumsum(0),
        "running sum along rows" => t.cumsum(1),
        "windows" => t.rolling(0, 3).sum(),
        "segments" => t.view().segments(0, [0, 2, t.shape()[0]]).sum(),
    };
    hold(&blocks([N, N], [64, 64], |k| k as f64), 1, &operations);
}

#[test]
fn lanes_and_calls_say_how_often_blocks_are_loaded() {
    let operations = operations! { t: f64;
        "columns sorted" => t.sort(0, Ascending),
        "rows sorted" => t.sort(1, Descending),
        "medians" => t.median(0),
        "histogram" => t.histogram(Uniform::new(0.0, 4.0, 3).unwrap()),
        "inner products" => inner1d().call((&t, Tensor::full([t.shape()[1]], 1.0).unwrap())),
        "matrix product" => t.view().matmul(Tensor::full([t.shape()[1], 2], 1.0).unwrap()),
    };
    hold(&blocks([N, N], [64, 64], |k| k as f64), 1, &operations);
}

#[test]
fn stencils_say_how_often_blocks_are_loaded() {
    let operations = operations! { t: f64;
        "derivative" => t.derivative(0, 1.0, EdgeOrder::First),
        "hessian" => t.hessian([1.0, 1.0], EdgeOrder::First),
        "correlation" => {
            t.correlate(Tensor::full([3, 3], 1.0).unwrap(), Mode::Same(Border::Wrap))
        },
    };
    hold(&blocks([N, N], [64, 64], |k| k as f64), 1, &operations);
}

/// Operands of more elements than are evaluated at once.
fn hold_parts(operation: Operation<u8>) {
    let memory = blocks([1040, 1024], [384, 512], |k| k as u8);
    let (how, count, loads) = said((&memory, 1), |t| t, operation);
    let times = how.strip_prefix("loaded ").unwrap_or_else(|| panic!("{how}"));
    let times: f64 = times.split(' ').next().unwrap().parse().unwrap();
    assert!((loads as f64 / count as f64 - times).abs() <= 0.1, "{loads} loads, {how}");
    assert!(loads > count, "{loads} loads, {how}");
}

#[test]
fn blocks_of_several_parts_of_calls_are_loaded_again() {
    let firsts: [(&str, Operation<u8>); 1] = operations! { t: u8;
        "firsts" => {
            let first = Gufunc::<[u8; 1], [u8; 1], _>::each("(n)->()", |[x], [mut out]| {
                out[0] = x[0];
            });
            first.unwrap().call([t])
        },
    };
    hold_parts(firsts[0].1);
}

#[test]
fn blocks_of_several_parts_of_lanes_are_loaded_again() {
    let sorted: [(&str, Operation<u8>); 1] = operations! { t: u8; "sort" => t.sort(0, Ascending), };
    hold_parts(sorted[0].1);
}

#[test]
fn blocks_of_several_parts_of_stencils_are_loaded_again() {
    let sums: [(&str, Operation<u8>); 1] = operations! { t: u8;
        "correlation" => {
            t.correlate(Tensor::full([3, 1], 1).unwrap(), Mode::Same(Border::Wrap))
        },
    };
    hold_parts(sums[0].1);
}

/// What is said in full, of several operands too.
#[test]
fn operands_in_blocks_have_a_line_each() {
    let chunked = |held: usize| {
        let memory = blocks([N, N], [64, 64], |k| k as f64);
        Tensor::new([N, N], Chunked::new(memory).unwrap().with_blocks(held)).unwrap()
    };
    let (few, all) = (chunked(1), chunked(4));
    let text = (&few + &all).sum(0).explain().unwrap().to_string();
    let once = "operand 2: 4 blocks of 64 x 64, each loaded once";
    assert!(text.lines().any(|line| line == once), "{text}");
    let read = "operand 1: 4 blocks of 64 x 64, read in windows of about 16384 elements; \
                each loaded once if 4 of them were held, or fewer";
    assert!(text.lines().any(|line| line == read), "{text}");
    let text = inner1d().call((&few, &all)).explain().unwrap().to_string();
    for line in ["operand 1: 4 blocks of 64 x 64, each loaded once", once] {
        assert!(text.lines().any(|own| own == line), "{text}");
    }
    // How much is read beside the segments is not said.
    let text = all.segments(0, [0, 5, 9]).sum().explain().unwrap().to_string();
    assert!(!text.contains("blocks of"), "{text}");
    // Nor how often blocks are loaded below a stage.
    let turned = all.view().transpose([1, 0]).unwrap().reshape([N * N]).unwrap();
    let text = turned.select(([700, 3, 9000],)).unwrap().explain().unwrap().to_string();
    assert!(text.contains("in blocks of 64 x 64, across their axes, through 2 stages"), "{text}");
    assert_eq!([few, all].map(|t| t.storage().stats().loads), [0, 0]);
}
