//! Sparse times sparse by rows, after Gustavson: a row of the result is a sum of rows of the second
//! operand, one for every entry of the first.

use super::Semiring;
use crate::error::Result;
use crate::kernel::sparse::Entries;
use crate::kernel::{PARALLEL, join, threads};
use crate::memory::{append, list, push, resize, try_reserve, try_with_capacity, zeros};
use crate::storage::sort_pairs;
use std::ops::Range;

/// Rows of results up to this extent are summed up in an array of their own, however few entries there are.
const NARROW: usize = 1 << 12;

/// Ascending positions and values.
type Product<T> = (Vec<usize>, Vec<T>);

/// The entries of a product of `rows` rows.
pub(super) fn multiply<T, M>(
    semiring: &M,
    left: Entries<'_, T>,
    right: Entries<'_, T>,
    [rows, depth]: [usize; 2],
) -> Result<Product<T>>
where
    T: Copy + Send + Sync,
    M: Semiring<T>,
{
    if left.columns == 0 || right.columns == 0 {
        return Ok(Product::default());
    }
    let right = Rows::new(right, depth, left.positions.len())?;
    let task = right.task(&left);
    run(semiring, left, 0..rows, &right, task)
}

/// How [`multiply`] would go about it, in words, the number of terms, and by how many threads.
pub(super) fn explain<T: Copy>(
    left: Entries<'_, T>,
    right: Entries<'_, T>,
    [rows, depth]: [usize; 2],
) -> Result<(String, usize, usize)> {
    let entries = left.positions.len();
    if left.columns == 0 || right.columns == 0 || entries == 0 {
        return Ok(("rows: none has entries".into(), 0, 1));
    }
    let right = Rows::new(right, depth, entries)?;
    let (task, width) = (right.task(&left), right.entries.columns);
    let met = left.positions.iter().map(|position| right.row(position % left.columns));
    let terms = met.fold(0_usize, |sum, line| sum.saturating_add(line.positions.len()));
    let sums = match right.spreads(task) {
        true => format!("in an array of {width} columns"),
        false => "in lists that are sorted".into(),
    };
    let shared = entries > task && rows > 1;
    let how = format!("rows: {entries} entries, {terms} terms, summed up {sums}");
    Ok((how, terms, if shared { threads() } else { 1 }))
}

/// Rows of the product, shared among threads: the result is the same however they are.
fn run<T, M>(
    semiring: &M,
    left: Entries<'_, T>,
    rows: Range<usize>,
    right: &Rows<'_, T>,
    task: usize,
) -> Result<Product<T>>
where
    T: Copy + Send + Sync,
    M: Semiring<T>,
{
    if left.positions.len() > task && rows.len() > 1 {
        let middle = left.middle(&rows);
        let (low, high) = left.split(middle);
        let (first, second) = join(
            || run(semiring, low, rows.start..middle, right, task),
            || run(semiring, high, middle..rows.end, right, task),
        );
        let ((mut positions, mut values), second) = (first?, second?);
        append(&mut positions, &second.0)?;
        append(&mut values, &second.1)?;
        return Ok((positions, values));
    }
    if right.spreads(task) {
        let sums = Spread::new(right.entries.columns, semiring.zero())?;
        each_row(semiring, left, rows, right, sums)
    } else {
        each_row(semiring, left, rows, right, Listed { terms: Vec::new(), spare: Vec::new() })
    }
}

fn each_row<T, M, A>(
    semiring: &M,
    left: Entries<'_, T>,
    rows: Range<usize>,
    right: &Rows<'_, T>,
    mut sums: A,
) -> Result<Product<T>>
where
    T: Copy,
    M: Semiring<T>,
    A: Sums<T>,
{
    let (mut positions, mut values) = (Vec::new(), Vec::new());
    let mut from = 0;
    while let Some(first) = left.positions.get(from) {
        let row = first / left.columns;
        if row >= rows.end {
            break;
        }
        let start = row * left.columns;
        // Entries of storage that breaks its promises may lie before the row: they are left out.
        while let Some(position) = left.positions.get(from)
            && *position < start + left.columns
        {
            let line = right.row(position.wrapping_sub(start));
            sums.add(semiring, left.values[from], line)?;
            from += 1;
        }
        sums.take(semiring, row * right.entries.columns, &mut positions, &mut values)?;
    }
    Ok((positions, values))
}

