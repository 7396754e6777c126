//! Rows of an expression, a block at a time: what folds are fed with.
//!
//! Rows are numbered in row-major order of all axes but the last, whose elements are the columns. A block of some rows
//! and columns is read in one of four ways: from the memory of a tensor, each row where it lies, from the block of
//! storage that holds it, by evaluating tiles straight from strides, or, where maps are more than strides, runs are
//! short, or storage is not memory, from a window of rows that has a plan of its own.

mod ahead;
mod block;
mod blocks;
mod listed;
mod pieces;
mod runs;
mod slab;
mod strided;
mod windows;

use super::boxed::Boxed;
use super::node::Worker;
use super::{Access, Expr, sparse};
use crate::error::Result;
use crate::kernel::{LARGE_BYTES, PART, Place, Steps, Stop, TILE, Tile};
use crate::map::AddressMap;
use crate::memory::try_reserve_exact;
use crate::shape::{Align, Shape};
use ahead::Path;
pub(crate) use block::Block;
use block::{Data, visit_few};
use blocks::InBlocks;
use listed::Listed;
use pieces::Pieces;
use runs::Runs;
use slab::lies_in_lines;
use smallvec::SmallVec;
use std::ops::Range;
use strided::{Leaves, strided};
pub(crate) use strided::{TRANSPOSED, lies_across, lies_transposed, order_in_memory};
use windows::Windows;

/// Expressions from this size on, in bytes of all results, read from farther than the caches of a core.
const FAR_BYTES: usize = 4 << 20;

/// Elements of neighbouring rows worth a read of their own.
pub(crate) const MIN_READ: usize = 4096;
/// Bytes that are copied to be read in order, whatever they are read for.
pub(crate) const COPIED_BYTES: usize = 1 << 28;
/// That it is, in words.
pub(crate) const COPIED: &str = "copied to memory first, in order";

/// Elements that are evaluated before they are visited.
const TOGETHER: usize = 512;

/// An expression of elements `T` seen as rows.
pub(crate) struct Rows<'e, T> {
    e: Boxed<'e, T>,
    shape: Shape,
    /// Stages below the first, of all leaves.
    stages: usize,
    /// Strides of every leaf, if strides are all there is and there are no windows.
    strided: Option<Leaves>,
    /// Where rows are, if this is one tensor in memory, rows are runs, and strides are not all there is.
    listed: Option<Listed>,
    /// The windows that are read, if maps are more than strides or storage is not read in its order when rows are.
    windows: Option<Windows>,
    /// How rows lie in blocks, if this is one tensor that has them.
    in_blocks: Option<Box<InBlocks>>,
    /// Whether storage that is not memory is read in its order, in long runs unless elements are large.
    runs: bool,
}

