//! Symbolic links are followed, and what is no regular file is written as it is.
#![cfg(unix)]

use super::{LARGE, Place, SMALL, names};
use lensor::Tensor;
use lensor::interop::npy;
use std::fs;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{FileTypeExt, symlink};
use std::path::Path;
use std::process::Command;

fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).unwrap().is_symlink()
}

#[test]
fn a_link_stays_and_its_target_is_replaced() {
    for save in SMALL {
        let place = Place::new();
        fs::create_dir(place.join("below")).unwrap();
        symlink("../t", place.join("below/first")).unwrap();
        symlink(place.join("below/first"), place.join("second")).unwrap();
        save(&place.join("second")).unwrap();
        assert!(is_link(&place.join("second")) && is_link(&place.join("below/first")));
        assert!(!is_link(&place.file()));
        assert_ne!(fs::read(place.file()).unwrap(), Place::OLD);
        assert_eq!(place.names(), ["below", "second", "t"]);
        assert_eq!(fs::read_dir(place.join("below")).unwrap().count(), 1);
    }
}

#[test]
fn the_target_of_a_dangling_link_is_made() {
    for save in SMALL {
        let place = Place::new();
        fs::create_dir(place.join("below")).unwrap();
        symlink("below/new", place.join("link")).unwrap();
        save(&place.join("link")).unwrap();
        assert!(is_link(&place.join("link")) && !is_link(&place.join("below/new")));
        assert_eq!(fs::read(place.file()).unwrap(), Place::OLD);

        symlink("nowhere/new", place.join("lost")).unwrap();
        assert_eq!(names(save(&place.join("lost")), &place.join("lost")), ErrorKind::NotFound);
        assert_eq!(place.names(), ["below", "link", "lost", "t"]);
    }
}

#[test]
fn links_in_a_circle_are_an_error() {
    for save in SMALL {
        let place = Place::new();
        symlink("b", place.join("a")).unwrap();
        symlink("a", place.join("b")).unwrap();
        names(save(&place.join("a")), &place.join("a"));
        assert!(is_link(&place.join("a")) && is_link(&place.join("b")));
        assert_eq!(place.names(), ["a", "b", "t"]);
    }
}

#[test]
fn devices_stay_devices() {
    for save in LARGE {
        save(Path::new("/dev/null")).unwrap();
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
        if cfg!(target_os = "linux") {
            let place = Place::new();
            symlink("/dev/full", place.join("full")).unwrap();
            let kind = names(save(&place.join("full")), &place.join("full"));
            assert_eq!(kind, ErrorKind::StorageFull);
            assert!(fs::metadata("/dev/full").unwrap().file_type().is_char_device());
            assert_eq!(place.names(), ["full", "t"]);
        }
    }
}

#[test]
fn pipes_are_written_as_they_are() {
    let place = Place::new();
    let made = Command::new("mkfifo").arg(place.join("pipe")).status();
    if !made.is_ok_and(|status| status.success()) {
        return;
    }
    for save in SMALL {
        let path = place.join("pipe");
        let reader = std::thread::spawn(move || {
            let mut found = Vec::new();
            fs::File::open(path).unwrap().read_to_end(&mut found).unwrap();
            found
        });
        save(&place.join("pipe")).unwrap();
        save(&place.file()).unwrap();
        assert_eq!(reader.join().unwrap(), fs::read(place.file()).unwrap());
        assert_eq!(place.names(), ["pipe", "t"]);
    }
}

/// A descriptor is the file that is open, not one of the same name.
#[test]
fn descriptors_are_the_files_that_are_open() {
    let mut open = tempfile::tempfile().unwrap();
    let name = format!("/dev/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&open));
    if cfg!(target_os = "linux") {
        npy::save(name, Tensor::from_vec([2], vec![1_u8, 2]).unwrap()).unwrap();
        assert_eq!(npy::read::<u8>(&mut open).unwrap().to_vec().unwrap(), [1, 2]);
    }
}
