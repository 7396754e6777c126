//! Blocks of three and four axes are loaded about once, however few are held and whichever axes an operation goes along.

use crate::support::pool;
use lensor::lanes::{Lanes, SortOrder::Ascending};
use lensor::prelude::*;
use lensor::reduce::Sum;
use lensor::rolling::Rolling;
use lensor::scan::Scan;
use lensor::segments::Segments;
use lensor::stencil::{Border, EdgeOrder, Mode, Spacing};
use lensor::storage::{BlockMemory, Blocks, Chunked};
use std::sync::LazyLock;

/// One thread, for numbers that are always the same.
static ALONE: LazyLock<rayon::ThreadPool> = LazyLock::new(|| pool(1));

type Volume<'a> = Tensor<&'a Chunked<BlockMemory<i64>>>;

/// Loads of what an operation reads of an evaluated view, over the blocks there are.
fn loads<const R: usize>(
    [extents, block]: [[usize; R]; 2],
    held: usize,
    run: &(dyn Fn(&Volume<'_>) + Sync),
) -> f64 {
    let below = BlockMemory::new(extents, block, 1).unwrap();
    let chunked = Chunked::new(below).unwrap().with_blocks(held);
    let volume = Tensor::new(extents, &chunked).unwrap();
    ALONE.install(|| run(&volume));
    let blocks = extents.iter().zip(&block).map(|(extent, side)| extent.div_ceil(*side));
    chunked.stats().loads as f64 / blocks.product::<usize>() as f64
}

#[test]
fn volumes_are_loaded_about_once() {
    for (sides, held) in [
        [[60, 60, 60], [15, 15, 15]],
        [[10, 120, 30], [3, 50, 7]],
        [[20, 90, 40], [5, 1, 9]],
        [[60, 60, 120], [10, 15, 120]],
        [[90, 40, 100], [30, 40, 50]],
        [[70, 70, 70], [10, 70, 70]],
        [[70, 70, 70], [70, 70, 10]],
        [[20, 90, 60], [1, 90, 60]],
    ]
    .into_iter()
    .zip([2, 4].into_iter().cycle())
    {
        let check = |name: &str, most: f64, run: &(dyn Fn(&Volume<'_>) + Sync)| {
            let found = loads(sides, held, run);
            assert!(found <= most, "{name} of {sides:?}, {held} held: {found}");
        };
        for order in [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            check("transpose", 1.1, &|t| drop(t.view().transpose(order).unwrap().eval().unwrap()));
        }
        for axis in 0..3 {
            check(&format!("sum {axis}"), 1.5, &|t| drop(t.sum(axis).eval().unwrap()));
            check("argmax", 1.5, &|t| drop(t.argmax(axis).eval().unwrap()));
            check("cumsum", 1.5, &|t| drop(t.cumsum(axis).eval().unwrap()));
            check("rolling", 1.5, &|t| drop(t.rolling(axis, 3).sum().eval().unwrap()));
            check("segments", 1.5, &|t| {
                drop(t.segments(axis, [0, 3, 10]).fold(Sum).eval().unwrap())
            });
            check("sort", 1.5, &|t| drop(t.sort(axis, Ascending).eval().unwrap()));
            let others: Vec<usize> = (0..3).filter(|other| *other != axis).collect();
            check("sum of others", 3.5, &|t| drop(t.sum(&others[..]).eval().unwrap()));
        }
        check("iteration", 1.5, &|t| assert!(t.try_iter().all(|x| x == Ok(1))));
        check("sum of all", 1.5, &|t| drop(t.sum(..).eval().unwrap()));
        let turned = |axis: usize| {
            move |t: &Volume<'_>| {
                drop(t.view().transpose([2, 1, 0]).unwrap().sum(axis).eval().unwrap())
            }
        };
        check("sum of transposed", 1.5, &turned(0));
        check("sum of transposed", 1.5, &turned(1));
        check("sum of transposed", 1.5, &turned(2));
        // Blocks that are not gone through one by one are read a few lines at a time.
        if sides[1].iter().product::<usize>() >= 4096 {
            for (axis, order) in [(1, [1, 2, 0]), (0, [2, 1, 0])] {
                let scan = |t: &Volume<'_>| t.clone().transpose(order)?.cumsum(axis).eval();
                check("cumsum of transposed", 1.5, &|t| drop(scan(t).unwrap()));
            }
        }
    }
}

/// What is done piece by piece loads whole layers of blocks at once.
#[test]
fn pieces_are_as_long_as_layers_of_blocks() {
    let shape = [512, 8192];
    let tensor = |held: usize| {
        let chunked = Chunked::new(BlockMemory::new(shape, [256, 256], 1_i64).unwrap()).unwrap();
        Tensor::new(shape, chunked.with_blocks(held)).unwrap()
    };
    type Run<'r> = (&'r str, &'r (dyn Fn(&Tensor<Chunked<BlockMemory<i64>>>) + Sync));
    let runs: [Run<'_>; 9] = [
        ("nonzero", &|t| assert_eq!(t.nonzero().unwrap().shape(), [512 * 8192, 2])),
        ("extract", &|t| assert_eq!(t.extract(t.greater(0)).unwrap().len(), 512 * 8192)),
        ("take_at", &|t| {
            let numbers = Tensor::from_fn([100_000], |k| k * 7919 % (512 * 8192)).unwrap();
            let taken = t.take_at((&numbers / 8192, &numbers % 8192));
            assert!(taken.to_vec().unwrap().iter().all(|&x| x == 1));
        }),
        ("histogram", &|t| {
            let bins = lensor::lanes::Uniform::new(0.0, 2.0, 2);
            assert_eq!(t.histogram(bins.unwrap()).to_vec().unwrap(), [0, 512 * 8192]);
        }),
        ("comparison", &|t| assert_eq!(t.try_equal(t), Ok(true))),
        ("close", &|t| assert_eq!((t * 2).try_equal(t + 1), Ok(true))),
        ("pieces", &|t| {
            t.for_each_piece(1000, |piece| match piece.len() {
                1..=1000 => Ok::<(), Error>(()),
                len => panic!("{len}"),
            })
            .unwrap();
        }),
        ("npy", &|t| lensor::interop::npy::write(&mut std::io::sink(), t).unwrap()),
        ("iteration", &|t| assert!(t.try_iter().all(|x| x == Ok(1)))),
    ];
    for (name, run) in runs {
        for held in [2, 40] {
            let t = tensor(held);
            ALONE.install(|| run(&t));
            let found = t.storage().stats().loads as f64 / (2 * 32) as f64;
            let most = match (held, name) {
                (2, _) => 5.0,
                // The mask and what it selects from, one behind the other.
                (_, "extract") => 2.5,
                _ => 1.0,
            };
            assert!(found <= most, "{name}, {held} held: {found}");
        }
    }
}

/// A layer of blocks that no window holds is read in as few as can be.
#[test]
fn layers_that_are_too_large_are_loaded_a_few_times() {
    let sides = [[16, 512, 512], [16, 128, 128]];
    assert!(loads(sides, 2, &|t| drop(t.sum(1).eval().unwrap())) <= 2.5);
    assert!(loads(sides, 2, &|t| drop(t.sum(2).eval().unwrap())) <= 4.5);
}

/// Axes that split or merge those of the storage: rows that are parts of a layer of blocks, or several lines of one.
#[test]
fn reshaped_blocks_are_loaded_about_once() {
    let shapes = [
        vec![1024 * 512],
        vec![512, 1024],
        vec![16, 32768],
        vec![8, 128, 512],
        vec![4, 4, 64, 512],
    ];
    for shape in shapes {
        for held in [1, 2, 8] {
            for axis in 0..shape.len() {
                let run = |t: &Tensor<&Chunked<BlockMemory<i64>>>| {
                    let view = t.clone().reshape(&shape[..]).unwrap();
                    drop(view.sum(axis).eval().unwrap());
                };
                let found = loads([[1024, 512], [128, 128]], held, &run);
                assert!(found <= 2.0, "{shape:?}, sum {axis}, {held} held: {found}");
            }
        }
    }
}

#[test]
fn blocks_that_do_not_nest_are_loaded_about_once() {
    let evaluate = |order: [usize; 4]| {
        move |t: &Volume<'_>| drop(t.view().transpose(order).unwrap().eval().unwrap())
    };
    for sides in [[[20, 17, 22, 8], [20, 17, 21, 5]], [[41, 10, 8, 10], [30, 3, 8, 3]]] {
        for held in [1, 2] {
            assert!(loads(sides, held, &evaluate([0, 3, 2, 1])) <= 1.1);
            assert!(loads(sides, held, &evaluate([0, 1, 2, 3])) <= 1.1);
            assert!(loads(sides, held, &|t| drop(t.sum([2, 3]).eval().unwrap())) <= 1.1);
            assert!(loads(sides, held, &|t| drop(t.cumsum(1).eval().unwrap())) <= 1.1);
        }
    }
    for sides in [[[20, 30, 40, 25], [1, 30, 40, 25]], [[20, 30, 40, 50], [5, 30, 40, 25]]] {
        let turned = |t: &Volume<'_>| t.view().transpose([3, 2, 1, 0]).unwrap().sum(3).eval();
        assert!(loads(sides, 2, &|t| drop(t.sum(0).eval().unwrap())) <= 1.1);
        assert!(loads(sides, 2, &|t| drop(t.cumsum(0).eval().unwrap())) <= 1.1);
        assert!(loads(sides, 2, &|t| drop(t.rolling(0, 5).sum().eval().unwrap())) <= 2.5);
        assert!(loads(sides, 2, &|t| drop(turned(t).unwrap())) <= 1.1);
    }
    let columns = [[28, 2], [28, 1]];
    assert!(loads(columns, 1, &|t| drop(t.eval().unwrap())) <= 1.0);
}

/// Derivatives and sums of neighbours go over blocks once, all axes together.
#[test]
fn neighbours_are_loaded_about_once() {
    for (extents, block, most) in [
        (vec![300, 200], vec![64, 64], 1.0),
        (vec![40, 50, 60], vec![16, 16, 16], 1.0),
        (vec![1300, 900], vec![100, 100], 1.2),
    ] {
        let below = BlockMemory::new(extents.clone(), block, 1.0).unwrap();
        let blocks: usize =
            below.extents().iter().zip(below.block()).map(|(n, b)| n.div_ceil(*b)).product();
        let chunked = Chunked::new(below).unwrap().with_blocks(2);
        let t = &Tensor::new(extents.clone(), &chunked).unwrap();
        let spacing: Vec<_> = extents.iter().map(|_| Spacing::Uniform(1.0)).collect();
        let kernel = Tensor::full(vec![3; extents.len()], 1.0).unwrap();
        let loaded = |run: &(dyn Fn() + Sync)| {
            let before = chunked.stats().loads;
            ALONE.install(run);
            chunked.stats().loads - before
        };
        let all = blocks..=(blocks as f64 * most) as usize;
        assert!(all.contains(&loaded(&|| drop(t.laplacian(&spacing).eval().unwrap()))));
        assert!(
            all.contains(&loaded(&|| drop(t.gradient(&spacing, EdgeOrder::First).eval().unwrap())))
        );
        let mode = Mode::Same(Border::Clamp);
        assert!(all.contains(&loaded(&|| drop(t.correlate(&kernel, mode).eval().unwrap()))));
    }
}

/// Axes without elements beside those that lanes go along.
#[test]
fn lanes_of_no_elements_have_no_results() {
    let blocks = BlockMemory::new([4, 1, 3], [2, 1, 2], 0_i64).unwrap();
    let all = Tensor::new([4, 1, 3], Chunked::new(blocks).unwrap()).unwrap();
    let t = all.view().slice(1, 0..0).unwrap();
    let t = &t;
    assert_eq!(t.cumsum(0).eval().unwrap().shape(), [4, 0, 3]);
    assert_eq!(t.rolling(0, 2).sum().eval().unwrap().shape(), [3, 0, 3]);
    assert_eq!(t.sum(0).eval().unwrap().shape(), [0, 3]);
    let sums = t.segments(0, [0, 1, 4]).fold(Sum).eval().unwrap();
    assert_eq!(sums.shape(), [2, 0, 3]);
    // Segments of lanes without elements, which lie in layers of blocks that are not held.
    let blocks = BlockMemory::new([8, 64, 64], [8, 16, 16], 1_i64).unwrap();
    let all = Tensor::new([8, 64, 64], Chunked::new(blocks).unwrap().with_blocks(2)).unwrap();
    let none = &all.view().slice(1, 0..0).unwrap();
    let sums = none.segments(1, [0; 2001]).fold(Sum);
    assert!(sums.explain().is_ok());
    assert_eq!(sums.eval().unwrap().to_vec().unwrap(), vec![0; 8 * 2000 * 64]);
}

/// A few elements of each lane are read and written where they lie, not by whole lanes.
#[test]
fn few_elements_of_lanes_are_read_and_written_alone() {
    let shape = [400, 6, 50];
    let memory = BlockMemory::new(shape, [20, 6, 50], 1_i64).unwrap();
    let mut t = Tensor::new(shape, Chunked::new(memory).unwrap().with_blocks(2)).unwrap();
    let at = Tensor::from_fn([2, 6, 50], |k| 20 * (k / 300) + k % 7).unwrap();
    t.put_along(0, &at, 5).unwrap();
    let found = t.take_along(0, &at).eval().unwrap();
    assert!(found.try_equal(Tensor::full([2, 6, 50], 5_i64).unwrap()).unwrap());
    let stats = t.storage().stats();
    assert!(stats.loads <= 6, "{stats:?}");
    assert_eq!(t.sum(..).item(), Ok(400 * 300 + 4 * 600));
}
