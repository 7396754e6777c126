//! Mapped files are replaced without a change to what is mapped.
#![allow(unsafe_code, reason = "maps files in directories of its own")]

use super::{Place, names};
use lensor::interop::npy;
use lensor::prelude::*;
use std::fs;
use std::path::Path;

#[test]
fn a_map_outlives_the_file_it_was_made_of() {
    let place = Place::new();
    let numbers: Vec<f64> = (0..100_000).map(f64::from).collect();
    npy::save(place.file(), Tensor::from_vec([100_000], numbers.clone()).unwrap()).unwrap();
    // SAFETY: the file is in a directory of the test, and replaced as a whole.
    let mapped = unsafe { npy::map::<f64>(place.file()) }.unwrap();
    npy::save(place.file(), mapped.view() * 2.0).unwrap();
    assert_eq!(mapped.to_vec().unwrap(), numbers);
    let doubled = npy::open::<f64>(place.file()).unwrap();
    assert!(doubled.to_vec().unwrap().iter().zip(&numbers).all(|(a, b)| *a == b * 2.0));

    // SAFETY: as above.
    let zeros = unsafe { npy::create_mut::<f64>(place.file(), [10]) }.unwrap();
    assert_eq!(mapped.to_vec().unwrap(), numbers);
    assert_eq!(zeros.to_vec().unwrap(), [0.0; 10]);
    assert_eq!(place.names(), ["t"]);
}

#[test]
fn a_file_that_cannot_be_mapped_is_not_made() {
    let place = Place::new();
    // SAFETY: nothing is mapped, or a file of the test's own.
    let create = |path: &Path, len| unsafe { npy::create_mut::<u8>(path, [len]) };
    let too_long = isize::MAX as usize / 2;
    names(create(&place.file(), too_long), &place.file());
    place.is_untouched();
    names(create(&place.join("u"), too_long), &place.join("u"));
    place.is_untouched();
    names(create(place.dir.path(), 1), place.dir.path());
    place.is_untouched();
    create(&place.join("u"), 3).unwrap();
    assert_eq!(place.names(), ["t", "u"]);
}

#[test]
#[cfg(target_os = "linux")]
fn devices_cannot_be_mapped() {
    let null = Path::new("/dev/null");
    // SAFETY: nothing is mapped.
    let created = unsafe { npy::create_mut::<u8>(null, [3]) };
    names(created, null);
    assert!(!fs::metadata(null).unwrap().is_file());
}

#[test]
fn a_directory_is_named_when_it_is_mapped() {
    let place = Place::new();
    let dir = place.dir.path();
    // SAFETY: nothing is mapped.
    let (map, map_mut) = unsafe { (npy::map::<u8>(dir), npy::map_mut::<u8>(dir)) };
    for kind in [names(map, dir), names(map_mut, dir)] {
        assert_eq!(kind, std::io::ErrorKind::IsADirectory);
    }
}
