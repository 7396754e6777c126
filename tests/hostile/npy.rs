//! `.npy` files from strangers: an error for every one, no panic, no abort, bounded memory.
//!
//! Longer than 400 lines because it is one table of files; each test stands alone.

use lensor::dtype::{ByteOrder, DType, FileElement};
use lensor::interop::npy::{self, Header};
use lensor::{Error, Tensor};
use std::io::Read;

use crate::memory::{LIMIT, bounded};

/// Reads bytes in every way, from memory and from a file; all agree on the error.
fn refused<T: FileElement>(bytes: &[u8]) -> Error {
    let error =
        bounded(bytes.len(), || npy::read::<T>(bytes)).expect_err("a hostile file was read");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("hostile.npy");
    std::fs::write(&path, bytes).unwrap();
    let opened =
        bounded(bytes.len(), || npy::open::<T>(&path)).expect_err("a hostile file was opened");
    assert_eq!(opened, error);
    error
}

/// A file of a format version with any text and data.
fn file(version: u8, text: &str, data: &[u8]) -> Vec<u8> {
    let len = text.len() as u32;
    let len =
        if version == 1 { (len as u16).to_le_bytes().to_vec() } else { len.to_le_bytes().to_vec() };
    [b"\x93NUMPY", &[version, 0][..], &len, text.as_bytes(), data].concat()
}

fn described(descr: &str, shape: &str) -> String {
    format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n")
}

fn header(text: &str) -> Result<Header, Error> {
    let bytes = file(1, text, &[]);
    let parsed = bounded(bytes.len(), || Header::parse(&bytes));
    assert_eq!(parsed, Header::read(&bytes[..]));
    parsed
}

#[track_caller]
fn malformed(text: &str, position: usize, wanted: &str) {
    match header(text) {
        Err(Error::Header { offset, expected }) => {
            let shown = &text[..text.len().min(80)];
            assert_eq!((offset, expected), (10 + position, wanted), "{shown}");
        }
        other => panic!("{text}: {other:?}"),
    }
}

