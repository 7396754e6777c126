//! Loops that threads share, shapes beyond measure, and storage that lies.

use crate::support::{Random, fails, offline, pool};
use crate::views::{Plain, Slots};
use lensor::error::Cause;
use lensor::gufunc::{
    Args, Core, CoreMut, Elementary, ElementaryError, Gufunc, det, inner1d, inv, matmul, minmax,
    polyval, solve, sort,
};
use lensor::prelude::*;
use lensor::storage::BoxReader;
use lensor::{Result, Shape, StorageError};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The sum of a core and of a number; those that were chosen fail.
#[derive(Clone, Copy)]
struct Chosen;

fn chosen(sum: i64) -> Result<i64, ElementaryError> {
    if sum < 0 { Err(format!("sum {sum}").into()) } else { Ok(sum) }
}

impl Elementary<[i64; 2], [i64; 1]> for Chosen {
    const STRIDED: bool = true;
    const FILLS: bool = true;

    fn call<'c>(
        &self,
        [a, b]: [Core<'c, i64>; 2],
        [mut out]: [CoreMut<'c, i64>; 1],
    ) -> Result<(), ElementaryError> {
        out[0] = chosen(a.iter().sum::<i64>() + b[0])?;
        Ok(())
    }

    fn run(&self, args: &mut Args<'_, [i64; 2], [i64; 1]>) -> Result<(), (usize, ElementaryError)> {
        args.check().map_err(|error| (0, error.into()))?;
        let (&[count, n], &[a, b, out, a_n]) = (args.dimensions, args.steps) else {
            return Err((0, "another signature".into()));
        };
        let at = |start: usize, step: isize, k: usize| start.wrapping_add_signed(step * k as isize);
        for k in 0..count {
            let first = at(args.offset(0), a, k);
            let sum: i64 = (0..n).map(|i| args.inputs[0][at(first, a_n, i)]).sum();
            let sum = sum + args.inputs[1][at(args.offset(1), b, k)];
            args.outputs[0][at(args.offset(2), out, k)] =
                chosen(sum).map_err(|error| (k, error))?;
        }
        Ok(())
    }
}

/// Loops of two extents over cores of a length, whose elements follow from their address in this order.
#[derive(Clone, Copy)]
struct Case {
    loops: [usize; 2],
    core: usize,
    /// How they lie in memory: the core axis is number 2.
    order: [usize; 3],
    far: bool,
    fail: usize,
}

impl Case {
    fn calls(&self) -> usize {
        self.loops.iter().product()
    }

    fn tensor(&self) -> Tensor<BoxReader<'static, i64>> {
        let extents = [self.loops[0], self.loops[1], self.core];
        let data: Vec<i64> = (0..self.calls() * self.core).map(|k| (k % 1000) as i64).collect();
        let t = Tensor::from_vec(extents, data).unwrap();
        let packed = t.view().transpose(self.order).unwrap().to_vec().unwrap();
        let shape: Vec<usize> = self.order.iter().map(|axis| extents[*axis]).collect();
        let mut back = [0; 3];
        self.order.iter().enumerate().for_each(|(k, axis)| back[*axis] = k);
        let storage = if self.far { BoxReader::new(Plain(packed)) } else { BoxReader::new(packed) };
        Tensor::new(shape, storage).unwrap().transpose(back).unwrap()
    }

    fn sum(&self, k: usize) -> i64 {
        (self.core * k..self.core * (k + 1)).map(|k| (k % 1000) as i64).sum()
    }
}

