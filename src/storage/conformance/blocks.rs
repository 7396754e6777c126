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
    let Some(sides) = Sides::of(blocks, storage.len()) else {
        let (extents, block) = (blocks.extents().to_vec(), blocks.block().to_vec());
        report.add(Violation::BlockSides { extents, block, len: storage.len() });
        return;
    };
    let each = sides.each;
    for number in 0..sides.count.min(4096) {
        let index = sides.index(number);
        let start = sides.address(&index, 0).unwrap_or_default();
        let Some(Ok(loaded)) = report.guard("load", start, || blocks.load(&index)) else {
            continue;
        };
        let found = loaded.as_slice().map_or(each, <[_]>::len);
        if found != each {
            report.add(Violation::BlockLen { index, found, len: each });
            continue;
        }
        for place in 0..each {
            let Some(address) = sides.address(&index, place) else { continue };
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

/// Sides that make a length.
pub(super) struct Sides {
    extents: Vec<usize>,
    block: Vec<usize>,
    /// Elements of a block.
    pub(super) each: usize,
    /// Blocks.
    pub(super) count: usize,
}

impl Sides {
    pub(super) fn of<T: Copy>(
        blocks: &(impl Blocks<Elem = T> + ?Sized),
        len: usize,
    ) -> Option<Self> {
        let (extents, block) = (blocks.extents().to_vec(), blocks.block().to_vec());
        let elements = |mut sides: std::slice::Iter<'_, usize>| {
            sides.try_fold(1_usize, |all, &side| all.checked_mul(side))
        };
        if extents.len() != block.len() || block.contains(&0) || elements(extents.iter())? != len {
            return None;
        }
        let each = elements(block.iter())?;
        let count = elements(Self::counts(&extents, &block).iter())?;
        Some(Self { extents, block, each, count })
    }

    fn counts(extents: &[usize], block: &[usize]) -> Vec<usize> {
        extents.iter().zip(block).map(|(extent, block)| extent.div_ceil(*block)).collect()
    }

    /// The index of a block.
    pub(super) fn index(&self, number: usize) -> Vec<usize> {
        digits(number, &Self::counts(&self.extents, &self.block))
    }

    /// The address of an element of a block; none of one beyond the whole.
    pub(super) fn address(&self, index: &[usize], place: usize) -> Option<usize> {
        let within = digits(place, &self.block);
        let mut axes = index.iter().zip(&self.block).zip(&within).zip(&self.extents);
        axes.try_fold(0, |address, (((index, block), digit), extent)| {
            let at = index * block + digit;
            (at < *extent).then(|| address * extent + at)
        })
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
