//! Strategies draw what they say and shrink to small counterexamples.

use lensor::arbitrary::ViewOp;
use lensor::interop::proptest::proptest::strategy::Strategy;
use lensor::interop::proptest::proptest::test_runner::{
    Config, TestCaseError, TestError, TestRunner,
};
use lensor::interop::proptest::{any_chain, chain, shape, viewed};
use std::fmt::Debug;

fn runner() -> TestRunner {
    TestRunner::new(Config {
        failure_persistence: None,
        max_shrink_iters: 1 << 16,
        ..Config::default()
    })
}

/// The smallest value that fails.
fn smallest<S: Strategy<Value: Clone + Debug>>(
    strategy: &S,
    holds: impl Fn(&S::Value) -> bool,
) -> S::Value {
    let result = runner().run(strategy, |value| match holds(&value) {
        true => Ok(()),
        false => Err(TestCaseError::fail("")),
    });
    match result {
        Err(TestError::Fail(_, value)) => value,
        other => panic!("{other:?}"),
    }
}

#[test]
fn chains_shrink_to_the_operation_that_matters() {
    let flips = |op: &ViewOp| matches!(op, ViewOp::Flip(_));
    let found = smallest(&any_chain(), |chain| !chain.ops().iter().any(flips));
    // Where there is no axis, one has to be made first.
    let least = 1 + usize::from(found.shape().rank() == 0);
    assert_eq!(found.ops().len(), least, "{found:?}");
    let found = smallest(&chain([3, 4, 2]), |chain| !chain.ops().iter().any(flips));
    assert_eq!((found.ops().len(), found.shape()), (1, &[3, 4, 2].into()), "{found:?}");
}

#[test]
fn tensors_shrink_too() {
    let found = smallest(&viewed(0..1000_i32), |viewed| viewed.model().1.iter().all(|x| *x < 500));
    let (shape, data) = found.model();
    assert!(found.chain().ops().is_empty(), "{found:?} {shape:?}");
    let large: Vec<i32> = data.into_iter().filter(|x| *x >= 500).collect();
    assert_eq!(large, [500], "{found:?}");
}

#[test]
fn shapes_are_as_asked() {
    runner()
        .run(&shape(1..=3, 2..5_usize), |shape| {
            assert!(
                (1..=3).contains(&shape.rank())
                    && shape.iter().all(|extent| (2..5).contains(extent))
            );
            Ok(())
        })
        .unwrap();
}

/// Every kind of operation comes.
#[test]
fn chains_are_those_of_arbitrary() {
    let kinds = std::cell::RefCell::new(std::collections::BTreeSet::new());
    let mut runner =
        TestRunner::new(Config { cases: 3000, failure_persistence: None, ..Config::default() });
    let seen = runner.run(&any_chain(), |chain| {
        for op in chain.ops() {
            let text = format!("{op:?}");
            kinds
                .borrow_mut()
                .insert(text[..text.find(['(', ' ']).unwrap_or(text.len())].to_string());
        }
        Ok(())
    });
    seen.unwrap();
    assert!(kinds.borrow().len() >= 10, "{kinds:?}");
}
