//! The conformance kit: the library's own storages pass, and every liar is caught by name.

use lensor::dtype::ByteOrder;
use lensor::storage::conformance::{
    Violation, check_reader, check_writer, reader_violations, same_or_nan, writer_violations,
};
use lensor::storage::{
    BlockMemory, Chunked, Concat, Constant, Encoded, FromFn, Impulse, Indexed, Progression,
    SubBuffer,
};
use lensor::{BoxReader, Reader, Stored, Tensor};
use std::sync::Arc;

mod blocks;
mod far;
mod forwards;
mod liars;
mod quiet;
mod writers;

use liars::{Liar, Lie, Sparse};

type Checked = Result<(), Violation>;

/// Lengths around every limit of the kit.
const LENGTHS: [usize; 8] = [0, 1, 2, 15, 17, 300, 4096, 10_000];

fn data(len: usize) -> Vec<i64> {
    (0..len as i64).map(|k| k * 577 % 1009 - 500).collect()
}

#[test]
fn dense_storage_conforms() -> Checked {
    for len in LENGTHS {
        let mut data = data(len);
        check_reader(&data)?;
        check_reader(&data[..])?;
        check_reader(&&data)?;
        check_reader(&&mut data)?;
        check_reader(&Arc::<[i64]>::from(&data[..]))?;
        check_reader(&Box::<[i64]>::from(&data[..]))?;
        check_reader(&BoxReader::new(data.clone()))?;
        check_writer(&mut data, &[1, 2, 3])?;
        check_writer(&mut data[..], &[1, 2, 3])?;
        check_writer(&mut &mut data, &[1, 2, 3])?;
        check_writer(&mut Box::<[i64]>::from(&data[..]), &[1, 2, 3])?;
    }
    check_writer(&mut [0.0; 7], &[f64::NAN, -0.0, 1.0])?;
    check_reader(&['a', 'b'])?;
    check_reader(&[[1, 2], [3, 4]])
}

#[test]
fn parts_conform() -> Checked {
    for len in LENGTHS {
        for range in [0..len, 0..0, len..len, len / 3..len - len / 4] {
            check_reader(&SubBuffer::new(data(len), range.clone()).unwrap())?;
            let mut part = SubBuffer::new(data(len), range.clone()).unwrap();
            check_writer(&mut part, &[7, 8])?;
            let whole = part.into_storage();
            assert_eq!(whole[..range.start], data(len)[..range.start]);
            assert_eq!(whole[range.end..], data(len)[range.end..]);
            check_reader(&SubBuffer::new(Constant::new(len, 3), range.clone()).unwrap())?;
            check_reader(&SubBuffer::new(Sparse::of(&data(len), Lie::None), range).unwrap())?;
        }
    }
    Ok(())
}

#[test]
fn sparse_storage_conforms() -> Checked {
    use lensor::storage::Sparse;
    for len in LENGTHS.into_iter().chain([1 << 40]) {
        for every in [1, 3, 100, 5000] {
            let addresses: Vec<usize> = (0..len.min(20_000)).step_by(every).collect();
            let values: Vec<i64> = addresses.iter().map(|k| *k as i64 % 5).collect();
            let mut sparse = Sparse::from_sorted(len, 2, addresses, values).unwrap();
            check_reader(&sparse)?;
            check_reader(&SubBuffer::new(&sparse, len / 3..len - len / 4).unwrap())?;
            check_reader(&BoxReader::new(sparse.clone()))?;
            if len < 20_000 {
                check_writer(&mut sparse, &[1, 2, 3])?;
                check_reader(&sparse)?;
            }
        }
        check_reader(&Sparse::new(len, f64::NAN))?;
    }
    check_writer(&mut Sparse::new(7, -0.0), &[f64::NAN, -0.0, 0.0])?;
    let part = SubBuffer::new(Sparse::new(700, 2), 100..600);
    check_writer(&mut part.unwrap(), &[1, 2, 3])
}

#[test]
fn storage_in_blocks_conforms() -> Checked {
    for (extents, block) in
        [([7, 9], [3, 4]), ([1, 20], [4, 1]), ([0, 5], [2, 2]), ([40, 40], [50, 8])]
    {
        for blocks in [1, 3, 100] {
            let below = BlockMemory::new(extents, block, 0.0).unwrap();
            let mut chunked = Chunked::new(below).unwrap().with_blocks(blocks);
            check_writer(&mut chunked, &[f64::NAN, 1.0, -0.0])?;
            check_reader(&chunked)?;
        }
    }
    // Parts of it that begin and end within blocks, or have none.
    let blocks = Chunked::new(BlockMemory::new([7, 9], [3, 4], 0_usize).unwrap());
    let mut whole = Tensor::new([7, 9], blocks.unwrap()).unwrap();
    whole.assign(&Tensor::from_fn([7, 9], |k| k).unwrap()).unwrap();
    for (rows, columns) in [(1..6, 2..9), (3..7, 4..8), (5..6, 0..9), (0..7, 3..4), (2..2, 1..5)] {
        let part = whole.view().slice(0, rows.clone()).unwrap().slice(1, columns.clone()).unwrap();
        check_reader(&part.clone().flat())?;
        check_reader(lensor::tensor::concat(0, [&part, &part]).unwrap().storage())?;
        if !rows.is_empty() {
            assert!(part.clone().flat().blocks().is_some());
            check_reader(&Chunked::new(part.flat()).unwrap())?;
        }
    }
    Ok(())
}

