//! Sums of products by subscripts, held against loops over the values of all letters.

use crate::support::Random;
use lensor::error::SubscriptsFlaw;
use lensor::linalg::{Linalg, einsum};
use lensor::prelude::*;
use lensor::scan::Scan;
use lensor::storage::{Constant, Duplicates};
use std::collections::BTreeMap;

/// A case: the names of all axes, those of ellipses being digits, and extents by name.
struct Case {
    subscripts: String,
    terms: Vec<Vec<char>>,
    shapes: Vec<Vec<usize>>,
    result: Vec<char>,
    extents: BTreeMap<char, usize>,
}

impl Case {
    fn random(random: &mut Random) -> Self {
        let mut extents: BTreeMap<char, usize> = BTreeMap::new();
        for letter in "abXd".chars() {
            let extent = if random.below(12) == 0 { 0 } else { 1 + random.below(3) };
            extents.insert(letter, extent);
        }
        let ellipsis = random.below(3);
        for axis in ['0', '1'].into_iter().take(ellipsis) {
            extents.insert(axis, 1 + random.below(3));
        }
        let (mut terms, mut shapes, mut names) = (Vec::new(), Vec::new(), Vec::new());
        let mut used = 0;
        for _ in 0..1 + random.below(4) {
            let letter = |random: &mut Random| ['a', 'b', 'X', 'd'][random.below(4)];
            let before: Vec<char> = (0..random.below(3)).map(|_| letter(random)).collect();
            let after: Vec<char> = (0..random.below(2)).map(|_| letter(random)).collect();
            // Ellipses are aligned at their ends.
            let own = random.below(ellipsis + 1);
            used = used.max(own);
            let dots: Vec<char> = ['0', '1'][..ellipsis][ellipsis - own..].to_vec();
            let shown = if own > 0 || random.below(4) == 0 { " ... " } else { "" };
            names.push(format!("{}{shown}{}", text(&before), text(&after)));
            let extent = |name: &char| match extents[name] {
                extent if name.is_ascii_digit() && random.below(3) == 0 => extent.min(1),
                extent => extent,
            };
            let term = [before, dots, after].concat();
            shapes.push(term.iter().map(extent).collect::<Vec<_>>());
            terms.push(term);
        }
        let dots: Vec<char> = ['0', '1'][..ellipsis][ellipsis - used..].to_vec();
        for &axis in &dots {
            let all = terms.iter().zip(&shapes).flat_map(|(term, shape)| term.iter().zip(shape));
            let extent = all.filter(|(name, _)| **name == axis).map(|(_, extent)| *extent).max();
            extents.insert(axis, extent.unwrap());
        }
        let mut letters: Vec<char> = terms.concat();
        letters.retain(|name| name.is_alphabetic());
        letters.sort();
        let (result, subscripts) = if random.below(3) == 0 {
            let once = |name: &char| letters.iter().filter(|other| *other == name).count() == 1;
            let single = letters.iter().copied().filter(once).collect();
            ([dots, single].concat(), names.join(","))
        } else {
            letters.dedup();
            random.shuffle(&mut letters);
            letters.truncate(random.below(letters.len() + 1));
            let (before, after) = letters.split_at(random.below(letters.len() + 1));
            let shown = if used > 0 { "..." } else { "" };
            let names = format!("{} ->{}{shown}{}", names.join(", "), text(before), text(after));
            ([before, &dots, after].concat(), names)
        };
        Self { subscripts, terms, shapes, result, extents }
    }

    /// The result, by a loop over the values of all letters.
    fn expected(&self, operands: &[Vec<i64>]) -> (Vec<usize>, Vec<i64>) {
        let used: Vec<char> =
            self.extents.keys().copied().filter(|k| self.terms.concat().contains(k)).collect();
        let shape: Vec<usize> = self.result.iter().map(|name| self.extents[name]).collect();
        let mut out = vec![0; shape.iter().product()];
        let total: usize = used.iter().map(|name| self.extents[name]).product();
        for mut number in 0..total {
            let mut digits = BTreeMap::new();
            for &name in &used {
                digits.insert(name, number % self.extents[&name]);
                number /= self.extents[&name];
            }
            let position = |names: &[char], shape: &[usize]| {
                names.iter().zip(shape).fold(0, |position, (name, &extent)| {
                    position * extent + if extent == 1 { 0 } else { digits[name] }
                })
            };
            let all = self.terms.iter().zip(&self.shapes).zip(operands);
            let product: i64 =
                all.map(|((names, shape), data)| data[position(names, shape)]).product();
            out[position(&self.result, &shape)] += product;
        }
        (shape, out)
    }
}

