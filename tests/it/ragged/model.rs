//! Lists in lists, and what every operation means for them: the obvious, one item at a time.

use crate::support::Random;
use lensor::ragged::{DeferredRagged, Extent, Offsets, Ragged, RaggedCompute};
use lensor::{Error, Reader, Result, Tensor};
use std::sync::Arc;

/// An element, or the items along an axis.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Item<T> {
    One(T),
    List(Vec<Item<T>>),
}

/// The extent of every axis, nothing where rows differ; and the items.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Model<T> {
    pub(super) kinds: Vec<Option<usize>>,
    pub(super) root: Item<T>,
}

/// Why there is no result; nothing if any error will do.
pub(super) type Refused<T> = Result<T, Option<Error>>;

impl<T: Clone> Item<T> {
    #[track_caller]
    pub(super) fn list(&self) -> &[Item<T>] {
        match self {
            Self::List(list) => list,
            Self::One(_) => panic!("an element has no items"),
        }
    }

    fn each_list<'i>(
        &'i self,
        depth: usize,
        path: &mut Vec<usize>,
        visit: &mut impl FnMut(&[usize], &'i [Item<T>]),
    ) {
        if depth == 0 {
            return visit(path, self.list());
        }
        for (k, item) in self.list().iter().enumerate() {
            path.push(k);
            item.each_list(depth - 1, path, visit);
            path.pop();
        }
    }

    fn leaves(&self, to: &mut Vec<T>) {
        match self {
            Self::One(x) => to.push(x.clone()),
            Self::List(list) => list.iter().for_each(|item| item.leaves(to)),
        }
    }

    pub(super) fn map<U>(&self, f: &mut impl FnMut(&T) -> U) -> Item<U> {
        match self {
            Self::One(x) => Item::One(f(x)),
            Self::List(list) => Item::List(list.iter().map(|item| item.map(f)).collect()),
        }
    }

    /// Replaces the lists of one axis.
    pub(super) fn at<E>(
        &self,
        depth: usize,
        path: &mut Vec<usize>,
        f: &mut impl FnMut(&[usize], &[Item<T>]) -> Result<Item<T>, E>,
    ) -> Result<Self, E> {
        if depth == 0 {
            return f(path, self.list());
        }
        let mut all = Vec::new();
        for (k, item) in self.list().iter().enumerate() {
            path.push(k);
            all.push(item.at(depth - 1, path, f)?);
            path.pop();
        }
        Ok(Self::List(all))
    }
}

impl<T: Clone> Model<T> {
    pub(super) fn rank(&self) -> usize {
        self.kinds.len()
    }

    pub(super) fn leaves(&self) -> Vec<T> {
        let mut all = Vec::new();
        self.root.leaves(&mut all);
        all
    }

    pub(super) fn map<U>(&self, mut f: impl FnMut(&T) -> U) -> Model<U> {
        Model { kinds: self.kinds.clone(), root: self.root.map(&mut f) }
    }

    /// Every list along an axis, with one index for each axis in front.
    pub(super) fn lists(&self, axis: usize) -> Vec<(Vec<usize>, &[Item<T>])> {
        let mut all = Vec::new();
        self.root
            .each_list(axis, &mut Vec::new(), &mut |path, list| all.push((path.to_vec(), list)));
        all
    }

    /// The length of every list along an axis.
    pub(super) fn lens(&self, axis: usize) -> Vec<usize> {
        self.lists(axis).iter().map(|(_, list)| list.len()).collect()
    }

    pub(super) fn vars(&self) -> Vec<usize> {
        (0..self.rank()).filter(|&axis| self.kinds[axis].is_none()).collect()
    }

    /// The extents, if no axis is var.
    pub(super) fn shape(&self) -> Option<Vec<usize>> {
        self.kinds.iter().copied().collect()
    }

