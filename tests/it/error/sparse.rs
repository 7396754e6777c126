//! Broken sparse structures, results that would turn dense, and sizes beyond 2^32: every error with its
//! text, and no panic.

use crate::support::{fails, offline};
use lensor::error::SparseFlaw;
use lensor::expr::zip_stored;
use lensor::prelude::*;
use lensor::reduce::Min;
use lensor::storage::{Constant, Duplicates, Sparse, SubBuffer};
use lensor::tensor::concat;
use lensor::{Reader, StorageError, Stored};

fn vector(len: usize, fill: i32, addresses: &[usize], values: &[i32]) -> Tensor<Sparse<i32>> {
    let storage = Sparse::from_sorted(len, fill, addresses.to_vec(), values.to_vec());
    Tensor::new([len], storage.unwrap()).unwrap()
}

#[test]
fn constructors_refuse_broken_structures() {
    let sorted = |addresses: &[usize], values: &[i32]| {
        Sparse::from_sorted(10, 0, addresses.to_vec(), values.to_vec())
    };
    fails(
        sorted(&[1, 10], &[1, 2]),
        Error::InvalidSparse { at: 1, what: SparseFlaw::Beyond { address: 10, len: 10 } },
        "invalid sparse structure at entry 1: address 10 is beyond the length 10",
    );
    fails(
        sorted(&[1, 5, 4], &[1, 2, 3]),
        Error::InvalidSparse { at: 2, what: SparseFlaw::Order { previous: 5, address: 4 } },
        "invalid sparse structure at entry 2: address 4 follows 5",
    );
    fails(
        sorted(&[1, 2], &[1]),
        Error::InvalidSparse { at: 1, what: SparseFlaw::Counts { addresses: 2, values: 1 } },
        "invalid sparse structure at entry 1: there are 2 addresses and 1 values",
    );
    fails(
        sorted(&[12, 5], &[1, 2]),
        sorted(&[12], &[1]).unwrap_err(),
        "invalid sparse structure at entry 0: address 12 is beyond the length 10",
    );
    let shuffled = |addresses: &[usize], duplicates| {
        let values = (0..addresses.len() as i32).collect();
        Sparse::from_coordinates(1000, 0, addresses.to_vec(), values, duplicates)
    };
    fails(
        shuffled(&[7, 3, 3, 7], Duplicates::Refuse),
        Error::InvalidSparse { at: 2, what: SparseFlaw::Duplicate { address: 3 } },
        "invalid sparse structure at entry 2: address 3 was given before",
    );
    fails(
        shuffled(&[7, 1000], Duplicates::sum()),
        Error::InvalidSparse { at: 1, what: SparseFlaw::Beyond { address: 1000, len: 1000 } },
        "invalid sparse structure at entry 1: address 1000 is beyond the length 1000",
    );
    let entries = |duplicates| -> Vec<(usize, i32)> {
        shuffled(&[7, 3, 3, 7, 7], duplicates).unwrap().iter().collect()
    };
    assert_eq!(entries(Duplicates::First), [(3, 1), (7, 0)]);
    assert_eq!(entries(Duplicates::Last), [(3, 2), (7, 4)]);
    assert_eq!(entries(Duplicates::sum()), [(3, 3), (7, 7)]);
    assert_eq!(entries(Duplicates::Combine(|a, b| a * 10 + b)), [(3, 12), (7, 34)]);
    // Enough to be sorted digit by digit, each address three times, from the first to the last.
    let many: Vec<usize> = (0..3000).map(|k| k * 7 % 1000).collect();
    let joined = shuffled(&many, Duplicates::Combine(|a, b| a.max(b) * i32::from(a < b))).unwrap();
    assert_eq!(joined.stored_len(), 1000);
    assert!(joined.iter().all(|(address, value)| value as usize * 7 % 1000 == address));
}

