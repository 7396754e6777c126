//! Files of tensors, by the format's own library and ours, read into memory and mapped.

use lensor::arbitrary::Viewed;
use lensor::dtype::{DType, DTypeVisitor, FileElement, MapElement};
use lensor::interop::npy;
use lensor::interop::safetensors::safetensors::SafeTensors;
use lensor::interop::safetensors::{self, Archive, Writer};
use lensor::{Error, Tensor};
use quickcheck::quickcheck;
use std::io::Cursor;
use std::path::PathBuf;
use std::sync::Arc;

fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/safetensors").join(name)
}

fn archive(name: &str) -> Archive<Cursor<Arc<[u8]>>> {
    Archive::new(Cursor::new(std::fs::read(data(name)).unwrap().into())).unwrap()
}

/// Compares a tensor with its twin, in its own type.
struct SameAsTwin<'a>(&'a str, &'a str);

impl DTypeVisitor for SameAsTwin<'_> {
    type Output = ();

    fn visit<T: FileElement>(self) {
        let twin = npy::open::<T>(data(&format!("{}.npy", self.1))).unwrap();
        let read = safetensors::open(data(self.0)).unwrap().read::<T>(self.1).unwrap();
        assert_eq!((read.shape(), read.to_vec().unwrap()), (twin.shape(), twin.to_vec().unwrap()));
    }
}

fn in_place<T: MapElement>(file: &str, name: &str) -> Tensor<impl lensor::Reader<Elem = T>> {
    let twin = npy::open::<T>(data(&format!("{name}.npy"))).unwrap();
    let t = archive(file).tensor::<T>(name).unwrap();
    assert_eq!((t.shape(), t.to_vec().unwrap()), (twin.shape(), twin.to_vec().unwrap()));
    // SAFETY: nobody writes to the files of the tests.
    #[allow(unsafe_code, reason = "maps a file of the tests")]
    let map = unsafe { safetensors::map(data(file)) }.unwrap();
    assert_eq!(map.tensor::<T>(name).unwrap().to_vec(), t.to_vec());
    t
}

#[test]
fn files_of_the_library_are_read() {
    let plain = archive("plain.safetensors");
    let names: Vec<&str> = plain.entries().iter().map(|entry| entry.name()).collect();
    assert_eq!(names, ["i", "s", "z", "w", "h", "u", "m"]);
    let notes = [("format", "lensor"), ("note", "made by safetensors")];
    assert_eq!(plain.notes(), notes.map(|(key, text)| (key.to_string(), text.to_string())));
    for entry in plain.entries() {
        if let Some(dtype) = entry.dtype() {
            dtype.visit(SameAsTwin("plain.safetensors", entry.name()));
        } else {
            assert_eq!(entry.name(), "h");
        }
    }
    in_place::<f32>("plain.safetensors", "w");
    in_place::<i64>("plain.safetensors", "i");
    in_place::<f64>("plain.safetensors", "z");
    in_place::<u8>("plain.safetensors", "u");
    let bytes = plain.bytes("w").unwrap();
    assert_eq!((bytes.len(), bytes.shape().rank()), (48, 1));
}

/// Notes stand in the order of their keys, so that the same tensors give the same bytes.
#[test]
fn files_are_the_same_every_time() {
    let t = Tensor::from_vec([1], vec![1_u8]).unwrap();
    let mut writer = Writer::new();
    writer.add("t", &t).unwrap();
    for key in ["g", "b", "e", "a", "f"] {
        writer.note(key, &key.to_uppercase());
    }
    writer.note("b", "last");
    let mut file = Vec::new();
    writer.write(&mut file).unwrap();
    let text = r#"{"__metadata__":{"a":"A","b":"last","e":"E","f":"F","g":"G"},"t":{"dtype":"U8","#;
    assert!(file[8..].starts_with(text.as_bytes()), "{}", String::from_utf8_lossy(&file[8..]));
    assert_eq!(Archive::new(Cursor::new(&file[..])).unwrap().notes().len(), 5);
}

#[test]
fn what_is_not_aligned_is_read() {
    in_place::<u8>("unaligned.safetensors", "bytes");
    in_place::<f64>("unaligned.safetensors", "double");
    let double = archive("unaligned.safetensors").tensor::<f64>("double").unwrap();
    assert!(matches!(
        double.storage().try_slice(),
        Err(Error::Misaligned { align: 8, .. }) | Ok(_)
    ));
    DType::F64.visit(SameAsTwin("unaligned.safetensors", "double"));
}

