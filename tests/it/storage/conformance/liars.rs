//! Storage that breaks one promise each.

use super::data;
use lensor::{Reader, StorageError, Stored, Writer};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A way to break a promise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Lie {
    None,
    Len,
    IsEmpty,
    Unstable,
    Read,
    Panic,
    ErrorAddress,
    ShortSlice,
    Slice,
    RunStep,
    RunUnwritten,
    RunFails,
    RunSucceeds,
    Gather,
    GatherSorted,
    EntryCount,
    EntryOrder,
    EntryTwice,
    EntryRange,
    EntryValue,
    EntryChunk,
    EntryRoom,
    Fill,
    Rank,
    WriteLost,
    WriteElsewhere,
    WriteRun,
    WriteAt,
    WriteGrows,
    MutSlice,
    WriteFails,
}

/// A reader and writer that breaks at most one promise. Address 5 cannot be read if `hole`.
pub(crate) struct Liar {
    data: Vec<i64>,
    lie: Lie,
    calls: AtomicUsize,
    hole: bool,
}

impl Liar {
    pub(crate) fn new(len: usize, lie: Lie) -> Self {
        let hole = matches!(lie, Lie::ErrorAddress | Lie::RunSucceeds);
        Self { data: data(len), lie, calls: AtomicUsize::new(0), hole }
    }

    /// One that does not lie, with or without the hole.
    pub(crate) fn with_hole(len: usize, hole: bool) -> Self {
        Self { hole, ..Self::new(len, Lie::None) }
    }

    fn run(start: usize, step: isize, count: usize) -> Vec<usize> {
        (0..count).map(|k| start.wrapping_add_signed(step * k as isize)).collect()
    }
}

impl Reader for Liar {
    type Elem = i64;

    fn len(&self) -> usize {
        let calls = self.calls.fetch_add(1, Ordering::Relaxed);
        self.data.len() + usize::from(self.lie == Lie::Len && calls % 2 == 1)
    }

    fn read(&self, address: usize) -> i64 {
        assert!(self.lie != Lie::Panic || address != 3, "a panic the test asked for");
        self.data[address] + i64::from(self.lie == Lie::Read && address == 4)
    }

    fn is_empty(&self) -> bool {
        self.data.is_empty() != (self.lie == Lie::IsEmpty)
    }

    fn try_read(&self, address: usize) -> Result<i64, StorageError> {
        if self.hole && address == 5 {
            return Err(StorageError::new(
                if self.lie == Lie::ErrorAddress { 6 } else { 5 },
                "hole",
            ));
        }
        let calls = self.calls.fetch_add(1, Ordering::Relaxed);
        Ok(self.data[address] + if self.lie == Lie::Unstable { calls as i64 } else { 0 })
    }

    fn as_slice(&self) -> Option<&[i64]> {
        match self.lie {
            Lie::ShortSlice => self.data.get(1..),
            Lie::Slice => Some(&[1; 10_000][..self.data.len()]),
            _ => None,
        }
    }

    fn read_run(&self, start: usize, step: isize, out: &mut [i64]) -> Result<(), StorageError> {
        match self.lie {
            Lie::RunFails if step < -1 => return Err(StorageError::new(start, "no large steps")),
            Lie::RunSucceeds => {
                out.fill(0);
                return Ok(());
            }
            _ => {}
        }
        let step = match self.lie {
            Lie::RunStep => {
                step.abs().min((self.data.len() - start) as isize / out.len().max(1) as isize)
            }
            _ => step,
        };
        let written = out.len() - usize::from(self.lie == Lie::RunUnwritten && out.len() > 100);
        for (slot, address) in out[..written].iter_mut().zip(Self::run(start, step, written)) {
            *slot = self.try_read(address)?;
        }
        Ok(())
    }

    fn read_at(&self, addresses: &[usize], out: &mut [i64]) -> Result<(), StorageError> {
        let mut addresses = addresses.to_vec();
        match self.lie {
            Lie::Gather if addresses.len() > 2 => addresses.swap(1, 2),
            Lie::GatherSorted => addresses.sort_unstable(),
            _ => {}
        }
        for (slot, address) in out.iter_mut().zip(addresses) {
            *slot = self.try_read(address)?;
        }
        Ok(())
    }
}

