//! What `explain` says, line by line.

mod blocks;
mod deferred;
mod lazy;
mod unread;

use lensor::expr::Explanation;
use lensor::prelude::*;

fn numbers(shape: [usize; 2]) -> Tensor<Vec<f64>> {
    Tensor::full(shape, 0.0).unwrap()
}

/// The lines of an explanation but for the number of threads, which is that of the machine.
fn shown(explanation: Explanation) -> String {
    let lines: Vec<String> = explanation.lines().to_vec();
    lines.into_iter().filter(|line| !line.starts_with("threads")).collect::<Vec<_>>().join("\n")
}

fn explained(e: &Lazy<impl Expr>) -> String {
    shown(e.explain().unwrap())
}
