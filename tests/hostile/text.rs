//! Files from strangers: an error for every one, no panic, no abort, bounded memory.

use crate::memory;
use lensor::dtype::{DType, DTypeVisitor, FileElement};
use lensor::interop::mtx::{self, Header};
use lensor::{Error, Reader};
use std::io::Read;

const REAL: &str = "%%MatrixMarket matrix coordinate real general\n";

/// What reading takes at most for each byte present: an entry of 4 bytes is mirrored, and held twice with
/// room to grow while it is sorted.
fn bounded<T>(bytes: &[u8], read: impl FnOnce() -> T) -> T {
    memory::bounded(64 * bytes.len(), read)
}

#[track_caller]
fn refused(text: &str, error: &Error, message: &str) {
    let bytes = text.as_bytes();
    let found = bounded(bytes, || mtx::read::<f64>(bytes)).map(drop).unwrap_err();
    assert_eq!((&found, found.to_string().as_str()), (error, message));
}

/// A line that is malformed.
#[track_caller]
fn malformed(text: &str, line: usize, expected: &'static str, found: &str) {
    let message = format!("line {line}: expected {expected}, found {found:?}");
    refused(text, &Error::Line { line, expected, found: found.into() }, &message);
}

#[test]
fn an_index_outside() {
    refused(
        &format!("{REAL}2 3 1\n3 1 5\n"),
        &Error::LineIndex { line: 3, axis: 0, index: 3, extent: 2 },
        "line 3: index 3 of axis 0 is not in 1..=2",
    );
    refused(
        &format!("{REAL}% a comment\n\n2 3 1\n2 4 5\n"),
        &Error::LineIndex { line: 5, axis: 1, index: 4, extent: 3 },
        "line 5: index 4 of axis 1 is not in 1..=3",
    );
    refused(
        &format!("{REAL}2 2 1\n0 1 5\n"),
        &Error::LineIndex { line: 3, axis: 0, index: 0, extent: 2 },
        "line 3: index 0 of axis 0 is not in 1..=2",
    );
    refused(
        &format!("{REAL}0 5 1\n1 1 5\n"),
        &Error::LineIndex { line: 3, axis: 0, index: 1, extent: 0 },
        "line 3: index 1 of axis 0 is not in 1..=0",
    );
}

#[test]
fn entries_that_are_not_there() {
    for declared in [2, 100_000_000_000, usize::MAX] {
        refused(
            &format!("{REAL}3 3 {declared}\n1 1 5\n"),
            &Error::EntryCount { expected: declared, found: 1, line: 3 },
            &format!("expected {declared} entries, found 1 at line 3"),
        );
    }
    refused(
        "%%MatrixMarket matrix array real general\n1000000 1000000\n1\n2\n",
        &Error::EntryCount { expected: 1_000_000_000_000, found: 2, line: 4 },
        "expected 1000000000000 entries, found 2 at line 4",
    );
    let array = "%%MatrixMarket matrix array real symmetric\n1000000 1000000\n1\n2\n";
    let error = bounded(array.as_bytes(), || mtx::read_array::<f64>(array.as_bytes())).unwrap_err();
    assert_eq!(error, Error::EntryCount { expected: 500_000_500_000, found: 2, line: 4 });
}

#[test]
fn entries_beyond_those_declared() {
    refused(
        &format!("{REAL}3 3 1\n1 1 5\n\n% a comment\n2 2 5\n"),
        &Error::EntryCount { expected: 1, found: 2, line: 6 },
        "expected 1 entries, found 2 at line 6",
    );
}

#[test]
fn large_dimensions() {
    let file = format!("{REAL}1000000000000 1000 1\n1000000000000 1000 5\n");
    let matrix = bounded(file.as_bytes(), || mtx::read::<f64>(file.as_bytes())).unwrap();
    assert_eq!(matrix.storage().addresses(), [1_000_000_000_000_000 - 1]);
    assert_eq!(matrix.get([999_999_999_999, 999]), Ok(5.0));
    refused(
        &format!("{REAL}1000000000000 1000000000000 1\n1 1 5\n"),
        &Error::ShapeOverflow { shape: vec![1_000_000_000_000; 2] },
        "shape [1000000000000, 1000000000000] has more elements than fit in isize",
    );
}

