//! Tensors under chains of views, with the dense results that copying gives.

use super::{Chain, ViewOp, below, copy_under, one_in};
use crate::error::{Error, Result};
use crate::shape::{Align, Shape};
use crate::tensor::Tensor;
use quickcheck::{Arbitrary, Gen};
use std::fmt;

/// A tensor under a chain of view operations.
///
/// ```
/// use lensor::arbitrary::Viewed;
/// use quickcheck::QuickCheck;
///
/// /// Reversing twice is the identity.
/// fn reversing_undoes_itself(viewed: Viewed<i32>) -> bool {
///     let (shape, data) = viewed.model();
///     let mut t = viewed.tensor();
///     for axis in (0..t.rank()).chain(0..t.rank()) {
///         t = t.flip(axis).unwrap();
///     }
///     t.shape() == shape && t.to_vec() == Ok(data)
/// }
/// QuickCheck::new().quickcheck(reversing_undoes_itself as fn(Viewed<i32>) -> bool);
/// ```
#[derive(Clone)]
pub struct Viewed<T> {
    chain: Chain,
    tensor: Tensor<Vec<T>>,
}

impl<T: fmt::Debug> fmt::Debug for Viewed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Viewed")
            .field("shape", self.chain.shape())
            .field("ops", &self.chain.ops())
            .field("data", self.tensor.storage())
            .finish()
    }
}

impl<T: Copy + Send + Sync> Viewed<T> {
    /// Row-major `data` under `chain`.
    ///
    /// # Errors
    ///
    /// [`Error::Length`] unless `data` has just as many elements as the shape the chain starts from.
    pub fn new(chain: Chain, data: Vec<T>) -> Result<Self> {
        let (expected, found) = (chain.shape().count()?, data.len());
        if expected != found {
            let shape = chain.shape().to_vec();
            return Err(Error::Length { shape, expected, found });
        }
        let tensor = Tensor::with_map(chain.map(), data)?;
        Ok(Self { chain, tensor })
    }

    /// The operations, and the shape they start from.
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// The elements before the first operation, row-major.
    pub fn data(&self) -> &[T] {
        self.tensor.storage()
    }

    /// The tensor under all operations.
    pub fn tensor(&self) -> Tensor<Vec<T>> {
        self.tensor.clone()
    }

    /// Shape and elements of that tensor, computed by copying, see [`copy_under`].
    pub fn model(&self) -> (Shape, Vec<T>) {
        let start = (self.chain.shape().clone(), self.data().to_vec());
        let copied = |(shape, data): (Shape, Vec<T>), op: &ViewOp| copy_under(op, &shape, &data);
        self.chain.ops().iter().fold(start, copied)
    }

    /// The same elements without operations.
    fn flattened(&self) -> Option<Self> {
        let (shape, data) = self.model();
        Self::new(Chain::new(shape, []).ok()?, data).ok()
    }

    /// Whatever chain and as many of the elements as it starts from, if there are so many.
    fn under(&self, chain: Chain) -> Option<Self> {
        let count = chain.shape().count().ok()?;
        Self::new(chain, self.data().get(..count)?.to_vec()).ok()
    }
}

impl<T: Arbitrary + Copy + Send + Sync> Viewed<T> {
    fn arbitrary_under(g: &mut Gen, chain: Chain) -> Option<Self> {
        let count = chain.shape().count().ok()?;
        Self::new(chain, (0..count).map(|_| T::arbitrary(g)).collect()).ok()
    }

    /// The same chain on data with one simpler element.
    fn simpler_elements(&self) -> impl Iterator<Item = Self> + use<T> {
        let whole = self.clone();
        (0..self.data().len()).flat_map(move |k| {
            let whole = whole.clone();
            whole.data()[k].shrink().take(3).filter_map(move |element| {
                let mut data = whole.data().to_vec();
                data[k] = element;
                Self::new(whole.chain.clone(), data).ok()
            })
        })
    }
}

impl<T: Arbitrary + Copy + Send + Sync> Arbitrary for Viewed<T> {
    fn arbitrary(g: &mut Gen) -> Self {
        loop {
            let chain = Chain::arbitrary(g);
            if let Some(viewed) = Self::arbitrary_under(g, chain) {
                return viewed;
            }
        }
    }

    /// A simpler chain on some of the elements, or one simpler element.
    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        let whole = self.clone();
        let chains = self.chain.shrink().filter_map(move |chain| whole.under(chain));
        Box::new(chains.chain(self.simpler_elements()))
    }
}

/// The shape that operands have together.
fn joint<T>(operands: &[Viewed<T>]) -> Result<Shape> {
    operands.iter().enumerate().try_fold(Shape::default(), |joint, (k, operand)| {
        joint.join(&operand.tensor.shape(), Align::Right, k + 1)
    })
}

