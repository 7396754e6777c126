//! What stands before the data of a `.npy` file.

use super::parse;
use crate::dtype::{ByteOrder, DType, FileElement};
use crate::error::{Error, Result};
use crate::map::AddressMap;
use crate::memory::try_with_capacity;
use crate::shape::Shape;
use crate::storage::{Reader, fill};
use crate::tensor::Tensor;
use std::io::Read;

const MAGIC: &[u8] = b"\x93NUMPY";
/// Bytes before the text of format 1; later formats have two more.
const PREFIX_BYTES: usize = 10;
/// Longest text accepted, in bytes. NumPy itself accepts 10,000.
const LIMIT_BYTES: usize = 1 << 16;
/// NumPy pads headers to a multiple of this, so that mapped data is aligned.
const ALIGN_BYTES: usize = 64;
/// NumPy leaves room for the outermost extent to grow to this many digits.
const GROWTH_DIGITS: usize = 21;

/// Type, order and shape of the array in a `.npy` file.
///
/// The element type is known at run time only; [`DType::visit`] turns it into a Rust type:
///
/// ```
/// use lensor::dtype::{DTypeVisitor, FileElement};
/// use lensor::interop::npy::{self, Header};
/// use lensor::{Result, Tensor};
///
/// /// The elements of any `.npy` file as text.
/// struct Show<'a>(&'a [u8]);
/// impl DTypeVisitor for Show<'_> {
///     type Output = Result<String>;
///     fn visit<T: FileElement>(self) -> Result<String> {
///         Ok(format!("{:?}", npy::read::<T>(self.0)?.to_vec()?))
///     }
/// }
///
/// let mut file = Vec::new();
/// npy::write(&mut file, &Tensor::from_vec([2], vec![1_u16, 2])?)?;
/// let header = Header::parse(&file)?;
/// assert_eq!(header.dtype().visit(Show(&file))?, "[1, 2]");
/// # Ok::<(), lensor::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    dtype: DType,
    order: ByteOrder,
    fortran: bool,
    shape: Shape,
    count: usize,
    data_offset: usize,
}