/// Columns and values of one row.
#[derive(Clone, Copy)]
struct Line<'a, T> {
    positions: &'a [usize],
    values: &'a [T],
    /// Position of the first element.
    start: usize,
    columns: usize,
}

impl<T: Copy> Line<'_, T> {
    /// Columns and values. Columns out of reach are those of storage that breaks its promises only.
    #[inline(always)]
    fn entries(&self) -> impl Iterator<Item = (usize, T)> {
        let columns = self.positions.iter().map(|position| position.wrapping_sub(self.start));
        columns.zip(self.values.iter().copied()).filter(|(column, _)| *column < self.columns)
    }
}

/// The second operand with its rows at hand.
struct Rows<'a, T> {
    entries: Entries<'a, T>,
    /// Rows that have entries, ascending, and the ordinals of their first ones; one more at the end.
    rows: Vec<usize>,
    starts: Vec<usize>,
    /// For every row its place among those; empty if there would be too many.
    places: Vec<usize>,
}

impl<'a, T: Copy> Rows<'a, T> {
    /// The rows of `entries`, of `depth` rows, to be asked for about `asked` times.
    fn new(entries: Entries<'a, T>, depth: usize, asked: usize) -> Result<Self> {
        let (mut rows, mut starts) = (Vec::new(), Vec::new());
        let mut end = 0;
        for (ordinal, &position) in entries.positions.iter().enumerate() {
            if position >= end {
                let row = position / entries.columns;
                end = (row + 1).saturating_mul(entries.columns);
                push(&mut rows, row)?;
                push(&mut starts, ordinal)?;
            }
        }
        push(&mut starts, entries.positions.len())?;
        let mut places = Vec::new();
        if depth <= NARROW.max(asked).max(entries.positions.len()) {
            resize(&mut places, depth, usize::MAX)?;
            for (place, &row) in rows.iter().enumerate() {
                if let Some(slot) = places.get_mut(row) {
                    *slot = place;
                }
            }
        }
        Ok(Self { entries, rows, starts, places })
    }

    /// Entries of a row that has some, on average.
    fn mean(&self) -> usize {
        self.entries.positions.len() / self.rows.len().max(1)
    }

    /// Most entries of the first operand that one task should do.
    fn task(&self, left: &Entries<'_, T>) -> usize {
        let entries = left.positions.len();
        let terms = entries.saturating_mul(self.mean());
        if terms < PARALLEL || threads() < 2 { entries } else { entries / (4 * threads()) }
    }

    /// Whether rows of so many entries of the first operand are summed up in an array: it takes time in
    /// proportion to its extent, a list for sorting in proportion to the terms.
    fn spreads(&self, entries: usize) -> bool {
        self.entries.columns <= NARROW.max(entries).max(self.entries.positions.len())
    }

    fn row(&self, row: usize) -> Line<'a, T> {
        let place = if self.places.is_empty() {
            self.rows.binary_search(&row).unwrap_or(usize::MAX)
        } else {
            self.places.get(row).copied().unwrap_or(usize::MAX)
        };
        let end = self.starts.get(place.saturating_add(1)).copied().unwrap_or(0);
        let ordinals = self.starts.get(place).copied().unwrap_or(0)..end;
        Line {
            positions: self.entries.positions.get(ordinals.clone()).unwrap_or_default(),
            values: self.entries.values.get(ordinals).unwrap_or_default(),
            start: row.wrapping_mul(self.entries.columns),
            columns: self.entries.columns,
        }
    }
}

