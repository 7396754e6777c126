//! Sparse tensors one after another are sparse: their entries, by themselves, under views and in expressions.

use lensor::conformance::check_reader;
use lensor::dtype::SameBits;
use lensor::prelude::*;
use lensor::storage::{Concat, Constant, Sparse};
use lensor::tensor::{concat, stack};
use lensor::{StorageError, Stored};
use quickcheck::{TestResult, quickcheck};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// A tensor of a few small numbers and many zeros.
fn few(shape: &[usize], seed: &mut u64) -> Tensor<Vec<i32>> {
    let count = shape.iter().product();
    let element = |_| {
        *seed =
            seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        if *seed >> 62 == 0 { (*seed >> 33) as i32 % 9 } else { 0 }
    };
    Tensor::from_vec(shape, (0..count).map(element).collect()).unwrap()
}

/// The entries of a view, which has to be sparse.
fn entries<S: Reader>(t: &Tensor<S>) -> Vec<(usize, S::Elem)> {
    t.stored_entries().unwrap().expect("it is sparse").iter().collect()
}

/// The same of elements that are not 0.
fn others(dense: &[i32]) -> Vec<(usize, i32)> {
    dense.iter().copied().enumerate().filter(|(_, x)| *x != 0).collect()
}

/// Whether a joined tensor has the laws of sparse storage and the entries of its dense copy, also under views.
fn is_as<S: Reader<Elem = i32>>(joined: &Tensor<S>, dense: &[i32]) -> bool {
    check_reader(joined.storage()).unwrap();
    let turned: Vec<usize> = (0..joined.rank()).rev().collect();
    let turned = joined.view().transpose(turned).unwrap();
    let model = Tensor::from_vec(joined.shape(), dense.to_vec()).unwrap();
    let order: Vec<usize> = (0..joined.rank()).rev().collect();
    let model = model.transpose(order).unwrap().to_vec().unwrap();
    let doubled = (&turned * 2 + &turned).eval_sparse().unwrap();
    entries(joined) == others(dense)
        && entries(&turned) == others(&model)
        && joined.to_vec().unwrap() == dense
        && doubled.to_vec().unwrap() == model.iter().map(|x| x * 3).collect::<Vec<_>>()
        && joined.sum(..).item().unwrap() == dense.iter().map(|x| i64::from(*x)).sum::<i64>()
}

quickcheck! {
    /// Along any axis, parts of any extents there, some of them empty.
    fn parts_along_an_axis(shape: (u8, u8, u8), axis: usize, extents: Vec<u8>, seed: u64) -> TestResult {
        let shape = [shape.0 % 5, shape.1 % 5, shape.2 % 5].map(usize::from);
        let (axis, mut seed) = (axis % 3, seed);
        let mut parts = Vec::new();
        for extent in extents.iter().take(5) {
            let mut shape = shape;
            shape[axis] = usize::from(extent % 4);
            parts.push(few(&shape, &mut seed));
        }
        if parts.is_empty() {
            return TestResult::discard();
        }
        let dense = concat(axis, &parts).unwrap().to_vec().unwrap();
        let sparse: Vec<_> = parts.iter().map(|part| part.to_sparse(0).unwrap()).collect();
        TestResult::from_bool(is_as(&concat(axis, &sparse).unwrap(), &dense))
    }

    /// Along a new axis, parts of a larger tensor, or transposed alike.
    fn parts_along_a_new_axis(rows: u8, columns: u8, axis: usize, seed: u64) -> bool {
        let (rows, columns, mut seed) = (usize::from(rows % 6), usize::from(columns % 6), seed);
        let parts = [(); 3].map(|()| few(&[rows + 1, columns], &mut seed));
        let sparse = [0, 1, 2].map(|k| parts[k].to_sparse(0).unwrap());
        let axis = axis % 3;
        let below = stack(axis, parts.each_ref().map(|t| t.view().slice(0, 1..).unwrap())).unwrap();
        let few = stack(axis, sparse.each_ref().map(|t| t.view().slice(0, 1..).unwrap())).unwrap();
        let turned = stack(axis, parts.each_ref().map(|t| t.view().transpose([1, 0]).unwrap())).unwrap();
        let alike = stack(axis, sparse.each_ref().map(|t| t.view().transpose([1, 0]).unwrap())).unwrap();
        is_as(&few, &below.to_vec().unwrap())
            && alike.to_vec().unwrap() == turned.to_vec().unwrap()
            && (axis != 0 || entries(&alike) == others(&turned.to_vec().unwrap()))
    }
}

