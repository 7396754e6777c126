//! Scans of rows.

#[cfg(doc)]
use super::LanesRagged;
use super::row_wise::RowWise;
use super::runs::{RowOperation, RowResults, Runs};
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::kernel::Filled;
use crate::ops::reduce::{Filtered, Or, Reducer};
use crate::ops::scan::{Way, check, scan_rows};
use crate::ragged::deferred::DeferredRagged;
use crate::ragged::expr::{IntoRagged, RaggedExpr};
use crate::ragged::reduce::{PairedRagged, paired};
use crate::ragged::sealed;
use std::mem::MaybeUninit;

/// See [`LanesRagged::scan`].
#[derive(Debug, Clone, Copy)]
pub struct ScanRows<R> {
    reducer: R,
    way: Way,
}

/// A scan with a value where there is no result.
type ScansOr<E, R> =
    DeferredRagged<RowWise<E, ScanRows<Or<R, <R as Reducer<<E as RaggedExpr>::Elem>>::Out>>>>;

/// A scan of those items beside which a mask is true.
type FilteredScan<E, M, R> = DeferredRagged<RowWise<PairedRagged<E, M>, ScanRows<Filtered<R>>>>;

impl<R> ScanRows<R> {
    pub(super) fn new(reducer: R) -> Self {
        Self { reducer, way: Way::default() }
    }
}

impl<R> sealed::Operation for ScanRows<R> {}

impl<E: RaggedExpr, R: Reducer<E::Elem>> DeferredRagged<RowWise<E, ScanRows<R>>> {
    /// Leaves each item out of its own result, which is that of the items before it in its row. A reducer without a result
    /// of no items is [`Error::NoIdentity`] then.
    ///
    /// ```
    /// use lensor::ragged::{LanesRagged, Ragged};
    /// let r = Ragged::from_nested(vec![vec![3, 1, 2], vec![], vec![5, 4]])?;
    /// assert_eq!(r.cumsum(1).exclusive().eval()?.to_string(), "[[0, 3, 4], [], [0, 5]]");
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn exclusive(self) -> Self {
        let mut scan = self.operation;
        scan.operation.way.exclusive = true;
        Self::new(scan)
    }

    /// Gives `value` where there is no result, as of no items.
    ///
    /// ```
    /// use lensor::ragged::{LanesRagged, Ragged};
    /// let r = Ragged::from_nested(vec![vec![3, 1, 4], vec![], vec![5]])?;
    /// let so_far = r.cummax(1).or(0).exclusive();
    /// assert_eq!(so_far.eval()?.to_string(), "[[0, 3, 3], [], [0]]");
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn or(self, value: R::Out) -> ScansOr<E, R> {
        let RowWise { e, axis, operation } = self.operation;
        let (reducer, way) = (Or::new(operation.reducer, value), operation.way);
        DeferredRagged::new(RowWise { e, axis, operation: ScanRows { reducer, way } })
    }

    /// Takes only the items beside which a mask is true, which stretches as that of a fold does. The others have the result
    /// of the items so far.
    ///
    /// ```
    /// use lensor::ragged::{ElementwiseRagged, LanesRagged, Ragged};
    /// let r = Ragged::from_nested(vec![vec![3, 1, 2], vec![], vec![5, 4]])?;
    /// assert_eq!(r.cumsum(1).filter(r.greater(1)).eval()?.to_string(), "[[3, 3, 5], [], [5, 9]]");
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn filter<M: IntoRagged<Elem = bool>>(self, mask: M) -> FilteredScan<E, M, R> {
        let RowWise { e, axis, operation: ScanRows { reducer, way } } = self.operation;
        let operation = ScanRows { reducer: Filtered(reducer), way };
        DeferredRagged::new(RowWise { e: paired(e, mask), axis, operation })
    }

    /// Goes from the last item of each row to the first.
    ///
    /// ```
    /// use lensor::ragged::{LanesRagged, Ragged};
    /// let r = Ragged::from_nested(vec![vec![3, 1, 2], vec![], vec![5, 4]])?;
    /// assert_eq!(r.cumsum(1).reverse().eval()?.to_string(), "[[6, 3, 2], [], [9, 4]]");
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn reverse(self) -> Self {
        let mut scan = self.operation;
        scan.operation.way.reverse = true;
        Self::new(scan)
    }
}

impl<T: Copy + Send + Sync, R: Reducer<T>> RowOperation<T> for ScanRows<R> {
    type Elem = R::Out;

    fn results(&self) -> Result<RowResults> {
        Ok(RowResults::Items)
    }

    fn check(&self, axis: usize) -> Result<()> {
        check::<T, R>(&self.reducer, axis, self.way)
    }

    fn run(&self, rows: Runs<'_, T>, out: &mut [MaybeUninit<R::Out>]) -> Result<Filled> {
        let rows = rows.map(|run| run.elements());
        scan_rows(&self.reducer, self.way, rows, out)
    }

    fn words(&self, _items: usize) -> Result<(String, Option<String>)> {
        Ok(("scan".into(), None))
    }
}