fn text(letters: &[char]) -> String {
    letters.iter().collect()
}

/// The same elements behind one of several disguises.
fn disguised<'a>(random: &mut Random, t: &'a Tensor<Vec<i64>>) -> BoxExpr<'a, i64> {
    match random.below(5) {
        0 => (t - 0).boxed(),
        1 if t.rank() > 0 => {
            let differences = t.view().rotate(vec![0; t.rank()]).unwrap();
            differences.lazy().boxed()
        }
        2 if t.rank() > 1 => {
            let turned = t.view().swap_axes(0, 1).unwrap().eval().unwrap();
            turned.swap_axes(0, 1).unwrap().lazy().boxed()
        }
        3 if t.rank() > 0 => {
            let last = t.rank() - 1;
            let once = t.view().insert_axis(last + 1).unwrap().lazy().cumsum(last + 1);
            once.remove_axis(last + 1).unwrap().boxed()
        }
        4 if !t.is_empty() => {
            let indexes: Vec<usize> = (0..t.len()).collect();
            let storage =
                lensor::storage::Sparse::from_sorted(t.len(), 0, indexes, t.to_vec().unwrap());
            Tensor::new(t.shape(), storage.unwrap()).unwrap().lazy().boxed()
        }
        _ => t.view().lazy().boxed(),
    }
}

#[test]
fn sums_of_products_are_those_of_a_loop() {
    let mut random = Random(11);
    for _ in 0..1500 {
        let case = Case::random(&mut random);
        let data: Vec<Vec<i64>> = case
            .shapes
            .iter()
            .map(|shape| (0..shape.iter().product()).map(|_| random.below(7) as i64 - 3).collect())
            .collect();
        let (shape, expected) = case.expected(&data);
        let all = case.shapes.iter().zip(&data);
        let tensors: Vec<Tensor<Vec<i64>>> =
            all.map(|(shape, data)| Tensor::from_vec(&shape[..], data.clone()).unwrap()).collect();
        let operands: Vec<_> = tensors.iter().map(|t| disguised(&mut random, t)).collect();
        let sum = einsum(&case.subscripts, operands);
        let why = format!("{:?} of {:?}", case.subscripts, case.shapes);
        assert_eq!(sum.shape().unwrap_or_else(|e| panic!("{why}: {e}")), shape[..], "{why}");
        assert_eq!(sum.to_vec().unwrap(), expected, "{why}");
        let mut out = Tensor::full(&shape[..], 7).unwrap();
        sum.assign_to(&mut out).unwrap();
        assert_eq!((&out - &sum).to_vec().unwrap(), vec![0; expected.len()], "{why}");
        assert_eq!(out.to_vec().unwrap(), expected, "{why}");
        sum.explain().unwrap();
    }
}

#[test]
fn it_gives_what_products_by_name_give() {
    let mut random = Random(5);
    let mut tensor = |shape: &[usize]| {
        let count = shape.iter().product();
        let data = (0..count).map(|_| random.below(1000) as f64 / 7.0).collect();
        Tensor::from_vec(shape, data).unwrap()
    };
    let (a, b) = (tensor(&[30, 40]), tensor(&[40, 50]));
    let product = a.matmul(&b).to_vec().unwrap();
    assert_eq!(einsum("ij,jk->ik", (&a, &b)).to_vec().unwrap(), product);
    assert_eq!(einsum("ij,jk", [&a, &b]).to_vec().unwrap(), product);
    let turned = einsum("ij,jk->ki", (&a, &b)).eval().unwrap();
    assert_eq!(turned.transpose([1, 0]).unwrap().to_vec().unwrap(), product);
    let (s, t) = (tensor(&[6, 1, 20, 30]), tensor(&[5, 30, 20]));
    let stacks = einsum("...ij,...jk->...ik", (&s, &t));
    assert_eq!(stacks.shape().unwrap(), [6, 5, 20, 20]);
    let (stacks, expected) = (stacks.to_vec().unwrap(), s.matmul(&t).to_vec().unwrap());
    assert!(stacks.iter().zip(&expected).all(|(x, y)| (x - y).abs() < 1e-9 * y.abs()));
    let outer = a.view().select((0,)).unwrap().outer(b.view().select((1,)).unwrap());
    let rows = (a.view().select((0,)).unwrap(), b.view().select((1,)).unwrap());
    assert_eq!(einsum("i,j->ij", rows).to_vec().unwrap(), outer.to_vec().unwrap());
    // As an operand, and in an update.
    let trace = einsum("ii", [a.view().select((.., ..30)).unwrap()]);
    let mut one = Tensor::full([], 1.0).unwrap();
    one += &trace;
    assert_eq!(one.item().unwrap(), trace.item().unwrap() + 1.0);
}

