//! Sparse tensors under chains of views, with their dense copies.

use super::{Chain, Viewed, below};
use crate::dtype::SameBits;
use crate::shape::Shape;
use crate::storage::Sparse;
use crate::tensor::Tensor;
use quickcheck::{Arbitrary, Gen};

/// A sparse tensor under a chain of view operations.
///
/// The fill value is any element; from none to all elements are stored, and some entries hold the fill
/// value.
///
/// ```
/// use lensor::arbitrary::SparseViewed;
/// use quickcheck::QuickCheck;
///
/// /// What a view stores, and the fill value elsewhere, are its elements.
/// fn entries_are_elements(viewed: SparseViewed<i32>) -> bool {
///     let (shape, expected) = viewed.model();
///     let entries = viewed.tensor().stored_entries().unwrap().unwrap();
///     let mut found = vec![entries.fill(); expected.len()];
///     entries.iter().for_each(|(position, value)| found[position] = value);
///     viewed.tensor().shape() == shape && found == expected
/// }
/// QuickCheck::new().quickcheck(entries_are_elements as fn(SparseViewed<i32>) -> bool);
/// ```
#[derive(Debug, Clone)]
pub struct SparseViewed<T> {
    fill: T,
    dense: Viewed<T>,
    /// Whether each element before the first operation has an entry.
    stored: Vec<bool>,
}

impl<T: Copy + Send + Sync> SparseViewed<T> {
    /// Value of what is not stored.
    pub fn fill(&self) -> T {
        self.fill
    }

    /// The operations, and the shape they start from.
    pub fn chain(&self) -> &Chain {
        self.dense.chain()
    }

    /// The tensor under all operations.
    pub fn tensor(&self) -> Tensor<Sparse<T>> {
        let entries = self.dense.data().iter().enumerate().zip(&self.stored);
        let entries = entries.filter(|(_, stored)| **stored).map(|((address, &x), _)| (address, x));
        let (addresses, values) = entries.unzip();
        let storage = Sparse::of_sorted(self.stored.len(), self.fill, addresses, values);
        Tensor::from_parts(self.dense.chain().map(), storage)
    }

    /// The same elements in memory, under the same operations.
    pub fn dense(&self) -> Tensor<Vec<T>> {
        self.dense.tensor()
    }

    /// Shape and elements under all operations, computed by copying.
    pub fn model(&self) -> (Shape, Vec<T>) {
        self.dense.model()
    }

    /// Other elements and entries under another chain, if they fit together.
    fn of(fill: T, chain: Chain, mut data: Vec<T>, stored: Vec<bool>) -> Option<Self> {
        for (x, stored) in data.iter_mut().zip(&stored) {
            *x = if *stored { *x } else { fill };
        }
        Some(Self { fill, dense: Viewed::new(chain, data).ok()?, stored })
    }
}

impl<T: Arbitrary + SameBits + Send + Sync> Arbitrary for SparseViewed<T> {
    fn arbitrary(g: &mut Gen) -> Self {
        loop {
            let dense = Viewed::<T>::arbitrary(g);
            let count = dense.data().len();
            let (fill, density) = (T::arbitrary(g), below(g, 11));
            let stored = (0..count).map(|_| below(g, 10) < density).collect();
            let data =
                dense.data().iter().map(|&x| if below(g, 8) == 0 { fill } else { x }).collect();
            if let Some(viewed) = Self::of(fill, dense.chain().clone(), data, stored) {
                return viewed;
            }
        }
    }

    /// One entry fewer, or a simpler chain on some of the elements.
    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        let whole = self.clone();
        let fewer = (0..self.stored.len()).filter(|&k| self.stored[k]).collect::<Vec<_>>();
        let fewer = fewer.into_iter().filter_map(move |k| {
            let mut stored = whole.stored.clone();
            stored[k] = false;
            Self::of(whole.fill, whole.chain().clone(), whole.dense.data().to_vec(), stored)
        });
        let whole = self.clone();
        let chains = self.chain().shrink().filter_map(move |chain| {
            let count = chain.shape().count().ok()?;
            let data = whole.dense.data().get(..count)?.to_vec();
            Self::of(whole.fill, chain, data, whole.stored.get(..count)?.to_vec())
        });
        Box::new(fewer.chain(chains))
    }
}
