//! Views of memory as other libraries describe them: a slice and strides.

use crate::error::{Error, Result};
use crate::map::AddressMap;
use crate::storage::{Reader, Writer};
use crate::tensor::Tensor;
use smallvec::SmallVec;
use std::ops::Range;

/// What of memory a view shows, and how.
pub(super) struct Window {
    /// From the lowest address to the highest.
    pub(super) span: Range<usize>,
    /// Of every axis.
    pub(super) strides: SmallVec<[isize; 4]>,
}

impl Window {
    pub(super) fn of(map: &AddressMap) -> Result<Self> {
        let Some(axes) = map.linear_axes() else {
            return Err(map.check_strided().err().unwrap_or_else(|| no_memory(map)));
        };
        let strides = axes.iter().map(|axis| axis.stride).collect();
        Ok(Self { span: map.span(), strides })
    }
}

/// The elements from the lowest to the highest of a view of memory.
pub(super) fn elements<S: Reader>(t: &Tensor<S>) -> Result<(Window, &[S::Elem])> {
    let window = Window::of(t.address_map())?;
    let elements = t.storage().as_slice().and_then(|all| all.get(window.span.clone()));
    Ok((window, elements.ok_or_else(|| no_memory(t.address_map()))?))
}

/// As [`elements`], to be written.
pub(super) fn elements_mut<S: Writer>(t: &mut Tensor<S>) -> Result<(Window, &mut [S::Elem])> {
    let window = Window::of(t.address_map())?;
    t.address_map().check_injective()?;
    let lacking = no_memory(t.address_map());
    let (_, storage) = t.parts_mut();
    let elements = storage.as_mut_slice().and_then(|all| all.get_mut(window.span.clone()));
    Ok((window, elements.ok_or(lacking)?))
}

fn no_memory(map: &AddressMap) -> Error {
    refused(map, "its storage is not memory")
}

/// Why a view cannot be shared.
pub(super) fn refused(map: &AddressMap, reason: &'static str) -> Error {
    Error::NotStrided { stages: map.stages().len(), axis: None, reason }
}
