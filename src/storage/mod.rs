//! Storage: anything that can read an element at an address.
//!
//! [`Reader`] has two required methods, [`Writer`] one more. The provided ones describe the same elements faster,
//! fallibly, or as entries and blocks; the library calls those, never `read` or `write` itself.

mod blocks;
mod boxed;
mod chunked;
mod composed;
mod computed;
#[cfg(feature = "conformance")]
pub mod conformance;
mod dense;
mod encoded;
mod forward;
mod held;
#[cfg(feature = "mmap")]
mod mapped;
mod sides;
mod sparse;
mod stored;
mod stream;

pub use crate::grid::Starts;
pub use blocks::{Block, BlockIndex, Blocks, BlocksMut};
pub use boxed::{BoxReader, DynReader};
pub use chunked::{BlockMemory, Chunked, NotStored, Stats};
pub use composed::{Concat, Indexed};
pub use computed::{Constant, FromFn, Impulse, Progression};
pub use dense::SubBuffer;
pub use encoded::Encoded;
pub use held::Held;
#[cfg(feature = "mmap")]
pub use mapped::{Mapped, MappedMut, SharedMap};
pub(crate) use sides::{MOST_STARTS, Reshaped, joined_starts};
pub use sparse::{Duplicates, Sparse};
pub(crate) use sparse::{prune, sort_entries, sort_pairs};
pub(crate) use stored::Section;
pub use stored::{Stored, StoredMut};
pub(crate) use stream::{Checked, fill};
pub use stream::{read_elements, read_elements_at};

use crate::error::StorageError;
use crate::memory::try_with_capacity;

/// Storage that can be read one element at a time.
///
/// # Required of implementations
///
/// `read(a)` returns the same value for the same `a` while `self` is borrowed, and the provided
/// methods describe the same elements. The `conformance` feature has a kit that tests both. A
/// violation may give wrong numbers, never undefined behaviour.
///
/// # What is asked
///
/// An evaluation asks for [`Self::as_slice`], [`Self::stored`] and [`Self::blocks`] once or a few times each.
/// Storage that has none of them is then asked, whatever the view, by:
///
/// - [`Self::read_run`]: for the elements of a box (a range of indexes along each axis), up to 2^17 of them, or
///   2^16 where they are updated, from the lowest address to the highest. The step is 1 or that of the view, never
///   0; `out` may be empty. A run of step 1 is up to 2^18 elements long: it may include elements that are not
///   needed, as many as are at most. If it fails, it is asked again without them.
/// - [`Self::read_run`], where a view reads in order: for 2^14 elements or more at a time, fewer if they are
///   large, or for a row if rows do not follow one another. Where the view is flipped, a step of more than 1 is negative.
/// - [`Self::read_at`]: for ascending addresses, unless a list of the caller's gives the order.
/// - [`Self::try_read`]: for single elements, and after a failure for those of a box, to find the first that
///   fails.
///
/// All threads of an evaluation ask at once, each for boxes of its own. `conformance::cost` (feature
/// `conformance`) counts all this for a storage and a view.
///
/// ```
/// use lensor::storage::{Reader, read_each};
/// use lensor::{StorageError, Tensor};
///
/// struct Bytes(Vec<u8>);
/// impl Reader for Bytes {
///     type Elem = u16;
///     fn len(&self) -> usize { self.0.len() / 2 }
///     fn read(&self, k: usize) -> u16 { u16::from_le_bytes([self.0[2 * k], self.0[2 * k + 1]]) }
///     fn read_run(&self, start: usize, step: isize, out: &mut [u16]) -> Result<(), StorageError> {
///         match self.0.get(2 * start..2 * (start + out.len())) {
///             Some(run) if step == 1 => {
///                 let (pairs, _) = run.as_chunks::<2>();
///                 out.iter_mut().zip(pairs).for_each(|(slot, pair)| *slot = u16::from_le_bytes(*pair));
///                 Ok(())
///             }
///             _ => read_each(self, start, step, out),
///         }
///     }
/// }
/// let t = Tensor::new([3], Bytes(vec![1, 0, 2, 0, 0, 1]))?;
/// assert_eq!(t.view().to_vec()?, [1, 2, 256]);
/// assert_eq!(t.flip(0)?.to_vec()?, [256, 2, 1]);
/// # Ok::<(), lensor::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not storage that can be read",
    note = "implement `lensor::Reader` (two methods); it must be `Send + Sync`, so no `Rc` or `Cell` inside"
)]
pub trait Reader: Send + Sync {
    /// Type of the elements.
    type Elem: Copy + Send + Sync;

    /// Number of addresses; valid ones are `0..len()`.
    fn len(&self) -> usize;

