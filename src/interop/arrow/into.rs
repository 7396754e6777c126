//! Tensors and ragged tensors as arrays of Arrow.

use super::refused;
use crate::error::{Error, Result};
use crate::memory::list;
use crate::ragged::{Extent, Offsets, Ragged};
use crate::shape::Shape;
use crate::tensor::Tensor;
use ::arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, FixedSizeListArray, GenericListArray, PrimitiveArray,
};
use ::arrow_buffer::{ArrowNativeType, Buffer, OffsetBuffer, ScalarBuffer};
use ::arrow_schema::Field;
use ::arrow_schema::extension::{
    EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY, ExtensionType, FixedShapeTensor,
};
use std::sync::Arc;

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
    for (number, axis) in axes.iter().enumerate() {
        counts.push(count);
        count = match axis {
            Extent::Fixed(extent) => count * extent,
            Extent::Var => {
                tables.push(form.offsets(number)?.clone());
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
            Some(_) => {
                shared::<i32>(OffsetsOwner::<u32>(rows.clone(), Offsets::as_u32), rows.rows())
            }
            None => ScalarBuffer::from(list(numbers(rows).map(|number| number as i32))?),
        };
        let made = GenericListArray::try_new(field, OffsetBuffer::new(offsets), values, None);
        return Ok(Arc::new(made.map_err(refused)?));
    }
    let offsets = match rows.as_u64() {
        Some(_) => shared::<i64>(OffsetsOwner::<u64>(rows.clone(), Offsets::as_u64), rows.rows()),
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
struct OffsetsOwner<N: 'static>(Offsets, fn(&Offsets) -> Option<&[N]>);

impl<N: bytemuck::Pod> AsRef<[u8]> for OffsetsOwner<N> {
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
