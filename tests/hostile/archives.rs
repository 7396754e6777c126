//! Archives and files of tensors from strangers: whatever is changed, an error or the arrays, in bounded memory.

use crate::memory::bounded;
use lensor::interop::npz::{self, Writer};
use lensor::interop::safetensors;
use lensor::storage::Sparse;
use lensor::{Error, Tensor};
use std::io::{Cursor, Write};

/// Reads everything that an archive lists, in every way.
fn read_npz(bytes: &[u8]) -> Result<usize, Error> {
    bounded(bytes.len(), || {
        let mut archive = npz::Archive::new(Cursor::new(bytes))?;
        let names: Vec<String> = archive.entries().iter().map(|e| e.name().to_string()).collect();
        for name in &names {
            let read = archive.read::<f64>(name);
            if let (Ok(read), Ok(lies)) = (read, archive.tensor::<f64>(name)) {
                assert_eq!(read.shape(), lies.shape());
                lies.to_vec()?;
            }
        }
        let _ = archive.read_sparse::<f64>();
        Ok(names.len())
    })
}

fn read_safetensors(bytes: &[u8]) -> Result<usize, Error> {
    bounded(bytes.len(), || {
        let mut archive = safetensors::Archive::new(Cursor::new(bytes))?;
        let names: Vec<String> = archive.entries().iter().map(|e| e.name().to_string()).collect();
        for name in &names {
            let (read, lies) = (archive.read::<f64>(name), archive.tensor::<f64>(name));
            if let (Ok(read), Ok(lies)) = (read, lies) {
                assert_eq!(read.shape(), lies.shape());
            }
            archive.bytes(name)?.to_vec()?;
        }
        Ok(names.len())
    })
}

fn npz(deflated: bool) -> Vec<u8> {
    let mut writer = Writer::new(Cursor::new(Vec::new()));
    if deflated {
        writer = writer.deflated();
    }
    writer.add("a", Tensor::from(vec![1.0, 2.0, 3.0])).unwrap();
    let storage = Sparse::from_sorted(6, 0.0, vec![1, 5], vec![1.0, 2.0]).unwrap();
    writer.add_sparse(&Tensor::new([2, 3], storage).unwrap()).unwrap();
    writer.finish().unwrap().into_inner()
}

fn safetensors() -> Vec<u8> {
    let mut writer = safetensors::Writer::new();
    writer.add("a", Tensor::from(vec![1.0, 2.0, 3.0])).unwrap();
    writer.add("b", Tensor::from(vec![1_u8, 2])).unwrap();
    writer.note("key", "text");
    let mut file = Vec::new();
    writer.write(&mut file).unwrap();
    file
}

/// Every byte is changed, in a few ways, and every end is cut off.
fn changed(good: &[u8], read: fn(&[u8]) -> Result<usize, Error>) {
    assert!(read(good).unwrap() > 0);
    let mut refused = 0;
    for at in 0..good.len() {
        assert!(read(&good[..at]).is_err(), "{at}");
        for change in [1, 0x80, 0xff] {
            let mut bytes = good.to_vec();
            bytes[at] ^= change;
            refused += usize::from(read(&bytes).is_err());
        }
    }
    assert!(refused > good.len() / 20, "{refused} of {}", good.len());
}

#[test]
fn claims_of_an_archive_end_at_its_length() {
    // Zeros, the first header of a directory, and an end that claims as many entries as it can.
    let mut bytes = vec![0; 70_000];
    bytes.extend(*b"PK\x01\x02");
    bytes.resize(bytes.len() + 60, 0);
    bytes.extend(*b"PK\x05\x06\0\0\0\0\xfe\xff\xfe\xff\xf0\xff\xff\x00\x10\0\0\0\0\0");
    let error = read_npz(&bytes).unwrap_err().to_string();
    assert!(error.ends_with("it claims more entries than there is room for"), "{error}");
    // In 64 bits: a record, where it lies, and the end.
    let mut bytes = b"PK\x06\x06\x2c".to_vec();
    bytes.extend([0; 19]);
    bytes.extend([0xff; 16]);
    bytes.extend([0; 16]);
    bytes.extend(*b"PK\x06\x07");
    bytes.extend([0; 16]);
    bytes.extend(*b"PK\x05\x06\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0");
    let error = read_npz(&bytes).unwrap_err().to_string();
    assert!(error.ends_with("it claims more entries than there is room for"), "{error}");
}

