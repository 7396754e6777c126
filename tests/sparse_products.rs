//! Products of sparse tensors against loops over every element.

use lensor::arbitrary::Viewed;
use lensor::dtype::SameBits;
use lensor::product::{MinPlus, OrAnd, PlusTimes, Semiring, contract, times_dense, times_sparse};
use lensor::storage::{Duplicates, Sparse};
use lensor::{Error, Reader, Shape, Stored, Tensor};
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

/// The terms of a product, added in order; `None` where there is no term.
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
                    sum = Some(sum.map_or(term, |sum| semiring.add(sum, term)));
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
    let product = contract(semiring, &a.tensor, &b.tensor, &pairs).unwrap();
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
            Tensor::from_vec([width, depth], across).unwrap().transpose(&[1, 0]).unwrap()
        } else {
            Tensor::from_vec([depth, width], data.clone()).unwrap()
        };
        let product = times_dense(PlusTimes, &a.tensor, &x).unwrap();
        let rows: usize = a.shape[..a.shape.rank() - 1].iter().product();
        let expected = (0..rows).flat_map(|row| (0..width).map(move |column| (row, column)));
        let expected = expected.map(|(row, column)| {
            let stored = (0..depth).filter_map(|k| Some((k, a.stored[row * depth + k]?)));
            stored.fold(0.0, |sum, (k, value)| sum + value * data[k * width + column])
        });
        let expected: Vec<f64> = expected.collect();
        let found = product.to_vec().unwrap();
        let mut shape = a.shape.to_vec();
        shape[a.shape.rank() - 1] = width;
        product.shape() == shape[..]
            && expected.len() == found.len()
            && expected.iter().zip(&found).all(|(x, y)| x.same_bits(*y))
    }
    check(law as fn(Viewed<Option<f64>>, Vec<Number>, u8, bool) -> bool);
}

/// A matrix from a generator of numbers, with this many entries or fewer.
fn scattered([rows, columns]: [usize; 2], count: usize, mut seed: u64) -> Tensor<Sparse<f64>> {
    let mut next = |limit: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize % limit
    };
    let indexes: Vec<_> = (0..count).map(|_| [next(rows), next(columns)]).collect();
    let values = (0..count).map(|_| next(1000) as f64 / 7.0 - 70.0).collect();
    let duplicates = Duplicates::First;
    Tensor::from_coordinates([rows, columns], 0.0, &indexes, values, duplicates).unwrap()
}

/// The same entries with every column `k` at `k * step`.
fn spread(t: &Tensor<Sparse<f64>>, columns: usize, step: usize) -> Tensor<Sparse<f64>> {
    let rows = t.shape()[0];
    let addresses = t.storage().addresses().iter();
    let addresses = addresses.map(|k| k / columns * columns * step + k % columns * step).collect();
    let values = t.storage().values().to_vec();
    let storage = Sparse::from_sorted(rows * columns * step, 0.0, addresses, values).unwrap();
    Tensor::new([rows, columns * step], storage).unwrap()
}

/// Few entries in large extents are looked up and sorted instead of laid out; the results are the same.
#[test]
fn large_extents_change_positions_only() {
    let (a, b) = (scattered([50, 40], 300, 1), scattered([40, 60], 500, 2));
    let product = times_sparse(PlusTimes, &a, &b).unwrap();
    let wide = times_sparse(PlusTimes, &a, &spread(&b, 60, 1 << 30)).unwrap();
    assert_eq!(wide.storage(), spread(&product, 60, 1 << 30).storage());
    let turned = b.view().transpose(&[1, 0]).unwrap().stored_entries().unwrap().unwrap();
    let tall = spread(&Tensor::new([60, 40], turned).unwrap(), 40, 1 << 30);
    let tall = tall.transpose(&[1, 0]).unwrap();
    let deep = times_sparse(PlusTimes, &spread(&a, 40, 1 << 30), &tall).unwrap();
    assert_eq!(deep.storage(), product.storage());
}

