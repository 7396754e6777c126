//! What every view operation means, done by copying with plain index arithmetic.
//!
//! The oracle of the property tests. It shares no code with the library beyond the types that name
//! an operation, and prefers the obvious to the fast: each operation states the shape of its result
//! and where every element of it comes from. A model whose elements are addresses is the oracle for maps.
#![allow(dead_code, reason = "the fuzz target `views` uses its own part")]

use lensor::{Align, Select, Shape};
use std::ops::Range;

/// Largest result that is copied out.
const MOST_COPIED: u128 = 100_000;

/// A row-major array.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Model<T> {
    pub(crate) shape: Vec<usize>,
    pub(crate) data: Vec<T>,
}

/// Why there is no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The operation is an error by the rules.
    Invalid,
    /// The operation is valid, its result too large to copy.
    TooLarge,
}
use Refusal::{Invalid, TooLarge};

pub(crate) type Copied<T> = Result<Model<T>, Refusal>;

/// The one rule on sizes: the nonzero extents multiply to at most `isize::MAX`.
pub(crate) fn shape_fits(shape: &[usize]) -> bool {
    let nonzero = shape.iter().filter(|&&extent| extent != 0);
    let product = nonzero.fold(1_u128, |n, &extent| n.saturating_mul(extent as u128));
    product <= isize::MAX as u128
}

/// Number of elements of a shape.
pub(crate) fn elements(shape: &[usize]) -> u128 {
    shape.iter().fold(1_u128, |n, &extent| n.saturating_mul(extent as u128))
}

/// Every index of a shape, row-major.
pub(crate) fn all_indexes(shape: &[usize]) -> Vec<Vec<usize>> {
    if shape.contains(&0) {
        return Vec::new();
    }
    let mut indexes = vec![Vec::new()];
    for &extent in shape {
        let mut longer = Vec::new();
        for index in &indexes {
            for digit in 0..extent {
                longer.push([index.as_slice(), &[digit]].concat());
            }
        }
        indexes = longer;
    }
    indexes
}

/// What a selector takes of one axis.
enum Picked {
    One(usize),
    Many(Vec<usize>),
}

impl Model<usize> {
    /// Every element is its own address.
    pub(crate) fn addresses(shape: &[usize]) -> Self {
        Self { shape: shape.to_vec(), data: (0..shape.iter().product()).collect() }
    }
}

impl<T: Clone> Model<T> {
    pub(crate) fn new(shape: &[usize], data: Vec<T>) -> Self {
        assert_eq!(data.len(), shape.iter().product::<usize>());
        Self { shape: shape.to_vec(), data }
    }

    pub(crate) fn rank(&self) -> usize {
        self.shape.len()
    }

    pub(crate) fn get(&self, index: &[usize]) -> &T {
        assert_eq!(index.len(), self.rank());
        let mut position = 0;
        for (digit, extent) in index.iter().zip(&self.shape) {
            assert!(digit < extent);
            position = position * extent + digit;
        }
        &self.data[position]
    }

    pub(crate) fn get_mut(&mut self, index: &[usize]) -> &mut T {
        let position =
            index.iter().zip(&self.shape).fold(0, |at, (digit, extent)| at * extent + digit);
        &mut self.data[position]
    }

    /// The array of `shape` whose element at an index is that of `self` at `source(index)`.
    fn gather(&self, shape: Vec<usize>, source: impl Fn(&[usize]) -> Vec<usize>) -> Copied<T> {
        if !shape_fits(&shape) {
            return Err(Invalid);
        }
        if elements(&shape) > MOST_COPIED {
            return Err(TooLarge);
        }
        let data =
            all_indexes(&shape).iter().map(|index| self.get(&source(index)).clone()).collect();
        Ok(Self { shape, data })
    }

    fn valid_axis(&self, axis: usize) -> Result<(), Refusal> {
        if axis < self.rank() { Ok(()) } else { Err(Invalid) }
    }

    pub(crate) fn transpose(&self, order: &[usize]) -> Copied<T> {
        let mut sorted = order.to_vec();
        sorted.sort();
        if sorted != (0..self.rank()).collect::<Vec<_>>() {
            return Err(Invalid);
        }
        let shape = order.iter().map(|&axis| self.shape[axis]).collect();
        self.gather(shape, |index| {
            let mut source = vec![0; order.len()];
            for (k, &axis) in order.iter().enumerate() {
                source[axis] = index[k];
            }
            source
        })
    }

