//! Writing Matrix Market files.

use super::body::{has_opposite, image};
use super::header::{BANNER, Field, Format, Symmetry, check_kind};
use crate::dtype::{Element, FileElement, TextElement};
use crate::error::{Error, Result};
use crate::expr::{IntoExpr, Lazy, for_each_piece};
use crate::interop::file;
use crate::interop::matrix::matrix_extents;
use crate::interop::text::{TextWriter, entries};
use crate::storage::Reader;
use crate::tensor::Tensor;
use crate::tensor::stored::Entries;
use std::io::Write;
use std::path::Path;

/// Elements that are evaluated at once.
const PIECE: usize = 1 << 16;

/// Writes the entries of a sparse matrix, or of any view of one, row by row.
///
/// Floats are written in the fewest digits that read as the same number. `bool`s become a pattern of
/// those that are true.
///
/// # Errors
///
/// [`Error::ExpectedRank`] unless there are two axes, [`Error::NotSparse`] for dense storage (see
/// [`write_array`]), [`Error::FillNotZero`], [`Error::OutOfMemory`], and [`Error::Io`] if the sink fails: it then holds a part.
///
/// ```
/// use lensor::interop::mtx;
/// use lensor::{Tensor, storage::Sparse};
/// let matrix = Tensor::new([2, 3], Sparse::from_sorted(6, 0.0, vec![1, 3], vec![0.5, 2.0])?)?;
/// let mut file = Vec::new();
/// mtx::write(&mut file, &matrix.view().transpose([1, 0])?)?;
/// assert_eq!(
///     String::from_utf8_lossy(&file),
///     "%%MatrixMarket matrix coordinate real general\n3 2 2\n1 2 2.0\n2 1 0.5\n"
/// );
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn write<S>(sink: impl Write, matrix: &Tensor<S>) -> Result<()>
where
    S: Reader<Elem: FileElement>,
{
    write_as(sink, matrix, Symmetry::General)
}

/// Writes a sparse matrix to a new file, which replaces one of the same name as [`npy::save`] does.
///
/// # Errors
///
/// As for [`write`](write()); an old file is as it was then.
///
/// [`npy::save`]: crate::interop::npy::save
///
/// ```
/// use lensor::interop::mtx;
/// use lensor::{Tensor, storage::Sparse};
/// let dir = tempfile::tempdir()?;
/// let path = dir.path().join("m.mtx");
/// let matrix = Tensor::new([2, 2], Sparse::from_dense(&[0, 0, 0, 7], 0)?)?;
/// mtx::save(&path, &matrix)?;
/// assert_eq!(mtx::open::<i32>(&path)?.to_vec()?, [0, 0, 0, 7]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn save<S>(path: impl AsRef<Path>, matrix: &Tensor<S>) -> Result<()>
where
    S: Reader<Elem: FileElement>,
{
    file::save(path.as_ref(), |file| write(file, matrix))
}

/// Writes a sparse matrix with a symmetry: of two elements that mirror one another the lower one.
///
/// # Errors
///
/// As for [`write`](write()), [`Error::Asymmetric`] if the matrix has not that symmetry, and
/// [`Error::ElementType`] for a symmetry that the element type cannot have.
///
/// ```
/// use lensor::interop::mtx::{self, Symmetry};
/// use lensor::{Error, Tensor, storage::Sparse};
/// let matrix = Tensor::new([2, 2], Sparse::from_sorted(4, 0, vec![0, 1, 2], vec![5, 7, 7])?)?;
/// let mut file = Vec::new();
/// mtx::write_as(&mut file, &matrix, Symmetry::Symmetric)?;
/// assert!(file.ends_with(b" symmetric\n2 2 2\n1 1 5\n2 1 7\n"));
///
/// let error = mtx::write_as(&mut file, &matrix, Symmetry::SkewSymmetric).unwrap_err();
/// assert_eq!(error, Error::Asymmetric { symmetry: "skew-symmetric", index: [0, 0] });
/// # Ok::<(), Error>(())
/// ```
pub fn write_as<S>(sink: impl Write, matrix: &Tensor<S>, symmetry: Symmetry) -> Result<()>
where
    S: Reader<Elem: FileElement>,
{
    let extents = matrix_extents(&matrix.shape())?;
    let field = Field::of::<S::Elem>();
    let unsigned = symmetry == Symmetry::SkewSymmetric && S::Elem::DTYPE.kind() == 'u';
    let signed = if unsigned { Err("numbers with a sign") } else { Ok(()) };
    if let Err(expected) = check_kind(Format::Coordinate, field, symmetry).and(signed) {
        return Err(Error::ElementType { expected, found: S::Elem::DTYPE.name().into() });
    }
    let entries = entries(matrix, "a coordinate file", S::Elem::ZERO)?;
    if symmetry != Symmetry::General {
        check_symmetry(&entries, extents, symmetry)?;
    }
    let listed = || listed(&entries, extents[1], symmetry);
    let mut text = TextWriter::new(sink)?;
    text.push(banner(Format::Coordinate, field, symmetry));
    text.push(format_args!("{} {} {}\n", extents[0], extents[1], listed().count()));
    for ([row, column], value) in listed() {
        text.push(format_args!("{} {}", row + 1, column + 1));
        if field != Field::Pattern {
            text.push(' ');
            text.push_value(value);
        }
        text.end_line()?;
    }
    text.finish()
}

