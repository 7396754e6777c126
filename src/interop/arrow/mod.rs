//! Arrays of Arrow (feature `arrow`): as tensors and ragged tensors without a copy, and back.
//!
//! | from Arrow | to Arrow |
//! |---|---|
//! | [`from_primitive`]; [`with_mask`] where there are nulls; [`from_boolean`] | [`into_primitive`]: a `Vec` moves |
//! | [`from_list`]: lists in lists, of any depth and fixed or not, as [`Ragged`] | [`into_list`]: a `Vec` moves, offsets are shared |
//! | [`from_fixed_shape_tensor`], and its twin [`fixed_shape_tensor`] | |
//!
//! What cannot be shared is computed first: `into_primitive(e.eval()?)`.
//!
//! ```
//! use arrow_array::types::Float64Type;
//! use arrow_array::{Array, ListArray};
//! use lensor::interop::arrow::{from_list, into_list};
//! use lensor::ragged::ReduceRagged;
//! let lists = ListArray::from_iter_primitive::<Float64Type, _, _>([
//!     Some(vec![Some(1.0), Some(2.0)]),
//!     Some(vec![]),
//!     Some(vec![Some(3.0)]),
//! ]);
//! let r = from_list::<Float64Type>(&lists)?; // shares offsets and values
//! assert_eq!(r.sum(1).eval()?.to_string(), "[3, 0, 3]");
//! let doubled = into_list::<Float64Type>((&r * 2.0).eval()?)?;
//! assert_eq!(doubled.len(), 3);
//! # Ok::<(), lensor::Error>(())
//! ```

mod into;

pub use ::{arrow_array, arrow_buffer, arrow_schema};
pub use into::{fixed_shape_tensor, into_list, into_primitive};

use crate::error::{Error, Result, StorageError};
use crate::map::AddressMap;
use crate::ragged::{Offsets, Ragged};
use crate::shape::Shape;
use crate::storage::{Held, Reader, check_address};
use crate::tensor::Tensor;
use ::arrow_array::{
    Array, ArrowPrimitiveType, BooleanArray, FixedSizeListArray, GenericListArray, OffsetSizeTrait,
    PrimitiveArray,
};
use ::arrow_buffer::{BooleanBuffer, ScalarBuffer};
use ::arrow_schema::extension::{
    EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY, ExtensionType, FixedShapeTensor,
};
use ::arrow_schema::{ArrowError, Field};
use std::ops::Range;

/// Elements that Arrow owns.
pub type Values<P> =
    Held<<P as ArrowPrimitiveType>::Native, ScalarBuffer<<P as ArrowPrimitiveType>::Native>>;

/// The values of an array. Nothing is copied.
///
/// # Errors
///
/// [`Error::Nulls`]: [`with_mask`] takes an array with nulls.
///
/// ```
/// use arrow_array::Int32Array;
/// use lensor::interop::arrow::from_primitive;
/// let array = Int32Array::from(vec![1, 2, 3]);
/// let t = from_primitive(&array)?;
/// assert_eq!(t.storage().owner().as_ptr(), array.values().as_ptr());
/// assert_eq!(t.flip(0)?.to_vec()?, [3, 2, 1]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn from_primitive<P: ArrowPrimitiveType>(
    array: &PrimitiveArray<P>,
) -> Result<Tensor<Values<P>>> {
    without_nulls(array)?;
    Tensor::new([array.len()], Held::new(array.values().clone()))
}

/// The values of an array and a mask of those that are not null. A null has some value beside `false`. Nothing is copied.
///
/// # Errors
///
/// None but those of tensors of this length.
///
/// ```
/// use arrow_array::Int32Array;
/// use lensor::interop::arrow::with_mask;
/// use lensor::prelude::*;
/// let (values, mask) = with_mask(&Int32Array::from(vec![Some(1), None, Some(3)]))?;
/// assert_eq!(values.sum(0).filter(&mask).item()?, 4);
/// # Ok::<(), Error>(())
/// ```
pub fn with_mask<P: ArrowPrimitiveType>(
    array: &PrimitiveArray<P>,
) -> Result<(Tensor<Values<P>>, Tensor<Bits>)> {
    let mask = match array.nulls() {
        Some(nulls) => nulls.inner().clone(),
        None => BooleanBuffer::new_set(array.len()),
    };
    let values = Tensor::new([array.len()], Held::new(array.values().clone()))?;
    Ok((values, Tensor::new([mask.len()], Bits(mask))?))
}

