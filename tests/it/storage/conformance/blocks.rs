//! Blocks that panic, change, or lie beyond the end.

use lensor::conformance::{Violation, check_blocks, reader_violations, same_or_nan};
use lensor::storage::{Block, BlockMemory, Blocks, BlocksMut};
use lensor::{Reader, StorageError};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Its sides panic.
    Closed,
    /// Who shares a block panics when asked for the elements.
    Panics,
    /// Who shares a block has fewer elements later.
    Shrinks,
    /// One block, of which all but the first ten elements are beyond the end.
    Padded,
}

/// Ten threes.
struct Threes(Kind);

impl Reader for Threes {
    type Elem = i64;

    fn len(&self) -> usize {
        10
    }

    fn read(&self, _: usize) -> i64 {
        3
    }

    fn blocks(&self) -> Option<&dyn Blocks<Elem = i64>> {
        Some(self)
    }
}

impl Blocks for Threes {
    type Elem = i64;

    fn extents(&self) -> &[usize] {
        assert!(self.0 != Kind::Closed, "closed");
        &[10]
    }

    fn block(&self) -> &[usize] {
        if self.0 == Kind::Padded { &[1 << 40] } else { &[5] }
    }

    fn load(&self, _: &[usize]) -> Result<Block<'_, i64>, StorageError> {
        Ok(match self.0 {
            Kind::Padded => Block::Fill(3),
            kind => Block::Shared(Arc::new(Lent(kind, AtomicUsize::new(0)))),
        })
    }
}

/// Five threes, and how often they were asked for.
struct Lent(Kind, AtomicUsize);

impl AsRef<[i64]> for Lent {
    fn as_ref(&self) -> &[i64] {
        assert!(self.0 != Kind::Panics, "no elements");
        let later = self.1.fetch_add(1, Ordering::Relaxed) > 0;
        if self.0 == Kind::Shrinks && later { &[3] } else { &[3; 5] }
    }
}

#[test]
fn blocks_that_panic_are_violations() {
    let of = |kind| reader_violations(&Threes(kind), same_or_nan);
    let panicked = |method| [Violation::Panicked { method, address: 0 }];
    assert_eq!(of(Kind::Closed), panicked("extents"));
    assert_eq!(of(Kind::Panics), panicked("load"));
    assert_eq!(of(Kind::Shrinks), []);
}

/// What lies beyond the end is not looked at.
#[test]
fn blocks_may_be_longer_than_storage() {
    assert_eq!(reader_violations(&Threes(Kind::Padded), same_or_nan), []);
}

/// Rows of blocks of 4 x 8 in a table; one that spills forgets where the last block of a row is cut.
struct Table {
    extents: [usize; 2],
    elements: Mutex<Vec<i64>>,
    spills: bool,
}

impl Table {
    fn new(extents: [usize; 2], spills: bool) -> Self {
        let elements = vec![0; extents[0] * extents[1]].into();
        Self { extents, elements, spills }
    }

    /// Places in a block, and addresses that it has there.
    fn places(&self, index: &[usize]) -> Vec<(usize, usize)> {
        let [rows, columns] = self.extents;
        let all = (0..32).filter_map(|place| {
            let (row, column) = (index[0] * 4 + place / 8, index[1] * 8 + place % 8);
            let inside = row < rows && (column < columns || self.spills);
            inside.then_some((place, row * columns + column))
        });
        all.filter(|(_, address)| *address < rows * columns).collect()
    }
}

impl Blocks for Table {
    type Elem = i64;

    fn extents(&self) -> &[usize] {
        &self.extents
    }

    fn block(&self) -> &[usize] {
        &[4, 8]
    }

    fn load(&self, index: &[usize]) -> Result<Block<'_, i64>, StorageError> {
        let (elements, mut block) = (self.elements.lock().unwrap(), vec![0; 32]);
        self.places(index).into_iter().for_each(|(place, at)| block[place] = elements[at]);
        Ok(block.into())
    }
}

impl BlocksMut for Table {
    fn store(&self, index: &[usize], from: &[i64]) -> Result<(), StorageError> {
        let mut elements = self.elements.lock().unwrap();
        self.places(index).into_iter().for_each(|(place, at)| elements[at] = from[place]);
        Ok(())
    }
}

/// What a store does to other blocks is seen, whatever a cache would hold of them.
#[test]
fn stores_that_spill_are_violations() {
    assert_eq!(check_blocks(Table::new([5, 9], false), &[1, 2, 3]), Ok(()));
    assert_eq!(check_blocks(&BlockMemory::new([5, 9], [4, 4], 0).unwrap(), &[1, 2, 3]), Ok(()));
    let found = check_blocks(Table::new([5, 9], true), &[1, 2, 3]).unwrap_err();
    let lost = matches!(found, Violation::Written { .. } | Violation::Elsewhere { .. });
    assert!(lost, "{found}");
}
