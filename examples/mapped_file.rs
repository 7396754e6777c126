//! A matrix in a file that is too large to copy: made, written and read in place through views. Only
//! the pages that a view touches are ever loaded.

use lensor::interop::npy;
use lensor::prelude::*;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// 1 GiB of `f32`. Most file systems give room to the pages that were written, no others.
const SHAPE: [usize; 2] = [1 << 13, 1 << 15];

/// Adds an expression to a window of the matrix in the file.
#[allow(unsafe_code, reason = "maps a file")]
fn write_window(path: &Path) -> Result<(), Error> {
    // SAFETY: the file lies in a fresh directory of this program, which maps it once at a time.
    let mut matrix = unsafe { npy::map_mut::<f32>(path) }?;
    let mut window = matrix.view_mut().select((4000..4256, 20_000..20_512))?;
    let rows = Tensor::from_fn([256, 1], |k| k as f32)?;
    let columns = Tensor::from_fn([512], |k| k as f32)?;
    window.try_add_assign(rows * 1000.0 + columns)?;
    // Every 512th element of the last column, as one view with a step.
    let mut marks = matrix.view_mut().select((Select::every(512), -1 + SHAPE[1] as isize))?;
    marks.fill(-1.0)?;
    matrix.into_storage().flush()
}

/// The transpose of a part of the window.
#[allow(unsafe_code, reason = "maps a file")]
fn read_window(path: &Path) -> Result<Tensor<Vec<f32>>, Error> {
    // SAFETY: as above, and nobody writes to it now.
    let matrix = unsafe { npy::map::<f32>(path) }?;
    let turned = matrix.view().transpose([1, 0])?.select((20_010..20_013, 4250..4258))?;
    turned.eval()
}

/// One element as anybody else would read it, 128 bytes of header before the data.
fn read_plainly(path: &Path, row: usize, column: usize) -> std::io::Result<f32> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start((128 + 4 * (row * SHAPE[1] + column)) as u64))?;
    let mut bytes = [0; 4];
    file.read_exact(&mut bytes)?;
    Ok(f32::from_ne_bytes(bytes))
}

/// A directory of this process alone, which goes with all that is in it.
struct Directory(PathBuf);

impl Directory {
    fn new() -> std::io::Result<Self> {
        let path = std::env::temp_dir().join(format!("lensor-mapped-file-{}", std::process::id()));
        std::fs::create_dir(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[allow(unsafe_code, reason = "maps a file")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = Directory::new()?;
    let path = directory.0.join("matrix.npy");
    // SAFETY: the directory is new, so nobody has the file open.
    drop(unsafe { npy::create_mut::<f32>(&path, SHAPE) }?);
    assert_eq!(path.metadata()?.len(), 128 + 4 * (SHAPE[0] * SHAPE[1]) as u64);

    write_window(&path)?;

    // Rows 4250 to 4257 cross the lower edge of the window at 4256.
    let turned = read_window(&path)?;
    assert_eq!(turned.shape(), [3, 8]);
    let first = [250_010.0, 251_010.0, 252_010.0, 253_010.0, 254_010.0, 255_010.0, 0.0, 0.0];
    assert_eq!(turned.view().select((0,))?.to_vec()?, first);
    assert_eq!(turned.get([2, 5])?, 255_012.0);

    assert_eq!(read_plainly(&path, 4255, 20_012)?, 255_012.0);
    assert_eq!(read_plainly(&path, 512, SHAPE[1] - 1)?, -1.0);
    assert_eq!(read_plainly(&path, 513, SHAPE[1] - 1)?, 0.0);
    Ok(())
}
