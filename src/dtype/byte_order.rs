//! The order of the bytes of a number.

use super::FileElement;

/// Order of the bytes of every number in a file.
///
/// ```
/// use lensor::dtype::ByteOrder;
/// let from_a_file = u16::from_ne_bytes([1, 2]);
/// assert_eq!(ByteOrder::Big.convert::<u16>(from_a_file), 0x0102);
/// assert_eq!(ByteOrder::Little.convert::<u16>(from_a_file), 0x0201);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

impl ByteOrder {
    /// The order of this machine.
    pub const NATIVE: Self = if cfg!(target_endian = "big") { Self::Big } else { Self::Little };

    /// Whether this is the order of this machine.
    #[inline]
    pub const fn is_native(self) -> bool {
        matches!((self, Self::NATIVE), (Self::Little, Self::Little) | (Self::Big, Self::Big))
    }

    /// Turns bytes of this order into the machine's, or back: it is its own inverse.
    #[inline]
    pub fn convert<T: FileElement>(self, bytes: T::Bytes) -> T::Bytes {
        if self.is_native() { bytes } else { T::swap(bytes) }
    }
}
