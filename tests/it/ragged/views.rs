//! Chains of views against lists in lists.

use super::chains::{View, chain};
use super::model::{Model, read};
use crate::support::Random;
use quickcheck::quickcheck;

quickcheck! {
    /// Chains of views show what they show of lists, and are refused with the same error.
    fn chains_show_the_lists(seed: u64) -> bool {
        let mut random = Random(seed);
        let model = Model::random(&mut random);
        let r = model.build(-1, &mut random);
        let (model, shown) = chain(&model, &r, 6, &mut random);
        let packed = (&shown + 0).eval().unwrap();
        assert_eq!(packed.form(), shown.form());
        read(&packed) == model
    }

    /// Views of expressions are those of their results.
    fn expressions_are_viewed_alike(seed: u64) -> bool {
        let mut random = Random(seed);
        let model = Model::random(&mut random);
        let r = model.build(-1, &mut random);
        let (model, shown) = chain(&model, &r, 2, &mut random);
        let view = View::random(&model, &mut random);
        let expected = model.map(|x| x * 2).view(&view);
        let found = view.of_lazy(&shown * 2, &mut random);
        match (expected, found) {
            (Ok(expected), Ok(found)) => {
                let found = (found - 0).eval().unwrap();
                assert_eq!(read(&found), expected, "{view:?}");
            }
            (Err(None), Err(_)) => {}
            (Err(Some(expected)), Err(found)) => assert_eq!(found, expected),
            (expected, found) => panic!("{model:?} {view:?} {expected:?} {}", found.is_ok()),
        }
        true
    }
}
