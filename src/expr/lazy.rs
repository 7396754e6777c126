//! [`Lazy`]: expressions with operators and views.

use super::boxed::{BoxExpr, boxed};
use super::node::{StoredOnly, Worker};
use super::{Expr, IntoExpr, Leaf, Prepare, sealed};
use crate::error::{Error, Result};
use crate::kernel::RowOf;
use crate::map::AddressMap;
use crate::shape::{Align, Shape};
use std::sync::Arc;

/// An expression with operators and views: `Lazy<impl Expr<Elem = f64>>` is how a function returns one. A view with axes of
/// scalars alone is [`Error::ScalarView`].
///
/// # Operators
///
/// `+ - * / %`, negation, and `& | ^ !` of integers and `bool`, take what [`IntoExpr`] says, scalars on either side.
/// They never fail; what is wrong shows when the result is asked for: [`Error::Operands`] if shapes do not align, and
/// for `/` and `%` of integers [`Error::Arithmetic`] with the index of the first divisor that is 0. Integers wrap
/// around otherwise, the smallest one divided by -1 as well; floats follow IEEE 754. Complex quotients and remainders
/// are NaN in both parts where the divisor is 0 or has an infinite part, as those of `num_complex` and unlike NumPy's.
///
/// ```
/// use lensor::prelude::*;
/// let (sums, counts) = (Tensor::from(vec![7, 9, 4]), Tensor::from(vec![2, 0, 0]));
/// assert_eq!((&sums / &counts).eval().unwrap_err(), Error::Arithmetic { index: vec![1] });
/// assert_eq!((&sums / choose(counts.equal(0), 1, &counts)).to_vec()?, [3, 9, 4]);
/// assert_eq!((sums.cast::<f64>() / counts.cast::<f64>()).to_vec()?[1], f64::INFINITY);
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "nothing is computed before it is asked for"]
pub struct Lazy<E>(pub(crate) E);

impl<E: Expr> Lazy<E> {
    crate::tensor::views::view_operations!();

    /// Anything that can stand as an operand, a scalar for example, as an expression.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let half: BoxExpr<f64> = Lazy::new(0.5).boxed();
    /// assert_eq!((half + 1.0).eval()?.item()?, 1.5);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn new<X: IntoExpr<Expr = E>>(operand: X) -> Self {
        Self(operand.into_expr())
    }

    /// Erases the type of the expression, so that different ones fit in a `Vec`.
    ///
    /// Boxes nest up to 100 deep, as each level needs stack to evaluate. A deeper expression carries
    /// [`Error::TooDeep`], as it would a shape error: evaluate a part of it and go on from the result. The
    /// same holds for more than 65,536 operands (leaves: tensors, views, numbers), counted with repeats, and
    /// [`Error::TooManyLeaves`].
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let mut sum = Tensor::from_vec([2], vec![0, 1])?.lazy().boxed();
    /// for k in 1..=150 {
    ///     sum = (sum + k).boxed();
    ///     if k % 50 == 0 {
    ///         sum = sum.eval()?.lazy().boxed();
    ///     }
    /// }
    /// assert_eq!(sum.eval()?.to_vec()?, [11325, 11326]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn boxed<'a>(self) -> BoxExpr<'a, E::Elem>
    where
        E: 'a,
    {
        boxed(self.0)
    }

    /// Adds axes of extent 1 after all others. Scalars alone stretch to any shape without them.
    pub(crate) fn add_axes(&mut self, count: usize) -> Result<()> {
        self.change_leaves(&mut |map| {
            (map.rank()..map.rank() + count).try_fold(map, AddressMap::insert_axis)
        })
    }

    /// [`Self::change`], but that scalars alone, which stretch to any shape, stay as they are.
    pub(crate) fn change_leaves(
        &mut self,
        change: &mut dyn FnMut(AddressMap) -> Result<AddressMap>,
    ) -> Result<()> {
        if self.0.leaf_count() == 0 { self.0.shape().map(drop) } else { self.change(change) }
    }

    /// A change of every leaf's map, all brought to the joint shape first.
    pub(crate) fn rewrite(
        mut self,
        change: &mut dyn FnMut(AddressMap) -> Result<AddressMap>,
    ) -> Result<Self> {
        self.change(change)?;
        Ok(self)
    }

    /// The same in place. After an error the expression has no meaning.
    pub(crate) fn change(
        &mut self,
        change: &mut dyn FnMut(AddressMap) -> Result<AddressMap>,
    ) -> Result<()> {
        let joint = self.0.shape()?;
        if self.0.leaf_count() == 0 {
            // No map would follow.
            let shape = change(AddressMap::of_shape(&joint)?)?.shape();
            let refused = || Error::ScalarView { to: shape.to_vec() };
            return if shape == joint { Ok(()) } else { Err(refused()) };
        }
        self.0.rewrite(&mut |map| change(map.stretched(&joint, Align::Right)?))
    }
}

impl<E: Expr> sealed::Sealed for Lazy<E> {}

impl<E: Expr> Expr for Lazy<E> {
    forward_expr!(Lazy);

    fn stored_only(&self) -> Option<StoredOnly<'_, E::Elem>> {
        self.0.stored_only()
    }

    #[inline]
    fn leaves<'a>(&'a self, visit: &mut dyn FnMut(Leaf<'a>)) {
        self.0.leaves(visit);
    }

    #[inline]
    fn in_memory(&self) -> Option<(&[E::Elem], &AddressMap)> {
        self.0.in_memory()
    }

    fn held(&self) -> Option<(Arc<Vec<E::Elem>>, &AddressMap)> {
        self.0.held()
    }

    #[inline(always)]
    fn row_in_order(&self, count: usize) -> Option<RowOf<'_, E::Cursor<'_>>> {
        self.0.row_in_order(count)
    }

    fn worker(&self) -> Worker<'_, E::Elem> {
        self.0.worker()
    }
}

/// What an expression around another, `E`, leaves to it.
macro_rules! forward_expr {
    ($Outer:ident) => {
        const IS_LEAF: bool = E::IS_LEAF;
        type Elem = E::Elem;
        type Cursor<'a>
            = E::Cursor<'a>
        where
            E: 'a;
        type Ref<'a>
            = $Outer<E::Ref<'a>>
        where
            E: 'a;

        fn is_leaf(&self) -> bool {
            self.0.is_leaf()
        }

        fn by_ref(&self) -> $Outer<E::Ref<'_>> {
            $Outer(self.0.by_ref())
        }

        fn shape(&self) -> Result<Shape> {
            self.0.shape()
        }

        #[inline]
        fn fits(&self, shape: &Shape) -> bool {
            self.0.fits(shape)
        }

        fn rewrite(
            &mut self,
            change: &mut dyn FnMut(AddressMap) -> Result<AddressMap>,
        ) -> Result<()> {
            self.0.rewrite(change)
        }

        fn cursor(&self) -> E::Cursor<'_> {
            self.0.cursor()
        }

        fn deferred<'a>(&'a self, visit: &mut dyn FnMut(&'a dyn Prepare)) {
            self.0.deferred(visit);
        }

        fn leaf_count(&self) -> usize {
            self.0.leaf_count()
        }

        fn depth(&self) -> usize {
            self.0.depth()
        }
    };
}

pub(super) use forward_expr;