#[cfg(feature = "half")]
#[test]
fn halves_of_both_kinds_are_read() {
    use lensor::Elementwise;
    in_place::<half::f16>("plain.safetensors", "h");
    let b = archive("bf16.safetensors").tensor::<half::bf16>("bf16").unwrap();
    let twin = npy::open::<f32>(data("bf16.npy")).unwrap();
    let bits = |all: Vec<f32>| {
        all.into_iter().map(|x| if x.is_nan() { 1 } else { x.to_bits() }).collect::<Vec<_>>()
    };
    let wide = b.cast::<f32>().eval().unwrap();
    assert_eq!(
        (wide.shape(), bits(wide.to_vec().unwrap())),
        (twin.shape(), bits(twin.to_vec().unwrap()))
    );
}

quickcheck! {
    /// Whatever is written is read again, by us and by the format's own library.
    fn what_is_written_is_read(all: Vec<Viewed<i16>>, more: Viewed<f64>, note: String) -> bool {
        let mut writer = Writer::new();
        let names: Vec<String> = (0..all.len().min(5)).map(|k| format!("\"{k}\n\u{e9}")).collect();
        for (name, viewed) in names.iter().zip(&all) {
            writer.add(name, viewed.tensor() + 1).unwrap();
        }
        writer.add("more", more.tensor()).unwrap();
        writer.note("note", &note);
        let mut file = Vec::new();
        writer.write(&mut file).unwrap();
        let theirs = SafeTensors::deserialize(&file).unwrap();
        let mut ours = Archive::new(Cursor::new(&file[..])).unwrap();
        assert_eq!(ours.notes(), [("note".to_string(), note)]);
        for (name, viewed) in names.iter().zip(&all) {
            let (shape, data) = viewed.model();
            let data: Vec<i16> = data.into_iter().map(|x| x.wrapping_add(1)).collect();
            let bytes: Vec<u8> = data.iter().flat_map(|x| x.to_le_bytes()).collect();
            let found = theirs.tensor(name).unwrap();
            assert_eq!((found.shape(), found.data()), (&shape[..], &bytes[..]));
            let read = ours.read::<i16>(name).unwrap();
            assert_eq!((read.shape(), read.to_vec().unwrap()), (shape.clone(), data.clone()));
            let shared = ours.tensor::<i16>(name).unwrap();
            assert_eq!((shared.shape(), shared.to_vec().unwrap()), (shape, data));
        }
        let (shape, data) = more.model();
        let bits = |all: Vec<f64>| all.into_iter().map(f64::to_bits).collect::<Vec<_>>();
        let read = ours.read::<f64>("more").unwrap();
        (read.shape(), bits(read.to_vec().unwrap())) == (shape, bits(data))
    }
}

#[test]
fn errors_say_what_is_wrong() {
    let mut writer = Writer::new();
    writer.add("a", Tensor::from(vec![1_u8])).unwrap();
    let error = writer.add("a", Tensor::from(vec![2_u8])).unwrap_err();
    assert_eq!(error.to_string(), "array `a` of this safetensors file: its name comes twice");
    let error = writer.add("__metadata__", Tensor::from(vec![2_u8])).unwrap_err();
    assert!(error.to_string().contains("keeps this name"), "{error}");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("old.safetensors");
    writer.save(&path).unwrap();
    let before = std::fs::read(&path).unwrap();
    let one = Tensor::from(vec![1, 0]);
    let mut writer = Writer::new();
    writer.add("b", Tensor::from(vec![1, 1]) / &one).unwrap();
    let error = writer.save(&path).unwrap_err();
    assert_eq!(error, Error::Arithmetic { index: vec![1] });
    assert_eq!(std::fs::read(&path).unwrap(), before);
    let mut archive = safetensors::open(&path).unwrap();
    let error = archive.read::<u8>("b").unwrap_err();
    assert_eq!(error.to_string(), "no array `b` in this safetensors file, which has a");
    let error = archive.read::<i8>("a").unwrap_err();
    assert_eq!(error, Error::ElementType { expected: "i8", found: "u8".into() });
    assert!(safetensors::open(dir.path().join("none")).unwrap_err().to_string().contains("none"));
}

/// A header, and bytes behind it.
fn file(header: &str, bytes: usize) -> Result<Archive<Cursor<Vec<u8>>>, Error> {
    let claimed = header.len() as u64;
    Archive::new(Cursor::new(
        [&claimed.to_le_bytes()[..], header.as_bytes(), &vec![1; bytes]].concat(),
    ))
}