impl<'e, T: Copy + Send + Sync + 'e> Rows<'e, T> {
    /// The rows of `e` with its axes in this order and, if that takes no stage, the last `merged` of them as one.
    #[inline(never)]
    pub(crate) fn ordered(e: &Boxed<'e, T>, order: &[usize], merged: usize) -> Result<Self> {
        let joint = e.shape()?;
        if let Some((shape, strided)) = strided::in_memory(e, &joint, order, merged) {
            let (e, strided) = (e.clone(), Some(strided));
            let (listed, windows, in_blocks) = (None, None, None);
            return Ok(Self {
                e,
                shape,
                stages: 0,
                strided,
                listed,
                windows,
                in_blocks,
                runs: false,
            });
        }
        let plain = Self::viewed(e, &joint, &mut |map| {
            let map = map.transpose(order)?;
            if map.rank() == 0 { map.insert_axis(0) } else { Ok(map) }
        })?;
        if merged < 2 || !lies_in_lines(e, &joint, &order[order.len() - merged..]) {
            return Ok(plain);
        }
        let flat = Self::merged(e, &joint, order, merged)?;
        Ok(if flat.stages == 0 || flat.stages < plain.stages { flat } else { plain })
    }

    /// The rows of `e` after `view`, which gives every leaf the same shape.
    #[inline(never)]
    fn viewed(
        e: &Boxed<'e, T>,
        joint: &Shape,
        view: &mut dyn FnMut(AddressMap) -> Result<AddressMap>,
    ) -> Result<Self> {
        let shape = view(AddressMap::of_shape(joint)?)?.shape();
        sparse::check_reads(e, shape.iter().product())?;
        let mut stages = 0;
        let mut e = e.clone();
        e.rewrite(&mut |map| view(map.stretched(joint, Align::Right)?))?;
        e.leaves(&mut |leaf| stages += leaf.map.rest().len());
        let strided = strided(&e);
        let listed = if strided.is_none() { Listed::of(&e) } else { None };
        let (windows, in_blocks) = match listed {
            Some(_) => (None, None),
            None => Windows::of(&e, strided.as_deref(), &shape),
        };
        let (strided, in_blocks) = (strided.filter(|_| windows.is_none()), in_blocks.map(Box::new));
        let mut far = false;
        e.leaves(&mut |leaf| far |= leaf.access != Access::Slice && leaf.elem_bytes <= LARGE_BYTES);
        let runs = far && windows.is_none();
        Ok(Self { e, shape, stages, strided, listed, windows, in_blocks, runs })
    }

    /// Elements of a row.
    pub(crate) fn columns(&self) -> usize {
        self.shape.last().copied().unwrap_or(1)
    }

    /// How blocks are read, in words.
    pub(crate) fn explain(&self) -> &'static str {
        let reader = self.open();
        match &self.strided {
            _ if reader.direct => "read where it lies",
            Some(_) if reader.reads_across() => "packed and evaluated many rows at a time",
            Some(_) if self.runs => "evaluated in order of storage, in long runs",
            Some(_) => "evaluated a few thousand elements at a time",
            None if self.is_far() => "evaluated in order of storage, window by window",
            None if self.is_transposed() => "evaluated in order of memory, window by window",
            None if self.windows.as_ref().is_some_and(|own| own.short) => {
                "evaluated window by window, as runs of rows are short"
            }
            None => "evaluated piece by piece, as a map is more than strides",
        }
    }

    /// Whether storage is not memory.
    pub(crate) fn is_far(&self) -> bool {
        self.windows.as_ref().is_some_and(|windows| windows.far)
    }

    /// Whether this is memory, of which strides tell that it is read in another order.
    pub(crate) fn is_transposed(&self) -> bool {
        self.windows.as_ref().is_some_and(|windows| windows.transposed)
    }

    /// Whether windows of many rows are best, as storage lies across them.
    pub(crate) fn is_across(&self) -> bool {
        self.windows.as_ref().is_some_and(|windows| windows.across)
    }

    /// Whether storage is read in long runs.
    pub(crate) fn in_runs(&self) -> bool {
        self.runs
    }

    /// Elements of a window, if the operand is read in windows.
    pub(crate) fn window(&self) -> Option<usize> {
        self.windows.as_ref().map(|windows| windows.elements)
    }

    /// A reader of blocks, for one task.
    #[inline(never)]
    pub(crate) fn open(&self) -> RowReader<'_, T> {
        let mut worker = self.e.worker();
        let bytes = self.shape.iter().product::<usize>().saturating_mul(size_of::<T>());
        if bytes >= FAR_BYTES {
            worker.prefetch_row();
        }
        let columns = self.shape.rank() - 1;
        let direct = self.strided.as_ref().is_some_and(|leaves| match leaves.as_slice() {
            [leaf] => leaf.strides[columns] == 1 || self.shape[columns] == 1,
            _ => false,
        });
        RowReader {
            rows: self,
            direct: self.listed.is_some() || (direct && worker.slice().is_some()),
            worker,
            starts: Vec::new(),
            block: Vec::new(),
            pieces: None,
            held: None,
            end: 0,
            path: None,
            blocks: Vec::new(),
        }
    }
}

/// What is called with a few rows and the number of the first.
pub(crate) type VisitRows<'v, T> = &'v mut dyn FnMut(usize, &[&[T]]) -> Result<(), Stop>;

/// Reads blocks of rows, one after another.
pub(crate) struct RowReader<'r, T> {
    rows: &'r Rows<'r, T>,
    worker: Worker<'r, T>,
    /// Whether blocks are read where they lie, in the memory of the only leaf.
    pub(crate) direct: bool,
    starts: Vec<usize>,
    block: Vec<T>,
    /// The part of a row that the worker is bound to, if it is one.
    pieces: Option<Pieces>,
    /// Rows and columns of the window that is held.
    held: Option<[Range<usize>; 2]>,
    /// One past the last row that is read.
    end: usize,
    /// What is read, if storage is told ahead.
    path: Option<Box<Path>>,
    /// Blocks side by side whose rows are visited together, and where rows start in them.
    blocks: Vec<(Worker<'r, T>, Vec<usize>)>,
}

impl<'r, T: Copy + Send + Sync> RowReader<'r, T> {
    /// How many elements a block should have.
    pub(crate) fn block_size(&self) -> usize {
        match &self.rows.strided {
            _ if self.direct || self.rows.runs => 8 * TILE,
            _ if self.rows.windows.is_some() => self.rows.window().unwrap_or_default(),
            Some(_) if !self.reads_across() => 2 * TILE,
            _ => 16 * TILE,
        }
    }

    /// Whether some operand lies closer together across rows than along them, so that blocks of
    /// several rows cost less.
    pub(crate) fn reads_across(&self) -> bool {
        let Some(leaves) = &self.rows.strided else {
            return self.rows.is_across();
        };
        leaves.iter().any(|leaf| {
            let [.., across, along] = leaf.strides.as_slice() else {
                return false;
            };
            *across != 0 && across.unsigned_abs() < along.unsigned_abs()
        })
    }

