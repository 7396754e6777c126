//! Sparse operands of more than 2^33 elements that would be read one by one.

use crate::support::{offline, pool};
use lensor::dtype::SameBits;
use lensor::gufunc::inner1d;
use lensor::lanes::{Side, SortOrder::Ascending};
use lensor::linalg::einsum;
use lensor::prelude::*;
use lensor::stencil::{Border, EdgeOrder, Mode};
use lensor::storage::{FromFn, Sparse};
use lensor::tensor::{concat, pad, stack};
use lensor::{Result, StorageError};

const SIDE: usize = 1 << 17;

/// A matrix of 2^34 elements with one entry.
fn large<T: SameBits + Send + Sync>(fill: T, value: T) -> Tensor<Sparse<T>> {
    let one = Sparse::from_sorted(SIDE * SIDE, fill, vec![5], vec![value]).unwrap();
    Tensor::new([SIDE, SIDE], one).unwrap()
}

fn refused(found: Result<()>) {
    assert_eq!(found, Err(Error::WouldDensify { stored: 1, dense: SIDE * SIDE }));
}

/// Storage of any length, all of one element, that cannot be written.
struct Stuck<T>(usize, T);

impl<T: Copy + Send + Sync> Reader for Stuck<T> {
    type Elem = T;

    fn len(&self) -> usize {
        self.0
    }

    fn read(&self, _: usize) -> T {
        self.1
    }
}

impl<T: Copy + Send + Sync> Writer for Stuck<T> {
    fn write(&mut self, address: usize, _: T) {
        panic!("{address} was written");
    }

    fn try_write(&mut self, address: usize, _: T) -> Result<(), StorageError> {
        Err(StorageError::new(address, "stuck"))
    }
}

fn stuck<T: Copy + Send + Sync, const N: usize>(shape: [usize; N], element: T) -> Tensor<Stuck<T>> {
    Tensor::new(shape, Stuck(shape.iter().product(), element)).unwrap()
}

/// Operations that are assigned box by box are refused as a whole, by any number of threads.
#[test]
fn large_operands_are_refused_as_a_whole() {
    let x = large(0_i64, 7);
    let d = Tensor::new([SIDE, SIDE], FromFn::new(SIDE * SIDE, |k| k as i64)).unwrap();
    let mut out = Tensor::full([SIDE], 0).unwrap();
    for threads in [1, 2] {
        let e = &x * &d;
        let mut turned = out.view_mut().flip(0).unwrap();
        let found = pool(threads).install(|| e.sum(1).assign_to(&mut turned));
        refused(found);
    }
    let mut far = stuck([SIDE, SIDE], 0);
    refused((&x * &d).cumsum(1).assign_to(&mut far));
    refused((&x * &d).rolling(1, 1).max().assign_to(&mut far));
    refused((&x * &d).sort(1, Ascending).assign_to(&mut far));
}

#[test]
fn stencils_refuse_large_operands() {
    let x = large(0.0_f64, 7.0);
    let kernel = Tensor::full([3, 3], 1.0).unwrap();
    let mut out = stuck([SIDE, SIDE], 0.0);
    refused(x.derivative(0, 1.0, EdgeOrder::First).assign_to(&mut out));
    refused(x.second_derivative(1, 1.0).assign_to(&mut out));
    refused(x.laplacian([1.0, 1.0]).assign_to(&mut out));
    let edge = Mode::Same(Border::Zero);
    refused(x.convolve(&kernel, edge).assign_to(&mut out));
    refused(x.correlate(&kernel, edge).assign_to(&mut out));
    refused(x.gradient([1.0, 1.0], EdgeOrder::First).assign_to(&mut stuck([SIDE, SIDE, 2], 0.0)));
    let part = x.view().slice(0, ..4).unwrap().slice(1, ..8).unwrap();
    let along = part.derivative(1, 1.0, EdgeOrder::First).to_vec().unwrap();
    assert_eq!(along[3..8], [0.0, 3.5, 0.0, -3.5, 0.0]);
}

