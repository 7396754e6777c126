//! Kernels: from extents, strides and slices to elements. They know no tensors, maps or storage.
//!
//! A [`Source`] is anything that can be evaluated tile by tile. [`evaluate`] plans the loops, walks
//! the tiles, and hands each one to the source with the place to write to. Everything above a tile is
//! compiled once an element type; below it, an expression runs in registers, see [`Row`].

mod common;
mod evaluate;
mod fill;
mod filled;
pub(crate) mod gemm;
pub(crate) mod inner;
mod join;
pub(crate) mod plan;
mod ring;
mod rooms;
pub(crate) mod runs;
mod simd;
mod slots;
pub(crate) mod spans;
pub(crate) mod sparse;
mod store;
mod taps;
mod walk;

pub(crate) use common::Intersection;
pub use evaluate::Local;
pub(crate) use evaluate::{
    AHEAD, Source, TileSource, evaluate, evaluate_tile, fill_row, fill_tile,
};
pub(crate) use fill::{
    COMPONENT_SLOTS, Components, copy, copy_tile, fill_chunks, fill_halves, fill_parts, fill_slots,
};
pub use filled::Filled;
pub use inner::Dest;
pub(crate) use inner::{Fill, FillRow, Output};
pub(crate) use join::{at_once, in_halves, join, task_size, threads};
pub(crate) use plan::{
    Area, AxisPattern, Blocking, Cover, Cuts, Footprint, Grid, Nest, Operand, Pattern, PerOperand,
    Relocate, Run, Supply,
};
pub(crate) use ring::Ring;
pub(crate) use rooms::{Room, Rooms};
pub(crate) use simd::{
    Kernel, SPARE, copy_line, dispatch, dispatch_widest, prefetch_at, prefetch_row, prefetch_span,
    sort_u32, sort_u64,
};
pub(crate) use simd::{compensate_f32, compensate_f64};
use simd::{merge_u32, merge_u64};
pub(crate) use slots::{Columns, Queue, Slots};
pub(crate) use store::{Sink, Sinks, evaluate_to};
pub(crate) use taps::Taps;
pub(crate) use walk::walk;

use crate::error::{Error, StorageError};

/// Elements for which more than one thread is worth its start.
pub(crate) const PARALLEL: usize = 1 << 17;
/// Fewest elements of a parallel task.
pub(crate) const GRAIN: usize = 1 << 15;
/// Elements of a tile that goes through scratch memory.
pub(crate) const TILE: usize = 2048;
/// Elements of a row that are evaluated at once: rows are read in parts of at most as many.
pub(crate) const PART: usize = 64;
/// Largest elements, in bytes, of which several may lie on the stack: of larger ones a few dozen do not fit there.
pub(crate) const LARGE_BYTES: usize = 256;
/// Rows shorter than this are batched.
const SHORT_ROW: usize = 64;
/// Outputs from this size on, in bytes, are written past the caches where that can be.
const STREAM_BYTES: usize = 16 << 20;

/// Why an evaluation stopped.
#[derive(Debug)]
pub enum Stop {
    /// An element has no value; its index is still to be found.
    Fault,
    /// The caller stops it, for a reason that it knows: it has seen enough, or goes another way.
    Done,
    /// A storage failed.
    Storage {
        /// Which leaf, from 1; 0 is the destination.
        leaf: usize,
        /// What it reported.
        source: StorageError,
    },
    /// Something else went wrong. What is returned all the time stays short.
    Error(Box<Error>),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Error(Box::new(error))
    }
}

/// Why one element has no value.
#[derive(Debug, Clone, PartialEq)]
pub enum Fault {
    /// Division or remainder by an integer zero.
    Division,
    /// A result that does not fit its type.
    Overflow {
        /// Name of the type.
        target: &'static str,
    },
    /// A checked conversion failed.
    Cast {
        /// The value, rendered.
        value: String,
        /// Name of the target type.
        target: &'static str,
    },
}

/// Steps along one side of a tile: a stride, times the entries of a table if there is one.
#[derive(Debug, Clone, Copy)]
pub struct Steps<'p> {
    pub(crate) stride: isize,
    pub(crate) table: Option<&'p [usize]>,
}

