//! Results as methods, once for expressions and for operations that are not computed yet.

use super::eval::{dense_only, evaluate};
use super::explain::explain;
use super::expr::{IntoRagged, LazyRagged, RaggedExpr};
use super::form::{Extent, Form, content_shape};
use super::{DeferredRagged, PendingRagged, Ragged, RaggedCompute, Stretch};
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::expr::Explanation;
use crate::shape::Shape;
use crate::storage::Writer;
use crate::tensor::Tensor;

/// The results of one type.
macro_rules! ragged_results {
    ($Elem:ty, $View:ty, |$own:ident, $stretch:ident| {
        extents: $extents:expr,
        form: $form:expr,
        compute: $compute:expr,
        explain: $explain:expr,
        view: $view:expr,
    }) => {
        /// What the axes of the result are; rows are not looked at.
        ///
        /// # Errors
        ///
        /// [`Error::Operands`] if fixed extents do not align; [`Error::Axis`], [`Error::RepeatedAxis`] and
        /// [`Error::RaggedAxes`] for axes that an operation cannot take.
        ///
        /// ```
        /// use lensor::ragged::{Extent, Ragged, ReduceRagged};
        /// let r = Ragged::from_nested(vec![vec![1, 2], vec![3]])?;
        /// assert_eq!((&r * 10).extents()?, [Extent::Fixed(2), Extent::Var]);
        /// assert_eq!(r.sum(1).extents()?, [Extent::Fixed(2)]);
        /// # Ok::<(), lensor::Error>(())
        /// ```
        pub fn extents(&self) -> Result<Vec<Extent>> {
            let $own = self;
            $extents
        }

        /// The lengths of all rows of the result, which is not computed.
        ///
        /// # Errors
        ///
        /// What [`Self::extents`] reports, [`Error::RaggedOperands`] for rows that do not align, [`Error::OutOfMemory`].
        ///
        /// ```
        /// use lensor::ragged::{Ragged, ReduceRagged};
        /// let r = Ragged::from_nested(vec![vec![1, 2], vec![], vec![3]])?;
        /// assert_eq!((&r * 10).form()?.lengths(1)?, [2, 0, 1]);
        /// assert_eq!(r.sum(1).form()?.to_string(), "3");
        /// # Ok::<(), lensor::Error>(())
        /// ```
        pub fn form(&self) -> Result<Form> {
            let ($own, $stretch) = (self, Stretch::Rows);
            $form
        }

        /// Computes all elements, in row-major order.
        ///
        /// # Errors
        ///
        /// What [`Self::form`] reports; [`Error::Cast`], [`Error::Arithmetic`] and what else an operation reports
        /// of elements, with the first failing index; [`Error::Storage`] if a storage fails;
        /// [`Error::WouldDensify`] for more than 2^33 elements of sparse content that would be read one by one;
        /// [`Error::OutOfMemory`].
        ///
        /// ```
        /// use lensor::ragged::{Ragged, ReduceRagged};
        /// let r = Ragged::from_nested(vec![vec![1, 2], vec![], vec![3]])?;
        /// assert_eq!((&r * 10 + &r).eval()?.to_string(), "[[11, 22], [], [33]]");
        /// assert_eq!(r.sum(1).eval()?.to_string(), "[3, 0, 3]");
        /// # Ok::<(), lensor::Error>(())
        /// ```
        pub fn eval(&self) -> Result<Ragged<Vec<$Elem>>> {
            self.eval_with(Stretch::Rows)
        }

        /// As [`Self::eval`], with a say in which lengths of 1 stretch: with [`Stretch::Strict`] rows of one item do
        /// not.
        ///
        /// # Errors
        ///
        /// As [`Self::eval`].
        ///
        /// ```
        /// use lensor::ragged::{Ragged, Stretch};
        /// let r = Ragged::from_nested(vec![vec![1, 2], vec![3]])?;
        /// let s = Ragged::from_nested(vec![vec![10], vec![20]])?;
        /// assert_eq!((&r + &s).eval()?.to_string(), "[[11, 12], [23]]");
        /// assert_eq!(
        ///     (&r + &s).eval_with(Stretch::Strict).unwrap_err().to_string(),
        ///     "operands could not be broadcast: argument 2 has 1 item in row [0] of axis 1, the result so far 2"
        /// );
        /// # Ok::<(), lensor::Error>(())
        /// ```
        pub fn eval_with(&self, stretch: Stretch) -> Result<Ragged<Vec<$Elem>>> {
            let ($own, $stretch) = (self, stretch);
            $compute
        }

        /// Computes all elements, in row-major order, into a vector.
        ///
        /// # Errors
        ///
        /// As [`Self::eval`].
        ///
        /// ```
        /// use lensor::ragged::{Ragged, ReduceRagged};
        /// let r = Ragged::from_nested(vec![vec![1_i64, 2], vec![], vec![3]])?;
        /// assert_eq!((&r * 10).to_vec()?, [10, 20, 30]);
        /// assert_eq!(r.sum(1).to_vec()?, [3, 0, 3]);
        /// # Ok::<(), lensor::Error>(())
        /// ```
        pub fn to_vec(&self) -> Result<Vec<$Elem>> {
            let result = self.eval()?;
            if result.is_packed()? { Ok(result.content.into_storage()) } else { result.to_vec() }
        }

        /// Computes all elements into a tensor, if no axis is var. Where all rows are as long, as the one row that a fold
        /// of axis 0 gives, `as_fixed` makes their axis a fixed one first.
        ///
        /// # Errors
        ///
        /// As [`Self::eval`], and [`Error::RaggedAxes`] if an axis is var, before anything is computed.
        ///
        /// ```
        /// use lensor::Error;
        /// use lensor::ragged::{Ragged, ReduceRagged};
        /// let r = Ragged::from_nested(vec![vec![1_i64, 2], vec![3]])?;
        /// assert_eq!(r.sum(1).eval_dense()?.to_vec()?, [3, 3]);
        /// assert_eq!(r.sum(0).as_fixed(0)?.eval_dense()?.to_vec()?, [4, 2]);
        /// assert!(matches!((&r * 10).eval_dense(), Err(Error::RaggedAxes { axis: 1, .. })));
        /// # Ok::<(), Error>(())
        /// ```
        pub fn eval_dense(&self) -> Result<Tensor<Vec<$Elem>>> {
            dense_only(&self.extents()?)?;
            self.eval()?.into_tensor()
        }

        /// Computes the only element of a result that has one.
        ///
        /// # Errors
        ///
        /// As [`Self::eval`], and [`Error::NotSingle`] if there are more or none, before anything is computed.
        ///
        /// ```
        /// use lensor::ragged::{Ragged, ReduceRagged};
        /// let r = Ragged::from_nested(vec![vec![1_u64, 2], vec![3]])?;
        /// assert_eq!(r.sum(..).item()?, 6);
        /// # Ok::<(), lensor::Error>(())
        /// ```
        pub fn item(&self) -> Result<$Elem> {
            let fixed: Option<Shape> =
                self.extents()?.iter().map(|extent| extent.fixed()).collect();
            let shape = match fixed {
                Some(shape) => shape,
                None => content_shape(&self.form()?),
            };
            shape.check_single()?;
            self.eval()?.item()
        }

        /// Computes all elements into a tensor or view, as [`Ragged::assign`] does.
        ///
        /// # Errors
        ///
        /// As [`Ragged::assign`].
        ///
        /// ```
        /// use lensor::Tensor;
        /// use lensor::ragged::{Ragged, ReduceRagged};
        /// let r = Ragged::from_nested(vec![vec![1_i64, 2], vec![4]])?;
        /// let mut out = Ragged::from_nested(vec![vec![0_i64, 0], vec![0]])?;
        /// (&r * 10).assign_to(&mut out)?;
        /// assert_eq!(out.to_string(), "[[10, 20], [40]]");
        /// let mut sums = Tensor::full([2], 0)?;
        /// r.sum(1).assign_to(&mut sums.as_ragged_mut())?;
        /// assert_eq!(sums.to_vec()?, [3, 4]);
        /// # Ok::<(), lensor::Error>(())
        /// ```
        pub fn assign_to<W: Writer<Elem = $Elem>>(&self, out: &mut Ragged<W>) -> Result<()> {
            let $own = self;
            out.assign_expr(&$view)
        }

        /// Says in a few lines how it would be computed: rows, operands, and the plan over flat items.
        ///
        /// # Errors
        ///
        /// As [`Self::form`].
        pub fn explain(&self) -> Result<Explanation> {
            let $own = self;
            $explain
        }

        /// The same over borrowed operands, to be viewed, computed with and folded more than once.
        ///
        /// ```
        /// use lensor::ragged::{Ragged, ReduceRagged};
        /// let r = Ragged::from_nested(vec![vec![1_i64, 2], vec![4]])?;
        /// let twice = &r * 2;
        /// assert_eq!(twice.view().flip(1)?.to_vec()?, [4, 2, 8]);
        /// assert_eq!(twice.max(1).to_vec()?, [4, 8]);
        /// let sums = r.sum(1);
        /// assert_eq!(sums.view().flip(0)?.to_vec()?, [4, 3]);
        /// assert_eq!((sums.view() * 2).to_vec()?, [6, 8]);
        /// # Ok::<(), lensor::Error>(())
        /// ```
        pub fn view(&self) -> LazyRagged<$View> {
            let $own = self;
            LazyRagged($view)
        }
    };
}

impl<E: RaggedExpr> LazyRagged<E> {
    ragged_results!(E::Elem, E::Ref<'_>, |e, stretch| {
        extents: e.0.extents(),
        form: Ok(e.0.outline(stretch)?.form),
        compute: evaluate(&e.0, stretch),
        explain: explain(&e.0),
        view: e.0.by_ref(),
    });
}

impl<C: RaggedCompute> DeferredRagged<C> {
    ragged_results!(C::Elem, PendingRagged<&C>, |deferred, stretch| {
        extents: deferred.operation.extents(),
        form: deferred.operation.form(stretch),
        compute: deferred.operation.compute(stretch),
        explain: deferred.operation.explain(),
        view: deferred.into_ragged_expr(),
    });
}
