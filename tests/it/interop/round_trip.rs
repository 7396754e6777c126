//! What is written is read, bit for bit.

use lensor::dtype::{DType, DTypeVisitor, FileElement, SameBits};
use lensor::interop::mtx::{self, Symmetry};
use lensor::storage::Sparse;
use lensor::{Error, Tensor};
use quickcheck::{Arbitrary, Gen, QuickCheck};
use std::collections::BTreeMap;

/// A sparse matrix of any type: places and what they hold, as numbers from which elements are made.
#[derive(Debug, Clone)]
struct Matrix {
    dtype: DType,
    shape: [usize; 2],
    entries: BTreeMap<usize, u64>,
}

impl Arbitrary for Matrix {
    fn arbitrary(g: &mut Gen) -> Self {
        let extents = [0, 1, 1, 2, 3, 7, 1 << 20];
        let shape = [*g.choose(&extents).unwrap(), *g.choose(&extents).unwrap()];
        let count = shape[0] * shape[1];
        let wanted = if count == 0 { 0 } else { usize::arbitrary(g) % 20 };
        let dtype = *g.choose(DType::ALL).unwrap();
        let entries = (0..wanted).map(|_| (usize::arbitrary(g) % count, u64::arbitrary(g)));
        Self { dtype, shape, entries: entries.collect() }
    }
}

impl Matrix {
    /// Elements of any bits; of `bool`s the true ones, as patterns hold no others.
    fn tensor<T: FileElement>(&self) -> Tensor<Sparse<T>> {
        let bits = |seed: u64| {
            let mut bytes = <T::Bytes as bytemuck::Zeroable>::zeroed();
            let seed = [seed, seed.rotate_left(7)];
            let bytes_of = bytemuck::bytes_of_mut(&mut bytes);
            let len = bytes_of.len();
            bytes_of.copy_from_slice(&bytemuck::bytes_of(&seed)[..len]);
            T::from_bytes(bytes).unwrap_or(T::ONE)
        };
        let bits = |seed| if T::DTYPE == DType::Bool { T::ONE } else { bits(seed) };
        let (addresses, values) = self.entries.iter().map(|(&k, &seed)| (k, bits(seed))).unzip();
        let count = self.shape[0] * self.shape[1];
        let storage = Sparse::from_sorted(count, T::ZERO, addresses, values).unwrap();
        Tensor::new(self.shape, storage).unwrap()
    }
}

fn same<T: SameBits>(a: &Sparse<T>, b: &Sparse<T>) -> bool {
    a.addresses() == b.addresses()
        && a.values().iter().zip(b.values()).all(|(x, y)| x.same_bits(*y))
}

#[test]
fn entries_written_are_read() {
    struct Law(Matrix);
    impl DTypeVisitor for Law {
        type Output = bool;
        fn visit<T: FileElement>(self) -> bool {
            let t = self.0.tensor::<T>();
            let mut file = Vec::new();
            mtx::write(&mut file, &t).unwrap();
            let back = mtx::read::<T>(&file[..]).unwrap();
            let mut again = Vec::new();
            mtx::write(&mut again, &back).unwrap();
            back.shape() == self.0.shape && same(back.storage(), t.storage()) && file == again
        }
    }
    QuickCheck::new().quickcheck((|m: Matrix| m.dtype.visit(Law(m))) as fn(Matrix) -> bool);
}

/// The files of a view and of a copy of it are the same.
#[test]
fn views_are_written() {
    struct Law(Matrix, bool);
    impl DTypeVisitor for Law {
        type Output = bool;
        fn visit<T: FileElement>(self) -> bool {
            let t = self.0.tensor::<T>();
            let view = t.view().transpose([1, 0]).unwrap().flip(usize::from(self.1)).unwrap();
            let mut file = Vec::new();
            mtx::write(&mut file, &view).unwrap();
            let back = mtx::read::<T>(&file[..]).unwrap();
            let again = back.flip(usize::from(self.1)).unwrap().transpose([1, 0]).unwrap();
            let mut file = Vec::new();
            mtx::write(&mut file, &again).unwrap();
            same(mtx::read::<T>(&file[..]).unwrap().storage(), t.storage())
        }
    }
    QuickCheck::new()
        .quickcheck((|m: Matrix, last| m.dtype.visit(Law(m, last))) as fn(Matrix, bool) -> bool);
}

