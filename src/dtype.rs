//! Element types: the one table of what can be stored, computed and converted.
//!
//! Code that is generic over them asks for one bound, [`Number`](crate::Number) or [`Float`](crate::Float).

use std::fmt::Debug;

mod arithmetic;
mod byte_order;
mod cast;
mod exponential;
mod measure;
mod ranged;
mod real;
mod same_bits;
mod sortable;
mod text;
mod truth;

pub use arithmetic::{Arithmetic, Bits, DivideBy, Divisor, Order, RoundTo, Signed};
pub use byte_order::ByteOrder;
pub use cast::{Cast, CastFault};
pub use measure::Measure;
pub use ranged::Ranged;
pub(crate) use ranged::range_error;
pub use real::Real;
pub use same_bits::SameBits;
pub(crate) use same_bits::same_element;
pub use sortable::{Radix, SortKey, Sortable, Words};
pub use text::TextElement;
pub use truth::Truth;

mod sealed {
    /// The table of element types is closed: files are parsed by what it says of their sizes.
    #[allow(unnameable_types, reason = "this is what seals the trait")]
    pub trait Sealed {}
}

/// An element type that has a name in files: those of the table, see [`DType`]. Sealed.
///
/// Views, closures and storage take any `Copy` type; an `Element` can also be written to `.npy` files.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not one of the element types that files know",
    note = "files hold `bool`, integers of 8 to 64 bits, `f32` and `f64`, and with features `f16` and complex numbers",
    note = "views, expressions and closures take any `Copy` type"
)]
pub trait Element: Copy + Send + Sync + PartialEq + Debug + sealed::Sealed + 'static {
    /// The name of the type at run time.
    const DTYPE: DType;
}

/// Calls a macro with every row of the table of element types.
///
/// A row is: variant, type, NumPy's kind letter, and the feature that enables it.
macro_rules! dtypes {
    ($callback:ident) => {
        $callback! {
            [Bool: bool, 'b'; I8: i8, 'i'; I16: i16, 'i'; I32: i32, 'i'; I64: i64, 'i'; U8: u8, 'u'; U16: u16, 'u';
            U32: u32, 'u'; U64: u64, 'u'; F32: f32, 'f'; F64: f64, 'f';]
            "half" F16 "f16": half::f16, 'f'; "half" BF16 "bf16": half::bf16, 'V';
            "complex" C32 "Complex32": num_complex::Complex32, 'c';
            "complex" C64 "Complex64": num_complex::Complex64, 'c';
        }
    };
}

