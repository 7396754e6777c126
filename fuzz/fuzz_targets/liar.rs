//! Storage that lies whenever the bytes say so, through every kernel: a value or an error, and no
//! panic but its own. With nothing but the truth, the right values.
#![no_main]

#[path = "../../tests/it/storage/foreign/kernels.rs"]
mod kernels;

use lensor::dtype::ByteOrder;
use lensor::storage::{Block, Blocks, Concat, Encoded, Indexed, Starts, Stored, SubBuffer};
use lensor::{BoxReader, Reader, StorageError, Tensor, Writer};
use libfuzzer_sys::arbitrary::{self, Unstructured};
use libfuzzer_sys::fuzz_target;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// What a liar panics with.
struct OwnPanic;

/// One answer to one question.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Answer {
    Truth,
    Nothing,
    Error,
    /// Something else, depending on the byte.
    Other(u8),
}

/// Storage whose every answer is decided by the next byte of a script that repeats.
struct Liar<T> {
    data: Vec<T>,
    script: Arc<[u8]>,
    clock: AtomicUsize,
}

impl<T: Copy> Liar<T> {
    fn new(data: Vec<T>, script: &Arc<[u8]>) -> Self {
        Self { data, script: script.clone(), clock: AtomicUsize::new(0) }
    }

    fn answer(&self) -> Answer {
        let now = self.clock.fetch_add(1, Relaxed);
        match self.script.get(now % self.script.len().max(1)).copied().unwrap_or(0) {
            0..=127 => Answer::Truth,
            128..=159 => Answer::Nothing,
            160..=167 => Answer::Error,
            168..=171 => panic_any(OwnPanic),
            byte => Answer::Other(byte),
        }
    }

    /// How many of `len` are claimed now.
    fn amount(&self, len: usize) -> usize {
        match self.answer() {
            Answer::Other(byte @ 248..) => len.saturating_add(byte.into()),
            Answer::Other(247) => usize::MAX,
            Answer::Other(246) => isize::MAX as usize,
            Answer::Other(byte) => (len as u128 * u128::from(byte - 172) / 74) as usize,
            Answer::Nothing => 0,
            Answer::Truth | Answer::Error => len,
        }
    }

    /// How much of the memory is shown now.
    fn shown(&self) -> Option<usize> {
        match self.answer() {
            Answer::Truth => Some(self.data.len()),
            Answer::Other(byte) => Some(self.data.len() * usize::from(byte) / 255),
            Answer::Nothing | Answer::Error => None,
        }
    }
}

impl<T: Copy + Send + Sync + From<u8>> Reader for Liar<T> {
    type Elem = T;

    fn len(&self) -> usize {
        self.amount(self.data.len())
    }

    fn read(&self, address: usize) -> T {
        self.try_read(address).unwrap_or_else(|_| panic_any(OwnPanic))
    }

    fn try_read(&self, address: usize) -> Result<T, StorageError> {
        match self.answer() {
            // Whoever reads all of an endless storage never ends: that is no lie.
            _ if address >= self.data.len().max(1 << 20) => {
                Err(StorageError::new(address, "too far"))
            }
            Answer::Other(byte) => Ok(T::from(byte)),
            Answer::Nothing => Ok(T::from(0)),
            Answer::Truth if address < self.data.len() => Ok(self.data[address]),
            _ => Err(StorageError::new(address ^ 1, "a lie")),
        }
    }

    fn as_slice(&self) -> Option<&[T]> {
        self.data.get(..self.shown()?)
    }

    fn read_run(&self, start: usize, step: isize, out: &mut [T]) -> Result<(), StorageError> {
        match self.answer() {
            Answer::Nothing => return Ok(()),
            Answer::Error => return Err(StorageError::new(usize::MAX, "a lie")),
            _ => {}
        }
        for (k, slot) in out.iter_mut().enumerate() {
            *slot = self.try_read(start.wrapping_add_signed(step.wrapping_mul(k as isize)))?;
        }
        Ok(())
    }

    fn stored(&self) -> Option<&dyn Stored<Elem = T>> {
        (self.answer() == Answer::Nothing).then_some(self)
    }

    fn blocks(&self) -> Option<&dyn Blocks<Elem = T>> {
        (self.answer() == Answer::Nothing).then_some(self)
    }
}

impl<T: Copy + Send + Sync + From<u8>> Blocks for Liar<T> {
    type Elem = T;

