//! How work along an axis would be done, in words.

use super::rows::Read;
use super::{Along, Sweep, below};
use crate::error::Result;
use crate::expr::{COPIED, Explanation, Expr, Lazy, UNPLANNED_ELEMENTS, blocks_at_once};
use crate::expr::{bytes_read, small_in_words};
use crate::kernel::{PARALLEL, threads};

impl<E: Expr> Along<'_, E> {
    /// What the sweep named `what` would do. `blocks` is what is said of operands in blocks, if it is not
    /// that all of them are read.
    pub(crate) fn explain<W: Sweep<E::Elem>>(
        &self,
        what: &str,
        sweep: &W,
        blocks: Option<Vec<String>>,
    ) -> Result<Explanation> {
        let results = self.shape_of(sweep.results())?;
        let [element, out] = [std::any::type_name::<E::Elem>(), std::any::type_name::<W::Out>()];
        let others = self.shape.iter().enumerate().filter(|(axis, _)| *axis != self.axis);
        let lanes = others.fold(1, |count: usize, (_, &extent)| count.saturating_mul(extent));
        let small =
            small_in_words(self.e, UNPLANNED_ELEMENTS, &self.shape).filter(|_| self.read.is_none());
        let (width, operand, read) = match small {
            Some(operand) => (below(&self.shape, self.axis), operand, Vec::new()),
            None => {
                let planned;
                let read = match &self.read {
                    Some(read) => read,
                    None => {
                        planned = Read::new(self.e, &self.shape, self.axis)?;
                        &planned
                    }
                };
                let width = if read.lanes { 1 } else { read.width };
                (width, read.rows.explain(), read.rows.blocks_in_words()?)
            }
        };
        let (operand, blocks) = match self.is_copied(sweep.results()) {
            true => (COPIED, blocks_at_once(&Lazy(self.e.by_ref()), None)?),
            false => (operand, blocks.unwrap_or(read)),
        };
        let blocks = if results.contains(&0) { Vec::new() } else { blocks };
        let together = match width {
            1 => "one by one".to_string(),
            width => format!("up to {} side by side", width.min(sweep.width())),
        };
        let threads = if self.shape.count()? < PARALLEL { 1 } else { threads() };
        let written = results.count()?.saturating_mul(size_of::<W::Out>());
        let (shape, axis) = (&self.shape, self.axis);
        Ok(Explanation::report(
            format!("{what} of {element} {shape:?} along axis {axis} to {out} {results:?}"),
            [
                format!("lanes: {lanes} of {} elements, {together}", self.extent()),
                format!("operand: {operand}"),
            ]
            .into_iter()
            .chain(blocks),
            threads,
            [bytes_read(self.e), written],
        ))
    }
}