#[test]
fn banners() {
    malformed("", 1, "%%MatrixMarket", "");
    malformed("\n", 1, "%%MatrixMarket", "");
    malformed("2 2 1\n", 1, "%%MatrixMarket", "2 2 1");
    malformed("%%MatrixMarket vector", 1, "matrix", "%%MatrixMarket vector");
    let words = [
        ("dense real general", "coordinate or array"),
        ("coordinate double general", "real, integer, complex or pattern"),
        ("coordinate real lower", "general, symmetric, skew-symmetric or hermitian"),
        ("coordinate real", "general, symmetric, skew-symmetric or hermitian"),
        ("coordinate real general x", "five words"),
        ("array pattern general", "values, as arrays have no pattern"),
        ("coordinate pattern skew-symmetric", "values, as patterns have no sign"),
        ("coordinate real hermitian", "complex values, as the matrix is hermitian"),
    ];
    for (words, expected) in words {
        let banner = format!("%%MatrixMarket matrix {words}");
        let shown: String = banner.chars().take(64).collect();
        malformed(&banner, 1, expected, &shown);
    }
    let upper = "%%MatrixMarket MATRIX Coordinate REAL General\n1 1 0\n";
    assert_eq!(mtx::read::<f64>(upper.as_bytes()).unwrap().storage().stored_len(), 0);
}

#[test]
fn sizes() {
    let size = "the number of rows, columns and entries";
    malformed(REAL, 2, "a line with the number of rows and columns", "");
    for line in
        ["2", "2 2", "2 2 2 2", "-1 2 2", "+1 2 2", "2.0 2 2", "x", "2 2 99999999999999999999"]
    {
        malformed(&format!("{REAL}{line}\n"), 2, size, line);
    }
    let array = "%%MatrixMarket matrix array real general\n";
    malformed(&format!("{array}2 2 4\n"), 2, "the number of rows and columns", "2 2 4");
    let symmetric = "%%MatrixMarket matrix coordinate real symmetric\n";
    let square = "as many rows as columns, as the matrix is symmetric";
    malformed(&format!("{symmetric}2 3 1\n"), 2, square, "2 3 1");
}

#[test]
fn entries() {
    let real = "row, column and a number";
    for line in ["1", "1 1", "1 1 x", "1 1 1 1", "1 1 0x10", "1 1 1,5"] {
        malformed(&format!("{REAL}2 2 1\n{line}\n"), 3, real, line);
    }
    let index = "an index, a positive integer";
    for line in ["-1 1 5", "1.0 1 5", "1 \u{661} 5", "99999999999999999999 1 5"] {
        malformed(&format!("{REAL}2 2 1\n{line}\n"), 3, index, line);
    }
    let pattern = "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n";
    malformed(&format!("{pattern}1 1 1\n"), 3, "row and column", "1 1 1");
    let integer = "%%MatrixMarket matrix coordinate integer general\n2 2 1\n";
    let expected = "row, column and an integer that fits the type";
    malformed(&format!("{integer}1 1 1.5\n"), 3, expected, "1 1 1.5");
    malformed(&format!("{integer}1 1 nan\n"), 3, expected, "1 1 nan");
    let error = mtx::read::<u8>(format!("{integer}1 1 256\n").as_bytes()).unwrap_err();
    assert_eq!(error, Error::Line { line: 3, expected, found: "1 1 256".into() });
    let large = format!("{integer}1 1 1{:039}\n", 1);
    assert_eq!(mtx::read::<f64>(large.as_bytes()).unwrap().to_vec().unwrap()[0], 1e39);
    let error = mtx::read::<f32>(large.as_bytes()).unwrap_err();
    assert_eq!(error, Error::Line { line: 3, expected, found: format!("1 1 1{:039}", 1) });
    malformed("%%MatrixMarket matrix array real general\n1 1\n1 1\n", 3, "a number", "1 1");
    let array = "%%MatrixMarket matrix array integer general\n1 1\n1.5\n";
    malformed(array, 3, "an integer that fits the type", "1.5");
}

#[test]
fn triangles() {
    let symmetric = "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n";
    let expected = "an entry on or below the diagonal, as the matrix is symmetric";
    malformed(&format!("{symmetric}1 2 5\n"), 3, expected, "1 2 5");
    let skew = "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n";
    let expected = "an entry below the diagonal, as the matrix is skew-symmetric";
    for line in ["1 2 5", "2 2 5"] {
        malformed(&format!("{skew}{line}\n"), 3, expected, line);
    }
}

