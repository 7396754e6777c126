//! Wrappers pass on what they are asked, and parts of sparse storage are sparse.

use super::Checked;
use lensor::prelude::*;
use lensor::storage::conformance::{
    Calls, Recorder, Violation, check_reader_forwards, check_writer_forwards,
};
use lensor::storage::{
    Block, BlockIndex, Blocks, BlocksMut, Concat, Indexed, Sparse, StoredMut, SubBuffer,
};
use lensor::tensor::Flat;
use lensor::{BoxReader, Reader, StorageError, Stored, Writer};
use std::sync::Arc;

fn recorder(len: usize) -> (Recorder, Calls) {
    let recorder = Recorder::new(len);
    let calls = recorder.calls();
    (recorder, calls)
}

#[test]
fn pointers_forward() -> Checked {
    let (mut own, calls) = recorder(9);
    check_writer_forwards(&mut own, &calls)?;
    check_reader_forwards(&&own, &calls)?;
    check_writer_forwards(&mut &mut own, &calls)?;
    check_writer_forwards::<dyn Writer<Elem = i64>>(&mut own, &calls)?;
    check_reader_forwards(&Arc::new(own.clone()), &calls)?;
    check_reader_forwards(&(Arc::new(own.clone()) as Arc<dyn Reader<Elem = i64>>), &calls)?;
    check_writer_forwards(&mut Box::new(own.clone()), &calls)?;
    check_writer_forwards(&mut (Box::new(own.clone()) as Box<dyn Writer<Elem = i64>>), &calls)?;
    check_reader_forwards(&BoxReader::new(own.clone()), &calls)?;
    let t = Tensor::new([3, 3], own).unwrap().erase();
    check_reader_forwards(t.erase().storage(), &calls)
}

#[test]
fn parts_forward() -> Checked {
    for range in [0..9, 0..5, 3..9, 2..7, 4..6] {
        let (own, calls) = recorder(9);
        let mut part = SubBuffer::new(own, range.clone()).unwrap();
        check_writer_forwards(&mut part, &calls)?;
        let mut inner = SubBuffer::new(&mut part, 0..2).unwrap();
        check_writer_forwards(&mut inner, &calls)?;
        let boxed = Box::new(part) as Box<dyn Writer<Elem = i64>>;
        check_writer_forwards(&mut SubBuffer::new(boxed, 0..2).unwrap(), &calls)?;
    }
    Ok(())
}

/// Storage made of others is read in blocks if it is asked for blocks.
#[test]
fn composed_storage_forwards_blocks() {
    let (own, calls) = recorder(9);
    let arrived = || {
        let names = calls.take().into_iter();
        names.filter(|name| name.starts_with("read")).collect::<Vec<_>>()
    };
    let arrive = |storage: &dyn Reader<Elem = i64>, run: &[&str], list: &[&str]| {
        let mut out = [0; 4];
        calls.take();
        storage.read_run(1, 1, &mut out).unwrap();
        assert_eq!(arrived(), run);
        storage.read_at(&[3, 1, 0, 2], &mut out).unwrap();
        assert_eq!(arrived(), list);
    };
    let listed = Indexed::new(&own, vec![5, 3, 3, 0, 8]).unwrap();
    arrive(&listed, &["read_at"], &["read_at"]);
    let joined = Concat::new(vec![&own]).unwrap();
    arrive(&joined, &["read_run"], &["read_at"]);
    let parts: Vec<_> = (0..3).map(|k| SubBuffer::new(&own, 3 * k..3 * k + 3).unwrap()).collect();
    arrive(&Concat::new(parts).unwrap(), &["read_run"; 2], &["read_at"; 2]);
    let square = Tensor::new([3, 3], &own).unwrap();
    arrive(&square.clone().flat(), &["read_run"], &["read_at"]);
    arrive(&square.clone().slice(0, 1..3).unwrap().flat(), &["read_run"], &["read_at"]);
    let turned: Flat<_> = square.transpose([1, 0]).unwrap().flat();
    arrive(&turned, &["read_at"], &["read_at"]);
}