#[test]
fn tensors_refuse_coordinates_outside() {
    let of = |indexes: &[Vec<usize>]| {
        let values = vec![1; indexes.len()];
        Tensor::from_coordinates([2, 3], 0, indexes, values, Duplicates::Refuse)
    };
    fails(
        of(&[vec![0, 0], vec![1, 3]]),
        Error::InvalidSparse { at: 1, what: SparseFlaw::Index { axis: 1, index: 3, extent: 3 } },
        "invalid sparse structure at entry 1: index 3 is out of bounds: axis 1 has extent 3",
    );
    fails(
        of(&[vec![0]]),
        Error::Rank { what: "indexes", expected: 2, found: 1 },
        "expected 2 indexes, one per axis, found 1",
    );
    fails(
        of(&[vec![1, 2], vec![0, 0], vec![1, 2]]),
        Error::InvalidSparse { at: 2, what: SparseFlaw::Repeated { index: vec![1, 2] } },
        "invalid sparse structure at entry 2: index [1, 2] was given before",
    );
    let lists = |rows: &[usize], columns: &[usize]| {
        let lists = [rows, columns];
        Tensor::from_coordinate_lists([2, 3], 0, &lists, vec![1, 2], Duplicates::Last)
    };
    assert_eq!(lists(&[0, 0], &[2, 2]).unwrap().to_vec().unwrap(), [0, 0, 2, 0, 0, 0]);
    fails(
        lists(&[0, 2], &[0, 0]),
        Error::InvalidSparse { at: 1, what: SparseFlaw::Index { axis: 0, index: 2, extent: 2 } },
        "invalid sparse structure at entry 1: index 2 is out of bounds: axis 0 has extent 2",
    );
    // The first entry, not the first axis.
    let what = SparseFlaw::Index { axis: 1, index: 3, extent: 3 };
    assert_eq!(lists(&[0, usize::MAX], &[3, 0]), Err(Error::InvalidSparse { at: 0, what }));
    let error = lists(&[0, 1], &[0]).unwrap_err();
    let what = SparseFlaw::Counts { addresses: 1, values: 2 };
    assert_eq!(error, Error::InvalidSparse { at: 1, what });
    let one = Tensor::from_coordinate_lists([2, 3], 0, &[&[1]], vec![1], Duplicates::Last);
    fails(
        one,
        Error::Rank { what: "coordinate lists", expected: 2, found: 1 },
        "expected 2 coordinate lists, one per axis, found 1",
    );
    let empty = Tensor::from_coordinates([3, 0], 0, &[[0, 0]], vec![1], Duplicates::Refuse);
    assert!(matches!(empty, Err(Error::InvalidSparse { .. })));
}

/// The index of the result that needs the element, not that of the operand which has it.
#[test]
fn operands_of_stored_functions_that_cannot_be_read() {
    let at = [[1, 3], [2, 0], [3, 3]];
    let t = Tensor::from_coordinates([4, 5], 0, &at, vec![1, 2, 3], Duplicates::Refuse).unwrap();
    let row = Tensor::new([5], offline(5, 3..4)).unwrap();
    let products = zip_stored((&t, &row), 0, |(x, y)| x * y);
    let text = "storage failed at address 3: offline, index [1, 3]";
    let error = products.eval_sparse().unwrap_err();
    fails(products.eval().map(drop), error.clone(), text);
    fails(products.view().sum(1).eval().map(drop), error.clone(), text);
    fails((&products + 1).eval().map(drop), error, text);
    let column = Tensor::new([4, 1], offline(4, 3..4)).unwrap();
    let error = zip_stored((&t, &column), 0, |(x, y)| x * y).eval_sparse().unwrap_err();
    assert!(matches!(error, Error::Storage { index: Some(index), .. } if index == [3, 3]));
}

