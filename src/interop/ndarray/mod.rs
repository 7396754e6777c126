//! Arrays of [`ndarray`] (feature `ndarray`): as tensors without a copy, and back.
//!
//! | from ndarray | to ndarray |
//! |---|---|
//! | [`from_array`]: an owned array of any strides becomes `Tensor<Vec<T>>` | [`into_array`]: a `Vec` moves back |
//! | [`from_view`], [`from_view_mut`]: views without gaps become slices | [`view`], [`view_mut`]: memory under strides |
//! | [`from_shared`]: an `ArcArray` without gaps is shared | |
//! | [`gapped`]: any array or view, read where it lies | [`to_array`]: anything, computed or copied |
//!
//! A view with gaps never becomes a slice, as others may hold `&mut` to what lies between its elements.
//!
//! ```
//! use lensor::interop::ndarray::{from_view, to_array, view};
//! use lensor::prelude::*;
//! use ndarray::array;
//!
//! let a = array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
//! let t = from_view(a.view())?; // borrows the elements
//! let turned = t.view().transpose([1, 0])?.flip(0)?;
//! assert_eq!(view(&turned)?, array![[3.0, 6.0], [2.0, 5.0], [1.0, 4.0]].into_dyn());
//! assert_eq!(to_array(&turned * 10.0)?[[0, 1]], 60.0);
//! # Ok::<(), lensor::Error>(())
//! ```

mod gapped;

pub use ::ndarray;
pub use gapped::{Gapped, gapped};

use super::memory::{Window, elements, elements_mut, refused};
use crate::error::{Error, Result};
use crate::expr::{IntoExpr, Lazy};
use crate::map::AddressMap;
use crate::storage::{Held, Reader, Writer};
use crate::tensor::Tensor;
use ::ndarray::{
    ArcArray, Array, ArrayD, ArrayView, ArrayViewD, ArrayViewMut, ArrayViewMutD, Axis, Dimension,
    IxDyn, ShapeBuilder, ShapeError,
};
use smallvec::SmallVec;
use std::fmt::{self, Debug, Formatter};

/// An owned array: its memory, whatever its strides. Nothing is copied.
///
/// # Errors
///
/// [`Error::RankLimit`] for more axes than a tensor has.
///
/// ```
/// use lensor::interop::ndarray::from_array;
/// use ndarray::{Array, s};
/// let a = Array::from_shape_vec((2, 3), vec![1, 2, 3, 4, 5, 6]).unwrap();
/// let t = from_array(a.slice_move(s![.., ..;-2]))?;
/// assert_eq!(t.to_vec()?, [3, 1, 6, 4]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn from_array<T, D>(array: Array<T, D>) -> Result<Tensor<Vec<T>>>
where
    T: Copy + Send + Sync,
    D: Dimension,
{
    let (shape, strides) = (array.shape().to_vec(), array.strides().to_vec());
    let (data, offset) = array.into_raw_vec_and_offset();
    Tensor::with_map(AddressMap::from_strides(shape, offset.unwrap_or(0), &strides)?, data)
}

