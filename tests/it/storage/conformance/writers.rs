//! Blocks that are stored as wholes, and entries that are spliced.

use lensor::conformance::{Violation, same_or_nan, writer_violations};
use lensor::storage::{Block, BlockMemory, Blocks, BlocksMut, Sparse, StoredMut};
use lensor::{Reader, Result, StorageError, Stored, Writer};
use std::ops::Range;

#[derive(Clone, Copy, PartialEq)]
enum Lie {
    None,
    /// What is stored or spliced is lost.
    Lost,
    /// It lands elsewhere.
    Elsewhere,
    /// It fails.
    Fails,
    /// What is to be changed has another element than the storage.
    Stale,
    /// It has too few elements.
    Short,
    /// Of several entries that are spliced only the first is kept.
    First,
    /// Of several entries in whose place others come only the first is erased.
    Erased,
    /// Another fill value is not taken over.
    SetFill,
    /// Another fill value is refused.
    Refused,
    /// No value is the fill.
    IsFill,
}

/// Ten elements in blocks of four.
struct InBlocks {
    blocks: BlockMemory<i64>,
    stores: Lie,
    changes: Lie,
}

impl InBlocks {
    fn new(stores: Lie, changes: Lie) -> Self {
        Self { blocks: BlockMemory::new([10], [4], 0).unwrap(), stores, changes }
    }

    fn elements(&self, number: usize) -> Vec<i64> {
        match self.blocks.load(&[number]).unwrap() {
            Block::Fill(value) => vec![value; 4],
            block => block.as_slice().unwrap().to_vec(),
        }
    }
}

impl Reader for InBlocks {
    type Elem = i64;

    fn len(&self) -> usize {
        10
    }

    fn read(&self, address: usize) -> i64 {
        self.elements(address / 4)[address % 4]
    }

    fn blocks(&self) -> Option<&dyn Blocks<Elem = i64>> {
        Some(self)
    }
}

impl Writer for InBlocks {
    fn write(&mut self, address: usize, value: i64) {
        let mut elements = self.elements(address / 4);
        elements[address % 4] = value;
        self.blocks.store(&[address / 4], &elements).unwrap();
    }

    fn blocks_mut(&mut self) -> Option<&dyn BlocksMut<Elem = i64>> {
        Some(self)
    }
}

impl Blocks for InBlocks {
    type Elem = i64;

    fn extents(&self) -> &[usize] {
        &[10]
    }

    fn block(&self) -> &[usize] {
        &[4]
    }

    fn load(&self, index: &[usize]) -> Result<Block<'_, i64>, StorageError> {
        self.blocks.load(index)
    }
}

impl BlocksMut for InBlocks {
    fn store(&self, index: &[usize], from: &[i64]) -> Result<(), StorageError> {
        match self.stores {
            Lie::Lost => Ok(()),
            Lie::Elsewhere => self.blocks.store(&[(index[0] + 1) % 3], from),
            Lie::Fails => Err(StorageError::new(0, "full")),
            _ => self.blocks.store(index, from),
        }
    }

    fn change(
        &self,
        index: &[usize],
        change: &mut dyn FnMut(&mut [i64]),
    ) -> Result<(), StorageError> {
        let mut elements = self.elements(index[0]);
        match self.changes {
            Lie::Fails => return Err(StorageError::new(0, "full")),
            Lie::Stale => elements[1] = 55,
            Lie::Short => drop(elements.pop()),
            _ => {}
        }
        change(&mut elements);
        elements.resize(4, 0);
        match self.changes {
            Lie::Lost => Ok(()),
            Lie::Elsewhere => self.blocks.store(&[(index[0] + 1) % 3], &elements),
            _ => self.blocks.store(index, &elements),
        }
    }
}

/// Ten elements, few of them stored.
struct Entries(Sparse<i64>, Lie);

impl Reader for Entries {
    type Elem = i64;

    fn len(&self) -> usize {
        10
    }

    fn read(&self, address: usize) -> i64 {
        self.0.read(address)
    }

    fn stored(&self) -> Option<&dyn Stored<Elem = i64>> {
        Some(&self.0)
    }
}

impl Writer for Entries {
    fn write(&mut self, address: usize, value: i64) {
        self.0.write(address, value);
    }

    fn stored_mut(&mut self) -> Option<&mut dyn StoredMut<Elem = i64>> {
        Some(self)
    }
}