    pub(super) fn transposed(&self, order: &[usize]) -> Refused<Self> {
        let rank = self.rank();
        let mut sorted = order.to_vec();
        sorted.sort();
        if sorted != (0..rank).collect::<Vec<_>>() {
            return Err(Some(Error::Permutation { order: order.to_vec(), rank }));
        }
        let to = |axis: usize| order.iter().position(|&k| k == axis).unwrap();
        let crosses = |&var: &usize| (0..rank).any(|k| (k < var) != (to(k) < to(var)));
        if self.vars().iter().any(crosses) {
            return Err(None);
        }
        // Neighbours change places until all axes are in order.
        let (mut now, mut own) = (self.clone(), (0..rank).collect::<Vec<_>>());
        for round in 0..rank {
            for k in 0..rank.saturating_sub(1 + round) {
                if to(own[k]) > to(own[k + 1]) {
                    own.swap(k, k + 1);
                    let (first, second) = (now.kinds[k], now.kinds[k + 1]);
                    now = now.with(k, &[first], |_, list| {
                        let column =
                            |j: usize| list.iter().map(|row| row.list()[j].clone()).collect();
                        Ok(Item::List(
                            (0..second.unwrap()).map(|j| Item::List(column(j))).collect(),
                        ))
                    })?;
                    (now.kinds[k], now.kinds[k + 1]) = (second, first);
                }
            }
        }
        Ok(now)
    }

    pub(super) fn dense(shape: &[usize], data: &[T]) -> Self {
        fn nest<T: Clone>(shape: &[usize], data: &[T]) -> Item<T> {
            let Some((&extent, rest)) = shape.split_first() else {
                return Item::One(data[0].clone());
            };
            let each: usize = rest.iter().product();
            let part = |k: usize| nest(rest, &data[k * each..(k + 1) * each]);
            Item::List((0..extent).map(part).collect())
        }
        Self { kinds: shape.iter().copied().map(Some).collect(), root: nest(shape, data) }
    }
}

/// Lengths of rows, the long ones rarely.
fn length(random: &mut Random, left: usize) -> usize {
    let wanted = match random.below(60) {
        0..14 => 0,
        14..28 => 1,
        28..40 => 2,
        40..50 => 3,
        50..57 => 9,
        57..59 => 70,
        _ if random.below(6) == 0 => 5000,
        _ => 4,
    };
    if wanted > left { wanted % 3 } else { wanted }
}

/// What every axis is: up to three var axes with fixed ones before, between and behind.
pub(super) fn random_kinds(random: &mut Random) -> Vec<Option<usize>> {
    let mut kinds = Vec::new();
    let extent = |random: &mut Random| match random.below(36) {
        0 => 0,
        k => [2, 3, 1, 2, 3, 1, 2, 4][k % 8],
    };
    for var in 0..[1, 1, 1, 2, 2, 3, 0][random.below(7)] {
        let most = if var == 0 { [1, 1, 1, 2, 2, 0][random.below(6)] } else { random.below(2) };
        (0..most).for_each(|_| kinds.push(Some(extent(random))));
        kinds.push(None);
    }
    (0..[0, 0, 1, 2][random.below(4)]).for_each(|_| kinds.push(Some(extent(random))));
    kinds
}

impl Model<i64> {
    /// Of these axes, with elements that count from 1 on.
    pub(super) fn random_of(kinds: &[Option<usize>], random: &mut Random) -> Self {
        fn fill(
            kinds: &[Option<usize>],
            left: &mut usize,
            next: &mut i64,
            random: &mut Random,
        ) -> Item<i64> {
            let Some((kind, rest)) = kinds.split_first() else {
                *next += 1;
                return Item::One(*next);
            };
            let each: usize = rest.iter().map(|kind| kind.unwrap_or(1)).product();
            let count = kind.unwrap_or_else(|| length(random, *left / each.max(1)));
            *left -= (*left).min(count * each / 2);
            Item::List((0..count).map(|_| fill(rest, left, next, random)).collect())
        }
        let root = fill(kinds, &mut 6000, &mut 0, random);
        Self { kinds: kinds.to_vec(), root }
    }

    pub(super) fn random(random: &mut Random) -> Self {
        let kinds = random_kinds(random);
        Self::random_of(&kinds, random)
    }
}

