//! Zarr arrays by zarr-python and ours: every codec, shards, missing chunks, groups; from disk to disk.

mod shared;
#[cfg(unix)]
mod stopped;
mod strangers;

use crate::support::{Random, test_name};
use lensor::arbitrary::Viewed;
use lensor::dtype::{ByteOrder, DType, DTypeVisitor, FileElement};
use lensor::interop::npy;
use lensor::interop::zarr::zarrs::storage::store::MemoryStore;
use lensor::interop::zarr::{self, FolderStore, Options, ZarrElement};
use lensor::prelude::*;
use lensor::storage::Progression;
use quickcheck::quickcheck;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/zarr").join(name)
}

fn same<T: ZarrElement>(name: &str, bits: fn(T) -> u64) {
    let twin = npy::open::<T>(data(&format!("{}.npy", name.replace('/', "_")))).unwrap();
    let t = zarr::open::<T>(data(name)).unwrap();
    let all = |t: Vec<T>| t.into_iter().map(bits).collect::<Vec<_>>();
    assert_eq!(t.shape(), twin.shape(), "{name}");
    assert_eq!(all(t.to_vec().unwrap()), all(twin.to_vec().unwrap()), "{name}");
    let order: Vec<usize> = (0..t.rank()).rev().collect();
    let turned = t.transpose(&order).unwrap().to_vec().unwrap();
    assert_eq!(all(turned), all(twin.transpose(&order).unwrap().to_vec().unwrap()), "{name}");
}

#[test]
fn arrays_of_zarr_python_are_read() {
    for name in ["plain", "transposed", "missing", "nan_fill", "scalar", "named"] {
        same::<f64>(name, f64::to_bits);
    }
    same::<i32>("gzip", |x| x as u64);
    same::<f32>("zstd", |x| x.to_bits().into());
    same::<i16>("big_endian", |x| x as u64);
    same::<u16>("sharded", u64::from);
    same::<bool>("bool", u64::from);
    same::<i32>("v2", |x| x as u64);
    let named = zarr::open::<f64>(data("named")).unwrap();
    let chunks = named.storage().storage();
    assert_eq!(chunks.names(), [Some("t".to_string()), Some("x".to_string())]);
    assert_eq!(
        (&chunks.attributes()["units"], &chunks.attributes()["answer"]),
        (&"K".into(), &42.into())
    );
    assert_eq!(zarr::open::<f64>(data("missing")).unwrap().storage().storage().fill(), 7.5);
}

/// Of a shard, the chunks inside are loaded, each once.
#[test]
fn chunks_are_loaded_once() {
    let t = zarr::open::<u16>(data("sharded")).unwrap();
    t.view().select((1..3, 2..7)).unwrap().to_vec().unwrap();
    assert_eq!(t.storage().stats().loads, 2);
    t.view().transpose([1, 0]).unwrap().to_vec().unwrap();
    assert_eq!(t.storage().stats().loads, 16);
    let t = zarr::open::<i32>(data("gzip")).unwrap();
    t.view().transpose([1, 0]).unwrap().sum(0).eval().unwrap();
    assert_eq!(t.storage().stats().loads, 9);
}

#[test]
fn groups_are_listed() {
    let found = zarr::list(data("group")).unwrap();
    let paths: Vec<&str> = found.iter().map(|entry| entry.path()).collect();
    assert_eq!(paths, ["/first", "/nested/third", "/second"]);
    for entry in &found {
        let twin = data(&format!("group{}.npy", entry.path().replace('/', "_")));
        let header = npy::open_header(twin).unwrap();
        assert_eq!((entry.shape(), entry.dtype()), (header.shape(), Some(header.dtype())));
        struct Same<'a>(&'a str);
        impl DTypeVisitor for Same<'_> {
            type Output = ();
            fn visit<T: FileElement>(self) {
                let twin = data(&format!("group{}.npy", self.0.replace('/', "_")));
                npy::open::<T>(twin).unwrap();
            }
        }
        header.dtype().visit(Same(entry.path()));
    }
    let all = zarr::list(data("")).unwrap();
    let v2 = all.iter().find(|entry| entry.path() == "/v2").unwrap();
    assert_eq!(
        (v2.dtype(), v2.shape(), v2.chunks()),
        (Some(DType::I32), &[5, 6].into(), &[3, 4][..])
    );
    assert_eq!(all.len(), 15);
}