/// Pairs are taken so that what is kept on the way is small, and said so.
#[test]
fn pairs_are_taken_by_the_size_of_their_result() {
    let (big, x) = (Tensor::full([50, 60], 1_i32).unwrap(), Tensor::full([60], 2).unwrap());
    let chain = einsum(
        "ij,jk,k",
        [
            big.view().lazy().boxed(),
            (&big * 1).transpose([1, 0]).unwrap().boxed(),
            x.view().slice(0, 0..50).unwrap().lazy().boxed(),
        ],
    );
    assert_eq!(chain.to_vec().unwrap(), vec![6000; 50]);
    let text = chain.explain().unwrap().to_string();
    assert!(text.contains("step 1: product, 1 of 60 x 50 times 50 x 1, to [60]"), "{text}");
    assert!(text.contains("step 2: product, 1 of 50 x 60 times 60 x 1, to [50]"), "{text}");
    let text = einsum("ij->j", [&big]).explain().unwrap().to_string();
    assert!(text.contains("step 1: product, sum over 50 elements, to [60]"), "{text}");
    assert!(text.starts_with("sum of products of i32 [[50, 60]] to [60]"), "{text}");
    let text = einsum("ij->ji", [&big]).explain().unwrap().to_string();
    assert!(text.contains("copied: nothing is summed"), "{text}");
}

#[test]
fn any_storage_and_empty_sums_are_operands() {
    let indexes = [[0, 2], [1, 0]];
    let s = Tensor::from_coordinates([2, 3], 0, &indexes, vec![5, 6], Duplicates::Refuse).unwrap();
    let c = Tensor::new([3], Constant::new(3, 2)).unwrap();
    assert_eq!(einsum("ij,j->i", (&s, &c)).to_vec().unwrap(), [10, 12]);
    assert_eq!(einsum("ij,,j->i", (&s, 10, &c)).to_vec().unwrap(), [100, 120]);
    let none = Tensor::<Vec<i32>>::full([2, 0], 1).unwrap();
    assert_eq!(einsum("ij,kj->ik", (&none, &none)).to_vec().unwrap(), [0; 4]);
    assert_eq!(einsum("ij->i", (&none,)).to_vec().unwrap(), [0; 2]);
    assert_eq!(einsum("ij->ji", (&none,)).eval().unwrap().shape(), [0, 2]);
    assert_eq!(einsum("", [Tensor::full([], 3).unwrap()]).item().unwrap(), 3);
}

