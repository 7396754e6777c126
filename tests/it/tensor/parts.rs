//! Parts of tensors, and tensors made of parts.

use crate::model::Model;
use crate::support::offline;
use crate::views::{Plain, dense, reads_as};
use itertools::Itertools;
use lensor::arbitrary::Viewed;
use lensor::tensor::{concat, pad, stack};
use lensor::{Error, Reader, Select, StorageError, Tensor};
use quickcheck::{TestResult, quickcheck};

/// The model at one index of one axis.
fn at(model: &Model<i32>, axis: usize, index: usize) -> Model<i32> {
    let mut selectors = vec![Select::All; axis];
    selectors.push(Select::Index(index as isize));
    model.select(&selectors).unwrap()
}

/// The error of a cut that falls or lies beyond the axis.
fn wrong_offset(at: usize, offset: usize, least: usize, axis: usize, extent: usize) -> Error {
    Error::InvalidOffsets { at, offset: offset as i128, least, axis, extent }
}

fn matches<'a, S: Reader<Elem = i32> + 'a>(
    parts: impl Iterator<Item = Tensor<S>>,
    expected: Vec<Model<i32>>,
) -> bool {
    let parts: Vec<Tensor<S>> = parts.collect();
    parts.len() == expected.len()
        && parts.iter().zip(&expected).all(|(t, model)| reads_as(t, model, |x| x))
}