/// Options of all kinds.
fn options<T: ZarrElement>(shape: &Shape, random: &mut Random) -> Options<T> {
    let chunks: Vec<usize> = shape.iter().map(|_| 1 + random.below(4)).collect();
    let mut options = Options::new(&chunks[..]);
    if random.below(3) == 0 {
        let shards: Vec<usize> =
            chunks.iter().map(|extent| extent * (1 + random.below(3))).collect();
        options = options.shards(&shards[..]);
    }
    if random.below(3) == 0 {
        let mut order: Vec<usize> = (0..shape.rank()).collect();
        random.shuffle(&mut order);
        options = options.transposed(&order);
    }
    options = match random.below(4) {
        0 => options.gzip(1),
        1 => options.zstd(1),
        2 => options.zstd(1).crc32c(),
        _ => options,
    };
    if random.below(4) == 0 { options.byte_order(ByteOrder::Big) } else { options }
}

quickcheck! {
    /// Whatever is written is read again, under any view, by any codec.
    fn what_is_written_is_read(viewed: Viewed<i32>, seed: u64) -> bool {
        let mut random = Random(seed);
        let (shape, data) = viewed.model();
        let store = Arc::new(MemoryStore::new());
        let options = options::<i32>(&shape, &mut random);
        let mut out = match zarr::create_in(store.clone(), "/a/b", shape.clone(), &options) {
            Ok(out) => out,
            Err(error) => panic!("{shape:?} {options:?}: {error}"),
        };
        out.assign(&viewed.tensor() * 3).unwrap();
        let expected: Vec<i32> = data.iter().map(|x| x.wrapping_mul(3)).collect();
        assert!(out.storage().storage().missing().unwrap().is_empty());
        drop(out);
        let t = zarr::open_in::<i32, _>(store, "/a/b").unwrap();
        assert_eq!((t.shape(), t.to_vec().unwrap()), (shape, expected.clone()));
        let order: Vec<usize> = (0..t.rank()).rev().collect();
        let dense = Tensor::from_vec(t.shape(), expected).unwrap();
        t.view().transpose(&order).unwrap().to_vec() == dense.transpose(&order).unwrap().to_vec()
    }
}

#[test]
fn from_disk_to_disk() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (dir.path().join("a.zarr"), dir.path().join("b.zarr"));
    let t = Tensor::from_index([50, 40], |index| (index[0] * 40 + index[1]) as f64).unwrap();
    let (done, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (told, largest) = (done.clone(), most.clone());
    let tell = move |k: usize, total: usize| {
        assert_eq!(total, 35);
        told.fetch_add(1, Ordering::Relaxed);
        largest.fetch_max(k, Ordering::Relaxed);
    };
    zarr::write(&a, &t, &Options::new([8, 9]).zstd(3).on_progress(tell)).unwrap();
    assert_eq!((done.load(Ordering::Relaxed), most.load(Ordering::Relaxed)), (35, 35));
    let x = zarr::open::<f64>(&a).unwrap();
    let e = x.view().transpose([1, 0]).unwrap() * 2.0
        + x.view().transpose([1, 0]).unwrap().rotate([3, 7]).unwrap();
    zarr::write(&b, &e, &Options::new([16, 16]).shards([32, 32]).gzip(1)).unwrap();
    let turned = t.view().transpose([1, 0]).unwrap();
    let expected = &turned * 2.0 + turned.view().rotate([3, 7]).unwrap();
    assert_eq!(
        zarr::open::<f64>(&b).unwrap().to_vec().unwrap(),
        expected.eval().unwrap().to_vec().unwrap()
    );
    // What lacks is told, and read as the fill value.
    std::fs::remove_file(a.join("c/2/3")).unwrap();
    let x = zarr::open::<f64>(&a).unwrap();
    assert_eq!(x.storage().storage().missing().unwrap()[0][..], [2, 3]);
    assert_eq!(x.get([17, 28]).unwrap(), 0.0);
    // What was cut off is an error.
    let chunk = a.join("c/0/0");
    let bytes = std::fs::read(&chunk).unwrap();
    std::fs::write(&chunk, &bytes[..bytes.len() / 2]).unwrap();
    let error = zarr::open::<f64>(&a).unwrap().to_vec().unwrap_err();
    assert!(
        matches!(&error, Error::Storage { index: Some(index), .. } if index == &[0, 0]),
        "{error}"
    );
    assert!(error.to_string().contains("chunk [0, 0]"), "{error}");
}

