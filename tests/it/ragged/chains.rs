//! Views as values: what they mean for lists in lists, and how the library is asked for them.

use super::model::{Item, Model, Refused, read};
use crate::support::Random;
use lensor::ragged::{LazyRagged, Ragged, RaggedExpr, Viewed};
use lensor::{Error, Reader, Result, Select};

/// A view.
#[derive(Debug, Clone)]
pub(super) enum View {
    Select(Vec<Select>),
    Slice(usize, Select),
    Clip(usize, Select),
    Take(usize, Model<usize>),
    Keep(usize, Model<bool>),
    Flip(usize),
    Rotate(Vec<isize>),
    Transpose(Vec<usize>),
    Move(usize, usize),
    Swap(usize, usize),
    Flatten(usize),
    AsFixed(usize),
    Insert(usize),
    Remove(usize),
}

/// Calls the method of a tensor or an expression.
macro_rules! call {
    ($self:expr, $of:expr, $random:expr) => {
        match $self {
            View::Select(all) => $of.select(all),
            View::Slice(axis, range) => $of.slice(*axis, range.clone()),
            View::Clip(axis, range) => $of.clip(*axis, range.clone()),
            View::Take(axis, picks) => $of.take(*axis, picks.build(77, $random)),
            View::Keep(axis, mask) => $of.keep(*axis, mask.build(true, $random)),
            View::Flip(axis) => $of.flip(*axis),
            View::Rotate(shifts) => $of.rotate(shifts),
            View::Transpose(order) => $of.transpose(order),
            View::Move(from, to) => $of.move_axis(*from, *to),
            View::Swap(a, b) => $of.swap_axes(*a, *b),
            View::Flatten(axis) => $of.flatten(*axis),
            View::AsFixed(axis) => $of.as_fixed(*axis),
            View::Insert(axis) => $of.insert_axis(*axis),
            View::Remove(axis) => $of.remove_axis(*axis),
        }
    };
}

impl View {
    pub(super) fn of<S>(&self, r: Ragged<S>, random: &mut Random) -> Result<Ragged<S>> {
        call!(self, r, random)
    }

    pub(super) fn of_lazy<E: RaggedExpr>(
        &self,
        e: LazyRagged<E>,
        random: &mut Random,
    ) -> Result<LazyRagged<Viewed<E>>> {
        call!(self, e, random)
    }
}

/// The indexes that a range visits, whether there are so many or not.
fn visited(selector: &Select, len: usize) -> Option<Vec<i128>> {
    let len = len as i128;
    let (start, stop, step) = match selector {
        Select::Reverse => (len - 1, -1, -1),
        Select::Range { start, stop, step } => {
            let end = if *step < 0 { -1 } else { len };
            (*start as i128, stop.map_or(end, |stop| stop as i128), *step as i128)
        }
        Select::FromLast { stop, step } => (len - 1, *stop as i128, *step as i128),
        _ => return None,
    };
    let (mut all, mut at) = (Vec::new(), start);
    while if step > 0 { at < stop } else { at > stop } {
        all.push(at);
        at += step;
    }
    Some(all)
}

fn step_of(selector: &Select) -> isize {
    match selector {
        Select::Range { step, .. } | Select::FromLast { step, .. } => *step,
        _ => 1,
    }
}

/// Whether the axis goes away.
fn is_index(selector: &Select) -> bool {
    matches!(selector, Select::Index(_) | Select::IndexFromLast(_))
}

fn inside(index: i128, len: usize) -> Option<usize> {
    usize::try_from(index).ok().filter(|&index| index < len)
}

impl<T: Clone> Model<T> {
    fn axis(&self, axis: usize) -> Refused<()> {
        let rank = self.rank();
        if axis < rank { Ok(()) } else { Err(Some(Error::Axis { axis, rank })) }
    }

    /// Replaces the lists of one axis, whose extent is another then.
    pub(super) fn with(
        &self,
        axis: usize,
        kinds: &[Option<usize>],
        mut f: impl FnMut(&[usize], &[Item<T>]) -> Refused<Item<T>>,
    ) -> Refused<Self> {
        let root = self.root.at(axis, &mut Vec::new(), &mut f)?;
        let mut all = self.kinds.clone();
        all.splice(axis..axis + 1, kinds.iter().copied());
        Ok(Self { kinds: all, root })
    }

