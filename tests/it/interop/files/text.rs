//! Text of strangers in messages: nothing a terminal obeys, and not at any length.

use super::Place;
use lensor::interop::npy::{self, Header};
use lensor::interop::{mtx, tns};
use lensor::{Error, Reader, Result, StorageError, Tensor};
use std::fmt;

/// What a terminal obeys: colours, titles, lines, directions, and what is not seen.
const HOSTILE: &str = "a\u{1b}[31m\u{7}\n\r\t\u{8}\u{9b}\u{7f}\u{200b}\u{200e}\u{200f}\u{202a}\u{202e}\u{2028}\u{2029}\u{2066}\u{2069}\u{feff}\u{ad}\u{e0041}z";

/// Neither way to print an error obeys what stands in it.
#[track_caller]
fn is_harmless(error: &Error) -> String {
    for text in [error.to_string(), format!("{error:?}")] {
        let obeyed: Vec<char> =
            text.chars().filter(|&c| HOSTILE[1..].contains(c) && !c.is_ascii_graphic()).collect();
        assert!(obeyed.is_empty(), "{text:?}: {obeyed:?}");
    }
    error.to_string()
}

fn described(descr: &str) -> Vec<u8> {
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (), }}\n");
    [b"\x93NUMPY\x01\0", &(text.len() as u16).to_le_bytes()[..], text.as_bytes()].concat()
}

#[test]
fn types_of_arrays() {
    let text = is_harmless(&Header::parse(&described(HOSTILE)).unwrap_err());
    assert!(
        text.contains("found a\\u{1b}[31m\\u{7}\\n\\r\\t\\u{8}\\u{9b}\\u{7f}\\u{200b}"),
        "{text}"
    );
    let structured = format!("[('{HOSTILE}', '<f8')]");
    let structured = described("").into_iter().take(10).chain(
        format!("{{'descr': {structured}, 'fortran_order': False, 'shape': (), }}\n").into_bytes(),
    );
    let mut structured: Vec<u8> = structured.collect();
    let len = (structured.len() - 10) as u16;
    structured[8..10].copy_from_slice(&len.to_le_bytes());
    is_harmless(&npy::read::<f64>(&structured[..]).unwrap_err());
    // What is harmless stays as it is.
    let text = is_harmless(&Header::parse(&described("<é8 \"[ns]")).unwrap_err());
    assert!(text.ends_with("found <é8 \"[ns]"), "{text}");
}

#[test]
fn words_of_text_files() {
    let file = format!("1 {HOSTILE}\n");
    is_harmless(&tns::read::<f64>(file.as_bytes()).unwrap_err());
    is_harmless(&mtx::read::<f64>(file.as_bytes()).unwrap_err());
}

#[test]
fn names_of_files() {
    let place = Place::new();
    let name = place.join(HOSTILE);
    let dense = Tensor::from_vec([1], vec![1.0]).unwrap();
    for error in [
        npy::open::<f64>(&name).map(drop).unwrap_err(),
        npy::open_header(&name).map(drop).unwrap_err(),
        mtx::open::<f64>(&name).map(drop).unwrap_err(),
        tns::open::<f64>(&name).map(drop).unwrap_err(),
        npy::save(name.join("t"), &dense).unwrap_err(),
    ] {
        let text = is_harmless(&error);
        assert!(text.contains("a\\u{1b}[31m"), "{text}");
    }
    let long = is_harmless(&npy::open::<f64>(place.join(&"name".repeat(10_000))).unwrap_err());
    assert!(long.starts_with("cannot open ") && long.chars().count() < 2000, "{long}");
    assert!(long.contains(" .. "), "{long}");
}

/// Storage whose error is printed in lines, as those with a backtrace are, or cannot be printed.
#[derive(Clone, Copy)]
struct Foreign(bool);

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HOSTILE)?;
        if self.0 { Ok(()) } else { Err(fmt::Error) }
    }
}

impl fmt::Debug for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Foreign {}

impl Reader for Foreign {
    type Elem = f64;

    fn len(&self) -> usize {
        1
    }

    fn read(&self, _address: usize) -> f64 {
        0.0
    }

    fn try_read(&self, address: usize) -> Result<f64, StorageError> {
        Err(StorageError::new(address, *self))
    }
}

#[test]
fn errors_of_storage() {
    for printable in [true, false] {
        let error = Tensor::new([1], Foreign(printable)).unwrap().to_vec().unwrap_err();
        let text = is_harmless(&error);
        assert!(text.starts_with("storage failed at address 0: a\\u{1b}[31m"), "{text}");
        let Error::Storage { source, .. } = &error else { panic!("{error}") };
        is_harmless(&Error::from(source.clone()));
        assert_eq!(error, error.clone());
        is_harmless(&Error::from(std::io::Error::other(Foreign(printable))));
    }
    let long = StorageError::new(3, "long".repeat(100_000));
    assert!(Error::from(long.clone()).to_string().len() < 2000);
    assert!(format!("{long:?}").len() < 2000);
}

/// Elements of one's own may print anything.
#[test]
fn values_that_do_not_fit() {
    let error = Error::Cast { index: vec![0], value: HOSTILE.into(), target: "u8" };
    is_harmless(&error);
    let number = || HOSTILE.to_owned();
    is_harmless(&Error::Range { start: number(), stop: number(), step: number(), what: "" });
}
