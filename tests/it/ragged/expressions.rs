//! Operators against lists in lists.

use super::chains::chain;
use super::model::{Item, Model, read};
use crate::support::Random;
use lensor::ragged::{
    ElementwiseRagged, Offsets, Ragged, ReduceRagged, Stretch, choose, zip_ragged,
};
use lensor::{Error, Result, Tensor};
use quickcheck::quickcheck;

/// The numbers of a var axis in the shapes of errors.
fn shape(kinds: &[Option<usize>]) -> Vec<usize> {
    kinds.iter().map(|kind| kind.unwrap_or(usize::MAX)).collect()
}

/// What the axes of a result are, without a look at rows.
pub(super) fn joint_kinds(
    a: &[Option<usize>],
    b: &[Option<usize>],
    argument: usize,
) -> Result<Vec<Option<usize>>> {
    let rank = a.len().max(b.len());
    let of = |kinds: &[Option<usize>], axis: usize| match (axis + kinds.len()).checked_sub(rank) {
        Some(k) => kinds[k],
        None => Some(1),
    };
    let join = |axis| match (of(a, axis), of(b, axis)) {
        (None, None | Some(1)) | (Some(1), None) => Ok(None),
        (None, n) | (n, None) | (Some(1), n) | (n, Some(1)) => Ok(n),
        (m, n) if m == n => Ok(m),
        _ => {
            Err(Error::Operands { argument, shape: shape(b), so_far: shape(a), axis, left: false })
        }
    };
    (0..rank).map(join).collect()
}

/// The rows of two operands that stand for one row of the result.
struct Zip<'z, T, U> {
    kinds: [&'z [Option<usize>]; 3],
    strict: bool,
    argument: usize,
    f: &'z mut dyn FnMut(&T, &U) -> (T, U),
    /// The first row that does not fit, of the foremost axis.
    refused: Option<Error>,
}

impl<T: Clone, U: Clone> Zip<'_, T, U> {
    fn refuse(&mut self, error: Error) {
        let axis_of = |error: &Error| match error {
            Error::RaggedOperands { axis, .. } => *axis,
            _ => usize::MAX,
        };
        if self.refused.as_ref().is_none_or(|so_far| axis_of(&error) < axis_of(so_far)) {
            self.refused = Some(error);
        }
    }

    fn zip(
        &mut self,
        axis: usize,
        a: &Item<T>,
        b: &Item<U>,
        path: &mut Vec<usize>,
    ) -> Item<(T, U)> {
        if let (Item::One(x), Item::One(y)) = (a, b) {
            return Item::One((self.f)(x, y));
        }
        let (a, b) = (a.list(), b.list());
        let [in_a, in_b, joint] = self.kinds.map(|kinds| kinds[axis]);
        let (x, y) = (a.len(), b.len());
        let count = match joint {
            Some(extent) => {
                let fits = |kind: Option<usize>, len| {
                    kind.is_some() || len == extent || len == 1 && !self.strict
                };
                (fits(in_a, x) && fits(in_b, y)).then_some(extent)
            }
            None => match (in_a, in_b) {
                (Some(_), _) => Some(y),
                (_, Some(_)) => Some(x),
                _ if x == y => Some(x),
                _ if x == 1 && !self.strict => Some(y),
                _ if y == 1 && !self.strict => Some(x),
                _ => None,
            },
        };
        let Some(count) = count else {
            let found =
                |kind: Option<usize>, len| if kind.is_some() { joint.unwrap_or(len) } else { len };
            let (argument, row) = (self.argument, path.clone());
            let (items, so_far) = (found(in_b, y), found(in_a, x));
            self.refuse(Error::RaggedOperands { argument, items, so_far, row, axis });
            return Item::List(Vec::new());
        };
        let at = |len: usize, k: usize| if len == count { k } else { 0 };
        let mut all = Vec::new();
        for k in 0..count {
            path.push(k);
            all.push(self.zip(axis + 1, &a[at(x, k)], &b[at(y, k)], path));
            path.pop();
        }
        Item::List(all)
    }
}