#[test]
fn lines_and_headers_that_do_not_end() {
    let long = format!("{REAL}2 2 1\n{}", "1".repeat(5000));
    malformed(&long, 3, "a line of at most 4096 bytes", &"1".repeat(64));
    for end in ["\n", "\r\n"] {
        let line = |len: usize| format!("{REAL}{:x<len$}{end}1 1 1\n{:<len$}", "%", "1 1 7");
        assert_eq!(mtx::read::<f64>(line(4096).as_bytes()).unwrap().to_vec(), Ok(vec![7.0]));
        malformed(&line(4097), 2, "a line of at most 4096 bytes", &format!("{:x<64}", "%"));
    }
    let endless = std::io::repeat(b'1');
    let error = memory::bounded(0, || mtx::read::<f64>(REAL.as_bytes().chain(endless)));
    assert_eq!(
        error.unwrap_err(),
        Error::Line { line: 2, expected: "a line of at most 4096 bytes", found: "1".repeat(64) }
    );
    let comments = REAL.to_owned() + &"% nothing\n".repeat(200_000);
    refused(
        &comments,
        &Error::HeaderTooLarge { claimed: 1_048_586, limit: 1 << 20 },
        "header claims 1048586 bytes, the limit is 1048576",
    );
}

/// Comments hold names in any encoding; elsewhere bytes that are no text are shown as such.
#[test]
fn bytes_that_are_no_text() {
    let mut file = format!("{REAL}% Andr").into_bytes();
    file.extend([0xe9, b'\n']);
    file.extend(b"1 1 1\n1 1 5\n");
    assert_eq!(mtx::read::<f64>(&file[..]).unwrap().get([0, 0]), Ok(5.0));
    let error = mtx::read::<f64>(&[b'%', 0xff, b'\n'][..]).unwrap_err();
    let expected = "%%MatrixMarket";
    assert_eq!(error, Error::Line { line: 1, expected, found: "%\u{fffd}".into() });
}

#[test]
fn values_of_another_type() {
    struct Refused<'a>(&'a str, &'static str);
    impl DTypeVisitor for Refused<'_> {
        type Output = ();
        fn visit<T: FileElement>(self) {
            let expected = T::DTYPE.name();
            let text = format!("expected elements of type {expected}, found {}", self.1);
            let error = mtx::read::<T>(self.0.as_bytes()).unwrap_err();
            assert_eq!(error, Error::ElementType { expected, found: self.1.into() });
            assert_eq!(error.to_string(), text);
        }
    }
    for &dtype in DType::ALL {
        let kind = dtype.kind();
        if !matches!(kind, 'f' | 'c' | 'V') {
            dtype.visit(Refused(&format!("{REAL}1 1 0\n"), "real"));
        }
        if kind != 'c' {
            let complex = "%%MatrixMarket matrix coordinate complex general\n1 1 0\n";
            dtype.visit(Refused(complex, "complex"));
        }
        if matches!(kind, 'b' | 'u') {
            let skew = "%%MatrixMarket matrix coordinate integer skew-symmetric\n1 1 0\n";
            dtype.visit(Refused(skew, "skew-symmetric"));
        }
    }
}

#[test]
fn entries_are_no_array() {
    let error = mtx::read_array::<f64>(format!("{REAL}1 1 0\n").as_bytes()).unwrap_err();
    assert_eq!(error.to_string(), "line 1: expected array, found \"coordinate\"");
}

#[test]
fn a_missing_file_is_an_io_error() {
    let is_missing = |error: Error| match error {
        Error::Io(error) => error.kind() == std::io::ErrorKind::NotFound,
        _ => false,
    };
    assert!(is_missing(mtx::open::<f64>("no such file").unwrap_err()));
    assert!(is_missing(mtx::open_header("no such file").unwrap_err()));
}

#[test]
fn every_prefix_of_a_file_is_an_error_or_a_matrix() {
    let file =
        "%%MatrixMarket matrix coordinate real symmetric\n%\n3 3 3\n1 1 .5\n2 1 -1e3\n3 3 inf\n";
    for end in 0..=file.len() {
        let part = &file.as_bytes()[..end];
        let read = bounded(part, || mtx::read::<f64>(part));
        assert_eq!(read.is_ok(), end >= file.len() - 1, "{end}");
        assert_eq!(Header::parse(part).is_ok(), end >= 55, "{end}");
    }
}

/// Duplicates, all in one place and most in disorder, take no more than others.
#[test]
fn memory_follows_the_entries() {
    for place in ["1 1", "2 1"] {
        let count = 50_000;
        let lines = format!("{place}\n").repeat(count);
        let file =
            format!("%%MatrixMarket matrix coordinate pattern symmetric\n9 9 {count}\n{lines}");
        let matrix = bounded(file.as_bytes(), || mtx::read::<u32>(file.as_bytes())).unwrap();
        assert_eq!(matrix.storage().values().last(), Some(&(count as u32)));
        assert_eq!(matrix.storage().len(), 81);
    }
}
