//! Room for elements: errors where others abort, and large pages where there is much.
#![allow(unsafe_code, reason = "advice on pages is a system call")]

use crate::error::{Error, Result};
use bytemuck::Zeroable;
use bytemuck::allocation::try_zeroed_vec;
use smallvec::SmallVec;
use std::any::{Any, TypeId};
use std::borrow::Cow;
#[cfg(all(target_os = "linux", not(miri)))]
use std::{
    ops::Range,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

mod aligned;
mod macros;
mod sort;

pub(crate) use aligned::{Aligned, AlignedVec, LINE};
pub(crate) use macros::{debug_of_fields, default_of_fields, for_tuples, forward};
pub(crate) use sort::sort_by;

/// Bytes of a large page, and their alignment.
#[cfg(all(target_os = "linux", not(miri)))]
const LARGE_PAGE: usize = 1 << 21;
/// Fewest bytes for which large pages are worth a system call.
#[cfg(all(target_os = "linux", not(miri)))]
const MUCH: usize = 2 * LARGE_PAGE;
/// Bytes of a small page, or a part of one.
#[cfg(all(target_os = "linux", not(miri)))]
const PAGE: usize = 1 << 12;
/// Fewest bytes that allocators ask the system for, or give back to it.
#[cfg(all(target_os = "linux", not(miri)))]
const FROM_SYSTEM: usize = 1 << 17;

/// A vector with exact room for `count` elements.
pub(crate) fn try_with_capacity<T>(count: usize) -> Result<Vec<T>> {
    let mut out = Vec::new();
    try_reserve_exact(&mut out, count)?;
    Ok(out)
}

/// The same for elements that are all written before others are: in pages that the system makes together.
pub(crate) fn try_to_fill<T>(count: usize) -> Result<Vec<T>> {
    let mut out = try_with_capacity(count)?;
    make_pages(out.spare_capacity_mut());
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
    let mut out = try_to_fill(items.len())?;
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

/// Makes a vector at least `count` long, whatever it then holds.
pub(crate) fn make_room<T: Zeroable>(out: &mut Vec<T>, count: usize) -> Result<()> {
    if out.len() < count {
        *out = Vec::new();
        *out = zeros(count)?;
        make_pages(out);
    }
    Ok(())
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
    let more = len.saturating_sub(out.len());
    try_reserve_exact(out, more)?;
    make_pages(&mut out.spare_capacity_mut()[..more]);
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
    let bytes = size_of_val(memory);
    if bytes >= MUCH {
        let pages = whole_pages(memory, LARGE_PAGE);
        advise(memory, pages, libc::MADV_HUGEPAGE);
    }
}

/// Makes the small pages of memory that is about to be written, if they are not there: those before and after large ones,
/// or all. Made one by one, as they are written, they take about twice as long.
///
/// Systems that cannot refuse, which changes nothing.
#[cfg(all(target_os = "linux", not(miri)))]
#[inline]
fn make_pages<T>(memory: &mut [T]) {
    if size_of_val(memory) >= FROM_SYSTEM {
        make_many_pages(memory);
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
#[inline(never)]
fn make_many_pages<T>(memory: &mut [T]) {
    let (small, large) = (whole_pages(memory, PAGE), whole_pages(memory, LARGE_PAGE));
    let last = memory.as_mut_ptr().cast::<u8>().wrapping_add(small.end - PAGE);
    if is_there(last) {
        return;
    }
    let has_large = size_of_val(memory) >= MUCH && !large.is_empty();
    let (before, after) = if has_large { (large.start, large.end) } else { (small.end, small.end) };
    advise(memory, small.start..before, libc::MADV_POPULATE_WRITE);
    advise(memory, after..small.end, libc::MADV_POPULATE_WRITE);
}

/// Whether the system has made this page, or cannot tell. Pages that it had made are asked for again after a while only, as
/// the allocator hands out the same memory again and again where it keeps it.
#[cfg(all(target_os = "linux", not(miri)))]
fn is_there(page: *mut u8) -> bool {
    /// Addresses of pages and, in the bits that those leave, how often the answer stands.
    static KNOWN: [AtomicUsize; 64] = [const { AtomicUsize::new(0) }; 64];
    const OFTEN: usize = 16;
    let address = page.addr() / PAGE * PAGE;
    let known = &KNOWN[address / PAGE % KNOWN.len()];
    let last = known.load(Relaxed);
    if last / PAGE * PAGE == address && last != address {
        known.store(last - 1, Relaxed);
        return true;
    }
    let is_there = is_made(page);
    known.store(if is_there { address + OFTEN } else { 0 }, Relaxed);
    is_there
}

/// Whether the system says that it has made this page, or says nothing.
#[cfg(all(target_os = "linux", not(miri)))]
fn is_made(page: *mut u8) -> bool {
    let mut is_there = 0;
    // SAFETY: `is_there` has room for one page, and no other memory is written; what the page holds is not looked at.
    let asked = unsafe { libc::mincore(page.cast(), PAGE, &mut is_there) };
    asked != 0 || is_there & 1 == 1
}

/// The bytes of memory that are whole pages of this size, a multiple of [`PAGE`].
#[cfg(all(target_os = "linux", not(miri)))]
fn whole_pages<T>(memory: &[T], page: usize) -> Range<usize> {
    let (start, bytes) = (memory.as_ptr().addr(), size_of_val(memory));
    let before = start.next_multiple_of(page) - start;
    before..before + bytes.saturating_sub(before) / page * page
}

/// Gives advice on some whole pages of memory; returns whether it was taken.
#[cfg(all(target_os = "linux", not(miri)))]
fn advise<T>(memory: &mut [T], pages: Range<usize>, advice: libc::c_int) -> bool {
    if pages.is_empty() || pages.end > size_of_val(memory) {
        return false;
    }
    let start = memory.as_mut_ptr().cast::<u8>();
    // SAFETY: the pages lie in memory borrowed mutably here, as was just checked. The advice changes neither what it holds
    // nor who may reach it.
    unsafe { libc::madvise(start.add(pages.start).cast(), pages.len(), advice) == 0 }
}

/// Other systems decide on their own.
#[cfg(not(all(target_os = "linux", not(miri))))]
fn advise_large_pages<T>(_: &mut [T]) {}

/// Other systems make them as they are written.
#[cfg(not(all(target_os = "linux", not(miri))))]
fn make_pages<T>(_: &mut [T]) {}

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

    /// So much memory is from the system each time, of which the last bytes are no large page.
    #[cfg(all(target_os = "linux", not(miri)))]
    #[test]
    fn pages_that_are_about_to_be_written_are_made_together() {
        let bytes = 24 * super::LARGE_PAGE + 64 * super::PAGE;
        let last = |memory: &mut Vec<u8>| {
            let pages = super::whole_pages(memory.spare_capacity_mut(), super::PAGE);
            memory.as_mut_ptr().wrapping_add(pages.end - super::PAGE)
        };
        let mut fresh: Vec<u8> = try_with_capacity(bytes).unwrap();
        let makes_pages = {
            let pages = super::whole_pages(fresh.spare_capacity_mut(), super::PAGE);
            let first = pages.start..pages.start + super::PAGE;
            super::advise(fresh.spare_capacity_mut(), first, libc::MADV_POPULATE_WRITE)
        };
        // Before version 5.14 Linux does not.
        if makes_pages && !super::is_made(last(&mut fresh)) {
            let mut made: Vec<u8> = super::try_to_fill(bytes).unwrap();
            assert!(super::is_made(last(&mut made)));
        }
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
