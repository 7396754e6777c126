//! The conformance kit: the library's own storages pass, and every liar is caught by name.

use lensor::dtype::ByteOrder;
use lensor::storage::conformance::{
    Violation, check_reader, check_writer, reader_violations, same_or_nan, writer_violations,
};
use lensor::storage::{Concat, Constant, Encoded, FromFn, Indexed, Progression, SubBuffer};
use lensor::{BoxReader, Reader, StorageError, Stored, Writer};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

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
        check_reader(&(Box::new(data.clone()) as BoxReader<'_, i64>))?;
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
            check_reader(&SubBuffer::new(Constant::new(3, len), range.clone()).unwrap())?;
            check_reader(&SubBuffer::new(Sparse::of(&data(len), Lie::None), range).unwrap())?;
        }
    }
    Ok(())
}

#[test]
fn computed_storage_conforms() -> Checked {
    for len in LENGTHS.into_iter().chain([1 << 40, isize::MAX as usize]) {
        check_reader(&Constant::new(f64::NAN, len))?;
        check_reader(&Progression::new(-5_i16, 7, len))?;
        check_reader(&FromFn::new(len, |address| address ^ 0x55))?;
    }
    Ok(())
}

#[test]
fn composed_storage_conforms() -> Checked {
    for lengths in
        [vec![], vec![0], vec![5], vec![0, 3, 0, 0, 4, 0], vec![1; 40], vec![3000, 0, 3000]]
    {
        let parts: Vec<Vec<i64>> = lengths.into_iter().map(data).collect();
        check_reader(&Concat::new(parts.clone()).unwrap())?;
        let boxed = parts.into_iter().map(|part| Box::new(part) as BoxReader<'_, i64>);
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

/// A way to break a promise.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Lie {
    None,
    Len,
    IsEmpty,
    Unstable,
    Read,
    Panic,
    ErrorAddress,
    ShortSlice,
    Slice,
    RunStep,
    RunZero,
    RunUnwritten,
    RunFails,
    RunSucceeds,
    Gather,
    GatherSorted,
    EntryCount,
    EntryOrder,
    EntryTwice,
    EntryRange,
    EntryValue,
    EntryChunk,
    EntryRoom,
    Fill,
    Rank,
    WriteLost,
    WriteElsewhere,
    WriteRun,
    WriteAt,
    WriteGrows,
    MutSlice,
    WriteFails,
}

/// A reader and writer that breaks at most one promise. Address 5 cannot be read if `hole`.
struct Liar {
    data: Vec<i64>,
    lie: Lie,
    calls: AtomicUsize,
    hole: bool,
}

impl Liar {
    fn new(len: usize, lie: Lie) -> Self {
        let hole = matches!(lie, Lie::ErrorAddress | Lie::RunSucceeds);
        Self { data: data(len), lie, calls: AtomicUsize::new(0), hole }
    }

    fn run(start: usize, step: isize, count: usize) -> Vec<usize> {
        (0..count).map(|k| start.wrapping_add_signed(step * k as isize)).collect()
    }
}

impl Reader for Liar {
    type Elem = i64;

    fn len(&self) -> usize {
        let calls = self.calls.fetch_add(1, Ordering::Relaxed);
        self.data.len() + usize::from(self.lie == Lie::Len && calls % 2 == 1)
    }

    fn read(&self, address: usize) -> i64 {
        assert!(self.lie != Lie::Panic || address != 3, "a panic the test asked for");
        self.data[address] + i64::from(self.lie == Lie::Read && address == 4)
    }

    fn is_empty(&self) -> bool {
        self.data.is_empty() != (self.lie == Lie::IsEmpty)
    }

    fn try_read(&self, address: usize) -> Result<i64, StorageError> {
        if self.hole && address == 5 {
            return Err(StorageError::new(
                if self.lie == Lie::ErrorAddress { 6 } else { 5 },
                "hole",
            ));
        }
        let calls = self.calls.fetch_add(1, Ordering::Relaxed);
        Ok(self.data[address] + if self.lie == Lie::Unstable { calls as i64 } else { 0 })
    }

    fn as_slice(&self) -> Option<&[i64]> {
        match self.lie {
            Lie::ShortSlice => self.data.get(1..),
            Lie::Slice => Some(&[1; 10_000][..self.data.len()]),
            _ => None,
        }
    }

    fn read_run(&self, start: usize, step: isize, out: &mut [i64]) -> Result<(), StorageError> {
        match self.lie {
            Lie::RunFails if step < -1 => return Err(StorageError::new(start, "no large steps")),
            Lie::RunSucceeds => {
                out.fill(0);
                return Ok(());
            }
            _ => {}
        }
        let step = match self.lie {
            Lie::RunStep => {
                step.abs().min((self.data.len() - start) as isize / out.len().max(1) as isize)
            }
            _ => step,
        };
        let start = if self.lie == Lie::RunZero && step == 0 { 0 } else { start };
        let written = out.len() - usize::from(self.lie == Lie::RunUnwritten && out.len() > 100);
        for (slot, address) in out[..written].iter_mut().zip(Self::run(start, step, written)) {
            *slot = self.try_read(address)?;
        }
        Ok(())
    }

    fn read_at(&self, addresses: &[usize], out: &mut [i64]) -> Result<(), StorageError> {
        let mut addresses = addresses.to_vec();
        match self.lie {
            Lie::Gather if addresses.len() > 2 => addresses.swap(1, 2),
            Lie::GatherSorted => addresses.sort_unstable(),
            _ => {}
        }
        for (slot, address) in out.iter_mut().zip(addresses) {
            *slot = self.try_read(address)?;
        }
        Ok(())
    }
}

impl Writer for Liar {
    fn write(&mut self, address: usize, value: i64) {
        match self.lie {
            Lie::WriteLost if address == 2 => {}
            Lie::WriteElsewhere if address == 0 => {
                self.data[0] = value;
                self.data[7] += 1;
            }
            _ => self.data[address] = value,
        }
        if self.lie == Lie::WriteGrows {
            self.data.push(0);
        }
    }

    fn as_mut_slice(&mut self) -> Option<&mut [i64]> {
        match self.lie {
            Lie::MutSlice => {
                self.data.reverse();
                Some(&mut self.data)
            }
            _ => None,
        }
    }

    fn write_run(&mut self, start: usize, step: isize, from: &[i64]) -> Result<(), StorageError> {
        if self.lie == Lie::WriteFails && from.len() > 1 {
            return Err(StorageError::new(start, "one at a time"));
        }
        let skip = usize::from(self.lie == Lie::WriteRun && from.len() > 3);
        let addresses = Self::run(start, step, from.len());
        addresses
            .iter()
            .zip(from)
            .skip(skip)
            .for_each(|(&address, &value)| self.data[address] = value);
        Ok(())
    }

    fn write_at(&mut self, addresses: &[usize], from: &[i64]) -> Result<(), StorageError> {
        let mut addresses = addresses.to_vec();
        if self.lie == Lie::WriteAt {
            addresses.sort_unstable();
        }
        addresses.iter().zip(from).for_each(|(&address, &value)| self.data[address] = value);
        Ok(())
    }
}

/// Sparse storage with fill 0 that breaks at most one promise.
struct Sparse {
    len: usize,
    entries: Vec<(usize, i64)>,
    lie: Lie,
}

impl Sparse {
    /// The elements above 0.
    fn of(data: &[i64], lie: Lie) -> Self {
        let entries = data.iter().copied().enumerate().filter(|&(_, value)| value > 0);
        Self { len: data.len(), entries: entries.collect(), lie }
    }
}

impl Reader for Sparse {
    type Elem = i64;

    fn len(&self) -> usize {
        self.len
    }

    fn read(&self, address: usize) -> i64 {
        assert!(address < self.len);
        match self.entries.binary_search_by_key(&address, |entry| entry.0) {
            Ok(found) => self.entries[found].1,
            Err(_) => 0,
        }
    }

    fn stored(&self) -> Option<&dyn Stored<Elem = i64>> {
        Some(self)
    }
}

impl Stored for Sparse {
    type Elem = i64;

    fn fill(&self) -> i64 {
        i64::from(self.lie == Lie::Fill)
    }

    fn count(&self) -> usize {
        self.entries.len() + usize::from(self.lie == Lie::EntryCount)
    }

    fn rank(&self, address: usize) -> usize {
        let inclusive = usize::from(self.lie == Lie::Rank);
        self.entries.partition_point(|entry| entry.0 < address + inclusive)
    }

    fn entries(&self, from: usize, addresses: &mut [usize], values: &mut [i64]) -> usize {
        let room = match self.lie {
            Lie::EntryRoom => addresses.len(),
            _ => addresses.len().min(values.len()),
        };
        let from = if self.lie == Lie::EntryChunk { from / 2 * 2 } else { from };
        let mut part: Vec<_> = self.entries.iter().skip(from).take(room).copied().collect();
        match self.lie {
            Lie::EntryOrder if part.len() > 2 => part.swap(0, 1),
            Lie::EntryTwice if part.len() > 2 => part[1] = part[0],
            Lie::EntryRange if from == 0 => {
                part.iter_mut().last().into_iter().for_each(|e| e.0 = self.len)
            }
            Lie::EntryValue => part.iter_mut().for_each(|entry| entry.1 += 1),
            _ => {}
        }
        part.iter().zip(&mut *addresses).for_each(|(entry, address)| *address = entry.0);
        part.iter().zip(&mut *values).for_each(|(entry, value)| *value = entry.1);
        part.len()
    }
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
        let mut holed = Liar { hole: len > 5, ..Liar::new(len, Lie::None) };
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
        Panic in reader => Violation::Panicked { method: "read", address: 3 },
        ErrorAddress in reader => Violation::ErrorAddress { method: "try_read", address: 5, named: 6 },
        ShortSlice in reader => Violation::SliceLen { method: "as_slice", .. },
        Slice in reader => Violation::Slice { method: "as_slice", .. },
        RunStep in reader => Violation::Run { .. },
        RunZero in reader => Violation::Run { step: 0, .. },
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
