//! Laws of wrappers: what is asked of a storage around another arrives below as the same call.

use super::{Report, Violation, first};
use crate::error::StorageError;
use crate::grid::Starts;
use crate::storage::{Block, BlockIndex, Blocks, BlocksMut, Reader, Stored, StoredMut, Writer};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// Calls that a wrapper may answer by itself, or put in addition.
const FREE: [&str; 15] = [
    "len",
    "is_empty",
    "stored",
    "stored_mut",
    "fill",
    "count",
    "rank",
    "owns_fill",
    "blocks",
    "blocks_mut",
    "extents",
    "block",
    "starts",
    "budget",
    "ahead",
];
/// Most addresses of a block.
const BLOCK: usize = 5;

/// The calls that a [`Recorder`] received. Clones share one list.
#[derive(Debug, Clone, Default)]
pub struct Calls {
    names: Arc<Mutex<Vec<&'static str>>>,
    /// Elements of the recorder.
    len: usize,
}

impl Calls {
    /// Names of the methods called since the last time, in order.
    pub fn take(&self) -> Vec<&'static str> {
        std::mem::take(&mut *self.names.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn add(&self, method: &'static str) {
        self.names.lock().unwrap_or_else(PoisonError::into_inner).push(method);
    }
}

/// Storage that answers every method of [`Reader`] and [`Writer`], and keeps a list of those called: it lies
/// in memory, is sparse and comes in blocks as well, though what is stored in those it forgets. For
/// [`check_reader_forwards`] and [`check_writer_forwards`].
#[derive(Debug, Clone)]
pub struct Recorder {
    elements: Vec<i64>,
    /// One number.
    extents: Vec<usize>,
    fill: i64,
    calls: Calls,
}

impl Recorder {
    /// `len` elements, every other one of which is 0, the fill value.
    pub fn new(len: usize) -> Self {
        let elements = (0..len as i64).map(|k| k % 2 * (k + 1)).collect();
        let calls = Calls { len, ..Calls::default() };
        Self { elements, extents: Vec::from([len]), fill: 0, calls }
    }

    /// The calls it receives, whatever is built around it.
    pub fn calls(&self) -> Calls {
        self.calls.clone()
    }

    fn entries(&self) -> impl Iterator<Item = (usize, i64)> + '_ {
        self.elements.iter().copied().enumerate().filter(|entry| entry.1 != self.fill)
    }
}

/// Methods that note that they were called.
macro_rules! recorded {
    ($me:ident => $(fn $name:ident($($args:tt)*) $(-> $out:ty)? $body:block)*) => { $(
        fn $name($($args)*) $(-> $out)? {
            $me.calls.add(stringify!($name));
            $body
        }
    )* };
}

impl Reader for Recorder {
    type Elem = i64;

    recorded! { self =>
        fn len(&self) -> usize { self.elements.len() }
        fn read(&self, address: usize) -> i64 { self.elements.read(address) }
        fn is_empty(&self) -> bool { self.elements.is_empty() }
        fn try_read(&self, address: usize) -> Result<i64, StorageError> {
            self.elements.try_read(address)
        }
        fn as_slice(&self) -> Option<&[i64]> { Some(&self.elements) }
        fn read_run(&self, start: usize, step: isize, out: &mut [i64]) -> Result<(), StorageError> {
            self.elements.read_run(start, step, out)
        }
        fn read_at(&self, addresses: &[usize], out: &mut [i64]) -> Result<(), StorageError> {
            self.elements.read_at(addresses, out)
        }
        fn stored(&self) -> Option<&dyn Stored<Elem = i64>> { Some(self) }
        fn blocks(&self) -> Option<&dyn Blocks<Elem = i64>> { Some(self) }
    }
}

impl Blocks for Recorder {
    type Elem = i64;

