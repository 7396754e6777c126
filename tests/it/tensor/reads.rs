//! Reading a tensor under any views.

use crate::model::Model;
use crate::views::{bits, dense, reads_as};
use lensor::arbitrary::{Aligned, Chain, ViewOp, Viewed, copy_under};
use lensor::tensor::pad;
use lensor::{Error, Reader, Select, Shape, StorageError, Tensor};
use quickcheck::{Arbitrary, Gen, TestResult, quickcheck};
use std::sync::atomic::{AtomicUsize, Ordering};

quickcheck! {
    /// Every way to read a tensor gives what copying gives.
    fn reading_is_copying(viewed: Viewed<i32>) -> bool {
        reads_as(&viewed.tensor(), &dense(&viewed), |x| x)
    }

    /// The same for elements of one byte, of sixteen, and for floats to the last bit.
    fn reading_is_copying_for_elements_of_any_size(a: Viewed<u8>, b: Viewed<i128>, c: Viewed<f64>, d: Viewed<bool>) -> bool {
        reads_as(&a.tensor(), &dense(&a), |x| x)
            && reads_as(&b.tensor(), &dense(&b), |x| x)
            && reads_as(&c.tensor(), &dense(&c), f64::to_bits)
            && reads_as(&d.tensor(), &dense(&d), |x| x)
    }

    /// The dense result that the generator gives is that of the model, which shares no code with it.
    fn both_models_agree(viewed: Viewed<u16>) -> bool {
        let (shape, data) = viewed.model();
        dense(&viewed) == Model { shape: shape.to_vec(), data }
    }

    /// A view of a view of borrowed storage is the view of the whole.
    fn borrowing_changes_nothing(viewed: Viewed<i32>) -> bool {
        let t = viewed.tensor();
        let (view, twice) = (t.view(), t.view());
        reads_as(&view, &dense(&viewed), |x| x)
            && twice.view().to_vec() == t.to_vec()
            && view.address_map() == t.address_map()
    }

    /// Contiguous copies are the tensor in row-major order, and no copy is made of one that is so already.
    fn contiguous_is_row_major(viewed: Viewed<i32>) -> bool {
        let model = dense(&viewed);
        let t = viewed.tensor().into_contiguous().unwrap();
        let before = t.storage().as_ptr();
        let again = t.clone().into_contiguous().unwrap();
        let kept = t.into_contiguous().unwrap();
        *kept.storage() == model.data
            && kept.shape() == model.shape
            && kept.storage().as_ptr() == before
            && again == kept
    }

    /// One element is read at its index, and an index outside is refused.
    fn an_index_outside_is_refused(viewed: Viewed<i32>, axis: usize) -> TestResult {
        let t = viewed.tensor();
        if t.is_empty() || t.rank() == 0 {
            return TestResult::discard();
        }
        let axis = axis % t.rank();
        let mut index = vec![0; t.rank()];
        index[axis] = t.shape()[axis];
        let refused = Error::Index { axis, index: index[axis] as i128, extent: index[axis] };
        TestResult::from_bool(t.get(&index) == Err(refused))
    }

    /// A chain made to end in a shape does, and shapes on its way keep to the limits.
    fn a_chain_to_a_shape_ends_there(shape: Shape, seed: u64) -> bool {
        let chain = Chain::arbitrary_to(&mut Gen::from_size_and_seed(20, seed), &shape);
        let limit = lensor::arbitrary::MAX_COUNT;
        chain.map().shape() == shape && chain.shape().count().unwrap() <= limit
    }

    /// Operands that are generated to align do, and so do those they shrink to.
    fn aligned_operands_align(operands: Aligned<i8, 3>) -> bool {
        let [a, b, c] = operands.tensors();
        let aligned = |operands: &Aligned<i8, 3>| {
            let [x, y, z] = operands.models();
            let count = operands.joint().count().unwrap();
            [x, y, z].iter().all(|data| data.len() == count)
        };
        let joint = (a + b + c).shape().unwrap();
        joint == *operands.joint() && aligned(&operands) && operands.shrink().take(40).all(|o| aligned(&o))
    }

    /// What a viewed tensor shrinks to is valid.
    fn viewed_tensors_shrink_to_valid_ones(viewed: Viewed<i8>) -> bool {
        viewed.shrink().take(40).all(|smaller| {
            smaller.tensor().to_vec().unwrap() == dense(&smaller).data
        })
    }
}