/// Refuses entries that do not have this symmetry.
fn check_symmetry<T: FileElement>(
    entries: &Entries<'_, T>,
    [rows, columns]: [usize; 2],
    symmetry: Symmetry,
) -> Result<()> {
    let asymmetric = |index| Err(Error::Asymmetric { symmetry: symmetry.word(), index });
    if rows != columns {
        return asymmetric(if rows < columns { [0, rows] } else { [columns, 0] });
    }
    let (positions, values) = (&*entries.positions, &*entries.values);
    for (&position, &value) in positions.iter().zip(values) {
        let (row, column) = (position / columns, position % columns);
        let mirror = positions.binary_search(&(column * columns + row));
        let mirror = mirror.map_or(T::ZERO, |ordinal| values[ordinal]);
        // What has no opposite has no place in such a matrix, nor has anything but 0 on its diagonal.
        let skew = symmetry == Symmetry::SkewSymmetric;
        let image = if skew && row == column { T::ZERO } else { image(symmetry, value) };
        let same = mirror == image || mirror.same_bits(image);
        if skew && !has_opposite(value) || !same {
            return asymmetric([row, column]);
        }
    }
    Ok(())
}

/// The entries that a file with this symmetry lists.
fn listed<T: FileElement>(
    entries: &Entries<'_, T>,
    columns: usize,
    symmetry: Symmetry,
) -> impl Iterator<Item = ([usize; 2], T)> {
    let all = entries.positions.iter().zip(&*entries.values);
    let all = all.map(move |(position, &value)| ([position / columns, position % columns], value));
    all.filter(move |&([row, column], value)| {
        let below = match symmetry {
            Symmetry::General => true,
            Symmetry::SkewSymmetric => row > column,
            Symmetry::Symmetric | Symmetry::Hermitian => row >= column,
        };
        // A pattern has no word for an entry that is false.
        let is_false = Field::of::<T>() == Field::Pattern && value == T::ZERO;
        below && !is_false
    })
}

/// Writes a sparse matrix with a symmetry to a new file, as [`save`] does.
///
/// # Errors
///
/// As for [`write_as`]; an old file is as it was then.
///
/// ```
/// use lensor::interop::mtx::{self, Symmetry};
/// use lensor::{Tensor, storage::Sparse};
/// let dir = tempfile::tempdir()?;
/// let path = dir.path().join("m.mtx");
/// let matrix = Tensor::new([2, 2], Sparse::from_sorted(4, 0, vec![1, 2], vec![7, 7])?)?;
/// mtx::save_as(&path, &matrix, Symmetry::Symmetric)?;
/// assert_eq!(mtx::open_header(&path)?.entries(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn save_as<S>(path: impl AsRef<Path>, matrix: &Tensor<S>, symmetry: Symmetry) -> Result<()>
where
    S: Reader<Elem: FileElement>,
{
    file::save(path.as_ref(), |file| write_as(file, matrix, symmetry))
}

/// Writes all elements of a matrix of any storage or an expression, column by column.
///
/// They are computed and written piece by piece.
///
/// # Errors
///
/// [`Error::ExpectedRank`] unless there are two axes; the error that an expression carries, before anything is
/// written; what its evaluation reports (see [`Lazy::eval`]), and [`Error::Io`] if the sink fails: it then
/// holds a part.
///
/// ```
/// use lensor::prelude::*;
/// use lensor::interop::mtx;
/// let t = Tensor::from_nested([[1, 2], [3, 4]])?;
/// let mut file = Vec::new();
/// mtx::write_array(&mut file, &t * 10)?;
/// assert_eq!(
///     String::from_utf8_lossy(&file),
///     "%%MatrixMarket matrix array integer general\n2 2\n10\n30\n20\n40\n"
/// );
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn write_array<X>(sink: impl Write, matrix: X) -> Result<()>
where
    X: IntoExpr<Elem: FileElement>,
{
    let matrix = Lazy(matrix.into_expr());
    let shape = matrix.shape()?;
    let [rows, columns] = matrix_extents(&shape)?;
    // Arrays have no pattern: `bool`s are integers.
    let field = match Field::of::<X::Elem>() {
        Field::Pattern => Field::Integer,
        field => field,
    };
    let mut text = TextWriter::new(sink)?;
    text.push(banner(Format::Array, field, Symmetry::General));
    text.push(format_args!("{rows} {columns}\n"));
    for_each_piece(&matrix.transpose([1, 0])?, PIECE, |piece| {
        for &value in piece {
            text.push_value(value);
            text.end_line()?;
        }
        Ok(())
    })?;
    text.finish()
}

/// Writes a matrix to a new file, as [`write_array`] and [`save`] do.
///
/// # Errors
///
/// As for [`write_array`]; an old file is as it was then.
///
/// ```
/// use lensor::Tensor;
/// use lensor::interop::mtx;
/// let dir = tempfile::tempdir()?;
/// let path = dir.path().join("m.mtx");
/// let t = Tensor::from_nested([[1, 2], [3, 4]])?;
/// mtx::save_array(&path, &t * 10)?;
/// assert_eq!(mtx::open_array::<i32>(&path)?.to_vec()?, [10, 20, 30, 40]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn save_array<X>(path: impl AsRef<Path>, matrix: X) -> Result<()>
where
    X: IntoExpr<Elem: FileElement>,
{
    file::save(path.as_ref(), |file| write_array(file, matrix))
}

/// The first line.
fn banner(format: Format, field: Field, symmetry: Symmetry) -> String {
    format!("{BANNER} matrix {} {} {}\n", format.word(), field.word(), symmetry.word())
}
