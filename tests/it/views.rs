//! Storages of the plainest kind, and readings to compare.

use crate::model::{Model, all_indexes};
use lensor::arbitrary::{Chain, ViewOp, Viewed};
use lensor::{Lazy, Reader, Result, Shape, Tensor, Writer};
use quickcheck::Gen;
use std::fmt::Debug;

/// Shape and elements of a tensor under its views, by the model.
pub(crate) fn dense<T: Copy + Send + Sync>(viewed: &Viewed<T>) -> Model<T> {
    under(viewed.chain(), viewed.data())
}

/// The first elements of `data` under a chain, by the model.
pub(crate) fn under<T: Clone>(chain: &Chain, data: &[T]) -> Model<T> {
    let count = chain.shape().count().unwrap();
    Model::new(chain.shape(), data[..count].to_vec()).apply_all(chain)
}

/// Whether every way to read a tensor gives shape and elements of the model, told apart by `key`.
pub(crate) fn reads_as<S: Reader, K: PartialEq + Debug>(
    t: &Tensor<S>,
    model: &Model<S::Elem>,
    key: impl Fn(S::Elem) -> K,
) -> bool {
    let keys = |data: &[S::Elem]| data.iter().map(|&element| key(element)).collect::<Vec<K>>();
    let expected = keys(&model.data);
    let evaluated = t.view().lazy().eval().unwrap();
    let one_by_one: Vec<S::Elem> = t.try_iter().collect::<Result<_>>().unwrap();
    let by_index: Vec<S::Elem> =
        all_indexes(&model.shape).iter().map(|index| t.get(index).unwrap()).collect();
    let flat = t.view().flat();
    let as_storage: Vec<S::Elem> = (0..flat.len()).map(|k| flat.read(k)).collect();
    t.shape() == model.shape.clone()
        && t.len() == model.data.len()
        && keys(&t.to_vec().unwrap()) == expected
        && evaluated.shape() == t.shape()
        && keys(evaluated.storage()) == expected
        && keys(&one_by_one) == expected
        && keys(&by_index) == expected
        && keys(&as_storage) == expected
        && (expected.len() != 1 || [key(t.item().unwrap())][..] == expected[..])
}

/// Storage of the two required methods.
#[derive(Debug, Clone)]
pub(crate) struct Plain<T>(pub(crate) Vec<T>);

impl<T: Copy + Send + Sync> Reader for Plain<T> {
    type Elem = T;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn read(&self, address: usize) -> T {
        self.0[address]
    }
}

/// Storage of the three methods required to write. Counts how often each element is written.
#[derive(Debug, Clone)]
pub(crate) struct Slots<T> {
    pub(crate) data: Vec<T>,
    pub(crate) writes: Vec<usize>,
}

impl<T: Copy> Slots<T> {
    pub(crate) fn new(data: &[T]) -> Self {
        Self { data: data.to_vec(), writes: vec![0; data.len()] }
    }
}

impl<T: Copy + Send + Sync> Reader for Slots<T> {
    type Elem = T;

    fn len(&self) -> usize {
        self.data.len()
    }

    fn read(&self, address: usize) -> T {
        self.data[address]
    }
}

impl<T: Copy + Send + Sync> Writer for Slots<T> {
    fn write(&mut self, address: usize, value: T) {
        self.data[address] = value;
        self.writes[address] += 1;
    }
}

/// Up to `most` operations that follow one another on `shape`, of those that expressions have too.
pub(crate) fn operations(seed: u64, shape: &Shape, most: usize) -> Chain {
    let mut g = Gen::from_size_and_seed(30, seed);
    let mut chain = Chain::new(shape.clone(), []).unwrap();
    for _ in 0..most {
        let operation = ViewOp::arbitrary_for(&mut g, &chain.map().shape());
        if !matches!(operation, ViewOp::Stretch(..)) {
            let ops = chain.ops().iter().cloned().chain([operation]);
            chain = Chain::new(shape.clone(), ops).unwrap();
        }
    }
    chain
}

/// The view of an expression under all operations of a chain.
pub(crate) fn view_of<E: lensor::Expr>(e: Lazy<E>, chain: &Chain) -> Result<Lazy<E>> {
    chain.ops().iter().try_fold(e, |e, operation| match operation {
        ViewOp::Transpose(order) => e.transpose(order),
        ViewOp::Select(selectors) => e.select(selectors),
        ViewOp::Slice(axis, range) => e.slice(*axis, range.clone()),
        ViewOp::Broadcast(to) => e.broadcast(to),
        ViewOp::Rotate(shifts) => e.rotate(shifts),
        ViewOp::Reshape(to) => e.reshape(to),
        ViewOp::SplitAxis(axis, extents) => e.split_axis(*axis, extents),
        ViewOp::MergeAxes(axes) => e.merge_axes(axes.clone()),
        ViewOp::Flip(axis) => e.flip(*axis),
        ViewOp::Diagonal(a, b) => e.diagonal(*a, *b),
        ViewOp::Windows(axis, window) => e.windows(*axis, *window),
        ViewOp::InsertAxis(axis) => e.insert_axis(*axis),
        ViewOp::RemoveAxis(axis) => e.remove_axis(*axis),
        ViewOp::Stretch(..) => panic!("expressions do not stretch by themselves"),
    })
}

/// The same element to the last bit, any NaN as any other.
pub(crate) fn bits(x: f64) -> u64 {
    if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() }
}