    recorded! { self =>
        fn extents(&self) -> &[usize] { &self.extents }
        fn block(&self) -> &[usize] { &[BLOCK] }
        fn starts(&self, _: usize) -> Option<Starts> { None }
        fn load(&self, index: &[usize]) -> Result<Block<'_, i64>, StorageError> {
            let start = index.first().map_or(0, |number| number.saturating_mul(BLOCK));
            let own = self.elements.iter().skip(start).copied();
            Ok(own.chain([0; BLOCK]).take(BLOCK).collect::<Vec<i64>>().into())
        }
        fn budget(&self) -> usize { 0 }
        fn ahead(&self) -> usize { 0 }
        fn expect(&self, _: &[BlockIndex]) {}
    }
}

impl BlocksMut for Recorder {
    recorded! { self =>
        fn store(&self, _: &[usize], _: &[i64]) -> Result<(), StorageError> { Ok(()) }
        fn change(&self, _: &[usize], change: &mut dyn FnMut(&mut [i64])) -> Result<(), StorageError> {
            change(&mut [0; BLOCK]);
            Ok(())
        }
        fn finish(&self) -> Result<(), StorageError> { Ok(()) }
    }
}

impl Stored for Recorder {
    type Elem = i64;

    recorded! { self =>
        fn fill(&self) -> i64 { self.fill }
        fn count(&self) -> usize { self.entries().count() }
        fn rank(&self, address: usize) -> usize {
            self.entries().take_while(|entry| entry.0 < address).count()
        }
        fn entries(&self, from: usize, addresses: &mut [usize], values: &mut [i64]) -> usize {
            let slots = addresses.iter_mut().zip(values);
            slots.zip(self.entries().skip(from)).map(|((a, v), entry)| (*a, *v) = entry).count()
        }
    }
}

impl StoredMut for Recorder {
    recorded! { self =>
        fn is_fill(&mut self, value: i64) -> bool { value == self.fill }
        fn owns_fill(&mut self) -> bool { true }
        fn set_fill(&mut self, fill: i64) -> crate::Result<()> {
            self.elements.iter_mut().filter(|x| **x == self.fill).for_each(|x| *x = fill);
            self.fill = fill;
            Ok(())
        }
        fn splice(
            &mut self,
            ordinals: Range<usize>,
            addresses: Vec<usize>,
            values: Vec<i64>,
        ) -> crate::Result<()> {
            let old = self.entries().skip(ordinals.start).take(ordinals.len()).map(|entry| entry.0);
            let erased = old.collect::<Vec<_>>().into_iter().map(|address| (address, self.fill));
            for (address, value) in erased.chain(addresses.into_iter().zip(values)) {
                if let Some(slot) = self.elements.get_mut(address) {
                    *slot = value;
                }
            }
            Ok(())
        }
    }
}

impl Writer for Recorder {
    recorded! { self =>
        fn write(&mut self, address: usize, value: i64) { self.elements.write(address, value); }
        fn try_write(&mut self, address: usize, value: i64) -> Result<(), StorageError> {
            self.elements.try_write(address, value)
        }
        fn as_mut_slice(&mut self) -> Option<&mut [i64]> { Some(&mut self.elements) }
        fn stored_mut(&mut self) -> Option<&mut dyn StoredMut<Elem = i64>> { Some(self) }
        fn blocks_mut(&mut self) -> Option<&dyn BlocksMut<Elem = i64>> { Some(self) }
        fn write_run(&mut self, start: usize, step: isize, from: &[i64]) -> Result<(), StorageError> {
            self.elements.write_run(start, step, from)
        }
        fn write_at(&mut self, addresses: &[usize], from: &[i64]) -> Result<(), StorageError> {
            self.elements.write_at(addresses, from)
        }
    }
}

