//! Products against triple loops over copies, for any view of any operand.

use lensor::arbitrary::Viewed;
use lensor::linalg::Linalg;
use lensor::prelude::*;
use quickcheck::{TestResult, quickcheck};

type Dense = (Shape, Vec<i32>);

/// The product of stacks of matrices whose axes in front are equal or 1 or missing.
fn multiplied(a: &Dense, b: &Dense) -> Option<Dense> {
    let (ra, rb) = (a.0.rank(), b.0.rank());
    let (m, k) = (a.0[ra - 2], a.0[ra - 1]);
    let n = b.0[rb - 1];
    let front = Shape::from(&a.0[..ra - 2]).join(&(&b.0[..rb - 2]).into(), Align::Right, 2).ok()?;
    let at = |dense: &Dense, index: &[usize], row: usize, column: usize| {
        let rank = dense.0.rank() - 2;
        let own = &index[index.len() - rank..];
        let mut position = 0;
        for (&digit, &extent) in own.iter().zip(&dense.0[..rank]) {
            position = position * extent + if extent == 1 { 0 } else { digit };
        }
        dense.1[(position * dense.0[rank] + row) * dense.0[rank + 1] + column]
    };
    let mut data = Vec::new();
    for index in front.indexes().ok()? {
        for row in 0..m {
            for column in 0..n {
                let terms =
                    (0..k).map(|p| at(a, &index, row, p).wrapping_mul(at(b, &index, p, column)));
                data.push(terms.fold(0, i32::wrapping_add));
            }
        }
    }
    Some((front.iter().copied().chain([m, n]).collect(), data))
}

fn holds(found: Tensor<Vec<i32>>, expected: &Dense) -> bool {
    found.shape() == expected.0 && found.to_vec().unwrap() == expected.1
}

