//! Results on their way to a destination elsewhere, box by box.

use super::Compute;
use crate::error::{Error, Result};
use crate::expr::{MOST_BYTES, assign_dense, assign_part, block_starts, finish, moved, selectors};
use crate::kernel::{PARALLEL, at_once, threads};
use crate::map::AddressMap;
use crate::storage::Writer;
use crate::tensor::Tensor;
use std::ops::Range;

/// Results that a thread computes at once.
const BOX: usize = 1 << 16;

/// Results that are computed at once, of so many.
fn box_of(count: usize) -> usize {
    match count < PARALLEL || threads() == 1 {
        true => BOX,
        false => at_once(count, BOX, 4 * PARALLEL),
    }
}

/// Computes an operation, whose deferred operands are computed, to a destination of its shape that is injective.
pub(super) fn assign_in_boxes<C: Compute, W: Writer<Elem = C::Elem>>(
    operation: &C,
    layout: &AddressMap,
    out: &mut Tensor<W>,
) -> Result<()> {
    let mut boxes = operation.boxes(box_of(layout.count()))?;
    if let Some(starts) = block_starts(out)? {
        boxes = boxes.in_blocks(starts, MOST_BYTES / size_of::<C::Elem>().max(1));
    }
    let part = |ranges: &[Range<usize>]| {
        operation.eval_box(ranges).map_err(|error| match error {
            Error::OutOfMemory { .. } => error,
            // Which error is the first does not depend on the order of boxes.
            _ => match operation.collect(layout.count()) {
                Ok(_) | Err(Error::OutOfMemory { .. }) => error,
                Err(first) => first,
            },
        })
    };
    let (map, storage) = out.parts_mut();
    if storage.stored_mut().is_some()
        && assign_dense(map, storage, boxes.clone(), &|_, ranges| {
            Ok(part(ranges)?.into_contiguous()?.into_storage())
        })?
    {
        return Ok(());
    }
    let done = boxes.try_for_each(|ranges| {
        let results = part(&ranges)?;
        let mut own = Tensor::from_parts(map.clone(), &mut *storage).select(selectors(&ranges))?;
        let (map, storage) = own.parts_mut();
        assign_part(&results, map, storage).map_err(|error| moved(error, &ranges))
    });
    done.and(finish(map, storage))
}
