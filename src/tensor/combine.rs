//! Several tensors as one: concatenation, stacking and padding, as views over combined storage.

use super::Tensor;
use crate::error::{Error, Result, StorageError};
use crate::map::AddressMap;
use crate::shape::Shape;
use crate::storage::{Concat, Reader};

/// The elements of a tensor in row-major order, as storage for another one.
///
/// ```
/// use lensor::{Reader, Tensor};
/// let t = Tensor::from_nested([[1, 2], [3, 4]])?.transpose(&[1, 0])?;
/// assert_eq!(t.flat().read(1), 3);
/// # Ok::<(), lensor::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Flat<S> {
    map: AddressMap,
    storage: S,
}

impl<S: Reader> Tensor<S> {
    /// The elements of this view in row-major order, as storage.
    pub fn flat(self) -> Flat<S> {
        let (map, storage) = self.into_parts();
        Flat { map, storage }
    }
}

impl<S: Reader> Flat<S> {
    /// An error of the inner storage at a position of this one.
    fn at(position: usize) -> impl Fn(StorageError) -> StorageError {
        move |error| StorageError { address: position, ..error }
    }
}

impl<S: Reader> Reader for Flat<S> {
    type Elem = S::Elem;

    fn len(&self) -> usize {
        self.map.count()
    }

    /// # Panics
    ///
    /// May panic if `address >= self.len()`.
    fn read(&self, address: usize) -> S::Elem {
        self.storage.read(self.map.address_at(address))
    }

    fn try_read(&self, address: usize) -> Result<S::Elem, StorageError> {
        check(address, self.len())?;
        self.storage.try_read(self.map.address_at(address)).map_err(Self::at(address))
    }

    fn as_slice(&self) -> Option<&[S::Elem]> {
        if !self.map.is_contiguous() {
            return None;
        }
        let span = self.map.span();
        self.storage.as_slice()?.get(span)
    }

    fn read_run(&self, start: usize, step: isize, out: &mut [S::Elem]) -> Result<(), StorageError> {
        let position = |k: usize| start.wrapping_add_signed(step.wrapping_mul(k as isize));
        let mut addresses = Vec::with_capacity(out.len());
        for k in 0..out.len() {
            check(position(k), self.len())?;
            addresses.push(self.map.address_at(position(k)));
        }
        self.storage.read_at(&addresses, out).map_err(|error| {
            let k = addresses.iter().position(|&address| address == error.address).unwrap_or(0);
            Self::at(position(k))(error)
        })
    }
}

fn check(address: usize, len: usize) -> Result<(), StorageError> {
    if address < len {
        Ok(())
    } else {
        Err(StorageError::new(address, format!("beyond the {len} elements")))
    }
}

/// Tensors one after another along `axis`, as one view of all their storages. Copies nothing.
///
/// The other extents are the same for all. Tensors of different storage are first made of one type,
/// by [`Tensor::erase`].
///
/// # Errors
///
/// [`Error::Axis`] if there is no such axis (or no tensor at all), [`Error::Destination`] if another
/// extent differs, [`Error::ShapeOverflow`] if there are too many elements.
///
/// ```
/// use lensor::tensor::concat;
/// use lensor::Tensor;
/// let a = Tensor::from_nested([[1, 2], [3, 4]])?;
/// let b = Tensor::from_nested([[5], [6]])?;
/// assert_eq!(concat(1, [a.view(), b.view()])?.to_vec()?, [1, 2, 5, 3, 4, 6]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn concat<S: Reader>(
    axis: usize,
    tensors: impl IntoIterator<Item = Tensor<S>>,
) -> Result<Tensor<Concat<Flat<S>>>> {
    let mut parts = Vec::new();
    let mut first: Option<Shape> = None;
    let mut total = 0_usize;
    for tensor in tensors {
        let front = tensor.move_axis(axis, 0)?;
        let shape = front.shape();
        let expected = first.get_or_insert_with(|| shape.clone());
        if shape[1..] != expected[1..] || shape.rank() != expected.rank() {
            return Err(Error::Destination { expected: expected.to_vec(), found: shape.to_vec() });
        }
        total = total
            .checked_add(shape[0])
            .ok_or_else(|| Error::ShapeOverflow { shape: shape.to_vec() })?;
        parts.push(front.flat());
    }
    let first = first.ok_or(Error::Axis { axis, rank: 0 })?;
    let shape: Shape = std::iter::once(total).chain(first[1..].iter().copied()).collect();
    Tensor::new(shape, Concat::new(parts)?)?.move_axis(0, axis)
}

