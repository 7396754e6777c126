//! Storage that is not memory against memory, interleaved in one run.
//!
//! `cargo bench --bench storage [-- --quick] [-- --json] [-- FILTER]`. Rows are named by the storage and the operation:
//! `reader` has the two required methods, `file` reads and writes runs of a file by position, `chunked` has blocks in
//! memory behind a cache that holds a tenth of them, `lz4` the same blocks compressed. The peer is the same operation on
//! memory (`dense`), and for `lz4` after all blocks were decoded once, or before all are compressed once, or both
//! (`decoded`). `slow` sleeps 5 ms for each of 64 blocks, eight of which are loaded at a time: the peer sleeps 40 ms. A
//! file of 128 MiB is its own peer: transposed against copied, updated against assigned. Results are checked. Rows `by
//! hand` are loops in two halves against the same in one: what two threads gain on the machine, to hold the last column
//! against.
//! `storage.py` times copies, transposes and sums of such blocks in zarr-python and blosc2.

mod storages;

use lensor::prelude::*;
use lensor::storage::Chunked;
use report::{Bench, Contestant, Match, check, join};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;
use storages::{FileStorage, Lz4, Plain, SIDE, Slow, blocks_of};

/// Time over that of the peer that is to be reached, by operation.
struct Reach {
    streaming: f64,
    transposed: f64,
    sorted: f64,
    update: f64,
}

fn main() {
    let mut bench = Bench::from_arguments();
    let n = if bench.quick { 256 } else { 2048 };
    let data: Vec<f64> = (0..n * n).map(|i| ((i * 7919) % 4093) as f64).collect();
    let tenth = (n / SIDE).pow(2).div_ceil(10);
    let any = Reach { streaming: 4.0, transposed: 4.0, sorted: 2.0, update: 6.0 };
    let near = Reach { streaming: 1.3, transposed: 1.3, sorted: 1.3, update: 3.0 };
    let packed = Reach { streaming: 1.5, transposed: 1.5, sorted: 1.5, update: 1.5 };
    rows(&mut bench, "reader", n, &data, &any, Plain(data.clone()), None);
    rows(&mut bench, "file", n, &data, &any, FileStorage::new(&data), None);
    let chunked = Chunked::new(blocks_of(n, &data)).expect("blocks").with_blocks(tenth);
    rows(&mut bench, "chunked", n, &data, &near, chunked, None);
    let lz4 = Lz4::new(n, &data);
    let lz4_storage = Chunked::new(lz4.clone()).expect("blocks").with_blocks(tenth);
    rows(&mut bench, "lz4", n, &data, &packed, lz4_storage, Some(&lz4));
    by_hand(&mut bench, &data, &lz4);
    ahead(&mut bench);
    large_file(&mut bench);
}

/// What two threads gain where nothing is in their way but the machine.
fn by_hand(bench: &mut Bench, data: &[f64], lz4: &Lz4) {
    let (low, high) = data.split_at(data.len() / 2);
    let (mut halves, mut whole) = (data.to_vec(), data.to_vec());
    let (to_low, to_high) = halves.split_at_mut(low.len());
    let sum = |data: &[f64]| {
        let mut sums = [0.0; 32];
        for part in data.as_chunks::<32>().0 {
            sums.iter_mut().zip(part).for_each(|(sum, x)| *sum += x);
        }
        black_box(sums);
    };
    let mut row = |name, ours: Contestant<'_>, peer: Contestant<'_>| {
        if bench.wants(name) {
            bench.run_match(Match { name, reach: 1.05, ours, peer: ("in one", peer), naive: None });
        }
    };
    row(
        "by hand/copy",
        &mut || {
            join(|| to_low.copy_from_slice(low), || to_high.copy_from_slice(high));
        },
        &mut || whole.copy_from_slice(data),
    );
    row(
        "by hand/sum",
        &mut || {
            join(|| sum(low), || sum(high));
        },
        &mut || sum(data),
    );
    let half = lz4.count() / 2;
    row(
        "by hand/decode",
        &mut || {
            join(|| lz4.decode(0..half), || lz4.decode(half..lz4.count()));
        },
        &mut || lz4.decode_all(),
    );
}

/// Storage with a delay.
fn ahead(bench: &mut Bench) {
    const NAME: &str = "slow, 8 ahead/sum";
    if !bench.wants(NAME) {
        return;
    }
    let n = 8 * SIDE;
    let data: Vec<f64> = (0..n * n).map(|i| ((i * 7919) % 4093) as f64).collect();
    let dense = Tensor::from_vec([n, n], data.clone()).expect("a tensor");
    let total = dense.sum(..).item().expect("a sum");
    let slow = Arc::new(Slow(blocks_of(n, &data), Duration::from_millis(5)));
    let mut far = || {
        let storage = Chunked::new(slow.clone()).expect("blocks").with_ahead(8).expect("threads");
        let found = Tensor::new([n, n], storage).and_then(|t| t.sum(..).item());
        assert_eq!(found, Ok(total), "{NAME}");
    };
    let mut near = || {
        std::thread::sleep(Duration::from_millis(40));
        assert_eq!(dense.sum(..).item(), Ok(total), "{NAME}");
    };
    let (ours, peer): (&mut (dyn FnMut() + Send), &mut (dyn FnMut() + Send)) =
        (&mut far, &mut near);
    bench.run_match(Match {
        name: NAME,
        reach: 1.3,
        ours,
        peer: ("40 ms + dense", peer),
        naive: None,
    });
}