quickcheck! {
    /// Any view times its transpose, matrices of a stack one by one.
    fn a_view_times_its_transpose(viewed: Viewed<i32>) -> TestResult {
        let t = viewed.tensor();
        let rank = t.rank();
        if rank < 2 {
            return TestResult::discard();
        }
        let turned = t.view().swap_axes(rank - 2, rank - 1).unwrap();
        let model = |t: &Tensor<&Vec<i32>>| (t.shape(), t.to_vec().unwrap());
        let expected = multiplied(&viewed.model(), &model(&turned)).unwrap();
        TestResult::from_bool(holds(t.view().matmul(turned).eval().unwrap(), &expected))
    }

    /// Any view times a matrix that stretches along its stack, in any memory order, into any view.
    fn a_view_times_a_matrix(viewed: Viewed<i32>, n: u8, turn: bool, flip: bool) -> TestResult {
        let t = viewed.tensor();
        let Some(&k) = t.shape().last().filter(|_| t.rank() >= 2) else {
            return TestResult::discard();
        };
        let n = usize::from(n % 40);
        let sides = if turn { [n, k] } else { [k, n] };
        let b = Tensor::from_index(sides, |i| (i[0] * 7 + i[1] * 3) as i32 - 20).unwrap();
        let b = if turn { b.transpose([1, 0]).unwrap() } else { b };
        let b = if flip { b.flip(0).unwrap() } else { b };
        let expected = multiplied(&viewed.model(), &(b.shape(), b.to_vec().unwrap())).unwrap();
        let lazy = (&t + 1) - 1;
        let mut turned: Vec<usize> = expected.0.to_vec();
        turned.reverse();
        let mut out = Tensor::full(turned, 0).unwrap();
        let order: Vec<usize> = (0..out.rank()).rev().collect();
        lazy.matmul(&b).assign_to(&mut out.view_mut().transpose(&order).unwrap()).unwrap();
        let out = out.transpose(&order).unwrap().eval().unwrap();
        TestResult::from_bool(
            holds(t.matmul(&b).eval().unwrap(), &expected) && holds(out, &expected)
        )
    }

    /// Rows and columns are matrices whose axis is not in the result.
    fn vectors_are_rows_and_columns(viewed: Viewed<i32>) -> TestResult {
        let t = viewed.tensor();
        let rank = t.rank();
        if rank < 2 {
            return TestResult::discard();
        }
        let (m, k) = (t.shape()[rank - 2], t.shape()[rank - 1]);
        let vector = |n: usize| Tensor::from((0..n as i32).map(|x| x * x - 3).collect::<Vec<_>>());
        let (row, column) = (vector(m), vector(k));
        let as_row = row.view().insert_axis(0).unwrap().matmul(&t).eval().unwrap();
        let as_column = t.view().matmul(column.view().insert_axis(1).unwrap()).eval().unwrap();
        let own = as_row.shape().rank();
        TestResult::from_bool(
            row.matmul(&t).eval().unwrap() == as_row.remove_axis(own - 2).unwrap()
                && t.matmul(&column).eval().unwrap() == as_column.remove_axis(own - 1).unwrap()
        )
    }

    /// `tensordot` of a view with itself over its first `n` axes is the product of its flattened parts.
    fn tensordot_flattens(viewed: Viewed<i32>, n: usize) -> bool {
        let t = viewed.tensor();
        let n = n % (t.rank() + 1);
        let pairs: Vec<_> = (0..n).map(|axis| (axis, axis)).collect();
        let found = t.tensordot(&t, &pairs).eval().unwrap();
        let k: usize = t.shape()[..n].iter().product();
        let rest: usize = t.shape()[n..].iter().product();
        let flat = (Shape::from([k, rest]), viewed.model().1);
        let columns: Vec<i32> = (0..rest).flat_map(|c| (0..k).map(move |r| (r, c)))
            .map(|(r, c)| flat.1[r * rest + c]).collect();
        let expected = multiplied(&(Shape::from([rest, k]), columns), &flat).unwrap();
        found.shape()[..] == [&t.shape()[n..], &t.shape()[n..]].concat()
            && found.to_vec().unwrap() == expected.1
    }

    /// `outer` is `tensordot` over no axes.
    fn outer_sums_over_nothing(a: Viewed<i32>, b: Viewed<i32>) -> bool {
        let (a, b) = (a.tensor(), b.tensor());
        match a.outer(&b).eval() {
            Ok(found) => found == a.tensordot(&b, &[]).eval().unwrap(),
            Err(error) => matches!(error, Error::ShapeOverflow { .. }),
        }
    }
}

/// Numbers whose products and sums of a few hundred are exact in either precision.
fn whole(sides: [usize; 2], seed: usize) -> Tensor<Vec<f64>> {
    Tensor::from_index(sides, |i| ((i[0] * 31 + i[1] * 17 + seed) % 23) as f64 - 11.0).unwrap()
}

fn naive(a: &Tensor<Vec<f64>>, b: &Tensor<Vec<f64>>) -> Vec<f64> {
    let ([m, k], n) = ([a.shape()[0], a.shape()[1]], b.shape()[1]);
    let (a, b) = (a.to_vec().unwrap(), b.to_vec().unwrap());
    let at =
        |position: usize| (0..k).map(|p| a[position / n * k + p] * b[p * n + position % n]).sum();
    (0..m * n).map(at).collect()
}

#[test]
fn products_of_every_size_are_exact() {
    let sizes = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 65, 130];
    for (which, &m) in sizes.iter().enumerate() {
        for &k in &sizes {
            let n = sizes[(which * 7 + k) % sizes.len()];
            let (a, b) = (whole([m, k], 1), whole([k, n], 2));
            let expected = naive(&a, &b);
            assert_eq!(a.matmul(&b).eval().unwrap().to_vec().unwrap(), expected, "{m} {k} {n}");
            let (x, y) = (a.cast::<f32>(), b.cast::<f32>());
            let narrow = x.matmul(y).eval().unwrap().cast::<f64>().eval().unwrap();
            assert_eq!(narrow.to_vec().unwrap(), expected, "{m} {k} {n}");
            let (x, y) = (a.cast::<i16>(), b.cast::<i16>());
            let wrapped: Vec<i16> = expected.iter().map(|&x| x as i64 as i16).collect();
            assert_eq!(x.matmul(y).eval().unwrap().to_vec().unwrap(), wrapped, "{m} {k} {n}");
        }
    }
}

