//! Tensors by DLPack (feature `dlpack`): memory that libraries of other languages share.
//!
//! | to others | from others |
//! |---|---|
//! | [`export`]: any tensor in memory, to be read | [`import`]: a tensor that reads it where it lies |
//! | [`export_owned`]: a `Tensor<Vec<T>>`, to be written too | [`import_mut`]: one that writes it, too |
//! | | [`to_tensor`]: a copy, `bool` included |
//!
//! What is exchanged is a [`Managed`] of [`dlpark`]: a descriptor (type, shape, strides, address) that is called once it is
//! no more needed. Memory is that of the processor; both versions of the interface, with and without flags, are read.
//!
//! Importing is `unsafe`: that the memory is there, initialized and not written meanwhile is known to the caller alone.
//! What a descriptor says is checked as far as it can be: the type, the rank, the device, alignment, and that no
//! address overflows.
//!
//! ```
//! use lensor::interop::dlpack;
//! use lensor::prelude::*;
//!
//! let t = Tensor::from_vec([2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
//! let exported = dlpack::export(t.transpose([1, 0])?.flip(0)?)?;
//! // SAFETY: it was exported a line before, and nobody writes it.
//! let back = unsafe { dlpack::import::<f64, _>(exported) }?;
//! assert_eq!(back.to_vec()?, [3.0, 6.0, 2.0, 5.0, 1.0, 4.0]);
//! # Ok::<(), lensor::Error>(())
//! ```

mod export;
mod import;

pub use ::dlpark;
pub use export::{Dlpack, export, export_owned};
pub use import::{Imported, ImportedMut, import, import_mut, to_tensor};

use crate::dtype::DType;
use crate::error::Error;
#[cfg(doc)]
use ::dlpark::Managed;
use ::dlpark::ffi::{DLDataType, DLDataTypeCode};

/// How elements are described.
fn described(dtype: DType) -> DLDataType {
    let code = match dtype.kind() {
        'b' => DLDataTypeCode::BOOL,
        'i' => DLDataTypeCode::INT,
        'u' => DLDataTypeCode::UINT,
        'f' => DLDataTypeCode::FLOAT,
        'c' => DLDataTypeCode::COMPLEX,
        _ => DLDataTypeCode::BFLOAT,
    };
    DLDataType::scalar(code, 8 * dtype.size_bytes() as u8)
}

/// The type that a descriptor means, in words.
fn in_words(found: DLDataType) -> String {
    match DType::ALL.iter().find(|ours| described(**ours) == found) {
        Some(ours) => ours.name().into(),
        None => format!("code {} of {} bits in {} lanes", found.code.0, found.bits, found.lanes),
    }
}

fn malformed(reason: impl std::fmt::Display) -> Error {
    Error::Malformed { format: "DLPack tensor", name: None, reason: reason.to_string() }
}
