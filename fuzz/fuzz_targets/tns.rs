//! Any bytes as a `.tns` file: an error, or a tensor with the entries of the lines that is the same after
//! writing and reading it. Memory stays below a multiple of the bytes.
#![no_main]

use lensor::dtype::{DType, DTypeVisitor, FileElement};
use lensor::interop::tns;
use libfuzzer_sys::fuzz_target;

mod memory;

/// An entry of 4 bytes is held twice with room to grow while it is sorted.
fn bounded<T>(bytes: &[u8], read: impl FnOnce() -> T) -> T {
    memory::bounded(64 * bytes.len(), read)
}

/// Reads the tensor with and without its shape.
struct Same<'a>(&'a [u8]);

impl DTypeVisitor for Same<'_> {
    type Output = ();

    fn visit<T: FileElement>(self) {
        let Ok(tensor) = bounded(self.0, || tns::read::<T>(self.0)) else {
            return;
        };
        let lines = self.0.split(|&byte| byte == b'\n').count();
        assert!((1..=lines).contains(&tensor.storage().stored_len()));
        let shape = tensor.shape();
        let given =
            bounded(self.0, || tns::read_shaped::<T>(self.0, &shape)).expect("it has this shape");
        assert_eq!(given.storage().addresses(), tensor.storage().addresses());
        let mut file = Vec::new();
        tns::write(&mut file, &tensor).expect("a tensor that was read can be written");
        // Numbers may be written in more digits than they were read from.
        if file.split(|&byte| byte == b'\n').any(|line| line.len() >= 4096) {
            return;
        }
        let back = tns::read_shaped::<T>(&file[..], &shape).expect("what was written can be read");
        assert_eq!(back.storage().addresses(), tensor.storage().addresses());
        let (old, new) = (tensor.storage().values(), back.storage().values());
        assert!(old.iter().zip(new).all(|(x, y)| x.same_bits(*y)));
        if let Some(axis) = shape.iter().position(|&extent| extent > 1) {
            let mut smaller = shape.to_vec();
            smaller[axis] -= 1;
            assert!(tns::read_shaped::<T>(self.0, smaller).is_err());
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    for &dtype in DType::ALL {
        dtype.visit(Same(bytes));
    }
});
