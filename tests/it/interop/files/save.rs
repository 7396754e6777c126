//! Whatever happens while a file is saved, the old one stays until the new one is whole.

use super::{LARGE, Place, SMALL, names};
use lensor::interop::{mtx, npy, tns};
use lensor::{Error, Reader, StorageError, Tensor};
use std::fs;
use std::io::ErrorKind;
use std::panic::catch_unwind;
use std::path::Path;

/// More elements than are evaluated at once, so that the first are written before the last is read.
const COUNT: usize = 1_200_000;

/// Fails at its last element in some way.
struct Failing(fn(usize) -> StorageError);

impl Reader for Failing {
    type Elem = f64;

    fn len(&self) -> usize {
        COUNT
    }

    fn read(&self, _address: usize) -> f64 {
        0.5
    }

    fn try_read(&self, address: usize) -> Result<f64, StorageError> {
        if address + 1 < COUNT { Ok(0.5) } else { Err((self.0)(address)) }
    }
}

#[test]
fn arithmetic_that_fails_in_the_last_row() {
    let place = Place::new();
    let numbers = Tensor::full([COUNT / 600, 600], 6_i64).unwrap();
    let mut divisors = vec![3_i64; COUNT];
    divisors[COUNT - 1] = 0;
    let divisors = Tensor::from_vec([COUNT / 600, 600], divisors).unwrap();
    let error = npy::save(place.file(), &numbers / &divisors).unwrap_err();
    assert_eq!(error, Error::Arithmetic { index: vec![COUNT / 600 - 1, 599] });
    place.is_untouched();
}

#[test]
fn storage_that_fails() {
    let place = Place::new();
    let storage = Failing(|address| StorageError::new(address, "the disk is gone"));
    let error = npy::save(place.file(), Tensor::new([COUNT], storage).unwrap()).unwrap_err();
    let source = StorageError::new(COUNT - 1, "the disk is gone");
    assert_eq!(error, Error::Storage { index: Some(vec![COUNT - 1]), source });
    place.is_untouched();
}

#[test]
fn storage_that_panics() {
    let place = Place::new();
    let file = place.file();
    catch_unwind(move || {
        let storage = Failing(|_| panic!("storage of the test panics"));
        npy::save(file, Tensor::new([COUNT], storage).unwrap())
    })
    .unwrap_err();
    place.is_untouched();
}

#[test]
fn dense_tensors_in_sparse_files() {
    let place = Place::new();
    let dense = Tensor::from_vec([1, 1], vec![1.0]).unwrap();
    let refused = |what| Err(Error::NotSparse { what, argument: 1 });
    assert_eq!(mtx::save(place.file(), &dense), refused("a coordinate file"));
    assert_eq!(tns::save(place.file(), &dense), refused("a .tns file"));
    place.is_untouched();
}

#[test]
fn a_new_file_or_none() {
    for save in SMALL.iter().chain(LARGE) {
        let place = Place::new();
        save(&place.file()).unwrap();
        assert_ne!(fs::read(place.file()).unwrap(), Place::OLD);
        assert_eq!(place.names(), ["t"]);
        save(&place.join("u")).unwrap();
        assert_eq!(place.names(), ["t", "u"]);
        assert_eq!(fs::read(place.file()).unwrap(), fs::read(place.join("u")).unwrap());

        let missing = place.join("no such directory").join("t");
        assert_eq!(names(save(&missing), &missing), ErrorKind::NotFound);
        let below = place.file().join("t");
        assert_eq!(names(save(&below), &below), ErrorKind::NotADirectory);
        assert_eq!(names(save(place.dir.path()), place.dir.path()), ErrorKind::IsADirectory);
        save(Path::new("")).unwrap_err();
        assert_eq!(place.names(), ["t", "u"]);
    }
}

