//! Storage that fails once and answers when it is asked again: errors name the index of the element that failed, whatever
//! view of it was read, or none.

use lensor::gufunc::minmax;
use lensor::linalg::einsum;
use lensor::prelude::*;
use lensor::stencil::{Border, EdgeOrder, Mode};
use lensor::{AddressMap, Result, StorageError};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Numbers that fall with the address; the `fail`th reading fails.
#[derive(Debug)]
struct Once {
    len: usize,
    readings: AtomicUsize,
    fail: usize,
}

impl Reader for Once {
    type Elem = f64;

    fn len(&self) -> usize {
        self.len
    }

    fn read(&self, address: usize) -> f64 {
        -(address as f64)
    }

    fn try_read(&self, address: usize) -> Result<f64, StorageError> {
        match self.readings.fetch_add(1, Relaxed) == self.fail {
            true => Err(StorageError::new(address, "busy")),
            false => Ok(self.read(address)),
        }
    }
}

/// What is read of a tensor.
type Run<'r> = &'r (dyn Fn(&Tensor<Once>) -> Result<()> + Sync);

/// How many of these readings end in an error with an index, which is that of the address that failed.
fn named(map: &AddressMap, fails: impl IntoIterator<Item = usize>, run: Run<'_>) -> usize {
    let mut named = 0;
    for fail in fails {
        let storage = Once { len: map.count(), readings: AtomicUsize::new(0), fail };
        let t = Tensor::with_map(map.clone(), storage).unwrap();
        match run(&t) {
            Err(Error::Storage { index: Some(index), source }) => {
                assert_eq!(map.to_local(&index), Ok(source.address), "reading {fail}: {index:?}");
                named += 1;
            }
            Err(Error::Storage { .. }) | Ok(()) => {}
            Err(error) => panic!("reading {fail}: {error}"),
        }
    }
    named
}

/// Lanes and cores of small tensors, whose axes are brought to another order. What is read with gaps is read again without
/// and does not fail then, so that the operands here have none.
#[test]
fn rearranged_operands_name_their_own_index() {
    let runs: [(&str, Run<'_>); 5] = [
        ("sort", &|t| t.view().sort(1, SortOrder::Ascending).to_vec().map(drop)),
        ("argsort", &|t| t.view().argsort(1, SortOrder::Ascending).to_vec().map(drop)),
        ("median", &|t| t.view().median(1).to_vec().map(drop)),
        ("gufunc", &|t| minmax().call([t.view()]).axis(1).eval().map(drop)),
        ("expression", &|t| (t.view() + 1.0).sort(1, SortOrder::Ascending).to_vec().map(drop)),
    ];
    let map = AddressMap::row_major([2, 2, 1]).unwrap();
    for map in [map.clone(), map.transpose([2, 1, 0]).unwrap()] {
        for (name, run) in runs {
            assert_eq!(named(&map, 0..4, run), 4, "{name}");
        }
    }
    let map = AddressMap::row_major([2, 3, 2]).unwrap();
    let last = |t: &Tensor<Once>| t.view().by_key(2, [1, 0], 2).sum().to_vec().map(drop);
    assert!(named(&map, 0..12, &last) > 0);
    let middle = |t: &Tensor<Once>| t.view().by_key(1, [1, 0, 1], 2).max().to_vec().map(drop);
    named(&map, 0..12, &middle);
}

/// Of a product it is not known which operand failed, and where, once none fails again: no index, unless both are matrices.
#[test]
fn products_name_an_index_or_none() {
    let map = AddressMap::row_major([2, 3]).unwrap();
    let matmul = |t: &Tensor<Once>| t.view().matmul(&Tensor::full([3, 2], 1.0)?).to_vec().map(drop);
    assert!(named(&map, 0..6, &matmul) > 0);
    let row = |t: &Tensor<Once>| Tensor::full([2], 1.0)?.matmul(t.view()).to_vec().map(drop);
    assert_eq!(named(&map, 0..6, &row), 0);
    let turned = |t: &Tensor<Once>| {
        let other = Tensor::full([2, 2], 1.0)?;
        einsum("ij,ik->jk", (t.view(), &other)).to_vec().map(drop)
    };
    assert_eq!(named(&map, 0..6, &turned), 0);
}

/// Stencils read slabs of rows: that of an error is counted from the first of all.
#[test]
fn slabs_name_the_index_of_the_whole() {
    let map = AddressMap::row_major([560, 120]).unwrap();
    let derivative =
        |t: &Tensor<Once>| t.view().derivative(0, 1.0, EdgeOrder::First).to_vec().map(drop);
    let correlation = |t: &Tensor<Once>| {
        let kernel = Tensor::full([2, 2], 1.0)?;
        t.view().correlate(&kernel, Mode::Same(Border::Clamp)).to_vec().map(drop)
    };
    crate::support::pool(1).install(|| {
        assert_eq!(named(&map, [66_500], &derivative), 1);
        // It is read with gaps.
        named(&map, [66_500], &correlation);
    });
    // A kernel is flipped, and a vector is one row.
    let map = AddressMap::row_major([3]).unwrap();
    let kernel = |t: &Tensor<Once>| {
        Tensor::full([9], 1.0)?.convolve(t.view(), Mode::Valid).to_vec().map(drop)
    };
    assert_eq!(named(&map, 0..3, &kernel), 3);
    let vector = |t: &Tensor<Once>| {
        t.view().convolve(&Tensor::full([2], 1.0)?, Mode::Same(Border::Zero)).to_vec().map(drop)
    };
    assert_eq!(named(&map, 0..3, &vector), 3);
}

/// Results that go to a destination elsewhere are computed in boxes, here the second of them.
#[test]
fn boxes_of_results_name_the_index_of_the_operand() {
    let map = AddressMap::row_major([2, 70_000]).unwrap();
    let sum = |t: &Tensor<Once>| {
        let mut out = Tensor::full([70_000], 0.0)?.flip(0)?;
        t.view().sum(0).assign_to(&mut out)
    };
    let one = crate::support::pool(1);
    assert_eq!(one.install(|| named(&map, [136_000], &sum)), 1);
    let map = AddressMap::row_major([70_000, 1]).unwrap();
    let median = |t: &Tensor<Once>| {
        let mut out = Tensor::full([70_000], 0.0)?.flip(0)?;
        t.view().median(1).assign_to(&mut out)
    };
    assert_eq!(one.install(|| named(&map, [68_000], &median)), 1);
}

/// The same along lanes.
#[test]
fn boxes_along_lanes_name_the_index_of_the_operand() {
    let map = AddressMap::row_major([9_000, 8]).unwrap();
    let out = || Tensor::full([9_000, 8], 0.0)?.flip(0);
    let runs: [Run<'_>; 3] = [
        &|t| t.view().cumsum(1).assign_to(&mut out()?),
        &|t| t.view().rolling(1, 1).max().assign_to(&mut out()?),
        &|t| t.view().segments(1, (0..9).collect::<Vec<usize>>()).max().assign_to(&mut out()?),
    ];
    let one = crate::support::pool(1);
    for run in runs {
        assert_eq!(one.install(|| named(&map, [70_000], run)), 1);
    }
}