/// Passes on what is required of it, and no more.
struct Idle(Recorder);

impl Reader for Idle {
    type Elem = i64;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn read(&self, address: usize) -> i64 {
        self.0.read(address)
    }
}

impl Writer for Idle {
    fn write(&mut self, address: usize, value: i64) {
        self.0.write(address, value);
    }
}

#[test]
fn who_does_not_forward_is_caught() {
    let (own, calls) = recorder(9);
    let found = check_writer_forwards(&mut Idle(own), &calls).unwrap_err();
    assert_eq!(found, Violation::NotForwarded { method: "try_read", found: vec!["read"] });
    assert_eq!(found.to_string(), "`try_read` of the wrapper arrives as [\"read\"] below");
}

/// Every provided method is told apart: each left out by itself is caught.
macro_rules! lazy_wrappers {
    ($($name:ident $method:literal [$($reader:tt)*] [$($writer:tt)*];)*) => { $(
        struct $name(Recorder);

        impl Reader for $name {
            type Elem = i64;
            fn len(&self) -> usize {
                self.0.len()
            }
            fn read(&self, address: usize) -> i64 {
                self.0.read(address)
            }
            lazy_wrappers!(@reader $($reader)*);
        }

        impl Writer for $name {
            fn write(&mut self, address: usize, value: i64) {
                self.0.write(address, value);
            }
            lazy_wrappers!(@writer $($writer)*);
        }

        let (own, calls) = recorder(9);
        let found = check_writer_forwards(&mut $name(own), &calls).unwrap_err();
        assert!(
            matches!(found, Violation::NotForwarded { method, .. } if method == $method),
            "{found}"
        );
    )* };
    (@reader $($method:ident)*) => { $( lazy_wrappers!(= $method); )* };
    (@writer $($method:ident)*) => { $( lazy_wrappers!(= $method); )* };
    (= try_read) => {
        fn try_read(&self, address: usize) -> Result<i64, StorageError> {
            self.0.try_read(address)
        }
    };
    (= as_slice) => {
        fn as_slice(&self) -> Option<&[i64]> {
            self.0.as_slice()
        }
    };
    (= read_run) => {
        fn read_run(&self, start: usize, step: isize, out: &mut [i64]) -> Result<(), StorageError> {
            self.0.read_run(start, step, out)
        }
    };
    (= read_at) => {
        fn read_at(&self, addresses: &[usize], out: &mut [i64]) -> Result<(), StorageError> {
            self.0.read_at(addresses, out)
        }
    };
    (= stored) => {
        fn stored(&self) -> Option<&dyn Stored<Elem = i64>> {
            self.0.stored()
        }
    };
    (= blocks) => {
        fn blocks(&self) -> Option<&dyn Blocks<Elem = i64>> {
            self.0.blocks()
        }
    };
    (= blocks_mut) => {
        fn blocks_mut(&mut self) -> Option<&dyn BlocksMut<Elem = i64>> {
            self.0.blocks_mut()
        }
    };
    (= stored_mut) => {
        fn stored_mut(&mut self) -> Option<&mut dyn StoredMut<Elem = i64>> {
            self.0.stored_mut()
        }
    };
    (= try_write) => {
        fn try_write(&mut self, address: usize, value: i64) -> Result<(), StorageError> {
            self.0.try_write(address, value)
        }
    };
    (= as_mut_slice) => {
        fn as_mut_slice(&mut self) -> Option<&mut [i64]> {
            self.0.as_mut_slice()
        }
    };
    (= write_run) => {
        fn write_run(&mut self, start: usize, step: isize, from: &[i64]) -> Result<(), StorageError> {
            self.0.write_run(start, step, from)
        }
    };
    (= write_at) => {
        fn write_at(&mut self, addresses: &[usize], from: &[i64]) -> Result<(), StorageError> {
            self.0.write_at(addresses, from)
        }
    };
}

