//! Where results of calls go.

use super::kinds::Kinds;
use super::plan::Plan;
use crate::error::{Error, Result};
use crate::memory::for_tuples;
use crate::ragged::Ragged;
use crate::ragged::eval::of_items;
use crate::ragged::form::Form;
use crate::tensor::{Tensor, inverse};
use smallvec::SmallVec;

/// Where the axes of results go.
#[derive(Debug)]
pub struct Places {
    /// With the axes of the loop first.
    forms: Vec<Form>,
    /// What the axes of each result are among those of its form, and of those that are kept after them.
    orders: Vec<SmallVec<[usize; 4]>>,
}

impl Places {
    pub(super) fn new(kinds: &Kinds, plan: &Plan) -> Result<Self> {
        let orders = kinds.ranks.outputs.iter().map(|order| inverse(order)).collect();
        Ok(Self { forms: plan.forms(kinds)?, orders })
    }

    /// Elements of a result.
    pub(super) fn count(&self, output: usize) -> Result<usize> {
        self.forms[output].count()
    }

    /// The rows of a result, without elements.
    pub(super) fn blank(&self, output: usize) -> Result<Ragged<Vec<()>>> {
        self.place(output, vec![(); self.count(output)?])
    }

    /// A result of these elements.
    pub(super) fn place<T: Copy + Send + Sync>(
        &self,
        output: usize,
        elements: Vec<T>,
    ) -> Result<Ragged<Vec<T>>> {
        let (form, order) = (&self.forms[output], &self.orders[output]);
        let (expected, found) = (form.count()?, elements.len());
        if expected != found {
            // Extents by a function that are others when it is asked again.
            return Err(Error::OutOfSpan { span: 0..expected, len: found });
        }
        of_items(form, elements)?.widened_by(order.len() - form.rank())?.transpose(order)
    }
}

/// Results of a call, one for each output.
pub trait RaggedResults {
    /// An array or a tuple of ragged tensors.
    type Ragged;

    #[doc(hidden)]
    fn placed(self, places: &Places) -> Result<Self::Ragged>;
}

impl<T: Copy + Send + Sync, const N: usize> RaggedResults for [Tensor<Vec<T>>; N] {
    type Ragged = [Ragged<Vec<T>>; N];

    fn placed(self, places: &Places) -> Result<Self::Ragged> {
        let each = self.into_iter().enumerate();
        let all = each.map(|(k, data)| places.place(k, data.into_storage()));
        let all = all.collect::<Result<SmallVec<[_; N]>>>()?;
        let found = all.len();
        all.into_inner().map_err(|_| Error::Rank { what: "outputs", expected: N, found })
    }
}

macro_rules! results {
    ($count:literal: $($T:ident $name:ident $k:tt),*) => {
        impl<$($T: Copy + Send + Sync),*> RaggedResults for ($(Tensor<Vec<$T>>,)*) {
            type Ragged = ($(Ragged<Vec<$T>>,)*);

            fn placed(self, places: &Places) -> Result<Self::Ragged> {
                Ok(($(places.place($k, self.$k.into_storage())?,)*))
            }
        }
    };
}

for_tuples!(results 4);
