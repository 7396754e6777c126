//! The same bits whatever the threads: evaluations large enough to be split run in pools of one, two
//! and three, and give what the plain loop gives.

use lensor::prelude::*;
use lensor::storage::FromFn;
use lensor::{Lazy, Reader, Result, StorageError, Tensor, Writer};
use std::fmt::Debug;

/// Enough elements for several tasks in a pool of three.
const LARGE: usize = 3 << 16;

/// Runs `f` in pools of one to three threads.
fn in_pools<T: Send>(f: impl Fn() -> T + Sync) -> Vec<T> {
    (1..=3)
        .map(|threads| {
            let pool = crate::support::pool(threads);
            pool.install(&f)
        })
        .collect()
}

/// Asserts that `f` gives `expected` in every pool.
#[track_caller]
fn same<T: Send + Sync + PartialEq + Debug>(
    expected: Vec<T>,
    f: impl Fn() -> Result<Vec<T>> + Sync,
) {
    for (k, found) in in_pools(f).into_iter().enumerate() {
        let found = found.unwrap();
        let differs = found.iter().zip(&expected).position(|(x, y)| x != y);
        assert_eq!((found.len(), differs), (expected.len(), None), "with {} threads", k + 1);
    }
}

fn iota(shape: impl Into<Shape>) -> Tensor<Vec<u32>> {
    let shape = shape.into();
    let count = shape.count().unwrap() as u32;
    Tensor::from_vec(shape, (0..count).map(|k| k.wrapping_mul(2_654_435_761)).collect()).unwrap()
}

/// Element at row-major position `k`.
fn element(k: usize) -> u32 {
    (k as u32).wrapping_mul(2_654_435_761)
}

fn bits(found: Result<Vec<f64>>) -> Result<Vec<u64>> {
    Ok(found?.into_iter().map(f64::to_bits).collect())
}

#[test]
fn contiguous_operands() {
    let (a, b) = (iota([LARGE]), iota([LARGE]));
    let expected = (0..LARGE).map(|k| element(k).wrapping_mul(3) ^ element(k)).collect();
    same(expected, || ((&a * 3) ^ &b).to_vec());
}

#[test]
fn floats_keep_every_bit() {
    let a = Tensor::from_index([LARGE], |index| (index[0] as f64).sqrt() - 300.0).unwrap();
    let expected = (0..LARGE)
        .map(|k| (k as f64).sqrt() - 300.0)
        .map(|x| (x.mul_add(x, 1.0 / x) - x.abs().sqrt()).to_bits())
        .collect();
    same(expected, || bits((a.mul_add(&a, 1.0 / &a) - a.abs().sqrt()).to_vec()));
}

#[test]
fn transposed_operands() {
    let (rows, columns) = (640, 1024);
    let t = iota([columns, rows]);
    let turned = t.view().transpose([1, 0]).unwrap();
    let at = |k: usize| element(k % columns * rows + k / columns);
    same((0..rows * columns).map(at).collect(), || turned.to_vec());
    let u = iota([rows, columns]);
    let sums = (0..rows * columns).map(|k| at(k).wrapping_add(element(k))).collect();
    same(sums, || (&turned + &u).to_vec());
}

/// Whatever is done along an axis of a cube whose neighbours in memory lie in rows far from one another is what is done
/// to a copy of it, bit by bit.
#[test]
fn turned_cubes() {
    let cube = Tensor::from_index([63, 65, 66], |index| {
        ((index[0] * 31 + index[1] * 7 + index[2] * 11) % 101) as f64 / 7.0
    });
    let cube = cube.unwrap();
    let turned = cube.view().transpose([2, 0, 1]).unwrap();
    let copy = turned.eval().unwrap();
    let explained = |axis| turned.view().sum(axis).explain().unwrap().to_string();
    assert!(explained(1).contains("operand: copied to memory first, in order"));
    assert!(explained(2).contains("operand: evaluated in order of memory, window by window"));
    type Run = fn(&Tensor<&Vec<f64>>) -> Result<Vec<f64>>;
    let runs: [Run; 10] = [
        |t| t.sum(0).to_vec(),
        |t| t.sum(1).to_vec(),
        |t| t.sum(2).to_vec(),
        |t| t.var([0, 2]).to_vec(),
        |t| (t * 2.0 - t.mean(1).insert_axis(1)?).sum(1).to_vec(),
        |t| t.cumsum(1).to_vec(),
        |t| t.cumsum(2).to_vec(),
        |t| t.rolling(1, 9).mean().to_vec(),
        |t| t.sort(1, SortOrder::Descending).to_vec(),
        |t| t.try_iter().collect(),
    ];
    let copied = copy.view();
    for run in runs {
        same(bits(run(&copied)).unwrap(), || bits(run(&turned)));
    }
}