#[test]
fn both_operands_are_held_against_the_limit() {
    let one = Sparse::from_sorted(SIDE * SIDE, 0.0, vec![5], vec![7.0]).unwrap();
    let matrices = Tensor::new([SIDE / 2, 512, 512], one).unwrap();
    let column = Tensor::full([512, 1], 1.0).unwrap();
    refused(matrices.matmul(&column).assign_to(&mut stuck([SIDE / 2, 512, 1], 0.0)));
    let row = Tensor::full([1, 512], 1.0).unwrap();
    refused(row.matmul(&matrices).assign_to(&mut stuck([SIDE / 2, 1, 512], 0.0)));
    let (all, indexes) = (Tensor::full([SIDE, 1], 1.0).unwrap(), large(0_usize, 0));
    refused(all.take_along(1, &indexes).assign_to(&mut stuck([SIDE, SIDE], 0.0)));
    // As often as it is stretched.
    let (x, needles) = (large(0.0_f64, 7.0), Tensor::full([SIDE, 1], 1.0).unwrap());
    let first = x.view().slice(0, ..1).unwrap();
    let found = first.search_sorted_along(1, &needles, Side::Left);
    refused(found.assign_to(&mut stuck([SIDE, 1], 0)));
    // No results need no elements.
    x.top_k(1, 0, Ascending).assign_to(&mut stuck([SIDE, 0], 0.0)).unwrap();
}

/// Nothing is computed for what is refused, though it is an operand.
#[test]
fn large_operands_are_refused_before_deferred_ones_are_computed() {
    let x = large(0_i32, 7);
    let failing = Tensor::new([1, SIDE], offline(SIDE, 0..1)).unwrap();
    let row = failing.max(0);
    assert!(matches!(row.eval(), Err(Error::Storage { .. })));
    let product = || &x * &row;
    refused(product().sum(1).eval().map(drop));
    refused((Tensor::full([SIDE], 0_i64).unwrap() + product().sum(1)).eval().map(drop));
    refused(product().cummax(1).assign_to(&mut stuck([SIDE, SIDE], 0)));
    refused(product().sort(1, Ascending).eval().map(drop));
    refused(product().search_sorted(&Tensor::from(vec![1]), Side::Left).eval().map(drop));
    refused(x.matmul(&row).eval().map(drop));
    refused(einsum("ij,j->i", (&x, &row)).eval().map(drop));
    refused(inner1d().call((&x, &row)).eval().map(drop));
    let mut out = Tensor::sparse([SIDE, SIDE], 0).unwrap();
    refused(out.assign(product()));
}

/// Joined, padded and flattened tensors are read one by one, and refused if all that they are made of is sparse.
#[test]
fn large_combined_operands_are_refused() {
    let x = large(0.0_f64, 7.0);
    let of = |stored: usize, rows: usize| Error::WouldDensify { stored, dense: rows * SIDE };
    let ones = large(1.0, 7.0);
    let both = concat(0, [&x, &ones]).unwrap();
    assert_eq!(both.sum(..).item(), Err(of(2, 2 * SIDE)));
    assert_eq!(both.try_equal(&both), Err(of(2, 2 * SIDE)));
    let mut out = Tensor::sparse([2 * SIDE, SIDE], 0.0).unwrap();
    assert_eq!(out.assign(&both), Err(of(2, 2 * SIDE)));
    assert_eq!(both.slice(0, ..1).unwrap().sum(..).item(), Ok(7.0));
    let boxed = [x.view().erase(), Tensor::constant([SIDE, SIDE], 1.0).unwrap().erase()];
    let stacked = stack(2, boxed).unwrap();
    assert_eq!(stacked.sum([1, 2]).eval().unwrap_err(), of(1, 2 * SIDE));
    let padded = pad(&x, [(0, 1), (0, 0)], 1.0).unwrap();
    assert_eq!(padded.max(..).item(), Err(of(1, SIDE + 1)));
    let flat = x.view().transpose([1, 0]).unwrap().flat();
    let turned = Tensor::new([SIDE, SIDE], flat).unwrap();
    refused(turned.view().cumsum(1).assign_to(&mut stuck([SIDE, SIDE], 0.0)));
    // Of one fill value they are sparse.
    assert_eq!(concat(0, [&x, &x]).unwrap().sum(..).item(), Ok(14.0));
    let none = Tensor::sparse([SIDE, SIDE], 0.0_f64).unwrap();
    assert_eq!(concat(0, [&none]).unwrap().sum(..).item(), Ok(0.0));
}

/// A dense result for sparse storage is not computed as a whole in silence.
#[test]
fn updates_refuse_large_operands() {
    let (mut x, row) = (large(0_i32, 7), Tensor::full([SIDE], 0).unwrap());
    refused(x.update(|old| Ok((old + &row).boxed())));
    assert!(x.storage().iter().eq([(5, 7)]));
    x.update(|old| Ok((old * 2).boxed())).unwrap();
    assert!(x.storage().iter().eq([(5, 14)]));
}