#[test]
fn each_method_left_out_is_caught() {
    lazy_wrappers! {
        NoTry "try_read" [as_slice read_run read_at stored blocks] [];
        NoSlice "as_slice" [try_read read_run read_at stored blocks] [];
        NoRun "read_run" [try_read as_slice read_at stored blocks] [];
        NoList "read_at" [try_read as_slice read_run stored blocks] [];
        NoEntries "entries" [try_read as_slice read_run read_at blocks] [];
        NoBlocks "load" [try_read as_slice read_run read_at stored] [];
        NoTryWrite "try_write" [try_read as_slice read_run read_at stored blocks] [as_mut_slice write_run write_at];
        NoMutSlice "as_mut_slice" [try_read as_slice read_run read_at stored blocks] [try_write write_run write_at];
        NoWriteRun "write_run" [try_read as_slice read_run read_at stored blocks] [try_write as_mut_slice write_at];
        NoWriteList "write_at" [try_read as_slice read_run read_at stored blocks] [try_write as_mut_slice write_run];
        NoEntriesMut "is_fill" [try_read as_slice read_run read_at stored blocks] [try_write as_mut_slice write_run write_at];
        NoBlocksMut "store" [try_read as_slice read_run read_at stored blocks] [try_write as_mut_slice write_run write_at stored_mut];
    }
}

/// Blocks around blocks, of which one provided method is left to its default.
#[test]
fn each_method_of_blocks_left_out_is_caught() {
    #[derive(Clone, Copy, PartialEq)]
    enum Left {
        Nothing,
        Expect,
        Change,
        Finish,
    }
    struct Around(Recorder, Left);
    impl Reader for Around {
        type Elem = i64;
        fn len(&self) -> usize {
            self.0.len()
        }
        fn read(&self, address: usize) -> i64 {
            self.0.read(address)
        }
        lazy_wrappers!(@reader try_read as_slice read_run read_at stored);
        fn blocks(&self) -> Option<&dyn Blocks<Elem = i64>> {
            Some(self)
        }
    }
    impl Writer for Around {
        fn write(&mut self, address: usize, value: i64) {
            self.0.write(address, value);
        }
        lazy_wrappers!(@writer try_write as_mut_slice write_run write_at stored_mut);
        fn blocks_mut(&mut self) -> Option<&dyn BlocksMut<Elem = i64>> {
            Some(self)
        }
    }
    impl Blocks for Around {
        type Elem = i64;
        fn extents(&self) -> &[usize] {
            self.0.extents()
        }
        fn block(&self) -> &[usize] {
            self.0.block()
        }
        fn load(&self, index: &[usize]) -> Result<Block<'_, i64>, StorageError> {
            self.0.load(index)
        }
        fn expect(&self, next: &[BlockIndex]) {
            if self.1 != Left::Expect {
                self.0.expect(next);
            }
        }
    }
    impl BlocksMut for Around {
        fn store(&self, index: &[usize], from: &[i64]) -> Result<(), StorageError> {
            self.0.store(index, from)
        }
        fn change(
            &self,
            index: &[usize],
            change: &mut dyn FnMut(&mut [i64]),
        ) -> Result<(), StorageError> {
            match self.1 {
                Left::Change => {
                    let mut elements = self.0.load(index)?.as_slice().unwrap().to_vec();
                    change(&mut elements);
                    self.0.store(index, &elements)
                }
                _ => self.0.change(index, change),
            }
        }
        fn finish(&self) -> Result<(), StorageError> {
            if self.1 == Left::Finish { Ok(()) } else { self.0.finish() }
        }
    }
    for (left, expected) in [
        (Left::Nothing, None),
        (Left::Expect, Some(("expect", vec![]))),
        (Left::Change, Some(("change", vec!["load", "store"]))),
        (Left::Finish, Some(("finish", vec![]))),
    ] {
        let (own, calls) = recorder(9);
        let found = check_writer_forwards(&mut Around(own, left), &calls).err();
        let expected = expected.map(|(method, found)| Violation::NotForwarded { method, found });
        assert_eq!(found, expected);
    }
}

