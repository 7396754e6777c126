//! Lines as JSON, and numbers and lists of it.

use serde_json::Value;
use std::fmt;

/// Why a vector fails.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The library refuses the program: what a vector may expect.
    Refused(Box<lensor::Error>),
    /// A number that no argument of the library can be, which refuses the program as well.
    Outside(String),
    /// The result is another, or the vector is not understood.
    Vector(String),
    /// Too large to be computed densely besides.
    Large,
}

pub(crate) type Outcome<T> = Result<T, Fault>;

impl Fault {
    pub(crate) fn vector(why: impl Into<String>) -> Self {
        Self::Vector(why.into())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(error) => error.fmt(f),
            Self::Outside(why) | Self::Vector(why) => f.write_str(why),
            Self::Large => f.write_str("too large to be computed densely"),
        }
    }
}

impl From<lensor::Error> for Fault {
    fn from(error: lensor::Error) -> Self {
        Self::Refused(Box::new(error))
    }
}

/// A line as JSON. NaN and infinities may stand without quotes, as Python writes them.
pub(crate) fn parse(line: &[u8]) -> serde_json::Result<Value> {
    serde_json::from_slice(line).or_else(|_| serde_json::from_slice(&quoted(line)))
}

/// The line with quotes around the words that JSON lacks.
fn quoted(line: &[u8]) -> Vec<u8> {
    let (mut out, mut rest, mut in_string) = (Vec::new(), line, false);
    while let Some(&byte) = rest.first() {
        let words = [&b"NaN"[..], b"Infinity", b"-Infinity"];
        let word = words.into_iter().find(|word| !in_string && rest.starts_with(word));
        let length = match (word, byte) {
            (Some(word), _) => word.len(),
            (None, b'\\') => rest.len().min(2),
            _ => 1,
        };
        in_string ^= byte == b'"';
        let quote: &[u8] = if word.is_some() { b"\"" } else { b"" };
        for part in [quote, &rest[..length], quote] {
            out.extend_from_slice(part);
        }
        rest = &rest[length..];
    }
    out
}

pub(crate) fn items(list: &Value) -> Outcome<&[Value]> {
    list.as_array().map(Vec::as_slice).ok_or_else(|| Fault::vector(format!("{list} is not a list")))
}

/// Extents, axes or addresses. The library has none below 0 or beyond 64 bits; the largest number is as far
/// outside as those are.
pub(crate) fn extents(list: &Value) -> Outcome<Vec<usize>> {
    items(list)?.iter().map(extent).collect()
}

pub(crate) fn extent(number: &Value) -> Outcome<usize> {
    if let Some(number) = number.as_u64() {
        return Ok(usize::try_from(number).unwrap_or(usize::MAX));
    }
    let outside = |number: f64| if number < 0.0 { usize::MAX } else { number as usize };
    whole(number).map(outside)
}

/// Shifts and bounds of ranges.
pub(crate) fn integers(list: &Value) -> Outcome<Vec<isize>> {
    items(list)?.iter().map(integer).collect()
}

pub(crate) fn integer(number: &Value) -> Outcome<isize> {
    if let Some(number) = number.as_i64() {
        return Ok(number as isize);
    }
    let large = whole(number)?;
    let fits = large.abs() < isize::MAX as f64;
    fits.then_some(large as isize)
        .ok_or_else(|| Fault::Outside(format!("{number} does not fit in isize")))
}

/// A number without a fraction.
pub(crate) fn whole(number: &Value) -> Outcome<f64> {
    let whole = number.as_f64().filter(|number| number.fract() == 0.0);
    whole.ok_or_else(|| Fault::vector(format!("{number} is not an integer")))
}
