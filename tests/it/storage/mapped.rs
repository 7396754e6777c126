//! Elements in bytes and in mapped files: any offset, both byte orders, and what a map cannot promise.
#![allow(unsafe_code, reason = "maps files in directories of its own")]

use crate::support::test_name;
use bytemuck::NoUninit;
use lensor::dtype::{ByteOrder, DType, MapElement};
use lensor::interop::npy;
use lensor::storage::{Encoded, Mapped, MappedMut, read_elements, read_elements_at};
use lensor::{Error, Reader, Tensor, Writer};
use std::fs::File;
use std::path::{Path, PathBuf};

const ORDERS: [ByteOrder; 2] = [ByteOrder::Little, ByteOrder::Big];

/// A file in a directory that nobody else knows.
struct Own {
    dir: tempfile::TempDir,
}

impl Own {
    fn new(bytes: &[u8]) -> Self {
        let own = Self { dir: tempfile::tempdir().unwrap() };
        std::fs::write(own.path(), bytes).unwrap();
        own
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    fn open(&self) -> File {
        File::options().read(true).write(true).open(self.path()).unwrap()
    }
}

fn map<T>(file: &File, offset: u64, len: usize, order: ByteOrder) -> lensor::Result<Mapped<T>>
where
    T: MapElement,
{
    // SAFETY: every file here is in a directory of its own and written by nobody meanwhile.
    unsafe { Mapped::map(file, offset, len, order) }
}

fn map_mut<T>(
    file: &File,
    offset: u64,
    len: usize,
    order: ByteOrder,
) -> lensor::Result<MappedMut<T>>
where
    T: MapElement,
{
    // SAFETY: as in `map`, and mapped once at a time.
    unsafe { MappedMut::map_mut(file, offset, len, order) }
}

/// Bytes without any regularity that a shift or swap could hide behind.
fn noise(len: usize) -> Vec<u8> {
    (0..len).map(|k| (k * k * 31 + k * 7 + 3) as u8).collect()
}

/// Elements decoded by hand, as the bytes of each in the machine's order.
fn expected(
    bytes: &[u8],
    offset: usize,
    size: usize,
    number: usize,
    order: ByteOrder,
) -> Vec<Vec<u8>> {
    let mut elements: Vec<Vec<u8>> =
        bytes[offset..].chunks_exact(size).map(<[u8]>::to_vec).collect();
    if order != ByteOrder::NATIVE {
        elements.iter_mut().flat_map(|e| e.chunks_exact_mut(number)).for_each(<[u8]>::reverse);
    }
    elements
}

fn raw<T: NoUninit>(elements: &[T]) -> Vec<Vec<u8>> {
    elements.iter().map(|element| bytemuck::bytes_of(element).to_vec()).collect()
}

fn every_method_agrees<R: Reader<Elem: NoUninit>>(storage: &R, expected: &[Vec<u8>]) {
    let len = storage.len();
    assert_eq!(len, expected.len());
    let single: Vec<R::Elem> = (0..len).map(|address| storage.read(address)).collect();
    assert_eq!(raw(&single), expected);
    let mut out = single.clone();
    out.reverse();
    storage.read_run(0, 1, &mut out).unwrap();
    assert_eq!(raw(&out), expected);
    storage.read_run(len - 1, -1, &mut out).unwrap();
    out.reverse();
    assert_eq!(raw(&out), expected);
    let backwards: Vec<usize> = (0..len).rev().collect();
    storage.read_at(&backwards, &mut out).unwrap();
    out.reverse();
    assert_eq!(raw(&out), expected);
    if let Some(slice) = storage.as_slice() {
        assert_eq!(raw(slice), expected);
    }
    for (start, step) in [(len, 1), (1, 1), (0, -1), (usize::MAX, 1)] {
        assert!(storage.read_run(start, step, &mut out).is_err(), "{start} by {step}");
    }
    assert_eq!(storage.try_read(len).err().unwrap().address, len);
    assert_eq!(storage.read_at(&[0, usize::MAX], &mut out[..2]).unwrap_err().address, usize::MAX);
}

fn all_offsets<T: MapElement>() {
    let (size, align) = (size_of::<T>(), align_of::<T>());
    let number = if T::DTYPE.kind() == 'c' { size / 2 } else { size };
    for offset in 0..=64 {
        let bytes = noise(offset + 9 * size);
        let file = Own::new(&bytes).open();
        for order in ORDERS {
            let expected = expected(&bytes, offset, size, number, order);
            let mapped = map::<T>(&file, offset as u64, 9, order).unwrap();
            every_method_agrees(&mapped, &expected);
            assert_eq!(
                mapped.as_slice().is_some(),
                offset % align == 0 && (order.is_native() || size == 1),
            );
            if order.is_native() && offset % align != 0 {
                let found = Error::Misaligned { align, offset: offset % align };
                assert_eq!(mapped.try_slice().map(raw), Err(found));
            }
            every_method_agrees(
                &Encoded::<T, _>::new(&bytes, offset, 9, order).unwrap(),
                &expected,
            );
            let copy = read_elements_at::<T>(&file, offset as u64, 9, order).unwrap();
            assert_eq!(raw(&copy), expected);
            let copy = read_elements::<T>(&bytes[offset..], 9, order).unwrap();
            assert_eq!(raw(&copy), expected);
        }
    }
}

#[test]
fn all_offsets_and_orders() {
    all_offsets::<u8>();
    all_offsets::<i16>();
    all_offsets::<u32>();
    all_offsets::<f32>();
    all_offsets::<i64>();
    all_offsets::<f64>();
}

#[cfg(all(feature = "half", feature = "complex"))]
#[test]
fn all_offsets_and_orders_of_compound_types() {
    all_offsets::<half::f16>();
    all_offsets::<num_complex::Complex32>();
    all_offsets::<num_complex::Complex64>();
}

#[test]
fn what_is_written_reaches_the_file() {
    for offset in [0, 1, 3, 8, 4096, 5001] {
        for order in ORDERS {
            let own = Own::new(&noise(offset + 4 * 8 + 5));
            let mut mapped = map_mut::<i64>(&own.open(), offset as u64, 4, order).unwrap();
            mapped.write(0, -2);
            mapped.write_run(3, -1, &[40, 30]).unwrap();
            mapped.write_at(&[1], &[20]).unwrap();
            assert_eq!(mapped.as_mut_slice().is_some(), order.is_native() && offset % 8 == 0);
            assert!(mapped.try_write(4, 0).is_err() && mapped.write_run(3, 1, &[0, 0]).is_err());
            mapped.write(3, 40);
            mapped.flush().unwrap();
            drop(mapped);
            let after = std::fs::read(own.path()).unwrap();
            let untouched = noise(offset + 4 * 8 + 5);
            assert_eq!(after[..offset], untouched[..offset]);
            assert_eq!(after[offset + 32..], untouched[offset + 32..]);
            let copy = read_elements_at::<i64>(&own.open(), offset as u64, 4, order).unwrap();
            assert_eq!(copy, [-2, 20, 30, 40]);
        }
    }
}

#[test]
fn ranges_beyond_the_file_never_reach_the_system() {
    let file = Own::new(&noise(100)).open();
    for (offset, len) in [(0, 13), (5, 12), (100, 1), (101, 0), (u64::MAX, 0), (u64::MAX - 7, 1)] {
        let expected = offset.saturating_add(len as u64 * 8);
        let error = Error::Truncated { expected, found: 100 };
        assert_eq!(map::<f64>(&file, offset, len, ByteOrder::NATIVE).err(), Some(error.clone()));
        assert_eq!(
            map_mut::<f64>(&file, offset, len, ByteOrder::NATIVE).err(),
            Some(error.clone())
        );
        assert_eq!(read_elements_at::<f64>(&file, offset, len, ByteOrder::NATIVE), Err(error));
    }
    let error = map::<f64>(&file, 8, usize::MAX, ByteOrder::NATIVE).err();
    assert_eq!(error, Some(Error::Truncated { expected: u64::MAX, found: 100 }));
    let error = Encoded::<f64, _>::new(noise(9), 2, 1, ByteOrder::NATIVE).err();
    assert_eq!(error, Some(Error::Truncated { expected: 10, found: 9 }));
}

#[test]
fn no_elements() {
    for bytes in [0, 100, 4096] {
        let own = Own::new(&noise(bytes));
        for offset in [0, bytes] {
            let mapped = map::<f64>(&own.open(), offset as u64, 0, ByteOrder::Big).unwrap();
            assert!(mapped.is_empty() && mapped.try_read(0).is_err());
            let mut mapped = map_mut::<u8>(&own.open(), offset as u64, 0, ByteOrder::Big).unwrap();
            assert_eq!(mapped.as_mut_slice().map(|slice| slice.len()), Some(0));
            mapped.flush().unwrap();
        }
    }
}

#[test]
fn a_file_that_is_not_writable_is_an_io_error() {
    let own = Own::new(&noise(8));
    let file = File::open(own.path()).unwrap();
    assert!(matches!(map_mut::<u8>(&file, 0, 8, ByteOrder::NATIVE), Err(Error::Io(_))));
}

/// Whether elements `T` can be read, or written, in place. The inherent constants exist only where
/// the storage implements the trait, and win over those of `Not`.
struct Probe<T>(T);

trait Not {
    const READS: bool = false;
    const WRITES: bool = false;
}

impl<T> Not for Probe<T> {}

impl<T> Probe<T>
where
    Encoded<T, Vec<u8>>: Reader,
{
    const READS: bool = true;
}

impl<T> Probe<T>
where
    Encoded<T, Vec<u8>>: Writer,
{
    const WRITES: bool = true;
}

#[test]
fn types_with_invalid_bytes_cannot_be_mapped() {
    const {
        assert!(Probe::<f64>::READS && Probe::<u8>::READS && Probe::<f64>::WRITES);
        assert!(!Probe::<bool>::READS && !Probe::<bool>::WRITES);
        assert!(!Probe::<char>::READS && !Probe::<&u8>::READS && !Probe::<Option<u8>>::READS);
    }
}

#[test]
fn bools_are_copied_with_a_check() {
    let file = Own::new(&[9, 1, 0, 2]).open();
    let order = ByteOrder::NATIVE;
    assert_eq!(read_elements_at::<bool>(&file, 1, 2, order), Ok(vec![true, false]));
    let error = Error::InvalidValue { index: 2, byte: 2 };
    assert_eq!(read_elements_at::<bool>(&file, 1, 3, order), Err(error));
}

/// Gives fewer bytes every time it is asked.
struct Shrinking(std::sync::atomic::AtomicUsize);

impl AsRef<[u8]> for Shrinking {
    fn as_ref(&self) -> &[u8] {
        &[0; 64][..self.0.fetch_sub(1, std::sync::atomic::Ordering::Relaxed)]
    }
}

#[test]
fn bytes_that_vanish_are_an_error() {
    let storage = Encoded::<u32, _>::new(Shrinking(64.into()), 0, 16, ByteOrder::Big).unwrap();
    assert_eq!(storage.try_read(3).unwrap_err().address, 3);
    assert!(storage.read_run(0, 1, &mut [0; 16]).is_err());
    assert!(storage.read_at(&[2], &mut [0]).is_err());
    assert!(storage.as_slice().is_none());
    assert!(matches!(storage.try_slice(), Err(Error::Truncated { expected: 64, .. })));
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/npy").join(name)
}

fn mapped_npy<T>(path: impl AsRef<Path>) -> lensor::Result<Tensor<Mapped<T>>>
where
    T: MapElement,
{
    // SAFETY: fixtures and own files are not changed while the tests run.
    unsafe { npy::map(path) }
}

#[test]
fn npy_files_are_mapped_as_they_are_copied() {
    for name in ["f8_le_c", "f8_le_f", "f8_be_c", "f8_be_f", "rank0", "rank1", "empty", "v2", "v3"]
    {
        let path = fixture(&format!("{name}.npy"));
        let (mapped, copied) =
            (mapped_npy::<f64>(&path).unwrap(), npy::open::<f64>(&path).unwrap());
        assert_eq!(mapped.shape(), copied.shape());
        assert_eq!(mapped.to_vec().unwrap(), copied.to_vec().unwrap());
        let native = npy::open_header(&path).unwrap().byte_order().is_native();
        assert_eq!(mapped.storage().as_slice().is_some(), native, "{name}");
    }
    assert!(matches!(mapped_npy::<f32>(fixture("rank1.npy")), Err(Error::ElementType { .. })));
}

#[test]
fn npy_files_of_another_length_are_not_mapped() {
    let bytes = std::fs::read(fixture("rank1.npy")).unwrap();
    let expected = bytes.len() as u64;
    let short = Own::new(&bytes[..bytes.len() - 1]);
    let found = expected - 1;
    assert_eq!(mapped_npy::<f64>(short.path()).err(), Some(Error::Truncated { expected, found }));
    let long = Own::new(&[&bytes[..], b"!"].concat());
    let found = expected + 1;
    assert_eq!(mapped_npy::<f64>(long.path()).err(), Some(Error::TrailingData { expected, found }));
}

#[test]
fn npy_files_are_made_and_changed_in_place() {
    let own = Own::new(b"something longer than the new file will be".repeat(20).as_slice());
    for shape in [vec![], vec![0, 4], vec![3, 2]] {
        // SAFETY: the file is our own and mapped once at a time.
        let created = unsafe { npy::create_mut::<i32>(own.path(), shape.clone()) }.unwrap();
        assert_eq!(created.to_vec().unwrap(), vec![0; shape.iter().product()]);
        drop(created);
        assert_eq!(npy::open_header(own.path()).unwrap().dtype(), DType::I32);
    }
    // SAFETY: as above.
    let mut storage = unsafe { npy::map_mut::<i32>(own.path()) }.unwrap().into_storage();
    storage.as_mut_slice().unwrap().copy_from_slice(&[1, 2, 3, 4, 5, 6]);
    drop(storage);
    assert_eq!(npy::open::<i32>(own.path()).unwrap().to_vec().unwrap(), [1, 2, 3, 4, 5, 6]);
    let written = npy::open::<i32>(own.path()).unwrap();
    npy::save(own.path(), &written).unwrap();
    assert_eq!(npy::open::<i32>(own.path()).unwrap().shape(), [3, 2]);
}

/// Name of the variable that tells the test binary to be a child that truncates.
#[cfg(target_os = "linux")]
const CHILD: &str = "LENSOR_TRUNCATES";

/// Runs in a process of its own: maps or copies a file, truncates it, and reads.
#[cfg(target_os = "linux")]
#[test]
fn truncating_child() {
    let Some(mode) = std::env::var_os(CHILD) else {
        return;
    };
    let own = Own::new(&noise(1 << 16));
    let file = own.open();
    let order = ByteOrder::NATIVE;
    let last = if mode == "map" {
        let mapped = map::<u8>(&file, 0, 1 << 16, order).unwrap();
        file.set_len(0).unwrap();
        mapped.read((1 << 16) - 1)
    } else {
        let copied = read_elements_at::<u8>(&file, 0, 1 << 16, order).unwrap();
        file.set_len(0).unwrap();
        copied.read((1 << 16) - 1)
    };
    assert_eq!(last, noise(1 << 16)[(1 << 16) - 1]);
}

#[cfg(target_os = "linux")]
#[test]
fn truncation_kills_a_map_and_not_a_copy() {
    use std::os::unix::process::ExitStatusExt;
    const SIGBUS: i32 = 7;
    let child = |mode| {
        std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", &test_name(module_path!(), "truncating_child")])
            .env(CHILD, mode)
            .output()
            .unwrap()
            .status
    };
    assert_eq!(child("map").signal(), Some(SIGBUS));
    assert!(child("copy").success());
}
