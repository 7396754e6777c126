//! Oracles and draws that several groups of laws share.

use crate::model::{Model, all_indexes};
use lensor::arbitrary::{Chain, ViewOp};
use lensor::map::{AxisMap, Layout, Pattern, Table};
use lensor::{AddressMap, Error, Index, Shape};
use quickcheck::{Arbitrary, Gen};
use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};

/// Addresses of a chain by the model, row-major.
pub(crate) fn oracle(chain: &Chain) -> Model<usize> {
    Model::addresses(chain.shape()).apply_all(chain)
}

/// All addresses of a map in row-major order of its indexes.
pub(crate) fn addresses(map: &AddressMap) -> Vec<usize> {
    all_indexes(&map.shape()).iter().map(|index| map.to_local(index).unwrap()).collect()
}

/// Whether two maps are one function, and equal where equality is complete: with one link each.
///
/// Several links may be written in several ways: reshaping can merge two of them, and reshaping back
/// cuts elsewhere.
pub(crate) fn alike(a: &AddressMap, b: &AddressMap) -> bool {
    let one_link = a.stages().len() == 1 && b.stages().len() == 1;
    a == b || (!one_link && a.shape() == b.shape() && addresses(a) == addresses(b))
}

pub(crate) fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Whether `map` inverts exactly: each address gives all its indexes, ascending, and no others.
pub(crate) fn inverts(map: &AddressMap) -> bool {
    let mut reached = BTreeMap::<usize, Vec<Index>>::new();
    for index in all_indexes(&map.shape()) {
        reached.entry(map.to_local(&index).unwrap()).or_default().push(index.into());
    }
    let end = reached.keys().next_back().map_or(0, |last| last + 1);
    (0..end.max(map.span().end) + 2).all(|address| {
        let expected = reached.get(&address).cloned().unwrap_or_default();
        map.to_global(address).collect::<Vec<_>>() == expected
    })
}

/// First axis such that two indexes that are 0 after it share an address.
pub(crate) fn first_shared_axis(map: &AddressMap) -> Option<usize> {
    let shape = map.shape();
    (0..shape.rank()).find(|&axis| {
        let prefix =
            all_indexes(&shape).into_iter().filter(|i| i[axis + 1..].iter().all(|&d| d == 0));
        let mut seen = BTreeSet::new();
        prefix.into_iter().any(|index| !seen.insert(map.to_local(&index).unwrap()))
    })
}

/// Whether `check_injective` says what trying all indexes says.
pub(crate) fn judges_injectivity(map: &AddressMap) -> bool {
    let expected = match first_shared_axis(map) {
        Some(axis) => Err(Error::NotInjective { axis }),
        None => Ok(()),
    };
    map.check_injective() == expected && map.is_injective() == expected.is_ok()
}

/// The strides that explain all addresses, if there are such.
pub(crate) fn strides_of(map: &AddressMap) -> Option<(usize, Vec<isize>)> {
    let shape = map.shape();
    let zero = vec![0; shape.rank()];
    let offset = map.to_local(&zero).ok()?;
    let strides: Vec<isize> = (0..shape.rank())
        .map(|axis| {
            let mut index = zero.clone();
            index[axis] = 1;
            map.to_local(&index).map_or(0, |address| address as isize - offset as isize)
        })
        .collect();
    all_indexes(&shape)
        .iter()
        .all(|index| {
            let sum: isize = index.iter().zip(&strides).map(|(&i, s)| i as isize * s).sum();
            map.to_local(index).unwrap() as isize == offset as isize + sum
        })
        .then_some((offset, strides))
}

/// The layout of one link that has these addresses, from tables alone.
///
/// A layout is a sum of one term an axis, so the addresses along each axis through index 0 fix it.
pub(crate) fn rebuilt(map: &AddressMap) -> Layout {
    let shape = map.shape();
    let zero = vec![0; shape.rank()];
    let Ok(origin) = map.to_local(&zero) else {
        return Layout::row_major(&shape).unwrap();
    };
    let mut offset = origin as isize;
    let axes: Vec<AxisMap> = (0..shape.rank())
        .map(|axis| {
            let along: Vec<isize> = (0..shape[axis])
                .map(|digit| {
                    let mut index = zero.clone();
                    index[axis] = digit;
                    map.to_local(&index).unwrap() as isize - origin as isize
                })
                .collect();
            let least = *along.iter().min().unwrap();
            offset += least;
            let table: Vec<usize> = along.iter().map(|c| (c - least) as usize).collect();
            AxisMap { extent: shape[axis], stride: 1, pattern: Pattern::Listed(Table::new(table)) }
        })
        .collect();
    Layout::new(offset, axes).unwrap()
}

pub(crate) fn below(g: &mut Gen, limit: usize) -> usize {
    usize::arbitrary(g) % limit.max(1)
}

/// Contribution of one digit, in a type that holds it.
pub(crate) fn contribution(axis: &AxisMap, digit: usize) -> i128 {
    let position = match &axis.pattern {
        Pattern::Linear => digit as u128,
        Pattern::Cyclic { period, shift, step } => {
            (*shift as u128 + digit as u128 * *step as u128) % *period as u128
        }
        Pattern::Listed(table) => table.positions()[digit] as u128,
    };
    axis.stride as i128 * position as i128
}

/// A map and arguments drawn for its shape.
pub(crate) fn drawn<T>(map: &AddressMap, seed: u64, draw: impl Fn(&mut Gen, &Shape) -> T) -> T {
    draw(&mut Gen::from_size_and_seed(30, seed), &map.shape())
}

pub(crate) fn order(g: &mut Gen, shape: &Shape) -> Vec<usize> {
    let mut order: Vec<usize> = (0..shape.rank()).collect();
    for k in 1..order.len() {
        order.swap(k, below(g, k + 1));
    }
    order
}

pub(crate) fn shifts(g: &mut Gen, shape: &Shape) -> Vec<isize> {
    shape.iter().map(|_| below(g, 41) as isize - 20).collect()
}

pub(crate) fn list(g: &mut Gen, extent: usize) -> Vec<usize> {
    let len = if extent == 0 { 0 } else { below(g, 6) };
    (0..len).map(|_| below(g, extent)).collect()
}

/// A shape of the same count.
pub(crate) fn other_shape(g: &mut Gen, shape: &Shape) -> Shape {
    loop {
        if let ViewOp::Reshape(to) = ViewOp::arbitrary_for(g, shape) {
            return to;
        }
    }
}
