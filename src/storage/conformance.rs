//! Laws for storage: what every [`Reader`] and [`Writer`] promises, checked by name. They are also in
//! [`lensor::conformance`](crate::conformance), beside what counts the cost of views.
//!
//! The tests of a storage of your own:
//!
//! ```
//! use lensor::conformance::{Violation, check_reader, check_writer};
//! # struct Mine(Vec<f64>);
//! # impl lensor::Reader for Mine {
//! #     type Elem = f64;
//! #     fn len(&self) -> usize { self.0.len() }
//! #     fn read(&self, address: usize) -> f64 { self.0[address] }
//! # }
//! # impl lensor::Writer for Mine {
//! #     fn write(&mut self, address: usize, value: f64) { self.0[address] = value; }
//! # }
//! # let mut mine = Mine(vec![1.0; 100]);
//! check_reader(&mine)?;
//! check_writer(&mut mine, &[0.0, 1.5, f64::NAN])?;
//! # Ok::<(), Violation>(())
//! ```
//!
//! Storage of at most 4096 elements is checked at every address, larger storage at as many sampled
//! ones, always the same, and in every element of up to 4096 blocks. A storage may fail: where [`Reader::try_read`]
//! reports an error, the block methods must too. A panic is a violation like others: it ends the law that met it, and
//! the panic hook does not hear of it, unless the storage panics on a thread of its own.
//!
//! A storage around another one should pass every method on: [`check_reader_forwards`] and
//! [`check_writer_forwards`] put it around a storage that counts.

mod blocks;
mod forward;
mod quiet;
mod reader;
mod sample;
mod stored;
mod writer;

pub use forward::{Calls, Recorder, check_reader_forwards, check_writer_forwards};

use super::{Reader, Writer};

