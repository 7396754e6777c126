//! Sums of products in half precision against those in double precision.

use crate::support::{Random, pool};
use half::{bf16, f16};
use lensor::dtype::Real;
use lensor::gufunc::{convolve_full, convolve_valid, cross, inner1d, trace};
use lensor::linalg::{Linalg, einsum};
use lensor::prelude::*;
use lensor::stencil::{Border, EdgeOrder, Mode};
use std::fmt::Debug;

trait Half: Real + Default + Debug + 'static {}

impl<T: Real + Default + Debug + 'static> Half for T {}

/// Numbers whose sum grows with their number.
fn noise<T: Half>(random: &mut Random, shape: &[usize]) -> Tensor<Vec<T>> {
    let data =
        (0..shape.iter().product::<usize>()).map(|_| random.below(2001) as f64 / 256.0 - 2.7);
    Tensor::from_vec(shape, data.map(T::of_f64).collect::<Vec<T>>()).unwrap()
}

/// Asserts that a sum of these terms was rounded once, and before only as often as sums in single precision are.
#[track_caller]
fn near<T: Half>(found: T, terms: impl Iterator<Item = f64>) {
    let (mut sum, mut error) = (0.0, 0.0);
    let terms: Vec<f64> = terms.collect();
    for term in &terms {
        sum += term;
        error += term.abs() * terms.len() as f64 * f64::from(f32::EPSILON);
    }
    let [low, high] = [sum - error, sum + error].map(|x| T::of_f64(x).to_f64());
    assert!((low..=high).contains(&found.to_f64()), "{found:?} for {sum}");
}

fn doubles<T: Half>(t: &Tensor<Vec<T>>) -> Vec<f64> {
    t.to_vec().unwrap().into_iter().map(T::to_f64).collect()
}

/// The same matrix in memory of the other order.
fn turned<T: Half>(t: &Tensor<Vec<T>>) -> Tensor<Vec<T>> {
    t.view().transpose([1, 0]).unwrap().eval().unwrap().transpose([1, 0]).unwrap()
}

fn check_matrices<T: Half>(seed: u64) {
    let mut random = Random(seed);
    let mut sizes = vec![[1, 300, 70], [5, 130, 2], [2, 600, 3], [17, 40, 9], [4, 300, 4]];
    sizes.extend((0..12).map(|_| [9, 40, 9].map(|limit| 1 + random.below(limit))));
    for [m, k, n] in sizes {
        let (a, b) = (noise::<T>(&mut random, &[m, k]), noise::<T>(&mut random, &[k, n]));
        let product = a.matmul(&b).eval().unwrap().into_storage();
        let (x, y) = (doubles(&a), doubles(&b));
        for (at, &found) in product.iter().enumerate() {
            near(found, (0..k).map(|p| x[at / n * k + p] * y[p * n + at % n]));
        }
        let pairs = [(1, 0)];
        for (a, b) in [(&a, &turned(&b)), (&turned(&a), &b), (&turned(&a), &turned(&b))] {
            assert_eq!(a.matmul(b).to_vec().unwrap(), product, "{m} {k} {n}");
            assert_eq!(a.tensordot(b, pairs).to_vec().unwrap(), product, "{m} {k} {n}");
            assert_eq!(einsum("ij,jk->ik", (a, b)).to_vec().unwrap(), product, "{m} {k} {n}");
        }
        for (row, &found) in einsum("ij->i", (&a,)).to_vec().unwrap().iter().enumerate() {
            near(found, x[row * k..][..k].iter().copied());
        }
        for (column, &found) in einsum("ij->j", (&a,)).to_vec().unwrap().iter().enumerate() {
            near(found, x[column..].iter().step_by(k).copied());
        }
    }
}

#[test]
fn products_of_matrices_are_rounded_once() {
    check_matrices::<f16>(3);
    check_matrices::<bf16>(4);
}

#[test]
fn neither_threads_nor_stacks_change_a_bit() {
    let mut random = Random(5);
    let (a, b) = (noise::<bf16>(&mut random, &[128, 33]), noise::<bf16>(&mut random, &[33, 64]));
    let [one, three] = [1, 3].map(|threads| pool(threads).install(|| a.matmul(&b).eval().unwrap()));
    assert_eq!(one.to_vec().unwrap(), three.to_vec().unwrap());
}

/// Of ones: their number.
#[test]
fn sums_do_not_stop_where_halves_have_gaps() {
    let ones = |shape: [usize; 2]| Tensor::full(shape, f16::ONE).unwrap();
    let expected = f16::from_f64(3000.0);
    let product = ones([1, 3000]).matmul(&ones([3000, 4])).to_vec().unwrap();
    assert_eq!(product, [expected; 4]);
    assert_eq!(einsum("ij->j", (&ones([3000, 4]),)).to_vec().unwrap(), [expected; 4]);
    assert_eq!(einsum("ij->i", (&ones([4, 3000]),)).to_vec().unwrap(), [expected; 4]);
    let unit =
        Tensor::from_index([300, 300], |i| bf16::from_f32(f32::from(u8::from(i[0] == i[1]))));
    let [sum] = trace().call([&unit.unwrap()]).eval().unwrap();
    assert_eq!(sum.item().unwrap(), bf16::from_f32(300.0));
    // The products of the elements are no halves.
    let [x, y] = [[256.0, 257.0, 0.0], [256.0, 258.0, 0.0]]
        .map(|v| Tensor::from(v.map(f16::from_f64).to_vec()));
    let [found] = cross().call([&x, &y]).eval().unwrap();
    assert_eq!(found.to_vec().unwrap(), [0.0, 0.0, 256.0].map(f16::from_f64));
}

