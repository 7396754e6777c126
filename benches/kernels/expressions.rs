//! Fused expressions, evaluated into an output.

use lensor::prelude::*;
use ndarray::{Array1, Array2, Array3, Axis, Zip};
use report::{Bench, Case, Match, check};
use std::hint::black_box;

pub(crate) fn run(bench: &mut Bench) {
    let n = bench.side();
    outer_sum(bench, n);
    fresh(bench, n);
    polynomial(bench, "(a*2+b)*c-d/2/f64", 1.0, n * n);
    polynomial(bench, "(a*2+b)*c-d/2/f64/32K cached", 1.3, 32768);
    transposed(bench, n);
    normalise(bench);
    boxed(bench, n * n);
    let called = ("a function of each element/f64", 1.05, n * n);
    each(bench, called, softsign, |a, out| a.map(softsign).assign_to(out));
    let exp = ("exp/f64/32K cached", 0.6, 32768);
    each(bench, exp, f64::exp, |a, out| a.exp().assign_to(out));
    custom_storage(bench, n * n);
}

fn data(count: usize, seed: usize) -> Vec<f64> {
    (0..count).map(|i| ((i * 7 + seed * 13) % 1009) as f64 * 0.25).collect()
}

fn outer_sum(bench: &mut Bench, n: usize) {
    let name = "a[n,1]+b[1,n]/f64";
    if !bench.wants(name) {
        return;
    }
    let (column, row) = (data(n, 1), data(n, 2));
    let a = Tensor::from_vec([n, 1], column.clone()).expect("an input");
    let b = Tensor::from_vec([1, n], row.clone()).expect("an input");
    let mut ours = Tensor::full([n, n], 0.0).expect("an output");
    let mut naive = vec![0.0; n * n];
    let loops = |out: &mut [f64]| {
        for (i, out) in out.chunks_mut(n).enumerate() {
            for (j, slot) in out.iter_mut().enumerate() {
                *slot = column[i] + row[j];
            }
        }
    };
    let (x, y) = (Array1::from(column.clone()).insert_axis(Axis(1)), Array1::from(row.clone()));
    let mut theirs = Array2::zeros((n, n));
    (&a + &b).assign_to(&mut ours).expect("a sum");
    loops(&mut naive);
    check(name, ours.storage(), &naive);
    bench.run(Case {
        name,
        bytes: 8 * n * n,
        reach: 1.1,
        ours: &mut || (&a + &b).assign_to(&mut ours).expect("a sum"),
        naive: &mut || loops(&mut naive),
        ndarray: Some(&mut || {
            Zip::from(&mut theirs)
                .and_broadcast(&x)
                .and_broadcast(&y)
                .for_each(|z, x, y| *z = x + y);
        }),
    });
}

/// Everything else writes to memory that was written before.
fn fresh(bench: &mut Bench, n: usize) {
    let name = "a+b, new result/f64";
    if !bench.wants(name) {
        return;
    }
    let (a, b) = (data(n * n, 1), data(n * n, 2));
    let tensor = |data: &Vec<f64>| Tensor::from_vec([n, n], data.clone()).expect("an input");
    let array = |data: &Vec<f64>| Array2::from_shape_vec((n, n), data.clone()).expect("an input");
    let (ta, tb, xa, xb) = (tensor(&a), tensor(&b), array(&a), array(&b));
    let loops = || a.iter().zip(&b).map(|(a, b)| a + b).collect::<Vec<f64>>();
    check(name, (&ta + &tb).eval().expect("a sum").storage(), &loops());
    bench.run(Case {
        name,
        bytes: 24 * n * n,
        reach: 1.5,
        ours: &mut || {
            black_box((&ta + &tb).eval().expect("a sum"));
        },
        naive: &mut || {
            black_box(loops());
        },
        ndarray: Some(&mut || {
            black_box(&xa + &xb);
        }),
    });
}