#[test]
fn any_change_is_an_error_or_an_array() {
    changed(&npz(false), read_npz);
    changed(&npz(true), read_npz);
    changed(&safetensors(), read_safetensors);
}

/// An entry of an archive, as its two headers describe it.
struct Entry {
    name: String,
    data: Vec<u8>,
    method: u16,
    flags: u16,
    /// Sizes as they are told, packed and not.
    sizes: [u32; 2],
    /// Where its header is said to be, if not where it is.
    at: Option<u32>,
    /// Bytes of extra fields and of a comment in the directory.
    more: [u16; 2],
}

impl Entry {
    fn of(name: &str, data: Vec<u8>) -> Self {
        let (name, size) = (name.to_string(), data.len() as u32);
        Self { name, data, method: 0, flags: 0, sizes: [size, size], at: None, more: [0, 0] }
    }
}

/// CRC-32, bit by bit.
fn crc(data: &[u8]) -> u32 {
    let step = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
    !data.iter().fold(!0, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), step))
}

fn zip(entries: &[Entry], count: u16) -> Vec<u8> {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for entry in entries {
        let at = entry.at.unwrap_or(file.len() as u32);
        let name = entry.name.as_bytes();
        let common = |to: &mut Vec<u8>, extra: u16| {
            for half in [20, entry.flags, entry.method, 0, 0x21] {
                to.extend(u16::to_le_bytes(half));
            }
            for word in [crc(&entry.data), entry.sizes[0], entry.sizes[1]] {
                to.extend(word.to_le_bytes());
            }
            to.extend((name.len() as u16).to_le_bytes());
            to.extend(extra.to_le_bytes());
        };
        file.extend(b"PK\x03\x04");
        common(&mut file, 0);
        file.write_all(name).unwrap();
        file.extend(&entry.data);
        directory.extend(b"PK\x01\x02\x14\x00");
        let [extra, comment] = entry.more;
        common(&mut directory, extra);
        directory.extend(comment.to_le_bytes());
        directory.extend([0; 8]);
        directory.extend(at.to_le_bytes());
        directory.extend(name);
        directory.resize(directory.len() + usize::from(extra) + usize::from(comment), 0);
    }
    let start = file.len() as u32;
    file.extend(&directory);
    file.extend(b"PK\x05\x06\0\0\0\0");
    file.extend([count.to_le_bytes(), count.to_le_bytes()].concat());
    file.extend((directory.len() as u32).to_le_bytes());
    file.extend(start.to_le_bytes());
    file.extend([0, 0]);
    file
}

fn npy(elements: usize) -> Vec<u8> {
    let mut file = Vec::new();
    lensor::interop::npy::write(&mut file, Tensor::full([elements], 1.5).unwrap()).unwrap();
    file
}

fn refused(bytes: &[u8]) -> String {
    read_npz(bytes).unwrap_err().to_string()
}

