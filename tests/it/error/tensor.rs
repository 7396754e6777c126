//! Every error that tensors, expressions and storage can give is reached here, with its exact values and
//! text. Those of shapes and maps are in `map`, those of files in the tests of their formats.
//!
//! Longer than 400 lines because it is one table of errors; each test stands alone.

use crate::support::{fails, offline};
use lensor::expr::align;
use lensor::linalg::Linalg;
use lensor::prelude::*;
use lensor::product::PlusTimes;
use lensor::reduce::Axes;
use lensor::storage::{Concat, Constant, Indexed, SubBuffer};
use lensor::tensor::{concat, pad, stack};
use lensor::{AddressMap, Reader, Result, StorageError, Tensor};
use std::fmt::Debug;
use std::sync::atomic::{AtomicUsize, Ordering};

fn full<const N: usize>(shape: [usize; N], value: i32) -> Tensor<Vec<i32>> {
    Tensor::full(shape, value).unwrap()
}

#[test]
fn operands_name_the_first_that_does_not_align() {
    fails(
        (&full([2, 4], 1) + &full([3, 4], 1)).eval(),
        Error::Operands {
            argument: 2,
            shape: vec![3, 4],
            so_far: vec![2, 4],
            axis: 0,
            left: false,
        },
        "operands could not be broadcast: argument 2 has shape [3, 4], the result so far is [2, 4], axis 0: 3 vs 2",
    );
    fails(
        zip_with((&full([4], 1), &full([3, 1], 1), &full([2], 1)), |(a, b, c)| a + b + c).shape(),
        Error::Operands { argument: 3, shape: vec![2], so_far: vec![3, 4], axis: 1, left: false },
        "operands could not be broadcast: argument 3 has shape [2], the result so far is [3, 4], axis 1: 2 vs 4",
    );
    fails(
        align(Align::Left, &full([2, 3], 1), &full([3], 1)),
        Error::Operands { argument: 2, shape: vec![3], so_far: vec![2, 3], axis: 0, left: true },
        "operands could not be broadcast: argument 2 has shape [3], the result so far is [2, 3], axis 0: 3 vs 2",
    );
    let error = (&full([6], 1) + &full([2], 1)).eval().map(drop);
    assert!(matches!(error, Err(Error::Operands { .. })), "operators stretch, they do not repeat");
}

/// An operator cannot return an error, so the expression carries it through whatever follows.
#[test]
fn an_expression_carries_its_error() {
    let (a, b) = (full([2], 1), full([3], 1));
    let error = (&a + &b).shape().unwrap_err();
    assert_eq!((&a + &b).eval().map(drop), Err(error.clone()));
    assert_eq!(((&a + &b) * 2).abs().to_vec(), Err(error.clone()));
    assert_eq!((&a + &b).boxed().eval().map(drop), Err(error.clone()));
    assert_eq!((&a + &b).boxed().flip(0).map(drop), Err(error.clone()));
    assert_eq!((&a + &b).transpose([0]).map(drop), Err(error.clone()));
    assert_eq!((&a + &b).explain().map(drop), Err(error.clone()));
    let mut out = full([3], 0);
    assert_eq!((&a + &b).assign_to(&mut out), Err(error.clone()));
    assert_eq!(out.assign(&a + &b), Err(error.clone()));
    assert_eq!(out.try_add_assign(&a + &b), Err(error));
    assert_eq!(out.storage(), &[0, 0, 0]);
}

#[test]
fn a_destination_does_not_stretch() {
    fails(
        full([2], 0).assign(&full([3, 2], 1)),
        Error::Destination { expected: vec![2], found: vec![3, 2] },
        "cannot assign shape [3, 2] to a destination of shape [2]",
    );
    for (to, from) in [([1, 2], [2, 2]), ([2, 2], [2, 3]), ([2, 3], [3, 2])] {
        let refused = Err(Error::Destination { expected: to.to_vec(), found: from.to_vec() });
        assert_eq!(full(to, 0).assign(&full(from, 1)), refused);
        assert_eq!(full(from, 1).assign_to(&mut full(to, 0)), refused);
        assert_eq!(full(to, 0).try_mul_assign(&full(from, 1)), refused);
    }
    let mut t = full([4], 0);
    let map = t.address_map().clone();
    assert_eq!(
        t.copy_within(&map, &map.clone().slice(0, 0..2).unwrap()),
        Err(Error::Destination { expected: vec![2], found: vec![4] })
    );
    assert_eq!(
        t.update(|_| Ok((&full([5], 1) + 0).to_tensor_boxed())),
        Err(Error::Destination { expected: vec![4], found: vec![5] })
    );
}