/// A file against itself: what the order of elements costs, and reading what is written.
fn large_file(bench: &mut Bench) {
    let [transpose, update] = ["file 128 MiB/transpose", "file 128 MiB/+="];
    if !bench.wants(transpose) && !bench.wants(update) {
        return;
    }
    let n = bench.side();
    let data: Vec<f64> = (0..n * n).map(|i| ((i * 7919) % 4093) as f64).collect();
    let mut file = Tensor::new([n, n], FileStorage::new(&data)).expect("a tensor");
    let ones = Tensor::full([n, n], 1.0).expect("a tensor");
    if bench.wants(transpose) {
        let turned = || file.view().transpose([1, 0])?.eval();
        assert_eq!(turned().and_then(|t| t.get([3, 5])), file.get([5, 3]), "{transpose}");
        bench.run_match(Match {
            name: transpose,
            reach: 3.0,
            ours: &mut || drop(turned().expect("a copy")),
            peer: ("its copy", &mut || drop(file.eval().expect("a copy"))),
            naive: None,
        });
    }
    if bench.wants(update) {
        let mut other = file.clone();
        bench.run_match(Match {
            name: update,
            reach: 2.5,
            ours: &mut || file.try_add_assign(1.0).expect("it is written"),
            peer: ("assign", &mut || other.assign(&ones).expect("it is written")),
            naive: None,
        });
    }
}

/// Something that is timed against the same on memory.
type Run<'r, T> = &'r (dyn Fn(&Tensor<T>) -> Result<Tensor<Vec<f64>>, Error> + Sync);

fn rows<W: Writer<Elem = f64> + Clone>(
    bench: &mut Bench,
    storage: &str,
    n: usize,
    data: &[f64],
    reach: &Reach,
    held: W,
    packed: Option<&Lz4>,
) {
    let far = Tensor::new([n, n], held).expect("a tensor");
    let dense = Tensor::from_vec([n, n], data.to_vec()).expect("a tensor");
    macro_rules! reading {
        ($($name:literal $reach:ident: |$t:ident| $run:expr;)*) => { $(
            let (ours, theirs): (Run<'_, W>, Run<'_, Vec<f64>>) = (&|$t| $run, &|$t| $run);
            let name = format!("{storage}/{}", $name);
            read(bench, &name, reach.$reach, (&far, ours), (&dense, theirs), packed);
        )* };
    }
    let b = Tensor::full([n, n], 1.0).expect("a tensor");
    reading! {
        "copy" streaming: |t| t.eval();
        "transpose" transposed: |t| t.view().transpose([1, 0])?.eval();
        "rotate" streaming: |t| t.view().rotate([100, 33])?.eval();
        "a*2+b" streaming: |t| (t * 2.0 + &b).eval();
        "a+aT" transposed: |t| (t + t.view().transpose([1, 0])?).eval();
        "sum 0" streaming: |t| t.sum(0).eval();
        "sum 1" streaming: |t| t.sum(1).eval();
        "sum of transposed" transposed: |t| t.view().transpose([1, 0])?.sum(0).eval();
        "cumsum" streaming: |t| t.cumsum(0).eval();
        "sort" sorted: |t| t.sort(0, SortOrder::Ascending).eval();
    }
    let (mut far, mut dense) = (far, dense);
    macro_rules! writing {
        ($($name:literal $reads:literal: |$t:ident| $run:expr;)*) => { $(
            let name = format!("{storage}/{}", $name);
            if bench.wants(&name) {
                let peer = if packed.is_some() { "decoded" } else { "dense" };
                bench.run_match(Match {
                    name: &name,
                    reach: reach.update,
                    ours: &mut || { let $t = &mut far; $run.expect("it is written"); },
                    peer: (peer, &mut || {
                        packed.filter(|_| $reads).iter().for_each(|packed| packed.decode_all());
                        packed.iter().for_each(|packed| packed.encode_all(data));
                        let $t = &mut dense;
                        $run.expect("it is written");
                    }),
                    naive: None,
                });
            }
        )* };
    }
    writing! {
        "assign" false: |t| t.assign(&b);
        "transposed assign" false: |t| t.view_mut().transpose([1, 0]).and_then(|mut t| t.assign(&b));
        "+=" true: |t| t.try_add_assign(1.0);
    }
}

fn read<R: Reader<Elem = f64>>(
    bench: &mut Bench,
    name: &str,
    reach: f64,
    (far, ours): (&Tensor<R>, Run<'_, R>),
    (dense, theirs): (&Tensor<Vec<f64>>, Run<'_, Vec<f64>>),
    packed: Option<&Lz4>,
) {
    if !bench.wants(name) {
        return;
    }
    let found = ours(far).expect("results");
    check(name, found.storage(), theirs(dense).expect("results").storage());
    let peer = if packed.is_some() { "decoded" } else { "dense" };
    bench.run_match(Match {
        name,
        reach,
        ours: &mut || drop(ours(far)),
        peer: (peer, &mut || {
            packed.iter().for_each(|packed| packed.decode_all());
            drop(theirs(dense));
        }),
        naive: None,
    });
}