#[test]
fn nothing_turns_dense_silently() {
    let a = vector(6, 0, &[1, 4], &[10, 40]);
    let dense = Tensor::from(vec![1; 6]);
    fails(
        (&a + &dense).eval_sparse(),
        Error::WouldDensify { stored: 2, dense: 6 },
        "2 stored entries would become 6 dense elements: keep to entries by `zip_stored`, or ask for that by \
         `densely` or, instead of `eval_sparse`, `eval`",
    );
    assert_eq!((&a + &dense).eval().unwrap().storage(), &[1, 11, 1, 1, 41, 1]);
    let nowhere = zip_stored((&dense, 2), 0, |(a, b)| a * b).eval_sparse();
    assert_eq!(nowhere.unwrap_err(), Error::WouldDensify { stored: 0, dense: 6 });
    fails(
        dense.view().lazy().eval_sparse(),
        Error::WouldDensify { stored: 0, dense: 6 },
        "nothing is stored, and 6 dense elements would be computed: `to_sparse(fill)` keeps those that differ from \
         `fill`, `densely` or, instead of `eval_sparse`, `eval` asks for all",
    );
    // What is joined of sparse tensors of several fill values is not sparse, but has their entries.
    let b = vector(6, 1, &[1, 4], &[10, 40]);
    let joined = concat(0, [&a, &b]).unwrap();
    fails(
        joined.view().lazy().eval_sparse(),
        Error::WouldDensify { stored: 4, dense: 12 },
        "4 stored entries would become 12 dense elements: keep to entries by `zip_stored`, or ask for that by \
         `densely` or, instead of `eval_sparse`, `eval`",
    );
    let error = (&joined * 2).eval_sparse().unwrap_err();
    assert_eq!(error, Error::WouldDensify { stored: 4, dense: 12 });
    assert!(joined.to_sparse(0).unwrap().storage().iter().eq([
        (1, 10),
        (4, 40),
        (6, 1),
        (7, 10),
        (8, 1),
        (9, 1),
        (10, 40),
        (11, 1)
    ]));
    let error = a.to_sparse(1).unwrap_err();
    assert_eq!(error, Error::WouldDensify { stored: 2, dense: 6 });
    assert!(vector(2, 0, &[0, 1], &[3, 4]).to_sparse(4).unwrap().storage().iter().eq([(0, 3)]));
    // A part of sparse storage does not take over another fill value.
    let mut t = vector(6, 0, &[0, 1, 5], &[7, 8, 9]);
    let ones = vector(3, 1, &[0], &[4]);
    let error = t.view_mut().slice(0, 1..4).unwrap().assign(&ones).unwrap_err();
    assert_eq!(error, Error::WouldDensify { stored: 1, dense: 3 });
    t.view_mut().slice(0, 1..4).unwrap().assign(ones.eval().unwrap()).unwrap();
    assert!(t.storage().iter().eq([(0, 7), (1, 4), (2, 1), (3, 1), (5, 9)]));
    // All of it does.
    t.assign(&(&a + 1)).unwrap();
    assert_eq!(t.storage().fill(), 1);
    assert!(t.storage().iter().eq([(1, 11), (4, 41)]));
    t.try_add_assign(&a).unwrap();
    assert!(t.storage().iter().eq([(1, 21), (4, 81)]));
    t.map_in_place(|x| x + 1).unwrap();
    assert_eq!(t.storage().fill(), 2);
    assert!(t.storage().iter().eq([(1, 22), (4, 82)]));
    let error = t.view_mut().slice(0, 1..4).unwrap().map_in_place(|x| -x).unwrap_err();
    assert_eq!(error, Error::WouldDensify { stored: 1, dense: 3 });
    t.zip_in_place(&a.view().flip(0).unwrap(), |x, y| x + y).unwrap();
    assert_eq!(t.storage().fill(), 2);
}

#[test]
fn virtual_tensors_take_the_memory_of_their_entries() {
    let side = 1 << 20;
    let indexes = [[0, 5], [7, 0]];
    let mut t = Tensor::from_coordinates([side, side], 0, &indexes, vec![1, 2], Duplicates::Refuse)
        .unwrap();
    let other = Tensor::from_coordinates([side, 1], 0, &[[7, 0]], vec![5], Duplicates::Refuse);
    let other = other.unwrap();
    let sum = (&t * 2 - t.view().transpose([1, 0]).unwrap()).eval_sparse().unwrap();
    let expected = [(5, 2), (7, -2), (5 * side, -1), (7 * side, 4)];
    assert!(sum.storage().iter().eq(expected));
    // A column beside a matrix repeats its entry along the row.
    let row = (&t + &other).select((7, ..3)).unwrap().eval_sparse().unwrap();
    assert_eq!(row.to_vec().unwrap(), [7, 5, 5]);
    t.view_mut().transpose([1, 0]).unwrap().select((0,)).unwrap().fill(0).unwrap();
    assert!(t.storage().iter().eq([(5, 1)]));
    t.update(|old| Ok((old.clone().flip(0)? + old).boxed())).unwrap();
    assert!(t.storage().iter().eq([(5, 1), ((side - 1) * side + 5, 1)]));
    t.copy_within(
        &t.address_map().clone().slice(0, 0..3).unwrap(),
        &t.address_map().clone().slice(0, 1..4).unwrap(),
    )
    .unwrap();
    assert_eq!(t.storage().addresses(), [5, side + 5, (side - 1) * side + 5]);
    let same = t.equal(&t).eval_sparse().unwrap();
    assert!(same.storage().fill());
    assert!(t == t.clone());
    assert!(t != t.clone().flip(0).unwrap());
    let halves = Tensor::sparse([side, side], 0.5).unwrap();
    assert!(halves.all_close(&(&halves * 1.01), 0.1, 0.0).unwrap());
    assert!(!halves.all_close(0.7, 0.1, 0.0).unwrap());
}