/// The generators make the cases that matter: views of every kind, and operands that stretch.
#[test]
fn generators_of_tensors_make_the_ugly_cases_often() {
    let mut g = Gen::from_size_and_seed(100, 3);
    let shapes: Vec<Shape> = (0..1000).map(|_| Shape::arbitrary(&mut g)).collect();
    let chains: Vec<Chain> = shapes.iter().map(|to| Chain::arbitrary_to(&mut g, to)).collect();
    let often = |what: &str, count: usize| assert!(count >= 15, "{what}: {count} of 1000");
    type Kind = (&'static str, fn(&ViewOp) -> bool);
    let kinds: [Kind; 11] = [
        ("transpose", |op| matches!(op, ViewOp::Transpose(_))),
        ("select", |op| matches!(op, ViewOp::Select(_))),
        ("slice", |op| matches!(op, ViewOp::Slice(..))),
        ("broadcast", |op| matches!(op, ViewOp::Broadcast(_))),
        ("rotate", |op| matches!(op, ViewOp::Rotate(_))),
        ("reshape", |op| matches!(op, ViewOp::Reshape(_))),
        ("flip", |op| matches!(op, ViewOp::Flip(_))),
        ("diagonal", |op| matches!(op, ViewOp::Diagonal(..))),
        ("windows", |op| matches!(op, ViewOp::Windows(..))),
        ("insert", |op| matches!(op, ViewOp::InsertAxis(_))),
        ("remove", |op| matches!(op, ViewOp::RemoveAxis(_))),
    ];
    for (what, is) in kinds {
        often(what, chains.iter().filter(|chain| chain.ops().iter().any(is)).count());
    }
    often("links", chains.iter().filter(|chain| chain.map().stages().len() > 1).count());
    let pairs: Vec<Aligned<u8>> = (0..1000).map(|_| Aligned::arbitrary(&mut g)).collect();
    let shape = |pair: &Aligned<u8>, k: usize| pair.operands()[k].tensor().shape();
    often("equal", pairs.iter().filter(|p| shape(p, 0) == shape(p, 1)).count());
    often("lower rank", pairs.iter().filter(|p| shape(p, 0).rank() < shape(p, 1).rank()).count());
    let stretch = |p: &&Aligned<u8>| shape(p, 0) != *p.joint() && shape(p, 1) != *p.joint();
    often("both stretch", pairs.iter().filter(stretch).count());
    let is_view = |pair: &Aligned<u8>, k: usize| !pair.operands()[k].chain().ops().is_empty();
    let scalar = |p: &&Aligned<u8>| (0..2).any(|k| shape(p, k).rank() == 0 && is_view(p, k));
    often("scalars that are views", pairs.iter().filter(scalar).count());
    let scalars: Vec<Chain> =
        (0..1000).map(|_| Chain::arbitrary_to(&mut g, &Shape::from([]))).collect();
    for (what, is) in kinds.iter().filter(|kind| ["select", "reshape", "remove"].contains(&kind.0))
    {
        let last = |chain: &&Chain| chain.ops().last().is_some_and(is);
        often(what, scalars.iter().filter(last).count());
    }
}

/// What is valid only for views of a shape, for the doc of `copy_under`: a selection of nothing.
#[test]
fn copying_under_an_empty_selection_is_empty() {
    let nothing = ViewOp::Select(vec![lensor::Select::List(Vec::new())]);
    assert_eq!(copy_under(&nothing, &[2, 2], &[1, 2, 3, 4]), (Shape::from([0, 2]), Vec::new()));
}

/// NaN and the zeros keep their bits through every kind of copy.
#[test]
fn copies_keep_bits() {
    let data = vec![f64::NAN, -0.0, 0.0, f64::INFINITY, f64::MIN_POSITIVE / 2.0, -f64::NAN];
    let t = Tensor::from_vec([2, 3], data.clone()).unwrap();
    let turned = t.view().transpose([1, 0]).unwrap().to_vec().unwrap();
    let expected = [0, 3, 1, 4, 2, 5].map(|k: usize| data[k].to_bits());
    assert_eq!(turned.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), expected);
    assert_eq!(bits(-f64::NAN), bits(f64::NAN));
}