trait ToTensorBoxed {
    fn to_tensor_boxed(self) -> BoxExpr<'static, i32>;
}

impl<E: Expr<Elem = i32>> ToTensorBoxed for Lazy<E> {
    fn to_tensor_boxed(self) -> BoxExpr<'static, i32> {
        self.eval().unwrap().lazy().boxed()
    }
}

#[test]
fn the_number_of_elements_fits_the_shape() {
    let error =
        |shape: &[usize], expected, found| Error::Length { shape: shape.to_vec(), expected, found };
    fails(
        Tensor::from_vec([2, 2], vec![1, 2, 3]),
        error(&[2, 2], 4, 3),
        "shape [2, 2] needs 4 elements, found 3",
    );
    assert_eq!(Tensor::from_vec([2], vec![1, 2, 3]).err(), Some(error(&[2], 2, 3)));
    assert_eq!(Tensor::new([5], vec![0; 4]).err(), Some(error(&[5], 5, 4)));
    assert_eq!(Tensor::from_vec(Shape::default(), Vec::<i32>::new()).err(), Some(error(&[], 1, 0)));
    assert!(Tensor::new([3], vec![0; 4]).is_ok(), "storage may hold more than the view");
}

#[test]
fn nested_lists_are_rectangular() {
    fails(
        Tensor::from_nested(vec![vec![1, 2], vec![3, 4], vec![5]]),
        Error::Ragged { row: 2, expected: 2, found: 1 },
        "row 2 of a nested list has 1 elements, the first has 2: `Ragged::from_nested` takes such rows",
    );
    let ragged = Some(Error::Ragged { row: 1, expected: 2, found: 1 });
    for deep in [[vec![vec![1], vec![2]], vec![vec![3]]], [vec![vec![1, 2]], vec![vec![3]]]] {
        assert_eq!(Tensor::from_nested(deep).err(), ragged);
    }
    assert_eq!(Tensor::from_nested([[1, 2], [3, 4]]).unwrap().shape(), [2, 2]);
    // Rows without elements take no memory, so there may be very many.
    const MANY: usize = 1 << (usize::BITS * 5 / 8);
    assert_eq!(Tensor::from_nested([[[0_u8; 0]; 3]; MANY]).unwrap().shape(), [MANY, 3, 0]);
    assert_eq!(Tensor::from_nested(Vec::<Vec<Vec<u8>>>::new()).unwrap().shape(), [0, 0, 0]);
}

#[test]
fn maps_stay_within_the_storage() {
    let far = AddressMap::row_major([6]).unwrap().slice(0, 2..6).unwrap();
    fails(
        Tensor::with_map(far, vec![0; 5]),
        Error::OutOfSpan { span: 2..6, len: 5 },
        "addresses 2..6 reach beyond the storage of length 5",
    );
    let part = |range| SubBuffer::new(vec![0; 5], range).err();
    assert_eq!(part(3..6), Some(Error::OutOfSpan { span: 3..6, len: 5 }));
    #[allow(clippy::reversed_empty_ranges, reason = "that is the case under test")]
    let backwards = 4..3;
    assert_eq!(part(backwards.clone()), Some(Error::OutOfSpan { span: backwards, len: 5 }));
    assert_eq!(part(5..5), None);
    let listed = |addresses: Vec<usize>| Indexed::new(vec![0; 3], addresses).err();
    assert_eq!(listed(vec![0, 3]), Some(Error::OutOfSpan { span: 3..4, len: 3 }));
    let last = usize::MAX;
    assert_eq!(listed(vec![last]), Some(Error::OutOfSpan { span: last..last, len: 3 }));
    let broken = |addresses| Indexed::new(vec![0; 3], BrokenAddresses(addresses)).err();
    let beyond = broken(&[]);
    assert!(matches!(beyond, Some(Error::Storage { index: None, .. })), "{beyond:?}");
    assert_eq!(broken(&[2, 7]), Some(Error::OutOfSpan { span: 7..8, len: 3 }));
}