#[test]
fn directories_that_lie() {
    let good = zip(&[Entry::of("a.npy", npy(2)), Entry::of("b.npy", npy(3))], 2);
    assert_eq!(read_npz(&good), Ok(2));
    let twice = zip(&[Entry::of("a.npy", npy(2)), Entry::of("a.npy", npy(3))], 2);
    assert_eq!(refused(&twice), "array `a` of this npz archive: its name comes twice");
    let twice = zip(&[Entry::of("a.npy", npy(2)), Entry::of("a", npy(3))], 2);
    assert_eq!(refused(&twice), "array `a` of this npz archive: its name comes twice");
    let shared = Entry { at: Some(0), ..Entry::of("b.npy", npy(2)) };
    let shared = zip(&[Entry::of("a.npy", npy(2)), shared], 2);
    assert_eq!(refused(&shared), "this npz archive: entries share bytes");
    // More entries than there are, or fewer.
    refused(&zip(&[Entry::of("a.npy", npy(2))], 2));
    refused(&zip(&[Entry::of("a.npy", npy(2))], u16::MAX - 1));
    let open = |entry: Entry| {
        let file = zip(&[entry], 1);
        let mut archive = npz::Archive::new(Cursor::new(&file[..]))?;
        bounded(file.len(), || archive.read::<f64>("a").map(drop))
    };
    let sizes = |packed: usize, whole: usize| Entry {
        sizes: [packed as u32, whole as u32],
        ..Entry::of("a.npy", npy(100))
    };
    let size = npy(100).len();
    open(sizes(size, size)).unwrap();
    for (packed, whole) in
        [(size, size + 8), (size - 8, size), (size, 0), (0, size), (size, u32::MAX as usize - 1)]
    {
        open(sizes(packed, whole)).unwrap_err();
    }
    let short = open(Entry::of("a.npy", npy(100)[..size - 8].to_vec())).unwrap_err();
    let expected = size as u64;
    assert_eq!(short, Error::Truncated { expected, found: expected - 8 });
    let cipher = open(Entry { flags: 1, ..Entry::of("a.npy", npy(100)) }).unwrap_err();
    assert!(
        matches!(&cipher, Error::Malformed { name: Some(name), .. } if name == "a"),
        "{cipher}"
    );
    let file = zip(&[Entry::of("a.npy", Vec::new())], 1);
    let empty = npz::Archive::new(Cursor::new(&file[..])).unwrap().entries()[0].header().map(drop);
    assert_eq!(empty, lensor::interop::npy::Header::parse(&[]).map(drop));
    let mut unnamed = zip(&[Entry::of("a.npy", npy(100))], 1);
    let at = unnamed.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
    unnamed[at + 46] = 0xff;
    assert_eq!(refused(&unnamed), "this npz archive: a name is not UTF-8");
    let method = open(Entry { method: 99, ..Entry::of("a.npy", npy(100)) }).unwrap_err();
    assert!(matches!(method, Error::Malformed { .. }), "{method}");
    let mut wrong = zip(&[Entry::of("a.npy", npy(100))], 1);
    wrong[200] ^= 1;
    let error = npz::Archive::new(Cursor::new(&wrong[..])).unwrap().read::<f64>("a").unwrap_err();
    assert!(error.to_string().contains("hecksum"), "{error}");
}

/// A few bytes that would become very many end where the header of the array does.
#[test]
fn bombs_end_where_the_array_does() {
    let mut writer = Writer::new(Cursor::new(Vec::new())).deflated();
    writer.add("zeros", Tensor::constant([1 << 22], 0_u8).unwrap()).unwrap();
    let bomb = writer.finish().unwrap().into_inner();
    assert!(bomb.len() < 1 << 13);
    // What it holds is what it says: that may be read, at its price.
    let whole = npz::Archive::new(Cursor::new(&bomb[..])).unwrap().read::<u8>("zeros").unwrap();
    assert_eq!(whole.len(), 1 << 22);
    // Nothing of it is inflated to list it, or to refuse it.
    bounded(bomb.len(), || {
        let mut archive = npz::Archive::new(Cursor::new(&bomb[..])).unwrap();
        assert_eq!(archive.entries()[0].header().unwrap().count(), 1 << 22);
        archive.read::<f64>("zeros").unwrap_err();
        archive.tensor::<u8>("zeros").unwrap_err();
    });
}