/// The same bits and the same first index for any number of threads, wherever cores lie, for both kinds of function.
#[test]
fn threads_change_nothing() {
    let each = Gufunc::<[i64; 2], [i64; 1], _>::each("(n),()->()", |[a, b], [mut out]| {
        out[0] = chosen(a.iter().sum::<i64>() + b[0])?;
        Ok::<(), ElementaryError>(())
    })
    .unwrap();
    let of = Gufunc::<[i64; 2], [i64; 1], _>::of("(n),()->()", Chosen).unwrap();
    let mut random = Random(3);
    let (long, short) = (([160, 210], 3), ([61, 72], 300));
    let cases = [
        (long, [0, 1, 2], false, 0),
        (long, [2, 0, 1], false, 1),
        (short, [1, 0, 2], true, 5),
        (short, [0, 1, 2], true, 2),
        (short, [2, 1, 0], false, 3),
    ];
    for ((loops, core), order, far, fail) in cases {
        let case = Case { loops, core, order, far, fail };
        let (a, count) = (case.tensor(), case.calls());
        // Some fail: none, one at the end, or several anywhere.
        let bad: Vec<usize> = match case.fail {
            1 => vec![count - 1],
            fail => (0..fail).map(|_| random.below(count)).collect(),
        };
        let mut added: Vec<i64> = (0..count as i64).map(|k| k % 7).collect();
        let mut expected: Vec<i64> = (0..count).map(|k| case.sum(k) + added[k]).collect();
        bad.iter().for_each(|k| added[*k] = -1_000_000 - *k as i64);
        let b = Tensor::from_vec(loops, added.clone()).unwrap();
        let first = bad.iter().min().map(|&k| Error::Elementary {
            index: vec![k / loops[1], k % loops[1]],
            source: Cause::new(format!("sum {}", case.sum(k) + added[k])),
        });
        let mut turned = Tensor::full([loops[1], loops[0]], 0).unwrap().transpose([1, 0]).unwrap();
        // Only calls that do not fail.
        let mask = b.greater(-1).eval().unwrap();
        let whole = expected.clone();
        bad.iter().for_each(|k| expected[*k] = -5);
        for threads in 1..=3 {
            pool(threads).install(|| {
                for result in [each.call((&a, &b)).eval(), of.call((&a, &b)).eval()] {
                    match (result, &first) {
                        (Ok([found]), None) => assert_eq!(found.to_vec().unwrap(), whole),
                        (Err(error), Some(first)) => assert_eq!(error, *first),
                        (result, first) => panic!("{:?} {first:?}", result.map(drop)),
                    }
                }
                turned.assign(-5_i64).unwrap();
                each.call((&a, &b)).filter(&mask).assign_to(&mut turned).unwrap();
                assert_eq!(turned.to_vec().unwrap(), expected);
                let [or] = of.call((&a, &b)).filter(&mask).or([-5]).eval().unwrap();
                assert_eq!(or.to_vec().unwrap(), expected);
                let mut out = Tensor::new(loops, Slots::new(&vec![0; count])).unwrap();
                assert_eq!(of.call((&a, &b)).assign_to(&mut out).err(), first);
            });
        }
    }
}

/// A fault of an operand beyond many calls that fail is the one that is reported.
#[test]
fn faults_far_behind_come_first() {
    let never =
        Gufunc::<[i32; 1], [i32; 1], _>::each("(n)->()", |[_], [_]| Err::<(), _>("never")).unwrap();
    let last = 61 * 72 * 300 - 1;
    let broken = Tensor::new([61, 72, 300], offline(last + 1, last..last + 1)).unwrap();
    let error = Error::Storage {
        index: Some(vec![60, 71, 299]),
        source: StorageError::new(last, "offline"),
    };
    for threads in 1..=2 {
        pool(threads).install(|| {
            assert_eq!(never.call([&broken]).eval().unwrap_err(), error);
            let mut out = Tensor::full([72, 61], 0).unwrap().transpose([1, 0]).unwrap();
            assert_eq!(never.call([&broken]).assign_to(&mut out).unwrap_err(), error);
        });
    }
}

/// As many axes as there may be, and shapes that no address reaches.
#[test]
fn ranks_and_shapes_beyond_measure() {
    let ones = |rank: usize| Tensor::full(vec![1; rank], 2_i64).unwrap();
    let product = Gufunc::<[i64; 2], [i64; 1], _>::each("(),()->()", |[a, b], [mut out]| {
        out[0] = a[0] * b[0]
    })
    .unwrap();
    let [found] = product.call([&ones(64), &ones(3)]).eval().unwrap();
    assert_eq!((found.shape().to_vec(), found.to_vec().unwrap()), (vec![1; 64], vec![4]));
    let outer =
        Gufunc::<[i64; 2], [i64; 1], _>::each("(n),(n)->(n,n,n)", |_, [mut out]| out.fill(1))
            .unwrap();
    assert_eq!(outer.call([&ones(62), &ones(62)]).eval().unwrap()[0].shape().rank(), 64);
    let refused = outer.call([&ones(64), &ones(1)]).eval().unwrap_err();
    assert_eq!(refused, Error::RankLimit { rank: 66, limit: 64 });
    let kept = inner1d().call([&ones(64), &ones(64)]).axis(-64).keepdims().eval().unwrap();
    assert_eq!(kept[0].shape(), Shape::from(vec![1; 64]));
    let two = Tensor::full(vec![2; 16], 1_i64).unwrap();
    let turned = sort().call([&two]).axis(3).eval().unwrap();
    assert_eq!(turned[0].len(), 1 << 16);

    let long = |shape: &[usize]| Tensor::constant(shape.to_vec(), 1_i64).unwrap();
    let n = 1 << 40;
    let overflow = product.call([&long(&[n, 1]), &long(&[n])]).eval().unwrap_err();
    assert!(matches!(overflow, Error::ShapeOverflow { .. }), "{overflow}");
    let overflow = outer.call([&long(&[n]), &long(&[n])]).eval().unwrap_err();
    assert!(matches!(overflow, Error::ShapeOverflow { .. }), "{overflow}");
    let memory = sort().call([&long(&[n << 10])]).eval().unwrap_err();
    assert!(matches!(memory, Error::OutOfMemory { .. }), "{memory}");
    let memory = product.call([&long(&[n << 10, 1, 1]), &long(&[1])]).eval().unwrap_err();
    assert!(matches!(memory, Error::OutOfMemory { .. }), "{memory}");
    // Long cores that stretch in memory of their own are summed without any copy being kept.
    let empty = product.call([&long(&[n, 0, 1]), &long(&[n])]).eval();
    assert!(empty.is_err() || empty.is_ok_and(|[t]| t.is_empty()));
    let refused = minmax().call([&long(&[n << 10])]).eval().unwrap_err();
    assert!(matches!(refused, Error::OutOfMemory { .. }), "{refused}");
}

