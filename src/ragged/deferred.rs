//! Operations with one ragged result that are not computed yet.

use super::expr::{
    Ahead, IntoRagged, LazyRagged, PairsRagged, RaggedExpr, RaggedRows, ragged_operands,
};
use super::form::{Extent, Form};
use super::joint::Joint;
use super::leaves::{Computed, computed};
use super::{Ragged, Stretch};
use crate::error::Result;
use crate::expr::sealed::Sealed;
use crate::expr::{Explanation, Hold, NOT_COMPUTED, SharedResult, pairs};
use crate::memory::{debug_of_fields, default_of_fields, forward};
use std::fmt::{self, Debug, Display, Formatter};
use std::sync::{Arc, OnceLock};

/// An operation with one result whose rows follow from those of its operands: what [`Compute`](crate::Compute) is for
/// dense results. Sealed.
pub trait RaggedCompute: Send + Sync + super::sealed::Operation {
    /// Type of the results.
    type Elem: Copy + Send + Sync;

    /// What the axes of the result are, as kinds and fixed extents alone tell.
    #[doc(hidden)]
    fn extents(&self) -> Result<Vec<Extent>>;

    /// Whether the lengths of rows are known before anything is computed, at less than planning all of it twice.
    #[doc(hidden)]
    fn knows_rows(&self) -> bool {
        false
    }

    /// The lengths of all rows of the result, which is not computed.
    #[doc(hidden)]
    fn form(&self, stretch: Stretch) -> Result<Form>;

    /// Computes all results.
    #[doc(hidden)]
    fn compute(&self, stretch: Stretch) -> Result<Ragged<Vec<Self::Elem>>>;

    /// The same for several readers.
    #[doc(hidden)]
    fn keep(&self, stretch: Stretch) -> Result<Kept<Self::Elem>> {
        Ok(Kept { result: self.compute(stretch)?.with_storage(Arc::new), whole: None })
    }

    /// How they would be computed, in words.
    #[doc(hidden)]
    fn explain(&self) -> Result<Explanation>;
}

impl<C: RaggedCompute> super::sealed::Operation for &C {}

impl<C: RaggedCompute> RaggedCompute for &C {
    type Elem = C::Elem;

    forward! {
        ref extents() -> Result<Vec<Extent>>;
        ref knows_rows() -> bool;
        ref form(stretch: Stretch) -> Result<Form>;
        ref compute(stretch: Stretch) -> Result<Ragged<Vec<C::Elem>>>;
        ref keep(stretch: Stretch) -> Result<Kept<C::Elem>>;
        ref explain() -> Result<Explanation>;
    }
}

/// The result of an operation, as long as some evaluation holds it. Where no length is stretched both results are the
/// same, but [`Stretch::Rows`] may stretch where [`Stretch::Strict`] fails.
#[derive(Debug)]
pub(super) struct SharedRows<T> {
    strict: SharedResult<T>,
    rows: SharedResult<T>,
}

default_of_fields!(SharedRows<T> { strict, rows });

impl<T> SharedRows<T> {
    /// The result that some evaluation holds, or else the one of `compute`.
    pub(super) fn get_or(
        &self,
        stretch: Stretch,
        compute: impl FnOnce() -> Result<T>,
    ) -> Result<Arc<T>> {
        let (cell, found) = match stretch {
            Stretch::Strict => (&self.strict, None),
            Stretch::Rows => (&self.rows, self.rows.get()),
        };
        match found.or_else(|| self.strict.get()) {
            Some(result) => Ok(result),
            None => cell.get_or(compute),
        }
    }
}

/// A result that several evaluations read.
pub struct Kept<T> {
    pub(super) result: Ragged<Arc<Vec<T>>>,
    /// All results of an operation that has several, so that the others find them.
    pub(super) whole: Option<Arc<dyn Hold>>,
}

debug_of_fields!([T] Kept<T> |own| whole: own.whole.is_some());

/// An operation on ragged operands, not computed yet. It may stand wherever a ragged operand may, and is then computed
/// once for all its clones and references in an evaluation, before what reads it.
#[must_use = "nothing is computed before it is asked for"]
pub struct DeferredRagged<C: RaggedCompute> {
    pub(super) operation: C,
    shared: OnceLock<Arc<SharedRows<Kept<C::Elem>>>>,
}