    fn extents(&self) -> &[usize] {
        const EXTENTS: [&[usize]; 7] =
            [&[24], &[2, 3, 4], &[6, 4], &[], &[0, 5], &[usize::MAX, 2], &[5, 0]];
        EXTENTS[self.amount(1) % 7]
    }

    fn block(&self) -> &[usize] {
        const BLOCK: [&[usize]; 5] = [&[2, 3], &[5], &[1, 2, 2], &[], &[0, usize::MAX]];
        BLOCK[self.amount(1) % 5]
    }

    fn starts(&self, axis: usize) -> Option<Starts> {
        const STARTS: [&[usize]; 4] = [&[0, 1], &[0, 2, 3], &[], &[0]];
        let (list, extent) = (STARTS[self.amount(axis) % 4], self.amount(24));
        let lies = self.answer() != Answer::Nothing;
        if lies { Starts::new(list.to_vec(), extent).ok() } else { None }
    }

    fn load(&self, index: &[usize]) -> Result<Block<'_, T>, StorageError> {
        match self.answer() {
            Answer::Error => Err(StorageError::new(usize::MAX, "a lie")),
            Answer::Nothing => Ok(Block::Fill(T::from(index.len() as u8))),
            _ => {
                let shown = self.amount(self.data.len()).min(self.data.len());
                Ok(Block::Borrowed(&self.data[..shown]))
            }
        }
    }

    fn budget(&self) -> usize {
        self.amount(3)
    }
}

impl<T: Copy + Send + Sync + From<u8>> Stored for Liar<T> {
    type Elem = T;

    fn fill(&self) -> T {
        T::from(1)
    }

    fn count(&self) -> usize {
        self.amount(self.data.len())
    }

    fn rank(&self, address: usize) -> usize {
        self.amount(address.min(self.data.len()))
    }

    fn entries(&self, from: usize, addresses: &mut [usize], values: &mut [T]) -> usize {
        let len = addresses.len().min(values.len());
        addresses.iter_mut().enumerate().for_each(|(k, slot)| *slot = self.amount(from) ^ k);
        self.amount(len)
    }
}

impl<T: Copy + Send + Sync + From<u8>> Writer for Liar<T> {
    fn write(&mut self, address: usize, value: T) {
        self.try_write(address, value).unwrap_or_else(|_| panic_any(OwnPanic));
    }

    fn try_write(&mut self, address: usize, value: T) -> Result<(), StorageError> {
        match (self.answer(), self.data.get_mut(address)) {
            (Answer::Truth, Some(slot)) => *slot = value,
            (Answer::Error, _) | (_, None) => return Err(StorageError::new(address ^ 1, "a lie")),
            _ => {}
        }
        Ok(())
    }

    fn as_mut_slice(&mut self) -> Option<&mut [T]> {
        let shown = self.shown()?;
        self.data.get_mut(..shown)
    }
}

impl AsRef<[u8]> for Liar<u8> {
    fn as_ref(&self) -> &[u8] {
        &self.data[..self.shown().unwrap_or(0)]
    }
}

impl AsMut<[u8]> for Liar<u8> {
    fn as_mut(&mut self) -> &mut [u8] {
        let shown = self.shown().unwrap_or(0);
        &mut self.data[..shown]
    }
}

/// What to do to the liar, and how it lies.
struct Test<'a> {
    choices: Unstructured<'a>,
    shape: [usize; 2],
    script: Arc<[u8]>,
}

impl Test<'_> {
    /// Runs one kernel over a storage, and over what it should hold if there are no lies.
    fn read<S: Reader<Elem = i32>>(mut self, storage: lensor::Result<S>) -> arbitrary::Result<()> {
        let which = self.choices.choose_index(kernels::kernels::<S>().len())?;
        let kernel = &kernels::kernels::<S>()[which];
        let Ok(t) = storage.and_then(|storage| Tensor::new(self.shape, storage)) else {
            return Ok(());
        };
        let found = (kernel.run)(&t);
        if self.script.is_empty() && !["explain", "print"].contains(&kernel.name) {
            let truth = Tensor::from_vec(self.shape, (1..=t.len() as i32).collect());
            let run = kernels::kernels::<Vec<i32>>()[which].run;
            assert_eq!(found, truth.and_then(|truth| run(&truth)), "{}", kernel.name);
        }
        if let Some(stored) = t.storage().stored() {
            let _ = (stored.fill(), stored.count(), stored.rank(5), stored.rank(usize::MAX));
            let _ = stored.entries(1, &mut [0; 8], &mut [0; 8]);
            let _ = stored.entries(usize::MAX, &mut [0; 8], &mut [0; 3]);
        }
        Ok(())
    }

    /// Writes to a storage in one way.
    fn write<W: Writer<Elem = i32>>(mut self, storage: lensor::Result<W>) -> arbitrary::Result<()> {
        let how = self.choices.int_in_range(0..=10)?;
        if let Ok(t) = storage.and_then(|storage| Tensor::new(self.shape, storage)) {
            let _ = written(how, t);
        }
        Ok(())
    }
}

