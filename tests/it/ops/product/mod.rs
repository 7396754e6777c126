//! Products of sparse tensors against loops over every element.

mod large;
mod refused;

use lensor::arbitrary::Viewed;
use lensor::dtype::SameBits;
use lensor::product::{MinPlus, OrAnd, PlusTimes, Semiring};
use lensor::storage::Sparse;
use lensor::{Select, Shape, Tensor};
use quickcheck::{Arbitrary, Gen, QuickCheck};
use std::fmt::Debug;

fn check<A: quickcheck::Testable>(property: A) {
    QuickCheck::new().tests(500).quickcheck(property);
}

/// Numbers that add up exactly, and all that do not.
#[derive(Debug, Clone, Copy)]
struct Number(f64);

impl Arbitrary for Number {
    fn arbitrary(g: &mut Gen) -> Self {
        let ugly = [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, 5e-324];
        Self(if u8::arbitrary(g) % 4 == 0 { *g.choose(&ugly).unwrap() } else { f64::arbitrary(g) })
    }
}

/// A sparse tensor and what it stores at every index.
struct Operand<T> {
    tensor: Tensor<Sparse<T>>,
    shape: Shape,
    stored: Vec<Option<T>>,
}

impl<T: Copy + Send + Sync> Operand<T> {
    /// A view of what is stored, under any chain.
    fn new(viewed: &Viewed<Option<T>>, zero: T) -> Self {
        let stored = viewed.data().iter().enumerate().filter_map(|(k, x)| Some((k, (*x)?)));
        let (addresses, values) = stored.unzip();
        let storage = Sparse::from_sorted(viewed.data().len(), zero, addresses, values).unwrap();
        let (shape, stored) = viewed.model();
        let tensor = Tensor::with_map(viewed.chain().map(), storage).unwrap();
        Self { tensor, shape, stored }
    }

    /// A tensor of this shape that lies in storage with its axes turned around.
    fn turned(shape: &[usize], data: &[Option<T>], zero: T) -> Self {
        let count: usize = shape.iter().product();
        let stored: Vec<_> = (0..count).map(|k| *data.get(k % data.len().max(1))?).collect();
        let reversed: Vec<usize> = shape.iter().rev().copied().collect();
        let order: Vec<usize> = (0..shape.len()).rev().collect();
        let dense = Tensor::from_vec(shape, stored.clone()).unwrap();
        let lying = dense.transpose(&order).unwrap().to_vec().unwrap();
        let entries = lying.iter().enumerate().filter_map(|(k, x)| Some((k, (*x)?)));
        let (addresses, values) = entries.unzip();
        let storage = Sparse::from_sorted(count, zero, addresses, values).unwrap();
        let tensor = Tensor::new(reversed, storage).unwrap().transpose(&order).unwrap();
        Self { tensor, shape: Shape::from(shape), stored }
    }

    fn at(&self, index: &[usize]) -> Option<T> {
        let position =
            index.iter().zip(&self.shape[..]).fold(0, |k, (digit, extent)| k * extent + digit);
        self.stored[position]
    }
}

/// The terms of a product, added to zero in order; `None` where there is no term.
fn expected<T: Copy + Send + Sync>(
    semiring: &impl Semiring<T>,
    a: &Operand<T>,
    b: &Operand<T>,
    pairs: &[(usize, usize)],
) -> Vec<Option<T>> {
    let kept = |rank: usize, paired: Vec<usize>| -> Vec<usize> {
        (0..rank).filter(|axis| !paired.contains(axis)).collect()
    };
    let kept_a = kept(a.shape.rank(), pairs.iter().map(|pair| pair.0).collect());
    let kept_b = kept(b.shape.rank(), pairs.iter().map(|pair| pair.1).collect());
    let outer_a: Shape = kept_a.iter().map(|&axis| a.shape[axis]).collect();
    let outer_b: Shape = kept_b.iter().map(|&axis| b.shape[axis]).collect();
    let inner: Shape = pairs.iter().map(|pair| a.shape[pair.0]).collect();
    let mut results = Vec::new();
    for i in outer_a.indexes().unwrap() {
        for j in outer_b.indexes().unwrap() {
            let mut sum = None;
            for k in inner.indexes().unwrap() {
                let mut index_a = vec![0; a.shape.rank()];
                let mut index_b = vec![0; b.shape.rank()];
                kept_a.iter().zip(&i).for_each(|(&axis, &digit)| index_a[axis] = digit);
                kept_b.iter().zip(&j).for_each(|(&axis, &digit)| index_b[axis] = digit);
                for (pair, &digit) in pairs.iter().zip(&k) {
                    (index_a[pair.0], index_b[pair.1]) = (digit, digit);
                }
                if let (Some(x), Some(y)) = (a.at(&index_a), b.at(&index_b)) {
                    let term = semiring.multiply(x, y);
                    sum = Some(semiring.add(sum.unwrap_or(semiring.zero()), term));
                }
            }
            results.push(sum);
        }
    }
    results
}