    /// One selector, of an axis that has another number in errors.
    fn selected(&self, axis: usize, named: usize, selector: &Select, cuts: bool) -> Refused<Self> {
        if step_of(selector) == 0 {
            return Err(Some(Error::ZeroStep { axis: named }));
        }
        let lacks = |path: &[usize], index: i128, items: usize| match self.kinds[axis] {
            Some(extent) => Some(Error::Index { axis: named, index, extent }),
            None => Some(Error::RowIndex { index, row: path.to_vec(), axis: named, items }),
        };
        // On a fixed axis the extent alone decides.
        let pick = |path: &[usize], len: usize| -> Refused<Vec<usize>> {
            let all: Vec<i128> = match selector {
                Select::All => (0..len as i128).collect(),
                Select::Index(index) => vec![*index as i128],
                Select::IndexFromLast(back) => vec![len as i128 - 1 - *back as i128],
                Select::List(list) => list.iter().map(|&index| index as i128).collect(),
                range => visited(range, len).unwrap(),
            };
            let cuts = cuts && self.kinds[axis].is_none();
            let all = all.into_iter().filter(|&index| !cuts || inside(index, len).is_some());
            all.map(|index| inside(index, len).ok_or_else(|| lacks(path, index, len))).collect()
        };
        let (kinds, drops) = match (selector, self.kinds[axis]) {
            (one, kind) if is_index(one) => {
                if let Some(extent) = kind {
                    pick(&[], extent)?;
                }
                (vec![], true)
            }
            (_, Some(extent)) => (vec![Some(pick(&[], extent)?.len())], false),
            (Select::List(list), None) => (vec![Some(list.len())], false),
            (_, None) => (vec![None], false),
        };
        self.with(axis, &kinds, |path, list| {
            let picked = pick(path, list.len())?;
            Ok(match drops {
                true => list[picked[0]].clone(),
                false => Item::List(picked.iter().map(|&k| list[k].clone()).collect()),
            })
        })
    }

    /// Holds what goes with the rows of an axis against the axes in front.
    fn front<U: Clone>(&self, axis: usize, other: &Model<U>) -> Refused<()> {
        self.axis(axis)?;
        if self.kinds[axis].is_some() {
            return Err(Some(Error::FixedAxis { axis }));
        }
        if other.rank() != axis + 1 || other.kinds[..axis] != self.kinds[..axis] {
            return Err(None);
        }
        for (axis, _) in self.kinds[..axis].iter().enumerate().filter(|(_, kind)| kind.is_none()) {
            for ((row, own), (_, theirs)) in self.lists(axis).into_iter().zip(other.lists(axis)) {
                if own.len() != theirs.len() {
                    let (items, expected) = (theirs.len(), own.len());
                    return Err(Some(Error::RowLength { row, axis, items, expected }));
                }
            }
        }
        Ok(())
    }