#[test]
fn faults_are_found_where_they_are_first() {
    let a = vector(1 << 40, 6, &[3, 1 << 30], &[1, 2]);
    // The fill value of `b` is a zero that some element has.
    let b = vector(1 << 40, 0, &[0, 1, 3], &[1, 2, 3]);
    fails(
        (&a / &b).eval_sparse(),
        Error::Arithmetic { index: vec![2] },
        "division by zero at index [2]",
    );
    let one = vector(1 << 40, 1, &[3, 1 << 30], &[3, 0]);
    fails(
        (&a / &one).eval_sparse(),
        Error::Arithmetic { index: vec![1 << 30] },
        "division by zero at index [1073741824]",
    );
    // A fill value that no element has is nobody's fault.
    let full = vector(3, 0, &[0, 1, 2], &[1, 2, 3]);
    let quotient = (vector(3, 6, &[], &[]).view() / &full).eval_sparse().unwrap();
    assert_eq!(quotient.to_vec().unwrap(), [6, 3, 2]);
    fails(
        (&vector(9, -1, &[0], &[1])).cast::<u8>().eval_sparse(),
        Error::Cast { index: vec![1], value: "-1".into(), target: "u8" },
        "cannot convert -1 at index [1] to u8",
    );
    fails(
        (&vector(9, 1, &[0, 5], &[1, 300])).cast::<u8>().eval(),
        Error::Cast { index: vec![5], value: "300".into(), target: "u8" },
        "cannot convert 300 at index [5] to u8",
    );
}

/// Sparse storage that breaks every promise it can.
struct Liar(Vec<usize>, usize);

impl Reader for Liar {
    type Elem = i32;

    fn len(&self) -> usize {
        100
    }

    fn read(&self, _address: usize) -> i32 {
        1
    }

    fn stored(&self) -> Option<&dyn Stored<Elem = i32>> {
        Some(self)
    }
}

impl Stored for Liar {
    type Elem = i32;

    fn fill(&self) -> i32 {
        0
    }

    fn count(&self) -> usize {
        self.1
    }

    fn rank(&self, address: usize) -> usize {
        if address == 0 { 0 } else { self.1 }
    }

    fn entries(&self, _from: usize, addresses: &mut [usize], values: &mut [i32]) -> usize {
        let count = addresses.len().min(self.0.len());
        addresses[..count].copy_from_slice(&self.0[..count]);
        values.fill(1);
        count
    }
}