/// Neither memory order nor the number of threads changes a bit.
#[test]
fn the_same_bits_from_any_memory_and_any_threads() {
    let noise = |sides: [usize; 2]| {
        Tensor::from_index(sides, |i| ((i[0] * 7919 + i[1] * 104729) as f64).sin()).unwrap()
    };
    let mut sizes = vec![[300, 70, 90], [5, 300, 40], [20, 20, 20], [1, 70, 5000]];
    // Matrices and a few vectors go along whatever is contiguous.
    let edges = [4, 31, 32, 33, 63, 65, 301, 1030];
    for (&k, &wide) in edges.iter().zip(edges.iter().rev()) {
        sizes.extend([[1, k, wide], [3, wide, k], [wide, k, 1], [k, wide, 3]]);
    }
    for [m, k, n] in sizes {
        let (a, b) = (noise([m, k]), noise([k, n]));
        let expected: Vec<u64> = bits(&a.matmul(&b).eval().unwrap());
        let turned = |t: &Tensor<Vec<f64>>| {
            let order = [1, 0];
            t.view().transpose(order).unwrap().eval().unwrap().transpose(order).unwrap()
        };
        let flipped = |t: &Tensor<Vec<f64>>, axis: usize| {
            t.view().flip(axis).unwrap().eval().unwrap().flip(axis).unwrap()
        };
        assert_eq!(bits(&turned(&a).matmul(&turned(&b)).eval().unwrap()), expected);
        assert_eq!(bits(&flipped(&a, 1).matmul(&flipped(&b, 0)).eval().unwrap()), expected);
        assert_eq!(bits(&(&a * 1.0).matmul(&turned(&b)).eval().unwrap()), expected);
        for threads in [1, 2, 3, 16] {
            let pool = crate::support::pool(threads);
            assert_eq!(pool.install(|| bits(&a.matmul(&b).eval().unwrap())), expected);
        }
        let stack = a.view().insert_axis(0).unwrap().broadcast([3, m, k]).unwrap();
        assert_eq!(bits(&stack.matmul(&b).eval().unwrap()), expected.repeat(3));
    }
}

fn bits(t: &Tensor<Vec<f64>>) -> Vec<u64> {
    t.storage().iter().map(|x| x.to_bits()).collect()
}

#[cfg(feature = "complex")]
#[test]
fn complex_products_are_exact() {
    use num_complex::Complex64;
    for side in [3, 40] {
        let (re, im) = (whole([side, side], 3), whole([side, side], 9));
        let z = zip_with((&re, &im), |(re, im)| Complex64::new(re, im)).eval().unwrap();
        let product = z.matmul(&z).eval().unwrap();
        let part = |a, b| Tensor::from_vec([side, side], naive(a, b)).unwrap();
        let expected_re = (part(&re, &re) - part(&im, &im)).eval().unwrap();
        assert_eq!(product.map(|z| z.re).eval().unwrap(), expected_re);
        let expected_im = (part(&re, &im) + part(&im, &re)).eval().unwrap();
        assert_eq!(product.map(|z| z.im).eval().unwrap(), expected_im);
    }
}

#[test]
fn sums_over_nothing_are_zero() {
    for (m, n) in [(2, 3), (50, 60), (0, 4), (4, 0)] {
        let a = Tensor::full([m, 0], 1.0).unwrap();
        let b = Tensor::full([0, n], 1.0).unwrap();
        let product = a.matmul(&b).eval().unwrap();
        assert_eq!(product.shape(), [m, n]);
        assert!(product.to_vec().unwrap().iter().all(|&x| x == 0.0));
    }
    let none = Tensor::full([0], 1).unwrap();
    assert_eq!(none.matmul(&none).eval().unwrap().item().unwrap(), 0);
}

