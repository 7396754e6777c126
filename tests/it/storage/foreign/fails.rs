//! Storage that fails in the middle (failure mode 16): the error says where.

use super::kernels::kernels;
use lensor::{AddressMap, Elementwise, Error, Reader, Result, StorageError, Tensor, Writer};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Fails at the `countdown`-th access, counted from 0, and from then on.
#[derive(Debug)]
struct Failing {
    data: Vec<i32>,
    countdown: AtomicUsize,
    written: Vec<usize>,
}

impl Failing {
    fn new(len: usize, countdown: usize) -> Self {
        let data = (1..=len as i32).collect();
        Self { data, countdown: AtomicUsize::new(countdown), written: Vec::new() }
    }

    fn access(&self, address: usize) -> Result<(), StorageError> {
        let left = self.countdown.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1));
        left.map(drop).map_err(|_| StorageError::new(address, "the disk is gone"))
    }
}

impl Reader for Failing {
    type Elem = i32;

    fn len(&self) -> usize {
        self.data.len()
    }

    fn read(&self, _address: usize) -> i32 {
        panic!("the library reads by methods that can fail")
    }

    fn try_read(&self, address: usize) -> Result<i32, StorageError> {
        self.access(address)?;
        Ok(self.data[address])
    }
}

impl Writer for Failing {
    fn write(&mut self, _address: usize, _value: i32) {
        panic!("the library writes by methods that can fail")
    }

    fn try_write(&mut self, address: usize, value: i32) -> Result<(), StorageError> {
        self.access(address)?;
        self.data[address] = value;
        self.written.push(address);
        Ok(())
    }
}

/// Whether an error is that of the storage, at an index of `map` that has the address it names.
fn located(error: &Error, map: &AddressMap) -> bool {
    let Error::Storage { index: Some(index), source } = error else { return false };
    let first = map.to_global(source.address).next();
    first.is_some_and(|first| first.as_slice() == index)
        && source.source.to_string() == "the disk is gone"
}

/// Every kernel, failing at every access: an error as long as some access is left out, and values
/// after that.
#[test]
fn a_failure_at_any_read_is_an_error() {
    for kernel in kernels::<Failing>() {
        if ["explain", "print"].contains(&kernel.name) {
            continue;
        }
        let mut failures = 0;
        loop {
            let t = Tensor::new([4, 6], Failing::new(24, failures)).unwrap();
            match (kernel.run)(&t) {
                Ok(_) => break,
                Err(Error::Storage { .. }) => failures += 1,
                Err(error) => panic!("{}: {error}", kernel.name),
            }
        }
        assert!(failures > 0, "{} reads nothing", kernel.name);
    }
}

/// The error of a view names the first index that reads the address, and the address.
#[test]
fn a_failure_names_address_and_index() {
    let views: [fn(AddressMap) -> Result<AddressMap>; 7] = [
        |map| Ok(map),
        |map| map.transpose([1, 0]),
        |map| map.flip(1)?.rotate([1, 2]),
        |map| map.select(([2, 0], [5, 5, 1])),
        |map| map.broadcast([8, 12]),
        |map| map.transpose([1, 0])?.reshape([3, 8])?.rotate([0, 1]),
        |map| map.windows(1, 3),
    ];
    for view in views {
        let map = view(AddressMap::row_major([4, 6]).unwrap()).unwrap();
        for k in 0..map.count() {
            let t = Tensor::with_map(map.clone(), Failing::new(24, k)).unwrap();
            match t.to_vec() {
                Ok(_) => {}
                Err(error) => assert!(located(&error, &map), "{error:?} {map:?}"),
            }
            match (&t * 2).to_vec() {
                Ok(_) => {}
                Err(error) => assert!(located(&error, &map), "{error:?} {map:?}"),
            }
        }
        let t = Tensor::with_map(map.clone(), Failing::new(24, 0)).unwrap();
        assert!(located(&t.to_vec().unwrap_err(), &map));
        assert!(located(&t.get(vec![0; map.rank()]).unwrap_err(), &map));
    }
}

/// The text says what failed, at which address and which index.
#[test]
fn the_text_of_a_failure_holds_both() {
    let t = Tensor::new([2, 3], Failing::new(6, 0)).unwrap().transpose([1, 0]).unwrap();
    let error = t.slice(0, 2..3).unwrap().to_vec().unwrap_err();
    assert_eq!(error.to_string(), "storage failed at address 2: the disk is gone, index [0, 0]");
}

/// Of two operands the one that fails is located by its own map.
#[test]
fn a_failing_operand_is_located_by_its_own_map() {
    let memory = Tensor::full([4, 6], 1).unwrap();
    for k in 0..24 {
        let t = Tensor::new([6, 4], Failing::new(24, k)).unwrap();
        let turned = t.view().transpose([1, 0]).unwrap();
        let error = (&memory + &turned).to_vec().unwrap_err();
        assert!(located(&error, turned.address_map()), "{error:?}");
        let again = Tensor::new([6, 4], Failing::new(24, k)).unwrap();
        let boxed = (again.view().transpose([1, 0]).unwrap() + &memory).boxed();
        let error = (&memory * boxed).boxed().to_vec().unwrap_err();
        assert!(located(&error, turned.address_map()), "{error:?}");
    }
}

