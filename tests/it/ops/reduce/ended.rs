//! Folds whose result is known before their last element.

use crate::support::{in_pools, pool};
use lensor::prelude::*;
use lensor::reduce::Reducer;
use lensor::storage::{BlockMemory, Chunked};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Whether an element is negative; counts the elements that it is asked for.
struct AnyNegative<'c>(&'c AtomicUsize);

impl Reducer<i32> for AnyNegative<'_> {
    type State = bool;
    type Out = bool;

    fn empty(&self) -> Option<bool> {
        Some(false)
    }

    fn first(&self, x: i32) -> bool {
        self.0.fetch_add(1, Relaxed);
        x < 0
    }

    fn combine(&self, state: &mut bool, later: bool) {
        *state |= later;
    }

    fn finish(&self, state: bool) -> bool {
        state
    }

    fn is_final(&self, state: &bool) -> bool {
        *state
    }
}

/// Each result has leaves of its own: what ends one ends no other.
#[test]
fn what_follows_a_final_state_is_passed_over() {
    const WIDTH: usize = 1 << 17;
    for at in [0, 511, 512, 70_000, WIDTH - 1, WIDTH] {
        // In rows 1 and 3.
        let negative = |index: &[usize]| index[0] % 2 == 1 && index[1] == at;
        let t =
            Tensor::from_index([4, WIDTH], |index| if negative(index) { -1 } else { 1 }).unwrap();
        let expected = [false, at < WIDTH, false, at < WIDTH];
        let count = AtomicUsize::new(0);
        let found = pool(1).install(|| t.fold(1, AnyNegative(&count)).to_vec().unwrap());
        assert_eq!(found, expected);
        let most = 2 * WIDTH + 2 * (at + 512).min(WIDTH);
        assert!(count.load(Relaxed) <= most, "{} of {most}", count.load(Relaxed));
        let any = in_pools(|| t.less(0).any(1).to_vec());
        assert_eq!(any, expected);
        let all = in_pools(|| t.view().lazy().map(|x| x > 0).all(1).to_vec());
        assert_eq!(all, expected.map(|negative| !negative));
        let bools = t.less(0).eval().unwrap();
        assert_eq!(in_pools(|| bools.any(..).item()), at < WIDTH);
        assert_eq!(in_pools(|| bools.view().transpose([1, 0])?.any(0).to_vec()), expected);
        assert!(!in_pools(|| bools.view().select((0,))?.any(..).item()));
    }
}

/// Leaves of blocks are kept, or taken at once, as blocks end: what ended a result before is forgotten either way.
#[test]
fn a_final_state_ends_one_result_in_blocks() {
    const SHAPE: [usize; 3] = [22, 3, 2048];
    for at in [0, 5, 10, 16] {
        let marked = |index: &[usize]| index[0] == at && index[1..] == [0, 0];
        let t = Tensor::from_index(SHAPE, |index| i32::from(marked(index))).unwrap();
        let blocks = Chunked::new(BlockMemory::new(SHAPE, [1, 2, 2048], 0).unwrap()).unwrap();
        let mut stored = Tensor::new(SHAPE, blocks).unwrap();
        stored.assign(&t).unwrap();
        let expected: Vec<bool> = (0..SHAPE[0]).map(|row| row == at).collect();
        assert_eq!(in_pools(|| stored.any([1, 2]).to_vec()), expected);
        let count = AtomicUsize::new(0);
        let negative = || stored.view().lazy().map(|x| -x).fold([1, 2], AnyNegative(&count));
        assert_eq!(in_pools(|| negative().to_vec()), expected);
    }
}