/// Sums of terms for the columns of one row.
trait Sums<T: Copy> {
    /// Adds `factor` times a row.
    fn add<M: Semiring<T>>(&mut self, semiring: &M, factor: T, line: Line<'_, T>) -> Result<()>;

    /// Appends what was added, in order of columns, and begins anew.
    fn take<M: Semiring<T>>(
        &mut self,
        semiring: &M,
        start: usize,
        positions: &mut Vec<usize>,
        values: &mut Vec<T>,
    ) -> Result<()>;
}

/// A sum for every column, and which of them are in use.
struct Spread<T> {
    zero: T,
    /// Zero where not in use.
    sums: Vec<T>,
    /// A bit for every column.
    used: Vec<u64>,
    /// The words of `used` that are not 0.
    words: Vec<usize>,
}

impl<T: Copy> Spread<T> {
    fn new(width: usize, zero: T) -> Result<Self> {
        let sums = list(std::iter::repeat_n(zero, width))?;
        let (used, words) = (zeros(width.div_ceil(64))?, try_with_capacity(width.div_ceil(64))?);
        Ok(Self { zero, sums, used, words })
    }
}

impl<T: Copy> Sums<T> for Spread<T> {
    fn add<M: Semiring<T>>(&mut self, semiring: &M, factor: T, line: Line<'_, T>) -> Result<()> {
        for (column, value) in line.entries() {
            let sum = self.sums.get_mut(column);
            let (Some(sum), Some(word)) = (sum, self.used.get_mut(column / 64)) else {
                continue;
            };
            *sum = semiring.add(*sum, semiring.multiply(factor, value));
            if *word == 0 {
                self.words.push(column / 64);
            }
            *word |= 1 << (column % 64);
        }
        Ok(())
    }

    fn take<M: Semiring<T>>(
        &mut self,
        _: &M,
        start: usize,
        positions: &mut Vec<usize>,
        values: &mut Vec<T>,
    ) -> Result<()> {
        let count = self.words.iter().map(|&k| self.used[k].count_ones() as usize).sum();
        try_reserve(positions, count)?;
        try_reserve(values, count)?;
        self.words.sort_unstable();
        for k in self.words.drain(..) {
            let mut bits = std::mem::take(&mut self.used[k]);
            while bits != 0 {
                let column = 64 * k + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                positions.push(start + column);
                values.push(std::mem::replace(&mut self.sums[column], self.zero));
            }
        }
        Ok(())
    }
}

/// Terms in the order in which they come.
struct Listed<T> {
    terms: Vec<(usize, T)>,
    spare: Vec<(usize, T)>,
}

impl<T: Copy> Sums<T> for Listed<T> {
    fn add<M: Semiring<T>>(&mut self, semiring: &M, factor: T, line: Line<'_, T>) -> Result<()> {
        try_reserve(&mut self.terms, line.positions.len())?;
        let terms = line.entries().map(|(column, x)| (column, semiring.multiply(factor, x)));
        self.terms.extend(terms);
        Ok(())
    }

    fn take<M: Semiring<T>>(
        &mut self,
        semiring: &M,
        start: usize,
        positions: &mut Vec<usize>,
        values: &mut Vec<T>,
    ) -> Result<()> {
        // Terms of one column stay in order.
        sort_pairs(&mut self.terms, &mut self.spare)?;
        try_reserve(positions, self.terms.len())?;
        try_reserve(values, self.terms.len())?;
        let first = values.len();
        for &(column, term) in &self.terms {
            let position = start + column;
            match values[first..].last_mut().filter(|_| positions.last() == Some(&position)) {
                Some(sum) => *sum = semiring.add(*sum, term),
                None => {
                    positions.push(position);
                    values.push(semiring.add(semiring.zero(), term));
                }
            }
        }
        self.terms.clear();
        Ok(())
    }
}