/// A view without gaps: its axes may lie in any order and run backwards. Nothing is copied.
///
/// # Errors
///
/// [`Error::NotStrided`] for a view with gaps, or one that repeats elements: [`gapped`] takes these.
/// [`Error::RankLimit`].
///
/// ```
/// use lensor::interop::ndarray::from_view;
/// use ndarray::{array, s};
/// let a = array![[1, 2, 3], [4, 5, 6]];
/// assert_eq!(from_view(a.t())?.to_vec()?, [1, 4, 2, 5, 3, 6]);
/// let error = from_view(a.slice(s![.., ..2])).unwrap_err();
/// assert!(error.to_string().contains("gaps"));
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn from_view<T, D>(view: ArrayView<'_, T, D>) -> Result<Tensor<&[T]>>
where
    T: Copy + Send + Sync,
    D: Dimension,
{
    let map = map_from_lowest(view.shape(), view.strides())?;
    match view.to_slice_memory_order() {
        Some(elements) => Tensor::with_map(map, elements),
        None => Err(gaps(&map)),
    }
}

/// A view without gaps, to be written. Nothing is copied.
///
/// # Errors
///
/// As for [`from_view`].
///
/// ```
/// use lensor::interop::ndarray::from_view_mut;
/// use ndarray::array;
/// let mut a = array![[1, 2], [3, 4]];
/// let mut t = from_view_mut(a.view_mut())?;
/// t.view_mut().select((.., 1))?.map_in_place(|x| 10 * x)?;
/// assert_eq!(a, array![[1, 20], [3, 40]]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn from_view_mut<T, D>(view: ArrayViewMut<'_, T, D>) -> Result<Tensor<&mut [T]>>
where
    T: Copy + Send + Sync,
    D: Dimension,
{
    let map = map_from_lowest(view.shape(), view.strides())?;
    match view.into_slice_memory_order() {
        Some(elements) => Tensor::with_map(map, elements),
        None => Err(gaps(&map)),
    }
}

/// A shared array without gaps: a tensor is one more owner. Nothing is copied.
///
/// # Errors
///
/// As for [`from_view`].
///
/// ```
/// use lensor::interop::ndarray::from_shared;
/// use ndarray::ArcArray;
/// let a = ArcArray::from_vec(vec![1, 2, 3]);
/// let t = from_shared(a.clone())?;
/// assert_eq!(t.storage().owner().array().as_ptr(), a.as_ptr());
/// assert_eq!(t.flip(0)?.to_vec()?, [3, 2, 1]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn from_shared<T, D>(array: ArcArray<T, D>) -> Result<Tensor<Held<T, Shared<T, D>>>>
where
    T: Copy + Send + Sync,
    D: Dimension,
{
    let map = map_from_lowest(array.shape(), array.strides())?;
    match array.as_slice_memory_order() {
        Some(_) => Tensor::with_map(map, Held::new(Shared(array))),
        None => Err(gaps(&map)),
    }
}

/// A shared array without gaps, see [`from_shared`].
#[derive(Clone)]
pub struct Shared<T, D>(ArcArray<T, D>);

impl<T: Debug, D: Dimension> Debug for Shared<T, D> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Shared").field(&self.0).finish()
    }
}

impl<T, D> Shared<T, D> {
    /// The array.
    pub fn array(&self) -> &ArcArray<T, D> {
        &self.0
    }
}

impl<T, D: Dimension> AsRef<[T]> for Shared<T, D> {
    fn as_ref(&self) -> &[T] {
        self.0.as_slice_memory_order().unwrap_or(&[])
    }
}

/// A view of memory as a view of ndarray: strides may be negative, and 0 where elements are repeated. Nothing is copied.
///
/// # Errors
///
/// [`Error::NotStrided`] unless the storage is memory and the view has an offset and strides: [`to_array`] takes
/// anything.
///
/// ```
/// use lensor::{Tensor, interop::ndarray::view};
/// let t = Tensor::from_vec([2, 3], vec![1, 2, 3, 4, 5, 6])?;
/// let part = t.view().select((.., 1..))?;
/// assert_eq!(view(&part)?, ndarray::array![[2, 3], [5, 6]].into_dyn());
/// let error = view(&t.view().rotate([0, 1])?).unwrap_err();
/// assert_eq!(error.to_string(), "no strides describe this view: axis 1 is rotated or repeated");
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn view<S: Reader>(t: &Tensor<S>) -> Result<ArrayViewD<'_, S::Elem>> {
    let (window, elements) = elements(t)?;
    let shape = IxDyn(&t.shape()).strides(IxDyn(&distances(&window)));
    let made = ArrayViewD::from_shape(shape, elements);
    let mut view = made.map_err(|error| unlike(t.address_map(), &error))?;
    backwards(&window).for_each(|axis| view.invert_axis(axis));
    Ok(view)
}

