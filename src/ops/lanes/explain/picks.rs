//! How elements of lanes would be searched, picked and counted.

use super::pairs;
use crate::dtype::{Radix, Real, Sortable};
use crate::error::Result;
use crate::expr::{Elementwise, Explanation, Expr, IntoExpr, Lazy, Pairs, bytes_read};
use crate::kernel::threads;
use crate::ops::explain::{Explained, report};
#[cfg(doc)]
use crate::ops::lanes::Lanes;
use crate::ops::lanes::driver::{Old, explain_lanes, nothing, with_extent};
use crate::ops::lanes::quantile::{self, Nan};
use crate::ops::lanes::sort::Method;
use crate::ops::lanes::{Bins, Interpolation, Side, along, histogram, search};
use crate::storage::Reader;
use crate::tensor::Tensor;
use std::any::type_name;

/// The quantiles of one rule for NaN.
macro_rules! quantiles {
    ($nan:expr, $quantile:ident, $quantiles:ident, $median:ident) => {
        #[doc = concat!("How [`Lanes::", stringify!($quantile), "`] would go about it.")]
        ///
        /// # Errors
        ///
        /// Those of the axis, the quantile and the operand.
        ///
        /// ```
        /// use lensor::{Tensor, explain::Explain, lanes::Interpolation::Linear};
        /// let t = Tensor::full([5], 1.0)?;
        #[doc = concat!("let text = t.explained().", stringify!($quantile), "(0, 0.4, Linear)?.to_string();")]
        /// assert!(text.contains("each lane: ranks [1, 2] of 8-byte keys selected"));
        /// # Ok::<(), lensor::Error>(())
        /// ```
        pub fn $quantile(
            &self,
            axis: usize,
            q: f64,
            interpolation: Interpolation,
        ) -> Result<Explanation>
        where
            E::Elem: Real + Sortable,
        {
            self.quantiles_of($nan, axis, &[q], interpolation)
        }

        #[doc = concat!("How [`Lanes::", stringify!($quantiles), "`] would go about it.")]
        ///
        /// # Errors
        ///
        /// Those of the axis, the quantiles and the operand.
        ///
        /// ```
        /// use lensor::{Tensor, explain::Explain, lanes::Interpolation::Lower};
        /// let t = Tensor::full([101], 1.0)?;
        #[doc = concat!("let text = t.explained().", stringify!($quantiles), "(0, &[0.1, 0.9], Lower)?.to_string();")]
        /// assert!(text.contains("each lane: ranks [10, 90] of 8-byte keys selected"));
        /// # Ok::<(), lensor::Error>(())
        /// ```
        pub fn $quantiles(
            &self,
            axis: usize,
            q: &[f64],
            interpolation: Interpolation,
        ) -> Result<Explanation>
        where
            E::Elem: Real + Sortable,
        {
            self.quantiles_of($nan, axis, q, interpolation)
        }

        #[doc = concat!("How [`Lanes::", stringify!($median), "`] would go about it.")]
        ///
        /// # Errors
        ///
        /// Those of the axis and of the operand.
        ///
        /// ```
        /// use lensor::{Tensor, explain::Explain};
        /// let t = Tensor::full([100], 1.0)?;
        #[doc = concat!("let text = t.explained().", stringify!($median), "(0)?.to_string();")]
        /// assert!(text.contains("each lane: ranks [49, 50] of 8-byte keys selected"));
        /// # Ok::<(), lensor::Error>(())
        /// ```
        pub fn $median(&self, axis: usize) -> Result<Explanation>
        where
            E::Elem: Real + Sortable,
        {
            self.quantiles_of($nan, axis, &[0.5], Interpolation::Midpoint)
        }
    };
}

/// Searches, picks, ranks and counts of [`Lanes`]. Errors are those that they report before they read an
/// element.
impl<E: Expr> Explained<E> {
    /// How [`Lanes::search_sorted`] would go about it: what is searched, then the evaluation at every needle.
    ///
    /// # Errors
    ///
    /// Those of the operands.
    ///
    /// ```
    /// use lensor::{Tensor, explain::Explain, lanes::Side::Left};
    /// let t = Tensor::full([100], 1)?;
    /// let text = t.explained().search_sorted(&t, Left)?.to_string();
    /// assert!(text.starts_with("sorted: 100 elements, read where they lie\npositions: usize [100]"));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn search_sorted<R>(&self, needles: R, side: Side) -> Result<Explanation>
    where
        E::Elem: Sortable + Pairs<R>,
    {
        let count = self.0.shape()?.count()?;
        let sorted = format!("sorted: {count} elements, {}", self.whole());
        let needles = Lazy(<E::Elem as Pairs<R>>::pair(needles));
        let all = needles.map(|x| search::position(&[], x, side)).explain()?;
        let mut lines = vec![sorted];
        lines.extend(all.lines().iter().cloned());
        lines[1].insert_str(0, "positions: ");
        Ok(Explanation::new(lines, all.threads()))
    }

