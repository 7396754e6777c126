//! Several tensors as one: concatenation, stacking and padding, as views over combined storage.

use super::Tensor;
use crate::error::{Error, Result, StorageError};
use crate::map::AddressMap;
use crate::memory::try_with_capacity;
use crate::shape::Shape;
use crate::storage::{Concat, Reader, SubBuffer, translate};

/// The elements of a tensor in row-major order, as storage for another one.
///
/// ```
/// use lensor::{Reader, Tensor};
/// let t = Tensor::from_nested([[1, 2], [3, 4]])?.transpose([1, 0])?;
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

    /// The elements as a part of the storage, if they follow one another there.
    fn part(&self) -> Option<SubBuffer<&S>> {
        let contiguous = self.map.is_contiguous();
        contiguous.then(|| SubBuffer::new(&self.storage, self.map.span()).ok())?
    }

    /// Reads a block: the element at `position(k)` to slot `k`.
    fn gather(
        &self,
        position: impl Fn(usize) -> usize,
        out: &mut [S::Elem],
    ) -> Result<(), StorageError> {
        let len = self.len();
        let addresses = translate(out.len(), |k| {
            check(position(k), len)?;
            Ok(self.map.address_at(position(k)))
        })?;
        self.storage.read_at(&addresses, out).map_err(|error| {
            let k = addresses.iter().position(|&address| address == error.address).unwrap_or(0);
            Self::at(position(k))(error)
        })
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
        match self.part() {
            Some(part) => part.read_run(start, step, out),
            None => self.gather(|k| start.wrapping_add_signed(step.wrapping_mul(k as isize)), out),
        }
    }

    fn read_at(&self, addresses: &[usize], out: &mut [S::Elem]) -> Result<(), StorageError> {
        let count = addresses.len().min(out.len());
        self.gather(|k| addresses[k], &mut out[..count])
    }

    fn box_depth(&self) -> usize {
        self.storage.box_depth()
    }
}

fn check(address: usize, len: usize) -> Result<(), StorageError> {
    if address < len { Ok(()) } else { Err(StorageError::beyond(address, len)) }
}

/// What can be joined to others: a tensor, or a reference to one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tensor",
    note = "an expression is evaluated first: `e.eval()?`"
)]
pub trait IntoTensor {
    /// Its storage.
    type Storage: Reader;

    /// The tensor, or a view of it.
    fn into_tensor(self) -> Tensor<Self::Storage>;
}

impl<S: Reader> IntoTensor for Tensor<S> {
    type Storage = S;

    fn into_tensor(self) -> Self {
        self
    }
}

impl<'a, S: Reader> IntoTensor for &'a Tensor<S> {
    type Storage = &'a S;

    fn into_tensor(self) -> Tensor<&'a S> {
        self.view()
    }
}

/// Tensors one after another along `axis`, as one view of all their storages. Copies nothing.
///
/// Shapes `(.., a, ..)`, `(.., b, ..)` and so on become `(.., a + b + .., ..)`; the other extents are
/// the same for all. Tensors of different storage are first made of one type, by [`Tensor::erase`].
/// [`Tensor::split`] takes the result apart. The result is not sparse, though its parts may be: sparse ones
/// are assigned to parts of a [`Tensor::sparse`] instead. Follows NumPy's `concatenate`.
///
/// # Errors
///
/// [`Error::Axis`] if there is no such axis (or no tensor at all), [`Error::Join`] with the first
/// tensor of which another extent differs, [`Error::ShapeOverflow`] if there are too many elements.
///
/// ```
/// use lensor::tensor::concat;
/// use lensor::Tensor;
/// let a = Tensor::from_nested([[1, 2], [3, 4]])?;
/// let b = Tensor::from_nested([[5], [6]])?;
/// assert_eq!(concat(1, [&a, &b])?.to_vec()?, [1, 2, 5, 3, 4, 6]);
/// assert_eq!(
///     concat(0, [a, b]).unwrap_err().to_string(),
///     "cannot concatenate along axis 0: tensor 2 has shape [2, 1], tensor 1 has [2, 2]"
/// );
/// # Ok::<(), lensor::Error>(())
/// ```
#[doc(alias = "concatenate")]
#[doc(alias = "hstack")]
#[doc(alias = "vstack")]
pub fn concat<X: IntoTensor>(
    axis: usize,
    tensors: impl IntoIterator<Item = X>,
) -> Result<Tensor<Concat<Flat<X::Storage>>>> {
    let tensors: Vec<_> = tensors.into_iter().map(X::into_tensor).collect();
    check_join(axis, &tensors, false)?;
    join(axis, tensors)
}

