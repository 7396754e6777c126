//! `.npy` files: NumPy's own, and what is written is read.

use lensor::dtype::{ByteOrder, DType, DTypeVisitor, Element, FileElement};
use lensor::interop::npy::{self, Header};
use lensor::{Elementwise, Error, Reader, Result, Tensor};
use quickcheck::{Arbitrary, Gen, QuickCheck};
use std::fmt::Debug;
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/npy").join(format!("{name}.npy"))
}

/// The values that tests/npy/README.md promises.
trait Promised: FileElement {
    /// Element `i` in row-major order.
    fn promised(i: i64) -> Self;
}

macro_rules! promised {
    ($($type:ty: |$i:ident| $value:expr;)*) => { $(
        impl Promised for $type {
            fn promised($i: i64) -> Self {
                $value
            }
        }
    )* };
}
promised! {
    bool: |i| i % 3 == 0;
    u8: |i| (i * 7 % 23) as u8;
    u16: |i| (i * 7 % 23) as u16;
    u32: |i| (i * 7 % 23) as u32;
    u64: |i| (i * 7 % 23) as u64;
    i8: |i| (i * 7 % 23 - 11) as i8;
    i16: |i| (i * 7 % 23 - 11) as i16;
    i32: |i| (i * 7 % 23 - 11) as i32;
    i64: |i| i * 7 % 23 - 11;
    f32: |i| (i * 7 % 23 - 11) as f32;
    f64: |i| (i * 7 % 23 - 11) as f64;
}
#[cfg(feature = "half")]
promised! { half::f16: |i| half::f16::from_f32(f32::promised(i)); }
#[cfg(feature = "complex")]
promised! {
    num_complex::Complex32: |i| num_complex::Complex32::new(f32::promised(i), 0.0 - f32::promised(i));
    num_complex::Complex64: |i| num_complex::Complex64::new(f64::promised(i), 0.0 - f64::promised(i));
}

/// Checks one file read in every way.
fn check<T: Promised>(name: &str, shape: &[usize], order: ByteOrder, fortran: bool) {
    let path = fixture(name);
    let bytes = std::fs::read(&path).unwrap();
    let header = npy::open_header(&path).unwrap();
    assert_eq!(Header::parse(&bytes), Ok(header.clone()), "{name}");
    assert_eq!(header.dtype(), T::DTYPE, "{name}");
    assert_eq!(header.byte_order(), order, "{name}");
    assert_eq!(header.is_fortran(), fortran, "{name}");
    assert_eq!(header.shape(), shape, "{name}");
    assert_eq!(header.data_offset() % 64, 0, "{name}");
    let expected: Vec<T> = (0..header.count() as i64).map(T::promised).collect();
    for tensor in
        [npy::open::<T>(&path), npy::read::<T>(&bytes[..]), npy::read_next::<T>(&bytes[..])]
    {
        let tensor = tensor.unwrap();
        assert_eq!(&tensor.shape()[..], shape, "{name}");
        assert_eq!(tensor.to_vec().unwrap(), expected, "{name}");
    }
}

/// Checks the file read in place, and the header that is written for it.
fn check_in_place<T: Promised>(name: &str)
where
    lensor::storage::Encoded<T, Vec<u8>>: Reader<Elem = T>,
{
    let bytes = std::fs::read(fixture(name)).unwrap();
    let tensor = npy::from_bytes::<T, _>(bytes.clone()).unwrap();
    let count = tensor.shape().count().unwrap() as i64;
    let expected: Vec<T> = (0..count).map(T::promised).collect();
    assert_eq!(tensor.to_vec().unwrap(), expected, "{name}");
    let header = Header::parse(&bytes).unwrap();
    assert_eq!(header.to_bytes(), bytes[..header.data_offset()], "{name}");
}

macro_rules! fixtures {
    ($($name:ident: $type:ty;)*) => { $(
        #[test]
        fn $name() {
            let name = stringify!($name);
            for (end, order) in [("le", ByteOrder::Little), ("be", ByteOrder::Big)] {
                for (layout, fortran) in [("c", false), ("f", true)] {
                    let name = format!("{name}_{end}_{layout}");
                    check::<$type>(&name, &[2, 3, 4], order, fortran);
                    check_in_place::<$type>(&name);
                }
            }
        }
    )* };
}
fixtures! { i2: i16; i4: i32; i8: i64; u2: u16; u4: u32; u8: u64; f4: f32; f8: f64; }
#[cfg(feature = "half")]
fixtures! { f2: half::f16; }
#[cfg(feature = "complex")]
fixtures! { c8: num_complex::Complex32; c16: num_complex::Complex64; }