/// Two operands and axes to contract over, made from random ones.
fn contracts<T: SameBits + Send + Sync + Debug>(
    semiring: impl Semiring<T>,
    viewed: &Viewed<Option<T>>,
    data: &[Option<T>],
    seed: usize,
) {
    let a = Operand::new(viewed, semiring.zero());
    // Any axes of the first, in any order, paired with axes of the second on either side of its own.
    let rank = a.shape.rank();
    let mut axes: Vec<usize> = (0..rank).filter(|axis| seed >> axis & 1 == 1).collect();
    let turn = seed % axes.len().max(1);
    axes.rotate_left(turn);
    let own = [seed % 3, 1 + seed % 2];
    let mut shape = vec![own[0]];
    shape.extend(axes.iter().map(|&axis| a.shape[axis]));
    shape.push(own[1]);
    if shape.iter().product::<usize>() > 2000 {
        return;
    }
    let b = Operand::turned(&shape, data, semiring.zero());
    let pairs: Vec<_> = axes.iter().enumerate().map(|(k, &axis)| (axis, k + 1)).collect();
    let expected = expected(&semiring, &a, &b, &pairs);
    let product = a.tensor.contract(&b.tensor, &pairs, semiring).unwrap();
    let stored = expected.iter().enumerate().filter_map(|(k, x)| Some((k, (*x)?)));
    let stored: Vec<_> = stored.collect();
    assert_eq!(product.storage().stored_len(), stored.len());
    for ((position, value), (address, found)) in stored.into_iter().zip(product.storage().iter()) {
        assert!(position == address && value.same_bits(found), "{position}: {value:?} {found:?}");
    }
}

#[test]
fn contractions_are_sums_of_products() {
    fn integers(a: Viewed<Option<i32>>, b: Vec<Option<i32>>, seed: usize) {
        contracts(PlusTimes, &a, &b, seed);
    }
    fn floats(a: Viewed<Option<f64>>, b: Vec<Option<f64>>, seed: usize) {
        contracts(PlusTimes, &a, &b, seed);
        contracts(MinPlus, &a, &b, seed);
    }
    fn bits(a: Viewed<Option<bool>>, b: Vec<Option<bool>>, seed: usize) {
        contracts(OrAnd, &a, &b, seed);
    }
    fn lengths(a: Viewed<Option<u8>>, b: Vec<Option<u8>>, seed: usize) {
        contracts(MinPlus, &a, &b, seed);
    }
    fn signed(a: Viewed<Option<i8>>, b: Vec<Option<i8>>, seed: usize) {
        contracts(MinPlus, &a, &b, seed);
    }
    check(signed as fn(Viewed<Option<i8>>, Vec<Option<i8>>, usize));
    check(integers as fn(Viewed<Option<i32>>, Vec<Option<i32>>, usize));
    check(floats as fn(Viewed<Option<f64>>, Vec<Option<f64>>, usize));
    check(bits as fn(Viewed<Option<bool>>, Vec<Option<bool>>, usize));
    check(lengths as fn(Viewed<Option<u8>>, Vec<Option<u8>>, usize));
}

#[test]
fn sparse_times_dense_is_a_sum_over_entries() {
    fn law(viewed: Viewed<Option<f64>>, dense: Vec<Number>, width: u8, turned: bool) -> bool {
        let a = Operand::new(&viewed, 0.0);
        let Some(&depth) = a.shape.last() else {
            return true;
        };
        // Every way to cut a row: parts of 32, of 4 and of 1.
        let width = [1, 2, 3, 4, 7, 32, 33, 64, 71, 0][usize::from(width % 10)];
        let element = |k: usize| dense.get(k % dense.len().max(1)).map_or(1.5, |x| x.0);
        let data: Vec<f64> = (0..depth * width).map(element).collect();
        let x = if turned {
            let across = |k: usize| data[k % depth.max(1) * width + k / depth.max(1)];
            let across = (0..depth * width).map(across).collect();
            Tensor::from_vec([width, depth], across).unwrap().transpose([1, 0]).unwrap()
        } else {
            Tensor::from_vec([depth, width], data.clone()).unwrap()
        };
        let product = a.tensor.times_dense(&x, PlusTimes).eval().unwrap();
        let rows: usize = a.shape[..a.shape.rank() - 1].iter().product();
        let expected = (0..rows).flat_map(|row| (0..width).map(move |column| (row, column)));
        let expected = expected.map(|(row, column)| {
            let stored = (0..depth).filter_map(|k| Some((k, a.stored[row * depth + k]?)));
            stored.fold(0.0, |sum, (k, value)| sum + value * data[k * width + column])
        });
        let expected: Vec<f64> = expected.collect();
        let found = product.to_vec().unwrap();
        // Into rows of memory, and into every other element of it.
        let mut whole = Tensor::full(product.shape(), 7.0).unwrap();
        a.tensor.times_dense(&x, PlusTimes).assign_to(&mut whole).unwrap();
        let mut twice = product.shape().to_vec();
        twice.push(2);
        let mut parts = Tensor::full(twice, 7.0).unwrap();
        let last = Select::Index(1);
        let mut selectors = vec![Select::All; product.rank()];
        selectors.push(last);
        let mut part = parts.view_mut().select(selectors).unwrap();
        a.tensor.times_dense(&x, PlusTimes).assign_to(&mut part).unwrap();
        for other in [whole.to_vec().unwrap(), part.to_vec().unwrap()] {
            assert!(other.iter().zip(&found).all(|(x, y)| x.same_bits(*y)));
        }
        let mut shape = a.shape.to_vec();
        shape[a.shape.rank() - 1] = width;
        product.shape() == shape[..]
            && expected.len() == found.len()
            && expected.iter().zip(&found).all(|(x, y)| x.same_bits(*y))
    }
    check(law as fn(Viewed<Option<f64>>, Vec<Number>, u8, bool) -> bool);
}

