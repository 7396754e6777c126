//! The storages that are timed.

use lensor::storage::{Block, BlockMemory, Blocks, BlocksMut};
use lensor::{Reader, StorageError, Writer};
use std::fs::File;
use std::hint::black_box;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Side of a block.
pub(crate) const SIDE: usize = 256;

/// The required methods and no more.
#[derive(Clone)]
pub(crate) struct Plain(pub(crate) Vec<f64>);

impl Reader for Plain {
    type Elem = f64;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn read(&self, address: usize) -> f64 {
        self.0[address]
    }
}

impl Writer for Plain {
    fn write(&mut self, address: usize, value: f64) {
        self.0[address] = value;
    }
}

/// A file that is read and written by position.
#[derive(Clone)]
pub(crate) struct FileStorage {
    file: Arc<File>,
    len: usize,
}

impl FileStorage {
    pub(crate) fn new(data: &[f64]) -> Self {
        let file = Arc::new(tempfile::tempfile().expect("a file"));
        let mut storage = Self { file, len: data.len() };
        storage.write_run(0, 1, data).expect("it is written");
        storage
    }
}

impl Reader for FileStorage {
    type Elem = f64;

    fn len(&self) -> usize {
        self.len
    }

    fn read(&self, address: usize) -> f64 {
        self.try_read(address).expect("an element")
    }

    fn try_read(&self, address: usize) -> Result<f64, StorageError> {
        let mut out = [0.0];
        self.read_run(address, 1, &mut out)?;
        Ok(out[0])
    }

    fn read_run(&self, start: usize, step: isize, out: &mut [f64]) -> Result<(), StorageError> {
        let failed = |error| StorageError::new(start, error);
        if step != 1 {
            return out.iter_mut().enumerate().try_for_each(|(k, slot)| {
                *slot = self.try_read(start.wrapping_add_signed(step * k as isize))?;
                Ok(())
            });
        }
        self.file.read_exact_at(bytemuck::cast_slice_mut(out), 8 * start as u64).map_err(failed)
    }
}

impl Writer for FileStorage {
    fn write(&mut self, address: usize, value: f64) {
        self.write_run(address, 1, &[value]).expect("it is written");
    }

    fn write_run(&mut self, start: usize, step: isize, from: &[f64]) -> Result<(), StorageError> {
        let failed = |error| StorageError::new(start, error);
        if step != 1 {
            return from.iter().enumerate().try_for_each(|(k, x)| {
                let address = start.wrapping_add_signed(step * k as isize);
                self.file.write_all_at(&x.to_ne_bytes(), 8 * address as u64).map_err(failed)
            });
        }
        self.file.write_all_at(bytemuck::cast_slice(from), 8 * start as u64).map_err(failed)
    }
}

/// Blocks in memory.
pub(crate) fn blocks_of(n: usize, data: &[f64]) -> Arc<BlockMemory<f64>> {
    let blocks = BlockMemory::new([n, n], [SIDE, SIDE], 0.0).expect("blocks");
    for_each_block(n, data, |index, elements| blocks.store(index, elements).expect("it is stored"));
    Arc::new(blocks)
}

fn for_each_block(n: usize, data: &[f64], mut visit: impl FnMut(&[usize], &[f64])) {
    for i in 0..n / SIDE {
        for j in 0..n / SIDE {
            let rows = (0..SIDE).map(|row| &data[(i * SIDE + row) * n + j * SIDE..][..SIDE]);
            visit(&[i, j], &rows.flatten().copied().collect::<Vec<_>>());
        }
    }
}

/// Blocks in memory, compressed.
#[derive(Clone)]
pub(crate) struct Lz4 {
    extents: [usize; 2],
    packed: Arc<Vec<Mutex<Vec<u8>>>>,
}

impl Lz4 {
    pub(crate) fn new(n: usize, data: &[f64]) -> Self {
        let mut packed = Vec::new();
        for_each_block(n, data, |_, elements| packed.push(Mutex::new(pack(elements))));
        Self { extents: [n, n], packed: Arc::new(packed) }
    }

    /// How many blocks there are.
    pub(crate) fn count(&self) -> usize {
        self.packed.len()
    }

    /// Decodes every block once.
    pub(crate) fn decode_all(&self) {
        self.decode(0..self.count());
    }

    /// Decodes some blocks once.
    pub(crate) fn decode(&self, blocks: Range<usize>) {
        for block in &self.packed[blocks] {
            black_box(unpack(&block.lock().expect("a block")));
        }
    }

    /// Compresses so many elements, block by block.
    pub(crate) fn encode_all(&self, data: &[f64]) {
        for block in data.chunks(SIDE * SIDE) {
            black_box(pack(block));
        }
    }

    fn at(&self, index: &[usize]) -> &Mutex<Vec<u8>> {
        &self.packed[index[0] * (self.extents[1] / SIDE) + index[1]]
    }
}

fn pack(elements: &[f64]) -> Vec<u8> {
    lz4_flex::compress(&elements.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>())
}

fn unpack(packed: &[u8]) -> Vec<f64> {
    let bytes = lz4_flex::decompress(packed, 8 * SIDE * SIDE).expect("a block");
    bytes.as_chunks().0.iter().map(|x| f64::from_le_bytes(*x)).collect()
}

impl Blocks for Lz4 {
    type Elem = f64;

    fn extents(&self) -> &[usize] {
        &self.extents
    }

    fn block(&self) -> &[usize] {
        &[SIDE, SIDE]
    }

    fn load(&self, index: &[usize]) -> Result<Block<'_, f64>, StorageError> {
        Ok(unpack(&self.at(index).lock().expect("a block")).into())
    }
}

impl BlocksMut for Lz4 {
    fn store(&self, index: &[usize], from: &[f64]) -> Result<(), StorageError> {
        *self.at(index).lock().expect("a block") = pack(from);
        Ok(())
    }
}

/// Blocks that take a while to load.
pub(crate) struct Slow(pub(crate) Arc<BlockMemory<f64>>, pub(crate) Duration);

impl Blocks for Slow {
    type Elem = f64;

    fn extents(&self) -> &[usize] {
        self.0.extents()
    }

    fn block(&self) -> &[usize] {
        self.0.block()
    }

    fn load(&self, index: &[usize]) -> Result<Block<'_, f64>, StorageError> {
        std::thread::sleep(self.1);
        self.0.load(index)
    }
}
