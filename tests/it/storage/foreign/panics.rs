//! Closures and storage that panic (failure mode 17): the panic reaches the caller, and outputs stay
//! usable. Types that may not cross threads stay out (mode 19).

use lensor::prelude::*;
use lensor::storage::{Concat, Constant, FromFn, Indexed, Progression, SubBuffer};
use lensor::{AddressMap, BoxReader, Lazy, StorageError, Tensor};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

const LARGE: usize = 3 << 16;

/// Runs `f` in a pool of so many threads; the text of its panic, if it does.
fn panic_of<T: Send>(threads: usize, f: impl FnOnce() -> T + Send) -> Result<T, String> {
    let pool = crate::support::pool(threads);
    catch_unwind(AssertUnwindSafe(|| pool.install(f)))
        .map_err(|payload| payload.downcast_ref::<&str>().unwrap_or(&"other").to_string())
}

/// A function that panics at its `k`-th call.
fn panics_at(k: usize) -> impl Fn(i32) -> i32 + Send + Sync {
    let calls = AtomicUsize::new(0);
    move |x| {
        if calls.fetch_add(1, Relaxed) == k {
            panic!("enough");
        }
        x + 1
    }
}

#[test]
fn a_panic_in_a_closure_reaches_the_caller() {
    let t = Tensor::full([LARGE], 1).unwrap();
    for threads in 1..=3 {
        for k in [0, 1, 2047, 2048, LARGE / 2, LARGE - 1] {
            let f = panics_at(k);
            let found = panic_of(threads, || t.map(&f).to_vec().map(drop));
            assert_eq!(found, Err("enough".into()), "{threads} {k}");
        }
        let f = panics_at(LARGE);
        assert_eq!(panic_of(threads, || t.map(&f).to_vec()), Ok(Ok(vec![2; LARGE])));
    }
}

/// Small evaluations, at every call.
#[test]
fn a_panic_at_any_call_reaches_the_caller() {
    let t = Tensor::full([4, 6], 1).unwrap();
    for k in 0..24 {
        let f = panics_at(k);
        assert_eq!(panic_of(1, || t.map(&f).to_vec().map(drop)), Err("enough".into()));
        let f = panics_at(k);
        let boxed = t.map(&f).boxed();
        assert_eq!(panic_of(1, || (boxed + 1).to_vec().map(drop)), Err("enough".into()));
    }
}

/// After a panic every element of the output is an old or a new one, and the output can be used again.
#[test]
fn an_output_survives_a_panic() {
    let t = Tensor::full([LARGE / 64, 64], 1).unwrap();
    for threads in 1..=3 {
        for k in [0, 5000, LARGE - 1] {
            let mut out = Tensor::full([64, LARGE / 64], -7).unwrap();
            let f = panics_at(k);
            let found = panic_of(threads, || out.view_mut().transpose([1, 0])?.assign(t.map(&f)));
            assert_eq!(found, Err("enough".into()));
            assert!(out.storage().iter().all(|&x| x == -7 || x == 2));
            out.fill(3).unwrap();
            assert!(out.storage().iter().all(|&x| x == 3));
        }
    }
}

#[test]
fn a_panic_in_an_update_reaches_the_caller() {
    for k in [0, 100, LARGE - 1] {
        let mut t = Tensor::full([LARGE], 5).unwrap();
        let ones = Tensor::full([LARGE], 1).unwrap();
        let f = panics_at(k);
        assert_eq!(panic_of(3, || t.try_add_assign(ones.map(&f))), Err("enough".into()));
        assert!(t.storage().iter().all(|&x| x == 5 || x == 7));
    }
}

#[test]
fn a_panic_in_a_read_reaches_the_caller() {
    for (len, k) in [(24, 0), (24, 23), (LARGE, 0), (LARGE, LARGE - 1)] {
        let calls = AtomicUsize::new(0);
        let read = |address: usize| {
            if calls.fetch_add(1, Relaxed) == k {
                panic!("unreadable");
            }
            address as i32
        };
        let t = Tensor::new([len], FromFn::new(len, read)).unwrap();
        assert_eq!(panic_of(2, || (&t + 1).to_vec().map(drop)), Err("unreadable".into()));
        assert_eq!(panic_of(2, || (&t + 1).to_vec()), Ok(Ok((1..=len as i32).collect())));
    }
}

/// `a += b` is the documented twin that panics where `try_add_assign` returns an error.
#[test]
fn compound_operators_panic_with_the_text_of_the_error() {
    let mut t = Tensor::full([2], 1).unwrap();
    let other = Tensor::full([3], 1).unwrap();
    let error = t.try_add_assign(&other).unwrap_err();
    let payload = catch_unwind(AssertUnwindSafe(|| t += &other)).unwrap_err();
    assert_eq!(payload.downcast_ref::<String>(), Some(&error.to_string()));
    assert_eq!(t.storage(), &[1, 1]);
}

/// Everything public may be shared and sent, so evaluations may always go parallel.
#[test]
fn public_types_cross_threads() {
    fn crosses<T: Send + Sync>() {}
    crosses::<Tensor<Vec<f64>>>();
    crosses::<Tensor<&[f64]>>();
    crosses::<Tensor<&mut Vec<f64>>>();
    crosses::<Tensor<BoxReader<'static, f64>>>();
    crosses::<Lazy<Tensor<Vec<f64>>>>();
    crosses::<BoxExpr<'static, f64>>();
    crosses::<AddressMap>();
    crosses::<lensor::map::Globals>();
    crosses::<Shape>();
    crosses::<Select>();
    crosses::<Error>();
    crosses::<StorageError>();
    crosses::<Constant<f64>>();
    crosses::<Progression<f64>>();
    crosses::<Concat<Vec<f64>>>();
    crosses::<Indexed<Vec<f64>, Vec<usize>>>();
    crosses::<SubBuffer<Vec<f64>>>();
    crosses::<lensor::tensor::Flat<Vec<f64>>>();
    crosses::<lensor::tensor::Padded<Vec<f64>>>();
    crosses::<lensor::expr::Explanation>();
}
