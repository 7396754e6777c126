//! Sparse evaluation and assignment against dense models, under random views and fill values.

use lensor::Reader;
use lensor::arbitrary::{Aligned, Viewed};
use lensor::dtype::SameBits;
use lensor::expr::zip_stored;
use lensor::lanes::Uniform;
use lensor::prelude::*;
use lensor::storage::Sparse;
use quickcheck::{Arbitrary, Gen, QuickCheck};

fn check<A: quickcheck::Testable>(property: A) {
    QuickCheck::new().tests(1500).quickcheck(property);
}

/// A number that is often special, and often a fill value.
#[derive(Debug, Clone, Copy)]
struct Special(f64);

const FILLS: [f64; 5] = [0.0, 1.0, f64::NAN, f64::INFINITY, -0.0];

impl Arbitrary for Special {
    fn arbitrary(g: &mut Gen) -> Self {
        let others = [2.0, -3.0, 0.5, f64::NEG_INFINITY, 1e300, 7.0];
        let choices: Vec<f64> = FILLS.into_iter().chain(FILLS).chain(others).collect();
        Self(*g.choose(&choices).unwrap())
    }
}

/// Fill values of operands.
#[derive(Debug, Clone, Copy)]
struct Fill(f64);

impl Arbitrary for Fill {
    fn arbitrary(g: &mut Gen) -> Self {
        Self(*g.choose(&FILLS).unwrap())
    }
}

fn sparse(viewed: &Viewed<Special>, fill: f64) -> Tensor<Sparse<f64>> {
    let data: Vec<f64> = viewed.data().iter().map(|x| x.0).collect();
    let storage = Sparse::from_dense(&data, fill).unwrap();
    Tensor::with_map(viewed.chain().map(), storage).unwrap()
}

fn dense(viewed: &Viewed<Special>) -> Tensor<Vec<f64>> {
    let data = viewed.data().iter().map(|x| x.0).collect();
    Tensor::with_map(viewed.chain().map(), data).unwrap()
}

fn same(found: &[f64], expected: &[f64]) -> bool {
    found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| a.same_bits(*b))
}

/// Entries ascend, lie inside, and reading element by element gives the same as reading all.
fn elements(t: &Tensor<Sparse<f64>>) -> Vec<f64> {
    let (addresses, len) = (t.storage().addresses(), t.storage().len());
    assert!(addresses.windows(2).all(|pair| pair[0] < pair[1]));
    assert!(addresses.iter().all(|address| *address < len));
    let all = t.to_vec().unwrap();
    let single: Vec<f64> = t.try_iter().collect::<Result<_, _>>().unwrap();
    assert!(same(&all, &single));
    all
}

/// Every operator, every pair of fill values, every view: the sparse result is the dense one, and its
/// fill value is the operator of the fill values.
#[test]
fn operators_agree_with_dense_ones() {
    fn law(operands: Aligned<Special, 3>, fills: (Fill, Fill, Fill)) -> bool {
        let [x, y, z] = operands.models().map(|m| m.into_iter().map(|x| x.0).collect::<Vec<_>>());
        let [p, q, r] = operands.operands();
        let (f, g, h) = (fills.0.0, fills.1.0, fills.2.0);
        let (a, b, c) = (sparse(p, f), sparse(q, g), sparse(r, h));
        macro_rules! agree {
            ($sparse:expr, $model:expr) => {{
                let result = $sparse.eval_sparse().unwrap();
                let model = $model;
                let expected: Vec<f64> = (0..x.len()).map(|k| model(x[k], y[k], z[k])).collect();
                same(&elements(&result), &expected)
                    && result.storage().fill().same_bits(model(f, g, h))
                    && same(&$sparse.eval().unwrap().into_storage(), &expected)
            }};
        }
        let all = zip_with((&a, &b, &c), |(_, _, c)| c);
        agree!(zip_with((&a, &b, &c), |(a, b, c)| a + b * c), |a, b, c| a + b * c)
            && agree!((&a + &b * &c - &a / 2.0) + &all * 0.0, |a, b, c| (a + b * c - a / 2.0)
                + c * 0.0)
            && agree!(((&a * &b).boxed() + &c * 0.0).minimum(&b), |a: f64, b: f64, c: f64| {
                lensor::dtype::Order::minimum(a * b + c * 0.0, b)
            })
            && agree!(choose(a.less(&b), &c, 4.0), |a, b, c| if a < b { c } else { 4.0 })
            && agree!(
                zip_with((&a, &b, &c, &a, &b, 3.0), |(a, b, c, d, e, f)| a - b + c - d + e - f),
                |a: f64, b: f64, c: f64| a - b + c - a + b - 3.0
            )
    }
    check(law as fn(Aligned<Special, 3>, (Fill, Fill, Fill)) -> bool);
}