fn check_sequences<T: Half>(seed: u64) {
    let mut random = Random(seed);
    for _ in 0..20 {
        let [m, n] = [1 + random.below(400), 1 + random.below(60)];
        let (a, b) = (noise::<T>(&mut random, &[m]), noise::<T>(&mut random, &[n]));
        let (x, y) = (doubles(&a), doubles(&b));
        let term = |at: usize, k: usize| at.checked_sub(k).and_then(|i| Some(x.get(i)? * y[k]));
        let check = |found: Vec<T>, from: usize, count: usize| {
            assert_eq!(found.len(), count);
            for (at, found) in (from..).zip(found) {
                near(found, (0..n).filter_map(|k| term(at, k)));
            }
        };
        let full = a.convolve(&b, Mode::Full(Border::Zero)).to_vec().unwrap();
        check(full, 0, m + n - 1);
        let [full] = convolve_full().call([&a, &b]).eval().unwrap();
        check(full.to_vec().unwrap(), 0, m + n - 1);
        if n <= m {
            check(a.convolve(&b, Mode::Valid).to_vec().unwrap(), n - 1, m - n + 1);
            let [valid] = convolve_valid().call([&a, &b]).eval().unwrap();
            check(valid.to_vec().unwrap(), n - 1, m - n + 1);
        }
        let own = noise::<T>(&mut random, &[m]);
        let [sum] = inner1d().call([&a, &own]).eval().unwrap();
        near(sum.item().unwrap(), x.iter().zip(doubles(&own)).map(|(x, y)| x * y));
    }
}

#[test]
fn products_of_sequences_are_rounded_once() {
    check_sequences::<f16>(6);
    check_sequences::<bf16>(7);
}

/// Calls side by side, calls of long vectors, and calls one by one.
#[test]
fn inner_products_of_columns_are_those_of_rows() {
    let mut random = Random(8);
    for (count, n) in [(70, 20), (70, 33), (3, 600)] {
        let a = noise::<f16>(&mut random, &[count, n]);
        let [rows] = inner1d().call([&a, &a]).eval().unwrap();
        let [columns] = inner1d().call([&turned(&a), &turned(&a)]).eval().unwrap();
        assert_eq!(rows.to_vec().unwrap(), columns.to_vec().unwrap());
        for (row, found) in doubles(&a).chunks_exact(n).zip(rows.to_vec().unwrap()) {
            near(found, row.iter().map(|x| x * x));
        }
    }
}

/// Products and sums of distances that are no normal halves.
#[test]
fn derivatives_of_halves_keep_their_digits() {
    let halves = |data: &[f64]| data.iter().map(|&x| f16::from_f64(x)).collect::<Vec<_>>();
    let t = |data: &[f64]| Tensor::from(halves(data)).lazy();
    let edges = EdgeOrder::First;
    let slopes = t(&[0.0, 200.0, 400.0]).derivative(0, halves(&[0.0, 200.0, 400.0]), edges);
    assert_eq!(slopes.to_vec().unwrap(), halves(&[1.0; 3]));
    let bend = t(&[0.0, 30000.0, 0.0]).second_derivative(0, f16::from_f64(256.0));
    assert_eq!(bend.to_vec().unwrap(), halves(&[-60000.0 / 65536.0; 3]));
    let bend = t(&[0.0, 30000.0, 0.0]).second_derivative(0, halves(&[0.0, 256.0, 512.0]));
    assert_eq!(bend.to_vec().unwrap(), halves(&[-60000.0 / 65536.0; 3]));
    let slopes = t(&[0.0, 1000.0, 2000.0]).derivative(0, f16::from_f64(40000.0), edges);
    assert_eq!(slopes.to_vec().unwrap(), halves(&[0.025; 3]));
    // Differences that are no halves, of one distance, along a line and across lines.
    for shape in [[1, 3], [3, 1]] {
        let along = usize::from(shape[0] == 1);
        let far = t(&[-40000.0, 0.0, 40000.0]).reshape(shape).unwrap();
        let slopes = far.view().derivative(along, halves(&[0.0, 1.0, 2.0]), edges);
        assert_eq!(slopes.to_vec().unwrap(), halves(&[40000.0; 3]));
        let slopes = far.derivative(along, f16::from_f64(3.0), edges);
        assert_eq!(slopes.to_vec().unwrap(), halves(&[40000.0 / 3.0; 3]));
        let peak = t(&[0.0, 40000.0, 0.0]).reshape(shape).unwrap();
        for distance in [128.0, 192.0, 256.0] {
            let bend = peak.view().second_derivative(along, f16::from_f64(distance));
            assert_eq!(bend.to_vec().unwrap(), halves(&[-80000.0 / distance / distance; 3]));
        }
    }

    let mut random = Random(9);
    for scale in [0.000_25, 0.5, 100.0, 300.0] {
        let mut at = 0;
        let x: Vec<f64> = (0..40)
            .map(|_| {
                at += 1 + random.below(4);
                f16::from_f64(at as f64 * scale).to_f64()
            })
            .collect();
        let y: Vec<f64> = (0..40).map(|_| random.below(4) as f64).collect();
        let found = t(&y).derivative(0, halves(&x), edges).to_vec().unwrap();
        for k in 1..39 {
            let (a, b) = (x[k] - x[k - 1], x[k + 1] - x[k]);
            let weights = [-b / a / (a + b), 1.0 / a - 1.0 / b, a / b / (a + b)];
            let terms = weights.iter().zip(&y[k - 1..]).map(|(w, y)| w * y);
            let (sum, size) = terms.fold((0.0, 0.0), |(sum, size), x| (sum + x, size + x.abs()));
            let error = (found[k].to_f64() - sum).abs();
            assert!(error <= size * 0.005 + 1e-6, "{scale} {k}: {} for {sum}", found[k]);
        }
    }
}
