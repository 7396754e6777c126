//! Lazy, invertible tensor views over any storage, computed by fused kernels.

#[cfg(feature = "quickcheck")]
pub mod arbitrary;
pub mod dtype;
pub mod error;
pub mod expr;
pub mod interop;
mod kernel;
pub mod map;
mod ops;
pub mod shape;
pub mod storage;
pub mod tensor;

pub use error::{Error, Result, StorageError};
pub use expr::{BoxExpr, Elementwise, Expr, Lazy, choose, zip_with};
pub use map::{AddressMap, Select};
pub use shape::{Align, Index, Shape};
pub use storage::{BoxReader, Reader, Stored, Writer};
pub use tensor::Tensor;

/// What most programs need: `use lensor::prelude::*`.
pub mod prelude {
    pub use crate::{
        Align, BoxExpr, Elementwise, Error, Expr, Lazy, Select, Shape, Tensor, choose, zip_with,
    };
}
