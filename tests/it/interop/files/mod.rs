//! Files and streams: what is saved replaces a file or leaves it alone, streams that lie are errors, and text
//! of strangers does nothing to a terminal.

mod links;
#[cfg(feature = "mmap")]
mod mapped;
mod save;
#[cfg(unix)]
mod stopped;
mod streams;
mod text;

#[cfg(feature = "npz")]
use lensor::interop::npz;
#[cfg(feature = "safetensors")]
use lensor::interop::safetensors;
use lensor::interop::{mtx, npy, tns};
use lensor::storage::Sparse;
use lensor::{Error, Result, Tensor};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Saves some tensor to a file.
type Save = fn(&Path) -> Result<()>;

/// The three functions that save, with a small tensor.
const SMALL: [Save; 3] = [
    |path| npy::save(path, &Tensor::from_vec([3], vec![1.5, 0.0, 2.5])?),
    |path| mtx::save(path, &sparse(3)?),
    |path| tns::save(path, &sparse(3)?),
];
/// The same with some hundred kilobytes.
const LARGE: &[Save] = &[
    |path| npy::save(path, &Tensor::from_vec([60_000], vec![0.1; 60_000])?),
    |path| mtx::save(path, &sparse(60_000)?),
    |path| tns::save(path, &sparse(60_000)?),
    #[cfg(feature = "npz")]
    |path| npz::save(path, |archive| archive.add("a", Tensor::full([60_000], 0.1)?)),
    #[cfg(feature = "safetensors")]
    |path| {
        let mut writer = safetensors::Writer::new();
        writer.add("a", Tensor::full([60_000], 0.1)?)?;
        writer.save(path)
    },
];

fn sparse(count: usize) -> Result<Tensor<Sparse<f64>>> {
    let values = Sparse::from_sorted(count, 0.0, (0..count).collect(), vec![0.1; count])?;
    Tensor::new([1, count], values)
}

/// A directory with one file.
struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    const OLD: &[u8] = b"an old file";

    fn new() -> Self {
        let place = Self { dir: tempfile::tempdir().unwrap() };
        std::fs::write(place.file(), Self::OLD).unwrap();
        place
    }

    fn join(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn file(&self) -> PathBuf {
        self.join("t")
    }

    /// The names in the directory, in order.
    fn names(&self) -> Vec<OsString> {
        let entries = std::fs::read_dir(self.dir.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    }

    /// Nothing has happened here.
    #[track_caller]
    fn is_untouched(&self) {
        assert_eq!(std::fs::read(self.file()).unwrap(), Self::OLD);
        assert_eq!(self.names(), ["t"]);
    }
}

/// An error of the operating system that names a file.
#[track_caller]
fn names<T>(result: Result<T>, path: &Path) -> std::io::ErrorKind {
    match result.map(drop) {
        Err(Error::Io(error)) => {
            assert!(error.to_string().contains(&*path.to_string_lossy()), "{error}");
            error.kind()
        }
        other => panic!("{other:?}"),
    }
}
