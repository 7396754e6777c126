//! Archives of NumPy and our own, read into memory and mapped; matrices of SciPy.

use crate::support::Random;
use lensor::arbitrary::Viewed;
use lensor::dtype::{DTypeVisitor, FileElement, MapElement};
use lensor::interop::npy;
use lensor::interop::npz::{self, Archive, Writer};
use lensor::storage::conformance::check_reader;
use lensor::storage::{Duplicates, Sparse};
use lensor::{Elementwise, Error, Expr, Lazy, Tensor};
use quickcheck::quickcheck;
use std::io::{self, Cursor, Seek, SeekFrom, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/npz").join(name)
}

/// Compares an array with its twin, in its own type.
struct SameAsTwin<'a>(&'a str, &'a str);

impl DTypeVisitor for SameAsTwin<'_> {
    type Output = ();

    fn visit<T: FileElement>(self) {
        let twin = npy::open::<T>(data(&format!("{}.npy", self.1))).unwrap();
        let read = npz::open(data(self.0)).unwrap().read::<T>(self.1).unwrap();
        assert_eq!((read.shape(), read.to_vec().unwrap()), (twin.shape(), twin.to_vec().unwrap()));
    }
}

fn mapped<T: MapElement>(archive: &str, name: &str) {
    // SAFETY: nobody writes to the files of the tests.
    #[allow(unsafe_code, reason = "maps a file of the tests")]
    let archive = unsafe { npz::map(data(archive)) }.unwrap();
    let twin = npy::open::<T>(data(&format!("{name}.npy"))).unwrap();
    let t = archive.tensor::<T>(name).unwrap();
    assert_eq!((t.shape(), t.to_vec().unwrap()), (twin.shape(), twin.to_vec().unwrap()));
}

#[test]
fn archives_of_numpy_are_read() {
    let all = ["a", "b", "c", "scalar", "empty", "big"];
    for (file, names) in [
        ("stored.npz", &all[..]),
        ("deflated.npz", &all),
        ("zip64.npz", &["a", "b"]),
        ("zip32.npz", &["a", "b"]),
        ("zip64_central.npz", &["a", "b"]),
    ] {
        let archive = npz::open(data(file)).unwrap();
        let found: Vec<&str> = archive.entries().iter().map(|entry| entry.name()).collect();
        assert_eq!(found, names, "{file}");
        for entry in archive.entries() {
            assert_eq!(entry.is_stored(), file != "deflated.npz");
            let header = entry.header().unwrap();
            let twin = npy::open_header(data(&format!("{}.npy", entry.name()))).unwrap();
            assert_eq!(header, &twin, "{file} {}", entry.name());
            header.dtype().visit(SameAsTwin(file, entry.name()));
        }
        if file != "deflated.npz" {
            mapped::<f64>(file, "a");
            mapped::<i16>(file, "b");
        }
    }
    for (name, map) in [
        ("scalar", mapped::<f32> as fn(&str, &str)),
        ("empty", mapped::<u8>),
        ("big", mapped::<i32>),
    ] {
        map("stored.npz", name);
    }
}

/// Bytes that others own as well are read where they lie.
#[test]
fn bytes_are_shared() {
    let bytes = bytes::Bytes::from(std::fs::read(data("stored.npz")).unwrap());
    let t = Archive::new(Cursor::new(bytes.clone())).unwrap().tensor::<f64>("a").unwrap();
    assert_eq!(t.storage().bytes().as_ptr(), bytes.as_ptr());
    let twin = npy::open::<f64>(data("a.npy")).unwrap();
    assert_eq!(t.to_vec().unwrap(), twin.to_vec().unwrap());
    check_reader(t.storage()).unwrap();
}

/// An array of texts does not keep others from being read.
#[test]
fn unknown_arrays_stand_aside() {
    let mut archive = npz::open(data("text.npz")).unwrap();
    let error =
        archive.entries().iter().find(|e| e.name() == "text").unwrap().header().unwrap_err();
    assert!(matches!(&error, Error::ElementType { found, .. } if found == "<U5"), "{error}");
    assert_eq!(archive.read::<f32>("text").unwrap_err(), error);
    lensor::dtype::DType::F32.visit(SameAsTwin("text.npz", "x"));
    let error = archive.read::<f32>("y").unwrap_err();
    assert_eq!(error.to_string(), "no array `y` in this npz archive, which has text, x");
    let error = archive.read::<u8>("x").unwrap_err();
    assert_eq!(error, Error::ElementType { expected: "u8", found: "f32".into() });
}

