//! Elements that follow from others, read and written.

use lensor::interop::mtx::{self, Symmetry};
use lensor::storage::Sparse;
use lensor::{Error, Tensor};

fn matrix(side: usize, entries: &[(usize, i32)]) -> Tensor<Sparse<i32>> {
    let (addresses, values) = entries.iter().copied().unzip();
    let storage = Sparse::from_sorted(side * side, 0, addresses, values).unwrap();
    Tensor::new([side, side], storage).unwrap()
}

fn written(t: &Tensor<Sparse<i32>>, symmetry: Symmetry) -> Result<String, Error> {
    let mut file = Vec::new();
    mtx::write_as(&mut file, t, symmetry)?;
    Ok(String::from_utf8(file).unwrap())
}

#[test]
fn what_follows_is_read() {
    let head = "%%MatrixMarket matrix coordinate integer";
    let entries = "3 3 2\n2 1 5\n3 2 -7\n";
    let read = |symmetry: &str| {
        let file = format!("{head} {symmetry}\n{entries}");
        mtx::read::<i64>(file.as_bytes()).unwrap().to_vec().unwrap()
    };
    assert_eq!(read("general"), [0, 0, 0, 5, 0, 0, 0, -7, 0]);
    assert_eq!(read("symmetric"), [0, 5, 0, 5, 0, -7, 0, -7, 0]);
    assert_eq!(read("skew-symmetric"), [0, -5, 0, 5, 0, 7, 0, -7, 0]);
}

#[test]
fn what_follows_is_read_of_arrays() {
    let read = |symmetry: &str, side: usize, count: i64| {
        let lines: String = (1..=count).map(|k| format!("{k}\n")).collect();
        let file =
            format!("%%MatrixMarket matrix array integer {symmetry}\n{side} {side}\n{lines}");
        let dense = mtx::read_array::<i64>(file.as_bytes()).unwrap();
        let sparse = mtx::read::<i64>(file.as_bytes()).unwrap();
        assert_eq!(dense, sparse, "{symmetry}");
        dense.to_vec().unwrap()
    };
    assert_eq!(read("general", 2, 4), [1, 3, 2, 4]);
    assert_eq!(read("symmetric", 3, 6), [1, 2, 3, 2, 4, 5, 3, 5, 6]);
    assert_eq!(read("skew-symmetric", 3, 3), [0, -1, -2, 1, 0, -3, 2, 3, 0]);
    assert_eq!(read("skew-symmetric", 1, 0), [0]);
    assert_eq!(read("symmetric", 0, 0), [0_i64; 0]);
}

#[test]
fn the_lower_part_is_written() {
    let symmetric = matrix(3, &[(0, 4), (1, 5), (3, 5), (8, 0)]);
    assert_eq!(
        written(&symmetric, Symmetry::Symmetric).unwrap(),
        "%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n1 1 4\n2 1 5\n3 3 0\n"
    );
    let skew = matrix(2, &[(1, -5), (2, 5), (3, 0)]);
    assert_eq!(
        written(&skew, Symmetry::SkewSymmetric).unwrap(),
        "%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 5\n"
    );
}

