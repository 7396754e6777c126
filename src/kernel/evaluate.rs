//! Running plans: nests in halves on several threads, tile by tile, and box by box where storage is not memory.

use super::inner::{Fill, FillRow, Output, RowsMut, Target};
use super::plan::{
    Area, Blocking, Cuts, Loop, Nest, Operand, PerOperand, Plan, Reach, Relocate, Step, Supply,
    nested, plan,
};
use super::{Dest, Filled, GRAIN, PARALLEL, Pattern, STREAM_BYTES, Stop, Tile, join, simd, walk};
use crate::error::Error;
use crate::memory::{LINE, list};
use smallvec::{SmallVec, smallvec};
use std::borrow::Cow;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Something to evaluate, shared by the tasks that do so.
pub(crate) trait Source<T>: Sync {
    /// A worker of its own for one task.
    fn open(&self) -> Box<dyn TileSource<T> + '_>;
}

/// Evaluates tiles, one after another.
pub(crate) trait TileSource<T> {
    /// Has the elements of a box brought to memory, where they are not; tiles within it follow.
    fn load(&mut self, local: &mut Local<'_>) -> Result<(), Stop>;

    /// Tells storage in blocks which boxes come next.
    fn expect(&mut self, next: &mut dyn Iterator<Item = Local<'_>>);

    /// Evaluates a tile to its destination.
    fn fill(&mut self, tile: &Tile<'_>, dest: &mut Dest<'_, T>) -> Result<(), Stop>;
}

/// A box of a plan, some operands of which are replaced by copies.
#[derive(Debug)]
pub struct Local<'p> {
    pub(crate) nest: Nest,
    pub(crate) tables: Vec<Cow<'p, [usize]>>,
    pub(crate) relocates: PerOperand<Option<&'p dyn Relocate>>,
    pub(crate) supplies: PerOperand<Supply<'p>>,
}

impl<'p> Local<'p> {
    pub(crate) fn new(
        mut nest: Nest,
        tables: &'p [Cow<'_, [usize]>],
        operands: &'p [Operand<'_>],
    ) -> Self {
        nest.straighten(tables);
        Self {
            nest,
            tables: tables.iter().map(|table| Cow::Borrowed(&table[..])).collect(),
            relocates: operands.iter().map(|operand| operand.relocate).collect(),
            supplies: operands.iter().map(|operand| operand.supply).collect(),
        }
    }
}

impl<'p> Local<'p> {
    /// A box of one operand, which begins at an address, with the extents and strides of its loops.
    pub(crate) fn of_leaf(base: isize, sides: &[(usize, isize)], supply: Supply<'p>) -> Self {
        let step = |stride| Step { stride, table: None };
        let loops = sides
            .iter()
            .map(|&(extent, stride)| Loop { extent, steps: smallvec![step(0), step(stride)] });
        Self {
            nest: Nest::of_loops(loops, smallvec![0, base]),
            tables: Vec::new(),
            relocates: smallvec![None, None],
            supplies: smallvec![Supply::Memory, supply],
        }
    }

    /// Whether an operand lies in one block.
    pub(crate) fn is_in_one_block(&self, k: usize) -> bool {
        match self.supplies[k] {
            Supply::Blocks(grid) => Area::new(grid, &self.nest, k, &self.tables)
                .is_some_and(|area| area.only_block(grid).is_some()),
            _ => false,
        }
    }

    /// See [`Area::tile`].
    pub(crate) fn tile_of_block(&self, k: usize) -> Option<[usize; 2]> {
        let Supply::Blocks(grid) = self.supplies[k] else { return None };
        Area::new(grid, &self.nest, k, &self.tables)?.tile(grid)
    }

    /// See [`Area::comes_back`].
    pub(crate) fn comes_back(&self, k: usize) -> Option<(usize, usize)> {
        let Supply::Blocks(grid) = self.supplies[k] else { return None };
        Area::new(grid, &self.nest, k, &self.tables)?.comes_back(grid, &self.nest)
    }