/// 2^40 elements an operand, and as many in the result.
#[test]
fn virtual_matrices_take_no_more_than_their_entries() {
    let side = 1 << 20;
    let indexes = [[3, 900_000], [900_000, 7], [7, 3]];
    let values = vec![2, 3, 5];
    let t =
        Tensor::from_coordinates([side, side], 0, &indexes, values, Duplicates::Refuse).unwrap();
    let square = times_sparse(PlusTimes, &t, &t).unwrap();
    assert_eq!(square.shape(), [side, side]);
    let entries: Vec<_> = square.storage().iter().collect();
    assert_eq!(entries, [(3 * side + 7, 6), (7 * side + 900_000, 10), (900_000 * side + 3, 15)]);
    let rotated = t.view().rotate(&[1, 0]).unwrap();
    let rotated = times_sparse(PlusTimes, &rotated, &t).unwrap();
    assert_eq!(rotated.get(&[4, 7]), Ok(6));
    let outer = contract(PlusTimes, &t, &t, &[]).unwrap_err();
    assert_eq!(outer, Error::ShapeOverflow { shape: vec![side; 4] });
}

/// The same bits in pools of any size, and for rows of very different lengths.
#[cfg(feature = "rayon")]
#[test]
fn products_do_not_depend_on_threads() {
    let mut a = scattered([400, 3000], 60_000, 3);
    a.view_mut().select((7,)).unwrap().fill(0.1).unwrap();
    let b = scattered([3000, 500], 30_000, 4);
    let x = Tensor::from_fn([3000, 40], |k| (k as f64 * 0.7).sin()).unwrap().to_tensor().unwrap();
    let column = x.view().select((.., 0)).unwrap().to_tensor().unwrap();
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            (
                times_sparse(PlusTimes, &a, &b).unwrap(),
                times_dense(PlusTimes, &a, &x).unwrap().to_vec().unwrap(),
                times_dense(PlusTimes, &a, &column).unwrap().to_vec().unwrap(),
            )
        })
    };
    let one = run(1);
    assert!(one.0.storage().stored_len() > 100_000);
    for threads in [2, 3] {
        let more = run(threads);
        assert_eq!(one.0.storage(), more.0.storage());
        assert!(one.1 == more.1 && one.2 == more.2);
    }
}

#[test]
fn empty_extents() {
    let none = Tensor::new([3, 0], Sparse::new(0, 0.0)).unwrap();
    let wide = Tensor::new([0, 4], Sparse::new(0, 0.0)).unwrap();
    let product = times_sparse(PlusTimes, &none, &wide).unwrap();
    assert_eq!((product.shape(), product.storage().stored_len()), (Shape::from([3, 4]), 0));
    let product = times_dense(PlusTimes, &none, &Tensor::full([0, 2], 1.0).unwrap()).unwrap();
    assert_eq!(product.to_vec().unwrap(), [0.0; 6]);
    let product = times_dense(PlusTimes, &none, &Tensor::full([0, 0], 1.0).unwrap()).unwrap();
    assert_eq!(product.shape(), [3, 0]);
    let infinite = Tensor::new([1, 2], Sparse::new(2, f64::INFINITY)).unwrap();
    let product = times_dense(MinPlus, &infinite, &Tensor::from(vec![1.0, 2.0])).unwrap();
    assert_eq!(product.to_vec().unwrap(), [f64::INFINITY]);
}

/// What is not stored is zero whatever it meets; what is stored is not.
#[test]
fn explicit_zeros_meet_nan() {
    let dense = Tensor::from(vec![f64::NAN, 1.0]);
    let implicit = Tensor::new([1, 2], Sparse::from_sorted(2, 0.0, vec![1], vec![2.0]).unwrap());
    let product = times_dense(PlusTimes, &implicit.unwrap(), &dense).unwrap();
    assert_eq!(product.to_vec().unwrap(), [2.0]);
    let explicit = Tensor::new([1, 2], Sparse::from_sorted(2, 0.0, vec![0], vec![0.0]).unwrap());
    let explicit = explicit.unwrap();
    assert!(times_dense(PlusTimes, &explicit, &dense).unwrap().to_vec().unwrap()[0].is_nan());
    let turned = explicit.view().transpose(&[1, 0]).unwrap();
    let square = times_sparse(PlusTimes, &turned, &explicit).unwrap();
    assert!(square.storage().iter().eq([(0, 0.0)]));
}

#[track_caller]
fn fails<T>(result: Result<T, Error>, error: Error, text: &str) {
    let found = result.err().unwrap();
    assert_eq!(found.to_string(), text);
    assert_eq!(found, error);
}