#[test]
fn matrices_of_scipy_are_read() {
    let dense = npy::open::<f64>(data("matrix.npy")).unwrap();
    for file in ["csr.npz", "csc.npz", "coo.npz"] {
        let matrix = npz::open(data(file)).unwrap().read_sparse::<f64>().unwrap();
        assert_eq!(matrix.shape(), dense.shape());
        assert_eq!(matrix.to_vec().unwrap(), dense.to_vec().unwrap(), "{file}");
        assert!(matrix.storage().stored_len() < 20);
    }
    let error = npz::open(data("stored.npz")).unwrap().read_sparse::<f64>().unwrap_err();
    assert!(matches!(error, Error::NoArray { .. }));
}

quickcheck! {
    /// Whatever is written is read again and mapped, stored or deflated, under any view.
    fn what_is_written_is_read(all: Vec<Viewed<i32>>, deflated: bool) -> bool {
        let mut writer = Writer::new(Cursor::new(Vec::new()));
        if deflated {
            writer = writer.deflated();
        }
        for (k, viewed) in all.iter().enumerate().take(5) {
            writer.add(&format!("array {k}"), viewed.tensor() * 3).unwrap();
        }
        let bytes = writer.finish().unwrap().into_inner();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("some.npz");
        std::fs::write(&path, &bytes).unwrap();
        let mut archive = Archive::new(Cursor::new(&bytes[..])).unwrap();
        // SAFETY: the file is in a directory of our own.
        #[allow(unsafe_code, reason = "maps a file of the test")]
        let map = unsafe { npz::map(&path) }.unwrap();
        for (k, viewed) in all.iter().enumerate().take(5) {
            let name = format!("array {k}");
            let (shape, data) = viewed.model();
            let data: Vec<i32> = data.into_iter().map(|x| x.wrapping_mul(3)).collect();
            let read = archive.read::<i32>(&name).unwrap();
            assert_eq!((read.shape(), read.to_vec().unwrap()), (shape.clone(), data.clone()));
            match map.tensor::<i32>(&name) {
                Ok(t) => {
                    assert_eq!(t.shape(), shape);
                    // What is aligned in the file is a slice.
                    assert_eq!(t.storage().try_slice().unwrap(), data);
                }
                Err(error) => {
                    assert!(deflated);
                    let text = format!("array `{name}` of this npz archive: it is deflated: read it");
                    assert_eq!(error.to_string(), text);
                }
            }
        }
        true
    }
}

#[test]
fn sparse_matrices_come_back() {
    let mut random = Random(3);
    for _ in 0..100 {
        let (rows, columns) = (random.below(7), random.below(9));
        let mut addresses: Vec<usize> =
            (0..rows * columns).filter(|_| random.below(3) == 0).collect();
        addresses.dedup();
        let values: Vec<i64> = addresses.iter().map(|_| random.below(100) as i64 - 50).collect();
        let storage = Sparse::from_sorted(rows * columns, 0, addresses, values).unwrap();
        let matrix = Tensor::new([rows, columns], storage).unwrap();
        let turned = matrix.view().transpose([1, 0]).unwrap();
        let mut writer = Writer::new(Cursor::new(Vec::new()));
        writer.add_sparse(&turned).unwrap();
        let mut archive = Archive::new(writer.finish().unwrap()).unwrap();
        let back = archive.read_sparse::<i64>().unwrap();
        assert_eq!(
            (back.shape(), back.to_vec().unwrap()),
            (turned.shape(), turned.to_vec().unwrap())
        );
        assert_eq!(back.storage().stored_len(), matrix.storage().stored_len());
    }
}

