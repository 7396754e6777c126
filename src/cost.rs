//! What operations ask of a storage, counted.

mod counted;
mod writing;

use crate::error::{Error, Result};
use crate::expr::{Elementwise as _, Expr, Lazy, zip_with};
use crate::map::Select;
use crate::ops::lanes::{Lanes as _, SortOrder};
use crate::ops::reduce::Reduce as _;
use crate::ops::scan::Scan as _;
#[cfg(doc)]
use crate::storage::Blocks;
use crate::storage::{Reader, Writer};
use crate::tensor::Tensor;
use counted::{Counted, Counts};
use std::fmt;
use writing::InBlocks;

/// A cache in front of a storage, as [`cost`] imagines it: blocks of neighbouring addresses, those used last kept.
///
/// Of storage that has [`Blocks`] of its own, those are counted instead, and [`Self::block`] is not looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Model {
    /// Addresses of a block.
    pub block: usize,
    /// Blocks that are kept.
    pub cached: usize,
}

/// What one operation asked of a storage.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cost {
    /// The operation.
    pub name: &'static str,
    /// Calls of methods that read or write elements, or load blocks.
    pub calls: usize,
    /// Elements that they moved.
    pub elements: usize,
    /// Elements of the longest call.
    pub longest: usize,
    /// Blocks that came to the cache: those that had to be loaded, and of operations that write those that were stored or
    /// changed. The printed table calls them `blocks`.
    pub loads: usize,
}

impl Cost {
    /// Elements of a call, on average.
    pub fn mean(&self) -> usize {
        self.elements / self.calls.max(1)
    }
}

/// What a table of operations asked of a storage, see [`cost`]. Print it with `{}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CostTable {
    /// Blocks that there are.
    pub blocks: usize,
    /// One row an operation.
    pub rows: Vec<Cost>,
}

impl CostTable {
    /// [`Cost::loads`] of an operation over blocks that there are; `None` if there is no such row.
    ///
    /// ```
    /// use lensor::conformance::{Model, cost};
    /// let table = cost(&lensor::storage::FromFn::new(64, |k| k), &[8, 8], Model { block: 16, cached: 1 })?;
    /// assert_eq!(table.ratio("copy"), Some(1.0));
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn ratio(&self, name: &str) -> Option<f64> {
        let row = self.rows.iter().find(|row| row.name == name)?;
        Some(row.loads as f64 / self.blocks.max(1) as f64)
    }
}

impl fmt::Display for CostTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<28} {:>9} {:>11} {:>9} {:>9} {:>9} {:>7}",
            "operation", "calls", "elements", "longest", "mean", "blocks", "ratio"
        )?;
        for row in &self.rows {
            writeln!(
                f,
                "{:<28} {:>9} {:>11} {:>9} {:>9} {:>9} {:>7.2}",
                row.name,
                row.calls,
                row.elements,
                row.longest,
                row.mean(),
                row.loads,
                row.loads as f64 / self.blocks.max(1) as f64
            )?;
        }
        Ok(())
    }
}

/// Counts what operations ask of `storage`, seen as a row-major tensor of this shape: calls, elements, and the blocks
/// that a cache would have to load.
///
/// Rows: `copy`, `flipped`, `transposed`, `rotated`, `tiles`, `rows by list`, `columns by list`, `with dense`,
/// `transposed with dense`, `boxed`, `with its transposed`, `sum`, `sum of transposed` and its two axes, `variance of
/// transposed`, `cumsum`, `sort`, and `failing`: a copy of elements whose last one cannot be read. Those that need two
/// axes are there if the last two are longer than 1, `tiles` if both are multiples of 8, and `with its transposed` if
/// they are alike. Numbers are those of one thread where there is one: run it in a pool of one for numbers that are
/// always the same.
///
/// # Errors
///
/// [`Error::Axis`] for rank 0, [`Error::Length`] if the shape has more elements than `storage`, and what evaluating
/// reports.
///
/// ```
/// use lensor::conformance::{Model, cost};
/// use lensor::storage::FromFn;
///
/// let table = cost(&FromFn::new(1 << 16, |k| k), &[256, 256], Model { block: 1024, cached: 4 })?;
/// println!("{table}");
/// assert!(table.ratio("transposed").unwrap() < 1.5);
/// # Ok::<(), lensor::Error>(())
/// ```
pub fn cost<R: Reader>(storage: &R, shape: &[usize], model: Model) -> Result<CostTable> {
    let counted = Counted::new(storage, model);
    let t = Tensor::new(shape, &counted)?;
    let mut table = Report { counted: &counted, rows: Vec::new() };
    let dense = Tensor::full(shape, 0_u8)?;
    table.row("copy", || t.to_vec())?;
    table.row("flipped", || flipped(t.view())?.to_vec())?;
    table.row("with dense", || zip_with((&t, &dense), |(a, _)| a).eval())?;
    table.row("sum", || ones(t.view()).sum(..).eval())?;
    table.row("cumsum", || ones(t.view()).cumsum(0).eval())?;
    table.row("sort", || ones(t.view()).sort(0, SortOrder::Ascending).eval())?;
    if let &[.., rows, columns] = shape
        && rows > 1
        && columns > 1
    {
        let rank = shape.len();
        let (a, b) = (rank - 2, rank - 1);
        let order: Vec<usize> = (0..a).chain([b, a]).collect();
        let turned = t.view().transpose(&order)?;
        let other = Tensor::full(turned.shape(), 0_u8)?;
        table.row("transposed", || turned.to_vec())?;
        let mut shifts = vec![0; rank];
        (shifts[a], shifts[b]) = (rows as isize / 10, columns as isize / 31);
        let rotated = t.view().rotate(&shifts)?;
        table.row("rotated", || rotated.to_vec())?;
        if rows % 8 == 0 && columns % 8 == 0 {
            let outer = shape[..a].iter().copied();
            let split: Vec<usize> = outer.chain([8, rows / 8, 8, columns / 8]).collect();
            let order: Vec<usize> = (0..a).chain([a, a + 2, a + 1, a + 3]).collect();
            let tiles = t.view().reshape(split)?.transpose(&order)?;
            table.row("tiles", || tiles.to_vec())?;
        }
        let by = |axis: usize, extent: usize| {
            let list: Vec<usize> = (0..extent).map(|k| k * 7919 % extent).collect();
            let mut selectors = vec![Select::All; rank];
            selectors[axis] = Select::from(&list[..]);
            t.view().select(selectors)
        };
        let (listed_rows, listed_columns) = (by(a, rows)?, by(b, columns)?);
        table.row("rows by list", || listed_rows.to_vec())?;
        table.row("columns by list", || listed_columns.to_vec())?;
        let turned = || turned.view();
        table.row("transposed with dense", || zip_with((turned(), &other), |(a, _)| a).eval())?;
        let boxed = || turned().lazy().boxed();
        table.row("boxed", || zip_with((boxed(), &other), |(a, _)| a).eval())?;
        if rows == columns {
            table.row("with its transposed", || zip_with((&t, turned()), |(a, _)| a).eval())?;
        }
        table.row("sum of transposed", || ones(turned()).sum(..).eval())?;
        table.row("sum of transposed, axis 0", || ones(turned()).sum(a).eval())?;
        table.row("sum of transposed, axis 1", || ones(turned()).sum(b).eval())?;
        table.row("variance of transposed", || ones(turned()).var(a).eval())?;
    }
    counted.counts.state().fails = t.len().checked_sub(1);
    table.row("failing", || match t.to_vec() {
        Err(Error::Storage { .. }) => Ok(()),
        other => other.map(drop),
    })?;
    Ok(CostTable { blocks: counted.counts.count(), rows: table.rows })
}

