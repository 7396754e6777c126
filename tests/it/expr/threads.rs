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
    let across = || Tensor::full([large, large], 0_u8);
    assert!(is_shared(large, |e| e.sort(0, Ascending).assign_to(&mut across()?)));
}