/// What storage may lie about: its length, its memory, and when.
#[derive(Debug)]
struct Liar<T> {
    data: Vec<T>,
    lie: usize,
    asked: AtomicUsize,
}

impl<T> Liar<T> {
    fn shown(&self) -> Option<usize> {
        let (len, now) = (self.data.len(), self.asked.fetch_add(1, Relaxed));
        match self.lie {
            0 => Some(len),
            1 => now.is_multiple_of(2).then_some(len),
            2 => Some(len.saturating_sub(now)),
            3 => Some(len / 3),
            4 => Some(0),
            _ => None,
        }
    }
}

impl<T: Copy + Send + Sync> Reader for Liar<T> {
    type Elem = T;

    fn len(&self) -> usize {
        if self.lie == 0 {
            self.data.len() - self.asked.fetch_add(1, Relaxed).min(self.data.len())
        } else {
            self.data.len()
        }
    }

    fn read(&self, address: usize) -> T {
        self.data[address % self.data.len()]
    }

    fn as_slice(&self) -> Option<&[T]> {
        self.data.get(..self.shown()?)
    }
}

impl<T: Copy + Send + Sync> Writer for Liar<T> {
    fn write(&mut self, address: usize, value: T) {
        if let Some(slot) = self.data.get_mut(address) {
            *slot = value;
        }
    }

    fn as_mut_slice(&mut self) -> Option<&mut [T]> {
        let shown = self.shown()?;
        self.data.get_mut(..shown)
    }
}

/// Storage that lies gives wrong numbers or an error, and never a panic.
#[test]
fn storage_that_lies_never_panics() {
    let strided = Gufunc::<[i64; 2], [i64; 1], _>::of("(n),()->()", Chosen).unwrap();
    let each = Gufunc::<[i64; 2], [i64; 1], _>::each("(n),()->()", |[a, b], [mut out]| {
        out[0] = a.len() as i64 + b[0]
    })
    .unwrap();
    for (lie, [rows, columns]) in
        (0..6).flat_map(|lie| [[4, 6], [50, 100], [300, 500]].map(|shape| (lie, shape)))
    {
        for start in 0..3 {
            let liar = || Liar {
                data: vec![1; rows * columns + start],
                lie,
                asked: AtomicUsize::new(start),
            };
            let run = |what: usize| {
                let Ok(a) = Tensor::new([rows, columns], liar()) else { return };
                let Ok(b) = Tensor::new([1, rows], liar()) else { return };
                let turned = a.view().transpose([1, 0]).unwrap();
                let mut out = Tensor::new([columns, rows], liar()).map(|t| t.transpose([1, 0]));
                match what {
                    0 => drop(each.call((&a, &b)).eval()),
                    1 => drop(strided.call((&turned, 1_i64)).eval()),
                    2 => drop(inner1d().call([&a, &a]).eval()),
                    3 => drop(inner1d().call((&turned, &turned)).eval()),
                    4 => drop(sort().call([&a]).axis(0).eval()),
                    5 => drop(minmax().call([&a]).eval()),
                    _ => {
                        if let Ok(Ok(out)) = &mut out {
                            let _ = sort().call([&a]).assign_to(&mut *out);
                            let mask = Tensor::full([rows], true).unwrap();
                            let _ = sort().call([&a]).filter(&mask).assign_to(&mut out.view_mut());
                        }
                    }
                }
            };
            for what in 0..7 {
                let ran = catch_unwind(AssertUnwindSafe(|| run(what)));
                assert!(ran.is_ok(), "{what} of lie {lie} {rows} x {columns} from {start}");
            }
        }
    }
}