    pub(crate) fn select(&self, selectors: &[Select]) -> Copied<T> {
        if selectors.len() > self.rank() {
            return Err(Invalid);
        }
        let mut picked = Vec::new();
        for (k, &extent) in self.shape.iter().enumerate() {
            picked.push(pick(selectors.get(k).unwrap_or(&Select::All), extent)?);
        }
        let shape = picked
            .iter()
            .filter_map(|picked| match picked {
                Picked::One(_) => None,
                Picked::Many(list) => Some(list.len()),
            })
            .collect();
        self.gather(shape, |index| {
            let mut digits = index.iter();
            picked
                .iter()
                .map(|picked| match picked {
                    Picked::One(digit) => *digit,
                    Picked::Many(list) => list[*digits.next().unwrap()],
                })
                .collect()
        })
    }

    pub(crate) fn slice(&self, axis: usize, range: Range<usize>) -> Copied<T> {
        self.valid_axis(axis)?;
        let mut shape = self.shape.clone();
        if range.start >= range.end {
            shape[axis] = 0;
        } else if range.end > self.shape[axis] {
            return Err(Invalid);
        } else {
            shape[axis] = range.end - range.start;
        }
        self.gather(shape, |index| {
            let mut source = index.to_vec();
            source[axis] += range.start;
            source
        })
    }

    /// Right-aligned; every block repeats a whole number of times.
    pub(crate) fn broadcast(&self, to: &[usize]) -> Copied<T> {
        let new = to.len().checked_sub(self.rank()).ok_or(Invalid)?;
        for (axis, &target) in to.iter().enumerate() {
            let source = if axis < new { 1 } else { self.shape[axis - new] };
            let valid = match (source, target) {
                (0, 0) => true,
                (0, _) | (_, 0) => false,
                (source, target) => target % source == 0,
            };
            if !valid {
                return Err(Invalid);
            }
        }
        self.gather(to.to_vec(), |index| {
            index[new..].iter().zip(&self.shape).map(|(digit, extent)| digit % extent).collect()
        })
    }

    /// NumPy's stretch: missing axes and extents of 1 go to anything, the others stay.
    pub(crate) fn stretch(&self, to: &[usize], align: Align) -> Copied<T> {
        let new = to.len().checked_sub(self.rank()).ok_or(Invalid)?;
        let first = if align == Align::Right { new } else { 0 };
        for (axis, &extent) in self.shape.iter().enumerate() {
            if extent != 1 && extent != to[first + axis] {
                return Err(Invalid);
            }
        }
        self.gather(to.to_vec(), |index| {
            self.shape
                .iter()
                .enumerate()
                .map(|(axis, &extent)| if extent == 1 { 0 } else { index[first + axis] })
                .collect()
        })
    }

    pub(crate) fn rotate(&self, shifts: &[isize]) -> Copied<T> {
        if shifts.len() != self.rank() {
            return Err(Invalid);
        }
        self.gather(self.shape.clone(), |index| {
            (0..index.len())
                .map(|k| {
                    let from = index[k] as i128 - shifts[k] as i128;
                    from.rem_euclid(self.shape[k] as i128) as usize
                })
                .collect()
        })
    }

    pub(crate) fn reshape(&self, to: &[usize]) -> Copied<T> {
        if !shape_fits(to) || elements(to) != self.data.len() as u128 {
            return Err(Invalid);
        }
        Ok(Self { shape: to.to_vec(), data: self.data.clone() })
    }

    pub(crate) fn split_axis(&self, axis: usize, extents: &[usize]) -> Copied<T> {
        self.valid_axis(axis)?;
        if !shape_fits(extents) || elements(extents) != self.shape[axis] as u128 {
            return Err(Invalid);
        }
        let mut shape = self.shape.clone();
        shape.splice(axis..axis + 1, extents.iter().copied());
        self.reshape(&shape)
    }

    pub(crate) fn merge_axes(&self, axes: Range<usize>) -> Copied<T> {
        if axes.start > axes.end || axes.end > self.rank() {
            return Err(Invalid);
        }
        let mut shape = self.shape.clone();
        let merged = shape[axes.clone()].iter().product();
        shape.splice(axes, [merged]);
        self.reshape(&shape)
    }

    pub(crate) fn flip(&self, axis: usize) -> Copied<T> {
        self.valid_axis(axis)?;
        self.gather(self.shape.clone(), |index| {
            let mut source = index.to_vec();
            source[axis] = self.shape[axis] - 1 - source[axis];
            source
        })
    }

    pub(crate) fn diagonal(&self, a: usize, b: usize) -> Copied<T> {
        self.valid_axis(a)?;
        self.valid_axis(b)?;
        if a == b {
            return Err(Invalid);
        }
        let kept: Vec<usize> = (0..self.rank()).filter(|&k| k != a && k != b).collect();
        let mut shape: Vec<usize> = kept.iter().map(|&k| self.shape[k]).collect();
        shape.push(self.shape[a].min(self.shape[b]));
        self.gather(shape, |index| {
            let mut source = vec![*index.last().unwrap(); self.rank()];
            for (k, &axis) in kept.iter().enumerate() {
                source[axis] = index[k];
            }
            source
        })
    }

