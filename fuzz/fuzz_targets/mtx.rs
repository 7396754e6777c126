//! Any bytes as a Matrix Market file: an error, or a matrix that is the same after writing and reading
//! it. Memory stays below a multiple of the bytes.
#![no_main]

use lensor::dtype::{DType, DTypeVisitor, FileElement};
use lensor::interop::mtx::{self, Format, Header};
use lensor::{Error, Reader};
use libfuzzer_sys::fuzz_target;

mod memory;

/// An entry of 4 bytes is mirrored, and held twice with room to grow while it is sorted.
fn bounded<T>(bytes: &[u8], read: impl FnOnce() -> T) -> T {
    memory::bounded(64 * bytes.len(), read)
}

/// Reads elements as `T` in every way, writes them and reads them again.
struct RoundTrip<'a>(&'a [u8]);

impl DTypeVisitor for RoundTrip<'_> {
    type Output = ();

    fn visit<T: FileElement>(self) {
        let (header, read) = (Header::parse(self.0), bounded(self.0, || mtx::read::<T>(self.0)));
        let array = bounded(self.0, || mtx::read_array::<T>(self.0));
        let Ok(header) = header else {
            assert_eq!(read.map(drop), header.clone().map(drop));
            assert_eq!(array.map(drop), header.map(drop));
            return;
        };
        let matrix = match (read, array) {
            (Ok(matrix), Ok(array)) => {
                let (entries, elements) = (matrix.to_vec().unwrap(), array.to_vec().unwrap());
                assert!(entries.iter().zip(&elements).all(|(x, y)| x.same_bits(*y)));
                assert_eq!(entries.len(), elements.len());
                matrix
            }
            (Ok(matrix), Err(error)) => {
                assert!(header.format() == Format::Coordinate, "{error}");
                matrix
            }
            (Err(error), Err(other)) => {
                assert!(error == other || header.format() == Format::Coordinate);
                return;
            }
            (Err(error), Ok(_)) => panic!("read as an array only: {error}"),
        };
        assert_eq!(&matrix.shape(), header.shape());
        assert!(matrix.storage().stored_len() <= 2 * header.entries());
        assert!(
            matrix.storage().addresses().last().is_none_or(|&last| last < matrix.storage().len())
        );
        let mut file = Vec::new();
        mtx::write(&mut file, &matrix).expect("a matrix that was read can be written");
        let back = mtx::read::<T>(&file[..]).expect("what was written can be read");
        // A pattern does not list what is false.
        if T::DTYPE != DType::Bool {
            assert_eq!(back.storage().addresses(), matrix.storage().addresses());
        }
        let (old, new) = (matrix.storage().values(), back.storage().values());
        assert!(T::DTYPE == DType::Bool || old.iter().zip(new).all(|(x, y)| x.same_bits(*y)));
        if let Err(error) = mtx::write_as(Vec::new(), &matrix, header.symmetry()) {
            assert!(
                matches!(error, Error::Asymmetric { .. } | Error::ElementType { .. }),
                "{error}"
            );
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    for &dtype in DType::ALL {
        dtype.visit(RoundTrip(bytes));
    }
});