#[test]
fn errors_say_what_is_wrong() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.zarr");
    let none = zarr::open::<f64>(&path).unwrap_err();
    assert!(none.to_string().starts_with("array `/` of this Zarr array: "), "{none}");
    let t = Tensor::full([4, 4], 1_u8).unwrap();
    zarr::write(&path, &t, &Options::new([2, 2])).unwrap();
    let twice = zarr::write(&path, &t, &Options::new([2, 2])).unwrap_err();
    assert!(twice.to_string().ends_with("something of that name exists"), "{twice}");
    let lost = dir.path().join("lost.zarr");
    zarr::write(&lost, &t, &Options::new([2, 2])).unwrap();
    std::fs::remove_file(lost.join("zarr.json")).unwrap();
    let over = zarr::create::<u8>(&lost, [4, 4], &Options::new([2, 2])).unwrap_err();
    assert!(over.to_string().ends_with("c exists, and is no regular file"), "{over}");
    assert!(!lost.join("zarr.json").exists());
    let wrong = zarr::open::<i8>(&path).unwrap_err();
    assert_eq!(wrong, Error::ElementType { expected: "i8", found: "u8".into() });
    let rank = zarr::create::<u8>(dir.path().join("x"), [4, 4], &Options::new([2])).unwrap_err();
    assert_eq!(rank, Error::Blocks { extents: vec![4, 4], block: vec![2] });
    let zero = zarr::create::<u8>(dir.path().join("x"), [4, 4], &Options::new([0, 1])).unwrap_err();
    assert_eq!(zero, Error::Blocks { extents: vec![4, 4], block: vec![0, 1] });
    let shards = Options::new([2, 2]).shards([3, 3]);
    let error = zarr::create::<u8>(dir.path().join("x"), [4, 4], &shards).unwrap_err();
    assert_eq!(error, Error::Blocks { extents: vec![3, 3], block: vec![2, 2] });
    for order in [&[0][..], &[0, 0], &[0, 1, 2], &[1, 0, 2], &[1, 1], &[1, 2], &[]] {
        let chunks = Options::new([2, 2]).transposed(order);
        for options in [chunks.clone(), chunks.shards([4, 4])] {
            let error = zarr::create::<u8>(dir.path().join("x"), [4, 4], &options).unwrap_err();
            assert!(matches!(error, Error::Malformed { .. }), "{error}");
            assert!(error.to_string().ends_with("is no order of 2 axes"), "{error}");
        }
    }
    assert!(!dir.path().join("x").exists());
    let metadata = path.join("zarr.json");
    let good = std::fs::read_to_string(&metadata).unwrap();
    for (from, to) in [
        ("\"regular\"", "\"other\""),
        ("\"uint8\"", "\"uint9\""),
        ("\"bytes\"", "\"blosc9\""),
        ("\"fill_value\": 0", "\"fill_value\": 300"),
        ("\"fill_value\":0", "\"fill_value\":300"),
        ("{", ""),
    ] {
        let changed = good.replacen(from, to, 1);
        if changed == good {
            continue;
        }
        std::fs::write(&metadata, changed).unwrap();
        let error = zarr::open::<u8>(&path).unwrap_err();
        assert!(matches!(error, Error::Malformed { .. }), "{to}: {error}");
    }
    let large = std::fs::File::create(&metadata).unwrap();
    large.set_len((16 << 20) + 1).unwrap();
    let error = zarr::open::<u8>(&path).unwrap_err();
    assert_eq!(error, Error::HeaderTooLarge { claimed: (16 << 20) + 1, limit: 16 << 20 });
    assert!(matches!(zarr::list(&path), Err(Error::HeaderTooLarge { .. })));
}

/// Where another process is to write.
const PATH: &str = "TEST_ZARR";

