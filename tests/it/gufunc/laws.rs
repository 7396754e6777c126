//! What gufuncs have in common with other operations, and what each call sees.

use super::operands::Source;
use crate::support::{Random, pool};
use crate::views::{Plain, bits};
use lensor::arbitrary::{Aligned, Viewed};
use lensor::gufunc::{Args, Core, CoreMut, Elementary, ElementaryError, Gufunc};
use lensor::gufunc::{argsort, cumulative, inner1d, matmul, minmax, sort};
use lensor::prelude::*;
use lensor::reduce::Sum;
use quickcheck::quickcheck;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Numbers of many magnitudes, so that another order of additions gives other bits.
fn floats(viewed: &Viewed<i16>) -> Viewed<f64> {
    let number =
        |x: &i16| f64::from(*x) * [1.0, 1e-9, 1e9, -0.0][usize::from(x.unsigned_abs()) % 4];
    Viewed::new(viewed.chain().clone(), viewed.data().iter().map(number).collect()).unwrap()
}

fn same_bits(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| bits(*x) == bits(*y))
}

quickcheck! {
    /// A function without core axes is one of elements.
    fn scalar_signatures_are_zip_with(aligned: Aligned<i16, 2>) -> bool {
        let [a, b] = aligned.tensors();
        let f = |(x, y): (i16, i16)| x.wrapping_mul(3).wrapping_sub(y);
        let own = Gufunc::<[i16; 2], [i16; 1], _>::each("(),()->()", |[x, y], [mut out]| out[0] = f((x[0], y[0])));
        let [found] = own.unwrap().call([&a, &b]).eval().unwrap();
        let expected = lensor::zip_with((&a, &b), f).eval().unwrap();
        found.shape() == expected.shape() && found.to_vec() == expected.to_vec()
    }

    /// Along the last axis and any other, under any view.
    fn work_on_vectors_is_that_on_lanes(viewed: Viewed<i16>, choice: usize) -> bool {
        let viewed = floats(&viewed);
        let t = viewed.tensor();
        let Some(axis) = choice.checked_rem(t.rank()) else { return true };
        let along = axis as isize - if choice.is_multiple_of(3) { t.rank() as isize } else { 0 };
        let [sorted] = sort().call([&t]).axis(along).eval().unwrap();
        let (positions,) = argsort().call([&t]).axis(along).eval().unwrap();
        let (sums,) = cumulative(Sum).call([&t]).axis(along).eval().unwrap();
        let [products] = inner1d().call([&t, &t]).axis(along).eval().unwrap();
        let other = t.view().flip(axis).unwrap();
        let [kept] = inner1d().call((&t, &other)).axis(along).keepdims().eval().unwrap();
        // Sums of floats go in the order that `dot` has along the last axis.
        let to_end: Vec<usize> = (0..t.rank()).filter(|k| *k != axis).chain([axis]).collect();
        let moved = t.view().transpose(&to_end).unwrap();
        let flipped = other.view().transpose(&to_end).unwrap();
        let dot = moved.view().dot(&moved, t.rank() - 1).eval().unwrap();
        let order = SortOrder::Ascending;
        assert!(same_bits(&sorted.to_vec().unwrap(), &t.sort(axis, order).eval().unwrap().to_vec().unwrap()));
        assert_eq!(positions.to_vec(), t.argsort(axis, order).eval().unwrap().to_vec());
        assert!(same_bits(&sums.to_vec().unwrap(), &t.cumsum(axis).eval().unwrap().to_vec().unwrap()));
        assert_eq!(products.shape(), dot.shape());
        let (found, expected) = (products.to_vec().unwrap(), dot.to_vec().unwrap());
        assert!(same_bits(&found, &expected), "{:?} along {axis}: {found:?} {expected:?} {:?}", t.shape(), t.to_vec());
        let dot = moved.view().dot(&flipped, t.rank() - 1).eval().unwrap();
        same_bits(&kept.to_vec().unwrap(), &dot.to_vec().unwrap())
            && kept.shape() == t.view().slice(axis, 0..1.min(t.shape()[axis])).unwrap().shape()
            || t.shape()[axis] == 0
    }

    /// Axes that are named are axes that were moved to the end before, and back after.
    fn axes_are_moved_views(seed: u64) -> bool {
        let mut random = Random(seed);
        let side = random.below(4);
        let order = |random: &mut Random| {
            // Two core axes last, in any order; the others before them, in theirs.
            let mut order: Vec<usize> = (0..4).collect();
            random.shuffle(&mut order);
            order[..2].sort();
            order
        };
        let (from, to) = (order(&mut random), order(&mut random));
        let mut shape = vec![side; 4];
        from[..2].iter().for_each(|axis| shape[*axis] = random.below(4));
        let source = Source::random(&shape, false, &mut random);
        let (whole, moved) = (source.expr(), source.expr().transpose(&from).unwrap());
        let core = [from[2] as isize - 4, from[3] as isize];
        let result = [to[2] as isize, to[3] as isize - 4];
        let [found] = matmul().call([&whole, &whole]).axes([core, core, result]).eval().unwrap();
        let [plain] = matmul().call([&moved, &moved]).eval().unwrap();
        let mut back = vec![0; 4];
        to.iter().enumerate().for_each(|(k, axis)| back[*axis] = k);
        let plain = plain.view().transpose(&back).unwrap();
        found.shape() == plain.shape() && found.to_vec() == plain.to_vec()
    }

    /// One that was called before, with other shapes, axes, masks and destinations, answers as a new one does.
    fn calls_do_not_depend_on_those_before(seed: u64) -> bool {
        let mut random = Random(seed);
        let signatures = ["(n|1),(n|1)->(n)", "(n),(n)->()", "(n?),(n?)->()", "(n),()->(m)", "(n),(m)->(n+m)"];
        let signature = signatures[random.below(signatures.len())];
        let new = || {
            let made = Gufunc::<[i64; 2], [i64; 1], _>::each(signature, |[a, b], [mut out]| {
                let value = a.iter().chain(b.iter()).sum();
                out.iter_mut().for_each(|slot| *slot = value);
            });
            made.unwrap()
        };
        let shape = |random: &mut Random| {
            let rank = random.below(3);
            (0..rank).map(|_| 1 + random.below(2)).collect::<Shape>()
        };
        let same = new();
        (0..30).all(|_| {
            let operands = [shape(&mut random), shape(&mut random)];
            let operands = operands.map(|shape| Tensor::from_fn(shape, |k| k as i64).unwrap());
            let outs = [shape(&mut random)];
            let (choice, outs) = (random.below(9), (random.below(2) == 0).then_some(&outs[..]));
            let (axis, mask) = (random.below(4) as isize - 2, random.below(2) == 0);
            let all = |gufunc: &Gufunc<_, _, _>| {
                let call = gufunc.call(operands.each_ref());
                let call = match choice {
                    0 => call.axis(axis),
                    1 => call.keepdims(),
                    2 => call.axes([[axis], [0], [0]]),
                    3 => call.or([5]),
                    _ => call,
                };
                let asked = (call.shapes_for(outs), call.shapes());
                let shape = outs.map_or(&[][..], |outs| &outs[0][..]);
                let mut out = Tensor::full(shape, 7).unwrap();
                let assigned = call.assign_to([&mut out]);
                let called = if choice < 5 {
                    call.eval()
                } else {
                    call.filter(Tensor::full([1; 0], mask).unwrap()).or([9]).eval()
                };
                (asked, assigned, out.to_vec(), called.map(|[result]| (result.shape(), result.to_vec())))
            };
            all(&same) == all(&new())
        })
    }
}