/// A promise that a storage broke, with the numbers that show it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Violation {
    /// A method panicked where `try_read` (or `try_write`) reports no error.
    #[error("`{method}` panicked, first address {address}")]
    Panicked {
        /// Name of the method.
        method: &'static str,
        /// Its argument, the first of several; 0 if it has none.
        address: usize,
    },
    /// `len` changed while the storage was borrowed, or by writing elements.
    #[error("`len` was {before}, then {after}")]
    Len {
        /// First answer.
        before: usize,
        /// Later answer.
        after: usize,
    },
    /// `is_empty` is not `len() == 0`.
    #[error("`is_empty` disagrees with a length of {len}")]
    IsEmpty {
        /// What `len` says.
        len: usize,
    },
    /// An address gave two different elements, or an element and then an error.
    #[error("address {address} holds one element now and another later")]
    Unstable {
        /// The address.
        address: usize,
    },
    /// `read` and `try_read` give different elements.
    #[error("`read` disagrees with `try_read` at address {address}")]
    Read {
        /// The address.
        address: usize,
    },
    /// An error names an address that was not asked for.
    #[error("the error of `{method}` for address {address} names address {named}")]
    ErrorAddress {
        /// Name of the method.
        method: &'static str,
        /// The address asked for, the first of several.
        address: usize,
        /// The address in the error.
        named: usize,
    },
    /// A slice is not as long as the storage.
    #[error("`{method}` gives {found} elements of {len}")]
    SliceLen {
        /// Name of the method.
        method: &'static str,
        /// What `len` says.
        len: usize,
        /// Length of the slice.
        found: usize,
    },
    /// A slice holds another element than `try_read` gives.
    #[error("`{method}` disagrees with `try_read` at address {address}")]
    Slice {
        /// Name of the method.
        method: &'static str,
        /// The address.
        address: usize,
    },
    /// Blocks whose sides do not make the length of the storage, or that begin where they cannot.
    #[error("blocks of {block:?} in {extents:?} do not make a length of {len}, or begin elsewhere")]
    BlockSides {
        /// What `extents` gives.
        extents: Vec<usize>,
        /// What `block` gives.
        block: Vec<usize>,
        /// What `len` says.
        len: usize,
    },
    /// A block has not as many elements as its extents.
    #[error("block {index:?} has {found} elements of {len}")]
    BlockLen {
        /// Index of the block.
        index: Vec<usize>,
        /// Elements it has.
        found: usize,
        /// Elements it should have.
        len: usize,
    },
    /// A block holds another element than `try_read` gives.
    #[error("block {index:?} disagrees with `try_read` at address {address}")]
    Block {
        /// Index of the block.
        index: Vec<usize>,
        /// The first such address in it.
        address: usize,
    },
    /// A run holds another element than `try_read` gives, or was not written there.
    #[error("`read_run` from {start} by {step} for {count} disagrees at position {position}")]
    Run {
        /// First address.
        start: usize,
        /// Distance of addresses.
        step: isize,
        /// Length of the run.
        count: usize,
        /// First position of the run that is wrong.
        position: usize,
    },
    /// A gather holds another element than `try_read` gives, or was not written there.
    #[error("`read_at` of {count} addresses disagrees at position {position}, address {address}")]
    Gather {
        /// Number of addresses.
        count: usize,
        /// First position that is wrong.
        position: usize,
        /// The address there.
        address: usize,
    },
    /// A method for many elements reports an error though each of them can be read or written.
    #[error("`{method}` fails, first address {address}, where every element alone succeeds")]
    Fails {
        /// Name of the method.
        method: &'static str,
        /// First address asked for.
        address: usize,
    },
    /// A method for many elements reports no error though one of them cannot be read or written.
    #[error("`{method}` succeeds, first address {address}, where an element alone fails")]
    Succeeds {
        /// Name of the method.
        method: &'static str,
        /// First address asked for.
        address: usize,
    },
    /// `entries` gives another number of entries than `count` says.
    #[error("`entries` gives {found} entries from ordinal {from}, {expected} expected")]
    EntryCount {
        /// First ordinal asked for.
        from: usize,
        /// What fits the slices and the count.
        expected: usize,
        /// What was returned.
        found: usize,
    },
    /// Entries do not ascend, or one is there twice.
    #[error("entry {ordinal} has address {address} after {previous}")]
    EntryOrder {
        /// Ordinal of the entry.
        ordinal: usize,
        /// Address of the entry before.
        previous: usize,
        /// Its address.
        address: usize,
    },
    /// An entry lies beyond the storage.
    #[error("entry {ordinal} has address {address}, the length is {len}")]
    EntryRange {
        /// Ordinal of the entry.
        ordinal: usize,
        /// Its address.
        address: usize,
        /// What `len` says.
        len: usize,
    },
    /// An entry holds another element than `try_read` gives.
    #[error("entry {ordinal} disagrees with `try_read` at address {address}")]
    EntryValue {
        /// Ordinal of the entry.
        ordinal: usize,
        /// Its address.
        address: usize,
    },
    /// Entries depend on how many are asked for at once.
    #[error("entry {ordinal} is another one when entries are asked for from {from} by {room}")]
    EntryChunk {
        /// Ordinal of the entry.
        ordinal: usize,
        /// First ordinal asked for.
        from: usize,
        /// Entries asked for at once.
        room: usize,
    },
    /// An address without an entry holds another element than the fill.
    #[error("address {address} has no entry and is not the fill value")]
    Fill {
        /// The address.
        address: usize,
    },
    /// `rank` is not the number of entries below an address.
    #[error("`rank` of {address} is {found}, {expected} entries lie below")]
    Rank {
        /// The address.
        address: usize,
        /// Entries below it.
        expected: usize,
        /// What `rank` says.
        found: usize,
    },
    /// An element written is not the one read.
    #[error("address {address} does not hold what `{method}` wrote there")]
    Written {
        /// Name of the method.
        method: &'static str,
        /// The address.
        address: usize,
    },
    /// Writing changed an element elsewhere.
    #[error("`{method}`, first address {written}, changed address {address}")]
    Elsewhere {
        /// Name of the method.
        method: &'static str,
        /// First address written.
        written: usize,
        /// Address that changed.
        address: usize,
    },
    /// The fill value is not recognised, so that entries are made of elements that are equal to it.
    #[error("`is_fill` denies the fill value")]
    IsFill,
    /// A wrapper answers a call by others of the storage below, or without it.
    #[error("`{method}` of the wrapper arrives as {found:?} below")]
    NotForwarded {
        /// Name of the method.
        method: &'static str,
        /// Methods that were called below instead, in order.
        found: Vec<&'static str>,
    },
}

