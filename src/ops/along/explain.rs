//! How work along an axis would be done, in words.

use super::{Along, Sweep};
use crate::error::Result;
use crate::expr::{Explanation, Expr, bytes_read};
use crate::kernel::{PARALLEL, threads};

impl<E: Expr> Along<'_, E> {
    /// What the sweep named `what` would do.
    pub(crate) fn explain<W: Sweep<E::Elem>>(&self, what: &str, sweep: &W) -> Result<Explanation> {
        let results = self.shape_of(sweep.results());
        let [element, out] = [std::any::type_name::<E::Elem>(), std::any::type_name::<W::Out>()];
        let lanes = self.outer.saturating_mul(self.inner).saturating_mul(self.width);
        let together = match self.lanes {
            true => "one by one".to_string(),
            false => format!("up to {} side by side", self.width.min(sweep.width())),
        };
        let threads = if self.shape.count()? < PARALLEL { 1 } else { threads() };
        let written = results.count()?.saturating_mul(size_of::<W::Out>());
        let (shape, axis) = (&self.shape, self.axis);
        Ok(Explanation::report(
            format!("{what} of {element} {shape:?} along axis {axis} to {out} {results:?}"),
            [
                format!("lanes: {lanes} of {} elements, {together}", self.extent()),
                format!("operand: {}", self.rows.explain()),
            ],
            threads,
            [bytes_read(self.e), written],
        ))
    }
}