impl Stored for Entries {
    type Elem = i64;

    fn fill(&self) -> i64 {
        self.0.fill()
    }

    fn count(&self) -> usize {
        self.0.count()
    }

    fn rank(&self, address: usize) -> usize {
        self.0.rank(address)
    }

    fn entries(&self, from: usize, addresses: &mut [usize], values: &mut [i64]) -> usize {
        self.0.entries(from, addresses, values)
    }
}

impl StoredMut for Entries {
    fn is_fill(&mut self, value: i64) -> bool {
        self.1 != Lie::IsFill && self.0.is_fill(value)
    }

    fn set_fill(&mut self, fill: i64) -> Result<()> {
        match self.1 {
            Lie::SetFill => Ok(()),
            Lie::Refused => Err(std::io::Error::other("never another").into()),
            _ => self.0.set_fill(fill),
        }
    }

    fn splice(
        &mut self,
        ordinals: Range<usize>,
        addresses: Vec<usize>,
        values: Vec<i64>,
    ) -> Result<()> {
        match self.1 {
            Lie::Lost => Ok(()),
            Lie::First => {
                let (at, value) = addresses.into_iter().zip(values).take(1).unzip();
                self.0.splice(ordinals, at, value)
            }
            Lie::Erased => {
                let first = ordinals.start..ordinals.end.min(ordinals.start + 1);
                self.0.splice(first, Vec::new(), Vec::new())?;
                addresses.into_iter().zip(values).for_each(|(k, value)| self.0.write(k, value));
                Ok(())
            }
            Lie::Elsewhere => {
                self.0.write((addresses.first().unwrap_or(&0) + 1) % 10, 77);
                Ok(())
            }
            Lie::Fails => Err(StorageError::new(0, "full").into()),
            _ => self.0.splice(ordinals, addresses, values),
        }
    }
}

fn of<W: Writer<Elem = i64>>(mut storage: W) -> Vec<Violation> {
    writer_violations(&mut storage, &[0, 1, 2, 3], same_or_nan)
}

#[test]
fn wholes_are_written() {
    let entries = |lie| of(Entries(Sparse::new(10, 0), lie));
    let stores = |lie| of(InBlocks::new(lie, Lie::None));
    let changes = |lie| of(InBlocks::new(Lie::None, lie));
    for (method, found) in
        [("store", &stores as &dyn Fn(Lie) -> _), ("change", &changes), ("splice", &entries)]
    {
        assert_eq!(found(Lie::None), []);
        let lost = found(Lie::Lost);
        assert!(
            matches!(lost[..], [Violation::Written { method: m, .. }] if m == method),
            "{lost:?}"
        );
        let astray = found(Lie::Elsewhere);
        let is_seen =
            |v: &Violation| matches!(v, Violation::Elsewhere { method: m, .. } if *m == method);
        assert!(astray.iter().any(is_seen), "{astray:?}");
        let failed = found(Lie::Fails);
        assert!(
            matches!(failed[..], [Violation::Fails { method: m, .. }] if m == method),
            "{failed:?}"
        );
    }
    let stale = changes(Lie::Stale);
    let block = |v: &Violation| matches!(v, Violation::Block { address: 1 | 5 | 9, .. });
    assert!(stale.iter().any(block), "{stale:?}");
    let short = changes(Lie::Short);
    let len = |v: &Violation| matches!(v, Violation::BlockLen { found: 3, len: 4, .. });
    assert!(short.iter().any(len), "{short:?}");
}

/// Several entries in the place of several, and fill values.
#[test]
fn entries_are_spliced_together() {
    for values in [&[0, 1, 2, 3][..], &[1, 2]] {
        let found = |lie| {
            let mut entries = Entries(Sparse::new(10, 0), lie);
            writer_violations(&mut entries, values, same_or_nan)
        };
        for lie in [Lie::None, Lie::Refused] {
            assert_eq!(found(lie), []);
        }
        for (lie, method) in
            [(Lie::First, "splice"), (Lie::Erased, "splice"), (Lie::SetFill, "set_fill")]
        {
            let found = found(lie);
            let lost =
                |v: &Violation| matches!(v, Violation::Written { method: m, .. } if *m == method);
            assert!(found.iter().any(lost), "{found:?}");
        }
        assert_eq!(found(Lie::IsFill), [Violation::IsFill]);
    }
}
