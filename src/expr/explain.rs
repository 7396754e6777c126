//! `explain`: what an evaluation would do, in words.

mod blocks;

pub(crate) use blocks::{blocks_at_once, blocks_in_words};

use super::eval::{blocking, tile_without_plan};
use super::node::{Node, Tree};
use super::prepared::Prepared;
use super::sparse;
use super::{Access, Expr, Lazy, box_shape};
use crate::error::Result;
use crate::kernel::{self, Operand, plan};
use crate::map::{self, AddressMap};
use crate::storage::Reader;
use crate::tensor::Tensor;
use itertools::Itertools;
use std::fmt;

/// How an expression would be evaluated, in a few lines. Print it with `{}`. Of operands that come in blocks it says how
/// many blocks there are and how often each is loaded, by one thread to new memory; or in which portions they are read, as
/// folds and what goes along an axis do in an order of their own.
///
/// ```
/// use lensor::prelude::*;
/// let a = Tensor::from_vec([64, 64], vec![0.0; 4096])?;
/// let text = (&a + &a.view().transpose([1, 0])?).explain()?.to_string();
/// assert!(text.contains("operand 2: direct") || text.contains("operand 2: packed"));
/// # Ok::<(), lensor::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    lines: Vec<String>,
    threads: usize,
}

impl Explanation {
    pub(crate) fn new(lines: Vec<String>, threads: usize) -> Self {
        Self { lines, threads }
    }

    /// The same below other lines.
    pub(crate) fn below(self, above: impl IntoIterator<Item = String>) -> Self {
        Self { lines: above.into_iter().chain(self.lines).collect(), threads: self.threads }
    }

    /// The same above other lines.
    pub(crate) fn above(mut self, below: impl IntoIterator<Item = String>) -> Self {
        self.lines.extend(below);
        self
    }

    /// What is done to what, how, by how many threads, and how many bytes are read and written.
    pub(crate) fn report(
        what: String,
        how: impl IntoIterator<Item = String>,
        threads: usize,
        [read, written]: [usize; 2],
    ) -> Self {
        let mut lines = vec![what];
        lines.extend(how);
        lines.push(format!("threads: {threads}"));
        lines.push(format!("bytes: {read} read, {written} written"));
        Self { lines, threads }
    }

    /// The lines: shape, loops, one for each operand, threads, bytes. Bytes are counted once where
    /// operands repeat elements. The wording is for people and may change.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    /// Most threads that would take part: 1 for small results, or without the feature `rayon`.
    pub fn threads(&self) -> usize {
        self.threads
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.lines.iter().format("\n"))
    }
}

impl<S: Reader> Tensor<S> {
    /// Says in a few lines how a copy of this view would be made.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if there is no memory for the tables of a plan.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// let kept = Tensor::full([100, 100], 1.0)?.explain()?;
    /// assert!(kept.to_string().contains("in memory"), "{kept}");
    /// let computed = lensor::generate::linspace(0.0, 1.0, 100)?.explain()?;
    /// assert!(computed.to_string().contains("read by its storage"), "{computed}");
    /// # Ok::<(), Error>(())
    /// ```
    pub fn explain(&self) -> Result<Explanation> {
        explain(&self.view())
    }
}

/// What it is, and how to compute it; computes nothing.
///
/// ```
/// use lensor::prelude::*;
/// let t = Tensor::full([2, 3], 1.0)?;
/// let text = (&t + 1.0).to_string();
/// assert_eq!(text, "elementwise expression of f64 [2, 3], not computed yet: `.eval()?` computes it");
/// # Ok::<(), Error>(())
/// ```
impl<E: Expr> fmt::Display for Lazy<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if E::IS_LEAF { "view" } else { "elementwise expression" };
        let element = std::any::type_name::<E::Elem>();
        match self.shape() {
            Ok(shape) => write!(f, "{what} of {element} {shape:?}, {NOT_COMPUTED}"),
            Err(error) => write!(f, "{what} of {element} without a result: {error}"),
        }
    }
}

/// Said of what prints without its elements.
pub(crate) const NOT_COMPUTED: &str = "not computed yet: `.eval()?` computes it";

