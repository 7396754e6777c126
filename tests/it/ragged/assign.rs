//! Assignment through views: what is written, where, and what is refused before anything is.

use super::chains::recorded;
use super::expressions::partner;
use super::model::{Item, Model, read};
use crate::support::Random;
use lensor::ragged::{Offsets, Ragged};
use lensor::storage::{BlockMemory, Chunked};
use lensor::{Error, Reader, Result, StorageError, Tensor, Writer};
use quickcheck::quickcheck;

/// What is written to each item of a destination, or the row that does not fit.
struct Check<'c> {
    own: &'c [Option<usize>],
    source: &'c [Option<usize>],
    refused: Option<(usize, Error)>,
    written: Vec<(i64, i64)>,
}

impl Check<'_> {
    fn fill(&mut self, axis: usize, to: &Item<i64>, from: &Item<i64>, path: &mut Vec<usize>) {
        let (to, from) = match (to, from) {
            (Item::One(to), Item::One(from)) => return self.written.push((*to, *from)),
            (to, from) => (to.list(), from.list()),
        };
        let (expected, items) = (to.len(), from.len());
        let is_var = self.own[axis].is_none() || self.source[axis].is_none();
        if is_var && items != expected && items != 1 {
            if self.refused.as_ref().is_none_or(|(so_far, _)| axis < *so_far) {
                let row = path.clone();
                self.refused = Some((axis, Error::RowLength { row, axis, items, expected }));
            }
            return;
        }
        for (k, to) in to.iter().enumerate() {
            path.push(k);
            self.fill(axis + 1, to, &from[if items == expected { k } else { 0 }], path);
            path.pop();
        }
    }
}

/// New elements beside the old ones, which are all different.
fn assigned(to: &Model<i64>, from: &Model<i64>) -> Result<Vec<(i64, i64)>> {
    let shape =
        |m: &Model<i64>| m.kinds.iter().map(|kind| kind.unwrap_or(usize::MAX)).collect::<Vec<_>>();
    let refused = Error::Destination { expected: shape(to), found: shape(from) };
    let Some(missing) = to.rank().checked_sub(from.rank()) else { return Err(refused) };
    let fits = |(own, source): (&Option<usize>, &Option<usize>)| match (own, source) {
        (Some(own), Some(source)) => own == source || *source == 1,
        _ => true,
    };
    if !to.kinds[missing..].iter().zip(&from.kinds).all(fits) {
        return Err(refused);
    }
    let mut from = from.clone();
    for _ in 0..missing {
        from.kinds.insert(0, Some(1));
        from.root = Item::List(vec![from.root]);
    }
    let mut check =
        Check { own: &to.kinds, source: &from.kinds, refused: None, written: Vec::new() };
    check.fill(0, &to.root, &from.root, &mut Vec::new());
    match check.refused {
        Some((_, error)) => Err(error),
        None => Ok(check.written),
    }
}

/// The same rows one after another over storage of any kind.
pub(super) fn packed_over<S: Reader>(
    m: &Model<i64>,
    make: impl FnOnce(Vec<usize>, Vec<i64>) -> Tensor<S>,
) -> Ragged<S> {
    let vars = m.vars();
    let Some(&last) = vars.last() else {
        return make(m.shape().unwrap(), m.leaves()).into_ragged();
    };
    let items = |axis: usize| m.lens(axis).iter().sum::<usize>();
    let trailing = m.kinds[last + 1..].iter().map(|kind| kind.unwrap());
    let content = make(std::iter::once(items(last)).chain(trailing).collect(), m.leaves());
    let lead = |k: usize| -> Vec<usize> {
        let first = if k == 0 { 0 } else { vars[k - 1] + 1 };
        let fixed = m.kinds[first..vars[k]].iter().map(|kind| kind.unwrap());
        (k > 0).then(|| items(vars[k - 1])).into_iter().chain(fixed).collect()
    };
    let table = |k: usize| Offsets::from_lengths(m.lens(vars[k])).unwrap();
    let innermost = vars.len() - 1;
    let made = Ragged::new(lead(innermost), table(innermost), content).unwrap();
    (0..innermost).rev().fold(made, |made, k| made.nest(lead(k), table(k)).unwrap())
}

/// Storage of a user's own, some of whose elements cannot be written, and that counts what is.
#[derive(Debug)]
struct Failing {
    data: Vec<i64>,
    bad: Option<usize>,
    written: usize,
}

impl Reader for Failing {
    type Elem = i64;

    fn len(&self) -> usize {
        self.data.len()
    }

    fn read(&self, address: usize) -> i64 {
        self.data[address]
    }
}

impl Writer for Failing {
    fn write(&mut self, address: usize, value: i64) {
        self.try_write(address, value).unwrap();
    }

    fn try_write(&mut self, address: usize, value: i64) -> Result<(), StorageError> {
        if self.bad == Some(address) {
            return Err(StorageError::new(address, "read only"));
        }
        self.written += 1;
        self.data[address] = value;
        Ok(())
    }
}

/// Elements with those that were written in place of theirs.
fn after(before: &[i64], written: &[(i64, i64)]) -> Vec<i64> {
    let new: std::collections::HashMap<i64, i64> = written.iter().copied().collect();
    before.iter().map(|x| new.get(x).copied().unwrap_or(*x)).collect()
}

/// Whether some item is written twice.
fn has_repeats(m: &Model<i64>) -> bool {
    let mut all = m.leaves();
    let count = all.len();
    all.sort();
    all.dedup();
    all.len() < count
}

