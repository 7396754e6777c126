//! What every view operation means, done by copying. Shares nothing with the maps.

use super::ViewOp;
use crate::map::Select;
use crate::shape::{Align, Shape};

/// Shape and elements of a row-major array under a view operation that is valid for it, by copying.
///
/// Every operation states its shape and where each element comes from, and nothing else, so it can
/// serve as the oracle of a property test. Of an operation that is not valid it makes no sense, and
/// leaves out the elements that do not exist.
///
/// ```
/// use lensor::arbitrary::{ViewOp, copy_under};
/// let (shape, data) = copy_under(&ViewOp::Transpose(vec![1, 0]), &[2, 3], &[0, 1, 2, 3, 4, 5]);
/// assert_eq!(shape, [3, 2]);
/// assert_eq!(data, [0, 3, 1, 4, 2, 5]);
/// ```
pub fn copy_under<T: Copy>(operation: &ViewOp, shape: &[usize], data: &[T]) -> (Shape, Vec<T>) {
    let from = Array { shape, data };
    let same = || shape.to_vec();
    match operation {
        ViewOp::Transpose(order) => {
            let to = order.iter().map(|&axis| shape[axis]).collect();
            from.gather(to, |index, source| {
                order.iter().zip(index).for_each(|(&axis, &digit)| source[axis] = digit);
            })
        }
        ViewOp::Select(selectors) => from.select(selectors),
        ViewOp::Slice(axis, range) => {
            let mut to = same();
            to[*axis] = range.end.saturating_sub(range.start);
            from.gather(to, |index, source| {
                source.copy_from_slice(index);
                source[*axis] += range.start;
            })
        }
        ViewOp::Broadcast(to) => {
            let new = to.rank() - shape.len();
            from.gather(to.to_vec(), |index, source| {
                for (axis, digit) in source.iter_mut().enumerate() {
                    *digit = index[new + axis] % shape[axis];
                }
            })
        }
        ViewOp::Stretch(to, align) => {
            let new = if *align == Align::Right { to.rank() - shape.len() } else { 0 };
            from.gather(to.to_vec(), |index, source| {
                for (axis, digit) in source.iter_mut().enumerate() {
                    *digit = if shape[axis] == 1 { 0 } else { index[new + axis] };
                }
            })
        }
        ViewOp::Rotate(shifts) => from.gather(same(), |index, source| {
            for (axis, digit) in source.iter_mut().enumerate() {
                let moved = index[axis] as i128 - shifts[axis] as i128;
                *digit = moved.rem_euclid(shape[axis] as i128) as usize;
            }
        }),
        ViewOp::Reshape(to) => (to.clone(), data.to_vec()),
        ViewOp::SplitAxis(axis, extents) => {
            let to = [&shape[..*axis], extents, &shape[axis + 1..]].concat();
            (Shape::from(to), data.to_vec())
        }
        ViewOp::MergeAxes(axes) => {
            let merged = shape[axes.clone()].iter().product();
            let to = [&shape[..axes.start], &[merged], &shape[axes.end..]].concat();
            (Shape::from(to), data.to_vec())
        }
        ViewOp::Flip(axis) => from.gather(same(), |index, source| {
            source.copy_from_slice(index);
            source[*axis] = shape[*axis] - 1 - index[*axis];
        }),
        ViewOp::Diagonal(a, b) => {
            let kept: Vec<usize> = (0..shape.len()).filter(|k| k != a && k != b).collect();
            let mut to: Vec<usize> = kept.iter().map(|&axis| shape[axis]).collect();
            to.push(shape[*a].min(shape[*b]));
            from.gather(to, |index, source| {
                source.fill(index[kept.len()]);
                kept.iter().zip(index).for_each(|(&axis, &digit)| source[axis] = digit);
            })
        }
        ViewOp::Windows(axis, window) => {
            let mut to = same();
            to[*axis] = shape[*axis] + 1 - window;
            to.push(*window);
            from.gather(to, |index, source| {
                source.copy_from_slice(&index[..shape.len()]);
                source[*axis] += index[shape.len()];
            })
        }
        ViewOp::InsertAxis(axis) => {
            let mut to = same();
            to.insert(*axis, 1);
            (Shape::from(to), data.to_vec())
        }
        ViewOp::RemoveAxis(axis) => {
            let mut to = same();
            to.remove(*axis);
            (Shape::from(to), data.to_vec())
        }
    }
}

/// A row-major array.
struct Array<'a, T> {
    shape: &'a [usize],
    data: &'a [T],
}

impl<T: Copy> Array<'_, T> {
    /// The array of shape `to` whose element at `index` is the one at the index that `source` writes.
    fn gather(&self, to: Vec<usize>, source: impl Fn(&[usize], &mut [usize])) -> (Shape, Vec<T>) {
        let count = to.iter().product();
        let (mut index, mut from) = (vec![0; to.len()], vec![0; self.shape.len()]);
        let mut copied = Vec::with_capacity(count);
        for _ in 0..count {
            source(&index, &mut from);
            let digits = from.iter().zip(self.shape);
            let position = digits.fold(0, |position, (digit, extent)| position * extent + digit);
            copied.extend(self.data.get(position));
            for (digit, extent) in index.iter_mut().zip(&to).rev() {
                *digit = (*digit + 1) % extent;
                if *digit != 0 {
                    break;
                }
            }
        }
        (Shape::from(to), copied)
    }

    fn select(&self, selectors: &[Select]) -> (Shape, Vec<T>) {
        let taken: Vec<(Vec<usize>, bool)> = self
            .shape
            .iter()
            .enumerate()
            .map(|(axis, &extent)| digits(selectors.get(axis).unwrap_or(&Select::All), extent))
            .collect();
        let to = taken.iter().filter(|(_, drops)| !drops).map(|(list, _)| list.len()).collect();
        self.gather(to, |index, source| {
            let mut index = index.iter();
            for (digit, (list, drops)) in source.iter_mut().zip(&taken) {
                let which = if *drops { Some(&0) } else { index.next() };
                *digit = which.and_then(|&k| list.get(k)).copied().unwrap_or(usize::MAX);
            }
        })
    }
}

/// The digits that a selector visits one after another, and whether the axis goes away.
fn digits(selector: &Select, extent: usize) -> (Vec<usize>, bool) {
    match selector {
        Select::All => ((0..extent).collect(), false),
        Select::Reverse => ((0..extent).rev().collect(), false),
        Select::FromLast { stop, step } => {
            digits(&Select::stepped(extent as isize - 1, *stop, *step), extent)
        }
        Select::Index(index) => (vec![*index as usize], true),
        Select::IndexFromLast(back) => (vec![extent - 1 - back], true),
        Select::List(list) => (list.clone(), false),
        Select::Mask(Ok(mask)) => (mask.indexes().to_vec(), false),
        Select::Mask(Err(_)) => (Vec::new(), false),
        #[cfg(feature = "roaring")]
        Select::Set(set) => (set.iter().map(|digit| digit as usize).collect(), false),
        Select::Range { start, stop, step } => {
            let (step, end) = (*step as i128, extent as i128);
            let stop = stop.map_or(if step < 0 { -1 } else { end }, |stop| stop as i128);
            let mut digit = *start as i128;
            let mut visited = Vec::new();
            while (step > 0 && digit < stop) || (step < 0 && digit > stop) {
                visited.push(digit as usize);
                digit += step;
            }
            (visited, false)
        }
    }
}
