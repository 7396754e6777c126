//! Chains that end in a given shape, made from the last operation to the first.

use super::operation::{divisors, factors, permutation};
use super::{Chain, MAX_COUNT, MAX_RANK, ViewOp, below, one_in, pick, volume};
use crate::map::Select;
use crate::shape::Shape;
use quickcheck::{Arbitrary, Gen};

/// Longest chain made.
const MAX_OPERATIONS: usize = 5;

impl Chain {
    /// A random chain whose last view has the shape `to`.
    ///
    /// Shapes on the way keep to [`MAX_COUNT`] and [`MAX_RANK`], if `to` does. If it has more elements, there is no
    /// operation.
    ///
    /// # Panics
    ///
    /// If no tensor has that shape: for more than [`Shape::MAX_RANK`] axes or too many elements.
    pub fn arbitrary_to(g: &mut Gen, to: &Shape) -> Self {
        let none = Self::new(to.clone(), []).unwrap_or_else(|error| panic!("{to:?}: {error}"));
        if volume(to) > MAX_COUNT {
            return none;
        }
        loop {
            let mut shape = to.to_vec();
            let mut operations = Vec::new();
            for _ in 0..below(g, MAX_OPERATIONS.min(g.size()) + 1) {
                let Some((operation, before)) = last_operation(g, &shape) else { continue };
                if before.len() <= MAX_RANK && volume(&before) <= MAX_COUNT {
                    operations.push(operation);
                    shape = before;
                }
            }
            operations.reverse();
            // Laws test that this holds whatever the operations.
            if let Ok(chain) = Self::new(Shape::from(shape), operations)
                && chain.map().shape() == *to
            {
                return chain;
            }
        }
    }
}

/// An operation that gives `shape`, and the shape it gives it for; `None` if its kind does not suit.
fn last_operation(g: &mut Gen, shape: &[usize]) -> Option<(ViewOp, Vec<usize>)> {
    let rank = shape.len();
    let axis = below(g, rank);
    // A scalar is what some operations leave, and has no axis for the others.
    let kind = if rank == 0 { pick(g, &[7, 9, 14]) } else { below(g, 14) };
    let extent = shape.get(axis).copied().unwrap_or(1);
    let with = |extent: usize| {
        let mut before = shape.to_vec();
        before[axis] = extent;
        before
    };
    let on_axis = |selector: Select| {
        let mut selectors = vec![Select::All; axis];
        selectors.push(selector);
        ViewOp::Select(selectors)
    };
    match kind {
        0 | 1 => {
            let order = permutation(g, rank);
            let mut before = vec![0; rank];
            order.iter().zip(shape).for_each(|(&from, &extent)| before[from] = extent);
            Some((ViewOp::Transpose(order), before))
        }
        2 => Some((ViewOp::Flip(axis), shape.to_vec())),
        3 => {
            let shifts = shape.iter().map(|_| below(g, 15) as isize - 7).collect();
            Some((ViewOp::Rotate(shifts), shape.to_vec()))
        }
        4 => {
            let start = below(g, 3);
            let range = start..start + extent;
            (extent > 0).then(|| (ViewOp::Slice(axis, range), with(start + extent + below(g, 2))))
        }
        5 => {
            let step: isize = pick(g, &[2, 3, -1, -2, -3]);
            let before = (extent * 3).saturating_sub(below(g, 3));
            let exact = before.div_ceil(step.unsigned_abs()) == extent;
            exact.then(|| (on_axis(Select::every(step)), with(before)))
        }
        6 => {
            let before = 1 + below(g, extent + 2);
            let list = (0..extent).map(|_| below(g, before)).collect();
            Some((on_axis(Select::List(list)), with(before)))
        }
        7 => {
            let mut before = shape.to_vec();
            let dropped = 1 + below(g, 3);
            before.insert(axis, dropped);
            Some((on_axis(Select::Index(below(g, dropped) as isize)), before))
        }
        8 => {
            let source: Vec<usize> = shape
                .iter()
                .map(|&extent| {
                    let divisors = divisors(extent);
                    if bool::arbitrary(g) { extent } else { pick(g, &divisors) }
                })
                .collect();
            let missing = source.iter().take_while(|&&extent| extent == 1).count();
            let before = source[below(g, missing + 1)..].to_vec();
            let fits = !shape.contains(&0) || before == shape;
            fits.then(|| (ViewOp::Broadcast(Shape::from(shape)), before))
        }
        9 | 10 => {
            let before = factors(g, shape.iter().product(), MAX_RANK);
            Some((ViewOp::Reshape(Shape::from(shape)), before))
        }
        11 if extent == 1 => {
            let mut before = shape.to_vec();
            before.remove(axis);
            Some((ViewOp::InsertAxis(axis), before))
        }
        12 if rank >= 2 && axis + 1 < rank => {
            let window = shape[rank - 1];
            let mut before = with((extent + window).checked_sub(1)?);
            before.pop();
            (extent > 0 && window > 0).then_some((ViewOp::Windows(axis, window), before))
        }
        13 => {
            let last = shape[rank - 1];
            let mut before = shape[..rank - 1].to_vec();
            before.push(last);
            before.push(if one_in(g, 2) { last + 1 } else { last });
            Some((ViewOp::Diagonal(rank - 1, rank), before))
        }
        _ => {
            let mut before = shape.to_vec();
            before.insert(axis, 1);
            Some((ViewOp::RemoveAxis(axis), before))
        }
    }
}