    pub(crate) fn windows(&self, axis: usize, window: usize) -> Copied<T> {
        self.valid_axis(axis)?;
        if window == 0 || window > self.shape[axis] {
            return Err(Invalid);
        }
        let mut shape = self.shape.clone();
        shape[axis] -= window - 1;
        shape.push(window);
        self.gather(shape, |index| {
            let (within, outer) = index.split_last().unwrap();
            let mut source = outer.to_vec();
            source[axis] += within;
            source
        })
    }

    pub(crate) fn insert_axis(&self, axis: usize) -> Copied<T> {
        if axis > self.rank() {
            return Err(Invalid);
        }
        let mut shape = self.shape.clone();
        shape.insert(axis, 1);
        self.reshape(&shape)
    }

    pub(crate) fn remove_axis(&self, axis: usize) -> Copied<T> {
        self.valid_axis(axis)?;
        let mut shape = self.shape.clone();
        if shape.remove(axis) != 1 {
            return Err(Invalid);
        }
        self.reshape(&shape)
    }

    /// Applies an operation given as a value.
    pub(crate) fn apply(&self, operation: &lensor::arbitrary::ViewOp) -> Copied<T> {
        use lensor::arbitrary::ViewOp::*;
        match operation {
            Transpose(order) => self.transpose(order),
            Select(selectors) => self.select(selectors),
            Slice(axis, range) => self.slice(*axis, range.clone()),
            Broadcast(to) => self.broadcast(to),
            Stretch(to, align) => self.stretch(to, *align),
            Rotate(shifts) => self.rotate(shifts),
            Reshape(to) => self.reshape(to),
            SplitAxis(axis, extents) => self.split_axis(*axis, extents),
            MergeAxes(axes) => self.merge_axes(axes.clone()),
            Flip(axis) => self.flip(*axis),
            Diagonal(a, b) => self.diagonal(*a, *b),
            Windows(axis, window) => self.windows(*axis, *window),
            InsertAxis(axis) => self.insert_axis(*axis),
            RemoveAxis(axis) => self.remove_axis(*axis),
        }
    }

    /// Applies the operations of a chain, all of which must be valid.
    pub(crate) fn apply_all(&self, chain: &lensor::arbitrary::Chain) -> Self {
        assert_eq!(chain.shape(), &Shape::from(self.shape.clone()));
        chain.ops().iter().fold(self.clone(), |model, operation| {
            model.apply(operation).unwrap_or_else(|refusal| panic!("{operation:?}: {refusal:?}"))
        })
    }
}

/// The indexes a selector visits, one after another; the first outside makes it invalid.
fn pick(selector: &Select, extent: usize) -> Result<Picked, Refusal> {
    let inside = |index: i128| {
        if (0..extent as i128).contains(&index) { Ok(index as usize) } else { Err(Invalid) }
    };
    Ok(match selector {
        Select::All => Picked::Many((0..extent).collect()),
        Select::Reverse => Picked::Many((0..extent).rev().collect()),
        Select::Index(index) => Picked::One(inside(*index as i128)?),
        Select::IndexFromLast(back) => Picked::One(inside(extent as i128 - 1 - *back as i128)?),
        Select::List(list) => {
            Picked::Many(list.iter().map(|&i| inside(i as i128)).collect::<Result<_, _>>()?)
        }
        Select::Range { step: 0, .. } | Select::FromLast { step: 0, .. } => return Err(Invalid),
        Select::FromLast { stop, step } => {
            let last = extent as isize - 1;
            pick(&Select::stepped(last, *stop, *step), extent)?
        }
        Select::Mask(Ok(mask)) if mask.len() == extent => Picked::Many(mask.indexes().to_vec()),
        Select::Mask(_) => return Err(Invalid),
        Select::Range { start, stop, step } => {
            let step = *step as i128;
            let mut index = *start as i128;
            let before_stop = |index: i128| match stop {
                Some(stop) if step > 0 => index < *stop as i128,
                Some(stop) => index > *stop as i128,
                None if step > 0 => index < extent as i128,
                None => index > -1,
            };
            let mut visited = Vec::new();
            while before_stop(index) {
                visited.push(inside(index)?);
                index += step;
            }
            Picked::Many(visited)
        }
        #[cfg(feature = "roaring")]
        Select::Set(set) => {
            Picked::Many(set.iter().map(|i| inside(i as i128)).collect::<Result<_, _>>()?)
        }
        other => panic!("the model does not know {other:?}"),
    })
}