fn polynomial(bench: &mut Bench, name: &str, reach: f64, count: usize) {
    if !bench.wants(name) {
        return;
    }
    let (a, b, c, d) = (data(count, 1), data(count, 2), data(count, 3), data(count, 4));
    let tensor = |data: &Vec<f64>| Tensor::from_vec([count], data.clone()).expect("an input");
    let (ta, tb, tc, td) = (tensor(&a), tensor(&b), tensor(&c), tensor(&d));
    let mut ours = Tensor::full([count], 0.0).expect("an output");
    let mut naive = vec![0.0; count];
    let loops = |out: &mut [f64]| {
        for (k, slot) in out.iter_mut().enumerate() {
            *slot = (a[k] * 2.0 + b[k]) * c[k] - d[k] / 2.0;
        }
    };
    let array = |data: &Vec<f64>| Array1::from(data.clone());
    let (xa, xb, xc, xd) = (array(&a), array(&b), array(&c), array(&d));
    let mut theirs = Array1::zeros(count);
    ((&ta * 2.0 + &tb) * &tc - &td / 2.0).assign_to(&mut ours).expect("a result");
    loops(&mut naive);
    check(name, ours.storage(), &naive);
    bench.run(Case {
        name,
        bytes: 40 * count,
        reach,
        ours: &mut || ((&ta * 2.0 + &tb) * &tc - &td / 2.0).assign_to(&mut ours).expect("a result"),
        naive: &mut || loops(&mut naive),
        ndarray: Some(&mut || {
            Zip::from(&mut theirs)
                .and(&xa)
                .and(&xb)
                .and(&xc)
                .and(&xd)
                .for_each(|z, a, b, c, d| *z = (a * 2.0 + b) * c - d / 2.0);
        }),
    });
}

fn transposed(bench: &mut Bench, n: usize) {
    let name = "(a*2+b^T)*c-d/2/f64";
    if !bench.wants(name) {
        return;
    }
    let count = n * n;
    let (a, b, c, d) = (data(count, 1), data(count, 2), data(count, 3), data(count, 4));
    let tensor = |data: &Vec<f64>| Tensor::from_vec([n, n], data.clone()).expect("an input");
    let (ta, tb, tc, td) = (tensor(&a), tensor(&b), tensor(&c), tensor(&d));
    let turned = tb.view().transpose([1, 0]).expect("a view");
    let mut ours = Tensor::full([n, n], 0.0).expect("an output");
    let mut naive = vec![0.0; count];
    let loops = |out: &mut [f64]| {
        for i in 0..n {
            for j in 0..n {
                let k = i * n + j;
                out[k] = (a[k] * 2.0 + b[j * n + i]) * c[k] - d[k] / 2.0;
            }
        }
    };
    let array = |data: &Vec<f64>| Array2::from_shape_vec((n, n), data.clone()).expect("an input");
    let (xa, xb, xc, xd) = (array(&a), array(&b), array(&c), array(&d));
    let mut theirs = Array2::zeros((n, n));
    ((&ta * 2.0 + &turned) * &tc - &td / 2.0).assign_to(&mut ours).expect("a result");
    loops(&mut naive);
    check(name, ours.storage(), &naive);
    bench.run(Case {
        name,
        bytes: 40 * count,
        reach: 1.8,
        ours: &mut || {
            ((&ta * 2.0 + &turned) * &tc - &td / 2.0).assign_to(&mut ours).expect("a result")
        },
        naive: &mut || loops(&mut naive),
        ndarray: Some(&mut || {
            Zip::from(&mut theirs)
                .and(&xa)
                .and(xb.t())
                .and(&xc)
                .and(&xd)
                .for_each(|z, a, b, c, d| *z = (a * 2.0 + b) * c - d / 2.0);
        }),
    });
}

fn normalise(bench: &mut Bench) {
    let name = "u8 HWC to f32 CHW, (x/255-mean)/std";
    if !bench.wants(name) {
        return;
    }
    let (h, w) = if bench.quick { (216, 384) } else { (2160, 3840) };
    let pixels: Vec<u8> = (0..h * w * 3).map(|i| (i * 31 % 251) as u8).collect();
    let (mean, std) = ([0.485_f32, 0.456, 0.406], [0.229_f32, 0.224, 0.225]);
    let image = Tensor::from_vec([h, w, 3], pixels.clone()).expect("an image");
    let planes = image.view().transpose([2, 0, 1]).expect("a view");
    let tm = Tensor::from_vec([3, 1, 1], mean.to_vec()).expect("means");
    let ts = Tensor::from_vec([3, 1, 1], std.to_vec()).expect("deviations");
    let mut ours = Tensor::full([3, h, w], 0.0_f32).expect("an output");
    let mut naive = vec![0.0_f32; 3 * h * w];
    let loops = |out: &mut [f32]| {
        for c in 0..3 {
            for k in 0..h * w {
                out[c * h * w + k] = (pixels[k * 3 + c] as f32 / 255.0 - mean[c]) / std[c];
            }
        }
    };
    let array = Array3::from_shape_vec((h, w, 3), pixels.clone()).expect("an image");
    let mut theirs = Array3::zeros((3, h, w));
    let mut expression = || {
        ((planes.view().cast::<f32>() / 255.0 - &tm) / &ts).assign_to(&mut ours).expect("a result");
    };
    expression();
    loops(&mut naive);
    check(name, ours.storage(), &naive);
    let mut expression = || {
        ((planes.view().cast::<f32>() / 255.0 - &tm) / &ts).assign_to(&mut ours).expect("a result");
    };
    bench.run(Case {
        name,
        bytes: 15 * h * w,
        reach: 1.6,
        ours: &mut expression,
        naive: &mut || loops(&mut naive),
        ndarray: Some(&mut || {
            for c in 0..3 {
                Zip::from(theirs.index_axis_mut(Axis(0), c))
                    .and(array.index_axis(Axis(2), c))
                    .for_each(|out, &x| *out = (x as f32 / 255.0 - mean[c]) / std[c]);
            }
        }),
    });
}