/// Time and memory go with the entries, not with rows or elements.
#[test]
fn rows_without_entries_cost_nothing() {
    let rows = 1 << 40;
    let of = |entry: usize| {
        Tensor::new(
            [rows, 3],
            Sparse::from_sorted(3 * rows, 0, vec![entry, 3 * rows - 2], vec![7, 8]).unwrap(),
        )
    };
    let (a, b) = (of(1).unwrap(), of(3_000_000_000).unwrap());
    let joined = concat(1, [&a, &b]).unwrap();
    let last = 6 * (rows - 1);
    assert_eq!(entries(&joined), [(1, 7), (6_000_000_003, 7), (last + 1, 8), (last + 4, 8)]);
    assert_eq!(entries(&joined.select((1_000_000_000.., 3)).unwrap()), [(0, 7)]);
    let row = Tensor::new([4], Sparse::from_sorted(4, 0, vec![2], vec![5]).unwrap()).unwrap();
    let many = stack(0, (0..20_000).map(|_| row.view())).unwrap();
    let ranks: usize = (0..20_000).map(|k| many.storage().stored().unwrap().rank(4 * k)).sum();
    assert_eq!(ranks, 20_000 * 19_999 / 2);
    assert_eq!(entries(&many.max(0).eval_sparse().unwrap()), [(2, 5)]);
}

/// Sparse storage that counts what is asked: ranks, lists of entries, and elements or runs, which are not of step -1.
struct Counted {
    own: Sparse<i32>,
    asked: [AtomicUsize; 3],
}

impl Counted {
    /// A matrix with one entry in each row.
    fn rows(rows: usize, columns: usize, fill: i32) -> Tensor<Self> {
        let at = (0..rows).map(|row| row * columns + row * 7 % columns).collect();
        let own = Sparse::from_sorted(rows * columns, fill, at, (1..=rows as i32).collect());
        Tensor::new([rows, columns], Self { own: own.unwrap(), asked: Default::default() }).unwrap()
    }

    fn asked(t: &Tensor<Self>) -> [usize; 3] {
        t.storage().asked.each_ref().map(|count| count.swap(0, Relaxed))
    }
}

impl Reader for Counted {
    type Elem = i32;
    fn len(&self) -> usize {
        self.own.len()
    }
    fn read(&self, address: usize) -> i32 {
        self.asked[2].fetch_add(1, Relaxed);
        self.own.read(address)
    }
    fn read_run(&self, start: usize, step: isize, out: &mut [i32]) -> Result<(), StorageError> {
        self.asked[2].fetch_add(1, Relaxed);
        assert!(step != -1 || out.len() < 2);
        self.own.read_run(start, step, out)
    }
    fn stored(&self) -> Option<&dyn Stored<Elem = i32>> {
        Some(self)
    }
}

impl Stored for Counted {
    type Elem = i32;
    fn fill(&self) -> i32 {
        self.own.fill()
    }
    fn count(&self) -> usize {
        self.own.count()
    }
    fn rank(&self, address: usize) -> usize {
        self.asked[0].fetch_add(1, Relaxed);
        self.own.rank(address)
    }
    fn entries(&self, from: usize, addresses: &mut [usize], values: &mut [i32]) -> usize {
        self.asked[1].fetch_add(1, Relaxed);
        self.own.entries(from, addresses, values)
    }
}

/// Of parts side by side in many rows, and of one among many parts.
#[test]
fn entries_are_asked_for_in_long_stretches() {
    let (a, b) = (Counted::rows(5000, 10, 0), Counted::rows(5000, 3, 0));
    let joined = concat(1, [&a, &b]).unwrap();
    assert_eq!(entries(&joined).len(), 10_000);
    for part in [&a, &b] {
        let [ranks, lists, elements] = Counted::asked(part);
        assert!(ranks <= 40 && lists <= 2 && elements == 0, "{ranks} {lists} {elements}");
    }
    let rows: Vec<_> = (0..200).map(|_| Counted::rows(1, 10, 0)).collect();
    let joined = stack(0, &rows).unwrap();
    rows.iter().for_each(|row| _ = Counted::asked(row));
    assert_eq!(entries(&joined.select((150, .., ..)).unwrap()), [(0, 1)]);
    let all = rows.iter().map(Counted::asked);
    let [ranks, lists, elements] = all.fold([0; 3], |[a, b, c], [d, e, f]| [a + d, b + e, c + f]);
    assert!(ranks <= 20 && lists == 1 && elements == 0, "{ranks} {lists} {elements}");
}