/// The values of an array of `bool`, which are bits. Nothing is copied.
///
/// # Errors
///
/// [`Error::Nulls`].
///
/// ```
/// use arrow_array::BooleanArray;
/// use lensor::interop::arrow::from_boolean;
/// let t = from_boolean(&BooleanArray::from(vec![true, false]))?;
/// assert_eq!(t.to_vec()?, [true, false]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn from_boolean(array: &BooleanArray) -> Result<Tensor<Bits>> {
    without_nulls(array)?;
    Tensor::new([array.len()], Bits(array.values().clone()))
}

/// Bits as storage of `bool`.
#[derive(Debug, Clone)]
pub struct Bits(pub BooleanBuffer);

impl Reader for Bits {
    type Elem = bool;

    fn len(&self) -> usize {
        self.0.len()
    }

    /// # Panics
    ///
    /// Panics if `address >= self.len()`.
    fn read(&self, address: usize) -> bool {
        self.0.value(address)
    }

    fn try_read(&self, address: usize) -> Result<bool, StorageError> {
        check_address(address, self.len()).map(|address| self.0.value(address))
    }
}

/// Lists in lists, of any depth, some of them of fixed size, down to primitive values. Nothing is copied: `Ragged` reads
/// the offsets and values of Arrow.
///
/// # Errors
///
/// [`Error::Nulls`] for lists or values that are null, [`Error::ElementType`] for values of another type,
/// [`Error::RankLimit`].
///
/// ```
/// use arrow_array::types::Int32Type;
/// use arrow_array::{Array, LargeListArray};
/// use lensor::interop::arrow::from_list;
/// let lists = LargeListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1)]), Some([Some(2)])]);
/// assert_eq!(from_list::<Int32Type>(&lists.slice(1, 1))?.to_string(), "[[2]]");
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn from_list<P: ArrowPrimitiveType>(array: &dyn Array) -> Result<Ragged<Values<P>>> {
    let (mut levels, mut lead) = (Vec::new(), Vec::from([array.len()]));
    let (mut array, mut seen): (&dyn Array, _) = (array, 0..array.len());
    loop {
        // Lists that were sliced have all items of what they were.
        without_nulls(&array.slice(seen.start, seen.len()))?;
        Shape::check_rank(levels.len() + lead.len())?;
        let any = array.as_any();
        if let Some(fixed) = any.downcast_ref::<FixedSizeListArray>() {
            let size = usize::try_from(fixed.value_length()).unwrap_or(0);
            lead.push(size);
            seen = seen.start * size..seen.end * size;
            array = fixed.values();
        } else if let Some(lists) = any.downcast_ref::<GenericListArray<i32>>() {
            let offsets = Offsets::shared(lists.offsets().clone())?;
            levels.push((std::mem::take(&mut lead), offsets));
            seen = items(lists.offsets(), seen);
            array = lists.values();
            lead.push(array.len());
        } else if let Some(lists) = any.downcast_ref::<GenericListArray<i64>>() {
            let offsets = Offsets::shared(lists.offsets().clone())?;
            levels.push((std::mem::take(&mut lead), offsets));
            seen = items(lists.offsets(), seen);
            array = lists.values();
            lead.push(array.len());
        } else if let Some(values) = any.downcast_ref::<PrimitiveArray<P>>() {
            let map = AddressMap::of_shape(&lead.into())?;
            let content = Tensor::with_map(map, Held::new(values.values().clone()))?;
            return nested(levels, content);
        } else {
            let (expected, found) =
                (std::any::type_name::<P::Native>(), array.data_type().to_string());
            return Err(Error::ElementType { expected, found });
        }
    }
}

/// The items of some of the rows.
fn items<O: OffsetSizeTrait>(offsets: &[O], rows: Range<usize>) -> Range<usize> {
    offsets[rows.start].as_usize()..offsets[rows.end].as_usize()
}