    /// Element at `address`.
    ///
    /// # Panics
    ///
    /// May panic if `address >= self.len()`, and where [`Self::try_read`] reports an error.
    fn read(&self, address: usize) -> Self::Elem;

    /// Whether there are no elements.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Element at `address`, where reading may fail.
    ///
    /// # Errors
    ///
    /// What the storage reports. The default reads and never fails.
    fn try_read(&self, address: usize) -> Result<Self::Elem, StorageError> {
        Ok(self.read(address))
    }

    /// All elements in memory order, if they lie in memory. Override it if they do.
    fn as_slice(&self) -> Option<&[Self::Elem]> {
        None
    }

    /// Reads `start, start + step, ..` into `out`. The default copies them from [`Self::as_slice`] if they are
    /// there, and otherwise does what [`read_each`] does, which may serve for steps that have no faster way. The step is
    /// never 0; it is 1 but for views that have steps, of which those of flipped axes are negative.
    ///
    /// # Errors
    ///
    /// What the storage reports; `out` is then partly written.
    fn read_run(
        &self,
        start: usize,
        step: isize,
        out: &mut [Self::Elem],
    ) -> Result<(), StorageError> {
        if step == 1 {
            let end = start.checked_add(out.len());
            if let Some(run) = self.as_slice().and_then(|all| all.get(start..end?)) {
                out.copy_from_slice(run);
                return Ok(());
            }
        }
        read_each(self, start, step, out)
    }

    /// Reads `addresses` into `out`, one for one. The default joins neighbours to runs, where there is no
    /// [`Self::as_slice`].
    ///
    /// # Errors
    ///
    /// What the storage reports; `out` is then partly written.
    fn read_at(&self, addresses: &[usize], out: &mut [Self::Elem]) -> Result<(), StorageError> {
        if let Some(all) = self.as_slice() {
            for (&address, slot) in addresses.iter().zip(out) {
                *slot = match all.get(address) {
                    Some(&element) => element,
                    None => self.try_read(address)?,
                };
            }
            return Ok(());
        }
        let (mut addresses, mut out) = (addresses, out);
        while let (Some(&start), false) = (addresses.first(), out.is_empty()) {
            let (step, count) = neighbours(addresses);
            let (now, later) = out.split_at_mut(count.min(out.len()));
            match now {
                [slot] => *slot = self.try_read(start)?,
                run => read_steps(self, start, step, run)?,
            }
            (addresses, out) = (&addresses[count..], later);
        }
        Ok(())
    }

    /// The entries that differ from a fill value, if the storage is sparse.
    fn stored(&self) -> Option<&dyn Stored<Elem = Self::Elem>> {
        None
    }

    /// The blocks that the elements come in, if they do. Views are then evaluated block by block.
    fn blocks(&self) -> Option<&dyn Blocks<Elem = Self::Elem>> {
        None
    }

    /// Entries of the sparse storage that this storage is or is made of, if there is no other: though read one by one, so
    /// many elements are not read without being asked for.
    #[doc(hidden)]
    fn entries_below(&self) -> Option<usize> {
        self.stored().map(|stored| stored.count())
    }

    /// Boxes within boxes below this storage, at the deepest.
    #[doc(hidden)]
    fn box_depth(&self) -> usize {
        0
    }

    /// See [`BoxReader::new`].
    #[doc(hidden)]
    fn boxed<'a>(self) -> BoxReader<'a, Self::Elem>
    where
        Self: Sized + Clone + 'a,
    {
        BoxReader::around(self)
    }
}

/// Storage that can be written one element at a time.
pub trait Writer: Reader {
    /// Writes `value` to `address`.
    ///
    /// # Panics
    ///
    /// May panic if `address >= self.len()`, and where [`Self::try_write`] reports an error.
    fn write(&mut self, address: usize, value: Self::Elem);

    /// Writes `value` to `address`, where writing may fail.
    ///
    /// # Errors
    ///
    /// What the storage reports. The default writes and never fails.
    fn try_write(&mut self, address: usize, value: Self::Elem) -> Result<(), StorageError> {
        self.write(address, value);
        Ok(())
    }

    /// All elements in memory order, if they lie in memory. Override it if they do.
    fn as_mut_slice(&mut self) -> Option<&mut [Self::Elem]> {
        None
    }

    /// The entries that differ from a fill value, to be replaced, if the storage is sparse.
    fn stored_mut(&mut self) -> Option<&mut dyn StoredMut<Elem = Self::Elem>> {
        None
    }

    /// The blocks that the elements come in, to be replaced, if they do. Assignments then store each block once.
    fn blocks_mut(&mut self) -> Option<&dyn BlocksMut<Elem = Self::Elem>> {
        None
    }