/// A table of offsets of any of the types that there are.
pub(super) fn table(numbers: Vec<usize>, random: &mut Random) -> Offsets {
    fn of<T: TryFrom<usize>>(numbers: &[usize]) -> Vec<T> {
        numbers.iter().map(|&n| T::try_from(n).ok().unwrap()).collect()
    }
    match random.below(10) {
        0 => Offsets::new(of::<u32>(&numbers)).unwrap(),
        1 => Offsets::new(of::<u64>(&numbers)).unwrap(),
        2 => Offsets::new(of::<i32>(&numbers)).unwrap(),
        3 => Offsets::new(of::<i64>(&numbers)).unwrap(),
        4 => Offsets::shared(Arc::<[u32]>::from(of::<u32>(&numbers))).unwrap(),
        5 => Offsets::shared(of::<i64>(&numbers)).unwrap(),
        6 => Offsets::new(Arc::<[i64]>::from(of::<i64>(&numbers))).unwrap(),
        7 if numbers[0] == 0 => {
            Offsets::from_lengths(numbers.windows(2).map(|pair| pair[1] - pair[0])).unwrap()
        }
        _ => Offsets::new(numbers).unwrap(),
    }
}

/// The items of the last var axis, or all if there is none, somewhere in storage.
fn stored<T: Copy + Send + Sync>(
    shape: Vec<usize>,
    data: Vec<T>,
    random: &mut Random,
) -> Tensor<Vec<T>> {
    let t = Tensor::from_vec(shape, data).unwrap();
    if t.rank() == 0 || random.below(3) > 0 {
        return t;
    }
    // The same items over storage that has them in another order.
    let axis = random.below(t.rank());
    let turned = t.view().flip(axis).unwrap().to_vec().unwrap();
    Tensor::from_vec(t.shape(), turned).unwrap().flip(axis).unwrap()
}

impl<T: Copy + Send + Sync> Model<T> {
    /// The same as a tensor: by any table, in any place. What no row shows is `junk`.
    pub(super) fn build(&self, junk: T, random: &mut Random) -> Ragged<Vec<T>> {
        let vars = self.vars();
        let Some(&last) = vars.last() else {
            return stored(self.shape().unwrap(), self.leaves(), random).into_ragged();
        };
        let trailing: Vec<usize> =
            self.kinds[last + 1..].iter().map(|kind| kind.unwrap()).collect();
        let each: usize = trailing.iter().product();
        let mut levels: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
        // Items of the level above that lie before and behind those that rows show.
        let (mut before, mut behind, mut items) = (0, 0, 1);
        for (k, &axis) in vars.iter().enumerate() {
            let first = if k == 0 { 0 } else { vars[k - 1] + 1 };
            let fixed: Vec<usize> =
                self.kinds[first..axis].iter().map(|kind| kind.unwrap()).collect();
            let width: usize = fixed.iter().product();
            let lead = if k == 0 { fixed } else { [vec![before + items + behind], fixed].concat() };
            let mut lens: Vec<usize> = (0..before * width).map(|_| random.below(3)).collect();
            let junk_before: usize = lens.iter().sum();
            lens.extend(self.lens(axis));
            lens.extend((0..behind * width).map(|_| random.below(3)));
            items = self.lens(axis).iter().sum();
            let all: usize = lens.iter().sum();
            let start = if random.below(2) == 0 { 0 } else { random.below(4) };
            let mut numbers = vec![start];
            lens.iter().for_each(|len| numbers.push(numbers[numbers.len() - 1] + len));
            before = start + junk_before;
            behind =
                all - items - junk_before + if random.below(2) == 0 { 0 } else { random.below(4) };
            levels.push((lead, numbers));
        }
        let mut data = vec![junk; before * each];
        data.extend(self.leaves());
        data.resize((before + items + behind) * each, junk);
        let (lead, numbers) = levels.pop().unwrap();
        let extent = before + items + behind;
        let shape = [vec![extent], trailing].concat();
        let mut made = match random.below(3) {
            0 => scattered(lead, &numbers, &shape[1..], &data, junk, random),
            _ => Ragged::new(lead, table(numbers, random), stored(shape, data, random)).unwrap(),
        };
        while let Some((lead, numbers)) = levels.pop() {
            made = made.nest(lead, table(numbers, random)).unwrap();
        }
        made
    }
}