/// Tensors of one shape along a new axis `axis`, as one view of all their storages. Copies nothing.
///
/// `n` tensors of shape `(s0, .., sk)` become one of rank one more, with extent `n` at `axis`. Tensors of
/// different storage are first made of one type, by [`Tensor::erase`]. The result is not sparse, see
/// [`concat()`]. Follows NumPy's `stack`.
///
/// # Errors
///
/// [`Error::Axis`] if `axis` exceeds the rank (or there is no tensor at all), [`Error::Join`] with the
/// first tensor of another shape, [`Error::ShapeOverflow`] if there are too many elements.
///
/// ```
/// use lensor::tensor::stack;
/// use lensor::Tensor;
/// let t = Tensor::from_vec([2], vec![1, 2])?;
/// assert_eq!(stack(1, [&t, &t])?.to_vec()?, [1, 1, 2, 2]);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn stack<X: IntoTensor>(
    axis: usize,
    tensors: impl IntoIterator<Item = X>,
) -> Result<Tensor<Concat<Flat<X::Storage>>>> {
    let tensors: Vec<_> = tensors.into_iter().map(X::into_tensor).collect();
    check_join(axis, &tensors, true)?;
    let deeper: Result<Vec<_>> =
        tensors.into_iter().map(|tensor| tensor.insert_axis(axis)).collect();
    join(axis, deeper?)
}

/// Compares shapes with the first, but for the axis along which they are joined.
#[inline(never)]
fn check_join<S>(axis: usize, tensors: &[Tensor<S>], stack: bool) -> Result<()> {
    let first = tensors.first().ok_or(Error::Axis { axis, rank: 0 })?.shape();
    if axis >= first.rank() + usize::from(stack) {
        return Err(Error::Axis { axis, rank: first.rank() });
    }
    for (k, tensor) in tensors.iter().enumerate() {
        let shape = tensor.shape();
        let joined = |k: usize| k == axis && !stack;
        let fits = shape.rank() == first.rank()
            && (0..first.rank()).all(|k| joined(k) || shape[k] == first[k]);
        if !fits {
            let (shape, first) = (shape.to_vec(), first.to_vec());
            return Err(Error::Join { tensor: k + 1, shape, first, axis, stack });
        }
    }
    Ok(())
}

/// Tensors whose shapes differ at `axis` alone, one after another: they are laid end to end with that
/// axis in front, which then moves back.
#[inline(never)]
fn join<S: Reader>(axis: usize, tensors: Vec<Tensor<S>>) -> Result<Tensor<Concat<Flat<S>>>> {
    let mut shape = Shape::default();
    let mut parts = try_with_capacity(tensors.len())?;
    let mut total = 0_usize;
    for tensor in tensors {
        let front = tensor.move_axis(axis, 0)?;
        shape = front.shape();
        // An extent beyond all numbers is too many elements as well.
        total = total.saturating_add(shape[0]);
        parts.push(front.flat());
    }
    let shape: Shape = std::iter::once(total).chain(shape.iter().skip(1).copied()).collect();
    shape.count()?;
    Tensor::new(shape, Concat::new(parts)?)?.move_axis(0, axis)
}

/// A tensor with a border of one value: `widths` holds how many to add before and after each axis.
/// Copies nothing.
///
/// Extent `n` becomes `before + n + after`. The border is computed as it is read, one element at a time. The
/// result is not sparse, see [`concat()`]. Follows NumPy's `pad` with mode `constant`.
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
    let padded = |(&n, &(before, after)): (&usize, &(usize, usize))| {
        n.saturating_add(before).saturating_add(after)
    };
    // An extent beyond all numbers is too many elements as well.
    let shape: Shape = inner.iter().zip(widths).map(padded).collect();
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

    fn box_depth(&self) -> usize {
        self.inner.box_depth()
    }
}