/// Of a matrix with few entries nothing is written for each row.
#[test]
fn tall_matrices_are_written_as_coordinates() {
    let names = |rows: usize| {
        let indexes = [[rows - 1, 3], [5, 1]];
        let values = vec![1.5, 2.5];
        let t = Tensor::from_coordinates([rows, 4], 0.0, &indexes, values, Duplicates::Refuse);
        let mut writer = Writer::new(Cursor::new(Vec::new()));
        writer.add_sparse(&t.unwrap()).unwrap();
        let mut archive = Archive::new(writer.finish().unwrap()).unwrap();
        let back = archive.read_sparse::<f64>().unwrap();
        assert_eq!(back.shape(), [rows, 4]);
        assert_eq!(back.storage().stored_len(), 2);
        assert_eq!(indexes.map(|index| back.get(index).unwrap()), [1.5, 2.5]);
        let names = archive.entries().iter().map(|entry| entry.name().to_string());
        names.collect::<Vec<_>>()
    };
    assert_eq!(names(1 << 16), ["format", "shape", "data", "indices", "indptr"]);
    for rows in [(1 << 16) + 1, 1 << 40] {
        assert_eq!(names(rows), ["format", "shape", "data", "col", "row"]);
    }
}

/// Of a matrix whose names are taken nothing is added.
#[test]
fn a_matrix_is_added_as_a_whole() {
    let matrix = Tensor::new([2, 3], Sparse::from_sorted(6, 0.0, vec![4], vec![2.0]).unwrap());
    let matrix = matrix.unwrap();
    for taken in ["format", "data", "indptr"] {
        let mut writer = Writer::new(Cursor::new(Vec::new()));
        writer.add("row", Tensor::from(vec![7])).unwrap();
        writer.add(taken, Tensor::from(vec![1, 0]) / Tensor::from(vec![0, 1])).unwrap_err();
        writer.add(taken, Tensor::from(vec![1.0])).unwrap();
        let error = writer.add_sparse(&matrix).unwrap_err();
        let text = format!("array `{taken}` of this npz archive: its name comes twice");
        assert_eq!(error.to_string(), text);
        let archive = Archive::new(writer.finish().unwrap()).unwrap();
        let names: Vec<&str> = archive.entries().iter().map(|entry| entry.name()).collect();
        assert_eq!(names, ["row", taken]);
    }
    // What was not added takes no name.
    let mut writer = Writer::new(Cursor::new(Vec::new()));
    writer.add("data", Tensor::from(vec![1, 0]) / Tensor::from(vec![0, 1])).unwrap_err();
    writer.add_sparse(&matrix).unwrap();
    let mut archive = Archive::new(writer.finish().unwrap()).unwrap();
    assert_eq!(archive.read_sparse::<f64>().unwrap(), matrix);
}

#[test]
fn errors_say_what_is_wrong() {
    let mut writer = Writer::new(Cursor::new(Vec::new()));
    writer.add("a", Tensor::from(vec![1_u8])).unwrap();
    let error = writer.add("a", Tensor::from(vec![2_u8])).unwrap_err();
    assert!(error.to_string().starts_with("array `a` of this npz archive: "), "{error}");
    // An array that fails is left out, and the archive goes on.
    let one = Tensor::from(vec![1, 0]);
    let error = writer.add("b", Tensor::from(vec![1, 1]) / &one).unwrap_err();
    assert_eq!(error, Error::Arithmetic { index: vec![1] });
    writer.add("c", Tensor::from(vec![3_u8])).unwrap();
    let mut archive = Archive::new(writer.finish().unwrap()).unwrap();
    let names: Vec<&str> = archive.entries().iter().map(|entry| entry.name()).collect();
    assert_eq!(names, ["a", "c"]);
    assert_eq!(archive.read::<u8>("c").unwrap().to_vec().unwrap(), [3]);
    let error = Archive::new(Cursor::new(b"no archive".to_vec())).unwrap_err();
    assert!(error.to_string().starts_with("this npz archive: "), "{error}");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("old.npz");
    npz::save(&path, |archive| archive.add("x", Tensor::from(vec![1, 2]))).unwrap();
    let before = std::fs::read(&path).unwrap();
    npz::save(&path, |archive| {
        archive.add("x", Tensor::from(vec![1, 2]))?;
        archive.add("y", Tensor::from(vec![1, 1]) / &one)
    })
    .unwrap_err();
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    let missing = npz::open(dir.path().join("none.npz")).unwrap_err();
    assert!(missing.to_string().contains("none.npz"), "{missing}");
}

/// An expression that panics at its last element.
fn panics(numbers: &Tensor<Vec<i64>>) -> Lazy<impl Expr<Elem = i64>> {
    numbers.map(|k| {
        assert!(k < 299, "a closure that panics");
        k
    })
}

