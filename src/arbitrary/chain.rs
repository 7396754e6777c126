//! A shape and the view operations that follow one another on it.

use super::ViewOp;
use super::below;
use crate::error::Result;
use crate::map::AddressMap;
use crate::shape::Shape;
use quickcheck::{Arbitrary, Gen};

/// Longest generated chain.
const MAX_OPERATIONS: usize = 8;

/// View operations, each valid for the result of those before it, on a row-major tensor of some shape.
///
/// ```
/// use lensor::arbitrary::{Chain, ViewOp};
/// use lensor::Shape;
/// let chain = Chain::new(Shape::from([2, 3]), [ViewOp::Transpose(vec![1, 0]), ViewOp::Flip(1)])?;
/// assert_eq!(chain.map().to_local([0, 0])?, 3);
/// # Ok::<(), lensor::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Chain {
    shape: Shape,
    ops: Vec<ViewOp>,
    map: AddressMap,
}

impl Chain {
    /// The chain of `ops` on `shape`.
    ///
    /// # Errors
    ///
    /// Those of the first operation that is not valid where it stands.
    pub fn new(shape: Shape, ops: impl IntoIterator<Item = ViewOp>) -> Result<Self> {
        let mut chain = Self { map: AddressMap::row_major(&shape)?, shape, ops: Vec::new() };
        ops.into_iter().try_for_each(|operation| chain.push(operation))?;
        Ok(chain)
    }

    /// Adds an operation, if it is valid for the last view.
    fn push(&mut self, operation: ViewOp) -> Result<()> {
        self.map = operation.apply(self.map.clone())?;
        self.ops.push(operation);
        Ok(())
    }

    /// Shape of the tensor before the first operation.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The operations, first to last.
    pub fn ops(&self) -> &[ViewOp] {
        &self.ops
    }

    /// The map of the whole chain, from an index of the last view to an address of the tensor.
    pub fn map(&self) -> AddressMap {
        self.map.clone()
    }

    /// A random chain on a shape.
    ///
    /// # Errors
    ///
    /// Those of [`AddressMap::row_major`].
    pub fn arbitrary_for(g: &mut Gen, shape: Shape) -> Result<Self> {
        let mut chain = Self::new(shape, [])?;
        for _ in 0..below(g, MAX_OPERATIONS.min(g.size()) + 1) {
            let operation = ViewOp::arbitrary_for(g, &chain.map.shape());
            // An operation refused here would go unnoticed, so laws test `arbitrary_for` by itself.
            let _ = chain.push(operation);
        }
        Ok(chain)
    }

    /// The chain of those of `ops` that are valid where they stand.
    fn salvage(shape: Shape, ops: &[ViewOp]) -> Option<Self> {
        let mut chain = Self::new(shape, []).ok()?;
        for operation in ops {
            let _ = chain.push(operation.clone());
        }
        Some(chain)
    }
}

impl Arbitrary for Chain {
    fn arbitrary(g: &mut Gen) -> Self {
        loop {
            let shape = Shape::arbitrary(g);
            if let Ok(chain) = Self::arbitrary_for(g, shape) {
                return chain;
            }
        }
    }

    /// Fewer operations, a smaller shape under those operations that still apply, or simpler arguments.
    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        let (shape, ops) = (self.shape.clone(), self.ops.clone());
        let halves = [ops[ops.len() / 2..].to_vec(), ops[..ops.len() / 2].to_vec()];
        let without = (0..ops.len()).map({
            let ops = ops.clone();
            move |k| [&ops[..k], &ops[k + 1..]].concat()
        });
        let shorter = halves.into_iter().filter({
            let len = ops.len();
            move |half| half.len() < len
        });
        let fewer = shorter.chain(without).filter_map({
            let shape = shape.clone();
            move |ops| Self::salvage(shape.clone(), &ops)
        });
        let smaller = shape.shrink().filter_map({
            let ops = ops.clone();
            move |shape| Self::salvage(shape, &ops)
        });
        let simpler = (0..ops.len()).flat_map(move |k| {
            let (shape, ops) = (shape.clone(), ops.clone());
            ops[k].simpler().into_iter().filter_map(move |operation| {
                let mut ops = ops.clone();
                ops[k] = operation;
                Self::new(shape.clone(), ops).ok()
            })
        });
        Box::new(fewer.chain(smaller).chain(simpler))
    }
}
