//! Deferred operations as leaves of expressions.

use super::Compute;
use crate::error::{Error, Result};
use crate::expr::machinery::{Kept, LeafCursor};
use crate::expr::sealed::Sealed;
use crate::expr::{Access, Expr, Leaf, Missing, Prepare, SharedResult, prepare_all};
use crate::map::AddressMap;
use crate::memory::debug_of_fields;
use crate::shape::Shape;
use std::sync::Arc;

/// The result of an operation as an operand: a leaf whose elements are computed before the expression is.
#[derive(Clone)]
pub struct Pending<C: Compute> {
    operation: C,
    /// Where in the result each index of this view lies, or why there is no result.
    map: Result<AddressMap>,
    missing: Missing<C::Elem>,
    shared: Arc<SharedResult<Vec<C::Elem>>>,
}

impl<C: Compute> Pending<C> {
    pub(super) fn new(operation: C, shared: Arc<SharedResult<Vec<C::Elem>>>) -> Self {
        let map = operation.layout();
        let len = map.as_ref().map_or(0, AddressMap::count);
        Self { operation, map, missing: Missing::new(len), shared }
    }
}

debug_of_fields!([C: Compute] Pending<C> |own| map: own.map);

impl<C: Compute> Prepare for Pending<C> {
    fn prepare<'a>(&'a self, kept: &mut Kept<'a>) -> Result<()> {
        let result = self.shared.get_or(|| {
            if self.missing.len > 0 {
                self.operation.check_reads()?;
            }
            prepare_all(&mut |visit| self.operation.deferred(visit), kept)?;
            self.operation.collect(self.missing.len)
        })?;
        kept.keep(result);
        Ok(())
    }
}

impl<C: Compute> Sealed for Pending<C> {}

impl<C: Compute> Expr for Pending<C> {
    const IS_LEAF: bool = true;
    type Elem = C::Elem;
    type Cursor<'a>
        = LeafCursor<'a, C::Elem>
    where
        Self: 'a;
    type Ref<'a>
        = Pending<&'a C>
    where
        Self: 'a;

    fn by_ref(&self) -> Pending<&C> {
        Pending {
            operation: &self.operation,
            map: self.map.clone(),
            missing: self.missing.clone(),
            shared: self.shared.clone(),
        }
    }

    fn shape(&self) -> Result<Shape> {
        self.map.as_ref().map(AddressMap::shape).map_err(Error::copy)
    }

    fn fits(&self, shape: &Shape) -> bool {
        self.map.as_ref().is_ok_and(|map| map.shape() == *shape)
    }

    fn leaves<'a>(&'a self, visit: &mut dyn FnMut(Leaf<'a>)) {
        if let Ok(map) = &self.map {
            visit(Leaf { map, elem_bytes: size_of::<C::Elem>(), access: Access::Slice });
        }
    }

    fn held(&self) -> Option<(Arc<Vec<C::Elem>>, &AddressMap)> {
        Some((self.shared.get()?, self.map.as_ref().ok()?))
    }

    fn rewrite(&mut self, change: &mut dyn FnMut(AddressMap) -> Result<AddressMap>) -> Result<()> {
        self.map = Ok(change(self.map.clone()?)?);
        Ok(())
    }

    fn cursor(&self) -> LeafCursor<'_, C::Elem> {
        LeafCursor::of_result(&self.missing, self.shared.get())
    }

    fn leaf_count(&self) -> usize {
        1
    }

    fn deferred<'a>(&'a self, visit: &mut dyn FnMut(&'a dyn Prepare)) {
        visit(self);
    }

    fn depth(&self) -> usize {
        self.operation.depth()
    }
}