/// The directory of the process is that of the package while it is tested.
#[test]
fn a_name_without_a_directory() {
    let name = format!("saved by a test, process {}.npy", std::process::id());
    npy::save(&name, Tensor::from_vec([1], vec![7_u8]).unwrap()).unwrap();
    let saved = npy::open::<u8>(&name);
    fs::remove_file(&name).unwrap();
    assert_eq!(saved.unwrap().to_vec().unwrap(), [7]);
}

#[test]
fn a_directory_is_named_when_it_is_read() {
    let place = Place::new();
    let dir = place.dir.path();
    for kind in [
        names(npy::open::<f64>(dir), dir),
        names(npy::open_header(dir), dir),
        names(mtx::open::<f64>(dir), dir),
        names(mtx::open_header(dir), dir),
        names(tns::open::<f64>(dir), dir),
    ] {
        assert_eq!(kind, ErrorKind::IsADirectory);
    }
}

#[cfg(unix)]
mod unix {
    use super::*;
    use crate::support::test_name;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn permissions_are_kept() {
        for save in SMALL {
            for kept in [0o600, 0o644, 0o640, 0o666, 0o755] {
                let place = Place::new();
                fs::set_permissions(place.file(), fs::Permissions::from_mode(kept)).unwrap();
                save(&place.file()).unwrap();
                assert_eq!(mode(&place.file()), kept, "{kept:o}");
            }
            let place = Place::new();
            save(&place.join("u")).unwrap();
            // The test's own new file shows what the process gives by default.
            assert_eq!(mode(&place.join("u")), mode(&place.file()));
        }
    }

    /// Only the superuser may give files away, so others test nothing here.
    #[test]
    fn the_owner_is_kept() {
        let place = Place::new();
        if chown(place.file(), Some(1234), Some(4321)).is_ok() {
            SMALL[0](&place.file()).unwrap();
            let found = fs::metadata(place.file()).unwrap();
            assert_eq!((found.uid(), found.gid()), (1234, 4321));
        }
    }

    /// Who is not the owner may give away a file to a group of his own; to any other he grants no more than to all.
    /// Only the superuser can become somebody else, so others test nothing here.
    #[test]
    fn the_group_is_kept() {
        const PATH: &str = "TEST_GROUP";
        if let Some(path) = std::env::var_os(PATH) {
            return SMALL[0](Path::new(&path)).unwrap();
        }
        for (group, old, (found_group, found_mode)) in
            [(4321, 0o660, (4321, 0o660)), (999, 0o672, (77, 0o622))]
        {
            let place = Place::new();
            fs::set_permissions(place.file(), fs::Permissions::from_mode(old)).unwrap();
            // New files have the group of this directory.
            let given = chown(place.file(), Some(1234), Some(4321))
                .and_then(|()| chown(place.dir.path(), None, Some(77)));
            if given.is_err() {
                return;
            }
            fs::set_permissions(place.dir.path(), fs::Permissions::from_mode(0o2777)).unwrap();
            let saved = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", &test_name(module_path!(), "the_group_is_kept")])
                .env(PATH, place.file())
                .uid(1235)
                .gid(group)
                .output();
            // Somebody else may be kept from the program.
            let Ok(saved) = saved else { return };
            assert!(saved.status.success(), "{saved:?}");
            let found = fs::metadata(place.file()).unwrap();
            assert_eq!((found.uid(), found.gid()), (1235, found_group));
            assert_eq!(mode(&place.file()), found_mode, "{old:o}");
        }
    }

    /// Whoever may write the file may replace it, and nobody else, whoever owns the directory.
    #[test]
    fn what_must_not_be_written_is_not_replaced() {
        for save in SMALL {
            let place = Place::new();
            fs::set_permissions(place.file(), fs::Permissions::from_mode(0o444)).unwrap();
            if fs::File::options().write(true).open(place.file()).is_ok() {
                save(&place.file()).unwrap();
                assert_eq!(mode(&place.file()), 0o444);
            } else {
                let kind = names(save(&place.file()), &place.file());
                assert_eq!(kind, ErrorKind::PermissionDenied);
                place.is_untouched();
            }
        }
    }
}