/// Checks the laws of a reader; elements are compared by [`same_or_nan`].
///
/// # Errors
///
/// The first violation.
///
/// ```
/// use lensor::conformance::check_reader;
/// use lensor::storage::FromFn;
/// check_reader(&FromFn::new(10, |address| address * 2))?;
///
/// let count = std::sync::atomic::AtomicUsize::new(0);
/// let counter = FromFn::new(10, |_| count.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
/// let violation = check_reader(&counter).unwrap_err();
/// assert_eq!(violation.to_string(), "address 0 holds one element now and another later");
/// # Ok::<(), lensor::conformance::Violation>(())
/// ```
pub fn check_reader<R: Reader + ?Sized>(storage: &R) -> Result<(), Violation>
where
    R::Elem: PartialEq,
{
    first(reader_violations(storage, same_or_nan))
}

/// Checks the laws of a writer and, if it has them, of blocks that are stored as wholes (up to 65,536 elements each) and
/// of entries that are spliced and a fill value that is changed; then, on what was written, of a reader. Overwrites the
/// elements.
///
/// `values` are written in turn; give at least two different ones that the storage can hold.
/// Elements are compared by [`same_or_nan`]. See the [module](self) for an example.
///
/// # Errors
///
/// The first violation.
pub fn check_writer<W: Writer + ?Sized>(
    storage: &mut W,
    values: &[W::Elem],
) -> Result<(), Violation>
where
    W::Elem: PartialEq,
{
    first(writer_violations(storage, values, same_or_nan))
}

/// The first violation of every law that a reader breaks; elements are compared by `same`.
pub fn reader_violations<R: Reader + ?Sized>(
    storage: &R,
    same: impl Fn(&R::Elem, &R::Elem) -> bool,
) -> Vec<Violation> {
    let mut report = Report::default();
    reader::check(storage, &same, &mut report);
    stored::check(storage, &same, &mut report);
    blocks::check(storage, &same, &mut report);
    report.violations
}

/// The first violation of every law that a writer breaks; otherwise as [`check_writer`].
pub fn writer_violations<W: Writer + ?Sized>(
    storage: &mut W,
    values: &[W::Elem],
    same: impl Fn(&W::Elem, &W::Elem) -> bool,
) -> Vec<Violation> {
    let mut report = Report::default();
    writer::check(storage, values, &same, &mut report);
    reader::check(storage, &same, &mut report);
    stored::check(storage, &same, &mut report);
    blocks::check(storage, &same, &mut report);
    report.violations
}

/// Equality in which a value that differs from itself (NaN) is the same as another such value.
pub fn same_or_nan<T: PartialEq>(a: &T, b: &T) -> bool {
    #[allow(clippy::eq_op, reason = "NaN differs from itself")]
    let is_nan = |x: &T| x != x;
    a == b || (is_nan(a) && is_nan(b))
}

fn first(violations: Vec<Violation>) -> Result<(), Violation> {
    violations.into_iter().next().map_or(Ok(()), Err)
}

/// The first violation of every law.
#[derive(Default)]
struct Report {
    violations: Vec<Violation>,
}

impl Report {
    fn add(&mut self, violation: Violation) {
        let known = |old: &Violation| {
            std::mem::discriminant(old) == std::mem::discriminant(&violation)
                && method(old) == method(&violation)
        };
        if !self.violations.iter().any(known) {
            self.violations.push(violation);
        }
    }

    /// What `call` returns, unless it panics. A law ends then.
    fn guard<T>(
        &mut self,
        method: &'static str,
        address: usize,
        call: impl FnOnce() -> T,
    ) -> Option<T> {
        let result = quiet::catch(call);
        if result.is_none() {
            self.add(Violation::Panicked { method, address });
        }
        result
    }
}

/// The method a violation names, as the same law holds for several.
fn method(violation: &Violation) -> &'static str {
    match violation {
        Violation::Panicked { method, .. }
        | Violation::ErrorAddress { method, .. }
        | Violation::SliceLen { method, .. }
        | Violation::Slice { method, .. }
        | Violation::Fails { method, .. }
        | Violation::Succeeds { method, .. }
        | Violation::NotForwarded { method, .. }
        | Violation::Written { method, .. }
        | Violation::Elsewhere { method, .. } => method,
        _ => "",
    }
}