quickcheck! {
    /// The sub-views along an axis are the selections of its indexes, from either end.
    fn sub_views_are_selections(viewed: Viewed<i32>, axis: usize) -> bool {
        let (t, model) = (viewed.tensor(), dense(&viewed));
        if t.rank() == 0 {
            return t.axis_iter(axis).map(drop) == Err(Error::Axis { axis, rank: 0 });
        }
        let axis = axis % t.rank();
        let mut expected: Vec<_> = (0..model.shape[axis]).map(|k| at(&model, axis, k)).collect();
        let iter = t.axis_iter(axis).unwrap();
        let forwards = iter.len() == expected.len() && matches(iter, expected.clone());
        expected.reverse();
        forwards && matches(t.axis_iter(axis).unwrap().rev(), expected)
    }

    /// The outer sub-views are those along the first axis.
    fn outer_sub_views_follow_the_first_axis(viewed: Viewed<i32>) -> TestResult {
        let (t, model) = (viewed.tensor(), dense(&viewed));
        if t.rank() == 0 {
            return TestResult::from_bool(t.outer_iter().is_err());
        }
        let expected = (0..model.shape[0]).map(|k| at(&model, 0, k)).collect();
        TestResult::from_bool(matches(t.outer_iter().unwrap(), expected))
    }

    /// Lanes are the views of rank 1 along an axis, in row-major order of the others.
    fn lanes_run_along_an_axis(viewed: Viewed<i32>, axis: usize) -> TestResult {
        let (t, model) = (viewed.tensor(), dense(&viewed));
        if t.rank() == 0 {
            return TestResult::from_bool(t.lanes(axis).is_err() && t.rows().is_err());
        }
        let axis = axis % t.rank();
        let lanes = |axis: usize| {
            let mut order: Vec<usize> = (0..model.rank()).filter(|&k| k != axis).collect();
            order.push(axis);
            let moved = model.transpose(&order).unwrap();
            let extent = model.shape[axis];
            let outer: usize = moved.shape[..model.rank() - 1].iter().product();
            (0..outer)
                .map(|k| Model::new(&[extent], moved.data[k * extent..][..extent].to_vec()))
                .collect::<Vec<_>>()
        };
        let rank = t.rank();
        let columns = match t.columns() {
            Ok(columns) => matches(columns, lanes(rank - 2)),
            Err(error) => rank == 1 && error == Error::Axis { axis: 1, rank: 1 },
        };
        TestResult::from_bool(
            columns
                && matches(t.lanes(axis).unwrap(), lanes(axis))
                && matches(t.rows().unwrap(), lanes(rank - 1)),
        )
    }

    /// Two parts of a view put together again are the view.
    fn parts_join_to_the_whole(viewed: Viewed<i32>, axis: usize, cut: usize) -> TestResult {
        let (t, model) = (viewed.tensor(), dense(&viewed));
        if t.rank() == 0 {
            return TestResult::from_bool(t.split_at(0, 0).is_err());
        }
        let axis = axis % t.rank();
        let extent = model.shape[axis];
        let cut = cut % (extent + 1);
        let (low, high) = t.split_at(axis, cut).unwrap();
        let (first, second) = (model.slice(axis, 0..cut).unwrap(), model.slice(axis, cut..extent).unwrap());
        let beyond = t.split_at(axis, extent + 1).map(drop);
        TestResult::from_bool(
            reads_as(&low, &first, |x| x)
                && reads_as(&high, &second, |x| x)
                && reads_as(&concat(axis, [low, high]).unwrap(), &model, |x| x)
                && beyond == Err(wrong_offset(0, extent + 1, 0, axis, extent)),
        )
    }

    /// The parts between any indexes put together again are the view, and an index out of order is
    /// refused.
    fn a_split_joins_to_the_whole(viewed: Viewed<i32>, axis: usize, cuts: Vec<usize>) -> TestResult {
        let (t, model) = (viewed.tensor(), dense(&viewed));
        if t.rank() == 0 {
            return TestResult::from_bool(t.split(0, []).map(drop) == Err(Error::Axis { axis: 0, rank: 0 }));
        }
        let axis = axis % t.rank();
        let extent = model.shape[axis];
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (extent + 1)).collect();
        cuts.sort_unstable();
        let parts = t.split(axis, &cuts).unwrap();
        let whole = parts.len() == cuts.len() + 1
            && reads_as(&concat(axis, parts).unwrap(), &model, |x| x);
        let beyond = Err(wrong_offset(0, extent + 1, 0, axis, extent));
        let falling = Err(wrong_offset(1, 0, extent, axis, extent));
        TestResult::from_bool(
            whole
                && t.split(axis, [extent + 1]).map(drop) == beyond
                && (extent == 0 || t.split(axis, [extent, 0]).map(drop) == falling),
        )
    }

    /// A concatenation is its parts one after another along any axis, parts of any views and storage.
    fn a_concatenation_is_its_parts(viewed: Viewed<i32>, axis: usize, times: u8) -> TestResult {
        let (t, model) = (viewed.tensor(), dense(&viewed));
        if t.rank() == 0 {
            return TestResult::from_bool(concat(0, [t]).is_err());
        }
        let (axis, times) = (axis % t.rank(), 1 + times as usize % 3);
        let mut turned = model.data.clone();
        turned.reverse();
        let other = Tensor::new(t.shape(), Plain(turned.clone())).unwrap();
        let parts = (0..times).flat_map(|_| [t.view().erase(), other.view().erase()]);
        let whole = concat(axis, parts).unwrap();
        let second = Model::new(&model.shape, turned);
        let mut expected = Vec::new();
        for _ in 0..times {
            expected.extend((0..model.shape[axis]).map(|k| at(&model, axis, k)));
            expected.extend((0..model.shape[axis]).map(|k| at(&second, axis, k)));
        }
        TestResult::from_bool(matches(whole.axis_iter(axis).unwrap(), expected))
    }

    /// A stack has its parts along a new axis.
    fn a_stack_has_its_parts_along_a_new_axis(viewed: Viewed<i32>, axis: usize) -> bool {
        let (t, model) = (viewed.tensor(), dense(&viewed));
        let axis = axis % (t.rank() + 1);
        let negated = (&t ^ -1).eval().unwrap();
        let opposite = Model::new(&model.shape, model.data.iter().map(|x| x ^ -1).collect());
        let stacked = stack(axis, [t.view(), negated.view(), t.view()]).unwrap();
        stacked.shape()[axis] == 3
            && matches(stacked.axis_iter(axis).unwrap(), vec![model.clone(), opposite, model])
    }

    /// A border is its value outside and the view inside.
    fn a_border_surrounds_the_view(viewed: Viewed<i32>, seed: usize) -> TestResult {
        let (t, model) = (viewed.tensor(), dense(&viewed));
        let widths: Vec<(usize, usize)> =
            (0..t.rank()).map(|k| (seed >> (2 * k) & 1, seed >> (2 * k + 1) & 1)).collect();
        let padded = pad(t, &widths, -7).unwrap();
        let shape: Vec<usize> =
            model.shape.iter().zip(&widths).map(|(n, (before, after))| n + before + after).collect();
        if shape.iter().product::<usize>() > 20_000 {
            return TestResult::discard();
        }
        let inside = |index: &[usize]| -> Option<Vec<usize>> {
            (0..index.len())
                .map(|k| index[k].checked_sub(widths[k].0).filter(|&digit| digit < model.shape[k]))
                .collect()
        };
        let data = crate::model::all_indexes(&shape)
            .iter()
            .map(|index| inside(index).map_or(-7, |index| *model.get(&index)))
            .collect();
        TestResult::from_bool(reads_as(&padded, &Model::new(&shape, data), |x| x))
    }
}

