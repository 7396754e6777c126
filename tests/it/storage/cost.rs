//! What each view and operation asks of a storage, counted: no clock, and the same numbers every time.

use crate::storage::chunked::blocks_of;
use crate::support::pool;
use crate::views::Plain;
use lensor::conformance::{Cost, CostTable, Model, cost, cost_of_writing};
use lensor::storage::{Block, Blocks, Chunked, FromFn, read_each, write_each};
use lensor::{Error, Reader, StorageError, Tensor, Writer};
use std::sync::Mutex;

const N: usize = 1024;

struct TwoMethods(Vec<f64>);

impl Reader for TwoMethods {
    type Elem = f64;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn read(&self, address: usize) -> f64 {
        self.0[address]
    }
}

impl Writer for TwoMethods {
    fn write(&mut self, address: usize, value: f64) {
        self.0[address] = value;
    }
}

fn within(table: &CostTable, bounds: &[(&str, f64)]) {
    for (name, bound) in bounds {
        let ratio = table.ratio(name).unwrap_or_else(|| panic!("no row {name}"));
        assert!(ratio <= *bound, "{name}: {ratio} blocks decoded for each\n{table}");
    }
}

/// 1024 x 1024 elements in blocks of four rows, 16 of 256 of which are kept, read by two methods alone.
#[test]
fn every_block_is_decoded_about_once() {
    let storage = Plain((0..N * N).map(|k| k as f64).collect());
    let model = Model { block: 4096, cached: 16 };
    let table = pool(1).install(|| cost(&storage, &[N, N], model)).unwrap();
    assert_eq!(table.blocks, 256);
    within(
        &table,
        &[
            ("copy", 1.0),
            ("flipped", 1.0),
            ("with dense", 1.0),
            ("sum", 1.0),
            ("cumsum", 1.0),
            ("sort", 1.1),
            ("transposed", 1.1),
            ("rotated", 1.1),
            ("tiles", 1.1),
            ("rows by list", 1.1),
            ("columns by list", 1.1),
            ("transposed with dense", 1.1),
            ("boxed", 1.1),
            ("with its transposed", 9.0),
            ("sum of transposed", 1.1),
            ("sum of transposed, axis 0", 1.1),
            ("sum of transposed, axis 1", 1.1),
            ("variance of transposed", 1.1),
            ("failing", 2.3),
        ],
    );
    let transposed = table.rows.iter().find(|row| row.name == "transposed").unwrap();
    assert!(transposed.mean() >= 100_000, "{table}");
    // What is read in its order is read in long runs.
    for name in ["copy", "with dense", "sum", "cumsum", "rows by list", "columns by list"] {
        let row = table.rows.iter().find(|row| row.name == name).unwrap();
        assert!(row.mean() >= 4096, "{name}: {table}");
    }
    let more = Model { cached: 128, ..model };
    let table = pool(1).install(|| cost(&storage, &[N, N], more)).unwrap();
    within(&table, &[("with its transposed", 4.0)]);
}

/// The same of operations that write.
#[test]
fn every_block_is_written_about_once() {
    let mut storage = TwoMethods((0..N * N).map(|k| k as f64).collect());
    let before = storage.0.clone();
    let model = Model { block: 4096, cached: 16 };
    let table = pool(1).install(|| cost_of_writing(&mut storage, &[N, N], model)).unwrap();
    let names = ["assign", "assign transposed", "update", "update transposed"];
    within(&table, &names.map(|name| (name, 1.1)));
    for row in &table.rows {
        assert!(row.mean() >= 4096, "{table}");
    }
    assert_eq!(storage.0, before);
}

/// Storage that notes start, step and length of the runs that it is asked for.
struct Runs(Vec<u32>, Mutex<Vec<(usize, isize, usize)>>);
impl Reader for Runs {
    type Elem = u32;
    fn len(&self) -> usize {
        self.0.len()
    }
    fn read(&self, address: usize) -> u32 {
        self.0[address]
    }
    fn read_run(&self, start: usize, step: isize, out: &mut [u32]) -> Result<(), StorageError> {
        self.1.lock().unwrap().push((start, step, out.len()));
        read_each(self, start, step, out)
    }
}
impl Writer for Runs {
    fn write(&mut self, address: usize, value: u32) {
        self.0[address] = value;
    }
    fn write_run(&mut self, start: usize, step: isize, from: &[u32]) -> Result<(), StorageError> {
        self.1.lock().unwrap().push((start, step, from.len()));
        write_each(self, start, step, from)
    }
}

/// What is flipped is read forward, all of it in one run where all axes are.
#[test]
fn flipped_views_are_read_forward() {
    let t = Tensor::new([32, 64], Runs((0..2048).collect(), Mutex::default())).unwrap();
    let flipped = t.view().flip(0).unwrap().flip(1).unwrap();
    assert!(flipped.to_vec().unwrap().into_iter().eq((0..2048).rev()));
    assert_eq!(t.storage().1.lock().unwrap().drain(..).collect::<Vec<_>>(), [(0, 1, 2048)]);
    let rows = t.view().flip(1).unwrap().flat();
    let mut row = [0; 64];
    rows.read_run(64, 1, &mut row).unwrap();
    assert!(row.into_iter().eq((64..128).rev()));
    assert_eq!(t.storage().1.lock().unwrap()[..], [(64, 1, 64)]);
}

/// Neighbours of a list are read and written in runs by storage that knows of runs alone.
#[test]
fn neighbours_of_a_list_are_runs() {
    let mut storage = Runs((0..10).collect(), Mutex::default());
    let (list, mut out) = ([5, 6, 7, 3, 2, 1, 9], [0; 7]);
    storage.read_at(&list, &mut out).unwrap();
    assert_eq!(out, [5, 6, 7, 3, 2, 1, 9]);
    storage.write_at(&list, &[1; 7]).unwrap();
    assert_eq!(storage.0, [0, 1, 1, 1, 4, 1, 1, 1, 8, 1]);
    assert_eq!(storage.1.into_inner().unwrap(), [(5, 1, 3), (1, 1, 3), (5, 1, 3), (3, -1, 3)]);
}