/// The rows anywhere, with gaps, by any step.
fn scattered<T: Copy + Send + Sync>(
    lead: Vec<usize>,
    numbers: &[usize],
    trailing: &[usize],
    data: &[T],
    junk: T,
    random: &mut Random,
) -> Ragged<Vec<T>> {
    let step = [1, 2, 3, -1, -2][random.below(5)];
    let (by, each) = (isize::unsigned_abs(step), trailing.iter().product::<usize>());
    let mut order: Vec<usize> = (0..numbers.len() - 1).collect();
    random.shuffle(&mut order);
    let (mut starts, mut lens) = (vec![random.below(5); order.len()], vec![0; order.len()]);
    let mut places = vec![junk; random.below(3) * each];
    for row in order {
        lens[row] = numbers[row + 1] - numbers[row];
        let Some(steps) = lens[row].checked_sub(1) else { continue };
        let first = places.len() / each.max(1);
        if each == 0 {
            starts[row] = if step > 0 { 0 } else { steps * by };
            continue;
        }
        places.resize(places.len() + (steps * by + 1) * each, junk);
        starts[row] = if step > 0 { first } else { first + steps * by };
        for k in 0..lens[row] {
            let (to, from) = (starts[row].wrapping_add_signed(k as isize * step), numbers[row] + k);
            places[to * each..][..each].copy_from_slice(&data[from * each..][..each]);
        }
        places.resize(places.len() + random.below(3) * each, junk);
    }
    let extent = match each {
        0 => numbers[numbers.len() - 1] * by + 9,
        each => places.len() / each,
    };
    let content = stored([&[extent], trailing].concat(), places, random);
    Ragged::from_views(lead, starts, lens, step, content).unwrap()
}

/// A tensor as lists, by its form and its elements in order.
pub(super) fn read<S: Reader>(r: &Ragged<S>) -> Model<S::Elem> {
    fn nest<T: Clone>(kinds: &[Extent], tables: &[Offsets], number: usize, data: &[T]) -> Item<T> {
        let Some((kind, rest)) = kinds.split_first() else {
            return Item::One(data[number].clone());
        };
        let (items, tables) = match kind {
            Extent::Fixed(extent) => (number * extent..(number + 1) * extent, tables),
            Extent::Var => (tables[0].row(number), &tables[1..]),
        };
        Item::List(items.map(|item| nest(rest, tables, item, data)).collect())
    }
    let (form, data) = (r.form().unwrap(), r.to_vec().unwrap());
    assert_eq!(
        (form.extents(), form.rank(), form.count()),
        (r.extents(), r.rank(), Ok(data.len()))
    );
    let tables: Vec<Offsets> =
        (0..form.rank()).filter_map(|axis| form.offsets(axis).ok().cloned()).collect();
    assert_eq!(tables.len(), form.var_axes());
    assert!(tables.iter().all(|table| table.rows() == 0 || table.row(0).start == 0));
    let kinds = r.extents().into_iter().map(|extent| match extent {
        Extent::Fixed(extent) => Some(extent),
        Extent::Var => None,
    });
    Model { kinds: kinds.collect(), root: nest(&r.extents(), &tables, 0, &data) }
}

/// The results of an operation, whose form is known without them; they are packed.
pub(super) fn evaluated<C: RaggedCompute>(
    operation: DeferredRagged<C>,
) -> Result<Ragged<Vec<C::Elem>>> {
    let (form, found) = (operation.form(), operation.eval());
    if let Ok(found) = &found {
        assert_eq!(form, found.form());
        assert_eq!(found.is_packed(), Ok(true));
    }
    found
}