/// Unary operators keep the entries, comparisons give sparse bool, and a view of an expression is a view
/// of its operands.
#[test]
fn unary_operators_comparisons_and_views_agree() {
    fn law(operands: Aligned<Special>, fill: Fill) -> bool {
        let [a, b] = operands.operands();
        let (s, t) = (sparse(a, fill.0), sparse(b, 1.0));
        let [x, y] = operands.models();
        let rank = operands.joint().rank();
        let order: Vec<usize> = (0..rank).rev().collect();
        let turned = (-&s + &t).transpose(&order).unwrap();
        let both = (-dense(a).view() + dense(b)).transpose(&order).unwrap().eval().unwrap();
        let compared = s.less_equal(&t).eval_sparse().unwrap();
        let expected: Vec<bool> = x.iter().zip(&y).map(|(x, y)| x.0 <= y.0).collect();
        same(&elements(&turned.eval_sparse().unwrap()), both.storage())
            && compared.to_vec().unwrap() == expected
            && compared.storage().fill() == (fill.0 <= 1.0)
    }
    check(law as fn(Aligned<Special>, Fill) -> bool);
}

/// Where both operands store an entry the function is evaluated, elsewhere the result is the given fill.
#[test]
fn zip_stored_keeps_to_shared_entries() {
    fn law(operands: Aligned<Special>, fills: (Fill, Fill)) -> bool {
        let [p, q] = operands.operands();
        let (a, b) = (sparse(p, fills.0.0), sparse(q, fills.1.0));
        let [x, y] = operands.models();
        let product = |x: f64, y: f64| x * 3.0 + y;
        let both: Vec<f64> = (x.iter().zip(&y))
            .map(|(x, y)| match (x.0.same_bits(fills.0.0), y.0.same_bits(fills.1.0)) {
                (false, false) => product(x.0, y.0),
                _ => 9.0,
            })
            .collect();
        let left: Vec<f64> = (x.iter().zip(&y))
            .map(|(x, y)| if x.0.same_bits(fills.0.0) { 9.0 } else { product(x.0, y.0) })
            .collect();
        let f = |(x, y): (f64, f64)| product(x, y);
        same(&elements(&zip_stored((&a, &b), 9.0, f).eval_sparse().unwrap()), &both)
            && same(&elements(&zip_stored((&a, &dense(q)), 9.0, f).eval_sparse().unwrap()), &left)
    }
    check(law as fn(Aligned<Special>, (Fill, Fill)) -> bool);
}

/// An operand that is an expression stores an entry where one of its leaves does; without a sparse operand
/// there is nowhere to evaluate.
#[test]
fn zip_stored_takes_expressions() {
    let of = |addresses: &[usize], values: &[f64]| {
        let s = Sparse::from_sorted(6, 0.0, addresses.to_vec(), values.to_vec());
        Tensor::new([6], s.unwrap()).unwrap()
    };
    let (a, b) = (of(&[0, 1, 4], &[1.0, 2.0, 3.0]), of(&[1, 3, 5], &[4.0, 5.0, 6.0]));
    let c = of(&[0, 1, 2, 3], &[7.0; 4]);
    let sum =
        zip_stored((&a + &b, &c, 2.0), -1.0, |(ab, c, two)| ab * c * two).eval_sparse().unwrap();
    assert_eq!(sum.storage().fill(), -1.0);
    assert!(sum.storage().iter().eq([(0, 14.0), (1, 84.0), (3, 70.0)]));
    let dense = Tensor::from(vec![0.0; 6]);
    let error = zip_stored((&dense, 1.0), 0.0, |(x, y)| x + y).eval_sparse().unwrap_err();
    assert_eq!(error, Error::WouldDensify { stored: 0, dense: 6 });
    let mixed = zip_stored((&a, &dense + &c), 0.0, |(x, y)| x + y).eval_sparse().unwrap();
    assert!(mixed.storage().iter().eq([(0, 8.0), (1, 9.0), (4, 3.0)]));
}