/// A view with the axes turned around adds up the same terms in the same order as entries that were sorted.
#[test]
fn columns_are_added_up_in_order() {
    let entries = (0..60 * 40).filter(|k| k * 31 % 7 < 3);
    let values = entries.clone().map(|k| 1.0 / (k as f64 - 77.5)).collect();
    let storage = Sparse::from_sorted(60 * 40, 0.0, entries.collect(), values).unwrap();
    let t = Tensor::new([60, 40], storage).unwrap();
    let x = Tensor::from((0..60).map(|k| (k as f64).sin() * 1e3).collect::<Vec<_>>());
    let turned = t.view().transpose([1, 0]).unwrap();
    let sorted = turned.lazy().eval_sparse().unwrap();
    let turned = t.view().transpose([1, 0]).unwrap();
    let bits = |found: Vec<f64>| found.into_iter().map(f64::to_bits).collect::<Vec<_>>();
    let expected = bits(sorted.times_dense(&x, PlusTimes).to_vec().unwrap());
    assert_eq!(bits(turned.times_dense(&x, PlusTimes).to_vec().unwrap()), expected);
    // A part of the columns is sorted.
    let part = turned.select((3..9,)).unwrap();
    assert_eq!(bits(part.times_dense(&x, PlusTimes).to_vec().unwrap()), expected[3..9]);
}

#[test]
fn empty_extents() {
    let none = Tensor::new([3, 0], Sparse::new(0, 0.0)).unwrap();
    let wide = Tensor::new([0, 4], Sparse::new(0, 0.0)).unwrap();
    let product = none.times_sparse(&wide, PlusTimes).unwrap();
    assert_eq!((product.shape(), product.storage().stored_len()), (Shape::from([3, 4]), 0));
    let product = none.times_dense(&Tensor::full([0, 2], 1.0).unwrap(), PlusTimes).eval().unwrap();
    assert_eq!(product.to_vec().unwrap(), [0.0; 6]);
    let product = none.times_dense(&Tensor::full([0, 0], 1.0).unwrap(), PlusTimes).eval().unwrap();
    assert_eq!(product.shape(), [3, 0]);
    let infinite = Tensor::new([1, 2], Sparse::new(2, f64::INFINITY)).unwrap();
    let product = infinite.times_dense(&Tensor::from(vec![1.0, 2.0]), MinPlus).eval().unwrap();
    assert_eq!(product.to_vec().unwrap(), [f64::INFINITY]);
}

/// What is not stored is zero whatever it meets; what is stored is not.
#[test]
fn explicit_zeros_meet_nan() {
    let dense = Tensor::from(vec![f64::NAN, 1.0]);
    let implicit = Tensor::new([1, 2], Sparse::from_sorted(2, 0.0, vec![1], vec![2.0]).unwrap());
    let product = implicit.unwrap().times_dense(&dense, PlusTimes).eval().unwrap();
    assert_eq!(product.to_vec().unwrap(), [2.0]);
    let explicit = Tensor::new([1, 2], Sparse::from_sorted(2, 0.0, vec![0], vec![0.0]).unwrap());
    let explicit = explicit.unwrap();
    assert!(explicit.times_dense(&dense, PlusTimes).to_vec().unwrap()[0].is_nan());
    let turned = explicit.view().transpose([1, 0]).unwrap();
    let square = turned.times_sparse(&explicit, PlusTimes).unwrap();
    assert!(square.storage().iter().eq([(0, 0.0)]));
}

/// Whoever cannot be reached cannot be reached by a way of negative length either.
#[test]
fn infinite_lengths_stay_infinite() {
    let links = Sparse::from_sorted(4, i64::MAX, vec![1], vec![-1]).unwrap();
    let links = Tensor::new([2, 2], links).unwrap();
    let reached = Tensor::from(vec![0, i64::MAX]);
    assert_eq!(links.times_dense(&reached, MinPlus).to_vec(), Ok(vec![i64::MAX; 2]));
    let near = Tensor::from(vec![0, i64::MIN]);
    assert_eq!(links.times_dense(&near, MinPlus).to_vec(), Ok(vec![i64::MIN, i64::MAX]));
}