/// In several threads some task meets the failure, and its error is the result.
#[test]
fn a_failure_in_a_parallel_evaluation_is_an_error() {
    let len = 1 << 17;
    for threads in 1..=3 {
        let pool = crate::support::pool(threads);
        for k in [0, len / 3, len - 1] {
            let t = Tensor::new([len / 64, 64], Failing::new(len, k)).unwrap();
            let turned = t.view().transpose([1, 0]).unwrap();
            let error = pool.install(|| (&turned + 1).to_vec()).unwrap_err();
            assert!(located(&error, turned.address_map()), "{threads} {k} {error:?}");
        }
        let t = Tensor::new([len], Failing::new(len, 2 * len)).unwrap();
        assert_eq!(pool.install(|| (&t + 1).to_vec()).unwrap().len(), len);
    }
}

/// A writer that fails at any write keeps what was written before, once each, and says where it failed.
#[test]
fn a_failure_at_any_write_is_an_error() {
    let source = Tensor::from_vec([4, 6], (100..124).collect()).unwrap();
    for k in 0..=24 {
        let t = Tensor::new([6, 4], Failing::new(24, k)).unwrap();
        let mut out = t.transpose([1, 0]).unwrap();
        let result = out.assign(&source);
        let map = out.address_map().clone();
        let storage = out.storage();
        assert_eq!(storage.written.len(), k);
        let mut distinct = storage.written.clone();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), k);
        for (address, &value) in storage.data.iter().enumerate() {
            let index = map.to_global(address).next().unwrap();
            let new = source.get(&index).unwrap();
            let written = storage.written.contains(&address);
            assert_eq!(value, if written { new } else { address as i32 + 1 });
        }
        match result {
            Ok(()) => assert_eq!(k, 24),
            Err(error) => assert!(located(&error, &map), "{error:?}"),
        }
    }
}

/// An update reads and writes the same storage; whichever fails is named.
#[test]
fn a_failure_of_an_update_is_an_error() {
    for k in 0..48 {
        let mut t = Tensor::new([4, 6], Failing::new(24, k)).unwrap();
        let error = t.try_add_assign(1).unwrap_err();
        assert!(located(&error, t.address_map()), "{k} {error:?}");
        let mut t = Tensor::new([4, 6], Failing::new(24, k)).unwrap();
        let error = t.update(|old| Ok((old + 1).boxed())).unwrap_err();
        assert!(located(&error, t.address_map()), "{k} {error:?}");
    }
    let mut t = Tensor::new([4, 6], Failing::new(24, 48)).unwrap();
    t.try_add_assign(1).unwrap();
    assert_eq!(t.storage().data, (2..26).collect::<Vec<i32>>());
}

/// Printing shows what can be read, comparing equals nothing, and neither fails.
#[test]
fn a_failing_tensor_prints_and_differs() {
    let t = Tensor::new([2, 2], Failing::new(4, 0)).unwrap();
    assert_eq!(format!("{t}"), "[[?, ?],\n [?, ?]]");
    assert!(format!("{t:?}").contains('?'));
    let u = Tensor::new([2, 2], Failing::new(4, 0)).unwrap();
    assert!(t != u);
    assert!(matches!(t.try_equal(&u), Err(Error::Storage { .. })));
}

/// A source is not evaluated again to say where its results could not be written.
#[test]
fn sources_of_failed_writes_are_evaluated_once() {
    let mut out = Tensor::new([100, 100], Failing::new(10_000, 7000)).unwrap();
    let (ones, calls) = (Tensor::full([100, 100], 1).unwrap(), AtomicUsize::new(0));
    let counted = ones.map(|x| {
        calls.fetch_add(1, Relaxed);
        x
    });
    let error = counted.assign_to(&mut out).unwrap_err();
    assert!(matches!(error, Error::Storage { index: Some(index), .. } if index == [70, 0]));
    assert!(calls.load(Relaxed) <= 10_000);
}

/// The first failure of endless storage, and of a row that is repeated endlessly, is found at once.
#[test]
fn failures_of_endless_storage_are_found() {
    use lensor::prelude::*;
    struct Bad(usize);
    impl Reader for Bad {
        type Elem = i64;
        fn len(&self) -> usize {
            self.0
        }
        fn read(&self, _: usize) -> i64 {
            0
        }
        fn try_read(&self, address: usize) -> Result<i64, StorageError> {
            if address % 100 == 7 { Err(StorageError::new(address, "damaged")) } else { Ok(0) }
        }
    }
    let at = |result: Result<i64, Error>| match result {
        Err(Error::Storage { index, .. }) => index.unwrap(),
        other => panic!("{other:?}"),
    };
    let long = Tensor::new([1 << 30, 1_000_000_007], Bad(1_000_000_007 << 30)).unwrap();
    assert_eq!(at(long.max(..).item()), [0, 7]);
    let turned = long.transpose([1, 0]).unwrap();
    assert_eq!(at(turned.max(..).item()), [0, 1]);
    let row = Tensor::new([1000], Bad(1000)).unwrap().broadcast([1 << 40, 1000]).unwrap();
    assert_eq!(at(row.max(..).item()), [0, 7]);
}