#[test]
fn broadcast_operands() {
    let (rows, columns) = (700, 1000);
    let (row, column) = (iota([columns]), iota([rows, 1]));
    let expected = (0..rows * columns)
        .map(|k| element(k % columns).wrapping_sub(element(k / columns)))
        .collect();
    same(expected, || (&row - &column).to_vec());
}

#[test]
fn rotated_tiled_and_listed_operands() {
    let (rows, columns) = (512, 1024);
    let t = iota([rows, columns]);
    let rotated = t.view().rotate([5, -7]).unwrap();
    let at = |i: usize, j: usize| element(i * columns + j);
    let turn = |k: usize| at((k / columns + rows - 5) % rows, (k % columns + 7) % columns);
    same((0..rows * columns).map(turn).collect(), || rotated.to_vec());

    let small = iota([32, 64]);
    let tiled = small.view().broadcast([rows, columns]).unwrap();
    let tile = |k: usize| element(k / columns % 32 * 64 + k % columns % 64);
    same((0..rows * columns).map(tile).collect(), || (&tiled + 0).to_vec());

    let list: Vec<usize> = (0..columns).map(|j| j * 37 % columns).collect();
    let listed = t.view().select((.., list.clone())).unwrap();
    let pick = |k: usize| at(k / columns, list[k % columns]);
    same((0..rows * columns).map(pick).collect(), || listed.to_vec());
    let both = (0..rows * columns).map(|k| pick(k) ^ turn(k) ^ tile(k)).collect();
    same(both, || (&listed ^ &rotated ^ &tiled).to_vec());
}

#[test]
fn operands_through_links() {
    let t = iota([1024, 640]);
    let linked = t.view().transpose([1, 0]).unwrap().reshape([800, 819, 1]);
    assert!(linked.is_err());
    let linked = t.view().transpose([1, 0]).unwrap().reshape([512, 1280]).unwrap();
    let linked = linked.rotate([1, 3]).unwrap();
    assert!(linked.address_map().stages().len() > 1);
    let at = |k: usize| {
        let (i, j) = ((k / 1280 + 511) % 512, (k % 1280 + 1277) % 1280);
        let position = i * 1280 + j;
        element(position % 1024 * 640 + position / 1024)
    };
    same((0..512 * 1280).map(at).collect(), || linked.to_vec());
    same((0..512 * 1280).map(|k| at(k).wrapping_add(1)).collect(), || (&linked + 1).to_vec());
}

#[test]
fn operands_that_are_read_not_sliced() {
    let t = Tensor::new([LARGE], FromFn::new(LARGE, |k| element(k) >> 3)).unwrap();
    let flipped = t.view().flip(0).unwrap();
    let expected =
        (0..LARGE).map(|k| (element(k) >> 3).wrapping_sub(element(LARGE - 1 - k) >> 3)).collect();
    same(expected, || (&t - &flipped).to_vec());
}

#[test]
fn boxed_expressions() {
    let (a, b) = (iota([LARGE]), iota([LARGE]));
    let boxed = ((&a + 1).boxed() * (&b ^ 5).boxed()).boxed();
    let expected =
        (0..LARGE).map(|k| element(k).wrapping_add(1).wrapping_mul(element(k) ^ 5)).collect();
    same(expected, || boxed.to_vec());
}

#[test]
fn small_and_large_elements() {
    let bytes = Tensor::from_index([LARGE], |index| index[0] as u8).unwrap();
    same((0..LARGE).map(|k| !(k as u8)).collect(), || (!&bytes).to_vec());
    let wide = Tensor::from_index([LARGE / 2, 2], |index| [index[0], index[1], 7]).unwrap();
    let turned = wide.view().transpose([1, 0]).unwrap();
    let at = |k: usize| [k % (LARGE / 2), k / (LARGE / 2), 7];
    same((0..LARGE).map(at).collect(), || turned.to_vec());
    let nothing = Tensor::from_vec([LARGE], vec![(); LARGE]).unwrap();
    same(vec![(); LARGE], || nothing.view().flip(0)?.to_vec());
}

