//! Results as methods, once for expressions and for operations that are not computed yet.

use super::eval::{assign, eval};
use super::explain::{Explanation, explain};
use super::{Expr, Lazy};
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::shape::Shape;
use crate::storage::Writer;
use crate::tensor::Tensor;

/// Methods for results of one type. `only` is the single result, if it can be computed without a plan.
macro_rules! results {
    ($Elem:ty, $View:ty, |$own:ident, $out:ident| {
        shape: $shape:expr,
        $(#[$inlined:meta])?
        eval: $eval:expr,
        to_vec: $to_vec:expr,
        $(only: $only:expr,)?
        assign_to: $assign_to:expr,
        explain: $explain:expr,
        view: $view:expr,
    }) => {
        /// Shape of the result, which is not computed: of operators the joint shape of their operands.
        ///
        /// # Errors
        ///
        /// [`Error::Operands`] for operands that do not align, [`Error::Axis`] for an axis that an operand has not,
        /// [`Error::RepeatedAxis`] for one that is given twice, and what else an operand carries or an operation
        /// reports of shapes.
        ///
        /// ```
        /// use lensor::prelude::*;
        /// let (column, row) = (Tensor::full([2, 1], 1.0)?, Tensor::full([3], 1.0)?);
        /// assert_eq!((&column + &row).shape()?, [2, 3]);
        /// assert_eq!(column.sum(0).shape()?, [1]);
        /// let refused = (&row + Tensor::full([4], 1.0)?).shape();
        /// assert!(matches!(refused, Err(Error::Operands { .. })));
        /// # Ok::<(), Error>(())
        /// ```
        pub fn shape(&self) -> Result<Shape> {
            let $own = self;
            $shape
        }

        /// Computes all elements into a new tensor. In memory they lie in row-major order, but for operations that
        /// compute in another one, as gradients one component after the other; [`Tensor::into_contiguous`] puts them in
        /// order.
        ///
        /// # Errors
        ///
        /// What [`Self::shape`] reports, and [`Error::ShapeOverflow`] for too many elements; what computing operands
        /// reports; [`Error::Cast`], [`Error::Arithmetic`], [`Error::ElementOverflow`] and what else an operation
        /// reports of elements, with the first failing index of its result; [`Error::WouldDensify`] for an operation
        /// that would read more than 2^33 elements of a sparse operand one by one, see [`Lazy::densely`];
        /// [`Error::Storage`] if a storage fails; [`Error::OutOfMemory`] if the result cannot be kept.
        ///
        /// ```
        /// use lensor::prelude::*;
        /// let t = Tensor::from_nested([[1.0, 2.0], [3.0, 4.0]])?;
        /// let e = (&t + 1.0) * &t;
        /// assert_eq!(e.eval()?.to_vec()?, [2.0, 6.0, 12.0, 20.0]);
        /// assert_eq!(t.sum(0).eval()?.to_vec()?, [4.0, 6.0]);
        /// # Ok::<(), Error>(())
        /// ```
        $(#[$inlined])?
        pub fn eval(&self) -> Result<Tensor<Vec<$Elem>>> {
            let $own = self;
            $eval
        }

        /// Computes all elements, in row-major order, into a vector.
        ///
        /// # Errors
        ///
        /// As [`Self::eval`].
        ///
        /// ```
        /// use lensor::prelude::*;
        /// let t = Tensor::from_nested([[1.0, 2.0], [3.0, 4.0]])?;
        /// assert_eq!((&t * 10.0).transpose([1, 0])?.to_vec()?, [10.0, 30.0, 20.0, 40.0]);
        /// assert_eq!(t.sum(0).to_vec()?, [4.0, 6.0]);
        /// # Ok::<(), Error>(())
        /// ```
        pub fn to_vec(&self) -> Result<Vec<$Elem>> {
            let $own = self;
            $to_vec
        }

        /// Computes the only element.
        ///
        /// # Errors
        ///
        /// As [`Self::eval`], and [`Error::NotSingle`] if there are more or none.
        ///
        /// ```
        /// use lensor::prelude::*;
        /// let t = Tensor::from(vec![20.0_f64]);
        /// assert_eq!((&t + 1.0).item()?, 21.0);
        /// assert_eq!(t.sum(..).item()?, 20.0);
        /// # Ok::<(), Error>(())
        /// ```
        pub fn item(&self) -> Result<$Elem> {
            $(
                let $own = self;
                if let Some(only) = $only {
                    return Ok(only);
                }
            )?
            self.shape()?.check_single()?;
            self.eval()?.item()
        }

        /// Computes all elements into an existing tensor or view of any storage with a writer, stretched to its shape
        /// where an extent is 1 or missing.
        ///
        /// # Errors
        ///
        /// As [`Self::eval`], and [`Error::Destination`] if the shape does not stretch to that of the destination,
        /// [`Error::NotInjective`] if two indexes of the destination share an address, [`Error::Storage`] if its
        /// storage fails, and [`Error::WouldDensify`] as for [`Tensor::assign`]. After an error the destination may be
        /// partly written.
        ///
        /// ```
        /// use lensor::prelude::*;
        /// let t = Tensor::from_nested([[1.0, 2.0], [3.0, 4.0]])?;
        /// let mut out = Tensor::full([2, 2], 0.0)?;
        /// t.sum(0).assign_to(&mut out.view_mut().select((1,))?)?;
        /// assert_eq!(out.to_vec()?, [0.0, 0.0, 4.0, 6.0]);
        /// (&t * 10.0).assign_to(&mut out)?;
        /// assert_eq!(out.to_vec()?, [10.0, 20.0, 30.0, 40.0]);
        /// # Ok::<(), Error>(())
        /// ```
        pub fn assign_to<W: Writer<Elem = $Elem>>(&self, out: &mut Tensor<W>) -> Result<()> {
            let ($own, $out) = (self, out);
            $assign_to
        }

        /// Says in a few lines how it would be computed: loops, operands, threads and bytes.
        ///
        /// # Errors
        ///
        /// What [`Self::shape`] reports, [`Error::OutOfMemory`] for tables of a plan, and of sparse products
        /// [`Error::NotSparse`] and [`Error::FillNotZero`].
        ///
        /// ```
        /// use lensor::prelude::*;
        /// let t = Tensor::full([64, 100], 1.0)?;
        /// let text = (&t / 255.0).explain()?.to_string();
        /// assert!(text.ends_with("bytes: 51200 read, 51200 written"));
        /// let text = t.sum(0).explain()?.to_string();
        /// assert!(text.contains("across rows: 100 results of 64 rows"));
        /// # Ok::<(), Error>(())
        /// ```
        pub fn explain(&self) -> Result<Explanation> {
            let $own = self;
            $explain
        }

        /// The same over borrowed operands, to be viewed, computed with and folded more than once. Within one
        /// evaluation all views of an operation compute it once.
        ///
        /// ```
        /// use lensor::prelude::*;
        /// let t = Tensor::from_nested([[1.0_f64, 3.0], [5.0, 7.0]])?;
        /// let halves = &t / 2.0;
        /// let mean = halves.view().mean(0).to_vec()?;
        /// assert_eq!((mean, halves.transpose([1, 0])?.to_vec()?), (vec![1.5, 2.5], vec![0.5, 2.5, 1.5, 3.5]));
        /// let sums = t.sum(0);
        /// let differences = sums.view().slice(0, 1..)? - sums.view().slice(0, ..1)?;
        /// assert_eq!(differences.item()?, 4.0);
        /// # Ok::<(), Error>(())
        /// ```
        pub fn view(&self) -> Lazy<$View> {
            let $own = self;
            Lazy($view)
        }
    };
}

impl<E: Expr> Lazy<E> {
    results!(E::Elem, E::Ref<'_>, |e, out| {
        shape: e.0.shape(),
        eval: eval(&e.0),
        to_vec: Ok(e.eval()?.into_storage()),
        assign_to: {
            let (map, storage) = out.parts_mut();
            assign(&e.0, map, storage)
        },
        explain: explain(&e.0),
        view: e.0.by_ref(),
    });
}

pub(crate) use results;