fn valid() -> Vec<u8> {
    let mut bytes = Vec::new();
    npy::write(&mut bytes, Tensor::from_vec([2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap())
        .unwrap();
    bytes
}

#[test]
fn a_header_that_claims_a_gibibyte() {
    let bytes = [b"\x93NUMPY\x02\x00", &(1_u32 << 30).to_le_bytes()[..], b"{}"].concat();
    assert_eq!(bytes.len(), 14);
    assert_eq!(refused::<f64>(&bytes), Error::HeaderTooLarge { claimed: 1 << 30, limit: 1 << 16 });
    let full = [b"\x93NUMPY\x03\x00", &u32::MAX.to_le_bytes()[..]].concat();
    let claimed = u64::from(u32::MAX);
    assert_eq!(refused::<f64>(&full), Error::HeaderTooLarge { claimed, limit: 1 << 16 });
}

#[test]
fn shapes_whose_product_wraps() {
    let max = usize::MAX;
    for shape in [
        vec![1 << 32, 1 << 32],
        vec![(1 << 63) + 2, 2],
        vec![0, max, max],
        vec![max],
        vec![max / 8],
        vec![1 << 62],
        vec![256; 8],
    ] {
        let text = described(
            "'<f8'",
            &format!("({},)", shape.iter().map(usize::to_string).collect::<Vec<_>>().join(",")),
        );
        assert_eq!(refused::<f64>(&file(1, &text, &[0; 8])), Error::ShapeOverflow { shape });
    }
}

#[test]
fn a_huge_empty_array_is_valid() {
    let text = described("'<f8'", "(0, 1099511627776)");
    let bytes = file(1, &text, &[]);
    let tensor = bounded(bytes.len(), || npy::read::<f64>(&bytes[..])).unwrap();
    assert_eq!(tensor.shape(), [0, 1 << 40]);
}

#[test]
fn eight_tebibytes_declared_eight_bytes_present() {
    let text = described("'<f8'", "(1099511627776,)");
    let bytes = file(1, &text, &[0; 8]);
    let start = (bytes.len() - 8) as u64;
    let expected = Error::Truncated { expected: start + (8 << 40), found: start + 8 };
    assert_eq!(refused::<f64>(&bytes), expected);
    assert_eq!(npy::from_bytes::<f64, _>(bytes).unwrap_err(), expected);
}

#[test]
fn memory_follows_what_a_stream_delivers() {
    for delivered in [0, 1, 7, 65_536, 65_537, 200_000, 1 << 20, 5_000_000] {
        let bytes = file(1, &described("'<i2'", "(1099511627776,)"), &[]);
        let stream = bytes.chain(std::io::repeat(1).take(delivered));
        let present = bytes.len() + delivered as usize;
        let error = bounded(present, || npy::read::<i16>(stream)).unwrap_err();
        let expected = bytes.len() as u64 + (2 << 40);
        assert_eq!(error, Error::Truncated { expected, found: present as u64 });
    }
}

#[test]
fn memory_of_a_complete_stream_is_twice_its_size_at_most() {
    for len in [1, 8192, 8193, 100_000, 500_000] {
        let bytes = file(1, &described("'<u8'", &format!("({len},)")), &vec![3; len * 8]);
        let tensor = bounded(bytes.len(), || npy::read::<u64>(&bytes[..])).unwrap();
        assert_eq!(tensor.shape(), [len]);
    }
}

#[test]
fn memory_that_cannot_be_had() {
    let bytes = file(1, &described("'<u8'", "(100000,)"), &[0; 800_000]);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("large.npy");
    std::fs::write(&path, &bytes).unwrap();
    LIMIT.set(100_000);
    let (read, opened) = (npy::read::<u64>(&bytes[..]), npy::open::<u64>(&path));
    LIMIT.set(usize::MAX);
    assert_eq!(read.unwrap_err(), Error::OutOfMemory { bytes: 131_072 });
    assert_eq!(opened.unwrap_err(), Error::OutOfMemory { bytes: 800_000 });
}

#[test]
fn every_prefix_of_a_file_is_truncated() {
    let later = |version| file(version, &described("'<f8'", "(1,)"), &[0; 8]);
    for (bytes, text_start) in [(valid(), 10), (later(2), 12), (later(3), 12)] {
        for found in 0..bytes.len() {
            match refused::<f64>(&bytes[..found]) {
                Error::Truncated { expected, found: reported } => {
                    assert_eq!(reported, found as u64);
                    assert!(expected > reported);
                    // The version is told by the seventh byte.
                    assert!(!(7..text_start).contains(&found) || expected == text_start as u64);
                }
                other => panic!("{found} bytes: {other}"),
            }
        }
        assert!(npy::read::<f64>(&bytes[..]).is_ok());
    }
}

/// A text of 64 KiB is the longest one.
#[test]
fn the_longest_header() {
    for (bytes, fits) in [(1 << 16, true), ((1 << 16) + 1, false)] {
        let mut text = described("'<f8'", "()");
        text += &" ".repeat(bytes - text.len());
        assert_eq!(Header::parse(&file(2, &text, &[])).is_ok(), fits);
    }
}

#[test]
fn bytes_after_the_data() {
    let mut bytes = valid();
    let expected = bytes.len() as u64;
    bytes.extend([0; 72]);
    let found = expected + 1;
    assert_eq!(npy::read::<f64>(&bytes[..]).unwrap_err(), Error::TrailingData { expected, found });
    let found = expected + 72;
    assert_eq!(
        npy::from_bytes::<f64, _>(&bytes).unwrap_err(),
        Error::TrailingData { expected, found }
    );
    let mut stream = &bytes[..];
    assert!(npy::read_next::<f64>(&mut stream).is_ok());
    assert_eq!(stream.len(), 72);
}

#[test]
fn a_bool_that_is_neither() {
    for (index, byte) in [(0, 2), (1, 255), (2, 128)] {
        let mut data = [0, 1, 1];
        data[index] = byte;
        let bytes = file(1, &described("'|b1'", "(3,)"), &data);
        assert_eq!(refused::<bool>(&bytes), Error::InvalidValue { index, byte });
    }
}

#[test]
fn every_mutation_of_one_byte_of_a_header() {
    let bytes = valid();
    let header_bytes = Header::parse(&bytes).unwrap().data_offset();
    for position in 0..header_bytes {
        for byte in 0..=255 {
            let mut mutant = bytes.clone();
            mutant[position] = byte;
            let read = bounded(mutant.len(), || npy::read::<f64>(&mutant[..]));
            let in_place = bounded(mutant.len(), || npy::from_bytes::<f64, _>(&mutant));
            assert_eq!(read.is_ok(), in_place.is_ok());
        }
    }
}

#[test]
fn deep_nesting_on_a_small_stack() {
    let deep = |open: &str, close: &str| [open.repeat(20_000), close.repeat(20_000)].concat();
    let texts = [
        deep("(", ")"),
        deep("[", ""),
        deep("{", "}"),
        "{'descr':".repeat(7_000),
        described(&deep("[", "]"), "(3,)"),
        described(&deep("[(", ""), "(3,)"),
        described("'<f8'", &deep("(", ")")),
        described("'<f8'", &deep("(", "")),
    ];
    let run = move || {
        for text in texts {
            for version in [1, 2, 3] {
                let bytes = file(version, &text, &[]);
                let error = bounded(bytes.len(), || Header::parse(&bytes)).unwrap_err();
                assert!(
                    matches!(error, Error::Header { .. } | Error::ElementType { .. }),
                    "{error}"
                );
            }
        }
    };
    std::thread::Builder::new().stack_size(256 << 10).spawn(run).unwrap().join().unwrap();
}

#[test]
fn endless_tokens() {
    let extent = described("'<f8'", "(").find('(').unwrap() + 1;
    let too_large = "an extent that fits in usize";
    malformed(&described("'<f8'", &format!("({},)", "9".repeat(60_000))), extent, too_large);
    malformed(&described("'<f8'", &format!("({}", ",".repeat(60_000))), extent, too_large);
    malformed(&described(&format!("'{}'", "f".repeat(60_000)), "()"), 267, "a closing quote");
    malformed(&format!("{{'{}': 1}}", "k".repeat(60_000)), 258, "a closing quote");
    malformed(&format!("{{'fortran_order': {}}}", "T".repeat(60_000)), 18, "True or False");
    malformed(&format!("{{{}", " ".repeat(60_000)), 60_001, "a string");
    let ones = described("'<f8'", &format!("({})", "1,".repeat(30_000)));
    assert_eq!(header(&ones).map(drop), Err(Error::RankLimit { rank: 30_000, limit: 64 }));
}

#[test]
fn malformed_texts() {
    let keys = "'descr', 'fortran_order' and 'shape', once each";
    malformed("", 0, "'{'");
    malformed("[]", 0, "'{'");
    malformed("{}", 2, "a value for 'descr'");
    malformed("{'descr': '<f8', 'fortran_order': False}", 40, "a value for 'shape'");
    malformed("{'descr': '<f8', 'shape': ()}", 29, "a value for 'fortran_order'");
    malformed("{'descr': '<f8', 'descr': '<f8'}", 17, keys);
    malformed("{'fortran_order': True, 'fortran_order': True}", 24, keys);
    malformed("{'shape': (), 'shape': ()}", 14, keys);
    malformed("{'descr': '<f8', 'strides': (8,)}", 17, keys);
    malformed("{'descr' '<f8'}", 9, "':'");
    malformed("{'descr': '<f8' 'shape': ()}", 16, "',' or '}'");
    malformed("{'descr': '<f8", 14, "a closing quote");
    malformed(r"{'descr': '<\x668'}", 12, "a closing quote");
    malformed("{'descr': <f8}", 10, "a string");
    malformed("{'descr': [", 11, "a closing bracket");
    malformed("{'fortran_order': 0}", 18, "True or False");
    malformed("{'fortran_order': Falsey}", 18, "True or False");
    malformed("{'shape': 3}", 10, "'('");
    malformed("{'shape': [3]}", 10, "'('");
    malformed("{'shape': (3)}", 12, "','");
    malformed("{'shape': (3 4)}", 13, "','");
    malformed("{'shape': (3, 4 5)}", 16, "',' or ')'");
    malformed("{'shape': (-3,)}", 11, "an extent that fits in usize");
    malformed("{'shape': (3.0,)}", 12, "','");
    malformed("{'shape': (18446744073709551616,)}", 11, "an extent that fits in usize");
    let end = described("'<f8'", "()").trim_end().len();
    malformed(
        &described("'<f8'", "()").replace('\n', " x"),
        end + 1,
        "white space up to the end of the header",
    );
    malformed(
        &described("'<f8'", "()").replace('\n', "\0"),
        end,
        "white space up to the end of the header",
    );
}

#[test]
fn a_header_leaves_room_for_its_outermost_extent_to_grow() {
    for rank in 2..30 {
        for fortran in [false, true] {
            let bytes = |digits: u32| {
                let mut shape = vec![1; rank];
                shape[if fortran { rank - 1 } else { 0 }] = 10_usize.pow(digits - 1);
                Header::new(DType::U8, ByteOrder::NATIVE, fortran, shape).unwrap().data_offset()
            };
            // Ten digits are what any `isize` has.
            assert!(
                (1..10).all(|digits| bytes(digits) == bytes(1) && bytes(1) % 64 == 0),
                "{rank}"
            );
        }
    }
}

#[test]
fn what_numpy_tolerates() {
    for text in [
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }  \n",
        "{'shape':(3,4),'fortran_order':False,'descr':'<f8'}",
        " \t{ \"descr\" :\n'<f8' ,\r\n 'fortran_order' : False , \"shape\" : ( 3 , 4 , ) , } ",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3L, 4L)}",
    ] {
        let header = header(text).unwrap();
        assert_eq!((header.dtype(), header.shape()), (DType::F64, &[3, 4][..].into()), "{text}");
    }
    for (shape, expected) in [("()", &[][..]), ("(3L,)", &[3]), ("(0,)", &[0]), ("( 7 , )", &[7])] {
        assert_eq!(header(&described("'<f8'", shape)).unwrap().shape(), expected);
    }
    for (descr, dtype) in [("'=i4'", DType::I32), ("'<b1'", DType::Bool), ("'>u1'", DType::U8)] {
        assert_eq!(header(&described(descr, "()")).unwrap().dtype(), dtype);
    }
}