/// Elements of a longer tensor are iterated over in blocks: each is there, or has its own error, at its place, and the
/// number that is left is right at every step.
#[test]
fn iteration_names_each_error_and_goes_on() {
    struct Holes(usize);
    impl Reader for Holes {
        type Elem = usize;
        fn len(&self) -> usize {
            self.0
        }
        fn read(&self, address: usize) -> usize {
            address
        }
        fn try_read(&self, address: usize) -> Result<usize, StorageError> {
            if address % 3001 == 2500 {
                Err(StorageError::new(address, "a hole"))
            } else {
                Ok(address)
            }
        }
    }
    for shape in
        [vec![5], vec![16], vec![17], vec![7, 5001], vec![3, 2, 17000], vec![900, 3], vec![0, 4]]
    {
        let count: usize = shape.iter().product();
        let t = Tensor::new(shape.clone(), Holes(count)).unwrap();
        let axes: Vec<usize> = (0..shape.len()).rev().collect();
        for t in [t.view(), t.view().transpose(&axes).unwrap()] {
            let mut elements = t.try_iter();
            for (position, index) in t.shape().indexes().unwrap().enumerate() {
                assert_eq!(elements.len(), count - position);
                assert_eq!(elements.next().unwrap(), t.get(&index), "{index:?}");
            }
            assert_eq!((elements.len(), elements.next()), (0, None));
        }
    }
}

/// Counts elements that are read one by one.
struct Runs(AtomicUsize);

impl Reader for Runs {
    type Elem = usize;

    fn len(&self) -> usize {
        5000
    }

    fn read(&self, address: usize) -> usize {
        self.0.fetch_add(1, Ordering::Relaxed);
        address
    }

    fn read_run(&self, start: usize, step: isize, out: &mut [usize]) -> Result<(), StorageError> {
        let address = |k: usize| start.wrapping_add_signed(step * k as isize);
        out.iter_mut().enumerate().for_each(|(k, slot)| *slot = address(k));
        Ok(())
    }
}

/// Storage with a border is read in runs forwards and backwards, and by lists with steps.
#[test]
fn borders_are_read_in_runs_backwards() {
    let t = Tensor::new([5000], Runs(AtomicUsize::new(0))).unwrap();
    let padded = pad(&t, [(3, 4)], 7).unwrap();
    let mut model = vec![7; 3];
    model.extend(0..5000);
    model.extend([7; 4]);
    assert_eq!(padded.to_vec().unwrap(), model);
    let flipped = padded.view().flip(0).unwrap();
    assert!(flipped.to_vec().unwrap().iter().eq(model.iter().rev()));
    // Those that memory is filled with at first.
    assert!(t.storage().0.load(Ordering::Relaxed) < 10);
    for step in [3, -7] {
        let stepped = padded.view().select((Select::every(step),)).unwrap().to_vec().unwrap();
        let expected: Vec<usize> = match step {
            3 => model.iter().step_by(3).copied().collect(),
            _ => model.iter().rev().step_by(7).copied().collect(),
        };
        assert_eq!(stepped, expected);
    }
}

/// Storage that keeps to what [`Reader`] says of steps.
struct Stepped;

impl Reader for Stepped {
    type Elem = usize;

    fn len(&self) -> usize {
        4
    }

    fn read(&self, address: usize) -> usize {
        address
    }

    fn read_run(&self, start: usize, step: isize, out: &mut [usize]) -> Result<(), StorageError> {
        assert_ne!(step, 0);
        lensor::storage::read_each(self, start, step, out)
    }
}

/// Repeated elements are no runs, wherever the view lies below others.
#[test]
fn storage_is_not_asked_for_runs_of_one_element() {
    let one = Tensor::new([4, 1], Stepped).unwrap().slice(0, 2..3).unwrap();
    let row = one.view().broadcast([4, 1000]).unwrap();
    let all_two = |found: lensor::Result<Vec<usize>>| found.unwrap().iter().all(|&x| x == 2);
    let joined = lensor::tensor::concat(1, [row.view(), row.view()]).unwrap();
    assert!(all_two(joined.to_vec()));
    let stacked = lensor::tensor::stack(0, [row.view(), row.view()]).unwrap();
    assert!(all_two(stacked.transpose([2, 0, 1]).unwrap().to_vec()));
    assert!(all_two(pad(row, [(0, 0), (1, 1)], 2).unwrap().to_vec()));
}
