//! What takes nanoseconds: making views, adding 2 by 2, reading one element.

use lensor::Tensor;
use ndarray::{ArrayD, IxDyn, SliceInfoElem, Zip};
use report::{Bench, check};
use std::hint::black_box;

pub(crate) fn run(bench: &mut Bench) {
    let t = Tensor::from_vec([2, 2], vec![1.0, 2.0, 3.0, 4.0]).expect("an input");
    let u = Tensor::from_vec([2, 2], vec![10.0, 20.0, 30.0, 40.0]).expect("an input");
    let nd = ArrayD::from_shape_vec(IxDyn(&[2, 2]), vec![1.0, 2.0, 3.0, 4.0]).expect("an input");
    let ne =
        ArrayD::from_shape_vec(IxDyn(&[2, 2]), vec![10.0, 20.0, 30.0, 40.0]).expect("an input");
    let slice = [
        SliceInfoElem::Slice { start: 0, end: Some(1), step: 1 },
        SliceInfoElem::Slice { start: 0, end: None, step: 1 },
    ];

    bench.small(
        "view",
        25.0,
        1,
        &mut [
            ("ours", &mut || drop(black_box(black_box(&t).view()))),
            ("ndarray", &mut || drop(black_box(black_box(&nd).view()))),
        ],
    );
    bench.small(
        "view, transposed and sliced",
        25.0,
        1,
        &mut [
            ("ours", &mut || {
                let view = black_box(&t)
                    .view()
                    .transpose(black_box(&[1, 0]))
                    .and_then(|t| t.slice(0, 0..1));
                drop(black_box(view));
            }),
            ("ndarray", &mut || {
                let turned = black_box(&nd).view().permuted_axes(IxDyn(black_box(&[1, 0])));
                drop(black_box(turned.slice_move(&slice[..])));
            }),
        ],
    );

    check("add 2x2", (&t + &u).eval().expect("a sum").storage(), &[11.0, 22.0, 33.0, 44.0]);
    bench.small(
        "add 2x2, allocating",
        70.0,
        1,
        &mut [
            ("ours", &mut || drop(black_box((black_box(&t) + black_box(&u)).eval()))),
            ("ndarray", &mut || drop(black_box(black_box(&nd) + black_box(&ne)))),
        ],
    );
    let mut out = Tensor::full([2, 2], 0.0).expect("an output");
    let mut nd_out = ArrayD::zeros(IxDyn(&[2, 2]));
    let e = &t + &u;
    bench.small(
        "add 2x2, into an output",
        40.0,
        1,
        &mut [
            ("ours", &mut || black_box(&e).assign_to(black_box(&mut out)).expect("a sum")),
            ("ndarray", &mut || {
                Zip::from(black_box(&mut nd_out))
                    .and(black_box(&nd))
                    .and(black_box(&ne))
                    .for_each(|z, x, y| *z = x + y);
            }),
        ],
    );

    let n = 64;
    let large = Tensor::from_vec([n, n], (0..n * n).collect::<Vec<usize>>()).expect("an input");
    let view = large.view().transpose([1, 0]).and_then(|t| t.slice(0, 1..n)).expect("a view");
    assert_eq!(view.get([2, 5]), Ok(5 * n + 3));
    let nd_large = ArrayD::from_shape_vec(IxDyn(&[n, n]), (0..n * n).collect::<Vec<usize>>())
        .expect("an input");
    let slice = [
        SliceInfoElem::Slice { start: 1, end: None, step: 1 },
        SliceInfoElem::Slice { start: 0, end: None, step: 1 },
    ];
    let nd_view = nd_large.t().slice_move(&slice[..]);
    bench.small(
        "one element through transpose + slice",
        1.7,
        n * (n - 1),
        &mut [
            ("ours", &mut || {
                let mut sum = 0;
                for i in 0..n - 1 {
                    for j in 0..n {
                        sum += black_box(&view).get([i, j]).expect("inside");
                    }
                }
                black_box(sum);
            }),
            ("ndarray", &mut || {
                let mut sum = 0;
                for i in 0..n - 1 {
                    for j in 0..n {
                        sum += black_box(&nd_view)[[i, j].as_slice()];
                    }
                }
                black_box(sum);
            }),
        ],
    );
}