impl Writer for Liar {
    fn write(&mut self, address: usize, value: i64) {
        match self.lie {
            Lie::WriteLost if address == 2 => {}
            Lie::WriteElsewhere if address == 0 => {
                self.data[0] = value;
                self.data[7] += 1;
            }
            _ => self.data[address] = value,
        }
        if self.lie == Lie::WriteGrows {
            self.data.push(0);
        }
    }

    fn as_mut_slice(&mut self) -> Option<&mut [i64]> {
        match self.lie {
            Lie::MutSlice => {
                self.data.reverse();
                Some(&mut self.data)
            }
            _ => None,
        }
    }

    fn write_run(&mut self, start: usize, step: isize, from: &[i64]) -> Result<(), StorageError> {
        if self.lie == Lie::WriteFails && from.len() > 1 {
            return Err(StorageError::new(start, "one at a time"));
        }
        let skip = usize::from(self.lie == Lie::WriteRun && from.len() > 3);
        let addresses = Self::run(start, step, from.len());
        addresses
            .iter()
            .zip(from)
            .skip(skip)
            .for_each(|(&address, &value)| self.data[address] = value);
        Ok(())
    }

    fn write_at(&mut self, addresses: &[usize], from: &[i64]) -> Result<(), StorageError> {
        let mut addresses = addresses.to_vec();
        if self.lie == Lie::WriteAt {
            addresses.sort_unstable();
        }
        addresses.iter().zip(from).for_each(|(&address, &value)| self.data[address] = value);
        Ok(())
    }
}

/// Sparse storage with fill 0 that breaks at most one promise.
pub(crate) struct Sparse {
    len: usize,
    entries: Vec<(usize, i64)>,
    lie: Lie,
}

impl Sparse {
    /// The elements above 0.
    pub(crate) fn of(data: &[i64], lie: Lie) -> Self {
        let entries = data.iter().copied().enumerate().filter(|&(_, value)| value > 0);
        Self { len: data.len(), entries: entries.collect(), lie }
    }
}

impl Reader for Sparse {
    type Elem = i64;

    fn len(&self) -> usize {
        self.len
    }

    fn read(&self, address: usize) -> i64 {
        assert!(address < self.len);
        match self.entries.binary_search_by_key(&address, |entry| entry.0) {
            Ok(found) => self.entries[found].1,
            Err(_) => 0,
        }
    }

    fn stored(&self) -> Option<&dyn Stored<Elem = i64>> {
        Some(self)
    }
}

impl Stored for Sparse {
    type Elem = i64;

    fn fill(&self) -> i64 {
        i64::from(self.lie == Lie::Fill)
    }

    fn count(&self) -> usize {
        self.entries.len() + usize::from(self.lie == Lie::EntryCount)
    }

    fn rank(&self, address: usize) -> usize {
        let inclusive = usize::from(self.lie == Lie::Rank);
        self.entries.partition_point(|entry| entry.0 < address + inclusive)
    }

    fn entries(&self, from: usize, addresses: &mut [usize], values: &mut [i64]) -> usize {
        let room = match self.lie {
            Lie::EntryRoom => addresses.len(),
            _ => addresses.len().min(values.len()),
        };
        let from = if self.lie == Lie::EntryChunk { from / 2 * 2 } else { from };
        let mut part: Vec<_> = self.entries.iter().skip(from).take(room).copied().collect();
        match self.lie {
            Lie::EntryOrder if part.len() > 2 => part.swap(0, 1),
            Lie::EntryTwice if part.len() > 2 => part[1] = part[0],
            Lie::EntryRange if from == 0 => {
                part.iter_mut().last().into_iter().for_each(|e| e.0 = self.len)
            }
            Lie::EntryValue => part.iter_mut().for_each(|entry| entry.1 += 1),
            _ => {}
        }
        part.iter().zip(&mut *addresses).for_each(|(entry, address)| *address = entry.0);
        part.iter().zip(&mut *values).for_each(|(entry, value)| *value = entry.1);
        part.len()
    }
}