/// Assignment through views splits the output, and every element goes to its own place.
#[test]
fn assignments_through_views() {
    let (rows, columns) = (640, 1024);
    let source = iota([rows, columns]);
    type View<'a> = Tensor<&'a mut Vec<u32>>;
    let assign = |view: fn(View<'_>) -> Result<View<'_>>| {
        let source = &source;
        move || {
            let mut out = Tensor::full([columns, rows], 0)?;
            view(out.view_mut())?.assign(source + 1)?;
            Ok(out.into_storage())
        }
    };
    let scattered = |address: &dyn Fn(usize, usize) -> usize| {
        let mut expected = vec![0; rows * columns];
        for k in 0..rows * columns {
            expected[address(k / columns, k % columns)] = element(k).wrapping_add(1);
        }
        expected
    };
    same(scattered(&|i, j| j * rows + i), assign(|out| out.transpose([1, 0])));
    same(
        scattered(&|i, j| (columns - 1 - j) * rows + i),
        assign(|out| out.flip(0)?.transpose([1, 0])),
    );
    same(
        scattered(&|i, j| (j + columns - 9) % columns * rows + i),
        assign(|out| out.rotate([9, 0])?.transpose([1, 0])),
    );
    same(
        scattered(&|i, j| j * rows + (i * 3 + 1) % rows),
        assign(|out| {
            let order: Vec<usize> = (0..640).map(|i| (i * 3 + 1) % 640).collect();
            out.select((.., order))?.transpose([1, 0])
        }),
    );
}

#[test]
fn updates_in_place() {
    let b = iota([LARGE]);
    let update = || {
        let mut t = Tensor::full([LARGE], 7_u32)?;
        t.try_add_assign(&b)?;
        t.view_mut().flip(0)?.try_mul_assign(&b | 1)?;
        t.view_mut().reshape([LARGE / 2, 2])?.select((.., 1))?.fill(3)?;
        Ok(t.into_storage())
    };
    let expected = (0..LARGE)
        .map(|k| {
            let factor = element(LARGE - 1 - k) | 1;
            if k % 2 == 1 { 3 } else { element(k).wrapping_add(7).wrapping_mul(factor) }
        })
        .collect();
    same(expected, update);
}

/// Outputs beyond the size from which they are written past the caches, aligned and not.
#[test]
fn outputs_larger_than_the_caches() {
    let count = 5 << 20;
    let row = iota([1 << 10]);
    for start in [0, 1, 3] {
        let fill = || {
            let mut out = vec![0_u32; count + start];
            let mut t = Tensor::new([count / 1024, 1024], &mut out[start..])?;
            t.assign(&row ^ 1)?;
            drop(t);
            Ok(out.split_off(start))
        };
        same((0..count).map(|k| element(k % 1024) ^ 1).collect(), fill);
    }
}

/// Of many faults the first in row-major order is reported, however the work is split and ordered.
#[test]
fn the_first_fault_is_the_same() {
    let (rows, columns) = (800, 1000);
    let t = Tensor::from_index([columns, rows], |index| {
        i32::from(!(index[1] >= 13 && (index[0] + 7 * index[1]) % 1001 == 500))
    })
    .unwrap();
    let turned = t.view().transpose([1, 0]).unwrap();
    let first = (13..rows)
        .find_map(|i| (0..columns).find(|j| (j + 7 * i) % 1001 == 500).map(|j| vec![i, j]));
    let division = Error::Arithmetic { index: first.clone().unwrap() };
    for found in in_pools(|| (100 / &turned).to_vec()) {
        assert_eq!(found, Err(division.clone()));
    }
    for found in in_pools(|| (100 / &turned).boxed().to_vec()) {
        assert_eq!(found, Err(division.clone()));
    }
    let cast = Error::Cast { index: first.unwrap(), value: "-1".into(), target: "u16" };
    for found in in_pools(|| (&turned - 1).cast::<u16>().to_vec()) {
        assert_eq!(found, Err(cast.clone()));
    }
}

/// A writer that has no slice is written serially and receives the same elements.
#[test]
fn writers_without_memory() {
    struct Slots(Vec<u32>);
    impl Reader for Slots {
        type Elem = u32;
        fn len(&self) -> usize {
            self.0.len()
        }
        fn read(&self, address: usize) -> u32 {
            self.0[address]
        }
    }
    impl Writer for Slots {
        fn write(&mut self, address: usize, value: u32) {
            self.0[address] = value;
        }
        fn try_write(&mut self, address: usize, value: u32) -> Result<(), StorageError> {
            self.write(address, value);
            Ok(())
        }
    }
    let t = iota([LARGE]);
    let write = || {
        let mut out = Tensor::new([LARGE], Slots(vec![0; LARGE]))?;
        out.view_mut().flip(0)?.assign(&t * 2)?;
        Ok(out.into_storage().0)
    };
    same((0..LARGE).map(|k| element(LARGE - 1 - k).wrapping_mul(2)).collect(), write);
}

/// Comparisons stop early and still agree.
#[test]
fn equality_of_large_tensors() {
    let a = iota([LARGE]);
    for which in [0, LARGE / 2, LARGE - 1] {
        let mut b = a.clone();
        b.set([which], 1 + element(which)).unwrap();
        assert!(in_pools(|| a == b).iter().all(|equal| !equal));
    }
    assert!(in_pools(|| a == a.clone()).iter().all(|equal| *equal));
}

/// A lazy expression is computed by the caller's pool, from several threads at once.
#[test]
fn one_expression_in_many_threads() {
    let a = iota([LARGE]);
    let e: Lazy<_> = &a + 5;
    let expected: Vec<u32> = (0..LARGE).map(|k| element(k).wrapping_add(5)).collect();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(|| e.to_vec().unwrap())).collect();
        for thread in threads {
            assert!(thread.join().unwrap() == expected);
        }
    });
}