impl Header {
    /// The header NumPy would write: format 1.0, padded to 64 bytes.
    ///
    /// Types of one byte have no byte order; theirs becomes the machine's.
    ///
    /// # Errors
    ///
    /// [`Error::ShapeOverflow`] if the data exceeds `isize::MAX` bytes, [`Error::RankLimit`] for more than
    /// [`Shape::MAX_RANK`] axes.
    ///
    /// ```
    /// use lensor::dtype::{ByteOrder, DType};
    /// use lensor::interop::npy::Header;
    /// let header = Header::new(DType::F64, ByteOrder::Little, false, [2, 3])?;
    /// assert_eq!(Header::parse(&header.to_bytes())?, header);
    /// assert_eq!(header.file_bytes(), header.data_offset() as u64 + 6 * 8);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn new(
        dtype: DType,
        order: ByteOrder,
        fortran: bool,
        shape: impl Into<Shape>,
    ) -> Result<Self> {
        let mut header = Self::with_offset(dtype, order, fortran, shape.into(), 0)?;
        header.data_offset = PREFIX_BYTES + header.text().len();
        Ok(header)
    }

    fn with_offset(
        dtype: DType,
        order: ByteOrder,
        fortran: bool,
        shape: Shape,
        data_offset: usize,
    ) -> Result<Self> {
        let order = if dtype.size_bytes() == 1 { ByteOrder::NATIVE } else { order };
        Shape::check_rank(shape.rank())?;
        let count = shape.count()?;
        match count.checked_mul(dtype.size_bytes()) {
            Some(bytes) if bytes <= isize::MAX as usize => {}
            _ => return Err(Error::ShapeOverflow { shape: shape.to_vec() }),
        }
        Ok(Self { dtype, order, fortran, shape, count, data_offset })
    }

    /// Reads the header at the start of a file's bytes. Data may follow or lack.
    ///
    /// # Errors
    ///
    /// [`Error::Header`] with the first position that is malformed, [`Error::HeaderTooLarge`] above
    /// 64 KiB, [`Error::Truncated`] if the bytes end before the header, [`Error::ElementType`] for
    /// structured, text and object types, [`Error::ShapeOverflow`], [`Error::RankLimit`].
    ///
    /// ```
    /// use lensor::Error;
    /// use lensor::interop::npy::Header;
    /// assert!(matches!(Header::parse(b"\x93NUMPX"), Err(Error::Header { offset: 5, .. })));
    /// assert!(matches!(Header::parse(b"\x93NUMPY"), Err(Error::Truncated { .. })));
    /// ```
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let (start, end) = text_range(bytes)?;
        let truncated = Error::Truncated { expected: end as u64, found: bytes.len() as u64 };
        let fields = parse::parse(bytes.get(..end).ok_or(truncated)?, start)?;
        let (dtype, order) = element_type(&fields.descr)
            .ok_or(Error::ElementType { expected: expected_types(), found: fields.descr })?;
        Self::with_offset(dtype, order, fields.fortran, fields.shape, end)
    }

    /// Reads the header of a stream and leaves the stream at the data.
    ///
    /// # Errors
    ///
    /// As for [`Self::parse`], [`Error::OutOfMemory`], and [`Error::Io`].
    ///
    /// ```
    /// use lensor::Tensor;
    /// use lensor::interop::npy::{self, Header};
    /// let mut file = Vec::new();
    /// npy::write(&mut file, &Tensor::from_vec([2], vec![7_u8, 8])?)?;
    /// let mut stream = &file[..];
    /// assert_eq!(Header::read(&mut stream)?.count(), 2);
    /// assert_eq!(stream, [7, 8]); // what is left are the elements
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn read(mut source: impl Read) -> Result<Self> {
        // No valid header ends within the longer prefix, so reading it does not touch the data.
        let mut prefix = [0; PREFIX_BYTES + 2];
        let found = fill(&mut source, &mut prefix)?;
        let (_, end) = text_range(&prefix[..found])?;
        let mut bytes = try_with_capacity(end.max(found))?;
        bytes.extend_from_slice(&prefix[..found]);
        bytes.resize(end.max(found), 0);
        let found = found + fill(&mut source, &mut bytes[found..])?;
        Self::parse(&bytes[..found])
    }

    /// Type of the elements.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Byte order of the elements; the machine's for types of one byte.
    pub fn byte_order(&self) -> ByteOrder {
        self.order
    }

    /// Whether the first axis varies fastest in the file.
    pub fn is_fortran(&self) -> bool {
        self.fortran
    }

    /// Extents, outermost first, whatever the order in the file.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Number of elements.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Position of the first element in the file, in bytes.
    pub fn data_offset(&self) -> usize {
        self.data_offset
    }

    /// Size of a whole file with this header, in bytes.
    pub fn file_bytes(&self) -> u64 {
        self.data_offset as u64 + (self.count * self.dtype.size_bytes()) as u64
    }

    /// The tensor this header describes over storage with its elements in the order of the file.
    ///
    /// Fortran order becomes a transposed view.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfSpan`] if the storage is too short.
    ///
    /// ```
    /// use lensor::dtype::{ByteOrder, DType};
    /// use lensor::interop::npy::Header;
    /// let header = Header::new(DType::U8, ByteOrder::NATIVE, true, [2, 3])?;
    /// assert_eq!(header.tensor(vec![1, 4, 2, 5, 3, 6])?.to_vec()?, [1, 2, 3, 4, 5, 6]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn tensor<S: Reader>(&self, storage: S) -> Result<Tensor<S>> {
        if !self.fortran {
            return Tensor::with_map(AddressMap::row_major(&self.shape)?, storage);
        }
        let reversed = self.shape.iter().rev().copied().collect();
        let order: Vec<usize> = (0..self.shape.rank()).rev().collect();
        Tensor::with_map(AddressMap::of_shape(&reversed)?.transpose(&order)?, storage)
    }

    /// The bytes of the header in format 1.0, byte for byte as NumPy writes them.
    pub fn to_bytes(&self) -> Vec<u8> {
        let text = self.text();
        // 64 extents of at most 20 digits are far less than the 64 KiB of this format.
        let len = text.len() as u16;
        [MAGIC, &[1, 0], &len.to_le_bytes(), text.as_bytes()].concat()
    }

    /// The dict as Python prints it, room to grow, and padding up to a newline.
    fn text(&self) -> String {
        let extents: Vec<String> = self.shape.iter().map(usize::to_string).collect();
        let fortran = if self.fortran { "True" } else { "False" };
        let comma = if extents.len() == 1 { "," } else { "" };
        let mut text = format!(
            "{{'descr': '{}', 'fortran_order': {fortran}, 'shape': ({}{comma}), }}",
            descr(self.dtype, self.order),
            extents.join(", "),
        );
        let outermost = if self.fortran { extents.last() } else { extents.first() };
        let growth = outermost.map_or(0, |digits| GROWTH_DIGITS - digits.len());
        let unpadded = PREFIX_BYTES + text.len() + growth + 1;
        let padding = ALIGN_BYTES - unpadded % ALIGN_BYTES;
        text.extend(std::iter::repeat_n(' ', growth + padding));
        text.push('\n');
        text
    }

    /// Checks that elements are `T`.
    pub(in crate::interop) fn check_type<T: FileElement>(&self) -> Result<()> {
        if self.dtype == T::DTYPE {
            return Ok(());
        }
        Err(Error::ElementType { expected: T::DTYPE.name(), found: self.dtype.name().into() })
    }
}