    /// Lowest address of an operand.
    pub(crate) fn lowest(&self, k: usize) -> usize {
        let all: SmallVec<[usize; 4]> = (0..self.nest.loops.len()).collect();
        (self.nest.bases[k] + self.lowest_along(k, &all)) as usize
    }

    /// From the lowest to the highest address of an operand along a loop, before they are relocated.
    pub(crate) fn reach_along(&self, k: usize, l: usize) -> usize {
        let own = &self.nest.loops[l];
        let Reach { low, high } = Reach::of(own, k, &self.tables);
        own.steps[k].stride.unsigned_abs().saturating_mul(high - low)
    }

    /// The least that some loops add to the address of an operand.
    pub(crate) fn lowest_along(&self, k: usize, loops: &[usize]) -> isize {
        let least = |&l: &usize| {
            let own = &self.nest.loops[l];
            let reach = Reach::of(own, k, &self.tables);
            let ends = [reach.low, reach.high].map(|end| own.steps[k].stride * end as isize);
            ends[0].min(ends[1])
        };
        loops.iter().map(least).sum()
    }

    /// Whether no two indexes of the nest share an address of an operand. Addresses from `len` on count as shared
    /// where strides do not nest.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub(crate) fn is_injective(&self, k: usize, len: usize) -> Result<bool, Error> {
        if self.nest.is_nested(k, &self.tables) {
            return Ok(true);
        }
        let all: SmallVec<[usize; 4]> = (0..self.nest.loops.len()).collect();
        let mut is_free = list(std::iter::repeat_n(true, len))?;
        let mut take = |address: usize| is_free.get_mut(address).is_some_and(std::mem::take);
        Ok(self.addresses(k, &all)?.into_iter().all(&mut take))
    }

    /// Which of the `len` addresses of an operand are those of indexes of the nest.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub(crate) fn places(&self, k: usize, len: usize) -> Result<Vec<bool>, Error> {
        let all: SmallVec<[usize; 4]> = (0..self.nest.loops.len()).collect();
        let mut places = list(std::iter::repeat_n(false, len))?;
        for address in self.addresses(k, &all)? {
            if let Some(place) = places.get_mut(address) {
                *place = true;
            }
        }
        Ok(places)
    }

    /// Addresses of an operand along some loops, in their order, before they are relocated.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub(crate) fn addresses(&self, k: usize, loops: &[usize]) -> Result<Vec<usize>, Error> {
        let mut below = loops.iter().map(|&l| self.nest.loops[l].extent).product();
        let mut addresses = list(std::iter::repeat_n(self.nest.bases[k] as usize, below))?;
        for &l in loops {
            let own = &self.nest.loops[l];
            let step = own.steps[k];
            below /= own.extent;
            for (element, address) in addresses.iter_mut().enumerate() {
                let digit = element / below % own.extent;
                let position = step.table.map_or(digit, |t| self.tables[t.index][t.start + digit]);
                *address = address.wrapping_add_signed(step.stride.wrapping_mul(position as isize));
            }
        }
        Ok(addresses)
    }
}

/// An evaluation under way.
struct Running<'r, 'o, T> {
    source: &'r dyn Source<T>,
    operands: &'r [Operand<'o>],
    target: &'r Target<'r, T>,
    stream: bool,
    /// Elements of a task; there is only one if the output may be written twice.
    task: usize,
    /// Whether storage is told which boxes come next.
    tells: bool,
}