/// What is asked for extents may give others for the same shapes.
#[test]
fn extents_are_asked_for_at_every_call() {
    let next = AtomicUsize::new(1);
    let made = Gufunc::<[i64; 1], [i64; 1], _>::each("(n)->(p)", |[x], [mut out]| {
        out.iter_mut().for_each(|slot| *slot = x[0]);
    });
    let gufunc = made.unwrap().with_extents(move |dims| dims.set("p", next.fetch_add(1, Relaxed)));
    let t = Tensor::from(vec![3, 4]);
    for extent in 1..4 {
        let [found] = gufunc.call([&t]).eval().unwrap();
        assert_eq!(found.to_vec().unwrap(), vec![3; extent]);
    }
}

/// Sums in the order of `dot`, of any length, and products as those of `linalg`.
#[test]
fn products_have_the_bits_of_dot_and_matmul() {
    let mut random = Random(5);
    let mut number = |_| (random.below(1 << 20) as f64 - 5e5) * [1.0, 1e-9, 1e9][random.below(3)];
    for n in [
        0, 1, 2, 3, 31, 32, 33, 63, 64, 65, 100, 511, 512, 513, 700, 1023, 1024, 1025, 3000, 20_000,
    ] {
        let data: Vec<f64> = (0..6 * n).map(&mut number).collect();
        let a = Tensor::from_vec([3, n], data[..3 * n].to_vec()).unwrap();
        let b = Tensor::from_vec([3, n], data[3 * n..].to_vec()).unwrap();
        let columns = Tensor::from_vec([n, 3], data[..3 * n].to_vec()).unwrap();
        let turned = columns.view().transpose([1, 0]).unwrap();
        for (k, left) in [a.boxed(), turned.boxed(), (&a * 1.0).boxed()].iter().enumerate() {
            let [found] = inner1d().call([left.clone(), b.boxed()]).eval().unwrap();
            let expected = left.dot(&b, 1).eval().unwrap();
            assert!(same_bits(&found.to_vec().unwrap(), &expected.to_vec().unwrap()), "{n} {k}");
        }
    }
    // Calls whose elements are neighbours: whole groups of them, and a part.
    for (n, calls) in [1, 31, 33, 100, 511, 513].into_iter().flat_map(|n| [(n, 64), (n, 130)]) {
        let mut turned = || {
            let data = (0..n * calls).map(&mut number).collect();
            let columns = Tensor::from_vec([n, calls], data).unwrap();
            columns.transpose([1, 0]).unwrap()
        };
        let (a, b) = (turned(), turned());
        let plain = b.eval().unwrap();
        let expected = a.dot(&b, 1).eval().unwrap().to_vec().unwrap();
        let [together] = inner1d().call([&a, &b]).eval().unwrap();
        let [mixed] = inner1d().call((&a, &plain)).eval().unwrap();
        assert!(same_bits(&together.to_vec().unwrap(), &expected), "{n} {calls}");
        assert!(same_bits(&mixed.to_vec().unwrap(), &expected), "{n} {calls}");
    }
    for [s, m, k, n] in
        [[2, 3, 4, 5], [1, 0, 3, 2], [3, 2, 0, 4], [2, 1, 1, 1], [4, 8, 8, 8], [1, 40, 33, 50]]
    {
        let data: Vec<f64> = (0..s * (m * k + k * n)).map(&mut number).collect();
        let a = Tensor::from_vec([s, m, k], data[..s * m * k].to_vec()).unwrap();
        let b = Tensor::from_vec([s, k, n], data[s * m * k..].to_vec()).unwrap();
        let [found] = matmul().call([&a, &b]).eval().unwrap();
        let expected = a.matmul(&b).eval().unwrap();
        assert_eq!(found.shape(), expected.shape());
        assert!(
            same_bits(&found.to_vec().unwrap(), &expected.to_vec().unwrap()),
            "{:?}",
            [s, m, k, n]
        );
        // A vector on the left, then on the right.
        let (row, column) = (Tensor::full([m], 0.3).unwrap(), Tensor::full([n], 0.7).unwrap());
        let [left] = matmul().call((&row, &a)).eval().unwrap();
        let [right] = matmul().call((&b, &column)).eval().unwrap();
        assert_eq!(left.shape(), [s, k]);
        assert_eq!(right.shape(), [s, k]);
        assert!(same_bits(
            &left.to_vec().unwrap(),
            &row.matmul(&a).eval().unwrap().to_vec().unwrap()
        ));
        assert!(same_bits(
            &right.to_vec().unwrap(),
            &b.matmul(&column).eval().unwrap().to_vec().unwrap()
        ));
    }
}

