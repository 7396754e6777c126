//! Matrices of sprs as storage, and views as matrices of sprs.

use lensor::arbitrary::Viewed;
use lensor::interop::sprs::{
    from_coordinates, sparse_rows, tensor, to_coordinates, to_csc, to_csr, to_sparse,
};
use lensor::product::PlusTimes;
use lensor::ragged::Ragged;
use lensor::storage::Sparse;
use lensor::storage::conformance::check_reader;
use lensor::{Error, Reader, Shape, Stored, Tensor};
use quickcheck::{Arbitrary, Gen, QuickCheck};
use sprs::{CsMat, CsMatI, SpIndex, TriMat};

fn check<A: quickcheck::Testable>(property: A) {
    QuickCheck::new().tests(200).quickcheck(property);
}

/// Triplets in any order, some of them of one place, in matrices that may be empty.
#[derive(Debug, Clone)]
struct Triplets {
    shape: (usize, usize),
    entries: Vec<(usize, usize, i32)>,
}

impl Arbitrary for Triplets {
    fn arbitrary(g: &mut Gen) -> Self {
        let extents = [0, 1, 1, 2, 3, 5, 9, 20];
        let shape = (*g.choose(&extents).unwrap(), *g.choose(&extents).unwrap());
        let wanted = if shape.0 * shape.1 == 0 { 0 } else { usize::arbitrary(g) % 40 };
        let mut digit = |extent: usize| usize::arbitrary(g) % extent;
        let places: Vec<_> = (0..wanted).map(|_| (digit(shape.0), digit(shape.1))).collect();
        let entries = places.into_iter().map(|(row, column)| (row, column, i32::arbitrary(g)));
        Self { shape, entries: entries.collect() }
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        let shape = self.shape;
        Box::new(self.entries.shrink().map(move |entries| Self { shape, entries }))
            as Box<dyn Iterator<Item = Self>>
    }
}

impl Triplets {
    /// The elements, row by row.
    fn dense(&self) -> Vec<i32> {
        let mut dense = vec![0_i32; self.shape.0 * self.shape.1];
        for &(row, column, value) in self.inside() {
            let element = &mut dense[row * self.shape.1 + column];
            *element = element.wrapping_add(value);
        }
        dense
    }

    /// Shrunken entries may lie outside.
    fn inside(&self) -> impl Iterator<Item = &(usize, usize, i32)> {
        self.entries.iter().filter(|entry| entry.0 < self.shape.0 && entry.1 < self.shape.1)
    }

    /// The matrix; sprs would overflow where values are summed.
    fn compressed<I: SpIndex>(&self, by_rows: bool) -> CsMatI<i32, I> {
        let mut triplets = TriMat::new(self.shape);
        for (address, value) in self.dense().into_iter().enumerate().filter(|(_, x)| *x != 0) {
            triplets.add_triplet(address / self.shape.1, address % self.shape.1, value);
        }
        let matrix = if by_rows { triplets.to_csr::<usize>() } else { triplets.to_csc() };
        matrix.to_other_types()
    }
}

#[test]
fn compressed_matrices_keep_the_laws_of_storage() {
    fn law<I: SpIndex>(triplets: Triplets, by_rows: bool) -> bool {
        let matrix = triplets.compressed::<I>(by_rows);
        let (owned, borrowed) = (tensor(matrix.clone()).unwrap(), tensor(matrix.view()).unwrap());
        assert_eq!(check_reader(owned.storage()), Ok(()));
        assert_eq!(check_reader(borrowed.storage()), Ok(()));
        assert_eq!(owned.shape(), [triplets.shape.0, triplets.shape.1]);
        assert_eq!(owned.storage().stored().map(|stored| stored.count()), Some(matrix.nnz()));
        owned.to_vec().unwrap() == triplets.dense()
            && borrowed.to_vec().unwrap() == triplets.dense()
            && owned.into_storage().into_inner() == matrix
    }
    check(law::<usize> as fn(Triplets, bool) -> bool);
    check(law::<u32> as fn(Triplets, bool) -> bool);
    check(law::<i16> as fn(Triplets, bool) -> bool);
}

