//! The photograph and where it lies: paths, mapping, and any kind of image as [height, width, 3].

use lensor::interop::npy;
use lensor::prelude::*;
use lensor::storage::Mapped;
use std::path::{Path, PathBuf};

/// Files to read and write.
pub(crate) struct Paths {
    pub(crate) photo: PathBuf,
    pub(crate) sheet: PathBuf,
    pub(crate) normalised: PathBuf,
    /// Whether `photo` is the one that comes with the library.
    pub(crate) is_shipped: bool,
}

impl Paths {
    /// The paths on the command line, in this order, and what they default to.
    pub(crate) fn from_args() -> Result<Self, String> {
        let mut args = std::env::args_os().skip(1).map(PathBuf::from);
        let (photo, sheet, normalised) = (args.next(), args.next(), args.next());
        if args.next().is_some() {
            return Err("expected at most three paths: photo.npy sheet.png normalised.npy".into());
        }
        let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/data/astronaut.npy");
        let temporary = |name| std::env::temp_dir().join(name);
        let paths = Self {
            is_shipped: photo.is_none(),
            photo: photo.unwrap_or_else(|| shipped.into()),
            sheet: sheet.unwrap_or_else(|| temporary("lensor-photo-sheet.png")),
            normalised: normalised.unwrap_or_else(|| temporary("lensor-photo-normalised.npy")),
        };
        paths.check_distinct()?;
        Ok(paths)
    }

    /// Writing over the mapped file would change it under the map, or cut it off.
    fn check_distinct(&self) -> Result<(), String> {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.into());
        let [photo, sheet, normalised] =
            [&self.photo, &self.sheet, &self.normalised].map(|path| real(path));
        for written in [&sheet, &normalised] {
            if *written == photo {
                return Err(format!("{}: would overwrite the photo", written.display()));
            }
        }
        if sheet == normalised {
            return Err(format!("{}: named for both results", sheet.display()));
        }
        Ok(())
    }
}

/// Maps an array of bytes.
#[allow(unsafe_code, reason = "maps a file")]
pub(crate) fn map(path: &Path) -> Result<Tensor<Mapped<u8>>, Error> {
    // SAFETY: whoever names a photo to this program does not change it while the program runs; the
    // program itself writes to other files only, see `check_distinct`.
    unsafe { npy::map::<u8>(path) }
}

/// Any image as [height, width, 3]: grey is repeated, transparency left out. A view.
pub(crate) fn rgb<S: Reader<Elem = u8>>(image: &Tensor<S>) -> Result<Tensor<&S>, String> {
    let shape = image.shape();
    if image.is_empty() {
        return Err(format!("an image of shape {shape:?} has no pixels"));
    }
    let view = image.view();
    let seen = match *shape.extents() {
        [height, width] => view.reshape([height, width, 1]),
        [_, _, 1 | 3] => Ok(view),
        [_, _, 4] => view.select((.., .., ..3)),
        _ => {
            return Err(format!(
                "shape {shape:?} is no image: expected [height, width] or [height, width, 1, 3 or 4]"
            ));
        }
    };
    let full = |view: Tensor<_>| view.broadcast([shape[0], shape[1], 3]);
    seen.and_then(full).map_err(|error| error.to_string())
}
