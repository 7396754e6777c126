//! How a ragged expression would be evaluated, in words.

use super::Stretch;
use super::expr::{Ahead, RaggedExpr};
use super::form::in_words;
use super::offsets::Offsets;
use crate::error::Result;
use crate::expr::{Explanation, Lazy};
use crate::kernel;

/// What is said where no length is known before operands are computed.
pub(super) const LATER: &str = "rows as long as operands that are evaluated first make them";

pub(super) fn explain<E: RaggedExpr>(e: &E) -> Result<Explanation> {
    let ahead = e.ahead();
    if ahead == Ahead::Lengths {
        let axes = in_words(&e.extents()?);
        return Ok(Explanation::new(vec![format!("ragged {axes}: {LATER}")], kernel::threads()));
    }
    let joint = e.outline(Stretch::Rows)?;
    let (mut words, mut number) = (Vec::new(), 0);
    e.words(&joint, &mut |how| {
        number += 1;
        words.push(format!("operand {number}: {how}"));
    })?;
    let rows = joint.form.rows().map_or(0, Offsets::rows);
    let items = joint.form.rows().map_or(0, Offsets::last);
    let mean = items as f64 / rows.max(1) as f64;
    let offsets = match joint.form.rows() {
        Some(rows) if !e.has_lengths(rows)? => ", offsets joined",
        Some(_) => ", offsets shared",
        None => "",
    };
    let head = format!("ragged {}: {rows} rows of {mean:.1} items on average{offsets}", joint.form);
    if ahead == Ahead::Items {
        // How items are read depends on where the results lie.
        let count = joint.form.count()?;
        let threads = if count < kernel::PARALLEL { 1 } else { kernel::threads() };
        words.push(format!("threads: {threads}"));
        return Ok(Explanation::new(words, threads).below([head]));
    }
    let flat = Lazy(e.flat(&joint)?).explain()?;
    Ok(flat.below(std::iter::once(head).chain(words)))
}