/// Assigning to a sparse view is assigning to a dense one, whatever the source; fills erase.
#[test]
fn assignment_to_sparse_views_agrees_with_dense_ones() {
    fn law(viewed: Viewed<Special>, values: Vec<Special>, fill: Fill, source_fill: Fill) -> bool {
        let (mut s, mut d) = (sparse(&viewed, fill.0), dense(&viewed));
        let count = d.len();
        let data: Vec<f64> =
            (0..count).map(|k| values.get(k % 7).map_or(fill.0, |value| value.0)).collect();
        let source = Tensor::from_vec(d.shape(), data).unwrap();
        let expected = d.assign(&source);
        let as_dense = s.clone().assign(&source);
        let whole = s.len() == s.storage().len();
        let storage = Sparse::from_dense(source.storage(), source_fill.0).unwrap();
        let sparse_source = Tensor::new(d.shape(), storage).unwrap();
        let few = !source_fill.0.same_bits(fill.0) && !whole;
        if expected.is_err() {
            return as_dense == expected && s.assign(&sparse_source) == expected;
        }
        let mut dense_to_sparse = s.clone();
        dense_to_sparse.assign(&source).unwrap();
        let no_fills = |t: &Tensor<Sparse<f64>>| {
            whole || t.storage().values().iter().all(|x| !x.same_bits(t.storage().fill()))
        };
        let flat = |t: Tensor<Sparse<f64>>| {
            Tensor::new([t.storage().len()], t.into_storage()).unwrap().to_vec().unwrap()
        };
        let expected = d.into_storage();
        let mut good =
            same(&flat(dense_to_sparse.clone()), &expected) && no_fills(&dense_to_sparse);
        match s.assign(&sparse_source) {
            Ok(()) => good &= same(&flat(s), &expected),
            Err(Error::WouldDensify { .. }) => good &= few,
            Err(_) => good = false,
        }
        good
    }
    check(law as fn(Viewed<Special>, Vec<Special>, Fill, Fill) -> bool);
}

/// A sparse source fills a dense destination and then writes its entries.
#[test]
fn assignment_of_sparse_views_to_dense_ones_agrees() {
    fn law(viewed: Viewed<Special>, other: Viewed<Special>, fill: Fill) -> bool {
        let mut d = dense(&viewed);
        let source = sparse(&other, fill.0);
        let mut expected = dense(&viewed);
        let agreed = expected.assign(&dense(&other));
        d.assign(&source) == agreed && (agreed.is_err() || same(d.storage(), expected.storage()))
    }
    check(law as fn(Viewed<Special>, Viewed<Special>, Fill) -> bool);
}

/// In-place operators, fills and updates of sparse views.
#[test]
fn updates_of_sparse_views_agree_with_dense_ones() {
    fn law(viewed: Viewed<Special>, value: Special, fill: Fill) -> bool {
        let (mut s, mut d) = (sparse(&viewed, fill.0), dense(&viewed));
        let whole = |t: &Tensor<Sparse<f64>>| t.len() == t.storage().len();
        let flat = |t: &Tensor<Sparse<f64>>| {
            Tensor::new([t.storage().len()], t.storage()).unwrap().to_vec().unwrap()
        };
        if s.fill(value.0) != d.fill(value.0) || !same(&flat(&s), d.storage()) {
            return false;
        }
        let (mut s, mut d) = (sparse(&viewed, fill.0), dense(&viewed));
        match (s.try_mul_assign(value.0), d.try_mul_assign(value.0)) {
            (Err(Error::WouldDensify { .. }), Ok(())) => {
                !whole(&s) && !(fill.0 * value.0).same_bits(fill.0)
            }
            (found, expected) => found == expected && same(&flat(&s), d.storage()),
        }
    }
    check(law as fn(Viewed<Special>, Special, Fill) -> bool);
}