#[test]
fn wrong_headers_are_refused() {
    let good = r#"{"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#;
    file(good, 8).unwrap();
    let start = 8 + good.len() as u64;
    let ends = |found| Error::Truncated { expected: start + 8, found: start + found };
    assert_eq!(file(good, 7).unwrap_err(), ends(7));
    let error = Error::TrailingData { expected: start + 8, found: start + 9 };
    assert_eq!(file(good, 9).unwrap_err(), error);
    for (header, bytes) in [
        ("", 0),
        ("{", 0),
        ("[]", 0),
        (r#"{"x":{"dtype":"F31","shape":[2],"data_offsets":[0,8]}}"#, 8),
        (r#"{"x":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}"#, 8),
        (r#"{"x":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}}"#, 8),
        (r#"{"x":{"dtype":"F32","shape":[2],"data_offsets":[1,9]}}"#, 9),
        (r#"{"x":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}}"#, 8),
        (r#"{"x":{"dtype":"F32","shape":[4294967296,4294967296,0],"data_offsets":[0,0]}}"#, 0),
        (
            r#"{"x":{"dtype":"U8","shape":[8],"data_offsets":[0,8]},"y":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}}"#,
            8,
        ),
        (
            r#"{"x":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"y":{"dtype":"U8","shape":[3],"data_offsets":[5,8]}}"#,
            8,
        ),
        (r#"{"__metadata__":{"a":1}}"#, 0),
        (r#"{"__metadata__":{"a":"1"},"__metadata__":{"b":"2"}}"#, 0),
        (r#"{"x":{"dtype":"F4","shape":[3],"data_offsets":[0,1]}}"#, 1),
    ] {
        let error = file(header, bytes).unwrap_err();
        assert!(matches!(error, Error::Malformed { .. }), "{header}: {error}");
        assert!(error.to_string().contains("this safetensors file: "), "{error}");
    }
    let side = (1_usize << 61) - 1;
    let parts: Vec<String> = (0..8)
        .map(|k| {
            format!(
                r#""{k}":{{"dtype":"U8","shape":[{side}],"data_offsets":[{},{}]}}"#,
                k * side,
                (k + 1) * side
            )
        })
        .collect();
    let error = file(&format!("{{{}}}", parts.join(",")), 0).unwrap_err();
    assert!(matches!(error, Error::Truncated { .. }), "{error}");
    let limit = 100_000_000;
    let large = [&(limit + 1_u64).to_le_bytes()[..], b"{}"].concat();
    let error = Archive::new(Cursor::new(large)).unwrap_err();
    assert_eq!(error, Error::HeaderTooLarge { claimed: limit + 1, limit });
    let short = Archive::new(Cursor::new([100, 0, 0, 0, 0, 0, 0, 0, b'{'])).unwrap_err();
    assert_eq!(short, Error::Truncated { expected: 108, found: 9 });
    let none = Archive::new(Cursor::new([1_u8, 2])).unwrap_err();
    assert_eq!(none, Error::Truncated { expected: 8, found: 2 });
    let deep =
        format!(r#"{{"x":{{"dtype":"U8","shape":{:?},"data_offsets":[0,1]}}}}"#, vec![1; 65]);
    assert_eq!(file(&deep, 1).unwrap_err(), Error::RankLimit { rank: 65, limit: 64 });
    // Floats of 8 bits are bytes.
    let small = r#"{"x":{"dtype":"F8_E4M3","shape":[2,2],"data_offsets":[0,4]}}"#;
    let mut small = file(small, 4).unwrap();
    assert_eq!(small.entries()[0].dtype(), None);
    let error = small.read::<u8>("x").unwrap_err();
    assert_eq!(error, Error::ElementType { expected: "u8", found: "F8_E4M3".into() });
    assert_eq!(small.bytes("x").unwrap().to_vec().unwrap(), [1; 4]);
    let wrong = r#"{"x":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}}"#;
    let wrong = file(wrong, 2).unwrap();
    let mut bytes = wrong.bytes("x").unwrap().into_storage().into_bytes();
    *bytes.last_mut().unwrap() = 2;
    let error = Archive::new(Cursor::new(bytes)).unwrap().read::<bool>("x").unwrap_err();
    assert_eq!(error, Error::InvalidValue { index: 1, byte: 2 });
}
