//! Laws of blocks: they have the elements that the storage has.

use super::{Report, Violation, check_writer};
use crate::error::StorageError;
use crate::grid::Sides;
use crate::storage::{Block, Blocks, BlocksMut, Chunked, Reader};

/// Checks storage in blocks that can be stored: the laws of [`check_writer`], behind a cache that holds one block, so that
/// the storage itself is asked what `store` made of all others. Give one of several blocks, of which some are cut by an
/// edge. Overwrites the elements.
///
/// # Errors
///
/// The first violation.
///
/// ```
/// use lensor::conformance::check_blocks;
/// use lensor::storage::BlockMemory;
/// let mine = BlockMemory::new([5, 9], [4, 4], 0)?;
/// check_blocks(&mine, &[1, 2, 3])?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn check_blocks<S: BlocksMut>(storage: S, values: &[S::Elem]) -> Result<(), Violation>
where
    S::Elem: PartialEq + 'static,
{
    let mut report = Report::default();
    let sides = report.guard("extents", 0, || {
        let (extents, block) = (storage.extents().to_vec(), storage.block().to_vec());
        let len = extents.iter().fold(1, |len: usize, &extent| len.saturating_mul(extent));
        let chunked = Chunked::new(storage).map(|chunked| chunked.with_blocks(1));
        chunked.map_err(|_| Violation::BlockSides { extents, block, len })
    });
    match sides {
        Some(chunked) => check_writer(&mut chunked?, values),
        None => super::first(report.violations),
    }
}

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
    let sides = report.guard("extents", 0, || {
        let len = storage.len();
        Sides::of_len(blocks, len).ok_or_else(|| {
            let (extents, block) = (blocks.extents().to_vec(), blocks.block().to_vec());
            Violation::BlockSides { extents, block, len }
        })
    });
    let sides = match sides {
        Some(Ok(sides)) => sides,
        Some(Err(violation)) => return report.add(violation),
        None => return,
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
        // What is shared may be lent by code of the storage, so that it is asked once.
        let Some(slice) = report.guard("load", start, || loaded.as_slice()) else { continue };
        let found = slice.map_or(each, <[_]>::len);
        if found != each {
            report.add(Violation::BlockLen { index: index.to_vec(), found, len: each });
            continue;
        }
        for (place, address) in elements(&sides, &index) {
            let element = match (slice, &loaded) {
                (Some(slice), _) => slice[place],
                (None, Block::Fill(value)) => *value,
                (None, _) => break,
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
    let mut addresses = elements(sides, index).map(|(_, address)| address);
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

/// The elements of a block, without what lies in front of where it begins or beyond its end: their places in it, and
/// their addresses.
pub(super) fn elements<'a>(
    sides: &'a Sides,
    index: &'a [usize],
) -> impl Iterator<Item = (usize, usize)> + 'a {
    let own = move |axis| sides.range(axis, index[axis]);
    let all: usize = (0..index.len()).map(|axis| own(axis).len()).product();
    (0..all).map(move |mut rest| {
        let (mut place, mut address) = (0, 0);
        let (mut in_block, mut in_all) = (1, 1);
        for axis in (0..index.len()).rev() {
            let inside = rest % own(axis).len();
            rest /= own(axis).len();
            place += (inside + sides.skipped(axis, index[axis])) * in_block;
            address += (inside + own(axis).start) * in_all;
            in_block *= sides.block[axis];
            in_all *= sides.extents[axis];
        }
        (place, address)
    })
}