fn boxed(bench: &mut Bench, count: usize) {
    let name = "boxed (a*2+b)*c-d/2/f64";
    if !bench.wants(name) {
        return;
    }
    let (a, b, c, d) = (data(count, 1), data(count, 2), data(count, 3), data(count, 4));
    let tensor = |data: &Vec<f64>| Tensor::from_vec([count], data.clone()).expect("an input");
    let (ta, tb, tc, td) = (tensor(&a), tensor(&b), tensor(&c), tensor(&d));
    let sum: BoxExpr<f64> = ((&ta * 2.0).boxed() + &tb).boxed();
    let whole: BoxExpr<f64> = ((sum * &tc).boxed() - (&td / 2.0).boxed()).boxed();
    let mut ours = Tensor::full([count], 0.0).expect("an output");
    let mut naive = vec![0.0; count];
    let loops = |out: &mut [f64]| {
        for (k, slot) in out.iter_mut().enumerate() {
            *slot = (a[k] * 2.0 + b[k]) * c[k] - d[k] / 2.0;
        }
    };
    whole.assign_to(&mut ours).expect("a result");
    loops(&mut naive);
    check(name, ours.storage(), &naive);
    bench.run(Case {
        name,
        bytes: 40 * count,
        reach: 2.0,
        ours: &mut || whole.assign_to(&mut ours).expect("a result"),
        naive: &mut || loops(&mut naive),
        ndarray: None,
    });
}

struct Halves(usize);

impl lensor::Reader for Halves {
    type Elem = f64;
    fn len(&self) -> usize {
        self.0
    }
    fn read(&self, address: usize) -> f64 {
        address as f64 * 0.5
    }
}

/// A function that is called for each element, as those of libraries are: compiled for itself, for any processor.
#[inline(never)]
fn softsign(x: f64) -> f64 {
    let rounds = (0..4).fold(x, |y, _| y / (1.0 + y.abs()));
    rounds + x
}

/// A function of each element, which `assign` computes for us.
fn each(
    bench: &mut Bench,
    (name, reach, count): (&'static str, f64, usize),
    f: impl Fn(f64) -> f64 + Sync,
    assign: impl Fn(&Tensor<Vec<f64>>, &mut Tensor<Vec<f64>>) -> Result<(), Error> + Sync,
) {
    if !bench.wants(name) {
        return;
    }
    let input = data(count, 1);
    let a = Tensor::from_vec([count], input.clone()).expect("an input");
    let x = Array1::from(input);
    let mut ours = Tensor::full([count], 0.0).expect("an output");
    let mut theirs = Array1::zeros(count);
    assign(&a, &mut ours).expect("results");
    Zip::from(&mut theirs).and(&x).for_each(|slot, x| *slot = f(*x));
    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= b.abs() * 2.0 * f64::EPSILON;
    assert!(ours.storage().iter().zip(&theirs).all(near), "{name}");
    bench.run_match(Match {
        name,
        reach,
        ours: &mut || assign(&a, &mut ours).expect("results"),
        peer: ("ndarray", &mut || {
            Zip::from(&mut theirs).and(&x).for_each(|slot, x| *slot = f(*x));
        }),
        naive: None,
    });
}

fn custom_storage(bench: &mut Bench, count: usize) {
    let name = "Box<dyn Reader> + dense/f64";
    let boxed: Box<dyn lensor::Reader<Elem = f64>> = Box::new(Halves(count));
    let halves = Tensor::new([count], boxed).expect("an input");
    let dense = Tensor::from_vec([count], data(count, 1)).expect("an input");
    let mut ours = Tensor::full([count], 0.0).expect("an output");
    let mut naive = vec![0.0; count];
    let loops = |out: &mut [f64]| {
        for (k, slot) in out.iter_mut().enumerate() {
            *slot = k as f64 * 0.5 + dense.storage()[k];
        }
    };
    (&halves + &dense).assign_to(&mut ours).expect("a sum");
    loops(&mut naive);
    check(name, ours.storage(), &naive);
    let pool = report::pool(1);
    let mut run = || pool.install(|| (&halves + &dense).assign_to(&mut ours).expect("a sum"));
    bench.small(name, 1.0, count, &mut [("ours", &mut run), ("loop", &mut || loops(&mut naive))]);
}