/// Listing an archive takes at most twice its bytes, whatever its directory and its headers hold.
#[test]
fn lists_end_at_the_length_of_archives() {
    let listed = |file: Vec<u8>| {
        let opened = bounded(file.len(), || npz::Archive::new(Cursor::new(&file[..])));
        opened.map(|archive| archive.entries().len()).map_err(|error| error.to_string())
    };
    let zipped = |count: usize, entry: &dyn Fn(usize) -> Entry| {
        listed(zip(&(0..count).map(entry).collect::<Vec<_>>(), count as u16))
    };
    let name = |k: usize, bytes: usize| format!("{k:0bytes$x}");
    let refused = Err("this npz archive: its headers take more memory than twice its bytes".into());
    // Files of nothing, and of what is no header.
    assert_eq!(zipped(60_000, &|k| Entry::of(&name(k, 1), Vec::new())), Ok(60_000));
    assert_eq!(zipped(60_000, &|k| Entry::of(&name(k, 1), vec![0])), refused);
    let long = |k| Entry::of(&name(k, 60 << 10), npy(1));
    assert_eq!(zipped(40, &long), Ok(40));
    assert_eq!(zipped(40, &|k| Entry { flags: 1, ..long(k) }), Ok(40));
    for more in [[60 << 10, 0], [0, 60 << 10], [u16::MAX, u16::MAX]] {
        assert_eq!(zipped(40, &|k| Entry { more, ..Entry::of(&name(k, 1), npy(1)) }), Ok(40));
    }
    // Headers of many axes, in fewer bytes than they take.
    let mut writer = Writer::new(Cursor::new(Vec::new())).deflated();
    for k in 0..2000 {
        writer.add(&name(k, 1), Tensor::from_vec([1; 64], vec![0_u8]).unwrap()).unwrap();
    }
    assert_eq!(listed(writer.finish().unwrap().into_inner()), refused);
}

/// Listing a file takes at most twice its bytes, whatever its header holds.
#[test]
fn lists_end_at_the_length_of_files() {
    let listed = |header: String| {
        let file = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes()].concat();
        let opened = bounded(file.len(), || safetensors::Archive::new(Cursor::new(&file[..])));
        opened.map(|archive| archive.entries().len()).map_err(|error| error.to_string())
    };
    let many = |count: usize, part: &dyn Fn(usize) -> String| {
        (0..count).map(part).collect::<Vec<_>>().join(",")
    };
    let tensor =
        |shape: &str| format!(r#"{{"dtype":"U8","shape":[{shape}],"data_offsets":[0,0]}}"#);
    let refused =
        Err("this safetensors file: its header takes more memory than twice its bytes".into());
    let few = many(100, &|k| format!(r#""{k}":{}"#, tensor("0")));
    assert_eq!(listed(format!("{{{few}}}")), Ok(100));
    let tensors = many(50_000, &|k| format!(r#""{k:x}":{}"#, tensor("0")));
    assert_eq!(listed(format!("{{{tensors}}}")), Ok(50_000));
    let axes = vec!["0"; 64].join(",");
    let tensors = many(5000, &|k| format!(r#""{k:x}":{}"#, tensor(&axes)));
    assert_eq!(listed(format!("{{{tensors}}}")), refused);
    let axes = many(1_000_000, &|_| "1".into());
    let found = listed(format!(r#"{{"a":{}}}"#, tensor(&axes))).unwrap_err();
    assert!(found.contains("1000000"), "{found}");
    let notes = many(200_000, &|k| format!(r#""{k:x}":"""#));
    assert_eq!(listed(format!(r#"{{"__metadata__":{{{notes}}}}}"#)), refused);
    // Texts take more while they are parsed.
    let note =
        |bytes: usize| format!(r#"{{"__metadata__":{{"a":"{}"}}}}"#, "x\\n".repeat(bytes / 3));
    assert_eq!(listed(note(20_000)), Ok(0));
    assert_eq!(listed(note(1_300_000)), refused);
    let name = "x".repeat(1_300_000);
    assert_eq!(listed(format!(r#"{{"{name}":{}}}"#, tensor("0"))), refused);
    let twice = format!(r#"{{"a":{},"a":{}}}"#, tensor("0"), tensor("0"));
    assert_eq!(
        listed(twice),
        Err("array `a` of this safetensors file: its name comes twice".into())
    );
    let field = r#"{"a":{"dtype":"U8","shape":[0],"shape":[0],"data_offsets":[0,0]}}"#;
    assert!(listed(field.into()).unwrap_err().contains("duplicate field `shape`"));
    let field = r#"{"a":{"dtype":"U8","shape":[0]}}"#;
    assert!(listed(field.into()).unwrap_err().contains("missing field `data_offsets`"));
    assert_eq!(listed(r#"{"__metadata__":null}"#.into()), Ok(0));
    assert!(listed("{} {}".into()).unwrap_err().contains("trailing characters"));
}
