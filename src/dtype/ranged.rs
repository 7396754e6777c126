//! How many steps a range takes.

use super::Arithmetic;
use crate::error::{Error, Result};
use std::fmt::Debug;

/// Numbers that a range runs over.
pub trait Ranged: Arithmetic + Debug {
    /// How many of `start, start + step, ..` come before `stop`.
    ///
    /// Exact for integers. For floats the quotient `(stop - start) / step` is taken for the integer it is
    /// within 4 units in the last place of, and rounded up otherwise.
    ///
    /// # Errors
    ///
    /// [`Error::Range`] if the step is 0, if a number or the distance of the first two is not finite, or if there
    /// are more than `isize::MAX`.
    fn count_range(start: Self, stop: Self, step: Self) -> Result<usize>;
}

/// Most elements of anything.
const LIMIT: usize = isize::MAX as usize;

#[cold]
pub(crate) fn range_error<T: Debug>(start: T, stop: T, step: T, what: &'static str) -> Error {
    let [start, stop, step] = [start, stop, step].map(|number| format!("{number:?}"));
    Error::Range { start, stop, step, what }
}

const ZERO: &str = "has step 0";
const INFINITE: &str = "is not finite";
const LONG: &str = "has more elements than fit in isize";

macro_rules! integers {
    ($($type:ty)*) => { $(
        impl Ranged for $type {
            fn count_range(start: $type, stop: $type, step: $type) -> Result<usize> {
                if step == 0 {
                    return Err(range_error(start, stop, step, ZERO));
                }
                // In 128 bits, modulo which both the distance and the step are exact.
                let (first, last, size) = (start as u128, stop as u128, step as u128);
                let (rises, up) = (step > 0, stop > start);
                if start == stop || rises != up {
                    return Ok(0);
                }
                let (distance, size) = if rises {
                    (last.wrapping_sub(first), size)
                } else {
                    (first.wrapping_sub(last), size.wrapping_neg())
                };
                usize::try_from(distance.div_ceil(size))
                    .ok()
                    .filter(|&count| count <= LIMIT)
                    .ok_or_else(|| range_error(start, stop, step, LONG))
            }
        }
    )* };
}
integers!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);

macro_rules! floats {
    ($($type:ty)*) => { $(
        impl Ranged for $type {
            fn count_range(start: $type, stop: $type, step: $type) -> Result<usize> {
                if step == 0.0 {
                    return Err(range_error(start, stop, step, ZERO));
                }
                let distance = stop - start;
                if !(distance.is_finite() && step.is_finite()) {
                    return Err(range_error(start, stop, step, INFINITE));
                }
                let quotient = distance / step;
                let ulp = quotient.abs().next_up() - quotient.abs();
                let whole = quotient.round();
                let snapped = (quotient - whole).abs() <= 4.0 * ulp;
                let count = if snapped { whole } else { quotient.ceil() };
                if count < LIMIT as $type {
                    Ok(count as usize)
                } else {
                    Err(range_error(start, stop, step, LONG))
                }
            }
        }
    )* };
}
floats!(f32 f64);