/// Unions that are cut into tasks, of lists of equal and of very unequal length, and of many lists.
#[test]
fn large_unions_agree_with_dense_ones() {
    let len = 180_000;
    let of = |every: usize, from: usize, scale: f64| {
        let addresses: Vec<usize> = (from..len).step_by(every).collect();
        let values = addresses.iter().map(|k| (k % 101) as f64 * scale).collect();
        let storage = Sparse::from_sorted(len, 0.5, addresses, values).unwrap();
        Tensor::new([len], storage).unwrap()
    };
    let all =
        [of(3, 0, 1.0), of(2, 1, -2.0), of(7000, 170_000, 3.0), of(5, 4, 0.25), of(1, 0, 9.0)];
    let dense =
        all.each_ref().map(|t| Tensor::from(t.try_iter().collect::<Result<Vec<_>, _>>().unwrap()));
    let [a, b, c, d, e] = &all;
    let [p, q, r, s, t] = &dense;
    for threads in [1, 2, 3] {
        let pool = crate::support::pool(threads);
        pool.install(|| {
            let two = (a - b).eval_sparse().unwrap();
            assert!(same(&elements(&two), (p - q).eval().unwrap().storage()));
            let three = (a - b * c).boxed().eval_sparse().unwrap();
            assert!(same(&elements(&three), (p - q * r).eval().unwrap().storage()));
            let five = (a - b * c + d / 2.0 - e).eval_sparse().unwrap();
            assert!(same(&elements(&five), (p - q * r + s / 2.0 - t).eval().unwrap().storage()));
            assert_eq!(five.storage().fill(), 0.5 - 0.25 + 0.25 - 0.5);
            // Entries of both in one place are one: there is no room for many more.
            let both = (a * e).eval_sparse().unwrap();
            assert!(same(&elements(&both), (p * t).eval().unwrap().storage()));
            let (_, _, addresses, values) = both.into_storage().into_parts();
            assert!(addresses.capacity() <= 2 * len && values.capacity() <= 2 * len);
            let twice = (e * e).eval_sparse().unwrap();
            assert!(same(&elements(&twice), (t * t).eval().unwrap().storage()));
            let one = (e * 2.0).eval_sparse().unwrap();
            assert!(same(&elements(&one), (t * 2.0).eval().unwrap().storage()));
            let turned = (e.view().flip(0).unwrap() * 2.0).eval_sparse().unwrap();
            assert!(elements(&turned).iter().rev().eq(one.to_vec().unwrap().iter()));
        });
    }
}

/// More operands than any word has bits.
#[test]
fn any_number_of_operands_share_entries() {
    let operands: [Tensor<Sparse<i32>>; 70] = std::array::from_fn(|k| {
        let stored = if k % 9 == 8 { vec![0, 1] } else { vec![0, 1, 2] };
        let values = vec![k as i32; stored.len()];
        Tensor::new([4], Sparse::from_sorted(4, 0, stored, values).unwrap()).unwrap()
    });
    let nine: [_; 9] = std::array::from_fn(|k| &operands[k]);
    let sum = zip_stored(nine, -1, |x: [i32; 9]| x.iter().sum()).eval_sparse().unwrap();
    assert_eq!(sum.to_vec().unwrap(), [36, 36, -1, -1]);
    let all: [_; 70] = std::array::from_fn(|k| &operands[k]);
    let sum = zip_stored(all, -1, |x: [i32; 70]| x.iter().sum()).eval_sparse().unwrap();
    assert_eq!(sum.to_vec().unwrap(), [2415, 2415, -1, -1]);
}

/// Positions in common are found many at a time: across blocks and tasks, beyond 32 bits, in lists that
/// are alike, nested or apart, whatever else is read there.
#[test]
fn long_operands_share_what_sets_share() {
    let (side, columns) = (1_usize << 34, 1_000);
    let tensor = |addresses: &[usize]| {
        let values = addresses.iter().map(|&k| (k % 1013) as i64).collect();
        let storage = Sparse::from_sorted(side * columns, -1, addresses.to_vec(), values).unwrap();
        Tensor::new([side, columns], storage).unwrap()
    };
    let row = Tensor::from((0..columns as i64).collect::<Vec<_>>());
    let spread = |count: usize, step: usize| (0..count).map(|k| k * step).collect::<Vec<_>>();
    let lists = [
        spread(100_000, 1),
        spread(90_000, 1 << 20),
        spread(70_000, 3 << 19),
        spread(90_001, 977),
        vec![],
        vec![0],
        vec![977 * 90_000, (1 << 36) + 1],
    ];
    for (i, x) in lists.iter().enumerate() {
        let known: std::collections::BTreeSet<_> = x.iter().copied().collect();
        for y in &lists[i..] {
            let (a, b) = (tensor(x), tensor(y));
            let both =
                zip_stored((&a, &b, &row), 7, |(a, b, row)| a * 3 + b - row).eval_sparse().unwrap();
            let shared = y.iter().copied().filter(|k| known.contains(k));
            let expected = shared.map(|k| (k, 4 * (k % 1013) as i64 - (k % columns) as i64));
            assert!(both.storage().iter().eq(expected));
            assert_eq!(both.storage().fill(), 7);
        }
    }
}