/// Columns whose fill values differ are not sparse together, and are read as columns of memory are.
#[test]
fn columns_of_two_fill_values_are_read_in_runs() {
    let (a, b) = (Counted::rows(500, 1, 0), Counted::rows(500, 1, 9));
    let joined = concat(1, [&a, &b]).unwrap();
    assert!(joined.storage().stored().is_none());
    let elements = joined.to_vec().unwrap();
    assert!(elements.iter().copied().eq((2..1002).map(|k| k / 2)));
    assert!(Counted::asked(&a)[2] <= 4);
}

/// Of a part that is one column a flipped view is read forward, too.
#[test]
fn flipped_columns_are_read_forward() {
    let (a, b) = (Counted::rows(40, 1, 0), Counted::rows(40, 100, 0));
    let joined = concat(1, [&a, &b]).unwrap();
    let flipped = joined.slice(1, 0..1).unwrap().flip(0).unwrap();
    assert!(flipped.to_vec().unwrap().into_iter().eq((1..=40).rev()));
}

/// Entries where there is no element, and none where some were promised.
#[test]
fn parts_that_lie_are_an_error_or_wrong() {
    struct Liar(Vec<usize>);
    impl Reader for Liar {
        type Elem = i32;
        fn len(&self) -> usize {
            6
        }
        fn read(&self, _: usize) -> i32 {
            0
        }
        fn stored(&self) -> Option<&dyn Stored<Elem = i32>> {
            Some(self)
        }
    }
    impl Stored for Liar {
        type Elem = i32;
        fn fill(&self) -> i32 {
            0
        }
        fn count(&self) -> usize {
            3
        }
        fn rank(&self, address: usize) -> usize {
            if address < 6 { address / 2 } else { 3 }
        }
        fn entries(&self, from: usize, addresses: &mut [usize], values: &mut [i32]) -> usize {
            let entries =
                self.0[from.min(self.0.len())..].iter().zip(addresses.iter_mut().zip(values));
            entries.map(|(&own, (address, value))| (*address, *value) = (own, 1)).count()
        }
    }
    for entries in
        [vec![], vec![1], vec![1, 3, usize::MAX], vec![usize::MAX; 3], vec![5, 3, 1], vec![0; 9]]
    {
        for axis in 0..2 {
            let part = || Tensor::new([3, 2], Liar(entries.clone())).unwrap();
            let joined = concat(axis, [part(), part()]).unwrap();
            let doubled = (&joined * 2).eval_sparse();
            assert!(
                doubled.is_ok() || matches!(doubled, Err(Error::InvalidSparse { .. })),
                "{doubled:?}"
            );
            joined.sum(axis).eval().map(drop).unwrap_or_default();
        }
    }
}

/// What is one fill value is told for numbers, `bool` and `char`, bit by bit but for NaN.
#[test]
fn parts_have_one_fill_value() {
    fn joined<T: SameBits + Send + Sync>(a: T, b: T) -> bool {
        let part = |fill| Sparse::from_sorted(2, fill, vec![1], vec![fill]).unwrap();
        Concat::new(vec![part(a), part(b)]).unwrap().stored().is_some()
    }
    assert!(joined(2_u8, 2) && joined('x', 'x') && joined(true, true) && joined(-1_i128, -1));
    assert!(joined(f64::NAN, -f64::NAN) && joined(0.0_f32, 0.0));
    assert!(!joined(0.0, -0.0) && !joined(1, 2) && !joined('x', 'y') && !joined(true, false));
    #[cfg(feature = "half")]
    assert!(joined(half::f16::ONE, half::f16::ONE));
    #[cfg(feature = "complex")]
    assert!(joined(num_complex::Complex::new(1.0, 2.0), num_complex::Complex::new(1.0, 2.0)));
    // Elements of another type, or one of a lifetime, are not compared.
    let none = || Constant::new(2, (1, 2));
    assert!(Concat::new(vec![none(), none()]).unwrap().stored().is_none());
    let words = || Constant::new(2, "word");
    assert!(Concat::new(vec![words(), words()]).unwrap().stored().is_none());
    // Nor is memory sparse, and constants have no entries.
    assert!(Concat::new(vec![vec![0], vec![0]]).unwrap().stored().is_none());
    let constants = Concat::new(vec![Constant::new(2, 5), Constant::new(3, 5)]).unwrap();
    assert_eq!(constants.stored().map(|stored| (stored.fill(), stored.count())), Some((5, 0)));
    assert!(Concat::<Sparse<i32>>::new(vec![]).unwrap().stored().is_none());
}