#[test]
fn types_of_one_byte() {
    for (layout, fortran) in [("c", false), ("f", true)] {
        check::<bool>(&format!("bool_{layout}"), &[2, 3, 4], ByteOrder::NATIVE, fortran);
        check::<i8>(&format!("i1_{layout}"), &[2, 3, 4], ByteOrder::NATIVE, fortran);
        check::<u8>(&format!("u1_{layout}"), &[2, 3, 4], ByteOrder::NATIVE, fortran);
        check_in_place::<u8>(&format!("u1_{layout}"));
    }
}

#[test]
fn ranks() {
    check::<f64>("rank0", &[], ByteOrder::Little, false);
    check::<f64>("rank1", &[7], ByteOrder::Little, false);
    check::<f64>("empty", &[0, 3], ByteOrder::Little, false);
    check::<i16>("rank5", &[2, 1, 3, 2, 4], ByteOrder::Little, false);
    check::<i16>("rank5_f", &[2, 1, 3, 2, 4], ByteOrder::Little, true);
    check_in_place::<i16>("rank5_f");
}

#[test]
fn format_versions() {
    for name in ["v1", "v2", "v3"] {
        check::<f64>(name, &[2, 3, 4], ByteOrder::Little, false);
    }
}

#[test]
fn unsupported_types_are_refused_by_name() {
    let structure = "[('a', '<i4'), ('b', '<f8')]";
    for (name, descr) in [("structured", structure), ("object", "|O"), ("unicode", "<U4")] {
        let error = npy::open::<f64>(fixture(name)).unwrap_err();
        let Error::ElementType { expected, found } = error else { panic!("{error}") };
        let on = ["`half`", "`complex`"].map(|feature| !expected.contains(feature));
        assert_eq!((&found[..], on), (descr, [cfg!(feature = "half"), cfg!(feature = "complex")]));
    }
}

#[cfg(target_endian = "little")]
#[test]
fn written_files_are_those_of_numpy() {
    for name in ["f8_le_c", "rank0", "rank1", "empty"] {
        let mut written = Vec::new();
        npy::write(&mut written, npy::open::<f64>(fixture(name)).unwrap()).unwrap();
        assert_eq!(written, std::fs::read(fixture(name)).unwrap(), "{name}");
    }
    let mut written = Vec::new();
    npy::write(&mut written, npy::open::<bool>(fixture("bool_f")).unwrap()).unwrap();
    assert_eq!(written, std::fs::read(fixture("bool_c")).unwrap());
    let mut written = Vec::new();
    npy::write(&mut written, npy::open::<i16>(fixture("rank5_f")).unwrap()).unwrap();
    assert_eq!(written, std::fs::read(fixture("rank5")).unwrap());
}

#[test]
fn another_element_type_is_an_error() {
    let expected = Error::ElementType { expected: "f32", found: "f64".into() };
    let bytes = std::fs::read(fixture("f8_le_c")).unwrap();
    assert_eq!(npy::open::<f32>(fixture("f8_le_c")).unwrap_err(), expected);
    assert_eq!(npy::read::<f32>(&bytes[..]).unwrap_err(), expected);
    assert_eq!(npy::from_bytes::<f32, _>(bytes).unwrap_err(), expected);
}