#[test]
fn computed_storage_conforms() -> Checked {
    for len in LENGTHS.into_iter().chain([1 << 40, isize::MAX as usize]) {
        check_reader(&Constant::new(len, f64::NAN))?;
        check_reader(&Progression::new(len, -5_i16, 7))?;
        check_reader(&Impulse::new(len, f64::NAN, 2, 1.0))?;
        check_reader(&FromFn::new(len, |address| address ^ 0x55))?;
    }
    // As long as storage can be.
    check_reader(&Constant::new(usize::MAX, 1_u8))
}

#[test]
fn composed_storage_conforms() -> Checked {
    for lengths in
        [vec![], vec![0], vec![5], vec![0, 3, 0, 0, 4, 0], vec![1; 40], vec![3000, 0, 3000]]
    {
        let parts: Vec<Vec<i64>> = lengths.into_iter().map(data).collect();
        check_reader(&Concat::new(parts.clone()).unwrap())?;
        let boxed = parts.into_iter().map(BoxReader::new);
        check_reader(&Concat::new(boxed.collect()).unwrap())?;
    }
    for len in LENGTHS {
        let addresses: Vec<usize> = (0..2 * len).map(|k| k * 7 % len).collect();
        check_reader(&Indexed::new(data(len), addresses).unwrap())?;
        check_reader(&Indexed::new(data(len), FromFn::new(len, move |k| len - 1 - k)).unwrap())?;
    }
    Ok(())
}

#[test]
fn encoded_storage_conforms() -> Checked {
    for len in LENGTHS {
        let bytes: Vec<u8> = (0..len * 4 + 3).map(|k| (k * k) as u8).collect();
        for order in [ByteOrder::Little, ByteOrder::Big] {
            for offset in [0, 3] {
                let encoded =
                    Encoded::<f32, _>::new(bytes.clone(), offset, len - len.min(1), order);
                let mut encoded = encoded.unwrap();
                check_reader(&encoded)?;
                check_writer(&mut encoded, &[f32::NAN, 1.0, -0.0])?;
            }
        }
    }
    Ok(())
}

#[cfg(feature = "mmap")]
#[test]
fn mapped_storage_conforms() -> Checked {
    use lensor::storage::{Mapped, MappedMut};
    for len in LENGTHS {
        let file = tempfile::tempfile().unwrap();
        file.set_len(len as u64 * 8 + 1).unwrap();
        for order in [ByteOrder::Little, ByteOrder::Big] {
            for offset in [0, 1] {
                #[allow(unsafe_code, reason = "a file without a name")]
                // SAFETY: nobody else can open the file, and the maps do not overlap in time.
                unsafe {
                    let mut mapped = MappedMut::<u64>::map_mut(&file, offset, len, order).unwrap();
                    check_writer(&mut mapped, &[1, u64::MAX, 1 << 40])?;
                    drop(mapped);
                    check_reader(&Mapped::<u64>::map(&file, offset, len, order).unwrap())?;
                }
            }
        }
    }
    Ok(())
}

/// The first violation is of this kind, on short, exhausted and sampled storage.
macro_rules! caught {
    ($($lie:ident in $check:ident => $violation:pat,)*) => { $(
        for len in [16, 300, 10_000] {
            let found = $check(len, Lie::$lie);
            assert!(found.iter().any(|v| matches!(v, $violation)), "{} of {len}: {found:?}", stringify!($lie));
            assert!(found.len() <= 4, "{} of {len}: {found:?}", stringify!($lie));
        }
    )* };
}

fn reader(len: usize, lie: Lie) -> Vec<Violation> {
    reader_violations(&Liar::new(len, lie), same_or_nan)
}

fn sparse(len: usize, lie: Lie) -> Vec<Violation> {
    reader_violations(&Sparse::of(&data(len), lie), same_or_nan)
}

fn writer(len: usize, lie: Lie) -> Vec<Violation> {
    writer_violations(&mut Liar::new(len, lie), &[1, 2, 3], same_or_nan)
}