    /// How [`Lanes::search_sorted_along`] would go about it.
    ///
    /// # Errors
    ///
    /// As `search_sorted_along`, but for those of elements.
    ///
    /// ```
    /// use lensor::{Tensor, explain::Explain, lanes::Side::Left};
    /// let t = Tensor::full([2, 1000], 1.0)?;
    /// let text = t.explained().search_sorted_along(1, &t, Left)?.to_string();
    /// assert!(text.contains("each lane: searched by halves for its needles"));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn search_sorted_along<R>(
        &self,
        axis: usize,
        needles: R,
        _side: Side,
    ) -> Result<Explanation>
    where
        E::Elem: Sortable + Pairs<R>,
    {
        let needles = Lazy(<E::Elem as Pairs<R>>::pair(needles));
        self.beside::<_, usize>(
            "search",
            "for",
            needles,
            axis,
            "searched by halves for its needles",
        )
    }

    /// How [`Lanes::unique`] would go about it.
    ///
    /// # Errors
    ///
    /// Those of the operand.
    ///
    /// ```
    /// use lensor::{Tensor, explain::Explain};
    /// let text = Tensor::full([20, 20], 1_u8)?.explained().unique()?.to_string();
    /// assert!(text.contains("positions: sorted by 1-byte keys with positions, byte by byte"));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn unique(&self) -> Result<Explanation>
    where
        E::Elem: Sortable,
    {
        let shape = self.0.shape()?;
        let count = shape.count()?;
        let method = Method::by_pairs::<<E::Elem as Sortable>::Key>(count);
        // Which kind every element is of; the kinds are not known.
        let written = count.saturating_mul(size_of::<usize>());
        Ok(report(
            format!("unique elements of {} {shape:?}", type_name::<E::Elem>()),
            [format!("operand: {}", self.whole()), format!("positions: {method}")],
            1,
            [bytes_read(&self.0.0), written],
        ))
    }

    /// How [`Lanes::mode`] would go about it.
    ///
    /// # Errors
    ///
    /// As `mode`, but for those of elements.
    ///
    /// ```
    /// use lensor::{Tensor, explain::Explain};
    /// let text = Tensor::full([1000], 1_u8)?.explained().mode(0)?.to_string();
    /// assert!(text.contains("each lane: sorted by 1-byte keys, byte by byte, and counted"));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn mode(&self, axis: usize) -> Result<Explanation>
    where
        E::Elem: Sortable,
    {
        let out = search::modes(&self.0.shape()?, axis)?;
        let method = Method::by_keys::<<E::Elem as Sortable>::Key>(self.extent(axis)?);
        self.lanes::<E::Elem>("mode", axis, &out, &format!("{method}, and counted"))
    }

    /// How [`Lanes::take_along`] would go about it.
    ///
    /// # Errors
    ///
    /// As `take_along`, but for those of elements.
    ///
    /// ```
    /// use lensor::{Tensor, explain::Explain};
    /// let (t, indices) = (Tensor::full([4, 100], 1.0)?, Tensor::full([1, 7], 2_usize)?);
    /// let text = t.explained().take_along(1, &indices)?.to_string();
    /// assert!(text.starts_with("taking of f64 [4, 100] at usize [1, 7] along axis 1 to f64 [4, 7]"));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn take_along<I>(&self, axis: usize, indices: I) -> Result<Explanation>
    where
        I: IntoExpr<Elem = usize>,
    {
        let indices = Lazy(indices.into_expr());
        self.beside::<_, E::Elem>("taking", "at", indices, axis, "copied from, index by index")
    }

    quantiles! { Nan::Wins, quantile, quantiles, median }
    quantiles! { Nan::Skipped, nan_quantile, nan_quantiles, nan_median }

    /// How [`Lanes::histogram`] would go about it.
    ///
    /// # Errors
    ///
    /// Those of the operand.
    ///
    /// ```
    /// use lensor::{Tensor, explain::Explain, lanes::Edges};
    /// let t = Tensor::full([10, 10], 3)?;
    /// let turned = t.view().transpose(&[1, 0])?;
    /// let text = turned.explained().histogram(&Edges::new([1, 4, 9])?)?.to_string();
    /// assert!(text.contains("operand: evaluated piece by piece, up to 1048576 elements at a time"));
    /// assert!(text.ends_with("bytes: 400 read, 16 written"));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn histogram<B: Bins<E::Elem>>(&self, bins: &B) -> Result<Explanation> {
        let (shape, bins) = (self.0.shape()?, bins.count());
        let piece = match search::in_memory(&self.0) {
            Some(elements) => elements.len(),
            None => shape.count()?.min(histogram::PIECE),
        };
        let threads = if piece < histogram::shared(bins) { 1 } else { threads() };
        let how = match search::in_memory(&self.0) {
            Some(_) => "read where it lies".into(),
            None => {
                format!("evaluated piece by piece, up to {} elements at a time", histogram::PIECE)
            }
        };
        Ok(report(
            format!("histogram of {} {shape:?} in {bins} bins", type_name::<E::Elem>()),
            [format!("operand: {how}")],
            threads,
            [bytes_read(&self.0.0), bins.saturating_mul(size_of::<u64>())],
        ))
    }

    /// How [`Lanes::histogram_along`] would go about it.
    ///
    /// # Errors
    ///
    /// Those of the axis and of the operand.
    ///
    /// ```
    /// use lensor::{Tensor, explain::Explain, lanes::Edges};
    /// let t = Tensor::full([2, 1000], 1.0)?;
    /// let text = t.explained().histogram_along(1, &Edges::new([0.0, 1.0, 2.0])?)?.to_string();
    /// assert!(text.contains("each lane: counted in the bins"));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn histogram_along<B: Bins<E::Elem>>(&self, axis: usize, bins: &B) -> Result<Explanation> {
        let out = with_extent(&self.0.shape()?, axis, bins.count())?;
        self.lanes::<u64>("histogram", axis, &out, "counted in the bins")
    }

    fn quantiles_of(
        &self,
        nan: Nan,
        axis: usize,
        q: &[f64],
        interpolation: Interpolation,
    ) -> Result<Explanation>
    where
        E::Elem: Sortable,
    {
        let out = quantile::checked(&self.0.shape()?, axis, q)?;
        let mut ranks = Vec::new();
        quantile::ranks(&mut ranks, q, interpolation, self.extent(axis)?)?;
        let bytes = <E::Elem as Sortable>::Key::BYTES;
        let (what, rest) = match nan {
            Nan::Wins => ("quantiles", "unless it has NaN"),
            Nan::Skipped => ("quantiles but for NaN", "or such of those that are not NaN"),
        };
        let each = format!("ranks {ranks:?} of {bytes}-byte keys selected, {rest}");
        self.lanes::<E::Elem>(what, axis, &out, &each)
    }

    /// How all elements are had in row-major order.
    fn whole(&self) -> &'static str {
        match search::in_memory(&self.0) {
            Some(_) => "read where they lie",
            None => "evaluated to memory first",
        }
    }

    /// What becomes of the lanes beside those of another operand.
    fn beside<B: Expr, U>(
        &self,
        what: &str,
        with: &str,
        other: Lazy<B>,
        axis: usize,
        each: &str,
    ) -> Result<Explanation> {
        let (own, others) = (self.0.shape()?, other.shape()?);
        let [first, second] = [type_name::<E::Elem>(), type_name::<B::Elem>()];
        let what =
            format!("{what} of {first} {own:?} {with} {second} {others:?} along axis {axis}");
        let (out, operands) = along::together(Lazy(self.0.0.by_ref()), other, axis)?;
        match operands {
            Some((a, b)) => pairs::<_, _, U>(what, (&a, &b), axis, &out, each),
            None => {
                let nothing = nothing(&out, axis)?;
                pairs::<_, _, U>(what, (&nothing, &nothing), axis, &out, each)
            }
        }
    }
}

