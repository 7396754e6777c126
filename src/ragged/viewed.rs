//! Views of expressions, which are computed first.

use super::Stretch;
use super::eval::at_path;
use super::expr::{Ahead, RaggedExpr, RaggedRows};
use super::form::Extent;
use super::joint::Joint;
use super::leaves::{Computed, computed};
use super::views::{Shown, numbered};
use crate::error::Result;
use crate::expr::Lazy;
use crate::expr::sealed::Sealed;
use std::sync::Arc;

/// What is shown of an expression that is computed first: the items of another form.
#[derive(Debug, Clone)]
pub struct Viewed<E> {
    pub(super) inner: E,
    pub(super) joint: Joint<'static>,
    /// The numbers of the items of the inner form.
    pub(super) view: Shown,
}

impl<E> Sealed for Viewed<E> {}

impl<E: RaggedExpr> Viewed<E> {
    /// A view of an expression whose operands are joined already.
    pub(super) fn new(inner: E, view: impl FnOnce(Shown) -> Result<Shown>) -> Result<Self> {
        let joint = inner.outline(Stretch::Rows)?;
        let view = view(numbered(&joint.form)?)?;
        Ok(Self { inner, joint, view })
    }
}

impl<E: RaggedExpr> RaggedExpr for Viewed<E> {
    type Elem = E::Elem;
    type Flat<'a>
        = Computed<E::Elem>
    where
        E: 'a;
    type Ref<'a>
        = Viewed<E::Ref<'a>>
    where
        E: 'a;

    fn by_ref(&self) -> Viewed<E::Ref<'_>> {
        Viewed { inner: self.inner.by_ref(), joint: self.joint.clone(), view: self.view.clone() }
    }

    fn flat(&self, to: &Joint<'_>) -> Result<Computed<E::Elem>> {
        computed(to, || {
            let flat = Lazy(self.inner.flat(&self.joint)?);
            let data = flat.to_vec().map_err(|error| at_path(error, &self.joint))?;
            Ok(self.view.clone().over(Arc::new(data)))
        })
    }

    fn widened(self, ones: usize) -> Result<Self> {
        Ok(Self { view: self.view.widened_by(ones)?, ..self })
    }
}

impl<E: RaggedExpr> RaggedRows for Viewed<E> {
    fn extents(&self) -> Result<Vec<Extent>> {
        Ok(self.view.extents())
    }

    fn joint(&self, stretch: Stretch) -> Result<Joint<'_>> {
        let kept = self.inner.joint(stretch)?.kept;
        Ok(Joint { kept, ..Joint::of(self.view.form()?) })
    }

    fn outline(&self, stretch: Stretch) -> Result<Joint<'static>> {
        if stretch == Stretch::Strict {
            self.inner.outline(stretch)?;
        }
        Ok(Joint::of(self.view.form()?))
    }

    fn ahead(&self) -> Ahead {
        Ahead::Items
    }
}
