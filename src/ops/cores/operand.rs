//! Operands that are read core by core.

use super::{ELEMENTS_AT_ONCE, MOST_ELEMENTS_AT_ONCE, product};
use crate::error::Result;
use crate::expr::{
    Access, Boxed, Expr, Lazy, TRANSPOSED, blocks_at_once, blocks_in_words, check_operand, erased,
    first_error, for_each_piece, lies_transposed, of_view, room, selectors,
};
use crate::map::{AddressMap, Select};
use crate::shape::{Align, Shape, collect_inline};
use crate::tensor::Tensor;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::ops::Range;

/// Elements of an operand that is evaluated once where its cores would be evaluated again and again.
const HELD: usize = 1 << 20;

/// Which axes of an operand are loop axes, and which are core axes.
#[derive(Debug, Clone, Default)]
pub struct Arrangement {
    /// All axes: those of the loop, then the core axes that it has.
    pub(crate) order: SmallVec<[usize; 4]>,
    /// Number of loop axes.
    pub(crate) loops: usize,
    /// Core extents, 1 for an axis that it lacks.
    pub(crate) core: SmallVec<[usize; 4]>,
    /// Which core axes it lacks.
    pub(crate) lacks: SmallSet,
}

/// A set of numbers below 128.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SmallSet(u128);

impl SmallSet {
    pub(crate) fn contains(self, number: usize) -> bool {
        number < 128 && (self.0 >> number) & 1 == 1
    }

    /// Adds a number below 128.
    pub(crate) fn insert(&mut self, number: usize) {
        self.0 |= 1 << number;
    }

    pub(crate) fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl Arrangement {
    /// Lanes along an axis of a shape.
    pub(crate) fn lanes(shape: &Shape, axis: usize) -> Self {
        let loops = shape.rank() - 1;
        let order = collect_inline(shape.rank(), 0, |k| match k {
            k if k == loops => axis,
            k => k + usize::from(k >= axis),
        });
        let core = SmallVec::from_slice(&shape[axis..=axis]);
        Self { order, loops, core, lacks: SmallSet::default() }
    }

    /// Whether the axes stand in their order.
    pub(crate) fn is_in_order(&self) -> bool {
        self.order.iter().enumerate().all(|(k, axis)| k == *axis)
    }

    /// The core extents that it has.
    pub(crate) fn present(&self) -> impl Iterator<Item = usize> + Clone {
        let core = self.core.iter().copied().enumerate();
        core.filter(|(axis, _)| !self.lacks.contains(*axis)).map(|(_, extent)| extent)
    }

    /// The axes that are core axes.
    pub(crate) fn core_axes(&self) -> &[usize] {
        &self.order[self.loops..]
    }

    /// Elements of a core.
    pub(crate) fn elements(&self) -> Result<usize> {
        Shape::count_of(&self.core)
    }

    /// The same where they are known to be few enough to be counted.
    pub(crate) fn size(&self) -> usize {
        product(&self.core)
    }

    /// A map with as many loop axes first as a loop has, then the core axes, stretched to their extents.
    pub(crate) fn arranged(&self, map: AddressMap, rank: usize) -> Result<AddressMap> {
        let mut map = map.transpose(&self.order)?;
        for axis in (0..self.core.len()).filter(|axis| self.lacks.contains(*axis)) {
            map = map.insert_axis(self.loops + axis)?;
        }
        for _ in self.loops..rank {
            map = map.insert_axis(0)?;
        }
        let shape = map.shape();
        let extents = shape[..rank].iter().chain(&self.core).copied().collect();
        map.stretched(&extents, Align::Right)
    }
}

/// Where the cores of an operand lie.
#[derive(Debug, Clone, Default)]
pub struct Source {
    /// Extents of the loop axes, 1 where it stretches.
    pub(super) loops: SmallVec<[usize; 4]>,
    /// Elements of a core.
    pub(crate) elements: usize,
    /// Steps along the loop axes, and of the core axes, in memory.
    offset: isize,
    steps: SmallVec<[isize; 4]>,
    pub(crate) strides: SmallVec<[isize; 4]>,
    /// Whether cores are read where they lie.
    pub(crate) direct: bool,
    /// Elements that are evaluated at once, if they are not, where a core has fewer.
    pub(super) at_once: usize,
    /// Whether cores are row-major.
    pub(crate) packed: bool,
    /// Whether it was evaluated before all others, as its cores are needed again and again.
    pub(crate) held: bool,
}

impl Source {
    /// Where the first core of the box of these ranges begins.
    pub(super) fn start(&self, ranges: &[Range<usize>]) -> isize {
        if !self.direct {
            return 0;
        }
        let starts = ranges.iter().zip(&self.steps);
        let moved = starts.map(|(range, step)| step.wrapping_mul(range.start as isize));
        moved.fold(self.offset, isize::wrapping_add)
    }

