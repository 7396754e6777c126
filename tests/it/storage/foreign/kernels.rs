//! Every kind of kernel, to be run on any storage.

use lensor::expr::zip_with;
use lensor::prelude::*;
use lensor::tensor::{concat, pad};
use lensor::{Reader, Result, Tensor};

/// One way to evaluate something that reads a storage.
pub(crate) struct Kernel<S> {
    pub(crate) name: &'static str,
    pub(crate) run: fn(&Tensor<S>) -> Result<Vec<i32>>,
}

/// The view of every kernel has rank 2; `t` has the shape `[rows, columns]`, both even.
pub(crate) fn kernels<S: Reader<Elem = i32>>() -> Vec<Kernel<S>> {
    vec![
        Kernel { name: "copy", run: |t| t.to_vec() },
        Kernel { name: "transpose", run: |t| t.view().transpose([1, 0])?.to_vec() },
        Kernel { name: "flip", run: |t| t.view().flip(0)?.flip(1)?.to_vec() },
        Kernel { name: "step", run: |t| t.view().select((.., Select::every(2)))?.to_vec() },
        Kernel { name: "rotate", run: |t| t.view().rotate([1, 3])?.to_vec() },
        Kernel { name: "list", run: |t| t.view().select(([1, 0, 1], [0, 1, 0, 1, 1]))?.to_vec() },
        Kernel {
            name: "tile",
            run: |t| {
                let shape = t.shape();
                t.view().broadcast([2 * shape[0], 2 * shape[1]])?.to_vec()
            },
        },
        Kernel {
            name: "link",
            run: |t| t.view().transpose([1, 0])?.reshape_infer([None])?.rotate([5])?.to_vec(),
        },
        Kernel { name: "window", run: |t| t.view().windows(1, 2)?.to_vec() },
        Kernel { name: "unary", run: |t| (-t).to_vec() },
        Kernel { name: "binary", run: |t| (t + t).to_vec() },
        Kernel { name: "crossed", run: |t| (t.view() - turn(t)?).to_vec() },
        Kernel { name: "stretched", run: |t| (t * t.view().slice(0, 0..1)?).to_vec() },
        Kernel { name: "ternary", run: |t| zip_with((t, t, 1), |(a, b, c)| a ^ b ^ c).to_vec() },
        Kernel { name: "boxed", run: |t| ((t + 1).boxed() * t).boxed().to_vec() },
        Kernel { name: "checked", run: |t| (t / 3).cast::<i64>().cast_unchecked::<i32>().to_vec() },
        Kernel { name: "divided", run: |t| (100 / t).to_vec() },
        Kernel { name: "iterate", run: |t| t.try_iter().collect() },
        Kernel { name: "lanes", run: |t| t.rows()?.map(|row| row.get([0])).collect() },
        Kernel { name: "flat", run: |t| Tensor::new(t.shape(), turn(t)?.flat())?.to_vec() },
        Kernel { name: "concat", run: |t| concat(1, [t.view(), t.view().flip(0)?])?.to_vec() },
        Kernel { name: "pad", run: |t| pad(t.view(), [(1, 0), (2, 1)], 9)?.to_vec() },
        Kernel {
            name: "assign",
            run: |t| {
                let mut out = Tensor::full([t.shape()[1], t.shape()[0]], 0)?;
                out.view_mut().transpose([1, 0])?.assign(t)?;
                Ok(out.into_storage())
            },
        },
        Kernel {
            name: "update in place",
            run: |t| {
                let mut out = Tensor::full(t.shape(), 1)?;
                out.try_add_assign(t)?;
                out.view_mut().flip(0)?.try_mul_assign(t)?;
                Ok(out.into_storage())
            },
        },
        Kernel { name: "compare", run: |t| Ok(vec![i32::from(t.try_equal(t)?)]) },
        Kernel { name: "print", run: |t| Ok(vec![format!("{t} {t:?}").len() as i32]) },
        Kernel { name: "explain", run: |t| Ok(vec![(t + t).explain()?.lines().len() as i32]) },
        Kernel { name: "erased", run: |t| t.view().erase().to_vec() },
    ]
}

/// The same shape, read across.
fn turn<S: Reader>(t: &Tensor<S>) -> Result<Tensor<&S>> {
    let shape = t.shape();
    let turned = t.view().reshape([shape[1], shape[0]])?;
    turned.transpose([1, 0])
}