#[test]
fn types_that_are_no_elements() {
    for descr in [
        "<f3", "<f", "f8", "<f08", "<f+8", "|f8", "<i16", "<M8[ns]", "|S5", "|V8", "", "<", "é8",
        "<é",
    ] {
        match header(&described(&format!("'{descr}'"), "()")) {
            Err(Error::ElementType { found, .. }) => assert_eq!(found, descr),
            other => panic!("{descr}: {other:?}"),
        }
    }
    match header(&described("('<f8', (2,))", "()")) {
        Err(Error::ElementType { found, .. }) => assert_eq!(found, "('<f8', (2,))"),
        other => panic!("{other:?}"),
    }
    // Of a long one the beginning is shown.
    let long = format!("[{}]", "('x', '<f8'), ".repeat(100));
    match header(&described(&long, "()")) {
        Err(Error::ElementType { found, .. }) => assert_eq!(found, long[..64]),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_no_npy_file() {
    for (bytes, offset) in [
        (&b"PK\x03\x04"[..], 0),
        (b"\x93NUMPZ\x01\x00", 5),
        (b"\x93NUMPY\x04\x00", 6),
        (b"\x93NUMPY\x00", 6),
        (b"\x93NUMPY\x01\x01..", 7),
    ] {
        match refused::<f64>(bytes) {
            Error::Header { offset: found, .. } => assert_eq!(found, offset),
            other => panic!("{other}"),
        }
    }
}

/// Reports more bytes than there was room for.
struct Liar;

impl Read for Liar {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let valid = valid();
        let len = buffer.len().min(valid.len());
        buffer[..len].copy_from_slice(&valid[..len]);
        Ok(usize::MAX)
    }
}

/// Delivers a byte at a time, with interruptions, and then fails.
struct Faltering(Vec<u8>, usize, bool);

impl Read for Faltering {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.2 = !self.2;
        if self.2 {
            return Err(std::io::ErrorKind::Interrupted.into());
        }
        let Some(&byte) = self.0.get(self.1) else {
            return Err(std::io::ErrorKind::ConnectionReset.into());
        };
        buffer[0] = byte;
        self.1 += 1;
        Ok(1)
    }
}

#[test]
fn streams_that_lie_falter_or_fail() {
    assert!(npy::read::<f64>(Liar).is_err());
    let bytes = valid();
    let next = npy::read_next::<f64>(Faltering(bytes.clone(), 0, false)).unwrap();
    assert_eq!(next.to_vec().unwrap(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    for end in [0, 5, 11, 60, 130, bytes.len()] {
        match npy::read::<f64>(Faltering(bytes[..end].to_vec(), 0, true)) {
            Err(Error::Io(error)) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset),
            other => panic!("{other:?}"),
        }
    }
}