/// Calls `visit` with the plan by which an expression would be evaluated to new memory, and its operands.
fn planned<T>(
    e: &dyn Node<T>,
    visit: &mut dyn FnMut(&plan::Plan<'_>, &[Operand<'_>]) -> Result<()>,
) -> Result<()> {
    let shape = e.shape()?;
    let out = AddressMap::row_major(&shape)?;
    let prepared = Prepared::new(e, &shape, &out);
    let stages = prepared.stages();
    let operands = prepared.operands(&stages);
    visit(&plan::plan(&prepared.shape, &operands, blocking(e, &out))?, &operands)
}

pub(super) fn explain<T>(e: &dyn Node<T>) -> Result<Explanation> {
    let shape = e.shape()?;
    let out = AddressMap::row_major(&shape)?;
    let prepared = Prepared::new(e, &shape, &out);
    let stages = prepared.stages();
    let operands = prepared.operands(&stages);
    let mut leaves = Vec::new();
    e.leaves(&mut |leaf| leaves.push((leaf.elem_bytes, leaf.access)));
    let (blocking, count) = (blocking(e, &out), out.count());
    let mut boxes = prepared.boxes();
    let whole = match boxes.count_left() {
        0 | 1 => plan::plan(&prepared.shape, &operands, blocking),
        _ => plan::plan_at_most(plan::MANY_NESTS, &prepared.shape, &operands, blocking),
    };
    let part = if whole.is_err() && boxes.count_left() > 1 { boxes.next() } else { None };
    let (plan, operands) = match &part {
        None => (whole?, operands),
        Some(ranges) => {
            let within = operands.iter().map(|operand| operand.within(ranges));
            let operands: kernel::PerOperand<_> = within.collect();
            let extents = box_shape(&prepared.shape, ranges);
            (plan::plan(&extents, &operands, blocking)?, operands)
        }
    };

    let element = std::any::type_name::<T>();
    let what =
        format!("{element} {shape:?}, {} of {count} elements", leaves_in_words(leaves.len()));
    let mut lines = Vec::new();
    if prepared.shape != shape {
        lines.push(format!("evaluated as {:?}: a reshape is cancelled", prepared.shape));
    }
    if let Some(ranges) = &part {
        let planned: usize = box_shape(&prepared.shape, ranges).iter().product();
        lines.push(format!("planned: the first {planned} elements, as all have very many nests"));
    }
    let by_entries = sparse::worthwhile(e, count);
    lines.extend(entries(e, by_entries));
    let tile = tile_without_plan(e, &out).filter(|_| !by_entries);
    if !by_entries {
        lines.push(tile.as_ref().map_or_else(|| loops(&plan), |tile| tile_in_words(tile.sides)));
    }
    let inner = plan.nests.first().and_then(|nest| nest.loops.last());
    let along = |k: usize| match &tile {
        Some(tile) => Some(tile.along[k]),
        None => inner.map(|l| (l.steps[k].stride, l.steps[k].table.is_some())),
    };
    for (k, (elem_bytes, access)) in leaves.iter().enumerate() {
        let how = match access {
            Access::Stored { .. } if by_entries => kind(access),
            Access::Blocks(grid) => blocks::in_words(&plan, &operands, k + 1, grid)?,
            _ => operand(along(k + 1), access, e.is_leaf()),
        };
        let stages = prepared.maps[k + 1].rest().len();
        let staged =
            if stages > 0 { format!(", through {} stages", stages + 1) } else { String::new() };
        let bytes = if *elem_bytes == 1 { "byte" } else { "bytes" };
        lines.push(format!("operand {}: {how}{staged}, {elem_bytes} {bytes} an element", k + 1));
    }
    if !by_entries {
        lines.extend(densely(e, count));
    }
    let largest = plan.nests.iter().map(|nest| nest.count()).max().unwrap_or(0);
    let largest = if part.is_some() { count } else { largest };
    let threads = if largest < kernel::PARALLEL { 1 } else { kernel::threads() };
    let read = if by_entries { bytes_of_entries(e) } else { bytes_read(e) };
    let written = size_of::<T>().saturating_mul(count);
    Ok(Explanation::report(what, lines, threads, [read, written]))
}

/// Bytes of the operands, counted once where elements are repeated.
pub(crate) fn bytes_read(e: &dyn Tree) -> usize {
    let mut bytes = 0_usize;
    e.leaves(&mut |leaf| {
        bytes = bytes.saturating_add(leaf.elem_bytes.saturating_mul(distinct(leaf.map)));
    });
    bytes
}

/// Bytes of all stored entries.
fn bytes_of_entries(e: &dyn Tree) -> usize {
    let mut bytes = 0_usize;
    e.leaves(&mut |leaf| {
        let entry = leaf.elem_bytes.saturating_add(size_of::<usize>());
        bytes = bytes.saturating_add(entry.saturating_mul(leaf.stored()));
    });
    bytes
}

