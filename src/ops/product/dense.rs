//! Sparse times dense.

use super::{Semiring, borrowed, chained, entries, entry_bytes, headline};
use crate::compute::{Compute, reads};
use crate::dtype::SameBits;
use crate::error::Result;
use crate::expr::sealed::Sealed;
use crate::expr::{Explanation, Expr, Lazy, bytes_read, elements, row_major};
use crate::kernel::sparse::Sums;
use crate::kernel::{Filled, inner};
use crate::map::Divider;
use crate::memory::debug_of_fields;
use crate::ops::contraction::Pairing;
use crate::shape::Shape;
use crate::storage::Reader;
use crate::tensor::Tensor;
use crate::tensor::stored::Entries;
use std::fmt::Debug;
use std::mem::MaybeUninit;

/// The product of a sparse tensor with a dense operand, see [`Tensor::times_dense`].
pub struct TimesDense<'a, S, B, M> {
    pub(super) sparse: &'a Tensor<S>,
    pub(super) dense: Lazy<B>,
    pub(super) semiring: M,
}

impl<S, B: Clone, M: Clone> Clone for TimesDense<'_, S, B, M> {
    fn clone(&self) -> Self {
        let Self { sparse, dense, semiring } = self;
        Self { sparse, dense: dense.clone(), semiring: semiring.clone() }
    }
}

debug_of_fields!([S: Reader<Elem: Debug>, B: Debug, M] TimesDense<'_, S, B, M> |own| sparse: own.sparse, dense: own.dense);

impl<S, B, M> Sealed for TimesDense<'_, S, B, M> {}

impl<S, B, M> TimesDense<'_, S, B, M>
where
    S: Reader<Elem: SameBits>,
    B: Expr<Elem = S::Elem>,
    M: Semiring<S::Elem>,
{
    fn pairing(&self) -> Result<Pairing> {
        let shape = self.sparse.shape();
        let dense = self.dense.shape()?;
        let pairing = Pairing::new(&shape, &dense, &[chained(&shape, &dense)?])?;
        pairing.shape.count()?;
        Ok(pairing)
    }

    /// The entries of the sparse operand as a matrix.
    fn entries(&self, [rows, depth, _]: [usize; 3]) -> Result<Entries<'_, S::Elem>> {
        entries(&self.semiring, &self.sparse.view().reshape([rows, depth])?, 1)
    }

    /// The same by columns, if they lie so and are summed up so, with one column: they would be sorted for nothing.
    fn entries_by_columns(
        &self,
        [rows, depth, width]: [usize; 3],
    ) -> Result<Option<Entries<'_, S::Elem>>> {
        let turned = self.sparse.view().reshape([rows, depth])?.transpose([1, 0])?;
        let lie_so = rows > 1 && depth > 1 && turned.address_map().is_contiguous();
        (width == 1 && lie_so).then(|| entries(&self.semiring, &turned, 1)).transpose()
    }

    /// Computes the product with one column into as many zeros as there are rows.
    fn add_column(&self, extents: [usize; 3], out: &mut [S::Elem]) -> Result<()> {
        let [rows, depth, _] = extents;
        if let Some(entries) = self.entries_by_columns(extents)? {
            let column = elements(&self.dense)?;
            let (sums, matrix) = (sums(&self.semiring), borrowed(&entries, rows));
            let divider = Divider::new(rows, rows.saturating_mul(depth));
            sums.columns_times_column(matrix, &column, out, |at| divider.divide(at));
            return Ok(());
        }
        let (entries, column) = (self.entries(extents)?, elements(&self.dense)?);
        let (sums, matrix) = (sums(&self.semiring), borrowed(&entries, depth));
        let divider = Divider::new(depth, rows.saturating_mul(depth));
        match divider.multiplier() {
            Some(by) => sums.times_column(matrix, &column, out, |at| by.divide(at)),
            None => sums.times_column(matrix, &column, out, |at| divider.divide(at)),
        }
        Ok(())
    }
}

impl<S, B, M> Compute for TimesDense<'_, S, B, M>
where
    S: Reader<Elem: SameBits>,
    B: Expr<Elem = S::Elem>,
    M: Semiring<S::Elem>,
{
    type Elem = S::Elem;

    fn shape(&self) -> Result<Shape> {
        Ok(self.pairing()?.shape)
    }

    reads!(dense);

    fn fill(&self, out: &mut [MaybeUninit<S::Elem>]) -> Result<Filled> {
        let extents = self.pairing()?.extents;
        let [rows, depth, width] = extents;
        if out.is_empty() {
            return self.entries(extents).and(Filled::nothing(out));
        }
        if width == 1 {
            let zero = Some(self.semiring.zero());
            return inner::overwrite(out, zero, |out| self.add_column(extents, out));
        }
        let (entries, dense) = (self.entries(extents)?, elements(&self.dense)?);
        sums(&self.semiring).times_rows(borrowed(&entries, depth), rows, &dense, width, out)
    }

    fn explain(&self) -> Result<Explanation> {
        let Pairing { extents, shape, .. } = self.pairing()?;
        let [rows, depth, width] = extents;
        let (count, threads) = match self.entries_by_columns(extents)? {
            Some(entries) => (borrowed(&entries, rows).positions.len(), 1),
            None => {
                let entries = self.entries(extents)?;
                let matrix = borrowed(&entries, depth);
                (matrix.positions.len(), matrix.threads(rows, width))
            }
        };
        let place = match row_major(&self.dense) {
            Some(_) => "read where it lies",
            None => "computed first because it is not contiguous in memory",
        };
        Ok(Explanation::report(
            headline::<S::Elem>(count, &self.sparse.shape(), &self.dense.shape()?, &shape),
            [
                format!("rows: {rows} of {depth} columns, each times {depth} rows of {width}"),
                format!("operand 2: {place}"),
            ],
            threads,
            [
                entry_bytes::<S::Elem>(count).saturating_add(bytes_read(&self.dense.0)),
                shape.count()?.saturating_mul(size_of::<S::Elem>()),
            ],
        ))
    }
}

fn sums<T: Copy, M: Semiring<T>>(semiring: &M) -> Sums<T, impl Fn(T, T, T) -> T + Copy> {
    let step = |sum, a, b| semiring.add(sum, semiring.multiply(a, b));
    Sums { zero: semiring.zero(), step }
}
