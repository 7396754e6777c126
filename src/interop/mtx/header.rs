//! What stands before the entries of a Matrix Market file.

use crate::dtype::{DType, FileElement};
use crate::error::{Error, Result};
use crate::interop::text::{Content, Lines};
use crate::shape::Shape;
use std::io::Read;

/// Most bytes before the entries, comments included.
const LIMIT_BYTES: usize = 1 << 20;
/// The word that files begin with.
pub(super) const BANNER: &str = "%%MatrixMarket";
/// What SciPy calls integers that have no sign.
const UNSIGNED: &str = "unsigned-integer";

/// A closed set of words of the first line.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident, $expected:literal: $($(#[$what:meta])* $variant:ident = $word:literal,)*) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$what])* $variant,)*
        }

        impl $name {
            const EXPECTED: &'static str = $expected;

            /// The word in a file.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }

            fn from_word(word: &str) -> Option<Self> {
                [$(Self::$variant),*].into_iter().find(|known| word.eq_ignore_ascii_case(known.word()))
            }
        }
    };
}
words! {
    /// How a file lists elements.
    Format, "coordinate or array":
    /// Row, column and value of each entry.
    Coordinate = "coordinate",
    /// Every element, column by column.
    Array = "array",
}
words! {
    /// What a file says of the values.
    Field, "real, integer, complex or pattern":
    /// Decimal fractions.
    Real = "real",
    /// Integers; in files of SciPy also `unsigned-integer`.
    Integer = "integer",
    /// Pairs of decimal fractions.
    Complex = "complex",
    /// None: an entry is a position.
    Pattern = "pattern",
}
impl Field {
    /// What a file says of elements `T`.
    pub(super) fn of<T: FileElement>() -> Self {
        match T::DTYPE.kind() {
            'f' | 'V' => Self::Real,
            'c' => Self::Complex,
            'b' => Self::Pattern,
            _ => Self::Integer,
        }
    }
}
words! {
    /// Which elements follow from others, and are left out.
    Symmetry, "general, symmetric, skew-symmetric or hermitian":
    /// None.
    General = "general",
    /// Those above the diagonal equal their mirror images.
    Symmetric = "symmetric",
    /// Those above the diagonal are the negatives of their mirror images; the diagonal is 0.
    SkewSymmetric = "skew-symmetric",
    /// Those above the diagonal are the conjugates of their mirror images.
    Hermitian = "hermitian",
}

/// Kind and size of the matrix in a Matrix Market file.
///
/// The element type is known at run time only; [`DType::visit`] turns it into a Rust type:
///
/// ```
/// use lensor::dtype::{DTypeVisitor, FileElement};
/// use lensor::interop::mtx::{self, Header};
/// use lensor::Result;
///
/// /// The first element of any Matrix Market file, as text.
/// struct First<'a>(&'a [u8]);
/// impl DTypeVisitor for First<'_> {
///     type Output = Result<String>;
///     fn visit<T: FileElement>(self) -> Result<String> {
///         Ok(format!("{:?}", mtx::read::<T>(self.0)?.get([0, 0])?))
///     }
/// }
///
/// let file = b"%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 1 7\n";
/// let header = Header::parse(file)?;
/// assert_eq!(header.entries(), 1);
/// assert_eq!(header.dtype().map(|dtype| dtype.visit(First(file))), Some(Ok("7".to_string())));
/// # Ok::<(), lensor::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    pub(super) format: Format,
    pub(super) field: Field,
    pub(super) symmetry: Symmetry,
    pub(super) shape: Shape,
    pub(super) entries: usize,
}

