//! Sparse entries that are trusted and out of order, twice there or beyond the end: values or errors.

use super::kernels::kernels;
use lensor::expr::zip_stored;
use lensor::prelude::*;
use lensor::product::PlusTimes;
use lensor::reduce::*;
use lensor::storage::{Sparse, SubBuffer};
use lensor::{Reader, Result, Writer};
use std::panic::{AssertUnwindSafe, catch_unwind};

type Disordered = Tensor<Sparse<i32>>;

/// A name, and what is done.
type Operation = (&'static str, fn(&Disordered) -> Result<()>);

/// What depends on the order of entries, apart from reading.
const OPERATIONS: &[Operation] = &[
    ("entries", |t| t.stored_entries().map(drop)),
    ("turned", |t| t.view().transpose([1, 0])?.stored_entries().map(drop)),
    ("shifted", |t| t.view().rotate([3, 1])?.flip(1)?.stored_entries().map(drop)),
    ("listed", |t| t.view().select(([1, 0, 1], [0, 1, 1]))?.stored_entries().map(drop)),
    ("repeated", |t| {
        t.view().broadcast([2 * t.shape()[0], 2 * t.shape()[1]])?.stored_entries().map(drop)
    }),
    ("flat", |t| t.view().transpose([1, 0])?.reshape_infer([None])?.stored_entries().map(drop)),
    ("windows", |t| t.view().windows(1, 2)?.stored_entries().map(drop)),
    ("unary", |t| (t * 3).eval_sparse().map(drop)),
    ("union", |t| (t + t.view().flip(0)?).eval_sparse().map(drop)),
    ("three", |t| (t + t.view().flip(0)? * t.view().flip(1)?).eval_sparse().map(drop)),
    ("intersection", |t| {
        zip_stored((t, &t.view().flip(0)?), 0, |(a, b)| a * b).eval_sparse().map(drop)
    }),
    ("boxed", |t| ((t + 1).boxed() * t).boxed().eval_sparse().map(drop)),
    ("sums", |t| t.sum(0).eval_sparse().and(t.sum(1).eval_sparse()).map(drop)),
    ("total", |t| t.sum(..).eval_sparse().map(drop)),
    ("dense sums", |t| t.sum(0).eval().and(t.sum(1).eval()).map(drop)),
    ("positions", |t| t.argmax(0).eval().and(t.argmin(1).eval()).map(drop)),
    ("several", |t| t.fold(1, (Min, Max, CountNonzero)).eval_sparse().map(drop)),
    ("product", |t| t.times_sparse(&t.view().transpose([1, 0])?, PlusTimes).map(drop)),
    ("turned product", |t| t.view().transpose([1, 0])?.times_sparse(t, PlusTimes).map(drop)),
    ("times dense", |t| {
        t.times_dense(&Tensor::full([t.shape()[1], 3], 1)?, PlusTimes).eval().map(drop)
    }),
    ("times vector", |t| {
        t.times_dense(&Tensor::full([t.shape()[1]], 1)?, PlusTimes).eval().map(drop)
    }),
    ("pruned", |t| {
        let mut storage = t.storage().clone();
        storage.prune();
        storage.sub_buffer(0..t.len() / 2).map(drop)
    }),
    ("assigned", |t| {
        let mut out = Tensor::sparse([2 * t.len()], 0)?;
        let flat = t.view().reshape_infer([None])?;
        out.view_mut().select((Select::every(2),))?.assign(&flat)
    }),
    ("written", |t| {
        let mut storage = t.storage().clone();
        let last = storage.len() - 1;
        for address in [0, 1, last / 2, last] {
            storage.try_write(address, 5)?;
            storage.try_write(address, 0)?;
        }
        storage.write_at(&[last, 0, last / 3], &[1, 2, 3])?;
        storage.write_run(last, -1, &[4, 0, 4])?;
        storage.set_constant(1..last, 7)?;
        storage.set_constant(0..last, 0)
    }),
    ("assigned", |t| {
        let mut out = Tensor::sparse(t.shape(), 0)?;
        out.assign(t)?;
        let mut own = t.clone();
        own.view_mut().flip(0)?.assign(t)?;
        own.view_mut().slice(0, 1..2)?.assign(t.view().slice(0, 0..1)?)?;
        own.view_mut().slice(1, 0..1)?.fill(3)
    }),
    ("part", |t| {
        let mut own = t.storage().clone();
        let half = own.len() / 2;
        let part = SubBuffer::new(&mut own, 1..half)?;
        let mut part = Tensor::new([half - 1], part)?;
        part.stored_entries()?;
        part.assign(&Tensor::sparse([half - 1], 0)?)?;
        part.assign(4)
    }),
    ("text", |t| lensor::interop::mtx::write(std::io::sink(), t)),
    ("tns", |t| lensor::interop::tns::write(std::io::sink(), t)),
    ("npy", |t| lensor::interop::npy::write(std::io::sink(), t)),
    ("converted", |t| t.to_sparse(0).map(drop)),
];

/// Numbers that look random (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % limit as u64) as usize
    }
}

