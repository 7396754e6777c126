//! Sparse matrices as SciPy keeps them in archives.

use super::write::Writer;
use super::{Archive, malformed, of_stream};
use crate::dtype::{Arithmetic, FileElement, TextElement};
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::interop::matrix::matrix_extents;
use crate::interop::text;
use crate::memory::{list, try_with_capacity};
use crate::shape::Shape;
use crate::storage::{Reader, Sparse};
use crate::tensor::Tensor;
use crate::tensor::stored::Entries;
use std::io::{Read, Seek, Write};

/// Most bytes of the entry that names the kind of a matrix.
const KIND_BYTES: u64 = 1 << 10;
/// The kinds that are read.
const KINDS: [&str; 3] = ["csr", "csc", "coo"];
/// Most rows of a matrix by rows, and most for each entry of one that has more rows: their list would outweigh its
/// entries.
const ROWS: usize = 1 << 16;
const ROWS_PER_ENTRY: usize = 8;

impl<R: Read + Seek> Archive<R> {
    /// Reads a sparse matrix that `scipy.sparse.save_npz` wrote: by rows (`csr`), by columns (`csc`) or as coordinates
    /// (`coo`). Entries of one place are summed, integers wrapping.
    ///
    /// # Errors
    ///
    /// [`Error::NoArray`] for an archive of other things, [`Error::Malformed`] for other kinds, for rows that do not fit and
    /// for an index outside; and what [`Self::read`] reports.
    ///
    /// ```
    /// use lensor::interop::npz;
    /// use lensor::{Tensor, storage::Sparse};
    /// let dir = tempfile::tempdir()?;
    /// let path = dir.path().join("matrix.npz");
    /// let matrix = Tensor::new([2, 3], Sparse::from_sorted(6, 0.0, vec![1, 3], vec![0.5, 2.0])?)?;
    /// npz::save(&path, |archive| archive.add_sparse(&matrix))?;
    /// assert_eq!(npz::open(&path)?.read_sparse::<f64>()?, matrix);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_sparse<T: FileElement>(&mut self) -> Result<Tensor<Sparse<T>>> {
        let kind = self.kind()?;
        let Some(kind) = KINDS.into_iter().find(|known| *known == kind) else {
            let text = format!("expected csr, csc or coo, found {kind:?}");
            return Err(malformed(Some("format"), &text));
        };
        let shape: Shape = self.numbers("shape")?.into();
        let [rows, columns] = matrix_extents(&shape)?;
        let values = self.read::<T>("data")?.to_vec()?;
        let [row_of, column_of] = match kind {
            "coo" => [self.numbers("row")?, self.numbers("col")?],
            _ => {
                let (outer, inner) = (self.numbers("indptr")?, self.numbers("indices")?);
                match kind {
                    "csr" => [repeated(&outer, rows, values.len())?, inner],
                    _ => [inner, repeated(&outer, columns, values.len())?],
                }
            }
        };
        if row_of.len() != values.len() || column_of.len() != values.len() {
            let found = [row_of.len(), column_of.len(), values.len()];
            let text = format!("lists of rows, columns and data have lengths {found:?}");
            return Err(malformed(None, &text));
        }
        let mut addresses = try_with_capacity(values.len())?;
        shape.count()?;
        for (entry, (&row, &column)) in row_of.iter().zip(&column_of).enumerate() {
            for (axis, index, extent) in [(0, row, rows), (1, column, columns)] {
                if index >= extent {
                    let text = format!(
                        "entry {entry} has index {index} of axis {axis}, which has {extent}"
                    );
                    return Err(malformed(None, &text));
                }
            }
            addresses.push(row * columns + column);
        }
        text::sparse(&shape, addresses, values)
    }

    /// The name of the kind, as bytes or as NumPy's text of four bytes a letter.
    fn kind(&mut self) -> Result<String> {
        let source = self.entries.find("format")?.open(&mut self.source)?;
        let mut bytes = Vec::new();
        source
            .take(KIND_BYTES)
            .read_to_end(&mut bytes)
            .map_err(|error| of_stream(Some("format"), error.into()))?;
        let text = bytes.rsplit(|&byte| byte == b'\n').next().unwrap_or(&[]);
        let letters = text.iter().filter(|&&byte| byte != 0);
        Ok(letters.map(|&byte| char::from(byte)).collect())
    }

    /// Integers of 32 or 64 bits as indexes.
    fn numbers(&mut self, name: &str) -> Result<Vec<usize>> {
        let wide = self.entries.find(name)?.header()?.dtype() == crate::dtype::DType::I64;
        let numbers = match wide {
            true => self.read::<i64>(name)?.to_vec()?,
            false => list(self.read::<i32>(name)?.to_vec()?.into_iter().map(i64::from))?,
        };
        let mut all = try_with_capacity(numbers.len())?;
        for number in numbers {
            let number = usize::try_from(number);
            all.push(number.map_err(|_| malformed(Some(name), "a number is negative"))?);
        }
        Ok(all)
    }
}

