//! Threads share what is large: seen by two of them that wait for each other, whatever a machine has.

use crate::support::pool;
use lensor::Result;
use lensor::lanes::SortOrder::Ascending;
use lensor::prelude::*;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// Holds the first thread that comes until there is another.
#[derive(Default)]
struct Gate {
    is_open: AtomicBool,
    threads: Mutex<HashSet<ThreadId>>,
    changed: Condvar,
}

impl Gate {
    fn pass(&self) {
        if self.is_open.load(Ordering::Relaxed) {
            return;
        }
        let mut threads = self.threads.lock().unwrap();
        threads.insert(thread::current().id());
        self.changed.notify_all();
        let patience = Duration::from_secs(20);
        drop(self.changed.wait_timeout_while(threads, patience, |threads| threads.len() < 2));
        self.is_open.store(true, Ordering::Relaxed);
    }
}

/// Whether two threads read what `run` reads: the elements of a dense tensor that pass a gate.
fn is_shared(side: usize, run: impl Fn(BoxExpr<'_, u8>) -> Result<()> + Sync) -> bool {
    let t = Tensor::full([side, side], 1_u8).unwrap();
    let gate = Gate::default();
    let through = |x: u8| {
        gate.pass();
        x
    };
    pool(2).install(|| run(t.map(through).boxed())).unwrap();
    gate.threads.into_inner().unwrap().len() > 1
}

#[test]
fn threads_share_whatever_order_the_results_go_to() {
    let (small, large) = (1024, 2048);
    assert!(is_shared(small, |e| e.rotate([100, 33])?.eval().map(drop)));
    let turned = |side| Tensor::full([side, side], 0_u8)?.transpose([1, 0]);
    assert!(is_shared(small, |e| e.assign_to(&mut turned(small)?)));
    assert!(is_shared(small, |e| e.cummax(1).assign_to(&mut turned(small)?)));
    assert!(is_shared(large, |e| e.sort(1, Ascending).assign_to(&mut turned(large)?)));
    let few = Tensor::full([4], 0_u8).unwrap();
    assert!(is_shared(small, |e| few.take_at((e.cast::<usize>(),)).eval().map(drop)));
    let list = Tensor::full([200_000], 0_usize).unwrap();
    let told = pool(2).install(|| (&few + 1).take_at((&list,)).explain().unwrap().threads());
    assert_eq!(told, 2);
    let across = || Tensor::full([large, large], 0_u8);
    assert!(is_shared(large, |e| e.sort(0, Ascending).assign_to(&mut across()?)));
}

/// Of operands and of what is done with them, operands fail first, however the work is cut.
#[test]
fn the_first_error_is_the_same_for_any_threads() {
    let shape = [1400, 8];
    let x = Tensor::full(shape, 1_i32).unwrap();
    let mut y = x.clone();
    y.set([1399, 0], 0).unwrap();
    let at =
        Tensor::from_index(shape, |index| if index[..] == [0, 0] { 9 } else { 0_usize }).unwrap();
    let error = |threads: usize| {
        let quotient = &x / &y;
        pool(threads).install(|| quotient.take_along(1, &at).to_vec().unwrap_err())
    };
    assert!(matches!(error(1), Error::Arithmetic { .. }), "{}", error(1));
    assert_eq!(error(4), error(1));
}

/// An operand that cannot be computed and a result that does not exist: the error is that of the operand, whichever thread
/// finds which.
#[test]
fn errors_do_not_depend_on_threads() {
    let n = 1 << 17;
    let large = Tensor::full([2, n], i64::MAX).unwrap();
    let mut divisors = Tensor::full([2, n], 1_i64).unwrap();
    divisors.set([1, 0], 0).unwrap();
    let across = |t: &Tensor<Vec<i64>>| t.view().transpose([1, 0]).unwrap().eval().unwrap();
    let turned = (across(&large), across(&divisors));
    for threads in 1..=3 {
        let errors = pool(threads).install(|| {
            [
                (&large / &divisors).sum(1).eval().unwrap_err(),
                (&turned.0 / &turned.1).sum(0).eval().unwrap_err(),
                large.sum(1).eval().unwrap_err(),
            ]
        });
        assert_eq!(errors[0], Error::Arithmetic { index: vec![1, 0] }, "{threads}");
        assert_eq!(errors[1], Error::Arithmetic { index: vec![0, 1] }, "{threads}");
        let overflow = Error::Overflow { index: vec![0], target: "i64" };
        assert_eq!(errors[2], overflow, "{threads}");
    }
}
