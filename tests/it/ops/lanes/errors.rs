//! Every error of work on lanes, with its exact values and text.

use crate::support::{fails, offline};
use lensor::expr::zip_stored;
use lensor::gufunc;
use lensor::lanes::{Edges, Interpolation, Lanes, Side, SortOrder::Ascending, Uniform};
use lensor::prelude::*;
use lensor::stencil::Mode;
use lensor::storage::{BoxReader, Duplicates};
use lensor::{Reader, Result, StorageError, Writer};

fn full<const N: usize>(shape: [usize; N]) -> Tensor<Vec<i32>> {
    Tensor::full(shape, 0).unwrap()
}

/// Reads well and fails to write to one address.
struct Stuck(BoxReader<'static, i32>);

impl Reader for Stuck {
    type Elem = i32;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn read(&self, _: usize) -> i32 {
        0
    }
}

impl Writer for Stuck {
    fn write(&mut self, address: usize, _: i32) {
        self.0.read(address);
    }

    fn try_write(&mut self, address: usize, _: i32) -> Result<(), StorageError> {
        self.0.try_read(address).map(drop)
    }
}

/// Lanes of very many elements of which few are stored are not read in silence; a histogram counts entries.
#[test]
fn few_entries_among_very_many_elements() {
    let n = 1 << 20;
    let at = [[0, 7]];
    let t = Tensor::from_coordinates([n, n], 0.0, &at, vec![1.0], Duplicates::Refuse).unwrap();
    let text = "1 stored entries would become 1099511627776 dense elements: keep to entries by `zip_stored`, or ask \
                for that by `densely` or, instead of `eval_sparse`, `eval`";
    fails(t.median(1).eval(), Error::WouldDensify { stored: 1, dense: n * n }, text);
    let long = t.view().reshape([n * n]).unwrap();
    let found = long.view().search_sorted(&Tensor::from(vec![0.5]), Side::Left).eval().map(drop);
    fails(found, Error::WouldDensify { stored: 1, dense: n * n }, text);
    let sums = Tensor::constant([n * n], 1.0).unwrap().convolve(&long, Mode::Valid).eval();
    fails(sums.map(drop), Error::WouldDensify { stored: 1, dense: n * n }, text);
    let row = Tensor::full([n], 1.0).unwrap();
    let refused = |found: Result<(), Error>| {
        assert_eq!(found, Err(Error::WouldDensify { stored: 1, dense: n * n }));
    };
    refused((&t * &row).nonzero().map(drop));
    refused((&t * &row).histogram(Uniform::new(0.0, 4.0, 2).unwrap()).eval().map(drop));
    refused(t.all_close(&row, 0.0, 0.0).map(drop));
    let mut pieces = 0;
    let stop = |_: &[f64]| Err(Error::ZeroStep { axis: 9 });
    refused(t.for_each_piece(1, stop));
    let piece = |_: &[f64]| {
        pieces += 1;
        Err(Error::ZeroStep { axis: 9 })
    };
    assert_eq!(t.densely().for_each_piece(1, piece), Err(Error::ZeroStep { axis: 9 }));
    assert_eq!(pieces, 1);
    // It is as far where what is written is sparse.
    refused((&t * &row).to_sparse(0.0).map(drop));
    let mut out = Tensor::sparse([n, n], 0.0).unwrap();
    refused(out.assign(&t * &row));
    out.set([0, 7], 1.0).unwrap();
    refused(out.zip_in_place(&row, |x, y| x * y));
    refused(out.sort_in_place(1, Ascending));
    refused(gufunc::sort().update(&mut out, ()));
    // A dense operand that does not decide has no part in what is stored.
    let constant = &row * Tensor::constant([n], 2.0).unwrap();
    let terms = || zip_stored((&t, constant.view()), 0.0, |(x, y)| x * y);
    refused((terms() + &row).median(1).eval().map(drop));
    let bins = [(-1.0, 3.0), (0.0, 4.0)].map(|(low, high)| Uniform::new(low, high, 2).unwrap());
    let counts = t.histogram(&bins[0]);
    assert_eq!(counts.to_vec().unwrap(), [(n * n - 1) as u64, 1]);
    let told = counts.explain().unwrap().to_string();
    assert!(told.contains("its entries, and how many elements have none"), "{told}");
    let ones = t.map(|x| x + 1.0).histogram(&bins[1]);
    assert_eq!(ones.to_vec().unwrap(), [(n * n - 1) as u64, 1]);
}

#[test]
fn the_axis_must_exist() {
    let axis = |axis, rank| Error::Axis { axis, rank };
    let text = "axis 2 does not exist: the rank is 2";
    let t = full([2, 3]);
    fails(t.sort(2, Ascending).eval(), axis(2, 2), text);
    fails(t.argsort(2, Ascending).eval(), axis(2, 2), text);
    fails(t.sort_by(2, |a, b| a.cmp(b)).eval(), axis(2, 2), text);
    fails(t.partition(2, 0, Ascending).eval(), axis(2, 2), text);
    fails(t.top_k(2, 0, Ascending).eval(), axis(2, 2), text);
    fails(t.search_sorted_along(2, &t, Side::Left).eval(), axis(2, 2), text);
    fails(t.take_along(2, Tensor::full([2, 3], 0).unwrap()).eval(), axis(2, 2), text);
    fails(full([2, 3]).put_along(2, Tensor::full([2, 3], 0).unwrap(), 1), axis(2, 2), text);
    fails(full([2, 3]).sort_in_place(2, Ascending), axis(2, 2), text);
    fails(t.cast::<f64>().median(2).eval(), axis(2, 2), text);
    fails(t.histogram_along(2, Edges::new([0, 1]).unwrap()).eval(), axis(2, 2), text);
    let item = Tensor::from_vec([], vec![1]).unwrap();
    fails(item.sort(0, Ascending).eval(), axis(0, 0), "axis 0 does not exist: the rank is 0");
}

#[test]
fn lanes_must_go_together() {
    let (a, b) = (full([2, 3]), Tensor::full([4, 3], 0_usize).unwrap());
    let error = |shape: &[usize], other: &[usize]| Error::Lanes {
        axis: 1,
        shape: shape.to_vec(),
        other: other.to_vec(),
    };
    let text =
        "lanes along axis 1 do not go together: shape [2, 3] and shape [4, 3] differ elsewhere";
    fails(a.take_along(1, &b).eval(), error(&[2, 3], &[4, 3]), text);
    fails(full([2, 3]).put_along(1, &b, 0), error(&[2, 3], &[4, 3]), text);
    fails(
        a.search_sorted_along(1, &full([4, 3]), Side::Left).eval(),
        error(&[2, 3], &[4, 3]),
        text,
    );
    let text = "lanes along axis 1 do not go together: shape [2, 3] and shape [3] differ elsewhere";
    let row = Tensor::full([3], 0_usize).unwrap();
    fails(a.take_along(1, &row).eval(), error(&[2, 3], &[3]), text);
    fails(full([2, 3]).put_along(1, &row, 0), error(&[2, 3], &[3]), text);
    fails(
        full([2, 3]).put_along(1, Tensor::full([2, 1], 0).unwrap(), full([2, 5])),
        Error::Destination { expected: vec![2, 1], found: vec![2, 5] },
        "cannot assign shape [2, 5] to a destination of shape [2, 1]",
    );
    // A destination never stretches.
    fails(
        full([1, 3]).put_along(1, Tensor::full([2, 3], 0).unwrap(), 0),
        error(&[1, 3], &[2, 3]),
        "lanes along axis 1 do not go together: shape [1, 3] and shape [2, 3] differ elsewhere",
    );
}

#[test]
fn indexes_lie_inside_their_lane() {
    let indexes = Tensor::from_nested([[0_usize, 2], [5, 7]]).unwrap();
    let outside = |at: [usize; 2], axis, index, extent| {
        let at = at.to_vec();
        Error::IndexAt { at, axis, index, extent }
    };
    let text = "index 5 for axis 1, at [1, 0] of the list, is out of bounds: the extent is 3";
    fails(full([2, 3]).take_along(1, &indexes).eval(), outside([1, 0], 1, 5, 3), text);
    fails(full([2, 3]).put_along(1, &indexes, 1), outside([1, 0], 1, 5, 3), text);
    let text = "index 0 for axis 1, at [0, 0] of the list, is out of bounds: the extent is 0";
    fails(full([2, 0]).take_along(1, &indexes).eval(), outside([0, 0], 1, 0, 0), text);
    fails(full([2, 0]).put_along(1, &indexes, 1), outside([0, 0], 1, 0, 0), text);
    // The first in row-major order, not the first of the first lane, wherever results go.
    let across = Tensor::from_nested([[0_usize, 9], [7, 0]]).unwrap();
    let first = outside([0, 1], 0, 9, 3);
    assert_eq!(full([3, 2]).take_along(0, &across).eval().unwrap_err(), first);
    let mut out = full([2, 2]).transpose([1, 0]).unwrap();
    assert_eq!(full([3, 2]).take_along(0, &across).assign_to(&mut out).unwrap_err(), first);
    assert_eq!((full([3, 2]).take_along(0, &across) + 1).eval().unwrap_err(), first);
    assert_eq!(full([3, 2]).put_along(0, &across, 1).unwrap_err(), first);
    // Stretched, the place is one of the result.
    let row = Tensor::from_nested([[0_usize, 3]]).unwrap();
    assert_eq!(full([2, 3]).take_along(1, &row).eval().unwrap_err(), outside([0, 1], 1, 3, 3));
    // An index outside in an operand of the indexes stays what it is.
    let point = Tensor::from_vec([1], vec![8_usize]).unwrap();
    let pair = Tensor::from(vec![0_usize, 1]);
    let inner = pair.take_at(&point).broadcast([2, 3]).unwrap();
    let found = full([2, 3]).take_along(1, inner).eval().unwrap_err();
    assert_eq!(found, Error::IndexAt { at: vec![], axis: 0, index: 8, extent: 2 });

    let error = |index| Error::Index { axis: 1, index, extent: 3 };
    fails(
        full([2, 3]).partition(1, 3, Ascending).eval(),
        error(3),
        "index 3 is out of bounds: axis 1 has extent 3",
    );
    fails(
        full([2, 3]).partition_in_place(1, 3, Ascending),
        error(3),
        "index 3 is out of bounds: axis 1 has extent 3",
    );
    fails(
        full([2, 3]).arg_top_k(1, 4, Ascending).eval(),
        Error::LaneTooShort { axis: 1, count: 4, extent: 3 },
        "cannot take 4 elements along axis 1 of extent 3",
    );
}

#[test]
fn quantiles_lie_between_0_and_1() {
    let t = Tensor::full([2, 3], 0.5).unwrap();
    fails(
        t.quantile(1, 1.5, Interpolation::Linear).eval(),
        Error::Quantile { quantile: 1.5 },
        "quantile 1.5 does not lie between 0 and 1",
    );
    assert!(t.quantile(1, f64::NAN, Interpolation::Linear).eval().is_err());
    fails(
        Tensor::<Vec<f64>>::new([2, 0], vec![]).unwrap().median(1).eval(),
        Error::EmptyReduction { axis: 1, shape: vec![2, 0] },
        "there is no result for no elements: axis 1 of shape [2, 0] is reduced and has extent 0",
    );
    let none = Tensor::<Vec<f64>>::new([0, 2], vec![]).unwrap().median(1).eval().unwrap();
    assert_eq!(none.shape(), [0]);
}

#[test]
fn bins_have_ends() {
    fails(
        Edges::new([3]),
        Error::Edges { count: 1, wrong: None },
        "bins need two or more ascending edges: found 1",
    );
    fails(
        Edges::new([1, 3, 2]),
        Error::Edges { count: 3, wrong: Some(2) },
        "bins need two or more ascending edges: edge 2 of 3 is NaN or less than the one before",
    );
    assert_eq!(Edges::new([1.0, f64::NAN]), Err(Error::Edges { count: 2, wrong: Some(1) }));
    fails(
        Uniform::new(0.0, 1.0, 0),
        Error::BinRange { low: 0.0, high: 1.0, count: 0 },
        "cannot cut the range from 0.0 to 1.0 into 0 bins",
    );
    fails(
        Uniform::new(-1.7e308, 1.7e308, 4),
        Error::BinRange { low: -1.7e308, high: 1.7e308, count: 4 },
        "cannot cut the range from -1.7e308 to 1.7e308 into 4 bins",
    );
    for (low, high) in [(1.0, 1.0), (2.0, 1.0), (f64::NAN, 1.0), (f64::MIN, f64::MAX)] {
        assert!(Uniform::new(low, high, 3).is_err(), "{low} {high}");
    }
}

/// What cannot be kept is an error, whether it is the result or one lane of the operand.
#[test]
fn too_much_to_keep_is_an_error() {
    let endless = Tensor::constant([1 << 46], 1.0).unwrap();
    let bytes = 1 << 49;
    fails(
        endless.sort(0, Ascending).eval(),
        Error::OutOfMemory { bytes },
        "could not allocate 562949953421312 bytes",
    );
    assert_eq!(endless.argsort(0, Ascending).eval().unwrap_err(), Error::OutOfMemory { bytes });
    assert_eq!(endless.median(0).eval().unwrap_err(), Error::OutOfMemory { bytes });
    assert_eq!(endless.unique().unwrap_err(), Error::OutOfMemory { bytes });
    assert_eq!(
        Uniform::new(0.0, 1.0, 1 << 46).unwrap_err(),
        Error::OutOfMemory { bytes: bytes + 8 }
    );
}

/// The first error in row-major order of the operand, whatever the axis.
#[test]
fn errors_of_the_operand_name_its_first_index() {
    let mut divisors = vec![1; 2000 * 1200];
    divisors[5 * 1200 + 1100] = 0;
    divisors[1900 * 1200 + 3] = 0;
    let divisors = Tensor::from_vec([2000, 1200], divisors).unwrap();
    let quotient = full([2000, 1200]) / &divisors;
    for axis in [0, 1] {
        let error = Error::Arithmetic { index: vec![5, 1100] };
        fails(
            quotient.view().sort(axis, Ascending).eval(),
            error,
            "division by zero at index [5, 1100]",
        );
    }
    let broken = Tensor::new([2000, 1200], offline(2_400_000, 2_399_990..2_399_991)).unwrap();
    for axis in [0, 1] {
        fails(
            broken.argsort(axis, Ascending).eval(),
            Error::Storage {
                index: Some(vec![1999, 1190]),
                source: StorageError::new(2_399_990, "offline"),
            },
            "storage failed at address 2399990: offline, index [1999, 1190]",
        );
    }
}

#[test]
fn errors_of_the_destination_name_its_index() {
    let stuck = Stuck(offline(2_400_000, 2_399_990..2_399_991));
    let mut t = Tensor::new([2000, 1200], stuck).unwrap();
    for axis in [0, 1] {
        fails(
            t.sort_in_place(axis, Ascending),
            Error::Storage {
                index: Some(vec![1999, 1190]),
                source: StorageError::new(2_399_990, "offline"),
            },
            "storage failed at address 2399990: offline, index [1999, 1190]",
        );
    }
    fails(
        full([3]).broadcast([2, 3]).unwrap().sort_in_place(1, Ascending),
        Error::NotInjective { axis: 0 },
        "cannot write through this view, as axis 0 repeats elements: a copy by `.eval()?` can be written",
    );
}

/// Lanes without elements have nothing to write, whatever the destination.
#[test]
fn empty_lanes_are_assigned_to_any_storage() {
    for shape in [[5, 0], [0, 5]] {
        let t = Tensor::from_vec(shape, Vec::<i32>::new()).unwrap();
        let mut out = Tensor::sparse(shape, 0).unwrap();
        t.sort_by(1, |a, b| a.cmp(b)).assign_to(&mut out).unwrap();
        t.sort_by_key(0, Ascending, |x| x).assign_to(&mut out).unwrap();
        (&t + 1).sort_by(0, |a, b| a.cmp(b)).assign_to(&mut out).unwrap();
        t.sort(1, Ascending).assign_to(&mut out).unwrap();
    }
    // As many lanes as there are numbers, none of which is visited.
    let none = Tensor::constant([1 << 40, 0], 1_i64).unwrap();
    let mut out = Tensor::sparse([1 << 40, 0], 0_i64).unwrap();
    none.cumsum(1).assign_to(&mut out).unwrap();
    none.rolling(0, 3).max().assign_to(&mut out.view_mut().select((2.., ..)).unwrap()).unwrap();
    none.sort(0, Ascending).assign_to(&mut out).unwrap();
}

/// More bins than there can be.
struct Endless;

impl lensor::lanes::Bins<i32> for Endless {
    fn count(&self) -> usize {
        usize::MAX
    }

    fn bin(&self, x: i32) -> Option<usize> {
        usize::try_from(x).ok()
    }
}

#[test]
fn endless_bins_are_explained_and_not_counted() {
    let t = full([4]);
    let counts = t.histogram(Endless);
    assert!(!format!("{:?}", counts.explain()).is_empty());
    assert!(counts.eval().is_err());
}

/// Faults of operands whose axes are made one for a median are told where the operand has them, the first of these.
#[test]
fn faults_are_those_of_the_operand_that_was_given() -> Result<(), Error> {
    let ones = Tensor::from_vec([2, 3, 2], vec![1, 1, 1, 1, 1, 1, 1, 0, 1, 0, 1, 1])?;
    let sixes = Tensor::full([2, 3, 2], 6)?;
    let faulty = || &sixes / &ones;
    let expected = Some(Error::Arithmetic { index: vec![1, 0, 1] });
    assert_eq!(faulty().sum(..).eval().err(), expected);
    assert_eq!(faulty().median(..).eval().err(), expected);
    assert_eq!(faulty().mode([0, 2]).eval().err(), expected);
    assert_eq!(faulty().median([1, 0]).eval().err(), expected);
    assert_eq!(faulty().quantiles([0, 1], [0.0, 1.0], Interpolation::Lower).eval().err(), expected);
    let mut out = Tensor::full([4], 0.0)?;
    let median = faulty().median([0, 2]).keepdims();
    assert_eq!(median.shape()?, [1, 3, 1]);
    let wanted = faulty().cast::<f64>().median([0, 1]);
    assert_eq!(wanted.assign_to(&mut out.view_mut().slice(0, 1..3)?).err(), expected);
    Ok(())
}