/// With extents of 1 in front.
fn padded<T: Clone>(m: &Model<T>, rank: usize) -> Model<T> {
    let mut padded = m.clone();
    while padded.rank() < rank {
        padded.kinds.insert(0, Some(1));
        padded.root = Item::List(vec![padded.root]);
    }
    padded
}

/// Pairs of the elements of two operands, the second of which has this number.
pub(super) fn pairs<T: Clone, U: Clone>(
    a: &Model<T>,
    b: &Model<U>,
    strict: bool,
    argument: usize,
) -> Result<Model<(T, U)>> {
    let kinds = joint_kinds(&a.kinds, &b.kinds, argument)?;
    let (a, b) = (padded(a, kinds.len()), padded(b, kinds.len()));
    let f: &mut dyn FnMut(&T, &U) -> (T, U) = &mut |x, y| (x.clone(), y.clone());
    let mut zip = Zip { kinds: [&a.kinds, &b.kinds, &kinds], strict, argument, f, refused: None };
    let root = zip.zip(0, &a.root, &b.root, &mut Vec::new());
    match zip.refused {
        Some(error) => Err(error),
        None => Ok(Model { kinds, root }),
    }
}

/// Another operand for the rows of one: axes fewer, of extent 1, rows of one item, fixed where all are as long.
pub(super) fn partner(m: &Model<i64>, random: &mut Random) -> Model<i64> {
    fn cut(
        item: &Item<i64>,
        axis: usize,
        ones: &[usize],
        odd: &mut dyn FnMut() -> usize,
    ) -> Item<i64> {
        let Item::List(list) = item else { return item.clone() };
        let count = match (ones[axis], odd()) {
            (1, _) => 1,
            (2, k) if k % 3 == 0 => 1,
            (_, 400) if !list.is_empty() => list.len() + 1,
            _ => list.len(),
        };
        let blank = || Item::List(Vec::new());
        let next = |k: usize| list.get(k).or(list.first()).cloned().unwrap_or_else(blank);
        Item::List((0..count).map(|k| cut(&next(k), axis + 1, ones, odd)).collect())
    }
    let mut other = m.clone();
    let dropped = if random.below(3) == 0 { random.below(m.rank() + 1) } else { 0 };
    for _ in 0..dropped {
        // Some item of the first axis, or nothing to stretch.
        let list = other.root.list();
        match list.get(random.below(list.len())).cloned() {
            Some(item) => (other.root, _) = (item, other.kinds.remove(0)),
            None => break,
        }
    }
    let rank = other.rank();
    let whole = (0..rank).all(|axis| other.lens(axis).iter().all(|&len| len > 0));
    let ones: Vec<usize> = (0..rank)
        .map(|axis| match random.below(5) {
            0 if whole => 1,
            1 | 2 if whole && other.kinds[axis].is_none() => 2,
            _ => 0,
        })
        .collect();
    other.root = cut(&other.root, 0, &ones, &mut || random.below(401));
    for (axis, &one) in ones.iter().enumerate().take(rank) {
        let lens = other.lens(axis);
        let same = lens.iter().all(|&len| len == lens[0]);
        match other.kinds[axis] {
            Some(_) => other.kinds[axis] = lens.first().copied().or(other.kinds[axis]),
            None if one == 1 || same && !lens.is_empty() && random.below(3) == 0 => {
                other.kinds[axis] = Some(lens.first().copied().unwrap_or(1));
            }
            None => {}
        }
    }
    // Of fixed axes rows may not differ.
    for axis in 0..rank {
        if let Some(extent) = other.kinds[axis]
            && other.lens(axis).iter().any(|&len| len != extent)
        {
            other.kinds[axis] = None;
        }
    }
    other.map(|x| x * 1000)
}

#[track_caller]
fn same(found: Result<Ragged<Vec<i64>>>, expected: Result<Model<i64>>, of: &[&Model<i64>]) {
    match (found, expected) {
        (Ok(found), Ok(expected)) => {
            assert!(read(&found) == expected, "{of:?}\n{:?}\n{expected:?}", read(&found))
        }
        (Err(found), Err(expected)) => assert_eq!(found, expected, "{of:?}"),
        (found, expected) => {
            panic!("{of:?}\n{:?}\n{expected:?}", found.map(|found| found.to_string()))
        }
    }
}

