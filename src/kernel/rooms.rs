//! An output whose tasks have room for the most elements that each can have, and close the gaps between them in place.

use super::Stop;
use super::filled::Filled;
use super::inner::{Fill, as_slots, written};
use super::slots::fill_bound_row;
use crate::error::{Error, Result};
use crate::memory::{list, try_with_capacity};
use std::mem::MaybeUninit;

/// Memory for the elements of several tasks, which may have fewer than they have room for.
pub(crate) struct Rooms<T> {
    /// Without elements, which stand in its spare slots.
    data: Vec<T>,
    /// Of each task how many slots it has, and how many of these, from its first one on, are written.
    rooms: Vec<(usize, usize)>,
}

/// The slots of one task, to be written from the first one on.
pub(crate) struct Room<'a, T> {
    slots: &'a mut [MaybeUninit<T>],
    count: &'a mut usize,
}

impl<T: Copy> Rooms<T> {
    /// Room for so many elements of each task.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub(crate) fn new(rooms: &[usize]) -> Result<Self> {
        let most = rooms.iter().fold(0, |sum: usize, &room| sum.saturating_add(room));
        let rooms = list(rooms.iter().map(|&room| (room, 0)))?;
        Ok(Self { data: try_with_capacity(most)?, rooms })
    }

    /// The room of every task.
    pub(crate) fn each(&mut self) -> impl Iterator<Item = Room<'_, T>> {
        let mut rest = self.data.spare_capacity_mut();
        self.rooms.iter_mut().map(move |(room, count)| {
            let (slots, left) = std::mem::take(&mut rest).split_at_mut(*room);
            rest = left;
            Room { slots, count }
        })
    }

    /// The elements of all tasks, one after another.
    #[inline(never)]
    pub(crate) fn close(mut self) -> Vec<T> {
        let slots = self.data.spare_capacity_mut();
        let (mut start, mut end) = (0, 0);
        for (room, count) in self.rooms {
            if start > end {
                slots.copy_within(start..start + count, end);
            }
            start += room;
            end += count;
        }
        let proof = Filled::of(&slots[..end]);
        written(self.data, &proof)
    }
}

impl<T: Copy> Room<'_, T> {
    /// Writes the next elements.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfSpan`] if there is no room for them.
    pub(crate) fn put(&mut self, elements: &[T]) -> Result<()> {
        self.next(elements.len())?.copy_from_slice(as_slots(elements));
        *self.count += elements.len();
        Ok(())
    }

    /// Evaluates the row of `count` elements that a cursor is bound to.
    ///
    /// # Errors
    ///
    /// [`Stop::Fault`], and [`Error::OutOfSpan`] if there is no room for them.
    pub(crate) fn extend_from(&mut self, cursor: &dyn Fill<T>, count: usize) -> Result<(), Stop> {
        if fill_bound_row(cursor, self.next(count)?, false)? {
            return Err(Stop::Fault);
        }
        *self.count += count;
        Ok(())
    }

    fn next(&mut self, count: usize) -> Result<&mut [MaybeUninit<T>]> {
        let (start, len) = (*self.count, self.slots.len());
        let span = start..start.saturating_add(count);
        self.slots.get_mut(span.clone()).ok_or(Error::OutOfSpan { span, len })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_closed_in_place() {
        for counts in [[3, 0, 2], [0, 0, 4], [4, 4, 4], [0, 0, 0], [1, 4, 0]] {
            let mut rooms = Rooms::new(&[4, 4, 4]).unwrap();
            let mut expected = Vec::new();
            for (number, (mut room, count)) in rooms.each().zip(counts).enumerate() {
                for k in 0..count {
                    room.put(&[10 * number + k]).unwrap();
                    expected.push(10 * number + k);
                }
            }
            let all = rooms.close();
            assert_eq!((&all, all.capacity()), (&expected, 12));
        }
    }

    #[test]
    fn what_finds_no_room_is_not_written() {
        let mut rooms = Rooms::new(&[2, 3]).unwrap();
        for mut room in rooms.each() {
            room.put(&[1, 2]).unwrap();
            let refused = room.put(&[3, 4]);
            assert!(matches!(refused, Err(Error::OutOfSpan { .. })), "{refused:?}");
        }
        assert_eq!(rooms.close(), [1, 2, 1, 2]);
    }

    /// What was written before is followed, not overwritten.
    #[test]
    fn rooms_are_handed_out_twice() {
        let mut rooms = Rooms::new(&[2, 2]).unwrap();
        rooms.each().for_each(|mut room| room.put(&[1]).unwrap());
        rooms.each().for_each(|mut room| room.put(&[2]).unwrap());
        assert_eq!(rooms.close(), [1, 2, 1, 2]);
    }
}
