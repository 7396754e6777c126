//! Matrices of 1 % and 0.01 % stored elements.

use lensor::Reader;
use lensor::expr::zip_stored;
use lensor::prelude::*;
use lensor::storage::{Duplicates, Sparse};
use report::{Bench, Match};
use sprs::{CsMat, TriMat};
use std::hint::black_box;

/// Rows and columns of the matrices.
pub(crate) fn side(bench: &Bench) -> usize {
    if bench.quick { 500 } else { 10_000 }
}

pub(crate) type Matrix = Tensor<Sparse<f64>>;

/// Numbers that look random: steps of a linear congruential generator.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 32) as usize * limit) >> 32
    }
}

/// Distinct shuffled addresses of a square.
pub(crate) fn addresses(side: usize, count: usize, seed: u64) -> Vec<usize> {
    let mut random = Random(seed);
    let mut all: Vec<usize> =
        (0..count + count / 8).map(|_| random.below(side) * side + random.below(side)).collect();
    all.sort_unstable();
    all.dedup();
    for k in (1..all.len()).rev() {
        all.swap(k, random.below(k + 1));
    }
    all.truncate(count);
    all
}

pub(crate) fn matrix(side: usize, addresses: &[usize]) -> Matrix {
    let values = addresses.iter().map(|k| (k % 97) as f64 + 1.0).collect();
    let storage =
        Sparse::from_coordinates(side * side, 0.0, addresses.to_vec(), values, Duplicates::Refuse);
    Tensor::new([side, side], storage.expect("valid entries")).expect("a matrix")
}

pub(crate) fn peer(t: &Matrix) -> CsMat<f64> {
    let side = t.shape()[0];
    let mut triplets = TriMat::new((side, side));
    for (address, value) in t.storage().iter() {
        triplets.add_triplet(address / side, address % side, value);
    }
    triplets.to_csr()
}

/// Panics unless the entries of both are the same.
pub(crate) fn check(name: &str, ours: &Matrix, theirs: &CsMat<f64>) {
    let side = ours.shape()[1];
    assert!(theirs.is_csr(), "{name}");
    let theirs: Vec<(usize, f64)> =
        theirs.iter().map(|(value, (row, column))| (row * side + column, *value)).collect();
    assert_eq!(ours.storage().stored_len(), theirs.len(), "{name}");
    assert!(ours.storage().iter().eq(theirs), "{name}: entries differ");
}

/// The union of two lists of entries, one after another.
fn naive_union(a: &Sparse<f64>, b: &Sparse<f64>, f: impl Fn(f64, f64) -> f64) -> Sparse<f64> {
    let (mut addresses, mut values) = (Vec::new(), Vec::new());
    let (mut i, mut j) = (0, 0);
    let at = |s: &Sparse<f64>, k: usize| s.addresses().get(k).copied().unwrap_or(usize::MAX);
    while i < a.stored_len() || j < b.stored_len() {
        let (x, y) = (at(a, i), at(b, j));
        addresses.push(x.min(y));
        if x < y {
            values.push(f(a.values()[i], 0.0));
            i += 1;
        } else if y < x {
            values.push(f(0.0, b.values()[j]));
            j += 1;
        } else {
            values.push(f(a.values()[i], b.values()[j]));
            (i, j) = (i + 1, j + 1);
        }
    }
    Sparse::from_sorted(a.len(), 0.0, addresses, values).expect("in order")
}

fn naive_shared(a: &Sparse<f64>, b: &Sparse<f64>) -> Sparse<f64> {
    let (mut addresses, mut values) = (Vec::new(), Vec::new());
    let mut others = b.iter().peekable();
    for (address, value) in a.iter() {
        while others.next_if(|(other, _)| *other < address).is_some() {}
        if let Some((_, other)) = others.next_if(|(other, _)| *other == address) {
            addresses.push(address);
            values.push(value * other);
        }
    }
    Sparse::from_sorted(a.len(), 0.0, addresses, values).expect("in order")
}