/// A part of a matrix borrows it with pointers that do not begin at 0.
#[test]
fn parts_of_matrices_are_storage() {
    fn law(triplets: Triplets, first: usize, len: usize) -> bool {
        let matrix = triplets.compressed::<usize>(true);
        let first = first % (triplets.shape.0 + 1);
        let end = first + len % (triplets.shape.0 - first + 1);
        let part = matrix.slice_outer(first..end);
        let t = tensor(part.view()).unwrap();
        assert_eq!(check_reader(t.storage()), Ok(()));
        let columns = triplets.shape.1;
        t.to_vec().unwrap() == triplets.dense()[first * columns..end * columns]
            && to_csr(&t).unwrap().to_dense() == part.to_dense()
    }
    check(law as fn(Triplets, usize, usize) -> bool);
}

#[test]
fn matrices_come_back() {
    fn law(triplets: Triplets, by_rows: bool) -> bool {
        let matrix = triplets.compressed::<usize>(by_rows);
        let t = tensor(matrix.view()).unwrap();
        to_csr(&t).unwrap() == matrix.to_csr()
            && to_csc(&t).unwrap() == matrix.to_csc()
            && to_coordinates(&t).unwrap().to_csr::<usize>() == matrix.to_csr()
    }
    check(law as fn(Triplets, bool) -> bool);
}

#[test]
fn triplets_are_summed() {
    fn law(triplets: Triplets) -> bool {
        let mut matrix = TriMat::new(triplets.shape);
        for &(row, column, value) in triplets.inside() {
            matrix.add_triplet(row, column, value);
        }
        from_coordinates(&matrix).unwrap().to_vec().unwrap() == triplets.dense()
    }
    check(law as fn(Triplets) -> bool);
}

/// Matrices of sprs are operands as they are, by rows or columns.
#[test]
fn products_are_those_of_sprs() {
    fn law(triplets: Triplets, by_rows: bool, seed: u8) -> bool {
        let a = triplets.compressed::<u32>(by_rows).map(|value| f64::from(value % 1000));
        let b = a.transpose_view().to_other_storage();
        let (s, t) = (tensor(a.view()).unwrap(), tensor(b.view()).unwrap());
        let product = s.times_sparse(&t, PlusTimes).unwrap();
        let x: Vec<f64> = (0..a.cols()).map(|k| f64::from(seed) - k as f64).collect();
        let column = s.times_dense(&Tensor::from(x.clone()), PlusTimes).eval().unwrap();
        let mut expected = vec![0.0; a.rows()];
        sprs::prod::mul_acc_mat_vec_csr(a.to_csr().view(), &x, &mut expected);
        to_csr(&product).unwrap().to_dense() == (&a.to_csr() * &b.to_csr()).to_dense()
            && column.to_vec().unwrap() == expected
    }
    check(law as fn(Triplets, bool, u8) -> bool);
}

/// Any view with two axes: its matrix is that of its dense copy.
#[test]
fn views_become_matrices() {
    fn law(viewed: Viewed<i8>, thin: bool) -> bool {
        let (shape, data) = viewed.model();
        let rows = shape.iter().take(1 + usize::from(thin)).product();
        let columns = shape.iter().skip(1 + usize::from(thin)).product::<usize>();
        if shape.is_empty() {
            return true;
        }
        let storage = Sparse::from_dense(viewed.data(), 0).unwrap();
        let t = Tensor::with_map(viewed.chain().map(), storage).unwrap();
        let t = t.reshape([rows, columns]).unwrap();
        let (csr, csc) = (to_csr(&t).unwrap(), to_csc(&t).unwrap());
        let dense = |row: usize, column: usize| data[row * columns + column];
        let nonzero = data.iter().filter(|x| **x != 0).count();
        let agrees = |row, column| {
            [&csr, &csc]
                .iter()
                .all(|m| m.get(row, column).copied().unwrap_or(0) == dense(row, column))
        };
        csr.is_csr()
            && csc.is_csc()
            && [&csr, &csc].iter().all(|m| m.shape() == (rows, columns) && m.nnz() == nonzero)
            && (0..rows).all(|row| (0..columns).all(|column| agrees(row, column)))
    }
    check(law as fn(Viewed<i8>, bool) -> bool);
}