#[test]
fn who_does_not_lie_is_not_blamed() {
    for len in [0, 1, 16, 300, 10_000] {
        assert_eq!(reader(len, Lie::None), []);
        assert_eq!(sparse(len, Lie::None), []);
        assert_eq!(writer(len, Lie::None), []);
        let mut holed = Liar::with_hole(len, len > 5);
        let readable: Vec<_> = reader_violations(&holed, same_or_nan);
        assert_eq!(readable, []);
        let found = writer_violations(&mut holed, &[1, 2], same_or_nan);
        assert!(
            found.iter().all(|v| matches!(v, Violation::Written { address: 5, .. })),
            "{found:?}"
        );
    }
}

#[test]
fn readers_that_lie() {
    caught! {
        Len in reader => Violation::Len { .. },
        IsEmpty in reader => Violation::IsEmpty { .. },
        Unstable in reader => Violation::Unstable { address: 0 },
        Read in reader => Violation::Read { address: 4 },
        Panic in reader => Violation::Panicked { method: "read", address: 3, .. },
        ErrorAddress in reader => Violation::ErrorAddress { method: "try_read", address: 5, named: 6 },
        ShortSlice in reader => Violation::SliceLen { method: "as_slice", .. },
        Slice in reader => Violation::Slice { method: "as_slice", .. },
        RunStep in reader => Violation::Run { .. },
        RunFails in reader => Violation::Fails { method: "read_run", .. },
        RunSucceeds in reader => Violation::Succeeds { method: "read_run", .. },
        Gather in reader => Violation::Gather { .. },
        GatherSorted in reader => Violation::Gather { .. },
    }
    for len in [300, 10_000] {
        let found = reader(len, Lie::RunUnwritten);
        assert!(matches!(found[..], [Violation::Run { position: 100.., .. }]), "{found:?}");
    }
}

#[test]
fn sparse_storage_that_lies() {
    caught! {
        EntryCount in sparse => Violation::EntryCount { .. },
        EntryOrder in sparse => Violation::EntryOrder { .. },
        EntryTwice in sparse => Violation::EntryOrder { .. },
        EntryValue in sparse => Violation::EntryValue { .. },
        EntryChunk in sparse => Violation::EntryChunk { .. },
        EntryRoom in sparse => Violation::EntryCount { from: 0, expected: 2, .. },
        Fill in sparse => Violation::Fill { .. },
        Rank in sparse => Violation::Rank { .. },
        EntryRange in sparse => Violation::EntryRange { .. },
    }
}

#[test]
fn writers_that_lie() {
    caught! {
        WriteLost in writer => Violation::Written { address: 2, .. },
        WriteElsewhere in writer => Violation::Elsewhere { written: 0, address: 7, .. },
        WriteRun in writer => Violation::Written { method: "write_run", .. },
        WriteAt in writer => Violation::Written { method: "write_at", .. },
        WriteGrows in writer => Violation::Len { .. },
        MutSlice in writer => Violation::Slice { method: "as_mut_slice", .. },
        WriteFails in writer => Violation::Fails { method: "write_run", .. },
    }
}

#[test]
fn violations_say_what_was_found() {
    let found = check_reader(&Liar::new(16, Lie::Read)).unwrap_err();
    assert_eq!(found.to_string(), "`read` disagrees with `try_read` at address 4");
    let found = check_writer(&mut Liar::new(16, Lie::WriteLost), &[1, 2]).unwrap_err();
    assert_eq!(found.to_string(), "address 2 does not hold what `try_write` wrote there");
}

/// Lends out entries that are not its own.
struct Lender(lensor::storage::Sparse<i64>, Vec<usize>);

impl Reader for Lender {
    type Elem = i64;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn read(&self, address: usize) -> i64 {
        self.0.read(address)
    }

    fn stored(&self) -> Option<&dyn Stored<Elem = i64>> {
        Some(self)
    }
}

impl Stored for Lender {
    type Elem = i64;

    fn fill(&self) -> i64 {
        self.0.fill()
    }

    fn count(&self) -> usize {
        self.0.count()
    }

    fn rank(&self, address: usize) -> usize {
        self.0.rank(address)
    }

    fn entries(&self, from: usize, addresses: &mut [usize], values: &mut [i64]) -> usize {
        self.0.entries(from, addresses, values)
    }

    fn as_slices(&self) -> Option<(&[usize], &[i64])> {
        Some((&self.1, self.0.values()))
    }
}

#[test]
fn slices_of_entries_that_lie() {
    let lender = |lent: &[usize]| {
        let own = lensor::storage::Sparse::from_sorted(9, 0, vec![2, 5, 7], vec![1, 2, 3]);
        reader_violations(&Lender(own.unwrap(), lent.to_vec()), |a, b| a == b)
    };
    assert_eq!(lender(&[2, 5, 7]), []);
    let other = Violation::EntryChunk { ordinal: 1, from: 0, room: 3 };
    assert_eq!(lender(&[2, 6, 7]), [other]);
    let fewer = Violation::EntryCount { from: 0, expected: 3, found: 2 };
    assert_eq!(lender(&[2, 5]), [fewer]);
}