#[test]
fn lies_give_wrong_numbers_and_nothing_worse() {
    let lists = [
        vec![5, 3, 99, 3, 1000, usize::MAX, 0],
        vec![usize::MAX; 9],
        vec![7; 5],
        (0..600).map(|k| 600 - k).collect(),
        vec![15, 3, 11, 12, 13, 14, 16, 17],
        vec![15, 3, 16, 17, 18, 19, 11, 12],
        vec![usize::MAX - 6, 1, 2],
    ];
    let row = Tensor::full([10], 1).unwrap();
    // Rows long enough to be gathered whole, and an entry past the last address there can be a row for.
    let mut entries: Vec<usize> = (0..40).collect();
    entries[3] = usize::MAX - 3;
    let long = Tensor::new([2, 50], Liar(entries, 40)).unwrap();
    for dense in [Tensor::full([2, 50], 1).unwrap(), Tensor::full([1, 50], 1).unwrap()] {
        let dense = dense.broadcast([2, 50]).unwrap();
        let _ = zip_stored((&long, &dense), 0, |(a, b)| a * b).eval_sparse();
        let _ = zip_stored((&long, &long, &dense), 0, |(a, b, c)| a * b * c).eval_sparse();
    }
    let _ = zip_stored((&long, &Tensor::full([50], 1).unwrap()), 0, |(a, b)| a * b).eval_sparse();
    for list in lists {
        for claimed in [0, list.len(), list.len() + 5, usize::MAX] {
            let t = Tensor::new([10, 10], Liar(list.clone(), claimed)).unwrap();
            let other = Tensor::sparse([10, 10], 2).unwrap();
            for view in [
                t.view(),
                t.view().transpose([1, 0]).unwrap(),
                t.view().flip(1).unwrap().rotate([3, 4]).unwrap(),
                t.view().select(([1, 1, 5],)).unwrap().select((.., ..10)).unwrap(),
                t.view().slice(0, 3..6).unwrap().broadcast([12, 10]).unwrap(),
                t.view().reshape([4, 25]).unwrap().transpose([1, 0]).unwrap(),
                t.view().windows(0, 4).unwrap(),
            ] {
                let _ = view.stored_entries();
                let _ = view.to_vec();
                let _ = (&view * 3).eval_sparse().map(|t| t.to_vec());
                let sum = (&view + &view.view()).eval_sparse();
                let _ = sum.map(|t| t.view().flip(0).and_then(|t| t.to_vec()));
                let _ = zip_stored((&view, &view.view()), 0, |(a, b)| a + b).eval_sparse();
                let mut target = Tensor::sparse(view.shape(), 0).unwrap();
                let _ = target.assign(&view);
                let _ = view.eval().and_then(|dense| target.assign(&dense));
            }
            let _ = (&t + &other).eval_sparse();
            let _ = zip_stored((&t, &row), 0, |(a, b)| a * b).eval_sparse();
            let _ = (t.sum(0).eval_sparse(), t.sum(1).eval_sparse(), t.argmax(0).eval_sparse());
            let _ = (t.sum(0).eval(), t.sum(1).eval(), t.sum(..).eval(), t.fold([], Min).eval());
        }
    }
}

#[test]
fn storage_reports_addresses_beyond_its_end() {
    let mut s = Sparse::from_sorted(5, 0, vec![1], vec![9]).unwrap();
    let beyond = |address: usize| StorageError::new(address, "beyond the 5 elements");
    let mut out = [0; 4];
    assert_eq!(s.try_read(5), Err(beyond(5)));
    assert_eq!(s.read_run(3, 1, &mut out), Err(beyond(5)));
    assert_eq!(s.read_run(1, -1, &mut out), Err(beyond(usize::MAX)));
    assert_eq!(s.read_at(&[1, 7], &mut out), Err(beyond(7)));
    assert_eq!(lensor::Writer::try_write(&mut s, 6, 1), Err(beyond(6)));
    assert_eq!(lensor::Writer::write_run(&mut s, 4, 1, &[1, 1]), Err(beyond(5)));
    assert_eq!(s.sub_buffer(3..6), Err(Error::OutOfSpan { span: 3..6, len: 5 }));
    assert_eq!(s.set_constant(2..9, 1), Err(Error::OutOfSpan { span: 2..9, len: 5 }));
    assert_eq!(s.sub_buffer(1..3).unwrap().addresses(), [0]);
    let part = SubBuffer::new(&s, 1..4).unwrap();
    let t = Tensor::new([3], part).unwrap();
    assert!(t.stored_entries().unwrap().unwrap().iter().eq([(0, 9)]));
    let constant = Tensor::new([3], Constant::new(3, 4)).unwrap();
    assert_eq!((&t + &constant).eval_sparse().unwrap().to_vec().unwrap(), [13, 4, 4]);
}

/// Lists that repeat indexes a million times along both axes show an entry 2^40 times: refused before it is
/// tried.
#[test]
fn entries_that_are_shown_too_often_are_an_error() {
    let t = Tensor::new([16, 16], Sparse::from_dense(&[7; 256], 0).unwrap()).unwrap();
    let often: Vec<usize> = (0..1_usize << 20).map(|k| k * k % 251 % 16).collect();
    let shown = t.select((often.clone(), often)).unwrap();
    let bytes = 8 << 40;
    assert_eq!(shown.stored_entries().unwrap_err(), Error::OutOfMemory { bytes });
    let empty = Tensor::new([16, 16], Sparse::new(256, 0)).unwrap();
    let shown = empty.select((vec![3; 1 << 20], vec![5; 1 << 20])).unwrap();
    assert_eq!(shown.stored_entries().unwrap().unwrap().stored_len(), 0);
}
