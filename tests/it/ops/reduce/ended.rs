//! Folds whose result is known before their last element.

use crate::support::{in_pools, pool};
use lensor::prelude::*;
use lensor::reduce::{Maybe, Min, Or, Reducer};
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

/// A reducer made of others is done when they are.
#[test]
fn wrapped_reducers_pass_over_what_theirs_do() {
    const WIDTH: usize = 1 << 14;
    let t = Tensor::from_index([3, WIDTH], |index| if index[1] == index[0] * 600 { -1 } else { 1 });
    let (t, count) = (t.unwrap(), AtomicUsize::new(0));
    let any = || AnyNegative(&count);
    let few = |asked: usize| {
        let all = count.swap(0, Relaxed);
        assert!(all <= asked * 3 * 2048, "{all}");
    };
    let whether = |found: bool| if found { 1 } else { 0 };
    pool(1).install(|| {
        assert_eq!(t.fold(1, any()).map(whether).to_vec().unwrap(), [1; 3]);
        few(1);
        assert_eq!(t.fold(1, Maybe(any())).to_vec().unwrap(), [Some(true); 3]);
        few(1);
        assert_eq!(t.fold(1, Or::new(any(), false)).to_vec().unwrap(), [true; 3]);
        few(1);
        assert_eq!(t.fold(1, (any(), any())).to_vec().unwrap(), [(true, true); 3]);
        few(2);
        // One goes on.
        assert_eq!(t.fold(1, (any(), Min)).to_vec().unwrap(), [(true, -1); 3]);
        count.store(0, Relaxed);
        let later = Tensor::from_index([3, WIDTH], |index| index[1] > 100).unwrap();
        assert_eq!(t.fold(1, any()).filter(&later).to_vec().unwrap(), [false, true, true]);
        // All of the first row is asked for.
        assert!(count.load(Relaxed) <= WIDTH + 2 * 2048);
    });
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
