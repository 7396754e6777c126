//! Trees of expressions: reuse, boxes, mixed types, views pushed down to the leaves.

use crate::model::Model;
use crate::views::{operations, view_of};
use lensor::arbitrary::{Aligned, Viewed};
use lensor::expr::align;
use lensor::prelude::*;
use quickcheck::quickcheck;

/// The elements of `data` at `shape` under all operations of a chain, by the model.
fn viewed_model<T: Clone>(
    shape: &Shape,
    data: Vec<T>,
    chain: &lensor::arbitrary::Chain,
) -> Model<T> {
    Model::new(shape, data).apply_all(chain)
}

quickcheck! {
    /// A view of an expression is the view of its result.
    fn views_of_expressions_are_views_of_results(operands: Aligned<i32>, seed: u64) -> bool {
        let [a, b] = operands.tensors();
        let chain = operations(seed, operands.joint(), 4);
        let [x, y] = operands.models();
        let sums = x.iter().zip(&y).map(|(x, y)| x.wrapping_mul(2).wrapping_sub(*y)).collect();
        let expected = viewed_model(operands.joint(), sums, &chain);
        let viewed = view_of(&a * 2 - &b, &chain).unwrap();
        let found = viewed.eval().unwrap();
        viewed.shape().unwrap() == found.shape()
            && found.shape() == expected.shape
            && *found.storage() == expected.data
    }

    /// The same for boxed expressions, whose clones are viewed apart from one another.
    fn views_of_boxes_are_views_of_results(operands: Aligned<i32>, first: u64, second: u64) -> bool {
        let [a, b] = operands.tensors();
        let [x, y] = operands.models();
        let sums: Vec<i32> = x.iter().zip(&y).map(|(x, y)| x.wrapping_add(*y)).collect();
        let boxed = (&a + &b).boxed();
        [first, second].into_iter().all(|seed| {
            let chain = operations(seed, operands.joint(), 3);
            let expected = viewed_model(operands.joint(), sums.clone(), &chain);
            let found = view_of(boxed.clone(), &chain).unwrap().eval().unwrap();
            found.shape() == expected.shape && *found.storage() == expected.data
        }) && boxed.to_vec().unwrap() == sums
    }

    /// A view within an expression, and operators on top of it.
    fn expressions_of_views_of_expressions(operands: Aligned<i32>, seed: u64) -> bool {
        let [a, b] = operands.tensors();
        let [x, y] = operands.models();
        let chain = operations(seed, operands.joint(), 3);
        let inner = x.iter().zip(&y).map(|(x, y)| x ^ y).collect();
        let expected = viewed_model(operands.joint(), inner, &chain).data;
        let viewed = view_of(&a ^ &b, &chain).unwrap();
        let twice = (&viewed + &viewed).to_vec().unwrap();
        let doubled: Vec<i32> = expected.iter().map(|x| x.wrapping_add(*x)).collect();
        twice == doubled && (viewed * 2).to_vec().unwrap() == doubled
    }

    /// One operand three times over is read three times.
    fn an_operand_may_be_used_again(viewed: Viewed<i32>) -> bool {
        let t = viewed.tensor();
        let e = &t + 1;
        let reused = &e * &e - &e;
        let expected = t.to_vec().unwrap().into_iter().map(|x| {
            let e = x.wrapping_add(1);
            e.wrapping_mul(e).wrapping_sub(e)
        });
        reused.to_vec().unwrap().into_iter().eq(expected)
    }

    /// An operand beside another view of the same storage.
    fn two_views_of_one_storage_are_two_operands(viewed: Viewed<i32>) -> bool {
        let t = viewed.tensor();
        let mut turned = t.view();
        for axis in 0..t.rank() {
            turned = turned.flip(axis).unwrap();
        }
        let data = t.to_vec().unwrap();
        let expected = data.iter().zip(data.iter().rev()).map(|(x, y)| x.wrapping_sub(*y));
        (&t - &turned).to_vec().unwrap().into_iter().eq(expected)
    }

    /// Three operands of three types through casts.
    fn casts_mix_element_types(operands: Aligned<i16, 3>) -> bool {
        let [a, b, c] = operands.tensors();
        let [x, y, z] = operands.models();
        let mixed = zip_with((&a, b.cast::<f64>(), c.cast::<i64>()), |(a, b, c)| {
            f64::from(a) + b * c as f64
        });
        let expected = (0..x.len()).map(|k| f64::from(x[k]) + f64::from(y[k]) * f64::from(z[k]));
        mixed.shape().unwrap() == *operands.joint() && mixed.to_vec().unwrap().into_iter().eq(expected)
    }

    /// Six operands at once.
    fn six_operands_are_read_together(operands: Aligned<i32, 6>) -> bool {
        let [a, b, c, d, e, f] = operands.tensors();
        let models = operands.models();
        let all = zip_with((&a, &b, &c, &d, &e, &f), |(a, b, c, d, e, f)| [a, b, c, d, e, f]);
        let found = all.eval().unwrap();
        let expected = (0..models[0].len()).map(|k| models.each_ref().map(|data| data[k]));
        found.shape() == *operands.joint() && found.storage().iter().copied().eq(expected)
    }

    /// A tree of six operands with shared and unshared parts, boxed here and there.
    fn boxes_may_stand_anywhere(operands: Aligned<i32, 3>) -> bool {
        let [a, b, c] = operands.tensors();
        let [x, y, z] = operands.models();
        let left = (&a + &b).boxed();
        let right = (&left * &c).boxed() - &a;
        let whole = (left.clone() ^ right).boxed() + b.boxed();
        let expected = (0..x.len()).map(|k| {
            let left = x[k].wrapping_add(y[k]);
            let right = left.wrapping_mul(z[k]).wrapping_sub(x[k]);
            (left ^ right).wrapping_add(y[k])
        });
        whole.to_vec().unwrap().into_iter().eq(expected)
    }

    /// Boxes of different expressions fold like numbers.
    fn boxes_of_different_types_fold(operands: Aligned<i32, 4>) -> bool {
        let [a, b, c, d] = operands.tensors();
        let models = operands.models();
        let terms: Vec<BoxExpr<'_, i32>> = vec![(&a * 3).boxed(), (-&b).boxed(), c.boxed(), (1 - &d).boxed()];
        let sum = terms.into_iter().reduce(|sum, term| (sum + term).boxed()).unwrap();
        let expected = (0..models[0].len()).map(|k| {
            let [a, b, c, d] = models.each_ref().map(|data| data[k]);
            a.wrapping_mul(3).wrapping_sub(b).wrapping_add(c).wrapping_add(1_i32.wrapping_sub(d))
        });
        sum.to_vec().unwrap().into_iter().eq(expected)
    }

    /// A scalar broadcasts to any shape, also to none.
    fn a_scalar_has_rank_zero(viewed: Viewed<i32>, scalar: i32) -> bool {
        let t = viewed.tensor();
        let zero = Tensor::from_vec(Shape::default(), vec![scalar]).unwrap();
        (&t + &zero).to_vec() == (&t + scalar).to_vec()
            && (&zero + &t).to_vec() == (scalar + &t).to_vec()
            && (&zero + &zero).shape().unwrap() == Shape::default()
    }

    /// Aligning at the first axes is aligning at the last ones with axes added behind.
    fn left_alignment_adds_axes_behind(viewed: Viewed<i32>, missing: usize) -> bool {
        let whole = viewed.tensor();
        let missing = missing % (whole.rank() + 1);
        let mut part = whole.view();
        for _ in 0..missing {
            let last = part.rank() - 1;
            part = match part.shape()[last] {
                0 => return align(Align::Left, &whole, &whole).is_ok(),
                _ => { let mut s = vec![Select::All; last]; s.push(Select::Index(0)); part.select(s).unwrap() }
            };
        }
        let mut padded = part.view();
        for _ in 0..missing {
            let rank = padded.rank();
            padded = padded.insert_axis(rank).unwrap();
        }
        let (a, b) = align(Align::Left, &whole, &part).unwrap();
        (a - b).to_vec() == (&whole - &padded).to_vec()
    }

    /// Shapes that do not align are reported by `shape` and `eval` alike, with the first such argument.
    fn operands_that_do_not_align_are_named(a: Shape, b: Shape) -> bool {
        let t = Tensor::constant(a.clone(), 1).unwrap();
        let u = Tensor::constant(b.clone(), 2).unwrap();
        let sum = &t + &u;
        match a.join(&b, Align::Right, 2) {
            Ok(joint) => sum.shape() == Ok(joint.clone()) && sum.eval().map(|t| t.shape()) == Ok(joint),
            Err(error) => {
                sum.shape() == Err(error.clone())
                    && sum.eval().map(drop) == Err(error.clone())
                    && (sum.boxed() + 1).flip(0).map(drop) == Err(error)
            }
        }
    }

    /// An explanation is given of whatever can be evaluated, and names every operand.
    fn an_explanation_names_every_operand(operands: Aligned<f64, 3>) -> bool {
        let [a, b, c] = operands.tensors();
        let e = (&a + &b) * &c;
        let text = e.explain().unwrap().to_string();
        (1..=3).all(|k| text.contains(&format!("operand {k}:"))) && !text.contains("operand 4:")
    }
}