#[test]
fn operands_that_do_not_chain_are_refused() {
    let t = |shape: &[usize]| Tensor::full(shape, 1.0).unwrap();
    let text = |a: &[usize], b: &[usize]| t(a).matmul(&t(b)).eval().unwrap_err().to_string();
    assert_eq!(
        text(&[2, 3], &[4]),
        "cannot multiply shapes [2, 3] and [4]: axis 1 of the first has extent 3, axis 0 of the second 4"
    );
    assert_eq!(text(&[], &[4]), "expected a tensor of rank 1, found shape []");
    assert_eq!(text(&[4], &[]), "expected a tensor of rank 1, found shape []");
    assert_eq!(
        text(&[2, 5, 3], &[4, 3, 2]),
        "operands could not be broadcast: argument 2 has shape [4], the result so far is [2], axis 0: 4 vs 2"
    );
    let error = t(&[2, 2]).matmul(&t(&[2, 2])).assign_to(&mut t(&[4])).unwrap_err();
    assert_eq!(error, Error::Destination { expected: vec![4], found: vec![2, 2] });
    let mut one = t(&[1]).broadcast([2, 2]).unwrap();
    let error = t(&[2, 2]).matmul(&t(&[2, 2])).assign_to(&mut one).unwrap_err();
    assert_eq!(error, Error::NotInjective { axis: 0 });
    let pairs =
        |pairs: &[(usize, usize)]| t(&[2, 3]).tensordot(&t(&[3, 2]), pairs).eval().unwrap_err();
    assert_eq!(pairs(&[(0, 2)]), Error::Axis { axis: 2, rank: 2 });
    assert_eq!(pairs(&[(0, 1), (0, 0)]), Error::RepeatedAxis { axis: 0 });
    assert_eq!(pairs(&[(1, 0), (0, 0)]).to_string(), "axis 0 was given twice");
    assert_eq!(
        pairs(&[(0, 0)]),
        Error::Contraction { left: vec![2, 3], right: vec![3, 2], left_axis: 0, right_axis: 0 }
    );
    let huge = Tensor::constant([1 << 40], 1).unwrap();
    assert!(matches!(huge.outer(&huge).eval(), Err(Error::ShapeOverflow { .. })));
    assert!(matches!(
        huge.matmul(&huge.view().reshape([1 << 20, 1 << 20]).unwrap()).eval().unwrap_err(),
        Error::Contraction { .. }
    ));
}

/// An operand that is one element a row keeps to its links.
#[test]
fn a_linked_column_times_a_long_row() {
    let t = Tensor::from_vec([3, 2], vec![1, 2, 3, 4, 5, 6]).unwrap();
    let linked = t.rotate([1, 0]).unwrap().transpose([1, 0]).unwrap().reshape([6]).unwrap();
    assert_eq!(linked.address_map().stages().len(), 2);
    let ones = Tensor::full([100], 1).unwrap();
    let expected: Vec<i32> = [5, 1, 3, 6, 2, 4].iter().flat_map(|&x| [x; 100]).collect();
    assert_eq!(linked.outer(&ones).eval().unwrap().to_vec().unwrap(), expected);
}

/// A few sums of many products, of matrices that lie in any way.
#[test]
fn long_sums_of_narrow_products_are_exact() {
    for (m, k, n) in [(1, 511, 1), (1, 512, 1), (1, 1000, 3), (3, 777, 2), (2, 513, 1), (3, 600, 3)]
    {
        let (a, b) = (whole([m, k], 5), whole([k, n], 6));
        let entry = |i: usize, j: usize| -> f64 {
            (0..k).map(|p| a.get([i, p]).unwrap() * b.get([p, j]).unwrap()).sum()
        };
        let expected: Vec<f64> = (0..m * n).map(|at| entry(at / n, at % n)).collect();
        let turned = |t: &Tensor<Vec<f64>>| t.view().transpose([1, 0]).unwrap().eval().unwrap();
        let (at, bt) = (turned(&a), turned(&b));
        let (at, bt) = (at.view().transpose([1, 0]).unwrap(), bt.view().transpose([1, 0]).unwrap());
        assert_eq!(a.matmul(&b).to_vec().unwrap(), expected);
        assert_eq!(a.matmul(&bt).to_vec().unwrap(), expected);
        assert_eq!(at.clone().matmul(&bt).to_vec().unwrap(), expected);
        assert_eq!(at.matmul(&b).to_vec().unwrap(), expected);
    }
    let told = whole([1, 600], 5).matmul(&whole([600, 1], 6)).explain().unwrap().to_string();
    assert!(told.contains("dot products, with the second read as it is"), "{told}");
}