quickcheck! {
    /// Two operands with other axes, rows of one item, extents that are known: joined as lists are.
    fn two_operands_are_joined(seed: u64) -> bool {
        let mut random = Random(seed);
        let model = Model::random(&mut random);
        let own = model.build(-1, &mut random);
        let (a, shown) = chain(&model, &own, 2, &mut random);
        let b = partner(&a, &mut random);
        let other = b.build(-1, &mut random);
        let strict = random.below(3) == 0;
        let stretch = if strict { Stretch::Strict } else { Stretch::Rows };
        let sum = |pairs: Model<(i64, i64)>| pairs.map(|(x, y)| 2 * x - y);
        same((&shown * 2 - &other).eval_with(stretch), pairs(&a, &b, strict, 2).map(sum), &[&a, &b]);
        same((&other - &shown * 2).eval_with(stretch), pairs(&b, &a, strict, 2).map(|all| all.map(|(x, y)| x - 2 * y)), &[&b, &a]);
        if let Ok(t) = other.as_tensor() {
            same((&shown * 2 - &t).eval_with(stretch), pairs(&a, &b, strict, 2).map(sum), &[&a, &b]);
            same((&shown * 2 - (&t + 0)).eval_with(stretch), pairs(&a, &b, strict, 2).map(sum), &[&a, &b]);
        }
        if !strict {
            let e = &shown + &other;
            let form = e.form();
            assert_eq!(form.clone().map(|form| form.extents()).ok(), form.is_ok().then(|| e.extents().unwrap()));
            assert_eq!(e.explain().is_ok(), form.is_ok());
            assert_eq!(e.extents().is_ok(), joint_kinds(&a.kinds, &b.kinds, 2).is_ok());
        }
        true
    }

    /// Three operands of one node, and of two nodes one in the other.
    fn three_operands_are_joined(seed: u64) -> bool {
        let mut random = Random(seed);
        let a = Model::random(&mut random);
        let (b, c) = (partner(&a, &mut random), partner(&a, &mut random));
        let [x, y, z] = [&a, &b, &c].map(|m| m.build(-1, &mut random));
        let node = zip_ragged((&x, &y, &z), |(x, y, z)| x + 2 * y - 3 * z);
        let kinds = joint_kinds(&a.kinds, &b.kinds, 2).and_then(|kinds| joint_kinds(&kinds, &c.kinds, 3));
        let sum = |all: Model<((i64, i64), i64)>| all.map(|((x, y), z)| x + 2 * y - 3 * z);
        let expected = kinds.and_then(|_| pairs(&pairs(&a, &b, false, 2)?, &c, false, 3)).map(sum);
        same(node.eval(), expected, &[&a, &b, &c]);
        let one = zip_ragged((&x, &y, &z), |(x, y, z)| if x % 2 == 0 { y } else { z });
        assert_eq!(choose((&x % 2).equal(0), &y, &z).eval(), one.eval());
        let one = zip_ragged((&x, 7_i64, &z), |(x, k, z)| if x % 2 == 0 { k } else { z });
        assert_eq!(choose((&x % 2).equal(0), 7_i64, &z).eval(), one.eval());
        // The inner node is joined by itself, and the outer one afterwards; extents before rows.
        let kinds = joint_kinds(&b.kinds, &c.kinds, 2).and_then(|kinds| joint_kinds(&a.kinds, &kinds, 2));
        let tree = |all: Model<(i64, (i64, i64))>| all.map(|(x, (y, z))| x + (2 * y - 3 * z));
        let expected = kinds.and_then(|_| pairs(&a, &pairs(&b, &c, false, 2)?, false, 2)).map(tree);
        same((&x + (&y * 2 - &z * 3)).eval(), expected, &[&a, &b, &c]);
        true
    }

    /// Elementwise functions are those of the elements.
    fn functions_are_those_of_elements(seed: u64) -> bool {
        let mut random = Random(seed);
        let model = Model::random(&mut random);
        let own = model.build(-1, &mut random);
        let (a, shown) = chain(&model, &own, 1, &mut random);
        let r = &shown;
        same(r.minimum(7).eval(), Ok(a.map(|&x| x.min(7))), &[&a]);
        same((-r).abs().eval(), Ok(a.clone()), &[&a]);
        same((10 - r).eval(), Ok(a.map(|x| 10 - x)), &[&a]);
        same(r.cast::<f64>().map(|x| (x * 2.0) as i64).eval(), Ok(a.map(|x| x * 2)), &[&a]);
        same(r.clamp(3, 9).eval(), Ok(a.map(|&x| x.clamp(3, 9))), &[&a]);
        let small = r.less(5).eval().unwrap();
        read(&small) == a.map(|&x| x < 5)
    }
}

