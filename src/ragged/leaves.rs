//! Leaves of ragged expressions.

use super::expr::{Ahead, IntoRagged, RaggedExpr, RaggedRows, ragged_operands};
use super::form::{Extent, Form};
use super::joint::Joint;
use super::rows::Rows;
use super::{Ragged, Stretch};
use crate::compute::{Compute, Deferred, Pending};
use crate::error::Result;
use crate::expr::sealed::Sealed;
use crate::expr::{Expr, IntoExpr, Lazy, Scalar, prepare};
use crate::storage::Reader;
use crate::tensor::Tensor;
use std::sync::Arc;

impl<S> Sealed for Ragged<S> {}

impl<S: Reader> RaggedExpr for Ragged<S> {
    type Elem = S::Elem;
    type Flat<'a>
        = Tensor<Rows<&'a S>>
    where
        S: 'a;
    type Ref<'a>
        = Ragged<&'a S>
    where
        S: 'a;

    fn by_ref(&self) -> Ragged<&S> {
        self.view()
    }

    fn flat<'a>(&'a self, to: &Joint<'_>) -> Result<Tensor<Rows<&'a S>>> {
        self.view().flat(to)
    }

    fn widened(self, ones: usize) -> Result<Self> {
        self.widened_by(ones)
    }
}

impl<S: Reader> RaggedRows for Ragged<S> {
    fn extents(&self) -> Result<Vec<Extent>> {
        Ok(self.extents())
    }

    fn joint(&self, _stretch: Stretch) -> Result<Joint<'_>> {
        Ok(Joint::of(self.form()?))
    }

    fn ahead(&self) -> Ahead {
        Ahead::Nothing
    }

    fn words(&self, to: &Joint<'_>, visit: &mut dyn FnMut(&'static str)) -> Result<()> {
        visit(self.view().flat(to)?.storage().words());
        Ok(())
    }
}

impl<T: Copy + Send + Sync> RaggedExpr for Scalar<T> {
    type Elem = T;
    type Flat<'a>
        = Self
    where
        T: 'a;
    type Ref<'a>
        = Self
    where
        T: 'a;

    fn by_ref(&self) -> Self {
        *self
    }

    fn flat(&self, _to: &Joint<'_>) -> Result<Self> {
        Ok(*self)
    }

    fn widened(self, _ones: usize) -> Result<Self> {
        Ok(self)
    }
}

impl<T: Copy + Send + Sync> RaggedRows for Scalar<T> {
    fn extents(&self) -> Result<Vec<Extent>> {
        Ok(Vec::new())
    }

    fn joint(&self, _stretch: Stretch) -> Result<Joint<'_>> {
        Ok(Joint::of(Form::dense(&[])))
    }

    fn ahead(&self) -> Ahead {
        Ahead::Nothing
    }

    fn words(&self, _to: &Joint<'_>, _visit: &mut dyn FnMut(&'static str)) -> Result<()> {
        Ok(())
    }
}

/// The items of something that is computed before the expression is.
pub(super) type Computed<T> = Tensor<Rows<Arc<Vec<T>>>>;

/// The items of a result at a joint form. It is not asked for where there are none.
pub(super) fn computed<T: Copy + Send + Sync>(
    to: &Joint<'_>,
    result: impl FnOnce() -> Result<Ragged<Arc<Vec<T>>>>,
) -> Result<Computed<T>> {
    let result = match to.is_empty() {
        true => Tensor::new([0], Arc::<Vec<T>>::default())?.into_ragged(),
        false => result()?,
    };
    result.flat(to)
}

/// A dense expression, which is computed first.
impl<E: Expr> RaggedExpr for Lazy<E> {
    type Elem = E::Elem;
    type Flat<'a>
        = Computed<E::Elem>
    where
        E: 'a;
    type Ref<'a>
        = Lazy<E::Ref<'a>>
    where
        E: 'a;

    fn by_ref(&self) -> Lazy<E::Ref<'_>> {
        Lazy(self.0.by_ref())
    }

    fn flat(&self, to: &Joint<'_>) -> Result<Computed<E::Elem>> {
        computed(to, || {
            let (map, data) = self.eval()?.into_parts();
            Ok(Tensor::from_parts(map, Arc::new(data)).into_ragged())
        })
    }

    fn widened(mut self, ones: usize) -> Result<Self> {
        if ones > 0 {
            self.add_axes(ones)?;
        }
        Ok(self)
    }
}

impl<E: Expr> RaggedRows for Lazy<E> {
    fn extents(&self) -> Result<Vec<Extent>> {
        Ok(self.shape()?.iter().map(|&extent| Extent::Fixed(extent)).collect())
    }

    fn joint(&self, _stretch: Stretch) -> Result<Joint<'_>> {
        let mut joint = Joint::of(Form::dense(&self.shape()?));
        // What is read several times is computed once.
        joint.kept.push(Arc::new(prepare(&self.0)?));
        Ok(joint)
    }

    fn outline(&self, _stretch: Stretch) -> Result<Joint<'static>> {
        Ok(Joint::of(Form::dense(&self.shape()?)))
    }

    fn ahead(&self) -> Ahead {
        Ahead::Items
    }
}

ragged_operands! {
    ['a, S: Reader] &'a Ragged<S>: S::Elem => Ragged<&'a S>, |x| x.view();
    [S: Reader] Tensor<S>: S::Elem => Ragged<S>, |x| x.into_ragged();
    ['a, S: Reader] &'a Tensor<S>: S::Elem => Ragged<&'a S>, |x| x.as_ragged();
    ['a, E: Expr] &'a Lazy<E>: E::Elem => Lazy<E::Ref<'a>>, |x| Lazy(x.0.by_ref());
    [C: Compute] Deferred<C>: C::Elem => Lazy<Pending<C>>, |x| x.lazy();
    ['a, C: Compute] &'a Deferred<C>: C::Elem => Lazy<Pending<&'a C>>, |x| Lazy(x.into_expr());
}