    /// How far the next core along an axis is in the box of these ranges, which is row-major where it was packed.
    pub(super) fn step(&self, ranges: &[Range<usize>], axis: usize) -> isize {
        match (self.direct, self.loops[axis]) {
            (true, _) => self.steps[axis],
            (false, 1) => 0,
            (false, _) => {
                let later = axis + 1..self.loops.len();
                let cores = later.map(|axis| self.part(ranges, axis).len()).product::<usize>();
                (cores * self.elements) as isize
            }
        }
    }

    /// Whether calls along which cores are evenly apart have elements enough to be come to where they lie, or there are few
    /// calls.
    fn is_in_rows(&self, loops: &Shape) -> bool {
        /// Elements of such calls, and of all.
        const SHORT: usize = 64;
        const FEW: usize = 4096;
        let elements = |calls: usize| calls.saturating_mul(self.elements);
        if elements(product(loops)) <= FEW {
            return true;
        }
        let (mut calls, mut step) = (1_usize, None);
        for (&extent, &own) in
            loops.iter().zip(&self.steps).rev().filter(|(extent, _)| **extent > 1)
        {
            let even = |step: isize| step.checked_mul(calls as isize) == Some(own);
            if !step.is_none_or(even) {
                break;
            }
            step = step.or(Some(own));
            calls = calls.saturating_mul(extent);
        }
        elements(calls) >= SHORT
    }

    /// What the operand has for these ranges.
    fn selectors(&self, ranges: &[Range<usize>]) -> Vec<Select> {
        let parts: SmallVec<[_; 4]> =
            (0..ranges.len()).map(|axis| self.part(ranges, axis)).collect();
        selectors(&parts)
    }

    /// What the operand has of a loop axis for these ranges.
    fn part(&self, ranges: &[Range<usize>], axis: usize) -> Range<usize> {
        match (self.loops[axis], ranges.get(axis)) {
            (1, _) => 0..1,
            (_, Some(range)) => range.clone(),
            (extent, None) => 0..extent,
        }
    }

    /// Strides of row-major cores.
    pub(crate) fn packed(core: &[usize]) -> SmallVec<[isize; 4]> {
        let product = |stride: isize, extent: &usize| stride.wrapping_mul(*extent as isize);
        collect_inline(core.len(), 1, |axis| core[axis + 1..].iter().fold(1, product))
    }

    /// In row-major memory.
    fn packs(&mut self) {
        self.direct = false;
        self.steps = (0..self.loops.len()).map(|axis| self.step(&[], axis)).collect();
        (self.offset, self.direct, self.held) = (0, true, true);
    }
}

/// An operand whose cores are read.
#[derive(Debug)]
pub struct Operand<'e, T: Clone> {
    pub(super) source: Source,
    memory: Cow<'e, [T]>,
    /// What is evaluated otherwise.
    views: Option<Box<Views<'e, T>>>,
}