quickcheck! {
    /// What is assigned through views stands where they show it, in memory; what is refused writes nothing.
    fn views_are_written_where_they_show(seed: u64) -> bool {
        let mut random = Random(seed);
        let model = Model::random(&mut random);
        if model.kinds.contains(&Some(0)) {
            return true;
        }
        let mut own = model.build(-1, &mut random);
        let before = own.content().to_vec().unwrap();
        let (shown, _, views) = recorded(&model, &own, 3, &mut random);
        if shown.kinds.contains(&Some(0)) {
            return true;
        }
        let source = partner(&shown, &mut random);
        let from = source.build(-2, &mut random);
        let mut expected = assigned(&shown, &source);
        let mut to = views.iter().fold(own.view_mut(), |to, view| view.of(to, &mut random).unwrap());
        let found = match random.below(3) {
            0 => to.assign(&from * 1),
            1 if source.shape().is_some() => to.assign(from.as_tensor().unwrap()),
            _ => to.assign(&from),
        };
        if expected.is_ok() && has_repeats(&shown) {
            let error = found.clone().err();
            assert!(matches!(error, Some(Error::OverlappingRows { .. } | Error::NotInjective { .. })), "{error:?}");
            expected = Err(error.unwrap());
        }
        assert_eq!(found.as_ref().err(), expected.as_ref().err(), "{model:?}\n{views:?}\n{source:?}");
        let written = expected.unwrap_or_default();
        assert_eq!(own.content().to_vec().unwrap(), after(&before, &written), "{model:?}\n{views:?}\n{source:?}");
        read(&own) == model.map(|x| after(&[*x], &written)[0])
    }

    /// In place, with the element on the left.
    fn in_place_is_that_of_elements(seed: u64) -> bool {
        let mut random = Random(seed);
        let model = Model::random(&mut random);
        if model.kinds.contains(&Some(0)) {
            return true;
        }
        let mut own = model.build(-1, &mut random);
        let before = own.content().to_vec().unwrap();
        let (shown, _, views) = recorded(&model, &own, 2, &mut random);
        if shown.kinds.contains(&Some(0)) {
            return true;
        }
        let source = partner(&shown, &mut random);
        let from = source.build(-2, &mut random);
        let expected = assigned(&shown, &source).map(|all| all.iter().map(|(x, y)| (*x, x - y)).collect::<Vec<_>>());
        let mut to = views.iter().fold(own.view_mut(), |to, view| view.of(to, &mut random).unwrap());
        let found = to.try_sub_assign(&from);
        if expected.is_ok() && has_repeats(&shown) {
            assert!(found.is_err());
            return own.content().to_vec().unwrap() == before;
        }
        assert_eq!(found.as_ref().err(), expected.as_ref().err(), "{model:?}\n{views:?}\n{source:?}");
        own.content().to_vec().unwrap() == after(&before, &expected.unwrap_or_default())
    }

    /// To storage in chunks, and to a user's that counts.
    fn other_storage_is_written_alike(seed: u64) -> bool {
        let mut random = Random(seed);
        let model = Model::random(&mut random);
        if model.kinds.contains(&Some(0)) {
            return true;
        }
        let count = model.leaves().len();
        let mut plain = packed_over(&model, |shape, data| {
            Tensor::new(shape, Failing { data, bad: None, written: 0 }).unwrap()
        });
        let (shown, _, views) = recorded(&model, &plain, 3, &mut random);
        if shown.kinds.contains(&Some(0)) {
            return true;
        }
        let source = partner(&shown, &mut random);
        let from = source.build(-2, &mut random);
        let expected = assigned(&shown, &source);
        let repeats = has_repeats(&shown);
        let mut to = views.iter().fold(plain.view_mut(), |to, view| view.of(to, &mut random).unwrap());
        let found = to.assign(&from);
        match &expected {
            Ok(written) if !repeats => {
                assert_eq!(found, Ok(()));
                assert_eq!(plain.content().storage().written, written.len());
            }
            _ => {
                assert!(found.is_err());
                assert_eq!(plain.content().storage().written, 0);
            }
        }
        let result = read(&plain);
        assert_eq!(result, model.map(|x| after(&[*x], if repeats { &[] } else { expected.as_deref().unwrap_or(&[]) })[0]));
        let mut chunked = packed_over(&model, |shape, data| {
            let pieces: Vec<usize> = shape.iter().map(|n| 1 + n / 3).collect();
            if shape.contains(&0) {
                let blocks = BlockMemory::new(shape.clone(), pieces, 0_i64).unwrap();
                return Tensor::new(shape, Chunked::new(blocks).unwrap()).unwrap();
            }
            let blocks = BlockMemory::new(shape.clone(), pieces, 0_i64).unwrap();
            let mut t = Tensor::new(shape.clone(), Chunked::new(blocks).unwrap()).unwrap();
            t.assign(&Tensor::from_vec(shape, data).unwrap()).unwrap();
            t
        });
        let mut to = views.iter().fold(chunked.view_mut(), |to, view| view.of(to, &mut random).unwrap());
        assert_eq!(to.assign(&from).is_err(), found.is_err());
        assert_eq!(read(&chunked), result);
        // Some element cannot be written: an error, and whatever was written before.
        if let (Ok(written), false) = (&expected, repeats) {
            let bad = random.below(count);
            let mut failing = packed_over(&model, |shape, data| {
                Tensor::new(shape, Failing { data, bad: Some(bad), written: 0 }).unwrap()
            });
            let lost = model.leaves().get(bad).copied();
            let mut to = views.iter().fold(failing.view_mut(), |to, view| view.of(to, &mut random).unwrap());
            let found = to.assign(&from);
            assert_eq!(found.is_err(), written.iter().any(|(x, _)| Some(*x) == lost), "{found:?}");
            assert!(matches!(found, Ok(()) | Err(Error::Storage { .. })));
        }
        true
    }
}
