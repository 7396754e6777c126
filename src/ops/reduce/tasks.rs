//! What folds of both kinds share: results in tasks, and why one does not exist.

use super::reducer::{Reducer, Undefined};
use super::tree::{Parts, joined_halves};
use crate::error::{Error, Result};
use crate::expr::Stop;
use crate::memory::append;
use std::ops::Range;

/// Why there are no results.
#[derive(Debug)]
pub(super) enum Failure {
    Stop(Stop),
    /// The result of this number is none.
    Undefined(Undefined, usize),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Stop(error.into())
    }
}

impl From<Stop> for Failure {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

/// The error for a result of type `T` that there is none of.
pub(crate) fn undefined<T>(why: Undefined, index: Vec<usize>) -> Error {
    match why {
        Undefined::Overflow => Error::Overflow { index, target: std::any::type_name::<T>() },
        Undefined::Empty => Error::NothingLeft { index },
    }
}

/// The result of a state, the one of this number.
pub(super) fn finish<T: Copy, R: Reducer<T>>(
    reducer: &R,
    state: R::State,
    number: usize,
) -> Result<R::Out, Failure> {
    match reducer.undefined(&state) {
        Some(why) => Err(Failure::Undefined(why, number)),
        None => Ok(reducer.finish(state)),
    }
}

/// Results of items, in parts, one after another.
pub(super) fn in_tasks<T: Copy + Send>(
    items: Range<usize>,
    parts: Parts,
    run: &(dyn Fn(Range<usize>) -> Result<Vec<T>, Failure> + Sync),
) -> Result<Vec<T>, Failure> {
    joined_halves(items, parts, run, &|results, more| Ok(append(results, &more)?))
}