/// An operand as it was given, and arranged for the loop.
#[derive(Debug)]
struct Views<'e, T: Clone> {
    whole: Lazy<Boxed<'e, T>>,
    view: Lazy<Boxed<'e, T>>,
    arrangement: Arrangement,
}

/// One without cores.
impl<T: Clone> Default for Operand<'_, T> {
    fn default() -> Self {
        Self { source: Source::default(), memory: Cow::Borrowed(&[]), views: None }
    }
}

impl<'e, T: Copy + Send + Sync> Operand<'e, T> {
    /// An operand of the calls of a loop, see [`Self::set`].
    pub(crate) fn new<E: Expr<Elem = T>>(
        e: &'e E,
        arrangement: &Arrangement,
        loops: &Shape,
        fits: impl Fn(&[usize], &[isize], isize) -> bool,
    ) -> Result<Self> {
        let mut operand = Self::default();
        operand.set(e, arrangement, loops, fits)?;
        Ok(operand)
    }

    /// Makes one without cores an operand of the calls of a loop: in place, as it is large. `fits` returns whether cores
    /// of these extents and strides, with this step along the last axis of the loop, need not be row-major.
    #[inline(never)]
    pub(crate) fn set<E: Expr<Elem = T>>(
        &mut self,
        e: &'e E,
        arrangement: &Arrangement,
        loops: &Shape,
        fits: impl Fn(&[usize], &[isize], isize) -> bool,
    ) -> Result<()> {
        let shape = e.shape()?;
        let missing = loops.rank() - arrangement.loops;
        let source = &mut self.source;
        (source.elements, source.at_once) = (arrangement.elements()?, ELEMENTS_AT_ONCE);
        (source.direct, source.packed) = (true, true);
        source.loops = collect_inline(loops.rank(), 1, |k| match k.checked_sub(missing) {
            Some(own) => shape[arrangement.order[own]],
            None => 1,
        });
        source.strides = Source::packed(&arrangement.core);
        if source.elements == 0 || loops.contains(&0) {
            source.steps = SmallVec::from_elem(0, loops.rank());
            return Ok(());
        }
        if let Some((memory, map)) = e.in_memory()
            && let Some(axes) = map.linear_axes()
        {
            let stride = |axis: usize| if axes[axis].extent == 1 { 0 } else { axes[axis].stride };
            let own_step =
                |k: usize| k.checked_sub(missing).map_or(0, |k| stride(arrangement.order[k]));
            source.steps = collect_inline(loops.rank(), 0, own_step);
            source.offset = map.top().offset() as isize;
            let (core, lacks) = (&arrangement.core, arrangement.lacks);
            let mut present = arrangement.core_axes().iter();
            let strides: SmallVec<[isize; 4]> = collect_inline(core.len(), 0, |k| {
                let axis = if lacks.contains(k) { None } else { present.next() };
                axis.map_or(0, |&axis| stride(axis))
            });
            let mut each = core.iter().zip(&strides).zip(&source.strides);
            source.packed = each.all(|((extent, own), packed)| *extent == 1 || own == packed);
            let step = source.steps.last().copied().unwrap_or(0);
            let lies = source.packed || fits(core, &strides, step);
            if lies && source.is_in_rows(loops) {
                if !source.packed {
                    source.strides = strides;
                }
                self.memory = Cow::Borrowed(memory);
                return Ok(());
            }
        }
        (source.direct, source.packed) = (false, true);
        let (mut far, mut sparse) = (false, false);
        e.leaves(&mut |leaf| {
            far |= leaf.access != Access::Slice;
            sparse |= matches!(leaf.access, Access::Stored { .. });
        });
        let whole = erased(e);
        check_operand(&whole)?;
        let mut view = whole.clone();
        view.rewrite(&mut |map| {
            arrangement.arranged(map.stretched(&shape, Align::Right)?, loops.rank())
        })?;
        source.at_once = match far {
            true => room(&view, MOST_ELEMENTS_AT_ONCE).unwrap_or(MOST_ELEMENTS_AT_ONCE),
            false if lies_transposed(&view) => TRANSPOSED,
            false => ELEMENTS_AT_ONCE,
        };
        let stretched = source.loops.iter().zip(loops.iter()).any(|(own, joint)| own != joint);
        let calls = source.loops.iter().product::<usize>();
        let most = if sparse { 1 } else { (HELD / source.elements).max(1) };
        if stretched && calls <= most {
            source.packs();
        }
        let (whole, view, arrangement) = (Lazy(whole), Lazy(view), arrangement.clone());
        self.views = Some(Box::new(Views { whole, view, arrangement }));
        Ok(())
    }

    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    /// Evaluates all cores, if they are to be held.
    #[inline]
    pub(crate) fn hold(&mut self) -> Result<()> {
        match self.views.take_if(|_| self.source.held) {
            Some(views) => self.hold_all(&views),
            None => Ok(()),
        }
    }