#[test]
fn what_is_no_matrix_of_sprs() {
    let vector = Tensor::new([4], Sparse::new(4, 0)).unwrap();
    let error = Error::ExpectedRank { expected: 2, shape: vec![4] };
    assert_eq!(to_csr(&vector).unwrap_err(), error);
    assert_eq!(to_csc(&vector).unwrap_err(), error);
    assert_eq!(to_coordinates(&vector).unwrap_err(), error);
    let dense = Tensor::full([2, 2], 0).unwrap();
    let error = to_csr(&dense).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a matrix of sprs needs entries, argument 1 is not sparse: `to_sparse(fill)` makes it so"
    );
    let ones = Tensor::new([2, 2], Sparse::new(4, 1)).unwrap();
    let error = to_csc(&ones).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a matrix of sprs needs a fill value of zero, argument 1 has another"
    );
    let long = Tensor::new([1 << 60, 1], Sparse::new(1 << 60, 0)).unwrap();
    let error = to_csr(&long).unwrap_err();
    assert_eq!(error, Error::OutOfMemory { bytes: 8 * ((1 << 60) + 1) });
    assert_eq!(to_csc(&long).unwrap().nnz(), 0);
    let empty = CsMat::<f64>::new_csc((1 << 40, 0), vec![0], vec![], vec![]);
    assert_eq!(tensor(empty).unwrap().shape(), [1 << 40, 0]);
}

#[test]
fn more_elements_than_addresses() {
    let matrix = CsMat::<f64>::new_csc((usize::MAX / 2, 3), vec![0; 4], vec![], vec![]);
    match tensor(matrix) {
        Err(Error::ShapeOverflow { shape }) => assert_eq!(shape, [3, usize::MAX / 2]),
        other => panic!("{:?}", other.map(|t| t.shape())),
    }
}

/// Storage whose entries fall.
struct Falling;

impl Reader for Falling {
    type Elem = i32;
    fn len(&self) -> usize {
        4
    }
    fn read(&self, _: usize) -> i32 {
        1
    }
    fn stored(&self) -> Option<&dyn Stored<Elem = i32>> {
        Some(self)
    }
}

impl Stored for Falling {
    type Elem = i32;
    fn fill(&self) -> i32 {
        0
    }
    fn count(&self) -> usize {
        2
    }
    fn rank(&self, address: usize) -> usize {
        if address == 0 { 0 } else { 2 }
    }
    fn entries(&self, _: usize, addresses: &mut [usize], values: &mut [i32]) -> usize {
        addresses.copy_from_slice(&[3, 1]);
        values.copy_from_slice(&[1, 1]);
        2
    }
}

#[test]
fn entries_that_fall_are_refused() {
    let t = Tensor::new(Shape::from([2, 2]), Falling).unwrap();
    for error in [to_csr(&t).map(drop), to_coordinates(&t).map(drop)] {
        let text = "invalid sparse structure at entry 1: address 1 follows 3";
        assert_eq!(error.unwrap_err().to_string(), text);
    }
    assert!(to_csc(&t).is_err());
}

/// Rows of columns and of values, and back.
#[test]
fn matrices_become_rows_and_back() {
    fn comes_back(triplets: Triplets) -> bool {
        let matrix = triplets.compressed::<u32>(true);
        let (columns, values) = sparse_rows(matrix.view()).unwrap();
        assert_eq!(values.content().storage().as_ptr(), matrix.data().as_ptr());
        assert_eq!(columns.content().storage().as_ptr(), matrix.indices().as_ptr());
        let back = to_sparse(&columns, &values, triplets.shape.1).unwrap();
        back.to_vec().unwrap() == triplets.dense()
            && back.shape() == [triplets.shape.0, triplets.shape.1]
    }
    check(comes_back as fn(Triplets) -> bool);
    let matrix = CsMat::new((3, 4), vec![0, 2, 2, 3], vec![1, 3, 0], vec![5, 6, 7]);
    let part = matrix.slice_outer(1..3);
    let (columns, values) = sparse_rows(part).unwrap();
    assert_eq!((columns.to_string(), values.to_string()), ("[[], [0]]".into(), "[[], [7]]".into()));
    let rows = |rows: Vec<Vec<usize>>| Ragged::from_nested(rows).unwrap();
    let (a, b) = (rows(vec![vec![1], vec![2, 0]]), rows(vec![vec![5], vec![6]]));
    let error = to_sparse(&a, &b, 3).unwrap_err();
    assert_eq!(error, Error::RowLength { row: vec![1], axis: 1, items: 1, expected: 2 });
    let error = to_sparse(&a, &rows(vec![vec![5]]), 3).unwrap_err();
    assert_eq!(
        error.to_string(),
        Error::ListLength { what: "rows of values", axis: 0, extent: 2, found: 1 }.to_string()
    );
    assert!(matches!(to_sparse(&a, &a, 2), Err(Error::InvalidSparse { .. } | Error::Index { .. })));
    let deep = Ragged::from_nested(vec![vec![vec![1_usize]]]).unwrap();
    assert!(matches!(to_sparse(&deep, &deep, 2), Err(Error::ExpectedRank { .. })));
}