/// How products with a vector are read is told as it is done.
#[test]
fn products_with_vectors_explain_what_they_read() {
    let (a, x) = (whole([70, 80], 1), whole([1, 70], 2));
    let turned = a.view().transpose([1, 0]).unwrap();
    let column = x.view().transpose([1, 0]).unwrap();
    let told = turned.matmul(&column).explain().unwrap().to_string();
    assert!(told.contains("dot products side by side, along columns of the first"), "{told}");
    assert!(told.contains("operand 1: direct, with strides [1, 80]"), "{told}");
    let told = a.matmul(&whole([80, 1], 4)).explain().unwrap().to_string();
    assert!(told.contains("dot products, with the second read as it is"), "{told}");
    let told = a.matmul(&whole([80, 2], 4)).explain().unwrap().to_string();
    assert!(told.contains("dot products, with the second packed by columns"), "{told}");
    let (row, tall) = (whole([1, 80], 3), a.view().transpose([1, 0]).unwrap());
    let told = row.matmul(&tall).explain().unwrap().to_string();
    assert!(told.contains("rows of sums, with the second packed by squares"), "{told}");
    let at = Tensor::from(vec![3_usize, 1]).insert_axis(1).unwrap();
    let told = row.view().select((0,)).unwrap().take_at(&at).explain().unwrap().to_string();
    assert!(told.contains("operand: read where it lies"), "{told}");
}

#[test]
fn explaining_a_product_too_large_to_count_is_refused() {
    let of = |shape: [usize; 2]| Tensor::constant(shape, 1.0).unwrap();
    let error = of([1 << 33, 1]).matmul(&of([1, 1 << 33])).explain().unwrap_err();
    assert_eq!(error, Error::ShapeOverflow { shape: vec![1 << 33, 1 << 33] });
}

/// A fault of an element of an operand is told by its index there.
#[test]
fn faults_are_told_at_the_index_of_the_operand() {
    let (x, m) = (Tensor::from(vec![1, 0]), Tensor::full([2, 2], 1).unwrap());
    let fault = |index: &[usize]| Error::Arithmetic { index: index.to_vec() };
    assert_eq!((1_i32 / &x).matmul(&m).eval().unwrap_err(), fault(&[1]));
    assert_eq!(m.matmul(1_i32 / &x).eval().unwrap_err(), fault(&[1]));
    let d = Tensor::from_nested([[1, 1], [0, 0]]).unwrap();
    assert_eq!((1_i32 / &d).tensordot(&m, [(0, 0)]).eval().unwrap_err(), fault(&[1, 0]));
    assert_eq!(m.tensordot(1_i32 / &d, [(0, 1)]).eval().unwrap_err(), fault(&[1, 0]));
    let stack = Tensor::from_index([3, 2, 2], |i| i64::from(i != [2, 1, 0])).unwrap();
    let ones = Tensor::full([2, 2], 1_i64).unwrap();
    let mut out = Tensor::full([2, 2, 3], 0_i64).unwrap();
    let mut turned = out.view_mut().transpose([2, 1, 0]).unwrap();
    let found = (1_i64 / &stack).matmul(&ones).assign_to(&mut turned);
    assert_eq!(found, Err(fault(&[2, 1, 0])));
}