/// A matrix and its transpose together are symmetric; writing the half of them loses nothing.
#[test]
fn symmetric_matrices_are_written_by_half() {
    fn law(m: Matrix) -> bool {
        let side = m.shape[0];
        let mut both = BTreeMap::new();
        for (&k, &seed) in m.entries.iter().filter(|_| m.shape[1] == side) {
            both.insert(k, seed as i64);
            both.insert(k % side * side + k / side, seed as i64);
        }
        let (addresses, values): (Vec<_>, Vec<_>) = both.into_iter().unzip();
        let storage = Sparse::from_sorted(side * side, 0, addresses, values).unwrap();
        let t = Tensor::new([side, side], storage).unwrap();
        let mut file = Vec::new();
        mtx::write_as(&mut file, &t, Symmetry::Symmetric).unwrap();
        same(mtx::read::<i64>(&file[..]).unwrap().storage(), t.storage())
    }
    QuickCheck::new().quickcheck(law as fn(Matrix) -> bool);
}

#[test]
fn arrays_written_are_read() {
    struct Law(Matrix);
    impl DTypeVisitor for Law {
        type Output = bool;
        fn visit<T: FileElement>(self) -> bool {
            if self.0.shape[0] * self.0.shape[1] > 100 {
                return true;
            }
            let t = self.0.tensor::<T>();
            let mut file = Vec::new();
            mtx::write_array(&mut file, &t).unwrap();
            let (back, expected) = (mtx::read_array::<T>(&file[..]).unwrap(), t.to_vec().unwrap());
            let found = back.to_vec().unwrap();
            back.shape() == t.shape()
                && expected.iter().zip(&found).all(|(x, y)| x.same_bits(*y))
                && mtx::read::<T>(&file[..]).unwrap().storage().stored_len() == found.len()
        }
    }
    QuickCheck::new().quickcheck((|m: Matrix| m.dtype.visit(Law(m))) as fn(Matrix) -> bool);
}

#[test]
fn a_saved_file_is_opened() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("m.mtx");
    let storage = Sparse::from_sorted(6, 0.0, vec![1, 5], vec![0.1, f64::MIN_POSITIVE]).unwrap();
    let t = Tensor::new([2, 3], storage).unwrap();
    mtx::save(&path, &t).unwrap();
    assert_eq!(mtx::open::<f64>(&path).unwrap().storage(), t.storage());
    let header = mtx::open_header(&path).unwrap();
    assert_eq!((header.shape(), header.entries()), (&t.shape(), 2));
    assert_eq!(header.dtype(), Some(DType::F64));
    assert_eq!(header.symmetry(), Symmetry::General);
    assert_eq!((header.format(), header.field()), (mtx::Format::Coordinate, mtx::Field::Real));
}

/// What SciPy calls integers without a sign are integers.
#[test]
fn unsigned_integers_are_read() {
    let file = b"%%MatrixMarket matrix coordinate unsigned-integer general\n%\n1 2 1\n1 2 18446744073709551615\n";
    assert_eq!(mtx::Header::parse(file).unwrap().field(), mtx::Field::Integer);
    assert_eq!(mtx::read::<u64>(&file[..]).unwrap().to_vec().unwrap(), [0, u64::MAX]);
    assert!(matches!(mtx::read::<i64>(&file[..]), Err(Error::Line { line: 4, .. })));
}

/// Around each middle of two neighbours, and on it.
#[cfg(feature = "half")]
#[test]
fn words_of_half_precision_are_rounded_once() {
    use half::{bf16, f16};
    use lensor::dtype::TextElement;
    fn check<T: TextElement + PartialEq>(values: impl Iterator<Item = (T, f64)>) {
        let values: Vec<_> = values.collect();
        for (k, pair) in values.windows(2).enumerate() {
            let [(low, a), (high, b)] = [pair[0], pair[1]];
            let middle = (a + b) / 2.0;
            let even = if k % 2 == 0 { low } else { high };
            for (x, nearest) in
                [(middle.next_down(), low), (middle, even), (middle.next_up(), high)]
            {
                let text = format!("-{x:e}");
                let read = |text| T::from_words(&mut [text].into_iter());
                assert!(read(&text[1..]) == Some(nearest), "{x:e}");
                assert!(read(&text) == Some(nearest.opposite()), "{text}");
            }
        }
    }
    check((0..0x7c00).map(f16::from_bits).map(|x| (x, x.to_f64())));
    check((0..0x7f80).map(bf16::from_bits).map(|x| (x, x.to_f64())));
}
