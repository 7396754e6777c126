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

pub use ::{arrow_array, arrow_buffer, arrow_schema};

use crate::error::{Error, Result, StorageError};
use crate::map::AddressMap;
use crate::memory::list;
use crate::ragged::{Extent, Lends, Offsets, Ragged};
use crate::shape::Shape;
use crate::storage::{Held, Reader};
use crate::tensor::Tensor;
use ::arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BooleanArray, FixedSizeListArray, GenericListArray,
    OffsetSizeTrait, PrimitiveArray,
};
use ::arrow_buffer::{ArrowNativeType, BooleanBuffer, Buffer, OffsetBuffer, ScalarBuffer};
use ::arrow_schema::extension::{
    EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY, ExtensionType, FixedShapeTensor,
};
use ::arrow_schema::{ArrowError, Field};
use std::sync::Arc;

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
        let inside = address < self.0.len();
        inside
            .then(|| self.0.value(address))
            .ok_or_else(|| StorageError::beyond(address, self.0.len()))
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
    let mut array: &dyn Array = array;
    loop {
        without_nulls(array)?;
        Shape::check_rank(levels.len() + lead.len())?;
        let any = array.as_any();
        if let Some(fixed) = any.downcast_ref::<FixedSizeListArray>() {
            lead.push(usize::try_from(fixed.value_length()).unwrap_or(0));
            array = fixed.values();
        } else if let Some(lists) = any.downcast_ref::<GenericListArray<i32>>() {
            let offsets: Arc<dyn Lends<u32>> = Arc::new(Pointers(lists.offsets().clone()));
            levels.push((std::mem::take(&mut lead), offsets.into()));
            array = lists.values();
            lead.push(array.len());
        } else if let Some(lists) = any.downcast_ref::<GenericListArray<i64>>() {
            let offsets: Arc<dyn Lends<u64>> = Arc::new(Pointers(lists.offsets().clone()));
            levels.push((std::mem::take(&mut lead), offsets.into()));
            array = lists.values();
            lead.push(array.len());
        } else if let Some(values) = any.downcast_ref::<PrimitiveArray<P>>() {
            let map = AddressMap::row_major(&lead.into())?;
            let content = Tensor::with_map(map, Held::new(values.values().clone()))?;
            return nested(levels, content);
        } else {
            let (expected, found) =
                (std::any::type_name::<P::Native>(), array.data_type().to_string());
            return Err(Error::ElementType { expected, found });
        }
    }
}

/// Fixed axes in front of rows, and the rows.
type Level = (Vec<usize>, Offsets);

fn nested<S: Reader>(mut levels: Vec<Level>, content: Tensor<S>) -> Result<Ragged<S>> {
    let Some((lead, offsets)) = levels.pop() else { return Ok(content.into_ragged()) };
    let mut r = Ragged::new(lead, offsets, content)?;
    while let Some((lead, offsets)) = levels.pop() {
        r = r.nest(lead, offsets)?;
    }
    Ok(r)
}

/// Offsets of Arrow, which are not negative and never change: as unsigned numbers they have the same bits.
struct Pointers<O: OffsetSizeTrait>(OffsetBuffer<O>);

impl Lends<u32> for Pointers<i32> {
    fn numbers(&self) -> &[u32] {
        bytemuck::cast_slice(&self.0)
    }
}

impl Lends<u64> for Pointers<i64> {
    fn numbers(&self) -> &[u64] {
        bytemuck::cast_slice(&self.0)
    }
}

/// A tensor as an array of Arrow: the `Vec` moves, and every axis but the first becomes a list of fixed size.
///
/// # Errors
///
/// [`Error::NotStrided`] unless the elements are all there is in the `Vec`, in row-major order: compute it first.
/// [`Error::ExpectedRank`] for a tensor without axes, [`Error::ShapeOverflow`] for extents beyond `i32`.
///
/// ```
/// use arrow_array::types::Float64Type;
/// use arrow_array::Array;
/// use lensor::{Tensor, interop::arrow::into_primitive};
/// let t = Tensor::from_vec([2, 3], vec![1.0; 6])?;
/// assert_eq!(into_primitive::<Float64Type>(t)?.len(), 2);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn into_primitive<P: ArrowPrimitiveType>(t: Tensor<Vec<P::Native>>) -> Result<ArrayRef> {
    into_list::<P>(t.into_ragged())
}

