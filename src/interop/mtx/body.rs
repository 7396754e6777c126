//! The entries of a Matrix Market file.

use super::header::{Field, Format, Header, Symmetry};
use crate::dtype::FileElement;
use crate::error::{Error, Result};
use crate::interop::text::{Content, Lines};
use std::io::Read;

/// Calls `visit` with index and value of every entry that the file lists, in its order.
pub(super) fn for_each<T: FileElement>(
    header: &Header,
    lines: &mut Lines<impl Read>,
    visit: &mut dyn FnMut([usize; 2], T) -> Result<()>,
) -> Result<()> {
    header.check_type::<T>()?;
    let mut places = array_places(header);
    for found in 0..header.entries {
        let number = lines.number();
        let Some(line) = lines.next_content()? else {
            return Err(Error::EntryCount { expected: header.entries, found, line: number });
        };
        let mut words = line.text.split_ascii_whitespace();
        let index = match header.format {
            Format::Array => places.next().unwrap_or_default(),
            Format::Coordinate => listed_place(header, &line, &mut words)?,
        };
        let value = value::<T>(header.field, &mut words).filter(|_| words.next().is_none());
        let mirrored = header.symmetry == Symmetry::SkewSymmetric;
        let value = value.filter(|&value| !mirrored || has_opposite(value));
        let value = value.ok_or_else(|| line.error(expected(header)))?;
        visit(index, value)?;
    }
    let more = lines.next_content()?.map(|line| line.line);
    match more {
        None => Ok(()),
        Some(line) => {
            let expected = header.entries;
            Err(Error::EntryCount { expected, found: expected.saturating_add(1), line })
        }
    }
}

/// The place of every element that an array lists: column by column, symmetric ones from the diagonal on.
pub(super) fn array_places(header: &Header) -> impl Iterator<Item = [usize; 2]> + use<> {
    let (rows, columns, symmetry) = (header.shape[0], header.shape[1], header.symmetry);
    let top = move |column: usize| match symmetry {
        Symmetry::General => 0,
        Symmetry::Symmetric | Symmetry::Hermitian => column,
        Symmetry::SkewSymmetric => column + 1,
    };
    (0..columns).flat_map(move |column| (top(column)..rows).map(move |row| [row, column]))
}

/// What the mirror image of an element is.
pub(super) fn image<T: FileElement>(symmetry: Symmetry, value: T) -> T {
    match symmetry {
        Symmetry::General | Symmetry::Symmetric => value,
        Symmetry::SkewSymmetric => value.opposite(),
        Symmetry::Hermitian => value.conjugate(),
    }
}

/// Whether there is a number of the other sign. Of the smallest integer there is none.
pub(super) fn has_opposite<T: FileElement>(value: T) -> bool {
    value == T::ZERO || value.opposite() != value
}

/// An entry, and the one that follows from it.
pub(super) fn with_image<T: FileElement>(
    symmetry: Symmetry,
    [row, column]: [usize; 2],
    value: T,
) -> impl Iterator<Item = ([usize; 2], T)> {
    let follows = symmetry != Symmetry::General && row != column;
    let mirrored = follows.then(|| ([column, row], image(symmetry, value)));
    std::iter::once(([row, column], value)).chain(mirrored)
}

/// The place that the first two words of a line name.
fn listed_place<'a>(
    header: &Header,
    line: &Content<'_>,
    words: &mut impl Iterator<Item = &'a str>,
) -> Result<[usize; 2]> {
    let mut index = |axis: usize| match words.next() {
        Some(word) => line.index(word, axis, header.shape[axis]),
        None => Err(line.error(expected(header))),
    };
    let (row, column) = (index(0)?, index(1)?);
    match header.symmetry {
        Symmetry::Symmetric | Symmetry::Hermitian if row < column => {
            Err(line.error("an entry on or below the diagonal, as the matrix is symmetric"))
        }
        Symmetry::SkewSymmetric if row <= column => {
            Err(line.error("an entry below the diagonal, as the matrix is skew-symmetric"))
        }
        _ => Ok([row, column]),
    }
}

/// The value that the next words of a line give.
fn value<'a, T: FileElement>(field: Field, words: &mut impl Iterator<Item = &'a str>) -> Option<T> {
    match field {
        Field::Pattern => Some(T::ONE),
        Field::Complex => T::from_words(words),
        Field::Real | Field::Integer => {
            let word = words.next()?;
            let digits = word.strip_prefix(['+', '-']).unwrap_or(word);
            let integer = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            // A complex element takes two words: the imaginary part of a real number is 0.
            let value = T::from_words(&mut [word, "0"].into_iter());
            value.filter(|&value| field == Field::Real || (integer && is_finite(value)))
        }
    }
}

/// Whether a number is one that an integer can round to: of an infinite one there is no difference from itself.
fn is_finite<T: FileElement>(value: T) -> bool {
    value == T::ONE || value.merged(value.opposite()) == T::ZERO
}

/// What an entry line should hold.
fn expected(header: &Header) -> &'static str {
    match (header.format, header.field) {
        (Format::Array, Field::Complex) => "a real and an imaginary part",
        (Format::Array, Field::Integer) => "an integer that fits the type",
        (Format::Array, _) => "a number",
        (Format::Coordinate, Field::Complex) => "row, column, real and imaginary part",
        (Format::Coordinate, Field::Integer) => "row, column and an integer that fits the type",
        (Format::Coordinate, Field::Pattern) => "row and column",
        (Format::Coordinate, Field::Real) => "row, column and a number",
    }
}