fn disordered(random: &mut Random, shape: [usize; 2]) -> Disordered {
    let len = shape[0] * shape[1];
    let count = 1 + random.below(2 * len.min(3000));
    let kind = random.below(4);
    let mut addresses: Vec<usize> = (0..count)
        .map(|k| match kind {
            0 => random.below(len),
            1 => (len - 1).saturating_sub(k),
            2 => {
                [random.below(len), usize::MAX - random.below(9), len + k, 1 << 62][random.below(4)]
            }
            _ => (k * 7).min(len - 1),
        })
        .collect();
    if random.below(2) == 0 && kind != 2 {
        addresses.sort_unstable();
    }
    // The last one is looked at.
    addresses[count - 1] = random.below(len);
    let values = (0..count).map(|k| k as i32 % 5).collect();
    let fill = [0, 0, 1][random.below(3)];
    let storage = Sparse::from_sorted_trusted(len, fill, addresses, values).unwrap();
    Tensor::new(shape, storage).unwrap()
}

#[test]
fn trusted_entries_give_values_or_errors() {
    let mut random = Random(7);
    for shape in [[2, 4], [4, 6], [30, 40], [6, 700], [700, 6], [300, 500]] {
        let rounds = [20, 4, 1][usize::from(shape[0] > 4) + usize::from(shape[0] > 100)];
        for _ in 0..rounds {
            let t = disordered(&mut random, shape);
            for kernel in kernels::<Sparse<i32>>() {
                let ran = catch_unwind(AssertUnwindSafe(|| drop((kernel.run)(&t))));
                assert!(ran.is_ok(), "{}: {shape:?} {:?}", kernel.name, t.storage());
            }
            for (name, run) in OPERATIONS {
                let ran = catch_unwind(AssertUnwindSafe(|| drop(run(&t))));
                assert!(ran.is_ok(), "{name}: {shape:?} {:?}", t.storage());
            }
        }
    }
}

#[test]
fn what_takes_no_time_to_check_is_checked() {
    let made = |addresses: Vec<usize>, values: Vec<i32>| {
        Sparse::from_sorted_trusted(4, 0, addresses, values).map_err(|error| error.to_string())
    };
    assert_eq!(
        made(vec![1, 3], vec![5, 6]),
        Ok(Sparse::from_sorted(4, 0, vec![1, 3], vec![5, 6]).unwrap())
    );
    assert_eq!(made(vec![], vec![]), Ok(Sparse::new(4, 0)));
    assert_eq!(
        made(vec![1, 4], vec![5, 6]).unwrap_err(),
        "invalid sparse structure at entry 1: address 4 is beyond the length 4"
    );
    assert_eq!(
        made(vec![1, 2], vec![5]).unwrap_err(),
        "invalid sparse structure at entry 1: there are 2 addresses and 1 values"
    );
}