/// Writes slowly, in another process.
#[test]
fn the_other_process() {
    let Some(path) = std::env::var_os(PATH) else { return };
    let numbers = Tensor::<Progression<u64>>::iota([64, 8]).unwrap();
    let slowly = numbers.map(|k| {
        if k % 32 == 0 {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        k + 1
    });
    zarr::write(path, slowly, &Options::new([4, 8]).crc32c()).unwrap();
}

/// A writer that is killed leaves an array that says which chunks it lacks; the others hold what they should.
#[test]
fn killed_writes_say_what_is_missing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.zarr");
    let mut other = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &test_name(module_path!(), "the_other_process")])
        .env(PATH, &path)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let written = || {
        let all = std::fs::read_dir(path.join("c")).into_iter().flatten();
        all.filter(|row| row.as_ref().is_ok_and(|row| row.path().join("0").exists())).count()
    };
    while written() < 3 && other.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    other.kill().unwrap();
    other.wait().unwrap();
    let t = zarr::open::<u64>(&path).unwrap();
    let missing = t.storage().storage().missing().unwrap();
    assert_eq!(missing.len(), 16 - written());
    assert!(!missing.is_empty());
    for row in 0..16 {
        let found = t.view().slice(0, 4 * row..4 * row + 4).unwrap().to_vec();
        let whole: Vec<u64> = (32 * row as u64..).take(32).map(|k| k + 1).collect();
        match found {
            Ok(found) if missing.iter().any(|index| index[0] == row) => assert_eq!(found, [0; 32]),
            Ok(found) => assert_eq!(found, whole),
            Err(error) => panic!("{error}"),
        }
    }
}

#[cfg(unix)]
#[test]
fn names_that_are_no_text_are_refused() {
    use std::os::unix::ffi::OsStrExt;
    let dir = tempfile::tempdir().unwrap();
    let group = dir.path().join("group");
    std::fs::create_dir(&group).unwrap();
    std::fs::write(group.join(std::ffi::OsStr::from_bytes(b"\xff")), b"").unwrap();
    let store = FolderStore::new(dir.path()).unwrap();
    for found in [zarr::list(dir.path()), zarr::list_in(&store, "/")] {
        let error = found.unwrap_err();
        assert!(error.to_string().contains("array `/group` of this Zarr array: "), "{error}");
        assert!(error.to_string().ends_with("is no text"), "{error}");
    }
}

/// To open a pipe takes as long as nobody writes to it; a socket fails, and a folder has a size.
#[cfg(unix)]
#[test]
fn what_is_no_regular_file_is_refused() {
    use std::os::unix::net::UnixListener;
    let makes: [fn(&Path) -> std::io::Result<()>; 2] =
        [|place| std::fs::create_dir(place), |place| UnixListener::bind(place).map(drop)];
    for make in makes {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t");
        zarr::write(&path, Tensor::full([4], 1_u8).unwrap(), &Options::new([2])).unwrap();
        std::fs::remove_file(path.join("c/0")).unwrap();
        make(&path.join("c/0")).unwrap();
        make(&dir.path().join(".zgroup")).unwrap();
        let t = zarr::open::<u8>(&path).unwrap();
        assert_eq!(t.get([2]).unwrap(), 1);
        for (error, place) in [
            (t.get([0]).unwrap_err(), "c/0"),
            (t.storage().storage().missing().unwrap_err(), "c/0"),
            (zarr::list(dir.path()).unwrap_err(), ".zgroup"),
        ] {
            let text = format!("{place} exists, and is no regular file");
            assert!(error.to_string().contains(&text), "{error}");
        }
    }
}

/// Two links that lead back double the folders at every level.
#[cfg(unix)]
#[test]
fn links_that_lead_round_end() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["a", "b"] {
        std::os::unix::fs::symlink(dir.path(), dir.path().join(name)).unwrap();
    }
    let error = zarr::list(dir.path()).unwrap_err();
    assert!(error.to_string().ends_with("too many groups lie in groups"), "{error}");
}

#[test]
fn attributes_of_version_2_are_listed() {
    let dir = tempfile::tempdir().unwrap();
    for file in [".zarray", ".zattrs"] {
        std::fs::copy(data("v2").join(file), dir.path().join(file)).unwrap();
    }
    std::fs::write(dir.path().join(".zattrs"), r#"{"units":"K"}"#).unwrap();
    let found = zarr::list(dir.path()).unwrap();
    assert_eq!(found[0].attributes()["units"], "K");
    let t = zarr::open::<i32>(dir.path()).unwrap();
    assert_eq!(t.storage().storage().attributes()["units"], "K");
}

/// Of chunks of one element the index of a shard is longer than all of them.
#[test]
fn indexes_of_shards_may_outweigh_their_chunks() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options::new([1]).shards([8192]);
    let mut t = zarr::create::<u8>(dir.path().join("x"), [8192], &options).unwrap();
    t.assign(1_u8).unwrap();
    assert_eq!(t.sum(..).item().unwrap(), 8192);
    t.view_mut().slice(0, 5..7).unwrap().assign(2_u8).unwrap();
    assert_eq!(t.sum(..).item().unwrap(), 8194);
}