/// Bytes are counted once where an operand repeats its elements, and threads are a number.
#[test]
fn an_explanation_counts_distinct_bytes() {
    let photo = Tensor::from_vec([4, 5, 3], vec![0_u8; 60]).unwrap().lazy().cast::<f32>();
    let mean = Tensor::from_vec([3], vec![0.5_f32; 3]).unwrap();
    let e = photo - &mean;
    let explanation = e.explain().unwrap();
    let text = explanation.to_string();
    assert!(text.contains(&format!("bytes: {} read, {} written", 60 + 3 * 4, 60 * 4)), "{text}");
    assert!(text.contains("1 byte an element") && text.contains("threads: 1"), "{text}");
    assert_eq!(explanation.threads(), 1);

    let windows = Tensor::from_vec([1000], vec![0_u8; 1000]).unwrap().windows(0, 3).unwrap();
    let text = windows.explain().unwrap().to_string();
    assert!(text.contains("bytes: 1000 read, 2994 written"), "{text}");
}

/// Few elements of memory, lists, boxes and deferred operands beside one another: whatever way is taken, by index.
#[test]
fn small_operands_of_all_kinds_meet() {
    for [n, m] in [[0, 3], [1, 1], [1, 5], [5, 1], [7, 8], [8, 70], [64, 64], [65, 64]] {
        let of =
            |shape: [usize; 2]| Tensor::from_index(shape, |i| (i[0] * 100 + i[1]) as i64).unwrap();
        let (a, b, tall, wide) = (of([n, m]), of([m, n]), of([n, 1]), of([1, m]));
        let list: Vec<usize> = (0..m).rev().collect();
        let expected = |x: &dyn Fn(i64, i64) -> i64| -> Vec<i64> {
            (0..(n * m) as i64).map(|k| x(k / m as i64, k % m as i64)).collect()
        };
        let turned = b.view().transpose([1, 0]).unwrap();
        let both = |i, j| (i * 100 + j) + (j * 100 + i);
        assert_eq!((&a + &turned).to_vec().unwrap(), expected(&both));
        assert_eq!((&a + &turned).boxed().to_vec().unwrap(), expected(&both));
        let mut out = Tensor::full([n, m], 0_i64).unwrap();
        out.assign(&a + &turned).unwrap();
        assert_eq!(out.storage(), &expected(&both));
        let stretched = |i, j| i * 100 + j + 1;
        assert_eq!((&tall + &wide + 1).to_vec().unwrap(), expected(&stretched));
        assert_eq!((&tall.boxed() + &wide + 1).to_vec().unwrap(), expected(&stretched));
        assert_eq!(
            tall.lazy().boxed().stretch([n, m], Align::Right).unwrap().to_vec().unwrap(),
            expected(&|i, _| i * 100)
        );
        let listed = a.view().select((.., list)).unwrap();
        let backwards = |i, j| 2 * (i * 100) + j + (m as i64 - 1 - j);
        assert_eq!((&a + &listed).to_vec().unwrap(), expected(&backwards));
        if n > 0 {
            let deferred =
                |i: i64, j| i * 100 + j + (0..n as i64).map(|k| k * 100 + j).max().unwrap();
            assert_eq!((&a + a.max(0)).to_vec().unwrap(), expected(&deferred));
            assert_eq!(
                (turned.clone() - turned.clone().max(0) + turned.clone().max(0)).to_vec().unwrap(),
                expected(&|i, j| j * 100 + i)
            );
        }
        let row = of([1, m]).remove_axis(0).unwrap();
        assert_eq!((&turned + &row).to_vec().unwrap(), expected(&|i, j| j * 100 + i + j));
    }
}