/// Addresses behind which there is one that cannot be read.
#[derive(Debug)]
struct BrokenAddresses(&'static [usize]);

impl Reader for BrokenAddresses {
    type Elem = usize;

    fn len(&self) -> usize {
        self.0.len() + 1
    }

    fn read(&self, address: usize) -> usize {
        self.0[address]
    }

    fn try_read(&self, address: usize) -> Result<usize, StorageError> {
        self.0.get(address).copied().ok_or_else(|| StorageError::new(address, "offline"))
    }
}

#[test]
fn a_view_that_repeats_is_not_written() {
    let mut t = full([3], 0);
    let mut repeated = t.view_mut().broadcast([2, 3]).unwrap();
    fails(
        repeated.fill(1),
        Error::NotInjective { axis: 0 },
        "cannot write through this view, as axis 0 repeats elements: a copy by `.eval()?` can be written",
    );
    assert_eq!(repeated.assign(1), Err(Error::NotInjective { axis: 0 }));
    assert_eq!(repeated.try_add_assign(1), Err(Error::NotInjective { axis: 0 }));
    assert_eq!(repeated.update(|old| Ok(old.lazy().boxed())), Err(Error::NotInjective { axis: 0 }));
    let mut windows = t.view_mut().windows(0, 2).unwrap();
    assert_eq!(windows.fill(1), Err(Error::NotInjective { axis: 1 }));
    assert_eq!(t.storage(), &[0, 0, 0]);
}

#[test]
fn memory_that_cannot_be_had_is_an_error() {
    let huge = 1_usize << 60;
    fails(
        Tensor::full([huge], 0_i32),
        Error::OutOfMemory { bytes: 1 << 62 },
        "could not allocate 4611686018427387904 bytes",
    );
    let virtual_tensor = Tensor::constant([huge], 1_u8).unwrap();
    assert_eq!(virtual_tensor.to_vec(), Err(Error::OutOfMemory { bytes: huge }));
    assert_eq!((&virtual_tensor + 1).eval().map(drop), Err(Error::OutOfMemory { bytes: huge }));
    // More bytes than can be counted are reported as the most that can.
    let wide = Tensor::constant([huge], [0_u64; 4]).unwrap();
    assert_eq!(wide.to_vec(), Err(Error::OutOfMemory { bytes: usize::MAX }));
    assert_eq!(virtual_tensor.get([huge - 1]), Ok(1));
}

#[test]
fn shapes_that_overflow_are_refused_by_every_constructor() {
    let shape = || Shape::from([1 << 32, 1 << 32]);
    let beyond = |shape: &[usize]| Some(Error::ShapeOverflow { shape: shape.to_vec() });
    let error = beyond(&shape());
    assert_eq!(Tensor::from_vec(shape(), vec![0]).err(), error);
    assert_eq!(Tensor::full(shape(), 0).err(), error);
    assert_eq!(Tensor::constant(shape(), 0).err(), error);
    assert_eq!(Tensor::from_fn(shape(), |k| k).err(), error);
    assert_eq!(Tensor::from_index(shape(), |_| 0).err(), error);
    assert_eq!(Tensor::<lensor::storage::Progression<i32>>::iota(shape()).err(), error);
    let most = isize::MAX as usize;
    let long = || Tensor::constant([most], 0).unwrap();
    let parts = [most, 1].map(|len| Constant::new(len, 0)).to_vec();
    assert_eq!(Concat::new(parts).err(), beyond(&[most, 1]));
    assert_eq!(concat(0, [long(), long()]).err(), beyond(&[usize::MAX - 1]));
    assert_eq!(stack(0, [long(), long()]).err(), beyond(&[2, most]));
    assert_eq!(pad(long(), [(1, 0)], 0).err(), beyond(&[most + 1]));
    let wide = Tensor::constant([1, 1 << 32], 1).unwrap();
    assert_eq!((&wide + wide.view().swap_axes(0, 1).unwrap()).eval().map(drop).err(), error);
}

#[test]
fn a_failing_storage_names_address_and_index() {
    let t = Tensor::new([2, 3], offline(6, 0..6)).unwrap();
    let error = |index: &[usize], address| Error::Storage {
        index: Some(index.to_vec()),
        source: StorageError::new(address, "offline"),
    };
    fails(t.get([1, 2]), error(&[1, 2], 5), "storage failed at address 5: offline, index [1, 2]");
    fails(t.to_vec(), error(&[0, 0], 0), "storage failed at address 0: offline, index [0, 0]");
    fails(
        (t.view().flip(1).unwrap() + 1).to_vec(),
        error(&[0, 0], 2),
        "storage failed at address 2: offline, index [0, 0]",
    );
    assert_eq!(t.try_iter().next(), Some(Err(error(&[0, 0], 0))));
    assert_eq!(t.view().select((1, 1)).unwrap().item(), Err(error(&[], 4)));
    let alone = Error::from(StorageError::new(7, "offline"));
    assert_eq!(alone.to_string(), "storage failed at address 7: offline");
}

/// A storage made of others names the address in itself, and the index in the view of it.
#[test]
fn a_failing_part_is_named_by_its_place_in_the_whole() {
    let of = |error: Error| match error {
        Error::Storage { index, source } => (source.address, index.unwrap()),
        other => panic!("{other}"),
    };
    let part = SubBuffer::new(offline(9, 0..9), 4..8).unwrap();
    assert_eq!(
        of(Tensor::new([4], part).unwrap().slice(0, 1..4).unwrap().to_vec().unwrap_err()),
        (1, vec![0])
    );
    let parts: Vec<Box<dyn Reader<Elem = i32>>> =
        vec![Box::new(vec![1, 2, 3]), Box::new(offline(2, 0..2))];
    let all = Tensor::new([5], Concat::new(parts).unwrap()).unwrap();
    assert_eq!(of(all.to_vec().unwrap_err()), (3, vec![3]));
    let listed = Indexed::new(offline(9, 0..9), vec![8, 5]).unwrap();
    assert_eq!(of(Tensor::new([2], listed).unwrap().to_vec().unwrap_err()), (0, vec![0]));
    let flat = Tensor::new([2, 3], offline(6, 0..6)).unwrap().transpose([1, 0]).unwrap().flat();
    assert_eq!(
        of(Tensor::new([6], flat).unwrap().slice(0, 3..6).unwrap().to_vec().unwrap_err()),
        (3, vec![0])
    );
    let padded = pad(Tensor::new([2], offline(2, 0..2)).unwrap(), [(3, 1)], 0).unwrap();
    assert_eq!(of(padded.to_vec().unwrap_err()), (3, vec![3]));
    assert_eq!(padded.slice(0, 0..3).unwrap().to_vec(), Ok(vec![0; 3]));
}

#[test]
fn casts_name_value_index_and_target() {
    let t = Tensor::from_vec([2, 2], vec![1.0, 2.5, f64::NAN, -1.0]).unwrap();
    fails(
        t.cast::<u8>().eval(),
        Error::Cast { index: vec![1, 0], value: "NaN".into(), target: "u8" },
        "cannot convert NaN at index [1, 0] to u8",
    );
    let one = |x: f64| Tensor::from_vec(Shape::default(), vec![x]).unwrap();
    fails(
        one(-0.0 - 1.0).cast::<u64>().to_vec(),
        Error::Cast { index: vec![], value: "-1.0".into(), target: "u64" },
        "cannot convert -1.0 at index [] to u64",
    );
    assert_eq!(one(-0.9).cast::<u64>().to_vec(), Ok(vec![0]));
    assert_eq!(one(255.9).cast::<u8>().to_vec(), Ok(vec![255]));
    assert!(one(256.0).cast::<u8>().to_vec().is_err());
    assert!(one(f64::INFINITY).cast::<i64>().to_vec().is_err());
    assert!(one(9_223_372_036_854_775_808.0).cast::<i64>().to_vec().is_err());
    assert_eq!(one(-9_223_372_036_854_775_808.0).cast::<i64>().to_vec(), Ok(vec![i64::MIN]));
    let wide = Tensor::from_vec([1], vec![u64::MAX]).unwrap();
    assert!(wide.cast::<i64>().to_vec().is_err());
    assert_eq!(wide.cast::<i128>().to_vec(), Ok(vec![u64::MAX as i128]));
}

#[test]
fn division_by_zero_names_the_index() {
    let t = Tensor::from_vec([2, 2], vec![1_i32, 2, 0, 0]).unwrap();
    fails(
        (1 / &t).eval(),
        Error::Arithmetic { index: vec![1, 0] },
        "division by zero at index [1, 0]",
    );
    assert_eq!((1 % &t).to_vec(), Err(Error::Arithmetic { index: vec![1, 0] }));
    assert_eq!((&t / 0).to_vec(), Err(Error::Arithmetic { index: vec![0, 0] }));
    let zero = Tensor::from_vec(Shape::default(), vec![0]).unwrap();
    assert_eq!((&zero / &zero).to_vec(), Err(Error::Arithmetic { index: vec![] }));
    assert_eq!(zero.clone().try_div_assign(0), Err(Error::Arithmetic { index: vec![] }));
    let nothing = Tensor::from_vec([0], Vec::<i32>::new()).unwrap();
    assert_eq!((&nothing / 0).to_vec(), Ok(vec![]));
}

#[test]
fn boxes_within_boxes_are_limited() {
    let t = full([1], 0);
    let mut e = (&t + 1).boxed();
    for _ in 0..200 {
        e = (e + 1).boxed();
    }
    fails(
        e.eval(),
        Error::TooDeep { depth: 101, limit: 100 },
        "101 boxes lie within one another and 100 may: evaluate a part and go on from the result",
    );
}

/// Leaves double with every step, so they are counted, not visited.
#[test]
fn leaves_are_limited() {
    let t = full([2], 1);
    let mut x = t.view().lazy().boxed();
    for _ in 0..16 {
        x = (x.clone() * x).boxed();
    }
    assert_eq!(x.to_vec(), Ok(vec![1, 1]));
    let text = "the expression has 131072 leaves and may have 65536: evaluate a part of it and go on from the result";
    let error = Error::TooManyLeaves { leaves: 1 << 17, limit: 1 << 16 };
    fails((x.clone() * x.clone()).shape(), error.clone(), text);
    fails((x.clone() * x.clone()).boxed().eval(), error.clone(), text);
    fails((x.clone() * x.clone()).flip(0), error.clone(), text);
    fails((x.clone() * x.clone()).sum(0).eval(), error.clone(), text);
    fails((x.clone() + x.clone()).eval_sparse(), error.clone(), text);
    assert_eq!(full([2], 0).assign(x.clone() * x.clone()), Err(error));
    // One leaf more is one too many, and scalars are none.
    assert_eq!((x.clone() + 1).to_vec(), Ok(vec![2, 2]));
    let error = Error::TooManyLeaves { leaves: (1 << 16) + 1, limit: 1 << 16 };
    assert_eq!((x.clone() + &t).shape(), Err(error));
    let many: [_; 70] = std::array::from_fn(|_| x.clone());
    let error = Error::TooManyLeaves { leaves: 70 << 16, limit: 1 << 16 };
    assert_eq!(zip_with(many, |x: [i32; 70]| x[0]).shape(), Err(error));
    let mut scalar = zip_with((1,), |(one,)| one).boxed();
    for _ in 0..40 {
        scalar = (scalar.clone() * scalar).boxed();
    }
    assert!(matches!(scalar.eval().map(drop), Err(Error::TooManyLeaves { .. })));
}

/// A box of a box is one box; boxes of other storage are counted.
#[test]
fn boxes_of_storage_are_limited() {
    let mut t = full([2], 7).erase();
    for _ in 0..200_000 {
        t = t.erase();
    }
    assert_eq!(t.to_vec(), Ok(vec![7, 7]));
    let one = full([1], 7);
    let mut all = full([0], 7).erase();
    for _ in 0..10_000 {
        all = concat(0, [all, one.view().erase()]).unwrap().erase();
    }
    assert_eq!(all.len(), 10_000);
    assert_eq!(
        all.to_vec().unwrap_err().to_string(),
        "storage failed at address 0: 257 boxes lie within one another and 256 may: evaluate a part and go on from \
         the result, index [0]"
    );
}

/// However much deeper, and whatever else is in the boxes around, nothing is read.
#[test]
fn boxes_of_storage_that_are_too_deep_read_nothing() {
    let reads = AtomicUsize::new(0);
    let read = |address: usize| {
        reads.fetch_add(1, Ordering::Relaxed);
        address
    };
    let one = Tensor::from_fn([2], read).unwrap();
    let mut all = one.view().erase();
    for _ in 1..256 {
        all = concat(0, [one.view().erase(), all]).unwrap().erase();
    }
    for _ in 256..600 {
        all = concat(0, [one.view().erase(), all]).unwrap().erase();
        let error = all.view().flip(0).unwrap().to_vec().unwrap_err().to_string();
        assert!(error.contains("257 boxes lie within one another"), "{error}");
    }
    assert!(matches!(all.sum(0).item(), Err(Error::Storage { .. })));
    assert_eq!(reads.load(Ordering::Relaxed), 0);
}

macro_rules! nested {
    ($list:expr;) => { $list };
    ($list:expr; $_one:tt $($more:tt)*) => { nested!([$list]; $($more)*) };
}

/// Whatever makes a tensor refuses the 65th axis before it computes anything.
#[test]
fn tensors_of_more_than_64_axes_are_refused() {
    let error = |rank| Error::RankLimit { rank, limit: 64 };
    let most = || full([1; 64], 3);
    assert_eq!(
        nested!(7; . . . . . . . . . . . . . . . . . . . . . . . . . . . . . . . .
        . . . . . . . . . . . . . . . . . . . . . . . . . . . . . . . .)
        .len(),
        1
    );
    let deep = nested!(7; . . . . . . . . . . . . . . . . . . . . . . . . . . . . . . . .
        . . . . . . . . . . . . . . . . . . . . . . . . . . . . . . . . .);
    fails(Tensor::from_nested(deep), error(65), "a tensor has at most 64 axes, found 65");
    assert_eq!(Tensor::from_vec([1; 65], vec![1]).map(drop), Err(error(65)));
    assert_eq!(Tensor::full([1; 65], 1).map(drop), Err(error(65)));
    assert_eq!(Tensor::constant([1; 65], 1).map(drop), Err(error(65)));
    assert_eq!(stack(0, [most(), most()]).map(drop), Err(error(65)));
    assert_eq!(most().windows(0, 1).map(drop), Err(error(65)));
    assert_eq!((&most() + &most()).insert_axis(0).map(drop), Err(error(65)));
    assert_eq!(most().tensordot(&full([1], 1), &[]).eval().map(drop), Err(error(65)));
    assert_eq!(most().outer(&full([1], 1)).eval().map(drop), Err(error(65)));
    let sparse = |rank| {
        let shape = Shape::from(vec![1; rank]);
        Tensor::new(shape, lensor::storage::Sparse::new(1, 0))
    };
    assert_eq!(sparse(65).map(drop), Err(error(65)));
    let (many, one) = (sparse(64).unwrap(), sparse(1).unwrap());
    assert_eq!(many.contract(&one, &[], PlusTimes).map(drop), Err(error(65)));
    // 64 axes print, add, fold and sort.
    assert!(format!("{:?}", most()).len() < 2000);
    assert_eq!((&most() + 1).sum(Axes::All).item(), Ok(4));
}

#[test]
fn one_element_is_asked_of_one() {
    fails(
        full([2], 1).item(),
        Error::NotSingle { shape: vec![2] },
        "shape [2] has 2 elements, and the only one was asked for",
    );
    assert_eq!(full([1, 1], 5).item(), Ok(5));
    assert!(full([0], 5).item().is_err());
}

/// The checker of maps has an error that no map of this library gives.
#[test]
fn every_map_is_invertible() {
    let error = Error::NotInvertible { global: vec![1, 2], local: 7 };
    assert_eq!(error.to_string(), "address 7 of index [1, 2] does not lead back to it");
    let map = AddressMap::row_major([3, 4]).unwrap().windows(1, 2).unwrap();
    assert_eq!(map.check_invertible(), Ok(()));
}

/// Errors cross threads, compare, print in one line and stand behind `dyn Error`.
#[test]
fn errors_are_values() {
    fn value<T: Clone + PartialEq + Send + Sync + 'static + std::error::Error>() {}
    value::<Error>();
    let error = Tensor::new([2], offline(2, 0..2)).unwrap().to_vec().unwrap_err();
    assert_eq!(error, error.clone());
    let boxed: Box<dyn std::error::Error> = Box::new(error.clone());
    let source = boxed.source().unwrap();
    assert_eq!(source.to_string(), "storage failed at address 0: offline");
    assert_eq!(source.source().unwrap().to_string(), "offline");
    assert_ne!(error, Tensor::new([2], offline(2, 0..2)).unwrap().get([1]).unwrap_err());
    assert!(!error.to_string().contains('\n'));
}

/// Numbers keep the methods that Rust gives them, with the prelude in scope.
#[test]
fn numbers_keep_their_own_methods() {
    assert_eq!((4, 1, 5.clamp(1, 3)), (4, 1, 3));
    assert_eq!((3.0_f64.max(4.0), 2.0_f32.sqrt().floor(), (-1_i8).abs()), (4.0, 1.0, 1));
    let t = Tensor::from_vec([2], vec![1, 5]).unwrap();
    assert_eq!(t.maximum(3).to_vec(), Ok(vec![3, 5]));
    assert_eq!((&t + 1).clamp(3, 4).to_vec(), Ok(vec![3, 4]));
    assert_eq!(choose(t.less(2), 0, &t).to_vec(), Ok(vec![0, 5]));
}