/// Sub-views in between are not made where they are passed over.
#[test]
fn sub_views_are_passed_over_as_numbers_are() {
    let few = Tensor::from_vec([5], (0..5).collect()).unwrap();
    let read = |t: Option<Tensor<&Vec<i32>>>| t.map(|t| t.item().unwrap());
    for (n, back) in (0..7).cartesian_product(0..3) {
        let (mut found, mut expected) = (few.outer_iter().unwrap(), 0..5);
        assert_eq!(read(found.nth(n)), expected.nth(n));
        assert_eq!(read(found.nth_back(back)), expected.nth_back(back));
        assert_eq!(found.clone().count(), expected.clone().count());
        assert_eq!(read(found.clone().last()), expected.clone().last());
        assert_eq!(read(found.next()), expected.next());
        assert_eq!(read(found.nth_back(n)), expected.nth_back(n));
    }
    let far = Tensor::constant([1 << 40], 0).unwrap();
    let iter = || far.outer_iter().unwrap();
    assert_eq!(iter().count(), 1 << 40);
    assert!(iter().nth(1 << 39).is_some() && iter().nth_back(1 << 39).is_some());
    assert!(iter().last().is_some() && iter().nth(1 << 40).is_none());
    assert_eq!(iter().skip(1 << 39).step_by(1 << 30).count(), 1 << 9);
}

#[test]
fn parts_of_different_shapes_do_not_join() {
    let t = |shape: [usize; 2]| Tensor::from_vec(shape, vec![0; shape[0] * shape[1]]).unwrap();
    assert_eq!(
        concat(1, [t([2, 3]), t([4, 3])]).unwrap_err(),
        Error::Join { tensor: 2, shape: vec![4, 3], first: vec![2, 3], axis: 1, stack: false }
    );
    assert_eq!(
        concat(0, [t([2, 3]), t([1, 3]), t([3, 2])]).unwrap_err(),
        Error::Join { tensor: 3, shape: vec![3, 2], first: vec![2, 3], axis: 0, stack: false }
    );
    let flat = t([1, 3]).reshape([3]).unwrap();
    assert_eq!(
        concat(1, [t([2, 3]), flat]).unwrap_err(),
        Error::Join { tensor: 2, shape: vec![3], first: vec![2, 3], axis: 1, stack: false }
    );
    let error = stack(0, [t([2, 3]), t([3, 2])]).unwrap_err();
    assert_eq!(
        error,
        Error::Join { tensor: 2, shape: vec![3, 2], first: vec![2, 3], axis: 0, stack: true }
    );
    assert_eq!(
        error.to_string(),
        "cannot stack along a new axis 0: tensor 2 has shape [3, 2], tensor 1 has [2, 3]"
    );
    assert_eq!(stack(3, [t([2, 3])]).unwrap_err(), Error::Axis { axis: 3, rank: 2 });
    assert_eq!(concat(2, [t([2, 3])]).unwrap_err(), Error::Axis { axis: 2, rank: 2 });
    let none = Vec::<Tensor<Vec<i32>>>::new;
    let error = concat(0, none()).unwrap_err();
    assert_eq!(error, Error::NothingToJoin { stack: false });
    assert_eq!(error.to_string(), "there is no tensor to concatenate");
    let error = stack(0, none()).unwrap_err();
    assert_eq!(error, Error::NothingToJoin { stack: true });
    assert_eq!(error.to_string(), "there is no tensor to stack");
    assert_eq!(
        pad(t([1, 1]), [(0, 0)], 0).unwrap_err(),
        Error::Rank { what: "pairs of widths", expected: 2, found: 1 }
    );
    let turned = t([2, 3]).transpose([1, 0]).unwrap();
    let text = pad(turned, [(usize::MAX, 0), (0, 0)], 0).unwrap_err().to_string();
    assert!(text.contains(&format!("[{}, 2]", usize::MAX)), "{text}");
    let far = pad(t([1, 1]), [(usize::MAX, 0), (0, 0)], 0).unwrap_err();
    assert_eq!(far, Error::ShapeOverflow { shape: vec![usize::MAX, 1] });
}

/// Runs and lists are what single reads give, and their errors name an address among them that cannot be read.
fn reads_alike<S: Reader<Elem = i32>>(storage: &S) {
    let len = storage.len();
    let each: Vec<_> = (0..len).map(|k| storage.try_read(k)).collect();
    let check = |addresses: &[usize], found: Result<(), StorageError>, out: &[i32]| match found {
        Ok(()) => {
            let same = addresses.iter().zip(out).all(|(&k, x)| each[k].as_ref() == Ok(x));
            assert!(same, "{addresses:?} of {each:?}");
        }
        Err(error) => {
            assert!(addresses.contains(&error.address), "{error:?} of {addresses:?}");
            assert_eq!(each[error.address], Err(error));
        }
    };
    for start in (0..len).step_by(1 + len / 5) {
        for step in [1, 2, 3, 7, 19, 20, 57, 60, 114, 0, -1, -2, -19, -20, -60] {
            let at = |k: isize| start.checked_add_signed(k * step).filter(|&address| address < len);
            let addresses: Vec<usize> = (0..70).map_while(at).collect();
            let mut out = vec![-1; addresses.len()];
            check(&addresses, storage.read_run(start, step, &mut out), &out);
            check(&addresses, storage.read_at(&addresses, &mut out), &out);
        }
    }
    // Fewer addresses than slots.
    let mut out = [-1; 2];
    check(&[0], storage.read_at(&[0], &mut out), &out);
}