/// Checks that a wrapper around a [`Recorder`], of two elements or more, passes on what it is asked: a block
/// as one block, the slice as the slice, entries as entries. One that has all elements of the recorder passes on what
/// is asked of [`Blocks`], too. `calls` are those of the recorder.
///
/// A method that is not passed on falls back to a slower one in silence, and sparse storage is read densely.
///
/// # Errors
///
/// [`Violation::NotForwarded`] with the first method that does not arrive as one call of the same.
///
/// ```
/// use lensor::storage::SubBuffer;
/// use lensor::conformance::{Recorder, check_reader_forwards};
/// let recorder = Recorder::new(9);
/// let calls = recorder.calls();
/// check_reader_forwards(&SubBuffer::new(recorder, 2..7)?, &calls)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn check_reader_forwards<R: Reader<Elem = i64> + ?Sized>(
    wrapper: &R,
    calls: &Calls,
) -> Result<(), Violation> {
    let mut law = Law { report: Report::default(), calls };
    let addresses: Vec<usize> = (0..wrapper.len().min(BLOCK)).rev().collect();
    let mut out = vec![0; addresses.len()];
    law.arrives("read", || wrapper.read(0));
    law.arrives("try_read", || wrapper.try_read(0));
    law.arrives("as_slice", || wrapper.as_slice());
    law.arrives("read_run", || wrapper.read_run(0, 1, &mut out));
    law.arrives("read_at", || wrapper.read_at(&addresses, &mut out));
    law.arrives("entries", || {
        let (mut found, mut values) = ([0; BLOCK], [0; BLOCK]);
        wrapper.stored().map(|stored| stored.entries(0, &mut found, &mut values))
    });
    if wrapper.len() == calls.len {
        law.arrives("load", || wrapper.blocks().map(|blocks| blocks.load(&[0]).map(drop)));
        law.arrives("expect", || {
            wrapper.blocks().map(|blocks| blocks.expect(&[BlockIndex::from_elem(0, 1)]))
        });
    }
    first(law.report.violations)
}

/// [`check_reader_forwards`], and the same of what a writer is asked. Overwrites the elements.
///
/// # Errors
///
/// [`Violation::NotForwarded`] with the first method that does not arrive as one call of the same.
///
/// ```
/// use lensor::conformance::{Recorder, Violation, check_writer_forwards};
/// let recorder = Recorder::new(9);
/// let calls = recorder.calls();
/// check_writer_forwards(&mut Box::new(recorder), &calls)?;
/// # Ok::<(), Violation>(())
/// ```
pub fn check_writer_forwards<W: Writer<Elem = i64> + ?Sized>(
    wrapper: &mut W,
    calls: &Calls,
) -> Result<(), Violation> {
    check_reader_forwards(wrapper, calls)?;
    let mut law = Law { report: Report::default(), calls };
    let addresses: Vec<usize> = (0..wrapper.len().min(BLOCK)).rev().collect();
    let values = vec![7; addresses.len()];
    law.arrives("write", || wrapper.write(0, 1));
    law.arrives("try_write", || wrapper.try_write(0, 2));
    law.arrives("as_mut_slice", || wrapper.as_mut_slice().map(drop));
    law.arrives("write_run", || wrapper.write_run(0, 1, &values));
    law.arrives("write_at", || wrapper.write_at(&addresses, &values));
    law.arrives("is_fill", || wrapper.stored_mut().map(|stored| stored.is_fill(0)));
    law.arrives("splice", || {
        wrapper.stored_mut().map(|stored| stored.splice(0..1, vec![0], vec![3]))
    });
    if wrapper.stored_mut().is_some_and(|stored| stored.owns_fill()) {
        law.arrives("set_fill", || wrapper.stored_mut().map(|stored| stored.set_fill(5)));
    }
    if wrapper.len() == calls.len {
        law.arrives("store", || wrapper.blocks_mut().map(|blocks| blocks.store(&[0], &[1; BLOCK])));
        law.arrives("change", || {
            wrapper.blocks_mut().map(|blocks| blocks.change(&[0], &mut |block| block.fill(1)))
        });
        law.arrives("finish", || wrapper.blocks_mut().map(|blocks| blocks.finish()));
    }
    first(law.report.violations)
}

struct Law<'a> {
    report: Report,
    calls: &'a Calls,
}

impl Law<'_> {
    /// Asks, and compares with what arrived.
    fn arrives<T>(&mut self, method: &'static str, ask: impl FnOnce() -> T) {
        drop(self.calls.take());
        if self.report.guard(method, 0, ask).is_none() {
            return;
        }
        let mut found = self.calls.take();
        found.retain(|name| !FREE.contains(name));
        if found != [method] {
            self.report.add(Violation::NotForwarded { method, found });
        }
    }
}