    /// The elements of some rows and columns.
    #[inline(never)]
    pub(crate) fn read(
        &mut self,
        rows: Range<usize>,
        columns: Range<usize>,
    ) -> Result<Block<'_, T>, Stop> {
        let width = columns.len();
        if self.direct {
            return self.read_in_place(rows, columns);
        }
        if let Some(window) = self.rows.window() {
            return self.read_window(rows, columns, window);
        }
        let count = rows.len() * width;
        let mut runs = Runs::new(&self.rows.shape, rows.clone());
        if let Some((run, index)) = runs.next()
            && run == rows.len()
        {
            let data = self.tile(run, &index, columns)?;
            return Ok(Block { data, columns: width });
        }
        let mut done = 0;
        let mut runs = Runs::new(&self.rows.shape, rows);
        while let Some((run, index)) = runs.next() {
            self.append(run, &index, columns.clone(), done, count)?;
            done += run * width;
        }
        Ok(Block { data: Data::Together(&self.block[..count]), columns: width })
    }

    /// Calls `visit` with the rows of a block, a few at a time and evaluated just before, and the number of the first.
    #[inline(never)]
    pub(crate) fn for_each_rows(
        &mut self,
        rows: Range<usize>,
        columns: Range<usize>,
        visit: VisitRows<'_, T>,
    ) -> Result<(), Stop> {
        let width = columns.len();
        let mut runs = Runs::new(&self.rows.shape, rows.clone());
        let first = runs.next().filter(|(run, _)| *run == rows.len());
        let Some((run, index)) =
            first.filter(|_| self.rows.strided.is_some() && !self.direct && width >= PART)
        else {
            if self.visit_side_by_side(rows.clone(), columns.clone(), visit)? {
                return Ok(());
            }
            let count = rows.len();
            let block = self.read(rows, columns)?;
            return visit_few(count, |row| block.row(row), visit);
        };
        self.bind(run, &index, columns)?;
        if self.worker.bound().row_in_memory(0, width).is_some() {
            let bound = self.worker.bound();
            let row = |row| bound.row_in_memory(row, width).unwrap_or_default();
            return visit_few(run, row, visit);
        }
        // A few rows at a time, which are in the nearest cache when they are visited.
        let together = (TOGETHER / width).max(1);
        for first in (0..run).step_by(together) {
            let count = together.min(run - first);
            match self.worker.rows(first, [count, width])? {
                (_, true) => return Err(Stop::Fault),
                (rows, false) => {
                    let mut few = [&rows[..0]; TOGETHER / PART];
                    let each = few.iter_mut().zip(rows.chunks_exact(width));
                    each.for_each(|(slot, row)| *slot = row);
                    visit(first, &few[..count])?;
                }
            }
        }
        Ok(())
    }

    /// Evaluates a tile of neighbouring rows.
    #[inline(never)]
    fn tile(
        &mut self,
        run: usize,
        index: &[usize],
        columns: Range<usize>,
    ) -> Result<Data<'_, T>, Stop> {
        let width = columns.len();
        let dense = self.bind(run, index, columns)?;
        if !dense && self.worker.bound().row_in_memory(0, width).is_some() {
            return Ok(Data::Bound(self.worker.bound()));
        }
        let sides = if dense { [1, run * width] } else { [run, width] };
        match self.worker.rows(0, sides)? {
            (_, true) => Err(Stop::Fault),
            (block, false) => Ok(Data::Together(block)),
        }
    }

    /// Binds the leaves to a tile of neighbouring rows; returns whether it is to be evaluated as one.
    fn bind(&mut self, run: usize, index: &[usize], columns: Range<usize>) -> Result<bool, Stop> {
        let width = columns.len();
        let dense = run > 1 && width < PART;
        self.bind_sides([run, width], dense, index, columns.start, |step, _| step)?;
        Ok(dense)
    }

    /// Binds the leaves to rows of some columns; `step` returns how far apart they are, given the steps to the next
    /// row and to the next column.
    #[inline(never)]
    fn bind_sides(
        &mut self,
        [rows, columns]: [usize; 2],
        dense: bool,
        index: &[usize],
        column: usize,
        step: impl Fn(isize, isize) -> isize,
    ) -> Result<(), Stop> {
        self.pieces = None;
        let straight = |stride| Steps { stride, table: None };
        let still = Place { base: 0, rows: straight(0), columns: straight(1), relocate: None };
        let mut places: SmallVec<[Place<'_>; 4]> = SmallVec::new();
        places.push(still);
        for leaf in self.rows.strided.iter().flatten() {
            let (base, across) = leaf.place(index, column);
            let along = leaf.strides.last().copied().unwrap_or(0);
            let rows = straight(step(across, along));
            places.push(Place { base, rows, columns: straight(along), ..still });
        }
        self.worker.bind(&Tile { rows, columns, dense, places: &places }, &mut 1)
    }

    /// Evaluates neighbouring rows to their part of a block of `count` elements.
    #[inline(never)]
    fn append(
        &mut self,
        run: usize,
        index: &[usize],
        columns: Range<usize>,
        done: usize,
        count: usize,
    ) -> Result<(), Stop> {
        let width = columns.len();
        let mut block = std::mem::take(&mut self.block);
        block.truncate(done);
        try_reserve_exact(&mut block, count - done)?;
        let rows = Block { data: self.tile(run, index, columns)?, columns: width };
        match rows.flat() {
            Some(all) => block.extend_from_slice(all),
            None => (0..run).for_each(|row| block.extend_from_slice(rows.row(row))),
        }
        self.block = block;
        Ok(())
    }
}
