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
//! Storage in blocks is checked behind a cache that holds one of them: by [`check_blocks`], or, if it cannot be stored, by
//! [`check_reader`] of [`Chunked`](super::Chunked) `::new(mine)?.with_blocks(1)`. A roomy cache answers for blocks that a
//! wrong `store` of others has changed.
//!
//! A storage around another one should pass every method on: [`check_reader_forwards`] and
//! [`check_writer_forwards`] put it around a storage that counts.

mod blocks;
mod forward;
mod quiet;
mod reader;
mod sample;
mod stored;
mod violation;
mod writer;

pub use blocks::check_blocks;
pub use forward::{Calls, Recorder, check_reader_forwards, check_writer_forwards};
pub use violation::Violation;

use super::{Reader, Writer};

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
                && old.method() == violation.method()
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