impl Header {
    /// Reads the header at the start of a file's bytes. Entries may follow or lack.
    ///
    /// # Errors
    ///
    /// [`Error::Line`] with the first line that is malformed, [`Error::HeaderTooLarge`] for more than
    /// 1 MiB of comments, [`Error::ShapeOverflow`].
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        Self::read(&mut Lines::new(bytes, b'%'))
    }

    pub(super) fn read(lines: &mut Lines<impl Read>) -> Result<Self> {
        let (format, field, symmetry) = match lines.next()? {
            Some(line) => banner(&line),
            None => return Err(lines.end("%%MatrixMarket")),
        }
        .map_err(|expected| lines.error(expected))?;
        while let Some(line) = lines.next()? {
            let content = !line.is_empty() && !line.starts_with('%');
            let size = content.then(|| line.into_owned());
            let claimed = lines.bytes() as u64;
            if claimed > LIMIT_BYTES as u64 {
                return Err(Error::HeaderTooLarge { claimed, limit: LIMIT_BYTES as u64 });
            }
            if let Some(text) = size {
                let size = Content { text: text.into(), line: lines.number() };
                return Self::sized(format, field, symmetry, &size);
            }
        }
        Err(lines.end("a line with the number of rows and columns"))
    }

    /// The header whose size line is `size`.
    fn sized(format: Format, field: Field, symmetry: Symmetry, size: &Content<'_>) -> Result<Self> {
        let expected = match format {
            Format::Coordinate => "the number of rows, columns and entries",
            Format::Array => "the number of rows and columns",
        };
        let mut words = size.text.split_ascii_whitespace();
        let mut number = || size.number(words.next().unwrap_or_default(), expected);
        let (rows, columns) = (number()?, number()?);
        let declared = if format == Format::Coordinate { Some(number()?) } else { None };
        if words.next().is_some() {
            return Err(size.error(expected));
        }
        if symmetry != Symmetry::General && rows != columns {
            return Err(size.error("as many rows as columns, as the matrix is symmetric"));
        }
        let shape = Shape::from([rows, columns]);
        let count = shape.count()?;
        let entries = declared.unwrap_or(match symmetry {
            Symmetry::General => count,
            Symmetry::Symmetric | Symmetry::Hermitian => (count - rows) / 2 + rows,
            Symmetry::SkewSymmetric => (count - rows) / 2,
        });
        Ok(Self { format, field, symmetry, shape, entries })
    }

    /// How the file lists elements.
    pub fn format(&self) -> Format {
        self.format
    }

    /// What the file says of the values.
    pub fn field(&self) -> Field {
        self.field
    }

    /// Which elements follow from others.
    pub fn symmetry(&self) -> Symmetry {
        self.symmetry
    }

    /// Rows and columns.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Number of entries in the file; elements that follow from others do not count.
    pub fn entries(&self) -> usize {
        self.entries
    }

    /// The widest element type of this kind: `f64`, `i64`, `bool`, or `Complex64`, which needs the feature
    /// `complex`.
    pub fn dtype(&self) -> Option<DType> {
        match self.field {
            Field::Real => Some(DType::F64),
            Field::Integer => Some(DType::I64),
            Field::Pattern => Some(DType::Bool),
            Field::Complex => DType::from_kind('c', 16),
        }
    }

    /// Checks that the values can be read as `T`.
    pub(super) fn check_type<T: FileElement>(&self) -> Result<()> {
        let kind = T::DTYPE.kind();
        let known = match self.field {
            Field::Real => matches!(kind, 'f' | 'c' | 'V'),
            Field::Complex => kind == 'c',
            Field::Integer | Field::Pattern => true,
        };
        let signed = self.symmetry != Symmetry::SkewSymmetric || !matches!(kind, 'b' | 'u');
        if known && signed {
            return Ok(());
        }
        let found = if known { self.symmetry.word() } else { self.field.word() };
        Err(Error::ElementType { expected: T::DTYPE.name(), found: found.into() })
    }
}

/// The three words that vary in the first line; otherwise what was expected there.
fn banner(line: &str) -> Result<(Format, Field, Symmetry), &'static str> {
    let mut words = line.split_ascii_whitespace();
    if words.next() != Some(BANNER) {
        return Err(BANNER);
    }
    let mut word = || words.next().unwrap_or_default();
    if !word().eq_ignore_ascii_case("matrix") {
        return Err("matrix");
    }
    let format = Format::from_word(word()).ok_or(Format::EXPECTED)?;
    let field = match word() {
        unsigned if unsigned.eq_ignore_ascii_case(UNSIGNED) => Field::Integer,
        word => Field::from_word(word).ok_or(Field::EXPECTED)?,
    };
    let symmetry = Symmetry::from_word(word()).ok_or(Symmetry::EXPECTED)?;
    if words.next().is_some() {
        return Err("five words");
    }
    check_kind(format, field, symmetry)?;
    Ok((format, field, symmetry))
}

/// Checks that the format knows such matrices; otherwise what was expected.
pub(super) fn check_kind(
    format: Format,
    field: Field,
    symmetry: Symmetry,
) -> Result<(), &'static str> {
    match (format, field, symmetry) {
        (Format::Array, Field::Pattern, _) => Err("values, as arrays have no pattern"),
        (_, Field::Pattern, Symmetry::SkewSymmetric) => Err("values, as patterns have no sign"),
        (_, Field::Real | Field::Integer | Field::Pattern, Symmetry::Hermitian) => {
            Err("complex values, as the matrix is hermitian")
        }
        _ => Ok(()),
    }
}
