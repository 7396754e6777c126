//! To explain or to print what is not computed reads no element.

use crate::support::pool;
use lensor::expr::Explanation;
use lensor::gufunc;
use lensor::lanes::SortOrder::Ascending;
use lensor::linalg::einsum;
use lensor::prelude::*;
use lensor::stencil::{EdgeOrder, Mode};
use lensor::{Reader, Result};

/// Elements that nobody may ask for.
struct Unread(usize);

impl Reader for Unread {
    type Elem = f64;

    fn len(&self) -> usize {
        self.0
    }

    fn read(&self, address: usize) -> f64 {
        panic!("element {address} was read")
    }
}

fn unread<const N: usize>(shape: [usize; N]) -> Tensor<Unread> {
    Tensor::new(shape, Unread(shape.iter().product())).unwrap()
}

#[track_caller]
fn explained(explanation: Result<Explanation>) {
    assert!(!explanation.unwrap().to_string().is_empty());
}

fn explain_all() {
    let long = unread([1 << 20]);
    explained((&long + 1.0).explain());
    explained(long.cumsum(0).explain());
    explained(long.scan(0, lensor::reduce::Max).explain());
    assert!(long.cumsum(0).to_string().contains("scan"));
    explained(long.rolling(0, 100).mean().explain());
    explained(long.segments(0, [0_usize, 5, 1 << 20]).sum().explain());
    explained(long.sum(..).explain());
    explained(long.sort(0, Ascending).explain());
    explained(long.median(0).explain());
    explained(long.argmax(0).explain());

    let (stack, square) = (unread([3, 100, 100]), unread([100, 100]));
    explained(stack.matmul(&square).explain());
    explained(square.matmul(&stack).explain());
    explained(stack.matmul(&square * 2.0).explain());
    explained(einsum("bij,jk->bik", (&stack, &square * 2.0)).explain());
    explained(square.outer(unread([3])).explain());
    explained(square.correlate(unread([3, 3]), Mode::Valid).explain());
    explained(square.derivative(0, 1.0, EdgeOrder::First).explain());

    let (rows, row) = (unread([4096, 16]), unread([16]));
    explained(gufunc::inner1d().call((&rows, &row * 2.0)).explain());
    explained(gufunc::inner1d().call((&row * 2.0, &rows)).explain());
    let mask = unread([1]).broadcast([4096]).unwrap();
    explained(gufunc::norm().call((&rows,)).filter(mask.greater(0.0)).explain());
    let call = gufunc::inner1d().call((&rows, &row * 2.0));
    assert!(call.deferred().to_string().contains("gufunc"));
}

#[test]
fn to_explain_reads_nothing() {
    for threads in 1..=3 {
        pool(threads).install(explain_all);
    }
}