/// Evaluates `source` over `extents` into `out`, of which operand 0 says where each element goes.
///
/// # Errors
///
/// What the source reports, and [`Error::OutOfSpan`] if the output does not fit.
pub(crate) fn evaluate<T: Send>(
    source: &dyn Source<T>,
    extents: &[usize],
    operands: &[Operand<'_>],
    block: Blocking,
    out: Output<'_, T>,
) -> Result<Option<Filled>, Stop> {
    let plan = plan(extents, operands, block)?;
    let injective = operands.first().is_some_and(|output| is_nested(extents, output));
    evaluate_plan(source, &plan, operands, [injective, true], out)
}

/// Evaluates one tile by this thread, without a plan.
///
/// # Errors
///
/// As [`evaluate`].
pub(crate) fn evaluate_tile<T>(
    source: &dyn Source<T>,
    tile: &Tile<'_>,
    out: Output<'_, T>,
) -> Result<(), Stop> {
    source.open().fill(tile, &mut out.dest(tile)?)
}

/// Evaluates a plan whose output is `injective` or not, and `tells` storage of the boxes to come, or leaves that to others.
#[inline(never)]
pub(super) fn evaluate_plan<T: Send>(
    source: &dyn Source<T>,
    plan: &Plan<'_>,
    operands: &[Operand<'_>],
    [injective, tells]: [bool; 2],
    out: Output<'_, T>,
) -> Result<Option<Filled>, Stop> {
    let target = Target::new(out);
    let all: usize = plan.nests.iter().map(Nest::count).sum();
    let stream = injective && is_streamed::<T>(all.saturating_mul(size_of::<T>()));
    let task = |count| if injective { join::task_size(count, PARALLEL, GRAIN) } else { usize::MAX };
    let task_of_all = task(all);
    let mut running =
        Running { source, operands, target: &target, stream, task: task_of_all, tells };
    if operands.iter().all(|operand| operand.supply == Supply::Memory) {
        running.nests(&plan.tables, &plan.nests_to_run(injective))?;
        return Ok(target.filled(all).filter(|_| injective));
    }
    let mut tables = list(plan.tables.iter().map(|table| Cow::Borrowed(&table[..])))?;
    for nest in &plan.nests {
        running.task = task(nest.count());
        match Cuts::where_better(nest, operands, &mut tables)? {
            None => running.tiles(&tables, nest)?,
            Some(cuts) => running.boxes(&tables, &cuts, 0..cuts.count())?,
        }
    }
    Ok(target.filled(all).filter(|_| injective))
}

impl<T: Send> Running<'_, '_, T> {
    /// Evaluates nests, in halves as long as they are larger than a task.
    fn nests(&self, tables: &[Cow<'_, [usize]>], nests: &[&Nest]) -> Result<(), Stop> {
        let all: usize = nests.iter().map(|nest| nest.count()).sum();
        if nests.len() < 2 || all <= self.task {
            return nests.iter().try_for_each(|nest| self.tiles(tables, nest));
        }
        let (low, high) = nests.split_at(nests.len() / 2);
        let (a, b) = join::join(|| self.nests(tables, low), || self.nests(tables, high));
        a.and(b)
    }

    /// Evaluates one nest, in halves as long as they are larger than a task.
    fn tiles(&self, tables: &[Cow<'_, [usize]>], nest: &Nest) -> Result<(), Stop> {
        let halves = if nest.count() > self.task { nest.split() } else { None };
        if let Some((low, high)) = halves {
            // Each takes its half along: what one thread reads would share cache lines with what the other writes.
            let (a, b) =
                join::join(move || self.tiles(tables, &low), move || self.tiles(tables, &high));
            return a.and(b);
        }
        let relocates: PerOperand<_> = self.operands.iter().map(|own| own.relocate).collect();
        let _fence = FenceOnDrop(self.stream);
        self.walk(&mut *self.source.open(), nest, tables, &relocates)
    }

    /// Evaluates boxes of a nest, in halves as long as they are larger than a task.
    #[inline(never)]
    fn boxes(
        &self,
        tables: &[Cow<'_, [usize]>],
        cuts: &Cuts,
        numbers: Range<usize>,
    ) -> Result<(), Stop> {
        if numbers.len() > 1 && numbers.len().saturating_mul(cuts.average()) > self.task {
            let middle = numbers.start + numbers.len() / 2;
            let (a, b) = join::join(
                || self.boxes(tables, cuts, numbers.start..middle),
                || self.boxes(tables, cuts, middle..numbers.end),
            );
            return a.and(b);
        }
        let mut tiles = self.source.open();
        let _fence = FenceOnDrop(self.stream);
        for number in numbers.clone() {
            let local = |number| Local::new(cuts.box_at(number), tables, self.operands);
            if self.tells && (number - numbers.start).is_multiple_of(AHEAD / 2) {
                let end = numbers.end.min(number + AHEAD);
                tiles.expect(&mut (number..end).map(local));
            }
            let mut local = local(number);
            tiles.load(&mut local)?;
            self.walk(&mut *tiles, &local.nest, &local.tables, &local.relocates)?;
        }
        Ok(())
    }

    fn walk(
        &self,
        tiles: &mut (dyn TileSource<T> + '_),
        nest: &Nest,
        tables: &[Cow<'_, [usize]>],
        relocates: &[Option<&dyn Relocate>],
    ) -> Result<(), Stop> {
        self.target.check(nest, tables)?;
        let lead = if self.stream { self.target.lead(nest) } else { 0 };
        walk(nest, tables, relocates, lead, &mut |tile| {
            // SAFETY: the nest was checked above. Of the tasks of one evaluation none shares an element with
            // another if there is more than one: `task` is finite only where the output was found injective, by
            // `evaluate` or `Storing::boxes`, neither nests nor the halves or boxes of one share an index, and sources
            // that load a box leave operand 0 alone. Within a task one destination is alive at a time.
            #[allow(unsafe_code, reason = "the one call that shares an output")]
            let mut dest = unsafe { self.target.dest(tile, self.stream) };
            tiles.fill(tile, &mut dest)
        })
    }
}

/// Boxes that storage is told of before they are read.
pub(crate) const AHEAD: usize = 64;

/// Whether an output of so many bytes is written past the caches, if each slot is written once.
pub(super) fn is_streamed<T>(bytes: usize) -> bool {
    simd::streams() && size_of::<T>() <= LINE && bytes >= STREAM_BYTES
}

/// Evaluates rows of the tile that a cursor is bound to, from `first` on, which follow one another in `out` and fill
/// it.
///
/// # Errors
///
/// [`Stop::Fault`], and [`Error::OutOfSpan`] if the tile does not fill `out`.
pub(crate) fn fill_tile<T: Copy>(
    cursor: &dyn Fill<T>,
    first: usize,
    [rows, columns]: [usize; 2],
    out: &mut [MaybeUninit<T>],
) -> Result<Filled, Stop> {
    let len = out.len();
    match RowsMut::new(&mut *out, rows, columns, columns) {
        Some(mut to) if rows * columns == len => {
            if cursor.fill(first, false, &mut to).has_fault() {
                Err(Stop::Fault)
            } else {
                Ok(Filled::of(out))
            }
        }
        _ => Err(Error::OutOfSpan { span: 0..rows * columns, len }.into()),
    }
}

/// Evaluates a row into all of `out`.
#[inline]
pub(crate) fn fill_row<T: Copy>(
    row: &(impl FillRow<T> + ?Sized),
    out: &mut [MaybeUninit<T>],
) -> Result<Filled, Stop> {
    if row.fill_row(out).has_fault() { Err(Stop::Fault) } else { Ok(Filled::of(out)) }
}

/// Orders streamed stores before whatever comes after a task, also where that is an error or a panic.
pub(super) struct FenceOnDrop(pub(super) bool);

impl Drop for FenceOnDrop {
    fn drop(&mut self) {
        if self.0 {
            simd::fence();
        }
    }
}

/// Whether the strides of an operand nest, so that no two indexes share an address.
pub(crate) fn is_nested(extents: &[usize], operand: &Operand<'_>) -> bool {
    if extents.contains(&0) {
        return true;
    }
    let mut axes: SmallVec<[(usize, usize); 4]> = SmallVec::new();
    for (&extent, axis) in extents.iter().zip(&operand.axes).filter(|(extent, _)| **extent > 1) {
        let positions = match axis.pattern {
            Pattern::Linear => extent,
            Pattern::Cyclic { period, .. } if extent <= period => period,
            _ => return false,
        };
        axes.push((axis.stride.unsigned_abs(), positions));
    }
    nested(&mut axes)
}
