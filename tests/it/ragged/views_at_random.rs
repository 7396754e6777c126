//! Views at random, mostly valid ones.

use super::chains::View;
use super::model::{Item, Model};
use crate::support::Random;
use lensor::Select;

/// A number around those that are possible.
fn near(limit: usize, random: &mut Random) -> isize {
    let (above, below) = (random.below(6) == 0, random.below(9) == 0);
    random.below(limit + 1 + usize::from(above)) as isize - isize::from(below)
}

pub(super) fn random_range(len: usize, random: &mut Random) -> Select {
    let step = match random.below(60) {
        0 => isize::MAX,
        1 => isize::MIN,
        k => [1, 1, 1, -1, 2, -2, 3][k % 7],
    };
    let end = |random: &mut Random| (random.below(2) == 0).then(|| near(len, random));
    let (start, stop) = (end(random), end(random));
    if random.below(80) == 0 {
        Select::between(start, stop, 0)
    } else {
        Select::between(start, stop, step)
    }
}

impl View {
    /// A view of a model, mostly a valid one.
    pub(super) fn random<T: Clone>(m: &Model<T>, random: &mut Random) -> Self {
        let rank = m.rank();
        let beyond = usize::from(random.below(20) == 0);
        let axis = random.below(rank + beyond);
        let lens = if axis < rank { m.lens(axis) } else { Vec::new() };
        let most = lens.iter().copied().max().unwrap_or(0);
        match random.below(17) {
            0..3 => {
                let count = random.below(rank + 1 + beyond);
                let selector = |k: usize, random: &mut Random| {
                    let least =
                        m.kinds.get(k).map_or(0, |_| m.lens(k).iter().copied().min().unwrap_or(0));
                    match random.below(8) {
                        0 => Select::Index(near(least.saturating_sub(1), random)),
                        1 => Select::List(
                            (0..random.below(4)).map(|_| random.below(least.max(1))).collect(),
                        ),
                        2 => Select::Reverse,
                        3 | 4 => random_range(least, random),
                        5 => {
                            Select::from_last(near(least.saturating_sub(1), random).unsigned_abs())
                        }
                        _ => Select::All,
                    }
                };
                Self::Select((0..count).map(|k| selector(k, random)).collect())
            }
            3 | 4 => Self::Clip(axis, random_range(most, random)),
            5 | 6 if axis < rank => {
                let (kinds, root) = (m.kinds[..=axis].to_vec(), &m.root);
                let extent = (random.below(6) == 0).then(|| random.below(3));
                let to_row = |root: &Item<T>, len: &mut dyn FnMut(usize) -> Vec<usize>| {
                    fn cut<T: Clone>(
                        item: &Item<T>,
                        depth: usize,
                        f: &mut dyn FnMut(usize) -> Vec<usize>,
                    ) -> Item<usize> {
                        match depth {
                            0 => Item::List(
                                f(item.list().len()).into_iter().map(Item::One).collect(),
                            ),
                            _ => Item::List(
                                item.list().iter().map(|item| cut(item, depth - 1, f)).collect(),
                            ),
                        }
                    }
                    cut(root, axis, len)
                };
                let wrong = random.below(12) == 0;
                if random.below(2) == 0 {
                    let root = to_row(root, &mut |len| {
                        let count =
                            extent.unwrap_or_else(|| if len == 0 { 0 } else { random.below(4) });
                        let most = if wrong { len + 1 } else { len.max(1) };
                        (0..count).map(|_| random.below(most)).collect()
                    });
                    let mut kinds = kinds;
                    kinds[axis] = extent;
                    return Self::Take(axis, Model { kinds, root });
                }
                let root = to_row(root, &mut |len| {
                    vec![0; if wrong { random.below(len + 2) } else { len }]
                });
                let wrongly_fixed = wrong && kinds[axis].is_some();
                let kinds = if wrongly_fixed { [&kinds[..axis], &[None]].concat() } else { kinds };
                Self::Keep(axis, Model { kinds, root }.map(|_| random.below(3) > 0))
            }
            7 => Self::Flip(axis),
            8 => Self::Rotate((0..rank).map(|_| random.below(9) as isize - 4).collect()),
            9 => {
                let mut order: Vec<usize> = (0..rank).collect();
                // Within blocks, or anyhow.
                let mut first = 0;
                for part in m.kinds.split(Option::is_none) {
                    random.shuffle(&mut order[first..first + part.len()]);
                    first += part.len() + 1;
                }
                if random.below(5) == 0 {
                    random.shuffle(&mut order);
                }
                Self::Transpose(order)
            }
            10 => Self::Move(axis, random.below(rank)),
            11 => Self::Swap(axis, random.below(rank)),
            12 => Self::Flatten(axis),
            13 => Self::AsFixed(axis),
            14 => Self::Insert(random.below(rank + 1 + beyond)),
            15 => Self::Remove(m.kinds.iter().position(|&kind| kind == Some(1)).unwrap_or(axis)),
            _ => Self::Slice(axis, random_range(lens.iter().copied().min().unwrap_or(0), random)),
        }
    }
}
