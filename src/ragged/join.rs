//! Several ragged tensors one after another, and operands that meet at their first axes.

use super::Ragged;
use super::expr::{IntoRagged, LazyRagged, RaggedExpr, RaggedRows};
use super::form::{Extent, shape_of};
use super::levels::{Bounds, Level, levels_of};
use super::offsets::Offsets;
use super::views::Place;
use crate::error::{Error, Result};
use crate::map::AddressMap;
use crate::memory::{try_reserve, try_with_capacity};
use crate::shape::{Align, Shape};
use crate::storage::{Concat, Reader};
use crate::tensor::Flat;
use smallvec::SmallVec;

/// What can be joined to others by [`concat()`]: a ragged tensor, or a reference to one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a ragged tensor",
    note = "an expression is evaluated first: `e.eval()?`; a dense tensor is one by `t.as_ragged()`"
)]
pub trait IntoRaggedTensor {
    /// The storage of its items.
    type Storage: Reader;

    /// The tensor, or a view of it.
    fn into_ragged_tensor(self) -> Ragged<Self::Storage>;
}

impl<S: Reader> IntoRaggedTensor for Ragged<S> {
    type Storage = S;

    fn into_ragged_tensor(self) -> Self {
        self
    }
}

impl<'a, S: Reader> IntoRaggedTensor for &'a Ragged<S> {
    type Storage = &'a S;

    fn into_ragged_tensor(self) -> Ragged<&'a S> {
        self.view()
    }
}

/// Ragged tensors one after another along an axis, as a view. Var beside fixed is var.
///
/// # Errors
///
/// [`Error::Join`] for other ranks or fixed extents, [`Error::RowLength`] for rows of other lengths along another axis,
/// [`Error::NothingToJoin`] without any tensor, [`Error::Axis`] for an axis that does not exist,
/// [`Error::ShapeOverflow`] if the items cannot be counted, and [`Error::OutOfMemory`].
///
/// ```
/// use lensor::ragged::{Ragged, concat};
/// let a = Ragged::from_nested(vec![vec![1, 2], vec![]])?;
/// let b = Ragged::from_nested(vec![vec![3], vec![4]])?;
/// assert_eq!(concat(0, [&a, &b])?.to_string(), "[[1, 2], [], [3], [4]]");
/// assert_eq!(concat(1, [a, b])?.to_string(), "[[1, 2, 3], [4]]");
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn concat<X: IntoRaggedTensor>(
    axis: usize,
    parts: impl IntoIterator<Item = X>,
) -> Result<Ragged<Concat<Flat<X::Storage>>>> {
    let parts: Vec<_> = parts.into_iter().map(X::into_ragged_tensor).collect();
    let Some(first) = parts.first().map(Ragged::kinds) else {
        return Err(Error::NothingToJoin { stack: false });
    };
    let rank = first.len();
    if axis >= rank {
        return Err(Error::Axis { axis, rank });
    }
    let mut vars = vec![false; rank];
    for (number, part) in parts.iter().enumerate() {
        let kinds = part.kinds();
        let joins = kinds.len() == rank
            && kinds.iter().zip(&first).enumerate().all(|(k, pair)| match pair {
                (Extent::Fixed(a), Extent::Fixed(b)) => k == axis || a == b,
                _ => true,
            });
        if !joins {
            return Err(Error::Join {
                tensor: number + 1,
                shape: shape_of(&kinds),
                first: shape_of(&first),
                axis,
                stack: false,
            });
        }
        kinds.iter().zip(&mut vars).for_each(|(&kind, var)| *var |= kind == Extent::Var);
    }
    let vars = || (0..rank).filter(|&axis| vars[axis]);
    let parts = parts.into_iter().map(|part| vars().try_fold(part, Ragged::made_var)?.packed());
    joined(axis, parts.collect::<Result<Vec<_>>>()?)
}

impl<S> Ragged<S> {
    /// Rows with tables of their own that begin at 0, over content without gaps.
    fn packed(self) -> Result<Self> {
        let form = self.form()?;
        Ok(Self::of(levels_of(&form), self.into_items()?))
    }

    /// A fixed axis as a var one.
    fn made_var(self, axis: usize) -> Result<Self> {
        let Place::Fixed(number, position) = self.place(axis)? else { return Ok(self) };
        let kinds = self.kinds();
        let Self { mut levels, mut content, .. } = self;
        let above = match levels.get(number) {
            Some(level) => level.above,
            None if number == 0 => 1,
            None => content.shape().first().copied().unwrap_or(1),
        };
        let extents: SmallVec<[usize; 4]> =
            kinds[axis - position..].iter().map_while(|kind| kind.fixed()).collect();
        let (front, behind) = extents.split_at(position);
        let Some((&extent, behind)) = behind.split_first() else {
            return Ok(Self::of(levels, content));
        };
        let rows = above * front.iter().product::<usize>();
        match levels.get_mut(number) {
            Some(below) => {
                below.above = rows * extent;
                below.extents = behind.iter().copied().collect();
            }
            None => {
                let to: Shape =
                    std::iter::once(rows * extent).chain(behind.iter().copied()).collect();
                content = content.rewrite(&mut |map| map.reshape(to.clone()))?;
            }
        }
        let bounds = Bounds::Offsets(Offsets::every(extent, rows)?);
        levels.insert(number, Level { above, extents: front.iter().copied().collect(), bounds });
        Ok(Self::of(levels, content))
    }
}