/// What a fold of entries of a tensor that is broadcast along the last axis gives, fiber by fiber, is what a fold of the
/// evaluated entries gives, bit for bit.
#[test]
fn fibers_of_entries_are_folded_like_entries() {
    fn law(viewed: Viewed<Special>, fill: Fill, len: usize, mask: usize, by: usize) -> bool {
        let x = sparse(&viewed, fill.0);
        let (rank, len) = (x.shape().rank(), len % 20);
        let table = Tensor::from_fn([3, len.max(1)], |a| (a * 7 % 11) as f64 - 3.0).unwrap();
        let held = table.eval().unwrap();
        // A row that is reversed, one that is computed, one in memory.
        let row = |k: usize| held.view().select((k as isize,)).unwrap();
        let (reversed, in_memory) = (row(0).flip(0).unwrap(), row(2));
        let computed = table.view().select((1,)).unwrap();
        let f = |(x, a, b, c): (f64, f64, f64, f64)| x * a - b + c;
        let spread = x.view().insert_axis(rank).unwrap();
        let terms = zip_stored((&spread, &reversed, &computed, &in_memory), 0.5, f);
        let axes: Vec<usize> = (0..rank).filter(|axis| mask >> axis & 1 == 1).collect();
        let evaluated = terms.eval_sparse().unwrap();
        macro_rules! agree {
            ($fold:ident) => {{
                let (own, entries) = (terms.$fold(&axes[..]), evaluated.$fold(&axes[..]));
                let all = match (own.eval(), entries.eval()) {
                    (Ok(a), Ok(b)) => {
                        a.shape() == b.shape() && same(&a.to_vec().unwrap(), &b.to_vec().unwrap())
                    }
                    (a, b) => a.err() == b.err(),
                };
                let stored = match (own.eval_sparse(), entries.eval_sparse()) {
                    (Ok(a), Ok(b)) => {
                        let (a, b) = (a.storage(), b.storage());
                        a.fill().same_bits(b.fill())
                            && a.addresses() == b.addresses()
                            && same(a.values(), b.values())
                    }
                    (a, b) => a.err() == b.err(),
                };
                all && stored
            }};
        }
        match by % 4 {
            0 => agree!(sum),
            1 => agree!(mean),
            2 => agree!(max),
            _ => agree!(std),
        }
    }
    check(law as fn(Viewed<Special>, Fill, usize, usize, usize) -> bool);
}

/// Functions of stored entries are visited as they are computed, and what they read is computed first.
#[test]
fn entries_of_deferred_operands_are_visited() {
    let mut a = Tensor::sparse([10], 0.0).unwrap();
    a.set([3], 2.0).unwrap();
    let ones = Tensor::full([3, 10], 1.0).unwrap();
    let both = || zip_stored((&a, ones.sum(0)), 0.0, |(x, y): (f64, f64)| x + y);
    assert_eq!(both().nonzero().unwrap().to_vec(), Ok(vec![3]));
    assert_eq!((both() * 2.0).nonzero().unwrap().to_vec(), Ok(vec![3]));
    assert_eq!(both().sum(..).item(), Ok(5.0));
    assert_eq!((both() + &a).sum(..).item(), Ok(7.0));
    let bins = Uniform::new(0.0, 10.0, 10).unwrap();
    let counted = [9, 0, 0, 0, 0, 1, 0, 0, 0, 0];
    assert_eq!(both().histogram(&bins).to_vec().unwrap(), counted);
    assert_eq!((both() + &a).histogram(&bins).to_vec().unwrap(), [9, 0, 0, 0, 0, 0, 0, 1, 0, 0]);
    assert_eq!(a.all_close(both() - &a * 1.5, 0.0, 0.0), Ok(true));
    assert_eq!(a.all_close(both(), 0.0, 0.0), Ok(false));
}