impl<S: Reader> Explained<Tensor<S>> {
    /// How [`Tensor::put_along`] would go about it. Storage that is memory to read from is taken to be memory
    /// to write to.
    ///
    /// # Errors
    ///
    /// As `put_along`, but for those of elements.
    ///
    /// ```
    /// use lensor::{Tensor, explain::Explain};
    /// let (t, indices) = (Tensor::full([4, 100], 1.0)?, Tensor::full([4, 7], 2_usize)?);
    /// let text = t.explained().put_along(1, &indices, 0.0)?.to_string();
    /// assert!(text.contains("each lane: written to, index by index"));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn put_along<I, R>(&self, axis: usize, indices: I, values: R) -> Result<Explanation>
    where
        I: IntoExpr<Elem = usize>,
        S::Elem: Pairs<R>,
    {
        let (tensor, indices) = (&self.0.0, Lazy(indices.into_expr()));
        let map = tensor.address_map();
        let values = along::values::<S::Elem, R>(&map.shape(), &indices.shape()?, values, axis)?;
        let shape = values.shape()?;
        let what = format!(
            "putting to {} {:?} at {shape:?} along axis {axis}",
            type_name::<S::Elem>(),
            map.shape()
        );
        let read = bytes_read(&indices.0).saturating_add(bytes_read(&values.0));
        let indices = indices.broadcast(&shape)?;
        let out = (map, tensor.storage().as_slice().is_some());
        let each = "written to, index by index";
        let (how, threads) = explain_lanes((&indices, &values), axis, out, Old::Kept, each)?;
        let written = shape.count()?.saturating_mul(size_of::<S::Elem>());
        Ok(report(what, how, threads, [read, written]))
    }
}