pub(crate) fn run(bench: &mut Bench) {
    let side = side(bench);
    let count = side * side;
    for (percent, share) in [("1%", 100), ("0.01%", 10_000)] {
        let few = share == 10_000;
        let reach = |many: f64, little: f64| if few { little } else { many };
        let shuffled = addresses(side, count / share, 1);
        let a = matrix(side, &shuffled);
        let b = matrix(side, &addresses(side, count / share, 2));
        let c = matrix(side, &addresses(side, count / share, 3));
        let (x, y, z) = (peer(&a), peer(&b), peer(&c));
        let (sa, sb) = (a.storage(), b.storage());
        let row: Vec<f64> = (0..side).map(|k| k as f64 * 0.5).collect();
        let dense_row = Tensor::from(row.clone());

        let mut case = |name: &str,
                        reach: f64,
                        ours: &mut (dyn FnMut() -> Matrix + Send),
                        theirs: &mut (dyn FnMut() -> CsMat<f64> + Send),
                        naive: &mut (dyn FnMut() -> Sparse<f64> + Send)| {
            let name = format!("{name}/{percent}");
            if !bench.wants(&name) {
                return;
            }
            let (found, expected) = (ours(), theirs());
            check(&name, &found, &expected);
            assert_eq!(found.storage().values(), naive().values(), "{name}");
            bench.run_match(Match {
                name: &name,
                reach,
                ours: &mut || drop(black_box(ours())),
                peer: ("sprs", &mut || drop(black_box(theirs()))),
                naive: Some(&mut || drop(black_box(naive()))),
            });
        };

        case(
            "unary map",
            reach(1.02, 1.2),
            &mut || (&a * 2.0 + 1.0).sparse(),
            &mut || x.map(|v| v * 2.0 + 1.0),
            &mut || {
                let values = sa.values().iter().map(|v| v * 2.0 + 1.0).collect();
                Sparse::from_sorted(sa.len(), 1.0, sa.addresses().to_vec(), values).expect("sorted")
            },
        );
        case("a + b", reach(0.26, 0.18), &mut || (&a + &b).sparse(), &mut || &x + &y, &mut || {
            naive_union(sa, sb, |a, b| a + b)
        });
        case(
            "a * b, stored",
            reach(0.26, 0.19),
            &mut || zip_stored((&a, &b), 0.0, |(a, b)| a * b).eval_sparse().expect("a product"),
            &mut || sprs::binop::mul_mat_same_storage(&x, &y),
            &mut || naive_shared(sa, sb),
        );
        case(
            "a + b*c - d/2, three-way",
            reach(0.26, 0.18),
            &mut || (&a + &b * 3.0 - &c / 2.0).sparse(),
            &mut || &(&x + &y.map(|v| v * 3.0)) + &z.map(|v| -v / 2.0),
            &mut || {
                let sum = naive_union(sa, sb, |a, b| a + b * 3.0);
                naive_union(&sum, c.storage(), |s, c| s - c / 2.0)
            },
        );
        case(
            "times a dense row",
            reach(1.04, 0.75),
            &mut || {
                zip_stored((&a, &dense_row), 0.0, |(a, row)| a * row)
                    .eval_sparse()
                    .expect("a product")
            },
            &mut || {
                let mut out = x.clone();
                for mut vector in out.outer_iterator_mut() {
                    for (column, value) in vector.iter_mut() {
                        *value *= row[column];
                    }
                }
                out
            },
            &mut || {
                let entries = sa.iter().map(|(address, value)| value * row[address % side]);
                Sparse::from_sorted(sa.len(), 0.0, sa.addresses().to_vec(), entries.collect())
                    .expect("sorted")
            },
        );
        case(
            "transposed",
            reach(0.89, 0.58),
            &mut || a.view().transpose([1, 0]).expect("a view").lazy().sparse(),
            &mut || x.to_csc().transpose_into(),
            &mut || {
                let turned: Vec<usize> =
                    sa.addresses().iter().map(|k| k % side * side + k / side).collect();
                let mut order: Vec<usize> = (0..turned.len()).collect();
                order.sort_unstable_by_key(|&k| turned[k]);
                let values = order.iter().map(|&k| sa.values()[k]).collect();
                let addresses = order.iter().map(|&k| turned[k]).collect();
                Sparse::from_sorted(sa.len(), 0.0, addresses, values).expect("sorted")
            },
        );
        let values: Vec<f64> = shuffled.iter().map(|k| (k % 97) as f64 + 1.0).collect();
        case(
            "shuffled coordinates",
            reach(0.4, 0.5),
            &mut || matrix(side, &shuffled),
            &mut || {
                let (rows, columns) = shuffled.iter().map(|k| (k / side, k % side)).unzip();
                TriMat::from_triplets((side, side), rows, columns, values.clone()).to_csr()
            },
            &mut || {
                let mut entries: Vec<(usize, f64)> =
                    shuffled.iter().copied().zip(values.iter().copied()).collect();
                entries.sort_unstable_by_key(|entry| entry.0);
                let (addresses, values) = entries.into_iter().unzip();
                Sparse::from_sorted(count, 0.0, addresses, values).expect("sorted")
            },
        );
        for (axis, goal) in [(0, reach(1.0, 0.71)), (1, reach(1.0, 0.5))] {
            sums(bench, &format!("sum over axis {axis}/{percent}"), goal, &a, &x, axis);
        }
        to_dense(bench, &format!("to dense, of memcpy/{percent}"), &a);
    }
}