macro_rules! define {
    ([$($variant:ident: $type:ty, $kind:literal;)*] $($feature:literal $more:ident $name:literal: $other:ty, $letter:literal;)*) => {
        /// An element type known at run time only, from a file for example.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        #[allow(missing_docs, reason = "the variants are named after the types")]
        pub enum DType {
            $($variant,)*
            $(#[cfg(feature = $feature)] $more,)*
        }

        impl DType {
            /// All element types that the enabled features support.
            pub const ALL: &'static [Self] = &[
                $(Self::$variant,)*
                $(#[cfg(feature = $feature)] Self::$more,)*
            ];

            /// Size of an element, in bytes.
            pub const fn size_bytes(self) -> usize {
                match self {
                    $(Self::$variant => size_of::<$type>(),)*
                    $(#[cfg(feature = $feature)] Self::$more => size_of::<$other>(),)*
                }
            }

            /// NumPy's letter for the kind: `b`, `i`, `u`, `f` or `c`; `V` for `bf16`, which NumPy has no name for.
            pub const fn kind(self) -> char {
                match self {
                    $(Self::$variant => $kind,)*
                    $(#[cfg(feature = $feature)] Self::$more => $letter,)*
                }
            }

            /// Name of the Rust type.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => stringify!($type),)*
                    $(#[cfg(feature = $feature)] Self::$more => $name,)*
                }
            }

            /// Turns this run-time type into a Rust type, once.
            pub fn visit<V: DTypeVisitor>(self, visitor: V) -> V::Output {
                match self {
                    $(Self::$variant => visitor.visit::<$type>(),)*
                    $(#[cfg(feature = $feature)] Self::$more => visitor.visit::<$other>(),)*
                }
            }
        }

        $(impl sealed::Sealed for $type {})*
        $(#[cfg(feature = $feature)] impl sealed::Sealed for $other {})*
        $(impl Element for $type { const DTYPE: DType = DType::$variant; })*
        $(#[cfg(feature = $feature)] impl Element for $other { const DTYPE: DType = DType::$more; })*
    };
}
dtypes!(define);

impl DType {
    /// The type with this kind letter and size, if it is supported.
    pub fn from_kind(kind: char, size_bytes: usize) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|dtype| dtype.kind() == kind && dtype.size_bytes() == size_bytes)
    }
}

impl std::fmt::Display for DType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Code that is generic over the element type, to be called with one known at run time only.
///
/// ```
/// use lensor::dtype::{DType, DTypeVisitor, FileElement};
///
/// struct Size;
/// impl DTypeVisitor for Size {
///     type Output = usize;
///     fn visit<T: FileElement>(self) -> usize {
///         size_of::<T>()
///     }
/// }
/// assert_eq!(DType::F64.visit(Size), 8);
/// ```
pub trait DTypeVisitor {
    /// What the visitor returns.
    type Output;

    /// Called with the Rust type.
    fn visit<T: FileElement>(self) -> Self::Output;
}

/// An element that files hold as plain bytes. Sealed, as [`Element`] is.
///
/// Every bit pattern is a value, but for `bool`, whose bytes are checked.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not one of the element types that files know",
    note = "files hold `bool`, integers of 8 to 64 bits, `f32` and `f64`, and with features `f16` and complex numbers",
    note = "`char` can be kept as `u32`, `usize` as `u64`: convert with `map` or `cast`"
)]
pub trait FileElement: TextElement {
    /// The element in bytes, all of whose patterns are values.
    type Bytes: bytemuck::Pod + Send + Sync;

    /// The element these bytes hold, in the machine's byte order.
    ///
    /// # Errors
    ///
    /// The offending byte, if the bytes are no value.
    fn from_bytes(bytes: Self::Bytes) -> Result<Self, u8>;

    /// The bytes of the element, in the machine's byte order.
    fn into_bytes(self) -> Self::Bytes;

    /// The bytes with every number in them turned from one byte order to the other.
    fn swap(bytes: Self::Bytes) -> Self::Bytes;
}

/// An element whose bytes in a file are the element, whatever they are: all of [`FileElement`] but
/// `bool`.
#[diagnostic::on_unimplemented(
    message = "elements of type `{Self}` cannot be mapped into memory",
    note = "every pattern of bits must be a value: read the file by `npy::open`, which checks, or map integers"
)]
pub trait MapElement: FileElement<Bytes = Self> + bytemuck::Pod {}

impl FileElement for bool {
    type Bytes = u8;

    fn from_bytes(byte: u8) -> Result<Self, u8> {
        match byte {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(other),
        }
    }

    fn into_bytes(self) -> u8 {
        u8::from(self)
    }

    fn swap(byte: u8) -> u8 {
        byte
    }
}

macro_rules! file_elements {
    ($($(#[$cfg:meta])? $type:ty: $swap:expr;)*) => { $(
        $(#[$cfg])?
        impl MapElement for $type {}

        $(#[$cfg])?
        impl FileElement for $type {
            type Bytes = $type;

            #[inline]
            fn from_bytes(bytes: $type) -> Result<Self, u8> {
                Ok(bytes)
            }

            #[inline]
            fn into_bytes(self) -> $type {
                self
            }

            #[inline]
            fn swap(bytes: $type) -> $type {
                $swap(bytes)
            }
        }
    )* };
}
file_elements! {
    i8: i8::swap_bytes;
    i16: i16::swap_bytes;
    i32: i32::swap_bytes;
    i64: i64::swap_bytes;
    u8: u8::swap_bytes;
    u16: u16::swap_bytes;
    u32: u32::swap_bytes;
    u64: u64::swap_bytes;
    f32: |x: f32| f32::from_bits(x.to_bits().swap_bytes());
    f64: |x: f64| f64::from_bits(x.to_bits().swap_bytes());
    #[cfg(feature = "half")] half::f16: |x: half::f16| half::f16::from_bits(x.to_bits().swap_bytes());
    #[cfg(feature = "half")] half::bf16: |x: half::bf16| half::bf16::from_bits(x.to_bits().swap_bytes());
    #[cfg(feature = "complex")] num_complex::Complex32: |x: num_complex::Complex32| {
        num_complex::Complex32::new(f32::swap(x.re), f32::swap(x.im))
    };
    #[cfg(feature = "complex")] num_complex::Complex64: |x: num_complex::Complex64| {
        num_complex::Complex64::new(f64::swap(x.re), f64::swap(x.im))
    };
}