#[test]
fn other_symmetries_are_refused() {
    let general = matrix(3, &[(1, 5), (3, 6)]);
    let error = written(&general, Symmetry::Symmetric).unwrap_err();
    assert_eq!(error, Error::Asymmetric { symmetry: "symmetric", index: [0, 1] });
    assert_eq!(
        error.to_string(),
        "the matrix is not symmetric: element [0, 1] differs from its mirror image"
    );
    let lonely = matrix(3, &[(5, 1)]);
    let error = written(&lonely, Symmetry::SkewSymmetric).unwrap_err();
    assert_eq!(error, Error::Asymmetric { symmetry: "skew-symmetric", index: [1, 2] });
    let opposite_to_itself = matrix(1, &[(0, i32::MIN)]);
    let error = written(&opposite_to_itself, Symmetry::SkewSymmetric).unwrap_err();
    assert_eq!(error, Error::Asymmetric { symmetry: "skew-symmetric", index: [0, 0] });
    // Off the diagonal it would be read as what it is on neither side.
    let twice = matrix(2, &[(1, i32::MIN), (2, i32::MIN)]);
    let error = written(&twice, Symmetry::SkewSymmetric).unwrap_err();
    assert_eq!(error, Error::Asymmetric { symmetry: "skew-symmetric", index: [0, 1] });
    let bytes = Sparse::from_sorted(4, 0_i8, vec![1, 2], vec![-127, 127]).unwrap();
    let bytes = Tensor::new([2, 2], bytes).unwrap();
    let mut file = Vec::new();
    mtx::write_as(&mut file, &bytes, Symmetry::SkewSymmetric).unwrap();
    assert_eq!(mtx::read::<i8>(&file[..]).unwrap().to_vec(), bytes.to_vec());
    let file = String::from_utf8(file).unwrap().replace(" 127", " -128");
    let error = mtx::read::<i8>(file.as_bytes()).unwrap_err();
    let expected = "row, column and an integer that fits the type";
    assert_eq!(error, Error::Line { line: 3, expected, found: "2 1 -128".into() });
    assert_eq!(mtx::read::<i16>(file.as_bytes()).unwrap().to_vec().unwrap(), [0, 128, -128, 0]);
    // Nothing without a sign is read as skew-symmetric, so nothing is written so.
    for entries in [vec![], vec![3_u8, 253]] {
        let addresses = if entries.is_empty() { vec![] } else { vec![1, 2] };
        let t = Tensor::new([2, 2], Sparse::from_sorted(4, 0, addresses, entries).unwrap());
        let error = mtx::write_as(Vec::new(), &t.unwrap(), Symmetry::SkewSymmetric).unwrap_err();
        let expected = "numbers with a sign";
        assert_eq!(error, Error::ElementType { expected, found: "u8".into() });
    }
    for (shape, index) in [([1, 2], [0, 1]), ([2, 1], [1, 0])] {
        let oblong = Tensor::new(shape, Sparse::new(2, 0.0)).unwrap();
        let error = mtx::write_as(Vec::new(), &oblong, Symmetry::Symmetric).unwrap_err();
        assert_eq!(error, Error::Asymmetric { symmetry: "symmetric", index });
    }
    let bits = Tensor::new([1, 1], Sparse::new(1, false)).unwrap();
    let error = mtx::write_as(Vec::new(), &bits, Symmetry::SkewSymmetric).unwrap_err();
    let expected = "values, as patterns have no sign";
    assert_eq!(error, Error::ElementType { expected, found: "bool".into() });
}

#[test]
fn what_cannot_be_written() {
    let vector = Tensor::new([4], Sparse::new(4, 0)).unwrap();
    let error = mtx::write(Vec::new(), &vector).unwrap_err();
    assert_eq!(error, Error::ExpectedRank { expected: 2, shape: vec![4] });
    assert_eq!(error.to_string(), "expected a tensor of rank 2, found shape [4]");
    let error = mtx::write_array(Vec::new(), Tensor::full([2, 1, 1], 1).unwrap()).unwrap_err();
    assert_eq!(error, Error::ExpectedRank { expected: 2, shape: vec![2, 1, 1] });
    let error = mtx::write(Vec::new(), &Tensor::full([2, 2], 1).unwrap()).unwrap_err();
    assert_eq!(error, Error::NotSparse { what: "a coordinate file", argument: 1 });
    assert_eq!(
        error.to_string(),
        "a coordinate file needs entries, argument 1 is not sparse: `to_sparse(fill)` makes it so"
    );
    for fill in [1.0, -0.0, f64::NAN] {
        let filled = Tensor::new([2, 2], Sparse::new(4, fill)).unwrap();
        let error = mtx::write(Vec::new(), &filled).unwrap_err();
        assert_eq!(error, Error::FillNotZero { what: "a coordinate file", argument: 1 });
        assert_eq!(
            error.to_string(),
            "a coordinate file needs a fill value of zero, argument 1 has another"
        );
    }
}

#[cfg(feature = "complex")]
#[test]
fn complex_values() {
    use num_complex::Complex64;
    let file = "%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 3 0\n2 1 1 -2.5\n";
    let t = mtx::read::<Complex64>(file.as_bytes()).unwrap();
    let (a, b) = (Complex64::new(3.0, 0.0), Complex64::new(1.0, -2.5));
    assert_eq!(t.to_vec().unwrap(), [a, b.conj(), b, Complex64::ZERO]);
    let mut again = Vec::new();
    mtx::write_as(&mut again, &t, Symmetry::Hermitian).unwrap();
    let expected = file.replace("3 0", "3.0 0.0").replace("1 -2.5", "1.0 -2.5");
    assert_eq!(String::from_utf8(again).unwrap(), expected);
    assert!(mtx::write_as(Vec::new(), &t, Symmetry::Symmetric).is_err());

    let real = "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n";
    assert_eq!(mtx::read::<Complex64>(real.as_bytes()).unwrap().get([0, 0]), Ok(2.0.into()));
    let malformed = file.replace("3 0", "3");
    let error = mtx::read::<Complex64>(malformed.as_bytes()).unwrap_err();
    let expected = "row, column, real and imaginary part";
    assert_eq!(error, Error::Line { line: 3, expected, found: "1 1 3".into() });
}