/// Rows of all lengths beside each other, so that runs begin and end everywhere in a tile.
#[test]
fn rows_of_all_lengths_repeat_their_items() {
    let mut random = Random(3);
    let lens: Vec<usize> =
        (0..300).map(|k| if k % 50 == 0 { 5000 } else { random.below(70) }).collect();
    let count: usize = lens.iter().sum();
    let rows = lens.iter().map(|&len| vec![1_i64; len]).collect::<Vec<_>>();
    let ones = Ragged::from_rows(rows).unwrap();
    let column = Tensor::from_vec([300, 1], (0..300).collect::<Vec<i64>>()).unwrap();
    let found = (&ones * &column).eval().unwrap();
    let expected: Vec<i64> =
        lens.iter().enumerate().flat_map(|(k, &len)| vec![k as i64; len]).collect();
    assert_eq!(found.to_vec().unwrap(), expected);
    assert_eq!(found.form().unwrap().count(), Ok(count));
    let single = Ragged::from_rows((0..300).map(|k| vec![k; 1])).unwrap();
    assert_eq!((&single * &ones).eval().unwrap().to_vec().unwrap(), expected);
    // In pieces by any view.
    let parts = found.view().clip(1, 3..).unwrap().flip(1).unwrap();
    let lens = lens.iter().map(|len| len.saturating_sub(3));
    let expected: Vec<i64> = lens.enumerate().flat_map(|(k, len)| vec![k as i64; len]).collect();
    assert_eq!((&parts + 0).eval().unwrap().to_vec().unwrap(), expected);
}

/// One item of the result is one of several of an operand: what follows is listed, not taken for all of it.
#[test]
fn operands_have_more_items_than_the_one_of_the_result() {
    let offsets = |lengths: &[usize]| Offsets::from_lengths(lengths.iter().copied()).unwrap();
    let content = Tensor::from_vec([2, 2, 2], (1..9).collect()).unwrap();
    let a = Ragged::new([2], offsets(&[1, 1]), content).unwrap();
    let b = Ragged::from_nested(vec![vec![vec![vec![10, 20], vec![30, 40]]], vec![]]).unwrap();
    let sum = (&a + &b).eval().unwrap();
    assert_eq!(sum.to_string(), "[[[[11, 22], [33, 44]]], []]");

    let make = |outer: &[usize], inner: &[usize], data: &[i64]| {
        let items = outer.iter().sum();
        let rows = Ragged::new([items, 2], offsets(inner), Tensor::from(data.to_vec())).unwrap();
        rows.nest([3], offsets(outer)).unwrap()
    };
    let a = make(&[1, 1, 0], &[1; 4], &[1, 2, 3, 4]);
    let b = make(&[1, 0, 1], &[1; 4], &[10, 20, 0, 40]);
    let sum = (&a + &b).eval().unwrap();
    assert_eq!(sum.to_string(), "[[[[11], [22]]], [], []]");
    assert_eq!(sum.is_packed(), Ok(true));
    assert_eq!((&a + &b).form().unwrap(), sum.form().unwrap());
    assert_eq!((&a / &b).eval().unwrap().to_string(), "[[[[0], [0]]], [], []]");

    let a = make(&[1, 1, 0], &[1, 1, 0, 1], &[1, 2, 4]);
    let b = make(&[1, 0, 1], &[1, 1, 0, 1], &[10, 20, 40]);
    let found = (&a + &b).max(3).eval().unwrap();
    assert_eq!(found.to_string(), "[[[11, 22]], [], []]");
}