/// Writes down what a loop in the manner of C is given.
#[derive(Default)]
struct Seen(Mutex<Vec<(Vec<usize>, Vec<isize>)>>);

impl Elementary<[f64; 2], [f64; 1]> for &Seen {
    const STRIDED: bool = true;

    fn call<'c>(
        &self,
        _: [Core<'c, f64>; 2],
        _: [CoreMut<'c, f64>; 1],
    ) -> Result<(), ElementaryError> {
        Err("not one by one".into())
    }

    fn run(&self, args: &mut Args<'_, [f64; 2], [f64; 1]>) -> Result<(), (usize, ElementaryError)> {
        args.check().map_err(|error| (0, error.into()))?;
        self.0.lock().unwrap().push((args.dimensions.to_vec(), args.steps.to_vec()));
        Ok(())
    }
}

/// NumPy's example: `(i,j),(i)->()` over N gets `[N, I, J]` and `[a_N, b_N, c_N, a_i, a_j, b_i]`.
#[test]
fn loops_in_the_manner_of_c() {
    let seen = Seen::default();
    let gufunc = Gufunc::of("(i,j),(i)->()", &seen).unwrap();
    let run = |a: Tensor<&Vec<f64>>, b: Tensor<&Vec<f64>>| {
        gufunc.call([a, b]).eval().unwrap();
        std::mem::take(&mut *seen.0.lock().unwrap())
    };
    let (a, b) = (Tensor::full([4, 2, 3], 1.0).unwrap(), Tensor::full([4, 2], 1.0).unwrap());
    assert_eq!(run(a.view(), b.view()), [(vec![4, 2, 3], vec![6, 2, 1, 3, 1, 1])]);
    // Transposed, flipped, every other one; an operand that stretches steps 0.
    let turned = Tensor::full([3, 2, 4], 1.0).unwrap();
    let turned = turned.view().transpose([2, 1, 0]).unwrap();
    let flipped = b.view().flip(1).unwrap();
    assert_eq!(run(turned, flipped.clone()), [(vec![4, 2, 3], vec![1, 2, 1, 4, 8, -1])]);
    let one = b.view().slice(0, 2..3).unwrap();
    let every = Tensor::full([8, 2, 3], 1.0).unwrap();
    let every = every.view().select([Select::Range { start: 7, stop: None, step: -2 }]).unwrap();
    assert_eq!(run(every, one), [(vec![4, 2, 3], vec![-12, 0, 1, 3, 1, 1])]);
    // Two loop axes that are one for all operands are one.
    let (a, b) = (Tensor::full([2, 5, 2, 3], 1.0).unwrap(), Tensor::full([2, 5, 2], 1.0).unwrap());
    assert_eq!(run(a.view(), b.view()), [(vec![10, 2, 3], vec![6, 2, 1, 3, 1, 1])]);
    // Empty cores are called, with a step for each all the same.
    let (a, b) = (Tensor::full([4, 2, 0], 1.0).unwrap(), Tensor::full([4, 2], 1.0).unwrap());
    let [(dimensions, steps)] = &run(a.view(), b.view())[..] else { panic!("several blocks") };
    assert_eq!((&dimensions[..], steps[1]), (&[4, 2, 0][..], 2));
}

/// Cores of outputs are full of defaults before each call, wherever results go.
#[test]
fn cores_are_cleared_before_each_call() {
    let gufunc = Gufunc::<[i64; 1], [i64; 2], _>::each("(n)->(n),()", |[x], [mut a, mut b]| {
        assert!(a.iter().chain(b.iter()).all(|x| *x == 0), "{a:?} {b:?}");
        // Some elements are written, others are not.
        let k = x[0] as usize % a.len();
        a[k] += x[0];
        b[0] += k as i64;
    })
    .unwrap();
    let count = 3000;
    let t = Tensor::from_vec([count, 7], (0..7 * count as i64).collect()).unwrap();
    let [a, b] = gufunc.call([&t]).eval().unwrap();
    let (mut c, mut d) =
        (Tensor::full([count, 7], -1).unwrap(), Tensor::full([count], -1).unwrap());
    for _ in 0..2 {
        gufunc.call([&t]).assign_to([&mut c, &mut d]).unwrap();
        assert!(a.to_vec() == c.to_vec() && b.to_vec() == d.to_vec());
    }
    let mut e = Tensor::full([7, count], -1).unwrap().transpose([1, 0]).unwrap();
    let mut f = Tensor::new([count], crate::views::Slots::new(&vec![-1; count])).unwrap();
    gufunc
        .call((Tensor::new([count, 7], Plain(t.to_vec().unwrap())).unwrap(),))
        .assign_to((&mut e, &mut f))
        .unwrap();
    assert!(a.to_vec() == e.to_vec() && b.to_vec() == f.to_vec());
}

/// Empty loops call nothing, empty cores are called, and operands may be none or scalars.
#[test]
fn empty_loops_cores_and_lists() {
    let calls = AtomicUsize::new(0);
    let product = Gufunc::<[i64; 2], [i64; 1], _>::each("(m,n),(n)->(m)", |[a, b], [mut out]| {
        calls.fetch_add(1, Relaxed);
        assert_eq!([a.shape().len(), b.shape().len(), out.shape().len()], [2, 1, 1]);
        out.fill(5);
    })
    .unwrap();
    let of = |shape: &[usize]| Tensor::full(shape.to_vec(), 1_i64).unwrap();
    let run = |a: &[usize], b: &[usize]| {
        let [out] = product.call([&of(a), &of(b)]).eval().unwrap();
        (out.shape().to_vec(), out.to_vec().unwrap(), calls.swap(0, Relaxed))
    };
    assert_eq!(run(&[0, 2, 3], &[3]), (vec![0, 2], vec![], 0));
    assert_eq!(run(&[0, 2, 3], &[4, 1, 3]), (vec![4, 0, 2], vec![], 0));
    assert_eq!(run(&[2, 2, 0], &[0]), (vec![2, 2], vec![5; 4], 2));
    assert_eq!(run(&[3, 0, 0], &[0]), (vec![3, 0], vec![], 3));
    assert_eq!(run(&[3, 0, 2], &[1, 2]), (vec![3, 0], vec![], 3));
    assert!(product.call([&of(&[0, 2, 3]), &of(&[4])]).eval().is_err());
    let mut wrong = of(&[0, 3]);
    assert!(product.call([&of(&[0, 2, 3]), &of(&[3])]).assign_to(&mut wrong).is_err());

    let count = Gufunc::<[i64; 0], [i64; 1], _>::each("->(n)", |[], [mut out]| {
        (0..).zip(out.iter_mut()).for_each(|(k, x)| *x = k);
    })
    .unwrap();
    let mut out = of(&[4]);
    count.call(()).assign_to(&mut out).unwrap();
    assert_eq!(out.to_vec().unwrap(), [0, 1, 2, 3]);
    assert_eq!(count.call(()).eval().unwrap_err(), Error::CoreUnknown { dim: "n".into() });
    let five = count.with_extents(|dims| dims.set("n", 5));
    assert_eq!(five.call(()).eval().unwrap()[0].to_vec().unwrap(), [0, 1, 2, 3, 4]);

    let line =
        Gufunc::<(f64, i32, f64), (f64,), _>::each("(),(),()->()", |(a, n, b), (mut out,)| {
            out[0] = a[0] * f64::from(n[0]) + b[0];
        })
        .unwrap();
    let t = Tensor::from(vec![1, 2, 3]);
    let (found,) = line.call((2.0, &t, 0.5)).eval().unwrap();
    assert_eq!(found.to_vec().unwrap(), [2.5, 4.5, 6.5]);
    assert_eq!(line.call((2.0, 3, 0.5)).eval().unwrap().0.item().unwrap(), 6.5);
}

/// Several outputs are computed by one call of the gufunc within one evaluation, whoever reads them.
#[test]
fn outputs_share_one_computation() {
    let calls = AtomicUsize::new(0);
    let gufunc =
        Gufunc::<[i64; 1], (i64, f64), _>::each("(n)->(),(n)", |[x], (mut sum, mut halves)| {
            calls.fetch_add(1, Relaxed);
            sum[0] = x.iter().sum();
            halves.iter_mut().zip(x.iter()).for_each(|(half, x)| *half = *x as f64 / 2.0);
        })
        .unwrap();
    let t = Tensor::from_vec([5, 3], (0..15).collect::<Vec<i64>>()).unwrap();
    let (sum, halves) = gufunc.call([&t]).outputs();
    let both = halves.lazy() + sum.lazy().cast::<f64>().insert_axis(1).unwrap();
    let found = both.eval().unwrap().to_vec().unwrap();
    assert_eq!(calls.swap(0, Relaxed), 5);
    assert_eq!(found[..4], [3.0, 3.5, 4.0, 13.5]);
    assert_eq!(both.eval().unwrap().to_vec().unwrap(), found);
    assert_eq!(calls.swap(0, Relaxed), 5);
    let [least, most] = minmax().call([&t]).outputs();
    let spread = (&most - &least) * (&least + &most);
    assert_eq!(spread.eval().unwrap().to_vec().unwrap(), [4, 16, 28, 40, 52]);
}

#[test]
fn panics_pass() {
    let t = Tensor::full([40, 3], 1_i64).unwrap();
    let gufunc =
        Gufunc::<[i64; 1], [i64; 1], _>::each("(n)->()", |[x], [_]| assert!(x[0] != 1, "own"))
            .unwrap();
    let panicked = |f: &dyn Fn()| {
        let payload = catch_unwind(AssertUnwindSafe(f)).unwrap_err();
        assert_eq!(payload.downcast_ref::<&str>(), Some(&"own"));
    };
    panicked(&|| drop(gufunc.call([&t]).eval()));
    panicked(&|| drop(gufunc.call([&t]).lazy().eval()));
    panicked(&|| drop(gufunc.call([&t]).assign_to(&mut Tensor::full([40], 0).unwrap())));
    let large = Tensor::full([100_000, 3], 1_i64).unwrap();
    pool(2).install(|| panicked(&|| drop(gufunc.call([&large]).eval())));
}