/// Tensors of one shape along a new axis `axis`, as one view of all their storages. Copies nothing.
///
/// # Errors
///
/// As [`concat()`].
///
/// ```
/// use lensor::tensor::stack;
/// use lensor::Tensor;
/// let t = Tensor::from_vec([2], vec![1, 2])?;
/// assert_eq!(stack(1, [t.view(), t.view()])?.to_vec()?, [1, 1, 2, 2]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn stack<S: Reader>(
    axis: usize,
    tensors: impl IntoIterator<Item = Tensor<S>>,
) -> Result<Tensor<Concat<Flat<S>>>> {
    let deeper: Result<Vec<_>> =
        tensors.into_iter().map(|tensor| tensor.insert_axis(axis)).collect();
    concat(axis, deeper?)
}

/// A tensor with a border of one value: `widths` holds how many to add before and after each axis.
/// Copies nothing.
///
/// # Errors
///
/// [`Error::Rank`] if there is not one pair an axis, [`Error::ShapeOverflow`] if there are too many
/// elements.
///
/// ```
/// use lensor::tensor::pad;
/// use lensor::Tensor;
/// let t = Tensor::from_vec([2], vec![1, 2])?;
/// assert_eq!(pad(t, &[(1, 2)], 0)?.to_vec()?, [0, 1, 2, 0, 0]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn pad<S: Reader>(
    tensor: Tensor<S>,
    widths: &[(usize, usize)],
    value: S::Elem,
) -> Result<Tensor<Padded<S>>> {
    let inner = tensor.shape();
    if widths.len() != inner.rank() {
        return Err(Error::Rank {
            what: "pairs of widths",
            expected: inner.rank(),
            found: widths.len(),
        });
    }
    let outer: Option<Vec<usize>> = inner
        .iter()
        .zip(widths)
        .map(|(&n, &(before, after))| n.checked_add(before)?.checked_add(after))
        .collect();
    let shape = Shape::from(outer.ok_or_else(|| Error::ShapeOverflow { shape: inner.to_vec() })?);
    let len = shape.count()?;
    let before = widths.iter().map(|&(before, _)| before).collect();
    let storage = Padded {
        inner: tensor.flat(),
        inner_shape: inner,
        shape: shape.clone(),
        before,
        value,
        len,
    };
    Tensor::new(shape, storage)
}

/// A tensor with a border, as storage in row-major order. See [`pad`].
#[derive(Debug, Clone)]
pub struct Padded<S: Reader> {
    inner: Flat<S>,
    inner_shape: Shape,
    shape: Shape,
    before: Vec<usize>,
    value: S::Elem,
    len: usize,
}

impl<S: Reader> Padded<S> {
    /// Row-major position within the border, if `address` lies there.
    fn inside(&self, address: usize) -> Option<usize> {
        let mut index = self.shape.unravel(address);
        for ((digit, before), &extent) in
            index.iter_mut().zip(&self.before).zip(self.inner_shape.iter())
        {
            *digit = digit.checked_sub(*before).filter(|&digit| digit < extent)?;
        }
        Some(self.inner_shape.ravel(&index))
    }
}

impl<S: Reader> Reader for Padded<S> {
    type Elem = S::Elem;

    fn len(&self) -> usize {
        self.len
    }

    fn read(&self, address: usize) -> S::Elem {
        self.inside(address).map_or(self.value, |position| self.inner.read(position))
    }

    fn try_read(&self, address: usize) -> Result<S::Elem, StorageError> {
        check(address, self.len)?;
        match self.inside(address) {
            Some(position) => self.inner.try_read(position).map_err(Flat::<S>::at(address)),
            None => Ok(self.value),
        }
    }
}
