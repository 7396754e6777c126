//! Storage that is not memory against memory, interleaved in one run.
//!
//! `cargo bench --bench storage [-- --quick] [-- --json] [-- FILTER]`. Rows are named by the storage and the operation:
//! `reader` has the two required methods, `file` reads and writes runs of a file by position, `chunked` has blocks in
//! memory behind a cache that holds a tenth of them, `lz4` the same blocks compressed. The peer is the same operation on
//! memory (`dense`), and for `lz4` after all blocks were decoded once (`decoded`). Results are checked.

mod storages;

use lensor::prelude::*;
use lensor::storage::Chunked;
use report::{Bench, Match, check};
use storages::{FileStorage, Lz4, Plain, SIDE, blocks_of};

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
    let packed = Reach { streaming: 1.5, transposed: 1.5, sorted: 1.5, update: 3.0 };
    rows(&mut bench, "reader", n, &data, &any, Plain(data.clone()), None);
    rows(&mut bench, "file", n, &data, &any, FileStorage::new(&data), None);
    let chunked = Chunked::new(blocks_of(n, &data)).expect("blocks").with_blocks(tenth);
    rows(&mut bench, "chunked", n, &data, &near, chunked, None);
    let lz4 = Lz4::new(n, &data);
    let decode = || lz4.decode_all();
    let lz4_storage = Chunked::new(lz4.clone()).expect("blocks").with_blocks(tenth);
    rows(&mut bench, "lz4", n, &data, &packed, lz4_storage, Some(&decode));
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
    decode: Option<&(dyn Fn() + Sync)>,
) {
    let far = Tensor::new([n, n], held).expect("a tensor");
    let dense = Tensor::from_vec([n, n], data.to_vec()).expect("a tensor");
    macro_rules! reading {
        ($($name:literal $reach:ident: |$t:ident| $run:expr;)*) => { $(
            let (ours, theirs): (Run<'_, W>, Run<'_, Vec<f64>>) = (&|$t| $run, &|$t| $run);
            let name = format!("{storage}/{}", $name);
            read(bench, &name, reach.$reach, (&far, ours), (&dense, theirs), decode);
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
        ($($name:literal $reach:ident: |$t:ident| $run:expr;)*) => { $(
            let name = format!("{storage}/{}", $name);
            if bench.wants(&name) {
                bench.run_match(Match {
                    name: &name,
                    reach: reach.$reach,
                    ours: &mut || { let $t = &mut far; $run.expect("it is written"); },
                    peer: ("dense", &mut || { let $t = &mut dense; $run.expect("it is written"); }),
                    naive: None,
                });
            }
        )* };
    }
    writing! {
        "assign" update: |t| t.assign(&b);
        "transposed assign" update: |t| t.view_mut().transpose([1, 0]).and_then(|mut t| t.assign(&b));
        "+=" update: |t| t.try_add_assign(1.0);
    }
}

fn read<R: Reader<Elem = f64>>(
    bench: &mut Bench,
    name: &str,
    reach: f64,
    (far, ours): (&Tensor<R>, Run<'_, R>),
    (dense, theirs): (&Tensor<Vec<f64>>, Run<'_, Vec<f64>>),
    decode: Option<&(dyn Fn() + Sync)>,
) {
    if !bench.wants(name) {
        return;
    }
    let found = ours(far).expect("results");
    check(name, found.storage(), theirs(dense).expect("results").storage());
    let peer = if decode.is_some() { "decoded" } else { "dense" };
    bench.run_match(Match {
        name,
        reach,
        ours: &mut || drop(ours(far)),
        peer: (peer, &mut || {
            if let Some(decode) = decode {
                decode();
            }
            drop(theirs(dense));
        }),
        naive: None,
    });
}