    #[inline(never)]
    fn hold_all(&mut self, views: &Views<'e, T>) -> Result<()> {
        let way = |map| views.arrangement.arranged(map, self.source.loops.len());
        let held = views.view.eval().map_err(|error| first_error(&views.whole, error, &way))?;
        self.memory = Cow::Owned(held.into_storage());
        Ok(())
    }

    /// Evaluates the cores of a box of the loop, unless they are read where they lie.
    #[inline(never)]
    pub(crate) fn read(&self, buffer: &mut Vec<T>, ranges: &[Range<usize>]) -> Result<()> {
        let Some(Views { whole, view, arrangement }) = self.views.as_deref() else { return Ok(()) };
        let (rank, part) = (self.source.loops.len(), || self.source.selectors(ranges));
        let way = |map| arrangement.arranged(map, rank)?.select(part());
        refill(buffer, &view.clone().select(part())?).map_err(|error| of_view(whole, error, &way))
    }

    /// What is said of its blocks, if it has some, where cores are evaluated for these boxes of the loop, unless all are
    /// held.
    #[inline(never)]
    pub(crate) fn blocks_in_words(
        &self,
        name: Option<&str>,
        boxes: &mut dyn Iterator<Item = Vec<Range<usize>>>,
    ) -> Result<Vec<String>> {
        let Some(Views { view, .. }) = self.views.as_deref() else { return Ok(Vec::new()) };
        if self.source.held {
            return blocks_at_once(view, name);
        }
        let mut parts = boxes.map(|ranges| Ok(self.source.selectors(&ranges)));
        blocks_in_words(&view.0, name, Some(&mut parts), "evaluated in many parts")
    }

    /// Evaluates all that would be evaluated, for its first error.
    #[cold]
    pub(crate) fn try_all(&self) -> Result<()> {
        match self.views.as_deref() {
            Some(Views { whole, .. }) => for_each_piece(whole, HELD, |_| Ok(())),
            None => Ok(()),
        }
    }

    /// The memory in which cores lie and where the first begins, if they are read where they lie.
    pub(crate) fn first(&self) -> Option<(&[T], isize)> {
        self.source.direct.then(|| (&self.memory[..], self.source.start(&[])))
    }

    /// The memory in which cores lie.
    pub(crate) fn slice<'g>(&'g self, buffer: &'g [T]) -> &'g [T] {
        if self.source.direct { &self.memory } else { buffer }
    }
}

/// Evaluates `e` to the start of a buffer, which grows if it must.
#[inline(never)]
pub(super) fn refill<E: Expr>(buffer: &mut Vec<E::Elem>, e: &Lazy<E>) -> Result<()> {
    let shape = e.shape()?;
    if buffer.len() < shape.count()? {
        *buffer = e.to_vec()?;
        return Ok(());
    }
    e.assign_to(&mut Tensor::new(shape, buffer)?)
}