/// What becomes of the stored entries, if all operands are sparse.
fn entries(e: &dyn Tree, by_entries: bool) -> Option<String> {
    let (stored, sparse) = sparse::stored_count(e);
    let mut operands = 0;
    e.leaves(&mut |_| operands += 1);
    let taken = match (operands, sparse) {
        (0, _) | (_, false) => return None,
        (1, _) => "visited in one pass",
        _ => "merged in one pass",
    };
    let dense = if by_entries {
        "a dense one is filled and written at them"
    } else {
        "a dense one reads every element"
    };
    Some(format!("entries: {stored} stored, {taken} for a sparse result; {dense}"))
}

/// Sparse operands that are read one element after another, though they have few entries.
pub(crate) fn densely(e: &dyn Tree, count: usize) -> Vec<String> {
    let (mut lines, mut number) = (Vec::new(), 0);
    e.leaves(&mut |leaf| {
        number += 1;
        if let Access::Stored { count: entries } = leaf.access
            && entries < count
        {
            let [all, entries] = [count as f64, entries as f64];
            lines.push(format!(
                "operand {number} is sparse and read densely: {all:.1e} elements for {entries:.1e} entries"
            ));
        }
    });
    lines
}

/// How many addresses a map reaches, or a few more where windows overlap.
fn distinct(map: &AddressMap) -> usize {
    let top = map.top();
    let along = (0..top.rank()).map(|axis| {
        let own = top.plain_axes()[axis];
        match top.pattern(axis) {
            _ if own.extent > 0 && own.stride == 0 => 1,
            map::Pattern::Cyclic { period, .. } => own.extent.min(*period),
            map::Pattern::Linear | map::Pattern::Listed(_) => own.extent,
        }
    });
    let span = map.span();
    along.fold(1, usize::saturating_mul).min(span.end - span.start)
}

fn leaves_in_words(count: usize) -> String {
    match count {
        1 => "1 operand".into(),
        n => format!("{n} operands"),
    }
}

fn tile_in_words(extents: [usize; 2]) -> String {
    let outer = usize::from(extents[0] == 1);
    format!("loops: {}, one tile without a plan", extents[outer..].iter().format(" x "))
}

fn loops(plan: &plan::Plan<'_>) -> String {
    let Some(nest) = plan.nests.first() else {
        return "loops: none, there are no elements".into();
    };
    let extents = match &nest.loops[..] {
        [] => "1".to_string(),
        loops => loops.iter().map(|l| l.extent).format(" x ").to_string(),
    };
    let [rows, columns] = nest.block;
    let blocks = match (nest.transposed, rows) {
        (true, _) => format!(", in blocks of {rows} x {columns}"),
        (false, 1) => String::new(),
        (false, _) => format!(", {rows} rows of {columns} at a time"),
    };
    match plan.nests.len() {
        1 => format!("loops: {extents}{blocks}"),
        n => format!("loops: {n} nests, the first {extents}{blocks}"),
    }
}

/// Where the elements of an operand are.
fn kind(access: &Access) -> String {
    match access {
        Access::Slice => "in memory".into(),
        Access::Read { .. } => "read by its storage".into(),
        Access::Blocks(_) => "read by its storage in blocks".into(),
        Access::Stored { count: 1 } => "sparse, 1 entry".into(),
        Access::Stored { count } => format!("sparse, {count} entries"),
    }
}

/// What becomes of an operand with this stride along rows, or a table there.
fn operand(along: Option<(isize, bool)>, access: &Access, copy: bool) -> String {
    let kind = kind(access);
    let Some((stride, listed)) = along else { return format!("direct, {kind}") };
    let why = match (access, listed, stride) {
        (Access::Read { .. } | Access::Blocks(_) | Access::Stored { .. }, ..) => {
            "packed because it is not in memory".to_string()
        }
        (_, true, _) => "packed because it is gathered by a list".to_string(),
        (_, false, 1) => return format!("direct, {kind}"),
        (_, false, 0) => return format!("held, one element a row, {kind}"),
        (_, false, stride) => format!("packed because its innermost stride is {stride}"),
    };
    if copy && *access == Access::Slice {
        why.replacen("packed", "copied element by element", 1)
    } else {
        format!("{why}, {kind}")
    }
}