    /// Writes `from` to `start, start + step, ..`. The default does what [`write_each`] does.
    ///
    /// # Errors
    ///
    /// What the storage reports; the run is then partly written.
    fn write_run(
        &mut self,
        start: usize,
        step: isize,
        from: &[Self::Elem],
    ) -> Result<(), StorageError> {
        write_each(self, start, step, from)
    }

    /// Writes `from` to `addresses`, one for one. The default joins neighbours to runs.
    ///
    /// # Errors
    ///
    /// What the storage reports; those elements are then partly written.
    fn write_at(&mut self, addresses: &[usize], from: &[Self::Elem]) -> Result<(), StorageError> {
        let (mut addresses, mut from) = (addresses, from);
        while let (Some(&start), false) = (addresses.first(), from.is_empty()) {
            let (step, count) = neighbours(addresses);
            let (now, later) = from.split_at(count.min(from.len()));
            match now {
                [value] => self.try_write(start, *value)?,
                run => self.write_run(start, step, run)?,
            }
            (addresses, from) = (&addresses[count..], later);
        }
        Ok(())
    }
}

/// How many addresses, from the first on, are neighbours, and the way they go: a run of them is read at once.
fn neighbours(addresses: &[usize]) -> (isize, usize) {
    let step = match addresses {
        [first, second, ..] if *second == first.wrapping_sub(1) => -1,
        _ => 1,
    };
    let follow = addresses.windows(2).take_while(|two| two[1] == two[0].wrapping_add_signed(step));
    (step, 1 + follow.count())
}

/// Reads a run element by element, by [`Reader::try_read`]: for storage whose [`Reader::read_run`] has a faster way for some
/// steps alone.
///
/// # Errors
///
/// What the storage reports; `out` is then partly written.
///
/// [`Reader`] has an example.
#[inline]
pub fn read_each<R: Reader + ?Sized>(
    storage: &R,
    start: usize,
    step: isize,
    out: &mut [R::Elem],
) -> Result<(), StorageError> {
    if step == 1 {
        // A loop that compilers know to turn into vector instructions.
        for (k, slot) in out.iter_mut().enumerate() {
            *slot = storage.try_read(start.wrapping_add(k))?;
        }
        return Ok(());
    }
    for (k, slot) in out.iter_mut().enumerate() {
        *slot = storage.try_read(stepped(start, step, k))?;
    }
    Ok(())
}

/// Writes a run element by element, by [`Writer::try_write`]: for storage whose [`Writer::write_run`] has a faster way for
/// some steps alone.
///
/// # Errors
///
/// What the storage reports; the run is then partly written.
///
/// ```
/// let mut list = vec![0; 5];
/// lensor::storage::write_each(&mut list, 4, -2, &[1, 2, 3])?;
/// assert_eq!(list, [3, 0, 2, 0, 1]);
/// # Ok::<(), lensor::StorageError>(())
/// ```
pub fn write_each<W: Writer + ?Sized>(
    storage: &mut W,
    start: usize,
    step: isize,
    from: &[W::Elem],
) -> Result<(), StorageError> {
    for (k, &value) in from.iter().enumerate() {
        storage.try_write(stepped(start, step, k), value)?;
    }
    Ok(())
}

/// [`Reader::read_run`], forward where the step is -1: what has a faster way at all has it for that.
pub(crate) fn read_steps<R: Reader + ?Sized>(
    storage: &R,
    start: usize,
    step: isize,
    out: &mut [R::Elem],
) -> Result<(), StorageError> {
    match start.checked_add(1).and_then(|end| end.checked_sub(out.len())) {
        Some(first) if step == -1 => storage.read_run(first, 1, out).map(|()| out.reverse()),
        _ => storage.read_run(start, step, out),
    }
}

/// Number `k` of `start, start + step, ..`.
#[inline(always)]
pub(crate) fn stepped(start: usize, step: isize, k: usize) -> usize {
    start.wrapping_add_signed(step.wrapping_mul(k as isize))
}

/// `address`, if there are so many.
#[inline]
pub(crate) fn check_address(address: usize, len: usize) -> Result<usize, StorageError> {
    if address < len { Ok(address) } else { Err(StorageError::beyond(address, len)) }
}

/// Addresses in a storage below: of each of `count` positions of a block.
pub(crate) fn translate(
    count: usize,
    address: impl Fn(usize) -> Result<usize, StorageError>,
) -> Result<Vec<usize>, StorageError> {
    let mut all = try_with_capacity(count).map_err(|error| StorageError::new(0, error))?;
    for k in 0..count {
        all.push(address(k)?);
    }
    Ok(all)
}