/// `N` tensors under chains of views, whose shapes broadcast together by NumPy's rule.
///
/// Missing axes and extents of 1 come often, and so do operands of the joint shape itself.
///
/// ```
/// use lensor::arbitrary::Aligned;
/// use quickcheck::QuickCheck;
///
/// /// Sums do not care about the order of the operands.
/// fn addition_commutes(operands: Aligned<i32>) -> bool {
///     let [a, b] = operands.tensors();
///     let sum = (&a + &b).eval().unwrap();
///     let [x, y] = operands.models();
///     let expected: Vec<i32> = x.iter().zip(&y).map(|(x, y)| x.wrapping_add(*y)).collect();
///     sum == (&b + &a).eval().unwrap() && sum.shape() == *operands.joint() && sum.storage() == &expected
/// }
/// QuickCheck::new().quickcheck(addition_commutes as fn(Aligned<i32>) -> bool);
/// ```
#[derive(Debug, Clone)]
pub struct Aligned<T, const N: usize = 2> {
    joint: Shape,
    operands: [Viewed<T>; N],
}

impl<T: Copy + Send + Sync, const N: usize> Aligned<T, N> {
    /// Operands whose shapes broadcast together.
    ///
    /// # Errors
    ///
    /// [`Error::Operands`] if they do not.
    pub fn new(operands: [Viewed<T>; N]) -> Result<Self> {
        let joint = joint(&operands)?;
        Ok(Self { joint, operands })
    }

    /// Joint shape of all operands.
    pub fn joint(&self) -> &Shape {
        &self.joint
    }

    /// The operands.
    pub fn operands(&self) -> &[Viewed<T>; N] {
        &self.operands
    }

    /// The operands as tensors, each of its own shape.
    pub fn tensors(&self) -> [Tensor<Vec<T>>; N] {
        self.operands.each_ref().map(Viewed::tensor)
    }

    /// The elements of every operand, stretched to the joint shape by copying.
    pub fn models(&self) -> [Vec<T>; N] {
        self.operands.each_ref().map(|operand| {
            let (shape, data) = operand.model();
            copy_under(&ViewOp::Stretch(self.joint.clone(), Align::Right), &shape, &data).1
        })
    }

    fn with(&self, k: usize, operand: Viewed<T>) -> Option<Self> {
        let mut operands = self.operands.clone();
        *operands.get_mut(k)? = operand;
        Self::new(operands).ok()
    }

    /// The first half of all operands along one axis of the joint shape, views copied out.
    fn halved(&self, axis: usize) -> Option<Self> {
        let (rank, extent) = (self.joint.rank(), self.joint[axis]);
        let mut operands = self.operands.clone();
        for operand in &mut operands {
            let (shape, data) = operand.model();
            let own = axis.checked_sub(rank - shape.rank()).filter(|&own| shape[own] == extent);
            let (shape, data) = match own {
                Some(own) => copy_under(&ViewOp::Slice(own, 0..extent / 2), &shape, &data),
                None => (shape, data),
            };
            *operand = Viewed::new(Chain::new(shape, []).ok()?, data).ok()?;
        }
        Self::new(operands).ok()
    }
}

impl<T: Arbitrary + Copy + Send + Sync, const N: usize> Arbitrary for Aligned<T, N> {
    fn arbitrary(g: &mut Gen) -> Self {
        let full = Shape::arbitrary(g);
        let operands = std::array::from_fn(|_| {
            let missing = if one_in(g, 3) { below(g, full.rank() + 1) } else { 0 };
            let narrow = one_in(g, 3);
            let own: Shape = full[missing..]
                .iter()
                .map(|&extent| if narrow && bool::arbitrary(g) { 1 } else { extent })
                .collect();
            loop {
                let chain = Chain::arbitrary_to(g, &own);
                if let Some(viewed) = Viewed::arbitrary_under(g, chain) {
                    return viewed;
                }
            }
        });
        Self { joint: joint(&operands).unwrap_or(full), operands }
    }

    /// A shorter axis, an operand without operations, or an operand that is simpler at the same shape.
    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        let axes = (0..self.joint.rank()).filter(|&axis| self.joint[axis] > 1);
        let halves: Vec<Self> = axes.filter_map(|axis| self.halved(axis)).collect();
        let whole = self.clone();
        let simpler = (0..N).flat_map(move |k| {
            let (whole, operand) = (whole.clone(), whole.operands[k].clone());
            let bare = if operand.chain.ops().is_empty() { None } else { operand.flattened() };
            let shape = operand.tensor.shape();
            let same = operand.shrink().filter(move |smaller| smaller.tensor.shape() == shape);
            bare.into_iter().chain(same).filter_map(move |operand| whole.with(k, operand))
        });
        Box::new(halves.into_iter().chain(simpler))
    }
}