/// The number of its row for every entry.
fn repeated(pointers: &[usize], lines: usize, entries: usize) -> Result<Vec<usize>> {
    let ends = pointers.last().is_some_and(|&last| last == entries) && pointers[0] == 0;
    if pointers.len() != lines.saturating_add(1) || !ends || !pointers.is_sorted() {
        let text = format!("expected {lines} rows that end with {entries} entries");
        return Err(malformed(Some("indptr"), &text));
    }
    let mut all = try_with_capacity(entries)?;
    for (line, pair) in pointers.windows(2).enumerate() {
        all.extend(std::iter::repeat_n(line, pair[1] - pair[0]));
    }
    Ok(all)
}

impl<W: Write + Seek> Writer<W> {
    /// Adds the arrays that `scipy.sparse.load_npz` reads as a matrix: by rows (`csr`), or as coordinates (`coo`) where
    /// there are more than 65,536 rows and more than eight for each entry. An archive holds one such matrix.
    ///
    /// # Errors
    ///
    /// [`Error::ExpectedRank`] unless there are two axes, [`Error::NotSparse`] for dense storage,
    /// [`Error::FillNotZero`]; [`Error::Malformed`] if one of the names is taken, without any array added; and what
    /// [`Self::add`] reports.
    ///
    /// ```
    /// use lensor::interop::npz::{Archive, Writer};
    /// use lensor::{Tensor, storage::Duplicates};
    /// use std::io::Cursor;
    /// let indexes = [[0, 5], [9, 2]];
    /// let t = Tensor::from_coordinates([10, 10], 0.0, &indexes, vec![1.5, 2.5], Duplicates::Refuse)?;
    /// let mut writer = Writer::new(Cursor::new(Vec::new()));
    /// writer.add_sparse(&t.transpose([1, 0])?)?;
    /// let mut archive = Archive::new(writer.finish()?)?;
    /// assert_eq!(archive.read::<i64>("indices")?.to_vec()?, [9, 0]); // columns of the entries, row by row
    /// assert_eq!(archive.read_sparse::<f64>()?.get([5, 0])?, 1.5);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn add_sparse<S>(&mut self, t: &Tensor<S>) -> Result<()>
    where
        S: Reader<Elem: FileElement + Arithmetic>,
    {
        let shape = t.shape();
        let [rows, columns] = matrix_extents(&shape)?;
        let Entries { positions: addresses, values } =
            text::entries(t, "a matrix of SciPy", S::Elem::ZERO)?;
        let by_rows = rows <= ROWS.max(addresses.len().saturating_mul(ROWS_PER_ENTRY));
        let (kind, inner, outer) = match by_rows {
            true => ("csr", "indices", "indptr"),
            false => ("coo", "col", "row"),
        };
        ["format", "shape", "data", inner, outer]
            .iter()
            .try_for_each(|name| self.check_new(name))?;
        let row_of = match by_rows {
            true => pointers(&addresses, rows, columns)?,
            false => list(addresses.iter().map(|address| (address / columns) as i64))?,
        };
        let column_of = list(addresses.iter().map(|address| (address % columns) as i64))?;
        let kind = kind_file(kind);
        self.entry("format", kind.len() as u64, |sink| Ok(sink.write_all(&kind)?))?;
        self.add("shape", Tensor::from(vec![rows as i64, columns as i64]))?;
        self.add("data", Tensor::from(&*values))?;
        self.add(inner, Tensor::from(column_of))?;
        self.add(outer, Tensor::from(row_of))
    }
}

/// Where the entries of each row begin, and where those of the last one end.
fn pointers(addresses: &[usize], rows: usize, columns: usize) -> Result<Vec<i64>> {
    let mut pointers = try_with_capacity(rows + 1)?;
    let mut next = 0;
    pointers.push(0);
    for row in 0..rows {
        next += addresses[next..].partition_point(|&address| address < (row + 1) * columns);
        pointers.push(next as i64);
    }
    Ok(pointers)
}

/// A file of the three letters of a kind as NumPy keeps bytes, which no other file has.
fn kind_file(kind: &str) -> Vec<u8> {
    let text = "{'descr': '|S3', 'fortran_order': False, 'shape': (), }";
    let padded = format!("{text:117}\n");
    let prefix = [b"\x93NUMPY\x01\x00".as_slice(), &(padded.len() as u16).to_le_bytes()].concat();
    [&prefix, padded.as_bytes(), kind.as_bytes()].concat()
}
