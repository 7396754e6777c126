//! Any bytes as an `.npy` file: an error, or an array that is the same after writing and reading it.
//! Memory stays below twice the bytes and a constant.
#![no_main]

use lensor::dtype::{ByteOrder, DType, DTypeVisitor, FileElement};
use lensor::interop::npy::{self, Header};
use lensor::{Error, Reader, Tensor};
use libfuzzer_sys::fuzz_target;
use std::mem::discriminant;

mod memory;

/// At most twice the bytes.
fn bounded<T>(bytes: &[u8], read: impl FnOnce() -> T) -> T {
    memory::bounded(2 * bytes.len(), read)
}

fn written<T: FileElement, S: Reader<Elem = T>>(t: &Tensor<S>) -> Vec<u8> {
    let mut file = Vec::new();
    npy::write(&mut file, t).expect("an array that was read can be written");
    file
}

/// Reads copies of the elements, and writes them.
struct Copied<'a>(&'a [u8]);

impl DTypeVisitor for Copied<'_> {
    type Output = Result<Vec<u8>, Error>;

    fn visit<T: FileElement>(self) -> Self::Output {
        let file = written(&bounded(self.0, || npy::read::<T>(self.0))?);
        let again = npy::read::<T>(&file[..]).expect("what was written can be read");
        assert_eq!(written(&again), file);
        Ok(file)
    }
}

/// Reads the elements where they are, and writes them. `bool` cannot be read so.
fn in_place(dtype: DType, bytes: &[u8]) -> Option<Result<Vec<u8>, Error>> {
    macro_rules! by_type {
        ($($variant:ident: $type:ty,)*) => {
            match dtype {
                $(DType::$variant => {
                    let t = bounded(bytes, || npy::from_bytes::<$type, _>(bytes));
                    Some(t.map(|t| written(&t)))
                })*
                _ => None,
            }
        };
    }
    by_type! {
        I8: i8, I16: i16, I32: i32, I64: i64, U8: u8, U16: u16, U32: u32, U64: u64, F32: f32, F64: f64,
        F16: half::f16, C32: num_complex::Complex32, C64: num_complex::Complex64,
    }
}

fuzz_target!(|bytes: &[u8]| {
    let header = bounded(bytes, || Header::parse(bytes));
    assert_eq!(header, bounded(bytes, || Header::read(bytes)));
    for &dtype in DType::ALL {
        let copied = dtype.visit(Copied(bytes));
        match &header {
            Err(error) => assert_eq!(copied.as_ref(), Err(error)),
            Ok(header) if header.dtype() != dtype => {
                assert!(matches!(copied, Err(Error::ElementType { .. })));
            }
            Ok(header) => {
                if let Ok(file) = &copied
                    && !header.is_fortran()
                    && header.byte_order() == ByteOrder::NATIVE
                {
                    assert!(file.ends_with(&bytes[header.data_offset()..]));
                }
            }
        }
        if let Some(found) = in_place(dtype, bytes) {
            match (found, copied) {
                (Ok(found), Ok(copied)) => assert_eq!(found, copied),
                // A stream does not say by how much it is too long.
                (Err(found), Err(copied)) => {
                    assert_eq!(discriminant(&found), discriminant(&copied))
                }
                (found, copied) => panic!("{found:?} in place, {copied:?} copied"),
            }
        }
    }
});