/// Where an axis that is summed over has no elements there are no products, not even of what is no number.
#[test]
fn sums_of_no_products_are_zero() {
    let none = Tensor::from(Vec::<f64>::new());
    let odd = Tensor::from(vec![f64::NAN, f64::INFINITY, 1.0]);
    assert_eq!(einsum("i,j->j", (&none, &odd)).to_vec().unwrap(), [0.0; 3]);
    assert_eq!(einsum("j,i->j", (&odd, &none)).to_vec().unwrap(), [0.0; 3]);
    assert_eq!(einsum("i,j->", (&none, &odd)).item().unwrap(), 0.0);
    let four = Tensor::from_vec([0, 1, 1, 3], Vec::<f64>::new()).unwrap();
    let last = odd.view().reshape([3, 1]).unwrap();
    let sum = einsum("ijkl,lk->kl", (&four, &last));
    assert_eq!(sum.to_vec().unwrap(), [0.0; 3]);
    assert_eq!((&sum + 1.0).to_vec().unwrap(), [1.0; 3]);
    let turned = einsum("i,jk->kj", (&none, &last)).eval().unwrap();
    assert_eq!((turned.shape().to_vec(), turned.to_vec().unwrap()), (vec![1, 3], vec![0.0; 3]));
    // Nor is anything read.
    let faulty = 1 / Tensor::from(vec![0, 1]);
    let none = Tensor::from(Vec::<i32>::new());
    let sum = einsum("i,j->j", (&none, &faulty));
    assert_eq!(sum.to_vec().unwrap(), [0, 0]);
    let text = sum.explain().unwrap().to_string();
    assert!(text.contains("zeros: an axis that is summed over has no elements"), "{text}");
    // Nor computed, nor refused as too large.
    let none = Tensor::from(Vec::<i64>::new());
    let huge = Tensor::from_vec([2, 1], vec![i64::MAX, 1]).unwrap();
    let total = huge.sum(0);
    assert!(total.eval().is_err());
    let sum = einsum("i,j->j", (&none, &total));
    assert_eq!(sum.to_vec().unwrap(), [0]);
    assert_eq!((&sum + 1).to_vec().unwrap(), [1]);
    let sparse = Tensor::sparse([1 << 17, 1 << 17], 0_i64).unwrap();
    assert_eq!(einsum("i,jk->", (&none, &sparse)).item().unwrap(), 0);
    // An axis of the result without elements is none.
    assert_eq!(einsum("i,j->i", (&none, Tensor::from(vec![1_i64, 2]))).shape().unwrap(), [0]);
}

#[track_caller]
fn flawed(subscripts: &str, shapes: &[&[usize]], flaw: SubscriptsFlaw, text: &str) {
    let operands: Vec<_> = shapes.iter().map(|&shape| Tensor::full(shape, 1).unwrap()).collect();
    let error = einsum(subscripts, operands.iter().collect::<Vec<_>>()).eval().unwrap_err();
    assert_eq!(error, Error::Subscripts { subscripts: subscripts.into(), flaw });
    assert_eq!(error.to_string(), format!("subscripts {subscripts:?}: {text}"));
}

#[test]
fn subscripts_that_do_not_fit_say_why() {
    use SubscriptsFlaw::*;
    let m: &[usize] = &[2, 2];
    let expected = "expected a letter, `,`, `...` or one `->` at byte";
    let at = |at, found| format!("{expected} {at}, found {found:?}");
    flawed("i1", &[m], Character { at: 1, found: '1' }, &at(1, '1'));
    flawed("ij-k", &[m], Character { at: 2, found: '-' }, &at(2, '-'));
    flawed("ij->i->j", &[m], Character { at: 5, found: '-' }, &at(5, '-'));
    flawed("ij->i,j", &[m], Character { at: 5, found: ',' }, &at(5, ','));
    flawed("i..j", &[m], Character { at: 1, found: '.' }, &at(1, '.'));
    flawed("é", &[m], Character { at: 0, found: 'é' }, &at(0, 'é'));
    flawed("...i...", &[m], Ellipses { at: 4 }, "a second `...` begins at byte 4");
    let text = "there are 2 operands, and they name axes of 1";
    flawed("ij", &[m, m], Operands { terms: 1, operands: 2 }, text);
    let rank = |operand, letters, ellipsis| Rank { operand, letters, ellipsis, shape: m.into() };
    let text = "operand 2 has shape [2, 2], and its letters name 1 axes";
    flawed("ij,j", &[m, m], rank(2, 1, false), text);
    let text = "operand 1 has shape [2, 2], and its letters name at least 3 axes";
    flawed("i...jk", &[m], rank(1, 3, true), text);
    let text = "`k` of the result is in no operand";
    flawed("ij->ik", &[m], Unknown { label: 'k' }, text);
    flawed("ij->ii", &[m], Repeated { label: 'i' }, "`i` stands twice in the result");
    let text = "the result needs a `...` for the 1 axes that those of operands stand for";
    flawed("...i->i", &[m], NoEllipsis { axes: 1 }, text);
}

