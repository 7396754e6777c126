//! `.tns` files.

use crate::memory;
use lensor::dtype::SameBits;
use lensor::interop::tns;
use lensor::storage::Sparse;
use lensor::{Error, Shape, Tensor};
use quickcheck::QuickCheck;
use std::collections::BTreeMap;

fn bounded<T>(bytes: &[u8], read: impl FnOnce() -> T) -> T {
    memory::bounded(64 * bytes.len(), read)
}

#[track_caller]
fn refused(text: &str, message: &str) {
    let bytes = text.as_bytes();
    let found = bounded(bytes, || tns::read::<i64>(bytes)).map(drop).unwrap_err();
    assert_eq!(found.to_string(), message);
}

#[test]
fn entries_of_any_rank() {
    let t = tns::read::<f32>(&b"# three axes\n\n2 1 3 .5\n1 1 1 -1\n2 1 3 1.5\n"[..]).unwrap();
    assert_eq!(t.shape(), [2, 1, 3]);
    assert_eq!(t.storage().addresses(), [0, 5]);
    assert_eq!(t.storage().values(), [-1.0, 2.0]);
    let t = tns::read::<bool>(&b"4 1\r\n2 0"[..]).unwrap();
    assert_eq!(t.to_vec().unwrap(), [false, false, false, true]);
    let wide = |rank| format!("{}7\n", "1 ".repeat(rank));
    assert_eq!(tns::read::<u8>(wide(64).as_bytes()).unwrap().rank(), 64);
    refused(&wide(65), "a tensor has at most 64 axes, found 65");
    refused(&wide(2000), "a tensor has at most 64 axes, found 2000");
    let given = tns::read_shaped::<u8>(&b""[..], vec![1; 65]).map(drop);
    assert_eq!(given.unwrap_err().to_string(), "a tensor has at most 64 axes, found 65");
}

#[test]
fn a_shape_that_is_given() {
    let t = tns::read_shaped::<u8>(&b"1 2 9\n"[..], [1 << 20, 1 << 20]).unwrap();
    assert_eq!((t.shape(), t.get([0, 1])), (Shape::from([1 << 20, 1 << 20]), Ok(9)));
    assert_eq!(tns::read_shaped::<u8>(&b""[..], [2]).unwrap().to_vec(), Ok(vec![0, 0]));
    assert_eq!(tns::read_shaped::<u8>(&b"7\n"[..], []).unwrap().item(), Ok(7));
    let message = |text: &str, shape: &[usize]| {
        tns::read_shaped::<u8>(text.as_bytes(), shape).unwrap_err().to_string()
    };
    assert_eq!(message("1 3 9\n", &[2, 2]), "line 1: index 3 of axis 1 is not in 1..=2");
    assert_eq!(
        message("1 9\n", &[2, 2]),
        "line 1: expected one index per axis and a value, found \"1 9\""
    );
    assert_eq!(
        message("1 1 9\n", &[1 << 40, 1 << 40]),
        "shape [1099511627776, 1099511627776] has more elements than fit in isize"
    );
}

#[test]
fn what_is_malformed() {
    refused("", "line 1: expected an entry, found \"\"");
    refused("# nothing\n\n", "line 3: expected an entry, found \"\"");
    refused("5\n", "line 1: expected an index and a value, found \"5\"");
    refused("1 1 5\n1 5\n", "line 2: expected as many words as in the first line, found \"1 5\"");
    refused("1 0 5\n", "line 1: index 0 of axis 1 is not in 1..=9223372036854775807");
    refused("-1 5\n", "line 1: expected an index, a positive integer, found \"-1 5\"");
    refused(
        "1 5.5\n",
        "line 1: expected a value that fits the type after the index, found \"1 5.5\"",
    );
    refused("1 x\n", "line 1: expected a value that fits the type after the index, found \"1 x\"");
    refused(
        "4294967296 4294967296 5\n",
        "shape [4294967296, 4294967296] has more elements than fit in isize",
    );
    let long = "1 ".repeat(3000);
    refused(
        &long,
        &format!("line 1: expected a line of at most 4096 bytes, found {:?}", &long[..64]),
    );
    match tns::open::<f64>("no such file") {
        Err(Error::Io(error)) => assert_eq!(error.kind(), std::io::ErrorKind::NotFound),
        other => panic!("{other:?}"),
    }
}

/// A view is written as it is seen, and read again with its shape.
#[test]
fn entries_written_are_read() {
    fn law(entries: BTreeMap<u8, f64>, axis: u8) -> bool {
        let (addresses, values) = entries.iter().map(|(&k, &x)| (k as usize, x)).unzip();
        let t = Tensor::new([8, 1, 32], Sparse::from_sorted(256, 0.0, addresses, values).unwrap());
        let view = t.unwrap().move_axis(2, 0).unwrap().flip(axis as usize % 3).unwrap();
        let mut file = Vec::new();
        tns::write(&mut file, &view).unwrap();
        let back = tns::read_shaped::<f64>(&file[..], [32, 8, 1]).unwrap();
        let (found, expected) = (back.storage(), view.stored_entries().unwrap().unwrap());
        found.addresses() == expected.addresses()
            && found.values().iter().zip(expected.values()).all(|(a, b)| a.same_bits(*b))
            && bounded(&file, || tns::read::<f64>(&file[..])).is_ok() != entries.is_empty()
    }
    QuickCheck::new().quickcheck(law as fn(BTreeMap<u8, f64>, u8) -> bool);
}

#[test]
fn what_is_not_written() {
    let error = tns::write(Vec::new(), &Tensor::full([2, 2], 1).unwrap()).unwrap_err();
    assert_eq!(error, Error::NotSparse { what: "a .tns file", argument: 1 });
    let filled = Tensor::new([2, 2, 1], Sparse::new(4, 1)).unwrap();
    let error = tns::write(Vec::new(), &filled).unwrap_err();
    assert_eq!(error, Error::FillNotZero { what: "a .tns file", argument: 1 });
    let scalar = Tensor::new([], Sparse::from_dense(&[true], false).unwrap()).unwrap();
    let mut file = Vec::new();
    tns::write(&mut file, &scalar).unwrap();
    assert_eq!(file, b"1\n");
    assert_eq!(tns::read_shaped::<bool>(&file[..], []).unwrap().item(), Ok(true));
}

#[test]
fn entries_in_any_order_add_up() {
    fn law(entries: Vec<(u8, u8, u8, i64)>) -> bool {
        let mut file = String::new();
        let mut sums = BTreeMap::<_, i64>::new();
        let mut shape = [0; 3];
        for &(i, j, k, value) in &entries {
            let index = [i as usize % 5, j as usize, k as usize % 2];
            file += &format!("{} {} {} {value}\n", index[0] + 1, index[1] + 1, index[2] + 1);
            let sum = sums.entry(index).or_default();
            *sum = sum.wrapping_add(value);
            shape = [0, 1, 2].map(|axis| shape[axis].max(index[axis] + 1));
        }
        let read = bounded(file.as_bytes(), || tns::read::<i64>(file.as_bytes()));
        if entries.is_empty() {
            return read.is_err();
        }
        let (t, given) = (read.unwrap(), tns::read_shaped::<i64>(file.as_bytes(), [5, 256, 2]));
        t.shape() == shape
            && t.storage().stored_len() == sums.len()
            && t.storage().values().iter().eq(sums.values())
            && given.unwrap().storage().values().iter().eq(sums.values())
            && sums.iter().all(|(index, sum)| t.get(index) == Ok(*sum))
    }
    QuickCheck::new().quickcheck(law as fn(Vec<(u8, u8, u8, i64)>) -> bool);
}