/// Fixed axes in front of rows, and the rows.
type ListOffsets = (Vec<usize>, Offsets);

fn nested<S: Reader>(mut levels: Vec<ListOffsets>, content: Tensor<S>) -> Result<Ragged<S>> {
    let Some((lead, offsets)) = levels.pop() else { return Ok(content.into_ragged()) };
    let mut r = Ragged::new(lead, offsets, content)?;
    while let Some((lead, offsets)) = levels.pop() {
        r = r.nest(lead, offsets)?;
    }
    Ok(r)
}

/// A column of tensors of one shape (Arrow's extension `arrow.fixed_shape_tensor`), the number of each in front. Nothing is
/// copied; a permutation becomes a transposed view.
///
/// # Errors
///
/// [`Error::Malformed`] for a field that says something else, or another shape than the column has,
/// [`Error::ElementType`], [`Error::Nulls`], [`Error::RankLimit`], and those of a permutation that is none.
///
/// ```
/// use arrow_array::types::Float64Type;
/// use lensor::interop::arrow::{fixed_shape_tensor, from_fixed_shape_tensor};
/// use lensor::Tensor;
/// let t = Tensor::from_vec([2, 2, 3], (0..12).map(f64::from).collect())?;
/// let (field, column) = fixed_shape_tensor::<Float64Type>("images", t.clone())?;
/// assert_eq!(from_fixed_shape_tensor::<Float64Type>(&field, &column)?.to_vec()?, t.to_vec()?);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn from_fixed_shape_tensor<P: ArrowPrimitiveType>(
    field: &Field,
    column: &FixedSizeListArray,
) -> Result<Tensor<Values<P>>> {
    let (inner, permutation) = tensor_shape(field)?;
    without_nulls(column)?;
    let values = column.values().as_any().downcast_ref::<PrimitiveArray<P>>();
    let values = values.ok_or_else(|| Error::ElementType {
        expected: std::any::type_name::<P::Native>(),
        found: column.value_type().to_string(),
    })?;
    without_nulls(values)?;
    if usize::try_from(column.value_length()).ok() != Some(inner.count()?) {
        return Err(malformed(&format!("shape {inner:?} for lists of {}", column.value_length())));
    }
    let shape = std::iter::once(column.len()).chain(inner.iter().copied());
    let t = Tensor::new(shape.collect::<Shape>(), Held::new(values.values().clone()))?;
    match permutation {
        None => Ok(t),
        Some(order) => {
            let order = std::iter::once(0).chain(order.iter().map(|axis| axis.saturating_add(1)));
            t.transpose(order.collect::<Shape>())
        }
    }
}

/// The shape that a field says its tensors have, and the order of their axes.
fn tensor_shape(field: &Field) -> Result<(Shape, Option<Vec<usize>>)> {
    let metadata = field.metadata();
    let name = metadata.get(EXTENSION_TYPE_NAME_KEY).map_or("", |name| name);
    if name != FixedShapeTensor::NAME {
        return Err(malformed(&format!("expected {}, found {name:?}", FixedShapeTensor::NAME)));
    }
    // Arrow's own type panics where extents overflow, and refuses the key that its specification has.
    let text = metadata.get(EXTENSION_TYPE_METADATA_KEY).map_or("", |text| text);
    let parsed: TensorMetadata =
        serde_json::from_str(text).map_err(|error| malformed(&error.to_string()))?;
    Shape::check_rank(parsed.shape.len())?;
    Ok((parsed.shape.into(), parsed.permutation))
}

/// What the metadata of a column of tensors says.
#[derive(::serde::Deserialize)]
struct TensorMetadata {
    shape: Vec<usize>,
    #[serde(default, alias = "permutations")]
    permutation: Option<Vec<usize>>,
}

fn without_nulls(array: &dyn Array) -> Result<()> {
    match array.null_count() {
        0 => Ok(()),
        count => Err(Error::Nulls { count }),
    }
}

fn refused(error: ArrowError) -> Error {
    malformed(&error.to_string())
}

fn malformed(reason: &str) -> Error {
    Error::Malformed { format: "Arrow array", name: None, reason: reason.into() }
}
