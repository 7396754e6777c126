//! How a ragged expression would be evaluated, in words.

use super::Stretch;
use super::expr::RaggedExpr;
use crate::error::Result;
use crate::expr::{Explanation, Lazy};

pub(super) fn explain<E: RaggedExpr>(e: &E) -> Result<Explanation> {
    let joint = e.joint(Stretch::Rows)?;
    let flat = Lazy(e.flat(&joint)?).explain()?;
    let (mut words, mut number) = (Vec::new(), 0);
    e.words(&joint, &mut |how| {
        number += 1;
        words.push(format!("operand {number}: {how}"));
    })?;
    let rows = joint.form.blocks.last().map_or(0, |block| block.rows.rows());
    let items = joint.form.blocks.last().map_or(0, |block| block.rows.last());
    let mean = items as f64 / rows.max(1) as f64;
    let head = format!("ragged {}: {rows} rows of {mean:.1} items in the mean", joint.form);
    Ok(flat.below(std::iter::once(head).chain(words)))
}