#[test]
fn a_missing_file_is_an_io_error() {
    match npy::open::<f64>(fixture("no such file")) {
        Err(Error::Io(error)) => {
            assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
            assert!(error.to_string().contains("no such file.npy: "), "{error}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_saved_file_is_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.npy");
    npy::save(&path, Tensor::from_vec([1000], vec![1_i64; 1000]).unwrap()).unwrap();
    npy::save(&path, Tensor::from_vec([2], vec![3_u8, 4]).unwrap()).unwrap();
    assert_eq!(npy::open::<u8>(&path).unwrap().to_vec().unwrap(), [3, 4]);
}

/// A file of any kind, described.
#[derive(Debug, Clone)]
struct File {
    dtype: DType,
    order: ByteOrder,
    fortran: bool,
    shape: Vec<usize>,
    seed: u8,
}

impl Arbitrary for File {
    fn arbitrary(g: &mut Gen) -> Self {
        let rank = *g.choose(&[0, 1, 2, 2, 3, 3, 5, 9]).unwrap();
        Self {
            dtype: *g.choose(DType::ALL).unwrap(),
            order: *g.choose(&[ByteOrder::Little, ByteOrder::Big]).unwrap(),
            fortran: bool::arbitrary(g),
            shape: (0..rank).map(|_| *g.choose(&[0, 1, 1, 2, 3, 4]).unwrap()).collect(),
            seed: u8::arbitrary(g),
        }
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        let file = self.clone();
        Box::new((0..self.shape.len()).map(move |axis| {
            let mut smaller = file.clone();
            smaller.shape.remove(axis);
            smaller
        }))
    }
}

impl File {
    /// Bytes of the element at a row-major position, least significant first; of a `bool`, a bool.
    fn element(&self, position: usize) -> Vec<u8> {
        let byte = |k: usize| (position * 29 + k * 17 + self.seed as usize) as u8;
        match self.dtype {
            DType::Bool => vec![byte(0) % 2],
            dtype => (0..dtype.size_bytes()).map(byte).collect(),
        }
    }

    /// Turns bytes of one element from the least significant first to the order of the file.
    fn ordered(&self, mut element: Vec<u8>) -> Vec<u8> {
        let numbers = if self.dtype.kind() == 'c' { 2 } else { 1 };
        if self.order == ByteOrder::Big {
            element.chunks_mut(self.dtype.size_bytes() / numbers).for_each(<[u8]>::reverse);
        }
        element
    }

    fn bytes(&self) -> Vec<u8> {
        let header = Header::new(self.dtype, self.order, self.fortran, &self.shape[..]).unwrap();
        let mut bytes = header.to_bytes();
        for index in indexes_in_file_order(&self.shape, self.fortran) {
            let position =
                index.iter().zip(&self.shape).fold(0, |p, (digit, extent)| p * extent + digit);
            bytes.extend(self.ordered(self.element(position)));
        }
        bytes
    }
}

/// Every index, the first axis fastest in Fortran order and the last one otherwise.
fn indexes_in_file_order(shape: &[usize], fortran: bool) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    for axis in 0..shape.len() {
        let axis = if fortran { shape.len() - 1 - axis } else { axis };
        let longer = |index: &Vec<usize>| {
            let index = index.clone();
            (0..shape[axis]).map(move |digit| {
                if fortran {
                    [&[digit], &index[..]].concat()
                } else {
                    [&index[..], &[digit]].concat()
                }
            })
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// The elements of a file, least significant byte first.
struct Decode<'a>(&'a [u8]);

impl DTypeVisitor for Decode<'_> {
    type Output = Result<Vec<Vec<u8>>>;

    fn visit<T: FileElement>(self) -> Self::Output {
        let little = |element: T| {
            let bytes = ByteOrder::Little.convert::<T>(element.into_bytes());
            bytemuck::bytes_of(&bytes).to_vec()
        };
        Ok(npy::read::<T>(self.0)?.to_vec()?.into_iter().map(little).collect())
    }
}

/// Writes what was read, and reads that.
struct Rewrite<'a>(&'a [u8]);

impl DTypeVisitor for Rewrite<'_> {
    type Output = Result<Vec<u8>>;

    fn visit<T: FileElement>(self) -> Self::Output {
        let mut written = Vec::new();
        npy::write(&mut written, &npy::read::<T>(self.0)?)?;
        Ok(written)
    }
}

#[test]
fn any_file_gives_its_elements_in_row_major_order() {
    fn law(file: File) -> bool {
        let bytes = file.bytes();
        let count = file.shape.iter().product();
        let expected: Vec<Vec<u8>> = (0..count).map(|position| file.element(position)).collect();
        file.dtype.visit(Decode(&bytes)) == Ok(expected)
    }
    QuickCheck::new().tests(2000).quickcheck(law as fn(File) -> bool);
}

#[test]
fn writing_what_was_read_keeps_shape_and_elements() {
    fn law(file: File) -> bool {
        let bytes = file.bytes();
        let written = file.dtype.visit(Rewrite(&bytes)).unwrap();
        let header = Header::parse(&written).unwrap();
        header.shape() == &file.shape[..]
            && header.dtype() == file.dtype
            && !header.is_fortran()
            && file.dtype.visit(Decode(&written)) == file.dtype.visit(Decode(&bytes))
    }
    QuickCheck::new().tests(500).quickcheck(law as fn(File) -> bool);
}

