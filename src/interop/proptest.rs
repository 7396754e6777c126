//! Strategies of [`proptest`] (feature `proptest`): shapes, chains of view operations, and tensors under them.
//!
//! The chains are those of [`arbitrary`](crate::arbitrary), with its ugly cases. They shrink by losing operations first.
//!
//! ```
//! use lensor::interop::proptest::{proptest::prelude::*, viewed};
//! proptest!(|(viewed in viewed(-9..10_i32))| {
//!     let (shape, expected) = viewed.model();
//!     let t = viewed.tensor();
//!     prop_assert_eq!(t.shape(), shape);
//!     prop_assert_eq!(t.to_vec().unwrap(), expected);
//! });
//! ```

pub use ::proptest;

use crate::arbitrary::{Chain, Viewed};
use crate::shape::Shape;
use ::proptest::collection::{SizeRange, vec};
use ::proptest::prelude::Rng;
use ::proptest::strategy::{NewTree, Strategy, ValueTree};
use ::proptest::test_runner::TestRunner;
use quickcheck::{Arbitrary, Gen};
use std::fmt::{self, Debug, Formatter};

/// Size that chains are drawn with.
const SIZE: usize = 10;

/// Shapes with as many axes as `ranks` says, of extents from a strategy.
///
/// ```
/// use lensor::interop::proptest::{proptest::prelude::*, shape};
/// proptest!(|(shape in shape(0..4, 0..5_usize))| {
///     prop_assert!(shape.rank() < 4 && shape.iter().all(|extent| *extent < 5));
/// });
/// ```
pub fn shape(
    ranks: impl Into<SizeRange>,
    extents: impl Strategy<Value = usize>,
) -> impl Strategy<Value = Shape> {
    vec(extents, ranks).prop_map(Shape::from)
}

/// Chains of view operations that start from a shape. They shrink by losing operations and by simpler ones; the shape
/// stays.
///
/// ```
/// use lensor::interop::proptest::{chain, proptest::prelude::*};
/// proptest!(|(chain in chain([2, 3]))| {
///     prop_assert_eq!(chain.shape(), &[2, 3]);
///     prop_assert!(chain.map().span().end <= 6);
/// });
/// ```
pub fn chain(shape: impl Into<Shape>) -> Chains {
    Chains(Some(shape.into()))
}

/// Chains of view operations that start from shapes of all kinds, and shrink these too.
pub fn any_chain() -> Chains {
    Chains(None)
}

/// Tensors under chains of views, with elements from a strategy. A smaller chain comes before simpler elements.
///
/// ```
/// use lensor::interop::proptest::{proptest::prelude::*, viewed};
/// use lensor::prelude::*;
/// proptest!(|(viewed in viewed(0..100_u64))| {
///     let (_, elements) = viewed.model();
///     prop_assert_eq!(viewed.tensor().sum(..).item().unwrap(), elements.iter().sum::<u64>());
/// });
/// ```
pub fn viewed<E>(elements: E) -> impl Strategy<Value = Viewed<E::Value>>
where
    E: Strategy<Value: Copy + Send + Sync> + Clone,
{
    any_chain().prop_flat_map(move |chain| {
        let count = chain.shape().count().unwrap_or(0);
        let kept = move |elements| Viewed::new(chain.clone(), elements).ok();
        vec(elements.clone(), count).prop_filter_map("as many elements as the shape has", kept)
    })
}

/// Chains of view operations, see [`chain`].
#[derive(Debug, Clone)]
pub struct Chains(Option<Shape>);

impl Strategy for Chains {
    type Tree = ChainTree;
    type Value = Chain;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let mut g = Gen::from_size_and_seed(SIZE, runner.rng().next_u64());
        let drawn = match &self.0 {
            None => Chain::arbitrary(&mut g),
            Some(shape) => Chain::arbitrary_for(&mut g, shape.clone())
                .map_err(|error| ::proptest::test_runner::Reason::from(error.to_string()))?,
        };
        Ok(ChainTree { best: drawn.clone(), current: drawn, next: None, shape: self.0.clone() })
    }
}

/// A chain and what it shrinks to.
pub struct ChainTree {
    /// The smallest that failed.
    best: Chain,
    current: Chain,
    /// Smaller than the best, not tried yet.
    next: Option<Box<dyn Iterator<Item = Chain>>>,
    /// The shape that is kept.
    shape: Option<Shape>,
}

impl Debug for ChainTree {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ChainTree").field(&self.current).finish()
    }
}

impl ChainTree {
    fn advance(&mut self) -> bool {
        let (best, shape) = (&self.best, &self.shape);
        let next = self.next.get_or_insert_with(|| best.shrink());
        let found = next.find(|chain| shape.as_ref().is_none_or(|shape| chain.shape() == shape));
        let is_smaller = found.is_some();
        self.current = found.unwrap_or_else(|| self.best.clone());
        is_smaller
    }
}

impl ValueTree for ChainTree {
    type Value = Chain;

    fn current(&self) -> Chain {
        self.current.clone()
    }

    fn simplify(&mut self) -> bool {
        self.best = self.current.clone();
        self.next = None;
        self.advance()
    }

    fn complicate(&mut self) -> bool {
        self.advance()
    }
}
