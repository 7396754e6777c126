//! Room for elements: errors where others abort, and large pages where there is much.
#![allow(unsafe_code, reason = "advice on pages is a system call")]

use crate::error::{Error, Result};
use bytemuck::Zeroable;
use bytemuck::allocation::try_zeroed_vec;
use smallvec::SmallVec;
use std::any::{Any, TypeId};
use std::borrow::Cow;

/// `Default` of a type of these fields, whatever its parameters are.
macro_rules! default_of_fields {
    ($Type:ident<$($T:ident),*> { $($field:ident),* }) => {
        impl<$($T),*> Default for $Type<$($T),*> {
            fn default() -> Self {
                Self { $($field: Default::default()),* }
            }
        }
    };
}
pub(crate) use default_of_fields;

/// Implements `Debug` for a type whose fields cannot be shown.
macro_rules! opaque {
    ([$($of:tt)*] $Type:ident<$($with:tt),*>) => {
        impl<$($of)*> std::fmt::Debug for $Type<$($with),*> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($Type)).finish_non_exhaustive()
            }
        }
    };
}
pub(crate) use opaque;

/// Calls a macro for tuples of one to four or to six parts, with their number, and a type, a name and an index of each.
macro_rules! for_tuples {
    ($each:ident 4) => {
        $each!(1: A a 0);
        $each!(2: A a 0, B b 1);
        $each!(3: A a 0, B b 1, C c 2);
        $each!(4: A a 0, B b 1, C c 2, D d 3);
    };
    ($each:ident 6) => {
        $crate::memory::for_tuples!($each 4);
        $each!(5: A a 0, B b 1, C c 2, D d 3, E e 4);
        $each!(6: A a 0, B b 1, C c 2, D d 3, E e 4, F f 5);
    };
}
pub(crate) use for_tuples;

mod aligned;
mod sort;

pub(crate) use aligned::{Aligned, AlignedVec, LINE};
pub(crate) use sort::sort_by;

/// Bytes of a large page, and their alignment.
#[cfg(all(target_os = "linux", not(miri)))]
const LARGE_PAGE: usize = 1 << 21;
/// Fewest bytes for which large pages are worth a system call.
#[cfg(all(target_os = "linux", not(miri)))]
const MUCH: usize = 2 * LARGE_PAGE;

/// A vector with exact room for `count` elements.
pub(crate) fn try_with_capacity<T>(count: usize) -> Result<Vec<T>> {
    let mut out = Vec::new();
    try_reserve_exact(&mut out, count)?;
    Ok(out)
}

/// Exact room for `more` elements, or an error where others abort.
pub(crate) fn try_reserve_exact<T>(out: &mut Vec<T>, more: usize) -> Result<()> {
    reserve(out, more, true)
}

/// Room for `more` elements and, if there was none, for many others, or an error where others abort.
pub(crate) fn try_reserve<T>(out: &mut Vec<T>, more: usize) -> Result<()> {
    reserve(out, more, false)
}

/// Zeros in memory that is fresh from the system if there are many, so that it costs little until it is
/// written, or an error where others abort.
#[inline(never)]
pub(crate) fn zeros<T: Zeroable>(count: usize) -> Result<Vec<T>> {
    let bytes = count.saturating_mul(size_of::<T>());
    let mut out = try_zeroed_vec(count).map_err(|()| Error::OutOfMemory { bytes })?;
    advise_large_pages(&mut out);
    Ok(out)
}

/// Default values: of numbers in memory as [`zeros`] gives it.
pub(crate) fn defaults<T: Copy + Default + 'static>(count: usize) -> Result<Vec<T>> {
    fn zeroed<N: Zeroable + 'static, T: 'static>(count: usize) -> Result<Option<Vec<T>>> {
        let mut made =
            if TypeId::of::<N>() == TypeId::of::<T>() { Some(zeros::<N>(count)?) } else { None };
        Ok((&mut made as &mut dyn Any).downcast_mut::<Option<Vec<T>>>().and_then(Option::take))
    }
    macro_rules! numbers {
        ($($N:ty)*) => { $(
            if let Some(made) = zeroed::<$N, T>(count)? {
                return Ok(made);
            }
        )* };
    }
    // The default of each of these is zero in all bits.
    numbers!(f64 f32 i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize bool);
    list(std::iter::repeat_n(T::default(), count))
}