/// Of an archive that nobody finishes there is no directory, whatever became of it.
#[test]
fn archives_that_are_given_up_cannot_be_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.npz");
    let numbers = Tensor::from((0..300).collect::<Vec<i64>>());
    for deflated in [false, true] {
        let start = || {
            let writer = Writer::new(std::fs::File::create(&path).unwrap());
            let mut writer = if deflated { writer.deflated() } else { writer };
            writer.add("a", Tensor::full([10], 1.5).unwrap()).unwrap();
            writer
        };
        let unreadable = || {
            assert!(std::fs::metadata(&path).unwrap().len() > 0);
            let error = npz::open(&path).unwrap_err();
            assert!(matches!(error, Error::Malformed { .. }), "{error}");
        };
        drop(start());
        unreadable();
        // After an error.
        let mut writer = start();
        let x = Tensor::from(vec![1_i64, 2]) / Tensor::from(vec![1_i64, 0]);
        writer.add("b", x).unwrap_err();
        drop(writer);
        unreadable();
        // While a panic goes by.
        let falls = || {
            let mut writer = start();
            writer.add("b", panics(&numbers))
        };
        catch_unwind(AssertUnwindSafe(falls)).unwrap_err();
        unreadable();
        // After a panic that was caught: what there is of the array is none.
        let mut writer = start();
        catch_unwind(AssertUnwindSafe(|| writer.add("b", panics(&numbers)))).unwrap_err();
        let error = writer.add("c", Tensor::full([10], 1.5).unwrap()).unwrap_err();
        assert!(error.to_string().ends_with("it was given up, as writing it failed"), "{error}");
        assert_eq!(writer.finish().unwrap_err(), error);
        unreadable();
    }
}

/// A sink that fails once, and that others look into.
#[derive(Clone)]
struct Flaky {
    bytes: Arc<Mutex<Cursor<Vec<u8>>>>,
    /// What it still does before that.
    left: Arc<Mutex<usize>>,
}

impl Flaky {
    fn new(left: usize) -> Self {
        Self { bytes: Arc::default(), left: Arc::new(Mutex::new(left)) }
    }

    fn step(&self) -> io::Result<std::sync::MutexGuard<'_, Cursor<Vec<u8>>>> {
        let mut left = self.left.lock().unwrap();
        *left = left.wrapping_sub(1);
        if *left == usize::MAX {
            return Err(io::Error::other("once"));
        }
        Ok(self.bytes.lock().unwrap())
    }
}

impl Write for Flaky {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.step()?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.step().map(drop)
    }
}

impl Seek for Flaky {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.step()?.seek(to)
    }
}

/// Wherever a sink fails, and though it goes on afterwards: what an archive lists are the arrays that were added, or it
/// was refused.
#[test]
fn archives_list_what_was_added() {
    let arrays = ["a", "b", "c"].map(|name| {
        let len = 300 * name.len() + usize::from(name.as_bytes()[0]);
        (name, Tensor::from_index([len], |index| (index[0] * len) as f64).unwrap())
    });
    for deflated in [false, true] {
        let (mut refused, mut partly, mut late) = (0, 0, 0);
        for left in 0.. {
            let sink = Flaky::new(left);
            let writer = Writer::new(sink.clone());
            let mut writer = if deflated { writer.deflated() } else { writer };
            let added: Vec<_> =
                arrays.iter().filter(|(name, t)| writer.add(name, t).is_ok()).collect();
            let finished = writer.finish().map(drop);
            let bytes = sink.bytes.lock().unwrap().get_ref().clone();
            let Ok(mut archive) = Archive::new(Cursor::new(bytes)) else {
                assert!(finished.is_err(), "{left}");
                refused += 1;
                continue;
            };
            // At its very end there is nothing left to write.
            late += usize::from(finished.is_err());
            let listed: Vec<String> =
                archive.entries().iter().map(|entry| entry.name().into()).collect();
            assert_eq!(listed, added.iter().map(|(name, _)| *name).collect::<Vec<_>>(), "{left}");
            for (name, t) in &added {
                assert_eq!(archive.read::<f64>(name).unwrap().to_vec(), t.to_vec(), "{left}");
            }
            partly += usize::from(added.len() < 3);
            if *sink.left.lock().unwrap() < left {
                assert!(refused > 20 && partly > 0 && late <= 3, "{refused} {partly} {late}");
                break;
            }
        }
    }
}
