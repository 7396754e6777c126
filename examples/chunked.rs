//! Blocks of lz4 in a file as storage: two methods read and write a block, and every view goes through them.

use lensor::StorageError;
use lensor::prelude::*;
use lensor::storage::{Block, Blocks, BlocksMut, Chunked};
use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::Mutex;

const EXTENTS: [usize; 2] = [1000, 1200];

/// Compressed blocks one after another, and where each was written last.
struct Lz4(Mutex<(std::fs::File, Places)>);
type Places = [[Option<(u64, usize)>; 5]; 4];

fn failed(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> StorageError {
    StorageError::new(0, error)
}

impl Blocks for Lz4 {
    type Elem = f64;
    fn extents(&self) -> &[usize] {
        &EXTENTS
    }
    fn block(&self) -> &[usize] {
        &[256, 256]
    }
    fn load(&self, index: &[usize]) -> Result<Block<'_, f64>, StorageError> {
        let (file, at) = &mut *self.0.lock().unwrap();
        let Some((start, len)) = at[index[0]][index[1]] else { return Ok(Block::Fill(0.0)) };
        let mut packed = vec![0; len];
        file.seek(SeekFrom::Start(start))
            .and_then(|_| file.read_exact(&mut packed))
            .map_err(failed)?;
        let bytes = lz4_flex::decompress(&packed, 8 * 256 * 256).map_err(failed)?;
        let elements = bytes.as_chunks().0.iter().map(|x| f64::from_le_bytes(*x));
        Ok(Block::from(elements.collect::<Vec<_>>()))
    }
}

impl BlocksMut for Lz4 {
    fn store(&self, index: &[usize], from: &[f64]) -> Result<(), StorageError> {
        let bytes: Vec<u8> = from.iter().flat_map(|x| x.to_le_bytes()).collect();
        let packed = lz4_flex::compress(&bytes);
        let (file, places) = &mut *self.0.lock().unwrap();
        let start = file.seek(SeekFrom::End(0)).map_err(failed)?;
        file.write_all(&packed).map_err(failed)?;
        places[index[0]][index[1]] = Some((start, packed.len()));
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let storage = Lz4(Mutex::new((tempfile::tempfile()?, Default::default())));
    let mut t = Tensor::new(EXTENTS, Chunked::new(storage)?.with_blocks(4))?;
    t.assign(&Tensor::from_index(EXTENTS, |i| (i[0] / 10 * (i[1] / 100)) as f64)?)?;
    println!("{}", t.view().transpose([1, 0])?.explain()?);
    assert_eq!(t.view().transpose([1, 0])?.mean(1).eval()?.to_vec()?, t.mean(0).eval()?.to_vec()?);
    Ok(())
}
