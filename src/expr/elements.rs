//! All elements of an expression at once, and elements to listed addresses: for operations that need neither a plan
//! nor blocks.

use super::eval::{check_stretches, elements, fill};
use super::node::Node;
use super::prepare;
use super::sink::{failed_at, finish};
use crate::error::{Error, Result};
use crate::kernel::Filled;
use crate::map::AddressMap;
use crate::shape::Shape;
use crate::storage::Writer;
use std::borrow::Cow;
use std::mem::MaybeUninit;

/// All elements of `e`, whose deferred leaves are computed, in row-major order.
pub(crate) fn fill_all<T: Copy + Send + Sync>(
    e: &dyn Node<T>,
    out: &mut [MaybeUninit<T>],
) -> Result<Filled> {
    let shape = e.shape()?;
    fill(e, &shape, &AddressMap::of_shape(&shape)?, out)
}

/// All elements of `e`, stretched to `shape`, in row-major order: where they lie if they lie so. Nothing is computed for
/// none.
pub(crate) fn elements_at<'e, T: Copy + Send + Sync>(
    e: &'e dyn Node<T>,
    shape: &Shape,
) -> Result<Cow<'e, [T]>> {
    check_stretches(e, shape)?;
    if shape.contains(&0) {
        return Ok(Cow::Owned(Vec::new()));
    }
    if let Some(all) = e.in_memory().filter(|_| e.fits(shape)) {
        let mut span = None;
        e.leaves(&mut |leaf| span = leaf.map.consecutive());
        if let Some(elements) = span.and_then(|span| all.get(span)) {
            return Ok(Cow::Borrowed(elements));
        }
    }
    let map = AddressMap::of_shape(shape)?;
    let _results = prepare(e)?;
    elements(e, shape, &map).map(Cow::Owned)
}

/// Writes values to addresses that `map` reaches, one for one.
pub(crate) fn write_elements<T: Copy + Send + Sync>(
    map: &AddressMap,
    storage: &mut dyn Writer<Elem = T>,
    addresses: &[usize],
    values: &[T],
) -> Result<()> {
    let done = write_part(map, storage, addresses, values);
    done.and(finish(map, storage))
}

/// The same of a part of what is assigned.
pub(super) fn write_part<T: Copy + Send + Sync>(
    map: &AddressMap,
    storage: &mut dyn Writer<Elem = T>,
    addresses: &[usize],
    values: &[T],
) -> Result<()> {
    let Some(slice) = storage.as_mut_slice() else {
        let written = storage.write_at(addresses, values);
        return written.map_err(|source| failed_at(map, source));
    };
    let len = slice.len();
    for (&address, &value) in addresses.iter().zip(values) {
        let beyond = || Error::OutOfSpan { span: address..address.saturating_add(1), len };
        *slice.get_mut(address).ok_or_else(beyond)? = value;
    }
    Ok(())
}
