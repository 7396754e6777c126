//! Files by their names, which errors tell: read, and replaced as a whole.

use crate::error::{Error, Result};
use std::cmp::Ordering;
use std::fs::{self, File, Metadata, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};

/// Where Linux and others keep links to open files.
const OPEN_FILES: [&str; 2] = ["/proc", "/dev/fd"];
/// Links that are followed, as many as Linux does.
const LINKS: usize = 40;
/// Names that are tried for a new file.
const NAMES: usize = 8;

/// Opens a file and reads it.
pub(super) fn open<T>(path: &Path, read: impl FnOnce(&File) -> Result<T>) -> Result<T> {
    open_with(File::options().read(true), path, read)
}

/// Opens a file in a way of its own; otherwise as [`open`] does.
pub(super) fn open_with<T>(
    options: &OpenOptions,
    path: &Path,
    read: impl FnOnce(&File) -> Result<T>,
) -> Result<T> {
    let opened = options.open(path).map_err(Error::from);
    let file = opened.map_err(|error| named("open", path, error))?;
    let is_directory = file.metadata().is_ok_and(|found| found.is_dir());
    let result = match is_directory {
        true => Err(io::Error::from(io::ErrorKind::IsADirectory).into()),
        false => read(&file),
    };
    result.map_err(|error| named("read", path, error))
}

/// Checks that a file of `found` bytes ends where its data does.
pub(super) fn check_end(found: u64, expected: u64) -> Result<()> {
    match found.cmp(&expected) {
        Ordering::Less => Err(Error::Truncated { expected, found }),
        Ordering::Equal => Ok(()),
        Ordering::Greater => Err(Error::TrailingData { expected, found }),
    }
}

/// Writes a file as [`replace`] does. What is no regular file, such as a pipe or a terminal, has no place to take
/// and is written as it is.
pub(super) fn save(path: &Path, write: impl FnOnce(&File) -> Result<()>) -> Result<()> {
    save_in(path, true, write)
}

/// As [`save`], with the folder brought to disk or not: if not, and the system stops, the old file may be there.
pub(super) fn save_in(
    path: &Path,
    folder: bool,
    write: impl FnOnce(&File) -> Result<()>,
) -> Result<()> {
    replace(path, folder, || File::create(path), write)
}

/// Makes a file that takes the place of one of the same name once it is whole: until then, and if there is an
/// error or a panic, the old one stays as it is and nothing else stays. Its folder is brought to disk or not. `other`
/// opens what is no regular file.
///
/// A symbolic link goes on leading to the file. Maps of the old file keep what they show.
pub(super) fn replace<T>(
    path: &Path,
    folder: bool,
    other: impl FnOnce() -> io::Result<File>,
    make: impl FnOnce(&File) -> Result<T>,
) -> Result<T> {
    let made = match Place::of(path) {
        Ok(Some(place)) => place.put(make, folder),
        Ok(None) => other().map_err(Error::from).and_then(|file| make(&file)),
        Err(error) => Err(error.into()),
    };
    made.map_err(|error| named("write", path, error))
}

/// An error that names the file, if it is one of the operating system.
fn named(verb: &str, path: &Path, error: Error) -> Error {
    match error {
        Error::Io(error) => {
            let text = format!("cannot {verb} {}: {error}", path.display());
            io::Error::new(error.kind(), text).into()
        }
        other => other,
    }
}

/// Where a regular file is or can be.
struct Place {
    /// No link.
    path: PathBuf,
    old: Option<Metadata>,
}

impl Place {
    /// The place that a name leads to; `None` if something else is there.
    fn of(name: &Path) -> io::Result<Option<Self>> {
        let old = match fs::metadata(name) {
            Ok(found) if !found.is_file() => return Ok(None),
            Ok(found) => Some(found),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let mut path = std::path::absolute(name)?;
        for _ in 0..LINKS {
            // These links lead to a file that is open, whatever has its name by now.
            if OPEN_FILES.iter().any(|folder| path.starts_with(folder)) {
                return Ok(None);
            }
            let Ok(link) = fs::read_link(&path) else {
                return Ok(Some(Self { path, old }));
            };
            path.set_file_name(link);
        }
        Err(io::Error::other("too many levels of symbolic links"))
    }

    /// Makes a file beside this place and moves it here, with the folder brought to disk or not.
    fn put<T>(self, make: impl FnOnce(&File) -> Result<T>, folder: bool) -> Result<T> {
        if self.old.is_some() {
            // Whoever must not write a file must not replace it either.
            File::options().write(true).open(&self.path)?;
        }
        let (mut unfinished, file) = self.beside()?;
        if let Some(old) = &self.old {
            take_over(&file, old)?;
        }
        let made = make(&file)?;
        file.sync_all()?;
        drop(file);
        fs::rename(&unfinished.0, &self.path)?;
        unfinished.0.clear();
        // The new file is here by now, so whether the system can sync directories is told to nobody.
        #[cfg(unix)]
        let _ = self.path.parent().filter(|_| folder).map(|folder| File::open(folder)?.sync_all());
        #[cfg(not(unix))]
        let _ = folder;
        Ok(made)
    }

    /// A new file in the same directory, with a name that nobody can guess and prepare.
    ///
    /// `tempfile` makes such files too. It would add nine crates to what every user builds, and leave links,
    /// permissions and syncing to us.
    fn beside(&self) -> io::Result<(Unfinished, File)> {
        let mut options = File::options();
        options.read(true).write(true).create_new(true);
        // Nobody reads what the old file may hide before its permissions are taken over.
        #[cfg(unix)]
        if self.old.is_some() {
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        let attempt = || {
            // Hashes are seeded by the operating system.
            let name = format!(".{:016x}.tmp", RandomState::new().hash_one(()));
            let path = self.path.with_file_name(name);
            options.open(&path).map(|file| (Unfinished(path), file))
        };
        let mut made = attempt();
        for _ in 1..NAMES {
            if made.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::AlreadyExists) {
                made = attempt();
            }
        }
        made
    }
}

/// Gives a file the permissions of another one, and its owner and group where that is allowed.
fn take_over(file: &File, old: &Metadata) -> io::Result<()> {
    let permissions = old.permissions();
    #[cfg(unix)]
    let permissions = {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
        let (mode, group) = (old.mode(), Some(old.gid()));
        match fchown(file, Some(old.uid()), group).or_else(|_| fchown(file, None, group)) {
            Ok(()) => permissions,
            // Another group may do what all may.
            Err(_) => PermissionsExt::from_mode(mode & (!0o070 | mode << 3)),
        }
    };
    file.set_permissions(permissions)
}

/// The name of a file that is removed, unless it was moved and the name is empty.
struct Unfinished(PathBuf);

impl Drop for Unfinished {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