/// A vector of what an iterator gives.
pub(crate) fn list<T>(items: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>> {
    let mut out = try_with_capacity(items.len())?;
    out.extend(items);
    Ok(out)
}

/// Room for `more` elements in a list that begins on the stack, or an error where others abort.
pub(crate) fn try_reserve_short<T, const N: usize>(
    out: &mut SmallVec<[T; N]>,
    more: usize,
) -> Result<()> {
    let bytes = out.len().saturating_add(more).saturating_mul(size_of::<T>());
    out.try_reserve_exact(more).map_err(|_| Error::OutOfMemory { bytes })
}

/// Replaces the elements of a vector.
pub(crate) fn refill<T>(out: &mut Vec<T>, items: impl ExactSizeIterator<Item = T>) -> Result<()> {
    out.clear();
    try_reserve_exact(out, items.len())?;
    out.extend(items);
    Ok(())
}

/// Gives back room for more than twice the elements, if there is memory to move them.
pub(crate) fn shrink<T: Copy>(out: &mut Vec<T>) {
    if out.capacity() / 2 > out.len()
        && let Ok(exact) = list(out.iter().copied())
    {
        *out = exact;
    }
}

/// Appends elements to a vector that may have to grow.
pub(crate) fn append<T: Clone>(out: &mut Vec<T>, more: &[T]) -> Result<()> {
    try_reserve(out, more.len())?;
    out.extend_from_slice(more);
    Ok(())
}

/// Appends an element to a vector that may have to grow.
pub(crate) fn push<T>(out: &mut Vec<T>, element: T) -> Result<()> {
    try_reserve(out, 1)?;
    out.push(element);
    Ok(())
}

/// Makes a vector `len` elements long; new ones are copies of `value`.
#[inline(never)]
pub(crate) fn resize<T: Clone>(out: &mut Vec<T>, len: usize, value: T) -> Result<()> {
    try_reserve_exact(out, len.saturating_sub(out.len()))?;
    out.resize(len, value);
    Ok(())
}

/// The elements in a vector of their own.
pub(crate) fn owned<T: Copy>(elements: Cow<'_, [T]>) -> Result<Vec<T>> {
    match elements {
        Cow::Owned(elements) => Ok(elements),
        Cow::Borrowed(elements) => {
            let mut out = try_with_capacity(elements.len())?;
            out.extend_from_slice(elements);
            Ok(out)
        }
    }
}

/// An empty text with room for `bytes`.
pub(crate) fn text(bytes: usize) -> Result<String> {
    let mut out = String::new();
    out.try_reserve_exact(bytes).map_err(|_| Error::OutOfMemory { bytes })?;
    Ok(out)
}

#[inline]
fn reserve<T>(out: &mut Vec<T>, more: usize, exact: bool) -> Result<()> {
    if out.capacity() - out.len() >= more { Ok(()) } else { grow(out, more, exact) }
}

#[cold]
#[inline(never)]
fn grow<T>(out: &mut Vec<T>, more: usize, exact: bool) -> Result<()> {
    let is_new = out.capacity() == 0;
    let bytes = out.len().saturating_add(more).saturating_mul(size_of::<T>());
    let grown = if exact { out.try_reserve_exact(more) } else { out.try_reserve(more) };
    grown.map_err(|_| Error::OutOfMemory { bytes })?;
    // Memory that grows is moved by page tables, but not where advice on a part of it divides it.
    if is_new {
        advise_large_pages(out.spare_capacity_mut());
    }
    Ok(())
}

/// Asks for large pages under memory that was not yet written.
///
/// The system hands out a page when it is first written, which for small pages takes longer than to write
/// them. NumPy asks for the same. Systems that know no large pages refuse, which changes nothing.
#[cfg(all(target_os = "linux", not(miri)))]
fn advise_large_pages<T>(memory: &mut [T]) {
    let (start, bytes) = (memory.as_mut_ptr().cast::<u8>(), size_of_val(memory));
    if bytes < MUCH {
        return;
    }
    let before = start.addr().next_multiple_of(LARGE_PAGE) - start.addr();
    let whole = (bytes - before) / LARGE_PAGE * LARGE_PAGE;
    // SAFETY: `before` is less than a large page and `whole` at most what `bytes` leaves, so this is memory
    // borrowed mutably here. The advice changes neither what it holds nor who may reach it.
    unsafe { libc::madvise(start.add(before).cast(), whole, libc::MADV_HUGEPAGE) };
}

/// Other systems decide on their own.
#[cfg(not(all(target_os = "linux", not(miri))))]
fn advise_large_pages<T>(_: &mut [T]) {}

#[cfg(test)]
mod tests {
    use super::try_with_capacity;

    #[test]
    fn room_is_exact_and_for_no_element_none() {
        assert_eq!(try_with_capacity::<u8>(5000).unwrap().capacity(), 5000);
        assert_eq!(try_with_capacity::<u8>(0).unwrap().capacity(), 0);
        assert!(try_with_capacity::<()>(usize::MAX).unwrap().is_empty());
        let error = try_with_capacity::<u64>(usize::MAX).unwrap_err();
        assert_eq!(error.to_string(), format!("could not allocate {} bytes", usize::MAX));
    }

    /// The flags of the memory that holds an address, as the system tells them.
    #[cfg(all(target_os = "linux", not(miri)))]
    fn flags(address: usize) -> Option<String> {
        let maps = std::fs::read_to_string("/proc/self/smaps").ok()?;
        let mut inside = false;
        for line in maps.lines() {
            if let Some(flags) = line.strip_prefix("VmFlags:").filter(|_| inside) {
                return Some(flags.to_owned());
            }
            let bounds = line.split(' ').next().and_then(|range| range.split_once('-'));
            if let Some((from, to)) = bounds {
                let number = |digits| usize::from_str_radix(digits, 16).ok();
                inside = number(from)? <= address && address < number(to)?;
            }
        }
        None
    }

    #[cfg(all(target_os = "linux", not(miri)))]
    #[test]
    fn much_memory_is_asked_for_in_large_pages() {
        let large: Vec<f64> = try_with_capacity(8 * super::LARGE_PAGE / size_of::<f64>()).unwrap();
        let middle = large.as_ptr().addr() + 4 * super::LARGE_PAGE;
        if std::path::Path::new("/sys/kernel/mm/transparent_hugepage/enabled").exists() {
            let flags = flags(middle).unwrap();
            assert!(flags.split(' ').any(|flag| flag == "hg"), "{flags}");
        }
    }
}
