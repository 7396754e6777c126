//! Blocks that panic, change, or lie beyond the end.

use lensor::conformance::{Violation, reader_violations, same_or_nan};
use lensor::storage::{Block, Blocks};
use lensor::{Reader, StorageError};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

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