/// An assignment to a part of sparse storage leaves the rest as it is, stores no fill value, and gives what an
/// assignment to a part of a dense copy gives.
#[test]
fn a_part_of_sparse_storage_is_assigned_sparsely() {
    let (len, sources) = (9, [0, 1, 3]);
    let sparse = |fill: i64, kind: usize, len: usize| -> Sparse<i64> {
        let every: Vec<usize> = (0..len).step_by(kind + 1).collect();
        let values = every.iter().map(|k| *k as i64 % 3).collect();
        Sparse::from_sorted(len, fill, every, values).unwrap()
    };
    for range in [0..9, 0..4, 5..9, 2..7, 3..3] {
        for (own_fill, from_fill) in [(0, 0), (0, 1), (2, 1), (5, 5)] {
            for (own_kind, from_kind) in sources.iter().flat_map(|a| sources.map(|b| (*a, b))) {
                let mut own = sparse(own_fill, own_kind, len);
                let from = Tensor::new([range.len()], sparse(from_fill, from_kind, range.len()));
                let from = from.unwrap();
                let mut dense: Vec<i64> = (0..len).map(|k| own.read(k)).collect();
                let before = own.clone();
                let part = SubBuffer::new(&mut own, range.clone()).unwrap();
                let mut part = Tensor::new([range.len()], part).unwrap();
                match part.assign(&from) {
                    Ok(()) => {}
                    // As for a part of a tensor.
                    Err(Error::WouldDensify { .. }) => {
                        assert!(own_fill != from_fill && range.len() < len);
                        assert_eq!(own, before);
                        continue;
                    }
                    Err(error) => panic!("{error}"),
                }
                let values = from.to_vec().unwrap();
                dense[range.clone()].copy_from_slice(&values);
                assert_eq!((0..len).map(|k| own.read(k)).collect::<Vec<_>>(), dense);
                let inside = |address: &usize| range.contains(address);
                let fills = own.iter().filter(|entry| inside(&entry.0) && entry.1 == own.fill());
                assert_eq!(fills.count(), 0, "{own:?}");
                assert!(own.addresses().is_sorted_by(|a, b| a < b), "{own:?}");
            }
        }
    }
}

#[test]
fn a_part_of_sparse_storage_is_filled_and_written_in_blocks() {
    let mut own = Sparse::from_sorted(1 << 40, 0, vec![1, 1 << 30], vec![5, 6]).unwrap();
    let part = SubBuffer::new(&mut own, 10..(1 << 39)).unwrap();
    let mut t = Tensor::new([(1 << 39) - 10], part).unwrap();
    // Densely this would visit 2^39 elements.
    t.assign(&Tensor::sparse([(1 << 39) - 10], 0).unwrap()).unwrap();
    assert_eq!(t.stored_entries().unwrap().unwrap().stored_len(), 0);
    t.slice(0, 3..6).unwrap().assign(4).unwrap();
    assert!(own.iter().eq([(1, 5), (13, 4), (14, 4), (15, 4)]));

    let mut part = SubBuffer::new(&mut own, 10..20).unwrap();
    part.write_at(&[9, 3, 3], &[1, 2, 0]).unwrap();
    let beyond = part.write_at(&[2, 10], &[1, 1]).unwrap_err();
    assert_eq!(beyond.to_string(), "storage failed at address 10: beyond the 10 elements");
    assert!(own.iter().eq([(1, 5), (14, 4), (15, 4), (19, 1)]));
}

/// Errors name the address that was asked for.
#[test]
fn beyond_a_part_there_is_nothing() {
    let mut part = SubBuffer::new(vec![0; 9], 2..7).unwrap();
    let text = |error: StorageError| {
        assert_eq!(error.address, 5);
        assert_eq!(error.to_string(), "storage failed at address 5: beyond the 5 elements");
    };
    text(part.try_read(5).unwrap_err());
    text(part.read_at(&[0, 5], &mut [0; 2]).unwrap_err());
    text(part.try_write(5, 1).unwrap_err());
    text(part.write_at(&[0, 5], &[1, 1]).unwrap_err());
    assert_eq!(part.into_storage()[7..], [0, 0]);
}
