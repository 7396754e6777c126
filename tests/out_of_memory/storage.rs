//! Storage in blocks.

use super::{SIDE, Slots, every_shortage, short_of_memory, square};
use lensor::Result;
use lensor::lanes::SortOrder::Ascending;
use lensor::prelude::*;
use lensor::reduce::WrappingSum;
use lensor::storage::{BlockMemory, Chunked};
use std::sync::Arc;

/// Side of a block, which is a large allocation.
const BLOCK: usize = 128;

type Held = Tensor<Chunked<Arc<BlockMemory<u64>>>>;

/// A square in blocks, two of which are held.
fn held(elements: &Tensor<Vec<u64>>) -> Result<Held> {
    let blocks = BlockMemory::new([SIDE, SIDE], [BLOCK, BLOCK], 0_u64)?;
    let storage = Chunked::new(Arc::new(blocks))?.with_blocks(2);
    let mut t = Tensor::new([SIDE, SIDE], storage)?;
    t.assign(elements)?;
    Ok(t)
}

pub(crate) fn reading() {
    let elements = square();
    let t = held(&elements).unwrap();
    every_shortage("copy of blocks", 1, || t.to_vec());
    every_shortage("transposed blocks", 1, || t.view().transpose([1, 0])?.to_vec());
    every_shortage("sum of blocks", 0, || t.fold(0, WrappingSum).to_vec());
    every_shortage("sum along blocks", 0, || t.fold(1, WrappingSum).to_vec());
    every_shortage("scan of blocks", 1, || t.scan(0, WrappingSum).to_vec());
    every_shortage("sort of blocks", 1, || t.sort(0, Ascending).to_vec());
    every_shortage("equal blocks", 0, || t.try_equal(&elements));
    let slots = Tensor::new([SIDE, SIDE], Slots(super::elements())).unwrap();
    every_shortage("transposed slots", 1, || slots.view().transpose([1, 0])?.to_vec());
    every_shortage("sum of transposed slots", 1, || {
        slots.view().transpose([1, 0])?.fold(0, WrappingSum).to_vec()
    });
}

/// What was written before memory ended stays, and what was not is written by the next attempt.
pub(crate) fn writing() {
    let elements = square();
    let mut t = held(&Tensor::full([SIDE, SIDE], 0).unwrap()).unwrap();
    every_shortage("assignment to blocks", 1, || {
        let mut t = held(&elements)?;
        t.try_add_assign(1)?;
        t.to_vec()
    });
    let mut allowed = 0;
    loop {
        match short_of_memory(allowed, true, || t.assign(&elements)) {
            Ok(()) => break,
            Err(Error::OutOfMemory { .. } | Error::Storage { .. }) => {}
            Err(error) => panic!("{error}"),
        }
        for (found, wanted) in t.to_vec().unwrap().iter().zip(elements.storage()) {
            assert!(*found == 0 || found == wanted, "{found} is neither old nor new");
        }
        allowed += 1;
    }
    assert!(allowed > 1, "{allowed} large allocations");
    t.storage().flush().unwrap();
    assert!(t.storage().unsaved().is_empty());
    assert!(t == elements);
}