/// As [`cost`], of operations that write: `assign`, `assign transposed`, `update` and `update transposed`. Blocks that are
/// stored or changed count as those that are loaded do. Every element is what it was afterwards.
///
/// # Errors
///
/// As [`cost`].
pub fn cost_of_writing<W: Writer>(
    storage: &mut W,
    shape: &[usize],
    model: Model,
) -> Result<CostTable> {
    let old = Tensor::new(shape, &*storage)?.eval()?;
    let order: Vec<usize> = (0..shape.len()).rev().collect();
    let turned = old.view().transpose(&order)?.eval()?;
    type Output<'w, T> = Tensor<&'w mut (dyn Writer<Elem = T> + 'w)>;
    type Job<'j, T> = (&'static str, &'j dyn Fn(&mut Output<'_, T>) -> Result<()>);
    let jobs: [Job<'_, W::Elem>; 4] = [
        ("assign", &|t| t.assign(&old)),
        ("assign transposed", &|t| t.view_mut().transpose(&order)?.assign(&turned)),
        ("update", &|t| t.zip_in_place(&old, |a, _| a)),
        ("update transposed", &|t| t.view_mut().transpose(&order)?.zip_in_place(&turned, |a, _| a)),
    ];
    let counts = |storage: &W| Counts::new(storage, model);
    let mut table = CostTable { blocks: counts(storage).count(), rows: Vec::new() };
    for (name, run) in jobs {
        let mut cost = None;
        let own = counts(storage);
        if own.sides.is_some()
            && let Some(blocks) = storage.blocks_mut()
        {
            let mut counted = InBlocks::new(blocks, own);
            let done = run(&mut Tensor::new(shape, &mut counted as &mut dyn Writer<Elem = _>)?);
            if !counted.is_astray() {
                done?;
                cost = Some(counted.counts.cost());
            }
        }
        if cost.is_none() {
            let mut counted = Counted::by_addresses(&mut *storage, model);
            run(&mut Tensor::new(shape, &mut counted as &mut dyn Writer<Elem = _>)?)?;
            cost = Some(counted.counts.cost());
        }
        table.rows.extend(cost.map(|cost| Cost { name, ..cost }));
    }
    if let Some(blocks) = storage.blocks_mut() {
        blocks.finish()?;
    }
    Ok(table)
}

fn flipped<S: Reader>(t: Tensor<S>) -> Result<Tensor<S>> {
    (0..t.rank()).try_fold(t, |t, axis| t.flip(axis))
}

/// The elements as numbers.
fn ones<S: Reader>(t: Tensor<&S>) -> Lazy<impl Expr<Elem = f64>> {
    t.map(|_| 1.0)
}

struct Report<'c, R> {
    counted: &'c Counted<R>,
    rows: Vec<Cost>,
}

impl<R: Reader> Report<'_, R> {
    fn row<X>(&mut self, name: &'static str, run: impl FnOnce() -> Result<X>) -> Result<()> {
        self.counted.counts.reset();
        run()?;
        self.rows.push(Cost { name, ..self.counted.counts.cost() });
        Ok(())
    }
}