/// A ragged tensor as lists of Arrow: the `Vec` moves, offsets that start at 0 are shared, fixed axes become lists of fixed
/// size. Offsets of more than 31 bits make lists of Arrow's larger kind.
///
/// # Errors
///
/// As for [`into_primitive`]: [`Error::NotStrided`] unless [`Ragged::is_packed`].
///
/// ```
/// use arrow_array::types::Int64Type;
/// use lensor::interop::arrow::{from_list, into_list};
/// use lensor::ragged::Ragged;
/// let r = Ragged::from_nested(vec![vec![vec![1_i64], vec![]], vec![vec![2, 3]]])?;
/// let lists = into_list::<Int64Type>(r.clone())?;
/// assert_eq!(from_list::<Int64Type>(&lists)?.to_string(), r.to_string());
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn into_list<P: ArrowPrimitiveType>(r: Ragged<Vec<P::Native>>) -> Result<ArrayRef> {
    let form = r.form()?;
    if !r.is_packed()? {
        let map = r.content().address_map();
        let reason = "its items are not all that the memory holds, in order: compute it first";
        return Err(Error::NotStrided { stages: map.stages().len(), axis: None, reason });
    }
    let axes = form.extents();
    if axes.is_empty() {
        return Err(Error::ExpectedRank { expected: 1, shape: Vec::new() });
    }
    // Items in front of each axis.
    let (mut counts, mut count, mut tables) = (Vec::new(), 1_usize, Vec::new());
    for axis in &axes {
        counts.push(count);
        count = match axis {
            Extent::Fixed(extent) => count * extent,
            Extent::Var => {
                let rows =
                    form.offsets(tables.len()).cloned().unwrap_or(Offsets::from_lengths([])?);
                tables.push(rows);
                let rows = &tables[tables.len() - 1];
                rows.rows().checked_sub(1).map_or(0, |last| rows.row(last).end)
            }
        };
    }
    let values = ScalarBuffer::from(r.into_content().into_storage());
    let mut array: ArrayRef = Arc::new(PrimitiveArray::<P>::new(values, None));
    for (axis, extent) in axes.iter().enumerate().skip(1).rev() {
        let field = Arc::new(Field::new_list_field(array.data_type().clone(), false));
        let overflow = || Error::ShapeOverflow { shape: vec![counts[axis], array.len()] };
        array = match extent {
            Extent::Fixed(extent) => {
                let size = i32::try_from(*extent).map_err(|_| overflow())?;
                let made =
                    FixedSizeListArray::try_new_with_length(field, size, array, None, counts[axis]);
                Arc::new(made.map_err(refused)?)
            }
            Extent::Var => {
                let vars = axes[..axis].iter().filter(|axis| **axis == Extent::Var).count();
                lists(field, &tables[vars], array)?
            }
        };
    }
    Ok(array)
}

/// Rows as lists.
fn lists(field: Arc<Field>, rows: &Offsets, values: ArrayRef) -> Result<ArrayRef> {
    let last = rows.rows().checked_sub(1).map_or(0, |last| rows.row(last).end);
    if i32::try_from(last).is_ok() && rows.as_u64().is_none() {
        let offsets = match rows.as_u32() {
            Some(_) => shared::<i32>(Table::<u32>(rows.clone(), Offsets::as_u32), rows.rows()),
            None => ScalarBuffer::from(list(numbers(rows).map(|number| number as i32))?),
        };
        let made = GenericListArray::try_new(field, OffsetBuffer::new(offsets), values, None);
        return Ok(Arc::new(made.map_err(refused)?));
    }
    let offsets = match rows.as_u64() {
        Some(_) => shared::<i64>(Table::<u64>(rows.clone(), Offsets::as_u64), rows.rows()),
        None => ScalarBuffer::from(list(numbers(rows).map(|number| number as i64))?),
    };
    let made = GenericListArray::try_new(field, OffsetBuffer::new(offsets), values, None);
    Ok(Arc::new(made.map_err(refused)?))
}