/// Blocks that are not what the storage has.
#[test]
fn blocks_that_lie() {
    use lensor::StorageError;
    use lensor::Tensor;
    use lensor::conformance::{Violation, reader_violations, same_or_nan};
    use lensor::prelude::*;
    use lensor::storage::{Block, Blocks, Chunked, Starts};

    #[derive(Clone, Copy, PartialEq)]
    enum Lie {
        None,
        Sides,
        Starts,
        Length,
        Element,
        Fails,
        /// Address 7 cannot be read, which its block says, or says of another one.
        Hole,
        ErrorAddress,
    }
    struct Liar(Lie);
    impl Reader for Liar {
        type Elem = usize;
        fn len(&self) -> usize {
            20
        }
        fn read(&self, address: usize) -> usize {
            address
        }
        fn try_read(&self, address: usize) -> Result<usize, StorageError> {
            match self.0 {
                Lie::Hole | Lie::ErrorAddress if address == 7 => Err(StorageError::new(7, "hole")),
                _ => Ok(address),
            }
        }
        fn blocks(&self) -> Option<&dyn Blocks<Elem = usize>> {
            Some(self)
        }
    }
    impl Blocks for Liar {
        type Elem = usize;
        fn extents(&self) -> &[usize] {
            if self.0 == Lie::Sides { &[4, 6] } else { &[4, 5] }
        }
        fn block(&self) -> &[usize] {
            &[3, 3]
        }
        fn starts(&self, axis: usize) -> Option<Starts> {
            (self.0 == Lie::Starts && axis == 1).then(|| Starts::new(vec![0, 4], 5).unwrap())
        }
        fn load(&self, index: &[usize]) -> Result<Block<'_, usize>, StorageError> {
            let at = |k: usize| (3 * index[0] + k / 3) * 5 + 3 * index[1] + k % 3;
            let mut elements: Vec<usize> = (0..9).map(at).collect();
            match self.0 {
                Lie::Length if index == [1, 0] => drop(elements.pop()),
                Lie::Element if index == [0, 1] => elements[4] += 1,
                Lie::Fails => return Err(StorageError::new(at(0), "none are loaded")),
                Lie::Hole if index == [0, 0] => return Err(StorageError::new(5, "hole")),
                Lie::ErrorAddress if index == [0, 0] => return Err(StorageError::new(3, "hole")),
                _ => {}
            }
            Ok(elements.into())
        }
    }
    let of = |lie| reader_violations(&Liar(lie), same_or_nan);
    assert_eq!(of(Lie::None), []);
    let sides = Violation::BlockSides { extents: vec![4, 6], block: vec![3, 3], len: 20 };
    assert_eq!(of(Lie::Sides), [sides]);
    let starts = Violation::BlockSides { extents: vec![4, 5], block: vec![3, 3], len: 20 };
    assert_eq!(of(Lie::Starts), [starts]);
    // Views are then read without blocks, and a cache is not made.
    let t = Tensor::new([4, 5], Liar(Lie::Starts)).unwrap();
    assert_eq!(t.transpose([1, 0]).unwrap().sum(0).to_vec().unwrap(), [10, 35, 60, 85]);
    let error = Chunked::new(Liar(Lie::Starts)).unwrap_err().to_string();
    assert_eq!(error, "blocks of [3, 3] do not make storage of [4, 5]");
    assert_eq!(of(Lie::Length), [Violation::BlockLen { index: vec![1, 0], found: 8, len: 9 }]);
    let block = Violation::Block { index: vec![0, 1], address: 9 };
    assert_eq!(block.to_string(), "block [0, 1] disagrees with `try_read` at address 9");
    assert_eq!(of(Lie::Element), [block]);
    // Of elements that can be read alone a block can be loaded; if not, its error names one of its addresses.
    let fails = Violation::Fails { method: "load", address: 0 };
    assert_eq!(of(Lie::Fails), [fails]);
    assert_eq!(of(Lie::Hole), []);
    let named = Violation::ErrorAddress { method: "load", address: 0, named: 3 };
    assert_eq!(of(Lie::ErrorAddress), [named]);
}