/// Joined and bordered tensors are read in runs, down their columns and by lists as they are read one by one, in
/// whatever order their parts lie.
#[test]
fn storage_made_of_parts_reads_alike() {
    for shape in [[3, 20, 2], [1, 19, 20], [19, 3, 1], [2, 3, 19]] {
        let len: usize = shape.iter().product();
        for (axis, order) in (0..3).cartesian_product([[0, 1, 2], [2, 1, 0], [1, 0, 2], [0, 2, 1]])
        {
            let part = |at: usize| {
                let stored = order.map(|k| shape[k]);
                let back = [0, 1, 2].map(|k| order.iter().position(|&o| o == k).unwrap());
                Tensor::new(stored, offline(len, at..at + 1)).unwrap().transpose(back).unwrap()
            };
            for at in [0, len / 2, len] {
                let whole = part(at);
                let some = part(len).slice(axis, 0..shape[axis].min(2)).unwrap();
                let joined = concat(axis, [some.view(), whole.view(), some.view()]).unwrap();
                let parts =
                    joined.split(axis, [some.shape()[axis], some.shape()[axis] + shape[axis]]);
                for (found, expected) in parts.unwrap().iter().zip([&some, &whole, &some]) {
                    assert_eq!(found.shape(), expected.shape());
                    let same = found
                        .shape()
                        .indexes()
                        .unwrap()
                        .all(|index| found.get(&index).ok() == expected.get(&index).ok());
                    assert!(same, "{shape:?} {axis} {order:?} {at}");
                }
                reads_alike(joined.storage());
                reads_alike(stack(axis, [whole.view(), part(len).view()]).unwrap().storage());
                reads_alike(&whole.view().flat());
                for view in [
                    whole.view().rotate([1, 7, 5]).unwrap(),
                    whole.view().rotate([0, 3, 9]).unwrap().flip(2).unwrap(),
                    whole.view().rotate([0, 5, 4]).unwrap().flip(1).unwrap().flip(1).unwrap(),
                    (whole.view().rotate([0, 6, 3]).unwrap())
                        .select((.., Select::between(None, None, 2), ..))
                        .unwrap(),
                ] {
                    reads_alike(concat(axis, [view.view(), view.view()]).unwrap().storage());
                    reads_alike(pad(view.view(), [(1, 0), (0, 2), (1, 1)], -7).unwrap().storage());
                    reads_alike(&view.flat());
                }
                let mut widths = [(0, 0); 3];
                widths[axis] = (2, 1);
                reads_alike(pad(whole.view(), widths, -7).unwrap().storage());
                widths[0] = (1, 1);
                reads_alike(pad(whole, widths, -7).unwrap().storage());
            }
        }
    }
}

/// Axes without elements beside long ones.
#[test]
fn nothing_is_joined_and_bordered() -> Result<(), Error> {
    let far = 1_usize << 30;
    for shape in [[far, 0, far], [0, far, far], [far, far, 0]] {
        let t = Tensor::full(shape, 1)?;
        let empty = shape.iter().position(|&extent| extent == 0).unwrap();
        let mut stacked = shape.to_vec();
        stacked.insert(1, 2);
        assert_eq!(stack(1, [&t, &t])?.shape().to_vec(), stacked);
        let joined = concat(empty, [&t, &t, &t])?;
        assert_eq!((joined.shape(), joined.to_vec()?), (t.shape(), vec![]));
        for axis in (0..3).filter(|&axis| axis != empty) {
            let mut joined = shape;
            joined[axis] *= 2;
            assert_eq!(concat(axis, [&t, &t])?.shape(), joined);
            let mut widths = [(0, 0); 3];
            widths[axis] = (1, 2);
            joined[axis] = far + 3;
            assert_eq!(pad(t.view(), widths, 0)?.shape(), joined);
        }
    }
    let border = pad(Tensor::full([0, 2], 1)?, [(1, 1), (0, 0)], 7)?;
    assert_eq!(border.to_vec()?, [7; 4]);
    assert_eq!(pad(Tensor::full([2, 0], 1)?, [(0, 0), (3, 0)], 7)?.to_vec()?, [7; 6]);
    Ok(())
}