/// A view of memory as a view of ndarray, to be written. Nothing is copied.
///
/// # Errors
///
/// As for [`view`], and [`Error::NotInjective`] if two indexes share an address.
///
/// ```
/// use lensor::{Tensor, interop::ndarray::view_mut};
/// let mut t = Tensor::from_vec([2, 2], vec![1, 2, 3, 4])?;
/// view_mut(&mut t.view_mut().transpose([1, 0])?)?[[0, 1]] = 30;
/// assert_eq!(t.to_vec()?, [1, 2, 30, 4]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn view_mut<S: Writer>(t: &mut Tensor<S>) -> Result<ArrayViewMutD<'_, S::Elem>> {
    let (map, shape) = (t.address_map().clone(), t.shape());
    let (window, elements) = elements_mut(t)?;
    let shape = IxDyn(&shape).strides(IxDyn(&distances(&window)));
    let made = ArrayViewMutD::from_shape(shape, elements);
    let mut view = made.map_err(|error| unlike(&map, &error))?;
    backwards(&window).for_each(|axis| view.invert_axis(axis));
    Ok(view)
}

/// An owned tensor as an array: the `Vec` moves, the view stays what it is. Nothing is copied.
///
/// # Errors
///
/// [`Error::NotStrided`] unless the view has an offset and strides and begins with the first element of the memory, and
/// [`Error::NotInjective`] if elements are repeated: [`to_array`] takes anything.
///
/// ```
/// use lensor::{Tensor, interop::ndarray::into_array};
/// let t = Tensor::from_vec([2, 3], vec![1, 2, 3, 4, 5, 6])?.transpose([1, 0])?;
/// assert_eq!(into_array(t)?, ndarray::array![[1, 4], [2, 5], [3, 6]].into_dyn());
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn into_array<T: Copy + Send + Sync>(t: Tensor<Vec<T>>) -> Result<ArrayD<T>> {
    let (map, data) = t.into_parts();
    let window = Window::of(&map)?;
    map.check_injective()?;
    if window.span.start > 0 {
        return Err(refused(&map, "it begins behind the first element of its memory"));
    }
    let shape = IxDyn(&map.shape()).strides(IxDyn(&distances(&window)));
    let made = ArrayD::from_shape_vec(shape, data);
    let mut array = made.map_err(|error| unlike(&map, &error))?;
    backwards(&window).for_each(|axis| array.invert_axis(axis));
    Ok(array)
}

/// A tensor, a view of any storage or an expression, computed into a new array in row-major order.
///
/// # Errors
///
/// What evaluating reports, see [`Lazy::eval`].
///
/// ```
/// use lensor::prelude::*;
/// use lensor::interop::ndarray::to_array;
/// let t = Tensor::from_vec([3], vec![1, 2, 3])?.rotate([1])?;
/// assert_eq!(to_array(t * 2)?, ndarray::array![6, 2, 4].into_dyn());
/// # Ok::<(), Error>(())
/// ```
pub fn to_array<X: IntoExpr>(x: X) -> Result<ArrayD<X::Elem>> {
    into_array(Lazy(x.into_expr()).eval()?)
}

fn gaps(map: &AddressMap) -> Error {
    refused(map, "it has gaps or repeats elements, which `gapped` reads where they lie")
}

/// What ndarray cannot show that strides describe.
fn unlike(map: &AddressMap, error: &ShapeError) -> Error {
    let reason = match error.kind() {
        ::ndarray::ErrorKind::Unsupported => "ndarray takes strides to overlap",
        ::ndarray::ErrorKind::Overflow => "ndarray takes extents to overflow",
        _ => "ndarray refuses its strides",
    };
    refused(map, reason)
}

/// Axes that run backwards: arrays are made by strides without signs, and these axes are inverted then.
fn backwards(window: &Window) -> impl Iterator<Item = Axis> + '_ {
    let strides = window.strides.iter().enumerate();
    strides.filter(|(_, stride)| **stride < 0).map(|(axis, _)| Axis(axis))
}

/// Strides without their signs.
fn distances(window: &Window) -> SmallVec<[usize; 4]> {
    window.strides.iter().map(|stride| stride.unsigned_abs()).collect()
}

/// The map of an array whose first element lies above others where axes run backwards; its memory begins with the lowest.
fn map_from_lowest(shape: &[usize], strides: &[isize]) -> Result<AddressMap> {
    let below = shape.iter().zip(strides).filter(|(extent, stride)| **extent > 1 && **stride < 0);
    let offset = below.fold(0_usize, |offset, (extent, stride)| {
        offset.saturating_add((extent - 1).saturating_mul(stride.unsigned_abs()))
    });
    AddressMap::from_strides(shape, offset, strides)
}