/// What is made of matrices, and many at a time, holds memory against what it reads.
#[test]
fn matrices_of_storage_that_lies_never_panic() {
    let liar = |shape: &[usize], lie: usize, start: usize| {
        let data = vec![1.5_f64; shape.iter().product::<usize>() + start];
        Tensor::new(shape.to_vec(), Liar { data, lie, asked: AtomicUsize::new(start) })
    };
    for (lie, n) in (0..6).flat_map(|lie| [1, 2, 3, 4, 5].map(|n| (lie, n))) {
        for start in 0..3 {
            let run = |what: usize| {
                let Ok(a) = liar(&[100, n, n], lie, start) else { return };
                let Ok(b) = liar(&[100, n], lie, start) else { return };
                match what {
                    0 => drop(det().call([&a]).eval()),
                    1 => drop(inv().call([&a]).eval()),
                    2 => drop(solve().call((&a, &b)).eval()),
                    3 => drop(matmul().call((&a, &a)).eval()),
                    4 => drop(polyval().call((&b, 0.5)).eval()),
                    _ => drop(polyval().call((b.view().select((0,)).unwrap(), &a)).eval()),
                }
            };
            for what in 0..6 {
                let ran = catch_unwind(AssertUnwindSafe(|| run(what)));
                assert!(ran.is_ok(), "{what} of lie {lie} n {n} from {start}");
            }
        }
    }
    // A third of the memory is an error, by whatever loop it is read.
    let [a, x, rows] =
        [&[100, 3, 3][..], &[300], &[300, 3]].map(|shape| liar(shape, 3, 0).unwrap());
    let short = |result: Result<()>, index: usize, end: usize, len: usize| {
        let source = Cause::new(Error::OutOfSpan { span: 0..end, len });
        let reach = format!("addresses 0..{end} reach beyond the storage of length {len}");
        let text = format!("elementary function failed at [{index}]: {reach}");
        fails(result, Error::Elementary { index: vec![index], source }, &text);
    };
    short(det().call([&a]).eval().map(drop), 33, 900, 300);
    let line = Tensor::from(vec![1.0, 2.0]);
    short(polyval().call((&line, &x)).eval().map(drop), 100, 300, 100);
    short(polyval().call((&rows, 2.0)).eval().map(drop), 100, 900, 300);
    let sum =
        Gufunc::<[f64; 1], [f64; 1], _>::each("(n)->()", |[a], [mut out]| out[0] = a[0]).unwrap();
    short(sum.call([&rows]).eval().map(drop), 100, 900, 300);
}

/// A function that reports calls there are not gives an error, and no panic.
#[test]
fn functions_that_lie_never_panic() {
    struct Wrong(usize, AtomicUsize);
    impl Elementary<[i64; 1], [i64; 1]> for Wrong {
        fn call<'c>(
            &self,
            _: [Core<'c, i64>; 1],
            _: [CoreMut<'c, i64>; 1],
        ) -> Result<(), ElementaryError> {
            Ok(())
        }

        fn run(
            &self,
            _: &mut Args<'_, [i64; 1], [i64; 1]>,
        ) -> Result<(), (usize, ElementaryError)> {
            if self.1.fetch_add(1, Relaxed) == 0 { Ok(()) } else { Err((self.0, "wrong".into())) }
        }
    }
    let t = Tensor::full([2, 3, 4], 1_i64).unwrap();
    // Rows of two calls each.
    let turned = t.view().transpose([1, 0, 2]).unwrap();
    for k in [0, 1, 2, 5, 1000, usize::MAX] {
        let wrong = Gufunc::of("(n)->()", Wrong(k, AtomicUsize::new(0))).unwrap();
        let error = wrong.call([&turned]).eval().unwrap_err();
        assert!(matches!(error, Error::Elementary { .. }), "{error}");
    }
}

/// Calls that read and write nothing are made once if there are more than can be made.
#[test]
fn calls_of_nothing_take_no_time() {
    static MADE: AtomicUsize = AtomicUsize::new(0);
    let counted: Gufunc<[f64; 1], [f64; 1], _> = Gufunc::each("(n)->(n)", |_, _| {
        MADE.fetch_add(1, Relaxed);
        Ok::<_, ElementaryError>(())
    })
    .unwrap();
    let t = Tensor::from_vec([1 << 40, 0], Vec::new()).unwrap();
    let mut out = Tensor::from_vec([1 << 40, 0], Vec::new()).unwrap();
    let call = counted.call([&t]);
    let [made]: [Tensor<Vec<f64>>; 1] = call.eval().unwrap();
    assert_eq!(made.shape(), [1 << 40, 0]);
    assert_eq!(MADE.load(Relaxed), 1);
    call.assign_to(&mut out).unwrap();
    call.assign_to(&mut out.view_mut().flip(0).unwrap()).unwrap();
    assert_eq!(MADE.load(Relaxed), 3);
}