/// Where the text of a header starts and ends, from the bytes before it.
fn text_range(bytes: &[u8]) -> Result<(usize, usize)> {
    let malformed = |offset, expected| Err(Error::Header { offset, expected });
    let truncated = |expected| Err(Error::Truncated { expected, found: bytes.len() as u64 });
    if let Some(offset) = bytes.iter().zip(MAGIC).position(|(found, magic)| found != magic) {
        return malformed(offset, "the bytes \\x93NUMPY");
    }
    let (start, claimed) = match bytes[MAGIC.len().min(bytes.len())..] {
        [1, 0, a, b, ..] => (PREFIX_BYTES, u64::from(u16::from_le_bytes([a, b]))),
        [2 | 3, 0, a, b, c, d, ..] => {
            (PREFIX_BYTES + 2, u64::from(u32::from_le_bytes([a, b, c, d])))
        }
        [] | [1] | [1, 0, ..] => return truncated(PREFIX_BYTES as u64),
        [2 | 3] | [2 | 3, 0, ..] => return truncated(PREFIX_BYTES as u64 + 2),
        [1..=3, ..] => return malformed(MAGIC.len() + 1, "minor version 0"),
        _ => return malformed(MAGIC.len(), "major version 1, 2 or 3"),
    };
    if claimed > LIMIT_BYTES as u64 {
        return Err(Error::HeaderTooLarge { claimed, limit: LIMIT_BYTES as u64 });
    }
    Ok((start, start + claimed as usize))
}

/// NumPy's name of a type: byte order, kind and size, such as `<f8`.
fn descr(dtype: DType, order: ByteOrder) -> String {
    let mark = match order {
        _ if dtype.size_bytes() == 1 => '|',
        ByteOrder::Little => '<',
        ByteOrder::Big => '>',
    };
    format!("{mark}{}{}", dtype.kind(), dtype.size_bytes())
}

/// What is read, in words: of what is not, the features that are off.
fn expected_types() -> &'static str {
    let has = |kind, bytes| {
        DType::ALL.iter().any(|dtype| (dtype.kind(), dtype.size_bytes()) == (kind, bytes))
    };
    match (has('f', 2), has('c', 8)) {
        (true, true) => "bool, integer, float or complex",
        (true, false) => "bool, integer, float or complex (by feature `complex`)",
        (false, true) => "bool, integer, float (a half by feature `half`) or complex",
        (false, false) => {
            "bool, integer, float (a half by feature `half`) or complex (by feature `complex`)"
        }
    }
}

/// The inverse of [`descr`]; `=` stands for the machine's order, and one byte may have any mark.
fn element_type(descr: &str) -> Option<(DType, ByteOrder)> {
    let (mark, name) = descr.split_at_checked(1)?;
    let named = |dtype: &&DType| name == format!("{}{}", dtype.kind(), dtype.size_bytes());
    let dtype = *DType::ALL.iter().find(named)?;
    let order = match mark {
        "<" => ByteOrder::Little,
        ">" => ByteOrder::Big,
        "=" => ByteOrder::NATIVE,
        "|" if dtype.size_bytes() == 1 || dtype.kind() == 'V' => ByteOrder::NATIVE,
        _ => return None,
    };
    Some((dtype, order))
}