/// Where rows begin, and where the last one ends.
fn numbers(rows: &Offsets) -> impl ExactSizeIterator<Item = usize> + '_ {
    (0..rows.rows() + 1).map(|row| match row.checked_sub(1) {
        Some(before) => rows.row(before).end,
        None => 0,
    })
}

/// Offsets as bytes that Arrow shares.
struct Table<N: 'static>(Offsets, fn(&Offsets) -> Option<&[N]>);

impl<N: bytemuck::Pod> AsRef<[u8]> for Table<N> {
    fn as_ref(&self) -> &[u8] {
        bytemuck::cast_slice((self.1)(&self.0).unwrap_or(&[]))
    }
}

fn shared<O: ArrowNativeType>(
    table: impl AsRef<[u8]> + Send + 'static,
    rows: usize,
) -> ScalarBuffer<O> {
    ScalarBuffer::new(Buffer::from(bytes::Bytes::from_owner(table)), 0, rows + 1)
}

/// A column of tensors of one shape (Arrow's extension `arrow.fixed_shape_tensor`), the number of each in front. Nothing is
/// copied; a permutation becomes a transposed view.
///
/// # Errors
///
/// [`Error::ElementType`] for a field of another type, [`Error::Nulls`].
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
    let kind = field.try_extension_type::<FixedShapeTensor>().map_err(refused)?;
    without_nulls(column)?;
    let values = column.values().as_any().downcast_ref::<PrimitiveArray<P>>();
    let values = values.ok_or_else(|| Error::ElementType {
        expected: std::any::type_name::<P::Native>(),
        found: kind.value_type().to_string(),
    })?;
    without_nulls(values)?;
    let shape = std::iter::once(column.len()).chain(kind.shape().iter().copied());
    let t = Tensor::new(shape.collect::<Shape>(), Held::new(values.values().clone()))?;
    match kind.permutations() {
        None => Ok(t),
        Some(order) => {
            let order = std::iter::once(0).chain(order.iter().map(|axis| axis + 1));
            t.transpose(&order.collect::<Shape>())
        }
    }
}

/// A tensor as a column of tensors, one for each index of its first axis, and the field that says so: the `Vec` moves.
///
/// # Errors
///
/// As for [`into_primitive`].
pub fn fixed_shape_tensor<P: ArrowPrimitiveType>(
    name: &str,
    t: Tensor<Vec<P::Native>>,
) -> Result<(Field, FixedSizeListArray)> {
    let shape = t.shape();
    let Some((&count, inner)) = shape.extents().split_first() else {
        return Err(Error::ExpectedRank { expected: 1, shape: Vec::new() });
    };
    let each = Shape::from(inner).count()?;
    let flat = into_list::<P>(t.reshape([count, each])?.into_ragged())?;
    let column = flat.as_any().downcast_ref::<FixedSizeListArray>().cloned();
    let column =
        column.ok_or_else(|| Error::ExpectedRank { expected: 2, shape: shape.to_vec() })?;
    // Arrow's own type writes names and permutations that it cannot read where there are none.
    let metadata = [
        (EXTENSION_TYPE_NAME_KEY, FixedShapeTensor::NAME.into()),
        (EXTENSION_TYPE_METADATA_KEY, format!("{{\"shape\":{inner:?}}}")),
    ];
    let metadata = metadata.map(|(key, value): (&str, String)| (key.to_string(), value));
    let field = Field::new(name, column.data_type().clone(), false);
    Ok((field.with_metadata(metadata), column))
}

fn without_nulls(array: &dyn Array) -> Result<()> {
    match array.null_count() {
        0 => Ok(()),
        count => Err(Error::Nulls { count }),
    }
}

fn refused(error: ArrowError) -> Error {
    Error::Malformed { format: "Arrow array", name: None, reason: error.to_string() }
}
