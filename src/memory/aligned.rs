//! Elements that begin at a cache line.

use super::resize;
use crate::error::Result;
use std::ops::{Deref, DerefMut};

/// Bytes of a cache line.
pub(crate) const LINE: usize = 64;

/// Elements on the stack that begin at a cache line. The compiler aligns arrays no further than their elements, and a
/// vector that is stored across two pages waits, on some processors, for all stores past the caches before it.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Aligned<A>(pub(crate) A);

const _: () = assert!(align_of::<Aligned<u8>>() == LINE);

/// Memory that is used again and again. It begins at a cache line, so that vector instructions do not read and write
/// across two lines.
#[derive(Debug)]
pub(crate) struct AlignedVec<T> {
    room: Vec<T>,
    /// The first slot that begins at a line.
    first: usize,
    len: usize,
}

impl<T> Default for AlignedVec<T> {
    fn default() -> Self {
        Self { room: Vec::new(), first: 0, len: 0 }
    }
}

impl<T: Copy> AlignedVec<T> {
    /// Makes it `len` elements long. What they are is unspecified: elements that were there, or copies of `value`.
    pub(crate) fn resize(&mut self, len: usize, value: T) -> Result<()> {
        if self.room.len() - self.first < len {
            let more = LINE / size_of::<T>().max(1);
            (self.first, self.len) = (0, 0);
            resize(&mut self.room, len.saturating_add(more), value)?;
            // Elements of some sizes never begin at one.
            self.first = self.room.as_ptr().align_offset(LINE).min(more);
        }
        self.len = len;
        Ok(())
    }

    /// Replaces the elements.
    pub(crate) fn refill(&mut self, items: impl ExactSizeIterator<Item = T>) -> Result<()> {
        let (len, mut items) = (items.len(), items.peekable());
        self.len = 0;
        let Some(&value) = items.peek() else { return Ok(()) };
        self.resize(len, value)?;
        self.iter_mut().zip(items).for_each(|(own, item)| *own = item);
        Ok(())
    }
}

impl<T> Deref for AlignedVec<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        &self.room[self.first..][..self.len]
    }
}

impl<T> DerefMut for AlignedVec<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.room[self.first..][..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::{AlignedVec, LINE};

    #[test]
    fn elements_begin_at_a_line_however_they_grow() {
        let mut memory = AlignedVec::default();
        for len in [3, 1, 100, 17, 5000, 0, 5001] {
            memory.resize(len, 7.0).unwrap();
            assert_eq!(memory.len(), len);
            assert_eq!(memory.as_ptr().addr() % LINE, 0);
            memory.refill((0..len).map(|k| k as f64)).unwrap();
            assert!(memory.iter().enumerate().all(|(k, x)| *x == k as f64));
        }
    }

    #[test]
    fn elements_of_any_size_have_room() {
        let mut triples = AlignedVec::default();
        triples.resize(1000, [1_u8; 3]).unwrap();
        assert!(triples.iter().all(|x| *x == [1; 3]));
        let mut large = AlignedVec::default();
        large.resize(3, [1_u64; 20]).unwrap();
        assert_eq!(*large, [[1; 20]; 3]);
        let mut none = AlignedVec::default();
        none.resize(1000, ()).unwrap();
        assert_eq!(none.len(), 1000);
        let error = AlignedVec::default().resize(usize::MAX, 0_u64).unwrap_err();
        assert_eq!(error.to_string(), format!("could not allocate {} bytes", usize::MAX));
    }
}