impl Steps<'_> {
    #[inline(always)]
    pub(crate) fn at(&self, k: usize) -> isize {
        match self.table {
            Some(table) => self.stride.wrapping_mul(table[k] as isize),
            None => self.stride.wrapping_mul(k as isize),
        }
    }

    /// Whether there is no table and the stride is `stride`.
    #[inline(always)]
    pub(crate) fn is(&self, stride: isize) -> bool {
        self.table.is_none() && self.stride == stride
    }
}

/// Where one operand lies within a tile.
#[derive(Debug, Clone, Copy)]
pub struct Place<'p> {
    pub(crate) base: isize,
    pub(crate) rows: Steps<'p>,
    pub(crate) columns: Steps<'p>,
    pub(crate) relocate: Option<&'p dyn Relocate>,
}

impl Place<'_> {
    /// Address, or position to be relocated, of one element.
    #[inline(always)]
    pub(crate) fn at(&self, row: usize, column: usize) -> isize {
        self.base.wrapping_add(self.rows.at(row)).wrapping_add(self.columns.at(column))
    }
}

/// A block of elements: every operand's place in it, the output's first.
#[derive(Debug, Clone, Copy)]
pub struct Tile<'p> {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// Whether the tile is to be evaluated as one row: its rows are short.
    pub(crate) dense: bool,
    pub(crate) places: &'p [Place<'p>],
}

impl Tile<'_> {
    /// Rows and columns as the evaluation sees them.
    #[inline(always)]
    pub(crate) fn sides(&self) -> [usize; 2] {
        if self.dense { [1, self.rows * self.columns] } else { [self.rows, self.columns] }
    }
}

/// An expression at work: it resolves its leaves for a tile and then reads rows of it.
pub trait Cursor {
    /// Type of the elements.
    type Elem: Copy;
    /// One row of the tile bound last.
    type Row<'r>: Row<Elem = Self::Elem>
    where
        Self: 'r;

    /// Resolves the leaves for `tile`. Leaf `k` of the whole expression is operand `k` of the tile,
    /// and `next` is the first leaf of this one.
    #[doc(hidden)]
    fn bind(&mut self, tile: &Tile<'_>, next: &mut usize) -> Result<(), Stop>;

    /// A row of the tile bound last, of `columns` elements.
    #[doc(hidden)]
    fn row(&self, row: usize, columns: usize) -> Self::Row<'_>;

    /// Moves a whole tile to its destination, if this is a leaf that can do so without a detour.
    #[doc(hidden)]
    #[inline(always)]
    fn copy(
        &mut self,
        _tile: &Tile<'_>,
        _dest: &mut Dest<'_, Self::Elem>,
    ) -> Option<Result<(), Stop>> {
        None
    }

    /// A row of the tile bound last, if it is in memory already.
    #[doc(hidden)]
    #[inline]
    fn row_in_memory(&self, _row: usize, _columns: usize) -> Option<&[Self::Elem]> {
        None
    }

    /// The memory that the elements lie in, if this is a leaf in memory and nothing else.
    #[doc(hidden)]
    fn slice(&self) -> Option<&[Self::Elem]> {
        None
    }

    /// The fault of the only element of `tile`, if it has one.
    #[doc(hidden)]
    fn fault(&mut self, tile: &Tile<'_>, next: &mut usize) -> Result<Option<Fault>, Stop>;
}

/// The rows of a cursor.
pub(crate) type RowOf<'r, C> = <C as Cursor>::Row<'r>;

/// One row of an expression, evaluated in registers.
pub trait Row: Sized {
    /// Type of the elements.
    type Elem: Copy;
    /// Whether an element may have no value.
    const FAULTS: bool;

    /// The part of at most 64 elements (`PART`) from `start` on; elements are read from parts only.
    fn part(&self, start: usize, columns: usize) -> Self;

    /// Asks for the memory of element `column` and its neighbours, if there is any; without a column, for what is read
    /// a little later if rows follow one another for long, as many lines as this part has.
    fn prefetch(&self, _column: Option<usize>) {}

    /// Element `column`.
    fn get(&self, column: usize) -> Self::Elem;

    /// Element `column`, and whether it has a fault.
    fn checked(&self, column: usize) -> (Self::Elem, bool);
}