impl<C: RaggedCompute + Clone> Clone for DeferredRagged<C> {
    fn clone(&self) -> Self {
        Self { operation: self.operation.clone(), shared: OnceLock::from(self.shared()) }
    }
}

impl<C: RaggedCompute + Debug> Debug for DeferredRagged<C> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DeferredRagged").field(&self.operation).finish()
    }
}

/// What it is, and how to compute it; computes nothing.
impl<C: RaggedCompute> Display for DeferredRagged<C> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.explain() {
            Ok(how) => {
                let what = how.lines().first().map_or("", |line| line.trim_end_matches(", of:"));
                write!(f, "{what}, {NOT_COMPUTED}")
            }
            Err(error) => write!(f, "operation without a result: {error}"),
        }
    }
}

impl<C: RaggedCompute> DeferredRagged<C> {
    pub(super) fn new(operation: C) -> Self {
        Self { operation, shared: OnceLock::new() }
    }

    fn shared(&self) -> Arc<SharedRows<Kept<C::Elem>>> {
        self.shared.get_or_init(Arc::default).clone()
    }

    /// The result as an expression, to be viewed and computed with.
    pub fn lazy(self) -> LazyRagged<PendingRagged<C>> {
        LazyRagged(self.into_ragged_expr())
    }
}

/// The result of an operation as an operand.
#[derive(Clone)]
pub struct PendingRagged<C: RaggedCompute> {
    operation: C,
    shared: Arc<SharedRows<Kept<C::Elem>>>,
    /// Axes of extent 1 after all others.
    ones: usize,
}

impl<C: RaggedCompute + Debug> Debug for PendingRagged<C> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PendingRagged").field(&self.operation).finish()
    }
}

impl<C: RaggedCompute> PendingRagged<C> {
    fn result(&self, stretch: Stretch) -> Result<Arc<Kept<C::Elem>>> {
        self.shared.get_or(stretch, || self.operation.keep(stretch))
    }
}

impl<C: RaggedCompute> Sealed for PendingRagged<C> {}

impl<C: RaggedCompute> RaggedExpr for PendingRagged<C> {
    type Elem = C::Elem;
    type Flat<'a>
        = Computed<C::Elem>
    where
        C: 'a;
    type Ref<'a>
        = PendingRagged<&'a C>
    where
        C: 'a;

    fn by_ref(&self) -> PendingRagged<&C> {
        PendingRagged { operation: &self.operation, shared: self.shared.clone(), ones: self.ones }
    }

    fn flat<'a>(&'a self, to: &Joint<'_>) -> Result<Self::Flat<'a>> {
        computed(to, || self.result(Stretch::Rows)?.result.clone().widened_by(self.ones))
    }

    fn widened(self, ones: usize) -> Result<Self> {
        Ok(Self { ones: self.ones + ones, ..self })
    }
}

impl<C: RaggedCompute> RaggedRows for PendingRagged<C> {
    fn extents(&self) -> Result<Vec<Extent>> {
        let mut extents = self.operation.extents()?;
        extents.extend(std::iter::repeat_n(Extent::Fixed(1), self.ones));
        Ok(extents)
    }

    fn joint(&self, stretch: Stretch) -> Result<Joint<'_>> {
        let kept = self.result(stretch)?;
        let mut joint = Joint::of(kept.result.form()?.with_ones(self.ones));
        joint.kept.push(kept);
        Ok(joint)
    }

    fn outline(&self, stretch: Stretch) -> Result<Joint<'static>> {
        Ok(Joint::of(self.operation.form(stretch)?.with_ones(self.ones)))
    }

    fn ahead(&self) -> Ahead {
        if self.operation.knows_rows() { Ahead::Items } else { Ahead::Lengths }
    }
}

ragged_operands! {
    [C: RaggedCompute] DeferredRagged<C>: C::Elem => PendingRagged<C>,
        |x| PendingRagged { shared: x.shared(), operation: x.operation, ones: 0 };
    ['a, C: RaggedCompute] &'a DeferredRagged<C>: C::Elem => PendingRagged<&'a C>,
        |x| PendingRagged { shared: x.shared(), operation: &x.operation, ones: 0 };
}

pairs! {
    [PairsRagged IntoRagged into_ragged_expr]
    [] [C: RaggedCompute<Elem = T>] DeferredRagged<C>;
    ['a] [C: RaggedCompute<Elem = T>] &'a DeferredRagged<C>;
}