trait EvalSparse {
    fn sparse(&self) -> Matrix;
}

impl<E: Expr<Elem = f64>> EvalSparse for Lazy<E> {
    fn sparse(&self) -> Matrix {
        self.eval_sparse().expect("a sparse result")
    }
}

/// Sums of columns (axis 0) or rows (axis 1), against loops over the rows of the peer.
fn sums(bench: &mut Bench, name: &str, reach: f64, a: &Matrix, x: &CsMat<f64>, axis: usize) {
    if !bench.wants(name) {
        return;
    }
    let side = a.shape()[0];
    let ours = || a.sum(axis).eval().expect("sums");
    let theirs = || {
        let mut sums = vec![0.0; side];
        for (row, vector) in x.outer_iterator().enumerate() {
            if axis == 1 {
                sums[row] = vector.data().iter().sum();
            } else {
                vector.iter().for_each(|(column, value)| sums[column] += value);
            }
        }
        sums
    };
    let naive = || {
        let mut sums = vec![0.0; side];
        for (address, value) in a.storage().iter() {
            sums[if axis == 1 { address / side } else { address % side }] += value;
        }
        sums
    };
    // Sums of small integers have no rounding errors.
    let expected = theirs();
    assert!(**ours().storage() == expected[..] && naive() == expected, "{name}");
    bench.run_match(Match {
        name,
        reach,
        ours: &mut || drop(black_box(ours())),
        peer: ("sprs", &mut || drop(black_box(theirs()))),
        naive: Some(&mut || drop(black_box(naive()))),
    });
}

/// Into an output that exists, against memcpy of as many bytes.
fn to_dense(bench: &mut Bench, name: &str, a: &Matrix) {
    if !bench.wants(name) {
        return;
    }
    let count = a.len();
    let mut out = Tensor::from_vec(a.shape(), vec![1.0; count]).expect("an output");
    a.assign_to(&mut out).expect("a copy");
    let (from, mut to) = (out.storage().clone(), vec![2.0; count]);
    let mut naive = vec![3.0; count];
    let loops = |naive: &mut [f64]| {
        naive.fill(0.0);
        a.storage().iter().for_each(|(address, value)| naive[address] = value);
    };
    loops(&mut naive);
    assert!(naive == from, "{name}");
    bench.run_match(Match {
        name,
        reach: 1.2,
        ours: &mut || a.assign_to(black_box(&mut out)).expect("a copy"),
        peer: ("memcpy", &mut || black_box(&mut to).copy_from_slice(black_box(&from))),
        naive: Some(&mut || loops(black_box(&mut naive))),
    });
}
