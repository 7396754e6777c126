//! Laws of blocks: they have the elements that the storage has.

use super::{Report, Violation};
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
    let (extents, block) = (blocks.extents().to_vec(), blocks.block().to_vec());
    let elements =
        |sides: &[usize]| sides.iter().try_fold(1_usize, |all, &side| all.checked_mul(side));
    let known = extents.len() == block.len() && !block.contains(&0);
    if !known || elements(&extents) != Some(storage.len()) || elements(&block).is_none() {
        report.add(Violation::BlockSides { extents, block, len: storage.len() });
        return;
    }
    let counts: Vec<usize> =
        extents.iter().zip(&block).map(|(extent, block)| extent.div_ceil(*block)).collect();
    let each = elements(&block).unwrap_or_default();
    for number in 0..elements(&counts).unwrap_or_default().min(4096) {
        let index = digits(number, &counts);
        let first: Vec<usize> =
            index.iter().zip(&block).map(|(digit, block)| digit * block).collect();
        let start =
            first.iter().zip(&extents).fold(0, |address, (digit, extent)| address * extent + digit);
        let Some(Ok(loaded)) = report.guard("load", start, || blocks.load(&index)) else {
            continue;
        };
        let found = loaded.as_slice().map_or(each, <[_]>::len);
        if found != each {
            report.add(Violation::BlockLen { index, found, len: each });
            continue;
        }
        for place in 0..each {
            let at: Vec<usize> = digits(place, &block)
                .iter()
                .zip(&first)
                .map(|(digit, first)| first + digit)
                .collect();
            if at.iter().zip(&extents).any(|(digit, extent)| digit >= extent) {
                continue;
            }
            let address = at.iter().zip(&extents).fold(0, |a, (digit, extent)| a * extent + digit);
            let element = match &loaded {
                Block::Fill(value) => *value,
                block => block.as_slice().unwrap_or_default()[place],
            };
            let read = report.guard("try_read", address, || storage.try_read(address));
            if !matches!(&read, Some(Ok(read)) if same(read, &element)) {
                report.add(Violation::Block { index, address });
                break;
            }
        }
    }
}

/// The index of a row-major position.
fn digits(mut position: usize, sides: &[usize]) -> Vec<usize> {
    let mut digits = vec![0; sides.len()];
    for (digit, side) in digits.iter_mut().zip(sides).rev() {
        (*digit, position) = (position % side, position / side);
    }
    digits
}