#[test]
fn shapes_that_do_not_fit_are_those_errors_of_other_operations() {
    let (a, b) = (Tensor::full([2, 3], 1).unwrap(), Tensor::full([2, 4], 1).unwrap());
    let error = einsum("ij,jk", (&a, &b)).shape().unwrap_err();
    assert_eq!(error, a.matmul(&b).shape().unwrap_err());
    let (left, right) = (vec![2, 3], vec![2, 3]);
    let error = einsum("ii", (&a,)).shape().unwrap_err();
    assert_eq!(error, Error::Contraction { left, right, left_axis: 0, right_axis: 1 });
    let error = einsum("...i,...i", (&a, Tensor::full([3, 3], 1).unwrap())).shape().unwrap_err();
    let (shape, so_far) = (vec![3], vec![2]);
    assert_eq!(error, Error::Operands { argument: 2, shape, so_far, axis: 0, left: false });
    // An operand's own error, of its shape and of its elements.
    let error = einsum("ij,ij", (&a + &b, &a)).eval().unwrap_err();
    assert!(matches!(error, Error::Operands { argument: 2, .. }));
    let error = einsum("ij,ij", (1 / (&a - 1), &a)).eval().unwrap_err();
    assert_eq!(error, Error::Arithmetic { index: vec![0, 0] });
    // At its index, whatever was made of the operand; the first, where there are several.
    let d = Tensor::from_nested([[1, 1, 1], [0, 0, 1]]).unwrap();
    let inverse = || Tensor::full([], 1).unwrap() / &d;
    for subscripts in ["ij,ij", "ij,ij->ji", "ij,kj->k", "ij,ij->i", "ij,kl->ijkl"] {
        let error = einsum(subscripts, (inverse().boxed(), d.view().lazy().boxed())).eval();
        assert_eq!(error.unwrap_err(), Error::Arithmetic { index: vec![1, 0] }, "{subscripts}");
        let error = einsum(subscripts, (d.view().lazy().boxed(), inverse().boxed())).eval();
        assert_eq!(error.unwrap_err(), Error::Arithmetic { index: vec![1, 0] }, "{subscripts}");
    }
    let error = einsum("ij->j", (inverse(),)).eval().unwrap_err();
    assert_eq!(error, Error::Arithmetic { index: vec![1, 0] });
    let huge = Tensor::full([], 1).unwrap().broadcast([1 << 40]).unwrap();
    let error = einsum("i,j->ij", (&huge, &huge)).shape().unwrap_err();
    assert_eq!(error, Error::ShapeOverflow { shape: vec![1 << 40; 2] });
    let deep = Tensor::full([], 1).unwrap().broadcast([1; 64]).unwrap();
    let error = einsum("...,a...->a...", (&deep, &deep)).shape().unwrap_err();
    assert_eq!(error, Error::RankLimit { rank: 65, limit: 64 });
    assert_eq!(einsum("...,...", (&deep, &deep)).shape().unwrap(), [1; 64]);
    // Matrices have two axes behind those of the stack.
    let error = einsum("...i,...i->...", (&deep, &deep)).shape().unwrap_err();
    assert_eq!(error, Error::RankLimit { rank: 65, limit: 64 });
    assert_eq!(einsum("...ij,...ij->...", (&deep, &deep)).to_vec(), Ok(vec![1]));
}

/// An infinite part makes a product with 1 NaN, a sum not.
#[cfg(feature = "complex")]
#[test]
fn sums_of_one_operand_multiply_nothing() {
    use num_complex::Complex64;
    let infinity = f64::INFINITY;
    for [m, k] in [[1, 2], [2, 1], [5, 3], [3, 70], [70, 3], [2, 600], [600, 2]] {
        let number = |i: &[usize]| {
            if i == [0, 0] { Complex64::new(infinity, 0.0) } else { Complex64::new(1.0, 2.0) }
        };
        let t = Tensor::from_index([m, k], number).unwrap();
        let turned = t.view().transpose([1, 0]).unwrap();
        let sum = |n: usize| Complex64::new(infinity, 2.0 * (n - 1) as f64);
        assert_eq!(einsum("ij->", (&t,)).item().unwrap(), sum(m * k));
        assert_eq!(einsum("ij->i", (&t,)).to_vec().unwrap()[0], sum(k));
        assert_eq!(einsum("ij->j", (&t,)).to_vec().unwrap()[0], sum(m));
        assert_eq!(einsum("ij->i", (&turned,)).to_vec().unwrap()[0], sum(m));
        assert_eq!(einsum("ij->j", (&turned,)).to_vec().unwrap()[0], sum(k));
    }
}