    pub(super) fn view(&self, view: &View) -> Refused<Self> {
        match view {
            View::Select(all) => {
                if all.len() > self.rank() {
                    let (expected, found) = (self.rank(), all.len());
                    return Err(Some(Error::Rank { what: "selectors", expected, found }));
                }
                let (mut now, mut axis) = (self.clone(), 0);
                for (named, selector) in all.iter().enumerate() {
                    now = now.selected(axis, named, selector, false)?;
                    axis += usize::from(!is_index(selector));
                }
                Ok(now)
            }
            View::Slice(axis, range) => {
                self.axis(*axis)?;
                self.selected(*axis, *axis, range, false)
            }
            View::Clip(axis, range) => {
                self.axis(*axis)?;
                self.selected(*axis, *axis, range, true)
            }
            View::Take(axis, picks) => {
                self.front(*axis, picks)?;
                let all = picks.lists(*axis);
                let mut rows = all.iter();
                self.with(*axis, &[picks.kinds[*axis]], |path, list| {
                    let own = rows.next().unwrap().1.iter().map(|pick| match pick {
                        Item::One(index) => list.get(*index).cloned().ok_or_else(|| {
                            let (index, items) = (*index as i128, list.len());
                            Some(Error::RowIndex { index, row: path.to_vec(), axis: *axis, items })
                        }),
                        Item::List(_) => Err(None),
                    });
                    Ok(Item::List(own.collect::<Refused<_>>()?))
                })
            }
            View::Keep(axis, mask) => {
                self.front(*axis, mask)?;
                let all = mask.lists(*axis);
                let mut rows = all.iter();
                self.with(*axis, &[None], |path, list| {
                    let own = rows.next().unwrap().1;
                    if own.len() != list.len() {
                        let (items, expected) = (own.len(), list.len());
                        let row = path.to_vec();
                        return Err(Some(Error::RowLength { row, axis: *axis, items, expected }));
                    }
                    let kept = list.iter().zip(own).filter(|(_, keeps)| **keeps == Item::One(true));
                    Ok(Item::List(kept.map(|(item, _)| item.clone()).collect()))
                })
            }
            View::Flip(axis) => {
                self.axis(*axis)?;
                self.with(*axis, &self.kinds[*axis..*axis + 1], |_, list| {
                    Ok(Item::List(list.iter().rev().cloned().collect()))
                })
            }
            View::Rotate(shifts) => {
                if shifts.len() != self.rank() {
                    let (expected, found) = (self.rank(), shifts.len());
                    return Err(Some(Error::Rank { what: "shifts", expected, found }));
                }
                let turn = |now: Self, (axis, shift): (usize, &isize)| {
                    let kind = [now.kinds[axis]];
                    now.with(axis, &kind, |_, list| {
                        let from =
                            |k: usize| (k as i128 - *shift as i128).rem_euclid(list.len() as i128);
                        let all = (0..list.len()).map(|k| list[from(k) as usize].clone());
                        Ok(Item::List(all.collect()))
                    })
                };
                shifts.iter().enumerate().try_fold(self.clone(), turn)
            }
            View::Transpose(order) => self.transposed(order),
            View::Move(from, to) => {
                self.axis(*from)?;
                self.axis(*to)?;
                let mut order: Vec<usize> = (0..self.rank()).collect();
                let axis = order.remove(*from);
                order.insert(*to, axis);
                self.transposed(&order)
            }
            View::Swap(a, b) => {
                self.axis(*a)?;
                self.axis(*b)?;
                let mut order: Vec<usize> = (0..self.rank()).collect();
                order.swap(*a, *b);
                self.transposed(&order)
            }
            View::Flatten(axis) => {
                self.axis(*axis)?;
                let axis = *axis;
                let Some(front) = axis.checked_sub(1) else {
                    return Err(Some(Error::FirstAxis { axis }));
                };
                let merged = match (self.kinds[front], self.kinds[axis]) {
                    (Some(a), Some(b)) => Some(a * b),
                    // All rows in one, whose number is known.
                    (Some(_), None) if front == 0 => Some(self.lens(axis).iter().sum()),
                    _ => None,
                };
                let mut now = self.with(front, &[merged], |_, list| {
                    Ok(Item::List(list.iter().flat_map(|item| item.list().to_vec()).collect()))
                })?;
                now.kinds.remove(axis);
                Ok(now)
            }
            View::AsFixed(axis) => {
                self.axis(*axis)?;
                let mut now = self.clone();
                if self.kinds[*axis].is_none() {
                    let all = self.lists(*axis);
                    let expected = all.first().map_or(0, |(_, list)| list.len());
                    if let Some((row, list)) = all.iter().find(|(_, list)| list.len() != expected) {
                        let (row, items) = (row.clone(), list.len());
                        return Err(Some(Error::RowLength { row, axis: *axis, items, expected }));
                    }
                    now.kinds[*axis] = Some(expected);
                }
                Ok(now)
            }
            View::Insert(axis) => {
                let rank = self.rank();
                if *axis > rank {
                    return Err(Some(Error::Axis { axis: *axis, rank }));
                }
                let alone = |item: &Item<T>| Item::List(vec![item.clone()]);
                let mut now = match axis.checked_sub(1) {
                    None => Self { kinds: self.kinds.clone(), root: alone(&self.root) },
                    Some(front) => self.with(front, &self.kinds[front..*axis], |_, list| {
                        Ok(Item::List(list.iter().map(alone).collect()))
                    })?,
                };
                now.kinds.insert(*axis, Some(1));
                Ok(now)
            }
            View::Remove(axis) => {
                self.axis(*axis)?;
                let axis = *axis;
                if let Some(extent) = self.kinds[axis].filter(|&extent| extent != 1) {
                    return Err(Some(Error::Removed { axis, extent }));
                }
                self.with(axis, &[], |path, list| match list {
                    [item] => Ok(item.clone()),
                    _ => {
                        let (row, items) = (path.to_vec(), list.len());
                        Err(Some(Error::RowLength { row, axis, items, expected: 1 }))
                    }
                })
            }
        }
    }
}

/// Some views one after another, with what is left in the end. Those that are refused are tried, and left out.
#[track_caller]
pub(super) fn chain<'s, S: Reader>(
    model: &Model<S::Elem>,
    r: &'s Ragged<S>,
    most: usize,
    random: &mut Random,
) -> (Model<S::Elem>, Ragged<&'s S>)
where
    S::Elem: PartialEq + std::fmt::Debug,
{
    let (model, shown, _) = recorded(model, r, most, random);
    (model, shown)
}

/// The same with the views themselves.
#[track_caller]
pub(super) fn recorded<'s, S: Reader>(
    model: &Model<S::Elem>,
    r: &'s Ragged<S>,
    most: usize,
    random: &mut Random,
) -> (Model<S::Elem>, Ragged<&'s S>, Vec<View>)
where
    S::Elem: PartialEq + std::fmt::Debug,
{
    let (mut model, mut shown, mut chain) = (model.clone(), r.view(), Vec::new());
    for _ in 0..random.below(most + 1) {
        let view = View::random(&model, random);
        let (expected, found) = (model.view(&view), view.of(shown.clone(), random));
        match (expected, found) {
            (Ok(expected), Ok(found)) => {
                chain.push(view);
                let lists = read(&found);
                assert!(lists == expected, "{model:?}\n{chain:?}\n{lists:?}\n{expected:?}");
                (model, shown) = (expected, found);
            }
            (Err(None), Err(_)) => {}
            (Err(Some(expected)), Err(found)) => {
                assert_eq!(found, expected, "{model:?}\n{chain:?} {view:?}");
            }
            (expected, found) => {
                let found = found.map(|found| found.form().map(|form| form.to_string()));
                panic!("{model:?}\n{chain:?} {view:?}\n{found:?}\n{expected:?}")
            }
        }
    }
    (model, shown, chain)
}