#[test]
fn a_header_is_what_parsing_its_bytes_gives() {
    fn law(dtype: usize, big: bool, fortran: bool, shape: Vec<usize>) -> bool {
        let order = if big { ByteOrder::Big } else { ByteOrder::Little };
        let dtype = DType::ALL[dtype % DType::ALL.len()];
        match Header::new(dtype, order, fortran, shape.clone()) {
            Ok(header) => Header::parse(&header.to_bytes()) == Ok(header),
            Err(Error::RankLimit { rank, limit: 64 }) => rank == shape.len() && rank > 64,
            Err(error) => error == Error::ShapeOverflow { shape },
        }
    }
    QuickCheck::new().tests(2000).quickcheck(law as fn(usize, bool, bool, Vec<usize>) -> bool);
}

#[test]
fn files_longer_than_a_block() {
    fn round_trip<T: FileElement + Debug>(element: impl Fn(usize) -> T) {
        for count in [65_535, 65_536, 65_537, 300_001] {
            let data: Vec<T> = (0..count).map(&element).collect();
            let mut file = Vec::new();
            npy::write(&mut file, &Tensor::from_vec([count], data.clone()).unwrap()).unwrap();
            assert_eq!(npy::read::<T>(&file[..]).unwrap().into_storage(), data);
        }
    }
    round_trip(|i| i as u8);
    round_trip(|i| i as f64 / 3.0);
}

#[test]
fn a_header_of_more_axes_than_a_tensor_is_refused() {
    let error = Error::RankLimit { rank: 65, limit: 64 };
    let wide = |rank| Header::new(f64::DTYPE, ByteOrder::NATIVE, true, vec![1; rank]);
    assert_eq!(wide(65), Err(error.clone()));
    let header = wide(64).unwrap();
    assert_eq!(Header::parse(&header.to_bytes()), Ok(header.clone()));
    // One extent more in as many bytes: a space of the padding goes.
    let text = String::from_utf8_lossy(&header.to_bytes()[10..]).into_owned();
    let text = text.replace("(1, ", "(1,1,");
    let bytes = [&header.to_bytes()[..10], text.as_bytes()].concat();
    assert_eq!(Header::parse(&bytes), Err(error.clone()));
    let mut file = bytes;
    file.extend(1.5_f64.to_ne_bytes());
    assert_eq!(npy::read::<f64>(&file[..]).map(drop), Err(error));
}

/// Results larger than one piece are written in pieces, and an error names an index of the whole.
#[test]
fn large_expressions_are_written_piece_by_piece() {
    for shape in [vec![600_001], vec![3, 5, 40_001], vec![2, 1, 300_001], vec![90, 3, 2500]] {
        let t = Tensor::from_fn(&shape[..], |k| k as i64).unwrap();
        let e = t.flip(shape.len() - 1).unwrap() + 1;
        let mut file = Vec::new();
        npy::write(&mut file, &e).unwrap();
        let back = npy::read::<i64>(&file[..]).unwrap();
        assert_eq!(*back.shape(), shape[..]);
        assert_eq!(back.into_storage(), e.to_vec().unwrap());

        let count: usize = shape.iter().product();
        let misfit = |k| if k == count - 7 { -1_i64 } else { 1 };
        let numbers = Tensor::from_fn(&shape[..], misfit).unwrap();
        let mut index: Vec<usize> = shape.iter().map(|extent| extent - 1).collect();
        index[shape.len() - 1] -= 6;
        let error = Error::Cast { index, value: "-1".into(), target: "u64" };
        assert_eq!(npy::write(std::io::sink(), numbers.cast::<u64>()), Err(error));
    }
}

/// An expression that carries an error leaves the file alone.
#[test]
fn a_faulty_expression_touches_no_file() {
    let path = tempfile::NamedTempFile::new().unwrap().into_temp_path();
    std::fs::write(&path, "kept").unwrap();
    let (a, b) = (Tensor::from(vec![1, 2]), Tensor::from(vec![1, 2, 3]));
    assert!(matches!(npy::save(&path, &a + &b), Err(Error::Operands { .. })));
    assert_eq!(std::fs::read(&path).unwrap(), b"kept");
}