#[test]
fn what_cannot_be_multiplied() {
    let a = Tensor::new([2, 3], Sparse::new(6, 0)).unwrap();
    let what = "a product of entries";
    fails(
        times_sparse(PlusTimes, &a, &a),
        Error::Contraction { left: vec![2, 3], right: vec![2, 3], left_axis: 1, right_axis: 0 },
        "cannot multiply shapes [2, 3] and [2, 3]: axis 1 of the first has extent 3, axis 0 of the second 2",
    );
    fails(
        times_dense(PlusTimes, &a, &Tensor::from(vec![1, 2])),
        Error::Contraction { left: vec![2, 3], right: vec![2], left_axis: 1, right_axis: 0 },
        "cannot multiply shapes [2, 3] and [2]: axis 1 of the first has extent 3, axis 0 of the second 2",
    );
    let dense = Tensor::full([3, 2], 1).unwrap();
    fails(
        times_sparse(PlusTimes, &a, &dense),
        Error::NotSparse { what, argument: 2 },
        "a product of entries needs entries, argument 2 is not sparse",
    );
    fails(
        times_dense(PlusTimes, &dense, &a),
        Error::NotSparse { what, argument: 1 },
        "a product of entries needs entries, argument 1 is not sparse",
    );
    let ones = Tensor::new([3, 2], Sparse::new(6, 1)).unwrap();
    fails(
        times_sparse(PlusTimes, &a, &ones),
        Error::FillNotZero { what, argument: 2 },
        "a product of entries needs a fill value of zero, argument 2 has another",
    );
    let error = times_sparse(MinPlus, &a, &a.view().transpose(&[1, 0]).unwrap()).unwrap_err();
    assert_eq!(error, Error::FillNotZero { what, argument: 1 });
    let negative = Tensor::new([1], Sparse::new(1, -0.0)).unwrap();
    assert!(times_sparse(PlusTimes, &negative, &negative).is_err());
    let point = Tensor::new([], Sparse::new(1, 0)).unwrap();
    fails(
        times_sparse(PlusTimes, &point, &a),
        Error::Axis { axis: 0, rank: 0 },
        "axis 0 does not exist: the rank is 0",
    );
    let error = times_sparse(PlusTimes, &a, &point).unwrap_err();
    assert_eq!(error, Error::Axis { axis: 0, rank: 0 });
    let error = contract(PlusTimes, &a, &a, &[(0, 0), (0, 1)]).unwrap_err();
    assert_eq!(error, Error::RepeatedAxis { axis: 0 });
    let error = contract(PlusTimes, &a, &a, &[(0, 0), (2, 1)]).unwrap_err();
    assert_eq!(error, Error::Axis { axis: 2, rank: 2 });
    let scalar = contract(PlusTimes, &a, &a, &[(0, 0), (1, 1)]).unwrap();
    assert_eq!((scalar.rank(), scalar.item()), (0, Ok(0)));
}

/// Storage whose entries fall, repeat and lie outside.
struct Lies(Vec<usize>);

impl Reader for Lies {
    type Elem = i32;
    fn len(&self) -> usize {
        6
    }
    fn read(&self, _: usize) -> i32 {
        1
    }
    fn stored(&self) -> Option<&dyn Stored<Elem = i32>> {
        Some(self)
    }
}

impl Stored for Lies {
    type Elem = i32;
    fn fill(&self) -> i32 {
        0
    }
    fn count(&self) -> usize {
        self.0.len()
    }
    fn rank(&self, address: usize) -> usize {
        if address == 0 { 0 } else { self.0.len() }
    }
    fn entries(&self, from: usize, addresses: &mut [usize], values: &mut [i32]) -> usize {
        for (k, address) in addresses.iter_mut().enumerate() {
            *address = self.0[from + k];
        }
        values.fill(2);
        addresses.len()
    }
}

/// Wrong results at worst.
#[test]
fn liars_do_no_harm() {
    fn law(addresses: Vec<u8>, far: bool) -> bool {
        let far = if far { usize::MAX - 100 } else { 0 };
        let addresses: Vec<_> = addresses.iter().map(|&k| usize::from(k % 9) + far).collect();
        let a = Tensor::new([2, 3], Lies(addresses.clone())).unwrap();
        let b = Tensor::new([3, 2], Lies(addresses)).unwrap();
        let x = Tensor::full([3, 37], 1).unwrap();
        let _ = times_sparse(PlusTimes, &a, &b).map(|t| t.to_vec());
        let _ = contract(PlusTimes, &a, &b, &[]).map(|t| t.to_vec());
        let _ = contract(PlusTimes, &a, &b, &[(0, 1)]).map(|t| t.to_vec());
        let product = times_dense(PlusTimes, &a, &x);
        product.is_err() || product.unwrap().shape() == [2, 37]
    }
    check(law as fn(Vec<u8>, bool) -> bool);
}