fn written<W: Writer<Elem = i32>>(how: u8, mut t: Tensor<W>) -> lensor::Result<()> {
    let [rows, columns] = [t.shape()[0], t.shape()[1]];
    let source = Tensor::full([rows, columns], 3)?;
    let map = t.address_map().clone();
    let turned = |t: Tensor<W>| t.reshape([columns, rows])?.transpose([1, 0]);
    match how {
        0 => t.assign(&source),
        1 => t.fill(4),
        2 => t.try_add_assign(&source),
        3 => t.try_div_assign(&source),
        4 => t.update(|old| Ok((old + 1).boxed())),
        5 => {
            let (top, bottom) = (map.clone().slice(0, 0..rows / 2)?, map.slice(0, rows / 2..rows)?);
            t.copy_within(&top, &bottom)
        }
        6 => t.copy_within(&map.clone().flip(0)?, &map),
        7 => turned(t)?.assign(&source),
        8 => turned(t)?.try_mul_assign(2),
        9 => turned(t)?.select(([1, 0],))?.fill(5),
        _ => t.set([1, 1], 6),
    }
}

/// Mostly small, at times large enough for tiles, threads, and writing past the caches.
fn shape(u: &mut Unstructured) -> arbitrary::Result<[usize; 2]> {
    let (class, a, b): (u8, u8, u8) = u.arbitrary()?;
    let (a, b) = (usize::from(a), usize::from(b));
    // The fuzzer likes to try 0 and 255, so those are small.
    Ok(match class {
        0x40..=0x4f => [2 * (32 + a % 8), 2 * (32 + b % 32)],
        0x60 => [2 * (180 + a % 32), 400],
        0x62 => [2050, 2048],
        _ => [2 + a % 16 / 2 * 2, 2 + b % 32 / 2 * 2],
    })
}

fn run(bytes: &[u8]) -> arbitrary::Result<()> {
    let mut u = Unstructured::new(bytes);
    let shape = shape(&mut u)?;
    let (storage, choices): (u8, [u8; 2]) = u.arbitrary()?;
    let script: Arc<[u8]> = u.take_rest().into();
    let test = Test { choices: Unstructured::new(&choices), shape, script: script.clone() };

    let len = shape[0] * shape[1];
    let elements = || 1..=len as i32;
    let liar = || Liar::new(elements().collect::<Vec<_>>(), &script);
    let encoded = || {
        let bytes = Liar::new(elements().flat_map(i32::to_ne_bytes).collect(), &script);
        Encoded::<i32, _>::new(bytes, 0, len, ByteOrder::NATIVE)
    };
    let indexed =
        || Indexed::new(elements().collect::<Vec<_>>(), Liar::new((0..len).collect(), &script));
    let parts =
        || -> Vec<Box<dyn Reader<Elem = i32>>> { vec![Box::new(liar()), Box::new(vec![1; 8])] };
    match storage % 10 {
        0 => test.read(Ok(liar())),
        1 => test.read(SubBuffer::new(liar(), 0..len)),
        2 => test.read(encoded()),
        3 => test.read(Concat::new(vec![liar()])),
        4 => test.read(Concat::new(parts())),
        5 => test.read(indexed()),
        6 => test.read(Ok(BoxReader::new(Arc::new(liar())))),
        7 => test.write(Ok(liar())),
        8 => test.write(SubBuffer::new(liar(), 0..len)),
        _ => test.write(encoded()),
    }
}

fuzz_target!(
    init: {
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !panic.payload().is::<OwnPanic>() {
                report(panic);
            }
        }));
    },
    |bytes: &[u8]| {
        // Panics of others end the process in the hook above.
        let _ = catch_unwind(AssertUnwindSafe(|| run(bytes)));
    }
);
