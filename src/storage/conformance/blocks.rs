//! Laws of blocks: they have the elements that the storage has.

use super::{Report, Violation};
use crate::error::StorageError;
use crate::grid::Sides;
use crate::storage::{Block, Blocks, Reader};

/// Checks a storage that has blocks: sides, and every element of at most 4096 blocks.
pub(super) fn check<R: Reader + ?Sized>(
    storage: &R,
    same: &dyn Fn(&R::Elem, &R::Elem) -> bool,
    report: &mut Report,
) {
    if let Some(Some(blocks)) = report.guard("blocks", 0, || storage.blocks()) {
        check_all(storage, blocks, same, report);
    }
}

fn check_all<R: Reader + ?Sized>(
    storage: &R,
    blocks: &dyn Blocks<Elem = R::Elem>,
    same: &dyn Fn(&R::Elem, &R::Elem) -> bool,
    report: &mut Report,
) {
    let Some(sides) = Sides::of_len(blocks, storage.len()) else {
        let (extents, block) = (blocks.extents().to_vec(), blocks.block().to_vec());
        report.add(Violation::BlockSides { extents, block, len: storage.len() });
        return;
    };
    let each = sides.block_len;
    for number in 0..count(&sides).min(4096) {
        let index = sides.index(number);
        let start = sides.first_address(&index);
        let loaded = match report.guard("load", start, || blocks.load(&index)) {
            Some(Ok(loaded)) => loaded,
            Some(Err(StorageError { address: named, .. })) => {
                failed(storage, &sides, &index, named, report);
                continue;
            }
            None => continue,
        };
        let found = loaded.as_slice().map_or(each, <[_]>::len);
        if found != each {
            report.add(Violation::BlockLen { index: index.to_vec(), found, len: each });
            continue;
        }
        for place in 0..each {
            let Some(address) = address(&sides, &index, place) else { continue };
            let element = match &loaded {
                Block::Fill(value) => *value,
                block => block.as_slice().unwrap_or_default()[place],
            };
            let read = report.guard("try_read", address, || storage.try_read(address));
            if !matches!(&read, Some(Ok(read)) if same(read, &element)) {
                report.add(Violation::Block { index: index.to_vec(), address });
                break;
            }
        }
    }
}

/// A block that cannot be loaded has an element that cannot be read, and its error names one of its addresses.
fn failed<R: Reader + ?Sized>(
    storage: &R,
    sides: &Sides,
    index: &[usize],
    named: usize,
    report: &mut Report,
) {
    let mut addresses = (0..sides.block_len).filter_map(|place| address(sides, index, place));
    let first = sides.first_address(index);
    let mut alone = |address| report.guard("try_read", address, || storage.try_read(address));
    if addresses.all(|address| matches!(alone(address), Some(Ok(_)))) {
        report.add(Violation::Fails { method: "load", address: first });
    } else if named >= sides.len || sides.find(named).0[..] != *index {
        report.add(Violation::ErrorAddress { method: "load", address: first, named });
    }
}

/// How many blocks there are.
pub(super) fn count(sides: &Sides) -> usize {
    sides.counts.iter().product()
}

/// The address of an element of a block, by its place there; `None` beyond the end of the block.
pub(super) fn address(sides: &Sides, index: &[usize], place: usize) -> Option<usize> {
    let (mut rest, mut address, mut weight) = (place, 0, 1);
    for axis in (0..sides.block.len()).rev() {
        let own = sides.range(axis, *index.get(axis)?);
        let inside = rest % sides.block[axis];
        rest /= sides.block[axis];
        let at = own.start + inside.checked_sub(sides.skipped(axis, index[axis]))?;
        if !own.contains(&at) {
            return None;
        }
        address += at * weight;
        weight *= sides.extents[axis];
    }
    Some(address)
}