/// Joins packed tensors whose axes are of the same kinds.
fn joined<S: Reader>(axis: usize, parts: Vec<Ragged<S>>) -> Result<Ragged<Concat<Flat<S>>>> {
    let Some(first) = parts.first() else {
        return Err(Error::NothingToJoin { stack: false });
    };
    let kinds = first.kinds();
    let number = kinds[..axis].iter().filter(|&&kind| kind == Extent::Var).count();
    let position = kinds[..axis].iter().rev().take_while(|&&kind| kind != Extent::Var).count();
    let depth = first.levels.len();
    for part in &parts[1..] {
        first.check_rows(number, &part.form()?)?;
    }
    let mut levels: SmallVec<[Level; 1]> = first.levels[..number].iter().cloned().collect();
    let mut tables: Vec<Vec<Level>> = Vec::new();
    let mut contents = try_with_capacity(parts.len())?;
    for part in parts {
        tables.push(part.levels.into_iter().skip(number).collect());
        contents.push(part.content);
    }
    if number == depth {
        let at = position + usize::from(depth > 0);
        return Ok(Ragged::of(levels, crate::tensor::concat(at, contents)?));
    }
    // Items of all parts one after another, in every level and in the content.
    let content = crate::tensor::concat(0, contents)?;
    for k in 0..depth - number {
        let own = tables.iter().map(|levels| &levels[k]);
        let above = own.clone().map(|level| level.above).fold(0, usize::saturating_add);
        let lens = own.flat_map(|level| level.bounds.runs().map(|run| run.len));
        let bounds = Bounds::Offsets(Offsets::from_lengths(lens)?);
        levels.push(Level { above, extents: tables[0][k].extents.clone(), bounds });
    }
    // What is shown of the first of these levels, which has the rows of all parts.
    let rows = Offsets::from_lengths(tables.iter().map(|levels| levels[0].bounds.rows()))?;
    let level = &mut levels[number];
    level.above = tables[0][0].above;
    if position == level.extents.len() {
        let (lengths, items) = end_to_end(&level.bounds, &rows)?;
        return Ragged::of(levels, content).with_rows(number, lengths, items);
    }
    let extents = tables.iter().map(|levels| levels[0].extents[position]);
    level.extents[position] = extents.fold(0, usize::saturating_add);
    Shape::from(&level.extents[..]).count()?;
    // Otherwise whole parts lie one after another.
    if level.above != 1 || position != 0 {
        // Without rows there may be any number of blocks.
        let blocks = match rows.last() {
            0 => 0,
            _ => level.above * level.extents[..position].iter().product::<usize>(),
        };
        level.bounds = interleaved(&level.bounds, &rows, blocks)?;
    }
    Ok(Ragged::of(levels, content))
}

/// The rows of several parts in blocks, each of which has some of every part.
fn interleaved(bounds: &Bounds, parts: &Offsets, blocks: usize) -> Result<Bounds> {
    let mut rows = try_with_capacity(parts.last())?;
    for block in 0..blocks {
        for part in 0..parts.rows() {
            let (first, each) = (parts.number(part), parts.length(part) / blocks);
            rows.extend(first + block * each..first + (block + 1) * each);
        }
    }
    bounds.picked(rows.into_iter())
}

/// The lengths and the items of rows that are made of one of each part.
fn end_to_end(bounds: &Bounds, parts: &Offsets) -> Result<(Offsets, Vec<usize>)> {
    let rows = parts.length(0);
    let (mut lens, mut items) = (try_with_capacity(rows)?, Vec::new());
    for row in 0..rows {
        let before = items.len();
        for part in 0..parts.rows() {
            let run = bounds.row(parts.number(part) + row);
            try_reserve(&mut items, run.len)?;
            items.extend(run.items());
        }
        lens.push(items.len() - before);
    }
    Ok((Offsets::from_lengths(lens)?, items))
}

/// Two operands as expressions.
pub type Aligned<A, B> = (LazyRagged<<A as IntoRagged>::Expr>, LazyRagged<<B as IntoRagged>::Expr>);

/// Both operands as expressions, with `align` saying which ends meet: their last axes, as in operators, or with
/// [`Align::Left`] their first, for which the one with fewer gets extents of 1 at its end. So `[3, var]` meets `[3]`.
///
/// # Errors
///
/// What the operands carry, [`Error::RankLimit`].
///
/// ```
/// use lensor::prelude::*;
/// use lensor::ragged::{self, Ragged};
/// let r = Ragged::from_nested(vec![vec![1, 2], vec![3]])?;
/// let (a, b) = ragged::align(Align::Left, &r, Tensor::from(vec![10, 20]))?;
/// assert_eq!((a + b).eval()?.to_string(), "[[11, 12], [23]]");
/// # Ok::<(), Error>(())
/// ```
pub fn align<A: IntoRagged, B: IntoRagged>(align: Align, a: A, b: B) -> Result<Aligned<A, B>> {
    let (a, b) = (a.into_ragged_expr(), b.into_ragged_expr());
    let (rank_a, rank_b) = (a.extents()?.len(), b.extents()?.len());
    if align == Align::Right {
        return Ok((LazyRagged(a), LazyRagged(b)));
    }
    let ones = |rank: usize| rank_a.max(rank_b) - rank;
    Ok((LazyRagged(a.widened(ones(rank_a))?), LazyRagged(b.widened(ones(rank_b))?)))
}

impl<S> Ragged<S> {
    /// With axes of extent 1 after all others.
    pub(super) fn widened_by(self, ones: usize) -> Result<Self> {
        if ones == 0 {
            return Ok(self);
        }
        let content = self.content.rewrite(&mut |map| {
            (map.rank()..map.rank() + ones).try_fold(map, AddressMap::insert_axis)
        })?;
        Ok(Self::of(self.levels, content))
    }
}