/// Of storage with blocks those are counted.
#[test]
fn blocks_of_a_storage_are_counted() {
    let data: Vec<f64> = (0..N * N).map(|k| k as f64).collect();
    let chunked = Chunked::new(blocks_of(&[N, N], &[128, 128], &data)).unwrap();
    let model = Model { block: 1, cached: 2 };
    let table = pool(1).install(|| cost(&chunked, &[N, N], model)).unwrap();
    assert_eq!(table.blocks, 64);
    let once =
        ["copy", "transposed", "sum", "sum of transposed, axis 0", "cumsum", "tiles", "boxed"];
    within(&table, &once.map(|name| (name, 1.0)));
    within(&table, &[("with its transposed", 1.9), ("failing", 2.0)]);
}

/// What writes storage in blocks stores those, each once; where its axes are none of theirs, it writes addresses.
#[test]
fn blocks_of_a_storage_are_written_once() {
    let model = Model { block: 1, cached: 2 };
    let written = |extents: &[usize], block: &[usize], shape: &[usize]| {
        let len = shape.iter().product::<usize>();
        let data: Vec<f64> = (0..len).map(|k| k as f64).collect();
        let mut chunked = Chunked::new(blocks_of(extents, block, &data)).unwrap();
        let table = pool(1).install(|| cost_of_writing(&mut chunked, shape, model)).unwrap();
        assert!(chunked.unsaved().is_empty());
        assert_eq!(Tensor::new([len], &chunked).unwrap().to_vec().unwrap(), data);
        table
    };
    let names = ["assign", "assign transposed", "update", "update transposed"];
    for shape in [&[N, N][..], &[N * N]] {
        let table = written(&[N, N], &[128, 128], shape);
        assert_eq!(table.blocks, 64);
        for (row, (name, calls)) in table.rows.iter().zip(names.iter().zip([64, 64, 128, 128])) {
            assert_eq!((row.name, table.ratio(name)), (*name, Some(1.0)), "{table}");
            assert_eq!((row.calls, row.longest), (calls, 128 * 128), "{table}");
        }
    }
    let table = written(&[10, 100], &[4, 7], &[8, 125]);
    assert_eq!(table.blocks, 45);
    for (row, times) in table.rows.iter().zip([1, 1, 2, 2]) {
        assert_eq!((row.elements, row.calls > 0), (times * 1000, true), "{table}");
        // A line goes through fifteen blocks, of which two are kept.
        assert!((150..=150 * times).contains(&row.loads), "{table}");
    }
}

/// Blocks that do not make the storage are none.
#[test]
fn blocks_of_another_length_are_not_counted() {
    struct Other;
    impl Reader for Other {
        type Elem = f64;
        fn len(&self) -> usize {
            12
        }
        fn read(&self, address: usize) -> f64 {
            address as f64
        }
        fn blocks(&self) -> Option<&dyn Blocks<Elem = f64>> {
            Some(self)
        }
    }
    impl Blocks for Other {
        type Elem = f64;
        fn extents(&self) -> &[usize] {
            &[0, 5]
        }
        fn block(&self) -> &[usize] {
            &[1, 1]
        }
        fn load(&self, _: &[usize]) -> Result<Block<'_, f64>, StorageError> {
            Err(StorageError::new(0, "never asked"))
        }
    }
    let model = Model { block: 4, cached: 1 };
    let table = pool(1).install(|| cost(&Other, &[3, 4], model)).unwrap();
    assert_eq!((table.blocks, table.ratio("copy")), (3, Some(1.0)));
}

/// The last element of a shape cannot be read, though it may not be the last one of the storage.
#[test]
fn reading_fails_at_the_end_of_the_shape() {
    let model = Model { block: 4, cached: 1 };
    fn row(table: &CostTable, name: &str) -> Cost {
        table.rows.iter().find(|row| row.name == name).unwrap().clone()
    }
    let small = cost(&FromFn::new(64, |k| k), &[8, 8], model).unwrap();
    let table = cost(&FromFn::new(1 << 20, |k| k), &[8, 8], model).unwrap();
    assert!(row(&table, "failing").calls > row(&table, "copy").calls, "{table}");
    assert_eq!(table.rows, small.rows);
    let data: Vec<f64> = (0..64).map(f64::from).collect();
    let chunked = Chunked::new(blocks_of(&[8, 8], &[4, 4], &data)).unwrap();
    let table = pool(1).install(|| cost(&chunked, &[4, 8], model)).unwrap();
    assert!(row(&table, "failing").calls > row(&table, "copy").calls, "{table}");
}

/// The table prints one line a row, and shapes are checked.
#[test]
fn a_table_prints() {
    let table = cost(&FromFn::new(24, |k| k), &[4, 6], Model { block: 6, cached: 1 }).unwrap();
    let text = table.to_string();
    assert_eq!(text.lines().count(), table.rows.len() + 1);
    assert!(text.starts_with("operation") && text.contains("sum of transposed, axis 1"));
    // Loaded or stored.
    let heads = text.lines().next().unwrap().split_whitespace();
    assert!(heads.eq(["operation", "calls", "elements", "longest", "mean", "blocks", "ratio"]));
    assert_eq!(table.ratio("no such row"), None);
    let error = cost(&FromFn::new(24, |k| k), &[5, 6], Model { block: 6, cached: 1 });
    assert!(matches!(error, Err(Error::Length { .. })), "{error:?}");
}
